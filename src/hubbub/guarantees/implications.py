"""From one notion of privacy to another: each function is a theorem, premises in, conclusion out.

Pure: nothing is run and no data is seen. What does not follow is refused with the reason, and with the witness
where there is one. Group forms stand in :mod:`hubbub.guarantees.implications`, weakenings in
:mod:`hubbub.guarantees.implications`; all of them can be imported from here.

Group privacy: what a promise to one person implies for several people who are added, removed or replaced together.

A promise to groups of g is used in blocks: c people are ceil(c/g) blocks.

Weaker guarantees of the same notion: larger parameters that follow from the definition.

A promise of a curve, on a secret sample that keeps each person with probability p.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.aggregates import covers, includes
from hubbub.guarantees.curve import Curve, Piece, flat
from hubbub.guarantees.definitions import (
    Aggregate,
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    Guarantee,
    IndependentSample,
    Neighbours,
    OutlierGroup,
    OutlierPrivacy,
    RandomSample,
    SimpleOutlier,
    StaircaseOutlier,
    TailoredPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import (
    BBG,
    DMNS,
    GHLP,
    GLP,
    HERE,
    LUI_PASS,
    TO_REPLACE,
    Assumption,
    Derivation,
    Theorem,
    texts,
)
from hubbub.guarantees.indistinguishability import (
    cap_probability,
    chain_losses,
    chance_sample_includes,
    exp_times,
    subsampled_loss,
    times,
    total_variation,
)
from hubbub.guarantees.parameters import size
from hubbub.numeric.exact import Infinite, Loss

BLANK = Assumption("blank-row", "a blank row is a row that the mechanism accepts")
SYMMETRIC = Assumption(
    "symmetric", "the mechanism ignores the order of its rows, or is handed them in a secret random order"
)
SECRET = Assumption(
    "secret-sample", "the sample is drawn afresh for this release, uniformly, and nobody learns who is in it"
)
PUBLIC_SIZES = Assumption("public-sizes", "the number of rows and the size of the sample are public")


def _add_remove(premise: Derivation, theorem: Theorem, because: str) -> DifferentialPrivacy:
    given = premise.concluding(DifferentialPrivacy, theorem)
    if given.neighbours is not Neighbours.ADD_REMOVE:
        raise Refused(
            f"{theorem} needs add/remove neighbours: the mechanism that publishes |D| is 0-DP under replacement, and "
            f"{because}; state the premise for add/remove"
        )
    return given


def _replace(premise: Derivation, theorem: Theorem) -> DifferentialPrivacy:
    given = premise.concluding(DifferentialPrivacy, theorem)
    if given.neighbours is not Neighbours.REPLACE:
        raise Refused(f"{theorem} compares data sets of one size; turn {given} with add_remove_to_replace first")
    return given


def add_remove_to_replace(premise: Derivation) -> Derivation:
    """Replacing a person is removing one and adding another.

    Guarantee: if M is (epsilon, delta)-DP under add/remove, then it is (2 epsilon, (1 + e^epsilon) delta)-DP under
    replacement, for groups of the same size (two links through the data set without the person).
    """
    theorem = Theorem("implied.add-remove-to-replace", "Two steps (add/remove to replace)", DMNS, TO_REPLACE)
    given = premise.concluding(DifferentialPrivacy, theorem)
    if given.neighbours is not Neighbours.ADD_REMOVE:
        raise Refused(f"{theorem} starts from add/remove neighbours, and {given} is about replacement already")
    epsilon, delta = chain_losses(given.epsilon, given.delta, 2)
    return premise.then(
        theorem,
        DifferentialPrivacy(epsilon=epsilon, delta=delta, neighbours=Neighbours.REPLACE, group=given.group),
        numbers=texts(epsilon=given.epsilon, delta=given.delta, epsilon_out=epsilon, delta_out=delta),
    )


def zero_knowledge_to_differential(premise: Derivation) -> Derivation:
    """Two data sets that differ in one row are both close to the same simulator output: the simulator sees that row in
    neither.

    Guarantee: if M is (epsilon, delta)-ZK with respect to any class, for groups of c, then it is
    (2 epsilon, (1 + e^epsilon) delta)-DP under replacement, for groups of c (Proposition 7; with delta, proved here).
    Not under add/remove: the simulator is told |D|.
    """
    theorem = Theorem(
        "implied.zero-knowledge-to-differential",
        "Proposition 7 (zero-knowledge to differential)",
        f"{GLP}; delta {HERE}",
    )
    given = premise.concluding(ZeroKnowledge, theorem)
    epsilon, delta = chain_losses(given.epsilon, given.delta, 2)
    return premise.then(
        theorem,
        DifferentialPrivacy(epsilon=epsilon, delta=delta, neighbours=Neighbours.REPLACE, group=given.group),
        numbers=texts(epsilon=given.epsilon, delta=given.delta, epsilon_out=epsilon, delta_out=delta),
    )


def differential_to_zero_knowledge(premise: Derivation, *, n: int) -> Derivation:
    """Differential privacy implies zero-knowledge privacy if the simulator may know everybody else.

    Guarantee: if M is (epsilon, delta)-DP under replacement for groups of c, on data sets of n rows, then it is
    (epsilon, delta)-ZK with respect to RS(n) for groups of c (Proposition 8).
    """
    theorem = Theorem("implied.differential-to-zero-knowledge", "Proposition 8 (differential to zero-knowledge)", GLP)
    given = _replace(premise, theorem)
    return premise.then(
        theorem,
        ZeroKnowledge(epsilon=given.epsilon, delta=given.delta, aggregate=RandomSample(k=n, n=n), group=given.group),
        numbers=texts(n=n),
        assumptions=(BLANK, PUBLIC_SIZES),
    )


def sanitize_sample(premise: Derivation, *, k: int, n: int, group: int = 1) -> Derivation:
    """Draw k of n rows in secret and run a differentially private mechanism on them.

    Guarantee: if M is (epsilon, delta)-DP under replacement on k rows and symmetric in them, then M on k of n rows
    drawn without replacement is (e, p delta)-ZK with respect to RS(k), e = ln(1 + p (e^epsilon - 1)), p = k/n
    (Theorem A1, which nothing improves); for groups of c it is (c e, p delta (e^(c e) - 1)/(e^e - 1))-ZK, by blanking
    the group row by row.
    """
    theorem = Theorem("implied.sanitize-sample", "Theorem A1 (sample and sanitize)", f"{BBG}; {HERE}")
    given = _replace(premise, theorem)
    sample = RandomSample(k=size(k, "the sample size k"), n=size(n, "the number of rows n"))
    p = Fraction(k, n)
    one = subsampled_loss(given.epsilon, p)
    epsilon, delta = chain_losses(one, p * given.delta, size(group, "the group size"))
    return premise.then(
        theorem,
        ZeroKnowledge(epsilon=epsilon, delta=delta, aggregate=sample, group=group),
        numbers=texts(
            k=k, n=n, group=group, epsilon=given.epsilon, delta=given.delta, p=p, epsilon_out=epsilon, delta_out=delta
        ),
        assumptions=(SYMMETRIC, SECRET, BLANK, PUBLIC_SIZES),
    )


def differential_to_crowd_blending(premise: Derivation, *, k: int) -> Derivation:
    """Differential privacy implies crowd-blending privacy for every k.

    Guarantee: if M is epsilon-DP under add/remove, then it is (k, epsilon)-crowd-blending for every k, by the removal
    clause (Proposition 5, which fails for replacement: publishing |D| is 0-DP and shows who left a small data set).
    """
    theorem = Theorem("implied.differential-to-crowd-blending", "Proposition 5 (differential to crowd-blending)", GHLP)
    given = _add_remove(premise, theorem, "it does not hide one of fewer than k people")
    _pure(given, theorem)
    return premise.then(theorem, CrowdBlending(k=k, epsilon=given.epsilon), numbers=texts(k=k, epsilon=given.epsilon))


def differential_to_simple_outlier(premise: Derivation, *, k: int) -> Derivation:
    """Differential privacy implies simple outlier privacy.

    Guarantee: if M is (epsilon, delta)-DP under add/remove, then it is (k, k epsilon, delta)-simple outlier private
    (Proposition 10, read from epsilon/k).
    """
    theorem = Theorem(
        "implied.differential-to-simple-outlier", "Proposition 10 (differential to simple outlier)", LUI_PASS
    )
    given = _add_remove(premise, theorem, "removing a person shows in it")
    epsilon = times(given.epsilon, size(k, "the crowd size k"))
    return premise.then(
        theorem,
        SimpleOutlier(k=k, epsilon=epsilon, delta=given.delta),
        numbers=texts(k=k, epsilon=given.epsilon, epsilon_out=epsilon),
    )


def differential_to_outlier(premise: Derivation) -> Derivation:
    """Differential privacy is outlier privacy with a flat curve.

    Guarantee: if M is (epsilon, delta)-DP under add/remove, then it is (epsilon(.), delta)-outlier private for the
    curve that is epsilon everywhere (the remark after Definition 5), and the other way round.
    """
    theorem = Theorem("implied.differential-to-outlier", "Definition 5 (a flat curve)", LUI_PASS)
    given = _add_remove(premise, theorem, "removing a person shows in it")
    return premise.then(theorem, OutlierPrivacy(curve=flat(given.epsilon), delta=given.delta))


def differential_to_distributional(premise: Derivation, *, sample: IndependentSample) -> Derivation:
    """Differential privacy implies distributional privacy, whose attacker knows less.

    Guarantee: if M is (epsilon, delta)-DP under add/remove, then it is (epsilon, delta)-DP with respect to any class of
    distributions of data sets: given t in D, both laws are mixtures over D, with the same weights, of laws that are
    (epsilon, delta)-close (Definition 21).
    """
    theorem = Theorem(
        "implied.differential-to-distributional",
        "Definition 21 (differential to distributional)",
        f"{LUI_PASS}; {HERE}",
    )
    given = _add_remove(premise, theorem, "removing a person shows in it")
    return premise.then(
        theorem,
        DistributionalPrivacy(epsilon=given.epsilon, delta=given.delta, sample=sample),
        numbers=texts(epsilon=given.epsilon, delta=given.delta),
    )


def to_outlier(premise: Derivation) -> Derivation:
    """Simple and staircase outlier privacy are outlier privacy with a curve of steps.

    Guarantee: simple outlier privacy (Definitions 6, 13, 14) and staircase outlier privacy (Definition 17) say the same
    as outlier privacy for their curve; what is outlier privacy already stays as it is.
    """
    given = premise.conclusion
    if isinstance(given, OutlierPrivacy):
        return premise
    if not isinstance(given, SimpleOutlier | StaircaseOutlier):
        raise Refused(f"only simple and staircase outlier privacy are curves, and the premise is {given}")
    return premise.then(
        Theorem("implied.to-outlier", "Definition 17 (the curve of a staircase)", LUI_PASS),
        given.as_outlier(),
        numbers=(("curve", str(given.as_outlier().curve)),),
    )


def simple_outlier_to_crowd_blending(premise: Derivation) -> Derivation:
    """Simple outlier privacy implies crowd-blending privacy: people of one large bin are interchangeable.

    Guarantee: if M is (k, epsilon)-simple outlier private with delta = 0, then it is (k + 1, epsilon/k)-crowd-blending
    (Proposition 12).
    """
    theorem = Theorem(
        "implied.simple-outlier-to-crowd-blending", "Proposition 12 (simple outlier to crowd-blending)", LUI_PASS
    )
    given = premise.concluding(SimpleOutlier, theorem)
    _pure(given, theorem)
    return premise.then(
        theorem,
        CrowdBlending(k=given.k + 1, epsilon=given.share),
        numbers=texts(k=given.k, epsilon=given.epsilon, k_out=given.k + 1, epsilon_out=given.share),
    )


def outlier_to_crowd_blending(premise: Derivation, *, k: int) -> Derivation:
    """Outlier privacy implies crowd-blending privacy, for any curve.

    Guarantee: if M is epsilon(.)-outlier private with delta = 0, then it is (k, epsilon(k - 1))-crowd-blending for
    every k >= 2: k equals are a crowd, and whoever has fewer is a (k - 1)-outlier (the proof of Proposition 12).
    """
    theorem = Theorem(
        "implied.outlier-to-crowd-blending",
        "Proposition 12 (outlier to crowd-blending)",
        f"{LUI_PASS}; any curve {HERE}",
    )
    given = premise.concluding(OutlierPrivacy, theorem)
    _pure(given, theorem)
    epsilon = given.curve.at(size(k, "the crowd size k", least=2) - 1)
    if isinstance(epsilon, Infinite):
        raise Refused(f"{theorem}: the curve {given.curve} promises nothing to a crowd of {k - 1}; lower k")
    return premise.then(theorem, CrowdBlending(k=k, epsilon=epsilon), numbers=texts(k=k, epsilon_out=epsilon))


def outlier_to_differential(premise: Derivation) -> Derivation:
    """Outlier privacy implies differential privacy at the supremum of the curve, and so does tailored privacy.

    Guarantee: if M is (epsilon(.), delta)-outlier private and the curve is bounded, then M is (sup epsilon, delta)-DP
    under add/remove: everybody is a c-outlier for the size c of their own class. If it is tailored private by cells, the
    same holds: everybody is in no cell of more than c people for the largest c of their own cells.
    """
    theorem = Theorem("implied.outlier-to-differential", "Definition 5 (the top of the curve)", LUI_PASS)
    given: OutlierPrivacy | TailoredPrivacy
    if isinstance(premise.conclusion, TailoredPrivacy):
        theorem = Theorem("implied.tailored-to-differential", "Definition 2 (the top of the curve)", LUI_PASS)
        given = premise.conclusion
    else:
        given = premise.concluding(OutlierPrivacy, theorem)
    top = given.curve.limit
    if isinstance(top, Infinite):
        raise Refused(f"{theorem}: the curve {given.curve} is unbounded, so large crowds have no differential privacy")
    return premise.then(
        theorem, DifferentialPrivacy(epsilon=top, delta=given.delta), numbers=texts(epsilon_out=top, delta=given.delta)
    )


def _pure(given: DifferentialPrivacy | OutlierPrivacy | SimpleOutlier, theorem: Theorem) -> None:
    if given.delta:
        raise Refused(f"{theorem}: crowd-blending has no delta, and {given} has one; use a mechanism with delta = 0")


def always_blending_to_differential(epsilon: Loss, *, k: int) -> DifferentialPrivacy:
    """Proposition 6 (crowd-blending): what holds if everybody always had to blend in a crowd of k, two at least.

    Guarantee: if in every table of at least k people everybody epsilon-blends in a crowd of k >= 2, the mechanism is
    epsilon-differentially private under replacement on tables of at least k people, and conversely. Proof: whoever t
    and u are, take a table of t and otherwise only u's: t blends with somebody else, who is a u, so exchanging t for u
    changes every table by at most epsilon (being indistinguishable is a property of two values, not of a table).
    Conversely everybody then blends with everybody.
    """
    if k < 2:
        raise WrongUse("a crowd of one is no crowd: Proposition 6 is about a k of 2 or more")
    return DifferentialPrivacy(epsilon=epsilon, neighbours=Neighbours.REPLACE)


def replacement_loss(curve: Curve, left: int, joined: int) -> Loss:
    """What replacing one person loses under outlier privacy, by the crowd that is left and the one that is joined.

    Guarantee: if a table of counts is (epsilon(.), 0)-outlier private, replacing a person of a crowd of `left` people by
    one who joins `joined` others changes it by at most epsilon(left) + epsilon(joined + 1): one person less, then one
    more (outlier privacy, introduction).
    """
    if left < 1 or joined < 0:
        raise WrongUse("somebody who leaves was in a crowd of at least 1, and joins 0 or more; change them")
    return curve.at(left) + curve.at(joined + 1)


def _blocks(people: int, group: int) -> int:
    return -(-size(people, "the group size") // group)


def differential_group(premise: Derivation, *, group: int) -> Derivation:
    """Group privacy of differential privacy: add or remove the people of the group one by one.

    Guarantee: if M is (epsilon, delta)-DP, then for groups of c and the same neighbours it is
    (c epsilon, delta (e^(c epsilon) - 1)/(e^epsilon - 1))-DP (c links of a chain).
    """
    theorem = Theorem("group.differential-group", "Group privacy (differential)", DMNS)
    given = premise.concluding(DifferentialPrivacy, theorem)
    blocks = _blocks(group, given.group)
    epsilon, delta = chain_losses(given.epsilon, given.delta, blocks)
    return premise.then(
        theorem,
        DifferentialPrivacy(epsilon=epsilon, delta=delta, neighbours=given.neighbours, group=group),
        numbers=texts(group=group, steps=blocks, epsilon_out=epsilon, delta_out=delta),
    )


def zero_knowledge_group(premise: Derivation, *, group: int) -> Derivation:
    """Group privacy of zero-knowledge privacy: one simulator, and two steps for every further person of the group.

    Guarantee: if M is (epsilon, delta)-ZK with respect to a class, then for groups of c it is
    ((2c - 1) epsilon, delta (e^((2c-1) epsilon) - 1)/(e^epsilon - 1))-ZK with respect to it (Proposition 3; with delta,
    proved here: a chain of 2c - 1 links). Where the class removes people instead of blanking them, the links run
    through data sets with a fixed person in their place, whom the simulator samples itself.
    """
    theorem = Theorem("group.zero-knowledge-group", "Proposition 3 (zero-knowledge for groups)", f"{GLP}; delta {HERE}")
    given = premise.concluding(ZeroKnowledge, theorem)
    steps = 2 * _blocks(group, given.group) - 1
    epsilon, delta = chain_losses(given.epsilon, given.delta, steps)
    return premise.then(
        theorem,
        ZeroKnowledge(epsilon=epsilon, delta=delta, aggregate=given.aggregate, group=group),
        numbers=texts(group=group, steps=steps, epsilon_out=epsilon, delta_out=delta),
    )


def zero_knowledge_group_total_variation(premise: Derivation, *, group: int) -> Derivation:
    """Group privacy of zero-knowledge privacy in total variation, with epsilon = 0.

    Guarantee: if M is (epsilon, delta)-ZK with respect to a class, then for groups of c it is
    (0, (2c - 1) (e^epsilon - 1 + 2 delta)/(e^epsilon + 1))-ZK with respect to it (Proposition 4, sharpened: a link of
    the chain moves no event by more than its total variation).
    """
    theorem = Theorem(
        "group.zero-knowledge-group-total-variation",
        "Proposition 4 (zero-knowledge for groups, total variation)",
        f"{GLP}; sharpened, {HERE}",
    )
    given = premise.concluding(ZeroKnowledge, theorem)
    steps = 2 * _blocks(group, given.group) - 1
    delta = cap_probability(steps * total_variation(given.epsilon, given.delta))
    return premise.then(
        theorem,
        ZeroKnowledge(epsilon=Fraction(0), delta=delta, aggregate=given.aggregate, group=group),
        numbers=texts(group=group, steps=steps, delta_out=delta),
    )


def zero_knowledge_group_by_sampling(premise: Derivation, *, group: int) -> Derivation:
    """Group privacy of a small sample, which rarely contains other people of the group.

    Guarantee: if M is (epsilon, delta)-ZK with respect to RS(k) on n rows, then for groups of c it is
    (epsilon, delta + e^epsilon P)-ZK with respect to RS(k), where P = 1 - C(n-c+1, k)/C(n, k) <= (c-1) k/n is the
    chance that the sample meets one of the other c - 1 (Proposition 5). P is of the order of c k/n and not
    cryptographically small.
    """
    theorem = Theorem(
        "group.zero-knowledge-group-by-sampling", "Proposition 5 (zero-knowledge for groups, by sampling)", GLP
    )
    given = premise.concluding(ZeroKnowledge, theorem)
    sample = given.aggregate
    if not isinstance(sample, RandomSample) or sample.n is None:
        raise Refused(f"{theorem} is about RS(k) of n rows with n known, and the class is {sample}; give n")
    if size(group, "the group size") > sample.n:
        raise Refused(f"{theorem}: a group of {group} does not fit into {sample.n} rows; choose a smaller group")
    met = chance_sample_includes(max(group - given.group, 0), sample.k, sample.n)
    delta = cap_probability(given.delta + exp_times(given.epsilon, met))
    return premise.then(
        theorem,
        ZeroKnowledge(epsilon=given.epsilon, delta=delta, aggregate=sample, group=group),
        numbers=texts(group=group, k=sample.k, n=sample.n, chance_of_meeting=met, delta_out=delta),
    )


def outlier_group(premise: Derivation, *, k: int, size: int) -> Derivation:
    """Group privacy of outliers: they are removed one by one, and each who is left is still an outlier.

    Guarantee: if M is (epsilon(.), delta)-outlier private, then removing at most s people, each a k-outlier, is
    (s e, delta (e^(s e) - 1)/(e^e - 1))-close, e = epsilon(k). For (k, epsilon, delta)-simple outlier privacy and
    s = k this is (epsilon, delta (e^epsilon - 1)/(e^(epsilon/k) - 1)) (Proposition 7; with delta, proved here).
    """
    theorem = Theorem("group.outlier-group", "Proposition 7 (groups of outliers)", f"{LUI_PASS}; delta {HERE}")
    given = premise.concluding(OutlierPrivacy, theorem)
    each = given.curve.at(k)
    steps = _blocks(size, 1)
    epsilon, delta = chain_losses(each, given.delta, steps)
    return premise.then(
        theorem,
        OutlierGroup(k=k, size=size, epsilon=epsilon, delta=delta),
        numbers=texts(k=k, size=size, epsilon_each=each, epsilon_out=epsilon, delta_out=delta),
    )


def is_weaker(weak: Guarantee, strong: Guarantee) -> bool:
    """Whether `weak` is the same notion as `strong` with numbers that promise no more.

    Guarantee: if True, every mechanism with the promise `strong` has the promise `weak`, by the definition. False also
    where that is not known.
    """
    match strong, weak:
        case DifferentialPrivacy(), DifferentialPrivacy():
            return strong.neighbours is weak.neighbours and weak.group <= strong.group and _looser(weak, strong)
        case ConcentratedPrivacy(), ConcentratedPrivacy():
            same = strong.neighbours is weak.neighbours
            return same and weak.group <= strong.group and strong.rho <= weak.rho
        case ZeroKnowledge(), ZeroKnowledge():
            same_or_larger = weak.aggregate == strong.aggregate or includes(weak.aggregate, strong.aggregate)
            return same_or_larger and weak.group <= strong.group and _looser(weak, strong)
        case CrowdBlending(), CrowdBlending():
            return weak.k <= strong.k and _looser(weak, strong)
        case (
            (OutlierPrivacy() | TailoredPrivacy() | SimpleOutlier() | StaircaseOutlier()),
            (OutlierPrivacy() | TailoredPrivacy() | SimpleOutlier() | StaircaseOutlier()),
        ):
            return type(weak) is type(strong) and _lower(strong, weak)
        case OutlierGroup(), OutlierGroup():
            return weak.k <= strong.k and weak.size <= strong.size and _looser(weak, strong)
        case DistributionalPrivacy(), DistributionalPrivacy():
            return covers(strong.sample, weak.sample) and _looser(weak, strong)
        case _:
            return False


_Pair = DifferentialPrivacy | CrowdBlending | ZeroKnowledge | OutlierGroup | DistributionalPrivacy
_Curved = OutlierPrivacy | TailoredPrivacy | SimpleOutlier | StaircaseOutlier


def _looser(weak: _Pair, strong: _Pair) -> bool:
    return strong.epsilon <= weak.epsilon and strong.delta <= weak.delta


def _lower(strong: _Curved, weak: _Curved) -> bool:
    low, high = _curve(strong), _curve(weak)
    return low.curve.at_most(high.curve) and low.delta <= high.delta


def _curve(given: _Curved) -> OutlierPrivacy | TailoredPrivacy:
    return given if isinstance(given, OutlierPrivacy | TailoredPrivacy) else given.as_outlier()


def weaken(premise: Derivation, *, to: Guarantee) -> Derivation:
    """The same promise with larger parameters.

    Guarantee: a larger epsilon, a larger delta, a smaller group, a smaller crowd k (crowd-blending), a curve nowhere
    lower (outlier), a larger class of aggregate information (zero-knowledge) or fewer distributions (distributional)
    ask for less: if the premise holds then so does `to`, by its definition. Anything else is refused.
    """
    if not is_weaker(to, premise.conclusion):
        raise Refused(f"{to} does not follow from {premise.conclusion} by rounding up; derive it another way")
    return premise.then(Theorem("weaker.weaken", "Weakening", "the definition of the conclusion"), to)


def weaken_aggregate(premise: Derivation, *, aggregate: Aggregate) -> Derivation:
    """The same promise with a larger class of aggregate information for the simulator.

    Guarantee: if M is (epsilon, delta)-ZK with respect to a class, then also with respect to every larger one, such as
    RS(k') for k' >= k: whoever receives a large sample can thin it. So a release on a smaller sample is ZK with
    respect to the larger one.
    """
    theorem = Theorem("weaker.weaken-aggregate", "Monotone aggregate information", GLP)
    given = premise.concluding(ZeroKnowledge, theorem)
    if not includes(aggregate, given.aggregate):
        raise Refused(
            f"{theorem}: {aggregate} is not known to include {given.aggregate}; name a larger class of its kind"
        )
    return premise.then(
        theorem, ZeroKnowledge(epsilon=given.epsilon, delta=given.delta, aggregate=aggregate, group=given.group)
    )


CURVE_ON_A_SAMPLE: Final = Theorem("sampled.curve", "Amplification by sampling, crowd by crowd", f"{BBG}; {HERE}")
CURVE_OF_LAWS: Final = Theorem(
    "sampled.curve-laws",
    "Amplification by sampling, crowd by crowd, at the delta of the sample's laws",
    f"{BBG}; {HERE}",
)
CURVE_OF_WARPED: Final = Theorem("sampled.curve-warped", "Warped noise on a sample, crowd by crowd", HERE)
SAMPLED_AFRESH: Final = Assumption(
    "sampled-afresh",
    "each person is kept with the probability p, independently and in secret, and then the release is made",
)


def subsampled_curve(curve: Curve, p: Fraction) -> Curve:
    """The amplified curve, on a sample that keeps each person with probability p.

    Guarantee: an upper bound on ln(1 + p (e^epsilon(c) - 1)) at every crowd c. On a step that is the number itself. Along a slope it is a convex function of c that grows no faster than the slope:
    below its chord where the slope ends, and below a line of the same slope where it never does.
    """
    pieces = []
    for piece, end in curve.ends():
        value = subsampled_loss(piece.value, p)
        rate = piece.rate
        if rate and end is not None and not isinstance(value, Infinite):
            top = subsampled_loss(piece.at(end), p)
            assert not isinstance(top, Infinite)
            rate = (top - value) / (end - piece.start) if end > piece.start else Fraction(0)
        pieces.append(Piece(piece.start, value, rate))
    return Curve(tuple(pieces))


def on_a_sample(
    premise: Derivation, p: Fraction, *, of_laws: Fraction | None = None, of_warped: Curve | None = None
) -> Derivation:
    """A release of a secret sample, as a promise to the people it was drawn from.

    Guarantee: if M is (epsilon(.), delta)-outlier private and epsilon(.) never falls, then M on a sample that keeps
    each person with probability p is outlier private with the curve ln(1 + p (e^epsilon(.) - 1)) and the delta p delta:
    with m of the c - 1 others kept, the laws with and without the person are (epsilon(m + 1), delta)-close and
    epsilon(m + 1) <= epsilon(c), and only a share p of the law depends on the person. If M is (k,
    epsilon)-crowd-blending by bins, published each by itself, it is (k, ln(1 + p (e^epsilon - 1)))-crowd-blending on
    the sample: whoever has fewer than k in the bin has fewer than k kept, and whoever shares a bin is kept with the
    same probability. A smaller delta of a curve, `of_laws`, or a lower curve without a delta, `of_warped`, is the
    caller's to prove, from the laws of M.
    """
    given = premise.conclusion
    conclusion: Guarantee
    numbers, theorem = texts(p=p), CURVE_ON_A_SAMPLE
    if isinstance(given, CrowdBlending):
        epsilon, delta = subsampled_loss(given.epsilon, p), p * given.delta
        conclusion = CrowdBlending(k=given.k, epsilon=epsilon, delta=delta)
        numbers = (*numbers, *texts(epsilon_out=epsilon), *(texts(delta_out=delta) if delta else ()))
    elif isinstance(given, OutlierPrivacy | SimpleOutlier | StaircaseOutlier):
        outlier = given if isinstance(given, OutlierPrivacy) else given.as_outlier()
        if not outlier.curve.is_monotone:
            raise Refused(
                f"{CURVE_ON_A_SAMPLE} needs a curve that never falls, and {outlier.curve} does; use its envelope"
            )
        curve, delta = subsampled_curve(outlier.curve, p), p * outlier.delta
        if of_laws is not None and of_laws < delta:
            theorem, delta = CURVE_OF_LAWS, of_laws
        if of_warped is not None and not delta:
            theorem, curve = CURVE_OF_WARPED, of_warped
        conclusion = OutlierPrivacy(curve=curve, delta=delta)
        numbers = (*numbers, ("curve_out", str(curve)), *texts(delta_out=delta))
    else:
        raise Refused(f"{CURVE_ON_A_SAMPLE} starts from crowd-blending or a curve, and the premise is {given}")
    return premise.then(theorem, conclusion, numbers=numbers, assumptions=(SAMPLED_AFRESH,))
