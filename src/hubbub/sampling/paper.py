"""The papers' own bounds, for comparison. No release claims them.

Theorem 13 of the crowd-blending paper, for any s: with e^epsilon' = max{p e^(epsilon + s) + 1 - p, 1/(1 - p)} and
alpha = e^s/(p e^s + 1 - p), delta = sup over n of p Pr[Bin(n, p) >= max(k - 1, floor((n + 1) p alpha))]. The paper
sets e^s = (2 - p)/(1 - p) and has Omega(k (1 - p)^2) where :func:`chernoff` has a number; at a given epsilon' the
largest s is the best.

The papers' own bounds for samples of uneven rates, for comparison. No release claims them.

Theorem 16 of the crowd-blending paper and Theorem 22 of the outlier paper both split at the size n of the person's
class. Whoever blends with few is safe unless k - l - 1 of them are sampled; whoever blends with many, unless the number
sampled lies outside a band around its mean, which costs e^s and the factor R = p'(1 - p)/(p (1 - p')):

    delta = p_max sup over n and q of min{ Pr[m >= k - l - 1],
                                           max{ Pr[m + 1 > (n + 1) q alpha], Pr[m < (n + 1) q beta] } },

m ~ Bin(n, q), alpha = e^s/(q e^s + 1 - q), beta = 1/(q + (1 - q) e^s). The papers bound the tails by Omega(.); here
they are binomial tails in floats, and the supremum over the mean rate q in [p, p'] is taken on a grid of
nine. Theorem 16 has e^epsilon' = p_max R e^(epsilon + s) + 1 - p_max, Theorem 22 has epsilon' = max{epsilon/k,
ln R + s + blend}.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from flint import arb

from hubbub.errors import WrongUse
from hubbub.guarantees.indistinguishability import cap_probability
from hubbub.numeric.binomial import at_least
from hubbub.numeric.exact import (
    INFINITY,
    Exact,
    Loss,
    ball,
    exp,
    integer,
    loss,
    precision,
    rational,
    rounded,
    to_text,
    upper,
)
from hubbub.runtime.frozen import dataclass

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
        return cap_probability((-(crowd - 1) * h / (1 + u)).exp())


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
                return cap_probability(best)
            rest = ball(p) * (-(others + 2) * rate_of_decay).exp()
            if rest <= best:
                return cap_probability(best)
            if give_up is not None and rest <= ball(give_up):
                return cap_probability(best.max(rest))
        return cap_probability(best)


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
        return cap_probability(ball(max(most / p, most / (1 - q))) * (-decay).exp())


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


_Delta: TypeAlias = Callable[..., Fraction]  # (epsilon', give_up) -> delta

_GRID: Final = 9
_TEETH: Final = (
    3  # both tails jump where a threshold passes an integer: so many jumps around the crossing are looked at
)
_MOST_CLASSES: Final = 60  # class sizes looked at on each side of the crossing
_LARGE: Final = 2000  # crowds for which the teeth are too fine to matter
_FINE: Final = 4_000  # the search stops at so fine a share of epsilon'
_FAR: Final = Fraction(200)
_DEVIATIONS: Final = 40  # a tail is summed so far out


@dataclass(frozen=True, slots=True)
class UnevenTradeoff:
    """A theorem about a sample of uneven rates, as a trade-off between epsilon' and delta."""

    exactly: _Delta

    def delta_at(self, at_epsilon: Exact) -> Fraction:
        """The delta at an epsilon'; 1 where the theorem says nothing."""
        return self.exactly(finite_epsilon(at_epsilon))

    def epsilon_at(self, delta: Exact) -> Loss:
        """The smallest epsilon' with at most this delta, to about three digits; infinite if there is none."""
        return _search_epsilon(self.exactly, delta)


def robust(k: Exact, epsilon: Exact, low: Exact, high: Exact, highest: Exact, exempt: Exact) -> UnevenTradeoff:
    """Theorem 16."""
    p, q, most = _rates(low, high, highest)
    others, e = _others(k, exempt), finite_epsilon(epsilon)

    def delta_at(at: Fraction, give_up: Fraction | None = None) -> Fraction:
        with precision():
            band = (ball(at).expm1() + ball(most)) / (ball(most * _factor(p, q)) * exp(e))
        return _split_band(others, _grid(p, q), float(band), most, give_up)

    return UnevenTradeoff(delta_at)


