"""Several numbers of the same bins: what they are by plain Python, how far one person moves them, and what is refused."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import exp, floor, log
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from hubbub import registry
from hubbub.engines.opening import open_source
from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.quantile.ranks import law
from hubbub.kinds.summary import cap as caps
from hubbub.kinds.summary.mechanism import exact_columns, pairs_of
from hubbub.kinds.summary.numbers import as_read, read_number
from hubbub.kinds.summary.result import Summaries, answers_of, integer_columns
from hubbub.kinds.summary.spec import Summary
from hubbub.kinds.sums.columns import in_columns
from hubbub.noise.source import SystemSource
from hubbub.protocol.drawing import Bars
from hubbub.protocol.measurement import Measurement, Rehearsal, loaded
from hubbub.tables.bounded_column import measured
from hubbub.tables.kept_rows import KeptRows
from hubbub.tables.schema import ColumnType, Schema

Row = tuple[int, int | None]
"""The bin of a row (-1: none) and its value, or none."""

EVERY = ["rows 2", "people", "sum cost:-2..3:1", "mean cost:-1..2:1"]
WARDS = ["ward=a,b"]


def asked(**words: Any) -> Summary:
    given = {"number": EVERY, "by": WARDS, "epsilon": "2", **words}
    found = registry.kind("summary").ask(person="id", **given)
    assert isinstance(found, Summary)
    return found


# --- the exact numbers --------------------------------------------------------------------------------------------


def in_plain_python(people: Sequence[Sequence[Row]], bins: int, cap: int = 2) -> list[list[int]]:
    """Rows, people, sums and the two sums of averages of each bin: written anew, after BigQuery's words."""
    found = [[0] * bins for _ in range(5)]
    for person, at in itertools.product(people, range(bins)):
        rows = [value for place, value in person if place == at]
        known = [value for value in rows if value is not None]
        found[0][at] += min(len(rows), cap)
        found[1][at] += bool(rows)
        if known:
            found[2][at] += min(max(sum(known), -2), 3)
            average = floor(Fraction(sum(known), len(known)) + Fraction(1, 2))
            x = min(max(average, -1), 2) + 1
            found[3][at] += x
            found[4][at] += 3 - x
    return found


def exactly(spec: Summary, table: pa.Table) -> list[list[int]]:
    rehearsal = Rehearsal(SystemSource())
    spec.measure(open_source(table), rehearsal)
    ((_, exact),) = rehearsal.calls
    pairs = pairs_of(spec, exact)
    return [column.tolist() for number in spec.numbers for column in exact_columns(spec, number, pairs, spec.bins)]


def of_people(people: Sequence[Sequence[Row]]) -> pa.Table:
    rows = [(i, "ab "[place], value) for i, person in enumerate(people) for place, value in person]
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    kinds = (pa.int64(), pa.string(), pa.int64())
    return pa.table({name: pa.array(column, kind) for name, column, kind in zip(("id", "ward", "cost"), columns, kinds, strict=True)})  # fmt: skip


def test_numbers_are_what_each_person_has_in_each_bin_cut_to_the_bounds() -> None:
    seeded = random.Random(1)
    cells = [(place, value) for place in (0, 1, -1) for value in (None, -9, -1, 0, 1, 2, 5)]
    for _ in range(4):
        people = [[seeded.choice(cells) for _ in range(seeded.randint(1, 5))] for _ in range(seeded.randint(5, 60))]
        assert exactly(asked(distinct=2), of_people(people)) == in_plain_python(people, 2)
        alone = [person[:1] for person in people]
        (_, *others) = in_plain_python(alone, 2)
        assert exactly(asked(number=EVERY[1:]), of_people(alone)) == others


def test_what_a_person_has_is_cut_and_not_each_row() -> None:
    """Rows of 300 and -100 are 200 together, and 100 on average: far outside of a range that is cut to."""
    spec = asked(number=["sum cost:0..250:1", "mean cost:0..120:1"], by=[], rows_per_person=9)
    assert exactly(spec, of_people([[(0, 300), (0, -100)]])) == [[200], [100], [20]]


