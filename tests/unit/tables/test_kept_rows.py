"""What is left of the bounds on a person, once rows are kept: against plain Python, person by person."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest

from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.kept_rows import KeptRows, in_profile_crowds, within_bounds


def one_by_one(person: list[int], places: list[int], bounds: ContributionBounds) -> list[bool]:
    found: list[bool] = []
    for _, group in groupby(zip(person, places, strict=True), key=lambda row: row[0]):
        in_bin: dict[int, int] = {}
        for _, place in group:
            if place < 0 or (place not in in_bin and len(in_bin) == (bounds.distinct or 10**9)):
                found.append(False)
                continue
            in_bin[place] = in_bin.get(place, 0) + 1
            found.append(in_bin[place] <= (bounds.rows_per_bin or 10**9))
    return found


@pytest.mark.parametrize(
    "bounds",
    [{"distinct": 1}, {"distinct": 2}, {"rows_per_bin": 1}, {"rows_per_bin": 2, "distinct": 2}, {"rows_per_person": 9}],
    ids=str,
)
def test_bins_and_rows_in_them_are_bounded_for_each_person_alone(bounds: dict[str, int]) -> None:
    rng = np.random.default_rng(7)
    limits = ContributionBounds(**bounds)
    for _ in range(40):
        person = np.sort(rng.integers(0, 6, rng.integers(0, 30))).astype(np.int64)
        places = rng.integers(-1, 4, person.size).astype(np.int64)
        assert within_bounds(person, places, limits).tolist() == one_by_one(person.tolist(), places.tolist(), limits)


def test_rows_of_those_who_were_drawn() -> None:
    rows = KeptRows(3, np.array([0, 0, 1, 2]), (np.array([5, 6, -1, 5]),))
    drawn = rows.of_people(np.array([True, False, True]))
    assert (drawn.people, drawn.person.tolist(), drawn.codes[0].tolist()) == (3, [0, 0, 2], [5, 6, 5])


def test_rows_count_whose_profile_at_least_k_people_have() -> None:
    """Profiles {0, 1}, {0, 1}, {0}, {0, 0}, {1, 0} and none: with k = 3 three people remain, with k = 2 no others."""
    person = np.array([0, 0, 1, 1, 2, 3, 3, 4, 4, 5])
    bins = np.array([0, 1, 1, 0, 0, 0, 0, 0, 1, -1])
    three = np.isin(person, [0, 1, 4])
    for k in (2, 3):
        assert in_profile_crowds(person, bins, ContributionBounds(rows_per_person=2), k).tolist() == three.tolist()
    assert not in_profile_crowds(person, bins, ContributionBounds(rows_per_person=2), 4).any()
    assert not in_profile_crowds(person, bins, ContributionBounds(rows_per_person=2, distinct=1), 2).any()
    assert in_profile_crowds(person, bins, ContributionBounds(rows_per_bin=1), 1).tolist() == (
        np.isin(person, [0, 1, 2, 4]).tolist()
    )
    empty = np.zeros(0, dtype=np.int64)
    assert in_profile_crowds(empty, empty, ContributionBounds(rows_per_person=2), 2).size == 0
