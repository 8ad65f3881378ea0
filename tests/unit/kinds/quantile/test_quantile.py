"""The value of a quantile and the interval around it: exact laws over all small tables, and how they are drawn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement
from math import exp, log
from random import Random

import numpy as np
import pytest
from scipy import stats

from hubbub.errors import WrongUse
from hubbub.kinds.quantile.quantile import Aims, aims
from hubbub.kinds.quantile.ranks import Run, Target, Window, draw, law, margin, offsets, weights, window_weights
from hubbub.noise.bernoulli import Multiples, heads
from hubbub.noise.source import ScriptedSource
from tests.unit.shared.statistics import statistic

HALF = Fraction(1, 2)
QUANTILES = (Fraction(1, 10), HALF, Fraction(9, 10))
Table = list[tuple[int, int]]


def target(q: Fraction = HALF, *, replacing: bool = False) -> Target:
    return Target(slope=q, offset=Fraction(0), replacing=replacing)


def counted(people: Sequence[int]) -> Table:
    return sorted(Counter(people).items())


def floats(runs: Sequence[Run]) -> dict[int, float]:
    return {point: float(chance.mid()) for point, chance in law(runs).items()}


def joint(people: Sequence[int], steps: int, wanted: Aims) -> dict[tuple[int, int], float]:
    """The law of a value and of the place of its offset."""
    table, found = counted(people), dict[tuple[int, int], float]()
    assert wanted.window is not None
    for value, chance in floats(weights(table, steps, wanted.value, wanted.value_loss)).items():
        around = floats(window_weights(table, steps, wanted.window, value, wanted.window_loss))
        found |= {(value, place): chance * mass for place, mass in around.items()}
    return found


def every_table(steps: int, most: int) -> Iterator[tuple[int, ...]]:
    for size in range(most + 1):
        yield from combinations_with_replacement(range(steps + 1), size)


# --- the value ----------------------------------------------------------------------------------------------------


def test_a_quantile_of_people_who_are_all_alike_is_their_value() -> None:
    """The distance to the ranks below alone would make every point equally likely; inside of its ranks a point is as much
    better as the nearer end is far."""
    runs = weights([(7, 1000)], 20, target(replacing=True), Fraction(1))
    assert [(run.first, run.points, run.exponent) for run in runs] == [(0, 7, 250), (7, 1, -250), (8, 13, 250)]
    assert draw(runs, ScriptedSource.from_label("alike")) == 7


def test_runs_tile_the_points() -> None:
    aim = Target(slope=Fraction(1, 4), offset=Fraction(-3), replacing=False)
    runs = weights([(0, 4), (5, 8), (6, 1)], 9, aim, Fraction(1))
    assert [point for run in runs for point in range(run.first, run.first + run.points)] == list(range(10))
    rank, rate = Fraction(13, 4) - 3, Fraction(2, 3)  # s = 3/4
    assert [run.exponent / rate for run in runs] == [-rank, 4 - rank, 4 - rank, 12 - rank, 13 - rank]


def test_the_law_is_that_of_the_largest_of_exponential_numbers_less_the_distances() -> None:
    """Two points at distances 0 and x: the second is drawn with chance e^-x/2, and three alike ones with 1/3 each."""
    found = floats([Run(0, 1, Fraction(0)), Run(1, 1, Fraction(2))])
    assert found == pytest.approx({0: 1 - exp(-2) / 2, 1: exp(-2) / 2})
    assert floats([Run(4, 3, Fraction(5))]) == pytest.approx(dict.fromkeys((4, 5, 6), 1 / 3))
    runs = [Run(0, 2, Fraction(1)), Run(2, 1, Fraction(-1)), Run(3, 5, Fraction(3))]
    assert sum(floats(runs).values()) == pytest.approx(1)


def test_no_worse_point_is_drawn_more_often_than_by_the_exponential_mechanism() -> None:
    for people in every_table(3, 4):
        runs = weights(counted(people), 3, target(), Fraction(2))
        masses = {run.first + i: exp(-float(run.exponent)) for run in runs for i in range(run.points)}
        least, best = max(masses.values()), sum(masses.values())
        for point, chance in floats(runs).items():
            if masses[point] < least:
                assert chance <= masses[point] / best + 1e-12
                assert chance <= masses[point] / least / 2 + 1e-12


def test_points_are_drawn_by_their_law() -> None:
    """Size 1e-6 by chi-square on 3,000 draws of three points; half of the rate is rejected."""
    runs = weights([(0, 2), (1, 1), (2, 1)], 2, target(replacing=True), Fraction(1))
    source, draws = ScriptedSource.from_label("points"), 3000
    found = Counter(draw(runs, source) for _ in range(draws))
    for part, is_true in ((1, True), (2, False)):
        expected = [draws * each for each in floats([Run(r.first, 1, r.exponent / part) for r in runs]).values()]
        p = float(stats.chisquare([found[at] for at in range(3)], expected).pvalue)
        assert (p > 1e-6) is is_true, (found, expected)


def test_coins_fall_heads_as_often_as_they_should() -> None:
    """Size 1e-6 by the binomial law, for coins that are thrown one by one and for many alike ones; an exponent that is a
    tenth larger is rejected."""
    for coins in (4_000, 20_000):
        for exponent in (Fraction(1, 3), Fraction(3)):
            source = ScriptedSource.from_label(f"{coins} {exponent}")
            alike = Multiples(np.full(10, exponent.numerator), Fraction(1, exponent.denominator))
            found = int(sum(heads(np.full(10, coins), alike, source)))
            for more, is_true in ((Fraction(1), True), (Fraction(11, 10), False)):
                chance = exp(-float(exponent * more))
                p = float(stats.binomtest(found, 10 * coins, chance).pvalue)
                assert (p > 1e-6) is is_true, (coins, exponent, found, chance)
    surely_or_none = Multiples(np.array([0, 1]), Fraction(1))
    assert heads(np.array([5, 0]), surely_or_none, ScriptedSource.from_label("none")).tolist() == [5, 0]


# --- what is lost -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("q", QUANTILES)
def test_permute_and_flip_on_ranks_loses_no_more_than_is_promised(q: Fraction) -> None:
    """Every table of up to four people over four points, with and without each person: value and offset together."""
    spec = statistic("quantile", of="x:0..3:1", q=q, epsilon=2, interval_share="0.25")
    wanted, worst = aims(spec), 0.0
    laws = {people: joint(people, 3, wanted) for people in every_table(3, 4)}
    for people, here in laws.items():
        for i in range(len(people)):
            there = laws[people[:i] + people[i + 1 :]]
            worst = max(worst, *(abs(log(here[each] / there[each])) for each in here))
    assert 1 < worst <= 2 + 1e-9  # the worst cases of ranks have more points than these


def test_with_many_points_nearly_all_that_is_promised_is_lost() -> None:
    """Ten people at 1, of 10,000 points: one more at the top moves the 0.9-quantile away from 0 and towards the many points
    above 1, and 0 loses nearly all of epsilon: the rate could not be larger."""
    points, aim = 10_000, target(Fraction(9, 10))
    with_, without = (
        in_floats(weights(table, points, aim, Fraction(1)))[0] for table in ([(1, 10), (points, 1)], [(1, 10)])
    )
    assert 0.99 < log(without / with_) <= 1


def in_floats(runs: Sequence[Run]) -> list[float]:
    """The chance of one point of each run, by the integral over u, for many points."""
    u = (np.arange(400_000) + 0.5) / 400_000
    least = min(float(run.exponent) for run in runs)
    chances = [exp(least - float(run.exponent)) for run in runs]
    logs = [np.log1p(-u * p) for p in chances]
    whole = sum((run.points * each for run, each in zip(runs, logs, strict=True)), np.zeros_like(u))
    return [p * float(np.exp(whole - own).mean()) for p, own in zip(chances, logs, strict=True)]


@pytest.mark.parametrize("q", QUANTILES)
def test_two_people_of_a_crowd_exchanged_lose_no_more_than_is_promised(q: Fraction) -> None:
    spec = statistic("quantile", of="x:0..2:1", q=q, crowd=2, epsilon=2)
    wanted, worst = aims(spec, 4), 0.0
    laws: dict[tuple[int, ...], dict[tuple[int, int], float]]
    laws = {people: joint(people, 2, wanted) for people in every_table(2, 4) if len(people) == 4}
    for people, here in laws.items():
        for i in range(4):
            for other in range(3):
                there = laws[tuple(sorted((*people[:i], other, *people[i + 1 :])))]
                worst = max(worst, *(abs(log(here[each] / there[each])) for each in here))
    assert 0.5 < worst <= 2 + 1e-9


# --- the interval -------------------------------------------------------------------------------------------------


def holds(people: Sequence[int], q: Fraction, low: int, high: int) -> bool:
    """Whether every q-quantile lies between two points."""
    rank, size = q * len(people), max(people, default=0)
    every = [
        at for at in range(size + 1) if sum(each < at for each in people) <= rank <= sum(each <= at for each in people)
    ]
    return all(low <= at <= high for at in every)


@pytest.mark.parametrize("q", QUANTILES)
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(60)])
def test_an_interval_holds_the_quantile_as_often_as_it_says(q: Fraction, epsilon: Fraction) -> None:
    """The exact law on tables of many shapes, of few people and of many, with quantiles at both ends and between; and an
    aim of 0 would hold it too seldom."""
    spec = statistic("quantile", of="x:0..6:1", q=q, epsilon=epsilon, coverage="0.9")
    wanted = aims(spec)
    assert wanted.window is not None
    shapes = [[0] * 30, [3] * 40, [0] * 9 + [6], [0, 1, 2, 3, 4, 5, 6] * 9, [1] * 45 + [2] * 5, [1] * 25 + [2] * 25]
    shapes += [[1] * 5 + [2] * 45, [2] * 18 + [5] * 2, []]
    careless = Aims(
        value=wanted.value,
        value_loss=wanted.value_loss,
        window=Window(low=wanted.window.low, high=wanted.window.high, aim=Fraction(0), offsets=wanted.window.offsets),
        window_loss=wanted.window_loss,
    )
    wrong = [max(missed(people, q, each) for people in shapes) for each in (wanted, careless)]
    assert wrong[0] <= 0.1
    if epsilon == 60:
        assert wrong[1] > 0.1


def missed(people: Sequence[int], q: Fraction, wanted: Aims) -> float:
    """The chance that some quantile of at least one person is not in the interval."""
    assert wanted.window is not None
    found = joint(people, 6, wanted)
    ends = {(v, k): (v - wanted.window.offsets[k], v + wanted.window.offsets[k]) for v, k in found}
    return sum(chance for each, chance in found.items() if people and not holds(people, q, *ends[each]))


def test_the_margin_is_what_the_offsets_need() -> None:
    found = margin(HALF, Fraction(1, 10), 17, Fraction(1, 20))
    assert float(found) == pytest.approx(log(16 / 0.1) / 0.1)
    assert margin(HALF, Fraction(1, 10), 1, Fraction(1, 20)) == 0


def test_offsets_reach_over_the_whole_range() -> None:
    assert offsets(60) == (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 41, 51, 60)
    assert offsets(0) == (0,)
    assert len(offsets(100_000)) < 60


def test_all_of_epsilon_goes_to_the_value_without_an_interval() -> None:
    spec = statistic("quantile", of="x:0..6:1", epsilon=1, interval_share=0)
    wanted = aims(spec)
    assert wanted.window is None
    assert wanted.value_loss == 1
    for share in (1, "-0.1", "1.5"):
        with pytest.raises(WrongUse, match="share of epsilon"):
            statistic("quantile", of="x:0..6:1", epsilon=1, interval_share=share)


@pytest.mark.parametrize("offset", [Fraction(0), Fraction(-7, 3), Fraction(1, 10**25)])  # the last one beyond 64 bits
def test_runs_are_what_the_distances_say_point_by_point_and_are_drawn_alike_in_either_form(offset: Fraction) -> None:
    random = Random(7)
    for _ in range(40):
        steps = random.randrange(1, 30)
        some = sorted(random.sample(range(steps + 1), random.randrange(min(steps, 6) + 1)))
        table = [(step, random.randrange(1, 9)) for step in some]
        aim = Target(slope=Fraction(random.randrange(1, 10), 10), offset=offset, replacing=False)
        runs = weights(table, steps, aim, Fraction(3, 2))
        rate, rank = Fraction(3, 4) / aim.moved, aim.rank(sum(n for _, n in table))
        right = {}
        for point in range(steps + 1):
            below = sum(n for step, n in table if step < point)
            right[point] = rate * max(below - rank, rank - below - dict(table).get(point, 0))
        assert {run.first + i: run.exponent for run in runs for i in range(run.points)} == right
        assert [run.first for run in runs] == sorted(run.first for run in runs)
        for label in ("one", "two", "three"):
            drawn = {draw(each, ScriptedSource.from_label(label)) for each in (runs, list(runs))}
            assert len(drawn) == 1
