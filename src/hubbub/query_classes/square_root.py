"""Intervals from running totals: Gaussian noise on the square-root factor of the running sums.

The bins of the column stand for periods (:mod:`hubbub.query_classes.series`): w = R x + Z with R the square root of
the running sums A in whole numbers, and the number of people in bins a..b is the difference of two running totals
L w, L = A/R. One person moves w by one column of R, whose squared length is at most that of the first one.

**Variance.** With l_k the numbers along the diagonals of L, the count in d bins that end at bin t has the variance s2 times

    sum over k < d of l_k^2 + sum over k <= t - d of (l_(k+d) - l_k)^2,

which grows with t for each d: the last ones have the most. These sums are in floating point, with a millionth more than
their rounding. Intervals are those of Lemma I, which scale with the root of that number.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise, Sensitivity, delta_of, least_variance
from hubbub.noise.gaussian import LARGEST
from hubbub.noise.source import Source
from hubbub.numeric.exact import rational, rounded, to_text
from hubbub.query_classes.classes import Boxes, Query, box_of
from hubbub.query_classes.marginals.residual import LEAST_VARIANCE, reach_of_weights
from hubbub.query_classes.series import Factor, coefficients, column_square
from hubbub.query_classes.setting import Cells, Drawn, Setting
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank

MOST_BINS: Final = 1024
_THETA: Final = Fraction(1, 2)
_BITS: Final = 8
_MORE: Final = 1 + 1e-6
_DIGITS: Final = 7


@dataclass(frozen=True)
class SquareRoot:
    """Gaussian noise N_Z(variance) on R times the counts of the bins.

    Guarantee: (epsilon, delta)-differential privacy with the delta of Lemma C for this variance, for one person more or less
    who is in one bin.
    """

    name: ClassVar[str] = "square-root"
    blank: ClassVar[Blank] = Blank.HALF_WAY
    delta: str
    variance: str

    @cached_property
    def s2(self) -> Fraction:
        """The variance as a number."""
        return rational(self.variance, "a variance")

    def noise(self, setting: Setting) -> GaussianNoise:
        """What one person moves, and its noise."""
        return _sensitivity(setting.shape[0]).gaussian(self.s2)

    def spent_delta(self, setting: Setting) -> Fraction:
        """Guarantee: the delta at the epsilon that may be lost, by Lemma C, rounded up."""
        return delta_of(self.noise(setting), setting.half_way)

    def why_not(self, setting: Setting) -> str:
        if not isinstance(setting.queries, Boxes) or len(setting.shape) != 1:
            return "it is for intervals of one column"
        if setting.shape[0] > MOST_BINS:
            return f"it is for at most {MOST_BINS:,} bins"
        if setting.rows is not None:
            return "it is for people who come or go, and the number of people is declared"
        if setting.moved > 1:
            return "it is for people with one row each"
        if not 0 < rational(self.delta, "delta") < 1:
            return "it needs a delta beside epsilon"
        return "" if LEAST_VARIANCE <= self.s2 <= LARGEST else "its variance is none that is drawn"

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: epsilon, where the delta that follows is at most the one that may be lost; else more than that."""
        return setting.half_way * (1 if self.spent_delta(setting) <= rational(self.delta, "delta") else 2)

    # --- how exact it is -------------------------------------------------------------------------------------------

    def error_bound(self, setting: Setting) -> Fraction:
        """Guarantee: Lemma I for every interval at once, at the largest variance there is."""
        return self._reach(setting, _most_squares(setting.shape[0]), self._miss_per_query(setting))

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        return self._reach(setting, self._squares(setting, query), self._miss_per_query(setting))

    def own_bound(self, setting: Setting, query: Query) -> Fraction:
        """Guarantee: Lemma I for this interval alone."""
        return self._reach(setting, self._squares(setting, query), setting.doubt)

    def _miss_per_query(self, setting: Setting) -> Fraction:
        return setting.doubt / setting.listed_queries.number

    def _squares(self, setting: Setting, query: Query) -> float:
        """At least the sum of the squared weights of the noises of an interval."""
        (start, stop) = box_of(query)[0]
        line = _line(setting.shape[0])
        wide = stop - start
        rest = line[wide : start + wide] - line[:start]
        return float((line[:wide] ** 2).sum() + (rest**2).sum()) * _MORE

    def _reach(self, setting: Setting, squares: float, miss: Fraction) -> Fraction:
        one = _unit_reach(self.s2, setting.shape[0], miss)
        return rounded(Fraction(float(one) * math.sqrt(squares) * _MORE), up=True, digits=_DIGITS)

    def interval_mean_square(self, setting: Setting) -> float:
        """The mean of the variances of all intervals."""
        line, n = _line(setting.shape[0]), setting.shape[0]
        head, total = np.cumsum(line**2), 0.0
        for wide in range(1, n + 1):
            rest = np.cumsum((line[wide:] - line[: n - wide]) ** 2)  # of those that start at 1, 2, ...
            total += (n - wide + 1) * head[wide - 1] + float(rest.sum())
        return float(self.s2) * total * 2 / (n * (n + 1))

    def seconds(self, setting: Setting) -> float:
        return 0.5 + 2e-6 * setting.shape[0] ** 2

    # --- drawing ---------------------------------------------------------------------------------------------------

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: R times the exact counts, in whole numbers, with exact noise."""
        truth, rows = cells.table().ravel(), np.array(coefficients(_THETA, _BITS, setting.shape[0]), dtype=np.int64)
        if int(truth.sum()) >= 1 << 53:
            raise WrongUse("so many people are not counted this way; use another method, like `method=tree`")
        exact = np.convolve(truth, rows)[: truth.size]
        noise = self._factor(setting).noise(0, truth.size, source)[0]
        return Drawn(exact + noise)

    def _factor(self, setting: Setting) -> Factor:
        return Factor(
            periods=setting.shape[0],
            recur=1,
            squared=1,
            moved=1,
            epsilon=setting.half_way,
            theta=_THETA,
            bits=_BITS,
            s2=self.s2,
        )

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        """The difference of two running totals."""
        totals = _totals(self._factor(setting), drawn)
        start, stop = box_of(query)[0]
        return Fraction(totals[stop] - totals[start], 1 << _BITS * setting.shape[0])


@lru_cache(maxsize=64)
def _sensitivity(bins: int) -> Sensitivity:
    """One column of R: the first is the longest.

    Guarantee: its numbers are not negative, and every other column has the first of them.
    """
    rows = coefficients(_THETA, _BITS, bins)
    return Sensitivity(l1=sum(rows), l2_squared=column_square(rows, 1), moved=bins)


@lru_cache(maxsize=16)
def _line(bins: int) -> NDArray[np.float64]:
    """l_0, l_1, ...: each the nearest floating-point number."""
    way = Factor(
        periods=bins,
        recur=1,
        squared=1,
        moved=1,
        epsilon=Fraction(1),
        theta=_THETA,
        bits=_BITS,
        s2=Fraction(1),
    )
    weights = way.total_weights(bins - 1)  # of w_0, ..., in the last total: l_(n-1), ..., l_0
    return np.array([float(Fraction(each, way.denominator(bins - 1))) for each in reversed(weights)])


@lru_cache(maxsize=16)
def _most_squares(bins: int) -> float:
    """The largest sum of squared weights of any interval: of one that ends at the last bin."""
    line = _line(bins)
    head = np.cumsum(line**2)
    tails = [float(((line[wide:] - line[: bins - wide]) ** 2).sum()) for wide in range(1, bins + 1)]
    return float(max(head[wide - 1] + tails[wide - 1] for wide in range(1, bins + 1))) * _MORE


@lru_cache(maxsize=256)
def _unit_reach(s2: Fraction, bins: int, miss: Fraction) -> Fraction:
    """Lemma I for weights whose squares sum up to 1, of at most so many noises."""
    return reach_of_weights(s2, Fraction(1), bins, miss)


@lru_cache(maxsize=8)
def _totals(factor: Factor, drawn: Drawn) -> list[int]:
    """The running totals before each bin and after the last, times 2^(8 n)."""
    found = factor.totals([np.array([[w]], dtype=object) for w in drawn.numbers.tolist()])[:, 0].tolist()
    bins = factor.periods
    return [0, *(int(total) << _BITS * (bins - t - 1) for t, total in enumerate(found))]


def best(setting: Setting) -> SquareRoot:
    """The least noise for what may be lost; none where it cannot be run."""
    nothing = SquareRoot(to_text(setting.delta), "0")
    if not isinstance(setting.queries, Boxes) or len(setting.shape) != 1 or not 0 < setting.delta < 1:
        return nothing
    if setting.shape[0] > MOST_BINS:
        return nothing
    s2 = max(least_variance(setting.half_way, setting.delta, _sensitivity(setting.shape[0])), Fraction(LEAST_VARIANCE))
    return SquareRoot(to_text(setting.delta), to_text(s2))
