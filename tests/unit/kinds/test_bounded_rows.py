"""Releases that count several rows of a person: what they count, what they promise, what is refused."""

from __future__ import annotations

import csv
import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from hubbub.audit.exact import of_spec
from hubbub.audit.finding import Finding
from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, HubbubError, Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.people import People
from hubbub.guarantees.verdict import Proved, Refuted
from hubbub.kinds.cube.request import cube
from hubbub.kinds.cube.spec import is_possible
from hubbub.kinds.histogram.request import histogram
from hubbub.kinds.points.request import points
from hubbub.kinds.queries.request import queries
from hubbub.kinds.sums.count import COUNT
from hubbub.ledger.ledger import Ledger
from hubbub.numeric.exact import to_text
from hubbub.protocol.spec import Spec
from hubbub.registry import read
from hubbub.tables.contribution import ContributionBounds, Moved
from hubbub.tables.privacy_unit import Unit, of_numbers
from tests.fresh import counts, open, opened
from tests.unit.shared.statistics import statistic

HARDLY = {"epsilon": 90}  # noise that is nearly always 0
WARDS = ["ward=a,b,c"]
VISITS = [(p, "abc"[(p + i) % 3], (p + i) % 4 == 0, (p * 7 + 5 * i) % 20) for p in range(300) for i in range(1 + p % 6)]
TABLE = pa.table({name: [row[i] for row in VISITS] for i, name in enumerate(("patient", "ward", "back", "stay"))})


def answers(release: Any) -> list[dict[str, Any]]:
    return list(release.result.facts()["answers"])


def unit(**bounds: Any) -> Unit:
    return Unit(person="patient", **bounds)


# --- what they count --------------------------------------------------------------------------------------------------


