"""Classes of aggregate information: their limits, their texts, and which includes which."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from hubbub.errors import FloatRefused, WrongUse
from hubbub.guarantees.aggregates import (
    Aggregate,
    BernoulliSample,
    ExplorationSample,
    NeighbourhoodSample,
    RandomSample,
    RobustSample,
    covers,
    includes,
    robust,
)


def rs(k: int, n: int | None = None) -> RandomSample:
    return RandomSample(k=k, n=n)


def irs(p: str) -> BernoulliSample:
    return BernoulliSample(p=Fraction(p))


def robust_sample(low: str, high: str, exempt: int = 0, highest: str | None = None) -> RobustSample:
    return RobustSample(low=Fraction(low), high=Fraction(high), highest=Fraction(highest or high), exempt=exempt)


@pytest.mark.parametrize(
    ("aggregate", "text"),
    [
        (rs(10), "RS(10)"),
        (rs(10, 100), "RS(10 of 100)"),
        (irs("1/10"), "iRS(0.1)"),
        (robust_sample("1/10", "1/5"), "iRS(0.1, 0.2, 0)"),
        (robust_sample("0", "1/3", 2, "1"), "iRS(0, 1/3, 2; at most 1)"),
        (ExplorationSample(k=5, s=3), "RSE(5, 3)"),
        (NeighbourhoodSample(k=5, radius=2), "RSN(5, 2)"),
    ],
)
def test_texts(aggregate: Aggregate, text: str) -> None:
    assert str(aggregate) == text


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: rs(11, 10), "k at most n"),
        (lambda: rs(-1), "at least 0"),
        (lambda: irs("3/2"), "between 0 and 1"),
        (lambda: robust_sample("1/2", "1/3"), "low <= high <= highest"),
        (lambda: robust_sample("0", "1/2", 3, "1/3"), "low <= high <= highest"),
        (lambda: robust_sample("0", "1/2", 0, "1"), "with nobody exempt"),
        (lambda: robust_sample("0", "1/2", -1), "at least 0"),
        (lambda: ExplorationSample(k=1, s=0), "at least 1"),
        (lambda: NeighbourhoodSample(k=1, radius=-1), "at least 0"),
    ],
)
def test_limits(call: Callable[[], object], reason: str) -> None:
    with pytest.raises(WrongUse, match=reason):
        call()


def test_floats_are_refused() -> None:
    with pytest.raises(FloatRefused, match="sampling rate p must be exact"):
        BernoulliSample(p=0.1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("larger", "smaller", "answer"),
    [
        (rs(20), rs(10), True),
        (rs(20), rs(10, 100), True),
        (rs(20, 100), rs(10, 100), True),
        (rs(20, 100), rs(10, 200), False),
        (rs(20, 100), rs(10), False),
        (rs(10), rs(20), False),
        (irs("1/5"), irs("1/10"), True),
        (irs("1/10"), irs("1/5"), False),
        (irs("1/5"), robust_sample("0", "1/5"), True),
        (robust_sample("1/10", "1/5"), robust_sample("0", "1/5"), True),  # thin: the lower limit is no limit
        (robust_sample("0", "1/5", 1, "1"), robust_sample("0", "1/5", 2, "1"), False),
        (robust_sample("0", "1/5", 2, "1/2"), robust_sample("0", "1/5", 2, "1"), False),
        (irs("1/2"), robust_sample("0", "1/5", 2, "1/2"), True),  # at rate 1/2 nobody stands out
        (ExplorationSample(k=5, s=3), ExplorationSample(k=4, s=3), True),
        (ExplorationSample(k=5, s=3), ExplorationSample(k=4, s=4), False),
        (ExplorationSample(k=5, s=3), ExplorationSample(k=5, s=3), True),
        (ExplorationSample(k=5, s=3), ExplorationSample(k=6, s=3), False),
        (NeighbourhoodSample(k=5, radius=2), NeighbourhoodSample(k=5, radius=2), True),
        (NeighbourhoodSample(k=5, radius=2), NeighbourhoodSample(k=5, radius=1), True),
        (NeighbourhoodSample(k=5, radius=2), ExplorationSample(k=5, s=1), True),  # who sees one vertex of each
        (NeighbourhoodSample(k=5, radius=2), ExplorationSample(k=6, s=1), False),
        (NeighbourhoodSample(k=5, radius=2), ExplorationSample(k=5, s=2), False),
        (ExplorationSample(k=5, s=1), NeighbourhoodSample(k=5, radius=1), False),
        (irs("1"), rs(10), False),
    ],
)
def test_includes(larger: Aggregate, smaller: Aggregate, answer: bool) -> None:
    assert includes(larger, smaller) is answer


def test_a_class_of_distributions_is_not_thinned() -> None:
    assert covers(irs("1/5"), irs("1/5"))
    assert not covers(irs("1/5"), irs("1/10"))
    assert covers(robust_sample("1/10", "1/5"), irs("1/10"))
    assert not covers(robust_sample("1/10", "1/5"), robust_sample("0", "1/5"))
    assert covers(robust_sample("0", "1/5"), robust_sample("1/10", "1/5"))
    assert not covers(irs("1/5"), robust_sample("1/5", "1/5"))
    assert robust(irs("1/5")) == robust_sample("1/5", "1/5")
