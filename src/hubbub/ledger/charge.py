"""What a release asks of a ledger: its promises, and what decides how they add up with those of others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import Final

from hubbub.guarantees.accountant.accountant import Accountant, of_noises, of_pair
from hubbub.guarantees.accountant.concentrated import differential_to_concentrated
from hubbub.guarantees.accountant.gaussian import (
    WIDEST_TABULATED,
    GaussianNoise,
    SampledGaussianPair,
    gaussian_total,
)
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair
from hubbub.guarantees.accountant.sampled_counts import JointLoss, SampledCounts
from hubbub.guarantees.definitions import (
    BernoulliSample,
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    IndependentSample,
    Neighbours,
    OutlierKind,
    OutlierPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import HERE, TO_REPLACE, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.implications import add_remove_to_replace, zero_knowledge_to_differential
from hubbub.guarantees.indistinguishability import subsampled_loss, times
from hubbub.guarantees.neighbours import check_number
from hubbub.guarantees.people import DECLARED_UNIQUE, People, Whose
from hubbub.guarantees.survey import PoissonSurvey
from hubbub.numeric.exact import Infinite, Loss
from hubbub.protocol.bound import Bound
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import digest
from hubbub.serialization.exact_json import UNSAID

SWAPPED: Final = Theorem(
    "implied.gaussian-replaced", "Gaussian noise, one person replaced: root two and not two", HERE, TO_REPLACE
)


@dataclass(frozen=True, kw_only=True)
class Charge:
    """The promises of one release to the people in its table, a fresh secret sample being part of the mechanism.

    `partition` names the public partition in which people stand in crowds, if each has a fixed place in one. With
    `kept_rows`, what is promised to crowds is promised for one row of each person, chosen secretly: true of the
    release alone, and covered together with others by no theorem. `collected` says how the table itself was sampled
    from a population, as declared; what that buys is worked out for all releases of the table together. `people` are
    those of the table, with the column that says who is who: promises about unlike people do not add up. `noises` is
    Gaussian noise that all of it is computed from, inside a sample where one is drawn. With `declared_unique` all of it
    holds only if nobody has two rows, as was declared and not checked: the people are the same all the same.
    `sampled` is counts of a network that one sample of its people tells.
    """

    what: str
    promises: tuple[Guarantee, ...]
    partition: str | None = None
    kept_rows: bool = False
    collected: IndependentSample | PoissonSurvey | None = None
    at_delta: Fraction = Fraction(1, 10**9)
    people: People = field(default_factory=People)
    exact_crowds: bool = False
    noises: tuple[GaussianNoise, ...] = field(default=(), metadata=UNSAID)
    declared_unique: bool = field(default=False, metadata=UNSAID)
    sampled: SampledCounts | None = field(default=None, metadata=UNSAID)

    def of_content(self, content: Sequence[str] | None, otherwise: str) -> Charge:
        """The same of a table, or a network, that holds this; None where nothing tells whether it changed. A partition is
        then one of its own, named `otherwise`, and no other release is of the same network."""
        partition, sampled = self.partition, self.sampled
        if partition is not None:  # a column of one name may hold another thing in another table, or tomorrow
            partition = digest([partition, otherwise if content is None else list(content)])
        if sampled is not None:
            sampled = None if content is None else replace(sampled, network=digest(list(content)))
        return replace(self, partition=partition, sampled=sampled)

    def with_sums(
        self,
        *,
        differential: DifferentialPrivacy | None,
        pure: DifferentialPrivacy | None,
        concentrated: ConcentratedPrivacy | None,
        replaced: DifferentialPrivacy | None,
        knowledge: ZeroKnowledge | None,
        crowds: CrowdBlending | None,
        curve: OutlierPrivacy | None,
        **changed: object,
    ) -> Charge:
        """The same with these promises in the place of its own: sums, of which each is under the relation of its people,
        save for `replaced`, which is there only if people come or go and one of them is replaced.

        What its properties would find among so few promises is noted at once, since a running total asks for all of it
        after every release.
        """
        sums = (differential, pure, concentrated, replaced, knowledge, crowds, curve)
        found: Charge = replace(self, promises=_each_once(sums), **changed)  # type: ignore[arg-type]
        smallest, least = differential, pure
        if (
            differential is not None and pure is not None and differential is not pure
        ):  # as :meth:`_bounded_losses` has them
            smallest = min(differential, pure, key=lambda each: (each.epsilon, each.delta))
            least = pure if differential.delta or pure.epsilon < differential.epsilon else differential
        vars(found).update(
            differential=smallest,
            pure=least,
            zcdp=concentrated,
            promises_replacement=replaced is not None,
            zero_knowledge=knowledge,
            crowd_blending=crowds,
            curve=curve,
            _comes_or_goes=self._comes_or_goes,
        )
        return found

    @cached_property
    def joint_loss(self) -> JointLoss | None:
        """What its counts lose on one sample of a network."""
        return None if self.sampled is None else self.sampled.loss

    def about(self, promise: Guarantee) -> People:
        """Whom one of its promises is about."""
        crowds = isinstance(promise, CrowdBlending | OutlierKind)
        return replace(self.people, whose=Whose.KEPT_ROWS) if self.kept_rows and crowds else self.people

    @cached_property
    def on_no_partition(self) -> Charge:
        """The same, where it does not matter on which partition."""
        return replace(self, partition=None)

    @cached_property
    def differential(self) -> DifferentialPrivacy | None:
        """The smallest loss under the relation that its people have (add/remove in a table), if it is finite."""
        return min(self._bounded_losses(), key=lambda each: (each.epsilon, each.delta), default=None)

    @cached_property
    def pure(self) -> DifferentialPrivacy | None:
        """The smallest loss with delta 0."""
        return min(
            (each for each in self._bounded_losses() if not each.delta), key=lambda each: each.epsilon, default=None
        )

    @cached_property
    def beside_crowds(self) -> DifferentialPrivacy | None:
        """What it promises beside crowds (Proposition 8): without a delta, or by Gaussian noise with one."""
        return self.pure or (self.differential if self.zcdp is not None else None)

    @cached_property
    def promises_replacement(self) -> bool:
        """Whether a promise is about one person of the table replaced, who may not come or go: N is then public."""
        return self._comes_or_goes and any(
            isinstance(each, DifferentialPrivacy) and each.neighbours is Neighbours.REPLACE for each in self.promises
        )

    @cached_property
    def replacement_loss(self) -> DifferentialPrivacy | None:
        """The smallest loss when one person of the table is replaced; None in a graph, where that is the relation
        already."""
        found = self.replaced_by(state_promise)
        return None if found is None else found.concluding(DifferentialPrivacy, found.theorem)

    @cached_property
    def loses_if_replaced(self) -> bool:
        """Whether that is known, without working it out."""
        return self._comes_or_goes and (self._is_swappable or bool(self._replaceable()))

    def replaced_by(self, leaf: Callable[[Guarantee], Derivation]) -> Derivation | None:
        """How that follows, `leaf` being a promise as a derivation.

        Guarantee: as promised, or by two steps of add/remove, or, with the person's row blanked in between, by two of
        zero-knowledge privacy (Proposition 7); with Gaussian noise by what the one moves less what the other does.
        """
        if not self._comes_or_goes:
            return None
        steps = [] if (swap := self._swap_step(leaf)) is None else [swap]
        steps += [_to_replace(leaf(each)) for each in self._replaceable()]
        return min(steps, key=_loss, default=None)

    def _replaceable(self) -> list[DifferentialPrivacy | ZeroKnowledge]:
        kinds = DifferentialPrivacy | ZeroKnowledge
        return [each for each in self.promises if isinstance(each, kinds) and not isinstance(each.epsilon, Infinite)]

    @property
    def _is_swappable(self) -> bool:
        own = self.differential
        return bool(self.noises) and own is not None and self.zero_knowledge is None and 0 < own.delta < 1

    def _swap_step(self, leaf: Callable[[Guarantee], Derivation]) -> Derivation | None:
        """One person replaced, under Gaussian noise on the table itself, with the delta that is promised already."""
        own = self.differential
        if own is None or not self._is_swappable:
            return None
        total = gaussian_total(noise.under_replacement() for noise in self.noises)
        epsilon = total.epsilon_at(own.delta)
        return leaf(own).then(
            SWAPPED,
            DifferentialPrivacy(epsilon=epsilon, delta=own.delta, neighbours=Neighbours.REPLACE),
            numbers=texts(rho=total.rho, moved=total.moved, epsilon_out=epsilon, delta_out=own.delta),
        )

    @cached_property
    def accountant(self) -> Accountant | None:
        """The pair of laws that dominates it under the relation of its people; None where no loss is bounded.

        Guarantee: Gaussian noise on the table is Lemma C's pair, Gaussian noise on a fresh sample the exact one where a
        person moves numbers by ones; everything else is the coin of its epsilon and delta.
        """
        inner, rate = self.on_sample or (self.differential, Fraction(1))
        if inner is None or isinstance(inner.epsilon, Infinite) or inner.delta >= 1:
            return None
        relation = self.people.neighbours
        if self.noises and self.zero_knowledge is None:
            return of_noises(self.noises, relation)
        if rate < 1 and len(self.noises) == 1 and (ones := self.noises[0].most_ones) is not None:
            noise = self.noises[0]
            if ones * noise.s2 <= WIDEST_TABULATED:
                return of_pair(SampledGaussianPair(s2=noise.s2, moved=ones, rate=rate), relation)
        return of_pair(RandomizedResponsePair(epsilon=inner.epsilon, delta=inner.delta, rate=rate), relation)

    @cached_property
    def replaced_accountant(self) -> Accountant | None:
        """The same for one person of the table replaced; None in a graph, where that is the relation already.

        Guarantee: of Gaussian noise the pair of the difference of two people, root two as far apart where they move
        numbers upwards only; else the coin of what is lost when one is replaced.
        """
        replaced = self.replacement_loss
        if replaced is None or isinstance(replaced.epsilon, Infinite) or replaced.delta >= 1:
            return None
        if self.noises and self.zero_knowledge is None:
            return of_noises((noise.under_replacement() for noise in self.noises), Neighbours.REPLACE)
        pair = RandomizedResponsePair(epsilon=replaced.epsilon, delta=replaced.delta)
        return of_pair(pair, Neighbours.REPLACE)

    @cached_property
    def zcdp(self) -> ConcentratedPrivacy | None:
        """Its zCDP, as promised."""
        return next(
            (
                each
                for each in self.promises
                if isinstance(each, ConcentratedPrivacy) and each.neighbours is self.people.neighbours
            ),
            None,
        )

    @cached_property
    def as_concentrated(self) -> ConcentratedPrivacy | None:
        """Its zCDP: as promised, or that of differential privacy without a delta."""
        if self.zcdp is not None or self.pure is None:
            return self.zcdp
        step = differential_to_concentrated(state_promise(self.pure))
        return step.concluding(ConcentratedPrivacy, step.theorem)

    @cached_property
    def swap_loss(self) -> DifferentialPrivacy | None:
        """What replacing one person loses, for crowds beside it: two steps, or what is known of Gaussian noise."""
        if self.beside_crowds is None:
            return None
        if self.pure is not None:
            return DifferentialPrivacy(epsilon=times(self.pure.epsilon, 2), neighbours=Neighbours.REPLACE)
        return self.replacement_loss

    @cached_property
    def _comes_or_goes(self) -> bool:
        return self.people.neighbours is Neighbours.ADD_REMOVE

    def _bounded_losses(self) -> list[DifferentialPrivacy]:
        return [
            each
            for each in self.promises
            if isinstance(each, DifferentialPrivacy)
            and each.neighbours is self.people.neighbours
            and not isinstance(each.epsilon, Infinite)
        ]

    @cached_property
    def on_sample(self) -> tuple[DifferentialPrivacy, Fraction] | None:
        """What ran on a fresh secret sample and the sample's rate, if that is what makes the smallest loss."""
        knowledge, smallest = self.zero_knowledge, self.differential
        if knowledge is None or smallest is None or not isinstance(knowledge.aggregate, BernoulliSample):
            return None
        rate = knowledge.aggregate.p
        for each in self._bounded_losses():
            if each.group == 1 and (subsampled_loss(each.epsilon, rate), rate * each.delta) == (
                smallest.epsilon,
                smallest.delta,
            ):
                return each, rate
        return None

    @cached_property
    def zero_knowledge(self) -> ZeroKnowledge | None:
        return next((each for each in self.promises if isinstance(each, ZeroKnowledge)), None)

    @cached_property
    def crowd_blending(self) -> CrowdBlending | None:
        return next((each for each in self.promises if isinstance(each, CrowdBlending)), None)

    @cached_property
    def curve(self) -> OutlierKind | None:
        return next((each for each in self.promises if isinstance(each, OutlierKind)), None)


