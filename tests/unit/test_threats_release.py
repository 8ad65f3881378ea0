"""What a histogram release must survive. Each test names its item of the list of threats.

Neighbouring tables, one person more or less, must differ in nothing but published values: same exception or none, same
keys in the same order, same words on every stream.
"""

from __future__ import annotations

import csv
import gc
import hashlib
import importlib
import inspect
import io
import json
import logging
import math
import os
import pickle
import pkgutil
import random
import secrets
import stat
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import stats

import hubbub
from hubbub import files
from hubbub.engines.duckdb import SEVERAL_ROWS
from hubbub.errors import FloatRefused, HubbubError, Refused, WrongUse
from hubbub.noise.source import ScriptedSource
from hubbub.release import Release, _run
from hubbub.tables.histogram import Unit, histogram
from tests.fresh import certificate_of, enter, open

Rows = list[tuple[object, ...]]


def rows(release: Release) -> Rows:
    """(label, ..., value or None) for each bin, in order."""
    keys = [[labels[i] for i in which.tolist()] for which, labels in release.keys(0, release.bins)]
    return [(*key, release.published.outcome(i)[0]) for i, key in enumerate(zip(*keys, strict=True))]


def counts(source: object, *by: str, crowd: int = 2, **words: Any) -> dict[object, object]:
    """Published values by label, for one axis."""
    return {row[0]: row[-1] for row in rows(open(source, **words).histogram(list(by), crowd=crowd))}


def written(folder: Path, name: str, content: bytes | str) -> Path:
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


def sources(table: pa.Table, folder: Path) -> dict[str, object]:
    """The same table as Arrow, pandas, CSV and Parquet."""
    pq.write_table(table, folder / "people.parquet")
    lines = [table.column_names, *(row.values() for row in table.to_pylist())]
    path = written(folder, "people.csv", "".join(",".join(map(csv_cell, line)) + "\n" for line in lines))
    return {"arrow": table, "pandas": table.to_pandas(), "csv": path, "parquet": folder / "people.parquet"}


def csv_cell(cell: object) -> str:
    """Nothing for a missing value, quotation marks around text."""
    return "" if cell is None else '"' + cell.replace('"', '""') + '"' if isinstance(cell, str) else str(cell)


# --- 1 and 2: numbers ---------------------------------------------------------------------------------------------

BAD_FLOATS = [math.nan, -math.nan, math.inf, -math.inf, -0.0, 5e-324, -5e-324, 2.2e-308, 1e308, -1e308, 1.8e308]
GOOD = [1.0] * 3 + [7.0] * 4


@pytest.mark.parametrize("bad", BAD_FLOATS, ids=repr)
def test_1_a_bad_float_goes_where_the_rule_says_and_moves_nobody_else(bad: float, tmp_path: Path) -> None:
    by = "x:[-inf,0,5,inf),null,other"
    label = (
        None
        if math.isnan(bad)
        else "other"
        if math.isinf(bad)
        else "[-inf,0)"
        if bad < 0
        else "[0,5)"
        if bad < 5
        else "[5,inf)"
    )
    right: dict[object, int] = {"[-inf,0)": 0, "[0,5)": 3, "[5,inf)": 4, None: 0, "other": 0}
    right[label] += 2
    table = pa.table({"x": [*GOOD, bad, bad]})
    for name, source in sources(table, tmp_path).items():
        found = counts(source, by)
        assert found == {key: count if count >= 2 else None for key, count in right.items()}, name


def test_1_found_floats_have_one_zero_and_no_not_a_number(tmp_path: Path) -> None:
    for more in ([], [math.inf] * 2):  # a Parquet file tells its least and largest value, and leaves out not-a-number
        table = pa.table({"x": [0.0, -0.0, math.nan, None, 1e308, 1e308, *more]})
        for source in (table, table.to_pandas(), sources(table, tmp_path)["parquet"]):
            found = counts(source, "x")
            assert found == {"0.0": 2, None: 2, "1e+308": 2} | ({"inf": 2} if more else {})
            assert counts(source, "x=0.0,nan,null,other")["nan"] is None


HUGE = [2**31, 2**63 - 1, 2**63, 2**64 - 1, 2**64, 10**30, 10**37, 2**127 - 1]


@pytest.mark.parametrize("number", [*HUGE, *(-n for n in HUGE[2::2]), -(2**127)], ids=lambda n: f"about {float(n):.0e}")
def test_2_huge_integers_do_not_wrap_and_do_not_fail(number: int, tmp_path: Path) -> None:
    base = duckdb.connect()
    base.execute("CREATE TABLE people (x HUGEINT)")
    base.executemany("INSERT INTO people VALUES (?::HUGEINT)", [["3"]] * 4 + [[str(number)]] * 2)
    path = written(tmp_path, "people.csv", "x\n" + "3\n" * 4 + f"{number}\n" * 2)
    above, below = 2 if number > 0 else None, None if number > 0 else 2
    for source, words in ((base, {"table": "people"}), (path, {})):
        assert counts(source, "x:[-inf,-100,100,inf)", **words) == {
            "[-inf,-100)": below,
            "[-100,100)": 4,
            "[100,inf)": above,
        }
        assert counts(source, "x:[-0.5,99.5),other", **words) == {"[-0.5,99.5)": 4, "other": 2}
        assert counts(source, "x:0..10:5,other", **words) == {"[0,5)": 4, "[5,10)": None, "other": 2}
        assert counts(source, "x", **words)[str(number)] == 2


def test_2_small_integer_types_do_not_wrap_either() -> None:
    for kind, ends in ((pa.int8(), (-128, 127)), (pa.uint8(), (0, 255)), (pa.int16(), (-32768, 32767))):
        table = pa.table({"x": pa.array([*ends, *ends], kind)})
        found = counts(table, "x:-40000..40000:1000")
        assert sum(value or 0 for value in found.values()) == 4  # type: ignore[misc]


