"""A plain copy of a file: unpacked, and in UTF-8. It is private, and goes with the connection that reads it.

What cannot be decoded stays bytes that are no UTF-8, so that the rule about such cells decides, record by record.
"""

from __future__ import annotations

import codecs
import gzip
import io
import shutil
import zlib
from pathlib import Path
from typing import IO, Final, cast

from hubbub.engines.duckdb.scratch import Scratch
from hubbub.engines.files.csv_form import Form
from hubbub.errors import WrongUse

PACKED: Final = (".gz", ".zst")
_BLOCK: Final = 1 << 20
_ROOM_LEFT: Final = 1 << 28  # bytes of the disk that unpacking leaves to others


def kind(path: str) -> str:
    """The ending that says what is in a file: that before .gz or .zst."""
    file = Path(path)
    return (Path(file.stem) if file.suffix.lower() in PACKED else file).suffix.lower()


def plain(path: str, form: Form, scratch: Scratch, name: str) -> str:
    """The file itself if it is plain already, else the path of a plain copy of it, which is of that name."""
    packed = Path(path).suffix.lower() in PACKED
    try:
        encoding = form.encoding or _encoding_of(path)
        if not packed and encoding == "utf-8":
            return path
        target, copy = scratch.new_file(name)
        with _open_unpacked(path) as source, target:
            _copy_decoded(source, target, encoding, scratch.copies)
        return copy
    except WrongUse:
        raise
    except (OSError, EOFError, zlib.error, ValueError):
        pass
    raise WrongUse(
        f"the file {path!r} could not be unpacked or decoded; check that it is whole, and the room for temporary files"
    )


def first_text(path: str, form: Form, length: int) -> str:
    """The beginning of a file, unpacked and decoded; what cannot be is kept so that it can be told."""
    with _open_unpacked(path) as source:
        raw = source.read(length)
    encoding = form.encoding or _marked_by(raw)
    if encoding == "utf-8":
        return raw.decode("utf-8-sig", "surrogateescape")
    return _decoder(encoding).decode(raw).removeprefix("\ufeff")


def _encoding_of(path: str) -> str:
    with _open_unpacked(path) as source:
        return _marked_by(source.read(4))


def _marked_by(raw: bytes) -> str:
    """The encoding that the mark before the first line says, where nothing is declared: UTF-16, or UTF-8."""
    wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and not raw.startswith(codecs.BOM_UTF32_LE)
    return "utf-16" if wide else "utf-8"


def _open_unpacked(path: str) -> IO[bytes]:
    suffix = Path(path).suffix.lower()
    if suffix == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if suffix == ".zst":
        import pyarrow as pa

        return io.BufferedReader(pa.input_stream(path, compression="zstd"), _BLOCK)
    return open(path, "rb")


def _decoder(encoding: str) -> codecs.IncrementalDecoder:
    wide = encoding.startswith("utf-16")
    return codecs.getincrementaldecoder(encoding)("surrogatepass" if wide else "surrogateescape")


def _copy_decoded(source: IO[bytes], target: IO[bytes], encoding: str, folder: Path) -> None:
    same = encoding == "utf-8"
    decoder = None if same else _decoder(encoding)
    errors = "surrogatepass" if encoding.startswith("utf-16") else "surrogateescape"
    while block := source.read(_BLOCK):
        target.write(block if decoder is None else decoder.decode(block).encode("utf-8", errors))
        if shutil.disk_usage(folder).free < _ROOM_LEFT:
            raise WrongUse("unpacking the file would fill the disk; make room in the folder that TMPDIR names")
