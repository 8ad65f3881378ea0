"""Many marginals with least error: Gaussian noise on what each table says beyond the tables it contains.

For every set A of columns below a table of the class, N_A times the counts of A, N_A the number of its cells, get noise
N_Z(s2_A), and of the noisy table only its *residual* is published, as differences to the first bin of every column:
what is left when all sums over a column are taken out. With C = I - 11'/n for each column, p_A = prod (1 - 1/n_i):

**Privacy.** The residual does not see what C takes out, so it is a function of the integers N_A (C x .. x C) counts + Z,
which one person moves by a vector of squared length N_A^2 p_A, whoever it is. All tables together are one Gaussian
release for Lemma C (:mod:`hubbub.guarantees.accountant.gaussian`).

**Reconstruction.** The table A is the sum over B within A of the residual of B, spread evenly over the bins of A \\ B:
rational, unbiased, and all tables agree in all sums exactly. Each cell of A has a variance of at most
sum over B of sigma_B^2 p_B prod over A \\ B of n_j^-2, sigma_B^2 = s2_B/N_B^2.

**The plan** with the least weighted sum of variances is sigma_B^2 ~ sqrt(p_B/V_B), V_B the weight of sigma_B^2 in that
sum over p_B; its value T^2/(2 rho), T = sum of sqrt(V_B p_B), bounds every plan from below (Cauchy and Schwarz; after
Xiao, He, Zhang, Kifer, ResidualPlanner, 2023). Any plan is private: only the error depends on it.

**Intervals (Lemma I).** Let W = sum a_i X_i, X_i ~ N_Z(s2_i), s2_i >= 9, and G_i ~ N(0, k2), k2 = 9/4. W + sum a_i G_i is
N(0, Var + Vk), Vk = k2 sum a_i^2, up to a factor (1 + r)/(1 - r) for each term (Poisson summation), so that
P(|W| > h) <= 2 Phi(-(h - g)/sqrt(Var + Vk)) + 2 Phi(-g/sqrt(Vk)) for any g, up to these factors.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from math import prod
from typing import Any, ClassVar, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.guarantees.accountant.gaussian import GaussianNoise, least_normal_variance, lemma_c
from hubbub.noise.gaussian import LARGEST, discrete_gaussian
from hubbub.noise.source import Source
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import ball, precision, rational, rounded, to_text, upper
from hubbub.numeric.gaussian_sums import normal, ripple
from hubbub.query_classes.classes import Box, ColumnCells, Halfspace, Query, Shape
from hubbub.query_classes.setting import MOST_QUERIES, Cells, Drawn, Setting
from hubbub.sampling.sanitize import Blank

Columns: TypeAlias = tuple[int, ...]
Numbers: TypeAlias = NDArray[Any]

LEAST_VARIANCE: Final = 9
"""Of the noise on scaled counts: what Lemma I asks for."""
SLACK: Final = Fraction(51, 50)
"""How far above the least weighted variance a plan may be."""
_SMOOTHING: Final = Fraction(9, 4)
_DIGITS: Final = 7
_EDGE: Final = Fraction(1, 1000)  # of what an interval may miss, for the smoothing


def subsets(columns: Columns) -> list[Columns]:
    """All sets of these columns, the empty one first."""
    return [each for size in range(len(columns) + 1) for each in combinations(columns, size)]


@dataclass(frozen=True)
class Tables:
    """The tables of a class, those that lie below them, and the numbers that all formulas are made of."""

    shape: Shape
    ways: int
    at_most: bool

    @cached_property
    def workload(self) -> tuple[Columns, ...]:
        """The tables that are asked for; where all orders are, the grand total too."""
        sizes = range(self.ways + 1) if self.at_most else (self.ways,)
        return tuple(each for size in sizes for each in combinations(range(len(self.shape)), size))

    @cached_property
    def closure(self) -> tuple[Columns, ...]:
        """They and all tables below them, the grand total first."""
        found = {below for each in self.workload for below in subsets(each)}
        return tuple(sorted(found, key=lambda each: (len(each), each)))

    def cells(self, columns: Columns) -> int:
        """N_A."""
        return prod(self.shape[i] for i in columns)

    def share(self, columns: Columns) -> Fraction:
        """p_A."""
        return prod((1 - Fraction(1, self.shape[i]) for i in columns), start=Fraction(1))

    def weight(self, columns: Columns) -> int:
        """How much a cell's variance in this table counts, times its cells: each cell alike, or each table."""
        return 1 if self.at_most else self.cells(columns)

    def spread(self, columns: Columns, below: Columns) -> Fraction:
        """prod over A \\ B of n_j^-2."""
        return Fraction(1, self.cells(tuple(i for i in columns if i not in below)) ** 2)

    def published(self, columns: Columns) -> int:
        """How many differences to the first bins there are."""
        return prod(self.shape[i] - 1 for i in columns)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """Where the differences of each table begin, and where the last one ends."""
        found = [0]
        for each in self.closure:
            found.append(found[-1] + self.published(each))
        return tuple(found)

    @cached_property
    def demands(self) -> Mapping[Columns, Fraction]:
        """V_B: the weight of sigma_B^2 in the weighted sum of variances, over p_B and with it."""
        found = dict.fromkeys(self.closure, Fraction(0))
        for each in self.workload:
            for below in subsets(each):
                found[below] += self.weight(each) * self.share(below) * self.spread(each, below)
        return found

    @cached_property
    def least(self) -> float:
        """T^2: the least weighted sum of variances, times 2 rho."""
        return math.fsum(math.sqrt(self.demands[each] * self.share(each)) for each in self.closure) ** 2


