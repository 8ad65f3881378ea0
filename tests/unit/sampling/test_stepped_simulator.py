"""The stepped simulator: its law by enumeration, every K between two that were looked at, and how little is lost."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from flint import arb

from hubbub.numeric.exact import ball, exp, lower, precision, upper
from hubbub.sampling import exact_count
from hubbub.sampling import exact_count as stepped
from hubbub.sampling.averages import largest_mean_deviation
from hubbub.sampling.exact_count import STEPS, found_step, holds, least_scale

SIZES = [  # n, k, epsilon
    (12, 12, "1"),
    (12, 5, "1"),
    (15, 3, "0.5"),
    pytest.param(24, 8, "0.5", marks=pytest.mark.slow),
    pytest.param(24, 8, "1.5", marks=pytest.mark.slow),
    (9, 1, "0.8"),
]


def hypergeometric(others: int, ones: int, drawn: int, j: int) -> Fraction:
    if not 0 <= j <= ones or not 0 <= drawn - j <= others - ones:
        return Fraction(0)
    return Fraction(comb(ones, j) * comb(others - ones, drawn - j), comb(others, drawn))


def rounded_answers(n: int, k: int, ones: int) -> dict[int, Fraction]:
    """Z -> its probability: the sample's answer, rounded at random."""
    found: dict[int, Fraction] = {}
    for blank, chance in ((0, Fraction(n - k, n)), (1, Fraction(k, n))):
        for j in range(k - blank + 1):
            answer = Fraction(n, k) * (j + Fraction(blank, 2))
            below = answer.__floor__()
            for z, part in ((below, 1 - (answer - below)), (below + 1, answer - below)):
                found[z] = found.get(z, Fraction(0)) + chance * hypergeometric(n - 1, ones, k - blank, j) * part
    return found


def stepped_law(scale: Fraction, step: Fraction) -> tuple[int, arb]:
    """c and w(c), by trying every c: the one with w(c) between e^-h and e^h."""
    q, up = exp(-1 / scale), exp(step)
    for c in range(10_000):
        outside = 2 * q ** (c + 1) / (1 + q)
        on = (1 - q) / (1 + q) if c == 0 else 2 * q**c * (1 - q) / (1 + q)
        at = (1 - up * (1 - outside - on) - outside / up) / on
        if at > 1 / up - ball(Fraction(1, 10**20)) and at < up + ball(Fraction(1, 10**20)):
            return c, at
    raise AssertionError("no such c")


def true_loss(n: int, k: int, scale: Fraction, step: Fraction) -> arb:
    """The loss of the release against this simulator: every number of ones, every outcome, both values of the person."""
    worst = arb(0)
    with precision():
        (c, at), up = stepped_law(scale, step), exp(step)
        for ones in range(n):
            answers = [(z, p) for z, p in rounded_answers(n, k, ones).items() if p]
            for x in range(-c - n - 2, 2 * n + c + 3):  # beyond, both laws fall by q alike
                simulated = arb(0)
                for z, p in answers:
                    y = abs(x - z)
                    w = up if y < c else (1 / up if y > c else at)
                    simulated += ball(p) * w * exp(Fraction(-y) / scale)
                for g in (ones, ones + 1):
                    worst = worst.max(abs(simulated.log() + ball(abs(x - g) / scale)))
    return worst


@pytest.mark.parametrize(("n", "k", "epsilon"), SIZES)
def test_stepped_simulator_theorem_by_enumeration(n: int, k: int, epsilon: str) -> None:
    at = Fraction(epsilon)
    closed = _closed(n, k, at)
    scale = least_scale(k, n, at, closed)
    step = found_step(k, n, scale, at)
    assert scale < closed
    assert step is not None
    assert upper(true_loss(n, k, scale, step)) <= at  # never below the true loss
    for part in STEPS:  # and no step of the family would do with two in a hundred less noise
        assert lower(true_loss(n, k, scale * Fraction(98, 100), part * at)) > at


def _closed(n: int, k: int, epsilon: Fraction) -> Fraction:
    """Theorem A3, by bisection of its two inequalities."""
    f = min(1 - Fraction(k - 1, n), (1 - Fraction(k, n)) * (1 + Fraction(1, k)))
    first = (Fraction(1, 2) + n * upper(largest_mean_deviation(k, n))) / epsilon
    low, high = Fraction(0), Fraction(n * 10)
    for _ in range(60):
        middle = (low + high) / 2
        fits = 1 / (2 * middle) + (n**2 * f / (4 * k) + Fraction(1, 4)) / (2 * middle**2) <= epsilon
        low, high = (low, middle) if fits else (middle, high)
    return max(first, high)


