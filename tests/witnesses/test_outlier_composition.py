"""Outlier privacy does not compose across partitions: the smallest witness, and that one partition is no problem."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product

Data = tuple[int, int]  # people of kind 0, of kind 1
K = 2


def shown(count: int) -> int:
    """Counts of at most K are suppressed: outlier private with the curve 0 up to K, infinite above."""
    return count if count > K else 0


def coarse(data: Data) -> tuple[int, ...]:
    return (shown(sum(data)),)


def fine(data: Data) -> tuple[int, ...]:
    return shown(data[0]), shown(data[1])


def pair(data: Data) -> tuple[int, ...]:
    return coarse(data) + fine(data)


SMALL = list(product(range(5), repeat=2))


def equivalent(mechanism: Callable[[Data], object]) -> bool:
    """Whether the two kinds can never be told apart."""
    return all(mechanism((a + 1, b)) == mechanism((a, b + 1)) for a, b in SMALL)


def breaches(mechanism: Callable[[Data], object]) -> list[Data]:
    """Where removing somebody of kind 1 with at most K equals shows, although the curve says 0 there."""
    together = equivalent(mechanism)
    return [
        (a, b) for a, b in SMALL if b and (a + b if together else b) <= K and mechanism((a, b)) != mechanism((a, b - 1))
    ]


def test_each_is_outlier_private_and_the_pair_is_not() -> None:
    assert equivalent(coarse)
    assert not equivalent(fine)
    assert breaches(coarse) == []
    assert breaches(fine) == []
    assert not equivalent(pair)
    assert (K, 1) in breaches(pair)  # crowd of K + 1 in the coarse table, of 1 in the pair


def test_on_one_partition_the_pair_keeps_the_promise() -> None:
    assert breaches(lambda data: fine(data) + fine(data)) == []


def majority(data: Data) -> dict[bool, Fraction]:
    """ln 2-differentially private under add/remove: which kind has more people, told truly two times out of three."""
    truth = data[1] > data[0]
    return {truth: Fraction(2, 3), not truth: Fraction(1, 3)}


def test_beside_differential_privacy_about_something_else_it_fails_as_well() -> None:
    """The curve of the first plus ln 2 would promise ln 2 to somebody with one equal; they are missed for certain."""

    def both(data: Data) -> tuple[object, dict[bool, Fraction]]:
        return coarse(data), majority(data)

    assert not equivalent(both)
    assert coarse((K, 1)) != coarse((K, 0))
