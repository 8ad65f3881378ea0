"""Noisy points, as a value: everything about them that is public, before any data is opened.

Each person is a point in a declared box. Points in a cell with fewer than `crowd` people are deleted; each of the
others moves on the declared lattice by exact two-sided geometric noise along each column, of the rate epsilon divided
by the diameter of a cell: the example before Proposition 11 of the crowd-blending paper, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from hubbub.channels.divergence import hockey_stick
from hubbub.channels.law import Law, two_sided
from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import CrowdBlending
from hubbub.guarantees.derivation import GHLP, HERE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.people import People
from hubbub.kinds.histogram.promises import KEPT_ROWS
from hubbub.kinds.points import mechanism, text
from hubbub.kinds.points.quadtree import Quadtree
from hubbub.kinds.points.regions import Region, Regions
from hubbub.kinds.points.space import Areas, Space
from hubbub.noise.sampler import SMALLEST_EPSILON
from hubbub.numeric.exact import INFINITY, Infinite, Loss, integer, to_text
from hubbub.protocol.check import Check
from hubbub.protocol.spec import Kind, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import plain, restored
from hubbub.tables.bins import Lattice
from hubbub.tables.privacy_unit import EACH_ROW, Unit
from hubbub.tables.schema import Schema, bind_axes, column

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
_ROOM: Final = 1 << 26  # bytes: how many points there are is not known beforehand
_LARGEST: Final = Fraction(50)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisyPoints(Spec):
    """Points of people, those of small cells deleted, the others moved. With `clamp`, those that leave the box are put
    back on its edge afterwards; `within` is a distance for which it is said how often no point moved further."""

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.points.request
    space: Space
    crowd: int
    epsilon: Fraction
    unit: Unit = EACH_ROW
    within: Fraction | None = None
    clamp: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "crowd", integer(self.crowd, "crowd", least=2))
        if not 0 < self.epsilon <= _LARGEST:
            raise WrongUse(f"epsilon must be above 0 and at most 50, not {to_text(self.epsilon)}; choose such a one")
        if self.unit.distinct is not None or self.unit.counts_rows or self.unit.expected_rows:
            raise WrongUse("a person is one point; keep one row of each (`one_row_per_person=True`)")
        if self.within is not None and self.within <= 0:
            raise WrongUse(f"within is a distance above 0, not {to_text(self.within)}; choose another")
        rate = self.rate
        if rate < SMALLEST_EPSILON:
            raise WrongUse(
                f"a cell is {self.space.diameter:,} steps of the lattice across, and noise is drawn up to a million "
                "steps wide: the steps divided by epsilon; declare a coarser `lattice` or a larger `epsilon`"
            )

    @property
    def rate(self) -> Loss:
        """Of the noise along each column, per step: epsilon over the diameter of a cell, the widest one of all."""
        return min(self.rates)

    @property
    def rates(self) -> tuple[Loss, ...]:
        """The same for each region or cell of a quadtree; that of the cells of a grid is one."""
        return tuple(self.epsilon / steps if steps else INFINITY for steps in self.space.diameters)

    @property
    def loss(self) -> Fraction:
        """What people of one cell may lose: nothing where a cell is one position."""
        return self.epsilon if self.space.diameter else Fraction(0)

    @property
    def people(self) -> People:
        return self.unit.people

    def with_schema(self, schema: Schema) -> Self:
        if self.unit.person is not None:
            column(schema, self.unit.person)
        bind_axes(self.space.axes, schema)
        return self

    def promises(self) -> tuple[Derivation, ...]:
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
        unit = self.unit
        return (
            state_promise(
                CrowdBlending(k=self.crowd, epsilon=self.loss),
                theorem=THEOREM,
                numbers=texts(crowd=self.crowd, epsilon=self.epsilon, diameter=self.space.diameter, rate=self.rate),
                assumptions=(
                    REGIONS if isinstance(self.space.areas, Regions) else CELLS,
                    *(
                        _rule(axis, many, by_itself=self.space.areas is not None)
                        for axis, many in zip(self.space.axes, self.space.per_cell, strict=True)
                    ),
                    ORDER,
                    unit.assumption,
                    *((KEPT_ROWS,) if unit.one_row_per_person else ()),
                ),
                people=unit.crowds,
            ),
        )

    def checks(self) -> Iterator[Check]:
        """The noise of two positions of a cell, column by column, as exact laws.

        Guarantee: if all pass, the laws of any two positions of a cell are epsilon-close: along each column those that
        are furthest apart differ by at most rate times steps, and these add up to at most epsilon.
        """
        if self.space.areas is not None:
            yield from self._areas_checked(self.space.areas)
            return
        rate, spent = self.rate, Fraction(0)
        for axis, many in zip(self.space.axes, self.space.per_cell, strict=True):
            if many == 1 or isinstance(rate, Infinite):
                continue
            share = rate * (many - 1)
            spent += share
            ends = [Law(two_sided(at, rate)) for at in (0, many - 1)]
            apart = hockey_stick(ends[0], ends[1], share) + hockey_stick(ends[1], ends[0], share)
            found = f"positions {many - 1:,} steps apart are {to_text(share)[:30]}-close"
            yield Check(f"the noise along {axis.column}", bool(apart.is_zero()), found)
        sum_text = f"{to_text(spent)} of {to_text(self.loss)}, over all columns"
        yield Check("what people of one cell lose", spent <= self.loss, sum_text)

    def _areas_checked(self, areas: Areas) -> Iterator[Check]:
        """Two positions of a cell as far apart as can be, along one column: no two lose more together."""
        for name, steps, rate in zip(areas.names, self.space.diameters, self.rates, strict=True):
            close = isinstance(rate, Infinite)
            if not isinstance(rate, Infinite):
                ends = [Law(two_sided(at, rate)) for at in (0, steps)]
                apart = hockey_stick(ends[0], ends[1], self.epsilon) + hockey_stick(ends[1], ends[0], self.epsilon)
                close = bool(apart.is_zero()) and rate * steps <= self.epsilon
            found = f"positions {steps:,} steps apart are {to_text(self.epsilon if steps else Fraction(0))}-close"
            yield Check(f"the noise in {name[:60]}", close, found)

    def unverified_fields(self) -> tuple[str, ...]:
        fields = ["within: no promise to people rests on how far points may move"]
        if not self.clamp:
            fields.append("clamp: whether points beyond the box were put back on its edge, if none lies beyond")
        if isinstance(self.space.areas, Regions):
            fields.append("the names of regions, and their shapes as far as none grows wider: no point shows them")
        if self.unit.person is not None:
            fields.append(f"the name of the column that says who is who, {self.unit.person}")
        if not self.space.diameter:
            fields.append("epsilon: where a cell is one position, points do not move")
        return tuple(fields)

    def to_json(self) -> dict[str, Plain]:
        return {
            "cells": _cells(self.space.areas),
            "columns": [
                {
                    "column": axis.column,
                    "low": to_text(axis.low),
                    "step": to_text(axis.step),
                    "steps": axis.steps,
                    "cell": many,
                }
                for axis, many in zip(self.space.axes, self.space.per_cell, strict=True)
            ],
            "crowd": self.crowd,
            "epsilon": to_text(self.epsilon),
            "unit": plain(self.unit),
            "within": None if self.within is None else to_text(self.within),
            "clamp": self.clamp,
        }

    def size_hint(self) -> int:
        return _ROOM

    describe = text.describe
    measure = mechanism.measure
    present = mechanism.present
    load = mechanism.load


def read(given: Any) -> NoisyPoints:
    """The release that a description says, checked as if somebody had asked for it."""
    return NoisyPoints(
        space=Space(
            tuple(_axis(each) for each in given["columns"]),
            tuple(restored(int, each["cell"]) for each in given["columns"]),
            _areas(given["cells"]),
        ),
        crowd=restored(int, given["crowd"]),
        epsilon=restored(Fraction, given["epsilon"]),
        unit=restored(Unit, given["unit"]),
        within=restored(Fraction | None, given["within"]),
        clamp=restored(bool, given["clamp"]),
    )


def _cells(areas: Areas | None) -> Plain:
    if isinstance(areas, Quadtree):
        return {"quadtree": list(areas.cut)}
    return "grid" if areas is None else [_region_json(region) for region in areas.regions]


def _areas(given: Any) -> Areas | None:
    if isinstance(given, dict):
        return Quadtree(restored(tuple[str, ...], given["quadtree"]))
    return None if given == "grid" else Regions(tuple(map(_region, given)))


def _region_json(region: Region) -> Plain:
    return {"name": region.name, "rings": [[[to_text(x), to_text(y)] for x, y in ring] for ring in region.rings]}


def _region(given: Any) -> Region:
    rings = restored(tuple[tuple[tuple[Fraction, ...], ...], ...], given["rings"])
    return Region(restored(str, given["name"]), tuple(tuple((x, y) for x, y in ring) for ring in rings))


def _axis(given: Any) -> Lattice:
    return Lattice(
        column=restored(str, given["column"]),
        low=restored(Fraction, given["low"]),
        step=restored(Fraction, given["step"]),
        steps=restored(int, given["steps"]),
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
