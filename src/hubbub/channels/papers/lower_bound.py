"""Example 8 of the outlier paper: a private lower bound on epsilon(k) decides how much noise the count gets.

A(k) draws an integer n whose law changes by at most (epsilon_A, delta_A) between neighbouring counts, and n stands
for a rate epsilon_tot(n) that exceeds epsilon(k) only with a small probability. Then B adds two-sided geometric noise
of rate epsilon_tot - epsilon_A (nothing is shown when that is 0, no noise is added when it is infinite), and
epsilon_tot is published beside it. How n is made is an :class:`Estimator`; the five of the paper are in
:mod:`hubbub.channels.papers.lower_bound`, three of them corrected. The warped channel does better than all of them on
every curve we tried; these are here for comparison.

The five private lower bounds on epsilon(k) of example 8, on integers, with their corrections.

==============  ========================================  ======================================================
name            n                                         what the paper has
==============  ========================================  ======================================================
count           k + X - s, at least 0; rate e_A           the same, with a real offset
epsilon-global  floor(epsilon(k)/u) + X - s; rate e_A/D   the same
epsilon-smooth  floor(epsilon(k)/u) + X - s(k)            a sensitivity that is not smooth, and a beta too large
scale-global    ceil(1/(u epsilon(k))) + X + s            minus s: then epsilon_tot is too large
scale-smooth    ceil(1/(u epsilon(k))) + X + s(k)         both errors
==============  ========================================  ======================================================

X is two-sided geometric, e_A is epsilon_A, u the grid, D the largest step of the integer sequence (the rate of
scale-global is e_A/D too), s = ceil(alpha D/e_A): P(X > s) = q^(s+1)/(1+q) <= e^-alpha/2. In the smooth ones the rate
is alpha/s(k), and s(k) is an integer sequence with s(k) >= 2 alpha LS(k)/e_A that changes by a factor of at most 1 +
beta from one count to the next, beta = e_A / (2 (alpha + ln(1/delta_A) + 2)). Sliding the centre costs at most e_A/2
because of the first property. Changing the scale about the centre, shift included, costs at most beta (alpha +
ln(1/delta_A) + 2) <= e_A/2 outside an event of probability delta_A; the 2 (the re-derivation for real noise has 1)
pays for the normalising constant tanh(rate/2) and for integers, and asks for e_A <= 2.7 and rates of at most 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, Final, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from hubbub.channels.law import SUPPRESSED, Block, Law, Weight, peak, two_sided
from hubbub.channels.protocol import (
    LARGEST_COUNT,
    LARGEST_RATE,
    SMALLEST_RATE,
    Card,
    Channel,
    Proof,
    Published,
    exact_count,
    exact_counts,
    noise_rate,
)
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve, flat
from hubbub.guarantees.definitions import OutlierPrivacy
from hubbub.guarantees.derivation import HERE, LUI_PASS, Theorem
from hubbub.noise.sampler import two_sided_geometric_each
from hubbub.noise.source import Source
from hubbub.numeric.exact import (
    INFINITY,
    Exact,
    Infinite,
    Loss,
    ball,
    exp,
    log,
    loss,
    positive,
    rational,
    rounded,
    to_text,
)
from hubbub.runtime.frozen import dataclass

Cell: TypeAlias = tuple[int | None, int | None, Loss]
"""The integers n from the first to the second (None: endless) stand for this epsilon_tot."""

_LARGEST_ALPHA = 5_000
_NEGLIGIBLE = Fraction(1, 10**32)
_MOST_PARTS, _FEW_COUNTS = 3_000, 3  # of a law that is compared when a certificate is checked, and how many are
_GAP = 1000  # cells are listed across a gap of this many integers and no more


def _perhaps(lo: int, hi: int) -> bool:
    """The default of `merges`: cells may have been merged."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimator:
    """How A draws n: n = centre(k) + X, X two-sided geometric of rate(k); and what n means.

    `cells(lo, hi)` covers all integers, split at least finely enough between lo and hi that epsilon_tot is constant
    on a cell; outside, cells may be merged, and `merges(lo, hi)` says whether any are. On a grid, centre and rate are
    those of the count `settled` from there on; None if they move with every count.
    """

    centre: Callable[[int], int]
    rate: Callable[[int], Loss]
    cells: Callable[[int, int], Sequence[Cell]]
    merges: Callable[[int, int], bool] = _perhaps
    settled: int | None = None

    def reach(self, count: int) -> int:
        """How far from the centre cells are told apart: beyond, X has a negligible probability."""
        rate = self.rate(count)
        return 0 if isinstance(rate, Infinite) else math.ceil(float((-ball(_NEGLIGIBLE).log() / ball(rate)).upper()))

    def merged_mass(self, count: int) -> Fraction:
        """A bound on the probability of cells that :meth:`law` does not tell apart."""
        centre, reach, rate = self.centre(count), self.reach(count), self.rate(count)
        if isinstance(rate, Infinite) or not self.merges(centre - reach, centre + reach):
            return Fraction(0)
        return rounded(2 * exp(-rate * (reach + 1)) / (1 + exp(-rate)), up=True)

    def law(self, count: int) -> Iterator[tuple[Loss, arb]]:
        """(epsilon_tot, probability) for every value of epsilon_tot that is not negligible."""
        centre, rate, reach = self.centre(count), self.rate(count), self.reach(count)
        masses: dict[Loss, arb] = {}
        for lo, hi, total in self.cells(centre - reach, centre + reach):
            mass = sum((block.total() for block in two_sided(centre, rate, lo=lo, hi=hi)), arb(0))
            if mass.is_zero():
                continue
            masses[total] = masses.get(total, arb(0)) + mass
        yield from sorted(masses.items(), key=lambda item: (isinstance(item[0], Infinite), item[0]))


