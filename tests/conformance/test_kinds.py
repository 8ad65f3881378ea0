"""One suite for every kind of release: whatever is published goes the same way, and comes out checked.

A kind joins by adding lines to `CASES`: what it is asked, and two tables (or graphs), with and without one person. The
toy kind of `toy.py` is here to show that nothing outside a kind's own files need know it.
"""

from __future__ import annotations

import gc
import io
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hubbub import registry
from hubbub.audit import exact, replay
from hubbub.certificate.certificate import SIGNATURE
from hubbub.certificate.explanation import explain_release
from hubbub.cli.main import commands
from hubbub.engines.opening import open_source
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.guarantees.people import Whose
from hubbub.kinds.graph.spec import GraphSpec
from hubbub.ledger import key
from hubbub.ledger.charge import Charge, charge
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource
from hubbub.opening import open_links
from hubbub.protocol.bound import Bound
from hubbub.protocol.drawing import Bars
from hubbub.protocol.measurement import Drawn, Measurement, Rehearsal, loaded
from hubbub.protocol.release import Release
from hubbub.protocol.result import Sheet
from hubbub.protocol.spec import TABLE, Spec
from hubbub.publication.files import write
from hubbub.publication.recovery import finish
from hubbub.publication.staging import unfinished
from hubbub.release import execute, save
from hubbub.report import report
from hubbub.serialization.canonical import canonical, read
from hubbub.serialization.exact_json import plain, restored
from hubbub.serialization.published_files import CERTIFICATE, PACKAGE, Files
from hubbub.tables.identity import Identity
from hubbub.verification import verify
from hubbub.verification.comparison import difference
from hubbub.voting.ballots import BallotBox, Ballots
from tests.conformance import door
from tests.fresh import engine_of, played, unsigned
from tests.fresh import opened as open_table
from tests.golden.json_schema import faults
from tests.slow import first_is_fast
from tests.unit.shared.saved import sign
from website.certificate_format import SCHEMA

# --- the kinds ----------------------------------------------------------------------------------------------------

TOWNS = ["Bath"] * 30 + ["York"] * 3 + ["Wells"] * 8
FEWER = pa.table({"town": TOWNS, "age": [7 * i % 90 for i in range(41)], "id": list(range(41))})
MORE = pa.concat_tables([FEWER, pa.table({"town": ["Bath"], "age": [44], "id": [99]})])


OTHERS = pa.concat_tables([FEWER.slice(1), pa.table({"town": ["Wells"], "age": [89], "id": [0]})])  # one replaced


@dataclass(frozen=True)
class Case:
    """A kind with what it is asked, as its command would be."""

    kind: str
    words: Mapping[str, Any]
    fewer: Any = field(default_factory=lambda: FEWER)
    more: Any = field(default_factory=lambda: MORE)  # one person more
    declared: bool = True  # whether the rows that come out are known beforehand
    opened: Callable[[Any], Any] = engine_of
    distance: int = 1  # how far, in all, one person may move the numbers that reach the noise

    def spec(self, schema: Any = None) -> Spec:
        """What is asked, resolved against the columns of the table."""
        person = {"person": "id"} if registry.kind(self.kind).data == TABLE else {}
        asked = registry.kind(self.kind).ask(**person, **self.words)
        return asked.with_schema(self.opened(self.fewer).columns() if schema is None else schema)

    def played(self, table: Any) -> Release:
        engine = self.opened(table)
        return played(self.spec(engine.columns()), engine, ScriptedSource.from_label("kinds"))


FEW_BALLOTS = Ballots.from_counts("abc", {("a", "b"): 200, ("b",): 150, ("c", "a"): 90, ("c",): 2, (): 1})
MORE_BALLOTS = FEW_BALLOTS.join(Ballots.from_counts("abc", {(): 1}))  # the record does not tell how many are blank
RECORD = {"rounds": [{"counts": {"a": 200, "b": 150, "c": 92}}, {"counts": {"a": 290, "b": 150}}], "winner": "a"}


OTHER_BALLOTS = Ballots.from_counts(
    "abc", {("a", "b"): 199, ("a", "c"): 1, ("b",): 150, ("c", "a"): 90, ("c",): 2, (): 1}
)


def ballots(more: Ballots = MORE_BALLOTS, **words: Any) -> Case:
    """Ballots beside their official record."""
    return Case(
        "ballots",
        {"official": RECORD, **words},
        FEW_BALLOTS,
        more,
        declared=False,
        opened=lambda box: BallotBox(box, Identity()),
        distance=2 if more is OTHER_BALLOTS else 1,  # one replaced moves two counts
    )


TOWN = ("town=Bath,York,other",)
CUBE = (*TOWN, "age:0..90:30,null")
EVERYBODY = ("town=Bath,York,null,other", "age:0..90:30,null,other")
STAIRS = "staircase:thresholds=100,10,epsilons=1,0.1,0.01,alpha=10"
POINTS = {"columns": "age,id", "box": "0..100,0..100", "grid": "50,50", "crowd": "5", "epsilon": "2"}
AREAS = str(Path(__file__).with_name("regions.geojson"))
QUESTIONS = str(Path(__file__).with_name("questions.toml"))
GAUSSIAN_QUESTIONS = str(Path(__file__).with_name("gaussian_questions.toml"))
ROW_QUESTIONS = str(Path(__file__).with_name("row_questions.toml"))
REGIONS = {"columns": "age,id", "box": "0..100,0..100", "grid": None, "regions": AREAS, "lattice": "1,1"}
QUARTERS = {"columns": "age,id", "box": "0..96,0..100", "grid": None, "quadtree": "0,2", "lattice": "1,1"}
DOMAIN, AGES = ("town=Bath,York,Wells", "age:0..90:30"), ("age:0..90:15",)
FLAT, SMALL = {"method": "histogram"}, "small-database"
GAUSSIAN = {"epsilon": "1", "delta": "1e-6"}
PUBLIC = {"epsilon": "1", "people": "41"}
FEW = {"vertices": "9", "max_degree": "4", "epsilon": "1"}
# Each pair moves what is counted as far as one vertex (or edge) can: a hub for four who stood alone, a friend for all
# four of a clique, and an edge between two with three friends in common.
APART, HUB = [(0, 1)], [(0, 1), (2, 3), (2, 4), (2, 5), (2, 6)]
CLIQUE = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
JOINED = [*CLIQUE, (4, 0), (4, 1), (4, 2), (4, 3)]
COMMON = [(a, b) for a in (0, 1) for b in (2, 3, 4)]


