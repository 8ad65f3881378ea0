"""A release of noisy points in exact JSON and back: everything about it that is public."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from hubbub.errors import CheckFailed, HubbubError
from hubbub.kinds.points.quadtree import Quadtree
from hubbub.kinds.points.regions import Region, Regions
from hubbub.kinds.points.space import Areas, Space
from hubbub.numeric.exact import to_text
from hubbub.serialization.canonical import Plain
from hubbub.serialization.exact_json import agrees, plain, restored
from hubbub.tables.bins import Lattice
from hubbub.tables.privacy_unit import Unit

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints


def to_json(spec: NoisyPoints) -> dict[str, Plain]:
    """The release as JSON."""
    return {
        "cells": _cells(spec.space.areas),
        "columns": [
            {
                "column": axis.column,
                "low": to_text(axis.low),
                "step": to_text(axis.step),
                "steps": axis.steps,
                "cell": many,
            }
            for axis, many in zip(spec.space.axes, spec.space.per_cell, strict=True)
        ],
        "crowd": spec.crowd,
        "epsilon": to_text(spec.epsilon),
        "unit": plain(spec.unit),
        "within": None if spec.within is None else to_text(spec.within),
        "clamp": spec.clamp,
    }


def read(given: Any) -> NoisyPoints:
    """The release that a description says, checked as if somebody had asked for it."""
    from hubbub.kinds.points.spec import NoisyPoints

    try:
        spec = NoisyPoints(
            space=Space(
                tuple(_axis(each) for each in given["columns"]),
                tuple(restored(int, each["cell"]) for each in given["columns"]),
                _areas(given["cells"]),
            ),
            crowd=restored(int, given["crowd"]),
            epsilon=restored(Fraction, given["epsilon"]),
            unit=restored(Unit, given["unit"]),
            within=restored(Fraction | None, given["within"]),
            clamp=restored(bool, given["clamp"]),
        )
    except CheckFailed:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, HubbubError):
        raise CheckFailed("the description of the release is not one; get the original certificate") from None
    if not agrees(given, to_json(spec)):
        raise CheckFailed("the description of the release is not written as Hubbub writes it; get the original")
    return spec


def _cells(areas: Areas | None) -> Plain:
    if isinstance(areas, Quadtree):
        return {"quadtree": list(areas.cut)}
    return "grid" if areas is None else [_region_json(region) for region in areas.regions]


def _areas(given: Any) -> Areas | None:
    if isinstance(given, dict):
        return Quadtree(restored(tuple[str, ...], given["quadtree"]))
    return None if given == "grid" else Regions(tuple(map(_region, given)))


def _region_json(region: Region) -> Plain:
    return {"name": region.name, "rings": [[[to_text(x), to_text(y)] for x, y in ring] for ring in region.rings]}


def _region(given: Any) -> Region:
    rings = restored(tuple[tuple[tuple[Fraction, ...], ...], ...], given["rings"])
    return Region(restored(str, given["name"]), tuple(tuple((x, y) for x, y in ring) for ring in rings))


def _axis(given: Any) -> Lattice:
    return Lattice(
        column=restored(str, given["column"]),
        low=restored(Fraction, given["low"]),
        step=restored(Fraction, given["step"]),
        steps=restored(int, given["steps"]),
    )
