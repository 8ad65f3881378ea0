"""Marks are where their numbers are: bars, whiskers, points, bands, ranges, arrows and cells, for every kind.

The axis of each drawing says where its ticks are; a mark is held against those, not against the code that placed it.
"""

from __future__ import annotations

import re
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hubbub
from hubbub import series as planned
from hubbub.charts.heat import limits_of, tint
from hubbub.charts.style import WIDTHS
from hubbub.charts.svg import plain
from hubbub.engines.opening import open_source
from hubbub.kinds.sums.columns import UNTOLD
from hubbub.kinds.sums.result import Answer, Answers, usable
from hubbub.kinds.sums.sums import Estimate
from hubbub.kinds.table import Table
from hubbub.protocol.drawing import Bars, Heat, Map, Mark
from hubbub.protocol.release import Release
from hubbub.report.numbers import table
from hubbub.report.picture import _chart, chart_of, picture
from hubbub.tables.bounded_column import Measure
from tests.fresh import enter as open_table

TOWNS = "town=Bath,York,Wells,null"
NEAR = 0.75  # pixels: coordinates are written to a tenth
POINTS = {"box": [("0", "100"), ("0", "50")], "grid": ["10", "10"], "crowd": 3, "epsilon": 20}


@cache
def people() -> pa.Table:
    towns = ["Bath"] * 300 + ["York"] * 160 + ["Wells"] * 37 + [None] * 3
    spread = [(i * 7919) % 500 for i in range(500)]
    months = [f"2025-{1 + i % 12:02d}-03" for i in spread]
    return pa.table(
        {
            "town": towns,
            "age": [i % 90 for i in spread],
            "pay": [1000 + 7 * i for i in spread],
            "moved": months,
            "x": [i / 5 for i in spread],
            "y": [(i * 31 % 500) / 10 for i in spread],
        }
    )


