"""Group privacy: what a promise to one person implies for several people who are added, removed or replaced together.

A promise to groups of g is used in blocks: c people are ceil(c/g) blocks.
"""

from __future__ import annotations

from fractions import Fraction

from hubbub.errors import Refused
from hubbub.guarantees.definitions import DifferentialPrivacy, OutlierGroup, OutlierPrivacy, RandomSample, ZeroKnowledge
from hubbub.guarantees.derivation import DMNS, GLP, HERE, LUI_PASS, Derivation, Theorem, texts
from hubbub.guarantees.indistinguishability import capped, chained, exp_times, total_variation, touched
from hubbub.guarantees.parameters import size


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
    epsilon, delta = chained(given.epsilon, given.delta, blocks)
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
    epsilon, delta = chained(given.epsilon, given.delta, steps)
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
    delta = capped(steps * total_variation(given.epsilon, given.delta))
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
    met = touched(max(group - given.group, 0), sample.k, sample.n)
    delta = capped(given.delta + exp_times(given.epsilon, met))
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
    epsilon, delta = chained(each, given.delta, steps)
    return premise.then(
        theorem,
        OutlierGroup(k=k, size=size, epsilon=epsilon, delta=delta),
        numbers=texts(k=k, size=size, epsilon_each=each, epsilon_out=epsilon, delta_out=delta),
    )
