"""What several releases about the same people promise together, notion by notion.

::

    differential      losses add; at a delta, many of them to less than their sum, however each was chosen
    planned           the same by the exact law of all losses, if the noise of each was fixed beforehand
    concentrated      rho adds, where some release has Gaussian noise and the others no delta
    replaced          the same for one person replaced: releases that take the number of people for public join in
    zero-knowledge    losses add and the samples grow (fresh ones); or one sample serves releases of one network; or, on
                      one collected sample, once for all of them
    crowd-blending    releases of one partition, and beside them only what is differentially private (Proposition 8)
    outlier           on one partition curves add; on several, person by person

A release may follow others if one of these still says something about everybody. What no theorem covers is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, reduce

from hubbub.errors import Refused
from hubbub.guarantees import composition
from hubbub.guarantees.accountant import advanced_composition
from hubbub.guarantees.accountant.accountant import Accountant, differential_exactly
from hubbub.guarantees.accountant.concentrated import compose_concentrated
from hubbub.guarantees.accountant.sampled_counts import (
    ONE_AFTER_ANOTHER,
    JointLoss,
    SampledCounts,
    one_after_another,
)
from hubbub.guarantees.curve import Curve, flat
from hubbub.guarantees.definitions import (
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    Neighbours,
    OutlierKind,
    OutlierPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import Assumption, Derivation, Theorem, state_promise
from hubbub.guarantees.implications import add_remove_to_replace
from hubbub.guarantees.indistinguishability import ZERO, chain_losses, total, total_delta
from hubbub.guarantees.people import People, Whose
from hubbub.guarantees.survey import PoissonSurvey, promise_to_population
from hubbub.ledger.charge import Charge
from hubbub.numeric.exact import INFINITY, Infinite, Loss, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import line

_NOT_TO_LEAVE = "it for one person replaced alone, since the number of people is enforced"
_KEPT = "release {} promises it for one row of each person, chosen anew each time"
_WITH_EPSILON = DifferentialPrivacy | ZeroKnowledge | CrowdBlending
ADAPTIVE_DELTA = Fraction(1, 10**9)
"""Fixed beforehand, as fully adaptive composition asks; no release may move it."""
UNCHANGED = Assumption("unchanged", "the table did not change between the releases")


@dataclass(frozen=True, kw_only=True)
class Entered:
    """A charge with its number in the ledger."""

    number: int
    charge: Charge
    grown: tuple[Fraction, ...] = ()  # of a stand-in for several: the sums of their growths
    pairs: Accountant | None = None  # of a stand-in: their pairs
    replaced_pairs: Accountant | None = None  # of a stand-in: those for one person replaced
    swap: DifferentialPrivacy | None = None  # of a stand-in: the sums of what replacing one person loses
    rhos: Fraction | None = None  # of a stand-in: the sum of their zCDP
    joint: JointLoss | None = None  # of a stand-in for releases that one sample serves: the sums of their losses

    @property
    def accountant(self) -> Accountant | None:
        """The accountant of its dominating pairs; None if no loss is bounded."""
        return self.pairs or self.charge.accountant

    @property
    def replaced_accountant(self) -> Accountant | None:
        """The same for one person replaced."""
        return self.replaced_pairs or self.charge.replaced_accountant

    @property
    def swap_loss(self) -> DifferentialPrivacy | None:
        """What replacing one person loses, for crowds beside it."""
        return self.charge.swap_loss if self.swap is None else self.swap

    @property
    def zcdp(self) -> ConcentratedPrivacy | None:
        """Its zCDP."""
        if self.rhos is None:
            return self.charge.as_concentrated
        return ConcentratedPrivacy(rho=self.rhos, neighbours=self.charge.people.neighbours)

    @property
    def rho(self) -> Fraction | None:
        """The number in it."""
        own = self.charge.as_concentrated if self.rhos is None else None
        return self.rhos if own is None else own.rho

    @property
    def sample(self) -> SampledCounts | None:
        """The sample of a network that tells its counts, where a ledger settled which one."""
        return None if self.charge.sampled is None or not self.charge.sampled.sample else self.charge.sampled

    @property
    def joint_loss(self) -> JointLoss | None:
        """What its counts lose on that sample."""
        return self.joint if self.joint is not None or self.sample is None else self.charge.joint_loss

    @cached_property
    def line(self) -> str:
        """It as exact JSON on one line. Most stand-ins of a total are those of the total before."""
        return line(self)

    def growths(self) -> tuple[Fraction, ...]:
        """The log moments that fully adaptive composition adds up."""
        if self.grown or self.accountant is None:
            return self.grown
        return self.accountant.growths()

    def step(self, promise: Guarantee) -> Derivation:
        """A promise of this release, as the leaf of a derivation."""
        named = Theorem("release", f"release {self.number}", "its certificate")
        return state_promise(promise, theorem=named, people=self.charge.about(promise))

    def step_of(self, promise: Guarantee | None) -> Derivation | None:
        """The same of a promise that it may not make."""
        return None if promise is None else self.step(promise)


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """What all releases promise together under one notion, or why they promise nothing under it."""

    derivation: Derivation | None = None
    why: str = ""

    @property
    def guarantee(self) -> Guarantee | None:
        return None if self.derivation is None else self.derivation.conclusion


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """All releases by the exact law of their losses, at whatever delta, if the noise of each was fixed beforehand."""

    accountant: Accountant | None = None
    steps: tuple[Derivation, ...] = ()
    why: str = ""

    def at(self, delta: Fraction) -> Total:
        """The total at this delta."""
        if self.accountant is None:
            return Total(why=self.why)
        try:
            return Total(derivation=differential_exactly(self.accountant, *self.steps, at_delta=delta))
        except Refused as refused:
            return Total(why=str(refused))


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderCap:
    """All releases under a cap that was fixed before the first of them, each chosen on the way."""

    steps: tuple[Derivation, ...] = ()
    grown: tuple[Fraction, ...] = ()
    basic: Loss = ZERO
    own_delta: Fraction | None = None

    def at(self, cap: Fraction, delta: Fraction) -> Total:
        """The total under such a cap on epsilon, at this delta of the filter.

        Guarantee: that of a privacy filter which fully adaptive composition, at :data:`ADAPTIVE_DELTA`, may overrule.
        """
        if not self.steps or delta <= 0:
            return Total(why="there is no room for it at that delta")
        found = advanced_composition.differential_under_cap(
            *self.steps,
            grown=self.grown,
            basic=self.basic,
            cap=cap,
            at_delta=delta,
            more_delta=ADAPTIVE_DELTA,
            own_delta=self.own_delta,
        )
        return _total(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What all releases promise together, under each notion of privacy."""

    differential: Total
    zero_knowledge: Total
    crowd_blending: Total
    outlier: Total
    adaptive: Total  # differential privacy at a delta, where that is less than the sum
    under_cap: UnderCap  # the same under a cap that was fixed beforehand
    replaced: Total  # differential privacy for one person replaced: two steps of one more or less, where all have that
    concentrated: Total  # zCDP: adds up without a delta
    planned: Planned  # differential privacy at any delta, if the noise of each was fixed beforehand
    planned_replaced: Planned  # the same for one person replaced
    population: Total  # of a table that was collected as a sample: differential privacy for those it was drawn from

    @property
    def holds(self) -> bool:
        """Whether some notion still promises something to everybody."""
        kinds = (self.differential, self.replaced, self.zero_knowledge, self.crowd_blending, self.outlier)
        return any(total.derivation is not None for total in kinds)

    @property
    def smallest_loss(self) -> Loss | None:
        """The smallest epsilon under which any notion says something about all of them; None for a curve alone."""
        every = (self.differential, self.replaced, self.adaptive, self.zero_knowledge, self.crowd_blending)
        losses = [each.guarantee.epsilon for each in every if isinstance(each.guarantee, _WITH_EPSILON)]
        return None if self.outlier.derivation is not None else min(losses, default=None)


