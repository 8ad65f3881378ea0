"""Whatever Spark reads is counted alike, and known again by its files where it has any."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hubbub.engines.opening import inspect, open_source
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import CountQuery
from tests import servers

pytestmark = pytest.mark.xdist_group("spark")

TOWNS = ("Bath", "St. Ives, Cornwall", "a/b=c%20#?d", "Café", None)


@pytest.fixture
def session() -> Any:
    return servers.or_skip(servers.spark)


@pytest.fixture
def people(session: Any) -> Any:
    rows = [(i, TOWNS[i % 5], i % 50) for i in range(50)]
    return session.createDataFrame(rows, "id bigint, town string, age int")


def parquet(people: Any, place: str) -> Any:
    people.repartition(2).write.partitionBy("town").parquet(place)
    return people.sparkSession.read.parquet(place)


def orc(people: Any, place: str) -> Any:
    people.write.orc(place)
    return people.sparkSession.read.orc(place)


def json(people: Any, place: str) -> Any:
    people.write.json(place)
    return people.sparkSession.read.json(place)


def csv_of_text(people: Any, place: str) -> Any:
    people.write.csv(place, header=True)
    return people.sparkSession.read.csv(place, header=True)


def csv_with_types(people: Any, place: str) -> Any:
    people.write.csv(place, header=True)
    return people.sparkSession.read.csv(place, header=True, inferSchema=True)


def bucketed(people: Any, place: str) -> Any:
    name = f"people_{abs(hash(place))}"
    people.write.bucketBy(3, "id").sortBy("id").saveAsTable(name)
    return people.sparkSession.table(name)


def counted(source: object, by: str, table: str | None = None) -> dict[Any, int]:
    found = open_source(source, table=table).count(CountQuery(axes=(parse(by),)), SystemSource())
    labels = found.found[0] if found.found else found.codes.tolist()
    return dict(zip(labels, found.counts.tolist(), strict=True))


@pytest.mark.parametrize("read", [parquet, orc, json, csv_of_text, csv_with_types, bucketed])
def test_what_spark_reads_from_files(read: Callable[[Any, str], Any], people: Any, tmp_path: Path) -> None:
    frame, session = read(people, str(tmp_path / "town # 100%")), people.sparkSession
    right = dict.fromkeys(TOWNS, 10)
    assert counted(frame, "town") == right
    assert counted(frame, "age:0..50:10,null,other") == dict.fromkeys(range(5), 10)
    view = f"view_{read.__name__}"
    frame.createOrReplaceTempView(view)
    try:
        assert counted(session, "town", view) == right
        query = f"SELECT town, count(*) OVER () AS rows FROM {view} WHERE age < 25"
        assert counted(session, "town", query) == dict.fromkeys(TOWNS, 5)
        whole, part = open_source(session, table=view).identity(), open_source(session, table=query).identity()
        assert whole.parts
        assert set(whole.marks()) & set(part.overlap_marks()), (
            "a view and a query are known by the files that they read"
        )
    finally:
        session.catalog.dropTempView(view)
    assert all(Path(each.path).is_file() for each in whole.parts)


def test_a_frame_that_is_made_of_no_file_has_no_identity(people: Any) -> None:
    assert open_source(people).identity().parts == ()
    assert counted(people, "town") == dict.fromkeys(TOWNS, 10)


def test_columns_that_cannot_be_binned_are_told_and_do_no_harm(session: Any) -> None:
    frame = session.sql(
        "SELECT id % 2 AS odd, array(id) AS list, map('a', id) AS pairs, named_struct('x', id) AS record, "
        "CAST('b' AS BINARY) AS raw, INTERVAL '1' DAY AS span FROM range(10)"
    )
    assert counted(frame, "odd") == {"0": 5, "1": 5}
    found = inspect(open_source(frame), (), None)
    assert [(each.missing, each.reads) for each in found.columns] == [(0, None)] * 6
    assert [each.values for each in found.columns] == pytest.approx([2, 10, 10, 10, 1, 1], rel=0.2)
