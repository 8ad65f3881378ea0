"""Several rows of people who are drawn in secret: intervals hold what they are about, as often as they say.

Size: of RUNS releases at 95 % more than MISSES are wrong with a chance below 1e-6 if each is wrong with at most 5 %.
Power: an interval that forgets the sample, or takes rows for people, is wrong in far more (the last test).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import stats

from hubbub.engines.opening import open_source
from hubbub.kinds.sum.request import total
from hubbub.kinds.sum.result import Totals
from hubbub.kinds.sums.intervals import reach
from hubbub.kinds.sums.result import Answers
from hubbub.kinds.sums.spec import Statistic
from hubbub.noise.source import SystemSource
from hubbub.tables.privacy_unit import Unit
from tests.unit.shared.statistics import statistic

PEOPLE, DRAWN, RUNS = 400, 60, 150
MISSES = int(stats.binom.isf(1e-6, RUNS, 0.05))
UNIT = Unit(person="id", rows_per_person=6, rows_called="visits")
KNOWN: dict[str, Any] = {"zero_knowledge": "2", "rows": DRAWN, "people": PEOPLE, "unit": UNIT}


def visits() -> pa.Table:
    """Whoever comes often stays long: the worst for a sample of people."""
    rows = [
        (i, "A" if (i + j) % 3 else "B", 10 if i % 5 == 0 else 1)
        for i in range(PEOPLE)
        for j in range(6 if i % 5 == 0 else 1)
    ]
    who, ward, days = zip(*rows, strict=True)
    return pa.table({"id": who, "ward": ward, "days": days})


def test_intervals_of_rows_hold_at_their_rate() -> None:
    table = visits()
    days, wards = np.array(table.column("days").to_pylist()), np.array(table.column("ward").to_pylist())
    mean = {ward: Fraction(int(days[wards == ward].sum()), int((wards == ward).sum())) for ward in "AB"}
    rows = {ward: int((wards == ward).sum()) for ward in "AB"}
    sums = {ward: int(days[wards == ward].sum()) for ward in "AB"}
    by = ["ward=A,B"]
    specs: dict[str, tuple[Statistic, Mapping[str, Any]]] = {
        "rows": (statistic("count", by=by, **KNOWN), rows),
        "mean": (statistic("mean", of="days:0..10:1", by=by, **KNOWN), mean),
        "sum": (total(of="days:0..10:1", by=by, cap=60, **KNOWN), sums),
    }
    engine, source = open_source(table), SystemSource()
    forgetful = 0
    for name, (spec, truth) in specs.items():
        wrong = 0
        for _ in range(RUNS):
            result = spec.present(spec.measure(engine, source))
            assert isinstance(result, Answers | Totals)
            both: list[Any] = list(result.answers)
            for (ward,), answer in zip(result.keys(), both, strict=True):
                assert ward is not None
                assert answer.high is not None
                right = answer.low <= truth[ward] <= answer.high
                wrong += not right and ward == "A"
                if name == "rows" and ward == "A":  # an interval of the noise alone
                    assert spec.unit_loss is not None
                    off = reach(spec.unit_loss, Fraction(1, 20)) * Fraction(PEOPLE, DRAWN)
                    assert answer.value is not None
                    forgetful += abs(answer.value - truth[ward]) > off
        assert wrong <= MISSES, f"{name}: {wrong} of {RUNS} wrong, at most {MISSES} by chance"
    assert forgetful > MISSES, f"{forgetful} of {RUNS}: the sample could not be told from none"
