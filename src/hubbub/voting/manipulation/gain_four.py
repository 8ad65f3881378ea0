"""Instant-runoff with four candidates: the law of the winner for every report, for some hundred voters.

First d leaves, then g, and e and f are left. The pile of d, k ballots, splits into x_g, x_e and x_f by second choice.
So the others are six numbers: n_g, n_e, n_f tops and three parts of the pile, with multinomial probabilities
(:mod:`hubbub.voting.manipulation.gain_masses`).

    first count    d leaves:     k against n_g, n_e, n_f, the voter's top added
    second count   g leaves:     G = n_g + x_g against E = n_e + x_e and F = n_f + x_f, her next choice added
    last count     e against f:  E and what the n_g and the x_g ballots add, two binomials

For n_g and k given, the sum over x_e of the factors of n_e = E - x_e and n_f is a convolution, for all x_g at once a
product of two matrices; summed over k it meets the second and the last count, which do not look at k. All terms are
positive: each chance is right to some units in the last place for each ballot, and a difference of two chances as
many of their sum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from hubbub.errors import WrongUse
from hubbub.voting.manipulation.beliefs import Belief, Ranking
from hubbub.voting.manipulation.gain_masses import UNDERFLOW, UNITS, Floats, Masses, fits, halving_sum, window
from hubbub.voting.manipulation.gain_winners import INSTANT_RUNOFF, Integers
from hubbub.voting.manipulation.question import Bounds, Gains, Question, Solver

MOST_VOTERS: Final = 401
"""Some minutes; the time grows with the fourth power."""
QUICK_VOTERS: Final = 101

REPORTS: Final = tuple(permutations(range(4)))
_EDGE: Final = 2  # a count this far above the least is safe from one ballot


def laws_of_four(belief: Belief, voters: int, order: Ranking | None = None) -> dict[Ranking, tuple[Fraction, ...]]:
    """For every report the chance of each candidate to win, in doubles (as rationals): see `gain_of`.

    Guarantee: relative to itself each is wrong by at most `error_units` 2^-52, and too small by 48 `_BEYOND` at most,
    for complete ballots of four candidates, the others drawn independently from `belief`.
    """
    if voters > MOST_VOTERS:
        raise WrongUse(
            f"instant-runoff with four candidates is gone through up to {MOST_VOTERS} voters, not {voters:,}; ask for "
            "a sample"
        )
    sums: dict[Ranking, list[list[float]]] = {report: [[] for _ in range(4)] for report in REPORTS}
    for d, g in permutations(range(4), 2):
        _Path(belief, voters - 1, d, g, order).walk(sums)
    return {report: tuple(Fraction(math.fsum(part)) for part in parts) for report, parts in sums.items()}


def error_units(voters: int) -> int:
    """Six factors, the sums over x_e, over k and over all that is left, two binomials and their sums."""
    return 9 * UNITS + 6 * voters + 256


def gain_of(
    laws: dict[Ranking, tuple[Fraction, ...]], voters: int, truth: Ranking, lie: Ranking, worth: Sequence[Fraction]
) -> Bounds:
    """What the lie gains for a utility.

    Guarantee: a lower and an upper bound, by the error that `laws_of_four` states.
    """
    honest, moved = laws[truth], laws[lie]
    gained = sum((u * (b - a) for u, a, b in zip(worth, honest, moved, strict=True)), Fraction(0))
    error = sum((u * (a + b) for u, a, b in zip(worth, honest, moved, strict=True)), Fraction(0))
    error = error * Fraction(error_units(voters), 1 << 52) + 48 * _BEYOND + UNDERFLOW
    return gained - error, gained + error


def _gains(question: Question, truths: Sequence[Ranking]) -> Gains:
    laws = laws_of_four(question.belief, question.voters, question.contest.order)
    return lambda truth, lie, worth: gain_of(laws, question.voters, truth, lie, worth.values)


def _is_quick(question: Question) -> bool:
    """Whether it is a matter of seconds, and logarithms add up exactly."""
    shares = [share for _, share in question.belief.shares]
    return question.voters <= QUICK_VOTERS and fits(question.voters - 1, shares)


RUNOFF_OF_FOUR: Final = Solver(
    name="four",
    way="counting every state of four candidates",
    limits="instant-runoff with complete ballots of four candidates",
    fits=lambda question: question.ranks_all(4) and question.contest.kind == INSTANT_RUNOFF,
    is_quick=_is_quick,
    gains=_gains,
)

_BEYOND: Final = Fraction(1, 1 << 80)  # outside the windows of k and n_g, on either side, on each of twelve ways


class _Path:
    """d leaves first and g second."""

    def __init__(self, belief: Belief, others: int, d: int, g: int, order: Ranking | None) -> None:
        self.d, self.g, self.order, self.others = d, g, order, others
        self.e, self.f = (c for c in range(4) if c not in (d, g))
        tops = belief.tops(range(4))
        after = {c: sum((s for r, s in belief.shares if r[:2] == (d, c)), Fraction(0)) for c in (g, self.e, self.f)}
        masses = Masses(others, (*(tops[c] for c in (g, self.e, self.f)), *after.values()))
        self.top = {c: masses.factor(tops[c]) for c in (g, self.e, self.f)}
        self.part = {c: masses.factor(after[c]) for c in (g, self.e, self.f)}
        self.norm = masses.norm
        self.known: dict[tuple[int, tuple[int, ...]], float] = {}
        near, far = window(others, tops[d], _BEYOND), window(others, tops[g], _BEYOND)
        self.most = min(near.high, others // 4 + 1)
        self.piles = range(near.low, self.most + 1)
        self.seconds = range(far.low, far.high + 1)
        first, second = self.e, self.f

        def leans(chosen: Fraction, above: Fraction) -> Fraction:
            return above / chosen if chosen else Fraction(0)

        from_top = leans(tops[g], _share(belief, lambda r: r[0] == g and r.index(first) < r.index(second)))
        from_pile = leans(after[g], _share(belief, lambda r: r[:2] == (d, g) and r.index(first) < r.index(second)))
        self.of_top = masses.binomials(others, from_top)
        self.of_pile = masses.binomials(max(self.most, 0), from_pile)
        self.parts = {k: self._parts(k) for k in self.piles}

    def walk(self, sums: dict[Ranking, list[list[float]]]) -> None:
        behaviours: dict[tuple[int, int, int], list[Ranking]] = {}
        for report in REPORTS:
            second = next(c for c in report if c != self.d)
            last = next(c for c in report if c not in (self.d, self.g))
            behaviours.setdefault((report[0], second, last), []).append(report)
        for n_g in self.seconds:
            weights = self._first_two(n_g)
            if weights is None:
                continue
            ends = self._second_and_last(n_g)
            for (first, second, last), reports in behaviours.items():
                for winner, chance in zip((self.e, self.f), ends[second, last], strict=True):
                    found = halving_sum((weights[first] * chance).ravel())
                    for report in reports:
                        sums[report][winner].append(found)

    def _first_two(self, n_g: int) -> dict[int, Floats] | None:
        """By the voter's top: how likely each (E, x_g) is with n_g tops of g, and d leaves; tables E, x_g."""
        n, most = self.others, self.most
        common = np.zeros((n + 1, most + 1))
        apart = {c: np.zeros((n + 1, most + 1)) for c in range(4)}
        touched = False
        for k in self.piles:
            both = n - k - n_g  # n_e + n_f
            least = max(0, k - 1)  # with one ballot more d may have k + 1, or another may need it
            if k > n_g + 1 or both < 2 * least:
                continue
            touched = True
            n_e = np.arange(least, both - least + 1)
            mass = self.top[self.e][n_e] * self.top[self.f][both - n_e]
            parts = self.parts[k]
            safe = (n_e >= k + _EDGE) & (both - n_e >= k + _EDGE)
            if n_g >= k + _EDGE:
                if safe.any():
                    inner = n_e[safe]
                    common[inner[0] : inner[-1] + k + 1, : k + 1] += _convolve_parts(mass[safe], parts)
                for at in np.flatnonzero(~safe):
                    here = parts.T * mass[at]
                    tops = (k, n_g, int(n_e[at]), both - int(n_e[at]))
                    for c in range(4):
                        share = self._leaves(c, tops)
                        if share:
                            apart[c][n_e[at] : n_e[at] + k + 1, : k + 1] += share * here
            else:
                for c in range(4):
                    shares = np.array([self._leaves(c, (k, n_g, int(a), both - int(a))) for a in n_e])
                    apart[c][n_e[0] : n_e[-1] + k + 1, : k + 1] += _convolve_parts(mass * shares, parts)
        if not touched:
            return None
        factor = self.norm * self.top[self.g][n_g] * self.part[self.g][: most + 1]
        return {c: (common + table) * factor for c, table in apart.items()}

    def _parts(self, k: int) -> Floats:
        """x_g, x_e -> the factors of x_e and of x_f = k - x_g - x_e."""
        x_g, x_e = np.arange(k + 1)[:, None], np.arange(k + 1)
        x_f = k - x_g - x_e
        return np.where(x_f >= 0, self.part[self.e][x_e] * self.part[self.f][np.maximum(x_f, 0)], 0.0)

    def _leaves(self, mine: int, tops: tuple[int, int, int, int]) -> float:
        """How likely d leaves first, with one more ballot for `mine`; tops of d, g, e, f."""
        ahead = tuple(min(count - tops[0], _EDGE) for count in tops)  # further ahead makes no difference
        if (mine, ahead) not in self.known:
            who = (self.d, self.g, self.e, self.f)
            counts = [count + (c == mine) for c, count in zip(who, ahead, strict=True)]
            tied = [c for c, count in zip(who, counts, strict=True) if count == min(counts)]
            share = 1 / len(tied) if self.d in tied else 0.0
            if self.order is not None and share:
                share = float(all(self.order.index(c) <= self.order.index(self.d) for c in tied))
            self.known[mine, ahead] = share
        return self.known[mine, ahead]

    def _second_and_last(self, n_g: int) -> dict[tuple[int, int], tuple[Floats, Floats]]:
        """By the voter's second and last top: how likely g leaves and e wins, and f wins; tables E, x_g."""
        n, most = self.others, self.most
        size_e, x_g = np.arange(n + 1)[:, None], np.arange(most + 1)
        size_g = n_g + x_g
        size_f = n - size_g - size_e
        split = np.zeros((most + 1, n_g + most + 1))  # x_g -> how many of the n_g + x_g ballots prefer e
        row = self.of_top[n_g, : n_g + 1]
        for added in range(most + 1):
            split[:, added : added + n_g + 1] += self.of_pile[:, added : added + 1] * row
        wins = {last: self._last(last, split, size_e, x_g) for last in (self.e, self.f)}
        found: dict[tuple[int, int], tuple[Floats, Floats]] = {}
        for second in (self.g, self.e, self.f):
            counts = [size_g + 0 * size_e, size_e + 0 * x_g, size_f]
            who = (self.g, self.e, self.f)
            counts[who.index(second)] = counts[who.index(second)] + 1
            goes = np.where(size_f >= 0, self._goes(counts), 0.0)
            for last in (self.e, self.f):
                if second in (last, self.g):
                    found[second, last] = goes * wins[last][0], goes * wins[last][1]
        return found

    def _goes(self, counts: Sequence[Integers]) -> Floats:
        """How likely the first of g, e, f, which is g, has the fewest and leaves."""
        least = np.minimum(np.minimum(counts[0], counts[1]), counts[2])
        out = counts[0] == least
        if self.order is None:
            ties = np.stack([count == least for count in counts]).sum(axis=0)
            return np.where(out, 1.0 / ties, 0.0).astype(np.float64)
        for c, count in ((self.e, counts[1]), (self.f, counts[2])):
            if self.order.index(c) > self.order.index(self.g):
                out = out & (count != least)
        return np.where(out, 1.0, 0.0)

    def _last(self, last: int, split: Floats, size_e: Integers, x_g: Integers) -> tuple[Floats, Floats]:
        """The chances of e and of f between the two, with the voter's ballot for `last`."""
        wide = split.shape[1]
        above = np.concatenate([np.cumsum(split[:, ::-1], axis=1)[:, ::-1], np.zeros((len(split), 1))], axis=1)
        below = np.concatenate([np.zeros((len(split), 1)), np.cumsum(split, axis=1)], axis=1)
        need = self.others - 2 * size_e - (1 if last == self.e else -1) + 0 * x_g  # e wins when 2 S > need
        most = np.clip(need // 2, -1, wide - 1)  # the largest S with 2 S <= need
        wins, loses = above[x_g, most + 1], below[x_g, most + 1]
        tie = np.where((need % 2 == 0) & (need >= 0) & (need // 2 < wide), split[x_g, np.clip(most, 0, wide - 1)], 0.0)
        mine = 0.5
        if self.order is not None:
            mine = float(self.order.index(self.e) < self.order.index(self.f))
        under = np.where(tie > 0, below[x_g, np.clip(most, 0, wide)], loses)  # S below the tie
        return wins + mine * tie, under + (1 - mine) * tie


def _convolve_parts(mass: Floats, parts: Floats) -> Floats:
    """For each E and x_g the sum over x_e of mass[E - x_e] parts[x_g, x_e]."""
    k = len(parts) - 1
    padded = np.concatenate([np.zeros(k), mass, np.zeros(k)])
    found: Floats = sliding_window_view(padded, k + 1)[:, ::-1] @ parts.T
    return found


def _share(belief: Belief, wanted: Callable[[Ranking], bool]) -> Fraction:
    return sum((share for ranking, share in belief.shares if wanted(ranking)), Fraction(0))
