"""A cluster of one machine, without Spark: its tasks run here, in any order, twice if need be, and may fail."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hubbub.noise.source import Source
from hubbub.tables.engine import CountQuery, Engine, ExactCounts
from hubbub.tables.parts import Cut, Listed, Report, Sparse, Task

Running = Callable[[Task, list[tuple[int, ExactCounts]]], Sequence[Report]]


def in_turn(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
    return [task(part, counted) for part, counted in parts]


def everything_twice(task: Task, parts: list[tuple[int, ExactCounts]]) -> list[Report]:
    """Backwards, each part by two attempts, of which the first is told: the other leaves its file behind."""
    told = in_turn(task, parts[::-1])
    in_turn(task, parts)
    return told


def part_of(cut: Cut, counted: ExactCounts, i: int) -> int:
    code = int(counted.codes[i])
    match cut:
        case Listed():
            return code // cut.width
        case Sparse():
            return code % cut.parts
        case _:
            labels = repr([labels[i] for labels in counted.found]).encode()
            return int(hashlib.sha256(labels).hexdigest(), 16) % cut.parts


def some(counted: ExactCounts, which: Sequence[int]) -> ExactCounts:
    at = np.array(which, dtype=np.intp)
    found = tuple([labels[i] for i in which] for labels in counted.found)
    return ExactCounts(counted.codes[at], counted.counts[at], found)


def in_parts(cut: Cut, counted: ExactCounts) -> list[tuple[int, ExactCounts]]:
    places = [part_of(cut, counted, i) for i in range(counted.codes.size)]
    return [(part, some(counted, [i for i, at in enumerate(places) if at == part])) for part in range(cut.parts)]


class Cluster:
    """An engine whose counts can be published part by part."""

    def __init__(self, engine: Engine, running: Running = in_turn) -> None:
        self.engine, self.running = engine, running
        self.columns, self.count, self.identity = engine.columns, engine.count, engine.identity

    def observing_ids(self, notice: Any) -> Cluster:
        return Cluster(self.engine.observing_ids(notice), self.running)

    def remote_count(self, question: CountQuery, source: Source) -> _Far:
        return _Far(self, question, source)


class _Far:
    def __init__(self, cluster: Cluster, question: CountQuery, source: Source) -> None:
        self.cluster, self.question, self.source = cluster, question, source

    def reports(self, cut: Cut, task: Task) -> Sequence[Report]:
        counted = self.cluster.engine.count(self.question, self.source)
        return self.cluster.running(task, in_parts(cut, counted))


def rows_of(folder: Path) -> Iterator[dict[str, Any]]:
    """All rows of the parts in a folder, in order."""
    import pyarrow.parquet as pq

    for file in sorted(folder.glob("*.parquet")):
        yield from pq.read_table(file).to_pylist()
