"""Threats 42, 43, 52 and 73: what is read is possible, lies in its interval, and has one status in file, table and chart."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import hubbub
from hubbub import registry
from hubbub.guarantees.definitions import ZeroKnowledge
from hubbub.kinds.queries.result import Synopsis
from hubbub.kinds.series.request import from_options
from hubbub.kinds.series.result import Totals as Periods
from hubbub.kinds.sum.result import Totals
from hubbub.kinds.sums.columns import HIDDEN, SHOWN, UNTOLD
from hubbub.protocol.drawing import Bars
from hubbub.protocol.release import Release
from hubbub.protocol.result import NOT_USABLE
from hubbub.report import report
from tests.fresh import enter as open_table

TOWNS = "town=Bath,York,Wells,Hull,Ely,Leeds,Derby"
PEOPLE = pa.table(
    {
        "town": ["Bath"] * 300 + ["York"] * 40 + ["Wells"],
        "pay": [1000 + 37 * i for i in range(341)],
        "age": [i % 90 for i in range(341)],
        "sex": ["f", "m", "f"] * 113 + ["m", "m"],
    }
)
GOLDEN = Path(__file__).parents[2] / "golden" / "format"
BY_BINS: dict[str, tuple[str, dict[str, Any]]] = {
    "medians": ("quantile", {"of": "pay:0..500000:100", "by": [TOWNS], "epsilon": 1}),
    "means": ("mean", {"of": "pay:0..500000:100", "by": [TOWNS], "epsilon": "0.2"}),
    "shares": ("fraction", {"where": "sex = f", "by": [TOWNS], "epsilon": "0.5"}),
    "deviations": ("std", {"of": "pay:0..20000:100", "by": [TOWNS], "epsilon": 1}),
    "ratios": ("ratio", {"of": "pay:0..20000:100", "per": "age:0..90:1", "by": [TOWNS], "epsilon": 1}),
    "sums": ("sum", {"of": "pay:0..20000:100", "by": [TOWNS], "epsilon": 1}),
    "crowds": ("mean", {"of": "pay:0..500000:100", "by": [TOWNS], "epsilon": 1, "crowd": 20}),
    "medians of crowds": ("quantile", {"of": "pay:0..500000:100", "by": [TOWNS], "epsilon": "0.01", "crowd": 20}),
}
WORDS = {HIDDEN: "hidden", UNTOLD: NOT_USABLE}


def made(name: str) -> Release:
    kind, words = BY_BINS[name]
    found: Release = getattr(open_table(PEOPLE), kind)(**words)
    return found


@pytest.mark.parametrize("name", BY_BINS)
def test_a_number_has_one_status_in_file_table_chart_and_json(name: str) -> None:
    release = made(name)
    rows = list(release)
    drawing = release.result.drawing()
    facts: Any = release.result.facts()
    assert {row["status"] for row in rows} <= {SHOWN, HIDDEN, UNTOLD}
    assert UNTOLD == NOT_USABLE
    for i, (row, (_, (read, *_), pale)) in enumerate(zip(rows, release.result.display(99).rows, strict=True)):
        assert (row["estimate"] is not None) == (row["status"] == SHOWN) == (not pale), row
        assert read == WORDS.get(row["status"], read), row
        assert facts["answers"][i]["status"] == row["status"]
        assert (facts["answers"][i]["estimate"] is None) == (row["estimate"] is None)
        if isinstance(drawing, Bars):
            assert (drawing.bars[i].value is None) == (row["estimate"] is None)
            assert drawing.bars[i].unknown == (row["status"] == UNTOLD)
    page = report(release)
    assert (page.count(f">{NOT_USABLE}</td>") > 0) == any(row["status"] == UNTOLD for row in rows)


@pytest.mark.parametrize("name", ["medians", "means", "shares", "medians of crowds"])
def test_a_number_that_may_be_anything_declared_is_not_usable(name: str) -> None:
    least, most = (0, 1) if name == "shares" else (0, 500000)
    rows = list(made(name))
    for row in rows:
        assert (row["status"] == UNTOLD) == (row["low"] <= least and row["high"] >= most and row["status"] != HIDDEN)
    assert any(row["status"] != SHOWN for row in rows), "nobody is in four of the towns"


def test_a_quantile_without_an_interval_is_shown() -> None:
    found = open_table(PEOPLE).quantile("pay:0..500000:100", [TOWNS], epsilon=1, interval_share=0)
    assert [row["status"] for row in found] == [SHOWN] * 7


def test_every_estimate_of_every_golden_release_is_in_its_interval() -> None:
    """Of answers to a class of questions the estimates agree in all sums, and may be below 0 for that."""
    checked = 0
    for file in GOLDEN.rglob("*.csv"):
        if file.parent.name in ("queries", "synthetic"):
            continue
        with file.open(newline="") as lines:
            for row in csv.DictReader(lines):
                for value, low, high in (
                    ("estimate", "low", "high"),
                    ("increment", "increment_low", "increment_high"),
                    ("total", "total_low", "total_high"),
                    ("value", "low", "high"),
                    ("mean", "mean_low", "mean_high"),
                ):
                    if not row.get(value) or low not in row:
                        continue
                    checked += 1
                    assert float(row[low]) <= float(row[value]), (file, row)
                    assert not row[high] or float(row[value]) <= float(row[high]), (file, row)
    assert checked > 40


def test_who_has_no_interval_says_nothing_of_one() -> None:
    for certificate in GOLDEN.rglob("certificate.json"):
        body = json.loads(certificate.read_bytes())
        words = registry.read(body["kind"], body["release"]).describe()
        assert words.intervals or not words.interval_headline, certificate
    assert "interval" not in report(open_table(PEOPLE).records(["town"], crowd=20))


def test_a_period_that_noise_pushed_below_0_is_no_certainty() -> None:
    spec = replace(
        from_options(name="s", kind="histogram", by=["ward=a,b"], person="id", periods=2, first="2026-01", epsilon=1),
        period="2026-01",
    )
    result = Periods(spec, (np.array([[-39, 12]]),))
    below, above = result.increment(0)
    assert below.value == below.low == 0
    assert below.high == above.high - 12 > 0
    assert result.display(2).rows[0][1] == ("0", f"0 to {below.high}")


def test_an_answer_below_0_is_read_as_possible() -> None:
    release = open_table(PEOPLE).queries([TOWNS, "sex=f,m"], "marginals:1", epsilon="0.1", method="per-query")
    found: Any = release.result
    assert isinstance(found, Synopsis)
    answer = found._answer({}, Fraction(-39), Fraction(20), Fraction(9))
    assert (answer.low, answer.high, answer.own_low, answer.own_high) == (0, 20, 0, 9)
    assert answer.sentence().startswith("About 0 people, between 0 and 20")


def test_the_promise_of_a_network_and_its_explanation_name_one_number(tmp_path: Path) -> None:
    edges = tmp_path / "edges.csv"
    edges.write_text("a,b\n" + "".join(f"{i},{(i + 1) % 400}\n" for i in range(400)))
    network = hubbub.open_graph(edges, ledger=tmp_path / "ledger.db")
    release = network.statistics(["connectivity", "average-degree"], vertices=400, max_degree=4, epsilon=2, samples=40)
    promise = release.promises[0].conclusion
    assert isinstance(promise, ZeroKnowledge)
    assert promise.aggregate.k == 80  # type: ignore[union-attr]
    words = release.spec.describe()
    assert "the 80 random people of the promise, 40 for each of 2 counts," in words.sampling
    assert words.entry.endswith("80 samples")
    alone = network.statistics(["connectivity"], vertices=400, max_degree=4, epsilon=2, samples=40).spec.describe()
    assert "the 40 random people of the promise are" in alone.sampling


def test_a_sum_says_where_it_is_capped_and_draws_the_interval_of_its_file() -> None:
    table = open_table(PEOPLE)
    layered = table.sum("pay:0..1000000:1", [TOWNS], cap="layers", epsilon=1)
    assert isinstance(layered.result, Totals)
    drawing = layered.result.drawing()
    assert isinstance(drawing, Bars)
    for bar, row in zip(drawing.bars, layered, strict=True):
        assert bar.low == pytest.approx(row["low"], rel=1e-5)
        assert bar.high == pytest.approx(row["high"], rel=1e-5)
    assert layered.result._cuts
    assert "large values capped" in drawing.bar
    assert layered.result.display(1).numbers[0] == "sum of pay, large values capped"
    assert "capped" in layered.spec.describe().headline
    capped = table.sum("pay:0..1000000:1", [TOWNS], epsilon=1, cap=500)
    drawing = capped.result.drawing()
    assert isinstance(drawing, Bars)
    assert drawing.bar == "Estimated sum of pay, capped at 500"
    assert capped.spec.describe().title == "Sum of pay, capped at 500, by town"
    assert "not what lies above the cap" in drawing.line
    loose = table.sum("pay:0..1000:1", [TOWNS], epsilon=1, cap=1000)
    assert loose.spec.describe().title == "Sum of pay, by town", "nobody can have more"


@pytest.mark.parametrize("words", [{}, {"rows_per_person": 2}], ids=str)
def test_what_is_read_of_a_cube_is_the_column_of_its_file_of_that_name(words: dict[str, Any]) -> None:
    people = PEOPLE.append_column("id", pa.array(range(PEOPLE.num_rows)))
    release = open_table(people, person="id").cube([TOWNS, "sex=f,m"], epsilon="0.1", **words)
    grid = release.result.display(99)
    assert grid.numbers == ("estimate", "interval")
    for row, (_, (read, interval), _) in zip(release, grid.rows, strict=True):
        assert read == f"{row['estimate']:,}"
        assert row["low"] <= row["estimate"] <= row["high"]
        assert interval == f"{row['low']:,} to {row['high']:,}"
