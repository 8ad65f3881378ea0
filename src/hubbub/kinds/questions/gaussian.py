"""Gaussian noise for several questions on one sample: how much each gets, and whether all of them together err less.

Inside the sample one person replaced by another moves the numbers of question j by a vector of length at most L_j. With
N_Z(s2_j) on them all questions together are one normal pair of squared distance sum of L_j^2/s2_j (Lemma C), which may be
(E, delta)-close, E what these questions may lose. A share w_j of the noise means s2_j ~ (L_j/w_j)^2, so that of two
questions the one with twice the share has half of the other's standard deviation, as with geometric noise.

**Theorem A1 with a delta.** If replacing a row of the sample is (E, delta)-close, then on K of N people drawn in secret,
with p = K/N, the release is (ln(1 + p (e^E - 1)), p delta)-private for one person replaced, and zero-knowledge private with
respect to RS(K) by the same two numbers. *Proof.* Given K - 1 others and one more, j, let m0 be the law with j, m1 that
with the person and m1' that with a blank in the person's place, or with another row. The release is (1 - p) m0 + p m1 on
average and the other one (1 - p) m0 + p m1'. With e^E' = 1 + p (e^E - 1) and b = e^(E' - E), their hockey stick at e^E' is p
times that of m1 against (1 - b) m0 + b m1' at e^E (Balle, Barthe, Gaboardi 2018), at most p times the larger of those against
m0 and m1', each of which is a row replaced by a row, by nobody, or by a coin between two rows. QED
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from hubbub.channels.noise_choice import geometric_variance
from hubbub.guarantees.accountant.gaussian import GaussianNoise, least_normal_variance, lemma_c
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import rounded

_DIGITS: Final = 6
_LEAST: Final = Fraction(1, 10**30)

Part = tuple[Fraction, Fraction, int]
"""The share of a question, how far one person replaced moves its numbers, squared, and at most how many of them."""


@lru_cache(maxsize=256)
def variances(epsilon: Fraction, delta: Fraction, parts: tuple[Part, ...]) -> tuple[Fraction, ...]:
    """The s2 of each question, next to the least in these shares, with which all are (epsilon, delta)-close.

    Guarantee: the delta of Lemma C for the numbers themselves, after rounding, is at most `delta`.
    """
    shares = sum((share**2 for share, _, _ in parts), Fraction(0))
    near = least_normal_variance(epsilon, delta) * shares

    def planned(parts_of_near: int) -> tuple[Fraction, ...]:
        more = near * (1 + Fraction(parts_of_near, 10**4))
        return tuple(rounded(more * squared / share**2, up=True, digits=_DIGITS) for share, squared, _ in parts)

    def suffices(parts_of_near: int) -> bool:
        found = zip(planned(parts_of_near), parts, strict=True)
        noises = [GaussianNoise(s2=s2, squared=squared, moved=moved) for s2, (_, squared, moved) in found]
        return lemma_c(noises, epsilon) <= delta

    best = first(suffices, -2000, 4000)
    while not suffices(best):
        best += 500
    return planned(best)


def joint_delta(noises: Sequence[GaussianNoise], epsilon: Fraction) -> Fraction:
    """The delta of all questions with Gaussian noise, one person of the sample replaced, rounded up.

    Guarantee: Lemma C for all of them, and no smaller than 1e-30.
    """
    return max(rounded(lemma_c(noises, epsilon), up=True, digits=9), _LEAST)


def log_of_errors(s2: Sequence[Fraction], rates: Sequence[Fraction]) -> float:
    """The mean logarithm of the standard deviations of Gaussian noises over those of geometric ones of these rates, below
    0 where the Gaussian ones are smaller: the questions have different units."""
    ratios = [math.log(each / geometric_variance(rate)) for each, rate in zip(s2, rates, strict=True)]
    return sum(ratios) / (2 * len(ratios))
