"""The small transfers of official election rounds: totals that every office prints point at few people."""

from __future__ import annotations

from typing import Final

from hubbub.audit.attacks.story import Story
from hubbub.kinds.ballots.giveaways import FEW, official_moves
from hubbub.voting.count.official import Official, OfficialRound

RECORD: Final = Official(
    rounds=(
        OfficialRound(totals=(("Ash", 412), ("Birch", 388), ("Elm", 61), ("Oak", 9))),
        OfficialRound(totals=(("Ash", 414), ("Birch", 389), ("Elm", 66))),
        OfficialRound(totals=(("Ash", 437), ("Birch", 424))),
    ),
    winner="Ash",
)
"""Invented."""


def transfers() -> Story:
    """Which ballots moved from one round to the next, from the official totals alone."""
    moves = official_moves(RECORD)
    return Story(
        name="transfers",
        title="Official round totals show where single ballots went",
        sentences=(
            f"Nine voters put Oak first. The totals of the next round tell that two of them had Ash next, one Birch, "
            f"five Elm, and one nobody. Of {moves.all} moves between the rounds, {moves.few} are of fewer than {FEW} "
            f"ballots and {moves.single} of a single one.",
        ),
        numbers={"moves": moves.all, "few": moves.few, "single": moves.single},
        bars=(
            ("moves of ballots", float(moves.all), str(moves.all)),
            (f"of fewer than {FEW}", float(moves.few), str(moves.few)),
            ("of a single ballot", float(moves.single), str(moves.single)),
        ),
        axis="moves from one round to the next",
        protects=(
            "No table published beside the record can undo that; hubbub vote publish says so, and promises about the "
            "table alone. An office can print the rounds of small candidates together."
        ),
    )
