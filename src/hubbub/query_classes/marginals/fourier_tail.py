"""How far a weighted sum of many geometric noises goes, by its Fourier series: nearly exact, and proved.

S = sum a_i X_i, X_i two-sided geometric with variance v_i, has the characteristic function

    phi(t) = prod over i of 1/(1 + 2 v_i sin^2(a_i t/2)),     which is never negative.

Let U ~ N(0, tau^2) be independent of S, with tau a small part of the standard deviation of S. Wrapped around a circle of
length L, S + U has the density (1 + 2 sum over k >= 1 of phi_k cos(2 pi k y/L))/L with phi_k = phi(t_k) e^(-tau^2 t_k^2/2)
and t_k = 2 pi k/L, so that it lies in (x, L - x) with probability

    Q(x) = 1 - 2x/L - sum over k >= 1 of 2 phi_k sin(2 pi k x/L)/(pi k).

**Theorem.** For 0 <= x <= L/2 and g >= 0, P(|S| > x + g) <= Q(x) + P(|S + U| >= L/2) + P(|U| > g).
*Proof.* If |S| > x + g and |U| <= g, then |S + U| > x. Then S + U lies in (x, L - x) around the circle, or beyond L - x. QED

What is left out of the series: up to t_K = sqrt(80)/tau every factor with a_i <= pi/t_K falls in t, so from some k on
phi_k is at most their product there; beyond K the terms are at most 2 e^(-tau^2 t_k^2/2)/(pi k). Sums are in floating
point. Their error is bounded: an angle theta is off by at most 8 u theta, u = 2^-53, which changes a factor by at most
sqrt(2 v) 8 u theta + 64 u relative to it; the angles of the sines are exact parts of the circle.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.numeric.bisection import first
from hubbub.numeric.exact import rounded
from hubbub.numeric.gaussian_sums import normal_quantile
from hubbub.runtime.frozen import dataclass

LEAST_MISS: Final = Fraction(1, 10**10)
"""No smaller chance is looked up: what is beyond the circle is 10^-16."""
BEYOND: Final = Fraction(1, 10**16)

_PARTS: Final = 1 << 20  # of the circle, at which an end is looked for
_GRAIN: Final = 512  # parts of a coarse step
_FINE: Final = (
    2000,
    1000,
    500,
    250,
    100,
    50,
)  # parts of the standard deviation for tau, the first that is quick enough
_WORK: Final = 1_000_000  # factors that are worked out for one law
_FAR: Final = 80.0  # twice the nats at which U ends the series
_TINY: Final = 1e-17
_ROUNDING: Final = 2.0**-53
_EDGE: Final = Fraction(1, 1000)  # of what may be missed, for U
_DIGITS: Final = 7


@dataclass(frozen=True, eq=False)
class Series:
    """The Fourier series of S + U around a circle, and a bound on what is wrong with its sums."""

    length: float
    tau: float
    weights: NDArray[np.float64]  # 2 phi_k/(pi k), k = 1, 2, ...
    error: float

    def beyond(self, part: int) -> float:
        """At least the probability that S + U, around the circle, lies farther from 0 than so many parts of it."""
        orders = np.arange(1, self.weights.size + 1, dtype=np.int64)
        angles = (orders * part % _PARTS).astype(np.float64) * (2 * math.pi / _PARTS)
        return 1 - 2 * part / _PARTS - float((self.weights * np.sin(angles)).sum()) + self.error

    def reach(self, miss: Fraction, known: Fraction | None = None) -> Fraction:
        """How far S goes, but for a chance of `miss`, which is at least 10^-10. Where a bound is `known`, that or a smaller
        one, looked for in few and coarse steps.

        Guarantee: the theorem above at the end that was found, with everything that is left out, rounded up.
        """
        allowed = float(miss * (1 - 2 * _EDGE) - BEYOND)
        grain = 1 if known is None else _GRAIN
        last = _PARTS // (2 * grain)
        if known is not None:
            last = min(last, math.ceil(float(known) / self.length * _PARTS / grain))
        low = first(lambda part: self.beyond(part * grain) <= allowed, 0, last)
        if known is not None and low == last:
            return known
        edge = float(normal_quantile(miss * _EDGE / 2)) * self.tau
        found = rounded(Fraction((low * grain / _PARTS * self.length + edge) * (1 + 1e-9)), up=True, digits=_DIGITS)
        return found if known is None else min(found, known)


def series(
    a: NDArray[np.float64], v: NDArray[np.float64], many: NDArray[np.float64], beyond: float, work: int = _WORK
) -> Series | None:
    """Of a sum over groups of noises, with the absolute coefficient, the variance and the number of those of each, which is
    farther than `beyond` with a chance of at most 10^-16; None where it would take too long."""
    deviation = math.sqrt(float((many * v * a**2).sum()))
    length = 2 * (beyond + deviation / 4) * (1 + 1e-12)
    for fine in _FINE:
        tau = deviation / fine
        last = math.ceil(math.sqrt(_FAR) / tau * length / (2 * math.pi)) + 1
        small = a * (last * 2 * math.pi / length) <= math.pi * (1 - 1e-9)
        stop = _negligible_from(a[small], v[small], many[small], length, last)
        if stop * a.size <= work:
            return _sum_series(a, v, many, small, length, tau, stop, last)
    return None


def _log_phi(
    a: NDArray[np.float64], v: NDArray[np.float64], many: NDArray[np.float64], t: NDArray[np.float64]
) -> NDArray[np.float64]:
    found: NDArray[np.float64] = -np.log1p(2 * v * np.sin(np.multiply.outer(t, a) / 2) ** 2) @ many
    return found


def _negligible_from(
    a: NDArray[np.float64], v: NDArray[np.float64], many: NDArray[np.float64], length: float, last: int
) -> int:
    """From which k on the factors that only fall make the rest of the series next to nothing."""

    def is_tiny(k: int) -> bool:
        bound = float(_log_phi(a, v, many, np.array([2 * math.pi * k / length]))[0]) if a.size else 0.0
        return bound <= math.log(_TINY)

    return first(is_tiny, 1, last)


def _sum_series(
    a: NDArray[np.float64],
    v: NDArray[np.float64],
    many: NDArray[np.float64],
    small: NDArray[np.bool_],
    length: float,
    tau: float,
    stop: int,
    last: int,
) -> Series:
    orders = np.arange(1, stop + 1, dtype=np.float64)
    t = orders * (2 * math.pi / length)
    logs = _log_phi(a, v, many, t) - (tau * t) ** 2 / 2
    weights = 2 * np.exp(logs) / (math.pi * orders)
    angles = _ROUNDING * (8 * np.multiply.outer(t, a / 2 * np.sqrt(2 * v)) + 64) @ many
    off = np.expm1(angles + _ROUNDING * (64 + (a.size + 16) * np.abs(logs)))
    rest = 0.0 if stop >= last else float(np.exp(_log_phi(a[small], v[small], many[small], t[-1:]))[0])
    left = rest * (1 + math.log(last / stop)) + math.exp(-_FAR / 2)  # and what U cuts off
    error = 2 * (float((weights * off).sum()) + left + 256 * _ROUNDING * float(1 + weights.sum()))
    return Series(length, tau, weights, error)
