"""What official round totals give away by themselves, and what is left of them beside exact paths.

From one round to the next every candidate gains ballots from those who went. Such a move of few ballots points at few
people, and no publication of ours can undo that. Beside exact counts of paths one can subtract, and what is left are
moves of hidden ballots, smaller still.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Final

from hubbub.kinds.ballots.tally_paths import Path, pile
from hubbub.runtime.frozen import dataclass
from hubbub.voting.count.official import Official

FEW: Final = 10  # ballots


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    """How many moves there are from one round to the next, and how many of them are small."""

    all: int
    few: int  # fewer than `FEW` ballots
    single: int

    def as_json(self) -> dict[str, Any]:
        return {"moves": self.all, f"moves_below_{FEW}": self.few, "moves_of_one": self.single}


def official_moves(official: Official) -> Moves:
    """The moves that the totals tell. Guarantee: it looks at the official record alone."""
    return _counted(gain for gains in _gains(official) for gain in gains.values())


def hidden_moves(visible: Mapping[Path, int], official: Official) -> Moves:
    """What is left of the moves when exact paths are subtracted. Guarantee: it looks at what is published alone."""
    last, left = official.last_round(), []
    for number, gains in enumerate(_gains(official), 1):
        for name, gain in gains.items():
            known = sum(
                ballots
                for path, ballots in visible.items()
                if pile(path, number + 1, last) == name and pile(path, number, last) != name
            )
            left.append(gain - known)
    return _counted(left)


def _gains(official: Official) -> Iterable[dict[str | None, int]]:
    for before, after in pairwise(official.rounds):
        was = dict(before.totals)
        gains: dict[str | None, int] = {name: total - was[name] for name, total in after.totals}
        gone = sum(total for _, total in before.totals) - sum(total for _, total in after.totals)
        yield gains | {None: gone}


def _counted(moves: Iterable[int]) -> Moves:
    some = [ballots for ballots in moves if ballots > 0]
    return Moves(all=len(some), few=sum(ballots < FEW for ballots in some), single=some.count(1))


def sentence(moves: Moves) -> str:
    """What the totals give away, in words."""
    return (
        f"The official round totals by themselves show {moves.all:,} moves of ballots from one round to the next, "
        f"{moves.few:,} of them of fewer than {FEW} ballots and {moves.single:,} of a single one; no table can undo "
        "that, and the promises are about the table alone"
    )
