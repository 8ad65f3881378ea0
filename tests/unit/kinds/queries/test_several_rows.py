"""Classes of queries, and invented rows, about people of whom several rows count."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, HubbubError, Refused, WrongUse
from hubbub.guarantees.accountant.gaussian import lemma_c
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.queries.request import KIND, queries
from hubbub.query_classes.residual import Residual
from hubbub.query_classes.square_root import SquareRoot
from hubbub.registry import read
from hubbub.tables.privacy_unit import Unit

COLUMNS = ["ward=A,B,C", "back=yes,no"]
PEOPLE = 60
TABLE = pa.table(
    {
        "patient": [i // 4 for i in range(4 * PEOPLE)],
        "ward": ["ABC"[i % 3] for i in range(4 * PEOPLE)],
        "back": ["no" if i % 5 else "yes" for i in range(4 * PEOPLE)],
    }
)


def unit(**bounds: Any) -> Unit:
    return Unit(person="patient", **bounds)


def test_epsilon_is_for_all_rows_of_a_person() -> None:
    (promise,) = queries(COLUMNS, "marginals:2", epsilon=1, unit=unit(rows_per_person=5)).promises()
    assert promise.conclusion == DifferentialPrivacy(epsilon=Fraction(1))
    assert promise.theorem.id == "rows.several"
    assert dict(promise.numbers) == {"most": "5", "epsilon": "0.2"}
    few = queries(COLUMNS, "marginals:2", epsilon=1, unit=unit(rows_per_person=5, rows_per_bin=1, distinct=2))
    assert few.loss == Fraction(1, 2)
    cut = queries(COLUMNS, "marginals:2", epsilon=1, unit=unit(rows_per_bin=1, distinct=99))
    assert cut.unit.distinct == 6  # there are no more cells
    assert cut.loss == Fraction(1, 6)


def test_lemma_c_is_worked_out_for_all_rows_of_a_person() -> None:
    spec = queries(COLUMNS, "marginals:2", epsilon=1, delta="1e-6", method="residual", unit=unit(rows_per_person=5))
    assert isinstance(spec.method, Residual)
    plan = spec.method.noise(spec.setting)
    of_one = queries(COLUMNS, "marginals:2", epsilon=1, delta="1e-6", method="residual", unit=unit())
    alone = of_one.method.noise(of_one.setting)  # type: ignore[attr-defined]
    moved = [noise.squared for noise in plan.noises]
    assert moved == [25 * noise.squared for noise in alone.noises]
    assert lemma_c(plan.noises, Fraction(1)) <= Fraction(1, 10**6)
    own, concentrated = spec.promises()
    assert isinstance(own.conclusion, DifferentialPrivacy)
    assert own.conclusion.epsilon == 1
    assert concentrated.conclusion.rho == plan.rho  # type: ignore[union-attr]
    spread = queries(
        COLUMNS, "marginals:2", epsilon=1, delta="1e-6", method="residual", unit=unit(rows_per_person=5, rows_per_bin=1)
    )
    assert spread.bound < spec.bound  # rows in different cells move the table of both columns less


def test_gaussian_noise_for_one_row_of_a_person_has_its_delta() -> None:
    """The square-root factor takes people with one row each, and those of whom one row is kept: its noise has a delta."""
    unit = Unit(person="patient", rows_per_person=1)
    spec = queries(["age:0..64:1"], "intervals", unit=unit, epsilon="0.1", delta="0.001")
    assert isinstance(spec.method, SquareRoot)
    claim = spec.promises()[0].conclusion
    assert isinstance(claim, DifferentialPrivacy)
    assert (claim.epsilon, claim.delta) == (Fraction(1, 10), spec.method.spent_delta(spec.setting))
    assert 0 < claim.delta <= Fraction(1, 1000)
    alone = queries(["age:0..64:1"], "intervals", epsilon="0.1", delta="0.001").promises()[0].conclusion
    assert claim == alone
    assert all(check.passed for check in spec.checks())
    assert not any("all rows that count" in check.what for check in spec.checks()), "that is of geometric noise"


def test_answers_are_of_the_rows_that_were_kept_and_verify_agrees(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "visits.parquet")
    asked = ["--person", "patient", "--rows-per-person", "4", "--rows-called", "visits", "--json", "--yes"]
    for kind, more in (("queries", ["--class", "marginals:2"]), ("synthetic", [])):
        out = tmp_path / kind
        words = ["release", kind, str(tmp_path / "visits.parquet"), "--columns", ",".join(COLUMNS), *more, *asked]
        done = CliRunner().invoke(commands, [*words, "--epsilon", "120", "--out", str(out)], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        checked = CliRunner().invoke(commands, ["verify", str(out / "certificate.json")])
        assert checked.exit_code == 0, checked.output
        if kind == "queries":
            told = json.loads(done.stdout)
            assert told["bounds"]["rows_per_person"] == 4
            assert told["counts"]["number"] == "kept-rows"
            with (out / "release.csv").open() as file:
                rows = list(csv.DictReader(file))
            assert sum(int(row["visits"]) for row in rows) == 4 * PEOPLE
            page = " ".join((out / "report.html").read_text().split())
            assert "visits that this release kept, at most 4 of each patient" in page


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"rows_per_person": 0}, "at least 1"),
    ({"rows_per_person": 2, "people": 60}, "leave out people"),
    ({"rows_per_person": 2, "epsilon": None, "zero_knowledge": 1, "rows": 5, "people": 60}, "leave out people"),
    ({"distinct": 2}, "add rows_per_person=M"),
    ({"rows_per_person": 2, "distinct": 0}, "at least 1"),
    ({"rows_per_person": 2, "rows_called": "level"}, "a column level of their own"),
    ({"rows_per_person": 2, "method": "mwem"}, "number of people to be public"),
]


@pytest.mark.parametrize(("words", "rule"), WRONG, ids=[rule for _, rule in WRONG])
def test_a_wrong_use_is_one_sentence(words: dict[str, Any], rule: str) -> None:
    given = {"epsilon": 1, **words}
    with pytest.raises((WrongUse, Refused), match=rule) as refused:
        KIND.ask(person="patient", columns=COLUMNS, **{"class": "marginals:2"}, **given)
    assert "\n" not in str(refused.value)


def test_a_forged_description_promises_what_its_noise_keeps_or_nothing() -> None:
    told = queries(COLUMNS, "marginals:2", epsilon=1, unit=unit(rows_per_person=2)).to_json()
    assert isinstance(told["unit"], dict)
    assert read("queries/1", told).promises()[0].conclusion == DifferentialPrivacy(epsilon=Fraction(1))
    with pytest.raises(HubbubError):  # the noise is for fewer rows
        read("queries/1", {**told, "unit": {**told["unit"], "rows_per_person": 9}}).promises()
    for lie in ({"rows_per_person": 0}, {"rows_per_person": None, "distinct": 2}, {"distinct": 99}):
        with pytest.raises(CheckFailed):
            read("queries/1", {**told, "unit": {**told["unit"], **lie}})
    with pytest.raises(CheckFailed):
        read("queries/1", {**told, "people": 60})
