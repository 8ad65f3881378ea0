"""How far the quotation marks of a CSV stand as they should, found out for 64 bytes at a time.

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

from io import BufferedIOBase
from typing import Final, TypeAlias

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
