"""A class of queries measured and presented: count the cells exactly, draw the secret sample, run the method."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import ArrayLike

from hubbub.kinds.histogram.mechanism import count_cells
from hubbub.kinds.queries.result import ROUND, Synopsis
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.query_classes import boosting, weights
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.classes import Halfspaces
from hubbub.query_classes.setting import Cells
from hubbub.query_classes.setting import Drawn as Numbers
from hubbub.query_classes.weights import Weights
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.ranks import sample_counts
from hubbub.serialization.arrow import integer_array
from hubbub.tables.engine import Engine, ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.queries.spec import Queries

NUMBER, QUERY, MEASURED = "number", "query", "measured"  # columns of what is drawn


@dataclass(frozen=True, slots=True)
class Answering:
    """The mechanism of a class of queries: its method, on exact counts of everybody or of a secret sample of K people.

    Guarantee: the promises of :func:`hubbub.kinds.queries.promises.promises`, if the words of the source are uniform
    and independent: what is drawn depends on the table through the method alone. Of a method of rounds, which query
    each round chose and what it measured are drawn; weights and databases follow from these. Where several rows of a
    person count, one row is what the method is told of, and a person moves the cells by all rows that the bounds leave.
    """

    spec: Queries

    @property
    def schema(self) -> pa.Schema:
        names = (ROUND, QUERY, MEASURED) if in_rounds(self.spec) else (NUMBER,)
        return pa.schema([(name, pa.int64()) for name in names])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        spec, inside = self.spec, exact.codes >= 0
        codes, counts, outside = exact.codes[inside], exact.counts[inside], int(exact.counts[~inside].sum())
        if spec.request.rows is not None:
            sample = sample_counts(np.append(counts, np.int64(outside)), spec.request.rows, source)
            counts, outside = sample[:-1], int(sample[-1])
        cells = Cells(spec.queries.shape, codes, counts, outside)
        drawn = spec.method.draw(spec.setting, cells, source)
        if not in_rounds(spec):
            return in_columns(self, drawn.numbers)
        assert not isinstance(spec.queries, Halfspaces)
        indices = [spec.queries.index_of(query) for query, _ in drawn.rounds if isinstance(query, tuple)]
        times = drawn.times or tuple(range(1, len(indices) + 1))
        return in_columns(self, times, indices, [noisy for _, noisy in drawn.rounds])


def in_rounds(spec: Queries) -> bool:
    """Whether the method chooses queries round after round."""
    return isinstance(spec.method, Weights | Boosting)


def in_columns(mechanism: Answering, *columns: ArrayLike) -> pa.RecordBatch:
    """What was drawn, under the schema of the mechanism."""
    return pa.record_batch(
        [integer_array(np.asarray(each, dtype=np.int64)) for each in columns], schema=mechanism.schema
    )


def measure(spec: Queries, engine: Engine, source: Source) -> Measurement:
    """Count the cells, and draw. A table of another number of people is refused before a word is drawn."""
    counted = count_cells(spec.request.axes, spec.unit, engine, source, spec.request.people)
    return Measurement(synopsis=release(Answering(spec), counted, source))


def present(spec: Queries, measurement: Measurement) -> Synopsis:
    """The synopsis; of a method of rounds, what follows from its choices and measurements.

    Guarantee: what was loaded from published files answers as the release did.
    """
    drawn = measurement["synopsis"]
    if not in_rounds(spec):
        return Synopsis(spec, Numbers(drawn.integers(NUMBER)))
    assert not isinstance(spec.queries, Halfspaces)
    indices, measured = drawn.integers(QUERY).tolist(), drawn.integers(MEASURED).tolist()
    rounds = tuple(zip(map(spec.queries.at, indices), measured, strict=True))
    if isinstance(spec.method, Weights):
        return Synopsis(spec, Numbers(weights.replayed(spec.setting, rounds), rounds))
    assert isinstance(spec.method, Boosting)
    known = Numbers(np.zeros(0, dtype=np.int64), rounds, tuple(drawn.integers(ROUND).tolist()))
    return Synopsis(spec, replace(known, numbers=boosting.replayed(spec.setting, spec.method, known)))
