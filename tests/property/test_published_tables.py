"""For all small populations and sets of their margins: what is determined is what enumeration finds, and no more."""

from __future__ import annotations

from itertools import product

import numpy as np
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hubbub.audit.published.inference import of_tables
from hubbub.audit.published.links import Cell, Published

NAMES = ("a", "b", "c")
K = 2
MOST = 4  # people in a cell of a joint table that is looked at
MARGINS = [("a", "b", "c"), ("a", "b"), ("b", "c"), ("a", "c"), ("a",), ("b",), ("c",), ()]
JOINT = np.stack(np.meshgrid(*[np.arange(MOST + 1, dtype=np.int8)] * 8, indexing="ij"), axis=-1).reshape(-1, 8)
KEYS = list(product("01", repeat=3))


def cells_of(columns: tuple[str, ...]) -> dict[tuple[str, ...], list[int]]:
    """The joint cells that add up to each cell of a margin."""
    found: dict[tuple[str, ...], list[int]] = {}
    for i, key in enumerate(KEYS):
        found.setdefault(tuple(key[NAMES.index(name)] for name in columns), []).append(i)
    return found


RING = {("a", "b"), ("b", "c"), ("a", "c")}


@example([0, 0, 0, 1, 0, 1, 0, 1], RING)  # found only with a table over all columns
@example([0, 1, 1, 1, 1, 1, 1, 0], RING)
@example([1, 0, 1, 1, 0, 1, 2, 1], RING)  # found only by programs
@example([0, 0, 0, 1, 2, 1, 1, 1], {("a",), ("a", "b", "c"), ("b",)})
@example([1, 0, 1, 1, 0, 1, 0, 1], {("a", "b"), ("a", "b", "c"), ("c",)})
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(st.integers(0, 2), min_size=8, max_size=8),
    st.sets(st.sampled_from(MARGINS[:7]), min_size=1, max_size=4),
)
def test_the_ranges_are_those_of_enumeration(people: list[int], margins: set[tuple[str, ...]]) -> None:
    tables, fits = [], np.ones(len(JOINT), dtype=bool)
    for columns in sorted(margins):
        cells = {}
        for key, parts in cells_of(columns).items():
            count = sum(people[i] for i in parts)
            cells[key] = Cell(count, count, False) if count >= K else Cell(0, K - 1, True)
            total = JOINT[:, parts].sum(axis=1)
            fits &= (total == count) if count >= K else (total < K)
        tables.append(Published("".join(columns), columns, cells))
    possible = JOINT[fits]
    expected = set()
    for table in tables:
        for key, parts in cells_of(table.columns).items():
            if table.cells[key].hidden:
                values = possible[:, parts].sum(axis=1)
                if values.min() == values.max():
                    expected.add((table.name, key, int(values.min())))
    found = of_tables(tables, K)
    told = {(cell.table, tuple(value for _, value in cell.key), cell.low) for cell in found.determined}
    assert told == expected, (people, sorted(margins))
    assert found.word == ("refuted" if expected else "proved")
