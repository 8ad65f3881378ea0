"""The distributional game: what the calculator promises holds in exact laws, and half of it does not."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import pytest

from hubbub import account
from hubbub.channels.catalogue import channel
from hubbub.channels.divergence import hockey_stick
from hubbub.guarantees.definitions import BernoulliSample, DistributionalPrivacy
from hubbub.numeric.exact import to_float
from tests.unit.audit.distributional import laws, of_channel

RATE = Fraction(1, 10)
K = 20


def promised(share: Fraction) -> DistributionalPrivacy:
    found = account.distributional(K, "0.1").ask(delta="1e-3").found
    assert isinstance(found.epsilon, Fraction)
    return DistributionalPrivacy(epsilon=share * found.epsilon, sample=BernoulliSample(p=RATE), delta=Fraction(1, 1000))


def test_the_promise_of_the_calculator_holds_for_every_number_of_others_looked_at() -> None:
    found = of_channel(channel("exact-or-suppressed", k=K), promised(Fraction(1)), RATE, range(0, 400, 20))
    assert found.word == "undecided"
    assert "as close as promised" in found.why


def test_half_of_it_is_refuted_with_the_number_of_others() -> None:
    found = of_channel(channel("exact-or-suppressed", k=K), promised(Fraction(1, 4)), RATE, range(0, 400, 20))
    assert found.is_refuted
    assert found.witness is not None
    assert int(found.witness["others"]) > 0


@pytest.mark.parametrize("others", [0, 5, 30])
def test_the_laws_are_the_binomial_mixtures(others: int) -> None:
    made = channel("exact-or-suppressed", k=3)
    one, two = laws(made, RATE, others)
    epsilon = Fraction(1, 2)
    weights = [comb(others, m) * 0.1**m * 0.9 ** (others - m) for m in range(others + 1)]

    def law(extra: int) -> dict[int | None, float]:
        found: dict[int | None, float] = {}
        for m, weight in enumerate(weights):
            shown = m + extra if m + extra >= 3 else None
            found[shown] = found.get(shown, 0.0) + weight
        return found

    first, second = law(1), law(0)
    expected = sum(max(first.get(x, 0) - math.exp(0.5) * second.get(x, 0), 0) for x in {*first, *second})
    assert to_float(hockey_stick(one, two, epsilon), round_up=True) == pytest.approx(expected, abs=1e-12)
