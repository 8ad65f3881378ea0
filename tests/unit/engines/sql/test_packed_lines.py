"""Rows that travel as one number or one text come back as they were, and which row of a person is kept is as said."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import Any

import pyarrow as pa
import pytest

from hubbub.engines.spark.spark_engine import Spark
from hubbub.engines.sql.dialect import KEY, Form, Part
from hubbub.engines.sql.queries import LINE, one_row_each, pack_parts
from tests import servers
from tests.kept_row import kept_place, mixed, unmixed

pytestmark = pytest.mark.xdist_group("spark")

Cell = bytes | int | None
Row = tuple[Cell, ...]

TEXTS = (
    *(b"", b"\0", b"\0\0", b"\0\1", b"\1", b"\0\1\0", b"a\0", b"a\0\0b", b"\0\2", b"0", b"1", b" "),
    *("\u00e9\0\u00fc".encode(), "\U0001d11e".encode(), "\ufffd".encode(), "e\u0301".encode()),
    *(b"\xff", b"\xc3", b"a\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80"),  # no UTF-8
    None,
)
TEXT = None  # or numbers below this
SHAPES: tuple[tuple[int | None, ...], ...] = (
    (TEXT,),
    (9, 10, 1),
    (TEXT, TEXT),
    (3, TEXT, 2, 5, TEXT),
    (TEXT, 10**17 - 1, TEXT, 100),
    (2**61, TEXT),
    (TEXT, 2**40, 2**30),
)


def drawn(below: int | None, dice: random.Random) -> Cell:
    return dice.choice(TEXTS) if below is None else dice.choice((None, 0, below - 1, dice.randrange(below)))


def rows_of(shape: tuple[int | None, ...], label: str) -> list[Row]:
    dice = random.Random(label)
    return [tuple(drawn(below, dice) for below in shape) for _ in range(400)]


def parts_of(shape: tuple[int | None, ...]) -> dict[str, Part]:
    return {
        f"g{i}": Part(f"c{i}", Form.TEXT, pa.string())
        if below is None
        else Part(f"c{i}", Form.INTEGER, pa.int64(), below)
        for i, below in enumerate(shape)
    }


def people(rows: list[Row], shape: tuple[int | None, ...], name: str) -> Any:
    """A view of rows, of which several are one person's."""
    session = servers.or_skip(servers.spark)
    kinds = ", ".join(["who string", *(f"c{i} {'binary' if b is None else 'bigint'}" for i, b in enumerate(shape))])
    given = [(person(i), *(bytearray(c) if isinstance(c, bytes) else c for c in row)) for i, row in enumerate(rows)]
    texts = [f"CAST(c{i} AS STRING) AS c{i}" if below is None else f"c{i}" for i, below in enumerate(shape)]
    session.createDataFrame(given, kinds).selectExpr("who", *texts).createOrReplaceTempView(name)
    return session


def person(i: int) -> str:
    return f"person {int(i**0.6)}"


def readable(cell: Cell) -> Cell:
    """A text that is no UTF-8 is missing."""
    if isinstance(cell, bytes):
        try:
            cell.decode()
        except UnicodeDecodeError:
            return None
    return cell


def answered(session: Any, sql: str, parts: Mapping[str, Part]) -> Counter[Row]:
    cells = [f"CAST({name} AS BINARY)" if part.form is Form.TEXT else name for name, part in parts.items()]
    counts: Counter[Row] = Counter()
    for *row, n in session.sql(sql).selectExpr(*cells, "n").collect():
        counts[tuple(readable(bytes(c) if isinstance(c, bytearray) else c) for c in row)] += n
    return counts


@pytest.mark.parametrize("shape", SHAPES)
def test_what_was_packed_comes_back_cell_by_cell(shape: tuple[int | None, ...]) -> None:
    rows, parts = rows_of(shape, "packed"), parts_of(shape)
    session, fewer = people(rows, shape, "hubbub_packed"), pack_parts(Spark(), parts)
    cells = ", ".join(f"{part.sql} AS {name}" for name, part in fewer.parts.items())
    names = ", ".join(fewer.parts)
    groups = f"SELECT {names}, count(*) AS n FROM (SELECT {cells} FROM hubbub_packed) AS t GROUP BY {names}"
    assert answered(session, fewer.read(groups), parts) == Counter(tuple(map(readable, row)) for row in rows)


@pytest.mark.parametrize("shape", [SHAPES[0], SHAPES[3], SHAPES[5]])
def test_the_row_that_is_kept_of_a_person_is_that_of_the_rule(shape: tuple[int | None, ...]) -> None:
    """By what is handed over, the missing last; the r-th, where r is the hash of the key and the person modulo their
    rows. In a line a text that is no UTF-8 is missing; by itself it becomes that when it arrives."""
    rows, parts, word = rows_of(shape, "kept"), parts_of(shape), "5e" * 32
    session = people(rows, shape, "hubbub_several")
    session.createDataFrame([(word,)], "word string").createOrReplaceTempView(KEY)
    kept: Counter[Row] = Counter()
    in_line = LINE in pack_parts(Spark(), parts).parts
    for who, each in groupby(enumerate(rows), lambda item: person(item[0])):
        mine = sorted((tuple(map(readable, row)) if in_line else row for _, row in each), key=_order)
        chosen = mine[kept_place(word, who, len(mine), spark=True)]
        kept[tuple(map(readable, chosen))] += 1
    sql = one_row_each(Spark(), parts, Part("who", Form.TEXT, pa.string()), "hubbub_several")
    assert answered(session, sql, parts) == kept
    assert len(kept) > 5


def _order(row: Row) -> list[Any]:
    return [(cell is None, 0 if cell is None else cell) for cell in row]


def test_a_word_of_spark_is_one_to_one_with_the_digits_it_is_made_of() -> None:
    """So that uniform digits give uniform words: each hash is that of eight bytes, and of no others."""
    session, dice = servers.or_skip(servers.spark), random.Random("words")
    digits = [dice.randbytes(32).hex() for _ in range(200)] + ["0" * 64, "f" * 64]
    frame = session.createDataFrame([(each,) for each in digits], "h string")
    found = frame.selectExpr(*(f"{Spark().word('h', i)} AS w{i}" for i in range(2))).collect()
    for each, words in zip(digits, found, strict=True):
        halves = [bytes.fromhex(each[16 * i : 16 * i + 16]) for i in range(2)]
        assert [unmixed(mixed(half)) for half in halves] == halves
        assert [mixed(half) % 2**60 for half in halves] == list(words)
