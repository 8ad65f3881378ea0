"""Linear and integer programs, solved by HiGHS. What comes back are floats: whoever certifies checks them exactly.

minimise cost x, where row_low <= matrix x <= row_high and low <= x <= high, and x is whole where that is wanted.

A matrix by its rows, of which few entries are not zero: compressed sparse rows, as far as programs and graphs need them.
"""

from __future__ import annotations

from math import inf
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse, install
from hubbub.runtime.frozen import dataclass

Floats = NDArray[np.float64]
_MISSING: Final = f"what tables give away together needs one package more; {install('audit')}"


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What was found: whether it is the optimum, whether there is provably none, the point, and a dual of each row."""

    optimal: bool
    infeasible: bool
    message: str
    point: Floats | None
    duals: Floats


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Program:
    """A program; `tolerance` is how far a row or a price may be off, as far as the solver's numbers go."""

    cost: Floats
    matrix: SparseRows
    row_low: Floats
    row_high: Floats
    low: Floats
    high: Floats
    tolerance: float | None = None

    def solve(
        self, *, integral: bool = False, seconds: float = inf, gap: float = 0.0, simplex: bool = False
    ) -> Solution:
        """Solve it: in whole numbers (`integral`) up to a relative `gap`, or by the `simplex` method alone."""
        try:
            import highspy  # late, and no part of what is always installed: most commands solve none
        except ImportError:
            raise WrongUse(_MISSING) from None

        solver = highspy.Highs()
        options: dict[str, object] = {"output_flag": False, "time_limit": seconds, "threads": 1}
        options |= {"solver": "simplex"} if simplex else {}
        options |= {"mip_rel_gap": gap} if integral else {}
        if self.tolerance is not None:
            options |= dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), self.tolerance)
        for name, value in options.items():
            solver.setOptionValue(name, value)
        solver.passModel(self._model(highspy, integral))
        solver.run()
        return _solution(highspy, solver)

    def _model(self, highspy: Any, integral: bool) -> Any:
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = self.cost.size, self.matrix.height
        model.col_cost_, model.col_lower_, model.col_upper_ = self.cost, self.low, self.high
        model.row_lower_, model.row_upper_ = self.row_low, self.row_high
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.num_col_, model.a_matrix_.num_row_ = self.cost.size, self.matrix.height
        model.a_matrix_.start_ = self.matrix.starts.astype(np.int32)
        model.a_matrix_.index_ = self.matrix.columns.astype(np.int32)
        model.a_matrix_.value_ = self.matrix.values
        if integral:
            model.integrality_ = [highspy.HighsVarType.kInteger] * self.cost.size
        return model


def _solution(highspy: Any, solver: Any) -> Solution:
    status = solver.getModelStatus()
    kinds = highspy.HighsModelStatus
    found = solver.getSolution()
    told = solver.modelStatusToString(status)
    return Solution(
        status == kinds.kOptimal,
        status == kinds.kInfeasible,
        told,
        np.array(found.col_value) if found.value_valid and _is_feasible(solver) else None,
        np.array(found.row_dual) if found.dual_valid else np.zeros(0),
    )


def _is_feasible(solver: Any) -> bool:
    return bool(solver.getInfo().primal_solution_status == 2)  # feasible, as HiGHS counts


Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SparseRows:
    """Row i has `values[starts[i]:starts[i + 1]]` in the columns of the same places."""

    starts: Ints
    columns: Ints
    values: Floats
    width: int

    @property
    def height(self) -> int:
        return int(self.starts.size) - 1

    def times(self, point: Floats) -> Floats:
        """The matrix times a vector."""
        rows = np.repeat(np.arange(self.height), np.diff(self.starts))
        return np.bincount(rows, self.values * point[self.columns], self.height).astype(np.float64)


def sparse_rows(rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], shape: tuple[int, int]) -> SparseRows:
    """The matrix with these entries; each place is named once."""
    height, width = shape
    order = np.lexsort((columns, rows))
    starts = np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=height)))).astype(np.int64)
    return SparseRows(starts, columns[order].astype(np.int64), values[order].astype(np.float64), width)
