"""Charts: what they say, what they do with zeros and infinities, and the files they write."""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from hubbub import charts
from hubbub.charts import chart as chart_module
from hubbub.charts.attack import drawn_attack
from hubbub.charts.chart import Chart
from hubbub.charts.lines import axes_of, drawn_lines
from hubbub.charts.profile import CLAIMED, EXACT, delta_lines, loss_lines
from hubbub.charts.style import MARKS, SERIES, TINTS, TOKENS
from hubbub.charts.triangles import drawn_triangles, shade
from hubbub.errors import WrongUse


def row(count: int, *, claimed: float = 1e-5, exact: float = 0, epsilon: Any = 0.5, loss: Any = 0.5) -> dict[str, Any]:
    deltas = {"claimed_delta": claimed, "exact_delta": exact}
    return {"count": count, "epsilon": epsilon, **deltas, "exact_epsilon": loss}


def made(rows: list[dict[str, Any]]) -> Chart:
    return charts.profile_chart(rows, "the channel")


def test_deltas_are_drawn_on_a_logarithmic_axis_that_holds_them_all() -> None:
    series, axes = delta_lines([row(1, exact=1e-40), row(2, exact=3e-9), row(3, exact=4e-6), row(4)])
    _, up = axes_of(series, axes)
    assert up.log
    assert all(0 <= up.at(delta) <= 1 for each in series for _, delta in each.points)
    by_name = {each.name: each for each in series}
    assert [count for count, _ in by_name[EXACT].points] == [2, 3]
    assert [count for count, _ in series[2].points] == [1, 4]
    assert "or exactly 0" in series[2].name
    assert [count for count, _ in by_name[CLAIMED].points] == [1, 2, 3, 4]
    assert axes_of(*delta_lines([row(1, exact=1e-7), row(9, exact=1e-7)]))[1].log
    assert not delta_lines([row(1, exact=1e-7), row(9, exact=1e-7)])[0][1].line, "nothing is said between counts"


@pytest.mark.parametrize(
    ("exact", "message"),
    [
        (4e-6, "At worst, at 7 people, the exact delta is 2.5 times below the claim"),
        (9.9e-6, "At worst, at 7 people, the exact delta all but meets the claim"),
        (0.25, "The claim fails at 7 people: the exact delta is 0.25"),
    ],
)
def test_the_title_says_what_was_found(exact: float, message: str) -> None:
    chart = made([row(6, exact=1e-7), row(7, exact=exact)])
    assert (chart.title, chart.subtitle) == (message, ("the channel",))


def test_a_claim_of_zero_that_fails_is_drawn() -> None:
    rows = [row(1, claimed=0, exact=0.25), row(2, claimed=0, exact=0)]
    assert made(rows).title.startswith("The claim fails")
    assert [each.name for each in delta_lines(rows)[0]] == ["exact", "exact, below 1e-1 or exactly 0"]


def test_without_any_delta_the_loss_is_drawn() -> None:
    rows = [row(1, claimed=0), row(2, claimed=0), row(3, claimed=0, epsilon="inf", loss="inf")]
    assert made(rows).title == "Delta is exactly 0, and the loss is exactly what is promised"
    assert made(rows).subtitle == ("the channel", "nothing is promised to people in crowds of 3")
    assert [[count for count, _ in each.points] for each in loss_lines(rows)[0]] == [[1, 2], [1, 2]]


def test_a_loss_below_the_promise_is_not_called_exact() -> None:
    assert made([row(1, loss=0.4)]).title == "Delta is exactly 0 at every count"
    assert made([row(1, loss=None)]).title == "Delta is exactly 0 at every count"


def test_a_delta_that_is_barely_there_is_not_called_zero() -> None:
    assert made([row(1, exact=1e-76, loss=0.4)]).title == "Delta is below 1e-30 at every count"


def test_losses_far_apart_get_a_logarithmic_axis() -> None:
    near, far = [row(1), row(2, epsilon=1, loss=1)], [row(1, epsilon=0.01, loss=0.01), row(2)]
    assert [axes_of(*loss_lines(rows))[1].log for rows in (near, far)] == [False, True]
    assert not axes_of(*loss_lines([row(1, epsilon=0, loss=0), row(2)]))[1].log  # a logarithm has no place for 0
    everything_hidden = [row(1, epsilon="inf", loss="inf"), row(2, epsilon="inf", loss="inf")]
    assert made(everything_hidden).subtitle[1] == "nothing is promised to people in crowds of 1 to 2"


