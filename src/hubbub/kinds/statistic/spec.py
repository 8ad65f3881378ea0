"""A count, share, mean or quantile of people, by bins or of all, as a value: everything about it that is public.

What the methods do is in files of their own: `promises`, `mechanism` (measure and present), `load` and `text`.

A share is the mean of ones and zeros, so the two go the same way. Everything is in whole steps 0..W of a declared
range, W = 1 for a share: A is the sum of the steps x of the people of a bin, B that of W - x, so that A + B = W c and
A/(A + B) is the mean, between 0 and 1. Whoever comes or goes moves A and B together by W: noise of rate epsilon/W on
both costs epsilon, and no part of it is spent on how many people there are.

People with several rows either count by one of them, chosen secretly among all of theirs before any is looked at; or by
several, within bounds (:mod:`hubbub.tables.contribution`); or by whether any of them meets the condition, in each of at
most `Unit.distinct` bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from hubbub.channels.catalogue import make
from hubbub.channels.mechanisms.gaussian import Gaussian
from hubbub.channels.protocol import Channel
from hubbub.errors import CheckFailed, HubbubError, WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise, Sensitivity
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People
from hubbub.guarantees.survey import PoissonSurvey
from hubbub.kinds.histogram.wire import is_partition
from hubbub.kinds.statistic.weights import check_weight
from hubbub.noise.sampler import SMALLEST_EPSILON
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
MOST_RANKED: Final = 100_000  # steps of a quantile
INTERVAL_SHARE: Final = Fraction(1, 10)
"""Of epsilon, for the interval of a quantile. The value is what people read: its chance to be a wrong step falls
exponentially with its part, the width of the interval only inversely with the rest."""
_BYTES_PER_BIN: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic(Spec):
    """One number for each bin of a public partition, or one for everybody."""

    kind: ClassVar[Kind]  # set where the kinds are made, in hubbub.kinds.statistic.request
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
    def ranked(self) -> tuple[Measure, Fraction] | None:
        """Of a quantile, among which steps it is found, and which it is."""
        return None

    @property
    def interval_share(self) -> Fraction:
        """Of a quantile, the share of epsilon that its interval may lose."""
        return Fraction(0)

    def value(self, over: int, under: int) -> Fraction:
        """What the part over/under of the range 0..1 stands for, in the unit of the numbers."""
        return Fraction(over, under)

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

    def promises(self) -> tuple[Derivation, ...]:
        from hubbub.kinds.statistic import promises

        return promises.promises(self)

    def checks(self) -> Iterator[Check]:
        from hubbub.kinds.statistic import promises

        return promises.checks(self)

    def describe(self) -> Description:
        from hubbub.kinds.statistic import text

        return text.describe(self)

    def to_json(self) -> dict[str, Plain]:
        fields = plain(self)
        assert isinstance(fields, dict)
        return {name: value for name, value in fields.items() if name != "is"}

    def size_hint(self) -> int:
        return (1 << 20) + _BYTES_PER_BIN * self.bins

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.statistic import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.statistic import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.statistic.load import load

        return load(self, files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighted(Statistic):
    """A statistic of people who may have design weights."""

    weight: Measure | None = field(default=None, metadata=UNSAID)
    poisson_survey: bool = field(default=False, metadata=UNSAID)

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        _check_weight(self)

    @property
    def weighted_by(self) -> Measure | None:
        return self.weight

    @property
    def survey(self) -> PoissonSurvey | None:
        return _survey(self.weight, self.poisson_survey)

    @property
    def sensitivity(self) -> Sensitivity | None:
        return _sensitivity(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated(Weighted):
    """One whose numbers of bins may be put together by public totals."""

    calibrate: tuple[Fraction, ...] | None = field(default=None, metadata=UNSAID)

    def __post_init__(self) -> None:
        Weighted.__post_init__(self)
        _check_totals(self)
        _needs_epsilon(self.protection)

    @property
    def totals(self) -> tuple[Fraction, ...] | None:
        return self.calibrate


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Weighted):
    """How many people there are who meet a condition, by bins or in all; with weights, how many they stand for."""

    def __post_init__(self) -> None:
        Weighted.__post_init__(self)
        if isinstance(self.protection, Knowledge) and self.has_single_unknown and self.where is None:
            raise WrongUse(
                "how many people there are is public here; count those `where` something holds, or `by` bins"
            )

    @property
    def has_single_unknown(self) -> bool:
        return not self.axes and not self.unit.counts_rows

    @property
    def channel(self) -> Channel | None:
        match self.protection:
            case Noise(epsilon=epsilon, variance=Fraction() as variance):
                return Gaussian(epsilon, variance)
            case Noise(epsilon=epsilon):
                return make("geometric", epsilon=epsilon / self.moved).channel
            case Crowd(k=k, epsilon=None):
                return make("exact-or-suppressed", k=k).channel
            case Crowd(k=k, epsilon=epsilon):
                return make("noisy-below", k=k, epsilon=epsilon).channel
            case _:
                return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Share(Calibrated):
    """The share of people, of each bin or of all, who meet a condition."""

    def __post_init__(self) -> None:
        Calibrated.__post_init__(self)
        if self.where is None:
            raise WrongUse("a fraction is of those who meet a condition; say it, like `where='age >= 65'`")

    @property
    def measured(self) -> Measure | Condition | None:
        return self.where

    @property
    def has_single_unknown(self) -> bool:
        return not self.axes and not self.unit.counts_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean(Calibrated):
    """The mean of a column, over the people of each bin, or over all, who have a value there."""

    of: Measure

    @property
    def steps(self) -> int:
        return self.of.steps

    @property
    def measured(self) -> Measure | Condition | None:
        return self.of

    def value(self, over: int, under: int) -> Fraction:
        (a, b), (s, t) = self.of.low.as_integer_ratio(), self.of.step.as_integer_ratio()
        # there may be thousands of bins: one fraction, of integers
        return Fraction(a * t * under + b * s * self.of.steps * over, b * t * under)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(Statistic):
    """The value below which a share q of the people lies, of each bin or of all who have a value; a share of epsilon is for
    the interval around it."""

    of: Measure
    q: Fraction
    interval: Fraction = INTERVAL_SHARE

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        _needs_epsilon(self.protection)
        if not 0 < self.q < 1:
            raise WrongUse("a quantile lies between 0 and 1, like 0.5 for the median; choose `q` so")
        if not 0 <= self.interval < 1:
            raise WrongUse(
                "`interval_share` is the share of epsilon for the interval of a quantile, at least 0 and below 1; choose "
                "one like 0.1, or 0 for the value alone"
            )
        if self.of.steps > MOST_RANKED:
            raise WrongUse(f"a quantile is found among at most {MOST_RANKED:,} steps; declare a coarser step")

    @property
    def measured(self) -> Measure | Condition | None:
        return self.of

    @property
    def ranked(self) -> tuple[Measure, Fraction] | None:
        return self.of, self.q

    @property
    def interval_share(self) -> Fraction:
        return self.interval


def _sensitivity(spec: Statistic) -> Sensitivity | None:
    """Of counts, or of the sums of x and of W - x, by bins.

    Guarantee: the largest there is of one person who comes or goes. A row of weight w moves a count by w, and both sums
    together by w W in absolute value and by at most that in length, since x^2 + (W - x)^2 <= W^2; rows of one bin add up,
    and those of several are what :meth:`hubbub.tables.contribution.ContributionBounds.rows` says.
    """
    if spec.discovered or isinstance(spec.protection, Crowd) or spec.survey is not None:
        return None
    width = spec.steps * (1 if spec.weighted_by is None else spec.weighted_by.steps)
    most = spec.unit.moved(spec.bins)
    bins, squares = most, most
    if spec.unit.bounds is not None:
        bins, squares = spec.unit.bounds.people(spec.bins).l1, spec.unit.bounds.rows(spec.bins).l2_squared
    ones = width == 1 and spec.most_in_a_bin == 1  # then a person moves one of the two sums
    return Sensitivity(
        l1=width * most,
        l2_squared=width**2 * squares,
        moved=bins * (1 if ones or spec.measured is None else 2),
        ones=ones,
    )


def _survey(weight: Measure | None, declared: bool) -> PoissonSurvey | None:
    if not declared:
        return None
    if weight is None:
        raise WrongUse(
            "a secret survey has the weights of those who were taken; say them, with `weight=column:0..W:STEP`"
        )
    return PoissonSurvey(weight=weight.column, largest=weight.high, step=weight.step)


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
    from hubbub.kinds.statistic import subtotals

    plain = isinstance(spec.protection, Noise) and not spec.discovered and spec.ranked is None
    subtotals.check(spec.axes, covered=plain and not spec.any_row and not spec.unit.expected_rows)


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
    if spec.ranked is not None:
        raise WrongUse("for a quantile no interval is known for what is kept on average; leave out `expected_rows`")
    if spec.channel is not None:
        check_expected_rows(spec.channel)
    elif isinstance(spec.protection, Crowd):
        raise WrongUse(
            "of a crowd that is shown nothing is known about what is kept on average, since it may be shown only "
            "because of the rows that were kept; leave out `expected_rows`, or use `epsilon` alone"
        )


def _needs_epsilon(protection: Protection) -> None:
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
