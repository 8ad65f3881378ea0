"""THREATS 19: what published tables determine together, by programs with proofs, on tables of anybody's."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hubbub.audit.published.inference import of_files
from hubbub.errors import WrongUse
from tests.fresh import enter, save_over

ADULT = Path(__file__).resolve().parents[5] / "shared" / "data" / "tables" / "adult_train.parquet"
K = 10


def write(path: Path, columns: Sequence[str], cells: dict[tuple[str, ...], Any], count: str = "count") -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*columns, count])
        out.writerows([*key, value] for key, value in cells.items())
    return path


def margin(path: Path, columns: Sequence[str]) -> dict[tuple[str, ...], int]:
    """Exact counts of the census table by some columns; only those of at least K are written."""
    table = pq.read_table(ADULT, columns=list(columns))
    values = [sorted(set(table[name].to_pylist())) for name in columns]
    groups = table.group_by(list(columns)).aggregate([([], "count_all")]).to_pylist()
    counts = {tuple(group[name] for name in columns): int(group["count_all"]) for group in groups}
    every = {key: counts.get(key, 0) for key in product(*values)}
    write(path, columns, {key: count if count >= K else "" for key, count in every.items()})
    return every


@pytest.mark.skipif(not ADULT.exists(), reason="the census table is not here")
def test_two_margins_of_the_census_give_away_104_cells(tmp_path: Path) -> None:
    fine = ("education", "occupation", "sex", "race")
    true = margin(tmp_path / "fine.csv", fine)
    margin(tmp_path / "coarse.csv", ("education", "occupation", "race"))
    found = of_files([tmp_path / "fine.csv", tmp_path / "coarse.csv"], K)
    assert found.is_refuted
    assert len(found.determined) == 104
    for cell in found.determined:
        assert cell.low == cell.high == true[tuple(value for _, value in cell.key)]
        assert cell.because.startswith("subtract ")
    assert of_files([tmp_path / "fine.csv"], K).word == "proved"


# --- small tables, by hand ------------------------------------------------------------------------------------------

FINE = {("Bath", "F"): 30, ("Bath", "M"): "", ("York", "F"): 12, ("York", "M"): 19}
COARSE = {("Bath",): 33, ("York",): 31}


def test_a_hidden_cell_is_found_and_said_why(tmp_path: Path) -> None:
    fine, coarse = write(tmp_path / "a.csv", ("town", "sex"), FINE), write(tmp_path / "b.csv", ("town",), COARSE)
    (cell,) = of_files([fine, coarse], K).determined
    assert cell.as_json() == {
        "table": "a.csv",
        "key": {"town": "Bath", "sex": "M"},
        "low": 3,
        "high": 3,
        "because": "subtract Bath/F (30) of a.csv from Bath (33) of b.csv: 33 - 30 = 3",
    }


@pytest.mark.parametrize("mark", ["", "*", "hidden", "<10", "n/a", "0-9", "≤9"])
def test_marks_of_many_kinds_hide(tmp_path: Path, mark: str) -> None:
    fine = write(tmp_path / "a.csv", ("town", "sex"), FINE | {("Bath", "M"): mark}, count="Number")
    coarse = write(tmp_path / "b.csv", ("town",), {("Bath",): "33", ("York",): "31"}, count="Number")
    assert len(of_files([fine, coarse], K).determined) == 1


def test_rows_that_are_not_listed_are_hidden_too(tmp_path: Path) -> None:
    shown = {key: value for key, value in FINE.items() if value != ""}
    fine, coarse = write(tmp_path / "a.csv", ("town", "sex"), shown), write(tmp_path / "b.csv", ("town",), COARSE)
    assert [cell.low for cell in of_files([fine, coarse], K).determined] == [3]


def test_rows_of_totals_are_tables_of_their_own(tmp_path: Path) -> None:
    rows = FINE | {("Bath", "All"): 33, ("York", "All"): 31, ("All", "All"): 64}
    found = of_files([write(tmp_path / "a.csv", ("town", "sex"), rows)], K, total="All")
    assert [cell.low for cell in found.determined] == [3]


def test_a_value_that_one_file_does_not_name_is_hidden_there(tmp_path: Path) -> None:
    """York is never named by the finer table; it is not for that reason empty."""
    files = [
        write(tmp_path / "finer.csv", ("town", "sex", "age"), {("Bath", "F", "old"): 12, ("Bath", "M", "new"): 11}),
        write(tmp_path / "town.csv", ("town",), {("Bath",): 25, ("York",): 13}),
        write(tmp_path / "sex.csv", ("sex",), {("F",): 20, ("M",): 18}),
    ]
    assert of_files(files, K).word == "proved"  # and not that no people fit


def test_a_ring_too_large_to_be_looked_at_is_not_called_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    people = dict(zip(product("01", repeat=3), [1, 2, 2, 0, 0, 1, 1, 2], strict=True))
    files = []
    for one, two in ((0, 1), (1, 2), (0, 2)):
        cells = {
            key: sum(n for at, n in people.items() if (at[one], at[two]) == key) for key in product("01", repeat=2)
        }
        shown = {key: n if n >= 2 else "" for key, n in cells.items()}
        files.append(write(tmp_path / f"{one}{two}.csv", ("abc"[one], "abc"[two]), shown))
    assert of_files(files, 2).is_refuted  # by a table over all columns alone
    monkeypatch.setattr("hubbub.audit.published.links._MOST_JOINT", 7)
    found = of_files(files, 2)
    assert found.word == "undecided"
    assert "8 cells over all columns" in found.why


def test_tables_in_a_chain_need_no_table_over_all_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hubbub.audit.published.links._MOST_JOINT", 0)
    chain = [write(tmp_path / f"{a}{b}.csv", (a, b), {("0", "0"): 12, ("1", "1"): 12}) for a, b in ("pq", "qr", "rs")]
    assert of_files(chain, K).word == "proved"
    ring = [*chain, write(tmp_path / "ps.csv", ("p", "s"), {("0", "0"): 12, ("1", "1"): 12})]
    assert of_files(ring, K).word == "undecided"


def test_ranges_that_still_move_are_not_called_proved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A staircase of hidden cells: what is known at its two ends meets in the middle, one step at a time."""
    steps = 12
    hidden = [9, *([1, 8] * steps), 9]  # neighbours add up to 10, then to 9, and at the end to 17
    rows = len(hidden) // 2
    true = {(i, j): 20 * (0 < j < rows) for i in range(rows) for j in range(rows + 1)}
    true |= {(at // 2, (at + 1) // 2): count for at, count in enumerate(hidden)}
    stairs = {(at // 2, (at + 1) // 2) for at in range(len(hidden))}
    by_row = {(f"r{i}",): sum(true[i, j] for j in range(rows + 1)) for i in range(rows)}
    by_column = {(f"c{j:02}",): sum(true[i, j] for i in range(rows)) for j in range(rows + 1)}
    files = [
        write(
            tmp_path / "fine.csv",
            ("r", "c"),
            {(f"r{i}", f"c{j:02}"): "" if (i, j) in stairs else n for (i, j), n in true.items()},
        ),
        write(tmp_path / "rows.csv", ("r",), by_row),
        write(tmp_path / "columns.csv", ("c",), {key: n if n >= K else "" for key, n in by_column.items()}),
    ]
    assert len(of_files(files, K).determined) >= len(hidden)
    monkeypatch.setattr("hubbub.audit.published.ranges._ROUNDS", 3)
    found = of_files(files, K)
    assert found.word == "undecided"
    assert "not decided" in found.why


@pytest.mark.parametrize("text", ["1.234", "12.5", "1e3", "12*", "9" * 5000])
def test_a_number_that_is_no_count_is_not_taken_for_a_mark(tmp_path: Path, text: str) -> None:
    with pytest.raises(WrongUse, match="count"):
        of_files([write(tmp_path / "a.csv", ("town", "sex"), FINE | {("York", "M"): text})], K)


def test_a_count_below_nobody_is_noise_and_is_not_hidden(tmp_path: Path) -> None:
    found = of_files([write(tmp_path / "a.csv", ("town", "sex"), FINE | {("York", "M"): -3})], K)
    assert (found.numbers["hidden"], found.word) == (1, "proved")
    assert any("1 rows have noise" in note for note in found.notes)


def test_a_count_of_so_many_or_more_is_a_range(tmp_path: Path) -> None:
    fine = write(tmp_path / "a.csv", ("town", "sex"), FINE | {("York", "M"): "15+", ("York", "F"): ">=12"})
    coarse = write(tmp_path / "b.csv", ("town",), {("Bath",): 33, ("York",): 27})
    assert [cell.low for cell in of_files([fine, coarse], K).determined] == [3, 12, 15]


def test_noise_says_nothing_for_certain(tmp_path: Path) -> None:
    fine = write(tmp_path / "a.csv", ("town", "sex"), FINE)
    (tmp_path / "b.csv").write_text("town,count,low,high\nBath,34,31,37\nYork,31,28,34\n", encoding="utf-8")
    found = of_files([fine, tmp_path / "b.csv"], K)
    assert found.word == "proved"
    assert any("2 rows have noise" in note for note in found.notes)


def test_a_range_shorter_than_asked_is_found(tmp_path: Path) -> None:
    fine = FINE | {("York", "F"): "", ("York", "M"): ""}
    files = [
        write(tmp_path / "a.csv", ("town", "sex"), fine),
        write(tmp_path / "b.csv", ("town",), {**COARSE, ("York",): 17}),
    ]
    assert len(of_files(files, K).determined) == 1
    found = of_files(files, K, values=2)
    assert sorted((cell.low, cell.high) for cell in found.determined) == [(3, 3), (8, 9), (8, 9)]


def test_hidden_counts_of_any_size(tmp_path: Path) -> None:
    fine = FINE | {("York", "F"): "", ("York", "M"): ""}
    files = [
        write(tmp_path / "a.csv", ("town", "sex"), fine),
        write(tmp_path / "b.csv", ("town",), {**COARSE, ("York",): 18}),
    ]
    assert len(of_files(files, K).determined) == 3  # both are 9
    assert len(of_files(files, K, hidden="any").determined) == 1


def test_tables_that_contradict_each_other_are_said_to(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.csv", ("town", "sex"), FINE),
        write(tmp_path / "b.csv", ("town",), {**COARSE, ("York",): 90}),
    ]
    found = of_files(files, K)
    assert found.word == "undecided"
    assert "no people fit" in found.why


def test_tables_that_are_cut_differently_are_refused(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.csv", ("town", "sex"), FINE),
        write(tmp_path / "b.csv", ("town",), {("Bath",): 33, ("other",): 31}),
    ]
    with pytest.raises(WrongUse, match="other values"):
        of_files(files, K)


@pytest.mark.parametrize(
    "text", ["", "a,count\n", "count\n3\n", "a,a,count\nx,y,3\n", "a,count\nx,3\nx,4\n", "a,b\nx,y\n", "a,count\nx\n"]
)
def test_what_is_no_table_gets_one_sentence(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(WrongUse):
        of_files([tmp_path / "a.csv"], K)


def test_our_own_files_are_read(tmp_path: Path) -> None:
    people = pa.table({"town": ["Bath"] * 33 + ["York"] * 31, "sex": ["F"] * 30 + ["M"] * 3 + ["F"] * 12 + ["M"] * 19})
    for name, by in (("fine", ["town=Bath,York", "sex=F,M"]), ("coarse", ["town=Bath,York"])):
        save_over(enter(people).histogram(by, crowd=K), tmp_path / name)
        (tmp_path / name / "release.csv").rename(tmp_path / f"{name}.csv")
    (cell,) = of_files([tmp_path / "fine.csv", tmp_path / "coarse.csv"], K).determined
    assert (dict(cell.key), cell.low) == ({"town": "Bath", "sex": "M"}, 3)