def attack_rows() -> list[dict[str, Any]]:
    common = {"error_rare": 12.0, "error_large": 0.9}
    return [
        {"name": "loud", "attack": 1.0, "beliefs": (0.0, 1.0), **common},
        {"name": "quiet", "attack": 0.5, "beliefs": (0.5, 0.5), **common},
    ]


@pytest.mark.parametrize("kind", ["wide", "narrow"])
def test_an_attack_chart_shows_every_mechanism_in_order_and_bars_as_long_as_their_numbers(kind: str) -> None:
    text = drawn_attack(attack_rows(), 0.5, 1, 700 if kind == "wide" else 350, kind=kind)
    words = [each.text for each in ET.fromstring(text).iter("tspan")]
    assert words.index("loud") < words.index("quiet")
    bars = [each for each in ET.fromstring(text).iter("rect") if each.get("height") == "16"]
    found = [float(bar.get("width", "")) for bar in bars if bar.get("class") == "bar"]
    assert found[0] == pytest.approx(2 * found[1], abs=0.1)
    assert [bar.get("class") for bar in bars if bar.get("class") != "bar"] == ["t0", "t5", "t4", "t4"]


def test_triangles_have_a_cell_for_each_belief_and_its_tint() -> None:
    cells = [
        {"rule": "plurality", "weights": weights, "gain": gain, "told": "so", "efficiency": None}
        for weights, gain in (((1, 0, 0), 0.0), ((0, 1, 0), 0.1), ((0, 0, 1), 1e-4))
    ]
    polls = [{"weights": (1, 1, 1), "label": "a poll"}]
    text = drawn_triangles(cells, polls, ["plurality"], [["plurality"]], ["a", "b", "c"], 4, 700)
    found = [each.get("class") for each in ET.fromstring(text).iter("polygon")]
    assert found[0] == "t0"
    assert found[1] == "t5"
    assert found[2] not in ("t0", "t5")
    assert shade(0.5, [0.1, 0.5, 0.9]) == 2
    assert sum(each.get("class") == "line" for each in ET.fromstring(text).iter("path")) == 1


@pytest.mark.parametrize("rows", [[row(3, exact=1e-7)], [row(3)], [row(1, exact=1e-9), row(900, exact=1e-7), row(901)]])
def test_charts_render(rows: list[dict[str, Any]], tmp_path: Path) -> None:
    file = tmp_path / "chart.svg"
    made(rows).save(file)
    assert ET.fromstring(file.read_text(encoding="utf-8")).tag == "{http://www.w3.org/2000/svg}svg"


def test_files_of_every_kind(tmp_path: Path) -> None:
    """An SVG file has its colours inside; a page has both drawings, no script and no address; a PNG has pixels."""
    chart = made([row(1, exact=1e-7), row(2, exact=1e-6)])
    for ending in charts.ENDINGS:
        chart.save(tmp_path / f"chart{ending.upper()}")
    assert (tmp_path / "chart.PNG").read_bytes().startswith(b"\x89PNG")
    drawing = (tmp_path / "chart.SVG").read_text(encoding="utf-8")
    assert "var(" not in drawing
    page = (tmp_path / "chart.HTML").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert not re.search(r"<script|https?:|src=|@import", page)
    assert chart._repr_svg_() == drawing


def test_a_png_shows_text_where_the_machine_has_a_font_of_ours() -> None:
    """A renderer that finds none of the fonts draws no letters; the list names those that come with most systems."""
    with_words = Chart(title="Words", wide='<svg class="chart" viewBox="0 0 90 20"></svg>').png()
    without = Chart(title="", wide='<svg class="chart" viewBox="0 0 90 42"></svg>').png()
    assert len(with_words) > len(without) + 200


@pytest.mark.parametrize("name", ["chart.pdf", "chart", "chart.html.txt", "chart.json"])
def test_other_endings_are_refused(name: str) -> None:
    with pytest.raises(WrongUse, match=r"must end in \.html, \.png or \.svg"):
        charts.ready(name)


