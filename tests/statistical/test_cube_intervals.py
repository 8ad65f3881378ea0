"""All intervals of a cube with noise at every level hold at once, as often as they say."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import numpy as np
from scipy import stats

from hubbub.kinds.cube.margins import sum_cells
from hubbub.kinds.cube.request import cube
from hubbub.kinds.cube.result import Tables
from hubbub.kinds.cube.spec import Cube
from hubbub.noise.source import ScriptedSource, Source
from hubbub.tables.engine import CountQuery, ExactCounts
from hubbub.tables.schema import ColumnType, Schema

RUNS: Final = 300
COVERAGE: Final = Fraction(3, 4)
SIZE: Final = 1e-6  # how often a release that misses with 1 - COVERAGE would be rejected
POWER: Final = 0.999  # how often one whose intervals are shorter by SHORTER would be
SHORTER: Final = 5

TRUTH = np.array([0, 1, 4, 9, 40, 3])


class Town:
    """People whose counts are known."""

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        return ExactCounts(np.arange(TRUTH.size), TRUTH)


def misses(spec: Cube, shorter: int) -> int:
    """In how many runs some interval of some table, shorter by so many on either side, leaves out the truth."""
    truth = [TRUTH, sum_cells(TRUTH, spec.axes, ("a",)), sum_cells(TRUTH, spec.axes, ("b",))]
    found = 0
    for i in range(RUNS):
        done = spec.present(spec.measure(Town(), ScriptedSource.from_label(f"interval {i}")))  # type: ignore[arg-type]
        assert isinstance(done, Tables)
        tables = zip((done.cells, *done.margins), truth, strict=True)
        for each, true in tables:
            below, above = (true < each.low + shorter) & (each.low > 0), true > each.high - shorter
            if (below | above).any():
                found += 1
                break
    return found


def test_all_intervals_hold_at_once() -> None:
    columns = Schema({"a": ColumnType.TEXT, "b": ColumnType.TEXT})
    spec = cube(["a=0,1,2", "b=0,1"], epsilon=1, coverage=COVERAGE).with_schema(columns)
    most = int(stats.binom.isf(SIZE, RUNS, float(1 - COVERAGE)))
    missed = misses(spec, 0)
    assert missed <= most, f"n = {RUNS}: {missed} missed, at most {most}"
    rate = misses(spec, SHORTER) / RUNS
    power = float(stats.binom.sf(most, RUNS, rate))
    assert power > POWER, f"n = {RUNS}: shorter by {SHORTER} misses {rate:.2f}, power {power}"
