"""What friends give away: Millbrook's network, attacked and published.

Everybody knows who lives in which street. Counts of the parties, street by street, private for each voter, still
tell how most of a street votes; random people tell much less. So the town publishes its network with a promise of that
kind: nothing that random people and those around them would not have told.
"""

from __future__ import annotations

import shlex
from functools import cache
from math import isqrt
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.certificate.certificate import about
from hubbub.charts.page import page
from hubbub.charts.svg import Bar, ChartLabels, Panel, responsive
from hubbub.demo.friends import PEOPLE, STREETS, Friends, friends
from hubbub.errors import WrongUse
from hubbub.graphs.distances import edges_away, facts
from hubbub.noise.sampler import distinct, two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import Exact, positive
from hubbub.opening import open_graph
from hubbub.protocol.release import Release
from hubbub.release import save
from hubbub.runtime.frozen import dataclass

OF: Final = ("average-degree",)
MAX_DEGREE: Final = 25  # declared, like the next; nobody has as many friends
AVERAGE_AT_MOST: Final = 8
EPSILON_OF_STREETS: Final = "0.5"
SAMPLED_PEOPLE: Final = isqrt(PEOPLE)  # random people: what they tell, a release may tell

_RUNS: Final = 10

READING_HINT: Final = (
    "The private counts of the streets give most votes away, almost as many as exact ones would. What so few "
    "random people tell is all that a zero-knowledge release may tell; ask more of them, and they tell more, so k "
    "counts as much as epsilon."
)


@dataclass(frozen=True, slots=True)
class Story:
    """What was guessed, what was published, and where it is."""

    release: Release
    guessed: Guesses
    files: dict[str, str]  # links, chart, release, certificate, report

    def rows(self) -> list[tuple[str, str, str, str]]:
        """What, published, interval, and the truth, which may be told of people whom nobody is."""
        result: Any = self.release.result
        known = facts(_town().graph)
        found = []
        for each in result.answers:
            truth = edges_away(each.of, known) * each.unit
            value, within, *_ = each.cells()
            found.append((each.of.value, value, within, f"{float(truth):,.4g}"))
        return found

    def as_json(self) -> dict[str, Any]:
        """Where the files are, and the numbers that may be told."""
        return {
            **self.files,
            **self.release.result.facts(),
            "guarantees": [about(step.conclusion, step.people) for step in self.release.promises],
            "guessed": self.guessed.as_json(),
            "look_at": READING_HINT,
        }


@cache
def _town() -> Friends:
    return friends()


def write(folder: Path) -> Path:
    """The links as a file in a folder that exists."""
    links, graph = folder / "friends.csv", _town().graph
    ends = np.column_stack([np.repeat(np.arange(graph.listed_vertices), np.diff(graph.starts)), graph.ends])
    links.write_text("one,other\n" + "".join(f"{one},{other}\n" for one, other in ends.tolist()), encoding="ascii")
    return links


def publish(folder: Path, books: Path, source: Source) -> Story:
    """Attack the streets, and release the network as anybody would."""
    links, town = write(folder), _town()
    guessed = guesses(town.party, town.street, EPSILON_OF_STREETS, SAMPLED_PEOPLE, source, runs=_RUNS)
    made = open_graph(links, ledger=books).statistics(
        OF,
        vertices=PEOPLE,
        max_degree=MAX_DEGREE,
        average_at_most=AVERAGE_AT_MOST,
        samples=SAMPLED_PEOPLE,
        epsilon=1,
    )
    chart = folder / "votes.html"
    chart.write_text(_page(guessed), encoding="utf-8")
    return Story(made, guessed, {"links": str(links), "chart": str(chart), **save(made, folder / "network")})


def try_next(folder: Path, books: Path) -> str:
    """One more release of the network: who has how many friends."""
    arguments = f"--of degree-histogram --vertices {PEOPLE} --max-degree {MAX_DEGREE} --epsilon 1"
    paths = {"--ledger": books, "--out": folder / "degrees"}
    where = " ".join(f"{flag} {shlex.quote(str(path))}" for flag, path in paths.items())
    return f"hubbub graph release {shlex.quote(str(folder / 'friends.csv'))} {arguments} {where}"


def _page(guessed: Guesses) -> str:
    """The attack as bars, on a page that opens without a network and runs no code."""
    shares = {
        "always the largest party": guessed.prior,
        f"{SAMPLED_PEOPLE} random people": guessed.sampled,
        f"private counts (epsilon {EPSILON_OF_STREETS})": guessed.private,
        "exact counts": guessed.exact,
    }
    bars = tuple(Bar(name, 100 * share, 100 * share, 100 * share, f"{share:.0%}") for name, share in shares.items())
    title = "Your street gives your vote away, even through differential privacy"
    sentence = f"{guessed.sentence()}."
    labels = ChartLabels(title=title, description=sentence, by="", numbers="votes guessed rightly, in percent")
    invented = f"The {PEOPLE:,} people of these {STREETS} streets are invented."
    chart = responsive([Panel("", bars)], labels, upright=False)
    return page(title, chart, above=[sentence], below=[READING_HINT, invented])


# Why differential privacy is not enough in a network: friends are alike, and a community gives its members away.
#
# Somebody knows who belongs to which community. Counts of a label (a party, a country) for each community, private
# for each person's label, still tell what most of a community have, and so what each of them probably has. k random
# people tell much less. The gap between the two guesses is what zero-knowledge privacy closes.
_REPEATS: Final = 50

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
    labels: Ints, communities: Ints, epsilon: Exact, samples: int, source: Source, runs: int = _REPEATS
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
