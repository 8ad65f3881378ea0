"""For all tables and all rows: one row more changes neither the exit code nor the words nor the keys."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path
from typing import NoReturn

import pytest

from hubbub.engines.duckdb.duckdb_engine import DuckDB
from hubbub.errors import WrongUse
from tests.fuzz.neighbours import TYPES, Files, check_table, pairs


@pytest.mark.parametrize("part", range(4))
def test_neighbouring_tables_look_alike(tmp_path: Path, part: int) -> None:
    assert pairs(50, tmp_path, first=10_000 + 5 * part) == []


def kind_of(seed: int, folder: Path) -> str:
    files = Files(random.Random(seed), folder)
    return "" if files.type is None else str(files.type.kind)


def test_every_column_type_is_among_the_tables(tmp_path: Path) -> None:
    assert {kind_of(seed, tmp_path) for seed in range(400)} == {"", *(str(one.kind) for one in TYPES)}


def test_a_row_that_stops_a_release_would_be_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> NoReturn:
        raise WrongUse("the table could not be counted")

    monkeypatch.setattr(DuckDB, "_repair_relation", broken)
    seeds = islice((seed for seed in range(10_000) if kind_of(seed, tmp_path) == "timestamp[ms]"), 12)
    assert any("exit code 0 or 2" in words for seed in seeds for words in check_table(seed, tmp_path))