def totals(releases: Sequence[Entered]) -> Totals:
    """What holds for the people of a dataset after these releases.

    Guarantee: each derivation is a theorem of :mod:`hubbub.guarantees.composition` applied to the promises of the
    releases; where no theorem applies to all of them there is none, with the reason.
    """
    blended, losses = _crowd_blending(releases), _differential(releases)
    under_cap = _under_cap(releases, losses)
    knowledge, population = _zero_knowledge(releases), Total(why="no release declares how the table was collected")
    if any(each.charge.collected is not None for each in releases):
        through, population = _population_totals(releases, blended, losses)
        knowledge = knowledge if knowledge.derivation is not None else through
    return Totals(
        differential=losses,
        replaced=_replacement_total(releases, losses),
        adaptive=_adaptive(losses, under_cap),
        under_cap=under_cap,
        concentrated=_zcdp_total(releases),
        planned=_plan_total(
            (_steps(releases, _private_step)[0], losses.why), [(each.number, each.accountant) for each in releases]
        ),
        planned_replaced=_plan_total(
            _steps(releases, _replacement_step), [(each.number, each.replaced_accountant) for each in releases]
        ),
        zero_knowledge=knowledge,
        crowd_blending=blended,
        outlier=_outlier(releases),
        population=population,
    )


