"""Regions as cells: which positions they hold, how wide they are, and files that are refused."""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub.errors import WrongUse
from hubbub.kinds.points.regions import MOST_CORNERS, Region, Regions
from hubbub.kinds.points.request import points, regions_in
from hubbub.kinds.points.result import PublishedPoints
from hubbub.protocol.drawing import Map
from hubbub.release import save
from hubbub.tables.bins import Lattice
from hubbub.verification import verify
from tests.fresh import opened

SQUARE = [[10, 10], [50, 10], [50, 50], [10, 50], [10, 10]]
HOLE = [[20, 20], [30, 20], [30, 30], [20, 30], [20, 20]]
TRIANGLE = [[40, 40], [98.5, 45.25], [60, 95], [40, 40]]
AXES = (Lattice("x", Fraction(0), Fraction(1, 2), 200), Lattice("y", Fraction(0), Fraction(2), 50))


def polygon(*rings: Any, name: str = "") -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"name": name},
        "geometry": {"type": "Polygon", "coordinates": list(rings)},
    }


def written(folder: Path, *features: Any) -> Path:
    file = folder / "regions.geojson"
    file.write_text(json.dumps({"type": "FeatureCollection", "features": list(features)}))
    return file


def regions(folder: Path) -> Regions:
    return regions_in(written(folder, polygon(SQUARE, HOLE, name="town"), polygon(TRIANGLE, name="hill")))


def crossings(ring: list[list[float]], x: float, y: float) -> int:
    """How many edges of a ring lie to the left of a point, in plain Python."""
    found = 0
    for (x1, y1), (x2, y2) in pairwise(ring):
        if (y1 <= y) != (y2 <= y):
            found += x1 + (y - y1) * (x2 - x1) / (y2 - y1) <= x
    return found


def test_a_position_is_in_the_first_region_that_holds_its_middle(tmp_path: Path) -> None:
    x, y = (part.ravel() for part in np.meshgrid(np.arange(200), np.arange(50)))
    found = regions(tmp_path).number(AXES, (x, y)).tolist()
    for i, (a, b) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
        at = (a + 0.5) / 2, (b + 0.5) * 2
        inside = (crossings(SQUARE, *at) + crossings(HOLE, *at)) % 2, crossings(TRIANGLE, *at) % 2
        assert found[i] == (0 if inside[0] else 1 if inside[1] else -1), at
    assert set(found) == {-1, 0, 1}


def test_no_two_positions_of_a_region_are_further_apart_than_its_diameter(tmp_path: Path) -> None:
    x, y = (part.ravel() for part in np.meshgrid(np.arange(200), np.arange(50)))
    known = regions(tmp_path)
    found, widths = known.number(AXES, (x, y)), known.diameters(AXES)
    for i, width in enumerate(widths):
        sums, differences = (x + y)[found == i], (x - y)[found == i]
        far = max(int(np.ptp(sums)), int(np.ptp(differences)))  # the largest L1 distance of two of them
        assert far <= width
        assert far > 0.8 * width  # and it is not much too large


def test_what_floating_point_gets_wrong_cannot_widen_a_region() -> None:
    """Positions that a wrong crossing would let in are beyond the ranges of the corners, in whole numbers."""
    corner = Fraction(1, 3)
    thin = Regions((Region("thin", (((corner, corner), (corner + 40, corner), (corner + 40, corner + 1)),)),))
    axes = (Lattice("x", Fraction(0), Fraction(1, 10**6), 10**8), Lattice("y", Fraction(0), Fraction(1, 10**6), 10**8))
    (width,) = thin.diameters(axes)
    assert width <= 41 * 10**6
    at = np.array([333_332, 333_345, 40_333_332, 40_333_334, 10**8 - 1])
    found = thin.number(axes, (at, np.full(5, 333_333)))
    inside = at[found == 0]
    assert inside.tolist() == [333_345, 40_333_332]
    assert int(np.ptp(inside)) <= width


def test_points_in_regions_are_a_release_like_any_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    table = pa.table({"x": rng.uniform(0, 100, 4000), "y": rng.uniform(0, 100, 4000)})
    file = written(tmp_path, polygon(SQUARE, HOLE, name="town"), polygon(TRIANGLE, name="hill"))
    words: dict[str, Any] = {"box": "0..100,0..100", "lattice": "0.5,0.5", "regions": file, "crowd": 20, "epsilon": 4}
    done = opened(table, dataset="town").points("x,y", **words)
    assert isinstance(done.result, PublishedPoints)
    x, y = np.asarray(table["x"]), np.asarray(table["y"])
    inside = [
        (crossings(SQUARE, a, b) + crossings(HOLE, a, b)) % 2 or crossings(TRIANGLE, a, b) % 2
        for a, b in zip((np.floor(x * 2) + 0.5) / 2, (np.floor(y * 2) + 0.5) / 2, strict=True)
    ]
    assert len(done) == sum(inside)
    spec = points("x,y", **words)
    assert len(set(spec.rates)) == 2  # each region has noise of its own width
    assert spec.rate == min(spec.rates)
    assert all(check.passed for check in spec.checks())
    assert [str(step.conclusion) for step in done.promises] == ["(20, 4)-crowd-blending"]
    drawing = done.result.drawing()
    assert isinstance(drawing, Map)
    assert len(drawing.outlines) == 3
    saved = save(done, tmp_path / "out")
    checked = verify(Path(saved["certificate"]).read_bytes(), folder=tmp_path / "out", known=lambda public: "you")
    assert checked.complete, checked.verdict
    assert 'class="outline"' in Path(saved["report"]).read_text()


