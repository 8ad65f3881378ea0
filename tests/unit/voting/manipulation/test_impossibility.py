"""Theorems 86 and 87 and Corollary 88 of the thesis, run: a witness, or the only rules that there are."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Undecided
from hubbub.voting.rules.rules import FirstInOrder, Lot, make
from hubbub.voting.ties import FixedTies
from tests.unit.voting.manipulation.impossibility import corollary_88, manipulation, theorem_86, theorem_87

LISTED = FixedTies(("a", "b", "c"))
DETERMINISTIC = ("plurality", "borda", "instant-runoff", "copeland", "minimax", "schulze", "kemeny", "baldwin")


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_theorem_86_finds_a_lie_under_every_deterministic_rule(name: str) -> None:
    answer = theorem_86(make(name, ties=LISTED), candidates=3, voters=3)
    assert isinstance(answer, Refuted)
    assert dict(answer.witness)["gain"] == "1"


def test_theorem_86_says_when_it_is_about_something_else() -> None:
    assert isinstance(theorem_86(make("plurality")), Undecided), "ties are drawn"
    assert isinstance(theorem_86(FirstInOrder(order=("a", "b", "c"))), Undecided), "only a can win"
    assert isinstance(theorem_86(make("plurality", ties=FixedTies(("a", "b"))), candidates=2), Undecided)
    assert isinstance(theorem_86(make("plurality", ties=LISTED), voters=1), Proved), "one voter dictates"


def test_theorem_87_names_the_mixture() -> None:
    assert isinstance(theorem_87(make("random-dictator"), voters=3), Proved)
    assert isinstance(theorem_87(make("punishing")), Proved)
    assert isinstance(theorem_87(Lot()), Proved)
    two = theorem_87(make("plurality"), candidates=2, voters=3)
    assert isinstance(two, Proved)
    assert "one of two" in two.reason
    assert isinstance(theorem_87(make("plurality"), voters=3), Refuted)
    assert isinstance(theorem_87(make("repeated-plurality", margin=0), voters=3), Refuted), "small electorates"


def test_corollary_88_leaves_the_random_dictator() -> None:
    assert isinstance(corollary_88(make("random-dictator"), voters=3), Proved)
    assert isinstance(corollary_88(make("punishing")), Undecided), "it may elect whom all rank below somebody"
    assert isinstance(corollary_88(Lot()), Undecided)
    assert isinstance(corollary_88(make("borda")), Refuted)


def test_a_witness_is_a_lie_that_pays() -> None:
    rule = make("plurality", ties=LISTED)
    found = manipulation(rule, voters=3)
    assert found is not None
    assert found.gain == Fraction(1)
    assert found.lie != found.truth
    assert found.truth in found.profile
    assert manipulation(make("random-dictator"), voters=2) is None


def test_too_many_profiles_are_refused() -> None:
    with pytest.raises(WrongUse, match="fewer voters"):
        theorem_87(make("plurality"), candidates=4, voters=9)
    with pytest.raises(WrongUse, match="2 to 5 candidates"):
        theorem_87(make("plurality"), candidates=7)
