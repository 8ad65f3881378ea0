"""Cubes: margins are sums of what was published, and no file tells more than the cells; or each has its own noise."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hubbub import registry
from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.kinds.cube.margins import file_names, parse_margins
from hubbub.kinds.cube.request import cube
from hubbub.kinds.cube.spec import Cube
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource
from hubbub.release import save
from hubbub.verification import verify
from tests.fresh import enter, open, played, wrong_in

BY = ["town=Bath,York,other", "age:0..90:30", "sex=f,m"]
PEOPLE = pa.table(
    {
        "town": ["Bath"] * 60 + ["York"] * 25 + ["Wells"] * 15,
        "age": [7 * i % 90 for i in range(100)],
        "sex": ["fm"[i * i % 7 % 2] for i in range(100)],
    }
)


def sheets(done: Any) -> dict[str, list[dict[str, Any]]]:
    return {
        sheet.name: [row for batch in sheet.batches() for row in batch.to_pylist()] for sheet in done.result.sheets()
    }


def made(label: str = "cube", table: pa.Table = PEOPLE, by: list[str] = BY, **words: Any) -> Any:
    spec = cube(by, **words).with_schema(open(table).engine.columns())
    return played(spec, open(table).engine, ScriptedSource.from_label(label))


# --- which margins ------------------------------------------------------------------------------------------------


def test_margins_are_named_in_words_in_lists_and_by_number() -> None:
    assert parse_margins(None, "abc") == (("a",), ("b",), ("c",))
    assert parse_margins("b , a; c", "abc") == (("a", "b"), ("c",))
    assert parse_margins("a,b; c; b,a; 2", "abc") == (("a", "b"), ("c",), ("a", "c"), ("b", "c"))  # each once
    assert parse_margins([["b", "a"], "c"], "abc") == (("a", "b"), ("c",))
    assert parse_margins("2; a", "abc") == (("a", "b"), ("a", "c"), ("b", "c"), ("a",))
    assert parse_margins("2; a", ["a", "2"]) == (("2",), ("a",))
    assert parse_margins('"x;y","p,q"', ["x;y", "p,q", "z"]) == (("x;y", "p,q"),)


@pytest.mark.parametrize(
    ("margins", "told"),
    [
        ("town,pay", "a margin is a sum of released cells, which are by town, age, sex; 'pay' is none"),
        ("town,town", "names each of its columns once"),
        ("town,age,sex", "leave out the margin by all columns"),
        ("3", "of 1 to 2 columns"),
        ("", "a cube has margins"),
        ([[]], "a margin is a sum of released cells"),
    ],
)
def test_a_margin_that_is_no_sum_of_cells_is_refused(margins: Any, told: str) -> None:
    with pytest.raises(WrongUse, match=told):
        cube(BY, margins=margins, crowd=5)


def test_files_are_named_after_columns_where_that_makes_a_name() -> None:
    assert file_names([("town", "Age Group"), ("Stadt/Ort",), ("x_y",), ("x-y",), ("a" * 99,)]) == [
        "margin-town-age-group",
        "margin-2",
        "margin-3",
        "margin-4",
        "margin-5",
    ]
    assert file_names([("7",), ("a",)]) == ["margin-1", "margin-a"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ({"by": ["town"], "crowd": 5}, "at least two columns"),
        ({"by": BY}, "say how people are protected"),
        ({"by": ["town", "age:0..90:30"], "epsilon": 1}, "needs declared bins"),
        ({"by": ["town=a,b", "age:0..1000000:1"], "epsilon": 1}, "at most 1,000,000 cells"),
        ({"by": ["town=a,b", "consistent=a,b"], "epsilon": 1, "consistent": True}, "a column consistent of their own"),
        ({"by": ["town=a,b", "own_low=a,b"], "epsilon": 1}, "a column own_low of their own"),
        ({"by": BY, "epsilon": 1, "noise": "gaussian"}, "needs a delta"),
        ({"by": BY, "epsilon": 1, "noise": "laplace"}, "auto, geometric, gaussian"),
        ({"by": BY, "epsilon": 1, "delta": 1}, "below 1"),
        ({"by": BY, "crowd": 5, "delta": "1e-9"}, "go with epsilon alone"),
        ({"by": BY, "epsilon": 1, "people": 100}, "goes with Gaussian noise"),
        ({"by": BY, "epsilon": 1, "delta": "1e-9", "noise": "gaussian", "sample": "0.5"}, "everybody counted"),
        ({"by": BY, "epsilon": "1e-6"}, "too small to be split among 4 tables"),
        (
            {"by": ["age:0..100000:1", "x:0..10000:1", "town=a,b"], "margins": "age,x", "crowd": 5},
            "by age, x has 1,000,000,000 of them, more than 100,000,000",
        ),
    ],
)
def test_wrong_uses_are_one_sentence(words: dict[str, Any], told: str) -> None:
    with pytest.raises(WrongUse, match=told) as error:
        cube(words.pop("by"), **words).with_schema(open(PEOPLE).engine.columns())
    assert "\n" not in str(error.value)


# --- crowds -------------------------------------------------------------------------------------------------------


PERSON = st.tuples(st.sampled_from(["Bath", "York", "Wells"]), st.integers(0, 89), st.sampled_from("fm"))


@given(st.lists(PERSON, max_size=60), st.integers(2, 5))
@settings(max_examples=12, deadline=None)
def test_the_truth_lies_between_shown_and_hidden(people: list[tuple[str, int, str]], k: int) -> None:
    types = {"town": pa.string(), "age": pa.int64(), "sex": pa.string()}
    columns = [pa.array([person[i] for person in people], kind) for i, kind in enumerate(types.values())]
    table = pa.table(columns, names=list(types))
    found = sheets(made(table=table, crowd=k, margins="town,age; sex"))
    truth = Counter(("other" if t == "Wells" else t, f"[{a - a % 30},{a - a % 30 + 30})") for t, a, _ in people)
    cells = found["release"]
    for row in found["margin-town-age"]:
        inside = [cell for cell in cells if (cell["town"], cell["age"]) == (row["town"], row["age"])]
        shown = [cell["count"] for cell in inside if cell["count"] is not None]
        assert row["low"] == sum(shown) == (row["count"] or 0)
        assert row["high"] == sum(shown) + (2 - len(shown)) * (k - 1)
        assert row["low"] <= truth[row["town"], row["age"]] <= row["high"]
        assert row["status"] == {2: "shown", 1: "some cells hidden", 0: "suppressed"}[len(shown)]


def test_found_cells_have_margins_of_what_was_found_and_no_upper_end() -> None:
    found = sheets(made(by=["town", "age:30", "sex=f,m"], crowd=5, margins="town; town,age"))
    cells = found["release"]
    for name, keys in {"margin-town": ["town"], "margin-town-age": ["town", "age"]}.items():
        sums: Counter[Any] = Counter()
        for cell in cells:
            sums[tuple(cell[key] for key in keys)] += cell["count"]
        assert {tuple(row[key] for key in keys): row["count"] for row in found[name]} == sums
        assert [tuple(row[key] for key in keys) for row in found[name]] == sorted(sums)
    assert all(row["high"] is None for row in found["margin-town"])
    assert all(row["high"] is not None for row in found["margin-town-age"])  # the two sexes are declared


def test_the_promise_of_a_cube_of_crowds_is_that_of_its_cells() -> None:
    spec = cube(BY, crowd=5)
    assert spec.promises() == spec.cells.promises()
    assert spec.composition() == spec.cells.composition()
    assert [str(step.conclusion) for step in spec.promises()] == ["(5, 0)-crowd-blending"]


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_margin_that_was_changed_is_noticed_beside_the_cells(form: str, tmp_path: Path) -> None:
    done = enter(PEOPLE).cube(BY, margins="town", crowd=5)
    written = save(done, tmp_path, form=form)
    file = Path(written["release"])
    assert wrong_in(done.spec, file, form) is None
    beside = Path(written["margin-town"])
    if form == "csv":
        beside.write_text(beside.read_text().replace('"Bath",', '"Bath",1', 1))
    else:
        table = pq.read_table(beside)
        counts = [value + 1 if value is not None else None for value in table.column("count").to_pylist()]
        pq.write_table(table.set_column(1, "count", pa.array(counts)), beside)
    wrong = f"margin-town.{form}: its column count does not follow from what was drawn"
    assert wrong_in(done.spec, file, form) == wrong
    assert not verify(Path(written["certificate"]).read_bytes(), folder=tmp_path).passed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("", "cannot be read"),
        ('"town","count"\nBath,60\n', "cannot be read"),
        ('{head}"Bath",7,7,7,"shown"\n"Bath",60,60,60,"shown"\n"York",25,25,25,"shown"\n', "its column town"),
        ('{head}"Bath"\n"York"\n"other"\n', "cannot be read"),
    ],
)
def test_a_margin_of_other_columns_or_rows_is_noticed(words: str, told: str, tmp_path: Path) -> None:
    done = enter(PEOPLE).cube(BY, margins="town", crowd=2)
    written = save(done, tmp_path)
    beside = Path(written["margin-town"])
    head, *_ = beside.read_text().splitlines(keepends=True)
    beside.write_text(words.format(head=head))
    found = wrong_in(done.spec, Path(written["release"]), "csv")
    assert found is not None
    assert told in found


def test_a_margin_with_noise_of_its_own_has_the_columns_and_bins_that_are_described(tmp_path: Path) -> None:
    done = enter(PEOPLE).cube(BY, margins="town", epsilon=1)
    written = save(done, tmp_path)
    beside = Path(written["margin-town"])
    assert wrong_in(done.spec, Path(written["release"]), "csv") is None
    beside.write_text(beside.read_text().replace('"York"', '"Ely"'))
    assert wrong_in(done.spec, Path(written["release"]), "csv") == (
        "margin-town.csv: its column town does not follow from what was drawn"
    )


def test_missing_and_empty_labels_are_told_apart_in_a_csv(tmp_path: Path) -> None:
    table = pa.table({"town": [None] * 5 + [""] * 7 + ["Bath"] * 9, "sex": ["f"] * 21})
    written = save(enter(table).cube(["town", "sex"], crowd=5), tmp_path)
    assert verify(Path(written["certificate"]).read_bytes(), folder=tmp_path).passed


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_cube_too_big_to_list_can_be_verified(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.tables.bins.MOST_BINS", 8)
    done = enter(PEOPLE).cube(BY, margins="town", crowd=10)
    written = save(done, tmp_path, form=form)
    assert 0 < len(done) < 18  # hidden cells are not listed
    assert wrong_in(done.spec, Path(written["release"]), form) is None
    assert "with the columns that are described" in str(wrong_in(done.spec, Path(written["margin-town"]), form))


def test_it_is_said_whom_margins_leave_out() -> None:
    """Whoever has no bin by one column is in no cell, so a margin by another column does not count them."""
    done = made(by=["town=Bath", "age:0..90:30"], margins="age", crowd=5)
    assert sum(row["count"] for row in sheets(done)["margin-age"]) == 60  # of 100 people
    told = "people without a bin by town and age are in no cell, and so in no margin"
    assert any(told in sentence for sentence in done.result.sentences())
    assert any(told in remark for remark in done.spec.describe().remarks)
    everybody = made(by=["town=Bath,other", "sex"], margins="sex", crowd=5)
    assert not any("in no cell" in sentence for sentence in everybody.result.sentences())


# --- noise at every level -----------------------------------------------------------------------------------------


def test_the_losses_of_all_tables_add_up_to_epsilon() -> None:
    """Basic composition: a person is in one bin of each table."""
    done = made(epsilon="0.7", margins="town,age; sex")
    own = done.promises[0]
    assert own.conclusion == DifferentialPrivacy(epsilon=Fraction(7, 10))
    assert [step.conclusion.epsilon for step in own.premises] == list(done.spec.shares)  # type: ignore[attr-defined]
    assert sum(done.spec.shares) == Fraction(7, 10)
    assert all(check.passed for check in done.spec.checks())


def test_shares_that_do_not_add_up_are_no_description() -> None:
    spec = made(epsilon=1).spec
    told = spec.to_json()
    assert registry.read("cube/1", told) == spec
    for shares in ([], ["0.5", "0.5"], ["1", "1", "1", "1"], ["2", "-1", "0.5", "-0.5"]):
        with pytest.raises(CheckFailed):
            registry.read("cube/1", told | {"shares": shares})
    with pytest.raises(CheckFailed, match="have no shares"):
        registry.read("cube/1", cube(BY, crowd=5).to_json() | {"shares": ["1"]})
    for margins in ([["pay"]], [["age", "town"]], [["sex"], ["sex"]], []):
        with pytest.raises(CheckFailed):
            registry.read("cube/1", cube(BY, crowd=5).to_json() | {"margins": margins})


def test_estimates_add_up_to_the_last_digit_in_files() -> None:
    found = sheets(made(epsilon=1, margins="town,age; sex; town"))
    for name in ("margin-town-age", "margin-sex", "margin-town"):
        keys = name.split("-")[1:]
        sums: dict[Any, Any] = {}
        for cell in found["release"]:
            key = tuple(cell[part] for part in keys)
            sums[key] = sums.get(key, 0) + cell["fitted"]
        assert {tuple(row[part] for part in keys): row["fitted"] for row in found[name]} == sums


def test_a_secret_sample_is_drawn_once_for_all_tables() -> None:
    """At epsilon 50 there is no noise to speak of, so the tables of one sample add up."""
    found = sheets(made(epsilon=50, sample="0.5", margins="sex"))
    counts = Counter({row["sex"]: row["count"] for row in found["margin-sex"]})
    cells: Counter[str] = Counter()
    for row in found["release"]:
        cells[row["sex"]] += row["count"]
    assert counts == cells
    assert 25 < sum(counts.values()) < 75


# --- all of it ----------------------------------------------------------------------------------------------------


def test_the_command_writes_a_file_for_each_margin_and_one_certificate(tmp_path: Path) -> None:
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    words = ["release", "cube", str(tmp_path / "people.parquet"), "--rows-are-people", *(f"--by={by}" for by in BY)]
    words += ["--crowd", "5", "--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(commands, [*words, "--margins", "town,sex; sex"])
    told = json.loads(done.stdout)
    assert [margin["file"] for margin in told["margins"]] == ["margin-town-sex", "margin-sex"]
    assert told["intervals"] == "each"
    for margin in told["margins"]:
        with Path(told[margin["file"]]).open() as file:
            assert len(list(csv.reader(file))) == 1 + margin["rows"]
    assert CliRunner().invoke(commands, ["verify", told["certificate"]]).exit_code == 0
    page = Path(told["report"]).read_text()
    assert 'href="margin-town-sex.csv"' in page
    assert "<svg" in page
    assert len(Ledger().account("people").records) == 1
    wrong = CliRunner().invoke(commands, [*words, "--margins", "town,pay"])
    assert (wrong.exit_code, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)
    assert len(Ledger().account("people").records) == 1


def test_python_has_a_method_for_it() -> None:
    done = enter(PEOPLE).cube(BY, margins=[["town"]], crowd=5, sample="0.05", at_delta="1e-3")
    assert isinstance(done.spec, Cube)
    assert {"crowd-blending", "differential"} <= {step.conclusion.notion for step in done.promises}
    assert np.all([row["count"] is None or row["count"] >= 5 for row in done])
