"""The doors of the samplers: what is refused, what needs no randomness, how elements with different epsilons mix."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from hubbub.errors import FloatRefused, WrongUse
from hubbub.noise.sampler import (
    SMALLEST_EPSILON,
    bernoulli,
    bernoulli_certified,
    bernoulli_exp,
    geometric,
    two_sided_geometric,
    two_sided_geometric_each,
)
from hubbub.noise.source import ScriptedSource, Source
from hubbub.noise.table import CHUNK
from hubbub.numeric.exact import INFINITY, Exact, Infinite, exp

GEOMETRIC: tuple[Callable[[Exact | Infinite, int, Source], NDArray[np.int64]], ...] = (geometric, two_sided_geometric)
ALL = (*GEOMETRIC, bernoulli, bernoulli_exp)
NOTHING = ScriptedSource()
"""Raises when a word is asked for."""


@pytest.mark.parametrize("draw", GEOMETRIC)
@pytest.mark.parametrize("epsilon", [0, "0", "1e-7", Fraction(999_999, 10**12)])
def test_epsilon_below_a_millionth_is_refused_in_a_sentence(
    draw: Callable[[Exact, int, Source], object], epsilon: Exact
) -> None:
    with pytest.raises(WrongUse, match=r"epsilon must be at least 0\.000001 .*; choose a larger one"):
        draw(epsilon, 1, NOTHING)


@pytest.mark.parametrize("draw", ALL)
def test_floats_negatives_and_negative_sizes_are_refused(draw: Callable[[Exact, int, Source], object]) -> None:
    with pytest.raises(FloatRefused):
        draw(0.1, 1, NOTHING)  # type: ignore[arg-type]
    with pytest.raises(WrongUse, match="not -1"):
        draw(-1, 1, NOTHING)
    with pytest.raises(WrongUse, match="number of samples must be at least 0, not -3"):
        draw("1/2", -3, NOTHING)


def test_a_probability_above_one_is_refused() -> None:
    with pytest.raises(WrongUse, match="between 0 and 1"):
        bernoulli("1.01", 1, NOTHING)


def test_what_is_certain_draws_nothing() -> None:
    assert bernoulli_exp(0, 3, NOTHING).tolist() == [True] * 3
    assert bernoulli_exp(INFINITY, 3, NOTHING).tolist() == [False] * 3
    assert bernoulli(1, 3, NOTHING).tolist() == [True] * 3
    assert bernoulli(0, 3, NOTHING).tolist() == [False] * 3
    assert geometric(INFINITY, 3, NOTHING).tolist() == [0] * 3
    assert two_sided_geometric(INFINITY, 3, NOTHING).tolist() == [0] * 3
    assert [draw("1/2", 0, NOTHING).size for draw in ALL] == [0] * 4
    assert two_sided_geometric_each([INFINITY, "1/3"], np.zeros(3, dtype=np.intp), NOTHING).tolist() == [0] * 3


@pytest.mark.parametrize("epsilon", [SMALLEST_EPSILON, "1/3", Fraction(1, 140), "50", 1000, "1e400"])
@pytest.mark.parametrize("draw", GEOMETRIC)
def test_every_epsilon_from_a_millionth_up_is_drawn(
    draw: Callable[[Exact, int, Source], NDArray[np.int64]], epsilon: Exact
) -> None:
    size = CHUNK + 5
    values = draw(epsilon, size, ScriptedSource.from_label("every epsilon"))
    assert values.shape == (size,)
    assert values.dtype == np.int64
    assert (values.min() < 0) == (draw is two_sided_geometric and Fraction(epsilon) < 50)
    assert (values.max() > 0) == (Fraction(epsilon) < 50)


def test_huge_numerators_and_denominators_are_welcome() -> None:
    near_a_third = Fraction(10**300 + 1, 3 * 10**300)
    one, other = (two_sided_geometric(e, 1000, ScriptedSource.from_label("a")) for e in (near_a_third, "1/3"))
    assert (one == other).all()


def test_coins_are_true_below_the_boundary() -> None:
    below, above = (int(0.36787944 * 2**64) + off for off in (-(2**40), 2**40))
    words = [below, above]
    assert bernoulli_exp(1, 2, ScriptedSource(words)).tolist() == [True, False]
    assert bernoulli_certified(lambda: exp(-1), 2, ScriptedSource(words)).tolist() == [True, False]
    assert bernoulli("0.36787944", 2, ScriptedSource(words)).tolist() == [True, False]


def test_a_certified_coin_may_have_probability_zero_or_one() -> None:
    words = [0, 1, 2**63, 2**64 - 1]
    assert bernoulli_certified(lambda: arb(0), 4, ScriptedSource(words)).tolist() == [False] * 4
    assert bernoulli_certified(lambda: arb(1), 4, ScriptedSource(words)).tolist() == [True] * 4


# --- one epsilon per element ------------------------------------------------------------------------------------


def test_each_element_has_its_own_epsilon() -> None:
    epsilons: tuple[Exact | Infinite, ...] = ("0.1", INFINITY, 1, "1e-5")
    which = np.array([3, 1, 0, 0, 2, 1, 3, 0] * 50)
    values = two_sided_geometric_each(epsilons, which, ScriptedSource.from_label("each"))
    source = ScriptedSource.from_label("each")  # the same words: the groups are drawn in the order of the epsilons
    for i, epsilon in enumerate(epsilons):
        members = values[which == i]
        assert (members == two_sided_geometric(epsilon, members.size, source)).all()


def test_each_of_none_is_none() -> None:
    assert two_sided_geometric_each(["1"], np.empty(0, dtype=np.intp), NOTHING).size == 0
    assert two_sided_geometric_each([], np.empty(0, dtype=np.intp), NOTHING).size == 0


@pytest.mark.parametrize("which", [np.array([0, 2]), np.array([-1, 0]), np.array([0.0, 1.0]), np.array([[0, 1]])])
def test_positions_must_be_positions(which: NDArray[np.integer]) -> None:
    with pytest.raises(WrongUse, match="which must"):
        two_sided_geometric_each(["1", "2"], which, NOTHING)


def test_a_refusal_does_not_depend_on_who_uses_which_epsilon() -> None:
    with pytest.raises(WrongUse, match="epsilon must be at least"):
        two_sided_geometric_each(["1", "0"], np.zeros(3, dtype=np.intp), NOTHING)
