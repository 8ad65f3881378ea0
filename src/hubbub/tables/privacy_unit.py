"""Who counts as a person, what happens to somebody with several rows, and how people came into the table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import BernoulliSample, IndependentSample, RobustSample
from hubbub.guarantees.derivation import Assumption
from hubbub.guarantees.people import People, Whose
from hubbub.numeric.exact import integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """Who counts as a person, and what happens to somebody with several rows."""

    person: str | None = None
    one_row_per_person: bool = False
    distinct: int | None = None
    expected_rows: bool = False  # intervals are for the rows kept on average, not for those kept in this release

    def __post_init__(self) -> None:
        if (self.one_row_per_person or self.distinct is not None) and self.person is None:
            raise WrongUse("choosing among a person's rows needs the person column; add `person=COLUMN`")
        if self.one_row_per_person and self.distinct is not None:
            raise WrongUse("one-row-per-person and distinct exclude each other; choose one of them")
        if self.expected_rows and not self.chooses:
            raise WrongUse(
                "expected rows are those of people with several; add `one_row_per_person=True` or `distinct=B`, or "
                "leave it out"
            )
        if self.distinct is not None:
            object.__setattr__(self, "distinct", integer(self.distinct, "distinct", least=1))

    @property
    def chooses(self) -> bool:
        """Whether it chooses among the rows or bins of a person."""
        return self.one_row_per_person or self.distinct is not None

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
        """What is taken for granted about it."""
        if self.person is None:
            return Assumption("person.row", "each row is taken to be one person")
        given = (("person", self.person),)
        if self.one_row_per_person:
            sentence = "one row for each value of {person}, chosen secretly and uniformly; rows without are left out"
            return Assumption("person.one-row-kept", sentence, given)
        if self.distinct is not None:
            sentence = (
                "each value of {person} counts once in at most {distinct} bins, chosen secretly; rows without are "
                "left out"
            )
            return Assumption("person.several-bins", sentence, (*given, ("distinct", str(self.distinct))))
        return Assumption("person.one-row-each", "{person} identifies people, and each has one row", given)

    @property
    def describe(self) -> str:
        """The same in words."""
        return str(self.assumption)


EACH_ROW: Final = Unit()


def of_numbers(
    person: str | None,
    *,
    one_row_per_person: bool = False,
    any_row: bool = False,
    expected_rows: bool = False,
) -> Unit:
    """The unit of a count, share, mean or quantile: of several rows one is kept, or any of them is enough."""
    if not all(isinstance(each, bool) for each in (one_row_per_person, any_row, expected_rows)):
        raise WrongUse("`one_row_per_person`, `any_row` and `expected_rows` are True or False; write them so")
    if any_row and one_row_per_person:
        raise WrongUse("`any_row` and `one_row_per_person` exclude each other; choose one of them")
    if any_row and person is None:
        raise WrongUse("whether any row of a person counts needs the person column; add `person=COLUMN`")
    if expected_rows and not one_row_per_person:
        raise WrongUse("expected rows are those of people with several; add `one_row_per_person=True`, or leave it out")
    return Unit(
        person=person,
        one_row_per_person=one_row_per_person,
        distinct=1 if any_row else None,
        expected_rows=expected_rows,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """How the people in the table were sampled from the population by somebody else, as declared."""

    low: Fraction
    high: Fraction
    exempt: int = 0

    @property
    def sample(self) -> IndependentSample:
        """The same as a class of samples."""
        if self.low == self.high and not self.exempt:
            return BernoulliSample(p=self.high)
        highest = Fraction(1) if self.exempt else self.high
        return RobustSample(low=self.low, high=self.high, highest=highest, exempt=self.exempt)
