"""What an engine does: say which columns there are, and count people in public bins, exactly and once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Protocol, Self, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure
from hubbub.tables.condition import Condition
from hubbub.tables.condition import bind as bind_condition
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.contribution import MultiRowPolicy as MultiRowPolicy

if TYPE_CHECKING:
    from hubbub.noise.source import Source
    from hubbub.tables.bins import Countable
    from hubbub.tables.cell_format import Missing
    from hubbub.tables.identity import Identity, IdObserver
    from hubbub.tables.kept_rows import KeptRows
    from hubbub.tables.schema import Schema
    from hubbub.tables.unlisted import AllowedOutside, Outside


@dataclass(frozen=True, slots=True, kw_only=True)
class CountQuery:
    """Count the people in each bin of the partition that the axes make.

    With `where`, those only who meet the condition (:mod:`hubbub.tables.condition` says what it means). With `measure`,
    those only who have a value, and the sum of their steps comes back beside each count; a condition as a measure is 1
    for whoever meets it and 0 for the others, W = 1, and everybody has a value. With `by_value` there is no sum, and
    the steps 0..W are one more axis, the last and fastest. With `everybody`, all who are in no bin, do not meet the
    condition or have no value come back too, together, under the code -1. With ONE_ROW all of that is about the kept
    rows: a row is chosen among all rows of a person, and then looked at. With ANY_ROW there are no bins and one
    condition, as `where` or as the measure, which a person meets if any row does. With DISTINCT there are bins, and
    perhaps one condition: as `where` it says which rows count at all, and as the measure a person meets it in a bin if
    any of their rows there does. With DECLARED each row is a person, with an id or without one, and whether an id
    comes twice is not looked at. With BOUNDED rows count, or people with what their rows sum up to, as
    :mod:`hubbub.tables.contribution` says, within the `bounds`; `bands` are of these sums.
    """

    axes: tuple[Countable, ...]
    person: str | None = None
    repeats: MultiRowPolicy = MultiRowPolicy.REFUSE
    most_bins: int = 1  # per person, with DISTINCT
    where: Condition | None = None
    measure: Measure | Condition | None = None
    by_value: bool = False
    everybody: bool = False
    people: int | None = None  # how many there are, as declared: another number is refused before a row is chosen
    bounds: ContributionBounds | None = None  # with BOUNDED
    bands: tuple[int, ...] = ()  # with BOUNDED and a measure: people are counted by what their rows sum up to

    def __post_init__(self) -> None:
        if self.person is None and self.repeats is not MultiRowPolicy.REFUSE:
            raise WrongUse("without a person column each row is a person; name the column with `person`")
        if self.repeats is MultiRowPolicy.DISTINCT and (isinstance(self.measure, Measure) or self.everybody):
            raise WrongUse(
                "a person in several bins goes with bins and conditions; drop the measure, or keep one row of each "
                "person (`one_row_per_person=True`)"
            )
        if (self.bounds is not None) is not (self.repeats is MultiRowPolicy.BOUNDED) or (
            self.bands and self.bounds is None
        ):
            raise WrongUse("bounds and bands go with rows that are bounded; say how, or leave them out")
        if self.bounds is not None:
            _check_bounded(self, self.bounds)
        if self.repeats is MultiRowPolicy.ANY_ROW:
            self.rule  # noqa: B018  # refuses what has none

    @property
    def rule(self) -> Condition:
        """The condition of ANY_ROW, or one sentence."""
        rules = [each for each in (self.where, self.measure) if isinstance(each, Condition)]
        if len(rules) != 1 or self.axes or self.by_value or isinstance(self.measure, Measure):
            raise WrongUse("any row of a person goes with one condition and no bins; leave out the rest")
        return rules[0]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read of whoever counts, each once: those of bins, condition and measure."""
        rules = (self.where, self.measure)
        read = [(rule.column,) if isinstance(rule, Measure) else rule.columns for rule in rules if rule is not None]
        return tuple(dict.fromkeys([*(axis.column for axis in self.axes), *(name for names in read for name in names)]))

    def bind(self, schema: Schema) -> CountQuery:
        """The question about such columns, or one sentence if it cannot be asked of them."""
        from hubbub.tables.schema import bind_axes, column

        for rule in (self.where, self.measure):
            if isinstance(rule, Measure):
                rule.bind(schema)
            elif rule is not None:
                bind_condition(rule, schema)
        if self.person is not None:
            column(schema, self.person)
        return replace(self, axes=bind_axes(self.axes, schema))

    @property
    def is_one_row_each(self) -> bool:
        """Whether each row is a person: nobody has several, or they are refused, or somebody declared it."""
        return self.person is None or self.repeats in (MultiRowPolicy.REFUSE, MultiRowPolicy.DECLARED)

    @property
    def sums(self) -> bool:
        """Whether what a person's rows sum up to is looked at, so that people are counted."""
        return bool(self.bands) or (self.bounds is not None and self.bounds.has_caps)

    @property
    def first_step(self) -> int:
        """What the step 0 of the measure stands for, in steps."""
        assert isinstance(self.measure, Measure)
        return int(self.measure.low / self.measure.step)

    @property
    def plain(self) -> bool:
        """Whether it is only about bins."""
        return self.where is None and self.measure is None and not self.everybody


