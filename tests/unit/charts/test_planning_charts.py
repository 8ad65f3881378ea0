"""The charts of account and plan: what they say and what they leave out."""

from __future__ import annotations

from typing import Any

from hubbub.charts.amplification import OURS, PAPER, amplification_chart
from hubbub.charts.designs import designs_chart


def falling(epsilon: float, delta: float, paper: float | None) -> dict[str, Any]:
    return {"epsilon": epsilon, "delta": delta, "paper_delta": paper}


ROWS = [falling(0, 0.1, None), falling(0.5, 1e-7, 1e-3), falling(1, 1e-20, 1e-7)]


def test_two_lines_and_the_gain_in_the_title() -> None:
    drawn = amplification_chart(ROWS, "the setting", floor=1e-21).to_dict()
    assert drawn["title"]["text"] == "At delta 1e-07, epsilon is 50 % below what the paper promises"
    points = drawn["data"]["values"] if "data" in drawn else drawn["layer"][0]["data"]["values"]
    assert [point["which"] for point in points] == [OURS, OURS, PAPER, PAPER]  # 1e-20 is too deep to draw
    assert len(drawn["layer"]) == 2


def test_the_floor_is_drawn_where_it_is_in_sight() -> None:
    drawn = amplification_chart(ROWS[:2], "the setting", floor=1e-5).to_dict()
    assert len(drawn["layer"]) == 4
    alone = amplification_chart([falling(0, 0.1, None), falling(1, 1e-3, None)], "x", floor=0.0).to_dict()
    assert alone["title"]["text"] == "delta falls as epsilon grows"


def design(channel: str, rate: float | None, error: float) -> dict[str, Any]:
    return {"channel": channel, "rate": rate, "error": error, "label": f"{channel} {rate}"}


def test_designs_by_rate_or_as_bars() -> None:
    rows = [design("noise", 0.1, 20), design("noise", None, 2), design("hidden", 0.1, 40)]
    drawn = designs_chart(rows, title="t", subtitle=["s"]).to_dict()
    assert len(drawn["layer"]) == 4  # lines, marks for each of two channels, a ring around the best
    bars = designs_chart([design("noise", None, 2), design("hidden", None, 4)], title="t", subtitle=["s"]).to_dict()
    assert [layer["mark"]["type"] for layer in bars["layer"]] == ["bar", "text"]
