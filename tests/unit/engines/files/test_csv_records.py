"""Where records end, against a machine that reads one sign after the other."""

from __future__ import annotations

import gzip
import io
import random
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.engines.files import csv_records
from hubbub.engines.files.csv_records import (
    BUFFERED,
    MOST_LINES,
    Survey,
    _complete_records,
    _end_of_record,
    _odd_cells,
    _open_in_giant,
    copy_with_blanks,
    copy_without,
    line_of,
    survey,
)
from hubbub.engines.files.files import OPEN_MARK, open_file, open_marks
from hubbub.errors import Refused
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import CountQuery
from tests.fuzz.csv_reader import lines_of
from tests.unit.engines.files.records import machine

SIGNS = (b"a", b",", b" ", b'"', b"\n", b"\r", b"\r\n", b'""', b'"x"', b"\0", b"\xff")
texts = st.lists(st.sampled_from(SIGNS), max_size=25).map(b"".join)


@settings(max_examples=500)
@given(text=texts, chunk=st.integers(1, 9))
def test_for_all_bytes_records_end_where_the_machine_says(text: bytes, chunk: int) -> None:
    right = [end for end, _ in machine(text)]
    assert _complete_records(text, _odd_cells(text, ",")) == (right[-1] if right else 0)
    assert _end_of_record(io.BytesIO(text), 0, ",", chunk) == (right[0] if right else len(text))


def test_records_end_where_duckdb_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is DuckDB's own: for any bytes as many records of two cells or more, and it leaves out the others."""
    monkeypatch.setattr(
        "hubbub.engines.files.files.survey", lambda *_: Survey([], None)
    )  # what we refuse, DuckDB reads
    monkeypatch.setattr("hubbub.engines.files.files.has_odd_returns", lambda *_, **__: False)
    monkeypatch.setattr("hubbub.engines.files.files.is_regular", lambda *_: False)
    seen = 0
    for seed in range(30):
        chance = random.Random(seed)
        text = b"".join(chance.choice(SIGNS[:-1]) for _ in range(800))
        records = machine(text)
        text = text[: records[-1][0]] if records else b""
        (tmp_path / "people.csv").write_bytes(b"town,age\n" + text)
        engine = open_file(tmp_path / "people.csv")
        counted = engine.count(CountQuery(axes=(parse("town=a,null,other"),)), ScriptedSource())
        assert counted.counts.sum() == sum(cells >= 2 for _, cells in records), f"seed {seed}: {text!r}"
        seen += len(records)
    assert seen > 1000, "too few records to tell"


LINE = 64


@pytest.mark.parametrize("mark", [",", "\t", "|"])
def test_giants_are_found_and_taken_out_wherever_they_lie(tmp_path: Path, mark: str) -> None:
    for seed in range(30):
        chance = random.Random(seed)
        parts, right, at = [], [], 0
        for i in range(60):
            giant = chance.random() < 0.1
            cell = "".join(chance.choice(("a", "\n", '""', mark, "bc ")) for _ in range(chance.randrange(8)))
            cell = cell if not giant else cell + chance.choice(("z", "\n", '""')) * LINE * chance.choice((16, 20, 60))
            line = f'{i}{mark}"{cell}"{mark}x\n'.encode()
            if giant:
                right.append((at, at + len(line)))
            parts.append(line)
            at += len(line)
        (tmp_path / "people.csv").write_bytes(b"".join(parts))
        spans = survey(str(tmp_path / "people.csv"), mark, LINE).giants
        # What is much too long is among them, and whatever is among them is too long.
        assert {span for span in right if span[1] - span[0] > LINE * BUFFERED} <= set(spans)
        assert set(spans) <= set(right)
        copy_without(str(tmp_path / "people.csv"), spans, (tmp_path / "copy.csv").open("wb"))
        kept = b"".join(line for line, span in zip(parts, _spans(parts), strict=True) if span not in spans)
        assert (tmp_path / "copy.csv").read_bytes() == kept


def _spans(parts: list[bytes]) -> list[tuple[int, int]]:
    stops = [sum(map(len, parts[: i + 1])) for i in range(len(parts))]
    return list(zip([0, *stops], stops, strict=False))


