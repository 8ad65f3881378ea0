"""WHERE means here what it means in SQL, for every row and with missing cells: counted by both, exactly."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest

from hubbub.dictionary.dictionary import NONE
from hubbub.engines.opening import open_source
from hubbub.noise.source import SystemSource
from hubbub.private_sql.translation import translate
from hubbub.tables.condition import parse
from hubbub.tables.engine import CountQuery, MultiRowPolicy

duckdb = pytest.importorskip("duckdb")
pytest.importorskip("sqlglot", reason="SQL needs the package sqlglot: pip install '.[sql]'")

CELLS = list(product([None, 1, 5, 9], [None, "A", "B", "O'Hare"], [None, True, False]))
TABLE = pa.table(
    {
        "age": pa.array([age for age, _, _ in CELLS], pa.int64()),
        "ward": pa.array([ward for _, ward, _ in CELLS], pa.string()),
        "smoker": pa.array([smoker for _, _, smoker in CELLS], pa.bool_()),
    }
)
CLAUSES = [
    "age > 4",
    "NOT age > 4",
    "age <> 5",
    "NOT age <> 5",
    "age NOT IN (1, 5)",
    "NOT (age NOT IN (1, 5))",
    "age BETWEEN 2 AND 9",
    "age NOT BETWEEN 2 AND 6",
    "NOT (age > 4 AND ward = 'A')",
    "NOT (age > 4 OR ward = 'A')",
    "NOT (NOT (age > 4) OR ward = 'A')",
    "age IS NULL OR NOT ward = 'A'",
    "NOT (age IS NULL) AND NOT (ward IS NOT NULL)",
    "smoker",
    "NOT smoker",
    "smoker IS TRUE",
    "smoker IS NOT TRUE",
    "NOT (smoker IS FALSE)",
    "NOT (smoker AND age > 4)",
    "5 <= age AND 'A' <> ward",
    "NOT (smoker = FALSE OR (age BETWEEN 1 AND 5 AND NOT ward IN ('A', 'B')))",
]


ENGINE = open_source(TABLE)


def counted(where: str) -> int:
    """How many rows are counted, in the way that a release counts them."""
    head = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, rows_are_people = TRUE) COUNT(*) FROM t WHERE "
    words = translate(head + where, NONE).options
    about = CountQuery(axes=(), where=parse(words["where"]), person=None, repeats=MultiRowPolicy.REFUSE)
    return int(ENGINE.count(about, SystemSource()).counts.sum())


def test_every_clause_takes_the_rows_that_sql_takes() -> None:
    rows = duckdb.from_arrow(TABLE)
    differ = {}
    for clause in CLAUSES:
        expected = rows.filter(clause).aggregate("count(*)").fetchall()[0][0]
        if (found := counted(clause)) != expected:
            differ[clause] = (found, expected)
    assert differ == {}


def test_a_translation_that_forgot_missing_cells_would_be_noticed() -> None:
    """The control: read without care for missing cells, a NOT takes rows that SQL leaves out."""
    about = CountQuery(axes=(), where=parse("not age > 4"), person=None, repeats=MultiRowPolicy.REFUSE)
    careless = int(ENGINE.count(about, SystemSource()).counts.sum())
    assert careless > counted("NOT age > 4")
