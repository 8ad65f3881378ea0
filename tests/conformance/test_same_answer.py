"""The same answer wherever the rows are: one grammar, one order of text, one rule for times, one choice for a key.

Databases differ in all of these by themselves: '1d' is 1 in Spark and '0x10' is 16 in PostgreSQL, collations take two
texts for one, a session has a zone, and ANSI or not decides what fails.
"""

from __future__ import annotations

import datetime
import hashlib
import math
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.engines.spark.spark_engine import open_frame as open_spark_frame
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import parse as condition
from hubbub.tables.engine import CountQuery, Engine, ExactCounts, MultiRowPolicy
from tests import servers
from tests.conformance.openers import ENGINES, Opener, from_arrow, server_of
from tests.kept_row import kept_place

DATABASES = [name for name in ENGINES if ":" not in name]
SPARKS = [opener for name, opener in ENGINES.items() if name.startswith("spark")]


def each(*names: str) -> pytest.MarkDecorator:
    given = [pytest.param(ENGINES[name], marks=server_of(name), id=name) for name in names]
    return pytest.mark.parametrize("opened", given)


def told(engine: Engine, *by: str, **question: Any) -> Any:
    """All that an engine answers, as plain values."""
    given = CountQuery(axes=tuple(map(parse, by)), **question)
    counted = engine.count(given, ScriptedSource.from_label("same"))
    rows = zip(
        counted.codes.tolist(), counted.counts.tolist(), *counted.found, counted.sums or counted.codes, strict=True
    )
    return sorted(map(repr, rows))


TEXTS = (
    *(
        "1",
        " 5 ",
        "+5",
        "5.",
        ".5",
        "1e3",
        "1E+3",
        "1d",
        "1f",
        "0x10",
        "1_000",
        "1e400",
        "-1e400",
        "1e-400",
        "5\n",
        "\n5",
    ),
    *("inf", "-Infinity", "nan", "NaN", "", " ", "true", "T", "yes", "0", "N", "\u0661", "\u00a05", "1 0", "--5", "1e"),
    *("2024-01-31", "2024-1-5", "2024-02-30", "2024-01-31 23:59:59", "2024-01-31T23:59", "31.01.2024", "01/31/2024"),
    *(
        "infinity",
        "epoch",
        "$5.00",
        "($1,200.50)",
        "55.314,00",
        "0,5",
        "99999999999999999999",
        "0.1",
        "0.30000000000000004",
    ),
    None,
)
READINGS = (
    "x:[-1000000,0,0.1,0.3,1,1000,inf),null,other",
    "x:0..1000:10,other",
    "x:[-inf,0,1000,inf),money,null,other",
    "x:[0,1,100,inf),decimal=,,other",
    "x:year:2023..2025,null,other",
    "x:month",
    "x:day:2024-01-31..2024-01-31,date=%m/%d/%Y,other",
    "x:boolean,null,other",
    "x=1d,null,other",
    "x",
)


@each(*DATABASES)
def test_text_is_read_by_one_grammar(opened: Opener, tmp_path: Path) -> None:
    table = pa.table({"x": pa.array(TEXTS, pa.string())})
    here, there = from_arrow(table, tmp_path), opened(table, tmp_path)
    for spec in READINGS:
        assert told(there, spec) == told(here, spec), spec
    alone = opened(pa.table({"x": ["1d", "0x10", "5\n"]}), _folder(tmp_path, "alone"))
    assert told(alone, "x:[0,10,inf)") == told(from_arrow(pa.table({"x": ["5"]}), tmp_path), "x:[0,10,inf)")
    for question in (
        {"where": condition("x > 0.1")},
        {"measure": measured("x:0..10:0.5")},
        {"measure": condition("x > 0.1 or x = 1d"), "where": condition("x is not missing")},
        {"measure": condition("x < 2024-02-01"), "by_value": True},
    ):
        assert told(there, **question) == told(here, **question)


def _folder(place: Path, name: str) -> Path:
    (place / name).mkdir()
    return place / name


FLOATS = (
    0.0,
    -0.0,
    0.1,
    0.3,
    0.30000000000000004,
    5e-324,
    1.7976931348623157e308,
    1 / 3,
    1e22,
    math.inf,
    math.nan,
    None,
)


