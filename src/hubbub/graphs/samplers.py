"""What k random vertices and a little exploration around them tell about a graph.

From each of k vertices, drawn without replacement, walk outward (breadth first, friends in their order) until s
vertices are seen. The component is *found* if it has fewer than s vertices. Each vertex v then tells a share Y of the
count, and n times the mean of the shares estimates it (less 1 for connectivity and eulerian):

    connectivity     found: 1/size                              not found: (1/s + 1/n)/2
    eulerian         found: (odd/2, or 1 if none is odd)/size   not found: 1/2 if v is odd, plus 1/(2s) if none seen is
    cycle-freeness   found: (edges - size + 1)/size             not found: deg(v)/2 - 1 + (1/s + 1/n)/2
    edges            deg(v)/2, without any walk

(Marko and Ron 2009, with the middle of the possible shares where they have 0, which halves the bias.) For the average
degree there is Seshadhri's estimator beside it: a random friend u of v, and 2 deg(v) if u has the larger degree (of
equals, the larger number).

These estimates protect nobody by themselves. They are what the simulator of a release runs.

Estimates of a graph from k random vertices, with intervals that are proved. They protect nobody.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil
from typing import Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.graphs.graph import Graph, Neighbours, neighbours
from hubbub.graphs.statistics import Sampling, Size, Statistic, bounds, most
from hubbub.noise.sampler import below, distinct
from hubbub.noise.source import Source
from hubbub.numeric.exact import Exact, ball, log, precision, rational, rounded, to_float, to_text, upper
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Seen:
    """What a walk from one vertex found: all of its component, or as much as it was allowed to see."""

    found: bool
    size: int
    degrees: int  # sum over the vertices seen
    odd: int  # of the vertices seen
    degree: int  # of the vertex it started from


def explore(around: Neighbours, vertex: int, s: int) -> Seen:
    """Walk outward from a vertex until s vertices are seen."""
    seen, queue = {vertex}, [vertex]
    for at in queue:
        # Of its first s friends enough are new to reach s in all, if there are so many.
        for friend in around.of_vertex(at)[:s].tolist():
            if friend not in seen and len(seen) < s:
                seen.add(friend)
                queue.append(friend)
        if len(seen) >= s:
            break
    degrees = [around.degree(each) for each in queue]
    return Seen(len(seen) < s, len(seen), sum(degrees), sum(each & 1 for each in degrees), degrees[0])


def share(of: Statistic, seen: Seen, n: int, s: int) -> Fraction:
    """Y: the share of the count that this vertex tells."""
    middle = (Fraction(1, s) + Fraction(1, n)) / 2
    match of:
        case Statistic.CONNECTIVITY:
            return Fraction(1, seen.size) if seen.found else middle
        case Statistic.EULERIAN:
            if seen.found:
                return Fraction(seen.odd or 2, 2 * seen.size)
            return Fraction(seen.degree & 1, 2) + (0 if seen.odd else Fraction(1, 2 * s))
        case Statistic.CYCLE_FREENESS:
            if seen.found:
                return Fraction(seen.degrees // 2 - seen.size + 1, seen.size)
            return Fraction(seen.degree, 2) - 1 + middle
        case Statistic.EDGES | Statistic.AVERAGE_DEGREE:
            return Fraction(seen.degree, 2)
        case _:
            raise WrongUse(f"{of.value} has no sampler here; ask for another statistic")


def walk(of: Statistic, around: Neighbours, vertex: int, s: int) -> Seen:
    """The walk that the sampler of a statistic makes: none for the number of edges."""
    if of.explores:
        return explore(around, vertex, s)
    degree = around.degree(vertex)
    return Seen(degree == 0, 1, degree, degree & 1, degree)


def offset(of: Statistic) -> int:
    """What is added to n times the mean of the shares."""
    return -1 if of in (Statistic.CONNECTIVITY, Statistic.EULERIAN) else 0


def estimate_of(of: Statistic, around: Neighbours, how: Sampling, source: Source) -> Fraction:
    """T: the count as k random vertices tell it.

    Guarantee: |E T - count| <= bias, and T is the mean of k draws without replacement from an interval of length
    reach, both as in :func:`hubbub.graphs.statistics.bounds`.
    """
    n = around.vertices
    drawn = distinct(how.k, n, source).tolist()
    shares = Counter(share(of, walk(of, around, vertex, how.s), n, how.s) for vertex in drawn)
    return Fraction(n, how.k) * sum(each * times for each, times in shares.items()) + offset(of)


def error(of: Statistic, size: Size, how: Sampling, beta: Exact) -> Fraction:
    """How far the estimate is from the count, in edges, but for a chance of beta; rounded up.

    Guarantee: Pr[|T - count| > error] <= beta on every graph of that size (Hoeffding's bound with Serfling's factor for
    draws without replacement, and the bias).
    """
    chance = _chance(beta)
    limit = bounds(of, size, how)
    with precision():
        factor = ball((1 - Fraction(how.k - 1, size.vertices)) / (2 * how.k))
        return rounded(ball(limit.bias) + ball(limit.reach) * (factor * log(2 / chance)).sqrt(), up=True)


def sample_for(gamma: Exact, beta: Exact) -> Sampling:
    """The samples and the walk that find connectivity and eulerian within gamma n edges, with the fewest vertices seen.

    Guarantee: with k = ceil((9/8) ln(2/beta)/gamma^2) and s = ceil(3/(2 gamma)), Pr[|T - count| > gamma n] <= beta on
    every graph: the bias takes at most a third of gamma, Hoeffding's bound the rest. Walks of that length make k s
    smallest.
    """
    width, chance = rational(gamma, "gamma"), _chance(beta)
    if not 0 < width < 1:
        raise WrongUse(f"gamma is an error per vertex and must lie between 0 and 1, not {width}")
    with precision():
        k = ceil(upper(ball(Fraction(9, 8) / width**2) * log(2 / chance)))
    return Sampling(k=k, s=max(ceil(3 / (2 * width)), 2))


def seshadhri(around: Neighbours, k: int, source: Source) -> Fraction:
    """The average degree by a random friend of each of k random vertices.

    Guarantee: the mean is the average degree, and the variance at most 4 average sqrt(n average)/k: each edge is
    counted from its end of smaller (degree, number), of which nobody has more than sqrt(2m).
    """
    n, total = around.vertices, 0
    for vertex in distinct(k, n, source).tolist():
        degree = around.degree(vertex)
        if degree:
            friend = int(around.of_vertex(vertex)[int(below(degree, 1, source)[0])])
            total += 2 * degree * ((around.degree(friend), friend) > (degree, vertex))
    return Fraction(total, k)


def seshadhri_interval(estimate: Fraction, n: int, d: int, k: int, beta: Exact) -> tuple[Fraction, Fraction]:
    """The average degrees that the estimate does not contradict.

    Guarantee: the average degree a lies within, but for a chance of beta: half of it for |told - a| > sqrt(4 a
    sqrt(n a)/(k beta/2)) (Chebyshev), half for |told - a| > 2 d sqrt(ln(4/beta)/(2k)) (Hoeffding).
    """
    chance = _chance(beta)
    with precision():
        flat = rounded(2 * ball(d) * (log(4 / chance) / (2 * k)).sqrt(), up=True)
        spread = (8 * ball(n).sqrt() / (ball(k) * ball(chance))).sqrt()  # times a^(3/4)

    def contradicts(a: Fraction) -> bool:
        with precision():
            far: arb = spread * (ball(a) ** 3).sqrt().sqrt()
            return bool(ball(abs(estimate - a)) > far)

    low, high = max(estimate - flat, Fraction(0)), min(estimate + flat, Fraction(d))
    # |told - a|/a^(3/4) falls up to told and grows after it, so what is not contradicted is an interval.
    return _edge(contradicts, low, min(estimate, high)), _edge(
        contradicts, max(high, low), max(min(estimate, high), low)
    )


def _edge(contradicts: object, outer: Fraction, inner: Fraction) -> Fraction:
    """The point nearest to `outer` that is not contradicted, found by halving and left on the outer side."""
    assert callable(contradicts)
    if not contradicts(outer):
        return outer
    for _ in range(40):
        middle = (outer + inner) / 2
        outer, inner = (middle, inner) if contradicts(middle) else (outer, middle)
    return outer


def _chance(beta: Exact) -> Fraction:
    chance = rational(beta, "beta")
    if not 0 < chance < 1:
        raise WrongUse(f"the chance of a larger error must lie between 0 and 1, not {chance}")
    return chance


NOT_PRIVATE: Final = (
    "These numbers come from real people and protect none of them: they are for you, not for publication."
)

_MARKO_RON: Final = "Marko and Ron, midpoint"
_PLAIN: Final = "degrees of random vertices"
_SESHADHRI: Final = "Seshadhri, a random friend of each"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What the samples say, and where the truth lies with the stated confidence."""

    of: Statistic
    method: str
    value: Fraction
    low: Fraction
    high: Fraction
    confidence: Fraction
    sampling: Sampling

    def as_json(self) -> dict[str, object]:
        return {
            "of": self.of.value,
            "method": self.method,
            "value": float(self.value),
            "low": to_float(self.low, round_up=False),
            "high": to_float(self.high, round_up=True),
            "confidence": to_text(self.confidence),
            "samples": self.sampling.k,
            "explores": self.sampling.s if self.of.explores else 1,
        }

    def cells(self) -> tuple[str, str, str, str]:
        """What, how, how much, within what."""
        low, high = rounded(self.low, up=False, digits=4), rounded(self.high, up=True, digits=4)
        within = f"{float(low):,.6g} to {float(high):,.6g}"
        return self.of.value, self.method, f"{float(self.value):,.6g}", within


