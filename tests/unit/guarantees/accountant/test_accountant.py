"""Geometric and Gaussian releases as one: exact, under one relation, for groups and on samples."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.accountant import (
    MOST_KINDS,
    Accountant,
    Repeated,
    _count_pairs,
    _few,
    differential_exactly,
    of_noises,
    of_pair,
)
from hubbub.guarantees.accountant.gaussian import (
    GaussianNoise,
    SampledGaussianPair,
    by_ones,
    delta_of,
    gaussian_total,
)
from hubbub.guarantees.accountant.odometer import EXPONENTS, epsilon_of
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy
from hubbub.guarantees.derivation import state_promise
from hubbub.guarantees.neighbours import Neighbours
from hubbub.numeric.exact import Infinite
from hubbub.serialization.exact_json import plain, restored

MILLIONTH, BILLIONTH = Fraction(1, 10**6), Fraction(1, 10**9)
COIN = RandomizedResponsePair(epsilon=Fraction(1, 10))
NOISE = GaussianNoise(s2=Fraction(100))


def many(coins: int, noises: int) -> Accountant:
    pairs = (Repeated(pair=COIN, times=coins),) if coins else ()
    return Accountant(pairs=pairs, gaussian=gaussian_total([NOISE] * noises) if noises else None)


@pytest.mark.slow
def test_twenty_and_twenty_cost_2_87_and_not_their_sum() -> None:
    found = many(20, 20).epsilon_at(MILLIONTH)
    assert isinstance(found, Fraction)
    assert 2.855 < float(found) <= 2.875
    one_by_one = many(0, 0)
    for each in [of_pair(COIN)] * 20 + [of_noises([NOISE])] * 20:
        one_by_one = one_by_one + each
    assert one_by_one == many(20, 20), "however they come in"


def test_what_is_added_up_survives_json() -> None:
    both = many(3, 2) + of_pair(SampledGaussianPair(s2=Fraction(4), moved=2, rate=Fraction(1, 10)))
    assert restored(Accountant, plain(both)) == both


def test_unlike_neighbours_never_add_up() -> None:
    with pytest.raises(Refused, match="one neighbouring relation"):
        of_pair(COIN) + of_noises([NOISE.under_replacement()], Neighbours.REPLACE)
    step = state_promise(DifferentialPrivacy(epsilon=Fraction(1), neighbours=Neighbours.REPLACE))
    with pytest.raises(Refused, match="under add/remove alone"):
        differential_exactly(many(1, 1), step, at_delta=MILLIONTH)
    with pytest.raises(Refused, match="takes differential privacy"):
        differential_exactly(many(1, 1), state_promise(CrowdBlending(k=5, epsilon=Fraction(0))), at_delta=MILLIONTH)


def test_a_group_of_g_is_g_times_as_far_and_a_swap_root_two() -> None:
    group, whole = gaussian_total([NOISE]).group(3), gaussian_total([NOISE.group(3)])
    assert group == whole
    assert group.rho == 9 * NOISE.rho
    swap = gaussian_total([NOISE.under_replacement()])
    assert (swap.rho, swap.squares[0]) == (2 * NOISE.rho, 2 * gaussian_total([NOISE]).squares[0])
    signed = GaussianNoise(s2=Fraction(100), squared=Fraction(2), moved=4, signed=True)
    assert signed.under_replacement().rho == 4 * signed.rho, "downwards and upwards may add"
    assert many(2, 1).group(2).pairs[0].pair == RandomizedResponsePair(epsilon=Fraction(1, 5))


def brute(v: tuple[int, ...], s2: float, epsilon: float) -> float:
    """The sum over Z^n of (P - e^epsilon Q)_+ where v is how far the two laws are apart."""
    reach = math.ceil(9 * math.sqrt(s2)) + max(map(abs, v))
    line = range(-reach, reach + 1)
    weights = {x: math.exp(-x * x / (2 * s2)) for x in range(-2 * reach, 2 * reach + 1)}
    whole = math.fsum(weights.values())
    terms = []
    for point in product(line, repeat=len(v)):
        p = math.prod(weights[x] / whole for x in point)
        q = math.prod(weights[x - move] / whole for x, move in zip(point, v, strict=True))
        terms.append(max(p - math.exp(epsilon) * q, 0.0))
    return math.fsum(terms)


@pytest.mark.parametrize(
    ("noise", "v"), [(by_ones(Fraction(3), 1).under_replacement(), (1, -1)), (by_ones(Fraction(3), 1).group(2), (2,))]
)
def test_groups_and_swaps_bound_the_true_pair(noise: GaussianNoise, v: tuple[int, ...]) -> None:
    for epsilon in ("0.2", "1"):
        true = brute(v, 3.0, float(epsilon))
        assert true - 1e-15 <= float(delta_of(noise, Fraction(epsilon))) < max(3 * true, 1e-3)


def test_many_kinds_are_rounded_up_to_few_and_never_to_less() -> None:
    total, exact = Accountant(), Fraction(0)
    for i in range(1, 3 * MOST_KINDS):
        total += of_pair(RandomizedResponsePair(epsilon=Fraction(1, i)))
        exact += Fraction(1, i)
    assert len(total.pairs) <= MOST_KINDS
    assert sum(each.times for each in total.pairs) == 3 * MOST_KINDS - 1
    basic = total.basic
    assert isinstance(basic, Fraction)
    assert exact <= basic <= 2 * exact


def test_however_each_was_chosen_gaussian_noise_grows_by_rho_and_pays_no_delta() -> None:
    total = many(0, 10)
    assert total.infinite_mass == 0
    assert isinstance(total.basic, Infinite)
    adaptive = epsilon_of(total.growths(), total.basic, BILLIONTH)
    planned = total.epsilon_at(BILLIONTH)
    assert planned < adaptive < Fraction(3, 2) * planned, "it costs something not to have planned"


# --- on a secret sample (2.1) ------------------------------------------------------------------------------------


def sampled_brute(s2: float, d: int, rate: float, epsilon: float, others: int) -> float:
    """Both directions over everybody in the sample: `others` people share the person's bins, each sampled or not."""
    reach = math.ceil(9 * math.sqrt(s2)) + others + 1
    weights = {x: math.exp(-x * x / (2 * s2)) for x in range(-2 * reach, 2 * reach + 1)}
    whole = math.fsum(weights.values())
    chances = [math.comb(others, m) * rate**m * (1 - rate) ** (others - m) for m in range(others + 1)]
    without, with_ = [], []
    for point in product(range(-reach, reach + 1), repeat=d):
        laws = [
            math.fsum(
                c * math.prod(weights.get(x - m - shift, 0.0) / whole for x in point) for m, c in enumerate(chances)
            )
            for shift in (0, 1)
        ]
        without.append(laws[0])
        with_.append((1 - rate) * laws[0] + rate * laws[1])
    grow = math.exp(epsilon)
    up = math.fsum(max(a - grow * b, 0) for a, b in zip(with_, without, strict=True))
    down = math.fsum(max(b - grow * a, 0) for a, b in zip(with_, without, strict=True))
    return max(up, down)