def spare_rate(total: Loss, epsilon_a: Fraction) -> Loss:
    """The rate left for B: epsilon_tot - epsilon_A, 0 where that is too little for a number, never above the largest
    rate.
    """
    if isinstance(total, Infinite):
        return total
    rest = total - epsilon_a
    return Fraction(0) if rest < SMALLEST_RATE else min(rest, LARGEST_RATE)


def tag_of(total: Loss, epsilon_a: Fraction) -> str:
    """epsilon_tot as a tag."""
    hidden = f"{SUPPRESSED} " if spare_rate(total, epsilon_a) == 0 else ""
    return f"{hidden}epsilon={to_text(total)}"


def total_of(tag: str) -> Loss:
    """The epsilon_tot that a tag says."""
    return loss(tag.partition("=")[2], "epsilon")


def estimator_law(estimator: Estimator, epsilon_a: Fraction, count: int) -> Law:
    """The joint law of (epsilon_tot, published value) at a count, whatever the estimator promises."""
    blocks: list[Block] = []
    for total, mass in estimator.law(count):
        tag, rate = tag_of(total, epsilon_a), spare_rate(total, epsilon_a)
        if rate == 0:
            blocks.append(Block(0, 0, Weight(("cell", object()), mass), Fraction(0), tag=tag))
        elif isinstance(rate, Infinite):
            blocks.append(Block(count, count, Weight(("cell", object()), mass), Fraction(0), tag=tag))
        else:
            weight = Weight(("cell", object()), mass * peak(rate).value)
            blocks.append(Block(None, count - 1, weight, -rate * count, rate, tag))
            blocks.append(Block(count, None, weight, rate * count, -rate, tag))
    tags = tuple(sorted({block.tag for block in blocks}, key=total_of))
    return Law(tuple(blocks), tags=tags, order=total_of, missing=estimator.merged_mass(count))


