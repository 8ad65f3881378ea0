"""The expected error of a design, held against the exact law of what it publishes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.channels.catalogue import channel
from hubbub.channels.law import SUPPRESSED
from hubbub.channels.protocol import Channel
from hubbub.channels.subsample import Subsampled
from hubbub.plan.error import error_over_shape, one_bin
from hubbub.plan.shape import Shape, even

TAIL = Fraction(1, 10**14)


def by_the_law(made: Channel, rate: str | None, count: int) -> tuple[float, float]:
    """(mean absolute error, chance to be hidden) from the exact law, term by term; a hidden bin is read as 0."""
    p = Fraction(rate or 1)
    error = hidden = 0.0
    for tag, value, mass in Subsampled(p, made).law(count).atoms(TAIL):
        weight = float(mass.mid())
        gone = tag.startswith(SUPPRESSED)
        hidden += weight * gone
        error += weight * (count if gone else abs(value / float(p) - count))
    return error, hidden


CASES = [
    ("exact-or-suppressed", {"k": 7}),
    ("noisy-below", {"k": 7, "epsilon": "0.5"}),
    ("geometric", {"epsilon": "0.7"}),
    ("warped", {"curve": "0.7"}),
    ("warped", {"curve": "1:0.05,9:1"}),
    ("warped", {"curve": "1:0.05,9:1", "show_above": 10}),
    ("warped", {"curve": "1:0.3,9:inf"}),
    ("outlier-suppressed", {"k": 8, "epsilon": 1, "delta": "1e-4"}),
    ("outlier-noisy", {"k": 8, "epsilon": 1, "delta": "1e-4"}),
]


@pytest.mark.parametrize(("name", "options"), CASES)
@pytest.mark.parametrize("count", [0, 1, 6, 8, 40])
def test_one_bin_is_as_its_law_says(name: str, options: dict[str, object], count: int) -> None:
    made = channel(name, **options)
    error, hidden = one_bin(made, None, count)
    wanted, gone = by_the_law(made, None, count)
    assert error == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert hidden == pytest.approx(gone, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize(("name", "options"), CASES[:4])
@pytest.mark.parametrize(("rate", "count"), [("0.2", 0), ("0.2", 3), ("0.2", 35), ("0.5", 14), ("0.05", 200)])
def test_a_sampled_bin_is_as_its_law_says(name: str, options: dict[str, object], rate: str, count: int) -> None:
    made = channel(name, **options)
    error, hidden = one_bin(made, float(rate), count)
    wanted, gone = by_the_law(made, rate, count)
    assert error == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    assert hidden == pytest.approx(gone, rel=1e-9, abs=1e-9)


def test_a_whole_histogram_is_the_mean_of_its_bins() -> None:
    shape = Shape(name="two", groups=((30, 2), (4, 3)))
    made = channel("exact-or-suppressed", k=10)
    found = error_over_shape(made, None, shape)
    assert found.error == pytest.approx(3 * 4 / 5)  # hidden bins are read as 0, the others are exact
    assert found.hidden_people == pytest.approx(12 / 72)
    assert found.hidden_bins == pytest.approx(3)
    plain = error_over_shape(channel("geometric", epsilon=1), None, even(1000, 10))
    assert plain.error == pytest.approx(1 / 1.1752011936438014)  # 1/sinh 1
    assert plain.hidden_people == 0