@lru_cache(maxsize=16)
def tables_of(shape: Shape, ways: int, at_most: bool) -> Tables:
    """The tables of a class."""
    return Tables(shape, ways, at_most)


def of_class(queries: ColumnCells) -> Tables:
    """The tables of a class of queries."""
    return tables_of(queries.shape, queries.ways, queries.at_most)


@dataclass(frozen=True)
class Residual:
    """Gaussian noise on the residual of every table below the class; `variances` are s2_A in the order of the closure.

    Guarantee: (epsilon, delta)-differential privacy with the delta that Lemma C gives for these variances.
    """

    name: ClassVar[str] = "residual"
    blank: ClassVar[Blank] = Blank.HALF_WAY
    delta: str
    variances: tuple[str, ...]

    @cached_property
    def s2(self) -> tuple[Fraction, ...]:
        """The variances as numbers."""
        return tuple(rational(text, "a variance") for text in self.variances)

    def noises(self, tables: Tables) -> list[GaussianNoise]:
        """What one person moves of each scaled table, and its noise.

        Guarantee: |v|^2 = N_A^2 p_A for every person in a cell (0 for one in none), in at most N_A cells.
        """
        pairs = zip(tables.closure, self.s2, strict=True)
        return [
            GaussianNoise(s2=s2, squared=tables.cells(a) ** 2 * tables.share(a), moved=tables.cells(a), signed=True)
            for a, s2 in pairs
        ]

    def spent_delta(self, setting: Setting) -> Fraction:
        """Guarantee: the delta of all tables together at the epsilon that may be lost, by Lemma C, rounded up."""
        assert isinstance(setting.queries, ColumnCells)
        return _delta(self, of_class(setting.queries), setting.half_way)

    def why_not(self, setting: Setting) -> str:
        if not isinstance(setting.queries, ColumnCells):
            return "it answers marginals and conjunctions"
        if setting.rows is not None:
            return "it is for people who come or go, and the number of people is declared"
        tables = of_class(setting.queries)
        if not 0 < rational(self.delta, "delta") < 1:
            return "it needs a delta beside epsilon"
        if sum(tables.cells(each) for each in tables.closure) > 4 * MOST_QUERIES:
            return f"its tables have more than {4 * MOST_QUERIES:,} cells in all"
        if len(self.variances) != len(tables.closure) or min(self.s2) < LEAST_VARIANCE or max(self.s2) > LARGEST:
            return "its variances are none for these tables"
        return ""

    def spends(self, setting: Setting) -> Fraction:
        """Guarantee: epsilon, where the delta that follows is at most the one that may be lost; else more than that."""
        return setting.half_way * (1 if self.spent_delta(setting) <= rational(self.delta, "delta") else 2)

    def variance(self, tables: Tables, columns: Columns) -> Fraction:
        """Of each cell of a table, an upper bound, exact but for 1e-15."""
        s2 = dict(zip(tables.closure, self.s2, strict=True))
        return sum(
            (s2[b] / tables.cells(b) ** 2 * tables.share(b) * tables.spread(columns, b) for b in subsets(columns)),
            Fraction(0),
        )

    def bound(self, setting: Setting) -> Fraction:
        """Guarantee: Lemma I for every cell of the class at once: each may miss its share of `doubt`."""
        assert isinstance(setting.queries, ColumnCells)
        return max(_reaches(self, setting).values())

    def bound_of(self, setting: Setting, query: Query) -> Fraction:
        assert isinstance(setting.queries, ColumnCells) and not isinstance(query, Halfspace)
        return _reaches(self, setting)[table_of(setting.queries, query)]

    def seconds(self, setting: Setting) -> float:
        assert isinstance(setting.queries, ColumnCells)
        tables = of_class(setting.queries)
        return 0.5 + 2e-6 * sum(tables.cells(each) for each in tables.closure)

    def draw(self, setting: Setting, cells: Cells, source: Source) -> Drawn:
        """Guarantee: exact counts, scaled, with exact noise, of which the differences are published: the vectors that
        :meth:`noises` is about."""
        assert isinstance(setting.queries, ColumnCells)
        tables = of_class(setting.queries)
        bins = np.unravel_index(cells.codes, tables.shape)
        found = []
        for columns, s2 in zip(tables.closure, self.s2, strict=True):
            exact = _counted(tables, columns, bins, cells.counts)
            noisy = tables.cells(columns) * exact + discrete_gaussian(s2, exact.size, source)
            found.append(_differences(noisy.reshape([tables.shape[i] for i in columns])).ravel())
        return Drawn(np.concatenate(found))

    def answer(self, setting: Setting, drawn: Drawn, query: Query) -> Fraction:
        assert isinstance(setting.queries, ColumnCells) and not isinstance(query, Halfspace)
        columns = table_of(setting.queries, query)
        scaled = reconstructed(of_class(setting.queries), drawn, columns)
        return Fraction(int(scaled[tuple(query[i][0] for i in columns)]), of_class(setting.queries).cells(columns) ** 2)

    def every_answer(self, setting: Setting, drawn: Drawn) -> tuple[list[Fraction], list[Fraction]]:
        """What the published numbers say about every query, in their order, and how far each may be off."""
        assert isinstance(setting.queries, ColumnCells)
        tables = of_class(setting.queries)
        said: list[Fraction] = []
        bounds: list[Fraction] = []
        for columns in setting.queries.sets:
            scale = tables.cells(columns) ** 2
            said += [Fraction(int(each), scale) for each in reconstructed(tables, drawn, columns).ravel()]
            bounds += [_reaches(self, setting)[columns]] * tables.cells(columns)
        return said, bounds


