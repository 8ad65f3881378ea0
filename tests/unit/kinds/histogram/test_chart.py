"""Which bins are drawn where there are too many."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubbub.kinds.histogram.chart import largest


@given(st.lists(st.integers(-5, 5), max_size=30), st.integers(1, 12))
def test_the_largest_are_the_first_of_all_in_order(values: list[int], most: int) -> None:
    wanted = sorted(range(len(values)), key=lambda i: -values[i])[:most]
    assert largest(np.array(values, dtype=np.int64), most).tolist() == wanted
