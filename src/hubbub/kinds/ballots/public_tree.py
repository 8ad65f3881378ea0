"""Prefixes of rankings that are public beforehand: whom the official first choices make look common enough.

A prefix a > b > c is in the tree if Harville's prediction F_a * F_b/(N - F_a) * F_c/(N - F_a - F_b) is at least k, with
F the official first choices and N their sum. A ballot counts for its longest prefix in the tree. The tree follows from
the official record alone, so that is a public partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from hubbub.kinds.ballots.tally_paths import Path, in_order
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.official import Official


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
