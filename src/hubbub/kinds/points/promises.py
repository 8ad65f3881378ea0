"""What a release of noisy points promises, derived from its public description before any data is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hubbub.guarantees.definitions import CrowdBlending
from hubbub.guarantees.derivation import GHLP, HERE, Assumption, Derivation, Theorem, stated, texts
from hubbub.kinds.histogram.promises import KEPT_ROWS
from hubbub.kinds.points.regions import Regions
from hubbub.numeric.exact import to_text
from hubbub.tables.bins import Lattice

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints

THEOREM: Final = Theorem(
    "points.noisy",
    "points of small cells deleted, the others moved by noise as wide as a cell",
    f"{GHLP}, the example before Proposition 11; on a lattice {HERE}",
)
REGIONS: Final = Assumption(
    "points.regions",
    "the regions and the lattice are public, and were not chosen by the data; people in no region are left out",
)
CELLS: Final = Assumption("points.cells", "the cells and the lattice are public, and were not chosen by the data")
ORDER: Final = Assumption(
    "points.order", "points are listed in the order of what is published, so that their order tells nothing"
)


def promises(spec: NoisyPoints) -> tuple[Derivation, ...]:
    """The one promise.

    Guarantee: (k, epsilon)-crowd-blending. Who is in a cell of fewer than k is deleted with or without the others of
    it, so that without the person the same comes out. Who is in a cell of at least k blends with all of them: whatever
    the rest of the table is, t and t' of one cell leave all cells as large as they are, so that the same others are
    published, and either both are deleted or each moves from its own position. Two positions of a cell differ by m_1,
    ..., m_d steps with m_1 + ... + m_d at most its diameter, and noise of the rate epsilon/diameter along each column
    loses at most epsilon m_j / diameter there. Along a column where a cell has one position nothing is lost without
    noise. That points are listed in the order of their published values, that they are clamped, and that columns are
    added up before, is post-processing.
    """
    unit = spec.unit
    return (
        stated(
            CrowdBlending(k=spec.crowd, epsilon=spec.loss),
            theorem=THEOREM,
            numbers=texts(crowd=spec.crowd, epsilon=spec.epsilon, diameter=spec.space.diameter, rate=spec.rate),
            assumptions=(
                REGIONS if isinstance(spec.space.areas, Regions) else CELLS,
                *(
                    _rule(axis, many, by_itself=spec.space.areas is not None)
                    for axis, many in zip(spec.space.axes, spec.space.per_cell, strict=True)
                ),
                ORDER,
                unit.assumption,
                *((KEPT_ROWS,) if unit.one_row_per_person else ()),
            ),
            people=unit.crowds,
        ),
    )


def _rule(axis: Lattice, many: int, *, by_itself: bool) -> Assumption:
    ends = "{column}: from {low} up to, not including, {high}"
    rest = "people beyond, or without a number, are left out"
    given = (("column", axis.column), ("low", to_text(axis.low)), ("high", to_text(axis.high)))
    step = ("step", to_text(axis.step))
    if by_itself:
        return Assumption("points.column.steps", f"{ends}, in steps of {{step}}; {rest}", (*given, step))
    sentence = f"{ends}, in cells of {{side}} with steps of {{step}}; {rest}"
    return Assumption("points.column", sentence, (*given, ("side", to_text(axis.step * many)), step))
