"""A release that a cluster writes: 10^7 declared bins of 2 million rows, two workers, one of them killed meanwhile.

::

    python -m benchmarks.far          some minutes on two cores
    python -m benchmarks.far large    10^8 bins of 20 million rows (a quarter of an hour)
    python -m benchmarks.far small    20,000 bins of 5,000 rows, the killed run alone: what a test runs

Each line is JSON: CPU seconds of all processes (the driver's, Java's, the Python workers'), seconds of wall time, the
most memory that the driver's processes held. A run that ends with another release than a whole one fails.

Needs pyspark and a Java runtime; without them it says so and measures nothing.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Final
from unittest.mock import patch

import duckdb
import pyarrow.parquet as pq

import hubbub
from hubbub import release as releasing
from hubbub.kinds.histogram import distributed
from hubbub.noise.source import BlockKeys, Source
from hubbub.protocol.result import Sheet
from hubbub.publication.files import write_parquet
from hubbub.publication.staging import PREFIX
from hubbub.verification import load, verify

WORKERS: Final = 2


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is: bins by three columns, rows, parts, megabytes of a worker, seconds that a part takes longer
    so that a worker can be killed meanwhile."""

    bins: tuple[int, int, int]
    rows: int
    parts: int
    memory: int
    pause: float = 0.0
    shuffle: int = 4 * WORKERS
    java: str = ""

    @property
    def by(self) -> list[str]:
        return [f"{name}:0..{many}:1" for name, many in zip("abc", self.bins, strict=True)]

    @property
    def total(self) -> int:
        a, b, c = self.bins
        return a * b * c


_QUICK: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"  # what lives for seconds is not optimised

SIZES: Final = {
    "usual": Size(bins=(1000, 1000, 10), rows=2_000_000, parts=64, memory=2048),
    "large": Size(bins=(1000, 1000, 100), rows=20_000_000, parts=64, memory=2048),
    "small": Size(bins=(20, 50, 20), rows=5_000, parts=6, memory=512, pause=0.3, shuffle=1, java=_QUICK),
}


def make_table(place: Path, size: Size) -> None:
    cells = ", ".join(f"(hash(i * 3 + {j}) % {many})::INTEGER AS {'abc'[j]}" for j, many in enumerate(size.bins))
    duckdb.execute("SET enable_progress_bar = false")  # it would stand before the first row
    duckdb.execute(f"COPY (SELECT {cells} FROM range({size.rows}) t(i)) TO '{place}' (ROW_GROUP_SIZE 500000)")


