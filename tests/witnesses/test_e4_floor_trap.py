"""E4: on integers, a real threshold k + alpha/epsilon acts like its floor, and the floor breaks Theorem 15.

epsilon = 3, k = 100, alpha = 11.99: alpha/epsilon = 3.997 acts as 3, and P(X > 3) is not e^-alpha/2 but 1.9 times that.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.channels.papers.outliers import OutlierNoisy, OutlierSuppressed, paper_claim, rounded_up
from hubbub.channels.papers.staircase import tail
from hubbub.channels.profile import judge, profile
from hubbub.guarantees.verdict import Proved, Refuted
from hubbub.numeric.exact import exp, rounded, upper
from tests.witnesses.family import rounds_to

EPSILON, ALPHA = Fraction(3), Fraction("11.99")
CLAIMED = rounded(paper_claim(ALPHA, noisy=False), up=True)


def test_e4_the_floor_is_refuted() -> None:
    assert int(ALPHA / EPSILON) == 3
    floored = OutlierSuppressed(k=100, epsilon=EPSILON, offset=3, delta=CLAIMED)
    rows = profile(floored, range(1, 131))
    at_k = rows[99]
    assert rounds_to(at_k.exact_delta, "5.55e-6")
    assert rounds_to(at_k.claimed_delta, "3.10e-6")
    found = judge(floored, rows)
    assert isinstance(found, Refuted)
    witness = dict(found.witness)
    assert (witness["count"], witness["neighbour"]) == ("100", "99")
    assert CLAIMED < Fraction(witness["exact_delta_at_least"]) <= upper(at_k.exact_delta)


def test_e4_rounded_up_it_is_proved() -> None:
    right = OutlierSuppressed.with_alpha(100, EPSILON, ALPHA)
    assert right.offset == 4
    assert right.delta == CLAIMED
    assert isinstance(judge(right, profile(right, range(1, 131))), Proved)


def test_e4_example_5_survives_the_floor_with_its_spare_factor_of_two() -> None:
    claimed = rounded(paper_claim(ALPHA, noisy=True), up=True)
    floored = OutlierNoisy(k=100, epsilon=EPSILON, offset=3, delta=claimed)
    assert isinstance(judge(floored, profile(floored, range(95, 106))), Proved)


@pytest.mark.parametrize("text", ["0.01", "0.3", "1", "3", "7"])
def test_e4_the_tail_beyond_the_floor(text: str) -> None:
    """q^(floor + 1)/(1 + q) against e^-alpha/2: up to 2/(1 + q) too much, and rounding up never is."""
    epsilon = Fraction(text)
    alpha = 5 * epsilon - epsilon / 1000  # just below an integer number of epsilons
    promised = exp(-alpha) / 2
    assert tail(epsilon, 4) > promised
    assert tail(epsilon, 4) <= promised * 2 / (1 + exp(-epsilon))
    assert tail(epsilon, rounded_up(alpha, epsilon)) <= promised
    assert rounds_to(tail(Fraction(1), 9) / (exp(Fraction("-9.99")) / 2), "1.45")
