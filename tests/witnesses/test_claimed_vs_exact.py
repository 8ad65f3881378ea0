"""What the papers claim and what is exact: the table of the theory, to all its printed digits, from the checker.

Two rows (epsilon = 0.3, and alpha = 23.03) were computed with the offset rounded down, 33 and 23; from alpha we round
up, so these two are made with their offset. The last figures of example 8 depend on the grid of A and on how its smooth
sensitivity is rounded to integers: where ours is another, it stands beside the theory's.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from flint import arb

from hubbub.channels.catalogue import channel
from hubbub.channels.law import Law
from hubbub.channels.papers import staircase
from hubbub.channels.papers.lecture import Lecture
from hubbub.channels.papers.outliers import OutlierNoisy, calibrate, paper_claim
from hubbub.channels.papers.staircase import calibrate_staircase as calibrated_stairs
from hubbub.channels.profile import decide, exact_delta, exact_loss, judge, profile, worst
from hubbub.channels.protocol import Channel
from hubbub.guarantees.verdict import Proved, Refuted
from hubbub.numeric.exact import ball, exp, lower, rounded, upper
from tests.witnesses.family import Family, rounds_to, untagged

STAIRS = ((1000, 100, 10), ("1", "0.1", "0.01", "0"))
RAMP = "0.0991+slope:0.0009<=1"


def row(made: Channel, count: int) -> Any:
    (found,) = profile(made, [count])
    return found


# --- examples 2 to 6 --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("simple-suppressed", {"k": 100}),
        ("simple-noisy", {"k": 100, "epsilon": 1}),
        ("group", {"k": 100, "epsilon": 1}),
    ],
)
def test_examples_2_3_and_6_are_pure(name: str, options: dict[str, object]) -> None:
    made = channel(name, **options)
    rows = profile(made, range(1, 131))
    assert all(found.exact_delta.is_zero() for found in rows)
    assert all(found.claimed_delta == 0 for found in rows)
    assert isinstance(judge(made, rows), Proved)


@pytest.mark.parametrize("name", ["simple-noisy", "group"])
def test_examples_3_and_6_are_tight(name: str) -> None:
    """At 0.999 epsilon/k the delta is no longer 0."""
    made = channel(name, k=100, epsilon=1)
    for count in (1, 50, 100):
        assert rounds_to(exact_delta(made, count, Fraction("0.999") / 100), "5.0e-6")
        assert exact_loss(made, count) == Fraction(1, 100)


def test_example_4() -> None:
    made = channel("outlier-suppressed", k=100, epsilon=1, alpha=10)
    rows = profile(made, range(1, 131))
    assert worst(rows[:100]).count == 100
    assert rounds_to(worst(rows).claimed_delta, "2.27e-5")
    assert rounds_to(rows[99].exact_delta, "7.673e-6")
    assert isinstance(judge(made, rows), Proved)


def test_example_5_is_worst_at_k() -> None:
    made = channel("outlier-noisy", k=100, epsilon=1, alpha=10)
    rows = profile(made, (1, 2, 10, 25, 50, 75, 90, 95, 98, 99, 100))
    assert worst(rows).count == 100
    assert isinstance(judge(made, rows), Proved)


@pytest.mark.parametrize(
    ("epsilon", "alpha", "offset", "claimed", "exact"),
    [
        ("1", "10", 10, "4.54e-5", "7.673e-6"),
        ("0.5", "10", 20, "4.54e-5", "6.69e-6"),
        ("0.3", "10", 33, "4.54e-5", "5.49e-6"),
        ("2", "10", 5, "4.54e-5", "4.66e-6"),
        ("1", "23.03", 23, "9.96e-11", "1.73e-11"),
    ],
)
def test_example_5(epsilon: str, alpha: str, offset: int, claimed: str, exact: str) -> None:
    made = OutlierNoisy(100, Fraction(epsilon), offset, rounded(paper_claim(Fraction(alpha), noisy=True), up=True))
    found = row(made, 100)
    assert rounds_to(found.claimed_delta, claimed)
    assert rounds_to(found.exact_delta, exact)
    ours = channel("outlier-noisy", k=100, epsilon=epsilon, alpha=alpha)
    assert ours.offset == offset + (offset in (33, 23))  # type: ignore[attr-defined]
    assert upper(row(ours, 100).exact_delta) <= upper(found.exact_delta)


def test_example_5_without_its_bits() -> None:
    """Both ways merged into one table: nobody is told which bins got the second noise."""
    made = channel("outlier-noisy", k=100, epsilon=1, alpha=10)

    def merged(count: int) -> Law:
        return untagged(made.law(count), -3400, 3600, Fraction(1, 10**13))

    found = row(Family(merged, made.claim), 100)
    assert rounds_to(found.exact_delta, "7.432e-6")
    assert upper(found.exact_delta) < lower(row(made, 100).exact_delta), "the bits cost something"


# --- example 7 --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize(("count", "exact"), [(1000, "7.25e-6"), (100, "6.89e-7"), (10, "7.57e-8")])
def test_example_7(count: int, exact: str, nested: bool) -> None:
    made = staircase.from_alpha(*STAIRS, 10, nested=nested)
    found = row(made, count)
    assert rounds_to(found.claimed_delta, "1.36e-4")
    assert rounds_to(found.exact_delta, exact)


def test_example_7_with_exact_counts_at_the_top() -> None:
    made = staircase.from_alpha((100, 10), ("inf", "0.1", "0"), 10)
    rows = profile(made, (1, 5, 9, 10, 11, 50, 99, 100, 101))
    assert rounds_to(rows[0].claimed_delta, "9.1e-5")
    assert all(upper(found.exact_delta) < Fraction(1, 10**25) for found in rows if found.count > 10)
    assert worst(rows).count == 10
    assert rounds_to(worst(rows).exact_delta, "2.05e-6")


# --- example 8 --------------------------------------------------------------------------------------------------


def test_example_8_with_noise_on_the_count_at_a_wall() -> None:
    made = channel("lower-bound", curve="1:0.01,101:1", estimator="count", epsilon_a="0.005", alpha=10)
    rows = profile(made, range(1, 131))
    assert rounds_to(rows[0].claimed_delta, "2.27e-5")
    assert worst(rows).count == 100
    assert rounds_to(worst(rows).exact_delta, "1.04e-5")


@pytest.mark.parametrize(
    ("estimator", "grid", "counts", "claimed", "exact"),
    [
        ("count", None, (100, 900), "2.27e-5", "2.8e-7"),
        ("epsilon-global", None, (100, 900), "2.27e-5", "2.8e-7"),
        ("scale-global", "0.01", (100, 440), "2.27e-5", "4.2e-6"),
        ("epsilon-smooth", None, (100, 800), "2.37e-5", "2.7e-7"),
        ("scale-smooth", "0.01", (100, 300), "2.37e-5", "4.8e-6"),  # the theory has 4.7e-6
    ],
)
def test_example_8_on_the_ramp(
    estimator: str, grid: str | None, counts: tuple[int, int], claimed: str, exact: str
) -> None:
    """Each at a small count and where it is worst."""
    made = channel("lower-bound", curve=RAMP, estimator=estimator, epsilon_a="0.05", alpha=10, grid=grid)
    rows = profile(made, counts)
    assert rounds_to(rows[0].claimed_delta, claimed)
    assert worst(rows).count == counts[1]
    assert rounds_to(worst(rows).exact_delta, exact)
    assert not isinstance(judge(made, rows), Refuted)


# --- warped -----------------------------------------------------------------------------------------------------

FOUR = ["1:0.01,101:1", "slope:0.01<=1", RAMP, "1:0,11:0.01,101:0.1,1001:1"]


@pytest.mark.parametrize("curve", FOUR)
def test_warped_has_delta_zero_and_loss_exactly_the_curve(curve: str) -> None:
    made: Any = channel("warped", curve=curve)
    counts = [*range(1, 14), *range(20, 300, 23), 99, 100, 101, 102, 999, 1000, 1001, 1100]
    for found in profile(made, counts):
        assert found.exact_delta.is_zero()
        assert exact_loss(made, found.count) == made.curve.at(found.count)
    assert isinstance(decide(made, made.claim, limit=3), Proved)


# --- calibration ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "suppressed", "noisy", "tail_bound", "exact"),
    [
        ("1", "1e-6", 14, 14, 13, 13),
        ("1", "1e-9", 21, 21, 20, 19),
        ("0.5", "1e-6", 27, 28, 26, 24),
        ("0.1", "1e-6", 132, 139, 131, 108),
        ("0.1", "1e-9", 201, 208, 200, 177),
    ],
)
def test_calibration(epsilon: str, delta: str, suppressed: int, noisy: int, tail_bound: int, exact: int) -> None:
    target = Fraction(delta)
    for is_noisy, name, paper in ((False, "outlier-suppressed", suppressed), (True, "outlier-noisy", noisy)):
        found = calibrate(100, Fraction(epsilon), target, noisy=is_noisy)
        assert (found.paper, found.tail_bound, found.exact) == (paper, tail_bound, exact)
        made: Any = channel(name, k=100, epsilon=epsilon, delta=delta)
        assert made.offset == exact
        assert upper(row(made, 100).exact_delta) <= target
        closer: Any = channel(name, k=100, epsilon=epsilon, offset=exact - 1)
        assert lower(exact_delta(closer, 100, Fraction(epsilon) / 100)) > target, "one less is too little"


@cache
def calibrated() -> staircase.Staircase:
    return calibrated_stairs(*STAIRS, "1e-6")


def test_calibration_of_the_staircase() -> None:
    made = calibrated()
    assert staircase.paper_offsets(made.epsilons, Fraction(1, 10**6)) == (15, 165, 1656)
    assert made.offsets == (12, 107, 852)
    assert made.cuts == (1012, 207, 862)
    for count, exact in ((1000, "9.8e-7"), (100, "9.3e-7"), (10, "10.0e-7")):
        found = row(made, count)
        assert rounds_to(found.exact_delta, exact)
        assert upper(found.exact_delta) <= Fraction(1, 10**6)


# --- the lecture notes ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "t", "K", "printed"),
    [
        ("0.2", 5, 15, "11.5"),
        ("0.2", 25, 100, "2.78"),
        ("0.2", 50, 200, "1.82"),
        ("0.2", 100, 300, "1.38"),
        ("1", 10, 50, "1.986"),
        ("1", 20, 100, "1.46"),
    ],
)
def test_lecture_the_factor_for_a_delta_of_one_in_a_million(epsilon: str, t: int, K: int, printed: str) -> None:  # noqa: N803
    made = Lecture.with_delta(t, K, epsilon)
    places = len(printed.partition(".")[2])
    half = Fraction(1, 2 * 10**places)
    assert abs(made.factor - Fraction(printed)) <= half + Fraction(1, 1000), "ours is rounded up to thousandths"
    rows = profile(made, (1, made.boundary - 1, made.boundary, made.boundary + 1))
    assert all(upper(found.exact_delta) <= Fraction(1, 10**6) for found in rows)
    assert worst(rows).count == made.boundary
    smaller = Lecture.with_factor(t, K, epsilon, made.factor - Fraction(1, 1000))
    assert smaller.delta > Fraction(1, 10**6), "and it is the least"


@pytest.mark.parametrize(("factor", "printed"), [(1, "0.038"), (2, "0.0140")])
def test_lecture_the_notes_own_example_is_vacuous(factor: int, printed: str) -> None:
    """t = 1/epsilon: a claim of O(|B|/e), and a delta of percents at the boundary count 10."""
    made = Lecture.with_factor(5, 15, "0.2", factor)
    assert rounds_to(row(made, 10).exact_delta, printed)
    assert rounds_to(made.delta, printed)


def test_lecture_rounding_to_the_nearest_misses_the_target() -> None:
    """11.5 and 1.82 are for reading: with them the exact delta is above one in a million, by a few percent at most."""
    for t, K, printed in ((5, 15, "11.5"), (50, 200, "1.82")):  # noqa: N806
        delta = Lecture.with_factor(t, K, "0.2", printed).delta
        assert Fraction(1, 10**6) < delta < Fraction(106, 10**8)


def test_lecture_the_closed_form_of_real_noise_is_close() -> None:
    """delta_low = (d/(d+1))^d / (2(d+1)) (e^(-tau(c-1)) + e^(-tau(c+1))), d = t at the boundary, tau = t epsilon."""
    t, tau, c = 50, 10, Fraction("1.82")
    ratio = Fraction(t, t + 1) ** t / (2 * (t + 1))
    closed: arb = ball(ratio) * (exp(-tau * (c - 1)) + exp(-tau * (c + 1)))
    exact = Lecture.with_factor(t, 200, "0.2", c).delta
    assert abs(closed - ball(exact)) < closed / 50