@pytest.mark.parametrize(
    ("s2", "d", "rate", "epsilon"), [("2", 1, "0.3", "0.3"), ("4", 1, "0.1", "0.1"), ("1", 2, "0.5", "0.7")]
)
def test_noise_on_a_poisson_sample_is_never_above_and_equal_when_others_are_elsewhere(
    s2: str, d: int, rate: str, epsilon: str
) -> None:
    pair = SampledGaussianPair(s2=Fraction(s2), moved=d, rate=Fraction(rate))
    claimed = float(pair.delta_at(Fraction(epsilon)))
    alone = sampled_brute(float(s2), d, float(rate), float(epsilon), 0)
    assert claimed == pytest.approx(alone, abs=1e-14)
    for others in range(1, 5 if d == 1 else 3):
        assert sampled_brute(float(s2), d, float(rate), float(epsilon), others) <= claimed + 1e-14


def test_the_law_of_a_sampled_loss_has_its_profile_and_the_larger_one_is_upwards() -> None:
    pair = SampledGaussianPair(s2=Fraction(4), moved=1, rate=Fraction(1, 10))
    for epsilon in (Fraction(1, 10), Fraction(1, 2)):
        up, down = (float(pair.law(way, Fraction(1, 4000)).delta_at(epsilon).mid()) for way in (0, 1))
        true = float(pair.delta_at(epsilon))
        assert true <= up <= 1.01 * true
        assert down <= up


@pytest.mark.slow
def test_twelve_fresh_samples_compose_by_the_loss_law() -> None:
    """5.5: p = .1, twelve releases, delta 1e-9, standard deviation 2.61: E = 1, and not the sum of the twelve."""
    pair = SampledGaussianPair(s2=Fraction("6.8121"), moved=1, rate=Fraction(1, 10))
    found = Accountant(pairs=(Repeated(pair=pair, times=12),)).epsilon_at(BILLIONTH)
    assert isinstance(found, Fraction)
    assert float(found) == pytest.approx(1, abs=0.01)
    with pytest.raises(Refused, match="secret sample"):
        of_pair(pair).group(2)


def test_nothing_is_no_release() -> None:
    with pytest.raises(WrongUse, match="less than once"):
        Repeated(pair=COIN, times=0)
    with pytest.raises(WrongUse, match="at least one release"):
        differential_exactly(many(1, 0), at_delta=MILLIONTH)
    with pytest.raises(WrongUse, match="no Gaussian release"):
        gaussian_total([])


def test_gaussian_noise_grows_by_a_times_a_plus_1_times_rho() -> None:
    total = gaussian_total([by_ones(Fraction(100), 1)])
    assert of_noises([by_ones(Fraction(100), 1)]).growths() == tuple(a * (a + 1) * total.rho for a in EXPONENTS)
    assert total.rho >= Fraction(1, 200)


@given(st.lists(st.integers(1, MOST_KINDS + 8), min_size=1, max_size=60))
def test_a_pair_once_more_is_counted_as_any_other(which: list[int]) -> None:
    """The shorter way, for a pair that is known already, gives what the longer one gives, where each is counted anew."""
    pairs = [RandomizedResponsePair(epsilon=Fraction(1, i)) for i in which]
    longer: tuple[Repeated, ...] = ()
    for pair in pairs:
        longer = _few(_count_pairs((*longer, Repeated(pair=pair))))
    assert reduce(Accountant.__add__, map(of_pair, pairs)).pairs == longer
