"""Two ways to a zero-knowledge count or share of all people, and which of them errs less.

K people in secret and noise on what they tell (Theorem A1'), or the exact number and noise that hides what K random
people would not tell (Theorem A3). Which is better depends on K, N, epsilon and the coverage alone: each way is asked
how long its interval is at worst, and the shorter one is taken. For small epsilon that is the sample, whose error is
hardly more than that of K people without any noise; from about 0.9 on the exact count. With K = N they are the same.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final

from hubbub.kinds.sums.intervals import reach
from hubbub.noise.sampler import SMALLEST_EPSILON
from hubbub.numeric.exact import rounded
from hubbub.runtime.frozen import dataclass
from hubbub.sampling import exact_count, sampled_share
from hubbub.sampling.sanitize import Blank, inside
from hubbub.tables.protection import Knowledge, Route

_WORTH_A_SEARCH: Final = Fraction(2, 5)  # below, the sample errs less with either noise


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """A rate of noise, and how far the release errs with it at worst, in people."""

    rate: Fraction
    error: Fraction


@lru_cache(maxsize=256)
def by_sample(rows: int, people: int, epsilon: Fraction, miss: Fraction) -> Way:
    """K people in secret.

    Guarantee: with noise of this rate on a count of K of N people, each of whom has it or not, the release is
    epsilon-zero-knowledge private with respect to RS(K) (Theorem A1', a blank is a fair coin).
    """
    rate = inside(rows, people, epsilon, blank=Blank.COIN).epsilon_dp
    return Way(rate=rate, error=sampled_share.widest(people, rows, rate, miss))


@lru_cache(maxsize=256)
def by_exact_count(rows: int, people: int, epsilon: Fraction, miss: Fraction) -> Way | None:
    """Everybody, with more noise; None where that is too wide to be drawn.

    Guarantee: with noise of this rate on the exact count the release is epsilon-zero-knowledge private with respect to
    RS(K) (Theorem A3 in whole numbers, or its stepped simulator).
    """
    scale = exact_count.scale_for if epsilon >= _WORTH_A_SEARCH else exact_count.closed_scale
    rate = rounded(1 / scale(rows, people, epsilon), up=False)  # a decimal, and so is what is promised
    if rate < SMALLEST_EPSILON:
        return None
    return Way(rate=rate, error=error_of_exact(rate, people, miss))


def error_of_exact(rate: Fraction, people: int, miss: Fraction) -> Fraction:
    """How far the exact count with noise of this rate errs at worst, in people."""
    return Fraction(min(reach(rate, miss), people))


def better(rows: int, people: int, epsilon: Fraction, miss: Fraction) -> Knowledge:
    """The way that errs less at worst; of equals, the sample.

    Guarantee: that of :func:`by_sample` or of :func:`by_exact_count`.
    """
    sample, exact = by_sample(rows, people, epsilon, miss), by_exact_count(rows, people, epsilon, miss)
    use_exact = exact is not None and exact.error < sample.error
    way, route = (exact, Route.EXACT) if use_exact and exact is not None else (sample, Route.SAMPLE)
    return Knowledge(epsilon=epsilon, rows=rows, people=people, route=route, rate=way.rate)


def by_bins(rows: int, people: int, epsilon: Fraction) -> Knowledge:
    """K people in secret, told by bins, or with a value each.

    Guarantee: with a mechanism on the sample that loses half of this rate when a person comes or goes, the release is
    epsilon-zero-knowledge private with respect to RS(K) (Theorem A1', a blank is in no bin).
    """
    rate = inside(rows, people, epsilon, blank=Blank.HALF_WAY).epsilon_dp
    return Knowledge(epsilon=epsilon, rows=rows, people=people, route=Route.SAMPLE, rate=rate)
