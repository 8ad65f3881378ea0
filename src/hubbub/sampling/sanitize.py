"""Sample and sanitize, in numbers and both ways: k of n rows drawn in secret, a private mechanism run on them.

Theorem A1: an (epsilon, delta)-differentially private mechanism (replace one row, symmetric in its rows) on k of n rows
is (ln(1 + p (e^epsilon - 1)), p delta)-zero-knowledge private with respect to RS(k), p = k/n. Proposition 16 of the
paper has twice the logarithm and (2 + p (e^epsilon - 1)) p delta.

Theorem A1', pure mechanisms only, where a blank row lies half way between any two rows, so that blanking costs
epsilon/2: ln((1 - p + p y^2)/(1 - p + p y)), y = e^(epsilon/2). This is so for a table of counts whose blank is in no
bin and for an average whose noise is continuous and whose blank is 1/2; not for integer counts of rows of two values,
where 1/2 is off the lattice. There the blank is a fair coin, and it is ln(1 + (p/2) (e^epsilon - 1)).
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.indistinguishability import capped, mixed
from hubbub.numeric.exact import (
    Exact,
    Infinite,
    Loss,
    ball,
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
        return mixed(epsilon, p)
    if delta:
        raise Refused("Theorem A1' is for pure mechanisms, and a delta was given; leave out delta-dp, or the midpoint")
    if blank is Blank.COIN:
        return mixed(epsilon, p / 2)
    with precision():
        y = (ball(epsilon) / 2).expm1()
        found = (1 + ball(p) * y * (2 + y)) / (1 + ball(p) * y)
        return min(rounded(found.log(), up=True, digits=DIGITS), epsilon) if epsilon else epsilon


def _answer(p: Fraction, epsilon: Fraction, delta: Fraction, zk: Loss, blank: Blank) -> Sanitized:
    theirs = mixed(epsilon, p)
    assert isinstance(theirs, Fraction)
    paper_epsilon, paper_delta = min(2 * theirs, epsilon), delta
    if 2 * theirs < epsilon:  # else its first clause, (epsilon, delta), is the better one
        with precision():
            paper_delta = capped((2 + ball(p) * ball(epsilon).expm1()) * ball(p * delta)) if delta else delta
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
