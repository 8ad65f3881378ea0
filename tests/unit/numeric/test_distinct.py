"""Different values, and where each is among them: as NumPy has it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hubbub.numeric.exact_sums import distinct, distinct_and_inverse


@given(st.lists(st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1)))
def test_they_are_those_of_numpy(given_values: list[int]) -> None:
    values = np.array(given_values, dtype=np.int64)
    right, places = np.unique(values, return_inverse=True)
    assert distinct(values).tolist() == right.tolist()
    found, where = distinct_and_inverse(values)
    assert (found.tolist(), where.tolist()) == (right.tolist(), places.tolist())
