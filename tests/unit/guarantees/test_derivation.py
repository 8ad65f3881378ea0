"""A derivation keeps its theorem, premises, numbers and assumptions, and can be walked however deep it is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy
from hubbub.guarantees.derivation import Assumption, Derivation, Theorem, state_promise, texts
from hubbub.guarantees.people import People, Whose
from hubbub.numeric.exact import INFINITY

A, B, C = (Assumption(name, name) for name in "abc")
X = Theorem("x", "Theorem X", "here")

ONE = state_promise(DifferentialPrivacy(epsilon=Fraction(1)), assumptions=(A, B))
TWO = state_promise(
    DifferentialPrivacy(epsilon=Fraction(2)), theorem=Theorem("3", "Example 3", "a paper"), assumptions=(B,)
)


def joined(*premises: Derivation) -> Derivation:
    return Derivation(conclusion=premises[0].conclusion, theorem=X, premises=premises, assumptions=(C,))


def test_a_leaf_is_stated() -> None:
    assert ONE.premises == ()
    assert (str(TWO.theorem), TWO.theorem.source, ONE.theorem.source) == ("Example 3", "a paper", "the caller")


def test_a_step_names_its_statement() -> None:
    for number, name in (("x", " "), (" ", "Theorem X")):
        with pytest.raises(WrongUse, match="must name the statement"):
            Theorem(number, name, "here")


def test_an_assumption_says_what_it_was_given_and_no_brace_of_a_stranger_matters() -> None:
    named = Assumption("bins", "{column} is public", (("column", "{0} {column}"),))
    assert str(named) == "{0} {column} is public"


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
    assert ONE.concluding(DifferentialPrivacy, X).epsilon == 1
    with pytest.raises(Refused, match="Theorem X starts from crowd-blending privacy, and the premise is 1-DP"):
        ONE.concluding(CrowdBlending, X)


def test_a_conclusion_is_about_the_people_of_its_premises() -> None:
    table, kept = People(person="id"), People(whose=Whose.KEPT_ROWS, person="id")
    first, second = (state_promise(ONE.conclusion, people=people) for people in (table, kept))
    assert joined(first, first).people == table
    assert joined(ONE).people is None
    moved = Derivation(conclusion=ONE.conclusion, theorem=X, premises=(second,), people=table)
    assert moved.people == table  # a theorem may lead from some people to others, and then says to whom


def test_premises_about_unlike_people_are_refused() -> None:
    several = (People(), People(person="id"), People(person="name"), People(whose=Whose.POPULATION), None)
    steps = [state_promise(ONE.conclusion, people=people) for people in several]
    for i, one in enumerate(steps):
        for other in steps[:i]:
            with pytest.raises(Refused, match="promises about unlike people do not add up"):
                joined(one, other)


def test_what_goes_in_and_what_comes_out_are_told_apart_by_name() -> None:
    step = state_promise(ONE.conclusion, numbers=texts(p=1, epsilon_out=2))
    assert step.inputs == (("p", "1"),)


def test_numbers_are_exact_text() -> None:
    assert texts(k=3, p=Fraction(1, 3), epsilon=INFINITY) == (("k", "3"), ("p", "1/3"), ("epsilon", "inf"))
