"""Elimination, then selection: the thesis's frame for elections in which a lie hardly pays (Theorem 77).

Stage 1 strikes candidates out by a count with a margin so wide that one voter hardly ever changes who is left. Stage 2
chooses among those by a rule that rewards no lie, given what a voter with a coarse belief expects of them.

======================  ==========================================  =========================================
rule                    stage 1                                     stage 2
======================  ==========================================  =========================================
RepeatedPlurality       `NearBest`, again and again                 plurality
ApproximateRunoff       all but `NearWorst`, again and again        plurality
ScoringElimination      `NearBestScore`, once                       any strategy-proof rule
EliminateThenSelect     any of these                                any rule
======================  ==========================================  =========================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import ClassVar, Final, Protocol

from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import Chance
from hubbub.voting.protocol import FromTops, Lottery, Rule
from hubbub.voting.result import Result, Round, Transfer
from hubbub.voting.rules import margins
from hubbub.voting.rules.piles import Piles, top_counts
from hubbub.voting.rules.points import Borda, Plurality, Positional, points_range, scores
from hubbub.voting.rules.selection import FirstInOrder, Lot
from hubbub.voting.rules.threshold import ForGain, Margin, threshold
from hubbub.voting.ties import RANDOM, Ties

# Stage 1 of an election in two stages: who is left after a count with a margin. It draws nothing.


DEFAULT: Final = ForGain()


@dataclass(frozen=True, slots=True)
class Kept:
    """Who is left after stage 1, the rounds that led there, and their top choices among themselves, if counted."""

    remaining: tuple[int, ...]
    rounds: tuple[Round, ...]
    tops: tuple[int, ...] | None


class Elimination(Protocol):
    """Stage 1: which candidates are left. It draws nothing."""

    def strike_out(self, ballots: Ballots) -> Kept: ...  # pragma: no cover


@dataclass(frozen=True, slots=True, kw_only=True)
class NearBest:
    """Until nobody goes: count top choices, and strike out all whose count is not within the margin of the highest."""

    margin: Margin = DEFAULT

    def strike_out(self, ballots: Ballots) -> Kept:
        within = threshold(self.margin, margins.REPEATED_PLURALITY, ballots.voters, len(ballots.candidates))
        return _repeatedly(ballots, within, lambda count, least, most: most - count > within)


@dataclass(frozen=True, slots=True, kw_only=True)
class NearWorst:
    """Strike out all whose count of top choices is within the margin of the lowest, again, unless nobody would stay."""

    margin: Margin = DEFAULT

    def strike_out(self, ballots: Ballots) -> Kept:
        within = threshold(self.margin, margins.APPROXIMATE_RUNOFF, ballots.voters, len(ballots.candidates))
        return _repeatedly(ballots, within, lambda count, least, most: count - least <= within < most - least)


class _Goes(Protocol):
    def __call__(self, count: int, least: int, most: int) -> bool: ...  # pragma: no cover


def _repeatedly(ballots: Ballots, within: int, goes: _Goes) -> Kept:
    piles = Piles(ballots)
    left, rounds = list(range(len(ballots.candidates))), list[Round]()
    while True:
        counts = tuple((i, piles.counts[i]) for i in left)
        values = [count for _, count in counts]
        least, most = min(values), max(values)
        out = [i for i, count in counts if goes(count, least, most)]
        exhausted = piles.exhausted
        transfers = piles.strike(out) if out else ()
        rounds.append(
            Round(counts=counts, eliminated=tuple(out), margin=within, exhausted=exhausted, transfers=transfers)
        )
        if not out:
            return Kept(tuple(left), tuple(rounds), tuple(values))
        left = [i for i in left if i not in out]


@dataclass(frozen=True, slots=True, kw_only=True)
class NearBestScore:
    """Score once, and strike out all whose score is not within the margin of the highest."""

    scoring: Plurality | Positional | Borda = field(default_factory=Borda)
    margin: Margin = DEFAULT

    def points(self, candidates: int) -> tuple[int, ...]:
        if isinstance(self.scoring, Plurality):
            return (1, *(0,) * (candidates - 1))
        return self.scoring.points_for(candidates)

    def strike_out(self, ballots: Ballots) -> Kept:
        points = self.points(len(ballots.candidates))
        span = points_range(points, truncated=ballots.truncated_voters > 0)
        within = threshold(self.margin, margins.SCORING, ballots.voters, len(ballots.candidates), span)
        totals = scores(points, ballots)
        most = max(totals)
        out = tuple(i for i, total in enumerate(totals) if most - total > within)
        counted = Round(
            counts=tuple(enumerate(totals)), eliminated=out, margin=within, exhausted=ballots.blank, what="points"
        )
        return Kept(tuple(i for i in range(len(totals)) if i not in out), (counted,), None)


class TwoStages:
    """A rule that strikes candidates out, and then lets another rule choose among those who are left."""

    __slots__ = ()
    name: ClassVar[str]
    ties: Ties

    @property
    def stage(self) -> Elimination:
        raise NotImplementedError

    def last(self, remaining: int) -> Rule:
        """The rule that chooses among so many."""
        return Plurality(ties=self.ties)

    def lottery(self, ballots: Ballots) -> Lottery:
        """The exact law of the winner."""
        kept = self.stage.strike_out(ballots.strictly("an elimination"))
        last = self.last(len(kept.remaining))
        if isinstance(last, FromTops):
            left = [ballots.candidates[i] for i in kept.remaining]
            second = last.chances(_count_last(last, kept, ballots).tops or (), left)
        else:
            second = last.lottery(ballots.restrict_to(kept.remaining))
        law = [Fraction(0)] * len(ballots.candidates)
        for i, chance in zip(kept.remaining, second, strict=True):
            law[i] = chance
        return tuple(law)

    def run(self, ballots: Ballots, source: Source) -> Result:
        """Both stages, recorded."""
        names = ballots.strictly(self.name).candidates
        kept = self.stage.strike_out(ballots)
        last = self.last(len(kept.remaining))
        if isinstance(last, FromTops):
            kept = _count_last(last, kept, ballots)
            chance = Chance(source)
            left = [names[i] for i in kept.remaining]
            winner = kept.remaining[chance.pick(last.why, left, last.chances(kept.tops or (), left))]
            return chance.result(self, ballots, winner, kept.rounds)
        chosen = last.run(ballots.restrict_to(kept.remaining), source)
        rounds = (*kept.rounds, *(_renumber_round(counted, kept.remaining) for counted in chosen.rounds))
        return replace(
            chosen,
            rule=self,
            candidates=names,
            voters=ballots.voters,
            winner=kept.remaining[chosen.winner],
            rounds=rounds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EliminateThenSelect(TwoStages):
    """`select`, run on the ballots restricted to whom `eliminate` leaves; with two left perhaps `select_of_two`.

    Guarantee: Theorem 77. If a voter believes that, whatever she reports, `eliminate` leaves one and the same set A
    but for a chance of at most delta, and if `select` rewards no lie under her belief restricted to A, then no lie
    gains her more than 2 delta, for every utility in [0, 1].
    """

    eliminate: Elimination
    select: Rule
    select_of_two: Rule | None = None

    name = "eliminate-then-select"

    @property
    def stage(self) -> Elimination:
        return self.eliminate

    def last(self, remaining: int) -> Rule:
        return self.select if self.select_of_two is None or remaining != 2 else self.select_of_two


@dataclass(frozen=True, slots=True, kw_only=True)
class RepeatedPlurality(TwoStages):
    """Repeated plurality elimination, then plurality (thesis, Example 20).

    Until nobody goes, all whose count of top choices is not within the margin of the highest are struck out. Of those
    who are left the one with the most top choices wins.

    Guarantee: with ties drawn at random and the margin B, no lie gains a voter with an alpha-coarse belief more than
    Theorem B1 says (`margins`). The winner is Pareto efficient, and their first choices are within B of the most
    (Theorem 78, for every B >= 0).
    """

    margin: Margin = DEFAULT
    ties: Ties = RANDOM

    name = "repeated-plurality"
    kind = margins.REPEATED_PLURALITY

    @property
    def stage(self) -> NearBest:
        return NearBest(margin=self.margin)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApproximateRunoff(TwoStages):
    """Approximate instant-runoff voting (thesis, Example 21).

    Repeatedly all whose count of top choices is within the margin of the lowest are struck out, unless nobody would
    stay; then the one with the most top choices wins.

    Guarantee: with ties drawn at random and the margin B, no lie gains a voter with an alpha-coarse belief more than
    Theorem B1 says (`margins`). The winner is Pareto efficient (Theorem 79, for every B >= 0).
    """

    margin: Margin = DEFAULT
    ties: Ties = RANDOM

    name = "approximate-runoff"
    kind = margins.APPROXIMATE_RUNOFF

    @property
    def stage(self) -> NearWorst:
        return NearWorst(margin=self.margin)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringElimination(TwoStages):
    """Scoring elimination, then a choice that does not depend on the ballots (thesis, Example 23).

    All whose score is not within the margin of the highest are struck out; `then` chooses among the others. It may be
    any strategy-proof rule: `Lot`, `FirstInOrder`, `RandomDictator`. With `plurality_of_two`, plurality decides where
    two are left, since between two no lie helps.

    Guarantee: with points that range over R and the margin B, no lie gains a voter with an alpha-coarse belief more
    than Theorem B1 says with R (`margins`). The winner's score is within B of the best, and the winner is Pareto
    efficient if points fall strictly and B < n (Theorem 89).
    """

    scoring: Plurality | Positional | Borda = field(default_factory=Borda)
    margin: Margin = DEFAULT
    then: Rule = field(default_factory=Lot)
    plurality_of_two: bool = False

    name = "scoring-elimination"
    kind = margins.SCORING

    @property
    def stage(self) -> NearBestScore:
        return NearBestScore(scoring=self.scoring, margin=self.margin)

    def last(self, remaining: int) -> Rule:
        return Plurality() if self.plurality_of_two and remaining == 2 else self.then


def _count_last(last: FromTops, kept: Kept, ballots: Ballots) -> Kept:
    """With the top choices among those who are left, where the last stage looks at any."""
    if kept.tops is not None or isinstance(last, Lot | FirstInOrder):
        return kept
    counted = _top_round(kept.remaining, ballots)
    return Kept(kept.remaining, (*kept.rounds, counted), tuple(count for _, count in counted.counts))


def _top_round(remaining: Sequence[int], ballots: Ballots) -> Round:
    """The top choices among some candidates."""
    if len(remaining) == len(ballots.candidates):
        counts, exhausted = top_counts(ballots)
    else:
        piles = Piles(ballots)
        piles.strike([i for i in range(len(ballots.candidates)) if i not in set(remaining)])
        counts, exhausted = piles.counts, piles.exhausted
    return Round(counts=tuple((i, counts[i]) for i in remaining), exhausted=exhausted)


def _renumber_round(counted: Round, remaining: Sequence[int]) -> Round:
    """A round of an election among some, with the numbers they have among all."""
    return Round(
        counts=tuple((remaining[i], count) for i, count in counted.counts),
        eliminated=tuple(remaining[i] for i in counted.eliminated),
        margin=counted.margin,
        exhausted=counted.exhausted,
        transfers=tuple(
            Transfer(
                origin=remaining[moved.origin],
                target=None if moved.target is None else remaining[moved.target],
                ballots=moved.ballots,
            )
            for moved in counted.transfers
        ),
        what=counted.what,
    )
