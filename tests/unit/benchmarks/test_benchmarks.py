"""Every benchmark runs, at a size that takes a moment: what nobody runs for weeks breaks unseen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import benchmarks.__main__ as bench
from benchmarks import growth

ROOT = Path(bench.__file__).parents[1]
ONCE = {"REPEATS": 1}
# What is made small in each: constants of its own, or of another module that it takes them from.
SMALL: dict[str, dict[str, Any]] = {
    "noise": ONCE | {"OURS": 1000, "PEERS": 10},
    "channels": ONCE | {"DIFFERENT": 10, "SAMPLES": 100, "PEERS": 10, "noise.PEERS": 10, "PROFILED": range(1, 3)},
    "release": ONCE | {"ROWS": 4000, "PEOPLE": 1000, "FEW": 1000, "MANY_BINS": (10, 100), "AHEAD": 20},
    "statistics": {"ROWS": 20_000, "SAMPLE": 100, "release.REPEATS": 1},
    "csv_files": ONCE | {"ROWS": 1000},
    "ledger": ONCE | {"BINS": 100, "RELEASES": 3, "MANY": 10, "TURNS": 2, "FILES": (1 << 20,)},
    "ids": {"ROWS": 2000, "KINDS": {"texts": ("'p' || i", 10.0)}},  # each figure is of a process of its own
    "people": ONCE | {"ROWS": 2000, "LINES": 500},
    "visits": {"ROWS": 2000, "PEOPLE": 200, "release.REPEATS": 1},
    "large": {"OCCUPIED": 50, "POINTS": 2000},
    "groups": {"BINS": 1000},
    "graphs": {"SIZES": ((100, 500),)},
    "growth": ONCE
    | {"SIZES": {kind: (make, (10, 100)) for kind, (make, _) in growth.SIZES.items()}, "BALLOTS": 60, "KEPT_FREE": 0},
    "commands": ONCE,
    "queries": {
        "PEOPLE": 500,
        "SIZES": (3, 3, 2, 2, 2),
        "RUNS": 1,
        "MILLION": (("marginals:2", (2,) * 4, "mwem"), ("intervals", (50,), "tree")),
    },
    "utility": {
        "PEOPLE": 50,
        "RUNS": 1,
        "utility_tasks.TOTALS": ((50, 1.0),),
        "utility_tasks.BINS": 8,
        "utility_tasks.COLUMNS": (),
        "utility_tasks.SIZES": (2, 3, 2),
        "utility_tasks.RANGES": 10,
        "utility_tasks.PERIODS": ((3, 1),),
        "utility_tasks.SERIES": 2,
        "utility_tasks.MADE_UP": ((100, (2, 2, 2)),),
        "utility_tasks.WORKLOADS": (("marginals:2", (2,), "1"),),
    },
    "defaults": {"RUNS": 1, "BINS": (1, 2), "PEOPLE": (50,), "DEVIATIONS": (1.0,)},
    "voting": ONCE | {"BALLOTS": 500, "ROWS": 200, "ballot_files.ROWS": 200, "ballot_files.REPEATS": 1},
    "composition": {"CASES": ((5, "0.1", "1"), (5, "0.1", "0.1"))},
    "honesty": {"VOTERS": (5,), "STEPS": 2, "EXACT": {"plurality": (5,), "instant-runoff": (5,), "borda": (5,)}},
}
ELSEWHERE = {
    "spark": "in a process of its own, below, in make fuzz",
    "far": "by tests/unit/engines/spark/test_spark_cluster.py, in make fuzz",
    "ballot_files": "as a part of voting",
    "kind_tightness": "as a part of tightness; in test_tightness.py",
    "figures": "writes the page of the runs; in test_bench_figures.py",
    "audit": "by make audit, of which every part is in tests/unit/audit",
    "audit_peers": "in an environment of its own",
    "adapters": "as a part of audit_peers; in tests/unit/audit/test_function.py",
    "spark_peers": "in an environment of its own",
    "utility_opendp": "as a part of utility",
    "utility_peers": "in an environment of its own",
    "utility_tasks": "as a part of utility",
    "utility_tumult": "in an environment of its own",
    "visits": "holds the bounds that utility and its peers share",
    "concentrated": "prints the numbers of another accountant, in its environment",
    "tightness": "measures nothing: it writes a page",
    "yardstick": "holds the faults that audit plays; in tests/unit/audit",
}


def test_no_benchmark_is_forgotten() -> None:
    every = {path.stem for path in (ROOT / "benchmarks").glob("[a-z]*.py")}
    assert every == {*SMALL, *ELSEWHERE}
    assert {part.name for part in bench.PARTS} <= every


@pytest.mark.parametrize("name", SMALL)
def test_it_runs_at_a_small_size(name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    module = import_module(f"benchmarks.{name}")
    for constant, value in SMALL[name].items():
        other, _, own = constant.rpartition(".")
        monkeypatch.setattr(import_module(f"benchmarks.{other}") if other else module, own, value)
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.setenv("XDG_STATE_HOME", os.environ["XDG_STATE_HOME"])  # some set another, which goes again
    monkeypatch.chdir(ROOT)
    module.main()
    said = capfd.readouterr().out.splitlines()
    rows = [line for line in said if line.startswith("{")]
    assert all(isinstance(json.loads(row), dict) for row in rows)
    tables = [line for line in said if line.startswith("| ")]  # some write a table for a page
    assert len(rows) + len(tables) > (0 if name == "groups" else 1)


@pytest.mark.skipif("HUBBUB_LONG" not in os.environ, reason="make fuzz runs it")
@pytest.mark.skipif(find_spec("pyspark") is None or shutil.which("java") is None, reason="needs pyspark and Java")
def test_the_benchmark_of_spark_runs_at_a_small_size(tmp_path: Path) -> None:
    small = "from benchmarks import spark; spark.ROWS, spark.PEOPLE, spark.REPEATS = 2000, 500, 1; spark.main()"
    done = subprocess.run(
        [sys.executable, "-c", small, "1,000 bins"], cwd=ROOT, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    rows = [json.loads(line)["task"] for line in done.stdout.splitlines() if line.startswith("{")]
    assert rows == ["1,000 bins of numbers"]


def failing(*names: str) -> Callable[..., Any]:
    def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess(words, 7 if words[2].removeprefix("benchmarks.") in names else 0)

    return run


def test_one_part_that_fails_does_not_stop_the_others_and_the_exit_code_tells(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "PARTS", (bench.Part("noise"), bench.Part("commands"), bench.Part("queries")))
    monkeypatch.setattr(subprocess, "run", failing("commands"))
    with pytest.raises(SystemExit) as ended:
        bench.main([])
    assert ended.value.code == "commands failed with exit code 7"  # which Python prints, and exits with 1
    assert capsys.readouterr().err.count("== benchmarks.") == 3
    monkeypatch.setattr(subprocess, "run", failing())
    with pytest.raises(SystemExit) as ended:
        bench.main([])
    assert ended.value.code is None


def test_a_part_whose_peers_are_missing_runs_and_counts_as_failed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(subprocess, "run", failing())
    assert bench.run(bench.Part("noise")) is None
    told = bench.run(bench.Part("voting", peers="peers"))
    assert told == "voting ran without its peers, which are not installed in .venv/peers"
    with pytest.raises(SystemExit, match="there is no benchmark 'x'; there are commands, "):
        bench.main(["x"])
