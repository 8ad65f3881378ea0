"""Rules that move whole papers: some of them go on, and which ones is left to chance.

=========  ============================================================================================================
ireland    Electoral Act 1992, sections 121 to 123: of the papers last received each next preference gets its share of
           the surplus, the largest fractions rounded up; the papers of each that go on are drawn; a surplus waits where
           all surpluses are less than what the last candidate is behind the next; several of the last go together who
           have, with all surpluses, fewer votes than the next
malta      as ireland
cambridge  Massachusetts, the Cincinnati method: all papers of the candidate in an order that is drawn, and every n-th of
           them goes on, those that name nobody who is in being passed over, until the quota is left; who has fewer than
           50 first choices goes at once, after the first surpluses
=========  ============================================================================================================

Draws come from public dice or the operating system: a paper is drawn in the place of mixing them in a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.rules.stv_result import Moved
from hubbub.voting.rules.transfers.parcels import integer_quota
from hubbub.voting.rules.transfers.shared import Outcome, Paper, SeatCount

_LEAST_FIRST: Final = 50  # first choices, in Cambridge


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomTransfer:
    """How papers move. `every_nth`: by a stride through all papers; else by shares of those last received."""

    name: str
    description: str
    every_nth: bool = False
    largest_fractions: bool = True  # shares are rounded so that the whole surplus goes on, else all are cut
    batch: bool = True  # several go together who cannot overtake the next
    least_first: int = 0  # who has fewer first choices goes at once

    def count(self, ballots: Ballots, seats: int, chance: Chance) -> Outcome:
        return _Count(self, ballots, seats, chance).outcome()

    def quota_sentence(self, seats: int, valid: int, quota: Fraction) -> str:
        return integer_quota(seats, valid, quota)


IRELAND: Final = RandomTransfer(name="ireland", description="the rules of Ireland (whole papers, last parcel)")
MALTA: Final = RandomTransfer(name="malta", description="the rules of Malta (whole papers, last parcel)")
CAMBRIDGE: Final = RandomTransfer(
    name="cambridge",
    description="the rules of Cambridge, Massachusetts (every n-th paper)",
    every_nth=True,
    batch=False,
    least_first=_LEAST_FIRST,
)


class _Count(SeatCount):
    """A count of whole papers, each in one pile.

    Guarantee: after each stage votes and exhausted ones add up to the valid ballots; nothing is lost to rounding.
    """

    def __init__(self, rules: RandomTransfer, ballots: Ballots, seats: int, chance: Chance) -> None:
        super().__init__(ballots, seats, chance)
        self.rules = rules
        self.piles = [list(papers) for papers in self.first]
        self.last = [list(papers) for papers in self.first]  # what each received at last

    def run(self) -> None:
        self.close("first preferences", (), ())
        self._exclude_few()
        while self.vacancies:
            if self.pending and (self.rules.every_nth or not self.defers_surpluses()):
                self._move_surplus(self.largest_surplus(latest=self.rules.every_nth))
            else:
                self._exclude(self._batch() or [self.fewest(latest=self.rules.every_nth)])

    def _exclude_few(self) -> None:
        few = [i for i in sorted(self.continuing) if self.votes[i] < self.rules.least_first]
        while self.pending and self.rules.least_first and self.vacancies:
            self._move_surplus(self.largest_surplus(latest=True))
        few = [i for i in few if i in self.continuing]
        if few and self.vacancies and len(self.continuing) - len(few) >= self.vacancies:
            self._exclude(few)

    def _batch(self) -> list[int]:
        """The most candidates from the bottom who together, with all surpluses, have fewer votes than the next."""
        ordered = sorted(self.continuing, key=lambda i: (self.votes[i], i)) if self.rules.batch else []
        total, batch = sum((self.surplus(i) for i in self.pending), Fraction(0)), list[int]()
        for at, i in enumerate(ordered[:-1], 1):
            total += self.votes[i]
            if total < self.votes[ordered[at]] and len(ordered) - at >= self.vacancies:
                batch = ordered[:at]
        return batch

    def _move_surplus(self, origin: int) -> None:
        surplus = int(self.surplus(origin))
        self.pending.remove(origin)
        gone = self._every_nth(origin, surplus) if self.rules.every_nth else self._shares(origin, surplus)
        moved = []
        for target, papers in gone.items():
            many = _size(papers)
            self._give(target, papers)
            self.votes[origin] -= many
            moved.append(Moved(origin=origin, target=target, papers=many, votes=Fraction(many)))
        self.close("surplus", (origin,), moved)

    def _shares(self, origin: int, surplus: int) -> dict[int, list[Paper]]:
        """Of the papers last received, each next preference's share of the surplus."""
        sorted_out = self.sorted_papers(self.last[origin])
        piles = {target: papers for target, papers in sorted_out.items() if target is not None}
        able = sum(map(_size, piles.values()))
        if able <= surplus:
            return piles
        exact = {target: Fraction(_size(papers) * surplus, able) for target, papers in piles.items()}
        share = {target: int(part) for target, part in exact.items()}
        if self.rules.largest_fractions:
            order = sorted(exact, key=lambda i: (share[i] - exact[i], -_size(piles[i]), i))
            for target in order[: surplus - sum(share.values())]:
                share[target] += 1
        return {
            i: self._draw_papers(papers, share[i], f"which papers go on to {self.names[i]}")
            for i, papers in piles.items()
            if share[i]
        }

    def _draw_papers(self, papers: Sequence[Paper], many: int, why: str) -> list[Paper]:
        """So many of these papers, every choice of them equally likely: each goes on with the chance that is left."""
        found, left = list[Paper](), _size(papers)
        for row, at, weight in papers:
            out = 0
            for _ in range(weight):
                share = Fraction(many, left)
                goes = self.chance.pick(why, ("goes on", "stays"), (share, 1 - share)) == 0
                out += goes
                many -= goes
                left -= 1
            if out:
                found.append((row, at, out))
        return found

    def _every_nth(self, origin: int, surplus: int) -> dict[int, list[Paper]]:
        """Papers in an order that is drawn, every n-th taken and those passed over that name nobody: by symmetry any so
        many of those that can go on, all choices alike."""
        able = [paper for paper in self.piles[origin] if self.next_rank(paper) is not None]
        gone = self._draw_papers(able, min(surplus, _size(able)), f"which papers of {self.names[origin]} go on")
        return {target: papers for target, papers in self.sorted_papers(gone).items() if target is not None}

    def _exclude(self, out: Sequence[int]) -> None:
        self.continuing -= set(out)
        moved = []
        for origin in out:
            for target, papers in self.sorted_papers(self.piles[origin]).items():
                many = _size(papers)
                if target is None:
                    self.exhausted += many
                else:
                    self._give(target, papers)
                moved.append(Moved(origin=origin, target=target, papers=many, votes=Fraction(many)))
            self.piles[origin], self.votes[origin] = [], Fraction(0)
        received: dict[int, list[Paper]] = {}
        for target in {move.target for move in moved if move.target is not None}:
            many = sum(move.papers for move in moved if move.target == target)
            received[target] = _tail(self.piles[target], many)
        for target, papers in received.items():
            self.last[target] = papers
        self.close("exclusion", out, moved)

    def _give(self, target: int, papers: Sequence[Paper]) -> None:
        self.piles[target] += papers
        self.last[target] = list(papers)
        self.votes[target] += _size(papers)


def _tail(papers: Sequence[Paper], many: int) -> list[Paper]:
    """The last so many papers of a pile, which are whole entries of it."""
    found = list[Paper]()
    for paper in reversed(papers):
        if many <= 0:
            break
        found.append(paper)
        many -= paper[2]
    return found[::-1]


def _size(papers: Sequence[Paper]) -> int:
    return sum(weight for _, _, weight in papers)
