"""The picture of a count: every pile, band and label, and bars where nothing moves."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from hubbub import charts
from hubbub.charts.chart import Chart
from hubbub.charts.panels import transfers_chart
from hubbub.protocol.drawing import Flow, FlowColumn, FlowLink

COLUMNS = (
    FlowColumn("round 1", "out: Cid", (("Ann", 5), ("Bob", 4), ("Cid", 3))),
    FlowColumn("round 2", "", (("Ann", 6), ("Bob", 5), ("exhausted", 1))),
)
LINKS = (
    FlowLink(0, "Ann", "Ann", 5),
    FlowLink(0, "Bob", "Bob", 4),
    FlowLink(0, "Cid", "Ann", 1),
    FlowLink(0, "Cid", "Bob", 1),
    FlowLink(0, "Cid", "exhausted", 1),
)
ORDER = ("Ann", "Bob", "Cid", "exhausted")


def made(columns: tuple[FlowColumn, ...] = COLUMNS, links: tuple[FlowLink, ...] = LINKS) -> Chart:
    flow = Flow(columns=columns, links=links, order=ORDER, winner="Ann", plain=("exhausted",))
    return transfers_chart(flow, title="Ann wins", subtitle=["12 ballots"])


def test_the_chart_holds_every_pile_band_and_label() -> None:
    drawing = ET.fromstring(made().wide)
    assert len([each for each in drawing.iter("path") if "flowing" in each.get("class", "")]) == len(LINKS)
    piles = [each for each in drawing.iter("rect") if "pile" in each.get("class", "")]
    heights = [float(pile.get("height", "")) for pile in piles]
    assert [round(height / heights[0] * 5) for height in heights] == [5, 4, 3, 6, 5, 1]
    words = {each.text for each in drawing.iter("tspan")}
    assert {"Ann 5", "Ann 6", "Cid 3", "exhausted 1", "round 1", "round 2", "out: Cid"} <= words


def test_candidates_have_colours_of_their_own_and_the_exhausted_none() -> None:
    piles = [each.get("class", "") for each in ET.fromstring(made().wide).iter("rect")]
    assert len(set(piles)) == 4
    assert sum("plain" in each for each in piles) == 1


def test_one_count_is_bars_as_long_as_their_numbers() -> None:
    bars = [float(each.get("width", "")) for each in ET.fromstring(made(COLUMNS[:1], ()).wide).iter("rect")]
    assert [round(bar / bars[0] * 5, 1) for bar in bars] == [5, 4, 3]


def test_every_chart_that_is_loaded_late_is_where_the_table_says() -> None:
    assert all(callable(getattr(charts, name)) or name == "ENDINGS" for name in charts._WHERE)
