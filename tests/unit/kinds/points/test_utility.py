"""How far points move and how good their mean is: exact tails against brute force, bounds against draws."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from flint import arb
from scipy import stats

from hubbub.kinds.points.mechanism import Moves, move_points, present
from hubbub.kinds.points.request import points
from hubbub.kinds.points.spec import NoisyPoints
from hubbub.kinds.points.utility import chance_missed, each_within, farther, mean_within, paper_chance_missed, reach
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball, exp
from hubbub.protocol.measurement import Measurement, release
from hubbub.tables.engine import ExactCounts

RUNS, SIZE = 300, 1e-6
RARE = Fraction(1, 20)


def asked(**words: Any) -> NoisyPoints:
    plane = {"columns": "x,y", "grid": "10,10", "box": "0..100,0..100", "crowd": 2, "epsilon": 1}
    return points(**{**plane, **words})


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("steps", [0, 1, 2, 5, -1])
def test_the_tail_of_a_distance_is_exact(columns: int, steps: int) -> None:
    rate = Fraction(2)
    near = arb(0)
    for x in product(range(-5, 6), repeat=columns):
        if sum(map(abs, x)) <= steps:
            near += (ball(rate) / 2).tanh() ** columns * exp(-rate * sum(map(abs, x)))
    assert farther(rate, columns, steps).overlaps(1 - near)


def test_the_exact_chance_is_below_that_of_proposition_11() -> None:
    spec = asked()
    for distance in (300, 500, 800):
        exact, paper = (
            chance_missed(spec, 1000, Fraction(distance)),
            paper_chance_missed(spec, 1000, Fraction(distance)),
        )
        assert 0 < exact < paper or paper == 1
    assert chance_missed(spec, 1000, Fraction(1, 10)) == 1  # putting points on the lattice alone may move them as far
    assert chance_missed(spec, 0, Fraction(1, 10)) == 0
    assert chance_missed(spec, 1, Fraction(500)) < chance_missed(spec, 100, Fraction(500))


def test_the_reach_is_the_smallest_distance() -> None:
    spec = asked()
    far = reach(spec, 1000, RARE)
    assert chance_missed(spec, 1000, far) <= RARE < chance_missed(spec, 1000, far - spec.space.axes[0].step)


@pytest.mark.parametrize(
    "words", [{}, {"epsilon": 5}, {"lattice": "1,10"}, {"grid": "20,10", "lattice": "4,1"}], ids=str
)
def test_bounds_hold_as_often_as_they_say(words: dict[str, Any]) -> None:
    """Each may be missed once in twenty: a bound that is missed more often is rejected with size 1e-6, and one that is
    missed twice as often as it says is rejected with a chance of nearly one."""
    spec, people = asked(**words), 200
    at = spec.space.axes[1].steps // 2 * (1 + spec.space.axes[1].steps)
    codes = np.array([at])
    first = [int(each[0]) for each in spec.space.positions(codes)]
    all_, each, mean = (reach(spec, people, RARE), each_within(spec, people, RARE), mean_within(spec, people, RARE))
    steps = [float(axis.step) for axis in spec.space.axes]
    misses = np.zeros(3, dtype=int)
    source = ScriptedSource.from_label(f"bounds {words}")
    for _ in range(RUNS):
        found = move_points(spec, codes, np.array([people]), source)
        apart = [np.abs(column - start) * step for column, start, step in zip(found, first, steps, strict=True)]
        misses[0] += float(sum(apart).max()) > all_  # type: ignore[union-attr, operator]
        misses[1] += any(float(a.max()) > e for a, e in zip(apart, each, strict=True))
        means = [abs(float((column - start).mean())) * s for column, start, s in zip(found, first, steps, strict=True)]
        misses[2] += any(a > m for a, m in zip(means, mean, strict=True))
    limit = int(stats.binom.isf(SIZE, RUNS, float(RARE)))
    assert (misses <= limit).all(), f"{RUNS} runs, missed {misses.tolist()}, at most {limit}"
    assert stats.binom.sf(limit, RUNS, 3 * float(RARE)) > 0.9  # the power against three times as many
    assert misses[1] > 0 or "lattice" in words  # the bound is no empty one


@pytest.mark.parametrize("last", [False, True])
def test_the_mean_is_that_of_points_before_they_were_put_back_on_the_edge(last: bool) -> None:
    """Noise that is cut off at the edge has a mean of its own, however many points there are; the sums beside the
    points are those of the draws, and their bound is the narrow one."""
    spec = points("x", grid="10", box="0..100", crowd=2, epsilon=1)
    start, people = 999 if last else 0, 10_000
    exact = ExactCounts(np.array([start]), np.array([people]))
    drawn = release(Moves(spec), exact, ScriptedSource.from_label(f"edge {last}"))
    shown = present(spec, Measurement(points=drawn))
    truth = Fraction(2 * start + 1, 20)
    (bound,), (mean,) = mean_within(spec, people, RARE), shown.means()
    pulled = abs(Fraction(int(shown.positions[0].sum()), people) - start) / 10
    q = np.exp(-1 / 99)
    assert abs(float(pulled) - q / (1 - q**2) / 10) < 0.5  # what max(X, 0) moves by, a step being a tenth
    assert mean.sum == sum((Fraction(2 * int(at) + 1, 20) for at in drawn.integers("0")), Fraction(0))
    assert abs(mean.sum / people - truth) < bound < pulled / 10
    assert spec.space.axes[0].low <= mean.low <= truth <= mean.high <= spec.space.axes[0].high
    assert mean.low <= mean.mean <= mean.high


def test_sums_of_many_positions_do_not_run_over() -> None:
    spec = points("x", grid="1024", box=f"0..{2**51}", lattice="1024", crowd=2, epsilon=1)
    at = np.array([2**41 - 1, 2**62, -(2**62), -1, 2**62], dtype=np.int64)
    assert spec.space.total(0, at) == sum(1024 * int(each) + 512 for each in at)


def test_nothing_moves_where_a_cell_is_one_position() -> None:
    spec = asked(lattice="10,10")
    assert chance_missed(spec, 10**6, Fraction(11)) == 0
    for bound in (*each_within(spec, 10**6, RARE), *mean_within(spec, 10**6, RARE)):
        assert 5 <= bound < Fraction(5001, 1000)  # half a step, to the middle of the cell
    assert 10 <= reach(spec, 10**6, RARE) < 11
