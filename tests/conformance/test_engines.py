"""One suite for every engine and every kind of table it opens: the same people give the same counts, bin by bin.

An engine joins by adding a line to `ENGINES` in openers.py: how it opens a table. What is right is worked out
here row by row in plain Python, by functions that share nothing with the SQL.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from hubbub.errors import Refused, WrongUse, in_python
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.tables.bins import Axis, Discovered, Lattice, all_labels, parse, size
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import parse as condition
from hubbub.tables.engine import NO_ID, SEVERAL_ROWS, CountQuery, Engine, ExactCounts, MultiRowPolicy
from hubbub.tables.identity import Chosen, IdObserver
from hubbub.tables.schema import ColumnType, bind_axes
from tests.conformance.openers import Opener, cases_for, every_engine, every_engine_but_connect, from_arrow, from_csv
from tests.fresh import counts, played, spec_of

# --- the people ---------------------------------------------------------------------------------------------------

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("city", pa.string()),
        ("age", pa.int32()),
        ("fee", pa.decimal128(9, 2)),
        ("gain", pa.float64()),
        ("born", pa.date32()),
        ("seen", pa.timestamp("us")),
        ("member", pa.bool_()),
    ]
)
CITIES = ("Bath", "York", "bath", "", "null", "other", "Café", "Cafe\u0301", "St. Ives, Cornwall", 'The "Wells"', None)
AGES = (0, 9, 10, 99, 100, -1, 41, 2**31 - 1, -(2**31), None)
FEES = tuple(None if text is None else Decimal(text) for text in ("0.00", "0.10", "0.25", "99.99", "-0.01", None))
GAINS = (0.0, -0.0, 0.1, 0.3, 5e-324, 1e308, -1e308, math.inf, -math.inf, math.nan, None)
DAYS = (
    datetime.date(2024, 1, 31),
    datetime.date(2024, 2, 29),
    datetime.date(2023, 12, 31),
    datetime.date(1969, 7, 20),
    datetime.date(9999, 12, 31),
    None,
)


def people() -> list[dict[str, Any]]:
    """The product of all cells would be large; steps that have no common divisor mix them as well."""
    rows = []
    for i in range(500):
        day = DAYS[i * 5 % 7 % len(DAYS)]
        rows.append(
            {
                "id": i,
                "city": CITIES[i * 3 % len(CITIES)],
                "age": AGES[i * 7 % 23 % len(AGES)],
                "fee": FEES[i * 11 % 13 % len(FEES)],
                "gain": GAINS[i * 5 % 17 % len(GAINS)],
                "born": day,
                "seen": None if day is None else datetime.datetime.combine(day, datetime.time(23, 59, 59, 999999)),
                "member": (True, False, None)[i * 2 % 5 % 3],
            }
        )
    return rows


PEOPLE = people()


def arrow(rows: Iterable[dict[str, Any]], schema: pa.Schema = SCHEMA) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=schema)


# --- what is right ------------------------------------------------------------------------------------------------

NO_BIN = "has no bin"
Place = Callable[[dict[str, Any]], object]  # a row's label on one axis, or NO_BIN


def listed(column: str, *values: str, null: bool = False, other: bool = False) -> Place:
    def place(row: dict[str, Any]) -> object:
        cell = row[column]
        if cell is None:
            return None if null else "other" if other else NO_BIN
        text = str(cell).lower() if isinstance(cell, bool) else str(cell)
        return text if text in values else "other" if other else NO_BIN

    return place


def cut(column: str, *edges: float | Decimal, null: bool = False, other: bool = False) -> Place:
    """Labels are the positions of intervals; they become texts by the axis itself."""

    def place(row: dict[str, Any]) -> object:
        cell = row[column]
        if cell is None or math.isnan(cell):
            return None if null else "other" if other else NO_BIN
        for i, (low, high) in enumerate(itertools.pairwise(edges)):
            if low <= cell < high and math.isfinite(cell):
                return i
        return "other" if other else NO_BIN

    return place


def period(column: str, unit: str, *, among: Sequence[str] | None = None, null: bool = False) -> Place:
    """With `among`, the declared periods; without, whatever occurs, a missing date too."""

    def place(row: dict[str, Any]) -> object:
        day = row[column]
        if day is None:
            return None if among is None or null else NO_BIN
        label = {
            "day": f"{day:%Y-%m-%d}",
            "month": f"{day:%Y-%m}",
            "quarter": f"{day:%Y}-Q{(day.month + 2) // 3}",
            "year": f"{day:%Y}",
        }[unit]
        return label if among is None or label in among else NO_BIN

    return place


def found(column: str) -> Place:
    return lambda row: None if row[column] is None else str(row[column])


@dataclass(frozen=True)
class Case:
    by: tuple[str, ...]
    places: tuple[Place, ...]

    def __str__(self) -> str:
        return " ".join(self.by)


def case(*pairs: tuple[str, Place]) -> Case:
    return Case(tuple(spec for spec, _ in pairs), tuple(place for _, place in pairs))


INF = math.inf
EDGES = (Decimal("0"), Decimal("0.10"), Decimal("0.25"), Decimal("100"))
CASES = [
    case(("city=Bath,York", listed("city", "Bath", "York"))),
    case(("city=Bath,York,null,other", listed("city", "Bath", "York", null=True, other=True))),
    case(("city=York,other", listed("city", "York", other=True))),
    case(("city=null,other", listed("city", null=True, other=True))),
    case(('city="","null",null', listed("city", "", "null", null=True))),
    case(("city=Café,Cafe\u0301", listed("city", "Café", "Cafe\u0301"))),
    case(('city="St. Ives, Cornwall","The ""Wells""","other"', listed("city", CITIES[8], CITIES[9], "other"))),  # type: ignore[arg-type]
    case(("age=0,41,other", listed("age", "0", "41", other=True))),
    case(("age:0..100:10", cut("age", *range(0, 101, 10)))),
    case(("age:0..100:10,null,other", cut("age", *range(0, 101, 10), null=True, other=True))),
    case(("age:-3..12:5", cut("age", -3, 2, 7, 12))),
    case(("age:[-inf,0,41,inf),null", cut("age", -INF, 0, 41, INF, null=True))),
    case(("age:[0.5,9.5,41.5)", cut("age", 0.5, 9.5, 41.5))),
    case(("age:[-1000000000000,0,1000000000000)", cut("age", -(10**12), 0, 10**12))),
    case(("fee:[0,0.10,0.25,100)", cut("fee", *EDGES))),
    case(("fee:[-inf,0.005,0.255,inf),null", cut("fee", -INF, Decimal("0.005"), Decimal("0.255"), INF, null=True))),
    case(("fee:0..1:0.05,other", cut("fee", *(Decimal(i) / 20 for i in range(21)), other=True))),
    case(("gain:[0,0.1,0.3,inf)", cut("gain", 0, 0.1, 0.3, INF))),
    case(("gain:[-inf,0,inf),null,other", cut("gain", -INF, 0, INF, null=True, other=True))),
    case(("gain:0..0.5:0.1,null", cut("gain", 0, 0.1, 0.2, 0.3, 0.4, 0.5, null=True))),
    case(("born:day:2023-12..2024-02", period("born", "day", among=[f"{day}" for day in DAYS[:3]]))),
    case(("born:month:2024-01..2024-02,null", period("born", "month", among=["2024-01", "2024-02"], null=True))),
    case(("born:quarter:1969..2024", period("born", "quarter", among=["1969-Q3", "2023-Q4", "2024-Q1"]))),
    case(("born:year:1969..9999", period("born", "year", among=["1969", "2023", "2024", "9999"]))),
    case(("seen:month:2023-12..2024-01", period("seen", "month", among=["2023-12", "2024-01"]))),
    case(("seen:day:2024-01-31..2024-02-29", period("seen", "day", among=["2024-01-31", "2024-02-29"]))),
    *(case((f"{column}:{unit}", period(column, unit))) for column in ("born", "seen") for unit in ("day", "quarter")),
    case(("born:month", period("born", "month"))),
    case(("seen:year", period("seen", "year"))),
    case(("member=true,false", listed("member", "true", "false"))),
    case(("member=false,true,null", listed("member", "false", "true", null=True))),
    case(("city", found("city"))),
    case(("age", found("age"))),
    case(("fee", found("fee"))),
    case(("born", found("born"))),
    case(
        ("city=Bath,other", listed("city", "Bath", other=True)),
        ("age:0..100:50", cut("age", 0, 50, 100)),
        ("member=true,null,other", listed("member", "true", null=True, other=True)),
    ),
    case(("city", found("city")), ("age:0..100:50,other", cut("age", 0, 50, 100, other=True))),
    case(("city", found("city")), ("age:0..100:50", cut("age", 0, 50, 100))),
    case(("gain:[0,1)", cut("gain", 0, 1)), ("fee:[0,1)", cut("fee", 0, 1)), ("member=true", listed("member", "true"))),
    case(("age:0..100:50,other", cut("age", 0, 50, 100, other=True)), ("born:year", period("born", "year"))),
]

