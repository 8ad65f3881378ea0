"""A tree of prefixes with noise on every node: level after level, empty nodes too.

Level 1 is the official first choices. Below a node that is shown, each candidate who may come next, and "stops
here", is a node with a number of its own, drawn from the warped law of its count. What lies below a node that is
hidden is not drawn, which is the same as drawing it and throwing it away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from hubbub.channels.estimate import intervals
from hubbub.channels.mechanisms.warped import Warped
from hubbub.channels.protocol import Published
from hubbub.guarantees.curve import Curve, Piece
from hubbub.kinds.ballots.tally_paths import Path
from hubbub.noise.source import Source
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.official import Official

STOP: Final = "\0"
"""In the place of a next candidate: the ballot ranks nobody further. No candidate is called so."""


_RARE: Final = 7


def level_channel(k: int, epsilon: Fraction) -> Warped:
    """The law of a level: epsilon/k for crowds up to k, epsilon above.

    Guarantee: a number is shown from k + 7/epsilon on, so that an empty node is shown with a chance below e^-7, one in
    a thousand: Pr[J > T] < exp(-E(T + 1)), and E(T + 1) is above epsilon (T - k) >= 7.
    """
    curve = Curve((Piece(1, epsilon / k), Piece(k + 1, epsilon)))
    return Warped(curve, k + math.ceil(_RARE / epsilon))


def noisy_tree(
    counts: Mapping[Path, int], official: Official, *, k: int, depth: int, epsilon: Fraction, source: Source
) -> list[tuple[Path, int]]:
    """The nodes that are shown with their numbers, level after level; `epsilon` is that of each level.

    Guarantee: a ballot is in at most one node of each level, every node's number is drawn by itself, and which nodes
    are drawn follows from the numbers above: depth - 1 releases of a table of counts through `level_channel`,
    post-processed.
    """
    channel = level_channel(k, epsilon)
    visible: list[tuple[Path, int]] = []
    parents: list[Path] = [(name,) for name, total in official.rounds[0].totals if total >= k]
    for _ in range(2, depth + 1):
        children = [(*path, name) for path in parents for name in following(path, official.candidates)]
        drawn = channel.release([counts.get(child, 0) for child in children], source)
        numbers = ((path, drawn.outcome(i)[0]) for i, path in enumerate(children))
        passed = [(path, number) for path, number in numbers if number is not None]
        visible += passed
        parents = [path for path, _ in passed if path[-1] != STOP]
        if not parents:
            break
    return visible


def tree_intervals(
    numbers: Sequence[int], *, k: int, epsilon: Fraction, coverage: Fraction
) -> list[tuple[int, int | None]]:
    """How many ballots a node that shows such a number has."""
    visible = Published(np.array(numbers, dtype=np.int64), np.zeros(len(numbers), dtype=np.intp), ("",))
    low, high = intervals(level_channel(k, epsilon), visible, coverage)
    return [(a, None if b < 0 else b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def following(path: Path, candidates: Iterable[str]) -> list[str]:
    """Who may come next, and that nobody does."""
    return [*(name for name in candidates if name not in path), STOP]


def counted_prefixes(ballots: Ballots, depth: int) -> dict[Path, int]:
    """How many ballots begin with each prefix of 2 to `depth` ranks, or stop after one of fewer."""
    names, counts = ballots.strictly("publishing ballots").candidates, dict[Path, int]()
    for row, weight in zip(ballots.rankings.tolist(), ballots.weights.tolist(), strict=True):
        ranking = [names[i] for i in row[:depth] if i >= 0]
        nodes = [tuple(ranking[:length]) for length in range(2, len(ranking) + 1)]
        if 0 < len(ranking) < depth:
            nodes.append((*ranking, STOP))
        for node in nodes:
            counts[node] = counts.get(node, 0) + weight
    return counts