@dataclass(frozen=True)
class LowerBound(Channel):
    """Example 8 with an estimator by name. Make it with :func:`hubbub.channels.papers.lower_bound.lower_bound`.

    Guarantee: (curve, delta_A + e^-alpha/2)-outlier privacy with epsilon_tot released (Theorem 20): for fixed n the
    noise of B costs epsilon_tot - epsilon_A, n itself costs (epsilon_A, delta_A), and epsilon_tot exceeds epsilon(k)
    with probability at most e^-alpha/2; the deltas add.
    """

    name: ClassVar[str] = "lower-bound"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.lower-bound", "Theorem 20", f"{LUI_PASS}, Example 8; {HERE}"),
        summary="a private lower bound on the curve sets the noise (example 8)",
        example="`curve=1:0.01,101:1` `estimator=count` `epsilon_a=0.005` `alpha=10`",
        needs=("curve", "estimator", "epsilon_a", "alpha"),
        may=("delta_a", "grid"),
    )
    curve: Curve
    estimator: str
    epsilon_a: Fraction
    alpha: Fraction
    delta_a: Fraction
    grid: Fraction
    made: Estimator

    @property
    def claim(self) -> OutlierPrivacy:
        slack = self.delta_a + rounded(exp(-self.alpha) / 2, up=True)
        return OutlierPrivacy(curve=self.curve, delta=slack)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """Theorem 20; and, where the estimate is the noisy count, the top of the curve without a delta.

        The estimate then costs epsilon_A at every count, and what it says is at most the top, of which B spends the rest.
        """
        found = Proof(self.curve, "Theorem 20", self.claim.delta)
        top = self.curve.limit
        if self.estimator != "count" or isinstance(top, Infinite) or top < self.epsilon_a or not self.curve.is_monotone:
            return (found,)
        return found, Proof(flat(top), "the estimate costs epsilon_A, and the noise at most the rest of the top")

    def comparable(self, counts: Sequence[int]) -> Sequence[int]:
        return [count for count in counts if self._parts(count) <= _MOST_PARTS][:_FEW_COUNTS]

    def _parts(self, count: int) -> int:
        """Of how many parts a law consists: one for each value of the estimate."""
        centre, reach = self.made.centre(count), self.made.reach(count)
        return reach if reach > 10 * _MOST_PARTS else len(self.made.cells(centre - reach, centre + reach))

    @property
    def is_unbiased(self) -> bool:
        return False

    @property
    def hides(self) -> bool:
        return True

    @property
    def steady_from(self) -> int | None:
        """Where A is on a grid, nothing changes any more from the last count that moves it."""
        return self.made.settled

    def noise_given(self, tag: str) -> Loss:
        """The rate of the noise around the count when epsilon_tot is known."""
        return spare_rate(total_of(tag), self.epsilon_a)

    @property
    def segments(self) -> tuple[int, ...]:
        """On a grid A moves with the curve and B with the count: only where the curve is flat is there one peak."""
        return (0,) if self.made.settled is None else tuple(range(self.made.settled + 1))

    def likelihood(self, count: int, value: int, tag: str) -> arb:
        """The probability of one outcome, without the rest of its law."""
        if self.made.settled is None:
            return self.law(count).mass(value, tag)
        total, rate = total_of(tag), self.noise_given(tag)
        centre, spread = self.made.centre(count), self.made.rate(count)
        parts = [two_sided(centre, spread, lo=lo, hi=hi) for lo, hi, cell in _every_cell(self.made) if cell == total]
        chance = sum((block.total() for blocks in parts for block in blocks), arb(0))
        if rate == 0:
            return chance
        return chance * sum((block.total() for block in two_sided(count, rate, lo=value, hi=value)), arb(0))

    def law(self, count: int) -> Law:
        return _law(self, exact_count(count))

    def release(self, counts: ArrayLike, source: Source) -> Published:
        truth = exact_counts(counts).ravel()
        totals, which = self._totals(truth, source)
        rates = [spare_rate(total, self.epsilon_a) for total in totals]
        hidden = np.array([rate == 0 for rate in rates], dtype=bool)
        drawable: list[Loss] = [LARGEST_RATE if rate == 0 else rate for rate in rates]  # what is hidden is not used
        values = truth + two_sided_geometric_each(drawable, which, source)
        values[hidden[which]] = 0
        tags = [tag_of(total, self.epsilon_a) for total in totals]
        names = tuple(sorted(set(tags), key=total_of))
        index = np.array([names.index(tag) for tag in tags], dtype=np.intp)
        shape = np.shape(counts)
        return Published(values.reshape(shape), index[which].reshape(shape), names)

    def _totals(self, truth: NDArray[np.int64], source: Source) -> tuple[list[Loss], NDArray[np.intp]]:
        """The epsilon_tot of each bin, as (distinct values, which)."""
        distinct, at = np.unique(truth, return_inverse=True)
        rates: dict[Loss, int] = {}
        level = np.array([rates.setdefault(self.made.rate(int(k)), len(rates)) for k in distinct], dtype=np.intp)
        centres = np.array([self.made.centre(int(k)) for k in distinct], dtype=np.int64)
        n = centres[at] + two_sided_geometric_each(list(rates), level[at], source)
        values, back = np.unique(n, return_inverse=True)
        totals: dict[Loss, int] = {}
        which = np.empty(values.size, dtype=np.intp)
        # Run by run: between a bin of 3 people and one of a billion there are a billion cells that nobody is in.
        runs = np.flatnonzero(np.diff(values, prepend=values[:1]) > _GAP)
        for run in np.split(np.arange(values.size), runs):
            if not run.size:
                continue
            here = values[run]
            cells = self.made.cells(int(here[0]), int(here[-1]))
            starts = np.array([lo for lo, _, _ in cells[1:]], dtype=np.int64)  # the first cell is endless
            number = np.array([totals.setdefault(total, len(totals)) for _, _, total in cells], dtype=np.intp)
            which[run] = number[np.searchsorted(starts, here, side="right")]
        return list(totals), which[back]