def test_a_last_record_without_a_line_end_is_measured_wherever_it_lies(tmp_path: Path) -> None:
    with lines_of(LINE):
        for before in range(964, 1_024, 8):
            for length in (LINE - 1, LINE):
                last = b'"Bath","' + b"y" * (length - 9) + b'"'
                (tmp_path / "people.csv").write_bytes(b"town,age\n" + b"Ely\n" * (before // 4) + last)
                engine = open_file(tmp_path / "people.csv")
                counted = engine.count(CountQuery(axes=(parse("town=Bath"),)), ScriptedSource())
                assert counted.counts.sum() == (length < LINE), f"{length} bytes after {before}"


def test_a_quotation_mark_without_a_partner_costs_time_and_no_memory(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b'a,b\n1,2\n"' + b"x\n" * 10_000)
    assert survey(str(tmp_path / "people.csv"), ",", LINE).giants == [(8, 8 + 1 + 20_000)]


@settings(max_examples=500)
@given(text=texts)
def test_59_for_all_bytes_a_carriage_return_in_a_line_is_a_blank(text: bytes) -> None:
    """Records end at line feeds alone, and what stands in them is not changed."""
    with TemporaryDirectory() as folder:
        place, copy = Path(folder) / "people.csv", Path(folder) / "copy.csv"
        place.write_bytes(b"a,b\n" + text)
        assert copy_with_blanks(str(place), ",", copy.open("wb"), 1 << 21) == 0
        found = copy.read_bytes()[4:]
    assert filled_lines(text + b"\n") == filled_lines(found + b"\n")
    bare = [i for i, (end, _) in enumerate(machine(found)) if found[end - 1 : end] == b"\r" and not feeds(found[end:])]
    assert bare == []


def filled_lines(text: bytes) -> list[bytes]:
    """What stands in the lines that are not blank, line breaks and blanks aside."""
    ends = [end for end, _ in machine(text, "\n")]
    lines = [text[start:end].translate(None, b"\r\n ") for start, end in pairwise([0, *ends])]
    return [line for line in lines if line]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (b"town,id\r\nBath,1\r\r\nYork,2\r\n", [("Bath", "1"), ("York", "2")]),
        (b'id,town\n1,"a\rb"\r\r\n', [("1", "a\rb")]),
        (b'id,town\n1,"a\rb"\r\r\n2,x\n', [("1", "a\rb"), ("2", "x")]),
        (b'id,town\r\n1,"a\n\r\nb"\r\r\n\r\n2,x\ry\r\n', [("1", "a\n\r\nb"), ("2", "x y")]),
        (b"c,d\n" + b"aaa,b\n" * 42 + b'7,"\r\n\r\n"\r\r\n', [("aaa", "b")] * 42 + [("7", "\r\n\r\n")]),
        (b"c,d\r\n" + b"aaaa,b\r\n" * 31 + b"7,\n8,York\r\n", [("aaaa", "b")] * 31 + [("7", None), ("8", "York")]),
    ],
)
def test_line_ends_of_several_kinds_move_no_cell(
    tmp_path: Path, text: bytes, rows: list[tuple[str, str | None]]
) -> None:
    (tmp_path / "people.csv").write_bytes(text)
    for longest in (16, 1 << 21):
        with lines_of(longest):
            engine = open_file(tmp_path / "people.csv")
            found = engine.connection.query(f"SELECT * FROM {engine.sql}").fetchall()
        assert sorted(found, key=str) == sorted(rows, key=str)


@pytest.mark.parametrize("end", [b"\r\n", b"\n"])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_blank_line_at_the_border_of_a_buffer_is_nobody(tmp_path: Path, end: bytes, quoted: bool) -> None:
    """DuckDB takes the line feed of a blank line with a carriage return for a part of the next cell, where a buffer ends
    before it: the length of one record then moved the next person to another bin."""
    place, wrong = tmp_path / "people.csv", []
    bath = (b'"Bath",2' if quoted else b"Bath,2") + 2 * end
    with lines_of(16):
        for shift in range(1, 1 + len(bath)):  # a border at each place of a line
            place.write_bytes(b"town,age" + end + b"W" * shift + b",1" + end + bath * 60)
            counted = open_file(place).count(CountQuery(axes=(parse("town=Bath"),)), ScriptedSource())
            wrong += [] if counted.counts.tolist() == [60] else [shift]
    assert wrong == []


def feeds(text: bytes) -> bool:
    """Whether a line ends here, with all its carriage returns."""
    return not text.strip(b"\r") or text.lstrip(b"\r").startswith(b"\n")


# --- quotation marks that do not close --------------------------------------------------------------------------------


