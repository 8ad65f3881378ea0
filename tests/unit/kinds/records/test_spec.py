"""Records: what a crowd shares is published, coarser and as often as it occurs; what fewer share is left out."""

from __future__ import annotations

import csv
import datetime
import json
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub.cli.main import commands
from hubbub.errors import Refused
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.records.request import records
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource
from hubbub.release import save
from hubbub.sampling.amplification import epsilon_at, exact_or_suppressed
from hubbub.sampling.safepub import needed
from hubbub.tables.generalization import Ranges, parse_generalization, split_list
from hubbub.verification import verify
from tests.fresh import enter, open, opened, played, wrong_in

TREE = "flu;lung\nasthma;lung\nmeasles;skin\n"


def rows(table: Any, columns: list[str], crowd: int = 2, **words: Any) -> Counter[tuple[Any, ...]]:
    """What is published, and how often."""
    return Counter(tuple(row.values()) for row in open(table).records(columns, crowd=crowd, **words))


# --- the functions ------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=8), st.integers(1, 10**6))
@settings(max_examples=15, deadline=None)
def test_a_range_is_around_its_number(numbers: list[int], width: int) -> None:
    table = pa.table({"n": pa.array([n for n in numbers for _ in range(2)], pa.int64())})
    starts = [n - n % width for n in numbers for _ in range(2)]
    assert rows(table, [f"n:{width}"]) == Counter((f"[{start},{start + width})",) for start in starts)


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        (
            pa.array([-0.5, 29.999999999999996, 30.0, float("nan"), float("inf"), 1e300]),
            ["[-10,0)", "[20,30)", "[30,40)"],
        ),
        (pa.array([Decimal("-0.01"), Decimal("10.00")]), ["[-10,0)", "[10,20)"]),
        (pa.array(["7", " 12 ", "1e1", "seven", ""]), ["[0,10)", "[10,20)", "[10,20)"]),
        (pa.array([0, 2**64 - 1], pa.uint64()), ["[0,10)", "[18446744073709551610,18446744073709551620)"]),
    ],
)
def test_numbers_of_every_type_and_what_is_none(cells: pa.Array, told: list[str]) -> None:
    twice = pa.concat_arrays([cells, cells])
    missing = 2 * (len(cells) - len(told))
    assert rows(pa.table({"n": twice}), ["n:10"]) == Counter({(None,): missing} if missing else {}) + Counter(
        (label,) for label in told * 2
    )