@each(*DATABASES)
@pytest.mark.parametrize("kind", [pa.float64(), pa.float32()], ids=str)
def test_floats_have_the_same_bins_and_labels(opened: Opener, kind: pa.DataType, tmp_path: Path) -> None:
    if kind == pa.float32() and opened is ENGINES["sqlite"]:
        pytest.skip("SQLite has no floats of 32 bits")
    with np.errstate(over="ignore"):
        cells = [None if cell is None else kind.to_pandas_dtype()(cell) for cell in FLOATS]
    table = pa.table({"x": pa.array(cells, kind)})
    here, there = from_arrow(table, tmp_path), opened(table, tmp_path)
    for spec in ("x:[-inf,0,0.1,0.3,1,inf),null,other", "x:0..1:0.1,null", "x", "x=0.1,0.3,0.0,inf,null,other"):
        assert told(there, spec) == told(here, spec), spec
    assert told(there, measure=measured("x:0..1:0.1")) == told(here, measure=measured("x:0..1:0.1"))


def moments(zone: str | None) -> pa.Table:
    """Around midnight in UTC, and before 1970."""
    days = [datetime.datetime(2024, 3, 31), datetime.datetime(1969, 12, 31), datetime.datetime(2024, 1, 1)]
    near = [day + datetime.timedelta(microseconds=shift) for day in days for shift in (-1, 0, 1, 86_399_999_999)]
    return pa.table({"x": pa.array([*near, None], pa.timestamp("us", zone))})


@each("postgresql", "spark", "spark connect")
def test_times_with_a_zone_are_taken_in_utc_whatever_the_session_prefers(opened: Opener, tmp_path: Path) -> None:
    table = moments("UTC")
    here, there = from_arrow(table, tmp_path), opened(table, tmp_path)  # both sessions are in Kolkata
    for spec in ("x:day", "x:month", "x:quarter", "x:year", "x:day:2024-03-30..2024-04-01,null,other", "x"):
        if spec != "x":
            assert told(there, spec) == told(here, spec), spec
    assert told(there, where=condition("x > 2024-03-30")) == told(here, where=condition("x > 2024-03-30"))


@each(*DATABASES)
def test_times_without_a_zone_are_what_they_say(opened: Opener, tmp_path: Path) -> None:
    here, there = from_arrow(moments(None), tmp_path), opened(moments(None), tmp_path)
    for spec in ("x:day", "x:year", "x:month:2024-01..2024-12,null,other", "x"):
        assert told(there, spec) == told(here, spec), spec


# --- one choice for a key -------------------------------------------------------------------------------------------

PERSONS = [
    (i % 97 if i % 3 else f"p{i % 31}", ("a", "b", None, "c", "\u00e9")[i * i % 5], i * 7 % 40) for i in range(600)
]


def several(backwards: bool = False) -> pa.Table:
    rows = [(str(who), town, age) for who, town, age in PERSONS]
    who, town, age = zip(*(rows[::-1] if backwards else rows), strict=True)
    return pa.table({"who": who, "town": pa.array(town, pa.string()), "age": pa.array(age, pa.int32())})