def test_cells_are_read_beyond_the_range_as_far_as_steps_are_counted() -> None:
    for text in ("cost:0..50000:1", "cost:0.5..10.5:0.5", "cost:0..100:1000000000000", "cost:-7..7:0.01"):
        try:
            of = measured(text)
        except WrongUse:
            continue
        read = as_read(of)
        assert read.low <= of.low < of.high <= read.high
        assert (of.low - read.low) == (read.high - of.high)
        assert max(abs(read.low), abs(read.high)) / min(read.step, Fraction(1)) < 2**50


# --- how far one person moves them --------------------------------------------------------------------------------


def every_person(bins: int) -> Iterator[tuple[Row, ...]]:
    cells = [(0, -9), (0, 9), (0, None), (-1, 9), *([(1, -9), (1, 9)] if bins > 1 else [])]
    for many in range(1, 4):
        yield from itertools.combinations_with_replacement(cells, many)


def added(spec: Summary, person: Sequence[Row], cap: int | None = None) -> set[tuple[int, ...]]:
    """What a person may add to the numbers of all bins: over every secret order of the rows, by the code itself."""
    found = set()
    for order in set(itertools.permutations(person)):
        kept = order[: spec.unit.rows_per_person]
        places = np.array([place for place, _ in kept], dtype=np.int64)
        read = [
            np.array([-1 if v is None else int((v - each.low) / each.step) for _, v in kept], dtype=np.int64)
            for each in spec.measures
        ]
        pairs = pairs_of(spec, KeptRows(1, np.zeros(len(kept), dtype=np.int64), (places, *read)))
        columns = [each for number in spec.numbers for each in exact_columns(spec, number, pairs, spec.bins, cap)]
        found.add(tuple(int(x) for column in columns for x in column))
    return found


BOUNDS: list[dict[str, Any]] = [
    {"distinct": 2},
    {"distinct": 1},
    {"rows_per_person": 1},
    {"rows_per_person": 2},
    {"rows_per_person": 3, "rows_per_bin": 1, "distinct": 2},
    {"rows_per_person": 3, "by": []},
]


def rates_of(spec: Summary, cap: int | None = None) -> list[Fraction]:
    """The rate of every published integer of every bin, in the order of :func:`added`."""
    each = [(number, 2 if number.name.startswith("mean") else 1) for number in spec.numbers]
    return [spec.rate(number, cap) for number, many in each for _ in range(many * spec.bins)]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
def test_one_person_loses_epsilon_by_all_numbers_together_and_no_more(bounds: dict[str, Any]) -> None:
    """Noise of a rate r on a number that moves by m costs r m, and given the order of a person's rows they move alike in
    every table; the law over orders is a mixture, which is no further apart."""
    spec = asked(**bounds)
    rates = rates_of(spec)
    losses = [
        sum(rate * abs(moved) for rate, moved in zip(rates, vector, strict=True))
        for person in every_person(spec.bins)
        for vector in added(spec, person)
    ]
    full = bounds != {"distinct": 2}  # two rows in each of two bins are four, and people here have three
    assert max(losses) == (2 if full else Fraction(15, 8))


@pytest.mark.parametrize(
    "bounds", [BOUNDS[0], *(pytest.param(each, marks=pytest.mark.slow) for each in BOUNDS[1:])], ids=str
)
def test_in_widths_one_person_moves_the_numbers_as_far_as_gaussian_noise_is_for(bounds: dict[str, Any]) -> None:
    spec = asked(**bounds, delta="1e-6", mechanism="gaussian")
    assert spec.sensitivity is not None
    assert spec.gaussian is not None
    integers = [(number, 2 if number.name.startswith("mean") else 1) for number in spec.numbers]
    variances = [spec.variance(number) for number, many in integers for _ in range(many * spec.bins)]
    for person in every_person(spec.bins):
        for vector in added(spec, person):
            squared = sum(Fraction(x * x) * spec.gaussian.s2 / s2 for x, s2 in zip(vector, variances, strict=True))
            assert squared <= spec.sensitivity.l2_squared
            assert sum(x != 0 for x in vector) <= spec.sensitivity.moved
            assert spec.sensitivity.signed or min(vector) >= 0


