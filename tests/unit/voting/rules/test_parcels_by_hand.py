"""Last parcels and inclusive Gregory once more, each paper by itself, against the counts that keep equal papers together."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.stv import RULES, TransferableVote
from hubbub.voting.rules.transfers.parcels import Parcels

Paper = tuple[str, ...]


class LotNeeded(Exception):
    """Two are equal and were so all along."""


def cut(x: Fraction, decimals: int | None) -> Fraction:
    return x if decimals is None else Fraction(x * 10**decimals // 1, 10**decimals)


class ByHand:
    def __init__(self, papers: list[Paper], names: str, seats: int, rules: Parcels) -> None:
        self.names, self.seats, self.rules = names, seats, rules
        self.piles: dict[str, list[tuple[Fraction, list[Paper]]]] = {name: [] for name in names}
        for name in names:
            if mine := [paper for paper in papers if paper[0] == name]:
                self.piles[name] = [(Fraction(1), mine)]
        self.votes = {name: Fraction(sum(len(pile) for _, pile in self.piles[name])) for name in names}
        self.quota = len(papers) // (seats + 1) + 1
        self.won: list[str] = []
        self.out: list[str] = []
        self.due: list[str] = []
        self.past: list[dict[str, Fraction]] = []

    def left(self) -> list[str]:
        return [name for name in self.names if name not in self.won + self.out]

    def close(self, *, fill: bool = True) -> None:
        def falling(who: list[str]) -> list[str]:
            return sorted(who, key=lambda name: (-self.votes[name], name))

        now = falling([name for name in self.left() if self.votes[name] >= self.quota])
        self.won += now
        self.due += [name for name in now if self.votes[name] > self.quota]
        if fill and len(self.left()) <= self.seats - len(self.won):
            self.won += falling(self.left())
        self.past.append(dict(self.votes))

    def one(self, who: list[str], sign: int) -> str:
        """The one with the most (sign 1) or the fewest votes, by an earlier stage where several have."""
        for votes in (self.votes, *(self.past[::-1] if self.rules.latest else self.past)):
            best = max(sign * votes[name] for name in who)
            who = [name for name in who if sign * votes[name] == best]
        if len(who) > 1:
            raise LotNeeded
        return who[0]

    def sort(self, origin: str, papers: list[Paper]) -> dict[str | None, list[Paper]]:
        found: dict[str | None, list[Paper]] = {}
        for paper in papers:
            after = paper[paper.index(origin) + 1 :]
            found.setdefault(next((name for name in after if name in self.left()), None), []).append(paper)
        return found

    def give(self, piles: dict[str | None, list[Paper]], value: Fraction) -> None:
        for name, papers in piles.items():
            if name is not None:
                self.votes[name] += cut(len(papers) * value, self.rules.vote_decimals)
                self.piles[name].append((value, papers))

    def surplus(self) -> None:
        origin = self.one(self.due, 1)
        self.due.remove(origin)
        used = self.piles[origin] if self.rules.inclusive else self.piles[origin][-1:]
        piles = self.sort(origin, [paper for _, papers in used for paper in papers])
        able = sum(len(papers) for name, papers in piles.items() if name is not None)
        over = able if self.rules.over_transferable else sum(map(len, piles.values()))
        value = cut((self.votes[origin] - self.quota) / over, self.rules.value_decimals) if over else Fraction(0)
        if not self.rules.inclusive:
            value = min(value, used[0][0]) if over else used[0][0]
        self.votes[origin], self.piles[origin] = Fraction(self.quota), []
        self.give(piles, value)
        self.close()

    def exclude(self) -> None:
        origin = self.one(self.left(), -1)
        self.out.append(origin)
        values = sorted({value for value, _ in self.piles[origin]}, reverse=True)
        if not values:
            self.close()
        for at, value in enumerate(values, 1):
            batch = [paper for here, papers in self.piles[origin] if here == value for paper in papers]
            worth = cut(len(batch) * value, self.rules.vote_decimals)
            self.votes[origin] -= self.votes[origin] if at == len(values) else min(worth, self.votes[origin])
            self.give(self.sort(origin, batch), value)
            self.close(fill=at == len(values))
            if len(self.won) >= self.seats:
                return

    def run(self) -> None:
        self.close()
        while len(self.won) < self.seats:
            lowest = sorted(self.votes[name] for name in self.left())
            over = sum(self.votes[name] - self.quota for name in self.due)
            waits = self.rules.defers and len(lowest) > 1 and over < lowest[1] - lowest[0]
            if self.due and not waits:
                self.surplus()
            else:
                self.exclude()


@pytest.mark.parametrize("name", ["australia-senate", "act", "tasmania", "northern-ireland"])
def test_every_stage_is_that_of_a_counter_by_hand(name: str) -> None:
    random, seen, rules = Random(17), 0, RULES[name]
    assert isinstance(rules, Parcels)
    for _ in range(150):
        names = "ABCDEFG"[: random.randint(3, 7)]
        seats = random.randint(1, len(names) - 1)
        papers = [tuple(random.sample(names, random.randint(1, len(names)))) for _ in range(random.choice((20, 70)))]
        counts: dict[Paper, int] = {}
        for paper in papers:
            counts[paper] = counts.get(paper, 0) + 1
        hand = ByHand(papers, names, seats, rules)
        try:
            hand.run()
        except LotNeeded:
            continue
        seen += 1
        found = TransferableVote(seats=seats, rules=rules).run(
            Ballots.from_counts(names, counts), ScriptedSource.from_label("parcels")
        )
        assert list(found.winner_names) == hand.won, (counts, seats)
        assert [dict(stage.totals) for stage in found.stages] == [
            {i: votes[each] for i, each in enumerate(names)} for votes in hand.past
        ], (counts, seats)
    assert seen > 50
