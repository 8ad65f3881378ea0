"""A derivation keeps its theorem, premises, numbers and assumptions, and can be walked however deep it is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.exact import INFINITY
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy
from hubbub.guarantees.derivation import Derivation, stated, texts

ONE = stated(DifferentialPrivacy(epsilon=Fraction(1)), assumptions=("a", "b"))
TWO = stated(DifferentialPrivacy(epsilon=Fraction(2)), theorem="Example 3", source="a paper", assumptions=("b",))


def joined(*premises: Derivation) -> Derivation:
    return Derivation(
        conclusion=premises[0].conclusion, theorem="joined", source="here", premises=premises, assumptions=("c",)
    )


def test_a_leaf_is_stated() -> None:
    assert ONE.premises == ()
    assert (TWO.theorem, TWO.source, ONE.source) == ("Example 3", "a paper", "the caller")


def test_a_step_names_its_statement() -> None:
    with pytest.raises(WrongUse, match="must name the statement"):
        stated(ONE.conclusion, theorem=" ")


def test_steps_come_premises_first_and_once() -> None:
    pair = joined(ONE, TWO)
    top = joined(pair, ONE, pair)
    assert list(top.steps()) == [ONE, TWO, pair, top]


def test_a_deep_tree_can_be_walked() -> None:
    chain = ONE
    for _ in range(5000):
        chain = joined(chain)
    assert sum(1 for _ in chain.steps()) == 5001
    assert chain.all_assumptions() == ("a", "b", "c")


def test_assumptions_are_collected_once_in_order() -> None:
    assert joined(ONE, TWO).all_assumptions() == ("a", "b", "c")


def test_a_theorem_refuses_what_it_does_not_start_from() -> None:
    assert ONE.concluding(DifferentialPrivacy, "Theorem X").epsilon == 1
    with pytest.raises(Refused, match="Theorem X starts from crowd-blending privacy, and the premise is 1-DP"):
        ONE.concluding(CrowdBlending, "Theorem X")


def test_numbers_are_exact_text() -> None:
    assert texts(k=3, p=Fraction(1, 3), epsilon=INFINITY) == (("k", "3"), ("p", "1/3"), ("epsilon", "inf"))
