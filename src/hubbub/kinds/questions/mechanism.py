"""Several questions measured and presented: count everybody once, draw one secret sample, answer all from it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, Refused
from hubbub.kinds.histogram.mechanism import VALUE
from hubbub.kinds.questions.result import Replies
from hubbub.kinds.sums.columns import Row
from hubbub.kinds.sums.mechanism import cells_of, draw_kept_people, present_rows, question, rows_in_bins
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.ranks import choose
from hubbub.serialization.arrow import integer_array
from hubbub.tables.engine import OTHER_NUMBER, Engine, ExactCounts, Joint
from hubbub.tables.kept_rows import KeptRows

if TYPE_CHECKING:
    from hubbub.kinds.questions.spec import Questions
    from hubbub.kinds.sums.spec import Statistic

_SCHEMA = pa.schema([(VALUE, pa.int64())])


@dataclass(frozen=True, slots=True)
class OneSample:
    """The mechanism of several questions: one secret sample, and noise for each question of its own.

    What is drawn are the integers of every bin of every question, one after the other: the questions in their order,
    their bins in order, and of each bin what `columns` of it names.

    Guarantee: the promises of :func:`hubbub.kinds.questions.promises.promises`, if the words of the source are uniform
    and independent: the cells are fine enough for every question, so that what each is told is of the same K people,
    of whom one who is another moves it as :class:`hubbub.kinds.sums.mechanism.NoisyBins` says.
    """

    spec: Questions
    schema: ClassVar[pa.Schema] = _SCHEMA

    def draw(self, exact: Joint | KeptRows, source: Source) -> pa.RecordBatch:
        if isinstance(exact, KeptRows):
            kept = draw_kept_people(self.spec.rows, exact, source)
            numbered = enumerate(self.spec.statistics)
            return in_one([_draw(each, rows_in_bins(each, kept, j), source) for j, each in numbered])
        drawn = choose(self.spec.rows, self.spec.of_people, source).count_drawn(exact.counts)
        both = zip(self.spec.statistics, exact.codes, strict=True)
        return in_one([_draw(each, _added(codes, drawn), source) for each, codes in both])


def measure(spec: Questions, engine: Engine, source: Source) -> Measurement:
    """Count once, then draw.

    Guarantee: a table of another number of people than was declared is refused before a word is drawn.
    """
    queries = tuple(question(each, by_value=each.measured is not None) for each in spec.statistics)
    if spec.unit.counts_rows:
        kept = engine.kept_rows(queries, source, spec.of_people)
        return Measurement(answers=release(OneSample(spec), kept, source))
    exact = engine.joint_count(queries, source)
    if int(exact.counts.sum()) != spec.of_people:
        raise Refused(OTHER_NUMBER)
    return Measurement(answers=release(OneSample(spec), exact, source))


def present(spec: Questions, measurement: Measurement) -> Replies:
    """The answers to every question; a CheckFailed if such a release cannot draw these integers."""
    drawn = measurement["answers"]
    if len(drawn) != sum(each.bins * len(each.columns) for each in spec.statistics):
        raise CheckFailed("its rows are not as many as its bins")
    values = iter(drawn.integers(VALUE).tolist())
    answers = []
    for each in spec.statistics:
        many = len(each.columns)
        answers.append(present_rows(each, [tuple(islice(values, many)) for _ in range(each.bins)]))
    return Replies(spec, tuple(answers))


def _draw(statistic: Statistic, counted: ExactCounts, source: Source) -> list[Row]:
    return statistic.draw_rows(cells_of(statistic, counted, statistic.measured is not None), source)


def in_one(rows: Sequence[Sequence[Row]]) -> pa.RecordBatch:
    """The integers of all questions under the schema of the mechanism; where people are sampled nothing is hidden."""
    every = [number for each in rows for row in each for number in row]
    return pa.record_batch([integer_array(np.array(every, dtype=np.int64))], schema=_SCHEMA)


def _added(codes: NDArray[np.int64], counts: NDArray[np.int64]) -> ExactCounts:
    """Cells that one question does not tell apart, as one."""
    different, index = np.unique(codes, return_inverse=True)
    sums = np.zeros(different.size, dtype=np.int64)
    np.add.at(sums, index, counts)
    return ExactCounts(different, sums)
