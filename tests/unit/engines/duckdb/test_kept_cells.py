"""The cells that are kept of a person are those of one row, missing ones too, even where words are equal."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from hubbub.engines.arrow_columns import stream
from hubbub.engines.duckdb.count_sql import kept_rows
from hubbub.noise.source import ScriptedSource

ROWS = 600_000  # more than one thread reads


@pytest.mark.parametrize("words", [1, 3, 2**31])
def test_cells_are_of_one_row_even_where_words_are_equal(words: int) -> None:
    row = f"i AS a, -i AS b, CASE WHEN i % 3 > 0 THEN 'p' || i END AS c, (hash(i) % {words})::BIGINT AS word"
    duckdb.execute(
        f"CREATE OR REPLACE TEMP TABLE visits AS SELECT {row}, i // 7 * 7 % 90001 AS who FROM range({ROWS}) t(i)"
    )
    kept = kept_rows(["a", "b", "c", "who"], "visits", "who", "word")
    whole = "a = -b AND c IS NOT DISTINCT FROM CASE WHEN a % 3 > 0 THEN 'p' || a END AND who = a // 7 * 7 % 90001"
    people, right = duckdb.execute(f"SELECT count(*), count(*) FILTER (WHERE {whole}) FROM ({kept})").fetchall()[0]
    assert people == right == duckdb.execute("SELECT count(DISTINCT who) FROM visits").fetchall()[0][0]
    least = "SELECT who, min(word) AS word FROM visits GROUP BY who"
    smallest = (
        f"SELECT count(*) FROM ({kept}) k JOIN visits v USING (a) JOIN ({least}) m ON m.who = v.who AND m.word = v.word"
    )
    assert duckdb.execute(smallest).fetchall() == [(people,)]


def test_words_with_a_sign_are_in_the_same_order() -> None:
    words = [0, 1, 2**63 - 1, 2**63, 2**64 - 1]
    signed = stream(len(words), "word", ScriptedSource(words)).read_all().column("word").to_pylist()
    assert signed == sorted(signed) == [word - 2**63 for word in words]
    assert np.iinfo(np.int64).min == signed[0]
