"""How a tie at the top is broken: by a fresh uniform draw, or by an order fixed beforehand.

With an order fixed beforehand and three or more candidates, plurality rewards a lie even when all candidates are
equally likely to be on top: three candidates, two voters, order y > z > x, truth x > y > z. The truth gives
(1 + u(y))/3 and reporting y gives u(y) (theory B2). So the promises of elimination rules need the draw.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class RandomTies:
    """Each of those tied wins with the same chance, drawn after the ballots are in."""


@dataclass(frozen=True, slots=True)
class FixedTies:
    """Whoever of those tied comes first in `order` wins. The order names every candidate once."""

    order: tuple[str, ...]


Ties: TypeAlias = RandomTies | FixedTies

RANDOM = RandomTies()


def positions_in(order: Sequence[str], names: Sequence[str]) -> list[int]:
    """The place of each of `names` in an order that must name all of them."""
    index = {name: i for i, name in enumerate(order)}
    if len(index) != len(order) or any(name not in index for name in names):
        raise WrongUse("an order of candidates must name each of them once; give it in full")
    return [index[name] for name in names]


def first(order: Sequence[str], names: Sequence[str], among: Sequence[int]) -> int:
    """Which of `among` comes first in an order that must name all of `names`."""
    return min(among, key=positions_in(order, names).__getitem__)


def best(scores: Sequence[int], names: Sequence[str], ties: Ties) -> tuple[Fraction, ...]:
    """The law of the winner when the highest score wins."""
    most = max(scores)
    leaders = [i for i, score in enumerate(scores) if score == most]
    if isinstance(ties, FixedTies):
        leaders = [first(ties.order, names, leaders)]
    chance = Fraction(1, len(leaders))
    law = [Fraction(0)] * len(scores)
    for i in leaders:
        law[i] = chance
    return tuple(law)