@pytest.mark.parametrize(("first", "last"), [(90, 97), (150, 160), (180, 199), (60, 63)])
def test_a_probability_stays_near_the_line_between_two_numbers_of_ones(first: int, last: int) -> None:
    n, k = 400, 40
    check = stepped._Check(k, n, Fraction(30), Fraction(1), Fraction(9, 10))
    for drawn in (k, k - 1):
        low, high = check._window(drawn, first, last)
        j = np.arange(low, high + 1, dtype=np.int64)
        one, two = check._masses(drawn, first, j)[0], check._masses(drawn, last, j)[0]
        under, over = check._curvature(drawn, first, last, j, one, two)
        for ones in range(first, last + 1):
            theta = Fraction(ones - first, last - first)
            for i, each in enumerate(j.tolist()):
                true = float(hypergeometric(n - 1, ones, drawn, each))
                line = float(1 - theta) * one[i] + float(theta) * two[i]
                assert line - under[i] <= true * (1 + 1e-9) + 1e-300
                assert true <= (line + over[i]) * (1 + 1e-9) + 1e-300
        assert under.sum() < 0.3


def test_every_k_between_is_as_good_as_looked_at() -> None:
    n, k, epsilon = 600, 30, Fraction(1)
    scale = least_scale(k, n, epsilon, _closed(n, k, epsilon))
    step = found_step(k, n, scale, epsilon)
    assert step is not None
    check = stepped._Check(k, n, scale, epsilon, step)
    assert all(check.stretch(ones, ones) for ones in range(n // 2 + 1))
    assert any(last > first + 1 for first, last in check.stretches())
    assert not holds(k, n, scale * Fraction(97, 100), epsilon, step)


def test_too_many_people_keep_the_closed_form() -> None:
    assert least_scale(100, 10**9 + 1, Fraction(1), Fraction(77)) == 77
    assert found_step(100, 10**9 + 1, Fraction(10**9), Fraction(1)) is None


@pytest.mark.slow
def test_more_rows_than_are_worked_out_do_not_need_more_noise() -> None:
    n, epsilon = 10**4, Fraction(1)
    few, many = (exact_count.scale_for(k, n, epsilon) for k in (3000, 3100))
    assert many <= few < exact_count.closed_scale(3100, n, epsilon)
    assert exact_count.enough(3100, n, many, epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "k", "epsilon", "gain"), [(10**4, 100, "0.5", 1.5), (10**4, 100, "1", 1.3), (10**6, 1000, "1", 1.4)]
)
def test_the_stepped_simulator_needs_much_less_noise(n: int, k: int, epsilon: str, gain: float) -> None:
    scale = exact_count.scale_for(k, n, epsilon)
    assert float(_closed(n, k, Fraction(epsilon)) / scale) > gain
    assert exact_count.enough(k, n, scale, epsilon)
    assert not exact_count.enough(k, n, scale * Fraction(97, 100), epsilon)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "k", "ones"),
    [(10**9, 3000, 5 * 10**8), (10**9, 3000, 2 * 10**6), (10**9, 3000, 1000), (6000, 3000, 2999), (10**6, 50, 10**5)],
)
def test_floats_of_the_stepped_simulator_err_ten_thousand_times_less_than_their_room(n: int, k: int, ones: int) -> None:
    """Every mass and every sum beside balls of 128 bits, at the sizes where rounding is worst."""
    scale = Fraction(n, k) * Fraction(math.isqrt(k))
    check = stepped._Check(k, n, scale, Fraction(1), Fraction(5, 2))
    low, high = check._window(k, ones, ones)
    j = np.arange(low, high + 1, dtype=np.int64)
    masses, _ = check._masses(k, ones, j)
    with precision():
        exact = _balls_of_masses(n - 1, ones, k, j.tolist())
        assert (
            max(_distance(float(p), q) for p, q in zip(masses.tolist(), exact, strict=True) if p)
            < stepped._ROOM / 10_000
        )

        at = n * j // k
        sums = stepped._Sums(at, check.noise, ones)
        c = check.noise.edge
        x = np.unique(np.concatenate([at[::97], at[::97] + c, at[::97] - c, at[::89] + c + 1, np.array([ones])]))
        found = sums.values(masses, sums.index(x))
        for each, value in zip(x.tolist(), found.tolist(), strict=True):
            assert (
                _distance(value, _ball_of_sum(each, at.tolist(), masses.tolist(), check.noise)) < stepped._ROOM / 10_000
            )


def _balls_of_masses(others: int, ones: int, drawn: int, js: list[int]) -> list[arb]:
    found = [ball(1)]
    for i in js[:-1]:
        found.append(found[-1] * (ones - i) * (drawn - i) / ((i + 1) * (others - ones - drawn + i + 1)))
    whole = sum(found, ball(0))
    return [each / whole for each in found]


def _ball_of_sum(x: int, at: list[int], masses: list[float], noise: stepped._Noise) -> arb:
    q, up, total = (-arb(noise.a)).exp(), arb(noise.step).exp(), ball(0)
    for z, p in zip(at, masses, strict=True):
        away = abs(x - z)
        w = up if away < noise.edge else (1 / up if away > noise.edge else arb(noise.at_edge))
        total += arb(p) * w * q**away
    return total


def _distance(value: float, true: arb) -> float:
    return float(upper(abs(arb(value) / true - 1)))
