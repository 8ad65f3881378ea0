"""Lines of the errata whose witness is a short calculation."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import fields
from fractions import Fraction
from itertools import combinations, permutations

import pytest
from flint import arb

from hubbub.account import histogram
from hubbub.channels.law import Law, two_sided
from hubbub.channels.papers.lower_bound import lower_bound, on_a_grid
from hubbub.errors import WrongUse
from hubbub.guarantees.aggregates import RandomSample
from hubbub.guarantees.curve import read
from hubbub.guarantees.definitions import DistributionalPrivacy, ZeroKnowledge
from hubbub.guarantees.derivation import state_promise
from hubbub.guarantees.implications import zero_knowledge_group_total_variation
from hubbub.numeric.exact import exp
from hubbub.voting.guarantees.guarantee import gain_bound


def test_e4_the_guess_of_choice_a1_is_seldom_low() -> None:
    """k' >= k - 2s except with probability q^(s+1)/(1+q), half of what is printed."""
    epsilon, shift, count = Fraction(1, 2), 20, 100
    noise = Law(two_sided(count - shift, epsilon))
    low = noise.at_most(count - 2 * shift - 1)
    q = exp(-epsilon)
    assert low <= q ** (shift + 1) / (1 + q) * (1 + arb(10) ** -20)
    assert low > (q ** (shift + 1) / (1 + q)) * (1 - arb(10) ** -20)
    assert low < exp(-epsilon * shift) / 2


def test_e6_a_guess_is_never_below_what_the_guess_itself_costs() -> None:
    """On a grid of steps of 1/100 around a curve of 1 to 3 steps, epsilon_A being two of them."""
    price = Fraction(1, 50)
    for scale in (False, True):
        made = on_a_grid([1, 2, 3], [4, 4, 4], lambda shift: price, Fraction(1, 100), price, scale=scale)
        assert min(total for _, _, total in made.cells(-50, 50)) == price
    with pytest.raises(WrongUse, match="epsilon_a must be at most"):
        lower_bound(read("1:0.5,6:1").curve, "count", "0.6", 2)


def test_definition_21_has_no_k() -> None:
    assert {field.name for field in fields(DistributionalPrivacy)} == {"epsilon", "sample", "delta"}


def test_gap_2_pairing_in_order_does_not_keep_the_law() -> None:
    """Two samples of two out of four, paired smallest with smallest, each pair swapped by a coin."""
    law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for first in combinations(range(1, 5), 2):
        second = tuple(sorted(set(range(1, 5)) - set(first)))
        for a in (first[0], second[0]):
            for b in (first[1], second[1]):
                law[tuple(sorted((a, b)))] += Fraction(1, 24)
    assert (law[1, 2], law[1, 4]) == (Fraction(1, 12), Fraction(1, 4))
    assert sum(law.values()) == 1


def test_gap_2_random_pairing_keeps_the_law() -> None:
    law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for first in combinations(range(1, 5), 2):
        for second in permutations(sorted(set(range(1, 5)) - set(first))):
            for a in (first[0], second[0]):
                for b in (first[1], second[1]):
                    law[tuple(sorted((a, b)))] += Fraction(1, 48)
    assert set(law.values()) == {Fraction(1, 6)}


def test_the_printed_error_of_a_histogram_says_nothing() -> None:
    found = histogram(10**4, 10**6, 100, "0.04")
    assert float(found.error.total) / 10**6 < 0.15


def test_theorem_26_4_asks_for_more_than_everybody() -> None:
    """sqrt(n) log(n)^2 delta^(-9/2) log(1/delta), constant 1, n a million."""
    n = 10**6
    for delta in (0.499, 0.4, 0.3, 0.2, 0.1, 0.01):
        assert math.sqrt(n) * math.log(n) ** 2 * delta**-4.5 * math.log(1 / delta) > n


# --- Theorem A1 wants a mechanism that is symmetric in its rows -------------------------------------------------------

EPSILON, PEOPLE = 3, 5


def _says(first: str, second: str) -> float:
    """The chance of an answer, but for a small constant: it changes by e^3 at most if one row is replaced."""
    return math.exp(EPSILON * ((first == "a") + (second == "2")))


def _answers(own: str, *, shuffled: bool) -> float:
    """The mean over all samples of two of the five, the first of whom has the row `own` and the others their number."""
    rows = [own, *map(str, range(2, PEOPLE + 1))]
    orders = permutations(rows, 2) if shuffled else combinations(rows, 2)
    said = [_says(*order) for order in orders]
    return sum(said) / len(said)


def test_theorem_a1_needs_a_mechanism_that_is_symmetric_in_its_rows() -> None:
    claimed = math.log(1 + 2 / 5 * (math.exp(EPSILON) - 1))
    kept = math.log(_answers("a", shuffled=False) / _answers("b", shuffled=False))
    shuffled = math.log(_answers("a", shuffled=True) / _answers("b", shuffled=True))
    assert (round(kept, 2), round(claimed, 2)) == (2.78, 2.16)
    assert shuffled < claimed < kept


def test_tails_of_whole_noise_are_larger_by_2_over_1_plus_a() -> None:
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
        a = exp(-epsilon)
        noise = Law(two_sided(0, epsilon))
        for m in (1, 5, 20):
            both = noise.at_least(m) + noise.at_most(-m)
            assert (both / a**m).overlaps(2 / (1 + a))
            assert both > a**m


def test_proposition_4_sharpened_is_not_always_below_half_of_the_printed_bound() -> None:
    aggregate = RandomSample(k=10, n=1000)

    def sharp(delta: Fraction) -> float:
        promise = ZeroKnowledge(epsilon=Fraction(1, 10), delta=delta, aggregate=aggregate)
        found = zero_knowledge_group_total_variation(state_promise(promise), group=2).conclusion
        assert isinstance(found, ZeroKnowledge)
        return float(found.delta)

    def printed(delta: Fraction) -> float:
        return 3 * (math.exp(0.1) - 1 + float(delta))

    assert sharp(Fraction(1, 1000)) < printed(Fraction(1, 1000)) / 2
    assert sharp(Fraction(1, 10)) > printed(Fraction(1, 10)) / 2


@pytest.mark.parametrize(
    ("rule", "quarter", "third"), [("repeated-plurality", 6.5e-3, 5.4e-3), ("approximate-runoff", 7.1e-3, 5.4e-3)]
)
def test_theorem_b1_at_1001_voters_and_a_margin_of_124(rule: str, quarter: float, third: float) -> None:
    for alpha, printed in ((Fraction(1, 4), quarter), (Fraction(1, 3), third)):
        assert float(gain_bound(rule, 1001, 3, 124, alpha)) == pytest.approx(printed, rel=0.01)
