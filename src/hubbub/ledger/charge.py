"""What a release asks of a ledger: its promises, and what decides how they add up with those of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from hubbub.exact import Infinite, to_text
from hubbub.guarantees.closeness import mixed
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    IndependentSample,
    Neighbours,
    OutlierKind,
    ZeroKnowledge,
)
from hubbub.tables.bins import Axis
from hubbub.tables.description import partition
from hubbub.tables.histogram import Histogram
from hubbub.tables.promises import collected_sample, promises


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The promises of one release to the people in its table, a fresh secret sample being part of the mechanism.

    `partition` names the public partition in which people stand in crowds, if each has a fixed place in one. With
    `kept_rows`, what is promised to crowds is promised for one row of each person, chosen secretly: true of the
    release alone, and covered together with others by no theorem. `collected` says how the table itself was sampled
    from a population, as declared; what that buys is worked out for all releases of the table together.
    """

    what: str
    promises: tuple[Guarantee, ...]
    partition: str | None = None
    kept_rows: bool = False
    collected: IndependentSample | None = None
    at_delta: Fraction = Fraction(1, 10**9)

    @property
    def differential(self) -> DifferentialPrivacy | None:
        """The smallest loss under add/remove, if it is finite."""
        return min(self._bounded(), key=lambda each: (each.epsilon, each.delta), default=None)

    @property
    def pure(self) -> DifferentialPrivacy | None:
        """The same without a delta."""
        return min((each for each in self._bounded() if not each.delta), key=lambda each: each.epsilon, default=None)

    def _bounded(self) -> list[DifferentialPrivacy]:
        return [
            each
            for each in self.promises
            if isinstance(each, DifferentialPrivacy)
            and each.neighbours is Neighbours.ADD_REMOVE
            and not isinstance(each.epsilon, Infinite)
        ]

    @property
    def on_sample(self) -> tuple[DifferentialPrivacy, Fraction] | None:
        """What ran on a fresh secret sample and the sample's rate, if that is what makes the smallest loss."""
        knowledge, smallest = self.zero_knowledge, self.differential
        if knowledge is None or smallest is None or not isinstance(knowledge.aggregate, BernoulliSample):
            return None
        rate = knowledge.aggregate.p
        for each in self._bounded():
            if each.group == 1 and (mixed(each.epsilon, rate), rate * each.delta) == (smallest.epsilon, smallest.delta):
                return each, rate
        return None

    @property
    def zero_knowledge(self) -> ZeroKnowledge | None:
        return next((each for each in self.promises if isinstance(each, ZeroKnowledge)), None)

    @property
    def crowd_blending(self) -> CrowdBlending | None:
        return next((each for each in self.promises if isinstance(each, CrowdBlending)), None)

    @property
    def exact_crowds(self) -> bool:
        """Whether people of one crowd are exactly interchangeable: every bin of the partition is published by itself,
        from its count alone."""
        return self.partition is not None

    @property
    def curve(self) -> OutlierKind | None:
        return next((each for each in self.promises if isinstance(each, OutlierKind)), None)


@lru_cache(maxsize=64)
def for_histogram(spec: Histogram, axes: tuple[Axis, ...]) -> Charge:
    """What a histogram asks of the ledger.

    Guarantee: every promise in it holds for adding or removing one person of the table (with `kept_rows`, those to
    crowds for the table of kept rows alone), whatever was declared about how the table was collected. The channel's own
    promise is one of them even where people are sampled first: of two samples that differ by one person of a bin,
    either has the counts (j, j) or (j, j - 1) there with j at most the bin's count, and losses do not fall with the
    count.
    """
    alone = promises(replace(spec, collected=None), axes)
    columns = ", ".join(axis.column for axis in axes)
    sampled = "" if spec.sample is None else f", on a fresh secret sample at rate {to_text(spec.sample)}"
    return Charge(
        what=f"histogram by {columns}{sampled}",
        promises=tuple(step.conclusion for step in alone),
        partition=partition(spec, axes),
        kept_rows=spec.unit.one_row_per_person,
        collected=None if spec.collected is None else collected_sample(spec.collected),
        at_delta=spec.at_delta,
    )
