"""THREATS 71: a summary whose declared range misses most people is refused like every other statistic."""

from __future__ import annotations

import pyarrow as pa
import pytest

from hubbub.errors import Refused
from tests.fresh import open as open_table

PEOPLE = pa.table({"id": [str(i) for i in range(200)], "pay": [20_100 + i for i in range(200)]})


@pytest.mark.parametrize("number", ["mean pay:0..10:1", "sum pay:0..10:1"])
@pytest.mark.parametrize("unit", [{}, {"distinct": "1"}])
def test_71_a_range_that_clamps_nearly_everybody_is_refused(number: str, unit: dict[str, str]) -> None:
    table = open_table(PEOPLE, person="id", clamped="0.5")
    with pytest.raises(Refused, match="a value of pay that lies outside of its range"):
        table.summary(number=("people", number), epsilon="1", **unit)


def test_71_a_range_that_holds_them_is_published() -> None:
    table = open_table(PEOPLE, person="id", clamped="0.5")
    assert table.summary(number=("people", "mean pay:0..50000:100"), epsilon="1")
