"""Rows by their rank, on every engine: each rank is one row, and K ranks drawn uniformly are K people drawn so.

The ranks are drawn by the caller, whose law has tests of its own. What an engine can get wrong is the numbering: a row
twice or never, equal rows taken for one, a numbering that is another one when a task is run again.
"""

from __future__ import annotations

import datetime
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.errors import Refused, WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.sampling.ranks import ranks
from hubbub.tables.engine import NO_ID, ONE_ROW_EACH, Engine
from tests.conformance.openers import ENGINES, Opener, every_engine, every_engine_but_connect, server_of

DATABASES = [name for name in ENGINES if ":" not in name]
CITIES = ("Bath", "York", "bath", "Caf\u00e9", "a,b", None)


def small() -> pa.Table:
    cities = [CITIES[i * i % 11 % len(CITIES)] for i in range(60)]
    ages = [None if i % 7 == 3 else i % 4 for i in range(60)]
    return pa.table({"id": range(60), "city": cities, "age": pa.array(ages, pa.int32())})


def plain(table: pa.Table) -> list[tuple[str, ...]]:
    """As text, since a CSV has nothing else."""
    return list(zip(*(map(str, column.to_pylist()) for column in table.columns), strict=True))


def taken(engine: Engine, columns: list[str], places: Any, person: str | None = None) -> list[tuple[str, ...]]:
    """The rows at these ranks."""
    found = engine.rows(columns, person, lambda _: np.array(places, np.int64))
    assert found.column_names == columns
    return plain(found)


@every_engine_but_connect
def test_each_rank_is_one_row_whatever_rows_are_equal(opened: Opener, tmp_path: Path) -> None:
    table = small()
    engine = opened(table, tmp_path)
    sizes: list[int] = []

    def everybody(people: int) -> NDArray[np.int64]:
        sizes.append(people)
        return np.arange(people)[::-1].copy()

    found = engine.rows(["age", "city"], "id", everybody)
    assert sizes == [60]
    assert Counter(plain(found)) == Counter(plain(table.select(["age", "city"])))
    # Alone and in another order they are the rows that they are among all.
    whole = taken(engine, ["id", "city", "age"], range(60))
    assert sorted(whole) == sorted(plain(table))
    assert taken(engine, ["id", "city", "age"], [59, 0, 17], "id") == [whole[59], whole[0], whole[17]]
    assert taken(engine, ["id", "city", "age"], [31]) == [whole[31]]


@every_engine
def test_rows_are_handed_over_only_if_each_person_has_one(opened: Opener, tmp_path: Path) -> None:
    drawn: list[int] = []

    def chosen(people: int) -> NDArray[np.int64]:
        drawn.append(people)
        raise Refused("another number")

    for i, (ids, why) in enumerate((([1, 1, 2], ONE_ROW_EACH), ([1, None, 2], NO_ID))):
        (tmp_path / str(i)).mkdir()
        engine = opened(pa.table({"id": pa.array(ids, pa.int64()), "age": [1, 2, 3]}), tmp_path / str(i))
        with pytest.raises(Refused) as refusal:
            engine.rows(["age"], "id", chosen)
        assert str(refusal.value) == why
    assert not drawn
    with pytest.raises(Refused, match="another number"):
        engine.rows(["age"], None, chosen)
    assert drawn == [3]
    with pytest.raises(WrongUse, match="there is no column 'wage'"):
        engine.rows(["wage"], None, chosen)


# --- the law ------------------------------------------------------------------------------------------------------

SIZE = 1e-6  # of each test below
POWER = 0.999  # at least, against a sample that has OFF more than its share of one quarter
OFF = 0.05
N, K, QUARTERS = 8_000, 4_000, 4
NARROWER = (N - 1) / (N - K)  # a sample without replacement varies less than one with


def threshold() -> float:
    return float(stats.chi2.isf(SIZE, QUARTERS - 1))


@every_engine
def test_k_people_are_a_uniform_sample_without_replacement(opened: Opener, tmp_path: Path) -> None:
    """A quarter of the rows are all equal, and the others all different; each quarter has its share."""
    cell = np.where(np.arange(N) < N // QUARTERS, 0, np.arange(N))
    engine = opened(pa.table({"id": np.arange(N), "cell": cell}), tmp_path)
    source = ScriptedSource.from_label(f"rows {opened.__name__}")

    def chosen(people: int) -> NDArray[np.int64]:
        return ranks(K, people, source)

    found = np.array(engine.rows(["cell"], None, chosen).column("cell").to_pylist()).astype(np.int64)
    distinct = found[found > 0]
    assert found.size == K
    assert np.unique(distinct).size == distinct.size, "somebody was drawn twice"
    observed = np.bincount(found * QUARTERS // N, minlength=QUARTERS)
    statistic = float(((observed - K / QUARTERS) ** 2 / (K / QUARTERS)).sum()) * NARROWER
    assert statistic < threshold(), f"K = {K} of {N}: chi-square {statistic:.1f}, threshold {threshold():.1f}"


def test_a_sample_that_favours_a_quarter_would_be_noticed() -> None:
    fair = np.full(QUARTERS, 1 / QUARTERS)
    unfair = fair - OFF / (QUARTERS - 1)
    unfair[0] = 1 / QUARTERS + OFF
    distance = NARROWER * K * float(((unfair - fair) ** 2 / fair).sum())
    power = float(stats.ncx2.sf(threshold(), QUARTERS - 1, distance))
    assert power > POWER, f"K = {K}: power {power}, wanted {POWER}"


# --- databases ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("opened", [pytest.param(ENGINES[name], marks=server_of(name), id=name) for name in DATABASES])
def test_cells_come_as_values_of_their_columns(opened: Opener, tmp_path: Path) -> None:
    day = datetime.date(2024, 2, 29)
    rows = [
        {"fee": Decimal("0.10"), "gain": -0.0, "born": day, "member": True},
        {"fee": None, "gain": float("nan"), "born": None, "member": None},
    ]
    kinds = {"fee": pa.decimal128(9, 2), "gain": pa.float64(), "born": pa.date32(), "member": pa.bool_()}
    engine = opened(pa.Table.from_pylist(rows, pa.schema(list(kinds.items()))), tmp_path)
    found = engine.rows(list(kinds), None, lambda _: np.array([0, 1]))
    assert {name: found.schema.field(name).type for name in kinds} == kinds
    assert sorted(plain(found)) == [("0.10", "0.0", str(day), "True"), ("None",) * 4]