def test_a_cap_that_is_drawn_and_the_noise_after_it_lose_the_part_of_rows_together() -> None:
    """Every table of up to three pairs by their rows, with and without a person of up to two bins; the law of the cap as
    the code has it, and given the cap the noise at how far it leaves the person to move the rows."""
    spec = asked(number=["rows", "people"], rows_per_person=4, distinct=2, epsilon=20)
    number, epsilon = spec.numbers[0], 10.0  # half of it
    assert caps.allowed(spec, number) == 0
    points = spec.cap_points
    assert points == (1, 2, 3, 4)

    def chances(pairs: Sequence[int]) -> list[float]:
        return [float(each) for each in law(caps.runs(spec, number, _above(pairs, points))).values()]

    people = [
        each for n in (1, 2) for each in itertools.combinations_with_replacement(range(1, 5), n) if sum(each) <= 4
    ]
    worst = 0.0
    for n in range(4):
        for others in itertools.combinations_with_replacement(range(1, 5), n):
            for person in people:
                for one, other, cap in zip(chances(others), chances((*others, *person)), points, strict=True):
                    moved = sum(min(rows, cap) for rows in person)
                    worst = max(worst, abs(log(one / other)) + float(spec.rate(number, cap)) * moved)
    assert 0.9 * epsilon < worst <= epsilon + 1e-12


def test_a_cap_is_hardly_drawn_where_nobody_has_so_many_rows() -> None:
    """4,400 pairs of one to three rows, of which 40 have three: fewer than may lie above a cap."""
    spec = asked(number=["rows", "people", "mean cost:0..500:1"], by=["ward=a,b,c"], distinct=3, epsilon=1)
    above = [{1: 2300, 2: 40}.get(point, 0) for point in spec.cap_points]
    chances = [float(each) for each in law(caps.runs(spec, spec.numbers[0], above)).values()]
    assert spec.cap_points[chances.index(max(chances))] == 2
    assert sum(chances[3:]) < 0.1
    assert sum(chances[5:]) < 0.02


def _above(pairs: Sequence[int], points: Sequence[int]) -> list[int]:
    return [sum(rows > point for rows in pairs) for point in points]


def test_the_checks_of_a_summary_notice_less_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = asked(number=["rows", "people"], rows_per_person=4, distinct=2)
    assert all(check.passed for check in spec.checks())
    right = Summary.rate
    monkeypatch.setattr(Summary, "rate", lambda self, number, cap=None: right(self, number, cap) * Fraction(101, 100))
    assert not all(check.passed for check in spec.checks())


# --- bins that are found ------------------------------------------------------------------------------------------

SCHEMA = Schema({"id": ColumnType.INTEGER, "ward": ColumnType.TEXT, "cost": ColumnType.INTEGER})
FAR = 40
"""Where laws are cut off; what lies beyond has a chance below e^-30, at these rates."""


def found(**words: Any) -> Summary:
    return asked(**{"number": ["people", "rows 1"], "by": ["ward"], "distinct": 2, "epsilon": "8", "delta": "0.02", **words}).with_schema(SCHEMA)  # fmt: skip


def law_of_bin(spec: Summary, people: int) -> dict[tuple[int, int] | None, float]:
    """What is published of a bin of so many people, each with a row: nothing, or J and the noisy number of rows."""
    if not people:
        return {None: 1.0}
    channel, rate = spec.people_channel, float(spec.rate(spec.numbers[1]))
    law, q = channel.law(people), exp(-rate)
    assert channel.show_above is not None
    shown = {j: float(law.mass(j, "")) for j in range(channel.show_above + 1, FAR)}
    noise = {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-FAR, FAR)}
    both = {(j, people + z): one * other for j, one in shown.items() for z, other in noise.items()}
    return {None: 1 - sum(shown.values()), **both}


def distance(one: Sequence[dict[Any, float]], other: Sequence[dict[Any, float]], epsilon: float) -> float:
    """The hockey-stick divergence of what is published of two bins, by the masses of every loss."""
    masses = np.array([1.0])
    losses = np.array([0.0])
    beyond = 0.0
    for p, q in zip(one, other, strict=True):
        values = [(mass, log(mass / q[what]) if q.get(what) else None) for what, mass in p.items() if mass]
        never = sum(mass for mass, loss in values if loss is None)
        beyond = beyond + (1 - beyond) * never
        some = np.array([mass for mass, loss in values if loss is not None])
        here = np.array([loss for _, loss in values if loss is not None])
        keep = some > 1e-14
        masses, losses = np.outer(masses, some[keep]).ravel(), np.add.outer(losses, here[keep]).ravel()
        # Losses take few values: those of a kind are one.
        rounded, index = np.unique(losses.round(9), return_inverse=True)
        masses, losses = np.bincount(index, masses), rounded
    return beyond + float((masses * np.maximum(1 - np.exp(epsilon - losses), 0)).sum())


