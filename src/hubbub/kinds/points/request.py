"""From options to the spec of noisy points; what is wrong with them is one sentence.

Here is also the kind itself: what it is called, what it can be asked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.histogram.request import UNIQUE
from hubbub.kinds.points.quadtree import Quadtree
from hubbub.kinds.points.regions import Region, Regions, Ring
from hubbub.kinds.points.space import Space, space, space_of_areas
from hubbub.kinds.points.spec import NoisyPoints, read
from hubbub.numeric.exact import Exact, integer, positive, rational
from hubbub.protocol.option import HOW, WHOSE, Option
from hubbub.protocol.spec import Kind
from hubbub.tables.privacy_unit import Unit

PER_SIDE: Final = 100
"""Steps of the lattice along the side of a cell, if nothing else is declared."""


def points(
    columns: str | Sequence[str],
    *,
    grid: str | Sequence[Exact] | None = None,
    box: str | Sequence[tuple[Exact, Exact]],
    crowd: Exact,
    epsilon: Exact,
    lattice: str | Sequence[Exact] | None = None,
    regions: str | os.PathLike[str] | None = None,
    quadtree: str | Sequence[str] | None = None,
    unit: Unit | None = None,
    within: Exact | None = None,
    leave_outside: bool = False,
) -> NoisyPoints:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    return NoisyPoints(
        space=_space(_names(columns), _box(box), grid, lattice, regions, quadtree),
        crowd=integer(crowd, "crowd"),
        epsilon=positive(epsilon, "epsilon"),
        unit=unit or Unit(),
        within=None if within is None else positive(within, "within"),
        clamp=not leave_outside,
    )


def _space(
    names: list[str],
    box: list[tuple[Fraction, Fraction]],
    grid: str | Sequence[Exact] | None,
    lattice: str | Sequence[Exact] | None,
    regions: str | os.PathLike[str] | None,
    quadtree: str | Sequence[str] | None,
) -> Space:
    if sum(each is not None for each in (grid, regions, quadtree)) != 1:
        raise WrongUse(
            "cells are those of a `grid`, of a `quadtree`, or the polygons of a file of `regions`; give one of these, "
            "like `grid=0.01,0.01`"
        )
    steps = None if lattice is None else _numbers(lattice, "a step of the lattice")
    if grid is None:
        if steps is None:
            raise WrongUse("say by which steps points move there: add `lattice=0.0001,0.0001`")
        areas = Quadtree(_quarters(quadtree)) if regions is None else regions_in(regions)
        return space_of_areas(names, box, steps, areas)
    sides = _numbers(grid, "a side of the grid")
    return space(names, box, sides, steps or [side / PER_SIDE for side in sides])


def _quarters(given: str | Sequence[str] | None) -> tuple[str, ...]:
    """The quarters that are cut again; a dash alone says that none is."""
    listed = given.split(",") if isinstance(given, str) else list(given or ())
    return () if listed == ["-"] else tuple(part.strip() for part in listed)


def _names(columns: str | Sequence[str]) -> list[str]:
    listed = columns.split(",") if isinstance(columns, str) else list(columns)
    if not all(isinstance(name, str) and name.strip() for name in listed):
        raise WrongUse("`columns` names the coordinates of a point, like lon,lat; name each")
    return [name.strip() if isinstance(columns, str) else name for name in listed]


def _numbers(given: str | Sequence[Exact], what: str) -> list[Fraction]:
    parts = given.split(",") if isinstance(given, str) else given
    return [rational(part.strip() if isinstance(part, str) else part, what) for part in parts]


def _box(given: str | Sequence[tuple[Exact, Exact]]) -> list[tuple[Fraction, Fraction]]:
    found = []
    for part in given.split(",") if isinstance(given, str) else given:
        ends = tuple(part.split("..")) if isinstance(part, str) else tuple(part)
        if len(ends) != 2:
            raise WrongUse("`box` has the two ends of each column, like -74.3..-73.7,40.5..41.0; give both")
        low, high = (rational(end, "an end of the box") for end in ends)
        found.append((low, high))
    return found


def from_options(
    *, person: str | None = None, one_row_per_person: bool = False, unique_person: bool = False, **words: Any
) -> NoisyPoints:
    """Build the spec from the options of a command."""
    unit = Unit(person=person, one_row_per_person=one_row_per_person, unique_person=unique_person)
    return points(unit=unit, **words)


_SIDES: Final = "str | Sequence[Exact]"
OPTIONS: Final = (
    Option(
        "columns",
        "A,B",
        "The columns of a point's coordinates, 1 to 10 of them.",
        takes="str | Sequence[str]",
        missing="say which columns are the coordinates of a point: add `columns=lon,lat`",
    ),
    Option(
        "box",
        "L..H,..",
        "From where to where along each column; public. Beyond is left out.",
        takes="str | Sequence[tuple[Exact, Exact]]",
        missing="say from where to where points are published, by public knowledge: add `box=-74.3..-73.7,40.5..41.0`",
    ),
    Option("grid", "W,..", "How wide a cell is along each column; public.", takes=_SIDES),
    Option(
        "regions",
        "FILE",
        "In place of a grid: the polygons of a GeoJSON file, public, as cells.",
        takes="str | PathLike[str]",
        advanced=True,
    ),
    Option(
        "quadtree",
        "Q,..",
        "In place of a grid: quarters of the box, and which are cut again.",
        takes="str | Sequence[str]",
        advanced=True,
    ),
    Option(
        "lattice",
        "S,..",
        "Steps that points move by; if not given, a hundredth of a cell.",
        takes=_SIDES,
        advanced=True,
    ),
    Option(
        "crowd",
        "K",
        "Delete points in cells with fewer than K people.",
        missing="say how many people a cell must have: add `crowd=K`",
        group=HOW,
    ),
    Option(
        "epsilon",
        "E",
        "The others move by noise as wide as a cell divided by E.",
        missing="say how much people of one cell may differ: add `epsilon=E`",
        group=HOW,
    ),
    Option("one_row_per_person", None, "Keep one row of each person, secretly at random.", group=WHOSE),
    UNIQUE,
    Option("within", "M", "Say how often no point is further than M from its own, in L1.", advanced=True),
    Option("leave_outside", None, "Leave points outside that noise moved out of the box.", advanced=True),
)

KIND: Final = Kind(
    name="points",
    wire="points/1",
    help="""Publish points of people: those of small cells deleted, the others moved by noise as wide as a cell.

