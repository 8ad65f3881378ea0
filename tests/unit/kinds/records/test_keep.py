"""Columns kept untouched: no promise covers them, everything says so, and the rest is the release it was."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hubbub
from hubbub import registry
from hubbub.engines.files.frames import open_frame
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.guarantees.people import People, Whose
from hubbub.kinds.histogram.mechanism import Bins
from hubbub.kinds.records.diversity import inspect_crowds
from hubbub.kinds.records.mechanism import RowsOfCrowds
from hubbub.kinds.records.request import records
from hubbub.kinds.records.spec import read
from hubbub.ledger.charge import charge
from hubbub.noise.source import SystemSource
from hubbub.protocol.bound import Bound
from hubbub.protocol.weakness import weaknesses
from hubbub.tables.engine import ExactCounts
from hubbub.tables.privacy_unit import Unit

PEOPLE = [
    *(("30", "902", value) for value in ["flu"] * 6 + ["cold"] * 3 + ["rare"]),
    *(("40", "902", "flu") for _ in range(10)),
    *(("50", "100", value) for value in ["flu", "secret"] * 4),  # eight people: no crowd of ten
]
TABLE = pa.table(
    {
        "id": list(range(len(PEOPLE))),
        **{name: [row[i] for row in PEOPLE] for i, name in enumerate(("age", "zip", "diagnosis"))},
    }
)


def frame(tmp_path: Path) -> Any:
    return hubbub.open(TABLE, person="id", dataset="clinic", ledger=tmp_path / "ledger")


def test_rows_of_crowds_come_out_as_they_are_and_others_not_at_all(tmp_path: Path) -> None:
    release = frame(tmp_path).records(columns="age,zip", keep="diagnosis", crowd=10, accept_weak=True)
    written = release.save(tmp_path / "out")
    with open(written["release"], encoding="utf-8", newline="") as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file)]
    assert Counter(rows) == Counter(row for row in PEOPLE if row[0] != "50")
    assert rows == sorted(rows)
    page = Path(written["report"]).read_text()
    assert "No promise covers" in page
    assert "No promise covers diagnosis" in page
    assert "secret" not in page
    checked = hubbub.verify(written["certificate"])
    assert checked.passed
    assert any("no promise covers diagnosis" in each for each in checked.not_checked)
    told = str(hubbub.explain(written["certificate"]))
    assert "whoever finds your crowd reads what its people have there" in told
    assert "in the file without its untouched columns" in told
    facts = release.result.facts()
    assert (facts["columns"], facts["untouched"], facts["distinct_records"]) == (["age", "zip"], ["diagnosis"], 2)


def test_a_crowd_that_is_too_small_fails_the_check(tmp_path: Path) -> None:
    release = frame(tmp_path).records(columns="age,zip", keep="diagnosis", crowd=10, accept_weak=True)
    batch = release.spec.measure(open_frame(TABLE), SystemSource())["cells"].batch

    class Files:
        def batches(self, name: str, schema: pa.Schema) -> Any:
            rows = [("30", "902", "flu")] * 9
            yield pa.record_batch(
                [pa.array([row[i] for row in rows]).dictionary_encode() for i in range(3)], names=schema.names
            )

    with pytest.raises(CheckFailed, match="fewer than 10 times"):
        release.spec.load(Files())  # type: ignore[arg-type]
    assert batch.num_rows == 4


def test_without_its_untouched_columns_the_file_has_the_law_of_the_histogram_of_its_keys() -> None:
    """A sum of thinned counts is the thinned sum: the channel sees it alone. Exact, by what is drawn of large counts."""
    spec = records("age", keep="diagnosis", crowd=3, sample="1/2", at_delta="0.2", unit=Unit())
    joint = ExactCounts(
        np.zeros(4, dtype=np.int64),
        np.array([4, 3, 2, 1], dtype=np.int64),
        (["a", "a", "b", "b"], ["x", "y", "x", "y"]),
    )
    keys = ExactCounts(np.zeros(2, dtype=np.int64), np.array([7, 3], dtype=np.int64), (["a", "b"],))
    runs, source = 2000, SystemSource()

    def total(batch: pa.RecordBatch) -> tuple[int, int]:
        found: Counter[str] = Counter()
        for label, value in zip(batch.column(1).to_pylist(), batch.column("value").to_pylist(), strict=True):
            found[label] += value
        return found["a"], found["b"]

    ours = Counter(total(RowsOfCrowds(spec).draw(joint, source)) for _ in range(runs))
    plain = Counter(total(Bins(spec.cells).draw(keys, source)) for _ in range(runs))
    outcomes = ours.keys() | plain.keys()
    assert all(a in (0, 3, 4, 5, 6, 7) and b in (0, 3) for a, b in outcomes)
    statistic = sum((ours[each] - plain[each]) ** 2 / (ours[each] + plain[each]) for each in outcomes)
    assert statistic < 45, (runs, statistic)  # chi-squared with at most 11 degrees: above 45 once in 200,000
    wrong = plain.copy()
    wrong[0, 0] += 300
    assert sum((ours[each] - wrong[each]) ** 2 / (ours[each] + wrong[each]) for each in outcomes) > 45


def test_the_promises_name_the_file_without_them_and_nothing_adds_up_with_that(tmp_path: Path) -> None:
    spec = records("age,zip", keep=["diagnosis"], crowd=10, unit=Unit(person="id"))
    keys = People(whose=Whose.KEYS, person="id")
    assert {step.people for step in spec.promises()} == {keys}
    assert charge(Bound(spec)).people == keys
    assert charge(Bound(spec)).partition is None
    assert "untouched" in weaknesses(Bound(spec))[0]
    with pytest.raises(WrongUse, match="no promise covers them"):
        frame(tmp_path).records(columns="age,zip", keep="diagnosis", crowd=10)
    frame(tmp_path).records(columns="age,zip", keep="diagnosis", crowd=10, accept_weak=True)
    with pytest.raises(Refused, match="publishes columns untouched"):
        frame(tmp_path).histogram(["zip=902,100"], epsilon=1)
    with pytest.raises(Refused, match="publishes columns untouched"):
        frame(tmp_path).records(columns="age,zip", crowd=10)


def test_it_cannot_follow_others_either(tmp_path: Path) -> None:
    frame(tmp_path).histogram(["zip=902,100"], epsilon=1)
    with pytest.raises(Refused, match="this release publishes columns untouched"):
        frame(tmp_path).records(columns="age,zip", keep="diagnosis", crowd=10, accept_weak=True)


def test_it_is_written_down_and_read_back() -> None:
    spec = records("age,zip", keep="diagnosis,smoker", crowd=10, unit=Unit(person="id"))
    told = json.loads(json.dumps(spec.to_json()))
    assert read(told) == spec
    for wrong in ([], ["age"], ["diagnosis", "diagnosis"], "diagnosis", [1]):
        with pytest.raises(CheckFailed):
            read({**told, "keep": wrong})
    assert "keep" not in records("age", crowd=10).to_json()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"keep": "age"}, "either a key or kept untouched"),
        ({"keep": "diagnosis,diagnosis"}, "either a key or kept untouched"),
        ({"keep": "diagnosis:10"}, "is named and no more"),
        ({"keep": "diagnosis=flu"}, "is named and no more"),
        ({"keep": [7]}, "is named and no more"),
        ({"keep": "nothing"}, "no column 'nothing'"),
        ({"keep": "diagnosis", "one_row_per_person": True}, "one row for each person"),
    ],
)
def test_wrong_uses_are_one_sentence_and_spend_nothing(words: Any, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match=sentence):
        frame(tmp_path).records(columns="age,zip", crowd=10, accept_weak=True, **words)
    assert not hubbub.ledger.Ledger(tmp_path / "ledger").entries()


def test_what_is_declared_of_a_table_goes_with_no_column_that_is_kept() -> None:
    asked = {"columns": "age,zip", "crowd": 10, "person": "id", "collected": "0.1"}
    assert registry.kind("records").ask(**asked).to_json()["collected"] is not None
    with pytest.raises(WrongUse, match="no theorem covers them beside a declared sample"):
        registry.kind("records").ask(**asked, keep="diagnosis")


def test_a_look_says_how_alike_a_crowd_is() -> None:
    spec = records("age,zip", keep="diagnosis", crowd=10, unit=Unit(person="id"))
    found = inspect_crowds(spec, open_frame(TABLE), SystemSource())
    assert (found.crowd, found.people, found.kept) == (10, 28, 20)
    (diagnosis,) = found.diversity
    assert (diagnosis.least_values, diagnosis.people_alike) == (1, 10)
    # Of everybody 20 have flu, 3 cold, 1 rare, 4 secret; the crowd of 40 has flu alone: 8/28 of the mass moves.
    assert diagnosis.largest_distance == Fraction(8, 28)
    empty = inspect_crowds(records("age,zip", keep="diagnosis", crowd=11), open_frame(TABLE), SystemSource())
    assert (empty.kept, empty.diversity[0].least_values) == (0, None)
