"""What all rules for several seats share: papers, quotas, ties that look back, and the record of stages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.rules.stv_result import Moved, Stage

Paper = tuple[int, int, int]
"""Equal papers: the row of their ranking, the place on it that they are at, how many they are."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a count for several seats came to."""

    valid: int
    quota: Fraction
    elected: tuple[int, ...]
    stages: tuple[Stage, ...]


class SeatCount:
    """The state of a count: who is in, whose votes are how many. It lives as long as one run."""

    looks_back = True  # whether stages break ties before a lot does

    def __init__(self, ballots: Ballots, seats: int, chance: Chance) -> None:
        self.names, self.seats, self.chance = ballots.candidates, seats, chance
        self.rows = [[i for i in row if i >= 0] for row in ballots.rankings.tolist()]
        self.first: list[list[Paper]] = [[] for _ in self.names]
        for number, (row, weight) in enumerate(zip(self.rows, ballots.weights.tolist(), strict=True)):
            if row and weight:
                self.first[row[0]].append((number, 0, weight))
        self.votes = [Fraction(sum(weight for _, _, weight in papers)) for papers in self.first]
        self.valid = int(sum(self.votes))
        self.quota = Fraction(self.valid // (seats + 1) + 1)
        self.continuing = set(range(len(self.names)))
        self.elected: list[int] = []
        self.pending: list[int] = []  # elected, with a surplus that has not moved
        self.exhausted = self.lost = Fraction(0)
        self.stages: list[Stage] = []

    @property
    def vacancies(self) -> int:
        return self.seats - len(self.elected)

    def run(self) -> None:
        """Fill the seats, stage by stage."""
        raise NotImplementedError

    def outcome(self) -> Outcome:
        self.run()
        return Outcome(self.valid, self.quota, tuple(self.elected), tuple(self.stages))

    def next_rank(self, paper: Paper) -> int | None:
        """Where on its row a paper names somebody who is in, after the place that it is at."""
        row = self.rows[paper[0]]
        return next((at for at in range(paper[1] + 1, len(row)) if row[at] in self.continuing), None)

    def sorted_papers(self, papers: Sequence[Paper]) -> dict[int | None, list[Paper]]:
        """Papers by whom they name next, None for nobody, candidates in their order."""
        piles: dict[int | None, list[Paper]] = {}
        for paper in papers:
            at = self.next_rank(paper)
            target = None if at is None else self.rows[paper[0]][at]
            piles.setdefault(target, []).append((paper[0], paper[1] if at is None else at, paper[2]))
        return dict(sorted(piles.items(), key=lambda pile: (pile[0] is None, pile[0])))

    def close(self, what: str, of: Sequence[int], moved: Sequence[Moved], *, fill: bool = True) -> None:
        """End a stage: who has the quota is elected; with `fill`, all who are left if only the vacancies are."""
        now = self.most_first(i for i in self.continuing if self.votes[i] >= self.quota)
        self.pending += [i for i in now if self.votes[i] > self.quota]
        self.continuing -= set(now)
        if fill and len(self.continuing) <= self.vacancies - len(now):
            now += self.most_first(self.continuing)
            self.continuing = set()
        self.elected += now
        self.record(what, of, moved, now)

    def record(self, what: str, of: Sequence[int], moved: Sequence[Moved], now: Sequence[int]) -> None:
        self.stages.append(
            Stage(
                what=what,
                of=tuple(of),
                totals=tuple(enumerate(self.votes)),
                exhausted=self.exhausted,
                lost=self.lost,
                moved=tuple(moved),
                elected=tuple(now),
            )
        )

    def most_first(self, candidates: Iterable[int]) -> list[int]:
        return sorted(candidates, key=lambda i: (-self.votes[i], i))

    def surplus(self, candidate: int) -> Fraction:
        return self.votes[candidate] - self.quota

    def largest_surplus(self, *, latest: bool) -> int:
        """Whose surplus moves next: the largest, equal ones by an earlier stage, else by lot."""
        most = max(self.votes[i] for i in self.pending)
        highest = [i for i in self.pending if self.votes[i] == most]
        return self.break_tie(highest, "whose surplus moves first of those that are equal", max, latest=latest)

    def fewest(self, *, latest: bool) -> int:
        """Who goes: the fewest votes, equal ones by an earlier stage, else by lot."""
        least = min(self.votes[i] for i in self.continuing)
        last = [i for i in sorted(self.continuing) if self.votes[i] == least]
        return self.break_tie(last, "who goes of those with the fewest votes", min, latest=latest)

    def break_tie(
        self, tied: list[int], why: str, wanted: Callable[[list[Fraction]], Fraction], *, latest: bool
    ) -> int:
        """One of those who are equal: by the latest, or the earliest, stage at which they were not, else by lot."""
        for stage in self.stages[::-1] if latest else self.stages:
            if len(tied) == 1 or not self.looks_back:
                break
            then = dict(stage.totals)
            best = wanted([then[i] for i in tied])
            tied = [i for i in tied if then[i] == best]
        return tied[self.chance.even(why, [self.names[i] for i in tied])]

    def defers_surpluses(self) -> bool:
        """Whether all surpluses together are less than what the last candidate is behind the next."""
        if len(self.continuing) < 2:
            return False
        last, following = sorted(self.votes[i] for i in self.continuing)[:2]
        return sum((self.surplus(i) for i in self.pending), Fraction(0)) < following - last
