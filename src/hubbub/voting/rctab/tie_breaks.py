"""Who of several comes out on top, or goes: by an order, by earlier rounds, by a draw, or as somebody says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Protocol

from hubbub.runtime.frozen import dataclass
from hubbub.voting.chance import Ask, Chance, TiesByHand
from hubbub.voting.rctab.result import ConfiguredRound


class TieBreaks(Protocol):
    """How ties are broken; `remarks` says of each how it was."""

    remarks: list[str]

    def choose(self, tied: Sequence[str], earlier: Sequence[ConfiguredRound], *, wins: bool) -> str:
        """One of those who are equal: the winner of them, or the one who goes."""
        ...  # pragma: no cover


def apart_earlier(
    tied: Sequence[str],
    earlier: Sequence[ConfiguredRound],
    *,
    wins: bool,
    order: Callable[[Sequence[str]], list[str]] = list,
) -> list[str]:
    """Those of the tied who are still equal when earlier rounds are looked at, the latest first; `order` is how each look
    goes through them."""
    among = list(tied)
    for counted in reversed(earlier):
        among = order(among)
        votes = dict(counted.tally)
        wanted = (max if wins else min)(votes[name] for name in among)
        among = [name for name in among if votes[name] == wanted]
        if len(among) == 1:
            break
    return among


@dataclass(slots=True)
class DrawnTies:
    """By a draw that is written down, after a look at earlier rounds if `looks_back`."""

    chance: Chance
    looks_back: bool = False
    remarks: list[str] = field(default_factory=list)

    def choose(self, tied: Sequence[str], earlier: Sequence[ConfiguredRound], *, wins: bool) -> str:
        """Guarantee: of those who are still equal each is as likely as the others."""
        among = apart_earlier(tied, earlier, wins=wins) if self.looks_back else list(tied)
        chosen = among[self.chance.even("a tie", among)]
        how = "by an earlier round"
        if len(among) > 1:
            draw = self.chance.draws[-1]
            how = f"drawn number {draw.number} of 0 to {draw.of - 1}"
        self.remarks.append(remark(tied, chosen, how, wins=wins))
        return chosen


@dataclass(slots=True)
class OrderedTies:
    """By an order that was given: the first of it comes out on top, the last goes."""

    order: Sequence[str]
    remarks: list[str] = field(default_factory=list)

    def choose(self, tied: Sequence[str], earlier: Sequence[ConfiguredRound], *, wins: bool) -> str:
        chosen = (min if wins else max)(tied, key=list(self.order).index)
        self.remarks.append(remark(tied, chosen, "by the order given", wins=wins))
        return chosen


@dataclass(slots=True)
class ManualTies:
    """As somebody says who is asked, after a look at earlier rounds if `looks_back`; `answers` are who was chosen."""

    ask: Ask
    looks_back: bool = False
    remarks: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    def choose(self, tied: Sequence[str], earlier: Sequence[ConfiguredRound], *, wins: bool) -> str:
        among = apart_earlier(tied, earlier, wins=wins) if self.looks_back else list(tied)
        if len(among) == 1:
            return among[0]
        chosen = among[TiesByHand(self.ask).choose("who comes out on top" if wins else "who goes", among)]
        self.remarks.append(remark(tied, chosen, "by hand", wins=wins))
        self.answers.append(chosen)
        return chosen


def remark(tied: Sequence[str], chosen: str, how: str, *, wins: bool) -> str:
    """One sentence about a tie."""
    return f"Equal: {', '.join(sorted(tied))}; {chosen} {'is chosen' if wins else 'goes'}, {how}."
