"""A release as files: the same rows in both forms, safe for a spreadsheet, whole or not there."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.errors import HubbubError, WrongUse
from hubbub.kinds.histogram import result as counts_module
from hubbub.protocol.release import Release
from hubbub.publication import files
from hubbub.publication.recovery import finish
from hubbub.publication.staging import publish, unfinished
from hubbub.release import stage
from tests.fresh import counts, enter
from tests.fresh import save_over as save

WRITTEN = ["certificate.json", "datapackage.json", "release.csv", "report.html"]
TOWNS = ["Bath"] * 5 + ["York"] * 3 + [None] * 4


def release(by: list[str] | None = None, **words: Any) -> Release:
    return enter(pa.table({"town": TOWNS})).histogram(by or ["town=Bath,York,null,other"], **({"crowd": 4} | words))


def lines(path: str | Path) -> list[list[str]]:
    with Path(path).open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


# --- what is written ----------------------------------------------------------------------------------------------


def test_a_csv_has_keys_value_interval_and_status(tmp_path: Path) -> None:
    written = save(release(), tmp_path)
    assert written == {
        "release": str(tmp_path / "release.csv"),
        "certificate": str(tmp_path / "certificate.json"),
        "dictionary": str(tmp_path / "datapackage.json"),
        "report": str(tmp_path / "report.html"),
    }
    assert (tmp_path / "release.csv").read_text() == (
        '"town","count","low","high","status"\n'
        '"Bath",5,5,5,"shown"\n'
        '"York",,0,3,"suppressed"\n'
        ',4,4,4,"shown"\n'
        '"other",,0,3,"suppressed"\n'
    )


def test_parquet_has_the_same_rows_and_integers(tmp_path: Path) -> None:
    done = release(epsilon=1)
    save(done, tmp_path, form="csv")
    save(done, tmp_path / "columns", form="parquet")
    table = pq.read_table(tmp_path / "columns" / "release.parquet")
    assert [field.type for field in table.schema][1:4] == [pa.int64()] * 3
    texts = [["" if cell is None else str(cell) for cell in row.values()] for row in table.to_pylist()]
    assert [table.column_names, *texts] == lines(tmp_path / "release.csv")


def test_an_open_end_is_missing(tmp_path: Path) -> None:
    done = release(crowd=None, mechanism="warped:curve=1:0.5,3:0")
    assert (counts(done).high < 0).any()
    save(done, tmp_path, form="parquet")
    ends = pq.read_table(tmp_path / "release.parquet").column("high").to_pylist()
    assert [end is None for end in ends] == (counts(done).high < 0).tolist()


def test_batches_put_together_are_the_release(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done = release(["town=Bath,York,null,other"])
    save(done, tmp_path / "whole")
    found = release(["town"])
    save(found, tmp_path / "found")
    monkeypatch.setattr(counts_module, "_BATCH", 1)
    for name, given in (("whole", done), ("found", found)):
        for form in files.FORMATS:
            save(given, tmp_path / form, form=form)
        assert lines(tmp_path / "csv" / "release.csv") == lines(tmp_path / name / "release.csv")
        table = pq.read_table(tmp_path / "parquet" / "release.parquet")
        assert [table.column_names] + [
            ["" if cell is None else str(cell) for cell in row.values()] for row in table.to_pylist()
        ] == lines(tmp_path / name / "release.csv")


def test_a_release_without_rows_has_its_header(tmp_path: Path) -> None:
    save(release(["town"], crowd=100), tmp_path)
    assert (tmp_path / "release.csv").read_text() == '"town","count","low","high","status"\n'
    save(release(["town"], crowd=100), tmp_path, form="parquet")
    assert pq.read_table(tmp_path / "release.parquet").column_names == ["town", "count", "low", "high", "status"]


def test_columns_that_collide_with_ours_get_another_name() -> None:
    names = ["count", "by_count", "low", "high", "status", "town"]
    table = pa.table({name: ["x"] * 5 for name in names})
    done = enter(table).histogram([f"{name}=x" for name in names], crowd=4)
    ours = ["count", "low", "high", "status"]
    assert done.sheet.schema.names == ["by_count", "by_by_count", "by_low", "by_high", "by_status", "town", *ours]
    assert list(done.result.display(1).keys) == done.sheet.schema.names[:6]


def test_labels_that_differ_stay_different_when_made_safe(tmp_path: Path) -> None:
    labels = ["=a", "'=a", "''=a", "'a", "a", "=", "'"]
    table = pa.table({"x": [label for label in labels for _ in range(5)]})
    save(enter(table).histogram(["x"], crowd=5), tmp_path)
    found = [line[0] for line in lines(tmp_path / "release.csv")[1:]]
    assert sorted(found) == sorted(["'=a", "''=a", "'''=a", "'a", "a", "'=", "'"])


# --- how it is written --------------------------------------------------------------------------------------------


def test_the_certificate_knows_its_files_by_their_digests(tmp_path: Path) -> None:
    for form in files.FORMATS:
        written = save(release(), tmp_path / form, form=form)
        named = json.loads(Path(written["certificate"]).read_text())["files"]
        expected = {"xlsx": ["datapackage.json", "release.csv", "report.html", "workbook.xlsx"]}
        assert sorted(named) == expected.get(form, ["datapackage.json", f"release.{form}", "report.html"])
        for name, digest in named.items():
            assert hashlib.sha256((tmp_path / form / name).read_bytes()).hexdigest() == digest


def test_without_a_report_the_certificate_names_none(tmp_path: Path) -> None:
    written = save(release(), tmp_path, report=False)
    assert sorted(written) == ["certificate", "dictionary", "release"]
    assert sorted(os.listdir(tmp_path)) == ["certificate.json", "datapackage.json", "release.csv"]
    assert list(json.loads(Path(written["certificate"]).read_text())["files"]) == ["datapackage.json", "release.csv"]


@pytest.mark.parametrize(("mask", "mode"), [(0, 0o666), (0o027, 0o640), (0o077, 0o600)])
def test_who_may_read_files_is_up_to_the_umask_and_nothing_is_left_beside(mask: int, mode: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        save(release(), tmp_path / "a" / "b")
    finally:
        os.umask(before)
    assert sorted(os.listdir(tmp_path / "a" / "b")) == WRITTEN
    for name in os.listdir(tmp_path / "a" / "b"):
        assert stat.S_IMODE((tmp_path / "a" / "b" / name).stat().st_mode) == mode


def test_a_file_is_private_while_it_is_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = []

    def watched(source: str, target: Path) -> None:
        seen.append((stat.S_IMODE(os.stat(source).st_mode), Path(source).parent == Path(target).parent))
        rename(source, target)

    rename = os.replace
    monkeypatch.setattr(os, "replace", watched)
    save(release(), tmp_path)
    *_, values, page, promise = seen  # before them the ledger's own files
    assert values == page == promise == (0o600, False)  # from a hidden folder, which is private too


@pytest.mark.parametrize("form", files.FORMATS)
def test_when_writing_fails_the_old_files_stand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, form: str) -> None:
    save(release(), tmp_path, form=form)
    before = {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)}

    again = release(epsilon=1)

    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(HubbubError, match=r"could not be"):
        save(again, tmp_path, form=form)
    assert {name: (tmp_path / name).read_bytes() for name in os.listdir(tmp_path)} == before


def test_a_link_in_the_way_is_neither_followed_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("untouched")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "release.csv").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WrongUse, match=r"'release.csv' in .* is not by it"):
        save(release(), tmp_path / "out")
    assert (tmp_path / "elsewhere").read_text() == "untouched"
    assert (tmp_path / "out" / "release.csv").is_symlink()


def test_wrong_places_and_forms_get_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(WrongUse, match="format must be csv, parquet or xlsx"):
        save(release(), tmp_path, form="xls")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(WrongUse, match=r"a folder for releases can be written to, not so .*; choose another"):
            save(release(), place)
    (tmp_path / "taken" / "release.csv").mkdir(parents=True)
    made = release()
    with pytest.raises(WrongUse, match=r"'release.csv' in .* is not by it, or was changed since; move it"):
        save(made, tmp_path / "taken")
    with pytest.raises(WrongUse, match=r"'release.csv' in .*, then run hubbub ledger finish"):
        publish(stage(made, tmp_path / "taken"))
    (hidden,) = unfinished(tmp_path / "taken")
    (tmp_path / "taken" / "release.csv").rmdir()
    finish(hidden)
    assert sorted(os.listdir(tmp_path / "taken")) == WRITTEN
