"""The rules of the Electoral Reform Society of 1997: its model election and exercises, a students' union, a counter by hand.

Of the model election (section 8) the first two stages were at hand, and of section 9 the questions. The answers here were
worked out by hand from the rules.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from hubbub.noise.source import ScriptedSource
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.rules.stv import TransferableVote
from hubbub.voting.rules.stv_result import Seats
from hubbub.voting.rules.transfers.ers97 import ERS97, _Count, _quota
from hubbub.voting.rules.transfers.parcels import _Parcel


def count(votes: dict[str, int], seats: int, names: str | None = None) -> Seats:
    everyone = sorted(set("".join(votes))) if names is None else names
    ballots = Ballots.from_counts(everyone, {tuple(ranking): weight for ranking, weight in votes.items()})
    return TransferableVote(seats=seats, rules=ERS97).run(ballots, ScriptedSource.from_label("seats"))


def votes_of(result: Seats, stage: int, who: str) -> list[Fraction]:
    totals = dict(result.stages[stage].totals)
    return [totals[result.candidates.index(name)] for name in who]


def test_the_first_two_stages_of_the_model_election() -> None:
    """753 valid papers, eleven candidates, six places: quota 107.58; Smith's surplus of 26.42 over 123 papers that can go
    on is 0.21 each, and 0.59 is neglected. It exceeds the one vote between the last two (24 and 23), so it moves."""
    votes = {"SC": 40, "SA": 83, "S": 11, "D": 105, "P": 91, "F": 90, "C": 81, "B": 64}
    votes |= {"A": 59, "V": 55, "M": 27, "G": 24, "W": 23}
    result = count(votes, 6)
    smith = result.candidates.index("S")
    assert (result.valid, result.quota) == (753, Fraction("107.58"))
    assert result.stages[0].elected == (smith,)
    assert (result.stages[1].what, result.stages[1].of) == ("surplus", (smith,))
    assert votes_of(result, 1, "SCA") == [Fraction("107.58"), 81 + 40 * Fraction("0.21"), 59 + 83 * Fraction("0.21")]
    assert result.stages[1].lost == Fraction("0.59")


def test_a_count_of_a_students_union() -> None:
    """Students' Union UCL, spring of 2021, men's social secretary of the hockey club: 25 papers, two places, quota 8.34;
    20 and 5 first, then 16.56 and 8.34 with 0.10 that no longer count."""
    result = count({"JO": 17, "J": 3, "O": 5}, 2, names="OJR")
    assert result.quota == Fraction("8.34")
    assert votes_of(result, 0, "OJR") == [5, 20, 0]
    assert votes_of(result, 1, "OJR") == [Fraction("16.56"), Fraction("8.34"), 0]
    assert result.stages[1].lost + result.stages[1].exhausted == Fraction("0.10")
    assert result.winner_names == ("J", "O")


@pytest.mark.parametrize(
    ("valid", "places", "quota"),
    [(5334, 6, "762.00"), (698, 7, "87.25"), (28625, 5, "4770.84"), (731, 20, "34.81"), (5697, 5, "949.50")],
)
def test_exercise_9_2_the_quota(valid: int, places: int, quota: str) -> None:
    assert _quota(Fraction(valid), places) == Fraction(quota)


NINE_THREE = (
    ({"A": 127, "BCDEFGH": 77, "IJKL": 78}, 10, 4, "88.91", "0.30", "1.19"),
    ({"A": 867, "B": 832, "C": 800}, 2, 17, "833", "0.04", "0"),
    ({"A": 1_635, "B": 1_000, "C": 812}, 2, 14, "1149", "0.29", "15.91"),
    ({"A": 1_327, "B": 1_310, "C": 1_308}, 2, 10, "1315", "0", "12"),
)


@pytest.mark.parametrize(("first", "places", "stuck", "quota", "value", "lost"), NINE_THREE)
def test_exercise_9_3_a_surplus_of_the_first_stage(
    first: dict[str, int], places: int, stuck: int, quota: str, value: str, lost: str
) -> None:
    votes = {name: many for names, many in first.items() for name in names}
    votes |= {"A": stuck, "AB": votes["A"] - stuck}
    result = count(votes, places)
    assert result.quota == Fraction(quota)
    (moved,) = (move for move in result.stages[1].moved if move.target is not None)
    assert moved.votes == moved.papers * Fraction(value)
    assert result.stages[1].lost == Fraction(lost)


@pytest.mark.parametrize(
    ("votes", "quota", "papers", "value", "stuck", "goes_at", "difference"),
    [
        ("1073.24", "983", 93, "1", 9, "1", "6.24"),
        ("62.70", "59.43", 8, "0.63", 0, "0.40", "0.07"),
        ("832.54", "814", 98, "0.21", 18, "0.21", "1.74"),
        ("1287.81", "1152", 167, "1", 19, "0.91", "1.13"),
    ],
)
def test_exercise_9_4_a_surplus_of_a_later_stage(
    votes: str, quota: str, papers: int, value: str, stuck: int, goes_at: str, difference: str
) -> None:
    ballots = Ballots.from_counts("ABC", {("A", "B"): papers - stuck, ("A",): stuck, ("C",): 1})
    state = _Count(ERS97, ballots, 2, Chance(ScriptedSource.from_label("none")))
    state.votes[0], state.quota = Fraction(votes), Fraction(quota)
    state.piles[0] = [_Parcel(Fraction(value), state.piles[0][0].papers)]
    state.elected, state.pending, state.continuing = [0], [0], {1, 2}
    state.move_surplus(0)
    (moved,) = (move for move in state.stages[0].moved if move.target is not None)
    assert (moved.papers, moved.votes) == (papers - stuck, (papers - stuck) * Fraction(goes_at))
    assert state.exhausted + state.lost == Fraction(difference)


@pytest.mark.parametrize(
    ("votes", "elected", "what", "of"),
    [
        ((1073, 937, 858, 784, 660, 549, 431, 225, 180), "A", "surplus", "A"),
        ((1073, 937, 858, 784, 660, 549, 431, 275, 130), "A", "exclusion", "J"),
        ((1073, 937, 858, 784, 560, 549, 531, 275, 130), "A", "exclusion", "HJ"),
        ((1073, 987, 808, 784, 560, 549, 531, 275, 130), "AB", "surplus", "A"),
    ],
)
def test_exercise_9_6_what_the_returning_officer_does(votes: tuple[int, ...], elected: str, what: str, of: str) -> None:
    """Five places, quota 949.50. A surplus of 123.50 waits where it and the last have no more than the next."""
    result = count(dict(zip("ABCDEFGHJ", votes, strict=True)), 5)
    assert "".join(result.candidates[i] for i in result.stages[0].elected) == elected
    assert result.stages[1].what == what
    assert "".join(sorted(result.candidates[i] for i in result.stages[1].of)) == of


def test_the_quota_falls_until_somebody_is_elected() -> None:
    result = count({"A": 30, "B": 29, "C": 25, "D": 16}, 2)
    assert result.quota == Fraction("28.00"), "16 papers name nobody else: 84 over 3"
    assert result.stages[1].elected == (0, 1)
    assert "it fell to 28 " in " ".join(result.sentences())


def test_whom_nobody_can_overtake_is_elected_below_the_quota() -> None:
    """A takes 40.00 of 120 votes. C's 20 papers name nobody else: of the 60 votes that are active B has more than half."""
    result = count({"A": 40, "B": 35, "C": 20, "D": 25}, 2)
    assert (result.quota, result.stages[1].of) == (40, (2,))
    assert result.stages[1].elected == (1,)
    assert votes_of(result, 1, "B") == [35]


