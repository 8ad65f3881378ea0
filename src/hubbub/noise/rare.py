"""Rare successes among very many independent trials, drawn in time proportional to their number.

The number of failures before the next success is geometric: P(G >= m) = q^m with q = 1 - p. Gaps drawn one after the
other are thus the same as a coin for each trial, and nothing is left to choose: they say how many succeed (a binomial
number) and which (every set of that size is equally likely).

A gap may have nineteen digits, so it is drawn digit by digit, in base B = 1024. The digits of a geometric number are
independent: q^(r_0 + B r_1 + ...) is a product. The highest digit ends where the trials do: what is beyond it is
beyond the last trial, whatever the lower digits are. So a gap is a few cells of certified tables, and nothing is cut.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import TYPE_CHECKING, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.table import CertifiedTable

if TYPE_CHECKING:
    from hubbub.noise.source import Source

MOST_TRIALS: Final = 1 << 63

_DIGIT: Final = 10  # bits
_BASE: Final = 1 << _DIGIT
_ROUND: Final = 1 << 20  # gaps at a time, at most
_SPARE: Final = 16
_PAST: Final = 1.5  # times the trials: a sum of gaps that is larger, as a float, is past the end beyond doubt


def rare(trials: int, chance: Callable[[], arb], source: Source) -> NDArray[np.int64]:
    """The numbers, in rising order, of those trials 0..trials-1 that succeed, each with the probability of `chance`.

    `chance()` is a ball around p at the current precision, 0 <= p < 1, narrower at a higher one.

    Guarantee: if every ball holds the same p, and the words of the source are uniform and independent, the trials
    succeed independently, each with probability exactly p. For p = 0 and for no trials no word is drawn.
    """
    if not 0 <= trials <= MOST_TRIALS:
        raise WrongUse(f"the number of trials must lie between 0 and 2^63, not {trials}")
    likely = chance()
    if trials == 0 or likely.is_zero():
        return np.empty(0, dtype=np.int64)
    if not likely < 1:
        raise WrongUse("a rare event has a probability below 1; list the trials instead")
    tables = digits(trials, chance)
    found: list[NDArray[np.int64]] = []
    start, p = 0, float(likely.mid())
    while start < trials:
        left = trials - start
        gaps = _gaps(tables, min(int(p * left + 6 * sqrt(p * left)) + _SPARE, _ROUND), source)
        past = int(np.searchsorted(np.cumsum(gaps.astype(np.float64) + 1), _PAST * left))
        ends = np.cumsum(gaps[:past] + np.uint64(1)) - np.uint64(1)  # below 2^64 before `past`
        inside = ends[ends < left]
        found.append(start + inside.astype(np.int64))
        if inside.size < gaps.size:
            break
        start += int(ends[-1]) + 1
    return np.concatenate(found)


def digits(trials: int, chance: Callable[[], arb]) -> tuple[CertifiedTable, ...]:
    """The digits of a gap, the lowest first; the last cell of the highest means that it is beyond the last trial.

    Guarantee: as far as they reach, P(r_0 = a, r_1 = b, ...) = p (1 - p)^(a + B b + ...).
    """
    lower = max((trials.bit_length() - 1) // _DIGIT, 0)

    def one(position: int) -> CertifiedTable:
        unit = 1 << _DIGIT * position

        def remainder() -> list[arb]:  # (1 - q^(unit i)) / (1 - q^(unit B)), i = 1..B-1
            step = (-chance()).log1p() * unit
            total = (step * _BASE).expm1()
            return [(step * i).expm1() / total for i in range(1, _BASE)]

        def highest() -> list[arb]:  # 1 - q^(unit i)
            step = (-chance()).log1p() * unit
            return [-(step * i).expm1() for i in range(1, -(-trials // unit) + 1)]

        return CertifiedTable(remainder if position < lower else highest)

    return tuple(one(position) for position in range(lower + 1))


def _gaps(tables: tuple[CertifiedTable, ...], size: int, source: Source) -> NDArray[np.uint64]:
    """So many gaps; one beyond the last trial is 2^63."""
    *lower, last = tables
    top = last.sample(size, source)
    out = top.astype(np.uint64) << np.uint64(_DIGIT * len(lower))
    for position, table in enumerate(lower):
        out += table.sample(size, source).astype(np.uint64) << np.uint64(_DIGIT * position)
    out[top == last.cells - 1] = MOST_TRIALS
    return out
