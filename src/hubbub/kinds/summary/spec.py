"""Several numbers of the same bins as a value: everything about them that is public.

People, rows, totals and averages of the bins of one table, as a query asks for them side by side. Each number has an
equal part of epsilon, and what is left of a person in a bin is a vector of small numbers: 1, at most c rows, a total
within its range, the steps x and W - x of an average. Of people with several rows all of them count, in at most B bins.

::

    geometric   the number i of a bin has noise of the rate (epsilon/k)/(B w_i), w_i being how far one person moves it
    Gaussian    each is counted in widths w_i, of which one person moves k in each of B bins
    found bins  are shown if their number of people comes out above a threshold, for a delta
    rows        without a cap a fifth of their part chooses one, by how many people have so many rows in a bin
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, Self

from hubbub.channels.mechanisms.warped import Warped
from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import Sensitivity
from hubbub.guarantees.curve import flat
from hubbub.guarantees.derivation import Derivation
from hubbub.kinds.histogram.discovery import smallest_threshold
from hubbub.kinds.sum.cap import grid
from hubbub.kinds.summary.numbers import (
    Average,
    Number,
    PeopleCount,
    RowCount,
    Total,
    as_read,
    drawn_columns,
    interval_columns,
    status_column,
)
from hubbub.kinds.sums.spec import Statistic
from hubbub.noise.sampler import WIDEST
from hubbub.noise.source import Source
from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Check, Description, Files, Measurement, Result
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import UNSAID
from hubbub.tables.bins import Discovered
from hubbub.tables.bounded_column import Measure
from hubbub.tables.protection import Noise
from hubbub.tables.schema import ColumnType, Schema

MOST_NUMBERS: Final = 20
_FOR_CAP: Final = Fraction(1, 5)  # of the part of rows, for a cap that is drawn
_BYTES: Final = 200  # of a number of a bin


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Statistic):
    """Several numbers of each bin, or of everybody."""

    numbers: tuple[Number, ...]
    found_delta: Fraction | None = field(default=None, metadata=UNSAID)  # that may show a bin of one person

    def __post_init__(self) -> None:
        _check_numbers(self)
        if self.discovered and self.found_delta is None:
            raise WrongUse(
                "bins that are found in the data need a delta; add `delta=1e-6`, or list them, like ward=A,B,other, or in a "
                "data dictionary"
            )
        if self.found_delta is not None:
            _check_found(self)
        Statistic.__post_init__(self)
        if not isinstance(self.protection, Noise):
            raise WrongUse("several numbers of a bin are covered by plain noise only; use `epsilon=E`")
        if self.any_row or self.unit.expected_rows or self.subtotals:
            raise WrongUse("a summary is of all rows that count; leave out `any_row`, `expected_rows` and `totals`")
        if self.gaussian is None and min(self.rate(each, self.most_rows) for each in self.numbers) < WIDEST:
            raise WrongUse("noise wider than 10^12 steps is not drawn; declare a coarser step, or raise epsilon")

    # --- what is public -------------------------------------------------------------------------------------------

    @property
    def most_bins(self) -> int:
        """B: in how many bins a person is at most."""
        return 1 if self.unit.bounds is None else self.unit.bounds.people(self.bins or None).l1

    @property
    def most_rows(self) -> int:
        """How many rows of a person count in a bin, before caps."""
        bounds = self.unit.bounds
        if bounds is None:
            return 1
        return min(each for each in (bounds.rows_per_person, bounds.rows_per_bin) if each is not None)

    def width(self, number: Number, cap: int | None = None) -> int:
        """How far one person moves it in one bin, in steps; of rows up to a cap, if one was drawn.

        Guarantee: the largest there is: 1 of people, the cap of rows, the larger end of a total, and of an average the
        steps W that x and W - x are together.
        """
        match number:
            case RowCount():
                return min(self.most_rows, *(each for each in (number.cap, cap) if each is not None))
            case Total():
                return max(1, *map(abs, number.ends))
            case Average(of=of):
                return of.steps
            case _:
                return 1

    def moved_by_one(self, number: Number, cap: int | None = None) -> int:
        """How far one person moves it in all bins together, in steps.

        Guarantee: never below what is possible: a person is in at most B bins, and of rows has no more than are kept.
        """
        whole = self.most_bins * self.width(number, cap)
        most = self.unit.rows_per_person
        return whole if most is None or not isinstance(number, RowCount) else min(whole, most)

    @property
    def part(self) -> Fraction:
        """What each number may lose of epsilon."""
        return self.noise_loss / len(self.numbers)

    def for_cap(self, number: Number) -> Fraction:
        """What the choice of a cap may lose of the part of a number."""
        return self.part * _FOR_CAP if isinstance(number, RowCount) and number.cap is None else Fraction(0)

    def rate(self, number: Number, cap: int | None = None) -> Fraction:
        """Of the geometric noise of it."""
        return (self.part - self.for_cap(number)) / self.moved_by_one(number, cap)

    def variance(self, number: Number) -> Fraction:
        """The s2 of the Gaussian noise of it: that of one width, times its square.

        Guarantee: somebody who moves number i of a bin by x_i is told from nobody by a normal pair of the squared
        distance sum of x_i^2/(s2 w_i^2 - k2), at most the sum of (x_i/w_i)^2/(s2 - k2), as no width is below 1: Lemma C
        for noise s2 on what `sensitivity` says.
        """
        assert self.gaussian is not None
        return self.gaussian.s2 * self.width(number) ** 2

    @property
    def cap_points(self) -> tuple[int, ...]:
        """The caps on rows that may be drawn."""
        return grid(0, self.most_rows)

    @property
    def sensitivity(self) -> Sensitivity | None:
        """In widths: whoever is in a bin moves each of its numbers by at most one, and an average's two by one together.

        Guarantee: the largest there is where rows are not bounded in all; |x|^2 <= |x| below 1, so that squares add up
        to no more. None where a cap is drawn, which is no noise, and where bins are found, which have a delta already.
        """
        if self.discovered or any(self.for_cap(each) for each in self.numbers):
            return None
        every = self.most_bins * len(self.numbers)
        integers = sum(len(drawn_columns(each)) for each in self.numbers)
        signed = any(isinstance(each, Total) and each.of.low < 0 for each in self.numbers)
        return Sensitivity(l1=every, l2_squared=every, moved=self.most_bins * integers, signed=signed)

    @property
    def finds_bins(self) -> bool:
        return self.found_delta is not None

    @property
    def people_channel(self) -> Warped:
        """From how many people a found bin has to what is published of it: J above the threshold, or nothing.

        Guarantee: the threshold is the least at which the B bins of somebody who is alone in all of them are seen with a
        chance of at most `found_delta`.
        """
        assert self.found_delta is not None
        return _people_channel(self.part / self.most_bins, self.found_delta / self.most_bins)

    @property
    def counted_people(self) -> PeopleCount:
        """The number by which a found bin is shown, or one sentence."""
        found = next((each for each in self.numbers if isinstance(each, PeopleCount)), None)
        if found is None:
            raise WrongUse(
                "bins that are found in the data are shown by how many people they have; ask for people too (in SQL for "
                "COUNT(DISTINCT unit)), or list the bins, like ward=A,B,other"
            )
        return found

    @property
    def unit_loss(self) -> Fraction | None:
        """Of one person, with all rows that count; None where the noise is Gaussian."""
        if not isinstance(self.protection, Noise) or self.protection.variance is not None:
            return None
        return self.protection.epsilon

    @property
    def most_added(self) -> int:
        return max(self.width(each, self.most_rows) for each in self.numbers)

    @property
    def sum_rate(self) -> Fraction | None:
        """None: each number has a rate of its own."""
        return None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """How the cells of the columns that are measured are read, each way once."""
        return tuple(dict.fromkeys(as_read(each.of) for each in self.numbers if isinstance(each, Total | Average)))

    def with_schema(self, schema: Schema) -> Self:
        for measure in self.measures:
            measure.bind(schema)
        known = Statistic.with_schema(self, schema)
        if not known.discovered:
            return replace(known, found_delta=None)
        known.counted_people  # noqa: B018  # refuses where there is none
        for axis in known.axes:
            if isinstance(axis, Discovered) and schema[axis.column] is not ColumnType.TEXT:
                raise WrongUse(
                    f"bins are found in columns of text, and {axis.column} holds {schema[axis.column].value}; declare "
                    f"its bins, like {axis.column}:0..100:10, or in a data dictionary"
                )
        return known

    def size_hint(self) -> int:
        return (1 << 20) + _BYTES * self.bins * len(self.numbers)

    def promises(self) -> tuple[Derivation, ...]:
        from hubbub.kinds.summary import promises

        return promises.promises(self)

    def checks(self) -> Iterator[Check]:
        from hubbub.kinds.summary import promises

        return promises.checks(self)

    def describe(self) -> Description:
        from hubbub.kinds.summary import text

        return text.describe(self)

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.summary import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.summary import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.summary.load import load

        return load(self, files)


@lru_cache(maxsize=64)
def _people_channel(rate: Fraction, delta: Fraction) -> Warped:
    return Warped(flat(rate), smallest_threshold(rate, delta))


def _check_found(spec: Summary) -> None:
    assert spec.found_delta is not None
    if not 0 < spec.found_delta < 1:
        raise WrongUse(f"delta must lie between 0 and 1, not {to_text(spec.found_delta)}; choose one like 1e-6")
    if any(isinstance(axis, Discovered) and axis.unit is not None for axis in spec.axes):
        raise WrongUse("periods are declared, like day:month:2024-01..2024-12; list them so")


def _check_numbers(spec: Summary) -> None:
    numbers = spec.numbers
    if not 1 <= len(numbers) <= MOST_NUMBERS:
        raise WrongUse(
            f"a summary has from 1 to {MOST_NUMBERS} numbers; say each with `number`, like people or 'rows 5'"
        )
    columns = [
        name for each in numbers for name in (*drawn_columns(each), *interval_columns(each), status_column(each))
    ]
    if len(set(columns)) < len(columns):
        raise WrongUse("two numbers of a summary are called alike; give them names, as in 'visits = rows 5'")
    if any(isinstance(each, RowCount) for each in numbers) and not spec.unit.counts_rows:
        raise WrongUse(
            "rows are counted of people who have several; say in how many bins with `distinct=B`, or ask for people"
        )
