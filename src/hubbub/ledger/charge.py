"""What a release asks of a ledger: its promises, and what decides how they add up with those of others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction

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
from hubbub.guarantees.derivation import Derivation, stated
from hubbub.guarantees.implications import add_remove_to_replace, zero_knowledge_to_differential
from hubbub.guarantees.indistinguishability import mixed
from hubbub.guarantees.neighbours import check_number
from hubbub.guarantees.people import People, Whose
from hubbub.guarantees.survey import PoissonSurvey
from hubbub.numeric.exact import Infinite, Loss
from hubbub.protocol.spec import Spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """The promises of one release to the people in its table, a fresh secret sample being part of the mechanism.

    `partition` names the public partition in which people stand in crowds, if each has a fixed place in one. With
    `kept_rows`, what is promised to crowds is promised for one row of each person, chosen secretly: true of the
    release alone, and covered together with others by no theorem. `collected` says how the table itself was sampled
    from a population, as declared; what that buys is worked out for all releases of the table together. `people` are
    those of the table, with the column that says who is who: promises about unlike people do not add up.
    """

    what: str
    promises: tuple[Guarantee, ...]
    partition: str | None = None
    kept_rows: bool = False
    collected: IndependentSample | PoissonSurvey | None = None
    at_delta: Fraction = Fraction(1, 10**9)
    people: People = field(default_factory=People)
    exact_crowds: bool = False

    def about(self, promise: Guarantee) -> People:
        """Whom one of its promises is about."""
        crowds = isinstance(promise, CrowdBlending | OutlierKind)
        return replace(self.people, whose=Whose.KEPT_ROWS) if self.kept_rows and crowds else self.people

    @property
    def differential(self) -> DifferentialPrivacy | None:
        """The smallest loss under the relation that its people have (add/remove in a table), if it is finite."""
        return min(self._bounded(), key=lambda each: (each.epsilon, each.delta), default=None)

    @property
    def pure(self) -> DifferentialPrivacy | None:
        """The same without a delta."""
        return min((each for each in self._bounded() if not each.delta), key=lambda each: each.epsilon, default=None)

    @property
    def promises_replacement(self) -> bool:
        """Whether a promise is about one person of the table replaced, who may not come or go: N is then public."""
        return self._comes_or_goes and any(
            isinstance(each, DifferentialPrivacy) and each.neighbours is Neighbours.REPLACE for each in self.promises
        )

    @property
    def replaced(self) -> DifferentialPrivacy | None:
        """The smallest loss when one person of the table is replaced; None in a graph, where that is the relation
        already."""
        found = self.replaced_by(stated)
        return None if found is None else found.concluding(DifferentialPrivacy, found.theorem)

    def replaced_by(self, leaf: Callable[[Guarantee], Derivation]) -> Derivation | None:
        """How that follows, `leaf` being a promise as a derivation.

        Guarantee: as promised, or by two steps of add/remove, or, with the person's row blanked in between, by two of
        zero-knowledge privacy (Proposition 7).
        """
        if not self._comes_or_goes:
            return None
        steps = [
            _to_replace(leaf(each))
            for each in self.promises
            if isinstance(each, DifferentialPrivacy | ZeroKnowledge) and not isinstance(each.epsilon, Infinite)
        ]
        return min(steps, key=_loss, default=None)

    @property
    def _comes_or_goes(self) -> bool:
        return self.people.neighbours is Neighbours.ADD_REMOVE

    def _bounded(self) -> list[DifferentialPrivacy]:
        return [
            each
            for each in self.promises
            if isinstance(each, DifferentialPrivacy)
            and each.neighbours is self.people.neighbours
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
    def curve(self) -> OutlierKind | None:
        return next((each for each in self.promises if isinstance(each, OutlierKind)), None)


def _to_replace(step: Derivation) -> Derivation:
    """Differential privacy for one person replaced, by the theorem that leads there."""
    if isinstance(step.conclusion, ZeroKnowledge):
        return zero_knowledge_to_differential(step)
    return step if step.conclusion.neighbours is Neighbours.REPLACE else add_remove_to_replace(step)


def _loss(step: Derivation) -> tuple[Loss, Fraction]:
    private = step.concluding(DifferentialPrivacy, step.theorem)
    return private.epsilon, private.delta


def charge(spec: Spec) -> Charge:
    """What a release asks of the ledger.

    Guarantee: every promise in it, but those that say they are about one person replaced, holds for adding or removing
    one person of the table (with `kept_rows`, those to crowds for the table of kept rows alone), whatever was declared
    about how the table was collected; for a graph, for other edges of one vertex, or for one edge more or less, as its
    people say. A promise that compares unlike numbers of people is refused where one number is enforced.
    """
    promises, composition = spec.table_promises(), spec.composition()
    check_number((step.conclusion for step in promises), spec.enforced_number)
    return Charge(
        what=spec.describe().entry,
        promises=tuple(step.conclusion for step in promises),
        partition=composition.partition,
        kept_rows=any(step.people is not None and step.people.whose is Whose.KEPT_ROWS for step in promises),
        collected=composition.collected,
        at_delta=composition.at_delta,
        people=spec.people,
        exact_crowds=composition.exact_crowds,
    )
