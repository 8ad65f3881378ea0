"""What the bins of a histogram are called."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from hubbub.tables.bins import Axis, Dates, Declared, Discovered, Steps, Values, all_labels, size
from hubbub.tables.generalization import Ranges

if TYPE_CHECKING:
    from hubbub.kinds.histogram.result import Counts


def labels(counts: Counts, wanted: NDArray[Any]) -> list[tuple[str | None, ...]]:
    """The labels of some bins, one for each axis; None is the bin of missing values."""
    codes = wanted if counts.some is None else counts.some[wanted]
    found = list(counts.found)
    columns: list[list[str | None]] = []
    for axis in reversed(counts.axes):
        if isinstance(axis, Discovered):
            texts = found.pop()
            columns.append([texts[i] for i in wanted.tolist()])
        else:
            columns.append(labels_at(axis, (codes % size(axis)).tolist()))
            codes = codes // size(axis)
    return list(zip(*reversed(columns), strict=True))


def labels_at(axis: Declared, positions: list[int]) -> list[str | None]:
    """The labels at some places of an axis. Steps may be millions, so theirs are made one by one."""
    if not isinstance(axis, Steps):
        known = all_labels(axis)
        return [known[i] for i in positions]
    extra = all_labels(replace(axis, steps=0))
    steps = (replace(axis, low=axis.low + i * axis.width, steps=1) for i in positions)
    return [
        extra[i - axis.steps] if i >= axis.steps else step.labels[0] for i, step in zip(positions, steps, strict=True)
    ]


def is_ranges(axis: Axis) -> bool:
    """Whether the bins are ranges of numbers, written [a,b)."""
    if isinstance(axis, Discovered):
        return isinstance(axis.coarser, Ranges)
    return not isinstance(axis, Values | Dates)
