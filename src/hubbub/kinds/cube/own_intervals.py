"""How far one number of a cube with geometric noise at every level is from the truth, by itself.

A number has two tellers: its own noise, whose tail is exact, and the estimate, a sum over the noises of all tables that has
a smaller variance and Chernoff's tail. The shorter interval is taken, table by table, from public numbers alone.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from hubbub.channels.mechanisms.noise_reach import reach_of_all
from hubbub.kinds.cube.least_squares import weight
from hubbub.query_classes.marginals.geometric import GeometricTables
from hubbub.query_classes.marginals.tables import Tables

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube

_MOST_WORK: Final = 20_000  # coefficients of noises, for all tables; of larger cubes numbers have their own noise alone


@lru_cache(maxsize=64)
def own_reaches(spec: Cube) -> tuple[tuple[bool, Fraction], ...]:
    """For each table: whether the estimate is the better teller, and how far it is from the truth at most.

    Guarantee: but for a chance of 1 - coverage a number is within this of the truth, whatever the others do.
    """
    miss = 1 - spec.cells.coverage
    unfitted = [Fraction(reach_of_all(share, miss)) for share in spec.shares]
    workload = tuple(tuple(sorted(level)) for level in spec.levels)
    if sum(4 ** len(each) for each in workload) * len(workload) > _MOST_WORK:
        return tuple((False, reach) for reach in unfitted)
    tables = Tables(spec.shape, workload, (1,) * len(workload))
    noise = GeometricTables(tables, spec.shares, tuple(map(weight, spec.shares)))
    fitted = [noise.reach(each, miss) for each in workload]
    return tuple((two < one, min(one, two)) for one, two in zip(unfitted, fitted, strict=True))
