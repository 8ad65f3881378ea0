"""Geometric noise on the increments of a series, and on blocks of increments.

Every period draws its increment with noise of rate `single_rate`; every period that ends a block of h also draws the
increments of the block together, with noise of rate `block_rate`. The running total after t periods is the sum of
floor(t/h) blocks and of the t mod h increments since. A block of 1 is none: then totals are sums of increments.

**In secret samples.** With a rate p the increments are those of a secret sample, and the noise is that for the sample. A
*fresh* sample of every period: who is counted in r periods meets r samples, each with the loss ln(1 + p (e^inner - 1)), and
all samples together are what somebody knows who is told of each person with probability 1 - (1 - p)^r. One *panel*, drawn
once: all periods together are one mechanism on it, and the class is iRS(p) whatever r is.

Gaussian noise on a factor of the running sums, in whole numbers.

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

The best blocks and the best factor for a series, found from public numbers.

Where to look is found with floats; what is returned is worked out exactly for the numbers themselves.

Exact increments of crowds: bins by periods of a public calendar, as one partition.

A person is in the bin of the first period in which they have a row, and nowhere else. An increment of at least k people is
shown as it is; a smaller one is hidden, and never comes back: not with the next period, and not in a total.

Two tempting rules are refused. *Totals from k on*: with k = 3 and 0, 1, 2 arrivals the total of the third period is 3 and is
shown; without the person of the second it is hidden, and that person blends with nobody, since the others came in another
period. *Increments held back until k have gathered*: the same example; two people of one bin and of different periods do not
stand for each other, as the earlier one decides when a batch closes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final

import numpy as np
from flint import fmpz_poly
from numpy.typing import NDArray

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise, delta_of, least_normal_variance
from hubbub.noise.binomial import binomial
from hubbub.noise.gaussian import LARGEST, discrete_gaussian
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import ball, exp, precision, rounded, upper
from hubbub.query_classes.marginals.residual import LEAST_VARIANCE, reach_of_weights
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

    def draw_sample(self, counts: Numbers, source: Source) -> Numbers:
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


MOST_PERIODS: Final = 1_000
BITS: Final = 8
_THETAS: Final = tuple(Fraction(n, 100) for n in range(61))
_SHARES: Final = 200
_STEPS: Final = 10**4


def best_blocks(periods: int, recur: int, l1: int, epsilon: Fraction) -> Blocks:
    """The blocks and the share of epsilon for them that make the largest variance of a total least; perhaps none.

    Guarantee: that of :class:`Blocks`, whatever the block and the share.
    """
    plain = Blocks(periods=periods, recur=recur, l1=l1, epsilon=epsilon)
    rate = float(plain.single_rate)
    best, found = periods * _variance(rate), plain
    for block in range(2, periods):
        whole, rest = periods // block, block - 1
        for i in range(1, _SHARES):
            share = i / _SHARES
            of_block, of_single = _variance(rate * share), _variance(rate * (1 - share))
            last = whole * of_block + (periods - whole * block) * of_single
            worst = max(last, (whole - 1) * of_block + rest * of_single)
            if worst < best:
                best, found = worst, replace(plain, block=block, share=Fraction(i, _SHARES))
    return found


def _variance(rate: float) -> float:
    if rate > 700:
        return 0.0
    return 2 * math.exp(-rate) / math.expm1(-rate) ** 2


@lru_cache(maxsize=256)
def best_factor(
    periods: int, recur: int, squared: int, moved: int, epsilon: Fraction, delta: Fraction, *, signed: bool = False
) -> Factor:
    """The theta, in hundredths, that makes the largest variance of a total least, with the least noise for the promise.

    Guarantee: that of :class:`Factor`, whose delta was worked out for the numbers returned and is at most `delta`.
    """
    theta = min(_THETAS, key=lambda each: _spread(float(each), periods, recur))
    return least_factor(periods, recur, squared, moved, epsilon, delta, theta, signed=signed)


def _spread(theta: float, periods: int, recur: int) -> float:
    """The squared length of the first columns times that of the last row of L, in floats."""
    a = np.ones(periods)
    for k in range(1, periods):
        a[k] = a[k - 1] * (k - 1 + theta) / k
    line = np.ones(periods)  # of (1 - x)^(theta - 1)
    for k in range(1, periods):
        line[k] = line[k - 1] * (k - theta) / k
    sums = np.convolve(a, np.ones(recur))[:periods]
    return float((sums**2).sum() * (line**2).sum())


@lru_cache(maxsize=256)
def least_factor(
    periods: int,
    recur: int,
    squared: int,
    moved: int,
    epsilon: Fraction,
    delta: Fraction,
    theta: Fraction,
    *,
    signed: bool = False,
    bits: int = BITS,
) -> Factor:
    """The factor of that theta with an s2 next to the least for the promise.

    Guarantee: the delta was worked out for the s2 itself, after rounding, and is at most `delta`.
    """
    if not 0 < delta < 1:
        raise Refused("Gaussian noise needs a delta above 0 and below 1 beside epsilon; add one, like 1e-9")
    bits = 0 if theta in (0, 1) else bits  # then a_k are whole numbers
    moves = column_square(coefficients(theta, bits, periods), recur) * squared
    near = least_normal_variance(epsilon, delta) * moves
    form = Factor(
        periods=periods,
        recur=recur,
        squared=squared,
        moved=moved,
        epsilon=epsilon,
        theta=theta,
        bits=bits,
        s2=max(near, Fraction(1)),
        signed=signed,
    )
    shape = form.gaussian_noise

    def with_steps(steps: int) -> Fraction:
        return rounded(near * (1 + Fraction(steps, _STEPS)), up=True, digits=6)

    def suffices(steps: int) -> bool:
        return delta_of(replace(shape, s2=with_steps(steps)), epsilon) <= delta

    steps = first(suffices, -2000, 4000)
    while not suffices(steps):
        steps += 100
    return replace(form, s2=with_steps(steps))


HIDDEN: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowds:
    """Increments of at least k people, exactly; the others hidden for good.

    Guarantee: (k, 0)-crowd-blending of all periods together, if each person is counted in one period: it is the table of
    exact counts of at least k of one public partition, the bins by the periods of the calendar.
    """

    periods: int
    k: int

    def __post_init__(self) -> None:
        if self.periods < 1 or self.k < 2:
            raise WrongUse("a crowd has at least 2 people; choose a larger one")

    @property
    def recur(self) -> int:
        return 1

    def publish(self, counts: Numbers) -> Numbers:
        """What is drawn of the increments of one period."""
        return np.where(counts >= self.k, counts, HIDDEN)

    def ends(self, drawn: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
        """Between which numbers each running total lies.

        Guarantee: the total is at least what was shown, and at most k - 1 more for each hidden period.
        """
        every = np.stack([numbers[0] for numbers in drawn])
        low = np.cumsum(np.where(every == HIDDEN, 0, every), axis=0)
        return low, low + (self.k - 1) * np.cumsum(every == HIDDEN, axis=0)
