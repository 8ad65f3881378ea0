"""``hubbub run`` killed outright (SIGKILL) at random moments, and run again until it is done: nothing twice, nothing unpaid."""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import hubbub
from hubbub.ledger.ledger import Ledger
from hubbub.project.plan_file import read_plan
from hubbub.project.planning import State, plan

MOST_RUNS = 25
LONGEST = 240  # seconds for one run on a busy machine
TOML = """
ledger = "ledger.db"
[datasets.people]
file = "people.csv"
person = "id"

[[release]]
name = "ages"
kind = "histogram"
by = ["age:0..90:30"]
epsilon = 1
[[release]]
name = "towns"
kind = "histogram"
by = ["town=Bath,York"]
epsilon = 1
[[release]]
name = "mean-age"
kind = "mean"
of = "age:0..90:1"
epsilon = 1
[[release]]
name = "old"
kind = "count"
where = "age >= 65"
epsilon = 1
[[release]]
name = "arrivals"
kind = "histogram"
by = ["town=Bath,York"]
epsilon = 1
series = { periods = 3, first = "2026-01", date = "day" }
period = "2026-02"
[[release]]
name = "share"
kind = "fraction"
where = "age >= 65"
epsilon = 1
"""
FOLDERS = ["arrivals/2026-01", "arrivals/2026-02", "mean-age", "old", "people-tables", "share"]


def put(folder: Path) -> Path:
    rows = "".join(f"{n},{n % 90},{'Bath' if n % 3 else 'York'},2026-0{1 + n % 2}-05\n" for n in range(400))
    (folder / "people.csv").write_text(f"id,age,town,day\n{rows}")
    (folder / "hubbub.toml").write_text(TOML)
    return folder / "hubbub.toml"


def run(file: Path, wait: float | None) -> bool:
    """One run, killed so many seconds after it began to publish; whether it came to its end. Later ones may go on for longer, so
    that a busy machine gets there too. One that finds what cannot be finished says so, and the next goes on."""
    words = [sys.executable, "-c", "from hubbub.cli.main import commands; commands()", "run", str(file)]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True)
    assert process.stderr is not None
    try:
        for line in process.stderr:
            if line.rstrip().endswith(b"...") and wait is not None:
                time.sleep(wait)
                os.killpg(process.pid, signal.SIGKILL)
                break
        told = process.stderr.read()
        code = process.wait(timeout=LONGEST)
    finally:
        process.stderr.close()
        process.kill()
    assert code in (0, -signal.SIGKILL) or (code == 3 and b"it goes on from here" in told), told.decode()
    return code == 0


def files_of(folder: Path) -> dict[Path, str]:
    """What readers see: the files that are out, by their digests."""
    seen = (path for path in folder.rglob("*") if path.is_file() and not any(p.startswith(".") for p in path.parts))
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in seen}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_killed_at_random_moments_nothing_is_published_twice_or_unpaid(tmp_path: Path, seed: int) -> None:
    file, rng, seen = put(tmp_path), random.Random(seed), dict[Path, str]()
    kills = 0
    for number in range(MOST_RUNS):
        done = run(file, rng.uniform(0, 1 + number) if number < MOST_RUNS - 3 else None)
        now = files_of(tmp_path / "published")
        assert {path: now.get(path) for path in seen} == seen, "what was out has changed"
        seen = now
        if done:
            break
        kills += 1
    assert kills, "no run was killed"
    assert [each.state for each in plan(read_plan(file)).releases] == [State.OUT] * len(FOLDERS)
    found = sorted(path.parent for path in (tmp_path / "published").rglob("certificate.json"))
    assert [str(path.relative_to(tmp_path / "published")) for path in found] == FOLDERS
    account = Ledger(tmp_path / "ledger.db").accounts()["people"]
    nonces = [json.loads((path / "certificate.json").read_bytes())["ledger"]["nonce"] for path in found]
    assert len(set(nonces)) == len(FOLDERS) - 1  # both periods are of one series
    for path, nonce in zip(found, nonces, strict=True):
        record = account.record(nonce)
        assert record.is_spent, "it is out and not paid for"
        digest = hashlib.sha256((path / "certificate.json").read_bytes()).hexdigest()
        assert digest in record.files.values(), "the ledger does not know it"
        assert hubbub.verify(path / "certificate.json").passed
    assert sum(record.series is not None for record in account.records) == 1
    lost = len(account.spent_releases) - len(set(nonces))
    assert 0 <= lost <= kills  # each kill loses at most the one release that was drawn and not yet written
    before = len(account.records)
    assert run(file, None)
    assert len(Ledger(tmp_path / "ledger.db").accounts()["people"].records) == before
    assert files_of(tmp_path / "published") == seen