def _each_once(promises: Iterable[Guarantee | None]) -> tuple[Guarantee, ...]:
    """Those that are there, each once; they are few, and long numbers are sooner compared than hashed."""
    found: list[Guarantee] = []
    for each in promises:
        if each is not None and each not in found:
            found.append(each)
    return tuple(found)


def _to_replace(step: Derivation) -> Derivation:
    """Differential privacy for one person replaced, by the theorem that leads there."""
    if isinstance(step.conclusion, ZeroKnowledge):
        return zero_knowledge_to_differential(step)
    return step if step.conclusion.neighbours is Neighbours.REPLACE else add_remove_to_replace(step)


def _loss(step: Derivation) -> tuple[Loss, Fraction]:
    private = step.concluding(DifferentialPrivacy, step.theorem)
    return private.epsilon, private.delta


def charge(bound: Bound) -> Charge:
    """What a release asks of the ledger.

    Guarantee: every promise in it, but those that say they are about one person replaced, holds for adding or removing
    one person of the table (with `kept_rows`, those to crowds for the table of kept rows alone), whatever was declared
    about how the table was collected; for a graph, for other edges of one vertex, or for one edge more or less, as its
    people say. A promise that compares unlike numbers of people is refused where one number is enforced.
    """
    spec, promises, composition = bound.spec, bound.table_promises, bound.composition
    check_number((step.conclusion for step in promises), spec.enforced_number)
    return Charge(
        what=bound.description.entry,
        promises=tuple(step.conclusion for step in promises),
        partition=composition.partition,
        kept_rows=any(step.people is not None and step.people.whose is Whose.KEPT_ROWS for step in promises),
        collected=composition.collected,
        at_delta=composition.at_delta,
        people=spec.people,
        exact_crowds=composition.exact_crowds,
        noises=composition.noises,
        declared_unique=any(DECLARED_UNIQUE in step.assumption_ids() for step in promises),
        sampled=composition.sampled,
    )
