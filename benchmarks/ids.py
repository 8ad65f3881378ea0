"""What it costs to see that nobody has two rows, at size: CPU time beside the bare count, and memory.

The bare count is DuckDB's own ``GROUP BY`` of another column, which reads no id. Each figure is of a process of its own,
so that its memory is; the best of some repeats. ``python -m benchmarks.ids [ROWS]``; ten times fewer are measured too.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from benchmarks.release import cpu

ROWS: Final = 100_000_000
REPEATS: Final = 3
GIB: Final = 1.0
GROWTH: Final = 10.5  # times the time, for ten times the rows
KINDS: Final = {
    "whole numbers in order": ("i", 4.0),
    "whole numbers in no order": ("(i * 7919999 % {rows})::BIGINT", 4.0),
    "numbers of 63 bits": ("(hash(i) >> 1)::BIGINT", 10.0),
    "texts": ("'p' || i", 10.0),
}


def make_table(place: Path, who: str, rows: int) -> None:
    """One row for each person, with a column to count by."""
    import duckdb

    ids = who.format(rows=rows)
    duckdb.execute("SET preserve_insertion_order = false")
    duckdb.execute("SET enable_progress_bar = false")
    duckdb.execute(
        f"COPY (SELECT {ids} AS id, (hash(i + 1) % 1000)::INTEGER AS small FROM range({rows}) t(i)) "
        f"TO '{place}' (FORMAT parquet)"
    )


def measured(place: Path) -> tuple[float, float, float]:
    """CPU of the bare count and of ours, who is there being told, and the largest memory of the process in GiB."""
    import duckdb

    from hubbub.engines.opening import open_source
    from hubbub.ledger.sketch import MOST, sketch
    from hubbub.noise.source import SystemSource
    from hubbub.tables.bins import parse
    from hubbub.tables.engine import CountQuery
    from hubbub.tables.identity import Chosen, IdObserver

    def tell(chosen: Chosen) -> None:
        sketch(chosen, bytes(32))

    table = open_source(place).observing_ids(IdObserver(turn=1, most=MOST, on_chosen=tell))
    question = CountQuery(axes=(parse("small:0..1000:1"),), person="id")
    duckdb.execute("SET enable_progress_bar = false")
    raw, ours = [], []
    for _ in range(REPEATS):
        raw.append(cpu(lambda: duckdb.execute(f"SELECT small, count(*) FROM '{place}' GROUP BY small").fetchall()))
        ours.append(cpu(lambda: table.count(question, SystemSource())))
    return min(raw), min(ours), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def row(task: str, limit: float, **figures: float) -> None:
    """One line for people, one for programs."""
    verdict = "met" if figures["ratio"] <= limit and figures.get("gib", 0) <= GIB else "MISSED"
    shown = ", ".join(f"{name} {value:.2f}" for name, value in figures.items())
    print(f"{task:50s} {shown} (at most {limit}) {verdict}", file=sys.stderr)
    print(json.dumps({"task": task, **figures, "limit": limit}))


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    for name, (who, limit) in KINDS.items():
        seconds = []
        for many in (rows // 10, rows):
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / "people.parquet"
                with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as alone:
                    alone.submit(make_table, place, who, many).result()
                    raw, ours, gib = alone.submit(measured, place).result()
            seconds.append(ours)
        row(f"{rows:,} {name}", limit, raw_cpu=raw, cpu=ours, gib=gib, ratio=ours / raw)
        row(f"ten times the {name}", GROWTH, ratio=seconds[1] / seconds[0])


if __name__ == "__main__":
    main()