def test_2_decimals_at_the_end_of_their_type_are_compared() -> None:
    ends = [Decimal("9" * 36 + ".99"), Decimal("-" + "9" * 36 + ".99")]
    table = pa.table({"x": pa.array(ends * 2 + [Decimal("0.12")] * 3, pa.decimal128(38, 2))})
    assert counts(table, "x:[-inf,0.115,0.125,inf)") == {"[-inf,0.115)": 2, "[0.115,0.125)": 3, "[0.125,inf)": 2}


def test_2_large_counts_are_published_as_they_are() -> None:
    base = duckdb.connect()
    base.execute("CREATE TABLE people AS SELECT 'Bath' AS town FROM range(3000000)")
    assert counts(base, "town=Bath", table="people") == {"Bath": 3_000_000}


# --- 3: nulls -----------------------------------------------------------------------------------------------------


def test_3_a_missing_value_is_a_value_with_a_crowd_of_its_own(tmp_path: Path) -> None:
    table = pa.table({"town": ["Bath"] * 20 + [None]})
    for name, source in sources(table, tmp_path).items():
        # Dropping the row first would report a table in which everybody has a crowd of twenty.
        assert counts(source, "town=Bath,null", crowd=20) == {"Bath": 20, None: None}, name
        assert counts(source, "town", crowd=20) == {"Bath": 20}, name
        assert counts(source, "town=Bath,other", crowd=20) == {"Bath": 20, "other": None}, name
    half = pa.table({"town": ["Bath"] * 20 + [None] * 20})
    for name, source in sources(half, tmp_path).items():
        assert counts(source, "town", crowd=20) == {"Bath": 20, None: 20}, name


def test_3_columns_that_are_all_null_are_columns(tmp_path: Path) -> None:
    table = pa.table({"town": pa.array([None] * 5, pa.string()), "age": pa.array([None] * 5, pa.int64())})
    for name, source in sources(table, tmp_path).items():
        assert counts(source, "town=Bath,null") == {"Bath": None, None: 5}, name
        assert counts(source, "age:0..10:10,null") == {"[0,10)": None, None: 5}, name


# --- 4: text ------------------------------------------------------------------------------------------------------

SIGNS = {
    "NFC": "Café",
    "NFD": "Cafe\u0301",
    "right to left": "\u202eelttaes",
    "Cyrillic a": "B\u0430th",
    "wide": "\uff22ath",
    "NUL": "Ba\0th",
    "BOM": "\ufeffBath",
    "zero width": "Ba\u200bth",
    "spaces": " Bath ",
    "capitals": "BATH",
    "emoji": "\U0001f9ea",
    "newline": "Ba\nth",
    "empty": "",
    "a quote": 'Ba"th',
    "plain": "Bath",
}


def test_4_texts_that_look_alike_are_not_merged(tmp_path: Path) -> None:
    table = pa.table({"town": [text for i, text in enumerate(SIGNS.values()) for _ in range(i + 2)]})
    right = {text: i + 2 for i, text in enumerate(SIGNS.values())}
    for name, source in sources(table, tmp_path).items():
        assert counts(source, "town") == right, name
    listed = ",".join('"' + text.replace('"', '""') + '"' for text in SIGNS.values())
    assert list(counts(table, f"town={listed}").values()) == list(range(2, len(SIGNS) + 2))


def test_4_texts_come_out_as_they_went_in(tmp_path: Path) -> None:
    table = pa.table({"town": [text for text in SIGNS.values() for _ in range(3)]})
    release = enter(table).histogram(["town"], crowd=2)
    files.save(release, tmp_path)
    files.save(release, tmp_path, form="parquet")
    with (tmp_path / "release.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert sorted(line[0] for line in lines[1:]) == sorted(SIGNS.values())
    assert all(len(line) == 5 for line in lines)
    assert sorted(pq.read_table(tmp_path / "release.parquet").column("town").to_pylist()) == sorted(SIGNS.values())


def test_4_a_byte_order_mark_at_the_start_of_a_file_is_no_sign(tmp_path: Path) -> None:
    path = written(tmp_path, "people.csv", b"\xef\xbb\xbftown,age\nBath,1\nBath,2\n")
    assert counts(path, "town=Bath") == {"Bath": 2}


def test_4_a_cell_of_ten_megabytes_is_one_cell(tmp_path: Path) -> None:
    cell = "x" * 10_000_000
    table = pa.table({"town": ["Bath"] * 3 + [cell] * 2})
    for name, source in sources(table, tmp_path).items():
        # A line of a CSV that long is left out, by the rule for lines.
        assert counts(source, "town=Bath,other") == {"Bath": 3, "other": None if name == "csv" else 2}, name


# --- 5: formulas --------------------------------------------------------------------------------------------------

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "=cmd|' /C calc'!A0", "\uff1d1+1", "'=1"]


def test_5_no_cell_of_a_csv_begins_a_formula(tmp_path: Path) -> None:
    table = pa.table(dict.fromkeys(("=town", "-age", "@x"), FORMULAS * 3))
    release = enter(table).histogram(["=town".join('""'), '"-age"', '"@x"'], crowd=3)
    files.save(release, tmp_path)
    with (tmp_path / "release.csv").open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file))
    assert len(lines) == len(FORMULAS)
    for cell in (*header, *(cell for line in lines for cell in line[:3])):
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d")), cell
    assert {line[0][1:] for line in lines} == set(FORMULAS)


def test_5_numbers_that_are_published_are_not_made_text(tmp_path: Path) -> None:
    table = pa.table({"town": ["Bath"]})
    spec = histogram(["town=Bath,York,Ely,Wells"], epsilon="0.05")
    release = _run(open(table).engine, spec, ScriptedSource.from_label("negative"))
    assert (release.published.values < 0).any()
    entered = enter(table).histogram(["town=Bath,York,Ely,Wells"], epsilon="0.05")
    files.save(replace(release, place=entered.place), tmp_path)
    with (tmp_path / "release.csv").open(newline="") as file:
        values = [line["count"] for line in csv.DictReader(file)]
    assert [int(value) for value in values] == release.published.values.tolist()


# --- 6: people ----------------------------------------------------------------------------------------------------


