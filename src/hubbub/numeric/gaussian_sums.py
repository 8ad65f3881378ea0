"""The discrete Gaussian in balls: its normaliser, masses and tails, and the normal distribution function beside it.

N_Z(s2) has P(X = x) = e^(-x^2/(2 s2)) / Z(s2) on the integers, for a positive rational s2 (its parameter; its variance
is at most s2). Z(s2) is a theta function: summed directly where s2 is small, by Poisson summation where it is not,

    Z(s2) = sqrt(2 pi s2) (1 + 2 sum over j >= 1 of e^(-2 pi^2 s2 j^2)).

Each sum goes on until what is left out is below the current precision, and a bound on that widens the ball.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import arb, ctx

from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import ball, exp, precision, upper

_HALF: Final = Fraction(1, 2)
SMOOTHING: Final = Fraction(9, 4)
"""k2 of Lemma I."""
LEAST_SMOOTHED: Final = 9
"""Of each s2: what Lemma I asks for."""
_EDGE: Final = Fraction(1, 1000)  # of what an interval may miss, for the smoothing


def normalizer(s2: Fraction) -> arb:
    """A ball around Z(s2) = sum over the integers of e^(-x^2/(2 s2)), that shrinks as the precision grows.

    Guarantee: it holds Z(s2). The terms fall faster than a geometric series, whose sum bounds what is left out.
    """
    if s2 < _HALF:
        return 1 + 2 * _squares(ball(1 / (2 * s2)))
    return (2 * arb.pi() * ball(s2)).sqrt() * (1 + ripple(s2))


def ripple(s2: Fraction) -> arb:
    """A ball around r(s2) = 2 sum over j >= 1 of e^(-2 pi^2 s2 j^2): how far a lattice sum of Gaussians is from even.

    Guarantee: for every real y the sum over the integers of e^(-(x-y)^2/(2 s2)) lies within a factor 1 - r .. 1 + r of
    sqrt(2 pi s2) (Poisson summation), with equality above at y = 0.
    """
    return 2 * _squares(2 * arb.pi() ** 2 * ball(s2))


def _squares(rate: arb) -> arb:
    """The sum over j >= 1 of e^(-rate j^2)."""
    total, j = arb(0), 1
    while True:
        total += (-rate * j * j).exp()
        left = (-rate * (j + 1) * (j + 1)).exp() / (1 - (-rate * (2 * j + 3)).exp())  # all terms from j + 1 on
        if not left > arb(2) ** (-ctx.prec - 8):
            return total + arb(0).union(left)
        j += 1


def mass(x: int, s2: Fraction) -> arb:
    """A ball around P(X = x)."""
    return exp(-Fraction(x * x) / (2 * s2)) / normalizer(s2)


def masses(reach: int, s2: Fraction) -> list[arb]:
    """Balls around P(X = 0), ..., P(X = reach)."""
    step, first = exp(-1 / s2), 1 / normalizer(s2)
    fall = exp(-1 / (2 * s2))  # e^(-(2x + 1)/(2 s2)), from one mass to the next
    found = [first]
    for _ in range(reach):
        found.append(found[-1] * fall)
        fall = fall * step
    return found


def tail(reach: int, s2: Fraction) -> arb:
    """A number that is at least P(X > reach), for a reach of at least 0.

    Guarantee: beyond it each mass is at most e^(-(2 reach + 3)/(2 s2)) times the one before: a geometric series.
    """
    first = exp(-Fraction((reach + 1) ** 2) / (2 * s2))
    return first / (1 - exp(-Fraction(2 * reach + 3) / (2 * s2))) / normalizer(s2)


def normal(x: arb) -> arb:
    """A ball around the chance that a standard normal number is at most x; narrow relative to it where it is small."""
    return (-x / arb(2).sqrt()).erfc() / 2


def gaussian_delta(epsilon: arb, mu: arb) -> arb:
    """A ball around G(epsilon, mu) = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).

    Guarantee: the largest P(Y) - e^epsilon Q(Y) of two unit normal laws at distance mu.
    """
    return normal(mu / 2 - epsilon / mu) - epsilon.exp() * normal(-mu / 2 - epsilon / mu)


# --- how far it reaches ------------------------------------------------------------------------------------------


def reach_of_sum(variance: Fraction, squares: Fraction, terms: int, miss: Fraction) -> arb:
    """How far up W = sum a_i X_i goes but for a chance of `miss`, the variance being sum a_i^2 s2_i and `squares` that of
    a_i^2, over so many terms of which every s2_i is at least 9.

    Guarantee (Lemma I): with G_i ~ N(0, k2), k2 = 9/4, W + sum a_i G_i is N(0, Var + Vk), Vk = k2 sum a_i^2, up to a
    factor (1 + r)/(1 - r) for each term (Poisson summation), so that P(W > h) <= Phi(-(h - g)/sqrt(Var + Vk)) +
    Phi(-g/sqrt(Vk)) for any g, up to these factors. It goes down as far.
    """
    r = ripple(SMOOTHING)
    factor = upper((2 * terms * ((1 + r) / (1 - r)).log()).exp())
    smooth = ball(SMOOTHING) * ball(squares)
    edge = ball(normal_quantile(miss * _EDGE)) * smooth.sqrt()
    return edge + ball(normal_quantile(miss * (1 - _EDGE) / factor)) * (ball(variance) + smooth).sqrt()


@lru_cache(maxsize=1024)
def reach_of_equals(s2: Fraction, terms: int, miss: Fraction) -> int:
    """A whole number that the sum of so many independent N_Z(s2) exceeds with a chance of at most `miss`.

    Guarantee: the law of X + Y, X ~ N_Z(a) and Y ~ N_Z(b), is at s the sum over x of e^(-(x - s a/(a+b))^2/(2c)), with
    c = a b/(a+b), times e^(-s^2/(2(a+b)))/(Z(a) Z(b)). That sum is at most sqrt(2 pi c)(1 + r(c)), and Z(a) is at least
    sqrt(2 pi a): so each mass of n of them is at most e^(-s^2/(2 n s2))/sqrt(2 pi n s2) times (1 + r(s2/2))^(n-1), as
    every c is at least s2/2. Beyond h these add up to at most the integral from h on.
    """
    with precision():
        factor = upper((1 + ripple(s2 / 2)) ** (terms - 1))
        return math.ceil(upper(ball(normal_quantile(miss / factor)) * ball(terms * s2).sqrt()))


@lru_cache(maxsize=256)
def normal_quantile(chance: Fraction) -> Fraction:
    """A z of at least 0, in thousandths, with Phi(-z) <= chance."""

    def enough(thousandths: int) -> bool:
        with precision():
            return bool(normal(-ball(Fraction(thousandths, 1000))) <= ball(chance))

    return Fraction(first_from(enough, 0), 1000)
