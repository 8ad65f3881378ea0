"""Noisy points, as a value: everything about them that is public, before any data is opened.

Each person is a point in a declared box. Points in a cell with fewer than `crowd` people are deleted; each of the
others moves on the declared lattice by exact two-sided geometric noise along each column, of the rate epsilon divided
by the diameter of a cell: the example before Proposition 11 of the crowd-blending paper, in whole numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import ClassVar, Final, Self

from hubbub.channels.divergence import hockey_stick
from hubbub.channels.law import Law, two_sided
from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People
from hubbub.kinds.points import mechanism, text, wire
from hubbub.kinds.points import promises as points_promises
from hubbub.kinds.points.regions import Regions
from hubbub.kinds.points.space import Areas, Space
from hubbub.noise.sampler import SMALLEST_EPSILON
from hubbub.numeric.exact import INFINITY, Infinite, Loss, integer, to_text
from hubbub.protocol.check import Check
from hubbub.protocol.spec import Kind, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain
from hubbub.tables.privacy_unit import EACH_ROW, Unit
from hubbub.tables.schema import Schema, bind_axes, column

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
        """Guarantee: (crowd, epsilon)-crowd-blending, by the theorem of :mod:`hubbub.kinds.points.promises`."""
        return points_promises.promises(self)

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
        return wire.to_json(self)

    def size_hint(self) -> int:
        return _ROOM

    describe = text.describe
    measure = mechanism.measure
    present = mechanism.present
    load = mechanism.load
