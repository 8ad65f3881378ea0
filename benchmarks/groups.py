"""The memory of a count with ten million found bins: the peak of this process, beside what the answer itself takes.

One database at a time, since a peak stays: ``python -m benchmarks.groups sqlite``, or ``spark``.
"""

from __future__ import annotations

import gc
import json
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Final

import duckdb

from benchmarks.spark import session
from hubbub.engines.opening import open_source
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import Discovered
from hubbub.tables.engine import CountQuery, Engine

BINS: Final = 10_000_000
NAME: Final = "'person ' || i"


def in_sqlite(folder: Path) -> Engine:
    numbers = f"WITH RECURSIVE t(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM t WHERE i + 1 < {BINS})"
    with sqlite3.connect(folder / "people.sqlite") as connection:
        connection.execute("CREATE TABLE people (name TEXT)")
        connection.execute(f"{numbers} INSERT INTO people SELECT {NAME} FROM t")
    connection.close()
    return open_source(f"sqlite:///{folder}/people.sqlite", table="people")


def in_spark(folder: Path) -> Engine:
    duckdb.execute("SET enable_progress_bar = false")  # it would stand before the first row
    duckdb.execute(f"COPY (SELECT {NAME} AS name FROM range({BINS}) t(i)) TO '{folder}/people.parquet'")
    return open_source(session(str(folder), "4g").read.parquet(f"{folder}/people.parquet"))


def used(what: str) -> int:
    """Megabytes, now (VmRSS) or at most so far (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in lines if line.startswith(what))


def main() -> None:
    for name in sys.argv[1:2] or ["sqlite"]:
        with tempfile.TemporaryDirectory() as folder:
            engine = {"sqlite": in_sqlite, "spark": in_spark}[name](Path(folder))
            before = used("VmRSS")
            counted = engine.count(CountQuery(axes=(Discovered("name"),)), SystemSource())
            assert counted.counts.size == BINS
            peak = used("VmHWM")
            texts = sum(map(sys.getsizeof, counted.found[0])) + sys.getsizeof(counted.found[0])
            answer = (texts + counted.codes.nbytes + counted.counts.nbytes) >> 20
            gc.collect()
            told = {
                "task": name,
                "before": before,
                "answer": answer,
                "peak": peak,
                "ratio": round(peak / max(answer, 1), 2),
            }
            print(json.dumps({"benchmark": "groups", **told}))


if __name__ == "__main__":
    main()
