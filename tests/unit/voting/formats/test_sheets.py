"""Workbooks: what a sheet shows and does not hold, and what may be several candidates, is asked about."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from hubbub.errors import WrongUse
from hubbub.voting.formats.formats import read
from hubbub.voting.formats.reading import Reading

ROWS = [["rank1", "rank2"], ["Ann", "Bob"], ["Bob", "Ann"], ["Ann", ""]]


def cell(at: str, value: str) -> str:
    return f'<c r="{at}" t="inlineStr"><is><t>{value}</t></is></c>' if value else ""


def sheet(rows: list[list[str]], extra: str = "", **other: str) -> str:
    """A sheet; `other` are cells that stand in the place of those of the rows."""
    lines = ""
    for i, row in enumerate(rows, 1):
        at = [f"{chr(65 + j)}{i}" for j in range(len(row))]
        lines += f'<row r="{i}">{"".join(other.get(a, cell(a, text)) for a, text in zip(at, row, strict=True))}</row>'
    return f"<worksheet><sheetData>{lines}</sheetData>{extra}</worksheet>"


def workbook(folder: Path, *sheets: str, order: tuple[int, ...] = ()) -> Path:
    path = folder / "b.xlsx"
    with zipfile.ZipFile(path, "w") as packed:
        for number, text in enumerate(sheets, 1):
            packed.writestr(f"xl/worksheets/sheet{number}.xml", text)
        if order:
            named = "".join(f'<sheet name="S{i}" sheetId="{i}" r:id="r{i}"/>' for i in order)
            packed.writestr("xl/workbook.xml", f'<workbook xmlns:r="R"><sheets>{named}</sheets></workbook>')
            parts = "".join(f'<Relationship Id="r{i}" Target="worksheets/sheet{i}.xml"/>' for i in order)
            packed.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{parts}</Relationships>")
    return path


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ('<c r="A3"><f>VLOOKUP(1)</f></c>', "a formula in the cell A3 whose value was never stored"),
        ('<c r="A3"><f>VLOOKUP(1)</f><v></v></c>', "a formula in the cell A3 whose value was never stored"),
        ('<c r="A3" t="e"><v>#N/A</v></c>', "an error in the cell A3"),
    ],
)
def test_74_formulas_without_a_value_and_errors_are_refused(tmp_path: Path, value: str, says: str) -> None:
    with pytest.raises(WrongUse, match=says):
        read(workbook(tmp_path, sheet(ROWS, A3=value)))


def test_a_formula_with_its_value_counts(tmp_path: Path) -> None:
    stored, empty = '<c r="A3" t="str"><f>B2</f><v>Bob</v></c>', '<c r="B4" t="str"><f>C1</f><v></v></c>'
    file = read(workbook(tmp_path, sheet(ROWS, A3=stored, B4=empty)))
    assert file.ballots.counts() == {("Ann", "Bob"): 1, ("Bob", "Ann"): 1, ("Ann",): 1}


def test_74_merged_cells_of_ballots_are_refused(tmp_path: Path) -> None:
    merged = '<mergeCells><mergeCell ref="{}"/></mergeCells>'
    with pytest.raises(WrongUse, match="merged cells A2:A4"):
        read(workbook(tmp_path, sheet(ROWS, merged.format("A2:A4"))))
    assert read(workbook(tmp_path, sheet(ROWS, merged.format("C1:D1")))).ballots.voters == 3


def test_74_the_first_sheet_is_that_of_the_workbook_and_others_are_told(tmp_path: Path) -> None:
    other = sheet([["rank1", "rank2"], ["Cid", "Dee"], ["Dee", "Cid"]])
    file = read(workbook(tmp_path, other, sheet(ROWS), "<worksheet><sheetData/></worksheet>", order=(2, 1, 3)))
    assert file.ballots.candidates == ("Ann", "Bob")
    assert [each for each in file.remarks if "was not read" in each] == [
        'the sheet "S1" of the workbook b.xlsx was not read: ballots are those of its first sheet'
    ]


@pytest.mark.parametrize("name", ["num", "Number", "n", "Amount"])
def test_74_numbers_beside_ranks_that_may_weigh_ballots_are_asked_about(tmp_path: Path, name: str) -> None:
    rows = [["rank1", "rank2", name], ["Ann", "Bob", "30"], ["Bob", "Ann", "20"]]
    with pytest.raises(WrongUse, match="may say how many ballots a row stands for"):
        read(workbook(tmp_path, sheet(rows)))
    assert read(workbook(tmp_path, sheet(rows)), columns={"count": name}).ballots.voters == 50


@pytest.mark.parametrize("both", ["Ann/Bob", "ann &amp; Bob", "Ann and Bob", "Bob + Cid", "Ann / Zed"])
def test_74_several_names_in_one_cell_are_no_new_candidate(tmp_path: Path, both: str) -> None:
    path = workbook(tmp_path, sheet([*ROWS, ["Cid", "Ann"], [both, "Cid"]]))
    with pytest.raises(WrongUse, match="may be several in one cell"):
        read(path)
    name = both.replace("&amp;", "&")
    assert name in read(path, candidates=["Ann", "Bob", "Cid", name]).ballots.candidates
    assert read(path, Reading(aliases=((name, "overvote"),))).ballots.voters == 5


def test_a_pair_that_stands_together_is_one_candidate(tmp_path: Path) -> None:
    file = read(workbook(tmp_path, sheet([["rank1", "rank2"], ["Ann &amp; Bob", "Cid"], ["Cid", "Ann &amp; Bob"]])))
    assert file.ballots.candidates == ("Ann & Bob", "Cid")


def test_74_columns_that_say_nothing_about_votes_are_told(tmp_path: Path) -> None:
    rows = [["rank1", "rank2", "Comment", "Age"], ["Ann", "Bob", "so", "20"], ["Bob", "Ann", "", "31"]]
    assert "not counted: 2 columns, Comment, Age" in read(workbook(tmp_path, sheet(rows))).remarks
    assert not [each for each in read(workbook(tmp_path, sheet(ROWS))).remarks if "not counted" in each]
