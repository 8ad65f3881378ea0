"""The data dictionary of a release: others read the files with it, and whoever verifies makes it again."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import hubbub
from hubbub.certificate.certificate import SIGNATURE
from hubbub.dictionary.datapackage import find
from hubbub.publication.datapackage import difference, package_bytes
from hubbub.release import save
from hubbub.report.heading import Heading
from hubbub.serialization.published_files import PACKAGE
from hubbub.verification import verify
from tests.fresh import enter

TOWN = pa.table(
    {
        "id": list(range(600)),
        "town": ["Bath", "York", "=1+1"] * 200,
        "age": [n % 90 for n in range(600)],
    }
)
BY = "town=Bath,York,=1+1,null"
ASKED: dict[str, Any] = {
    "histogram": lambda people: people.histogram([BY], epsilon=1),
    "found": lambda people: people.histogram(["town"], crowd=20),
    "mean": lambda people: people.mean("age:0..90:1", [BY], epsilon=1),
    "sum": lambda people: people.sum("age:0..90:1", epsilon=1),
    "cube": lambda people: people.cube([BY, "age:0..90:30"], epsilon=1),
    "records": lambda people: people.records(["town"], crowd=20),
}
TYPES = {"string", "integer", "number", "boolean"}


@pytest.mark.parametrize(("kind", "form"), [*((kind, "csv") for kind in ASKED), ("found", "parquet")])
def test_a_release_has_a_dictionary_that_is_one(tmp_path: Path, kind: str, form: str) -> None:
    paths = save(
        ASKED[kind](enter(TOWN, person="id")), tmp_path, form=form, heading=Heading(labels=(("town", "Home"),))
    )
    package = json.loads(Path(paths["dictionary"]).read_text())
    signed = json.loads((tmp_path / "certificate.json").read_text())["files"]
    assert PACKAGE in signed
    assert "certificate.json" in json.dumps(package["hubbub"])
    assert package["title"]
    assert package["description"]
    for resource in package["resources"]:
        assert re.fullmatch(r"[-a-z0-9._]+", resource["name"])
        assert resource["hash"] == f"sha256:{signed[resource['path']]}"
        assert (tmp_path / resource["path"]).is_file()
        assert {field["type"] for field in resource["schema"]["fields"]} <= TYPES
    assert {field.get("title") for field in package["resources"][0]["schema"]["fields"]} >= (
        {"Home"} if kind != "sum" else {None}
    )
    assert hubbub.verify(tmp_path / "certificate.json").passed
    assert find(tmp_path / f"release.{form}").fields  # and it is a dictionary as we read them


def test_the_frictionless_validator_accepts_it(tmp_path: Path) -> None:
    frictionless = pytest.importorskip("frictionless")
    limit = csv.field_size_limit()
    for kind, ask in ASKED.items():
        save(ask(enter(TOWN, person="id")), tmp_path / kind)
        report = frictionless.validate(str(tmp_path / kind / PACKAGE))
        assert report.valid, report.flatten(["message"])
    csv.field_size_limit(limit)  # which it raises


def test_pandas_polars_and_duckdb_read_the_columns_with_its_types(tmp_path: Path) -> None:
    duckdb, pandas, polars = (pytest.importorskip(name) for name in ("duckdb", "pandas", "polars"))
    save(ASKED["mean"](enter(TOWN, person="id")), tmp_path)
    fields = json.loads((tmp_path / PACKAGE).read_text())["resources"][0]["schema"]["fields"]
    file, types = tmp_path / "release.csv", {field["name"]: field["type"] for field in fields}
    frame = pandas.read_csv(
        file,
        dtype={
            name: {"string": "string", "integer": "Int64", "number": "float64"}[kind] for name, kind in types.items()
        },
    )
    other = polars.read_csv(
        file,
        schema={
            name: {"string": polars.String, "integer": polars.Int64, "number": polars.Float64}[kind]
            for name, kind in types.items()
        },
    )
    columns = {
        name: {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE"}[kind] for name, kind in types.items()
    }
    third = duckdb.sql(f"SELECT * FROM read_csv('{file}', columns = {columns})").fetchall()
    assert len(frame) == len(other) == len(third) == 4
    assert [row["estimate"] for row in other.to_dicts()] == [row[list(types).index("estimate")] for row in third]


def test_whoever_verifies_makes_it_again(tmp_path: Path) -> None:
    save(ASKED["histogram"](enter(TOWN, person="id")), tmp_path)
    checked = verify((tmp_path / "certificate.json").read_bytes(), folder=tmp_path)
    assert f"what {PACKAGE} says" in [check.what for check in checked.checks]
    assert checked.bound is not None
    assert checked.spec is not None
    assert checked.certificate is not None
    sheets = checked.spec.present(checked.spec.load(checked.published(tmp_path))).sheets()
    data = (tmp_path / PACKAGE).read_bytes()
    about = (checked.bound, sheets, checked.certificate["files"], "csv")
    assert difference(data, *about) is None
    assert difference(data.replace(b"2.72 times", b"1.01 times"), *about) == "it says something else than the release"
    assert difference(b"{}\n", *about) == "it is not one that we write"
    assert SIGNATURE not in json.loads(data)


def test_the_numbers_beside_a_mean_are_explained_and_a_file_that_did_not_yet_do_so_still_holds(tmp_path: Path) -> None:
    save(ASKED["mean"](enter(TOWN, person="id")), tmp_path)
    data = (tmp_path / PACKAGE).read_bytes()
    said = {field["name"]: field for field in json.loads(data)["resources"][0]["schema"]["fields"]}
    assert said["part"]["description"].startswith("How far values lie above 0, in steps of 1, added up, with noise; ")
    assert said["whole"]["description"] == "What part would be if every value were 90, with noise."
    assert said["estimate"]["description"].startswith("The mean of age of the people in the table")
    checked = verify((tmp_path / "certificate.json").read_bytes(), folder=tmp_path)
    assert checked.bound is not None
    assert checked.spec is not None
    assert checked.certificate is not None
    sheets = checked.spec.present(checked.spec.load(checked.published(tmp_path))).sheets()
    about = (checked.bound, sheets, checked.certificate["files"], "csv")
    earlier = package_bytes(*about, explained=False)
    assert b"How far values" not in earlier
    assert difference(earlier, *about) is None
    assert difference(data.replace(b"were 90", b"were 80"), *about) == "it says something else than the release"


def test_somebodys_own_dictionary_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / PACKAGE).write_text("mine")
    paths = save(ASKED["histogram"](enter(TOWN, person="id")), tmp_path)
    assert (tmp_path / PACKAGE).read_text() == "mine"
    assert "dictionary" not in paths
    assert PACKAGE not in json.loads((tmp_path / "certificate.json").read_text())["files"]
    assert hubbub.verify(tmp_path / "certificate.json").passed
