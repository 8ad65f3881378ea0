"""What official round totals give away by themselves, and what is left of them beside exact paths.

From one round to the next every candidate gains ballots from those who went. Such a move of few ballots points at few
people, and no publication of ours can undo that. Beside exact counts of paths one can subtract, and what is left are
moves of hidden ballots, smaller still.

The flow of ballots as a published table tells it: shown ways, scaled up from the sample, and what is not shown.

Ballots of hidden ways stay with their official first choice while that one is in; where they go then is not told.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from hubbub.kinds.ballots.tally_paths import Path, pile
from hubbub.protocol.drawing import Flow, FlowColumn, FlowLink
from hubbub.runtime.frozen import dataclass
from hubbub.voting.count.official import Official
from hubbub.voting.rctab.rounds_flow import EXHAUSTED, MOST_NAMED

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
    return _count_moves(gain for gains in _gains(official) for gain in gains.values())


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
    return _count_moves(left)


def _gains(official: Official) -> Iterable[dict[str | None, int]]:
    for before, after in pairwise(official.rounds):
        was = dict(before.totals)
        gains: dict[str | None, int] = {name: total - was[name] for name, total in after.totals}
        gone = sum(total for _, total in before.totals) - sum(total for _, total in after.totals)
        yield gains | {None: gone}


def _count_moves(moves: Iterable[int]) -> Moves:
    some = [ballots for ballots in moves if ballots > 0]
    return Moves(all=len(some), few=sum(ballots < FEW for ballots in some), single=some.count(1))


def sentence(moves: Moves) -> str:
    """What the totals give away, in words."""
    return (
        f"The official round totals by themselves show {moves.all:,} moves of ballots from one round to the next, "
        f"{moves.few:,} of them of fewer than {FEW} ballots and {moves.single:,} of a single one; no table can undo "
        "that, and the promises are about the table alone"
    )


if TYPE_CHECKING:
    from hubbub.kinds.ballots.result import PathTable

UNKNOWN: Final = "not shown"


def flow_picture(table: PathTable) -> Flow | None:
    """The picture as a value; None if there is one round only, and so no flow."""
    official = table.spec.official
    if len(official.rounds) < 2:
        return None
    rate = table.spec.sample or 1
    last = official.last_round()
    ways: dict[tuple[Path, bool], int] = {(row.path, False): round(row.count / rate) for row in table.rows}
    for name, total in official.rounds[0].totals:
        visible = sum(ballots for (path, _), ballots in ways.items() if path[:1] == (name,))
        if total > visible:
            ways[(name,), True] = total - visible
    final = {name: total for each in official.rounds for name, total in each.totals}
    order = sorted(last, key=lambda name: (name != official.winner, -last[name], -final[name]))
    named = order if len(order) <= MOST_NAMED + 1 else order[:MOST_NAMED]
    rest = f"{len(order) - len(named)} others"
    label: dict[str | None, str] = {name: name if name in named else rest for name in order}

    def where(path: Path, hidden: bool, number: int) -> str:
        at = pile(path, number, last)
        return label[at] if at is not None else UNKNOWN if hidden else EXHAUSTED

    gone = [[label[name] for name in official.gone(n)] for n in range(1, len(official.rounds))]
    numbers = _columns(gone, rest)
    names = [*dict.fromkeys(label[name] for name in order), UNKNOWN, EXHAUSTED]
    columns, links = [], []
    for i, number in enumerate(numbers):
        piles: dict[str, int] = dict.fromkeys(names, 0)
        for (path, hidden), ballots in ways.items():
            piles[where(path, hidden, number)] += ballots
        until = numbers[i + 1] if i + 1 < len(numbers) else None
        out = [] if until is None else sorted(n for n in official.candidates if number <= last[n] < until)
        note = "" if not out else f"out: {label[out[0]]}" if len(out) == 1 else f"out: {len(out)} candidates"
        columns.append(FlowColumn(f"round {number}", note, tuple((n, b) for n, b in piles.items() if b)))
        if until is not None:
            moved: dict[tuple[str, str], int] = {}
            for (path, hidden), ballots in ways.items():
                key = where(path, hidden, number), where(path, hidden, until)
                moved[key] = moved.get(key, 0) + ballots
            links += [FlowLink(i, a, b, ballots) for (a, b), ballots in moved.items() if ballots]
    present = {name for column in columns for name, _ in column.piles}
    return Flow(
        columns=tuple(columns),
        links=tuple(links),
        order=tuple(name for name in names if name in present),
        winner=official.winner,
        plain=tuple(name for name in names if name not in official.candidates),
        description=f"{official.winner} is the official winner, after {len(official.rounds)} rounds.",
        note=_note(table),
    )


def _columns(gone: list[list[str]], rest: str) -> list[int]:
    """The rounds that get a column: rounds in a row in which only small candidates go share one."""
    numbers = [1]
    for number, names in enumerate(gone, 1):
        quiet = all(name == rest for name in names)
        following = number < len(gone) and all(name == rest for name in gone[number])
        if not (quiet and following):
            numbers.append(number + 1)
    return numbers


def _note(table: PathTable) -> str:
    scaled = "" if table.spec.sample is None else ", scaled up from the secret sample"
    return (
        f"The flow as this table tells it{scaled}; ballots on hidden ways stay with their official first choice until "
        "it is out, and are not shown then. The official totals are in the file round-totals."
    )
