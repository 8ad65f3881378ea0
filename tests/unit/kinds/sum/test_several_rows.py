"""Sums of people with several rows: what one person loses with all of them, whoever else is there."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from hubbub.engines.opening import open_source
from hubbub.errors import Refused, WrongUse
from hubbub.kinds.statistic.mechanism import question
from hubbub.kinds.statistic.quantile import law
from hubbub.kinds.sum import cap as caps
from hubbub.kinds.sum import mechanism
from hubbub.kinds.sum.estimates import Row as Drawn
from hubbub.kinds.sum.estimates import cap_rate, estimated_answers
from hubbub.kinds.sum.request import KIND as SUM
from hubbub.kinds.sum.request import from_options
from hubbub.kinds.sum.spec import Sum
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import lower, upper
from hubbub.tables.engine import CountQuery

Person = tuple[tuple[str, int], ...]  # rows: bin, value
ROWS = [(ward, cost) for ward in "ABC" for cost in (1, 2)]
PEOPLE: list[Person] = [rows for n in range(1, 4) for rows in combinations_with_replacement(ROWS, n)]
BY = ["ward=A,B,C"]
SOURCE = ScriptedSource.from_label("kept")


def table(people: list[Person]) -> pa.Table:
    rows = [(i, ward, cost) for i, person in enumerate(people) for ward, cost in person]
    columns = {"id": pa.int64(), "ward": pa.string(), "cost": pa.int64()}
    return pa.table({name: pa.array([row[i] for row in rows], kind) for i, (name, kind) in enumerate(columns.items())})


def spec_of(**words: Any) -> Sum:
    options = {"of": "cost:0..2:1", "by": BY, "rows_per_person": "3", "epsilon": "1", "cap": "layers", **words}
    return from_options(person="id", **options).bind(open_source(table([])).columns())


def asked(spec: Sum) -> CountQuery:
    return replace(question(spec, by_value=True), bounds=spec.unit.bounds)


def layers(spec: Sum, people: list[Person], label: str = "rows") -> list[list[int]]:
    """The exact sum of each layer of each bin, as an engine counts it."""
    counted = open_source(table(people)).count(mechanism._question(spec), ScriptedSource.from_label(label))
    return mechanism.bounded_layers(spec, counted)


def lost(spec: Sum, sums: list[list[int]]) -> Fraction:
    """What somebody loses who moves the sums by so much."""
    return sum((rate * abs(each) for rate, layer in zip(spec.rates, sums, strict=True) for each in layer), Fraction(0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "worst"),
    [
        ({}, 1),
        ({"cap": "3"}, 1),
        ({"cap_per_bin": "2"}, 1),
        ({"rows_per_person": "1000000", "cap": "4"}, 1),
        ({"rows_per_bin": "1", "distinct": "2", "rows_per_person": None}, 1),
        ({"of": "cost:-2..2:1", "cap": "3", "by": ["ward=A,B"]}, 1),
    ],
)
def test_nobody_with_up_to_three_rows_loses_more_than_is_promised_and_somebody_loses_all_of_it(
    words: dict[str, Any], worst: int
) -> None:
    """Everybody who can be, alone: the maps look at one person's rows, so that others change nothing (next test)."""
    spec = spec_of(**words)
    found = [lost(spec, layers(spec, [person])) for person in PEOPLE]
    assert max(found) <= 1
    assert max(found) == worst
    assert all(check.passed for check in spec.checks())


@pytest.mark.slow
def test_what_a_person_adds_does_not_depend_on_who_else_is_there() -> None:
    """Tables of three people with up to three rows each: the layers of all are the sums of the layers of each."""
    spec, random = spec_of(), Random(4)
    for _ in range(12):
        people = random.choices(PEOPLE, k=3)
        each = [layers(spec, [person]) for person in people]
        assert layers(spec, people) == [
            [sum(one[j][place] for one in each) for place in range(3)] for j in range(len(spec.layers))
        ]


def test_by_bins_a_cap_on_the_whole_is_drawn_unless_layers_are_asked_for() -> None:
    assert spec_of(cap=None).drawn_cap
    assert spec_of(cap=None).cap_points[-1] == spec_of(cap=None).most_in_all == 6
    assert spec_of(cap=None, by=[]).layered
    assert spec_of().layered