def test_who_are_equal_all_along_are_not_elected_before_a_lot() -> None:
    result = count({"A": 10, "B": 10, "C": 5}, 1)
    assert result.stages[0].elected == ()
    assert result.stages[1].of == (2,)
    assert [draw.why for draw in result.draws] == ["who goes of those with the fewest votes"]


class ByHand:
    """The rules once more, written from their sections with nothing but hundredths of a vote; a lot takes the first."""

    def __init__(self, papers: list[tuple[str, ...]], names: list[str], seats: int) -> None:
        self.names, self.seats = names, seats
        self.at = {name: [(100, [p for p in papers if p and p[0] == name])] for name in names}
        self.votes = {name: 100 * len(self.at[name][0][1]) for name in names}
        self.valid = sum(self.votes.values())
        self.dead = 0
        self.won: list[str] = []
        self.out: list[str] = []
        self.due: list[str] = []
        self.past: list[dict[str, int]] = []
        self.quota = 0

    def open(self) -> list[str]:
        return [n for n in self.names if n not in self.won and n not in self.out]

    def key(self, name: str) -> list[int]:
        return [then[name] for then in self.past]

    def point(self) -> None:
        """5.1.6, 5.1.7, 5.3.13, 5.4.8, 5.4.9 with 5.6.2."""
        if not self.won:
            self.quota = -(-(self.valid - self.dead) // (self.seats + 1))
        while len(self.won) < self.seats and self.open():
            places = self.seats - len(self.won)
            active = self.valid - self.dead - sum(min(self.votes[n], self.quota) for n in self.won)
            top = max(self.open(), key=lambda n: (self.votes[n], self.key(n), -self.names.index(n)))
            if self.votes[top] < self.quota and self.votes[top] * (places + 1) < active:
                break
            rivals = [n for n in self.open() if self.votes[n] == self.votes[top] and self.key(n) == self.key(top)]
            if len(rivals) > places:
                break
            self.won.append(top)
            if self.votes[top] > self.quota:
                self.due.append(top)
        self.past.append(dict(self.votes))

    def deal(self, batch: list[tuple[str, ...]], value: int) -> None:
        got: dict[str, list[tuple[str, ...]]] = {}
        for paper in batch:
            nxt = next((n for n in paper if n in self.open()), None)
            if nxt is None:
                self.dead += value
            else:
                got.setdefault(nxt, []).append(paper)
        for name, papers in got.items():
            self.votes[name] += value * len(papers)
            self.at[name].append((value, papers))

    def surplus(self, name: str) -> None:
        self.due.remove(name)
        over = self.votes[name] - self.quota
        value, papers = self.at[name][-1]
        able = [p for p in papers if any(n in self.open() for n in p)]
        worth = over // len(able) if len(able) * value > over else value
        self.votes[name] = self.quota
        self.dead += over - worth * len(able)
        self.deal(able, worth)
        self.point()

    def run(self) -> list[str]:
        self.point()
        while len(self.won) < self.seats:
            places = self.seats - len(self.won)
            order = sorted(self.open(), key=lambda n: (self.votes[n], self.key(n), self.names.index(n)))
            over = sum(self.votes[n] - self.quota for n in self.due)
            fits = [
                k
                for k in range(1, len(order))
                if len(order) - k >= places and sum(self.votes[n] for n in order[:k]) + over <= self.votes[order[k]]
            ]
            if self.due and not fits:
                self.surplus(max(self.due, key=lambda n: (self.votes[n], self.key(n), -self.names.index(n))))
                continue
            going = order[: max(fits)]
            if len(order) - len(going) == places:
                self.won += sorted(order[len(going) :], key=lambda n: (-self.votes[n], self.names.index(n)))
                break
            self.out += going
            for value in sorted({value for n in going for value, _ in self.at[n]}, reverse=True):
                batch = [p for n in going for v, papers in self.at[n] if v == value for p in papers]
                for n in going:
                    self.votes[n] -= value * sum(len(papers) for v, papers in self.at[n] if v == value)
                self.deal(batch, value)
                self.point()
                if len(self.won) == self.seats:
                    break
        return self.won


def test_the_same_as_a_counter_by_hand() -> None:
    """Elections in which no lot is drawn: who is elected, in their order, and everybody's votes in the end."""
    dice, seen = Random(97), 0
    for _ in range(400):
        names = "ABCDEFGH"[: dice.randint(3, 8)]
        seats = dice.randint(1, len(names) - 1)
        papers = [tuple(dice.sample(names, dice.randint(1, len(names)))) for _ in range(dice.randint(5, 60))]
        votes: dict[str, int] = {}
        for paper in papers:
            votes["".join(paper)] = votes.get("".join(paper), 0) + 1
        result = count(votes, seats, names=names)
        if result.draws:
            continue
        seen += 1
        hand = ByHand(papers, list(names), seats)
        assert hand.run() == list(result.winner_names), votes
        assert [100 * v for v in votes_of(result, -1, names)] == [hand.votes[n] for n in names], votes
    assert seen > 200
