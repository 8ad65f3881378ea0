"""Instant runoff where a rank of several candidates ends a ballot only while several of them are still in.

Some offices publish who was marked at an overvoted rank and count it so: when a ballot comes to that rank, it counts
for the one candidate there who is still in; it goes on to its next rank when none is; and it is exhausted for good
when several are. So what a ballot says depends on who went before, and only the count can settle it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from hubbub.errors import Refused
from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result, Round, Transfer
from hubbub.voting.rules.piles import Piles
from hubbub.voting.rules.runoff import MOST_BRANCHES
from hubbub.voting.ties import RANDOM, FixedTies, Ties, best, first

Gone = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunoffByContinuing:
    """Instant runoff on ballots that may rank candidates equal, read as above. Candidates without a ballot go together;
    ties for the fewest are broken as in :class:`hubbub.voting.rules.runoff.InstantRunoff`, whose count this is where no
    ballot ranks candidates equal."""

    ties: Ties = RANDOM

    name = "instant-runoff"
    why = "who goes of those with the fewest top choices"

    def lottery(self, ballots: Ballots) -> Lottery:
        """Guarantee: exact; ties are followed along every branch, each in the order in which candidates went."""
        law = [Fraction(0)] * len(ballots.candidates)
        branches: list[tuple[tuple[Gone, ...], Fraction]] = [((), Fraction(1))]
        for done in range(MOST_BRANCHES + 1):
            if not branches:
                return tuple(law)
            if done == MOST_BRANCHES:
                break
            gone, chance = branches.pop()
            state = _State(ballots)
            for out in gone:
                state.strike(out)
            while True:
                left = state.left
                if len(left) == 1 or not any(state.counts[i] for i in left):
                    chances = best([state.counts[i] for i in left], [ballots.candidates[i] for i in left], self.ties)
                    for i, share in zip(left, chances, strict=True):
                        law[i] += chance * share
                    break
                ways = self._next(ballots, state)
                if len(ways) > 1:
                    branches += [((*gone, way), chance / len(ways)) for way in ways]
                    break
                gone = (*gone, ways[0])
                state.strike(ways[0])
        raise Refused(
            f"ties lead to more than {MOST_BRANCHES} different orders, too many for the exact law of the winner; run "
            "the rule once, or break ties by a fixed order"
        )

    def _next(self, ballots: Ballots, state: _State) -> list[Gone]:
        """Who may go next: all without a ballot together, or one of those with the fewest."""
        left = state.left
        fewest = min(state.counts[i] for i in left)
        last = [i for i in left if state.counts[i] == fewest]
        if not fewest:
            return [tuple(last)]
        if isinstance(self.ties, FixedTies):
            last = [first(self.ties.order[::-1], ballots.candidates, last)]
        return [(i,) for i in last]

    def run(self, ballots: Ballots, source: Source) -> Result:
        names, state, chance = ballots.candidates, _State(ballots), Chance(source)
        rounds: list[Round] = []
        while len(state.left) > 1:
            left = state.left
            counts, exhausted = tuple((i, state.counts[i]) for i in left), state.exhausted_ballots
            if not any(count for _, count in counts):
                law = best([0] * len(left), [names[i] for i in left], self.ties)
                winner = left[chance.pick("nobody has a ballot", [names[i] for i in left], law)]
                out: Gone = tuple(i for i in left if i != winner)
            else:
                ways = self._next(ballots, state)
                out = ways[chance.even(self.why, [names[way[0]] for way in ways])]
            moved = state.strike(out)
            transfers = moved if len(state.left) > 1 else ()
            rounds.append(Round(counts=counts, eliminated=out, exhausted=exhausted, transfers=transfers))
        return chance.result(self, ballots, state.left[0], rounds)


class _State:
    """Piles of strict ballots, and beside them where each ballot with equal candidates stands."""

    def __init__(self, ballots: Ballots) -> None:
        self._piles = Piles(Ballots.from_rows(ballots.candidates, ballots.rankings, ballots.weights, trusted=True))
        self.left = list(range(len(ballots.candidates)))
        self._levels = [
            [frozenset(i for i, level in enumerate(row) if level == k) for k in range(max(row) + 1)]
            for row in ballots.levels.tolist()
        ]
        self._weights: list[int] = ballots.tied_weights.tolist()
        self._rank = [0] * len(self._levels)
        self._at: list[int | None] = [self._next_candidate(i) for i in range(len(self._levels))]

    def _next_candidate(self, ballot: int) -> int | None:
        """With whom a ballot is; None once it is exhausted."""
        levels = self._levels[ballot]
        while self._rank[ballot] < len(levels):
            here = levels[self._rank[ballot]].intersection(self.left)
            if len(here) == 1:
                return next(iter(here))
            self._rank[ballot] = len(levels) if here else self._rank[ballot] + 1
        return None

    @property
    def counts(self) -> list[int]:
        counts = list(self._piles.counts)
        for at, weight in zip(self._at, self._weights, strict=True):
            if at is not None:
                counts[at] += weight
        return counts

    @property
    def exhausted_ballots(self) -> int:
        pairs = zip(self._at, self._weights, strict=True)
        return self._piles.exhausted + sum(weight for at, weight in pairs if at is None)

    def strike(self, out: Sequence[int]) -> tuple[Transfer, ...]:
        """Strike these candidates out; where their ballots went."""
        self.left = [i for i in self.left if i not in out]
        moved = (
            {(move.origin, move.target): move.ballots for move in self._piles.strike(list(out))} if self.left else {}
        )
        for ballot, at in enumerate(self._at):
            if at is not None and at in out:
                self._at[ballot] = target = self._next_candidate(ballot)
                moved[at, target] = moved.get((at, target), 0) + self._weights[ballot]
        order = sorted(moved, key=lambda pair: (out.index(pair[0]), pair[1] is None, pair[1]))
        return tuple(Transfer(origin=a, target=b, ballots=moved[a, b]) for a, b in order)
