"""Cost against size: seconds of CPU by rows, bins, releases in a ledger, ballots and vertices, and the exponents.

``python -m benchmarks.growth [--at-most N] [--write]``. An exponent of 1 is: ten times the size, ten times the time. It
is that of the line through the last three sizes, in logarithms; the smaller ones cost mostly what every run costs.
``--write`` puts table and chart into docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Final

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks import figures, graphs
from benchmarks.ledger import fill
from hubbub.charts import lines_chart
from hubbub.graphs.distances import facts
from hubbub.graphs.readers import load
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.charge import charge
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy
from hubbub.noise.source import SystemSource
from hubbub.opening import open as open_table
from hubbub.protocol.bound import Bound
from hubbub.release import save
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.rules import InstantRunoff

PAGE: Final = Path(__file__).parents[1] / "docs" / "scale.md"
CHART: Final = PAGE.with_name("growth.svg")
NAME: Final = "growth"
REPEATS: Final = 3
LIMIT: Final = 1.05
LAST: Final = 3  # sizes that the exponent is fitted to
LINKS: Final = 5  # for each vertex
NAMES: Final = tuple("abcdefghij")
BALLOTS: Final = 1_000_000  # made at a time
KEPT_FREE: Final = 30 << 30  # bytes of the disk
BYTES: Final = 3  # of a row in Parquet, at most
LONG: Final = 12.0  # seconds; what takes longer is run once

Task = Callable[[], object]


def rows(folder: Path, size: int) -> Task | None:
    """A histogram of 1,000 bins with noise, of a Parquet file of so many rows."""
    if shutil.disk_usage(folder).free - BYTES * size < KEPT_FREE:
        return None
    place = folder / "rows.parquet"
    towns = f"SELECT (hash(i) % 1000)::SMALLINT AS town FROM range({size}) t(i)"
    duckdb.execute(f"COPY ({towns}) TO '{place}' (FORMAT parquet)")
    table = open_table(place, rows_are_people=True, unlisted="1", dataset="town", ledger=folder / f"rows-{size}.db")
    return lambda: table.histogram(["town:0..1000:1"], epsilon="0.001")


def bins(folder: Path, size: int) -> Task:
    """A histogram of so many declared bins of two columns with noise, published as Parquet."""
    wide = 10 ** (len(str(size)) // 2)
    return _published(folder, size, [f"town:0..{size // wide}:1", f"age:0..{wide}:1"])


def labels(folder: Path, size: int) -> Task:
    """The same of one column, each with a label of its own."""
    return _published(folder, size, [f"age:0..{size}:1"])


def _published(folder: Path, size: int, by: list[str]) -> Task:
    people = pa.table({"town": [i % 2 for i in range(100)], "age": list(range(100))})
    table = open_table(
        people, rows_are_people=True, unlisted="1", dataset="town", ledger=folder / f"bins-{len(by)}-{size}.db"
    )

    def work() -> None:
        out = folder / "published"
        save(table.histogram(by, epsilon="0.001"), out, form="parquet")
        shutil.rmtree(out)

    return work


def releases(folder: Path, size: int) -> Task:
    """`hubbub ledger check` of so many releases of one dataset."""
    book = Ledger(folder / f"releases-{size}.db")
    book.set_policy("town", Policy(delta=Fraction(1, 2)))
    fill(book, charge(Bound(histogram(["a=x,y"], epsilon="0.001"))), size, True)
    return book.check


def ballots(folder: Path, size: int) -> Task:
    """Instant runoff of ten candidates."""
    many, source = -(-size // BALLOTS), SystemSource()
    lots = [source.words(min(size, BALLOTS) * len(NAMES)).reshape(-1, len(NAMES)) for _ in range(many)]
    orders = np.concatenate([np.argsort(lot, axis=1).astype(np.uint8) for lot in lots])[:size]
    return lambda: InstantRunoff().run(Ballots.from_rows(NAMES, orders, trusted=True), source)


def vertices(folder: Path, size: int) -> Task:
    """Every exact distance of a graph with five links for each vertex, from a Parquet file."""
    place = folder / "links.parquet"
    graphs.make_graph(place, size, LINKS * size)
    return lambda: facts(load(place, vertices=size))


SIZES: Final[dict[str, tuple[Callable[[Path, int], Task | None], Sequence[int]]]] = {
    "rows": (rows, [10**n for n in range(5, 10)]),
    "bins": (bins, [10**n for n in range(2, 9)]),
    "labels": (labels, [10**n for n in range(2, 8)]),
    "releases": (releases, [10**n for n in range(1, 6)]),
    "ballots": (ballots, [10**n for n in range(3, 8)]),
    "vertices": (vertices, [10**n for n in range(3, 8)]),
}


def cpu(task: Task) -> tuple[float, float]:
    """Seconds of CPU, the best of several runs, or of one that is long; and those of them that the system took, which
    hands out memory and clears it."""
    best = float("inf"), 0.0
    for _ in range(REPEATS):
        start = resource.getrusage(resource.RUSAGE_SELF)
        task()
        end = resource.getrusage(resource.RUSAGE_SELF)
        system = end.ru_stime - start.ru_stime
        best = min(best, (end.ru_utime - start.ru_utime + system, system))
        if best[0] > LONG:
            break
    return best


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """The slope of the last sizes, in logarithms; None if the cost hardly grows."""
    if len(points) < LAST or points[-1][1] < 2 * points[-LAST][1]:
        return None
    logs = np.log(np.array(points[-LAST:]))
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def measured(at_most: int) -> dict[str, list[tuple[float, float]]]:
    """For each kind of size the sizes with their costs; one JSON line and one for people as they come."""
    found: dict[str, list[tuple[float, float]]] = {}
    by_system: dict[str, float] = {}  # of the largest size
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        for kind, (make, sizes) in SIZES.items():
            for size in (each for each in sizes if each <= at_most):
                task = make(Path(folder), size)
                if task is None:
                    print(f"{kind:10s} {size:>14,}  left out, for want of room on the disk", file=sys.stderr)
                    continue
                if kind not in found:
                    task()  # the first use of a library is no part of the growth
                seconds, by_system[kind] = cpu(task)
                found.setdefault(kind, []).append((size, seconds))
                told = f"{seconds:9.3f} s of CPU, {by_system[kind]:.3f} of them the system's"
                print(f"{kind:10s} {size:>14,} {told}", file=sys.stderr)
    for kind, points in found.items():
        slope = exponent(points)
        row = {
            "benchmark": NAME,
            "by": kind,
            "largest": int(points[-1][0]),
            "seconds": points[-1][1],
            "system": by_system[kind],
        }
        exponents = {} if slope is None else {"exponent": slope, "limit": LIMIT}
        print(json.dumps({**row, **exponents}), flush=True)
    return found


def section(found: dict[str, list[tuple[float, float]]], where: str) -> str:
    """The chart and a table: a row for each kind of size, the cost at every power of ten."""
    sizes = sorted({size for points in found.values() for size, _ in points})
    heads = [f"10^{round(np.log10(size))}" for size in sizes]
    lines = [f"| by | {' | '.join(heads)} | exponent |", f"|---|{'---|' * (len(sizes) + 1)}"]
    for kind, points in found.items():
        costs, slope = dict(points), exponent(points)
        cells = [f"{costs[size]:.3g}" if size in costs else "" for size in sizes]
        lines.append(f"| {kind} | {' | '.join(cells)} | {'flat' if slope is None else f'{slope:.2f}'} |")
    picture = f"![Seconds of CPU by size, both axes in powers of ten]({CHART.name})"
    return "\n".join([f"Seconds of CPU. *{where}.*", "", picture, "", *lines])


def write(found: dict[str, list[tuple[float, float]]], where: str) -> None:
    """Put chart and table into the page, between its marks."""
    lines = lines_chart({"": found}, x="size", y="seconds of CPU", log=True, log_across=True, marks=True)
    lines.save(CHART)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(figures.replaced(page, NAME, section(found, where)), encoding="utf-8")


def main() -> None:
    asked = argparse.ArgumentParser()
    asked.add_argument("--at-most", type=int, default=10**9)
    asked.add_argument("--write", action="store_true")
    words = asked.parse_args()
    where = figures.machine()
    found = measured(words.at_most)
    if words.write:
        write(found, where)


if __name__ == "__main__":
    main()
