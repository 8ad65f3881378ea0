"""From options to the spec of statistics of a graph; what is wrong with them is one sentence.

Here is also the kind itself: what it is called, what it can be asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.graphs.plan import HEADINGS, plan
from hubbub.graphs.statistics import Size, parse_statistics, statistic_named
from hubbub.kinds.graph.spec import GraphSpec
from hubbub.kinds.graph.wire import read
from hubbub.numeric.exact import Exact, integer, positive, rational
from hubbub.protocol.option import HOW, Option
from hubbub.protocol.result import Comparison, DisplayTable
from hubbub.protocol.spec import GRAPH, Kind


def statistics(
    of: Sequence[str],
    *,
    vertices: Exact,
    max_degree: Exact,
    epsilon: Exact,
    samples: Exact | None = None,
    explore: Exact | None = None,
    average_at_most: Exact | None = None,
    per_edge: bool = False,
    centred: bool = False,
    coverage: Exact = "0.95",
) -> GraphSpec:
    """Build the spec from these options; raise WrongUse with one sentence if something is wrong with them."""
    if isinstance(of, str):
        raise WrongUse("of is a list of statistics, even for one of them; put it in brackets, like of=['connectivity']")
    return GraphSpec(
        size=Size(vertices=integer(vertices, "vertices"), max_degree=integer(max_degree, "max-degree")),
        of=tuple(map(statistic_named, of)),
        epsilon=positive(epsilon, "epsilon"),
        samples=None if samples is None else integer(samples, "samples"),
        explores=None if explore is None else integer(explore, "explore"),
        average_at_most=None if average_at_most is None else rational(average_at_most, "average-at-most"),
        per_edge=per_edge,
        centred=centred,
        coverage=rational(coverage, "coverage"),
    )


def compare_noise(spec: GraphSpec) -> Comparison:
    """The noise of a release beside that of the paper's Proposition 12 and of differential privacy alone."""
    how = spec.sampling if spec.zero_knowledge else None
    found = plan(spec.size, spec.of, spec.epsilon, how, spec.average_at_most, centred=spec.centred)
    rows = [replace(row, scale=spec.scale(row.of.count)) for row in found.rows]
    grid = DisplayTable(("noise, in edges",), HEADINGS, tuple(((row.of.value,), row.cells(), False) for row in rows))
    return Comparison(grid, tuple(row.as_json() for row in rows))


def from_options(*, of: str | Sequence[str], **options: Any) -> GraphSpec:
    """The release that the options of a command ask for."""
    return statistics([each.value for each in parse_statistics(of)] if isinstance(of, str) else of, **options)


OPTIONS: Final = (
    Option("of", "A,B,..", "What is published.", takes="Sequence[str]", default="connectivity,average-degree"),
    Option(
        "vertices",
        "N",
        "How many people there are, those without friends too; public.",
        missing="say how many people there are, from what is public: add `vertices=N`",
    ),
    Option(
        "max_degree",
        "D",
        "How many friends nobody exceeds; public.",
        missing="say how many friends nobody exceeds, from what is public: add `max_degree=D`",
    ),
    Option(
        "average_at_most",
        "L",
        "A public bound on the average degree: less noise on the edges.",
        group=HOW,
        advanced=True,
    ),
    Option(
        "epsilon",
        "E",
        "The loss of each published count.",
        missing="say what each published count may lose, from what is public: add `epsilon=E`",
        group=HOW,
    ),
    Option("samples", "K", "Zero-knowledge with respect to K random people for each count.", group=HOW),
    Option("explore", "S", "How many people a walk from each may see; without it 2 sqrt(K).", group=HOW, advanced=True),
    Option(
        "centred",
        None,
        "Less noise, down to half: the zero-knowledge promise stays, the differential one beside it gets weaker.",
        group=HOW,
        advanced=True,
    ),
    Option("per_edge", None, "Protect single edges only (degree-histogram, triangles).", group=HOW, advanced=True),
    Option("coverage", "C", "How often an interval is right.", default="0.95", advanced=True),
)

KIND: Final = Kind(
    name="graph",
    wire="graph/1",
    help="""Publish counts of a social network so that nobody's friends are given away.

FILE is a list of links (.csv, .tsv, .txt, .parquet), a .gml or a .graphml; millbrook is an invented network. The
direction of a link is ignored, links between the same two are one edge, links from one to itself are dropped.

--of takes connectivity, eulerian, cycle-freeness (edges to change until the graph is so), average-degree and edges:
whatever somebody learns from them about a person, K random people and a walk from each would have told as well, with
that person's edges taken away (zero-knowledge). degree-histogram and triangles are differentially private for a person
with all their edges, and are published by themselves. Eulerian means a path that uses every edge, in a graph connected
on all its vertices.

N, D and L are declared and public. A graph that breaks them is refused with exit code 3 and one sentence before
anything is spent; that it was refused is information, and for you alone, so declare what holds for every graph it
might be. What is released about the same people under one name adds up in the ledger (hubbub ledger show).""",
    examples=(
        "hubbub graph release millbrook --vertices 6000 --max-degree 40 --samples 500 --epsilon 1 --out out/",
        "hubbub graph release millbrook --of degree-histogram --vertices 6000 --max-degree 40 --epsilon 2 --out out2/",
    ),
    options=OPTIONS,
    from_options=from_options,
    from_json=read,
    data=GRAPH,
    compare=compare_noise,
)
GraphSpec.kind = KIND
