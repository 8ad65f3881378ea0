"""Intervals by a tree of runs: least squares, the table of the theory, the choice of the branches, bounds, losses."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from hubbub.noise.source import ScriptedSource
from hubbub.query_classes import tree
from hubbub.query_classes.choice import choose_method, offers, parameters, restore_method
from hubbub.query_classes.classes import Boxes
from hubbub.query_classes.flat import Flat
from hubbub.query_classes.marginals.geometric import geometric_variance
from hubbub.query_classes.setting import Cells, Drawn, Setting
from hubbub.query_classes.tree import Fit, Tree, levels


def asked(bins: int, epsilon: str = "1", delta: Fraction = Fraction(0)) -> Setting:
    loss = Fraction(epsilon)
    return Setting(queries=Boxes((bins,), line=True), half_way=loss, any_row=loss, doubt=Fraction(1, 20), delta=delta)


def precision(bins: int, branching: int, deep: int, shares: tuple[int, ...]) -> NDArray[np.float64]:
    """The matrix of least squares: for each level, who is in a run with whom, with the weight of the level."""
    place, found = np.arange(bins), np.zeros((bins, bins))
    for level, share in zip(range(deep), shares, strict=True):
        run = place // branching**level
        found += (run[:, None] == run[None, :]) * float(share) ** 2
    return found


def mean_over_intervals(covariance: NDArray[np.float64]) -> float:
    bins = covariance.shape[0]
    totals = np.zeros((bins + 1, bins + 1))
    totals[1:, 1:] = covariance.cumsum(0).cumsum(1)
    own = np.diag(totals)
    every = own[:, None] + own[None, :] - 2 * totals
    return float(every[np.triu_indices(bins + 1, 1)].mean())


def squares_of(fit: Fit, start: int, stop: int) -> NDArray[np.float64]:
    found = np.zeros(len(fit.shares))
    for level, weight, many in fit.weights(start, stop):
        found[level] += many * (weight / fit.unit) ** 2
    return found


TABLE = [(64, 22.0, (63.6, 37.2, 46.4)), (256, 86.0, (132, 76.9, 67.7))]
LARGE = pytest.param(1024, 342.0, (238, 138, 157), marks=pytest.mark.slow)


@pytest.mark.parametrize(("bins", "identity", "trees"), [*TABLE, LARGE])
def test_the_table_of_ranges_is_right_and_the_tree_that_is_taken_is_better(
    bins: int, identity: float, trees: tuple[float, ...]
) -> None:
    """The table's trees have equal shares and a noisy root, which no interval needs; in units of 2/epsilon^2."""
    for branching, printed in zip((2, 4, 16), trees, strict=True):
        deep = len(levels(bins, branching)) + 1
        found = mean_over_intervals(np.linalg.inv(precision(bins, branching, deep, (1,) * deep)) * deep**2)
        assert found == pytest.approx(printed, rel=0.01)
        ours = Fit(bins, branching, (1,) * (deep - 1)).mean_squares()
        assert ours is not None
        without = float(ours.sum()) * (deep - 1) ** 2
        alone = np.linalg.inv(precision(bins, branching, deep - 1, (1,) * (deep - 1))) * (deep - 1) ** 2
        assert without == pytest.approx(mean_over_intervals(alone), rel=1e-9)
        assert without < found
    assert (bins + 2) / 3 == pytest.approx(identity, rel=0.01)
    setting = asked(bins, "0.01")  # so little that whole noise is as good as any
    best = choose_method(setting)
    assert isinstance(best, Tree)
    square = best.interval_mean_square(setting)
    assert square is not None
    assert square * 0.01**2 / 2 < 0.85 * min(identity, *trees)
    for other in tree.BRANCHINGS:
        if other < bins:
            rival = Tree(other).interval_mean_square(setting)
            assert rival is not None
            assert square <= rival


@pytest.mark.parametrize(
    ("bins", "branching", "shares"),
    [(7, 2, (3, 2, 1)), (16, 4, (2, 1)), (20, 3, (4, 3, 2)), (5, 8, (1,)), (9, 2, ())],
)
def test_answers_are_least_squares_on_the_tree_whose_missing_bins_hold_nobody(
    bins: int, branching: int, shares: tuple[int, ...]
) -> None:
    setting, method = asked(bins), Tree(branching, shares)
    fit, sizes = method.fit(setting), levels(bins, branching)
    whole = sizes[-1] * branching ** (len(sizes) - 1)
    covariance = np.linalg.inv(precision(whole, branching, len(sizes), fit.shares))
    truth = np.arange(1, bins + 1, dtype=np.int64) ** 2
    exact = Drawn(method.exact(setting, Cells((bins,), np.arange(bins), truth)))
    units = [Drawn(row) for row in np.eye(exact.numbers.size, dtype=np.int64)]
    total, number = np.zeros(len(sizes)), 0
    for start in range(bins):
        for stop in range(start + 1, bins + 1):
            query = ((start, stop),)
            assert method.answer(setting, exact, query) == truth[start:stop].sum(), "unbiased, exactly"
            inside = np.zeros(whole)
            inside[start : whole if stop == bins else stop] = 1
            squares, at = np.zeros(len(sizes)), 0
            for level, size in enumerate(sizes):
                width = branching**level
                weights = (covariance @ inside).reshape(-1, width).sum(axis=1) * fit.shares[level] ** 2
                got = [float(method.answer(setting, unit, query)) for unit in units[at : at + size]]
                assert got == pytest.approx(weights[:size].tolist(), abs=1e-12)
                squares[level] = (np.array(got) ** 2).sum()
                total[level] += (weights**2).sum()
                at += size
            assert squares_of(fit, start, stop) == pytest.approx(squares, rel=1e-8)
            assert (squares <= fit.most_squares()).all()
            if bins < 10:
                assert (
                    method.own_bound(setting, query) <= method.bound_of(setting, query) <= method.error_bound(setting)
                )
            number += 1
    means = fit.mean_squares()
    assert means is not None
    assert means == pytest.approx(total / number, rel=1e-9)


