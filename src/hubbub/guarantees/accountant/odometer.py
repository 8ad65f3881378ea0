"""Fully adaptive composition: each release, and its epsilon, may be chosen after seeing the earlier results.

:mod:`hubbub.guarantees.accountant.privacy_loss` needs the epsilons beforehand: an analyst who chooses a larger
epsilon only after revealing first answers is not covered (a counterexample is among the tests). The sum of the epsilons
holds for every choice. This bound lies between the two (after Rogers, Roth, Ullman, Vadhan, Privacy odometers and
filters, NeurIPS 2016; Feldman, Zrnic, Individual privacy accounting via a Renyi filter, NeurIPS 2021; the form here is proved here).

**Theorem.** Fix a > 0 for each of J exponents, delta > 0, and two neighbouring tables with the laws P and Q of what is
published, one release after the other, stopped whenever somebody likes. Let r_a(release) bound ln E e^(a loss) of a
release, whatever came before; for (epsilon, 0)-close ones the loss is that of a coin, or less. With the releases that
were made,

    epsilon' = min over a of (sum of r_a(release) + ln(J c_a/delta))/a,     c_a = a^a/(1 + a)^(1 + a).

Then P(Y) <= E_Q[e^epsilon'; Y] + delta for every event Y of what was published; so for every Y in which the ledger
says at most e, P(Y) <= e^e Q(Y) + delta.

*Proof.* Let L be the loss of all of it. exp(a L - sum of r_a) never rises in mean under P from release to release, so
its mean is at most 1 wherever one stops. For every Y, P(Y) - E_Q[e^epsilon'; Y] <= E_P (1 - e^(epsilon' - L))_+, and
(1 - e^-x)_+ <= c_a e^(a x) for every x (the maximum of (1 - e^-x) e^(-a x) is at e^-x = a/(1 + a)). With the a that is
smallest for these releases, c_a e^(a (L - epsilon')) = (delta/J) exp(a L - sum of r_a); summed over all a, the mean is
at most delta. With delta_j of their own, releases show all with probability delta_j beside their coin, which adds the
sum of delta_j, if that sum, or a bound on it, was fixed beforehand. QED

If everything was fixed beforehand it is plain (epsilon', delta)-differential privacy. Gaussian noise has no largest loss,
and r_a = a (a + 1) rho, without a delta of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from hubbub.guarantees.accountant.privacy_loss import DominatingPair
from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, precision, rounded, upper

EXPONENTS: Final = tuple(Fraction(2) ** i * half for i in range(-2, 12) for half in (Fraction(1), Fraction(3, 2)))
"""Fixed for ever, as the theorem asks: nobody may choose among them after seeing results."""

_DIGITS: Final = 12
_KEPT: Final = 24  # digits of a growth


def epsilon_so_far(pairs: Sequence[DominatingPair], delta: Fraction) -> Loss:
    """The epsilon' of the theorem, or the sum of the largest losses if that is smaller.

    Guarantee: with this epsilon and `delta` plus the deltas of the releases, what was published is covered by the
    theorem above, whoever chose the releases, their epsilons and when to stop, from what was published before.
    """
    several = Counter(pairs)
    grown = [Fraction(0)] * len(EXPONENTS)
    for pair, many in several.items():
        grown = [before + many * more for before, more in zip(grown, growths(pair), strict=True)]
    basic: Loss = Fraction(0)
    for pair, many in several.items():
        most = pair.most
        basic = INFINITY if isinstance(most, Infinite) else basic + most * many
    return epsilon_of(grown, basic, delta)


def epsilon_of(grown: Sequence[Fraction], basic: Loss, delta: Fraction) -> Fraction:
    """The same from the sums over all releases of their :func:`growths` and of their largest losses.

    Guarantee: as :func:`epsilon_so_far`; the sums are all that is carried along, however many releases there are.
    """
    with precision():
        found = [epsilon_with(more, a, delta / len(EXPONENTS)) for more, a in zip(grown, EXPONENTS, strict=True)]
    best = rounded(min(found), up=True, digits=_DIGITS)
    return best if isinstance(basic, Infinite) else min(best, basic)


def epsilon_with(grown: Fraction, a: Fraction, delta: Fraction) -> Fraction:
    """(sum of r_a + ln(c_a/delta))/a, rounded up.

    Guarantee: the epsilon of the theorem with this exponent alone (J = 1), if it was fixed beforehand.
    """
    with precision():
        x = ball(a)
        least = x * x.log() - (1 + x) * (1 + x).log() - ball(delta).log()
        return max(upper((ball(grown) + least) / x), Fraction(0))


@lru_cache(maxsize=4096)
def growths(pair: DominatingPair) -> tuple[Fraction, ...]:
    """ln E e^(a loss) for each exponent a, in the worse of the two directions, rounded up.

    Guarantee: each is at least r_a of the theorem.
    """
    with precision():
        return tuple(rounded(pair.log_moment(a), up=True, digits=_KEPT) for a in EXPONENTS)
