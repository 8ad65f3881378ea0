"""Millbrook: the invented people, and what the town publishes about them."""

from __future__ import annotations

import csv
import datetime
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from hubbub.demo import millbrook
from hubbub.verification import verify


@pytest.fixture(scope="module")
def people() -> pa.Table:
    return millbrook.people()


def test_everybody_has_one_row(people: pa.Table) -> None:
    assert people.column_names == ["resident", "department", "salary", "age", "hired"]
    assert (people.num_rows, pc.count_distinct(people["resident"]).as_py()) == (40_000, 40_000)
    assert people["resident"].null_count == 0


def test_the_people_are_the_same_every_time(people: pa.Table) -> None:
    assert people.equals(millbrook.people())


def test_a_hundred_managers_share_a_bin_with_nobody_else(people: pa.Table) -> None:
    low, high = millbrook.MANAGERS_EARN
    assert high - low == 10_000
    rich = people.filter(pc.greater_equal(people["salary"], low))
    assert (rich.num_rows, millbrook.MANAGERS) == (100, 100)
    assert pc.less(rich["salary"], high).to_pylist() == [True] * 100
    by_department = Counter(rich["department"].to_pylist())
    assert max(by_department.values()) < millbrook.CROWD  # so that none of their bins can ever be shown
    assert None not in by_department


def test_departments_differ_in_size_and_one_is_tiny(people: pa.Table) -> None:
    sizes = Counter(people["department"].to_pylist())
    del sizes[None]
    assert dict(sizes) == {name: size for name, (size, _, _) in millbrook.DEPARTMENTS.items()}
    assert len(sizes) == 8
    assert sizes["Ferry"] == millbrook.FERRY < 10


def test_values_are_plausible_and_some_are_missing(people: pa.Table) -> None:
    ends = {name: pc.min_max(people[name]).as_py() for name in ("salary", "age", "hired")}
    assert 0 <= ends["salary"]["min"] <= ends["salary"]["max"] < 300_000
    assert 0 <= ends["age"]["min"] <= ends["age"]["max"] < 100
    assert datetime.date(1970, 1, 1) < ends["hired"]["min"] <= ends["hired"]["max"] <= datetime.date(2025, 12, 31)
    for name in ("department", "salary", "age", "hired"):
        assert 100 < people[name].null_count < 4000


def test_the_town_publishes_its_table(tmp_path: Path) -> None:
    story = millbrook.publish(tmp_path)
    names = [
        "certificate.json",
        "datapackage.json",
        "hubbub.toml",
        "millbrook.parquet",
        "publisher.key",
        "questions.toml",
        "release.csv",
        "report.html",
    ]
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == names
    assert sorted(story.files.values()) == [
        str(tmp_path / name) for name in names if name not in ("hubbub.toml", "publisher.key", "questions.toml")
    ]
    key = (tmp_path / "publisher.key").read_text().strip()
    done = verify((tmp_path / "certificate.json").read_bytes(), folder=tmp_path, key=key)
    assert done.complete, done.verdict
    with (tmp_path / "release.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == story.counts.bins == 9 * 31
    of_the_few = [row for row in rows if row["department"] == "Ferry" or row["salary"] == "[210000,220000)"]
    assert {row["status"] for row in of_the_few} == {"suppressed"}
    shown = [int(row["count"]) for row in rows if row["status"] == "shown"]
    assert len(shown) == story.visible_bins > 30
    assert min(shown) >= millbrook.CROWD
    assert [value for _, value, _, _ in story.largest(5)] == sorted(shown, reverse=True)[:5]
    notions = [guarantee["notion"] for guarantee in story.as_json()["guarantees"]]
    assert notions == ["crowd-blending", "zero-knowledge", "differential", "distributional"]
    again = millbrook.publish(tmp_path)  # as often as one likes: its ledger is new each time
    assert again.release.reservation is not None
    assert again.release.reservation.release == 1
