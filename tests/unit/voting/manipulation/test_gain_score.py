"""Gains of lies in score voting: by going through everything with nothing but fractions, and over a triangle."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from hubbub import vote
from hubbub.errors import WrongUse
from hubbub.voting.manipulation.beliefs import Belief, Scores, belief, read_ranking, scores_of
from hubbub.voting.manipulation.gain import Contest, Question, gain
from hubbub.voting.manipulation.gain_winners import contest_of
from hubbub.voting.manipulation.question import corners, utility
from hubbub.voting.rules.points import Score

NAMES = ("a", "b", "c")


def law(ballots: list[tuple[int, ...]]) -> list[Fraction]:
    points = [sum(ballot[c] for ballot in ballots) for c in range(3)]
    best = [c for c in range(3) if points[c] == max(points)]
    return [Fraction(int(c in best), len(best)) for c in range(3)]


def by_hand(shares: dict[tuple[int, ...], Fraction], truth: tuple[int, ...], voters: int, top: int) -> Fraction:
    """The most over all lies, and over all sets of candidates whom the truth scores above the others."""
    most = Fraction(0)
    for lie in product(range(top + 1), repeat=3):
        for least in set(truth):
            liked = [c for c in range(3) if truth[c] > least]
            total = Fraction(0)
            for others in product(shares, repeat=voters - 1):
                chance = Fraction(1)
                for ballot in others:
                    chance *= shares[ballot]
                before, after = law([*others, truth]), law([*others, lie])
                total += chance * sum(after[c] - before[c] for c in liked)
            most = max(most, total)
    return most


def test_the_gain_is_the_largest_over_all_lies() -> None:
    random, seen = Random(5), 0
    for _ in range(25):
        top, voters = random.randint(1, 2), random.randint(2, 4)
        cast = {tuple(random.randint(0, top) for _ in range(3)) for _ in range(random.randint(1, 3))}
        parts = [random.randint(1, 3) for _ in cast]
        shares = {each: Fraction(part, sum(parts)) for each, part in zip(sorted(cast), parts, strict=True)}
        truth = tuple(random.randint(0, top) for _ in range(3))
        if len(set(truth)) == 1:
            continue
        question = Question(
            belief=Belief(candidates=NAMES, shares=tuple((Scores(each), share) for each, share in shares.items())),
            truth=Scores(truth),
            voters=voters,
            contest=Contest(kind="score", top=top),
        )
        found = gain(question)
        assert found.low == found.high == by_hand(shares, truth, voters, top), (shares, truth, voters)
        seen += found.high > 0
    assert seen > 2


def test_scores_are_written_and_read() -> None:
    found = belief("5-0-3:1/2,0-5-1:1/2", NAMES)
    assert found.text() == "5-0-3:0.5,0-5-1:0.5"
    assert read_ranking("5-2-0", NAMES) == Scores((5, 2, 0))
    assert scores_of((2, 0, 1), 3, 5) == Scores((2, 0, 5))
    assert [worth.text() for worth in corners(Scores((5, 5, 0)), NAMES)] == ["a=1,b=1,c=0"]
    assert utility("a=1,b=1,c=0", NAMES).consistent_with(Scores((3, 3, 1)))
    assert not utility("a=1,b=0.5,c=0", NAMES).consistent_with(Scores((3, 3, 1)))
    assert contest_of(Score(top=4), 9, NAMES) == Contest(kind="score", top=4)


def test_the_command_says_the_lie_in_scores() -> None:
    """A middle score helps a rival whom the others like best: a lie takes it away."""
    found = vote.gain(belief="0-5-4:1/2,1-4-5:1/2", truth="3-5-4", voters=9, rule="score").as_json()
    assert found["exact"]
    assert found["gain"] > 0
    assert found["lie"] == "0-5-0"
    assert vote.gain(belief="5-0-0:1", truth="0-5-1", voters=9, rule="score").as_json()["gain"] == 0


def test_a_map_of_score_takes_rankings_in_even_steps() -> None:
    """Each cell is what `gain` says for the same belief in scores."""
    found = vote.gain_map(rules="score,borda", voters=7, steps=3, top=4)
    score = found.rules[0]
    assert score.elects() is None
    cell = next(cell for cell in score.cells if cell.weights == (1, 1, 1))
    text = "4-2-0:1/3,0-4-2:1/3,2-0-4:1/3"
    gains = [
        vote.gain(
            belief=text, truth="-".join(map(str, scores_of(truth, 3, 4))), voters=7, rule="score", top=4
        ).gain.high
        for truth in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0))
    ]
    assert cell.gain.high == max(gains)
    assert score.worst.gain.high >= found.rules[1].worst.gain.high, (
        "whoever may score freely can lie as Borda's voters do"
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"belief": "5-0-3:1", "truth": "abc"}, "score counts ballots of scores"),
        ({"belief": "abc:1", "truth": "5-2-0", "candidates": "a,b,c"}, "score counts ballots of scores"),
        ({"belief": "5-0-3:1", "truth": "5-2-0", "top": 3}, "more than the highest score"),
        ({"belief": "5-0-3:1", "truth": "2-2-2"}, "must differ"),
        ({"belief": "5-0:1", "truth": "5-2-0"}, "scores like 5-2-0 give each of"),
        ({"belief": "5-0-3:1", "truth": "5-2-0", "rule": "borda"}, "the other rules count rankings"),
        ({"belief": "abc:1", "truth": "abc", "rule": "borda", "top": 3}, "top is the highest score of score"),
    ],
)
def test_scores_and_rankings_are_not_mixed(words: dict[str, object], says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        vote.gain(**({"rule": "score", "voters": 9} | words))  # type: ignore[arg-type]
    with pytest.raises(WrongUse, match="needs top"):
        Contest(kind="score")