def key() -> str:
    return ScriptedSource.from_label("same").words(4).tobytes().hex()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def kept_by_hand(*, spark: bool) -> Counter[tuple[str | None, int]]:
    """The r-th of a person's rows in the order of what is handed over: the missing last, text by its bytes."""
    rows: dict[str, list[tuple[bool, bytes, int]]] = defaultdict(list)
    for who, town, age in PERSONS:
        rows[str(who)].append((town is None, (town or "").encode(), age // 10))
    kept: Counter[tuple[str | None, int]] = Counter()
    for name, own in rows.items():
        missing, text, bin_ = sorted(own)[kept_place(key(), name, len(own), spark=spark)]
        kept[None if missing else text.decode(), bin_] += 1
    return kept


@each(*DATABASES)
def test_the_row_kept_is_a_function_of_the_key_and_the_rows(opened: Opener, tmp_path: Path) -> None:
    question = CountQuery(axes=(parse("town"), parse("age:0..40:10")), person="who", repeats=MultiRowPolicy.ONE_ROW)
    right = kept_by_hand(spark=opened in SPARKS)
    for backwards in (False, True):
        engine = opened(several(backwards), _folder(tmp_path, str(backwards)))
        counted = engine.count(question, ScriptedSource.from_label("same"))
        found = dict(
            zip(zip(counted.found[0], counted.codes.tolist(), strict=True), counted.counts.tolist(), strict=True)
        )
        assert found == right


@each(*DATABASES)
def test_the_row_kept_is_the_same_where_several_bins_are_one_number(opened: Opener, tmp_path: Path) -> None:
    """Rows in no bin are as likely as others, and come last; large bins next to small ones lose no digit."""
    specs = ("age:0..30:10", "age:0..10000000:1,null,other", "age:-30..20:5,other", "age:0..9999999:3", "town")
    rows: dict[str, list[tuple[tuple[bool, Any], ...]]] = defaultdict(list)
    for who, town, age in PERSONS:
        codes = (age // 10 if age < 30 else None, age, (age + 30) // 5 if age < 20 else 10, age // 3)
        rows[str(who)].append((*((at is None, at or 0) for at in codes), (town is None, (town or "").encode())))
    right: Counter[tuple[str | None, int]] = Counter()
    for name, own in rows.items():
        *at, (missing, text) = sorted(own)[kept_place(key(), name, len(own), spark=opened in SPARKS)]
        if not at[0][0]:
            code = ((at[0][1] * 10_000_002 + at[1][1]) * 11 + at[2][1]) * 3_333_333 + at[3][1]
            right[None if missing else text.decode(), code] += 1
    question = CountQuery(axes=tuple(map(parse, specs)), person="who", repeats=MultiRowPolicy.ONE_ROW)
    counted = opened(several(), tmp_path).count(question, ScriptedSource.from_label("same"))
    found = dict(zip(zip(counted.found[0], counted.codes.tolist(), strict=True), counted.counts.tolist(), strict=True))
    assert found == right


@each(*DATABASES)
def test_the_bins_kept_are_a_function_of_the_key_and_the_bins(opened: Opener, tmp_path: Path) -> None:
    bins: dict[str, set[tuple[str | None, int]]] = defaultdict(set)
    for who, town, age in PERSONS:
        bins[str(who)].add((town, age // 10))

    def mark(who: str, town: str | None, bin_: int) -> str:
        return _sha(key() + _sha(who) + ("-" if town is None else _sha(town)) + _sha(str(bin_)))

    right: Counter[tuple[str | None, int]] = Counter()
    for who, own in bins.items():
        right.update(sorted(own, key=lambda at, who=who: mark(who, *at))[:2])  # type: ignore[misc]
    question = CountQuery(
        axes=(parse("town"), parse("age:0..40:10")), person="who", repeats=MultiRowPolicy.DISTINCT, most_bins=2
    )
    counted = opened(several(), tmp_path).count(question, ScriptedSource.from_label("same"))
    found = dict(zip(zip(counted.found[0], counted.codes.tolist(), strict=True), counted.counts.tolist(), strict=True))
    assert found == right


# --- Spark: sessions, retries ---------------------------------------------------------------------------------------

SETTINGS = (
    {"spark.sql.ansi.enabled": "true"},
    {"spark.sql.ansi.enabled": "false"},
    {"spark.sql.parser.escapedStringLiterals": "true", "spark.sql.session.timeZone": "America/St_Johns"},
    {"spark.sql.caseSensitive": "true"},
)
spark_only = pytest.mark.xdist_group("spark")


def answers(engine: Engine) -> list[ExactCounts]:
    given = (
        CountQuery(axes=(parse("town=a,b\\\\,null,other"), parse("age:0..40:10"))),
        CountQuery(axes=(parse("town"),), person="who", repeats=MultiRowPolicy.ONE_ROW),
        CountQuery(axes=(parse("town"),), person="who", repeats=MultiRowPolicy.DISTINCT, most_bins=2),
    )
    return [engine.count(question, ScriptedSource.from_label("same")) for question in given]


def plain(counted: list[ExactCounts]) -> list[Any]:
    return [
        sorted(zip(map(repr, zip(*each.found, each.codes.tolist(), strict=True)), each.counts.tolist(), strict=True))
        for each in counted
    ]


@spark_only
def test_settings_of_a_session_change_nothing_and_are_left_as_they_were(tmp_path: Path) -> None:
    session = servers.or_skip(servers.spark)
    pq.write_table(several(), tmp_path / "people.parquet")
    right = plain(answers(from_arrow(several(), tmp_path)))[:1]
    chosen = None
    for settings in SETTINGS:
        other = session.newSession()
        for name, value in settings.items():
            other.conf.set(name, value)
        before = dict(other.conf.getAll) if hasattr(other.conf, "getAll") else {}
        found = plain(answers(open_spark_frame(other.read.parquet(str(tmp_path / "people.parquet")))))
        assert found[:1] == right, settings
        assert chosen in (None, found[1:]), settings
        chosen = found[1:]
        assert (dict(other.conf.getAll) if before else {}) == before
        assert not [table.name for table in other.catalog.listTables() if "hubbub" in table.name]


@spark_only
def test_text_that_is_no_utf_8_is_missing_in_spark(tmp_path: Path) -> None:
    session = servers.or_skip(servers.spark)
    raw = pa.array([b"B\xffth", b"Bath", b"York", None], pa.binary())
    pq.write_table(pa.table({"x": raw}), tmp_path / "people.parquet")
    frame = session.read.parquet(str(tmp_path / "people.parquet")).selectExpr("CAST(x AS STRING) AS x")
    here, there = from_arrow(pa.table({"x": raw.view(pa.string())}), tmp_path), open_spark_frame(frame)
    for spec in ("x", "x=Bath,null,other", "x=Bath,other"):
        assert told(there, spec) == told(here, spec), spec
    assert told(there, where=condition("x is missing")) == told(here, where=condition("x is missing"))


@spark_only
def test_texts_of_one_row_come_back_as_they_are_from_spark(tmp_path: Path) -> None:
    """Whatever is in them: zero bytes, what stands for an end, nothing, half a letter. Everybody has one row."""
    session = servers.or_skip(servers.spark)
    texts = [b"", b"0", b"1", b"\0", b"\0\0", b"\0\1", b"a\0", b"a", b"\xc3\xa9", b"\xc3", b"a\xe2\x82", b"\xff", None]
    rows = [(str(i), x, y, i % 3 or None) for i, (x, y) in enumerate((x, y) for x in texts for y in texts)]
    names = ("who", "x", "y", "age")
    pq.write_table(pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))), tmp_path / "p.parquet")
    frame = session.read.parquet(str(tmp_path / "p.parquet"))
    people = open_spark_frame(frame.selectExpr("who", "CAST(x AS STRING) AS x", "CAST(y AS STRING) AS y", "age"))
    for specs in (("x", "age:0..3:1,null", "y"), ("age:1..3:1", "y", "x")):
        assert told(people, *specs, person="who", repeats=MultiRowPolicy.ONE_ROW) == told(people, *specs)


def failing(session: Any, place: Path, folder: Path, how: str) -> Any:
    """The rows in some order; each task fails the first time, or a shuffle is lost while it is read."""
    local = session.sparkContext.getConf().get("spark.local.dir")

    def through(batches: Any) -> Any:
        from pyspark import TaskContext

        context = TaskContext.get()
        own = folder / f"{how}-{context.partitionId()}-{context.taskAttemptId()}"
        first = not list(folder.glob(f"{how}-*"))
        own.touch()
        if how == "lost" and first:
            for file in Path(local).rglob("shuffle_*.data"):
                file.unlink()
        for i, batch in enumerate(batches):
            yield batch
            if how == "task" and i == 0 and context.attemptNumber() == 0:
                raise RuntimeError("on purpose, after some rows were handed on")

    frame = session.read.parquet(str(place)).repartition(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions of pandas, which is not used
        return frame.mapInArrow(through, frame.schema)


@spark_only
@pytest.mark.parametrize("how", ["task", "lost"])
def test_a_task_that_fails_and_a_stage_that_is_run_again_choose_the_same_rows(how: str, tmp_path: Path) -> None:
    session = servers.or_skip(servers.spark)
    pq.write_table(several(), tmp_path / "people.parquet")
    calm = open_spark_frame(session.read.parquet(str(tmp_path / "people.parquet")))
    question = CountQuery(axes=(parse("town"),), person="who", repeats=MultiRowPolicy.ONE_ROW)
    right = plain([calm.count(question, ScriptedSource.from_label("same"))])
    ran = _folder(tmp_path, "ran")
    frame = failing(session, tmp_path / "people.parquet", ran, how)
    found = plain([open_spark_frame(frame).count(question, ScriptedSource.from_label("same"))])
    assert found == right
    assert len(list(ran.glob(f"{how}-*"))) > 4, "nothing was run twice"


@spark_only
@pytest.mark.parametrize("how", ["task", "lost"])
def test_a_task_that_fails_and_a_stage_that_is_run_again_fetch_the_same_ranks(how: str, tmp_path: Path) -> None:
    session = servers.or_skip(servers.spark)
    pq.write_table(several(), tmp_path / "people.parquet")
    calm = open_spark_frame(session.read.parquet(str(tmp_path / "people.parquet")))
    ran = _folder(tmp_path, "ran")
    shaken = open_spark_frame(failing(session, tmp_path / "people.parquet", ran, how))
    right, found = (
        engine.rows(["town", "who"], None, lambda _: np.array([599, 0, 17, 300])) for engine in (calm, shaken)
    )
    assert found == right
    assert len(list(ran.glob(f"{how}-*"))) > 8, "nothing was run twice"
