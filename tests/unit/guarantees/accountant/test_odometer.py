"""Releases whose epsilons are chosen on the way: the theorem against every strategy of a small game, summed exactly."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.guarantees.accountant.odometer import EXPONENTS, epsilon_of, epsilon_so_far, growths
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_epsilon
from hubbub.numeric.exact import INFINITY
from tests.unit.guarantees.accountant.strategies import by_tree, choices, excess

DELTA = Fraction(1, 20)


@cache
def so_far(coins: tuple[RandomizedResponsePair, ...]) -> Fraction:
    found = epsilon_so_far(coins, DELTA)
    assert isinstance(found, Fraction)
    return found


@given(tree=st.lists(choices, min_size=15, max_size=15), way=st.sampled_from([0, 1]))
@settings(max_examples=150, deadline=None)
def test_whoever_chooses_on_the_way_is_covered(tree: list[RandomizedResponsePair | None], way: int) -> None:
    assert excess(by_tree(tree), lambda coins: so_far(tuple(coins)), way) <= float(DELTA) * (1 + 1e-9)


LOOKS_FIRST = "1/2 1/5 4 1/5 1/5 - 1 2 1/5 1/5 4 2 4 4 -"
"""The next epsilon for each way the coins may have fallen, level by level; a dash ends it."""


def test_the_exact_curve_of_what_was_chosen_does_not_cover_them() -> None:
    """Why a ledger must not state it: the witness."""
    tree = [None if text == "-" else RandomizedResponsePair(epsilon=Fraction(text)) for text in LOOKS_FIRST.split()]

    def says(coins: list[RandomizedResponsePair]) -> Fraction:
        found = composed_epsilon(coins, DELTA)
        assert isinstance(found, Fraction)
        return found

    assert excess(by_tree(tree), says, 0) > 1.15 * float(DELTA)
    assert excess(by_tree(tree), lambda coins: so_far(tuple(coins)), 0) <= float(DELTA)


def test_a_huge_loss_is_added_up_like_any_other() -> None:
    """e^(a loss) is beyond what a ball can hold: what is then added is at most what the largest loss adds."""
    for epsilon in (100, 200, 1000, 10**6):
        for coin in (
            RandomizedResponsePair(epsilon=Fraction(epsilon)),
            RandomizedResponsePair(epsilon=Fraction(epsilon), rate=Fraction(1, 2)),
        ):
            for a, grown in zip(EXPONENTS, growths(coin), strict=True):
                assert a * (epsilon - 2) - 1 < grown <= a * coin.most * (1 + Fraction(1, 10**20))


def test_the_constant_of_an_exponent_is_a_to_the_a_over_1_plus_a_to_the_1_plus_a() -> None:
    """What is said is the least over all exponents of the formula in the theorem."""
    grown = [Fraction(1, 10) * a * (a + 1) for a in EXPONENTS]
    found = [
        (float(more) + float(a) * math.log(a) - float(1 + a) * math.log(1 + a) - math.log(DELTA / len(EXPONENTS)))
        / float(a)
        for more, a in zip(grown, EXPONENTS, strict=True)
    ]
    said = float(epsilon_of(grown, INFINITY, DELTA))
    assert math.isclose(said, min(found), rel_tol=1e-9)
    assert epsilon_of(grown, Fraction(1, 10**6), DELTA) == Fraction(1, 10**6)
