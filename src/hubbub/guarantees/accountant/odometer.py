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

What releases lose together when each is chosen on the way, under a cap that was fixed before the first of them.

:mod:`hubbub.guarantees.accountant.odometer` holds for whatever cap somebody has in mind later, and pays for that: its delta
is shared by all its exponents. Who fixes the cap beforehand needs one exponent only (a privacy filter, after Rogers, Roth,
Ullman, Vadhan 2016 and Feldman, Zrnic 2021; Whitehouse, Ramdas, Rogers, Wu, Fully adaptive composition, ICML 2023, have it
at the rate of advanced composition).

**Theorem.** Fix epsilon, delta > 0 and a > 0 before the first release. Let r_a(release) bound ln E e^(a loss) of a release,
whatever came before. Let releases, each chosen as one likes from what was published before, be admitted as long as with
the new one

    sum of r_a <= a epsilon + ln(delta/c_a),     c_a = a^a/(1 + a)^(1 + a),     or     sum of largest losses <= epsilon.

Then everything that is published, until nobody asks any more, is (epsilon, delta)-differentially private.

*Proof.* Both sums are worked out from the releases alone, before they are drawn. Let L be the loss of all of it and R the sum
of r_a at the end; exp(a L - R) has a mean of at most 1 under P, wherever one stops, as in the odometer's proof. For every
event Y, P(Y) - e^epsilon Q(Y) <= E_P (1 - e^(epsilon - L))_+. Where the largest losses add up to at most epsilon, so does L,
and the positive part is 0. Elsewhere it is at most c_a e^(a (L - epsilon)) <= c_a e^(R - a epsilon) e^(a L - R) <=
delta e^(a L - R), whose mean is at most delta. QED

**No mixture of exponents does better.** Any bound of this kind puts a sum of weights w_a e^(a L), which is log-convex in L,
above the positive part, which is log-concave where it is not 0: a straight line lies between their logarithms, and that is
one exponent. What is left between this and the exact law of one order is the price of Markov's inequality, for which no
filter is known that is valid for every choice on the way (for Gaussian noise alone the exact law is one: Smith, Thakurta
2022; Koskela, Tobaben, Honkela 2023).

Releases with deltas of their own show everything with that probability beside their coin. That adds their sum, at most a
bound that was fixed beforehand **for every choice on the way**, also for choices that the filter is not needed for: else
somebody could use the filter after outputs that speak for P, spend the deltas after all others, and gain nearly the sum of
both. Where an odometer at a delta of its own may admit releases as well, that delta is added too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from hubbub.guarantees.accountant.privacy_loss import DominatingPair, RandomizedResponsePair
from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, lower, precision, rounded, upper

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


_PARTS: Final = 80


@lru_cache(maxsize=1024)
def exponent_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The exponent of a cap: that with which most coins of an 80th of it fit under it, of those ledgers keep sums for.

    Others are a bit better for other releases, and none is for all: of much smaller losses, which grow like those of
    Gaussian noise, nearly the same; of so large ones that few fit, none is better than their sum.

    Guarantee: it depends on the cap alone, so that it is fixed when the cap is.
    """
    if not epsilon:
        return EXPONENTS[0]
    coin = growths(RandomizedResponsePair(epsilon=rounded(epsilon / _PARTS, up=True, digits=3)))

    def fitting(a: Fraction, each: Fraction) -> Fraction:
        with precision():
            x = ball(a)
            budget = x * ball(epsilon) + ball(delta).log() - x * x.log() + (1 + x) * (1 + x).log()
            return lower(budget) / each

    return max(zip(EXPONENTS, coin, strict=True), key=lambda pair: fitting(*pair))[0]


def epsilon_under_cap(grown: Sequence[Fraction], basic: Loss, cap: Fraction, delta: Fraction) -> Fraction:
    """The epsilon of all releases so far under a cap; they are admitted while it is at most the cap.

    `grown` and `basic` are the sums over all releases of :func:`hubbub.guarantees.accountant.odometer.growths` and of
    their largest losses.

    Guarantee: if cap and delta were fixed before the first release, and none is made with which this would be above the
    cap, all that is published is (cap, `delta`)-differentially private, by the theorem above, whoever chose the releases;
    and by the odometer's theorem for one exponent, P(Y) <= E_Q[e^epsilon; Y] + delta for every event Y.
    """
    a = exponent_for(cap, delta)
    found = epsilon_with(grown[EXPONENTS.index(a)], a, delta)
    found = rounded(found, up=True, digits=_DIGITS)
    return found if isinstance(basic, Infinite) else min(found, basic)
