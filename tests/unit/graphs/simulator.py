"""The simulator: what somebody who knows k random people and their surroundings would publish instead.

It estimates the count from the graph without the person, rounds the estimate to one of the two integers beside it
without bias, and adds the noise of the release. On small graphs the law of all this is finite and exact, and its
distance from the law of the release is computed, not bounded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, floor
from typing import TypeAlias

from flint import arb

from hubbub.errors import WrongUse
from hubbub.graphs.graph import Neighbours
from hubbub.graphs.samplers import estimate_of, offset, share, walk
from hubbub.graphs.statistics import Sampling, Statistic
from hubbub.noise.sampler import bernoulli, two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, exp, precision

Points: TypeAlias = Mapping[tuple[int, ...], Fraction]
"""The law of a vector of integers."""

_MOST_SETS = 100_000  # sets of vertices that are listed for an exact law


def simulate(of: Statistic, around: Neighbours, how: Sampling, scale: Fraction, source: Source) -> int:
    """One outcome; `around` is the graph without the person's edges.

    Guarantee: within e^epsilon of the release of any graph that differs in that person's edges, epsilon as in
    :mod:`hubbub.graphs.noise_scale`.
    """
    estimate = estimate_of(of, around, how, source)
    down = floor(estimate)
    up = bool(bernoulli(estimate - down, 1, source)[0])
    return down + up + int(two_sided_geometric(1 / scale, 1, source)[0])


def rounded_law(
    ofs: Sequence[Statistic],
    around: Neighbours,
    how: Sampling,
    centres: Sequence[Fraction] | None = None,
    walks: Sequence[int] | None = None,
) -> dict[tuple[int, ...], Fraction]:
    """The exact law of the rounded estimates, several of them from one sample, before the noise; `centres` are what a
    centred simulator adds to each, and `walks` how far it walks for each, where that is not the same for all."""
    n = around.vertices
    if comb(n, how.k) > _MOST_SETS:
        raise WrongUse(
            f"the exact law lists all sets of {how.k} of {n} vertices, which are too many; use a small graph"
        )
    seen = walks or [how.s] * len(ofs)
    shares = [[share(of, walk(of, around, v, s), n, s) for v in range(n)] for of, s in zip(ofs, seen, strict=True)]
    law: dict[tuple[int, ...], Fraction] = {}
    each = Fraction(1, comb(n, how.k))
    for drawn in combinations(range(n), how.k):
        means = [
            Fraction(n, how.k) * sum(estimates[v] for v in drawn) + offset(of) + centre
            for of, estimates, centre in zip(ofs, shares, centres or [Fraction(0)] * len(ofs), strict=True)
        ]
        for ups in product((0, 1), repeat=len(ofs)):
            chance = each
            for mean, up in zip(means, ups, strict=True):
                chance *= mean - floor(mean) if up else 1 - (mean - floor(mean))
            if chance:
                at = tuple(floor(mean) + up for mean, up in zip(means, ups, strict=True))
                law[at] = law.get(at, Fraction(0)) + chance
    return law


def exact_loss(simulated: Points, counts: Sequence[int], scales: Sequence[Fraction]) -> arb:
    """The largest |ln ratio| between the simulator's law and that of counts + noise, over all outcomes.

    Guarantee: a ball around the exact value. Beyond all centres both laws fall alike, so only outcomes between the
    smallest and the largest centre of each count are compared.
    """
    with precision():
        ranges = [
            range(min(counts[j], *(z[j] for z in simulated)), max(counts[j], *(z[j] for z in simulated)) + 1)
            for j in range(len(counts))
        ]
        worst = arb(0)
        for x in product(*ranges):
            ratio = arb(0)
            for z, chance in simulated.items():
                nearer = sum(Fraction(abs(x[j] - counts[j]) - abs(x[j] - z[j])) / scales[j] for j in range(len(counts)))
                ratio += ball(chance) * exp(Fraction(nearer))
            worst = worst.max(abs(ratio.log()))
        return worst
