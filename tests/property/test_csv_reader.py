"""For all CSV files, however they lie in the reader's buffers: as many people as Python's csv module finds."""

from __future__ import annotations

import csv
import gzip
import random
from dataclasses import replace
from pathlib import Path

import pytest

from hubbub.engines.files import csv_file
from hubbub.engines.files.csv_records import Survey
from hubbub.engines.opening import open_source
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import parse
from hubbub.tables.engine import CountQuery
from tests.fuzz.csv_reader import (
    LINE,
    TOWNS,
    Form,
    by_engine,
    by_python,
    lines_of,
    moved,
    records,
    small_files,
    written,
)

PLAIN = Form("\n", csv.QUOTE_MINIMAL, bom=False, last_newline=True)


@pytest.mark.parametrize("part", range(2))
def test_generated_files_are_counted_as_by_python(tmp_path: Path, part: int) -> None:
    assert small_files(range(10_000 + part * 15, 10_000 + (part + 1) * 15), tmp_path) == []


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_quoted_cell_is_one_cell_at_every_alignment_with_a_buffer(tmp_path: Path, newline: str) -> None:
    """Records of an odd length with everything in them: the ends of buffers fall on each of their signs in turn."""
    record = ["7", 'The "Wells",\r\nSomerset', 'a""\n\n"b",\u00e9 c\r']
    path = written(tmp_path / "people.csv", [record], replace(PLAIN, newline=newline))
    length = path.stat().st_size - len("id,town,note" + newline)
    record[2] += "x" * (1 - length % 2)
    with lines_of(128):
        path = written(path, [record] * 8_000, replace(PLAIN, newline=newline))
        assert path.stat().st_size > 2_048 * 2 * 64, "too few buffers for every alignment"
        assert by_engine(path) == by_python(path) == {record[1]: 8_000}


def people(count: int) -> list[list[str]]:
    """Ordinary people with notes of several lines, by which the parallel reader lost its place."""
    chance = random.Random(1)
    pieces = ("a", "b,", "\n", '"', "x y", "\r\n")
    notes = ["".join(chance.choice(pieces) for _ in range(chance.randrange(120))) for _ in range(500)]
    return [[str(i), chance.choice(TOWNS[:3]), chance.choice(notes)] for i in range(count)]


def test_a_file_beyond_eight_megabytes_is_counted_and_a_line_more_moves_one_count(tmp_path: Path) -> None:
    rows = people(80_000)
    path = written(tmp_path / "people.csv", rows, PLAIN)
    assert path.stat().st_size > 9_000_000
    right = by_python(path)
    assert by_engine(path) == right
    more = by_engine(written(path, [["x", "Bath", "one\nmore"], *rows], PLAIN))
    assert moved(right, more) == 1


def test_the_parallel_reader_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "people.csv", people(160_000), PLAIN)
    monkeypatch.setattr("hubbub.engines.files.files.csv_relation", lambda *args, **how: parallel(*args, **how))

    def parallel(*args: object, **how: object) -> str:
        return csv_file.csv_relation(*args, **how).replace("parallel=false", "parallel=true")  # type: ignore[arg-type]

    assert by_engine(path) != by_python(path)


def test_a_record_longer_than_a_buffer_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["1", "York", "Ely\n" * LINE * 20], *([["0", "Bath", "x"]] * 20)]
    path = written(tmp_path / "people.csv", rows, PLAIN)
    with lines_of(LINE):
        assert by_engine(path) == {"Bath": 20}
        monkeypatch.setattr("hubbub.engines.files.files.survey", lambda *_: Survey([], None))
        assert by_engine(path) != {"Bath": 20}


@pytest.mark.parametrize("seed", range(6))
def test_a_packed_or_encoded_file_is_read_like_a_plain_one(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    with lines_of(LINE):
        path = written(tmp_path / "people.csv", records(chance, 120, LINE), PLAIN)
        right = by_engine(path)
        (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
        assert by_engine(tmp_path / "packed.csv.gz") == right
        text = path.read_bytes().decode()
        for encoding in ("latin-1", "utf-16"):
            (tmp_path / "other.csv").write_bytes(text.encode(encoding))
            engine = open_source(tmp_path / "other.csv", encoding=encoding)
            counted = engine.count(CountQuery(axes=(parse("town"),)), ScriptedSource())
            found = dict(zip((town or "" for town in counted.found[0]), counted.counts.tolist(), strict=True))
            assert found == dict(right)
