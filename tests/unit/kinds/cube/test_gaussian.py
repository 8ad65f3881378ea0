"""Cubes with Gaussian noise, totals, own intervals, and the file of whole cells: what adds up, what covers, what is
refuted."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

from hubbub.errors import Refused
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.kinds.cube.request import cube
from hubbub.kinds.cube.spec import Cube
from hubbub.ledger import key
from hubbub.noise.source import ScriptedSource
from hubbub.query_classes.marginals.projection import FinestTable, largest_remainders
from hubbub.verification import verify
from tests.fresh import enter, open, played, save_over, unsigned
from tests.unit.shared.saved import sign

ROWS = np.random.default_rng(5)
PEOPLE = pa.table({name: ROWS.integers(0, top, 3000) ** 2 // top for name, top in (("a", 8), ("b", 6), ("c", 5))})
BY = ["a:0..8:1", "b:0..6:1", "c:0..5:1"]
GAUSSIAN: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "noise": "gaussian"}


def sheets(done: Any) -> dict[str, list[dict[str, Any]]]:
    return {
        sheet.name: [row for batch in sheet.batches() for row in batch.to_pylist()] for sheet in done.result.sheets()
    }


def made(label: str = "gaussian", by: list[str] = BY, **words: Any) -> Any:
    spec = cube(by, **words).with_schema(open(PEOPLE).engine.columns())
    return played(spec, open(PEOPLE).engine, ScriptedSource.from_label(label))


def truth(row: dict[str, Any], names: tuple[str, ...]) -> int:
    chosen = np.ones(PEOPLE.num_rows, dtype=bool)
    for name in names:
        chosen &= PEOPLE.column(name).to_numpy() == int(row[name].strip("[").partition(",")[0])
    return int(chosen.sum())


def test_all_tables_add_up_to_the_last_digit_and_to_the_total() -> None:
    found = sheets(made(**GAUSSIAN, margins="a,b; c; total"))
    total = found["margin-total"][0]["fitted"]
    assert sum(row["fitted"] for row in found["release"]) == total
    assert sum(row["fitted"] for row in found["margin-c"]) == total
    for row in found["margin-a-b"]:
        inside = [cell for cell in found["release"] if (cell["a"], cell["b"]) == (row["a"], row["b"])]
        assert sum(cell["fitted"] for cell in inside) == row["fitted"]
    assert all(row["count"] == math.floor(row["fitted"] + Decimal("0.5")) for row in found["release"])


@pytest.mark.slow
@pytest.mark.parametrize("words", [GAUSSIAN, {"epsilon": 1}], ids=["gaussian", "geometric"])
def test_own_intervals_are_inside_the_others_and_hold_as_often_as_they_say(words: dict[str, Any]) -> None:
    """40 cubes of 240 cells, 8, 6 and 5 numbers: of 10,000 own intervals 5 % may miss, give or take 0.7 % for tables whose
    noises hang together; 93.5 % would be two thirds of a percent beyond three standard errors."""
    held = 0
    every = 0
    for i in range(40):
        found = sheets(made(f"own {i}", **words))
        for name, names in {"release": ("a", "b", "c"), "margin-a": ("a",), "margin-b": ("b",)}.items():
            for row in found[name][:: 6 if name == "release" else 1]:
                assert row["own_high"] - row["own_low"] <= row["high"] - row["low"] + 1
                held += row["own_low"] <= truth(row, names) <= row["own_high"]
                every += 1
    assert held / every >= 0.935, (held, every)


def test_the_better_noise_is_chosen_from_public_numbers_and_said() -> None:
    few = cube(BY[:2], epsilon=1, delta="1e-9").with_schema(open(PEOPLE).engine.columns())
    assert few.noise == "geometric"
    assert few.promises()[0].conclusion == DifferentialPrivacy(epsilon=Fraction(1))
    columns = {f"c{i}": pa.int64() for i in range(6)}
    many = cube([f"{name}:0..4:1" for name in columns], epsilon=1, delta="1e-6", margins="1; 2; 3; 4; total")
    table = pa.table({name: [0] for name in columns})
    found = many.with_schema(open(table).engine.columns())
    assert found.noise == "gaussian"
    other = replace(many, noise="geometric").with_schema(open(table).engine.columns())
    assert max(found.reaches) < max(other.reaches)
    assert any("the noise is Gaussian" in remark for remark in found.describe().remarks)
    assert all(check.passed for check in found.checks())


def test_with_a_public_number_of_people_the_cube_adds_up_to_it() -> None:
    by = [f"{each},null,other" for each in BY]
    done = made(by=by, **GAUSSIAN, people=3000, margins="a; total")
    found = sheets(done)
    assert found["margin-total"][0]["fitted"] == 3000
    assert (found["margin-total"][0]["low"], found["margin-total"][0]["high"]) == (3000, 3000)
    promise = done.promises[0].conclusion
    assert promise.neighbours is Neighbours.REPLACE
    with pytest.raises(Refused, match="not of as many people as were declared"):
        made(by=by, **GAUSSIAN, people=2999, margins="a; total")


@pytest.mark.parametrize("fault", ["one variance 1 % smaller", "a residual left out of rho", "weights that prove less"])
def test_a_planted_fault_is_refuted_by_verify(fault: str, tmp_path: Path) -> None:
    spec = cube(BY, **GAUSSIAN, margins="a,b; total").with_schema(open(PEOPLE).engine.columns())
    s2, weights = list(spec.variances), list(spec.weights)
    if fault.startswith("one"):
        s2[-1] *= Fraction(99, 100)
    elif fault.startswith("a"):
        s2[-1] = Fraction(9)
    else:
        weights = [Fraction(0)] * (len(weights) - 1) + [Fraction(1)]
    wrong = replace(spec, variances=tuple(s2), weights=tuple(weights))
    key.make(tmp_path / "ledger.db")
    right = unsigned(spec)
    assert verify(sign(tmp_path / "ledger.db", right)).passed
    done = verify(sign(tmp_path / "ledger.db", right | {"release": wrong.to_json()}))
    assert not done.passed
    noticed = {"the plan of the noise", "what was released"}
    assert done.checks[-1].what in noticed


@pytest.mark.parametrize("fault", ["a share 1 % larger", "a table without a share", "a share of nothing"])
def test_a_planted_fault_in_the_shares_of_geometric_noise_is_refuted(fault: str, tmp_path: Path) -> None:
    spec = cube(BY, epsilon=1, margins="a,b; total").with_schema(open(PEOPLE).engine.columns())
    first, *rest = spec.shares
    shares = {
        "a share 1 % larger": (first * Fraction(101, 100), *rest),
        "a table without a share": (first + rest[-1], *rest[:-1]),
        "a share of nothing": (first + rest[-1], *rest[:-1], Fraction(0)),
    }[fault]
    key.make(tmp_path / "ledger.db")
    right = unsigned(spec)
    assert verify(sign(tmp_path / "ledger.db", right)).passed
    done = verify(sign(tmp_path / "ledger.db", right | {"release": replace(spec, shares=shares).to_json()}))
    assert not done.passed


# --- whole cells of at least 0 ------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [GAUSSIAN, {"epsilon": 1}, {"epsilon": "0.1"}], ids=str)
def test_before_rounding_the_projection_is_never_further_from_the_truth(words: dict[str, Any]) -> None:
    done = made(**words, margins="a,b; c; total", consistent=True)
    spec = done.spec
    assert isinstance(spec, Cube)
    found = sheets(done)
    exact = np.array([truth(row, ("a", "b", "c")) for row in found["release"]], dtype=float)
    unbiased = np.array([float(row["fitted"]) for row in found["release"]])
    projected = np.array([row["projected"] for row in found["consistent"]])
    whole = np.array([row["consistent"] for row in found["consistent"]])

    def far(cells: np.ndarray) -> float:
        off = (cells - exact).reshape(spec.shape)
        tables = [off, off.sum(axis=2), off.sum(axis=(0, 1)), off.sum()]
        return math.sqrt(sum(float((table**2).sum()) for table in tables))

    assert far(projected) < far(unbiased)
    assert (projected >= 0).all()
    assert (whole >= 0).all()
    assert np.abs(whole - projected).max() < 1
    assert abs(int(whole.sum()) - projected.sum()) <= 0.5


TYPED: dict[str, Any] = {"epsilon": 1, "delta": "1e-6", "mechanism": "gaussian"}


@pytest.mark.parametrize("words", [{"epsilon": 1}, {"epsilon": "0.5", "crowd": 20}, TYPED], ids=str)
def test_a_consistent_table_that_is_no_projection_is_refuted(words: dict[str, Any], tmp_path: Path) -> None:
    release = enter(PEOPLE).cube(BY, **words, consistent=True)
    save_over(release, tmp_path, report=False)
    key.make(tmp_path / "ledger.db")
    file, names = tmp_path / "consistent.csv", [path.name for path in tmp_path.glob("*.csv")]
    given = pc.read_csv(file)

    def failure(projected: np.ndarray, whole: np.ndarray | None = None) -> str:
        from hubbub.ledger.durable import sha256

        whole = largest_remainders(projected) if whole is None else whole
        columns = [*given.columns[:3], pa.array(whole), pa.array(projected)]
        lines = [",".join(f'"{name}"' for name in given.column_names)]
        lines += [
            ",".join(f'"{x}"' if isinstance(x, str) else repr(x) for x in row)
            for row in zip(*(column.to_pylist() for column in columns), strict=True)
        ]
        file.write_text("\n".join(lines) + "\n")
        digests = {name: sha256(tmp_path / name) for name in sorted(names)}
        body = unsigned(release.spec) | {"files": digests}
        done = verify(sign(tmp_path / "ledger.db", body), folder=tmp_path)
        return "" if done.passed else done.failure

    cells = given.column("projected").to_numpy().astype(float)
    assert failure(cells) == ""
    assert failure(cells * (1 + 1e-12)) == ""  # another machine's last digits
    clipped = np.maximum(cells - 0.5, 0)
    assert "no projection" in failure(clipped)
    assert "no projection" in failure(np.where(np.arange(cells.size) == int(cells.argmax()), cells + 1, cells))
    assert "at least 0" in failure(np.where(np.arange(cells.size) == 3, -1.0, cells))
    assert "rounded" in failure(cells, largest_remainders(cells) + (np.arange(cells.size) == 5))


def test_a_projection_of_overlapping_margins_leaves_fixed_cells_alone() -> None:
    y = np.array([5.0, -2, -3, 9, 20, 1])
    fixed = np.array([False, False, False, False, True, False])
    table = FinestTable((2, 3), ((0,), (1,)), y, fixed)
    found = table.project()
    assert found[4] == 20
    assert (found >= 0).all()
    assert table.distance(found) <= table.tolerance
    assert table.distance(np.maximum(y, 0)) > 1


@pytest.mark.slow
def test_a_million_cells_are_projected() -> None:
    """Sparse ones, beside margins by one and by two columns."""
    shape = (100, 100, 100)
    draws = np.random.default_rng(3)
    people = np.zeros(shape)
    np.add.at(people, tuple(draws.zipf(1.6, size=(3, 50_000)) % 100), 1)
    margins = ((0,), (1,), (2,), (0, 1), ())
    noisy = people + draws.normal(0, 10, shape)
    noisy += (people.sum() - noisy.sum()) / noisy.size
    table = FinestTable(shape, margins, noisy.ravel())
    found = table.project()
    assert table.distance(found) <= table.tolerance
    assert ((found - people.ravel()) ** 2).sum() < ((noisy - people) ** 2).sum() / 10
