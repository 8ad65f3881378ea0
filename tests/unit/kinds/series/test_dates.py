"""Days of dates and moments: exact at the ends of every type, and by the floor before 1970."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest

from hubbub.series import NO_DAY, read_days
from hubbub.tables.calendar import UNITS, Calendar

FIRST = {"day": "2026-01-31", "week": "2026-W05", "month": "2026-01", "quarter": "2026-Q1", "year": "2026"}


@pytest.mark.parametrize(("unit", "a_day"), [("s", 86_400), ("ms", 86_400_000), ("us", 86_400_000_000)])
def test_47_no_moment_wraps_round(unit: str, a_day: int) -> None:
    moments = [-(2**63), -1, 0, a_day - 1, a_day, 2**63 - 1]
    found, unread = read_days(pa.chunked_array([pa.array([*moments, None], pa.timestamp(unit))]))
    assert found.tolist() == [*(each // a_day for each in moments), NO_DAY]
    assert not unread.any()


def test_47_no_day_wraps_round() -> None:
    ends = [-(2**31), -1, 0, 2**31 - 1]
    found, _ = read_days(pa.chunked_array([pa.array([*ends, None], pa.int32()).view(pa.date32())]))
    assert found.tolist() == [*ends, NO_DAY]


@pytest.mark.parametrize("every", UNITS)
def test_periods_follow_each_other_day_by_day_and_every_label_begins_one(every: str) -> None:
    calendar = Calendar(every=every, first=FIRST[every], periods=60)
    starts = calendar.days
    widest = {"day": (1, 1), "week": (7, 7), "month": (28, 31), "quarter": (90, 92), "year": (365, 366)}[every]
    assert all(widest[0] <= two - one <= widest[1] for one, two in pairwise(starts))
    again = [Calendar(every=every, first=label, periods=1).days[0] for label in calendar.labels]
    assert list(starts[:-1]) == again
    assert calendar.last_day > "2026-01-31"
