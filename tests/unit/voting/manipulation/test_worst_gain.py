"""The worst belief of a coarseness, found by going through all of them: by hand, by names, and against theory B1."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from click.testing import CliRunner

from hubbub import vote
from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.manipulation.beliefs import Belief
from hubbub.voting.manipulation.gain import Contest, gains_of_truths
from hubbub.voting.manipulation.worst_gain import NAMES, ORDERS, coarse_beliefs, worst_gain
from tests.unit.cli.answers import one_object, one_sentence


def every_belief(most: int) -> set[tuple[tuple[tuple[int, ...], Fraction], ...]]:
    """All alpha-coarse beliefs, by their definition: multiples of 1/k that add up to 1."""
    found = set()
    for k in range(1, most + 1):
        for counts in product(range(k + 1), repeat=6):
            if sum(counts) == k:
                found.add(tuple((r, Fraction(c, k)) for r, c in zip(ORDERS, counts, strict=True) if c))
    return found


def renamed(shares: tuple[tuple[tuple[int, ...], Fraction], ...], names: tuple[int, ...]) -> frozenset[object]:
    return frozenset((tuple(names[c] for c in ranking), share) for ranking, share in shares)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_every_coarse_belief_is_among_them_up_to_names(most: int) -> None:
    kept = [belief.shares for belief in coarse_beliefs(Fraction(1, most))]
    orbits = [{renamed(shares, names) for names in ORDERS} for shares in kept]
    everyone = {frozenset(shares) for shares in every_belief(most)}
    assert set().union(*orbits) == everyone
    assert sum(map(len, orbits)) == len(everyone), "and none twice"
    assert len(everyone) <= comb(most + 6, 6)


@pytest.mark.parametrize("contest", [Contest(kind="plurality"), Contest(kind="repeated-plurality", margin=3)])
def test_the_worst_is_the_largest_over_all_beliefs(contest: Contest) -> None:
    found = worst_gain(contest, 6, Fraction(1, 2))
    gains = [
        gain.high
        for shares in every_belief(2)
        for gain in gains_of_truths(Belief(candidates=NAMES, shares=shares), 6, contest, ORDERS).values()
    ]
    assert found.most.high == found.most.low == max(gains) > 0


def test_halves_and_two_hundred_voters_gain_nothing() -> None:
    """Theory B1, exact check: alpha = 1/2, n = 201: gain exactly 0, where the bound says 2e-2."""
    found = worst_gain(Contest(kind="repeated-plurality", margin=50), 201, Fraction(1, 2))
    assert found.most.high < Fraction(1, 10**11)
    assert found.bound is not None
    assert found.bound > 1000 * found.most.high


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rule", "gain", "bound"), [("repeated-plurality", 3.9e-7, 6.52e-3), ("approximate-runoff", 4.5e-9, 7.08e-3)]
)
def test_the_worst_beliefs_of_theory_b1(rule: str, gain: float, bound: float) -> None:
    """n = 1001, B = 124, alpha = 1/4: the figures of the exact check there, over all beliefs and not three of them."""
    found = vote.worst_gain(rule, voters=1001, coarseness="1/4", margin="124")
    assert float(found.most.high) == pytest.approx(gain, rel=0.01)
    assert float(found.bound or 0) == pytest.approx(bound, rel=0.001)


def test_the_command_says_it() -> None:
    words = ["vote", "worst", "--rule", "plurality", "--voters", "11", "--coarseness", "1/2"]
    answer = one_object(CliRunner().invoke(commands, [*words, "--json"]))
    assert answer["gain_low"] == answer["gain_high"] == pytest.approx(0.123047, abs=1e-6), "table B4"
    assert answer["bound"] is None
    told = CliRunner().invoke(commands, ["vote", "worst", "--voters", "21", "--coarseness", "1/2", "--margin", "4"])
    assert "union over pairs" in told.stderr
    one_sentence(CliRunner().invoke(commands, [*words, "--margin", "3"]), 2, "has no margin")
    one_sentence(CliRunner().invoke(commands, [*words[:-1], "1/40"]), 2, "ask for 1/14")


def test_what_cannot_be_gone_through_is_refused() -> None:
    with pytest.raises(WrongUse, match="ties must be drawn"):
        worst_gain(Contest(kind="plurality", order=(0, 1, 2)), 9, Fraction(1, 2))
    with pytest.raises(WrongUse, match="too many states"):
        worst_gain(Contest(kind="instant-runoff"), 9_001, Fraction(1, 3))


@pytest.mark.parametrize("contest", [Contest(kind="instant-runoff"), Contest(kind="approximate-runoff", margin=1)])
def test_the_worst_of_three_voters_by_going_through_everything(contest: Contest) -> None:
    """Every belief in halves, both others, every truth, lie and corner of utility, by the laws of the rule itself."""
    rule = vote.rule(contest.kind) if contest.margin is None else vote.rule(contest.kind, margin=contest.margin)
    laws = {}
    for profile in product(ORDERS, repeat=3):
        counts: dict[tuple[str, ...], int] = {}
        for ranking in profile:
            named = tuple(NAMES[c] for c in ranking)
            counts[named] = counts.get(named, 0) + 1
        laws[profile] = rule.lottery(Ballots.from_counts(NAMES, counts))
    most = Fraction(0)
    for shares in every_belief(2):
        for truth, lie in product(ORDERS, repeat=2):
            for wanted in (truth[:1], truth[:2]):
                gain = Fraction(0)
                for (one, p), (other, q) in product(shares, repeat=2):
                    after, before = laws[one, other, lie], laws[one, other, truth]
                    gain += p * q * sum((after[c] - before[c] for c in wanted), Fraction(0))
                most = max(most, gain)
    found = worst_gain(contest, 3, Fraction(1, 2)).most
    assert found.low == found.high == most > 0
