"""Classes of queries: what they list, count and split, against the definition, cell by cell."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.errors import WrongUse
from hubbub.query_classes.classes import (
    Class,
    ColumnCells,
    Halfspace,
    Halfspaces,
    Listed,
    finite,
    log_growth,
    log_halfspaces,
    parse,
    sampling_error,
    sum_cells,
    width,
)

SMALL = [
    ("marginals:1", (3,)),
    ("marginals:2", (2, 3, 2)),
    ("conjunctions:2", (2, 1, 3)),
    ("conjunctions:3", (2, 2, 2)),
    ("intervals", (6,)),
    ("boxes", (3, 4)),
    ("boxes", (2, 2, 2)),
]


def listed(of: str, shape: tuple[int, ...]) -> Listed:
    found = parse(of, shape)
    assert not isinstance(found, Halfspaces)
    return found


@pytest.mark.parametrize(("of", "shape"), SMALL)
def test_every_answer_is_the_sum_of_its_cells_and_every_query_has_its_place(of: str, shape: tuple[int, ...]) -> None:
    queries = listed(of, shape)
    cells = np.arange(1, 1 + int(np.prod(shape)), dtype=np.int64).reshape(shape) ** 2
    answers = queries.answers(cells)
    assert len(answers) == queries.number
    for place in range(queries.number):
        box = queries.at(place)
        assert queries.has(box)
        assert answers[place] == sum_cells(box, cells) == answers[queries.index_of(box)]
    boxes = [queries.at(place) for place in range(queries.number)]
    assert max(width(box, shape) for box in boxes) == queries.widest
    inside = queries.answers(np.ones(shape, dtype=np.int64))
    assert inside.max() == queries.widest
    ones = np.eye(cells.size, dtype=np.int64).reshape(-1, *shape)
    assert max(int(queries.answers(each).sum()) for each in ones) == queries.depth


def test_cells_that_are_not_empty_are_enough() -> None:
    queries = listed("conjunctions:2", (3, 4, 2))
    cells = np.zeros((3, 4, 2), dtype=np.int64)
    cells[1, 2, 0], cells[0, 3, 1] = 7, 5
    codes = np.flatnonzero(cells)
    assert isinstance(queries, ColumnCells)
    assert queries.of_listed(codes, cells.ravel()[codes]).tolist() == queries.answers(cells).tolist()


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.data())
def test_what_is_no_query_of_the_class_is_none(sizes: list[int], data: st.DataObject) -> None:
    shape = tuple(sizes)
    ways = data.draw(st.integers(1, len(shape)))
    queries = listed(f"marginals:{ways}", shape)
    known = {queries.at(place) for place in range(queries.number)}
    spans = [[(a, b) for a in range(n) for b in range(a + 1, n + 1)] for n in shape]
    for box in product(*spans):
        assert queries.has(box) == (box in known)


def shattered(queries: Listed, shape: tuple[int, ...], people: int) -> bool:
    """Whether some set of so many cells is split in every way."""
    ones = np.eye(int(np.prod(shape)), dtype=np.int64).reshape(-1, *shape)
    table = np.stack([queries.answers(each) for each in ones])  # cell x query
    return any(
        len({tuple(column) for column in table[list(some)].T}) == 2**people
        for some in combinations(range(len(ones)), people)
    )


@pytest.mark.parametrize(("of", "shape"), SMALL)
def test_the_vc_dimension_is_never_above_what_is_said(of: str, shape: tuple[int, ...]) -> None:
    queries = listed(of, shape)
    true = max((m for m in range(1, 5) if shattered(queries, shape, m)), default=0)
    assert true <= queries.dimension
    assert of not in ("intervals", "marginals:2") or queries.dimension - true <= 1  # it says something


def test_dimensions_are_those_of_the_literature() -> None:
    assert parse("intervals", (100,)).dimension == 2
    assert parse("boxes", (30, 30, 30)).dimension == 6
    assert parse("halfspaces", (9, 9)).dimension == 3
    assert parse("conjunctions:3", (2,) * 20).dimension == 13  # log2 of the 9,920 queries is smaller than 20


@pytest.mark.parametrize("shape", [(3,), (2, 2), (3, 3), (2, 2, 2)])
def test_half_spaces_are_no_more_than_cover_says(shape: tuple[int, ...]) -> None:
    found = set()
    for weights in product([-3, -2, -1, 0, 1, 2, 3], repeat=len(shape)):
        for limit in {sum(w * x for w, x in zip(weights, point, strict=True)) for point in product(*map(range, shape))}:
            cells = Halfspace(tuple(map(Fraction, weights)), Fraction(limit)).cells(shape)
            found |= {cells.tobytes(), (~cells).tobytes()}
    assert len(found) <= exp(float(log_halfspaces(int(np.prod(shape)), len(shape)))) * (1 + 1e-9)
    assert len(found) > 2 * np.prod(shape) - 2  # and at least those of a line


def test_a_half_space_counts_its_cells() -> None:
    cells = np.arange(12, dtype=np.int64).reshape(3, 4)
    below = Halfspace((Fraction(1), Fraction(1, 2)), Fraction(3, 2))
    wanted = sum(int(cells[i, j]) for i in range(3) for j in range(4) if i + j / 2 <= 1.5)
    assert sum_cells(below, cells) == wanted
    with pytest.raises(WrongUse, match="too large or too fine"):
        Halfspace((Fraction(1, 10**30), Fraction(1)), Fraction(1)).cells((3, 4))


@pytest.mark.parametrize(
    ("of", "shape", "says"),
    [
        ("margins:2", (2, 2), "a class of queries is one of"),
        ("marginals", (2, 2), "a class of queries is one of"),
        ("marginals:", (2, 2), "a class of queries is one of"),
        ("marginals:3", (2, 2), "between 1 and 2 columns"),
        ("conjunctions:0", (2, 2), "between 1 and 2 columns"),
        ("intervals", (2, 2), "intervals are of one column, not of 2"),
        ("intervals:2", (2,), "a class of queries is one of"),
    ],
)
def test_a_class_that_is_none_is_refused_in_one_sentence(of: str, shape: tuple[int, ...], says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        parse(of, shape)


# --- growth and the sample ----------------------------------------------------------------------------------------


def test_lemma_22_the_growth_function_is_sauers_sum_or_the_number_of_queries() -> None:
    queries = parse("intervals", (1000,))
    assert float(log_growth(queries, 10)) == pytest.approx(np.log(1 + 10 + 45))
    assert float(log_growth(queries, 10**6)) == pytest.approx(np.log(500_500))


def test_the_sample_is_as_near_as_serfling_says_over_every_sample() -> None:
    """n = 12 people in 4 ordered cells, all samples of 6: how many miss some interval by more than the bound."""
    queries = listed("intervals", (4,))
    people = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3, 3])
    doubt = Fraction(1, 2)
    bound = float(sampling_error(queries, 6, 12, doubt))
    truth = queries.answers(np.bincount(people, minlength=4)) / 12
    misses = [
        np.abs(queries.answers(np.bincount(people[list(some)], minlength=4)) / 6 - truth).max()
        for some in combinations(range(12), 6)
    ]
    assert np.mean(np.array(misses) > bound) <= float(doubt)
    assert np.mean(np.array(misses) > bound / 2) > 0
    assert finite(6, 12) == min(Fraction(7, 12), Fraction(1, 2) * Fraction(7, 6))
    assert sampling_error(queries, 12, 12, doubt) == 0


def test_proposition_23_is_beaten_by_three_to_four() -> None:
    """Theory A5: n = 10^6, k = 10^4: d = 2: 0.039 and 0.141, on a line that is fine enough."""
    queries: Class = parse("intervals", (10**7,))
    ours = float(sampling_error(queries, 10**4, 10**6, Fraction(1, 20)))
    paper = 2 * np.sqrt(2 / 10**4) * np.sqrt(2 * np.log(2 * np.e * 10**4 / 2) + np.log(4 / 0.05))
    assert paper == pytest.approx(0.141, abs=5e-4)
    assert ours == pytest.approx(0.039, abs=5e-4)
