"""The offset of a threshold above k in examples 4 and 5, as an exact integer.

A real offset alpha/epsilon behaves, on integers, like its floor, and the tail beyond the floor can exceed the
e^-alpha/2 that was promised (by up to 2/(1+q)). So offsets are integers, rounded up, or found from the exact tail
d(s) = P(X > s) = q^(s+1)/(1+q), q = e^-epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from flint import arb

from hubbub.channels.papers.staircase import tail
from hubbub.errors import WrongUse
from hubbub.numeric.exact import ball, exp, log, lower, upper
from hubbub.runtime.frozen import dataclass


def suppressed_delta(k: int, epsilon: Fraction, offset: int) -> arb:
    """Example 4, exactly: d(s) (1 - e^-(epsilon - epsilon/k)), the delta at epsilon/k between the counts k and k - 1.

    With t the mass above the threshold at count c, the other direction is smaller by (e^(epsilon/k) - 1)(1 - t (1 +
    q)) >= 0, and both grow with c <= k; so this is the largest over all outliers and both directions.
    """
    return tail(epsilon, offset) * -ball(epsilon / k - epsilon).expm1()


def noisy_delta(k: int, epsilon: Fraction, offset: int) -> arb:
    """Example 5 with its bit released, exactly: the delta of example 4 between the counts k and k - 1.

    Write a = epsilon/k, q = e^-epsilon, T = k + s, A_c(x) for the mass of the first noise around c, N for the second
    noise and R_c for what it makes of A_c up to T. From c to c - 1, values that got no second noise lose what they
    lose in example 4; the others lose nothing: R_c(v) <= e^a R_c(v + 1) <= e^a R_(c-1)(v). From c - 1 to c,

        R_(c-1)(v) - e^a R_c(v) = A_c(T+1) N(v - T) - (e^a - e^-a) sum over x <= min(v, T) of A_c(x) N(v - x),

    and values without the second noise lose nothing. Divided by A_c(T+1), what is taken off only grows as c falls, so
    the sum G of positive parts is largest where T = c, and with C = (e^a - e^-a)/(1 - q e^-a) its terms are
    tanh(a/2) (e^-aj - C q^(j-1)) at v = T - j < T and the sign of 1 - C/q from T on. If C <= q all are positive and
    G = (1 + q - e^a - q^2)/(q (1 - q)), which is below (1 - q e^a)/(1 - q) by (e^a - 1)(1 - q^2)/(q (1 - q)). If
    not, those from T on give nothing and G <= Pr[N < 0] < 1/2 < 1/(1 + q^(1/2)) <= (1 - q e^a)/(1 - q), since
    k >= 2. And A_c(T+1)(1 - q e^a)/(1 - q) is the delta of example 4, which is largest at c = k.
    """
    return suppressed_delta(k, epsilon, offset)


def smallest(bound: Callable[[int], arb], epsilon: Fraction, delta: Fraction) -> int:
    """The smallest offset whose bound, falling like e^(-epsilon s), is certainly at most delta."""
    if not 0 < delta < 1:
        raise WrongUse(f"delta must lie between 0 and 1, not {delta}")
    guess = math.floor(lower((bound(0) / ball(delta)).log() / ball(epsilon)))
    offset = max(guess - 1, 0)
    while upper(bound(offset)) > delta:
        offset += 1
    return offset


def rounded_up(alpha: Fraction, epsilon: Fraction) -> int:
    """alpha/epsilon as an integer that is not smaller."""
    return math.ceil(alpha / epsilon)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The offset that meets a delta, three ways."""

    paper: int
    tail_bound: int
    exact: int

    def as_json(self) -> dict[str, int]:
        return {"paper_offset": self.paper, "tail_bound_offset": self.tail_bound, "exact_offset": self.exact}


def calibrate(k: int, epsilon: Fraction, delta: Fraction, *, noisy: bool) -> Calibration:
    """The paper's offset (e^-alpha/2 or, with noise, e^-alpha), the one from the tail d(s), and the exact one."""
    exact: Callable[[int], arb] = (
        (lambda s: noisy_delta(k, epsilon, s)) if noisy else (lambda s: suppressed_delta(k, epsilon, s))
    )
    alpha = -log(delta if noisy else 2 * delta)
    return Calibration(
        paper=max(math.ceil(upper(alpha / ball(epsilon))), 0),
        tail_bound=smallest(lambda s: tail(epsilon, s), epsilon, delta),
        exact=smallest(exact, epsilon, delta),
    )


def paper_claim(alpha: Fraction, *, noisy: bool) -> arb:
    """Theorem 15 (e^-alpha/2) or 16 (e^-alpha)."""
    return exp(-alpha) if noisy else exp(-alpha) / 2
