"""Each rule on elections small enough to count by hand."""

from __future__ import annotations

import sys
from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.result import Transfer
from hubbub.voting.rules import numba_kernels, piles, runoff
from hubbub.voting.rules.elimination import NearBest, NearBestScore, NearWorst
from hubbub.voting.rules.piles import position_counts, top_counts
from hubbub.voting.rules.points import points_range
from hubbub.voting.rules.rules import (
    MARGINED,
    SUMMARY,
    ApproximateRunoff,
    Borda,
    EliminateThenSelect,
    FirstInOrder,
    InstantRunoff,
    Lot,
    Plurality,
    Positional,
    RandomDictator,
    RepeatedPlurality,
    Rule,
    ScoringElimination,
    make,
)
from hubbub.voting.rules.runoff import doomed_group
from hubbub.voting.ties import FixedTies


def election(counts: str, candidates: str = "abc") -> Ballots:
    """``election("abc:3 b:2")``"""
    pairs = [text.split(":") for text in counts.split()]
    return Ballots.from_counts(candidates, {tuple(ranking): int(count) for ranking, count in pairs})


def law(rule: Rule, ballots: Ballots) -> list[str]:
    return [str(chance) for chance in rule.lottery(ballots)]


SOME = election("abc:4 bca:3 cba:2")


def test_plurality_borda_and_any_points() -> None:
    assert law(Plurality(), SOME) == ["1", "0", "0"]
    assert law(Borda(), SOME) == ["0", "1", "0"]  # 8, 12, 7
    assert law(Positional(points=(1, 1, 0)), SOME) == ["0", "1", "0"]
    assert law(Positional(points=(1, 0, 0)), SOME) == law(Plurality(), SOME)
    result = Borda().run(SOME, ScriptedSource())
    assert result.rounds[0].counts == ((0, 8), (1, 12), (2, 7))
    assert result.rounds[0].what == "points"


def test_who_is_not_ranked_scores_nothing() -> None:
    assert Borda().run(election("a:3 bc:2"), ScriptedSource()).rounds[0].counts == ((0, 6), (1, 4), (2, 2))


@pytest.mark.parametrize("points", [(), (1,), (1, 1, 1), (2, -1, 0), (2, 1)])
def test_points_that_make_no_rule(points: tuple[int, ...]) -> None:
    with pytest.raises(WrongUse, match="points"):
        Positional(points=points).lottery(SOME)
    with pytest.raises(WrongUse, match="whole numbers"):
        Positional(points=(1.5, 1, 0))  # type: ignore[arg-type]


def test_the_range_of_points_counts_the_unranked() -> None:
    assert points_range((3, 2, 1), truncated=False) == 2
    assert points_range((3, 2, 1), truncated=True) == 3
    assert points_range((2, 1, 0), truncated=True) == 2


def test_instant_runoff_by_hand() -> None:
    result = InstantRunoff().run(SOME, ScriptedSource())
    assert [dict(counted.counts) for counted in result.rounds] == [{0: 4, 1: 3, 2: 2}, {0: 4, 1: 5}]
    assert [counted.eliminated for counted in result.rounds] == [(2,), (0,)]
    assert result.rounds[0].transfers == (Transfer(origin=2, target=1, ballots=2),)
    assert (result.winner, result.draws) == (1, ())


def test_exhausted_ballots_count_no_further() -> None:
    result = InstantRunoff().run(election("ab:4 ba:3 c:2"), ScriptedSource())
    assert result.rounds[0].transfers == (Transfer(origin=2, target=None, ballots=2),)
    assert result.rounds[1].exhausted == 2


def test_ties_of_instant_runoff_are_followed_along_every_branch() -> None:
    ballots = election("abc:2 bca:2 cab:2")
    assert law(InstantRunoff(), ballots) == ["1/3", "1/3", "1/3"]
    # Three each. Without a: b 3, c 5. Without b: a 6, c 3. Without c: a 5, b 3.
    assert law(InstantRunoff(), election("acb:2 a:1 ba:3 ca:2 c:1")) == ["2/3", "0", "1/3"]
    fixed = InstantRunoff(ties=FixedTies(("a", "b", "c")))
    assert law(fixed, ballots) == ["1", "0", "0"]  # c goes, its ballots to a
    assert fixed.run(ballots, ScriptedSource()).winner == 0


def test_candidates_without_a_ballot_go_together() -> None:
    ballots = election("a:3 b:2", "abcdef")
    result = InstantRunoff().run(ballots, ScriptedSource())
    assert result.rounds[0].eliminated == (2, 3, 4, 5)
    assert result.draws == ()
    assert law(InstantRunoff(), ballots)[0] == "1"


