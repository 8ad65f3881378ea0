"""Releases on Spark by Tumult Analytics and by Hubbub: the same frame, the same session, in turn; one JSON line each.

Run in an environment of its own (spark-peers.txt), with PYSPARK_PYTHON set to its Python and PYTHONPATH to src: CPU is
that of this process and all that it started (Java, Python workers). Of each row a person the best of three runs, as the
first one warms up; of one row of each person one run.
``python -m benchmarks.spark_peers 20000000`` says how many rows.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import hubbub
from benchmarks.spark import session

BINS: Final = 1000
REPEATS: Final = 3
_TICKS: Final = os.sysconf("SC_CLK_TCK")


def cpu() -> float:
    """Seconds of CPU that this process and all below it have used, those that ended included."""
    parents: dict[int, int] = {}
    spent: dict[int, float] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        number = int(place.parent.name)
        parents[number], spent[number] = int(words[1]), sum(map(int, words[11:15])) / _TICKS
    own = {os.getpid()}
    while more := {number for number, parent in parents.items() if parent in own} - own:
        own |= more
    return sum(spent[number] for number in own)


def tumult_count(frame: Any) -> Callable[[], int]:
    """Counts of declared bins with noise of epsilon 1; each row is a person."""
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    whole = Session.from_dataframe(PureDPBudget(1000), "people", frame, AddOneRow())
    query = QueryBuilder("people").groupby(KeySet.from_dict({"small": list(range(BINS))})).count()
    return lambda: len(whole.evaluate(query, PureDPBudget(1)).collect())


def tumult_one_row(frame: Any) -> Callable[[], int]:
    """The same, of people with several rows of whom one is kept."""
    from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

    whole = Session.from_dataframe(PureDPBudget(1000), "people", frame, AddRowsWithID("person"))
    keys = KeySet.from_dict({"small": list(range(BINS))})
    query = QueryBuilder("people").enforce(MaxRowsPerID(1)).groupby(keys).count()
    return lambda: len(whole.evaluate(query, PureDPBudget(1)).collect())


def ours(frame: Any, folder: str, **words: Any) -> Callable[[], int]:
    """The whole of a release, with a ledger of its own each time: the same people are not paid for twice."""
    count = iter(range(REPEATS + 1))

    def released() -> int:
        who: dict[str, Any] = {"person": "person"} if words else {"rows_are_people": True}
        ledger = Path(folder) / f"{len(words)}-{next(count)}" / "ledger"
        people = hubbub.open(frame, dataset="people", ledger=ledger, **who)
        return len(people.histogram([f"small:0..{BINS}:1"], epsilon=1, accept_weak=True, **words))

    return released


def main() -> None:
    rows = int((sys.argv[1:] or ["20000000"])[0])
    with tempfile.TemporaryDirectory() as folder:
        spark = session(folder)
        place = f"{folder}/people.parquet"
        cells = f"pmod(xxhash64(id), {rows // 4}) AS person", f"pmod(xxhash64(id, 7), {BINS}) AS small"
        spark.range(rows).selectExpr(*cells).write.parquet(place)
        frame = spark.read.parquet(place)
        for task, theirs, mine in (
            ("1,000 bins, each row a person", tumult_count(frame), ours(frame, folder)),
            (
                "1,000 bins, one row of each person",
                tumult_one_row(frame),
                ours(frame, folder, one_row_per_person=True),
            ),
        ):
            times: dict[Callable[[], int], list[tuple[float, float]]] = {theirs: [], mine: []}
            for _ in range(REPEATS if task.endswith("a person") else 1):
                for work, spent in times.items():
                    start, begun = cpu(), time.perf_counter()
                    assert work() == BINS
                    spent.append((cpu() - start, time.perf_counter() - begun))
            for name, spent in (("Tumult Analytics", times[theirs]), ("Hubbub", times[mine])):
                (used, wall), first = min(spent), spent[0]
                told = {"who": name, "task": task, "rows": rows, "cpu": round(used, 1), "wall": round(wall, 1)}
                print(json.dumps({"benchmark": "spark_peers", **told, "first_cpu": round(first[0], 1)}), flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