Bins = dict[tuple[object, ...], int]


def expected(given: Case, axes: Sequence[Axis], rows: Iterable[dict[str, Any]]) -> Bins:
    counts: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        labels = []
        for axis, place in zip(axes, given.places, strict=True):
            label = place(row)
            labels.append(axis.labels[label] if isinstance(label, int) else label)  # type: ignore[union-attr]
        if NO_BIN not in labels:
            counts[tuple(labels)] += 1
    return dict(counts)


def bins(axes: Sequence[Axis], counted: ExactCounts) -> Bins:
    """Counts by label, from codes by the rule of the protocol: mixed radix, the last declared axis fastest."""
    result: Bins = {}
    for i, (code, count) in enumerate(zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)):
        labels: list[object] = []
        rest, declared = code, [axis for axis in axes if not isinstance(axis, Discovered)]
        at = {}
        for part in reversed(declared):
            rest, at[part.column] = divmod(rest, size(part))
        assert rest == 0, "a code beyond the declared bins"
        texts = iter(counted.found)
        for axis in axes:
            labels.append(next(texts)[i] if isinstance(axis, Discovered) else all_labels(axis)[at[axis.column]])
        assert tuple(labels) not in result, "two counts for one bin"
        result[tuple(labels)] = count
    return result


def asked(engine: Engine, by: Sequence[str], **question: Any) -> tuple[tuple[Axis, ...], ExactCounts]:
    axes = bind_axes(tuple(parse(spec) for spec in by), engine.columns())
    return axes, engine.count(CountQuery(axes=axes, **question), ScriptedSource.from_label("one row"))


