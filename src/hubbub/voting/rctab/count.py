"""Counts as RCTab's configuration says: instant runoff, several seats, from the bottom up, one pass after the other.

Votes are whole numbers of the last decimal place that the configuration keeps, so everything is exact; what rounding
takes from a surplus is lost, as the rules have it.

The generator of `java.util.Random`, by which RCTab breaks ties from a seed that its configuration publishes.

It is arithmetic on a public number and no source of randomness: whoever knows the seed knows every draw. It exists so
that an office's count can be repeated, and serves nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
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
from hubbub.voting.rctab.result import (
    EXHAUSTED,
    LAST_SURPLUS,
    NO_CHOICE,
    OVERVOTES,
    REASONS,
    REPEATED,
    ROUNDING,
    SKIPPED,
    ConfiguredCount,
    ConfiguredRound,
    Move,
)
from hubbub.voting.rctab.tie_breaks import TieBreaks, apart_earlier

_SEATS: Final = (ONE_A_ROUND, SEVERAL)


def count_configured(
    configuration: Configuration, ballots: OfficeBallots, ties: TieBreaks | None = None
) -> ConfiguredCount:
    """Count by the rules of a configuration; ties as it says, or by `ties`.

    Guarantee: in every round the votes of all who are in or elected, those exhausted, and what surpluses lost to
    rounding add up to the ballots that mark anybody. Ties are broken as the configuration says, or refused where it
    leaves them to somebody who is asked.
    """
    rules = configuration.rules
    ties = _Ties(rules, ballots.candidates) if ties is None else ties
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
        answers=tuple(getattr(ties, "answers", ())),
    )


def count_unit(configuration: Configuration, ballots: OfficeBallots, contest: ConfiguredCount) -> ConfiguredCount:
    """How the ballots of one precinct or batch went through the rounds of the whole contest, whose decisions they follow."""
    rules = configuration.rules
    ties = _Ties(replace(rules, ties="useCandidateOrder"), ballots.candidates)
    passes = list[tuple[ConfiguredRound, ...]]()
    for rounds in contest.passes:
        count = _Count(rules, [name for name, _ in rounds[0].tally], ballots, ties, script=rounds)
        count.run()
        passes.append(tuple(count.rounds))
    return replace(
        contest,
        cast=ballots.cast,
        undervotes=sum(weight for ranks, weight in ballots.ballots if not ranks),
        passes=tuple(passes),
        ties=(),
    )


class _Ties:
    """Who of several comes out on top, or goes, by the configuration."""

    def __init__(self, rules: TabulationRules, candidates: Sequence[str]) -> None:
        self.remarks: list[str] = []
        self._mode = rules.ties
        self._dice = None if rules.seed is None else JavaDice(rules.seed)
        self._order = list(candidates)
        if rules.ties == "generatePermutation":
            self._order = self._seeded().shuffle(java_sorted(candidates))

    def _seeded(self) -> JavaDice:
        if self._dice is None:
            raise WrongUse("the configuration breaks ties by a seed and has none; set randomSeed")
        return self._dice

    def choose(self, tied: Sequence[str], earlier: Sequence[ConfiguredRound], *, wins: bool) -> str:
        """One of those who are equal: the winner of them, or the one who goes."""
        among = java_sorted(tied)
        if self._mode.startswith("previousRoundCounts"):
            among = apart_earlier(among, earlier, wins=wins, order=hash_order)
        if len(among) == 1:
            return among[0]
        if self._mode in ("useCandidateOrder", "generatePermutation"):
            chosen = (min if wins else max)(among, key=self._order.index)
        elif self._mode in ("random", "previousRoundCountsThenRandom"):
            chosen = among[self._seeded().index(len(among))]
        else:
            raise WrongUse(
                f"{', '.join(sorted(among))} are equal, and the configuration leaves it to somebody who is asked; count on "
                "a terminal, or name who is chosen with `tie`"
            )
        self.remarks.append(f"Equal: {', '.join(sorted(tied))}; {chosen} {'is chosen' if wins else 'goes'}.")
        return chosen


@dataclass(slots=True)
class _Pile:
    """Equal ballots: whom they count for now, and what each is worth."""

    ranks: Ranks
    weight: int
    value: int
    holder: str | None = None
    origin: str | None = None  # whom they come from, while they look for somebody else
    done: bool = False


class _Count:
    """The state of one pass, in units of the last decimal place.

    With a `script`, the rounds of the whole contest, nothing is decided here: the ballots of one precinct or batch go as the
    contest went, and an elected candidate keeps of each ballot what did not go on.
    """

    def __init__(
        self,
        rules: TabulationRules,
        running: Sequence[str],
        ballots: OfficeBallots,
        ties: TieBreaks,
        script: Sequence[ConfiguredRound] | None = None,
    ) -> None:
        self.script = script
        self.rules, self.ties = rules, ties
        self.unit = 10**rules.decimals
        self.seats = 1 if rules.mode == PASSES else rules.winners
        self.running = list(running)
        self.continuing = list(running)
        self.elected: list[str] = []
        self.kept: dict[str, int] = {}  # what the elected keep once their surplus has moved
        self.piles = [_Pile(ranks, weight, self.unit) for ranks, weight in ballots.ballots if ranks]
        self.inactive = dict.fromkeys(REASONS, 0)
        self.moves: list[dict[tuple[str, str], int]] = []
        self.last_surplus = 0
        self.threshold = Fraction(0)
        self.rounds: list[ConfiguredRound] = []

    def run(self) -> None:
        while True:
            votes = self._tally()
            at = len(self.rounds)
            if self.script is not None:
                self.threshold = self.script[at].threshold
                elected, out = list(self.script[at].elected), list(self.script[at].eliminated)
            else:
                self._set_threshold(votes)
                elected, out = self._decide(votes)
            self.rounds.append(self._round(votes, elected, out))
            self.moves.append({})
            self.elected += elected
            self._move(votes, elected, out)
            if self._is_last(elected, out):
                self._note_moves()
                return

    def _is_last(self, elected: Sequence[str], out: Sequence[str]) -> bool:
        if self.script is not None:
            return len(self.rounds) == len(self.script)
        return self.rules.stop_after == len(self.rounds) or not (elected or out) or self._over()

    def _note_moves(self) -> None:
        """Write into each round what went where; after the last nothing is looked for."""
        for i, moves in enumerate(self.moves[:-1]):
            found = (Move(*pair, Fraction(votes, self.unit)) for pair, votes in sorted(moves.items()) if votes)
            self.rounds[i] = replace(self.rounds[i], moves=tuple(found))

    def _note(self, origin: str, target: str, votes: int) -> None:
        moves = self.moves[-1]
        moves[origin, target] = moves.get((origin, target), 0) + votes

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
            self.threshold,
            tally,
            tuple((why, Fraction(votes, self.unit)) for why, votes in self.inactive.items()),
            tuple(elected),
            tuple(sorted(out)),
            last_surplus=Fraction(self.last_surplus, self.unit),
        )

    def _tally(self) -> dict[str, int]:
        votes = {name: self.kept.get(name, 0) for name in self.running if name in self.continuing or name in self.kept}
        for pile in self.piles:
            if pile.holder is None and not pile.done:
                pile.holder, why = self._holder(pile.ranks)
                if pile.origin is not None:
                    self._note(pile.origin, pile.holder or EXHAUSTED, pile.weight * pile.value)
                    pile.origin = None
                if pile.holder is None:
                    pile.done = True
                    self.inactive[why] += pile.weight * pile.value
            if pile.holder is not None:
                votes[pile.holder] += pile.weight * pile.value
        return votes

    def _holder(self, ranks: Ranks) -> tuple[str | None, str]:
        """Whom a ballot counts for, the first rank of somebody who is in, unless it ends before; and why it ends."""
        rules, last, seen = self.rules, 0, set[str]()
        for rank, who in ranks:
            if rules.most_skips is not None and rank - last - 1 > rules.most_skips:
                return None, SKIPPED
            last = rank
            if rules.stop_at_repeats and seen & who:
                return None, REPEATED
            seen |= who
            here = [name for name in who if name in self.continuing]
            if len(who) > 1 or OVERVOTE in who:
                if rules.overvotes == "exhaustImmediately" or (OVERVOTE in who and rules.overvotes != _SKIP):
                    return None, OVERVOTES
                if rules.overvotes == _SKIP:
                    continue
                if len(here) > 1:
                    return None, OVERVOTES
            if here:
                return here[0], ""
        return None, NO_CHOICE

    def _set_threshold(self, votes: dict[str, int]) -> None:
        """What a winner needs: found anew each round for one seat until somebody has it, else in the first round."""
        rules = self.rules
        fixed = rules.first_threshold or rules.mode in (*_SEATS, BOTTOMS_UP)
        if self.rounds and (fixed or self.elected):
            return
        self.threshold = max(self._share_needed(votes), Fraction(rules.least_votes))

    def _share_needed(self, votes: dict[str, int]) -> Fraction:
        rules = self.rules
        active = Fraction(sum(votes.values()), self.unit)
        if rules.mode == PERCENTAGE:
            return active * (rules.percentage or 0) / 100
        unit = self.unit if rules.fractional else 1
        if rules.hare:
            return Fraction(-(-active * unit // self.seats), unit)
        return Fraction(active * unit // (self.seats + 1) + 1, unit)

    def _decide(self, votes: dict[str, int]) -> tuple[list[str], list[str]]:
        """Who is elected by these votes, or else who goes."""
        if self._has_undeclared(votes):  # nobody is elected before they are gone
            if self.rules.cutoff:
                raise WrongUse(
                    "cutoffElimination is not counted with votes for undeclared write-ins; leave one of them out"
                )
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

    def _has_undeclared(self, votes: dict[str, int]) -> bool:
        return UNDECLARED in self.continuing and votes[UNDECLARED] > 0

    def _winners(self, votes: dict[str, int]) -> list[str]:
        mode, left = self.rules.mode, self.seats - len(self.elected)
        needed = self.threshold * self.unit
        if mode == PERCENTAGE:
            return [] if self._not_above(votes) else list(self.continuing)
        if mode == BOTTOMS_UP:
            return list(self.continuing) if len(self.continuing) <= self.seats else []
        if not left or not self.continuing:
            return []
        if mode in _SEATS and len(self.continuing) <= left:
            return list(self.continuing)
        reached = [name for name in self.continuing if votes[name] >= needed and name != UNDECLARED]
        if mode == SEVERAL:
            return self._most(reached, votes, left)
        if mode not in _SEATS and not reached and len(self.continuing) <= 2 and not self._few(votes):
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
        """Who goes: all below the least number of votes, then all below the cutoff, then a batch, then the last."""
        going = [name for name in self.continuing if name not in self.elected]
        if few := self._few(votes) or (self._not_above(votes) if self.rules.cutoff and not self.rounds else []):
            if len(few) == len(self.continuing):
                raise WrongUse(
                    "all candidates have fewer votes than the configuration asks for, so the count cannot go on"
                )
            return few
        if self.rules.batch and self.rules.mode in (SINGLE, PASSES):
            batch = self._batch(votes, going)
            if len(batch) > 1:
                return batch
        fewest = min(votes[name] for name in going)
        last = [name for name in going if votes[name] == fewest]
        return last if len(last) == 1 else [self.ties.choose(last, self.rounds, wins=False)]

    def _few(self, votes: dict[str, int]) -> list[str]:
        """Who has fewer votes than the least number to stay in."""
        return [name for name in self.continuing if votes[name] < self.rules.least_votes * self.unit]

    def _not_above(self, votes: dict[str, int]) -> list[str]:
        """Who has not more than the percentage; whoever has exactly that is told, as RCTab's manual lets them in."""
        needed = self.threshold * self.unit
        for name in self.continuing:
            sentence = f"{name} has exactly the threshold in round {len(self.rounds) + 1}, and more is needed."
            if votes[name] == needed and sentence not in self.ties.remarks:
                self.ties.remarks.append(sentence)
        return [name for name in self.continuing if votes[name] <= needed]

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
                tally = votes if self.script is None else _in_units(self.script[len(self.rounds) - 1], self.unit)
                self._surplus(name, tally[name], last=full)
        for pile in self.piles:
            if pile.holder in out:
                pile.origin, pile.holder = pile.holder, None

    def _surplus(self, name: str, votes: int, *, last: bool) -> None:
        """Each ballot goes on with the share of its value that was not needed, cut after the last place."""
        quota = int(self.threshold * self.unit)
        surplus = max(0, votes - quota)
        share = self.unit * surplus // votes if surplus else 0
        kept = moved = 0
        for pile in self.piles:
            if pile.holder == name:
                goes = pile.value * share // self.unit
                kept, moved = kept + pile.weight * (pile.value - goes), moved + pile.weight * goes
                pile.value, pile.origin, pile.holder = goes, name, None
                pile.done = last or not goes
        if last:
            self.last_surplus += moved
            self._note(name, LAST_SURPLUS, moved)
        self._note(name, ROUNDING, surplus - moved if self.script is None else 0)
        self.kept[name] = min(votes, quota) if self.script is None else kept


