"""Several seats: by the rules, round by round, against a counter that shares nothing with this one."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.formats import read, strict
from hubbub.voting.rules.stv import ALBANY, RULES, SCOTLAND, TransferableVote
from hubbub.voting.rules.stv_result import Seats
from tests.unit.voting import stv_by_hand

ELECTIONS = Path(__file__).resolve().parents[5] / "shared" / "data" / "elections"
BY_HAND = ("scotland", "albany")  # those that the other counter knows
WARDS = ("edinburgh_2017_ward12.blt", "highland_2022_thurso.blt", "eilean_siar_2022_ward3.blt")


def count(ballots: Ballots, seats: int, rules: str = "scotland") -> Seats:
    return TransferableVote(seats=seats, rules=RULES[rules]).run(ballots, ScriptedSource.from_label("stv"))


def same(result: Seats, text: str, rules: str) -> None:
    """Round by round: every candidate's votes, to the last digit."""
    tally = stv_by_hand.count(*stv_by_hand.papers_of(text), scottish=rules == "scotland")
    assert (result.quota, [i + 1 for i in result.elected]) == (tally.quota, tally.elected)
    ours = [{i + 1: votes for i, votes in stage.totals} for stage in result.stages]
    assert ours == [{c: Fraction(votes) for c, votes in stage.items()} for stage in tally.stages]


@pytest.mark.skipif(not ELECTIONS.exists(), reason="the elections are not here")
@pytest.mark.parametrize("rules", BY_HAND)
@pytest.mark.parametrize("ward", WARDS)
def test_scottish_wards_agree_round_by_round_with_another_counter(ward: str, rules: str) -> None:
    file = strict(read(ELECTIONS / ward))
    result = TransferableVote(seats=file.seats, rules=RULES[rules]).run(file.ballots, SystemSource())
    same(result, (ELECTIONS / ward).read_text(encoding="utf-8"), rules)
    assert result.draws == ()


@pytest.mark.skipif(not ELECTIONS.exists(), reason="the elections are not here")
def test_leith_walk_2017() -> None:
    file = strict(read(ELECTIONS / WARDS[0]))
    result = TransferableVote(seats=file.seats).run(file.ballots, SystemSource())
    assert (file.seats, result.quota, result.valid) == (4, 2_130, 10_649)
    assert [name.split()[1] for name in result.winner_names] == ["RAE", "DONALDSON", "RITCHIE", "MCNEESE-MECHAN"]


@pytest.mark.skipif(not ELECTIONS.exists(), reason="the elections are not here")
@pytest.mark.parametrize("ward", WARDS)
def test_a_peer_library_agrees_round_by_round(ward: str) -> None:
    """STVPoll rounds values where the Order cuts them: half of the fifth place for each of ten thousand papers.

    Where two are elected at one stage it lets a surplus pass through the other of them, whom the Order leaves out;
    there only the first round and who is elected are held against it.
    """
    peer = pytest.importorskip("stvpoll.scottish_stv")
    file = strict(read(ELECTIONS / ward))
    names = file.ballots.candidates
    poll = peer.ScottishSTV(seats=file.seats, candidates=names, random_in_tiebreaks=False)
    for ranking, weight in file.ballots.counts().items():
        poll.add_ballot(ranking, weight)
    theirs = poll.calculate()
    ours = TransferableVote(seats=file.seats).run(file.ballots, SystemSource())
    assert set(ours.winner_names) == set(theirs.elected_as_tuple())
    together = any(len(stage.elected) > 1 for stage in ours.stages[:-1])
    for stage, counted in list(zip(ours.stages, theirs.rounds, strict=False))[: 1 if together else None]:
        votes = dict(stage.totals)
        for name, count in dict(counted.votes).items():
            assert abs(votes[names.index(name)] - Fraction(count)) < Fraction("0.1")


@pytest.mark.skipif(not ELECTIONS.exists(), reason="the elections are not here")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ward", WARDS)
def test_another_peer_agrees_on_fractional_transfers(ward: str) -> None:
    """VoteKit cuts nothing off: a ten-thousandth for each paper, at each of a few surpluses."""
    profiles, elections = pytest.importorskip("votekit.pref_profile"), pytest.importorskip("votekit.elections")
    ballot = pytest.importorskip("votekit.ballot").RankBallot
    file = strict(read(ELECTIONS / ward))
    names = [f"c{i}" for i in range(len(file.ballots.candidates))]
    papers = [
        ballot(ranking=[{names[i]} for i in row if i >= 0], weight=weight)
        for row, weight in zip(file.ballots.rankings.tolist(), file.ballots.weights.tolist(), strict=True)
    ]
    profile = profiles.RankProfile(ballots=papers, candidates=names)
    theirs = elections.STV(profile, n_seats=file.seats, simultaneous=True)
    ours = TransferableVote(seats=file.seats, rules=ALBANY).run(file.ballots, SystemSource())
    for stage, state in zip(ours.stages, theirs.election_states, strict=False):
        votes = dict(stage.totals)
        for name, count in state.scores.items():
            assert abs(float(votes[names.index(name)]) - float(count)) < 1