def refused(text: bytes) -> bool:
    """By one sign after the other: a cell that opens and never closes, runs over too many lines, or over some and then
    goes on after its mark."""
    state, lines, last, goes_on = "start", 1, "", False
    for sign in [*text.decode("latin-1"), ""]:
        if state == "quoted":
            if sign == "":
                return True
            lines += sign == "\n" or (last == "\r" and sign != "\n")
            state = "closed" if sign == '"' else "quoted"
        elif state == "closed" and sign not in ("", ",", "\r", "\n"):
            goes_on = goes_on or sign not in ' "'
            state = "quoted" if sign == '"' else "closed"
        elif sign in ("", ",", "\r", "\n"):
            if lines > MOST_LINES or (lines > 1 and goes_on):
                return True
            state, lines, goes_on = "start", 1, False
        elif state in ("start", "space") and sign == '"':
            state = "quoted"
        else:
            state = "space" if state == "start" and sign == " " else "plain"
        last = sign
    return False


MARKED = (b"a", b",", b" ", b'"', b"\n", b"\r\n", b'""', b'"x"', b',"', b'"\n', b"\n" * 60)


@settings(max_examples=500)
@given(text=st.lists(st.sampled_from(MARKED), max_size=25).map(b"".join))
def test_61_for_all_bytes_a_mark_is_open_where_the_machine_says(text: bytes) -> None:
    with TemporaryDirectory() as folder:
        place = Path(folder) / "people.csv"
        place.write_bytes(text)
        assert (survey(str(place), ",", 1 << 21).open_mark is not None) == refused(text)


OPEN = {
    "never closes": b'7,"Bath\n' + b"8,York\n" * 3,
    "never closes in the last line": b'7,"Bath',
    "closes after too many lines": b'7,"Bath\n' + b"8,York\n" * MOST_LINES + b'9,Ely",x\n',
    "meets another cell": b'7,"Bath\n8,York\n9,"Ely"\n',
    "after a space": b'7, "Bath\n8,York\n',
}


@pytest.mark.parametrize("how", OPEN)
@pytest.mark.parametrize("before", [0, 40_000])
def test_61_a_quotation_mark_that_does_not_close_is_refused_with_one_sentence(
    tmp_path: Path, how: str, before: int
) -> None:
    """Whether one buffer holds the file or not, packed or not, and the same for each."""
    (tmp_path / "people.csv").write_bytes(b"id,town\n" + b"1,Bath\n" * before + OPEN[how])
    (tmp_path / "people.csv.gz").write_bytes(gzip.compress((tmp_path / "people.csv").read_bytes()))
    with lines_of(1 << 12) if before else nullcontext():
        csv_records.MOST_LINES = MOST_LINES  # type: ignore[misc]
        for name in ("people.csv", "people.csv.gz"):
            with pytest.raises(Refused) as no:
                open_file(tmp_path / name)
            assert str(no.value) == str(Refused(OPEN_MARK))
            assert open_marks(str(tmp_path / name)) == [(str(tmp_path / name), before + 2)]


FINE = {
    "a cell of as many lines as may be": b'7,"a' + b"\n" * (MOST_LINES - 1) + b'"\n',
    "a mark inside of a cell": b'7,5" pipe\n8,Bath\n9,6" pipe\n',
    "doubled marks over lines": b'7,"say ""hi""\nto ""all"""\n',
    "a blank after the mark": b'7,"a\nb" \n',
    "something after the mark, on one line": b'7,"Ba"th\n',
}


@pytest.mark.parametrize("how", FINE)
def test_61_what_closes_is_read(tmp_path: Path, how: str) -> None:
    (tmp_path / "people.csv").write_bytes(b"\xef\xbb\xbf" + b'"id",town\n1,Bath\n' + FINE[how] + b"2,Bath\n")
    counted = open_file(tmp_path / "people.csv").count(CountQuery(axes=(parse("id=1,2"),)), ScriptedSource())
    assert counted.counts.tolist() == [1, 1]
    assert open_marks(str(tmp_path / "people.csv")) == []


@settings(max_examples=200)
@given(lines=st.integers(1, 300), chunk=st.integers(1, 40), closed=st.booleans())
def test_61_lines_of_a_record_too_long_to_hold_are_counted_too(lines: int, chunk: int, closed: bool) -> None:
    text = b'x,"a","' + b"y\n" * (lines - 1) + b'z"",' + (b'"\n' if closed else b"")
    found = _open_in_giant(io.BytesIO(text), 0, ",", chunk)
    assert found == (6 if lines > MOST_LINES or not closed else None)


def test_a_line_is_told_by_its_number(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"a\n" * 1_000_000 + b'"')
    assert line_of(str(tmp_path / "people.csv"), 2_000_000) == 1_000_001
    assert line_of(str(tmp_path / "people.csv"), 0) == 1
