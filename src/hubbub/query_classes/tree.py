"""Intervals from a tree of runs: every run of 1, b, b^2, ... bins has a noise of its own, and all are fitted together.

A person is in one run of each level, and the levels share what may be lost. The counts are fitted by least squares: the
functions of the bins are split into those that are the same within the widest runs, and, for each level j below, those
that are the same within its runs and add up to 0 in each run above. Level l sees all of these with j >= l, so that the
part of level j of a run R is told by

    sum over l <= j of h_jl (sum of the noisy counts of level l in R),  h_jl = b^l w_l/lam_j,  lam_j = sum over l <= j of b^l w_l,

w_l about 1 over the variance of level l. That is unbiased whatever the weights. An interval with the indicator f is then
the sum of a_l(N) times the noisy counts of all runs N, with a_l = sum over j >= l of h_jl (m_j - m_(j+1)), m_j the share of
the run of level j around N that lies in the interval (and 0 above the widest), which takes few different values.

**How far it may be off.** The logarithm of E e^(t a X) = 1/(1 - sinh(a t/2)^2/sinh(r/2)^2), for a noise X of rate r, is
convex in a^2 and 0 at 0. So with all |a| of level l at most A_l and squares that add up to Q_l, the sum of all noises has

    ln E e^(t S) <= sum over l of Q_l k_l(t),   k_l(t) = -ln(1 - sinh(A_l t/2)^2/sinh(r_l/2)^2)/A_l^2,

and P(|S| > h) <= 2 e^(that - t h), for every t. For one interval its Fourier series is far closer
(:mod:`hubbub.query_classes.marginals.fourier_tail`); for all of them at once these are enough: A_l = h_ll, since h_jl
falls in j, and for every interval Q_l <= sum over l <= j < top of h_jl^2 b^(j+1-l)/2 + h_(top,l)^2 (runs of level l), since at most two runs have an end inside.
These sums are in floating point, with a billionth more than their rounding.

Bins that are missing in the last run of a level hold nobody, and have no noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import rounded
from hubbub.query_classes.classes import Boxes, Query, box_of
from hubbub.query_classes.marginals.fourier_tail import BEYOND, LEAST_MISS, Series, series
from hubbub.query_classes.marginals.geometric import geometric_variance
from hubbub.query_classes.setting import Cells, Drawn, Setting, too_many_cells, too_wide
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank

MOST_SHARE: Final = 1000
_MOST_LISTED: Final = 1 << 16  # bins of which all intervals are added up
_PARTS: Final = 100  # of what may be lost, about
_ROUNDS: Final = 40
_WORK: Final = 50_000  # factors that are worked out for the law of one interval
_MORE: Final = 1 + 1e-9
_DIGITS: Final = 7
_SLOPES: Final = np.geomspace(0.002, 0.98, 90)  # of the steepest
BRANCHINGS: Final = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64)

Floats = NDArray[np.float64]
Run = tuple[int, int, int, int]
"""A level, from which run to which, and their weight in an answer as a whole number."""


@lru_cache(maxsize=256)
def levels(bins: int, branching: int) -> tuple[int, ...]:
    """How many runs each level has: single bins first, at most `branching` last."""
    found = [bins]
    while found[-1] > branching:
        found.append(-(-found[-1] // branching))
    return tuple(found)


@dataclass(frozen=True)
class Fit:
    """The weights of all runs in the answer to an interval."""

    bins: int
    branching: int
    shares: tuple[int, ...]  # of what may be lost, for each level

    @property
    def sizes(self) -> tuple[int, ...]:
        return levels(self.bins, self.branching)

    def integer_weights(self) -> tuple[list[list[int]], int]:
        """h_jl times a whole number, and that number."""
        parts = [self.branching**level * share**2 for level, share in enumerate(self.shares)]
        every = [sum(parts[: j + 1]) for j in range(len(parts))]
        scale = math.lcm(*(all_ // math.gcd(all_, *parts[: j + 1]) for j, all_ in enumerate(every)))
        return [[scale * part // all_ for part in parts[: j + 1]] for j, all_ in enumerate(every)], scale

    @property
    def unit(self) -> int:
        """What weights are divided by."""
        leaves: int = self.branching ** (len(self.shares) - 1)
        return _weights(self)[1] * leaves

    def runs(self, start: int, stop: int) -> Iterator[Run]:
        """All runs with a weight in the answer to an interval, those of one weight together."""
        b, top = self.branching, len(self.shares) - 1
        known, wide = _weights(self)[0], b**top
        end = self.sizes[-1] * wide if stop == self.bins else stop  # nobody is beyond the last bin

        def below(level: int, first: int, last: int, share: int, above: list[int]) -> Iterator[Run]:
            """Of the runs from one to another of a level, within one run of which `share`/`wide` lies in the interval."""
            size = b**level
            ends = {at for x in (start, end) for at in (x // size, -(-x // size))}
            edges = sorted({first, last} | {min(max(at, first), last) for at in ends})
            for one, two in pairwise(edges):
                inside = max(min(end, two * size) - max(start, one * size), 0)
                here = inside * wide // (size * (two - one))
                weights = [before + h * (here - share) for before, h in zip(above, known[level], strict=False)]
                if here in (0, wide):
                    for deep, weight in enumerate(weights):
                        from_, to = (min(x * b ** (level - deep), self.sizes[deep]) for x in (one, two))
                        if weight and to > from_:
                            yield deep, from_, to, weight
                    continue
                if weights[level]:
                    yield level, one, two, weights[level]
                yield from below(level - 1, one * b, two * b, here, weights)

        yield from below(top, 0, self.sizes[-1], 0, [0] * (top + 1))

    def weights(self, start: int, stop: int) -> tuple[tuple[int, int, int], ...]:
        """(level, weight without its sign, how many runs have it), in order: the same for all intervals with one law."""
        found: dict[tuple[int, int], int] = {}
        for level, first, last, weight in _runs(self, start, stop):
            key = level, abs(weight)
            found[key] = found.get(key, 0) + last - first
        return tuple((*key, many) for key, many in sorted(found.items()))

    @property
    def level_weights(self) -> Floats:
        """h_jl, by j and l."""
        known, scale = _weights(self)
        deep = len(self.shares)
        return np.array([[known[j][i] / scale if i <= j else 0.0 for i in range(deep)] for j in range(deep)])

    def most_squares(self) -> Floats:
        """At least the sum of the squared weights of each level, for every interval."""
        h, b, deep = self.level_weights, self.branching, len(self.shares)
        ends = np.array([b ** (j + 1) / 2 for j in range(deep - 1)] + [self.sizes[-1] * b ** (deep - 1)])
        found = (h**2 * ends[:, None]).sum(axis=0) / b ** np.arange(deep, dtype=np.float64) * _MORE
        return np.asarray(found, dtype=np.float64)

    def mean_squares(self) -> Floats | None:
        """Its mean over all intervals, or somewhat more; None where that would take long."""
        found = _interval_parts(self.bins, self.branching)
        if self.bins > _MOST_LISTED:
            return None
        deep = np.arange(len(self.shares), dtype=np.float64)
        return np.asarray((self.level_weights**2 * found[:, None]).sum(axis=0) / self.branching**deep, dtype=np.float64)


@lru_cache(maxsize=1 << 10)
def _runs(fit: Fit, start: int, stop: int) -> tuple[Run, ...]:
    return tuple(fit.runs(start, stop))


@lru_cache(maxsize=64)
def _weights(fit: Fit) -> tuple[list[list[int]], int]:
    return fit.integer_weights()


@lru_cache(maxsize=256)
def _interval_parts(bins: int, branching: int) -> Floats:
    """The mean, over all intervals, of the squared length of each level's part: exactly up to 2^16 bins, else about.

    Averaged within runs of B bins, an interval from s to t has the squared length g(t) + h(s), with s' and t' their places
    in their runs k and q, g = t'^2/B + B k, h = (B - s')^2/B - B (q + 1), and 2 s' (B - t')/B more where the runs are one.
    """
    sizes = levels(bins, branching)
    wide = np.array([branching**level for level in range(len(sizes))], dtype=np.float64)
    if bins > _MOST_LISTED:
        return np.append(wide[1:] * (1 - branching**-2.0) / 3, bins / 3)
    found = []
    start = np.arange(bins, dtype=np.float64)
    stop = np.append(start[1:], sizes[-1] * wide[-1])  # nobody is beyond the last bin
    for size in wide.tolist():
        run, place = np.divmod(start, size)
        upper_run, upper_place = np.divmod(stop, size)
        total = ((upper_place**2 / size + size * upper_run) * (start + 1)).sum()
        total += (((size - place) ** 2 / size - size * (run + 1)) * (bins - start)).sum()
        before = place * (place - 1) / 2  # sum of the places before this one, as an end in the same run
        total += (2 * before * (size - place) / size).sum()
        found.append(total / (bins * (bins + 1) / 2))
    return np.asarray(np.array(found) - np.append(found[1:], 0.0), dtype=np.float64)


@lru_cache(maxsize=256)
def _best_shares(bins: int, branching: int) -> tuple[int, ...]:
    """Shares of the levels with about the least mean square: what the derivatives are equal for, in whole numbers."""
    parts = _interval_parts(bins, branching)
    deep = parts.size
    wide = np.array([branching**level for level in range(deep)], dtype=np.float64)
    share = np.full(deep, 1 / deep)
    for _ in range(_ROUNDS):
        known = np.cumsum(wide * share**2)
        gained = wide * np.cumsum((parts / known**2)[::-1])[::-1]
        share = np.cbrt(gained * share**4)
        share /= share.sum()
    return tuple(max(1, round(_PARTS * each)) for each in share.tolist())


@dataclass(frozen=True)
class Tree:
    """Two-sided geometric noise on every run, level by level, single bins first; `shares` says how what may be lost is
    divided among the levels, equally if nothing is said."""

    branching: int
    shares: tuple[int, ...] = ()
    name: ClassVar[str] = "tree"
    blank: ClassVar[Blank] = Blank.HALF_WAY

    def fit(self, setting: Setting) -> Fit:
        """How all runs are fitted together."""
        bins = setting.shape[0]
        return Fit(bins, self.branching, self.shares or (1,) * len(levels(bins, self.branching)))

    def rate(self, setting: Setting) -> Fraction:
        """What one part of the shares is of what may be lost."""
        return setting.half_way / sum(self.fit(setting).shares)

    def rates(self, setting: Setting) -> tuple[Fraction, ...]:
        """Of the noise of each level."""
        return tuple(share * self.rate(setting) for share in self.fit(setting).shares)

    def why_not(self, setting: Setting) -> str:
        if not isinstance(setting.queries, Boxes) or len(setting.shape) != 1:
            return "it is for intervals of one column"
        if len(self.fit(setting).shares) != len(levels(setting.shape[0], self.branching)):
            return "it has other levels than its bins have"
        return too_many_cells(setting) or too_wide(min(self.rates(setting)))

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: a person is in one run of each level, so the losses of these noises add up to this (DMNS 2006).
        One replaced by another leaves a run of each level and enters another, which costs at most twice this."""
        return sum(self.rates(setting), Fraction(0))

    def error_bound(self, setting: Setting) -> Fraction:
        """Guarantee: Chernoff for every interval at once, with squares that no interval exceeds."""
        fit = self.fit(setting)
        return _chernoff(fit, self.rates(setting), fit.most_squares(), self._miss_per_query(setting))

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: for every interval at once: each may miss its share of `doubt`."""
        return self._reach(setting, query, self._miss_per_query(setting))

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: the same for this interval alone."""
        return self._reach(setting, query, setting.doubt)

    def _miss_per_query(self, setting: Setting) -> Fraction:
        return setting.doubt / setting.listed_queries.number

    def _reach(self, setting: Setting, query: Query, miss: Fraction) -> Fraction:
        fit = self.fit(setting)
        return _reach(fit, self.rates(setting), fit.weights(*box_of(query)[0]), miss)

    def interval_mean_square(self, setting: Setting) -> float | None:
        """The mean of the variances of all intervals, or somewhat more; None where that would take long."""
        squares = self.fit(setting).mean_squares()
        if squares is None:
            return None
        return float(squares @ np.array([geometric_variance(rate) for rate in self.rates(setting)]))

    def seconds(self, setting: Setting) -> float:
        return 0.1 + 2e-7 * setting.cells

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts with exact noise, so what :meth:`spends` says is lost and no more."""
        sizes = levels(setting.shape[0], self.branching)
        noises = [
            two_sided_geometric(rate, size, source) for rate, size in zip(self.rates(setting), sizes, strict=True)
        ]
        return Drawn(self.exact(setting, cells) + np.concatenate(noises))

    def exact(self, setting: Setting, cells: Cells) -> NDArray[np.int64]:
        """The numbers that get noise."""
        found = [cells.table().ravel()]
        for _ in levels(setting.shape[0], self.branching)[1:]:
            below = found[-1]
            found.append(np.add.reduceat(below, np.arange(0, below.size, self.branching)))
        return np.concatenate(found)

    def in_parts(self, setting: Setting, cells: Cells) -> NDArray[np.int64]:
        """The same numbers, each times the share of its level: they move by as many parts as are lost."""
        return self.exact(setting, cells) * np.repeat(
            np.array(self.fit(setting).shares, dtype=np.int64), levels(setting.shape[0], self.branching)
        )

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        fit, sums = self.fit(setting), _sums(drawn)
        first = [0]
        for size in fit.sizes:
            first.append(first[-1] + size)
        total = 0
        for level, start, stop, weight in _runs(fit, *box_of(query)[0]):
            total += weight * int(sums[first[level] + stop] - sums[first[level] + start])
        return Fraction(total, fit.unit)


@lru_cache(maxsize=256)
def _grown(fit: Fit, rates: tuple[Fraction, ...]) -> tuple[Floats, Floats]:
    """Some t, and k_l(t) by level and t."""
    most, rate = np.diag(fit.level_weights) * _MORE, np.array([float(each) for each in rates])
    slopes = _SLOPES * float((rate / most).min())
    ratio = np.sinh(np.multiply.outer(most, slopes) / 2) / np.sinh(rate / 2)[:, None]
    return slopes, -np.log1p(-(ratio**2)) / (most**2)[:, None] * _MORE


def _chernoff(fit: Fit, rates: tuple[Fraction, ...], squares: Floats, miss: Fraction) -> Fraction:
    """Guarantee: the bound above for the best of some t, each of which proves it."""
    slopes, grown = _grown(fit, rates)
    best = float(((squares @ grown + math.log(2 / miss)) / slopes).min())
    return rounded(Fraction(best * _MORE), up=True, digits=_DIGITS)


@lru_cache(maxsize=1 << 16)
def _reach(
    fit: Fit, rates: tuple[Fraction, ...], weights: tuple[tuple[int, int, int], ...], miss: Fraction
) -> Fraction:
    """How far an answer with such weights goes, but for a chance of `miss`.

    Guarantee: its Fourier series, or Chernoff, whichever is nearer.
    """
    squares = _squares(fit, weights)
    far = _chernoff(fit, rates, squares, miss)
    found = _series(fit, rates, weights) if miss >= LEAST_MISS else None
    return far if found is None else found.reach(miss, far)


@lru_cache(maxsize=1 << 12)
def _series(fit: Fit, rates: tuple[Fraction, ...], weights: tuple[tuple[int, int, int], ...]) -> Series | None:
    far = _chernoff(fit, rates, _squares(fit, weights), BEYOND)
    a = np.array([weight / fit.unit for _, weight, _ in weights])
    v = np.array([geometric_variance(rates[level]) for level, _, _ in weights])
    many = np.array([float(each) for _, _, each in weights])
    return series(a, v, many, float(far) * _MORE, work=_WORK)


def _squares(fit: Fit, weights: tuple[tuple[int, int, int], ...]) -> Floats:
    """At least the sum of the squared weights of each level."""
    found = [0] * len(fit.shares)
    for level, weight, many in weights:
        found[level] += many * weight**2
    return np.array([each / fit.unit**2 for each in found]) * _MORE


@lru_cache(maxsize=8)
def _sums(drawn: Drawn) -> NDArray[np.int64]:
    """Running sums of what was drawn, from 0."""
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(drawn.numbers, dtype=np.int64)])


def best(setting: Setting) -> Tree:
    """The branching with the least mean square, or the smallest bound where that is not known; the smaller one of equals."""
    binary = Tree(2)
    if not isinstance(setting.queries, Boxes) or len(setting.shape) != 1:
        return binary
    bins = setting.shape[0]
    several = [each for each in BRANCHINGS if each < bins] or [2]
    found = [tree for tree in (Tree(b, _best_shares(bins, b)) for b in several) if not tree.why_not(setting)]
    if bins > _MOST_LISTED:
        return min(found, key=lambda tree: tree.error_bound(setting), default=binary)
    return min(found, key=lambda tree: tree.interval_mean_square(setting) or 0.0, default=binary)
