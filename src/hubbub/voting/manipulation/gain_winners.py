"""Who wins, for many profiles at once, in whole numbers: the rules a voter may try to deceive.

A profile is a row of counts, one for each ranking that the others may cast. All profiles go through the rounds side by
side, grouped by who is left; where chance decides, a profile goes on with a share of its weight for each outcome.
Weights are whole multiples of one over `denominator`, so no share is ever rounded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.manipulation.beliefs import MOST_SCORE, Ranking, Scores
from hubbub.voting.protocol import Rule
from hubbub.voting.rules.elimination import ApproximateRunoff, RepeatedPlurality
from hubbub.voting.rules.margins import APPROXIMATE_RUNOFF, REPEATED_PLURALITY
from hubbub.voting.rules.pair_rules import PairRule
from hubbub.voting.rules.points import Approval, Borda, Plurality, Score
from hubbub.voting.rules.runoff import InstantRunoff
from hubbub.voting.rules.threshold import threshold
from hubbub.voting.ties import FixedTies

PLURALITY: Final = "plurality"
INSTANT_RUNOFF: Final = "instant-runoff"
BORDA: Final = "borda"
MINIMAX: Final = "minimax"
APPROVAL: Final = "approval"
SCORE: Final = "score"
CONTESTS: Final = (PLURALITY, INSTANT_RUNOFF, REPEATED_PLURALITY, APPROXIMATE_RUNOFF, BORDA, MINIMAX, APPROVAL, SCORE)

Integers: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """A rule as far as a voter's gain is concerned.

    plurality: most tops wins. instant-runoff: the candidate with the fewest tops leaves until one is left, one drawn
    at random where several have the fewest. repeated-plurality: all who are not within `margin` of the most tops
    leave, until nobody does; then plurality. approximate-runoff: all who are within `margin` of the fewest tops
    leave, until that would be everybody; then plurality. borda: most points wins, m - 1 for the first place of m down
    to 0 for the last and for no place. minimax: whose worst pair is least bad wins, by the margin of votes. approval: a
    ballot approves of all whom it names, and the most approvals win. score: a ballot gives each candidate from 0 to `top`
    points, and the most points win. Ties are broken uniformly at random, or in favour of
    whoever comes first in `order`; then no rule promises anything.
    """

    kind: str
    margin: int | None = None
    order: Ranking | None = None
    top: int | None = None

    def __post_init__(self) -> None:
        if (self.top is not None) != (self.kind == SCORE) or (self.top is not None and not 1 <= self.top <= MOST_SCORE):
            raise WrongUse(f"score needs `top`, its highest score, from 1 to {MOST_SCORE}, and no other rule takes it")
        if self.kind not in CONTESTS:
            raise WrongUse(f"a gain is computed for {', '.join(CONTESTS)}, not for {self.kind!r}")
        if (self.margin is not None) != (self.kind in (REPEATED_PLURALITY, APPROXIMATE_RUNOFF)):
            given = "none was given" if self.margin is None else f"{self.kind} has none"
            raise WrongUse(f"repeated-plurality and approximate-runoff need a margin, and no other rule; {given}")
        if self.margin is not None and self.margin < 0:
            raise WrongUse(f"a margin must be at least 0, not {self.margin}")

    @property
    def eliminates(self) -> bool:
        """Whether it is one of the rules with a margin, which Theorem B1 is about."""
        return self.margin is not None

    @property
    def elimination_margin(self) -> int:
        """The margin of a rule that has one."""
        if self.margin is None:
            raise TypeError(f"{self.kind} has no margin")
        return self.margin


def contest_of(rule: Rule, voters: int, candidates: Sequence[str]) -> Contest:
    """What a rule of :mod:`hubbub.voting.rules.rules` is in an election of this size."""
    known = Plurality | Borda | InstantRunoff | RepeatedPlurality | ApproximateRunoff | Approval | PairRule | Score
    if not isinstance(rule, known) or rule.name not in CONTESTS:
        raise WrongUse(f"a gain is computed for {', '.join(CONTESTS)}, not for {rule.name}")
    margin = None
    if isinstance(rule, RepeatedPlurality | ApproximateRunoff):
        margin = threshold(rule.margin, rule.kind, voters, len(candidates))
    order = None
    if isinstance(rule.ties, FixedTies):
        order = tuple(candidates.index(name) for name in rule.ties.order)
    return Contest(kind=rule.name, margin=margin, order=order, top=rule.top if isinstance(rule, Score) else None)


def denominator(contest: Contest, candidates: int) -> int:
    """Every chance of winning is a whole multiple of one over this."""
    sizes = range(2, candidates + 1) if contest.kind == INSTANT_RUNOFF else (candidates,)
    return math.prod(math.lcm(*range(1, size + 1)) for size in sizes)


class Tally:
    """Many profiles, one row of counts each in the order of `rankings`, and the top counts among any of the candidates.

    Top counts are kept once made, since every report of a voter asks for much the same ones.
    """

    def __init__(self, rankings: Sequence[Ranking], candidates: int, profiles: Integers) -> None:
        self.rankings = tuple(rankings)
        self.candidates = candidates
        self.size = len(profiles)
        self._exact = profiles.astype(np.float64)  # whole numbers below 2^53: products and sums are exact, and quicker
        self._kept: dict[tuple[int, ...], Integers] = {}

    def tops(self, members: tuple[int, ...]) -> Integers:
        """One row per profile: how many ballots have each of `members` as their best of them."""
        if members not in self._kept:
            if (len(self._kept) + 1) * self.size * self.candidates > _MOST_KEPT:
                self._kept.clear()
            table = np.zeros((len(self.rankings), len(members)))
            for row, ranking in enumerate(self.rankings):
                best = top(ranking, members)
                if best is not None:
                    table[row, members.index(best)] = 1
            self._kept[members] = (self._exact @ table).astype(np.int64)
        return self._kept[members]

    def points(self, kind: str = BORDA) -> Integers:
        """One row per profile: the points of each candidate by Borda's count, or the approvals."""
        table = np.array([points(ranking, self.candidates, kind) for ranking in self.rankings], dtype=np.float64)
        return (self._exact @ table).astype(np.int64)

    def margins(self) -> Integers:
        """Profiles, candidates, candidates: how many more ballots prefer one to the other than the other way."""
        table = np.array([_preferences(ranking, self.candidates) for ranking in self.rankings], dtype=np.float64)
        margins = self._exact @ table.reshape(len(self.rankings), -1)
        return margins.reshape(-1, self.candidates, self.candidates).astype(np.int64)


