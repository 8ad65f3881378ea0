"""Two tempting rules for crowds that come period by period, refuted; and the rule that holds, on the same histories."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import pytest

Arrivals = tuple[int, ...]
"""How many people of one bin arrive in each period; people of one period are alike."""
Shown = tuple[int | None, ...]
"""What is shown after each period; None: hidden."""


def totals_from_k_on(arrivals: Arrivals, k: int) -> Shown:
    """Running totals, shown once they are at least k."""
    sums = [sum(arrivals[: t + 1]) for t in range(len(arrivals))]
    return tuple(each if each >= k else None for each in sums)


def held_back_until_k(arrivals: Arrivals, k: int) -> Shown:
    """Increments that wait until at least k people have gathered, and are then shown together."""
    waiting, found = 0, list[int | None]()
    for new in arrivals:
        waiting += new
        found.append(waiting if waiting >= k else None)
        waiting = 0 if waiting >= k else waiting
    return tuple(found)


def increments_of_k(arrivals: Arrivals, k: int) -> Shown:
    """Increments of at least k people; smaller ones never come back. What Hubbub does."""
    return tuple(each if each >= k else None for each in arrivals)


def refutations(rule: Callable[[Arrivals, int], Shown], k: int, most: int = 4, periods: int = 3) -> Iterator[Arrivals]:
    """Tables in which somebody neither blends with k people nor can be left out.

    Somebody of period t and somebody of period s blend if in *every* table either could stand for the other.
    """
    tables = list(product(range(most + 1), repeat=periods))

    def with_one(table: Arrivals, t: int) -> Arrivals:
        return tuple(n + (i == t) for i, n in enumerate(table))

    blend = {
        (t, s): all(rule(with_one(table, t), k) == rule(with_one(table, s), k) for table in tables)
        for t in range(periods)
        for s in range(periods)
    }
    for table in tables:
        for t in range(periods):
            if not table[t]:
                continue
            crowd = sum(n for s, n in enumerate(table) if blend[t, s])
            without = tuple(n - (i == t) for i, n in enumerate(table))
            if crowd < k and rule(without, k) != rule(table, k):
                yield table
                break


def test_totals_from_k_on_are_no_crowd_blending() -> None:
    """0, 1, 2 arrivals, k = 3: the one of the second period has no crowd, and changes 3 to hidden."""
    assert totals_from_k_on((0, 1, 2), 3) == (None, None, 3)
    assert totals_from_k_on((0, 0, 2), 3) == (None, None, None)
    assert (0, 1, 2) in refutations(totals_from_k_on, 3)


def test_increments_held_back_until_k_have_gathered_are_no_crowd_blending() -> None:
    """The same table: with k - 1 waiting, the earlier one decides when the batch closes."""
    assert held_back_until_k((0, 1, 2), 3) == (None, None, 3)
    assert held_back_until_k((0, 0, 2), 3) == (None, None, None)
    assert (0, 1, 2) in refutations(held_back_until_k, 3)


@pytest.mark.parametrize("k", [2, 3])
def test_increments_on_a_public_calendar_blend_or_ignore_everybody(k: int) -> None:
    assert list(refutations(increments_of_k, k)) == []


def test_profiles_shown_period_by_period_are_no_crowd_blending() -> None:
    """k = 2: one person in periods 1 and 2, one in 1 alone. Period 1 shows 2, and hides it without the first, who is like
    nobody since period 2 tells the two apart. So who recurs counts in the first period only."""

    def shown(people: list[tuple[int, int]]) -> Shown:
        return tuple(n if n >= 2 else None for n in (sum(p[t] for p in people) for t in (0, 1)))

    both, first = (1, 1), (1, 0)
    assert shown([both, first]) == (2, None)
    assert shown([first]) == (None, None)
    others = [(1, 1)]  # a table in which the two do not stand for each other
    assert shown([*others, both]) != shown([*others, first])
