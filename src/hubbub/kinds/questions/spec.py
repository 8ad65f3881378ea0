"""Several questions on one secret sample, as a value: everything about it that is public.

K of N people are drawn once, and counts, shares, means and quantiles are all told of these same people. What the
questions lose inside the sample adds up, and the sample is drawn around all of them: the release is zero-knowledge
private with respect to RS(K), by less than ln(1 + (K/N)(e^(sum of losses) - 1)) (:mod:`hubbub.sampling.sanitize`),
and K does not grow with the questions. Fresh samples would need K people each.

Of people with several rows at most M count, the same ones for all questions (with bounds on bins and on rows in them,
each question in its own bins): the people are drawn, with all their rows.

Of one row each, the table is counted once, by where every question counts a person (the common refinement of their bins, steps and
conditions), and the sample is drawn over these counts. How many cells that makes is known from the questions and N.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field, fields, replace
from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any, ClassVar, Final, Self

from hubbub.errors import CheckFailed, HubbubError, WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.guarantees.people import People
from hubbub.kinds.histogram.wire import is_partition
from hubbub.kinds.quantile.quantile import Quantile
from hubbub.kinds.questions import promises as questions_promises
from hubbub.kinds.questions.gaussian import joint_delta
from hubbub.kinds.sums.count import Count
from hubbub.kinds.sums.fraction import Share
from hubbub.kinds.sums.mean import Mean
from hubbub.kinds.sums.spec import Statistic
from hubbub.noise.source import Source
from hubbub.numeric.exact import Infinite, rounded
from hubbub.protocol.check import Check
from hubbub.protocol.spec import CompositionInfo, Description, Files, Kind, Measurement, Result, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank, joint_epsilon, outside
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import UNSAID, agrees, plain, restored
from hubbub.tables.bins import Declared, size
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.privacy_unit import EACH_ROW, Unit, within_bins
from hubbub.tables.protection import Knowledge, Route
from hubbub.tables.schema import Schema

MOST: Final = 50  # questions
MOST_NUMBERS: Final = 50_000_000  # a place for each question and a count, of every cell
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,29}", re.ASCII)
_BYTES_PER_ROW: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One of the questions: its name, what it is, of whom, and what it loses inside the sample, one row replaced."""

    name: str
    what: str  # count, fraction, mean, quantile
    loss: Fraction
    axes: tuple[Declared, ...] = ()
    where: Condition | None = None
    of: Measure | None = None
    q: Fraction | None = None
    variance: Fraction | None = field(default=None, metadata=UNSAID)  # of Gaussian noise; the loss is then its share

    def blank(self, unit: Unit) -> Blank:
        """What stands for a person whom the simulator does not see."""
        single_unknown = self.what in ("count", "fraction") and not self.axes and not unit.counts_rows
        return Blank.COIN if single_unknown else Blank.HALF_WAY

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise WrongUse(
                "the name of a question is the name of its file: small letters, digits and hyphens, a letter first, at "
                f"most 30, not {self.name[:40]!r}; choose such a one"
            )
        if self.loss <= 0:
            raise WrongUse(f"what the question {self.name} loses must be above 0; choose another epsilon or share")
        measures = self.what in ("mean", "quantile")
        if self.variance is not None and self.what == "quantile":
            raise WrongUse(f"the quantile {self.name} is drawn by ranks and has no Gaussian noise; leave that out")
        if (self.of is None) == measures or (self.q is None) == (self.what == "quantile"):
            raise WrongUse(f"the question {self.name}: of goes with a mean or quantile, q with a quantile; correct it")


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions(Spec):
    """Counts, shares, means and quantiles of one secret sample of `rows` of `of_people` people."""

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.questions.request
    asked: tuple[Asked, ...]
    epsilon: Fraction  # of zero-knowledge privacy, all questions together
    rows: int
    of_people: int
    unit: Unit = EACH_ROW
    coverage: Fraction = Fraction(19, 20)
    delta: Fraction = field(default=Fraction(0), metadata=UNSAID)  # that Gaussian noise may fail with

    def __post_init__(self) -> None:
        if not 1 <= len(self.asked) <= MOST:
            raise WrongUse(f"one sample answers from 1 to {MOST} questions, not {len(self.asked)}; ask so many")
        names = [each.name for each in self.asked]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise WrongUse(f"each question has a name of its own, and {twice!r} is there twice; rename one of them")
        if not 0 <= self.delta < 1 or bool(self.delta) != self.gaussian:
            raise WrongUse("a delta below 1 goes with questions of Gaussian noise, and with no others; correct it")
        statistics(self)  # refuses what is no question
        if self.cells * (len(self.asked) + 1) > MOST_NUMBERS:
            raise WrongUse(
                f"one sample for all of them needs the table counted by up to {self.cells:,} different cells, too many "
                f"for {len(self.asked)} questions; declare coarser steps or bins, or ask fewer questions at once"
            )

    # --- what is public -------------------------------------------------------------------------------------------

    @property
    def statistics(self) -> tuple[Statistic, ...]:
        """Each question as a statistic of a sample; its own epsilon is what a fresh sample of its own would cost."""
        return statistics(self)

    @property
    def inside(self) -> Fraction:
        """What all of them lose inside the sample, one row replaced."""
        return sum((each.loss for each in self.asked), Fraction(0))

    @property
    def gaussian(self) -> bool:
        """Whether some of them have Gaussian noise."""
        return any(each.variance is not None for each in self.asked)

    @property
    def inside_gaussian(self) -> Fraction:
        """What those with Gaussian noise lose inside the sample, with a delta beside it."""
        return sum((each.loss for each in self.asked if each.variance is not None), Fraction(0))

    @property
    def noises(self) -> tuple[GaussianNoise, ...]:
        """The Gaussian noises, one person of the sample replaced."""
        return tuple(each.gaussian for each in self.statistics if each.gaussian is not None)

    @property
    def geometric_rates(self) -> tuple[Fraction, ...]:
        """Of the geometric noise that those with Gaussian noise would have, for what each loses inside the sample."""
        plain = replace(self, asked=tuple(replace(each, variance=None) for each in self.asked), delta=Fraction(0))
        both = zip(self.asked, plain.statistics, strict=True)
        return tuple(each.sum_rate for asked, each in both if asked.variance is not None and each.sum_rate is not None)

    @property
    def inside_delta(self) -> Fraction:
        """With which delta all of them lose that inside the sample."""
        return joint_delta(self.noises, self.inside_gaussian) if self.gaussian else Fraction(0)

    @property
    def reached(self) -> Fraction:
        """The zero-knowledge privacy of all of them, as far as it is proved; with Gaussian noise beside `reached_delta`."""
        if self.gaussian:
            found = subsampled_loss(self.inside, self.share)
            assert not isinstance(found, Infinite)
            return found
        return joint_epsilon(self.rows, self.of_people, [(each.loss, each.blank(self.unit)) for each in self.asked])

    @property
    def reached_delta(self) -> Fraction:
        """Guarantee: Theorem A1 with a delta (:mod:`hubbub.kinds.questions.gaussian`), rounded up."""
        return min(rounded(self.share * self.inside_delta, up=True, digits=9), Fraction(1))

    @property
    def share(self) -> Fraction:
        return Fraction(self.rows, self.of_people)

    @property
    def fresh(self) -> tuple[Fraction, int]:
        """What as many fresh samples would have cost: the sum of their epsilons, and how many people may be known."""
        epsilon = sum((_known(each).epsilon for each in self.statistics), Fraction(0))
        return epsilon, min(self.rows * len(self.asked), self.of_people)

    @property
    def cells(self) -> int:
        """The most cells that the questions make together: of their bins, steps and conditions, or one a person."""
        axes = {axis for each in self.asked for axis in each.axes}
        measures = {each.of for each in self.asked if each.of is not None}
        rules = {each.where for each in self.asked if each.where is not None}
        if self.unit.counts_rows:  # every kept row is handed over
            return self.of_people * max(each.moved for each in self.statistics)
        made: int = prod(size(axis) + 1 for axis in axes) * prod(each.steps + 2 for each in measures) * 2 ** len(rules)
        return min(made, self.of_people)

    @property
    def people(self) -> People:
        return self.unit.people

    @property
    def enforced_number(self) -> int | None:
        return self.of_people

    def with_schema(self, schema: Schema) -> Self:
        for each in self.statistics:
            each.with_schema(schema)
        return self

    def composition(self) -> CompositionInfo:
        return CompositionInfo()

    def checks(self) -> Iterator[Check]:
        return questions_promises.checks(self)

    def unverified_fields(self) -> tuple[str, ...]:
        fields = ["how often an interval is right: no promise to people rests on it"]
        if self.unit.person is not None:
            fields.append(f"the name of the column that says who is who, {self.unit.person}")
        return tuple(fields)

    def to_json(self) -> dict[str, Plain]:
        fields = plain(self)
        assert isinstance(fields, dict)
        return {name: value for name, value in fields.items() if name != "is"}

    def size_hint(self) -> int:
        return (1 << 20) + _BYTES_PER_ROW * sum(each.bins for each in self.statistics)

    promises = questions_promises.promises

    def describe(self) -> Description:
        from hubbub.kinds.questions import text

        return text.describe(self)

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.questions import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.questions import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.questions.load import load

        return load(self, files)


