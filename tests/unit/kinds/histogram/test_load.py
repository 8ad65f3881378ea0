"""Numbers in a published file that its mechanism never writes: found by verify, though somebody signed them again."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.ledger import key
from hubbub.ledger.durable import sha256
from hubbub.serialization.canonical import read
from hubbub.verification import verify
from tests.fresh import enter, save_over
from tests.unit.shared.saved import sign

PEOPLE = pa.table({"town": ["Bath"] * 30 + ["York"] * 3 + ["Wells"] * 12})
TOWNS = "town=Bath,York,Wells"
Rows = list[dict[str, str]]


def forged(folder: Path, words: dict[str, Any], edit: Callable[[Rows], object], by: str = TOWNS) -> str:
    """Why a release whose file was edited and signed again does not hold; empty if it does."""
    save_over(enter(PEOPLE).histogram([by], **words), folder)
    with (folder / "release.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    edit(rows)
    with (folder / "release.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    return again(folder, "release.csv")


def again(folder: Path, name: str) -> str:
    body: Any = read((folder / "certificate.json").read_bytes(), "the certificate")
    body.pop("signature")
    package, before = folder / "datapackage.json", body["files"][name]
    package.write_text(package.read_text(encoding="utf-8").replace(before, sha256(folder / name)), encoding="utf-8")
    body["files"] |= {each: sha256(folder / each) for each in (name, package.name)}
    place = folder / "forger" / "ledger.db"
    place.parent.mkdir()
    key.make(place)
    done = verify(sign(place, body), folder=folder)
    return "" if done.passed else f"{done.checks[-1].what}: {done.checks[-1].found}"


def put(row: int, **cells: str) -> Callable[[Rows], object]:
    return lambda rows: rows[row].update(cells)


CROWD = {"crowd": 10}
NOISE = {"epsilon": "1"}
SAMPLED = {"epsilon": "1", "sample": "0.5", "scale_up": True}
SMALL = {"status": "shown", "count": "3", "low": "3", "high": "3"}


@pytest.mark.parametrize(
    ("words", "edit", "says"),
    [
        (CROWD, put(1, **SMALL), "this mechanism never shows"),
        (CROWD, put(0, count="9", low="9", high="9"), "this mechanism never shows"),
        (CROWD, put(0, count="x"), "cannot be read as csv"),
        (CROWD, put(0, count="30.5"), "cannot be read as csv"),
        (CROWD, put(0, count="9" * 30), "cannot be read as csv"),
        (CROWD, put(1, count="3"), "it says that it is hidden"),
        (CROWD, put(0, status="suppressed"), "it says that it is hidden"),
        (CROWD, put(0, status="exact"), "a status is none of this mechanism"),
        (CROWD, put(0, count="31"), "does not follow from what was drawn"),
        (CROWD, put(1, high="4"), "does not follow from what was drawn"),
        (CROWD, put(0, low="-1"), "does not follow from what was drawn"),
        (CROWD, put(0, low="31", high="30"), "does not follow from what was drawn"),
        (NOISE, put(0, count="30", estimate="30", low="30", high="30"), "does not follow from what was drawn"),
        (NOISE, put(0, estimate=""), "does not follow from what was drawn"),
        (SAMPLED, put(0, estimate="7"), "does not follow from what was drawn"),
        (SAMPLED, put(0, high="1", low="0"), "does not follow from what was drawn"),
    ],
)
def test_numbers_that_a_mechanism_never_writes_fail_though_signed_again(
    tmp_path: Path, words: dict[str, Any], edit: Callable[[Rows], object], says: str
) -> None:
    assert says in forged(tmp_path, words, edit)


def test_what_can_have_been_published_holds(tmp_path: Path) -> None:
    for i, words in enumerate((CROWD, NOISE, SAMPLED, {"outlier": "1:0.1,11:inf"}, {"crowd": 10, "epsilon": "0.5"})):
        assert forged(tmp_path / f"{i}", words, lambda rows: None) == ""
    other = put(0, count="29", low="29", high="29")
    assert forged(tmp_path / "other", CROWD, other) == ""  # another count of the same mechanism: nobody can see


def test_bins_that_were_found_are_there_once_and_not_hidden(tmp_path: Path) -> None:
    assert "there twice" in forged(tmp_path / "a", CROWD, lambda rows: rows.append(rows[0]), by="town")
    hidden = {"town": "York", "count": "", "low": "1", "high": "9", "status": "suppressed"}
    assert "listed that is hidden" in forged(tmp_path / "b", CROWD, lambda rows: rows.append(hidden), by="town")


def test_the_numbers_of_a_parquet_file_are_looked_at_too(tmp_path: Path) -> None:
    save_over(enter(PEOPLE).histogram([TOWNS], crowd=10), tmp_path, form="parquet")
    table = pq.read_table(tmp_path / "release.parquet")
    rows = table.to_pylist()
    rows[1] |= {"count": 3, "low": 3, "high": 3, "status": "shown"}
    pq.write_table(pa.Table.from_pylist(rows, schema=table.schema), tmp_path / "release.parquet")
    assert "this mechanism never shows" in again(tmp_path, "release.parquet")
