"""The five private lower bounds on epsilon(k) of example 8, on integers, with their corrections.

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
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from hubbub.channels.papers.lower_bound import Cell, Estimator, LowerBound, checked
from hubbub.channels.protocol import noise_rate
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve
from hubbub.numeric.exact import INFINITY, Exact, Infinite, Loss, log, positive, rational, rounded, to_text

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
    rate, a = checked(curve, epsilon_a, alpha)
    if estimator not in NAMES:
        raise WrongUse(f"estimator must be one of {', '.join(NAMES)}, not {str(estimator)[:40]!r}")
    if estimator == "count":
        return LowerBound(
            curve, estimator, rate, a, Fraction(0), Fraction(1), counted(curve, rate, math.ceil(a / rate))
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


def counted(curve: Curve, epsilon_a: Fraction, shift: int) -> Estimator:
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