def test_small_regions_are_deleted_and_a_region_of_one_position_stays(tmp_path: Path) -> None:
    tiny = [[1, 1], [1.5, 1], [1.5, 1.5], [1, 1.5], [1, 1]]
    file = written(tmp_path, polygon(SQUARE), polygon(tiny))
    table = pa.table({"x": [1.2] * 30 + [12.0] * 3, "y": [1.2] * 30 + [12.0] * 3})
    done = opened(table, dataset="town").points(
        "x,y", box="0..100,0..100", lattice="0.5,0.5", regions=file, crowd=20, epsilon=1
    )
    assert done.to_arrow().to_pylist() == [{"x": 1.25, "y": 1.25}] * 30


@pytest.mark.parametrize("places", [[], [5.0] * 30, [12.0] * 30], ids=["nobody", "in no region", "in one"])
def test_regions_without_anybody_are_no_trouble(places: list[float], tmp_path: Path) -> None:
    """One person more or less decides which regions have anybody near, and never whether there is a release."""
    file = written(tmp_path, polygon(SQUARE, HOLE), polygon(TRIANGLE))
    table = pa.table({"x": pa.array(places, pa.float64()), "y": pa.array(places, pa.float64())})
    done = opened(table, dataset="town").points(
        "x,y", box="0..100,0..100", lattice="0.5,0.5", regions=file, crowd=20, epsilon=1
    )
    assert len(done) == (30 if places and places[0] == 12 else 0)


CROSSING = [[0, 0], [10, 10], [10, 0], [0, 10], [0, 0]]


@pytest.mark.parametrize(
    ("features", "told"),
    [
        ([polygon(CROSSING, name="bow tie")], "'bow tie' crosses itself"),
        ([polygon([[0, 0], [10, 0], [10, 10], [5, -5], [0, 0]])], "crosses itself"),
        ([polygon([[0, 0], [1, 1], [0, 0]])], "at least three corners"),
        ([polygon()], "at least three corners"),
        ([], "no polygon"),
        ([{"type": "Feature", "geometry": {"type": "Point", "coordinates": [0, 0]}}], "no GeoJSON with polygons"),
        ([polygon([[0, 0], ["1", 0], [0, 1], [0, 0]])], "no GeoJSON with polygons"),
        ([polygon([[0, 0], [True, 0], [0, 1], [0, 0]])], "no GeoJSON with polygons"),
        ([polygon([[0, 0], [1], [0, 1], [0, 0]])], "no GeoJSON with polygons"),
        ([polygon([[0, 0], [float("nan"), 0], [0, 1], [0, 0]])], "no GeoJSON with polygons"),
        ([polygon([[0, 0], [float("inf"), 0], [0, 1], [0, 0]])], "no GeoJSON with polygons"),
        ([polygon([[10**308, 0], [10**308 + 1, 0], [10**308, 1]])], "further than 10\\^15 from 0"),
        ([polygon([[i, i * i] for i in range(200)])] * (MOST_CORNERS // 200 + 1), "at most 20,000 corners"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_files_that_make_no_regions_are_one_sentence(features: list[Any], told: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=told) as error:
        regions_in(written(tmp_path, *features))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["", "\x1b[31m", "a\nb", "\ud800", "x" * 81, 5, None])
def test_a_name_that_cannot_be_shown_is_a_number(name: object, tmp_path: Path) -> None:
    (region,) = regions_in(written(tmp_path, polygon(SQUARE) | {"properties": {"name": name}})).regions
    assert region.name == "region 1"


def test_other_mistakes_are_one_sentence_too(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text("[1, 2]")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    for name, told in (
        ("list.json", "no GeoJSON"),
        ("deep.json", "no GeoJSON"),
        ("binary.json", "cannot be read"),
        ("none.json", "cannot be read"),
    ):
        with pytest.raises(WrongUse, match=told):
            regions_in(tmp_path / name)
    file = written(tmp_path, polygon(SQUARE))
    words: dict[str, Any] = {"box": "0..100,0..100", "crowd": 20, "epsilon": 1}
    for more, told in (
        ({"regions": file}, "by which steps"),
        ({"regions": file, "grid": "1,1"}, "give one of these"),
        ({}, "give one of these"),
        ({"regions": file, "lattice": "1e-7,1e-7"}, "million steps wide"),
    ):
        with pytest.raises(WrongUse, match=told):
            points("x,y", **words, **more)
    with pytest.raises(WrongUse, match="two columns"):
        points("x", box="0..100", lattice="1", regions=file, crowd=20, epsilon=1)
