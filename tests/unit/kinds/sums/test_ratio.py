"""A ratio of two sums: what is told of known rows, intervals that hold at their rate, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from scipy import stats

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.errors import WrongUse
from hubbub.kinds.sums.mechanism import joint_cells_of
from hubbub.kinds.sums.ratio import estimate_ratio, ratio
from hubbub.kinds.sums.result import Answers
from hubbub.noise.source import SystemSource
from hubbub.protocol.measurement import Rehearsal
from hubbub.tables.privacy_unit import Unit

ROWS = [(i // 2, "ab"[i % 2], 10 * (i % 7), 1 + i % 3) for i in range(300)]
TABLE = pa.table(dict(zip(("id", "ward", "cost", "days"), zip(*ROWS, strict=True), strict=True)))
WORDS: dict[str, Any] = {"of": "cost:0..60:10", "per": "days:1..3:1", "epsilon": "1"}
SEVERAL = Unit(person="id", rows_per_person=2)
RUNS = 200
MISSES = int(stats.binom.isf(1e-6, RUNS, 0.05))


def test_sums_are_of_rows_that_have_both_values() -> None:
    rows = [*ROWS, (1000, "a", None, 3), (1001, "b", 20, None), (1002, None, 10, 1)]
    table = pa.table(dict(zip(("id", "ward", "cost", "days"), zip(*rows, strict=True), strict=True)))
    for unit in (SEVERAL, Unit()):
        spec = ratio(by=["ward=a,b"], unit=unit, where="days < 3 or days is missing", **WORDS)
        rehearsal = Rehearsal(SystemSource())
        spec.measure(open_source(table), rehearsal)
        ((_, exact),) = rehearsal.calls
        right = [[row for row in ROWS if row[1] == ward and row[3] < 3] for ward in "ab"]
        cost, days = [sum(row[2] // 10 for row in own) for own in right], [sum(row[3] for row in own) for own in right]
        assert joint_cells_of(spec, exact).contributions(spec) == [cost, days]


@pytest.mark.slow
def test_the_interval_holds_at_its_rate() -> None:
    """Size: more than MISSES wrong of RUNS has a chance below 1e-6. Power: a third of the width is wrong far oftener."""
    spec = ratio(unit=SEVERAL, **WORDS)
    truth = Fraction(sum(row[2] for row in ROWS), sum(row[3] for row in ROWS))
    wrong, narrow, engine = 0, 0, open_source(TABLE)
    for _ in range(RUNS):
        result = spec.present(spec.measure(engine, SystemSource()))
        assert isinstance(result, Answers)
        (answer,) = result.answers
        assert answer.high is not None
        assert answer.estimate is not None
        wrong += not answer.low <= truth <= answer.high
        third = (answer.high - answer.low) / 12
        narrow += not answer.estimate - third <= truth <= answer.estimate + third
    assert wrong <= MISSES, f"{wrong} of {RUNS} wrong, at most {MISSES} by chance"
    assert narrow > MISSES, f"{narrow} of {RUNS}: too wide an interval could not be told"


def test_where_the_second_sum_may_be_zero_there_is_no_upper_end() -> None:
    spec = ratio(unit=SEVERAL, **WORDS)
    few = estimate_ratio(spec, 5, 3)[0]
    assert (few.estimate, few.high) == (None, None)
    sure = estimate_ratio(spec, 10_000, 1_000)[0]
    assert sure.estimate == 100
    assert sure.high is not None
    assert sure.low < 100 < sure.high
    assert estimate_ratio(spec, -500, 1_000)[0].low == 0


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"per": None}, "of which two columns"),
    ({"of": None}, "of which two columns"),
    ({"epsilon": None}, "how much may be lost"),
    ({"per": "cost:0..60:10"}, "two columns"),
    ({"of": "cost:-10..60:10"}, "whole steps from 0"),
    ({"per": "days:0.5..3.5:1"}, "whole steps from 0"),
    ({"by": "ward=a,b"}, "in brackets"),
    ({"by": ["ward"]}, "declared"),
    ({"coverage": "1"}, "coverage"),
    ({"rows_per_person": "0"}, "at least 1"),
    ({"rows_per_person": "2", "one_row_per_person": True}, "exclude each other"),
    ({"distinct": "2"}, "rows_per_person"),
]


@pytest.mark.parametrize(("words", "says"), WRONG, ids=str)
def test_wrong_uses_get_one_sentence(words: dict[str, Any], says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        registry.kind("ratio").from_options(person="id", **{**WORDS, **words})
