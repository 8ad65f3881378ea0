"""The orchestrator: what it asks of the engine, what it publishes, and what it never holds."""

from __future__ import annotations

import pickle
from fractions import Fraction
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.channels.estimate import interval
from hubbub.errors import Refused, WrongUse
from hubbub.kinds.histogram import mechanism as histogram_mechanism
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.histogram.result import Counts
from hubbub.kinds.histogram.spec import Histogram
from hubbub.kinds.table import Table
from hubbub.noise.source import RecordingSource, ReplaySource, ScriptedSource, Source, SystemSource
from hubbub.release import run
from hubbub.tables.engine import CountQuery, ExactCounts, MultiRowPolicy
from hubbub.tables.estimation import largest_population, smallest_population
from hubbub.tables.privacy_unit import Unit
from hubbub.tables.schema import ColumnType, Schema
from tests.fresh import counts, open, played


class Given:
    """An engine with these counts, that remembers what it was asked."""

    def __init__(self, codes: list[int], counts: list[int], *found: list[str | None]) -> None:
        self.counted = ExactCounts(np.array(codes, dtype=np.int64), np.array(counts, dtype=np.int64), found)
        self.asked: list[CountQuery] = []

    def columns(self) -> Schema:
        return Schema(
            dict.fromkeys(("a", "b", "f", "found", "g", "id"), ColumnType.TEXT)
            | {"age": ColumnType.INTEGER, "b": ColumnType.TEXT}
        )

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        self.asked.append(question)
        return self.counted


def ran(engine: Given, spec: Histogram, source: Source) -> Counts:
    return counts(run(spec, engine, source))


def rows(release: Counts) -> list[tuple[object, ...]]:
    """(label, ..., value, tag, low, high) for each bin."""
    keys = [[labels[i] for i in which.tolist()] for which, labels in release.keys(0, release.bins)]
    ends = zip(release.low.tolist(), release.high.tolist(), strict=True)
    shown = [(*release.published.outcome(i), *end) for i, end in enumerate(ends)]
    return [(*key, *value) for key, value in zip(zip(*keys, strict=True), shown, strict=True)]


# --- what is published --------------------------------------------------------------------------------------------


def test_every_declared_bin_is_published_in_order_empty_ones_too() -> None:
    engine = Given([5, 0], [3, 7])  # in any order
    done = ran(engine, histogram(["a=x,y,null", "b=u,v"], crowd=5), SystemSource())
    assert rows(done) == [
        ("x", "u", 7, "", 7, 7),
        ("x", "v", None, "suppressed", 0, 4),
        ("y", "u", None, "suppressed", 0, 4),
        ("y", "v", None, "suppressed", 0, 4),
        (None, "u", None, "suppressed", 0, 4),
        (None, "v", None, "suppressed", 0, 4),
    ]
    assert done.bins == 6
    assert done.visible.tolist() == [True, False, False, False, False, False]


def test_of_found_bins_only_shown_ones_are_left() -> None:
    engine = Given([0, 0, 1, 1], [9, 2, 4, 8], ["p", "secret", "q", None])
    done = ran(engine, histogram(["b=u,v", "found"], crowd=5), SystemSource())
    assert rows(done) == [("u", "p", 9, "", 9, 9), ("v", None, 8, "", 8, 8)]
    assert b"secret" not in pickle.dumps((done.published, done.found, done.codes, done.low, done.high))


def test_axes_keep_their_order_when_a_found_one_comes_first() -> None:
    engine = Given([0, 2], [9, 8], ["p", "q"], ["r", "s"])
    done = ran(engine, histogram(["f", "b=u,v,w", "g"], crowd=5), SystemSource())
    assert [row[:3] for row in rows(done)] == [("p", "u", "r"), ("q", "w", "s")]


def test_a_batch_is_not_seen_in_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Given(list(range(0, 100, 3)), list(range(34)))
    for words in ({"crowd": 5}, {"epsilon": 1}, {"crowd": 5, "epsilon": 1}):
        spec = histogram(["age:0..100:1"], **words)  # type: ignore[arg-type]
        whole = counts(played(spec, engine, ScriptedSource.from_label("batches")))
        monkeypatch.setattr(histogram_mechanism, "_BATCH", 7)
        parts = counts(played(spec, engine, ScriptedSource.from_label("batches")))
        monkeypatch.undo()
        assert parts.bins == whole.bins == 100
        assert parts.published.names == whole.published.names
        if "epsilon" not in words:
            assert rows(parts) == rows(whole)