def test_a_missing_renderer_is_said_with_the_remedy_and_stops_nothing_but_png(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(chart_module, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "resvg_py", None)
    with pytest.raises(WrongUse, match=r"pip install '\.\[charts\]'"):
        charts.ready("chart.png")
    with pytest.raises(WrongUse, match=r"pip install '\.\[charts\]'"):
        made([row(1)]).png()
    for ending in (".svg", ".html"):
        made([row(1)]).save(tmp_path / f"chart{ending}")


def test_a_file_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="cannot be written"):
        made([row(1)]).save(tmp_path / "none" / "chart.svg")


# --- colours --------------------------------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    digits = {"white": "ffffff"}.get(colour, colour.lstrip("#"))
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    r, g, b = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: str, other: str) -> float:
    a, b = sorted((luminance(one), luminance(other)), reverse=True)
    return (a + 0.05) / (b + 0.05)


def mixed(colour: str, paper: str, share: float) -> str:
    """A colour with so much opacity on a page."""
    whole = "#ffffff" if paper == "white" else paper
    pairs = ((int(colour[i : i + 2], 16), int(whole[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in pairs)


BAND = float(re.findall(r"\.band \{[^}]*fill-opacity: ([.\d]+)", MARKS)[0])
LIGHT, DARK = (dict(re.findall(r"--([\w-]+): ([^;\s]+);", part)) for part in TOKENS.split("@media", 1))


@pytest.mark.parametrize("tokens", [LIGHT, DARK], ids=["light", "dark"])
def test_marks_stand_out_from_the_page_and_from_one_another(tokens: dict[str, str]) -> None:
    """WCAG 1.4.11: three to one for what carries a number; 1.4.3: four and a half for words."""
    paper, ink = tokens["paper"], tokens["ink"]
    for name in ("bar", "rule", "quiet", *(f"series-{i}" for i in range(6))):
        assert contrast(tokens[name], paper) >= 3, name
    assert contrast(ink, tokens["bar"]) >= 3, "a whisker on its bar"
    for name in ("ink", "quiet", "soft", "link"):
        assert contrast(tokens[name], paper) >= 4.5, name
    for i in range(6):
        words = ink if i < 3 else tokens["on-tint"]
        assert contrast(words, tokens[f"tint-{i}"]) >= 4.5, f"words in a cell of tint {i}"
    tints = [luminance(tokens[f"tint-{i}"]) for i in range(6)]
    assert tints == sorted(tints, reverse=tokens is LIGHT)
    for i in range(5):
        assert contrast(tokens[f"tint-{i}"], tokens[f"tint-{i + 1}"]) >= 1.15, f"tints {i} and {i + 1}"
    assert contrast(mixed(tokens["series-0"], paper, BAND), paper) >= 1.4, "a band on its page"


def test_a_file_has_the_colours_of_a_light_page() -> None:
    fallbacks = dict(re.findall(r"var\(--([\w-]+), ([^()]+)\)", MARKS))
    assert {name: LIGHT[name] for name in fallbacks} == fallbacks
    assert [LIGHT[f"series-{i}"] for i in range(6)] == list(SERIES)
    assert [LIGHT[f"tint-{i}"] for i in range(6)] == list(TINTS)


def test_lines_have_bands_where_they_are_given() -> None:
    from hubbub.charts.lines import Axes, Series

    axes = Axes(title="t", description="t", x="x", y="y", up=(0.0, 1.0), log=False)
    series = Series(name="a", points=((0, 0.5), (1, 0.5)), band=((0.25, 0.75), (0.25, 1.0)))
    drawing = ET.fromstring(drawn_lines([series], axes, 700))
    band = next(each for each in drawing.iter("polygon"))
    ys = [float(pair.split(",")[1]) for pair in band.get("points", "").split()]
    dots = [float(dot.get("cy", "")) for dot in drawing.iter("circle") if dot.get("class") == "mark s0"]
    assert ys[0] == ys[1]
    assert ys[0] - dots[0] == pytest.approx(dots[0] - ys[3], abs=0.2)
    assert ys[0] - ys[2] == pytest.approx(3 * (ys[0] - dots[0]), abs=0.3)
