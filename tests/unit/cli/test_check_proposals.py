"""What ``hubbub check`` proposes can be run: every command, on every real table beside the project, as Parquet and as CSV."""

from __future__ import annotations

import re
import shlex
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner
from pyarrow import parquet

from hubbub.cli.main import commands
from hubbub.tables.schema import is_numbering

_BESIDE = (parent / "shared" / "data" / "tables" for parent in Path(__file__).parents)
FOLDER = next((folder for folder in _BESIDE if folder.is_dir()), None)
TABLES = [] if FOLDER is None else sorted(FOLDER.glob("*.parquet"))
BY_ID = {  # who a row is about, where somebody is
    "baltimore_salaries_2014": "person_id",
    "chicago_salaries_2015": "person_id",
    "congress_terms": "bioguide_id",
    "nba_player_seasons": "player_id",
    "pums_ca_1000": "person_id",
    "stroke": "id",
    "titanic": "passenger_id",
}


def told(*words: str) -> str:
    done = CliRunner().invoke(commands, ["check", *words])
    assert done.exit_code == 0, done.output
    return done.output


def proposals(text: str) -> list[list[str]]:
    """The commands in what check said, ready to be run but for what has to be filled in."""
    found = re.findall(
        r"^(?:You could run|For an average): hubbub (.*?)(?: \(or sum for mean, of values from 0\).*)?$",
        text,
        re.MULTILINE,
    )
    return list(map(shlex.split, found))


def filled(words: list[str], table: pa.Table) -> list[str]:
    """The command with a range of the column's own in the place of LOW..HIGH:STEP; a test is no steward."""
    found = []
    for word in words:
        if "LOW..HIGH:STEP" in word:
            column = word.partition(":LOW")[0].strip('"').replace('""', '"')
            assert not is_numbering(column), "nobody adds up ids"
            numbers = sorted(each for cell in table.column(column).to_pylist() if (each := number(cell)) is not None)
            low, high = numbers[0] // 1 - (numbers[0] < 0), numbers[-1] // 1 + 1
            word = word.replace("LOW..HIGH:STEP", f"{low:f}..{high:f}:1")
        found.append(word)
    return found


def number(cell: Any) -> Decimal | None:
    try:
        read = Decimal(str(cell).replace("$", "").replace(",", ""))
    except InvalidOperation:
        return None
    return read if read.is_finite() else None


def listed(table: pa.Table, column: str) -> str:
    """Bins of all values of a column."""
    values = sorted({str(each) for each in table.column(column).to_pylist() if each is not None})
    return f"{column}={','.join(chr(34) + each + chr(34) for each in values)}"


def without(words: list[str], option: str) -> list[str]:
    at = words.index(option) if option in words else len(words)
    return [*words[:at], *words[at + 2 :]]


def variants(words: list[str], text: str, table: pa.Table) -> list[list[str]]:
    """A command, and what else the sentences below it say can be made of it."""
    found = [words]
    if words[1] == "mean" and ":-" not in words[words.index("--of") + 1]:
        found.append([words[0], "sum", *words[2:]])
    if words[1] == "histogram" and "--delta" in words:
        by = listed(table, words[words.index("--by") + 1])
        found.append([*without(without(words, "--by"), "--delta"), "--by", by])
        if "put --rows-per-person 3 in place of --distinct 3" in text:
            found.append([*without(found[-1], "--distinct"), "--rows-per-person", "3"])
    if weight := re.search("with --weight ([^:]+):0..HIGH:STEP", text):
        words = [words[0], "count", *without(without(words, "--by"), "--delta")[2:]]
        found.append([*words, "--weight", f"{weight[1]}:0..20:1"])
    return found


