"""Weak promises: what they are, from the spec alone, and that no front door lets one through unconfirmed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result
from pyarrow import parquet

import hubbub
from hubbub import series
from hubbub.cli.main import commands
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import read
from hubbub.guarantees.people import People
from hubbub.kinds.cube.request import cube
from hubbub.kinds.graph.request import statistics
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.queries.request import queries
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.bound import Bound
from hubbub.protocol.spec import Spec
from hubbub.protocol.weakness import LARGEST_DELTA, check_accepted, weaknesses
from hubbub.protocol.weakness import sentence as weak_sentence
from hubbub.tables.schema import ColumnType, Schema, unnamed_person
from tests.unit.shared.statistics import statistic

BINS = ["a=x,y"]


def asked(**words: Any) -> Spec:
    return histogram(words.pop("by", BINS), **words)


STRONG: list[dict[str, Any]] = [
    {"epsilon": 5},
    {"epsilon": 1, "delta": "1e-5", "by": ["a"]},
    {"crowd": 5},
    {"crowd": 20, "sample": "0.2"},
    {"crowd": 20, "epsilon": 5},
    {"outlier": "1:0.01,101:1"},
    {"outlier": "1:0.01,101:inf"},  # crowds of 101 are meant to be seen
    {"outlier": "1:5,5:50"},
    {"epsilon": 6, "sample": "0.1"},  # what is promised is 3.7
    {"channel": "simple-suppressed", "options": {"k": 10}},
]

WEAK: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": "5.0000001"}, "epsilon = 5.01 is above 5"),
    ({"epsilon": 50}, "epsilon = 50 is above 5"),
    ({"epsilon": 10, "delta": "1e-6", "by": ["a"]}, "epsilon = 10 is above 5"),
    ({"epsilon": 1, "delta": "0.5", "by": ["a"]}, "delta = 0.269 is above 1 in 100,000"),
    ({"epsilon": 1, "delta": "1e-3", "by": ["a"]}, "is above 1 in 100,000"),
    ({"crowd": 4}, "a crowd of 4 is below 5"),
    ({"crowd": 2, "epsilon": 1}, "a crowd of 2 is below 5"),
    ({"crowd": 20, "epsilon": 6}, "epsilon = 6 is above 5"),
    ({"outlier": "8"}, "epsilon = 8 is above 5"),
    ({"outlier": "1:6,101:7"}, "people in a crowd of 4 lose epsilon = 6"),
    ({"outlier": "1:0.1,4:inf"}, "people in a crowd of 4 may be shown exactly"),
    ({"channel": "simple-suppressed", "options": {"k": 3}}, "people in a crowd of 4 may be shown exactly"),
    ({"outlier": "1:0.5,100:1,200:0.2"}, "the curve falls somewhere and is flattened to 0.2"),
    ({"crowd": 20, "sample": "0.2", "at_delta": "1e-3"}, "delta = 0.001 is above 1 in 100,000"),
    ({"crowd": 20, "collected": "0.5", "at_delta": "0.5"}, "for those the table was drawn from, delta = 0.5 is above"),
    ({"crowd": 20, "collected_between": ("0.1", "0.5"), "at_delta": "0.5"}, "drawn from, delta = 0.5 is above"),
]


@pytest.mark.parametrize("words", STRONG, ids=str)
def test_a_usual_promise_is_not_weak(words: dict[str, Any]) -> None:
    spec = asked(**words)
    assert weaknesses(Bound(spec)) == ()
    check_accepted(Bound(spec), accept_weak=False)


@pytest.mark.parametrize(("words", "says"), WEAK, ids=str)
def test_a_weak_promise_is_told_in_a_few_digits_and_refused_unless_accepted(words: dict[str, Any], says: str) -> None:
    spec = asked(**words)
    (found,) = weaknesses(Bound(spec))
    assert says in found
    assert not re.search(r"\d{7}|\d/\d", found.replace(",", "")), "no long number and no fraction"
    with pytest.raises(WrongUse, match=re.escape(found)):
        check_accepted(Bound(spec), accept_weak=False)
    check_accepted(Bound(spec), accept_weak=True)


def test_where_people_are_declared_delta_is_measured_by_them_and_crowds_too() -> None:
    def knowing(people: int | None, **words: Any) -> Any:
        promises = histogram(["a"], **words).promises
        known = {"enforced_number": people, "lowered_to": None, "shows_nothing": None, "people": People()}
        return SimpleNamespace(promises=promises, **known)

    found = {"epsilon": 1, "delta": "1e-6"}
    delta = histogram(["a"], **found).promises()[0].conclusion.delta  # type: ignore[union-attr]
    assert delta <= LARGEST_DELTA
    assert weaknesses(Bound(knowing(int(1 / delta), **found))) == ()
    (said,) = weaknesses(Bound(knowing(int(1 / delta) + 1, **found)))
    assert "people declared" in said
    large = {"epsilon": 1, "delta": "1e-2"}
    (said,) = weaknesses(Bound(knowing(10, **large)))  # one in ten is no small chance because there are ten people
    assert "is above 1 in 100,000" in said
    assert weaknesses(Bound(knowing(20, crowd=20))) == ()
    (said,) = weaknesses(Bound(knowing(19, crowd=20)))
    assert said == "a crowd of 20 is above the 19 people declared, so nothing could be shown"


def test_every_kind_that_declares_its_people_says_so() -> None:
    mean = statistic("mean", of="s:0..10:1", zero_knowledge="0.5", rows=100, people=1000)
    assert mean.enforced_number == 1000
    assert statistic("mean", of="s:0..10:1", epsilon=1).enforced_number is None
    assert queries(BINS, "marginals:1", epsilon=1, people=70, method="histogram").enforced_number == 70
    graph = statistics(["edges"], vertices=60, max_degree=4, samples=20, epsilon=1)
    assert graph.enforced_number == 60
    assert asked(epsilon=1).enforced_number is None
    assert asked(outlier="1:0.5,100:1,200:0.2").lowered_to == read("0.2").curve


def test_other_kinds_are_judged_by_the_same_measure() -> None:
    assert weaknesses(Bound(statistic("mean", of="s:0..10:1", epsilon=9)))
    assert weaknesses(Bound(statistic("mean", of="s:0..10:1", zero_knowledge=6, rows=100, people=1000)))
    assert weaknesses(Bound(statistic("count", by=BINS, crowd=3)))
    assert not weaknesses(Bound(statistic("mean", of="s:0..10:1", zero_knowledge=5, rows=100, people=1000)))
    assert weaknesses(Bound(statistics(["edges"], vertices=60, max_degree=4, samples=20, epsilon=7)))
    schema = hubbub.open(pa.table({"a": ["x"], "b": ["p"]}), rows_are_people=True).engine.columns()
    assert weaknesses(Bound(cube(["a=x,y", "b=p,q"], margins="1", epsilon=6).with_schema(schema)))


def test_several_weaknesses_are_one_sentence() -> None:
    found = weaknesses(Bound(asked(crowd=3, epsilon=Fraction(100, 3))))
    assert len(found) == 2
    assert weak_sentence(found).startswith("this promises little: epsilon = 33.4 is above 5")


# --- the front doors ----------------------------------------------------------------------------------------------

PEOPLE = pa.table({"id": list(range(60)), "town": ["Bath", "York"] * 30, "age": [40] * 60})
TOWNS = ["town=Bath,York"]


def spent() -> int:
    account = Ledger().accounts().get("town")
    return 0 if account is None else len(account.records)


def test_python_refuses_a_weak_promise_and_spends_nothing() -> None:
    table = hubbub.open(PEOPLE, person="id", dataset="town")
    calls: list[Any] = [
        lambda **more: table.histogram(TOWNS, epsilon=50, **more),
        lambda **more: table.count(TOWNS, epsilon=50, **more),
        lambda **more: table.fraction(TOWNS, where="age > 3", epsilon=50, **more),
        lambda **more: table.mean("age:0..100:1", epsilon=50, **more),
        lambda **more: table.quantile("age:0..100:1", epsilon=20, **more),
        lambda **more: table.cube([*TOWNS, "age:0..100:50"], margins="1", epsilon=50, **more),
        lambda **more: table.queries(TOWNS, "marginals:1", epsilon=50, method="histogram", **more),
    ]
    for call in calls:
        with pytest.raises(WrongUse, match=r"this promises little: epsilon = .* accept_weak=True"):
            call()
    for name in (["town", "age:10"], ["town"]):
        with pytest.raises(WrongUse, match="a crowd of 3 is below 5"):
            table.records(name, crowd=3)
    with pytest.raises(WrongUse, match="a crowd of 3 is below 5"):
        table.points(["age", "id"], grid=[10, 10], box=[(0, 100), (0, 100)], crowd=3, epsilon=1)
    assert spent() == 0
    for done, call in enumerate(calls, 1):
        call(accept_weak=True)
        assert spent() == done


def test_a_block_of_questions_and_a_mechanism_of_ones_own_are_refused_too() -> None:
    table = hubbub.open(PEOPLE, person="id", dataset="town")
    refused = pytest.raises(WrongUse, match="this promises little")
    with refused, table.sample(rows=50, people=60, zero_knowledge=9) as people:
        people.count("old", where="age > 3")
    own = hubbub.sample_and_sanitize(len, rows=50, people=60, columns="age", epsilon=9, neighbours="replace")
    with pytest.raises(WrongUse, match="this promises little"):
        own(table)
    assert spent() == 0
    with table.sample(rows=50, people=60, zero_knowledge=9, accept_weak=True) as people:
        people.count("old", where="age > 3")
    assert own(table, accept_weak=True).value == 50
    assert spent() == 2


def test_a_network_is_refused_too() -> None:
    ring = pa.table({"a": list(range(20)), "b": [(i + 1) % 20 for i in range(20)]})
    network = hubbub.open_graph(ring, dataset="town")
    words: dict[str, Any] = {"vertices": 20, "max_degree": 4, "samples": 5, "epsilon": 8}
    with pytest.raises(WrongUse, match="this promises little"):
        network.statistics(["edges"], **words)
    assert spent() == 0
    network.statistics(["edges"], **words, accept_weak=True)
    assert spent() == 1


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "town.csv"
    place.write_text("id,town\n" + "".join(f"{i},{'Bath' if i % 2 else 'York'}\n" for i in range(60)))
    return place


def run(file: Path, *words: str, kind: str = "histogram", **more: Any) -> Result:
    given = ["release", kind, str(file), "--person", "id", *words, "--out", str(file.parent / "out")]
    return CliRunner().invoke(commands, given, **more)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--epsilon", "50"], "epsilon = 50 is above 5"),
        (["--crowd", "3"], "a crowd of 3 is below 5"),
        (["--outlier", "1:0.5,100:1,200:0.2"], "flattened to 0.2"),
    ],
)
def test_a_command_says_it_before_anything_is_spent_and_wants_yes(words: list[str], says: str, file: Path) -> None:
    refused = run(file, "--by", "town=Bath,York", *words)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert says in refused.stderr
    assert "--yes" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert spent() == 0
    assert not (file.parent / "out").exists(), "not even a folder was made"
    done = run(file, "--by", "town=Bath,York", *words, "--yes", "--json")
    assert done.exit_code == 0, done.output
    assert says in done.stderr
    assert spent() == 1


@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 2), (b"y\n", 0)])
def test_on_a_terminal_somebody_is_asked(answer: bytes, code: int, file: Path) -> None:
    out = file.parent / "out"
    words = ["release", "histogram", str(file), "--person", "id", "--by", "town=Bath,York", "--epsilon", "50"]
    mine, theirs = os.openpty()
    call = [sys.executable, "-c", "from hubbub.cli.main import main; main()", *words, "--out", str(out)]
    with subprocess.Popen(call, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        seen = b""
        while b"[y/N]" not in seen:
            seen += os.read(mine, 4096)
        assert not out.exists(), "nothing was made before it was asked"
        os.write(mine, answer)
        assert process.wait(60) == code
    os.close(mine)
    assert "This promises little: epsilon = 50 is above 5" in " ".join(seen.decode().split())
    assert out.exists() == (code == 0)
    assert spent() == (code == 0)


def test_a_usual_command_says_nothing_of_it(file: Path) -> None:
    done = run(file, "--by", "town=Bath,York", "--epsilon", "1", "--json")
    assert (done.exit_code, done.stderr) == (0, "")


def test_ballots_too(tmp_path: Path) -> None:
    record, out = tmp_path / "count.json", tmp_path / "ballots"
    CliRunner().invoke(commands, ["vote", "tally", "millbrook", "--as", "oakland", "--record", str(record)])
    words = ["vote", "publish", "millbrook", "--official", str(record), "--full-count", "--k", "3", "--out", str(out)]
    refused = CliRunner().invoke(commands, words)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "a crowd of 3 is below 5" in refused.stderr
    assert not out.exists()
    assert CliRunner().invoke(commands, [*words, "--yes"]).exit_code == 0


def test_a_series_of_strong_releases_says_when_all_of_them_together_are_weak(tmp_path: Path) -> None:
    table = tmp_path / "town.csv"
    table.write_text("id,town\n" + "".join(f"p{i},Bath\n" for i in range(30)))
    words = ["release", "histogram", str(table), "--person", "id", "--by", "town=Bath,York", "--epsilon", "3"]
    said = []
    for number in range(3):
        out = ["--out", str(tmp_path / f"{number}"), "--ledger", str(tmp_path / "own.db"), "--json"]
        done = CliRunner().invoke(commands, [*words, *out])
        assert done.exit_code == 0, done.stderr
        said.append("together promise little" in done.stderr)
        assert "together" not in done.stdout
    assert said == [False, True, True]
    assert "epsilon = 9 is above 5" in done.stderr


@pytest.mark.parametrize(
    ("words", "weak"), [(["--epsilon", "50"], True), (["--epsilon", "1"], False)], ids=["weak", "strong"]
)
def test_a_plan_says_that_its_release_has_to_be_confirmed(words: list[str], weak: bool) -> None:
    asked = ["plan", "--people", "600", "--by", "town=Bath,York", "--want", "differential", *words]
    told = " ".join(CliRunner().invoke(commands, asked).stdout.split())
    assert ("This promises little: epsilon = 50 is above 5" in told) is weak
    assert ("asks you to confirm it" in told) is weak


# --- rows that may not be people ------------------------------------------------------------------------------------

VISITS = pa.table({"Patient_ID": [n // 2 for n in range(60)], "town": ["Bath", "York"] * 30})


@pytest.mark.parametrize(
    ("name", "speaks"),
    [
        ("patient_id", True), ("PatientID", True), ("patientid", True), ("Employee No.", True), ("Email Address", True),
        ("user", True), ("members", False), ("passengers", False), ("PlayerId", True), ("empno", True), ("kundennummer", True), ("e-mail", True), ("customer#2", True),
        ("subject_id", True), ("subject", False), ("people", False), ("member since", False), ("email_opt_in", False),
        ("user_type", False), ("id", True), ("visit_id", False), ("patient_nbr", True), ("nhs_number", True), ("NHSNumber", True),
        ("nr", True), ("pseudonym", True), ("mrn", True), ("customers_id", True), ("medical record no", True), ("ip_address", True),
        ("house_number", False), ("number_of_rooms", False), ("num_patients", False), ("patients_number", False), ("row_id", False),
        ("tax_code", False), ("device name", False), ("ID12345", False), ("No 7", False), ("patient 4711", False), ("id#2", True),
        ("encounter_id", False), ("town", False), ("paid", False), ("personality", False),
        ("", False), ("#2", False),
    ],
)  # fmt: skip
def test_names_of_columns_that_speak_of_a_person(name: str, speaks: bool) -> None:
    assert unnamed_person(Schema({"age": ColumnType.INTEGER, name: ColumnType.TEXT})) == (name if speaks else None)
    assert unnamed_person(Schema({name: ColumnType.BOOLEAN})) is None, "yes or no is nobody's name"


def test_rows_of_a_table_with_a_column_of_people_are_confirmed_before_they_are_people(tmp_path: Path) -> None:
    table = hubbub.open(VISITS, rows_are_people=True, dataset="town")
    with pytest.raises(WrongUse, match=r"'Patient_ID' may say who a row is about.*name that column with person, or"):
        table.histogram(TOWNS, epsilon=1)
    assert spent() == 0
    done = table.histogram(TOWNS, epsilon=1, accept_weak=True)
    done.save(tmp_path / "out")
    assert "although the table has a column Patient_ID" in hubbub.explain(tmp_path / "out" / "certificate.json").text
    assert hubbub.verify(tmp_path / "out" / "certificate.json").passed
    hubbub.open(VISITS, person="Patient_ID", dataset="by-person").histogram(TOWNS, epsilon=1, distinct=2)


def test_the_command_asks_whether_rows_are_people(tmp_path: Path) -> None:
    parquet.write_table(VISITS, tmp_path / "town.parquet")
    words = ["release", "histogram", str(tmp_path / "town.parquet"), "--rows-are-people", "--by", TOWNS[0]]
    words += ["--epsilon", "1", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(commands, words)
    assert (done.exit_code, spent()) == (2, 0)
    assert done.stderr.endswith("; name that column with --person, or confirm this one with --yes\n")
    told = CliRunner().invoke(commands, [*words, "--dry-run", "--json"])
    assert ["Patient_ID" in clause for clause in json.loads(told.stdout)["weak"]] == [True]
    done = CliRunner().invoke(commands, [*words, "--yes"])
    assert (done.exit_code, spent()) == (0, 1), done.stderr
    assert "Patient_ID" in (tmp_path / "out" / "report.html").read_text()


def test_a_period_of_a_series_asks_whether_rows_are_people(tmp_path: Path) -> None:
    parquet.write_table(VISITS, tmp_path / "calls.parquet")
    start = ["series", "start", "calls", str(tmp_path / "calls.parquet"), "--kind", "count", "--rows-are-people"]
    start += ["--periods", "3", "--first", "2026-01", "--epsilon", "1"]
    asked = CliRunner().invoke(commands, start)
    assert asked.exit_code == 2
    assert "Patient_ID" in asked.stderr
    assert CliRunner().invoke(commands, [*start, "--yes"]).exit_code == 0
    words = ["series", "publish", "calls", "2026-01", str(tmp_path / "calls.parquet")]
    words += ["--out", str(tmp_path / "out")]
    done = CliRunner().invoke(commands, words)
    assert done.exit_code == 2
    assert "Patient_ID" in done.stderr
    engine = hubbub.open(VISITS, rows_are_people=True, dataset="calls").engine
    with pytest.raises(WrongUse, match="Patient_ID"):
        series.release(engine, "calls", "2026-01")
    assert CliRunner().invoke(commands, [*words, "--yes"]).exit_code == 0
    assert json.loads((tmp_path / "out" / "certificate.json").read_text())["reading"]["unnamed_person"]


@pytest.mark.parametrize(
    "name",
    [
        "patient_nbr",
        "nhs_number",
        "hospital_number",
        "id",
        "id_num",
        "ident",
        "codice_fiscale",
        "SEQN",
        "dni",
        "panelid",
        "MembershipNumber",
    ],
)
def test_an_id_by_any_name_is_asked_about_wherever_a_release_is_asked_for(tmp_path: Path, name: str) -> None:
    table = VISITS.rename_columns([name, "town"])
    parquet.write_table(table, tmp_path / "town.parquet")
    query = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS (epsilon = 1, rows_are_people = TRUE) COUNT(*) FROM town"
    plan = f"""ledger = "ledger.db"
