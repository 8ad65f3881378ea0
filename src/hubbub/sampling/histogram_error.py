"""Error bounds of a noisy histogram of k sampled rows, scaled up to n rows (statement A2).

One sample serves all m bins: counts c_j of the sample get two-sided geometric noise of rate 1/b, and (n/k)(c_j + noise)
is published. With f = min{1 - (k - 1)/n, (1 - k/n)(1 + 1/k)} (Serfling), each bound holds with probability 1 - miss.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from hubbub.numeric.bisection import first
from hubbub.numeric.exact import ball, log, precision, rounded, upper
from hubbub.runtime.frozen import dataclass

_DIGITS: Final = 12
_GRID: Final = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramError:
    """Error bounds in people: of the worst bin (L-infinity), and of all bins together (L1)."""

    largest: Fraction
    total: Fraction


def histogram_error(k: int, n: int, bins: int, rate: Fraction, miss: Fraction) -> HistogramError:
    """The bounds for noise of a rate on the counts of k of n rows.

    Guarantee: each holds on every table, except with probability `miss`; rounded up. The worst bin: by Serfling's bound
    for a sampled count and the tail of the noise, over all bins. All bins: a mean by Cauchy and Schwarz, McDiarmid's
    inequality for a sample without replacement, and the quantile of a sum of `bins` exponential laws that is above that
    of the noise by at most 1/2 each.
    """
    with precision():
        f = min(1 - Fraction(k - 1, n), (1 - Fraction(k, n)) * (1 + Fraction(1, k)))
        up, width = ball(Fraction(n, k)), ball(1 / rate)
        worst = (ball(k * f) * log(4 * bins / miss) / 2).sqrt() + width * log(2 * bins / miss) + ball(Fraction(1, 2))
        drawn = (ball(Fraction((bins - 1) * k * (n - k), max(n - 1, 1)))).sqrt() + (2 * k * log(2 / miss)).sqrt()
        noise = width * _gamma_quantile(bins, miss / 2) + ball(Fraction(bins, 2))
        return HistogramError(
            largest=rounded(up * worst, up=True, digits=_DIGITS),
            total=rounded(up * (drawn + noise), up=True, digits=_DIGITS),
        )


def _gamma_quantile(shape: int, miss: Fraction) -> arb:
    """A number that a sum of so many exponential laws of mean 1 exceeds with probability at most `miss`."""
    t = log(1 / miss)
    high = upper(shape + (2 * shape * t).sqrt() + t)  # P(sum > this) <= e^-t

    def rare(step: int) -> bool:
        return bool(ball(high * Fraction(step, _GRID)).gamma_upper(shape, 1) <= ball(miss))

    return ball(high * Fraction(first(rare, 1, _GRID), _GRID))
