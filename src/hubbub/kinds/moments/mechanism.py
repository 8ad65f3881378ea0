"""A spread measured and presented: count people by bin and value, draw the secret sample over them if there is one, add
noise to sums of squares; then work out what the drawn integers say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from hubbub.channels.protocol import BEYOND_COUNTS, LARGEST_COUNT
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.kinds.histogram.mechanism import CODE
from hubbub.kinds.moments.estimates import Row, answers_of
from hubbub.kinds.moments.result import Spreads, drawn_columns
from hubbub.kinds.statistic.mechanism import NO_NUMBERS, Place, found_names, label_column, question, sampled
from hubbub.kinds.statistic.result import HIDDEN, SHOWN, key_of
from hubbub.kinds.statistic.value_cells import ValueCells, value_cells
from hubbub.noise.source import Source
from hubbub.noise.wide import wide_noise
from hubbub.protocol.measurement import LABELS, Drawn, Measurement, release
from hubbub.serialization.arrow import integer_array, labelled
from hubbub.tables.engine import OTHER_NUMBER, ExactCounts
from hubbub.tables.key_columns import STATUS
from hubbub.tables.protection import Crowd, Knowledge

if TYPE_CHECKING:
    from hubbub.kinds.moments.spec import Moments
    from hubbub.tables.engine import Engine

LARGEST: Final = 3 * LARGEST_COUNT // 2


def measure(spec: Moments, engine: Engine, source: Source) -> Measurement:
    """Count exactly, then draw.

    Guarantee: a table of another number of people than was declared is refused before a word is drawn.
    """
    exact = engine.count(question(spec, by_value=True), source)
    if isinstance(spec.protection, Knowledge) and int(exact.counts.sum()) != spec.protection.people:
        raise Refused(OTHER_NUMBER)
    return Measurement(answers=release(SquareSums(spec), exact, source))


def present(spec: Moments, drawn: Drawn) -> Spreads:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    rows, found = rows_of(spec, drawn), None
    if not spec.discovered and len(rows) != spec.bins:
        raise CheckFailed("its rows are not as many as its bins")
    every = [number for row in rows for number in row if number is not None]
    if every and not -LARGEST <= min(every) <= max(every) <= LARGEST:
        raise CheckFailed(NO_NUMBERS)
    if spec.discovered:
        if any(None in row for row in rows):
            raise CheckFailed("a bin is listed that is hidden")
        places = zip(drawn.integers(CODE).tolist(), *(drawn.texts(name) for name in found_names(spec)), strict=True)
        found = [key_of(spec.axes, code, labels) for code, *labels in places]
    try:
        return Spreads(spec, answers_of(spec, rows), found)
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
        """Every declared bin in order; found bins with the code of their declared part and their labels. Where some are
        hidden it says which, and their numbers are 0."""
        found = [(CODE, pa.int64())] if self.spec.discovered else []
        found += [(name, LABELS) for name in found_names(self.spec)]
        numbers = [(name, pa.int64()) for name in drawn_columns(self.spec)]
        return pa.schema([*found, *numbers, *([(STATUS, LABELS)] if _may_hide(self.spec) else [])])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        spec = self.spec
        cells = value_cells(spec, spec.of.steps, sampled(spec, exact, source))
        if int(cells.counts.sum()) * spec.steps > LARGEST_COUNT:
            raise WrongUse(BEYOND_COUNTS)
        noisy = []
        for sums, rate in zip(_sums(spec, cells), spec.rates, strict=True):
            noise = wide_noise(rate, cells.bins, source).tolist()
            noisy.append([total + each for total, each in zip(sums, noise, strict=True)])
        rows: list[Row] = list(zip(*noisy, strict=True))
        if isinstance(spec.protection, Crowd):
            least, hidden = spec.protection.k, (None,) * len(drawn_columns(spec))
            rows = [hidden if n < least else (n, *row) for n, row in zip(cells.people(), rows, strict=True)]
        if cells.found is None:
            return in_columns(spec, rows)
        # An absent bin looks like a hidden one, so hidden ones are absent too.
        seen = [i for i, row in enumerate(rows) if None not in row]
        return in_columns(spec, [rows[i] for i in seen], [cells.found[i] for i in seen])


def _sums(spec: Moments, cells: ValueCells) -> list[list[int]]:
    x, width = cells.x, spec.of.steps
    if isinstance(spec.protection, Crowd):
        return [cells.added(x), cells.added((2 * x - width) ** 2)]
    return [cells.added((width - x) ** 2), cells.added(2 * x * (width - x)), cells.added(x**2)]


def in_columns(spec: Moments, rows: Sequence[Row], found: Sequence[Place] | None = None) -> pa.RecordBatch:
    """The rows under the schema of the mechanism."""
    arrays: list[pa.Array] = []
    if found is not None:
        arrays.append(integer_array(np.array([code for code, _ in found], dtype=np.int64)))
        arrays += [label_column([labels[i] for _, labels in found]) for i in range(len(found_names(spec)))]
    for i in range(len(drawn_columns(spec))):
        arrays.append(integer_array(np.array([row[i] or 0 for row in rows], dtype=np.int64)))
    if _may_hide(spec):
        arrays.append(labelled(np.array([row[0] is None for row in rows], dtype=np.int64), (SHOWN, HIDDEN)))
    return pa.record_batch(arrays, schema=SquareSums(spec).schema)


def rows_of(spec: Moments, drawn: Drawn) -> list[Row]:
    """The integers of every bin; None where it is hidden."""
    rows: list[Row] = list(zip(*(drawn.integers(name).tolist() for name in drawn_columns(spec)), strict=True))
    if not _may_hide(spec):
        return rows
    hidden = (None,) * len(drawn_columns(spec))
    return [hidden if said == HIDDEN else row for row, said in zip(rows, drawn.texts(STATUS), strict=True)]


def _may_hide(spec: Moments) -> bool:
    return isinstance(spec.protection, Crowd)
