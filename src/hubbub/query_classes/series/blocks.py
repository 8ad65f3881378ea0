"""Geometric noise on the increments of a series, and on blocks of increments.

Every period draws its increment with noise of rate `single_rate`; every period that ends a block of h also draws the
increments of the block together, with noise of rate `block_rate`. The running total after t periods is the sum of
floor(t/h) blocks and of the t mod h increments since. A block of 1 is none: then totals are sums of increments.

**In secret samples.** With a rate p the increments are those of a secret sample, and the noise is that for the sample. A
*fresh* sample of every period: who is counted in r periods meets r samples, each with the loss ln(1 + p (e^inner - 1)), and
all samples together are what somebody knows who is told of each person with probability 1 - (1 - p)^r. One *panel*, drawn
once: all periods together are one mechanism on it, and the class is iRS(p) whatever r is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.noise.binomial import binomial
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, exp, precision, rounded, upper
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import UNSAID

Numbers = NDArray[Any]


@lru_cache(maxsize=1024)
def geometric_variance(rate: Fraction) -> Fraction:
    """2 q/(1 - q)^2 with q = e^-rate, rounded up."""
    with precision():
        q = exp(-rate)
        return rounded(upper(2 * q / ball(-rate).expm1() ** 2), up=True)


_DIGITS: Final = 12  # of a rate that is rounded up
_LEAST_RATE: Final = Fraction(1, 10**12)
_MOST_EPSILON: Final = 10**6


@lru_cache(maxsize=1024)
def inner_loss(epsilon: Fraction, rate: Fraction) -> Fraction:
    """What may be lost inside a secret sample of that rate.

    Guarantee: ln(1 + rate (e^inner - 1)) <= epsilon, rounded down.
    """
    with precision():
        return rounded((ball(epsilon).expm1() / ball(rate)).log1p(), up=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocks:
    """Increments and blocks of increments with geometric noise.

    Guarantee: epsilon-differential privacy of all periods together, for a person who is counted in at most `recur`
    periods and moves the numbers of one period by at most `l1` in all. Such a person moves all increments together by
    at most recur l1, and all blocks too, since every period is in one block; the rates are epsilon (1 - share) and
    epsilon share over that. What was drawn before may decide what is asked next: the losses are bounded on every path.

    With a `sample`, epsilon-differential privacy and epsilon-zero-knowledge privacy with respect to iRS(:attr:`known_rate`)
    of all periods together. Fresh samples: the increments of one period lose `inner`, so those of its sample lose
    ln(1 + p (e^inner - 1)) <= epsilon/recur, and losses of independent samples add up. Of people who were told of with
    probability 1 - (1 - p)^r, all with their rows, r independent samples are made by tossing which of them each was in. A
    panel: all periods together lose `inner` on it, and ln(1 + p (e^inner - 1)) <= epsilon.
    """

    periods: int
    recur: int
    l1: int
    epsilon: Fraction
    block: int = 1  # periods in a block; 1: no blocks
    share: Fraction = Fraction(0)  # of epsilon, for the blocks
    sample: Fraction | None = field(default=None, metadata=UNSAID)  # the rate of a secret sample
    panel: bool = field(
        default=False, metadata=UNSAID
    )  # one sample of people for all periods, not a fresh one for each

    def __post_init__(self) -> None:
        if self.sample is None and self.panel:
            raise WrongUse("a panel is a secret sample; give its rate, like `sample=0.1`")
        if self.sample is not None and (self.block > 1 or not 0 < self.sample < 1):
            raise WrongUse("a secret sample has a rate between 0 and 1 and no blocks; give one like 0.1, without `way`")
        if self.sample is not None and min(self.sample, 1 - self.sample) < _LEAST_RATE:
            raise WrongUse("a secret sample leaves some out and takes some in; choose a rate like 0.1")
        if self.sample is not None and not _LEAST_RATE <= self.epsilon <= _MOST_EPSILON:
            raise WrongUse("in secret samples nobody loses so little, or so much; choose an epsilon like 1")
        fits = 1 <= self.recur <= self.periods and self.l1 >= 1 and 1 <= self.block <= self.periods
        if not fits or self.epsilon <= 0 or not 0 <= self.share < 1 or (self.block == 1) is not (self.share == 0):
            raise WrongUse("a series has periods, people in at least one of them, and an epsilon above 0; give such")

    @property
    def delta(self) -> Fraction:
        return Fraction(0)

    @property
    def single_rate(self) -> Fraction:
        """Of the noise on one increment."""
        if self.sample is not None:
            return self.inner / (self.l1 * (self.recur if self.panel else 1))
        return self.epsilon * (1 - self.share) / (self.recur * self.l1)

    @property
    def inner(self) -> Fraction:
        """What is lost inside a sample: inside that of one period, or in all periods together on a panel."""
        assert self.sample is not None
        return inner_loss(self.epsilon if self.panel else self.epsilon / self.recur, self.sample)

    @property
    def known_rate(self) -> Fraction:
        """p of the class iRS(p): with which chance a person is in a sample at all, rounded up."""
        assert self.sample is not None
        met = self.sample if self.panel else 1 - (1 - self.sample) ** self.recur
        return min(rounded(met, up=True, digits=_DIGITS), Fraction(1))

    @property
    def block_rate(self) -> Fraction | None:
        """Of the noise on a block; None without blocks."""
        return None if self.block == 1 else self.epsilon * self.share / (self.recur * self.l1)

    # --- what is drawn --------------------------------------------------------------------------------------------

    def rows(self, t: int) -> tuple[tuple[int, ...], ...]:
        """What period t (from 0) draws: for each number the weights of the increments of periods 0..t."""
        single = (0,) * t + (1,)
        if not self._ends_block(t):
            return (single,)
        return (single, (0,) * (t + 1 - self.block) + (1,) * self.block)

    def _ends_block(self, t: int) -> bool:
        return self.block > 1 and (t + 1) % self.block == 0

    def sampled(self, counts: Numbers, source: Source) -> Numbers:
        """Of the people counted in one period those in its sample: drawn here if it is fresh, before if it is a panel.

        Guarantee: each person is in it with probability `sample`, independently: of c people in a bin Binomial(c, p). More
        than 2^38 of them are put back to that, which moves no two numbers further apart.
        """
        if self.sample is None or self.panel:
            return counts
        return binomial(counts, self.sample, source)

    def noise(self, t: int, cells: int, source: Source) -> Numbers:
        """The noise of period t: one line for each of its rows."""
        rates = (self.single_rate, *((self.block_rate,) if self._ends_block(t) else ()))
        return np.stack([two_sided_geometric(rate, cells, source) for rate in rates if rate is not None])

    # --- what follows from it -------------------------------------------------------------------------------------

    def totals(self, drawn: Sequence[Numbers]) -> Numbers:
        """The running totals after each period, of what was drawn in each: whole numbers over :meth:`denominator`."""
        found, before, since = [], 0 * drawn[0][0].astype(object), 0 * drawn[0][0].astype(object)
        for t, numbers in enumerate(drawn):
            since = since + numbers[0].astype(object)
            if self._ends_block(t):
                before, since = before + numbers[1].astype(object), 0 * since
            found.append(before + since)
        return np.stack(found)

    def increments(self, drawn: Sequence[Numbers]) -> Numbers:
        """The increment of each period, over the same denominator: as it was drawn."""
        return np.stack([numbers[0].astype(object) for numbers in drawn])

    def denominator(self, t: int) -> int:
        """Of the totals after t + 1 periods."""
        return 1

    def total_noise(self, t: int, since: int = -1) -> Counter[Fraction]:
        """Which noises are in the total after period t, or in its difference to that after period `since`: how many of
        each rate, all with weight 1 or -1."""
        rows = _rows(self, t) ^ (_rows(self, since) if since >= 0 else frozenset())
        rates = {False: self.single_rate, True: self.block_rate or self.single_rate}
        return Counter(rates[is_block] for is_block, _ in rows)

    def total_variance(self, t: int, since: int = -1) -> Fraction:
        """Of the running total after period t, or of its difference to that after period `since`; rounded up."""
        noises = self.total_noise(t, since)
        return sum((many * geometric_variance(rate) for rate, many in noises.items()), Fraction(0))

    def increment_variance(self, t: int) -> Fraction:
        """Of the increment of a period; rounded up."""
        return geometric_variance(self.single_rate)

    @property
    def largest_variances(self) -> tuple[Fraction, Fraction]:
        """Of a total, which grows from one end of a block to the next, and of an increment."""
        ends = {self.periods - 1, max(self.periods // self.block * self.block - 2, 0)}
        return max(map(self.total_variance, ends)), self.increment_variance(0)


def _rows(way: Blocks, t: int) -> frozenset[tuple[bool, int]]:
    """The rows of which the total after period t is the sum: whether each is a block, and which one."""
    whole = (t + 1) // way.block if way.block > 1 else 0
    return frozenset((True, i) for i in range(whole)) | frozenset((False, i) for i in range(whole * way.block, t + 1))