@pytest.mark.parametrize("delta", ["0.02", pytest.param("0.0001", marks=pytest.mark.slow)])
def test_bins_that_are_found_show_somebody_who_is_alone_with_the_chance_of_delta_and_no_more(delta: str) -> None:
    """Every table of up to three people in each of two bins, with one person more in one of them or in both."""
    spec = found(delta=delta)
    (promise,) = (each.conclusion for each in spec.promises())
    assert isinstance(promise, DifferentialPrivacy)
    assert isinstance(promise.epsilon, Fraction)
    assert 0 < promise.delta <= Fraction(delta)
    laws, worst = {n: law_of_bin(spec, n) for n in range(5)}, 0.0
    for here, there in itertools.product(range(4), repeat=2):
        for more in ((1, 0), (0, 1), (1, 1)):
            without, within = ([laws[n] for n in each] for each in ((here, there), (here + more[0], there + more[1])))
            worst = max(worst, distance(without, within, 8), distance(within, without, 8))
    assert 0.9 * promise.delta <= worst <= promise.delta + 1e-9
    assert all(check.passed for check in spec.checks())


def test_found_bins_are_those_of_the_table_that_many_people_have() -> None:
    people = [[(0, 1)] * 2 for _ in range(80)] + [[(1, 5)]]
    table = of_people(people)
    spec = found(number=["people", "sum cost:-2..3:1", "mean cost:-1..2:1"], delta="1e-6")
    result = spec.present(spec.measure(open_source(table), SystemSource()))
    assert isinstance(result, Summaries)
    assert result.found == [("a",)]
    (answer,) = result.answers
    assert [round(float(each[0] or 0)) for each in answer.intervals[:2]] == pytest.approx([80, 160], abs=30)
    for few in (2, 0):
        assert spec.present(spec.measure(open_source(table.slice(0, few)), SystemSource())).sheets()[0].rows == 0


def test_what_found_bins_need_is_said_when_the_columns_are_known() -> None:
    with pytest.raises(WrongUse, match="ask for people too"):
        found(number=["rows 1"])
    with pytest.raises(WrongUse, match="columns of text"):
        found(by=["cost"])
    with pytest.raises(WrongUse, match="too large beside epsilon"):
        found(epsilon="0.001", delta="0.5").promises()


# --- what is told -------------------------------------------------------------------------------------------------

RUNS = 200
MISSES = int(stats.binom.isf(1e-7, RUNS, 0.05))


@pytest.mark.slow
@pytest.mark.parametrize("noise", [{}, {"delta": "1e-6", "mechanism": "gaussian"}])
def test_intervals_hold_at_their_rate(noise: dict[str, str]) -> None:
    """Size: more than MISSES wrong of RUNS has a chance below 1e-7, of eight numbers. Power: a twelfth of the width is
    wrong far oftener."""
    people = [[(i % 2, i % 4 - 1), (i % 2, 2), (1 - i % 2, None)][: 1 + i % 3] for i in range(300)]
    spec, engine = asked(**noise, distinct=2), open_source(of_people(people))
    rows, heads, sums, part, rest = in_plain_python(people, 2)
    means = [Fraction(3 * a, a + b) - 1 for a, b in zip(part, rest, strict=True)]
    truth = [[rows[at], heads[at], sums[at], means[at]] for at in range(2)]
    wrong, narrow = np.zeros((2, 4)), np.zeros((2, 4))
    for _ in range(RUNS):
        result = spec.present(spec.measure(engine, SystemSource()))
        assert isinstance(result, Summaries)
        for at, answer in enumerate(result.answers):
            for i, (estimate, low, high) in enumerate(answer.intervals):
                assert estimate is not None
                assert high is not None
                wrong[at, i] += not low <= truth[at][i] <= high
                near = (high - low) / 24
                narrow[at, i] += not estimate - near <= truth[at][i] <= estimate + near
    assert wrong.max() <= MISSES, f"{wrong} of {RUNS} wrong, at most {MISSES} by chance"
    assert narrow.min() > MISSES, f"{narrow} of {RUNS}: too wide an interval could not be told"