@every_engine
def test_every_kind_of_axis_counts_what_plain_python_counts(opened: Opener, tmp_path: Path) -> None:
    engine = opened(arrow(PEOPLE), tmp_path)
    for given in cases_for(opened, CASES):
        axes, counted = asked(engine, given.by)
        right = expected(given, axes, PEOPLE)
        assert bins(axes, counted) == right, str(given)
        assert right, f"{given}: a case without anybody in it checks nothing"


@every_engine
def test_positions_on_a_lattice_are_those_of_plain_python(opened: Opener, tmp_path: Path) -> None:
    """Of every type of number; beyond the ends, missing, infinite and not a number are left out."""
    axes = (
        Lattice("age", Fraction(0), Fraction("2.5"), 44),
        Lattice("fee", Fraction(-1), Fraction(1, 8), 1000),
        Lattice("gain", Fraction(0), Fraction("0.1"), 4),
    )
    engine = opened(arrow(PEOPLE), tmp_path)
    for chosen in ((axes[0],), (axes[1],), (axes[2],), axes):
        right: Counter[int] = Counter()
        for row in PEOPLE:
            code = 0
            for axis in chosen:
                value = math.nan if row[axis.column] is None else float(row[axis.column])
                if not float(axis.low) <= value < float(axis.high):
                    break
                place = math.floor((value - float(axis.low)) / float(axis.step))
                code = code * axis.steps + min(max(place, 0), axis.steps - 1)
            else:
                right[code] += 1
        counted = engine.count(CountQuery(axes=chosen), SystemSource())
        assert dict(zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)) == right
        assert right


@every_engine
def test_found_bins_come_in_one_order_with_missing_last(opened: Opener, tmp_path: Path) -> None:
    engine = opened(arrow(PEOPLE), tmp_path)
    _, counted = asked(engine, ["city"])
    cities = sorted((city for city in CITIES if city is not None), key=str.encode)
    assert counted.found == ([*cities, None],)
    _, counted = asked(engine, ["member=true,false,null", "born:year"])
    order = [(code, year is None, year) for code, year in zip(counted.codes.tolist(), counted.found[0], strict=True)]
    assert order == sorted(order, key=lambda bin_: (bin_[0], bin_[1], bin_[2] or ""))


@every_engine
def test_a_release_has_the_same_keys_and_values_from_every_source(opened: Opener, tmp_path: Path) -> None:
    def outcome(engine: Engine) -> list[object]:
        given: list[object] = []
        for by in (
            ["city=Bath,York,null,other", "age:0..100:50,null"],
            ["city", "member=true,false,null"],
            ["born:year"],
        ):
            release = counts(
                played(spec_of(list(by), {"crowd": 5}).with_schema(engine.columns()), engine, SystemSource())
            )
            keys = [[labels[i] for i in which] for which, labels in release.keys(0, release.bins)]
            shown = [release.published.outcome(i) for i in range(release.bins)]
            given.append((keys, shown, release.low.tolist(), release.high.tolist()))
        return given

    assert outcome(opened(arrow(PEOPLE), tmp_path)) == outcome(from_arrow(arrow(PEOPLE), tmp_path))


@every_engine
def test_the_order_of_rows_does_not_matter(opened: Opener, tmp_path: Path) -> None:
    for name in ("forth", "back"):
        (tmp_path / name).mkdir()
    forth, back = opened(arrow(PEOPLE), tmp_path / "forth"), opened(arrow(PEOPLE[::-1]), tmp_path / "back")
    for by in (["city=Bath,other"], ["city", "age:0..100:10,other"]):
        assert bins(*asked(forth, by)) == bins(*asked(back, by))


@every_engine
def test_an_empty_table_has_no_counts(opened: Opener, tmp_path: Path) -> None:
    engine = opened(arrow([]), tmp_path)
    for by in (["city=Bath,other"], ["city"], ["age:0..100:10,other"], ["born:month"]):
        for question in ({}, {"person": "id"}, {"person": "id", "repeats": MultiRowPolicy.ONE_ROW}):
            _, counted = asked(engine, by, **question)
            assert counted.codes.size == counted.counts.size == 0
            assert all(labels == [] for labels in counted.found)