[datasets.town]
file = "town.parquet"
rows_are_people = true
[[release]]
name = "people"
kind = "histogram"
by = ["{TOWNS[0]}"]
epsilon = 1
"""
    (tmp_path / "hubbub.toml").write_text(plan)
    for words in (
        ["sql", query, "--data", str(tmp_path / "town.parquet"), "--out", str(tmp_path / "out")],
        ["run", str(tmp_path / "hubbub.toml")],
    ):
        done = CliRunner().invoke(commands, words)
        assert done.exit_code == 2
        assert f"{name!r} may say who a row is about" in done.output
    with pytest.raises(WrongUse, match="may say who a row is about"):
        hubbub.open(table, rows_are_people=True, dataset="town").histogram(TOWNS, epsilon=1)
    assert spent() == 0


def test_a_data_dictionary_that_says_so_is_asked_no_more(tmp_path: Path) -> None:
    parquet.write_table(VISITS, tmp_path / "town.parquet")
    own = {"name": "town", "path": "town.parquet", "hubbub": {"rows_are_people": True}}
    own["schema"] = {"fields": [{"name": "Patient_ID", "type": "integer"}, {"name": "town"}]}
    (tmp_path / "datapackage.json").write_text(json.dumps({"resources": [own]}))
    done = hubbub.open(tmp_path / "town.parquet").histogram(TOWNS, epsilon=1)
    assert done.reading["unnamed_person"] == "Patient_ID", "a reader is told all the same"
    words = ["release", "histogram", str(tmp_path / "town.parquet"), "--by", TOWNS[0], "--epsilon", "1"]
    assert CliRunner().invoke(commands, [*words, "--out", str(tmp_path / "out")]).exit_code == 0
