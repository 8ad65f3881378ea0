"""Published points: where they are after they moved, and how good they are. Holds no point of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.points import chart, text
from hubbub.kinds.points.space import Positions
from hubbub.kinds.points.utility import chance_missed, each_within, mean_within, paper_chance_missed, reach
from hubbub.numeric.exact import to_float, to_text
from hubbub.numeric.format import join_words
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import labelled
from hubbub.tables.key_columns import key_columns

if TYPE_CHECKING:
    from hubbub.kinds.points.spec import NoisyPoints

_BATCH: Final = 1 << 20
_HALF: Final = Fraction(1, 2)
RARE: Final = Fraction(1, 20)  # how often a bound that is told may be missed
MEANS: Final = "means"


def schema(spec: NoisyPoints) -> pa.Schema:
    """The columns of the file."""
    return pa.schema([(name, pa.float64()) for name in key_columns(spec.space.axes)])


def means_schema() -> pa.Schema:
    """The columns of the sheet of sums and means: a row for each column of the points. `beyond` has the steps by which
    points left the box, all together, before they were put back on its edge."""
    numbers = [(name, pa.float64()) for name in ("sum", "mean", "low", "high")]
    return pa.schema([("column", LABELS), *numbers, ("beyond", pa.int64())])


@dataclass(frozen=True, slots=True)
class Mean:
    """The sum of one column of the points as they were drawn, before any was put back; their mean in the box, with the
    ends between which that of the points they came from lies."""

    column: str
    sum: Fraction
    mean: Fraction
    low: Fraction
    high: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class PublishedPoints(Result):
    """What a release of points published: positions on the lattice along each column, sorted; and by how many steps of
    each column points had left the box in all, upwards less downwards, before they were put back on its edge."""

    spec: NoisyPoints
    positions: tuple[Positions, ...]
    beyond: tuple[int, ...]

    def __len__(self) -> int:
        return int(self.positions[0].size)

    def coordinates(self) -> tuple[NDArray[np.float64], ...]:
        """The points, a column after the other."""
        return tuple(self.spec.space.coordinates(i, at) for i, at in enumerate(self.positions))

    def chance_missed(self, distance: Fraction) -> Fraction:
        """A bound on the chance that some point is further from its own than that, in L1: the beta of Proposition 11.

        Every function that changes by at most K when each point moves by at most `distance` is then right to K, except
        with this chance, compared with the same function of the points that were not deleted.
        """
        return chance_missed(self.spec, len(self), distance)

    def sheets(self) -> tuple[Sheet, ...]:
        described = schema(self.spec)
        return (
            Sheet("release", described, lambda: self._batches(described), len(self)),
            Sheet(MEANS, means_schema(), lambda: iter((self._means_batch(),)), len(self.beyond)),
        )

    def means(self) -> tuple[Mean, ...]:
        """What each column of the points sums up to; none where no point is published.

        Guarantee: all means of the points that were kept lie between the ends at once, but for a chance of one in
        twenty: by the bound of :func:`mean_within`, cut to the box, in which they are.
        """
        if not len(self):
            return ()
        space, found = self.spec.space, []
        bounds = mean_within(self.spec, len(self), RARE)
        for i, (axis, bound) in enumerate(zip(space.axes, bounds, strict=True)):
            total = space.total(i, self.positions[i]) + self.beyond[i] * axis.step
            mean = total / len(self)
            ends = (min(max(each, axis.low), axis.high) for each in (mean, mean - bound, mean + bound))
            found.append(Mean(axis.column, total, *ends))
        return tuple(found)

    def _means_batch(self) -> pa.RecordBatch:
        means = self.means()
        numbers = [
            [float(each.sum) for each in means] or [0.0] * len(self.beyond),
            [float(each.mean) for each in means],
            [to_float(each.low, round_up=False) for each in means],
            [to_float(each.high, round_up=True) for each in means],
        ]
        missing = [None] * len(self.beyond)
        labels = labelled(np.arange(len(self.beyond)), self.spec.space.columns)
        arrays = [pa.array(each or missing, pa.float64()) for each in numbers]
        return pa.record_batch([labels, *arrays, pa.array(self.beyond, pa.int64())], schema=means_schema())

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
            "means": [
                {
                    "column": each.column,
                    "mean": float(each.mean),
                    "low": to_float(each.low, round_up=False),
                    "high": to_float(each.high, round_up=True),
                }
                for each in self.means()
            ],
            "clamped": spec.clamp,
        }

    def _smooth(self, distance: Fraction) -> dict[str, object]:
        return {
            "distance": to_text(distance),
            "missed": to_float(self.chance_missed(distance), round_up=True),
            "missed_by_the_paper": to_float(paper_chance_missed(self.spec, len(self), distance), round_up=True),
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
            reaches = join_words(
                [
                    f"{_number(each, axis.step)} along {axis.column}"
                    for axis, each in zip(axes, self._reaches(), strict=True)
                ]
            )
            sentences += [
                f"With a chance of at least 95 % none of them is further from its own place than {reaches}.",
                *self._mean_sentences(),
            ]
        if spec.within is not None:
            sure = floor((1 - self.chance_missed(spec.within)) * 10_000) / 10_000
            sentences.append(
                f"A function that changes by at most K when every point moves by at most {to_text(spec.within)} in all "
                f"(L1) is right to K with a chance of at least {sure:.4f}."
            )
        return tuple(sentences)

    def _mean_sentences(self) -> tuple[str, ...]:
        """Where the mean of the points they came from lies."""
        ends = [
            f"{_number(each.low, axis.step, up=False)} to {_number(each.high, axis.step)} along {each.column}"
            for each, axis in zip(self.means(), self.spec.space.axes, strict=False)
        ]
        return (f"With a chance of at least 95 % the mean of their own places is {join_words(ends)}.",) if ends else ()

    def exactness(self) -> tuple[str, ...]:
        spec, axes = self.spec, self.spec.space.axes
        if not spec.space.diameter:
            return ("No point is moved",)
        far = [
            f"{_number(each, axis.step)} along {axis.column}"
            for axis, each in zip(axes, each_within(spec, 1, _HALF), strict=True)
        ]
        return (
            f"A point is within {join_words(far)} of its own place, with a chance of at least 50 %",
            *(sentence.removesuffix(".") for sentence in self._mean_sentences()),
        )

    def _reaches(self) -> tuple[Fraction, ...]:
        return tuple(each_within(self.spec, len(self), RARE))

    def display(self, first: int) -> DisplayTable:
        first = min(first, len(self))
        columns = [self.spec.space.coordinates(i, at[:first]).tolist() for i, at in enumerate(self.positions)]
        rows = tuple(((), tuple(map(repr, row)), False) for row in zip(*columns, strict=True))
        notes = (f"Each row is a person, {text.where_points_are(self.spec)}; rows are in the order of these numbers.",)
        return DisplayTable((), tuple(key_columns(self.spec.space.axes)), rows, notes, folded=True)

    def drawing(self) -> Drawing | None:
        return chart.draw_points(self)


def _number(value: Fraction, step: Fraction, *, up: bool = True) -> str:
    """Rounded up or down, to a tenth of a step or finer."""
    decimals = max(0, -floor(log10(step))) + 1
    scaled = ceil(value * 10**decimals) if up else floor(value * 10**decimals)
    return f"{scaled / 10**decimals:,.{decimals}f}"
