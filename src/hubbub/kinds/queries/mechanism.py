"""A class of queries measured, read back and presented: count the cells exactly, draw the secret sample, run the method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.errors import CheckFailed
from hubbub.kinds.count_tables import CountTables, count_cells, read_numbers
from hubbub.kinds.queries.query_text import ANY
from hubbub.kinds.queries.result import ROUND, Synopsis
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.query_classes import boosting, weights
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.classes import Box, ColumnCells, Halfspaces
from hubbub.query_classes.setting import Cells
from hubbub.query_classes.setting import Drawn as Numbers
from hubbub.query_classes.small_databases import SmallDatabase
from hubbub.query_classes.weights import Weights
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.ranks import sample_counts
from hubbub.serialization.published_files import Files
from hubbub.tables.bins import all_labels, size
from hubbub.tables.engine import Engine, ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.queries.spec import Queries

NUMBER, QUERY, MEASURED = "number", "query", "measured"  # columns of what is drawn


@dataclass(frozen=True, slots=True)
class Answers:
    """The strategy of a class of queries: its method, on exact counts of everybody or of a secret sample of K people.

    Guarantee: the promises of :func:`hubbub.kinds.queries.promises.promises`, if the words of the source are uniform
    and independent: what is drawn depends on the table through the method alone. Of a method of rounds, which query
    each round chose and what it measured are drawn; weights and databases follow from these. Where several rows of a
    person count, one row is what the method is told of, and a person moves the cells by all rows that the bounds leave.
    """

    spec: Queries

    @property
    def columns(self) -> tuple[str, ...]:
        return (ROUND, QUERY, MEASURED) if has_rounds(self.spec) else (NUMBER,)

    def draw(self, exact: ExactCounts, source: Source) -> Sequence[ArrayLike]:
        spec, inside = self.spec, exact.codes >= 0
        codes, counts, outside = exact.codes[inside], exact.counts[inside], int(exact.counts[~inside].sum())
        if spec.request.rows is not None:
            sample = sample_counts(np.append(counts, np.int64(outside)), spec.request.rows, source)
            counts, outside = sample[:-1], int(sample[-1])
        cells = Cells(spec.queries.shape, codes, counts, outside)
        drawn = spec.method.draw(spec.setting, cells, source)
        if not has_rounds(spec):
            return (drawn.numbers,)
        assert not isinstance(spec.queries, Halfspaces)
        indices = [spec.queries.index_of(query) for query, _ in drawn.rounds if isinstance(query, tuple)]
        times = drawn.times or tuple(range(1, len(indices) + 1))
        return times, indices, [noisy for _, noisy in drawn.rounds]


def has_rounds(spec: Queries) -> bool:
    """Whether the method chooses queries round after round."""
    return isinstance(spec.method, Weights | Boosting)


def measure(spec: Queries, data: Engine, source: Source) -> Measurement:
    """Count the cells, and draw. A table of another number of people is refused before a word is drawn."""
    counted = count_cells(spec.request.axes, spec.unit, data, source, spec.request.people)
    return Measurement(synopsis=release(CountTables(Answers(spec)), counted, source))


def present(spec: Queries, measurement: Measurement) -> Synopsis:
    """The synopsis; of a method of rounds, what follows from its choices and measurements.

    Guarantee: what was loaded from published files answers as the release did.
    """
    drawn = measurement["synopsis"]
    if not has_rounds(spec):
        return Synopsis(spec, Numbers(drawn.integers(NUMBER)))
    assert not isinstance(spec.queries, Halfspaces)
    indices, measured = drawn.integers(QUERY).tolist(), drawn.integers(MEASURED).tolist()
    rounds = tuple(zip(map(spec.queries.at, indices), measured, strict=True))
    if isinstance(spec.method, Weights):
        return Synopsis(spec, Numbers(weights.replay_weights(spec.setting, rounds), rounds))
    assert isinstance(spec.method, Boosting)
    known = Numbers(np.zeros(0, dtype=np.int64), rounds, tuple(drawn.integers(ROUND).tolist()))
    return Synopsis(spec, replace(known, numbers=boosting.replay_databases(spec.setting, spec.method, known)))


# --- what was published, read back --------------------------------------------------------------------------------------


def load(spec: Queries, files: Files) -> Measurement:
    """What was drawn.

    Guarantee: as many numbers, or rounds, as the method draws; queries of the class; invented rows as many as the
    method invents. Otherwise the files are refused.
    """
    columns = _rounds(spec, files) if has_rounds(spec) else (_numbers(spec, files),)
    return Measurement(synopsis=CountTables(Answers(spec)).load(*columns))


def _numbers(spec: Queries, files: Files) -> NDArray[np.int64]:
    blank = Synopsis(spec, Numbers(np.zeros(0, dtype=np.int64)))
    found = read_numbers(files, "release", blank.sheets()[0].schema, blank.number, spec.rows_published)
    if isinstance(spec.method, SmallDatabase) and (found.min() < 0 or found.sum() != spec.method.size):
        raise CheckFailed("its numbers are no database of as many rows as are described")
    return found


def _rounds(spec: Queries, files: Files) -> tuple[list[int], list[int], list[int]]:
    """The round, the query and the measurement of every row."""
    method, blank = spec.method, Synopsis(spec, Numbers(np.zeros(0, dtype=np.int64)))
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