def _steps(
    releases: Sequence[Entered], step: Callable[[Entered], Derivation | None], none: str = "release {} promises none"
) -> tuple[list[Derivation], str]:
    """A step of each release, or why one of them has none."""
    found = [step(each) for each in releases]
    steps = [each for each in found if each is not None]
    if len(steps) < len(found):
        return [], none.format(releases[found.index(None)].number)
    return steps, ""


def _sum(found: tuple[list[Derivation], str], compose: Callable[..., Derivation] = composition.differential) -> Total:
    """What the steps of the releases come to together."""
    steps, why = found
    return _total(compose(*steps) if len(steps) > 1 else steps[0]) if steps else Total(why=why)


def _differential(releases: Sequence[Entered]) -> Total:
    silent = next((each for each in releases if each.charge.differential is None), None)
    fixed = silent is not None and silent.charge.promises_replacement
    none = f"release {{}} promises {_NOT_TO_LEAVE if fixed else 'none'}"
    return _sum(_steps(releases, _private_step, none))


def _private_step(release: Entered) -> Derivation | None:
    return release.step_of(release.charge.differential)


def _replacement_step(release: Entered) -> Derivation | None:
    return release.charge.replaced_by(release.step)


def _replacement_total(releases: Sequence[Entered], losses: Total) -> Total:
    """For one person replaced, the number of people being public. Where all have add/remove, which says more, it is two
    steps of that."""
    if not any(each.charge.promises_replacement for each in releases):
        loss = losses.guarantee
        if losses.derivation is None or not isinstance(loss, DifferentialPrivacy):
            return Total(why=losses.why)
        if loss.neighbours is Neighbours.REPLACE:
            return Total(why="that is what differential privacy says here")
        return _total(add_remove_to_replace(losses.derivation))
    return _sum(_steps(releases, _replacement_step))


def _adaptive(losses: Total, sums: UnderCap) -> Total:
    """What all differentially private releases lose together at a delta, each possibly chosen after seeing others."""
    if losses.derivation is None:
        return Total(why=losses.why)
    found = advanced_composition.differential_of_sums(
        *sums.steps, grown=sums.grown, basic=sums.basic, at_delta=ADAPTIVE_DELTA, own_delta=sums.own_delta
    )
    if not getattr(found.conclusion, "epsilon") < getattr(losses.guarantee, "epsilon"):  # noqa: B009
        return Total(why="so few releases lose no less at a delta than the sum")
    return _total(found)


def _under_cap(releases: Sequence[Entered], losses: Total) -> UnderCap:
    """The sums that composition adds up, where each release may be chosen after seeing others."""
    if losses.derivation is None:
        return UnderCap()
    private = [each.charge.differential for each in releases]
    steps = [each.step(promise) for each, promise in zip(releases, private, strict=True) if promise is not None]
    grown = [sum(parts, Fraction(0)) for parts in zip(*(each.growths() for each in releases), strict=True)]
    basic, own_delta = total(promise.epsilon for promise in private if promise is not None), None
    pairs = [each.accountant for each in releases]
    if any(pair is not None and isinstance(pair.basic, Infinite) for pair in pairs):  # a largest loss has only a coin
        basic, own_delta = INFINITY, total_delta(pair.infinite_mass for pair in pairs if pair is not None)
    return UnderCap(steps=tuple(steps), grown=tuple(grown), basic=basic, own_delta=own_delta)


def _plan_total(found: tuple[list[Derivation], str], pairs: Sequence[tuple[int, Accountant | None]]) -> Planned:
    """The accountant of all dominating pairs; none if a release has no bounded loss or a delta of 1."""
    steps, why = found
    several = [pair for _, pair in pairs if pair is not None]
    if steps and len(several) < len(pairs):
        why = f"release {next(number for number, pair in pairs if pair is None)} has no bounded loss"
    if why:
        return Planned(why=why)
    try:
        return Planned(accountant=reduce(Accountant.__add__, several), steps=tuple(steps))
    except Refused as refused:
        return Planned(why=str(refused))


