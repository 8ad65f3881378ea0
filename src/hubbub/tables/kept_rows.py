"""The rows that are kept of people with several, each with where it counts: for what a sum over rows does not tell.

Which people are drawn, or who is like whom, is about all rows of a person at once. So these rows are handed over with
whose they are, and what is left of the bounds on a person is done here, from the secret order of that person's rows.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.tables.contribution import ContributionBounds

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class KeptRows:
    """The kept rows of everybody. Private: never leaves the release that asked.

    `person[i]` is whose the i-th row is, from 0 to `people` - 1; rows of one person stand together, in a secret order
    that does not depend on what is in them. `codes[j][i]` is where the j-th question counts the row; -1: nowhere.
    """

    people: int
    person: Integers
    codes: tuple[Integers, ...]

    def of_people(self, chosen: NDArray[np.bool_]) -> KeptRows:
        """The rows of those who were chosen; whose they are keeps its number."""
        rows = chosen[self.person]
        return KeptRows(self.people, self.person[rows], tuple(codes[rows] for codes in self.codes))


def within_bounds(person: Integers, bins: Integers, bounds: ContributionBounds) -> NDArray[np.bool_]:
    """Which rows still count: in a bin (numbered by `bins`; -1: none) the first `rows_per_bin` of a person, and of the bins the
    first `distinct` in the order of their first rows.

    Guarantee: it looks at the rows of one person alone; afterwards a person is in at most B bins with at most c rows
    in each. Rows of a person stand together.
    """
    counts = bins >= 0
    inside = np.flatnonzero(counts)
    if bounds.rows_per_bin is not None:
        counts[inside] = _rank(_number_pairs(person[inside], bins[inside])) < bounds.rows_per_bin
        inside = np.flatnonzero(counts)
    if bounds.distinct is not None and inside.size:
        pairs = _number_pairs(person[inside], bins[inside])
        first = _rank(pairs) == 0
        # The number of each bin among those of its person, in the order of first rows.
        whose = person[inside]
        start = np.concatenate([[True], whose[1:] != whose[:-1]])
        seen = np.cumsum(first)
        nth = seen - np.maximum.accumulate(np.where(start, seen - 1, 0)) - 1
        number = np.zeros(int(pairs.max()) + 1, dtype=np.int64)
        number[pairs[first]] = nth[first]
        counts[inside] = number[pairs] < bounds.distinct
    return counts


def in_profile_crowds(person: Integers, bins: Integers, bounds: ContributionBounds, k: int) -> NDArray[np.bool_]:
    """Which rows count: those of people whose profile, how many rows they have in each bin (-1: in none), at least `k`
    people have, and is within the bounds; whoever has more is left out with all rows, and nothing is chosen.

    Guarantee: whether a person's rows count is a function of how many people have that person's profile. Whoever has a
    profile that fewer than k share changes nothing by leaving, and of two people of one profile either can have the
    place of the other: no row starts or stops to count.
    """
    inside = np.flatnonzero(bins >= 0)
    order = inside[np.lexsort((bins[inside], person[inside]))]
    whose, where = person[order], bins[order]
    found = np.zeros(bins.size, dtype=bool)
    if not order.size:
        return found
    first = np.flatnonzero(np.concatenate([[True], whose[1:] != whose[:-1]]))
    profiles = [where[a:b] for a, b in zip(first, [*first[1:], order.size], strict=True)]
    people = Counter(profile.tobytes() for profile in profiles)
    for a, profile in zip(first.tolist(), profiles, strict=True):
        if people[profile.tobytes()] >= k and _fits(profile, bounds):
            found[order[a : a + profile.size]] = True
    return found


def _fits(profile: Integers, bounds: ContributionBounds) -> bool:
    _, each = np.unique(profile, return_counts=True)
    most = (bounds.rows_per_person, bounds.distinct, bounds.rows_per_bin)
    has = (profile.size, each.size, int(each.max()))
    return all(limit is None or many <= limit for many, limit in zip(has, most, strict=True))


def _number_pairs(person: Integers, bins: Integers) -> Integers:
    """A number for each pair of a person and a bin."""
    pairs = np.stack([person, bins])
    return np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _rank(pairs: Integers) -> Integers:
    """How many earlier rows have the same pair."""
    order = np.argsort(pairs, kind="stable")
    ordered = pairs[order]
    start = np.concatenate([[True], ordered[1:] != ordered[:-1]]) if pairs.size else np.zeros(0, dtype=bool)
    at = np.arange(pairs.size)
    rank = at - np.maximum.accumulate(np.where(start, at, 0)) if pairs.size else at
    found = np.empty(pairs.size, dtype=np.int64)
    found[order] = rank
    return found
