"""Who counts as a person, what happens to somebody with several rows, and how people came into the table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import BernoulliSample, IndependentSample, RobustSample
from hubbub.guarantees.derivation import Assumption
from hubbub.guarantees.people import DECLARED_UNIQUE, People, Whose
from hubbub.numeric.exact import Exact, integer
from hubbub.numeric.limits import a_share
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import UNSAID
from hubbub.tables.bins import Countable, declared_size
from hubbub.tables.contribution import ContributionBounds, MultiRowPolicy

TAKEN: Final = (
    "count", "estimate", "low", "high", "status", "part", "whole", "sum", "people", "sampled", "kept", "having", "value",
)  # fmt: skip
"""Columns of published tables that are ours."""

_LONGEST: Final = 40

_UNIQUE: Final = (
    "{person} identifies people, and each has one row: this was declared and not checked, and the promise holds only if "
    "no person has two rows"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Who counts as a person, and what happens to somebody with several rows."""

    person: str | None = None
    one_row_per_person: bool = False
    distinct: int | None = None
    expected_rows: bool = False  # intervals are for the rows kept on average, not for those kept in this release
    rows_per_person: int | None = field(default=None, metadata=UNSAID)  # with it, or with the next, rows count
    rows_per_bin: int | None = field(default=None, metadata=UNSAID)
    rows_called: str | None = field(default=None, metadata=UNSAID)  # what a row is, in the plural: visits
    unique_person: bool = field(default=False, metadata=UNSAID)  # somebody declared that each has one row: not checked

    def __post_init__(self) -> None:
        if self.chooses and self.person is None:
            raise WrongUse("choosing among a person's rows needs the person column; add `person=COLUMN`")
        if self.unique_person:
            _check_unique(self)
        if self.one_row_per_person and self.distinct is not None:
            raise WrongUse("`one_row_per_person` and `distinct` exclude each other; choose one of them")
        if self.bounds is not None:
            _check_rows(self, self.bounds)
        if self.rows_called is not None:
            _check_called(self, self.rows_called)
        if self.expected_rows and not self.chooses:
            raise WrongUse(
                "expected rows are those of people with several; add `one_row_per_person=True` or `distinct=B`, or "
                "leave it out"
            )
        if self.distinct is not None:
            object.__setattr__(self, "distinct", integer(self.distinct, "distinct", least=1))

    @property
    def chooses(self) -> bool:
        """Whether rows or bins of a person are chosen at random."""
        return self.one_row_per_person or self.distinct is not None or self.counts_rows

    @property
    def counts_rows(self) -> bool:
        """Whether several rows of a person count."""
        return self.rows_per_person is not None or self.rows_per_bin is not None

    @property
    def one_row(self) -> MultiRowPolicy:
        """What is done with somebody who has several rows, where a person counts by one."""
        if self.unique_person:
            return MultiRowPolicy.DECLARED
        return MultiRowPolicy.ONE_ROW if self.one_row_per_person else MultiRowPolicy.REFUSE

    @property
    def grouping_column(self) -> str | None:
        """The column by which rows are gathered into people; None where each row is one, declared or not."""
        return None if self.unique_person else self.person

    @property
    def bounds(self) -> ContributionBounds | None:
        """What one person contributes at most, where several rows of a person count."""
        if not self.counts_rows:
            return None
        return ContributionBounds(
            rows_per_person=self.rows_per_person, distinct=self.distinct, rows_per_bin=self.rows_per_bin
        )

    @property
    def rows(self) -> str:
        """The noun for rows, in the plural."""
        return self.rows_called or "rows"

    @property
    def rows_column(self) -> str:
        """The column of a published table that has numbers of them."""
        return "kept_rows" if self.rows_called is None else self.rows_called.replace(" ", "_")

    def moved(self, bins: int | None) -> int:
        """The L1 sensitivity of the counts of so many bins to one person (None: it is not known how many).

        Guarantee: the largest there is; never more than the bins make possible.
        """
        if self.bounds is not None:
            return self.bounds.rows(bins).l1
        return 1 if self.distinct is None else ContributionBounds(distinct=self.distinct).people(bins).l1

    def describe_kept_rows(self, bins: int | None, *, which: str = "") -> str:
        """What the numbers count, where several rows of a person count: visits, at most 5 of each patient."""
        assert self.bounds is not None
        return self.bounds.describe(f"{self.rows}{which}", self.person or "person", bins=bins)

    @property
    def people(self) -> People:
        """The people of the table."""
        return People(person=self.person)

    @property
    def crowds(self) -> People:
        """Those who stand in crowds: the people of the table, or the rows that were kept of them."""
        return People(whose=Whose.KEPT_ROWS if self.one_row_per_person else Whose.TABLE, person=self.person)

    @property
    def assumption(self) -> Assumption:
        """The assumption that the certificate states about the privacy unit."""
        if self.person is None:
            return Assumption("person.row", "each row is taken to be one person")
        given = (("person", self.person),)
        if self.unique_person:
            return Assumption(DECLARED_UNIQUE, _UNIQUE, given)
        if self.one_row_per_person:
            sentence = (
                "one row for each value of {person}, chosen secretly and uniformly; rows with no {person} are left out"
            )
            return Assumption("person.one-row-kept", sentence, given)
        if self.bounds is not None:
            return _several_rows(self.bounds, given)
        if self.distinct is not None:
            sentence = (
                "each value of {person} counts once in at most {distinct} bins, chosen secretly; rows with no {person} "
                "are left out"
            )
            return Assumption("person.several-bins", sentence, (*given, ("distinct", str(self.distinct))))
        return Assumption("person.one-row-each", "{person} identifies people, and each has one row", given)

    @property
    def describe(self) -> str:
        """The privacy unit as a sentence."""
        return str(self.assumption)


