"""What can be asked of a graph, and how far one vertex moves it: sensitivities, ranges, and what samples tell.

Everything is in edges, and is a number of edges: the fewest to add or take away until the graph has the property, or
how many there are. Distances divide by M = d n/2. n vertices, degree at most d, C components, o vertices of odd degree,
c0 components without such a vertex (isolated vertices are components), m edges:

    connectivity      C - 1                 eulerian          o/2 + c0 - 1
    cycle-freeness    m - n + C             average-degree    m, told as 2m/n

Eulerian means: a path that uses every edge once, in a graph connected on all its vertices. The nearest graph with a
property may have vertices of any degree. Replacing all edges of one vertex moves them by at most d, d, d - 1, d.

The samplers draw k vertices and explore from each until s vertices are seen; n times the mean of what they tell per
vertex differs from the truth by a bias of at most `bias`, and each of the k values lies in an interval of length
`reach` (n times that of one vertex). See :mod:`hubbub.graphs.samplers`.
"""

from __future__ import annotations

import math
from enum import Enum
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

MOST_VERTICES = 2**31 - 1


class Statistic(Enum):
    """What is asked."""

    CONNECTIVITY = "connectivity"
    EULERIAN = "eulerian"
    CYCLE_FREENESS = "cycle-freeness"
    AVERAGE_DEGREE = "average-degree"
    EDGES = "edges"
    DEGREE_COUNTS = "degree-histogram"
    TRIANGLES = "triangles"

    @property
    def count(self) -> Statistic:
        """Whose count is published: the average degree is the number of edges, told in other words."""
        return Statistic.EDGES if self is Statistic.AVERAGE_DEGREE else self

    @property
    def explores(self) -> bool:
        """Whether its sampler walks on from the vertices it drew."""
        return self in (Statistic.CONNECTIVITY, Statistic.EULERIAN, Statistic.CYCLE_FREENESS)

    @property
    def is_sampled(self) -> bool:
        """Whether k random vertices tell it, so that there is a zero-knowledge promise."""
        return self not in (Statistic.DEGREE_COUNTS, Statistic.TRIANGLES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What is declared about the graph, and public: its vertices, and a degree that nobody exceeds."""

    vertices: int
    max_degree: int

    def __post_init__(self) -> None:
        if not 2 <= self.vertices <= MOST_VERTICES:
            raise WrongUse(f"a graph must have between 2 and 2^31 - 1 vertices, not {self.vertices}")
        if self.max_degree < 1:
            raise WrongUse(f"the largest degree must be at least 1, not {self.max_degree}; declare how many friends")
        object.__setattr__(self, "max_degree", min(self.max_degree, self.vertices - 1))

    @property
    def most_edges(self) -> Fraction:
        """M = d n/2, what distances are measured in."""
        return Fraction(self.vertices * self.max_degree, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """k vertices drawn without replacement, exploring from each until s are seen."""

    k: int
    s: int


def default_exploration(k: int, n: int) -> int:
    """ceil(2 sqrt(k)), at most n: the bias is then half the standard deviation of k samples."""
    return min(math.isqrt(4 * k - 1) + 1, n)


def sampling(size: Size, k: int, s: int | None = None) -> Sampling:
    """What the simulator may know, checked: s is at most n, and at least 2."""
    if not 1 <= k <= size.vertices:
        raise WrongUse(f"samples must be between 1 and the {size.vertices:,} vertices, not {k}; choose such a number")
    if s is None:
        s = default_exploration(k, size.vertices)
    if s < 2:
        raise WrongUse(f"an exploration must see at least 2 vertices, not {s}; choose a larger number")
    return Sampling(k=k, s=min(s, size.vertices))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """In edges: how far one vertex moves the value, how far it can be from 0, how wrong samples are."""

    sensitivity: int
    most: Fraction
    bias: Fraction
    reach: Fraction
    from_without: tuple[int, int]

    @property
    def shift(self) -> Fraction:
        """A: how far the mean of the samples of the graph without a vertex may be from the value of the graph."""
        return self.sensitivity + self.bias

    @property
    def centre(self) -> Fraction:
        """What a centred simulator adds to the samples: the middle of how a vertex's edges change the value."""
        return Fraction(sum(self.from_without), 2)

    @property
    def centred_shift(self) -> Fraction:
        """A with the centre added: half of the sensitivity, and the bias."""
        low, high = self.from_without
        return Fraction(high - low, 2) + self.bias


def sensitivity(of: Statistic, size: Size, *, per_edge: bool = False) -> int:
    """The largest change (in L1) when all edges of one vertex are replaced; `per_edge`: when one edge comes or goes.

    Guarantee: for all graphs of the declared vertices and largest degree. Let v have the friends S, in j components of
    the graph without v. Connectivity is that of the graph without v, plus 1 - j, and 0 <= j <= d. Cycle-freeness moves
    by |S| - j, from 0 to d - 1. Eulerian: with a friends of even and b of odd degree without v, in e even components,
    it moves by (a - b + [|S| odd])/2 - e, or by 1 - |S|/2 if v's component is all even (a = 0, |S| even): from
    -floor(d/2) to max(1, ceil(d/2)), a range of d. Edges: |S|. Triangles: the edges within S, at most d(d - 1)/2. The
    degree histogram is published as d counts t_j of vertices of degree at least j: from S to S', each friend that comes
    or goes moves one of them by 1, and v itself moves ||S| - |S'|| of them, in all at most 2 max(|S|, |S'|). One edge
    moves two of the t_j by 1, and at most d - 1 triangles.
    """
    d = size.max_degree
    if per_edge:
        found = {Statistic.DEGREE_COUNTS: 2, Statistic.TRIANGLES: min(d - 1, size.vertices - 2)}.get(of)
        if found is None:
            raise WrongUse(f"{of.value} is private for a vertex with all its edges; drop the unit of one edge")
        return found
    match of:
        case Statistic.CYCLE_FREENESS:
            return d - 1
        case Statistic.DEGREE_COUNTS:
            return 2 * d
        case Statistic.TRIANGLES:
            return d * (d - 1) // 2
        case _:
            return d


def from_without(of: Statistic, size: Size) -> tuple[int, int]:
    """Between which two numbers the value changes when a vertex without edges gets some.

    Guarantee: for all graphs of the declared vertices and largest degree, with the words of :func:`sensitivity`:
    connectivity falls by j, edges grow by |S|, cycle-freeness by |S| - j; eulerian, where the vertex alone is an even
    component, changes by one less than is said there, from -floor(d/2) - 1 to max(0, ceil(d/2) - 1).
    """
    d = size.max_degree
    match of:
        case Statistic.CONNECTIVITY:
            return -d, 0
        case Statistic.EULERIAN:
            return -(d // 2) - 1, max(0, -(-d // 2) - 1)
        case Statistic.CYCLE_FREENESS:
            return 0, d - 1
        case Statistic.EDGES | Statistic.AVERAGE_DEGREE:
            return 0, d
        case _:
            raise WrongUse(f"{of.value} has no sampler here; ask for it with differential privacy alone")


def most(of: Statistic, size: Size, average_at_most: Fraction | None = None) -> Fraction:
    """The largest value on any graph of that size."""
    n, d = size.vertices, size.max_degree
    match of:
        case Statistic.CONNECTIVITY | Statistic.EULERIAN:
            return Fraction(n - 1)  # the graph without edges
        case Statistic.CYCLE_FREENESS:
            return size.most_edges * Fraction(d - 1, d + 1)  # cliques of d + 1
        case Statistic.TRIANGLES:
            return Fraction(n * d * (d - 1), 6)
        case Statistic.DEGREE_COUNTS:
            return Fraction(n)
        case _:
            return min(
                size.most_edges, Fraction(n, 2) * (size.max_degree if average_at_most is None else average_at_most)
            )


def bounds(of: Statistic, size: Size, how: Sampling) -> Bounds:
    """Sensitivity, range, bias and reach of what the k samples tell.

    Guarantee: with Y as in :mod:`hubbub.graphs.samplers`, |E n mean(Y) - value| <= bias and n Y lies in an interval
    of length reach, on every graph of that size. Not found means a component of at least s vertices, whose
    vertices' share 1/size lies between 1/n and 1/s: the middle of the two is off by half their distance. For eulerian
    the sampler says 1/(2s) for a large component in which no odd vertex was seen, which is off by at most that.
    """
    n, d, s = size.vertices, size.max_degree, how.s
    gap, middle = (Fraction(n, s) - 1) / 2, (Fraction(n, s) + 1) / 2  # both times n
    match of:
        case Statistic.CONNECTIVITY:
            bias, reach = gap, n - middle
        case Statistic.EULERIAN:
            bias, reach = Fraction(n, 2 * s), Fraction(n)
        case Statistic.CYCLE_FREENESS:
            bias, reach = gap, Fraction(n * (d - 1), 2) + max(Fraction(0), Fraction(n, d + 1) - middle)
        case Statistic.EDGES | Statistic.AVERAGE_DEGREE:
            bias, reach = Fraction(0), size.most_edges
        case _:
            raise WrongUse(f"{of.value} has no sampler here; ask for it with differential privacy alone")
    return Bounds(
        sensitivity=sensitivity(of, size),
        most=most(of, size),
        bias=bias,
        reach=reach,
        from_without=from_without(of, size),
    )


NAMES: Final = {each.value: each for each in Statistic}


def statistic_named(name: str) -> Statistic:
    """The statistic of that name."""
    if name not in NAMES:
        raise WrongUse(f"there is no statistic {name[:40]!r} of a graph; there are {', '.join(NAMES)}")
    return NAMES[name]


def parse_statistics(text: str) -> tuple[Statistic, ...]:
    """The statistics that ``connectivity,edges`` names, each once."""
    found = tuple(statistic_named(part.strip()) for part in text.split(","))
    twice = [each.value for each in found if found.count(each) > 1]
    if twice:
        raise WrongUse(f"{twice[0]} is named twice; name it once")
    return found
