"""How far one person moves what gets Gaussian noise: every person of up to three rows in up to three bins, by hand.

Nothing here uses a formula of the product: the rows that may be kept are listed, what each of them adds to the published
numbers is added up, and the largest length, the largest sum and the most numbers are compared with what a release says
and pays for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from hubbub.guarantees.accountant.gaussian import Sensitivity
from hubbub.kinds.sum.request import KIND as SUM
from hubbub.kinds.sums.count import COUNT
from hubbub.kinds.sums.fraction import FRACTION
from hubbub.kinds.sums.mean import MEAN
from hubbub.protocol.spec import Kind
from hubbub.query_classes.marginals.tables import Tables, subsets

Row = tuple[int | None, int]
"""The bin of a row, or none, and its value in steps."""

BOUNDS = [
    {"rows_per_person": m, **({"distinct": b} if b else {}), **({"rows_per_bin": c} if c else {})}
    for m, b, c in ((1, 0, 0), (2, 0, 1), (3, 0, 0), (3, 0, 2), (3, 1, 2), (3, 2, 0), (3, 2, 1), (3, 2, 2))
]


def people(bins: int, values: range, most: int) -> Iterator[tuple[Row, ...]]:
    """Every person of at most so many rows."""
    rows = [(None, values[0]), *itertools.product(range(bins), values)]
    for many in range(most + 1):
        yield from itertools.combinations_with_replacement(rows, many)


def kept(rows: tuple[Row, ...], bounds: dict[str, int]) -> Iterator[tuple[Row, ...]]:
    """Everything that the bounds may leave of a person, whatever is drawn."""
    most, bins, each = (bounds.get(name, 9) for name in ("rows_per_person", "distinct", "rows_per_bin"))
    for some in set(itertools.combinations(rows, min(most, len(rows)))):
        inside = [row for row in some if row[0] is not None]
        where = sorted({row[0] for row in inside if row[0] is not None})
        for chosen in itertools.combinations(where, min(bins, len(where))):
            parts = [[row for row in inside if row[0] == b] for b in chosen]
            choices = [set(itertools.combinations(part, min(each, len(part)))) for part in parts]
            for pick in itertools.product(*choices):
                yield tuple(itertools.chain.from_iterable(pick))


def largest(vectors: set[tuple[int, ...]]) -> tuple[int, int, int]:
    """The largest sum of absolute values, of squares, and the most numbers that are not 0."""
    return (
        max(sum(map(abs, each)) for each in vectors),
        max(sum(x * x for x in each) for each in vectors),
        max(sum(x != 0 for x in each) for each in vectors),
    )


def said(kind: Kind, **words: Any) -> Sensitivity:
    spec: Any = kind.ask(person="id", epsilon="1", **words)
    found = spec.sensitivity
    assert isinstance(found, Sensitivity)
    noise = spec.sensitivity.gaussian(Fraction(4))
    assert (noise.squared, noise.moved, noise.ones) == (found.l2_squared, found.moved, found.ones)
    return found


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("bins", [1, 3])
def test_counts_shares_and_means_of_rows(bounds: dict[str, int], bins: int) -> None:
    by = [f"b:0..{bins}:1"]
    words: dict[str, Any] = {"by": by, **{name: str(value) for name, value in bounds.items()}}
    counts, shares, means = set(), set(), set()
    for person in people(bins, range(3), 3):
        for rows in kept(person, bounds):
            here = [[value for b, value in rows if b == at] for at in range(bins)]
            counts.add(tuple(len(values) for values in here))
            shares.add(tuple(x for values in here for x in (sum(v > 0 for v in values), sum(v == 0 for v in values))))
            means.add(tuple(x for values in here for x in (sum(values), 2 * len(values) - sum(values))))
    for vectors, say in (
        (counts, said(COUNT, count_rows=True, **words)),
        (shares, said(FRACTION, where="v > 0", **words)),
        (means, said(MEAN, of="v:0..2:1", **words)),
    ):
        l1, squares, many = largest(vectors)
        assert (say.l1, say.l2_squared) == (l1, squares)
        assert say.moved >= many
        assert not say.ones or max(max(map(abs, each), default=0) for each in vectors) <= 1
        assert not any(x < 0 for each in vectors for x in each), "which is why two people are sqrt 2 apart at most"
        apart = max(sum((x - y) ** 2 for x, y in zip(one, other, strict=True)) for one in vectors for other in vectors)
        assert apart <= say.gaussian(Fraction(4)).under_replacement().squared


@pytest.mark.parametrize("distinct", [1, 2, 3])
def test_people_of_whom_any_row_counts_in_some_bins(distinct: int) -> None:
    vectors = {
        tuple(int(i in some) for i in range(3))
        for k in range(distinct + 1)
        for some in itertools.combinations(range(3), k)
    }
    found = said(COUNT, by=["b:0..3:1"], where="v > 0", any_row=True, distinct=str(distinct))
    assert (found.l1, found.l2_squared, found.moved) == largest(vectors)
    assert found.ones


@pytest.mark.parametrize(("low", "high"), [(0, 3), (-2, 3), (-3, -1)])
@pytest.mark.parametrize(
    "caps", [{"cap": 2}, {"cap": 4}, {"cap": 5, "cap_per_bin": 2}, {"cap": 9, "cap_per_bin": 4}], ids=str
)
@pytest.mark.parametrize("bounds", [each for each in BOUNDS if len(each) < 3], ids=str)
def test_sums_with_a_cap(low: int, high: int, caps: dict[str, int], bounds: dict[str, int]) -> None:
    """A sum in a bin is cut to its cap, then the bins one after the other, in any order, to what is left of the cap."""
    bins, vectors = 2, set()
    for person in people(bins, range(low, high + 1), 3):
        for rows in kept(person, bounds):
            sums = [sum(value for b, value in rows if b == at) for at in range(bins)]
            each = caps.get("cap_per_bin", 99)
            sums = [max(-each, min(each, x)) for x in sums]
            for order in itertools.permutations(range(bins)):
                left, cut = caps["cap"], [0] * bins
                for at in order:
                    cut[at] = max(-left, min(left, sums[at]))
                    left -= abs(cut[at])
                vectors.add(tuple(cut))
    words: dict[str, Any] = {name: str(value) for name, value in {**bounds, **caps}.items()}
    found = said(SUM, of=f"v:{low}..{high}:1", by=[f"b:0..{bins}:1"], **words)
    l1, squares, many = largest(vectors)
    assert found.l1 >= l1
    assert found.l2_squared >= squares
    assert found.moved >= many
    assert found.signed or not any(x < 0 for each_ in vectors for x in each_) or high < 0
    apart = max(sum((x - y) ** 2 for x, y in zip(one, other, strict=True)) for one in vectors for other in vectors)
    assert apart <= found.gaussian(Fraction(4)).under_replacement().squared


@pytest.mark.parametrize("sizes", [(2,), (3,), (2, 2), (2, 3), (3, 1), (2, 2, 2), (3, 2, 2)])
@pytest.mark.parametrize("bounds", [each for each in BOUNDS if "distinct" not in each], ids=str)
def test_residuals_of_tables_by_people_with_several_rows(sizes: tuple[int, ...], bounds: dict[str, int]) -> None:
    """Every person of up to three rows in the cells of a domain: the vector N_A (C x .. x C) counts itself."""
    cells = int(np.prod(sizes))
    if cells > 8 and bounds["rows_per_person"] > 2:
        bounds = bounds | {"rows_per_person": 2}
    columns = tuple(range(len(sizes)))
    persons = {
        tuple(sum(row[0] == at for row in rows) for at in range(cells))
        for person in people(cells, range(1), bounds["rows_per_person"])
        for rows in kept(person, bounds)
    }
    l1 = max(sum(each) for each in persons)
    squares = max(sum(x * x for x in each) for each in persons)
    tables = Tables(sizes, (columns,), (1,), rows=l1, squares=squares)
    for below in subsets(columns):
        worst = Fraction(0)
        for person in persons:
            table = (
                np.array(person, dtype=np.int64).reshape(sizes).sum(axis=tuple(i for i in columns if i not in below))
            )
            vector = table.reshape([sizes[i] for i in below])
            for axis, size in enumerate(vector.shape):
                vector = size * vector - vector.sum(axis=axis, keepdims=True)
            worst = max(worst, Fraction(int((vector**2).sum())))
        paid = tables.cells(below) ** 2 * tables.squared_sensitivity(below)
        assert worst <= paid
        if l1 == 1 or not below:
            assert worst == paid
