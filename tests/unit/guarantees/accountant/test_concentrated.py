"""zCDP: adds up without a delta, is never below the exact law, and says what another accountant says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub import account
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.accountant import of_noises
from hubbub.guarantees.accountant.concentrated import (
    compose_concentrated,
    concentrated_group,
    concentrated_to_differential,
    concentrated_to_replace,
    differential_to_concentrated,
    of_noise,
    zcdp_delta,
    zcdp_epsilon,
)
from hubbub.guarantees.accountant.gaussian import by_ones, delta_of
from hubbub.guarantees.definitions import ConcentratedPrivacy, DifferentialPrivacy
from hubbub.guarantees.derivation import state_promise
from hubbub.guarantees.implications import is_weaker
from hubbub.guarantees.neighbours import Neighbours

RECORDED: list[tuple[int, int, int, str, float, float]] = [
    (1, 100, 1, "1e-06", 0.396790, 0.429941),
    (1, 100, 1, "1e-09", 0.534762, 0.564893),
    (20, 100, 1, "1e-06", 1.994616, 2.141939),
    (20, 100, 1, "1e-09", 2.582923, 2.715482),
    (5, 50, 3, "1e-06", 2.491953, 2.672936),
    (5, 50, 3, "1e-09", 3.208221, 3.371012),
]
"""Printed by benchmarks.concentrated with dp-accounting 0.6.0: releases, variance, numbers moved, delta, and epsilon by the
law of discrete Gaussian noise and by rho."""


@pytest.mark.parametrize(("times", "variance", "moved", "delta", "by_law", "by_rho"), RECORDED)
def test_epsilons_are_those_of_another_accountant(
    times: int, variance: int, moved: int, delta: str, by_law: float, by_rho: float
) -> None:
    noises = [by_ones(Fraction(variance), moved)] * times
    rho = sum((noise.rho for noise in noises), Fraction(0))
    ours = zcdp_epsilon(rho, Fraction(delta))
    assert float(ours) == pytest.approx(by_rho, rel=2e-3)
    exact = of_noises(noises).epsilon_at(Fraction(delta))
    assert isinstance(exact, Fraction)
    assert by_law * (1 - 1e-3) <= float(exact) <= by_law * 1.02, "Lemma C is above the exact law, and not far"
    assert exact < ours, "zCDP is never the only accountant"


def test_both_conversions_are_one_and_above_the_exact_profile() -> None:
    rho = Fraction(1, 200)
    for delta in (Fraction(1, 10**6), Fraction(1, 10**9)):
        epsilon = zcdp_epsilon(rho, delta)
        assert zcdp_delta(rho, epsilon) <= delta * Fraction(1001, 1000)
        assert delta_of(by_ones(Fraction(100), 1), epsilon) < delta
    assert zcdp_epsilon(Fraction(0), Fraction(1, 2)) == 0
    with pytest.raises(WrongUse, match="above 0"):
        zcdp_epsilon(rho, Fraction(0))


def test_rho_adds_up_without_a_delta_and_what_has_one_has_no_rho() -> None:
    pure, noise = state_promise(DifferentialPrivacy(epsilon=Fraction(1, 5))), of_noise(by_ones(Fraction(100), 1))
    both = compose_concentrated(pure, noise)
    assert both.conclusion == ConcentratedPrivacy(rho=Fraction(1, 50) + Fraction(1, 200))
    assert both.premises[0].conclusion == differential_to_concentrated(pure).conclusion
    with pytest.raises(Refused, match="without a delta"):
        compose_concentrated(state_promise(DifferentialPrivacy(epsilon=Fraction(1), delta=Fraction(1, 10**6))), noise)
    replaced = state_promise(ConcentratedPrivacy(rho=Fraction(1), neighbours=Neighbours.REPLACE))
    with pytest.raises(Refused, match="one neighbouring relation"):
        compose_concentrated(noise, replaced)
    with pytest.raises(Refused, match="already"):
        concentrated_to_replace(replaced)
    with pytest.raises(WrongUse, match="at least two"):
        compose_concentrated(noise)


def test_groups_pay_the_square_and_a_swap_by_rho_alone_four_times() -> None:
    noise = of_noise(by_ones(Fraction(100), 2))
    assert concentrated_group(noise, group=3).conclusion == ConcentratedPrivacy(rho=Fraction(9, 100), group=3)
    assert concentrated_to_replace(noise).conclusion.rho == Fraction(4, 100)  # type: ignore[union-attr]
    assert by_ones(Fraction(100), 2).under_replacement().rho == Fraction(2, 100), "where the noise is known it is twice"


def test_at_a_delta_it_is_differential_privacy_for_the_same_people_and_groups() -> None:
    given = state_promise(ConcentratedPrivacy(rho=Fraction(1, 8), neighbours=Neighbours.REPLACE, group=2))
    found = concentrated_to_differential(given, delta=Fraction(1, 10**6)).conclusion
    assert isinstance(found, DifferentialPrivacy)
    assert (found.neighbours, found.group, found.delta) == (Neighbours.REPLACE, 2, Fraction(1, 10**6))
    smaller = ConcentratedPrivacy(rho=Fraction(1, 9), neighbours=Neighbours.REPLACE, group=2)
    assert is_weaker(given.conclusion, smaller)
    assert not is_weaker(smaller, given.conclusion)
    with pytest.raises(WrongUse, match="infinite rho"):
        account.read_promise("concentrated:rho=inf")


def test_the_calculator_knows_rho_and_gaussian_noise() -> None:
    found = account.compose("differential:epsilon=0.1", "gaussian:variance=100", delta="1e-6")
    exact, chosen = found.conclusion, found.adaptive
    assert isinstance(exact, DifferentialPrivacy)
    assert chosen is not None
    assert chosen.conclusion.epsilon > exact.epsilon  # type: ignore[union-attr]
    rho = account.compose("differential:epsilon=0.1", "gaussian:variance=100,numbers=2").conclusion
    assert rho == ConcentratedPrivacy(rho=Fraction(3, 200))
    assert account.group("concentrated:rho=0.01", 3).conclusion == ConcentratedPrivacy(rho=Fraction(9, 100), group=3)
    assert account.convert("differential:epsilon=1", "concentrated").conclusion.rho == Fraction(1, 2)  # type: ignore[union-attr]
    with pytest.raises(WrongUse, match="at a delta"):
        account.convert("concentrated:rho=1", "differential")
    with pytest.raises(WrongUse, match="has no number"):
        account.compose("gaussian:sigma=1", "differential:epsilon=1", delta="1e-6")
    with pytest.raises(WrongUse, match="variance above 0"):
        account.compose("gaussian:variance=0", "differential:epsilon=1", delta="1e-6")
    with pytest.raises(Refused, match="is none"):
        account.compose("gaussian:variance=9", "crowd-blending:k=5,epsilon=0", delta="1e-6")


def test_a_delta_is_never_above_one() -> None:
    assert zcdp_delta(Fraction(10**6), Fraction(0)) == 1
    assert zcdp_delta(Fraction(0), Fraction(0)) == 0
