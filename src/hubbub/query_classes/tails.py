"""How far sums of two-sided geometric noise go, for many of them at once. Rounded up; the noise is whole numbers.

The exponential mechanism, exactly: one of many, the likelier the better its score, in whole numbers alone.

Propose any of them, all alike, and accept one that is `gap` worse than the best with probability e^(-rate gap): a
geometric number G of that rate has P(G >= gap) = e^(-rate gap), so it is accepted when G >= gap. What is accepted first
has exactly the law P ~ e^(-rate gap). At most as many proposals as there are choices are needed on average, since the
best is always accepted; how many words are drawn depends on the scores, and so does the time it takes.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.noise.sampler import below, geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, exp, precision, upper

_STEPS: Final = 60


@lru_cache(maxsize=4096)
def farthest(terms: int, rate: Fraction, log_sums: Fraction, doubt: Fraction) -> int:
    """The number that none of e^log_sums sums, each of at most `terms` noises, exceeds but with probability `doubt`.

    Guarantee: if each noise x has P(x) ~ exp(-rate |x|) and those of one sum are independent, then with probability at
    least 1 - doubt every sum is at most this, up and down. One noise: its exact tail 2 a^(m+1)/(1+a), a = e^-rate.
    Several: Chernoff's bound for a rational l near the best one, evaluated in balls, with the exact moment generating
    function (1-a)^2/((1 - a e^l)(1 - a e^-l)). Any l would do; the search for a good one decides nothing.
    """
    with precision():
        tests = ball(log_sums) + ball(2 / doubt).log()
        single = _integer((tests - (1 + exp(-rate)).log()) / ball(rate)) if terms == 1 else None
        if single is not None:
            return max(single, 0)  # P(|x| >= m + 1) = 2 a^(m+1)/(1+a) for the whole number m below that
        slope = _good_slope(terms, float(rate), float(tests.mid()), rate)
        a, up = exp(-rate), exp(slope)
        moment = 2 * (1 - a).log() - (1 - a * up).log() - (1 - a / up).log()
        return _integer((terms * moment + tests) / ball(slope))


def _integer(x: arb) -> int:
    """Whole sums above x are at least the next whole number above it."""
    return math.floor(upper(x))


def _good_slope(terms: int, rate: float, tests: float, exact: Fraction) -> Fraction:
    """By golden section: t(l) = (terms ln M(l) + tests)/l has one minimum between 0 and the rate."""

    def reach(share: float) -> float:
        step = share * rate
        moment = (
            2 * math.log(-math.expm1(-rate)) - math.log(-math.expm1(step - rate)) - math.log(-math.expm1(-step - rate))
        )
        return (terms * moment + tests) / step

    low, high, golden = 1e-9, 1 - 1e-9, (math.sqrt(5) - 1) / 2
    for _ in range(_STEPS):
        one, two = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, two) if reach(one) < reach(two) else (one, high)
    return exact * Fraction((low + high) / 2).limit_denominator(10**12)


def selection_error(rate: Fraction, log_number: Fraction, doubt: Fraction) -> int:
    """By how much the exponential mechanism misses the best score, but with probability `doubt`.

    Guarantee: with whole scores and P ~ exp(-rate gap), P(gap > t) <= number e^(-rate t).
    """
    with precision():
        return _integer((ball(log_number) + ball(1 / doubt).log()) / ball(rate))


_AT_ONCE: Final = 1 << 15


def exponential(losses: NDArray[np.int64], rate: Fraction, source: Source) -> int:
    """The place of one of the losses, P(i) proportional to exp(-rate losses[i]).

    Guarantee: exactly this law, if the words of the source are uniform and independent. If one person changes every
    loss by at most s, choosing is (2 s rate)-differentially private (McSherry and Talwar 2007).
    """
    return int(several(losses, rate, 1, source)[0])


def several(losses: NDArray[np.int64], rate: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """As many places, drawn independently of one another: those accepted first.

    Guarantee: that of :func:`exponential` for each of them; what they lose adds up.
    """
    gaps = losses - losses.min()
    found: list[NDArray[np.int64]] = []
    missing = size
    while missing > 0:
        proposed = below(gaps.size, min(_AT_ONCE, 4 * max(gaps.size, missing)), source)
        accepted = proposed[geometric(rate, proposed.size, source) >= gaps[proposed]][:missing]
        found.append(accepted.astype(np.int64))
        missing -= accepted.size
    return np.concatenate(found)