def visits() -> Table:
    """Two rows for each person."""
    return open_table(people().append_column("id", pa.array([i // 2 for i in range(500)])), person="id")


def series(periods: int, **words: Any) -> Release:
    """The last of so many periods, each with a table of its own."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = Path(folder) / "ledger.db"
        planned.start("town", periods=5, first="2026-01", ledger=ledger, **words)
        for t in range(periods):
            engine = open_source(people().slice(100 * t))
            done = planned.release(engine, "town", f"2026-0{t + 1}", ledger=ledger)
    return done


HEATS = (
    "a table",
    "a table, found",
    "records",
    "queries by two",
    "synthetic",
    "a cube with noise",
    "a cube with Gaussian noise",
)
MAKERS: dict[str, Callable[[], Release]] = {
    "bars": lambda: open_table(people()).histogram([TOWNS], epsilon="0.3"),
    "bars, hidden": lambda: open_table(people()).histogram([TOWNS], crowd=20),
    "bars upright": lambda: open_table(people()).histogram(["age:0..90:10,null"], epsilon="0.3"),
    "a line": lambda: open_table(people()).histogram(["moved:month:2025-01..2025-12"], epsilon="0.3"),
    "a table": lambda: open_table(people()).histogram([TOWNS, "age:0..90:30"], epsilon="0.3"),
    "a table, found": lambda: open_table(people()).histogram(["town", "age:0..90:30"], crowd=20),
    "a count": lambda: open_table(people()).count([TOWNS], where="age >= 45", epsilon=1),
    "shares": lambda: open_table(people()).fraction([TOWNS], where="age >= 45", epsilon=1),
    "shares, hidden": lambda: open_table(people()).fraction([TOWNS], where="age >= 45", crowd=20, epsilon=1),
    "means": lambda: open_table(people()).mean("pay:0..5000:10", [TOWNS], epsilon=1),
    "means by month": lambda: open_table(people()).mean("pay:0..5000:10", ["moved:month:2025-01..2025-12"], epsilon=1),
    "a median": lambda: open_table(people()).quantile("pay:0..5000:10", epsilon=1),
    "medians": lambda: open_table(people()).quantile("pay:0..5000:10", [TOWNS], epsilon=2),
    "sums": lambda: open_table(people()).sum("pay:0..5000:10", [TOWNS], epsilon=2),
    "sums, capped": lambda: open_table(people()).sum("pay:0..5000:10", ["age:0..90:30"], epsilon=2, cap="5000"),
    "sums by month": lambda: open_table(people()).sum("pay:0..5000:10", ["moved:month:2025-01..2025-12"], epsilon=20),
    "variances": lambda: open_table(people()).variance("pay:0..5000:10", [TOWNS], epsilon=2),
    "deviations": lambda: open_table(people()).std("pay:0..5000:10", ["age:0..90:30"], epsilon=2),
    "a cube": lambda: open_table(people()).cube([TOWNS, "age:0..90:30", "pay:0..6000:3000"], crowd=20),
    "records": lambda: open_table(people()).records(["town", "age:30"], crowd=10),
    "queries": lambda: open_table(people()).queries([TOWNS, "age:0..90:30"], "marginals:1", epsilon=1),
    "queries by two": lambda: open_table(people()).queries([TOWNS, "age:0..90:30"], "marginals:2", epsilon=1),
    "synthetic": lambda: open_table(people()).synthetic([TOWNS, "age:0..90:30"], epsilon=4),
    "ratios": lambda: open_table(people()).ratio("pay:0..5000:10", "age:0..90:1", [TOWNS], epsilon=4),
    "ratios by month": lambda: open_table(people()).ratio(
        "pay:0..5000:10", "age:0..90:1", ["moved:month:2025-01..2025-12"], epsilon=20
    ),
    "counts of rows": lambda: visits().count(["age:0..90:30"], rows_per_person=3, rows_called="visits", epsilon=1),
    "sums of rows": lambda: visits().sum("pay:0..5000:10", [TOWNS], rows_per_person=2, cap="9000", epsilon=2),
    "means, weighted": lambda: open_table(people()).mean("pay:0..5000:10", [TOWNS], weight="age:0..90:1", epsilon=4),
    "sums by octaves": lambda: open_table(people()).sum("pay:0..5000:10", [TOWNS], tailored="1:0.2,101:1"),
    "queries of ranges": lambda: open_table(people()).queries(["age:0..90:10"], "intervals", epsilon=1),
    "a cube with noise": lambda: open_table(people()).cube([TOWNS, "age:0..90:30"], epsilon=1),
    "a cube with Gaussian noise": lambda: open_table(people()).cube([TOWNS, "age:0..90:30"], epsilon=1, delta="1e-6"),
    "a series, begun": lambda: series(1, kind="histogram", by=["age:0..90:10"], epsilon=1),
    "a series": lambda: series(3, kind="histogram", by=[TOWNS], epsilon=1),
    "a series of one number": lambda: series(2, kind="count", epsilon=1),
    "a series of sums": lambda: series(3, kind="sum", of="pay:0..5000:100", way="increments", epsilon=4),
    "a series of crowds": lambda: series(3, kind="histogram", by=[TOWNS], crowd=20),
    "points": lambda: open_table(people()).points(["x"], box=[("0", "100")], grid=["10"], crowd=3, epsilon=20),
}


@cache
def made(name: str) -> Release:
    return MAKERS[name]()


def number(text: str) -> float:
    cleaned = text.replace(",", "")
    return float(cleaned.removesuffix(" %")) / 100 if cleaned.endswith("%") else float(cleaned)


def lying_axis(group: ET.Element) -> Callable[[float], float]:
    """Where a number lies across, by the lines of the grid and the words below them."""
    xs = [float(each.get("x1", "")) for each in group.iter("line") if each.get("class") == "grid"]
    words = [each for each in group.iter("text") if each.get("class") == "quiet"][: len(xs)]
    return fitted([number("".join(each.itertext())) for each in words], xs)


def upright_axis(group: ET.Element) -> Callable[[float], float]:
    ys = [float(each.get("y1", "")) for each in group.iter("line") if each.get("class") == "grid"]
    words = [each for each in group.iter("text") if each.get("class") == "quiet" and each.get("text-anchor") == "end"]
    return fitted([number("".join(each.itertext())) for each in words[: len(ys)]], ys)


def fitted(values: list[float], places: list[float]) -> Callable[[float], float]:
    assert len(values) >= 2, "two ticks at least, or nobody can read the axis"
    slope = (places[-1] - places[0]) / (values[-1] - values[0])
    return lambda value: places[0] + (value - values[0]) * slope


def of_kind(group: ET.Element, tag: str, *kinds: str) -> list[ET.Element]:
    return [each for each in group.iter(tag) if (each.get("class") or "").split(" ")[0] in kinds]


def at(mark: ET.Element, name: str) -> float:
    return float(mark.get(name, ""))


BARS = [name for name in MAKERS if name not in HEATS]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", BARS)
def test_marks_are_where_their_numbers_are(name: str, width: str) -> None:
    drawing = made(name).result.drawing()
    assert isinstance(drawing, Bars)
    root = ET.fromstring(getattr(_chart(drawing), width))
    panels = list(dict.fromkeys(bar.panel for bar in drawing.bars))
    groups = [each for each in root if each.tag == "g"]
    assert len(groups) == len(panels)
    for panel, group in zip(panels, groups, strict=True):
        bars = [bar for bar in drawing.bars if bar.panel == panel]
        place = (upright_axis if drawing.upright else lying_axis)(group)
        marks = [each for each in group.iter("g") if each is not group and each.find("title") is not None]
        assert len(marks) == len(bars)
        for bar, mark in zip(bars, marks, strict=True):
            check(drawing, bar.value, bar.low, bar.high, mark, place)
        if drawing.mark is Mark.LINE:
            check_line(bars, group, place)


def check(
    drawing: Bars,
    value: float | None,
    low: float,
    high: float | None,
    mark: ET.Element,
    place: Callable[[float], float],
) -> None:
    start, long, near, far = ("y", "height", "y2", "y1") if drawing.upright else ("x", "width", "x1", "x2")
    if value is None:
        (gap,) = of_kind(mark, "rect", "gap")
        ends = sorted((at(gap, start), at(gap, start) + at(gap, long)))
        first, last = reversed(ends) if drawing.upright else ends
        cut = [abs(place(low) - first) > NEAR, high is None or abs(place(high) - last) > NEAR]
        assert len(of_kind(mark, "path", "arrow")) == sum(cut)  # what goes beyond the axis says so, at either end
        return
    if drawing.mark is Mark.BAR:
        (bar,) = of_kind(mark, "rect", "bar")
        ends = sorted((at(bar, start), at(bar, start) + at(bar, long)))
        assert ends == pytest.approx(sorted((place(0), place(value))), abs=NEAR)
    elif drawing.mark is Mark.RANGE:
        (box,) = of_kind(mark, "rect", "range")
        assert at(box, "x") == pytest.approx(place(low), abs=NEAR)
        assert at(box, "x") + at(box, "width") == pytest.approx(max(place(high or low), at(box, "x") + 1), abs=NEAR)
        (tick,) = of_kind(mark, "line", "line")
        assert at(tick, "x1") == pytest.approx(place(value), abs=NEAR)
        return
    else:
        (point,) = of_kind(mark, "circle", "point")
        assert at(point, "cy" if drawing.upright else "cx") == pytest.approx(place(value), abs=NEAR)
    for line in of_kind(mark, "line", "line"):
        assert sorted((at(line, near), at(line, far)))[0] == pytest.approx(
            place(low) if not drawing.upright else place(high or value), abs=NEAR
        )
        if high is not None:
            ends = sorted((at(line, near), at(line, far)))
            assert ends == pytest.approx(sorted((place(low), place(high))), abs=NEAR)
    assert bool(of_kind(mark, "path", "arrow")) == (high is None)


def check_line(bars: list, group: ET.Element, place: Callable[[float], float]) -> None:  # type: ignore[type-arg]
    """A line goes through all numbers, and its band from all lower ends to all upper ones."""
    (line,) = of_kind(group, "polyline", "series")
    ys = [float(pair.split(",")[1]) for pair in line.get("points", "").split()]
    assert ys == pytest.approx([place(bar.value) for bar in bars], abs=NEAR)
    if all(bar.low == bar.high for bar in bars):
        assert not of_kind(group, "polygon", "band"), "what is exact has none"
        return
    (band,) = of_kind(group, "polygon", "band")
    around = [float(pair.split(",")[1]) for pair in band.get("points", "").split()]
    ends = [place(bar.high) for bar in bars] + [place(bar.low) for bar in reversed(bars)]
    assert around == pytest.approx(ends, abs=NEAR)


@pytest.mark.parametrize("name", HEATS)
def test_cells_say_their_numbers_and_the_larger_are_darker(name: str) -> None:
    heat = made(name).result.drawing()
    assert isinstance(heat, Heat)
    root = ET.fromstring(_chart(heat).wide)
    groups = [each for each in root if each.tag == "g"]
    cells = [cell for row in heat.cells for cell in row]
    assert len(groups) == len(cells) == len(heat.rows) * len(heat.columns)
    limits = limits_of(heat)
    for cell, group in zip(cells, groups, strict=True):
        words = [each.text for each in group.iter("tspan")]
        box = group.find("rect")
        assert box is not None
        if cell is None or cell.value is None:
            assert words[0] in ("–", "hidden")
            assert box.get("class") == "gap"
        else:
            assert words[0] == plain(cell.value)
            assert box.get("class") == f"cell t{tint(cell.value, limits)}"
            if cell.low != cell.high and cell.high is not None:
                assert words[1:] in ([], [f"{plain(cell.low)} to {plain(cell.high)}"])
    shown = sorted(
        (cell.value, tint(cell.value, limits)) for cell in cells if cell is not None and cell.value is not None
    )
    assert [which for _, which in shown] == sorted(which for _, which in shown)
    assert limits[-1] <= shown[-1][0]


def test_a_table_that_does_not_fit_on_a_telephone_is_drawn_in_panels() -> None:
    """All its numbers are there, and none is cut."""
    heat = Heat(
        by=("a", "b"),
        rows=("one", "two"),
        columns=tuple(f"column {i}" for i in range(12)),
        cells=tuple(tuple(cell(1_000_000 + 12 * i + j) for j in range(12)) for i in range(2)),
        numbers="people",
        cell="c",
        line="l",
    )
    narrow = ET.fromstring(_chart(heat).narrow)
    assert len(of_kind(narrow, "rect", "bar")) == 24
    assert "1,000,023" in "".join(narrow.itertext())


def cell(value: int):  # type: ignore[no-untyped-def]
    from hubbub.protocol.drawing import Cell

    return Cell(value, value, value)


def test_points_are_a_map_with_dots_where_they_are() -> None:
    drawing = open_table(people()).points(["x", "y"], **POINTS).result.drawing()  # type: ignore[arg-type]
    assert isinstance(drawing, Map)
    root = ET.fromstring(_chart(drawing).wide)
    (frame,) = of_kind(root, "rect", "frame")
    (dots,) = of_kind(root, "path", "dots")
    left, right, bottom, top = drawing.box
    found = [tuple(map(float, pair)) for pair in re.findall(r"M([\d.-]+) ([\d.-]+)h0", dots.get("d", ""))]
    assert len(found) == len(drawing.dots)
    for (x, y), (across, up) in zip(found, drawing.dots, strict=True):
        assert x == pytest.approx(at(frame, "x") + at(frame, "width") * (across - left) / (right - left), abs=0.2)
        assert y == pytest.approx(at(frame, "y") + at(frame, "height") * (top - up) / (top - bottom), abs=0.2)
    assert all(0 <= across <= 100 and 0 <= up <= 50 for across, up in drawing.dots), "noise leaves nobody outside"


def test_numbers_of_a_network_have_an_axis_each(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("a,b\n" + "".join(f"{i},{(i + 1) % 400}\n" for i in range(400)))
    network = hubbub.open_graph(edges, ledger=tmp_path / "ledger.db")
    release = network.statistics(["average-degree", "connectivity"], vertices=400, max_degree=9, epsilon=2, samples=40)
    drawing = release.result.drawing()
    assert isinstance(drawing, Bars)
    assert drawing.own_scale
    groups = [each for each in ET.fromstring(_chart(drawing).wide) if each.tag == "g"]
    for bar, group in zip(drawing.bars, groups, strict=True):
        (point,) = of_kind(group, "circle", "point")
        assert bar.value is not None
        assert bar.low <= bar.value <= (bar.high or bar.value)
        assert at(point, "cx") == pytest.approx(lying_axis(group)(bar.value), abs=NEAR)


def test_a_mean_that_may_be_anything_is_not_usable() -> None:
    """An interval as wide as what was declared says that the estimate is noise, and that nobody may be there."""
    release = made("means")
    assert isinstance(release.result, Answers)
    measured = release.result.spec.measured
    assert isinstance(measured, Measure)
    low, high = measured.low, measured.high
    middle = (low + high) / 2
    found, nothing = Estimate(middle, middle, low, middle), Estimate(middle, middle, low, high)
    said = Answer((3, 1), (found,))
    empty = Answer((3, 1), (usable(release.result.spec, nothing),))
    assert (empty.estimate, empty.status) == (None, UNTOLD)
    assert usable(release.result.spec, found) is found
    release = replace(release, result=replace(release.result, answers=[*release.result.answers[:2], said, empty]))
    drawing = release.result.drawing()
    assert isinstance(drawing, Bars)
    assert [bar.unknown for bar in drawing.bars] == [False] * 3 + [True]
    assert [bar.value is None for bar in drawing.bars] == [False] * 3 + [True]
    assert table(release).count("not usable") == 1


def test_a_picture_of_a_cube_has_the_numbers_of_its_table() -> None:
    town = pa.table({"a": ["x", "y"] * 300, "b": ["u", "v", "w"] * 200})
    release = open_table(town).cube(["a=x,y", "b=u,v,w"], epsilon="0.1")
    drawing = release.result.drawing()
    assert isinstance(drawing, Heat)
    drawn = {
        (row, column): cell
        for row, cells in zip(drawing.rows, drawing.cells, strict=True)
        for column, cell in zip(drawing.columns, cells, strict=True)
    }
    listed = release.result.display(6).rows
    assert len(listed) == 6
    for keys, (value, *_), _ in listed:
        cell = drawn.get(keys) or drawn[keys[::-1]]  # type: ignore[index]
        assert cell is not None
        assert f"{cell.value:,}" == value


def test_an_impossible_number_of_a_network_is_not_shown(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("a,b\n" + "".join(f"{i},{(i + 1) % 40}\n" for i in range(40)))
    network = hubbub.open_graph(edges, ledger=tmp_path / "ledger.db")
    release = network.statistics(["connectivity"], vertices=40, max_degree=5, epsilon=2, samples=4)
    result: Any = release.result
    below = replace(result.answers[0], edges=-5, low=Fraction(0), high=Fraction(9))
    page = table(replace(release, result=replace(result, answers=(below,))))
    assert "-5" not in page
    assert '<td data-label="published">0</td>' in page
    assert "scale of the noise" not in page
    assert "scale of the noise" in result.display(1).numbers


def test_the_first_period_has_no_running_total_beside_itself(tmp_path: Path) -> None:
    people = pa.table({"id": [str(i) for i in range(60)], "age": list(range(60))})
    ledger = tmp_path / "ledger.db"
    planned.start(
        "s", person="id", periods=3, first="2026-01", kind="histogram", by=["age:0..60:30"], epsilon="1", ledger=ledger
    )
    heads = []
    for month in ("2026-01", "2026-02"):
        engine = hubbub.open(people, person="id", dataset="s", ledger=ledger).engine
        heads.append(planned.release(engine, "s", month, ledger=ledger).result.display(9).numbers)
    assert heads == [("in 2026-01", "interval"), ("in 2026-02", "interval", "so far", "interval")]


def test_a_mean_that_nobody_has_is_not_called_hidden() -> None:
    """Noise says too little of it; nothing is hidden from anybody."""
    release = made("means")
    assert isinstance(release.result, Answers)
    nobody = Answer((0, 0), (Estimate(None, None, Fraction(0), Fraction(5000)),))
    release = replace(release, result=replace(release.result, answers=[*release.result.answers[:3], nobody]))
    drawing = release.result.drawing()
    assert isinstance(drawing, Bars)
    assert [bar.unknown for bar in drawing.bars] == [False] * 3 + [True]
    page = re.sub('class="[^"]*"', "", picture(drawing))
    assert "hidden" not in page.lower()
    assert "not usable" in page
    assert "Not usable: too few people, or nobody, for the noise" in page
    words = table(release)
    assert "not usable" in words
    assert "hidden" not in re.sub('class="[^"]*"', "", words)
    assert "Hidden: the pale bar" in picture(bars_of("shares, hidden"))
    assert not any(bar.unknown for bar in bars_of("shares, hidden").bars)


ADD_UP = {
    "bars",
    "bars, hidden",
    "bars upright",
    "a line",
    "a table",
    "a table, found",
    "a count",
    "a cube",
}


@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_added_up_but_people_who_are_each_in_one_row(name: str) -> None:
    words = table(made(name))
    assert ("add up to" in words) == (name in ADD_UP)
    assert ('data-label="share of total"' in words) == (name in ADD_UP)


# --- shapes ---------------------------------------------------------------------------------------------------------


def bars_of(name: str) -> Bars:
    drawing = made(name).result.drawing()
    assert isinstance(drawing, Bars)
    return drawing


def test_the_picture_follows_the_shape_of_the_data() -> None:
    marks = {name: bars_of(name).mark for name in BARS}
    assert marks["a line"] is marks["means by month"] is Mark.LINE
    assert marks["shares"] is marks["means"] is marks["variances"] is marks["deviations"] is Mark.POINT
    assert marks["sums by month"] is marks["ratios by month"] is Mark.LINE
    assert marks["ratios"] is marks["means, weighted"] is Mark.POINT
    assert marks["counts of rows"] is marks["sums of rows"] is Mark.BAR
    assert bars_of("counts of rows").upright
    assert marks["sums"] is marks["sums, capped"] is Mark.BAR
    assert [bar.label for bar in bars_of("deviations").bars] == ["0–29", "30–59", "60–89"]
    assert marks["a median"] is marks["medians"] is Mark.RANGE
    assert {marks[name] for name in ("bars", "bars upright", "a count", "a cube", "queries")} == {Mark.BAR}


def test_an_axis_is_in_the_order_in_which_it_is_declared() -> None:
    ages = [bar.label for bar in bars_of("bars upright").bars]
    assert ages == [*(f"{i}–{i + 9}" for i in range(0, 90, 10)), "(missing)"]
    assert [bar.label for bar in bars_of("bars").bars] == ["Bath", "York", "Wells", "(missing)"]
    assert [bar.apart for bar in bars_of("bars upright").bars] == [False] * 9 + [True]


def test_shares_are_told_in_percent_from_0_to_100() -> None:
    page = picture(bars_of("shares"))
    assert ">100 %<" in page
    assert re.search(r">\d+\.\d %<", page)
    value = bars_of("shares").bars[0].value
    assert f"{100 * (value or 0):.1f} %" in page


def test_a_median_is_drawn_where_it_lies_in_the_declared_range() -> None:
    drawing = bars_of("a median")
    assert drawing.span == (0.0, 5000.0)
    root = ET.fromstring(_chart(drawing).wide)
    words = [each.text for each in root.iter("tspan")]
    assert {"0", "5,000"} <= set(words)


def test_a_release_plots_itself(tmp_path: Path) -> None:
    chart = made("bars").plot()
    chart.save(tmp_path / "chart.svg")
    assert "People by town" in (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert chart.below
    assert not any("<" in line for line in chart.below)
    assert chart_of(made("bars")).wide == chart.wide


def test_a_share_that_is_nearly_certain_does_not_look_certain() -> None:
    """An interval from 0 to 0.0004 reads 0.0 % to 0.1 %, never 0.0 % to 0.0 %."""
    found = made("shares").result
    assert isinstance(found, Answers)
    answer = Answer((1, 2), (Estimate(None, Fraction(0), Fraction(0), Fraction(4, 10_000)),))
    assert found.cells(answer) == ("0.0 %", "0.0 % to 0.1 %")


def test_a_report_of_records_shows_each_once() -> None:
    grid = made("records").result.display(1000)
    assert len(grid.rows) == grid.total
    assert sum(int(numbers[0].replace(",", "")) for _, numbers, _ in grid.rows) == len(made("records"))


def test_a_report_of_queries_shows_answers_that_are_possible() -> None:
    release = made("queries")
    for _, (value, interval), _ in release.result.display(1000).rows:
        low, high = (int(end.replace(",", "")) for end in interval.split(" to "))
        assert 0 <= low <= int(value.replace(",", "")) <= high


def test_a_cube_shows_estimates_that_are_possible_whatever_the_noise() -> None:
    """Large numbers, of which no noise makes a negative one, and empty cells, where half of the draws are."""
    for rows in (20_000, 0):
        cells = pa.table({"a": ["x", "y"] * rows + ["x"], "b": ["p", "q"] * rows + ["p"]})
        release = open_table(cells).cube(["a=x,y", "b=p,q"], epsilon=1)
        shown = release.result.display(4)
        assert shown.numbers == ("estimate", "interval")
        assert not any(number.startswith("-") for _, numbers, _ in shown.rows for number in numbers)
        assert "add up to" not in table(release), "estimates are rounded, and put up to 0"