def test_nobody_has_a_ballot() -> None:
    blank = Ballots.from_counts("abc", {(): 4})
    for name in SUMMARY:
        rule = make(name, points=(2, 1, 0) if name == "positional" else None)
        assert law(rule, blank) == ["1/3", "1/3", "1/3"], name


def test_losers_who_go_in_every_order() -> None:
    assert doomed_group([0, 0, 1]) == [0, 1]
    assert doomed_group([3, 1, 1]) == [1, 2]
    assert doomed_group([2, 1, 1]) == []
    assert doomed_group([5, 1, 2, 9]) == [1]


def test_too_many_branches_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runoff, "MOST_BRANCHES", 3)
    with pytest.raises(Refused, match="too many for the exact law"):
        InstantRunoff().lottery(election("a:1 b:1 c:1 d:1", "abcd"))


def test_repeated_plurality_by_hand() -> None:
    ballots = election("abc:10 bac:9 cba:4")
    wide = RepeatedPlurality(margin=6).run(ballots, ScriptedSource())
    assert [(counted.eliminated, counted.margin) for counted in wide.rounds] == [((), 6)]
    assert wide.winner == 0  # c stays, and plurality decides among three
    narrow = RepeatedPlurality(margin=5).run(ballots, ScriptedSource())
    assert [counted.eliminated for counted in narrow.rounds] == [(2,), ()]
    assert dict(narrow.rounds[1].counts) == {0: 10, 1: 13}
    assert narrow.winner == 1


def test_within_the_margin_means_at_most_the_margin() -> None:
    ballots = election("a:10 b:7 c:6", "abc")
    assert RepeatedPlurality(margin=3).run(ballots, ScriptedSource()).rounds[0].eliminated == (2,)
    assert ApproximateRunoff(margin=1).run(ballots, ScriptedSource()).rounds[0].eliminated == (1, 2)
    assert ApproximateRunoff(margin=Fraction(1, 2)).run(ballots, ScriptedSource()).rounds[0].eliminated == (2,)


def test_approximate_runoff_stops_before_nobody_is_left() -> None:
    ballots = election("abc:10 bac:9 cba:4")
    result = ApproximateRunoff(margin=4).run(ballots, ScriptedSource())
    assert [counted.eliminated for counted in result.rounds] == [(2,), ()]
    assert result.winner == 1
    assert ApproximateRunoff(margin=10).run(ballots, ScriptedSource()).rounds[0].eliminated == ()
    # Out go b and c together; their ballots make no difference to who is left.
    both = ApproximateRunoff(margin=5).run(ballots, ScriptedSource())
    assert both.rounds[0].eliminated == (1, 2)
    assert both.winner == 0


def test_without_a_margin_approximate_runoff_drops_all_who_are_last() -> None:
    ballots = election("a:3 b:2 c:2 d:1", "abcd")
    assert [r.eliminated for r in ApproximateRunoff(margin=0).run(ballots, ScriptedSource()).rounds] == [
        (3,),
        (1, 2),
        (),
    ]


def test_scoring_elimination_and_its_last_stages() -> None:
    ballots = election("abc:4 bca:3 cba:2 acb:1")  # borda: a 10, b 12, c 8
    assert law(ScoringElimination(margin=2), ballots) == ["1/2", "1/2", "0"]
    assert law(ScoringElimination(margin=2, then=FirstInOrder(order=("c", "b", "a"))), ballots) == ["0", "1", "0"]
    assert law(ScoringElimination(margin=2, then=RandomDictator()), ballots) == ["1/2", "1/2", "0"]
    assert law(ScoringElimination(margin=4, then=RandomDictator()), ballots) == ["1/2", "3/10", "1/5"]
    assert law(ScoringElimination(margin=1), ballots) == ["0", "1", "0"]
    assert law(ScoringElimination(margin=9, scoring=Plurality()), ballots) == ["1/3", "1/3", "1/3"]
    two = election("abc:5 bca:3 cba:1")  # a 10, b 12, c 5; between a and b it is 5 to 4
    assert law(ScoringElimination(margin=2, plurality_of_two=True), two) == ["1", "0", "0"]


def test_the_general_frame_contains_the_others() -> None:
    ballots = election("abc:10 bac:9 cba:4 b:1 c:2 ca:3")
    for margin in range(0, 12):
        repeated = EliminateThenSelect(eliminate=NearBest(margin=margin), select=Plurality())
        assert repeated.lottery(ballots) == RepeatedPlurality(margin=margin).lottery(ballots)
        runoff_like = EliminateThenSelect(eliminate=NearWorst(margin=margin), select=Plurality())
        assert runoff_like.lottery(ballots) == ApproximateRunoff(margin=margin).lottery(ballots)
        scoring = EliminateThenSelect(eliminate=NearBestScore(margin=margin), select=Lot(), select_of_two=Plurality())
        assert scoring.lottery(ballots) == ScoringElimination(margin=margin, plurality_of_two=True).lottery(ballots)


