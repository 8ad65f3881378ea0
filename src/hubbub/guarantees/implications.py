"""From one notion of privacy to another: each function is a theorem, premises in, conclusion out.

Pure: nothing is run and no data is seen. What does not follow is refused with the reason, and with the witness
where there is one. Group forms stand in :mod:`hubbub.guarantees.groups`, weakenings in
:mod:`hubbub.guarantees.weakening`; all of them can be imported from here.
"""

from __future__ import annotations

from fractions import Fraction

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.curve import Curve, flat
from hubbub.guarantees.definitions import (
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    IndependentSample,
    Neighbours,
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
from hubbub.guarantees.groups import differential_group as differential_group
from hubbub.guarantees.groups import outlier_group as outlier_group
from hubbub.guarantees.groups import zero_knowledge_group as zero_knowledge_group
from hubbub.guarantees.groups import zero_knowledge_group_by_sampling as zero_knowledge_group_by_sampling
from hubbub.guarantees.groups import zero_knowledge_group_total_variation as zero_knowledge_group_total_variation
from hubbub.guarantees.indistinguishability import chained, mixed, times
from hubbub.guarantees.parameters import size
from hubbub.guarantees.weakening import weaken as weaken
from hubbub.guarantees.weakening import weaken_aggregate as weaken_aggregate
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
    epsilon, delta = chained(given.epsilon, given.delta, 2)
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
    epsilon, delta = chained(given.epsilon, given.delta, 2)
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
    one = mixed(given.epsilon, p)
    epsilon, delta = chained(one, p * given.delta, size(group, "the group size"))
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
