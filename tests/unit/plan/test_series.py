"""The ways to publish a series, against the tables of the theory note."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import pytest

from hubbub import plan
from hubbub.errors import WrongUse
from hubbub.query_classes.series import Blocks, Factor, best_blocks, best_factor, least_factor

# (T, r): own noise per table, increments, square root with 6 and 8 bits, the best theta and what it has; all in units of
# 1/sqrt(2 rho), the largest over t
UNITS = {
    (12, 1): (3.46, 3.46, 1.851, 1.851, 0.50, 1.851),
    (12, 3): (9.75, 6.00, 4.744, 4.742, 0.38, 4.60),
    (12, 12): (25.5, 12.0, 13.31, 13.31, 0.0, 12.0),
    (52, 1): (7.21, 7.21, 2.324, 2.323, 0.50, 2.322),
    (52, 3): (21.3, 12.5, 6.211, 6.210, 0.44, 6.10),
    (52, 12): (80.1, 25.0, 21.26, 21.25, 0.33, 19.3),
    (365, 1): (19.1, 19.1, 2.951, 2.944, 0.50, 2.944),
    (365, 3): (57.2, 33.1, 8.108, 8.094, 0.47, 8.01),
    (365, 12): (227, 66.2, 29.18, 29.14, 0.42, 27.6),
}
# (T, epsilon): increments, the best pure blocks, the square root at 1e-6 and 1e-9; r = 1, in people
PEOPLE = {
    (12, "1"): (4.70, 4.70, 7.82, 10.2), (12, "0.1"): (49.0, 49.0, 67.2, 92.9),
    (52, "1"): (9.79, 9.62, 9.81, 12.8), (52, "0.1"): (102, None, 84.3, 117),
    (365, "1"): (25.9, 16.66, 12.4, 16.2), (365, "0.1"): (270, 168, 107, 148),
}  # fmt: skip
# (T, r): geometric increments, the best factor at 1e-6 and 1e-9; epsilon = 1
RECURRING = {
    (12, 3): (14.6, 19.4, 25.3), (12, 12): (58.8, 50.7, 65.9), (52, 3): (30.5, 25.8, 33.5), (52, 12): (122, 81.4, 106),
    (365, 3): (80.7, 33.8, 44.0), (365, 12): (324, 117, 152),
}  # fmt: skip


def _cases(table: dict[tuple[int, object], object]) -> list[object]:
    """The first one is quick, the others are left to the long suite."""
    return [pytest.param(*each, marks=[pytest.mark.slow] if i else []) for i, each in enumerate(table)]


def _units(factor: Factor) -> float:
    return sqrt(factor.total_variance(factor.periods - 1) * 2 * factor.gaussian_noise.rho)


def _near(value: float) -> object:
    return pytest.approx(value, rel=0.01)


@pytest.mark.parametrize(("periods", "recur"), _cases(UNITS))
def test_totals_have_the_errors_of_the_note_in_units_of_rho(periods: int, recur: int) -> None:
    own, increments, coarse, fine, theta, best = UNITS[periods, recur]
    promise = (periods, recur, 1, 1, Fraction(1), Fraction(1, 10**6))
    half = Fraction(1, 2)
    assert _units(least_factor(*promise, Fraction(1))) == _near(own)
    assert _units(least_factor(*promise, Fraction(0))) == _near(increments)
    assert _units(least_factor(*promise, half, bits=6)) == _near(coarse)
    assert _units(least_factor(*promise, half)) == _near(fine)
    found = best_factor(*promise)
    assert _units(found) == _near(best)
    assert abs(float(found.theta) - theta) <= 0.011


@pytest.mark.parametrize(("periods", "epsilon"), _cases(PEOPLE))
def test_one_period_each_has_the_errors_of_the_note_in_people(periods: int, epsilon: str) -> None:
    increments, blocks, *factors = PEOPLE[periods, epsilon]
    for delta, factor in zip(("1e-6", "1e-9"), factors, strict=True):
        found = plan.series(periods, epsilon, delta=delta)
        errors = {way.name: sqrt(way.total) for way in found.ways}
        assert errors["increments"] == _near(increments)
        assert errors["factor"] == _near(factor)
        assert errors.get("blocks", errors["increments"]) <= (blocks or increments) * 1.01
        listed = {"increments": increments, "blocks": blocks or increments, "factor": factor}
        assert errors[found.best.name] <= min(listed.values()) * 1.01
        assert [way.total for way in found.ways] == sorted(way.total for way in found.ways)


def test_the_blocks_of_the_note_have_its_error_at_its_share_and_ours_have_less() -> None:
    """The note splits epsilon as (h - 1)^(1/3) : (T/h)^(1/3), which is best for many blocks: 9.62 for T = 52, h = 11. We look
    at every share in steps of 1/200, for the variance of the last total itself: .415 in place of .438, and 9.55."""
    share = Fraction(round(1000 / (1 + (10 / (52 / 11)) ** (1 / 3))), 1000)
    of_the_note = Blocks(periods=52, recur=1, l1=1, epsilon=Fraction(1), block=11, share=share)
    assert max(sqrt(of_the_note.total_variance(t)) for t in range(52)) == pytest.approx(9.62, rel=0.001)
    ours = best_blocks(52, 1, 1, Fraction(1))
    assert (ours.block, ours.share) == (11, Fraction(83, 200))
    assert max(sqrt(ours.total_variance(t)) for t in range(52)) == pytest.approx(9.55, rel=0.001)


@pytest.mark.parametrize(("periods", "recur"), _cases(RECURRING))
def test_people_who_recur_have_the_errors_of_the_note(periods: int, recur: int) -> None:
    increments, *factors = RECURRING[periods, recur]
    for delta, factor in zip(("1e-6", "1e-9"), factors, strict=True):
        found = plan.series(periods, 1, recur=recur, delta=delta)
        errors = {way.name: sqrt(way.total) for way in found.ways}
        assert errors["increments"] == _near(increments)
        assert errors["factor"] == _near(factor)


@pytest.mark.parametrize(
    ("periods", "recur", "delta", "best"),
    [
        (12, 1, "1e-6", "increments"),
        (12, 1, "1e-9", "increments"),
        (12, 3, "1e-6", "increments"),
        (12, 3, "1e-9", "increments"),
        (12, 12, "1e-6", "factor"),
        (12, 12, "1e-9", "increments"),
        (52, 1, "1e-6", "blocks"),
        (52, 1, "1e-9", "blocks"),
        (52, 3, "1e-6", "factor"),
        (52, 3, "1e-9", "blocks"),  # 28.9, where the note has increments, 30.5
        (52, 12, "1e-6", "factor"),
        (52, 12, "1e-9", "factor"),
        (365, 1, "1e-6", "factor"),
        pytest.param(365, 1, "1e-9", "factor", marks=pytest.mark.slow),
        pytest.param(365, 3, "1e-6", "factor", marks=pytest.mark.slow),
        pytest.param(365, 12, "1e-6", "factor", marks=pytest.mark.slow),
        pytest.param(365, 3, "1e-9", "factor", marks=pytest.mark.slow),
        pytest.param(365, 12, "1e-9", "factor", marks=pytest.mark.slow),
    ],
)
def test_the_best_way_is_that_of_the_note(periods: int, recur: int, delta: str, best: str) -> None:
    assert plan.series(periods, 1, recur=recur, delta=delta).best.name == best


def test_the_factor_has_the_whole_numbers_of_the_note() -> None:
    factor = best_factor(12, 1, 1, 1, Fraction(1), Fraction(1, 10**6))
    assert factor.coefficients == (256, 128, 96, 80, 70, 63, 58, 54, 50, 47, 45, 43)
    assert factor.delta <= Fraction(1, 10**6)


def test_several_tables_multiply_the_noise_by_their_number_or_its_root() -> None:
    one, four = (plan.series(12, 1, delta="1e-6", tables=b) for b in (1, 4))
    before, after = ({way.name: sqrt(way.total) for way in found.ways} for found in (one, four))
    assert after["factor"] == pytest.approx(2 * before["factor"], rel=0.01)
    assert after["increments"] == pytest.approx(4 * before["increments"], rel=0.05)


def test_samples_have_the_noise_and_the_class_of_the_note_and_are_never_best() -> None:
    """Section 5.5: p = .1, r = T = 12, epsilon 1."""
    found = plan.series(12, 1, recur=12, sample="0.1", crowd=10)
    ways = {way.name: way for way in found.ways}
    for name, inner, error, known in (("fresh samples", 0.625, 2.22, 0.718), ("one panel", 0.242, 5.84, 0.1)):
        way = ways[name]
        assert way.inner is not None
        assert way.known is not None
        assert float(way.inner) == _near(inner)
        assert sqrt(way.increment) == _near(error)
        assert float(way.known) == _near(known)
        assert way.promise.startswith(f"class {way.as_json()['class']}, epsilon 1")
        assert way.delta == 0
    assert ways["fresh samples"].as_json()["class"] == "iRS(0.7176)"
    assert "at most 108" in ways["crowd increments"].promise
    assert found.best.name == "increments"
    assert found.as_json()["best"] == "increments"


def test_fresh_samples_of_disjoint_people_have_the_class_of_one_period() -> None:
    """Section 5.5: with r = 1 the sample of one period is all that involves anybody."""
    ways = {way.name: way for way in plan.series(12, 1, sample="0.1").ways}
    assert ways["fresh samples"].known == ways["one panel"].known == Fraction(1, 10)
    assert ways["fresh samples"].inner == ways["one panel"].inner


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"periods": 12, "epsilon": 1, "recur": 13}, "more than the 12 periods"),
        ({"periods": 1001, "epsilon": 1}, "at most 1,000 periods"),
        ({"periods": 12, "epsilon": 0}, "above 0"),
        ({"periods": 12, "epsilon": 1, "sample": 1}, "between 0 and 1"),
    ],
)
def test_what_is_no_series_is_refused(words: dict[str, object], sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        plan.series(**words)
