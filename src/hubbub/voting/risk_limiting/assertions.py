"""Assertions that together prove who won an instant runoff (RAIRE: Blom, Stuckey and Teague, arXiv 1903.08804).

An elimination order that ends with somebody else as the winner must be ruled out by an assertion. Two kinds are enough:

* *not eliminated before* (NEB): x is never eliminated before y, because x has more first choices than there are ballots
  on which y stands and x does not stand higher.
* *not eliminated next* (NEN): while exactly these candidates are left, x has more votes than y, so x is not the one who
  goes.

Orders are looked at from their end, the last candidate first; a suffix that an assertion contradicts rules out every
order that ends so.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots

_MOST_SUFFIXES: Final = 50_000


@dataclass(frozen=True, slots=True, order=True)
class Assertion:
    """x (`stays`) over y (`other`), by a margin of ballots; `left` are those who are left (NEN), None for NEB."""

    margin: int
    stays: int
    other: int
    left: tuple[int, ...] | None = None

    def contradicts(self, suffix: Sequence[int]) -> bool:
        """Whether no order can end like this if the assertion is true."""
        if self.left is None:
            if self.other not in suffix:
                return False
            return self.stays not in suffix or suffix.index(self.stays) < suffix.index(self.other)
        end = suffix[-len(self.left) :]
        return len(suffix) >= len(self.left) and end[0] == self.stays and set(end) == set(self.left)

    def vote(self, ranking: Sequence[int]) -> int:
        """What a ballot tells: 1 for the assertion, -1 against it, 0 nothing."""
        if self.left is not None:
            first = next((i for i in ranking if i in self.left), None)
            return (first == self.stays) - (first == self.other)
        if ranking and ranking[0] == self.stays:
            return 1
        return -(next((i for i in ranking if i in (self.stays, self.other)), None) == self.other)

    def sentence(self, names: Sequence[str]) -> str:
        """In words."""
        if self.left is None:
            return (
                f"{names[self.stays]} has more first choices than there are ballots that rank {names[self.other]} and do "
                f"not rank {names[self.stays]} higher"
            )
        left = ", ".join(names[i] for i in sorted(self.left))
        return f"{names[self.stays]} has more votes than {names[self.other]} while exactly these are left: {left}"


class Margins:
    """The margins of assertions about strict ballots."""

    def __init__(self, ballots: Ballots) -> None:
        ballots.strictly("a risk-limiting audit")
        self.candidates = len(ballots.candidates)
        self._rankings = ballots.rankings.astype(np.int64)
        self._weights = ballots.weights
        self._tallies: dict[frozenset[int], NDArray[np.int64]] = {}

    @cached_property
    def _positions(self) -> NDArray[np.int64]:
        """Where each candidate stands on each ballot; after the last for those who do not."""
        rows, width = self._rankings.shape
        out = np.full((rows, self.candidates + 1), width, dtype=np.int64)
        for column in range(width - 1, -1, -1):
            out[np.arange(rows), self._rankings[:, column]] = column  # -1 is the last column, which is not read
        return out[:, : self.candidates]

    def tally(self, left: Iterable[int]) -> NDArray[np.int64]:
        """The votes of each candidate while exactly these are left."""
        key = frozenset(left)
        if key not in self._tallies:
            listed = sorted(key)
            positions = self._positions[:, listed]
            best = positions.argmin(axis=1)
            counts = positions[np.arange(len(positions)), best] < self._rankings.shape[1]
            votes = np.zeros(self.candidates, dtype=np.int64)
            np.add.at(votes, np.asarray(listed)[best[counts]], self._weights[counts])
            self._tallies[key] = votes
        return self._tallies[key]

    def not_before(self, stays: int, other: int) -> int:
        """The margin of NEB; it is false where that is 0 or less."""
        return int(self._not_before[stays, other])

    @cached_property
    def _not_before(self) -> NDArray[np.int64]:
        out = np.zeros((self.candidates, self.candidates), dtype=np.int64)
        for stays in range(self.candidates):
            here = self._positions[:, stays]
            first = int(self._weights[here == 0].sum())
            for other in range(self.candidates):
                out[stays, other] = first - int(self._weights[self._positions[:, other] < here].sum())
        return out

    def votes(self, assertion: Assertion) -> tuple[int, int]:
        """How many ballots tell for an assertion, and how many against it."""
        if assertion.left is not None:
            votes = self.tally(assertion.left)
            return int(votes[assertion.stays]), int(votes[assertion.other])
        first = int(self._weights[self._positions[:, assertion.stays] == 0].sum())
        return first, first - self.not_before(assertion.stays, assertion.other)

    def not_next(self, stays: int, other: int, left: Iterable[int]) -> int:
        votes = self.tally(left)
        return int(votes[stays] - votes[other])


def plurality_assertions(ballots: Ballots, winner: int) -> tuple[Assertion, ...]:
    """Assertions that together prove that `winner` has the most first choices: one over each other candidate.

    Guarantee: all of them are true of the ballots if and only if nobody else has as many. Refused where that is not so.
    """
    margins, everybody = Margins(ballots), tuple(range(len(ballots.candidates)))
    found = [
        Assertion(margins.not_next(winner, other, everybody), winner, other, everybody)
        for other in everybody
        if other != winner
    ]
    if any(each.margin < 1 for each in found):
        raise WrongUse(
            "somebody has as many first choices as the winner, so no sample can confirm it; count all papers"
        )
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class _Suffix:
    order: tuple[int, ...]  # who goes first of these first
    best: Assertion | None  # of this suffix and all shorter ones
    of: tuple[int, ...]  # the suffix that `best` contradicts


def assertions_for(ballots: Ballots, winner: int) -> tuple[Assertion, ...]:
    """Assertions that together prove that `winner` won; the smallest margin is as large as it can be with these kinds.

    Guarantee: every elimination order with another winner is contradicted by one of them (:func:`ruled_out` has looked at
    all). Refused where no such set is true of these ballots, as for a tie.
    """
    margins = Margins(ballots)
    everybody = range(margins.candidates)
    heap: list[tuple[int, int, _Suffix]] = []
    found: set[Assertion] = set()
    least: int | None = None  # the smallest margin that cannot be done without
    pruned: set[tuple[int, ...]] = set()
    number = 0

    def push(suffix: _Suffix) -> None:
        nonlocal number
        number += 1
        if number > _MOST_SUFFIXES:
            raise WrongUse(
                f"more than {_MOST_SUFFIXES:,} ways to end were looked at, too many for this audit; strike out candidates "
                "whom hardly anybody ranks, or count all papers by hand"
            )
        heapq.heappush(heap, (suffix.best.margin if suffix.best else 0, -number, suffix))  # of equals, the newest

    for other in everybody:
        if other != winner:
            best = _best(margins, (other,), None)
            push(_Suffix((other,), best, (other,)))
    while heap:
        margin, _, suffix = heapq.heappop(heap)
        if any(suffix.order[-i:] in pruned for i in range(1, len(suffix.order) + 1)):
            continue
        if least is not None and margin >= least and suffix.best is not None:
            found.add(suffix.best)
            continue
        for other in everybody:
            if other in suffix.order:
                continue
            order = (other, *suffix.order)
            own = _best(margins, order, suffix.best)
            best, of = (suffix.best, suffix.of) if own == suffix.best else (own, order)
            if len(order) < margins.candidates:
                push(_Suffix(order, best, of))
                continue
            if best is None:
                raise WrongUse(
                    "no assertion with a margin rules out another winner, so no sample can confirm the result; count all "
                    "papers by hand"
                )
            found.add(best)
            pruned.add(of)
            least = best.margin if least is None else min(least, best.margin)
    kept = _without_spare(found, margins.candidates, winner)
    if not ruled_out(kept, margins.candidates, winner):
        raise WrongUse("the assertions do not rule out every other winner; count all papers by hand, please report it")
    return tuple(sorted(kept))


def _best(margins: Margins, order: Sequence[int], before: Assertion | None) -> Assertion | None:
    """The assertion of the largest margin that contradicts a suffix, or the one of a shorter suffix if that is no less."""
    first, rest = order[0], order[1:]
    best = before
    for each in _of_suffix(margins, order, first, rest):
        if each.margin > 0 and (best is None or each.margin > best.margin):
            best = each
    return best


def _of_suffix(margins: Margins, order: Sequence[int], first: int, rest: Sequence[int]) -> Iterator[Assertion]:
    for other in range(margins.candidates):
        if other not in order:
            yield Assertion(margins.not_before(other, first), other, first)
    for other in rest:
        yield Assertion(margins.not_before(first, other), first, other)
        yield Assertion(margins.not_next(first, other, order), first, other, tuple(sorted(order)))


def _without_spare(found: Iterable[Assertion], candidates: int, winner: int) -> list[Assertion]:
    """Without those of small margins that the others make unnecessary."""
    kept = sorted(found)
    for each in list(kept):
        rest = [other for other in kept if other != each]
        if ruled_out(rest, candidates, winner):
            kept = rest
    return kept


def ruled_out(assertions: Sequence[Assertion], candidates: int, winner: int) -> bool:
    """Whether these assertions contradict every elimination order that another than `winner` wins.

    Guarantee: exact; all suffixes are walked through, and one is left only where an assertion contradicts it.
    """
    open_suffixes: list[tuple[int, ...]] = [(other,) for other in range(candidates) if other != winner]
    looked = 0
    while open_suffixes:
        suffix = open_suffixes.pop()
        looked += 1
        if looked > 10 * _MOST_SUFFIXES:
            return False
        if any(each.contradicts(suffix) for each in assertions):
            continue
        if len(suffix) == candidates:
            return False
        open_suffixes += [(other, *suffix) for other in range(candidates) if other not in suffix]
    return True
