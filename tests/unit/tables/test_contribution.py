"""Bounds on what one person contributes: sensitivities against every small person, JSON and words."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from hubbub.errors import WrongUse
from hubbub.tables.contribution import ContributionBounds, Moved

Rows = tuple[tuple[int, int], ...]  # (bin, value)
MOST = 3  # rows that a small person has


def every_person(bins: int, low: int, high: int) -> Iterator[Rows]:
    """Every multiset of at most MOST rows."""
    rows = list(itertools.product(range(bins), range(low, high + 1)))
    for n in range(MOST + 1):
        yield from itertools.combinations_with_replacement(rows, n)


def is_bounded(rows: Rows, bounds: ContributionBounds) -> bool:
    """Whether it can come out of the map before the caps: the map only leaves rows out."""
    bins = [row[0] for row in rows]
    if bounds.rows_per_person is not None and len(rows) > bounds.rows_per_person:
        return False
    if bounds.distinct is not None and len(set(bins)) > bounds.distinct:
        return False
    return bounds.rows_per_bin is None or all(bins.count(b) <= bounds.rows_per_bin for b in set(bins))


def capped(rows: Rows, bounds: ContributionBounds, bins: int) -> Iterator[tuple[int, ...]]:
    """What the sums can be after the caps, for every order of the bins."""
    sums = [sum(value for b, value in rows if b == place) for place in range(bins)]
    if bounds.cap_per_bin is not None:
        sums = [max(-bounds.cap_per_bin, min(bounds.cap_per_bin, each)) for each in sums]
    if bounds.cap is None:
        yield tuple(sums)
        return
    for order in itertools.permutations(range(bins)):
        left, told = bounds.cap, [0] * bins
        for place in order:
            cut = min(abs(sums[place]), left)
            told[place], left = cut if sums[place] > 0 else -cut, left - cut
        yield tuple(told)


def largest(vectors: set[tuple[int, ...]], *, swap: bool) -> Moved:
    """By trying all of them; somebody may also be nobody."""
    pairs = itertools.product(vectors, vectors) if swap else ((each, (0,) * len(each)) for each in vectors)
    moves = [[abs(x - y) for x, y in zip(one, other, strict=True)] for one, other in pairs]
    return Moved(max(sum(each) for each in moves), max(sum(x * x for x in each) for each in moves))


ROW_BOUNDS = [
    ContributionBounds(rows_per_person=m, distinct=b, rows_per_bin=c)
    for m, b, c in itertools.product((1, 2, 3, None), (1, 2, None), (1, 2, None))
    if m is not None or (b is not None and c is not None and b * c <= MOST)
]


@pytest.mark.parametrize("bins", [1, 2, 3, 4])
@pytest.mark.parametrize("swap", [False, True])
def test_rows_people_and_means_move_by_what_some_small_person_moves_and_nobody_more(bins: int, swap: bool) -> None:
    for bounds in ROW_BOUNDS:
        kept = [rows for rows in every_person(bins, 0, 0) if is_bounded(rows, bounds)]
        counts = {tuple(sum(b == place for b, _ in rows) for place in range(bins)) for rows in kept}
        assert bounds.rows(bins, swap=swap) == largest(counts, swap=swap), bounds
        there = {tuple(min(n, 1) for n in each) for each in counts}
        if bounds._bins(None) is not None:
            assert bounds.people(bins, swap=swap) == largest(there, swap=swap), bounds


@pytest.mark.parametrize("bins", [1, 2])
@pytest.mark.parametrize("swap", [False, True])
def test_both_sums_of_a_mean_move_together(bins: int, swap: bool) -> None:
    width = 2
    for bounds in ROW_BOUNDS:
        both = set()
        for rows in every_person(bins, 0, width):
            if is_bounded(rows, bounds):
                sums = [sum(x for b, x in rows if b == place) for place in range(bins)]
                rest = [sum(width - x for b, x in rows if b == place) for place in range(bins)]
                both.add((*sums, *rest))
        assert bounds.means(width, bins, swap=swap) == largest(both, swap=swap), bounds


CAPPED = [
    *ROW_BOUNDS,
    *(
        ContributionBounds(rows_per_person=m, distinct=b, rows_per_bin=c, cap_per_bin=each, cap=total)
        for m, b, c in ((3, None, None), (2, 2, None), (3, 2, 2), (3, 1, None))
        for each, total in ((1, None), (2, None), (4, None), (None, 1), (None, 3), (None, 5), (2, 3), (4, 5))
    ),
]


@pytest.mark.parametrize("bins", [1, 2, 3])
@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("ends", [(0, 2), (1, 2), (-2, 0), (-2, 1), (-1, 1)])
def test_no_small_person_moves_a_sum_by_more(bins: int, swap: bool, ends: tuple[int, int]) -> None:
    """And some one by as much, but where values of both signs are replaced or a cap per bin is no multiple."""
    top = max(map(abs, ends))
    for bounds in CAPPED:
        kept = (rows for rows in every_person(bins, *ends) if is_bounded(rows, bounds))
        sums = {told for rows in kept for told in capped(rows, bounds, bins)}
        right, claimed = largest(sums, swap=swap), bounds.sums(*ends, bins, swap=swap)
        assert claimed.l1 >= right.l1, bounds
        assert claimed.l2_squared >= right.l2_squared, bounds
        multiple = bounds.cap_per_bin is None or bounds.cap_per_bin % top == 0
        signed = ends[0] < 0 < ends[1]
        if multiple and not (swap and signed and bins < 2 * (bounds._bins(bins) or bins)):
            assert claimed.l1 == right.l1, (bounds, claimed, right)
        if multiple and not signed and (bounds.cap is None or not swap):
            assert claimed.l2_squared == right.l2_squared, (bounds, claimed, right)


def test_caps_alone_bound_sums() -> None:
    assert ContributionBounds(cap=7).sums(0, 100, None) == Moved(7, 49)
    assert ContributionBounds(cap=7).sums(0, 100, None, swap=True) == Moved(14, 98)
    assert ContributionBounds(distinct=3, cap_per_bin=5).sums(0, 100, 10) == Moved(15, 75)
    assert ContributionBounds(cap_per_bin=5).sums(0, 100, 4) == Moved(20, 100)
    with pytest.raises(WrongUse, match="cap=A"):
        ContributionBounds(cap_per_bin=5).sums(0, 100, None)


def test_the_worked_example_of_one_sum_by_four_ways() -> None:
    """m = 20, c = 4, B = 5, values up to 100: rows, a' = 200 per bin, A = 600 in all."""
    rows = {"rows_per_person": 20, "rows_per_bin": 4, "distinct": 5}
    assert ContributionBounds(rows_per_person=20).sums(0, 100, 100) == Moved(2000, 2000**2)
    assert ContributionBounds(**rows).sums(0, 100, 100) == Moved(2000, 5 * 400**2)
    assert ContributionBounds(**rows, cap_per_bin=200).sums(0, 100, 100) == Moved(1000, 5 * 200**2)
    assert ContributionBounds(**rows, cap=600).sums(0, 100, 100) == Moved(600, 400**2 + 200**2)


