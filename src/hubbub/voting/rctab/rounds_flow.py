"""How votes moved from round to round, the small candidates together: what the picture of any count is made from."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import takewhile
from typing import Final

from hubbub.protocol.drawing import Flow, FlowColumn, FlowLink
from hubbub.voting.rctab.result import ConfiguredCount, ConfiguredRound

MOST_NAMED: Final = 7  # candidates that a picture can tell apart
EXHAUSTED: Final = "exhausted"

Piles = dict[str, Fraction]
Links = dict[tuple[str, str], Fraction]


def rounds_flow(
    counted: ConfiguredCount, number: int = 0, *, word: str = "round", most_named: int = MOST_NAMED
) -> Flow:
    """The flow of one pass. Points are counted anew in every round and move nowhere: of them there is one column.

    Candidates beyond `most_named`, those who went first, are one pile, and rounds in which only such go are one column.
    Votes that count for nobody any more (exhausted, lost to rounding, left over) are one pile too.

    Guarantee: all columns hold the same number of votes, and what leaves a pile and what comes to it add up to it.
    """
    rounds = list(takewhile(lambda each: each.threshold > 0, counted.passes[number])) or [counted.passes[number][0]]
    order = _by_survival(rounds, counted.winners)
    named = order if len(order) <= most_named + 1 else order[: max(most_named, _elected_names(rounds))]
    others, gone = (f"({text})" if text in named else text for text in (f"{len(order) - len(named)} others", EXHAUSTED))
    label = {name: name if name in named else others for name in order}
    total = sum((votes for _, votes in rounds[0].tally), rounds[0].exhausted_votes)
    columns, links = list[FlowColumn](), list[FlowLink]()
    for start, stop in _runs(rounds, set(named)):
        piles = _piles(rounds[start], label, order, gone, total)
        out = [name for each in rounds[start:stop] for name in each.eliminated]
        note = _note(rounds[start].elected, list(dict.fromkeys(label[name] for name in out)), len(out))
        columns.append(
            FlowColumn(f"{word} {start + 1}", note, tuple((name, _round_votes(votes)) for name, votes in piles.items()))
        )
        if stop < len(rounds):
            after = _piles(rounds[stop], label, order, gone, total)
            moved = _links(rounds[start:stop], piles, after, label, gone)
            links += [
                FlowLink(len(columns) - 1, a, b, thick)
                for (a, b), votes in moved.items()
                if (thick := _round_votes(votes))
            ]
    present = {name for column in columns for name, _ in column.piles}
    piles_in_order = tuple(name for name in dict.fromkeys([*label.values(), gone]) if name in present)
    winners = ", ".join(counted.winners)
    return Flow(
        columns=tuple(columns),
        links=tuple(links),
        order=piles_in_order,
        winner=order[0],
        plain=tuple(name for name in piles_in_order if name in (others, gone)),
        description=f"{winners} elected after {len(rounds)} {word}s. The tables below have the numbers.",
        note=f"Votes from {word} to {word}; point at a band for its number.",
    )


def _elected_names(rounds: Sequence[ConfiguredRound]) -> int:
    return sum(len(each.elected) for each in rounds)


def _by_survival(rounds: Sequence[ConfiguredRound], winners: Sequence[str]) -> list[str]:
    """The elected in their order, then those still in at the end, then the others, the last to go first."""
    last: dict[str, tuple[int, Fraction]] = {}
    for number, each in enumerate(rounds):
        for name, votes in each.tally:
            if votes or name not in last:
                last[name] = (number + (name not in each.eliminated), votes)
    first = [name for each in rounds for name in each.elected]
    here = [*first, *(name for name in winners if name not in first)]
    rank = {name: i for i, name in enumerate(here)}
    return sorted(last, key=lambda name: (rank.get(name, len(rank)), -last[name][0], -last[name][1], name))


def _runs(rounds: Sequence[ConfiguredRound], named: set[str]) -> list[tuple[int, int]]:
    """Rounds that share a column: several in a row only if nobody with a name of their own goes, or is elected, there."""

    def is_quiet(each: ConfiguredRound) -> bool:
        return bool(each.eliminated) and not each.elected and named.isdisjoint(each.eliminated)

    runs: list[tuple[int, int]] = []
    for number, each in enumerate(rounds):
        if runs and number + 1 < len(rounds) and is_quiet(each) and is_quiet(rounds[runs[-1][0]]):
            runs[-1] = (runs[-1][0], number + 1)
        else:
            runs.append((number, number + 1))
    return runs


def _piles(each: ConfiguredRound, label: dict[str, str], order: Sequence[str], gone: str, total: Fraction) -> Piles:
    votes, piles = dict(each.tally), Piles()
    for name in order:
        piles[label[name]] = piles.get(label[name], Fraction(0)) + votes.get(name, 0)
    piles[gone] = total - sum(votes.values(), Fraction(0))
    return {name: number for name, number in piles.items() if number}


def _links(rounds: Sequence[ConfiguredRound], before: Piles, after: Piles, label: dict[str, str], gone: str) -> Links:
    """What moved, and what stayed; where all votes are found anew, whoever has less gives to whoever has more."""
    moved = Links()
    for move in (move for each in rounds for move in each.moves):
        key = label[move.origin], label.get(move.target, gone)
        if key[0] != key[1]:
            moved[key] = moved.get(key, Fraction(0)) + move.votes
    stay = dict(before)
    for (origin, _), votes in moved.items():
        stay[origin] = stay.get(origin, Fraction(0)) - votes
    links = {(name, name): votes for name, votes in stay.items()} | moved
    found = Piles()
    for (_, target), votes in links.items():
        found[target] = found.get(target, Fraction(0)) + votes
    if {name: votes for name, votes in found.items() if votes} == after:
        return links
    gains = {name: votes - before.get(name, 0) for name, votes in after.items() if votes > before.get(name, 0)}
    spread = {(name, name): min(votes, after.get(name, Fraction(0))) for name, votes in before.items()}
    for name, votes in before.items():
        if (lost := votes - after.get(name, 0)) > 0:
            spread |= {(name, other): lost * gain / sum(gains.values()) for other, gain in gains.items()}
    return spread


def _note(elected: Sequence[str], out: Sequence[str], many: int) -> str:
    if elected:
        return f"elected: {', '.join(elected)}"
    return "" if not out else f"out: {out[0]}" if many == 1 else f"out: {many} candidates"


def _round_votes(votes: Fraction) -> float:
    """To two places, for the eye."""
    number = round(float(votes), 2)
    return int(number) if number == int(number) else number
