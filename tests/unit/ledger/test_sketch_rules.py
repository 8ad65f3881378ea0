"""Who is compared with whom: running numbers, forms, registers, and how sure a share in common is."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from hubbub.ledger.sketch import Overlap, Sketch, can_compare

PLAIN = Sketch(way="w", words=np.array([1, 2], dtype=np.uint64))


@pytest.mark.parametrize(
    ("one", "two", "compared"),
    [
        ({}, {}, True),
        ({"running": True}, {}, True),
        ({"running": True, "forms": {"f"}}, {"forms": {"g"}}, False),
        ({"running": True, "forms": {"f"}}, {"forms": {"f", "g"}}, True),
        ({"forms": {"f"}}, {"forms": {"g"}}, True),
        ({"running": True, "forms": {"f"}}, {}, True),
        ({"registers": {"r"}}, {"registers": {"s"}}, False),
        ({"registers": {"r"}, "running": True, "forms": {"f"}}, {"registers": {"r"}, "forms": {"g"}}, True),
    ],
)
def test_running_numbers_of_tables_unlike_in_form_mean_nobody(one: dict, two: dict, compared: bool) -> None:  # type: ignore[type-arg]
    first, second = (
        replace(PLAIN, **{name: frozenset(value) if isinstance(value, set) else value for name, value in each.items()})
        for each in (one, two)
    )
    assert can_compare(first, second) is compared
    assert can_compare(second, first) is compared


def test_the_interval_of_a_share_ends_where_the_bound_is_half_the_doubt() -> None:
    low, high = Overlap(common=30, compared=100).interval(0.05)
    for end in (low, high):
        distance = 0.3 * math.log(0.3 / end) + 0.7 * math.log(0.7 / (1 - end))
        assert math.exp(-100 * distance) == pytest.approx(0.025, rel=1e-6)
    assert low < 0.3 < high
    assert Overlap(common=0, compared=0).interval() == (0.0, 1.0)
