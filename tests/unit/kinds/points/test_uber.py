"""Points of half a million rides in New York: totals by hour and by place are within the stated bounds, and whether an
exact point is in the data cannot be told more often than the promise allows.

The table is not part of the repository: without it beside the repository these tests are skipped.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.kinds.points.mechanism import move_points
from hubbub.kinds.points.request import points
from hubbub.kinds.points.result import RARE, PublishedPoints
from hubbub.kinds.points.spec import NoisyPoints
from hubbub.kinds.points.utility import each_within, mean_within
from hubbub.noise.source import ScriptedSource
from tests.fresh import opened, played

UBER = Path(__file__).resolve().parents[5] / "shared" / "data" / "tables" / "uber_nyc_apr2014.parquet"
pytestmark = pytest.mark.skipif(not UBER.exists(), reason="the table of rides is not here")

BOX = "-74.3..-73.7,40.5..41.0"
K = 20
SIZE = 1e-6  # of each statistical test

Numbers = NDArray[np.float64]


@pytest.fixture(scope="module")
def rides() -> pa.Table:
    table = pq.read_table(UBER, columns=["lon", "lat", "pickup_time"])
    return table.append_column("hour", pc.hour(table["pickup_time"])).select(["lon", "lat", "hour"])


def run(spec: NoisyPoints, table: pa.Table, label: str) -> PublishedPoints:
    done = played(spec, opened(table).engine, ScriptedSource.from_label(label)).result
    assert isinstance(done, PublishedPoints)
    return done


def kept(spec: NoisyPoints, table: pa.Table) -> list[Numbers]:
    """The points of cells with a crowd, by numpy alone: positions by the rule, then a count of each cell."""
    columns = [np.asarray(table[name]).astype(float) for name in spec.space.columns]
    inside = np.ones(table.num_rows, dtype=bool)
    for axis, values in zip(spec.space.axes, columns, strict=True):
        inside &= (values >= float(axis.low)) & (values < float(axis.high))
    columns = [values[inside] for values in columns]
    cell = np.zeros(columns[0].size, dtype=np.int64)
    for axis, many, values in zip(spec.space.axes, spec.space.per_cell, columns, strict=True):
        at = np.floor((values - float(axis.low)) / float(axis.step)).astype(np.int64)
        cell = cell * (axis.steps // many) + np.clip(at, 0, axis.steps - 1) // many
    _, which, sizes = np.unique(cell, return_inverse=True, return_counts=True)
    return [values[sizes[which] >= K] for values in columns]


def test_totals_by_hour_lose_the_deleted_and_nothing_else(rides: pa.Table) -> None:
    """An hour is one position wide, so nobody leaves it; at most 19 people of each of its cells are deleted."""
    words: dict[str, Any] = {"grid": "0.05,0.05,1", "lattice": "0.0005,0.0005,1", "box": f"{BOX},0..24"}
    spec = points("lon,lat,hour", **words, crowd=K, epsilon=1)
    found = run(spec, rides, "hours")
    hours = np.bincount(found.positions[2], minlength=24)
    assert np.array_equal(hours, np.bincount(kept(spec, rides)[2].astype(int), minlength=24))
    inside = [np.asarray(rides[name]).astype(float) for name in ("lon", "lat")]
    here = (inside[0] >= -74.3) & (inside[0] < -73.7) & (inside[1] >= 40.5) & (inside[1] < 41.0)
    truth = np.bincount(np.asarray(rides["hour"])[here], minlength=24)
    lost = truth - hours
    cells = spec.space.cells // 24
    assert np.all((lost >= 0) & (lost <= (K - 1) * cells))
    assert lost.sum() < 0.02 * truth.sum()  # and in fact few are


@pytest.fixture(scope="module")
def fine() -> NoisyPoints:
    """Cells of some 200 metres, which are crowded in the city."""
    return points("lon,lat", grid="0.002,0.002", box=BOX, crowd=K, epsilon=2)


AREAS = {
    "the south of Manhattan": (-74.02, -73.96, 40.70, 40.76),
    "the city": (-74.05, -73.85, 40.65, 40.85),
    "the west": (-74.3, -74.0, 40.5, 41.0),
    "the airports in the east": (-73.9, -73.75, 40.6, 40.8),
}


def in_area(points: list[Numbers], area: tuple[float, ...], grown: tuple[float, float] = (0.0, 0.0)) -> int:
    west, east, south, north = area
    x, y = points
    dx, dy = grown
    return int(np.sum((x >= west - dx) & (x < east + dx) & (y >= south - dy) & (y < north + dy)))


def test_totals_by_place_lie_between_those_of_smaller_and_larger_areas(rides: pa.Table, fine: NoisyPoints) -> None:
    found, true = run(fine, rides, "places"), kept(fine, rides)
    assert len(found) == true[0].size
    assert len(found) > 400_000
    far = [float(each) for each in each_within(fine, len(found), RARE)]
    here = list(found.coordinates())
    for area in AREAS.values():
        published = in_area(here, area)
        smaller = in_area(true, area, (-far[0], -far[1]))
        assert smaller <= published <= in_area(true, area, (far[0], far[1])), area
    assert far[0] < 0.04  # of a box of 0.6: the bound says something


def test_totals_by_place_are_the_true_ones_blurred_by_the_stated_noise(rides: pa.Table, fine: NoisyPoints) -> None:
    """Each point falls into an area with a known chance, independently: Hoeffding's bound around the sum of these."""
    found, true = run(fine, rides, "blurred"), kept(fine, rides)
    here = list(found.coordinates())
    scale = [float(axis.step * fine.space.diameter / fine.epsilon) for axis in fine.space.axes]
    spread = math.sqrt(len(found) * math.log(2 / SIZE) / 2) + 0.002 * len(found)  # the lattice is not in the formula
    for area in AREAS.values():
        chances = [
            stats.laplace.cdf(high, values, width) - stats.laplace.cdf(low, values, width)
            for values, width, (low, high) in zip(true, scale, (area[:2], area[2:]), strict=True)
        ]
        expected = float(np.sum(chances[0] * chances[1]))
        assert abs(in_area(here, area) - expected) <= spread, area


