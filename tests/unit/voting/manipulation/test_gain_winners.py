"""Many profiles at once: the same chances as the rules themselves give, one profile at a time."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.manipulation.beliefs import Scores
from hubbub.voting.manipulation.gain_winners import CONTESTS, Contest, Tally, contest_of, denominator, lotteries
from hubbub.voting.rules.rules import ForGain, make
from hubbub.voting.ties import RANDOM, FixedTies

TOP = 2  # of scores


def reports(kind: str, m: int) -> list[tuple[int, ...]]:
    """Every ballot that the rule counts."""
    if kind == "score":
        return [Scores(scores) for scores in product(range(TOP + 1), repeat=m)]
    return [r for length in range(m + 1) for r in permutations(range(m), length)]


def ballots_of(names: str, rankings: list[tuple[int, ...]], counts: list[int], kind: str = "") -> Ballots:
    if kind == "score":
        return Ballots.from_levels(names, [[TOP - score for score in scores] for scores in rankings], counts)
    if kind == "approval":
        return Ballots.from_levels(names, [[-(c not in r) for c in range(len(names))] for r in rankings], counts)
    return Ballots.from_counts(names, {tuple(names[c] for c in r): k for r, k in zip(rankings, counts, strict=True)})


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("kind", CONTESTS)
@pytest.mark.parametrize("fixed", [False, True])
def test_lotteries_are_those_of_the_rules(kind: str, m: int, fixed: bool) -> None:
    """Complete and truncated ballots, few enough for ties everywhere, margins from none to wider than the election."""
    names = "abcd"[:m]
    rankings = reports(kind, m)
    top = TOP if kind == "score" else None
    words = ScriptedSource.from_label(f"{kind} {m}").words(60 * len(rankings))
    table = (words % np.uint64(3)).astype(np.int64).reshape(60, len(rankings))
    table[30:] *= table[30:] == 2  # half of them sparse
    order = tuple(range(m))[::-1] if fixed else None
    for margin in (0, 1, 3, 100) if "-" in kind and kind != "instant-runoff" else (None,):
        contest = Contest(kind=kind, margin=margin, order=order, top=top)
        ties = RANDOM if order is None else FixedTies(tuple(names[c] for c in order))
        rule = make(kind, margin=margin, ties=ties, top=top)
        assert contest_of(rule, 30, names) == contest
        found = lotteries(contest, Tally(rankings, m, table))
        whole = denominator(contest, m)
        assert (found.sum(axis=1) == whole).all()
        for counts, chances in zip(table.tolist(), found.tolist(), strict=True):
            expected = rule.lottery(ballots_of(names, rankings, counts, kind))
            assert tuple(Fraction(chance, whole) for chance in chances) == expected


@pytest.mark.parametrize("kind", CONTESTS)
def test_a_report_is_one_more_ballot(kind: str) -> None:
    rankings = reports(kind, 3)
    words = ScriptedSource.from_label(f"report {kind}").words(40 * len(rankings))
    table = (words % np.uint64(2)).astype(np.int64).reshape(40, len(rankings))
    contest = Contest(kind=kind, margin=1 if kind in CONTESTS[2:4] else None, top=TOP if kind == "score" else None)
    tally = Tally(rankings, 3, table)
    for column, report in enumerate(rankings):
        more = table.copy()
        more[:, column] += 1
        assert (lotteries(contest, tally, report) == lotteries(contest, Tally(rankings, 3, more))).all()


def test_a_nested_tie_keeps_whole_shares() -> None:
    rankings = list(permutations(range(4)))
    contest = Contest(kind="instant-runoff")
    everyone = np.ones((1, len(rankings)), dtype=np.int64)
    assert lotteries(contest, Tally(rankings, 4, everyone)).tolist() == [[denominator(contest, 4) // 4] * 4]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"kind": "positional"}, "computed for"),
        ({"kind": "plurality", "margin": 3}, "plurality has none"),
        ({"kind": "repeated-plurality"}, "none was given"),
        ({"kind": "approximate-runoff", "margin": -1}, "at least 0"),
    ],
)
def test_what_is_refused(arguments: dict[str, object], complaint: str) -> None:
    with pytest.raises(WrongUse, match=complaint):
        Contest(**arguments)  # type: ignore[arg-type]


def test_rules_as_contests() -> None:
    rule = make("repeated-plurality", margin=ForGain(Fraction(1, 10**12)))
    assert contest_of(rule, 10_000, "abc") == Contest(kind="repeated-plurality", margin=785)
    with pytest.raises(WrongUse, match="not for random-dictator"):
        contest_of(make("random-dictator"), 10, "abc")


def test_every_profile_of_two_voters_under_plurality() -> None:
    rankings = [(0, 1, 2), (1, 0, 2), (2, 0, 1)]
    table = np.array([row for row in product(range(3), repeat=3) if sum(row) == 2])
    found = lotteries(Contest(kind="plurality"), Tally(rankings, 3, table))
    expected = [[6 * c // 2 for c in row] if max(row) == 1 else [6 * (c == 2) for c in row] for row in table.tolist()]
    assert found.tolist() == expected
