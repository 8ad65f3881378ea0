"""OpenDP's measurements for benchmarks.utility: its exact noise on exact numbers, for a sensitivity and a promise."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


def laplace(exact: Numbers, sensitivity: int, epsilon: float) -> Numbers:
    """Its exact discrete Laplace noise, at the scale that it finds for epsilon."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    scale = dp.binary_search_param(
        lambda s: dp.m.make_laplace(*space, scale=s), d_in=sensitivity, d_out=epsilon, T=float
    )
    return np.array(dp.m.make_laplace(*space, scale=scale)(exact.astype(int).tolist()), dtype=np.float64)


def laplace_of_one(exact: float, sensitivity: int, epsilon: float) -> float:
    return float(laplace(np.array([exact]), sensitivity, epsilon)[0])


def gaussian(exact: Numbers, length: float, epsilon: float, delta: float) -> Numbers:
    """Its exact discrete Gaussian noise, by its own conversion from zero-concentrated privacy."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="f64")

    def made(scale: float) -> Any:
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale)), delta)

    scale = dp.binary_search_param(made, d_in=length, d_out=(epsilon, delta), T=float)
    return np.array(dp.m.make_gaussian(*space, scale=scale)(exact.astype(int).tolist()), dtype=np.float64)


def quantile(values: NDArray[np.int64], q: float, candidates: Sequence[int], rows: int, epsilon: float) -> float:
    """Its choice among candidates, for people with up to that many rows."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.symmetric_distance()
    scores = dp.t.make_quantile_score_candidates(*space, list(candidates), alpha=q)

    def made(scale: float) -> Any:
        return scores >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale, negate=True)

    scale = dp.binary_search_param(made, d_in=rows, d_out=epsilon, T=float)
    return float(candidates[made(scale)(values.tolist())])


def tree(counts: Numbers, people: int, epsilon: float, moved: int = 1) -> Numbers:
    """The bins of its tree of noisy sums, made consistent, with the branches that it advises for that many people, of whom
    each is in at most `moved` bins."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    branches = min(len(counts), dp.t.choose_branching_factor(people))
    sums = dp.t.make_b_ary_tree(*space, leaf_count=len(counts), branching_factor=branches)
    scale = dp.binary_search_param(lambda s: sums >> dp.m.then_laplace(scale=s), d_in=moved, d_out=epsilon, T=float)
    agreed = dp.t.make_consistent_b_ary_tree(branching_factor=branches, TIA="i64", TOA="f64")
    return np.array((sums >> dp.m.then_laplace(scale=scale) >> agreed)(counts.astype(int).tolist()))


def mean(values: NDArray[np.int64], high: int, rows: int) -> float:
    """Half of epsilon 1 for the sum of differences from the middle, half for the number of rows."""
    middle = high // 2
    count = laplace_of_one(len(values), rows, 0.5)
    return middle + laplace_of_one(float((values - middle).sum()), rows * (high - middle), 0.5) / count


def deviation(values: NDArray[np.int64], high: int, *, centred: bool) -> float:
    """A third of epsilon 1 each for the count, the sum and the sum of squares, of differences from the middle or from 0."""
    from_middle = values - high // 2 if centred else values
    most = high - high // 2 if centred else high
    count, first, second = (
        laplace_of_one(float(each), bound, 1 / 3)
        for each, bound in ((len(values), 1), (from_middle.sum(), most), ((from_middle**2).sum(), most**2))
    )
    return sqrt(max(0.0, second / count - (first / count) ** 2))
