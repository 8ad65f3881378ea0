"""What it costs to know the same people again: counting with and without telling who is in the table, in CPU time."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import duckdb

from hubbub.engines.opening import open_source
from hubbub.ledger.sketch import MOST, sketch
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import CountQuery, MultiRowPolicy
from hubbub.tables.identity import Chosen, IdObserver

ROWS: Final = 5_000_000
LINES: Final = 500_000
LIMIT: Final = 1.10
REPEATS: Final = 5


def make_tables(folder: Path) -> dict[str, tuple[Path, MultiRowPolicy]]:
    """Four rows for each person on average, or one; ids that are numbers, texts, and texts of digits."""
    person = f"hash(i) % {ROWS // 4}"
    cut = "(hash(i + 1) % 1000)::INTEGER AS small"
    found: dict[str, tuple[Path, MultiRowPolicy]] = {}
    for name, who, rows, end, repeats in (
        ("numbers, one row each", "i", ROWS, "parquet", MultiRowPolicy.REFUSE),
        ("numbers, four rows each", f"({person})::BIGINT", ROWS, "parquet", MultiRowPolicy.ONE_ROW),
        ("texts, four rows each", f"'p' || ({person})", ROWS, "parquet", MultiRowPolicy.ONE_ROW),
        ("texts of digits, four rows each", f"({person})::VARCHAR", ROWS, "parquet", MultiRowPolicy.ONE_ROW),
        ("csv, one row each", "i", LINES, "csv", MultiRowPolicy.REFUSE),
        ("csv, four rows each", person, LINES, "csv", MultiRowPolicy.ONE_ROW),
    ):
        place = folder / f"{len(found)}.{end}"
        duckdb.execute(f"COPY (SELECT {who} AS person, {cut} FROM range({rows}) t(i)) TO '{place}' (FORMAT {end})")
        found[name] = place, repeats
    return found


def cpu(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, (place, repeats) in make_tables(Path(folder)).items():
            table = open_source(place)
            question = CountQuery(axes=(parse("small:0..1000:1"),), person="person", repeats=repeats)

            def tell(chosen: Chosen) -> None:
                sketch(chosen, bytes(32))

            noticing = table.observing_ids(IdObserver(turn=1, most=MOST, on_chosen=tell))
            plain, told = [], []
            for _ in range(REPEATS):  # by turns, since other work on the machine moves both
                plain.append(cpu(lambda table=table, question=question: table.count(question, SystemSource())))  # type: ignore[misc]
                told.append(cpu(lambda table=noticing, question=question: table.count(question, SystemSource())))  # type: ignore[misc]
            ratio = min(told) / min(plain)
            verdict = "met" if ratio <= LIMIT else "MISSED"
            print(
                f"{name:36s} {min(plain):7.3f} s, telling who is there {min(told):7.3f} s: {ratio:.2f}  (at most "
                f"{LIMIT:.2f}) {verdict}",
                file=sys.stderr,
            )
            figures = {"without": min(plain), "with": min(told), "ratio": ratio, "limit": LIMIT}
            print(json.dumps({"task": name, **figures}))


if __name__ == "__main__":
    main()