def test_the_last_stage_may_be_any_rule() -> None:
    ballots = election("cdab:5 bacd:5 dabc:5 adbc:1", "abcd")
    rule = EliminateThenSelect(eliminate=NearBest(margin=1), select=InstantRunoff())
    result = rule.run(ballots, ScriptedSource.from_label("any"))
    assert [counted.eliminated for counted in result.rounds[:2]] == [(0,), ()]
    # b and c tie for the fewest: without b, c has 10 of 16; without c, d has 11.
    assert result.rounds[-1].remaining in ((1, 3), (2, 3))
    assert [counted.remaining for counted in result.rounds[1:3]] == [(1, 2, 3)] * 2
    assert result.rounds[2].transfers[0].origin in (1, 2)
    assert law(rule, ballots) == ["0", "0", "1/2", "1/2"]


def test_a_random_dictator_is_one_of_those_who_have_a_choice() -> None:
    assert law(RandomDictator(), election("abc:4 b:3 c:1")) == ["1/2", "3/8", "1/8"]
    assert law(RandomDictator(), Ballots.from_counts("ab", {("a",): 1, (): 5})) == ["1", "0"]


def test_ties_at_the_end_are_shared_evenly_or_go_by_the_order() -> None:
    ballots = election("a:3 b:3 c:1")
    assert law(RepeatedPlurality(margin=1), ballots) == ["1/2", "1/2", "0"]
    fixed = RepeatedPlurality(margin=1, ties=FixedTies(("c", "b", "a")))
    assert law(fixed, ballots) == ["0", "1", "0"]
    with pytest.raises(WrongUse, match="name each of them once"):
        RepeatedPlurality(margin=1, ties=FixedTies(("a", "c"))).lottery(ballots)
    with pytest.raises(WrongUse, match="name each of them once"):
        Plurality(ties=FixedTies(("a", "b", "b", "c"))).lottery(ballots)


def test_names_make_rules() -> None:
    for name in SUMMARY:
        assert make(name, points=(2, 1, 0) if name == "positional" else None).name == name
    assert make("repeated-plurality", margin=7) == RepeatedPlurality(margin=7)
    for name in MARGINED:
        assert make(name) != make(name, margin=7)
    for wrong in (("majority", {}), ("plurality", {"margin": 3}), ("borda", {"points": (1, 0)}), ("positional", {})):
        with pytest.raises(WrongUse):
            make(wrong[0], **wrong[1])  # type: ignore[arg-type]


def test_the_compiled_loop_does_what_the_arrays_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop as Python, in place of numba."""
    rows = np.random.default_rng(4).permuted(np.tile(np.arange(5, dtype=np.int8), (400, 1)), axis=1)
    rows[::7, 3:] = -1
    ballots = Ballots.from_rows("abcde", rows)
    rules = (InstantRunoff(), RepeatedPlurality(margin=3), ApproximateRunoff(margin=3))
    expected = [rule.run(ballots, ScriptedSource.from_label("loop")).rounds for rule in rules]
    calls: list[int] = []

    def loop(*args: Any) -> None:
        calls.append(1)
        numba_kernels.advance(*args)

    monkeypatch.setattr(numba_kernels, "compiled_advance", lambda: loop)
    monkeypatch.setattr(piles, "_COMPILED_FROM", 1)
    monkeypatch.setitem(sys.modules, "numba", ModuleType("numba"))
    assert [rule.run(ballots, ScriptedSource.from_label("loop")).rounds for rule in rules] == expected
    assert calls


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "int64"])
def test_counts_are_the_same_for_every_kind_of_number(dtype: str) -> None:
    """Rows beyond the block size, so that the fast paths are the ones that run, against sums over unique rankings."""
    rng = np.random.default_rng(3)
    rows = rng.permuted(np.tile(np.arange(5), (70_000, 1)), axis=1).astype(dtype)
    if np.dtype(dtype).kind == "i":
        rows[::7, 3:] = -1
        rows[::501] = -1
    raw = Ballots.from_rows("abcde", rows)
    merged = raw.merge_equal()
    assert (raw.single, merged.single) == (True, False)
    assert top_counts(raw) == top_counts(merged)
    assert position_counts(raw, range(5)).tolist() == position_counts(merged, range(5)).tolist()
    for rule in (InstantRunoff(), RepeatedPlurality(margin=50), ApproximateRunoff(margin=50), Borda()):
        source = ScriptedSource.from_label("rows")
        assert rule.run(raw, source).rounds == rule.run(merged, source).rounds
