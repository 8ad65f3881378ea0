"""A spread measured and presented: count people by bin and value, draw the secret sample over them if there is one, add
noise to sums of squares; then work out what the drawn integers say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import CheckFailed, Refused
from hubbub.kinds.moments.estimates import answers_of
from hubbub.kinds.moments.result import Spreads, drawn_columns
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
from hubbub.noise.sampler import wide_noise
from hubbub.noise.source import Source
from hubbub.numeric.exact_sums import sums_by
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.tables.engine import OTHER_NUMBER, ExactCounts
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments
    from hubbub.kinds.statistic.spec import Statistic
    from hubbub.tables.engine import Engine


def measure(spec: Moments, engine: Engine, source: Source) -> Measurement:
    """Count exactly in the engine, then add noise.

    Guarantee: a table of another number of people than was declared is refused before a word is drawn.
    """
    exact = engine.count(question(spec, by_value=True), source)
    if isinstance(spec.protection, Knowledge) and int(exact.counts.sum()) != spec.protection.people:
        raise Refused(OTHER_NUMBER)
    return Measurement(answers=release(SquareSums(spec), exact, source))


def present(spec: Moments, measurement: Measurement) -> Spreads:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    rows = rows_of(spec, drawn_columns(spec), drawn)
    try:
        return Spreads(spec, answers_of(spec, rows), found_keys(spec, drawn))
    except (ValueError, ArithmeticError):
        raise CheckFailed(NO_NUMBERS) from None


@dataclass(frozen=True, slots=True)
class SquareSums:
    """The mechanism: of every bin the sums of (W - x)^2, 2 x (W - x) and x^2 with noise; of a crowd how many they are,
    exactly, the sum of x and that of (2 x - W)^2 with noise, and nothing of a small one.

    One person more or less moves the three sums of one bin by W^2 together.

    Guarantee: the promises of :func:`hubbub.kinds.moments.promises.promises`, if the words of the source are uniform and
    independent: what comes out depends on the table through numbers that one person moves so, plus exact noise.
    """

    spec: Moments

    @property
    def schema(self) -> pa.Schema:
        return drawn_schema(self.spec, drawn_columns(self.spec))

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        spec = self.spec
        cells = value_cells(spec, spec.of.steps, sampled(spec, exact, source))
        noisy = []
        for sums, rate in zip(_sums(spec, cells), spec.rates, strict=True):
            noise = wide_noise(rate, cells.bins, source).tolist()
            noisy.append([total + each for total, each in zip(sums, noise, strict=True)])
        rows: list[Row] = list(zip(*noisy, strict=True))
        if isinstance(spec.protection, Crowd):
            least, hidden = spec.protection.k, (None,) * len(drawn_columns(spec))
            rows = [hidden if n < least else (n, *row) for n, row in zip(cells.people(), rows, strict=True)]
        return visible_columns(spec, drawn_columns(spec), rows, cells.found)


def _sums(spec: Moments, cells: ValueCells) -> list[list[int]]:
    x, width = cells.x, spec.of.steps
    if isinstance(spec.protection, Crowd):
        values = [x, (2 * x - width) ** 2]
    else:
        values = [(width - x) ** 2, 2 * x * (width - x), x**2]
    return [cells.sum_by_bin(each, spec.most_added) for each in values]


# --- people counted by bin and step -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class ValueCells:
    """So many people with so many steps in the bin of a number; `found` says which bins those found in the data are."""

    bins: int
    places: NDArray[np.int64]
    x: NDArray[np.int64]
    counts: NDArray[np.int64]
    found: list[Place] | None

    def sum_by_bin(self, values: NDArray[np.int64], most: int) -> list[int]:
        """The sum of a value, of at most `most`, over the people of every bin, given that of each cell."""
        found: list[int] = sums_by(self.places, values, self.bins, most, self.counts).tolist()
        return found

    def people(self) -> list[int]:
        """Of every bin."""
        return self.sum_by_bin(np.ones(len(self.counts), dtype=np.int64), 1)


def value_cells(spec: Statistic, steps: int, counted: ExactCounts) -> ValueCells:
    """What was counted by value, of steps 0..`steps`. Who is in no bin is left out; bins that are found come in the
    order of their labels, the missing last."""
    inside = np.flatnonzero((counted.codes >= 0) & (counted.counts > 0))
    codes, counts = counted.codes[inside], counted.counts[inside]
    places, x = codes // (steps + 1), codes % (steps + 1)
    if not spec.discovered:
        return ValueCells(spec.bins, places, x, counts, None)
    found, ordered = in_label_order(places.tolist(), inside.tolist(), counted)
    return ValueCells(len(ordered), np.array(found, dtype=np.int64), x, counts, ordered)