def top(ranking: Ranking, members: Sequence[int]) -> int | None:
    """The best of `members`; a ballot that names none of them counts for nobody."""
    return next((c for c in ranking if c in members), None)


def points(ranking: Ranking, candidates: int, kind: str = BORDA) -> list[int]:
    """What a ballot gives each candidate by Borda's count, m - 1 for the first place and 0 for no place; or by approval,
    1 for whoever is named; or the scores themselves."""
    if isinstance(ranking, Scores):
        return list(ranking)
    found = [0] * candidates
    for position, candidate in enumerate(ranking):
        found[candidate] = 1 if kind == APPROVAL else candidates - 1 - position
    return found


def _preferences(ranking: Ranking, candidates: int) -> list[list[int]]:
    """1 where a ballot prefers one to the other, -1 the other way; whom it names to whom it does not."""
    at = [ranking.index(c) if c in ranking else candidates for c in range(candidates)]
    return [[(at[one] < at[other]) - (at[one] > at[other]) for other in range(candidates)] for one in range(candidates)]


def _worst_pairs(margins: Integers) -> Integers:
    """For each profile and candidate the margin of the worst pair."""
    m = margins.shape[1]
    others = np.where(np.eye(m, dtype=np.bool_), np.iinfo(np.int64).max, margins)
    found: Integers = others.min(axis=2)
    return found


