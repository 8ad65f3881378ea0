"""How a CSV is read: by its header and the form it declares, never by what a machine guesses from its rows.

Every cell is text. A record with too few cells, longer than 2 MiB, or with a cell that is read and is not UTF-8, is
left out; cells beyond the header are ignored; an empty cell is missing and ``""`` is the empty text. A blank line is no
record, in a file of one column either. Each of these rules looks at one record alone, with the blank lines before it.
What no such rule can help is a quotation mark out of place that has no partner, at the start of a cell, perhaps after a
space, or after its end: it makes one cell of what follows. A file with one that never closes, or only after many lines,
is refused (:mod:`hubbub.engines.files.csv_records`).

One thread reads a file from its beginning. DuckDB's parallel reader begins in the middle and guesses whether it is
inside of quotation marks; where it guesses wrong, one person more moves the counts of others. It reads only what it
cannot err in: files of which each line is proved to be a record (:mod:`hubbub.engines.files.files`).

The form of a CSV file, as declared: what separates its cells, how it is encoded, whether it names its columns.

Nothing of it is found out from the rows. By default the ending of the file's name says it all.

A plain copy of a file: unpacked, and in UTF-8. It is private, and goes with the connection that reads it.

What cannot be decoded stays bytes that are no UTF-8, so that the rule about such cells decides, record by record.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import shutil
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Final, cast

from hubbub.engines.arrow_columns import distinct
from hubbub.engines.duckdb.connection import Scratch
from hubbub.engines.duckdb.expressions import identifier, literal
from hubbub.engines.duckdb.unreadable import MOST_REJECTS
from hubbub.engines.files.csv_records import BUFFERED, LONGEST
from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

MARKS: Final = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_TAB: Final = ("\\t", "\t")


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """As told; None is what is usual for such a file. `names` are the columns of a file whose first line is data."""

    delimiter: str | None = None
    encoding: str | None = None
    names: tuple[str, ...] | None = None

    @property
    def is_declared(self) -> bool:
        """Whether anything was told."""
        return self != Form()


def form(*, delimiter: str | None = None, encoding: str | None = None, no_header: str | None = None) -> Form:
    """The form that words say, checked."""
    return Form(
        delimiter=None if delimiter is None else _mark(delimiter),
        encoding=None if encoding is None else _codec(encoding),
        names=None if no_header is None else _names(no_header),
    )


def _mark(text: str) -> str:
    known = MARKS.get(text.lower(), "\t" if text in _TAB else text)
    if known not in MARKS.values():
        raise WrongUse(f"cells are separated by one of , ; | or tab and not by {text[:10]!r}; write `delimiter=';'`")
    return known


def _codec(text: str) -> str:
    """The encoding's usual name. Only such as cannot lose their place: a record has to be decoded by itself."""
    try:
        name = codecs.lookup(text).name
        if name in ("utf-8", "utf-8-sig"):
            return "utf-8"
        if name in ("utf-16", "utf-16-le", "utf-16-be") or _is_one_byte(name):
            return name
    except (LookupError, ValueError, TypeError):
        pass
    raise WrongUse(f"encoding must be utf-8, utf-16 or one of single bytes, like latin-1 or cp1252, not {text[:20]!r}")


def _is_one_byte(name: str) -> bool:
    """Whether each byte is a sign by itself, and the first half is ASCII."""
    pairs = (bytes(each for j in range(256) for each in (i, j)) for i in range(256))
    usual = bytes(range(128))
    same = usual.decode(name, "replace") == usual.decode()
    return same and all(len(pair.decode(name, "replace")) == 512 for pair in pairs)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(names) or not "".join(names).isprintable() or len({name.lower() for name in names}) < len(names):
        raise WrongUse(
            "a file whose first line is data needs a name for every column, each another; write `no_header=id,town,age`"
        )
    return names


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


_LONGEST_HEADER: Final = 1 << 20  # characters
_PLAIN_LINE: Final = re.compile(r'[^"\r\n]*+[\r\n]')
PLAIN: Final = Form()


def csv_header(files: Sequence[str], mark: str, form: Form = PLAIN) -> tuple[str, ...]:
    """The names of the columns, the same in all files; of several with one name each has its number."""
    if form.names is not None:
        return form.names
    headers = {_header(file, mark, form) for file in files}
    if len(headers) > 1:
        raise WrongUse("the CSV files do not have the same header; give them one, or open them one by one")
    return distinct(headers.pop())


def csv_relation(
    patterns: str, header: Sequence[str], mark: str, *, named: bool = True, by_lines: bool = False, longest: int = 0
) -> str:
    """SQL that reads the files that DuckDB knows as `patterns`; what it leaves out it lists among its rejects.

    With `by_lines` several threads read, each a piece: a quarter of a buffer, which is what DuckDB makes of a buffer that
    is a multiple of 16 bytes. One of another size ends in a shorter piece, and loses a record that is longer than it.
    """
    longest = longest or LONGEST
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header)
    first = "true" if named else "false"
    quote, parallel = ("''", "true") if by_lines else ("'\"'", "false")
    form = f"delim={literal(mark)}, quote={quote}, escape={quote}, header={first}, compression='none'"
    lenient = "strict_mode=false, ignore_errors=true, allow_quoted_nulls=false"
    options = f"parallel={parallel}, max_line_size={longest}, buffer_size={longest * BUFFERED}"
    rejects = f"store_rejects=true, rejects_limit={MOST_REJECTS}"
    read = f"read_csv({patterns}, auto_detect=false, columns={{{columns}}}, {form}, {lenient}, {options}, {rejects})"
    if len(header) > 1:
        return read
    return f"(SELECT * FROM {read} WHERE {identifier(header[0])} IS NOT NULL)"  # a blank line is nobody here either


def first_names(path: str, mark: str, form: Form = PLAIN) -> list[str]:
    """The cells of the first line; none if it cannot be one that names columns."""
    try:
        text = first_text(path, form, _LONGEST_HEADER)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None)
        reason = f"({why}); check who may read it" if why else "as what its name says; check its ending"
        raise WrongUse(f"the file {path!r} cannot be read {reason}") from None
    try:
        line = _PLAIN_LINE.match(text)  # all that it takes, and seldom more than a little of the text
        names = next(csv.reader(io.StringIO(line[0] if line else text, newline=""), delimiter=mark), [])
        "".join(names).encode()
    except (UnicodeEncodeError, csv.Error):
        names = []
    complete = len(text) < _LONGEST_HEADER or "\n" in text or "\r" in text
    return [] if not complete or any(sign in name for name in names for sign in "\r\n\0") else names


def _header(path: str, mark: str, form: Form) -> tuple[str, ...]:
    """The names of the columns, from the first line. No other line can make this fail."""
    names = first_names(path, mark, form)
    if not names:
        encoding = "UTF-8" if form.encoding in (None, "utf-8") else form.encoding
        raise WrongUse(
            f"the first line of a CSV names its columns, in {encoding}; add such a line at the top of the file, or say "
            "`encoding=latin-1` or `no_header=id,town,age`"
        )
    if len(names) == 1 and form.delimiter is None:
        for word, other in MARKS.items():
            if other in names[0]:
                raise WrongUse(
                    f"the first line has no {_word(mark)} in it but a {word}, which seems to separate the cells; "
                    f"add `delimiter={word}`, or `delimiter={_word(mark)}` if there is one column"
                )
    return tuple(name.strip() or f"column{i}" for i, name in enumerate(names))


def _word(mark: str) -> str:
    return next(word for word, known in MARKS.items() if known == mark)