def graphs(fewer: list[tuple[int, int]], more: list[tuple[int, int]], **words: Any) -> Case:
    """Two networks that differ by one vertex with its edges, or by one edge."""
    return Case("graph", {**FEW, **words}, fewer, more, True, open_links)


KNOWN = {"zero_knowledge": "0.5", "rows": "10", "people": "41"}
AGE = {"of": "age:0..90:5"}
FIFTH = {"sample": "0.2", "at_delta": "1e-3"}
KEPT = {"one_row_per_person": True}


def known(kind: str, **words: Any) -> Case:
    """How many people there are is public: a neighbour has as many."""
    return Case(kind, {**KNOWN, **words}, FEWER, OTHERS)


CASES = {
    "histogram, crowds": Case("histogram", {"by": TOWN, "crowd": "5"}),
    "histogram, by two": Case("histogram", {"by": (*TOWN, "age:0..90:30,null"), "epsilon": "1"}),
    "histogram, found": Case("histogram", {"by": ("town",), "crowd": "5"}, declared=False),
    "histogram, noise below": Case("histogram", {"by": TOWN, "crowd": "20", "epsilon": "0.5"}),
    "histogram, sampled": Case("histogram", {"by": TOWN, "crowd": "20", "sample": "0.05"}),
    "histogram, scaled": Case("histogram", {"by": TOWN, "epsilon": "1", "sample": "0.5", "scale_up": True}),
    "histogram, collected": Case("histogram", {"by": TOWN, "crowd": "20", "collected": "0.05"}),
    "histogram, one row": Case("histogram", {"by": TOWN, "crowd": "5", "one_row_per_person": True}),
    "histogram, several": Case("histogram", {"by": TOWN, "epsilon": "1", "distinct": "2"}),
    "histogram, lowered": Case("histogram", {"by": TOWN, "outlier": "1:1,5:0.5"}),
    "histogram, staircase": Case("histogram", {"by": TOWN, "mechanism": STAIRS}),
    "cube": Case("cube", {"by": CUBE, "crowd": "5", "consistent": True}),
    "cube, found": Case("cube", {"by": ("town", "age:30"), "crowd": "3", "consistent": True}, declared=False),
    "cube, noise below": Case("cube", {"by": CUBE, "crowd": "5", "epsilon": "0.5", "consistent": True}),
    "cube, levels": Case("cube", {"by": CUBE, "epsilon": "1", "consistent": True, "margins": "town"}),
    "cube, several rows": Case("cube", {"by": CUBE, "epsilon": "1", "rows_per_person": "2", "distinct": "2"}),
    "cube, total": Case("cube", {"by": CUBE, "epsilon": "1", "margins": "total; age"}),
    "cube, gaussian": Case(
        "cube", {"by": CUBE, **GAUSSIAN, "mechanism": "gaussian", "margins": "town; total", "consistent": True}
    ),
    "cube, gaussian of so many": Case("cube", {"by": EVERYBODY, **GAUSSIAN, "people": "41"}, FEWER, OTHERS, distance=2),
    "cube, sampled": Case("cube", {"by": CUBE, "epsilon": "1", "sample": "0.5"}),
    "records": Case("records", {"columns": "town,age:30", "crowd": "3"}, declared=False),
    "records, sampled": Case("records", {"columns": "town/1", "crowd": "20", "sample": "0.05"}, declared=False),
    "points": Case("points", POINTS, declared=False),
    "points, left outside": Case("points", {**POINTS, "leave_outside": True, "within": "60"}, declared=False),
    "points, on an edge": Case("points", {**POINTS, "grid": "100,50", "epsilon": "0.2"}, declared=False),
    "points, one row": Case("points", {**POINTS, "one_row_per_person": True}, declared=False),
    "points, regions": Case("points", {**REGIONS, "crowd": "5", "epsilon": "2"}, declared=False),
    "points, quadtree": Case("points", {**QUARTERS, "crowd": "5", "epsilon": "2"}, declared=False),
    "queries, marginals": Case("queries", {"columns": DOMAIN, "class": "marginals:2", "epsilon": "1"}),
    "queries, cells": Case("queries", {"columns": DOMAIN, "class": "conjunctions:1", "epsilon": "1", **FLAT}),
    "queries, tree": Case("queries", {"columns": AGES, "class": "intervals", "epsilon": "1", "method": "tree"}),
    "queries, weights": Case(
        "queries", {"columns": DOMAIN, "class": "boxes", **PUBLIC, "method": "mwem"}, FEWER, OTHERS
    ),
    "queries, cells of so many": Case(
        "queries", {"columns": DOMAIN, "class": "marginals:1", **PUBLIC, **FLAT}, FEWER, OTHERS, distance=2
    ),
    "queries, small": Case(
        "queries", {"columns": AGES, "class": "intervals", **PUBLIC, "method": SMALL}, FEWER, OTHERS
    ),
    "queries, residual": Case(
        "queries", {"columns": DOMAIN, "class": "conjunctions:2", **GAUSSIAN, "method": "residual", "consistent": True}
    ),
    "queries, residual of so many": Case(
        "queries",
        {
            "columns": DOMAIN,
            "class": "marginals:2",
            **GAUSSIAN,
            "people": "41",
            "method": "residual",
            "least": "largest",
        },
        FEWER,
        OTHERS,
        distance=2,
    ),
    "queries, split tables": Case(
        "queries", {"columns": DOMAIN, "class": "marginals:1", "epsilon": "1", "method": "split-tables"}
    ),
    "queries, named tables": Case("queries", {"columns": DOMAIN, "class": "tables:both=1+2*2,one=1", "epsilon": "1"}),
    "queries, halfspaces": Case("queries", {"columns": DOMAIN, "class": "halfspaces", "epsilon": "1"}),
    "queries, sampled": Case("queries", {"columns": DOMAIN, "class": "marginals:1", **KNOWN}, FEWER, OTHERS),
    "synthetic": Case("synthetic", {"columns": DOMAIN, **GAUSSIAN, "size": "60"}, declared=False),
    "synthetic, as many": Case("synthetic", {"columns": DOMAIN, "epsilon": "4"}, declared=False),
    "graph, sampled": graphs(APART, HUB, of="connectivity,average-degree", samples="8"),
    "graph, degrees": graphs(CLIQUE, JOINED, of="degree-histogram,triangles"),
    "graph, edges": graphs(COMMON, [*COMMON, (0, 1)], of="triangles", per_edge=True),
    "ballots": ballots(),
    "ballots, all": ballots(full_count=True),
    "ballots, prefixes": ballots(prefix=True, k="5", sample="0.05"),
    "ballots, noise": ballots(OTHER_BALLOTS, noisy=True, epsilon="4", k="5"),
    "count, known": known("count", where="age >= 65"),
    "count, exact known": known("count", where="age >= 65", rows="30", zero_knowledge="2"),
    "count, by crowds": Case("count", {"by": TOWN, "crowd": "5", "where": "age < 80 or age is missing"}),
    "fraction, known": known("fraction", where="age >= 65", by=TOWN),
    "fraction, crowds": Case("fraction", {"by": TOWN, "where": "age >= 65", "crowd": "5", "epsilon": "1"}),
    "fraction, noise": Case("fraction", {"where": "not age < 65", "epsilon": "1"}),
    "mean, known": known("mean", **AGE),
    "mean, crowds": Case("mean", {**AGE, "by": TOWN, "crowd": "6", "epsilon": "1", **FIFTH}),
    "mean, noise": Case("mean", {**AGE, "by": TOWN, "epsilon": "1", "where": "town != 'Wells'"}),
    "quantile, known": known("quantile", **AGE, q="0.9"),
    "quantile, crowds": Case("quantile", {**AGE, "by": TOWN, "crowd": "5", "epsilon": "1"}),
    "quantile, noise": Case("quantile", {**AGE, "epsilon": "1"}),
    "mean, found": Case(
        "mean", {**AGE, "by": ("town",), "crowd": "6", "epsilon": "1", **KEPT, **FIFTH}, declared=False
    ),
    "count, expected": known("count", by=TOWN, expected_rows=True, **KEPT),
    "fraction, any row": Case("fraction", {"where": "age >= 65", "any_row": True, "crowd": "5", "epsilon": "1"}),
    "sum": Case("sum", {**AGE, "by": TOWN, "epsilon": "1"}),
    "sum, cap": Case("sum", {**AGE, "cap": "50", "epsilon": "1", "where": "town != 'Wells'"}),
    "sum, signed": Case("sum", {"of": "age:-20..90:5", "by": TOWN, "cap": "40", "epsilon": "1"}),
    "sum, drawn cap": Case("sum", {**AGE, "cap": "auto", "by": TOWN, "epsilon": "1"}),
    "sum, tailored": Case("sum", {**AGE, "by": TOWN, "tailored": "1:0.5,11:1", "delta": "1e-6", "totals": True}),
    "sum, lost": Case("sum", {**AGE, "cap": "20", "lost": "0.2", "epsilon": "1"}),
    "sum, several rows, lost": Case(
        "sum", {**AGE, "by": TOWN, "rows_per_person": "2", "cap": "20", "lost": "0.2", "cap_max": "160", "epsilon": "1"}
    ),
    "sum, crowds": Case("sum", {**AGE, "by": TOWN, "crowd": "6", "epsilon": "1"}),
    "sum, found": Case("sum", {**AGE, "by": ("town",), "crowd": "6", "epsilon": "1", **KEPT}, declared=False),
    "sum, known": known("sum", **AGE, by=TOWN),
    "sum, several rows": Case("sum", {**AGE, "by": TOWN, "rows_per_person": "2", "cap": "layers", "epsilon": "1"}),
    "sum, several rows, drawn cap": Case("sum", {**AGE, "by": TOWN, "rows_per_person": "2", "epsilon": "1"}),
    "sum, several capped": Case("sum", {**AGE, "by": TOWN, "rows_per_person": "3", "cap": "100", "epsilon": "1"}),
    "sum, totals": Case("sum", {**AGE, "by": TOWN, "totals": True, "epsilon": "1"}),
    "count, totals": Case("count", {"by": CUBE, "totals": True, "epsilon": "1", "rows_per_person": "2"}),
    "mean, totals": Case("mean", {**AGE, "by": TOWN, "totals": True, "epsilon": "1"}),
    "queries, square root": Case(
        "queries", {"columns": ("age:0..90:5",), "class": "intervals", **GAUSSIAN, "method": "square-root"}
    ),
    "count, gaussian": Case(
        "count", {"by": CUBE, "totals": True, **GAUSSIAN, "mechanism": "gaussian", "rows_per_person": "2"}
    ),
    "fraction, gaussian": Case("fraction", {"by": TOWN, "where": "age < 50", **GAUSSIAN, "mechanism": "gaussian"}),
    "mean, gaussian": Case("mean", {**AGE, "by": TOWN, "totals": True, **GAUSSIAN, "mechanism": "gaussian"}),
    "sum, gaussian": Case(
        "sum", {**AGE, "by": TOWN, "rows_per_person": "3", "cap": "100", **GAUSSIAN, "mechanism": "gaussian"}
    ),
    "sum, weighted": Case("sum", {**AGE, "by": TOWN, "weight": "age:0..2:1", "epsilon": "1"}),
    "mean, weighted": Case("mean", {"of": "id:0..50:1", "by": TOWN, "weight": "age:0..2:1", "epsilon": "1"}),
    "ratio": Case("ratio", {**AGE, "per": "id:0..50:1", "by": TOWN, "epsilon": "1"}),
    "ratio, several rows": Case("ratio", {**AGE, "per": "id:0..50:1", "rows_per_person": "2", "epsilon": "4"}),
    "summary": Case(
        "summary", {"number": ("people", "mean age:0..90:5", "sum age:0..90:5"), "by": TOWN, "epsilon": "2"}
    ),
    "summary, several rows": Case(
        "summary",
        {"number": ("visits = rows", "people", "mean age:0..90:5"), "by": TOWN, "distinct": "2", "epsilon": "2"},
    ),
    "summary, found": Case(
        "summary",
        {"number": ("people", "mean age:0..90:5"), "by": ("town",), "distinct": "2", "epsilon": "4", "delta": "1e-3"},
        declared=False,
    ),
    "summary, gaussian": Case(
        "summary",
        {"number": ("rows 3", "sum age:0..90:5"), "by": TOWN, "distinct": "2", **GAUSSIAN, "mechanism": "gaussian"},
    ),
    "fraction, calibrated": Case(
        "fraction",
        {"by": TOWN, "where": "age >= 44", "calibrate": {"Bath": 30, "York": 5, "other": "7.5"}, "epsilon": "1"},
    ),
    "count, weighted": Case(
        "count", {"by": TOWN, "weight": "age:0..2:1", "poisson_survey": True, "epsilon": "1"}, distance=2
    ),
    "std": Case("std", {**AGE, "by": TOWN, "epsilon": "1", "where": "town != 'Wells'"}),
    "std, crowds": Case("std", {**AGE, "by": TOWN, "crowd": "6", "epsilon": "1", **FIFTH}),
    "std, known": known("std", **AGE, by=TOWN),
    "variance": Case("variance", {**AGE, "epsilon": "1"}),
    "variance, found": Case("variance", {**AGE, "by": ("town",), "crowd": "6", "epsilon": "1", **KEPT}, declared=False),
    "questions": Case("questions", {"spec": QUESTIONS}, FEWER, OTHERS),
    "questions, gaussian": Case("questions", {"spec": GAUSSIAN_QUESTIONS}, FEWER, OTHERS),
    "questions, several rows": Case("questions", {"spec": ROW_QUESTIONS, "rows_per_person": "2"}, FEWER, OTHERS),
    "count, known rows": known("count", by=TOWN, rows_per_person="2", rows_called="visits"),
    "mean, known rows": known("mean", **AGE, rows_per_person="3", rows_per_bin="2"),
    "sum, known rows": known("sum", **AGE, by=TOWN, rows_per_person="2", cap="100"),
    "count, profiles": Case("count", {"by": TOWN, "rows_per_person": "2", "crowd": "3"}),
    "mean, profiles": Case("mean", {**AGE, "by": TOWN, "rows_per_person": "2", "crowd": "3", "epsilon": "1"}),
    "sum, profiles": Case("sum", {**AGE, "by": TOWN, "rows_per_person": "2", "crowd": "3", "epsilon": "1"}),
    "questions, one row": Case("questions", {"spec": QUESTIONS, **KEPT}, FEWER, OTHERS),
    "toy": Case("toy", {"epsilon": "1"}),
}