def test_with_a_bound_that_nobody_exceeds_rows_are_counted_as_they_are() -> None:
    table, six = open(TABLE, person="patient"), {"rows_per_person": 6, **HARDLY}
    right = Counter(ward for _, ward, _, _ in VISITS)
    assert counts(table.histogram(WARDS, **six)).published.values.tolist() == [right[ward] for ward in "abc"]
    assert answers(table.count(count_rows=True, **six))[0]["estimate"] == len(VISITS)
    assert answers(table.count(where="back = true", **six))[0]["estimate"] == sum(back for _, _, back, _ in VISITS)
    share = Fraction(sum(back for _, _, back, _ in VISITS), len(VISITS))
    assert answers(table.fraction(where="back = true", **six))[0]["value"] == to_text(share)
    mean = Fraction(sum(stay for *_, stay in VISITS), len(VISITS))
    assert answers(table.mean("stay:0..30:1", rows_per_person=6, epsilon=8000))[0]["value"] == to_text(mean)
    stays = sorted(stay for *_, stay in VISITS)
    middle = answers(table.quantile("stay:0..30:1", **six))[0]["value"]
    assert stays[len(VISITS) // 2 - 20] <= int(middle) <= stays[len(VISITS) // 2 + 20]


def test_with_fewer_each_person_counts_with_so_many_rows() -> None:
    table = open(TABLE, person="patient")
    kept = sum(min(1 + p % 6, 2) for p in range(300))
    assert answers(table.count(rows_per_person=2, **HARDLY))[0]["estimate"] == kept
    assert counts(table.histogram(WARDS, rows_per_person=2, **HARDLY)).published.values.sum() == kept
    one_each = sum(min(1 + p % 6, 3) for p in range(300))  # rows of a person go round the wards
    assert counts(table.histogram(WARDS, rows_per_bin=1, **HARDLY)).published.values.sum() == one_each
    one_ward = counts(table.histogram(WARDS, distinct=1, rows_per_bin=9, **HARDLY)).published.values.sum()
    assert 300 < one_ward <= 450  # in a ward there are one or two rows of a person


def test_any_row_by_bins_is_the_share_of_the_people_of_a_bin_who_ever_met_it_there() -> None:
    there: dict[tuple[int, str], bool] = {}
    for patient, ward, back, _ in VISITS:
        there[patient, ward] = there.get((patient, ward), False) or back
    table = open(TABLE, person="patient")
    ever = {"where": "back = true", "any_row": True, "distinct": 3, **HARDLY}
    for ward, share, count in zip(
        "abc", answers(table.fraction(WARDS, **ever)), answers(table.count(WARDS, **ever)), strict=True
    ):
        met = [yes for (_, here), yes in there.items() if here == ward]
        assert share["value"] == to_text(Fraction(sum(met), len(met)))
        assert count["estimate"] == sum(met)


@pytest.mark.parametrize(
    ("bounds", "moved"),
    [
        ({"rows_per_person": 5}, 5),
        ({"rows_per_person": 5, "rows_per_bin": 1}, 3),
        ({"rows_per_person": 5, "distinct": 2, "rows_per_bin": 2}, 4),
        ({"rows_per_bin": 2}, 6),
        ({"distinct": 100, "rows_per_bin": 1}, 3),
        ({"rows_per_person": 2, "distinct": 100, "rows_per_bin": 100}, 2),
    ],
)
def test_noise_follows_the_least_of_what_bounds_and_bins_make_possible(bounds: dict[str, int], moved: int) -> None:
    spec = histogram(WARDS, epsilon=1, unit=unit(**bounds))
    (promise,) = spec.promises()
    assert promise.conclusion == DifferentialPrivacy(epsilon=Fraction(1))
    assert promise.theorem.id == "rows.several"
    assert dict(promise.numbers) == {"most": str(moved), "epsilon": to_text(Fraction(1, moved))}
    assert promise.premises[0].people == People(person="patient")
    mean = statistic("mean", of="stay:0..30:1", by=WARDS, epsilon=1, unit=unit(**bounds))
    assert mean.sum_rate == Fraction(1, 30 * moved)
    assert statistic("mean", of="stay:0..30:1", epsilon=1, unit=unit(rows_per_person=5, rows_per_bin=2)).moved == 2


@pytest.mark.parametrize("bounds", [{"rows_per_person": 5}, {"rows_per_person": 4, "rows_per_bin": 2, "distinct": 3}])
def test_the_auditor_plays_people_with_all_rows_that_count(
    bounds: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every person whom the bounds leave is listed; a sensitivity that is one row too small is refuted."""

    def specs() -> list[Spec]:
        cells = [*WARDS, "back=true,false"]
        schema = open(TABLE, person="patient").engine.columns()
        return [
            histogram(WARDS, epsilon=1, unit=unit(**bounds)),
            statistic("count", by=WARDS, epsilon=1, unit=unit(**bounds)),
            statistic("mean", of="stay:0..30:1", by=WARDS, epsilon=1, unit=unit(**bounds)),
            cube(cells, epsilon=1, unit=unit(**bounds)).with_schema(schema),
            queries(WARDS, "marginals:1", epsilon=1, unit=unit(**bounds)),
        ]

    def played(spec: Spec) -> list[Finding]:
        return [each for each in of_spec(spec) if "a person with all rows that count" in str(each.verdict)]

    for spec in specs():
        (found,) = played(spec)
        assert isinstance(found.verdict, Proved)
    right = ContributionBounds.rows
    monkeypatch.setattr(
        ContributionBounds, "rows", lambda self, bins, swap=False: Moved(right(self, bins).l1 - 1, right(self, bins)[1])
    )
    for spec in specs():
        (found,) = played(spec)
        assert isinstance(found.verdict, Refuted)


# --- what they say ----------------------------------------------------------------------------------------------------


def test_file_screen_json_and_page_say_what_is_counted_and_verify_agrees(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "visits.parquet")
    common = ["--person", "patient", "--epsilon", "1", "--rows-per-person", "5", "--rows-called", "visits", "--json"]
    for words, column in (
        (["histogram", "--by", WARDS[0]], "visits"),
        (["count", "--count-rows", "--where", "back = true"], "visits"),
        (["fraction", "--where", "back = true", "--by", WARDS[0]], "part"),
        (["mean", "--of", "stay:0..30:1"], "part"),
        (["quantile", "--of", "stay:0..30:1", "--q", "0.9"], "estimate"),
    ):
        out = tmp_path / words[0]
        asked = ["release", words[0], str(tmp_path / "visits.parquet"), *words[1:], *common, "--out", str(out)]
        done = CliRunner().invoke(commands, asked, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        bounds = {"rows_per_person": 5, "distinct": None, "rows_per_bin": None, "cap_per_bin": None, "cap": None}
        assert told["bounds"] == bounds
        assert told["counts"]["number"] == "kept-rows"
        assert {each["neighbours"] for each in told["guarantees"]} == {"add/remove"}
        with (out / "release.csv").open() as file:
            assert column in next(csv.reader(file))
        page = " ".join((out / "report.html").read_text().split())
        assert "visits that this release kept, at most 5 of each patient" in page
        checked = CliRunner().invoke(commands, ["verify", str(out / "certificate.json")])
        assert checked.exit_code == 0, checked.output


def test_without_a_name_the_column_says_kept_rows() -> None:
    release = open(TABLE, person="patient").histogram(WARDS, rows_per_person=2, epsilon=1)
    assert release.result.sheets()[0].schema.names[:2] == ["ward", "kept_rows"]
    assert "Rows, at most 2 of each patient, by ward" in release.spec.describe().title


def test_one_row_of_each_person_is_counted_in_a_column_of_kept_rows() -> None:
    """Where people are counted the column is called `count`."""
    table = open(TABLE, person="patient")
    for words, column in (({"one_row_per_person": True}, "kept_rows"), ({"distinct": 2}, "count")):
        found = table.histogram(WARDS, epsilon=1, **words)
        assert found.result.sheets()[0].schema.names[:2] == ["ward", column]


def test_the_ledger_adds_them_up_as_promises_to_people() -> None:
    table = opened(TABLE, person="patient", dataset="visits")
    table.histogram(WARDS, rows_per_person=5, epsilon=1)
    table.mean("stay:0..30:1", rows_per_person=2, epsilon=1)
    table.count(where="back = true", any_row=True, epsilon=1)
    total = Ledger().account("visits").totals
    assert total is not None
    assert total.differential.guarantee == DifferentialPrivacy(epsilon=Fraction(3))


# --- what is refused --------------------------------------------------------------------------------------------------

ROWS = {"rows_per_person": 2}
WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("histogram", {"by": WARDS, **ROWS, "crowd": 5}, "covered by plain noise only"),
    ("histogram", {"by": WARDS, **ROWS, "outlier": "1:0.1,10:1"}, "covered by plain noise only"),
    ("histogram", {"by": ["ward"], **ROWS, "epsilon": 1, "delta": "1e-6"}, "declare the bins"),
    ("histogram", {"by": WARDS, **ROWS, "epsilon": 1, "sample": "0.5"}, "cannot be sampled"),
    ("histogram", {"by": WARDS, **ROWS, "epsilon": 1, "parts": 2}, "leave out parts"),
    ("histogram", {"by": WARDS, **ROWS, "epsilon": 1, "one_row_per_person": True}, "exclude each other"),
    ("histogram", {"by": WARDS, **ROWS, "epsilon": 1, "expected_rows": True}, "leave out expected_rows"),
    ("histogram", {"by": WARDS, "rows_per_person": 0, "epsilon": 1}, "at least 1"),
    ("histogram", {"by": WARDS, "rows_per_person": 2_000_000, "epsilon": 1}, "from 1 to 1,000,000"),
    ("histogram", {"by": WARDS, "rows_per_bin": "1/2", "epsilon": 1}, "whole number"),
    ("histogram", {"by": WARDS, "rows_called": "visits", "epsilon": 1}, "said where rows count"),
    ("histogram", {"by": WARDS, **ROWS, "rows_called": "Visits!", "epsilon": 1}, "small letters"),
    ("histogram", {"by": WARDS, **ROWS, "rows_called": "count", "epsilon": 1}, "no column of the published table"),
    ("count", {"count_rows": True, "epsilon": 1}, "add rows_per_person=M"),
    ("count", {"distinct": 2, "by": WARDS, "epsilon": 1}, "add any_row=True, or rows_per_person=M"),
    ("count", {**ROWS, "any_row": True, "where": "stay > 1", "epsilon": 1}, "exclude each other"),
    (
        "count",
        {"any_row": True, "where": "stay > 1", "distinct": 2, "epsilon": 1, "crowd": 5, "by": WARDS},
        "plain noise",
    ),
    ("count", {"any_row": True, "where": "stay > 1", "distinct": 1, "crowd": 5, "by": WARDS}, "stands in no one crowd"),
    ("count", {**ROWS, "by": ["ward"], "epsilon": 1}, "bins are declared"),
    ("mean", {"of": "stay:0..30:1", **ROWS, "expected_rows": True, "epsilon": 1}, "add one_row_per_person=True"),
    ("quantile", {"of": "stay:0..30:1", "distinct": 2, "epsilon": 1}, "distinct is in how many bins"),
]


@pytest.mark.parametrize(("name", "words", "rule"), WRONG, ids=[rule for _, _, rule in WRONG])
def test_a_wrong_use_is_one_sentence_and_nothing_is_spent(name: str, words: dict[str, Any], rule: str) -> None:
    table = opened(TABLE, person="patient", dataset="visits")
    with pytest.raises((WrongUse, Refused), match=rule) as refused:
        getattr(table, name)(**words)
    assert "\n" not in str(refused.value)
    assert not Ledger().accounts()


def test_a_person_column_is_needed() -> None:
    with pytest.raises(WrongUse, match="needs the person column"):
        opened(TABLE, dataset="visits").count(epsilon=1, rows_per_person=2)


def test_no_description_makes_another_kind_count_several_rows() -> None:
    """A certificate that somebody forged: rows in a cube or points, more bins than there are, a noise of less rows."""
    several = unit(rows_per_person=3)
    with pytest.raises(HubbubError):
        points(["x", "y"], box="x:0..1 y:0..1", grid="2x2", crowd=5, epsilon=1, unit=several)
    cells = histogram([*WARDS, "back=true,false"], epsilon=1, unit=unit(one_row_per_person=True))
    assert is_possible(cells)
    assert is_possible(replace(cells, unit=several))  # a cube may count rows too
    told = histogram(WARDS, epsilon=1, unit=several).to_json()
    assert isinstance(told["unit"], dict)
    assert read("histogram/1", told).promises()[0].conclusion == DifferentialPrivacy(epsilon=Fraction(1))
    more = read("histogram/1", {**told, "unit": {**told["unit"], "rows_per_person": 9}})
    assert more.promises()[0].conclusion == DifferentialPrivacy(epsilon=Fraction(3))
    with pytest.raises(CheckFailed):
        read("histogram/1", {**told, "unit": {**told["unit"], "rows_per_person": 0}})
    with pytest.raises(CheckFailed):
        read("histogram/1", {**told, "unit": {**told["unit"], "rows_per_person": None}})
    with pytest.raises(Refused):
        read("histogram/1", {**told, "sample": "0.5"}).promises()
    count = statistic("count", by=WARDS, epsilon=1, unit=of_numbers("patient", rows_per_person=3)).to_json()
    assert isinstance(count["unit"], dict)
    with pytest.raises(CheckFailed):
        COUNT.from_json({**count, "unit": {**count["unit"], "rows_per_person": 9, "distinct": 8}})
