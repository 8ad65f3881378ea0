"""Why differential privacy is not enough in a network: friends are alike, and a community gives its members away.

Somebody knows who belongs to which community. Counts of a label (a party, a country) for each community, private
for each person's label, still tell what most of a community have, and so what each of them probably has. k random
people tell much less. The gap between the two guesses is what zero-knowledge privacy closes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.noise.uniform import distinct
from hubbub.numeric.exact import Exact, positive
from hubbub.runtime.frozen import dataclass

_RUNS: Final = 50

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """The share of people whose label is guessed rightly: floating-point numbers, the mean of several runs."""

    people: int  # who are in some community
    communities: int
    prior: float  # always the most frequent label
    exact: float  # from exact counts
    private: float  # from differentially private ones
    sampled: float  # from k random people

    def as_json(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}

    def sentence(self) -> str:
        return (
            f"Of {self.people:,} people in {self.communities:,} communities, {self.private:.0%} are guessed from the "
            f"private counts, {self.sampled:.0%} from random people, {self.prior:.0%} from nothing"
        )


def guesses(
    labels: Ints, communities: Ints, epsilon: Exact, samples: int, source: Source, runs: int = _RUNS
) -> Guesses:
    """Guess everybody's label from their community, in three ways.

    `labels` are numbers from 0; `communities` too, with -1 for nobody's. A changed label moves two counts, so that
    noise of rate epsilon/2 on each makes all counts together epsilon-differentially private for one label.
    """
    if labels.shape != communities.shape or labels.size == 0 or int(labels.min()) < 0 or int(communities.max()) < 0:
        raise WrongUse("give each person one label, from 0 on, and one community, from 0 on or -1 for none")
    rate = positive(epsilon, "epsilon") / 2
    inside = communities >= 0
    kinds, groups = int(labels.max()) + 1, int(communities.max()) + 1
    table = np.bincount(communities[inside] * kinds + labels[inside], minlength=groups * kinds).reshape(groups, kinds)
    people = int(table.sum())

    def right(guess: NDArray[np.intp]) -> float:
        return float(table[np.arange(groups), guess].sum() / people)

    private, sampled = [], []
    for _ in range(runs):
        noise = two_sided_geometric(rate, table.size, source).reshape(table.shape)
        private.append(right((table + noise).argmax(axis=1)))
        sampled.append(right(_majorities(labels, communities, groups, kinds, distinct(samples, labels.size, source))))
    return Guesses(
        people=people,
        communities=groups,
        prior=float(table.sum(axis=0).max() / people),
        exact=right(table.argmax(axis=1)),
        private=float(np.mean(private)),
        sampled=float(np.mean(sampled)),
    )


def _majorities(labels: Ints, communities: Ints, groups: int, kinds: int, drawn: Ints) -> NDArray[np.intp]:
    """Each community's most frequent label among those drawn; where nobody was drawn, that of all of them."""
    known = drawn[communities[drawn] >= 0]
    positions = communities[known] * kinds + labels[known]
    counts = np.bincount(positions, minlength=groups * kinds).reshape(groups, kinds)
    overall = np.bincount(labels[drawn], minlength=kinds).argmax()
    return np.where(counts.sum(axis=1) > 0, counts.argmax(axis=1), overall)
