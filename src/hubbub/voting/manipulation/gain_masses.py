"""Multinomial probabilities as products: one factor for each kind of ballot, right to the last few places.

N ballots fall into kinds of probability p_i. That n_i of them are of kind i has the probability

    N! prod p_i^n_i/n_i!  =  norm * prod f_i[n_i],      f_i[n] = (p_i e^M)^n e^-S_i / n!

for any M and S_i; near ln N and N p_i they make f_i the masses of a Poisson law, which add up to about 1, and the norm
about sqrt(2 pi N). So a sum over many kinds is a chain of convolutions of positive numbers: nothing cancels, and a sum
is wrong by its roundings alone.

ln k! and the logarithms of the shares are certified and cut in two: a multiple of 2^-26, with which additions and
multiplications by whole numbers are exact in double precision (all stay below 2^27), and a rest of at most 2^-27. A
probability is exp of the sum of the first parts times exp of the sum of the rests, so it is wrong by some units in the
last place, and not by some units in the last place of a logarithm in the thousands.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, fsum, isqrt, log
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import ball, precision, upper
from hubbub.runtime.frozen import dataclass
from hubbub.voting.guarantees.tails import relative_entropy

Floats: TypeAlias = NDArray[np.float64]

UNITS: Final = 32
"""Of 2^-52: what a factor may be wrong by, two exponentials right to 8 units each and what leads to them."""

UNDERFLOW: Final = Fraction(1, 1 << 900)
"""More than all products that become 0 for being below 2^-1022 can add up to: fewer than 2^100 of them."""

_GRID_BITS: Final = 26
_GRID: Final = 1 << _GRID_BITS
_FIXED: Final = 128  # bits after the point of ln k!, summed in whole numbers
_RARE: Final = Fraction(1, 1 << 80)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """`low`..`high`: how many ballots of a kind there are, but for a chance of at most `beyond`."""

    low: int
    high: int
    beyond: Fraction


class Masses:
    """The factors f_i and the norm for `others` ballots of kinds with these probabilities, which add up to 1."""

    def __init__(self, others: int, chances: tuple[Fraction, ...]) -> None:
        check_fits(others, chances)
        self.others = others
        self._high, self._low = log_factorials(others)
        self._scale = round(log(max(others, 1)) * _GRID) / _GRID  # M: with it, exponents stay near 0
        shift = sum(_shift(others, chance) for chance in chances)
        total = self._high[others] - others * self._scale + shift
        self.norm = float(np.exp(total) * np.exp(self._low[others]))

    def factor(self, chance: Fraction) -> Floats:
        """f[n] for n = 0..others."""
        n = np.arange(self.others + 1)
        if chance == 0:
            return np.where(n == 0, 1.0, 0.0)
        coarse, fine = cut_log(chance) if chance < 1 else (0.0, 0.0)
        first = n * (coarse + self._scale) - self._high - _shift(self.others, chance)
        found: Floats = np.exp(first) * np.exp(n * fine - self._low)
        return found

    def binomials(self, most: int, chance: Fraction) -> Floats:
        """Pr[Bin(n, chance) = x], a row for each n = 0..most, a column for each x."""
        n, x = np.arange(most + 1)[:, None], np.arange(most + 1)
        if chance in (0, 1):
            return np.where(x == (n if chance else 0 * n), 1.0, 0.0)
        rest = np.where(x <= n, n - x, 0)
        (coarse, fine), (coarse_not, fine_not) = cut_log(chance), cut_log(1 - chance)
        first = self._high[n] - self._high[x] - self._high[rest] + x * coarse + rest * coarse_not
        more = self._low[n] - self._low[x] - self._low[rest] + x * fine + rest * fine_not
        inside = x <= n
        return np.where(inside, np.exp(np.where(inside, first, 0.0)) * np.exp(np.where(inside, more, 0.0)), 0.0)


def check_fits(others: int, chances: Sequence[Fraction]) -> None:
    """Refuse what `fits` does not hold for."""
    if not fits(others, chances):
        raise WrongUse(
            f"{others + 1:,} voters with these probabilities are too many for exact additions in double precision; "
            "ask for a bound, or for a sample"
        )


def fits(others: int, chances: Sequence[Fraction]) -> bool:
    """Whether each logarithm stays below 2^25, so that a sum of four is exact on the grid: a million voters or so."""
    sizes = [chance.denominator.bit_length() - chance.numerator.bit_length() + 1 for chance in chances if chance]
    return others * max(others.bit_length(), 2 * max(sizes)) < 1 << 25


def _shift(others: int, chance: Fraction) -> float:
    """S: a multiple of 2^-26 near others * chance."""
    return round(others * chance * _GRID) / _GRID if chance else 0.0


def window(others: int, chance: Fraction, rare: Fraction = _RARE) -> Window:
    """Where Bin(others, chance) is, but for a chance of at most `beyond`, some `rare` on either side.

    Guarantee: `beyond` bounds the chance of being outside (Chernoff, proved by balls).
    """
    if chance in (0, 1):
        return Window(low=others if chance else 0, high=others if chance else 0, beyond=Fraction(0))

    def past(count: int) -> Fraction:
        """How likely a count is that lies at least as far from the mean, on the same side."""
        if not 0 <= count <= others:
            return Fraction(0)
        return upper((-others * relative_entropy(Fraction(count, others), chance)).exp())

    middle = others * chance
    outer = first(lambda count: past(count) <= rare, floor(middle) + 1, others + 1)
    low = first(lambda count: past(count) > rare, 0, ceil(middle))
    return Window(low=low, high=outer - 1, beyond=past(low - 1) + past(outer))


# --- certified logarithms -----------------------------------------------------------------------------------------


def cut_log(share: Fraction) -> tuple[float, float]:
    with precision(160):
        mantissa, exponent = ball(share).log().mid().man_exp()
    exact = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    coarse = Fraction(round(exact * (1 << _GRID_BITS)), 1 << _GRID_BITS)
    return float(coarse), float(exact - coarse)


def log_factorials(most: int) -> tuple[Floats, Floats]:
    """ln k! for k = 0..most, wrong by less than 2^-79: sums in whole numbers of 2^-128, cut in two at the end."""
    high, low = np.zeros(most + 1), np.zeros(most + 1)
    shift, total = _FIXED - _GRID_BITS, 0
    half, grid, unit = 1 << (shift - 1), float(1 << _GRID_BITS), float(1 << _FIXED)
    for k, logarithm in enumerate(_logs(most)):
        total += logarithm
        coarse = (total + half) >> shift
        high[k] = coarse / grid
        low[k] = (total - (coarse << shift)) / unit
    return high, low


def _logs(most: int) -> list[int]:
    """2^128 ln k for k = 0..most, wrong by one for each prime factor: those of primes are certified. (0 for k = 0.)"""
    factor = np.arange(most + 1)  # the least prime factor of each number
    for p in range(2, isqrt(most) + 1):
        if factor[p] == p:
            multiples = factor[p * p :: p]
            multiples[multiples == np.arange(p * p, most + 1, p)] = p
    found = [0] * (most + 1)
    with precision(_FIXED + 40):
        for k, p in enumerate(factor.tolist()):
            if k > 1 and p == k:
                mantissa, exponent = (ball(k).log() * (1 << _FIXED)).mid().floor().man_exp()
                found[k] = int(mantissa) << int(exponent)
            elif k > 1:
                found[k] = found[p] + found[k // p]
    return found


def halving_sum(terms: Floats) -> float:
    """The sum of nonnegative terms, wrong by at most one unit in the last place for each halving."""
    while terms.size > 64:
        half = terms.size // 2
        folded = terms[:half] + terms[half : 2 * half]
        if terms.size % 2:
            folded[0] += terms[-1]
        terms = folded
    return fsum(terms)
