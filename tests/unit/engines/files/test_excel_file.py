"""Sheets are read in a process with limits: blank rows are nobody, a far cell is one row at most, and a crash of the
reader is one sentence (threats 54 and 55)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.engines.files import excel_file
from hubbub.engines.files.excel_file import sheet
from hubbub.errors import HubbubError, WrongUse
from hubbub.runtime import child_process
from tests.unit.shared.workbooks import sheet_of, workbook

pytest.importorskip("python_calamine")

HEADER = {1: ("id", "town")}
PEOPLE = {number: (str(number), "Bath" if number % 2 else "York") for number in range(2, 62)}
COMMAND = "from hubbub.cli.main import main; main()"
SENTENCE = "the Excel file could not be read; check that it is one"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "people.xlsx"


def test_blank_rows_are_nobody(place: Path) -> None:
    """Sixty people and one more at row 5,000 are sixty-one."""
    rows = {**HEADER, **PEOPLE, 70: ("", ""), 5000: ("61", "Bath")}
    read = sheet(str(sheet_of(place, rows)), None)
    assert read.num_rows == 61
    assert read.column("town").null_count == 0


@pytest.mark.parametrize("far", ["XFD1048576", "B1048576", "XFD3"])
def test_a_far_cell_is_one_row_at_most(place: Path, far: str) -> None:
    near = sheet(str(sheet_of(place, {**HEADER, **PEOPLE})), None)
    read = sheet(str(sheet_of(place, {**HEADER, **PEOPLE}, {far: "x"})), None)
    assert read.schema == near.schema, "what is in one row says nothing about the columns"
    assert read.slice(0, 60).equals(near)
    assert read.num_rows - near.num_rows == (far[0] != "X")


def test_moved_together_or_not_a_sheet_reads_the_same(place: Path) -> None:
    """Both ways to read it, on cells of every type, with and without addresses, blanks between and formulas."""
    rows = (
        '<row r="1" spans="1:4"><c r="A1" t="inlineStr"><is><t>id</t></is></c><c t="str"><v>a &amp; b</v></c>'
        '<c r="D1" t="inlineStr"><is><r><t>ri</t></r><r><t>ch</t></r></is></c></row>'
        '<row><c><v>1</v></c><c s="1"><v>41347</v></c><c t="b"><v>1</v></c><c><f>1+1</f><v>2</v></c></row>'
        '<row r="4"/><row r="7"><c r="B7" s="1"/><c r="C7"><f>A1</f></c></row>'
        '<row r="9"><c r="C9" t="e"><v>#N/A</v></c><c r="D9"><v>0.5</v></c><c r="H9"><v>9</v></c></row>'
        '<row><c t="inlineStr"><is><t xml:space="preserve"> &lt;x&gt; </t></is></c></row>'
    )
    asked = {"path": str(workbook(place, rows)), "name": None, "memory": 8 << 30, "seconds": 60}
    (code, loose), (again, close) = (excel_file._run_reader({**asked, "close": close}, 60) for close in (False, True))
    assert code == again == 0
    read = pa.ipc.open_stream(loose).read_all()
    assert read.equals(pa.ipc.open_stream(close).read_all())
    assert read.to_pydict() == {
        "id": ["1", None, " <x> "],
        "a & b": ["2013-03-14", None, None],
        "column2": ["true", None, None],
        "rich": ["2", "0.5", None],
    }


def _wrong(place: Path, **limits: Any) -> str:
    with pytest.raises(WrongUse) as wrong:
        sheet(str(place), None, **limits)
    return str(wrong.value)


def test_memory_time_a_crash_and_what_is_no_workbook_have_one_sentence(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = "".join(f"<row>{'<c><v>1</v></c>' * 50}</row>" for _ in range(20_000))
    workbook(place, f"<row>{'<c><v>7</v></c>' * 1}</row>{many}")
    said = {_wrong(place, memory=1 << 28), _wrong(place, seconds=0.2)}
    (tmp_path / "no.xlsx").write_bytes(b"PK no")
    said.add(_wrong(tmp_path / "no.xlsx"))
    dying = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGABRT)"]
    monkeypatch.setattr(child_process, "command", lambda module: dying)
    said.add(_wrong(place))
    assert len(said) == 1
    assert said.pop().startswith(SENTENCE)


def test_a_reader_that_never_ends_is_ended(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sheet_of(place, {**HEADER, **PEOPLE})
    monkeypatch.setattr(child_process, "command", lambda module: [sys.executable, "-c", "import time; time.sleep(60)"])
    start = time.monotonic()
    assert _wrong(place, seconds=0.5).startswith(SENTENCE)
    assert time.monotonic() - start < 10


def test_neighbours_end_alike_in_the_command(place: Path, tmp_path: Path) -> None:
    """With one cell at the far corner and without it: the same exit code, the same columns."""
    ends = []
    for i, far in enumerate(({}, {"XFD1048576": "x"})):
        sheet_of(place, {**HEADER, **PEOPLE}, far)
        words = ["release", "histogram", str(place), "--by", "town=Bath,York", "--person", "id", "--epsilon", "1"]
        words += ["--out", str(tmp_path / f"out{i}"), "--ledger", str(tmp_path / f"ledger{i}.db"), "--json"]
        done = subprocess.run([sys.executable, "-c", COMMAND, *words], capture_output=True, check=False)
        ends.append((done.returncode, sorted(json.loads(done.stdout))))
    assert ends[0] == ends[1]
    assert ends[0][0] == 0


def test_the_first_line_names_the_columns(place: Path) -> None:
    for rows, says in (({2: ("id", "town")}, "names its columns"), ({}, "names")):
        sheet_of(place, rows)
        with pytest.raises(HubbubError, match=says):
            sheet(str(place), None)


def test_what_a_reader_says_is_taken_up_to_its_limit_alone(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that speaks without end is ended: what it says is not kept until the memory of this process is full."""
    sheet_of(place, {**HEADER, **PEOPLE})
    endless = "import sys\nwhile True: sys.stdout.buffer.write(bytes(1 << 20))"
    monkeypatch.setattr(child_process, "command", lambda module: [sys.executable, "-c", endless])
    start = time.monotonic()
    assert _wrong(place, memory=1 << 24, seconds=60).startswith(SENTENCE)
    assert time.monotonic() - start < 30


def test_a_small_file_that_unpacks_into_much_gets_little_memory(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit follows the size of the file: one text of a megabyte in 20,000 cells fits into 100 kB and took 8 GB."""
    asked: list[int] = []

    def heard(words: dict[str, Any], seconds: float) -> tuple[None, bytes]:
        asked.append(words["memory"])
        return None, b""

    monkeypatch.setattr(excel_file, "_run_reader", heard)
    for size in (100_000, 10_000_000, 1_000_000_000):
        with place.open("wb") as file:
            file.truncate(size)
        _wrong(place)
    assert asked[0] < 1.1 * 2**30
    assert asked[0] < asked[1] < asked[2] == excel_file.MEMORY == 2**31