@pytest.mark.slow
@pytest.mark.skipif(not TABLES, reason="the folder of real tables is not beside the project")
@pytest.mark.parametrize("form", ["parquet", "csv"])
@pytest.mark.parametrize("place", TABLES, ids=lambda place: place.stem)
def test_every_command_that_is_proposed_runs_when_it_is_filled_in(
    place: Path, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table, file = parquet.read_table(place), f"{place.stem}.{form}"
    if form == "csv":
        pa.csv.write_csv(table, file)
    else:
        parquet.write_table(table, file)
    first = told(file)
    person, run = BY_ID.get(place.stem), 0
    if (
        "look again with --rows-are-people. A release" in first
    ):  # some column may hold ids, and nobody said that none does
        assert proposals(first) == []
        first = told(file, "--rows-are-people")
    asked = [first] if person is None else [first, told(file, "--rows-are-people")]
    for words in proposals(first):
        assert ("--rows-are-people" in words) is (person is None)
        assert person is None or words[words.index("--person") + 1] == person
        chosen = words[words.index("--by") + 1] if "--by" in words else None
        of = next((new for old, new in zip(words, filled(words, table), strict=True) if new != old), None)
        asked += [told(file, "--of", of)] if of else []
        asked += [told(file, "--by", listed(table, chosen)), told(file, "--by", chosen)] if chosen else []
    for text in asked:
        for words in proposals(text):
            for each in variants(filled(words, table), text, table):
                each[each.index("--out") + 1] = f"out-{run}"
                done = CliRunner().invoke(commands, [*each, "--ledger", f"ledger-{run}/ledger.db"])
                assert done.exit_code == 0, (each, done.output)
                run += 1
    assert run or "No command is proposed" in first


def visits(folder: Path, ids: list[Any], column: str = "kennung") -> str:
    """A table of visits whose column of ids has no word for them in its name."""
    rows = "".join(f"{each},{'ABC'[n % 3]},{n % 90}\n" for n, each in enumerate(ids))
    (folder / "visits.csv").write_text(f"{column},ward,age\n{rows}")
    return str(folder / "visits.csv")


@pytest.mark.parametrize(
    "ids",
    [
        [n % 600 for n in range(1000)],
        [f"k{n % 999}" for n in range(1000)],  # nearly unique
        [n % 1100 for n in range(9000)],  # about eight rows a person
        [n % 400 for n in range(1000)],
        [n % 300 for n in range(2100)],  # seven rows a person
        [n % 40 for n in range(60)],  # a small clinic
    ],
    ids=["half", "nearly-unique", "many-rows", "some-rows", "seven-rows", "short"],
)
def test_a_column_of_many_values_is_asked_about_whatever_its_name(tmp_path: Path, ids: list[Any]) -> None:
    file = visits(tmp_path, ids)
    said = told(file)
    assert "in several rows: kennung. " in said
    assert proposals(said) == []
    assert proposals(told(file, "--by", "ward=A,B,C")) == []
    confirmed = proposals(told(file, "--rows-are-people"))
    assert ["--rows-are-people" in words for words in confirmed] == [True, True]
    assert not any("kennung" in word for words in confirmed for word in words)
    by_person = told(file, "--person", "kennung")
    assert all("--person" in words for words in proposals(by_person))
    assert "Does one of these columns" not in by_person


@pytest.mark.parametrize(
    "ids",
    [list(range(1000)), [n % 30 for n in range(1000)], [n % 20 for n in range(60)], [n % 80 for n in range(1000)]],
    ids=["unique", "category", "short", "large-category"],
)
def test_ids_of_one_row_each_and_categories_are_not_asked_about(tmp_path: Path, ids: list[Any]) -> None:
    assert proposals(told(visits(tmp_path, ids)))


@pytest.mark.parametrize("column", ["nummer", "ref", "case", "k"])
@pytest.mark.parametrize(
    "ids",
    [
        [n % 400 for n in range(1000)],
        [n % 35 for n in range(40)],
        list(range(60)),
        [f'"1,{n % 400:03d}"' for n in range(1000)],  # read as money is
    ],
    ids=["repeated", "short", "unique", "commas"],
)
def test_no_mean_of_numbers_that_may_number_somebody_is_proposed(tmp_path: Path, column: str, ids: list[Any]) -> None:
    """Nor with another column of people, and with no other number in the table."""
    rows = "".join(f"{each},{'ABC'[n % 3]},{n // 2}\n" for n, each in enumerate(ids))
    (tmp_path / "visits.csv").write_text(f"{column},ward,patient\n{rows}")
    for words in (["--rows-are-people"], ["--person", "patient"]):
        said = told(str(tmp_path / "visits.csv"), *words)
        assert proposals(said)
        assert "For an average" not in said
    (tmp_path / "visits.csv").write_text(f"{column},ward,age\n{rows}")
    assert "--of age:LOW" in told(str(tmp_path / "visits.csv"), "--rows-are-people")


def test_a_release_says_who_a_person_is_whatever_the_names(tmp_path: Path) -> None:
    words = ["release", "histogram", visits(tmp_path, [n % 600 for n in range(1000)]), "--by", "ward=A,B,C"]
    done = CliRunner().invoke(commands, [*words, "--epsilon", "1", "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert "--rows-are-people if each row is another person" in done.output
