"""How likely two candidates end up close, or far apart: certified upper bounds, however small.

x and y get the tops of N independent voters with probabilities p and q; Z = #x - #y. What is wanted is Pr[Z >= z],
bounded from above and close to the truth, for N up to millions and probabilities like 1e-482. Given T = #x + #y, which
is Binomial(N, p + q), #x is Binomial(T, p/(p + q)), so

    Pr[Z >= z] = sum over t of Pr[T = t] Pr[Bin(t, p/(p + q)) >= (t + z)/2]

where a binomial tail past its mean is at most its first term over one minus the next ratio. The sum is taken in
logarithms of double precision. Each is wrong by some units in the last place of terms as large as N ln N, so all are
raised by `_slack`, a relative 1e-6 at a million voters: then the sum is an upper bound, as the guarantee needs.
Past `MOST_SUMMED` voters, the exponential moment at its best rational point bounds Z in the same direction.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.numeric.binomial import at_least, at_most
from hubbub.numeric.exact import ball, precision

MOST_SUMMED: Final = 4_000_000
"""Voters up to which the sum over T is taken: a second, and some 100 MB."""

_BLOCK: Final = 1 << 18
_NEAR_ONE: Final = Fraction(1, 1 << 29)  # ln(1 - ratio), the ratio right to 16 units and at most 1 - 1e-6
_ROUNDINGS: Final = 256  # of 2^-53 each, relative to the largest term: 12 terms with less than 16 operations each


def relative_entropy(share: Fraction, chance: Fraction) -> arb:
    """A ball around KL(share || chance) in nats, for share in [0, 1] and chance in (0, 1).

    Guarantee: Pr[Bin(N, chance) >= N share] <= exp(-N KL) for share >= chance, and the same below it (Chernoff).
    """
    total = arb(0)
    for part, bound in ((share, chance), (1 - share, 1 - chance)):
        if part > 0:
            total += ball(part) * ball(part / bound).log()
    return total


def stays(others: int, edge: int, points_range: int = 1) -> arb:
    """Bounds Pr[Z >= edge] for two candidates that every one of the others scores alike on average, whatever the law.

    Guarantee: if Z is a sum of N independent steps in [-R, R] of mean 0, Pr[Z >= edge] is at most the upper end of
    this ball, exp(-N KL(1/2 + edge/(2 R N) || 1/2)) (Theorem B1, keep part); 0 where edge > R N.
    """
    if edge <= 0:
        return arb(1)
    if edge > points_range * others:
        return arb(0)
    share = Fraction(1, 2) + Fraction(edge, 2 * points_range * others)
    return (-others * relative_entropy(share, Fraction(1, 2))).exp()


def parts(others: int, reach: int, alpha: Fraction, points_range: int = 1) -> arb:
    """Bounds Pr[Z <= reach] for two candidates whom every one of the others sets apart by alpha on average.

    Guarantee: if Z is a sum of N independent steps in [-R, R] of mean at least alpha, Pr[Z <= reach] is at most the
    upper end of this ball, exp(-N KL(1/2 + reach/(2 R N) || (1 + alpha/R)/2)) (Theorem B1, drop part); 1 where
    reach >= N alpha.
    """
    if reach >= others * alpha:
        return arb(1)
    if reach < -points_range * others or alpha >= points_range:
        return arb(0)
    share = Fraction(1, 2) + Fraction(reach, 2 * points_range * others)
    return (-others * relative_entropy(share, (1 + alpha / points_range) / 2)).exp()


@lru_cache(maxsize=1024)
def lead_at_least(others: int, p: Fraction, q: Fraction, z: int) -> arb:
    """A ball whose upper end bounds Pr[#x - #y >= z], x and y being the tops of N voters with probabilities p and q.

    Guarantee: the probability is at most the upper end of the ball. Where p + q = 1, or one of them is 0, the ball
    holds the probability itself; otherwise the bound is the sum over #x + #y, too large by about one part in d^2 for
    a z that lies d standard deviations out, or the exponential moment past `MOST_SUMMED` voters.
    """
    if z > others:
        return arb(0)
    if z <= -others:
        return arb(1)
    if p == 0:
        return arb(0) if z > 0 else (arb(1) if q == 0 else _at_most(others, q, -z))
    if q == 0:
        return arb(1) if z <= 0 else _at_least(others, p, z)
    if p + q == 1:
        return at_least(others, p, -((-others - z) // 2))
    if z <= others * (p - q):
        return arb(1)  # not past the mean: nothing to say
    if others > MOST_SUMMED:
        return moment(others, p, q, z)
    return _sum_tail(others, p, q, z)


def moment(others: int, p: Fraction, q: Fraction, z: int) -> arb:
    """The same bound from E exp(l Z) = (1 + p (e^l - 1) + q (e^-l - 1))^N at a good l.

    Guarantee: Pr[Z >= z] is at most the upper end of the ball, for every z (Markov's inequality; e^l is a rational of
    at least 1, near the best one).
    """
    if z <= others * (p - q):
        return arb(1)
    rest, ahead, behind = float(1 - p - q), float(p), float(q)
    a, b, c = (others - z) * ahead, z * rest, (others + z) * behind  # a w^2 - b w - c = 0 at the best w
    best = (b + math.sqrt(b * b + 4 * a * c)) / (2 * a) if a > 0 else 2.0**60
    w = max(Fraction(best), Fraction(1)) if math.isfinite(best) else Fraction(2) ** 60
    with precision(256 + 2 * others.bit_length()):
        grown = ball(1 + p * (w - 1) + q * (1 / w - 1))
        return (others * grown.log() - z * ball(w).log()).exp()


def _at_least(n: int, p: Fraction, m: int) -> arb:
    return arb(1 if m <= n else 0) if p == 1 else at_least(n, p, m)


def _at_most(n: int, p: Fraction, m: int) -> arb:
    return arb(0 if m < n else 1) if p == 1 else at_most(n, p, m)


# --- the sum over how many voted for either -----------------------------------------------------------------------


def _sum_tail(others: int, p: Fraction, q: Fraction, z: int) -> arb:
    logs = []
    for start in range(0, others + 1, _BLOCK):
        both = np.arange(start, min(start + _BLOCK, others + 1), dtype=np.float64)
        terms = _log_mass(float(others), both, p + q) + _log_tail(both, p / (p + q), z)
        peak = float(terms.max())
        if peak > -math.inf:
            logs.append(peak + math.log(float(np.exp(terms - peak).sum())))
    if not logs:
        return arb(0)
    peak = max(logs)
    total = peak + math.log(math.fsum(math.exp(term - peak) for term in logs))
    with precision():
        return (ball(Fraction(total)) + ball(_slack(others, p, q))).exp().min(arb(1))


def _slack(others: int, p: Fraction, q: Fraction) -> Fraction:
    """What a logarithm in the sum may lack: `_ROUNDINGS` last places of the largest term, and `_NEAR_ONE`."""
    chances = (p + q, 1 - p - q, p / (p + q), q / (p + q))
    steepest = math.log(others + 16) + sum(_size(chance) for chance in chances)
    return Fraction(_ROUNDINGS * (others + 16) * math.ceil(steepest), 1 << 53) + _NEAR_ONE


def _size(chance: Fraction) -> float:
    """ln(1/chance), of any rational in (0, 1]."""
    return (chance.denominator.bit_length() - chance.numerator.bit_length() + 1) * math.log(2)


def _log(chance: Fraction) -> float:
    """ln of a rational, though it be too small for a float."""
    with precision(64):
        return float(ball(chance).log().mid())


def _log_mass(n: NDArray[np.float64] | float, m: NDArray[np.float64], chance: Fraction) -> NDArray[np.float64]:
    """ln Pr[Bin(n, chance) = m]."""
    ways = _log_factorial(np.asarray(n, dtype=np.float64)) - _log_factorial(m) - _log_factorial(n - m)
    found: NDArray[np.float64] = ways + m * _log(chance) + (n - m) * _log(1 - chance)
    return found


def _log_tail(t: NDArray[np.float64], chance: Fraction, z: int) -> NDArray[np.float64]:
    """An upper bound of ln Pr[Bin(t, chance) >= (t + z)/2], without `_slack`; -inf where it is beyond t."""
    least = np.ceil((t + z) / 2)
    # The ratio of the next mass to the first; below 1 exactly past the mean, where the tail is a geometric series.
    ratio = (t - least) * float(chance / (1 - chance)) / (np.maximum(least, 0.0) + 1)
    inside = (least <= t) & (least >= 0)
    far = inside & (ratio < 1 - 1e-6)
    at = np.where(far, least, 0.0)
    series = -np.log1p(-np.where(far, ratio, 0.0))
    bounded = np.minimum(_log_mass(t, at, chance) + series, 0.0)
    return np.where(far, bounded, np.where(least <= t, 0.0, -np.inf))


_TABLE: Final = np.array([math.log(math.factorial(k)) for k in range(16)])


def _log_factorial(k: NDArray[np.float64]) -> NDArray[np.float64]:
    """ln k! by Stirling's series, which is off by less than 1/(1680 k^7), from 16 on."""
    big = np.maximum(k, 16.0)
    tail = 1 / (12 * big) - 1 / (360 * big**3) + 1 / (1260 * big**5)
    series = (big + 0.5) * np.log(big) - big + 0.5 * math.log(2 * math.pi) + tail
    found: NDArray[np.float64] = np.where(k < 16, _TABLE[np.minimum(k, 15.0).astype(np.int64)], series)
    return found
