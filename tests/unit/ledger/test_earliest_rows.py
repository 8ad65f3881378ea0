"""Which rows of a person count: those of their earliest day among the rows that may."""

from __future__ import annotations

from fractions import Fraction

from hubbub.ledger.series_state import SeriesState
from tests.unit.ledger.charges import charge

STATE = SeriesState(nonce="n", secret="00" * 16, dated=frozenset({"counted"}))


def test_rows_that_may_not_count_do_not_and_are_no_earliest_day() -> None:
    people, days = ["a", "a", "a", "b", "c"], [1, 2, 3, 1, 4]
    rows = ["r1", "r2", "r3", "r4", "counted"]
    assert STATE.earliest(people, rows, days, [False, True, True, False, True]) == [False, True, False, False, False]
    assert STATE.earliest(people, rows, days, [True] * 5) == [True, False, False, True, False]


def test_a_charge_on_a_secret_sample_knows_its_rate() -> None:
    found = charge("sampled plain").on_sample
    assert found is not None
    assert (found[0].epsilon, found[1]) == (1, Fraction(1, 10))
    assert charge("plain").on_sample is None