def _several_rows(bounds: ContributionBounds, given: tuple[tuple[str, str], ...]) -> Assumption:
    says = [
        "each value of {person} counts by several rows, chosen secretly among all of its own and before they are seen"
    ]
    if bounds.rows_per_person is not None:
        says.append("at most {rows_per_person} in all")
    if bounds.distinct is not None:
        says.append("in at most {distinct} bins")
    if bounds.rows_per_bin is not None:
        says.append("at most {rows_per_bin} in each bin")
    numbers = tuple((name, str(value)) for name, value in bounds.to_json().items() if value is not None)
    return Assumption(
        "person.several-rows", f"{', '.join(says)}; rows with no {{person}} are left out", (*given, *numbers)
    )


def _check_rows(unit: Unit, bounds: ContributionBounds) -> None:
    object.__setattr__(unit, "rows_per_person", bounds.rows_per_person)
    object.__setattr__(unit, "rows_per_bin", bounds.rows_per_bin)
    if unit.one_row_per_person:
        raise WrongUse("one row per person and several exclude each other; drop one of the two")
    if unit.expected_rows:
        raise WrongUse(
            "of several rows of a person no interval is known for what is kept on average; leave out `expected_rows`"
        )


def check_one_unit(person: object, rows_are_people: bool) -> None:
    """Refuse a column that says who is who beside the word that each row is another person."""
    if person is not None and rows_are_people:
        raise WrongUse("`person` and `rows_are_people` exclude each other; keep the one that applies")


def _check_unique(unit: Unit) -> None:
    """Refuse the declaration where nobody has an id, or beside a word about people with several rows."""
    if unit.person is None:
        raise WrongUse(
            "`unique_person` declares that no id comes twice; say which column has the ids (`person=COLUMN`), or leave "
            "it out"
        )
    several = {
        "one_row_per_person": unit.one_row_per_person,
        "rows_per_person": unit.rows_per_person is not None,
        "rows_per_bin": unit.rows_per_bin is not None,
        "distinct": unit.distinct is not None,
    }
    other = next((name for name, is_said in several.items() if is_said), None)
    if other is not None:
        raise WrongUse(_both(other))


def _both(other: str) -> str:
    return f"`unique_person` declares that nobody has several rows, and `{other}` is for people who have; drop one of the two"


def _check_called(unit: Unit, called: str) -> None:
    if not unit.counts_rows:
        raise WrongUse("what rows are called is said where rows count; add `rows_per_person=M`, or leave it out")
    if not re.fullmatch("[a-z][a-z]*( [a-z]+)*", called) or len(called) > _LONGEST:
        raise WrongUse("rows are called by a word or two in small letters, in the plural; write it like `visits`")
    if called.replace(" ", "_") in TAKEN:
        raise WrongUse("rows are called by a word that is no column of the published table; choose one like `visits`")


EACH_ROW: Final = Unit()


def of_numbers(
    person: str | None,
    *,
    one_row_per_person: bool = False,
    any_row: bool = False,
    expected_rows: bool = False,
    distinct: Exact | None = None,
    rows_per_person: Exact | None = None,
    rows_per_bin: Exact | None = None,
    rows_called: str | None = None,
    unique_person: bool = False,
    by_bins: bool = False,
    of_condition: bool = False,
) -> Unit:
    """The unit of a count, share, mean or quantile: of several rows one is kept, several are, or any is enough (where
    people are counted by a condition, `of_condition`)."""
    if not all(isinstance(each, bool) for each in (one_row_per_person, any_row, expected_rows, unique_person)):
        raise WrongUse(
            "`one_row_per_person`, `any_row`, `expected_rows` and `unique_person` are True or False; write them so"
        )
    if any_row and unique_person:
        raise WrongUse(_both("any_row"))
    several = rows_per_person is not None or rows_per_bin is not None
    if any_row and (one_row_per_person or several):
        other = "one_row_per_person" if one_row_per_person else "rows_per_person"
        raise WrongUse(f"`any_row` and `{other}` exclude each other; choose one of them")
    if any_row and person is None:
        raise WrongUse("whether any row of a person counts needs the person column; add `person=COLUMN`")
    if any_row and by_bins and distinct is None:
        raise WrongUse(
            "with rows in two bins somebody is in both; say in how many bins a person counts at most, with `distinct=B`"
        )
    if distinct is not None and not any_row and not several:
        ever = "`rows_per_person=M`"
        if of_condition:
            ever = (
                "`any_row=True`, or `rows_per_person=M` to count rows, or publish a histogram of who was ever in a bin"
            )
        raise WrongUse(f"`distinct` is in how many bins a person counts; add {ever}")
    if expected_rows and not one_row_per_person:
        raise WrongUse("expected rows are those of people with several; add `one_row_per_person=True`, or leave it out")
    return Unit(
        person=person,
        one_row_per_person=one_row_per_person,
        distinct=1 if any_row and distinct is None else distinct,  # type: ignore[arg-type]
        expected_rows=expected_rows,
        rows_per_person=rows_per_person,  # type: ignore[arg-type]
        rows_per_bin=rows_per_bin,  # type: ignore[arg-type]
        rows_called=rows_called,
        unique_person=unique_person,
    )


