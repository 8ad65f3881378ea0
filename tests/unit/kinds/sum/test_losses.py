"""What one person loses by a sum, exactly: every table of up to three people, every neighbour, every value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import log
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.kinds.quantile.ranks import largest_loss, law
from hubbub.kinds.sum import cap as caps
from hubbub.kinds.sum import mechanism
from hubbub.kinds.sum.estimates import Row, cap_rate
from hubbub.kinds.sum.layers import Layers, octaves
from hubbub.kinds.sum.request import total
from hubbub.kinds.sum.spec import Sum
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import lower, upper
from hubbub.protocol.measurement import Drawn, loaded
from hubbub.tables.engine import ExactCounts
from hubbub.tables.privacy_unit import Unit

BY = ["town=a,b"]
Person = tuple[int, int]  # bin, steps from the low end
Table = tuple[Person, ...]


def counted(spec: Sum, table: Table) -> ExactCounts:
    """What an engine would count, as it is asked."""
    steps = (spec.of if spec.lost is not None else spec.measured).steps
    if mechanism._by_value(spec):
        found: dict[int, int] = {}
        for town, x in table:
            code = town * (steps + 1) + min(x, steps)
            found[code] = found.get(code, 0) + 1
        return ExactCounts(np.array(list(found), dtype=np.int64), np.array(list(found.values()), dtype=np.int64))
    towns = sorted({town for town, _ in table})
    low = int((spec.measured.low - spec.of.low) / spec.of.step)
    cut = {town: [min(max(x - low, 0), steps) for there, x in table if there == town] for town in towns}
    codes, counts = np.array(towns, dtype=np.int64), np.array([len(cut[town]) for town in towns], dtype=np.int64)
    return ExactCounts(codes, counts, (), tuple(sum(cut[town]) for town in towns))


def exactly(spec: Sum, table: Table, monkeypatch: pytest.MonkeyPatch, cap: int | None = None) -> list[Row]:
    """What the mechanism adds noise to."""
    monkeypatch.setattr(mechanism, "wide_noise", lambda rate, size, source: np.zeros(size, dtype=np.int64))
    monkeypatch.setattr(caps, "drawn", lambda spec, above, source: cap)
    batch = mechanism.Sums(spec).draw(counted(spec, table), ScriptedSource.from_label("none"))
    drawn: Drawn = loaded(mechanism.Sums(spec).schema, batch)
    return mechanism.rows_of(spec, drawn)


def remembered(spec: Sum, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[Row]]:
    """The same, each table once, whatever the order of its people."""
    known: dict[tuple[Table, int | None], list[Row]] = {}

    def sums(table: Table, cap: int | None = None) -> list[Row]:
        key = tuple(sorted(table)), cap
        if key not in known:
            known[key] = exactly(spec, key[0], monkeypatch, cap)
        return known[key]

    return sums


def apart(rates: tuple[Fraction, ...], one: list[Row], two: list[Row]) -> Fraction:
    """The loss between two tables: geometric noise moved by m has laws e^(rate m) apart, and noises are independent."""
    assert all(row.sums is not None for row in (*one, *two))
    return sum(
        (rate * abs(a - b) for r, s in zip(one, two, strict=True) for rate, a, b in zip(rates, r.sums or (), s.sums or (), strict=True)),
        Fraction(0),
    )  # fmt: skip


def neighbours(steps: int) -> Iterator[tuple[Table, Table]]:
    people = [(town, x) for town in range(2) for x in range(steps + 1)]
    for size in range(3):
        for table in combinations_with_replacement(people, size):
            for person in people:
                yield table, (*table, person)


@pytest.mark.parametrize(
    "words",
    [
        {"of": "x:0..3:1"},
        {"of": "x:0..3:1", "cap": "2"},
        {"of": "x:-2..1:1", "cap": "1"},
        {"of": "x:0..3:1", "cap": "2", "lost": "0.25"},
    ],
)
def test_nobody_loses_more_than_is_promised_and_somebody_loses_all_of_it(
    words: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = total(by=BY, epsilon="1", **words)
    worst, sums = Fraction(0), remembered(spec, monkeypatch)
    for fewer, more in neighbours(spec.of.steps):
        lost = apart(spec.rates, sums(fewer), sums(more))
        assert lost <= spec.shares[0]
        worst = max(worst, lost)
    assert worst == spec.shares[0]


def test_a_cap_that_is_drawn_and_the_sum_lose_epsilon_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """The law of the cap is compared in certified balls, and the noise given each cap exactly. At this epsilon nobody may
    lie above a cap for nothing."""
    spec = total(of="x:0..3:1", by=BY, cap="auto", epsilon="5")
    grid = caps.grid(spec.bottom, spec.top)
    assert caps.allowed(spec) == 0
    worst, sums = Fraction(0), remembered(spec, monkeypatch)
    for fewer, more in neighbours(3):
        laws = []
        for table in (fewer, more):
            above = [sum(x > point for _, x in table) for point in grid]
            laws.append(list(law(caps.runs(spec, above)).values()))
        for i, point in enumerate(grid):
            chosen = abs((laws[0][i] / laws[1][i]).log())
            rest = apart((cap_rate(spec, point),), sums(fewer, point), sums(more, point))
            assert upper(chosen) + rest <= 5 + Fraction(1, 10**30)
            worst = max(worst, lower(chosen) + rest)
    assert worst > 5 - Fraction(1, 10**30)


def test_numbers_that_only_rise_cost_the_loss_once() -> None:
    """Every way in which up to four people may lie above three points, and one who comes: the law of a point changes by
    the loss at most, and by nearly all of it somewhere; by more than that where one number rises and another falls."""
    loss, counts = Fraction(1), [each for each in product(range(5), repeat=3) if sorted(each, reverse=True) == [*each]]
    worst = Fraction(0)
    for above in counts:
        for reach in range(1, 4):
            more = [people + (i < reach) for i, people in enumerate(above)]
            apart = largest_loss(*(caps.grid_runs(each, 1, loss) for each in (above, more)))
            assert lower(apart) <= loss
            assert upper(apart) <= loss + Fraction(1, 10**30)
            worst = max(worst, lower(apart))
    assert worst > Fraction(9, 10)
    both_ways = largest_loss(caps.grid_runs((5, 5, 4), 0, loss), caps.grid_runs((6, 4, 4), 0, loss))
    assert lower(both_ways) > loss


def test_a_cap_leaves_few_above_and_is_hardly_ever_far_too_high() -> None:
    """Log-normal amounts of 2,000 people: how many lie above each point, by their law."""
    spec = total(of="x:0..100000:1", cap="auto", epsilon="1")
    points = spec.cap_points
    above = [round(2000 * (1 - NormalDist(3, 1.2).cdf(log(point)))) for point in points]
    chances = [float(each) for each in law(caps.runs(spec, above)).values()]
    left = sum(chance * people for chance, people in zip(chances, above, strict=True))
    assert 2 < left < 25
    assert sum(chance for chance, point in zip(chances, points, strict=True) if point > 10_000) < 1e-3


def test_people_of_one_crowd_stand_in_for_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly k in a bin: any one of them replaced by anybody of the same bin; and whoever is in a small one is not seen."""
    spec = total(of="x:0..5:1", by=BY, cap="layers", crowd="2", epsilon="1")
    worst = Fraction(0)
    for one in range(6):
        for other in range(6):
            here, there = (exactly(spec, ((0, 3), (0, x), (1, x)), monkeypatch) for x in (one, other))
            assert (here[0].people, here[1].sums) == (2, None)
            assert there[1] == here[1]
            worst = max(worst, apart(spec.rates, here[:1], there[:1]))
    assert worst == 1
    alone = exactly(spec, ((0, 3), (0, 1), (1, 5)), monkeypatch)
    assert exactly(spec, ((0, 3), (0, 1)), monkeypatch) == alone