def test_first_signs_hierarchies_dates_and_booleans(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text(TREE)
    table = pa.table(
        {
            "zip": ["90210", "90299", "9", None],
            "ill": ["flu", "asthma", "measles", "plague"],
            "born": [datetime.date(1990, 1, 5), datetime.date(1990, 12, 31), None, None],
            "well": [True, True, False, None],
        }
    )
    twice = pa.concat_tables([table, table])
    assert rows(twice, ["zip/3"]) == {("902",): 4, ("9",): 2, (None,): 2}
    assert rows(twice, [f"ill@{tmp_path}/tree.csv/1"]) == {("lung",): 4, ("skin",): 2, ("*",): 2}
    assert rows(twice, ["born:year", "well"]) == {("1990", "true"): 4, (None, "false"): 2, (None, None): 2}


def test_a_missing_value_is_a_value_and_joins_no_crowd() -> None:
    """THREATS 3: rows with a missing cell are a crowd of their own, not dropped and not counted with others."""
    table = pa.table({"a": ["x"] * 5 + [None]})
    assert rows(table, ["a"], crowd=2) == {("x",): 5}
    assert rows(table, ["a"], crowd=5) == {("x",): 5}
    assert rows(table, ["a"], crowd=6) == {}


def test_lists_of_columns_are_split_and_read() -> None:
    assert split_list('a,"b,""c",d:[0,1,inf),e@f.csv/2') == ["a", '"b,""c"', "d:[0,1,inf)", "e@f.csv/2"]
    assert parse_generalization("age:10") == ("age", Ranges(10))
    assert parse_generalization('"a/3"') is None
    assert parse_generalization("born:year") is None
    assert rows(pa.table({"a/3": ["xyz"] * 2}), ['"a/3"']) == {("xyz",): 2}


# --- the release --------------------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 40)), max_size=40), st.integers(2, 6))
@settings(max_examples=15, deadline=None)
def test_exactly_the_crowds_come_out_sorted_whatever_order_they_came_in(people: list[tuple[str, int]], k: int) -> None:
    spec = records(["town", "age:20"], crowd=k)
    crowds = Counter((town, f"[{age - age % 20},{age - age % 20 + 20})") for town, age in people)
    wanted = [row for row, n in sorted(crowds.items(), key=lambda item: (item[0][0], int(item[0][1][1:].split(",")[0])))
              for _ in range(n) if n >= k]  # fmt: skip
    for order in (people, people[::-1]):
        table = pa.table(
            {"town": pa.array([t for t, _ in order], pa.string()), "age": pa.array([a for _, a in order], pa.int64())}
        )
        done = played(spec, open(table).engine, ScriptedSource.from_label("unused"))
        assert [tuple(row.values()) for row in done] == wanted
        assert len(done) == len(wanted)


def test_twenty_rows_of_one_person_are_no_crowd() -> None:
    """THREATS 6."""
    table = pa.table({"id": [1] * 20 + [2, 3], "a": ["x"] * 22})
    people = opened(table, person="id", dataset="town")
    with pytest.raises(Refused, match="exactly one row for each person"):
        people.records(["a"], crowd=5)
    assert len(people.records(["a"], crowd=5, one_row_per_person=True)) == 0


def test_sampled_records_promise_what_the_calculator_says() -> None:
    spec = records(["a"], crowd=20, sample="0.1", at_delta="1e-6")
    known = epsilon_at(exact_or_suppressed(20, "0.1"), "1e-6")
    claims = [step.conclusion for step in spec.promises()]
    assert DifferentialPrivacy(epsilon=known.epsilon, delta=known.delta) in claims
    assert CrowdBlending(k=20, epsilon=Fraction(0)) in claims


def test_a_file_in_which_a_record_is_too_rare_does_not_pass(tmp_path: Path) -> None:
    table = pa.table({"a": ["x"] * 5 + ["=y"] * 4})
    for form in ("csv", "parquet"):
        done = enter(table).records(["a"], crowd=4)
        written = save(done, tmp_path / form, form=form)
        assert verify(Path(written["certificate"]).read_bytes(), folder=tmp_path / form).passed
        file = Path(written["release"])
        assert wrong_in(done.spec, file, form) is None
        assert wrong_in(records(["a"], crowd=5), file, form) == "a record is there fewer than 5 times"
        assert wrong_in(records(["b"], crowd=4), file, form) is not None


def test_records_and_the_histogram_of_the_same_bins_are_one_partition() -> None:
    assert records(["a"], crowd=4).composition() == histogram(["a"], crowd=4).composition()
    assert records(["a/1"], crowd=4).composition() != histogram(["a"], crowd=4).composition()


def test_another_function_of_the_same_people_is_refused() -> None:
    table = opened(pa.table({"a": ["xy"] * 9}), dataset="town")
    table.records(["a/1"], crowd=5)
    with pytest.raises(Refused, match="already has release 1"):
        table.records(["a/2"], crowd=5)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("a@{tree}/1", "one value is there twice"),
        ("a@{tree}", "add the level"),
        ("a/x", "whole number, like a/3"),
        ("a/0", "from 1 to 10,000"),
        ("a:0", "from 1 to 10\\^30"),
        ("a,a/1", "each column of a record is named once"),
        ("nobody", "there is no column 'nobody'"),
        ("a=x,y", "declared bins are for histograms"),
        ("a:0..10:5", "declared bins are for histograms"),
        ("", "say which columns"),
        (",,", "say which columns"),
    ],
)
def test_wrong_uses_are_one_sentence_and_nothing_is_spent(columns: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("x;1\nx;2\n")
    pq.write_table(pa.table({"a": ["x"] * 5}), tmp_path / "people.parquet")
    words = ["release", "records", str(tmp_path / "people.parquet"), "--rows-are-people", "--crowd", "2"]
    words += ["--columns", columns.format(tree=tmp_path / "tree.csv"), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(commands, words)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.output
    assert re.search(told, done.stderr), done.stderr
    assert not (tmp_path / "out" / "release.csv").exists()
    assert not Ledger().accounts()


# --- beside others ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epsilon", "delta", "safepub", "exact"),
    [
        ("0.1", "1e-6", 61, 35),
        ("0.5", "1e-6", 64, 46),
        ("1", "1e-6", 75, 58),
        ("1", "1e-9", 119, 97),
        ("2", "1e-6", 132, 114),
    ],
)
def test_safepub_needs_larger_crowds_for_the_same_promise(epsilon: str, delta: str, safepub: int, exact: int) -> None:
    found = needed(epsilon, delta)
    assert (found.safepub, found.exact) == (safepub, exact)


def test_the_command_compares_and_writes_rows(tmp_path: Path) -> None:
    pq.write_table(pa.table({"town": ["Bath"] * 30 + ["York"] * 3, "age": list(range(33))}), tmp_path / "p.parquet")
    words = ["release", "records", str(tmp_path / "p.parquet"), "--rows-are-people", "--columns", "town,age:40"]
    done = CliRunner().invoke(commands, [*words, "--crowd", "20", "--compare", "--json", "--out", str(tmp_path / "o")])
    told = json.loads(done.stdout)
    assert (told["rows_published"], told["distinct_records"], told["crowd"]) == (30, 1, 20)
    assert [row["way"] for row in told["compare"]["rows"]] == [
        "this release",
        "k-anonymity by a function tuned on the data",
    ]
    with Path(told["release"]).open() as file:
        assert list(csv.reader(file)) == [["town", "age"], *[["Bath", "[0,40)"]] * 30]


def test_numbers_that_cannot_be_read_are_refused_before_anything_is_spent(tmp_path: Path) -> None:
    """THREATS 44: one cell is missing by the public rule; many are for the steward to look at."""
    (tmp_path / "people.csv").write_text("age\n" + "20\n" * 300 + "old\n" * 2)
    assert len(opened(tmp_path / "people.csv", dataset="few").records(["age:10"], crowd=5)) == 300
    (tmp_path / "bad.csv").write_text("age\n" + "20\n" * 30 + "old\n" * 20)
    with pytest.raises(Refused, match="cannot be read as declared"):
        opened(tmp_path / "bad.csv", dataset="many").records(["age:10"], crowd=5)
    (record,) = Ledger().account("many").records
    assert not record.is_spent


@pytest.mark.parametrize("row", ["Bath,f,secret", "Bath"])
def test_a_row_with_more_or_fewer_cells_than_columns_is_noticed(row: str, tmp_path: Path) -> None:
    file = tmp_path / "release.csv"
    file.write_text('"town","sex"\n' + f"{row}\n" * 5)
    assert wrong_in(records("town,sex", crowd=5), file, "csv") is not None


def test_lists_in_the_place_of_labels_are_noticed(tmp_path: Path) -> None:
    pq.write_table(pa.table({"town": [["Bath"]] * 5}), tmp_path / "release.parquet")
    assert wrong_in(records("town", crowd=5), tmp_path / "release.parquet", "parquet") is not None


def test_missing_values_of_one_column_are_rows_too(tmp_path: Path) -> None:
    (tmp_path / "release.csv").write_text('"town"\n' + "\n" * 5)
    assert wrong_in(records("town", crowd=5), tmp_path / "release.csv", "csv") is None
    assert wrong_in(records("town", crowd=6), tmp_path / "release.csv", "csv") is not None
