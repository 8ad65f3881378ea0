"""Published points: where they are after they moved, and how good they are. Holds no point of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.histogram.text import listed
from hubbub.kinds.points import chart, text
from hubbub.kinds.points.space import Positions
from hubbub.kinds.points.utility import each_within, mean_within, missed, paper_missed, reach
from hubbub.numeric.exact import to_float, to_text
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.tables.key_columns import key_columns

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints

_BATCH: Final = 1 << 20
RARE: Final = Fraction(1, 20)  # how often a bound that is told may be missed


def schema(spec: NoisyPoints) -> pa.Schema:
    """The columns of the file."""
    return pa.schema([(name, pa.float64()) for name in key_columns(spec.space.axes)])


@dataclass(frozen=True, slots=True, eq=False)
class PublishedPoints(Result):
    """What a release of points published: positions on the lattice along each column, sorted."""

    spec: NoisyPoints
    positions: tuple[Positions, ...]

    def __len__(self) -> int:
        return int(self.positions[0].size)

    def coordinates(self) -> tuple[NDArray[np.float64], ...]:
        """The points, a column after the other."""
        return tuple(self.spec.space.coordinates(i, at) for i, at in enumerate(self.positions))

    def missed(self, distance: Fraction) -> Fraction:
        """A bound on the chance that some point is further from its own than that, in L1: the beta of Proposition 11.

        Every function that changes by at most K when each point moves by at most `distance` is then right to K, except
        with this chance, compared with the same function of the points that were not deleted.
        """
        return missed(self.spec, len(self), distance)

    def sheets(self) -> tuple[Sheet, ...]:
        described = schema(self.spec)
        return (Sheet("release", described, lambda: self._batches(described), len(self)),)

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        for start in range(0, len(self), _BATCH) or [0]:
            here = (at[start : start + _BATCH] for at in self.positions)
            columns = [self.spec.space.coordinates(i, at) for i, at in enumerate(here)]
            arrays = [pa.Array.from_buffers(pa.float64(), at.size, [None, pa.py_buffer(at)]) for at in columns]
            yield pa.record_batch(arrays, schema=schema)

    def facts(self) -> Mapping[str, Any]:
        spec, space, many = self.spec, self.spec.space, len(self)
        within = {} if spec.within is None else {"within": self._smooth(spec.within)}
        return {
            "points": many,
            "columns": list(space.columns),
            "cells": space.cells,
            "crowd": spec.crowd,
            "epsilon": to_text(spec.epsilon),
            "noise": [
                {
                    "column": axis.column,
                    "step": to_text(axis.step),
                    "rate": to_text(spec.rate) if moves else None,
                    "scale": to_float(axis.step * space.diameter / spec.epsilon, round_up=True) if moves else 0,
                }
                for axis, moves in zip(space.axes, space.moving, strict=True)
            ],
            "useful": {
                "missed": to_text(RARE),
                "all_within": to_float(reach(spec, many, RARE), round_up=True),
                "each_within": [to_float(each, round_up=True) for each in each_within(spec, many, RARE)],
                "mean_within": [to_float(each, round_up=True) for each in mean_within(spec, many, RARE)],
                **within,
            },
            "clamped": spec.clamp,
        }

    def _smooth(self, distance: Fraction) -> dict[str, object]:
        return {
            "distance": to_text(distance),
            "missed": to_float(self.missed(distance), round_up=True),
            "missed_by_the_paper": to_float(paper_missed(self.spec, len(self), distance), round_up=True),
        }

    def sentences(self) -> tuple[str, ...]:
        spec, axes, many = self.spec, self.spec.space.axes, len(self)
        cells = text.kept_in(spec)
        sentences = [
            f"{many:,} points are published. People in {cells} with fewer than {spec.crowd} are deleted, at most "
            f"{spec.crowd - 1} of each of the {spec.space.cells:,} {cells}, and how many is not told.",
            text.outside(spec),
        ]
        if spec.space.diameter:
            reaches, means = (
                listed(
                    [f"{_number(each, axis.step)} along {axis.column}" for axis, each in zip(axes, all_, strict=True)]
                )
                for all_ in (each_within(spec, many, RARE), mean_within(spec, many, RARE))
            )
            sentences += [
                f"With a chance of at least 95 % none of them is further from its own place than {reaches}.",
                f"With a chance of at least 95 % their mean is within {means} of that of the points they came from.",
            ]
        if spec.within is not None:
            sure = floor((1 - self.missed(spec.within)) * 10_000) / 10_000
            sentences.append(
                f"A function that changes by at most K when every point moves by at most {to_text(spec.within)} in all "
                f"(L1) is right to K with a chance of at least {sure:.4f}."
            )
        return tuple(sentences)

    def exactness(self) -> tuple[str, ...]:
        spec, axes = self.spec, self.spec.space.axes
        if not spec.space.diameter:
            return ("No point is moved",)
        far = [
            f"{_number(each, axis.step)} along {axis.column}" for axis, each in zip(axes, self._reaches(), strict=True)
        ]
        return (f"With a chance of at least 95 % none of the points is further from its own place than {listed(far)}",)

    def _reaches(self) -> tuple[Fraction, ...]:
        return tuple(each_within(self.spec, len(self), RARE))

    def display(self, first: int) -> DisplayTable:
        first = min(first, len(self))
        columns = [self.spec.space.coordinates(i, at[:first]).tolist() for i, at in enumerate(self.positions)]
        rows = tuple(((), tuple(map(repr, row)), False) for row in zip(*columns, strict=True))
        notes = (f"Each row is a person, {text.put(self.spec)}; rows are in the order of these numbers.",)
        return DisplayTable((), tuple(key_columns(self.spec.space.axes)), rows, notes)

    def drawing(self) -> Drawing | None:
        return chart.drawn(self)


def _number(value: Fraction, step: Fraction) -> str:
    """Rounded up, to a tenth of a step or finer."""
    decimals = max(0, -floor(log10(step))) + 1
    return f"{ceil(value * 10**decimals) / 10**decimals:,.{decimals}f}"
