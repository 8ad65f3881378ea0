"""Crowd-blending privacy and what stands beside it: exact laws, every small data set, no sampling.

A data set is its tuple of counts, one per kind of person. A mechanism maps it to a law with rational
probabilities; e^epsilon is a rational too, so every comparison below is exact. That a mechanism IS crowd-blending is
shown for all data sets up to a size; that it is NOT is final, because the witness refutes blending and removal both.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import TypeAlias

import pytest

Data: TypeAlias = tuple[int, ...]  # kind -> number of people
Law: TypeAlias = dict[tuple[object, ...], Fraction]  # output -> probability
Mechanism: TypeAlias = Callable[[Data], Law]
Partition: TypeAlias = tuple[tuple[int, ...], ...]  # bins, each a tuple of kinds

RATIO = 2
"""e^epsilon of the noise."""


def ratio(one: Law, other: Law) -> Fraction | None:
    """The largest ratio of probabilities in either direction; None if some output is possible for one law only."""
    if {y for y, p in one.items() if p} != {y for y, p in other.items() if p}:
        return None
    return max(max(p / other[y], other[y] / p) for y, p in one.items() if p)


def close(one: Law, other: Law, bound: Fraction | None) -> bool:
    """Whether the laws are ln(bound)-close; with no bound, whether they are close for any epsilon at all."""
    r = ratio(one, other)
    return r is not None and (bound is None or r <= bound)


def data_sets(kinds: int, largest: int) -> Iterator[Data]:
    return (d for d in itertools.product(range(largest + 1), repeat=kinds) if sum(d) <= largest)


def plus(data: Data, kind: int, people: int = 1) -> Data:
    return tuple(count + people * (i == kind) for i, count in enumerate(data))


def blend(mechanism: Mechanism, t: int, u: int, bound: Fraction | None, kinds: int, largest: int) -> bool:
    """Whether t and u can stand in for each other in every data set of at most `largest` people."""
    return t == u or all(
        close(mechanism(plus(d, t)), mechanism(plus(d, u)), bound) for d in data_sets(kinds, largest - 1)
    )


def refutation(
    mechanism: Mechanism, k: int, bound: Fraction | None, kinds: int, largest: int
) -> tuple[Data, int] | None:
    """A data set and a person in it who neither blends with k people nor can be removed; None if there is none."""
    blends = {(t, u): blend(mechanism, t, u, bound, kinds, largest) for t in range(kinds) for u in range(kinds)}
    for data in data_sets(kinds, largest):
        for t in range(kinds):
            crowd = sum(data[u] for u in range(kinds) if blends[t, u])
            if data[t] and crowd < k and not close(mechanism(data), mechanism(plus(data, t, -1)), bound):
                return data, t
    return None


def noisy(count: int, top: int) -> list[Fraction]:
    """A law around `count` on 0..top in which neighbouring counts differ by exactly RATIO at every output."""
    b = [Fraction(1)] + [Fraction(RATIO, RATIO + 1)] * top + [Fraction(1)]
    return [(b[j] + b[j + 1] - 1) / Fraction(RATIO) ** abs(count - j) for j in range(top + 1)]


def by_bins(partition: Partition, channel: Callable[[int], Law]) -> Mechanism:
    """A histogram that publishes each bin by itself."""

    @cache
    def mechanism(data: Data) -> Law:
        laws = [channel(sum(data[kind] for kind in kinds)) for kinds in partition]
        return product(laws)

    return mechanism


def product(laws: list[Law]) -> Law:
    joint: Law = {(): Fraction(1)}
    for law in laws:
        joint = {(*y, *z): p * q for y, p in joint.items() for z, q in law.items()}
    return joint


def together(first: Mechanism, second: Mechanism) -> Mechanism:
    """Both releases, drawn independently."""
    return cache(lambda data: product([first(data), second(data)]))


def noisy_below(k: int, *, tagged: bool) -> Callable[[int], Law]:
    """Exact from k on, noise below; `tagged` if the reader is told which."""

    def channel(count: int) -> Law:
        if count >= k:
            return {(("exact", count),) if tagged else (count,): Fraction(1)}
        return {(("noisy", y),) if tagged else (y,): p for y, p in enumerate(noisy(count, k - 1))}

    return channel


def suppressed_below(k: int) -> Callable[[int], Law]:
    return lambda count: {(count if count >= k else 0,): Fraction(1)}


def private(top: int) -> Callable[[int], Law]:
    """ln(RATIO)-differentially private under add/remove, on counts up to `top`."""
    return lambda count: {(y,): p for y, p in enumerate(noisy(count, top))}


def size_of_the_data(data: Data) -> Law:
    """0-differentially private under replacement: it publishes |D|."""
    return {(sum(data),): Fraction(1)}


FIRST: Partition = ((0, 1), (2,))
SECOND: Partition = ((0,), (1, 2))


@pytest.mark.parametrize("tagged", [True, False], ids=["tagged", "untagged"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_proposition_7_two_crowd_blending_tables_give_away_one_person(k: int, tagged: bool) -> None:
    san1, san2 = (by_bins(partition, noisy_below(k, tagged=tagged)) for partition in (FIRST, SECOND))
    for san in (san1, san2):
        assert refutation(san, k, Fraction(RATIO), kinds=3, largest=2 * k + 1) is None

    pair, data, person = together(san1, san2), (k, 1, k), 1
    alone = plus(data, person, -1)
    assert not close(pair(data), pair(alone), None), "the person can be removed unnoticed"
    for other in (0, 2):
        assert not close(pair(plus(alone, person)), pair(plus(alone, other)), None), "the person blends with another"
    # So in `data` the person has a crowd of one, and no epsilon' makes the pair (2, epsilon')-crowd-blending.
    assert refutation(pair, 2, None, kinds=3, largest=2 * k + 1) is not None


def test_proposition_7_needs_two_partitions() -> None:
    """A control: the same mechanism twice on one partition is crowd-blending, with the losses added."""
    k = 2
    san = by_bins(FIRST, noisy_below(k, tagged=True))
    assert refutation(together(san, san), k, Fraction(RATIO**2), kinds=3, largest=2 * k + 1) is None


@pytest.mark.parametrize("k", [2, 3])
def test_proposition_8_holds_and_its_factor_two_is_tight(k: int) -> None:
    """Suppression by one bin, which is (k, 0)-crowd-blending, beside a private table of the two kinds in it."""
    largest = k + 1
    suppressed = by_bins(((0, 1),), suppressed_below(k))
    table = by_bins(((0,), (1,)), private(largest))
    assert refutation(suppressed, k, Fraction(1), kinds=2, largest=largest) is None
    assert refutation(table, 10**9, Fraction(RATIO), kinds=2, largest=largest) is None, "removal alone must be close"

    pair, squared = together(suppressed, table), Fraction(RATIO) ** 2
    assert refutation(pair, k, squared, kinds=2, largest=largest) is None
    just_less = squared * Fraction(9999, 10000)
    witness = refutation(pair, k, just_less, kinds=2, largest=largest)
    assert witness is not None
    data, person = witness
    assert sum(data) == k, "at k people the count appears, and the person and the others are of two kinds"
    assert 0 < data[person] < k


def test_proposition_8_for_exact_crowds_is_the_larger_of_the_two_clauses() -> None:
    """(k, e1) beside e2-DP with e1 = e2: 2 e2 suffices where the crowds are exact, not e1 + 2 e2."""
    k, largest = 2, 3
    san1, san2 = by_bins(((0, 1),), noisy_below(k, tagged=True)), by_bins(((0,), (1,)), private(largest))
    pair = together(san1, san2)
    assert refutation(pair, k, Fraction(RATIO) ** 2, kinds=2, largest=largest) is None
    assert refutation(pair, k, Fraction(RATIO) ** 2 * Fraction(9999, 10000), kinds=2, largest=largest) is not None


def test_proposition_8_fails_beside_privacy_under_replacement() -> None:
    suppressed = by_bins(((0,), (1,)), suppressed_below(3))
    assert refutation(suppressed, 3, Fraction(1), kinds=2, largest=4) is None
    assert refutation(together(suppressed, size_of_the_data), 3, None, kinds=2, largest=4) is not None


def test_proposition_5_fails_for_replacement() -> None:
    """|D| is the same for data sets of one size, and still everybody in a small data set is missed."""
    largest = 4
    for data in data_sets(2, largest - 1):
        assert ratio(size_of_the_data(plus(data, 0)), size_of_the_data(plus(data, 1))) == 1
    assert refutation(size_of_the_data, 2, None, kinds=2, largest=largest) in (((0, 1), 1), ((1, 0), 0))


def test_k_equal_to_one_is_vacuous() -> None:
    def tells_all(data: Data) -> Law:
        return {data: Fraction(1)}

    assert refutation(tells_all, 1, Fraction(1), kinds=2, largest=4) is None
    assert refutation(tells_all, 2, None, kinds=2, largest=4) is not None