def test_6_twenty_rows_of_one_person_are_one_person(tmp_path: Path) -> None:
    table = pa.table({"id": [7] * 20, "town": ["Bath"] * 20})
    for name, source in sources(table, tmp_path).items():
        table_ = open(source, person="id")
        assert rows(table_.histogram(["town=Bath"], crowd=2, one_row_per_person=True)) == [("Bath", None)], name
        assert rows(table_.histogram(["town"], crowd=2, one_row_per_person=True)) == [], name
        noisy = table_.histogram(["town=Bath"], epsilon=40, distinct=3)
        assert rows(noisy) == [("Bath", 1)], name


@pytest.mark.parametrize(
    "ids",
    [[1, 1], [1, 1, 2, 3], [None, 1], [None, None], [*list(range(1000)), 999], ["a", "a"], ["secret", "secret"]],
    ids=lambda ids: f"{len(ids)} rows",
)
def test_6_several_rows_are_refused_with_the_same_sentence_for_every_table(ids: list[object]) -> None:
    table = pa.table({"id": ids, "town": ["Bath"] * len(ids)})
    for words in ({"crowd": 5}, {"epsilon": 1}):
        with pytest.raises(Refused) as refusal:
            open(table, person="id").histogram(["town=Bath"], **words)  # type: ignore[arg-type]
        assert str(refusal.value) == SEVERAL_ROWS
        assert refusal.value.exit_code == 3
        assert "one-row-per-person" in SEVERAL_ROWS
        assert "distinct B" in SEVERAL_ROWS


# --- 7: empty tables ----------------------------------------------------------------------------------------------


def test_7_empty_and_tiny_tables_look_like_any_other(tmp_path: Path) -> None:
    schema = pa.schema([("town", pa.string()), ("age", pa.int64())])
    by = ["town=Bath,null,other", "age:0..100:50,other"]
    digests = set()
    for i, people in enumerate(([], [("Bath", 41)], [(None, None)], [("Ely", 7), ("Bath", 1)])):
        table = pa.Table.from_pylist([dict(zip(schema.names, person, strict=True)) for person in people], schema)
        (tmp_path / str(i)).mkdir()
        for source in sources(table, tmp_path / str(i)).values():
            release = enter(source).histogram(by, crowd=3)
            digests.add(hashlib.sha256(Path(files.save(release, tmp_path / "out")["release"]).read_bytes()).hexdigest())
            found = enter(source).histogram(["town"], crowd=3)
            digests.add(hashlib.sha256(Path(files.save(found, tmp_path / "out")["release"]).read_bytes()).hexdigest())
    assert len(digests) == 2, "one for the declared bins, one for the bins found"


def test_7_a_csv_with_a_header_alone(tmp_path: Path) -> None:
    for content in ("town,age\n", "town,age", "town,age\n\n\n"):
        path = written(tmp_path, "people.csv", content)
        assert counts(path, "town=Bath,null") == {"Bath": None, None: None}


def test_7_a_table_without_columns_gets_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="; "):
        open(pa.table({}))
    with pytest.raises(WrongUse, match="the first line of a CSV names its columns"):
        open(written(tmp_path, "people.csv", ""))


# --- 8, 9, 10: neighbours -----------------------------------------------------------------------------------------


class Told:
    """Everything but published values that a call lets out: keys, exception, warnings, log, streams."""

    def __init__(self, call: Callable[[], Release]) -> None:
        out, err, log = io.StringIO(), io.StringIO(), io.StringIO()
        handler = logging.StreamHandler(log)
        logging.getLogger().addHandler(handler)
        level = logging.getLogger().level
        logging.getLogger().setLevel(logging.DEBUG)
        self.release: Release | None = None
        self.raised: tuple[type, str] | None = None
        try:
            with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                self.release = call()
        except HubbubError as error:
            self.raised = (type(error), str(error))
        finally:
            logging.getLogger().removeHandler(handler)
            logging.getLogger().setLevel(level)
        self.words = (out.getvalue(), err.getvalue(), log.getvalue(), [str(warning.message) for warning in caught])

    @property
    def keys(self) -> list[tuple[object, ...]] | None:
        return None if self.release is None else [row[:-1] for row in rows(self.release)]

    @property
    def public(self) -> object:
        """What neighbours must share; with a declared domain, the certificate too."""
        made = None if self.release is None else json.dumps(certificate_of(self.release))
        return self.keys, self.raised, self.words, made


SCHEMA = pa.schema(
    [
        ("town", pa.string()),
        ("age", pa.int64()),
        ("gain", pa.float64()),
        ("seen", pa.timestamp("us")),
        ("member", pa.bool_()),
    ]
)
PERSON = st.fixed_dictionaries(
    {
        "town": st.none() | st.sampled_from(["Bath", "York", "null", "other", ""]) | st.text(max_size=8),
        "age": st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(0, 120),
        "gain": st.none() | st.floats() | st.sampled_from([0.0, 0.1, 0.5]),
        "seen": st.none() | st.datetimes(),
        "member": st.none() | st.booleans(),
    }
)
DECLARED = [
    ["town=Bath,York,null,other"],
    ["age:0..120:10,null,other"],
    ["age:[-inf,0,18,inf)"],
    ["gain:[0,0.1,0.5,inf),null,other"],
    ["seen:quarter:2020..2024,null,other"],
    ["member"],
    ["town=Bath,null,other", "member=true,false,null", "gain:0..1:0.5,other"],
]
WORDS: list[dict[str, Any]] = [{"crowd": 3}, {"epsilon": 1}, {"crowd": 3, "epsilon": 1}, {"outlier": "1:0.5,5:2"}]
FUZZ = settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


@FUZZ
@given(people=st.lists(PERSON, max_size=6), one=PERSON, words=st.sampled_from(WORDS))
def test_9_keys_and_their_order_are_the_same_for_neighbours(
    people: list[dict[str, object]], one: dict[str, object], words: dict[str, Any]
) -> None:
    fewer, more = (open(pa.Table.from_pylist(list(given_), SCHEMA)) for given_ in (people, [*people, one]))
    for by in DECLARED:
        first, second = (Told(lambda table=table, by=by: table.histogram(by, **words)) for table in (fewer, more))  # type: ignore[misc]
        assert first.public == second.public
        assert first.raised is None


