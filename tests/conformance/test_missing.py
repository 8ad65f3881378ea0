"""Declared spellings of a missing cell: a table with them counts like the table whose cells are empty, on every engine."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import hubbub
from hubbub.cli.main import commands
from hubbub.engines.opening import inspect, open_source
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.bounded_column import measured
from hubbub.tables.cell_format import Missing
from hubbub.tables.condition import parse as condition
from hubbub.tables.engine import CountQuery, Engine, MultiRowPolicy
from tests.conformance.openers import Opener, every_engine

TOWNS = ("Bath", "NA", "?", " k.A. ", "na", "York", None, "Bath, NA", 'a "b"')
TEXTS = ("10", "NA", "?", "20", "-99", "30", None, "", "15")
AGES = (10, -99, 20, 30, None, 99)
DAYS = (date(2024, 1, 1), date(9999, 12, 31), None, date(2024, 2, 1))
SCHEMA = pa.schema(
    [("who", pa.int64()), ("town", pa.string()), ("text", pa.string()), ("age", pa.int32()), ("day", pa.date32())]
)
ROWS: list[dict[str, Any]] = [
    {
        "who": i // 2,
        "town": TOWNS[i * 5 % 9],
        "text": TEXTS[i * 7 % 9],
        "age": AGES[i * 3 % 7 % 6],
        "day": DAYS[i * 3 % 5 % 4],
    }
    for i in range(300)
]
SPELLED = ("NA,?,k.A.,-99,9999-12-31", 'town="Bath, NA","a ""b"""')


def blank(row: dict[str, Any]) -> dict[str, Any]:
    """The row with its cells missing that are spelled so, in plain Python."""
    texts = {"NA", "?", "k.A.", "-99", "9999-12-31"}
    town = row["town"] in ("Bath, NA", 'a "b"') or (row["town"] or "").strip() in texts
    return row | {
        "town": None if town else row["town"],
        "text": None if row["text"] in texts else row["text"],
        "age": None if row["age"] == -99 else row["age"],
        "day": None if row["day"] == date(9999, 12, 31) else row["day"],
    }


QUERIES = (
    CountQuery(axes=(parse("town"), parse("text:0..50:10,null"))),
    CountQuery(axes=(parse("town=Bath,NA,?,null,other"), parse("age:[-inf,0,20,inf),null,other"))),
    CountQuery(axes=(parse("day:month:2024-01..2024-12,null,other"),)),
    CountQuery(axes=(parse("town=Bath,York"),), where=condition("age is missing or text is missing")),
    CountQuery(axes=(parse("town=Bath,York,null"),), measure=measured("age:-100..100:1")),
    CountQuery(axes=(), measure=measured("text:-100..100:1")),
    CountQuery(axes=(parse("town"),), person="who", repeats=MultiRowPolicy.DISTINCT, most_bins=20),
)


def told(engine: Engine, query: CountQuery) -> object:
    found = engine.count(query, SystemSource())
    keys = [tuple(labels[i] for labels in found.found) for i in range(len(found.counts))]
    sums = found.sums or (0,) * len(found.counts)
    return sorted(zip(found.codes.tolist(), keys, found.counts.tolist(), sums, strict=True), key=repr)


@every_engine
def test_a_declared_spelling_counts_like_an_empty_cell(opened: Opener, tmp_path: Path) -> None:
    (tmp_path / "as").mkdir()
    (tmp_path / "blank").mkdir()
    given = opened(pa.Table.from_pylist(ROWS, schema=SCHEMA), tmp_path / "as")
    spelled = given.with_missing(Missing.parse(SPELLED))
    empty = opened(pa.Table.from_pylist([blank(row) for row in ROWS], schema=SCHEMA), tmp_path / "blank")
    assert spelled.columns() == given.columns()
    for query in QUERIES:
        assert told(spelled, query) == told(empty, query), query
        assert told(given, query) != told(empty, query), query
    axes = (parse("town=Bath,York"), parse("age:0..100:10"))
    kept = CountQuery(axes=axes, person="who", repeats=MultiRowPolicy.ONE_ROW)
    assert spelled.outside(kept) == empty.outside(kept)
    joint = (CountQuery(axes=(parse("town=Bath,null,other"),)), CountQuery(axes=(parse("age:-100..100:50,null"),)))
    assert spelled.joint_count(joint, SystemSource()).counts.sum() == len(ROWS)
    # Nobody's place in the ledger changes, and no theorem about the same partition covers the other reading.
    assert spelled.identity().marks() == given.identity().marks()
    if given.identity().parts:
        assert spelled.identity().content() != given.identity().content()