def _zcdp_total(releases: Sequence[Entered]) -> Total:
    """The sum of the rhos, if a release has Gaussian noise; without one the sum of the epsilons is the stronger claim."""
    if all(each.charge.zcdp is None for each in releases):
        return Total(why="no release promises it")
    steps = _steps(releases, lambda each: each.step_of(each.zcdp), "release {} has a delta, and no rho")
    return _sum(steps, compose_concentrated)


def _total(derivation: Derivation, why: str = "") -> Total:
    """The conclusion of a derivation as a total; no total if its delta is 1, which promises nothing."""
    if getattr(derivation.conclusion, "delta", 0) >= 1:
        return Total(why="their deltas add up to 1, and that promises nothing")
    return Total(derivation=derivation, why=why)


def _zero_knowledge(releases: Sequence[Entered]) -> Total:
    for each in releases:
        if each.charge.zero_knowledge is None:
            return Total(why=f"release {each.number} drew no fresh secret sample")
    steps = [one_sample(*batch) for batch in _batches(releases)]
    try:
        return _total(composition.zero_knowledge(*steps) if len(steps) > 1 else steps[0])
    except Refused as refused:
        return Total(why=str(refused))


def _batches(releases: Sequence[Entered]) -> list[list[Entered]]:
    """The releases that one sample serves, in the order of the first of each batch; every other by itself."""
    found: dict[object, list[Entered]] = {}
    for i, each in enumerate(releases):
        known = each.sample
        found.setdefault(i if known is None else (known.drawn_from, known.sample), []).append(each)
    return list(found.values())


def one_sample(*batch: Entered) -> Derivation:
    """What releases promise together that one sample serves; of a single one, its promise.

    Guarantee: that of :func:`hubbub.guarantees.accountant.sampled_counts.one_after_another`, for releases whose counts,
    network, people and sample a ledger wrote down before each was drawn.
    """
    steps = [each.step(promise) for each in batch if (promise := each.charge.zero_knowledge) is not None]
    if len(batch) == 1 and batch[0].joint is None:
        return steps[0]
    samples = [each.sample for each in batch if each.sample is not None]
    return one_after_another(
        *steps, k=samples[0].k, explores=max(each.explores for each in samples), loss=_joint_loss(batch)
    )


def _joint_loss(batch: Sequence[Entered]) -> JointLoss:
    losses = [each.joint_loss for each in batch if each.joint_loss is not None]
    assert len(losses) == len(batch)
    return reduce(JointLoss.__add__, losses)


def enter_charge(earlier: Sequence[Entered], number: int, charge: Charge) -> Entered:
    """A charge with its number; of a network, with the sample that serves it: that of the last earlier releases of the
    same network, if all of them then lose no more than they and this one add up to, and else its own.

    Guarantee: the choice depends on nothing but what is public before the release is drawn, as the theorem asks
    (:mod:`hubbub.guarantees.accountant.sampled_counts`). Other networks, numbers of samples or of people, and centred
    beside not centred, never share a sample.
    """
    sampled, own = charge.sampled, charge.zero_knowledge
    if sampled is None or own is None or not sampled.network:
        return Entered(number=number, charge=replace(charge, sampled=None))
    batches: dict[int, list[Entered]] = {}
    for each in earlier:
        known = each.sample
        if known is not None and known.drawn_from == sampled.drawn_from and each.charge.people == charge.people:
            batches.setdefault(known.sample, []).append(each)
    if batches:
        latest = max(batches)
        shared = Entered(number=number, charge=replace(charge, sampled=replace(sampled, sample=latest)))
        before = one_sample(*batches[latest]).concluding(ZeroKnowledge, ONE_AFTER_ANOTHER)
        if _joint_loss([*batches[latest], shared]).epsilon <= total((before.epsilon, own.epsilon)):
            return shared
    return Entered(number=number, charge=replace(charge, sampled=replace(sampled, sample=number)))


