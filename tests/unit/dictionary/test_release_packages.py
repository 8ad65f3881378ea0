"""The datapackage.json of every kind of release, held against the rules of Data Package and Table Schema cell by cell,
and its types as pandas, polars, DuckDB and R read them.

The rules are written here anew, so that they hold where the validator of Frictionless is not installed (where it is,
tests/unit/publication/test_datapackage.py asks that one too).
"""

from __future__ import annotations

import csv
import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.release import save
from hubbub.serialization.published_files import PACKAGE
from tests.fresh import enter
from tests.rscript import PAGE, installed

TOWN = pa.table(
    {
        "id": list(range(600)),
        "town": ["Bath", "York", "=1+1"] * 200,
        "age": [n % 90 for n in range(600)],
    }
)
BY, AGE = ["town=Bath,York,=1+1,null"], "age:0..90:1"
DOMAIN = ["town=Bath,York,other", "age:0..90:30"]
ASKED: dict[str, Callable[[Any], Any]] = {
    "histogram": lambda people: people.histogram(BY, epsilon=1),
    "found": lambda people: people.histogram(["town"], crowd=20),
    "count": lambda people: people.count(BY, epsilon=1),
    "fraction": lambda people: people.fraction(BY, where="age > 40", epsilon=1),
    "mean": lambda people: people.mean(AGE, BY, epsilon=1),
    "quantile": lambda people: people.quantile(AGE, BY, epsilon=1),
    "sum": lambda people: people.sum(AGE, BY, epsilon=1),
    "ratio": lambda people: people.ratio(AGE, "id:0..600:1", epsilon=1),
    "std": lambda people: people.std(AGE, BY, epsilon=1),
    "summary": lambda people: people.summary(["people", f"mean {AGE}", f"sum {AGE}"], BY, epsilon=1),
    "cube": lambda people: people.cube([*BY, "age:0..90:30"], epsilon=1),
    "records": lambda people: people.records(["town"], crowd=20),
    "points": lambda people: people.points("age,id", box="0..100,0..700", grid="50,350", crowd=5, epsilon=2),
    "queries": lambda people: people.queries(DOMAIN, "marginals:2", epsilon=1),
    "synthetic": lambda people: people.synthetic(DOMAIN, epsilon=4),
}
FAST = ("found", "summary")
each_kind = pytest.mark.parametrize("kind", [kind if kind in FAST else pytest.param(kind, marks=pytest.mark.slow) for kind in ASKED])  # fmt: skip
LEXICAL = {
    "integer": re.compile(r"[+-]?\d+"),
    "number": re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|NaN|-?INF"),
    "boolean": re.compile(r"true|True|TRUE|1|false|False|FALSE|0"),
    "string": re.compile(r".*", re.DOTALL),
}
"""What a cell of a type may be, by Table Schema without options of its own."""


def faults(folder: Path) -> Iterator[str]:
    """What the rules have against a package."""
    package = json.loads((folder / PACKAGE).read_text(encoding="utf-8"))
    resources = package.get("resources")
    if not isinstance(resources, list) or not resources:
        yield "a package has at least one resource"
        return
    if not re.fullmatch(r"https://\S+", package.get("$schema", "")):
        yield "$schema is the address of a profile"
    if len({each.get("name") for each in resources}) < len(resources):
        yield "names of resources are unique"
    for each in resources:
        yield from (f"{each.get('name')}: {fault}" for fault in _faults(folder, each))


def _faults(folder: Path, resource: dict[str, Any]) -> Iterator[str]:
    if not re.fullmatch(r"[-a-z0-9._/]+", resource["name"]):
        yield "a name is in small letters, digits and -._/"
    path = Path(resource["path"])
    if path.is_absolute() or ".." in path.parts or not (folder / path).is_file():
        yield "a path is one of a file beside the package"
        return
    if resource["hash"] != f"sha256:{sha256((folder / path).read_bytes()).hexdigest()}":
        yield "the hash is that of the file"
    fields = resource["schema"]["fields"]
    if len({field["name"] for field in fields}) < len(fields) or not all(field["name"] for field in fields):
        yield "names of fields are unique, and none is empty"
    if any(field.get("type") not in LEXICAL for field in fields):
        yield "types are those of Table Schema"
        return
    if not all(isinstance(field.get(name, ""), str) for field in fields for name in ("title", "description")):
        yield "titles and descriptions are text"
    with (folder / path).open(encoding=resource["encoding"], newline="") as file:
        rows = csv.reader(file)
        if next(rows) != [field["name"] for field in fields]:
            yield "the fields are the columns of the file, in their order"
        for row in rows:
            if len(row) != len(fields):
                yield "every row has a cell for each field"
            for cell, field in zip(row, fields, strict=False):
                if cell not in resource["schema"]["missingValues"] and not LEXICAL[field["type"]].fullmatch(cell):
                    yield f"a cell of {field['name']} is no {field['type']}"


