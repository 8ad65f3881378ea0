"""Exact binomial numbers: how many of n people a secret sample of rate p takes.

A trial succeeds when U < p, U uniform on [0, 1). Written in binary, U is a row of fair coins and p a row of digits that
long division gives one after the other, for as long as anybody asks. The first place where the two differ decides:

    digit 1:   coin 0 decides U < p, a success;   coin 1 leaves the trial open
    digit 0:   coin 1 decides U > p, a failure;   coin 0 leaves the trial open

If p ends (1/2, 3/8), trials that are still open there have U >= p and fail. So P(success) is p itself, and not
p rounded to some number of digits: no digit is ever left out, and a trial stops only when it is decided.

Trials are alike, so of a bin with n open trials only their number matters. Its coins are n bits of fresh words, and
counting ones (popcount) says how many stay open: that number halves from digit to digit. With 64 or fewer, the open
trials of a bin are the bits of one word, and a digit is two or three operations on words.

All in all a person costs two random bits, some 0.1 ns of work. Counting the people costs more than that, so there is no
need for anything cleverer for large n. Of more than `LARGEST` people so many are drawn from: no table has more rows, and
nobody is refused for what was counted. How many words are drawn depends on the counts, and so does the time it takes.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.table import slices
from hubbub.numeric.exact import Exact, rational, to_text
from hubbub.numeric.exact_sums import MOST_ROWS

if TYPE_CHECKING:
    from hubbub.noise.source import Source, Words

LARGEST: Final = MOST_ROWS
"""A bin of 2^33 people, more than there are, takes about two seconds."""

_WORD: Final = 64
_FULL: Final = np.uint64(2**64 - 1)

Integers = NDArray[np.int64]


def binomial(counts: NDArray[np.integer], p: Exact, source: Source) -> Integers:
    """For each count c, a number of successes among c independent trials of probability p.

    Guarantee: if the words of the source are uniform and independent, the numbers are independent and each is exactly
    Binomial(c, p), for every rational p in [0, 1] and every count from 0 to 2^38, and of larger ones as of that: each
    trial is decided by comparing fair coins of its own with the binary digits of p, all of them. For p = 0 and p = 1
    no word is drawn.
    """
    chance = rational(p, "a probability")
    if not 0 <= chance <= 1:
        raise WrongUse(f"a probability must lie between 0 and 1, not {to_text(chance)}")
    trials = _check_counts(counts)
    if chance in (0, 1):
        return trials * int(chance)
    out = np.zeros(trials.size, dtype=np.int64)
    flat = trials.ravel()
    for part in slices(flat.size):
        _fill(flat[part], chance, source, out[part])
    return out.reshape(trials.shape)


def _check_counts(counts: NDArray[np.integer]) -> Integers:
    array = np.asarray(counts)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise WrongUse(f"the numbers of trials must be whole numbers in an integer array, not {array.dtype}")
    if int(array.min()) < 0:
        raise WrongUse("a number of trials is never below 0; check what was counted")
    return np.minimum(array.astype(np.uint64), LARGEST).astype(np.int64)


def _digits(p: Fraction) -> Iterator[bool]:
    """The binary digits of p after the point; they end if p does."""
    rest, denominator = p.numerator, p.denominator
    while rest:
        rest *= 2
        yield rest >= denominator
        rest -= denominator if rest >= denominator else 0


def _fill(trials: Integers, p: Fraction, source: Source, out: Integers) -> None:
    """The numbers of successes, added to `out`, digit by digit until every trial is decided."""
    many = np.flatnonzero(trials > _WORD)  # bins with more open trials than a word has bits
    left = trials[many]  # how many they are
    few = np.flatnonzero((trials > 0) & (trials <= _WORD))  # the other bins with open trials
    open_ = _lowest(trials[few])  # which bits they are
    for digit in _digits(p):
        if few.size:
            random_words = source.words(few.size)
            if digit:
                out[few] += np.bitwise_count(open_ & ~random_words)
                open_ &= random_words
            else:
                open_ &= ~random_words
        if many.size:
            ones = _ones(left, source)
            if digit:
                out[many] += left - ones
                left = ones
            else:
                left -= ones
            moving = np.flatnonzero((left > 0) & (left <= _WORD))
            few, open_ = np.append(few, many[moving]), np.append(open_, _lowest(left[moving]))
            staying = np.flatnonzero(left > _WORD)
            many, left = many[staying], left[staying]
        undecided = np.flatnonzero(open_)
        if 2 * undecided.size <= few.size:
            few, open_ = few[undecided], open_[undecided]
        if not few.size and not many.size:
            return


def _lowest(n: Integers) -> Words:
    """Words whose n lowest bits are ones, 1 <= n <= 64; for larger n, of the last word of n bits."""
    return _FULL >> (-n & (_WORD - 1)).astype(np.uint64)


def _ones(bits: Integers, source: Source) -> Integers:
    """How many ones there are among bits[i] > 0 fair bits, for each i.

    The words of all bins lie in one row, each bin from a word of its own on, and are drawn and counted a chunk at a
    time. Of a bin's last word only as many bits count as are left.
    """
    ends = np.cumsum((bits + (_WORD - 1)) // _WORD)
    starts = np.concatenate(([0], ends[:-1]))
    last = _lowest(bits)
    found = np.zeros(bits.size, dtype=np.int64)
    for part in slices(int(ends[-1])):
        first, stop = np.searchsorted(ends, part.start, side="right"), np.searchsorted(starts, part.stop, side="left")
        bins = slice(int(first), int(stop))  # those with a word in this part
        words = source.words(part.stop - part.start)
        closing = bins if ends[bins.stop - 1] <= part.stop else slice(bins.start, bins.stop - 1)
        words[ends[closing] - 1 - part.start] &= last[closing]
        from_ = np.maximum(starts[bins] - part.start, 0)
        found[bins] += np.add.reduceat(np.bitwise_count(words), from_, dtype=np.int64)
    return found
