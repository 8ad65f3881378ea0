"""The picture of a count: bands as thick as the ballots that move, and labels that never overlap."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from hubbub import charts
from hubbub.charts.transfers import _apart, _banded, _stack, transfers_chart

pytestmark = pytest.mark.skipif(not charts.available(), reason="charts are not installed")

COLUMNS = [
    {"heading": "round 1", "note": "out: Cid", "piles": [("Ann", 5), ("Bob", 4), ("Cid", 3)]},
    {"heading": "round 2", "note": "", "piles": [("Ann", 6), ("Bob", 5), ("exhausted", 1)]},
]
LINKS = [
    {"column": 0, "origin": "Ann", "target": "Ann", "ballots": 5},
    {"column": 0, "origin": "Bob", "target": "Bob", "ballots": 4},
    {"column": 0, "origin": "Cid", "target": "Ann", "ballots": 1},
    {"column": 0, "origin": "Cid", "target": "Bob", "ballots": 1},
    {"column": 0, "origin": "Cid", "target": "exhausted", "ballots": 1},
]
ORDER = ["Ann", "Bob", "Cid", "exhausted"]


def drawn(columns: Any = COLUMNS, links: Any = LINKS) -> dict[str, Any]:
    chart = transfers_chart(
        columns, links, order=ORDER, winner="Ann", plain=["exhausted"], title="Ann wins", subtitle=["12 ballots"]
    )
    spec: dict[str, Any] = chart.to_dict()
    return spec


def test_bands_fill_their_piles_on_both_sides() -> None:
    placed = [_stack(column["piles"], 100.0 * i, 400) for i, column in enumerate(COLUMNS)]  # type: ignore[arg-type]
    bands = _banded(LINKS, placed, ORDER)
    for name, (_, top, end, _) in placed[0].items():
        assert sum(band["thick"] for band in bands if band["origin"] == name) == pytest.approx(end - top)
    for name, (_, top, end, _) in placed[1].items():
        arriving = [band for band in bands if band["name"].split(" to ")[-1] == name]
        assert sum(band["thick"] for band in arriving) == pytest.approx(end - top)
        assert min(band["to"][1] for band in arriving) == pytest.approx(top)


def test_labels_keep_a_line_between_them() -> None:
    stack = _stack([("a", 1000), ("b", 1), ("c", 1), ("d", 1)], 0, 400)
    places = _apart(stack)
    assert all(below - above >= 15 for above, below in pairwise(places))


def test_the_chart_holds_every_pile_band_and_label() -> None:
    values = [layer["data"]["values"] for layer in drawn()["layer"]]
    assert len({point["band"] for point in values[0]}) == len(LINKS)
    assert [bar["ballots"] for bar in values[1]] == [5, 4, 3, 6, 5, 1]
    words = {row["text"] for rows in values[2:] for row in rows}
    assert {"Ann  5", "Ann  6", "Cid  3", "exhausted  1", "round 1", "round 2", "out: Cid"} <= words


def test_candidates_have_colours_of_their_own_and_the_exhausted_none() -> None:
    colours = {bar["name"]: bar["colour"] for bar in drawn()["layer"][1]["data"]["values"]}
    assert len(set(colours.values())) == 4
    many = [{"heading": "", "note": "", "piles": [(f"C{i}", 10 - i) for i in range(9)]}] * 2
    spec = transfers_chart(
        many, [], order=[f"C{i}" for i in range(9)], winner="C0", plain=[], title="t", subtitle=[]
    ).to_dict()
    assert len({bar["colour"] for bar in spec["layer"][1]["data"]["values"]}) == 8


def test_one_count_is_bars() -> None:
    spec = drawn(COLUMNS[:1], [])
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["bar", "text"]
