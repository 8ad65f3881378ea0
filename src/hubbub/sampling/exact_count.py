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

A simulator that adds stepped noise needs less (:mod:`hubbub.sampling.exact_count`): up to 3,000 rows it is worked
out for the sizes at hand, and the smaller of both scales is taken. With a larger scale the privacy is no less: noise of
scale L' > L is noise of scale L and, independently, of scale L' or none, none with probability (1 - q')^2 q/((1 - q)^2 q').

A better simulator for an exact count with noise: the answer of k random people, plus noise with a stepped law.

San(D) = g + X, P(X = x) ~ q^|x|, q = e^(-1/L), g the number of ones among n rows. The simulator is given k random rows
of D with the person's own row blank. It takes n/k times their ones, a blank counted as a half, rounds that at random to
a neighbouring integer Z without bias, and adds noise with the *stepped* law

    s(y) = w(y) (1 - q)/(1 + q) q^|y|,    w = e^h for |y| < c,   e^(-h) for |y| > c,   between them at c,

which sums to 1 for one c only. With h = 0 this is the simulator of Theorem A3. A sample smears the peak of the law; the
step puts back, in the middle, what was smeared, and lightens the tails, which were too heavy. On a large table, with
sigma the standard deviation of the sample's answer at a share of a half and rho = sigma/L, h = 0 reaches epsilon = 0.5 at
rho = 0.73 and the step at 1.03; epsilon = 1 at 1.41 and 1.80. (A linear program over all laws of added noise, in
floating point and for such tables, finds this shape.)

**Theorem (stepped simulator).** Let K be the ones among the n - 1 others. The release is epsilon-zero-knowledge private
with respect to RS(k), without a delta, if for every K and every integer x

    e^(-epsilon) q^d <= G_K(x) <= e^epsilon q^D,     G_K(x) = E[w(x - Z) q^|x - Z|],

d and D the smaller and the larger of |x - K| and |x - K - 1|: the simulator's law is then e^(+-epsilon) from that of the
release, whether the person is a 1 or not. How it is checked for every K and x (:func:`holds`):

*Every x.* The sum over the values of Z changes its form at Z and near Z - c and Z + c only. Between these, G_K(x) q^(-d)
is a constant plus a multiple of q^(-2d): it rises away from K. So it is looked at beside these places alone.

