"""What is public of any statistic by bins, as a value: whose it is, how people are protected, how sure an interval is.

Everything that a statistic has of its own (a count, a mean, a ratio) is its declaration, :meth:`Declared.declare`; a
quantile, which is no sum, says the same things by itself.

People with several rows either count by one of them, chosen secretly among all of theirs before any is looked at; or by
several, within bounds (:mod:`hubbub.tables.contribution`); or by whether any of them meets the condition, in each of at
most `Unit.distinct` bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields, replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

from hubbub.channels.protocol import Channel
from hubbub.errors import CheckFailed, HubbubError, WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise, Sensitivity
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People
from hubbub.guarantees.survey import PoissonSurvey
from hubbub.kinds.histogram.wire import is_partition
from hubbub.kinds.sums.sums import Estimate, Number, Phrases, Sums
from hubbub.kinds.sums.weights import check_weight
from hubbub.noise.sampler import SMALLEST_EPSILON, WIDEST
from hubbub.noise.source import Source
from hubbub.protocol.spec import Check, CompositionInfo, Description, Files, Kind, Measurement, Result, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import UNSAID, agrees, plain, restored
from hubbub.tables import condition
from hubbub.tables.bins import Axis, Discovered, declared_size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.estimation import check_expected_rows
from hubbub.tables.privacy_unit import EACH_ROW, Unit, within_bins
from hubbub.tables.protection import Crowd, Knowledge, Noise, Protection, Route
from hubbub.tables.schema import Schema, bind_axes, column

MOST_BINS: Final = 100_000
_BYTES_PER_BIN: Final = 300

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Theorem
    from hubbub.kinds.sums.columns import Row
    from hubbub.kinds.sums.mechanism import Cells


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(Spec):
    """One number for each bin of a public partition, or one for everybody."""

    kind: ClassVar[Kind]  # set where the kind is made, below each statistic
    axes: tuple[Axis, ...]
    where: Condition | None
    protection: Protection
    unit: Unit = EACH_ROW
    coverage: Fraction = Fraction(19, 20)
    subtotals: bool = field(default=False, metadata=UNSAID)  # what bins come to together, beside them

    def __post_init__(self) -> None:
        if len({axis.column for axis in self.axes}) < len(self.axes):
            raise WrongUse("each column can be used once; combine its bins into one `by`")
        if self.bins > MOST_BINS:
            raise WrongUse(f"a statistic has at most {MOST_BINS:,} bins; declare coarser ones, or release a histogram")
        if not 0 < self.coverage < 1:
            raise WrongUse("the coverage of a statistic lies between 0 and 1; choose one like 0.95")
        if any(isinstance(axis, Discovered) and axis.coarser is not None for axis in self.axes):
            raise WrongUse(
                "the bins of a statistic are declared, or every value that occurs; leave out what is coarser"
            )
        if self.unit.counts_rows or self.unit.moved(self.bins or None) > 1:
            _check_several(self)
        if self.any_row:
            _check_any_row(self)
        if self.unit.expected_rows:
            _check_expected(self)
        if self.subtotals:
            _check_subtotals(self)
        if not isinstance(self.protection, Crowd) and self.protection.variance is not None:
            _check_gaussian(self)
        if self.sum_rate is not None and self.sum_rate < SMALLEST_EPSILON:
            raise WrongUse("noise wider than a million steps is not drawn; declare a coarser step, or raise epsilon")
        if (
            isinstance(self.protection, Knowledge)
            and self.protection.route is Route.EXACT
            and not self.has_single_unknown
        ):
            raise WrongUse("noise on the exact number is for one share of all people; draw a sample instead")

    # --- what is public -------------------------------------------------------------------------------------------

    @property
    def discovered(self) -> bool:
        """Whether some of its bins are found in the data."""
        return any(isinstance(axis, Discovered) for axis in self.axes)

    @property
    def finds_bins(self) -> bool:
        """Whether bins that are found in the data are shown by a noisy number of people that is high enough."""
        return False

    @property
    def any_row(self) -> bool:
        """Whether a person of several rows counts if any of them meets the condition."""
        return self.unit.distinct is not None and not self.unit.counts_rows

    @property
    def profiled(self) -> bool:
        """Whether crowds are of people with equally many rows in each bin."""
        return isinstance(self.protection, Crowd) and self.unit.counts_rows

    @property
    def moved(self) -> int:
        """The sensitivity of the table of what counts: by how many rows one person changes it; where any row of a
        person counts, by how many bins; with design weights, times the largest weight in steps."""
        return self.unit.moved(self.bins or None) * (1 if self.weighted_by is None else self.weighted_by.steps)

    @property
    def sensitivity(self) -> Sensitivity | None:
        """How far one person moves all numbers that get noise, together: counts, or the sums of x and of W - x; None
        where Gaussian noise is not for it."""
        return None

    @property
    def gaussian(self) -> GaussianNoise | None:
        """The Gaussian noise on its numbers, where one person comes or goes, or of a sample is replaced by another; None
        where it has another noise, or none."""
        if isinstance(self.protection, Crowd) or self.protection.variance is None or self.sensitivity is None:
            return None
        noise = self.sensitivity.gaussian(self.protection.variance)
        return noise if isinstance(self.protection, Noise) or self.has_single_unknown else noise.under_replacement()

    @property
    def weighted_by(self) -> Measure | None:
        """The design weights that people count with."""
        return None

    @property
    def survey(self) -> PoissonSurvey | None:
        """The secret survey that the table was declared to be."""
        return None

    @property
    def totals(self) -> tuple[Fraction, ...] | None:
        """How many people there are in every bin, as everybody knows, if the numbers are put together by that."""
        return None

    @property
    def number_unit(self) -> Fraction:
        """What 1 of a count stands for: a person, or a step of the weights."""
        return Fraction(1) if self.weighted_by is None else self.weighted_by.step

    @property
    def bins(self) -> int:
        """How many there are; 0 where they are found in the data."""
        return declared_size(self.axes) or 0 if self.axes else 1

    @property
    def steps(self) -> int:
        """W: how far one person moves a sum."""
        return 1

    @property
    def most_added(self) -> int:
        """The most that one row adds to any number that is drawn, in absolute value."""
        return self.steps * (1 if self.weighted_by is None else self.weighted_by.steps)

    @property
    def measured(self) -> Measure | Condition | None:
        """What is added up."""
        return None

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The columns whose values are added up or ranked."""
        return (self.measured,) if isinstance(self.measured, Measure) else ()

    @property
    def ranked(self) -> bool:
        """Whether its numbers are drawn by their rank, and not sums with noise."""
        return False

    @property
    def counted_where(self) -> Condition | None:
        """Which people count at all."""
        return self.where

    @property
    def by_value(self) -> bool:
        """Whether people have to be counted by their steps, and not added up by bins."""
        return isinstance(self.measured, Measure) and self.sampled

    @property
    def has_single_unknown(self) -> bool:
        """Whether it is one count of all people, each of whom has it or not."""
        return False

    @property
    def unit_loss(self) -> Fraction | None:
        """Epsilon per row: the noise rate on a count. With noise, and for crowds by numbers of rows, epsilon divided by
        the sensitivity `moved`; for other crowds epsilon itself; for zero-knowledge the rate of the protection, divided
        by twice the sensitivity where one person replaces another. None where no noise is added, or it is Gaussian."""
        match self.protection:
            case Noise(variance=Fraction()) | Knowledge(variance=Fraction()):
                return None
            case Crowd(epsilon=epsilon):
                return epsilon if epsilon is None or not self.profiled else epsilon / self.moved
            case Noise(epsilon=epsilon):
                return epsilon / self.moved
            case Knowledge() as knowledge if self.blank is Blank.HALF_WAY:
                return knowledge.rate / (2 * self.moved)  # one who is replaced costs twice what one costs who comes
            case Knowledge(rate=rate):
                return rate

    @property
    def noise_loss(self) -> Fraction:
        """:attr:`unit_loss` where noise is added by a rate, so that there is one."""
        loss = self.unit_loss
        assert loss is not None, "no noise by a rate"
        return loss

    @property
    def most_in_a_bin(self) -> int:
        """How many rows of a person count in one bin at most."""
        return self.unit.moved(1)

    @property
    def sum_rate(self) -> Fraction | None:
        """The noise rate on a sum of steps: epsilon per row divided by W, the sensitivity of the sum to one row."""
        return None if self.unit_loss is None else self.unit_loss / self.steps

    @property
    def blank(self) -> Blank:
        """What stands for a person whom the simulator does not see: nobody, or a coin where rows have two values."""
        return Blank.COIN if self.has_single_unknown else Blank.HALF_WAY

    @property
    def channel(self) -> Channel | None:
        """The channel from a count to what is published, where only counts are."""
        return None

    @property
    def sampled(self) -> bool:
        """Whether a secret sample is drawn."""
        match self.protection:
            case Crowd(sample=sample):
                return sample is not None
            case Knowledge(route=route):
                return route is Route.SAMPLE
            case _:
                return False

    @property
    def people(self) -> People:
        return self.unit.people

    @property
    def enforced_number(self) -> int | None:
        return self.protection.people if isinstance(self.protection, Knowledge) else None

    def with_schema(self, schema: Schema) -> Self:
        if self.unit.person is not None:
            column(schema, self.unit.person)
        if self.where is not None:
            condition.bind(self.where, schema)
        for measure in (self.measured, self.weighted_by):
            if isinstance(measure, Measure):
                measure.bind(schema)
        axes = bind_axes(self.axes, schema)  # a boolean column declares its own
        known = replace(self, axes=axes, unit=within_bins(self.unit, axes))
        check_found(known)
        return known

    def composition(self) -> CompositionInfo:
        at_delta = self.protection.at_delta if isinstance(self.protection, Crowd) else Fraction(1, 10**9)
        noises = () if self.gaussian is None else (self.gaussian,)
        return CompositionInfo(at_delta=at_delta, collected=self.survey, noises=noises)

    def table_promises(self) -> tuple[Derivation, ...]:
        """Without what is promised to the population of a survey: that is worked out for all its releases together."""
        return tuple(step for step in self.promises() if step.people == self.people or self.survey is None)

    def unverified_fields(self) -> tuple[str, ...]:
        fields = ["how often an interval is right: no promise to people rests on it"]
        if self.unit.person is not None:
            fields.append(f"the name of the column that says who is who, {self.unit.person}")
        return tuple(fields)

    # --- what it says of its own ----------------------------------------------------------------------------------

    @property
    def theorem(self) -> Theorem:
        """By which theorem its noise keeps the promise, and :attr:`stated` by which numbers."""
        raise NotImplementedError

    @property
    def stated(self) -> tuple[tuple[str, str], ...]:
        """The numbers of the certificate."""
        raise NotImplementedError

    @property
    def columns(self) -> tuple[str, ...]:
        """The integers that are drawn for each bin."""
        raise NotImplementedError

    @property
    def published(self) -> tuple[str, ...]:
        """Those of them that stand beside the answers in the file."""
        return self.columns

    @property
    def outputs(self) -> tuple[Number, ...]:
        """What is told of each bin."""
        raise NotImplementedError

    @property
    def possible(self) -> tuple[Fraction, Fraction] | None:
        """The declared range in which the first number lies; None where there is none."""
        return None

    @property
    def phrases(self) -> Phrases:
        """The nouns of its sentences."""
        raise NotImplementedError

    def draw_rows(self, cells: Cells, source: Source) -> list[Row]:
        """The noisy integers of every bin.

        Guarantee: with the noise by which :attr:`theorem` keeps the promise.
        """
        raise NotImplementedError

    def estimate(self, rows: list[Row]) -> list[tuple[Estimate, ...]]:
        """What the integers of every bin say; a ValueError if they are none that such a release publishes."""
        raise NotImplementedError

    def estimate_total(self, rows: list[Row]) -> Estimate:
        """What the integers of several bins say of all of them together."""
        raise NotImplementedError

    def mechanism_checks(self) -> Iterator[Check]:
        """What one person more or less, or replaced, changes, whoever was drawn, against what is claimed."""
        raise NotImplementedError

    def ends_in_file(self, row: Row, low: float | None, high: float | None) -> Row:
        """The integers of a row of the file, given its ends."""
        return row

    # --- the same for all -----------------------------------------------------------------------------------------

    def promises(self) -> tuple[Derivation, ...]:
        from hubbub.kinds.sums import promises

        return promises.promises(self)

    def checks(self) -> Iterator[Check]:
        from hubbub.kinds.sums import promises

        return promises.checks(self)

    def describe(self) -> Description:
        from hubbub.kinds.sums import text

        return text.describe(self)

    def to_json(self) -> dict[str, Plain]:
        fields = plain(self)
        assert isinstance(fields, dict)
        return {name: value for name, value in fields.items() if name != "is"}

    def size_hint(self) -> int:
        return (1 << 20) + _BYTES_PER_BIN * self.bins

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.sums import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.sums import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.sums.load import load

        return load(self, files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared(Statistic):
    """A statistic of which :meth:`declare` says all that is its own."""

    def declare(self) -> Sums:
        """Its declaration; :attr:`sums` keeps it."""
        raise NotImplementedError

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        if self.sums.rates and min(self.sums.rates) < WIDEST:
            raise WrongUse("noise wider than 10^12 steps is not drawn; declare a coarser step, or raise epsilon")

    @property
    def sums(self) -> Sums:
        return _declared(self)

    @property
    def theorem(self) -> Theorem:
        return self.sums.theorem

    @property
    def stated(self) -> tuple[tuple[str, str], ...]:
        return self.sums.stated

    @property
    def columns(self) -> tuple[str, ...]:
        """With how many people a crowd has: called `sampled` in a secret sample, so that nobody takes it for a number of
        everybody, and as rows are called where rows were kept of people with several."""
        if not self.counts_crowds:
            return self.sums.columns
        rows = self.profiled or self.unit.one_row_per_person
        return ("sampled" if self.sampled else self.unit.rows_column if rows else "people", *self.sums.columns)

    @property
    def counts_crowds(self) -> bool:
        """Whether it says exactly how many people a bin has, and what they have together with noise."""
        return isinstance(self.protection, Crowd) and self.channel is None

    @property
    def outputs(self) -> tuple[Number, ...]:
        return self.sums.numbers

    @property
    def phrases(self) -> Phrases:
        return self.sums.phrases()

    @property
    def by_value(self) -> bool:
        return not self.sums.linear or (isinstance(self.measured, Measure) and self.sampled)

    @property
    def most_added(self) -> int:
        return self.sums.largest * (1 if self.weighted_by is None else self.weighted_by.steps)

    def draw_rows(self, cells: Cells, source: Source) -> list[Row]:
        from hubbub.kinds.sums import mechanism

        return mechanism.draw_sums(self, cells, source)

    def estimate(self, rows: list[Row]) -> list[tuple[Estimate, ...]]:
        return self.sums.estimate(rows)

    def estimate_total(self, rows: list[Row]) -> Estimate:
        assert self.sums.total is not None
        return self.sums.total(rows)

    def mechanism_checks(self) -> Iterator[Check]:
        from hubbub.kinds.sums import promises

        return promises.sums_hold(self)

    def with_schema(self, schema: Schema) -> Self:
        for measure in self.measures:
            measure.bind(schema)
        return Statistic.with_schema(self, schema)


@lru_cache(maxsize=256)
def _declared(spec: Declared) -> Sums:
    return spec.declare()


def check_kept_rows(spec: Statistic) -> None:
    """Refuse what is known of counts, shares and means alone."""
    if isinstance(spec.protection, Knowledge) and spec.protection.route is Route.EXACT:
        raise WrongUse("noise on the exact number is for one share of all people; draw a sample instead")
    if spec.any_row or spec.unit.expected_rows or spec.subtotals:
        raise WrongUse(
            f"a {spec.kind.name} is of the rows that were kept; leave out `any_row`, `expected_rows` and `totals`"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted(Declared):
    """A statistic of people who may have design weights."""

    weight: Measure | None = field(default=None, metadata=UNSAID)
    poisson_survey: bool = field(default=False, metadata=UNSAID)

    def __post_init__(self) -> None:
        Declared.__post_init__(self)
        _check_weight(self)

    @property
    def weighted_by(self) -> Measure | None:
        return self.weight

    @property
    def survey(self) -> PoissonSurvey | None:
        if not self.poisson_survey:
            return None
        if self.weight is None:
            raise WrongUse(
                "a secret survey has the weights of those who were taken; say them, with `weight=column:0..W:STEP`"
            )
        return PoissonSurvey(weight=self.weight.column, largest=self.weight.high, step=self.weight.step)

    @property
    def sensitivity(self) -> Sensitivity | None:
        """Of counts, or of the sums of x and of W - x, by bins.

        Guarantee: the largest there is of one person who comes or goes. A row of weight w moves a count by w, and both
        sums together by w W in absolute value and by at most that in length, since x^2 + (W - x)^2 <= W^2; rows of one
        bin add up, and those of several are what :meth:`hubbub.tables.contribution.ContributionBounds.rows` says.
        """
        if self.discovered or isinstance(self.protection, Crowd) or self.survey is not None:
            return None
        width, bounds = self.steps * (1 if self.weight is None else self.weight.steps), self.unit.bounds
        bins = squares = most = self.unit.moved(self.bins)
        if bounds is not None:
            bins, squares = bounds.people(self.bins).l1, bounds.rows(self.bins).l2_squared
        ones = width == 1 and self.most_in_a_bin == 1  # then a person moves one of the two sums
        moved = bins * (1 if ones or self.measured is None else 2)
        return Sensitivity(l1=width * most, l2_squared=width**2 * squares, moved=moved, ones=ones)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated(Weighted):
    """One whose numbers of bins may be put together by public totals."""

    calibrate: tuple[Fraction, ...] | None = field(default=None, metadata=UNSAID)

    def __post_init__(self) -> None:
        Weighted.__post_init__(self)
        _check_totals(self)
        needs_epsilon(self.protection)

    @property
    def totals(self) -> tuple[Fraction, ...] | None:
        return self.calibrate

    def value(self, over: int, under: int) -> Fraction:
        """What the part over/under of the range 0..1 stands for, in the unit of the numbers."""
        return Fraction(over, under)


def check_found(spec: Statistic) -> None:
    """Refuse bins that are found in the data where a bin of one person may be seen.

    Guarantee: where this passes and bins are found, a bin of fewer than two people is hidden with all about it, or shown
    with a chance that its kind pays for.
    """
    crowd = spec.protection if isinstance(spec.protection, Crowd) else None
    found = [axis.column for axis in spec.axes if isinstance(axis, Discovered)]
    if not found or spec.finds_bins or (crowd is not None and (spec.channel is None or crowd.epsilon is None)):
        return
    instead = "use `crowd=K` without `epsilon`" if crowd is not None else "use `crowd=K`"
    raise WrongUse(
        f"the bins of {found[0]} must be declared, like {found[0]}=a,b,other or {found[0]}:0..100:10, because which of "
        f"them occur is data; list them, or {instead}, which hides small ones"
    )


def _check_any_row(spec: Statistic) -> None:
    if spec.measured is not None and spec.measured is not spec.where:
        raise WrongUse(
            "`any_row` is for counts and fractions of people; keep one row of each (`one_row_per_person=True`)"
        )
    if spec.where is None:
        raise WrongUse(
            "`any_row` counts people of whom any row meets a condition; say it, like `where='age >= 65'`, or count all "
            "people by one row of each (`one_row_per_person=True`)"
        )
    if spec.axes and not isinstance(spec.protection, Noise):
        raise WrongUse(
            "with rows in two bins somebody is in both, and stands in no one crowd; use `epsilon=E` alone, or keep one row "
            "of each person (`one_row_per_person=True`)"
        )
    if spec.axes and (spec.discovered or (spec.unit.distinct or 0) > spec.bins):
        raise WrongUse("`any_row` by bins goes with declared bins, of which a person is in no more than there are")
    if not spec.axes and spec.unit.distinct != 1:
        raise WrongUse("without `by` there is one bin to be in; leave out `distinct`")
    if spec.unit.expected_rows:
        raise WrongUse("whether any row counts is no choice, and nothing is kept; leave out `expected_rows`")


def _check_several(spec: Statistic) -> None:
    """Refuse what is not known to be private where several rows or bins of a person count."""
    sampled = isinstance(spec.protection, Knowledge) and spec.sampled and spec.unit.counts_rows
    if spec.profiled:
        _check_profiled(spec)
    elif not isinstance(spec.protection, Noise) and not sampled:
        raise WrongUse(
            "several bins of a person are covered by plain noise only; use `epsilon=E` alone, or keep one row of each "
            "person (`one_row_per_person=True`)"
        )
    if spec.discovered and not spec.finds_bins:
        raise WrongUse("where several rows of a person count, bins are declared; list them, like ward=A,B,other")
    if spec.unit != within_bins(spec.unit, spec.axes):
        raise WrongUse("a bound on bins, or on rows in them, is more than there can be; lower it, for less noise")


def _check_profiled(spec: Statistic) -> None:
    """Refuse what is not known of crowds of people with several rows."""
    assert isinstance(spec.protection, Crowd)
    if spec.protection.sample is not None:
        raise WrongUse(
            "what a sample buys is not worked out for crowds of people with several rows; leave out `sample`"
        )
    if spec.measured is None and spec.protection.epsilon is not None:
        raise WrongUse("rows of crowds of people are counted exactly, and nothing is lost; leave out `epsilon`")


def _check_gaussian(spec: Statistic) -> None:
    """Refuse Gaussian noise where it is not known how far one person moves the numbers, or what a sample makes of it."""
    if spec.sensitivity is None:
        raise WrongUse(
            "Gaussian noise is for counts, shares, means, and sums in layers or with a cap that is said, in declared bins of a table "
            "that is no secret survey; leave out `mechanism` and `delta`"
        )


def _check_subtotals(spec: Statistic) -> None:
    from hubbub.kinds.sums.subtotals import check

    plain = isinstance(spec.protection, Noise) and not spec.discovered and not spec.ranked
    check(spec.axes, covered=plain and not spec.any_row and not spec.unit.expected_rows)


def _check_totals(spec: Statistic) -> None:
    if spec.totals is not None and (
        spec.discovered
        or not spec.axes
        or len(spec.totals) != spec.bins
        or min(spec.totals) < 0
        or not sum(spec.totals)
    ):
        raise WrongUse("public totals are said of every declared bin, none below 0 and not all 0; list them so")


def _check_weight(spec: Statistic) -> None:
    if spec.survey is None and spec.weighted_by is None:
        return
    assert spec.weighted_by is not None, "a survey has weights"
    check_weight(spec.weighted_by)
    if not isinstance(spec.protection, Noise):
        raise WrongUse("weights are covered by plain noise only; use `epsilon=E` alone")
    if spec.unit.counts_rows or spec.any_row or spec.unit.expected_rows:
        raise WrongUse("a weight goes with one row of each person; leave out what counts several, or `weight`")
    if spec.discovered:
        raise WrongUse("where people have weights, bins are declared; list them, like ward=A,B,other")


def _check_expected(spec: Statistic) -> None:
    """Refuse where no interval for what is kept on average is proved."""
    if spec.ranked:
        raise WrongUse("for a quantile no interval is known for what is kept on average; leave out `expected_rows`")
    if spec.channel is not None:
        check_expected_rows(spec.channel)
    elif isinstance(spec.protection, Crowd):
        raise WrongUse(
            "of a crowd that is shown nothing is known about what is kept on average, since it may be shown only "
            "because of the rows that were kept; leave out `expected_rows`, or use `epsilon` alone"
        )


def needs_epsilon(protection: Protection) -> None:
    if isinstance(protection, Crowd) and protection.epsilon is None:
        raise WrongUse("what a crowd has together is shown with noise; say how much it may lose, with `epsilon=E`")


def read(kind: type[Statistic], given: Any) -> Statistic:
    """The release that a description says, checked as if somebody had asked for it."""
    unsaid = {field.name for field in fields(kind) if field.metadata.get("unsaid")}
    if not isinstance(given, dict) or {*given} | unsaid != {field.name for field in fields(kind)}:
        raise CheckFailed("the description of the release is not one; get the original certificate")
    try:
        spec: Statistic = restored(kind, {"is": kind.__name__, **given})
        check_found(spec)
    except CheckFailed:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, HubbubError):
        raise CheckFailed("the description of the release is not one; get the original certificate") from None
    if not agrees(given, spec.to_json()):
        raise CheckFailed("the description of the release is not written as Hubbub writes it; get the original")
    if not all(map(is_partition, spec.axes)):
        raise CheckFailed("the bins are no partition; get the original certificate")
    if isinstance(spec.protection, Knowledge) and spec.protection.variance is not None:
        raise CheckFailed("Gaussian noise on a sample is for several questions together; get the original certificate")
    return spec
