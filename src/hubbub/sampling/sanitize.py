"""Sample and sanitize, in numbers and both ways: k of n rows drawn in secret, a private mechanism run on them.

Theorem A1: an (epsilon, delta)-differentially private mechanism (replace one row, symmetric in its rows) on k of n rows
is (ln(1 + p (e^epsilon - 1)), p delta)-zero-knowledge private with respect to RS(k), p = k/n. Proposition 16 of the
paper has twice the logarithm and (2 + p (e^epsilon - 1)) p delta.

Theorem A1', pure mechanisms only, where a blank row lies half way between any two rows, so that blanking costs
epsilon/2: ln((1 - p + p y^2)/(1 - p + p y)), y = e^(epsilon/2). This is so for a table of counts whose blank is in no
bin and for an average whose noise is continuous and whose blank is 1/2; not for integer counts of rows of two values,
where 1/2 is off the lattice. There the blank is a fair coin, and it is ln(1 + (p/2) (e^epsilon - 1)).

Composition of several different mechanisms on one secret sample of k of n rows (Theorem A1', a blank for each).

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
from enum import Enum
from fractions import Fraction
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.indistinguishability import cap_probability, subsampled_loss
from hubbub.numeric.exact import (
    Exact,
    Infinite,
    Loss,
    ball,
    exp,
    finite_loss,
    integer,
    precision,
    rational,
    rounded,
    to_text,
)
from hubbub.runtime.frozen import dataclass

DIGITS: Final = 20
A1: Final = "Theorem A1 (sample and sanitize)"


class Blank(Enum):
    """What stands in the place of a row that the simulator does not see."""

    ANY = "any row"
    """Theorem A1: nothing is known about it."""
    HALF_WAY = "half way between any two rows"
    """Theorem A1': a table of counts whose blank is in no bin."""
    COIN = "a fair coin"
    """Rows of two values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanitized:
    """The loss on the sample, the zero-knowledge loss for everybody, and the loss by the paper's own bound."""

    epsilon_dp: Fraction
    delta_dp: Fraction
    epsilon_zk: Loss
    delta_zk: Fraction
    paper_epsilon: Loss
    paper_delta: Fraction
    theorem: str


def outside(rows: Exact, of: Exact, epsilon_dp: Exact, delta_dp: Exact = 0, blank: Blank = Blank.ANY) -> Sanitized:
    """The zero-knowledge privacy of a mechanism with this differential privacy, run on `rows` of `of` rows.

    Guarantee: epsilon_zk and delta_zk are rounded up, so the release is (epsilon_zk, delta_zk)-zero-knowledge private
    with respect to RS(rows) if the mechanism is symmetric in its rows (Theorem A1), and if the blank is as it says
    (Theorem A1').
    """
    p, delta = _share(rows, of), _delta(delta_dp)
    epsilon = finite_loss(epsilon_dp, "epsilon-dp")
    return _answer(p, epsilon, delta, _through(p, epsilon, delta, blank), blank)


def inside(rows: Exact, of: Exact, epsilon_zk: Exact, delta_dp: Exact = 0, blank: Blank = Blank.ANY) -> Sanitized:
    """The differential privacy that may be spent inside the sample for this zero-knowledge privacy outside.

    Guarantee: epsilon_dp is rounded down to `DIGITS` digits, so that :func:`outside` gives at most epsilon_zk for it
    (Theorems A1 and A1', solved for epsilon).
    """
    p, delta = _share(rows, of), _delta(delta_dp)
    z = finite_loss(epsilon_zk, "epsilon-zk")
    if z == 0:
        return _answer(p, z, delta, z, blank)
    with precision():
        growth = ball(z).expm1()
        if blank is Blank.HALF_WAY:
            e = growth + 1
            root = (ball(p * p) * e * e + 4 * ball(p * (1 - p)) * growth).sqrt()
            found = 2 * ((ball(p) * e + root) / (2 * ball(p))).log()
        else:
            found = (growth / ball(p if blank is Blank.ANY else p / 2)).log1p()
        epsilon = rounded(found, up=False, digits=DIGITS)
    reached = _through(p, epsilon, delta, blank)
    while not isinstance(reached, Infinite) and reached > z:  # the last digit of the way back, rounded up
        epsilon *= 1 - Fraction(1, 10 ** (DIGITS - 2))
        reached = _through(p, epsilon, delta, blank)
    return _answer(p, epsilon, delta, z, blank)


def _through(p: Fraction, epsilon: Fraction, delta: Fraction, blank: Blank) -> Loss:
    if blank is Blank.ANY:
        return subsampled_loss(epsilon, p)
    if delta:
        raise Refused("Theorem A1' is for pure mechanisms, and a delta was given; leave out delta-dp, or the midpoint")
    if blank is Blank.COIN:
        return subsampled_loss(epsilon, p / 2)
    with precision():
        y = (ball(epsilon) / 2).expm1()
        found = (1 + ball(p) * y * (2 + y)) / (1 + ball(p) * y)
        return min(rounded(found.log(), up=True, digits=DIGITS), epsilon) if epsilon else epsilon


def _answer(p: Fraction, epsilon: Fraction, delta: Fraction, zk: Loss, blank: Blank) -> Sanitized:
    theirs = subsampled_loss(epsilon, p)
    assert isinstance(theirs, Fraction)
    paper_epsilon, paper_delta = min(2 * theirs, epsilon), delta
    if 2 * theirs < epsilon:  # else its first clause, (epsilon, delta), is the better one
        with precision():
            paper_delta = cap_probability((2 + ball(p) * ball(epsilon).expm1()) * ball(p * delta)) if delta else delta
    return Sanitized(
        epsilon_dp=epsilon,
        delta_dp=delta,
        epsilon_zk=zk,
        delta_zk=p * delta,
        paper_epsilon=paper_epsilon,
        paper_delta=paper_delta,
        theorem="Theorem A1 (sample and sanitize)"
        if blank is Blank.ANY
        else f"Theorem A1' (the blank is {blank.value})",
    )


def _share(rows: Exact, of: Exact) -> Fraction:
    k, n = integer(rows, "rows", least=1), integer(of, "of", least=1)
    if k > n:
        raise WrongUse(f"a sample without replacement has at most all the rows, not {k} of {n}; lower rows")
    return Fraction(k, n)


def _delta(value: Exact) -> Fraction:
    delta = rational(value, "delta-dp")
    if not 0 <= delta < 1:
        raise WrongUse(f"delta-dp must be at least 0 and below 1, not {to_text(delta)}; choose one that is")
    return delta


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

    def joint_loss(loss: Fraction) -> Fraction:
        return joint_epsilon(rows, people, [(loss * share / every, blank) for share, blank in shares])

    low = inside(rows, people, epsilon).epsilon_dp
    high = 2 * low
    for _ in range(_STEPS):
        middle = rounded((low + high) / 2, up=False, digits=DIGITS)
        low, high = (middle, high) if joint_loss(middle) <= epsilon else (low, middle)
    return low
