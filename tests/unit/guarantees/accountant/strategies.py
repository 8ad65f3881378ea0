"""Strategies that choose the next release by what came out of those before, and what they gain, summed exactly."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

from hypothesis import strategies as st

from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair

Path = tuple[tuple[RandomizedResponsePair, int], ...]  # what was released, and on which side each coin fell
Strategy = Callable[[Path], RandomizedResponsePair | None]


@cache
def sides(coin: RandomizedResponsePair, way: int) -> list[tuple[float, float]]:
    return [(float(loss.mid()), float(mass.mid())) for loss, mass in coin.ways()[way]]


def excess(strategy: Strategy, says: Callable[[list[RandomizedResponsePair]], Fraction], way: int) -> float:
    """E (1 - e^(what the ledger says - loss))_+ : the delta that is really needed."""

    def walk(path: Path, loss: float, mass: float) -> float:
        coin = strategy(path)
        if coin is None:
            said = float(says([each for each, _ in path])) if path else 0.0
            return mass * max(1 - math.exp(said - loss), 0.0)
        return sum(
            walk((*path, (coin, i)), loss + more, mass * weight) for i, (more, weight) in enumerate(sides(coin, way))
        )

    return walk((), 0.0, 1.0)


losses = st.sampled_from([Fraction(text) for text in ("0.1", "0.5", "1", "2", "4")])
choices = st.one_of(
    st.none(), st.builds(RandomizedResponsePair, epsilon=losses, rate=st.sampled_from([Fraction(1), Fraction(1, 4)]))
)


def by_tree(tree: list[RandomizedResponsePair | None]) -> Strategy:
    """The strategy that a tree says: its root, then the choices after either side, and so on."""

    def strategy(path: Path) -> RandomizedResponsePair | None:
        place = 1
        for _, side in path:
            place = 2 * place + side
        return tree[place - 1] if place <= len(tree) else None

    return strategy
