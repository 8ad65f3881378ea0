"""Groups as they come: read once, let go, and never half of them."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import duckdb
import pyarrow as pa
import pytest

from hubbub.engines.sql import groups
from hubbub.engines.sql.database import SqlQuery
from hubbub.engines.sql.dialect import Form, Part
from hubbub.engines.sql.groups import SingleUseStream
from hubbub.engines.sql.sql_engine import UNCOUNTABLE
from hubbub.errors import WrongUse
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import Discovered
from hubbub.tables.engine import CountQuery
from tests import servers

SCHEMA = pa.schema([("g0", pa.string()), ("n", pa.int64())])
PARTS = {"g0": Part("", Form.TEXT, pa.string())}
TOWNS = CountQuery(axes=(Discovered("g0"),))


def batch(*towns: str) -> pa.RecordBatch:
    return pa.record_batch([pa.array(towns), pa.array([2] * len(towns))], schema=SCHEMA)


def test_batches_are_counted_as_one_table() -> None:
    found = groups.count_groups(
        SingleUseStream(SCHEMA, iter([batch("York", "Bath"), batch("Bath")])), PARTS, TOWNS, SystemSource()
    )
    assert (found.found, found.counts.tolist()) == ((["Bath", "York"],), [4, 2])
    nothing = groups.count_groups(SingleUseStream(SCHEMA, iter([])), PARTS, TOWNS, SystemSource())
    assert nothing.counts.size == 0


def test_what_was_read_is_let_go() -> None:
    alive: list[weakref.ref[pa.RecordBatch]] = []

    def sent() -> Iterator[pa.RecordBatch]:
        for i in range(5):
            given = batch(f"town {i}")
            alive.append(weakref.ref(given))
            yield given
            del given

    once = SingleUseStream(SCHEMA, sent())
    for _ in once:
        assert sum(each() is not None for each in alive) <= 2


def test_a_second_reading_fails_and_finds_no_empty_table() -> None:
    once = SingleUseStream(SCHEMA, iter([batch("York")]))
    with duckdb.connect() as connection:
        connection.register("t", once)
        assert connection.execute("SELECT sum(n) FROM t").fetchall() == [(2,)]
        with pytest.raises(duckdb.Error):
            connection.execute("SELECT sum(n) FROM t").fetchall()


def test_a_stream_that_breaks_off_is_no_answer_and_says_why_in_our_words() -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield batch("York")
        raise WrongUse(UNCOUNTABLE)

    with pytest.raises(WrongUse) as refused:
        groups.count_groups(SingleUseStream(SCHEMA, broken()), PARTS, TOWNS, SystemSource())
    assert str(refused.value) == UNCOUNTABLE
    assert refused.value.__context__ is None


@pytest.mark.xdist_group("postgresql")
def test_a_server_is_free_again_when_nobody_reads_on() -> None:
    url = servers.or_skip(servers.postgresql)
    from hubbub.engines.sql.postgresql import open_postgresql

    engine = open_postgresql(url, "SELECT generate_series(1, 300000) AS x")
    database = engine._database
    with database.snapshot():
        once = SingleUseStream(
            pa.schema([("x", pa.int64())]),
            database.stream(SqlQuery(sql=f"SELECT x FROM {database.people}", forms={"x": Form.INTEGER})),
        )
        assert next(iter(once)).num_rows < 300_000
        once.close()
    assert engine.count(CountQuery(axes=()), SystemSource()).counts.tolist() == [300_000]