def _in_units(counted: ConfiguredRound, unit: int) -> dict[str, int]:
    return {name: int(votes * unit) for name, votes in counted.tally}


_SKIP: Final = "alwaysSkipToNextRank"


# --- ties as Java breaks them --------------------------------------------------------------------------------------


_BUCKETS: Final = 16  # of the smallest table
_MOST_IN_ONE: Final = 8  # names in a bucket, beyond which Java builds it anew


def java_sorted(names: Iterable[str]) -> list[str]:
    """Names in the order of Java's strings: by units of UTF-16."""
    return sorted(names, key=lambda name: name.encode("utf-16-be", "surrogatepass"))


def hash_order(names: Sequence[str]) -> list[str]:
    """Names in the order in which a `java.util.HashSet` made of them gives them: by bucket, then as they came.

    Guarantee: the order is Java's, or the names are refused: more than eight in a bucket, where Java changes the table.
    """
    buckets = _BUCKETS
    while buckets < len(names) * 4 // 3 + 1:
        buckets *= 2
    places: dict[int, list[str]] = {}
    for name in names:
        places.setdefault(_java_hash(name) & (buckets - 1), []).append(name)
    if max(map(len, places.values()), default=0) > _MOST_IN_ONE:
        raise WrongUse("RCTab's order of so many equal candidates cannot be told; break ties by useCandidateOrder")
    return [name for _, here in sorted(places.items()) for name in here]


