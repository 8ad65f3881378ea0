"""The files of a synopsis, read back: the numbers that a method drew, or what each of its rounds chose and measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from hubbub.errors import CheckFailed
from hubbub.kinds.queries.mechanism import MEASURED, Answering, in_columns, in_rounds
from hubbub.kinds.queries.query_text import ANY
from hubbub.kinds.queries.result import ROUND, Synopsis
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.classes import Box, ColumnCells, Halfspaces
from hubbub.query_classes.setting import Drawn
from hubbub.query_classes.small_databases import SmallDatabase
from hubbub.query_classes.weights import Weights
from hubbub.serialization.published_files import Files
from hubbub.tables.bins import all_labels, size

if TYPE_CHECKING:
    from hubbub.kinds.queries.spec import Queries


def load(spec: Queries, files: Files) -> Measurement:
    """What was drawn.

    Guarantee: as many numbers, or rounds, as the method draws; queries of the class; invented rows as many as the
    method invents. Otherwise the files are refused.
    """
    mechanism = Answering(spec)
    batch = in_columns(mechanism, *(_rounds(spec, files) if in_rounds(spec) else (_numbers(spec, files),)))
    return Measurement(synopsis=loaded(mechanism.schema, batch))


def _numbers(spec: Queries, files: Files) -> list[int]:
    blank = Synopsis(spec, Drawn(np.zeros(0, dtype=np.int64)))
    found = files.table("release", blank.sheets()[0].schema, [blank.number]).column(blank.number).to_pylist()
    if len(found) != spec.rows_published or None in found:
        raise CheckFailed("it has other rows than are described")
    if isinstance(spec.method, SmallDatabase) and (min(found) < 0 or sum(found) != spec.method.size):
        raise CheckFailed("its numbers are no database of as many rows as are described")
    return list(found)


def _rounds(spec: Queries, files: Files) -> tuple[list[int], list[int], list[int]]:
    """The round, the query and the measurement of every row."""
    method, blank = spec.method, Synopsis(spec, Drawn(np.zeros(0, dtype=np.int64)))
    assert isinstance(method, Weights | Boosting)
    assert not isinstance(spec.queries, Halfspaces)
    table = files.table("rounds", blank.rounds().schema)
    times, measured = table.column(ROUND).to_pylist(), table.column(MEASURED).to_pylist()
    labels = [column.to_pylist() for column in table.columns[1:-1]]
    boxes = [_box(spec, list(row)) for row in zip(*labels, strict=True)]
    if None in times or None in measured or len(boxes) != len(times) or set(times) != set(range(1, method.rounds + 1)):
        raise CheckFailed("its rounds are not those of this method")
    if times != sorted(times) or (isinstance(method, Weights) and len(times) != method.rounds):
        raise CheckFailed("its rounds are not those of this method")
    if not all(spec.queries.has(box) for box in boxes):
        raise CheckFailed("a round chose a query that is none of the class")
    return times, [spec.queries.index_of(box) for box in boxes], measured


def _box(spec: Queries, row: list[str | None]) -> Box:
    ends = iter(row)
    return tuple(_spans(spec, ends))


def _spans(spec: Queries, ends: Iterator[str | None]) -> Iterator[tuple[int, int]]:
    for axis in spec.request.axes:
        known = {label: i for i, label in enumerate(all_labels(axis))}
        first = next(ends)
        if isinstance(spec.queries, ColumnCells) and first == ANY and ANY not in known:
            yield 0, size(axis)
            continue
        last = first if isinstance(spec.queries, ColumnCells) else next(ends)
        if first not in known or last not in known:
            raise CheckFailed("a round chose a query that is none of the class")
        yield known[first], known[last] + 1
