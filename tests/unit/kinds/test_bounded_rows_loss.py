"""Several rows of a person: exact laws over all tables of up to three people with up to three rows each.

The law of what is published is worked out as a mixture over every choice of rows and bins, with the noise of the spec
itself, for every such table with and without each such person. No loss is above the promise, and where the noise is
geometric the largest one is the promise. What counts are and what the choices are is written here anew, and shares
nothing with the engines, which tests/conformance/test_bounded_rows.py compares with plain Python.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub import registry
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.cube.request import cube
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.quantile.quantile import aims
from hubbub.kinds.quantile.ranks import law, weights, window_weights
from hubbub.kinds.queries.request import queries
from hubbub.kinds.questions.request import questions
from hubbub.kinds.sum.spec import Sum
from hubbub.kinds.sums.ratio import ratio
from hubbub.kinds.sums.spec import Statistic
from hubbub.protocol.spec import Spec
from hubbub.query_classes.flat import Flat, PerQuery
from hubbub.query_classes.split_tables import SplitTables
from hubbub.tables.privacy_unit import Unit, of_numbers
from hubbub.tables.schema import ColumnType, Schema
from tests.unit.shared.statistics import statistic

PEOPLE, ROWS = 3, 3
Row = tuple[int, ...]
Vector = tuple[int, ...]
Law = dict[Vector, float]  # of what one person adds, or all of a table


def every_person(rows: Sequence[Row]) -> Iterator[tuple[Row, ...]]:
    for n in range(1, ROWS + 1):
        yield from itertools.combinations_with_replacement(rows, n)


def kept_law(person: Sequence[Row], unit: Unit, added: Callable[[Sequence[Row]], Vector]) -> Law:
    """Over uniform orders of the person's rows, which is what secret words make: the first m, then of each bin (None: no
    bin) the first c, then the bins that come first."""
    law: Counter[Vector] = Counter()
    orders = list(itertools.permutations(person))
    for order in orders:
        rows = [row for row in order[: unit.rows_per_person] if row[0] is not None]
        bins = list(dict.fromkeys(row[0] for row in rows))[: unit.distinct]
        kept = [row for place in bins for row in [row for row in rows if row[0] == place][: unit.rows_per_bin]]
        law[added(kept)] += 1
    return {vector: n / len(orders) for vector, n in law.items()}


def both(one: Law, other: Law) -> Law:
    found: Counter[Vector] = Counter()
    for (a, p), (b, q) in itertools.product(one.items(), other.items()):
        found[tuple(x + y for x, y in zip(a, b, strict=True))] += p * q  # type: ignore[assignment]
    return dict(found)


def densities(law: Law, size: int, rate: Fraction | Sequence[Fraction], axes: int) -> NDArray[np.float64]:
    """Of counts with geometric noise, up to a factor; beyond 0..size-1 ratios do not change any more."""
    table = np.zeros((size,) * axes)
    for vector, p in law.items():
        table[vector] += p
    places = np.arange(size)
    for axis, each in enumerate((rate,) * axes if isinstance(rate, Fraction) else rate):
        noise = np.exp(-float(each) * np.abs(places[:, None] - places[None, :]))
        table = np.moveaxis(np.tensordot(noise, table, axes=(1, axis)), 0, axis)
    return table


def largest_loss(persons: Sequence[Law], law: Callable[[Law], NDArray[np.float64]], axes: int) -> float:
    """Over every table of at most PEOPLE people, each one of whom leaves."""
    worst = 0.0
    distinct = list({tuple(sorted(each.items())): each for each in persons}.values())
    for n in range(PEOPLE):
        for others in itertools.combinations_with_replacement(distinct, n):
            rest = reduce(both, others, {(0,) * axes: 1.0})
            without = law(rest)
            for person in distinct:
                ratio = np.log(law(both(rest, person)) / without)
                worst = max(worst, float(np.abs(ratio).max()))
    return worst


def promised(spec: Spec) -> float:
    (promise,) = spec.promises()
    assert isinstance(promise.conclusion, DifferentialPrivacy)
    assert promise.conclusion.delta == 0
    assert promise.people is not None or promise.premises
    return float(promise.conclusion.epsilon)  # type: ignore[arg-type]


BOUNDS: list[dict[str, Any]] = [
    {"rows_per_person": 1},
    {"rows_per_person": 2},
    {"rows_per_person": 3},
    {"rows_per_person": 2, "rows_per_bin": 1},
    {"rows_per_person": 3, "rows_per_bin": 2, "distinct": 1},
    {"rows_per_person": 3, "distinct": 1},
    {"rows_per_bin": 1},
    {"rows_per_bin": 1, "distinct": 1},
    {"rows_per_person": 3, "rows_per_bin": 1, "distinct": 7},
]
PLACES: list[Row] = [(0,), (1,), (None,)]  # type: ignore[list-item]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("kind", ["histogram", "count"])
def test_counts_of_rows_lose_what_is_promised_and_no_more(kind: str, bounds: dict[str, Any]) -> None:
    unit = Unit(person="id", **bounds)
    spec = (
        histogram(["ward=a,b"], epsilon=2, unit=unit)
        if kind == "histogram"
        else statistic("count", by=["ward=a,b"], epsilon=2, unit=unit)
    )
    assert isinstance(spec.channel, Geometric)
    rate, size = spec.channel.epsilon, PEOPLE * ROWS + 1

    def added(kept: Sequence[Row]) -> Vector:
        return tuple(sum(row[0] == place for row in kept) for place in range(2))

    persons = [kept_law(person, spec.unit, added) for person in every_person(PLACES)]
    worst = largest_loss(persons, lambda law: densities(law, size, rate, 2), 2)
    assert promised(spec) == 2
    assert 0.99 * 2 <= worst <= 2 + 1e-9


@pytest.mark.parametrize(
    "bounds", [{"rows_per_person": 1}, {"rows_per_person": 2}, {"rows_per_person": 3}, {"rows_per_bin": 2}]
)
@pytest.mark.parametrize("kind", ["mean", "fraction"])
def test_both_sums_of_rows_lose_what_is_promised_and_no_more(kind: str, bounds: dict[str, Any]) -> None:
    unit, words = Unit(person="id", **bounds), {"of": "x:0..2:1"} if kind == "mean" else {"where": "x = 1"}
    spec = statistic(kind, epsilon=2, unit=unit, **words)  # type: ignore[arg-type]
    assert spec.sum_rate is not None
    width = spec.steps
    rows: list[Row] = [(0, x) for x in range(width + 1)]

    def added(kept: Sequence[Row]) -> Vector:
        return sum(row[1] for row in kept), sum(width - row[1] for row in kept)

    persons = [kept_law(person, spec.unit, added) for person in every_person(rows)]
    size, rate = PEOPLE * ROWS * width + 1, spec.sum_rate
    worst = largest_loss(persons, lambda law: densities(law, size, rate, 2), 2)
    assert promised(spec) == 2
    assert 0.99 * 2 <= worst <= 2 + 1e-9


@pytest.mark.parametrize("bounds", [{"rows_per_person": 1}, {"rows_per_person": 2}, {"rows_per_bin": 2}, {}])
def test_a_ratio_of_two_sums_loses_what_is_promised_and_no_more(bounds: dict[str, Any]) -> None:
    """Without bounds each person has one row."""
    spec = ratio(of="x:0..2:1", per="y:0..1:1", epsilon=2, unit=Unit(person="id", **bounds))
    rows: list[Row] = [(0, x, y) for x in range(3) for y in range(2)]

    def added(kept: Sequence[Row]) -> Vector:
        return sum(row[1] for row in kept), sum(row[2] for row in kept)

    persons = [kept_law(person, spec.unit, added) for person in every_person(rows) if bounds or len(person) == 1]
    size = 2 * PEOPLE * ROWS + 1

    def density(law: Law) -> NDArray[np.float64]:
        table, places = np.zeros((size, size)), np.arange(size)
        for vector, p in law.items():
            table[vector] += p
        one, other = (np.exp(-float(rate) * np.abs(places[:, None] - places[None, :])) for rate in spec.sums.rates)
        found: NDArray[np.float64] = one @ table @ other
        return found

    assert promised(spec) == 2
    worst = largest_loss(persons[:: 1 if not bounds else 11], density, 2)
    assert worst <= 2 + 1e-9
    alone = max(float(np.abs(np.log(density(law) / density({(0, 0): 1.0}))).max()) for law in persons)
    assert 0.99 * 2 <= alone <= 2 + 1e-9


@pytest.mark.parametrize("distinct", [1, 2])
def test_any_row_by_bins_loses_what_is_promised_and_no_more(distinct: int) -> None:
    unit = of_numbers("id", any_row=True, distinct=distinct, by_bins=True)
    spec = statistic("fraction", by=["ward=a,b"], where="x = 1", epsilon=2, unit=unit)
    assert spec.sum_rate is not None
    rate = spec.sum_rate
    rows: list[Row] = [(0, 0), (0, 1), (1, 0), (1, 1)]

    def added(kept: Sequence[Row]) -> Vector:
        met = [[row[1] for row in kept if row[0] == place] for place in range(2)]
        return tuple(each for own in met for each in ((1 in own) * 1, (bool(own) and 1 not in own) * 1))

    persons = [kept_law(person, spec.unit, added) for person in every_person(rows)]
    worst = largest_loss(persons, lambda law: densities(law, PEOPLE + 1, rate, 4), 4)
    assert promised(spec) == 2
    assert 0.99 * 2 <= worst <= 2 + 1e-9


@pytest.mark.parametrize("most", [1, 2, 3])
def test_points_of_a_quantile_of_rows_lose_no_more_than_is_promised(most: int) -> None:
    spec = statistic("quantile", of="x:0..1:1", q="0.5", epsilon=2, unit=Unit(person="id", rows_per_person=most))
    persons = [kept_law(person, spec.unit, by_value) for person in every_person([(0, 0), (0, 1)])]
    worst = largest_loss(persons, points_law(spec), 2)
    assert promised(spec) == 2
    assert 0.2 < worst <= 2 + 1e-9


def by_value(kept: Sequence[Row]) -> Vector:
    """How many rows have 0, and how many 1."""
    return tuple(sum(row[1] == x for row in kept) for x in range(2))


def points_law(spec: Statistic) -> Callable[[Law], NDArray[np.float64]]:
    """Of the value of a quantile and of the offset of its interval, from the law of how many rows have each value."""
    wanted, known = aims(spec), dict[Vector, NDArray[np.float64]]()
    assert wanted.window is not None
    window = wanted.window

    def points(rows: Vector) -> NDArray[np.float64]:
        if rows not in known:
            table = [(x, n) for x, n in enumerate(rows) if n]
            values = law(weights(table, 1, wanted.value, wanted.value_loss))
            around = [law(window_weights(table, 1, window, value, wanted.window_loss)) for value in range(2)]
            known[rows] = np.array([[float((values[v] * around[v][k]).mid()) for k in range(2)] for v in range(2)])
        return known[rows]

    return lambda chances: sum((p * points(rows) for rows, p in chances.items()), np.zeros(()))


@pytest.mark.parametrize("bounds", [{"rows_per_person": 2}, {"rows_per_bin": 1}, {"rows_per_person": 2, "distinct": 1}])
def test_all_tables_of_a_cube_of_rows_lose_together_what_is_promised_and_no_more(bounds: dict[str, Any]) -> None:
    """Cells by ward and sex, their sums by ward and by sex: of two rows one person is in one bin of the last margin with
    both, however few bins there are."""
    unit = Unit(person="id", **bounds)
    asked = cube(["ward=a,b", "sex=f"], epsilon=2, unit=unit)
    spec = asked.with_schema(Schema({"id": ColumnType.INTEGER, "ward": ColumnType.TEXT, "sex": ColumnType.TEXT}))
    rates = [rate for rate, many in zip(spec.shares, spec.sizes, strict=True) for _ in range(many)]

    def added(kept: Sequence[Row]) -> Vector:
        wards = tuple(sum(row[0] == place for row in kept) for place in range(2))
        return (*wards, *wards, sum(wards))

    persons = [kept_law(person, spec.cells.unit, added) for person in every_person(PLACES)]
    others = [{(0,) * 5: 1.0}, *persons]

    def density(law: Law) -> NDArray[np.float64]:
        table = np.zeros((5,) * 5)
        for vector, p in law.items():
            table[vector] += p
        places = np.arange(5)
        for axis, rate in enumerate(rates):
            noise = np.exp(-float(rate) * np.abs(places[:, None] - places[None, :]))
            table = np.moveaxis(np.tensordot(noise, table, axes=(1, axis)), 0, axis)
        return table

    worst = 0.0
    for rest in others:
        without = density(rest)
        worst = max(worst, *(float(np.abs(np.log(density(both(rest, one)) / without)).max()) for one in persons))
    assert promised(spec) == 2
    assert 0.99 * 2 <= worst <= 2 + 1e-9


@pytest.mark.parametrize("bounds", BOUNDS[1:], ids=str)
@pytest.mark.parametrize("method", ["per-query", "split-tables", "histogram"])
def test_queries_about_rows_lose_together_what_is_promised_and_no_more(method: str, bounds: dict[str, Any]) -> None:
    """Rows by ward, and by sex, which has one bin: two tables, and a row is in one bin of each."""
    unit = Unit(person="id", **bounds)
    spec = queries(["ward=a,b", "sex=f"], "conjunctions:1", epsilon=2, method=method, unit=unit)
    match spec.method:
        case SplitTables():
            ward, sex = spec.method.noise(spec.setting).rates
            rates = [ward, ward, sex]
        case PerQuery():
            rates = 3 * [spec.method.rate(spec.setting)]
        case _:
            assert isinstance(spec.method, Flat)
            rates = 2 * [spec.method.rate(spec.setting)]

    def added(kept: Sequence[Row]) -> Vector:
        wards = tuple(sum(row[0] == place for row in kept) for place in range(2))
        return wards if len(rates) == 2 else (*wards, sum(wards))

    size = PEOPLE * ROWS + 1
    places = np.arange(size)

    def density(law: Law) -> NDArray[np.float64]:
        table = np.zeros((size,) * len(rates))
        for vector, p in law.items():
            table[vector] += p
        for axis, rate in enumerate(rates):
            noise = np.exp(-float(rate) * np.abs(places[:, None] - places[None, :]))
            table = np.moveaxis(np.tensordot(noise, table, axes=(1, axis)), 0, axis)
        return table

    persons = [kept_law(person, spec.unit, added) for person in every_person(PLACES)]
    worst = largest_loss(persons, density, len(rates))
    assert promised(spec) == 2
    assert 0.99 * 2 <= worst <= 2 + 1e-9


# --- on a secret sample of people ---------------------------------------------------------------------------------


@pytest.mark.parametrize("bounds", [{"rows_per_person": 2}, {"rows_per_person": 3, "distinct": 1}, {"rows_per_bin": 1}])
def test_questions_of_rows_lose_together_what_is_promised_and_no_more(bounds: dict[str, Any]) -> None:
    """Everybody is drawn, and one person is replaced by another: two questions about the same rows."""
    unit = Unit(person="id", **bounds)
    asked: list[dict[str, Any]] = [
        {"name": "wards", "kind": "count", "by": ["ward=a,b"], "epsilon": 1},
        {"name": "share", "kind": "fraction", "where": "x = 1", "epsilon": "0.5"},
    ]
    if "rows_per_bin" in bounds:
        asked[1]["by"] = ["ward=a,b"]
    spec = questions(asked, rows=1, people=1, unit=unit)
    counts, share = spec.statistics
    assert counts.unit_loss is not None
    assert share.sum_rate is not None
    by_bins, rates = bool(share.axes), (counts.unit_loss, share.sum_rate)
    rows: list[Row] = [(0, 0), (0, 1), (1, 0), (1, 1)]

    def added(kept: Sequence[Row]) -> Vector:
        wards = [sum(row[0] == place for row in kept) for place in range(2)]
        groups = [[row[1] for row in kept if row[0] == place] for place in range(2)]
        groups = groups if by_bins else [[row[1] for row in kept]]
        return (*wards, *(each for group in groups for each in (sum(group), len(group) - sum(group))))

    persons = [kept_law(person, counts.unit, added) for person in every_person(rows)]
    size = 1 + max(max(vector) for law in persons for vector in law)

    def density(law: Law) -> NDArray[np.float64]:
        axes = len(next(iter(law)))
        table = np.zeros((size,) * axes)
        for vector, p in law.items():
            table[vector] += p
        places = np.arange(size)
        for axis in range(axes):
            rate = rates[0] if axis < 2 else rates[1]
            noise = np.exp(-float(rate) * np.abs(places[:, None] - places[None, :]))
            table = np.moveaxis(np.tensordot(noise, table, axes=(1, axis)), 0, axis)
        return table

    laws = [density(law) for law in persons]
    worst = max(float(np.abs(np.log(one / other)).max()) for one, other in itertools.product(laws, laws))
    private = [each.conclusion for each in spec.promises() if isinstance(each.conclusion, DifferentialPrivacy)]
    assert [float(each.epsilon) for each in private] == pytest.approx([1.5])  # type: ignore[arg-type]
    assert worst <= 1.5 + 1e-9
    if "rows_per_bin" not in bounds:  # with rows in both bins, two people are never far from one another
        assert worst >= 0.99 * 1.5


LAYERS = ((0, 1), (1, 1), (2, 2))  # of at most two rows of 2, from where and how wide
SAMPLED: dict[str, tuple[dict[str, Any], list[Row], Callable[[Sequence[Row]], Vector], Vector]] = {
    "count": (
        {"by": ["ward=a,b"]},
        PLACES,
        lambda kept: tuple(sum(row[0] == place for row in kept) for place in range(2)),
        (0, 0),
    ),
    "fraction": (
        {"where": "x = 1"},
        [(0, 0), (0, 1)],
        lambda kept: (sum(row[1] for row in kept), sum(1 - row[1] for row in kept)),
        (0, 0),
    ),
    "mean": (
        {"of": "x:0..2:1"},
        [(0, 0), (0, 1), (0, 2)],
        lambda kept: (sum(row[1] for row in kept), sum(2 - row[1] for row in kept)),
        (0, 0),
    ),
    "sum": (
        {"of": "x:0..2:1", "cap": 3},
        [(0, 0), (0, 1), (0, 2)],
        lambda kept: (min(sum(row[1] for row in kept), 3),),
        (0,),
    ),
    "sum in layers": (
        {"of": "x:0..2:1", "cap": "layers"},
        [(0, 0), (0, 1), (0, 2)],
        lambda kept: tuple(min(max(sum(row[1] for row in kept), low), low + width) - low for low, width in LAYERS),
        (0, 0, 0),
    ),
    "quantile": ({"of": "x:0..1:1", "q": "0.5"}, [(0, 0), (0, 1)], by_value, (0, 0)),
}
"""Options, the rows that people may have, what the kept ones of a person add, and what nobody adds."""


@pytest.mark.parametrize("drawn", [1, 2, 3])
@pytest.mark.parametrize("bounds", [{"rows_per_person": 2}, {"rows_per_person": 3, "rows_per_bin": 2}])
@pytest.mark.parametrize("kind", SAMPLED)
def test_rows_of_people_who_are_drawn_tell_no_more_than_these_people(
    kind: str, drawn: int, bounds: dict[str, Any]
) -> None:
    """Zero-knowledge, against the simulator that has nobody in the place of the one whom it does not see; and one person
    replaced: over every table of three people."""
    words, rows, added, nothing = SAMPLED[kind]
    bounds = bounds | ({"distinct": 1} if words.get("by") and "rows_per_bin" in bounds else {})
    name, people = kind.split()[0], {"zero_knowledge": "1", "rows": drawn, "people": 3}
    asked = registry.kind(name).from_options(person="id", **people, **words, **bounds)
    assert isinstance(asked, Statistic)
    rate = asked.rates if isinstance(asked, Sum) else asked.sum_rate or asked.unit_loss
    assert rate is not None
    if isinstance(asked, Sum) and asked.layered:
        assert asked.layers.widths == tuple(width for _, width in LAYERS)
    every = [kept_law(person, asked.unit, added) for person in every_person(rows)]
    persons = list({tuple(sorted(each.items())): each for each in every}.values())
    axes = len(nothing)
    size = 3 * max(max(vector) for law in persons for vector in law) + 1
    shape = (size,) * axes if kind != "quantile" else (2, 2)

    known: dict[tuple[int, ...], NDArray[np.float64]] = {}
    everybody = [*persons, {nothing: 1.0}]
    published = points_law(asked) if kind == "quantile" else lambda law: densities(law, size, rate, axes)

    def of_drawn(chosen: tuple[int, ...]) -> NDArray[np.float64]:
        if chosen not in known:
            known[chosen] = published(reduce(both, (everybody[i] for i in chosen)))
        return known[chosen]

    def law(table: tuple[int, ...]) -> NDArray[np.float64]:
        sets = list(itertools.combinations(sorted(table), drawn))
        return sum((of_drawn(each) for each in sets), np.zeros(shape)) / len(sets)

    knows, swapped = (float(each.conclusion.epsilon) for each in asked.promises())  # type: ignore[union-attr, arg-type]
    worst = [0.0, 0.0]
    for others in itertools.combinations_with_replacement(range(len(persons)), 2):
        simulated = law((*others, len(persons)))
        laws = np.log([law((*others, person)) for person in range(len(persons))])
        worst[0] = max(worst[0], float(np.abs(laws - np.log(simulated)).max()))
        worst[1] = max(worst[1], float((laws.max(axis=0) - laws.min(axis=0)).max()))
    assert worst[0] <= knows + 1e-9
    assert worst[1] <= swapped + 1e-9
    if drawn == 3 and kind != "quantile":  # Theorem A1' has its worst case among tables larger than these
        assert worst[0] >= 0.99 * knows
        if name != "sum":  # of values of one sign in one bin two people are no further apart than one and nobody
            assert worst[1] >= 0.99 * swapped
