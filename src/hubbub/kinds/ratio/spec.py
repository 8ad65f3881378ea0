"""The ratio of two sums over the same rows, by bins or of all, as a value: everything about it that is public.

Cost for each day: the sum of one column divided by that of another, over rows that have both. Each value counts in whole
steps from 0 of its declared range. Half of epsilon is for either sum; their intervals are a box, and the ratio lies
between the lowest of one by the highest of the other and the other way round. How the two values of a row go together
is told by neither.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Self

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Derivation
from hubbub.kinds.statistic.spec import Statistic
from hubbub.noise.sampler import WIDEST
from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Check, Description, Files, Measurement, Result, Source
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure
from hubbub.tables.protection import Noise
from hubbub.tables.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio(Statistic):
    """The sum of a column divided by that of another, over the rows of each bin, or over all, that have both."""

    of: Measure
    per: Measure

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        if not isinstance(self.protection, Noise):
            raise WrongUse("a ratio of two sums is covered by plain noise only; use `epsilon=E` alone")
        if self.discovered:
            raise WrongUse("the bins of a ratio are declared; list them, like ward=A,B,other")
        if self.any_row or self.unit.expected_rows or self.subtotals:
            raise WrongUse("a ratio is of rows; leave out `any_row`, `expected_rows` and `totals`")
        if self.of.column == self.per.column:
            raise WrongUse("a ratio is of two columns; choose another for `of` or `per`")
        for measure in (self.of, self.per):
            if measure.low < 0 or (measure.low / measure.step).denominator != 1:
                raise WrongUse(
                    f"a ratio is of sums that count in whole steps from 0, and {measure.column} begins at "
                    f"{to_text(measure.low)}; declare a range from 0, or from a multiple of its step"
                )
        if min(self.rates) < WIDEST:
            raise WrongUse("noise wider than 10^12 steps is not drawn; declare a coarser step, or raise epsilon")

    @property
    def measured(self) -> Measure:
        return self.of

    @property
    def tops(self) -> tuple[int, int]:
        """The most that one row adds to either sum, in steps."""
        return int(self.of.high / self.of.step), int(self.per.high / self.per.step)

    @property
    def most_added(self) -> int:
        return max(self.tops)

    @property
    def sum_rate(self) -> Fraction | None:
        """None: each sum has a rate of its own."""
        return None

    @property
    def rates(self) -> tuple[Fraction, Fraction]:
        """Those of the noise of the two sums."""
        loss = self.noise_loss
        one, other = (loss / (2 * top) for top in self.tops)
        return one, other

    def with_schema(self, schema: Schema) -> Self:
        self.per.bind(schema)
        return Statistic.with_schema(self, schema)

    def promises(self) -> tuple[Derivation, ...]:
        from hubbub.kinds.ratio import promises

        return promises.promises(self)

    def checks(self) -> Iterator[Check]:
        from hubbub.kinds.ratio import promises

        return promises.checks(self)

    def describe(self) -> Description:
        from hubbub.kinds.ratio import text

        return text.describe(self)

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.ratio import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.ratio import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.ratio.load import load

        return load(self, files)
