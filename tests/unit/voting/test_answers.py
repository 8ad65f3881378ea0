"""Answers are values: what the commands print can be had from Python, the same numbers and the same words."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from fractions import Fraction

import pytest

from hubbub.demo import council
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.comparison import COMPARED, compare
from hubbub.voting.count.counted import count
from hubbub.voting.guarantees.assurance import assurance
from hubbub.voting.guarantees.choices import choices, coarse_sentence, covers, least_gain
from hubbub.voting.guarantees.efficiency import no_elimination_note
from hubbub.voting.manipulation.beliefs import belief
from hubbub.voting.manipulation.gain import Contest, Question, Sampling
from hubbub.voting.manipulation.gain_answer import answer
from hubbub.voting.manipulation.gain_map import gain_map
from hubbub.voting.rules.margins import alpha_min, default_margin
from hubbub.voting.rules.rules import Lot, RepeatedPlurality, ScoringElimination, make

ETA = Fraction(1, 10**12)


def test_an_assurance_says_what_the_command_prints() -> None:
    found = assurance("repeated-plurality", candidates=3, eta=ETA, voters=10_000)
    said = found.as_json()
    assert json.loads(json.dumps(said, allow_nan=False)) == said
    assert (said["margin"], said["promise"]["empty"]) == (785, False)
    assert said["words"] == found.sentences()
    assert coarse_sentence(Fraction(found.least)) in found.sentences()  # type: ignore[arg-type]
    with pytest.raises(FrozenInstanceError):
        found.margin = 3  # type: ignore[misc]
    needed = assurance("repeated-plurality", candidates=3, eta=ETA, coarseness=Fraction(1, 56))
    assert needed.as_json()["voters_needed"] == 759_308
    assert "With 759,308 voters or more the promise always holds; smaller numbers may do, the least is 759,234." in (
        needed.sentences()
    )


def test_an_assurance_that_is_empty_promises_nothing() -> None:
    found = assurance("repeated-plurality", candidates=5, eta=ETA, voters=800)
    assert found.empty
    assert found.as_json()["promise"]["empty"] is True
    assert ("gain of a lie at most", "nothing is promised") in found.rows()
    assert found.instead is not None
    assert not any("coarse when" in sentence for sentence in found.sentences())
    two = assurance("repeated-plurality", candidates=2, eta=ETA, voters=8)
    assert (two.empty, two.as_json()["promise"]["empty"]) == (False, False)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"rule": "plurality", "voters": 10}, "a margin belongs to"),
        ({"voters": None}, "give the number of voters"),
        ({"voters": None, "coarseness": Fraction(1, 2), "margin": 9}, "a margin needs the number of voters"),
        ({"voters": 1}, "at least 2 voters"),
    ],
)
def test_wrong_use_of_an_assurance_names_no_flag(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(WrongUse, match=complaint) as raised:
        assurance(**{"rule": "repeated-plurality", "candidates": 3, "eta": ETA, **given})  # type: ignore[arg-type]
    assert "--" not in str(raised.value)


def test_a_gain_is_an_answer() -> None:
    asked = Question(belief=belief("abc:1/2,bac:1/2"), truth=(2, 0, 1), voters=101, contest=Contest(kind="plurality"))
    found = answer(asked, ETA)
    assert round(found.as_json()["gain"], 6) == 0.039795
    assert found.title() == "plurality, 101 voters, truth cab"
    assert found.sentences()[0].startswith("The best lie gains 0.0398")
    assert "refuted" in found.verdict_sentence()
    drawn = answer(asked, ETA, "sample", Sampling(draws=50, source=ScriptedSource.from_label("fifty")))
    assert drawn.as_json()["draws"] == 50


def test_a_map_is_an_answer_and_can_be_watched() -> None:
    seen = []

    def watch(tasks: object) -> object:
        for task in tasks:  # type: ignore[attr-defined]
            seen.append(task)
            yield task

    found = gain_map([Contest(kind="plurality")], 9, steps=3, watch=watch)  # type: ignore[arg-type]
    assert len(seen) == 10 == len(found.rules[0].cells)
    assert json.dumps(found.as_json(), allow_nan=False)


def test_a_count_is_an_answer() -> None:
    found = count(RepeatedPlurality(), council.ballots(), ETA, SystemSource())
    assert found.sentences()[0] == "Ada Bell wins."
    assert found.struck_nobody is None
    assert found.claims()["promise"]["empty"] is False
    compared = compare(council.ballots(), ETA, SystemSource)
    assert [each.result.rule.name for each in compared.counted] == list(COMPARED)
    assert len(compared.rows()) == len(COMPARED)


def test_public_words_are_an_assumption_and_a_source() -> None:
    words = "all ballots are in"
    tie = Ballots.from_counts("abc", {("a",): 4, ("b",): 4})
    found = count(RepeatedPlurality(), tie, ETA, ScriptedSource.from_label(words), dice=words)
    assert "Drawn from the public words of the dice" in found.draw_sentences()[0]
    one = count(make("random-dictator"), tie, ETA, ScriptedSource.from_label(words), dice=words)
    assert any("foretell" in assumed for assumed in one.claims()["guarantee"]["assumptions"])
    without = count(make("random-dictator"), tie, ETA, ScriptedSource.from_label(words))
    assert without.claims()["promise"]["empty"] is True  # a script is no source of draws


def test_nobody_struck_out_is_told_as_what_it_was() -> None:
    ballots = Ballots.from_counts("abc", {("a", "b"): 5, ("b", "a"): 4, ("c", "a"): 3})
    source = ScriptedSource.from_label("struck")

    def told(rule: RepeatedPlurality | ScoringElimination) -> str:
        return no_elimination_note(rule.run(ballots, source)) or ""

    few = "Only first choices were counted: 12 voters are too few for this rule to strike anybody out."
    assert told(RepeatedPlurality(margin=12)) == few
    near = "Only first choices were counted: all are within the margin (11) of each other."
    assert told(RepeatedPlurality(margin=11)) == near  # were all for one, the others would go
    assert "the margin (2) of each other" in told(RepeatedPlurality(margin=2))
    assert told(RepeatedPlurality(margin=1)) == ""
    assert "so lot chose among all of them" in told(ScoringElimination(margin=99, then=Lot()))


def test_beside_the_winner_stands_who_wins_by_instant_runoff() -> None:
    def beside(counts: dict[tuple[str, ...], int]) -> str:
        ballots = Ballots.from_counts("abc", counts)
        return count(RepeatedPlurality(), ballots, ETA, SystemSource()).beside_winner or ""

    assert beside({("a",): 5, ("b",): 4, ("c", "a"): 3}).endswith("By instant runoff the same candidate wins.")
    other = "By instant runoff b wins (--rule instant-runoff)."
    assert beside({("a",): 5, ("b",): 4, ("c", "b"): 3}).endswith(other)
    drawn = "By instant runoff a draw decides that a or b wins (--rule instant-runoff)."
    assert beside({("a",): 5, ("b",): 4, ("c", "b"): 1}).endswith(drawn)


def test_the_least_gain_is_the_least() -> None:
    """Of two digits: it covers the coarseness, and one digit less does not."""
    for kind in ("repeated-plurality", "approximate-runoff", "scoring"):
        for voters, m, parts in ((800, 5, 2), (800, 5, 3), (3000, 3, 4)):
            alpha = Fraction(1, parts)
            found = least_gain(kind, voters, m, alpha)
            assert found is not None
            step = Fraction(1)
            while found / step < 10:
                step /= 10
            for eta, enough in ((found, True), (found - step, False)):
                margin = default_margin(kind, voters, m, eta)
                assert (alpha_min(kind, voters, m, eta, margin) <= alpha) is enough
    assert least_gain("repeated-plurality", 10, 3, Fraction(1, 2)) is None
    assert least_gain("repeated-plurality", 1, 3, Fraction(1, 2)) is None
    tiny = least_gain("repeated-plurality", 10**9, 3, Fraction(1, 2))
    assert tiny == Fraction(1, 10**400)
    few = choices("repeated-plurality", 20, 3, ETA)
    assert few.gains == ()
    assert "even a gain of at most 0.01 cannot be promised" in few.sentences()[0]


def test_coarse_in_words() -> None:
    assert "the shares of one ballot are" in coarse_sentence(Fraction(3, 4))
    assert "a poll of 3 ballots or more" in coarse_sentence(Fraction(1, 2))
    assert covers(Fraction(0)) == "it covers every belief"
    assert "a poll of 6 ballots" in covers(Fraction(156, 1000))
