"""A release of two tables, end to end: one budget for both, refused before anything is spent, and told in every paper."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hubbub
from hubbub.certificate.certificate import SIGNATURE, sign
from hubbub.cli.main import commands
from hubbub.engines.opening import open_source
from hubbub.errors import HubbubError, Refused
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import SystemSource
from hubbub.tables.bins import parse
from hubbub.tables.contribution import ContributionBounds
from hubbub.tables.engine import CountQuery, MultiRowPolicy
from hubbub.tables.inspection import Partners

PATIENTS = "patient,sex,age\n" + "".join(f"p{i},{'FM'[i % 2]},{i}\n" for i in range(60))
VISITS = "patient,ward,stay\n" + "".join(f"p{i},{'AB'[j % 2]},{j}\n" for i in range(5, 64) for j in range(1 + i % 3))
COUNT: dict[str, Any] = {"by": ["sex=F,M,null"], "rows_per_person": 3, "epsilon": "1"}


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("patients.csv").write_text(PATIENTS)
    Path("visits.csv").write_text(VISITS)
    return tmp_path


def spent(dataset: str) -> int:
    return len(Ledger().account(dataset).spent_releases)


def run(*words: str) -> Any:
    return CliRunner().invoke(commands, words)


# --- one budget -----------------------------------------------------------------------------------------------------


def test_a_join_is_a_release_of_both_tables() -> None:
    """Whichever of them comes first or later, under another name it is refused, and under this one they add up."""
    people = hubbub.open("patients.csv", person="patient").join("visits.csv")
    people.histogram(**COUNT)
    for file in ("patients.csv", "visits.csv"):
        with pytest.raises(Refused, match="released before as 'patients'"):
            hubbub.open(file, person="patient", dataset="others").histogram(["patient=p1"], **_bounds())
    hubbub.open("visits.csv", person="patient", dataset="patients").histogram(["ward=A,B"], **_bounds())
    totals = Ledger().account("patients").totals
    assert totals is not None
    assert str(totals.differential.guarantee) == "2-DP [add/remove]"
    assert spent("patients") == 2


def _bounds() -> dict[str, Any]:
    return {"rows_per_person": 3, "epsilon": "1"}


def test_a_join_of_what_has_two_names_already_is_refused() -> None:
    hubbub.open("patients.csv", person="patient").histogram(["sex=F,M"], epsilon="1")
    others = hubbub.open("visits.csv", person="patient", other_people=True)
    others.histogram(["ward=A,B"], **_bounds())
    with pytest.raises(Refused, match="released before as 'visits'"):
        hubbub.open("patients.csv", join="visits.csv", on="patient").histogram(**COUNT)
    assert (spent("patients"), spent("visits")) == (1, 1)


def test_a_frame_and_a_file_are_not_known_to_be_untouched() -> None:
    """Two releases by one partition are one partition only if nothing changed in between: of a frame nobody knows."""
    frame = pa.table({"patient": [f"p{i}" for i in range(60)], "sex": ["F", "M"] * 30})
    both = hubbub.open(frame, person="patient", dataset="mixed").join("visits.csv")
    assert both.engine.identity().parts
    assert not both.engine.identity().is_known
    files = hubbub.open("patients.csv", person="patient").join("visits.csv")
    assert files.engine.identity().is_known
    assert len(files.engine.identity().parts) == 2


@pytest.mark.parametrize("row", ["p7,F,3\n", ",F,3\n"])
def test_a_person_with_two_rows_in_the_first_table_is_refused_and_nothing_is_spent(row: str) -> None:
    Path("patients.csv").write_text(PATIENTS + row)
    people = hubbub.open("patients.csv", person="patient").join("visits.csv")
    sentences = set()
    releases: tuple[Callable[[], object], ...] = (
        lambda: people.histogram(**COUNT),
        lambda: people.mean("stay:0..9:1", one_row_per_person=True, epsilon="1"),
        lambda: people.count(where="age > 3", any_row=True, epsilon="1"),
        lambda: people.sum("stay:0..9:1", rows_per_person=3, epsilon="1"),
    )
    for release in releases:
        with pytest.raises(Refused) as refused:
            release()
        sentences.add(str(refused.value))
    assert len(sentences) == 1
    assert "p7" not in sentences.pop()
    assert spent("patients") == 0


def test_unreadable_records_of_the_first_table_are_people() -> None:
    """A record with a cell too few is a person who is not there: more than the declared share of them refuse."""
    Path("patients.csv").write_text(PATIENTS + "".join(f"broken{i}\n" for i in range(9)))
    with pytest.raises(Refused, match="cannot be read as declared"):
        hubbub.open("patients.csv", join="visits.csv", on="patient").histogram(**COUNT)
    assert spent("patients") == 0
    done = hubbub.open("patients.csv", join="visits.csv", on="patient", unreadable="0.5").histogram(**COUNT)
    assert len(done) == 3


# --- every table ----------------------------------------------------------------------------------------------------


def test_tables_of_one_database_are_joined_by_their_names(tmp_path: Path) -> None:
    with duckdb.connect("city.duckdb") as connection:
        for name in ("patients", "visits"):
            connection.execute(f"CREATE TABLE {name} AS SELECT * FROM read_csv('{name}.csv')")
    done = hubbub.open("city.duckdb", table="patients", join="visits", on="patient").histogram(**COUNT)
    assert done.reservation is not None
    assert done.reservation.dataset == "city.patients"
    with pytest.raises(Refused, match=r"released before as 'city.patients'"):
        hubbub.open("city.duckdb", table="visits", person="patient").histogram(["ward=A,B"], **_bounds())
    with duckdb.connect("other.duckdb") as connection:
        connection.execute("CREATE TABLE patients AS SELECT * FROM read_csv('patients.csv')")
    both = hubbub.open("other.duckdb", table="patients", join="visits.csv", on="patient", dataset="town")
    assert "ward" in both.engine.columns()


def test_frames_and_files_of_other_kinds_are_joined(tmp_path: Path) -> None:
    frame = pa.table({"patient": [f"p{i}" for i in range(60)], "sex": ["F", "M"] * 30, "ward": ["x"] * 60})
    pq.write_table(pa.table({"patient": ["p1", "p1", "z"], "ward": ["A", "B", "A"]}), "visits.parquet")
    both = hubbub.open(frame, person="patient", dataset="frames").join("visits.parquet", on="patient")
    done = both.count(where='"ward#1" = x', count_rows=True, rows_per_person=2, epsilon="80", accept_weak=True)
    assert done.first()[0]["estimate"] == pytest.approx(2, abs=1)
    assert repr(both) == "<a table with the columns patient, ward#2, sex, ward#1; people by patient>"


TABLES = Path(__file__).resolve().parents[4] / "shared" / "data" / "tables"


@pytest.mark.skipif(not TABLES.exists(), reason="the real tables are not here")
def test_members_of_congress_and_their_terms_join_to_the_table_that_they_were_made_of() -> None:
    """29,120 terms, with the generation of each member: what the whole table counts, the join counts."""
    terms = pq.read_table(TABLES / "congress_terms.parquet")
    members = {row["bioguide_id"]: row for row in terms.select(["bioguide_id", "generation"]).to_pylist()}
    both = hubbub.open(pa.Table.from_pylist(list(members.values())), person="bioguide_id", dataset="members").join(
        terms.select(["bioguide_id", "chamber"])
    )
    by = ["generation=Greatest,Silent,Boomers,Gen X,Millennial,other", "chamber=House,Senate"]
    axes = tuple(map(parse, by))
    bounds = ContributionBounds(rows_per_person=50)
    query = CountQuery(axes=axes, person="bioguide_id", repeats=MultiRowPolicy.BOUNDED, bounds=bounds)
    found = [open_source(terms).count(query, SystemSource()), both.engine.count(query, SystemSource())]
    one, other = (dict(zip(each.codes.tolist(), each.counts.tolist(), strict=True)) for each in found)
    assert one == other
    assert sum(one.values()) == terms.num_rows
    assert both.check(by).partners == Partners("bioguide_id", len(members), 0, 0, 0, 0, 0)


# --- papers ---------------------------------------------------------------------------------------------------------


def test_every_paper_says_that_two_tables_were_joined(tmp_path: Path) -> None:
    done = hubbub.open("patients.csv", person="patient").join("visits.csv").histogram(**COUNT)
    done.save("out")
    said = "two tables were joined by patient"
    assert json.loads(Path("out/certificate.json").read_text())["reading"]["join"] == "patient"
    checked = hubbub.verify("out/certificate.json")
    assert checked.passed
    assert any(said in text for text in checked.not_checked)
    assert said in str(hubbub.explain("out/certificate.json"))
    assert said in str(hubbub.explain(done))
    assert said in Path("out/report.html").read_text().lower()
    assert said not in str(
        hubbub.explain(hubbub.open("patients.csv", person="patient").histogram(["sex=F,other"], epsilon="1"))
    )


def test_a_certificate_joins_by_the_column_of_people_alone(tmp_path: Path) -> None:
    hubbub.open("patients.csv", person="patient").join("visits.csv").histogram(**COUNT).save("out")
    path = Path("out/certificate.json")
    body = json.loads(path.read_text())
    del body[SIGNATURE]
    body["reading"]["join"] = "ward"
    path.write_bytes(sign(body, Ledger()))
    found = hubbub.verify(path)
    assert not found.passed
    assert "how the table was read" in found.checks[-1].what


def test_the_command_releases_a_join_and_check_shows_how_the_tables_meet() -> None:
    how = ("--join", "visits.csv", "--on", "patient")
    joined = ("patients.csv", *how, "--by", "sex=F,M,null")
    found = run("check", *joined)
    assert "60 people by patient; 5 have no row in the second" in found.output
    assert "7 rows of the second table, of 4 people, find no partner" in found.output
    met = json.loads(run("check", *joined, "--json").output)["join"]
    assert (met["people"], met["rows_without"], met["people_without"], met["idle"]) == (60, 7, 4, 5)
    assert "hubbub describe patients.csv --join visits.csv --on patient" in found.output
    assert "hubbub release histogram patients.csv --distinct" in " ".join(found.output.split())
    assert run("describe", "patients.csv", *how).exit_code == 0
    assert run("describe", "patients.csv", *how[:2]).exit_code == 2
    rows = ("--rows-per-person", "3", "--epsilon", "1", "--out", "out")
    done = run("release", "histogram", "patients.csv", *joined[-2:], *rows, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["dataset"] == "patients"
    Path("patients.csv").write_text(PATIENTS + "p1,F,3\n")
    found = run("check", *joined)
    assert found.exit_code == 0
    assert "1 of them have several rows there" in found.output
    assert "could run" not in found.output


# --- wrong uses -----------------------------------------------------------------------------------------------------

OPENED: list[tuple[dict[str, Any], str]] = [
    ({"join": "visits.csv"}, "belong together"),
    ({"on": "patient"}, "belong together"),
    ({"on": "patient", "person": "patient"}, "belong together"),
    ({"join": "visits.csv", "on": "patient", "rows_are_people": True}, "leave out `rows_are_people`"),
    ({"join": "visits.csv", "on": "patient", "person": "sex"}, "leave out `person`, or join by it"),
    ({"join": "visits.csv", "on": "sex"}, "there is no column 'sex'"),
    ({"join": "visits.csv", "on": "ward"}, "there is no column 'ward'"),
    ({"join": "nowhere.csv", "on": "patient"}, "there is no file 'nowhere.csv'"),
    ({"join": "visits.doc", "on": "patient"}, "there is no file"),
    ({"join": 7, "on": "patient"}, "cannot be read as a table"),
    pytest.param(
        {"join": "postgresql://nowhere/x", "on": "patient"},
        "a database holds many tables",
        marks=pytest.mark.skipif(find_spec("psycopg") is None, reason="psycopg is not installed"),
    ),
    ({"join": "visits.csv", "on": "patient", "delimiter": "semicolon"}, "there is no column 'patient'"),
    ({"join": "visits.csv", "on": "patient", "no_header": "patient,b,c", "unreadable": "2"}, "between 0 and 1"),
]


@pytest.mark.parametrize(("words", "sentence"), OPENED)
def test_a_wrong_join_is_one_sentence(words: dict[str, Any], sentence: str) -> None:
    with pytest.raises(HubbubError, match=_plain(sentence)) as found:
        hubbub.open("patients.csv", **words)
    assert "\n" not in str(found.value)
    assert not Ledger().path.exists()


def _plain(sentence: str) -> str:
    return sentence.replace("`", ".?").replace("(", r"\(")


def test_a_join_is_of_two_tables_and_of_people() -> None:
    people = hubbub.open("patients.csv", person="patient")
    with pytest.raises(HubbubError, match="a join is of two tables"):
        people.join("visits.csv").join("visits.csv")
    with pytest.raises(HubbubError, match="open the first with"):
        hubbub.open("patients.csv", rows_are_people=True).join("visits.csv", on="patient")
    with pytest.raises(HubbubError, match="exactly one row for each person"):
        people.join("visits.csv").histogram(["sex=F,M"], epsilon="1")
    with pytest.raises(HubbubError, match="2 columns are called"):
        people.join("patients.csv").histogram(["sex=F,M"], epsilon="1")
    assert spent("patients") == 0