def _crowd_blending(releases: Sequence[Entered]) -> Total:
    """Releases of one partition that are crowd-blending, and the others beside them."""
    leading = [each for each in releases if each.charge.beside_crowds is None]
    if not leading:  # all of them may stand beside crowds: the first that has some leads
        leading = [each for each in releases if each.charge.crowd_blending is not None][:1]
    promises = [promise for each in leading if (promise := each.charge.crowd_blending) is not None]
    if len(leading) > 1 and not (len(promises) == len(leading) and on_one_partition(*leading)):
        numbers = " and ".join(str(each.number) for each in leading)
        return Total(
            why=f"releases {numbers} have no pure differential privacy, and one may lack it, or several of "
            "the same bins of a table that did not change"
        )
    if not promises:
        return Total(why="no release promises it")
    kept = next((each for each in leading if each.charge.kept_rows), None)
    if kept is not None and len(releases) > 1:
        return Total(why=_KEPT.format(kept.number))
    crowds = [each.step(promise) for each, promise in zip(leading, promises, strict=True)]
    joint = crowds[0]
    if len(crowds) > 1:
        joint = composition.crowd_blending_same_partition(*crowds)
        joint = replace(joint, assumptions=(*joint.assumptions, UNCHANGED))
    beside = [each for each in releases if not any(each is other for other in leading)]
    if not beside:
        return _total(joint)
    steps = [each.step(private) for each in beside if (private := each.charge.beside_crowds) is not None]
    swaps = [each.swap_loss for each in beside]
    if any(swap is None for swap in swaps):
        return Total(why="what replacing one person loses in a release beside it is not known")
    composed = composition.crowd_blending_with_differential(
        joint,
        composition.differential(*steps) if len(steps) > 1 else steps[0],
        exact_crowds=all(each.charge.exact_crowds for each in leading),
        swapped=(
            total(swap.epsilon for swap in swaps if swap is not None),
            total_delta(swap.delta for swap in swaps if swap is not None),
        ),
    )
    return _total(composed)


def on_one_partition(*releases: Entered) -> bool:
    """Whether people blend in each release with those of their bin alone, and the bins are the same in all of them.

    Guarantee: true only where :func:`hubbub.guarantees.composition.crowd_blending_same_partition` applies. A partition
    is named by its bins and by what the table holds, or by a word of its own where that is not known.
    """
    partitions = {each.charge.partition for each in releases}
    return len(partitions) == 1 and None not in partitions and all(each.charge.exact_crowds for each in releases)


def _outlier(releases: Sequence[Entered]) -> Total:
    if not any(each.charge.curve is not None for each in releases):
        return Total(why="no release promises it")
    for each in releases:
        if each.charge.curve is None and each.charge.differential is None:
            return Total(why=f"release {each.number} promises no loss to everybody")
        if each.charge.kept_rows and len(releases) > 1:
            return Total(why=_KEPT.format(each.number))
    steps = [_curve_step(each) for each in releases]
    if len(steps) == 1:
        return _total(steps[0])
    partitions = {each.charge.partition for each in releases}
    if len(partitions) == 1 and None not in partitions:
        joint = composition.outlier_same_partition(*steps)
        return _total(replace(joint, assumptions=(*joint.assumptions, UNCHANGED)))
    return _person_by_person(releases, steps)


def _curve_step(release: Entered) -> Derivation:
    promise = release.charge.curve or release.charge.differential
    assert promise is not None
    return release.step(promise)


def _person_by_person(releases: Sequence[Entered], steps: Sequence[Derivation]) -> Total:
    """On several partitions losses add for each person, who stands in another crowd in each of them.

    At most one partition may promise nothing to large crowds: whoever stands in a large crowd of it is then still
    interchangeable there with those of the crowd. With two such partitions somebody may be in a large crowd of each
    and alone in both together, and nothing is left (Proposition 7).
    """
    curves = [curve_of(step.conclusion) for step in steps]
    endless = {
        each.charge.partition or f"release {each.number}"
        for each, curve in zip(releases, curves, strict=True)
        if isinstance(curve.limit, Infinite)
    }
    if len(endless) > 1:
        return Total(
            why="several releases, by different bins, promise nothing to large crowds, and a person in a large crowd "
            "of each may be alone in both together"
        )
    return _total(
        composition.person_by_person(*steps),
        "a person loses at most "
        + " + ".join(f"e{each.number}(c{each.number})" for each in releases)
        + ", where c is the person's crowd in each release: "
        + "; ".join(f"e{each.number} = [{curve}]" for each, curve in zip(releases, curves, strict=True))
        + (_exchange_note(steps, curves) if endless else ""),
    )


