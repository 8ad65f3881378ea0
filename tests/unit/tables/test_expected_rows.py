"""Intervals for the expected kept rows, against the exact law of the kept rows of tables with 1 to 40 rows per person.

The kept rows of a bin are a sum of independent 0/1 variables; its law is added up person by person, so coverage given
that the bin is shown is a sum and no simulation.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray

from hubbub.channels.catalogue import channel
from hubbub.channels.protocol import Channel, Published
from hubbub.errors import WrongUse
from hubbub.kinds.histogram.estimands import Estimand, of_interval, of_number
from hubbub.kinds.histogram.request import histogram
from hubbub.tables.estimation import (
    expected_intervals,
    expected_mean,
    expected_of_known,
    largest_mean,
    smallest_mean,
)
from hubbub.tables.privacy_unit import Unit
from tests.fresh import open as open_table

LEVEL = Fraction(9, 10)
ONE = Unit(person="id", one_row_per_person=True, expected_rows=True)


def people(kind: str, many: int) -> list[float]:
    """The share of their rows that each of some people has in the bin."""
    if kind == "one row each":
        return [1.0] * many
    if kind == "40 rows, one here":
        return [1 / 40] * (40 * many)
    if kind == "19 sure, many hardly":
        return [1.0] * min(19, many) + [1 / 40] * (20 * max(many - 10, 1))
    return [(1 + i % rows) / rows for i in range(many) for rows in (1 + 7 * i % 40,)]


KINDS = ["one row each", "40 rows, one here", "19 sure, many hardly", "1 to 40 rows"]


def kept(shares: list[float]) -> NDArray[np.float64]:
    """The law of the number of kept rows."""
    law = np.ones(1)
    for share in shares:
        law = np.convolve(law, [1 - share, share])
    return law


def coverage(made: Channel, shares: list[float], p: Fraction) -> tuple[float, float]:
    """(the chance that a number is shown, the chance that its interval holds the mean, given that)."""
    law, mean = kept([share * float(p) for share in shares]), sum(shares)
    outcomes: dict[tuple[str, int], float] = {}
    for x, weight in enumerate(law.tolist()):
        if weight < 1e-12:
            continue
        for tag, value, mass in made.law(x).atoms(Fraction(1, 10**6)):
            if not tag.startswith("suppressed"):
                outcomes[tag, value] = outcomes.get((tag, value), 0.0) + weight * float(mass.mid())
    shown = inside = 0.0
    values = np.array([value for _, value in outcomes], dtype=np.int64)
    names = tuple(dict.fromkeys(tag for tag, _ in outcomes)) or ("",)
    tags = np.array([names.index(tag) for tag, _ in outcomes], dtype=np.intp)
    low, high = expected_intervals(made, Published(values, tags, names), p, LEVEL)
    for weight, a, z in zip(outcomes.values(), low.tolist(), high.tolist(), strict=True):
        shown += weight
        inside += weight if a <= mean and (z < 0 or mean <= z) else 0.0
    return shown, inside / shown if shown else 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "made",
    [channel("exact-or-suppressed", k=20), channel("geometric", epsilon=1), channel("noisy-below", k=5, epsilon=1)],
    ids=lambda made: made.name,
)
def test_an_interval_for_the_expected_rows_covers_given_that_the_bin_is_shown(kind: str, made: Channel) -> None:
    for many in (1, 5, 12, 18, 20, 22, 30, 60):
        shown, inside = coverage(made, people(kind, many), Fraction(1))
        assert shown < 1e-6 or inside >= float(LEVEL) - 1e-6, f"{many} people: {inside} of {shown}"


@pytest.mark.parametrize("kind", ["40 rows, one here", "1 to 40 rows"])
def test_the_same_from_a_sample(kind: str) -> None:
    for many in (10, 30, 40, 60):
        shown, inside = coverage(channel("exact-or-suppressed", k=10), people(kind, many), Fraction(1, 4))
        assert shown < 1e-6 or inside >= float(LEVEL) - 1e-6, f"{many} people: {inside} of {shown}"


def test_an_interval_for_the_kept_rows_does_not_cover_the_expected_ones() -> None:
    """What was shown before as exact: the number of kept rows, in a table in which people have 1 to 40 rows."""
    law = kept(people("1 to 40 rows", 60))
    assert law.max() < 0.2  # whatever the mean is, an exact number is it at most so often


def test_ends_are_where_chernoffs_bound_is_the_tail() -> None:
    for x, tail in ((5, 0.05), (100, 0.0125), (3000, 0.025)):
        for mean in (smallest_mean(x, tail), largest_mean(x, tail)):
            assert np.exp(x - mean - x * np.log(x / mean)) == pytest.approx(tail, rel=1e-4)
    assert largest_mean(0, 0.05) == pytest.approx(-np.log(0.05), rel=1e-4)


def test_a_number_at_the_threshold_says_nothing_from_below() -> None:
    low, high = expected_intervals(
        channel("exact-or-suppressed", k=20),
        Published(np.array([20, 25, 200]), np.zeros(3, np.intp), ("",)),
        Fraction(1),
        LEVEL,
    )
    assert low[0] == 0
    assert low[2] > 150
    assert (high > [20, 25, 200]).all()


@pytest.mark.parametrize(
    "words",
    [
        {"outlier": "1", "show_above": 20},
        {"channel": "outlier-suppressed", "options": {"k": 10, "epsilon": 1, "alpha": 5}},
        {"crowd": 20, "sample": "0.1"},
    ],
    ids=str,
)
def test_what_is_not_known_is_refused(words: dict[str, object]) -> None:
    with pytest.raises(WrongUse, match="expected rows"):
        histogram(["town=Bath"], unit=ONE, **words)  # type: ignore[arg-type]


def test_expected_rows_need_a_choice_among_rows() -> None:
    with pytest.raises(WrongUse, match="one_row_per_person"):
        Unit(person="id", expected_rows=True)


ESTIMANDS = [
    ({}, {}, ("table", "table")),
    ({"sample": "0.5"}, {}, ("sample", "sample")),
    ({"sample": "0.5", "scale_up": True}, {}, ("sample", "everybody")),
    ({}, {"one_row_per_person": True}, ("kept-rows", "expected-rows")),
    ({}, {"one_row_per_person": True, "kept_rows": True}, ("kept-rows", "kept-rows")),
    ({"sample": "0.5"}, {"one_row_per_person": True}, ("sample", "sample")),  # nothing is known on average
    ({"sample": "0.5", "scale_up": True}, {"one_row_per_person": True}, ("sample", "expected-rows")),
    ({"sample": "0.5", "scale_up": True}, {"one_row_per_person": True, "kept_rows": True}, ("sample", "kept-rows")),
    ({}, {"one_row_per_person": True, "expected_rows": True}, ("kept-rows", "expected-rows")),
    ({}, {"distinct": 1}, ("kept-rows", "kept-rows")),
    ({}, {"distinct": 2}, ("table", "table")),
]


@pytest.mark.parametrize(("words", "unit", "counted"), ESTIMANDS, ids=str)
def test_every_number_says_what_it_counts(
    words: dict[str, object], unit: dict[str, object], counted: tuple[str, str]
) -> None:
    table = pa.table({"town": ["Bath"] * 60 + ["York"] * 40, "id": [i // (2 if unit else 1) for i in range(100)]})
    done = open_table(table, person="id").histogram(["town=Bath,York"], epsilon=1, **words, **unit)  # type: ignore[arg-type]
    told = done.result.facts()["counts"]
    assert (told["number"], told["interval"]) == counted
    spec = done.spec
    assert (of_number(spec), of_interval(spec)) == tuple(map(Estimand, counted))  # type: ignore[arg-type]
    for row in done:
        assert row["low"] <= row["estimate"] <= row["high"]
    notes = " ".join(done.result.display(5).notes)
    assert ("at least one row" in notes) == (bool(unit) and counted[0] != "table")
    assert spec.describe().counts in notes
    if counted[0] != counted[1]:
        assert spec.describe().intervals != spec.describe().counts


# --- where it is public how many people there are; and means ------------------------------------------------------

HABITS = {  # of each person, how likely the row that is kept is (in no bin, in it with 0 steps, in it with all)
    "alike": [(0.5, 0.25, 0.25)] * 9,
    "certain": [(0.0, 1.0, 0.0)] * 4 + [(0.0, 0.0, 1.0)] * 3,
    "rare": [(0.9, 0.0, 0.1)] * 7 + [(0.0, 1.0, 0.0)] * 2,
    "uneven": [(i / 9, (9 - i) / 18, (9 - i) / 18) for i in range(4)] + [(0.5, 0.0, 0.5)] * 4,
}


def kept_law(people: list[tuple[float, float, float]]) -> dict[tuple[int, int], float]:
    """How likely so many rows in the bin, so many of them with all steps, are: by adding one person after the other."""
    law = {(0, 0): 1.0}
    for out, low, high in people:
        more: dict[tuple[int, int], float] = {}
        for (rows, full), p in law.items():
            for cell, q in (((rows, full), out), ((rows + 1, full), low), ((rows + 1, full + 1), high)):
                more[cell] = more.get(cell, 0.0) + p * q
        law = more
    return law


@pytest.mark.parametrize("name", HABITS)
@pytest.mark.parametrize("miss", [Fraction(1, 20), Fraction(1, 3)], ids=str)
def test_exactly_counts_of_known_people_and_means_miss_what_is_kept_on_average_no_more_than_they_say(
    name: str, miss: Fraction
) -> None:
    people = HABITS[name]
    law, steps = kept_law(people), 10
    mu, full = sum(1 - out for out, *_ in people), sum(high for *_, high in people)
    counts = means = 0.0
    for (rows, most), p in law.items():
        low, high = expected_of_known(rows, rows, len(people), miss)
        assert low <= rows <= high
        counts += p * (not low - 1e-9 <= mu <= high + 1e-9)
        ends = expected_mean(steps * most, steps * rows, 0, steps, miss)
        means += p * (not ends[0] - Fraction(1, 10**9) <= full / mu <= ends[1] + Fraction(1, 10**9))
    assert counts <= miss
    assert means <= miss


def test_a_mean_of_many_is_told_narrowly_and_of_few_hardly_at_all() -> None:
    miss = Fraction(1, 40)
    low, high = expected_mean(5 * 40_000, 10 * 40_000, 0, 10, miss)
    assert 0.48 < low < Fraction(1, 2) < high < 0.52
    rare = expected_mean(10 * 40, 10 * 40_000, 0, 10, miss)  # a share of 1 in 1,000, by the variance that it can have
    assert rare[1] - rare[0] < (high - low) / 5
    noisy = expected_mean(5 * 40_000, 10 * 40_000, 5000, 10, miss)
    assert noisy[1] - noisy[0] > high - low
    assert expected_mean(3, -5, 2, 10, miss) == expected_mean(0, 0, 0, 10, miss) == (0, 1)
    assert expected_mean(5000, 40, 1, 10, miss) == (0, 1)  # noise beyond what it may be: then nothing is told
    share = expected_of_known(990, 990, 1000, miss)
    assert share[1] <= 1000
    assert share[0] > 970  # from those who do not have it
