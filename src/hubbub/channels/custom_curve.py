"""The exact curve of one mechanism on a secret sample: noise on counts below k, marked as such or not.

Theorem A holds for every crowd-blending mechanism. Noise that is not marked hides which counts are exact, so that this
mechanism may be much more private than the theorem says.

Marked noise is the worst of all tables of counts whose counts below k lose at most epsilon. For such a channel and an
event Y, x_m being its probability at a count of m, joining is the largest sum of (b_(m-1) - g b_m) x_m. From k on every
x_m is free; below k neighbours are epsilon-close, and the coefficients are negative first and then positive, b being
log-concave. So x rises as fast as it may: each x_(m+1) is the largest that x_m allows, the sum is piecewise linear in
where it starts, and it is largest where some x_m is 1/(1 + e^epsilon), or at 0 or 1. Then x_m = Pr[m + X >= v] for some
v: an event of marked noise. Leaving is the same from above. So the curve of marked noise is the exact curve of the
whole class. With n others in the bin, b_m = Pr[Bin(n, p) = m] and X the
noise, the sampled release is

    P(v) = sum over m < k of b_m Pr[X = v - m]  +  b_v [v >= k]           without the person,
    Q(v) = sum over m < k - 1 of b_m Pr[X = v - m - 1]  +  b_(v-1) [v >= k]     with the person sampled,

delta is p_t H_g(Q||P) or w H_g'(P||Q), p_t being the rate of the person's own (1 for somebody who is known to be in
the sample), as in :mod:`hubbub.sampling.sampled_crowd`, and the worst n is looked for one by
one: beyond the peaks of Theorem A its bound for marked noise only falls, and once it is below the best value found,
nothing larger follows.

**Why floats may be trusted here.** g and g' are rounded down and w up, from balls. Every other number is made from p,
1 - p and e^-epsilon by adding and multiplying positive numbers, at most three roundings for each of n <= 100,000 others
and one for each of at most 20,000 terms of a sum: a relative error of 5e-11. Twice that is added wherever a difference
is taken and at the end. What underflows is lost in whole, less than 1e-295 in all, and that is added too, with the
factor g where it is subtracted. So each value is an upper bound. At the worst n the exact law
(:mod:`hubbub.channels.subsample`) gives a ball, and the smaller of the two upper bounds stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.mechanisms.exact_above import NoisyBelow
from hubbub.channels.profile import exact_delta
from hubbub.channels.subsample import Subsampled
from hubbub.guarantees.indistinguishability import cap_probability
from hubbub.numeric.binomial import at_most, mass
from hubbub.numeric.exact import Exact, Infinite, ball, exp, lower, positive, precision, rational, rounded, to_float
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.amplification import BINS, Amplified, Setting, delta_at, epsilon_at
from hubbub.sampling.sampled_crowd import JOINING, LEAVING, Case

Floats = NDArray[np.float64]

THEOREM: Final = "the exact curve of this mechanism (its laws after sampling, every class size)"
_ROUNDING: Final = 1e-10  # twice the relative error of any sum below
_UNDERFLOW: Final = 1e-295  # what is lost where numbers are too small for a float
_MOST_CELLS: Final = 6_000_000  # for one epsilon
_MOST_WORK: Final = 12_000_000  # and for a search, about
_MOST_OTHERS: Final = 100_000
_ROWS: Final = 128  # class sizes at a time
_DIGITS: Final = 5
_SMALLEST: Final = Fraction(1, 10**12)
_FARTHEST: Final = 200
_FAR: Final = 1e6
_NEAR: Final = 1e-12


def own_delta_at(
    k: Exact,
    epsilon: Exact,
    rate: Exact,
    at_epsilon: Exact,
    *,
    tagged: bool,
    own: Exact | None = None,
    enough: Fraction | None = None,
) -> Amplified:
    """The delta of noise below k on a secret sample, at an epsilon; `own` is the person's rate, if another.

    With `enough`, the exact law is not computed where a bound already shows that delta is at most that.

    Guarantee: never below the true delta of that mechanism; with `tagged`, never below that of any table of counts
    whose counts below k lose at most epsilon. Where `theorem` says that it is the mechanism's own, it is above the
    truth by less than a millionth part, and by no more than 1e-25 where the truth is nearly or exactly 0; elsewhere
    (too many classes to look at, or numbers out of the reach of floats) it is the bound of Theorem A for a table of
    counts.
    """
    at = rational(at_epsilon, "epsilon")
    channel, p = NoisyBelow(k, epsilon, tagged), rational(rate, "a sampling rate")  # type: ignore[arg-type]
    p_t = p if own is None else rational(own, "a sampling rate")
    bound = delta_at(_setting(channel, p, p_t), at)
    if p in (0, 1) or p_t == 0:
        return bound
    if tagged and _is_closed(channel.epsilon, p_t, at):
        return replace(bound, theorem=THEOREM)
    found = _scan_classes(channel, p, p_t, at, to_float(bound.delta, round_up=True))
    if found is None:
        return bound
    here = rounded(Fraction(found.here), up=True)
    if p_t == p and (enough is None or found.elsewhere <= enough < here):
        here = min(cap_probability(exact_delta(Subsampled(p, channel), found.others + 1, at)), here)
    delta = max(here, rounded(Fraction(found.elsewhere), up=True))
    if delta >= bound.delta:
        return replace(bound, theorem=THEOREM)
    return Amplified(epsilon=at, delta=delta, worst_class_size=found.others, direction=found.direction, theorem=THEOREM)


@lru_cache(maxsize=256)
def own_epsilon_at(
    k: Exact, epsilon: Exact, rate: Exact, delta: Exact, *, tagged: bool, own: Exact | None = None
) -> Amplified:
    """The smallest epsilon, to five digits, whose :func:`own_delta_at` is at most `delta`.

    Guarantee: the delta there was computed, and is at most `delta`; no epsilon is searched above that of Theorem A.
    """
    target = positive(delta, "delta")
    channel, p = NoisyBelow(k, epsilon, tagged), rational(rate, "a sampling rate")  # type: ignore[arg-type]
    p_t = p if own is None else rational(own, "a sampling rate")
    bound = epsilon_at(_setting(channel, p, p_t), target)
    if bound.epsilon == 0:
        return bound
    delta_at = partial(own_delta_at, k, epsilon, rate, tagged=tagged, own=own, enough=target)
    if isinstance(bound.epsilon, Infinite):
        # Below the floor nothing helps marked noise; what is not marked has a floor of its own, looked for up to 50.
        top = Fraction(50)
        if tagged or delta_at(top).delta > target:
            return bound
        bound = replace(bound, epsilon=top)
    return _search(
        delta_at, lambda at: _work(channel, p, p_t, at), target, bound, _single_crowd(channel.epsilon, p_t, target)
    )


def _setting(channel: NoisyBelow, rate: Fraction, own: Fraction) -> Setting:
    case = Case(rate=rate, own=own, crowd=channel.k, removal=channel.epsilon, blending=Fraction(0))
    return Setting(theorem=BINS, cases=(case,))


def _single_crowd(epsilon: Fraction, own: Fraction, target: Fraction) -> Fraction:
    """An epsilon below which somebody alone in the bin (n = 0) has a delta above the target already, or nearly."""
    with precision():
        g = exp(epsilon) - ball(target / own) * (exp(epsilon) + 1)
        return lower((1 + ball(own) * (g - 1)).log()) if g > 1 else Fraction(0)


def _search(
    delta_at: Callable[[Fraction], Amplified],
    work: Callable[[Fraction], int],
    target: Fraction,
    bound: Amplified,
    least: Fraction,
) -> Amplified:
    """Down from the bound of Theorem A, by regula falsi on ln(delta/target), which is nearly a line.

    Where classes are so many that a look at all of them takes long, it ends early, with the best that was proved.
    """
    assert not isinstance(bound.epsilon, Infinite)
    low, high, best, left = max(least, Fraction(0)), bound.epsilon, bound, _MOST_WORK
    above = below = 0.0  # ln(delta/target) at low and at high, unknown at first
    tried, side = rounded(low, up=True, digits=_DIGITS + 1), 0
    while high - low > high / 10**_DIGITS and low < tried < high:
        left -= work(tried)
        if left < 0:
            break
        found = delta_at(tried)
        gap = math.log(found.delta / target) if found.delta else -_FAR
        if found.delta <= target:
            high, best, below = tried, found, min(gap, -_NEAR)
            above /= 2 if side < 0 else 1  # the Illinois rule, for an end that stays where it is
            side = -1
        else:
            low, above = tried, max(gap, _NEAR)
            below /= 2 if side > 0 else 1
            side = 1
        share = Fraction(above / (above - below)) if above and below else Fraction(1, 2)
        grain = high / (2 * 10**_DIGITS)
        near = min(max(low + share * (high - low), low + grain), high - grain)
        tried = rounded(near, up=True, digits=_DIGITS + 2)
    return replace(best, delta=target)


def _is_closed(epsilon: Fraction, own: Fraction, at: Fraction) -> bool:
    """E >= max(ln(p_t e^epsilon + 1 - p_t), ln 1/(1 - p_t)): marked noise has the curve of suppression, exactly."""
    with precision():
        growth = exp(at) - 1
        return bool(growth >= (exp(epsilon) - 1) * ball(own)) and bool(exp(at) * ball(1 - own) >= 1)


# --- every class size, in floats --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Worst:
    others: int
    direction: str
    here: float  # an upper bound at that class size
    elsewhere: float  # and at every other


def _scan_classes(channel: NoisyBelow, p: Fraction, own: Fraction, at: Fraction, bound: float) -> _Worst | None:
    if not _SMALLEST <= p <= 1 - _SMALLEST or own < _SMALLEST or at > _FARTHEST:
        return None  # floats do not reach so far
    scan = _Scan(channel, p, own, at)
    most = _first_count(scan)
    while most <= _MOST_OTHERS and most * _width(channel, p, most) <= _MOST_CELLS:
        found = scan.run(most, bound)
        if found is not None:
            return found
        most *= 2
    return None


def _first_count(scan: _Scan) -> int:
    """The first class sizes to examine: up to more than twice the peak of marked noise."""
    return 2 * (scan.k + math.ceil((scan.k - 1) * scan.q / scan.p / max(scan.g * scan.keep, 0.05))) + 40


def _work(channel: NoisyBelow, p: Fraction, own: Fraction, at: Fraction) -> int:
    if not _SMALLEST <= p <= 1 - _SMALLEST or own < _SMALLEST or at > _FARTHEST:
        return 0
    most = _first_count(_Scan(channel, p, own, at))
    return min(most * _width(channel, p, most), _MOST_CELLS)


def _width(channel: NoisyBelow, p: Fraction, most: int) -> int:
    mean = most * float(p)
    reach = math.ceil(40 / float(channel.epsilon)) if channel.epsilon < 1 else 40
    return math.ceil(max(mean, channel.k) + 12 * math.sqrt(max(mean, channel.k))) + min(reach, 400)


class _Scan:
    """Class sizes one after the other."""

    def __init__(self, channel: NoisyBelow, p: Fraction, own: Fraction, at: Fraction) -> None:
        self.channel, self.k, self.rate = channel, channel.k, p
        self.p, self.q, self.own = float(p), float(1 - p), to_float(own, round_up=True)
        self.eta = float(channel.epsilon)
        self.keep = math.exp(-self.eta)
        self.gap = -math.expm1(-self.eta)  # 1 - keep
        with precision():
            growth = ball(at).expm1()
            w = ball(own) - ball(1 - own) * growth
            self.g = to_float(1 + growth / ball(own), round_up=False)
            self.w = to_float(w.nonnegative_part(), round_up=True)
            self.g_low = to_float(ball(own) * (1 + growth) / ball(Fraction(self.w)), round_up=False) if self.w else 0.0
        self.lost = _UNDERFLOW * (self.own * (1 + self.g) + self.w * (1 + self.g_low))

    def run(self, most: int, bound: float) -> _Worst | None:
        """The worst of the class sizes 0 .. most, if it is proved that larger ones are no worse."""
        width = _width(self.channel, self.rate, most)
        positions = np.arange(width + 1)
        away = np.abs(positions[None, :] - positions[: self.k, None])
        noise: Floats = math.tanh(self.eta / 2) * np.exp(-self.eta * away)  # m, v -> Pr[X = v - m]
        best, second, others, direction = 0.0, 0.0, 0, JOINING
        row = np.zeros(width + 2)
        row[0] = 1.0
        gone = 0.0  # Pr[Bin(n, p) > width + 1]
        for start in range(0, most + 1, _ROWS):
            size = min(_ROWS, most + 1 - start)
            rows, lost = np.empty((size, width + 2)), np.empty(size)
            for i in range(size):
                rows[i], lost[i] = row, gone
                gone += self.p * row[-1]
                moved = self.q * row
                moved[1:] += self.p * row[:-1]
                row = moved
            for values, way in zip(self.values(rows, lost, noise), (JOINING, LEAVING), strict=True):
                at = int(values.argmax())
                if values[at] > best:
                    others, direction = start + at, way
                    second, best = max(second, best), float(values[at])
                    values = np.delete(values, at)
                second = max(second, float(values.max(initial=0.0)))
            n = start + size - 1
            beyond = self.beyond(rows[-1], lost[-1], n, bound) if n > 2 else math.inf
            if beyond <= best:
                return _Worst(others, direction, best, max(second, beyond))
        return None

    def values(self, rows: Floats, lost: Floats, noise: Floats) -> tuple[Floats, Floats]:
        """(joining, leaving) for each row, raised by their error bounds."""
        noisy_p = rows[:, : self.k] @ noise
        noisy_q = rows[:, : self.k - 1] @ noise[1:]
        exact_p, exact_q = np.zeros_like(noisy_p), np.zeros_like(noisy_q)
        exact_p[:, self.k :] = rows[:, self.k : -1]
        exact_q[:, self.k :] = rows[:, self.k - 1 : -2]
        for noisy in (noisy_p, noisy_q):
            noisy[:, 0] /= self.gap  # every value from 0 down falls off alike
        # Beyond the table noise keeps its ratio, and the exact counts are hardly ever there.
        beyond = self.keep / self.gap
        ends_p = beyond * _over(noisy_p[:, -1:], noisy_q[:, -1:], self.g_low) + rows[:, -1] + lost
        ends_q = beyond * _over(noisy_q[:, -1:], noisy_p[:, -1:], self.g) + rows[:, -2] + rows[:, -1] + lost
        tagged = self.channel.tagged
        pairs = [(noisy_p, noisy_q), (exact_p, exact_q)] if tagged else [(noisy_p + exact_p, noisy_q + exact_q)]
        joining = self.own * (sum((_over(q, p, self.g) for p, q in pairs), np.zeros(len(rows))) + ends_q)
        if not self.w:
            return self.raise_by_error(joining), np.zeros(len(rows))
        leaving = self.w * (sum((_over(p, q, self.g_low) for p, q in pairs), np.zeros(len(rows))) + ends_p)
        return self.raise_by_error(joining), self.raise_by_error(leaving)

    def raise_by_error(self, values: Floats) -> Floats:
        found: Floats = (1 + _ROUNDING) * values + self.lost
        return found

    def beyond(self, row: Floats, lost: float, n: int, bound: float) -> float:
        """The bound for marked noise at this n, if it only falls from here; infinite if it may still rise."""
        if n < self.k + (self.k - 1) * self.q / (self.p * self.g):
            return math.inf
        head = max(1 - self.g * self.keep + _ROUNDING, 0.0) / (1 + self.keep)
        joining = self.own * (_tail(row, self.g, self.k - 1) + lost + head * float(row[: self.k - 1].sum()))
        leaving = 0.0
        if self.w and n < self.k + self.g_low * (self.k - 1) * self.q / self.p:
            leaving = min(self.highest_leaving(), bound)  # before its peak, by its peak
        elif self.w:
            # S + f_epsilon(F(k-1), F(k-2)) is at most L(g') + kappa J(g' e^-epsilon)_+, with the names of Theorem A's
            # module, and both fall after their peaks.
            near = _joint_delta(row, self.g_low * self.keep, self.k) / (1 + self.keep)
            leaving = self.w * (_hidden_mass(row, self.g_low, self.k) + near + 2 * lost)
        return (1 + 4 * _ROUNDING) * max(joining, leaving) + self.lost

    def highest_leaving(self) -> float:
        """w (sup L(g') + kappa sup J(g' e^-epsilon)), each at its peak; infinite where that is too far out."""
        found = []
        for weight, r in ((1.0, self.g_low), (1 / (1 + self.keep), self.g_low * self.keep)):
            peak = self.k - 2 + math.ceil(r * (self.k - 1) * self.q / self.p)
            if peak > _MOST_OTHERS**2:
                return math.inf
            found.append(weight * max(_hidden_over(n, self.rate, self.k, r) for n in (peak - 1, peak, peak + 1)))
        return self.w * sum(found)


def _hidden_over(n: int, p: Fraction, k: int, r: float) -> float:
    """Pr[Bin(n, p) <= k - 1] - r Pr[Bin(n, p) <= k - 2], rounded up."""
    with precision():
        return to_float(mass(n, p, k - 1) - ball(Fraction(r) - 1) * at_most(n, p, k - 2), round_up=True)


def _over(more: Floats, less: Floats, g: float) -> Floats:
    """sum of (more - g less)_+ for each row, raised by what rounding may have taken."""
    difference = more - g * less
    room = _ROUNDING * (more + g * less)
    found: Floats = np.maximum(difference + room, 0.0).sum(axis=1)
    return found


def _hidden_mass(row: Floats, r: float, k: int) -> float:
    """L_n(r): the counts below k together, the others one by one; raised."""
    return _joint_delta(row, r, k) + float(_over(row[None, k:], row[None, k - 1 : -1], r)[0])


def _joint_delta(row: Floats, r: float, k: int) -> float:
    """J_n(r)_+ = (F(k - 1) - r F(k - 2))_+; raised."""
    more, less = float(row[:k].sum()), r * float(row[: k - 1].sum())
    return max(more - less + _ROUNDING * (more + less), 0.0)


def _tail(row: Floats, g: float, first: int) -> float:
    """U_n(g), raised."""
    return float(_over(row[None, first:], np.append(row[first + 1 :], 0.0)[None, :], g)[0])
