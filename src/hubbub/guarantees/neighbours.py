"""The neighbouring relation (adjacency) of a promise: which two data sets must be indistinguishable.

A mechanism that publishes the number of people has no loss under replacement, and an infinite one when a person is
removed. So promises under different relations are never added up, and a promise is converted to another relation only
by a theorem that says so (:class:`hubbub.guarantees.derivation.Theorem`, `converts`). A mechanism that refuses every table
but those of N people tells a table with somebody from one without for certain: whatever it promises compares tables of
N people.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Protocol

from hubbub.errors import Refused


class Neighbours(Enum):
    """How neighbouring data sets differ. The values are written in certificates and ledgers."""

    ADD_REMOVE = "add/remove"
    """One has one person more than the other, so that even the number of people is protected."""
    REPLACE = "replace"
    """Same number of people, one of them with other data, or with none: a blank row. That number may be public."""

    @property
    def number_is_public(self) -> bool:
        """Whether the number of people may be known, or enforced: both data sets have the same."""
        return self is Neighbours.REPLACE


class HasNeighbours(Protocol):
    """A promise under one relation."""

    @property
    def neighbours(self) -> Neighbours:
        """The relation."""
        ...


def one_relation(promises: Sequence[HasNeighbours], theorem: object) -> Neighbours:
    """The relation that all of these promises are under; unlike ones are refused."""
    found = promises[0].neighbours
    if any(each.neighbours is not found for each in promises):
        raise Refused(
            f"{theorem} needs one neighbouring relation; bring add/remove to replace with add_remove_to_replace"
        )
    return found


def check_number(promises: Iterable[HasNeighbours], enforced: int | None) -> None:
    """Refuse a promise that an enforced number of people makes false.

    Guarantee: returns only if no number is enforced, or every promise compares data sets of one number of people.
    """
    if enforced is None:
        return
    wrong = next((each for each in promises if not each.neighbours.number_is_public), None)
    if wrong is not None:
        raise Refused(
            f"{wrong} compares data with a person and without, and any number of people but {enforced:,} is refused, "
            "which tells them apart for certain; promise it for one person replaced, or enforce no number"
        )
