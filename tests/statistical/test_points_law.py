"""How points move against the law that was declared, each test with a size and a power.

Chi-square of the displacements along each column and of their product, in a grid and in regions of different widths. A
rate that is 5 % off must be rejected, and the power of that is computed. The scripts are fixed by labels.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.kinds.points.mechanism import move_points
from hubbub.kinds.points.request import points
from hubbub.kinds.points.spec import NoisyPoints
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import Infinite

SIZE, POWER = 1e-6, 0.999
PEOPLE = 60_000
CELLS = 24  # of displacement, of about equal probability, each way together


def edges(rate: float) -> NDArray[np.int64]:
    """Displacements that cut the law into pieces of about equal probability."""
    return np.unique(np.rint(stats.laplace.ppf(np.arange(1, CELLS) / CELLS, scale=1 / rate)).astype(np.int64))


def at_most(rate: float, x: NDArray[np.int64]) -> NDArray[np.float64]:
    """P(X <= x) of the two-sided geometric law."""
    below, above = np.exp(rate * np.minimum(x, 0)), np.exp(-rate * (np.maximum(x, 0) + 1))
    found: NDArray[np.float64] = np.where(x < 0, below, 1 + np.exp(-rate) - above) / (1 + np.exp(-rate))
    return found


def masses(rate: float, cuts: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.diff(np.concatenate([[0.0], at_most(rate, cuts), [1.0]]))


def rejected(displacements: NDArray[np.int64], rate: float, cuts: NDArray[np.int64]) -> tuple[bool, str]:
    expected = displacements.size * masses(rate, cuts)
    observed = np.bincount(np.searchsorted(cuts, displacements, side="left"), minlength=cuts.size + 1)
    statistic = float(((observed - expected) ** 2 / expected).sum())
    threshold = float(stats.chi2.isf(SIZE, cuts.size))
    return (
        statistic > threshold,
        f"{displacements.size} points, chi-square = {statistic:.1f}, threshold {threshold:.1f}",
    )


def displaced(spec: NoisyPoints, x: int, y: int, label: str) -> list[NDArray[np.int64]]:
    """Displacements of people who are all at one position, in no order: what is published is sorted, pairs stay."""
    code = np.array([x * spec.space.axes[1].steps + y])
    found = move_points(spec, code, np.array([PEOPLE]), ScriptedSource.from_label(label))
    return [column - at for column, at in zip(found, (x, y), strict=True)]


def checked(spec: NoisyPoints, rate: Fraction, x: int, y: int, label: str) -> None:
    cuts = edges(float(rate))
    off = float(rate) * 1.05
    distance = PEOPLE * float(((masses(float(rate), cuts) - masses(off, cuts)) ** 2 / masses(off, cuts)).sum())
    power = float(stats.ncx2.sf(stats.chi2.isf(SIZE, cuts.size), cuts.size, distance))
    assert power > POWER, f"power {power}, wanted {POWER}"
    columns = displaced(spec, x, y, label)
    for column in columns:
        wrong, told = rejected(column, float(rate), cuts)
        assert not wrong, told
        assert rejected(column, off, cuts)[0], "a rate 5 % off passes"
    signs = [np.sign(column) for column in columns]
    moving = (signs[0] != 0) & (signs[1] != 0)
    agree = int(np.sum(signs[0][moving] == signs[1][moving]))  # columns move independently
    limit = float(stats.norm.isf(SIZE / 2)) * np.sqrt(moving.sum()) / 2
    assert abs(agree - moving.sum() / 2) < limit, f"{agree} of {moving.sum()} to the same side, at most {limit:.0f} off"


@pytest.mark.parametrize("epsilon", ["0.5", "4"])
def test_points_of_a_grid_move_by_the_declared_law(epsilon: str) -> None:
    spec = points("x,y", grid="10,20", box="0..100,0..100", lattice="1,1", crowd=20, epsilon=epsilon)
    assert not isinstance(spec.rate, Infinite)
    assert spec.rate == Fraction(epsilon) / 28
    checked(spec, spec.rate, 50, 3, f"grid {epsilon}")


def test_points_of_each_region_move_by_the_law_of_their_own(tmp_path: Path) -> None:
    rings = [[[0, 0], [40, 0], [40, 40], [0, 40], [0, 0]], [[50, 50], [60, 50], [60, 60], [50, 60], [50, 50]]]
    file = tmp_path / "two.geojson"
    parts = [{"type": "Polygon", "coordinates": [ring]} for ring in rings]
    file.write_text(json.dumps({"type": "GeometryCollection", "geometries": parts}))
    spec = points("x,y", box="0..100,0..100", lattice="1,1", regions=file, crowd=20, epsilon=2)
    assert spec.rates == (Fraction(2, 78), Fraction(2, 18))
    for rate, at in zip(spec.rates, (7, 55), strict=True):
        assert not isinstance(rate, Infinite)
        checked(spec, rate, at, at, f"region {at}")
