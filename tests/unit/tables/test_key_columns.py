"""What a verifier finds wrong with the columns and bins of a published file: nothing, or every planted difference."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from hubbub.kinds.histogram.spec import Histogram
from hubbub.release import save
from hubbub.serialization.csv_safety import safe
from hubbub.tables.bins import parse
from hubbub.tables.key_columns import key_columns
from tests.fresh import asked, enter, wrong_in

HOSTILE = ["=1+1", "a,b", 'say "x"', "two\nlines", "", "'=q", "é"]
TABLE = pa.table(
    {"kind": [*HOSTILE, None] * 3, "age": list(range(24)), "count": ["x", "y"] * 12},
    schema=pa.schema([("kind", pa.string()), ("age", pa.int64()), ("count", pa.string())]),
)


def published(folder: Path, form: str, *by: str) -> tuple[Path, Histogram]:
    release = enter(TABLE).histogram(list(by), crowd=2)
    return Path(save(release, folder, form=form)["release"]), asked(release)


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    "by",
    [("age:0..30:10",), ("count=x,y,null,other",), ("count=x,null", "age:[0,5,inf)"), ("kind",), ("kind", "count=x,y")],
)
def test_what_was_published_has_its_bins(by: tuple[str, ...], form: str, tmp_path: Path) -> None:
    file, spec = published(tmp_path, form, *by)
    assert wrong_in(spec, file, form) is None


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("other", "found"),
    [
        ("count=x,z,null", "its column by_count does not follow"),
        ("count=y,x,null", "its column by_count does not follow"),
        ("count=x,y", "its bins are others"),
        ("count=x,y,null,other", "its bins are others"),
        ("kind=x,y,null", "it cannot be read as"),
        ("age:0..3:1", "it cannot be read as"),
    ],
)
def test_a_difference_is_found(other: str, found: str, form: str, tmp_path: Path) -> None:
    file, spec = published(tmp_path, form, "count=x,y,null")
    limit = csv.field_size_limit()
    assert found in str(wrong_in(replace(spec, axes=(parse(other),)), file, form))
    assert csv.field_size_limit() == limit


def test_of_a_discovered_axis_the_columns_are_known_and_the_declared_labels(tmp_path: Path) -> None:
    file, spec = published(tmp_path, "csv", "kind", "count=x,y")
    first, second = spec.axes
    assert wrong_in(replace(spec, axes=(first, parse("count=x,z"))), file, "csv") == "its bins are others"
    assert "it cannot be read" in str(wrong_in(replace(spec, axes=(parse("other"), second)), file, "csv"))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b'"', b"PAR1", b"kind,count,low,high,status\n"])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_what_is_no_release_differs(content: bytes, form: str, tmp_path: Path) -> None:
    _, spec = published(tmp_path / "one", form, "count=x,y")
    file = tmp_path / "file"
    file.write_bytes(content)
    assert wrong_in(spec, file, form) is not None
    assert "it cannot be read as" in str(wrong_in(spec, tmp_path / "none", form))


def test_bins_in_another_order_are_found(tmp_path: Path) -> None:
    file, spec = published(tmp_path, "csv", "age:0..30:10")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([lines[0], lines[2], lines[1], *lines[3:]]))
    assert "its column age does not follow" in str(wrong_in(spec, file, "csv"))


def test_names_and_labels_stay_apart() -> None:
    assert key_columns([parse("count=x"), parse("by_count=x")]) == ["by_count", "by_by_count"]
    labels = ["=1", "'=1", "''=1", "1", None, ""]
    assert safe(labels) == ["'=1", "''=1", "'''=1", "1", None, ""]


def test_the_csv_reads_back_what_went_in(tmp_path: Path) -> None:
    file, _ = published(tmp_path, "csv", "kind")
    options = pa_csv.ConvertOptions(strings_can_be_null=True, quoted_strings_can_be_null=False)
    parse_options = pa_csv.ParseOptions(newlines_in_values=True)
    read = pa_csv.read_csv(file, parse_options=parse_options, convert_options=options)
    assert set(read.column("kind").to_pylist()) == {*safe(HOSTILE), None}


@pytest.mark.parametrize("by", ["count=x,y", "kind"])
def test_a_row_with_more_cells_than_columns_is_found(by: str, tmp_path: Path) -> None:
    file, spec = published(tmp_path, "csv", by)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:-1], f'{lines[-1]},"secret"', ""]))
    assert "it cannot be read as csv" in str(wrong_in(spec, file, "csv"))
