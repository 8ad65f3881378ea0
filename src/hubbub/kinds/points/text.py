"""A release of noisy points in plain words."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from hubbub.kinds.points.regions import Regions
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words
from hubbub.protocol.spec import Description

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints


def describe(spec: NoisyPoints) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    columns = join_words(list(spec.space.columns))
    kept = "kept rows" if spec.unit.one_row_per_person else "people"
    cell = kept_in(spec).removesuffix("s")
    moved = f"each moved by noise as wide as its {cell}" if spec.space.diameter else f"each at the middle of its {cell}"
    return Description(
        title=f"Points of people by {columns}",
        published=f"A point for each of the {kept} whose {cell} has at least {spec.crowd}, by {columns}: {moved}",
        entry=f"points by {', '.join(spec.space.columns)}",
        person=spec.unit.describe,
        sampling="nobody: everybody in the table has a point, or is deleted",
        counts=f"each row is one of the {kept}, {where_points_are(spec)}",
        each=f"a coordinate of a point: each row is one of the {kept}, {where_points_are(spec)}",
        public=tuple(
            (
                axis.column,
                f"from {to_text(axis.low)} up to {to_text(axis.high)}{_cells(spec, axis.step * many)}, on a lattice of "
                f"{to_text(axis.step)}; people beyond, or without a number, are left out",
            )
            for axis, many in zip(spec.space.axes, spec.space.per_cell, strict=True)
        ),
        remarks=(),
    )


def where_points_are(spec: NoisyPoints) -> str:
    """Where a published point is; noise may also leave one where it was."""
    return "moved by noise" if spec.space.diameter else f"at the middle of its {kept_in(spec).removesuffix('s')}"


def _cells(spec: NoisyPoints, side: Fraction) -> str:
    return f" in cells of {to_text(side)}" if spec.space.areas is None else ""


def kept_in(spec: NoisyPoints) -> str:
    """What a cell is called."""
    return "regions" if isinstance(spec.space.areas, Regions) else "cells"


def outside(spec: NoisyPoints) -> str:
    """What happens to points that move out of the box."""
    if not spec.space.diameter:
        return "No point leaves the box."
    if spec.clamp:
        return (
            "A point that moved out of the box was put back on its edge, so that edges have more than their own. Sums "
            "and means were taken before that."
        )
    return "Points may have moved out of the box, and are left where they are."
