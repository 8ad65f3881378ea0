"""A graph release as a value: all that is public about it, and the noise that follows from that alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, ClassVar, Final, Self

from hubbub.channels.protocol import LARGEST_RATE, SMALLEST_RATE
from hubbub.errors import WrongUse
from hubbub.graphs.noise_scale import Spread, enough, scale_for, spread
from hubbub.graphs.statistics import Sampling, Size, Statistic, bounds, sampling, sensitivity
from hubbub.guarantees.derivation import Derivation
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.graph import promises as graph_promises
from hubbub.kinds.graph import wire
from hubbub.noise.source import Source
from hubbub.numeric.exact import rounded
from hubbub.protocol.check import Check
from hubbub.protocol.spec import CompositionInfo, Description, Files, Kind, Measurement, Result, Spec
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import Plain

_DIGITS: Final = 20
_MOST_ROWS: Final = 1_000_000  # of a degree histogram
_BYTES_PER_ROW: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphSpec(Spec):
    """Which counts of a graph are published, how private each is, and what is declared about the graph.

    `epsilon` is what each published count loses; the average degree and the number of edges are one count. With
    `samples` the promise is zero-knowledge with respect to so many random people and the surroundings of each, and with
    `centred` by a simulator that needs about half of the noise, which may lose more than epsilon differentially;
    the degree histogram and the triangles know no such promise, are differentially private, and are published by
    themselves. `per_edge` protects single edges only, and says so. `explores` and `scales` (of the noise of each
    count) are worked out where they are not given, and are part of what is written down: a sharper theorem leaves the
    noise of an old release what it was.
    """

    kind: ClassVar[Kind]  # set where the kind is made, in hubbub.kinds.graph.request
    size: Size
    of: tuple[Statistic, ...]
    epsilon: Fraction
    samples: int | None = None
    explores: int | None = None
    average_at_most: Fraction | None = None
    per_edge: bool = False
    centred: bool = False
    coverage: Fraction = Fraction(95, 100)
    scales: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if not self.of or len(set(self.of)) < len(self.of):
            raise WrongUse("name what is to be published, each once, like connectivity,average-degree")
        if self.epsilon <= 0 or not 0 < self.coverage < 1:
            raise WrongUse("epsilon must be above 0, and the coverage between 0 and 1")
        sampled = {each.is_sampled for each in self.of}
        if len(sampled) == 2:
            raise WrongUse(
                "degree-histogram and triangles have no zero-knowledge promise, and published beside others they would "
                "take theirs away; publish them by themselves"
            )
        if self.zero_knowledge == (self.samples is None):
            raise WrongUse(
                "give the number of samples that the zero-knowledge promise is with respect to, like `samples=500`"
                if self.zero_knowledge
                else "degree-histogram and triangles are differentially private and take no samples; drop them"
            )
        if self.per_edge and self.zero_knowledge:
            raise WrongUse("only degree-histogram and triangles can be private for single edges; drop that unit")
        if self.centred and not self.zero_knowledge:
            raise WrongUse(
                "a centred simulator is for zero-knowledge promises, and degree-histogram and triangles have none; leave "
                "it out"
            )
        walks = any(of.explores for of in self.counts)
        if self.explores is not None and not walks:
            raise WrongUse("nobody explores the graph for that; drop the number of vertices to explore")
        if self.average_at_most is not None and not (
            Statistic.EDGES in self.counts and 0 < self.average_at_most <= self.size.max_degree
        ):
            raise WrongUse(
                "a bound on the average degree is above 0, at most the largest degree, and for average-degree or edges"
            )
        if Statistic.DEGREE_COUNTS in self.of and self.size.max_degree > _MOST_ROWS:
            raise WrongUse(f"a degree histogram has a row for each degree, at most {_MOST_ROWS:,}; declare a lower one")
        if walks:
            object.__setattr__(self, "explores", self.sampling.s)
        if not self.scales:
            object.__setattr__(self, "scales", tuple(self._calibrate_scale(of) for of in self.counts))
        if len(self.scales) != len(self.counts):
            raise WrongUse("each published count has one scale of noise; give as many as there are counts")
        for of in self.counts:
            if not 1 / LARGEST_RATE <= self.scale(of) <= 1 / SMALLEST_RATE:
                raise WrongUse(
                    f"the noise of {of.value} must have a scale between 0.02 and 1,000,000 to be drawn exactly; change "
                    "epsilon or the samples, or leave it out (hubbub graph plan has the scales)"
                )

    @property
    def zero_knowledge(self) -> bool:
        return self.of[0].is_sampled

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
        limits = bounds(of, self.size, self.sampling)
        return spread(limits, self.sampling.k, self.size.vertices, share, centred=self.centred)

    def scale(self, of: Statistic) -> Fraction:
        """The scale of the integer noise on a count."""
        return self.scales[self.counts.index(of)]

    def _calibrate_scale(self, of: Statistic) -> Fraction:
        """Guarantee: for sampled counts the scale of the MGF theorem, so that each is epsilon-zero-knowledge private;
        for the others sensitivity/epsilon, so that each is epsilon-differentially private."""
        if self.zero_knowledge:
            return scale_for(self.spread(of), self.epsilon)
        # Where nothing moves at all (triangles of people with one friend each) any noise will do.
        return rounded(max(self.sensitivity(of), 1) / self.epsilon, up=True, digits=_DIGITS)

    def suffices(self, of: Statistic) -> bool:
        """Whether the scale of a count is enough for its epsilon.

        Guarantee: True only if the theorem behind the promise, worked out again, gives at most epsilon.
        """
        if self.zero_knowledge:
            return enough(self.spread(of), self.scale(of), self.epsilon)
        return self.sensitivity(of) <= self.epsilon * self.scale(of)

    def sensitivity(self, of: Statistic) -> int:
        """How far a count moves with one vertex and all its edges, or with one edge."""
        return sensitivity(of, self.size, per_edge=self.per_edge)

    @property
    def people(self) -> People:
        return People(whose=Whose.EDGE if self.per_edge else Whose.VERTEX)

    @property
    def enforced_number(self) -> int | None:
        """Of vertices, who are the people; where what is protected is one edge, edges come and go."""
        return None if self.per_edge else self.size.vertices

    def table_promises(self) -> tuple[Derivation, ...]:
        return graph_promises.ledger_promises(self)

    def composition(self) -> CompositionInfo:
        """A sample that tells its counts may serve other releases of the same network."""
        return CompositionInfo(sampled=graph_promises.sampled_counts(self))

    def with_schema(self, schema: object) -> Self:
        """A graph has no columns: everything is declared."""
        return self

    def checks(self) -> Iterator[Check]:
        for of in self.counts:
            moved = f"one {self.people.unit} moves it by at most {self.sensitivity(of):,}"
            yield Check(f"the noise of {of.value}", self.suffices(of), f"is enough for epsilon: {moved}")

    def to_json(self) -> dict[str, Plain]:
        return wire.to_json(self)

    def size_hint(self) -> int:
        rows = self.size.max_degree if Statistic.DEGREE_COUNTS in self.of else 0
        return (1 << 20) + _BYTES_PER_ROW * rows

    promises = graph_promises.promises

    def describe(self) -> Description:
        from hubbub.kinds.graph import text

        return text.describe(self)

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.graph import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.graph import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.graph.load import load

        return load(self, files)