def test_intervals_are_for_the_sample_or_for_everybody() -> None:
    engine, p, tail = Given([0], [1000]), Fraction(1, 10), Fraction(1, 40)
    sampled = ran(engine, histogram(["a=x,y"], crowd=20, sample=p), SystemSource())
    value = sampled.published.outcome(0)[0]
    assert value is not None
    assert 30 < value < 250
    assert rows(sampled)[0][3:] == (value, value)
    scaled = ran(engine, histogram(["a=x,y"], crowd=20, sample=p, scale_up=True), SystemSource())
    value = scaled.published.outcome(0)[0]
    assert value is not None
    assert rows(scaled)[0][3:] == (smallest_population(value, p, tail, 20), largest_population(value, p, tail, 20))
    assert rows(scaled)[1][3:] == (0, largest_population(19, p, 2 * tail))


def test_intervals_are_those_of_the_channel() -> None:
    engine = Given([0, 2], [50, 3])
    for words in ({"epsilon": 1}, {"crowd": 10, "epsilon": 1}, {"outlier": "1:0.1,20:1"}):
        done = ran(engine, histogram(["a=x,y,z"], coverage="0.9", **words), SystemSource())  # type: ignore[arg-type]
        for i in range(done.bins):
            right = interval(done.spec.channel, *done.published.outcome(i), Fraction(9, 10))
            assert (done.low[i], done.high[i]) == (right.low, -1 if right.high is None else right.high)


def test_a_table_without_people_has_the_same_form() -> None:
    for words in ({"crowd": 5}, {"epsilon": 1}, {"outlier": "1:1"}):
        none = ran(Given([], []), histogram(["a=x,y"], **words), SystemSource())  # type: ignore[arg-type]
        some = ran(Given([0, 1], [9, 9]), histogram(["a=x,y"], **words), SystemSource())  # type: ignore[arg-type]
        assert none.bins == some.bins == 2
        assert none.published.names == some.published.names
    found = ran(Given([], [], []), histogram(["a"], crowd=5), SystemSource())
    assert found.bins == 0
    assert found.found == ([],)
    assert found.published.names == ("suppressed", "")


# --- what is asked ------------------------------------------------------------------------------------------------


def test_the_unit_decides_what_the_engine_is_asked() -> None:
    for unit, repeats, most in (
        (Unit(), MultiRowPolicy.REFUSE, 1),
        (Unit(person="id"), MultiRowPolicy.REFUSE, 1),
        (Unit(person="id", one_row_per_person=True), MultiRowPolicy.ONE_ROW, 1),
        (Unit(person="id", distinct=3), MultiRowPolicy.DISTINCT, 3),
        (Unit(person="id", unique_person=True), MultiRowPolicy.DECLARED, 1),
    ):
        engine = Given([0], [5])
        spec = histogram(["a=x,y,z"], epsilon=1, unit=unit)
        ran(engine, spec, SystemSource())
        assert engine.asked == [CountQuery(axes=spec.axes, person=unit.person, repeats=repeats, most_bins=most)]


@pytest.mark.parametrize(
    "words",
    [
        {"by": ["a"], "epsilon": 1},  # bins found in the data, and noise
        {"by": ["a=x"], "crowd": 5, "sample": "0.9"},  # no epsilon will do
        {"by": ["a=x"], "crowd": 5, "unit": Unit(person="id", distinct=2)},
        {"by": ["age:0..10000:1", "b:0..10000:1", "a=x,y"], "epsilon": 1},  # too many bins
    ],
    ids=str,
)
def test_a_promise_that_cannot_be_made_is_refused_before_anything_is_read(words: dict[str, object]) -> None:
    engine = Given([0], [5])
    spec = histogram(**words)  # type: ignore[arg-type]
    with pytest.raises((Refused, WrongUse)):
        ran(engine, spec, SystemSource())
    assert engine.asked == []


