"""What a release of a class of queries published, and the answers that follow from it. Holds nothing of the data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import islice
from math import ceil, floor
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.kinds.count_tables import label_cells
from hubbub.kinds.queries import chart, consistency, text
from hubbub.kinds.queries.query_text import (
    ANY,
    Words,
    box_of,
    key_names,
    keys_of,
    label_at,
    parts_in,
    parts_of_query,
    queries_of,
)
from hubbub.numeric.clamped_interval import clamp, clamped_interval
from hubbub.numeric.exact import to_float
from hubbub.numeric.format import numbers
from hubbub.protocol.drawing import Drawing
from hubbub.protocol.result import DisplayTable, Result, Sheet
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.choice import parameters
from hubbub.query_classes.classes import Halfspaces, NamedTables, Query, cells_of, log_growth
from hubbub.query_classes.flat import Flat, PerQuery
from hubbub.query_classes.marginals.residual import positions
from hubbub.query_classes.residual import Residual, of_setting
from hubbub.query_classes.setting import Drawn
from hubbub.query_classes.small_databases import SmallDatabase
from hubbub.query_classes.split_tables import SplitTables
from hubbub.query_classes.square_root import SquareRoot
from hubbub.query_classes.table_method import TableMethod
from hubbub.query_classes.tree import Tree, levels
from hubbub.query_classes.weights import Weights
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables.bins import all_labels, size
from hubbub.tables.key_columns import key_columns
from hubbub.tables.labels import is_ranges

if TYPE_CHECKING:
    from hubbub.kinds.queries.spec import Queries

_BATCH: Final = 1 << 20
_RELATIVE_ERROR: Final = Fraction(1, 2**40)  # of a weight, which machines round differently
_LABELS: Final = pa.dictionary(pa.int32(), pa.string())
FITTED: Final = "fitted"
_ANSWER: Final = (FITTED, "estimate", "low", "high", "own_low", "own_high")
PART: Final = "part"
ROUND: Final = "round"
PARTS: Final = ("cell", "in no cell")
NUMBER: Final = {
    "per-query": "count",
    "histogram": "count",
    "tree": "count",
    "mwem": "weight",
    "small-database": "rows",
    "boosting": "rows",
    "residual": "difference",
    "split-tables": "count",
    "joint-tables": "count",
    "square-root": "weighted",
}
"""What the numbers of each method are called in its file."""
OURS: Final = (*_ANSWER, *NUMBER.values(), PART, ROUND, "level", "measured")
"""Columns of the files that are ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How many people a query counts: an estimate, how far it may be off, and the interval that follows.

    `fitted` is what follows from the published numbers: answers that overlap agree in it, and it may be below 0. The
    estimate is the possible number nearest to it.

    With the coverage of the release, the intervals of all queries of the class hold at once. The `own` one, which is
    shorter, holds as often for a query that was chosen before the answers were seen.
    """

    query: Mapping[str, Any]
    fitted: Fraction
    estimate: Fraction
    bound: Fraction
    low: int
    high: int
    own_bound: Fraction
    own_low: int
    own_high: int
    counted_noun: str = "people"

    def sentence(self) -> str:
        """The same in words."""
        own_bound = (
            ""
            if self.own_bound >= self.bound
            else f" Taken alone, it is off by at most {ceil(self.own_bound):,}: between {self.own_low:,} and "
            f"{self.own_high:,}."
        )
        return (
            f"About {max(round(self.estimate), self.low):,} {self.counted_noun}, between {self.low:,} and {self.high:,}: the estimate is off by at "
            f"most {ceil(self.bound):,}, like all others of the class at once.{own_bound}"
        )

    def as_json(self) -> dict[str, Any]:
        known = {"query": dict(self.query), "fitted": float(self.fitted), "estimate": float(self.estimate)}
        own = {"own_bound": to_float(self.own_bound, round_up=True), "own_low": self.own_low, "own_high": self.own_high}
        return {**known, "bound": to_float(self.bound, round_up=True), "low": self.low, "high": self.high, **own}


@dataclass(frozen=True, slots=True, eq=False)
class Synopsis(Result):
    """The published numbers of a method. `answer` tells what they say about any query of the class."""

    spec: Queries
    drawn: Drawn

    def answer(self, words: Words) -> Answer:
        """How many people are like this: ``{"sex": "F", "town": "Bath"}``.

        Guarantee: with the coverage of the release, every query of the class is within its bound, all of them at once.
        What is no query of the class but the sum of some that count nobody twice, such as one column alone of
        marginals:2, is then within the sum of their bounds. Taken alone, Gaussian noise of tables has an exact bound.
        """
        spec = self.spec
        several = queries_of(words, spec.request.axes, spec.queries)
        if len(several) == 1:
            return self.answer_to(several[0])
        every = [self.answer_to(each) for each in several]
        fitted = sum((each.fitted for each in every), Fraction(0))
        bound = sum((each.bound for each in every), Fraction(0))
        box = box_of(words, spec.request.axes)
        if isinstance(spec.method, Residual) and spec.method.answers_box(spec.setting, box):
            return self._answer(dict(words), fitted, bound, spec.method.own_bound(spec.setting, box))
        return self._answer(dict(words), fitted, bound, bound)

    def words(self, texts: Sequence[str]) -> dict[str, Any]:
        """A query in the words of a command: ``sex=F``, ``age=[20,25)..[60,65)``."""
        return parts_in(texts, self.spec.request.axes, self.spec.queries)

    def answer_to(self, query: Query) -> Answer:
        """The same for a query of the class."""
        spec = self.spec
        fitted = spec.request.scale * spec.method.answer(spec.setting, self.drawn, query)
        named = parts_of_query(query, spec.request.axes)
        return self._answer(named, fitted, spec.bound_of(query), spec.own_bound_of(query))

    def _answer(self, query: Mapping[str, Any], fitted: Fraction, bound: Fraction, own: Fraction) -> Answer:
        (low, high), (own_low, own_high) = self._ends_of(fitted, bound), self._ends_of(fitted, min(own, bound))
        return Answer(
            query=query,
            fitted=fitted,
            estimate=clamp(fitted, Fraction(0), self._most),
            bound=bound,
            low=low,
            high=high,
            own_bound=min(own, bound),
            own_low=own_low,
            own_high=own_high,
            counted_noun=self.spec.counted_noun,
        )

    @property
    def _most(self) -> Fraction | None:
        """The most that an answer can be, if that is public."""
        people = self.spec.request.people
        return None if people is None else Fraction(people)

    def _ends_of(self, fitted: Fraction, bound: Fraction) -> tuple[int, int]:
        low, high = clamped_interval(fitted, bound, Fraction(0), self._most)
        return ceil(low), floor(high)

    def synthetic(self, rows: int | None = None) -> pa.Table:
        """Invented people with about the published answers: so many rows, or as many as the synopsis counts.

        It is worked out from what is published, so it costs nothing; nothing is proved about how near it is where
        the method published noisy counts, since counts below 0 become 0.
        """
        spec = self.spec
        if isinstance(spec.method, PerQuery | TableMethod | SquareRoot):
            raise WrongUse("this method published answers and no cells; ask for another one, like `method=mwem`")
        times = spec.method.rounds if isinstance(spec.method, Boosting) else 1
        every = self.drawn.numbers.reshape(times, -1).sum(axis=0)
        inside = every[: cells_of(spec.queries.shape)].astype(float)
        shares = np.maximum(inside, 0.0)
        total = rows if rows is not None else round(float(spec.request.scale) * self._people_in(shares))
        copies = _apportion(shares, total)
        indices = np.repeat(np.arange(shares.size), copies)
        bins = np.unravel_index(indices, spec.queries.shape)
        columns = [
            pa.array([label_at(axis, i) for i in each.tolist()], pa.string())
            for axis, each in zip(spec.request.axes, bins, strict=True)
        ]
        return pa.table(columns, names=[axis.column for axis in spec.request.axes])

    def _people_in(self, shares: NDArray[np.float64]) -> float:
        """How many people of those that the method saw these are."""
        seen, method = self.spec.setting.rows, self.spec.method
        if seen is None or isinstance(method, Flat | Tree):
            return float(shares.sum())
        if isinstance(method, Boosting):
            return seen * float(shares.sum()) / (method.size * method.rounds)
        return seen * float(shares.sum()) / (method.size if isinstance(method, SmallDatabase) else 1)

    # --- files --------------------------------------------------------------------------------------------------------

    @property
    def number(self) -> str:
        """What the published numbers are called."""
        name, unit = NUMBER[self.spec.method.name], self.spec.unit
        return unit.rows_column if unit.counts_rows and name == "count" else name

    def sheets(self) -> tuple[Sheet, ...]:
        main = Sheet("release", self._schema(), self._batches, int(self.drawn.numbers.size), self._tolerance())
        queries, method = self.spec.queries, self.spec.method
        found = [main]
        if isinstance(queries, Halfspaces):
            return (main,)
        if self.spec.lists_answers:
            schema = self._answers_schema()
            found.append(Sheet("answers", schema, self._answers, queries.number, self._tolerance()))
        if isinstance(queries, NamedTables) and isinstance(method, TableMethod):
            found += [self._table_sheet(queries, i) for i in range(len(queries.tables))]
        if self.spec.consistent:
            found.append(consistency.sheet(self))
        if isinstance(method, Weights | Boosting):
            rounds = self.rounds()
            found.append(Sheet("rounds", rounds.schema, lambda: iter((rounds,)), rounds.num_rows))
        return tuple(found)

    def _table_sheet(self, queries: NamedTables, which: int) -> Sheet:
        """One table by its own columns alone, in a file of its name."""
        table, names = queries.tables[which], [name for name, _ in self._keys()]
        schema = pa.schema([*((names[i], _LABELS) for i in table.columns), *self._fitted_column(), *self._ends()])

        def batches() -> Iterator[pa.RecordBatch]:
            whole = next(islice(self._answers(), which, None))
            yield whole.select(schema.names)

        return Sheet(table.name, schema, batches, queries.starts[which + 1] - queries.starts[which])

    def _tolerance(self) -> dict[str, Fraction]:
        """Weights are sums of floats."""
        if not isinstance(self.spec.method, Weights):
            return {}
        return {"weight": _RELATIVE_ERROR, "estimate": _RELATIVE_ERROR * (self.spec.request.people or 1)}

    def _keys(self) -> list[tuple[str, pa.DataType]]:
        names = key_names(self.spec.request.axes, self.spec.queries, (self.number, *_ANSWER))
        return [(name, _LABELS) for name in names]

    def _ends(self) -> list[tuple[str, pa.DataType]]:
        names = _ANSWER[2:] if self.spec.has_own_intervals else _ANSWER[2:4]
        return [("estimate", pa.float64()), *((name, pa.int64()) for name in names)]

    def _fitted_column(self) -> list[tuple[str, pa.DataType]]:
        """The column of fitted answers, where these may differ from the estimates."""
        return [(FITTED, pa.float64())] if self.spec.may_be_impossible else []

    def _answers_schema(self) -> pa.Schema:
        return pa.schema([*self._keys(), *self._fitted_column(), *self._ends()])

    def _schema(self) -> pa.Schema:
        return pa.schema([(name, column.type) for name, column in self._columns(0, 0).items()])

    def _batches(self) -> Iterator[pa.RecordBatch]:
        schema, total = self._schema(), self.drawn.numbers.size
        for start in range(0, total, _BATCH):
            yield pa.record_batch([*self._columns(start, min(start + _BATCH, total)).values()], schema=schema)

    def _columns(self, start: int, stop: int) -> dict[str, pa.Array]:
        """Some rows of the file of what was drawn: which query, run or cell a number is of, and the number."""
        spec, some, places = self.spec, self.drawn.numbers[start:stop], np.arange(start, stop)
        names, axes = [name for name, _ in self._keys()], spec.request.axes
        number = {self.number: _floats(some) if isinstance(spec.method, Weights) else integer_array(some)}
        match spec.method:
            case PerQuery():
                assert not isinstance(spec.queries, Halfspaces)
                values, which = np.unique(some, return_inverse=True)
                own = spec.own_bound_of(spec.queries.at(0))
                _, *answers = self._answer_columns(values.astype(object), 1, spec.bound, own)
                ends = [column.take(integer_array(which.astype(np.int64))) for column in answers]
                keys = dict(zip(names, keys_of(places, axes, spec.queries), strict=True))
                return {**keys, **number, **dict(zip([name for name, _ in self._ends()], ends, strict=True))}
            case SplitTables():
                drawn = spec.method.drawn_tables(spec.queries)
                return dict(zip(names, keys_of(places, axes, drawn), strict=True)) | number
            case Residual():
                bins = zip(names, axes, positions(of_setting(spec.setting)), strict=True)
                return {
                    name: labelled(each[start:stop], (*all_labels(axis), ANY)) for name, axis, each in bins
                } | number
            case Tree(branching=branching):
                return dict(zip(("level", *names), _runs(spec, branching, start, stop), strict=True)) | number
            case Boosting(rounds=rounds):
                each = spec.rows_published // rounds
                return {ROUND: integer_array(places // each + 1), **self._cell_columns(places % each), **number}
            case _:
                return self._cell_columns(places) | number

    def _cell_columns(self, codes: NDArray[np.int64]) -> dict[str, pa.Array]:
        """The keys of cells, and who is in none."""
        ours = (PART, self.number, *((ROUND,) if isinstance(self.spec.method, Boosting) else ()))
        outside = codes >= cells_of(self.spec.queries.shape)
        keys = zip(key_columns(self.spec.request.axes, ours), label_cells(self.spec.request.axes, codes), strict=True)
        return {**dict(keys), PART: labelled(outside.astype(np.int64), PARTS)}

    def _answer_columns(self, scaled: NDArray[Any], scale: int, bound: Fraction, own: Fraction) -> list[pa.Array]:
        """What the method says, as whole numbers over one scale, all within one bound; then estimates and intervals."""
        more = self.spec.request.scale
        above, below = scaled.astype(object) * more.numerator, scale * more.denominator
        ends, most = [], self.spec.request.people
        possible = np.clip(above, 0, None if most is None else most * below)
        for each in (bound, own) if self.spec.has_own_intervals else (bound,):
            unit, reach = below * each.denominator, each.numerator * below
            near = possible * each.denominator
            ends += [-((reach - near) // unit), (near + reach) // unit]
        kept = (np.clip(end, 0, most) for end in ends)
        return [
            *(_floats(np.array(numbers / below, dtype=np.float64)) for numbers in (above, possible)),
            *(integer_array(np.array(end, dtype=np.int64)) for end in kept),
        ]

    def _answers(self) -> Iterator[pa.RecordBatch]:
        spec = self.spec
        assert not isinstance(spec.queries, Halfspaces)
        setting, schema = spec.setting, self._answers_schema()
        if isinstance(spec.method, TableMethod):
            start = 0
            for table in spec.method.every_answer(setting, self.drawn):
                stop = start + table.scaled.size
                keys = keys_of(np.arange(start, stop), spec.request.axes, spec.queries)
                bounds = min(table.bound, spec.bound), min(table.own_bound, table.bound, spec.bound)
                columns = self._answer_columns(table.scaled.ravel(), table.scale, *bounds)
                yield pa.record_batch([*keys, *columns], schema=schema)
                start = stop
            return
        answers = [self.answer_to(spec.queries.at(place)) for place in range(spec.queries.number)]
        keys = keys_of(np.arange(len(answers)), spec.request.axes, spec.queries)
        columns = []
        for name, kind in (*self._fitted_column(), *self._ends()):
            values = [getattr(each, name) for each in answers]
            whole = pa.types.is_integer(kind)
            columns.append(
                integer_array(np.array(values, dtype=np.int64))
                if whole
                else _floats(np.array(list(map(float, values))))
            )
        yield pa.record_batch([*keys, *columns], schema=schema)

    def rounds(self) -> pa.RecordBatch:
        """What each round chose and measured: the weights follow from it."""
        spec = self.spec
        assert not isinstance(spec.queries, Halfspaces)
        indices = [spec.queries.index_of(query) for query, _ in self.drawn.rounds if isinstance(query, tuple)]
        keys = keys_of(np.array(indices, dtype=np.int64), spec.request.axes, spec.queries)
        measured = np.array([noisy for _, noisy in self.drawn.rounds], dtype=np.int64)
        names = key_names(spec.request.axes, spec.queries, (ROUND, "measured"))
        labels = [(name, _LABELS) for name in names]
        schema = pa.schema([(ROUND, pa.int64()), *labels, ("measured", pa.int64())])
        times = np.array(self.drawn.times, dtype=np.int64) if self.drawn.times else np.arange(1, measured.size + 1)
        return pa.record_batch([integer_array(times), *keys, integer_array(measured)], schema=schema)

    # --- words --------------------------------------------------------------------------------------------------------

    def facts(self) -> Mapping[str, Any]:
        from hubbub.kinds.queries.spec import all_offers

        request, queries = self.spec.request, self.spec.queries
        others = [each for each in all_offers(request) if each.name != self.spec.method.name]
        return {
            "class": request.of,
            "queries": None if isinstance(queries, Halfspaces) else queries.number,
            "cells": cells_of(queries.shape),
            "method": self.spec.method.name,
            "parameters": parameters(self.spec.method),
            **numbers(bound=self.spec.bound),
            "bound_as_share": None if not request.people else to_float(self.spec.bound / request.people, round_up=True),
            "sampling_error": to_float(request.sampling_error(), round_up=True),
            "coverage": float(request.coverage),
            "other_methods": [
                {
                    "name": each.name,
                    "bound": None if each.bound is None else to_float(request.everybody(each.bound), round_up=True),
                    "why_not": each.why_not or None,
                    **({} if each.mean_square is None else {"root_mean_square": math.sqrt(each.mean_square)}),
                }
                for each in others
            ],
            "vc_dimension_at_most": queries.dimension,
            "log_growth_at_most": to_float(log_growth(queries, request.people), round_up=True)
            if request.people
            else to_float(queries.log_number, round_up=True),
            "people": request.people,
            "rows": request.rows,
            "counts": text.estimand_facts(self.spec),
            **({} if request.unit.bounds is None else {"bounds": request.unit.bounds.to_json()}),
        }

    def sentences(self) -> tuple[str, ...]:
        return text.sentences(self.spec)

    def exactness(self) -> tuple[str, ...]:
        return (text.exactness(self.spec),)

    def display(self, first: int) -> DisplayTable:
        """The answers of the class, each with its interval, where they are listed; else what the method published."""
        sheets = {sheet.name: sheet for sheet in self.sheets()}
        method, queries = self.spec.method, self.spec.queries
        sheet = sheets["release"] if isinstance(method, PerQuery) else sheets.get("answers")
        if sheet is None or isinstance(queries, Halfspaces):
            return Result.display(self, first)
        keys, axes = [name for name, _ in self._keys()], self.spec.request.axes
        runs = len(keys) > len(axes)  # a first and a last bin of each column
        rows = []
        for row in islice((row for batch in sheet.batches() for row in batch.to_pylist()), first):
            interval = f"{row['low']:,} to {row['high']:,}"
            labels = [row[name] for name in keys]
            named = tuple(map(_run, labels[::2], labels[1::2])) if runs else tuple(labels)
            rows.append((named, (f"{round(row['estimate']):,}", interval), False))
        keys = [axis.column for axis in axes] if runs else keys
        ranges = tuple(any(map(is_ranges, axes)) for _ in keys)
        note = f"A number is off by at most {ceil(self.spec.bound):,}, all of them at once: {text.interval_sentence(self.spec)}."
        return DisplayTable(
            tuple(keys), (f"{self.spec.counted_noun}, about", "interval"), tuple(rows), (note,), ranges, sheet.rows
        )

    def disjoint_counts(self) -> str | None:
        """None: what is shown are answers, and queries overlap."""
        return None

    def drawing(self) -> Drawing | None:
        return chart.drawing(self)


def _run(first: str, last: str) -> str:
    """A run of bins by its first and its last; one of ranges is a range.

    >>> _run("[0,10)", "[30,40)"), _run("2026-01", "2026-03"), _run("Bath", "Bath")
    ('[0,40)', '2026-01 to 2026-03', 'Bath')
    """
    if first.startswith("[") and last.endswith(")"):
        return f"{first.partition(',')[0]},{last.rpartition(',')[2]}"
    return first if first == last else f"{first} to {last}"


def _runs(spec: Queries, branching: int, start: int, stop: int) -> list[pa.Array]:
    """The level of each run, and its first and last bin."""
    axis = spec.request.axes[0]
    sizes = levels(size(axis), branching)
    ends = np.cumsum(sizes)
    indices = np.arange(start, stop)
    level = np.searchsorted(ends, indices, side="right")
    index = indices - np.concatenate([[0], ends])[level]
    step = np.array([branching**i for i in range(len(sizes))], dtype=np.int64)[level]
    first = index * step
    last = np.minimum(first + step, size(axis)) - 1
    return [integer_array(level.astype(np.int64)), labelled(first, all_labels(axis)), labelled(last, all_labels(axis))]


def _floats(values: NDArray[np.float64]) -> pa.Array:
    return pa.Array.from_buffers(pa.float64(), values.size, [None, pa.py_buffer(np.ascontiguousarray(values))])


def _apportion(shares: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Whole numbers in about these shares: the largest remainders are rounded up."""
    everything = float(shares.sum())
    wanted = shares * (total / everything) if everything > 0 else np.full(shares.size, total / shares.size)
    found = np.floor(wanted).astype(np.int64)
    short = total - int(found.sum())
    found[np.argsort(found - wanted, kind="stable")[: max(short, 0)]] += 1
    return found
