"""Crowds of people with several rows, over all tables of up to three people with up to three rows each.

The definition, word for word: of each person at least k people of the table blend with them, whatever else is there, or
leaving them out changes nothing. The exact numbers come from the mechanism's own function; the noise is geometric, of
the rate of the spec, so that the loss of two tables with equal counts is the rate times how far their sums are apart.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub import registry
from hubbub.guarantees.definitions import CrowdBlending
from hubbub.guarantees.people import Whose
from hubbub.kinds.sums.mechanism import rows_of_crowds
from hubbub.kinds.sums.spec import Statistic
from hubbub.tables.kept_rows import KeptRows

Row = tuple[int, int]  # bin, value
Person = tuple[Row, ...]
Exact = tuple[tuple[int, ...], tuple[int, ...]]  # rows and sums of every bin
BINS, TOP = 2, 1
ROWS: list[Row] = [(place, x) for place in range(BINS) for x in range(TOP + 1)]
EVERYBODY: list[Person] = [each for n in (1, 2, 3) for each in itertools.combinations_with_replacement(ROWS, n)]


def spec_of(kind: str, k: int, **bounds: Any) -> Statistic:
    words: dict[str, Any] = {"sum": {"of": "x:0..1:1"}, "mean": {"of": "x:0..1:1"}, "count": {}}[kind]
    words |= {} if kind == "count" else {"epsilon": "1"}
    found = registry.kind(kind).from_options(person="id", by=["ward=a,b"], crowd=str(k), **words, **bounds)
    assert isinstance(found, Statistic)
    return found


def profile(person: Person) -> tuple[int, ...]:
    return tuple(sorted(place for place, _ in person))


def exact(spec: Statistic, people: Sequence[Person]) -> Exact:
    """What the mechanism looks at, hidden bins as nothing."""
    width = 1 if spec.measured is None else TOP + 1
    rows = [(i, place * width + (x if width > 1 else 0)) for i, each in enumerate(people) for place, x in each]
    who, codes = (np.array(each, dtype=np.int64) for each in (zip(*rows, strict=True) if rows else ((), ())))
    found = rows_of_crowds(spec, KeptRows(len(people), who, (codes,)))
    counts, sums = [0] * BINS, [0] * BINS
    for code, n in zip(found.codes.tolist(), found.counts.tolist(), strict=True):
        counts[code // width] += n
        sums[code // width] += n * (code % width)
    return tuple(counts), tuple(sums)


def loss(spec: Statistic, one: Exact, other: Exact) -> float:
    if one[0] != other[0]:
        return math.inf
    if spec.unit_loss is None:
        return 0.0 if one == other else math.inf
    return float(spec.unit_loss / TOP) * sum(abs(a - b) for a, b in zip(one[1], other[1], strict=True))


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    ("kind", "bounds"),
    [
        ("count", {"rows_per_person": "3"}),
        ("sum", {"rows_per_person": "2"}),
        ("mean", {"rows_per_person": "3"}),
        ("mean", {"rows_per_person": "3", "rows_per_bin": "1"}),
        ("sum", {"rows_per_person": "3", "distinct": "1"}),
    ],
    ids=str,
)
def test_theorem_profile_crowds(kind: str, bounds: dict[str, Any], k: int) -> None:
    spec = spec_of(kind, k, **bounds)
    (promise,) = spec.promises()
    claim = promise.conclusion
    assert isinstance(claim, CrowdBlending)
    assert promise.people is not None
    assert (claim.k, promise.people.whose) == (k, Whose.TABLE)
    epsilon = float(claim.epsilon)  # type: ignore[arg-type]
    assert epsilon == (0 if kind == "count" else 1)
    worst, tables = 0.0, list(itertools.combinations_with_replacement(EVERYBODY, 2))
    known: dict[tuple[Person, ...], Exact] = {}

    def at(*people: Person) -> Exact:
        table = tuple(sorted(people))
        if table not in known:
            known[table] = exact(spec, table)
        return known[table]

    # Two people of one profile blend, whoever else is there (profiles of others matter, their values do not).
    others = {tuple(sorted(map(profile, each))): each for each in tables}.values()
    by_profile: dict[tuple[int, ...], list[Person]] = {}
    for person in EVERYBODY:
        by_profile.setdefault(profile(person), []).append(person)
    for same in by_profile.values():
        for one, other in itertools.combinations(same, 2):
            for rest in ((), *((each,) for each in EVERYBODY), *others):
                worst = max(worst, loss(spec, at(one, *rest), at(other, *rest)))
    assert worst <= epsilon + 1e-9
    if kind != "count" and k == 2:
        assert worst >= 0.99 * epsilon
    # Whoever is not one of k people of a profile changes nothing by leaving.
    for table in [*tables, *itertools.combinations_with_replacement(EVERYBODY[::3], 3)]:
        crowds = Counter(map(profile, table))
        for i, person in enumerate(table):
            if crowds[profile(person)] < k:
                assert at(*table) == at(*table[:i], *table[i + 1 :])


def test_noise_on_sums_is_for_all_rows_of_a_person() -> None:
    spec = spec_of("mean", 2, rows_per_person="3", rows_per_bin="1")
    assert spec.unit_loss == Fraction(1, 2)  # two bins, one row in each
    assert spec_of("sum", 2, rows_per_person="3").unit_loss == Fraction(1, 3)


@pytest.mark.parametrize(
    ("kind", "words", "says"),
    [
        ("count", {"epsilon": "1"}, "counted exactly"),
        ("sum", {"epsilon": "1", "of": "x:0..1:1", "cap": "1"}, "each row counts by itself"),
        ("mean", {"epsilon": "1", "of": "x:0..1:1", "sample": "0.1"}, "not worked out for crowds"),
        ("mean", {"of": "x:0..1:1"}, "shown with noise"),
    ],
    ids=str,
)
def test_what_is_not_known_of_profile_crowds_is_refused(kind: str, words: dict[str, Any], says: str) -> None:
    from hubbub.errors import WrongUse

    with pytest.raises(WrongUse, match=says):
        registry.kind(kind).from_options(person="id", by=["ward=a,b"], crowd="2", rows_per_person="2", **words)
