"""The exact privacy of a channel against its proof: where the laws say otherwise, the proof is not believed."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

import pytest

from hubbub.audit.exact import of_channel
from hubbub.audit.faults import Family
from hubbub.channels.law import Dense, Law
from hubbub.channels.protocol import Proof
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.numeric.exact import ball, exp
from hubbub.runtime.frozen import dataclass

REACH = 60


def table(rate: Fraction, count: int) -> Law:
    """Two-sided geometric noise written out value by value, but for its tails."""
    peak = (ball(rate) / 2).tanh()
    masses = tuple(peak * exp(-rate * abs(away)) for away in range(-REACH, REACH + 1))
    return Law((), (Dense(count - REACH, masses),), missing=Fraction(1, 10**20))


@dataclass(frozen=True)
class Believed(Family):
    """Laws with a proof that somebody wrote beside them."""

    proofs: ClassVar[tuple[Proof, ...]] = (Proof(flat(1), "somebody says so"),)


@pytest.mark.parametrize(("rate", "word"), [("1", "proved"), ("0.99", "proved"), ("1.01", "refuted")])
def test_a_proof_that_a_table_of_laws_contradicts_is_not_believed(rate: str, word: str) -> None:
    made = Believed(lambda count: table(Fraction(rate), count), DifferentialPrivacy(epsilon=Fraction(1)))
    assert of_channel(made).word == word
