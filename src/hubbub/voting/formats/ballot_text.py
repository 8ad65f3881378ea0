"""The text of a ballot file, whatever it was saved as: packed or not, UTF-8, UTF-16 or Windows-1252, any line ends.

A control character never reaches a screen: it is shown as ``\\x1b`` and the like, and so is a backslash in such a file
as two, so that two names that differ still differ. A zero byte means that this is no text at all.
"""

from __future__ import annotations

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final, Protocol, cast

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular

_PIECE: Final = 1 << 22  # bytes that are in memory at a time
_LONGEST: Final = 1 << 23  # bytes of a line
_UTF_8: Final = ("utf-8", "utf-8-sig")
_PLAIN: Final = bytes([*range(32, 127), 9, 10, 13])
# All but tabs and ends of lines, and the signs that turn the direction of writing or end a line unseen.
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_PACKED: Final = {
    b"PK\x03\x04": "a workbook or a zip archive; save the sheet as CSV, or unpack it",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook; save the sheet as CSV",
    b"%PDF": "a PDF; ask the office for the cast-vote records as CSV",
}
FALLBACK: Final = "cp1252"  # what Excel writes on Windows; Latin-1 has the same letters


class Pieces(Protocol):
    """Text that comes in pieces of whole lines."""

    def pieces(self) -> Iterator[bytes]: ...  # pragma: no cover


@dataclass(frozen=True, slots=True)
class TextInHand:
    """Text that is in memory already, its lines ended by \\n."""

    text: str

    def pieces(self) -> Iterator[bytes]:
        yield self.text.encode()


@dataclass(frozen=True, slots=True)
class BallotText:
    """A file and how its bytes become text. Nothing of it is kept in memory."""

    path: Path
    encoding: str
    escapes: bool  # whether control characters are in it
    scanned: bool = True  # whether that is known; until then ends of lines are left as they are

    @property
    def remarks(self) -> tuple[str, ...]:
        remarks = []
        if self.encoding == FALLBACK:
            remarks.append(
                "the file is not UTF-8 and was read as Windows-1252 (Latin-1); another is named by --encoding"
            )
        if self.escapes:
            remarks.append("control characters in the file are shown escaped, like \\x1b")
        return tuple(remarks)

    def pieces(self) -> Iterator[bytes]:
        """The text in UTF-8, in pieces of whole lines, each ended by \\n but perhaps the last one of the file."""
        line, rest, since = 1, list[bytes](), 0  # `rest` begins a line; so many bytes are since any end of one
        with _open_unpacked(self.path) as file:
            if self.encoding == "utf-8-sig":
                file.read(len(codecs.BOM_UTF8))
            if self.encoding.startswith("utf-16"):
                whole = self._clean_piece(file.read(), line)
                _check_length(max(map(len, re.split(b"[\r\n]", whole))))
                yield whole
            while raw := file.read(_PIECE):
                end, ends = raw.rfind(b"\n") + 1, max(raw.rfind(b"\n"), raw.rfind(b"\r")) + 1
                since = len(raw) - ends + (0 if ends else since)
                _check_length(since)
                if end:
                    complete, raw = b"".join([*rest, raw[:end]]), raw[end:]
                    rest.clear()
                    yield self._clean_piece(complete, line)
                    line += complete.count(b"\n") if self.encoding not in _UTF_8 else 0
                rest.append(raw)
        if last := b"".join(rest):
            yield self._clean_piece(last, line)

    def text(self) -> str:
        """All of it, lines ended by \\n."""
        return b"".join(self.pieces()).decode()

    def _clean_piece(self, raw: bytes, line: int) -> bytes:
        if self.encoding not in _UTF_8:  # which was looked at when the file was opened
            raw = _decode_piece(raw, self.encoding, line).encode()
        if self.scanned and b"\r" in raw:
            raw = raw.replace(b"\r\n", b"\n")
            raw = raw.replace(b"\r", b"\n") if b"\r" in raw else raw
        if self.escapes:
            raw = _CONTROL.sub(_escape_control, raw.decode().replace("\\", "\\\\")).encode()
        return raw


