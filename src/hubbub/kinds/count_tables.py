"""Tables of counts are one measurement.

::

    x            exact counts of the cells of a public partition: whole numbers, which one person moves a little
    W            a public matrix of whole numbers: the *strategy*, chosen before any data is opened
    Z            exact noise, independent from number to number
    W x + Z      what is drawn, and all that is ever known of x
    estimates    a function of W x + Z: unbiased answers to what was asked, each with an interval from the law of Z

What differs from release to release is the strategy, a frozen value with its own rows, noise, estimates and intervals:

::

    strategy            rows of W                            noise           whose
    identity            every cell                           any channel     histogram, records; a cube of crowds
    margins             every table by some columns          geometric       cube, queries, synthetic
    residual bases      what a table says beyond the smaller Gaussian        cube, queries, synthetic
    blocks in time      increments, and runs of them         geometric       series; queries, as a tree
    a factor in time    a root of the running sums           Gaussian        series, queries

Everything else is here, once: what an engine is asked so that a person counts as declared (:func:`ask_counts`,
:func:`count_cells`), the mechanism that stands between the counts and what is published (:class:`CountTables`), and how what
it drew is read back from a file (:func:`read_numbers`). How far W x moves with one person, and so what is lost, stands with
each strategy, under its *Guarantee*; what is promised follows from that before anything is counted.

Not every table of counts is linear. A channel may hide a count or say what it did to it, domains may be too large to list,
and bins may be found in the data; so the identity of the histogram (:class:`hubbub.kinds.histogram.mechanism.Bins`) draws
tags and labels beside numbers, and is a mechanism of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.protocol.measurement import Drawn, loaded
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables.bins import Axis, Countable, Declared, all_labels, size

if TYPE_CHECKING:
    from hubbub.noise.source import Source
    from hubbub.serialization.published_files import Files
    from hubbub.tables.bounded_column import Measure
    from hubbub.tables.condition import Condition
    from hubbub.tables.engine import CountQuery, Engine, ExactCounts
    from hubbub.tables.privacy_unit import Unit

BEYOND: Final = (
    "a row lies beyond the declared bins, because the file says other things of itself than it holds; write it anew"
)


class Strategy(Protocol):
    """Which rows of a public matrix are drawn of exact counts, and with which noise."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of what is drawn, all of whole numbers."""
        ...

    def draw(self, exact: Any, source: Source) -> Sequence[ArrayLike]:
        """The numbers of each column: rows of the matrix times the exact counts, with noise."""
        ...


@dataclass(frozen=True, slots=True)
class CountTables:
    """The mechanism: exact counts go in, and the noisy numbers of the strategy come out, under its columns.

    Guarantee: that of the strategy. Nothing but its numbers is drawn.
    """

    strategy: Strategy

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, pa.int64()) for name in self.strategy.columns])

    def draw(self, exact: Any, source: Source) -> pa.RecordBatch:
        return self._batch(self.strategy.draw(exact, source))

    def load(self, *columns: ArrayLike) -> Drawn:
        """The same numbers, as published files say that they were drawn."""
        return loaded(self.schema, self._batch(columns))

    def _batch(self, columns: Sequence[ArrayLike]) -> pa.RecordBatch:
        arrays = [integer_array(np.asarray(each, dtype=np.int64)) for each in columns]
        return pa.record_batch(arrays, schema=self.schema)


def read_numbers(
    files: Files, sheet: str, schema: pa.Schema, column: str, rows: int, missing: int | None = None
) -> NDArray[np.int64]:
    """The whole numbers of a published column; `missing` stands for one that is not there.

    Guarantee: as many as there must be, and none missing unless that has a meaning; otherwise the file is refused.
    """
    numbers = files.table(sheet, schema, [column]).column(column).to_pylist()
    if len(numbers) != rows or (missing is None and None in numbers):
        raise CheckFailed("it has other rows than are described")
    return np.array([missing if each is None else each for each in numbers], dtype=np.int64)


def label_cells(axes: Sequence[Declared], codes: NDArray[np.int64]) -> list[pa.DictionaryArray]:
    """The key columns of some cells, which are numbered with the last column fastest; one beyond the last has no labels."""
    sizes = [size(axis) for axis in axes]
    beyond = codes >= prod(sizes)
    bins = np.unravel_index(np.where(beyond, 0, codes), sizes) if sizes else ()
    return [
        labelled(np.where(beyond, size(axis), each), (*all_labels(axis), None))
        for axis, each in zip(axes, bins, strict=True)
    ]


# --- what an engine is asked ----------------------------------------------------------------------------------------


def ask_counts(
    axes: tuple[Countable, ...], unit: Unit, *, where: Condition | None = None, measure: Measure | None = None
) -> CountQuery:
    """What an engine is asked, so that a person counts as the unit says."""
    from hubbub.tables.contribution import MultiRowPolicy
    from hubbub.tables.engine import CountQuery

    repeats, most_bins = unit.one_row, 1
    if unit.bounds is not None:
        repeats = MultiRowPolicy.BOUNDED
    elif unit.distinct is not None:
        repeats, most_bins = MultiRowPolicy.DISTINCT, unit.distinct
    return CountQuery(
        axes=axes,
        person=unit.person,
        repeats=repeats,
        most_bins=most_bins,
        where=where,
        measure=measure,
        bounds=unit.bounds,
    )


def count_cells(
    axes: tuple[Axis, ...], unit: Unit, engine: Engine, source: Source, people: int | None = None
) -> ExactCounts:
    """The exact counts of a table of counts, whatever is then drawn from them. Where the number of `people` is public, a
    table of another number is refused before a word is drawn."""
    from hubbub.tables.engine import OTHER_NUMBER

    asked = ask_counts(axes, unit)
    if people is None:
        return engine.count(asked, source)
    exact = engine.count(replace(asked, everybody=True), source)
    if int(exact.counts.sum()) != people:
        raise Refused(OTHER_NUMBER)
    return exact


def every_bin(counted: ExactCounts, total: int) -> NDArray[np.int64]:
    """Empty bins are bins: a count for every declared one."""
    if counted.codes.size and not 0 <= counted.codes.min() <= counted.codes.max() < total:
        raise WrongUse(BEYOND)
    counts = np.zeros(total, dtype=np.int64)
    counts[counted.codes] = counted.counts
    return counts
