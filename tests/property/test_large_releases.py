"""For all tables: a domain that is not listed shows what listing it would, and points are deleted by cells and nothing
else."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubbub.channels.mechanisms.exact_above import ExactOrSuppressed
from hubbub.kinds.histogram.sparse import visible_bins
from hubbub.kinds.points.mechanism import move_points
from hubbub.kinds.points.request import points
from hubbub.noise.source import ScriptedSource

TOTAL = 60
tables = st.dictionaries(st.integers(0, TOTAL - 1), st.integers(1, 9), max_size=20)


@given(tables, st.integers(2, 6))
def test_bins_that_are_not_listed_are_those_that_listing_hides(table: dict[int, int], k: int) -> None:
    channel = ExactOrSuppressed(k)
    empty = channel.empty_bins()
    codes = np.array(list(table), dtype=np.int64)
    source = ScriptedSource.from_label("none is drawn")
    published = channel.release(np.array(list(table.values()), dtype=np.int64), source)
    found, out = visible_bins(codes, published, empty, TOTAL, source)
    assert found.tolist() == sorted(code for code, count in table.items() if count >= k)
    assert out.values.tolist() == [table[code] for code in found.tolist()]


@given(tables, st.integers(2, 6))
def test_as_many_points_are_published_as_cells_with_a_crowd_have_people(table: dict[int, int], crowd: int) -> None:
    """A grid of 3 by 5 cells, each of 2 by 2 positions; along a column that does not move cells keep their numbers."""
    spec = points("x,y", grid="2,2", box="0..6,0..10", lattice="2,1", crowd=crowd, epsilon=1)
    codes = np.array(sorted(code for code in table if code < 30), dtype=np.int64)
    counts = np.array([table[code] for code in codes.tolist()], dtype=np.int64)
    cells: Counter[tuple[int, int]] = Counter()
    for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
        cells[code // 10, code % 10 // 2] += count
    x, y = move_points(spec, codes, counts, ScriptedSource.from_label("moved"))
    right: Counter[int] = Counter()
    for (across, _), people in cells.items():
        right[across] += people if people >= crowd else 0
    assert Counter(x.tolist()) == +right
    assert y.size == sum(right.values())
    assert sorted(zip(x.tolist(), y.tolist(), strict=True)) == list(zip(x.tolist(), y.tolist(), strict=True))