def estimates(
    graph: Graph, size: Size, of: tuple[Statistic, ...], how: Sampling, confidence: Fraction, source: Source
) -> tuple[Estimate, ...]:
    """One estimate for each statistic, and for the average degree two.

    Guarantee: each interval contains the truth with probability at least `confidence`, on every graph of that size, by
    the bounds of :mod:`hubbub.graphs.samplers`.
    """
    around = neighbours(graph)
    found = []
    for each in of:
        found.append(_estimate_rows(each, around, size, how, confidence, source))
        if each is Statistic.AVERAGE_DEGREE:
            value = seshadhri(around, how.k, source)
            low, high = seshadhri_interval(value, size.vertices, size.max_degree, how.k, 1 - confidence)
            found.append(_estimate(each, _SESHADHRI, value, low, high, confidence, how))
    return tuple(found)


def _estimate_rows(
    of: Statistic, around: Neighbours, size: Size, how: Sampling, confidence: Fraction, source: Source
) -> Estimate:
    unit = Fraction(2, size.vertices) if of is Statistic.AVERAGE_DEGREE else Fraction(1)
    value, off, top = estimate_of(of, around, how, source), error(of, size, how, 1 - confidence), most(of, size)
    low, high = min(max(value - off, Fraction(0)), top), max(min(value + off, top), Fraction(0))
    method = _MARKO_RON if of.explores else _PLAIN
    return _estimate(of, method, value * unit, low * unit, high * unit, confidence, how)


def _estimate(
    of: Statistic, method: str, value: Fraction, low: Fraction, high: Fraction, confidence: Fraction, how: Sampling
) -> Estimate:
    return Estimate(of=of, method=method, value=value, low=low, high=high, confidence=confidence, sampling=how)
