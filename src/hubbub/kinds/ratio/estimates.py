"""What the published sums of a ratio say: a box for the two, and the ratio between its corners."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.kinds.statistic.intervals import reach
from hubbub.kinds.statistic.result import SHOWN, UNTOLD

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: both published sums, in steps, what they say, and where the ratio lies."""

    published: tuple[int, int]
    estimate: Fraction | None
    low: Fraction
    high: Fraction | None  # None: no upper end
    status: str


def answer_of(spec: Ratio, dividend: int, divisor: int) -> Answer:
    """The answer that follows from two published sums.

    Guarantee: each sum is within the reach of its noise but for half of 1 - coverage, so that both are with the coverage
    of the release, and then the ratio of the sums lies in the interval, wherever the sums are in their box. Where the
    lower sum may be 0 there is no upper end.
    """
    miss = (1 - spec.coverage) / 2
    off, away = (reach(rate, miss) for rate in spec.rates)
    step = spec.of.step / spec.per.step
    low, high = max(dividend - off, 0), max(dividend + off, 0)
    least, most = divisor - away, max(divisor + away, 0)
    down = step * Fraction(low, most) if most else Fraction(0)
    up = step * Fraction(high, least) if least > 0 else None
    if divisor <= 0 or least <= 0:
        return Answer((dividend, divisor), None, down, up, UNTOLD)
    about = step * Fraction(dividend, divisor)
    return Answer((dividend, divisor), max(about, down), down, up, SHOWN)
