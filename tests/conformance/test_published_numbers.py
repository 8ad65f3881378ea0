"""Every number that any statistic publishes lies in its interval, and its status says whether there is one."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.recording.cases import STATISTICS, cases
from tests.recording.replay import REFUSED, replay

pytestmark = pytest.mark.slow

CASES = cases()
NO_NUMBER = {"cut"}  # where a total is cut, whose interval is that of the total
WITHOUT_A_STATUS = {"queries", "synthetic", "series"}  # every one of their numbers is shown
ROUNDING = 1e-9
Numbers = tuple[str, float | None, float, float | None, str | None]


def number(cell: str) -> float | None:
    return None if cell == "" else float(cell)


@cache
def published(statistic: str) -> list[Numbers]:
    """Each number of each row: where it stands, itself, both ends, its status."""
    return list(_published(statistic))


def _published(statistic: str) -> Iterator[Numbers]:
    for name, case in CASES.items():
        replayed: dict[str, Any] = replay(*case) if name.startswith(f"{statistic},") else {REFUSED: True}
        for sheet, text in () if REFUSED in replayed else replayed["sheets"].items():
            for row in csv.DictReader(io.StringIO(text)):
                bases = {
                    "estimate" if low == "low" else low[:-4] for low in row if low == "low" or low.endswith("_low")
                }
                for base in sorted((bases & {*row}) - NO_NUMBER):
                    prefix = "" if base == "estimate" else f"{base}_"
                    low = number(row[f"{prefix}low"])
                    assert low is not None
                    status = row.get(f"{prefix}status")
                    yield f"{name}: {sheet}: {base}", number(row[base]), low, number(row[f"{prefix}high"]), status


@pytest.mark.parametrize("statistic", STATISTICS)
def test_a_number_is_in_its_interval_and_its_status_says_whether_it_is_there(statistic: str) -> None:
    for where, estimate, low, high, status in published(statistic):
        assert status in ("shown", "suppressed", "not usable", None), where
        if statistic not in WITHOUT_A_STATUS:
            assert status is not None, f"{where}: one status for several numbers says nothing of each"
        if status is not None:
            assert (status == "shown") is (estimate is not None), where
        if estimate is not None:
            assert low - ROUNDING <= estimate, where
            assert high is None or estimate <= high + ROUNDING, where


def test_there_are_numbers_of_most_statistics_and_some_that_are_not_usable() -> None:
    found = {statistic: published(statistic) for statistic in STATISTICS}
    assert sum(bool(each) for each in found.values()) >= 8
    statuses = {(statistic, each[4]) for statistic, every in found.items() for each in every}
    assert {("summary", "shown"), ("variance", "shown"), ("queries", None)} <= statuses
    assert any(status == "not usable" for _, status in statuses)
