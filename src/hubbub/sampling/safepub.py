"""The crowd size that SafePub (as implemented in ARX) needs: the same mechanism with a looser bound, for comparison.

Bild, Kuhn, Prasser (PoPETs 2018), after Li, Qardaji, Su (2012): sample each record at the rate beta = 1 - e^-epsilon,
generalise by a public map, and leave out groups below k. With gamma = (e^epsilon - 1 + beta)/e^epsilon their delta is
the largest Pr[Bin(n, beta) >= floor(gamma n) + 1] over all n >= ceil(k/gamma - 1); ARX takes the smallest k that brings
it below delta, and one more. ARX also spends a part of epsilon on choosing the map, which is not counted here.
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb

from hubbub.errors import Refused, WrongUse
from hubbub.numeric.binomial import at_least
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import Exact, ball, exp, lower, positive, precision, rounded, upper
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.amplification import delta_at, exact_or_suppressed

_LARGEST = 10**6  # crowd
_LONGEST = 10**6  # sizes that are looked at


@dataclass(frozen=True, slots=True)
class Needed:
    """The sampling rate of SafePub, rounded up, the crowd that it needs there, and the one that Theorem A needs."""

    rate: Fraction
    safepub: int
    exact: int


def needed(epsilon: Exact, delta: Exact) -> Needed:
    """The crowds for (epsilon, delta)-differential privacy at SafePub's rate.

    Guarantee: with `exact` and the rate, counts below it hidden are (epsilon, delta)-differentially private (Theorem
    A), and with `exact` - 1 they are not proved so here.

    >>> needed("0.1", "1e-6")
    Needed(rate=Fraction(9516258196404043, 100000000000000000), safepub=61, exact=35)
    """
    loss, target = positive(epsilon, "epsilon"), positive(delta, "delta")
    if target >= 1:
        raise WrongUse("a delta of 1 or more promises nothing; choose one below 1, like 1e-6")
    with precision():
        beta = rounded(1 - exp(-loss), up=True, digits=16)
        gamma = (exp(loss) - 1 + ball(beta)) / exp(loss)
        last = _last(beta, gamma, target)
        # the smallest k with ceil(k/gamma - 1) > last, and one more
        safepub = math.floor(upper(gamma * (last + 1))) + 2
    if delta_at(exact_or_suppressed(_LARGEST, beta), loss).delta > target:
        raise Refused("no crowd below a million reaches this at the rate of SafePub; raise delta, or lower epsilon")
    exact = first(lambda k: delta_at(exact_or_suppressed(k, beta), loss).delta <= target, 2, _LARGEST)
    return Needed(beta, safepub, exact)


def _last(beta: Fraction, gamma: arb, target: Fraction) -> int:
    """The largest n whose tail is not below the target: beyond `far`, Chernoff's bound is below it."""
    rate = gamma * (gamma / ball(beta)).log() - (gamma - ball(beta))
    far = math.ceil(upper(-ball(target).log() / rate))
    if far > _LONGEST:
        raise Refused("an epsilon this small takes too long to compare with SafePub; choose one above 0.001")
    for n in range(far, 0, -1):
        if not at_least(n, beta, math.floor(lower(gamma * n)) + 1) < ball(target):
            return n
    return 0
