"""Promises about somebody who comes or goes, and numbers of people that are enforced: they do not go together.

A mechanism that refuses every table but those of N people tells a table with somebody from one without for certain:
the first is published and the second is not. Whatever it promises compares tables of N people.
"""

from __future__ import annotations

from collections.abc import Iterable

from hubbub.errors import Refused
from hubbub.guarantees.definitions import DifferentialPrivacy, Guarantee, Neighbours, ZeroKnowledge


def compares_unlike_numbers(promise: Guarantee) -> bool:
    """Whether a promise is about data with a person and the same data without.

    Guarantee: False only where it is not: one person replaced, or a simulator that is told how many people there are
    (zero-knowledge privacy). Crowd-blending has its removal clause, and outlier privacy is about leaving.
    """
    if isinstance(promise, DifferentialPrivacy):
        return promise.neighbours is not Neighbours.REPLACE
    return not isinstance(promise, ZeroKnowledge)


def check_number(promises: Iterable[Guarantee], enforced: int | None) -> None:
    """Refuse a promise that an enforced number of people makes false."""
    if enforced is None:
        return
    wrong = next((each for each in promises if compares_unlike_numbers(each)), None)
    if wrong is not None:
        raise Refused(
            f"{wrong} compares data with a person and without, and any number of people but {enforced:,} is refused, "
            "which tells them apart for certain; promise it for one person replaced, or enforce no number"
        )
