"""A join of a table of people and a table of events is the same join in every engine: rows of the second, each with the
columns of its person's row of the first. What is right is worked out in plain Python."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hubbub.engines.join import KEYS
from hubbub.engines.opening import inspect
from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.cell_format import Missing
from hubbub.tables.condition import parse as condition
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.engine import CountQuery, Engine, MultiRowPolicy
from hubbub.tables.schema import bind_axes
from tests.conformance.openers import Opener, every_engine_but_connect, from_arrow, joined

Row = dict[str, Any]
PATIENTS: list[Row] = [
    {"id": f"p{i}", "age": None if i % 11 == 0 else i * 7 % 90, "ward": "ABC"[i % 3], "sex": "FM"[i % 2]}
    for i in range(30)
]
VISITS: list[Row] = [
    {"id": None if (i + j) % 37 == 0 else f"p{i}", "ward": ("A", "B", None, "C")[(i * j) % 4], "stay": (i * 3 + j) % 12}
    for i in range(2, 36)  # the first two have none, and the last six are no patients
    for j in range(i % 5)
]
FIRST = pa.schema([("id", pa.string()), ("age", pa.int64()), ("ward", pa.string()), ("sex", pa.string())])
SECOND = pa.schema([("id", pa.string()), ("ward", pa.string()), ("stay", pa.int64())])
MOST = 4  # visits of one person


def opened_join(opened: Opener, folder: Path, first: list[Row] = PATIENTS, second: list[Row] = VISITS) -> Engine:
    tables = pa.Table.from_pylist(first, schema=FIRST), pa.Table.from_pylist(second, schema=SECOND)
    return joined(opened, *tables, "id", folder)


def by_hand(first: list[Row] = PATIENTS, second: list[Row] = VISITS) -> list[Row]:
    known = {row["id"]: row for row in first}
    none: Row = {"age": None, "ward": None, "sex": None}
    return [
        {"id": row["id"], "stay": row["stay"], "ward#2": row["ward"]}
        | {("ward#1" if name == "ward" else name): known.get(row["id"], none)[name] for name in none}
        for row in second
    ]


def counted(engine: Engine, by: tuple[str, ...], source: Any = None, **words: Any) -> dict[int, tuple[int, int]]:
    axes = bind_axes(tuple(map(parse, by)), engine.columns())
    found = engine.count(CountQuery(axes=axes, person="id", **words), source or SystemSource())
    sums = found.sums or (0,) * found.codes.size
    return dict(zip(found.codes.tolist(), zip(found.counts.tolist(), sums, strict=True), strict=True))


EVERY: dict[str, Any] = {
    "repeats": MultiRowPolicy.BOUNDED,
    "bounds": ContributionBounds(rows_per_person=MOST),
}


@every_engine_but_connect
def test_every_row_of_the_second_table_has_the_columns_of_its_person(opened: Opener, tmp_path: Path) -> None:
    engine = opened_join(opened, tmp_path)
    assert set(engine.columns()) == {"id", "age", "ward#1", "sex", "ward#2", "stay"}
    rows = [row for row in by_hand() if row["id"] is not None]
    right = Counter(("FM".index(row["sex"]) if row["sex"] else 2) for row in rows)
    assert counted(engine, ("sex=F,M,null",), **EVERY) == {code: (n, 0) for code, n in right.items()}
    two = Counter(
        3 * "ABC".index(row["ward#1"]) + "ABC".index(row["ward#2"]) for row in rows if row["ward#1"] and row["ward#2"]
    )
    found = counted(engine, ("ward#1=A,B,C", "ward#2=A,B,C"), **EVERY)
    assert found == {code: (n, 0) for code, n in two.items()}
    old = [row for row in rows if row["age"] is not None and row["age"] >= 40 and row["stay"] > 3]
    assert counted(engine, (), where=condition("age >= 40 and stay > 3"), **EVERY) == {0: (len(old), 0)}
    aged = [row for row in rows if row["age"] is not None]
    total = counted(engine, (), measure=measured("age:0..90:1"), **EVERY)
    assert total == {0: (len(aged), sum(row["age"] for row in aged))}
    people = {row["id"] for row in rows if row["sex"] == "F"}
    once = counted(engine, ("sex=F",), repeats=MultiRowPolicy.DISTINCT, most_bins=1)
    assert once == {0: (len(people), 0)}
    assert counted(engine, (), where=condition("sex = F"), repeats=MultiRowPolicy.ANY_ROW) == {0: (len(people), 0)}
    spelled = counted(engine.with_missing(Missing.parse("ward#1=A")), ("ward#1=A,B,C,null",), **EVERY)
    by_ward = Counter("BC".find(row["ward#1"] or "-") + 1 or 3 for row in rows)
    assert spelled == {code: (n, 0) for code, n in by_ward.items()}
    outside = engine.outside(CountQuery(axes=(parse("sex=F"),), person="id", repeats=MultiRowPolicy.ONE_ROW))
    assert (outside.people, outside.people - outside.unlisted) == (len({row["id"] for row in rows}), len(people))


@every_engine_but_connect
def test_whoever_leaves_both_tables_takes_their_own_rows_and_no_other(opened: Opener, tmp_path: Path) -> None:
    """The join of two pairs of tables that differ in one person differs in that person."""
    by = ("sex=F,M,null", "ward#2=A,B,C,null")
    everything = counted(opened_join(opened, tmp_path), by, **EVERY)
    for person in ("p0", "p9", "p33") if opened is from_arrow else ("p9",):  # no visit, three, no patient
        place = tmp_path / person
        place.mkdir()
        first, second = ([row for row in table if row["id"] != person] for table in (PATIENTS, VISITS))
        fewer = counted(opened_join(opened, place, first, second), by, **EVERY)
        own = Counter(
            4 * ("FM".index(row["sex"]) if row["sex"] else 2) + ("ABC".index(row["ward#2"]) if row["ward#2"] else 3)
            for row in by_hand()
            if row["id"] == person
        )
        moved = {code: everything[code][0] - fewer.get(code, (0, 0))[0] for code in everything}
        assert {code: n for code, n in moved.items() if n} == dict(own), person
        assert fewer.keys() <= everything.keys()
        assert sum(own.values()) <= MOST


@every_engine_but_connect
@pytest.mark.parametrize("row", [{"id": "p3", "age": 1, "ward": "A", "sex": "F"}, {"id": None, "age": 1}])
def test_two_rows_of_a_person_in_the_first_table_are_refused_before_anything_is_chosen(
    opened: Opener, tmp_path: Path, row: Row
) -> None:
    engine = opened_join(opened, tmp_path, [*PATIENTS, row])
    source = ScriptedSource.from_label("never used")
    for words in ({"repeats": MultiRowPolicy.ONE_ROW}, EVERY, {"repeats": MultiRowPolicy.DISTINCT}, {}):
        with pytest.raises(Refused) as refused:
            counted(engine, ("ward#2=A,B,C",), source, **words)
        assert str(refused.value) == KEYS
    with pytest.raises(Refused, match="first table of a join"):
        engine.outside(CountQuery(axes=(parse("sex=F"),), person="id", repeats=MultiRowPolicy.ONE_ROW))
    rows = CountQuery(axes=bind_axes((parse("sex=F"),), engine.columns()), person="id", **EVERY)
    with pytest.raises(Refused, match="first table of a join"):
        engine.kept_rows((rows,), source)
    with pytest.raises(Refused, match="first table of a join"):
        engine.joint_count((replace(rows, repeats=MultiRowPolicy.ONE_ROW, bounds=None),), source)
    found = inspect(engine, ("sex=F",), "id")
    assert found.partners is not None
    assert not found.partners.can_join
    assert (found.partners.repeated, found.partners.nobody, found.rows) == (
        int(row["id"] is not None),
        int(row["id"] is None),
        0,
    )


@every_engine_but_connect
def test_a_look_tells_how_the_tables_meet(opened: Opener, tmp_path: Path) -> None:
    found = inspect(opened_join(opened, tmp_path), ("sex=F,M", "ward#2=A,B,C"), "id")
    rows, known = by_hand(), {row["id"] for row in PATIENTS}
    strangers = [row["id"] for row in rows if row["id"] is not None and row["id"] not in known]
    met = found.partners
    assert met is not None
    assert (met.people, met.repeated, met.nobody) == (30, 0, 0)
    assert (met.rows_without, met.people_without) == (len(strangers), len(set(strangers)))
    assert met.idle == len(known - {row["id"] for row in rows})
    assert found.rows == len(rows)
    assert found.columns[0].missing == sum(row["sex"] is None for row in rows)


@every_engine_but_connect
def test_rows_are_drawn_from_a_join_of_people_with_one_event_each(opened: Opener, tmp_path: Path) -> None:
    events = [{"id": f"p{i}", "ward": "ABC"[i % 3], "stay": i} for i in range(20)]
    engine = opened_join(opened, tmp_path, second=events)

    def everybody(n: int) -> Any:
        return np.arange(n)

    drawn = engine.rows(["sex", "stay"], "id", everybody).to_pylist()
    right = [{"sex": row["sex"], "stay": row["stay"]} for row in by_hand(second=events)]
    as_numbers = [{"sex": row["sex"], "stay": int(row["stay"])} for row in drawn]
    assert sorted(as_numbers, key=lambda row: row["stay"]) == right
    questions = tuple(
        CountQuery(axes=bind_axes((parse(spec),), engine.columns()), person="id")
        for spec in ("sex=F,M", "ward#2=A,B,C")
    )
    joint = engine.joint_count(questions, SystemSource())
    cells = zip(joint.codes[0].tolist(), joint.codes[1].tolist(), joint.counts.tolist(), strict=True)
    pairs = Counter(("FM".index(row["sex"]), "ABC".index(row["ward#2"])) for row in by_hand(second=events))
    assert {(one, other): n for one, other, n in cells} == pairs


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ({"id": pa.int64()}, {"id": pa.string()}, "holds whole numbers in the first table and text in the second"),
        ({"id": pa.float64()}, {"id": pa.float64()}, "found again by text or whole numbers"),
        ({"id": pa.date32()}, {"id": pa.date32()}, "found again by text or whole numbers"),
        ({"other": pa.int64()}, {"id": pa.int64()}, "there is no column 'id'"),
        ({"id": pa.int64()}, {"other": pa.int64()}, "there is no column 'id'"),
    ],
)
def test_tables_that_cannot_meet_are_one_sentence(first: Any, second: Any, says: str, tmp_path: Path) -> None:
    one, other = (pa.schema(list(kinds.items())).empty_table() for kinds in (first, second))
    with pytest.raises(WrongUse, match=says):
        joined(from_arrow, one, other, "id", tmp_path)


@every_engine_but_connect
def test_largest_remainders_are_ids_too(opened: Opener, tmp_path: Path) -> None:
    first = pa.table({"id": pa.array(range(9), pa.int64()), "kind": pa.array(list("xyzxyzxyz"))})
    second = pa.table({"id": pa.array([1, 1, 4, 7, 12], pa.int64()), "n": pa.array([1, 2, 3, 4, 5], pa.int64())})
    engine = joined(opened, first, second, "id", tmp_path)
    assert counted(engine, ("kind=x,y,z,null",), **EVERY) == {1: (4, 0), 3: (1, 0)}
