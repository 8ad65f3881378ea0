"""Any declared statistic measured, and presented: count people by bin and value, draw the secret sample over
them if there is one, add up what they contribute, add noise; then work out what the noisy integers say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, Refused
from hubbub.kinds.statistic.drawn_columns import (
    NO_NUMBERS,
    Place,
    Row,
    drawn_schema,
    found_keys,
    rows_of,
    visible_columns,
)
from hubbub.kinds.statistic.mechanism import in_label_order, question, sampled
from hubbub.kinds.sums.result import Answer, Answers, drawn_columns
from hubbub.noise.sampler import wide_noise
from hubbub.noise.source import Source
from hubbub.numeric.exact_sums import sums_by
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.tables.engine import OTHER_NUMBER, ExactCounts, Joint
from hubbub.tables.kept_rows import KeptRows, within_bounds
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Declared
    from hubbub.tables.engine import Engine


def measure(spec: Declared, engine: Engine, source: Source) -> Measurement:
    """Count exactly in the engine, all values of a row in one reading; then add noise.

    Guarantee: a table of another number of people than was declared is refused before a word is drawn.
    """
    query = question(spec, by_value=True)
    if len(spec.measures) > 1:
        others = (replace(query, axes=(), where=None, measure=each) for each in spec.measures[1:])
        read = engine.kept_rows if spec.unit.counts_rows else engine.joint_count
        return Measurement(answers=release(NoisySums(spec), read((query, *others), source), source))
    exact = engine.count(query, source)
    if isinstance(spec.protection, Knowledge) and int(exact.counts.sum()) != spec.protection.people:
        raise Refused(OTHER_NUMBER)
    return Measurement(answers=release(NoisySums(spec), exact, source))


def present(spec: Declared, measurement: Measurement) -> Answers:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    rows = rows_of(spec, drawn_columns(spec), drawn)
    try:
        return Answers(spec, [answer_of(spec, row) for row in rows], found_keys(spec, drawn))
    except (ValueError, ArithmeticError):
        raise CheckFailed(NO_NUMBERS) from None


def answer_of(spec: Declared, row: Row) -> Answer:
    """What the integers of a bin say; a ValueError if they are none that such a release publishes."""
    known = tuple(each for each in row if each is not None)
    if not known:
        return Answer(row, spec.sums.hidden, is_hidden=True)
    if isinstance(spec.protection, Crowd) and known[0] < spec.protection.k:
        raise ValueError("so small a crowd is hidden")
    return Answer(row, spec.sums.estimate(known))


@dataclass(frozen=True, slots=True)
class NoisySums:
    """The mechanism: of every bin what its people contribute to each column, with noise; of a crowd also how many they
    are, exactly, and nothing of a small one.

    Guarantee: the promises of :func:`hubbub.kinds.sums.promises.promises`, if the words of the source are uniform and
    independent: one person is in one bin and moves its columns by v(x), and what comes out depends on the table through
    these columns alone, with exact noise of the declared rates.
    """

    spec: Declared

    @property
    def schema(self) -> pa.Schema:
        return drawn_schema(self.spec, drawn_columns(self.spec))

    def draw(self, exact: ExactCounts | Joint | KeptRows, source: Source) -> pa.RecordBatch:
        spec = self.spec
        cells = cells_of(spec, sampled(spec, exact, source) if isinstance(exact, ExactCounts) else exact)
        noisy = []
        for sums, rate in zip(cells.contributions(spec), spec.sums.rates, strict=True):
            noise = wide_noise(rate, cells.bins, source).tolist()
            noisy.append([total + each for total, each in zip(sums, noise, strict=True)])
        rows: list[Row] = list(zip(*noisy, strict=True))
        if isinstance(spec.protection, Crowd):
            least, hidden = spec.protection.k, (None,) * len(drawn_columns(spec))
            rows = [hidden if n < least else (n, *row) for n, row in zip(cells.people(), rows, strict=True)]
        return visible_columns(spec, drawn_columns(spec), rows, cells.found)


# --- what was counted ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """So many people with the steps x in the bin of a number; `found` says which bins those found in the data are."""

    bins: int
    places: NDArray[np.int64]
    x: tuple[NDArray[np.int64], ...]
    counts: NDArray[np.int64]
    found: list[Place] | None = None

    def contributions(self, spec: Declared) -> list[list[int]]:
        """The exact sum of each column of every bin."""
        return [self._sums(each, spec.most_added) for each in spec.sums.contribution(1, *self.x)]

    def people(self) -> list[int]:
        """Of every bin."""
        return self._sums(np.ones(len(self.counts), dtype=np.int64), 1)

    def _sums(self, values: NDArray[Any], most: int) -> list[int]:
        found: list[int] = sums_by(self.places, values, self.bins, most, self.counts).tolist()
        return found


def cells_of(spec: Declared, exact: ExactCounts | Joint | KeptRows) -> Cells:
    """What was counted by value, without whom is in no bin or lacks a value; bins that are found come in the order of
    their labels, the missing last."""
    width = spec.measured.steps + 1
    if isinstance(exact, ExactCounts):
        inside = np.flatnonzero((exact.codes >= 0) & (exact.counts > 0))
        codes, counts = exact.codes[inside], exact.counts[inside]
        places, x = codes // width, (codes % width,)
        if not spec.discovered:
            return Cells(spec.bins, places, x, counts)
        found, ordered = in_label_order(places.tolist(), inside.tolist(), exact)
        return Cells(len(ordered), np.array(found, dtype=np.int64), x, counts, ordered)
    first, *others = exact.codes
    has_all = np.min(exact.codes, axis=0) >= 0
    bins = np.where(has_all, first // width, -1)
    if isinstance(exact, KeptRows):
        assert spec.unit.bounds is not None
        counts = within_bounds(exact.person, bins, spec.unit.bounds).astype(np.int64)
    else:
        counts = np.where(bins >= 0, exact.counts, 0)
    rows = np.flatnonzero(counts > 0)
    return Cells(spec.bins, bins[rows], tuple(each[rows] for each in (first % width, *others)), counts[rows])
