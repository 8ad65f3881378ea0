"""A graph release measured: the one step that sees the graph; and presented from what was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
import pyarrow as pa

from hubbub.errors import Refused
from hubbub.graphs.degrees import at_least, triangles
from hubbub.graphs.distances import edges_away, facts
from hubbub.graphs.graph import Graph
from hubbub.graphs.labels import TooFew
from hubbub.graphs.statistics import Statistic
from hubbub.kinds.graph.result import Answers, answers_of
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.protocol.measurement import Measurement, release
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array

if TYPE_CHECKING:
    from hubbub.kinds.graph.spec import GraphSpec
    from hubbub.kinds.network import Links

STATISTIC, COUNT = "statistic", "count"  # columns of what is drawn

BROKEN: Final = (
    "the graph has more vertices, a larger degree or a larger average than was declared; declare what holds for every "
    "graph it might be (that this one was refused is itself information, and for you alone); nothing was drawn"
)


@dataclass(frozen=True, slots=True)
class NoisyCounts:
    """The mechanism of a graph release: exact two-sided geometric noise on every count, of the scale of its statistic.

    Guarantee: the promises of :func:`hubbub.kinds.graph.promises.promises`, if the words of the source are uniform and
    independent: one person moves a count by at most the stated sensitivity of its statistic, and the noise has the
    scale that the promise asks for that.
    """

    spec: GraphSpec

    @property
    def schema(self) -> pa.Schema:
        """The counts of every statistic, one statistic after the other."""
        return pa.schema([(STATISTIC, pa.int64()), (COUNT, pa.int64())])

    def draw(self, exact: Mapping[Statistic, list[int]], source: Source) -> pa.RecordBatch:
        drawn = {}
        for of, counts in exact.items():
            noise = two_sided_geometric(1 / self.spec.scale(of), len(counts), source).tolist()
            drawn[of] = [count + x for count, x in zip(counts, noise, strict=True)]
        return in_columns(self, drawn)


def in_columns(mechanism: NoisyCounts, drawn: Mapping[Statistic, Sequence[int]]) -> pa.RecordBatch:
    """The counts of each statistic, under the schema of the mechanism."""
    which = [i for i, of in enumerate(mechanism.spec.counts) for _ in drawn[of]]
    counts = [count for of in mechanism.spec.counts for count in drawn[of]]
    columns = [integer_array(np.array(each, dtype=np.int64)) for each in (which, counts)]
    return pa.record_batch(columns, schema=mechanism.schema)


def measure(spec: GraphSpec, links: Links, source: Source) -> Measurement:
    """Read the graph, count, draw. A graph that is not as declared is refused, in the same words whichever declaration
    it breaks, before a word is drawn."""
    try:
        graph = links.graph(spec.size.vertices)
    except TooFew:
        raise Refused(BROKEN) from None
    return Measurement(counts=release(NoisyCounts(spec), truth(graph, spec), source))


def present(spec: GraphSpec, measurement: Measurement) -> Answers:
    """What is said about the counts that were drawn."""
    drawn = measurement["counts"]
    which, counts = drawn.integers(STATISTIC), drawn.integers(COUNT)
    by_statistic = {of: counts[which == i].tolist() for i, of in enumerate(spec.counts)}
    return Answers(spec, answers_of(spec, by_statistic))


def truth(graph: Graph, spec: GraphSpec) -> dict[Statistic, list[int]]:
    """The exact counts, or a refusal."""
    declared = spec.size
    if graph.vertices > declared.vertices:
        raise Refused(BROKEN)
    known = facts(Graph(declared.vertices, graph.starts, graph.ends))
    average = Fraction(2 * known.edges, declared.vertices)
    if known.largest_degree > declared.max_degree or (
        spec.average_at_most is not None and average > spec.average_at_most
    ):
        raise Refused(BROKEN)
    found: dict[Statistic, list[int]] = {}
    for of in spec.counts:
        if of is Statistic.DEGREE_COUNTS:
            found[of] = at_least(graph, declared.max_degree).tolist()
        else:
            found[of] = [triangles(graph) if of is Statistic.TRIANGLES else edges_away(of, known)]
    return found
