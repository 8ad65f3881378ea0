"""Parts that Spark publishes: to the byte what one machine publishes with the same secret, whatever tasks suffer."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hubbub
from hubbub.engines.spark.spark_engine import open_frame as open_spark_frame
from hubbub.engines.spark.spark_publish import by_part
from hubbub.errors import Refused, WrongUse
from hubbub.kinds.count_tables import ask_counts
from hubbub.kinds.histogram.distributed import going
from hubbub.kinds.histogram.parts import cut_bins
from hubbub.kinds.histogram.spec import Histogram
from hubbub.noise.source import BlockKeys, ScriptedSource
from hubbub.publication.files import write_parquet
from hubbub.release import save
from hubbub.serialization.canonical import canonical
from hubbub.tables import bins
from hubbub.tables.engine import Engine, ExactCounts
from hubbub.tables.parts import Report, Task
from hubbub.verification import load, verify
from tests import servers
from tests.conformance.openers import from_arrow
from tests.fresh import spec_of
from tests.spreading import Cluster, in_turn, rows_of

pytestmark = pytest.mark.xdist_group("spark")

TABLE = pa.table(
    {
        "who": [i % 700 for i in range(2000)],
        "a": [i * i % 53 for i in range(2000)],
        "b": pa.array([None if i % 11 == 0 else i % 7 / 2 for i in range(2000)], pa.float64()),
        "t": pa.array([("Bath", "York", None, "\u00e9", "0x10")[i % 5] for i in range(2000)], pa.string()),
    }
)
EACH = TABLE.set_column(0, "who", pa.array(range(2000)))
NUMBERS = ["a:0..50:1", "b:0..3:1,null"]
KINDS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "a sample of numbers": (NUMBERS, {"epsilon": 1, "sample": "0.4"}),
    "texts": (["a:0..50:1", "t=Bath,\u00e9,null,other"], {"crowd": 5, "epsilon": "0.5"}),
    "too many to list": (["a:0..5000:1", "b:0..3:1,null"], {"outlier": "1", "show_above": 4}),
}


def frame(folder: Path, table: pa.Table = TABLE, start: Callable[[], Any] = servers.spark) -> Any:
    pq.write_table(table, folder / "people.parquet")
    return servers.or_skip(start).read.parquet(str(folder / "people.parquet"))


def task(spec: Histogram, work: Path, secret: BlockKeys | None = None) -> Task:
    work.mkdir(exist_ok=True)
    (work / "spec.json").write_bytes(canonical(spec.to_json()))
    keys = secret or BlockKeys(ScriptedSource.from_label("far"))
    return going(cut_bins(spec), keys, write_parquet, work)


def reports(engine: Engine, spec: Histogram, given: Task) -> list[Report]:
    spec = spec.with_schema(engine.columns())
    far = engine.remote_count(ask_counts(spec.axes, spec.unit), ScriptedSource.from_label("same"))  # type: ignore[attr-defined]
    return sorted(far.reports(cut_bins(spec), given))


def test_tasks_do_not_look_for_modules_in_the_current_folder(tmp_path: Path) -> None:
    """What lies beside the tables is not run by Spark's own processes of Python either."""
    people = frame(tmp_path)
    spec = spec_of(NUMBERS, {"epsilon": 1, "parts": 2}).with_schema(open_spark_frame(people).columns())
    open_spark_frame(people).remote_count(ask_counts(spec.axes, spec.unit), ScriptedSource.from_label("same"))

    def safe(parts: Any) -> Any:
        import sys

        yield from (pa.record_batch({"safe": [sys.flags.safe_path and "" not in sys.path]}) for _ in parts)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Spark, about versions of pandas, which is not used
        assert {row[0] for row in people.mapInArrow(safe, "safe boolean").collect()} == {True}


def plain(told: list[Report]) -> list[Report]:
    return [report._replace(name="") for report in told]


@pytest.mark.parametrize("kind", KINDS)
def test_spark_publishes_to_the_byte_what_one_machine_does_with_the_same_secret(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bins, "MOST_BINS", 10_000)
    by, words = KINDS[kind]
    here = from_arrow(TABLE, tmp_path)
    spec = spec_of(by, {**words, "parts": 3}).with_schema(here.columns())
    wanted = plain(reports(Cluster(here, in_turn), spec, task(spec, tmp_path / "here")))
    rows = frame(tmp_path)
    told = plain(reports(open_spark_frame(rows), spec, task(spec, tmp_path / "there")))
    assert told == wanted
    if kind == "texts":  # in other partitions, in another order, and laid out as before Spark 4.1
        other = rows.repartition(3, "t").sortWithinPartitions("a", ascending=False)
        for each in type(other).__mro__:
            monkeypatch.delattr(each, "repartitionById", raising=False)
        assert plain(reports(open_spark_frame(other), spec, task(spec, tmp_path / "other"))) == wanted


