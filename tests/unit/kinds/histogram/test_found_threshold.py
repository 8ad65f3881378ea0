"""Bins found in the data with epsilon and delta: the threshold is the smallest that delta pays for."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.channels.mechanisms.warped import Warped
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.histogram.discovery import discovery_cost, smallest_threshold
from hubbub.kinds.histogram.request import histogram
from hubbub.numeric.exact import upper
from hubbub.plan.designs import plan, request
from hubbub.plan.shape import zipf
from hubbub.plan.targets import Want
from hubbub.tables.privacy_unit import Unit
from tests.fresh import counts
from tests.fresh import open as open_table


@settings(max_examples=40)
@given(
    epsilon=st.fractions(Fraction(1, 100), Fraction(5), max_denominator=200),
    power=st.integers(1, 12),
)
def test_for_every_epsilon_and_delta_the_threshold_is_the_smallest(epsilon: Fraction, power: int) -> None:
    """By the exact law: one person alone makes a bin appear with probability b e^-(epsilon T)."""
    delta = Fraction(1, 10**power)
    found = smallest_threshold(epsilon, delta)
    assert upper(discovery_cost(Warped(flat(epsilon), found))) <= delta
    assert found == 0 or upper(discovery_cost(Warped(flat(epsilon), found - 1))) > delta


def test_the_promise_is_what_was_asked_for() -> None:
    spec = histogram(["town"], epsilon=1, delta="1e-6")
    promised = [step.conclusion for step in spec.promises()]
    assert any(
        isinstance(p, DifferentialPrivacy) and p.epsilon == 1 and p.delta <= Fraction(1, 10**6) for p in promised
    )
    several = histogram(["town"], epsilon=1, delta="1e-6", unit=Unit(person="id", distinct=3))
    (last,) = several.promises()
    assert isinstance(last.conclusion, DifferentialPrivacy)
    assert last.conclusion.epsilon == 1
    assert Fraction(1, 10**7) < last.conclusion.delta <= Fraction(1, 10**6)


def test_a_release_lists_the_large_bins() -> None:
    towns = ["Bath"] * 500 + ["York"] * 300 + [f"hamlet {i}" for i in range(100)]
    done = open_table(pa.table({"town": towns})).histogram(["town"], epsilon=1, delta="1e-6")
    rows = {row["town"]: row for row in done}
    assert {"Bath", "York"} <= rows.keys()
    assert len(rows) <= 3  # a hamlet appears with a chance of at most 1 in 10,000
    assert all(1 <= row["low"] <= row["count"] <= row["high"] for row in rows.values())
    assert counts(done).facts()["counts"] == {"number": "table", "interval": "table"}


@pytest.mark.parametrize(
    ("by", "words", "says"),
    [
        (["town"], {"crowd": 20, "delta": "1e-6"}, "with epsilon alone"),
        (["town"], {"outlier": "1", "delta": "1e-6"}, "with epsilon alone"),
        (["town"], {"epsilon": 1, "delta": 2}, "below 1"),
        (["town"], {"epsilon": 1, "delta": 0}, "above 0"),
    ],
    ids=str,
)
def test_what_delta_cannot_mean_is_refused(by: list[str], words: dict[str, object], says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        histogram(by, **words)  # type: ignore[arg-type]


def test_the_plan_for_a_column_whose_values_are_found_has_this_design() -> None:
    shape = zipf(20_000, 100)
    found = plan(request(Want.DIFFERENTIAL, shape, ["diagnosis"], epsilon=1, delta="1e-6", rates=(Fraction(1, 10),)))
    best = found.designs[0]
    assert best.options == {"epsilon": "1", "delta": "0.000001"} or best.options == {"epsilon": "1", "delta": "1e-6"}
    assert "--epsilon 1 --delta 1e-6" in best.command("t.csv", ["diagnosis"], "out/", person="patient")
    sampled = [design for design in found.designs if design.rate is not None]
    assert all(design.expected.error > best.expected.error for design in sampled)
