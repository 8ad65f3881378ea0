"""A ratio measured and presented: two sums over the same rows, noise on both; then what the drawn integers say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hubbub.kinds.ratio.result import DRAWN, Ratios, answer_of
from hubbub.kinds.statistic.drawn_columns import drawn_schema, in_columns, rows_of
from hubbub.kinds.statistic.mechanism import question
from hubbub.noise.sampler import wide_noise
from hubbub.noise.source import Source
from hubbub.numeric.exact_sums import sums_by
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.tables.engine import Joint
from hubbub.tables.kept_rows import KeptRows, within_bounds

if TYPE_CHECKING:
    from hubbub.kinds.ratio.spec import Ratio
    from hubbub.tables.engine import Engine


def measure(spec: Ratio, engine: Engine, source: Source) -> Measurement:
    """Both values of every row that counts, in one reading; then draw."""
    query = question(spec, by_value=True)
    both = (query, replace(query, axes=(), where=None, measure=spec.per))
    exact = engine.kept_rows(both, source) if spec.unit.counts_rows else engine.joint_count(both, source)
    return Measurement(answers=release(TwoSums(spec), exact, source))


def present(spec: Ratio, measurement: Measurement) -> Ratios:
    """The answers that follow from the drawn integers; a CheckFailed if such a release cannot draw them."""
    drawn = measurement["answers"]
    rows = [(dividend or 0, divisor or 0) for dividend, divisor in rows_of(spec, DRAWN, drawn)]
    return Ratios(spec, [answer_of(spec, *row) for row in rows])


@dataclass(frozen=True, slots=True)
class TwoSums:
    """The mechanism: of every bin the sum of either column over the rows that have both, with noise.

    Guarantee: the promise of :func:`hubbub.kinds.ratio.promises.promises`, if the words of the source are uniform and
    independent: one row moves the two sums of one bin by at most the highest values there are.
    """

    spec: Ratio

    @property
    def schema(self) -> pa.Schema:
        return drawn_schema(self.spec, DRAWN)

    def draw(self, exact: Joint | KeptRows, source: Source) -> pa.RecordBatch:
        spec = self.spec
        columns = []
        for sums, rate in zip(sums_of(spec, exact), spec.rates, strict=True):
            noise = wide_noise(rate, spec.bins, source).tolist()
            columns.append([total + each for total, each in zip(sums, noise, strict=True)])
        return in_columns(spec, DRAWN, list(zip(*columns, strict=True)))


def sums_of(spec: Ratio, exact: Joint | KeptRows) -> tuple[list[int], list[int]]:
    """The exact sums of every bin, in steps from 0."""
    first, second = exact.codes
    width = spec.of.steps + 1
    bins = np.where((first < 0) | (second < 0), -1, first // width)
    if isinstance(exact, KeptRows):
        assert spec.unit.bounds is not None
        counts = within_bounds(exact.person, bins, spec.unit.bounds).astype(np.int64)
    else:
        counts = np.where(bins >= 0, exact.counts, 0)
    inside = counts > 0
    found = []
    for measure, steps in ((spec.of, first % width), (spec.per, second)):
        values = steps[inside] + int(measure.low / measure.step)
        found.append(sums_by(bins[inside], values, spec.bins, spec.most_added, counts[inside]).tolist())
    return found[0], found[1]