def _java_hash(name: str) -> int:
    code = 0
    units = name.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    return code ^ code >> 16


_FACTOR: Final = 0x5DEECE66D
_ADDED: Final = 0xB
_WORD: Final = (1 << 48) - 1


class JavaDice:
    """The numbers that a seed gives, one after the other."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _FACTOR) & _WORD

    def _bits(self, many: int) -> int:
        self._state = (self._state * _FACTOR + _ADDED) & _WORD
        return self._state >> (48 - many)

    def index(self, below: int) -> int:
        """A place in a list: a fraction of 53 bits (nextDouble) times its length, cut to a whole number."""
        fraction = (self._bits(26) << 27) + self._bits(27)
        return fraction * below >> 53

    def below(self, bound: int) -> int:
        """A number below `bound` (nextInt)."""
        if not bound & (bound - 1):
            return bound * self._bits(31) >> 31
        while True:
            bits = self._bits(31)
            if bits - bits % bound + bound - 1 < 1 << 31:
                return bits % bound

    def shuffle(self, names: Sequence[str]) -> list[str]:
        """The names in another order (Collections.shuffle)."""
        out = list(names)
        for i in range(len(out), 1, -1):
            j = self.below(i)
            out[i - 1], out[j] = out[j], out[i - 1]
        return out
