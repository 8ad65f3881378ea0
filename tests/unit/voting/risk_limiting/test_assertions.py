"""Audits of instant runoffs against published examples, and against every elimination order of small elections.

The examples are those of arXiv 1903.08804 (9, 11 and 12) and of "A Guide to RAIRE" (chapter 6), whose numbers the tests of
raire-java repeat.
"""

from __future__ import annotations

import csv
from fractions import Fraction
from itertools import permutations
from math import log
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.noise.source import PublicDice
from hubbub.voting.ballots import Ballots
from hubbub.voting.risk_limiting.assertions import Assertion, Margins, assertions_for, ruled_out
from hubbub.voting.risk_limiting.audit import Audit, audit_of, papers_needed
from hubbub.voting.rules.rules import make
from tests.unit.cli.answers import one_object, one_sentence

GUIDE = Ballots.from_counts(
    "ABCD",
    {("C", "B", "A"): 5000, ("B", "C", "D"): 1000, ("D", "A"): 1500, ("A", "D"): 4000, ("D",): 2000},
)
NINE = Ballots.from_counts("123", {("1", "2", "3"): 10000, ("2", "1", "3"): 6000, ("3", "1", "2"): 5999})
TWELVE = Ballots.from_counts(
    "1234",
    {
        ("1", "2", "3"): 5000,
        ("1", "3", "2"): 5000,
        ("2", "3", "1"): 5000,
        ("2", "1", "3"): 1500,
        ("3", "2", "1"): 5000,
        ("3", "1", "2"): 500,
        ("4", "1"): 5000,
    },
)


def test_the_guide_to_raires_example() -> None:
    margins = Margins(GUIDE)
    assert margins.tally((0, 2, 3)).tolist() == [4000, 0, 6000, 3500]
    assert margins.tally((0, 2)).tolist() == [5500, 0, 6000, 0]
    true = [pair for pair in permutations(range(4), 2) if margins.not_before(*pair) > 0]
    assert true == [(2, 1)], "C not before B is the one true assertion of that kind"
    assert Fraction(13500, margins.not_before(2, 1)) == Fraction(27, 8)  # published: 3.375
    found = assertions_for(GUIDE, 2)
    assert Fraction(13500, min(each.margin for each in found)) == 27  # published: the least effort is 27
    assert len(found) == 5  # published: 5 when they are made few


@pytest.mark.parametrize(
    ("ballots", "assertion", "published"),
    [
        (NINE, (0, 1, None), 36.2),
        (NINE, (0, 2, None), 36.2),
        (TWELVE, (0, 1, (0, 1)), 0.0017 * 27000),
        (TWELVE, (0, 2, (0, 1, 2)), 0.0007 * 27000),
        (TWELVE, (0, 2, (0, 2)), 0.0011 * 27000),
        (TWELVE, (0, 3, None), 0.0013 * 27000),
    ],
)
def test_numbers_of_papers_are_those_of_the_paper(
    ballots: Ballots, assertion: tuple[int, int, tuple[int, ...] | None], published: float
) -> None:
    """Examples 11 and 12: expected sample numbers at a risk of 5 %, gamma = 1.1; ours are rounded up."""
    stays, other, left = assertion
    margins = Margins(ballots)
    margin = margins.not_before(stays, other) if left is None else margins.not_next(stays, other, left)
    papers = papers_needed(margin, ballots.voters, Fraction(1, 20))
    tolerance = 0.1 if ballots is NINE else 0.00005 * 27000  # the paper prints percentages to two digits
    assert published - tolerance <= papers <= published + tolerance + 1
    assert papers - 1 < 2.2 * log(20) * ballots.voters / margin <= papers


def test_kaplan_markov_is_met_by_so_many_papers() -> None:
    for margin in (1, 7, 500, 4000):
        papers = papers_needed(margin, 10_000, Fraction(1, 10))
        assert (1 - margin / 10_000 / 2.2) ** papers <= 0.1


