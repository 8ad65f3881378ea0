"""A histogram release in exact JSON and back: everything about it that is public, so that it can be derived again."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hubbub.channels.catalogue import parameters, restore
from hubbub.errors import CheckFailed
from hubbub.numeric.exact import to_text
from hubbub.serialization.canonical import Plain, digest
from hubbub.serialization.exact_json import plain, restored
from hubbub.tables.bins import UNITS, Axis, Dates, Discovered, Edges, Steps, Values, declared_size, size
from hubbub.tables.cell_format import BOOLEAN, NUMBERS, problem
from hubbub.tables.privacy_unit import Collected, Unit

if TYPE_CHECKING:
    from hubbub.kinds.histogram.spec import Histogram

_MOST_STEPS = 10_000_000


def to_json(spec: Histogram) -> dict[str, Plain]:
    """The release as JSON, with its bins as they are once the schema was read."""
    return {
        "bins": [plain(axis) for axis in spec.axes],
        "channel": {"name": spec.channel.name, **parameters(spec.channel)},  # type: ignore[dict-item]
        "unit": plain(spec.unit),
        "sample": None if spec.sample is None else to_text(spec.sample),
        "collected": plain(spec.collected),
        "at_delta": to_text(spec.at_delta),
        "coverage": to_text(spec.coverage),
        "scale_up": spec.scale_up,
        "lowered": spec.lowered,
    }


def read(given: Any) -> Histogram:
    """The release that a description says, checked as if somebody had asked for it."""
    spec = _build(given)
    rates = [spec.sample] if spec.sample is not None else []
    if spec.collected is not None:
        rates += [spec.collected.low, spec.collected.high]
        if spec.sample is not None or spec.collected.low > spec.collected.high or spec.collected.exempt < 0:
            raise CheckFailed("the description says who was sampled in a way that cannot be; get the original")
    if not spec.axes or not all(0 < rate < 1 for rate in (*rates, spec.at_delta, spec.coverage)):
        raise CheckFailed("a rate of the description does not lie between 0 and 1; get the original certificate")
    if len({axis.column for axis in spec.axes}) != len(spec.axes):
        raise CheckFailed("the description names a column twice; get the original certificate")
    if spec.scale_up if spec.sample is None else spec.unit.distinct is not None:
        raise CheckFailed("the description scales up, or samples people, in a way that cannot be; get the original")
    if spec.lowered and "curve" not in parameters(spec.channel):
        raise CheckFailed("the description says that a curve was lowered, and there is none; get the original")
    for axis in spec.axes:
        if not is_partition(axis):
            raise CheckFailed(f"the bins of {axis.column[:40]!r} are no partition; get the original certificate")
    return spec


def _build(given: Any) -> Histogram:
    from hubbub.kinds.histogram.spec import Histogram

    axes, channel = restored(tuple[Axis, ...], given["bins"]), dict(given["channel"])
    declared_size(axes)
    return Histogram(
        axes=axes,
        channel=restore(channel.pop("name"), channel),
        unit=restored(Unit, given["unit"]),
        sample=restored(Fraction | None, given["sample"]),
        collected=restored(Collected | None, given["collected"]),
        at_delta=restored(Fraction, given["at_delta"]),
        coverage=restored(Fraction, given["coverage"]),
        scale_up=restored(bool, given["scale_up"]),
        lowered=restored(bool, given["lowered"]),
    )


def is_partition(axis: Axis) -> bool:
    """Whether nobody is in two of its bins, and its cells are read in a way that is known."""
    if problem(axis.reads) or not _fits(axis):
        return False
    match axis:
        case Values():
            listed = (*axis.values, "other") if axis.other else axis.values
            return len(set(listed)) == len(listed) and size(axis) > 0
        case Edges():
            return len(axis) > 0 and all(a < b for a, b in pairwise(axis.edges))
        case Steps():
            return axis.width > 0 and 0 < axis.steps <= _MOST_STEPS
        case Dates():
            return axis.unit in UNITS and axis.first <= axis.last
        case Discovered():
            return (axis.unit is None or axis.unit in UNITS) and (axis.coarser is None or axis.unit is None)


def _fits(axis: Axis) -> bool:
    """Whether such cells are read for such bins."""
    if axis.reads == BOOLEAN:
        return isinstance(axis, Values) and axis.values == ("false", "true")
    if axis.reads in NUMBERS:
        return isinstance(axis, Edges | Steps)
    return not axis.reads or isinstance(axis, Dates) or (isinstance(axis, Discovered) and axis.unit is not None)


def partition(spec: Histogram) -> str | None:
    """A name for the partition that the bins make of people, or None if a person has no fixed place in it.

    Equal names mean equal bins of the same columns; whether the columns held the same is for the ledger to know. One
    row of several, or several bins, are chosen anew for each release.
    """
    if spec.unit.chooses:
        return None
    return digest({"bins": [plain(axis) for axis in spec.axes], "person": spec.unit.person})
