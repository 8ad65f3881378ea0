"""What one person contributes is bounded alike by every engine: rows, bins, rows in a bin, caps, and bands of sums.

What is right is worked out in plain Python where the bounds leave no choice; where there is a choice, every outcome
keeps the bounds, and rows are kept uniformly, before anything is looked at.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import ScriptedSource, SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.condition import parse as condition
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.engine import CountQuery, Engine, ExactCounts, MultiRowPolicy
from hubbub.tables.schema import bind_axes
from tests.conformance.openers import Opener, every_engine_but_connect, from_arrow

SCHEMA = pa.schema([("id", pa.int64()), ("ward", pa.string()), ("cost", pa.int64()), ("stay", pa.float64())])
WARDS = ("A", "B", "C", "D", None, "elsewhere")


def visits() -> list[dict[str, Any]]:
    """People of one to seven visits, two rows of nobody, and costs beyond the declared range and missing."""
    rows: list[dict[str, Any]] = [{"id": None, "ward": "A", "cost": 5, "stay": 1.0}] * 2
    for person in range(40):
        for i in range(1 + person % 7):
            cost = (3, 50, -4, None, 17, 200, 1)[(person * person + i * 3) % 7]
            ward = WARDS[(person + i * i) % len(WARDS)]
            rows.append({"id": person, "ward": ward, "cost": cost, "stay": float((person + i) % 5)})
    return rows


VISITS = visits()
COST = measured("cost:-10..100:1")
Found = dict[int, tuple[int, int]]


def table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def asked(engine: Engine, by: tuple[str, ...] = ("ward=A,B,C,D",), bands: tuple[int, ...] = (), **words: Any) -> Found:
    """(count, sum) by code; `words` that bound go into the bounds."""
    names = ("rows_per_person", "distinct", "rows_per_bin", "cap_per_bin", "cap")
    bounds = ContributionBounds(**{name: words.pop(name) for name in names if name in words})
    words = {"repeats": MultiRowPolicy.BOUNDED, "bounds": bounds, "bands": bands, **words}
    axes = bind_axes(tuple(map(parse, by)), engine.columns())
    return told(engine.count(CountQuery(axes=axes, person="id", **words), SystemSource()))


def told(found: ExactCounts) -> Found:
    sums = found.sums or (0,) * found.codes.size
    return dict(zip(found.codes.tolist(), zip(found.counts.tolist(), sums, strict=True), strict=True))


def inside(row: dict[str, Any]) -> int:
    """Its value, cut to the range."""
    cost: int = row["cost"]
    return max(-10, min(100, cost))


def of_people(cap_per_bin: int | None = None) -> dict[tuple[int, int], int]:
    """(person, bin): the capped sum of whoever has a value there."""
    sums: dict[tuple[int, int], int] = defaultdict(int)
    for row in VISITS:
        if row["id"] is not None and row["ward"] in WARDS[:4] and row["cost"] is not None:
            sums[row["id"], WARDS.index(row["ward"])] += inside(row)
    if cap_per_bin is not None:
        return {key: max(-cap_per_bin, min(cap_per_bin, value)) for key, value in sums.items()}
    return dict(sums)


@every_engine_but_connect
def test_bounds_that_nobody_exceeds_count_every_row(opened: Opener, tmp_path: Path) -> None:
    engine = opened(table(VISITS), tmp_path)
    rows = [row for row in VISITS if row["id"] is not None]
    right = Counter(WARDS.index(row["ward"]) for row in rows if row["ward"] in WARDS[:4])
    for bounds in ({"rows_per_person": 7}, {"rows_per_person": 50}, {"distinct": 4, "rows_per_bin": 7}):
        assert asked(engine, **bounds) == {code: (n, 0) for code, n in right.items()}
        assert asked(engine, (), **bounds) == {0: (len(rows), 0)}
    costly = [row for row in rows if row["cost"] is not None]
    sums: dict[int, tuple[int, int]] = {}
    for row in costly:
        if row["ward"] in WARDS[:4]:
            n, total = sums.get(WARDS.index(row["ward"]), (0, 0))
            sums[WARDS.index(row["ward"])] = n + 1, total + inside(row) + 10  # in steps from the low end
    assert asked(engine, measure=COST, rows_per_person=7) == sums
    assert asked(engine, measure=COST, distinct=4, rows_per_bin=7) == sums
    by_value = Counter(inside(row) + 10 for row in costly)
    told_by_value = asked(engine, (), measure=COST, by_value=True, rows_per_person=7)
    assert told_by_value == {step: (n, 0) for step, n in by_value.items()}
    assert asked(engine, (), measure=COST, by_value=True, rows_per_person=7, rows_per_bin=6).keys() <= by_value.keys()
    met = condition("stay >= 2 and cost > 0")
    rule = [row for row in costly if row["stay"] >= 2 and row["cost"] > 0]
    assert asked(engine, (), where=met, rows_per_person=7) == {0: (len(rule), 0)}
    assert asked(engine, (), measure=met, rows_per_person=7) == {0: (len(rows), len(rule))}


@every_engine_but_connect
def test_caps_and_bands_are_of_what_a_person_sums_up_to_in_a_bin(opened: Opener, tmp_path: Path) -> None:
    engine = opened(table(VISITS), tmp_path)
    right: dict[int, tuple[int, int]] = {}
    for (_, place), value in of_people(cap_per_bin=60).items():
        n, total = right.get(place, (0, 0))
        right[place] = n + 1, total + value
    assert asked(engine, measure=COST, cap_per_bin=60) == right
    assert asked(engine, measure=COST, cap_per_bin=60, rows_per_person=7) == right
    bands: dict[int, tuple[int, int]] = {}
    for (_, place), value in of_people().items():
        code = place * 4 + (value > 0) + (value > 20) + (value > 100)
        n, total = bands.get(code, (0, 0))
        bands[code] = n + 1, total + value
    assert asked(engine, measure=COST, bands=(0, 20, 100), rows_per_person=7) == bands
    assert len(bands) > 8


@every_engine_but_connect
def test_a_total_is_cut_bin_after_bin_and_no_further(opened: Opener, tmp_path: Path) -> None:
    """Over all bins each person adds the smaller of the cap and of what they have; of one bin that is told exactly."""
    rows = [{"id": i, "ward": "ABCD"[j], "cost": 10 + i, "stay": 0.0} for i in range(12) for j in range(1 + i % 4)]
    engine = opened(table(rows), tmp_path)
    totals = [(10 + i) * (1 + i % 4) for i in range(12)]
    found = asked(engine, measure=COST, cap=35, rows_per_person=4)
    assert sum(total for _, total in found.values()) == sum(min(total, 35) for total in totals)
    assert sum(n for n, _ in found.values()) == len(rows)  # in each bin the people who have a row there
    assert asked(engine, (), measure=COST, cap=35, rows_per_person=4) == {0: (12, sum(min(t, 35) for t in totals))}
    losses = [dict(row, cost=-row["cost"]) for row in rows]
    low = measured("cost:-100..100:1")
    place = tmp_path / "losses"
    place.mkdir()
    found = asked(opened(table(losses), place), measure=low, cap=35, rows_per_person=4)
    assert sum(total for _, total in found.values()) == -sum(min(total, 35) for total in totals)


@every_engine_but_connect
def test_nobody_counts_for_more_than_the_bounds(opened: Opener, tmp_path: Path) -> None:
    """One person of many rows, so that all there is is theirs."""
    rows = [{"id": 1, "ward": "ABCD"[i % 4], "cost": 10 * (i % 3), "stay": 0.0} for i in range(24)]
    engine = opened(table(rows), tmp_path)
    for bounds, most, bins in (
        ({"rows_per_person": 5}, 5, 4),
        ({"rows_per_person": 40}, 24, 4),
        ({"rows_per_person": 7, "rows_per_bin": 1}, 4, 4),
        ({"distinct": 2, "rows_per_bin": 3}, 6, 2),
        ({"rows_per_person": 20, "distinct": 1, "rows_per_bin": 2}, 2, 1),
        ({"rows_per_person": 3, "distinct": 2}, 3, 2),
    ):
        found = asked(engine, **bounds)
        assert sum(n for n, _ in found.values()) <= most, bounds
        assert len(found) <= bins, bounds
        assert all(n <= bounds.get("rows_per_bin", 24) for n, _ in found.values()), bounds
        if bounds.get("rows_per_bin", 24) >= 2 and "rows_per_person" not in bounds:
            assert sum(n for n, _ in found.values()) == most, bounds
    few = asked(engine, measure=COST, by_value=True, distinct=1, rows_per_bin=2)
    assert sum(n for n, _ in few.values()) == 2
    assert len({code // (COST.steps + 1) for code in few}) == 1


@every_engine_but_connect
def test_rows_are_chosen_uniformly_and_before_they_are_looked_at(opened: Opener, tmp_path: Path) -> None:
    """Of 500 people with four rows in A, A, B and no bin two are kept. Each row is kept with a chance of 1/2, so that A
    has 500, B and none 250, each within five standard deviations (size 1e-6; a choice among the rows in bins alone
    would keep 1,000 in all, 22 of them away)."""
    rows = [{"id": i, "ward": ward, "cost": 1, "stay": 0.0} for i in range(500) for ward in ("A", "A", "B", None)]
    engine = opened(table(rows), tmp_path)
    far = 5 * np.sqrt(500 * 1 / 4)
    for bounds in ({"rows_per_person": 2}, {"rows_per_person": 2, "distinct": 2, "rows_per_bin": 2}):
        found = asked(engine, **bounds)
        assert abs(found[0][0] - 500) < 2 * far
        assert abs(found[1][0] - 250) < far
        met = asked(engine, (), where=condition("ward = B"), **bounds)
        assert abs(met[0][0] - 250) < far
    pairs = Counter[int]()
    for _ in range(3):
        pairs[asked(engine, rows_per_person=1)[1][0]] += 1
    assert stats.binomtest(sum(n * k for n, k in pairs.items()), 1500, 1 / 4).pvalue > 1e-6


@every_engine_but_connect
def test_a_person_counts_once_in_each_bin_where_any_row_meets_a_condition(opened: Opener, tmp_path: Path) -> None:
    engine = opened(table(VISITS), tmp_path)
    rule = condition("cost >= 17")
    there: dict[tuple[int, int], bool] = defaultdict(bool)
    for row in VISITS:
        if row["id"] is not None and row["ward"] in WARDS[:4]:
            there[row["id"], WARDS.index(row["ward"])] |= row["cost"] is not None and row["cost"] >= 17
    people, met = Counter(place for _, place in there), Counter(place for (_, place), yes in there.items() if yes)
    words = {"repeats": MultiRowPolicy.DISTINCT, "bounds": None, "most_bins": 4}
    assert asked(engine, measure=rule, **words) == {place: (n, met[place]) for place, n in people.items()}
    assert asked(engine, where=rule, **words) == {place: (n, 0) for place, n in met.items()}
    one = asked(engine, measure=rule, **{**words, "most_bins": 1})
    assert sum(n for n, _ in one.values()) == len({person for person, _ in there})


@every_engine_but_connect
def test_text_that_is_read_as_numbers_is_bounded_too(opened: Opener, tmp_path: Path) -> None:
    schema = pa.schema([("id", pa.string()), ("ward", pa.string()), ("cost", pa.string())])
    rows = [{"id": f"p{i % 5}", "ward": "AB"[i % 2], "cost": f"{i}"} for i in range(20)]
    engine = opened(pa.Table.from_pylist(rows, schema=schema), tmp_path)
    found = asked(engine, ("ward=A,B",), measure=COST, cap_per_bin=15, rows_per_person=4)
    right = [0, 0]
    for person in range(5):
        for place in range(2):
            right[place] += min(15, sum(i for i in range(20) if i % 5 == person and i % 2 == place))
    assert found == {0: (5, right[0]), 1: (5, right[1])}
    assert (
        sum(n for n, _ in asked(engine, ("ward=A,B",), where=condition("cost >= 10"), rows_per_person=4).values()) == 10
    )


def test_what_the_words_choose_is_the_same_for_the_same_words() -> None:
    engine = from_arrow(table(VISITS), Path())
    question = CountQuery(
        axes=(parse("ward=A,B,C,D"),),
        person="id",
        repeats=MultiRowPolicy.BOUNDED,
        bounds=ContributionBounds(rows_per_person=2),
    )
    one, other = (told(engine.count(question, ScriptedSource.from_label("bounded"))) for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    "wrong",
    [
        {"bounds": ContributionBounds(rows_per_person=2)},
        {"repeats": MultiRowPolicy.BOUNDED},
        {"repeats": MultiRowPolicy.BOUNDED, "bounds": ContributionBounds(cap=2)},
        {"repeats": MultiRowPolicy.BOUNDED, "bounds": ContributionBounds(cap=2), "measure": measured("a:0.5..9.5:1")},
        {"repeats": MultiRowPolicy.BOUNDED, "bounds": ContributionBounds(rows_per_person=2), "everybody": True},
        {"bands": (1, 2)},
        {
            "repeats": MultiRowPolicy.BOUNDED,
            "bounds": ContributionBounds(rows_per_person=2),
            "measure": COST,
            "bands": (2, 1),
        },
        {"repeats": MultiRowPolicy.DISTINCT, "measure": COST},
    ],
)
def test_questions_that_mean_nothing_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(WrongUse):
        CountQuery(axes=(), person="id", **wrong)


@every_engine_but_connect
def test_kept_rows_say_whose_they_are_and_where_every_question_counts_them(opened: Opener, tmp_path: Path) -> None:
    engine = opened(table(VISITS), tmp_path)

    def questions(most: int) -> tuple[CountQuery, ...]:
        bounded = {
            "person": "id",
            "repeats": MultiRowPolicy.BOUNDED,
            "bounds": ContributionBounds(rows_per_person=most),
        }
        wards = bind_axes((parse("ward=A,B,C,D"),), engine.columns())
        return (
            CountQuery(axes=wards, **bounded),  # type: ignore[arg-type]
            CountQuery(axes=(), measure=COST, by_value=True, where=condition("stay >= 2"), **bounded),  # type: ignore[arg-type]
        )

    rows = [row for row in VISITS if row["id"] is not None]
    right: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    for row in rows:
        place = WARDS.index(row["ward"]) if row["ward"] in WARDS[:4] else -1
        right[row["id"]][place, inside(row) + 10 if row["stay"] >= 2 and row["cost"] is not None else -1] += 1
    for most in (7, 2):
        kept = engine.kept_rows(questions(most), SystemSource(), 40)
        assert kept.people == 40
        found: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
        for who, *cell in zip(kept.person.tolist(), *(codes.tolist() for codes in kept.codes), strict=True):
            found[who][tuple(cell)] += 1
        assert (np.diff(kept.person) >= 0).all()
        all_rows = sorted(sorted(each.elements()) for each in right.values())
        if most == 7:
            assert sorted(sorted(each.elements()) for each in found.values()) == all_rows
        assert sorted(each.total() for each in found.values()) == sorted(min(len(each), most) for each in all_rows)
    with pytest.raises(Refused, match="not of as many people"):
        engine.kept_rows(questions(2), SystemSource(), 41)
    with pytest.raises(WrongUse, match="bound them alike"):
        engine.kept_rows((questions(2)[0], questions(3)[1]), SystemSource())
