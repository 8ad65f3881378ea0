"""Many marginals by residuals: what one person moves, that tables agree, the plan, intervals, and Adult's error."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from hubbub.guarantees.accountant.gaussian import lemma_c
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import to_text
from hubbub.query_classes.choice import choose_method, parameters, restore_method
from hubbub.query_classes.classes import ColumnCells
from hubbub.query_classes.marginals.plan import above_least_largest, above_least_mean, largest_weights, plan_residuals
from hubbub.query_classes.marginals.residual import Reconstruction, Residuals, differences, residual_of
from hubbub.query_classes.marginals.tables import Tables, subsets
from hubbub.query_classes.residual import Residual, best, of_setting, tables_of
from hubbub.query_classes.setting import Cells, Drawn, Setting
from hubbub.tables.contribution import ContributionBounds

ONE, BILLIONTH = Fraction(1), Fraction(1, 10**9)
ADULT = (9, 16, 7, 15, 6, 5, 2, 42)


def setting(
    shape: tuple[int, ...], ways: int, *, at_most: bool = False, delta: Fraction = BILLIONTH, **more: Any
) -> Setting:
    queries = ColumnCells(shape, ways, at_most=at_most)
    return Setting(queries=queries, half_way=ONE, any_row=ONE, doubt=Fraction(1, 20), delta=delta, **more)


def tables_by(shape: tuple[int, ...], ways: int, at_most: bool = False) -> Tables:
    return tables_of(ColumnCells(shape, ways, at_most=at_most))


def mean_plan(tables: Tables) -> Residuals:
    return plan_residuals(tables, tuple(map(Fraction, tables.weights)), ONE, BILLIONTH)


def said(method: Residual, asked: Setting, drawn: Drawn) -> list[Fraction]:
    return [Fraction(int(x), part.scale) for part in method.every_answer(asked, drawn) for x in part.scaled.ravel()]


@pytest.mark.parametrize("sizes", [(2,), (5,), (2, 3), (4, 3, 2)], ids=str)
def test_one_person_moves_a_residual_by_n_squared_times_p_whoever_it_is(sizes: tuple[int, ...]) -> None:
    tables = tables_by(sizes, len(sizes))
    columns = tuple(range(len(sizes)))
    for cell in product(*map(range, sizes)):
        person = np.zeros(sizes, dtype=np.int64)
        person[cell] = 1
        moved = residual_of(differences(person), sizes)  # N (C x .. x C) e: the integers that get noise
        assert int((moved**2).sum()) == tables.cells(columns) ** 2 * tables.share(columns)


@pytest.mark.parametrize(("each", "most"), [(1, 3), (2, 2), (3, 1), (3, 3)])
@pytest.mark.parametrize("sizes", [(3,), (2, 3), (2, 2), (3, 1)], ids=str)
def test_several_rows_of_a_person_move_a_residual_by_no_more_than_is_said(
    sizes: tuple[int, ...], each: int, most: int
) -> None:
    """Every person of up to three rows, at most `each` in a cell and in at most `most` cells; every table."""
    bounds = ContributionBounds(rows_per_person=3, rows_per_bin=each, distinct=most)
    l1, squares = bounds.rows(math.prod(sizes))
    tables = replace(tables_by(sizes, len(sizes)), rows=l1, squares=squares)
    worst = dict.fromkeys(tables.closure, 0)
    for rows in product(range(each + 1), repeat=math.prod(sizes)):
        if sum(rows) > 3 or sum(map(bool, rows)) > most:
            continue
        person = np.array(rows, dtype=np.int64).reshape(sizes)
        for columns in tables.closure:
            table = person.sum(axis=tuple(i for i in range(len(sizes)) if i not in columns))
            moved = residual_of(differences(np.asarray(table)), tables.sizes(columns))
            worst[columns] = max(worst[columns], int((moved**2).sum()))
    for columns, squared in worst.items():
        said = tables.cells(columns) ** 2 * tables.squared_sensitivity(columns)
        assert squared <= said
        if each == 3:  # all rows in one cell
            assert squared == said


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (4, 3, 2)], ids=str)
def test_differences_say_no_more_than_the_residual(sizes: tuple[int, ...]) -> None:
    table = np.arange(math.prod(sizes), dtype=np.int64).reshape(sizes) ** 2
    for axis in range(len(sizes)):
        constant = np.random.default_rng(axis).integers(
            0, 99, size=[1 if i == axis else n for i, n in enumerate(sizes)]
        )
        assert np.array_equal(differences(table + constant), differences(table))


def exactly(tables: Tables, counts: np.ndarray) -> Drawn:
    """What would be published without noise."""
    parts = []
    for columns in tables.closure:
        away = tuple(i for i in range(counts.ndim) if i not in columns)
        table = tables.cells(columns) * counts.sum(axis=away)
        parts.append(differences(np.asarray(table, dtype=np.int64)).ravel())
    return Drawn(np.concatenate(parts))


@pytest.mark.parametrize(("ways", "at_most"), [(2, False), (2, True), (3, True)])
def test_without_noise_the_reconstruction_is_the_table(ways: int, at_most: bool) -> None:
    shape = (3, 4, 2)
    tables = tables_by(shape, ways, at_most)
    counts = np.random.default_rng(7).integers(0, 50, size=shape)
    drawn = exactly(tables, counts)
    for columns in tables.closure:
        truth = counts.sum(axis=tuple(i for i in range(3) if i not in columns))
        assert np.array_equal(
            Reconstruction(tables, drawn.numbers).scaled_table(columns)[0], truth * tables.cells(columns) ** 2
        )


def test_all_tables_agree_in_all_sums_exactly() -> None:
    asked = setting((3, 4, 2, 5), 2)
    assert isinstance(asked.queries, ColumnCells)
    tables, method = of_setting(asked), best(asked)
    codes = np.arange(120, dtype=np.int64)
    cells = Cells(asked.shape, codes, codes * 3 % 17)
    drawn = method.draw(asked, cells, ScriptedSource.from_label("agree"))
    for columns in tables.closure:
        for below in subsets(columns):
            gone = tuple(columns.index(i) for i in columns if i not in below)
            wide = Reconstruction(tables, drawn.numbers).scaled_table(columns)[0].sum(axis=gone)
            ratio = tables.cells(columns) ** 2 // tables.cells(below) ** 2
            assert np.array_equal(wide, Reconstruction(tables, drawn.numbers).scaled_table(below)[0] * ratio)


@pytest.mark.slow
def test_the_variance_of_every_cell_is_the_formula_and_the_interval_covers() -> None:
    """2,000 draws of 6 cells: a variance 10 % off would be 6 standard errors away; size below 1e-5."""
    asked = setting((2, 3), 2)
    assert isinstance(asked.queries, ColumnCells)
    method = best(asked)
    cells = Cells((2, 3), np.arange(6, dtype=np.int64), np.array([10, 0, 5, 7, 100, 3]))
    source = ScriptedSource.from_label("variance")
    drawn = [said(method, asked, method.draw(asked, cells, source)) for _ in range(2000)]
    off = np.array([[float(x) for x in one] for one in drawn]) - cells.counts
    expected = float(method.noise(asked).variance((0, 1)))
    assert np.allclose((off**2).mean(axis=0), expected, rtol=0.16)
    assert abs((off**2).mean() / expected - 1) < 0.1
    half = float(method.noise(asked).reach((0, 1), Fraction(1, 20)))
    assert 1.96 < half / math.sqrt(expected) < 2.3  # narrow noise: more than the 1.96 of a normal law
    assert (np.abs(off) > half).mean() < 0.065


@pytest.mark.parametrize(
    ("ways", "at_most", "target"), [(2, False, 21.8), (3, False, 28.0), (2, True, 25.9), (3, True, 36.3)]
)
def test_adults_error_is_that_of_the_optimum(ways: int, at_most: bool, target: float) -> None:
    """Cells of all tables alike for marginals, tables alike for conjunctions; those of the highest order."""
    tables = tables_by(ADULT, ways, at_most)
    method = mean_plan(tables)
    top = [each for each in tables.workload if len(each) == ways]
    weights = [1 if at_most else tables.cells(each) for each in top]
    weighed = sum((w * method.variance(each) for w, each in zip(weights, top, strict=True)), Fraction(0))
    assert math.sqrt(weighed / sum(weights)) <= target * 1.02
    assert lemma_c(method.noises, ONE) <= BILLIONTH
    assert above_least_mean(method, tables.weights) < Fraction("1.001")


def test_the_plan_cannot_be_beaten_by_its_neighbours() -> None:
    tables = tables_by((3, 4, 2), 2)
    method = mean_plan(tables)
    least = above_least_mean(method, tables.weights)
    assert Fraction(1) <= least < Fraction("1.0001")
    for i in range(len(method.s2)):
        other = Residuals(tables, tuple(2 * s if i == j else s for j, s in enumerate(method.s2)))
        assert above_least_mean(other, tables.weights) > least


def test_a_variance_that_is_too_small_or_left_out_has_a_larger_delta() -> None:
    asked = setting((3, 4, 2), 2)
    method = best(asked)
    assert method.spends(asked) == ONE
    less = replace(method, variances=tuple(to_text(s * Fraction(99, 100)) for s in method.s2))
    assert less.spends(asked) > ONE
    assert replace(method, variances=method.variances[:-1]).why_not(asked)
    assert replace(method, variances=("8", *method.variances[1:])).why_not(asked)


def test_it_is_chosen_for_many_tables_and_read_back() -> None:
    asked = setting((9, 16, 7, 15, 6, 5, 2, 42), 2)
    method = choose_method(asked)
    assert method.name == "residual"
    assert restore_method(parameters(method)) == method
    assert choose_method(setting((9, 16, 7, 15, 6), 2)).name != "residual", "ten tables: geometric noise errs less"
    assert choose_method(setting((9, 16, 7, 15, 6), 2, delta=Fraction(0))).name != "residual"
    assert Residual("0", ()).why_not(setting((3, 4), 2, delta=Fraction(0))) == "it needs a delta beside epsilon"


def test_a_column_of_one_bin_says_nothing_of_its_own() -> None:
    asked = setting((1, 3, 2), 2)
    method = choose_method(asked, "residual")
    assert isinstance(method, Residual)
    drawn = method.draw(asked, Cells((1, 3, 2), np.arange(6), np.full(6, 9)), ScriptedSource.from_label("one"))
    assert len(said(method, asked, drawn)) == asked.queries.number  # type: ignore[arg-type, union-attr]


@pytest.mark.slow
def test_190_tables_of_20_columns_are_planned_drawn_and_answered() -> None:
    shape = tuple(3 + i % 3 for i in range(20))
    asked = setting(shape, 2)
    rows = np.random.default_rng(3).integers(0, math.prod(shape), size=10_000)
    codes, counts = np.unique(rows, return_counts=True)
    method = best(asked)
    drawn = method.draw(asked, Cells(shape, codes, counts), ScriptedSource.from_label("twenty"))
    found = said(method, asked, drawn)
    assert len(found) == asked.queries.number  # type: ignore[union-attr]
    truth = asked.queries.of_listed(codes, counts)  # type: ignore[union-attr]
    assert max(abs(float(a) - b) for a, b in zip(found, truth.tolist(), strict=True)) <= float(
        method.error_bound(asked)
    )


# --- one person replaced, boxes, and the least largest variance ----------------------------------------------------


@pytest.mark.parametrize("sizes", [(2,), (5,), (2, 3), (3, 3), (1, 4), (4, 3, 2), (3, 5, 4)], ids=str)
def test_one_person_replaced_moves_a_residual_by_what_is_said_and_no_more(sizes: tuple[int, ...]) -> None:
    columns = tuple(range(len(sizes)))
    tables = Tables(sizes, (columns,), (1,), replaced=True, outside=False)
    units = []
    for cell in product(*map(range, sizes)):
        person = np.zeros(sizes, dtype=np.int64)
        person[cell] = 1
        units.append(residual_of(differences(person), sizes))
    farthest = max(int(((one - other) ** 2).sum()) for one in units for other in units)
    assert farthest == tables.cells(columns) ** 2 * tables.squared_sensitivity(columns)
    assert int((units[0] ** 2).sum()) <= farthest or farthest == 0  # one who is in no cell is not further away


def test_with_a_public_number_of_people_all_tables_add_up_to_it() -> None:
    asked = setting((3, 4, 2), 2, at_most=True, rows=72, outside=False)
    method = choose_method(asked, "residual")
    assert isinstance(method, Residual)
    tables = of_setting(asked)
    assert () not in tables.measured_tables
    drawn = method.draw(asked, Cells((3, 4, 2), np.arange(24), np.full(24, 3)), ScriptedSource.from_label("public"))
    for columns in tables.closure:
        assert best(asked).fit(asked, drawn).scaled_table(columns)[0].sum() == 72 * tables.cells(columns) ** 2
    assert method.noise(asked).reach((), Fraction(1, 20)) == 0
    free = setting((3, 4, 2), 2, at_most=True, rows=72, outside=True)
    assert of_setting(free).measured_tables[0] == ()
    assert best(free).spends(free) == ONE


def test_a_box_has_the_variance_of_the_coefficients_of_its_noises() -> None:
    """Every published number is a sum of noises with coefficients; their squares, from unit vectors."""
    shape = (3, 4)
    asked = setting(shape, 2)
    plan = best(asked).noise(asked)
    tables, box = plan.tables, (slice(0, 2), slice(1, 4))
    total = Fraction(0)
    for columns, s2 in plan.of_table.items():
        for cell in np.ndindex(*tables.sizes(columns)):
            noise = {each: np.zeros(tables.sizes(each), dtype=np.int64) for each in tables.measured_tables}
            noise[columns][cell] = 1
            drawn = np.concatenate([differences(noise[each]).ravel() for each in tables.measured_tables])
            found = int(Reconstruction(tables, drawn).scaled_table((0, 1))[0][box].sum())
            total += s2 * Fraction(found, tables.cells((0, 1)) ** 2) ** 2
    assert total == plan.variance_of({0: 2, 1: 3})


@pytest.mark.parametrize(("ways", "target"), [(2, 24.7), (3, 32.7)])
def test_adults_largest_error_is_that_of_the_optimum(ways: int, target: float) -> None:
    tables = tables_by(ADULT, ways)
    weights = largest_weights(tables)
    plan = plan_residuals(tables, weights, ONE, BILLIONTH)
    assert math.sqrt(max(plan.variance(each) for each in tables.workload)) <= target * 1.02
    assert above_least_largest(plan, weights) < Fraction("1.003")


def test_a_plan_for_the_least_largest_variance_is_read_back_and_its_dual_is_worked_out_again() -> None:
    asked = setting((9, 16, 7, 15, 6), 2, least="largest")
    method = choose_method(asked, "residual")
    assert isinstance(method, Residual)
    assert method.objective == "largest"
    assert restore_method(parameters(method)) == method
    assert method.above_least(asked) < Fraction("1.01")
    others = replace(method, weights=(*("0" for _ in method.weights[1:]), "1"))
    assert others.above_least(asked) > Fraction("1.05")  # these weights prove less than the plan reaches
