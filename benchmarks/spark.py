"""Counting in Spark beside Spark's own GROUP BY: CPU time of the Java process, the best of several runs in turn.

All tasks, or those whose names begin as the words on the command line: ``python -m benchmarks.spark one``. Java runs what
is new to it slowly, and compiles it meanwhile: so everything, Spark's own queries too, is first run on a tenth.

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
from hubbub.tables.bins import Discovered, Values, parse
from hubbub.tables.engine import CountQuery, MultiRowPolicy

ROWS: Final = 20_000_000
PEOPLE: Final = ROWS // 4
LIMIT, ONE_ROW_LIMIT = 1.2, 1.3
REPEATS, ONE_ROW_REPEATS = 4, 2
WARMING: Final = 2  # runs on a tenth of the rows


RAW: Final = "Spark's own"
Work = Callable[[str], object]
"""What is run on a table of this name."""


def make_table(place: Path, rows: int = 0, people: int = 0) -> None:
    rows, people = rows or ROWS, people or PEOPLE
    cells = ", ".join(
        (
            f"(hash(i) % {people})::BIGINT AS person",
            "(hash(i + 1000000007) % 1000)::INTEGER AS small",
            "(hash(i * 3 + 7) % 50000)::INTEGER AS large",
            "'town ' || (hash(i + 5) % 1000) AS town",
            "DATE '2020-01-01' + (hash(i + 11) % 1000)::INTEGER AS day",
        )
    )
    duckdb.execute("SET enable_progress_bar = false")  # it would stand before the first row
    duckdb.execute(f"COPY (SELECT {cells} FROM range({rows}) t(i)) TO '{place}' (ROW_GROUP_SIZE 1000000)")


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
        make_table(Path(folder) / "tenth.parquet", ROWS // 10, PEOPLE // 10)
        spark = session(folder)
        frames = {name: spark.read.parquet(f"{folder}/{name}.parquet") for name in ("tenth", "people")}
        for name, frame in frames.items():
            frame.createOrReplaceTempView(name)
        cpu, tables = clock(spark), {name: open_source(frame) for name, frame in frames.items()}

        def raw(sql: str) -> Work:
            return lambda name: spark.sql(sql.format(name)).toArrow()

        def ours(question: CountQuery) -> Work:
            return lambda name: tables[name].count(question, SystemSource())

        for sql, (questions, limit) in tasks().items():
            asked = {name: each for name, each in questions.items() if name.startswith(tuple(sys.argv[1:] or [""]))}
            if asked:
                works = {RAW: raw(sql), **{name: ours(each) for name, each in asked.items()}}
                measure(works, limit, REPEATS if limit == LIMIT else ONE_ROW_REPEATS, cpu)
        spark.stop()


def tasks() -> dict[str, tuple[dict[str, CountQuery], float]]:
    """By the query of Spark's own that they stand beside: what is asked, and how many times as much it may cost."""
    small, large = parse("small:0..1000:1"), parse("large:0..50000:1,null,other")
    towns = Values("town", tuple(f"town {i}" for i in range(1000)))
    count = "SELECT {0}, count(*) FROM {{}} GROUP BY {0}"
    kept = {
        "one row per person": (small,),
        "one row, two columns": (small, large),
        "one row, found texts too": (Discovered("town"), small),
        "one row, three columns": (Discovered("town"), small, Discovered("day")),
    }
    one_row: dict[str, Any] = {"person": "person", "repeats": MultiRowPolicy.ONE_ROW}
    return {
        count.format("small"): ({"1,000 bins of numbers": CountQuery(axes=(small,))}, LIMIT),
        count.format("large"): ({"50,000 bins of numbers": CountQuery(axes=(parse("large:0..50000:1"),))}, LIMIT),
        count.format("town"): ({"1,000 listed texts": CountQuery(axes=(towns,))}, LIMIT),
        "SELECT count(*), max(n) FROM (SELECT person, count(*) AS n FROM {} GROUP BY person)": (
            {name: CountQuery(axes=axes, **one_row) for name, axes in kept.items()},
            ONE_ROW_LIMIT,
        ),
    }


def measure(works: dict[str, Work], limit: float, repeats: int, cpu: Callable[[], float]) -> None:
    """Run all in turn, and print a row for each but Spark's own."""
    for work in list(works.values()) * WARMING:
        work("tenth")
    spent: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            start, begun = cpu(), time.perf_counter()
            work("people")
            spent[name].append((cpu() - start, time.perf_counter() - begun))
    base, base_wall = min(spent.pop(RAW))
    for name, times in spent.items():
        own, own_wall = min(times)
        print(f"{name:24} raw {base:6.1f}  ours {own:6.1f}  ratio {own / base:.2f}  at most {limit}", file=sys.stderr)
        walls = {"raw_wall": round(base_wall, 1), "wall": round(own_wall, 1)}
        told = {"task": name, "raw_cpu": round(base, 2), "cpu": round(own, 2), **walls, "ratio": round(own / base, 3)}
        print(json.dumps({"benchmark": "spark", **told, "limit": limit}), flush=True)


if __name__ == "__main__":
    main()
