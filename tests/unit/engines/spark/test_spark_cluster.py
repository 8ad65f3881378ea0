"""A release by two workers of a cluster, one of them killed in the middle: whole, each bin once, its secret nowhere.

It starts a cluster of its own, half a minute for one test: `make fuzz` runs it. That tasks are killed and run again is
tried in every run, in test_spark_far.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import servers

ROOT = Path(__file__).parents[4]


@pytest.mark.skipif("HUBBUB_LONG" not in os.environ, reason="make fuzz runs it")
@pytest.mark.xdist_group("spark")
def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path: Path) -> None:
    servers.or_skip(servers.spark)  # where Spark is not installed
    state = {"XDG_DATA_HOME": str(tmp_path / "data"), "XDG_STATE_HOME": str(tmp_path / "state")}
    told = subprocess.run(
        [sys.executable, "-m", "benchmarks.far", "small"],
        cwd=ROOT,
        env={**os.environ, **state, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert told.returncode == 0, told.stderr[-2000:]
    (line,) = (json.loads(line) for line in told.stdout.splitlines() if line.startswith("{"))
    assert line["workers_killed"] == 1
    assert (line["rows"], line["parts"]) == (20_000, 6)
    assert line["files_with_the_secret"] == 0