def test_the_mean_is_within_its_bound(rides: pa.Table, fine: NoisyPoints) -> None:
    """The mean is worked out before points are put back on the edge, so it is the one of a release that leaves them
    outside."""
    free = replace(fine, clamp=False)
    found, outside, true = run(fine, rides, "mean"), run(free, rides, "mean"), kept(fine, rides)
    bounds = mean_within(fine, len(found), RARE)
    assert found.means() == outside.means()
    for mean, truth, bound in zip(found.means(), true, bounds, strict=True):
        assert abs(mean.mean - Fraction(float(truth.mean()))) <= bound
        assert mean.low <= truth.mean() <= mean.high
    assert all(bound < Fraction(1, 5000) for bound in bounds)


@pytest.mark.parametrize("epsilon", [1, 2])
def test_is_this_exact_point_in_the_data(rides: pa.Table, epsilon: int) -> None:
    """The best attack there is: everybody else is known, and which published point is the target's. Which of two
    opposite corners of the cell the target was at is guessed right no more often than e^epsilon/(1 + e^epsilon)."""
    spec = points("lon,lat", grid="0.01,0.01", box=BOX, crowd=K, epsilon=epsilon)
    lon, lat = (np.asarray(rides[name]) for name in ("lon", "lat"))
    crowded = int(np.median((lon + 74.3) * 100)), int(np.median((lat - 40.5) * 100))  # a busy cell
    sides, steps = spec.space.per_cell, spec.space.axes[1].steps
    corners = [
        (crowded[0] * sides[0], crowded[1] * sides[1]),
        ((crowded[0] + 1) * sides[0] - 1, (crowded[1] + 1) * sides[1] - 1),
    ]
    trials, right, beyond = 40_000, 0.0, []
    for guess, corner in enumerate(corners):
        code = np.array([corner[0] * steps + corner[1]])
        x, y = move_points(spec, code, np.array([trials]), ScriptedSource.from_label(f"attack {epsilon} {guess}"))
        first, second = (np.abs(x - each[0]) + np.abs(y - each[1]) for each in corners)
        nearer = np.where(second == first, 0.5, second < first)
        right += float(np.sum(nearer if guess else 1 - nearer))
        beyond.append(int(np.sum((x >= corners[1][0]) & (y >= corners[1][1]))))  # all that tells the two corners apart
    share, most = right / (2 * trials), math.exp(epsilon) / (1 + math.exp(epsilon))
    spare = math.sqrt(math.log(1 / SIZE) / (4 * trials))  # Hoeffding: the true share is larger by more with chance 1e-6
    assert share - spare <= most, f"{2 * trials} guesses, {share:.4f} right, promised {most:.4f}"
    assert share > 0.6  # the attack is no idle one
    low, high = (
        math.log(stats.beta.ppf(side, beyond[1] + (side > 0.5), trials - beyond[1] + (side < 0.5)))
        - math.log(stats.beta.ppf(1 - side, beyond[0] + (side < 0.5), trials - beyond[0] + (side > 0.5)))
        for side in (SIZE, 1 - SIZE)
    )
    assert low <= epsilon <= high, f"{trials} draws at each corner: the loss lies between {low:.3f} and {high:.3f}"
    assert low > 0.75 * epsilon  # noise for three quarters of the loss, or for four thirds of it, would be found
    assert high < 1.25 * epsilon + 0.1


def test_looking_for_the_exact_point_in_the_release_tells_next_to_nothing(rides: pa.Table) -> None:
    """Somebody who has only the file looks for the point itself: those of riders are there as often as others are."""
    spec = points("lon,lat", grid="0.01,0.01", box=BOX, crowd=K, epsilon=1)
    found = run(spec, rides, "look")
    rng = np.random.default_rng(3)
    true = kept(spec, rides)
    targets = [
        np.floor((values - float(axis.low)) / float(axis.step)).astype(np.int64)
        for axis, values in zip(spec.space.axes, true, strict=True)
    ]
    chosen = rng.choice(targets[0].size, 4000, replace=False)
    mine = [at[chosen] for at in targets]
    others = [
        at // side * side + rng.integers(0, side, at.size) for at, side in zip(mine, spec.space.per_cell, strict=True)
    ]
    everybody = spec.space.axes[1].steps
    public = np.unique(found.positions[0] * everybody + found.positions[1])
    there = [float(np.isin(at[0] * everybody + at[1], public).mean()) for at in (mine, others)]
    guess = 0.5 + (there[0] - there[1]) / 2
    spare = math.sqrt(math.log(1 / SIZE) / 4000)
    assert guess - spare <= math.e / (1 + math.e), f"{there[0]:.3f} of riders' points, {there[1]:.3f} of others"
    assert there[0] > 0.01
