"""Gaussian noise by construction: the table, its continuation, the coins, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.noise import gaussian
from hubbub.noise.gaussian import bernoulli_exponential, discrete_gaussian, proposal_scale
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import exp, lower, precision
from hubbub.numeric.gaussian_sums import gaussian_delta, mass, masses, normal, normalizer, tail

VARIANCES = [Fraction(1, 50), Fraction(49, 100), Fraction(1, 2), Fraction(7), Fraction(179, 10), Fraction(900)]
LAST = 2**64 - 1


@pytest.mark.parametrize("s2", VARIANCES, ids=str)
def test_the_normaliser_is_the_sum_of_all_weights(s2: Fraction) -> None:
    reach = 40 * (math.isqrt(math.ceil(s2)) + 1)
    summed = math.fsum(math.exp(-x * x / (2 * float(s2))) for x in range(-reach, reach + 1))
    assert float(normalizer(s2).mid()) == pytest.approx(summed, rel=1e-14)
    with precision(600):
        assert float(normalizer(s2).rad()) < 1e-170, "a ball must shrink with the precision"
        assert normalizer(s2).overlaps(
            1 + 2 * sum((exp(-Fraction(x * x) / (2 * s2)) for x in range(1, reach)), start=exp(0) * 0)
        )


@pytest.mark.parametrize("s2", VARIANCES, ids=str)
def test_masses_and_the_bound_on_the_tail_make_one(s2: Fraction) -> None:
    points = masses(6, s2)
    inside = points[0] + 2 * sum(points[1:], start=points[0] * 0)
    assert all(points[x].overlaps(mass(x, s2)) for x in range(7))
    assert not inside > 1
    assert not inside + 2 * tail(6, s2) < 1


@pytest.mark.parametrize("s2", VARIANCES, ids=str)
def test_the_cells_of_the_table_have_the_chances_of_the_law(s2: Fraction) -> None:
    law = gaussian._law(s2)
    with precision(256):
        ends = [exp(0) * 0, *law.table._boundaries(), exp(0)]
        chances = [high - low for low, high in pairwise(ends)]
        expected = [mass(x, s2) for x in range(-law.reach, law.reach + 1)]
        assert all(a.overlaps(b) for a, b in zip(chances[1:-1], expected, strict=True))
        assert chances[0].overlaps(chances[-1])
        assert not chances[0] > tail(law.reach, s2)
    assert float(chances[0].mid()) < math.exp(-11)


@pytest.mark.parametrize(("word", "sign"), [(0, -1), (LAST, 1)])
def test_beyond_the_table_the_law_goes_on(word: int, sign: int) -> None:
    s2, reach = Fraction(7), gaussian._law(Fraction(7)).reach
    drawn = discrete_gaussian(s2, 1, ScriptedSource([word], then="more"))
    assert sign * drawn[0] > reach
    many = sign * discrete_gaussian(s2, 50, ScriptedSource([word] * 50, then="more"))
    assert min(many) == reach + 1
    assert len(set(many.tolist())) > 1, "each is drawn beyond the table, and not laid on its end"


def test_beyond_the_table_weights_are_those_of_the_law() -> None:
    s2 = Fraction(7)
    for start in (9, 14):
        for g in range(5):
            weight = g * Fraction(start) / s2 + Fraction(g * g) / (2 * s2)
            assert weight == Fraction((start + g) ** 2 - start**2) / (2 * s2)
    many = gaussian._excess(s2, 3, 20_000, ScriptedSource.from_label("excess"))
    share = float(mass(3, s2).mid()) / sum(float(mass(x, s2).mid()) for x in range(3, 60))
    assert abs((many == 0).mean() - share) < 6 * math.sqrt(share / 20_000)  # size below 1e-8


@pytest.mark.parametrize("rate", ["1/3", "7", "40"])
def test_a_coin_that_64_bits_do_not_decide_is_decided_by_more(rate: str) -> None:
    r = Fraction(rate)
    with precision(256):
        tie = int(lower(exp(-r) * 2**64))
        more = int(lower((exp(-r) * 2**64 - tie) * 2**64))
    for word, rest, said in ((tie, 0, True), (tie, LAST, False), (tie, more - 2, True), (tie, more + 2, False)):
        source = ScriptedSource([word, rest])
        assert bernoulli_exponential(np.array([float(r)]), lambda _: r, source).tolist() == [said]
        assert source.words_left == 0, "the second word must have been asked for"
    assert bernoulli_exponential(np.array([float(r)]), lambda _: r, ScriptedSource([tie - 1])).tolist() == [True]
    assert bernoulli_exponential(np.array([float(r)]), lambda _: r, ScriptedSource([tie + 1])).tolist() == [False]


@pytest.mark.parametrize("s2", [Fraction(90_001), Fraction(10**6) + Fraction(1, 3), Fraction(3) * 10**13])
def test_rejection_keeps_what_makes_the_law(s2: Fraction) -> None:
    scale = proposal_scale(Fraction(s2))

    def exponent(y: int) -> Fraction:
        return Fraction(y, scale) + (y - s2 / scale) ** 2 / (2 * s2) - Fraction(y * y) / (2 * s2)

    assert {exponent(y) for y in (0, 1, 17, scale, 5 * scale)} == {exponent(0)}


@pytest.mark.parametrize("s2", [Fraction(500), Fraction(10**6) + Fraction(1, 3)])
def test_the_coins_that_balls_decide_have_the_rate_of_those_that_floats_decide(
    s2: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[Any, Any]] = []

    def kept(propose: Any, near: Any, rate: Any, size: int, source: Any) -> Any:
        seen.append((near, rate))
        return np.zeros(size, dtype=np.int64)

    monkeypatch.setattr(gaussian, "_keep_proposals", kept)
    gaussian._fill_by_rejection(s2, np.empty(1, dtype=np.int64), ScriptedSource())
    gaussian._excess(s2, 7, 1, ScriptedSource())
    values = [-5000, -31, -1, 0, 1, 40, 3000]
    for near, rate in seen:
        assert near(np.array(values)).tolist() == pytest.approx([float(rate(y)) for y in values], abs=2**-32)
    assert [seen[1][1](g) for g in (0, 3)] == [0, Fraction(9) / (2 * s2)]


@pytest.mark.parametrize("s2", [0, -1, "0.00001", 2**81])
def test_a_variance_that_cannot_be_drawn_is_refused(s2: int | str) -> None:
    with pytest.raises(WrongUse, match="the variance of Gaussian noise"):
        discrete_gaussian(s2, 1, ScriptedSource())


def test_the_same_words_give_the_same_numbers() -> None:
    for s2 in (Fraction(7), Fraction(10**6), Fraction(10**14)):
        first, second = (discrete_gaussian(s2, 1000, ScriptedSource.from_label("again")) for _ in range(2))
        assert np.array_equal(first, second)


def test_the_normal_law_and_its_delta_are_certified() -> None:
    assert float(normal(exp(0) * -6).mid()) == pytest.approx(9.865876450377018e-10, rel=1e-12)
    mu = 1 / (exp(0) * 5.5)
    assert float(gaussian_delta(exp(0), mu).mid()) == pytest.approx(1e-9, rel=4e-2)  # u(1, 1e-9) = 5.50


def test_wide_draws_have_their_variance() -> None:
    """By rejection, 4,000 draws of a fixed script: the standard error of the variance is 2.2 %, and 12 % are allowed."""
    s2 = Fraction(10**6)
    drawn = discrete_gaussian(s2, 4000, ScriptedSource.from_label("wide"))
    assert 0.88 < float(np.mean(drawn.astype(np.float64) ** 2)) / float(s2) < 1.12
