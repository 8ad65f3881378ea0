"""THREATS 60, some cases of the fuzzer over readers; 500 run in `property`, and as many as wanted with `make fuzz`."""

from __future__ import annotations

from tests.fuzz.ballot_readers import REFUSED, SAME, run


def test_60_nobody_wins_by_a_file_that_was_not_understood() -> None:
    found = run(0, 40)
    assert found[REFUSED] + found[SAME] == 40
    assert min(found[REFUSED], found[SAME]) >= 8, "both damaged and harmless cases are met"
