"""Advanced composition of differentially private releases: for a delta, less than the sum of their losses.

Basic composition (:func:`hubbub.guarantees.composition.differential`) needs no delta. Two theorems are here: one for
epsilons that are all fixed beforehand, and one for epsilons that are chosen after seeing earlier results.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.odometer import epsilon_of, epsilon_so_far, epsilon_under_cap
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_epsilon
from hubbub.guarantees.composition import INDEPENDENT
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.derivation import HERE, Assumption, Derivation, Theorem, texts
from hubbub.guarantees.indistinguishability import total_delta
from hubbub.guarantees.neighbours import one_relation
from hubbub.numeric.exact import INFINITY, Infinite, Loss

KOV: Final = "Kairouz, Oh, Viswanath, The composition theorem for differential privacy, ICML 2015"
FILTERS: Final = "Rogers, Roth, Ullman, Vadhan, Privacy odometers and filters, NeurIPS 2016"

BEFOREHAND: Final = Theorem("together.beforehand", "Optimal composition (epsilons fixed beforehand)", f"{KOV}; {HERE}")
SO_FAR: Final = Theorem(
    "together.so-far", "Fully adaptive composition (epsilons chosen on the way)", f"{FILTERS}; {HERE}"
)

UNDER_CAP: Final = Theorem(
    "together.under-cap",
    "A privacy filter (the cap fixed beforehand, epsilons chosen on the way)",
    f"{FILTERS}; {HERE}",
)

FIXED_CAP: Final = Assumption("fixed-cap", "the cap was fixed before the first release, and no release goes beyond it")
FIXED: Final = Assumption(
    "fixed-beforehand",
    "the number of releases, their epsilons and their deltas were fixed before anything was seen of them",
)
FIXED_DELTAS: Final = Assumption(
    "fixed-deltas",
    "the deltas of the releases, or a bound on their sum that this one keeps to, were fixed beforehand",
)
FRESH: Final = Assumption("fresh-samples", "each release that is sampled draws a fresh secret sample of its rate")


def differential_beforehand(
    *derivations: Derivation, at_delta: Fraction, rates: Sequence[Fraction] | None = None
) -> Derivation:
    """All together, if every epsilon was fixed beforehand; what is asked may depend on earlier results.

    Guarantee: if M_j is (epsilon_j, delta_j)-DP, all under the same neighbours and on a fresh sample of rate `rates`[j]
    (1: on everybody; less, under add/remove), then publishing all of them is (epsilon, `at_delta`)-DP, with the epsilon
    of the exact convolution of their losses, rounded up, and never above the sum
    (:mod:`hubbub.guarantees.accountant.privacy_loss`).
    """
    given, pairs = _read_premises(derivations, rates, BEFOREHAND)
    epsilon = composed_epsilon(pairs, at_delta)
    if isinstance(epsilon, Infinite):
        raise Refused(f"{BEFOREHAND}: the deltas of the releases alone come to more than the delta asked for; raise it")
    return _step(derivations, given, pairs, BEFOREHAND, epsilon, at_delta, (FIXED,))


def differential_so_far(
    *derivations: Derivation, at_delta: Fraction, rates: Sequence[Fraction] | None = None
) -> Derivation:
    """All together, when each release, its epsilon and whether there is another may depend on earlier results.

    Guarantee: if M_j is (epsilon_j, delta_j)-DP given what came before, all under the same neighbours and on a fresh
    sample of rate `rates`[j], then P(Y) <= E_Q[e^epsilon; Y] + delta for every event Y of all that was published, P and
    Q being its laws on neighbouring tables, epsilon the number here, which depends on the releases that were made, and
    delta = `at_delta` + sum of delta_j (:mod:`hubbub.guarantees.accountant.odometer`). In particular all releases that a cap on
    this number admits are (cap, delta)-DP together.
    """
    given, pairs = _read_premises(derivations, rates, SO_FAR)
    epsilon = epsilon_so_far(pairs, at_delta)
    delta = total_delta((at_delta, *(pair.rate * pair.delta for pair in pairs)))
    assumptions = (FIXED_DELTAS,) if any(pair.delta for pair in pairs) else ()
    return _step(derivations, given, pairs, SO_FAR, epsilon, delta, assumptions)


def differential_of_sums(
    *derivations: Derivation,
    grown: Sequence[Fraction],
    basic: Loss,
    at_delta: Fraction,
    own_delta: Fraction | None = None,
) -> Derivation:
    """The same from sums that were carried along, where each premise may stand for many releases.

    Guarantee: as :func:`differential_so_far`, if `grown` and `basic` are the sums over all releases of their
    :func:`~hubbub.guarantees.accountant.odometer.growths` and of their largest losses, and each premise has the sum of
    the deltas of those it stands for, or `own_delta` is the sum of the chances of infinite losses.
    """
    given = [premise.concluding(DifferentialPrivacy, SO_FAR) for premise in derivations]
    neighbours = one_relation(given, SO_FAR)
    epsilon = epsilon_of(grown, basic, at_delta)
    shown = total_delta(each.delta for each in given) if own_delta is None else own_delta
    delta = total_delta((at_delta, shown))
    assumptions = (FIXED_DELTAS,) if shown else ()
    return Derivation(
        conclusion=DifferentialPrivacy(
            epsilon=epsilon,
            delta=delta,
            neighbours=neighbours,
            group=min(each.group for each in given),
        ),
        theorem=SO_FAR,
        premises=tuple(derivations),
        numbers=texts(epsilon_out=epsilon, delta_out=delta),
        assumptions=(INDEPENDENT, *assumptions, FRESH),
    )


def differential_under_cap(
    *derivations: Derivation,
    grown: Sequence[Fraction],
    basic: Loss,
    cap: Fraction,
    at_delta: Fraction,
    more_delta: Fraction,
    own_delta: Fraction | None = None,
) -> Derivation:
    """The same under a cap on epsilon that was fixed before the first release, at less of a price.

    Guarantee: as :func:`differential_of_sums`, at the delta `at_delta` + `more_delta` + the deltas of the releases, if
    `cap` and `at_delta` were fixed before the first release and releases are admitted by this number, or by others that
    hold at the delta `more_delta`, up to the cap: all of them are (cap, delta)-DP together
    (:mod:`hubbub.guarantees.accountant.odometer`).
    """
    given = [premise.concluding(DifferentialPrivacy, UNDER_CAP) for premise in derivations]
    neighbours = one_relation(given, UNDER_CAP)
    epsilon = epsilon_under_cap(grown, basic, cap, at_delta)
    shown = total_delta(each.delta for each in given) if own_delta is None else own_delta
    delta = total_delta((at_delta, more_delta, shown))
    return Derivation(
        conclusion=DifferentialPrivacy(
            epsilon=epsilon, delta=delta, neighbours=neighbours, group=min(each.group for each in given)
        ),
        theorem=UNDER_CAP,
        premises=tuple(derivations),
        numbers=texts(cap=cap, epsilon_out=epsilon, delta_out=delta),
        assumptions=(INDEPENDENT, FIXED_CAP, *((FIXED_DELTAS,) if shown else ()), FRESH),
    )


def _read_premises(
    derivations: Sequence[Derivation], rates: Sequence[Fraction] | None, theorem: Theorem
) -> tuple[list[DifferentialPrivacy], list[RandomizedResponsePair]]:
    if not derivations:
        raise WrongUse(f"{theorem} is about at least one release, and none was given; give them all")
    given = [premise.concluding(DifferentialPrivacy, theorem) for premise in derivations]
    sampled = any(rate < 1 for rate in rates or ())
    if one_relation(given, theorem).number_is_public and sampled:
        raise Refused(f"{theorem} takes samples of people chosen one by one under add/remove alone; state it for that")
    pairs = []
    for each, rate in zip(given, rates or [Fraction(1)] * len(given), strict=True):
        if isinstance(each.epsilon, Infinite):
            raise Refused(f"{theorem}: {each} promises nothing, and so do all together; leave it out")
        pairs.append(RandomizedResponsePair(epsilon=each.epsilon, delta=each.delta, rate=rate))
    return given, pairs


def _step(
    premises: Sequence[Derivation],
    given: Sequence[DifferentialPrivacy],
    pairs: Sequence[RandomizedResponsePair],
    theorem: Theorem,
    epsilon: Loss,
    delta: Fraction,
    assumptions: tuple[Assumption, ...],
) -> Derivation:
    assert epsilon is not INFINITY
    sampled = (FRESH,) if any(pair.rate < 1 for pair in pairs) else ()
    return Derivation(
        conclusion=DifferentialPrivacy(
            epsilon=epsilon,
            delta=delta,
            neighbours=given[0].neighbours,
            group=min(each.group for each in given),
        ),
        theorem=theorem,
        premises=tuple(premises),
        numbers=texts(releases=len(given), epsilon_out=epsilon, delta_out=delta),
        assumptions=(INDEPENDENT, *assumptions, *sampled),
    )
