"""The labels of a range in steps: whole numbers are written without fractions, and are the same."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hubbub.numeric.exact import to_text
from hubbub.tables.bins import Steps

NUMBERS = st.integers(-(10**20), 10**20).map(Fraction) | st.fractions(max_denominator=1000)


@given(NUMBERS, NUMBERS.filter(lambda width: width > 0), st.integers(0, 20))
def test_labels_are_the_edges_two_by_two(low: Fraction, width: Fraction, steps: int) -> None:
    axis = Steps("age", low, width, steps)
    assert axis.labels == tuple(f"[{to_text(a)},{to_text(b)})" for a, b in pairwise(axis.edges))
    assert all(Fraction(to_text(edge)) == edge for edge in axis.edges)