def session(folder: Path, size: Size) -> Any:
    """A cluster of two workers, whose files lie in a folder of ours: they write their logs where Spark is installed."""
    import pyspark

    home = folder / "spark"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (home / entry.name).symlink_to(entry)
    os.environ |= {"SPARK_HOME": str(home), "PYSPARK_PYTHON": sys.executable}
    (folder / "events").mkdir()
    (folder / "local").mkdir()
    builder = pyspark.sql.SparkSession.builder.appName("hubbub far")
    for name, value in {
        "spark.master": f"local-cluster[{WORKERS},1,{size.memory}]",
        "spark.executor.memory": f"{size.memory}m",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(size.shuffle),
        "spark.default.parallelism": str(size.shuffle),
        "spark.driver.extraJavaOptions": size.java,
        "spark.executor.extraJavaOptions": size.java,
        "spark.local.dir": str(folder / "local"),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": f"file://{folder / 'events'}",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


# --- processes ------------------------------------------------------------------------------------------------------


def _family() -> dict[int, list[str]]:
    """This process and all that it started, with what /proc says about each after its name."""
    known: dict[int, list[str]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                known[int(entry)] = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
    ours, new = {os.getpid()}, {os.getpid()}
    while new:
        new = {pid for pid, stat in known.items() if int(stat[1]) in new}
        ours |= new
    return {pid: known[pid] for pid in ours if pid in known}


def cpu() -> float:
    """Seconds that this process, all that it started and all that those waited for have used."""
    ticks = sum(int(number) for stat in _family().values() for number in stat[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def executors() -> list[int]:
    """The Java processes that run tasks."""
    return sorted(pid for pid in _family() if "CoarseGrainedExecutorBackend" in _command(pid))


def peak(pid: int) -> int:
    """The most memory that a process held, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def driver() -> int:
    """The Java process of the driver."""
    return next(pid for pid in _family() if "org.apache.spark.deploy.SparkSubmit" in _command(pid))


# --- a worker that is killed ----------------------------------------------------------------------------------------


@contextmanager
def killing(out: Path, after: int) -> Iterator[list[int]]:
    """Kill a worker's process as soon as so many parts are begun; the list says which."""
    killed: list[int] = []
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set() and not killed:
            if len(list(out.glob(f"{PREFIX}*/{distributed.WORK}/*"))) >= after:
                victim = executors()[0]
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
            stop.wait(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield killed
    finally:
        stop.set()
        watcher.join()


class Noted(BlockKeys):
    """A secret that is looked for afterwards in whatever Spark wrote."""

    secrets: Final[list[bytes]] = []

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        Noted.secrets.append(bytes(self._secret))


def secrets_in(folder: Path) -> list[str]:
    """The files in which a secret stands, as it is or in digits."""
    forms = [form for raw in Noted.secrets for form in (raw, raw.hex().encode(), base64.b64encode(raw)[:40])]
    files = [file for file in folder.rglob("*") if file.is_file() and not file.is_symlink()]
    return [str(file) for file in files if any(form in file.read_bytes() for form in forms)]


# --- runs -----------------------------------------------------------------------------------------------------------


def measured(work: Callable[[], object]) -> dict[str, float]:
    start, begun = cpu(), time.perf_counter()
    work()
    return {"cpu": round(cpu() - start, 1), "wall": round(time.perf_counter() - begun, 1)}


def published(table: Any, name: str, out: Path, size: Size) -> None:
    people = hubbub.open(table, rows_are_people=True, dataset=name, ledger=out.parent / f"{name}.sqlite")
    hubbub.save(people.histogram(size.by, epsilon=1, parts=size.parts), out)


def check(out: Path, size: Size) -> dict[str, object]:
    """That every bin is there once, in order, with files that are those that were certified."""
    found = verify(load(out / "certificate.json"), folder=out)
    assert found.passed, found.verdict
    files = sorted((out / "release").iterdir())
    rows = [pq.read_metadata(file).num_rows for file in files]
    assert len(files) == size.parts
    assert sum(rows) == size.total
    last: tuple[int, ...] = ()
    for file in files:  # each begins after the end of the one before
        ends = _ends(file)
        assert last < ends[0] <= ends[1]
        last = ends[1]
    assert not list(out.glob(f"{PREFIX}*"))
    return {"rows": sum(rows), "parts": len(files), "bytes": sum(file.stat().st_size for file in files)}


def _ends(file: Path) -> tuple[tuple[int, ...], tuple[int, ...]]:
    with pq.ParquetFile(file) as table:
        first = table.read_row_group(0, ["a", "b", "c"]).slice(0, 1).to_pylist()[0]
        group = table.read_row_group(table.num_row_groups - 1, ["a", "b", "c"])
        last = group.slice(group.num_rows - 1).to_pylist()[0]
    places = [tuple(int(text[1:].partition(",")[0]) for text in row.values()) for row in (first, last)]
    return places[0], places[1]


def tell(task: str, **numbers: object) -> None:
    print(json.dumps({"benchmark": "far", "task": task, **numbers}), flush=True)


def main() -> None:
    if find_spec("pyspark") is None or shutil.which("java") is None:
        print("far: not measured, because pyspark or a Java runtime is not installed", file=sys.stderr)
        return
    name = sys.argv[1] if len(sys.argv) > 1 else "usual"
    size = SIZES[name]
    with tempfile.TemporaryDirectory(prefix="hubbub-far-") as place:
        folder = Path(place)
        make_table(folder / "people.parquet", size)
        spark = session(folder, size)
        frame = spark.read.parquet(str(folder / "people.parquet"))
        if name != "small":
            frame.createOrReplaceTempView("people")
            count = "SELECT a, b, c, count(*) AS n FROM people GROUP BY a, b, c"
            raw = measured(lambda: spark.sql(count).write.format("noop").mode("overwrite").save())
            tell("Spark's own GROUP BY", **raw, rows=size.rows)
            times = measured(lambda: published(frame, "whole", folder / "whole", size))
            each = (times["cpu"] - raw["cpu"]) / size.total
            memory = {"driver_python_mb": peak(os.getpid()) >> 20, "driver_java_mb": peak(driver()) >> 20}
            tell(
                "release",
                raw_cpu=raw["cpu"],
                **times,
                ratio=round(times["cpu"] / raw["cpu"], 2),
                ns_per_bin=round(1e9 * each),
                **memory,
                **check(folder / "whole", size),
            )
            shutil.rmtree(folder / "whole")
        _killed(frame, folder, size)
        spark.stop()


def _killed(frame: Any, folder: Path, size: Size) -> None:
    def slowly(sheet: Sheet, out: IO[bytes], pause: float = size.pause) -> None:
        write_parquet(sheet, out)
        time.sleep(pause)

    before = executors()
    with (
        patch.object(distributed, "BlockKeys", Noted),
        patch.object(releasing, "write_parquet", slowly if size.pause else write_parquet),
        killing(folder / "killed", size.parts // 3) as killed,
    ):
        times = measured(lambda: published(frame, "killed", folder / "killed", size))
    assert killed and killed[0] in before and killed[0] not in executors(), "no worker was killed in the middle"
    told = check(folder / "killed", size)
    found = secrets_in(folder / "events") + secrets_in(folder / "killed") + secrets_in(folder / "spark" / "work")
    tell("release, a worker killed", **times, **told, workers_killed=len(killed), files_with_the_secret=len(found))
    assert not found, found
    assert Noted.secrets


if __name__ == "__main__":
    main()