@every_engine
def test_columns_tell_what_they_hold(opened: Opener, tmp_path: Path) -> None:
    kinds = opened(arrow(PEOPLE), tmp_path).columns()
    assert list(kinds) == SCHEMA.names
    if opened is from_csv:  # nothing is guessed from cells
        assert set(kinds.values()) == {ColumnType.TEXT}
    else:
        assert (kinds["age"], kinds["gain"], kinds["member"]) == (
            ColumnType.INTEGER,
            ColumnType.FLOAT,
            ColumnType.BOOLEAN,
        )
        assert kinds["city"] is ColumnType.TEXT


@every_engine
def test_an_unknown_column_gets_one_sentence(opened: Opener, tmp_path: Path) -> None:
    engine = opened(arrow(PEOPLE), tmp_path)
    # The first line of a CSV may be somebody's data, and so is not shown.
    rest = "the first line of the file must name" if opened is from_csv else "there are 'id', 'city', "
    for by, question in ((["town=a"], {}), (["city=a"], {"person": "name"})):
        with pytest.raises(WrongUse, match=rf"^there is no column '\w+'; {rest}") as refusal:
            asked(engine, by, **question)
        assert opened is not from_csv or "member" not in str(refusal.value)


# --- people with several rows -------------------------------------------------------------------------------------

SIZE = 1e-6  # of each test below: the probability that a fair choice is rejected
POWER = 0.999  # at least this probability that an unfair one, OFF away, is rejected
OFF = 0.05  # more than its share for one of the rows
N = 8_000  # people
ROWS = 4  # of each, in bins a, b, c, d

SEVERAL = pa.table({"id": np.repeat(np.arange(N), ROWS), "bin": ["a", "b", "c", "d"] * N})


def chi_square_threshold() -> float:
    return float(stats.chi2.isf(SIZE, ROWS - 1))


@every_engine
def test_one_row_of_each_person_is_chosen_uniformly(opened: Opener, tmp_path: Path) -> None:
    _, counted = asked(opened(SEVERAL, tmp_path), ["bin=a,b,c,d"], person="id", repeats=MultiRowPolicy.ONE_ROW)
    observed = counted.counts
    assert observed.sum() == N
    assert observed.size == ROWS
    statistic = float(((observed - N / ROWS) ** 2 / (N / ROWS)).sum())
    assert statistic < chi_square_threshold(), f"n = {N}, chi-square = {statistic:.1f}, {chi_square_threshold():.1f}"


def test_a_choice_that_favours_one_row_would_be_noticed() -> None:
    fair = np.full(ROWS, 1 / ROWS)
    unfair = fair - OFF / (ROWS - 1)
    unfair[0] = 1 / ROWS + OFF
    distance = N * float(((unfair - fair) ** 2 / fair).sum())
    power = float(stats.ncx2.sf(chi_square_threshold(), ROWS - 1, distance))
    assert power > POWER, f"n = {N}: power {power}, wanted {POWER}"


@every_engine
def test_a_row_in_no_bin_is_chosen_as_often_as_the_others(opened: Opener, tmp_path: Path) -> None:
    _, counted = asked(opened(SEVERAL, tmp_path), ["bin=b"], person="id", repeats=MultiRowPolicy.ONE_ROW)
    p = float(stats.binomtest(int(counted.counts[0]), N, 1 / ROWS).pvalue)
    assert p > SIZE, f"n = {N}: {counted.counts[0]} in the one bin, p = {p}"


@every_engine
def test_rows_without_a_person_are_left_out_when_one_row_is_kept(opened: Opener, tmp_path: Path) -> None:
    table = pa.table({"id": pa.array([1, None, 2, None, 2]), "bin": ["a", "a", "b", "b", "b"]})
    engine = opened(table, tmp_path)
    for repeats in (MultiRowPolicy.ONE_ROW, MultiRowPolicy.DISTINCT):
        axes, counted = asked(engine, ["bin=a,b,null"], person="id", repeats=repeats)
        assert bins(axes, counted) == {("a",): 1, ("b",): 1}


@every_engine
def test_a_choice_is_fresh_for_each_script(opened: Opener, tmp_path: Path) -> None:
    engine = opened(SEVERAL, tmp_path)
    axes = bind_axes((parse("bin=a,b,c,d"),), engine.columns())
    question = CountQuery(axes=axes, person="id", repeats=MultiRowPolicy.ONE_ROW)
    counts = [
        bins(axes, engine.count(question, ScriptedSource.from_label(label))) for label in ("one", "two", "one", "two")
    ]
    assert counts[0] == counts[2]
    assert counts[1] == counts[3]
    assert counts[0] != counts[1], "two scripts, one choice"


@every_engine
@pytest.mark.parametrize("most", [1, 3, 4, 9])
def test_distinct_counts_each_person_in_that_many_bins(opened: Opener, most: int, tmp_path: Path) -> None:
    twice = pa.concat_tables([SEVERAL.slice(0, 400), SEVERAL.slice(0, 400)])  # a second row in a bin counts for nothing
    axes, counted = asked(
        opened(twice, tmp_path), ["bin=a,b,c,d"], person="id", repeats=MultiRowPolicy.DISTINCT, most_bins=most
    )
    assert counted.counts.sum() == 100 * min(most, ROWS)
    assert counted.counts.max() <= 100
    assert set(bins(axes, counted)) == {("a",), ("b",), ("c",), ("d",)}


