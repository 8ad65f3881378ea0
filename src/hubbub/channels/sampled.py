"""Derivation steps for sampling: from a promise about crowds to a promise about everybody (privacy amplification).

The numbers are those of :mod:`hubbub.sampling.amplification`, at a delta that the caller names. With `bins`, the
mechanism is a table of counts on a public partition whose every bin is published by itself: its people blend exactly,
and less is lost (:func:`sharpest`). With `unmarked`, it is noise below k that is not marked, and less
still is lost.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from hubbub.channels import custom_curve
from hubbub.channels.protocol import LARGEST_RATE, SMALLEST_RATE
from hubbub.errors import Refused
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    DistributionalPrivacy,
    Guarantee,
    IndependentSample,
    Neighbours,
    RobustSample,
    SimpleOutlier,
    ZeroKnowledge,
)
from hubbub.guarantees.derivation import BBG, GHLP, HERE, LUI_PASS, TO_REPLACE, Assumption, Derivation, Theorem, texts
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.numeric.exact import Exact, Infinite, Loss, rational, to_text
from hubbub.numeric.format import short
from hubbub.sampling import amplification
from hubbub.sampling.amplification import Amplified, Setting, epsilon_at, floor
from hubbub.sampling.sampled_crowd import Case

# What a sample buys a table of counts, as sharply as it is proved: the exact curve of its channel, or of all like it.
#
# People of one bin blend exactly, so the worst table of counts whose counts below k lose at most epsilon is marked noise,
# and where exact counts are not marked the channel's own curve is lower still (:mod:`hubbub.channels.custom_curve`).


EXACT_BINS: Final = "Theorem A (the exact curve of bins that blend exactly, and a secret sample)"
UNMARKED_NOISE: Final = "The exact curve of unmarked noise below k (Theorem A for its laws, and a secret sample)"

UNMARKED: Final = Assumption(
    "unmarked-noise",
    "counts of at least k are published as they are, smaller ones with two-sided geometric noise of the rate of "
    "removal, and nothing else says which of the two it was",
)
"""What the curve of unmarked noise uses, beyond the loss below k."""


def sharpest(setting: Setting, delta: Exact, *, unmarked: bool = False) -> Amplified:
    """The smallest epsilon that is proved at `delta` for a table of counts in every case of `setting`.

    Guarantee: as :func:`~hubbub.sampling.amplification.epsilon_at`, for a mechanism that publishes each bin of a public
    partition by itself and loses at most the `removal` of a case below its crowd; with `unmarked`, for noise below k
    that is not marked. `theorem` names what was used: the curve of all such tables of counts, that of unmarked noise,
    or that of the setting where these are not worked out.
    """
    found = [_one(setting, case, delta, unmarked) for case in setting.cases]
    return max(found, key=lambda each: each.epsilon)


def _one(setting: Setting, case: Case, delta: Exact, unmarked: bool) -> Amplified:
    single = Setting(theorem=setting.theorem, cases=(case,))
    if case.blending or case.crowd < 2 or not SMALLEST_RATE <= case.removal <= LARGEST_RATE or not _is_sampled(case):
        return epsilon_at(single, delta)
    found = custom_curve.own_epsilon_at(
        case.crowd, case.removal, case.rate, delta, tagged=not unmarked, own=None if case.own == case.rate else case.own
    )
    if case.exempt and (averaged := epsilon_at(single, delta)).epsilon < found.epsilon:
        return averaged  # exempt people as often as they are there
    if found.theorem != custom_curve.THEOREM:
        return replace(found, theorem=setting.theorem)
    return replace(found, theorem=UNMARKED_NOISE if unmarked else EXACT_BINS)


def _is_sampled(case: Case) -> bool:
    return Fraction(0) < case.rate < 1 and case.own > 0


ONE_RELEASE: Final = Assumption(
    "one-release", "this is the only release of that sample, and any other release draws a fresh one"
)
BINS: Final = Assumption(
    "one-row-one-bin", "each person is one row in one bin of a public partition, and every bin is published by itself"
)
PERSONS: Final = Assumption(
    "known-to-be-in", "what is known is that this person, and not merely an equal record, is in the data"
)
SAMPLED: Final = Theorem("sampled.differential", "amplification by sampling", BBG, TO_REPLACE)

IDS: Final = {
    amplification.THEOREM_A: "sampled.crowd-blending",
    amplification.SUPPRESSION: "sampled.suppression",
    amplification.BINS: "sampled.bins",
    amplification.ROBUST: "sampled.unevenly",
    amplification.DISTRIBUTIONAL: "sampled.distributional",
    EXACT_BINS: "sampled.bins-exact",
    UNMARKED_NOISE: "sampled.unmarked-noise",
}
"""The identifiers of the theorems about crowds, by what they are called."""

Pair = tuple[Derivation, Derivation]


def sampled_crowd_blending(
    premise: Derivation, p: Fraction, *, at_delta: Exact, bins: bool = False, unmarked: bool = False
) -> Pair:
    """Run a crowd-blending mechanism on a secret sample that takes each person with probability p.

    Guarantee: if M is (k, epsilon)-crowd-blending, then M on the sample is (epsilon', delta)-zero-knowledge private
    with respect to iRS(p), and (epsilon', delta)-differentially private for the population under add/remove, with the
    epsilon' of Theorem A (sharper than Theorem 13, and for zero-knowledge an upper bound). Refused where delta is
    below p^k, because then no epsilon will do. With a delta of its own it is as :func:`_reached_epsilon` says.
    """
    given = _crowd(premise, amplification.THEOREM_A)
    bins = bins and not given.delta
    kind = amplification.noisy_below if bins else amplification.crowd_blending
    sample = BernoulliSample(p=p)
    assumptions = (_secretly(sample), ONE_RELEASE)
    setting = kind(given.k, _finite(given.epsilon), sample.p)
    return _both(
        premise, setting, sample, _reached_epsilon(setting, at_delta, bins, unmarked, given), assumptions, bins
    )


def collected_crowd_blending(
    premise: Derivation, sample: IndependentSample, *, at_delta: Exact, bins: bool = False, unmarked: bool = False
) -> Pair:
    """Run a crowd-blending mechanism on data that somebody collected as a random sample, perhaps unevenly.

    Guarantee: if M is (k, epsilon)-crowd-blending, and people were sampled independently with probabilities of at
    most `high`, but for at most `exempt` people with at most `highest`, then M on the data is (epsilon',
    delta)-differentially private for the population under add/remove, and (epsilon', delta)-zero-knowledge private
    with respect to iRS(0, high, exempt): no lower limit on the rates is used, and none is stated (Theorem 16, sharp).
    The curve of unmarked noise serves rates up to `high` too, being convex in the law of the others, which is affine in
    each rate; with exempt people, whose number shifts the count, it is not used.
    """
    if isinstance(sample, BernoulliSample):
        return sampled_crowd_blending(premise, sample.p, at_delta=at_delta, bins=bins, unmarked=unmarked)
    given = _crowd(premise, amplification.ROBUST)
    bins = bins and not given.delta
    setting = amplification.robust(
        given.k, _finite(given.epsilon), sample.high, sample.highest, sample.exempt, bins=bins
    )
    stated = _without_lower_limit(sample)
    found = _reached_epsilon(setting, at_delta, bins, unmarked and not sample.exempt, given)
    return _both(premise, setting, stated, found, (_secretly(stated), ONE_RELEASE), bins)


def sampled_differential(premise: Derivation, p: Fraction) -> Pair:
    """Run a differentially private mechanism, or several of them together, on one sample at rate p.

    Guarantee: if M is (epsilon, delta)-DP under add/remove, then M on a secret sample that takes each person with
    probability p is (ln(1 + p (e^epsilon - 1)), p delta)-DP for the population under add/remove, and zero-knowledge
    private with respect to iRS(p) with the same numbers (the simulator runs M on a sample without the person). Several
    questions on one sample are one M whose epsilons add inside (theory A4); the sample does not grow.
    """
    theorem = SAMPLED
    claim = premise.concluding(DifferentialPrivacy, theorem)
    if claim.neighbours is not Neighbours.ADD_REMOVE or claim.group != 1:
        raise Refused(f"{theorem} starts from differential privacy for one person added or removed, not from {claim}")
    sample = BernoulliSample(p=p)
    smaller, delta = subsampled_loss(claim.epsilon, p), p * claim.delta
    conclusions = (
        ZeroKnowledge(epsilon=smaller, delta=delta, aggregate=sample),
        DifferentialPrivacy(epsilon=smaller, delta=delta),
    )
    one, two = (
        premise.then(
            theorem,
            conclusion,
            numbers=texts(p=p, epsilon=claim.epsilon, delta=claim.delta, epsilon_out=smaller, delta_out=delta),
            assumptions=(_secretly(sample),),
        )
        for conclusion in conclusions
    )
    return one, two


def distributional(
    premise: Derivation, sample: IndependentSample, *, at_delta: Exact, bins: bool = False, unmarked: bool = False
) -> Derivation:
    """The attacker does not know the data, only how it was sampled, and that one person is in it.

    Guarantee: if M is (k, epsilon)-simple outlier private with delta = 0, or (k, epsilon)-crowd-blending, then it is
    (epsilon', delta)-differentially private with respect to the distributions of `sample`, with the epsilon' of
    Theorem 22 (sharp). Its lower limit on the rates is not used.
    """
    stated = sample if isinstance(sample, BernoulliSample) else _without_lower_limit(sample)
    high, exempt = (sample.p, 0) if isinstance(sample, BernoulliSample) else (sample.high, sample.exempt)
    given = premise.conclusion
    if isinstance(given, SimpleOutlier):
        if given.delta:
            raise Refused(
                f"{amplification.DISTRIBUTIONAL} starts from delta = 0, and {given} has one; use a pure mechanism"
            )
        setting = amplification.distributional(given.k, _finite(given.epsilon), high, exempt)
    else:
        given = _crowd(premise, amplification.DISTRIBUTIONAL)
        bins = bins and not given.delta
        setting = amplification.distributional_crowd(given.k, _finite(given.epsilon), high, exempt, bins=bins)
    found = _reached_epsilon(setting, at_delta, bins, unmarked and not exempt, given)
    conclusion = DistributionalPrivacy(epsilon=found.epsilon, delta=found.delta, sample=stated)
    assumptions = (_secretly(stated), PERSONS, ONE_RELEASE)
    return _step(conclusion, f"{LUI_PASS}, Theorem 22; sharp, {HERE}", premise, setting, found, assumptions, bins)


def _both(
    premise: Derivation,
    setting: Setting,
    sample: IndependentSample,
    found: Amplified,
    assumptions: tuple[Assumption, ...],
    bins: bool,
) -> Pair:
    source = f"{GHLP}, Theorems 13 and 16; sharp, {HERE}"
    knowledge = ZeroKnowledge(epsilon=found.epsilon, delta=found.delta, aggregate=sample)
    population = DifferentialPrivacy(epsilon=found.epsilon, delta=found.delta)
    return (
        _step(knowledge, source, premise, setting, found, assumptions, bins),
        _step(population, source, premise, setting, found, assumptions, bins),
    )


def _step(
    conclusion: Guarantee,
    source: str,
    premise: Derivation,
    setting: Setting,
    found: Amplified,
    assumptions: tuple[Assumption, ...],
    bins: bool,
) -> Derivation:
    numbers = [("direction_out", found.direction), *texts(others_out=found.worst_class_size)]
    for i, case in enumerate(setting.cases):
        mark = "" if len(setting.cases) == 1 else f"_{i + 1}"
        named = texts(rate=case.rate, own_rate=case.own, crowd=case.crowd, removal=case.removal, blending=case.blending)
        if case.exempt:
            named = (*named, *texts(exempt=case.exempt, exempt_rate=case.exempt_rate))
        numbers += [(f"{name}{mark}", text) for name, text in named]
    used = (*assumptions, BINS) if bins else assumptions
    return premise.then(
        Theorem(IDS[found.theorem], found.theorem, source, TO_REPLACE),
        conclusion,
        numbers=(*numbers, *texts(epsilon_out=found.epsilon, delta_out=found.delta)),
        assumptions=(*used, UNMARKED) if found.theorem == UNMARKED_NOISE else used,
    )


def _reached_epsilon(
    setting: Setting, at_delta: Exact, bins: bool, unmarked: bool, given: CrowdBlending | SimpleOutlier
) -> Amplified:
    """The epsilon at a delta.

    Guarantee: Theorem A with a delta. (epsilon, delta)-close laws are delta R + (1 - delta) R', the R' epsilon-close
    (Kairouz, Oh, Viswanath 2015), so every pairing u y - g v x is at most (1 - delta) f(u, v) + delta u and every
    removal at most delta b_m more, and the weights u sum to at most 1: what holds at E for (k, epsilon) with delta_A
    holds with delta_A + p_t delta, wherever g >= e^epsilon, which is E >= ln(1 + p_t (e^epsilon - 1)).
    """
    if given.delta:
        return _with_delta(setting, rational(at_delta, "delta"), given)
    found = sharpest(setting, at_delta, unmarked=unmarked) if bins else epsilon_at(setting, at_delta)
    if isinstance(found.epsilon, Infinite):
        least = short(floor(setting), 3, up=False)
        raise Refused(
            f"{setting.theorem}: at every epsilon the delta is at least the chance that a whole crowd is sampled, "
            f"{least}, which is above {to_text(found.delta)}; lower the rate, or raise k or delta"
        )
    return found


def _with_delta(setting: Setting, at_delta: Fraction, given: CrowdBlending | SimpleOutlier) -> Amplified:
    own = max(case.own for case in setting.cases)
    left = at_delta - own * given.delta
    if left <= 0:
        raise Refused(
            f"{setting.theorem}: the delta of {given} alone comes to {short(own * given.delta, 3)} on the sample, and "
            f"{to_text(at_delta)} is asked for; raise that, or lower the other"
        )
    found = _reached_epsilon(setting, left, False, False, replace(given, delta=Fraction(0)))
    least = subsampled_loss(max(case.removal for case in setting.cases), own)
    return replace(found, epsilon=max(found.epsilon, least), delta=at_delta)


def _crowd(premise: Derivation, theorem: str) -> CrowdBlending:
    return premise.concluding(CrowdBlending, Theorem(IDS[theorem], theorem, HERE))


def _finite(epsilon: Loss) -> Fraction:
    if isinstance(epsilon, Infinite):
        raise Refused("the premise promises nothing, its epsilon being infinite; derive a finite one first")
    return epsilon


def _without_lower_limit(sample: RobustSample) -> RobustSample:
    return RobustSample(low=Fraction(0), high=sample.high, highest=sample.highest, exempt=sample.exempt)


def _secretly(sample: IndependentSample) -> Assumption:
    if isinstance(sample, BernoulliSample):
        sentence = "each person was sampled independently with probability {p} and the sample is secret"
        return Assumption("sampled-secretly", sentence, texts(p=sample.p))
    rest = ", but for {exempt} with at most {highest}," if sample.exempt else ""
    sentence = (
        f"each person was sampled independently, with a probability of at most {{high}}{rest} and the sample is secret"
    )
    given = texts(high=sample.high, exempt=sample.exempt, highest=sample.highest)
    return Assumption("sampled-secretly-unevenly", sentence, given)
