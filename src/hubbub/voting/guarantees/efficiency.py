"""What the ballots that were cast say of a count: whether the winner is Pareto efficient and close to optimal, and whether a
margin struck anybody out."""

from __future__ import annotations

import numpy as np

from hubbub.errors import Refused
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.voting.ballots import Ballots
from hubbub.voting.protocol import Lottery, Rule
from hubbub.voting.result import Result
from hubbub.voting.rules.elimination import ApproximateRunoff, RepeatedPlurality, ScoringElimination
from hubbub.voting.rules.piles import top_counts
from hubbub.voting.rules.points import Borda, Plurality, Positional, scores
from hubbub.voting.rules.punishing import Mix, Punishing
from hubbub.voting.rules.runoff import InstantRunoff
from hubbub.voting.ties import RANDOM


def pareto(ballots: Ballots, winner: int) -> Verdict:
    """Whether no candidate is preferred to the winner by every voter (thesis, before Definition 73).

    A voter prefers whom she ranks to whom she does not. Of two she leaves out she prefers neither.

    Guarantee: Refuted with a candidate whom all voters prefer, if there is one; else Proved. Exact.
    """
    above = _above(ballots.strictly("a check of efficiency"), winner)
    above[winner] = -1
    other = int(np.argmax(above))
    name, count, voters = ballots.candidates[other], int(above[other]), ballots.voters
    if count == voters:
        return Refuted(
            "every voter prefers another candidate to the winner",
            (("winner", ballots.candidates[winner]), ("preferred", name), ("voters", str(voters))),
        )
    return Proved(f"no candidate is above the winner on all {voters:,} ballots; {name} comes closest, with {count:,}")


def _above(ballots: Ballots, winner: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """How many voters prefer each candidate to the winner."""
    m = len(ballots.candidates)
    above = np.zeros(m + 1, dtype=np.int64)  # the last takes what stands for nobody
    before = np.ones(len(ballots.rankings), dtype=np.bool_)  # whether the winner has not come yet
    for position in range(m):
        column = ballots.rankings[:, position]
        before &= column != winner
        np.add.at(above, column, np.where(before, ballots.weights, 0))
    return above[:m].copy()


def close_to_optimal(result: Result, ballots: Ballots) -> Verdict:
    """Whether the winner's score is within the rule's margin of the best score, on all ballots.

    For repeated plurality the score is the number of first choices (Theorem 78), for scoring elimination the points
    (Theorem 89); rules that elect whoever scores best have the margin 0. Other rules promise nothing of the kind.

    Guarantee: Proved and Refuted are exact; Undecided says that there is no claim to check, and how far the winner is,
    or that the claim is empty because every candidate is within the margin.
    """
    rule, winner = that_ran(result), result.winner
    within = next((counted.margin for counted in result.rounds if counted.margin is not None), 0)
    if isinstance(rule, Positional | Borda):
        totals, what = scores(rule.points_for(len(ballots.candidates)), ballots), "points"
    elif isinstance(rule, ScoringElimination):
        totals, what = scores(rule.stage.points(len(ballots.candidates)), ballots), "points"
    else:
        totals, what = top_counts(ballots)[0], "first choices"
    best = max(range(len(totals)), key=totals.__getitem__)
    behind = totals[best] - totals[winner]
    if not isinstance(rule, Positional | Borda | Plurality | RepeatedPlurality | ScoringElimination):
        place = f"is {behind:,} {what} behind the best" if behind else f"has the most {what}"
        return Undecided(f"{rule.name} does not claim it; the winner {place}")
    if within and max(totals) - min(totals) <= within:
        return Undecided(f"it would say nothing here: all candidates are within the margin of {within:,} {what}")
    if behind <= within:
        return Proved(f"the winner is {behind:,} {what} behind the best, and the margin is {within:,}")
    return Refuted(
        "the winner is further behind the best than the margin",
        (
            ("winner", ballots.candidates[winner]),
            ("best", ballots.candidates[best]),
            ("behind", str(behind)),
            ("margin", str(within)),
        ),
    )


def that_ran(result: Result) -> Rule:
    """Of a mix the rule that was drawn: its claim is not about the punishing rule.

    Guarantee: the rule whose rounds the result holds.
    """
    rule = result.rule
    if not isinstance(rule, Mix):
        return rule
    names = [draw.chosen for draw in result.draws]
    punished = rule.probability == 1 or names[:1] == [Punishing().name]
    return Punishing() if punished else rule.rule


# --- whether a margin struck anybody out --------------------------------------------------------------------------


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
