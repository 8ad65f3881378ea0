"""Ballots as weighted rankings in arrays: the three kinds, what is refused, and what stays as it came."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.reading import settle_ties

SOME = Ballots.from_counts(
    "abc",
    {("a", "b", "c"): 3, ("b",): 2, (): 1},
    tied={(frozenset("ab"), frozenset("c")): 4},
)


def test_kinds_are_told_apart() -> None:
    assert (SOME.voters, SOME.complete, SOME.truncated_voters, SOME.tied_voters, SOME.blank) == (10, 3, 3, 4, 1)
    assert SOME.rankings.tolist() == [[0, 1, 2], [1, -1, -1], [-1, -1, -1]]
    assert SOME.levels.tolist() == [[0, 0, 1]]


def test_names_come_back() -> None:
    assert SOME.counts() == {("a", "b", "c"): 3, ("b",): 2, (): 1}
    assert SOME.tied_counts() == {(frozenset("ab"), frozenset("c")): 4}


def test_arrays_cannot_be_changed() -> None:
    for array in (SOME.rankings, SOME.weights, SOME.levels, SOME.tied_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


def test_rows_are_kept_as_they_are_and_can_be_merged() -> None:
    rows = np.array([[0, 1, 2], [2, 1, 0], [0, 1, 2]], dtype=np.uint8)
    ballots = Ballots.from_rows("abc", rows)
    assert np.shares_memory(ballots.rankings, rows)
    assert ballots.single
    assert ballots.voters == ballots.complete == 3
    merged = ballots.merge_equal()
    assert merged.counts() == ballots.counts() == {("a", "b", "c"): 2, ("c", "b", "a"): 1}
    assert len(merged.rankings) == 2


def test_short_rows_are_truncated_ballots() -> None:
    ballots = Ballots.from_rows("abcd", [[0, 3], [1, -1]], [5, 2])
    assert ballots.counts() == {("a", "d"): 5, ("b",): 2}


@pytest.mark.parametrize(
    ("rows", "weights", "sentence"),
    [
        ([[0, 3]], None, "numbers of candidates"),
        ([[0, -2]], None, "numbers of candidates"),
        ([[0, 0, 1]], None, "a candidate twice"),
        ([[-1, 0, 1]], None, "after a -1"),
        ([[0, 1, 2, 3]], None, "3 candidates, and a row has 4"),
        ([[0.5, 1]], None, "whole numbers"),
        ([[0, 1]], [-1], "whole number from 0"),
        ([[0, 1]], [0.5], "whole number of at least 0"),
        ([[0, 1]], [1, 2], "one weight"),
    ],
)
def test_rows_that_cannot_be_ballots_are_refused(rows: object, weights: object, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        Ballots.from_rows("abc", rows, weights)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("candidates", "counts", "sentence"),
    [
        ("a", {("a",): 1}, "at least 2 candidates"),
        ("aa", {("a",): 1}, "a name of their own"),
        ("ab", {("c",): 1}, "not a candidate"),
        ("ab", {("a", "a"): 1}, "twice"),
        ("ab", {("a",): -1}, "whole number from 0"),
    ],
)
def test_names_that_cannot_be_ballots_are_refused(
    candidates: str, counts: dict[tuple[str, ...], int], sentence: str
) -> None:
    with pytest.raises(WrongUse, match=sentence):
        Ballots.from_counts(candidates, counts)


def test_weights_that_would_wrap_around_are_refused() -> None:
    """1,100 times 2^53 is negative in 64 bits."""
    rows = list(permutations(range(12), 3))[:1100]
    for weights in ([1 << 53] * 1100, [1 << 53, 1, *[0] * 1098]):
        with pytest.raises(WrongUse, match="at most 2\\^53 ballots"):
            Ballots.from_rows("abcdefghijkl", rows, weights)
    assert Ballots.from_rows("abcdefghijkl", rows, [(1 << 53) - 1, 1, *[0] * 1098]).voters == 1 << 53


def test_a_restriction_strikes_the_others_out_of_every_ballot() -> None:
    ballots = Ballots.from_counts("abcd", {("d", "a", "b", "c"): 3, ("d", "b"): 2, ("a", "c", "b"): 1, ("d",): 4})
    assert ballots.restrict_to([2, 0, 1]).counts() == {("a", "b", "c"): 3, ("b",): 2, ("a", "c", "b"): 1, (): 4}


def test_tied_ballots_are_settled_before_they_are_counted() -> None:
    with pytest.raises(WrongUse, match="settle them first"):
        SOME.strictly("plurality")
    assert settle_ties(SOME, "stop").counts() == {("a", "b", "c"): 3, ("b",): 2, (): 5}
    assert settle_ties(SOME, "skip").counts() == {("a", "b", "c"): 3, ("b",): 2, (): 1, ("c",): 4}
    with pytest.raises(WrongUse, match="4 ballots rank candidates equal"):
        settle_ties(SOME, "refuse")


def test_the_rest_at_the_end_of_a_complete_ballot_is_simply_not_ranked() -> None:
    completed = Ballots.from_counts("abc", {}, tied={(frozenset("a"), frozenset("bc")): 2})
    for rule in ("stop", "skip", "refuse"):
        assert settle_ties(completed, rule).counts() == {("a",): 2}
