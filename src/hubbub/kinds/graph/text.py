"""A graph release in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from hubbub.graphs.statistics import Statistic
from hubbub.guarantees.aggregates import ExplorationSample, NeighbourhoodSample
from hubbub.guarantees.definitions import ZeroKnowledge
from hubbub.kinds.graph.promises import promises
from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Description

if TYPE_CHECKING:
    from hubbub.kinds.graph.spec import GraphSpec

DESCRIPTIONS: Final = {
    Statistic.CONNECTIVITY: "edges to add until the graph is connected",
    Statistic.EULERIAN: "edges to add or take away until one path uses every edge and reaches everybody",
    Statistic.CYCLE_FREENESS: "edges to take away until there is no cycle",
    Statistic.AVERAGE_DEGREE: "friends of a person, on average",
    Statistic.EDGES: "edges that there are",
    Statistic.DEGREE_COUNTS: "people with at least so many friends",
    Statistic.TRIANGLES: "triangles: three people who are all friends",
}
"""What the number of each statistic counts."""


def describe(spec: GraphSpec) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    names = ", ".join(each.value for each in spec.of)
    first, *others = [each.value.replace("-", " ") for each in spec.of]
    in_words = f"{', '.join([first, *others[:-1]])} and {others[-1]}" if others else first
    about = f"a graph of {spec.size.vertices:,} people with at most {spec.size.max_degree:,} friends each"
    samples = "" if spec.samples is None else f", {_random_people(spec):,} samples"
    return Description(
        title=f"A social network: {in_words}",
        published=f"Of {about}: {names}. Each is an exact count with whole-number noise added",
        entry=f"graph: {names}{samples}",
        person="one edge of the graph" if spec.per_edge else "a vertex of the graph, with all its edges",
        sampling=_sampling(spec),
        counts="; ".join(f"{each.value}: {DESCRIPTIONS[each]}" for each in spec.of),
        intervals=interval_sentence(spec),
        headline=f"Of {about.replace('graph', 'network')}, each number with noise: "
        f"{'; '.join(DESCRIPTIONS[each] for each in spec.of)}",
    )


def _sampling(spec: GraphSpec) -> str:
    everybody = "nobody: everybody in the graph is counted"
    if spec.samples is None:
        return everybody
    many = _random_people(spec)
    each = "" if many == spec.samples else f", {spec.samples:,} for each of {len(spec.counts)} counts,"
    return f"{everybody}; the {many:,} random people of the promise{each} are those somebody else might ask instead"


def _random_people(spec: GraphSpec) -> int:
    """How many random people the promise is about: those of all counts, where each count has a sample of its own."""
    promise = promises(spec)[0].conclusion
    assert isinstance(promise, ZeroKnowledge)
    assert isinstance(promise.aggregate, ExplorationSample | NeighbourhoodSample)
    return promise.aggregate.k


def interval_sentence(spec: GraphSpec) -> str:
    """What an interval means."""
    return f"An interval holds the true number with a chance of at least {to_text(100 * spec.coverage)} %"


def notes(spec: GraphSpec) -> tuple[str, ...]:
    """The notes below the table of numbers."""
    sentences = [
        f"{interval_sentence(spec)}; a number that noise made impossible is put at the end of its interval, and the "
        "column count of the file has it as it was drawn."
    ]
    if len(spec.counts) > 1:
        sentences.append(
            f"Each of the {len(spec.counts)} counts loses at most epsilon = {to_text(spec.epsilon)} by itself; all of "
            "them together lose what is said below."
        )
    if spec.centred:
        sentences.append(
            "The noise is chosen for the zero-knowledge promise alone (a centred simulator). Beside somebody who knows "
            "everything about all others, a person may lose up to twice as much; what exactly is said below."
        )
    if any(each.explores for each in spec.of):
        sentences.append(
            "A distance is the number of edges, divided by half of people times largest degree, the most edges there "
            "can be."
        )
    if Statistic.EULERIAN in spec.of:
        sentences.append("Eulerian means: a path that uses every edge once, in a graph connected on all its vertices.")
    if Statistic.DEGREE_COUNTS in spec.of:
        sentences.append("Fitted are the nearest numbers that never rise, worked out from the published ones alone.")
    return tuple(sentences)
