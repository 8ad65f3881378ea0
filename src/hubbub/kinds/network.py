"""A social network that has been opened but not read, and what can be asked of it from Python."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hubbub.graphs.graph import Graph
from hubbub.kinds.graph.request import statistics
from hubbub.numeric.exact import Exact
from hubbub.protocol.release import Publish, Release


class Links(Protocol):
    """A graph, somewhere: a file of links, or an object that holds them."""

    def columns(self) -> object:
        """A graph has no schema."""
        ...

    def identity(self) -> Any:
        """What the graph is, whatever it is called. Private: it stays in the ledger."""
        ...

    def graph(self, vertices: int | None = None) -> Graph:
        """All of it, read once, with so many vertices."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A graph of people. `publish` carries a spec out and enters it in the ledger."""

    links: Links
    publish: Publish

    def __repr__(self) -> str:
        return "<a graph of people, not yet read>"

    def statistics(
        self,
        of: Sequence[str],
        *,
        vertices: Exact,
        max_degree: Exact,
        epsilon: Exact,
        samples: Exact | None = None,
        explore: Exact | None = None,
        average_at_most: Exact | None = None,
        per_edge: bool = False,
        coverage: Exact = "0.95",
        accept_weak: bool = False,
    ) -> Release:
        """Publish some counts of the graph with noise, each with its interval.

        `of` lists some of connectivity, eulerian, cycle-freeness, average-degree and edges, which are zero-knowledge
        private with respect to `samples` random people and what a walk from each sees; or degree-histogram and
        triangles, which are differentially private (`per_edge`: for single edges). `vertices`, `max_degree` and
        `average_at_most` are declared and public. A graph that breaks them is refused before anything is drawn or
        spent, in the same words for every such graph; that it was refused is information, and for the caller alone.

        Guarantee: the promises of the release, derived before the graph is read and entered in the ledger, durably,
        before any noise is drawn. With the earlier releases of the dataset there is still a theorem that covers all
        of them, or the call is refused.
        """
        return self.publish(
            statistics(
                of,
                vertices=vertices,
                max_degree=max_degree,
                epsilon=epsilon,
                samples=samples,
                explore=explore,
                average_at_most=average_at_most,
                per_edge=per_edge,
                coverage=coverage,
            ),
            accept_weak=accept_weak,
        )