def test_bounds_hold_by_the_exact_law_of_the_noises() -> None:
    """Twelve bins in two levels: the exact law of an answer's noise, by convolution, is beyond the bound less often than
    is said, and a bound a tenth smaller would not hold."""
    setting, method = asked(12, "1"), Tree(4, (3, 2))
    fit, rates = method.fit(setting), method.rates(setting)
    for query in (((1, 2),), ((2, 11),), ((0, 12),), ((3, 6),)):
        law = {0: 1.0}
        for level, first, last, weight in fit.runs(*query[0]):
            q = math.exp(-rates[level])
            one = {x: (1 - q) / (1 + q) * q ** abs(x) for x in range(-24, 25)}
            for _ in range(last - first):
                grown: dict[int, float] = {}
                for value, chance in law.items():
                    for x, p in one.items():
                        grown[value + weight * x] = grown.get(value + weight * x, 0.0) + chance * p
                law = {value: chance for value, chance in grown.items() if chance > 1e-11}
                if len(law) > 30_000:
                    step = max(1, fit.unit // 40)  # a grid of a fortieth of a person
                    coarse: dict[int, float] = {}
                    for value, chance in law.items():
                        coarse[round(value / step) * step] = coarse.get(round(value / step) * step, 0.0) + chance
                    law = coarse
        bound = float(method.own_bound(setting, query))
        beyond = sum(chance for value, chance in law.items() if abs(value) / fit.unit > bound)
        nearer = sum(chance for value, chance in law.items() if abs(value) / fit.unit > 0.9 * bound)
        assert beyond <= 0.05 < nearer


@pytest.mark.parametrize("shares", [(), (5, 4, 3, 2)])
def test_a_person_moves_one_run_of_each_level_and_loses_what_is_said(shares: tuple[int, ...]) -> None:
    setting, method, bins = asked(11, "3/7"), Tree(2, shares), 11
    alone = [
        method.in_parts(setting, Cells((bins,), np.array([i]), np.ones(1, dtype=np.int64))) for i in range(bins)
    ]  # fmt: skip
    lost = {int(each.sum()) * method.rate(setting) for each in alone}
    assert lost == {method.spends(setting)} == {Fraction(3, 7)}
    assert max(int(np.abs(a - b).sum()) for a in alone for b in alone) * method.rate(setting) <= Fraction(6, 7)


def test_draws_have_the_variances_that_are_said() -> None:
    """600 draws of one interval: the mean square is within a third of the variance, some 5.5 standard errors."""
    setting, source = asked(16, "1"), ScriptedSource.from_label("a tree of runs")
    method, counts = tree.best(setting), np.arange(16, dtype=np.int64) * 11
    cells, query = Cells((16,), np.arange(16), counts), ((2, 13),)
    off = [float(method.answer(setting, method.draw(setting, cells, source), query)) for _ in range(600)]
    squares = squares_of(method.fit(setting), 2, 13)
    true = sum(q * geometric_variance(r) for q, r in zip(squares.tolist(), method.rates(setting), strict=True))
    assert 2 / 3 < float(np.mean((np.array(off) - counts[2:13].sum()) ** 2)) / true < 4 / 3


def test_the_method_with_the_least_mean_square_is_taken_whatever_the_delta() -> None:
    for bins, epsilon, delta in [(64, "1", 0), (256, "1", 1e-9), (256, "0.1", 1e-2), (3, "1", 0)]:
        setting = asked(bins, epsilon, Fraction(str(delta)))
        known = [each for each in offers(setting) if each.mean_square is not None]
        least = min(known, key=lambda each: each.mean_square or 0.0)
        assert choose_method(setting) == least.method
    assert choose_method(asked(256, "0.1", Fraction(1, 100))).name == "square-root"
    assert choose_method(asked(256, "0.1", Fraction(1, 10**6))).name == "tree", "a tree without a delta errs less"
    assert choose_method(asked(3)) == Flat()


def test_a_tree_with_other_levels_than_its_bins_is_no_method() -> None:
    method = Tree(4, (3, 2))
    assert restore_method(parameters(method)) == method
    assert Tree(4, (3, 2, 1)).why_not(asked(12)) == "it has other levels than its bins have"
