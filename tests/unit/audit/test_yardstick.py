"""Every violation that dp-recorder's examples and dp_auditorium's mechanisms show is refuted here too.

Those that need many runs are far beyond the claim: each was caught every time it was tried.
"""

from __future__ import annotations

import pytest

from benchmarks.yardstick import YARDSTICK, Published

QUICK = [each for each in YARDSTICK if each.whose != "dp_auditorium, SVT 3"]  # which needs 40,000 runs: make audit


@pytest.mark.parametrize("published", QUICK, ids=lambda each: f"{each.whose}: {each.what}")
def test_a_published_violation_is_caught(published: Published) -> None:
    found = published.audit()
    assert found.is_refuted, found.sentence()
