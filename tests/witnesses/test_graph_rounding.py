"""Integer noise for the MGF theorem: "the simulator rounds to the nearest, so add 1/2 to A" is too little noise.

The smallest witness: one sample (k = 1) that says -5/8 or 5/8 with equal chances, about a count of 0. Rounded to the
nearest it is always off by 1. Rounding without bias is covered by the theorem as it is run.
"""

from __future__ import annotations

from fractions import Fraction

from hubbub.graphs.noise_scale import Spread, scale_for
from hubbub.numeric.exact import ball, precision, rounded
from tests.unit.graphs.simulator import exact_loss

HALF = Fraction(1, 2)
EPSILON = HALF
REACH = Fraction(5, 4)


def believed(shift: Fraction) -> Fraction:
    """max{sqrt(A^2 + sigma^2)/epsilon, (A + sqrt(A^2 + 2 epsilon sigma^2))/(2 epsilon)} with A = shift + 1/2."""
    a, variance = shift + HALF, REACH**2 / 4
    with precision():
        first = ball(a * a + variance).sqrt() / ball(EPSILON)
        second = (ball(a) + ball(a * a + 2 * EPSILON * variance).sqrt()) / ball(2 * EPSILON)
        return rounded(first.max(second), up=True)


def test_half_more_shift_does_not_pay_for_rounding_to_the_nearest() -> None:
    nearest = {(-1,): HALF, (1,): HALF}
    loss = exact_loss(nearest, [0], [believed(Fraction(0))])
    assert loss > ball(EPSILON * Fraction(5, 4) - Fraction(1, 1000))  # 1.249 times what is claimed


def test_rounding_without_bias_is_within_the_theorem() -> None:
    up = Fraction(5, 8)
    unbiased = {(-1,): HALF * up, (0,): 1 - up, (1,): HALF * up}
    found = Spread(shift=Fraction(0), variance=REACH**2 / 4, reach=REACH, k=1)
    assert exact_loss(unbiased, [0], [scale_for(found, EPSILON)]) < ball(EPSILON)