@FUZZ
@given(people=st.lists(PERSON, max_size=6), one=PERSON)
def test_8_one_person_moves_one_count_by_one(people: list[dict[str, object]], one: dict[str, object]) -> None:
    fewer, more = (open(pa.Table.from_pylist(list(given_), SCHEMA)) for given_ in (people, [*people, one]))
    for by in DECLARED:
        # At epsilon 50 noise is 0 but with probability 4e-22 a bin: these are the counts.
        first, second = (table.histogram(by, epsilon=50).published.values for table in (fewer, more))
        assert set((second - first).tolist()) <= {0, 1}
        assert (second - first).sum() <= 1


TOKENS = [
    *(
        b"Bath",
        b"York",
        b"41",
        b"-1",
        b"2024-01-05",
        b"nan",
        b"inf",
        b"1e999",
        b"infinity",
        b"9" * 40,
        b"0x1F",
        b"1_000",
    ),
    *(
        b",",
        b",",
        b",",
        b";",
        b"\t",
        b"\xff",
        b"\xc3",
        b"\0",
        b"'",
        b"\\",
        b"=1+1",
        b"#",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xae",
    ),
    *(b"'); DROP TABLE people; --", b"epoch", b"290309-12-22 (BC)", b"read_csv('/etc/passwd')", b" "),
]
LINE = st.lists(st.sampled_from(TOKENS) | st.binary(max_size=3), max_size=10).map(
    lambda parts: b"".join(parts).replace(b'"', b"").replace(b"\n", b"").replace(b"\r", b"") + b"\n"
)