def _room(kind: str) -> str:
    """Where a kind lives: count, fraction, mean and quantile are one room, and so are variance and std."""
    return str(registry._WHERE.get(kind, kind)).rpartition(".")[0]


every_case = pytest.mark.parametrize("name", first_is_fast(CASES, lambda name: _room(CASES[name].kind)))


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy kind joins as every kind does: by its line."""
    monkeypatch.setitem(registry._WHERE, "toy", "tests.conformance.toy")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def forger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("forger") / "ledger.db"
    key.make(place)
    return place


def test_every_kind_is_here() -> None:
    assert {case.kind for case in CASES.values()} == set(registry.names())


# --- what is public -----------------------------------------------------------------------------------------------


@every_case
def test_a_description_is_read_back(name: str) -> None:
    spec = CASES[name].spec()
    told = read(canonical(spec.to_json()), "it")
    again = registry.read(spec.kind.wire, told)
    assert again == spec
    assert again.to_json() == told


@every_case
def test_a_description_with_more_in_it_is_refused_and_one_with_less_is_another(name: str) -> None:
    spec = CASES[name].spec()
    told = spec.to_json()
    with pytest.raises(CheckFailed):
        registry.read(spec.kind.wire, told | {"approved": "by everybody"})
    for part in told:
        less = {name: value for name, value in told.items() if name != part}
        try:
            assert (
                registry.read(spec.kind.wire, less) != spec
            )  # a field that is absent may have a default, and means that
        except (CheckFailed, KeyError):
            continue


@every_case
def test_the_schema_of_certificates_knows_every_field(name: str) -> None:
    """Of each case, and not only of the golden release of its kind: `make format`, with a text for what is new."""
    if name == "toy":
        pytest.skip("no kind of this program")
    signature = {"algorithm": key.ALGORITHM, "public_key": "", "value": ""}
    body = json.loads(canonical(unsigned(CASES[name].spec()) | {SIGNATURE: signature}))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert list(faults(body, schema, schema)) == []


@every_case
def test_a_kind_of_another_version_is_told_to_update(name: str) -> None:
    spec = CASES[name].spec()
    for wire in (f"{spec.kind.name}/99", "another/1", ""):
        with pytest.raises(CheckFailed, match="does not know; update Hubbub"):
            registry.read(wire, spec.to_json())


@every_case
def test_promises_are_the_same_every_time_and_say_whom_they_are_about(name: str) -> None:
    """No engine is given here: they follow from the spec alone."""
    spec = CASES[name].spec()
    first = spec.promises()
    assert first
    assert registry.read(spec.kind.wire, spec.to_json()).promises() == first
    for step in (part for promise in first for part in promise.steps()):
        assert step.people is not None
        assert step.people.unit == spec.people.unit
        assert step.theorem.id
    assert all(step.people and step.people.whose is not Whose.POPULATION for step in spec.table_promises())


@every_case
def test_where_a_number_of_people_is_enforced_no_promise_is_about_one_who_comes_or_goes(name: str) -> None:
    """And nowhere else is a number enforced: the other cases are played on tables of unlike numbers of people."""
    case = CASES[name]
    spec = case.spec()
    if spec.enforced_number is None:
        case.played(case.fewer)
        case.played(case.more)
        return
    for step in (part for promise in spec.promises() for part in promise.steps()):
        assert step.conclusion.neighbours.number_is_public
    if registry.kind(case.kind).data == TABLE:
        assert case.fewer.num_rows == case.more.num_rows == spec.enforced_number
        with pytest.raises(Refused, match=r"number of people|as many people"):
            case.played(case.fewer.slice(1))


@every_case
def test_what_can_be_checked_again_holds(name: str) -> None:
    assert all(check.passed for check in CASES[name].spec().checks())


@every_case
def test_words_are_all_there(name: str) -> None:
    spec = CASES[name].spec()
    words = spec.describe()
    needed = (words.title, words.published, words.entry, words.person, words.sampling, words.counts, *words.remarks)
    for text in (*needed, *(text for pair in words.public for text in pair)):
        assert text.strip()
        assert "{" not in text
    for line in (words.title, words.published):
        assert not line.endswith(".")
    told = explain_release(Bound(spec))
    assert "None" not in told
    for heading in ("What was published", "What is promised", "What is taken for granted", "What is not promised"):
        assert f"{heading}\n  " in told


@every_case
def test_a_charge_is_the_same_after_the_ledger(name: str) -> None:
    asked = charge(Bound(CASES[name].spec()))
    assert asked.promises
    assert restored(Charge, read(canonical(plain(asked)), "it")) == asked
    book = Ledger()
    book.reserve("town", asked)
    (entered,) = book.account("town").spent_releases
    assert replace(entered.charge, partition=asked.partition) == asked
    total = book.account("town").totals
    assert total is not None
    assert total.holds


# --- the certificate ----------------------------------------------------------------------------------------------


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        for name in value if isinstance(value, dict) else range(len(value)):
            yield from _leaves(value[name], (*path, name))
    else:
        yield path


def _changed(body: dict[str, Any], path: tuple[Any, ...]) -> dict[str, Any]:
    changed = deepcopy(body)
    place: Any = changed
    for name in path[:-1]:
        place = place[name]
    match place[path[-1]]:
        case bool() | None as old:
            place[path[-1]] = not old
        case int() as old:
            place[path[-1]] = old + 1
        case str() as old:
            place[path[-1]] = f"{old}1" if re.fullmatch(r"[\d.]+", old) else f"{old}s"
        case old:
            place[path[-1]] = "something" if old == [] else ["something"]
    return changed


@every_case
def test_the_certificate_passes_and_no_edit_of_a_promise_does_unless_it_follows(name: str, forger: Path) -> None:
    body = unsigned(CASES[name].spec())
    whole = verify(sign(forger, body))
    assert whole.passed, whole.verdict
    assert whole.promises == CASES[name].spec().promises()
    for path in _leaves(body["guarantees"], ("guarantees",)):
        done = verify(sign(forger, _changed(body, path)))
        if done.passed:  # a promise that is weaker than what is derived
            assert "promise" in path, path
            assert any(check.found.startswith("follows: ") for check in done.checks), path
    edits: tuple[dict[str, Any], ...] = ({"kind": "another/1"}, {"guarantees": []}, {"more": ""}, {"release": {}})
    for edit in edits:
        assert not verify(sign(forger, body | edit)).passed, edit


@every_case
def test_no_changed_byte_of_what_is_signed_passes(name: str, forger: Path) -> None:
    data = sign(forger, unsigned(CASES[name].spec()))
    for at in range(0, len(data), max(1, len(data) // 100)):
        assert not verify(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]).passed, at


# --- the auditor --------------------------------------------------------------------------------------------------


@every_case
def test_the_auditor_has_nothing_against_it(name: str) -> None:
    """Exact laws, and one person more with the noise frozen: THREATS 17 for every kind."""
    case = CASES[name]
    fewer, more = case.opened(case.fewer), case.opened(case.more)
    spec = case.spec(fewer.columns())
    assert not any(found.is_refuted for found in exact.of_spec(spec))
    found = replay.of_spec(spec, fewer, more, declared=case.declared, distance=case.distance)
    assert not found.is_refuted, found.sentence()
    assert found.numbers["draws"] > 0


# --- measure, then present ------------------------------------------------------------------------------------------


class Sealed:
    """Data that may be touched until it is sealed."""

    def __init__(self, data: Any) -> None:
        self._data, self._sealed = data, False

    def __getattr__(self, name: str) -> Any:
        if self._sealed:
            raise AssertionError(f"the data was touched after it was measured: {name}")
        return getattr(self._data, name)

    def seal(self) -> None:
        self._sealed = True


def _measured(case: Case, table: Any, script: Any = None, label: str = "measured") -> tuple[Measurement, Rehearsal]:
    engine = case.opened(table)
    rehearsal = Rehearsal(ScriptedSource.from_label(label), script)
    return case.spec(engine.columns()).measure(engine, rehearsal), rehearsal


def _published(spec: Spec, measurement: Measurement) -> dict[str, bytes]:
    files = {}
    for sheet in spec.present(measurement).sheets():
        for form in ("csv", "parquet"):
            out = io.BytesIO()
            write(sheet, form, out)
            files[f"{sheet.name}.{form}"] = out.getvalue()
    return files


@every_case
def test_neighbours_whose_draws_are_replayed_publish_the_same_bytes(name: str) -> None:
    case = CASES[name]
    spec = case.spec()
    first, played_first = _measured(case, case.fewer)
    drawn = [first[part] for part in first]
    again, played_again = _measured(case, case.more, drawn, "other words")
    assert len(played_first.calls) == len(played_again.calls) == len(drawn)
    assert again == first
    assert _published(spec, again) == _published(spec, first)
    one, other = spec.present(first), spec.present(again)
    assert (one.facts(), one.sentences(), one.display(1000)) == (other.facts(), other.sentences(), other.display(1000))
    assert report(Release(Bound(spec), one)) == report(Release(Bound(spec), other))


@every_case
def test_after_measuring_the_data_is_not_touched_and_nothing_of_it_is_left(name: str) -> None:
    case = CASES[name]
    spec, data = case.spec(), Sealed(case.opened(case.fewer))
    measurement = spec.measure(data, ScriptedSource.from_label("sealed"))
    data.seal()
    with pytest.raises(AssertionError, match="was touched"):
        data.columns()
    result = spec.present(measurement)
    for sheet in result.sheets():
        list(sheet.batches())
    report(Release(Bound(spec), result))
    assert not _reaches(measurement, {id(data), id(data._data)})
    assert not _reaches(result, {id(data), id(data._data)})


def _reaches(start: object, wanted: set[int]) -> bool:
    """Whether an object is held, however far away; classes, modules and functions hold everything and are left out."""
    seen, left = set[int](), [start]
    while left:
        here = left.pop()
        if id(here) in wanted:
            return True
        if id(here) not in seen and not isinstance(here, type | ModuleType | FunctionType):
            seen.add(id(here))
            left.extend(gc.get_referents(here))
    return False


def test_an_object_that_is_held_is_seen() -> None:
    data = Sealed(object())
    assert _reaches({"a": [lambda: None, (data,)]}, {id(data)})


@every_case
def test_what_is_loaded_from_the_files_presents_them_again(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    spec = case.spec()
    measurement, _ = _measured(case, case.fewer)
    whole = _published(spec, measurement)
    for form in ("csv", "parquet"):
        paths = {}
        for file, data in whole.items():
            if file.endswith(form):
                (tmp_path / file).write_bytes(data)
                paths[file.partition(".")[0]] = tmp_path / file
        again = spec.load(Files(form, paths))
        for sheet in spec.present(again).sheets():
            assert difference(sheet, paths[sheet.name], form) is None
        if form == "csv":  # Parquet keeps the order of a dictionary too
            assert {file: data for file, data in _published(spec, again).items() if file.endswith(form)} == {
                file: data for file, data in whole.items() if file.endswith(form)
            }


MOVED = {  # how far one person moves the exact numbers, where that is not one cell by one, or two for one replaced
    "ballots, noise": 4,  # one ballot replaced, on two levels
    "mean, weighted": 2,  # the weight
    "count, weighted": 2,
    "sum, several rows, lost": 2,
    "sum, lost": 2,  # the same counts reach two mechanisms, whose losses add up
}


@every_case
def test_the_neighbours_of_a_case_move_the_exact_numbers_as_far_as_is_stated(name: str) -> None:
    case = CASES[name]
    fewer, more = case.opened(case.fewer), case.opened(case.more)
    spec = case.spec(fewer.columns())
    stated = MOVED.get(name, 2 if case.more is OTHERS else 1)
    if isinstance(spec, GraphSpec):
        stated = sum(spec.sensitivity(of) for of in spec.counts)
    assert door.moved(door.calls(spec, fewer), door.calls(spec, more)) == stated


FEW_PEOPLE = tuple(
    (town, age) for town in ("Bath", "York") for age in (10, 80)
)  # everybody who can be in a small table: in crowds and outside, above and below every condition


def _small_tables() -> Iterator[tuple[tuple[str, int], ...]]:
    """All tables of up to two people of whom some may be alike, and two of three and four."""
    for people in range(3):
        yield from combinations_with_replacement(FEW_PEOPLE, people)
    yield FEW_PEOPLE[:1] * 3
    yield (*FEW_PEOPLE[:1] * 3, FEW_PEOPLE[3])


def _table_of(people: tuple[tuple[str, int], ...]) -> pa.Table:
    """Who is alike has numbers that follow one another, so that a table with one person more has one row more."""
    ids = [10 * FEW_PEOPLE.index(person) + people[:i].count(person) for i, person in enumerate(people)]
    towns, ages = [town for town, _ in people], [age for _, age in people]
    columns = {"town": pa.array(towns, pa.string()), "age": pa.array(ages, pa.int64())}
    return pa.table({**columns, "id": pa.array(ids, pa.int64())})


SMALL_CASES = [
    name
    for name, case in CASES.items()
    if case.fewer is FEWER and case.more is MORE and "sample" not in case.words and "unit" not in case.words
]


@pytest.mark.parametrize("name", SMALL_CASES)
def test_on_small_tables_no_person_moves_more_than_stated_and_no_promise_is_refuted(name: str) -> None:
    """Small tables and every person more: what reaches the mechanism moves by one at most; and of two pairs, the draws
    themselves are told apart by no more than is promised."""
    case = CASES[name]
    exact: dict[tuple[tuple[str, int], ...], list[door.Call]] = {}
    for people in _small_tables():
        engine = case.opened(_table_of(people))
        exact[people] = door.calls(case.spec(engine.columns()), engine)
    spec = case.spec(case.opened(case.fewer).columns())
    pairs = [
        (people, more)
        for people in exact
        for person in FEW_PEOPLE
        if (more := tuple(sorted((*people, person)))) in {tuple(sorted(each)) for each in exact}
    ]
    by_content = {tuple(sorted(people)): found for people, found in exact.items()}
    for people, more in pairs:
        fewer = by_content[tuple(sorted(people))]
        assert door.moved(fewer, by_content[more]) <= MOVED.get(name, 1), (people, more)
        assert door.exactly_within(spec, fewer, by_content[more], len(more)) is not False, (people, more)
    for people, more in (pairs[0], pairs[-1]):
        accused = door.refuted(spec, by_content[tuple(sorted(people))], by_content[more], len(more))
        assert accused is None, (people, more, accused)


@pytest.mark.parametrize("witness", ["leaking", "thrice"])
def test_a_kind_that_leaks_or_moves_further_than_it_states_is_refused(witness: str) -> None:
    """Both are kinds that somebody might write: their certificates hold, and the suite is what refuses them."""
    from tests.witnesses import kinds_that_leak

    spec = {"leaking": kinds_that_leak.Leaking, "thrice": kinds_that_leak.Thrice}[witness](epsilon=Fraction(1))
    few, more = (door.calls(spec, open_source(_table_of(people))) for people in (FEW_PEOPLE[:3], FEW_PEOPLE))
    assert door.refuted(spec, few, more, 4) is not None
    assert door.moved(few, more) == {"leaking": 1, "thrice": 3}[witness]


def test_a_measurement_is_made_of_nothing_but_what_was_drawn() -> None:
    batch = pa.record_batch({"people": [41]})
    with pytest.raises(TypeError, match="only release"):
        Drawn(batch, door=object())
    with pytest.raises(TypeError, match="was not drawn"):
        Measurement(total=batch)
    for column in (pa.array([0.5]), pa.array(["a"]), pa.array([None], pa.int64())):
        with pytest.raises(CheckFailed):
            loaded(pa.schema([("people", column.type)]), pa.record_batch({"people": column}))


DRAWN_ALONE = {  # columns of drawn numbers from which nothing else that is published follows
    "toy": {"people"},
    "queries, halfspaces": {"count"},
    "quantile, crowds": {"people"},
    "sum, profiles": {"sum"},  # a layer above one that noise drowns, where the interval ends with what is told below
}


@every_case
def test_a_changed_number_does_not_pass_even_if_it_is_signed_anew(name: str, forger: Path, tmp_path: Path) -> None:
    """A number that was drawn may be changed a little and still be one that the release could have drawn, with the same
    interval; changed by a lot, something that follows from it does not."""
    case = CASES[name]
    spec = case.spec()
    measurement, _ = _measured(case, case.fewer)
    files = {file: data for file, data in _published(spec, measurement).items() if file.endswith(".csv")}
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)
    body = unsigned(spec)

    def passes() -> bool:
        digests = {file: sha256(tmp_path / file) for file in sorted(files)}
        return verify(sign(forger, body | {"files": digests}), folder=tmp_path).passed

    assert passes()
    for file, data in files.items():
        for column, edits, is_usable in _numbers_changed(data.decode()):
            found = []
            for edited in edits:
                (tmp_path / file).write_text(edited)
                found.append(passes())
            follows = is_usable or column.endswith(("low", "high"))  # of what is not usable nothing is told
            assert not all(found) or not follows or column in DRAWN_ALONE.get(name, ()), (file, column)
        (tmp_path / file).write_bytes(data)


@every_case
def test_no_file_is_left_out_of_a_certificate_or_stands_beside_the_release_unread(
    name: str, forger: Path, tmp_path: Path
) -> None:
    """Signed anew, a certificate that named fewer files held, and one that named raw data as well ticked its digest."""
    case = CASES[name]
    spec = case.spec()
    files = {k: v for k, v in _published(spec, _measured(case, case.fewer)[0]).items() if k.endswith(".csv")}

    def failure(named: Mapping[str, bytes]) -> str:
        for file, data in named.items():
            (tmp_path / file).write_bytes(data)
        digests = {file: sha256(tmp_path / file) for file in sorted(named)}
        done = verify(sign(forger, unsigned(spec) | {"files": digests}), folder=tmp_path)
        return "" if done.passed else done.failure

    assert failure(files) == failure({**files, "report.html": b"<p>"}) == ""
    for file in files.keys() - {"release.csv"}:
        less = {other: data for other, data in files.items() if other != file}
        assert "does not name it" in failure(less), file
        assert "does not name it" in failure({**less, "report.html": b"<p>"}), file
    for extra in ("people.csv", "people.parquet", "people.json", "people.html", "release2.csv"):
        assert "no such file" in failure({**files, extra: b'"id"\n1\n'}), extra


MANY = pa.concat_tables([FEWER.set_column(2, "id", pa.array(range(41 * i, 41 * i + 41))) for i in range(9)])


@pytest.mark.parametrize("kind", ["histogram", "cube", "mean"])
def test_found_bins_stand_in_the_order_of_their_labels_or_do_not_pass(kind: str, forger: Path, tmp_path: Path) -> None:
    """The order of rows is published too: that of the table would tell who stood first."""
    words: dict[str, Any] = {"by": ("town", "age:0..90:45"), "crowd": "5"}
    words |= {"margins": "town"} if kind == "cube" else {"of": "age:0..90:5", "epsilon": "1"} if kind == "mean" else {}
    case = Case(kind, words, MANY, MANY)
    spec = case.spec()
    files = {k: v for k, v in _published(spec, _measured(case, MANY)[0]).items() if k.endswith(".csv")}
    for file, data in files.items():
        (tmp_path / file).write_bytes(data)

    def passes() -> bool:
        digests = {file: sha256(tmp_path / file) for file in sorted(files)}
        return verify(sign(forger, unsigned(spec) | {"files": digests}), folder=tmp_path).passed

    assert passes()
    head, *rows = files["release.csv"].decode().splitlines(keepends=True)
    assert len(rows) > 3
    for other in (rows[::-1], [rows[1], rows[0], *rows[2:]], [*rows[:-2], rows[-1], rows[-2]]):
        (tmp_path / "release.csv").write_text("".join([head, *other]))
        assert not passes()


def _numbers_changed(text: str) -> Iterator[tuple[str, list[str], bool]]:
    """For each column of numbers the file with one of them made larger, and made smaller, by a lot: one that is usable, if
    there is any, and whether it is."""
    head, *rows = [line.split(",") for line in text.splitlines()]
    for i, column in enumerate(head):
        some = [at for at, row in enumerate(rows) if re.fullmatch(r"-?[\d.]+(e-?\d+)?", row[i])]
        if not some or len({len(row) for row in rows}) > 1:
            continue
        usable = [at for at in some if "not usable" not in rows[at][-1]]
        at = (usable or some)[len(usable or some) // 2]
        edits = []
        for by in (1000, -1000):
            edited = [list(row) for row in rows]
            old = rows[at][i]
            edited[at][i] = str(int(old) + by) if old.lstrip("-").isdigit() else str(float(old) + by + 0.123)
            edits.append("\n".join(",".join(row) for row in (head, *edited)) + "\n")
        yield column.strip('"'), edits, bool(usable)


# --- what comes out -----------------------------------------------------------------------------------------------


def _without_numbers(sentences: tuple[str, ...]) -> list[str]:
    """What is said whatever was drawn: how many bins came out with too little to say is one of the drawn numbers."""
    every = ["# of # numbers are shown." if sentence == "Nothing is hidden." else sentence for sentence in sentences]
    return [re.sub(r"\d[\d,]*", "#", sentence) for sentence in every]


@every_case
def test_neighbours_differ_in_numbers_alone(name: str) -> None:
    case = CASES[name]
    first, second = case.played(case.fewer).result, case.played(case.more).result
    for one, other in zip(first.sheets(), second.sheets(), strict=True):
        assert (one.name, one.schema) == (other.name, other.schema)
        if case.declared:
            assert one.rows == other.rows
    if case.declared:
        assert [keys for keys, _, _ in first.display(1000).rows] == [keys for keys, _, _ in second.display(1000).rows]
    assert _without_numbers(first.sentences()) == _without_numbers(second.sentences())
    assert set(first.facts()) == set(second.facts())


def _keys_listed(sheet: Sheet, keys: tuple[str, ...]) -> list[tuple[Any, ...]] | None:
    """The keys of each row of a file, a run of bins by what it goes from and to; None where the file has others."""
    rows = pa.Table.from_batches(list(sheet.batches()), sheet.schema).to_pylist()
    if set(keys) <= set(sheet.schema.names):
        return [tuple(row[key] for key in keys) for row in rows]
    if not {f"{key}_{end}" for key in keys for end in ("from", "to")} <= set(sheet.schema.names):
        return None
    return [tuple(_run_named(row[f"{key}_from"], row[f"{key}_to"]) for key in keys) for row in rows]


def _run_named(first: str, last: str) -> str:
    if first == last:
        return first
    ranges = [re.fullmatch(r"\[(\S+),(\S+)\)", each) for each in (first, last)]
    if ranges[0] and ranges[1]:
        return f"[{ranges[0][1]},{ranges[1][2]})"
    return f"{first} to {last}"


@every_case
def test_sheets_grid_facts_and_picture_tell_the_same(name: str) -> None:
    case = CASES[name]
    done = case.played(case.fewer)
    result = done.result
    main, *others = result.sheets()
    assert main.name == "release"
    assert len({sheet.name for sheet in (main, *others)}) == 1 + len(others)
    for sheet in (main, *others):
        tables = [pa.Table.from_batches(list(sheet.batches()), sheet.schema) for _ in range(2)]  # afresh each time
        assert tables[0].equals(tables[1])
        assert all(batch.schema == sheet.schema for batch in sheet.batches())
        assert tables[0].num_rows == sheet.rows
    assert len(done) == main.rows == len(list(done)) == done.to_arrow().num_rows == len(done.to_pandas())
    for first in (0, 2, 1000):
        grid = result.display(first)
        assert len(grid.rows) == min(first, main.rows if grid.total is None else grid.total)
        for keys, numbers, _ in grid.rows:
            assert (len(keys), len(numbers)) == (len(grid.keys), len(grid.numbers))
        listed = [rows for sheet in (main, *others) if (rows := _keys_listed(sheet, grid.keys)) is not None]
        found = [keys for keys, _, _ in grid.rows]
        if grid.total is None:
            assert found == listed[0][: len(found)]
        else:  # the rows of another file, or those of the release, each once
            assert found in (
                [rows[: len(found)] for rows in listed] + [list(dict.fromkeys(rows))[: len(found)] for rows in listed]
            )
    json.dumps(dict(result.facts()), allow_nan=False)
    drawing = result.drawing()
    if isinstance(drawing, Bars):
        assert drawing.bars
        assert all(bar.low <= (bar.low if bar.high is None else bar.high) for bar in drawing.bars)
        assert len({(bar.label, bar.panel) for bar in drawing.bars}) == len(drawing.bars)
        for text in (drawing.numbers, drawing.bar, drawing.line):
            assert text.strip()


@every_case
def test_the_report_depends_on_the_release_alone_and_has_every_promise(name: str) -> None:
    done = CASES[name].played(CASES[name].fewer)
    page = report(done)
    assert report(done) == page
    assert page.count("<article>") == len(done.promises)
    assert "None" not in re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)


# --- the way to the disk ------------------------------------------------------------------------------------------


def _performed(case: Case, dataset: str = "town") -> Release:
    engine = case.opened(case.fewer)
    return execute(case.spec(engine.columns()).bind(engine.columns()), engine, Ledger(), dataset, other_people=True)


@every_case
@pytest.mark.parametrize("form", ["csv", pytest.param("parquet", marks=pytest.mark.slow)])
def test_a_release_is_saved_with_its_certificate_and_entered(name: str, form: str, tmp_path: Path) -> None:
    made = _performed(CASES[name])
    written = save(made, tmp_path, form=form)
    assert set(written) == {"certificate", "dictionary", "report", *(sheet.name for sheet in made.result.sheets())}
    done = verify(Path(written["certificate"]).read_bytes(), folder=tmp_path, known=lambda public: "you")
    assert done.complete, done.verdict
    (record,) = Ledger().account("town").records
    assert record.files == {sha256(written["release"]): sha256(written["certificate"])}


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("name", ["histogram, found", "histogram, noise below", "graph, sampled", "toy"])
def test_a_save_that_is_cut_short_is_given_up_or_can_be_finished(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, ends = os.fsync, set()
    for nth in range(1, 30):
        made = _performed(CASES[name], f"town-{nth}")
        out, calls = tmp_path / str(nth), iter(range(1, 1000))

        def killing(handle: int, calls: Iterator[int] = calls, nth: int = nth) -> None:
            if next(calls) == nth:
                raise Killed
            whole(handle)

        monkeypatch.setattr(os, "fsync", killing)
        try:
            save(made, out)
        except Killed:
            monkeypatch.setattr(os, "fsync", whole)
            ends.add(_after(made, out))
        else:
            break
        finally:
            monkeypatch.setattr(os, "fsync", whole)
    else:
        pytest.fail("no run was left alone")
    assert ends == {"given up", "finished"}


def _after(made: Release, out: Path) -> str:
    """What is left of a release that was cut short, once somebody has looked after it."""
    assert made.reservation is not None
    for hidden in unfinished(out):
        finish(hidden)
    (record,) = Ledger().account(made.reservation.dataset).records
    visible = sorted(path.name for path in out.iterdir()) if out.exists() else []
    if not visible and record.state == "reserved":  # before the folder was held: it can be saved elsewhere
        assert record.is_spent
        return "given up"
    if not visible:
        assert (record.state, record.is_spent) == ("abandoned", made.drawn)
        return "given up"
    complete = [CERTIFICATE, PACKAGE, "release.csv", "report.html"]
    assert visible in (complete, [CERTIFICATE, "release.csv"])  # numbers first
    assert list(record.files) == [sha256(out / "release.csv")]
    assert verify((out / CERTIFICATE).read_bytes(), folder=out).passed
    return "finished"


# --- what a kind gets for nothing ---------------------------------------------------------------------------------


@pytest.fixture
def people(tmp_path: Path) -> Path:
    pq.write_table(FEWER, tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_the_toy_kind_has_a_command(people: Path, tmp_path: Path) -> None:
    words = [
        "release",
        "toy",
        str(people),
        "--person",
        "id",
        "--epsilon",
        "40",
        "--yes",
        "--out",
        str(tmp_path / "out"),
    ]
    told = json.loads(CliRunner().invoke(commands, [*words, "--json"], catch_exceptions=False).stdout)
    assert told["dataset"] == "people"
    assert [(each["notion"], each["epsilon_exact"], each["people"], each["unit"]) for each in told["guarantees"]] == [
        ("differential", "40", "table", "id")
    ]
    assert Path(told["release"]).read_text() == '"people"\n41\n'  # at epsilon 40 there is no noise to speak of
    done = CliRunner().invoke(commands, [*words, "--replace"])
    assert done.exit_code == 0, done.stderr
    assert "Promise (differential): Add or remove one person in the table" in done.stdout
    assert "Ledger: release 2 of people. All of them together: epsilon 80." in done.stdout
    check = CliRunner().invoke(commands, ["verify", told["certificate"]])
    assert check.exit_code == 0, check.stderr
    shown = CliRunner().invoke(commands, ["ledger", "show", "people"]).stdout
    assert "Release 1: the number of people" in shown
    assert "epsilon 80" in shown
    said = CliRunner().invoke(commands, ["explain", told["certificate"]]).stdout
    assert "The number of the people in the table, with noise." in said


def test_the_toy_kind_is_in_the_help_and_its_mistakes_are_one_sentence(people: Path, tmp_path: Path) -> None:
    assert "toy" in CliRunner().invoke(commands, ["release", "--help"]).stdout
    told = CliRunner().invoke(commands, ["release", "toy", "--help"]).stdout
    assert "Publish how many people there are." in told
    assert "--epsilon E" in told
    for more in (["--epsilon", "0"], ["--epsilon", "x"], ["--epsilon", "1", "--person", "nobody"]):
        done = CliRunner().invoke(commands, ["release", "toy", str(people), "--out", str(tmp_path / "none"), *more])
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.output


def test_the_toy_kind_is_refused_where_a_person_has_several_rows_and_nothing_is_spent() -> None:
    table = open_table(pa.table({"id": [1, 1, 2]}), person="id", dataset="town")
    with pytest.raises(Refused, match="exactly one row for each person"):
        table.publish(registry.kind("toy").from_options(epsilon="1", person="id"))
    (record,) = Ledger().account("town").records
    assert not record.is_spent


def test_a_toy_adds_up_with_a_histogram() -> None:
    table = open_table(FEWER, person="id", dataset="town")
    table.publish(registry.kind("toy").from_options(epsilon="1", person="id"))
    table.histogram(list(TOWN), crowd=20, epsilon="0.5")
    total = Ledger().account("town").totals
    assert total is not None
    assert str(total.crowd_blending.guarantee) == "(20, 2)-crowd-blending"


def test_a_kind_that_nobody_registered_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(registry._WHERE, "toy")  # type: ignore[arg-type]
    listed = ", ".join(registry.names())
    with pytest.raises(WrongUse, match=f"there is no kind of release 'toy'; there are {listed}"):
        registry.kind("toy")
    assert CliRunner().invoke(commands, ["release", "toy"]).exit_code == 2
