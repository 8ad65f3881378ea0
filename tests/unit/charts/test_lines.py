"""Lines as SVG: every point is inside, steep values get a logarithmic axis, words are escaped."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from hubbub.charts.lines import Axes, Series, drawn_lines, responsive_lines
from hubbub.charts.style import WIDTHS

AXES = Axes(title="Errors", description="Two lines.", x="share", y="error", percent=True)


def places(text: str) -> list[tuple[float, float]]:
    return [(float(mark.get("cx", "")), float(mark.get("cy", ""))) for mark in ET.fromstring(text).iter("circle")]


@pytest.mark.parametrize("width", WIDTHS.values())
@pytest.mark.parametrize("values", [(1.0, 2.0, 3.0), (0.0, 0.0, 0.0), (1e-6, 1.0, 1e6), (5.0, 5.0, 5.0), (7.0,)])
def test_every_point_is_inside(width: int, values: tuple[float, ...]) -> None:
    points = tuple((0.1 * i, value) for i, value in enumerate(values))
    text = drawn_lines([Series(name="a", points=points)], AXES, width)
    _, _, wide, high = map(float, ET.fromstring(text).get("viewBox", "").split())
    found = places(text)
    assert len(found) == len(values)
    for x, y in found:
        assert 0 < x < wide
        assert 0 < y < high


def test_larger_is_higher_and_steep_values_are_told_apart() -> None:
    ys = [y for _, y in places(drawn_lines([Series(name="a", points=((0, 1), (1, 100), (2, 10_000)))], AXES, 700))]
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.3)  # equal ratios, equal steps
    assert ys[0] > ys[2]
    even = [y for _, y in places(drawn_lines([Series(name="a", points=((0, 1), (1, 2), (2, 3)))], AXES, 700))]
    assert even[0] - even[1] == pytest.approx(even[1] - even[2], abs=0.3)


def test_words_cannot_act_and_nothing_carries_a_style() -> None:
    evil = '<script>alert(1)</script>"'
    series = Series(name=evil, points=((0, 1), (1, 2)), labels=(evil, evil))
    text = responsive_lines([series], Axes(title=evil, description=evil, x=evil, y=evil, ring=(0, 1)))
    assert "<script" not in text
    assert "style=" not in text
    for part in text.split("\n"):
        ET.fromstring(part)