Each person is one point, like a place. The box and the grid of cells are public and not chosen by the data. In a cell
with fewer than K people everybody is deleted; everybody else moves, on a lattice of whole steps, so that their point
could as well be that of any other person of the cell: (K, E)-crowd-blending. A smaller E, or wider cells, hide more.
In place of a grid, cells may be the polygons of a file (`regions`), where who is in none is left out, or those of a
`quadtree`: 0 to 3 are the quarters of the box (1 is high along the first column, 2 along the second, 3 along both), and
those that are listed are cut again, like 0,3,31 (- for none). Each of these has noise of its own width.
Points that noise moves out of the box are put back on its edge, or left there (`leave_outside`).

How good the points are is told with numbers: how far any of them may be from its own, and their mean.

Exit code 3 and the sentence about several rows for one person tell something about the data: they are for you
alone.""",
    examples=(
        "hubbub describe hubbub-demo/millbrook.parquet --person resident --unlisted 0.05 --out people.json",
        "hubbub release points hubbub-demo/millbrook.parquet --dictionary people.json --columns age,salary "
        "--box 0..100,0..250000 --grid 10,10000 --crowd 20 --epsilon 1 --out places/",
    ),
    options=OPTIONS,
    from_options=from_options,
    from_json=read,
)
NoisyPoints.kind = KIND


# Regions from a GeoJSON file: its polygons, with the numbers as they are written there.


_LARGEST: Final = 50_000_000  # bytes
_LONGEST: Final = 80  # signs of a name
_DEEPEST: Final = 20  # of collections in collections
_WRONG: Final = "the file of regions is no GeoJSON with polygons; check it, or declare a `grid`"


def regions_in(path: str | os.PathLike[str]) -> Regions:
    """The polygons of a GeoJSON file, in their order, or one sentence if it is none."""
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise WrongUse("the file of regions has more than 50 MB; simplify its outlines")
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise WrongUse(f"the file of regions {os.fspath(path)!r} cannot be read; check its name") from None
    try:
        given = json.loads(text, parse_float=Fraction, parse_constant=_no_number)
        return Regions(tuple(_regions(given)))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        raise WrongUse(_WRONG) from None


def _no_number(word: str) -> Fraction:
    raise ValueError(word)


def _regions(given: Any, name: str = "", depth: int = 0) -> Iterator[Region]:
    if depth > _DEEPEST:
        raise ValueError
    match given["type"]:
        case "FeatureCollection":
            for i, feature in enumerate(given["features"], 1):
                yield from _regions(feature, f"region {i}", depth + 1)
        case "GeometryCollection":
            for part in given["geometries"]:
                yield from _regions(part, name, depth + 1)
        case "Feature":
            label = (given.get("properties") or {}).get("name")
            if isinstance(label, str) and 0 < len(label) <= _LONGEST and label.isprintable():
                name = label
            yield from _regions(given["geometry"], name, depth + 1)
        case "Polygon":
            yield Region(name or "region 1", tuple(map(_ring, given["coordinates"])))
        case "MultiPolygon":
            yield Region(name or "region 1", tuple(_ring(ring) for part in given["coordinates"] for ring in part))
        case _:
            raise ValueError


def _ring(given: Any) -> Ring:
    corners = tuple((_number(x), _number(y)) for x, y, *_ in given)
    return corners[:-1] if len(corners) > 1 and corners[0] == corners[-1] else corners


def _number(given: Any) -> Fraction:
    if isinstance(given, bool) or not isinstance(given, int | Fraction):
        raise ValueError
    return Fraction(given)
