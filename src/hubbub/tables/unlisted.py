"""People whom the bins or the range of a release do not fit, by shares that are declared when a table is opened.

A bin that is spelt otherwise than the data (other capitals, a blank, another year) counts nobody, and zeros are
published and paid for; a range that misses most values makes one number of them. To refuse because nobody is in a bin
would tell that somebody is, wherever it is not refused; so there is one number about all people together: how many of
them are in no bin, or have no value inside of the range. Somebody with several rows is outside if all of them are.
Whoever does not meet the condition, or has no value where one is measured, is not looked at. Empty bins, conditions
that nobody meets and tables of nobody never refuse. What is not refused is told by that to be so; the certificate has
the shares.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.errors import Refused
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Countable, Discovered
from hubbub.tables.bounded_column import Measure

if TYPE_CHECKING:
    from hubbub.tables.engine import CountQuery

UNREADABLE: Final = (
    "too many people have a value{} that cannot be read as declared; hubbub check shows what to declare (`missing=NA`, or "
    ",money after the range of amounts like $1,234), or allow a larger share with `unreadable`"
)
UNLISTED: Final = (
    "more people than `unlisted` allows have a value of {column} that is in none of its bins; see with hubbub check how "
    "values and bins differ, then list them as they are written, add null or other, or allow a larger share (that it was "
    "refused is itself information, and for you alone); nothing was drawn"
)
CLAMPED: Final = (
    "more people than `clamped` allows have a value of {column} that lies outside of its range, and would count as the "
    "nearer end of it; declare the range that such values have, or allow a larger share (that it was refused is itself "
    "information, and for you alone); nothing was drawn"
)
"""Each reads the same for every such table. For the steward alone: it tells something about the data."""


FOUND: Final = (
    "The bins were found in the data. A bin that had to be hidden is absent, just like one with nobody in it, and how "
    "many are absent is not told."
)


class TooManyUnreadable(Refused):
    """More people cannot be read than was declared; whoever knows which columns are read names them."""

    def __init__(self, columns: Sequence[str] = ()) -> None:
        super().__init__(UNREADABLE.format(f" of {' or '.join(columns)}" if columns else ""))


NOT_COUNTED: Final = "Rows in none of the bins are not counted."
HOW_TO_COUNT: Final = "List null to count empty cells too."
"""For whoever publishes; a reader of the report can do nothing about it."""


def leaves_out(axes: Sequence[Countable]) -> bool:
    """Whether somebody can be in no bin, since a value is missing or not listed."""
    return any(not isinstance(axis, Discovered) and not axis.other for axis in axes)


def sentences(axes: Sequence[Countable]) -> tuple[str, ...]:
    """What is said of rows without a value, where no bin is for them."""
    if any(not isinstance(axis, Discovered) and not axis.other and not axis.null for axis in axes):
        return NOT_COUNTED, HOW_TO_COUNT
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Of how many people, all who meet the condition and have a value, how many are in no bin, and how many have no
    value inside of the range. Private, as all counts."""

    people: int
    unlisted: int = 0
    clamped: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AllowedOutside:
    """The shares of people who may be in no bin, and of those who may have no value inside of the range. 1: not looked at."""

    unlisted: Fraction = Fraction(1)
    clamped: Fraction = Fraction(1)

    def asks(self, question: CountQuery) -> bool:
        """Whether a question has to tell who is outside."""
        return self._asks_bins(question) or (self.clamped < 1 and isinstance(question.measure, Measure))

    def _asks_bins(self, question: CountQuery) -> bool:
        return self.unlisted < 1 and leaves_out(question.axes)

    def check(
        self, question: CountQuery, found: Outside, outside: Callable[[CountQuery], Outside], person: bool = False
    ) -> None:
        """Refuse if a larger share is outside. One alone never is: nobody stops a release by themselves.

        `found` is of rows, each a person; else (`person`) it is looked at again, by `outside`, if several rows are.
        It names every column that may leave somebody out: which of them did is not told.
        """
        bins = self._asks_bins(question) and _are_many(found.unlisted, found.people, self.unlisted, person)
        ends = isinstance(question.measure, Measure) and _are_many(found.clamped, found.people, self.clamped, person)
        if person and (bins or ends):
            self.check(question, outside(question), outside)
        elif bins:
            columns = [axis.column for axis in question.axes if leaves_out((axis,))]
            raise Refused(UNLISTED.format(column=" or ".join(columns)))
        elif ends:
            assert isinstance(question.measure, Measure)
            raise Refused(CLAMPED.format(column=question.measure.column))


EVERYBODY_MAY_BE: Final = AllowedOutside()


def _are_many(some: int, people: int, share: Fraction, rows: bool) -> bool:
    """Whether so many are more than the share; of rows that may all be one person's, whether they may be."""
    return share < 1 and some > 1 and (rows or some > share * people)