def distributional(k: Exact, epsilon: Exact, low: Exact, high: Exact, exempt: Exact, blend: Exact) -> UnevenTradeoff:
    """Theorem 22."""
    p, q, _ = _rates(low, high, 1)
    others, removal, close = (
        _others(k, exempt),
        finite_epsilon(epsilon) / integer(k, "k", least=2),
        finite_epsilon(blend),
    )

    def delta_at(at: Fraction, give_up: Fraction | None = None) -> Fraction:
        if at < removal:
            return Fraction(1)
        with precision():
            band = exp(at - close) / ball(_factor(p, q))
        return _split_band(others, _grid(p, q), float(band), Fraction(1), give_up)

    return UnevenTradeoff(delta_at)


def _split_band(
    others: int, rates: Sequence[Fraction], band: float, most: Fraction, give_up: Fraction | None = None
) -> Fraction:
    """p_max sup over n and q of the better of the two bounds; `band` is e^s, and `others` is k - l - 1.

    With `give_up`, only whether it is above that is computed.
    """
    if others < 1 or not band > 1:
        return Fraction(1)
    found = Fraction(0)
    for q in rates if others < _LARGE else rates[:: _GRID // 2]:
        found = max(found, Fraction(_over_sizes(others, float(q), band)) * most)
        if give_up is not None and found > give_up:
            break
    return min(rounded(found, up=True, digits=_DIGITS), Fraction(1))


def _over_sizes(others: int, q: float, band: float) -> float:
    """sup over n of min{few, many}: few rises with n and many falls, in teeth, so it lies where they cross."""
    above, below = q * band / (q * band + 1 - q), q / (q + (1 - q) * band)

    def few(n: int) -> float:
        return _at_least(n, q, others)

    def many(n: int) -> float:
        over = _at_least(n, q, math.floor((n + 1) * above))
        return max(over, _at_least(n, 1 - q, n - math.ceil((n + 1) * below) + 1))

    low, high = others - 1, others + 1
    while few(high) < many(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if few(middle) >= many(middle) else (middle, high)
    reach = min(math.ceil(_TEETH / below), _MOST_CLASSES) if others < _LARGE else 2
    return max(min(few(n), many(n)) for n in range(max(high - reach, 1), high + reach + 1))


def _at_least(n: int, q: float, m: int) -> float:
    """Pr[Bin(n, q) >= m] in floating-point numbers, small tails with all their digits."""
    if m <= 0 or m > n:
        return 1.0 if m <= 0 else 0.0
    if (n - m) * q > (m + 1) * (1 - q):
        return 1 - _at_least(n, 1 - q, n - m + 1)
    ways = math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)
    first = math.exp(ways + m * math.log(q) + (n - m) * math.log1p(-q))
    fall = 1 - (n - m) / (m + 1) * (q / (1 - q))  # later ratios are smaller
    reach = min(n - m, _DEVIATIONS + int(_DEVIATIONS * min(math.sqrt(n * q * (1 - q)), 1 / max(fall, 1e-9))))
    j = np.arange(m, m + reach)
    return first * (1 + float(np.cumprod((n - j) / (j + 1) * (q / (1 - q))).sum()))


def _search_epsilon(delta_at: _Delta, delta: Exact) -> Loss:
    target = rational(delta, "delta")
    low, high = Fraction(0), Fraction(1)
    while delta_at(high, target) > target:
        low, high = high, 2 * high
        if high > _FAR:
            return INFINITY
    while high - low > high / _FINE:
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(middle, target) <= target else (middle, high)
    return rounded(high, up=True, digits=_DIGITS)


def _grid(p: Fraction, q: Fraction) -> list[Fraction]:
    return [p + (q - p) * Fraction(i, _GRID - 1) for i in range(_GRID)] if p < q else [q]


def _factor(p: Fraction, q: Fraction) -> Fraction:
    return q * (1 - p) / (p * (1 - q))


def _others(k: Exact, exempt: Exact) -> int:
    return integer(k, "k", least=2) - integer(exempt, "exempt") - 1


def _rates(low: Exact, high: Exact, highest: Exact) -> tuple[Fraction, Fraction, Fraction]:
    p, q, most = (rational(value, "a sampling rate") for value in (low, high, highest))
    if not 0 < p <= q < 1 or not q <= most <= 1:
        raise WrongUse(
            f"the papers' theorems need sampling rates 0 < low <= high < 1 and high <= highest <= 1, not "
            f"{to_text(p)}, {to_text(q)} and {to_text(most)}; choose such rates"
        )
    return p, q, most