@every_engine
def test_distinct_chooses_bins_uniformly(opened: Opener, tmp_path: Path) -> None:
    most = 2
    _, counted = asked(
        opened(SEVERAL, tmp_path), ["bin=a,b,c,d"], person="id", repeats=MultiRowPolicy.DISTINCT, most_bins=most
    )
    for count in counted.counts.tolist():  # each person is in each bin with probability most/ROWS
        p = float(stats.binomtest(count, N, most / ROWS).pvalue)
        assert p > SIZE / ROWS, f"n = {N}: {count} in a bin, p = {p}"


@every_engine
def test_two_values_of_one_bin_are_one_bin(opened: Opener, tmp_path: Path) -> None:
    table = pa.table({"id": [1, 1, 1, 2, 2], "bin": ["x", "y", "a", "x", None]})
    axes, counted = asked(
        opened(table, tmp_path), ["bin=a,other"], person="id", repeats=MultiRowPolicy.DISTINCT, most_bins=5
    )
    assert bins(axes, counted) == {("a",): 1, ("other",): 2}


@every_engine
def test_a_bin_nobody_asked_for_takes_no_place_among_the_distinct(opened: Opener, tmp_path: Path) -> None:
    table = pa.table({"id": [1] * 5, "bin": ["v", "w", "x", "y", "a"]})
    axes, counted = asked(opened(table, tmp_path), ["bin=a"], person="id", repeats=MultiRowPolicy.DISTINCT, most_bins=1)
    assert bins(axes, counted) == {("a",): 1}


@every_engine
@pytest.mark.parametrize("ids", [[1, 1, 2], [1, None, 2], [None, None, 1, 1], [7] * 20], ids=str)
def test_several_rows_are_refused_with_one_sentence(opened: Opener, ids: list[int | None], tmp_path: Path) -> None:
    table = pa.table({"id": pa.array(ids, pa.int64()), "bin": ["a"] * len(ids)})
    with pytest.raises(Refused) as refusal:
        asked(opened(table, tmp_path), ["bin=a"], person="id")
    assert str(refusal.value) == in_python(NO_ID if None in ids else SEVERAL_ROWS)


@every_engine_but_connect
def test_where_one_row_each_is_declared_every_row_is_a_person_and_none_is_checked(
    opened: Opener, tmp_path: Path
) -> None:
    """As without a column of people, with an id or without one; the ledger is told of the same people all the same."""
    ids = [1, 1, None, None, 2, 3, 4, 4, 4, 5]
    table = pa.table({"id": pa.array(ids, pa.int64()), "bin": [*"aabbabaabc"], "x": list(range(10))})
    engine, told = opened(table, tmp_path), list[Chosen]()
    questions = (
        CountQuery(axes=(parse("bin=a,b"),), person="id"),
        CountQuery(axes=(), where=condition("x >= 3"), everybody=True, person="id"),
        CountQuery(axes=(parse("bin=a,b"),), measure=measured("x:0..9:1"), person="id"),
    )
    declared = tuple(replace(each, repeats=MultiRowPolicy.DECLARED) for each in questions)
    watched = engine.observing_ids(IdObserver(turn=5, most=20, on_chosen=told.append))
    rows = spread(*(replace(each, person=None) for each in questions), engine=engine)
    assert spread(*declared, engine=watched) == rows
    assert [set(each.ids) for each in told] == [{"1", "2", "3", "4", "5"}] * len(questions)
    joint = watched.joint_count((declared[0], declared[1]), SystemSource())
    assert int(joint.counts.sum()) == len(ids)
    with pytest.raises(Refused):
        watched.count(questions[0], SystemSource())


@every_engine
def test_one_row_each_is_not_refused(opened: Opener, tmp_path: Path) -> None:
    axes, counted = asked(opened(arrow(PEOPLE), tmp_path), CASES[0].by, person="id")
    assert bins(axes, counted) == expected(CASES[0], axes, PEOPLE)


@every_engine
def test_a_question_without_axes_counts_everybody(opened: Opener, tmp_path: Path) -> None:
    engine = opened(arrow(PEOPLE), tmp_path)
    for person in (None, "id"):
        _, counted = asked(engine, [], person=person)
        assert (counted.codes.tolist(), counted.counts.tolist(), counted.found) == ([0], [len(PEOPLE)], ())
    (tmp_path / "empty").mkdir()
    _, nobody = asked(opened(arrow([]), tmp_path / "empty"), [])
    assert nobody.counts.tolist() == []


# --- conditions, measures, everybody ------------------------------------------------------------------------------

Holds_ = Callable[[dict[str, Any]], bool]


def is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def compared(column: str, test: Callable[[Any], bool]) -> Holds_:
    """A comparison with a missing cell is false."""
    return lambda row: not is_missing(row[column]) and test(row[column])


