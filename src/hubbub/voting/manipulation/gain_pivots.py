"""Plurality with any number of candidates: how likely one more ballot takes a victory away, and so what a lie gains.

F(c, x) is the chance that x wins without a ballot and loses it to one more ballot for c. Such a ballot takes from
everybody and gives to c alone, so every F is a sum of positive terms; and a lie that says l in place of the truth t
first takes the ballot for t back, which gives F(t, x) to each x, and then casts it for l, which takes F(l, y) from
each y. With ties broken at random,

    F(c, x) = sum over v:  Pr[n_c = v, n_x = v, s have v, nobody more] / s
                         + Pr[n_c = v - 1, n_x = v, s have v, nobody more] (1/s - 1/(s + 1))

and with a fixed order one of the two, whole. For each v the candidates beside c and x are a product of series cut off
at v (:mod:`hubbub.voting.manipulation.gain_masses`), of which one coefficient is needed. Counts are looked at within a
window each; what lies beyond is proved to be rare, and goes into the upper bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np

from hubbub.errors import WrongUse
from hubbub.voting.manipulation.beliefs import Belief, Ranking
from hubbub.voting.manipulation.gain_masses import UNDERFLOW, UNITS, Floats, Masses, Window, fits, window
from hubbub.voting.manipulation.gain_winners import PLURALITY
from hubbub.voting.manipulation.question import Bounds, Gains, Question, Solver

MOST_WORK: Final = 40_000_000_000
"""Products of two numbers, at most: half a minute or so."""
QUICK_WORK: Final = 8_000_000_000

BELOW, LEVEL, FREE, OR_LEVEL = range(4)
"""How a candidate beside the two may stand: below v; the same, or at v and one of those tied; anyhow; at most at v."""

Kind: TypeAlias = tuple[int, int]  # which probability, and how it may stand
Series: TypeAlias = tuple[int, Floats]  # the power of the first entry, and the entries
Product: TypeAlias = tuple[Series, ...]
"""What some candidates may have together: a series for each number of them that are tied at v."""


def work(belief: Belief, voters: int) -> int:
    """About how many products `pivots` needs, from the widths of the windows alone."""
    alive = [share for share in belief.tops(range(len(belief.candidates))).values() if share]
    wide = [min(voters, 2 + round(22 * math.sqrt(voters * share * (1 - share)))) for share in alive]
    m, width = len(belief.candidates), max(wide)
    half = (m - 1) // 2  # of the m - 2 beside a pair, rounded up: products of so many are made, each once for each v
    return width * m * m + width**3 * math.comb(m, half) * half * (half - 1) // 8


def _chances(belief: Belief) -> tuple[Fraction, ...]:
    """Of each candidate to be on top of a ballot, and of a blank ballot."""
    tops = tuple(belief.tops(range(len(belief.candidates))).values())
    return (*tops, 1 - sum(tops, Fraction(0)))


def pivots(belief: Belief, voters: int, order: Ranking | None = None) -> dict[tuple[int, int], Bounds]:
    """F(c, x) for every two candidates, each between two numbers.

    Guarantee: each pair is a lower and an upper bound of the chance, for the tops of `voters` - 1 others drawn
    independently from `belief`, and plurality with ties broken at random, or by `order`.
    """
    if work(belief, voters) > MOST_WORK:
        raise WrongUse(
            f"plurality with {voters:,} voters and {len(belief.candidates)} candidates is too much to go through; ask "
            "for a sample"
        )
    count = _Count(belief, voters - 1, order)
    m = len(belief.candidates)
    terms: dict[tuple[int, int], list[float]] = {(c, x): [] for c in range(m) for x in range(m) if c != x}
    for v in range(count.least, count.most + 1):
        count.known.clear()
        for c, x in combinations(range(m), 2):
            count.add_pivot(v, c, x, terms)
    return {pair: count.bounds(found) for pair, found in terms.items()}


def gain_of(flows: dict[tuple[int, int], Bounds], truth: int, lie: int | None, worth: Sequence[Fraction]) -> Bounds:
    """What it gains to vote for `lie`, or not at all, in place of `truth`, for a utility.

    Guarantee: a lower and an upper bound, from those of `pivots`; 0 exactly where lie and truth are the same.
    """
    low = high = Fraction(0)
    if lie == truth:
        return low, high
    parts = [(worth[x] - worth[truth], flow) for (c, x), flow in flows.items() if c == truth]
    parts += [(worth[c] - worth[y], flow) for (c, y), flow in flows.items() if c == lie]
    for weight, (least, most) in parts:
        low += weight * (least if weight > 0 else most)
        high += weight * (most if weight > 0 else least)
    return low, high


def _gains(question: Question, truths: Sequence[Ranking]) -> Gains:
    flows = pivots(question.belief, question.voters, question.contest.order)
    return lambda truth, lie, worth: gain_of(flows, truth[0], lie[0] if lie else None, worth.values)


def _is_quick(question: Question) -> bool:
    """Whether it is a matter of seconds, and logarithms add up exactly."""
    belief, voters = question.belief, question.voters
    return work(belief, voters) <= QUICK_WORK and fits(voters - 1, _chances(belief))


PIVOTS: Final = Solver(
    name="pivots",
    way="the chances that one ballot decides",
    limits=PLURALITY,
    fits=lambda question: question.contest.kind == PLURALITY,
    is_quick=_is_quick,
    gains=_gains,
)


class _Count:
    """The factors of one election, and the products that several pairs share."""

    def __init__(self, belief: Belief, others: int, order: Ranking | None) -> None:
        chances = _chances(belief)
        masses = Masses(others, chances)
        self.others, self.order, self.norm = others, order, masses.norm
        self.kinds = sorted(set(chances))
        self.factors = [masses.factor(chance) for chance in self.kinds]
        self.windows: list[Window] = [window(others, chance) for chance in self.kinds]
        self.of = [self.kinds.index(chance) for chance in chances]
        self.blank = self.of[-1] if chances[-1] else None
        self.m = len(belief.candidates)
        mine = [self.windows[kind] for kind in self.of[: self.m]]
        self.beyond = sum((self.windows[kind].beyond for kind in self.of), Fraction(0))
        self.least = max(0, max(w.low for w in mine))  # whoever has the most has at least as many as any of them
        self.most = max(w.high for w in mine) + 1
        self.width = max(w.high - w.low + 2 for w in self.windows)
        self.known: dict[tuple[Kind, ...], Product] = {}

    def add_pivot(self, v: int, c: int, x: int, terms: dict[tuple[int, int], list[float]]) -> None:
        """Add what happens at the most votes v between c and x, either way."""
        if self.order is None:
            self._at_random(v, c, x, terms)
            return
        for taker, loser in ((c, x), (x, c)):
            # Who comes first in the order takes the victory by drawing level, the other by passing.
            short = 1 if self.order.index(taker) < self.order.index(loser) else 0
            chance = self._has(loser, v) * self._has(taker, v - short)
            if chance:
                terms[taker, loser].append(chance * self._rest(v, taker, loser, self.others - 2 * v + short)[0])

    def _at_random(self, v: int, c: int, x: int, terms: dict[tuple[int, int], list[float]]) -> None:
        both = self._has(c, v) * self._has(x, v)
        if both:
            tied = self._rest(v, c, x, self.others - 2 * v)
            found = both * sum(part / (more + 2) for more, part in enumerate(tied))
            terms[c, x].append(found)
            terms[x, c].append(found)
        near = {(c, x): self._has(c, v - 1) * self._has(x, v), (x, c): self._has(x, v - 1) * self._has(c, v)}
        if any(near.values()):
            tied = self._rest(v, c, x, self.others - 2 * v + 1)
            found = sum(part / ((more + 1) * (more + 2)) for more, part in enumerate(tied))
            for pair, chance in near.items():
                if chance:
                    terms[pair].append(chance * found)

    def _has(self, candidate: int, votes: int) -> float:
        kind = self.of[candidate]
        inside = self.windows[kind].low <= votes <= self.windows[kind].high
        return float(self.factors[kind][votes]) if inside else 0.0

    def _rest(self, v: int, taker: int, loser: int, ballots: int) -> list[float]:
        """For each number of others tied at v, the coefficient of `ballots` among all beside the two."""
        if ballots < 0:
            return [0.0]
        kinds: list[Kind] = [] if self.blank is None else [(self.blank, FREE)]
        for c in range(self.m):
            if c not in (taker, loser):
                level = LEVEL
                if self.order is not None:
                    level = BELOW if self.order.index(c) < self.order.index(loser) else OR_LEVEL
                kinds.append((self.of[c], level))
        kinds.sort()
        half = len(kinds) // 2
        one, two = self._product(tuple(kinds[:half]), v), self._product(tuple(kinds[half:]), v)
        found = [0.0] * (len(one) + len(two) - 1)
        for i, (start, first) in enumerate(one):
            for j, (start_two, second) in enumerate(two):
                found[i + j] += _coefficient(first, second, ballots - start - start_two)
        return found

    def _product(self, kinds: tuple[Kind, ...], v: int) -> Product:
        if kinds in self.known:
            return self.known[kinds]
        if not kinds:
            made: Product = ((0, np.ones(1)),)
        elif len(kinds) == 1:
            made = self._single(kinds[0], v)
        else:
            half = len(kinds) // 2
            made = _times(self._product(kinds[:half], v), self._product(kinds[half:], v))
        self.known[kinds] = made
        return made

    def _single(self, kind_and_level: Kind, v: int) -> Product:
        kind, level = kind_and_level
        low, high = self.windows[kind].low, self.windows[kind].high
        end = {BELOW: min(v - 1, high), LEVEL: min(v - 1, high), OR_LEVEL: min(v, high), FREE: high}[level]
        series: list[Series] = [(low, self.factors[kind][low : max(end + 1, low)])]
        if level == LEVEL and low <= v <= high:
            series.append((v, self.factors[kind][v : v + 1]))
        return tuple(series)

    def bounds(self, terms: Sequence[float]) -> Bounds:
        total = Fraction(math.fsum(terms)) * Fraction(self.norm)
        units = (UNITS + self.width) * (self.m + 3) + UNITS
        error = total * Fraction(units, 1 << 52)
        return max(total - error - UNDERFLOW, Fraction(0)), min(total + error + UNDERFLOW + self.beyond, Fraction(1))


def _times(one: Product, two: Product) -> Product:
    parts: list[list[Series]] = [[] for _ in range(len(one) + len(two) - 1)]
    for i, (start, first) in enumerate(one):
        for j, (start_two, second) in enumerate(two):
            if first.size and second.size:
                parts[i + j].append((start + start_two, np.convolve(first, second)))
    return tuple(_add_series(found) for found in parts)


def _add_series(parts: Sequence[Series]) -> Series:
    if not parts:
        return 0, np.zeros(0)
    low = min(start for start, _ in parts)
    total = np.zeros(max(start + entries.size for start, entries in parts) - low)
    for start, entries in parts:
        total[start - low : start - low + entries.size] += entries
    return low, total


def _coefficient(one: Floats, two: Floats, power: int) -> float:
    """The coefficient of x^power in a product of two series."""
    low, high = max(0, power - two.size + 1), min(one.size - 1, power)
    if low > high:
        return 0.0
    back = two[power - high : power - low + 1][::-1]
    return float(one[low : high + 1] @ back)
