"""Parts of published ballots, each by an exact case: the interval of a way, the record beside it, the picture."""

from __future__ import annotations

import json
from fractions import Fraction
from math import comb
from pathlib import Path

import pytest

from hubbub.kinds.ballots.giveaways import flow_picture
from hubbub.kinds.ballots.mechanism import path_interval
from hubbub.kinds.ballots.request import publish
from hubbub.kinds.ballots.result import PathTable
from hubbub.voting.count.official import Official, OfficialRound

THREE = OfficialRound(totals=(("Ann", 40), ("Bob", 31), ("Cyd", 20)), exhausted=0)
TWO = OfficialRound(totals=(("Ann", 50), ("Bob", 39)), exhausted=2)
RECORD = Official(rounds=(THREE, TWO), winner="Ann")
COVERAGE, HALF = Fraction(19, 20), Fraction(1, 2)


def _at_most(count: int, of: int) -> Fraction:
    return Fraction(sum(comb(of, i) for i in range(count + 1)), 2**of)


@pytest.mark.parametrize("count", [5, 8, 20])
def test_the_interval_of_a_sampled_way_ends_at_the_last_number_that_is_not_too_unlikely(count: int) -> None:
    k, tail = 5, Fraction(1, 40)
    low, high = path_interval(count, k, HALF, COVERAGE)
    assert _at_most(count, high) > tail >= _at_most(count, high + 1)

    def shown_with(of: int) -> Fraction:
        return (1 - _at_most(count - 1, of)) / (1 - _at_most(k - 1, of))

    assert shown_with(low) > tail
    assert low == count or shown_with(low - 1) <= tail
    assert path_interval(count, k, None, COVERAGE) == (count, count)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({}, True),
        ({"winner": "Bob", "last": {"Ann": 40, "Bob": 51}}, False),
        ({"last": {"Ann": 49, "Bob": 40}}, False),
        ({"first": {"Ann": 41, "Bob": 30, "Cyd": 20}}, False),
    ],
    ids=str,
)
def test_another_record_is_another(change: dict[str, object], same: bool, tmp_path: Path) -> None:
    first, last = (dict(each.totals) for each in (THREE, TWO))
    rounds = [{"counts": change.get("first", first)}, {"counts": change.get("last", last)}]
    file = tmp_path / "record.json"
    file.write_text(json.dumps({"rounds": rounds, "winner": change.get("winner", "Ann")}))
    assert publish(RECORD).check_companion(file).passed is same


def test_two_rounds_have_a_picture_and_one_has_none() -> None:
    final = Official(rounds=(TWO,), winner="Ann")
    assert flow_picture(PathTable(publish(final), ())) is None
    found = flow_picture(PathTable(publish(RECORD), ()))
    assert found is not None
    assert len(found.columns) == 2
