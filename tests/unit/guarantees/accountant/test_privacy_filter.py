"""A cap that was fixed beforehand: the theorem against every strategy of small games, summed exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.guarantees.accountant.odometer import EXPONENTS, epsilon_so_far, epsilon_under_cap, exponent_for, growths
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_epsilon
from hubbub.numeric.exact import INFINITY
from tests.unit.guarantees.accountant.strategies import by_tree, choices, excess

DELTA = Fraction(1, 20)
COINS = tuple(RandomizedResponsePair(epsilon=Fraction(text)) for text in ("0.4", "0.8"))


def under_cap(coins: tuple[RandomizedResponsePair, ...], cap: Fraction, delta: Fraction) -> Fraction:
    grown = [sum((growths(coin)[i] for coin in coins), Fraction(0)) for i in range(len(EXPONENTS))]
    return epsilon_under_cap(grown, sum((coin.most for coin in coins), Fraction(0)), cap, delta)


@pytest.mark.parametrize("cap", [Fraction(1), Fraction(2), Fraction(4)])
def test_privacy_filter_the_best_strategy_under_a_cap_gains_no_more_than_its_delta(cap: Fraction) -> None:
    """The most that anybody who chooses on the way can get, by working backwards over all that can happen."""
    admitted = cache(lambda few, many: under_cap((COINS[0],) * few + (COINS[1],) * many, cap, DELTA) <= cap)
    sizes = [float(coin.epsilon) for coin in COINS]

    @cache
    def best(few: int, many: int, up_few: int, up_many: int) -> float:
        loss = sizes[0] * (2 * up_few - few) + sizes[1] * (2 * up_many - many)
        found = max(1 - math.exp(float(cap) - loss), 0.0)
        for which, (more_few, more_many) in enumerate(((1, 0), (0, 1))):
            if admitted(few + more_few, many + more_many):
                right = 1 / (1 + math.exp(-sizes[which]))
                won = best(few + more_few, many + more_many, up_few + more_few, up_many + more_many)
                lost = best(few + more_few, many + more_many, up_few, up_many)
                found = max(found, right * won + (1 - right) * lost)
        return found

    gained = best(0, 0, 0, 0)
    assert gained <= float(DELTA) * (1 + 1e-9)
    assert admitted(0, {1: 1, 2: 2, 4: 5}[int(cap)]), "so little is admitted that the check says nothing"
    if cap == 4:
        assert gained > 0.1 * float(DELTA), "the bound is so loose that the check says nothing"


@given(
    tree=st.lists(choices, min_size=15, max_size=15),
    way=st.sampled_from([0, 1]),
    cap=st.sampled_from([Fraction(1), Fraction(3)]),
)
@settings(max_examples=60, deadline=None)
def test_whoever_chooses_on_the_way_is_covered(
    tree: list[RandomizedResponsePair | None], way: int, cap: Fraction
) -> None:
    chosen = by_tree(tree)
    says = cache(lambda coins: under_cap(coins, cap, DELTA))

    def capped(path: tuple[tuple[RandomizedResponsePair, int], ...]) -> RandomizedResponsePair | None:
        coin = chosen(path)
        made = tuple(each for each, _ in path)
        return coin if coin is not None and says((*made, coin)) <= cap else None

    assert excess(capped, lambda coins: says(tuple(coins)), way) <= float(DELTA) * (1 + 1e-9)
    assert excess(capped, lambda coins: cap, way) <= float(DELTA) * (1 + 1e-9)


@pytest.mark.parametrize(("many", "epsilon", "most"), [(50, "0.1", "1.04"), (500, "0.1", "1.05")])
def test_a_cap_that_is_fixed_beforehand_admits_nearly_what_a_plan_does(many: int, epsilon: str, most: str) -> None:
    coins, delta = (RandomizedResponsePair(epsilon=Fraction(epsilon)),) * many, Fraction(1, 10**9)
    exact, odometer = composed_epsilon(coins, delta), epsilon_so_far(coins, delta)
    assert isinstance(exact, Fraction)
    cap = exact * Fraction(most)
    assert under_cap(coins, cap, delta) <= cap < odometer


def test_the_exponent_of_a_cap_is_one_that_sums_are_kept_for_and_falls_with_the_cap() -> None:
    found = [exponent_for(Fraction(cap), Fraction(1, 10**6)) for cap in ("0.1", "1", "10")]
    assert all(a in EXPONENTS for a in found)
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 3


def test_a_loss_without_end_is_admitted_by_its_moments_alone() -> None:
    grown = [a * (a + 1) * Fraction(1, 100) for a in EXPONENTS]
    assert epsilon_under_cap(grown, INFINITY, Fraction(1), Fraction(1, 10**6)) <= 1
