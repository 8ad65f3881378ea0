"""A look at the degrees of a graph before anything is protected: for the steward alone."""

from __future__ import annotations

from math import ceil
from typing import Final

from hubbub.graphs.degrees import at_least
from hubbub.graphs.graph import Graph
from hubbub.kinds.graph.chart import MOST
from hubbub.protocol.drawing import Bar, Bars

WARNING: Final = "PRIVATE: these are the exact degrees of real people. Do not publish, send or keep this page."


def degrees(graph: Graph) -> Bars:
    """How many people have at least 0, 1, 2, ... friends, exactly; of many degrees every so many-th."""
    found = graph.degrees()
    largest = int(found.max()) if found.size else 0
    counts = [graph.vertices, *at_least(graph, largest).tolist()]
    every = ceil(len(counts) / MOST)
    return Bars(
        bars=tuple(Bar(f"{i:,}", counts[i], counts[i], counts[i]) for i in range(0, len(counts), every)),
        by="friends, at least",
        numbers="people",
        upright=True,
        bar="Exact number of people with at least so many friends",
        line="",
        note=WARNING,
    )
