"""A workbook says what the file of record says, as text where it is text, and verify compares the two."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

from hubbub.errors import WrongUse
from hubbub.protocol.result import Sheet
from hubbub.publication.files import check_format
from hubbub.publication.workbook import ABOUT, about_part, difference, fits, write_workbook
from hubbub.serialization.published_files import WORKBOOK
from hubbub.verification import load, verify
from tests.fresh import enter

calamine = pytest.importorskip("python_calamine")
HOSTILE = [
    "=1+1",
    "+2",
    "-3+1",
    "@SUM(A1)",
    "\t=x",
    "'quoted",
    "<f>1</f>",
    "a&b",
    "_x0041_",
    "tab\x0bin",
    "  spaced  ",
    "",
]


def sheet_of(name: str, table: pa.Table) -> Sheet:
    return Sheet(name, table.schema, lambda: iter(table.to_batches()), table.num_rows)


def read(path: Path, name: str) -> list[list[object]]:
    book = calamine.CalamineWorkbook.from_path(str(path))
    rows: list[list[object]] = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    return rows


def test_no_label_is_a_formula_and_all_are_read_back(tmp_path: Path) -> None:
    table = pa.table({"=label": HOSTILE, "people": list(range(len(HOSTILE)))})
    path = tmp_path / "book.xlsx"
    with open(path, "wb") as out:
        write_workbook([sheet_of("release", table)], [("Note", "=2+2")], out)
    rows = read(path, "release")
    assert rows[0] == ["=label", "people"]
    assert [row[0] for row in rows[1:]] == HOSTILE
    assert [row[1] for row in rows[1:]] == list(range(len(HOSTILE)))
    with zipfile.ZipFile(path) as package:
        for name in package.namelist():
            assert b"<f" not in package.read(name).replace(b"<fonts", b"").replace(b"<font", b"").replace(
                b"<fills", b""
            ).replace(b"<fill", b""), name
    assert read(path, ABOUT) == [["Note", "=2+2"]]


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    table = pa.table({"whole": [10**15 - 1, 10**15 + 1, None], "share": [0.1, float("inf"), None]})
    path = tmp_path / "book.xlsx"
    with open(path, "wb") as out:
        write_workbook([sheet_of("release", table)], [], out)
    assert read(path, "release")[1:] == [[10**15 - 1, 0.1], [str(10**15 + 1), "inf"]]


def test_what_does_not_fit_into_a_spreadsheet_is_known() -> None:
    small = sheet_of("release", pa.table({"a": [1]}))
    assert fits([small])
    assert not fits([Sheet("release", small.schema, small.batches, 2**20)])


CUBE = [["town=Bath,York,Wells", "age:0..90:30"]]


@pytest.mark.parametrize("kind", ["histogram", "cube"])
def test_every_sheet_is_in_it_and_verify_compares_them(kind: str, tmp_path: Path) -> None:
    people = pa.table({"town": ["Bath"] * 60 + ["York"] * 40, "age": [i % 90 for i in range(100)]})
    opened = enter(people)
    release = opened.cube(*CUBE, crowd=5) if kind == "cube" else opened.histogram(["town=Bath,York,=Wells"], epsilon=1)
    files = release.save(tmp_path / "out", form="xlsx")
    book = tmp_path / "out" / WORKBOOK
    assert Path(files["release"]).name == "release.csv"
    assert book.is_file()
    for sheet in release.result.sheets():
        assert len(read(book, sheet.name)) == 1 + sheet.rows
    terms = {row[0]: row[1] for row in read(book, ABOUT)}
    assert "file of record" in str(terms["How to check it"])
    assert terms["The promise"]
    done = verify(load(files["certificate"]), folder=tmp_path / "out")
    assert done.passed, done.verdict
    assert WORKBOOK in done.files
    assert any(each.what == f"the sheets of {WORKBOOK}" for each in done.checks)
    book.write_bytes(book.read_bytes()[:-1] + b"x")
    assert not verify(load(files["certificate"]), folder=tmp_path / "out").passed


def test_a_changed_cell_a_formula_or_another_part_is_found() -> None:
    sheets = [sheet_of("release", pa.table({"town": ["Bath"], "people": [3]}))]
    out = io.BytesIO()
    write_workbook(sheets, [("Note", "words")], out)
    assert difference(io.BytesIO(out.getvalue()), sheets) is None

    def changed(name: str, old: bytes, new: bytes) -> io.BytesIO:
        again = io.BytesIO()
        with zipfile.ZipFile(out) as package, zipfile.ZipFile(again, "w") as copy:
            for each in package.namelist():
                text = package.read(each)
                assert each != name or old in text
                copy.writestr(each, text.replace(old, new) if each == name else text)
            if not old:
                copy.writestr(name, new)
        return io.BytesIO(again.getvalue())

    sheet = "xl/worksheets/sheet1.xml"
    assert "something else" in str(difference(changed(sheet, b"<v>3</v>", b"<v>4</v>"), sheets))
    assert "something else" in str(difference(changed(sheet, b"</worksheet>", b"</worksheet> "), sheets))
    assert "none of Hubbub's" in str(difference(changed(about_part(), b"<is>", b"<f>1+1</f><is>"), sheets))
    assert "other parts" in str(difference(changed("xl/vbaProject.bin", b"", b"x"), sheets))
    assert "cannot be read" in str(difference(io.BytesIO(b"PK nothing"), sheets))


def test_a_form_that_is_none_is_refused() -> None:
    check_format("xlsx")
    with pytest.raises(WrongUse, match="csv, parquet or xlsx"):
        check_format("xls")