@each_kind
def test_a_release_keeps_the_rules_of_data_package_and_table_schema(tmp_path: Path, kind: str) -> None:
    save(ASKED[kind](enter(TOWN, person="id")), tmp_path)
    assert list(faults(tmp_path)) == []


def test_the_rules_find_what_breaks_them(tmp_path: Path) -> None:
    save(ASKED["summary"](enter(TOWN, person="id")), tmp_path)
    right = json.loads((tmp_path / PACKAGE).read_text())

    def found(change: Callable[[Any], object]) -> list[str]:
        package = json.loads(json.dumps(right))
        change(package["resources"][0])
        (tmp_path / PACKAGE).write_text(json.dumps(package))
        return list(faults(tmp_path))

    assert found(lambda one: None) == []
    fields = [field["name"] for field in right["resources"][0]["schema"]["fields"]]
    at = fields.index("mean_age")
    assert any(
        "is no integer" in each for each in found(lambda one: one["schema"]["fields"][at].update(type="integer"))
    )
    assert any("in their order" in each for each in found(lambda one: one["schema"]["fields"].reverse()))
    assert any("Table Schema" in each for each in found(lambda one: one["schema"]["fields"][0].update(type="text")))
    assert any("beside the package" in each for each in found(lambda one: one.update(path="../release.csv")))
    assert any("hash" in each for each in found(lambda one: one.update(hash="sha256:00")))


@each_kind
def test_pandas_polars_and_duckdb_have_the_declared_types(tmp_path: Path, kind: str) -> None:
    duckdb, pandas, polars = (pytest.importorskip(name) for name in ("duckdb", "pandas", "polars"))
    save(ASKED[kind](enter(TOWN, person="id")), tmp_path)
    for resource in json.loads((tmp_path / PACKAGE).read_text())["resources"]:
        file, fields = tmp_path / resource["path"], resource["schema"]["fields"]
        types = {field["name"]: field["type"] for field in fields}
        kinds = {"string": "string", "integer": "Int64", "number": "float64"}
        frame = pandas.read_csv(file, dtype={name: kinds[each] for name, each in types.items()})
        assert [str(each).lower().replace("str", "string")[:6] for each in frame.dtypes] == [
            kinds[each].lower()[:6] for each in types.values()
        ]
        known = {"string": polars.String, "integer": polars.Int64, "number": polars.Float64}
        other = polars.read_csv(file, schema={name: known[each] for name, each in types.items()})
        columns = {
            name: {"string": "VARCHAR", "integer": "BIGINT", "number": "DOUBLE"}[each] for name, each in types.items()
        }
        third = duckdb.sql(f"SELECT * FROM read_csv('{file}', columns = {columns}, header = true)")
        assert list(map(str, third.types)) == list(columns.values())
        numbers = [name for name, each in types.items() if each != "string"]
        assert len(frame) == len(other) == len(third.fetchall())
        if numbers:
            ours = [[None if pandas.isna(cell) else cell for cell in row] for row in frame[numbers].to_numpy(object)]
            assert ours == [list(row) for row in other.select(numbers).rows()]
            assert ours == [list(row) for row in third.select(*(f'"{name}"' for name in numbers)).fetchall()]


@pytest.mark.slow
def test_r_has_the_declared_types(tmp_path: Path) -> None:
    if not installed():
        pytest.skip("needs R with reticulate and jsonlite: apt-get install r-cran-reticulate r-cran-jsonlite")
    for kind, ask in ASKED.items():
        save(ask(enter(TOWN, person="id")), tmp_path / kind)
    (block,) = re.findall(r"^```r\n(read_release.*?^})", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    loop = f"""
    for (kind in c({", ".join(f'"{kind}"' for kind in ASKED)})) {{
      package <- jsonlite::read_json(file.path(kind, "datapackage.json"))
      for (resource in package$resources) {{
        frame <- read_release(kind, resource$name)
        fields <- resource$schema$fields
        stopifnot(identical(names(frame), vapply(fields, function(field) field$name, "")))
        text <- vapply(fields, function(field) field$type, "") == "string"
        stopifnot(vapply(frame, class, "") == ifelse(text, "character", "numeric"))
        cat(kind, resource$name, nrow(frame), "\\n")
      }}
    }}
    """
    (tmp_path / "read.R").write_text(f"{block}\n{loop}", encoding="utf-8")
    env = {**os.environ, "HOME": str(tmp_path)}
    done = subprocess.run(
        ["Rscript", "read.R"], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(done.stdout.splitlines()) >= len(ASKED)
