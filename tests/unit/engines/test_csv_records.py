"""Where records end, against a machine that reads one sign after the other."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.engines.csv_records import BUFFERED, _end_of_record, _whole, copy_without, giants
from hubbub.engines.files import open_file
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import Question
from tests.fuzz.csv_reader import lines_of

SIGNS = (b"a", b",", b" ", b'"', b"\n", b"\r", b"\r\n", b'""', b'"x"', b"\0", b"\xff")
texts = st.lists(st.sampled_from(SIGNS), max_size=25).map(b"".join)


def machine(text: bytes) -> list[tuple[int, int]]:
    """For each record, where it ends and how many cells it has; one without its line end is none yet."""
    state, found, cells = "start", [], 0
    for i, sign in enumerate(text.decode("latin-1"), start=1):
        if state != "quoted" and sign in "\r\n":
            if cells:
                found.append((i, cells))
            state, cells = "start", 0
            continue
        cells = cells or 1
        if state == "quoted":
            state = "closed" if sign == '"' else "quoted"
        elif sign == ",":
            state, cells = "start", cells + 1
        elif state == "closed":
            state = "quoted" if sign == '"' else "closed"
        elif state in ("start", "space") and sign == '"':
            state = "quoted"
        else:
            state = "space" if state == "start" and sign == " " else "plain"
    return found


@settings(max_examples=500)
@given(text=texts, chunk=st.integers(1, 9))
def test_for_all_bytes_records_end_where_the_machine_says(text: bytes, chunk: int) -> None:
    right = [end for end, _ in machine(text)]
    assert _whole(text, ",") == (right[-1] if right else 0)
    assert _end_of_record(io.BytesIO(text), 0, ",", chunk) == (right[0] if right else len(text))


def test_records_end_where_duckdb_says(tmp_path: Path) -> None:
    """The machine is DuckDB's own: for any bytes as many records of two cells or more, and it leaves out the others."""
    seen = 0
    for seed in range(30):
        chance = random.Random(seed)
        text = b"".join(chance.choice(SIGNS[:-1]) for _ in range(800))
        records = machine(text)
        text = text[: records[-1][0]] if records else b""
        (tmp_path / "people.csv").write_bytes(b"town,age\n" + text)
        engine = open_file(tmp_path / "people.csv")
        counted = engine.count(Question(axes=(parse("town=a,null,other"),)), ScriptedSource())
        assert counted.counts.sum() == sum(cells >= 2 for _, cells in records), f"seed {seed}: {text!r}"
        seen += len(records)
    assert seen > 1000, "too few records to tell"


LINE = 64


@pytest.mark.parametrize("mark", [",", "\t"])
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
        spans = giants(str(tmp_path / "people.csv"), mark, LINE)
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
                counted = engine.count(Question(axes=(parse("town=Bath"),)), ScriptedSource())
                assert counted.counts.sum() == (length < LINE), f"{length} bytes after {before}"


def test_a_quotation_mark_without_a_partner_costs_time_and_no_memory(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b'a,b\n1,2\n"' + b"x\n" * 10_000)
    assert giants(str(tmp_path / "people.csv"), ",", LINE) == [(8, 8 + 1 + 20_000)]