def open_text(path: str | Path, encoding: str | None = None) -> BallotText:
    """The text of a file, which must hold some; without an encoding UTF-16 by its mark, UTF-8, or Windows-1252."""
    where = Path(path)
    header_name = None
    if encoding is not None:
        try:
            header_name = codecs.lookup(encoding).name
        except LookupError:
            raise WrongUse(
                "there is no such encoding; `encoding` is one like utf-8, utf-16, cp1252 or latin-1"
            ) from None
    with _open_unpacked(where) as file:
        first = file.read(4)
    _check_kind(first)
    mark = next((name for mark, name in _MARKS if first.startswith(mark)), None)
    if mark and header_name in (None, mark.removesuffix("-sig")):
        header_name = mark
    if (header_name is None or header_name in _UTF_8) and _is_utf_8(where):
        found = header_name or "utf-8"
    elif header_name in _UTF_8:
        raise WrongUse("the ballot file is not text in UTF-8; name its `encoding`, like cp1252")
    else:
        found = header_name or FALLBACK
    text = BallotText(where, found, escapes=False, scanned=False)
    some, escapes = False, False
    for number, piece in enumerate(text.pieces()):
        some = some or bool(piece.strip())
        if piece.translate(None, _PLAIN) and _CONTROL.search(piece.decode()):
            escapes = True
            if b"\0" in piece:
                _zero(text, number, piece)
    if not some:
        raise WrongUse("the ballot file is empty; it must hold candidates and ballots")
    return BallotText(where, found, escapes)


def _zero(text: BallotText, number: int, piece: bytes) -> None:
    before = sum(part.count(b"\n") for i, part in enumerate(text.pieces()) if i < number)
    line = before + piece.count(b"\n", 0, piece.index(b"\0")) + 1
    raise WrongUse(f"line {line}: a zero byte, which no text holds; is this another format?")


def _is_utf_8(path: Path) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _open_unpacked(path) as file:
        try:
            while raw := file.read(_PIECE):
                decoder.decode(raw)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def text_of(path: str | Path) -> str:
    """The text of a file, which must hold some."""
    return open_text(path).text()


def _open_unpacked(path: Path) -> IO[bytes]:
    try:
        file: IO[bytes] = open_regular(path)
        if file.read(2) == b"\x1f\x8b":
            file.close()
            return cast("IO[bytes]", _Unpacked(path))
        file.seek(0)
    except OSError as error:
        raise WrongUse(f"the ballot file cannot be read: {error.strerror or error}; check its name") from error
    return file


class _Unpacked(gzip.GzipFile):
    """A packed file whose faults are one sentence."""

    def read(self, size: int | None = -1) -> bytes:
        try:
            return super().read(size)
        except (OSError, EOFError, zlib.error) as error:
            raise WrongUse("the ballot file is packed (.gz) and cannot be unpacked; get it again") from error


def _check_length(length: int) -> None:
    """Refuse a line that is no ballot before readers take it apart: of a packed file it may be as long as memory."""
    if length > _LONGEST:
        raise WrongUse(
            "the ballot file has a line of more than 8 MB, and no ballot is so long; is this another format?"
        )


def _check_kind(first: bytes) -> None:
    for mark, what in _PACKED.items():
        if first.startswith(mark):
            raise WrongUse(f"the ballot file is {what}")


def _decode_piece(raw: bytes, encoding: str, line: int) -> str:
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        at = line + raw.count(b"\n", 0, error.start)
        raise WrongUse(
            f"line {at}: the ballot file is not text in {encoding.upper()}; save it as UTF-8, or name its `encoding`"
        ) from error


def _escape_control(control: re.Match[str]) -> str:
    code = ord(control[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"
