"""A series and its periods, as values: everything that is public, declared before the first period."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from fractions import Fraction
from math import prod
from typing import Any, ClassVar, Final, Self

from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People
from hubbub.kinds.cube.margins import check_margins
from hubbub.kinds.histogram.wire import is_partition
from hubbub.kinds.series import mechanism, promises, text
from hubbub.protocol.capabilities import SeriesPart
from hubbub.protocol.check import Check
from hubbub.protocol.spec import CompositionInfo, Kind, Spec
from hubbub.query_classes.series import MOST_PERIODS, Blocks, Crowds, Factor
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain, digest
from hubbub.serialization.exact_json import UNSAID, plain, restored
from hubbub.tables import condition
from hubbub.tables.bins import Axis, Declared, Discovered, declared_size, size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.calendar import Calendar
from hubbub.tables.condition import Condition
from hubbub.tables.contribution import ContributionBounds, Moved
from hubbub.tables.privacy_unit import EACH_ROW, Unit
from hubbub.tables.schema import ColumnType, Schema, bind_axes, column

HISTOGRAM, COUNT, CUBE, SUM = "histogram", "count", "cube", "sum"
KINDS: Final = (HISTOGRAM, COUNT, CUBE, SUM)
MOST_NUMBERS: Final = 5_000_000
"""Of all periods together, each in every later file."""
_BYTES: Final = 160

Way = Blocks | Factor | Crowds


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """What is published in every period: declared whole, and charged once, before the first.

    A person counts in the first `recur` periods in which they have a row, and in no other: a rule of their own rows. Each
    period is a table of its own, with one row for each person, or, where the `unit` chooses, with several of which it says
    what counts; rows that come late count in the period in which they come.
    With a `date`, all periods are read from one table that grows: a row is of the period in which its date lies. Of
    each person the earliest row of a period for which they did not count yet counts, if that is out or is this one; so
    a row that comes late counts when it comes, and of several rows in a period the first does. Where the unit chooses, it
    does so among all rows of that period. Where rows are people, those of this period count, and a late one never does:
    nothing would tell it from one that counted.
    """

    name: str
    kind: str  # histogram, count, cube or sum
    calendar: Calendar
    recur: int
    way: Way
    axes: tuple[Axis, ...] = ()
    where: Condition | None = None
    of: Measure | None = None
    margins: tuple[tuple[str, ...], ...] = ()
    unit: Unit = EACH_ROW
    coverage: Fraction = Fraction(19, 20)
    date: str | None = field(default=None, metadata=UNSAID)  # the column that dates a row

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise WrongUse(
                f"a series is of {', '.join(KINDS)}, not {self.kind[:40]!r}: nothing else has increments that add up; "
                "choose one of these, or release each period by itself"
            )
        self._check_what()
        self._check_unit()
        if not 0 < self.coverage < 1:
            raise WrongUse("the coverage of a series lies between 0 and 1; choose one like 0.95")
        if not 1 <= self.recur <= self.calendar.periods <= MOST_PERIODS:
            raise WrongUse(
                f"a series has from 1 to {MOST_PERIODS:,} periods, and people in at least one of them; lower `recur`"
            )
        if self.unit.person is None and self.recur > 1:
            raise WrongUse("a row is in one period; leave out `recur`, or name the column of people with `person`")
        if (self.way.periods, self.way.recur) != (self.calendar.periods, self.recur):
            raise WrongUse(
                "the noise of a series is for other periods, or for people in more of them; get the original"
            )
        self._check_noise()

    def _check_what(self) -> None:
        found = next((axis.column for axis in self.axes if isinstance(axis, Discovered)), None)
        if found is not None:
            raise WrongUse(
                f"the bins of a series are declared, the same in every period, and those of {found} are not; declare them, "
                f"like {found}=a,b,other or {found}:0..100:10"
            )
        columns = [axis.column for axis in self.axes]
        if len(set(columns)) < len(columns):
            raise WrongUse("each column can be used once; combine its bins into one `by`")
        if self.kind in (HISTOGRAM, CUBE) and not self.axes:
            raise WrongUse(f"a {self.kind} needs at least one column; add `by=COLUMN`")
        if (self.of is not None) is not (self.kind == SUM):
            raise WrongUse(
                "`of` says what a sum adds up, like `of=fee:0..500:1`; say it for a sum, and for nothing else"
            )
        if self.of is not None and (self.of.low / self.of.step).denominator != 1:
            raise WrongUse("a sum counts in whole steps from 0; declare a range whose ends are multiples of its step")
        if self.kind == CUBE:
            check_margins(self.margins, columns, WrongUse)
        elif self.margins:
            raise WrongUse("margins are of a cube; leave them out, or start a series of a cube")
        if self.cells * self.calendar.periods > MOST_NUMBERS:
            raise WrongUse(f"a series has at most {MOST_NUMBERS:,} numbers in all; declare coarser bins")

    def _check_unit(self) -> None:
        unit = self.unit
        if unit.expected_rows or unit.unique_person or unit.rows_called is not None:
            raise WrongUse(
                "of several rows of a person a series takes `one_row_per_person`, `distinct`, `rows_per_person` and "
                "`rows_per_bin`; leave out the rest"
            )
        if unit.distinct is not None and (not self.axes or (self.kind == SUM and not unit.counts_rows)):
            raise WrongUse(
                "`distinct` is in how many bins a person counts; name bins with `by` (of a sum add `rows_per_person=M`), or "
                "leave it out"
            )
        if unit.chooses and not unit.one_row_per_person and (isinstance(self.way, Crowds) or self.sample is not None):
            raise WrongUse(
                "crowds and secret samples count each person once in a period; keep one row of each "
                "(`one_row_per_person=True`), or choose `epsilon` alone"
            )

    def _check_noise(self) -> None:
        way, moved = self.way, self.sensitivity
        if isinstance(way, Crowds):
            if self.kind == SUM:
                raise WrongUse("crowds show exact counts, and a sum is none; choose a count, or `epsilon=E`")
        elif isinstance(way, Blocks):
            if way.sample is not None and self.kind == SUM:
                raise WrongUse(
                    "a secret sample counts people, and a sum is no count; choose a count, or leave out `sample`"
                )
            if way.panel and self.unit.person is None:
                raise WrongUse(
                    "a panel knows people again; name the column of people with `person`, or leave out `panel`"
                )
            if way.l1 < moved.l1:
                raise WrongUse("the noise of a series is too small for what one person moves; get the original")
        elif way.squared < moved.l2_squared or way.moved < self.numbers_moved or (self.may_fall and not way.signed):
            raise WrongUse("the noise of a series is too small for what one person moves; get the original")

    @property
    def cells(self) -> int:
        """How many numbers one period has."""
        return declared_size(self.axes) or 0 if self.axes else 1

    def declared_axes(self, margin: tuple[str, ...] | None = None) -> tuple[Declared, ...]:
        """The columns of the bins, or those of a margin."""
        known = (axis for axis in self.axes if not isinstance(axis, Discovered))
        return tuple(axis for axis in known if margin is None or axis.column in margin)

    @property
    def sensitivity(self) -> Moved:
        """How far one person moves the numbers of a period that they are in: :func:`moved_in_a_period`."""
        return moved_in_a_period(self.unit, self.of, self.cells)

    @property
    def numbers_moved(self) -> int:
        """How many numbers of a period one person moves at most."""
        return bins_of_a_person(self.unit, self.cells)

    @property
    def may_fall(self) -> bool:
        """Whether somebody may make a number smaller."""
        return self.of is not None and self.of.low < 0

    @property
    def step(self) -> Fraction:
        """What 1 of a drawn number stands for."""
        return Fraction(1) if self.of is None else self.of.step

    @property
    def limits_people(self) -> bool:
        """Whether somebody's rows may be left out because they counted in enough periods."""
        return self.unit.person is not None and self.recur < self.calendar.periods

    @property
    def chooses_rows(self) -> bool:
        """Whether not every row of a table counts: by who it is about, or by its date."""
        return self.limits_people or self.date is not None or self.panel is not None

    @property
    def may_keep_one_row(self) -> bool:
        """Whether a period with several rows of a person can be published by one row of each, chosen secretly.

        Guarantee: true only where the promise is to people by what they move, which one row of several never exceeds; a
        crowd of kept rows is no crowd of people.
        """
        return self.unit.person is not None and not self.unit.chooses and not isinstance(self.way, Crowds)

    @property
    def panel(self) -> Fraction | None:
        """The rate of the secret sample of people that all periods count, if there is one."""
        return self.way.sample if isinstance(self.way, Blocks) and self.way.panel else None

    @property
    def sample(self) -> Fraction | None:
        """The rate of secret samples, if there are any: then all numbers are of those in them."""
        return self.way.sample if isinstance(self.way, Blocks) else None

    @property
    def columns(self) -> list[str]:
        """The columns that are read."""
        found = [axis.column for axis in self.axes]
        found += [self.unit.person] if self.unit.person is not None else []
        found += [self.of.column] if self.of is not None else []
        found += [self.date] if self.date is not None else []
        found += [leaf.column for leaf in self.where.leaves()] if self.where is not None else []
        return list(dict.fromkeys(found))

    def bind(self, schema: Schema) -> Self:
        """With what the schema tells; a series is bound by its first period, and every other must bind it alike."""
        if self.unit.person is not None:
            column(schema, self.unit.person)
        if self.date is not None and column(schema, self.date) not in (ColumnType.DATE, ColumnType.TEXT):
            raise WrongUse(
                f"the column {self.date} dates the rows of the series, and holds {column(schema, self.date).value} here; write "
                "dates like 2026-01-31"
            )
        if self.where is not None:
            condition.bind(self.where, schema)
        if self.of is not None:
            self.of.bind(schema)
        return replace(self, axes=bind_axes(self.axes, schema))

    def inside(self, margin: tuple[str, ...]) -> int:
        """How many cells add up to one of a margin."""
        return prod(size(axis) for axis in self.axes if axis.column not in margin and not isinstance(axis, Discovered))


