"""What a private histogram costs beside DuckDB's own GROUP BY, in CPU time, in one run.

The release is the Python call: ledger, counting, sample, channel, intervals, release object. Files, report and the
start of the interpreter are not in it. The table is made here, in a folder that goes away.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any, Final

import duckdb

from hubbub.kinds.table import Table
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from hubbub.protocol.release import Release
from hubbub.release import execute, save

ROWS: Final = 20_000_000
PEOPLE: Final = 5_000_000
REPEATS: Final = 5
AHEAD: Final = 100  # ledgers, more than there are releases of one table
FEW: Final = 1_000_000  # people in very many declared bins
MANY_BINS: Final = (1_000, 10_000)  # of two columns
KEPT: Final = 3  # rows of a person, of about four
CAP: Final = 1_000
_NUMBERS: Final = count(1)


def make_table(place: Path) -> None:
    """Even bins of 1,000 and 50,000 values, and people with four rows each on average."""
    duckdb.execute(
        f"COPY (SELECT (hash(i) % 1000)::INTEGER AS small, (hash(i + 1) % 50000)::INTEGER AS large, "
        f"(hash(i + 2) % {PEOPLE})::BIGINT AS person FROM range({ROWS}) t(i)) TO '{place}' (FORMAT parquet)"
    )


def _made(folder: Path) -> Ledger:
    """A new ledger. Making one takes 10 ms, once in the life of a publisher, so it is made before the clock runs."""
    ledger = Ledger(folder / f"ledger-{next(_NUMBERS)}.db")
    ledger.new()
    return ledger


class _Fresh:
    """A table whose every release is the first one in a ledger of its own: a ledger would know its people again."""

    def __init__(self, place: Path, folder: Path, person: str | None = None) -> None:
        self._opened = open_table(place, person=person, rows_are_people=person is None)
        self._ledgers, self._person = [_made(folder) for _ in range(AHEAD)], person

    def histogram(self, by: list[str], **words: Any) -> Release:
        return self._fresh().histogram(by, **words)

    def sum(self, of: str, **words: Any) -> Release:
        return self._fresh().sum(of, **words)

    def _fresh(self) -> Table:
        engine, ledger = self._opened.engine, self._ledgers.pop()
        return Table(
            engine,
            self._person,
            lambda spec, *, accept_weak=False: execute(spec.bind(engine.columns()), engine, ledger, "people"),
        )


def cpu(work: Callable[[], object]) -> float:
    """Seconds of CPU, all threads."""
    start = time.process_time()
    work()
    return time.process_time() - start


def best(*works: Callable[[], object]) -> list[float]:
    """The best of several repeats of each, taken in turn so that a busy machine hurts all alike."""
    times = [[cpu(work) for work in works] for _ in range(REPEATS)]
    return [min(column) for column in zip(*times, strict=True)]


def row(task: str, raw: float, ours: float, limit: float) -> None:
    """One line for people, one for programs."""
    verdict = "met" if ours <= limit * raw else "MISSED"
    print(
        f"{task:58s} raw {raw:6.2f} s   ours {ours:6.2f} s   {ours / raw:5.2f} x   (at most {limit}) {verdict}",
        file=sys.stderr,
    )
    print(json.dumps({"task": task, "raw_cpu": raw, "cpu": ours, "ratio": ours / raw, "limit": limit}))


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "people.parquet"
        _ten_million(Path(folder))  # first, while the peak of memory is still low
        make_table(place)
        people = _Fresh(place, Path(folder))
        raw_connection = duckdb.connect()

        def raw(sql: str) -> Callable[[], object]:
            return lambda: raw_connection.sql(sql.format(f"read_parquet('{place}')")).to_arrow_table()

        for column, bins in (("small", 1000), ("large", 50000)):
            by = [f"{column}:0..{bins}:1"]
            group = raw(f"SELECT {column}, count(*) FROM {{}} GROUP BY {column}")
            for words in ({"crowd": 20}, {"epsilon": 1}, {"crowd": 20, "epsilon": "0.5"}, {"outlier": "1:0.01,101:1"}):
                for sample in (None, "0.1"):
                    if sample and "outlier" in words:
                        continue
                    once = lambda by=by, words=words, sample=sample: people.histogram(by, sample=sample, **words)  # noqa: E731
                    base, ours = best(group, once)
                    row(f"{bins:,} bins, {words}, sample {sample}", base, ours, 1.25)
        one = _Fresh(place, Path(folder), person="person")
        by = ["small:0..1000:1"]
        kept: dict[str, Any] = {"epsilon": 1, "rows_per_person": KEPT}
        tasks: dict[str, Callable[[], Release]] = {
            "one row of each person": lambda: one.histogram(by, crowd=20, one_row_per_person=True),
            f"at most {KEPT} rows of each person": lambda: one.histogram(by, **kept),
            f"a total of at most {KEPT} rows and {CAP:,} of each person": lambda: one.sum(by[0], cap=CAP, **kept),
        }
        base, *found = best(
            raw("SELECT count(*) FROM (SELECT person, count(*) AS n FROM {} GROUP BY person) WHERE n > 0"),
            *tasks.values(),
        )
        for task, ours in zip(tasks, found, strict=True):
            row(f"{task}, of about four", base, ours, 1.3)


def _ten_million(folder: Path) -> None:
    """A million people in 10 million declared bins, to Parquet: it is the bins that cost."""
    small, large = MANY_BINS
    place = folder / "few.parquet"
    duckdb.execute(
        f"COPY (SELECT (hash(i) % {small})::INTEGER AS small, (hash(i + 1) % {large})::INTEGER AS large "
        f"FROM range({FEW}) t(i)) TO '{place}' (FORMAT parquet)"
    )
    people = _Fresh(place, folder)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    by = [f"small:0..{small}:1", f"large:0..{large}:1"]
    seconds = cpu(lambda: save(people.histogram(by, epsilon=1), folder / "out", form="parquet", report=False))
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    words = f"10 million declared bins to Parquet: {seconds:.2f} s of CPU (at most 5), {extra:.2f} GiB more (at most 1)"
    print(words, file=sys.stderr)
    print(json.dumps({"task": "10 million declared bins to Parquet", "cpu": seconds, "gib": extra}))


if __name__ == "__main__":
    main()
