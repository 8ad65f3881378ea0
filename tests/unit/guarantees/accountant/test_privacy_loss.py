"""The law of many losses: against every outcome of every coin, in balls, and never below it."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.profile import exact_delta
from hubbub.channels.subsample import Subsampled
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.advanced_composition import FIXED, differential_beforehand, differential_so_far
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_delta, composed_epsilon, laws
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.guarantees.derivation import state_promise
from hubbub.numeric.exact import INFINITY, ball, exp, lower, upper

TINY, HALF = Fraction(1, 10**60), Fraction(1, 2)


def exactly(coins: list[RandomizedResponsePair], epsilon: Fraction) -> arb:
    """The delta of all coins together: every outcome, both directions, summed."""
    found = []
    for way in (0, 1):
        total, hidden = arb(0), Fraction(1)
        for coin in coins:
            hidden *= 1 - coin.rate * coin.delta
        for sides in product(*(coin.ways()[way] for coin in coins)):
            loss, mass = arb(0), ball(hidden)
            for each, weight in sides:
                loss, mass = loss + each, mass * weight
            total += mass * (1 - (ball(epsilon) - loss).exp()).nonnegative_part()
        found.append(total + ball(1 - hidden))
    return found[0].max(found[1])


coins = st.builds(
    RandomizedResponsePair,
    epsilon=st.fractions(0, 3, max_denominator=12),
    delta=st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 1000)]),
    rate=st.sampled_from([Fraction(1), Fraction(1, 10), Fraction(2, 3)]),
)


@given(given=st.lists(coins, min_size=1, max_size=6), epsilon=st.fractions(0, 6, max_denominator=10))
@settings(max_examples=25, deadline=None)
def test_the_delta_is_never_below_the_truth_and_hardly_above(
    given: list[RandomizedResponsePair], epsilon: Fraction
) -> None:
    truth, found = exactly(given, epsilon), composed_delta(given, epsilon)
    assert found >= lower(truth)
    # Losses were rounded up by less than a thousandth of their sum.
    shifted = epsilon - sum((coin.most for coin in given), Fraction(0)) / 1000
    assert found <= upper(exactly(given, shifted)) * (1 + Fraction(1, 10**15)) + TINY


def test_where_the_two_directions_differ_both_are_looked_at() -> None:
    """A sample makes adding a person unlike removing one; without any, one direction is the other."""
    whole, sampled = RandomizedResponsePair(epsilon=Fraction(1)), RandomizedResponsePair(epsilon=Fraction(1), rate=HALF)
    assert [len(list(laws(several))) for several in ([whole], [whole] * 3)] == [1, 1]
    for several, at in (([sampled], "0.1"), ([sampled] * 3, "0.1"), ([whole, sampled], "1.2")):
        one, other = laws(several)
        assert not one.delta_at(Fraction(at)).overlaps(other.delta_at(Fraction(at)))


def test_a_loss_between_two_steps_is_spread_over_both_at_the_same_mean_of_its_odds() -> None:
    """Connect the dots: the delta is never below the truth at any epsilon, and off by a square of the step."""
    one, two = (RandomizedResponsePair(epsilon=Fraction(each)) for each in ("0.1", "0.07071"))
    for at in ("0", "0.05", "0.3", "0.5"):
        truth = exactly([one] * 3 + [two] * 3, Fraction(at))
        for step, most in (("0.02", Fraction(3, 100)), ("0.002", Fraction(3, 10_000))):
            (law,) = laws([one] * 3 + [two] * 3, Fraction(step))
            assert lower(truth) <= upper(law.delta_at(Fraction(at))) <= upper(truth) * (1 + most)


@given(given=st.lists(coins, min_size=1, max_size=5), delta=st.sampled_from([Fraction(1, 50), Fraction(1, 10**4)]))
@settings(max_examples=15, deadline=None)
def test_the_epsilon_is_enough_and_never_above_the_sum(given: list[RandomizedResponsePair], delta: Fraction) -> None:
    found = composed_epsilon(given, delta)
    if found is INFINITY:
        assert 1 - (1 - Fraction(1, 1000)) ** len(given) > delta
        return
    assert isinstance(found, Fraction)
    assert lower(exactly(given, found)) <= delta
    assert found <= sum((coin.most for coin in given), Fraction(0)) or any(coin.delta for coin in given)


def test_equal_releases_have_the_closed_form_of_kairouz_oh_and_viswanath() -> None:
    n, epsilon, at = 20, Fraction(1, 10), Fraction(1, 2)
    found = composed_delta([RandomizedResponsePair(epsilon=epsilon)] * n, at)
    whole = (1 + exp(epsilon)) ** n
    right = sum(
        (
            comb(n, i) * (exp(epsilon * (n - i)) - exp(at + epsilon * i)).nonnegative_part() / whole
            for i in range(n + 1)
        ),
        arb(0),
    )
    assert lower(right) <= found <= upper(right) * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1, 10)])
def test_geometric_noise_is_a_coin_sampled_or_not(rate: Fraction) -> None:
    channel = Geometric(Fraction(1)) if rate == 1 else Subsampled(rate, Geometric(Fraction(1)))
    for at in (Fraction(0), Fraction(1, 20), Fraction(1, 10)):
        coin = composed_delta([RandomizedResponsePair(epsilon=Fraction(1), rate=rate)], at)
        assert float(coin) == pytest.approx(float(upper(exact_delta(channel, 1, at))), rel=1e-3)
        assert coin >= lower(exact_delta(channel, 1, at))


def test_coins_that_look_alike_are_counted_each() -> None:
    alike = [
        RandomizedResponsePair(epsilon=Fraction(0), delta=Fraction(1, 100)),
        RandomizedResponsePair(epsilon=Fraction(0), delta=Fraction(1, 50), rate=HALF),
    ]
    assert composed_delta(alike, Fraction(0)) >= 1 - Fraction(99, 100) ** 2


def test_fifty_releases_do_not_cost_fifty_epsilons() -> None:
    fifty = [state_promise(DifferentialPrivacy(epsilon=Fraction(1, 10)))] * 50
    found = differential_beforehand(*fifty, at_delta=Fraction(1, 10**9))
    assert isinstance(found.conclusion, DifferentialPrivacy)
    assert float(found.conclusion.epsilon) == pytest.approx(3.95311, rel=1e-5)  # and not 5
    assert FIXED in found.assumptions
    sampled = differential_beforehand(*fifty, at_delta=Fraction(1, 10**9), rates=[Fraction(1, 10)] * 50)
    assert float(sampled.conclusion.epsilon) == pytest.approx(0.359652, rel=1e-5)  # type: ignore[union-attr]
    chosen = differential_so_far(*fifty, at_delta=Fraction(1, 10**9))
    assert float(chosen.conclusion.epsilon) == pytest.approx(4.35456, rel=1e-5)  # type: ignore[union-attr]


def test_what_does_not_fit_is_refused() -> None:
    one, other = DifferentialPrivacy(epsilon=Fraction(1)), DifferentialPrivacy(epsilon=INFINITY)
    replaced = DifferentialPrivacy(epsilon=Fraction(1), neighbours=Neighbours.REPLACE)
    with pytest.raises(Refused, match="one neighbouring relation"):
        differential_beforehand(state_promise(one), state_promise(replaced), at_delta=Fraction(1, 10))
    with pytest.raises(Refused, match="promises nothing"):
        differential_so_far(state_promise(one), state_promise(other), at_delta=Fraction(1, 10))
    leaky = DifferentialPrivacy(epsilon=Fraction(1), delta=Fraction(1, 10))
    with pytest.raises(Refused, match="more than the delta asked for"):
        differential_beforehand(state_promise(leaky), state_promise(leaky), at_delta=Fraction(1, 10))
    with pytest.raises(WrongUse, match="at least one"):
        differential_so_far(at_delta=Fraction(1, 10))


def test_fresh_samples_are_taken_for_granted_only_where_something_is_sampled() -> None:
    two = [state_promise(DifferentialPrivacy(epsilon=Fraction(1, 10)))] * 2
    for rates, fresh in ((None, False), ([Fraction(1)] * 2, False), ([Fraction(1), Fraction(1, 2)], True)):
        for way in (differential_beforehand, differential_so_far):
            step = way(*two, at_delta=Fraction(1, 10**9), rates=rates)
            assert any("fresh secret sample" in text for text in step.all_assumptions()) is fresh
