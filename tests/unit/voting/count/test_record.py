"""A count that was written down is counted again, bit for bit, or it is said what differs."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import CheckFailed
from hubbub.noise.source import PublicDice, SystemSource
from hubbub.serialization.canonical import read as read_canonical
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.record import ballots_digest, count_again, record_of
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.reading import Reading
from hubbub.voting.rules import rules
from hubbub.voting.rules.continuing import RunoffByContinuing
from hubbub.voting.rules.rule_json import Counted, rule_as_json, rule_from_json
from hubbub.voting.rules.stv import ALBANY, TransferableVote
from hubbub.voting.ties import FixedTies

TIED = Ballots.from_counts("abcd", {("a", "b"): 3, ("b", "a"): 3, ("c",): 3, ("d", "c"): 3, (): 2})
FILE = BallotFile(ballots=TIED, format="csv-columns", title="", reading=Reading(repeats="first"))
ORDER = FixedTies(("d", "c", "b", "a"))
ALL: list[Counted] = [
    rules.RepeatedPlurality(),
    rules.RepeatedPlurality(margin=2, ties=ORDER),
    rules.ApproximateRunoff(margin=rules.Power(Fraction(1, 4))),
    rules.ScoringElimination(margin=100),
    rules.ScoringElimination(scoring=rules.Positional(points=(3, 1, 1, 0)), margin=9, then=rules.RandomDictator()),
    rules.ScoringElimination(then=rules.FirstInOrder(order=("a", "b", "c", "d"))),
    rules.InstantRunoff(),
    rules.InstantRunoff(ties=ORDER),
    RunoffByContinuing(),
    rules.Plurality(),
    rules.Borda(),
    rules.Positional(points=(5, 2, 1, 0)),
    rules.RandomDictator(),
    rules.Punishing(),
    rules.Mix(rule=rules.RepeatedPlurality(), probability=Fraction(1, 3)),
    TransferableVote(seats=2),
    TransferableVote(seats=3, rules=ALBANY),
]


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.name)
@pytest.mark.parametrize("said", [None, "three swans on the river"])
def test_every_count_is_repeated_bit_for_bit(rule: Counted, said: str | None) -> None:
    dice = None if said is None else PublicDice(said)
    answer = rule.run(TIED, SystemSource() if said is None else PublicDice(said))
    written = record_of(answer, FILE, dice).canonical()
    record = read_canonical(written, "the record")  # no float, one form
    assert rule_from_json(record["rule"]) == rule
    shuffled = Ballots.from_rows("abcd", TIED.rankings[::-1], np.ascontiguousarray(TIED.weights[::-1]))
    assert count_again(record, replace(FILE, ballots=shuffled)).canonical() == written
    if said is not None:
        assert record_of(rule.run(TIED, PublicDice(said)), FILE, dice).canonical() == written


def written(rule: Counted, dice: str | None = None) -> dict[str, Any]:
    source = SystemSource() if dice is None else PublicDice(dice)
    said = None if dice is None else PublicDice(dice)
    record: dict[str, Any] = json.loads(record_of(rule.run(TIED, source), FILE, said).canonical())
    return record


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("wire",), "tally/2", "not of the kind tally/1"),
        (("ballots", "digest"), "0" * 64, "the ballots are not those of the record"),
        (("ballots", "voters"), 15, "its ballots differ"),
        (("dice",), "other words", "differ from those of the record"),
        (("rule", "name"), "majority", "names no rule"),
        (("reading", "skips"), "stop", "its reading differ"),
        (("file", "contest"), "Mayor", "its file differ"),
        (("rounds", 0, "exhausted"), 3, "its rounds differ"),
        (("winners",), ["nobody"], "its winners differ"),
        (("more",), 1, "fields that a count does not have"),
    ],
)
def test_what_was_changed_is_noticed(path: tuple[str | int, ...], value: object, sentence: str) -> None:
    record = written(rules.InstantRunoff(), "three swans")
    assert record["draws"]
    place: Any = record
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(CheckFailed, match=sentence):
        count_again(record, FILE)


def test_recorded_draws_are_numbers_below_their_bounds_and_all_are_used() -> None:
    record = written(rules.InstantRunoff())
    first = record["draws"][0]
    for number, sentence in (("9", "no number below its bound"), ("x", "no number below its bound")):
        wrong = copy.deepcopy(record)
        wrong["draws"][0]["number"] = number
        with pytest.raises(CheckFailed, match=sentence):
            count_again(wrong, FILE)
    with pytest.raises(CheckFailed):
        count_again({**record, "draws": [*record["draws"], first]}, FILE)
    with pytest.raises(CheckFailed):
        count_again({**record, "draws": record["draws"][:-1]}, FILE)


RANKINGS = st.lists(st.sampled_from("abc"), unique=True, max_size=3).map(tuple)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(RANKINGS, st.integers(0, 5), min_size=1), st.dictionaries(RANKINGS, st.integers(0, 5), min_size=1)
)
def test_digests_are_equal_for_equal_ballots_and_for_no_others(
    one: dict[tuple[str, ...], int], two: dict[tuple[str, ...], int]
) -> None:
    """Whatever their order, split rows and rows of weight 0."""
    first = Ballots.from_counts("abc", one)
    split = Ballots.from_counts("abc", {ranking: weight // 2 for ranking, weight in reversed(one.items())}).join(
        Ballots.from_counts("abc", {ranking: weight - weight // 2 for ranking, weight in one.items()})
    )
    assert ballots_digest(split) == ballots_digest(first)
    same = {r: w for r, w in one.items() if w} == {r: w for r, w in two.items() if w}
    assert (ballots_digest(Ballots.from_counts("abc", two)) == ballots_digest(first)) is same


def test_the_digest_is_of_these_bytes() -> None:
    """As its docstring says, written out by hand. It may never change."""
    import hashlib

    raw = b'hubbub ballots 1\n["a", "\\u00e9"]\n'
    raw += (2).to_bytes(8, "big") + bytes.fromhex("0000ffff 00010000") + (3).to_bytes(8, "big") + (2).to_bytes(8, "big")
    raw += (1).to_bytes(8, "big") + bytes.fromhex("00000000") + (5).to_bytes(8, "big")
    ballots = Ballots.from_counts(("a", "é"), {("é", "a"): 2, ("a",): 3}, tied={(frozenset(("a", "é")),): 5})
    assert ballots_digest(ballots) == hashlib.sha256(raw).hexdigest()


def test_a_rule_with_its_parameters_is_json_and_back() -> None:
    for rule in ALL:
        assert rule_from_json(json.loads(json.dumps(rule_as_json(rule)))) == rule
    for wrong in ({}, {"name": "stv", "seats": 0, "rules": "scotland"}, {"name": "mix"}, {"name": 3}):
        with pytest.raises(CheckFailed, match="names no rule"):
            rule_from_json(wrong)


# --- blank ballots, which readers leave out where they are rows of empty cells ---------------------------------------

CAST = Ballots.from_counts("abc", {("a", "b"): 5, ("b", "a"): 4, ("c", "b"): 2, (): 2})
SCORED = Ballots.from_levels("abc", [[0, 1, 2], [1, 0, -1], [-1, -1, -1]], [3, 2, 2])
DECIDED = [rules.InstantRunoff(), rules.Plurality(), rules.Borda(), rules.RepeatedPlurality(margin=1)]


def _cast(rule: Counted, ballots: Ballots = CAST, **about: Any) -> tuple[dict[str, Any], BallotFile]:
    file = replace(FILE, ballots=ballots, **about)
    return json.loads(record_of(rule.run(ballots, SystemSource()), file).canonical()), file


@pytest.mark.parametrize("blank", [0, 1, 7])
@pytest.mark.parametrize("rule", [*DECIDED, TransferableVote(seats=2)], ids=lambda rule: rule.name)
def test_a_file_without_its_blank_ballots_counts_as_the_record_says(rule: Counted, blank: int) -> None:
    record, file = _cast(rule)
    other = replace(file, ballots=CAST.with_blank(blank))
    assert other.ballots.blank == blank
    assert count_again(record, other).as_json() == record


def test_scores_without_their_blank_ballots_count_as_the_record_says() -> None:
    record, file = _cast(rules.make("score", top=2), SCORED, marks="scores", top=2)
    assert SCORED.blank == 2
    without = replace(file, ballots=Ballots.from_levels("abc", SCORED.levels[:2], SCORED.tied_weights[:2]))
    assert count_again(record, without).as_json() == record


@pytest.mark.parametrize("kept", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "forged",
    [
        {("a", "b"): 6, ("b", "a"): 4, ("c", "b"): 2},  # a blank ballot became a vote
        {("a", "b"): 5, ("b", "a"): 3, ("c", "b"): 2},  # a vote became a blank ballot
        {("a", "b"): 6, ("b", "a"): 3, ("c", "b"): 2},  # a vote became another
        {("a", "b"): 5, ("b",): 4, ("c", "b"): 2},  # a rank was left out
    ],
)
def test_no_other_difference_passes_for_one_of_blank_ballots(forged: dict[tuple[str, ...], int], kept: int) -> None:
    record, file = _cast(rules.InstantRunoff())
    other = replace(file, ballots=Ballots.from_counts("abc", forged | {(): kept}))
    with pytest.raises(CheckFailed, match="the ballots are not those of the record"):
        count_again(record, other)


def test_a_result_that_rests_on_blank_ballots_does_not_hold_without_them() -> None:
    """Of a margin that grows with the voters: a million blank ballots make it so wide that nobody is struck out."""
    voted = Ballots.from_counts("abc", {("a", "b"): 500, ("b", "a"): 400, ("c", "b"): 250})
    record, file = _cast(rules.RepeatedPlurality(margin=rules.Power(Fraction(1, 4))), voted.with_blank(10**6))
    assert count_again(record, file).as_json() == record
    with pytest.raises(CheckFailed, match=r"has 1,001,150 ballots and the file 1,150, .* depends on them"):
        count_again(record, replace(file, ballots=voted))


@pytest.mark.parametrize("voters", [-5, 0, 1 << 70, "13", None])
def test_a_number_of_ballots_that_cannot_be_is_a_failed_check(voters: object) -> None:
    record, file = _cast(rules.InstantRunoff())
    record["ballots"]["voters"] = voters
    with pytest.raises(CheckFailed):
        count_again(record, replace(file, ballots=CAST.with_blank(0)))
