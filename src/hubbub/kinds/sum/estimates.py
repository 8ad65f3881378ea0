"""Estimates and intervals of a sum, computed from its published integers.

**A cap.** The interval is for the total of what people count with, at most the cap each.

**Octaves** are in :mod:`hubbub.kinds.sum.octaves`.

**Layers.** Let T_k be the total of values cut to t_k, the sum of the first k layers, and a_j the j-th layer's sum by
its width. Two things are known of the layers but for a chance of 1 - coverage, all of them at once: T_k lies within the
reach of the noise of its k layers, and a_j is at most what the noise of its own layer allows. As everybody who is above
t_(j-1) fills layer j - 1, a_j never rises in j: all that lies above t_k adds up to at most (M - t_k) a_k. So the total
of values cut to the declared range lies between the largest lower end of a T_k that is told and the smallest of

    upper end of T_k + (M - t_k) min(upper ends of a_1..a_k),

and no lower than the upper end of what is told (where it would be, some noise was beyond its reach). The upper end is far away on purpose: one person at M more or less cannot be seen, nor can about J/epsilon of them. The
estimate is of T_(k+1), k being the layers below the first whose published sum is under four times the scale of its noise:
those sums, and of the next one what lies between 0 and a_k w_(k+1), since a_(k+1) <= a_k. Leaving that layer out would
be wrong by all that it holds, which of heavy tails is more than its noise. It has an interval of its own, for the total
of values cut to t_(k+1); that one is as narrow as the noise is.

Of K people drawn from N without replacement, values of a length l average within l sqrt(f ln(1/b)/(2 K)) of everybody's
on one side but for a chance b, f = min{1 - (K - 1)/N, (1 - K/N)(1 + 1/K)} (Serfling; Bardenet and Maillard). Half of
the chance to be wrong is for the noise and half for the sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Final

from hubbub.kinds.sum.octaves import estimated
from hubbub.kinds.sums.columns import HIDDEN, SHOWN, UNTOLD
from hubbub.kinds.sums.intervals import drawn_from, reach_of_many, reach_of_sum
from hubbub.numeric.clamped_interval import clamp, clamped_interval
from hubbub.numeric.gaussian_sums import LEAST_SMOOTHED, reach_of_equals
from hubbub.query_classes.marginals.residual import reach_of_weights
from hubbub.runtime.frozen import dataclass
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.sum.layers import Layers
    from hubbub.kinds.sum.spec import Sum

DROWNED: Final = 4  # scales of the noise under which a layer is not told
DROWNED_BY_GAUSSIAN: Final = 3  # the same in standard deviations, of Gaussian noise


@dataclass(frozen=True, slots=True)
class Row:
    """What was drawn for a bin: of a crowd how many they are, and the sum of every layer, in steps; None: hidden."""

    sums: tuple[int, ...] | None
    people: int | None = None
    cap: int | None = None  # in steps, where it is drawn


@dataclass(frozen=True, slots=True)
class Cut:
    """The total of values cut to `at`, and its interval."""

    at: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True)
class Answer:
    """One bin: what was drawn, what it says, and where the total lies."""

    row: Row
    value: Fraction | None
    estimate: Fraction | None
    low: Fraction
    high: Fraction | None  # None: no upper end
    cut: Cut | None
    status: str


def estimated_answers(spec: Sum, rows: Sequence[Row]) -> list[Answer]:
    """Estimate and intervals of every bin, from what was drawn for it.

    Guarantee: whatever is true, each interval holds it with the coverage of the release, by the law of the noise and of
    the sample: with a cap the total of what people count with; with layers both the total of values cut to the declared
    range and that of values cut to where the estimate ends. Integers that such a release cannot publish are refused
    with a ValueError.
    """
    found = []
    for row in rows:
        if isinstance(spec.protection, Crowd):
            _check_crowd(spec.protection, row)
        elif row.sums is None:
            raise ValueError("a number is missing")
        found.append(_hidden(spec, row) if row.sums is None else _answer(spec, row, row.sums))
    return found


def estimated_total(spec: Sum, rows: Sequence[Row]) -> Answer:
    """Estimate and intervals of several bins together, from what was drawn for each.

    Guarantee: as :func:`estimated_answers`, by the law of the sum of the noises of these bins.
    """
    if spec.tailored is not None:
        return _of_octaves(spec, rows)
    layers = [sum(layer) for layer in zip(*(row.sums or () for row in rows), strict=True)]
    return _answer(spec, Row(tuple(layers), cap=rows[0].cap), tuple(layers), len(rows))


def _check_crowd(crowd: Crowd, row: Row) -> None:
    if (row.people is None) != (row.sums is None) or (row.people is not None and row.people < crowd.k):
        raise ValueError("so small a crowd is hidden")


def _hidden(spec: Sum, row: Row) -> Answer:
    """The bounds of a hidden bin, which has fewer than k people."""
    assert isinstance(spec.protection, Crowd)
    few = spec.protection.k - 1
    low, high = few * min(spec.bottom, 0), few * max(spec.top, 0)
    return Answer(row, None, None, spec.amount(low), spec.amount(high), None, HIDDEN)


def _answer(spec: Sum, row: Row, sums: tuple[int, ...], bins: int = 1) -> Answer:
    if spec.tailored is not None:
        return _of_octaves(spec, (row,))
    return _of_layers(spec, row, sums, bins) if spec.layered else _of_cap(spec, row, sums[0], bins)


# --- a cap --------------------------------------------------------------------------------------------------------


def _of_cap(spec: Sum, row: Row, total: int, bins: int) -> Answer:
    bottom, top = spec.bottom, spec.top if row.cap is None else min(spec.top, row.cap)
    miss, scale = _noise_miss(spec), _scale(spec)
    if spec.gaussian is not None:
        off = reach_of_equals(spec.gaussian.s2, bins, miss / 2)
    else:
        off = _reach_in_bins((cap_rate(spec, row.cap),), bins, miss / 2)
    away = _sampled(spec, miss / 2) * (max(top, 0) - min(bottom, 0))
    least, most = _surely(spec, row, bottom, top)
    about = scale * total
    low, high = clamped_interval(about, scale * off + away, least, most)
    if low <= least and most is not None and high >= most:  # nothing is known of it
        return Answer(row, spec.amount(about), None, spec.amount(low), spec.amount(high), None, UNTOLD)
    kept = clamp(about, least, most)
    return Answer(row, spec.amount(about), spec.amount(kept), spec.amount(low), spec.amount(high), None, SHOWN)


def cap_rate(spec: Sum, cap: int | None) -> Fraction:
    """The rate of the noise of the one layer, up to a cap of so many steps if it was drawn.

    Guarantee: one person moves the sum by at most the cap, or in a crowd by what lies between the least value and it.
    """
    if cap is None:
        (rate,) = spec.rates
        return rate
    width = cap - spec.bottom if isinstance(spec.protection, Crowd) else cap
    return spec.shares[0] / max(width, 1)


def _surely(spec: Sum, row: Row, bottom: int, top: int) -> tuple[Fraction, Fraction | None]:
    """Certain bounds of the total."""
    match spec.protection:
        case Crowd():
            assert row.people is not None
            return Fraction(row.people * bottom), Fraction(row.people * top)
        case Knowledge(people=people):
            return Fraction(people * min(bottom, 0)), Fraction(people * max(top, 0))
        case _ if bottom >= 0:
            return Fraction(0), None
        case _:
            return Fraction(-(10**30)), None


# --- octaves ------------------------------------------------------------------------------------------------------


def _of_octaves(spec: Sum, rows: Sequence[Row]) -> Answer:
    found = estimated(spec.octaves, [row.sums or () for row in rows], 1 - spec.coverage)
    low, high = spec.amount(found.low), spec.amount(found.high)
    if found.estimate is None:
        return Answer(rows[0], None, None, low, high, None, UNTOLD)
    about = spec.amount(found.estimate)
    return Answer(rows[0], about, about, low, high, None, SHOWN)


# --- layers -------------------------------------------------------------------------------------------------------


def _of_layers(spec: Sum, row: Row, sums: tuple[int, ...], bins: int) -> Answer:
    layers, scale = spec.layers, _scale(spec)
    if len(sums) != len(layers):
        raise ValueError("its layers are not as many")
    up, down, own = _reaches(spec, bins, _noise_miss(spec))
    away = _sampled(spec, _noise_miss(spec) / (4 * len(layers)))
    least, most = _surely(spec, row, spec.bottom, spec.top)
    filled = most if most is None else most / spec.top  # a_j is at most how many people there are
    first_drowned = next(
        (
            j
            for j, (value, square) in enumerate(zip(sums, _drowning(spec), strict=True))
            if value**2 < square * bins or value < 0
        ),
        len(sums),
    )
    last = min(first_drowned, len(sums) - 1)  # of a layer that drowns a part is told
    total, low, high, cut, before = 0, least, most, (Fraction(0), Fraction(0), Fraction(0)), Fraction(0)
    for k, (value, top, width) in enumerate(zip(sums, layers.tops, layers.widths, strict=True)):
        total += value
        lowest, highest = scale * (total - up[k]) - away * top, scale * (total + down[k]) + away * top
        fill = max(scale * Fraction(value + own[k], width) + away, Fraction(0))
        filled = fill if filled is None else min(filled, fill)
        above = highest + (spec.top - top) * filled
        low, high = max(low, lowest) if k < first_drowned else low, above if high is None else min(high, above)
        if k == last:
            at_least = max(low, lowest, Fraction(0))
            upper = min(highest, before + width * filled) if k else highest
            cut = Fraction(top), at_least, max(upper, before, at_least)  # a layer holds no less than nothing
        before = highest
    assert high is not None
    at, *ends = map(spec.amount, (*cut, low, max(high, cut[2], low)))  # where noise is beyond its reach, not empty
    if not first_drowned:
        return Answer(row, None, None, ends[2], ends[3], None, UNTOLD)
    about = spec.amount(scale * (sum(sums[:first_drowned]) + _of_drowned(layers, sums, first_drowned)))
    return Answer(row, about, min(max(about, ends[0]), ends[1]), ends[2], ends[3], Cut(at, ends[0], ends[1]), SHOWN)


def _of_drowned(layers: Layers, sums: tuple[int, ...], first: int) -> Fraction:
    """What the first layer that noise drowns seems to hold: no less than nothing, and as many fill it at most as the one
    below."""
    if first == len(sums):
        return Fraction(0)
    most = Fraction(sums[first - 1] * layers.widths[first], layers.widths[first - 1])
    return min(max(Fraction(sums[first]), Fraction(0)), most)


def _drowning(spec: Sum) -> tuple[Fraction, ...]:
    """The square under which each layer is not told."""
    if spec.gaussian is not None:
        return tuple(DROWNED_BY_GAUSSIAN**2 * s2 for s2 in spec.variances)
    return tuple((DROWNED / rate) ** 2 for rate in spec.rates)


def _reaches(spec: Sum, bins: int, miss: Fraction) -> tuple[list[int], list[int], list[int]]:
    """How far the noise of the first k layers of so many bins goes up and down, and down that of each alone: all but
    for `miss`."""
    gaussian = spec.gaussian is not None
    return _reaches_of(spec.variances if gaussian else spec.rates, bins, miss, gaussian=gaussian)


@lru_cache(maxsize=256)
def _reaches_of(
    noises: tuple[Fraction, ...], bins: int, miss: Fraction, *, gaussian: bool
) -> tuple[list[int], list[int], list[int]]:
    n = len(noises)
    firsts = [noises[: k + 1] for k in range(n)]
    reach_of = _gaussian_reach if gaussian else _reach_in_bins
    up = [reach_of(first, bins, miss / (2 * n)) for first in firsts]
    down = [reach_of(first, bins, miss / (4 * n)) for first in firsts]
    return up, down, [reach_of((each,), bins, miss / (4 * n)) for each in noises]


def _gaussian_reach(s2: tuple[Fraction, ...], bins: int, miss: Fraction) -> int:
    """How far discrete Gaussian noises go together on one side, in so many bins."""
    many, smooth = bins * len(s2), min(s2) >= LEAST_SMOOTHED
    return ceil(reach_of_weights(bins * sum(s2, Fraction(0)), Fraction(many), many, 2 * miss, smooth=smooth))


def _reach_in_bins(rates: tuple[Fraction, ...], bins: int, miss: Fraction) -> int:
    """How far the noises of these rates, in so many bins, go together on one side."""
    return reach_of_sum(rates, miss) if bins == 1 else reach_of_many(rates, bins, miss)


# --- of a sample --------------------------------------------------------------------------------------------------


def _noise_miss(spec: Sum) -> Fraction:
    """The chance that is kept for the noise; as much is kept for the sample, if there is one."""
    return (1 - spec.coverage) / (2 if spec.sampled else 1)


def _scale(spec: Sum) -> Fraction:
    return 1 / spec.protection.share if isinstance(spec.protection, Knowledge) else Fraction(1)


def _sampled(spec: Sum, miss: Fraction) -> Fraction:
    """By how much, for each step of the length of the values, the total of a sample scaled up is off on one side."""
    if not isinstance(spec.protection, Knowledge):
        return Fraction(0)
    return spec.protection.people * drawn_from(spec.protection.rows, spec.protection.people, miss)