@FUZZ
@given(line=LINE, where=st.integers(0, 6))
def test_10_one_line_of_a_csv_whatever_is_in_it_changes_no_word_and_no_other_bin(
    tmp_path_factory: pytest.TempPathFactory, line: bytes, where: int
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    lines = [b"Bath,41,2024-01-05\n"] * 3 + [b"York,7,2024-02-05\n"] * 2 + [b",,\n"]
    header = b"town,age,seen\n"
    fewer = written(folder, "fewer.csv", header + b"".join(lines))
    more = written(folder, "more.csv", header + b"".join([*lines[:where], line, *lines[where:]]))
    for by in (["town=Bath,York,null,other", "age:0..100:50,null,other"], ["seen:month:2024-01..2024-02,null,other"]):
        first, second = (Told(lambda path=path, by=by: open(path).histogram(by, epsilon=50)) for path in (fewer, more))  # type: ignore[misc]
        assert first.public == second.public
        assert first.release is not None
        assert second.release is not None
        moved = second.release.published.values - first.release.published.values
        assert set(moved.tolist()) <= {0, 1}
        assert moved.sum() <= 1


@FUZZ
@given(
    cells=st.lists(st.integers(0, 9), min_size=3, max_size=6),
    one=st.none()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.booleans()
    | st.dates()
    | st.binary(max_size=3),
)
def test_10_one_object_in_a_pandas_column_does_not_change_how_others_are_read(cells: list[int], one: object) -> None:
    fewer, more = (open(pd.DataFrame({"x": pd.Series(given_, dtype=object)})) for given_ in (cells, [*cells, one]))
    for by in (["x=0,1,2,null,other"], ["x:0..10:5,null,other"], ["x:month:2024..2024,null,other"]):
        first, second = (Told(lambda table=table, by=by: table.histogram(by, epsilon=50)) for table in (fewer, more))  # type: ignore[misc]
        assert first.public == second.public
        assert first.release is not None
        assert second.release is not None
        moved = second.release.published.values - first.release.published.values
        assert set(moved.tolist()) <= {0, 1}
        assert moved.sum() <= 1


def test_8_several_values_that_are_not_listed_are_one_bin(tmp_path: Path) -> None:
    table = pa.table({"town": ["Bath", "Ely", "Wells", "Ripon", "Ely", None]})
    for name, source in sources(table, tmp_path).items():
        assert counts(source, "town=Bath,other") == {"Bath": None, "other": 5}, name
        assert counts(source, "town=Bath,null,other") == {"Bath": None, None: None, "other": 4}, name
        assert counts(source, "town=York") == {"York": None}, name


def test_10_the_certificate_the_report_and_the_words_of_a_refusal_hold_no_cell() -> None:
    table = pa.table({"town": ["hush place"] * 3 + ["Bath"] * 30, "id": [*range(32), 31]})
    release = open(table).histogram(["town"], crowd=20)
    assert "hush" not in json.dumps(certificate_of(release))
    for call in (
        lambda: open(table, person="id").histogram(["town=Bath"], crowd=20),
        lambda: open(table).histogram(["town"], epsilon=1),
        lambda: open(table).histogram(["town:0..10:3"], epsilon=1),
        lambda: open(table).histogram(["id:month"], epsilon=1),
        lambda: open(table).histogram(["nothing"], crowd=20),
    ):
        with pytest.raises(HubbubError) as refusal:
            call()
        assert "hush" not in str(refusal.value)


def test_10_a_release_holds_nothing_of_what_it_hides() -> None:
    table = pa.table({"town": ["hush place"] * 3 + ["Bath"] * 30})
    release = open(table).histogram(["town"], crowd=20)
    kept = (release.published.values, release.published.tags, release.low, release.high, release.found, release.codes)
    assert b"hush" not in pickle.dumps(kept)
    assert "hush" not in repr(release)
    hidden = open(table).histogram(["town=Bath,York,other"], crowd=20)
    assert hidden.published.values.tolist() == [30, 0, 0], "a hidden bin holds 0, whatever it counts"


# --- 12 and 13: exact numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [*WORDS, {"epsilon": "0.001"}, {"epsilon": 1, "sample": "1/3"}], ids=str)
def test_12_published_values_are_whole_numbers(words: dict[str, Any], tmp_path: Path) -> None:
    table = pa.table({"age": list(range(100)) * 3})
    release = enter(table).histogram(["age:0..100:1"], **words)
    assert release.published.values.dtype == release.low.dtype == release.high.dtype == np.int64
    files.save(release, tmp_path)
    with (tmp_path / "release.csv").open(newline="") as file:
        for line in csv.DictReader(file):
            assert all(line[name] == "" or str(int(line[name])) == line[name] for name in ("count", "low", "high"))


def test_13_epsilon_as_a_float_is_refused_and_text_is_what_it_says() -> None:
    table = open(pa.table({"town": ["Bath"]}))
    for words in (
        {"epsilon": 0.1},
        {"epsilon": np.float64(0.1)},
        {"crowd": 20.0},
        {"crowd": 20, "epsilon": 0.5},
        {"epsilon": 1, "sample": 0.1},
        {"epsilon": 1, "coverage": 0.9},
        {"crowd": 20, "collected": 0.1},
        {"crowd": 20, "collected": "0.01", "at_delta": 1e-6},
    ):
        with pytest.raises(FloatRefused, match="write it as text"):
            table.histogram(["town=Bath"], **words)  # type: ignore[arg-type]
    release = table.histogram(["town=Bath"], epsilon="0.1")
    assert release.promises[0].conclusion.epsilon == Fraction(1, 10)  # type: ignore[union-attr]


# --- 14 and 15: randomness ----------------------------------------------------------------------------------------


def test_14_no_other_generator_is_touched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = pa.table({"town": ["Bath"] * 40, "id": list(range(20)) * 2})
    opened = open(table, person="id")

    def refuse(*args: object, **words: object) -> None:
        raise AssertionError("a generator that is not the operating system's")

    for module in (random, np.random, secrets):
        for name, thing in vars(module).items():
            if callable(thing) and not name.startswith("_") and not isinstance(thing, type):
                monkeypatch.setattr(module, name, refuse)
    with pytest.raises(AssertionError):
        np.random.normal()
    with pytest.raises(AssertionError):
        random.random()
    for words in ({"crowd": 5}, {"epsilon": 1}, {"outlier": "1:1"}, {"epsilon": 1, "sample": "0.3"}):
        opened.histogram(["town=Bath,York"], one_row_per_person=True, **words)  # type: ignore[arg-type]
    opened.histogram(["town=Bath,York"], distinct=2, epsilon=1)


def test_14_the_engine_is_asked_for_no_randomness() -> None:
    folder = Path(hubbub.__file__).parent / "engines"
    for path in folder.glob("*.py"):
        source = path.read_text(encoding="utf-8").lower()
        for word in ("random(", "setseed", "uuid(", "using sample", "tablesample", "gen_random"):
            assert word not in source, f"{path.name}: {word}"


AGES = pa.table({"age": list(range(200))})


def values(**words: Any) -> list[int]:
    return open(AGES).histogram(["age:0..200:1"], **words).published.values.tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("words", [{"epsilon": 1}, {"outlier": "1:1"}, {"epsilon": 40, "sample": "1/2"}], ids=str)
def test_15_two_releases_differ(words: dict[str, Any]) -> None:
    # Two draws of 200 noises agree with probability below (3/4)^200 < 1e-24.
    assert values(**words) != values(**words)


def test_15_two_choices_among_rows_differ() -> None:
    table = open(pa.table({"id": [i // 2 for i in range(400)], "age": list(range(400))}), person="id")
    kept = [
        table.histogram(["age:0..400:1"], epsilon=50, one_row_per_person=True).published.values.tolist()
        for _ in range(2)
    ]
    assert sum(kept[0]) == sum(kept[1]) == 200
    assert kept[0] != kept[1]


FORKED = """
import os, sys
from fractions import Fraction
import numpy as np
from hubbub.channels.geometric import Geometric
from hubbub.noise.source import SystemSource
source, channel = SystemSource(), Geometric(Fraction(1))
def draw():
    return channel.release(np.arange(200), source).values.tobytes()
draw()  # the source is warm: a child has a copy of its keystream
for _ in range(3):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, draw())
        os._exit(0)
    os.wait()
    sys.stdout.buffer.write(os.read(read, 1 << 16))
sys.stdout.buffer.write(draw())
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_15_children_of_a_fork_draw_their_own_noise() -> None:
    """By a source that was used before the fork. (A table opened before it is not for children: DuckDB has threads.)"""
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, check=True)
    drawn = np.frombuffer(done.stdout, dtype=np.int64).reshape(4, 200)
    assert len({row.tobytes() for row in drawn}) == 4


def signatures() -> Iterable[tuple[str, inspect.Signature]]:
    for found in pkgutil.walk_packages(hubbub.__path__, "hubbub."):
        if found.name.startswith(("hubbub.demo", "hubbub.charts")) or found.name.endswith("__main__"):
            continue
        module = importlib.import_module(found.name)
        for name, thing in vars(module).items():
            if getattr(thing, "__module__", None) != found.name:
                continue
            members = [(name, thing)] + [
                (f"{name}.{inner}", method) for inner, method in (vars(thing).items() if inspect.isclass(thing) else ())
            ]
            for label, member in members:
                function = getattr(member, "__func__", member)
                if inspect.isfunction(function):
                    yield f"{found.name}.{label}", inspect.signature(function)


def test_15_nothing_takes_a_seed() -> None:
    seeds = ("seed", "rng", "random_state", "generator")
    known = dict(signatures())
    assert "hubbub.release.run" in known
    assert "hubbub.noise.source.SystemSource.words" in known
    assert [name for name, signature in known.items() if not set(seeds).isdisjoint(signature.parameters)] == []


# --- 16: thresholds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 3, 10, 37])
def test_16_a_threshold_is_met_from_k_on(k: int) -> None:
    table = pa.table({"town": ["a"] * (k - 1) + ["b"] * k + ["c"] * (k + 1)})
    assert counts(table, "town=a,b,c", crowd=k) == {"a": None, "b": k, "c": k + 1}
    assert counts(table, "town", crowd=k) == {"b": k, "c": k + 1}


def test_16_a_threshold_that_is_no_whole_number_is_refused() -> None:
    table = open(pa.table({"town": ["a"]}))
    for k in ("37.3", Fraction(75, 2), "1", 0, -5, True, "many"):
        with pytest.raises(WrongUse):
            table.histogram(["town=a"], crowd=k)
    assert table.histogram(["town=a"], crowd="37.0").spec.channel.k == 37  # type: ignore[attr-defined]


# --- 20: empty bins -----------------------------------------------------------------------------------------------

SIZE = 1e-6  # the probability that a true law is rejected
N = 20_000  # bins of each kind


@pytest.mark.parametrize("words", [{"epsilon": 1}, {"crowd": 5, "epsilon": 1}], ids=str)
def test_20_empty_bins_get_the_noise_that_others_get(words: dict[str, Any]) -> None:
    """Half of the bins are empty, half hold one person: value minus count has one law, chi-square with its size."""
    table = pa.table({"age": list(range(0, 2 * N, 2))})
    spec = histogram([f"age:0..{2 * N}:1"], **words)
    drawn = _run(open(table).engine, spec, ScriptedSource.from_label(f"empty bins {words}")).published.values
    ones, empty = drawn[0::2] - 1, drawn[1::2]
    q = math.exp(-1)
    law = np.array([(1 - q) / (1 + q) * q ** abs(x) for x in range(-4, 5)])
    law = np.append(law, 1 - law.sum())
    for noise in (ones, empty):
        observed = np.array([np.count_nonzero(noise == x) for x in range(-4, 5)])
        observed = np.append(observed, N - observed.sum())
        statistic = float(((observed - N * law) ** 2 / (N * law)).sum())
        threshold = float(stats.chi2.isf(SIZE, len(law) - 1))
        assert statistic < threshold, f"n = {N}, chi-square = {statistic:.1f}, threshold = {threshold:.1f}"


def test_20_bins_left_without_noise_would_be_noticed() -> None:
    """Power: if 7 in 100 empty bins stayed 0 for certain, the test above would reject with probability 0.999."""
    q = math.exp(-1)
    law = np.array([(1 - q) / (1 + q) * q ** abs(x) for x in range(-4, 5)])
    law = np.append(law, 1 - law.sum())
    wrong = 0.93 * law
    wrong[4] += 0.07
    power = float(stats.ncx2.sf(stats.chi2.isf(SIZE, 9), 9, N * ((wrong - law) ** 2 / law).sum()))
    assert power > 0.999, f"n = {N}: power {power}"


# --- 28: names that are SQL ---------------------------------------------------------------------------------------

NAMES = [
    '"; DROP TABLE people; --',
    "'; DROP TABLE people; --",
    "a\"b'c",
    "--",
    "/* x */",
    "people",
    "hubbub_word",
    "g0",
    "n",
    "code",
    "who",
    "word",
    "count(*)",
    "(SELECT 1)",
    "read_csv('/etc/passwd')",
    "\u201cquoted\u201d",
    "\u2018x\u2019; DROP TABLE people",
    "name with space",
    "SELECT",
    "\\",
    "%s",
    "{0}",
    "$1",
    "?",
    "\u202eeman",
]


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


@pytest.mark.parametrize("kind", ["arrow", "pandas", "csv", "parquet"])
def test_28_a_column_name_is_only_a_name(kind: str, tmp_path: Path) -> None:
    table = pa.table({name: ["a", "a", "b", "x"] for name in NAMES} | {"id": [1, 2, 3, 4]})
    opened = open(sources(table, tmp_path)[kind], person="id")
    for name in NAMES:
        spec = quoted(name)
        for words in ({}, {"one_row_per_person": True}):
            release = opened.histogram([f"{spec}=a,b,other"], crowd=2, **words)
            assert rows(release) == [("a", 2), ("b", None), ("other", None)], name
        assert rows(opened.histogram([spec], crowd=2)) == [("a", 2)], name
    pairs = opened.histogram([f"{quoted(name)}=a,b" for name in NAMES[:5]], epsilon=50, distinct=1)
    assert [row for row in rows(pairs) if row[-1]] == [("a",) * 5 + (2,), ("b",) * 5 + (1,)]


def test_28_the_name_of_a_person_column_is_only_a_name() -> None:
    for name in ("hubbub_word", "HUBBUB_WORD", "who", "g0", '"; DROP TABLE people; --'):
        table = open(pa.table({name: [1, 1, 2, 3], "town": ["a", "a", "a", "b"]}), person=name)
        assert rows(table.histogram(["town=a,b"], crowd=2, one_row_per_person=True)) == [("a", 2), ("b", None)]
        assert rows(table.histogram(["town=a,b"], epsilon=50, distinct=2)) == [("a", 2), ("b", 1)]
        with pytest.raises(Refused):
            table.histogram(["town=a,b"], crowd=2)


def test_28_a_table_name_is_only_a_name(tmp_path: Path) -> None:
    names = [*NAMES, "hubbub_words", "hubbub_people", "hubbub_bins", "hubbub_database"]
    base = duckdb.connect(str(tmp_path / "people.duckdb"))
    for name in names:
        base.execute(f"CREATE TABLE {quoted(name)} AS SELECT i // 2 AS id, 'a' AS town FROM range(6) AS r(i)")
    for name in names:
        opened = open(base, table=name, person="id")
        assert rows(opened.histogram(["town=a"], crowd=2, one_row_per_person=True)) == [("a", 3)], name
        assert base.execute("SELECT count(*) FROM information_schema.tables").fetchall() == [(len(names),)]
    del opened
    gc.collect()
    base.close()
    for name in names[::4]:
        opened = open(tmp_path / "people.duckdb", table=name, person="id")
        assert rows(opened.histogram(["town=a"], crowd=2, one_row_per_person=True)) == [("a", 3)], name


def test_28_a_listed_value_is_only_a_value() -> None:
    table = open(pa.table({"town": [name for name in NAMES for _ in range(2)]}))
    listed = ",".join(map(quoted, NAMES))
    assert rows(table.histogram([f"town={listed}"], crowd=2)) == [(name, 2) for name in NAMES]


# --- 29: paths ----------------------------------------------------------------------------------------------------


def test_29_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "device.csv").symlink_to("/dev/zero")
    (tmp_path / "dangling.csv").symlink_to(tmp_path / "nowhere.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    paths = [*(str(tmp_path / name) for name in ("folder.csv", "pipe.csv", "device.csv", "dangling.csv", "loop.csv"))]
    paths += [
        "/dev/zero",
        "/dev/stdin",
        "",
        "nowhere.csv",
        str(tmp_path / "*.parquet"),
        "x\0y.csv",
        "x\0*.csv",
        "\udcff.csv",
    ]
    paths += [
        "https://example.org/people.csv",
        "s3://bucket/people.parquet",
        "file:///etc/passwd",
        ":memory:",
        "md:people",
    ]
    for path in paths:
        with pytest.raises(WrongUse, match=r"^there is no file .*; check the path$"):
            open(path)


def test_29_other_kinds_of_files_are_refused_by_their_names(tmp_path: Path) -> None:
    for name in ("people.csv.gz", "people.pickle", "people.zip", "people.xlsx", "people.json", "people", "people.sql"):
        with pytest.raises(WrongUse, match=r"a table is read from \.csv, \.tsv, \.parquet or \.duckdb; convert"):
            open(written(tmp_path, name, "town\nBath\n"))
    with pytest.raises(WrongUse, match="a table is read from"):
        open("/etc/passwd")


def test_29_a_path_may_climb_and_links_lead_to_files(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    path = written(tmp_path, "people.csv", "town\nBath\nBath\n")
    (tmp_path / "below" / "link.csv").symlink_to(path)
    for name in (tmp_path / "below" / ".." / "people.csv", tmp_path / "below" / "link.csv"):
        assert counts(name, "town=Bath") == {"Bath": 2}


@pytest.mark.parametrize(
    "name",
    [
        "[ab].{}",
        "*.{}",
        "?.{}",
        "it's.{}",
        "a'], all_varchar=true) --.{}",
        "'); DROP TABLE x; --.{}",
        "x{{a,b}}.{}",
        "ü \\.{}",
    ],
)
def test_29_a_file_name_is_only_a_name(name: str, tmp_path: Path) -> None:
    pq.write_table(pa.table({"town": ["right"] * 2}), tmp_path / name.format("parquet"))
    written(tmp_path, name.format("csv"), "town\nright\nright\n")
    pq.write_table(pa.table({"town": ["wrong"] * 3}), tmp_path / "a.parquet")
    written(tmp_path, "a.csv", "town\nwrong\nwrong\n")
    for form in ("parquet", "csv"):
        assert counts(tmp_path / name.format(form), "town") == {"right": 2}


def test_29_a_glob_takes_what_it_matches_and_no_folder_name_is_a_column(tmp_path: Path) -> None:
    (tmp_path / "town=wrong").mkdir()
    for i in range(3):
        pq.write_table(pa.table({"town": ["right"]}), tmp_path / "town=wrong" / f"{i}.parquet")
    assert counts(str(tmp_path / "town=wrong" / "[0-1].parquet"), "town") == {"right": 2}
    written(tmp_path, "town=wrong/4.csv", "town\nright\n")
    with pytest.raises(WrongUse, match="the files of one table end alike"):
        open(str(tmp_path / "town=wrong" / "*"))


def test_29_files_of_different_schemas_are_not_one_table(tmp_path: Path) -> None:
    pq.write_table(pa.table({"age": [1, 2]}), tmp_path / "a1.parquet")
    pq.write_table(pa.table({"age": ["1", "secret"]}), tmp_path / "a2.parquet")
    with pytest.raises(WrongUse, match="do not have the same columns of the same types; write them with one schema"):
        open(str(tmp_path / "a*.parquet"))


def test_29_the_engine_reads_the_file_it_was_given_and_no_other(tmp_path: Path) -> None:
    other = written(tmp_path, "other.csv", "town\nsecret\n")
    path = written(tmp_path, "people.csv", "town\nBath\n")
    pq.write_table(pa.table({"town": ["Bath"]}), tmp_path / "people.parquet")
    base = duckdb.connect(str(tmp_path / "people.duckdb"))
    base.execute("CREATE TABLE people AS SELECT 'Bath' AS town")
    base.execute(f"CREATE VIEW spy AS SELECT * FROM read_csv('{other}')")
    base.close()
    opened = [open(path), open(tmp_path / "people.parquet"), open(pa.table({"town": ["Bath"]}))]
    opened.append(open(tmp_path / "people.duckdb", table="people"))
    for table in opened:
        connection = table.engine._connection  # type: ignore[attr-defined]
        for sql in (
            f"SELECT * FROM read_csv('{other}')",
            f"SELECT * FROM '{other}'",
            f"SELECT * FROM read_text('{other}')",
            f"COPY (SELECT 1) TO '{tmp_path / 'leak.csv'}'",
            f"ATTACH '{tmp_path / 'leak.duckdb'}'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SELECT * FROM pa_table",
            f"EXPORT DATABASE '{tmp_path / 'leak'}'",
        ):
            with pytest.raises(duckdb.Error):
                connection.execute(sql)
    with pytest.raises(WrongUse, match="the table could not be read"):
        open(tmp_path / "people.duckdb", table="spy")
    assert not list(tmp_path.glob("leak*"))


# --- 30: malicious files ------------------------------------------------------------------------------------------


def test_30_parquet_that_is_broken_gets_one_sentence(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"town": [f"town {i % 7}" for i in range(5000)], "x": list(range(5000))}), tmp_path / "x.parquet"
    )
    whole = (tmp_path / "x.parquet").read_bytes()
    broken = [b"", b"PAR1", b"PAR1PAR1", b"PAR1" + bytes(4) + b"PAR1", whole[:-1], whole[: len(whole) // 2], whole[4:]]
    broken += [whole[:-8] + b"\xff\xff\xff\x7fPAR1", bytes(len(whole)), b"town\nBath\n", b"\x80\x04\x95"]
    chance = random.Random("broken parquet")
    for _ in range(40):
        damaged = bytearray(whole)
        for _ in range(chance.choice([1, 3, 30])):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        broken.append(bytes(damaged))
    for content in broken:
        path = written(tmp_path, "broken.parquet", content)
        told = Told(lambda path=path: open(path).histogram(["town"], crowd=2))  # type: ignore[misc]
        if told.release is None:  # damage may also leave a table that can be read
            assert told.raised in (
                (WrongUse, "the table could not be read; check that the file is what its name says"),
                (WrongUse, "the table could not be counted; check that the file is whole and that memory suffices"),
                (
                    WrongUse,
                    f"there is no column 'town'; there are {told.raised and told.raised[1].partition('are ')[2]}",
                ),
            )
    assert Told(lambda: open(tmp_path / "x.parquet").histogram(["town"], crowd=2)).raised is None


def test_30_databases_that_are_none_get_one_sentence(tmp_path: Path) -> None:
    for content in (b"", b"garbage" * 1000, b"SQLite format 3\0" + bytes(5000), b"PAR1"):
        with pytest.raises(WrongUse, match="the database could not be opened; check that it is one of DuckDB"):
            open(written(tmp_path, "people.duckdb", content), table="people")


def test_30_nothing_is_ever_unpickled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(tmp_path / "sprung"),)

    content = pickle.dumps(Trap())
    for name in ("people.pickle", "people.pkl", "people.csv", "people.parquet", "people.duckdb"):
        with pytest.raises(WrongUse):
            open(written(tmp_path, name, content), table="people").histogram(["town"], crowd=2)
    assert not (tmp_path / "sprung").exists()
    for path in Path(hubbub.__file__).parent.rglob("*.py"):
        assert "import pickle" not in path.read_text(encoding="utf-8")


# --- 35: leftovers ------------------------------------------------------------------------------------------------


@pytest.fixture
def scratch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder where temporary files go, and nothing else."""
    gc.collect()
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    assert tempfile.gettempdir() == str(folder)
    return folder


def test_35_nothing_is_left_of_a_release(scratch: Path, tmp_path: Path) -> None:
    table = pa.table({"town": ["Bath"] * 40, "id": list(range(20)) * 2})
    for source in sources(table, tmp_path).values():
        opened = enter(source, person="id")
        folders = list(scratch.iterdir())
        assert len(folders) == 1
        assert stat.S_IMODE(folders[0].stat().st_mode) == 0o700
        for words in ({"crowd": 5, "one_row_per_person": True}, {"epsilon": 1, "distinct": 2}):
            files.save(
                opened.histogram(["town=Bath", "id"] if "crowd" in words else ["town=Bath"], **words), tmp_path / "out"
            )  # type: ignore[arg-type]
        with pytest.raises(Refused):
            opened.histogram(["town=Bath"], crowd=5)
        del opened
        gc.collect()
        assert list(scratch.iterdir()) == []


def test_35_nothing_is_left_of_a_refusal(scratch: Path, tmp_path: Path) -> None:
    base = duckdb.connect(str(tmp_path / "good.duckdb"))
    base.execute("CREATE TABLE people (x INTEGER)")
    base.close()
    calls: list[Callable[[], object]] = [
        lambda: open(written(tmp_path, "broken.parquet", b"PAR1")),
        lambda: open(written(tmp_path, "broken.duckdb", b"x" * 5000), table="people"),
        lambda: open(tmp_path / "good.duckdb", table="nothing"),
        lambda: open(written(tmp_path, "broken.csv", b"\xff\xfe")),
        lambda: open(object()),
        lambda: open(pa.table({})),
        lambda: open(pa.table({"x": pa.array([1], pa.decimal128(5, 2)).cast(pa.decimal256(60, 2))})),
    ]
    for call in calls:
        with pytest.raises(WrongUse):
            call()
        gc.collect()
        assert list(scratch.iterdir()) == []


def test_35_a_table_that_spills_leaves_nothing_behind(scratch: Path, tmp_path: Path) -> None:
    opened = open(pa.table({"id": list(range(1000))}))
    connection = opened.engine._connection  # type: ignore[attr-defined]
    (place,) = connection.execute("SELECT current_setting('temp_directory')").fetchone()
    assert Path(place).parent.parent == scratch
    Path(place).mkdir()
    (Path(place) / "spilled").write_bytes(b"a row")
    del opened, connection
    gc.collect()
    assert list(scratch.iterdir()) == []


def test_35_the_engines_own_words_never_come_along() -> None:
    """A view fails on a cell, and the engine would quote it: neither the message nor what hangs on it has the cell."""
    base = duckdb.connect()
    base.execute("CREATE TABLE people AS SELECT 'secret cell' AS x, 1 AS id")
    base.execute("CREATE VIEW numbers AS SELECT CAST(x AS INTEGER) AS x, id FROM people")
    with pytest.raises(duckdb.Error, match="secret cell"):  # so it does
        base.execute("SELECT * FROM numbers").fetchall()
    for words in ({}, {"one_row_per_person": True}):
        for by in (["x:0..10:1"], ["x"]):
            with pytest.raises(WrongUse) as refusal:
                open(base, table="numbers", person="id").histogram(by, crowd=2, **words)
            error = refusal.value
            assert error.__cause__ is None
            assert error.__context__ is None
            assert "secret" not in "".join(traceback.format_exception(error))


def test_35_no_reference_to_a_table_outlives_it() -> None:
    table = pa.table({"town": ["Bath"] * 5, "id": list(range(5))})
    opened = open(table, person="id")
    opened.histogram(["town=Bath"], crowd=2, one_row_per_person=True)
    found = sys.getrefcount(table)
    del opened
    gc.collect()
    assert sys.getrefcount(table) <= found


def test_the_unit_of_a_release_is_said() -> None:
    """What a person is, and what happened to the others, stands in the certificate of every release."""
    table = open(pa.table({"town": ["Bath"], "id": [1]}), person="id")
    for words, unit in (
        ({}, Unit(person="id")),
        ({"one_row_per_person": True}, Unit(person="id", one_row_per_person=True)),
    ):
        assert certificate_of(table.histogram(["town=Bath"], crowd=2, **words))["person"] == unit.words