@lru_cache(maxsize=16)
def _every_cell(estimator: Estimator) -> Sequence[Cell]:
    """All the cells of an estimator on a grid: finitely many."""
    return estimator.cells(-LARGEST_COUNT, LARGEST_COUNT)


@lru_cache(maxsize=256)
def _law(channel: LowerBound, count: int) -> Law:
    return estimator_law(channel.made, channel.epsilon_a, count)


def check_rates(curve: Curve, epsilon_a: Exact, alpha: Exact) -> tuple[Fraction, Fraction]:
    """epsilon_A and alpha, or why they cannot be used with this curve."""
    rate, a = noise_rate(epsilon_a, "epsilon-a"), positive(alpha, "alpha")
    if a > _LARGEST_ALPHA:
        raise WrongUse(f"alpha must be at most {_LARGEST_ALPHA:,}, whose delta can still be written out; lower it")
    if not curve.is_monotone:
        raise WrongUse("the curve must not decrease; use curve.envelope()")
    if curve.at(1) < rate:
        raise WrongUse(
            f"`epsilon_a` must be at most the curve at a crowd of 1, {to_text(curve.at(1))}, not {to_text(rate)}; "
            "lower it, or use the warped channel, which has no such limit"
        )
    return rate, a


NAMES: Final = ("count", "epsilon-global", "epsilon-smooth", "scale-global", "scale-smooth")

_LONGEST = 200_000  # counts before a curve turns straight