NAMES = ("a", "b", "c", "d", "e")
RANKINGS = st.lists(st.sampled_from(NAMES), unique=True, max_size=5).map(tuple)
ELECTORATES = st.dictionaries(RANKINGS, st.integers(1, 12), min_size=1, max_size=8).filter(any)


@settings(max_examples=120, deadline=None)
@given(ELECTORATES, st.integers(1, 3), st.sampled_from(BY_HAND))
def test_small_elections_agree_with_another_counter_wherever_no_lot_is_drawn(
    counts: dict[tuple[str, ...], int], seats: int, rules: str
) -> None:
    result = count(Ballots.from_counts(NAMES, counts), seats, rules)
    for stage in result.stages:
        assert sum(votes for _, votes in stage.totals) + stage.exhausted + stage.lost == result.valid
    assert len(result.elected) == seats
    if not result.draws:
        lines = [f"{w} {' '.join(str(NAMES.index(name) + 1) for name in ranking)} 0" for ranking, w in counts.items()]
        same(result, "\n".join([f"5 {seats}", *lines, "0"]), rules)


def test_a_surplus_moves_at_the_value_that_the_order_says() -> None:
    """7 papers, quota 3 (7 // 3 + 1): a keeps 3 of 5, so a paper is worth 2/5 of a vote."""
    result = count(Ballots.from_counts("abc", {("a", "b"): 4, ("a",): 1, ("b",): 1, ("c",): 1}), 2)
    second = result.stages[1]
    assert (second.what, second.of) == ("surplus", (0,))
    assert dict(second.totals) == {0: 3, 1: 1 + 4 * Fraction("0.4"), 2: 1}
    assert (second.exhausted, second.lost) == (Fraction("0.4"), 0)
    assert [(m.papers, m.votes) for m in second.moved] == [(4, Fraction("1.6")), (1, Fraction("0.4"))]


def test_what_is_cut_off_is_lost_and_said() -> None:
    counts = {("a", "b"): 7, ("b",): 1, ("c",): 2}
    for rules, value, lost in (
        (SCOTLAND, Fraction("0.42857"), Fraction(3) - 7 * Fraction("0.42857")),
        (ALBANY, Fraction("0.4285"), Fraction(3) - 7 * Fraction("0.4285")),
    ):
        stage = count(Ballots.from_counts("abc", counts), 2, rules.name).stages[1]
        assert (dict(stage.totals)[1], stage.lost) == (1 + 7 * value, lost)


def test_ties_look_back_in_scotland_and_not_in_albany() -> None:
    """b and c are equal in the end and were not at first; by the Order c, who had fewer then, goes."""
    counts = {("a",): 20, ("b",): 6, ("c",): 5, ("d", "c"): 1, ("e",): 13}
    ballots = Ballots.from_counts(NAMES, counts)
    scottish = count(ballots, 1)
    assert [stage.of for stage in scottish.stages[1:3]] == [(3,), (2,)]
    assert scottish.draws == ()
    drawn = count(ballots, 1, "albany").draws
    assert [draw.among for draw in drawn] == [("b", "c")]


def test_the_last_vacancies_are_filled_without_a_transfer() -> None:
    result = count(Ballots.from_counts("abc", {("a",): 3, ("b",): 2, ("c", "b"): 1}), 2)
    assert result.winner_names == ("a", "b")
    assert result.stages[-1].elected == (1,)


@pytest.mark.parametrize(("seats", "sentence"), [(0, "at least 1"), (3, "all are elected without a count")])
def test_seats_that_cannot_be(seats: int, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        TransferableVote(seats=seats).run(Ballots.from_counts("abc", {("a",): 1}), SystemSource())


def test_the_answer_is_exact_text() -> None:
    answer = count(Ballots.from_counts("abc", {("a", "b"): 7, ("b",): 1, ("c",): 2}), 2).as_json()
    assert (answer["quota"], answer["winners"]) == (4, ["a", "b"])
    assert answer["stages"][1]["votes"] == {"a": "4", "b": "3.99999", "c": "2"}
    assert answer["stages"][1]["lost_to_rounding"] == "0.00001"
    told = count(Ballots.from_counts("abc", {("a", "b"): 7, ("b",): 1, ("c",): 2}), 2).sentences()
    assert told[0].startswith("a and b are elected to 2 seats, by the Scottish rules")
