"""Multiplicative weights (MWEM, Hardt, Ligett, McSherry 2012), with the step and the bound of theory A5.

Start with all cells alike. In each of T rounds choose the query that the weights answer worst (the exponential
mechanism), measure it with noise, and tilt the weights of its cells; publish the average of the weights that queries
were chosen against, each taken before it was tilted.

The weights are floats, and no promise rests on them: they are worked out from the chosen queries and the noisy
measurements of earlier rounds alone, both of which are published. What touches the data is whole: exact answers c_q, a
public whole number g_q near what the weights say, the loss -|c_q - g_q| of the choice, and c_q with whole noise.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import takewhile
from math import comb, exp
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, precision, rounded
from hubbub.query_classes.classes import Box, ColumnCells, Halfspaces, Query, cells_of, sum_cells
from hubbub.query_classes.setting import NOT_PUBLIC, Cells, Drawn, Setting, too_many_cells, too_wide, why_unlisted
from hubbub.query_classes.tails import exponential, farthest, selection_error
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.sanitize import Blank

ROUNDS: Final = (*range(1, 33), *range(36, 100, 4), *range(100, 401, 20))
_DIGITS: Final = 12
_FLOATS: Final = Fraction(1, 10**9)
"""What doubles may add to a share; sums of 10^7 weights are right to some 10^-13."""


@dataclass(frozen=True)
class Weights:
    """MWEM of so many rounds; each spends half of its part on the choice and half on the measurement."""

    rounds: int
    name: ClassVar[str] = "mwem"
    blank: ClassVar[Blank] = Blank.ANY

    def rate(self, setting: Setting) -> Fraction:
        """The noise of a measurement; the choice has half of it."""
        return setting.any_row / (2 * self.rounds)

    def why_not(self, setting: Setting) -> str:
        if setting.rows is None:
            return NOT_PUBLIC
        return too_many_cells(setting) or why_unlisted(setting) or too_wide(self.rate(setting) / 2)

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: one person, added, removed or replaced, changes every answer by at most one, so a choice loses 2
        times its rate and a measurement its rate; T rounds, each chosen after seeing the earlier ones, add up."""
        return self.rounds * (2 * (self.rate(setting) / 2) + self.rate(setting))

    def error_bound(self, setting: Setting) -> Fraction:
        """Guarantee: sqrt(ln|X|/(2T) + nu^2) + s of theory A5, times the number of people, with the exact tails of
        whole noise: nu for the measurements at half the doubt, s for the choices at the other half, and one person
        for rounding what the weights say."""
        return _error_bound(
            self.rounds, setting.any_row, setting.public_rows, setting.cells, setting.queries.log_number, setting.doubt
        )

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        return self.error_bound(setting)

    def seconds(self, setting: Setting) -> float:
        queries = setting.queries
        number = 0 if isinstance(queries, Halfspaces) else queries.number
        sums = comb(len(setting.shape) + 1, queries.ways + 1) if isinstance(queries, ColumnCells) else 0
        return 0.1 + self.rounds * (1e-8 * setting.cells + 1.2e-5 * sums + 1e-7 * number)

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: the data is met by exact choices and exact noise alone, so what :meth:`spends` says is lost."""
        truth = cells.answers(setting.listed_queries)
        found = _Average(setting)
        measured: list[tuple[Query, int]] = []
        for _ in range(self.rounds):
            answers = np.rint(setting.public_rows * setting.listed_queries.answers(found.weights)).astype(np.int64)
            chosen = exponential(-np.abs(truth - answers), self.rate(setting) / 2, source)
            query = setting.listed_queries.at(chosen)
            noisy = int(truth[chosen]) + int(two_sided_geometric(self.rate(setting), 1, source)[0])
            measured.append((query, noisy))
            found.tilt(query, noisy)
        return Drawn(found.average(), tuple(measured))

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        inside = drawn.numbers[: cells_of(setting.shape)].reshape(setting.shape)
        return setting.public_rows * Fraction(float(sum_cells(query, inside)))


class _Average:
    """The weights, and the sum of those that queries were chosen against. It sees published numbers alone."""

    def __init__(self, setting: Setting) -> None:
        self._people, self._outside = setting.rows or 1, setting.outside
        self.weights = np.full(setting.shape, 1 / setting.cells)
        self._beyond = 1 / setting.cells if setting.outside else 0.0
        self._sum, self._sum_beyond, self._times = np.zeros(setting.shape), 0.0, 0

    def tilt(self, query: Box, noisy: int) -> None:
        """One more round: the weights are added to the average, and then tilted."""
        self._sum += self.weights
        self._sum_beyond += self._beyond
        self._times += 1
        part = tuple(slice(*span) for span in query)
        share = min(max(noisy / self._people, 0.0), 1.0)
        self.weights[part] *= exp(4 * (share - float(self.weights[part].sum())))
        total = float(self.weights.sum()) + self._beyond
        self.weights /= total
        self._beyond /= total

    def average(self) -> NDArray[np.float64]:
        """Of all cells, those in none last where there may be such people."""
        found = self._sum.ravel()
        return (np.append(found, self._sum_beyond) if self._outside else found) / self._times


def replay_weights(setting: Setting, rounds: tuple[tuple[Query, int], ...]) -> NDArray[np.float64]:
    """The published weights, worked out again from the published rounds."""
    found = _Average(setting)
    for query, noisy in rounds:
        assert isinstance(query, tuple)
        found.tilt(query, noisy)
    return found.average()


@lru_cache(maxsize=4096)
def _error_bound(rounds: int, loss: Fraction, rows: int, cells: int, log_number: Fraction, doubt: Fraction) -> Fraction:
    rate = loss / (2 * rounds)
    with precision():
        several = rounded(ball(rounds).log(), up=True) if rounds > 1 else Fraction(0)
        noise = Fraction(farthest(1, rate, several, doubt / 2), rows)
        choice = Fraction(selection_error(rate / 2, log_number, doubt / (2 * rounds)) + 1, rows)
        root = (ball(cells).log() / (2 * rounds) + ball(noise * noise)).sqrt()
        return rounded(rows * (root + ball(choice + _FLOATS)), up=True, digits=_DIGITS)


def best(setting: Setting) -> Weights:
    """The number of rounds with the smallest bound, the fewer of equals."""
    one = Weights(1)
    if one.why_not(setting):
        return one
    found = takewhile(lambda each: not each.why_not(setting), map(Weights, ROUNDS))
    return min(found, key=lambda each: each.error_bound(setting))
