"""Hiding bins of fewer than k people is no crowd-blending where people have several rows: the smallest example."""

from __future__ import annotations

import pytest

from hubbub import registry
from hubbub.errors import Refused, WrongUse

Profile = tuple[str, ...]  # the bins of a person's rows
K = 2


def small_bins_hidden(people: list[Profile]) -> dict[str, int]:
    """The refuted rule: exact numbers of people of bins with at least k of them."""
    bins = {name for person in people for name in person}
    counts = {name: sum(name in person for person in people) for name in bins}
    return {name: count for name, count in counts.items() if count >= K}


def small_profiles_left_out(people: list[Profile]) -> dict[str, int]:
    """What does blend: every row of people whose profile fewer than k share is left out first."""
    kept = [person for person in people if people.count(person) >= K]
    bins = {name for person in kept for name in person}
    return {name: sum(person.count(name) for person in kept) for name in bins}


def test_a_person_whom_nobody_resembles_is_seen_where_small_bins_are_hidden() -> None:
    """k = 2, people {a} and {a, b}: the second shares a profile with nobody, so leaving must change nothing, and bin a
    is shown with that person alone."""
    people: list[Profile] = [("a",), ("a", "b")]
    assert people.count(("a", "b")) < K
    assert small_bins_hidden(people) == {"a": 2}
    assert small_bins_hidden(people[:1]) == {}
    assert small_profiles_left_out(people) == small_profiles_left_out(people[:1]) == {}
    assert small_profiles_left_out([("a",), ("a",), ("a", "b")]) == {"a": 2}


def test_a_random_choice_of_rows_makes_no_crowds_of_profiles() -> None:
    """k = 2, one row of each, people {a} and {a, b}: with the second "a: 2" has chance 1/2, without it none, and whoever
    has rows in both bins blends only with themselves."""
    chances = [small_profiles_left_out([("a",), kept]) for kept in (("a",), ("b",))]
    assert chances == [{"a": 2}, {}]
    assert small_profiles_left_out([("a",)]) == {}


def test_a_histogram_hides_small_bins_and_so_refuses_several_rows_in_crowds() -> None:
    """Counts, means and sums have crowds of profiles; a histogram has none."""
    spec = registry.kind("count").from_options(person="patient", by=["ward=a,b"], rows_per_person="2", crowd="2")
    (promise,) = spec.promises()
    assert promise.theorem.id == "statistic.profile-crowds"
    with pytest.raises((WrongUse, Refused), match="several rows of a person"):
        registry.kind("histogram").from_options(
            person="patient", by=["ward=a,b"], rows_per_person="2", crowd="2"
        ).promises()
