"""Rules of pairs once more, by going through all paths, orders and ways to go, with fractions and names alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations
from math import factorial, prod
from random import Random

from hubbub.voting.ballots import Ballots
from hubbub.voting.rules.rules import make

Votes = dict[tuple[str, ...], int]
Law = dict[str, Fraction]


def beats(votes: Votes, one: str, other: str) -> int:
    """How many prefer one to the other."""
    return sum(
        many
        for ranking, many in votes.items()
        if one in ranking and (other not in ranking or ranking.index(one) < ranking.index(other))
    )


def even(winners: list[str], names: str) -> Law:
    return {name: Fraction(int(name in winners), len(winners)) for name in names}


def most(numbers: dict[str, Fraction], names: str) -> Law:
    return even([name for name in names if numbers[name] == max(numbers.values())], names)


def margin(votes: Votes, one: str, other: str) -> int:
    return beats(votes, one, other) - beats(votes, other, one)


def borda(votes: Votes, left: str) -> dict[str, Fraction]:
    """Points for places; those left out share what is left."""
    points = dict.fromkeys(left, Fraction(0))
    for ranking, many in votes.items():
        ranked = [name for name in ranking if name in left]
        rest = [name for name in left if name not in ranked]
        for place, name in enumerate(ranked):
            points[name] += many * (len(left) - 1 - place)
        for name in rest:
            points[name] += many * Fraction(len(rest) - 1, 2)
    return points


def copeland(votes: Votes, names: str) -> Law:
    worth = {1: Fraction(1), 0: Fraction(1, 2), -1: Fraction(0)}

    def sign(x: int) -> int:
        return (x > 0) - (x < 0)

    return most(
        {a: sum((worth[sign(margin(votes, a, b))] for b in names if b != a), Fraction(0)) for a in names}, names
    )


def minimax(votes: Votes, names: str) -> Law:
    return most({a: Fraction(min(margin(votes, a, b) for b in names if b != a)) for a in names}, names)


def schulze(votes: Votes, names: str) -> Law:
    def strength(start: str, end: str) -> int:
        others = [name for name in names if name not in (start, end)]
        paths = ((start, *way, end) for many in range(len(others) + 1) for way in permutations(others, many))
        return max(
            min(beats(votes, a, b) if margin(votes, a, b) > 0 else 0 for a, b in pairwise(path)) for path in paths
        )

    return even([a for a in names if all(strength(a, b) >= strength(b, a) for b in names if b != a)], names)


def kemeny(votes: Votes, names: str) -> Law:
    agreed = dict.fromkeys(names, Fraction(-1))
    for order in permutations(names):
        total = Fraction(sum(beats(votes, a, b) for i, a in enumerate(order) for b in order[i + 1 :]))
        agreed[order[0]] = max(agreed[order[0]], total)
    return most(agreed, names)


def black(votes: Votes, names: str) -> Law:
    first = [a for a in names if all(margin(votes, a, b) > 0 for b in names if b != a)]
    return even(first, names) if first else most(borda(votes, names), names)


def nanson(votes: Votes, names: str) -> Law:
    left = names
    while True:
        points = borda(votes, left)
        mean = sum(points.values()) / len(left)
        kept = "".join(name for name in left if points[name] > mean)
        if not kept:
            return even(list(left), names)
        left = kept


def baldwin(votes: Votes, names: str) -> Law:
    def law(left: str) -> Law:
        if len(left) == 1:
            return even([left], names)
        points = borda(votes, left)
        last = [name for name in left if points[name] == min(points.values())]
        parts = [law(left.replace(out, "")) for out in last]
        return {name: sum((part[name] for part in parts), Fraction(0)) / len(last) for name in names}

    return law(names)


def ranked_pairs(votes: Votes, names: str) -> Law | None:
    """Over every order of equal pairs; None where those are too many."""
    pairs = [(a, b) for a in names for b in names if margin(votes, a, b) > 0]
    sizes = sorted({margin(votes, *pair) for pair in pairs}, reverse=True)
    groups = [[pair for pair in pairs if margin(votes, *pair) == size] for size in sizes]
    if prod(factorial(len(group)) for group in groups) > 200:
        return None
    found = dict.fromkeys(names, Fraction(0))

    def leads(locked: set[tuple[str, str]], start: str, end: str) -> bool:
        return start == end or any(leads(locked, b, end) for a, b in locked if a == start)

    def go(at: int, locked: set[tuple[str, str]], chance: Fraction) -> None:
        if at == len(groups):
            top = [name for name in names if all(b != name for _, b in locked)]
            for name in top:
                found[name] += chance / len(top)
            return
        orders = list(permutations(groups[at]))
        for order in orders:
            now = set(locked)
            for a, b in order:
                if not leads(now, b, a):
                    now.add((a, b))
            go(at + 1, now, chance / len(orders))

    go(0, set(), Fraction(1))
    return found


BY_HAND: dict[str, Callable[[Votes, str], Law | None]] = {
    "copeland": copeland,
    "minimax": minimax,
    "schulze": schulze,
    "kemeny": kemeny,
    "black": black,
    "nanson": nanson,
    "baldwin": baldwin,
    "ranked-pairs": ranked_pairs,
}


def test_the_law_of_the_winner_is_that_of_all_ways_gone_through() -> None:
    random, seen = Random(23), 0
    for _ in range(120):
        names = "abcde"[: random.randint(2, 4)]
        votes: Votes = {}
        for _ in range(random.randint(1, 7)):
            ranking = tuple(random.sample(names, random.randint(1, len(names))))
            votes[ranking] = votes.get(ranking, 0) + random.randint(1, 3)
        ballots = Ballots.from_counts(names, votes)
        for name, rule in BY_HAND.items():
            wanted = rule(votes, names)
            if wanted is not None:
                seen += 1
                assert dict(zip(names, make(name).lottery(ballots), strict=True)) == wanted, (name, votes)
    assert seen > 900
