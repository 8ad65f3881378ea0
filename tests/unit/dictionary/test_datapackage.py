"""A data dictionary beside a table: what it declares is what somebody could have typed, and no more."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import hubbub
from hubbub import registry
from hubbub.cli.main import commands
from hubbub.dictionary.datapackage import find
from hubbub.errors import WrongUse
from hubbub.kinds.table import Table

ROWS = [
    f'{n},{"F" if n % 2 else "M"},"${1000 * (n % 40):,}.00",{n % 91 if n % 10 else "NA"},{1 + n % 12:02d}/14/2024,{"yes" if n % 3 else "no"}'
    for n in range(400)
]
FIELDS: list[dict[str, Any]] = [
    {"name": "resident", "type": "integer", "constraints": {"required": True}},
    {"name": "sex", "type": "string", "constraints": {"enum": ["F", "M"], "required": True}},
    {
        "name": "salary",
        "type": "number",
        "title": "Salary in a year",
        "bareNumber": False,
        "groupChar": ",",
        "constraints": {"minimum": 0, "maximum": 40000},
        "hubbub": {"bins": "0..40000:10000", "step": 100},
    },
    {
        "name": "age",
        "type": "integer",
        "constraints": {"minimum": 0, "maximum": 90},
        "hubbub": {"bins": "0..91:13,null"},
    },
    {"name": "hired", "type": "date", "format": "%m/%d/%Y", "hubbub": {"bins": "month:2024-01..2024-12"}},
    {"name": "member", "type": "boolean", "trueValues": ["yes"], "falseValues": ["no"]},
]
HOW = {"crowd": 20}


def package(**more: Any) -> dict[str, Any]:
    schema = {"fields": FIELDS, "missingValues": ["", "NA"], "primaryKey": "resident"}
    resource = {"name": "town", "path": "town.csv", "schema": schema, "hubbub": {"person": "resident"}}
    return {"name": "town", "resources": [resource | more]}


def put(folder: Path, given: Any | None = None) -> Path:
    file = folder / "town.csv"
    file.write_text("\n".join(["resident,sex,salary,age,hired,member", *ROWS]) + "\n")
    text = given if isinstance(given, str) else json.dumps(package() if given is None else given)
    (folder / "datapackage.json").write_text(text)
    return file


def run(*words: str) -> Result:
    return CliRunner().invoke(commands, list(words))


def opened(file: Path, **words: Any) -> Table:
    return hubbub.open(file, ledger=file.parent / "ledger.db", **words)


SAME = [
    ("histogram", {"by": ["sex"], **HOW}, {"by": ["sex=F,M"], **HOW}),
    ("histogram", {"by": ["salary"], "epsilon": 1}, {"by": ["salary:0..40000:10000,money"], "epsilon": 1}),
    ("histogram", {"by": ["age"], "epsilon": 1}, {"by": ["age:0..91:13,null"], "epsilon": 1}),
    ("histogram", {"by": ["age:0..90:10"], **HOW}, {"by": ["age:0..90:10"], **HOW}),
    ("histogram", {"by": ["member"], **HOW}, {"by": ["member:boolean,null"], **HOW}),
    ("cube", {"by": ["sex", "age"], "epsilon": 1}, {"by": ["sex=F,M", "age:0..91:13,null"], "epsilon": 1}),
    ("count", {"by": ["hired"], "epsilon": 1}, {"by": ["hired:month:2024-01..2024-12,date=%m/%d/%Y"], "epsilon": 1}),
    ("mean", {"of": "salary", "epsilon": 1}, {"of": "salary:0..40000:100,money", "epsilon": 1}),
    ("sum", {"of": "age", "by": ["sex"], "epsilon": 1}, {"of": "age:0..90:1", "by": ["sex=F,M"], "epsilon": 1}),
    (
        "ratio",
        {"of": "salary", "per": "age", "epsilon": 1},
        {"of": "salary:0..40000:100,money", "per": "age:0..90:1", "epsilon": 1},
    ),
    (
        "summary",
        {"number": ["people", "pay = mean salary", "sum age", "mean age:0..50:1"], "by": ["sex"], "epsilon": 1},
        {
            "number": ["people", "pay = mean salary:0..40000:100,money", "sum age:0..90:1", "mean age:0..50:1"],
            "by": ["sex=F,M"],
            "epsilon": 1,
        },
    ),
    (
        "queries",
        {"columns": ["sex", "age"], "class": "marginals:2", "epsilon": 1},
        {"columns": ["sex=F,M", "age:0..91:13,null"], "class": "marginals:2", "epsilon": 1},
    ),
]


@pytest.mark.parametrize(("kind", "words", "spelled"), SAME, ids=[f"{kind} {words}" for kind, words, _ in SAME])
def test_a_column_that_is_only_named_has_the_spec_of_its_declared_bins(
    tmp_path: Path, kind: str, words: dict[str, Any], spelled: dict[str, Any]
) -> None:
    people = opened(put(tmp_path))
    asked = people.ask(registry.kind(kind), **words)
    assert asked.to_json() == registry.kind(kind).ask(person="resident", **spelled).to_json()


def test_a_release_by_dictionary_says_in_its_certificate_what_was_declared(tmp_path: Path) -> None:
    (tmp_path / "typed").mkdir()
    file, typed = put(tmp_path), put(tmp_path / "typed")
    done = opened(file, dataset="a").histogram(by=["age"], epsilon=1)
    spelled = opened(
        typed, dictionary="none", person="resident", missing="NA", dataset="b", other_people=True
    ).histogram(by=["age:0..91:13,null"], epsilon=1)
    done.save(tmp_path / "one")
    spelled.save(tmp_path / "two")
    one, two = (json.loads((tmp_path / name / "certificate.json").read_text()) for name in ("one", "two"))
    assert one["release"] == two["release"]
    shares = {"unreadable": "0.01", "unlisted": "0.01", "clamped": "0.5"}
    assert one["reading"] == two["reading"] == {**shares, "missing": ["NA"]}
    assert hubbub.verify(tmp_path / "one" / "certificate.json").passed


def test_titles_are_labels_of_the_report_and_change_no_promise(tmp_path: Path) -> None:
    done = opened(put(tmp_path)).histogram(by=["salary"], epsilon=1)
    done.save(tmp_path / "out")
    assert "Salary in a year" in (tmp_path / "out" / "report.html").read_text()
    renamed = package()
    renamed["resources"][0]["schema"]["fields"][2]["title"] = "Pay"
    (tmp_path / "again").mkdir()
    again = opened(put(tmp_path / "again", renamed)).ask(registry.kind("histogram"), by=["salary"], epsilon=1)
    assert (
        again.to_json()
        == opened(tmp_path / "town.csv").ask(registry.kind("histogram"), by=["salary"], epsilon=1).to_json()
    )


def test_what_was_collected_is_declared_once_and_left_out_where_a_release_draws_a_sample(tmp_path: Path) -> None:
    given = package(hubbub={"person": "resident", "collected": "0.1"})
    people, kind = opened(put(tmp_path, given)), registry.kind("histogram")
    asked = people.ask(kind, by=["sex"], crowd=20)
    assert asked.to_json() == kind.ask(person="resident", by=["sex=F,M"], crowd=20, collected="0.1").to_json()
    sampled = people.ask(kind, by=["sex"], crowd=20, sample="0.5")
    assert sampled.to_json() == kind.ask(person="resident", by=["sex=F,M"], crowd=20, sample="0.5").to_json()


def test_a_primary_key_is_offered_as_the_person_and_never_taken_for_one(tmp_path: Path) -> None:
    file = put(tmp_path, package(hubbub={}))
    with pytest.raises(WrongUse, match="has the key 'resident': is that a person"):
        opened(file)
    assert opened(file, person="resident").person == "resident"


def test_versions_one_and_two_say_the_same(tmp_path: Path) -> None:
    fields = [
        {
            "name": "sex",
            "type": "string",
            "categories": [{"value": "F", "label": "Women"}, {"value": "M", "label": "Men"}],
        },
        {"name": "age", "type": "integer", "missingValues": ["-9", {"value": "-8", "label": "refused"}]},
        {"name": "town", "type": "string"},
    ]
    schema = {"fields": fields, "missingValues": [{"value": "NA", "label": "not asked"}, ""], "primaryKey": ["sex"]}
    (tmp_path / "datapackage.json").write_text(json.dumps({"resources": [{"path": ["people.csv"], "schema": schema}]}))
    found = find(tmp_path / "people.csv")
    assert found.field("sex").bins == "sex=F,M,null"  # type: ignore[union-attr]
    assert found.spellings == ("sex=NA", "age=-9,-8", "town=NA")


def test_a_package_about_other_files_is_left_alone(tmp_path: Path) -> None:
    file = put(tmp_path)
    file.rename(tmp_path / "other.csv")
    assert find(tmp_path / "other.csv").where == ""
    assert find(tmp_path / "other.csv", None, tmp_path / "datapackage.json").person == "resident"  # it has one table
    assert find("postgresql://host/city", "town", tmp_path / "datapackage.json").person == "resident"
    assert find(tmp_path / "town.csv", None, "none").where == ""


WRONG = [
    ("{", "is no JSON file that can be read"),
    ("[]", "is no JSON file that can be read"),
    ('{"resources": 3}', "lists no tables"),
    (package(hubbub={"persn": "resident"}), "and not 'persn'; leave it out"),
    (package(hubbub={"person": "nobody"}), "speaks of the column 'nobody'"),
    (package(hubbub={"person": "resident", "rows_are_people": True}), "say one of the two"),
    (package(hubbub={"person": "resident", "ids": 3}), "the register that they are of"),
    (package(schema={"fields": [{"type": "string"}]}), "has a name; add it"),
    (package(schema={"fields": [{"name": "resident"}, {"name": "resident"}]}), "listed twice"),
    (package(schema={"fields": [{"name": "resident", "type": "number", "decimalChar": "x"}]}), "decimalChar"),
    (
        package(schema={"fields": [{"name": "resident", "hubbub": {"bins": "0..9"}}]}),
        "the bins of resident are written",
    ),
    (package(schema={"fields": [{"name": "resident", "hubbub": {"bins": 7}}]}), "a list of values"),
    (package(schema={"fields": [{"name": "resident", "constraints": {"enum": []}}]}), "is empty"),
    (package(schema={"fields": [{"name": "resident", "constraints": 3}]}), "in braces"),
    (package(schema={"fields": [{"name": "resident"}], "missingValues": "NA"}), "is a list of texts"),
]


@pytest.mark.parametrize(("given", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_a_dictionary_without_a_meaning_is_refused_with_one_sentence(tmp_path: Path, given: Any, sentence: str) -> None:
    file = put(tmp_path, given)
    with pytest.raises(WrongUse, match=sentence) as told:
        opened(file)
    assert "\n" not in str(told.value)


def test_a_dictionary_that_does_not_exist_is_not_called_unreadable(tmp_path: Path) -> None:
    file = put(tmp_path)
    with pytest.raises(WrongUse, match=r"there is no data dictionary .*elsewhere\.json; check its name"):
        opened(file, dictionary=tmp_path / "elsewhere.json")


def test_the_commands_read_the_dictionary_and_say_so(tmp_path: Path) -> None:
    file, ledger = put(tmp_path), str(tmp_path / "ledger.db")
    done = run(
        "release",
        "histogram",
        str(file),
        "--by",
        "salary",
        "--epsilon",
        "1",
        "--out",
        str(tmp_path / "o"),
        "--ledger",
        ledger,
    )
    assert done.exit_code == 0, done.output
    assert f"Note: what is not said here is read from {tmp_path / 'datapackage.json'}." in done.stderr
    asked = json.loads((tmp_path / "o" / "certificate.json").read_text())["release"]
    assert asked == opened(file).ask(registry.kind("histogram"), by=["salary"], epsilon=1).to_json()
    dry = run(
        "release", "mean", str(file), "--of", "salary", "--epsilon", "1", "--dry-run", "--out", "x", "--ledger", ledger
    )
    assert dry.exit_code == 0, dry.output


def test_check_holds_a_table_against_its_dictionary(tmp_path: Path) -> None:
    file = put(tmp_path)
    told = run("check", str(file))
    assert told.exit_code == 0, told.output
    assert "as far as that can be looked at" in told.stdout
    file.write_text(
        "resident,sex,salary,age,hired,color\n1,F,$5.00,91,03/14/2024,x\n1,X,lots,NA,2024-03-14,y\n,M,$9.00,3,01/02/2024,z\n"
    )
    told = run("check", str(file))
    assert told.exit_code == 0, told.output
    for sentence in (
        "The dictionary lists member, and the table has no such column.",
        "The table has color, and the dictionary does not list it.",
        "resident: 1 cell is missing, and the dictionary says that none is.",
        "sex: 1 cell is none of the values that the dictionary allows.",
        "salary: 1 cell is not written as the dictionary says.",
        "age: 1 cell is none of the values that the dictionary allows.",
        "hired: 1 cell is not written as the dictionary says.",
        "resident: each row should have its own, and 1 are in several rows.",
    ):
        assert sentence in told.stdout
    assert json.loads(run("check", str(file), "--json").stdout)["broken"]


def test_describe_writes_names_and_types_and_no_value_of_the_data(tmp_path: Path) -> None:
    file = put(tmp_path)
    (tmp_path / "datapackage.json").unlink()
    told = run("describe", str(file))
    assert told.exit_code == 0, told.output
    text = (tmp_path / "datapackage.json").read_text()
    assert [each["name"] for each in json.loads(text)["resources"][0]["schema"]["fields"]] == [
        each["name"] for each in FIELDS
    ]
    assert not any(cell in text for cell in ("$1,000", 'NA"', "03/14", "yes"))
    file.write_text("resident,sex,salary,age,hired,member\n")
    other = tmp_path / "empty.json"
    assert run("describe", str(file), "--out", str(other)).exit_code == 0
    assert other.read_text() == text  # it is a function of names and types
    again = run("describe", str(file))
    assert (again.exit_code, "describes this table already" in again.stderr) == (2, True)
    assert (tmp_path / "datapackage.json").read_text() == text
    assert opened(file, person="resident").person == "resident"  # its questions are no declarations


def test_values_that_are_declared_public_are_listed(tmp_path: Path) -> None:
    file = put(tmp_path)
    (tmp_path / "datapackage.json").unlink()
    assert run("describe", str(file), "--public", "sex").exit_code == 0
    assert find(file).field("sex").bins == "sex=F,M,null"  # type: ignore[union-attr]
    assert run("describe", str(file), "--public", "color", "--out", "never.json").exit_code == 2


SAID = (
    "--person", "resident", "--missing", "NA", "--missing", "salary=-1,?", "--unlisted", "0.2", "--ids-of", "register",
    "--collected-between", "0.1", "0.2", "--exempt", "3", "--disjoint", "2026-01",
)  # fmt: skip


def test_what_is_said_once_is_read_by_every_release_and_can_be_said_again(tmp_path: Path) -> None:
    file = put(tmp_path)
    place = tmp_path / "datapackage.json"
    place.unlink()
    assert run("describe", str(file), *SAID).exit_code == 0
    found = find(file)
    assert found.person == "resident"
    assert dict(found.opening) == {"unlisted": "0.2", "ids_of": "register", "disjoint": "2026-01"}
    assert dict(found.collected) == {"collected_between": ("0.1", "0.2"), "exempt": "3"}
    assert [each for each in found.spellings if each.startswith("salary=")] == ["salary=-1,?"]
    before = json.loads(place.read_text())
    assert run("describe", str(file), "--unlisted", "0.5", "--rows-are-people").exit_code == 0
    after = json.loads(place.read_text())
    own = before["resources"][0]["hubbub"]
    del own["person"]
    own |= {"unlisted": "0.5", "rows_are_people": True}
    assert after == before, "and the rest stays as it was"


def test_another_table_of_the_folder_is_described_beside_the_first(tmp_path: Path) -> None:
    file = put(tmp_path)
    other = tmp_path / "other.csv"
    other.write_text("id;town\n1;Bath\n")
    assert run("describe", str(other), "--delimiter", "semicolon", "--person", "id").exit_code == 0
    assert (find(file).person, find(other).person) == ("resident", "id")
    assert find(other).say("delimiter") == ";"
    written = json.loads((tmp_path / "datapackage.json").read_text())
    assert written["resources"][0] == package()["resources"][0]
    headless = tmp_path / "headless.csv"
    headless.write_text("1,Bath\n2,York\n")
    assert run("describe", str(headless), "--no-header", "id,town").exit_code == 0
    assert opened(headless, person="id").engine.columns().keys() == {"id", "town"}


def test_nothing_is_written_that_no_table_could_be_opened_by(tmp_path: Path) -> None:
    file = put(tmp_path)
    text = (tmp_path / "datapackage.json").read_text()
    for words in (
        ("--unreadable", "2"),
        ("--missing", "town=NA"),
        ("--collected", "1.5"),
        ("--exempt", "1"),
        ("--delimiter", "::"),
        ("--person", "nobody"),
        ("--ids-of", "a", "--other-people"),
        ("--join", "nowhere.csv", "--on", "resident"),
        ("--public", "sex"),
    ):
        assert run("describe", str(file), *words).exit_code == 2, words
    assert (tmp_path / "datapackage.json").read_text() == text
    assert sorted(each.name for each in tmp_path.iterdir()) == ["datapackage.json", "town.csv"]
    (tmp_path / "certificate.json").write_text("{}")
    assert "holds a release" in run("describe", str(file), "--missing", "NA").stderr


def test_two_tables_of_one_package_are_joined_by_their_foreign_key(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text(
        "patient,sex\n" + "".join(f"{n},{'F' if n % 2 else 'M'}\n" for n in range(40))
    )
    (tmp_path / "visits.csv").write_text(
        "patient,ward\n" + "".join(f"{n % 40},{'A' if n % 3 else 'B'}\n" for n in range(90))
    )
    sex = {"name": "sex", "type": "string", "constraints": {"enum": ["F", "M"], "required": True}}
    ward = {"name": "ward", "type": "string", "constraints": {"enum": ["A", "B"], "required": True}}
    who = {"name": "patient", "type": "integer"}
    key = [{"fields": "patient", "reference": {"resource": "patients", "fields": "patient"}}]
    patients = {
        "name": "patients",
        "path": "patients.csv",
        "schema": {"fields": [who, sex]},
        "hubbub": {"person": "patient"},
    }
    visits = {"name": "visits", "path": "visits.csv", "schema": {"fields": [who, ward], "foreignKeys": key}}
    (tmp_path / "datapackage.json").write_text(json.dumps({"resources": [patients, visits]}))
    both = opened(tmp_path / "patients.csv", join=str(tmp_path / "visits.csv"))
    asked = both.ask(registry.kind("histogram"), by=["sex", "ward"], epsilon=1, rows_per_person=3)
    assert both.person == "patient"
    spelled = registry.kind("histogram").ask(person="patient", by=["sex=F,M", "ward=A,B"], epsilon=1, rows_per_person=3)
    assert asked.to_json() == spelled.to_json()


def test_ids_are_of_a_register_or_of_this_table_alone(tmp_path: Path) -> None:
    for ids, said in (("table", {"other_people": True}), ("tax-office", {"ids_of": "tax-office"})):
        (tmp_path / ids).mkdir()
        found = find(put(tmp_path / ids, package(hubbub={"person": "resident", "ids": ids})))
        assert dict(found.opening) == said
        assert found.open_words({"ids_of": "mine"})["ids_of"] == "mine"


@pytest.mark.parametrize(
    ("ids", "words", "whose"),
    [
        ("census", {}, {"other_people": False, "ids_of": "census"}),
        ("table", {}, {"other_people": True, "ids_of": None}),
        ("census", {"ids_of": "register"}, {"other_people": False, "ids_of": "register"}),
    ],
)
def test_a_series_compares_the_ids_that_the_dictionary_declares(
    tmp_path: Path, ids: str, words: dict[str, Any], whose: dict[str, Any]
) -> None:
    file = put(tmp_path, package(hubbub={"person": "resident", "ids": ids}))
    assert opened(file, **words).ids() == whose
