"""Gaussian noise on K of N people drawn in secret: the exact delta, as a maximum over the kinds of everybody else.

N people, of whom K are drawn without replacement; N is public and the person's row is blanked (a blank is in no bin). A
person of kind v_i moves d numbers by one each. The simulator draws K of the others and the blank.

**Theorem.** With p = K/N, delta(E) is the largest, over a kind v_j of everybody else and both directions, of
H(e^E) between (1 - p) N(v_j) + p N(v_i) and (1 - p) N(v_j) + p N(0). *Proof.* Draw K - 1 others and one more, j: the two
laws are averages over the same draw of these mixtures; joint convexity, and all others alike attain it. QED

Which kind is worst is not proved, so all are looked at: v_j shares a of the d numbers and has b of its own,
a + b <= d. A maximum is no dominating pair: such releases add up by their epsilons and not by the law of a loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.guarantees.parameters import chance
from hubbub.numeric.exact import ball, exp, precision, rounded, upper
from hubbub.numeric.gaussian_sums import masses, tail

_REACH: Final = 45  # nats that a law leaves out at each end; its mass is added
_MOST_CELLS: Final = 3_000_000


def fixed_size_delta(s2: Fraction, moved: int, rate: Fraction, epsilon: Fraction) -> Fraction:
    """The delta at `epsilon` of noise N_Z(s2) on K of N people, K/N = `rate`, of whom one moves `moved` numbers by 1.

    Guarantee: by the theorem above, for the worst of all overlaps, rounded up; what laws leave out is added.
    """
    chance(rate, "the share that is drawn")
    if moved < 1 or s2 <= 0:
        raise WrongUse("noise has a variance above 0, on at least one number that a person moves; give both")
    width = 2 * _reach(s2, moved) + 1
    if width ** min(moved, 3) > _MOST_CELLS:
        raise WrongUse("so wide a law is not summed over all overlaps; lower the variance or the numbers of a person")
    with precision():
        found = [
            _larger_direction(s2, moved, shared, apart, rate, epsilon)
            for shared in range(moved + 1)
            for apart in range(moved - shared + 1)
        ]
    return min(max(found), Fraction(1))


def _reach(s2: Fraction, moved: int) -> int:
    return math.isqrt(math.ceil(2 * _REACH * s2 * moved)) + 1


def _law(s2: Fraction, moved: int) -> tuple[list[arb], arb]:
    """The law of the sum of so many numbers of noise around 0, cut off, and a bound on what is left out."""
    if not moved:
        return [arb(1)], arb(0)
    reach = _reach(s2, 1)
    half = masses(reach, s2)
    one = [*reversed(half[1:]), *half]
    law, left = one, 2 * tail(reach, s2)
    for _ in range(moved - 1):
        law = _convolved(law, one)
        left = left + 2 * tail(reach, s2)
    return law, left


def _convolved(first: Sequence[arb], second: Sequence[arb]) -> list[arb]:
    found = [arb(0)] * (len(first) + len(second) - 1)
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            found[i + j] = found[i + j] + a * b
    return found


def _larger_direction(s2: Fraction, moved: int, shared: int, apart: int, rate: Fraction, epsilon: Fraction) -> Fraction:
    """The hockey-stick divergence in both directions if all other people are of one kind, summed under N(0)."""
    p, grow = ball(rate), exp(epsilon)
    up, down, left = arb(0), arb(0), arb(0)
    for count, weight, missing in _outcomes(s2, moved, shared, apart):
        own, other = count
        ours = exp((2 * own - moved) / (2 * s2))  # N(v_i)/N(0)
        theirs = exp((2 * other - shared - apart) / (2 * s2))  # N(v_j)/N(0)
        with_, without = (1 - p) * theirs + p * ours, (1 - p) * theirs + p
        up = up + weight * (with_ - grow * without).nonnegative_part()
        down = down + weight * (without - grow * with_).nonnegative_part()
        left = missing
    return rounded(upper(up.max(down) + left), up=True)


def _outcomes(
    s2: Fraction, moved: int, shared: int, apart: int
) -> Iterator[tuple[tuple[Fraction, Fraction], arb, arb]]:
    """(v_i.X, v_j.X) with its chance under N(0), and a bound on what is left out under every one of the three laws."""
    mine, both, theirs = _law(s2, moved - shared), _law(s2, shared), _law(s2, apart)
    # A shift by 1 in a number moves the window by one: what is beyond it is at most the tail one step earlier.
    reach = _reach(s2, 1) - 1
    missing = 4 * (moved + apart) * tail(reach, s2)
    for i, a in enumerate(mine[0]):
        for j, b in enumerate(both[0]):
            for k, c in enumerate(theirs[0]):
                x, y, z = i - len(mine[0]) // 2, j - len(both[0]) // 2, k - len(theirs[0]) // 2
                yield (Fraction(x + y), Fraction(y + z)), a * b * c, missing
