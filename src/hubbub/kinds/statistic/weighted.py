"""What weights add up to, by bins: counted once, by value and weight together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hubbub.noise.source import Source
from hubbub.tables.bounded_column import Measure
from hubbub.tables.engine import CountQuery, ExactCounts

if TYPE_CHECKING:
    from hubbub.tables.engine import Engine


def weighted_counts(query: CountQuery, steps: int, weight: Measure, engine: Engine, source: Source) -> ExactCounts:
    """The sum of the weights of the people of every bin, in steps, and, where something is measured, that of their
    weights times their steps x: whole numbers of any size.

    Whoever has no weight, or is in no bin, is left out.
    """
    by_bin: dict[int, tuple[int, int]] = {}
    width = 1 if query.measure is None else steps + 1
    for code, each, count in weight_cells(query, weight, engine, source):
        place, x = divmod(code, width)
        total, part = by_bin.get(place, (0, 0))
        by_bin[place] = total + count * each, part + count * each * x
    numbers = list(by_bin.values())
    return ExactCounts(
        np.array(list(by_bin), dtype=np.int64),
        np.array([total for total, _ in numbers], dtype=object),
        (),
        None if query.measure is None else tuple(part for _, part in numbers),
    )


def weight_cells(
    query: CountQuery, weight: Measure, engine: Engine, source: Source
) -> Iterator[tuple[int, int, int]]:  # fmt: skip
    """(the code of bin and value, the weight in steps, how many people): whoever has no weight, no value or no bin is
    left out."""
    weights = replace(query, axes=(), where=None, measure=weight, by_value=True)
    joint = engine.joint_count((query, weights), source)
    cells = zip(*(codes.tolist() for codes in joint.codes), joint.counts.tolist(), strict=True)
    yield from ((code, each, count) for code, each, count in cells if code >= 0 and each >= 0)
