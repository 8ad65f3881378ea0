"""A look at a table says the same wherever its rows are; what is right is what DuckDB says of the same rows."""

from __future__ import annotations

import datetime
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.engines.opening import inspect
from hubbub.tables.inspection import Inspection
from tests.conformance.openers import ENGINES, IN_LONG_RUNS, Opener, from_arrow, server_of

DATABASES = [pytest.param(ENGINES[name], marks=server_of(name), id=name) for name in ENGINES if ":" not in name]
_PAY = ("$1,200.50", "$17.00", "n/a", "", " ", "\u3000", "\t", "($5.00)", None)
_DAYS = ("03/14/2024", "12/31/2023", "soon", "\u00a0")
_SEEN = (datetime.datetime(1969, 12, 31, 23, 59), datetime.datetime(2024, 2, 29), None)


def people(rows: int = 300) -> pa.Table:
    """Somebody has several rows and some rows have nobody; cells are missing, unreadable or outside in every way."""
    kinds = {
        "who": pa.array([None if i % 41 == 0 else f"p{i * i % 199}" for i in range(rows)], pa.string()),
        "town": pa.array([("Bath", "bath", "York", "", None, "Café")[i % 6] for i in range(rows)], pa.string()),
        "pay": pa.array(
            [_PAY[i % 5 * (i % 20 == 0) or i % 2] if i % 20 else _PAY[i % 9] for i in range(rows)], pa.string()
        ),
        "hired": pa.array([_DAYS[i % 2] if i % 150 else _DAYS[2 + i % 300 // 150] for i in range(rows)], pa.string()),
        "figure": pa.array([str(i / 7) for i in range(rows)], pa.string()),
        "flag": pa.array(
            [("yes", "N", "perhaps", None)[i % 40 % 4 if i % 10 == 0 else i % 2] for i in range(rows)], pa.string()
        ),
        "age": pa.array([None if i % 13 == 0 else i % 130 - 5 for i in range(rows)], pa.int32()),
        "fee": pa.array([None if i % 11 == 0 else Decimal(i % 100) / 4 for i in range(rows)], pa.decimal128(9, 2)),
        "gain": pa.array([(0.5, float("inf"), -0.0, None, 250.25)[i % 5] for i in range(rows)], pa.float64()),
        "born": pa.array(
            [None if i % 7 == 0 else datetime.date(1950 + i % 60, 1, 31) for i in range(rows)], pa.date32()
        ),
        "seen": pa.array([_SEEN[i % 3] for i in range(rows)], pa.timestamp("us")),
        "member": pa.array([(True, False, None)[i % 3] for i in range(rows)], pa.bool_()),
    }
    return pa.table(kinds)


BINS = (
    ("age:[0,18,65,inf),null,other", "fee:0..20:0.25", "gain:[-inf,0,1,inf),null"),
    ("town=Bath,York,Nowhere,null", "born:year:1960..1999", "seen:day:2024-01-01..2024-12-31,other"),
    ("pay:0..2000:100,null", "hired:month:2024-01..2024-12", "flag:boolean,other", "member=true,false"),
    ("town", "born:quarter", "pay:0..2000:100,money", "fee=0.25,0.5,1,other"),
)


def roughly(found: Inspection) -> Inspection:
    """Without the number of values, which is about so many."""
    return replace(found, columns=tuple(replace(each, values=None) for each in found.columns))


@pytest.mark.parametrize(
    "opened",
    [
        *DATABASES[:-1],
        pytest.param(*DATABASES[-1].values, marks=[*DATABASES[-1].marks, IN_LONG_RUNS], id="spark connect"),
    ],
)
def test_a_look_is_the_same_on_every_engine(opened: Opener, tmp_path: Path) -> None:
    table = people()
    here, there = from_arrow(table, tmp_path), opened(table, tmp_path)
    whole, right = inspect(there, (), None), inspect(here, (), None)
    assert roughly(whole) == roughly(right)
    for each in whole.columns:
        differ = len(set(table.column(each.column).drop_null().to_pylist()))
        assert each.values == pytest.approx(differ, rel=0.2), each.column
    for by in BINS if opened is not ENGINES["spark connect"] else BINS[-1:]:  # which runs the same queries
        assert inspect(there, by, None) == inspect(here, by, None), by
    for where, person in (("age >= 30", None), ("figure >= 3 and town = Bath", "who"), ("town = nowhere", "who")):
        asked = {"where": where, "of": "age:0..20:1"}
        found = inspect(there, ("town=bath,York,Ely",), person, **asked)
        known = inspect(here, ("town=bath,York,Ely",), person, **asked)
        assert (found.met, found.measured, found.misses()) == (known.met, known.measured, known.misses()), where
        assert found.misses()
    told = {each.column: each.reads for each in whole.columns if each.reads}
    assert {name: told[name] for name in ("figure", "hired")} == {"figure": "numbers", "hired": "date=%m/%d/%Y"}
    several = inspect(there, ("age:0..100:10",), "who")
    assert several.persons == inspect(here, ("age:0..100:10",), "who").persons
    assert several.persons is not None
    assert several.persons.nobody == 8
    assert not several.persons.once
    assert several.fares, "one row of each is counted"
    assert several.bins_kept == inspect(here, ("age:0..100:10",), "who").bins_kept != ()


@pytest.mark.parametrize("opened", DATABASES[:-1])
def test_a_look_at_an_empty_table(opened: Opener, tmp_path: Path) -> None:
    table = people(0)
    here, there = from_arrow(table, tmp_path), opened(table, tmp_path)
    for by, person in (((), None), (("town",), "who"), (("age:0..100:10", "pay:0..2000:100"), "who")):
        assert inspect(there, by, person) == inspect(here, by, person)


@pytest.mark.parametrize("opened", [pytest.param(from_arrow, id="arrow"), *DATABASES[:1]])
def test_what_caps_would_keep_is_exact(opened: Opener, tmp_path: Path) -> None:
    """By the cap on a person's sum, in times the largest value: the capped sums, and the people whom nothing is cut of."""
    rows = [(f"p{i % 23}", i * i % 31) for i in range(160)] + [("p1", None), (None, 5), ("p2", 99), ("p3", -4)]
    table = pa.table(
        {"who": pa.array([who for who, _ in rows]), "cost": pa.array([cost for _, cost in rows], pa.int64())}
    )
    found = inspect(opened(table, tmp_path), (), "who", of="cost:0..30:1")
    sums: dict[str, int] = {}
    for who, cost in rows:
        if who is not None and cost is not None:
            sums[who] = sums.get(who, 0) + min(max(cost, 0), 30)
    for kept in found.values_kept:
        cap = sum(sums.values()) if kept.most is None else 30 * kept.most
        assert kept.kept == sum(min(each, cap) for each in sums.values())
        assert kept.people == sum(each <= cap for each in sums.values())
        assert kept.of == sum(sums.values())
    assert [kept.most for kept in found.values_kept] == [1, 2, 3, 5, 10, 20, None]
    signed = inspect(from_arrow(table, tmp_path), (), "who", of="cost:-5..30:1")
    assert signed.values_kept == ()
