"""THREATS 17: what reaches the noise moves by no more than declared, and nothing else depends on the data."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from hubbub.audit.replay import Run, replay
from hubbub.channels.catalogue import channel
from hubbub.errors import WrongUse
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source

SOME, MORE = [3, 8, 2], [3, 8, 2, 90]


def clamped_sum(values: Sequence[int], source: Source) -> int:
    return sum(min(value, 10) for value in values) + int(two_sided_geometric(1, 1, source)[0])


def forgot_to_clamp(values: Sequence[int], source: Source) -> int:
    return sum(values) + int(two_sided_geometric(1, 1, source)[0])


def test_a_sum_that_is_clamped_moves_by_as_much_as_declared() -> None:
    assert replay(clamped_sum, SOME, MORE, distance=10).word == "undecided"
    found = replay(clamped_sum, SOME, MORE, distance=9)
    assert found.is_refuted
    assert found.witness == {"distance": "10", "declared": "9"}


def test_a_sum_that_is_not_clamped_is_caught_in_one_run() -> None:
    found = replay(forgot_to_clamp, SOME, MORE, distance=10)
    assert found.is_refuted
    assert found.lower_bound == "distance 90"


def counts(values: Sequence[int], source: Source) -> list[int]:
    table = np.array([sum(value < 5 for value in values), sum(value >= 5 for value in values)])
    return [int(x) for x in channel("geometric", epsilon="1").release(table, source).values]


def more_noise_for_many(values: Sequence[int], source: Source) -> int:
    draws = two_sided_geometric(1, len(values), source)
    return int(draws.sum())


def scale_from_the_data(values: Sequence[int], source: Source) -> int:
    return int(two_sided_geometric(1 if max(values) < 50 else 2, 1, source)[0])


def another_branch(values: Sequence[int], source: Source) -> list[int]:
    if max(values) > 50:
        return [int(x) for x in two_sided_geometric(1, 2, source)]
    return counts(values, source)


def tells_when_it_is_large(values: Sequence[int], source: Source) -> int:
    if max(values) > 50:
        print("a large value was clamped")
    return clamped_sum(values, source)


def warns(values: Sequence[int], source: Source) -> int:
    if max(values) > 50:
        warnings.warn("a large value was clamped", stacklevel=1)
    return clamped_sum(values, source)


def stops(values: Sequence[int], source: Source) -> int:
    if max(values) > 50:
        raise WrongUse("a value is too large")
    return clamped_sum(values, source)


def keys_of_the_data(values: Sequence[int], source: Source) -> dict[str, int]:
    noise = two_sided_geometric(1, 1, source)
    return {str(f"up to {'fifty' if max(values) < 50 else 'a hundred'}"): int(noise[0])}


@pytest.mark.parametrize(
    ("run", "what"),
    [
        (more_noise_for_many, "the parameter"),
        (scale_from_the_data, "the parameter"),
        (another_branch, "another branch"),
        (tells_when_it_is_large, "messages"),
        (warns, "messages"),
        (stops, "how often noise is drawn|the exit code"),
        (keys_of_the_data, "keys or columns"),
    ],
    ids=lambda case: getattr(case, "__name__", None),
)
def test_what_depends_on_the_data_is_seen(run: Run, what: str) -> None:
    found = replay(run, SOME, MORE, distance=100)
    assert found.is_refuted, found.sentence()
    assert any(each in found.why for each in what.split("|")), found.why


def test_a_table_of_counts_moves_by_one() -> None:
    found = replay(counts, SOME, MORE, distance=1)
    assert (found.word, found.lower_bound) == ("undecided", "distance 1")
    assert replay(counts, SOME, [*MORE, 1], distance=1).is_refuted


def test_without_noise_there_is_nothing_to_freeze() -> None:
    exact: Callable[[Any, Source], object] = lambda values, source: 7  # noqa: E731
    found = replay(exact, SOME, MORE)
    assert "no noise was drawn" in found.why
