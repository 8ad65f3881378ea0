"""Who would win each pair, against ballots looked at one by one."""

from __future__ import annotations

from itertools import permutations

import pytest

from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules import pairwise as module
from hubbub.voting.rules.pairwise import pairwise


@pytest.mark.parametrize("i", range(12))
def test_agrees_with_ballots_looked_at_one_by_one(i: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROWS", 3)  # so that several batches are added up
    names = "abcde"[: 2 + i % 4]
    rankings = [r for length in range(len(names) + 1) for r in permutations(names, length)]
    words = ScriptedSource.from_label(f"pairs {i}").words(8)
    counts = {rankings[int(word) % len(rankings)]: 1 + int(word >> 40) % 9 for word in words}
    found = pairwise(Ballots.from_counts(names, counts))
    assert found is not None
    for one in range(len(names)):
        for other in range(len(names)):
            prefer = 0
            for ranking, times in counts.items():
                place = [ranking.index(n) if n in ranking else 99 for n in (names[one], names[other])]
                prefer += times * (place[0] < place[1])
            assert found.table[one][other] == prefer
    beats = [i for i, row in enumerate(found.table) if all(v > found.table[j][i] for j, v in enumerate(row) if j != i)]
    assert found.winner == (beats[0] if beats else None)


def test_a_tie_is_nobodys_and_a_cycle_has_no_winner() -> None:
    tied = pairwise(Ballots.from_counts("ab", {("a", "b"): 2, ("b", "a"): 2, (): 3}))
    assert tied is not None
    assert tied.as_json() == {
        "condorcet_winner": None,
        "pairs": [{"winner": None, "pair": ["a", "b"], "votes": [2, 2]}],
    }
    cycle = pairwise(Ballots.from_counts("abc", {("a", "b", "c"): 1, ("b", "c", "a"): 1, ("c", "a", "b"): 1}))
    assert cycle is not None
    assert "no Condorcet winner" in cycle.sentence()
    sure = pairwise(Ballots.from_counts("abc", {("b", "a", "c"): 3, ("a", "b", "c"): 2}))
    assert sure is not None
    assert sure.sentence().startswith("b beats everybody")


def test_too_many_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_WORK", 3)
    assert pairwise(Ballots.from_counts("ab", {("a", "b"): 2})) is None
