"""The lecture notes' noise: the largest delta without looking at every count, and what it rests on."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from hubbub.channels.papers.lecture import Lecture, _smallest_factor, largest_below
from hubbub.numeric.exact import rounded, upper

CASES = [
    (5, 60, "0.2", "1"),
    (5, 60, "0.2", "2"),
    (5, 60, "2", "1.1"),
    (3, 40, "5", "1.05"),  # coarse noise: delta does not fall evenly
    (20, 80, "1", "1.02"),
    (10, 50, "50", "1.01"),
    (2, 50, "0.1", "1.5"),
    (1, 30, "0.01", "1"),  # t epsilon < 1/2: both sides count when the person leaves
    (1, 30, "0.5", "3"),
    (1, 20, "0.3", "1.2"),
    (4, 40, "1/3", "5/4"),
    (19, 20, "1", "1"),  # a single count
]


def at_every_count(made: Lecture, factor: Fraction) -> list[Fraction]:
    """The slow way: the exact delta at 1, 2, ..., K - t."""
    return [upper(made.delta_at(k, factor)) for k in range(1, made.boundary + 1)]


@pytest.mark.parametrize(("t", "K", "epsilon", "factor"), CASES)
def test_one_bound_holds_at_a_count_and_at_every_smaller_one(t: int, K: int, epsilon: str, factor: str) -> None:  # noqa: N803
    made = Lecture.check_parameters(t, K, epsilon, factor)
    bounds = [upper(made.delta_up_to(k, made.factor)) for k in range(1, made.boundary + 1)]
    assert bounds == sorted(bounds)
    assert all(exact <= bound for exact, bound in zip(at_every_count(made, made.factor), bounds, strict=True))


def test_the_bound_is_close_where_the_noise_is_fine() -> None:
    made = Lecture.check_parameters(1000, 20_000, "0.02", "1.8")
    for k in (1, 10_000, 19_000):
        exact, bound = made.delta_at(k, made.factor), made.delta_up_to(k, made.factor)
        assert exact <= bound <= exact * arb("1.001")


def test_the_bound_is_no_bound_for_one_count_more() -> None:
    made = Lecture.check_parameters(5, 60, "0.2", "2")  # close enough that a slip of one would show
    k = 30
    assert made.delta_at(k + 1, made.factor) > largest_below(made.K - k, made.t * made.epsilon, made.factor)


@pytest.mark.parametrize(("t", "K", "epsilon", "factor"), CASES)
def test_the_largest_delta_is_that_of_every_count(t: int, K: int, epsilon: str, factor: str) -> None:  # noqa: N803
    made = Lecture.with_factor(t, K, epsilon, factor)
    largest = max(at_every_count(made, made.factor))
    assert made.delta == rounded(largest, up=True)
    assert made.holds
    assert not Lecture(made.t, made.K, made.epsilon, made.factor, largest * Fraction(999, 1000)).holds


@pytest.mark.parametrize(("t", "K", "epsilon"), [(5, 40, "0.6"), (3, 40, "5"), (10, 30, "0.2"), (2, 9, "1")])
def test_the_smallest_factor_is_that_of_every_count(t: int, K: int, epsilon: str) -> None:  # noqa: N803
    target = Fraction(1, 1000)
    made = Lecture.with_delta(t, K, epsilon, target)
    assert max(at_every_count(made, made.factor)) <= target
    if made.factor > 1:
        assert max(at_every_count(made, made.factor - Fraction(1, 1000))) > target


@pytest.mark.parametrize(
    ("t", "epsilon", "factor"), [(1000, "0.02", "1.8"), (1000, "1", "1.02"), (5000, "0.01", "1"), (100, "50", "1.01")]
)
def test_few_counts_are_looked_at(t: int, epsilon: str, factor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    exact = Lecture.delta_at

    def counted(self: Lecture, count: int, factor: Fraction) -> arb:
        looked.append(count)
        return exact(self, count, factor)

    monkeypatch.setattr(Lecture, "delta_at", counted)
    made = Lecture.with_factor(t, 20_000, epsilon, factor)
    assert made.holds
    _smallest_factor.cache_clear()
    Lecture.with_delta(t, 20_000, epsilon, "1e-6")
    assert len(looked) <= 1000  # of 3 * 19,000 and more


def test_a_factor_is_certified_at_every_count(monkeypatch: pytest.MonkeyPatch) -> None:
    base, asked = Lecture.check_parameters(5, 12, "0.2", "1"), list[int]()

    def no_bound(self: Lecture, count: int, factor: Fraction) -> arb:
        asked.append(count)
        return arb(2)

    monkeypatch.setattr(Lecture, "delta_up_to", no_bound)
    factor = _smallest_factor.__wrapped__(base, Fraction(1, 100))
    assert asked == list(range(base.boundary - 1, 0, -1))
    assert max(at_every_count(base, factor)) <= Fraction(1, 100)
