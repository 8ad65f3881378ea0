"""Counts as RCTab's configuration says: instant runoff, several seats, from the bottom up, one pass after the other.

Votes are whole numbers of the last decimal place that the configuration keeps, so everything is exact; what rounding
takes from a surplus is lost, as the rules have it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.formats.vendors.office_records import OVERVOTE, OfficeBallots, Ranks
from hubbub.voting.formats.vendors.rctab_config import (
    BOTTOMS_UP,
    ONE_A_ROUND,
    PASSES,
    PERCENTAGE,
    SEVERAL,
    SINGLE,
    UNDECLARED,
    Configuration,
    TabulationRules,
)
from hubbub.voting.rctab.java_dice import JavaDice
from hubbub.voting.rctab.result import ConfiguredCount, ConfiguredRound

_SEATS: Final = (ONE_A_ROUND, SEVERAL)


def count_configured(configuration: Configuration, ballots: OfficeBallots) -> ConfiguredCount:
    """Count by the rules of a configuration.

    Guarantee: in every round the votes of all who are in or elected, those exhausted, and what surpluses lost to
    rounding add up to the ballots that mark anybody. Ties are broken as the configuration says, or refused where it
    leaves them to somebody who is asked.
    """
    rules = configuration.rules
    if rules.mode != PERCENTAGE and rules.winners < 1:
        raise WrongUse("the configuration fills no seat; set numberOfWinners")
    if rules.mode == SINGLE and rules.winners != 1:
        raise WrongUse(f"the configuration elects {rules.winners} by a majority for one; choose another mode")
    ties = _Ties(rules, ballots.candidates)
    excluded = [candidate.name for candidate in configuration.candidates if candidate.excluded]
    passes, winners = list[tuple[ConfiguredRound, ...]](), list[str]()
    for _ in range(rules.winners if rules.mode == PASSES else 1):
        running = [name for name in ballots.candidates if name not in {*excluded, *winners}]
        if not running:
            break
        count = _Count(rules, running, ballots, ties)
        count.run()
        passes.append(tuple(count.rounds))
        winners += count.elected
    return ConfiguredCount(
        title=configuration.title,
        candidates=ballots.candidates,
        cast=ballots.cast,
        undervotes=sum(weight for ranks, weight in ballots.ballots if not ranks),
        passes=tuple(passes),
        winners=tuple(winners),
        ties=tuple(ties.remarks),
        mode=rules.mode,
    )


class _Ties:
    """Who of several comes out on top, or goes, by the configuration."""

    def __init__(self, rules: TabulationRules, candidates: Sequence[str]) -> None:
        self.remarks: list[str] = []
        self._mode = rules.ties
        self._dice = None if rules.seed is None else JavaDice(rules.seed)
        self._order = list(candidates)
        if rules.ties == "generatePermutation":
            self._order = self._seeded().shuffled(sorted(candidates))

    def _seeded(self) -> JavaDice:
        if self._dice is None:
            raise WrongUse("the configuration breaks ties by a seed and has none; set randomSeed")
        return self._dice

    def choose(self, tied: Sequence[str], earlier: Sequence[ConfiguredRound], *, wins: bool) -> str:
        """One of those who are equal: the winner of them, or the one who goes."""
        among = list(tied)
        if self._mode.startswith("previousRoundCounts"):
            among = _apart(among, earlier, wins=wins)
        if len(among) == 1:
            return among[0]
        if self._mode in ("useCandidateOrder", "generatePermutation"):
            chosen = (min if wins else max)(among, key=self._order.index)
        elif self._mode in ("random", "previousRoundCountsThenRandom"):
            chosen = sorted(among)[self._seeded().index(len(among))]
        else:
            raise WrongUse(
                f"{', '.join(sorted(among))} are equal, and the configuration leaves it to somebody who is asked; set "
                "tiebreakMode to useCandidateOrder with the candidates in the order that was drawn"
            )
        self.remarks.append(f"Equal: {', '.join(sorted(tied))}; {chosen} {'is chosen' if wins else 'goes'}.")
        return chosen


def _apart(tied: list[str], earlier: Sequence[ConfiguredRound], *, wins: bool) -> list[str]:
    """Those of the tied who are still equal when earlier rounds are looked at, the latest first."""
    for counted in reversed(earlier):
        votes = dict(counted.tally)
        wanted = (max if wins else min)(votes[name] for name in tied)
        tied = [name for name in tied if votes[name] == wanted]
        if len(tied) == 1:
            break
    return tied


@dataclass(slots=True)
class _Pile:
    """Equal ballots: whom they count for now, and what each is worth."""

    ranks: Ranks
    weight: int
    value: int
    holder: str | None = None
    done: bool = False


class _Count:
    """The state of one pass, in units of the last decimal place."""

    def __init__(self, rules: TabulationRules, running: Sequence[str], ballots: OfficeBallots, ties: _Ties) -> None:
        self.rules, self.ties = rules, ties
        self.unit = 10**rules.decimals
        self.seats = 1 if rules.mode == PASSES else rules.winners
        self.running = list(running)
        self.continuing = list(running)
        self.elected: list[str] = []
        self.kept: dict[str, int] = {}  # what the elected keep once their surplus has moved
        self.piles = [_Pile(ranks, weight, self.unit) for ranks, weight in ballots.ballots if ranks]
        self.exhausted = 0
        self.threshold = Fraction(0)
        self.rounds: list[ConfiguredRound] = []

    def run(self) -> None:
        while True:
            votes = self._tally()
            self._set_threshold(votes)
            elected, out = self._decide(votes)
            self.rounds.append(self._round(votes, elected, out))
            self.elected += elected
            self._move(votes, elected, out)
            if self.rules.stop_after == len(self.rounds) or not (elected or out) or self._over():
                return

    def _over(self) -> bool:
        """Whether nothing is left to say: rules with surpluses and with two left show one more round."""
        if self.rules.mode in _SEATS:
            return len(self.elected) < self.seats and not self.continuing
        if self.rules.mode in (BOTTOMS_UP, PERCENTAGE):
            return bool(self.elected)
        return bool(self.elected) and (not self.rules.until_two or len(self.continuing) < 2 or self._was_last())

    def _was_last(self) -> bool:
        """Whether the winner of one seat was one of two, or nobody is left to go."""
        return len(self.rounds[-1].tally) <= 2 and bool(self.rounds[-1].elected)

    def _round(self, votes: dict[str, int], elected: Sequence[str], out: Sequence[str]) -> ConfiguredRound:
        continuing = [name for name in self.running if name in votes]
        tally = tuple((name, Fraction(votes[name], self.unit)) for name in continuing)
        return ConfiguredRound(
            self.threshold, tally, Fraction(self.exhausted, self.unit), tuple(elected), tuple(sorted(out))
        )

    def _tally(self) -> dict[str, int]:
        votes = {name: self.kept.get(name, 0) for name in self.running if name in self.continuing or name in self.kept}
        for pile in self.piles:
            if pile.holder is None and not pile.done:
                pile.holder = self._holder(pile.ranks)
                if pile.holder is None:
                    pile.done = True
                    self.exhausted += pile.weight * pile.value
            if pile.holder is not None:
                votes[pile.holder] += pile.weight * pile.value
        return votes

    def _holder(self, ranks: Ranks) -> str | None:
        """Whom a ballot counts for: the first rank of somebody who is in, unless it ends before."""
        rules, last, seen = self.rules, 0, set[str]()
        for rank, who in ranks:
            if rules.most_skips is not None and rank - last - 1 > rules.most_skips:
                return None
            last = rank
            if rules.stop_at_repeats and seen & who:
                return None
            seen |= who
            here = [name for name in who if name in self.continuing]
            if len(who) > 1 or OVERVOTE in who:
                if rules.overvotes == "exhaustImmediately" or (OVERVOTE in who and rules.overvotes != _SKIP):
                    return None
                if rules.overvotes == _SKIP:
                    continue
                if len(here) > 1:
                    return None
            if here:
                return here[0]
        return None

    def _set_threshold(self, votes: dict[str, int]) -> None:
        """What a winner needs: found anew each round for one seat until somebody has it, else in the first round."""
        rules = self.rules
        fixed = rules.first_threshold or rules.mode in _SEATS
        if self.rounds and (fixed or self.elected):
            return
        active = Fraction(sum(votes.values()), self.unit)
        if rules.mode == PERCENTAGE:
            self.threshold = active * (rules.percentage or 0) / 100
            return
        if rules.hare:
            quota = active / self.seats
            self.threshold = (
                Fraction(-(-quota * self.unit // 1), self.unit) if rules.fractional else -(-quota // 1) * Fraction(1)
            )
            return
        share = active / (self.seats + 1)
        if rules.fractional:
            self.threshold = Fraction(share * self.unit // 1 + 1, self.unit)
        else:
            self.threshold = Fraction(share // 1 + 1)

    def _decide(self, votes: dict[str, int]) -> tuple[list[str], list[str]]:
        """Who is elected by these votes, or else who goes."""
        mode = self.rules.mode
        if mode in _SEATS and self._undeclared(votes):
            return [], [UNDECLARED]
        winners = self._winners(votes)
        if winners or not self._goes_on():
            return winners, []
        return [], self._out(votes)

    def _goes_on(self) -> bool:
        if self.rules.mode in _SEATS:
            return len(self.elected) < self.seats
        if self.elected:  # one seat, and the rest go until two are left
            return len(self.continuing) > 2
        return len(self.continuing) > 1

    def _undeclared(self, votes: dict[str, int]) -> bool:
        return UNDECLARED in self.continuing and votes[UNDECLARED] > 0

    def _winners(self, votes: dict[str, int]) -> list[str]:
        mode, left = self.rules.mode, self.seats - len(self.elected)
        needed = self.threshold * self.unit
        if mode == PERCENTAGE:
            return [] if any(votes[name] < needed for name in self.continuing) else list(self.continuing)
        if mode == BOTTOMS_UP:
            return list(self.continuing) if len(self.continuing) <= self.seats else []
        if not left or not self.continuing:
            return []
        if mode in _SEATS and len(self.continuing) <= left:
            return list(self.continuing)
        reached = [name for name in self.continuing if votes[name] >= needed and name != UNDECLARED]
        if mode == SEVERAL:
            return self._most(reached, votes, left)
        if mode not in _SEATS and not reached and len(self.continuing) <= 2:
            reached = list(self.continuing)
        return self._most(reached, votes, 1)

    def _most(self, reached: Sequence[str], votes: dict[str, int], seats: int) -> list[str]:
        """At most so many of those who have enough, the most votes first."""
        chosen, rest = list[str](), list(reached)
        while rest and len(chosen) < seats:
            most = max(votes[name] for name in rest)
            tied = [name for name in rest if votes[name] == most]
            fits = len(tied) == 1 or len(chosen) + len(tied) <= seats
            best = tied if fits else [self.ties.choose(tied, self.rounds, wins=True)]
            chosen += best
            rest = [name for name in rest if name not in best]
        return [name for name in self.running if name in chosen]

    def _out(self, votes: dict[str, int]) -> list[str]:
        """Who goes: undeclared write-ins, then all below the least number of votes, then a batch, then the last."""
        going = [name for name in self.continuing if name not in self.elected]
        if self._undeclared(votes):
            return [UNDECLARED]
        few = [name for name in going if votes[name] < self.rules.least_votes * self.unit]
        if few and len(few) < len(going):
            return few
        if self.rules.batch and self.rules.mode in (SINGLE, PASSES):
            batch = self._batch(votes, going)
            if len(batch) > 1:
                return batch
        fewest = min(votes[name] for name in going)
        last = [name for name in going if votes[name] == fewest]
        return last if len(last) == 1 else [self.ties.choose(last, self.rounds, wins=False)]

    def _batch(self, votes: dict[str, int], going: Collection[str]) -> list[str]:
        """The most candidates from the bottom who together have fewer votes than the next."""
        ordered = sorted(going, key=votes.__getitem__)
        stay = 2 if self.rules.until_two else 1
        below, batch = 0, list[str]()
        for i, name in enumerate(ordered[:-1], 1):
            below += votes[name]
            if below < votes[ordered[i]] and len(self.continuing) - i >= stay:
                batch = ordered[:i]
        return batch

    def _move(self, votes: dict[str, int], elected: Sequence[str], out: Sequence[str]) -> None:
        """Ballots of those who go, and surpluses of those who are elected, look for somebody else."""
        self.continuing = [name for name in self.continuing if name not in out]
        if self.rules.mode in _SEATS:
            self.continuing = [name for name in self.continuing if name not in elected]
            full = len(self.elected) == self.seats  # then no surplus is looked after
            for name in elected:
                self._surplus(name, votes[name], last=full)
        for pile in self.piles:
            if pile.holder in out:
                pile.holder = None

    def _surplus(self, name: str, votes: int, *, last: bool) -> None:
        """Each ballot goes on with the share of its value that was not needed, cut after the last place."""
        quota = int(self.threshold * self.unit)
        self.kept[name] = min(votes, quota)
        share = self.unit * (votes - quota) // votes if votes > quota and not last else 0
        for pile in self.piles:
            if pile.holder == name:
                pile.value = pile.value * share // self.unit
                pile.holder = None
                pile.done = not pile.value


_SKIP: Final = "alwaysSkipToNextRank"
