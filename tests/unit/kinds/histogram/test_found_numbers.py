"""Means, shares, counts and quantiles by bins that are found in the data: where they may be, and what is told."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hubbub.errors import CheckFailed, WrongUse
from hubbub.guarantees.definitions import CrowdBlending, ZeroKnowledge
from hubbub.kinds.histogram.promises import ABSENT, EVERY_BIN
from hubbub.kinds.sums.mean import Mean
from hubbub.kinds.sums.spec import read
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.release import Release
from hubbub.release import save
from hubbub.serialization.exact_json import plain
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.verification import verify
from tests.fresh import open as open_table
from tests.fresh import opened
from tests.unit.shared.statistics import statistic

TOWNS = ["York"] * 30 + ["Bath"] * 20 + ["Wells"] * 4 + [None] * 10 + ["other"] * 6
PEOPLE = pa.table(
    {
        "id": list(range(70)),
        "town": TOWNS,
        "age": [i % 5 + (50 if town == "Bath" else 0) for i, town in enumerate(TOWNS)],
        "sex": ["F" if i % 2 else "M" for i in range(70)],
        "tall": [i % 3 == 0 for i in range(70)],
    }
)
CROWD: dict[str, Any] = {"crowd": 5, "epsilon": 4000}
AGE = "age:0..100:1"


def rows(release: Release, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row[name] for name in columns) for row in release]


def test_bins_that_are_found_are_those_of_crowds_in_one_order_the_missing_last() -> None:
    table = open_table(PEOPLE, person="id")
    found = table.mean(AGE, ["town"], **CROWD)
    assert rows(found, "town", "people", "status") == [
        ("Bath", 20, "shown"), ("York", 30, "shown"), ("other", 6, "shown"), (None, 10, "shown"),
    ]  # fmt: skip
    assert rows(found, "estimate")[0][0] == pytest.approx(52, abs=0.01)
    assert "how many are absent is not told" in found.result.sentences()[0]
    assert "4" not in found.result.sentences()[0]  # nor that there is a Wells
    declared = table.mean(AGE, ["town=Bath,York,Wells,null"], **CROWD)
    assert rows(declared, "town", "people")[:3] == [("Bath", 20), ("York", 30), ("Wells", None)]


def test_every_number_can_be_by_bins_that_are_found_beside_declared_ones() -> None:
    table = open_table(PEOPLE, person="id")
    by = ["sex=F,M", "town"]
    assert rows(table.count(by, where="town != York", crowd=5), "sex", "town", "count") == [
        ("F", "Bath", 10), ("F", None, 5), ("M", "Bath", 10), ("M", None, 5),
    ]  # fmt: skip
    shares = table.fraction(by, where="age >= 50", **CROWD)
    assert [(sex, town, round(share)) for sex, town, share in rows(shares, "sex", "town", "estimate")] == [
        ("F", "Bath", 1), ("F", "York", 0), ("F", None, 0), ("M", "Bath", 1), ("M", "York", 0), ("M", None, 0),
    ]  # fmt: skip
    medians = table.quantile(AGE, ["town", "sex=F"], **CROWD)
    assert rows(medians, "town", "sex", "people")[0] == ("Bath", "F", 10)
    assert 50 <= rows(medians, "estimate")[0][0] <= 54
    assert rows(table.mean(AGE, ["town"], where="age > 400", **CROWD), "town") == []  # a crowd of nobody is absent


def test_a_boolean_declares_its_own_bins() -> None:
    table = open_table(PEOPLE, person="id")
    assert rows(table.mean(AGE, ["tall"], epsilon=1), "tall") == [("false",), ("true",), (None,)]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("mean", {"of": AGE, "epsilon": 1}),
        ("count", {"epsilon": 1}),
        ("count", {"zero_knowledge": 1, "rows": 7, "people": 70}),
        ("count", {"crowd": 5, "epsilon": 1}),
        ("quantile", {"of": AGE, "zero_knowledge": 1, "rows": 7, "people": 70}),
    ],
    ids=str,
)
def test_where_small_bins_are_seen_they_are_declared(kind: str, words: dict[str, Any]) -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    next_step = "without epsilon, which hides" if "crowd" in words else "or use crowd=K, which hides small ones"
    with pytest.raises(WrongUse, match="the bins of town must be declared") as refused:
        getattr(table, kind)(by=["town"], **words)
    assert next_step in str(refused.value)
    assert not Ledger().accounts()
    with pytest.raises(WrongUse, match="must be declared"):
        statistic(kind, by=["town"], **words).promises()


def test_the_promise_of_found_bins_costs_nothing_and_says_what_it_rests_on() -> None:
    spec = statistic("mean", of=AGE, by=["town"], crowd=5, epsilon=1)
    (promise,) = spec.promises()
    assert promise.conclusion == CrowdBlending(k=5, epsilon=Fraction(1))
    assert promise.theorem.id == "bins.found"
    assert ABSENT in promise.assumptions
    assert all(EVERY_BIN not in step.assumptions for step in promise.steps())
    sampled = statistic("mean", of=AGE, by=["town"], crowd=6, epsilon=1, sample="0.2", at_delta="1e-3").promises()
    assert any(isinstance(each.conclusion, ZeroKnowledge) for each in sampled)


def test_a_forged_description_of_found_bins_with_noise_alone_is_none() -> None:
    declared = statistic("mean", of=AGE, by=["town=a"], epsilon=1).to_json()
    found = plain(statistic("mean", of=AGE, by=["town"], crowd=5, epsilon=1).axes)
    with pytest.raises(CheckFailed):
        read(Mean, {**declared, "axes": found})


def test_files_of_found_bins_are_checked(tmp_path: Path) -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    release = table.mean(AGE, ["town"], crowd=6, epsilon=1, sample="0.2", at_delta="1e-3", accept_weak=True)
    save(release, tmp_path / "out")
    assert verify((tmp_path / "out" / CERTIFICATE).read_bytes(), folder=tmp_path / "out").passed
    assert list(release.sheet.schema.names) == ["town", "sampled", "sum", "estimate", "low", "high", "status"]
