"""Ranges without a step get the finest one that costs nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bounded_column import MOST_STEPS, finest_step, measured


@pytest.mark.parametrize(
    ("spec", "step", "steps"),
    [
        ("days:0..14", "0.001", 14_000),
        ("salary:0..300000", "10", 30_000),
        ("share:-0.5..0.25", "0.00001", 75_000),
        ("x:3..1000003", "1", 1_000_000),
        ('"a:b":0..1', "0.00001", 100_000),
        ("fee:0..500,money", "0.01", 50_000),
        ("days:0..14:1", "1", 14),
    ],
)
def test_the_step_is_the_finest_power_of_ten_with_at_most_100_000_steps(spec: str, step: str, steps: int) -> None:
    measure = measured(spec)
    assert (measure.step, measure.steps) == (Fraction(step), steps)


@given(st.decimals(-1000, 1000, places=3), st.decimals(1, 10**9, places=2))
def test_both_ends_are_whole_steps(low: object, span: object) -> None:
    first = Fraction(str(low))
    last = first + Fraction(str(span))
    step = finest_step(first, last)
    assert (first / step).denominator == (last / step).denominator == 1
    assert (last - first) / step > 10_000


@pytest.mark.parametrize("spec", ["x", "x:5..5", "x:5..1", "x:0..", "x=0..5", f"x:0..{'9' * 41}", "x:0..1e9999999"])
def test_what_is_no_range_is_refused_in_one_sentence(spec: str) -> None:
    with pytest.raises(WrongUse):
        measured(spec)


def test_a_range_of_very_many_fine_steps_is_refused() -> None:
    with pytest.raises(WrongUse, match="steps"):
        measured(f"x:0.{'0' * 20}1..{MOST_STEPS}")


def test_the_interval_of_a_mean_of_whole_days_is_no_wider_than_its_noise() -> None:
    """In steps of one day half a day is added on either side, since values may have been rounded."""
    import pyarrow as pa

    engine = open_source(pa.table({"days": [i % 15 for i in range(3000)]}))
    widths = {}
    for of in ("days:0..14", "days:0..14:1"):
        spec = registry.kind("mean").from_options(of=of, epsilon="1").with_schema(engine.columns())
        result = spec.present(spec.measure(engine, ScriptedSource.from_label("days")))
        (answer,) = result.facts()["answers"]
        widths[of] = float(answer["high"]) - float(answer["low"])
    assert widths["days:0..14"] < widths["days:0..14:1"] - 0.99