@pytest.mark.slow
def test_a_cap_that_is_drawn_for_several_rows_and_the_sums_lose_epsilon_together() -> None:
    """Everybody who can come, to every pair of others of some who can be there: the law of the cap in certified balls,
    and given each cap what the newcomer adds to the sums."""
    spec = spec_of(cap=None)
    points, bounds = spec.cap_points, spec.bounds
    assert bounds is not None
    rows = {person: open_source(table([person])).kept_rows((asked(spec),), SOURCE) for person in PEOPLE}
    reached = {person: int(mechanism.totals_of_people(spec, rows[person])[0]) for person in PEOPLE}
    assert reached == {person: sum(cost for _, cost in person) for person in PEOPLE}
    some = [[reached[one], reached[two]] for one, two in combinations_with_replacement(PEOPLE[::9], 2)]
    worst = Fraction(0)
    for total in sorted(set(reached.values())):
        most = [
            max(
                int(mechanism.person_totals(spec, rows[person], 0, replace(bounds, cap=point))[1].sum())
                for person in PEOPLE
                if reached[person] == total
            )
            for point in points
        ]
        assert most == [min(total, point) for point in points]
        for there in ([], *some):
            laws = []
            for totals in (there, [*there, total]):
                above = [sum(each >= point for each in totals) for point in points]
                laws.append(list(law(caps.runs(spec, above)).values()))
            for i, point in enumerate(points):
                chosen, rest = abs((laws[0][i] / laws[1][i]).log()), cap_rate(spec, point) * most[i]
                assert upper(chosen) + rest <= 1
                worst = max(worst, lower(chosen) + rest)
    assert worst > Fraction(4, 5)  # the sums alone lose that much


def test_of_more_rows_than_count_so_many_are_kept() -> None:
    spec = spec_of(rows_per_person="2")
    ten: Person = (("A", 2),) * 10
    assert [sum(layer) for layer in layers(spec, [ten])] == [1, 1, 2]
    assert sum(map(sum, layers(spec_of(rows_per_person="1000000", cap="9"), [ten]))) == 9


def test_without_a_word_for_several_rows_such_a_table_is_refused() -> None:
    spec = from_options(person="id", of="cost:0..2:1", by=BY, epsilon="1")
    data = open_source(table([(("A", 1), ("B", 2))]))
    with pytest.raises(Refused, match="exactly one row for each person"):
        spec.bind(data.columns()).measure(data, ScriptedSource.from_label("refused"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"rows_per_person": "0"}, "at least 1"),
        ({"crowd": "5", "cap": "2"}, "each row counts by itself"),
        ({"crowd": "5", "by": ["ward"]}, "bins are declared"),
        ({"by": ["ward"]}, "bins are declared"),
        ({"cap": "auto", "epsilon": None, "zero_knowledge": "1", "rows": "5", "people": "10"}, "epsilon=E alone"),
        ({"cap": "2", "lost": "0.1"}, "one row each"),
        ({"cap": "0"}, "above 0"),
        ({"cap_per_bin": "0"}, "above 0"),
        ({"cap_per_bin": "1.5"}, "multiple of the step"),
        ({"rows_per_person": None, "cap_per_bin": "2"}, "several rows of a person"),
        ({"of": "cost:-2..2:1"}, "need a cap"),
        ({"one_row_per_person": True}, "exclude each other"),
        ({"rows_per_person": None, "distinct": "2"}, "rows_per_person=M"),
        ({"rows_per_person": None, "rows_per_bin": "2", "by": []}, ""),
    ],
)
def test_a_wrong_use_is_one_sentence(words: dict[str, Any], sentence: str) -> None:
    if not sentence:  # one bin: so many rows in it are so many rows in all
        assert spec_of(**words).most_in_all == 4
        return
    with pytest.raises(WrongUse, match=sentence) as found:
        spec_of(**words)
    assert "\n" not in str(found.value)


def test_the_interval_of_a_capped_total_holds_by_the_exact_law_and_none_shorter_does() -> None:
    """Totals of eight wards, at most 20 visits of up to 50,000 of each patient, as benchmarks.utility publishes them."""
    spec: Any = SUM.ask(
        person="p", of="cost:0..50000:1", by=["ward:0..8:1"], cap="1000000", rows_per_person="20", epsilon="1"
    )
    (answer, *_) = estimated_answers(spec, [Drawn((5 * 10**7,))] * 8)
    off, (rate,) = answer.high - answer.estimate, spec.rates
    assert off == answer.estimate - answer.low == 2_995_732

    def misses(reach: int) -> float:
        return 2 * math.exp(-rate * (reach + 1)) / (1 + math.exp(-rate))

    assert misses(off) <= 0.05 < misses(off - 1)
