"""A count by any rule as the rounds of an office's report, in all and by precinct, so that the same files hold it.

A rule that is no elimination has one round. What a rule counts in a round stays what it is: top choices, points or
approvals. Only what can be added up is counted by precinct: top choices, approvals and scores; of seats that are filled by
transfers the first preferences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.vendors.rctab_config import (
    SEVERAL,
    SINGLE,
    Candidate,
    Configuration,
    TabulationRules,
)
from hubbub.voting.rctab.exports import UNNAMED, UnitCounts, check_sums
from hubbub.voting.rctab.result import (
    EXHAUSTED,
    NO_CHOICE,
    REASONS,
    ROUNDING,
    ConfiguredCount,
    ConfiguredRound,
    Move,
)
from hubbub.voting.result import Result, Round
from hubbub.voting.rules.points import level_points
from hubbub.voting.rules.stv_result import Seats, Stage

Answer = Result | Seats

_TOPS: Final = "top choices"
_VARIATIONS: Final = {"approval": "approval", "borda": "borda", "plurality": "plurality", "score": "range"}


def answer_configuration(answer: Answer, file: BallotFile) -> Configuration:
    """What the files say about the contest: its title, who stands, how many are elected."""
    seats = answer.rule.seats if isinstance(answer, Seats) else 1
    rules = TabulationRules(
        mode=SEVERAL if seats > 1 else SINGLE, winners=seats, ties="random", overvotes="exhaustImmediately"
    )
    return Configuration(
        title=file.title or "Election",
        date="",
        jurisdiction="",
        office="",
        sources=(),
        candidates=tuple(Candidate(name=name) for name in answer.candidates),
        rules=rules,
    )


def vote_variation(answer: Answer) -> str:
    """How the common data format calls the rule; what it has no word for is "other"."""
    if isinstance(answer, Seats) or (all(each.what == _TOPS for each in answer.rounds) and len(answer.rounds) > 1):
        return "rcv"
    return _VARIATIONS.get(answer.rule.name, "rcv" if answer.rule.name == "instant-runoff" else "other")


def answer_rounds(answer: Answer, ballots: Ballots) -> ConfiguredCount:
    """The count as rounds: votes of everybody who is in, who is elected, who goes, where votes went."""
    names, blank = answer.candidates, ballots.blank
    if isinstance(answer, Seats):
        rounds = [_of_stage(answer, at, blank) for at in range(len(answer.stages))]
        winners: tuple[str, ...] = answer.winner_names
    else:
        rounds = [_of_round(each, names, blank) for each in answer.rounds]
        winners = (answer.winner_name,)
        rounds[-1] = replace(rounds[-1], elected=winners)
    return ConfiguredCount(
        title="",
        candidates=names,
        cast=answer.voters,
        undervotes=blank,
        passes=(tuple(rounds),),
        winners=winners,
        ties=(),
        mode=answer.rule.name,
    )


def _inactive(votes: Fraction | int) -> tuple[tuple[str, Fraction], ...]:
    return tuple((why, Fraction(votes) if why == NO_CHOICE else Fraction(0)) for why in REASONS)


def _of_round(counted: Round, names: Sequence[str], blank: int) -> ConfiguredRound:
    votes = [count for _, count in counted.counts]
    return ConfiguredRound(
        Fraction(sum(votes) // 2 + 1 if counted.what == _TOPS else 0),
        tuple((names[i], Fraction(count)) for i, count in counted.counts),
        _inactive(counted.exhausted - blank if counted.what == _TOPS else 0),
        eliminated=tuple(names[i] for i in counted.eliminated),
        moves=tuple(
            Move(names[move.origin], EXHAUSTED if move.target is None else names[move.target], Fraction(move.ballots))
            for move in counted.transfers
        ),
    )


def _of_stage(answer: Seats, at: int, blank: int) -> ConfiguredRound:
    """A stage shows votes after papers moved; a round shows them before, so what moved is of the stage that follows."""
    names, stage = answer.candidates, answer.stages[at]
    gone = {i for each in answer.stages[: at + 1] if each.what == "exclusion" for i in each.of}
    after = answer.stages[at + 1] if at + 1 < len(answer.stages) else None
    return ConfiguredRound(
        answer.quota,
        tuple((names[i], votes) for i, votes in stage.totals if i not in gone or votes),
        _inactive(stage.exhausted),
        elected=tuple(names[i] for i in stage.elected),
        eliminated=tuple(names[i] for i in (after.of if after and after.what == "exclusion" else ()) if i not in gone),
        moves=() if after is None else (*_moves(after, names), *_votes_lost(stage, after, names)),
    )


def _moves(stage: Stage, names: Sequence[str]) -> list[Move]:
    found = stage.moved
    return [Move(names[m.origin], EXHAUSTED if m.target is None else names[m.target], m.votes) for m in found]


def _votes_lost(before: Stage, after: Stage, names: Sequence[str]) -> list[Move]:
    lost = after.lost - before.lost
    return [Move(names[after.of[0]], ROUNDING, lost)] if lost and after.of else []


def answer_by_precinct(answer: Answer, file: BallotFile) -> tuple[UnitCounts, ...]:
    """The count precinct by precinct.

    Guarantee: in every round the votes of each candidate, and the ballots that count for nobody, add up over all precincts
    to those of the whole. Each precinct is counted from its own ballots.
    """
    if not file.units:
        return ()
    contest = answer_rounds(answer, file.ballots)
    if isinstance(answer, Seats):
        first = replace(contest.passes[0][0], moves=())
        contest = replace(contest, passes=((first,),))
    counted = {name or UNNAMED: _of_part(answer, part, contest) for name, part in file.units.items()}
    check_sums(contest, counted, "precinct")
    return (UnitCounts("precinct", counted),)


def _of_part(answer: Answer, part: Ballots, contest: ConfiguredCount) -> ConfiguredCount:
    blank = part.blank
    rounds = tuple(_part_round(answer, each, part, blank) for each in contest.passes[0])
    return replace(contest, cast=part.voters, undervotes=blank, passes=(rounds,))


def _part_round(answer: Answer, contest: ConfiguredRound, part: Ballots, blank: int) -> ConfiguredRound:
    names = [name for name, _ in contest.tally]
    votes = _votes(answer, names, part)
    elsewhere = part.voters - blank - sum(votes.values()) if _counts_tops(answer) else 0
    return replace(
        contest, tally=tuple((name, Fraction(votes[name])) for name in names), inactive=_inactive(elsewhere), moves=()
    )


def _counts_tops(answer: Answer) -> bool:
    return isinstance(answer, Seats) or all(each.what == _TOPS for each in answer.rounds)


def _votes(answer: Answer, names: Sequence[str], part: Ballots) -> Mapping[str, int]:
    if not isinstance(answer, Seats) and answer.rule.name in ("approval", "score"):
        points = level_points(part, getattr(answer.rule, "top", 1), answer.rule.name)
        return dict(zip(part.candidates, points, strict=True))
    if not _counts_tops(answer) or len(part.levels):
        raise WrongUse(
            f"{answer.rule.name} has no counts that add up over precincts; choose a rule that counts top choices, approval "
            "or score, or leave out `precinct`"
        )
    left = part.restrict_to([part.candidates.index(name) for name in names])
    votes = dict.fromkeys(names, 0)
    for row, weight in zip(left.rankings.tolist(), left.weights.tolist(), strict=True):
        if row[0] >= 0:
            votes[names[row[0]]] += weight
    return votes


def precincts_json(counts: Sequence[UnitCounts]) -> dict[str, dict[str, Mapping[str, int]]]:
    """The first round of each precinct, for a glance; contest numbers."""
    return {
        each.what: {
            name: {who: int(votes) for who, votes in part.passes[0][0].tally} for name, part in each.units.items()
        }
        for each in counts
    }