_OPTIONS: Final = frozenset(
    [
        "person",
        "one_row_per_person",
        "any_row",
        "expected_rows",
        "distinct",
        "rows_per_person",
        "rows_per_bin",
        "rows_called",
        "unique_person",
    ]
)


def of_options(
    options: Mapping[str, Any], *, by_bins: bool = False, of_condition: bool = False
) -> tuple[Unit, dict[str, Any]]:
    """The unit that the options of a command say, as :func:`of_numbers` takes them, and the other options."""
    unit = {"person": None} | {name: given for name, given in options.items() if name in _OPTIONS}
    rest = {name: given for name, given in options.items() if name not in _OPTIONS}
    return of_numbers(**unit, by_bins=by_bins, of_condition=of_condition), rest


def check_kept(unit: Unit, *, kept_rows: bool) -> None:
    """Refuse the word for intervals about kept rows where none is chosen, or beside the word for the others."""
    if not isinstance(kept_rows, bool):
        raise WrongUse("`kept_rows` is True or False; write it so")
    if kept_rows and unit.expected_rows:
        raise WrongUse("intervals are for the rows that were kept or for what is kept on average; drop one of the two")
    if kept_rows and not unit.one_row_per_person:
        raise WrongUse("`kept_rows` is about one row of each person; add `one_row_per_person=True`, or leave it out")


def on_average(unit: Unit, *, kept_rows: bool) -> Unit:
    """The unit with intervals for what is kept on average, which is what one row per person is asked for by default."""
    check_kept(unit, kept_rows=kept_rows)
    return replace(unit, expected_rows=True) if unit.one_row_per_person and not kept_rows else unit


def within_bins(unit: Unit, axes: Sequence[Countable]) -> Unit:
    """The unit, with a person in no more bins than there are.

    Guarantee: where the bins are declared, a bound above their number is cut to it, and the noise follows; nobody can
    be in more, so that the promise is the one asked for.
    """
    bins = declared_size(axes) if axes else 1
    if unit.bounds is not None:
        cut = unit.bounds.within(bins)
        return replace(unit, distinct=cut.distinct, rows_per_bin=cut.rows_per_bin)
    if unit.distinct is None or bins is None or unit.distinct <= bins:
        return unit
    return replace(unit, distinct=bins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """How the people in the table were sampled from the population by somebody else, as declared."""

    low: Fraction
    high: Fraction
    exempt: int = 0

    @property
    def sample(self) -> IndependentSample:
        """The declared sampling as a class of samples."""
        if self.low == self.high and not self.exempt:
            return BernoulliSample(p=self.high)
        highest = Fraction(1) if self.exempt else self.high
        return RobustSample(low=self.low, high=self.high, highest=highest, exempt=self.exempt)


_EVERYBODY: Final = "leave it out to use everybody"


def declared_collected(
    collected: Exact | None = None, collected_between: tuple[Exact, Exact] | None = None, exempt: Exact = 0
) -> Collected | None:
    """How people came into the table, by what is declared; None where nothing is."""
    spared = integer(exempt, "exempt")
    if collected is not None and collected_between is not None:
        raise WrongUse("`collected` and `collected_between` exclude each other; use the one that you know")
    if collected is not None:
        p = a_share(collected, "collected", _EVERYBODY)
        return Collected(low=p, high=p, exempt=spared)
    if collected_between is not None:
        low, high = (
            a_share(collected_between[0], "`collected_between`", _EVERYBODY),
            a_share(collected_between[1], "`collected_between`", _EVERYBODY),
        )
        if low > high:
            raise WrongUse(f"`collected_between` needs the lower rate first, not {low} and {high}; swap them")
        return Collected(low=low, high=high, exempt=spared)
    if spared:
        raise WrongUse(
            "exempt people are those outside a declared sampling rate; add `collected` or `collected_between`"
        )
    return None
