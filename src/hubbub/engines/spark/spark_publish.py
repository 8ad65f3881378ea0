"""Counts that stay in Spark, and tasks that publish them there: one task for each part of the bins.

::

    groups (the SQL of every count) -> the number of each bin -> its part -> one task a part (mapInArrow) -> what it
    tells about the file that it wrote, as a row

A row without a bin goes to every part, so that a part with nobody in it is worked on too. Of the attempts of a task
Spark hands the rows of one to the driver: that is the commit. Nothing is set in the session.

What Spark answers, as Arrow: every version hands it over in a way of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from itertools import pairwise
from math import prod
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa

from hubbub.engines.arrow_columns import numbers, readable
from hubbub.engines.sql.database import CountRequest, SqlQuery
from hubbub.engines.sql.dialect import ARROW, Form, Part
from hubbub.errors import WrongUse, install
from hubbub.noise.source import SystemSource
from hubbub.serialization.arrow import integer_array, texts
from hubbub.tables.bins import Countable, Discovered
from hubbub.tables.engine import CountQuery, ExactCounts
from hubbub.tables.parts import Cut, Listed, Report, Sparse, Task


def as_arrow(answer: Any, schema: pa.Schema) -> pa.Table:
    """All rows of a frame, classic or Connect; `schema` is for a frame without any."""
    if hasattr(answer, "toArrow"):
        return answer.toArrow()
    if hasattr(answer, "_collect_as_arrow"):  # Spark 3.5 has it under this name; without rows, it has no columns
        batches = answer._collect_as_arrow()
        return pa.Table.from_batches(batches, None if batches else schema)
    client = answer.sparkSession.client  # Connect, 3.5
    return client.to_table(answer._plan.to_proto(client))[0]


def convert_answer(table: pa.Table, forms: Mapping[str, Form]) -> pa.Table:
    """Cells as they came from Spark, each column in its form; text that is no UTF-8 is missing."""
    types = {name: ARROW[form] for name, form in forms.items()}
    columns = [
        pa.chunked_array([_convert_cells(chunk, kind) for chunk in column.chunks], kind)
        for column, kind in zip(table.columns, types.values(), strict=True)
    ]
    return pa.table(columns, names=list(types))


def _convert_cells(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    return readable(cells.cast(kind)) if kind == pa.string() else cells.cast(kind)


_AT_ONCE: Final = 1 << 20  # groups that become bins together
_REPORTS: Final = "part int, name string, sha256 string, rows bigint, visible bigint, size bigint, state string"
_FAILED: Final = (
    "the cluster could not write the release; check that it can be reached and read the table, and that the memory of "
    "its Python workers and the room in the folder suffice"
)
_FOLDER_MISSING: Final = "the machines of the cluster have no Hubbub, or lack a package that it needs; install Hubbub with its extra spark on all of them"
_NO_PANDAS: Final = f"Spark runs no Arrow function without pandas; {install('spark')}, which brings it"
_TASK_FAILED: Final = "a part of the release could not be written"


class Frames(Protocol):
    """What answers a query with a frame, for as long as somebody works with it."""

    def frame_of(self, query: SqlQuery) -> AbstractContextManager[Any]: ...


class SparkCounts:
    """Counts of a Spark table that have not been computed yet."""

    def __init__(self, database: Frames, request: CountRequest) -> None:
        self._database, self._request = database, request

    def reports(self, cut: Cut, task: Task) -> tuple[Report, ...]:
        """The report of `task` for each part.

        Guarantee: each bin with somebody in it reaches the task of its part with its exact count, once, and every part
        has a task; the rows that come back are those of one attempt of each.
        """
        request = self._request
        try:
            with self._database.frame_of(request) as groups, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of Spark, about versions of pandas, which is not used
                collected = _laid_out(_number_bins(groups, request), cut).mapInArrow(_publish_task(task), _REPORTS)
                return tuple(Report(*row) for row in collected.collect())
        except Exception as error:  # of Spark, of Java, of a channel: the message may quote a cell
            problem = str(error)
        if "Pandas >=" in problem:
            raise WrongUse(_NO_PANDAS)
        raise WrongUse(_FOLDER_MISSING if "No module named" in problem else _FAILED)


def _number_bins(groups: Any, request: CountRequest) -> Any:
    """Groups as bins: the number of the declared part (`code`), the labels of what was found, and how many (`n`)."""
    if request.sizes is not None:
        names = [f"g{i}" for i in range(len(request.sizes))]
        steps = [f"{name} * {prod(request.sizes[i + 1 :])}" for i, name in enumerate(names)]
        some = " AND ".join(f"{name} IS NOT NULL" for name in names)
        return groups.where(some).selectExpr(f"CAST({' + '.join(steps)} AS BIGINT) AS code", "n")
    found = [f"f{i}" for i in range(sum(isinstance(axis, Discovered) for axis in request.axes))]
    kinds = ", ".join(["code bigint", "n bigint", *(f"{name} string" for name in found)])
    bins = groups.mapInArrow(_coding(request.forms, request.parts, request.axes), kinds)
    return bins.groupBy("code", *found).sum("n").toDF("code", *found, "n")


def _laid_out(bins: Any, cut: Cut) -> Any:
    """Bins by their parts, each part in one partition, and a row for each part that belongs to no bin."""
    found = [name for name in bins.columns if name.startswith("f")]
    match cut:
        case Listed():
            part = f"code div {cut.width}"
        case Sparse():
            part = f"code % {cut.parts}"
        case _:
            part = f"pmod(xxhash64({', '.join(['code', *found])}), {cut.parts})"
    every = bins.selectExpr(f"CAST({part} AS INT) AS part", "code", "n", *found)
    nobody = [f"CAST(NULL AS STRING) AS {name}" for name in found]
    marks = bins.sparkSession.range(cut.parts).selectExpr(
        "CAST(id AS INT) AS part", "CAST(-1 AS BIGINT) AS code", "CAST(0 AS BIGINT) AS n", *nobody
    )
    both = every.unionAll(marks)
    if hasattr(both, "repartitionById"):  # from Spark 4.1 on
        return both.repartitionById(cut.parts, "part")
    return both.repartition(cut.parts, "part").sortWithinPartitions("part")


def _coding(forms: Mapping[str, Form], parts: Mapping[str, Part], axes: tuple[Countable, ...]) -> Any:
    """From groups to bins, by the rules of every engine (:mod:`hubbub.engines.sql.groups`), on the machines of the
    cluster."""
    columns = dict(forms)

    def code_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from hubbub.engines.sql import groups

        for table in _merge_batches(batches):
            engine = groups.register_groups(convert_answer(table, columns), parts, weight=groups.WEIGHT)
            counted = engine.count(CountQuery(axes=axes), SystemSource())
            arrays = [integer_array(counted.codes), integer_array(counted.counts), *map(texts, counted.found)]
            names = ["code", "n", *(f"f{i}" for i in range(len(counted.found)))]
            yield pa.record_batch(arrays, names=names)

    return _quiet(code_batches)


def _merge_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Batches merged into larger ones."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        waiting.append(batch)
        rows += batch.num_rows
        if rows >= _AT_ONCE:
            yield pa.Table.from_batches(waiting)
            waiting, rows = [], 0
    if rows:
        yield pa.Table.from_batches(waiting)


def _publish_task(task: Task) -> Any:
    """What runs on the machines of the cluster: a task for each part among the rows."""

    def publish_parts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part, counted in by_part(batches):
            report = task(part, counted)
            yield pa.RecordBatch.from_pylist([report._asdict()], _arrow_schema())

    return _quiet(publish_parts)


def _quiet(function: Any) -> Any:
    """The same, without a word about what went wrong in it: a message might quote a cell, and ends in logs."""

    def quiet(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            yield from function(batches)
        except Exception as error:
            kind = type(error).__name__
        else:
            return
        raise RuntimeError(f"{_TASK_FAILED} ({kind})")

    return quiet


def _arrow_schema() -> pa.Schema:
    kinds = {"int": pa.int32(), "string": pa.string(), "bigint": pa.int64()}
    return pa.schema([(name, kinds[kind]) for name, kind in (each.split() for each in _REPORTS.split(", "))])


def by_part(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, ExactCounts]]:
    """The bins of each part; the rows of a part come one after the other."""
    waiting: list[pa.RecordBatch] = []
    part = -1
    for batch in batches:
        positions = numbers(pa.chunked_array([batch.column(0)]))
        for start, stop in _runs(positions):
            if waiting and int(positions[start]) != part:
                yield part, _counts_of(waiting)
                waiting = []
            part = int(positions[start])
            waiting.append(batch.slice(start, stop - start))
    if waiting:
        yield part, _counts_of(waiting)


def _runs(positions: Any) -> list[tuple[int, int]]:
    """Where runs of one part begin and end."""
    cuts = [0, *(np.flatnonzero(np.diff(positions)) + 1).tolist(), len(positions)]
    return [(a, b) for a, b in pairwise(cuts) if a < b]


def _counts_of(batches: list[pa.RecordBatch]) -> ExactCounts:
    table = pa.Table.from_batches(batches)
    codes, counts = (numbers(table.column(name)) for name in ("code", "n"))
    real = codes >= 0
    if table.num_columns == 3:
        return ExactCounts(codes[real], counts[real])
    kept = table.filter(pa.array(real))
    return ExactCounts(codes[real], counts[real], tuple(column.to_pylist() for column in kept.columns[3:]))
