"""A cap on rows that is drawn from the data: how many rows of a person count in a bin.

As :mod:`hubbub.kinds.sum.cap` draws one, of pairs of a person and a bin: M(y) is how many have more than y rows, and one
person, who is in at most B bins, moves each M(y) by 0 to B. So a pair costs a B-th part of the loss. The noise of a bin is
about sqrt(2) B/loss for each row of the cap, and so many pairs for each bin may lie above it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hubbub.kinds.quantile.ranks import Run, draw
from hubbub.kinds.sum.cap import grid_runs, may_exceed
from hubbub.noise.source import Source

if TYPE_CHECKING:
    from hubbub.kinds.summary.numbers import Number
    from hubbub.kinds.summary.spec import Summary


def allowed(spec: Summary, number: Number) -> int:
    """How many pairs may lie above a cap before it is too low."""
    return may_exceed((spec.part - spec.for_cap(number)) / spec.most_bins, spec.bins)


def runs(spec: Summary, number: Number, above: Sequence[int]) -> list[Run]:
    """The weights of the points, given how many pairs have more rows than each.

    Guarantee: between two tables that differ by one person the law of a point drawn by these weights changes by at most
    a factor e^loss, loss being :meth:`hubbub.kinds.summary.spec.Summary.for_cap`.
    """
    return grid_runs(above, allowed(spec, number), spec.for_cap(number) / spec.most_bins)


def drawn(spec: Summary, number: Number, above: Sequence[int], source: Source) -> int:
    """A point of the grid."""
    return spec.cap_points[draw(runs(spec, number, above), source)]
