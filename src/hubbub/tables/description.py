"""A histogram release in exact JSON and back: everything about it that is public, so that it can be derived again."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

from hubbub.channels.catalogue import parameters, restore
from hubbub.errors import CheckFailed, HubbubError
from hubbub.exact import to_text
from hubbub.guarantees.curve import Reading
from hubbub.tables.bins import UNITS, Axis, Dates, Discovered, Edges, Steps, Values, declared_size, size
from hubbub.tables.histogram import Collected, Histogram, Unit
from hubbub.wire.canonical import digest
from hubbub.wire.exact_json import plain, restored

_KIND = "histogram"
_MOST_STEPS = 10_000_000


def description(spec: Histogram, axes: tuple[Axis, ...]) -> dict[str, Any]:
    """The release as JSON; `axes` are the bins as they were after the schema was read."""
    return {
        "kind": _KIND,
        "bins": [plain(axis) for axis in axes],
        "channel": {"name": spec.channel.name, **parameters(spec.channel)},
        "unit": plain(spec.unit),
        "sample": None if spec.sample is None else to_text(spec.sample),
        "collected": plain(spec.collected),
        "at_delta": to_text(spec.at_delta),
        "coverage": to_text(spec.coverage),
        "scale_up": spec.scale_up,
        "remarks": list(spec.remarks),
    }


def described(given: Any) -> Histogram:
    """The release that a description says, checked as if somebody had asked for it."""
    spec = _read(given)
    if description(spec, spec.axes) != given:
        raise CheckFailed("the description of the release is not written as Hubbub writes it; get the original")
    for axis in spec.axes:
        if not _is_partition(axis):
            raise CheckFailed(f"the bins of {axis.column[:40]!r} are no partition; get the original certificate")
    return spec


def _read(given: Any) -> Histogram:
    try:
        if given["kind"] != _KIND:
            raise CheckFailed("the description is of a kind of release that this version does not know; update Hubbub")
        channel = dict(given["channel"])
        spec = Histogram(
            axes=restored(tuple[Axis, ...], given["bins"]),
            channel=restore(channel.pop("name"), channel),
            unit=restored(Unit, given["unit"]),
            sample=restored(Fraction | None, given["sample"]),
            collected=restored(Collected | None, given["collected"]),
            at_delta=restored(Fraction, given["at_delta"]),
            coverage=restored(Fraction, given["coverage"]),
            scale_up=restored(bool, given["scale_up"]),
            remarks=restored(tuple[str, ...], given["remarks"]),
        )
        declared_size(spec.axes)
    except CheckFailed:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, HubbubError):
        raise CheckFailed("the description of the release is not one; get the original certificate") from None
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
    if spec.remarks not in ((), _remarks(spec)):
        raise CheckFailed("the description has a remark that Hubbub does not make; get the original certificate")
    return spec


def _remarks(spec: Histogram) -> tuple[str, ...]:
    """The only remark there is: that a curve was lowered to this one."""
    curve = getattr(spec.channel, "curve", None)
    return (Reading(curve, lowered=True).remark,) if "curve" in parameters(spec.channel) and curve is not None else ()


def _is_partition(axis: Axis) -> bool:
    """Whether nobody is in two of its bins."""
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
            return axis.unit is None or axis.unit in UNITS


def partition(spec: Histogram, axes: tuple[Axis, ...]) -> str | None:
    """A name for the partition that the bins make of people, or None if a person has no fixed place in it.

    Equal names mean equal partitions. One row of several, or several bins, are chosen anew for each release.
    """
    if spec.unit.one_row_per_person or spec.unit.distinct is not None:
        return None
    return digest({"bins": [plain(axis) for axis in axes], "person": spec.unit.person})
