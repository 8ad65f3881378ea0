"""How votes moved from stage to stage in a count for several seats: what its picture is made from."""

from __future__ import annotations

from fractions import Fraction

from hubbub.runtime.frozen import dataclass
from hubbub.voting.count.flow import EXHAUSTED, MOST_NAMED
from hubbub.voting.rules.stv_result import Seats, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatsColumn:
    """The piles after a stage, and what happens next. Votes are rounded to two places, for the eye."""

    stage: int
    piles: tuple[tuple[str, float], ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatsLink:
    """Votes that were in the pile `origin` at a column and are in `target` at the next."""

    column: int
    origin: str
    target: str
    votes: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatsFlow:
    """Columns, what runs between them, and every pile from the top: the elected first, the exhausted last."""

    columns: tuple[SeatsColumn, ...]
    links: tuple[SeatsLink, ...]
    order: tuple[str, ...]


def seats_flow(result: Seats, *, most_named: int = MOST_NAMED) -> SeatsFlow:
    """The flow of a count. Candidates beyond the `most_named` who lasted longest are one pile; what was cut off after
    the last decimal place is with the exhausted."""
    order = list(result.elected)
    for stage in reversed(result.stages):
        votes = dict(stage.totals)
        order += sorted((i for i, n in votes.items() if n and i not in order), key=lambda i: (-votes[i], i))
    order += [i for i in range(len(result.candidates)) if i not in order]
    named = order if len(order) <= most_named + 1 else order[: max(most_named, len(result.elected))]
    taken = {result.candidates[i] for i in named}
    others, exhausted = (
        f"({name})" if name in taken else name for name in (f"{len(order) - len(named)} others", EXHAUSTED)
    )
    label: dict[int | None, str] = {i: result.candidates[i] if i in named else others for i in order}
    label[None] = exhausted
    columns = tuple(
        SeatsColumn(stage=k + 1, piles=_as_floats(_piles(stage, label, order)), note=_note(result, k))
        for k, stage in enumerate(result.stages)
    )
    links = [
        SeatsLink(column=k, origin=a, target=b, votes=_rounded(votes))
        for k, stage in enumerate(result.stages[1:])
        for (a, b), votes in _links(result.stages[k], stage, label, order).items()
        if votes
    ]
    names = dict.fromkeys([*(label[i] for i in order), exhausted])
    present = {name for column in columns for name, _ in column.piles}
    return SeatsFlow(columns=columns, links=tuple(links), order=tuple(name for name in names if name in present))


def _piles(stage: Stage, label: dict[int | None, str], order: list[int]) -> dict[str, Fraction]:
    piles: dict[str, Fraction] = {}
    votes = dict(stage.totals)
    for i in order:
        piles[label[i]] = piles.get(label[i], Fraction(0)) + votes[i]
    piles[label[None]] = stage.exhausted + stage.lost
    return {name: number for name, number in piles.items() if number}


def _links(
    before: Stage, stage: Stage, label: dict[int | None, str], order: list[int]
) -> dict[tuple[str, str], Fraction]:
    """What moved, and what stayed."""
    if not stage.moved:  # keep values: all votes are found anew, and whoever has less gives to whoever has more
        return _spread(_piles(before, label, order), _piles(stage, label, order))
    moved: dict[tuple[str, str], Fraction] = {}
    for move in stage.moved:
        if label[move.origin] != label[move.target]:
            key = label[move.origin], label[move.target]
            moved[key] = moved.get(key, Fraction(0)) + move.votes
    then, now = dict(before.totals), dict(stage.totals)
    for origin in stage.of:  # what is cut off after the last place is out of the count
        cut = then[origin] - now[origin] - sum(move.votes for move in stage.moved if move.origin == origin)
        key = label[origin], label[None]
        moved[key] = moved.get(key, Fraction(0)) + cut
    stay = _piles(before, label, order)
    for (pile, _), votes in moved.items():
        stay[pile] = stay.get(pile, Fraction(0)) - votes
    return {(name, name): votes for name, votes in stay.items()} | moved


def _spread(then: dict[str, Fraction], now: dict[str, Fraction]) -> dict[tuple[str, str], Fraction]:
    """What each pile lost, to those that gained, each by its part of all gains."""
    gains = {name: votes - then.get(name, 0) for name, votes in now.items() if votes > then.get(name, 0)}
    total = sum(gains.values(), Fraction(0))
    links = {(name, name): min(votes, now.get(name, Fraction(0))) for name, votes in then.items()}
    for name, votes in then.items():
        if (lost := votes - now.get(name, 0)) > 0:
            links |= {(name, other): lost * gain / total for other, gain in gains.items()}
    return links


def _as_floats(piles: dict[str, Fraction]) -> tuple[tuple[str, float], ...]:
    return tuple((name, _rounded(votes)) for name, votes in piles.items())


def _rounded(votes: Fraction) -> float:
    number = round(float(votes), 2)
    return int(number) if number == int(number) else number


def _note(result: Seats, number: int) -> str:
    stage = result.stages[number]
    if stage.elected:
        return "elected: " + ", ".join(result.candidates[i] for i in stage.elected)
    return f"out: {result.candidates[stage.of[0]]}" if stage.what == "exclusion" else ""