def test_the_rows_of_several_parts_in_one_partition_are_told_apart() -> None:
    def batch(*rows: tuple[int, int, int, str | None]) -> pa.RecordBatch:
        kinds = (pa.int32(), pa.int64(), pa.int64(), pa.string())
        columns = [pa.array(column, kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
        return pa.record_batch(columns, names=["part", "code", "n", "f0"])

    batches = [
        batch((2, 5, 1, "x"), (2, -1, 0, None), (4, -1, 0, None)),
        batch((4, 7, 3, None)),
        batch((4, 8, 2, "y"), (7, -1, 0, None)),
    ]
    told = [(part, _rows(counted)) for part, counted in by_part(iter(batches))]
    assert told == [(2, [(5, 1, "'x'")]), (4, [(7, 3, "None"), (8, 2, "'y'")]), (7, [])]


def test_tasks_that_fail_or_are_killed_are_tried_again_and_publish_the_same(tmp_path: Path) -> None:
    spec = spec_of(NUMBERS, {"epsilon": 1, "parts": 2})
    wanted = plain(reports(Cluster(from_arrow(TABLE, tmp_path)), spec, task(spec, tmp_path / "here")))
    given, notes = task(spec, tmp_path / "work"), tmp_path

    def fails(part: int, counted: ExactCounts) -> Report:
        report = given(part, counted)  # its file is there, and the driver is not told of it
        note = notes / f"failed-{part}"
        if not note.exists():
            note.touch()
            if part:
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError("Bath")
        return report

    assert plain(reports(open_spark_frame(frame(tmp_path)), spec, fails)) == wanted
    assert sorted(file.name for file in tmp_path.glob("failed-*")) == ["failed-0", "failed-1"]
    assert len(os.listdir(tmp_path / "work")) == 1 + 4  # with the description


def test_connect_publishes_the_same(tmp_path: Path) -> None:
    by, words = KINDS["texts"]
    spec = spec_of(by, {**words, "parts": 3})
    rows = frame(tmp_path, start=servers.connect)
    wanted = plain(reports(Cluster(from_arrow(TABLE, tmp_path)), spec, task(spec, tmp_path / "here")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert plain(reports(open_spark_frame(rows), spec, task(spec, tmp_path / "there"))) == wanted


def _rows(counted: ExactCounts) -> list[Any]:
    found = ([repr(label) for label in labels] for labels in counted.found)
    return list(zip(counted.codes.tolist(), counted.counts.tolist(), *found, strict=True))


@pytest.mark.parametrize("unit", [{"one_row_per_person": True}, {"distinct": 2}])
def test_people_with_several_rows_are_chosen_as_by_the_driver(unit: dict[str, Any], tmp_path: Path) -> None:
    channel = {"epsilon": 1} if "distinct" in unit else {"crowd": 2}
    spec = spec_of(["t", "a:0..50:10"] if "distinct" not in unit else NUMBERS, {**channel, **unit, "parts": 2}, "who")
    engine = open_spark_frame(frame(tmp_path))
    spec = spec.with_schema(engine.columns())

    def rows(counted: ExactCounts) -> list[Any]:  # in here: the tasks have no tests on their path
        found = ([repr(label) for label in labels] for labels in counted.found)
        return list(zip(counted.codes.tolist(), counted.counts.tolist(), *found, strict=True))

    def counts(part: int, counted: ExactCounts) -> Report:
        return Report(part, name=repr(sorted(rows(counted))))

    told = [row for report in reports(engine, spec, counts) for row in eval(report.name)]
    assert sorted(told) == sorted(
        _rows(engine.count(ask_counts(spec.axes, spec.unit), ScriptedSource.from_label("same")))
    )
    assert told


def test_found_bins_are_those_that_the_driver_finds(tmp_path: Path) -> None:
    spec = spec_of(["t", "a"], {"crowd": 5, "parts": 3})
    engine = open_spark_frame(frame(tmp_path))
    reports(engine, spec, task(spec, tmp_path / "work"))
    for file in (tmp_path / "work").glob("?-*"):
        file.rename(file.with_suffix(".parquet"))
    told = sorted(map(repr, rows_of(tmp_path / "work")))
    known = spec.with_schema(engine.columns())
    alone = known.present(known.measure(engine, ScriptedSource.from_label("alone")))
    assert told == sorted(repr(row) for batch in alone.sheets()[0].batches() for row in batch.to_pylist())


def test_a_release_of_a_frame_is_written_by_spark_and_holds(tmp_path: Path) -> None:
    people = hubbub.open(frame(tmp_path, EACH), person="who", dataset="town", unlisted="1")
    release = people.histogram(NUMBERS, epsilon=1, parts=2)
    save(release, tmp_path / "out")
    assert len(list(rows_of(tmp_path / "out" / "release"))) == 50 * 4
    found = verify(load(tmp_path / "out" / "certificate.json"), folder=tmp_path / "out")
    assert found.passed, found.verdict


def test_what_goes_wrong_in_a_task_is_told_without_a_cell(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    spec = spec_of(NUMBERS, {"epsilon": 1, "parts": 1})

    def breaks(part: int, counted: ExactCounts) -> Report:
        raise ValueError(f"a secret of Bath: {counted.counts.sum()}")

    with pytest.raises(WrongUse, match="could not write the release") as told:
        reports(open_spark_frame(frame(tmp_path)), spec, breaks)
    assert told.value.__cause__ is None
    assert told.value.__context__ is None
    assert "secret of Bath" not in "".join(capfd.readouterr())


def test_people_with_two_rows_are_refused_before_a_secret_is_drawn(tmp_path: Path) -> None:
    people = hubbub.open(frame(tmp_path), person="who", dataset="town", unlisted="1")
    with pytest.raises(Refused, match="exactly one row for each person"):
        people.histogram(NUMBERS, epsilon=1, parts=2)


def test_a_task_carries_its_secret_and_is_small_whatever_the_release(tmp_path: Path) -> None:
    """Spark sends what is larger than a megabyte by way of a file, and a secret must not lie in one."""
    secret = BlockKeys(ScriptedSource.from_label("far"))
    spec = spec_of([f"t={','.join(f'a town with the number {i}' for i in range(100_000))}"], {"crowd": 5, "parts": 1})
    given = task(spec, tmp_path / "work", secret)
    from pyspark import cloudpickle

    raw = bytes(secret._secret)
    assert raw in cloudpickle.dumps(given)
    assert len(cloudpickle.dumps(given)) < 10_000
    assert (tmp_path / "work" / "spec.json").stat().st_size > 1 << 20
    assert raw.hex() not in repr(given)
