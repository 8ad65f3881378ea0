"""Regions from a GeoJSON file: its polygons, with the numbers as they are written there."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.kinds.points.regions import Region, Regions, Ring

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
