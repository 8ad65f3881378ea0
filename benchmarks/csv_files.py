"""What it costs to read a CSV record by record: the proof of how it may be read, and one thread where several may not.

Beside ours stands DuckDB's reader with the same rules in one thread, and in several, which miscounts the second file;
and the way without the proof, where every quoted cell is looked at by itself. By the clock and in CPU time, because
threads are what is given up there. The files are made here, in a folder that goes away.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Final
from unittest.mock import patch

import duckdb

from hubbub.engines.files.csv_file import csv_header, csv_relation
from hubbub.engines.files.csv_records import LONGEST, is_regular
from hubbub.engines.files.files import is_record_per_line, open_file
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import CountQuery, ExactCounts

ROWS: Final = 2_000_000
REPEATS: Final = 5
LIMIT: Final = 1.5  # times the CPU of one thread of DuckDB's
FASTER: Final = 1.6  # by the clock, beside the way without the proof
ONE, OURS, BEFORE = "DuckDB, one thread", "ours, opening included", "ours, each quoted cell by itself"
NOTES: Final = {
    "no quoted cell": "'a note about person ' || i",
    "a quoted cell of two lines in each record": """'"a ""note"",' || chr(10) || 'about person ' || i || '"'""",
}


def make(place: Path, note: str) -> None:
    """About 100 MB: a number, one of 1,000 towns, a note."""
    duckdb.execute(
        f"COPY (SELECT i || ',town ' || hash(i) % 1000 || ',' || {note} AS \"id,town,note\" FROM range({ROWS}) t(i)) "
        f"TO '{place}' (FORMAT csv, QUOTE '', ESCAPE '', DELIMITER '\x01')"
    )


def best(works: Mapping[str, Callable[[], object]], repeats: int | None = None) -> dict[str, tuple[float, float]]:
    """Seconds by the clock and of CPU: the best of several repeats, taken in turn."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(repeats or REPEATS):
        for name, work in works.items():
            clock, cpu = time.perf_counter(), time.process_time()
            work()
            times[name].append((time.perf_counter() - clock, time.process_time() - cpu))
    return {name: (min(clock for clock, _ in seen), min(cpu for _, cpu in seen)) for name, seen in times.items()}


def main() -> None:
    raw = duckdb.connect()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "people.csv"
        for words, note in NOTES.items():
            make(place, note)
            relation = csv_relation(f"['{place}']", csv_header([str(place)], ","), ",")
            one = f"SELECT town, count(*) FROM {relation} GROUP BY town"
            several = one.replace("parallel=false", "parallel=true")
            found = best(
                {
                    "DuckDB, parallel": partial(raw.execute, several),
                    ONE: partial(raw.execute, one),
                    "the proof": partial(_proof, str(place)),
                    OURS: partial(_ours, place),
                }
            )
            found |= best({BEFORE: partial(_without_proof, place)}, repeats=1)
            for name, (clock, cpu) in found.items():
                _row(f"{name}: {words}, {place.stat().st_size / 1e6:.0f} MB", clock, cpu, found[ONE][1], name == OURS)
            _faster(f"{words}: by the clock, times as fast as {BEFORE}", found[BEFORE][0] / found[OURS][0])


def _row(task: str, clock: float, cpu: float, raw: float, limited: bool) -> None:
    row = {"task": task, "clock": clock, "cpu": cpu, "ratio": cpu / raw} | ({"limit": LIMIT} if limited else {})
    verdict = f"(at most {LIMIT}) {'met' if cpu <= LIMIT * raw else 'MISSED'}" if limited else ""
    print(f"{task:84s} {clock:6.2f} s, CPU {cpu:6.2f} s   {cpu / raw:5.2f} x {verdict}", file=sys.stderr)
    print(json.dumps(row))


def _faster(task: str, times: float) -> None:
    verdict = "met" if times >= FASTER else "missed"
    print(f"{task:84s} {times:5.2f} (at least {FASTER}) {verdict.upper()}", file=sys.stderr)
    print(json.dumps({"task": task, "times_as_fast": times, "at_least": f"{FASTER}, {verdict}"}))


def _proof(place: str) -> bool:
    return is_record_per_line(place, LONGEST) or is_regular(place, ",", LONGEST)


def _ours(place: Path) -> ExactCounts:
    return open_file(place).count(CountQuery(axes=(parse("town"),)), ScriptedSource())


def _without_proof(place: Path) -> ExactCounts:
    with (
        patch("hubbub.engines.files.files.is_record_per_line", return_value=False),
        patch("hubbub.engines.files.files.is_regular", return_value=False),
        patch("hubbub.engines.files.csv_records.regular_end", lambda file, start, *_, **__: start),
    ):
        return _ours(place)


if __name__ == "__main__":
    main()
