"""Threats 8 to 10: one person more or less moves one count by one, and nothing else that is told."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hubbub.errors import HubbubError
from hubbub.protocol.release import Release
from hubbub.report import report
from tests.fresh import certificate_of, open
from tests.fresh import counts as result
from tests.unit.threats.tables import WORDS, Told, counts, sources, written

# --- 8, 9, 10: neighbours -----------------------------------------------------------------------------------------


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
        first, second = (result(table.histogram(by, epsilon=50)).published.values for table in (fewer, more))
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
        moved = result(second.release).published.values - result(first.release).published.values
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
        moved = result(second.release).published.values - result(first.release).published.values
        assert set(moved.tolist()) <= {0, 1}
        assert moved.sum() <= 1


def test_8_several_values_that_are_not_listed_are_one_bin(tmp_path: Path) -> None:
    # A second column: in a CSV of one, a line that is blank is nobody.
    table = pa.table({"town": ["Bath", "Ely", "Wells", "Ripon", "Ely", None], "id": range(6)})
    for name, source in sources(table, tmp_path).items():
        assert counts(source, "town=Bath,other") == {"Bath": None, "other": 5}, name
        assert counts(source, "town=Bath,null,other") == {"Bath": None, None: None, "other": 4}, name
        assert counts(source, "town=York") == {"York": None}, name


def test_10_the_certificate_the_report_and_the_words_of_a_refusal_hold_no_cell() -> None:
    table = pa.table({"town": ["hush place"] * 3 + ["Bath"] * 30, "id": [*range(32), 31]})
    release = open(table).histogram(["town"], crowd=20)
    assert "hush" not in json.dumps(certificate_of(release))
    assert "hush" not in report(release)
    calls: tuple[Callable[[], Release], ...] = (
        lambda: open(table, person="id").histogram(["town=Bath"], crowd=20),
        lambda: open(table).histogram(["town"], epsilon=1),
        lambda: open(table).histogram(["town:0..10:3"], epsilon=1),
        lambda: open(table).histogram(["id:month"], epsilon=1),
        lambda: open(table).histogram(["nothing"], crowd=20),
    )
    for call in calls:
        with pytest.raises(HubbubError) as refusal:
            call()
        assert "hush" not in str(refusal.value)


def test_10_a_release_holds_nothing_of_what_it_hides() -> None:
    table = pa.table({"town": ["hush place"] * 3 + ["Bath"] * 30})
    release = open(table).histogram(["town"], crowd=20)
    found = result(release)
    kept = (found.published.values, found.published.tags, found.low, found.high, found.found, found.codes)
    assert b"hush" not in pickle.dumps(kept)
    assert "hush" not in repr(release)
    hidden = open(table).histogram(["town=Bath,York,other"], crowd=20)
    assert result(hidden).published.values.tolist() == [30, 0, 0], "a hidden bin holds 0, whatever it counts"
