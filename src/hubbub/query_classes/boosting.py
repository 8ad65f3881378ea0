"""Boosting for queries (Dwork, Rothblum, Vadhan 2010), with constants: weak synopses, and the median of what they say.

In each of T rounds draw k queries by weights, measure those that were not measured before with whole noise, and take
the first of all databases of m invented rows that is nearest to the measurements of this round. Then queries that it
answers badly get more weight. The answer to a query is the median of those of the T databases.

**Weights.** d_s(q) is how far the database of round s is from the exact answer c_q, in people, rounded down;
e_s(q) = min(max(d_s(q) - within, 0), ramp). A query is drawn in round t with P(q) ~ exp(tilt sum of e_s(q) over s < t):
DRV10's weights exp(-a sum of a_s) with a_s = 1 - 2 e_s/ramp and a = tilt ramp/2, in whole numbers.

**Privacy (pure).** The weights depend on the data, and so every draw costs. Whoever comes, goes or is replaced moves
each c_q by at most 1, hence each d_s and e_s by at most 1 once the databases are known, a sum of t - 1 of them by
t - 1, and the probability of a query by a factor e^(2 tilt (t - 1)), half for its weight and half for the sum of all.
The k draws of each round lose k T (T - 1) tilt in all. A query is measured once: at most S = min(k T, |Q|, 2 depth)
measured answers move, by 1 each, and noise of rate r loses S r. Databases are worked out from measurements. So the
whole transcript loses k T (T - 1) tilt + S r, whatever the earlier rounds were (basic composition; no delta).

**Accuracy.** Three steps, with the doubt b split in halves.

1. Noise: none of the at most M = min(k T, |Q|) noises is beyond v, but with probability b/2. Some database of m rows is
   within a of the table for every query, in shares (:func:`hubbub.query_classes.small_databases.radius`), so the chosen
   one is within v + a n of the measurements and 2 v + a n of the truth on all k queries drawn: there d <= within, if
   within >= floor(2 v + a n).
2. Generalisation: let D be the law of the draws of a round. A database with D(d > within) >= w passes k independent
   draws with probability at most (1 - w)^k. There are N databases and T rounds: with w = 1 - (b/(2 T N))^(1/k), in
   every round D(e > 0) < w, but with probability b/2.
3. Boosting: let x = e^(tilt ramp). The sum over all queries of exp(tilt sum of (e_s - ramp/2)) starts at |Q|, and each
   round multiplies it by the mean under D of exp(tilt (e - ramp/2)), below ((1 - w) + w x)/sqrt(x). If the median of a
   query were off by within + ramp or more, so would (T + 1)/2 of the T (odd) databases be; these have e = ramp, and its
   term alone would be at least sqrt(x). So if |Q| (1 - w + w x)^T < x^((T + 1)/2), every answer is off by less than
   within + ramp. QED

For a small class nearly every query is measured anyway, and the price of the weights is on top: what is proved is far
above the noise on each answer. It is here because Proposition 25 rests on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, exp, floor, log, log1p
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, precision, rounded
from hubbub.numeric.exact import exp as ball_exp
from hubbub.query_classes.classes import Query, cells_of, sum_cells
from hubbub.query_classes.setting import NOT_PUBLIC, Cells, Drawn, Setting, too_wide, why_unlisted
from hubbub.query_classes.small_databases import candidates, databases_of, farthest_off, of_cells, radius, too_many
from hubbub.query_classes.tails import farthest, several
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank

TILTING: Final = Fraction(3, 4)
"""The part of the loss that is for the weights; the rest is for the measurements."""
ROUNDS: Final = (3, 5, 7, 9, 11)
MOST_DRAWS: Final = 100_000
_HEAVY: Final = tuple(0.9 * 0.8**i for i in range(32))  # w, tried
_SIZES: Final = 16
_LARGEST: Final = 2**15
_TILTING: Final = float(TILTING)


@dataclass(frozen=True)
class Boosting:
    """So many rounds of so many draws, databases of `size` rows, and weights that grow between two errors."""

    rounds: int
    draws: int
    size: int
    within: int
    ramp: int
    name: ClassVar[str] = "boosting"
    blank: ClassVar[Blank] = Blank.ANY

    def sensitivity(self, setting: Setting) -> int:
        """S: how many of the measured answers one person moves at most."""
        queries = setting.listed_queries
        return min(self.draws * self.rounds, queries.number, 2 * queries.depth)

    def rate(self, setting: Setting) -> Fraction:
        """The noise of a measurement."""
        return (1 - TILTING) * setting.any_row / self.sensitivity(setting)

    def tilt(self, setting: Setting) -> Fraction:
        """By how much the logarithm of a weight grows with each person of error."""
        return TILTING * setting.any_row / (self.draws * self.rounds * (self.rounds - 1))

    def why_not(self, setting: Setting) -> str:
        if setting.rows is None:
            return NOT_PUBLIC
        listing = why_unlisted(setting)
        if listing:
            return listing
        if too_many(setting.cells, self.size, setting.listed_queries.number):
            return f"it lists every database of {self.size:,} rows, and there are too many of them"
        if self.error_bound(setting) >= setting.public_rows:
            return f"what is proved about it says nothing about {setting.public_rows:,} people"
        return too_wide(min(self.rate(setting), self.tilt(setting)))

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: k T (T - 1) tilt for the draws by weights that depend on the data, and S times the rate of the
        noise for the measurements: the proof stands above."""
        draws = self.draws * self.rounds * (self.rounds - 1) * self.tilt(setting)
        return draws + self.sensitivity(setting) * self.rate(setting)

    def error_bound(self, setting: Setting) -> Fraction:
        """Guarantee: but with probability `doubt` every answer is off by less than within + ramp (the theorem above),
        if its two conditions hold, worked out in balls; else everybody, which says nothing."""
        most = Fraction(setting.public_rows)
        if self.within < self.needed(setting) or not self.boosts(setting):
            return most
        return min(most, Fraction(self.within + self.ramp))

    def needed(self, setting: Setting) -> int:
        """floor(2 v + a n): how far off a database may be that fits the measurements of a round."""
        noises = min(self.draws * self.rounds, setting.listed_queries.number)
        return floor(
            2 * _reach(self.rate(setting), noises, setting.doubt) + setting.public_rows * radius(setting, self.size)
        )

    def boosts(self, setting: Setting) -> bool:
        """Whether |Q| (1 - w + w x)^T < x^((T + 1)/2), for certain."""
        number = setting.listed_queries.number
        with precision():
            passing = ball(setting.doubt / (2 * self.rounds * candidates(setting.cells, self.size))).log() / self.draws
            w = -passing.expm1()
            grown = self.tilt(setting) * self.ramp
            factor = 1 + w * (ball_exp(grown) - 1)
            lost = ball(number).log() + self.rounds * factor.log()
            return bool(lost < ball(grown * Fraction(self.rounds + 1, 2)))

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        return self.error_bound(setting)

    def seconds(self, setting: Setting) -> float:
        databases = candidates(setting.cells, self.size)
        return 0.1 + self.rounds * (2e-6 * databases * (1 + setting.listed_queries.number / 500) + 1e-4 * self.draws)

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: the data is met by exact draws by whole weights and by exact noise alone, so what :meth:`spends`
        says is lost and no more."""
        queries = setting.listed_queries
        truth = cells.answers(queries)
        measured: dict[int, int] = {}
        found: list[tuple[int, Query, int]] = []
        chosen: list[NDArray[np.int32]] = []
        weights = np.zeros(queries.number, dtype=np.int64)
        for time in range(1, self.rounds + 1):
            indices = np.unique(several(-weights, self.tilt(setting), self.draws, source)).tolist()
            fresh = [index for index in indices if index not in measured]
            noise: list[int] = two_sided_geometric(self.rate(setting), len(fresh), source).tolist()
            measured |= {index: int(truth[index]) + more for index, more in zip(fresh, noise, strict=True)}
            found += [(time, queries.at(index), measured[index]) for index in indices]
            chosen.append(nearest(setting, self.size, {index: measured[index] for index in indices}))
            weights += self.errors(setting, truth, chosen[-1])
        rounds, times = tuple((query, answer) for _, query, answer in found), tuple(time for time, _, _ in found)
        return Drawn(np.concatenate(chosen).astype(np.int64), rounds, times)

    def errors(self, setting: Setting, truth: NDArray[np.int64], database: NDArray[np.int32]) -> NDArray[np.int64]:
        """e(q) of a database.

        Guarantee: one person moves each c_q by at most 1, and so each of these.
        """
        inside = database[: cells_of(setting.shape)].astype(np.int64).reshape(setting.shape)
        off = np.abs(self.size * truth - setting.public_rows * setting.listed_queries.answers(inside)) // self.size
        clipped: NDArray[np.int64] = np.clip(off - self.within, 0, self.ramp)
        return clipped

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        answers = sorted(int(sum_cells(query, each)) for each in databases_in(setting, drawn.numbers, self.rounds))
        return Fraction(setting.public_rows * answers[self.rounds // 2], self.size)


def databases_in(setting: Setting, numbers: NDArray[np.int64], rounds: int) -> Iterator[NDArray[np.int64]]:
    """The published databases, without those in no cell."""
    for each in numbers.reshape(rounds, -1):
        yield each[: cells_of(setting.shape)].reshape(setting.shape)


def nearest(setting: Setting, size: int, measured: dict[int, int]) -> NDArray[np.int32]:
    """The first database whose worst answer to the measured queries, by their places, is nearest to what was measured.

    It sees published numbers alone.
    """
    listed = databases_of(setting.cells, size)
    every = of_cells(setting.listed_queries)[:, list(measured)]
    answers = np.array(list(measured.values()), dtype=np.int64)
    found: NDArray[np.int32] = listed[int(farthest_off(listed, every, answers, setting.public_rows, size).argmin())]
    return found


def replay_databases(setting: Setting, method: Boosting, drawn: Drawn) -> NDArray[np.int64]:
    """The published databases, worked out again from the published measurements."""
    queries, found = setting.listed_queries, []
    for time in range(1, method.rounds + 1):
        mine = [each for each, at in zip(drawn.rounds, drawn.times, strict=True) if at == time]
        measured = {queries.index_of(query): answer for query, answer in mine if isinstance(query, tuple)}
        found.append(nearest(setting, method.size, measured))
    return np.concatenate(found).astype(np.int64)


@lru_cache(maxsize=4096)
def _reach(rate: Fraction, noises: int, doubt: Fraction) -> int:
    with precision():
        several = rounded(ball(noises).log(), up=True) if noises > 1 else Fraction(0)
    return farthest(1, rate, several, doubt / 2)


# --- parameters -----------------------------------------------------------------------------------------------------


def best(setting: Setting) -> Boosting:
    """The parameters with about the smallest bound, of those that are tried; what is proved is worked out from them."""
    found = Boosting(3, 1, 1, 0, 1)
    if setting.rows is None or why_unlisted(setting) or too_many(setting.cells, 1, setting.listed_queries.number):
        return found
    number, least = setting.listed_queries.number, float("inf")
    log_noises = log(2 * number / float(setting.doubt))
    for size in _sizes(setting):
        near, log_databases = setting.public_rows * float(radius(setting, size)), log(candidates(setting.cells, size))
        for rounds in ROUNDS:
            passing = log(2 * rounds / float(setting.doubt)) + log_databases
            for heavy, grown in _grown(rounds, number):
                draws = ceil(passing / -log1p(-heavy))
                tried = Boosting(rounds, draws, size, 0, 1)
                ramp = ceil(grown * draws * rounds * (rounds - 1) / (_TILTING * float(setting.any_row)) + 1e-9)
                off = (
                    near
                    + 2 * log_noises * tried.sensitivity(setting) / ((1 - _TILTING) * float(setting.any_row))
                    + ramp
                )
                reached = ramp * _TILTING * float(setting.any_row) / (draws * rounds * (rounds - 1))
                if off < least and draws <= MOST_DRAWS and _short(reached, heavy, rounds, number) < 0:
                    least, found = off, Boosting(rounds, draws, size, 0, ramp)
    if least >= 2 * setting.public_rows:
        return found
    return Boosting(found.rounds, found.draws, found.size, found.needed(setting), found.ramp)


def _sizes(setting: Setting) -> Iterable[int]:
    """Some of the sizes whose databases can be listed, the largest among them."""
    number, most = setting.listed_queries.number, 1
    while not too_many(setting.cells, 2 * most, number) and most < _LARGEST:
        most *= 2
    step = most // 2
    while step:
        most += step * (not too_many(setting.cells, most + step, number))
        step //= 2
    return sorted({max(1, round(most ** (i / (_SIZES - 1)))) for i in range(_SIZES)})


def _short(grown: float, heavy: float, rounds: int, number: int) -> float:
    """ln of |Q| (1 - w + w x)^T over x^((T + 1)/2), x = e^grown."""
    return log(number) + rounds * log1p(heavy * (exp(grown) - 1)) - grown * (rounds + 1) / 2


@lru_cache(maxsize=256)
def _grown(rounds: int, number: int) -> Sequence[tuple[float, float]]:
    """For shares w of the weight the smallest ln x with |Q| (1 - w + w x)^T < x^((T + 1)/2), about."""
    found = []
    for heavy in _HEAVY:
        share = (rounds + 1) / (2 * rounds)
        low, high = 0.0, log(share * (1 - heavy) / (heavy * (1 - share)))  # the least is there
        if high <= 0 or _short(high, heavy, rounds, number) >= 0:
            continue
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if _short(middle, heavy, rounds, number) >= 0 else (low, middle)
        found.append((heavy, high))
    return tuple(found)
