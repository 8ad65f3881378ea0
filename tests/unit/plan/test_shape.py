"""Shapes: whoever is shared out is all there, and public counts are read strictly."""

from __future__ import annotations

from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.plan.shape import divide_in_proportion, even, read, zipf


def test_even_bins_differ_by_one_at_most() -> None:
    shape = even(103, 10)
    assert shape.groups == ((11, 3), (10, 7))
    assert (shape.people, shape.bins) == (103, 10)
    assert even(3, 5).counts() == [1, 1, 1, 0, 0]


def test_zipf_falls_like_one_over_i() -> None:
    shape = zipf(50_000, 400)
    counts = shape.counts()
    assert (shape.people, shape.bins, len(counts)) == (50_000, 400, 400)
    assert counts == sorted(counts, reverse=True)
    assert abs(counts[0] - 10 * counts[9]) <= 10
    assert zipf(1000, 10, 2).counts()[0] > zipf(1000, 10).counts()[0]
    assert zipf(1000, 10, "1.5").name == "zipf:1.5"


def test_the_largest_remainders_get_the_rest() -> None:
    assert divide_in_proportion([1, 1, 1], 4) == [2, 1, 1]
    assert divide_in_proportion([5, 3, 2], 10) == [5, 3, 2]
    assert sum(divide_in_proportion([1 / i for i in range(1, 20_001)], 123_457)) == 123_457


def test_public_counts_are_a_shape(tmp_path: Path) -> None:
    place = tmp_path / "last-year.csv"
    place.write_text("department,count,low\nFire,30,25\nPolice,70,60\nMayor,,0\n")
    shape = read(str(place), None, None)
    assert shape.counts() == [70, 30, 0]
    assert shape.name == "the counts in last-year.csv"
    assert read(str(place), 1000, 3).counts() == [700, 300, 0]
    single = tmp_path / "one.csv"
    single.write_text("people\n4\n5\n")
    assert read(str(single), None, None).counts() == [5, 4]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a,b\n1,2\n", "a column named count"),
        ("count\n-3\n", "line 2"),
        ("count\n1\n2.5\n", "line 3"),
        ("count\n0\n\n", "nobody in them"),
        ("count\n", "a header and one line"),
    ],
)
def test_bad_counts_are_refused(tmp_path: Path, text: str, says: str) -> None:
    place = tmp_path / "bad.csv"
    place.write_text(text)
    with pytest.raises(WrongUse, match=says):
        read(str(place), None, None)


def test_what_a_shape_needs() -> None:
    with pytest.raises(WrongUse, match="needs people and bins"):
        read("zipf", 100, None)
    with pytest.raises(WrongUse, match="a CSV file that can be read"):
        read("gaussian", 100, 10)
    with pytest.raises(WrongUse, match="above 0"):
        read("zipf:0", 100, 10)
    with pytest.raises(WrongUse, match="at most 20"):
        read("zipf:1e400", 100, 10)
    with pytest.raises(WrongUse, match="at most 10,000,000"):
        read("even", 100, 10**9)
