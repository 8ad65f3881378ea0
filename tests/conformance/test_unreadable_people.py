"""Shares are of people: whoever has many rows that cannot be read is one person, on every engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.engines.duckdb.duckdb_engine import DuckDB
from hubbub.engines.sql.sql_engine import SqlEngine
from hubbub.errors import Refused
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import parse as condition
from hubbub.tables.engine import CountQuery, Engine, MultiRowPolicy
from tests.conformance.openers import Opener, every_engine

PEOPLE = 200
SHARE = Fraction(1, 100)  # two people


def table(bad: int, rows: int) -> pa.Table:
    """Two rows of everybody; the first so many people have `rows` more that are no numbers; one row of nobody too."""
    people = [*range(PEOPLE), *range(PEOPLE), *(i for i in range(bad) for _ in range(rows)), None]
    text = [*["3"] * PEOPLE, *["4.0"] * PEOPLE, *["n/a"] * (bad * rows), "none"]
    towns = ["Bath"] * len(people)
    return pa.table({"who": pa.array(people, pa.int64()), "x": pa.array(text), "town": pa.array(towns)})


def strict(engine: Engine, share: Fraction = SHARE) -> Engine:
    """The same table, which refuses above a share."""
    if isinstance(engine, DuckDB):
        engine._unreadable = replace(engine._unreadable, allowed=share)
    else:
        assert isinstance(engine, SqlEngine)
        engine._allowed = share
    return engine


def asked(**how: Any) -> Callable[[Engine], object]:
    question = CountQuery(**({"person": "who", "repeats": MultiRowPolicy.ONE_ROW} | how))
    return lambda engine: engine.count(question, SystemSource())


def together(engine: Engine) -> object:
    one = CountQuery(
        axes=(parse("town=Bath"),), person="who", repeats=MultiRowPolicy.ONE_ROW, where=condition("x >= 2")
    )
    two = replace(one, where=None, measure=measured("x:0..10:1"), by_value=True)
    return engine.joint_count((one, two), SystemSource())


WAYS: dict[str, Callable[[Engine], object]] = {
    "one row": asked(axes=(parse("x:0..10:1"),)),
    "one row by two columns": asked(axes=(parse("x:0..10:1,null"), parse("town=Bath"))),
    "several bins": asked(axes=(parse("x:0..10:1"),), repeats=MultiRowPolicy.DISTINCT, most_bins=2),
    "any row": asked(axes=(), where=condition("x >= 2"), repeats=MultiRowPolicy.ANY_ROW),
    "a condition": asked(axes=(parse("town=Bath"),), where=condition("x >= 2")),
    "a measure": asked(axes=(parse("town=Bath"),), measure=measured("x:0..10:1")),
    "a boolean": asked(axes=(parse("x:boolean,other"),)),
    "several questions": together,
}


@every_engine
def test_59_sixty_unreadable_rows_of_one_person_refuse_nothing(opened: Opener, tmp_path: Path) -> None:
    engine = strict(opened(table(1, 60), tmp_path))
    for name, way in WAYS.items():
        if name != "a boolean":  # there nobody can be read
            way(engine)


@every_engine
def test_59_more_people_than_the_share_are_refused_however_few_their_rows(opened: Opener, tmp_path: Path) -> None:
    """Three of 200 people, each with one bad row of three: few rows, and more than one person in a hundred."""
    engine = strict(opened(table(3, 1), tmp_path))
    for name, way in WAYS.items():
        with pytest.raises(Refused, match="too many people have a value"):
            way(engine)
        if name != "a boolean":
            way(strict(engine, Fraction(2, 100)))
        strict(engine)


@every_engine
def test_59_where_each_row_is_a_person_rows_are_people(opened: Opener, tmp_path: Path) -> None:
    engine = strict(opened(table(1, 60), tmp_path))
    with pytest.raises(Refused, match="too many people have a value"):
        engine.count(CountQuery(axes=(parse("x:0..10:1"),)), ScriptedSource())
