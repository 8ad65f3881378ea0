"""Wrong uses of rows, sums, weights and joins: each is one sentence that names the rule, and nothing is spent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from tests.fresh import opened

WARDS, COST, STAY = ["ward=a,b,c"], "cost:0..200:1", "stay:0..30:1"
VISITS = [
    (p, "abc"[(p + i) % 3], (p + i) % 4 == 0, (p + 5 * i) % 20, (p + 5 * i) % 200, 1 + i % 3)
    for p in range(30)
    for i in range(1 + p % 3)
]
NAMES = ("patient", "ward", "back", "stay", "cost", "weight")
TABLE = pa.table({name: [row[i] for row in VISITS] for i, name in enumerate(NAMES)})

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("histogram", {"by": WARDS, "rows_per_person": 0}, "at least 1, not 0"),
    ("histogram", {"by": WARDS, "rows_per_person": -3}, "at least 1, not -3"),
    ("histogram", {"by": WARDS, "rows_per_person": "2.5"}, "at least 1, not 5/2"),
    ("histogram", {"by": WARDS, "rows_per_person": "many"}, "a number like"),
    ("histogram", {"by": WARDS, "rows_per_person": 1000001}, "from 1 to 1,000,000"),
    ("histogram", {"by": WARDS, "rows_per_person": True}, "not bool"),
    ("histogram", {"by": WARDS, "distinct": 0}, "distinct must be a whole number"),
    ("histogram", {"by": WARDS, "distinct": -1}, "at least 1, not -1"),
    ("histogram", {"by": WARDS, "distinct": "1/2"}, "at least 1, not 1/2"),
    ("histogram", {"by": WARDS, "rows_per_bin": 0}, "rows_per_bin must be"),
    ("histogram", {"by": WARDS, "rows_per_bin": -1}, "rows_per_bin must be"),
    ("histogram", {"by": WARDS, "one_row_per_person": True, "distinct": 2}, "exclude each other"),
    ("histogram", {"by": WARDS, "one_row_per_person": True, "rows_per_person": 2}, "several exclude each other"),
    ("histogram", {"by": WARDS, "kept_rows": True}, "add one_row_per_person=True"),
    (
        "histogram",
        {"by": WARDS, "one_row_per_person": True, "kept_rows": True, "expected_rows": True},
        "drop one of the two",
    ),
    ("histogram", {"by": WARDS, "crowd": 5, "rows_per_person": 2, "epsilon": None}, "covered by plain noise only"),
    ("histogram", {"by": WARDS, "sample": "0.5", "rows_per_person": 2}, "drop sample"),
    ("histogram", {"by": ["ward"], "delta": "1e-6", "rows_per_person": 2}, "declare the bins"),
    ("histogram", {"by": WARDS, "weight": "weight:0..3:1"}, "ask for a count with weight"),
    ("histogram", {"by": WARDS, "rows_called": "visits"}, "said where rows count"),
    ("histogram", {"by": WARDS, "rows_called": "Visits!", "rows_per_person": 2}, "in small letters"),
    ("histogram", {"by": WARDS, "rows_called": "count", "rows_per_person": 2}, "no column of the published table"),
    ("histogram", {"by": WARDS}, "exactly one row for each person"),
    ("quantile", {"of": "stay:0..60:1", "rows_per_person": 2, "interval_share": 1}, "at least 0 and below 1"),
    ("quantile", {"of": "stay:0..60:1", "rows_per_person": 2, "interval_share": "-0.1"}, "at least 0 and below 1"),
    ("quantile", {"of": "stay:0..60:1", "rows_per_person": 2, "q": 1}, "between 0 and 1"),
    ("count", {"count_rows": True}, "add rows_per_person=M, or drop count_rows"),
    ("count", {"distinct": 2, "by": WARDS}, "add any_row=True"),
    ("count", {"any_row": True}, "say it, like where"),
    ("count", {"any_row": True, "where": "stay > 3", "by": WARDS}, "with distinct=B"),
    ("count", {"any_row": True, "where": "stay > 3", "by": WARDS, "distinct": 0}, "distinct must be a whole number"),
    ("count", {"any_row": True, "where": "stay > 3", "rows_per_person": 2}, "exclude each other"),
    ("count", {"by": ["ward"], "rows_per_person": 2}, "bins are declared"),
    ("count", {"weight": "weight:-1..3:1"}, "not from -1"),
    ("count", {"weight": "weight:0..0:1"}, "not above its beginning"),
    ("count", {"weight": "weight"}, "must be declared"),
    ("count", {"weight": "nothing:0..3:1"}, "there is no column"),
    ("count", {"weight": "weight:0..3:1", "calibrated": True}, "calibrated weights depend on everybody"),
    ("count", {"weight": "weight:0..3:1", "crowd": 5, "epsilon": None}, "weights are covered by plain noise only"),
    ("count", {"weight": "weight:0..3:1", "rows_per_person": 2}, "one row of each person"),
    ("count", {"poisson_survey": True}, "say them, with weight"),
    ("fraction", {"rows_per_person": 2}, "say it, like where"),
    ("fraction", {"where": "back = true", "rows_per_person": 2, "crowd": 5, "sample": "0.5"}, "leave out sample"),
    ("mean", {"of": "stay", "rows_per_person": 2}, "must be declared"),
    ("mean", {"of": "stay:30..0:1", "rows_per_person": 2}, "not above its beginning"),
    ("mean", {"of": "stay:0..30:0", "rows_per_person": 2}, "above 0"),
    ("mean", {"of": STAY, "weight": "weight:0..3:1", "rows_per_person": 2}, "one row of each person"),
    ("mean", {"of": STAY, "expected_rows": True, "rows_per_person": 2}, "add one_row_per_person=True"),
    ("quantile", {"of": STAY, "distinct": 2}, "add rows_per_person=M$"),
    ("quantile", {"of": STAY, "q": 2, "rows_per_person": 2}, "between 0 and 1"),
    ("sum", {"of": COST, "cap": 0}, "above 0, not 0"),
    ("sum", {"of": COST, "cap": -5}, "above 0, not -5"),
    ("sum", {"of": COST, "cap": 500}, "up to 200, not 500"),
    ("sum", {"of": COST, "cap": "1/2", "rows_per_person": 2}, "a multiple of the step"),
    ("sum", {"of": COST, "cap": "much"}, "a cap is a number"),
    ("sum", {"of": COST, "cap_per_bin": 0, "by": WARDS, "rows_per_person": 2}, "above 0"),
    ("sum", {"of": COST, "cap_per_bin": 10}, "add rows_per_person=M, or say cap=A"),
    ("sum", {"of": "cost:-200..200:1"}, "values below 0 need a cap"),
    ("sum", {"of": "cost:-200..0:1", "rows_per_person": 2}, "needs a cap"),
    ("sum", {"of": COST, "cap": "auto", "cap_share": 0}, "cap-share is the part of epsilon"),
    ("sum", {"of": COST, "cap": "auto", "cap_share": 2}, "cap-share is the part of epsilon"),
    ("sum", {"of": COST, "cap": "layers", "cap_share": "0.2"}, "for a cap that is drawn"),
    ("sum", {"of": COST, "lost": "0.1"}, "say the cap"),
    ("sum", {"of": COST, "cap": 100, "lost": 0}, "lost is the part of epsilon"),
    ("sum", {"of": COST, "cap": 100, "cap_per_bin": 50, "lost": "0.1", "rows_per_person": 2}, "two"),
    ("sum", {"of": COST, "cap": 100, "cap_max": 50, "lost": "0.1", "rows_per_person": 2}, "above the cap"),
    ("sum", {"of": COST, "cap": 100, "crowd": 5, "rows_per_person": 2}, "leave out the cap"),
    ("sum", {"of": COST, "crowd": 5, "epsilon": None}, "with epsilon=E"),
    ("sum", {"of": "cost:0..200:3"}, "no whole number of steps"),
    ("sum", {"of": COST, "weight": "weight:0..3:1", "rows_per_person": 2}, "one row of each person"),
    ("sum", {"of": COST, "weight": "weight:0..3:1", "calibrated": True}, "calibrated weights depend on everybody"),
    ("ratio", {"of": COST, "per": "stay:-1..30:1", "rows_per_person": 2}, "begins at -1"),
    ("ratio", {"of": "cost:-1..30:1", "per": STAY, "rows_per_person": 2}, "begins at -1"),
    ("ratio", {"of": COST, "per": COST, "rows_per_person": 2}, "of two columns"),
    ("variance", {"of": STAY, "rows_per_person": 2}, "no option"),
    (
        "cube",
        {"by": ["ward=a,b,c", "back=true,false"], "rows_per_person": 2, "crowd": 5, "epsilon": None},
        "covered by plain noise only",
    ),
    ("cube", {"by": ["ward=a,b,c", "back=true,false"], "distinct": 2}, "add rows_per_person=M$"),
    ("queries", {"columns": WARDS, "of": "marginals:1", "people": 300, "rows_per_person": 2}, "leave out people"),
    ("queries", {"columns": WARDS, "of": "marginals:1", "distinct": 2}, "add rows_per_person=M"),
    ("synthetic", {"columns": ["ward=a,b,c", "back=true,false"], "rows_per_person": 0}, "at least 1, not 0"),
]


def nothing_is_spent() -> bool:
    """Whether the ledger has no total; what was refused after the table was looked at stands there as abandoned."""
    return all(account.totals is None for account in Ledger().accounts().values())


@pytest.mark.parametrize(("kind", "words", "rule"), WRONG, ids=[f"{kind} {words}" for kind, words, _ in WRONG])
def test_a_wrong_use_is_one_sentence_and_nothing_is_spent(kind: str, words: dict[str, Any], rule: str) -> None:
    table = opened(TABLE, person="patient", dataset="visits")
    given = {name: value for name, value in ({"epsilon": 1} | words).items() if value is not None}
    with pytest.raises((WrongUse, Refused), match=rule) as refused:
        getattr(table, kind)(**given)
    assert "\n" not in str(refused.value)
    assert nothing_is_spent()


PATIENTS = pa.table({"patient": list(range(30)), "sex": ["f", "m"] * 15})
TWICE = pa.table({"patient": [*range(29), 7], "sex": ["f", "m"] * 15})
JOINS: list[tuple[pa.Table, dict[str, Any], str]] = [
    (TWICE, {"on": "patient"}, "first table of a join"),
    (PATIENTS, {"on": "nobody"}, "nobody"),
    (PATIENTS, {}, "say both"),
    (PATIENTS, {"on": "patient", "person": "sex"}, "person"),
    (PATIENTS.rename_columns(["id", "sex"]), {"on": "patient"}, "patient"),
]


@pytest.mark.parametrize(("people", "words", "rule"), JOINS, ids=[str(i) for i in range(len(JOINS))])
def test_a_wrong_join_is_one_sentence_and_nothing_is_spent(
    people: pa.Table, words: dict[str, Any], rule: str, tmp_path: Path
) -> None:
    for name, table in (("patients", people), ("visits", TABLE)):
        pyarrow.csv.write_csv(table, tmp_path / f"{name}.csv")
    with pytest.raises(HubbubError, match=rule) as refused:
        open_table(tmp_path / "patients.csv", join=tmp_path / "visits.csv", dataset="visits", **words).histogram(
            [*WARDS, "sex=f,m"], rows_per_person=2, epsilon=1
        )
    assert "\n" not in str(refused.value)
    assert nothing_is_spent()


def test_there_are_sixty_of_them() -> None:
    assert len({str(each) for each in WRONG}) + len(JOINS) >= 60
