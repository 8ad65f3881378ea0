"""Rules of pairs against published examples, and against what they promise."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.pair_rules import PAIR_RULES, PairRule
from hubbub.voting.rules.pairwise import pairwise
from hubbub.voting.rules.rule_json import rule_as_json, rule_from_json
from hubbub.voting.ties import FixedTies

# Schulze, A new monotonic, clone-independent, reversal symmetric, and Condorcet-consistent method, 2011, example 1.
SCHULZE = {"ACBED": 5, "ADECB": 5, "BEDAC": 8, "CABED": 3, "CAEBD": 7, "CBADE": 2, "DCEBA": 7, "EBADC": 8}
TENNESSEE = {"MNCK": 42, "NCKM": 26, "CKNM": 15, "KCNM": 17}  # Memphis, Nashville, Chattanooga, Knoxville


def ballots(votes: dict[str, int]) -> Ballots:
    names = sorted({name for ranking in votes for name in ranking})
    return Ballots.from_counts(names, {tuple(ranking): weight for ranking, weight in votes.items()})


def scores(rule: str, votes: dict[str, int]) -> list[int]:
    """What the last round counts, candidates in their order."""
    found = PairRule(name=rule).run(ballots(votes), ScriptedSource.from_label("pairs"))
    return [count for _, count in found.rounds[-1].counts]


def winner(rule: str, votes: dict[str, int]) -> str:
    return PairRule(name=rule).run(ballots(votes), ScriptedSource([])).winner_name


def test_the_example_of_schulzes_paper() -> None:
    assert winner("schulze", SCHULZE) == "E"
    found = dict(zip("ABCDE", scores("schulze", SCHULZE), strict=True))
    assert sorted(found, key=found.__getitem__, reverse=True) == list("EACBD"), "the paper's order"


@pytest.mark.parametrize("rule", PAIR_RULES)
def test_the_capital_of_tennessee_is_nashville(rule: str) -> None:
    assert winner(rule, TENNESSEE) == "N"


def test_minimax_and_copeland_by_hand() -> None:
    cycle = {"ABC": 5, "BCA": 4, "CAB": 2}  # A beats B by 3, B beats C by 7, C beats A by 1
    assert scores("minimax", cycle) == [10, 8, 4]
    assert scores("copeland", cycle) == [2, 2, 2]
    assert PairRule(name="copeland").lottery(ballots(cycle)) == (Fraction(1, 3),) * 3
    assert PairRule(name="copeland", ties=FixedTies(("C", "B", "A"))).lottery(ballots(cycle)) == (0, 0, 1)


# Electowiki, "Baldwin's method" and "Kemeny-Young method": A beats B, B beats C, C beats A.
CYCLE = {"ABC": 25, "BCA": 40, "CAB": 35}


def test_the_cycle_of_electowiki() -> None:
    """Borda points 185, 205, 210 there, of which each place counts one more: doubled and without it 170, 210, 220."""
    assert scores("black", CYCLE) == [170, 210, 220]
    assert winner("black", CYCLE) == "C"
    baldwin = PairRule(name="baldwin").run(ballots(CYCLE), ScriptedSource([]))
    assert [counted.eliminated for counted in baldwin.rounds] == [(0,), (2,)]
    assert (baldwin.winner_name, baldwin.draws) == ("B", ())
    assert winner("kemeny", CYCLE) == "B"
    # Votes against the best order that begins with A, B or C there: 150, 120, 130, of 300 in all pairs.
    assert scores("kemeny", CYCLE) == [300 - 150, 300 - 120, 300 - 130]


def test_baldwin_by_an_example_of_schulzes() -> None:
    """Election-methods list: points 14, 10, 9, then 5 to 6; here doubled, each place counting one less."""
    found = PairRule(name="baldwin").run(ballots({"ACB": 5, "BAC": 4, "CBA": 2}), ScriptedSource([]))
    first, second = (dict(counted.counts) for counted in found.rounds)
    assert (first, second) == ({0: 28, 1: 20, 2: 18}, {0: 10, 1: 12})
    assert found.winner_name == "B"


def test_the_kemeny_order_of_tennessee_disagrees_with_207_votes() -> None:
    assert max(scores("kemeny", TENNESSEE)) == 600 - 207, "electowiki: 32 + 32 + 42 + 17 + 42 + 42"


def test_nanson_by_hand() -> None:
    """Means 100 for each of three: A has 85 and goes, then B beats C. With one voter less for C nothing changes."""
    found = PairRule(name="nanson").run(ballots(CYCLE), ScriptedSource([]))
    assert [counted.eliminated for counted in found.rounds] == [(0,), (2,), ()]
    assert found.winner_name == "B"
    even = PairRule(name="nanson").lottery(ballots({"ABC": 1, "BCA": 1, "CAB": 1}))
    assert even == (Fraction(1, 3),) * 3


# Election-methods list, December 2002: three pairs of 8 to 5 that cannot all be locked.
EQUAL_PAIRS = {"ABCD": 5, "BDAC": 4, "CDAB": 3, "DBCA": 1}


def test_ranked_pairs_draws_the_order_of_equal_pairs() -> None:
    """B over C locks, then A over C and B over D; of A over B, D over A and C over D whichever comes last is left out,
    or is kept where the other two are not both there: every order is followed here by hand."""
    wins = dict.fromkeys("ABCD", 0)
    for order in permutations((("A", "B"), ("D", "A"), ("C", "D"))):
        locked = {("B", "C"), ("A", "C"), ("B", "D")}
        for one, other in order:
            below = {other}
            for _ in "ABCD":
                below |= {y for x, y in locked if x in below}
            if one not in below:
                locked.add((one, other))
        wins[next(name for name in "ABCD" if all(loser != name for _, loser in locked))] += 1
    law = PairRule(name="ranked-pairs").lottery(ballots(EQUAL_PAIRS))
    assert law == tuple(Fraction(wins[name], 6) for name in "ABCD")
    assert law[0] > 0, "the list's answer is A"
    drawn = PairRule(name="ranked-pairs").run(ballots(EQUAL_PAIRS), ScriptedSource.from_label("pairs"))
    assert drawn.draws[0].among == ("A over B", "C over D", "D over A")
    assert winner("ranked-pairs", CYCLE) == "B"


def test_ranked_pairs_of_many_equal_pairs_has_a_law() -> None:
    """Two voters and nine candidates: 36 pairs, many of them equal, and none of them on a circle."""
    law = PairRule(name="ranked-pairs").lottery(ballots({"ABCDEFGHI": 1, "IHGABCDEF": 1}))
    assert law[0] + law[6] + law[7] + law[8] == 1


def test_kemeny_refuses_many_candidates() -> None:
    names = [chr(65 + i) for i in range(15)]
    with pytest.raises(Refused, match="at most 14 candidates"):
        PairRule(name="kemeny").lottery(Ballots.from_counts(names, {tuple(names): 1}))


COMPLETE = st.permutations("abcd").map("".join)


@pytest.mark.parametrize("rule", PAIR_RULES)
@settings(max_examples=10, deadline=None)
@given(st.dictionaries(COMPLETE, st.integers(1, 9), min_size=1, max_size=4))
def test_nobody_wins_whom_all_rank_below_somebody(rule: str, votes: dict[str, int]) -> None:
    law = PairRule(name=rule).lottery(Ballots.from_counts("abcd", {tuple(ranking): w for ranking, w in votes.items()}))
    for worse, chance in zip("abcd", law, strict=True):
        for better in "abcd":
            if all(ranking.index(better) < ranking.index(worse) for ranking in votes):
                assert chance == 0


@settings(max_examples=10, deadline=None)
@given(st.dictionaries(COMPLETE, st.integers(1, 3), min_size=1, max_size=6), st.integers(0, 10**6))
def test_a_fixed_order_leaves_nothing_to_chance(votes: dict[str, int], label: int) -> None:
    cast = Ballots.from_counts("abcd", {tuple(ranking): weight for ranking, weight in votes.items()})
    for rule in PAIR_RULES:
        found = PairRule(name=rule, ties=FixedTies(tuple("cabd"))).run(cast, ScriptedSource.from_label(str(label)))
        assert found.draws == ()


RANKINGS = st.lists(st.sampled_from("abcd"), unique=True, max_size=4).map("".join)


@pytest.mark.parametrize("rule", PAIR_RULES)
@settings(max_examples=12, deadline=None)
@given(st.dictionaries(RANKINGS, st.integers(1, 9), min_size=1, max_size=8))
def test_whoever_beats_everybody_is_elected(rule: str, votes: dict[str, int]) -> None:
    cast = Ballots.from_counts("abcd", {tuple(ranking): weight for ranking, weight in votes.items()})
    pairs = pairwise(cast)
    assert pairs is not None
    law = PairRule(name=rule).lottery(cast)
    assert sum(law) == 1
    if pairs.winner is not None:
        assert law[pairs.winner] == 1


def test_rules_of_pairs_by_name() -> None:
    for rule in PAIR_RULES:
        assert rule_from_json(rule_as_json(PairRule(name=rule))) == PairRule(name=rule)
    with pytest.raises(WrongUse, match="there is no rule"):
        PairRule(name="dodgson")


def test_the_command_counts_pairs(tmp_path: Path) -> None:
    path, record = tmp_path / "b.csv", str(tmp_path / "r.json")
    rows = "".join(f"{weight},{'>'.join(ranking)}\n" for ranking, weight in SCHULZE.items())
    path.write_text("count,ranking\n" + rows, encoding="utf-8")
    words = ["vote", "tally", str(path), "--rule", "schulze", "--json", "--record", record]
    done = CliRunner().invoke(
        commands, [*words, "--ledger", str(tmp_path / "l.db"), "--page", str(tmp_path / "p.html")]
    )
    assert done.exit_code == 0, done.output
    answer = json.loads(done.stdout)
    assert (answer["winner"], answer["guarantee"]["holds"]) == ("E", False)
    assert len(answer["pairwise"]["pairs"]) == 10
    assert answer["pairwise"]["condorcet_winner"] is None
    told = CliRunner().invoke(commands, words[:-3])
    assert "Who would win each pair" in told.output
    assert "there is no Condorcet winner" in told.output
    again = CliRunner().invoke(commands, ["verify", record, "--ballots", str(path), "--key", answer["public_key"]])
    assert again.exit_code == 0, again.output
