"""A census table as a cube and as records: the files together determine no hidden cell that the finest alone does not.

The table is not part of the repository: without it beside the repository these tests are skipped.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

from hubbub.cli.main import commands
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.ledger.ledger import Ledger
from hubbub.numeric.exact import to_text
from hubbub.release import save
from hubbub.verification import verify
from tests.fresh import open, opened

ADULT = Path(__file__).resolve().parents[5] / "shared" / "data" / "tables" / "adult_train.parquet"
pytestmark = pytest.mark.skipif(not ADULT.exists(), reason="the census table is not here")

K = 10
DOMAIN = {
    "age": [f"[{low},{low + 20})" for low in range(0, 100, 20)],
    "workclass": ["?", "Federal-gov", "Local-gov", "Never-worked", "Private", "Self-emp-inc", "Self-emp-not-inc",
                  "State-gov", "Without-pay"],
    "race": ["Amer-Indian-Eskimo", "Asian-Pac-Islander", "Black", "Other", "White"],
    "sex": ["Female", "Male"],
    "income": ["<=50K", ">50K"],
}  # fmt: skip
BY = ["age:0..100:20", *(f"{column}={','.join(values)}" for column, values in list(DOMAIN.items())[1:])]
SIZES = [len(values) for values in DOMAIN.values()]
CELLS = int(np.prod(SIZES))
THREE = list(combinations(DOMAIN, 3))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The cube with all margins of three columns, at k = 10: one release, one certificate."""
    folder = tmp_path_factory.mktemp("adult")
    book = folder / "ledger.db"
    with pytest.MonkeyPatch.context() as patch:  # what this machine remembers of ledgers is not that of another run
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        done = opened(ADULT, ledger=book).cube(BY, margins="3", crowd=K)
        written = save(done, folder / "out", form="parquet")
        assert verify(Path(written["certificate"]).read_bytes(), folder=folder / "out").passed
        assert len(Ledger(book).account(ADULT.stem).records) == 1
    return {name: pq.read_table(path).to_pylist() for name, path in written.items() if path.endswith(".parquet")}


def bins_of(columns: tuple[str, ...]) -> np.ndarray:
    """For each cell the number of its bin in a margin."""
    places = np.unravel_index(np.arange(CELLS), SIZES)
    kept = [(places[i], SIZES[i]) for i, column in enumerate(DOMAIN) if column in columns]
    number = np.zeros(CELLS, dtype=int)
    for place, size in kept:
        number = number * size + place
    return number


def ranges(
    low: np.ndarray, high: np.ndarray, sums: Any, least: np.ndarray, most: np.ndarray, which: list[int]
) -> list[Any]:
    """The least and the largest count of some cells, by HiGHS, given bounds on all cells and on sums of them."""
    found = []
    matrix, ends = vstack([sums, -sums]).tocsr(), np.concatenate([most, -least])
    for cell in which:
        aim = np.zeros(CELLS)
        aim[cell] = 1
        both = [
            linprog(sign * aim, A_ub=matrix, b_ub=ends, bounds=np.column_stack([low, high]), method="highs")
            for sign in (1, -1)
        ]
        assert all(done.status == 0 for done in both)
        found.append((round(both[0].fun, 6), round(-both[1].fun, 6)))
    return found


def margins_matrix() -> Any:
    """One row for each bin of each margin of three columns."""
    parts = []
    for columns in THREE:
        number = bins_of(columns)
        parts.append(coo_array((np.ones(CELLS), (number, np.arange(CELLS))), shape=(number.max() + 1, CELLS)))
    return vstack(parts)


def test_all_files_together_determine_no_hidden_cell_that_the_cells_alone_do_not(files: dict[str, Any]) -> None:
    """THREATS 19, by linear programming: with all margins a hidden cell may still be anything from 0 to k - 1."""
    cells = files["release"]
    assert len(cells) == CELLS
    assert len(files) == 1 + len(THREE) == 11
    shown = np.array([row["count"] is not None for row in cells])
    low = np.array([row["count"] or 0 for row in cells], dtype=float)
    high = np.where(shown, low, K - 1)
    least, most = [], []
    for columns in THREE:
        rows = files[f"margin-{'-'.join(columns)}"]
        least += [row["low"] for row in rows]
        most += [row["high"] for row in rows]
    hidden = np.flatnonzero(~shown)
    some = hidden[:: max(1, len(hidden) // 40)].tolist()
    found = ranges(low, high, margins_matrix(), np.array(least, dtype=float), np.array(most, dtype=float), some)
    assert len(hidden) > 100
    assert set(found) == {(0, K - 1)}
    # For the others no program is needed: the intervals of a margin are what its cells can add up to, and no less.
    matrix = margins_matrix()
    assert np.array_equal(matrix @ low, np.array(least))
    assert np.array_equal(matrix @ high, np.array(most))


def test_the_same_margins_counted_by_themselves_would_tell_hidden_cells(files: dict[str, Any]) -> None:
    """The control: exact margins of at least k beside the cells pin hidden cells down, and the program sees it."""
    table = pq.read_table(ADULT, columns=list(DOMAIN)).to_pylist()
    places = {
        column: {value: i for i, value in enumerate(values)} for column, values in DOMAIN.items() if column != "age"
    }
    truth = np.zeros(CELLS)
    for person in table:
        at = [min(person["age"] // 20, 4), *(places[column][person[column]] for column in places)]
        truth[np.ravel_multi_index(at, SIZES)] += 1
    shown = truth >= K
    assert [row["count"] for row in files["release"]] == [int(n) if n >= K else None for n in truth]
    matrix = margins_matrix()
    sums = matrix @ truth
    least, most = np.where(sums >= K, sums, 0), np.where(sums >= K, sums, K - 1)
    low, high = np.where(shown, truth, 0), np.where(shown, truth, K - 1)
    alone = [cell for cell in np.flatnonzero(~shown) if truth[cell] > 0][:12]
    found = ranges(low, high, matrix, least, most, alone)
    assert any(first == last for first, last in found)


def test_records_are_as_anonymous_as_they_say_and_by_the_count_of_others() -> None:
    done = open(ADULT).records(["age:20", "workclass", "race", "sex", "income"], crowd=K)
    rows = Counter(tuple(row.values()) for row in done)
    cells = open(ADULT).cube(["age:20", "workclass", "race", "sex", "income"], crowd=K)
    assert rows == {tuple(list(row.values())[:5]): row["count"] for row in cells}
    assert min(rows.values()) >= K
    anonymity = pytest.importorskip("pycanon.anonymity")
    frame = done.to_pandas()
    assert anonymity.k_anonymity(frame, list(frame.columns)) == min(rows.values())


def test_sampled_records_have_the_epsilon_of_the_calculator() -> None:
    done = open(ADULT).records(["age:20", "race", "sex"], crowd=20, sample="0.1", at_delta="1e-6")
    words = ["account", "crowd", "--k", "20", "--rate", "0.1", "--delta", "1e-6", "--json"]
    told = json.loads(CliRunner().invoke(commands, words).stdout)
    (claim,) = [step.conclusion for step in done.promises if isinstance(step.conclusion, DifferentialPrivacy)]
    assert to_text(claim.epsilon) == told["epsilon_exact"] == "0.18298861"
    assert to_text(claim.delta) == told["delta_exact"]
    assert 2900 < len(done) < 3600