CONDITIONS: dict[str, Holds_] = {
    "age >= 10": compared("age", lambda age: age >= 10),
    "age > 9.5 and age <= 41": compared("age", lambda age: 9.5 < age <= 41),
    "age < -1000000000000 or age > 1000000000000": lambda row: False,
    "not age < 100": lambda row: not compared("age", lambda age: age < 100)(row),
    "age = 41 or age in (0, 99)": compared("age", lambda age: age in (0, 41, 99)),
    "fee > 0.1": compared("fee", lambda fee: fee > Decimal("0.1")),
    "fee <= 0.255 and fee >= 0.005": compared("fee", lambda fee: Decimal("0.005") <= fee <= Decimal("0.255")),
    "gain > 0.1": compared("gain", lambda gain: gain > 0.1),
    "gain <= 0": compared("gain", lambda gain: gain <= 0),
    "age is missing or not gain >= -1e308": lambda row: (
        row["age"] is None or not compared("gain", lambda gain: gain >= -1e308)(row)
    ),
    "city is not missing and city != 'Bath'": compared("city", lambda city: city != "Bath"),
    "city != Bath": lambda row: row["city"] != "Bath",
    'city in ("", null, \'The "Wells"\')': lambda row: row["city"] in ("", "null", 'The "Wells"'),
    "city = Caf\u00e9": lambda row: row["city"] == "Caf\u00e9",
    "member = true and not (age >= 0 or city is missing)": lambda row: (
        row["member"] is True and not (compared("age", lambda age: age >= 0)(row) or row["city"] is None)
    ),
    "born > 2023-12-31": compared("born", lambda day: day > datetime.date(2023, 12, 31)),
    "seen <= 2024-01-31": compared("seen", lambda at: at.date() <= datetime.date(2024, 1, 31)),
    "born <= 9999-12-31": compared("born", lambda day: True),
    "not born > 9999-12-31 and seen <= 9999-12-31": compared("seen", lambda at: True),
    "born = 2024-02-29": compared("born", lambda day: day == datetime.date(2024, 2, 29)),
}


@every_engine
def test_a_condition_takes_whom_plain_python_takes_and_leaves_the_others_together(
    opened: Opener, tmp_path: Path
) -> None:
    engine = opened(arrow(PEOPLE), tmp_path)
    given = case(("city=Bath,York,null", listed("city", "Bath", "York", null=True)))
    for i, (text, holds) in enumerate(cases_for(opened, CONDITIONS.items())):
        taken = [row for row in PEOPLE if holds(row)]
        axes, told = asked(engine, given.by, where=condition(text), everybody=True, person="id" if i < 2 else None)
        right = expected(given, axes, taken)
        inside = told.codes >= 0
        assert bins(axes, ExactCounts(told.codes[inside], told.counts[inside])) == right, text
        assert told.counts[~inside].sum() == len(PEOPLE) - sum(right.values()), text
        if i < 3:  # without those who are left out
            axes, counted = asked(engine, given.by, where=condition(text))
            assert bins(axes, counted) == right, text
            _, alone = asked(engine, (), where=condition(text))
            assert alone.counts.sum() == len(taken), text