def lower_bound(
    curve: Curve,
    estimator: str,
    epsilon_a: Exact,
    alpha: Exact,
    *,
    delta_a: Exact = "1e-6",
    grid: Exact | None = None,
) -> LowerBound:
    """The channel of example 8 with one of the five estimators. `delta_a` matters for the smooth ones only."""
    rate, a = check_rates(curve, epsilon_a, alpha)
    if estimator not in NAMES:
        raise WrongUse(f"estimator must be one of {', '.join(NAMES)}, not {str(estimator)[:40]!r}")
    if estimator == "count":
        return LowerBound(
            curve, estimator, rate, a, Fraction(0), Fraction(1), count_estimator(curve, rate, math.ceil(a / rate))
        )
    scale, smooth = estimator.startswith("scale"), estimator.endswith("smooth")
    real = _inverse(curve) if scale else _values(curve)
    unit = _grid(real, curve) if grid is None else positive(grid, "grid")
    on_grid = [math.ceil(x / unit) if scale else math.floor(x / unit) for x in real]
    slack = positive(delta_a, "delta-a") if smooth else Fraction(0)
    if smooth:
        shifts: Sequence[int] = smooth_shifts(on_grid, rate, a, smoothness(rate, a, slack))
    else:
        largest = max((abs(y - x) for x, y in pairwise(on_grid)), default=0)
        shifts = [math.ceil(a * largest / rate)] * len(on_grid)
    noise: Callable[[int], Loss] = lambda s: INFINITY if s == 0 else a / s  # noqa: E731
    if not smooth:
        step = max((abs(y - x) for x, y in pairwise(on_grid)), default=0)
        noise = lambda s: INFINITY if step == 0 else rate / step  # noqa: E731
    for spread in {noise(s) for s in shifts} - {INFINITY}:  # for every count, so that no refusal depends on the data
        noise_rate(to_text(spread), "the rate of the estimate's noise")
    made = on_a_grid(on_grid, shifts, noise, unit, rate, scale=scale)
    return LowerBound(curve, estimator, rate, a, slack, unit, made)


def count_estimator(curve: Curve, epsilon_a: Fraction, shift: int) -> Estimator:
    """n = k + X - shift stands for epsilon(max(n, 0))."""

    def cells(lo: int, hi: int) -> list[Cell]:
        found: list[Cell] = [(None, 0, curve.at(1))]
        for piece, end in curve.ends():
            if not piece.rate:
                found.append((piece.start, end, piece.value))
                continue
            last = hi if end is None else min(end, hi)
            first = max(piece.start, lo)
            if first > piece.start:  # below the window: one cell, at the smallest rate in it
                found.append((piece.start, min(first - 1, last) if end is None else min(first - 1, end), piece.value))
            found += [(n, n, piece.at(n)) for n in range(first, last + 1)]
            following = max(first, last + 1)
            if end is None or following <= end:  # above the window: too, which only lowers what is told
                found.append((following, end, piece.at(following)))
        return found

    def merges(lo: int, hi: int) -> bool:
        return any(p.rate and (p.start < lo or end is None or end > hi) for p, end in curve.ends())

    return Estimator(centre=lambda k: k - shift, rate=lambda k: epsilon_a, cells=cells, merges=merges)


def on_a_grid(
    sequence: Sequence[int],
    shifts: Sequence[int],
    noise: Callable[[int], Loss],
    unit: Fraction,
    epsilon_a: Fraction,
    *,
    scale: bool,
) -> Estimator:
    """n = sequence[k] + X -/+ shifts[k] stands for n u, or for 1/(n u) with `scale`, at least epsilon_A.

    Sequence and shifts are given up to the count from which they stay the same; the shifts are at least as long.
    """
    top = min(sequence) if scale else max(sequence)
    bottom = math.ceil(1 / (unit * epsilon_a)) if scale else math.floor(epsilon_a / unit)

    def meaning(n: int) -> Loss:
        if scale:
            return INFINITY if n <= 0 else max(1 / (unit * n), epsilon_a)
        return max(unit * n, epsilon_a)

    def cells(lo: int, hi: int) -> list[Cell]:
        first, final = (top, bottom) if scale else (bottom, top)  # outside, epsilon_tot is constant
        if first >= final:
            return [(None, None, meaning(final if scale else first))]
        a, z = min(max(first, lo), final), max(min(final, hi), first)
        found: list[Cell] = [(None, first, meaning(first))]
        if a > first + 1:  # outside the window cells are merged at their smaller rate
            found.append((first + 1, a - 1, meaning(a - 1 if scale else first + 1)))
        found += [(n, n, meaning(n)) for n in range(max(a, first + 1), min(z, final - 1) + 1)]
        before = found[-1][1]
        assert before is not None
        following = max(before, first) + 1
        if following < final:
            found.append((following, final - 1, meaning(final - 1 if scale else following)))
        found.append((final, None, meaning(final)))
        return found

    def merges(lo: int, hi: int) -> bool:
        first, final = (top, bottom) if scale else (bottom, top)
        return first < final and (lo > first + 1 or hi < final - 1)

    sign, last, settled = (1 if scale else -1), len(sequence) - 1, len(shifts) - 1
    return Estimator(
        centre=lambda k: sequence[min(k, last)] + sign * shifts[min(k, settled)],
        rate=lambda k: noise(shifts[min(k, settled)]),
        cells=cells,
        merges=merges,
        settled=settled,
    )