def test_raire_rules_out_every_other_winner() -> None:
    """For small random elections, by every order: what an assertion says is true of the ballots, and none is left."""
    random, audited = Random(5), 0
    for _ in range(60):
        names = "abcd"[: random.randint(2, 4)]
        counts: dict[tuple[str, ...], int] = {}
        for _ in range(random.randint(3, 40)):
            ballot = tuple(random.sample(names, random.randint(1, len(names))))
            counts[ballot] = counts.get(ballot, 0) + 1
        ballots = Ballots.from_counts(names, counts)
        result = make("instant-runoff").run(ballots, PublicDice("a fine day"))
        try:
            found = assertions_for(ballots, result.winner)
        except WrongUse:
            continue
        audited += 1
        margins = Margins(ballots)
        for each in found:
            left = each.left
            real = margins.not_before(each.stays, each.other)
            assert each.margin == (real if left is None else margins.not_next(each.stays, each.other, left)) > 0
        for order in permutations(range(len(names))):
            others = order[-1] != result.winner
            assert not others or any(each.contradicts(order) for each in found)
            if not others and _is_the_order(ballots, order):
                assert not any(each.contradicts(order) for each in found), "the true order is not contradicted"
    assert audited > 30


def _is_the_order(ballots: Ballots, order: tuple[int, ...]) -> bool:
    margins = Margins(ballots)
    for at in range(len(order) - 1):
        votes = margins.tally(order[at:])
        if any(votes[other] <= votes[order[at]] for other in order[at + 1 :]):
            return False
    return True


def test_too_few_assertions_are_told() -> None:
    found = assertions_for(GUIDE, 2)
    for i in range(len(found)):
        assert not ruled_out([*found[:i], *found[i + 1 :]], 4, 2)
    assert not ruled_out([Assertion(1, 0, 1)], 4, 2)


def audited(ballots: Ballots, risk: Fraction = Fraction(1, 20), dice: str = "a fine day") -> Audit:
    return audit_of(ballots, make("instant-runoff").run(ballots, PublicDice("x")), risk, dice)


def test_papers_are_drawn_by_public_words() -> None:
    done = audited(GUIDE)
    assert (done.papers, len(done.sample)) == (178, 178)
    assert all(1 <= number <= 13500 for number in done.sample)
    assert audited(GUIDE).sample == done.sample
    assert audited(GUIDE, dice="another day").sample != done.sample
    assert len(done.as_json()["assertions"]) == 5


@pytest.mark.parametrize(
    "counts",
    [{("a",): 3, ("b",): 3, ("c",): 2}, {("a",): 50, ("b",): 49, ("c",): 1}],
)
def test_what_no_sample_can_confirm_is_refused(counts: dict[tuple[str, ...], int]) -> None:
    with pytest.raises(WrongUse, match="by hand"):
        audited(Ballots.from_counts("abc", counts))


def test_the_command_writes_sheets(tmp_path: Path) -> None:
    path = tmp_path / "ballots.csv"
    path.write_text("count,ranking\n5000,C>B>A\n1000,B>C>D\n1500,D>A\n4000,A>D\n2000,D\n", encoding="utf-8")
    arguments = ["vote", "audit", str(path), "--dice", "a fine day", "--out", str(tmp_path / "out"), "--json"]
    answer = one_object(CliRunner().invoke(commands, arguments))
    assert (answer["winner"], answer["papers"], len(answer["assertions"])) == ("C", 178, 5)
    assert tuple(answer["sample"]) == audited(GUIDE).sample
    rows = list(csv.DictReader((tmp_path / "out" / "papers.csv").read_text(encoding="utf-8").splitlines()))
    assert sum(int(row["drawn"]) for row in rows) == 178
    assert [int(row["ballot"]) for row in rows] == sorted(set(answer["sample"]))
    assert {row["rank 1"] for row in rows} == {""}, "the sheet does not say what the record says"
    assert "C won if all 5 assertions are true" in (tmp_path / "out" / "sheets.html").read_text(encoding="utf-8")
    one_sentence(CliRunner().invoke(commands, arguments), 2, "already")
