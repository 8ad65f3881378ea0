"""Who is in no bin, or outside of a range: the same on every engine, in people, and refused before anything is drawn."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.errors import Refused
from hubbub.kinds.cube.request import cube
from hubbub.kinds.histogram.request import histogram
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import parse as parse_condition
from hubbub.tables.engine import CountQuery, MultiRowPolicy
from hubbub.tables.privacy_unit import Unit
from hubbub.tables.unlisted import AllowedOutside, Outside
from tests.conformance.openers import Opener, every_engine
from tests.unit.shared.statistics import statistic

ROWS = [  # who, town, age, as text, day
    *((i, "Bath", 30, "30", date(2024, 3, 1)) for i in range(50)),
    *((i, "bath", 30, "30", date(2024, 3, 1)) for i in range(50, 60)),  # another spelling
    *((60, "bath ", 200, "x", date(2023, 3, 1)) for _ in range(30)),  # many rows of one person, in no bin
    (61, "bath", None, None, None),
    (61, "Bath", None, "31", date(2024, 12, 31)),  # one row in a bin is enough
    (62, None, 31, "", date(2024, 1, 1)),
    (None, "bath", 200, "x", None),  # nobody
]
NAMES = ("who", "town", "age", "text", "day")
TABLE = pa.table(
    {name: pa.array([row[i] for row in ROWS]) for i, name in enumerate(NAMES)},
)
MANY = ",".join(f"town {i}" for i in range(150))
BINS: dict[tuple[str, ...], tuple[int, int]] = {  # people and rows in no bin
    ("town=Bath,York",): (12, 43),
    (f"town=Bath,{MANY}",): (12, 43),
    ("town=Bath,null",): (11, 42),
    ("town=Bath,other",): (0, 0),
    ("age:0..100:10",): (2, 33),
    ("age:0..100:10,null",): (1, 31),
    ("text:0..100:10",): (2, 33),
    ("day:month:2024-01..2024-12",): (1, 32),
    ("town=Bath", "age:0..100:10"): (13, 44),
    ("town", "age:0..100:10"): (2, 33),
}
ABOUT: dict[tuple[str | None, str | None], tuple[Outside, Outside]] = {  # by a condition and a range: people, rows
    ("age > 100", None): (Outside(people=1, unlisted=1), Outside(people=31, unlisted=31)),
    ("age > 500", None): (Outside(people=0), Outside(people=0)),
    (None, "age:0..100:1"): (Outside(people=62, unlisted=12, clamped=1), Outside(people=92, unlisted=42, clamped=31)),
    (None, "age:30..31:1"): (Outside(people=62, unlisted=12, clamped=1), Outside(people=92, unlisted=42, clamped=31)),
    (None, "age:0..10:1"): (Outside(people=62, unlisted=12, clamped=62), Outside(people=92, unlisted=42, clamped=92)),
    (None, "text:0..30:1"): (Outside(people=61, unlisted=10, clamped=1), Outside(people=61, unlisted=10, clamped=1)),
    ("text < 31", "age:40..90:1"): (
        Outside(people=60, unlisted=10, clamped=60),
        Outside(people=60, unlisted=10, clamped=60),
    ),
}
SEVERAL: dict[str, Any] = {"person": "who", "repeats": MultiRowPolicy.ONE_ROW}


@every_engine
def test_people_in_no_bin_are_counted_alike(opened: Opener, tmp_path: Path) -> None:
    engine = opened(TABLE, tmp_path)
    for by, (people, rows) in BINS.items():
        axes = tuple(map(parse, by))
        assert engine.outside(CountQuery(axes=axes, **SEVERAL)) == Outside(people=63, unlisted=people), by
        assert engine.outside(CountQuery(axes=axes)) == Outside(people=len(ROWS), unlisted=rows), by


@every_engine
def test_conditions_and_ranges_say_who_is_looked_at(opened: Opener, tmp_path: Path) -> None:
    engine = opened(TABLE, tmp_path)
    for (where, of), (people, rows) in ABOUT.items():
        about: dict[str, Any] = {
            "axes": (parse("town=Bath,York"),),
            "where": None if where is None else parse_condition(where),
            "measure": None if of is None else measured(of),
        }
        assert engine.outside(CountQuery(**about, **SEVERAL)) == people, (where, of)
        assert engine.outside(CountQuery(**about)) == rows, (where, of)


@every_engine
def test_a_count_refuses_by_the_same_numbers_however_it_is_made(opened: Opener, tmp_path: Path) -> None:
    """At the share that there is it counts, and just below it refuses: in one reading, jointly, and of kept rows."""
    engine = opened(TABLE, tmp_path)
    for (where, of), (people, rows) in ABOUT.items():
        about: dict[str, Any] = {
            "axes": (parse("town=Bath,York"),),
            "where": None if where is None else parse_condition(where),
            "measure": None if of is None else measured(of),
        }
        values: tuple[bool, ...] = (False,) if of is None else (False, True)
        for by_value in values:
            for how, found in (({}, rows), (SEVERAL, people)):
                question = CountQuery(**about, by_value=by_value, **how)
                for share, some in (("unlisted", found.unlisted), ("clamped", found.clamped)):
                    if found.people == 0:
                        engine.allowing(AllowedOutside(unlisted=Fraction(0))).count(question, SystemSource())
                        continue
                    at = Fraction(some, found.people)
                    engine.allowing(AllowedOutside(**{share: at})).count(question, SystemSource())
                    if some < 2:
                        engine.allowing(AllowedOutside(**{share: Fraction(0)})).count(question, SystemSource())
                        continue
                    strict = engine.allowing(AllowedOutside(**{share: at - Fraction(1, 1000)}))
                    column = "town" if share == "unlisted" else str(of).partition(":")[0]
                    with pytest.raises(Refused, match=f"have a value of {column} that"):
                        strict.count(question, ScriptedSource())
                    if by_value or of is None:
                        with pytest.raises(Refused, match=f"have a value of {column} that"):
                            strict.joint_count((question,), ScriptedSource())


@every_engine
def test_more_than_the_declared_share_is_refused_before_a_word_is_drawn(opened: Opener, tmp_path: Path) -> None:
    engine = opened(TABLE, tmp_path)
    kept = Unit(person="who", one_row_per_person=True)
    specs = (
        histogram(["town=Bath,York"], epsilon=1, unit=kept),
        histogram(["town=Bath,York"], epsilon=1, unit=Unit(person="who", distinct=2)),
        histogram(["town=Bath,York"], epsilon=1, unit=Unit(person="who", rows_per_person=2)),
        statistic("count", by=["town=Bath,York"], epsilon=1, unit=kept),
        statistic(
            "mean", of="age:0..100:1", by=["town=Bath,York"], epsilon=1, unit=Unit(person="who", rows_per_person=2)
        ),
        cube(["town=Bath,York", "age:0..1000:500,null"], epsilon=1, unit=kept),
        cube(["age:0..1000:500,null", "town=Bath,York"], crowd=5, unit=kept),
    )
    for spec in specs:
        known = spec.with_schema(engine.columns())
        known.measure(engine.allowing(AllowedOutside(unlisted=Fraction(12, 62))), SystemSource())
        with pytest.raises(Refused, match=r"more people than unlisted allows have a value of (age or )?town"):
            known.measure(engine.allowing(AllowedOutside(unlisted=Fraction(11, 63))), ScriptedSource())
