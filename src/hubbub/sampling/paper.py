"""The papers' own bounds, for comparison. No release claims them.

Theorem 13 of the crowd-blending paper, for any s: with e^epsilon' = max{p e^(epsilon + s) + 1 - p, 1/(1 - p)} and
alpha = e^s/(p e^s + 1 - p), delta = sup over n of p Pr[Bin(n, p) >= max(k - 1, floor((n + 1) p alpha))]. The paper
sets e^s = (2 - p)/(1 - p) and has Omega(k (1 - p)^2) where :func:`chernoff` has a number; at a given epsilon' the
largest s is the best.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.guarantees.indistinguishability import capped
from hubbub.numeric.binomial import at_least
from hubbub.numeric.exact import INFINITY, Exact, Loss, ball, exp, integer, loss, precision, rational, rounded, upper

_MOST: Final = 3000  # thresholds looked at before the Chernoff bound stands in for the rest
_PATIENCE: Final = (
    64  # the tails fall with the threshold but for teeth of rounding: so many may pass without a new best
)
_DIGITS: Final = 6


def crowd_epsilon_zk(epsilon: Exact, rate: Exact) -> Fraction:
    """The paper's epsilon_zk = ln(p (2 - p)/(1 - p) e^epsilon + 1 - p), rounded up."""
    e, p = finite_epsilon(epsilon), _rate(rate)
    with precision():
        return rounded((ball(p * (2 - p) / (1 - p)) * exp(e) + ball(1 - p)).log(), up=True)


def chernoff(k: Exact, rate: Exact) -> Fraction:
    """delta at :func:`crowd_epsilon_zk`: exp(-(k - 1) h(1 - p)/(2 - p)), h(u) = (1 + u) ln(1 + u) - u, rounded up."""
    crowd, p = integer(k, "k", least=2), _rate(rate)
    with precision():
        u = ball(1 - p)
        h = (1 + u) * (1 + u).log() - u
        return capped((-(crowd - 1) * h / (1 + u)).exp())


def crowd_delta(
    k: Exact, epsilon: Exact, rate: Exact, at_epsilon: Exact, *, give_up: Fraction | None = None
) -> Fraction:
    """The delta of Theorem 13 at an epsilon', with exact tails; 1 where the theorem says nothing.

    With `give_up`, only whether it is above that is computed: the answer lies on the same side of it.
    """
    crowd, e, p, at = integer(k, "k", least=2), finite_epsilon(epsilon), _rate(rate), finite_epsilon(at_epsilon)
    with precision():
        odds = (ball(at).expm1() + ball(p)) / (ball(p) * exp(e))  # e^s
        if not exp(at) * ball(1 - p) >= 1 or not odds > 1:
            return Fraction(1)
        level = ball(p) * odds / (ball(p) * odds + ball(1 - p))  # p alpha
        rate_of_decay = level * (level / ball(p)).log() + (1 - level) * ((1 - level) / ball(1 - p)).log()
        if give_up is not None and p <= give_up:
            return p  # no tail is above 1
        best, since = arb(0), 0
        for j in range(crowd - 1, crowd - 1 + _MOST):
            others = math.ceil(upper((j + 1) / level)) - 2  # the most for which j is the threshold
            value = ball(p) * at_least(others, p, j)
            best, since = (value, 0) if value > best else (best, since + 1)
            if since > _PATIENCE or (give_up is not None and best > ball(give_up)):
                return capped(best)
            rest = ball(p) * (-(others + 2) * rate_of_decay).exp()
            if rest <= best:
                return capped(best)
            if give_up is not None and rest <= ball(give_up):
                return capped(best.max(rest))
        return capped(best)


def crowd_epsilon(k: Exact, epsilon: Exact, rate: Exact, delta: Exact) -> Loss:
    """The smallest epsilon' of Theorem 13 with at most this delta, to six digits; infinite if there is none."""
    crowd, p, target = integer(k, "k", least=2), _rate(rate), rational(delta, "delta")
    if target < p**crowd if crowd < 4096 else ball(target) < ball(p) ** crowd:
        return INFINITY

    def suffices(at: Fraction) -> bool:
        return crowd_delta(k, epsilon, rate, at, give_up=target) <= target

    with precision():
        low = rounded(-ball(1 - p).log(), up=True)
    if suffices(low):
        return low
    high = 2 * low
    while not suffices(high):
        low, high = high, 2 * high
    while high - low > low / 10**_DIGITS:
        middle = (low + high) / 2
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return rounded(high, up=True, digits=_DIGITS)


def robust_epsilon_zk(epsilon: Exact, low: Exact, high: Exact, highest: Exact) -> Fraction:
    """Theorem 16: ln(p_max R e^epsilon (2 - p)/(1 - p') + 1 - p_max), R = p'(1 - p)/(p (1 - p')), rounded up."""
    e, p, q, most = finite_epsilon(epsilon), _rate(low), _rate(high), rational(highest, "the highest rate")
    factor = q * (1 - p) / (p * (1 - q)) * (2 - p) / (1 - q)
    with precision():
        return rounded((ball(most * factor) * exp(e) + ball(1 - most)).log(), up=True)


def robust_delta(k: Exact, low: Exact, high: Exact, highest: Exact, exempt: Exact) -> Fraction:
    """At :func:`robust_epsilon_zk`: max(p_max/p, p_max/(1 - p')) exp(-(1 - ln 2)/4 (k - l - 1)(1 - p')^2)."""
    p, q, most = _rate(low), _rate(high), rational(highest, "the highest rate")
    others = integer(k, "k", least=2) - integer(exempt, "exempt") - 1
    with precision():
        decay = (1 - arb(2).log()) / 4 * others * ball((1 - q) ** 2)
        return capped(ball(max(most / p, most / (1 - q))) * (-decay).exp())


def _rate(value: Exact) -> Fraction:
    rate = rational(value, "a sampling rate")
    if not 0 < rate < 1:
        raise WrongUse("the papers' theorems are for sampling rates above 0 and below 1; choose one there")
    return rate


def finite_epsilon(value: Exact) -> Fraction:
    """What the papers' theorems start from."""
    found = loss(value, "epsilon")
    if not isinstance(found, Fraction):
        raise WrongUse("the papers' theorems start from a finite epsilon; give a number")
    return found