def _exchange_note(steps: Sequence[Derivation], curves: Sequence[Curve]) -> str:
    """What is left to those whose crowd is promised nothing: an exchange is one person less and one more."""
    rest = [(step, curve) for step, curve in zip(steps, curves, strict=True) if not isinstance(curve.limit, Infinite)]
    top = total(curve.limit for _, curve in rest)
    epsilon, delta = chain_losses(top, total_delta(getattr(step.conclusion, "delta", ZERO) for step, _ in rest), 2)
    pair = f"({to_text(epsilon)}, {to_text(delta)})" if delta else to_text(epsilon)
    return f"; where that is without end, exchanging two people of the same crowd there changes at most {pair}"


def curve_of(promise: Guarantee) -> Curve:
    """How much each person loses by the size of their crowd.

    Guarantee: that of the promise; of differential privacy, the same for everybody.
    """
    if isinstance(promise, OutlierPrivacy):
        return promise.curve
    if isinstance(promise, OutlierKind):
        return promise.as_outlier().curve
    return flat(getattr(promise, "epsilon"))  # noqa: B009


def _population_totals(releases: Sequence[Entered], blended: Total, losses: Total) -> tuple[Total, Total]:
    """Zero-knowledge and differential privacy for the population of which the table is a sample.

    All releases see the one sample, so they are composed first, as releases of the table, and then sampled once.
    """
    declared = {each.charge.collected for each in releases if each.charge.collected is not None}
    if len(declared) > 1:
        none = Total(why="the releases declare different ways in which the table was collected")
        return none, none
    (sample,) = declared
    if isinstance(sample, PoissonSurvey):
        return _survey_totals(releases, losses, sample)
    from hubbub.channels.sampled import collected_crowd_blending, sampled_differential

    at_delta = min(each.charge.at_delta for each in releases)
    try:
        if isinstance(blended.guarantee, CrowdBlending) and blended.derivation is not None:
            both = collected_crowd_blending(blended.derivation, sample, at_delta=at_delta, bins=len(releases) == 1)
        elif losses.derivation is not None and hasattr(sample, "p"):
            both = sampled_differential(losses.derivation, sample.p)
        else:
            why = "no theorem takes these releases together through the sample in which the table was collected"
            return Total(why=why), Total(why=why)
    except Refused as refused:
        return Total(why=str(refused)), Total(why=str(refused))
    knowledge, differential = (replace(step, people=_population(step.people)) for step in both)
    return _total(knowledge), _total(differential)


def _survey_totals(releases: Sequence[Entered], losses: Total, survey: PoissonSurvey) -> tuple[Total, Total]:
    """The same for a weighted survey: every release must be weighted, and their losses compose inside the sample."""
    other = next((each for each in releases if each.charge.collected != survey), None)
    if other is not None:
        none = Total(
            why=f"release {other.number} is not weighted by the weights of the survey, so that what it tells does not "
            "shrink where somebody stands for few"
        )
        return none, none
    if losses.derivation is None:
        return Total(why=losses.why), Total(why=losses.why)
    return Total(why="a survey with weights promises none"), _total(promise_to_population(losses.derivation, survey))


def _population(people: People | None) -> People | None:
    """The population that a table was sampled from, with the privacy unit of the table."""
    return None if people is None else replace(people, whose=Whose.POPULATION)


