"""Noise for the exact count of people who meet a condition, zero-knowledge private with respect to k of n people.

Theorem A3, in whole numbers. San(D) = g + X, P(X = x) ~ e^(-|x|/L), g the number of ones among n rows. The simulator
takes n times the mean of k rows of D with the person's own row set to 1/2, rounds it to a neighbouring integer Z, up
with the chance that leaves its mean alone, and adds the same noise. With mad the largest mean deviation of a mean of k
of n rows and f = min{1 - (k - 1)/n, (1 - k/n)(1 + 1/k)},

    epsilon = max{ (1/2 + n mad)/L,  1/(2L) + (n^2 f/(4k) + 1/4)/(2 L^2) }.

Proof. |E Z - g| <= 1/2. At an outcome x >= g, |x - g| - |x - Z| <= Z - g, and else <= g - Z, so that the ratio of
simulator to mechanism is at most E e^(+-(Z - g)/L): Hoeffding's lemma for draws without replacement bounds what comes
from the sample, and the rounding, of range 1, adds 1/(8 L^2). Conversely, by Jensen, minus the logarithm of the ratio
is at most E|Z - g|/L, which is E|T - g|/L as g is an integer and |. - g| is linear between integers.

A simulator that adds stepped noise needs less (:mod:`hubbub.sampling.stepped_simulator`): up to 3,000 rows it is worked
out for the sizes at hand, and the smaller of both scales is taken. With a larger scale the privacy is no less: noise of
scale L' > L is noise of scale L and, independently, of scale L' or none, none with probability (1 - q')^2 q/((1 - q)^2 q').
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, ball, integer, positive, precision, rounded
from hubbub.sampling import stepped_simulator
from hubbub.sampling.mean_deviation import largest_mean_deviation

THEOREM: Final = "Theorem A3 (an exact count, noise for what k random people tell), in whole numbers"
_DIGITS: Final = 20
_HALF: Final = Fraction(1, 2)


def scale_for(rows: Exact, of: Exact, epsilon: Exact) -> Fraction:
    """The scale L of the noise for an epsilon, in people, rounded up.

    Guarantee: the exact count with noise of this scale, or a larger one, is epsilon-zero-knowledge private with respect
    to RS(rows), with no delta (Theorem A3 in whole numbers, or the stepped simulator).
    """
    k, n = _sizes(rows, of)
    z = positive(epsilon, "epsilon")
    return stepped_simulator.least_scale(k, n, z, closed_scale(k, n, z))


def closed_scale(rows: Exact, of: Exact, epsilon: Exact) -> Fraction:
    """The scale by the two inequalities above, with no search: what a step would gain is left.

    Guarantee: as :func:`scale_for` (Theorem A3, in whole numbers).
    """
    k, n = _sizes(rows, of)
    z = positive(epsilon, "epsilon")
    with precision():
        first = (ball(_HALF) + n * largest_mean_deviation(k, n)) / ball(z)
        second = (ball(_HALF) + ball(_HALF**2 + 2 * z * _spread(k, n)).sqrt()) / (2 * ball(z))
        return rounded(first.max(second), up=True, digits=_DIGITS)


def enough(rows: Exact, of: Exact, scale: Exact, epsilon: Exact) -> bool:
    """Whether noise of this scale keeps the privacy loss at or below epsilon.

    Guarantee: True only if the exact count with it is epsilon-zero-knowledge private with respect to RS(rows) (Theorem
    A3 in whole numbers, or the stepped simulator). It is True of what :func:`scale_for` gives.
    """
    k, n = _sizes(rows, of)
    wide, z = positive(scale, "the scale of the noise"), positive(epsilon, "epsilon")
    with precision():
        mean = ball(_HALF) + n * largest_mean_deviation(k, n) <= ball(z * wide)
    if bool(mean) and _HALF / wide + _spread(k, n) / (2 * wide**2) <= z:
        return True
    return stepped_simulator.found_step(k, n, wide, z) is not None


def _spread(k: int, n: int) -> Fraction:
    """n^2 f/(4k) + 1/4."""
    f = min(1 - Fraction(k - 1, n), (1 - Fraction(k, n)) * (1 + Fraction(1, k)))
    return n**2 * f / (4 * k) + Fraction(1, 4)


def _sizes(rows: Exact, of: Exact) -> tuple[int, int]:
    k, n = integer(rows, "rows", least=1), integer(of, "people", least=1)
    if k > n:
        raise WrongUse(f"the simulator samples at most all people, not {k} of {n}; lower rows")
    return k, n
