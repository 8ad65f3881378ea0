"""Marginals with Gaussian noise, released: verified without data, and planted faults refuted."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc
import pytest

from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours
from hubbub.kinds.queries.request import queries
from hubbub.kinds.queries.result import Synopsis
from hubbub.kinds.queries.spec import Queries
from hubbub.ledger import key
from hubbub.ledger.durable import sha256
from hubbub.numeric.exact import to_text
from hubbub.query_classes.classes import ColumnCells
from hubbub.query_classes.residual import Residual
from hubbub.tables.bins import all_labels, parse
from hubbub.verification import verify
from tests.fresh import enter, save_over, unsigned
from tests.unit.shared.saved import sign

COLUMNS = ["a:0..9:1", "b:0..7:1", "c:0..5:1", "d:0..4:1"]
ROWS = np.random.default_rng(11)
TABLE = pa.table({name: ROWS.integers(0, top, 2000) for name, top in (("a", 9), ("b", 7), ("c", 5), ("d", 4))})


def made(folder: Path, of: str = "marginals:2") -> tuple[bytes, Queries]:
    release = enter(TABLE).queries(COLUMNS, of, epsilon=1, delta="1e-9", method="residual")
    written = save_over(release, folder, report=False)
    assert isinstance(release.spec, Queries)
    return Path(written["certificate"]).read_bytes(), release.spec


@pytest.mark.parametrize("of", ["marginals:2", "conjunctions:2"])
def test_a_release_of_marginals_is_verified_without_data(of: str, tmp_path: Path) -> None:
    certificate, spec = made(tmp_path, of)
    done = verify(certificate, folder=tmp_path)
    assert done.passed, done.failure
    promise = spec.promises()[0].conclusion
    assert isinstance(promise, DifferentialPrivacy)
    assert promise.epsilon == 1
    assert 0 < promise.delta <= Fraction(1, 10**9)
    answers = pc.read_csv(tmp_path / "answers.csv")
    assert answers.num_rows == spec.queries.number  # type: ignore[union-attr]
    low, high = answers.column("low").to_numpy(), answers.column("high").to_numpy()
    assert (low <= high).all()


DELTA, PLAN, PROMISE = "the delta of all tables together", "the plan of the noise", "what was released"


@pytest.mark.parametrize(
    ("fault", "noticed"),
    [
        ("every variance 1 % smaller", DELTA),
        ("one variance 1 % smaller", DELTA),
        ("a residual left out of rho", DELTA),
        ("a plan far from the best", PLAN),
        ("weights that prove less", PLAN),
        ("a table left out", "the method can answer the class"),
    ],
)
def test_a_planted_fault_is_refuted_by_verify(fault: str, noticed: str, tmp_path: Path) -> None:
    least = "largest" if fault.startswith("weights") else None
    spec = queries(COLUMNS, "marginals:2", epsilon=1, delta="1e-9", method="residual", least=least)
    method = spec.method
    assert isinstance(method, Residual)
    s2, weights = list(method.s2), list(method.weights)
    match fault.split()[0]:
        case "every":
            s2 = [each * Fraction(99, 100) for each in s2]
        case "one":
            s2[-1] *= Fraction(99, 100)
        case "a" if "rho" in fault:
            s2[-1] = Fraction(9)
        case "a" if "plan" in fault:
            s2[0] *= 1000
        case "a":
            s2 = s2[:-1]
        case _:
            weights = ["0"] * (len(weights) - 1) + ["1"]
    other = replace(method, variances=tuple(map(to_text, s2)), weights=tuple(weights))
    wrong = replace(spec, method=other)
    assert [check.what for check in spec.checks() if not check.passed] == []
    if fault != "a table left out":
        assert noticed in [check.what for check in wrong.checks() if not check.passed]
    key.make(tmp_path / "ledger.db")
    right = unsigned(spec)
    assert verify(sign(tmp_path / "ledger.db", right)).passed
    forged = unsigned(wrong) if noticed == PLAN else right | {"release": wrong.to_json()}
    done = verify(sign(tmp_path / "ledger.db", forged))
    assert not done.passed
    assert done.checks[-1].what in (noticed, PROMISE)


@pytest.mark.parametrize("fault", ["a bound 1 % smaller", "a smaller loss than its tables have", "half of epsilon"])
@pytest.mark.parametrize(
    ("columns", "of", "method"), [(COLUMNS, "marginals:2", "split-tables"), (COLUMNS[:1], "intervals", "tree")]
)
def test_a_planted_fault_in_a_plan_without_a_delta_is_refuted(
    columns: list[str], of: str, method: str, fault: str, tmp_path: Path
) -> None:
    """Such a plan has no variances of its own: the noise follows from epsilon, which the promise, the loss and the bound
    have to fit."""
    spec = queries(columns, of, epsilon=1, method=method)
    right: Any = unsigned(spec)
    wrong = {
        "a bound 1 % smaller": replace(spec, bound=spec.bound * Fraction(99, 100)),
        "a smaller loss than its tables have": replace(spec, loss=Fraction(1, 2)),
        "half of epsilon": replace(spec, request=replace(spec.request, epsilon=Fraction(1, 2))),
    }[fault]
    key.make(tmp_path / "ledger.db")
    assert verify(sign(tmp_path / "ledger.db", right)).passed
    assert not verify(sign(tmp_path / "ledger.db", right | {"release": wrong.to_json()})).passed


def test_a_number_by_itself_has_a_shorter_interval_and_a_margin_has_its_own(tmp_path: Path) -> None:
    release = enter(TABLE).queries(COLUMNS, "marginals:2", epsilon=1, delta="1e-9", method="residual")
    synopsis = release.result
    assert isinstance(synopsis, Synopsis)
    cell, margin = synopsis.answer({"a": "[1,2)", "b": "[2,3)"}), synopsis.answer({"a": "[1,2)"})
    for found in (cell, margin):
        assert found.own_bound < found.bound
        assert found.low <= found.own_low <= found.own_high <= found.high
    assert margin.own_bound < cell.own_bound * 7  # and not the sum over the four bins of d
    assert "Taken alone" in cell.sentence()
    assert set(cell.as_json()) >= {"own_bound", "own_low", "own_high"}
    assert "exactly 2 columns" in " ".join(synopsis.sentences())
    every = enter(TABLE).queries(COLUMNS, "conjunctions:2", epsilon=1, delta="1e-9", method="residual")
    assert "exactly" not in " ".join(every.result.sentences())


def test_with_a_public_number_of_people_the_promise_is_about_one_replaced(tmp_path: Path) -> None:
    columns = [f"{each},null,other" for each in COLUMNS[:3]]  # everybody is in a cell
    release = enter(TABLE).queries(columns, "conjunctions:2", epsilon=1, delta="1e-9", people=2000, method="residual")
    promise, synopsis = release.promises[0].conclusion, release.result
    assert isinstance(promise, DifferentialPrivacy)
    assert isinstance(synopsis, Synopsis)
    assert promise == DifferentialPrivacy(epsilon=Fraction(1), delta=promise.delta, neighbours=Neighbours.REPLACE)
    assert 0 < promise.delta <= Fraction(1, 10**9)
    written = save_over(release, tmp_path, report=False)
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path)
    assert done.passed, done.failure
    total = sum(synopsis.answer({"a": label}).fitted for label in all_labels(parse(columns[0])))  # type: ignore[arg-type]
    assert total == 2000


def test_tables_without_a_delta_are_verified_too(tmp_path: Path) -> None:
    release = enter(TABLE).queries(COLUMNS, "marginals:2", epsilon=1, method="split-tables")
    written = save_over(release, tmp_path, report=False)
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path)
    assert done.passed, done.failure
    assert release.promises[0].conclusion == DifferentialPrivacy(epsilon=Fraction(1))


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    certificate, _ = made(tmp_path)
    text = (tmp_path / "answers.csv").read_text().splitlines()
    text[5] = ",".join([*text[5].split(",")[:-1], "99999"])
    (tmp_path / "answers.csv").write_text("\n".join(text) + "\n")
    assert not verify(certificate, folder=tmp_path).passed


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"epsilon": 1, "delta": 1}, "below 1"),
        ({"zero_knowledge": 1, "rows": 20, "people": 2000, "delta": "1e-9"}, "delta goes with epsilon"),
        ({"epsilon": 1, "delta": "1e-9", "least": "most"}, "least is one of mean and largest"),
        ({"epsilon": 1, "least": "largest"}, "for a plan of Gaussian noise"),
        ({"epsilon": 1, "method": "residual"}, "needs a delta beside epsilon"),
    ],
)
def test_what_delta_cannot_mean_is_refused(words: dict[str, object], said: str) -> None:
    with pytest.raises(WrongUse, match=said):
        queries(COLUMNS, "marginals:2", **words)  # type: ignore[arg-type]


# --- tables of at least 0 that agree ------------------------------------------------------------------------------


DRAWN_BELOW_ZERO: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"delta": "1e-9", "method": "residual"}, {}),
    ({"method": "split-tables"}, {}),
    ({"method": "histogram"}, {}),
    ({"method": "per-query"}, {}),
    ({"delta": "1e-9", "method": "residual"}, {"people": 2000}),
    ({"method": "histogram"}, {"people": 2000}),
    ({"method": "per-query"}, {"people": 2000}),
]


@pytest.mark.parametrize(("words", "limit"), DRAWN_BELOW_ZERO, ids=str)
def test_no_estimate_is_impossible_and_what_was_drawn_has_a_name_of_its_own(
    words: dict[str, Any], limit: dict[str, Any]
) -> None:
    """Noise far above most cells: what is called an estimate is a number that people can have, in file, JSON and text."""
    columns = [f"{each},null,other" for each in COLUMNS]
    release = enter(TABLE).queries(columns, "marginals:2", epsilon="0.02", **words, **limit)
    synopsis = release.result
    assert isinstance(synopsis, Synopsis)
    own = synopsis.number if words["method"] == "per-query" else "fitted"
    sheet = next(each for each in synopsis.sheets() if each.name == ("release" if own == "count" else "answers"))
    rows = [row for batch in sheet.batches() for row in batch.to_pylist()]
    assert any(row[own] < 0 for row in rows), "noise is to be larger than cells here"
    most = limit.get("people", float("inf"))
    for row in rows:
        assert row["estimate"] == min(max(row[own], 0), most)
        assert row["low"] <= row["estimate"] + 1
        assert row["estimate"] - 1 <= row["high"] <= most
    for cells in ({"a": "[0,1)", "b": "[0,1)"}, {"a": "[0,1)"}, {"c": "[0,1)", "d": "[3,4)"}):
        answer = synopsis.answer(cells)
        assert answer.estimate == min(max(answer.fitted, 0), most)
        assert answer.as_json()["estimate"] >= 0
    if own == "fitted":  # the claim about sums is of the fitted numbers
        each = [synopsis.answer({"a": label}).fitted for label in all_labels(parse(columns[0]))]  # type: ignore[arg-type]
        other = [synopsis.answer({"b": label}).fitted for label in all_labels(parse(columns[1]))]  # type: ignore[arg-type]
        assert sum(each) == sum(other)
        assert "stands in the column fitted" in " ".join(release.spec.describe().remarks)


@pytest.mark.parametrize("words", [{"delta": "1e-9", "method": "residual"}, {"method": "split-tables"}], ids=str)
def test_the_projection_is_never_further_from_the_truth_and_agrees(words: dict[str, Any]) -> None:
    release = enter(TABLE).queries(COLUMNS, "marginals:2", epsilon="0.2", consistent=True, **words)
    found = {
        sheet.name: [row for batch in sheet.batches() for row in batch.to_pylist()] for sheet in release.result.sheets()
    }
    spec = release.spec
    assert isinstance(spec, Queries)
    assert isinstance(spec.queries, ColumnCells)
    codes = np.ravel_multi_index([TABLE.column(name).to_numpy() for name in "abcd"], spec.queries.shape)
    truth = spec.queries.of_listed(codes, np.ones(codes.size, dtype=np.int64))
    unbiased = np.array([row["fitted"] for row in found["answers"]])
    projected = np.array([row["consistent"] for row in found["consistent"]])
    assert (unbiased < 0).any()
    assert (projected >= 0).all()
    assert ((projected - truth) ** 2).sum() < ((unbiased - truth) ** 2).sum()
    sums: dict[tuple[str, str], list[float]] = {}
    for row, number in zip(found["consistent"], projected, strict=True):
        others = "".join(name for name in "abcd" if row[name] != "(any)")
        for name in others:
            sums.setdefault((name, row[name]), [0.0] * 4)["abcd".index(others.replace(name, ""))] += number
    for each in sums.values():  # one column, summed from each table that has it
        assert np.ptp([number for number in each if number]) < 0.1


@pytest.mark.parametrize("words", [{"delta": "1e-9", "method": "residual"}, {"method": "split-tables"}], ids=str)
def test_tables_that_are_no_projection_are_refuted(words: dict[str, Any], tmp_path: Path) -> None:
    release = enter(TABLE).queries(COLUMNS[1:], "conjunctions:2", epsilon="0.2", consistent=True, **words)
    save_over(release, tmp_path, report=False)
    key.make(tmp_path / "ledger.db")
    names = sorted(path.name for path in tmp_path.glob("*.csv"))
    head, *rows = (tmp_path / "consistent.csv").read_text().splitlines()
    keys, numbers = [row.rpartition(",")[0] for row in rows], np.array([float(row.rpartition(",")[2]) for row in rows])

    def failure(changed: np.ndarray) -> str:
        lines = [head, *(f"{each},{number!r}" for each, number in zip(keys, changed.tolist(), strict=True))]
        (tmp_path / "consistent.csv").write_text("\n".join(lines) + "\n")
        body = unsigned(release.spec) | {"files": {name: sha256(tmp_path / name) for name in names}}
        done = verify(sign(tmp_path / "ledger.db", body), folder=tmp_path)
        return "" if done.passed else done.failure

    assert failure(numbers) == failure(numbers * (1 + 1e-9)) == ""
    assert "no projection" in failure(numbers * 1.05)  # agrees, and is not the nearest
    assert "do not agree" in failure(numbers + (np.arange(numbers.size) == 3))
    assert "at least 0" in failure(numbers - (np.arange(numbers.size) == 3) * 1e6)
    with pytest.raises(WrongUse, match="for tables that agree"):
        queries(["a:0..9:1"], "intervals", epsilon=1, consistent=True)
