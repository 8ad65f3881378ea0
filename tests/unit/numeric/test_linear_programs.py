"""Programs: the optimum, its dual prices, whole numbers, and the word that there is no solution."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from hubbub.errors import WrongUse
from hubbub.numeric.linear_programs import Program, SparseRows, sparse_rows

INF = np.inf


def matrix(rows: list[list[float]]) -> SparseRows:
    full = np.array(rows, dtype=float)
    at = np.nonzero(full)
    return sparse_rows(at[0], at[1], full[at], (full.shape[0], full.shape[1]))


def program(cost: list[float], rows: list[list[float]], low: list[float], high: list[float]) -> Program:
    size = len(cost)
    ends = np.zeros(size), np.full(size, INF)
    return Program(
        cost=np.array(cost, dtype=float),
        matrix=matrix(rows),
        row_low=np.array(low, dtype=float),
        row_high=np.array(high, dtype=float),
        low=ends[0],
        high=ends[1],
    )


def test_rows_times_a_vector() -> None:
    found = matrix([[1, 0, 2], [0, 0, 0], [0, -3, 0]])
    assert found.times(np.array([1.0, 2.0, 3.0])).tolist() == [7.0, 0.0, -6.0]
    assert (found.height, found.width) == (3, 3)


def test_the_optimum_and_the_price_of_a_row() -> None:
    solved = program([1, 2], [[1, 1]], [3], [3]).solve(simplex=True)  # all of it in the cheaper of two
    assert solved.optimal
    assert solved.point is not None
    assert solved.point.tolist() == [3.0, 0.0]
    assert solved.duals.tolist() == [1.0]  # one more costs as much more


def test_whole_numbers_cost_more_than_halves() -> None:
    asked = program([1, 1], [[2, 2]], [3], [INF])
    half, whole = asked.solve(), asked.solve(integral=True)
    assert half.point is not None
    assert whole.point is not None
    assert (half.point.sum(), whole.point.sum()) == (1.5, 2.0)


def test_that_there_is_no_solution_is_said() -> None:
    impossible = program([1], [[1]], [-2], [-1])
    assert impossible.solve().infeasible
    assert impossible.solve(integral=True).infeasible
    assert impossible.solve().point is None


@pytest.mark.parametrize("seconds", [INF, 60])
@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=4), st.data())
def test_it_is_as_good_as_another_solvers(seconds: float, rows: list[list[int]], data: st.DataObject) -> None:
    cost = data.draw(st.lists(st.integers(0, 5), min_size=3, max_size=3))
    point = data.draw(st.lists(st.integers(0, 5), min_size=3, max_size=3))  # so that there is one
    right = (np.array(rows) @ np.array(point)).tolist()
    solved = program(cost, rows, right, right).solve(seconds=seconds)
    known = linprog(cost, A_eq=rows, b_eq=right, method="highs")
    assert solved.optimal
    assert solved.point is not None
    assert float(np.dot(cost, solved.point)) == pytest.approx(known.fun, abs=1e-7)


def test_without_the_solver_the_next_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(WrongUse, match=r"run pip install '.\[audit\]'"):
        program([1], [[1]], [1], [1]).solve()
