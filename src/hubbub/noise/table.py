"""The certified table: the one idea that makes every sampler exact.

Let U be uniform on [0, 1), written with infinitely many bits. A law on the cells 0..m with cumulative
boundaries 0 <= c_1 <= ... <= c_m <= 1 is drawn by

    cell = the number of boundaries c_i <= U,

since P(cell = i) = c_(i+1) - c_i (with c_0 = 0 and c_(m+1) = 1). The boundaries are real numbers such as
exp(-1/10)/(1 + exp(-1/10)); all we ever have is an enclosure lo_i <= c_i <= hi_i with rational ends. The
first 64 bits of U, a word w, say w <= 2**64 U < w + 1. In units of 2**-64, then,

    hi_i <= w       proves c_i <= U         (so w counts it from ceil(hi_i) on)
    lo_i >= w + 1   proves c_i >  U         (so w may count it from floor(lo_i) on)

and when the boundaries *surely* below U are as many as those *possibly* below it, the cell is known,
whatever the other bits of U are. Otherwise the word is uncertain: the next 64 bits of U are drawn and the
boundaries computed to more bits, again and again until the cell is certain.

Why this is exact, and not exact up to 2**-64: a cell is given only when the bits of U drawn so far prove
it, so the answer is the cell of U itself, and U is exactly uniform. The bits not drawn are never needed.
Why it ends: with n words drawn, U is undecided only within 2**-64n and the enclosure's width of one of the
m boundaries, and the enclosures shrink faster than that; the probability is below 3m 2**-64n, which
goes to 0. No boundary need be known to lie on one side of a multiple of 2**-64, and one that is such a
multiple (1/2) makes no word uncertain once its ball is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, WrongUse
from hubbub.numeric.exact import PRECISION, precision

if TYPE_CHECKING:
    from hubbub.noise.source import Source, Words

Cells: TypeAlias = NDArray[np.int32]

CHUNK: Final = 1 << 15
"""Words worked on at a time: 256 KiB, which stay in the second-level cache between the passes."""

# Until it has seen a block of this size freed, glibc gives the memory of every chunk back to the kernel and fetches it
# again page by page, which halves the speed. The block is never touched. To be deleted once numpy keeps large buffers.
np.empty(1 << 21)

_WORD: Final = 64
_END: Final = 1 << _WORD
_MOST_BITS: Final = 1 << 13  # how far the table itself goes for tight balls; the slow path goes on from there
_MOST_WORDS: Final = 1 << 8  # of one U. Balls that shrink reach this with probability below 2**-16000
_SPARE: Final = 128  # bits beyond those of U, for what a formula loses on the way


def slices(size: int) -> Iterator[slice]:
    """0..size in pieces of `CHUNK`."""
    for start in range(0, size, CHUNK):
        yield slice(start, min(start + CHUNK, size))


class CertifiedTable:
    """A law on the cells 0..m, ready to be drawn from. Immutable; making one is slow, so callers keep it.

    `boundaries()` computes c_1..c_m at the current precision of :mod:`flint` and returns balls. It must be
    a function of the law alone and give narrower balls when asked at a higher precision. Equal
    boundaries (a cell of probability zero) and boundaries closer than 2**-64 are welcome.

    Guarantee: if c_1 <= ... <= c_m lie in [0, 1] and every ball holds its boundary, and the words of the
    source are uniform and independent, then the cells drawn are independent and P(cell = i) is exactly
    c_(i+1) - c_i. (The argument is at the top of this file.)
    """

    __slots__ = ("_boundaries", "_guide", "_possibly", "_shift", "_surely", "cells")

    def __init__(self, boundaries: Callable[[], Sequence[arb]]) -> None:
        self._boundaries = boundaries
        lows, highs = _enclosures(boundaries)
        self.cells: Final = len(lows) + 1
        # How many boundaries surely (possibly) lie at or below U is the number of entries <= w.
        # A boundary whose entry is 2**64 is reached by no word and is left out.
        self._surely = np.array([high for high in highs if high < _END], dtype=np.uint64)
        self._possibly = np.array([low for low in lows if low < _END], dtype=np.uint64)
        self._shift, self._guide = self._make_guide()
        for part in (self._surely, self._possibly, self._guide):
            part.flags.writeable = False

    def _make_guide(self) -> tuple[np.uint64, Cells]:
        """By the top bits of a word: its cell, or -1 where these bits do not settle it.

        One word in 2**7 or fewer meets a -1, up to 2**11 cells. There the guide stops growing, at 2**18 entries
        of 4 bytes (measured: still faster than a guide that fits a smaller cache and sends more words to bisection).
        """
        bits = min(self.cells.bit_length() + 7, 18)
        shift = np.uint64(_WORD - bits)
        # Entry b stands for the words b << shift and on. A boundary counts for all of them if it counts for the first
        # one, and for one of them if it counts for the last; if as many do the one as the other, the cell is known.
        exact_bits = (self._surely >> shift << shift) == self._surely
        surely = _running_count((self._surely >> shift) + np.where(exact_bits, 0, 1).astype(np.uint64), 1 << bits)
        possibly = _running_count(self._possibly >> shift, 1 << bits)
        return shift, np.where(surely == possibly, surely, -1).astype(np.int32)

    def sample(self, size: int, source: Source) -> Cells:
        """`size` independent cells."""
        out = np.empty(size, dtype=np.int32)
        for part in slices(size):
            self._decide(source.words(part.stop - part.start), source, out[part])
        return out

    def sample_from(self, words: Words, source: Source) -> Cells:
        """The cells whose U begin with `words`; the source is asked only for what follows an uncertain word."""
        out = np.empty(len(words), dtype=np.int32)
        for part in slices(len(words)):
            self._decide(words[part], source, out[part])
        return out

    def _decide(self, words: Words, source: Source, out: Cells) -> None:
        top = (words >> self._shift).view(np.int64)
        np.take(self._guide, top, mode="clip", out=out)  # clip: the index fits anyway, and it is the fastest mode
        unsettled = np.flatnonzero(out < 0)
        if not unsettled.size:
            return
        rest = words[unsettled]
        surely = np.searchsorted(self._surely, rest, side="right")
        possibly = np.searchsorted(self._possibly, rest, side="right")
        out[unsettled] = surely
        for i in np.flatnonzero(surely != possibly):
            out[unsettled[i]] = self._refine(int(rest[i]), source)

    def _refine(self, bits_of_u: int, source: Source) -> int:
        """The slow path: more bits of U and of the boundaries until the cell is certain."""
        for drawn in range(2, _MOST_WORDS + 1):
            bits_of_u = bits_of_u << _WORD | int(source.words(1)[0])
            length = drawn * _WORD
            with precision(length + _SPARE):
                unit, least, above = arb(1 << length), arb(bits_of_u), arb(bits_of_u + 1)
                scaled = [c * unit for c in self._boundaries()]
                surely = sum(1 for c in scaled if c <= least)  # a comparison of balls is True only when proved
                possibly = sum(1 for c in scaled if not c >= above)
            if surely == possibly:
                return surely
        raise CheckFailed(
            f"a cell is undecided after {_MOST_WORDS} random words, which does not happen to balls that shrink; "
            "make the boundaries follow the precision they are asked at"
        )


def _enclosures(boundaries: Callable[[], Sequence[arb]]) -> tuple[list[int], list[int]]:
    """floor(lo_i) and ceil(hi_i) in units of 2**-64, both non-decreasing. A ball that is not finite says nothing."""
    bits = PRECISION
    while True:
        with precision(bits):
            unit = arb(_END)
            ends = [_ends(c * unit) for c in boundaries()]
        lows, highs = [low for low, _ in ends], [high for _, high in ends]
        # What a ball touches is at most two words wide once the ball is narrow.
        if bits >= _MOST_BITS or all(high - low <= 2 for low, high in zip(lows, highs, strict=True)):
            break
        bits *= 2
    # c_i <= c_(i+1): a lower bound serves all later boundaries, an upper bound all earlier ones.
    least, most = 0, _END
    for i in range(len(lows)):
        least = lows[i] = max(least, lows[i])
    for i in reversed(range(len(highs))):
        most = highs[i] = min(most, highs[i])
    if any(low > high for low, high in zip(lows, highs, strict=True)):
        raise WrongUse("the boundaries of a table must not decrease and must lie in [0, 1]; check the formula")
    return lows, highs


def _running_count(entries: Words, size: int) -> NDArray[np.intp]:
    """For each b in 0..size-1, the number of entries <= b. (An entry may be `size` itself.)"""
    return np.bincount(entries.astype(np.intp), minlength=size)[:size].cumsum()


def _shift(number: int, by: int) -> int:
    """The floor of a number times a power of two."""
    return number << by if by >= 0 else number >> -by


def _ends(c: arb) -> tuple[int, int]:
    """The floor of the lower end and the ceiling of the upper end of a ball, in integers: flint's own rounds to a precision
    that another thread may change."""
    if not c.is_finite():
        return 0, _END
    middle, exponent = map(int, c.mid().man_exp())
    radius, other = map(int, c.rad().man_exp())
    if min(exponent, other) < -_MOST_BITS - _WORD:  # too fine to be written out: a unit of so many bits holds its ends
        unit = _MOST_BITS + _WORD
        low, high = _shift(middle, exponent + unit), _shift(middle, exponent + unit) + 1
        wide = _shift(radius, other + unit) + 1
        return low - wide >> unit, -(-(high + wide) >> unit)
    if exponent > other:
        middle, exponent = middle << exponent - other, other
    else:
        radius <<= other - exponent
    low, high = middle - radius, middle + radius
    return (low << exponent, high << exponent) if exponent >= 0 else (low >> -exponent, -(-high >> -exponent))
