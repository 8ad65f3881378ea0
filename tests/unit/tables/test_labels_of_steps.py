"""The labels of a range in steps, all of them or some: as if every edge were a fraction and written by itself."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hubbub.numeric.exact import to_text
from hubbub.tables.bins import Steps, all_labels
from hubbub.tables.labels import labels_at

NUMBERS = st.integers(-(10**20), 10**20).map(Fraction) | st.fractions(max_denominator=1000)


@given(NUMBERS, NUMBERS.filter(lambda width: width > 0), st.integers(0, 20))
def test_labels_are_the_edges_two_by_two(low: Fraction, width: Fraction, steps: int) -> None:
    axis = Steps("age", low, width, steps)
    assert axis.labels == tuple(f"[{to_text(a)},{to_text(b)})" for a, b in pairwise(axis.edges))
    assert all(Fraction(to_text(edge)) == edge for edge in axis.edges)


@given(NUMBERS, NUMBERS.filter(lambda width: width > 0), st.integers(0, 20), st.booleans(), st.booleans(), st.data())
def test_labels_at_some_places_are_those_of_all(
    low: Fraction, width: Fraction, steps: int, null: bool, other: bool, data: st.DataObject
) -> None:
    axis = Steps("age", low, width, steps, null, other)
    known = all_labels(axis)
    places = data.draw(st.lists(st.sampled_from(range(len(known))))) if known else []
    assert labels_at(axis, places) == [known[i] for i in places]