def smoothness(epsilon_a: Fraction, alpha: Fraction, delta_a: Fraction) -> Fraction:
    """beta = epsilon_A / (2 (alpha + ln(1/delta_A) + 2)), rounded down."""
    if epsilon_a > rational("2.7") or not 0 < delta_a <= rational("0.2"):
        raise WrongUse("a smooth estimator needs `epsilon_a` of at most 2.7 and `delta_a` of at most 0.2; lower them")
    return epsilon_a / (2 * (alpha + rounded(-log(delta_a), up=True, digits=8) + 2))


def smooth_shifts(sequence: Sequence[int], epsilon_a: Fraction, alpha: Fraction, beta: Fraction) -> list[int]:
    """The least integers s(k) >= 2 alpha LS(k)/epsilon_A, at least alpha, with s(k) <= (1 + beta) s(k +/- 1), for all
    counts.

    The list is carried on beyond the sequence until it no longer falls; from there on it is constant.
    """
    steps = [abs(y - x) for x, y in pairwise(sequence)]
    local = [max(left, right) for left, right in zip((0, *steps), (*steps, 0), strict=True)]
    shifts = [max(math.ceil(2 * alpha * step / epsilon_a), math.ceil(alpha)) for step in local]
    for k in range(1, len(shifts)):
        shifts[k] = max(shifts[k], math.ceil(shifts[k - 1] / (1 + beta)))
    for k in range(len(shifts) - 2, -1, -1):
        shifts[k] = max(shifts[k], math.ceil(shifts[k + 1] / (1 + beta)))
    while (following := max(math.ceil(shifts[-1] / (1 + beta)), math.ceil(alpha))) < shifts[-1]:
        shifts.append(following)
        if len(shifts) > 2 * _LONGEST:
            raise WrongUse(
                "the noise of this estimate takes too long to settle; raise `epsilon_a` or use a coarser grid"
            )
    return shifts


def _straight_from(curve: Curve) -> int:
    last = curve.pieces[-1]
    if last.rate:
        raise WrongUse("this estimator needs a curve that ends flat; cap the slope, like slope:0.01<=1, or use count")
    if last.start > _LONGEST:
        raise WrongUse(f"this estimator needs a curve that is flat from a crowd of {_LONGEST:,} on; use warped")
    return last.start


def _values(curve: Curve) -> list[Fraction]:
    """epsilon(0), epsilon(1), ... up to where it stays the same."""
    found = []
    for k in range(_straight_from(curve) + 1):
        value = curve.at(k)
        if isinstance(value, Infinite):
            raise WrongUse("a curve that reaches infinity has infinite steps; use scale-global, count or warped")
        found.append(value)
    return found


def _inverse(curve: Curve) -> list[Fraction]:
    """1/epsilon(k), with 1/infinity = 0, up to where it stays the same."""
    values = [curve.at(k) for k in range(_straight_from(curve) + 1)]
    return [Fraction(0) if isinstance(value, Infinite) else 1 / value for value in values]


def _grid(real: Sequence[Fraction], curve: Curve) -> Fraction:
    """The largest step of the sequence, so that one person moves n by at most one; its first value if it is flat."""
    step = max((abs(y - x) for x, y in pairwise(real)), default=Fraction(0))
    return step or real[0] or Fraction(1)
