"""Counting in Spark beside Spark's own GROUP BY: CPU time of the Java process, the best of several runs in turn.

All tasks, or those whose names begin as the words on the command line: ``python -m benchmarks.spark one``.

Needs pyspark and a Java runtime; without them it says so and measures nothing.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import duckdb

from hubbub.engines.opening import open_source
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import Countable, Discovered, Values, parse
from hubbub.tables.engine import CountQuery, MultiRowPolicy

ROWS: Final = 20_000_000
PEOPLE: Final = ROWS // 4
LIMIT, ONE_ROW_LIMIT = 1.2, 1.3
REPEATS: Final = 4  # Java gets faster as it goes


def make_table(place: Path) -> None:
    cells = ", ".join(
        (
            f"(hash(i) % {PEOPLE})::BIGINT AS person",
            "(hash(i + 1000000007) % 1000)::INTEGER AS small",
            "(hash(i * 3 + 7) % 50000)::INTEGER AS large",
            "'town ' || (hash(i + 5) % 1000) AS town",
        )
    )
    duckdb.execute(f"COPY (SELECT {cells} FROM range({ROWS}) t(i)) TO '{place}' (ROW_GROUP_SIZE 1000000)")


def session(folder: str, memory: str = "1g") -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName("hubbub bench").master("local[2]")
    for name, value in {
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
    }.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def clock(spark: Any) -> Callable[[], float]:
    """Seconds of CPU that the Java process has used, all threads."""
    java = spark._jvm.java.lang
    bean = java.management.ManagementFactory.getOperatingSystemMXBean()
    used = java.Class.forName("com.sun.management.OperatingSystemMXBean").getMethod("getProcessCpuTime", None)
    return lambda: used.invoke(bean, None) / 1e9


def main() -> None:
    if find_spec("pyspark") is None or shutil.which("java") is None:
        print("Spark: not measured, because pyspark or a Java runtime is not installed", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        make_table(Path(folder) / "people.parquet")
        spark = session(folder)
        frame = spark.read.parquet(f"{folder}/people.parquet")
        frame.createOrReplaceTempView("people")
        cpu, table = clock(spark), open_source(frame)

        def raw(sql: str) -> Callable[[], object]:
            return lambda: spark.sql(sql).toArrow()

        def ours(*axes: Countable, **question: Any) -> Callable[[], object]:
            return lambda: table.count(CountQuery(axes=axes, **question), SystemSource())

        by_person = "SELECT count(*), max(n) FROM (SELECT person, count(*) AS n FROM people GROUP BY person)"
        one_row: dict[str, Any] = {"person": "person", "repeats": MultiRowPolicy.ONE_ROW}
        towns = Values("town", tuple(f"town {i}" for i in range(1000)))
        small, large, town = parse("small:0..1000:1"), parse("large:0..50000:1,null,other"), Discovered("town")
        count = "SELECT {0}, count(*) FROM people GROUP BY {0}"
        for name, theirs, mine, limit in (
            ("1,000 bins of numbers", raw(count.format("small")), ours(small), LIMIT),
            ("50,000 bins of numbers", raw(count.format("large")), ours(parse("large:0..50000:1")), LIMIT),
            ("1,000 listed texts", raw(count.format("town")), ours(towns), LIMIT),
            ("one row per person", raw(by_person), ours(small, **one_row), ONE_ROW_LIMIT),
            ("one row, two columns", raw(by_person), ours(small, large, **one_row), ONE_ROW_LIMIT),
            ("one row, found texts too", raw(by_person), ours(town, small, **one_row), ONE_ROW_LIMIT),
            ("one row, three columns", raw(by_person), ours(town, small, large, **one_row), ONE_ROW_LIMIT),
        ):
            if not name.startswith(tuple(sys.argv[1:] or [""])):
                continue
            spent: dict[Callable[[], object], list[tuple[float, float]]] = {theirs: [], mine: []}
            for _ in range(REPEATS if limit == LIMIT else 1):
                for work, times in spent.items():
                    start, begun = cpu(), time.perf_counter()
                    work()
                    times.append((cpu() - start, time.perf_counter() - begun))
            (base, base_wall), (own, own_wall) = (min(times) for times in spent.values())
            print(
                f"{name:24} raw {base:6.1f}  ours {own:6.1f}  ratio {own / base:.2f}  at most {limit}", file=sys.stderr
            )
            walls = {"raw_wall": round(base_wall, 1), "ours_wall": round(own_wall, 1)}
            told = {"task": name, "raw": round(base, 2), "ours": round(own, 2), "ratio": round(own / base, 3), **walls}
            print(json.dumps({"benchmark": "spark", **told, "limit": limit}), flush=True)
        spark.stop()


if __name__ == "__main__":
    main()
