"""The charts of account and plan: what they say and what they leave out."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest

from hubbub.charts.amplification import OURS, PAPER, amplification_chart, amplification_series
from hubbub.charts.designs import designs_chart


def falling(epsilon: float, delta: float, paper: float | None) -> dict[str, Any]:
    return {"epsilon": epsilon, "delta": delta, "paper_delta": paper}


ROWS = [falling(0, 0.1, None), falling(0.5, 1e-7, 1e-3), falling(1, 1e-20, 1e-7)]


def test_two_lines_and_the_gain_in_the_title() -> None:
    chart = amplification_chart(ROWS, "the setting", floor=1e-21)
    assert chart.title == "At delta 1e-07, epsilon is 50 % below what the paper promises"
    lines = {each.name: len(each.points) for each in amplification_series(ROWS)}
    assert lines == {OURS: 2, PAPER: 2}  # 1e-20 is too deep to draw
    assert sum("dashed" in each.get("class", "") for each in ET.fromstring(chart.wide).iter("polyline")) == 1


def test_the_floor_is_drawn_where_it_is_in_sight() -> None:
    assert "no epsilon goes below" in amplification_chart(ROWS[:2], "the setting", floor=1e-5).wide
    assert "no epsilon goes below" not in amplification_chart(ROWS[:2], "the setting", floor=1e-21).wide
    alone = amplification_chart([falling(0, 0.1, None), falling(1, 1e-3, None)], "x", floor=0.0)
    assert alone.title == "delta falls as epsilon grows"


def design(channel: str, rate: float | None, error: float) -> dict[str, Any]:
    return {"channel": channel, "rate": rate, "error": error, "label": f"{channel} {rate}"}


def test_designs_by_rate_or_as_bars() -> None:
    rows = [design("noise", 0.1, 20), design("noise", None, 2), design("hidden", 0.1, 40)]
    drawn = ET.fromstring(designs_chart(rows, title="t", subtitle=["s"]).wide)
    circles = [each.get("class") for each in drawn.iter("circle")]
    assert circles == ["mark s0", "mark s0", "mark s1", "ring"]
    bars = designs_chart([design("noise", None, 2), design("hidden", None, 4)], title="t", subtitle=["s"])
    wide = [float(each.get("width", "")) for each in ET.fromstring(bars.wide).iter("rect")]
    assert 2 * wide[0] == pytest.approx(wide[1], abs=0.2)
