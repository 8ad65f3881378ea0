"""Running a graph release: the one step that sees the graph, and the answers that may be shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hubbub.channels.channel import LARGEST_COUNT
from hubbub.channels.estimate import interval
from hubbub.channels.geometric import Geometric
from hubbub.errors import Refused
from hubbub.exact import to_float, to_text
from hubbub.graphs.degrees import at_least, triangles
from hubbub.graphs.distances import edges_away, facts
from hubbub.graphs.graph import Graph
from hubbub.graphs.promises import aggregate
from hubbub.graphs.spec import GraphSpec
from hubbub.graphs.statistics import Statistic, most
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source

BROKEN: Final = (
    "the graph has more vertices, a larger degree or a larger average than was declared; declare what holds for every "
    "graph it might be (that this one was refused is itself information, and for you alone); nothing was drawn"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One published number with its interval, in its own unit, and the edges behind it."""

    of: Statistic
    edges: int  # the published count (of edges; of triangles; of people with so many friends)
    value: Fraction
    low: Fraction
    high: Fraction
    coverage: Fraction
    scale: Fraction  # of the integer noise
    distance: Fraction | None = None  # edges divided by M
    aggregate: str | None = None
    degree: int | None = None  # for the histogram: people with at least so many friends

    def as_json(self) -> dict[str, object]:
        told: dict[str, object] = {"of": self.of.value}
        if self.degree is not None:
            told["degree_at_least"] = self.degree
        return told | {
            "value": _number(self.value, up=False),
            "low": _number(self.low, up=False),
            "high": _number(self.high, up=True),
            "distance": None if self.distance is None else _number(self.distance, up=False),
            "count": self.edges,
            "coverage": to_text(self.coverage),
            "scale": to_float(self.scale, round_up=True),
            "aggregate": self.aggregate,
        }

    def sentence(self) -> str:
        what = self.of.value if self.degree is None else f"people with at least {self.degree} friends"
        far = "" if self.distance is None else f", a distance of {float(self.distance):.4g}"
        share = f"{float(self.coverage):.0%}"
        return (
            f"{what}: {_said(self.value)} (between {_said(self.low)} and {_said(self.high)} with {share}){far}; "
            f"noise of scale {float(self.scale):,.4g}"
        )


def answers(graph: Graph, spec: GraphSpec, source: Source) -> tuple[Answer, ...]:
    """What is published: the exact counts with noise, in the order that was asked for.

    Guarantee: the promises of :func:`hubbub.graphs.promises.promises`, if the words of the source are uniform and
    independent: the outcome depends on the graph through counts of the stated sensitivity, plus exact noise. A graph
    that is not as declared is refused, in the same words whichever declaration it breaks, before a word is drawn.
    """
    truth = _truth(graph, spec)
    drawn = {
        of: [count + int(x) for count, x in zip(counts, _noise(spec, of, len(counts), source), strict=True)]
        for of, counts in truth.items()
    }
    return tuple(answer for of in spec.of for answer in _told(spec, of, drawn[of.count]))


def _truth(graph: Graph, spec: GraphSpec) -> dict[Statistic, list[int]]:
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
    truth: dict[Statistic, list[int]] = {}
    for of in spec.counts:
        if of is Statistic.DEGREE_HISTOGRAM:
            truth[of] = at_least(graph, declared.max_degree).tolist()
        else:
            truth[of] = [triangles(graph) if of is Statistic.TRIANGLES else edges_away(of, known)]
    return truth


def _noise(spec: GraphSpec, of: Statistic, size: int, source: Source) -> list[int]:
    drawn: list[int] = two_sided_geometric(1 / spec.scale(of), size, source).tolist()
    return drawn


def _told(spec: GraphSpec, of: Statistic, counts: list[int]) -> Iterator[Answer]:
    scale = spec.scale(of.count)
    reach = _reach(scale, spec.coverage)
    top = most(of, spec.size, spec.average_at_most)
    unit = Fraction(2, spec.size.vertices) if of is Statistic.AVERAGE_DEGREE else Fraction(1)
    for degree, count in enumerate(counts, 1):
        low, high = (min(max(Fraction(end), Fraction(0)), top) for end in (count - reach, count + reach))
        yield Answer(
            of=of,
            edges=count,
            value=count * unit,
            low=low * unit,
            high=high * unit,
            coverage=spec.coverage,
            scale=scale,
            distance=Fraction(count) / spec.size.most_edges if of.explores else None,
            aggregate=str(aggregate(spec)) if spec.zero_knowledge else None,
            degree=degree if of is Statistic.DEGREE_HISTOGRAM else None,
        )


def _reach(scale: Fraction, coverage: Fraction) -> int:
    """How far the noise reaches with that probability, either way; the same around every count."""
    within = interval(Geometric(1 / scale), LARGEST_COUNT, coverage=coverage)
    return LARGEST_COUNT - within.low


def falling(counts: list[int], top: int) -> list[Fraction]:
    """The nearest counts (in squares) that never rise and stay between 0 and `top`: what the histogram shows.

    It looks at what was published and at nothing else, so it costs no privacy.
    """
    blocks: list[list[int]] = []  # [sum, length] of stretches with one value
    for count in counts:
        blocks.append([count, 1])
        while len(blocks) > 1 and blocks[-2][0] * blocks[-1][1] < blocks[-1][0] * blocks[-2][1]:
            total, length = blocks.pop()
            blocks[-1][0] += total
            blocks[-1][1] += length
    return [
        min(max(Fraction(total, length), Fraction(0)), Fraction(top)) for total, length in blocks for _ in range(length)
    ]


def _number(value: Fraction, *, up: bool) -> float | int:
    return int(value) if value.denominator == 1 else to_float(value, round_up=up)


def _said(value: Fraction) -> str:
    return f"{int(value):,}" if value.denominator == 1 else f"{float(value):,.4g}"
