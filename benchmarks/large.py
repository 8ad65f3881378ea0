"""A domain too big to list, and points of two million people: CPU time and memory, from the table to the files."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import duckdb

from hubbub.opening import open as open_table
from hubbub.release import save

OCCUPIED: Final = 100_000
PEOPLE: Final = 30  # in each occupied bin
BINS: Final = ("a:0..10000:1", "b:0..10000:1", "c:0..10000:1")  # 10^12
POINTS: Final = 2_000_000
DOMAIN_SECONDS, DOMAIN_GIB, POINTS_SECONDS = 20, 2, 10


def make_tables(folder: Path) -> tuple[Path, Path]:
    """People in random bins of a large domain, and random points in a city."""
    bins, places = folder / "bins.parquet", folder / "points.parquet"
    code = f"hash(i // {PEOPLE}) % 1000000000000"
    parts = f"({code}) // 100000000 AS a, ({code}) // 10000 % 10000 AS b, ({code}) % 10000 AS c"
    duckdb.execute(f"COPY (SELECT {parts} FROM range({OCCUPIED * PEOPLE}) t(i)) TO '{bins}' (FORMAT parquet)")
    unit = "(hash({}) / 18446744073709551616.0)"
    normal = f"sqrt(-2 * ln({unit.format('2 * i')})) * {{}}(6.283185307179586 * {unit.format('2 * i + 1')})"
    x, y = (f"{middle} + 0.05 * {normal.format(name)}" for middle, name in ((-74.0, "cos"), (40.75, "sin")))
    duckdb.execute(f"COPY (SELECT {x} AS lon, {y} AS lat FROM range({POINTS}) t(i)) TO '{places}' (FORMAT parquet)")
    return bins, places


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of CPU, and the largest memory of the process so far in GiB."""
    start = time.process_time()
    work()
    return time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def row(task: str, seconds: float, limit: float, **more: float) -> None:
    rest = "".join(f", {name} {value:.2f}" for name, value in more.items())
    verdict = "met" if seconds <= limit else "MISSED"
    print(f"{task:60s} {seconds:6.2f} s of CPU (at most {limit}) {verdict}{rest}", file=sys.stderr)
    print(json.dumps({"task": task, "cpu": seconds, "limit": limit, **more}))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bins, places = make_tables(folder)
        asked: Sequence[tuple[str, dict[str, Any]]] = (
            ("crowd=20", {"crowd": 20}),
            ("outlier=1, show_above=14", {"mechanism": "warped:curve=1,show-above=14"}),
        )
        for i, (words, given) in enumerate(asked):

            def domain(i: int = i, given: dict[str, Any] = given) -> None:
                table = open_table(bins, rows_are_people=True, ledger=folder / f"{i}.db")
                save(table.histogram(BINS, **given), folder / f"bins-{i}", form="parquet")

            seconds, gib = measured(domain)
            row(f"10^12 declared bins, 10^5 with people, {words}", seconds, DOMAIN_SECONDS, gib=gib)
        raw, _ = measured(lambda: duckdb.execute(f"SELECT sum(lon), sum(lat) FROM '{places}'").fetchall())
        for form in ("parquet", "csv"):

            def city(form: str = form) -> None:
                table = open_table(places, rows_are_people=True, ledger=folder / f"points-{form}.db")
                box = [("-74.3", "-73.7"), ("40.5", "41.0")]
                done = table.points("lon,lat", grid=["0.01", "0.01"], box=box, crowd=20, epsilon=1)
                save(done, folder / form, form=form)

            seconds, gib = measured(city)
            row(
                f"points of 2 million people to {form}, with report",
                seconds - raw,
                POINTS_SECONDS,
                reading=raw,
                gib=gib,
            )


if __name__ == "__main__":
    main()
