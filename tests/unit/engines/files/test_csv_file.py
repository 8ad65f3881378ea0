"""A CSV by its header and its declared form: no row decides how another is read."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import NoReturn

import pytest

from hubbub.engines.files.csv_file import csv_header, csv_relation
from hubbub.engines.files.files import open_file
from hubbub.errors import WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.tables.bins import all_labels, parse
from hubbub.tables.engine import CountQuery
from hubbub.tables.schema import ColumnType, bind_axes, column

PLAIN = b"town,age\n" + b"Bath,41\n" * 3 + b"York,7\n" * 2


def written(folder: Path, content: bytes, name: str = "people.csv") -> Path:
    (folder / name).write_bytes(content)
    return folder / name


def towns(path: Path, by: str = "town=Bath,York,null,other") -> dict[str | None, int]:
    engine = open_file(path)
    (axis,) = bind_axes((parse(by),), engine.columns())
    counted = engine.count(CountQuery(axes=(axis,)), ScriptedSource())
    labels = all_labels(axis)  # type: ignore[arg-type]
    return {labels[code]: count for code, count in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)}


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.replace(b"\n", b"\r"),
        PLAIN.rstrip(),
        PLAIN.replace(b"Bath", b'"Bath"'),
        PLAIN.replace(b"town,age", b'"town","age"'),
    ],
    ids=["plain", "BOM", "CRLF", "CR", "no last newline", "quoted", "quoted header"],
)
def test_the_usual_forms_are_one_table(tmp_path: Path, content: bytes) -> None:
    assert towns(written(tmp_path, content)) == {"Bath": 3, "York": 2}


def test_tabs_separate_a_tsv(tmp_path: Path) -> None:
    assert towns(written(tmp_path, PLAIN.replace(b",", b"\t"), "people.tsv")) == {"Bath": 3, "York": 2}


def test_nothing_is_guessed(tmp_path: Path) -> None:
    engine = open_file(written(tmp_path, b"n,d,b\n1,2024-01-01,true\n"))
    assert set(engine.columns().values()) == {ColumnType.TEXT}


def test_an_empty_cell_is_missing_and_empty_quotes_are_the_empty_text(tmp_path: Path) -> None:
    path = written(tmp_path, b'town,age\n,1\n"",2\nNULL,3\nnull,4\n')
    assert towns(path, 'town="",null,other') == {"": 1, None: 1, "other": 2}


WEIRD = {
    "too short": (b"Bath\n", {}),
    "too long": (b"Bath,1,2,3,4\n", {"Bath": 1}),
    "very many cells": (b"Bath" + b",1" * 20_000 + b"\n", {"Bath": 1}),
    "other separators": (b"Bath;1\n", {}),
    "empty": (b"\n", {}),
    "no UTF-8": (b"B\xff\xfeth,1\n", {}),
    "half a sign": (b"Bath\xc3,1\n", {}),
    "NUL": (b"Ba\0th,1\n", {"other": 1}),
    "comment": (b"# Bath,1\n", {"other": 1}),
    "quote inside": (b'Ba"th,1\n', {"other": 1}),
    "quoted newline": (b'"Ba\nth",1\n', {"other": 1}),
    "doubled quotes": (b'"Ba""th",1\n', {"other": 1}),
    "spaces": (b" Bath ,1\n", {"other": 1}),
    "a header again": (b"town,age\n", {"other": 1}),
    "a cell of 3 MB": (b"B" * 3_000_000 + b",1\n", {}),
    "another line end": (b"Bath,1\r\n", {"Bath": 1}),
}


@pytest.mark.parametrize("where", ["first", "last"])
@pytest.mark.parametrize("name", WEIRD)
def test_a_weird_line_changes_at_most_its_own_bin(tmp_path: Path, name: str, where: str) -> None:
    line, more = WEIRD[name]
    header, rest = PLAIN.split(b"\n", 1)
    content = header + b"\n" + (line + rest if where == "first" else rest + line)
    right = {"Bath": 3, "York": 2}
    for town, count in more.items():
        right[town] = right.get(town, 0) + count
    assert towns(written(tmp_path, content)) == right


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"\n\ntown,age\nBath,1\n",
        b"t\xffwn,age\nBath,1\n",
        PLAIN.decode().encode("utf-32"),
        b"\x1f\x8b\x08\x00" + bytes(60),
        b'"town,age\nBath,1\n',
        b"x" * 2_000_000,
        b"to\0wn,age\n",
    ],
    ids=["empty", "blank", "blank first", "no UTF-8", "UTF-32", "gzip", "open quote", "no line end", "NUL"],
)
def test_without_a_header_there_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(WrongUse, match="the first line of a CSV names its columns, in UTF-8; add such a line"):
        open_file(written(tmp_path, content))


def test_of_columns_with_one_name_each_has_its_number(tmp_path: Path) -> None:
    for header, names in (
        (b"town,town", ["town#1", "town#2"]),
        (b"town,Town", ["town#1", "Town#2"]),
        (b"column1,", ["column1#1", "column1#2"]),
    ):
        opened = open_file(written(tmp_path, header + b"\nBath,York\n"))
        assert list(opened.columns()) == names
        bare, said = names[0].removesuffix("#1"), " or ".join(map(repr, names))
        with pytest.raises(WrongUse, match=f"^2 columns are called '{bare}'; say which: {said}$"):
            column(opened.columns(), bare)
        assert column(opened.columns(), names[1]) is ColumnType.TEXT


def test_no_cell_of_a_file_without_a_header_is_shown(tmp_path: Path) -> None:
    path = written(tmp_path, b"Ann Smith,Bath,41000\nBob Jones,York,52000\n")
    with pytest.raises(WrongUse) as refusal:
        towns(path)
    assert str(refusal.value).startswith("there is no column 'town'; ")
    assert not any(cell in str(refusal.value) for cell in ("Ann", "Bath", "41000", "Bob"))


def test_a_file_that_may_not_be_read_gets_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> NoReturn:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    path = written(tmp_path, PLAIN)
    monkeypatch.setattr("hubbub.engines.files.csv_file.open", closed, raising=False)
    with pytest.raises(WrongUse, match=r"^the file .* cannot be read \(Permission denied\); check who may read it$"):
        open_file(path)


@pytest.mark.parametrize("content", [b"town\nBath\n\n\nYork\n\n\n", b"town\r\nBath\r\n\r\nYork\r\n\r\n\r\n"])
def test_a_blank_line_is_nobody_in_a_file_of_one_column_either(tmp_path: Path, content: bytes) -> None:
    assert towns(written(tmp_path, content)) == {"Bath": 1, "York": 1}
    quoted = content.replace(b"Bath", b'""')
    assert towns(written(tmp_path, quoted), "town=York,null,other") == {"York": 1, "other": 1}


def test_a_column_without_a_name_is_numbered(tmp_path: Path) -> None:
    assert list(open_file(written(tmp_path, b",town\n0,Bath\n")).columns()) == ["column0", "town"]


def test_names_of_columns_have_no_blanks_at_their_ends(tmp_path: Path) -> None:
    assert list(open_file(written(tmp_path, b"id, town ,town\n1,Bath,York\n")).columns()) == ["id", "town#1", "town#2"]


def test_files_of_one_table_have_one_header(tmp_path: Path) -> None:
    written(tmp_path, PLAIN, "a1.csv")
    written(tmp_path, PLAIN, "a2.csv")
    assert towns(tmp_path / "a*.csv") == {"Bath": 6, "York": 4}
    written(tmp_path, b"age,town\n1,Bath\n", "a3.csv")
    with pytest.raises(WrongUse, match="do not have the same header; give them one"):
        open_file(tmp_path / "a*.csv")


def test_names_reach_the_sql_as_quoted_text(tmp_path: Path) -> None:
    path = written(tmp_path, b'it\'s,"a""b"\n1,2\n')
    assert "{'it''s': 'VARCHAR', 'a\"b': 'VARCHAR'}" in csv_relation("['x']", csv_header([str(path)], ","), ",")
    assert list(open_file(path).columns()) == ["it's", 'a"b']