def table_of(queries: ColumnCells, query: Box) -> Columns:
    """The columns of the table that a query is a cell of."""
    return queries.sets[int(np.searchsorted(queries.starts, queries.index_of(query), side="right")) - 1]


@lru_cache(maxsize=64)
def _delta(method: Residual, tables: Tables, epsilon: Fraction) -> Fraction:
    return lemma_c(method.noises(tables), epsilon)


def _counted(
    tables: Tables, columns: Columns, bins: Sequence[NDArray[np.int64]], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The exact table of some columns."""
    found = np.zeros(tables.cells(columns), dtype=np.int64)
    if not columns:
        found[0] = counts.sum()
        return found
    positions = np.ravel_multi_index([bins[i] for i in columns], [tables.shape[i] for i in columns])
    np.add.at(found, positions, counts)
    return found


def _differences(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Differences to the first bin of every column."""
    for axis in range(table.ndim):
        table = table.take(range(1, table.shape[axis]), axis=axis) - table.take([0], axis=axis)
    return table


def _residual(differences: Numbers, sizes: Sequence[int]) -> Numbers:
    """N (C x .. x C) of the table whose differences these are: with zeros in the first bins, n x - sum by each column."""
    table = np.zeros(sizes, dtype=object)
    table[tuple(slice(1, None) for _ in sizes)] = differences.reshape([size - 1 for size in sizes]).astype(object)
    for axis, size in enumerate(sizes):
        table = size * table - table.sum(axis=axis, keepdims=True)
    return table


@lru_cache(maxsize=4)
def _residuals(tables: Tables, drawn: Drawn) -> dict[Columns, Numbers]:
    found = {}
    for i, columns in enumerate(tables.closure):
        part = drawn.numbers[tables.starts[i] : tables.starts[i + 1]]
        found[columns] = _residual(part, [tables.shape[j] for j in columns])
    return found


_MOST_KEPT: Final = 4096


@lru_cache(maxsize=_MOST_KEPT)
def reconstructed(tables: Tables, drawn: Drawn, columns: Columns) -> Numbers:
    """N_A^2 times the table of some columns, in whole numbers.

    Guarantee: N_A^2 sum over B of residual_B/(N_B^2 prod over A \\ B of n_j) = sum over B of residual_B prod over A \\ B
    of n_j, exactly; so all tables agree in all sums.
    """
    total: Any = np.zeros([tables.shape[i] for i in columns], dtype=object)
    for below in subsets(columns):
        part = _residuals(tables, drawn)[below]
        wide = part.reshape([tables.shape[i] if i in below else 1 for i in columns])
        total = total + wide * prod(tables.shape[i] for i in columns if i not in below)
    return np.asarray(total, dtype=object)


def positions(tables: Tables) -> list[NDArray[np.int64]]:
    """For every published number the bin of each column; the number of its bins where the column is not in the table."""
    found = [np.full(tables.starts[-1], size, dtype=np.int64) for size in tables.shape]
    for i, columns in enumerate(tables.closure):
        part = slice(tables.starts[i], tables.starts[i + 1])
        sizes = [tables.shape[j] - 1 for j in columns]
        if columns and part.stop > part.start:
            for j, bins in zip(columns, np.unravel_index(np.arange(part.stop - part.start), sizes), strict=True):
                found[j][part] = bins + 1
    return found


@lru_cache(maxsize=64)
def _reaches(method: Residual, setting: Setting) -> dict[Columns, Fraction]:
    assert isinstance(setting.queries, ColumnCells)
    queries = setting.queries
    tables = of_class(queries)
    miss = setting.doubt / queries.number
    return {each: reach(method, tables, each, miss) for each in queries.sets}


def reach(method: Residual, tables: Tables, columns: Columns, miss: Fraction) -> Fraction:
    """How far a cell of a table is from the truth, but for a chance of `miss`.

    Guarantee: Lemma I, with the factors of Poisson summation for all its terms, rounded up.
    """
    below = subsets(columns)
    terms = sum(tables.cells(each) for each in below)
    smooth = sum((tables.share(b) / tables.cells(b) ** 2 * tables.spread(columns, b) for b in below), Fraction(0))
    with precision():
        r = ripple(_SMOOTHING)
        factor = upper((2 * terms * ((1 + r) / (1 - r)).log()).exp())
        edge = ball(_quantile(miss * _EDGE / 2)) * (ball(_SMOOTHING) * ball(smooth)).sqrt()
        whole = ball(method.variance(tables, columns)) + ball(_SMOOTHING) * ball(smooth)
        far = ball(_quantile(miss * (1 - _EDGE) / (2 * factor))) * whole.sqrt()
        return rounded(upper(edge + far), up=True, digits=_DIGITS)


@lru_cache(maxsize=256)
def _quantile(chance: Fraction) -> Fraction:
    """A z in thousandths with Phi(-z) <= chance."""

    def enough(thousandths: int) -> bool:
        with precision():
            return bool(normal(-ball(Fraction(thousandths, 1000))) <= ball(chance))

    return Fraction(first_from(enough, 0), 1000)


# --- plans ---------------------------------------------------------------------------------------------------------


def best(setting: Setting) -> Residual:
    """The plan with the least weighted variance for what may be lost; none of use where it cannot be run."""
    nothing = Residual(to_text(setting.delta), ())
    if not isinstance(setting.queries, ColumnCells) or not 0 < setting.delta < 1 or setting.rows is not None:
        return nothing
    tables = of_class(setting.queries)
    if sum(tables.cells(each) for each in tables.closure) > 4 * MOST_QUERIES:
        return nothing
    return planned(tables, setting.half_way, setting.delta)


@lru_cache(maxsize=16)
def planned(tables: Tables, epsilon: Fraction, delta: Fraction) -> Residual:
    """The plan for an epsilon and a delta.

    Guarantee: its delta was worked out by Lemma C from the rounded variances, and is at most the one that was allowed.
    """
    double_rho = 1 / least_normal_variance(epsilon, delta)
    roots = {b: _root(tables.demands[b] * tables.share(b)) for b in tables.closure}
    whole = sum(roots.values(), Fraction(0))

    def scaled(parts: int) -> Residual:
        more = 1 + Fraction(parts, 20_000)
        s2 = [_variance(more * whole / double_rho, tables, b, roots[b]) for b in tables.closure]
        return Residual(to_text(delta), tuple(map(to_text, s2)))

    parts = first_from(lambda n: lemma_c(scaled(n).noises(tables), epsilon) <= delta, 0)
    return scaled(parts)


def _variance(scale: Fraction, tables: Tables, columns: Columns, root: Fraction) -> Fraction:
    """s2_B, rounded up; of a table that says nothing of its own, since a column has one bin, the least."""
    if not root:
        return Fraction(LEAST_VARIANCE)
    exact = scale * tables.cells(columns) ** 2 * tables.share(columns) / root
    return max(rounded(exact, up=True, digits=_DIGITS), Fraction(LEAST_VARIANCE))


def _root(x: Fraction) -> Fraction:
    """A square root to some digits, the same on every machine."""
    scale = 10 ** (2 * max(0, 24 - len(str(x.numerator // x.denominator))))
    return Fraction(math.isqrt(x.numerator * scale // x.denominator), math.isqrt(scale))


def optimality(method: Residual, tables: Tables) -> Fraction:
    """The weighted variance of a plan over the least there is for its rho.

    Guarantee: the least is T^2/(2 rho), whatever the plan: it bounds the weighted variance of every one from below.
    """
    weighed = sum((tables.weight(a) * method.variance(tables, a) for a in tables.workload), Fraction(0))
    rho = sum((noise.rho for noise in method.noises(tables)), Fraction(0))
    return rounded(2 * rho * weighed / Fraction(tables.least), up=True, digits=_DIGITS)