def _check_bounded(question: CountQuery, bounds: ContributionBounds) -> None:
    measure = question.measure
    if question.everybody or question.people is not None:
        raise WrongUse("where rows of a person are bounded, how many people there are is not looked at; leave it out")
    if not question.sums:
        return
    if not isinstance(measure, Measure) or question.by_value:
        raise WrongUse("caps are on sums of a measure; say which, or leave out the caps")
    if (measure.low / measure.step).denominator != 1:
        raise WrongUse(f"a capped range begins at a multiple of its step; declare {measure.column} so")
    if any(one >= other for one, other in pairwise(question.bands)):
        raise WrongUse("bands rise; put them in order")


@dataclass(frozen=True, slots=True, eq=False)
class ExactCounts:
    """Exact counts of the bins that are not empty. Private: never leaves the release that asked.

    `codes` numbers the declared part of each bin (mixed radix over the declared axes, the last axis fastest);
    `found[i]` holds the labels of the i-th discovered axis, one for each bin, None where the value is missing.
    `sums[i]` is the sum of the steps of the people in the i-th bin, where a measure was asked for: Python integers, as
    the sum over very many people may not fit 64 bits. Where rows are bounded, `counts` are of kept rows, and of people
    with caps or bands (:mod:`hubbub.tables.contribution`). `outside` says who fits no bin or range, where an engine
    looked at it and leaves the refusal to another.
    """

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    found: tuple[list[str | None], ...] = ()
    sums: tuple[int, ...] | None = None
    outside: Outside | None = None


def rows_of_one(questions: Sequence[CountQuery]) -> tuple[str, int | None]:
    """The column of people, and how many rows of a person are kept, which questions about the same rows agree in."""
    first = questions[0]
    most = {None if each.bounds is None else each.bounds.rows_per_person for each in questions}
    if first.person is None or len(most) > 1 or any(each.repeats is not MultiRowPolicy.BOUNDED for each in questions):
        raise WrongUse("questions about the same rows of a person bound them alike; say so, or ask them apart")
    return first.person, most.pop()


