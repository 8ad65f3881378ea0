"""A mechanism's own curve after sampling: its edges, and where it gives way to the theorem."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from hubbub.channels.custom_curve import THEOREM, _Scan, own_delta_at, own_epsilon_at
from hubbub.channels.mechanisms.exact_above import NoisyBelow
from hubbub.numeric.exact import INFINITY, ball, exp, lower, upper
from hubbub.sampling.amplification import delta_at, epsilon_at, noisy_below


def test_marked_noise_has_the_curve_of_suppression_above_both_limits() -> None:
    own = own_delta_at(20, 1, "0.1", "0.6", tagged=True)
    assert own.delta == delta_at(noisy_below(20, 1, "0.1"), "0.6").delta
    assert own.theorem == THEOREM


def test_below_them_it_is_smaller_than_the_bound() -> None:
    own = own_delta_at(10, 1, "0.3", "0.15", tagged=True)
    # Alone in the bin (n = 0) only the noise counts: p (1 - g e^-1)/(1 + e^-1), g = (e^0.15 - 1 + p)/p.
    g = (math.exp(0.15) - 0.7) / 0.3
    assert float(own.delta) == pytest.approx(0.3 * (1 - g / math.e) / (1 + 1 / math.e))
    assert own.worst_class_size == 0
    assert own.delta < delta_at(noisy_below(10, 1, "0.3"), "0.15").delta


@pytest.mark.parametrize("tagged", [True, False])
def test_an_epsilon_that_was_searched_for_is_proved_and_nearly_the_smallest(tagged: bool) -> None:
    found = own_epsilon_at(20, 1, "0.1", "1e-9", tagged=tagged)
    assert isinstance(found.epsilon, Fraction)
    assert own_delta_at(20, 1, "0.1", found.epsilon, tagged=tagged).delta <= Fraction(1, 10**9)
    below = found.epsilon * (1 - Fraction(1, 10**4))
    assert own_delta_at(20, 1, "0.1", below, tagged=tagged).delta > Fraction(1, 10**9)
    assert found.epsilon <= epsilon_at(noisy_below(20, 1, "0.1"), "1e-9").epsilon


def test_unmarked_noise_goes_below_the_floor_of_the_theorem() -> None:
    assert epsilon_at(noisy_below(4, "0.5", "0.1"), "1e-6").epsilon is INFINITY  # 0.1^4 is above it
    assert own_epsilon_at(4, "0.5", "0.1", "1e-6", tagged=True).epsilon is INFINITY
    found = own_epsilon_at(4, "0.5", "0.1", "1e-6", tagged=False)
    assert isinstance(found.epsilon, Fraction)
    assert own_delta_at(4, "0.5", "0.1", found.epsilon, tagged=False).delta <= Fraction(1, 10**6)


def by_hand(k: int, eta: str, rate: Fraction, at: str, n: int) -> arb:
    """The delta of unmarked noise with n others, term by term from the two laws, in balls."""
    b = [ball(rate**m * (1 - rate) ** (n - m)) * math.comb(n, m) for m in range(n + 1)] + [arb(0)]
    q = exp(-Fraction(eta))
    last = max(n, k) + 2  # beyond every exact count

    def law(v: int, moved: int) -> arb:
        noisy = sum((b[m] * (1 - q) / (1 + q) * q ** abs(v - m - moved) for m in range(min(k - moved, n + 1))), arb(0))
        shown = b[v - moved] if v >= k and v - moved <= n else arb(0)
        # All values from 0 down, and all from the last on, fall off alike.
        return (noisy / (1 - q) if v in (0, last) else noisy) + shown

    without, with_ = ([law(v, moved) for v in range(last + 1)] for moved in (0, 1))
    growth = exp(Fraction(at)) - 1
    g, w = 1 + growth / ball(rate), ball(rate) - ball(1 - rate) * growth
    joining = sum(((y - g * x).nonnegative_part() for x, y in zip(without, with_, strict=True)), arb(0)) * ball(rate)
    if not w > 0:
        return joining
    pairs = zip(without, with_, strict=True)
    leaving = sum(((w * x - ball(rate) * (1 + growth) * y).nonnegative_part() for x, y in pairs), arb(0))
    return joining.max(leaving)


@pytest.mark.parametrize(
    ("k", "eta", "rate", "at"),
    [
        (2, "1", "0.999999999999", "0.1"),  # 1 - p has few digits as a float minus a float
        (6, "1", "0.99999", "0"),
        (15, "1e-6", "0.5", "0.01"),
        (4, "50", "0.37", "10"),
        (8, "0.3", "0.8", "3"),
        (20, "10", "0.01", "5.5"),
        (3, "5", "0.5", "0.6931"),  # w is nearly 0
        (16, "30", "1e-9", "12"),  # what matters is too small for a float
    ],
)
def test_floats_are_never_below_the_law(k: int, eta: str, rate: str, at: str) -> None:
    found = own_delta_at(k, eta, rate, at, tagged=False)
    truth = [by_hand(k, eta, Fraction(rate), at, n) for n in range(3 * k + 8)]
    assert all(lower(delta) <= found.delta for delta in truth)
    if found.worst_class_size < 3 * k + 8 and found.delta > Fraction(1, 10**30):
        assert found.delta <= max(upper(delta) for delta in truth) * (1 + Fraction(1, 10**6))


def test_where_floats_do_not_reach_the_theorem_stands() -> None:
    for rate, at in (("0.1", 1000), ("1e-30", "0.1")):
        own = own_delta_at(20, 1, rate, at, tagged=False)
        assert own.delta == delta_at(noisy_below(20, 1, rate), at).delta
        assert own.theorem != THEOREM


def test_the_edges_are_the_theorems() -> None:
    assert own_delta_at(20, 1, 0, "0.1", tagged=False).delta == 0
    assert own_delta_at(20, 1, 1, "0.1", tagged=True).delta == 1
    large = own_delta_at(100_000, "0.5", "0.1", "0.2", tagged=False)  # too many classes to look at
    assert large.theorem != THEOREM
    assert large.delta == delta_at(noisy_below(100_000, "0.5", "0.1"), "0.2").delta


def test_elsewhere_is_a_bound_for_every_class_size_but_the_worst(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []
    right = _Scan.values

    def values(self: _Scan, *given: Any) -> Any:
        found = right(self, *given)
        seen.extend(float(each) for way in found for each in way)
        return found

    monkeypatch.setattr(_Scan, "values", values)
    found = _Scan(NoisyBelow(3, 1, False), Fraction(1, 10), Fraction(1, 10), Fraction(1, 20)).run(200, 1.0)
    assert found is not None
    worst, second, *_ = sorted(seen, reverse=True)
    assert found.here == worst
    assert second <= found.elsewhere < 1
