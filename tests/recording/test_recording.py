"""What releases draw, publish and promise is what it was when it was recorded."""

from __future__ import annotations

import json

import pytest

from tests.recording.cases import STATISTICS, cases
from tests.recording.replay import DIGESTS, REFUSED, digests, replay, text

RECORDED = json.loads(DIGESTS.read_text(encoding="utf-8"))
CASES = cases()

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("statistic", STATISTICS)
def test_every_recorded_release_is_replayed_to_the_bit(statistic: str) -> None:
    """`python -m tests.recording show CASE`, here and before the change, shows what differs."""
    mine = {name: case for name, case in CASES.items() if name.startswith(f"{statistic},")}
    replayed = {name: digests(replay(*case)) for name, case in mine.items()}
    possible = {name: parts for name, parts in replayed.items() if REFUSED not in parts}
    assert possible == {name: parts for name, parts in RECORDED.items() if name in mine}


def test_every_statistic_is_recorded_under_some_protection_and_contribution() -> None:
    assert {name.partition(",")[0] for name in RECORDED} == set(STATISTICS)
    assert set(RECORDED) <= set(CASES)


def test_a_change_of_one_drawn_integer_is_noticed() -> None:
    name = "mean, noise, people with one row"
    replayed = replay(*CASES[name])
    drawn = next(iter(replayed["measurement"].values()))
    column = next(key for key, values in drawn.items() if isinstance(values[0], int))
    before = text(replayed)
    drawn[column][0] += 1
    assert text(replayed) != before
    assert digests(replayed)["measurement"] != RECORDED[name]["measurement"]