def lotteries(contest: Contest, tally: Tally, report: Ranking = ()) -> Integers:
    """For each profile, with one more ballot that is `report`, every candidate's chance, times `denominator`.

    Guarantee: each row adds up to the denominator and is the exact law of the winner, over the draws of the rule.
    """
    size = tally.candidates
    full = denominator(contest, size)
    if full > 1 << 50:
        raise WrongUse(f"instant-runoff with {size} candidates has too many ways to tie; ask for another rule")
    found = np.zeros((tally.size, size), dtype=np.int64)
    if contest.kind in (BORDA, APPROVAL, MINIMAX, SCORE):
        everyone = np.arange(tally.size)
        if contest.kind == MINIMAX:
            scores = _worst_pairs(tally.margins() + np.array(_preferences(report, size)))
        else:
            scores = tally.points(contest.kind) + np.array(points(report, size, contest.kind))
        _finish(contest, range(size), scores, everyone, np.full(tally.size, full, dtype=np.int64), found)
        return found
    waiting: dict[tuple[int, ...], list[tuple[Integers, Integers]]] = {
        tuple(range(size)): [(np.arange(tally.size), np.full(tally.size, full, dtype=np.int64))]
    }
    while waiting:
        members = max(waiting, key=len)  # larger sets first, so that a set is met once
        pieces = waiting.pop(members)
        rows = np.concatenate([piece[0] for piece in pieces])
        weight = np.concatenate([piece[1] for piece in pieces])
        counts = tally.tops(members)[rows]
        if (mine := top(report, members)) is not None:
            counts[:, members.index(mine)] += 1
        for following, chosen, share in _round(contest, members, counts):
            if following is None:
                _finish(contest, members, counts[chosen], rows[chosen], weight[chosen], found)
            else:
                waiting.setdefault(following, []).append((rows[chosen], weight[chosen] // share))
    return found


_Step: TypeAlias = tuple[tuple[int, ...] | None, NDArray[np.bool_], Integers]
_ONE: Final = np.ones(1, dtype=np.int64)
_MOST_KEPT: Final = 1 << 25  # top counts in a tally


def _round(contest: Contest, members: Sequence[int], counts: Integers) -> list[_Step]:
    """(who goes on or None for the end, which rows, what their weight is divided by)."""
    everyone = np.ones(len(counts), dtype=np.bool_)
    if contest.kind == PLURALITY or len(members) == 1:
        return [(None, everyone, _ONE)]
    if contest.kind == INSTANT_RUNOFF:
        last = counts == counts.min(axis=1, keepdims=True)
        if contest.order is not None:
            last = _foremost(last, [-contest.order.index(m) for m in members])
        ties = last.sum(axis=1)
        return [
            (tuple(m for m in members if m != out), last[:, at], ties[last[:, at]])
            for at, out in enumerate(members)
            if last[:, at].any()
        ]
    if contest.kind == REPEATED_PLURALITY:
        stays = counts + contest.elimination_margin >= counts.max(axis=1, keepdims=True)
    else:
        stays = counts > counts.min(axis=1, keepdims=True) + contest.elimination_margin
        stays[~stays.any(axis=1)] = True  # nobody would be left: all of them go to the end
    code = stays @ (1 << np.arange(len(members), dtype=np.int64))
    steps: list[_Step] = []
    for value in np.unique(code):
        kept = tuple(m for at, m in enumerate(members) if int(value) >> at & 1)
        steps.append((None if len(kept) == len(members) else kept, code == value, _ONE))
    return steps


def _finish(
    contest: Contest, members: Sequence[int], counts: Integers, rows: Integers, weight: Integers, found: Integers
) -> None:
    """Plurality among `members`."""
    best = counts == counts.max(axis=1, keepdims=True)
    if contest.order is not None:
        best = _foremost(best, [contest.order.index(m) for m in members])
    share = weight // best.sum(axis=1)
    for at, member in enumerate(members):
        np.add.at(found[:, member], rows, share * best[:, at])


def _foremost(tied: NDArray[np.bool_], order: Sequence[int]) -> NDArray[np.bool_]:
    """Of those tied in each row only the one with the least place."""
    first = np.where(tied, np.array(order), max(order) + 1).argmin(axis=1)
    found: NDArray[np.bool_] = np.arange(tied.shape[1]) == first[:, None]
    return found
