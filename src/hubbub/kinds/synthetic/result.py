"""Invented rows, the model they come from, and how far each measured table of theirs is off."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.kinds.queries import text as queries_text
from hubbub.kinds.queries.query_text import ANY
from hubbub.kinds.queries.result import Synopsis
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.measurement import LABELS
from hubbub.protocol.result import DisplayTable, Read, Result, Sheet
from hubbub.protocol.spec import Description
from hubbub.query_classes.marginals.junction_tree import (
    MOST_ROWS,
    GraphicalModel,
    count_table,
    dependence,
    junction_tree,
    new_columns,
    workload,
)
from hubbub.query_classes.marginals.projection import Agreeing, project_tables, tolerance
from hubbub.query_classes.marginals.tables import Columns, subsets
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables.bins import all_labels
from hubbub.tables.key_columns import key_columns
from hubbub.tables.labels import is_ranges

if TYPE_CHECKING:
    from hubbub.kinds.synthetic.spec import Synthetic

TABLES, MODEL, FIT, SEED, WORD = "tables", "model", "fit", "seed", "word"
CLIQUE, PROJECTED, TABLE, NOISE = "clique", "projected", "table", "noise_alone"
_LISTED: Final = 40  # tables in the JSON


@dataclass(frozen=True, slots=True, eq=False)
class InventedRows(Result):
    """What is published: everything here follows from the noisy tables and the seed."""

    spec: Synthetic
    tables: Synopsis
    words: NDArray[np.int64]

    @property
    def seed(self) -> str:
        """The seed as hexadecimal digits."""
        return self.words.view(np.uint64).astype(">u8").tobytes().hex()

    @property
    def size(self) -> int:
        """How many rows there are: as asked, or the estimated number of people."""
        if self.spec.size is not None:
            return self.spec.size
        scaled, scale = self.estimate(())
        return min(max(round(Fraction(int(scaled), scale)), 0), MOST_ROWS)

    def estimate(self, columns: Columns) -> tuple[NDArray[Any], int]:
        """A measured table: unbiased whole numbers over one scale."""
        return self.spec.method.fit(self.spec.tables.setting, self.tables.drawn).scaled_table(columns)

    def deviation(self, columns: Columns) -> float:
        """The standard deviation of a number of a measured table."""
        return math.sqrt(self.spec.method.noise(self.spec.tables.setting).variance(columns))

    def _floats(self, columns: Columns) -> NDArray[np.float64]:
        scaled, scale = self.estimate(columns)
        return np.asarray(scaled.astype(object) / scale, dtype=np.float64)

    # --- the model and its rows -----------------------------------------------------------------------------------

    def model(self) -> GraphicalModel:
        """The model, fitted."""
        return _model(self)

    def rows(self, model: GraphicalModel | None = None) -> NDArray[np.int64]:
        """The rows of a model: columns x people, bins by number."""
        return _rows(self) if model is None else model.rows(self.size, self.seed)

    def table_distances(self, rows: NDArray[np.int64]) -> list[tuple[Columns, int, int]]:
        """For each measured table: how many people would have to move to make the rows' table the measured one, and how
        many its noise alone moves on average; rounded up.

        Guarantee: whole-number arithmetic, but for the second, a standard deviation to three digits.
        """
        shape, people, found = self.spec.queries.shape, self.size, []
        total, unit = self.estimate(())
        for columns in self.spec.queries.sets:
            scaled, scale = self.estimate(columns)
            mine = count_table(rows, columns, shape).astype(object)
            # Rows are scaled to the estimated number of people, if another number was asked for.
            share = Fraction(int(total), unit * people) if self.spec.size is not None and people else Fraction(1)
            off = np.abs(mine * (share.numerator * scale) - scaled.astype(object) * share.denominator).sum()
            moved = -(-int(off) // (2 * scale * share.denominator))
            noise = Fraction(f"{self.deviation(columns):.3g}") * Fraction("0.399") * int(mine.size)
            found.append((columns, moved, math.ceil(noise)))
        return found

    @property
    def _off(self) -> str:
        """The column that says how many people, or kept rows, a table is off by."""
        return "rows_off" if self.spec.tables.unit.counts_rows else "people_off"

    def _fit_schema(self) -> pa.Schema:
        return pa.schema([(TABLE, LABELS), (self._off, pa.int64()), (NOISE, pa.int64())])

    # --- files ----------------------------------------------------------------------------------------------------

    def sheets(self) -> tuple[Sheet, ...]:
        """The rows first. What was drawn is in `tables` and `seed`."""
        synopsis = {sheet.name: sheet for sheet in self.tables.sheets()}
        words = pa.record_batch([integer_array(self.words)], names=[WORD])
        return (
            Sheet("release", self._row_schema(), self._row_batches, self.size, judge=self._wrong_rows),
            Sheet(
                FIT,
                self._fit_schema(),
                lambda: iter((self._fit_batch(self.rows()),)),
                self._tables,
                judge=self._wrong_fit,
            ),
            Sheet(
                MODEL, self._model_schema(), lambda: iter((self._model_batch(),)), _cells(self), judge=self._wrong_model
            ),
            synopsis["answers"],
            replace(synopsis["release"], name=TABLES),
            Sheet(SEED, words.schema, lambda: iter((words,)), len(self.words)),
        )

    @property
    def _tables(self) -> int:
        return len(self.spec.queries.sets)

    def _row_schema(self) -> pa.Schema:
        return pa.schema([(name, LABELS) for name in key_columns(self.spec.tables.request.axes, ())])

    def _row_batches(self) -> Iterator[pa.RecordBatch]:
        yield self._batch_of(self.rows())

    def _batch_of(self, rows: NDArray[np.int64]) -> pa.RecordBatch:
        axes = zip(self.spec.tables.request.axes, rows, strict=True)
        return pa.record_batch([labelled(each, all_labels(axis)) for axis, each in axes], schema=self._row_schema())

    def _model_schema(self) -> pa.Schema:
        keys = key_columns(self.spec.tables.request.axes, (CLIQUE, PROJECTED))
        return pa.schema([(CLIQUE, pa.int64()), *((name, LABELS) for name in keys), (PROJECTED, pa.float64())])

    def _model_batch(self) -> pa.RecordBatch:
        model, shape = self.model(), self.spec.queries.shape
        numbers, values = [], []
        bins: list[list[NDArray[np.int64]]] = [[] for _ in shape]
        for i, (clique, table) in enumerate(zip(model.cliques, model.tables, strict=True), 1):
            numbers.append(np.full(table.size, i, dtype=np.int64))
            values.append(table.ravel())
            inside = dict(zip(clique, np.unravel_index(np.arange(table.size), table.shape), strict=True))
            for j, size in enumerate(shape):
                bins[j].append(inside.get(j, np.full(table.size, size, dtype=np.int64)))
        keys = [
            labelled(np.concatenate(each), (*all_labels(axis), ANY))
            for axis, each in zip(self.spec.tables.request.axes, bins, strict=True)
        ]
        columns = [integer_array(np.concatenate(numbers)), *keys, pa.array(np.concatenate(values), pa.float64())]
        return pa.record_batch(columns, schema=self._model_schema())

    def _fit_batch(self, rows: NDArray[np.int64]) -> pa.RecordBatch:
        names = [axis.column for axis in self.spec.tables.request.axes]
        found = self.table_distances(rows)
        labels = [", ".join(names[i] for i in columns) for columns, _, _ in found]
        ends = [np.array([each[i] for each in found], dtype=np.int64) for i in (1, 2)]
        keys = labelled(np.arange(len(labels)), labels)
        return pa.record_batch([keys, *map(integer_array, ends)], schema=self._fit_schema())

    # --- whether published files are these ------------------------------------------------------------------------

    def _published_model(self, read: Read) -> GraphicalModel | str:
        """The model of a file, or what is wrong with its form."""
        given, shape = read(MODEL, self._model_schema()), self.spec.queries.shape
        numbers, values = given.column(CLIQUE).to_pylist(), given.column(PROJECTED)
        if None in numbers or values.null_count or numbers != sorted(numbers):
            return "its cliques are none"
        labels = [(*all_labels(axis), ANY) for axis in self.spec.tables.request.axes]
        every = np.asarray(values.to_numpy(), dtype=np.float64)
        if not np.isfinite(every).all() or (every < 0).any():
            return "its numbers are not all at least 0"
        columns = [column.to_pylist() for column in given.columns[1:-1]]
        cliques: list[Columns] = []
        tables: list[NDArray[np.float64]] = []
        for number in dict.fromkeys(numbers):
            start, stop = numbers.index(number), len(numbers) - numbers[::-1].index(number)
            clique = tuple(i for i, column in enumerate(columns) if column[start] != ANY)
            sizes = [shape[i] for i in clique]
            if math.prod(sizes) != stop - start or number != len(cliques) + 1:
                return "its cliques are none of these columns"
            at = dict(zip(clique, np.unravel_index(np.arange(stop - start), sizes), strict=True))
            for i, column in enumerate(columns):
                bins = at.get(i, np.full(stop - start, shape[i]))
                if column[start:stop] != [labels[i][b] for b in bins.tolist()]:
                    return "its cells are not those of the declared bins, in their order"
            cliques.append(clique)
            tables.append(every[start:stop].reshape(sizes))
        if new_columns(cliques, len(shape)) is None or not set(cliques) <= set(self.spec.queries.sets):
            return "its cliques are no junction tree of measured tables"
        return GraphicalModel(shape, tuple(cliques), tuple(tables))

    def _wrong_model(self, read: Read) -> str | None:
        """Guarantee: if None, the cliques are a junction tree of measured tables, and their tables are at least 0, agree, and
        are within the tolerance of the nearest such tables to the measured ones: those of the best model."""
        model = self._published_model(read)
        if isinstance(model, str):
            return model
        tables, given = workload(model.shape, model.cliques), model.every_table
        best, near = project_tables(tables, [self._floats(each) for each in tables.workload])
        off = math.sqrt(sum(float(((a - b) ** 2).sum()) for a, b in zip(best, given, strict=True)))
        if Agreeing(tables).disagreement(given) > tolerance(best):
            return "its tables do not agree with one another"
        if off + near > tolerance(best):
            return (
                "its tables are not the nearest ones of at least 0 that agree: it is not fitted to the measured tables"
            )
        return None

    def _wrong_rows(self, read: Read) -> str | None:
        """Guarantee: if None, the rows are those of the published model and the published seed."""
        model = self._published_model(read)
        if isinstance(model, str):
            return model
        wanted, given = self._batch_of(self.rows(model)), read("release", self._row_schema())
        same = given.num_rows == wanted.num_rows and all(
            mine.to_pylist() == theirs.to_pylist() for mine, theirs in zip(wanted.columns, given.columns, strict=True)
        )
        return None if same else "its rows are not those that the model and the seed make"

    def _wrong_fit(self, read: Read) -> str | None:
        """Guarantee: if None, the numbers are those of the published rows against the measured tables."""
        given, axes = read("release", self._row_schema()), self.spec.tables.request.axes
        rows = []
        for axis, column in zip(axes, given.columns, strict=True):
            known = {label: i for i, label in enumerate(all_labels(axis))}
            if not set(column.to_pylist()) <= set(known) or len(column) != self.size:
                return "the rows that it is about are none of this release"
            rows.append(np.array([known[label] for label in column.to_pylist()], dtype=np.int64))
        wanted, found = self._fit_batch(np.array(rows).reshape(len(axes), -1)), read(FIT, self._fit_schema())
        same = all(a.to_pylist() == b.to_pylist() for a, b in zip(wanted.columns, found.columns, strict=True))
        return None if same else "it is not how far the published rows are from the measured tables"

    # --- words ----------------------------------------------------------------------------------------------------

    def facts(self) -> Mapping[str, Any]:
        names, found = [axis.column for axis in self.spec.tables.request.axes], self.table_distances(self.rows())
        worst = sorted(found, key=lambda each: -each[1])[:_LISTED]
        return {
            **self.tables.facts(),
            "rows_invented": self.size,
            "seed": self.seed,
            "cliques": [[names[i] for i in clique] for clique in self.model().cliques],
            "fit": [
                {"table": [names[i] for i in columns], self._off: moved, NOISE: noise}
                for columns, moved, noise in worst
            ],
        }

    def sentences(self) -> tuple[str, ...]:
        """What has to be said beside the rows: which measured tables they follow, and how far off the worst of the others is."""
        spec, cliques = self.spec, self.model().cliques
        names = [axis.column for axis in spec.tables.request.axes]
        found = self.table_distances(self.rows())
        followed = [each for each in found if any(set(each[0]) <= set(clique) for clique in cliques)]
        others = [each for each in found if each not in followed]
        worst = max(others or found, key=lambda each: each[1])
        table, those = join_words([names[i] for i in worst[0]]), _those(spec)
        if others:
            ways = spec.queries.ways
            every = sum(len(each) == ways for each, _, _ in found)
            named = [f"by {join_words([names[i] for i in clique])}" for clique in cliques]
            which = f", those {join_words(named)}" if len(named) <= _NAMED else ""
            total, unit = self.estimate(())
            share = (
                f"{100 * worst[1] * unit / max(int(total), unit):.0f} %"  # numbers are scaled to the estimated people
            )
            fit = (
                f"The rows follow {len(cliques):,} of the {every:,} tables by {ways} columns{which}. Beyond these they take columns to "
                f"be unrelated: the table by {table} is furthest off, by {worst[1]:,} {those} ({share}), where noise alone moves about "
                f"{worst[2]:,}. For such tables cite the file answers; rows that are made from tables by {ways + 1} columns follow more."
            )
        else:
            fit = (
                f"The rows follow all {len(found):,} measured tables: the one by {table} is furthest off, by {worst[1]:,} {those}, "
                f"where noise alone moves about {worst[2]:,}."
            )
        return (
            f"{self.size:,} invented rows; no row is a person.",
            fit,
            "The file fit has every table, and nothing else is promised about how like the real people the rows are.",
            *queries_text.sentences(spec.tables)[:1],
        )

    def display(self, first: int) -> DisplayTable:
        keys = tuple(self._row_schema().names)
        batch = self._batch_of(self.rows()[:, :first])
        rows = tuple((tuple(row[name] for name in keys), (), False) for row in batch.to_pylist())
        note = "These rows are invented: no row is a person."
        ranges = tuple(map(is_ranges, self.spec.tables.request.axes))
        return DisplayTable(keys, (), rows, (note,), ranges, self.size, folded=True)

    def drawing(self) -> Drawing | None:
        """Of the tables: the rows have no more to show, and no intervals."""
        return self.tables.drawing()


def _cells(result: InventedRows) -> int:
    return sum(table.size for table in result.model().tables)


@lru_cache(maxsize=4)
def _model(result: InventedRows) -> GraphicalModel:
    queries = result.spec.queries
    measured: set[Columns] = {below for each in queries.sets for below in subsets(each)}
    tables = {each: result._floats(each) for each in measured}
    strength = dependence(tables, {each: result.deviation(each) for each in queries.sets if len(each) == queries.ways})
    cliques = junction_tree(len(queries.shape), queries.ways, strength)
    wanted = workload(queries.shape, cliques)
    found, _ = project_tables(wanted, [tables[each] for each in wanted.workload])
    return GraphicalModel(queries.shape, cliques, tuple(found[: len(cliques)]))


@lru_cache(maxsize=4)
def _rows(result: InventedRows) -> NDArray[np.int64]:
    return _model(result).rows(result.size, result.seed)


_NAMED: Final = 3  # tables that a sentence names


def describe(spec: Synthetic) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    tables = queries_text.describe(spec.tables)
    columns = join_words([axis.column for axis in spec.tables.request.axes])
    number = (
        f"about as many invented rows as there are {_those(spec)}"
        if spec.size is None
        else f"{spec.size:,} invented rows"
    )
    return replace(
        tables,
        title=f"Invented rows of {columns}",
        published=f"{number[0].upper()}{number[1:]}, and the tables by up to {spec.queries.ways} columns that they are "
        f"made from: {queries_text.how(spec.tables)}",
        headline=f"{number[0].upper()}{number[1:]}, which give about the same tables of {columns} as the real people. No row is a person",
        interval_headline="The rows have no intervals. The intervals of the tables in the file answers hold the true numbers, all at "
        f"once, with a chance of at least {to_text(100 * spec.tables.request.coverage)} %",
        entry=tables.entry.replace("queries", "synthetic rows from", 1),
        remarks=(
            *tables.remarks,
            "no row is a person: rows are drawn from a model that was fitted to the noisy tables, with a public seed, and "
            "tell nothing more about anybody than the tables do",
            "the file fit says how far each measured table of the rows is off; nothing else is promised about how like the "
            "real people the rows are, and no interval is about them",
        ),
    )


def _those(spec: Synthetic) -> str:
    return "kept rows" if spec.tables.unit.counts_rows else "people"
