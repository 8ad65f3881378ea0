"""THREATS 63: a period published twice, a past that changed; kills at any moment, and other clocks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pytest

from hubbub import series
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table

SCRIPT = Path(__file__).parent / "series_crashing.py"


@pytest.mark.parametrize("seed", range(int(os.environ.get("HUBBUB_LONG", "1"))))
def test_63_kills_at_random_moments_leave_no_period_unpaid_twice_or_with_other_bytes(tmp_path: Path, seed: int) -> None:
    """Thirty-six children in a series of twelve periods, nearly all of them killed, most with clocks of other years; and
    six times an older ledger in its place. HUBBUB_LONG=9 does it in nine series, with 324 children. Of 36 more than 11
    end by themselves with a chance below 1e-6, as a line is drawn that one in twenty does not arrive at."""
    shared = Path("/dev/shm")  # a kill loses nothing of what was written: that is another test, of power cuts
    with TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else tmp_path) as folder:
        here = dict(os.environ) | {"XDG_STATE_HOME": f"{folder}/state", "HOME": folder}
        root = Path(__file__).parents[3]
        told = subprocess.run(
            [sys.executable, str(SCRIPT), f"{folder}/home", "36", str(seed)],
            capture_output=True, text=True, check=True, env=here | {"PYTHONPATH": f"{root / 'src'}{os.pathsep}{root}"},
        )  # fmt: skip
    found = json.loads(told.stdout)
    print(told.stdout)
    assert found["problems"] == []
    assert found["published"] == 12
    assert found["older_ledgers_refused"] == 6
    assert found["verified"], found["verdict"]
    assert found["killed"] >= 25, "many children end by themselves: is the protocol still there?"
    assert found["after_entry"] >= 3, "no kill fell after a period was entered"


def test_63_another_clock_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which period it is was said, and does not come from a clock; entries never go back in time."""
    series.start("clinic", kind="count", person="id", periods=3, first="2026-01", epsilon=1)
    for period, clock in (("2026-01", 4e9), ("2026-02", 0.0), ("2026-03", 2e9)):
        monkeypatch.setattr(time, "gmtime", lambda *_, clock=clock: time.localtime(clock))
        engine = open_table(pa.table({"id": [period, "x"]}), person="id", dataset="clinic").engine
        series.release(engine, "clinic", period)
    _, record = Ledger().series("clinic")
    assert [each.body["period"] for each in record.periods] == [0, 1, 2]
    times = [entry.time for entry in Ledger().entries()]
    assert times == sorted(times)
