"""Invented ballots follow their laws exactly: every path through the draws of a generator is walked and added up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial, prod
from typing import Any

import pytest

from hubbub import vote
from hubbub.errors import WrongUse
from hubbub.noise.source import PublicDice
from hubbub.voting import generators
from hubbub.voting.generators import MODELS, generate

Order = tuple[int, ...]
Law = dict[Any, Fraction]

DICE = PublicDice("no word of these is used")


def law_of(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Any]) -> Law:
    """The exact distribution of what `run` returns, if each number that it draws is uniform below its bound."""
    path: list[tuple[int, int]] = []  # number and bound of each draw
    at = 0

    def scripted(bound: int, source: object) -> int:
        nonlocal at
        if at == len(path):
            path.append((0, bound))
        assert path[at][1] == bound
        at += 1
        return path[at - 1][0]

    monkeypatch.setattr(generators, "below", scripted)
    law: Law = Counter()  # type: ignore[assignment]
    while True:
        at = 0
        found = run()
        law[found] += Fraction(1, prod(bound for _, bound in path))
        while path and path[-1][0] + 1 == path[-1][1]:
            path.pop()
        if not path:
            return dict(law)
        path[-1] = (path[-1][0] + 1, path[-1][1])


def one_ballot(**options: Any) -> Order:
    (order,) = generate(voters=1, seed=0, **options).ballots.rankings.tolist()
    return tuple(order)


def scaled(weights: Mapping[Any, Fraction]) -> Law:
    total = sum(weights.values(), Fraction(0))
    return {key: weight / total for key, weight in weights.items() if weight}


def mallows(m: int, phi: Fraction) -> Law:
    """By the definition: phi to the number of swapped pairs."""
    return scaled({o: phi ** sum(a > b for a, b in combinations(o, 2)) for o in permutations(range(m))})


def plackett_luce(weights: list[Fraction]) -> Law:
    """By the definition: the product over places of a weight over the weights of those who are left."""
    law = {}
    for order in permutations(range(len(weights))):
        tails = [sum((weights[c] for c in order[place:]), Fraction(0)) for place in range(len(order))]
        law[order] = prod((weights[c] / tail for c, tail in zip(order, tails, strict=True)), start=Fraction(1))
    return law


@pytest.mark.parametrize("m", [2, 3, 4])
def test_in_impartial_culture_all_orders_are_as_likely(monkeypatch: pytest.MonkeyPatch, m: int) -> None:
    law = law_of(monkeypatch, lambda: one_ballot(model="impartial-culture", candidates=m))
    assert law == dict.fromkeys(permutations(range(m)), Fraction(1, factorial(m)))


@pytest.mark.parametrize("phi", ["0", "1/2", "2/3", "1"])
def test_mallows_is_phi_to_the_number_of_swapped_pairs(monkeypatch: pytest.MonkeyPatch, phi: str) -> None:
    law = law_of(monkeypatch, lambda: one_ballot(model="mallows", candidates=3, phi=phi))
    assert law == mallows(3, Fraction(phi))
    assert law != mallows(3, Fraction(phi) + Fraction(1, 1000))  # the comparison sees a slightly wrong law
    assert len(law) == (1 if phi == "0" else 6)


@pytest.mark.parametrize("weights", ["3,2,1", "1/2,1/3,1/6", "1,1,5"])
def test_plackett_luce_fills_places_by_weight(monkeypatch: pytest.MonkeyPatch, weights: str) -> None:
    law = law_of(monkeypatch, lambda: one_ballot(model="plackett-luce", candidates=3, weights=weights))
    exact = [Fraction(part) for part in weights.split(",")]
    assert law == plackett_luce(exact)
    assert law != plackett_luce(exact[::-1])


def points(grid: int, axes: int, number: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    return product(product(range(grid), repeat=axes), repeat=number)


@pytest.mark.parametrize(("grid", "axes", "m", "voters"), [(3, 1, 3, 1), (3, 1, 2, 2), (3, 2, 2, 1)])
def test_in_space_the_nearer_comes_first_and_the_lower_number_of_equals(
    monkeypatch: pytest.MonkeyPatch, grid: int, axes: int, m: int, voters: int
) -> None:
    law = law_of(monkeypatch, lambda: tuple(map(tuple, generators._spatial(voters, m, axes, DICE, grid))))
    count: Counter[Any] = Counter()
    ties = 0
    for drawn in points(grid, axes, m + voters):
        orders = []
        for voter in drawn[m:]:
            far = [sum((a - b) ** 2 for a, b in zip(voter, place, strict=True)) for place in drawn[:m]]
            ties += len(set(far)) < m
            orders.append(tuple(c for _, c in sorted((distance, c) for c, distance in enumerate(far))))
        count[tuple(orders)] += 1
    assert ties
    assert law == scaled({orders: Fraction(number) for orders, number in count.items()})


@pytest.mark.parametrize(
    "options", [{"model": "mallows", "phi": "1/2"}, {"model": "plackett-luce", "weights": "3,2,1"}]
)
def test_two_voters_are_independent(monkeypatch: pytest.MonkeyPatch, options: dict[str, str]) -> None:
    alone = law_of(monkeypatch, lambda: one_ballot(candidates=3, **options))
    both = law_of(monkeypatch, lambda: frozenset(generate(voters=2, candidates=3, seed=0, **options).ballots.counts()))
    names = {order: tuple(f"Candidate {c + 1}" for c in order) for order in alone}
    exact: Counter[Any] = Counter()
    for one, other in product(alone, repeat=2):
        exact[frozenset((names[one], names[other]))] += alone[one] * alone[other]  # type: ignore[assignment]
    assert both == dict(exact)


def test_space_has_1024_points_to_a_side_and_two_sides_if_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    bounds: list[int] = []

    def lowest(bound: int, source: object) -> int:
        bounds.append(bound)
        return 0

    monkeypatch.setattr(generators, "below", lowest)
    generate(model="spatial", voters=5, candidates=3, seed=1)
    assert bounds == [1024] * 2 * (5 + 3)


OPTIONS = {"mallows": {"phi": "0.8"}, "plackett-luce": {"weights": [3, 2, 1]}}


@pytest.mark.parametrize("model", MODELS)
def test_a_seed_repeats_the_ballots_and_another_one_does_not(model: str) -> None:
    first, again, other = (
        generate(model=model, voters=200, candidates=3, seed=seed, **OPTIONS.get(model, {})) for seed in (7, "7", 8)
    )
    assert first.ballots.counts() == again.ballots.counts() != other.ballots.counts()
    assert first.ballots.voters == 200
    assert first.title == again.title
    assert first.title.startswith("Invented ballots for study, nobody cast them: " + model)
    assert first.title.endswith(", seed 7")


def test_ballots_of_a_seed_stay_what_they_are() -> None:
    """Worked out once from docs/elections.md by a program of its own; a study names its seed, so they may not change."""
    found = vote.generate(model="mallows", phi="1/2", voters=20, candidates=3, seed=7).ballots.counts()
    assert {"".join(name[-1] for name in order): number for order, number in found.items()} == {
        "123": 7,
        "132": 3,
        "213": 3,
        "231": 3,
        "312": 4,
    }


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"model": "urn"}, "`model` takes impartial-culture, mallows"),
        ({"model": "mallows"}, "mallows needs `phi`"),
        ({"model": "mallows", "phi": "1.1"}, "`phi` is from 0 to 1, not 11/10"),
        ({"model": "mallows", "phi": "-1/2"}, "`phi` is from 0 to 1"),
        ({"model": "mallows", "phi": 0.5}, "`phi` must be exact"),
        ({"model": "spatial", "phi": "1/2"}, "`phi` belongs to mallows, not to spatial"),
        ({"model": "impartial-culture", "weights": "1,1,1"}, "`weights` belongs to plackett-luce"),
        ({"model": "mallows", "phi": "1/2", "dimensions": 2}, "`dimensions` belongs to spatial"),
        ({"model": "plackett-luce"}, "needs `weights`, 3 positive numbers"),
        ({"model": "plackett-luce", "weights": "1,2"}, "needs `weights`, 3 positive numbers"),
        ({"model": "plackett-luce", "weights": "1,2,0"}, "needs `weights`, 3 positive numbers"),
        ({"model": "plackett-luce", "weights": "1,2,x"}, "each of `weights` must be a number"),
        ({"model": "spatial", "dimensions": 0}, "`dimensions` must be a whole number of at least 1"),
        ({"model": "spatial", "dimensions": 11}, "`dimensions` is at most 10"),
        ({"model": "impartial-culture", "voters": 0}, "`voters` must be a whole number of at least 1"),
        ({"model": "impartial-culture", "candidates": 1}, "`candidates` must be a whole number of at least 2"),
        ({"model": "impartial-culture", "candidates": 101}, "at most 100 candidates"),
        ({"model": "impartial-culture", "voters": 10**7}, "at most 100 candidates and 10,000,000 ranks"),
        ({"model": "impartial-culture", "seed": "1/2"}, "`seed` must be a whole number"),
    ],
)
def test_a_wrong_use_is_said(options: dict[str, Any], says: str) -> None:
    with pytest.raises(WrongUse) as refused:
        generate(**{"voters": 5, "candidates": 3, "seed": 1, **options})
    assert says.replace("`", "") in str(refused.value).replace("`", "")
