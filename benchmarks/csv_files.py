"""What it costs to read a CSV record by record: one thread instead of several, and a look for records beyond a buffer.

Beside ours stands DuckDB's parallel reader with the same rules, which miscounts the second file. By the clock and in
CPU time, because threads are what is given up. The files are made here, in a folder that goes away.
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

import duckdb

from hubbub.engines.files.csv_file import csv_header, csv_relation
from hubbub.engines.files.csv_records import LONGEST, survey
from hubbub.engines.files.files import open_file
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import CountQuery, ExactCounts

ROWS: Final = 2_000_000
REPEATS: Final = 5
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


def best(works: Mapping[str, Callable[[], object]]) -> dict[str, tuple[float, float]]:
    """Seconds by the clock and of CPU: the best of several repeats, taken in turn."""
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(REPEATS):
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
                    "DuckDB, one thread": partial(raw.execute, one),
                    "the look for long records": partial(survey, str(place), ",", LONGEST),
                    "ours, opening included": partial(_ours, place),
                }
            )
            size = place.stat().st_size / 1e6
            for name, (clock, cpu) in found.items():
                print(f"{words:42s} {size:4.0f} MB   {name:26s} {clock:5.2f} s, CPU {cpu:5.2f} s", file=sys.stderr)
                print(json.dumps({"file": words, "mb": size, "task": name, "clock": clock, "cpu": cpu}))


def _ours(place: Path) -> ExactCounts:
    return open_file(place).count(CountQuery(axes=(parse("town"),)), ScriptedSource())


if __name__ == "__main__":
    main()
