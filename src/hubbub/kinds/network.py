"""A social network that has been opened but not read, and what can be asked of it from Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Unpack

from hubbub.graphs.graph import Graph
from hubbub.kinds.graph.request import KIND
from hubbub.kinds.options import GraphOptions
from hubbub.protocol.option import documented
from hubbub.protocol.release import Publish, Release
from hubbub.runtime.frozen import dataclass


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

    @documented(KIND.help, KIND.options)
    def statistics(self, of: Sequence[str], **chosen: Unpack[GraphOptions]) -> Release:
        """Publish some counts of the graph with noise, each with its interval.

        A graph that breaks what is declared is refused before anything is drawn or spent, in the same words for every
        such graph; that it was refused is information, and for the caller alone.

        Guarantee: the promises of the release, derived before the graph is read and entered in the ledger, durably,
        before any noise is drawn. With the earlier releases of the dataset there is still a theorem that covers all
        of them, or the call is refused.
        """
        options: dict[str, Any] = {"of": of, **chosen}
        accept_weak = options.pop("accept_weak", False)
        return self.publish(KIND.ask(**options), accept_weak=accept_weak)