def test_loss_by_value_is_that_of_the_octaves() -> None:
    """Declared maximum 100,000 in steps of 1: 18 octaves. Somebody with 20 fills five and a quarter of them."""
    layers = octaves(100_000)
    assert len(layers) == 18
    assert layers.loss(20) == Fraction(21, 72)
    assert round(float(layers.loss(20)), 2) == 0.29
    assert round(float(layers.loss(327)), 2) == 0.52
    assert round(float(layers.loss(10_000)), 2) == 0.79
    assert layers.loss(100_000) == 1


def test_over_several_bins_the_losses_add_up_to_no_more_than_the_spread() -> None:
    """All ways to spread at most `whole` over the bins, at most M in each; 1, 2, 4, 5 has a last layer that is steeper."""
    assert octaves(1024).spread(4, 1024) == Fraction(36, 11)  # 3.27
    for layers in (octaves(5), octaves(8), octaves(9), Layers((6,))):
        for places in (1, 2, 3):
            for whole in (2, 5, 8, 12, 30):
                every = [
                    sum((layers.loss(x) for x in spread), Fraction(0))
                    for spread in combinations_with_replacement(range(layers.most + 1), places)
                    if sum(spread) <= whole
                ]
                assert max(every) <= layers.spread(places, whole) <= places


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({}, "of=cost:0..50000:1"),
        ({"of": "x"}, "range of x must be declared"),
        ({"of": "x:-5..5:1"}, "values below 0 need a cap"),
        ({"of": "x:-5..0:1"}, "needs a cap"),
        ({"of": "x:0.5..5.5:1"}, "no multiple"),
        ({"of": "x:0..5:1", "cap": "0"}, "above 0"),
        ({"of": "x:0..5:1", "cap": "-1"}, "above 0"),
        ({"of": "x:0..5:1", "cap": "6"}, "in the range"),
        ({"of": "x:0..5:1", "cap": "2.5"}, "multiple of the step"),
        ({"of": "x:3..5:1", "cap": "2"}, "leaves nothing"),
        ({"of": "x:0..5:1", "cap": "much"}, "a number, auto or layers"),
        ({"of": "x:0..5:1", "cap": "layers", "cap_share": "0.2"}, "cap='auto'"),
        ({"of": "x:0..5:1", "cap": "2", "cap_share": "0.2"}, "cap='auto'"),
        ({"of": "x:0..5:1", "cap": "auto", "cap_share": "1"}, "between 0 and 1"),
        ({"of": "x:0..5:1", "lost": "0.1"}, "say the cap"),
        ({"of": "x:0..5:1", "cap": "2", "lost": "1.5"}, "between 0 and 1"),
        ({"of": "x:0..5:1", "cap": "2", "lost": "0.1", "crowd": "5"}, "epsilon=E alone"),
        ({"of": "x:0..10000000:1", "epsilon": "0.000001"}, "wider than 10\\^12"),
        ({"of": "x:0..5:1", "crowd": "5", "epsilon": None}, "with noise"),
        ({"of": "x:0..5:1", "by": "town"}, "list of columns"),
        ({"of": "x:0..5:1", "coverage": "1"}, "coverage"),
    ],
)
def test_a_wrong_use_is_one_sentence(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence) as found:
        total(**{"epsilon": "1", **words})
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        ({}, True),
        ({"crowd": "5"}, True),
        ({"epsilon": None, "zero_knowledge": "1", "rows": "10", "people": "41"}, True),
        ({"delta": "1e-6"}, True),
        ({"noise": "gaussian", "delta": "1e-6"}, False),
        ({"weight": "w:0..9:1"}, False),
        ({"crowd": "5", "unit": Unit(person="id", rows_per_person=3)}, False),
        ({"cap": "layers"}, False),
    ],
    ids=str,
)
def test_a_cap_is_chosen_in_private_wherever_that_is_possible(words: dict[str, Any], chosen: bool) -> None:
    """Layers erred more in every case of benchmarks/defaults.py, mostly four to ten times as much."""
    spec = total(**{"of": "x:0..50:1", "epsilon": "1", **words})
    assert (spec.drawn_cap, spec.layered) == (chosen, not chosen)


def test_the_choice_of_a_cap_gets_less_of_epsilon_where_there_are_many_bins() -> None:
    shares = [total(of="x:0..50:1", epsilon="1", by=[f"b:0..{n}:1"]).cap_share for n in (9, 10, 39, 40)]
    assert shares == [Fraction(1, 5), Fraction(1, 10), Fraction(1, 10), Fraction(1, 20)]
