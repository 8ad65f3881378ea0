"""How many people are in no bin: the same on every engine, in people, and looked at only where it is declared."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.errors import Refused
from hubbub.kinds.cube.request import cube
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.statistic.request import statistic
from hubbub.noise.source import ScriptedSource
from hubbub.tables import unlisted
from hubbub.tables.bins import parse
from hubbub.tables.privacy_unit import Unit
from tests.conformance.openers import Opener, every_engine

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


@every_engine
def test_people_in_no_bin_are_counted_alike(opened: Opener, tmp_path: Path) -> None:
    engine = opened(TABLE, tmp_path)
    for by, (people, rows) in BINS.items():
        axes = tuple(map(parse, by))
        assert engine.unlisted(axes, "who") == (people, 63), by
        assert engine.unlisted(axes, None) == (rows, len(ROWS)), by


@every_engine
def test_more_than_the_declared_share_is_refused_before_a_word_is_drawn(opened: Opener, tmp_path: Path) -> None:
    engine = opened(TABLE, tmp_path)
    kept = Unit(person="who", one_row_per_person=True)
    for share, no in (("12/63", False), ("11/63", True)):
        specs = (
            histogram(["town=Bath,York"], epsilon=1, unit=kept, unlisted=share),
            histogram(["town=Bath,York"], epsilon=1, unit=Unit(person="who", distinct=2), unlisted=share),
            statistic("count", by=["town=Bath,York"], where="age > 500", epsilon=1, unit=kept, unlisted=share),
            cube(["town=Bath,York", "age:0..1000:500,null"], epsilon=1, unit=kept, unlisted=share),
            cube(["town=Bath,York", "age:0..1000:500,null"], crowd=5, unit=kept, unlisted=share),
        )
        for spec in specs:
            known = spec.bind(engine.columns())
            if not no:
                unlisted.check(engine, known.axes, "who", Fraction(share))
                continue
            with pytest.raises(Refused, match="more people than unlisted allows"):
                known.measure(engine, ScriptedSource())  # which has no words to give