def of_any_row(question: CountQuery, people: int, met: int) -> ExactCounts:
    """What a question with ANY_ROW counts, of so many people of whom so many meet the condition."""
    if question.measure is not None:
        found, sums = {0: people}, (met,) if people else ()
    else:
        found, sums = {-1: people - met if question.everybody else 0, 0: met}, None
    some = {code: count for code, count in found.items() if count}
    return ExactCounts(np.array(list(some), dtype=np.int64), np.array(list(some.values()), dtype=np.int64), (), sums)


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Exact counts of the cells that several questions make together: every person is in one of them. Private.

    `codes[j][i]` is where the j-th question counts the people of the i-th cell, as in :class:`ExactCounts`; -1: nowhere.
    """

    codes: tuple[NDArray[np.int64], ...]
    counts: NDArray[np.int64]
    outside: tuple[Outside, ...] = ()  # of each question, as there


SEVERAL_ROWS: Final = (
    "the table does not have exactly one row for each person; count rows, at most M of each person "
    "(`rows_per_person=M`), or keep one row of each, chosen secretly (`one_row_per_person=True`), where the release can; "
    "a histogram can also count each person once in at most B bins (`distinct=B`)"
)
"""Reads the same for every such table. It is for the steward alone: it tells something about the data."""

NO_ID: Final = (
    "some rows say nobody in the column of people, which is empty there, so that nobody knows whose they are; fill the "
    "ids in, or leave these rows out of the table"
)
"""Before what is said about people with several rows. Reads the same for every such table; for the steward alone."""

OTHER_NUMBER: Final = (
    "the table is not of as many people as were declared; declare how many people it is of, not how many rows (that it "
    "was refused is itself information, and for you alone); nothing was drawn"
)
"""Reads the same for every such table. For the steward alone: it tells something about the data."""

ONE_ROW_EACH: Final = (
    "the table does not have exactly one row for each person, and this is of people with one row each; make a table "
    "that has one, such as the sum or the latest of each person's rows, and release that"
)
"""Where rows are not chosen. Reads the same for every such table; for the steward alone."""

ONE_ROW_OF_SEVERAL: Final = (
    "the table does not have exactly one row for each person; make a table that has one, such as the sum or the latest "
    "of each person's rows, and release that, or keep one row of each, chosen secretly (`one_row_per_person=True`), or, where the "
    "release can, at most M rows (`rows_per_person=M`)"
)
"""The same where they can be."""

Choice: TypeAlias = Callable[[int], NDArray[np.int64]]
"""From how many people there are to the ranks of those who are drawn, in the order in which they are wanted."""


class Engine(Protocol):
    """A table of people in a file, a frame or a database, which is counted where it is."""

    def columns(self) -> Schema:
        """The columns and what they hold. The schema is public."""
        ...

    def identity(self) -> Identity:
        """What the table is, whatever it is called. Private: it stays in the ledger."""
        ...

    def with_missing(self, missing: Missing) -> Self:
        """The same table, where cells that are spelled so are missing. It keeps its columns and its rows."""
        ...

    def observing_ids(self, observer: IdObserver) -> Self:
        """The same table, which calls `observer.on_chosen` with some of the ids in it before it counts by a person
        column, and before `source` is used; what that refuses is not counted."""
        ...

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        """Exact counts; `source` gives the secret choices among a person's rows."""
        ...

    def allowing(self, allowed: AllowedOutside) -> Self:
        """The same table, of which a larger share of people in no bin, or outside of a range, is refused before `source` is
        used: whatever is counted, and however many rows a person has."""
        ...

    def outside(self, question: CountQuery) -> Outside:
        """How many people are in no bin, and outside of the range, by none of their rows. Private, as all counts."""
        ...

    def rows(self, columns: Sequence[str], person: str | None, chosen: Choice) -> pa.Table:
        """The rows with the ranks that `chosen` gives, told how many people there are, in the order of these ranks; the
        numbering is any, made without looking at them. One row for each person, or one sentence."""
        ...

    def joint_count(self, questions: tuple[CountQuery, ...], source: Source) -> Joint:
        """Exact counts of everybody, in one reading, by where several questions count them at once: questions about
        one row of each person (the same one for all of them, if `source` has to choose it), with declared bins, and
        measures by value."""
        ...

    def kept_rows(self, questions: tuple[CountQuery, ...], source: Source, people: int | None = None) -> KeptRows:
        """The rows that are kept of each person, BOUNDED alike by all questions, in one reading, with where each question
        counts them: declared bins, and measures by value. Of their bounds the rows of a person alone are looked at; the
        others follow (:func:`hubbub.tables.kept_rows.within_bounds`). With `people`, a table of another number of them
        is refused before a row is chosen."""
        ...
