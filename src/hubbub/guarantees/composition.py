"""Several releases about the same people, taken as one.

Each function is a theorem about the mechanism that publishes all of them; what does not compose is refused, with
what holds instead. `compose` picks the theorem for two releases and refuses what it does not understand.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import NoReturn

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.aggregates import (
    Aggregate,
    BernoulliSample,
    ExplorationSample,
    IndependentSample,
    NeighbourhoodSample,
    RandomSample,
    RobustSample,
    TwoSamples,
    robust,
)
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import (
    CrowdBlending,
    DifferentialPrivacy,
    Neighbours,
    OutlierKind,
    OutlierPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import DMNS, GHLP, GLP, HERE, LUI_PASS, Assumption, Derivation, Theorem, texts
from hubbub.guarantees.indistinguishability import chain_losses, total, total_delta
from hubbub.guarantees.neighbours import one_relation
from hubbub.numeric.exact import Loss, rounded

_LONG = 1 << 11  # bits of a denominator
_DIGITS = 60
_NOBODY = Fraction(1, 10**500)

INDEPENDENT = Assumption("independent", "the releases draw their noise independently of each other")
FRESH_SAMPLES = Assumption(
    "independent-samples", "the releases draw their randomness, samples included, independently of each other"
)
ONE_PARTITION = Assumption(
    "one-partition",
    "every release publishes each bin of one and the same public partition by itself, so that people are "
    "interchangeable in all of them exactly when they share a bin",
)
EXACT_CROWDS = Assumption(
    "exact-crowds",
    "people who blend in the crowd-blending release are exactly interchangeable there (one bin of a partition)",
)

WAYS_OUT = (
    "publish a function of the first release; or make the second differentially private (Proposition 8); or draw "
    "a fresh secret sample for each, since zero-knowledge privacy composes; or publish both as one cube through "
    "their common refinement"
)
"""What to do instead of composing two crowd-blending releases."""


PROPOSITION_7 = Theorem("together.crowd-blending", "Proposition 7", GHLP)


def _several(derivations: tuple[Derivation, ...], theorem: Theorem) -> None:
    if len(derivations) < 2:
        raise WrongUse(f"{theorem} is about at least two releases, and {len(derivations)} was given; give them all")


def differential(*derivations: Derivation) -> Derivation:
    """Sequential composition of differential privacy: epsilons and deltas add up.

    Guarantee: if M_j is (epsilon_j, delta_j)-DP, all under the same neighbours, each possibly chosen after seeing the
    earlier ones, then publishing all of them is (sum of epsilon_j, sum of delta_j)-DP, for the smallest group of any.
    """
    theorem = Theorem("together.differential", "Basic composition (differential)", DMNS)
    _several(derivations, theorem)
    given = [premise.concluding(DifferentialPrivacy, theorem) for premise in derivations]
    neighbours = one_relation(given, theorem)
    epsilon, delta = total(each.epsilon for each in given), total_delta(each.delta for each in given)
    return Derivation(
        conclusion=DifferentialPrivacy(
            epsilon=epsilon, delta=delta, neighbours=neighbours, group=min(each.group for each in given)
        ),
        theorem=theorem,
        premises=derivations,
        numbers=texts(releases=len(given), epsilon_out=epsilon, delta_out=delta),
        assumptions=(INDEPENDENT,),
    )


def zero_knowledge(*derivations: Derivation) -> Derivation:
    """Sequential composition of zero-knowledge privacy: losses add up, and the simulator knows both aggregates.

    Guarantee: if M_j is (epsilon_j, delta_j)-ZK with respect to a class A_j, each possibly chosen after seeing the
    earlier ones and with its own randomness, then publishing all of them is (sum of epsilon_j, sum of delta_j)-ZK with
    respect to the class that can draw all samples: RS(min(n, k_1 + k_2)), iRS(1 - (1 - p_1)(1 - p_2)),
    RSE(k_1 + k_2, max s), RSN(k_1 + k_2, max radius), or iRS and RS together where there are both (Proposition 2,
    capped at n; iRS proved here, at :func:`both`).
    """
    theorem = Theorem("together.zero-knowledge", "Proposition 2 (zero-knowledge)", f"{GLP}; {HERE}")
    _several(derivations, theorem)
    given = [premise.concluding(ZeroKnowledge, theorem) for premise in derivations]
    found = zero_knowledge_sum(given)
    numbers = texts(releases=len(given), epsilon_out=found.epsilon, delta_out=found.delta)
    return Derivation(
        conclusion=found,
        theorem=theorem,
        premises=derivations,
        numbers=(*numbers, ("aggregate_out", str(found.aggregate))),
        assumptions=(FRESH_SAMPLES,),
    )


def zero_knowledge_sum(given: Sequence[ZeroKnowledge]) -> ZeroKnowledge:
    """The conclusion of :func:`zero_knowledge` for promises about the same people.

    Guarantee: as there; the caller sees to it that they are about the same people.
    """
    return ZeroKnowledge(
        epsilon=total(each.epsilon for each in given),
        delta=total_delta(each.delta for each in given),
        aggregate=reduce(both, (each.aggregate for each in given)),
        group=min(each.group for each in given),
    )


def both(first: Aggregate, second: Aggregate) -> Aggregate:
    """A class that can draw a sample of the first and, independently, one of the second.

    Guarantee: from k_1 + k_2 distinct rows two independent samples are made by drawing their overlap from its
    hypergeometric law (all rows once k_1 + k_2 >= n). From people chosen independently with probability
    1 - (1 - p_1)(1 - p_2), two independent choices are made by tossing, for each person chosen, which of the two
    (or both) chose them; whoever may choose with a higher probability can do that too, so one of very many digits is
    rounded up. One of each kind is the class that draws both. RSE(k, 1) sees those who were drawn and nobody else, which
    RSN(k, radius) sees too. Other pairs are refused.
    """
    one, two = _parts(first), _parts(second)
    if one is None or two is None:
        match first, second:
            case ExplorationSample(), ExplorationSample():
                return ExplorationSample(k=first.k + second.k, s=max(first.s, second.s))
            case NeighbourhoodSample(), NeighbourhoodSample():
                return NeighbourhoodSample(k=first.k + second.k, radius=max(first.radius, second.radius))
            case (NeighbourhoodSample() as near, ExplorationSample(s=1) as drawn) | (
                ExplorationSample(s=1) as drawn,
                NeighbourhoodSample() as near,
            ):
                return NeighbourhoodSample(k=near.k + drawn.k, radius=near.radius)
            case _:
                raise Refused(f"no class is known that draws both {first} and {second}; sample both releases alike")
    each, some = _union_of_people(one[0], two[0]), _union_of_rows(one[1], two[1])
    if each is not None and some is not None:
        return TwoSamples(each=each, some=some)
    found = some if each is None else each
    assert found is not None
    return found


def _parts(aggregate: Aggregate) -> tuple[IndependentSample | None, RandomSample | None] | None:
    """What is chosen person by person, and what is drawn of the rows; None for graphs."""
    match aggregate:
        case BernoulliSample() | RobustSample():
            return aggregate, None
        case RandomSample():
            return None, aggregate
        case TwoSamples(each=each, some=some):
            return each, some
        case _:
            return None


def _union_of_rows(first: RandomSample | None, second: RandomSample | None) -> RandomSample | None:
    if first is None or second is None:
        return second if first is None else first
    if None not in (first.n, second.n) and first.n != second.n:
        raise Refused(f"{first} and {second} are samples of different data sets; compose releases of one")
    n, k = first.n if first.n is not None else second.n, first.k + second.k
    return RandomSample(k=k if n is None else min(k, n), n=n)


def _union_of_people(first: IndependentSample | None, second: IndependentSample | None) -> IndependentSample | None:
    if first is None or second is None:
        return second if first is None else first
    if isinstance(first, BernoulliSample) and isinstance(second, BernoulliSample):
        return BernoulliSample(p=_either(first.p, second.p))
    one, two = robust(first), robust(second)
    return RobustSample(
        low=Fraction(0),  # whoever may thin has no lower limit: it is the same class
        high=_either(one.high, two.high),
        highest=_either(one.highest, two.highest),
        exempt=one.exempt + two.exempt,
    )


def _either(first: Fraction, second: Fraction) -> Fraction:
    """1 - (1 - first)(1 - second), or a little more if that has very many digits."""
    spared = (1 - first) * (1 - second)
    if spared.denominator.bit_length() > _LONG:
        spared = rounded(spared, up=False, digits=_DIGITS)
        if spared < _NOBODY:
            return Fraction(1)
    return 1 - spared


def zero_knowledge_same_sample(*derivations: Derivation, k: int, n: int) -> Derivation:
    """Several mechanisms on one secret sample: compose inside, then sample once.

    Guarantee: if M_j is (epsilon_j, delta_j)-DP under replacement and symmetric, then all of them on one sample of k of
    n rows are (ln(1 + p (e^(sum of epsilon_j) - 1)), p sum of delta_j)-ZK with respect to RS(k), p = k/n: k does
    not grow (composition inside the sample, then Theorem A1). Fresh samples lose less epsilon and need a larger k.
    """
    from hubbub.guarantees.implications import sanitize_sample

    return sanitize_sample(differential(*derivations), k=k, n=n)


def outlier_same_partition(*derivations: Derivation) -> Derivation:
    """Composition of outlier privacy on one partition: the curves add up.

    Guarantee: if M_j is (epsilon_j(.), delta_j)-outlier private, or (epsilon_j, delta_j)-DP under add/remove, and all
    publish each bin of one public partition by itself, then publishing all of them is outlier private with the curve
    sum of epsilon_j(.) and the sum of delta_j: everybody stands in the same crowd each time. On different partitions
    this is false.
    """
    from hubbub.guarantees.implications import differential_to_outlier, to_outlier

    theorem = Theorem(
        "together.outlier-same-partition", "Composition on one partition (outlier)", f"{LUI_PASS}; {HERE}"
    )
    _several(derivations, theorem)
    steps = tuple(
        differential_to_outlier(premise) if isinstance(premise.conclusion, DifferentialPrivacy) else to_outlier(premise)
        for premise in derivations
    )
    given = [step.concluding(OutlierPrivacy, theorem) for step in steps]
    curve = given[0].curve
    for each in given[1:]:
        curve = curve + each.curve
    delta = total_delta(each.delta for each in given)
    return Derivation(
        conclusion=OutlierPrivacy(curve=curve, delta=delta),
        theorem=theorem,
        premises=steps,
        numbers=(*texts(releases=len(given), delta_out=delta), ("curve_out", str(curve))),
        assumptions=(ONE_PARTITION, INDEPENDENT),
    )


def person_by_person(*derivations: Derivation) -> Derivation:
    """Outlier privacy on several partitions: each person's losses add up, and everybody loses at most the sum of suprema.

    Guarantee: if M_j is (epsilon_j(.), delta_j)-outlier private, or (epsilon_j, delta_j)-DP under add/remove, each
    publishing every bin of a public partition of its own, then removing a person who stands in crowds of c_1, c_2, ...
    changes all of it together by at most (sum of epsilon_j(c_j), sum of delta_j). In particular all of
    it is outlier private with the constant curve sum of sup epsilon_j: infinite if a curve is unbounded.
    """
    from hubbub.guarantees.implications import differential_to_outlier, to_outlier

    theorem = Theorem("together.person-by-person", "Composition person by person (outlier)", f"{LUI_PASS}; {HERE}")
    _several(derivations, theorem)
    steps = tuple(
        differential_to_outlier(premise) if isinstance(premise.conclusion, DifferentialPrivacy) else to_outlier(premise)
        for premise in derivations
    )
    given = [step.concluding(OutlierPrivacy, theorem) for step in steps]
    top, delta = total(each.curve.limit for each in given), total_delta(each.delta for each in given)
    return Derivation(
        conclusion=OutlierPrivacy(curve=flat(top), delta=delta),
        theorem=theorem,
        premises=steps,
        numbers=texts(releases=len(given), top_out=top, delta_out=delta),
        assumptions=(INDEPENDENT,),
    )


def outlier_different_partitions(first: Derivation, second: Derivation) -> NoReturn:
    """Always refused.

    Guarantee: none. Whoever has few equals in the pair may have many in each release, and is then owed the small loss
    of the few while each release spends the large loss of the many. What holds: a person in a crowd of c_1 in the
    first and c_2 in the second loses at most epsilon_1(c_1) + epsilon_2(c_2), which is no function of one crowd.
    """
    raise Refused(
        f"{first.conclusion} and {second.conclusion} are not known to be on one partition, and then outlier privacy "
        "does not compose: a person in crowds of c1 and c2 loses up to epsilon1(c1) + epsilon2(c2), which is no curve "
        "of one crowd; publish both on their common refinement (same_partition), or bring both to differential privacy"
    )


def crowd_blending(first: Derivation, second: Derivation) -> NoReturn:
    """Always refused.

    Guarantee: none. Proposition 7: k people of kind 1, one of kind 2 and k of kind 3, counted exactly from k on by
    {1, 2}, {3} and again by {1}, {2, 3}. Each table is (k, epsilon)-crowd-blending; in the pair the one of kind 2
    blends with nobody else and is missed at once, so it is not (2, epsilon')-crowd-blending for any epsilon'.
    """
    one, two = (each.concluding(CrowdBlending, PROPOSITION_7) for each in (first, second))
    k = max(one.k, two.k)
    raise Refused(
        f"{one} and {two} do not compose (Proposition 7): with {k} people of kind 1, one of kind 2 and {k} of kind 3, "
        "the tables by {1,2},{3} and by {1},{2,3} are crowd-blending each, and together show whether the one of kind 2 "
        f"is there; {WAYS_OUT}"
    )


def crowd_blending_same_partition(*derivations: Derivation) -> Derivation:
    """Crowd-blending releases of one partition: the smallest crowd, and the losses add up.

    Guarantee: let M_j be (k_j, epsilon_j, delta_j)-crowd-blending such that whoever blends there does so with the people
    of their own bin (`EXACT_CROWDS`), and let all of them see one table through the counts of one public partition alone.
    Then publishing all of them is (k, sum of epsilon_j, sum of delta_j)-crowd-blending with k the smallest k_j. Proof:
    exchanging two people of a bin changes no count, so who has at least k in their bin blends with them, exactly. Who
    has fewer blends in no M_j; each then leaves them out at (epsilon_j, delta_j), and that adds up. Without
    `EXACT_CROWDS` it is false: Proposition 7 is on the common refinement of its two tables.
    """
    theorem = Theorem(
        "together.crowd-blending-same-partition", "Composition on one partition (crowd-blending)", f"{GHLP}; {HERE}"
    )
    _several(derivations, theorem)
    found = crowd_blending_sum([premise.concluding(CrowdBlending, theorem) for premise in derivations])
    return Derivation(
        conclusion=found,
        theorem=theorem,
        premises=derivations,
        numbers=texts(releases=len(derivations), k_out=found.k, epsilon_out=found.epsilon, delta_out=found.delta),
        assumptions=(ONE_PARTITION, EXACT_CROWDS, INDEPENDENT),
    )


def crowd_blending_sum(given: Sequence[CrowdBlending]) -> CrowdBlending:
    """The conclusion of :func:`crowd_blending_same_partition` for promises about the same people.

    Guarantee: as there; the caller sees to it that they are about the same people and on one partition.
    """
    return CrowdBlending(
        k=min(each.k for each in given),
        epsilon=total(each.epsilon for each in given),
        delta=total_delta(each.delta for each in given),
    )


def crowd_blending_with_differential(
    blending: Derivation,
    private: Derivation,
    *,
    exact_crowds: bool = False,
    swapped: tuple[Loss, Fraction] | None = None,
) -> Derivation:
    """A crowd-blending release followed by differentially private ones (Proposition 8).

    Guarantee: if M_1 is (k, epsilon_1)-crowd-blending and M_2 is epsilon_2-DP under add/remove, then publishing both is
    (k, epsilon_1 + 2 epsilon_2)-crowd-blending (Proposition 8; the 2 cannot be lowered: to swap two people is to remove
    one and add one). If crowds in M_1 are exact, (k, max(2 epsilon_2, epsilon_1 + epsilon_2)) (its proof). With deltas:
    if replacing one person changes M_2 by at most `swapped` = (e, d), two steps unless given (Gaussian noise: its pair
    of v - v'), exchanging two people of a crowd changes both by (epsilon_1 + e, delta_1 + d), of an exact crowd by
    (e, d), and leaving one out by (epsilon_1 + epsilon_2, delta_1 + delta_2).
    """
    theorem = Theorem(
        "together.crowd-blending-with-differential",
        "Proposition 8 (crowd-blending with differential)",
        f"{GHLP}; exact crowds {HERE}" if exact_crowds else GHLP,
    )
    one, two = blending.concluding(CrowdBlending, theorem), private.concluding(DifferentialPrivacy, theorem)
    if two.neighbours is not Neighbours.ADD_REMOVE:
        raise Refused(f"{theorem} needs differential privacy under add/remove beside it, and was given {two}")
    swap, swap_delta = chain_losses(two.epsilon, two.delta, 2) if swapped is None else swapped
    leave, leave_delta = one.epsilon + two.epsilon, total_delta((one.delta, two.delta))
    epsilon = max(swap, leave) if exact_crowds else max(one.epsilon + swap, leave)
    exchanged = swap_delta if exact_crowds else total_delta((one.delta, swap_delta))
    delta = max(exchanged, leave_delta)
    deltas = texts(delta_1=one.delta, delta_2=two.delta, swap_delta=swap_delta, delta_out=delta) if delta else ()
    return Derivation(
        conclusion=CrowdBlending(k=one.k, epsilon=epsilon, delta=delta),
        theorem=theorem,
        premises=(blending, private),
        numbers=(
            *texts(k=one.k, epsilon_1=one.epsilon, epsilon_2=two.epsilon),
            *(texts(swap=swap) if swapped is not None and delta else ()),
            *deltas,
            *texts(epsilon_out=epsilon),
        ),
        assumptions=(INDEPENDENT, EXACT_CROWDS) if exact_crowds else (INDEPENDENT,),
    )


def compose(first: Derivation, second: Derivation, *, same_partition: bool = False) -> Derivation:
    """Two releases about the same people, as one.

    Guarantee: the conclusion is that of the one theorem above that fits the two conclusions, in either order;
    outlier privacy and two crowd-blending releases need `same_partition`, declared by whoever knows the bins. Every
    other pair is refused.
    """
    match first.conclusion, second.conclusion:
        case DifferentialPrivacy(), DifferentialPrivacy():
            return differential(first, second)
        case ZeroKnowledge(), ZeroKnowledge():
            return zero_knowledge(first, second)
        case CrowdBlending(), CrowdBlending():
            if same_partition:
                return crowd_blending_same_partition(first, second)
            crowd_blending(first, second)
        case CrowdBlending(), DifferentialPrivacy():
            return crowd_blending_with_differential(first, second)
        case DifferentialPrivacy(), CrowdBlending():
            return crowd_blending_with_differential(second, first)
        case a, b if _is_curved(a, b):
            if same_partition:
                return outlier_same_partition(first, second)
            outlier_different_partitions(first, second)
        case a, b:
            raise Refused(
                f"no theorem composes {a} with {b}; derive one notion for both first, such as differential privacy "
                "from zero-knowledge or from a bounded curve"
            )


def _is_curved(first: object, second: object) -> bool:
    curved = isinstance(first, OutlierKind), isinstance(second, OutlierKind)
    private = isinstance(first, DifferentialPrivacy), isinstance(second, DifferentialPrivacy)
    return any(curved) and all(c or p for c, p in zip(curved, private, strict=True))