def test_bounds_are_cut_to_what_the_bins_and_each_other_make_possible() -> None:
    given = ContributionBounds(rows_per_person=3, distinct=9, rows_per_bin=5)
    assert given.within(2) == ContributionBounds(rows_per_person=3, distinct=2, rows_per_bin=3)
    assert given.within(None) == ContributionBounds(rows_per_person=3, distinct=3, rows_per_bin=3)
    assert ContributionBounds(rows_per_person=3).within(1) == ContributionBounds(rows_per_person=3)


@pytest.mark.parametrize("given", [{}, {"rows_per_bin": 2}, {"distinct": 2}])
def test_rows_without_a_bound_are_refused(given: dict[str, int]) -> None:
    with pytest.raises(WrongUse, match="rows_per_person=M"):
        ContributionBounds(**given).rows(None)


@pytest.mark.parametrize("wrong", [0, -1, "1/2", 10**6 + 1, "x"])
def test_a_bound_is_a_whole_number_above_0(wrong: object) -> None:
    with pytest.raises(WrongUse):
        ContributionBounds(rows_per_person=wrong)  # type: ignore[arg-type]


def test_json_and_back() -> None:
    bounds = ContributionBounds(rows_per_person=5, cap=7)
    told = bounds.to_json()
    assert told == {"rows_per_person": 5, "distinct": None, "rows_per_bin": None, "cap_per_bin": None, "cap": 7}
    assert ContributionBounds.from_json(told) == bounds


def test_words() -> None:
    def words(bins: int | None = None, **bounds: int) -> str:
        return ContributionBounds(**bounds).describe("visits", "patient", bins=bins)

    assert words(rows_per_person=5) == "visits, at most 5 of each patient"
    assert words(rows_per_person=5, distinct=1) == "visits, at most 5 of each patient, in at most 1 bin"
    assert words(rows_per_person=5, distinct=2, bins=2) == "visits, at most 5 of each patient"
    assert words(rows_per_person=5, rows_per_bin=2) == "visits, at most 5 of each patient, and at most 2 in each"
    assert words(rows_per_person=5, rows_per_bin=2, bins=1) == "visits, at most 2 of each patient"
    assert words(distinct=3, rows_per_bin=2) == "visits, of each patient in at most 3 bins, and at most 2 in each"
    assert words(rows_per_bin=2) == "visits, of each patient at most 2 in each bin"