@every_engine
def test_a_look_names_spellings_and_no_longer_once_they_are_declared(opened: Opener, tmp_path: Path) -> None:
    engine = opened(pa.Table.from_pylist(ROWS, schema=SCHEMA), tmp_path)
    by, person = ["text:0..50:10"], "who"
    look = inspect(engine, by, person)
    assert {text for text, _ in look.columns[0].spelled} == {"NA", "?"}
    assert look.columns[0].missing_option() in ("text=NA,?", "text=?,NA")
    assert any("often means that they are missing" in each for each in look.misses())
    again = inspect(engine.with_missing(Missing.parse("NA,?")), by, person)
    assert not again.columns[0].spelled
    assert again.columns[0].missing == look.columns[0].missing + look.columns[0].unreadable
    whole = {cells.column: cells for cells in inspect(engine, [], None).columns}
    assert whole["text"].reads == "numbers"  # those that look missing do not hide it
    assert {text for text, _ in whole["town"].spelled} == {"NA", "?", "k.A.", "na"}


CSV = "id,town,income\n" + "\n".join(
    f"{i},{('Bath', 'NA', 'York', '?')[i % 4]},{('NA', '100', 'k.A.', '300')[i * 7 % 4]}" for i in range(400)
)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(CSV)
    return tmp_path / "people.csv"


def test_python_the_certificate_and_the_report_say_how_missing_cells_are_spelled(people: Path, tmp_path: Path) -> None:
    table = hubbub.open(people, person="id", missing=["NA,k.A.", "town=?"], ledger=tmp_path / "ledger")
    release = table.histogram(["town=Bath,York,null"], epsilon=20, accept_weak=True)
    rows = {row["town"]: row["count"] for row in release.to_arrow().to_pylist()}
    assert 190 <= rows[None] <= 210
    written = release.save(tmp_path / "out")
    certificate = json.loads(Path(written["certificate"]).read_text())
    shares = {"unreadable": "0.01", "unlisted": "0.01", "clamped": "0.5"}
    assert certificate["reading"] == {**shares, "missing": ["NA,k.A.", "town=?"]}
    sentence = "cells that read so count as missing: NA, k.A. in every column; ? in town"
    assert sentence[1:] in (tmp_path / "out" / "report.html").read_text()
    assert sentence in str(hubbub.explain(written["certificate"]))
    checked = hubbub.verify(written["certificate"], key=Ledger(tmp_path / "ledger").public_key())
    assert checked.complete
    assert any(sentence in each for each in checked.not_checked)


def test_the_command_takes_it_and_a_look_proposes_it(people: Path, tmp_path: Path) -> None:
    def run(*words: str) -> Any:
        return CliRunner().invoke(commands, [*words])

    look = run("check", str(people), "--person", "id", "--by", "income:0..1000:100")
    assert "--missing income=NA,k.A." in look.output or "--missing income=k.A.,NA" in look.output
    assert f"hubbub describe {people} --missing income=" in " ".join(look.output.split())
    release = ["release", "mean", str(people), "--person", "id", "--of", "income:0..1000:1", "--epsilon", "1"]
    where = ["--ledger", str(tmp_path / "l"), "--out", str(tmp_path / "o")]
    refused = run(*release, *where)
    assert refused.exit_code == 3
    assert "--missing" in refused.output
    assert run("describe", str(people), "--missing", "NA,k.A.", "--out", str(tmp_path / "d.json")).exit_code == 0
    assert run(*release, *where, "--dictionary", str(tmp_path / "d.json")).exit_code == 0


def test_another_spelling_makes_another_partition(people: Path, tmp_path: Path) -> None:
    """Two exact tables that differ in who counts as missing would tell how many people the spelling has."""

    def crowds(**how: Any) -> None:
        table = hubbub.open(people, person="id", ledger=tmp_path / "ledger", unlisted="1", **how)
        table.histogram(["town=Bath,York,null"], crowd=20).save(tmp_path / f"o{len(how)}{how.get('missing')}")

    crowds(missing="NA")
    with pytest.raises(Refused):
        crowds()
    with pytest.raises(Refused):
        crowds(missing="NA,?")


WRONG = {
    "nothing": ("", "are listed like"),
    "no text": (7, "are listed like"),
    "an empty one": ("NA,,?", "are listed like"),
    "a mark that is open": ('"NA', "are listed like"),
    "no column before": ("=NA", "are listed like"),
    "two signs of equality": ("a=b=c", "are listed like"),
    "one of many signs": ("x" * 100, "at most 60 signs"),
    "very many": (",".join(map(str, range(101))), "at most 100 spellings"),
    "a sign that does not show": ("N\x00A", "are listed like"),
    "a column that is not there": ("zzz=NA", "no column 'zzz'"),
}


@pytest.mark.parametrize(("given", "sentence"), WRONG.values(), ids=WRONG)
def test_what_cannot_be_a_spelling_is_one_sentence(given: Any, sentence: str, people: Path) -> None:
    with pytest.raises(WrongUse, match=sentence):
        open_source(people, missing=given)


@pytest.mark.parametrize(
    "given", ["NA", "NA,?,k.A.", 'town="a,b","c=d"', '"quoted ""x""",""', '"my, column"=-99', " NA , ? "]
)
def test_spellings_are_written_down_as_they_are_read_back(given: str) -> None:
    declared = Missing.parse(given)
    assert Missing.parse(declared.to_json()) == declared
    assert replace(declared) == Missing.parse([given, given])
