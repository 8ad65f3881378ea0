"""The proved errors: which is smallest, and tails held against exact laws."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil, comb, exp, log

import numpy as np
import pytest

from hubbub.errors import WrongUse
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.choice import choose_method, offers, parameters, restore_method
from hubbub.query_classes.classes import parse
from hubbub.query_classes.flat import Flat, PerQuery
from hubbub.query_classes.setting import Setting
from hubbub.query_classes.tails import farthest, selection_error
from hubbub.query_classes.weights import Weights
from hubbub.sampling.sanitize import Blank, inside

DOUBT = Fraction(1, 40)


def setting(of: str, shape: tuple[int, ...], k: int, n: int, epsilon: str) -> Setting:
    """A sample of k of n people with so much zero-knowledge privacy outside, everybody in a cell."""
    half = inside(k, n, epsilon, blank=Blank.HALF_WAY).epsilon_dp / 2
    whole = inside(k, n, epsilon).epsilon_dp
    return Setting(queries=parse(of, shape), half_way=half, any_row=whole, doubt=DOUBT, rows=k, outside=False)


def test_the_best_is_first_and_all_are_named() -> None:
    found = offers(setting("intervals", (8,), 10**3, 10**4, "1"))
    bounds = [each.bound for each in found if each.bound is not None]
    assert bounds == sorted(bounds)
    assert {each.name for each in found} == {
        "per-query",
        "histogram",
        "tree",
        "mwem",
        "small-database",
        "boosting",
        "residual",
        "split-tables",
        "square-root",
        "joint-tables",
    }
    for each in found:
        assert (each.method is None) == (
            each.name in ("boosting", "residual", "split-tables", "square-root", "joint-tables")
        )
        assert each.method is None or restore_method(parameters(each.method)) == each.method
    said = {each.name: each.why_not for each in found}
    assert said["boosting"] == "what is proved about it says nothing about 1,000 people"
    boosted = {"name": "boosting", "rounds": 3, "draws": 5, "size": 2, "within": 0, "ramp": 7}
    assert parameters(restore_method(boosted)) == boosted
    none: tuple[dict[str, object], ...] = (
        {},
        {"name": "tree"},
        {"name": "tree", "branching": 1, "shares": []},
        {"name": "tree", "branching": 2, "shares": [0, 1]},
        {"name": "mwem", "rounds": 0},
        {"name": "x"},
    )
    for wrong in (*none, boosted | {"rounds": 4}, boosted | {"ramp": 0}, boosted | {"more": 1}):
        with pytest.raises(WrongUse):
            restore_method(wrong)


def test_mwem_wins_where_the_domain_is_too_large_to_noise_and_the_class_is_large() -> None:
    """All 3-way marginals of 22 bits and 5,000 people: |X| is not far below (epsilon k)^2, as theory A5 asks."""
    queries = parse("marginals:3", (2,) * 22)
    at = Setting(queries=queries, half_way=Fraction(1, 2), any_row=Fraction(1), doubt=DOUBT, rows=5000, outside=False)
    assert isinstance(choose_method(at), Weights)
    assert choose_method(at).error_bound(at) < 5000  # and says something
    many = Setting(queries=queries, half_way=Fraction(1, 2), any_row=Fraction(1), doubt=DOUBT, rows=10**6)
    assert isinstance(choose_method(many), Flat)


def test_drv10_the_bound_of_boosting_with_its_constants() -> None:
    """36 intervals of 8 bins, a million people, epsilon 1: 7.1 % is proved, 6.3 of it for databases of 16 rows, .6 for
    the weights, which take three quarters of epsilon. MWEM has 7.4 %, noise on each answer .015 %."""
    at = Setting(
        queries=parse("intervals", (8,)),
        half_way=Fraction(1),
        any_row=Fraction(1),
        doubt=DOUBT,
        rows=10**6,
        outside=False,
    )
    found = choose_method(at, "boosting")
    assert isinstance(found, Boosting)
    assert (found.rounds, found.size, found.sensitivity(at)) == (3, 16, 36)
    assert found.spends(at) == 1
    assert found.rate(at) == Fraction(1, 4 * 36)
    assert found.tilt(at) == Fraction(3, 4) / (found.draws * 3 * 2)
    a = exp(-1 / 144)
    v = next(v for v in range(10**5) if 36 * 2 * a ** (v + 1) / (1 + a) <= 0.0125)
    assert found.within == found.needed(at) == 2 * v + 10**6 // 16
    w = 1 - (0.0125 / (3 * comb(23, 7))) ** (1 / found.draws)

    def short(ramp: int) -> bool:
        x = exp(float(found.tilt(at)) * ramp)
        return bool(36 * (1 - w + w * x) ** 3 < x**2)

    assert short(found.ramp)
    assert not short(found.ramp * 98 // 100)
    assert found.error_bound(at) == found.within + found.ramp
    assert 0.0710 < found.error_bound(at) / 10**6 < 0.0711
    assert 0.0739 < choose_method(at, "mwem").error_bound(at) / 10**6 < 0.0741
    assert PerQuery().error_bound(at) / 10**6 < 0.00015
    for changed in (
        replace(found, within=found.within - 1),
        replace(found, ramp=found.ramp * 98 // 100),
        replace(found, draws=found.draws * 9 // 10),
    ):
        assert changed.error_bound(at) == 10**6  # says nothing
        assert changed.why_not(at) == "what is proved about it says nothing about 1,000,000 people"


# --- tails -----------------------------------------------------------------------------------------------------------


def exact_tail(terms: int, rate: float, above: int) -> float:
    """P(sum > above) of so many two-sided geometric numbers, by convolution."""
    reach = ceil(60 / rate)
    law = np.exp(-rate * np.abs(np.arange(-reach, reach + 1)))
    law /= law.sum()
    total = law
    for _ in range(terms - 1):
        total = np.convolve(total, law)
    middle = len(total) // 2
    return float(total[middle + above + 1 :].sum())


@pytest.mark.parametrize("terms", [1, 2, 5, 12])
@pytest.mark.parametrize("rate", [Fraction(1, 20), Fraction(1, 2), Fraction(3)])
def test_no_sum_goes_farther_than_is_said(terms: int, rate: Fraction) -> None:
    doubt, sums = Fraction(1, 20), 100
    found = farthest(terms, rate, Fraction(log(sums)).limit_denominator(10**9) + Fraction(1, 10**9), doubt)
    each = float(doubt) / sums
    assert 2 * exact_tail(terms, float(rate), found) <= each * (1 + 1e-6)
    if terms == 1 and found > 0:  # exact: one less would not do
        assert 2 * exact_tail(1, float(rate), found - 1) > each * (1 - 1e-6)
    else:
        assert 2 * exact_tail(terms, float(rate), found // 2) > each


@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(2)])
def test_a_choice_misses_by_no_more_than_is_said(rate: Fraction) -> None:
    """One choice is perfect and 99 others are all equally bad: the worst that can be."""
    doubt, number = Fraction(1, 10), 100
    gap = selection_error(rate, Fraction(log(number)).limit_denominator(10**9) + Fraction(1, 10**9), doubt)
    others = (number - 1) * exp(-float(rate) * (gap + 1))
    assert others / (1 + others) <= float(doubt)