*Every K.* Let P_K(j) be the chance of j ones in the sample and 1 + e_K = P_(K+1)(j)/P_K(j), which falls in K. Its second
difference in K is P_K (e_(K+1) - e_K + e_K e_(K+1)), of which the first two are not positive together. Green's function
of the second difference is at most D/4 on K0 <= K <= K1, of length D, and sums to at most D^2/8. So P_K(j) is above the
line between its values at K0 and K1, but for D^2/8 max P max e^2, and below it, but for max P (D/4 f + D^2/8 f^2) with
f = e_K0 - e_(K1-1), as e_K e_(K+1) is not below -f^2. For a given x, q^d is convex in K on each side of x, and so below its
chord: G is large enough on the whole of K0 .. K1 if the lowered G is so at both ends, and its line at K = x - 1 and K = x
if x lies between.
Above, e^epsilon q^D is above its chord times e^(-(D/L)^2/8) (Hoeffding's lemma for two values), and between K0 and K1
the smallest q^D of the stretch is taken. Exchanging zeros and ones exchanges K and n - 1 - K: half of the K are all.

*Floats.* The check runs in floats, u = 2^-53, and asks every inequality with 1e-8 to spare. (a) The masses: products of
at most 3,000 ratios of whole numbers below 2^53, added up as logarithms. A partial sum above 1,000 is refused,
so that additions err by at most 3,000 x 1,000 u, and a mass by 4e-10 of itself. (b) G: running sums of at most 13,000
positive terms err by 13,000 u of themselves. The part inside the step is a difference of two of them, and is weighed by
at most e^(2h) <= e^5 as much as the whole: 150 x 13,000 u = 3e-10 of G. (c) Exponents are at most 300, so that each
exponential errs by 300 u and the few units of its own rounding. All together stay below 1e-9. Beside balls of 128 bits
the largest error of a mass or a sum that the tests see is below 1e-12.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, ball, integer, positive, precision, rounded, to_float
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.averages import largest_mean_deviation

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
    return least_scale(k, n, z, closed_scale(k, n, z))


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
    return found_step(k, n, wide, z) is not None


def _spread(k: int, n: int) -> Fraction:
    """n^2 f/(4k) + 1/4."""
    f = min(1 - Fraction(k - 1, n), (1 - Fraction(k, n)) * (1 + Fraction(1, k)))
    return n**2 * f / (4 * k) + Fraction(1, 4)


def _sizes(rows: Exact, of: Exact) -> tuple[int, int]:
    k, n = integer(rows, "rows", least=1), integer(of, "people", least=1)
    if k > n:
        raise WrongUse(f"the simulator samples at most all people, not {k} of {n}; lower rows")
    return k, n


Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_ROOM: Final = 1e-8  # more than rounding takes from any sum below
_REACH: Final = 14  # standard deviations of the sample's ones that are looked at one by one
_LARGEST_STEP: Final = 2.5
_MOST_PEOPLE: Final = 10**9
_MOST_ROWS: Final = 3_000  # beyond, a check takes too long
_LARGEST_LOGARITHM: Final = 1_000.0  # of the masses: larger ones would err by more
_FARTHEST: Final = 300.0  # exponents that floats still reach
_CELLS: Final = 48  # between two K, where x lies between them
_PROBES: Final = 10
_COARSE, _FINE = 0.6, 0.015  # how far apart two K may be, in standard deviations of the sample's answer
_NEARLY: Final = tuple(map(Fraction, ("1", "1.003", "1.01", "1.03", "1.1", "1.2")))
STEPS: Final = tuple(map(Fraction, ("0.99", "0.95", "0.9", "0.8", "0.6", "0")))
"""The steps h that are tried, in parts of epsilon: the largest leave least room to the blank and to small tables."""


@dataclass(frozen=True, slots=True)
class _Noise:
    """The stepped law but for its constant: w(y) q^|y|."""

    a: float  # 1/L
    step: float  # h
    edge: int  # c
    at_edge: float  # w(c)


@lru_cache(maxsize=512)
def holds(k: int, n: int, scale: Fraction, epsilon: Fraction, step: Fraction) -> bool:
    """Whether the simulator with this step is e^(+-epsilon) from the release, for every table.

    Guarantee: True only if the exact count of n people with two-sided geometric noise of this scale is
    epsilon-zero-knowledge private with respect to RS(k), by the theorem above. False also where it was not worked out:
    too many rows, or a step above 2.5.
    """
    if not worked_out(k, n) or not 0 <= step <= _LARGEST_STEP:
        return False
    check = _Check(k, n, scale, epsilon, step)
    waiting = check.stretches()
    while waiting:
        first, last = waiting.pop()
        if check.stretch(first, last):
            continue
        middle = (first + last) // 2
        if middle == first or last - first < check.width(first, _FINE):
            return False
        waiting += [(first, middle), (middle, last)]
    return True


def probably(k: int, n: int, scale: Fraction, epsilon: Fraction, step: Fraction) -> bool:
    """The same at a few K only: where to look, and no proof."""
    if not worked_out(k, n) or not 0 <= step <= _LARGEST_STEP:
        return False
    check, middle = _Check(k, n, scale, epsilon, step), n // 2
    near = [max(middle - i * n // (k * _PROBES), 0) for i in range(_PROBES)]
    far = [int(middle * (i / _PROBES) ** 3) for i in range(_PROBES)]
    return all(check.stretch(ones, ones) for ones in dict.fromkeys([middle, *far, *near]))


def found_step(k: int, n: int, scale: Fraction, epsilon: Fraction) -> Fraction | None:
    """A step whose simulator is near enough, or None. Of more than 3,000 rows the simulator uses 3,000.

    Guarantee: that of :func:`holds`, if a step is given; whoever may know k rows may use fewer.
    """
    rows = min(k, _MOST_ROWS)
    for part in STEPS:
        if probably(rows, n, scale, epsilon, part * epsilon) and holds(rows, n, scale, epsilon, part * epsilon):
            return part * epsilon
    return None


@lru_cache(maxsize=256)
def least_scale(k: int, n: int, epsilon: Fraction, enough: Fraction) -> Fraction:
    """A scale, of four digits, at which a step was found, about the least; or `enough`, which is known to do.

    Guarantee: that of :func:`holds`, unless it is `enough`.
    """
    low, high, tried, rows = enough * Fraction(2, 5), enough, STEPS, min(k, _MOST_ROWS)
    while worked_out(rows, n) and high - low > high / 400:
        middle = (low + high) / 2
        near = next((part for part in tried if probably(rows, n, middle, epsilon, part * epsilon)), None)
        low, high = (low, middle) if near is not None else (middle, high)
        tried = STEPS if near is None else tuple(sorted(STEPS, key=lambda part: abs(part - near)))
    for more in _NEARLY if worked_out(rows, n) else ():
        scale = rounded(high * more, up=True, digits=4)
        if scale < enough and found_step(k, n, scale, epsilon) is not None:
            return scale
    return enough


def worked_out(k: int, n: int) -> bool:
    """Whether there are few enough rows for the check."""
    return 1 <= k <= min(n, _MOST_ROWS) and 2 <= n <= _MOST_PEOPLE


@lru_cache(maxsize=64)
def _noise(scale: Fraction, step: Fraction) -> _Noise:
    """c and w(c), from what is outside: e^h (1 - t(c)) + w (t(c) - t(c+1)) + e^(-h) t(c+1) = 1, t(c) = P(|X| >= c)."""
    with precision():
        q, up = ball(-1 / scale).exp(), ball(step).exp()
        if step == 0:
            return _Noise(float(1 / scale), 0.0, 1, 1.0)
        target = up / (1 + up)

        def tail(c: int) -> object:
            return ball(1) if c == 0 else 2 * q**c / (1 + q)

        guess = int(float((target * (1 + q) / 2).log() / q.log()))
        edge = next(c for c in range(max(guess - 2, 0), guess + 4) if not bool(tail(c + 1) > target))  # type: ignore[operator]
        inside, beyond = tail(edge), tail(edge + 1)
        at = (1 - up * (1 - inside) - beyond / up) / (inside - beyond)  # type: ignore[operator]
        if not (at >= 1 / up - ball(Fraction(1, 10**30)) and at <= up + ball(Fraction(1, 10**30))):
            raise ArithmeticError("the edge of the step was not found")
        return _Noise(float(1 / scale), float(step), edge, to_float(at, round_up=True))


class _Check:
    """One table size, noise and epsilon; K by K."""

    def __init__(self, k: int, n: int, scale: Fraction, epsilon: Fraction, step: Fraction) -> None:
        self.k, self.n, self.others = k, n, n - 1
        self.noise = _noise(scale, step)
        self.a = self.noise.a
        self.low, self.high = math.exp(-float(epsilon)), math.exp(float(epsilon))

    def width(self, ones: int, grain: float) -> int:
        """`grain` standard deviations of the sample's answer at K, in people; at least 1."""
        share = ones / self.n
        return max(int(grain * self.n / self.k * math.sqrt(self.k * share * (1 - share) * (1 - self.k / self.n))), 1)

    def stretches(self) -> list[tuple[int, int]]:
        """K0, K1 one after the other, up to the middle; single K where they are few."""
        found, at, middle = [], 0, self.n // 2
        while at < middle:
            last = min(at + self.width(at, _COARSE), middle)
            found.append((at, last if self._inside(at, last) else at + 1))
            at = found[-1][1]
        return found or [(0, 0)]

    def _inside(self, first: int, last: int) -> bool:
        """Whether every number of ones that is looked at can occur from `first` to `last`."""
        low, high = self._window(self.k, first, last)
        return high <= first and self.k - low <= self.others - last

    def _window(self, drawn: int, first: int, last: int) -> tuple[int, int]:
        """The numbers of ones that are looked at: what is outside is hardly ever drawn."""

        def around(ones: int) -> tuple[float, float]:
            share = ones / self.others
            rest = max(self.others - drawn, 0) / max(self.others - 1, 1)
            return drawn * share, _REACH * math.sqrt(drawn * share * (1 - share) * rest) + 60

        (mean, reach), (mean_1, reach_1) = around(first), around(last)
        low = max(int(mean - reach), 0, drawn - (self.others - first))
        return low, min(int(mean_1 + reach_1) + 1, drawn, last)

    def stretch(self, first: int, last: int) -> bool:
        """The inequalities for every K from `first` to `last`."""
        parts = [(b, self.k - b, Fraction(self.n - self.k if b == 0 else self.k, self.n)) for b in (0, 1)]
        places: list[Whole] = []
        shares: list[Floats] = []
        less: list[tuple[Floats, Floats]] = []
        more: list[tuple[Floats, Floats]] = []
        beyond = 0.0
        for blank, drawn, chance in parts:
            if not chance:
                continue
            low, high = self._window(drawn, first, last)
            j = np.arange(low, high + 1, dtype=np.int64)
            one, outside = self._masses(drawn, first, j)
            two, outside_1 = self._masses(drawn, last, j) if last > first else (one, outside)
            beyond += float(chance) * (outside + outside_1)
            wide = last > first + 1
            under, over = self._curvature(drawn, first, last, j, one, two) if wide else (np.zeros(len(j)),) * 2
            keep = (one > under) & (two > under) if wide else np.ones(len(j), dtype=bool)
            doubled = self.n * (2 * j + blank)
            below, rest = doubled // (2 * self.k), (doubled % (2 * self.k)) / (2 * self.k)
            places.append(below)
            shares.append(rest)
            part = float(chance)
            less.append((part * np.where(keep, one - under, 0.0), part * np.where(keep, two - under, 0.0)))
            more.append((part * (one + over), part * (two + over)))
        base, rest = np.concatenate(places), np.concatenate(shares)
        order = np.argsort(base, kind="stable")
        base, rest = base[order], rest[order]
        at = np.stack([base, base + 1], axis=1).ravel()
        resort = np.argsort(at, kind="stable")
        at = at[resort]

        def spread(weights: list[Floats]) -> Floats:
            whole = np.concatenate(weights)[order]
            found: Floats = np.stack([whole * (1 - rest), whole * rest], axis=1).ravel()[resort]
            return found

        if self.a * float(at[-1] - at[0] + 2 * (self.noise.edge + last - first + 4)) > _FARTHEST:
            return False
        sums = _Sums(at, self.noise, first)
        outcomes = self._breakpoints(base, first, last)
        index = sums.index(outcomes)
        if beyond * math.exp(self.a * (last - first)) > _ROOM / 10:
            return False
        beyond *= math.exp(self.noise.step + self.a * (last - first))
        slack = math.exp(-((self.a * (last - first)) ** 2) / 8) if last > first + 1 else 1.0
        values: list[tuple[Floats, Floats]] = []
        for i, ones in enumerate((first, last)):
            lower = sums.values(spread([pair[i] for pair in less]), index) * (1 - _ROOM)
            upper = sums.values(spread([pair[i] for pair in more]), index) * (1 + _ROOM)
            near = np.minimum(abs(outcomes - ones), abs(outcomes - ones - 1))
            far = np.maximum(abs(outcomes - ones), abs(outcomes - ones - 1))
            if not bool(np.all(lower * np.exp(self.a * near) >= self.low * (1 + _ROOM))):
                return False
            if not bool(np.all(upper * np.exp(self.a * far) + beyond <= self.high * slack * (1 - _ROOM))):
                return False
            values.append((lower, upper))
        return last <= first + 1 or self._holds_between(first, last, outcomes, values, beyond)

    def _holds_between(
        self, first: int, last: int, outcomes: Whole, values: list[tuple[Floats, Floats]], beyond: float
    ) -> bool:
        """x between K0 and K1: in each cell of x, K is x or x - 1."""
        chosen = (outcomes > first) & (outcomes <= last)
        x = outcomes[chosen]
        (low_0, up_0), (low_1, up_1) = ((lower[chosen], upper[chosen]) for lower, upper in values)
        wide = np.exp(-self.a * (x[1:] - x[:-1]))
        left, right = low_0[:-1] * wide, low_1[1:] * wide
        for theta in ((x[:-1] - 1 - first) / (last - first), (x[1:] - first) / (last - first)):
            share = np.clip(theta, 0.0, 1.0)
            if not bool(np.all((1 - share) * left + share * right >= self.low * (1 + _ROOM))):
                return False
        farthest = np.exp(-self.a * np.maximum(x[1:] - first, last + 1 - x[:-1]))
        top = np.maximum(up_0[1:], up_1[:-1]) / wide + beyond
        return bool(np.all(top <= self.high * farthest * (1 - _ROOM)))

    def _breakpoints(self, base: Whole, first: int, last: int) -> Whole:
        c = self.noise.edge
        offsets = (-c - 1, -c, -c + 1, -c + 2, 0, 1, c - 1, c, c + 1, c + 2)
        found = [base + offset for offset in offsets]
        cells = first + 1 + np.unique(np.linspace(0, last - first, _CELLS + 1).astype(np.int64))
        found += [np.array([first, first + 1, last, last + 1], dtype=np.int64), cells]
        return np.unique(np.concatenate(found))

    def _masses(self, drawn: int, ones: int, j: Whole) -> tuple[Floats, float]:
        """Pr[j ones] in `drawn` of the others, of whom so many are `ones`; and what is outside, weighed by e^(|Z - ones|/L)."""
        others = self.others
        possible = (j >= max(0, drawn - (others - ones))) & (j <= min(drawn, ones))
        own = j[possible].astype(np.float64)
        ratio = (ones - own) * (drawn - own) / ((own + 1) * (others - ones - drawn + own + 1))  # j + 1 over j
        logs = np.concatenate([[0.0], np.cumsum(np.log(ratio[:-1]))])
        if float(abs(logs).max()) > _LARGEST_LOGARITHM:
            return np.zeros(len(j)), math.inf
        top = int(logs.argmax())
        masses = np.exp(logs - logs[top])
        masses /= masses.sum()
        found = np.zeros(len(j))
        found[possible] = masses
        grow = math.exp(self.a * self.n / self.k)
        outside = 0.0
        for end, more in ((-1, float(ratio[-1])), (0, self._down(drawn, ones, float(own[0])))):
            if more > 0:  # beyond, every ratio is smaller
                shrink = more * grow
                if shrink >= 0.999:
                    return found, math.inf
                away = abs(float(own[end]) * self.n / self.k - ones) + self.n / self.k + 2
                outside += float(masses[end]) * shrink / (1 - shrink) * math.exp(self.a * away)
        return found, outside

    def _down(self, drawn: int, ones: int, j: float) -> float:
        """j - 1 over j."""
        return j * (self.others - ones - drawn + j) / ((ones - j + 1) * (drawn - j + 1))

    def _curvature(
        self, drawn: int, first: int, last: int, j: Whole, one: Floats, two: Floats
    ) -> tuple[Floats, Floats]:
        """How far P_K(j) may lie under the line, and over it."""
        own, wide = j.astype(np.float64), last - first

        def change(ones: int) -> Floats:
            found: Floats = (own * (self.others - ones) - (ones + 1) * (drawn - own)) / (
                (ones + 1 - own) * (self.others - ones)
            )
            return found

        e_0, e_1 = change(first), change(last - 1)
        peak = np.where(e_0 <= 0, one, np.where(e_1 >= 0, two, one * np.exp(np.clip(wide * e_0, 0.0, 300.0))))
        fallen = np.maximum(e_0 - e_1, 0.0)
        under: Floats = peak * (wide**2 / 8 * np.maximum(e_0**2, e_1**2)) * (1 + _ROOM)
        over: Floats = peak * (wide / 4 * fallen + wide**2 / 8 * fallen**2) * (1 + _ROOM)
        return under, over


class _Sums:
    """G(x) for many x, from sums over the atoms on the left and on the right of x."""

    def __init__(self, at: Whole, noise: _Noise, middle: int) -> None:
        self.at, self.noise, self.middle = at, noise, middle
        away = (at - middle).astype(np.float64)
        self.rising, self.falling = np.exp(noise.a * away), np.exp(-noise.a * away)

    def index(self, x: Whole) -> tuple[Whole, ...]:
        c = self.noise.edge
        sides = (x, x - c, x - c - 1, x + c - 1, x + c)
        return (x, *(np.searchsorted(self.at, each, side="right") for each in sides))

    def values(self, weights: Floats, index: tuple[Whole, ...]) -> Floats:
        x, here, left, further_left, right, further_right = index
        before = np.concatenate([[0.0], np.cumsum(weights * self.rising)])
        after = np.concatenate([np.cumsum((weights * self.falling)[::-1])[::-1], [0.0]])
        away = self.noise.a * (x - self.middle)
        fall, rise = np.exp(-away), np.exp(away)
        everywhere: Floats = before[here] * fall + after[here] * rise
        if not self.noise.step:
            return everywhere
        up, down = math.exp(self.noise.step), math.exp(-self.noise.step)
        if self.noise.edge == 0:
            single = (before[left] - before[further_left]) * fall
            found: Floats = down * everywhere + (self.noise.at_edge - down) * single
            return found
        inside = (
            np.maximum(before[here] - before[left], 0.0) * fall + np.maximum(after[here] - after[right], 0.0) * rise
        )
        edge = (before[left] - before[further_left]) * fall + (after[right] - after[further_right]) * rise
        result: Floats = down * everywhere + (up - down) * inside + (self.noise.at_edge - down) * edge
        return result
