"""Zero-concentrated differential privacy (zCDP): it composes by adding rho, and converts to (epsilon, delta).

A release states it beside another promise: at a given delta, the exact law of the losses
(:mod:`hubbub.guarantees.accountant.accountant`) has a smaller epsilon. Others who know nothing but rho can add theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise
from hubbub.guarantees.composition import INDEPENDENT
from hubbub.guarantees.definitions import ConcentratedPrivacy, DifferentialPrivacy, Guarantee
from hubbub.guarantees.derivation import HERE, TO_REPLACE, Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.neighbours import Neighbours, one_relation
from hubbub.guarantees.parameters import size
from hubbub.guarantees.people import People
from hubbub.numeric.exact import Infinite, ball, precision, rounded, upper

BUN_STEINKE: Final = "Bun, Steinke, Concentrated differential privacy, TCC 2016"
CKS: Final = "Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020"
OF_NOISE: Final = Theorem("concentrated.gaussian", "zCDP of discrete Gaussian noise", f"{CKS}; {HERE}")
FIXED_RHO: Final = Assumption(
    "fixed-rho", "the rho of each release, or a bound on their sum that this one keeps to, was fixed beforehand"
)
_STEPS: Final = 1.02


def _best(value: Callable[[Fraction], Fraction | None], order: float) -> Fraction | None:
    """The least bound over a public grid of orders (alpha) around a guess. The bound holds at every order."""
    guess = max(order - 1, 1e-6)
    with precision():
        found = [value(1 + Fraction(f"{guess * _STEPS**i:.6g}")) for i in range(-60, 61)]
    return min((each for each in found if each is not None), default=None)


def zcdp_delta(rho: Fraction, epsilon: Fraction) -> Fraction:
    """The delta at an epsilon that follows from rho-zCDP, rounded up.

    Guarantee: delta = inf over a > 1 of e^((a-1)(a rho - epsilon)) (1 - 1/a)^a/(a - 1) (Canonne, Kamath, Steinke 2020).
    """
    if not rho:
        return Fraction(0)

    def at(a: Fraction) -> Fraction | None:
        order = ball(a)
        log = (order - 1) * (order * ball(rho) - ball(epsilon)) + order * (1 - 1 / order).log() - (order - 1).log()
        return rounded(upper(log.exp()), up=True) if log < 0 else None

    found = _best(at, (float(epsilon) + float(rho)) / (2 * float(rho)))
    return Fraction(1) if found is None else min(found, Fraction(1))


def zcdp_epsilon(rho: Fraction, delta: Fraction) -> Fraction:
    """The epsilon at a delta that follows from rho-zCDP, rounded up.

    Guarantee: as :func:`zcdp_delta`, solved for epsilon at every order.
    """
    if not 0 < delta < 1:
        raise WrongUse("zCDP is differential privacy at a delta above 0 and below 1; give one, like 1e-9")
    if not rho:
        return Fraction(0)

    def at(a: Fraction) -> Fraction:
        order = ball(a)
        rest = order * (1 - 1 / order).log() - (order - 1).log() - ball(delta).log()
        return max(rounded(upper(order * ball(rho) + rest / (order - 1)), up=True, digits=12), Fraction(0))

    found = _best(at, 1 + math.sqrt(-math.log(delta) / float(rho)))
    assert found is not None
    return found


# --- as steps of a derivation ------------------------------------------------------------------------------------


def of_noise(
    *noises: GaussianNoise, people: People | None = None, assumptions: tuple[Assumption, ...] = ()
) -> Derivation:
    """The promise of Gaussian noise on integers that one person moves.

    Guarantee: exp((a-1) D_a) = e^(a(a-1)|v|^2/(2 s2)) prod Z_(a v_i)/Z_0 and a lattice sum of Gaussians is largest
    around an integer, so D_a <= a |v|^2/(2 s2); of several releases the sum, also where each was chosen from the ones
    before, if the sum, or a bound on it, was fixed beforehand.
    """
    rho = sum((noise.rho for noise in noises), Fraction(0))
    numbers = texts(releases=len(noises), rho_out=rho)
    if len(noises) == 1:
        numbers = texts(variance=noises[0].s2, squared=noises[0].squared, moved=noises[0].moved, rho_out=rho)
    return state_promise(
        ConcentratedPrivacy(rho=rho), theorem=OF_NOISE, numbers=numbers, assumptions=assumptions, people=people
    )


def differential_to_concentrated(premise: Derivation) -> Derivation:
    """Pure differential privacy is zCDP.

    Guarantee: if M is epsilon-DP, then it is epsilon^2/2-zCDP under the same neighbours, for the same groups
    (Bun, Steinke 2016, Proposition 1.4). A mechanism with a delta above 0 has no finite rho.
    """
    theorem = Theorem("implied.differential-to-concentrated", "Proposition 1.4 (differential to zCDP)", BUN_STEINKE)
    given = premise.concluding(DifferentialPrivacy, theorem)
    if given.delta or isinstance(given.epsilon, Infinite):
        raise Refused(f"{theorem} starts from differential privacy without a delta, and was given {given}; use one")
    rho = given.epsilon**2 / 2
    return premise.then(
        theorem,
        ConcentratedPrivacy(rho=rho, neighbours=given.neighbours, group=given.group),
        numbers=texts(epsilon=given.epsilon, rho_out=rho),
    )


def concentrated_to_differential(premise: Derivation, *, delta: Fraction) -> Derivation:
    """From rho-zCDP to (epsilon, delta)-differential privacy.

    Guarantee: if M is rho-zCDP, then it is (epsilon, delta)-DP under the same neighbours, for the same groups, with the
    epsilon of :func:`zcdp_epsilon`.
    """
    theorem = Theorem("implied.concentrated-to-differential", "zCDP to differential, at a delta", CKS)
    given = premise.concluding(ConcentratedPrivacy, theorem)
    epsilon = zcdp_epsilon(given.rho, delta)
    return premise.then(
        theorem,
        DifferentialPrivacy(epsilon=epsilon, delta=delta, neighbours=given.neighbours, group=given.group),
        numbers=texts(rho=given.rho, delta=delta, epsilon_out=epsilon),
    )


def compose_concentrated(*derivations: Derivation) -> Derivation:
    """Sequential composition of zCDP: the rho of all releases add up.

    Guarantee: if M_j is rho_j-zCDP, all under the same neighbours, each possibly chosen after seeing the earlier ones
    while the rho_j, or a bound on their sum, were fixed beforehand, then publishing all of them is (sum of
    rho_j)-zCDP, for the smallest group of any (Bun, Steinke 2016, Lemma 1.7; the bound: Feldman, Zrnic 2021).
    Differential privacy without a delta comes in as zCDP.
    """
    theorem = Theorem("together.concentrated", "Composition (zCDP)", BUN_STEINKE)
    if len(derivations) < 2:
        raise WrongUse(f"{theorem} is about at least two releases, and {len(derivations)} was given; give them all")
    steps = tuple(
        differential_to_concentrated(step) if isinstance(step.conclusion, DifferentialPrivacy) else step
        for step in derivations
    )
    given = [step.concluding(ConcentratedPrivacy, theorem) for step in steps]
    rho = sum((each.rho for each in given), Fraction(0))
    return Derivation(
        conclusion=ConcentratedPrivacy(
            rho=rho, neighbours=one_relation(given, theorem), group=min(each.group for each in given)
        ),
        theorem=theorem,
        premises=steps,
        numbers=texts(releases=len(given), rho_out=rho),
        assumptions=(INDEPENDENT, FIXED_RHO),
    )


def concentrated_group(premise: Derivation, *, group: int) -> Derivation:
    """Group privacy of zCDP.

    Guarantee: if M is rho-zCDP for groups of g, then for groups of c it is b^2 rho-zCDP, b = ceil(c/g)
    (Bun, Steinke 2016, Proposition 1.9). For Gaussian noise that is exact: the vectors of c people add.
    """
    theorem = Theorem("group.concentrated-group", "Proposition 1.9 (zCDP for groups)", BUN_STEINKE)
    given = premise.concluding(ConcentratedPrivacy, theorem)
    blocks = -(-size(group, "the group size") // given.group)
    rho = blocks**2 * given.rho
    return premise.then(
        theorem,
        ConcentratedPrivacy(rho=rho, neighbours=given.neighbours, group=group),
        numbers=texts(group=group, steps=blocks, rho_out=rho),
    )


def concentrated_to_replace(premise: Derivation) -> Derivation:
    """From add/remove to replace: replacing a person is removing one and adding one.

    Guarantee: if M is rho-zCDP under add/remove, then it is 4 rho-zCDP under replacement: a group of two steps. Where
    the noise is Gaussian and one person moves numbers upwards only, 2 rho holds (:meth:`GaussianNoise.under_replacement`).
    """
    theorem = Theorem("implied.concentrated-to-replace", "Two steps (zCDP)", BUN_STEINKE, TO_REPLACE)
    given = premise.concluding(ConcentratedPrivacy, theorem)
    if given.neighbours is not Neighbours.ADD_REMOVE:
        raise Refused(f"{theorem} starts from add/remove neighbours, and {given} is about replacement already")
    rho = 4 * given.rho
    conclusion: Guarantee = ConcentratedPrivacy(rho=rho, neighbours=Neighbours.REPLACE, group=given.group)
    return premise.then(theorem, conclusion, numbers=texts(rho_out=rho))
