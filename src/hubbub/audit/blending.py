"""Crowd-blending decided by brute force, for a small mechanism given as a table of laws in exact rationals.

A data set is the number of people of each kind; the table has a law for every data set up to some size. Two kinds
blend if they can stand in for each other in every data set of the table. A person who has fewer than k people to blend
with, and who is missed when left out, refutes the claim, and the first such person by the size of the data set is the
smallest witness. A refutation is final. A proof is about the data sets of the table and no others.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import TypeAlias

from hubbub.audit.finding import Depth, Finding, Game
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Verdict
from hubbub.numeric.exact import INFINITY, PRECISION, Infinite, Loss, ball, exp, integer, precision, rational, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular

Data: TypeAlias = tuple[int, ...]
"""kind -> number of people"""
Law: TypeAlias = Mapping[object, Fraction]
"""outcome -> probability"""
Laws: TypeAlias = Mapping[Data, Law]

_MOST = 200_000  # laws that are listed


@dataclass(frozen=True, slots=True)
class Lone:
    """A data set and a person in it who neither blends with k people nor can be left out."""

    data: Data
    kind: int
    crowd: int
    outcome: object  # that tells whether the person is there
    others: tuple[tuple[int, Data, object], ...]  # kind, data set and outcome that tell the person from that kind


def data_sets(kinds: int, largest: int) -> Iterator[Data]:
    """Every data set of at most `largest` people, the small ones first."""
    every = (each for each in product(range(largest + 1), repeat=kinds) if sum(each) <= largest)
    return iter(sorted(every, key=lambda each: (sum(each), each)))


def table_of_laws(mechanism: Callable[[Data], Law], kinds: int, largest: int) -> dict[Data, Law]:
    """The table of a mechanism that is a function."""
    return {data: mechanism(data) for data in data_sets(kinds, largest)}


def plus(data: Data, kind: int, people: int = 1) -> Data:
    """With so many more of a kind."""
    return tuple(count + people * (i == kind) for i, count in enumerate(data))


def is_distinguishable(one: Law, other: Law, epsilon: Loss) -> tuple[bool, object]:
    """Whether some outcome is more than e^epsilon times as likely under one law, and such an outcome.

    Guarantee: exact. A ratio of probabilities is rational and e^epsilon is not unless epsilon is 0, so a ball narrow
    enough decides; with an infinite epsilon only an outcome that is possible under one law alone tells them apart.
    """
    for outcome in {**one, **other}:
        p, q = one.get(outcome, Fraction(0)), other.get(outcome, Fraction(0))
        if p == q:
            continue
        if not p or not q:
            return True, outcome
        if not isinstance(epsilon, Infinite) and _above(max(p / q, q / p), epsilon):
            return True, outcome
    return False, None


def _above(ratio: Fraction, epsilon: Fraction) -> bool:
    """Whether a ratio above 1 is above e^epsilon."""
    if epsilon == 0:
        return True
    bits = PRECISION
    while True:
        with precision(bits):
            bound, ours = exp(epsilon), ball(ratio)
            if ours > bound or ours < bound:
                return bool(ours > bound)
        bits *= 2


def lone(laws: Laws, k: int, epsilon: Loss) -> Lone | None:
    """The smallest person whom crowd-blending does not allow, or None.

    Guarantee: of the people of smallest data sets first. If there is none, everybody in a data set of the table either
    epsilon-blends, within the table, with k people of it or can be left out within e^epsilon.
    """
    kinds = len(next(iter(laws)))
    apart: dict[tuple[int, int], tuple[Data, object] | None] = {}
    for data in sorted(laws, key=lambda each: (sum(each), each)):
        for t in range(kinds):
            if not data[t]:
                continue
            missed, outcome = is_distinguishable(laws[data], laws[plus(data, t, -1)], epsilon)
            if not missed:
                continue
            others, crowd = [], 0
            for u in range(kinds):
                found = _first_difference(laws, apart, t, u, kinds, epsilon)
                crowd += data[u] if found is None else 0
                if found is not None and data[u]:
                    others.append((u, *found))
            if crowd < k:
                return Lone(data, t, crowd, outcome, tuple(others))
    return None


def _first_difference(
    laws: Laws,
    known: dict[tuple[int, int], tuple[Data, object] | None],
    t: int,
    u: int,
    kinds: int,
    epsilon: Loss,
) -> tuple[Data, object] | None:
    """The smallest data set in which t and u do not stand in for each other; None if they always do."""
    pair = (min(t, u), max(t, u))
    if pair not in known:
        known[pair] = None
        rest = sorted({plus(data, t, -1) for data in laws if data[t]}, key=lambda each: (sum(each), each))
        for data in rest if t != u else ():
            one, other = plus(data, t), plus(data, u)
            if one in laws and other in laws:
                found, outcome = is_distinguishable(laws[one], laws[other], epsilon)
                if found:
                    known[pair] = data, outcome
                    break
    return known[pair]


def of_table(
    laws: Laws, k: int, epsilon: Loss, names: tuple[str, ...] | None = None, subject: str = "a table of laws"
) -> Finding:
    """Whether the mechanism is (k, epsilon)-crowd-blending on the data sets of the table, with the smallest witness."""
    _check(laws)
    kinds = len(next(iter(laws)))
    called = names or tuple(f"kind {i + 1}" for i in range(kinds))
    found, largest = lone(laws, k, epsilon), max(map(sum, laws))
    verdict: Verdict = Proved(
        f"in each of the {len(laws):,} data sets of up to {largest} people everybody blends with {k} people or can be "
        "left out"
    )
    if found is not None:
        verdict = Refuted(*_witness(found, called))
    return Finding(
        game=Game.CROWD_BLENDING,
        depth=Depth.EXACT,
        verdict=verdict,
        claimed=f"({k}, {to_text(epsilon)})-crowd-blending",
        subject=subject,
        lower_bound=None if found is None else f"a crowd of {found.crowd}",
        numbers={"data_sets": len(laws)},
    )


def _witness(found: Lone, names: tuple[str, ...]) -> tuple[str, tuple[tuple[str, str], ...]]:
    parts = [
        ("people", _people(found.data, names)),
        ("person", names[found.kind]),
        ("crowd", str(found.crowd)),
        ("missed_by", f"the outcome {found.outcome}"),
    ]
    for u, data, outcome in found.others:
        parts.append((f"not_like_{names[u]}", f"beside {_people(data, names)}, by the outcome {outcome}"))
    return "somebody stands in too small a crowd and is missed when left out", tuple(parts)


def _people(data: Data, names: tuple[str, ...]) -> str:
    return " and ".join(f"{count} of {name}" for count, name in zip(data, names, strict=True) if count) or "nobody"


def _check(laws: Laws) -> None:
    if not laws or len(laws) > _MOST:
        raise WrongUse(f"a table has between 1 and {_MOST:,} laws; list fewer data sets")
    if not any(map(sum, laws)):
        raise WrongUse("a table of laws is about people, and this has none in any data set; list some with somebody")
    for data, law in laws.items():
        if sum(law.values()) != 1 or any(p < 0 for p in law.values()):
            raise WrongUse(f"the probabilities for the data set {list(data)} must be at least 0 and add up to 1")
        for t, count in enumerate(data):
            if count and plus(data, t, -1) not in laws:
                raise WrongUse(f"the table has {list(data)} and not that with one person fewer; list every smaller one")


def read(path: str | Path) -> tuple[Laws, tuple[str, ...]]:
    """A table from JSON: ``{"kinds": [..], "laws": [{"people": [1, 0], "outcomes": {"hidden": "1"}}, ..]}``."""
    try:
        with open_regular(path) as file:
            given = json.loads(file.read().decode("utf-8"))
        names = tuple(str(name) for name in given["kinds"])
        laws: dict[Data, Law] = {}
        for row in given["laws"]:
            data = tuple(integer(count, "a number of people") for count in row["people"])
            if len(data) != len(names):
                raise WrongUse(f"each data set has {len(names)} numbers, one for each kind; check {row['people']}")
            if data in laws:
                raise WrongUse(f"the data set {list(data)} is listed twice; list it once")
            laws[data] = {outcome: rational(p, "a probability") for outcome, p in row["outcomes"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise WrongUse(
            'a table of laws is JSON like {"kinds": ["x"], "laws": [{"people": [0], "outcomes": {"hidden": "1"}}]}; '
            "this file is not"
        ) from error
    return laws, names


ANY: Loss = INFINITY
"""An epsilon that allows everything but outcomes that are impossible without the person."""
