"""Composition of several different mechanisms on one secret sample of k of n rows (Theorem A1', a blank for each).

Let the j-th mechanism lose epsilon_j when a row is replaced by any other, with noise of its own, and E be the sum.
The simulator puts one blank row in the place of the one it does not see; to a table of bins the blank is in no bin, and
to a question of two values it is a fair coin, tossed for each such question by itself.

**Theorem.** With p = k/n the answers together are eps'-zero-knowledge private with respect to RS(k),

    eps' = ln max{ (1 - p + p e^E)/(1 - p + p e^(E - u)),  1 - p + p e^d },

u = sum of u_j and d = sum of d_j: epsilon_j/2 both where the blank is half way between any two rows, and
u_j = ln(2/(1 + e^-epsilon_j)), d_j = ln((1 + e^epsilon_j)/2) where it is a coin.

*Proof.* Fix the other k - 1 rows that were drawn. The noises are independent, so the chance of an outcome is a product
over the questions, of factors that a row moves by at most e^epsilon_j. The blank's factor is within e^(epsilon_j/2) of
that of any row, either way; or, for a coin, it is the mean of the factors of the two values, so that a row's is at most
2/(1 + e^-epsilon_j) times it, and it is at most (1 + e^epsilon_j)/2 times a row's. Multiply these, and average over the
other rows: with mu1 and mu1' the laws if the row is drawn, as it is and blanked, and mu0 the law if it is not (then
another row is in its place, as k < n), r = mu1/mu0 and r' = mu1'/mu0 satisfy r <= e^E, r <= e^u r', r' <= e^d r and
e^-u <= r' <= e^d. The release against the simulator is (1 - p + p r)/(1 - p + p r'), which grows with r and falls with
r': at most its value at r = e^E, r' = e^(E - u). The simulator against the release is at most its value at r' = e^d,
r = 1. For k = n these are e^u and e^d. QED

One question alone gives back what :mod:`hubbub.sampling.sanitize` says of it. Theorem A1, ln(1 + p (e^E - 1)), is never
smaller; for small epsilons it is twice as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import ball, exp, precision, rounded
from hubbub.sampling.sanitize import Blank, inside

DIGITS: Final = 20
_STEPS: Final = 60

Part = tuple[Fraction, Blank]
"""What a question loses when a row is replaced, and what the blank is to it."""


def joint_epsilon(rows: int, people: int, parts: Sequence[Part]) -> Fraction:
    """The zero-knowledge privacy of all of them on one sample of `rows` of `people`, rounded up.

    Guarantee: the theorem above: eps'-zero-knowledge private with respect to RS(rows), if the mechanisms are symmetric
    in their rows, draw their noise independently, and lose no more than stated when a row is replaced.
    """
    p, total_loss = Fraction(rows, people), sum((loss for loss, _ in parts), Fraction(0))
    with precision():
        up, down = ball(0), ball(0)
        for loss, blank in parts:
            if blank is Blank.HALF_WAY:
                up, down = up + ball(loss / 2), down + ball(loss / 2)
            elif blank is Blank.COIN:
                up, down = up + (2 / (1 + exp(-loss))).log(), down + (ball(loss) + ((1 + exp(-loss)) / 2).log())
            else:
                up, down = up + ball(loss), down + ball(loss)
        rest = ball(1 - p) * exp(-total_loss)  # both sides divided by e^E
        real = (rest + ball(p)) / (rest + ball(p) * (-up).exp())
        simulated = down + (ball(1 - p) * (-down).exp() + ball(p)).log()
        found = max(rounded(real.log(), up=True, digits=DIGITS), rounded(simulated, up=True, digits=DIGITS))
    return min(max(found, Fraction(0)), total_loss)


def may_lose(rows: int, people: int, epsilon: Fraction, shares: Sequence[Part]) -> Fraction:
    """How much all of them may lose inside the sample, divided by these shares, for this zero-knowledge privacy.

    Guarantee: rounded down, so that :func:`joint_epsilon` gives at most epsilon for it. It lies between what Theorem A1
    allows and twice that, since d is at least E/2.
    """
    every = sum((share for share, _ in shares), Fraction(0))
    if every <= 0:
        raise WrongUse("shares must be above 0; choose others")

    def reached(loss: Fraction) -> Fraction:
        return joint_epsilon(rows, people, [(loss * share / every, blank) for share, blank in shares])

    low = inside(rows, people, epsilon).epsilon_dp
    high = 2 * low
    for _ in range(_STEPS):
        middle = rounded((low + high) / 2, up=False, digits=DIGITS)
        low, high = (middle, high) if reached(middle) <= epsilon else (low, middle)
    return low