MEASURES: dict[str, tuple[str, Callable[[Any], int]]] = {  # nearest step, halves upwards, within the range
    "age:0..100:1": ("age", lambda age: min(max(age, 0), 100)),
    "age:0..100:20": ("age", lambda age: (min(max(age, 0), 100) + 10) // 20),
    "age:-5..10:5": ("age", lambda age: (2 * (min(max(age, -5), 10) + 5) + 5) // 10),
    "age:0..10:2.5": ("age", lambda age: (4 * min(max(age, 0), 10) + 5) // 10),
    "fee:0..100:0.05": ("fee", lambda fee: math.floor(min(max(fee, 0), 100) * 20 + Decimal("0.5"))),
    "gain:-1..1:0.25": ("gain", lambda gain: math.floor(min(max(gain, -1), 1) * 4 + 4.5)),
}


@every_engine_but_connect
def test_sums_and_counts_by_value_are_those_of_plain_python(opened: Opener, tmp_path: Path) -> None:
    engine = opened(arrow(PEOPLE), tmp_path)
    given = case(("member=true,null", listed("member", "true", null=True)))
    for text, (column, steps) in MEASURES.items():
        measure, where = measured(text), condition("city is not missing")
        has = [row for row in PEOPLE if not is_missing(row[column]) and row["city"] is not None]
        axes, counted = asked(engine, given.by, where=where, measure=measure)
        values: Counter[tuple[object, int]] = Counter()
        for row in has:
            label = given.places[0](row)
            if label != NO_BIN:
                values[label, steps(row[column])] += 1
        assert counted.sums is not None
        labels = [all_labels(axes[0])[code] for code in counted.codes.tolist()]  # type: ignore[arg-type]
        assert dict(zip(labels, counted.sums, strict=True)) == {
            label: sum(x * n for (at, x), n in values.items() if at == label) for label in {at for at, _ in values}
        }, text
        _, each = asked(engine, given.by, where=where, measure=measure, by_value=True, everybody=True)
        assert each.sums is None
        found = dict(zip(each.codes.tolist(), each.counts.tolist(), strict=True))
        assert found.pop(-1) == len(PEOPLE) - sum(values.values()), text
        order = all_labels(axes[0])  # type: ignore[arg-type]
        told = {(order[code // (measure.steps + 1)], code % (measure.steps + 1)): n for code, n in found.items()}
        assert told == values, text


@every_engine_but_connect
def test_several_questions_at_once_count_everybody_where_each_of_them_does(opened: Opener, tmp_path: Path) -> None:
    """The marginals are the answers to the questions asked alone, and the joint cells are those of plain Python."""
    engine = opened(arrow(PEOPLE), tmp_path)
    schema, known = engine.columns(), {"everybody": True, "person": "id"}
    asked_ = (
        CountQuery(axes=bind_axes((parse("city=Bath,York,null"),), schema), where=condition("age >= 10"), **known),
        CountQuery(axes=(), where=condition("age >= 10"), **known),
        CountQuery(axes=(), measure=condition("member = true"), by_value=True, **known),
        *(
            CountQuery(
                axes=bind_axes((parse("member=true,null"), parse("city=Bath,other")), schema),
                where=condition("city is not missing"),
                measure=measured(text),
                by_value=True,
                **known,
            )
            for text in ("age:0..100:20", "fee:0..100:0.05", "gain:-1..1:0.25")
        ),
    )
    joint = engine.joint_count(asked_, SystemSource())
    assert joint.counts.min() > 0
    assert int(joint.counts.sum()) == len(PEOPLE)
    for question, codes in zip(asked_, joint.codes, strict=True):
        alone = engine.count(question, SystemSource())
        sums: Counter[int] = Counter()
        for code, count in zip(codes.tolist(), joint.counts.tolist(), strict=True):
            sums[code] += count
        assert sums == Counter(dict(zip(alone.codes.tolist(), alone.counts.tolist(), strict=True)))
    old, cities = compared("age", lambda age: age >= 10), {"Bath": 0, "York": 1, None: 2}
    right = Counter(
        (cities.get(row["city"], -1) if old(row) else -1, 0 if old(row) else -1, int(row["member"] is True))
        for row in PEOPLE
    )
    cells: Counter[tuple[int, ...]] = Counter()
    for *place, count in zip(*(codes.tolist() for codes in joint.codes[:3]), joint.counts.tolist(), strict=True):
        cells[tuple(place)] += count
    assert cells == right


def spread(*questions: CountQuery, engine: Engine) -> list[Counter[Any]]:
    """What each question counts by itself, where it is declared: codes, and labels that were found."""
    told = []
    for question in questions:
        found = engine.count(question, SystemSource())
        keys = zip(found.codes.tolist(), *found.found, strict=True)
        sums = found.sums or (0,) * found.counts.size
        told.append(
            Counter[Any]({(key, total): n for key, total, n in zip(keys, sums, found.counts.tolist(), strict=True)})
        )
    return told


@every_engine_but_connect
def test_one_row_of_several_alike_is_as_one_row(opened: Opener, tmp_path: Path) -> None:
    """Whichever is kept: conditions, sums, values, everybody, found bins, several questions; rows of nobody are not."""
    nobody = [{**row, "id": None} for row in PEOPLE[:7]]
    for name in ("once", "thrice"):
        (tmp_path / name).mkdir()
    once = opened(arrow(PEOPLE), tmp_path / "once")
    thrice = opened(arrow([*PEOPLE, *nobody, *reversed(PEOPLE), *PEOPLE]), tmp_path / "thrice")
    city = bind_axes((parse("city=Bath,York,null"),), once.columns())
    found = bind_axes((parse("city"), parse("member=true,null")), once.columns())
    old, rule = condition("not (age < 10 or gain > 0.1)"), condition("born > 2023-12-31 or city != Bath")
    questions = (
        CountQuery(axes=(), person="id"),
        CountQuery(axes=(), where=old, everybody=True, person="id"),
        CountQuery(axes=city, where=old, measure=measured("fee:0..100:0.05"), person="id"),
        CountQuery(axes=found, where=old, measure=measured("gain:-1..1:0.25"), by_value=True, person="id"),
        CountQuery(axes=found, measure=rule, person="id"),
    )
    kept = tuple(replace(question, repeats=MultiRowPolicy.ONE_ROW) for question in questions)
    assert spread(*kept, engine=thrice) == spread(*questions, engine=once)
    at_once = tuple(replace(each, by_value=each.measure is not None, everybody=True) for each in questions[1:3])
    joint = [
        engine.joint_count(tuple(replace(each, repeats=repeats) for each in at_once), SystemSource())
        for engine, repeats in ((once, MultiRowPolicy.REFUSE), (thrice, MultiRowPolicy.ONE_ROW))
    ]
    cells = [Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()]
    for cell, each in zip(cells, joint, strict=True):
        for codes, count in zip(
            zip(*(column.tolist() for column in each.codes), strict=True), each.counts, strict=True
        ):
            cell[codes] += int(count)  # people in no bin and people who are not asked may come apart
    assert cells[0] == cells[1]


@every_engine
def test_one_row_is_chosen_before_it_is_looked_at_and_is_one_for_all_questions(opened: Opener, tmp_path: Path) -> None:
    """Two people of three rows for each thousand: (a, 1), (a, 7) and (b, 7); a row that does not count is as likely."""
    many = 3000
    rows = {"id": np.repeat(np.arange(many), 3), "bin": ["a", "a", "b"] * many, "x": [1, 7, 7] * many}
    engine = opened(pa.table(rows), tmp_path)
    axes = bind_axes((parse("bin=a,b"),), engine.columns())
    where = CountQuery(axes=(), where=condition("bin = b"), person="id", repeats=MultiRowPolicy.ONE_ROW, everybody=True)
    counted = engine.count(where, SystemSource())
    counts = dict(zip(counted.codes.tolist(), counted.counts.tolist(), strict=True))
    assert sum(counts.values()) == many
    assert stats.binomtest(counts[0], many, 1 / 3).pvalue > SIZE, counts
    source = SystemSource()
    for ask in (lambda other: engine.count(other, source), lambda other: engine.joint_count((other,), source)):
        with pytest.raises(Refused, match="not of as many people"):
            ask(replace(where, people=many + 1))
    assert not source.used  # nothing was chosen
    where = replace(where, people=many)
    value = replace(where, axes=axes, where=None, measure=measured("x:0..10:1"), by_value=True)
    joint = engine.joint_count((where, value), SystemSource())
    cells = {(one, other): n for one, other, n in zip(*map(list, joint.codes), joint.counts.tolist(), strict=True)}
    assert sum(cells.values()) == many
    assert set(cells) == {(-1, 1), (-1, 7), (0, 11 + 7)}
    for cell, n in cells.items():
        assert stats.binomtest(n, many, 1 / 3).pvalue > SIZE, (cell, n)


@every_engine
def test_any_row_of_a_person_is_enough(opened: Opener, tmp_path: Path) -> None:
    """People of several rows by whether one of them meets a condition, also one that is read from text."""
    rows = [{**row, "id": i // 3 if i % 50 else None, "note": str(row["age"])} for i, row in enumerate(PEOPLE)]
    engine = opened(arrow(rows, SCHEMA.append(pa.field("note", pa.string()))), tmp_path)
    everybody = {row["id"] for row in rows if row["id"] is not None}
    old = compared("age", lambda age: age >= 41)
    for text, holds in (
        ("not (age < 41 or age is missing) and city != Bath", lambda row: old(row) and row["city"] != "Bath"),
        ("note >= 41", old),
        ("age > 1000000000000", lambda row: False),
    ):
        met = {row["id"] for row in rows if row["id"] is not None and holds(row)}
        known = {"person": "id", "repeats": MultiRowPolicy.ANY_ROW}
        _, counted = asked(engine, (), where=condition(text), everybody=True, **known)
        found = dict(zip(counted.codes.tolist(), counted.counts.tolist(), strict=True))
        assert (found.get(0, 0), found.get(-1, 0)) == (len(met), len(everybody - met)), text
        _, share = asked(engine, (), measure=condition(text), **known)
        assert (share.counts.tolist(), share.sums) == ([len(everybody)], (len(met),)), text
    with pytest.raises(WrongUse):
        asked(engine, ["city=Bath"], where=condition("age > 1"), **known)
    (tmp_path / "empty").mkdir()
    nobody = opened(arrow(rows[:1]), tmp_path / "empty")  # whose row has no person
    for repeats in (MultiRowPolicy.ANY_ROW, MultiRowPolicy.ONE_ROW):
        _, none = asked(nobody, (), where=condition("age > 1"), everybody=True, person="id", repeats=repeats)
        assert none.counts.tolist() == []


@every_engine
def test_sums_of_very_many_do_not_overflow(opened: Opener, tmp_path: Path) -> None:
    """A sum beyond 64 bits cannot be reached by rows in a test, so the type that carries it is looked at instead."""
    rows = [{"id": i, "age": 2**31 - 1} for i in range(50)]
    schema = pa.schema([("id", pa.int64()), ("age", pa.int32())])
    engine = opened(arrow(rows, schema), tmp_path)
    _, counted = asked(engine, (), measure=measured("age:0..10000000:1"))
    assert counted.sums == (50 * 10**7,)
    assert all(type(total) is int for total in counted.sums or ())


@every_engine
def test_a_question_about_columns_that_are_not_there_or_do_not_fit_is_one_sentence(
    opened: Opener, tmp_path: Path
) -> None:
    engine = opened(arrow(PEOPLE), tmp_path)
    for question in (
        {"where": condition("nobody = 1")},
        {"where": condition("city < 1 and height = 2")},
        {"measure": measured("height:0..2:1")},
        {"measure": measured("age:0..90:1"), "repeats": MultiRowPolicy.DISTINCT, "person": "id"},
    ):
        with pytest.raises(WrongUse):
            asked(engine, (), **question)
