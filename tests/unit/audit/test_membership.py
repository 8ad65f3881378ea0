"""THREATS 21: synthetic points, members against a holdout of the same size, nearest neighbours.

Size: at confidence 0.99 a right mechanism is accused once in a hundred at most; over 30 scripted populations none may
be more than 3 times (probability 0.0003 at 1 %). Power: copies with a little jitter are seen in all of them.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.channels.catalogue import channel
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from tests.unit.audit.membership import nearest, of_points

POPULATIONS = 30
ALARMS = 3
PEOPLE = 400
CELLS = 8  # of the unit square, along each side

Points = NDArray[np.float64]


def population(seed: int) -> tuple[Points, Points]:
    people = np.random.default_rng(seed).normal(0.5, 0.15, size=(2 * PEOPLE, 2))
    return people[:PEOPLE], people[PEOPLE:]


def from_crowds(people: Points, seed: int) -> Points:
    """A noisy count for each cell of a public grid, and as many points at its middle."""
    cells = np.clip((people * CELLS).astype(np.int64), 0, CELLS - 1)
    counts = np.bincount(cells[:, 0] * CELLS + cells[:, 1], minlength=CELLS**2)
    noisy = channel("geometric", epsilon="1").release(counts, ScriptedSource.from_label(f"points {seed}")).values
    middles = np.array([((i // CELLS + 0.5) / CELLS, (i % CELLS + 0.5) / CELLS) for i in range(CELLS**2)])
    return np.repeat(middles, np.maximum(noisy, 0), axis=0)


def jittered(people: Points, seed: int) -> Points:
    """Everybody's own row, moved a little: what some generators learn by heart."""
    return people + np.random.default_rng(seed).normal(0, 0.001, people.shape)


def test_points_made_from_crowds_are_no_nearer_to_members() -> None:
    alarms = 0
    for seed in range(POPULATIONS):
        inside, outside = population(seed)
        alarms += of_points(inside, outside, from_crowds(inside, seed), epsilon="0.5").is_refuted
    assert alarms <= ALARMS, f"n = {POPULATIONS}: {alarms} alarms, at most {ALARMS} expected"


def test_copies_with_jitter_are_seen_every_time() -> None:
    for seed in range(POPULATIONS):
        inside, outside = population(seed)
        assert of_points(inside, outside, jittered(inside, seed), epsilon="0.5").is_refuted, seed


def test_the_nearest_point_is_the_nearest() -> None:
    people, points = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([[0.0, 3.0], [1.0, 0.5]])
    assert nearest(people, points).tolist() == [1.5, 0.5]


def test_groups_of_unlike_size_are_refused() -> None:
    inside, outside = population(0)
    with pytest.raises(WrongUse):
        of_points(inside, outside[:-1], inside, epsilon=1)
