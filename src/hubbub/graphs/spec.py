"""A graph release as a value: all that is public about it, and the noise that follows from that alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final

from hubbub.channels.channel import noise_rate
from hubbub.errors import WrongUse
from hubbub.exact import rounded
from hubbub.graphs.noise_scale import Spread, scale_for, spread
from hubbub.graphs.statistics import Sampling, Size, Statistic, bounds, sampling, sensitivity

_DIGITS: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSpec:
    """Which counts of a graph are published, how private each is, and what is declared about the graph.

    `epsilon` is what each published count loses; the average degree and the number of edges are one count. With
    `samples` the promise is zero-knowledge with respect to so many random people and the surroundings of each;
    the degree histogram and the triangles know no such promise, are differentially private, and are published by
    themselves. `per_edge` protects single edges only, and says so.
    """

    kind: ClassVar[str] = "graph"
    wire: ClassVar[str] = "graph/1"
    size: Size
    of: tuple[Statistic, ...]
    epsilon: Fraction
    samples: int | None = None
    explores: int | None = None
    average_at_most: Fraction | None = None
    per_edge: bool = False
    coverage: Fraction = Fraction(95, 100)

    def __post_init__(self) -> None:
        if not self.of or len(set(self.of)) < len(self.of):
            raise WrongUse("name what is to be published, each once, like connectivity,average-degree")
        if self.epsilon <= 0 or not 0 < self.coverage < 1:
            raise WrongUse("epsilon must be above 0, and the coverage between 0 and 1")
        sampled = {each.sampled for each in self.of}
        if len(sampled) == 2:
            raise WrongUse(
                "degree-histogram and triangles have no zero-knowledge promise, and published beside others they would "
                "take theirs away; publish them by themselves"
            )
        if self.zero_knowledge == (self.samples is None):
            raise WrongUse(
                "give the number of samples that the zero-knowledge promise is with respect to"
                if self.zero_knowledge
                else "degree-histogram and triangles are differentially private and take no samples; drop them"
            )
        if self.per_edge and self.zero_knowledge:
            raise WrongUse("only degree-histogram and triangles can be private for single edges; drop that unit")
        if self.average_at_most is not None and not (
            Statistic.EDGES in self.counts and 0 < self.average_at_most <= self.size.max_degree
        ):
            raise WrongUse(
                "a bound on the average degree is above 0, at most the largest degree, and for average-degree or edges"
            )
        for of in self.counts:
            noise_rate(1 / self.scale(of), f"1/(scale of the noise) of {of.value}")

    @property
    def zero_knowledge(self) -> bool:
        return self.of[0].sampled

    @property
    def counts(self) -> tuple[Statistic, ...]:
        """What is drawn for: each count once."""
        return tuple(dict.fromkeys(each.count for each in self.of))

    @property
    def sampling(self) -> Sampling:
        """What the simulator may know."""
        assert self.samples is not None
        return sampling(self.size, self.samples, self.explores)

    def spread(self, of: Statistic) -> Spread:
        """What the MGF theorem needs to know of a count."""
        share = None
        if self.average_at_most is not None and of is Statistic.EDGES:
            share = self.average_at_most / self.size.max_degree
        return spread(bounds(of, self.size, self.sampling), self.sampling.k, self.size.vertices, share)

    def scale(self, of: Statistic) -> Fraction:
        """The scale of the integer noise on a count.

        Guarantee: for sampled counts that of the MGF theorem, so that each is epsilon-zero-knowledge private; for the
        others sensitivity/epsilon, so that each is epsilon-differentially private.
        """
        if self.zero_knowledge:
            return scale_for(self.spread(of), self.epsilon)
        # Where nothing moves at all (triangles of people with one friend each) any noise will do.
        return rounded(max(self.sensitivity(of), 1) / self.epsilon, up=True, digits=_DIGITS)

    def sensitivity(self, of: Statistic) -> int:
        """How far a count moves with one vertex and all its edges, or with one edge."""
        return sensitivity(of, self.size, per_edge=self.per_edge)