def test_a_release_draws_from_the_operating_system_alone() -> None:
    engine, spec = Given([0], [5]), histogram(["a=x"], epsilon=1)
    recorded = RecordingSource(SystemSource())
    ran(engine, spec, recorded)
    assert sum(recorded.record.sizes) > 0

    class Sly(SystemSource):
        pass

    for source in (
        ScriptedSource.from_label("x"),
        ReplaySource(recorded.record),
        RecordingSource(ScriptedSource()),
        Sly(),
    ):
        with pytest.raises(Refused, match="a release draws its noise from the operating system"):
            ran(engine, spec, source)
    assert len(engine.asked) == 1


# --- opening ------------------------------------------------------------------------------------------------------

TABLE = pa.table({"town": ["Bath"] * 5 + ["York"] * 3, "id": list(range(8))})


def test_everything_opens_by_one_word(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "people.parquet")
    (tmp_path / "people.csv").write_text("town,id\n" + "Bath,1\n" * 5 + "York,2\n" * 3)
    base = duckdb.connect(str(tmp_path / "people.duckdb"))
    base.register("given", TABLE)
    base.execute("CREATE TABLE people AS SELECT * FROM given")
    tables = [
        open(tmp_path / "people.parquet"),
        open(str(tmp_path / "people.parquet")),
        open(str(tmp_path / "*.parquet")),
        open(tmp_path / "people.csv"),
        open(TABLE),
        open(TABLE.to_pandas()),
        open(pl.from_arrow(TABLE)),
        open(pl.from_arrow(TABLE).lazy()),  # type: ignore[union-attr]
        open(base, table="people"),
    ]
    for table in tables:
        assert isinstance(table, Table)
        assert [row[1] for row in rows(counts(table.histogram(["town=Bath,York"], crowd=4)))] == [5, None]
    del table, tables
    base.close()
    pair = [open(tmp_path / "people.duckdb", table="people") for _ in range(2)]  # side by side
    for table in pair:
        assert [row[1] for row in rows(counts(table.histogram(["town=Bath,York"], crowd=4)))] == [5, None]


def test_a_person_column_goes_with_the_table() -> None:
    assert rows(counts(open(TABLE, person="id").histogram(["town=Bath"], crowd=4))) == [("Bath", 5, "", 5, 5)]
    with pytest.raises(Refused, match="exactly one row for each person"):
        open(TABLE, person="town").histogram(["town=Bath"], crowd=4)
    with pytest.raises(WrongUse, match="there is no column 'name'"):
        open(TABLE, person="name").histogram(["town=Bath"], crowd=4)


@pytest.mark.parametrize(
    "source",
    [None, 5, b"people.csv", {"town": ["Bath"]}, [1, 2], object(), np.zeros(3), iter([])],
    ids=lambda given: type(given).__name__,
)
def test_what_is_no_table_gets_one_sentence(source: object) -> None:
    with pytest.raises(WrongUse, match=r"cannot be read( as a table)?; ") as refusal:
        open(source).histogram(["town"], crowd=5)
    assert "\n" not in str(refusal.value)


def test_a_stream_that_can_be_read_once_is_refused() -> None:
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    with pytest.raises(WrongUse, match="an object of type RecordBatchReader cannot be read as a table"):
        open(reader)


def test_a_frame_with_columns_no_engine_knows_gets_one_sentence() -> None:
    wide = pa.table({"x": pa.array([1], pa.decimal128(5, 2)).cast(pa.decimal256(60, 2))})
    for frame in (wide, pa.table({})):
        with pytest.raises(WrongUse, match="a column of the frame has a type that cannot be read; leave it out"):
            open(frame)


def test_connections_and_databases_need_the_name_of_a_table(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "people.duckdb")) as base:
        base.execute("CREATE TABLE people (town VARCHAR); CREATE TEMP TABLE passing (x INTEGER)")
        with pytest.raises(WrongUse, match=r"name one, like open\(connection, table='people'\)"):
            open(base)
        for name in ("towns", "passing", "people; DROP TABLE people"):
            with pytest.raises(
                WrongUse, match=r"there is no table '.*' that other connections see; there are 'people'"
            ):
                open(base, table=name)
        with pytest.raises(WrongUse, match=r"the database could not be opened; .* close it where else it is open"):
            open(tmp_path / "people.duckdb", table="people")
    with pytest.raises(WrongUse, match="add table=NAME"):
        open(tmp_path / "people.duckdb")
    with pytest.raises(WrongUse, match="the connection cannot be used; open it again"):
        open(base, table="people")
