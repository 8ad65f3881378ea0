"""Gaussian noise on a factor of the running sums, in whole numbers.

R is lower triangular with the same numbers along its diagonals, R_k = round(2^bits a_k), a_k = binom(k - 1 + theta, k):
theta = 1/2 is the square root of the running sums A, theta = 0 the increments themselves. Period t draws
w_t = sum over j <= t of R_(t-j) x_j + Z_t with fresh Z_t ~ N_Z(s2), and the running totals are L w, L = A/R, whose
diagonals are the power series 1/((1 - x) R(x)): rational, exact. No noise is kept from one period to the next.

**Privacy.** A person who is counted in periods j of a set moves w by the sum of these columns of R. For columns i < j of
numbers that are not negative and do not rise, the inner product, the sum over k <= T-1-j of R_k R_(k+j-i), falls in j - i
and in j. So no set of r periods has a longer sum than the first r. Where the person moves the numbers of period j by a
vector v_j, the squared length is the sum of these inner products times <v_i, v_j>, and so at most that of the first r
columns times the largest |v|^2. What was drawn before may decide what is asked next: the sum of squares is bounded on every
path, and so is the loss of a series that stops early.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise, delta_of
from hubbub.noise.gaussian import LARGEST, discrete_gaussian
from hubbub.noise.source import Source
from hubbub.query_classes.marginals.residual import LEAST_VARIANCE, reach_of_weights
from hubbub.runtime.frozen import dataclass

Numbers = NDArray[Any]

MOST_BITS: Final = 16


@lru_cache(maxsize=64)
def coefficients(theta: Fraction, bits: int, periods: int) -> tuple[int, ...]:
    """R_0, ..., R_(T-1)."""
    found, exact = [], Fraction(1)
    for k in range(periods):
        exact = exact * (k - 1 + theta) / k if k else exact
        found.append(round(exact * 2**bits))
    return tuple(found)


@lru_cache(maxsize=64)
def _inverse(rows: tuple[int, ...]) -> tuple[int, ...]:
    """N_0, N_1, ... of l_k = N_k/R_0^(k+1), the power series 1/((1 - x) R(x))."""
    first, found = rows[0], [1]
    scaled = [0] + [r * first ** (j - 1) for j, r in enumerate(rows) if j]
    for k in range(1, len(rows)):
        found.append(first**k - sum(scaled[j] * found[k - j] for j in range(1, k + 1)))
    return tuple(found)


def column_square(rows: Sequence[int], recur: int) -> int:
    """The squared length of the sum of the first `recur` columns."""
    sums = [sum(rows[max(0, i - recur + 1) : i + 1]) for i in range(len(rows))]
    return sum(each * each for each in sums)


@dataclass(frozen=True, slots=True, kw_only=True)
class Factor:
    """Running totals from Gaussian noise on R times the increments.

    Guarantee: (epsilon, delta)-differential privacy of all periods together with the delta of :attr:`delta`, by Lemma C or
    the exact profile, and rho-zCDP, for a person who is counted in at most `recur` periods and moves at most `moved`
    numbers of one period, by a vector of squared length at most `squared`.
    """

    periods: int
    recur: int
    squared: int
    moved: int
    epsilon: Fraction
    theta: Fraction
    bits: int
    s2: Fraction
    signed: bool = False  # somebody may make a number smaller

    def __post_init__(self) -> None:
        fits = 1 <= self.recur <= self.periods and self.squared >= 1 and self.moved >= 1 and self.epsilon > 0
        if not fits or not 0 <= self.theta <= 1 or not 0 <= self.bits <= MOST_BITS:
            raise WrongUse("a series has periods, people in at least one of them, and an epsilon above 0; give such")
        if not 0 < self.s2 <= LARGEST:
            raise WrongUse("the noise of a series cannot be drawn so wide; raise epsilon or delta")
        rows = self.coefficients
        if min(rows) < 0 or any(one < other for one, other in pairwise(rows)):
            raise WrongUse("the numbers of a factor do not rise; choose a theta between 0 and 1")

    @property
    def coefficients(self) -> tuple[int, ...]:
        """R_0, ..., R_(T-1)."""
        return coefficients(self.theta, self.bits, self.periods)

    @property
    def gaussian_noise(self) -> GaussianNoise:
        """What one person moves in all periods together, and its noise."""
        rows = self.coefficients
        ones = self.squared == self.moved and self.bits == 0 and not any(rows[1:]) and not self.signed
        return GaussianNoise(
            s2=self.s2,
            squared=Fraction(column_square(rows, self.recur) * self.squared),
            moved=self.recur * self.moved * self.periods if any(rows[1:]) else self.recur * self.moved,
            ones=ones,
            signed=self.signed,
        )

    @property
    def delta(self) -> Fraction:
        """Guarantee: with it all periods together are (epsilon, delta)-close with and without a person."""
        return delta_of(self.gaussian_noise, self.epsilon)

    # --- what is drawn --------------------------------------------------------------------------------------------

    def rows(self, t: int) -> tuple[tuple[int, ...], ...]:
        """What period t (from 0) draws: the weights of the increments of periods 0..t."""
        return (tuple(reversed(self.coefficients[: t + 1])),)

    def noise(self, t: int, cells: int, source: Source) -> Numbers:
        """The noise of period t."""
        return discrete_gaussian(self.s2, cells, source)[None, :]

    # --- what follows from it -------------------------------------------------------------------------------------

    def totals(self, drawn: Sequence[Numbers]) -> Numbers:
        """The running totals after each period, of what was drawn in each: whole numbers over :meth:`denominator`."""
        return self._times(drawn, self._weights(len(drawn)))

    def increments(self, drawn: Sequence[Numbers]) -> Numbers:
        """The increment of each period, over the same denominator."""
        totals, first = self.totals(drawn), self.coefficients[0]
        before = np.concatenate([0 * totals[:1], totals[:-1] * first])
        return np.asarray(totals - before)

    def _times(self, drawn: Sequence[Numbers], weights: Sequence[int]) -> Numbers:
        """For each t the sum over i <= t of N_(t-i) w_i R_0^i, which is R_0^(t+1) times the total."""
        first, many = self.coefficients[0], len(drawn)
        powers = [first**i for i in range(many)]
        series, found = fmpz_poly(list(weights)), []
        for cell in zip(*(numbers[0].tolist() for numbers in drawn), strict=True):
            product = series.mul_low(fmpz_poly([w * p for w, p in zip(cell, powers, strict=True)]), many)
            found.append([int(product[t]) for t in range(many)])
        return np.array(found, dtype=object).reshape(-1, many).T

    def _weights(self, many: int) -> tuple[int, ...]:
        return _inverse(self.coefficients)[:many]

    def denominator(self, t: int) -> int:
        """Of the totals after t + 1 periods."""
        return int(self.coefficients[0] ** (t + 1))

    def total_weights(self, t: int, since: int = -1) -> list[int]:
        """Of w_0, ..., w_t in the total after period t, or in its difference to that after period `since`: whole numbers
        over :meth:`denominator` of t."""
        line, first = _inverse(self.coefficients), self.coefficients[0]
        found = [line[t - i] * first**i for i in range(t + 1)]
        for i in range(since + 1):
            found[i] -= line[since - i] * first ** (i + t - since)
        return found

    def _squares(self, t: int, since: int) -> Fraction:
        """The sum of the squared weights."""
        return Fraction(sum(each * each for each in self.total_weights(t, since)), self.denominator(t) ** 2)

    def total_variance(self, t: int, since: int = -1) -> Fraction:
        """Of the running total after period t, or of its difference to that after period `since`: at most this."""
        return self.s2 * self._squares(t, since)

    def increment_variance(self, t: int) -> Fraction:
        """Of the increment of a period: at most this."""
        return self.total_variance(t, t - 1)

    @property
    def largest_variances(self) -> tuple[Fraction, Fraction]:
        """Of a total and of an increment: those of the last period, since each has the squares of the one before and one
        more."""
        return self.total_variance(self.periods - 1), self.increment_variance(self.periods - 1)

    def reach(self, t: int, since: int, miss: Fraction, cells: int = 1) -> Fraction:
        """How far the total of so many cells after period t, or its difference to that after period `since`, is from the
        truth, but for a chance of `miss`.

        Guarantee: Lemma I, rounded up; with noise too narrow for the lemma, Chernoff's bound.
        """
        return _reach(self, t, since, miss, cells)


@lru_cache(maxsize=1 << 14)
def _reach(way: Factor, t: int, since: int, miss: Fraction, cells: int) -> Fraction:
    squares, terms = cells * way._squares(t, since), cells * (t + 1)
    return reach_of_weights(way.s2 * squares, squares, terms, miss, smooth=way.s2 >= LEAST_VARIANCE)
