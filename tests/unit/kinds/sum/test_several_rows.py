"""Sums of people with several rows: what one person loses with all of them, whoever else is there."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from hubbub.engines.opening import open_source
from hubbub.errors import Refused, WrongUse
from hubbub.kinds.quantile.ranks import law
from hubbub.kinds.sum import cap as caps
from hubbub.kinds.sum import mechanism
from hubbub.kinds.sum.estimates import Row as Drawn
from hubbub.kinds.sum.estimates import cap_rate, estimated_answers
from hubbub.kinds.sum.lost import Lost, OctaveCounts, above_cap, edges
from hubbub.kinds.sum.request import KIND as SUM
from hubbub.kinds.sum.request import from_options
from hubbub.kinds.sum.spec import Sum
from hubbub.kinds.sums.mechanism import question
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import lower, upper
from hubbub.protocol.measurement import loaded
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
    return from_options(person="id", **options).with_schema(open_source(table([])).columns())


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


def test_a_cap_on_the_whole_is_drawn_unless_layers_are_asked_for() -> None:
    assert spec_of(cap=None).drawn_cap
    assert spec_of(cap=None).cap_points[-1] == spec_of(cap=None).most_in_all == 6
    assert spec_of(cap=None, by=[]).drawn_cap
    assert spec_of().layered


@pytest.mark.slow
def test_a_cap_that_is_drawn_for_several_rows_and_the_sums_lose_epsilon_together() -> None:
    """Everybody who can come, to every pair of others of some who can be there: the law of the cap in certified balls,
    and given each cap what the newcomer adds to the sums."""
    spec = spec_of(cap=None, epsilon="6")
    points, bounds = spec.cap_points, spec.bounds
    assert bounds is not None
    assert caps.allowed(spec) == 0  # or nobody of so few would lie above for anything
    rows = {person: open_source(table([person])).kept_rows((asked(spec),), SOURCE) for person in PEOPLE}
    reached = {person: int(mechanism.totals_of_people(spec, rows[person])[0]) for person in PEOPLE}
    assert reached == {person: sum(cost for _, cost in person) for person in PEOPLE}
    some = [[reached[one], reached[two]] for one, two in combinations_with_replacement(PEOPLE[::9], 2)]
    worst = Fraction(0)
    for total in sorted(set(reached.values())):
        most = [
            max(
                int(mechanism.person_totals(spec, rows[person], 0, point)[1].sum())
                for person in PEOPLE
                if reached[person] == total
            )
            for point in points
        ]
        assert most == [min(total, point) for point in points]
        for there in ([], *some):
            laws = []
            for totals in (there, [*there, total]):
                above = [sum(each > point for each in totals) for point in points]
                laws.append(list(law(caps.runs(spec, above)).values()))
            for i, point in enumerate(points):
                chosen, rest = abs((laws[0][i] / laws[1][i]).log()), cap_rate(spec, point) * most[i]
                assert upper(chosen) + rest <= 6 + Fraction(1, 10**30)
                worst = max(worst, lower(chosen) + rest)
    assert worst > Fraction(11, 2)  # the sums alone lose 4.8


def test_of_more_rows_than_count_so_many_are_kept() -> None:
    spec = spec_of(rows_per_person="2")
    ten: Person = (("A", 2),) * 10
    assert [sum(layer) for layer in layers(spec, [ten])] == [1, 1, 2]
    assert sum(map(sum, layers(spec_of(rows_per_person="1000000", cap="9"), [ten]))) == 9


def test_without_a_word_for_several_rows_such_a_table_is_refused() -> None:
    spec = from_options(person="id", of="cost:0..2:1", by=BY, epsilon="1")
    data = open_source(table([(("A", 1), ("B", 2))]))
    with pytest.raises(Refused, match="exactly one row for each person"):
        spec.with_schema(data.columns()).measure(data, ScriptedSource.from_label("refused"))


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"rows_per_person": "0"}, "at least 1"),
        ({"crowd": "5", "cap": "2"}, "each row counts by itself"),
        ({"crowd": "5", "by": ["ward"]}, "bins are declared"),
        ({"by": ["ward"]}, "bins are declared"),
        ({"cap": "auto", "epsilon": None, "zero_knowledge": "1", "rows": "5", "people": "10"}, "epsilon=E alone"),
        ({"cap": "2", "cap_per_bin": "1", "lost": "0.1"}, "two"),
        ({"cap": "6", "lost": "0.1"}, "cuts nothing off"),
        ({"cap": "2", "lost": "0.1", "cap_max": "2"}, "above the cap, up to 6"),
        ({"cap": "2", "lost": "0.1", "cap_max": "7"}, "above the cap, up to 6"),
        ({"cap": "2", "lost": "0.1", "cap_max": "2.5"}, "multiple of the step"),
        ({"cap": "2", "cap_max": "4"}, "goes with `?lost"),
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


# --- what a cap cut off -------------------------------------------------------------------------------------------


def lost_of(people: list[Person], **words: Any) -> Lost:
    """What is told as lost if no noise is drawn."""
    spec = spec_of(**{"cap": "2", "lost": "0.1", **words})
    kept = open_source(table(people)).kept_rows((asked(spec),), SOURCE)
    ends, totals = edges(spec), mechanism.totals_of_people(spec, kept)
    exactly = [int(((totals > over) & (totals <= up_to)).sum()) for over, up_to in pairwise(ends)]
    assert sum(exactly) == int(((totals > 2) & (totals <= ends[-1])).sum())
    return above_cap(spec, drawn_people(exactly))


def drawn_people(people: list[int]) -> Any:
    return loaded(OctaveCounts.schema, pa.record_batch([pa.array(people, pa.int64())], schema=OctaveCounts.schema))


def test_what_a_cap_cut_off_is_looked_at_up_to_the_high_end_times_the_rows() -> None:
    assert edges(spec_of(cap="2", lost="0.1")) == (2, 4, 6)
    assert edges(spec_of(cap="1", lost="0.1", rows_per_person="5")) == (1, 2, 4, 8, 10)
    assert edges(spec_of(cap="2", lost="0.1", rows_per_person=None, distinct="2", rows_per_bin="2")) == (2, 4, 8)
    assert edges(spec_of(cap="1", lost="0.1", cap_max="5")) == (1, 2, 4, 5)
    assert edges(spec_of(cap="1", lost="0.1", rows_per_person=None, by=[])) == (1, 2)


def test_people_are_above_a_cap_by_what_they_have_in_all_bins_and_what_they_lost_lies_between() -> None:
    """A thousand people of each kind, so that noise is nothing: who is above with rows in three wards counts once."""
    kinds: list[Person] = [(("A", 2), ("B", 2), ("C", 2)), (("A", 2), ("B", 1)), (("A", 1), ("B", 1)), (("C", 1),)]
    found = lost_of([kind for kind in kinds for _ in range(1000)])
    assert [each.people for each in found.octaves] == [1000, 1000]  # of 3, and of 6
    assert found.people == 2000
    truly = 1000 * (6 - 2) + 1000 * (3 - 2)
    assert found.most is not None
    assert found.least <= truly <= found.most
    assert found.up_to == 6


def test_the_sums_and_what_they_lost_are_of_the_same_rows() -> None:
    """Of ten rows two count: who is above the cap is told of those two, which are the ones that the sum has."""
    many: list[Person] = [tuple(("A", 1 + i % 2) for i in range(10))] * 300
    spec = spec_of(cap="2", lost="0.5", rows_per_person="2", epsilon="2000", by=[])
    engine = open_source(table(many))
    measurement = spec.measure(engine, ScriptedSource.from_label("same"))
    (row,) = mechanism.rows_of(spec, measurement["answers"])
    (above_two,) = measurement["lost"].integers("people").tolist()  # with rows of 1 and 2, or of 2 and 2
    assert row.sums == (600,)
    assert 150 < above_two < 300  # 7 of 9 people
    kept = engine.kept_rows((asked(spec),), ScriptedSource.from_label("same"))
    assert int((mechanism.totals_of_people(spec, kept) > 2).sum()) == above_two


def test_whoever_has_more_than_the_outer_maximum_counts_as_having_that() -> None:
    people: list[Person] = [(("A", 2), ("B", 2), ("C", 2))] * 400
    spec = spec_of(cap="2", lost="0.5", cap_max="3", epsilon="2000")
    result: Any = spec.present(spec.measure(open_source(table(people)), ScriptedSource.from_label("outer")))
    assert [each.people for each in result.lost.octaves] == [400]
    assert (result.lost.least, result.lost.most) == (0, 400)
    assert "whoever has more than 3 counting as having that" in " ".join(result.sentences())
