"""Where the records of a CSV end; copies of a file that DuckDB reads as we do; quotation marks that do not close.

DuckDB reads through buffers and loses its place in a record that is longer than one of them: quoted line breaks in it
then swallow or invent other people. Such a record is left out anyway, by the rule about long ones, so it is taken out
before DuckDB sees it. What a record is, is DuckDB's own grammar with ``strict_mode=false``: a cell that begins with a
quotation mark, perhaps after one space, is quoted until the next one; after that a further one opens it again; in any
other cell a quotation mark is a sign like others. Blank lines belong to the record after them.

DuckDB ends a line at a carriage return too. In a file whose header ends in a line feed that is a sign in somebody's
cell, which would make many records of one person: there it is read as a blank. Those right before a line feed belong to
it, and in quotation marks it stays. In a file without a header no line ends in a carriage return: else the first person
would decide how all others are read.

How far the quotation marks of a CSV stand as they should, found out for 64 bytes at a time.

Of a text that begins with a record, call the first, third, fifth mark one that opens, and the others ones that close.
The text is regular if each mark that opens stands at the beginning of a cell or right after one that closes, and each
that closes stands at the end of a cell or right before one that opens. Then a byte is quoted exactly if an odd number
of marks come before it, so each line break after an even number of them ends a record, whoever reads: no mark is a sign
in a cell without quotation marks, and nothing of a cell stands outside of its own. That a text is regular is proved
here, never guessed; what is not is for :mod:`hubbub.engines.files.csv_records` to read sign by sign.

A truth about each byte is a bit, the first byte the lowest of its word. Whether the number of marks is odd is then a
few shifts of a word, and one bit that goes from each word to the next.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from io import BufferedIOBase, BufferedReader
from typing import IO, BinaryIO, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.runtime.frozen import dataclass

_Words: TypeAlias = NDArray[np.uint64]

_WORD: Final = 64
_PART: Final = 1 << 17  # bytes
_ONE: Final = np.uint64(1)
_TOP: Final = np.uint64(_WORD - 1)
_SHIFTS: Final = tuple(np.uint64(1 << i) for i in range(6))


def regular_end(
    file: BufferedIOBase, start: int, mark: str, *, block: int, lines: int, returns: bool, ends: bytes = b""
) -> int:
    """Where what is regular ends, from `start` on, where a record begins: there a record begins too, or the file ends.

    Each record before lies within `block` bytes, and each of its cells within `lines` lines. With `returns` a carriage
    return ends a line; else there is none but right before a line feed. With `ends` each line ends in just that, and no
    line is blank if it is a carriage return and a line feed, save at the end of the file.
    """
    buffer = bytearray(block + _WORD)
    file.seek(start)
    held = 0  # bytes of the buffer that are read and not yet proved
    while True:
        more = file.readinto(memoryview(buffer)[held:block])
        filled = held + more
        if not more:
            buffer[filled] = ord("\n")  # the end of a file ends its last record
        length = filled + (not more)
        buffer[length : length + _WORD] = bytes(_WORD)
        proved = _Block(buffer, length, mark, returns, ends, is_last=not more).end(lines)
        if not more and not buffer[proved:filled].strip(b"\r\n"):
            return start + filled
        if not more or (not proved and filled == block):
            return start + proved
        held = filled - proved
        buffer[:held] = buffer[proved:filled]
        start += proved


@dataclass(frozen=True, slots=True)
class _Block:
    """Some bytes from the beginning of a record on; up to the next multiple of 64 there are zeros after them."""

    buffer: bytearray
    length: int
    mark: str
    returns: bool
    ends: bytes
    is_last: bool  # whether the last byte is a line end that is not in the file

    def end(self, lines: int) -> int:
        """The length of the whole records at the beginning that are proved regular."""
        has_returns = self.buffer.find(b"\r", 0, self.length) >= 0
        wrong = self.length
        if has_returns and not self.returns:
            wrong = self._first_bare_return()
        if self.buffer.find(b'"', 0, wrong) < 0:
            return self._last_end(min(wrong, self._first_other_end(None, has_returns)), None, has_returns)
        marks = self._where('"')
        breaks = self._where(self.mark + ("\n\r" if has_returns else "\n"))
        inside = _odd_so_far(marks)
        wrong = min(wrong, _first_wrong(marks, breaks, inside))
        if _tall(marks, inside, breaks, lines) is not None:
            tall = _tall(marks, inside, self._where("\n\r" if has_returns else "\n"), lines)
            wrong = wrong if tall is None else min(wrong, tall)
        return self._last_end(min(wrong, self._first_other_end(inside, has_returns)), inside, has_returns)

    def _where(self, signs: str) -> _Words:
        """The bytes that are one of these signs."""
        packed = np.zeros(-(-self.length // _WORD) * _WORD // 8, np.uint8)
        for start in range(0, self.length, _PART):  # so little that the memory for it is at hand
            text = np.frombuffer(self.buffer, np.uint8, min(_PART, len(packed) * 8 - start), start)
            found = text == ord(signs[0])
            for sign in signs[1:]:
                found |= text == ord(sign)
            packed[start // 8 : start // 8 + len(text) // 8] = np.packbits(found, bitorder="little")
        return packed.view("<u8")

    def _first_other_end(self, inside: _Words | None, has_returns: bool) -> int:
        """Where the first line ends, outside of quotation marks, in something else than lines should, or is blank."""
        if not self.ends or (self.ends == b"\n" and not has_returns):
            return self.length
        returns, feeds = self._where("\r"), self._where("\n")
        other = returns
        if self.ends != b"\n":
            if self.buffer[0] == ord("\r"):  # after the end of a record
                return 0
            other = (feeds & ~_shift_bits(returns)) | (returns & _shift_bits(feeds))
            other[0] &= ~_ONE  # after the carriage return with which the record before ended
        found = _first(other if inside is None else other & ~inside, self.length)
        return self.length if self.is_last and found == self.length - 1 else found

    def _first_bare_return(self) -> int:
        returns, feeds = self._where("\r"), self._where("\n")
        return _first(returns & ~_next(feeds), self.length)

    def _last_end(self, before: int, inside: _Words | None, has_returns: bool) -> int:
        """The end of the last record that ends before a byte; blank lines belong to the record after them."""
        stop = before
        for _ in range(_WORD):  # more line breaks than this in one cell at the end are read sign by sign
            end = self.buffer.rfind(b"\n", 0, stop)
            if has_returns:
                end = max(end, self.buffer.rfind(b"\r", 0, stop))
            if end < 0:
                return 0
            if inside is None or not int(inside[end // _WORD]) >> end % _WORD & 1:
                while end and self.buffer[end - 1] in b"\r\n":
                    end -= 1
                return end + 1 if end else 0
            stop = end
        return 0


def _odd_so_far(bits: _Words) -> _Words:
    """Whether the number of bits up to each place, it included, is odd."""
    odd = bits.copy()
    for shift in _SHIFTS:
        odd ^= odd << shift
    carried = np.bitwise_xor.accumulate(odd >> _TOP)
    odd[1:] ^= np.negative(carried[:-1])  # all bits, if the words before have an odd number
    return odd


def _next(bits: _Words) -> _Words:
    """For each place the bit of the next one; after the last there is none."""
    following = bits >> _ONE
    following[:-1] |= bits[1:] << _TOP
    return following


def _shift_bits(bits: _Words) -> _Words:
    """For each place the bit of the one before; before the first it is set."""
    preceding = bits << _ONE
    preceding[1:] |= bits[:-1] >> _TOP
    preceding[0] |= _ONE
    return preceding


def _first(bits: _Words, otherwise: int) -> int:
    """The first place whose bit is set."""
    if not bits.any():
        return otherwise
    word = int(np.flatnonzero(bits)[0])
    value = int(bits[word])
    return word * _WORD + (value & -value).bit_length() - 1


def _first_wrong(marks: _Words, breaks: _Words, inside: _Words) -> int:
    """The first mark that does not stand as it should."""
    either = marks | breaks
    right = (inside & _shift_bits(either)) | (~inside & _next(either))
    return _first(marks & ~right, len(marks) * _WORD)


def _tall(marks: _Words, inside: _Words, breaks: _Words, lines: int) -> int | None:
    """A place before the first quoted cell that may have as many of these breaks, if there may be one.

    Of a cell only the words are known in which it begins and ends, so breaks of its neighbours may be counted with it.
    """
    many = np.bitwise_count(breaks & inside)
    outside = ~(inside | (marks & _next(marks)))  # two marks in a row are a sign of the cell
    if outside.all() and int((many[1:] + many[:-1]).max(initial=many[0])) < lines:
        return None  # no cell is in more than two words
    outside[0] |= _ONE
    words = np.flatnonzero(outside)
    until = np.cumsum(many, dtype=np.int64)
    taken = until[words[1:]] - until[words[:-1]] + many[words[:-1]]
    tall = np.flatnonzero(taken >= lines)
    return int(words[tall[0]]) * _WORD if len(tall) else None


LONGEST: Final = 1 << 21  # bytes of a record that is counted
BUFFERED: Final = 16  # such records fit into one buffer of DuckDB
MOST_LINES: Final = 100  # that a quoted cell may run over

Span: TypeAlias = tuple[int, int]

_BOM: Final = b"\xef\xbb\xbf"
_BLANK, _START, _SPACE, _PLAIN, _QUOTED, _CLOSED, _END = range(7)


BOTH, FEEDS = "\r\n", "\n"
"""What ends a line: carriage returns and line feeds, or line feeds alone."""

_SPACES: Final = {BOTH: " ", FEEDS: " \r"}  # what is a blank at the beginning of a cell
_END_OF: Final = {BOTH: r"[\r\n]", FEEDS: r"\r*+\n"}
_BETWEEN_MARKS: Final = re.compile(rb'"[^"]*+"?')
_RETURNS: Final = re.compile(rb"\r++(?!\n|\Z)")
_LINE_END: Final = re.compile(rb"\r++(?:\n|\Z)")
_LONE_FEED: Final = re.compile(rb"(?<!\r)\n")
_BLANK_LINE: Final = re.compile(rb"\n\r\n")
_BARE: Final = re.compile(rb"\r(?!\n)")


@cache
def _quoted_cell(mark: str, ends: str = BOTH) -> re.Pattern[bytes]:
    """A quoted cell, perhaps after a space, from its first quotation mark to its end or to the end of the text."""
    again = rf'"(?:[^"{mark}{ends}]++|"[^"]*+(?:"|\Z))*+'
    return re.compile(rf'[{_SPACES[ends]}]?("[^"]*+(?:{again}|\Z))'.encode())


@cache
def _simple(mark: str, ends: str) -> re.Pattern[bytes]:
    """Cells with what ends each: on one line, and either quoted as they should be or without a quotation mark."""
    quoted, plain = r'"[^"\r\n]*+(?:""[^"\r\n]*+)*+"', rf'[^"{mark}\r\n]*+'
    return re.compile(rf"(?:(?:{quoted}|{plain})(?:[{mark}]|{_END_OF[ends]}))*+".encode())


@cache
def _rest_of_cell(mark: str, ends: str) -> re.Pattern[bytes]:
    return re.compile(rf"[^{mark}{ends}]*+[{mark}{ends}]".encode())


def _odd_cells(text: bytes, mark: str, ends: str = BOTH) -> list[Span]:
    """The quoted cells that are more than one line between two marks, in a text that begins with a record."""
    if b'"' not in text:
        return []
    simple, quoted, rest = _simple(mark, ends), _quoted_cell(mark, ends), _rest_of_cell(mark, ends)
    at, found = 0, []
    while simply := simple.match(text, at):
        at = simply.end()
        if cell := quoted.match(text, at):
            at = cell.end()
            found.append(cell.span(1))
        if (end := rest.match(text, at)) is None:
            break
        at = end.end()
    return found


@cache
def _steps(mark: str, ends: str = BOTH) -> dict[int, tuple[re.Pattern[bytes], dict[bytes, int]]]:
    """From each state: the sign that is looked for, and the state after it (a plain cell, if it is not listed)."""
    after = {mark.encode(): _START} | {end.encode(): _END for end in ends}
    opens, spaces = {b'"': _QUOTED}, {sign.encode(): _SPACE for sign in _SPACES[ends]}
    some, breaks = re.compile(rb"(?s:.)"), f"[{mark}{ends}]"
    return {
        _BLANK: (re.compile(f"[^{ends}]".encode()), after | opens | spaces),
        _START: (some, after | opens | spaces),
        _SPACE: (some, after | opens),
        _PLAIN: (re.compile(breaks.encode()), after),
        _QUOTED: (re.compile(rb'"'), {b'"': _CLOSED}),
        _CLOSED: (re.compile(breaks.replace("[", '["').encode()), after | opens),
    }


@dataclass(frozen=True, slots=True)
class Survey:
    """What DuckDB would misread in a file: `giants` are records too long that it would not notice as such, by their
    bytes, and `open_mark` the place of the first quotation mark that does not close as it should."""

    giants: list[Span]
    open_mark: int | None


def survey(path: str, mark: str, longest: int) -> Survey:
    """Look through a file once.

    A mark opens a cell and does not close as it should if it never does, only after more than :data:`MOST_LINES` lines,
    or on a later line with other signs of the cell after it, as where it meets the mark that opens another cell.
    """
    chunk = longest * BUFFERED // 8
    found, position, last = [], None, (0, 0)
    with open(path, "rb") as file, open(path, "rb") as again:
        for piece in _irregular_pieces(file, mark, longest):
            last = piece.start, piece.end
            if piece.text is None:
                found.append(last)
            if position is None:
                opened = _open_in_giant(again, piece.start, mark, chunk) if piece.text is None else _open_in(piece)
                position = None if opened is None else piece.start + opened
    if os.path.getsize(path) <= 4 * chunk:  # one buffer holds all of it
        return Survey([], position)
    if last[1] - last[0] >= longest:
        found.append(last)  # DuckDB forgets to measure a last record without line end that lies in two buffers
    return Survey(found, position)


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some whole records, where they are by their bytes, and the odd cells in their text; or one record by itself that
    is too long to hold, without it. The last piece is a record without its line end, or nothing."""

    start: int
    end: int
    text: bytes | None
    odd: list[Span]


