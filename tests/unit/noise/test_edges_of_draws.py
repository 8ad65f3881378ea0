"""Draws at the edges of their tables: scripts of words that end there, and what goes on beyond."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.noise import bernoulli, gaussian, rare, sampler
from hubbub.noise.bernoulli import Multiples, heads
from hubbub.noise.gaussian import discrete_gaussian
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball

LAST = 2**64 - 1


def at(share: float) -> int:
    return int(share * 2**64)


def thrown(trials: int, exponent: Fraction, source: ScriptedSource) -> list[int]:
    found: list[int] = heads(np.array([trials]), Multiples(np.array([1 if exponent else 0]), exponent), source).tolist()
    return found


def test_a_coin_of_half_a_nat_is_thrown() -> None:
    # e^-1/2 is 0.6065.
    for share, found in ((0.60, 1), (0.61, 0)):
        assert thrown(1, Fraction(1, 2), ScriptedSource([at(share)])) == [found]
    assert thrown(7, Fraction(0), ScriptedSource()) == [7]


def test_a_coin_that_hardly_ever_falls_heads_is_decided_by_all_its_bits() -> None:
    # e^-44 2^64 is 1.435: of the words only 0 is surely below, and 1 needs more bits.
    exponent = Fraction(44)
    assert thrown(1, exponent, ScriptedSource([0], then="more")) == [1]
    assert thrown(1, exponent, ScriptedSource([1, 0])) == [1]
    assert thrown(1, exponent, ScriptedSource([1, LAST])) == [0]
    for word in (2, 3, 4):
        assert thrown(1, exponent, ScriptedSource([word], then="more")) == [0]


def test_of_many_coins_those_left_after_halving_have_the_rest_of_the_chance() -> None:
    # e^-3 2^4 is 0.79659.
    words = np.array([at(0.7965), at(0.7966)], dtype=np.uint64)
    assert bernoulli._count_passed(Fraction(3), 4, words, ScriptedSource(then="more")) == 1


def test_no_draw_at_all_is_an_empty_row() -> None:
    assert discrete_gaussian(7, 0, ScriptedSource()).tolist() == []


def test_beyond_the_table_it_goes_on_from_the_first_value_that_is_not_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []

    def excess(s2: Fraction, start: int, size: int, source: Any) -> Any:
        started.append(start)
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(gaussian, "_excess", excess)
    reach = gaussian._law(Fraction(7)).reach
    assert discrete_gaussian(7, 1, ScriptedSource([LAST])).tolist() == [reach + 1] == started


def test_the_sign_of_wide_noise_is_a_fair_coin(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def below(limit: int, size: int, source: Any) -> Any:
        asked.append(limit)
        return sampler.below(limit, size, source)

    monkeypatch.setattr(gaussian, "below", below)
    gaussian._wide(10**7, 3, ScriptedSource.from_label("signs"))
    assert set(asked) == {10**7, 2}


@pytest.mark.parametrize(("word", "sign"), [(0, -1), (LAST, 1)])
def test_both_ends_of_two_sided_noise_go_on(word: int, sign: int) -> None:
    drawn = sign * two_sided_geometric(1, 60, ScriptedSource([word] * 60, then="more"))
    assert len(set(drawn.tolist())) > 5, "each is drawn beyond the table, and not laid on its end"
    assert min(drawn) > 10


def test_rare_events_go_on_after_a_round_of_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rare, "_ROUND", 10)
    found = rare.rare(1000, lambda: ball(Fraction(1, 2)), ScriptedSource.from_label("rounds"))
    assert 400 < found.size < 600
    assert found.tolist() == sorted(set(found.tolist()))
    assert found[-1] > 980
