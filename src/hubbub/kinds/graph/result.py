"""The result of a graph release: each published number with its interval, worked out from what was drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa

from hubbub.channels.estimate import interval
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import LARGEST_COUNT
from hubbub.graphs.statistics import Statistic, most
from hubbub.kinds.graph import chart, text
from hubbub.kinds.graph.promises import aggregate
from hubbub.numeric.clamped_interval import clamp, clamped_interval
from hubbub.numeric.exact import to_float, to_text
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import floats, integer_array, texts

if TYPE_CHECKING:
    from hubbub.kinds.graph.spec import GraphSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One published number with its interval, in its own unit, and the edges behind it."""

    of: Statistic
    edges: int  # the published count (of edges; of triangles; of people with so many friends)
    unit: Fraction  # what one of the count is worth
    low: Fraction
    high: Fraction
    coverage: Fraction
    scale: Fraction  # of the integer noise
    distance: Fraction | None = None  # edges divided by M
    aggregate: str | None = None
    degree: int | None = None  # of degrees: people with at least so many friends
    fitted: Fraction | None = None  # of degrees: the nearest number such that none rises

    @property
    def value(self) -> Fraction:
        """The possible number nearest to the published count."""
        return clamp(self.edges * self.unit, self.low, self.high)

    def as_json(self) -> dict[str, object]:
        fields: dict[str, object] = {"of": self.of.value}
        if self.degree is not None and self.fitted is not None:
            fields |= {"degree_at_least": self.degree, "fitted": _nearest(self.fitted)}
        return fields | {
            "value": _nearest(self.value),
            "low": _number(self.low, up=False),
            "high": _number(self.high, up=True),
            "distance": None if self.distance is None else _nearest(self.distance),
            "count": self.edges,
            "coverage": to_text(self.coverage),
            "scale": to_float(self.scale, round_up=True),
            "aggregate": self.aggregate,
        }

    def cells(self) -> tuple[str, ...]:
        """The value, its interval, distance and scale of the noise, to read."""
        far = "" if self.distance is None else f"{float(self.distance):.4g}"
        return (
            _decimal(self.value),
            f"{_decimal(self.low)} to {_decimal(self.high)}",
            far,
            f"{float(self.scale):,.4g}",
        )


_FOR_EXPERTS: Final = ("as a distance", "scale of the noise")


@dataclass(frozen=True, slots=True, eq=False)
class Answers(Result):
    """What a graph release published. Holds nothing of the graph."""

    spec: GraphSpec
    answers: tuple[Answer, ...]

    @property
    def of_degrees(self) -> bool:
        return Statistic.DEGREE_COUNTS in self.spec.of

    def sheets(self) -> tuple[Sheet, ...]:
        batch = self.batch()
        return (Sheet("release", batch.schema, lambda: iter((batch,)), len(self.answers)),)

    def batch(self) -> pa.RecordBatch:
        """All rows of it."""
        found = self.answers
        columns = {"of": texts([each.of.value for each in found])}
        if self.of_degrees:
            degrees = np.array([each.degree or 0 for each in found])
            columns["degree_at_least"] = integer_array(degrees, degrees > 0)
        columns |= {
            "value": floats([float(each.value) for each in found]),
            "low": floats([_number(each.low, up=False) for each in found]),
            "high": floats([_number(each.high, up=True) for each in found]),
            "distance": floats([None if each.distance is None else float(each.distance) for each in found]),
            "count": integer_array(np.array([each.edges for each in found])),
            "scale": floats([to_float(each.scale, round_up=True) for each in found]),
        }
        if self.of_degrees:
            columns["fitted"] = floats([None if each.fitted is None else float(each.fitted) for each in found])
        return pa.record_batch(list(columns.values()), names=list(columns))

    def facts(self) -> Mapping[str, Any]:
        spec = self.spec
        return {
            "vertices": spec.size.vertices,
            "max_degree": spec.size.max_degree,
            "epsilon": to_float(spec.epsilon, round_up=True),
            "unit": spec.people.unit,
            "answers": [each.as_json() for each in self.answers],
        }

    def sentences(self) -> tuple[str, ...]:
        return ("Nothing is hidden: every number that was asked for is shown, with noise.",)

    def display(self, first: int) -> DisplayTable:
        titles: tuple[str, ...] = ("published", "interval", *_FOR_EXPERTS)
        if not self.of_degrees:
            rows = tuple(((each.of.value,), each.cells(), False) for each in self.answers[:first])
            return DisplayTable(("of",), titles, rows, text.notes(self.spec), for_files=_FOR_EXPERTS)
        by_degree = []
        for each in self.answers[:first]:
            degree = "" if each.degree is None else f"{each.degree:,}"
            fitted = "" if each.fitted is None else _decimal(each.fitted)
            by_degree.append(((each.of.value,), (degree, *each.cells(), fitted), False))
        titles = ("friends, at least", *titles, "fitted")
        return DisplayTable(("of",), titles, tuple(by_degree), text.notes(self.spec), for_files=_FOR_EXPERTS)

    def unlike_rows(self) -> bool:
        return True

    def drawing(self) -> Drawing | None:
        return chart.bars(self)


def answers_of(spec: GraphSpec, drawn: Mapping[Statistic, list[int]]) -> tuple[Answer, ...]:
    """What is said about published counts: it follows from them and the description alone."""
    return tuple(answer for of in spec.of for answer in _answers(spec, of, drawn[of.count]))


def _answers(spec: GraphSpec, of: Statistic, counts: list[int]) -> Iterator[Answer]:
    scale = spec.scale(of.count)
    reach = _reach(scale, spec.coverage)
    fitted = falling(counts, spec.size.vertices) if of is Statistic.DEGREE_COUNTS else [None]
    top = most(of, spec.size, spec.average_at_most)
    unit = Fraction(2, spec.size.vertices) if of is Statistic.AVERAGE_DEGREE else Fraction(1)
    known = str(aggregate(spec)) if spec.zero_knowledge else None
    for degree, count in enumerate(counts, 1):
        low, high = clamped_interval(Fraction(count), Fraction(reach), Fraction(0), Fraction(top))
        yield Answer(
            of=of,
            edges=count,
            unit=unit,
            low=low * unit,
            high=high * unit,
            coverage=spec.coverage,
            scale=scale,
            distance=clamp(Fraction(count), low, high) / spec.size.most_edges if of.explores else None,
            aggregate=known,
            degree=degree if of is Statistic.DEGREE_COUNTS else None,
            fitted=fitted[degree - 1],
        )


def _reach(scale: Fraction, coverage: Fraction) -> int:
    """How far the noise reaches with that probability, either way; the same around every count."""
    within = interval(Geometric(1 / scale), LARGEST_COUNT, coverage=coverage)
    return LARGEST_COUNT - within.low


def falling(counts: list[int], top: int) -> list[Fraction]:
    """The nearest counts (in squares) that never rise and stay between 0 and `top`: what the picture shows.

    It looks at what was published and at nothing else, so it costs no privacy.
    """
    blocks: list[list[int]] = []  # [sum, length] of stretches with one value
    for count in counts:
        blocks.append([count, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] < blocks[-1][0] * blocks[-2][1]:
            total, length = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += length
    return [
        min(max(Fraction(total, length), Fraction(0)), Fraction(top)) for total, length in blocks for _ in range(length)
    ]


def _number(value: Fraction, *, up: bool) -> float | int:
    return int(value) if value.denominator == 1 else to_float(value, round_up=up)


def _nearest(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else float(value)


def _decimal(value: Fraction) -> str:
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.4g}"