def is_regular(path: str, mark: str, longest: int) -> bool:
    """Whether it is proved, without reading sign by sign, that a survey would find nothing in a file, that no carriage
    return stands anywhere but right before a line feed, and that one of more than a buffer has one kind of line end."""
    with open(path, "rb") as file:
        size = os.path.getsize(path)
        ends = b"" if size <= longest * BUFFERED else _first_end(file, mark)
        file.seek(0)
        return _regular_end(file, _first_byte(file), mark, longest, returns=False, ends=ends) == size


def _regular_end(file: BufferedReader, start: int, mark: str, longest: int, *, returns: bool, ends: bytes = b"") -> int:
    return regular_end(file, start, mark, block=longest // 2, lines=MOST_LINES, returns=returns, ends=ends)


def _first_end(file: BinaryIO, mark: str) -> bytes:
    """What the first line ends in: a line feed, perhaps after a carriage return; nothing if it is something else."""
    file.seek(0)
    end = _end_of_record(file, _first_byte(file), mark, 1 << 16)
    file.seek(end - 1 if end else 0)
    found = re.match(rb"\r*\n", file.read(1 << 16))
    return found[0][-2:] if found else b""


def _first_byte(file: BinaryIO) -> int:
    """Where the first record begins."""
    return len(_BOM) if file.read(len(_BOM)) == _BOM else 0


def _irregular_pieces(file: BufferedReader, mark: str, longest: int) -> Iterator[_Piece]:
    """The pieces that have to be read sign by sign; the last one is a record without its line end, or nothing."""
    start, size = _first_byte(file), file.seek(0, os.SEEK_END)
    while (start := _regular_end(file, start, mark, longest, returns=True)) < size:
        pieces = _pieces(file, mark, longest * BUFFERED // 8, start=start)
        yield (piece := next(pieces))
        if (start := piece.end) == size:
            yield from pieces
            return
    yield _Piece(size, size, b"", [])


def _pieces(file: BinaryIO, mark: str, chunk: int, ends: str = BOTH, *, start: int | None = None) -> Iterator[_Piece]:
    start = _first_byte(file) if start is None else start
    text = b""  # what was read from `start` on, where a record begins
    file.seek(start)
    while more := file.read(chunk):
        text += more
        odd = _odd_cells(text, mark, ends)
        if complete := _complete_records(text, odd, ends):
            yield _Piece(start, start + complete, text[:complete], [cell for cell in odd if cell[0] < complete])
            start, text = start + complete, text[complete:]
        if len(text) > 2 * chunk:
            end = _end_of_record(file, start, mark, chunk, ends)
            yield _Piece(start, end, None, [])
            start, text = file.seek(end), b""
    yield _Piece(start, start + len(text), text, _odd_cells(text, mark, ends))


def _complete_records(text: bytes, odd: Sequence[Span], ends: str = BOTH) -> int:
    """The length of the whole records at the beginning of `text`, of which these are the odd cells."""
    starts, stops = [start for start, _ in odd], [stop for _, stop in odd]
    for start, stop in zip(reversed([0, *stops]), reversed([*starts, len(text)]), strict=True):
        end = max(text.rfind(sign.encode(), start, stop) for sign in ends)
        if end >= 0:
            # Line breaks right before the end are outside of quotation marks, like the end itself.
            before = len(text[:end].rstrip(b"\r\n"))
            return before + 1 if before else 0
    return 0


def _end_of_record(file: BinaryIO, start: int, mark: str, chunk: int, ends: str = BOTH) -> int:
    """Where the record that begins at `start` ends, in little memory however long it is."""
    at, state = file.seek(start), _BLANK
    while text := file.read(chunk):
        i = 0
        while match := _steps(mark, ends)[state][0].search(text, i):
            i, state = match.end(), _steps(mark, ends)[state][1].get(match[0], _PLAIN)
            if state == _END:
                return at + i
        at += len(text)
    return at


# --- quotation marks that do not close --------------------------------------------------------------------------------


def _open_in(piece: _Piece) -> int | None:
    assert piece.text is not None
    for start, stop in piece.odd:
        cell = piece.text[start:stop]
        if _never_closes(cell) or _lines(cell) > MOST_LINES or (_lines(cell) > 1 and _goes_on(cell)):
            return start
    return None


def _lines(cell: bytes) -> int:
    return 1 + max(cell.count(b"\n"), cell.count(b"\r"))


def _never_closes(cell: bytes) -> bool:
    return cell.count(b'"') % 2 == 1


def _goes_on(cell: bytes) -> bool:
    """Whether there is something of the cell outside of its quotation marks."""
    return bool(re.sub(rb'"[^"]*"', b"", cell).strip())


def _open_in_giant(file: BinaryIO, start: int, mark: str, chunk: int) -> int | None:
    """The same in a record too long to hold."""
    at, state, opened, lines = file.seek(start), _BLANK, 0, 0
    while text := file.read(chunk):
        i = 0
        while match := _steps(mark)[state][0].search(text, i):
            if state == _QUOTED:
                lines += _lines(text[i : match.start()]) - 1
            before, i, state = state, match.end(), _steps(mark)[state][1].get(match[0], _PLAIN)
            if state == _QUOTED and before != _CLOSED:
                opened, lines = at + i - 1, 1
            if lines > MOST_LINES:
                return opened - start
            if state == _END:
                return None
        if state == _QUOTED:
            lines += _lines(text[i:]) - 1
            if lines > MOST_LINES:
                return opened - start
        at += len(text)
    return opened - start if state == _QUOTED else None


def tall_cells(path: str, mark: str, longest: int) -> tuple[int, int, int]:
    """How many cells run over several lines, over how many lines the tallest does, and the position where it begins.

    Two stray quotation marks some lines apart make one such cell of all the rows between them, and nothing but the
    reader of the text can tell it from an address.
    """
    many, most, position = 0, 0, 0
    with open(path, "rb") as file:
        for piece in _pieces(file, mark, longest * BUFFERED // 8):
            for start, stop in piece.odd:
                lines = _lines((piece.text or b"")[start:stop])
                many += lines > 1
                if lines > max(most, 1):
                    most, position = lines, piece.start + start
    return many, most, position


def line_of(path: str, position: int) -> int:
    """The line that a byte is in; the first is 1."""
    with open(path, "rb") as file:
        return 1 + sum(file.read(min(1 << 20, position - at)).count(b"\n") for at in range(0, position, 1 << 20))


# --- carriage returns -------------------------------------------------------------------------------------------------


def has_odd_returns(path: str, mark: str, buffer: int, *, named: bool) -> bool:
    """Whether lines end in a line feed, as the header does if they are named, and there is a carriage return that is not
    right before one, or a file of more than a buffer has lines that end in one way and another, or blank lines with a
    carriage return. Where a buffer ends at such a line, DuckDB takes its line feed for a part of the next cell, or loses
    the next record."""
    with open(path, "rb") as file:
        if named and not _first_end(file, mark):
            return False
        is_large, is_lone, is_double = file.seek(0, os.SEEK_END) > buffer, False, False
        file.seek(0)
        waiting = b""  # carriage returns of which it is not known what comes after them, and the sign before
        while more := file.read(1 << 22):
            text = waiting + more
            known = text.rstrip(b"\r")
            is_lone = is_lone or _LONE_FEED.search(known) is not None
            is_double = is_double or b"\r\n" in known
            if _BARE.search(known) or (is_large and ((is_lone and is_double) or _BLANK_LINE.search(known))):
                return True
            waiting = text[max(len(known) - 1, 0) :]
    return False


def copy_with_blanks(path: str, mark: str, target: IO[bytes], longest: int) -> int:
    """A copy in which, outside of quotation marks, lines end in a line feed alone and each other carriage return is a
    blank, without the records that are much too long; returns how many these are."""
    left_out = 0
    with open(path, "rb") as source, target:
        for piece in _pieces(source, mark, longest * BUFFERED // 8, FEEDS):
            if piece.text is None:
                left_out += 1
            else:
                target.write(_blank_returns(piece.text, piece.odd))
    return left_out


def _blank_returns(text: bytes, odd: Sequence[Span]) -> bytes:
    """Some whole records with line feeds and blanks for carriage returns outside of quotation marks."""
    found, start = list[bytes](), 0
    kept = [match.span() for first, last in odd for match in _BETWEEN_MARKS.finditer(text, first, last)]
    for stop, after in [*kept, (len(text), len(text))]:
        outside = text[start : stop + 1]  # with the mark after it, so that only the last one ends where the text does
        changed = _RETURNS.sub(lambda match: b" " * len(match[0]), _LINE_END.sub(b"\n", outside))
        found += changed[: len(changed) - len(text[stop : stop + 1])], text[stop:after]
        start = after
    return b"".join(found)


def copy_without(path: str, spans: Sequence[Span], target: IO[bytes]) -> None:
    """A copy of the file without these bytes."""
    with open(path, "rb") as source, target:
        for (_, start), (stop, _) in zip([(0, 0), *spans], [*spans, (os.path.getsize(path), 0)], strict=True):
            source.seek(start)
            while start < stop and (text := source.read(min(stop - start, 1 << 20))):
                start += target.write(text)
