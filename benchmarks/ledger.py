"""What a ledger and a certificate cost: reserving after many entries, and checking a certificate of 100,000 bins.

There is no peer with the same job; the raw cost beside ours is that of one durable SQLite transaction.
"""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pyarrow as pa

from hubbub.ledger.book import Ledger
from hubbub.ledger.charge import charge
from hubbub.release import open as open_table
from hubbub.release import save
from hubbub.tables.asking import histogram

BINS: Final = 100_000
RELEASES: Final = 300
REPEATS: Final = 5


def best(work: Callable[[], object], repeats: int = REPEATS) -> float:
    """The shortest of several runs, in seconds by the clock: a disk's sync is no CPU time."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def tell(task: str, seconds: float, limit: float | None = None) -> None:
    """One line for people, one for programs."""
    verdict = "" if limit is None else f"   (at most {limit:g} s) {'met' if seconds <= limit else 'MISSED'}"
    print(f"{task:68s} {seconds * 1000:9.1f} ms{verdict}", file=sys.stderr)
    print(json.dumps({"task": task, "seconds": seconds, "limit": limit}))


def raw_transaction(folder: Path) -> float:
    with sqlite3.connect(folder / "raw.db", isolation_level=None) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")
        base.execute("CREATE TABLE t (x TEXT)")
        return best(lambda: base.execute("INSERT INTO t VALUES ('x')"), 20)


def reserving(folder: Path) -> None:
    book = Ledger(folder / "ledger.db")
    asked = charge(histogram(["a=x,y"], epsilon="0.001"))
    number = iter(range(10**6))
    tell("one durable SQLite transaction", raw_transaction(folder))
    for entries in (0, 1_000):
        while len(book.entries()) < entries:
            book.reserve(f"other-{next(number)}", asked)
        seconds = best(lambda: book.reserve(f"town-{next(number)}", asked))
        tell(f"reserve in a ledger of {max(entries, 1):,} entries or a few more", seconds)


def one_dataset(folder: Path) -> None:
    """Every release is added up with all earlier ones of its dataset."""
    book = Ledger(folder / "long.db")
    asked = charge(histogram(["a=x,y"], crowd=20, sample="0.1"))

    def work() -> None:
        for i in range(RELEASES):
            book.commit(book.reserve("town", asked), f"{i:064x}", f"{i:064x}")

    tell(f"{RELEASES} releases of one dataset, reserved and committed, all of them", best(work, 1))


def verifying(folder: Path) -> None:
    people = pa.table({"a": [i % 1000 for i in range(BINS)], "c": [f"label {i % 5000}" for i in range(BINS)]})
    listed = ",".join(f"label {i}" for i in range(BINS))
    for name, by, words in (
        ("steps", ["a:0..100000:1"], {"epsilon": 1}),
        ("listed values", [f"c={listed}"], {"crowd": 20, "sample": "0.1"}),
    ):
        table = open_table(people, dataset=name.replace(" ", "-"), ledger=folder / "ledger.db")
        out = folder / name.replace(" ", "-")
        save(table.histogram(by, **words), out)
        start = [sys.executable, "-c", "from hubbub.cli.main import main; main()"]
        command = [*start, "verify", str(out / "certificate.json"), "--certificate-only"]  # a ledger that nobody knows
        seconds = best(lambda command=command: subprocess.run(command, check=True, capture_output=True))  # type: ignore[misc]
        tell(f"hubbub verify, start of the interpreter included, {BINS:,} bins, {name}", seconds, 2)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        reserving(Path(folder))
        one_dataset(Path(folder))
        verifying(Path(folder))


if __name__ == "__main__":
    main()
