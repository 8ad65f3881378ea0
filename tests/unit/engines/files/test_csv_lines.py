"""Files of which each line is a record, and several threads that read them, at each place where a piece may begin."""

from __future__ import annotations

import errno
import random
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hubbub.engines.duckdb.connection import private_connection
from hubbub.engines.files import files
from hubbub.engines.files.csv_file import csv_relation
from hubbub.engines.files.files import is_record_per_line, open_file
from tests.fuzz.csv_reader import LEFT_OUT, LINE, by_engine, by_python, lines_of

LONGEST = 16  # bytes of a record here; a piece is then of 64
CELLS = (b"a", b"", b"bc", b" ", b"\xff", b"\xc3\xa9", b"\xc3", b"nnnnn", b"null", b"#", b"\\", b"'", b"1.5", b"\x0c")
SIGNS = (
    b"a",
    b",",
    b"\n",
    b"bcd,",
    b"ef\n",
    b"\xff",
    b"\xef\xbb\xbf",
    b'"',
    b"\r",
    b"\0",
    b"\n\n",
    b"g" * 7,
    b"h" * 16,
)

wild = st.lists(st.sampled_from(SIGNS), max_size=30).map(b"".join)
tame = st.lists(st.sampled_from(SIGNS[:6]), max_size=60).map(lambda parts: re.sub(rb"\n+", b"\n", b"".join(parts)))


def by_hand(text: bytes, longest: int) -> bool:
    """The same, by what the words say."""
    *lines, rest = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    return not rest and all(lines) and not re.search(rb'["\r\0]', text) and all(len(each) < longest for each in lines)


@given(text=st.one_of(wild, tame), longest=st.sampled_from((4, 8, 16, 64)))
def test_for_all_bytes_what_is_proved_is_so(
    tmp_path_factory: pytest.TempPathFactory, text: bytes, longest: int
) -> None:
    path = tmp_path_factory.mktemp("lines") / "people.csv"
    path.write_bytes(text)
    proved = is_record_per_line(str(path), longest)
    assert not proved or by_hand(text, longest)
    assert proved or not by_hand(text, longest // 2)


def records(chance: random.Random, columns: int, mark: bytes) -> list[bytes]:
    """Lines with what misleads a reader: too few cells, too many, no UTF-8, and as long as may be."""
    made = []
    for _ in range(chance.randrange(150)):
        cells = columns if chance.random() < 0.8 else chance.randrange(1, columns + 4)
        line = mark.join(chance.choice(CELLS) for _ in range(cells))
        line += b"z" * (LONGEST - 1 - len(line) if chance.random() < 0.15 else 0)
        made.append(line[: LONGEST - 1] or b"a")
    return made


@cache
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 4})


def read(
    paths: Sequence[Path], columns: int, mark: str, what: str, *, by_lines: bool, named: bool = True
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The rows, and which records are left out and why: by several threads in the small, or by one in one buffer."""
    longest, names = LONGEST if by_lines else 1 << 16, [f"c{i}" for i in range(columns)]
    patterns = str([str(path) for path in paths])
    relation = csv_relation(patterns, names, mark, longest=longest, by_lines=by_lines, named=named)
    rows = connection().execute(f"SELECT {what} FROM {relation}").fetchall()
    why = "SELECT file_id, line, line_byte_position, error_type, column_idx FROM reject_errors ORDER BY ALL"
    left_out = connection().execute(why).fetchall()
    connection().execute("DELETE FROM reject_errors")
    return rows, left_out


@pytest.mark.parametrize("seed", range(60))
def test_several_threads_find_what_one_does(tmp_path: Path, seed: int) -> None:
    """Rows in their order, and the records that are left out with their places."""
    chance = random.Random(seed)
    columns, mark, named = chance.choice((1, 2, 3, 5)), chance.choice(",;\t|"), chance.random() < 0.8
    paths = [tmp_path / f"{i}.csv" for i in range(chance.choice((1, 1, 3)))]
    for path in paths:
        first = [mark.join("c" * columns).encode()] if named else []
        lines = [*first, *records(chance, columns, mark.encode())]
        text = chance.choice((b"", b"\xef\xbb\xbf")) + b"".join(line + b"\n" for line in lines)
        path.write_bytes(text)
        assert is_record_per_line(str(path), 2 * LONGEST)
    for what in ("*", f"c{columns - 1}", "count(*)"):
        one = read(paths, columns, mark, what, by_lines=False, named=named)
        assert read(paths, columns, mark, what, by_lines=True, named=named) == one


@pytest.mark.parametrize("length", [1, 2, 3, 7, LONGEST - 5])
def test_a_record_is_found_wherever_a_piece_begins(tmp_path: Path, length: int) -> None:
    path = tmp_path / "people.csv"
    for start in range(64):
        rows = [(f"{i % 10}{'x' * (i % 3)}", "y" * length) for i in range(30)]
        text = "".join(",".join(row) + "\n" for row in [("p" * (1 + start % 13), "q" * (1 + start // 13)), *rows])
        path.write_text(text)
        assert read([path], 2, ",", "*", by_lines=True) == (rows, [])


PLAIN = b"id,town,note\n" + b"".join(b"%d,%s,x\n" % (i, (b"Bath", b"York")[i % 3 > 0]) for i in range(500))


@pytest.mark.parametrize(
    ("text", "several"),
    [
        (PLAIN, True),
        (b"\xef\xbb\xbf" + PLAIN, True),
        (PLAIN[:800], False),
        (PLAIN[:-1], False),
        (PLAIN + b"\n", False),
        (PLAIN.replace(b"\n", b"\r\n"), False),
        (PLAIN.replace(b"7,York", b'7,"York"', 1), False),
        (PLAIN.replace(b"7,York", b"7,York\0", 1), False),
        (PLAIN + b"500,%s,%s\n" % (LEFT_OUT.encode(), b"x" * LINE), False),
    ],
    ids=["plain", "BOM", "little", "no last newline", "blank line", "CRLF", "quoted", "NUL", "long"],
)
def test_several_threads_read_what_is_proved_and_nothing_else(tmp_path: Path, text: bytes, several: bool) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(text)
    with lines_of(LINE):
        assert ("parallel=true" in open_file(path).sql) == several
        assert by_engine(path) == by_python(path)


@pytest.mark.parametrize("wrong", ["buffer_size=257", "max_line_size=8", "max_line_size=257", "header=true"])
def test_a_reader_that_cuts_wrongly_fails_the_exam(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setattr(files, "_found", [])
    option = re.compile(wrong.split("=")[0] + r"=\w+")
    monkeypatch.setattr(files, "csv_relation", lambda *args, **how: option.sub(wrong, csv_relation(*args, **how)))
    assert not files.cuts_right(*private_connection())
    path = tmp_path / "people.csv"
    path.write_bytes(PLAIN)
    with lines_of(LINE):
        assert "parallel=false" in open_file(path).sql


def test_the_exam_is_passed_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_found", [])
    private, scratch = private_connection()
    assert files.cuts_right(private, scratch)
    assert private.execute("SELECT count(*) FROM reject_errors").fetchall() == [(0,)]


def test_without_room_for_the_exam_one_thread_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(files, "_found", [])
    private, scratch = private_connection()
    monkeypatch.setattr(scratch, "new_file", full)
    assert not files.cuts_right(private, scratch)