def moved_in_a_period(unit: Unit, of: Measure | None, cells: int) -> Moved:
    """How far one person moves the numbers of one period, of so many cells, in steps.

    Guarantee: with one row, one number, a count by 1 and a sum by its largest value; with several, as far as
    :class:`hubbub.tables.contribution.ContributionBounds` says.
    """
    low, high = (1, 1) if of is None else (int(of.low / of.step), int(of.high / of.step))
    if unit.bounds is not None:
        return unit.bounds.sums(low, high, cells)
    if unit.distinct is not None:
        return ContributionBounds(distinct=unit.distinct).people(cells)
    largest = max(abs(low), abs(high))
    return Moved(largest, largest**2)


def bins_of_a_person(unit: Unit, cells: int) -> int:
    """In how many of so many cells one person counts at most, in one period."""
    bounds = unit.bounds or ContributionBounds(distinct=unit.distinct or 1)
    if bounds.distinct is None and bounds.rows_per_person is None:
        return cells
    return bounds.people(cells).l1


@dataclass(frozen=True, slots=True, kw_only=True)
class Period(Spec):
    """One period of a series: its files hold all periods up to this one.

    Guarantee: the promises are those of the whole series; a period adds none and takes none away.
    """

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.series.request
    series: Series
    period: str
    missed: tuple[str, ...] = ()  # periods so far that were not published: nobody was counted in them
    one_row_kept: tuple[str, ...] = field(
        default=(), metadata=UNSAID
    )  # periods so far in which one row of each person was kept though the series expects one: what a person moves is the same

    def __post_init__(self) -> None:
        labels = self.series.calendar.labels[: self.index]
        if not set(self.missed) <= set(labels) or list(self.missed) != sorted(set(self.missed), key=labels.index):
            raise WrongUse("the missed periods of a series come before the one that is published; get the original")
        labels = (*labels, self.period)
        kept = self.one_row_kept
        if not set(kept) <= set(labels) - set(self.missed) or list(kept) != sorted(set(kept), key=labels.index):
            raise WrongUse("rows are kept in periods that were published; get the original")
        if kept and not self.series.may_keep_one_row:
            raise WrongUse("this series says itself what counts of several rows; get the original")

    @property
    def index(self) -> int:
        return self.series.calendar.index(self.period)

    @property
    def people(self) -> People:
        return self.series.unit.people

    def with_schema(self, schema: Schema) -> Self:
        return replace(self, series=self.series.bind(schema))

    def promises(self) -> tuple[Derivation, ...]:
        """Guarantee: each is a theorem about all periods of the series together."""
        return promises.promises(self.series, self.one_row_kept)

    def composition(self) -> CompositionInfo:
        way = self.series.way
        if isinstance(way, Crowds):
            return CompositionInfo(partition=self._partition(), exact_crowds=not self.series.unit.chooses)
        return CompositionInfo(noises=(way.gaussian_noise,) if isinstance(way, Factor) else ())

    def _partition(self) -> str | None:
        """A name for the partition of people by bins and periods, or None if a person has no fixed place in it.

        Guarantee: equal names mean that everybody who counts does so by the same bins, calendar, dates and condition.
        """
        series = self.series
        if series.unit.chooses:
            return None
        bins: list[Plain] = [plain(axis) for axis in series.axes]
        where = None if series.where is None else plain(series.where)
        named: dict[str, Plain] = {"bins": bins, "calendar": plain(series.calendar), "person": series.unit.person}
        return digest({**named, "date": series.date, "where": where})

    def checks(self) -> Iterator[Check]:
        return promises.checks(self.series)

    def unverified_fields(self) -> tuple[str, ...]:
        return ("how often an interval is right: no promise to people rests on it", "the name of the series")

    def to_json(self) -> dict[str, Plain]:
        fields = plain(self)
        assert isinstance(fields, dict)
        return {name: value for name, value in fields.items() if name != "is"}

    def size_hint(self) -> int:
        return (1 << 20) + 2 * _BYTES * self.series.cells * (self.index + 1)

    @property
    def part(self) -> SeriesPart:
        return SeriesPart(
            series=plain(self.series),
            period=self.period,
            index=self.index,
            earlier=self.series.calendar.labels[: self.index],
            missed=self.missed,
        )

    drawn_digests = mechanism.drawn_digests
    describe = text.describe
    measure = mechanism.measure
    present = mechanism.present
    load = mechanism.load


def read(given: Any) -> Period:
    """The period that a description says, checked as if somebody had asked for it."""
    found: Period = restored(Period, {**dict(given), "is": Period.__name__})
    if not all(map(is_partition, found.series.axes)):
        raise CheckFailed("the bins of the series are no partition; get the original certificate")
    return found


def read_series(given: Any) -> Series:
    """The series that a ledger has written down."""
    found: Series = restored(Series, given)
    return found
