"""Attacks on tables: two crowd-blending ones, two margins, the first row of synthetic data, one row of several."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Final

from hubbub.audit.attacks.story import Story, percent
from hubbub.audit.blending import ANY, Data, Law, listed, lone
from hubbub.audit.faults.releases import PEOPLE, K
from hubbub.audit.faults.releases import margins as two_margins

CROWD: Final = 2
FIRST: Final = ((0, 1), (2,))
SECOND: Final = ((0,), (1, 2))


def _suppressed(count: int, k: int = CROWD) -> int | None:
    return count if count >= k else None


def _by(*partitions: tuple[tuple[int, ...], ...]) -> dict[Data, Law]:
    """Tables by some partitions of three kinds of people, each hiding counts below the crowd, as laws."""

    def mechanism(data: Data) -> Law:
        released = tuple(
            tuple(_suppressed(sum(data[i] for i in part)) for part in partition) for partition in partitions
        )
        return {released: Fraction(1)}

    return listed(mechanism, 3, 2 * CROWD + 1)


def twice() -> Story:
    """Proposition 7: each table blends everybody with a crowd, and both together leave somebody alone."""
    singles = [lone(_by(partition), CROWD, Fraction(0)) for partition in (FIRST, SECOND)]
    found = lone(_by(FIRST, SECOND), CROWD, ANY)
    assert found is not None, "Proposition 7"
    crowds = [CROWD if each is None else each.crowd for each in singles]
    people = sum(found.data)
    return Story(
        name="twice",
        title="Two tables in which everybody has a crowd leave somebody alone",
        sentences=(
            f"Each of two tables hides counts below {CROWD}, by bins that overlap. In either everybody stands in a "
            f"crowd or can be left out. Of {people} people, both tables together single one out: that person has a "
            f"crowd of {found.crowd} and is missed when left out, with certainty (Proposition 7 of the crowd-blending "
            "paper).",
        ),
        numbers={"first": crowds[0], "second": crowds[1], "both": found.crowd, "people": people},
        bars=(
            ("the first table alone", float(crowds[0]), f"a crowd of {crowds[0]}"),
            ("the second table alone", float(crowds[1]), f"a crowd of {crowds[1]}"),
            ("both together", float(found.crowd), f"a crowd of {found.crowd}"),
        ),
        axis="the smallest crowd of somebody who is missed",
        protects="The ledger refuses the second table, unless noise hides it or it is of a fresh secret sample.",
    )


def margins() -> Story:
    """Differencing: a row of one table minus rows of another is a cell that both hide."""
    found = two_margins(jointly=True)
    one = found.determined[0]
    true = PEOPLE[tuple(value for _, value in one.key)]  # type: ignore[index]
    return Story(
        name="margins",
        title="Subtract one table from another, and a hidden cell appears",
        sentences=(
            f"A table by town and sex and one by town both hide counts below {K}. To find "
            f"{' and '.join(value for _, value in one.key)}: {one.because}. On the Adult census table two such margins "
            "give away 104 cells (docs/audit.md).",
        ),
        numbers={"hidden": K - 1, "found": one.low, "true": true, "cells": len(found.determined)},
        bars=(
            ("the hidden cell may hold up to", float(K - 1), f"{K - 1}"),
            ("both tables together say", float(one.low), f"{one.low}"),
        ),
        axis="people",
        protects="Publish both as one cube, or the second from the first; hubbub audit releases finds such cells.",
    )


def first_row() -> Story:
    """Proposition 12 of the crowd-blending paper: synthetic rows that are right about the first give it away."""
    allowed = {epsilon: 1 / (1 + math.exp(-epsilon)) for epsilon in (0.1, 1.0, 3.0)}
    return Story(
        name="first-row",
        title="Synthetic data whose first row is right cannot be differentially private",
        sentences=(
            "Two tables differ in their first row alone, far from each other. Synthetic rows of which the first is "
            "near the true one more often than e^epsilon/(1 + e^epsilon) of the time tell the two apart better than "
            f"epsilon allows: {percent(allowed[0.1])} for epsilon 0.1, {percent(allowed[1.0])} for 1. A mechanism that "
            "releases the first row as it is, right always, has no epsilon at all (Proposition 12 of the "
            "crowd-blending paper).",
        ),
        numbers={f"allowed_{epsilon:g}": share for epsilon, share in allowed.items()} | {"released": 1.0},
        bars=(
            *((f"allowed, epsilon {epsilon:g}", 100 * share, percent(share)) for epsilon, share in allowed.items()),
            ("the first row as it is", 100.0, "100.0 %"),
        ),
        axis="the first row is right, in percent",
        protects=(
            "A crowd protects what noise cannot: where the row's bin holds k people, moving it within the bin is "
            "crowd-blending, and it stays near the truth."
        ),
    )


def one_row() -> Story:
    """One row of each person, chosen secretly: no crowd for who has several."""

    def chance_visible(*people: tuple[str, ...]) -> Fraction:
        choices = list(product(*people))
        return Fraction(sum(_suppressed(rows.count("A")) is not None for rows in choices), len(choices))

    t, u = ("A", "B"), ("A",)
    both, without, twins = chance_visible(t, u), chance_visible(u), chance_visible(u, u)
    return Story(
        name="one-row",
        title="One row of several is no crowd",
        sentences=(
            "Somebody has a row in bin A and one in bin B; somebody else has a row in A. One row of each is kept, "
            f"secretly, and counts below {CROWD} are hidden. With both people, A is shown {percent(float(both))} of "
            f"the time; without the first, never; with two people like the second, always. Nobody is like the first "
            "person, and they are missed.",
        ),
        numbers={"with": float(both), "without": float(without), "two_alike": float(twins)},
        bars=(
            ("with the person", 100 * float(both), percent(float(both))),
            ("without them", 100 * float(without), percent(float(without))),
            ("another in their place", 100 * float(twins), percent(float(twins))),
        ),
        axis="bin A is shown, in percent",
        protects="Crowds are promised to the kept rows alone and said so; for people, take noise, or a secret sample.",
    )
