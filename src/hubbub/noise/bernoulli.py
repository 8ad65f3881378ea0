"""Exact Bernoulli trials with probability e^-x, x rational: the number of successes among n.

A coin falls heads when U < e^-x, U uniform on [0, 1). The first word of U decides nearly always: it is further from e^-x
in floating point than a millionth part, which is some 10^9 times what an exponential is rounded by. Where it is not, a
certified table of the one boundary e^-x decides. Of very many alike coins first those are counted that pass one of
chance 2^-j >= e^-x, and each of these passes with e^-x 2^j.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from hubbub.noise.binomial import binomial
from hubbub.noise.sampler import below
from hubbub.noise.table import CertifiedTable
from hubbub.numeric.exact import exp
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.noise.source import Source, Words

Integers = NDArray[np.int64]

_ALIKE: Final = 1 << 12  # more alike coins than this are counted, and not thrown one by one
_HALVINGS: Final = Fraction(14_426, 10_000)  # below 1/ln 2: so many halvings are no less than e^-1
_MOST_HALVINGS: Final = 128
_WORD: Final = 2.0**64
_SPARE: Final = 2.0**-20  # far more than floating point is off by


@dataclass(frozen=True, slots=True, eq=False)
class Multiples:
    """Rational numbers that are whole multiples of one."""

    units: NDArray[Any]
    unit: Fraction

    def __getitem__(self, at: int) -> Fraction:
        return int(self.units[at]) * self.unit

    def select(self, which: Integers) -> Multiples:
        return Multiples(self.units[which], self.unit)

    def floats(self) -> NDArray[np.float64]:
        """Each within some 10^-15 of itself."""
        return self.units.astype(np.float64) * float(self.unit)


def heads(trials: Integers, exponents: Multiples, source: Source) -> Integers:
    """Of each number of trials with a chance of e^-exponent, exponent >= 0, how many succeed.

    Guarantee: independent, and each exactly Binomial(trials, e^-exponent), if the words of the source are uniform and
    independent. A coin with exponent 0 draws no word.
    """
    found, thrown = trials.copy(), exponents.units > 0
    for i in np.flatnonzero(thrown & (trials > _ALIKE)).tolist():
        found[i] = _of_many(int(trials[i]), exponents[i], source)
    few = np.flatnonzero(thrown & (trials <= _ALIKE))
    if few.size:
        found[few] = _of_few(found[few], exponents.select(few), source)
    return found


def permute_and_flip(points: Integers, exponents: Multiples, source: Source) -> tuple[int, int]:
    """A run and one of its points, of runs of so many alike points; the least exponent is 0.

    Guarantee: exactly one of all the points whose coin of chance e^-exponent falls heads, each as likely as any other, if
    the words of the source are uniform and independent.
    """
    found = heads(points, exponents, source)
    chosen = int(below(int(found.sum()), 1, source)[0])
    run = int(found.cumsum().searchsorted(chosen, side="right"))
    return run, int(below(int(points[run]), 1, source)[0])


def _of_few(trials: Integers, exponents: Multiples, source: Source) -> Integers:
    """A word for each coin."""
    which = np.repeat(np.arange(trials.size), trials)
    words = source.words(which.size)
    limit = np.exp(-exponents.floats())[which] * _WORD
    surely, possibly = words < limit * (1 - _SPARE) - 2, words < limit * (1 + _SPARE) + 2
    found = np.bincount(which[surely], minlength=trials.size)
    for at in np.flatnonzero(possibly & ~surely).tolist():
        found[which[at]] += _count_passed(exponents[int(which[at])], 0, words[at : at + 1], source)
    return found


def _of_many(trials: int, exponent: Fraction, source: Source) -> int:
    halvings = min(int(exponent * _HALVINGS), _MOST_HALVINGS)
    near = int(binomial(np.array([trials]), Fraction(1, 1 << halvings), source)[0])
    return _count_passed(exponent, halvings, source.words(near), source)


def _count_passed(exponent: Fraction, halvings: int, words: Words, source: Source) -> int:
    """How many of the U that begin with these words are below e^-exponent 2^halvings, which is at most 1."""

    def boundary() -> list[arb]:
        return [exp(-exponent) * (1 << halvings)]

    return int(np.count_nonzero(CertifiedTable(boundary).sample_from(words, source) == 0))
