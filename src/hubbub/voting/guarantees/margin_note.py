"""Whether a margin struck anybody out, and what the count was where it did not."""

from __future__ import annotations

from hubbub.errors import Refused
from hubbub.voting.ballots import Ballots
from hubbub.voting.guarantees.efficiency import that_ran
from hubbub.voting.protocol import Lottery
from hubbub.voting.result import Result
from hubbub.voting.rules.elimination import ApproximateRunoff, RepeatedPlurality, ScoringElimination
from hubbub.voting.rules.runoff import InstantRunoff
from hubbub.voting.ties import RANDOM


def no_elimination_note(result: Result) -> str | None:
    """One sentence where a rule with a margin struck nobody out; None where it did, or has none.

    Guarantee: "too few" is said only where the margin is at least the number of voters, so that no ballots of so many
    could have been counted further apart.
    """
    rule = that_ran(result)
    if not isinstance(rule, RepeatedPlurality | ApproximateRunoff | ScoringElimination):
        return None
    counted = next((counted for counted in result.rounds if counted.margin is not None), None)
    if counted is None or counted.margin is None or any(each.eliminated for each in result.rounds):
        return None
    if len(result.candidates) < 2:
        return None
    near = f"all are within the margin ({counted.margin:,}) of each other"
    if isinstance(rule, ScoringElimination) and not (rule.plurality_of_two and len(result.candidates) == 2):
        return f"Nobody was struck out: {near}, so {rule.then.name} chose among all of them."
    if counted.what != "points" and counted.margin >= result.voters:
        near = f"{result.voters:,} voters are too few for this rule to strike anybody out"
    return f"Only first choices were counted: {near}."


def runoff_instead(result: Result, ballots: Ballots) -> Lottery | None:
    """Who would win by instant runoff where nobody was struck out; None elsewhere, and where ties branch too much.

    Guarantee: the exact law of that winner, ties broken as the rule that ran breaks them; nothing is drawn.
    """
    if no_elimination_note(result) is None or len(ballots.levels):
        return None
    rule = that_ran(result)
    ties = rule.ties if isinstance(rule, RepeatedPlurality | ApproximateRunoff) else RANDOM
    try:
        return InstantRunoff(ties=ties).lottery(ballots)
    except Refused:
        return None


def runoff_sentence(result: Result, law: Lottery) -> str:
    """Whether instant runoff elects somebody else.

    Guarantee: "wins" without a draw is said only of who wins with certainty.
    """
    may = [i for i, chance in enumerate(law) if chance]
    if may == [result.winner]:
        return "By instant runoff the same candidate wins."
    names = [result.candidates[i] for i in may]
    if len(names) == 1:
        return f"By instant runoff {names[0]} wins (--rule instant-runoff)."
    among = " or ".join(names) if len(names) < 4 else f"one of {len(names):,} candidates"
    return f"By instant runoff a draw decides that {among} wins (--rule instant-runoff)."
