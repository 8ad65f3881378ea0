"""What is public of any statistic that is declared as :class:`hubbub.kinds.sums.sums.Sums`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Any, Self

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Derivation
from hubbub.kinds.statistic.spec import Statistic
from hubbub.kinds.sums.sums import Sums
from hubbub.noise.sampler import WIDEST
from hubbub.noise.source import Source
from hubbub.protocol.spec import Check, Description, Files, Measurement, Result
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure
from hubbub.tables.protection import Crowd, Knowledge, Route
from hubbub.tables.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared(Statistic):
    """A statistic by bins, of which `declare` says all that is its own."""

    def declare(self) -> Sums:
        """Its declaration; :attr:`sums` keeps it."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        name = self.kind.name
        if isinstance(self.protection, Crowd) and self.protection.epsilon is None:
            raise WrongUse("what a crowd has together is shown with noise; say how much it may lose, with `epsilon=E`")
        if isinstance(self.protection, Knowledge) and self.protection.route is Route.EXACT:
            raise WrongUse("noise on the exact number is for one share of all people; draw a sample instead")
        if self.any_row or self.unit.expected_rows or self.subtotals:
            raise WrongUse(f"a {name} is of the rows that were kept; leave out `any_row`, `expected_rows` and `totals`")
        if min(self.sums.rates) < WIDEST:
            raise WrongUse("noise wider than 10^12 steps is not drawn; declare a coarser step, or raise epsilon")

    @property
    def sums(self) -> Sums:
        return _declared(self)

    @property
    def measures(self) -> tuple[Measure, ...]:
        return self.sums.measures

    @property
    def measured(self) -> Measure:
        return self.measures[0]

    @property
    def most_added(self) -> int:
        return self.sums.largest

    @property
    def sum_rate(self) -> Fraction | None:
        """None: each column has a rate of its own."""
        return None

    def with_schema(self, schema: Schema) -> Self:
        for measure in self.measures:
            measure.bind(schema)
        return Statistic.with_schema(self, schema)

    def promises(self) -> tuple[Derivation, ...]:
        from hubbub.kinds.sums import promises

        return promises.promises(self)

    def checks(self) -> Iterator[Check]:
        from hubbub.kinds.sums import promises

        return promises.checks(self)

    def describe(self) -> Description:
        from hubbub.kinds.sums import text

        return text.describe(self)

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.sums import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.sums import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.sums.load import load

        return load(self, files)


@lru_cache(maxsize=256)
def _declared(spec: Declared) -> Sums:
    return spec.declare()
