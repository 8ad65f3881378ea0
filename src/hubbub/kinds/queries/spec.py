"""A release that answers a whole class of questions, as a value: everything about it that is public.

A declared domain, a class of queries, a method with its parameters, and what may be lost: under differential privacy,
or on a secret sample of K of N people under zero-knowledge privacy. The method is the one with the least error,
chosen from this alone. What each part does stands in a file of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Any, ClassVar, Final, Self

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import LARGEST_RATE
from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.people import People
from hubbub.kinds.histogram.promises import person_holds
from hubbub.kinds.histogram.wire import is_partition
from hubbub.kinds.queries import mechanism, replaced, text
from hubbub.kinds.queries import promises as queries_promises
from hubbub.numeric.exact import to_text
from hubbub.protocol.channel_checks import laws
from hubbub.protocol.check import Check
from hubbub.protocol.spec import CompositionInfo, Kind, Spec
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.choice import Offer, offers, parameters
from hubbub.query_classes.choice import restore_method as method_of
from hubbub.query_classes.classes import Class, ColumnCells, Halfspaces, Query, cells_of, parse, sampling_error
from hubbub.query_classes.flat import PerQuery
from hubbub.query_classes.residual import OBJECTIVES, Residual, of_setting
from hubbub.query_classes.setting import HasOwnBound, Method, Setting
from hubbub.query_classes.small_databases import SmallDatabase
from hubbub.query_classes.split_tables import SplitTables
from hubbub.query_classes.table_method import TableMethod
from hubbub.query_classes.tree import Tree, levels
from hubbub.query_classes.weights import Weights
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank, inside
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import plain, restored
from hubbub.tables.bins import Declared, size
from hubbub.tables.contribution import Moved
from hubbub.tables.privacy_unit import EACH_ROW, Unit, within_bins
from hubbub.tables.schema import Schema, bind_axes, column

MOST_CODES: Final = 2**62
MOST_COLUMNS: Final = 64
MOST_ANSWERS: Final = 50_000
"""Answers that are written out beside the synopsis; others are asked of it."""
_BYTES_PER_ROW: Final = 100


def check_domain(axes: tuple[Declared, ...]) -> None:
    """Refuse a domain whose cells cannot be numbered."""
    if not 1 <= len(axes) <= MOST_COLUMNS:
        raise WrongUse(f"a domain has from 1 to {MOST_COLUMNS} columns, not {len(axes)}; name so many")
    if cells_of(tuple(map(size, axes))) > MOST_CODES:
        raise WrongUse("the declared bins multiply to more than 2^62; declare coarser bins, or fewer columns")


@dataclass(frozen=True, kw_only=True)
class QueryRequest:
    """What is asked, before a method is chosen: domain, class, loss, sample, and how often all answers are right."""

    axes: tuple[Declared, ...]
    of: str
    epsilon: Fraction
    rows: int | None = None
    people: int | None = None
    coverage: Fraction = Fraction(19, 20)
    delta: Fraction = Fraction(0)
    least: str = "mean"
    unit: Unit = EACH_ROW

    @property
    def sensitivity(self) -> Moved:
        """How far one person moves the counts of the cells, where several rows of a person count within bounds."""
        bounds = self.unit.bounds
        return Moved(1, 1) if bounds is None else bounds.rows(cells_of(tuple(map(size, self.axes))))

    @property
    def queries(self) -> Class:
        return parse(self.of, tuple(map(size, self.axes)))

    @property
    def doubt(self) -> Fraction:
        """How often the noise may break the bound; the sample may as often."""
        return (1 - self.coverage) / (1 if self.rows is None else 2)

    @property
    def outside(self) -> bool:
        """Whether somebody may be in no cell."""
        return not all(axis.null and axis.other for axis in self.axes)

    def losses(self) -> tuple[Fraction, Fraction]:
        """What a method may lose where nobody is half way between two people, and where nobody is a row like others.

        Guarantee: on K of N people drawn in secret, a method that loses this has the zero-knowledge privacy that was
        asked for (:func:`hubbub.sampling.sanitize.inside`, Theorems A1' and A1). Where several rows of a person count, it
        is what one row may lose, and all rows that are kept of a person lose epsilon at most.
        """
        if self.rows is None or self.people is None:
            return self.epsilon / self.sensitivity.l1, self.epsilon / self.sensitivity.l1
        half_way = inside(self.rows, self.people, self.epsilon, blank=Blank.HALF_WAY).epsilon_dp / 2
        return half_way, inside(self.rows, self.people, self.epsilon).epsilon_dp

    def setting(self, half_way: Fraction, any_row: Fraction) -> Setting:
        """What a method is told."""
        return Setting(
            queries=self.queries,
            half_way=half_way,
            any_row=any_row,
            doubt=self.doubt,
            rows=self.people if self.rows is None else self.rows,
            outside=self.outside,
            delta=self.delta,
            least=self.least,
            moved=self.sensitivity.l1,
            moved_squared=self.sensitivity.l2_squared,
        )

    @property
    def scale(self) -> Fraction:
        """How many people of the table one of the sample stands for."""
        return Fraction(1) if self.rows is None or self.people is None else Fraction(self.people, self.rows)

    def sampling_error(self) -> Fraction:
        """How far the sample is from everybody, in people, for every query at once; 0 without a sample."""
        if self.rows is None or self.people is None:
            return Fraction(0)
        return self.people * sampling_error(self.queries, self.rows, self.people, (1 - self.coverage) / 2)

    def everybody(self, bound: Fraction) -> Fraction:
        """A bound on the people that a method sees, as one on all people of the table."""
        return self.scale * bound + self.sampling_error()


@lru_cache(maxsize=64)
def all_offers(request: QueryRequest) -> tuple[Offer, ...]:
    """Every method with its bound, the best first. Public numbers alone."""
    return offers(request.setting(*request.losses()))


@dataclass(frozen=True, kw_only=True)
class Queries(Spec):
    """A synopsis that answers every query of a class.

    `loss` is what the method loses where it runs: on all people epsilon itself, on a sample what zero-knowledge
    privacy leaves it, and for each row of a person its part of epsilon where several count. Method, loss and `bound` (in people, for every query at once) are worked out when it is asked
    for, and are part of what is written down: a sharper theorem leaves an old release what it was.
    """

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.queries.request
    request: QueryRequest
    method: Method
    loss: Fraction
    bound: Fraction
    consistent: bool = False  # whether tables of at least 0 that agree stand beside

    def __post_init__(self) -> None:
        request = self.request
        if not 0 < request.coverage < 1 or request.epsilon <= 0 or self.loss <= 0 or not 0 <= request.delta < 1:
            raise WrongUse("epsilon must be above 0, delta below 1, and the coverage between 0 and 1")
        if request.rows is not None and (request.people is None or not 1 <= request.rows <= request.people):
            raise WrongUse("a sample of K people needs K between 1 and the declared number of people; lower rows")
        if request.rows is not None and request.delta:
            raise WrongUse("`delta` goes with `epsilon`, for everybody in the table; leave out the sample, or `delta`")
        check_domain(request.axes)
        if self.unit.chooses and (not self.unit.counts_rows or request.people is not None):
            raise WrongUse(
                "of people with several rows at most M count (`rows_per_person=M`), with `epsilon` alone and how many "
                "people there are left out"
            )

    @property
    def unit(self) -> Unit:
        """Who counts as a person, and by how many rows."""
        return self.request.unit

    @property
    def counted_noun(self) -> str:
        """What the numbers are numbers of."""
        return self.unit.rows if self.unit.counts_rows else "people"

    @property
    def zero_knowledge(self) -> bool:
        return self.request.rows is not None

    @property
    def queries(self) -> Class:
        return self.request.queries

    @property
    def setting(self) -> Setting:
        """What the method is told."""
        return self.request.setting(self.loss, self.loss)

    @property
    def people(self) -> People:
        return self.unit.people

    @property
    def enforced_number(self) -> int | None:
        return self.request.people

    @property
    def replaced_loss(self) -> Fraction:
        """What the method loses when one person whom it sees is replaced by another.

        Guarantee: `loss` where that is what any change of one person costs (:class:`Blank.ANY`, and Gaussian noise that
        was planned for it); where it is the cost of a person who comes or goes, twice as much, once for each of the two.
        """
        return self.loss * (2 if self.method.blank is Blank.HALF_WAY and not isinstance(self.method, Residual) else 1)

    def with_schema(self, schema: Schema) -> Self:
        if self.unit.person is not None:
            column(schema, self.unit.person)
        if self.unit != within_bins(self.unit, self.request.axes):
            raise WrongUse("a bound on bins, or on rows in them, is more than there can be; lower it, for less noise")
        bind_axes(self.request.axes, schema)
        return self

    @property
    def rows_published(self) -> int:
        """How many numbers the method publishes."""
        shape = self.queries.shape
        if isinstance(self.method, SplitTables):
            return self.method.drawn_tables(self.queries).number
        if isinstance(self.method, PerQuery):
            assert not isinstance(self.queries, Halfspaces)
            return self.queries.number
        if isinstance(self.method, Tree):
            return sum(levels(shape[0], self.method.branching))
        if isinstance(self.method, Residual):
            return of_setting(self.setting).starts[-1]
        beyond = self.request.outside and self.setting.rows is not None
        times = self.method.rounds if isinstance(self.method, Boosting) else 1
        return times * (cells_of(shape) + beyond)

    def composition(self) -> CompositionInfo:
        return CompositionInfo(noises=queries_promises.gaussian_noises(self))

    def bound_of(self, query: Query) -> Fraction:
        """How far the answer to a query is from the truth, in people, with all of them right at once."""
        return min(self.bound, self.request.everybody(self.method.bound_of(self.setting, query)))

    @property
    def has_own_intervals(self) -> bool:
        """Whether each answer has an interval of its own beside the one that holds with all others."""
        return isinstance(self.method, HasOwnBound) and not self.zero_knowledge

    @property
    def may_be_impossible(self) -> bool:
        """Whether what follows from the published numbers may be below 0, or more than all people."""
        return not isinstance(self.method, Weights | SmallDatabase | Boosting)

    @property
    def lists_answers(self) -> bool:
        """Whether the answers that follow from what was drawn stand in a file of their own."""
        if isinstance(self.queries, Halfspaces) or isinstance(self.method, PerQuery):
            return False
        return isinstance(self.method, TableMethod) or self.queries.number <= MOST_ANSWERS

    def own_bound_of(self, query: Query) -> Fraction:
        """How far the answer to a query is from the truth, in people, whatever the others do."""
        if not isinstance(self.method, HasOwnBound) or self.zero_knowledge:
            return self.bound_of(query)
        return min(self.bound_of(query), self.method.own_bound(self.setting, query))

    def checks(self) -> Iterator[Check]:
        """The noise against its exact law, what is spent against what may be, and the bound against its proof."""
        why = self.method.why_not(self.setting)
        yield Check("the method can answer the class", not why, why or f"{self.method.name} for {self.request.of}")
        spent = self.method.spends(self.setting)
        yield Check("the method spends no more than it may", spent <= self.loss, f"{to_text(spent)}")
        if isinstance(self.method, Residual) and isinstance(self.queries, ColumnCells) and not why:
            yield from queries_promises.residual_checks(self, self.method)
        for rate in queries_promises.noise_rates(self):
            if rate <= LARGEST_RATE:  # beyond that the noise is 0 but once in 10^21 draws
                yield from laws(Geometric(rate))
        if self.unit.counts_rows and not queries_promises.gaussian_noises(self):
            cells = cells_of(self.queries.shape)
            yield person_holds(self.unit, cells, spent, self.request.epsilon)
        if self.enforced_number is not None:
            yield replaced.replaced_holds(self)
        again = self.request.everybody(self.method.error_bound(self.setting))
        found = f"{ceil(again):,} {self.counted_noun}" if again <= self.bound else "the proof gives a larger one"
        yield Check("the bound on every answer", again <= self.bound, found)

    def unverified_fields(self) -> tuple[str, ...]:
        fields = [
            f"how often all answers are right, {to_text(self.request.coverage)}: no promise to people rests on it"
        ]
        fields.append("the bound, if it is larger than the proved one")
        if self.unit.person is not None:
            fields.append(f"the name of the column that says who is who, {self.unit.person}")
        return tuple(fields)

    def duration_note(self) -> str:
        return text.duration_note(self)

    def to_json(self) -> dict[str, Plain]:
        request = self.request
        return {
            "bins": [plain(axis) for axis in request.axes],
            "class": request.of,
            "epsilon": to_text(request.epsilon),
            "delta": to_text(request.delta),
            "rows": request.rows,
            "people": request.people,
            "coverage": to_text(request.coverage),
            "method": parameters(self.method),
            "loss": to_text(self.loss),
            "bound": to_text(self.bound),
            "unit": plain(self.unit),
            "consistent": self.consistent,
        }

    def size_hint(self) -> int:
        return (1 << 20) + _BYTES_PER_ROW * self.rows_published

    promises = queries_promises.promises

    describe = text.describe
    measure = mechanism.measure
    present = mechanism.present
    load = mechanism.load


def read(given: Any) -> Queries:
    """The release that a description says, checked as if somebody had asked for it."""
    method, axes = method_of(given["method"]), restored(tuple[Declared, ...], given["bins"])
    check_domain(axes)
    spec = Queries(
        request=QueryRequest(
            axes=axes,
            of=restored(str, given["class"]),
            epsilon=restored(Fraction, given["epsilon"]),
            delta=restored(Fraction, given["delta"]),
            rows=restored(int | None, given["rows"]),
            people=restored(int | None, given["people"]),
            coverage=restored(Fraction, given["coverage"]),
            least=method.objective if isinstance(method, Residual) else OBJECTIVES[0],
            unit=restored(Unit, given["unit"]),
        ),
        method=method,
        loss=restored(Fraction, given["loss"]),
        bound=restored(Fraction, given["bound"]),
        consistent=restored(bool, given["consistent"]),
    )
    request = spec.request
    if spec.consistent and not isinstance(spec.method, TableMethod):
        raise CheckFailed("a method without tables has none that agree; get the original certificate")
    fits = request.queries.name == request.of and spec.unit == within_bins(spec.unit, axes)
    if not fits or not axes or len({axis.column for axis in axes}) != len(axes) or not all(map(is_partition, axes)):
        raise CheckFailed("the domain of the description is none; get the original certificate")
    return spec
