"""The exact curve of one mechanism on a secret sample: noise on counts below k, marked as such or not.

Theorem A holds for every crowd-blending mechanism. Noise that is not marked hides which counts are exact, so that this
mechanism may be much more private than the theorem says. With n others in the bin, b_m = Pr[Bin(n, p) = m] and X the
noise, the sampled release is

    P(v) = sum over m < k of b_m Pr[X = v - m]  +  b_v [v >= k]           without the person,
    Q(v) = sum over m < k - 1 of b_m Pr[X = v - m - 1]  +  b_(v-1) [v >= k]     with the person sampled,

delta is p H_g(Q||P) or w H_g'(P||Q) as in :mod:`hubbub.guarantees.sampled_crowd`, and the worst n is looked for one by
one: beyond the peaks of Theorem A its bound for marked noise only falls, and once it is below the best value found,
nothing larger follows. All sums are of positive terms, so floats keep ten digits; what is returned is a ball at the
worst n (the exact law, :mod:`hubbub.channels.thin`) and, for every other n, the float raised by its error bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.noisy_below import NoisyBelow
from hubbub.channels.profile import exact_delta
from hubbub.channels.thin import Thinned
from hubbub.exact import Exact, Infinite, ball, exp, positive, precision, rational, rounded
from hubbub.guarantees.binomial_law import at_most, mass
from hubbub.guarantees.closeness import capped
from hubbub.guarantees.sampled_crowd import JOINING, LEAVING
from hubbub.sampling.amplification import Amplified, delta_at, epsilon_at, noisy_below

Floats = NDArray[np.float64]

THEOREM: Final = "the exact curve of this mechanism (its laws after sampling, every class size)"
_ROUNDING: Final = 1e-10  # a bound on the relative error of the sums below, for up to 100,000 others
_MOST_CELLS: Final = 20_000_000
_MOST_OTHERS: Final = 100_000
_ROWS: Final = 128  # class sizes at a time
_DIGITS: Final = 8


def own_delta_at(k: Exact, epsilon: Exact, rate: Exact, at_epsilon: Exact, *, tagged: bool) -> Amplified:
    """The delta of noise below k on a secret sample, at an epsilon.

    Guarantee: never below the true delta of that mechanism. Where `theorem` says that it is the mechanism's own, it is
    above the truth by less than a millionth part, and by no more than 1e-25 where the truth is nearly or exactly 0;
    elsewhere (a crowd too large to look at every class) it is the bound of Theorem A for a histogram.
    """
    at = rational(at_epsilon, "epsilon")
    bound = delta_at(noisy_below(k, epsilon, rate), at)
    channel, p = NoisyBelow(k, epsilon, tagged), rational(rate, "a sampling rate")  # type: ignore[arg-type]
    if p in (0, 1):
        return bound
    if tagged and _is_closed(channel.epsilon, p, at):
        return replace(bound, theorem=THEOREM)
    found = _scanned(channel, p, at, float(bound.delta))
    if found is None:
        return bound
    exact = exact_delta(Thinned(p, channel), found.others + 1, at)
    delta = max(capped(exact), rounded(Fraction(found.elsewhere), up=True))
    if delta >= bound.delta:
        return replace(bound, theorem=THEOREM)
    return Amplified(epsilon=at, delta=delta, worst_class_size=found.others, direction=found.direction, theorem=THEOREM)


@lru_cache(maxsize=64)
def own_epsilon_at(k: Exact, epsilon: Exact, rate: Exact, delta: Exact, *, tagged: bool) -> Amplified:
    """The smallest epsilon, to eight digits, whose :func:`own_delta_at` is at most `delta`.

    Guarantee: the delta there was worked out, and is at most `delta`; no epsilon is searched above that of Theorem A.
    """
    target = positive(delta, "delta")
    bound = epsilon_at(noisy_below(k, epsilon, rate), target)
    if isinstance(bound.epsilon, Infinite) or bound.epsilon == 0:
        return bound if bound.epsilon == 0 else _unmarked_floor(k, epsilon, rate, target, bound, tagged)
    return _search(k, epsilon, rate, target, bound, tagged)


def _unmarked_floor(
    k: Exact, epsilon: Exact, rate: Exact, target: Fraction, bound: Amplified, tagged: bool
) -> Amplified:
    """Below rate^k nothing helps marked noise; what is not marked has a floor of its own, looked for up to 50."""
    top = Fraction(50)
    if tagged or own_delta_at(k, epsilon, rate, top, tagged=tagged).delta > target:
        return bound
    return _search(k, epsilon, rate, target, replace(bound, epsilon=top), tagged)


def _search(k: Exact, epsilon: Exact, rate: Exact, target: Fraction, bound: Amplified, tagged: bool) -> Amplified:
    low, high = Fraction(0), bound.epsilon
    assert not isinstance(high, Infinite)
    best = bound
    while high - low > high / 10**_DIGITS:
        middle = rounded((low + high) / 2, up=True, digits=_DIGITS + 2)
        found = own_delta_at(k, epsilon, rate, middle, tagged=tagged)
        if found.delta <= target:
            high, best = middle, found
        else:
            low = middle
        if middle in (low, high) and high - low <= Fraction(1, 10**15):
            break
    return replace(best, delta=target)


def _is_closed(epsilon: Fraction, p: Fraction, at: Fraction) -> bool:
    """E >= max(ln(p e^epsilon + 1 - p), ln 1/(1 - p)): marked noise has the curve of suppression, exactly."""
    with precision():
        growth = exp(at) - 1
        return bool(growth >= (exp(epsilon) - 1) * p.numerator / p.denominator) and bool(
            exp(at) * (p.denominator - p.numerator) >= p.denominator
        )


# --- every class size, in floats --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Worst:
    others: int
    direction: str
    elsewhere: float  # an upper bound at every other class size


def _scanned(channel: NoisyBelow, p: Fraction, at: Fraction, bound: float) -> _Worst | None:
    g = 1 + math.expm1(at) / float(p)
    peak = channel.k + math.ceil((channel.k - 1) * float(1 - p) / float(p) / max(g * math.exp(-channel.epsilon), 0.05))
    most = 2 * peak + 40
    while most <= _MOST_OTHERS and most * _width(channel, p, most) <= _MOST_CELLS:
        found = _Scan(channel, p, at, most).run(bound)
        if found is not None:
            return found
        most *= 2
    return None


def _width(channel: NoisyBelow, p: Fraction, most: int) -> int:
    mean = most * float(p)
    reach = math.ceil(40 / float(channel.epsilon)) if channel.epsilon < 1 else 40
    return math.ceil(max(mean, channel.k) + 12 * math.sqrt(max(mean, channel.k))) + min(reach, 400)


class _Scan:
    """Class sizes 0 .. most."""

    def __init__(self, channel: NoisyBelow, p: Fraction, at: Fraction, most: int) -> None:
        self.k, self.tagged, self.most, self.p = channel.k, channel.tagged, most, float(p)
        self.g = 1 + math.expm1(at) / self.p
        self.w = max(self.p - (1 - self.p) * math.expm1(at), 0.0)
        self.g_low = self.p * math.exp(at) / self.w if self.w else math.inf
        self.eta = float(channel.epsilon)
        self.q = math.exp(-self.eta)
        self.width = _width(channel, p, most)
        places = np.arange(self.width + 1)
        away = np.abs(places[None, :] - places[: self.k, None])
        self.noise: Floats = math.tanh(self.eta / 2) * np.exp(-self.eta * away)  # m, v -> Pr[X = v - m]

    def run(self, bound: float) -> _Worst | None:
        best, second, others, direction = 0.0, 0.0, 0, JOINING
        row = np.zeros(self.width + 2)
        row[0] = 1.0
        gone = 0.0  # Pr[Bin(n, p) > width + 1]
        for start in range(0, self.most + 1, _ROWS):
            size = min(_ROWS, self.most + 1 - start)
            rows, lost = np.empty((size, self.width + 2)), np.empty(size)
            for i in range(size):
                rows[i], lost[i] = row, gone
                gone += self.p * row[-1]
                moved = (1 - self.p) * row
                moved[1:] += self.p * row[:-1]
                row = moved
            for values, way in zip(self.values(rows, lost), (JOINING, LEAVING), strict=True):
                at = int(values.argmax())
                if values[at] > best:
                    others, direction = start + at, way
                    second, best = max(second, best), float(values[at])
                    values = np.delete(values, at)
                second = max(second, float(values.max(initial=0.0)))
            if start + size - 1 > 2 and self.ended(rows[-1], lost[-1], start + size - 1, best, bound):
                return _Worst(others, direction, second)
        return None

    def values(self, rows: Floats, lost: Floats) -> tuple[Floats, Floats]:
        """(joining, leaving) for each row, raised by their error bounds."""
        noisy_p = rows[:, : self.k] @ self.noise
        noisy_q = rows[:, : self.k - 1] @ self.noise[1:]
        exact_p, exact_q = np.zeros_like(noisy_p), np.zeros_like(noisy_q)
        exact_p[:, self.k :] = rows[:, self.k : -1]
        exact_q[:, self.k :] = rows[:, self.k - 1 : -2]
        for noisy in (noisy_p, noisy_q):
            noisy[:, 0] /= 1 - self.q  # every value from 0 down falls off alike
        # Beyond the table noise keeps its ratio, and the exact counts are hardly ever there.
        beyond = self.q / (1 - self.q)
        ends_p = beyond * _over(noisy_p[:, -1:], noisy_q[:, -1:], self.g_low) + rows[:, -1] + lost if self.w else lost
        ends_q = beyond * _over(noisy_q[:, -1:], noisy_p[:, -1:], self.g) + rows[:, -2] + rows[:, -1] + lost
        pairs = [(noisy_p, noisy_q), (exact_p, exact_q)] if self.tagged else [(noisy_p + exact_p, noisy_q + exact_q)]
        joining = self.p * (sum((_over(q, p, self.g) for p, q in pairs), np.zeros(len(rows))) + ends_q)
        if not self.w:
            return joining, np.zeros(len(rows))
        leaving = self.w * (sum((_over(p, q, self.g_low) for p, q in pairs), np.zeros(len(rows))) + ends_p)
        return joining, leaving

    def ended(self, row: Floats, lost: float, n: int, best: float, bound: float) -> bool:
        """Whether the bound for marked noise, which only falls from here, is below the best value found."""
        keep = math.exp(-self.eta)
        head = max(1 - self.g * keep, 0.0) / (1 + keep)
        joining = self.p * (_tail(row, self.g, self.k - 1) + lost + head * float(row[: self.k - 1].sum()))
        if n < self.k + (self.k - 1) * (1 - self.p) / (self.p * self.g):
            return False
        if not self.w:
            return joining <= best
        if n < self.k + self.g_low * (self.k - 1) * (1 - self.p) / self.p:
            return max(joining, min(self.highest_leaving(), bound)) <= best  # before its peak, by its peak
        # f_epsilon(u, v) is at most (u - g' v)_+ + kappa (u - g' e^-epsilon v)_+, and each L falls after its peak.
        leaving = _hidden(row, self.g_low, self.k) + _hidden(row, self.g_low * keep, self.k) / (1 + keep) + 2 * lost
        return max(joining, self.w * leaving) <= best

    def highest_leaving(self) -> float:
        """w (sup L(g') + kappa sup L(g' e^-epsilon)), each at its peak; infinite where there is none."""
        keep, found = math.exp(-self.eta), []
        for weight, r in ((1.0, self.g_low), (1 / (1 + keep), self.g_low * keep)):
            others = self.k - 1 + math.ceil(r * (self.k - 1) * (1 - self.p) / self.p)
            if r < 1 or others > _MOST_OTHERS**2:
                return math.inf
            tops = [_hidden_over(n, Fraction(self.p), self.k, r) for n in (others - 1, others, others + 1)]
            found.append(weight * max(tops))
        return self.w * sum(found) * (1 + _ROUNDING)


def _hidden_over(n: int, p: Fraction, k: int, r: float) -> float:
    """Pr[Bin(n, p) <= k - 1] - r Pr[Bin(n, p) <= k - 2]."""
    with precision():
        return float((mass(n, p, k - 1) - ball(Fraction(r) - 1) * at_most(n, p, k - 2)).upper())


def _over(more: Floats, less: Floats, g: float) -> Floats:
    """sum of (more - g less)_+ for each row, raised by what rounding may have taken."""
    difference = more - g * less
    room = _ROUNDING * (more + g * less)
    found: Floats = np.maximum(difference + room, 0.0).sum(axis=1)
    return found


def _hidden(row: Floats, r: float, k: int) -> float:
    """L_n(r): the counts below k together, the others one by one."""
    together = max(float(row[:k].sum()) - r * float(row[: k - 1].sum()), 0.0)
    return together + float(np.maximum(row[k:] - r * row[k - 1 : -1], 0.0).sum())


def _tail(row: Floats, g: float, first: int) -> float:
    shifted = np.append(row[first + 1 :], 0.0)
    return float(np.maximum(row[first:] - g * shifted, 0.0).sum())
