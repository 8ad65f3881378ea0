"""Bars as SVG: everything is inside, nothing is cut, nothing acts."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest

from hubbub.charts.style import WIDTHS
from hubbub.charts.svg import (
    Bar,
    ChartLabels,
    Panel,
    _scale,
    drawn,
    goes_beyond,
    responsive,
    round_ticks,
    text_length,
    wrapped,
)

WORDS = ChartLabels(title="Bars", description="Two bars.", by="kind", numbers="people")


def bar(label: str, value: int | None, low: int = 0, high: int | None = 0) -> Bar:
    return Bar(label, value, low, high, "" if value is None else f"{value:,}")


def picture(*bars: Bar, width: int = 350, upright: bool = False, title: str = "") -> ET.Element:
    return ET.fromstring(drawn([Panel(title, bars)], WORDS, width, upright=upright))


def kinds(root: ET.Element, tag: str, kind: str) -> list[dict[str, float]]:
    found = [part for part in root.iter(tag) if part.get("class", "").split()[:1] == [kind]]
    return [{name: float(value) for name, value in part.attrib.items() if name != "class"} for part in found]


def arrows(root: ET.Element) -> list[ET.Element]:
    return [part for part in root.iter("path") if (part.get("class") or "").startswith("arrow")]


def texts(root: ET.Element) -> list[str]:
    return ["".join(part.itertext()) for part in root.iter("text")]


@pytest.mark.parametrize("width", WIDTHS.values())
def test_bars_are_as_long_as_their_values(width: int) -> None:
    root = picture(bar("a", 100, 90, 110), bar("b", 25, 20, 30), bar("c", 0, 0, 5), width=width)
    long, short, none = (rect["width"] for rect in kinds(root, "rect", "bar"))
    assert long == pytest.approx(4 * short, abs=0.5)
    assert none == 0
    lines = kinds(root, "line", "line")
    assert [line["x2"] - line["x1"] for line in lines] == [
        pytest.approx(long * share, abs=0.2) for share in (0.2, 0.1, 0.05)
    ]
    assert {"a", "b", "c", "100", "25", "0", "people"} <= set(texts(root))


def test_upright_bars_too() -> None:
    root = picture(bar("1", 100, 100, 100), bar("2", 25, 20, 30), upright=True)
    long, short = (rect["height"] for rect in kinds(root, "rect", "bar"))
    assert long == pytest.approx(4 * short, abs=0.5)
    assert len(kinds(root, "line", "line")) == 1  # what is exact has no interval


@pytest.mark.parametrize("upright", [False, True])
def test_a_value_below_zero_lies_on_the_other_side(upright: bool) -> None:
    root = picture(bar("a", -10, 0, 5), bar("b", 30, 30, 30), upright=upright)
    axis = kinds(root, "line", "axis")[0]
    below, above = kinds(root, "rect", "bar")
    if upright:
        assert below["y"] == pytest.approx(axis["y1"], abs=0.1)
        assert above["y"] + above["height"] == pytest.approx(axis["y1"], abs=0.1)
    else:
        assert below["x"] + below["width"] == pytest.approx(axis["x1"], abs=0.1)
        assert above["x"] == pytest.approx(axis["x1"], abs=0.1)


@pytest.mark.parametrize("high", [20, 10**9, None])
def test_what_is_hidden_is_drawn_where_it_may_lie_and_no_further_than_what_is_shown(high: int | None) -> None:
    root = picture(bar("a", 40, 40, 40), bar("b", None, 10, high))
    gap, shown = kinds(root, "rect", "gap")[0], kinds(root, "rect", "bar")[0]
    assert gap["x"] == pytest.approx(shown["x"] + shown["width"] / 4, abs=0.1)
    end = shown["x"] + shown["width"] * (0.5 if high == 20 else 1)
    assert gap["x"] + gap["width"] == pytest.approx(end, abs=0.2)  # sums of tenths
    assert ("hidden, up to 1,000,000,000" if high == 10**9 else "hidden") in texts(root)
    assert len(arrows(root)) == (high != 20)


@pytest.mark.parametrize("upright", [False, True])
def test_an_interval_without_an_end_has_an_arrow_and_one_that_ends_at_the_axis_has_none(upright: bool) -> None:
    root = picture(bar("a", 40, 30, None), bar("b", 50, 45, 60), bar("c", 60, 60, 60), upright=upright)
    (arrow,) = arrows(root)
    assert arrow.get("class") == "arrow"
    ends = next(part for part in root.iter("line") if (part.get("class") or "").startswith("line"))
    tip = [float(number) for number in re.findall(r"-?[\d.]+", arrow.get("d") or "")][-2:]
    assert tip[1] < float(ends.get("y2") or 0) if upright else tip[0] > float(ends.get("x2") or 0)
    assert goes_beyond([Panel("", (bar("a", 40, 30, None),))])
    assert not goes_beyond([Panel("", (bar("b", 50, 45, 60), bar("c", None, 0, 60)))])


@pytest.mark.parametrize("upright", [False, True])
def test_what_may_lie_below_the_axis_has_an_arrow_too_and_a_shown_interval_is_drawn_whole(upright: bool) -> None:
    root = picture(bar("a", 10, 5, 15), bar("b", None, -100, 12), upright=upright)
    assert [part.get("class") for part in arrows(root)] == ["arrow pale"]
    whole = picture(bar("a", 10, -5, 15), upright=upright)
    assert arrows(whole) == []
    axis, line = kinds(whole, "line", "axis")[0], kinds(whole, "line", "line")[0]
    assert line["y1"] > axis["y1"] if upright else line["x1"] < axis["x1"]


LONG = ("Assistant to the deputy regional director of waste management", "W" * 80, "漢" * 80, "a", "no-break" * 10)


@pytest.mark.parametrize("width", WIDTHS.values())
@pytest.mark.parametrize("several", [False, True])
def test_no_label_is_cut(width: int, several: bool) -> None:
    bars = tuple(bar(label, 1_234_567) for label in LONG)
    panels = [Panel(title, bars) for title in ([*LONG[:3], "x"] if several else [""])]
    root = ET.fromstring(drawn(panels, WORDS, width, upright=False))
    told = {text.replace(" ", "") for text in texts(root)}
    assert {label.replace(" ", "") for label in LONG} <= told
    for line in root.iter("tspan"):
        assert text_length(line.text or "") <= width
    tall = float(root.attrib["viewBox"].split()[3])
    assert all(rect["y"] + rect["height"] < tall for rect in kinds(root, "rect", "bar"))


def test_text_is_wrapped_between_words_where_it_can_be() -> None:
    assert wrapped("two words", 40) == ["two", "words"]
    assert "".join(wrapped("W" * 50, 100)) == "W" * 50


@pytest.mark.parametrize("number", [1, 10, 400])
@pytest.mark.parametrize("width", WIDTHS.values())
def test_of_upright_labels_as_many_are_written_as_fit(number: int, width: int) -> None:
    root = picture(*(bar(f"{1000 * i:,}", 5, 5, 5) for i in range(number)), width=width, upright=True)
    places = [part for part in root.iter("text") if part.get("transform")]
    assert places[-1].text == f"{1000 * (number - 1):,}"
    across = [float(re.findall(r"[\d.]+", part.attrib["transform"])[0]) for part in places]
    assert all(later - earlier >= 15 for earlier, later in pairwise(across))
    assert len(kinds(root, "rect", "bar")) == number


def test_ticks_are_few_and_round() -> None:
    for most in (1, 3, 7, 43, 999, 12_345, 10**9):
        ticks = _scale([bar("a", most)]).ticks(4)
        assert ticks[0] == 0
        assert 2 <= len(ticks) <= 6
        assert all(tick == int(tick) <= most for tick in ticks)
    assert _scale([bar("a", -60), bar("b", 90)]).ticks(4) == [-50, 0, 50]


def test_labels_are_text_and_nothing_else() -> None:
    hostile = '</text><script>alert(1)</script>"&'
    for upright in (False, True):
        words = ChartLabels(title=hostile, description=hostile, by=hostile, numbers=hostile)
        text = drawn([Panel(hostile, (bar(hostile, 5),)), Panel("x", (bar("y", 1),))], words, 700, upright=upright)
        assert "<script" not in text
        assert {part.tag for part in ET.fromstring(text).iter()} <= {
            "svg",
            "title",
            "desc",
            "g",
            "rect",
            "line",
            "text",
            "tspan",
        }


def test_it_says_what_it_is_to_somebody_who_cannot_see_it() -> None:
    both = responsive([Panel("", (bar("a", 1_000, 900, None),))], WORDS, upright=False)
    for text in both.split("\n"):
        root = ET.fromstring(text)
        assert root.get("role") == "img"
        assert (root.findtext("title"), root.findtext("desc")) == ("Bars", "Two bars.")
        assert [part.text for part in root.iter("title")][1:] == ["a: 1,000, 900 or more"]


@pytest.mark.parametrize("many", [3, 4, 5, 8])
def test_an_axis_has_two_ticks_at_least_wherever_it_begins_and_ends(many: int) -> None:
    for least in range(0, 3000, 37):
        for span in range(1, 4000, 41):
            ticks = round_ticks(least, least + span, many)
            assert 2 <= len(ticks) <= many + 2, (least, span)
            assert least <= ticks[0]
            assert ticks[-1] <= least + span
