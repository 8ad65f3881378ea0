"""The friends of Millbrook: an invented network of streets, the same every time.

Everybody lives in one of the streets, and most friends are neighbours. Each street leans to one of five parties, so
that who knows where somebody lives and how the street votes knows how they vote, most of the time.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.graphs.graph import Graph, simple
from hubbub.runtime.frozen import dataclass

PEOPLE: Final = 6_000
STREETS: Final = 100
PARTIES: Final = ("Mill", "River", "Bridge", "Hill", "Ferry")

_SEED: Final = 1851
_NEAR: Final = 15_000  # friendships within a street
_FAR: Final = 3_000  # and across the town
_LOYAL: Final = 0.8  # who votes as the street does
_HERMITS: Final = 240  # have no friends at all


@dataclass(frozen=True, slots=True, eq=False)
class Friends:
    """Who is whose friend, who lives where, who votes for whom."""

    graph: Graph
    street: NDArray[np.int64]
    party: NDArray[np.int64]


def friends() -> Friends:
    """The network of Millbrook."""
    rng = np.random.default_rng(_SEED)
    street = rng.permutation(np.arange(PEOPLE, dtype=np.int64) % STREETS)
    leaning = rng.permutation(np.arange(STREETS) % len(PARTIES))
    loyal = rng.random(PEOPLE) < _LOYAL
    party = np.where(loyal, leaning[street], rng.integers(0, len(PARTIES), PEOPLE)).astype(np.int64)
    social = rng.permutation(PEOPLE)[_HERMITS:]
    one = rng.choice(social, _NEAR + _FAR)
    other = rng.choice(social, _NEAR + _FAR)
    at_home = [social[street[social] == each] for each in range(STREETS)]
    for each, here in enumerate(at_home):
        near = np.flatnonzero(street[one[:_NEAR]] == each)
        other[near] = rng.choice(here, near.size)
    return Friends(simple(one, other, PEOPLE), street, party)
