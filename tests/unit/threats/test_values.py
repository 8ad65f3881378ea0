"""Threats 1 to 5: values that are no plain numbers and words come out as the rule says, and do nothing."""

from __future__ import annotations

import csv
import math
import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.kinds.histogram.request import histogram
from hubbub.noise.source import ScriptedSource
from tests.fresh import counts as result
from tests.fresh import enter, open, played
from tests.fresh import save_over as save
from tests.unit.threats.tables import counts, sources, written

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
    # A second column: in a CSV of one, a line that is blank is nobody.
    table = pa.table({"town": ["Bath"] * 20 + [None], "id": range(21)})
    for name, source in sources(table, tmp_path).items():
        # Dropping the row first would report a table in which everybody has a crowd of twenty.
        assert counts(source, "town=Bath,null", crowd=20) == {"Bath": 20, None: None}, name
        assert counts(source, "town", crowd=20) == {"Bath": 20}, name
        assert counts(source, "town=Bath,other", crowd=20) == {"Bath": 20, "other": None}, name
    half = pa.table({"town": ["Bath"] * 20 + [None] * 20, "id": range(40)})
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
    save(release, tmp_path)
    save(release, tmp_path / "columns", form="parquet")
    with (tmp_path / "release.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert sorted(line[0] for line in lines[1:]) == sorted(SIGNS.values())
    assert all(len(line) == 5 for line in lines)
    assert sorted(pq.read_table(tmp_path / "columns" / "release.parquet").column("town").to_pylist()) == sorted(
        SIGNS.values()
    )


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
    save(release, tmp_path)
    with (tmp_path / "release.csv").open(encoding="utf-8", newline="") as file:
        header, *lines = list(csv.reader(file))
    assert len(lines) == len(FORMULAS)
    bare = re.compile(r"-\d+(\.\d+)?")  # a number can do nothing, and keeps its sign
    for cell in (*header, *(cell for line in lines for cell in line[:3])):
        assert bare.fullmatch(cell) or not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d")), cell
    assert {line[0].removeprefix("'") for line in lines} == set(FORMULAS)


def test_5_numbers_that_are_published_are_not_made_text(tmp_path: Path) -> None:
    table = pa.table({"town": ["Bath"]})
    spec = histogram(["town=Bath,York,Ely,Wells"], epsilon="0.05")
    release = played(spec, open(table).engine, ScriptedSource.from_label("negative"))
    assert (result(release).published.values < 0).any()
    entered = enter(table).histogram(["town=Bath,York,Ely,Wells"], epsilon="0.05")
    save(replace(release, reservation=entered.reservation), tmp_path)
    with (tmp_path / "release.csv").open(newline="") as file:
        values = [line["count"] for line in csv.DictReader(file)]
    assert [int(value) for value in values] == result(release).published.values.tolist()
