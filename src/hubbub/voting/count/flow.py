"""How ballots moved from round to round, the small candidates together: what a picture of a count is made from."""

from __future__ import annotations

from typing import Final

from hubbub.runtime.frozen import dataclass
from hubbub.voting.result import Result, Round

MOST_NAMED: Final = 7  # candidates that a picture can tell apart
EXHAUSTED: Final = "exhausted"
BALLOTS: Final = "top choices"  # rounds in which each ballot is with one candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The count of a round (the first being 1): the ballots of each pile, the winner's first, and who goes before the
    next column, which is more than one round later where small candidates go. `gone` is how many go."""

    round: int
    piles: tuple[tuple[str, int], ...]
    out: tuple[str, ...]
    gone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """`ballots` that were in the pile `origin` at column `column` and are in `target` at the next."""

    column: int
    origin: str
    target: str
    ballots: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Columns and what runs between them. `order` names every pile, the winner's first, the exhausted last."""

    columns: tuple[Column, ...]
    links: tuple[Link, ...]
    order: tuple[str, ...]
    winner: str
    what: str  # what is counted


def flow(result: Result, *, most_named: int = MOST_NAMED) -> Flow:
    """The flow of a result. Candidates beyond `most_named`, those who went first, are one pile, and rounds in which
    only such went are one column. Every ballot of a column is in the next: piles and links add up. Points are counted
    anew in every round and move nowhere, so that of them there is the first round alone."""
    rounds = [counted for counted in result.rounds if counted.what == result.rounds[0].what]
    if rounds[0].what != BALLOTS:
        rounds = rounds[:1]
    order = _by_survival(result, rounds)
    named = order if len(order) <= most_named + 1 else order[:most_named]
    rest = [i for i in order if i not in named]
    label: dict[int | None, str] = {i: result.candidates[i] for i in named}
    taken = frozenset(label.values())  # a candidate may be called like a pile that is none
    label |= dict.fromkeys(rest, _free(f"{len(rest)} others", taken))
    label[None] = _free(EXHAUSTED, taken)
    columns: list[Column] = []
    links: list[Link] = []
    for start, stop in _runs(rounds, set(named)):
        gone = [i for counted in rounds[start:stop] for i in counted.eliminated]
        out = tuple(dict.fromkeys(label[i] for i in order if i in gone))
        columns.append(Column(round=start + 1, piles=_piles(rounds[start], label, order), out=out, gone=len(gone)))
        if stop < len(rounds):
            links.extend(_links(len(columns) - 1, rounds[start:stop], columns[-1], label))
    present = {name for column in columns for name, _ in column.piles}
    names = [name for name in dict.fromkeys([*(label[i] for i in order), label[None]]) if name in present]
    return Flow(
        columns=tuple(columns),
        links=tuple(link for link in links if link.ballots),
        order=tuple(names),
        winner=label[result.winner],
        what=rounds[0].what,
    )


def _free(name: str, taken: frozenset[str]) -> str:
    return f"({name})" if name in taken else name


def _by_survival(result: Result, rounds: list[Round]) -> list[int]:
    """The winner, then those still in at the end, then the others, the last to go first; more ballots first."""
    last: dict[int, tuple[int, int]] = {}
    for number, counted in enumerate(rounds):
        for candidate, count in counted.counts:
            last[candidate] = (number + (candidate not in counted.eliminated), count)
    return sorted(last, key=lambda i: (i != result.winner, -last[i][0], -last[i][1], i))


def _runs(rounds: list[Round], named: set[int]) -> list[tuple[int, int]]:
    """Rounds that share a column: several in a row only if nobody with a name of their own goes in them."""
    runs: list[tuple[int, int]] = []
    for number, counted in enumerate(rounds):
        quiet = bool(counted.eliminated) and named.isdisjoint(counted.eliminated) and number + 1 < len(rounds)
        joins = bool(runs) and quiet and runs[-1][1] == number and _quiet(rounds[runs[-1][0]], named)
        if joins:
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs


def _quiet(counted: Round, named: set[int]) -> bool:
    return bool(counted.eliminated) and named.isdisjoint(counted.eliminated)


def _piles(counted: Round, label: dict[int | None, str], order: list[int]) -> tuple[tuple[str, int], ...]:
    counts = dict(counted.counts)
    piles: dict[str, int] = {}
    for candidate in order:
        if candidate in counts:
            piles[label[candidate]] = piles.get(label[candidate], 0) + counts[candidate]
    if counted.exhausted and counted.what == BALLOTS:
        piles[label[None]] = counted.exhausted
    return tuple(piles.items())


def _links(column: int, rounds: list[Round], at: Column, label: dict[int | None, str]) -> list[Link]:
    """Within one column either one round, or rounds that move ballots of the small pile alone."""
    moved: dict[tuple[str, str], int] = {}
    for counted in rounds:
        for transfer in counted.transfers:
            target = label[transfer.target]
            if label[transfer.origin] != target:
                key = (label[transfer.origin], target)
                moved[key] = moved.get(key, 0) + transfer.ballots
    left = dict(at.piles)
    for (origin, _), ballots in moved.items():
        left[origin] -= ballots
    stay = [Link(column=column, origin=name, target=name, ballots=count) for name, count in left.items()]
    went = [Link(column=column, origin=a, target=b, ballots=n) for (a, b), n in moved.items()]
    return [*stay, *went]