def _known(statistic: Statistic) -> Knowledge:
    assert isinstance(statistic.protection, Knowledge)
    return statistic.protection


@lru_cache(maxsize=64)
def statistics(spec: Questions) -> tuple[Statistic, ...]:
    """The questions, each with the noise that its loss pays for."""
    return tuple(_statistic(spec, each) for each in spec.asked)


def _statistic(spec: Questions, question: Asked) -> Statistic:
    def common() -> dict[str, Any]:
        cost = outside(spec.rows, spec.of_people, question.loss, blank=question.blank(spec.unit)).epsilon_zk
        assert not isinstance(cost, Infinite)
        knowledge = Knowledge(
            epsilon=cost,
            rows=spec.rows,
            people=spec.of_people,
            route=Route.SAMPLE,
            rate=question.loss,
            variance=question.variance,
        )
        return {
            "axes": question.axes,
            "where": question.where,
            "protection": knowledge,
            "unit": within_bins(spec.unit, question.axes),
            "coverage": spec.coverage,
        }

    match question.what:
        case "count":
            return Count(**common())
        case "fraction":
            return Share(**common())
        case "mean" if question.of is not None:
            return Mean(of=question.of, **common())
        case "quantile" if question.of is not None and question.q is not None:
            return Quantile(of=question.of, q=question.q, **common())
    raise WrongUse("a question is a count, a fraction, a mean or a quantile; choose one of these kinds")


def read(given: Any) -> Questions:
    """The release that a description says, checked as if somebody had asked for it."""
    if not isinstance(given, dict) or {*given, "delta"} != {each.name for each in fields(Questions)}:
        raise CheckFailed("the description of the release is not one; get the original certificate")
    try:
        spec: Questions = restored(Questions, {"is": Questions.__name__, **given})
    except CheckFailed:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, HubbubError):
        raise CheckFailed("the description of the release is not one; get the original certificate") from None
    if not agrees(given, spec.to_json()):
        raise CheckFailed("the description of the release is not written as Hubbub writes it; get the original")
    if not all(is_partition(axis) for each in spec.asked for axis in each.axes):
        raise CheckFailed("the bins are no partition; get the original certificate")
    return spec