def admit(earlier: Sequence[Entered], new: Entered, dataset: str, *, count: int | None = None) -> Totals:
    """What holds with the new release too, or a refusal that says why nothing does and what to do instead.

    `earlier` may be stand-ins (:mod:`hubbub.ledger.running_total`) for `count` releases.

    Guarantee: a release passes only if some theorem still makes a promise to everybody about all releases of the
    dataset together; a second crowd-blending release of the same people does only on the bins of the first
    (Proposition 7).
    """
    _one_unit(earlier, new, dataset)
    totals_after = totals([*earlier, new])
    declared = {each.charge.collected for each in (*earlier, new) if each.charge.collected is not None}
    if len(declared) > 1:
        raise Refused(
            f"{dataset} was collected in one way, and this release declares another than an earlier one; declare the "
            "same, or give other people a name of their own with `dataset`"
        )
    if totals_after.holds:
        return totals_after
    crowds = [each for each in earlier if each.charge.differential is None and each.charge.zero_knowledge is None]
    fixed = new.charge.promises_replacement  # for one person replaced and no more: a number of people is enforced
    if crowds and not fixed and (new.charge.differential is None or new.charge.crowd_blending is not None):
        raise Refused(_second(crowds[0], new, dataset))
    kept = next((each for each in crowds if each.charge.kept_rows), None)
    instead = "make it differentially private without a delta (`epsilon=1`, declared bins)"
    if fixed:
        instead = (
            "leave out `people`: a number of people that is enforced shows whether somebody left, and beside crowds "
            "nobody may be missed (use `epsilon=1` alone, declared bins)"
        )
    if kept is not None:
        instead = (
            f"nothing new about the same people can follow release {kept.number}: publish a function of what is out"
        )
    raise Refused(
        f"no theorem covers this release together with the {count or len(earlier)} that {dataset} already has "
        f"(differential privacy: {totals_after.differential.why}; zero-knowledge: {totals_after.zero_knowledge.why}; "
        f"crowd-blending: {totals_after.crowd_blending.why}); {instead}, or give other people a name of their own with "
        "`dataset`"
    )


def _one_unit(earlier: Sequence[Entered], new: Entered, dataset: str) -> None:
    """Refuse promises about unlike people: a patient seen by ten doctors is in ten promises about doctors."""
    for each in earlier:
        if each.charge.people == new.charge.people:
            continue
        untouched = next((entry for entry in (each, new) if entry.charge.people.whose is Whose.KEYS), None)
        if untouched is not None:
            what = "this release" if untouched is new else f"release {each.number} of {dataset}"
            raise Refused(
                f"{what} publishes columns untouched, and no theorem covers others about the same people beside it; "
                "leave out `keep`, or give other people a name of their own with `dataset`"
            )
        was, now = (_unit(charge) for charge in (each.charge, new.charge))
        raise Refused(
            f"release {each.number} of {dataset} is about people by {was}, and this one by {now}: promises about "
            f"unlike people do not add up, because removing one person by {was} may remove many by {now}, or the other "
            f"way round; release by {was}, or give the people by {now} a name of their own with `dataset` if nobody is "
            "in both"
        )


def _unit(charge: Charge) -> str:
    return f"{charge.people.unit} of a graph" if charge.people.in_graph else charge.people.unit


def _second(first: Entered, new: Entered, dataset: str) -> str:
    if first.charge.promises_replacement:
        return (  # crowds may not follow a release that enforces the number of people
            f"{dataset} already has release {first.number} ({first.charge.what}), for which the number of people is enforced: "
            "it tells whether somebody left, and whoever is in no crowd must be able to leave unnoticed, so no theorem "
            "covers crowds beside it; make this release differentially private (`epsilon=1`), or give other people a name "
            "of their own with `dataset=NAME`"
        )
    promise = first.charge.crowd_blending
    about = "promises nothing to large crowds" if promise is None else f"is {promise}"
    beside = ""
    if promise is not None:
        loss = "max(2 E, e + E))-crowd-blending (Prop. 8, exact crowds)"
        if not first.charge.exact_crowds:
            loss = "e + 2 E)-crowd-blending (Prop. 8)"
        beside = f": with `epsilon=E` both together are (k, {loss}"
    ways: tuple[str, ...] = (
        f"publish a function of release {first.number}, such as sums of its numbers",
        f"make this release differentially private{beside}",
        "draw a fresh secret sample for each release (`sample=0.1`), since zero-knowledge privacy composes; too late "
        f"for release {first.number}, which counted everybody, but not for the next table",
        "publish both tables as one cube: a single release by all the columns of both, before either is out",
    )
    if first.charge.kept_rows:  # promised for one choice of rows, and together with nothing that comes after
        ways = (ways[0], *ways[2:])
    return (
        f"{dataset} already has release {first.number} ({first.charge.what}), which {about}. A second release that "
        "shows exact numbers of crowds of the same people, by other bins or of a table that may have changed, is refused: "
        "one can be subtracted from the other, and people "
        f"who are hidden in both come to light (Proposition 7). {'Three' if len(ways) == 3 else 'Four'} ways out:\n"
        + "".join(f"  - {way}\n" for way in ways)
        + "If these are other people, give them a name of their own with `dataset=NAME`."
    )
