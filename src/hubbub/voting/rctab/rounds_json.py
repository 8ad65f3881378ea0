"""A count as RCTab writes its detailed report in JSON, which RCVis and other viewers read."""

from __future__ import annotations

from typing import Any, Final

from hubbub.numeric.exact import to_text
from hubbub.voting.formats.vendors.rctab_config import PASSES, Configuration
from hubbub.voting.rctab.result import (
    EXHAUSTED,
    LAST_SURPLUS,
    NO_CHOICE,
    OVERVOTES,
    REPEATED,
    ROUNDING,
    SKIPPED,
    ConfiguredCount,
    ConfiguredRound,
)

_INACTIVE: Final = {
    NO_CHOICE: "exhaustedChoices",
    OVERVOTES: "overvotes",
    REPEATED: "repeatedRankings",
    SKIPPED: "skippedRankings",
}
_NOWHERE: Final = {EXHAUSTED: "exhausted", LAST_SURPLUS: "exhausted", ROUNDING: "residual surplus"}


def rounds_report(
    configuration: Configuration, counted: ConfiguredCount, at: int = 0, unit: tuple[str, str] | None = None
) -> dict[str, Any]:
    """The report of one pass, of the whole contest or of one unit (precinct or batch, and its name)."""
    rounds = counted.passes[at]
    contest = {
        "contest": configuration.title,
        "date": configuration.date,
        "generatedBy": _software(),
        "jurisdiction": configuration.jurisdiction,
        "office": configuration.office,
    }
    return {
        "config": contest if unit is None else contest | {unit[0]: unit[1]},
        "jsonFormatVersion": "1",
        "results": [_round(number, each) for number, each in enumerate(rounds, 1)],
        "summary": {
            "finalThreshold": to_text(rounds[-1].threshold),
            "numCandidates": len(counted.candidates),
            "numWinners": 1 if configuration.rules.mode == PASSES else configuration.rules.winners,
            "totalNumBallots": str(counted.cast),
            "undervotes": counted.undervotes,
        },
    }


def _software() -> str:
    import hubbub

    return f"hubbub {hubbub.__version__}"


def _round(number: int, counted: ConfiguredRound) -> dict[str, Any]:
    inactive = {_INACTIVE[why]: to_text(votes) for why, votes in counted.inactive}
    if counted.last_surplus:
        inactive["finalRoundSurplus"] = to_text(counted.last_surplus)
    decided = [("elected", name) for name in counted.elected] + [("eliminated", name) for name in counted.eliminated]
    return {
        "inactiveBallots": inactive,
        "round": number,
        "tally": {name: to_text(votes) for name, votes in sorted(counted.tally)},
        "tallyResults": [{what: name, "transfers": _transfers(counted, name)} for what, name in decided],
        "threshold": to_text(counted.threshold),
    }


def _transfers(counted: ConfiguredRound, name: str) -> dict[str, str]:
    """To whom the votes of a candidate go: votes that nobody gets are called as RCTab calls them."""
    sums: dict[str, Any] = {}
    for each in counted.moves:
        if each.origin == name:
            target = _NOWHERE.get(each.target, each.target)
            sums[target] = sums.get(target, 0) + each.votes
    return {target: to_text(votes) for target, votes in sorted(sums.items())}
