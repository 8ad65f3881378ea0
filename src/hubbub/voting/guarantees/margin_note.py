"""Whether a margin struck anybody out, and what the count was where it did not."""

from __future__ import annotations

from hubbub.voting.guarantees.efficiency import that_ran
from hubbub.voting.result import Result
from hubbub.voting.rules.elimination import ApproximateRunoff, RepeatedPlurality, ScoringElimination


def nobody_struck_out(result: Result) -> str | None:
    """One sentence where a rule with a margin struck nobody out; None where it did, or has none.

    Guarantee: "could" is said only where the margin is at least the highest count, so that no counts of so many votes
    could have been further apart.
    """
    rule = that_ran(result)
    if not isinstance(rule, RepeatedPlurality | ApproximateRunoff | ScoringElimination):
        return None
    counted = next((counted for counted in result.rounds if counted.margin is not None), None)
    if counted is None or counted.margin is None or any(each.eliminated for each in result.rounds):
        return None
    if len(result.candidates) < 2:
        return None
    most, margin = max(count for _, count in counted.counts), counted.margin
    what = "points" if counted.what == "points" else "count"
    if isinstance(rule, ScoringElimination):
        two = rule.plurality_of_two and len(result.candidates) == 2
        so = "this count was plain plurality" if two else f"{rule.then.name} chose among all of them"
    else:
        so = "this count was plain plurality"
    if margin >= most:
        past = "exceeds" if margin > most else "equals"
        return f"Nobody could be struck out: the margin ({margin:,}) {past} the highest {what} ({most:,}), so {so}."
    return f"Nobody was struck out: all are within the margin ({margin:,}) of each other, so {so}."