def test_caps_that_no_release_draws_are_refused() -> None:
    spec = asked(number=["rows"], rows_per_person=4, distinct=2)
    assert answers_of(spec, [(5, 2), (7, 2)])[0].caps == {"rows": 2}
    for rows in ([(5, 2), (7, 3)], [(5, 5), (7, 5)]):
        with pytest.raises(CheckFailed):
            answers_of(spec, rows)


def test_an_average_of_nobody_is_not_told() -> None:
    spec = asked(number=["mean cost:-1..2:1"], by=[], rows_per_person=2)
    ((estimate, low, high),) = answers_of(spec, [(3, 0)])[0].intervals
    assert (estimate, low, high) == (None, -1, 2)


def test_each_number_of_a_row_has_its_own_status_in_file_screen_chart_and_json() -> None:
    """Nobody's mean beside a number of people: the row has one that is shown and one that is not usable."""
    spec = asked(number=["m = mean cost:-1..2:1", "people"], by=["m_status=a,b"], rows_per_person=2)
    rows = [(3, 0, 5), (150, 300, 100)]
    batch = in_columns(spec, integer_columns(spec), rows, None)
    result = spec.present(Measurement(answers=loaded(batch.schema, batch)))
    assert isinstance(result, Summaries)
    (sheet,) = result.sheets()
    assert "status" not in sheet.schema.names
    (table,) = sheet.batches()
    assert table.column("by_m_status").to_pylist() == ["a", "b"]
    assert table.column("m_status").to_pylist() == ["not usable", "shown"]
    assert table.column("m").to_pylist()[0] is None
    assert table.column("people_status").to_pylist() == ["shown", "shown"]
    first, _ = result.facts()["answers"]
    assert [first["numbers"][name]["status"] for name in ("m", "people")] == ["not usable", "shown"]
    (_, cells, pale), _ = result.display(2).rows
    assert (cells[0], cells[2], pale) == ("not usable", "5", False)
    picture = result.drawing()
    assert isinstance(picture, Bars)
    assert [bar.unknown for bar in picture.bars] == [True, False]


@pytest.mark.parametrize(
    "text", ["people", "rows 5", "rows", "visits = rows 5", "x = sum cost:-5..5:1", "mean cost:0..1:0.1"]
)
def test_numbers_are_read_as_they_are_written(text: str) -> None:
    number = read_number(text)
    assert number.name == {"people": "people", "rows 5": "rows", "rows": "rows", "mean cost:0..1:0.1": "mean_cost"}.get(
        text, text.partition(" =")[0]
    )


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"number": []}, "from 1 to 20 numbers"),
    ({"number": "people"}, "in brackets"),
    ({"number": ["visits"]}, "a number is one of"),
    ({"number": ["people 3"]}, "write people alone"),
    ({"number": ["rows 0"]}, "at least 1"),
    ({"number": ["rows 5", "rows"]}, "called alike"),
    ({"number": ["a = people", "a_low = rows 2"]}, "called alike"),
    ({"number": ["a = people", "a_status = rows 2"]}, "called alike"),
    ({"number": ["sum cost"]}, "range of cost"),
    ({"number": ["sum cost:0.5..2.5:1"]}, "whole steps from 0"),
    ({"number": ["Ü = people"]}, "small letters"),
    ({"epsilon": None}, "how much may be lost"),
    ({"distinct": None, "number": ["rows 5"]}, "rows are counted of people who have several"),
    ({"by": ["ward"]}, "need a delta"),
    ({"by": ["ward"], "delta": "2"}, "between 0 and 1"),
    ({"by": ["ward"], "mechanism": "gaussian", "delta": "1e-6"}, "bins that are declared"),
    ({"by": ["ward:month"], "delta": "1e-6"}, "periods are declared"),
    ({"mechanism": "gaussian"}, "needs a delta"),
    ({"number": ["rows", "people"], "mechanism": "gaussian", "delta": "1e-6"}, "Gaussian noise is for"),
    ({"one_row_per_person": True}, "exclude each other"),
    ({"number": ["sum cost:0..1000:0.001"], "epsilon": "1e-9"}, "10\\^12 steps"),
]


@pytest.mark.parametrize(("words", "says"), WRONG, ids=str)
def test_wrong_uses_get_one_sentence(words: dict[str, Any], says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        asked(**{"distinct": 2, **words})
