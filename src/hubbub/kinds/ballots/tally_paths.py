"""Tally paths: the candidates that a ballot sits with while the official rounds go by.

In an elimination count a ballot matters only through its path: those of its ranking who stay in longer than everybody
before them, up to a finalist. Who stood in which round is official and public, so paths are a public partition of all
ballots, the blank one included.

Prefixes of rankings that are public beforehand: whom the official first choices make look common enough.

A prefix a > b > c is in the tree if Harville's prediction F_a * F_b/(N - F_a) * F_c/(N - F_a - F_b) is at least k, with
F the official first choices and N their sum. A ballot counts for its longest prefix in the tree. The tree follows from
the official record alone, so that is a public partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from hubbub.errors import Refused
from hubbub.voting.ballots import Ballots, merged_rows
from hubbub.voting.count.official import Official

Path: TypeAlias = tuple[str, ...]


def tally_paths(ballots: Ballots, official: Official) -> dict[Path, int]:
    """How many ballots go each way, in the order of the official first round. Candidates whom the record does not
    name are passed over."""
    names = ballots.strictly("publishing ballots").candidates
    last = official.last_round()
    stays = np.array([*(last.get(name, 0) for name in names), 0], dtype=np.int16)  # the last is for -1
    held = stays[ballots.rankings]
    longest = np.maximum.accumulate(held, axis=1)
    before = np.concatenate([np.zeros((len(held), 1), dtype=held.dtype), longest[:, :-1]], axis=1)
    rows = np.where(held > before, ballots.rankings, -1)
    order = np.argsort(rows < 0, axis=1, kind="stable")
    paths, weights = merged_rows(np.take_along_axis(rows, order, axis=1), ballots.weights)
    found = {
        tuple(names[i] for i in row if i >= 0): weight
        for row, weight in zip(paths.tolist(), weights.tolist(), strict=True)
        if weight
    }
    return {path: found[path] for path in in_order(found, official)}


def in_order(paths: Iterable[Path], official: Official) -> list[Path]:
    """Sorted as the first official round lists candidates: an order that depends on nothing but the paths."""
    order = {name: i for i, name in enumerate(official.candidates)}
    return sorted(paths, key=lambda path: [order[name] for name in path])


def is_path(path: Path, official: Official) -> bool:
    """Whether some ballot goes this way."""
    last, stayed = official.last_round(), 0
    for name in path:
        if last.get(name, 0) <= stayed or stayed == len(official.rounds):
            return False
        stayed = last[name]
    return True


def is_finished(path: Path, official: Official) -> bool:
    """Whether it ends with a finalist; else the ballot is exhausted."""
    return bool(path) and path[-1] in official.finalists


def pile(path: Path, number: int, last: Mapping[str, int]) -> str | None:
    """With whom a ballot of this path sits in a round, None if with nobody any more."""
    return next((name for name in path if last[name] >= number), None)


def piles(paths: Mapping[Path, int], official: Official) -> list[dict[str | None, int]]:
    """What the rounds come to, if these are the ballots."""
    last = official.last_round()
    rounds: list[dict[str | None, int]] = []
    for number, each in enumerate(official.rounds, 1):
        counts: dict[str | None, int] = dict.fromkeys([*(name for name, _ in each.totals), None], 0)
        for path, ballots in paths.items():
            counts[pile(path, number, last)] += ballots
        rounds.append(counts)
    return rounds


def check_recount(paths: Mapping[Path, int], official: Official) -> None:
    """Refuse ballots whose count is not the official one: read otherwise, "same path" would not be "same pile".

    Guarantee: returns only if every total of every round, and every number of exhausted ballots that the record tells,
    is that of these ballots.
    """
    for counted, each in zip(piles(paths, official), official.rounds, strict=True):
        exhausted = counted.pop(None)
        if counted != dict(each.totals) or each.exhausted not in (None, exhausted):
            raise Refused(
                "the ballots do not add up to the official totals, so nothing is published: with other rules for "
                "overvotes, skipped ranks or names they may; compare with hubbub vote tally (this is for you alone)"
            )


def public_tree(official: Official, k: int) -> frozenset[Path]:
    """All prefixes that are predicted to have at least k ballots, and the empty one."""
    first = {name: total for name, total in official.first_choices.items() if total}
    return frozenset(_below((), Fraction(sum(first.values())), sum(first.values()), first, k))


def _below(prefix: Path, expected: Fraction, left: int, first: dict[str, int], k: int) -> Iterator[Path]:
    yield prefix
    for name, total in first.items():
        if name not in prefix and left and expected * total / left >= k:
            yield from _below((*prefix, name), expected * total / left, left - total, first, k)


def prefix_cells(ballots: Ballots, official: Official, k: int) -> dict[Path, int]:
    """How many ballots have each longest prefix."""
    tree, names = public_tree(official, k), ballots.strictly("publishing ballots").candidates
    known, counts = frozenset(official.candidates), dict[Path, int]()
    for row, weight in zip(ballots.rankings.tolist(), ballots.weights.tolist(), strict=True):
        prefix: Path = ()
        for i in row:
            if i < 0 or (*prefix, names[i]) not in tree:
                break
            prefix = (*prefix, names[i])
        counts[prefix] = counts.get(prefix, 0) + weight
    return {path: counts[path] for path in in_order(counts, official) if counts[path] and known.issuperset(path)}
