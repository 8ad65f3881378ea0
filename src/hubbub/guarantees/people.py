"""Whom a promise is about.

A promise to the people of a table says nothing about the rows that were kept of them, and what holds for a population
from which a table was collected does not hold for that table. So a promise carries its people, and nothing adds up
across unlike ones.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import Neighbours
from hubbub.runtime.frozen import dataclass


class Whose(Enum):
    """Whose data may differ between two neighbouring data sets."""

    TABLE = "table"
    """A person of the table, with everything that the table says about them."""
    KEPT_ROWS = "kept-rows"
    """The one row that was kept of a person; before the choice nobody need be like a person with several rows."""
    KEYS = "keys"
    """A person of the table, as far as the key columns tell: columns that are published untouched are left out."""
    POPULATION = "population"
    """A person of the population from which the table was collected as a sample, whether or not they came into it."""
    VERTEX = "vertex"
    """A person of a graph, with all their edges; the graph without them has the same vertices."""
    EDGE = "edge"
    """One edge of a graph; a person with several is in several promises."""
    BALLOTS = "ballots"
    """A voter with the ballot that they cast; the official record of the election is public and the same for both."""


ROW: Final = "row"
"""The unit where each row is taken to be one person."""
DECLARED_UNIQUE: Final = "person.declared-unique"
"""The assumption that each person has one row, where that was declared and not checked."""
BALLOT: Final = "ballot"
"""The unit of an election."""


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """The people that a promise is about: whose, and which column says who is who (none: each row is a person).

    In a graph nobody needs a column: who a person is, `whose` says.
    """

    whose: Whose = Whose.TABLE
    person: str | None = None

    def __post_init__(self) -> None:
        if self.in_graph and self.person is not None:
            raise WrongUse("the people of a graph are its vertices, or its edges, and no column says who they are")

    @property
    def in_graph(self) -> bool:
        """Whether they are people, or edges, of a graph."""
        return self.whose in (Whose.VERTEX, Whose.EDGE)

    @property
    def unit(self) -> str:
        """The person column, or "row"; in a graph "vertex" or "edge", of a vote "ballot"."""
        if self.in_graph:
            return self.whose.value
        if self.whose is Whose.BALLOTS:
            return BALLOT
        return ROW if self.person is None else self.person

    @property
    def neighbours(self) -> Neighbours:
        """The neighbouring relation: a vertex of a graph stays, and its edges are replaced."""
        return Neighbours.REPLACE if self.whose is Whose.VERTEX else Neighbours.ADD_REMOVE

    @property
    def difference(self) -> str:
        """Which two data sets are neighbours, in words."""
        who = "one row" if self.person is None else f"one person, all of whose rows share one value of {self.person},"
        match self.whose:
            case Whose.TABLE:
                return f"two tables, of which one has {who} more"
            case Whose.KEPT_ROWS:
                return "two tables of kept rows, of which one has one row more"
            case Whose.KEYS:
                return f"two tables, of which one has {who} more, seen in the file without its untouched columns"
            case Whose.POPULATION:
                return (
                    f"two populations, of which one has {who} more; the table is a random sample of it. Two given "
                    "tables need not look alike"
                )
            case Whose.VERTEX:
                return "two graphs on the same vertices, which differ in nothing but the edges of one vertex"
            case Whose.EDGE:
                return "two graphs on the same vertices, of which one has one edge more"
            case Whose.BALLOTS:
                return (
                    "two tables drawn beside the same official record, of piles of which one has one ballot more; "
                    "whether a pile gives that record, the record tells, and not the table"
                )

    def __str__(self) -> str:
        unit = "each row a person" if self.person is None else f"by {self.person}"
        match self.whose:
            case Whose.TABLE:
                return f"the people of the table, {unit}"
            case Whose.KEPT_ROWS:
                return f"the kept rows, one of each person, {unit}"
            case Whose.KEYS:
                return f"the people of the table, {unit}, in the file without its untouched columns"
            case Whose.POPULATION:
                return f"the population that the table was collected from, {unit}"
            case Whose.VERTEX:
                return "the people of the graph, each a vertex with all its edges"
            case Whose.EDGE:
                return "the edges of the graph, each by itself"
            case Whose.BALLOTS:
                return "the voters, each ballot one of them, given the official record"
