"""Intervals by the square-root factor: the table of the theory, exact answers, variances, the choice, and faults."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from hubbub.kinds.queries.request import queries
from hubbub.noise.source import ScriptedSource
from hubbub.query_classes import square_root
from hubbub.query_classes.choice import choose_method, parameters, restore_method
from hubbub.query_classes.classes import Boxes
from hubbub.query_classes.series import coefficients
from hubbub.query_classes.setting import Cells, Drawn, Setting
from hubbub.query_classes.square_root import SquareRoot
from hubbub.verification import verify
from tests.fresh import enter, save_over, unsigned
from tests.unit.shared.forged import wrong
from tests.unit.shared.saved import sign

MILLIONTH, BILLIONTH = Fraction(1, 10**6), Fraction(1, 10**9)


def asked(bins: int, epsilon: str = "1", delta: Fraction = MILLIONTH) -> Setting:
    loss = Fraction(epsilon)
    return Setting(
        queries=Boxes((bins,), line=True), half_way=loss, any_row=loss, doubt=Fraction(1, 20), delta=delta
    )  # fmt: skip


@pytest.mark.parametrize(("bins", "units"), [(64, 6.92), (256, 10.7), pytest.param(1024, 15.2, marks=pytest.mark.slow)])
def test_the_mean_variance_of_all_ranges_is_that_of_the_table(bins: int, units: float) -> None:
    setting = asked(bins)
    method = square_root.best(setting)
    found = method.interval_mean_square(setting) * 2 * float(method.noise(setting).rho)
    assert found == pytest.approx(units, rel=6e-3)
    assert method.spent_delta(setting) <= MILLIONTH
    assert method.spends(setting) == 1


def test_the_answers_are_exact_without_noise_and_their_weights_have_the_stated_squares() -> None:
    setting, bins = asked(6), 6
    method = square_root.best(setting)
    rows, truth = coefficients(Fraction(1, 2), 8, bins), np.array([3, 0, 7, 1, 1, 20])
    drawn = Drawn(np.convolve(truth, rows)[:bins])
    units = [Drawn(np.eye(bins, dtype=np.int64)[i]) for i in range(bins)]
    total = 0.0
    for start in range(bins):
        for stop in range(start + 1, bins + 1):
            query = ((start, stop),)
            assert method.answer(setting, drawn, query) == truth[start:stop].sum()
            squares = float(sum((method.answer(setting, unit, query) ** 2 for unit in units), Fraction(0)))
            total += squares
            deviation = math.sqrt(squares * float(method.s2))
            assert 1.959 * deviation < float(method.own_bound(setting, query)) < 2.1 * deviation
            assert method.own_bound(setting, query) < method.bound_of(setting, query) <= method.error_bound(setting)
    mean = total / (bins * (bins + 1) / 2) * float(method.s2)
    assert method.interval_mean_square(setting) == pytest.approx(mean, rel=1e-9)


def test_no_column_of_the_factor_is_longer_than_what_is_paid_for() -> None:
    bins, setting = 9, asked(9)
    rows = coefficients(Fraction(1, 2), 8, bins)
    columns = [np.convolve(np.eye(bins, dtype=np.int64)[i], rows)[:bins] for i in range(bins)]
    paid = square_root.best(setting).noise(setting)
    assert max(int((each**2).sum()) for each in columns) == paid.squared
    assert max(int((each != 0).sum()) for each in columns) == paid.moved
    assert not paid.ones


def test_draws_are_near_the_truth_by_their_variance() -> None:
    """400 draws of the largest interval: the mean square is within a third of the variance, 4.7 standard errors."""
    setting, source = asked(8), ScriptedSource.from_label("square root")
    method, counts = square_root.best(setting), np.arange(8, dtype=np.int64) * 11
    cells = Cells((8,), np.arange(8), counts)
    query = ((2, 7),)
    off = [
        float(method.answer(setting, method.draw(setting, cells, source), query) - counts[2:7].sum())
        for _ in range(400)
    ]
    units = [Drawn(np.eye(8, dtype=np.int64)[i]) for i in range(8)]
    true = float(method.s2) * float(sum((method.answer(setting, unit, query) ** 2 for unit in units), Fraction(0)))
    assert 2 / 3 < float(np.mean(np.square(off))) / true < 4 / 3


def test_it_is_taken_where_it_errs_least_and_nowhere_else() -> None:
    assert choose_method(asked(256, "0.1", Fraction(1, 100))).name == "square-root"
    assert choose_method(asked(256, "0.1")).name == "tree", "a small delta: a tree without one errs less"
    assert choose_method(asked(64, "1", BILLIONTH)).name != "square-root", "few bins: geometric noise errs less"
    assert choose_method(asked(256, "0.1", Fraction(0))).name != "square-root"
    found = choose_method(asked(256, "0.1", Fraction(1, 100)))
    assert restore_method(parameters(found)) == found


def test_a_release_is_verified_without_data_and_a_variance_1_percent_too_small_is_refuted(
    tmp_path: Path, forger: Path
) -> None:
    table = pa.table({"age": [i * i % 60 for i in range(500)]})
    release = enter(table).queries(
        ["age:0..60:5"], "intervals", epsilon=1, delta="1e-6", method="square-root"
    )  # fmt: skip
    written = save_over(release, tmp_path, report=False)
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path)
    assert done.passed, done.failure
    spec = queries(["age:0..60:5"], "intervals", epsilon=1, delta="1e-6", method="square-root")
    assert isinstance(spec.method, SquareRoot)
    less = replace(spec.method, variance=str(spec.method.s2 * 99 / 100))
    forged = unsigned(spec) | {"release": replace(spec, method=less).to_json()}
    assert verify(sign(forger, unsigned(spec))).passed
    assert wrong(verify(sign(forger, forged)))
