"""Tables of at least 0 that agree with one another, for use as counts, in a file of their own.

The fitted answers are unbiased; these are their projection onto tables that could be of people
(:mod:`hubbub.query_classes.marginals.projection`), all tables of the class at once. Nobody is told more by it. It is never
further from the truth than the answers, in Euclidean distance over all of them. Overlapping tables have no cells in common to
round, so the numbers are not whole: invented rows (``hubbub release synthetic``) are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.queries.query_text import key_names, keys_of
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import Read, Sheet
from hubbub.query_classes.classes import ColumnCells
from hubbub.query_classes.marginals.projection import Agreeing, project_tables, tolerance
from hubbub.query_classes.marginals.tables import Tables
from hubbub.query_classes.table_method import TableMethod

if TYPE_CHECKING:
    from hubbub.kinds.queries.result import Synopsis

CONSISTENT: Final = "consistent"


def sheet(found: Synopsis) -> Sheet:
    """The file of all tables of the class, projected."""
    queries, axes = found.spec.queries, found.spec.request.axes
    assert isinstance(queries, ColumnCells)
    names = key_names(axes, queries, (CONSISTENT,))
    schema = pa.schema([*((name, LABELS) for name in names), (CONSISTENT, pa.float64())])
    keys = keys_of(np.arange(queries.number), axes, queries)

    def batches() -> Iterator[pa.RecordBatch]:
        tables, _ = project_tables(_workload(queries), _answers(found))
        numbers = np.concatenate([table.ravel() for table in tables])
        yield pa.record_batch([*keys, pa.array(numbers, pa.float64())], schema=schema)

    def wrong(read: Read) -> str | None:
        given = read(CONSISTENT, schema)
        if given.num_rows != queries.number or given.column(CONSISTENT).null_count:
            return "it has other rows than the class has queries"
        for name, key in zip(names, keys, strict=True):
            if given.column(name).to_pylist() != key.to_pylist():
                return f"its column {name[:40]} is not that of the class"
        return _objection(queries, _answers(found), given.column(CONSISTENT).to_numpy())

    return Sheet(CONSISTENT, schema, batches, queries.number, judge=wrong)


def _objection(queries: ColumnCells, answers: Sequence[NDArray[Any]], numbers: NDArray[np.float64]) -> str | None:
    """What is wrong with published numbers.

    Guarantee: if None, they are at least 0, agree, and are within the tolerance of the projection of the answers.
    """
    if not np.isfinite(numbers).all() or (numbers < 0).any():
        return "its numbers are not all at least 0"
    parts = np.split(numbers, queries.starts[1:-1])
    tables = [part.reshape(answer.shape) for part, answer in zip(parts, answers, strict=True)]
    allowed = tolerance(tables)
    if Agreeing(_workload(queries)).disagreement(tables) > allowed:
        return "its tables do not agree with one another"
    best, near = project_tables(_workload(queries), answers)
    off = math.sqrt(sum(float(((a - b) ** 2).sum()) for a, b in zip(best, tables, strict=True)))
    if off + near > allowed:
        return "its tables are not the nearest ones of at least 0 that agree: they are no projection of the answers"
    return None


def _workload(queries: ColumnCells) -> Tables:
    return Tables(queries.shape, queries.sets, (1,) * len(queries.sets))


def _answers(found: Synopsis) -> list[NDArray[np.float64]]:
    method = found.spec.method
    assert isinstance(method, TableMethod)
    tables = method.every_answer(found.spec.setting, found.drawn)
    return [np.asarray(table.scaled.astype(object) / table.scale, dtype=np.float64) for table in tables]
