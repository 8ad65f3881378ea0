"""Differential privacy for every data set is distributional privacy for every distribution of them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import Refused
from hubbub.guarantees.definitions import BernoulliSample, DifferentialPrivacy, DistributionalPrivacy, Neighbours
from hubbub.guarantees.derivation import state_promise
from hubbub.guarantees.implications import differential_to_distributional

SAMPLE = BernoulliSample(p=Fraction(1, 10))


def test_definition_21_differential_to_distributional() -> None:
    given = state_promise(DifferentialPrivacy(epsilon=Fraction(1, 2), delta=Fraction(1, 10**9)))
    found = differential_to_distributional(given, sample=SAMPLE)
    assert found.conclusion == DistributionalPrivacy(epsilon=Fraction(1, 2), delta=Fraction(1, 10**9), sample=SAMPLE)
    assert found.premises == (given,)


def test_not_under_replacement() -> None:
    given = state_promise(DifferentialPrivacy(epsilon=Fraction(1, 2), neighbours=Neighbours.REPLACE))
    with pytest.raises(Refused, match="add/remove"):
        differential_to_distributional(given, sample=SAMPLE)
