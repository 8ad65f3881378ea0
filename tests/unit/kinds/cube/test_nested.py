"""Columns whose bins nest: regions, their counties, and cells; every level with noise, and the least error chosen."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from hubbub.kinds.cube.request import cube
from hubbub.noise.source import ScriptedSource
from tests.fresh import open, played

DRAWS = np.random.default_rng(6)
SIZES = {"region": 4, "county": 5, "age": 6}
PEOPLE = pa.table({name: DRAWS.integers(0, size, 4000) for name, size in SIZES.items()})
BY = [f"{name}:0..{size}:1" for name, size in SIZES.items()]
LEVELS = "region,county; region"


def test_three_levels_have_geometric_noise_and_many_tables_gaussian_noise() -> None:
    schema = open(PEOPLE).engine.columns()
    nested = cube(BY, epsilon=1, delta="1e-6", margins=LEVELS).with_schema(schema)
    assert nested.noise == "geometric"
    other = cube(BY, epsilon=1, delta="1e-6", margins=LEVELS, noise="gaussian").with_schema(schema)
    assert max(nested.reaches) < max(other.reaches), "a person is in three tables: too few for Gaussian noise"


def test_levels_agree_exactly_and_a_region_is_more_exact_than_the_sum_of_its_cells() -> None:
    """The mean square over 25 releases of 4 regions, each the sum of 30 cells, with noise that is the same in each run:
    noise on the cells alone, with all of epsilon, would have 30 times the variance of one, and this is less than half."""
    squares, alone = [], 30 * 2 * np.exp(-1) / (1 - np.exp(-1)) ** 2
    truth = np.bincount(PEOPLE["region"].to_numpy(), minlength=4)
    engine = open(PEOPLE).engine
    spec = cube(BY, epsilon=1, margins=LEVELS).with_schema(engine.columns())
    for i in range(25):
        release = played(spec, engine, ScriptedSource.from_label(f"nested {i}"))
        found = {sheet.name: pa.Table.from_batches(sheet.batches()) for sheet in release.result.sheets()}
        cells, counties, regions = (
            np.array(found[name]["fitted"].to_pylist(), dtype=np.float64)
            for name in ("release", "margin-region-county", "margin-region")
        )
        assert np.allclose(cells.reshape(4, 5, 6).sum(axis=2).ravel(), counties)
        assert np.allclose(counties.reshape(4, 5).sum(axis=1), regions)
        squares.append(float(((regions - truth) ** 2).mean()))
    assert np.mean(squares) < alone / 2
