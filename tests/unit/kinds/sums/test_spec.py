"""Counts, shares, means and quantiles from the outside: what comes out, what is refused, and what is not told."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import exp
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from hubbub.cli.main import commands
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.kinds.questions import text as questions_text
from hubbub.kinds.questions.request import questions
from hubbub.kinds.sums.intervals import drawn, noise_reach, of_sums, reach, widened
from hubbub.kinds.sums.mean import Mean
from hubbub.kinds.sums.result import answers_of, schema
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.release import Release
from hubbub.report import report
from hubbub.tables.bounded_column import Measure, measured
from hubbub.tables.engine import OTHER_NUMBER
from tests.fresh import open as open_table
from tests.fresh import opened
from tests.unit.shared.presented import wrong
from tests.unit.shared.statistics import statistic

N = 600
PEOPLE = pa.table(
    {
        "id": list(range(N)),
        "town": ["Bath"] * 400 + ["York"] * 190 + ["Wells"] * 10,
        "age": [7 * i % 90 for i in range(N - 1)] + [None],
        "pay": [1000 * (i % 50) for i in range(N)],
    }
)
BY = ["town=Bath,York,Wells"]
KNOWN = {"zero_knowledge": "2", "rows": 200, "people": N}
Asked = list[tuple[str, dict[str, Any]]]
HARDLY = {"epsilon": "40"}  # noise that is nearly always 0


def answers(release: Release) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = release.result.facts()["answers"]
    return found


# --- what comes out -----------------------------------------------------------------------------------------------


def test_with_hardly_any_noise_the_numbers_are_the_true_ones() -> None:
    table = open_table(PEOPLE, person="id")
    ages = [7 * i % 90 for i in range(N - 1)]
    old = sum(age >= 65 for age in ages)
    assert answers(table.count(where="age >= 65", **HARDLY))[0]["value"] == str(old)
    (share,) = answers(table.fraction(where="age >= 65", **HARDLY))
    assert Fraction(share["value"]) == Fraction(old, N)
    assert share["estimate"] == pytest.approx(old / N)
    (mean,) = answers(table.mean("age:0..100:1", epsilon="4000"))
    assert Fraction(mean["value"]) == Fraction(sum(ages), N - 1)  # who has no age is left out
    (clamped,) = answers(table.mean("age:20..60:20", epsilon="4000"))
    nearest = [20 if age < 30 else 40 if age < 50 else 60 for age in ages]  # outside the range: the nearer end
    assert Fraction(clamped["value"]) == Fraction(sum(nearest), N - 1)
    bath, york, wells = answers(table.mean("pay:0..49000:1000", BY, crowd=20, epsilon="4000"))
    assert [bath["value"], york["people"], wells["value"], wells["people"]] == ["24500", 190, None, None]
    (median,) = answers(table.quantile("pay:0..49000:1000", **HARDLY))
    assert median["value"] in ("24000", "25000")
    assert (median["low"], median["high"]) == pytest.approx((24500, 24500), abs=2000)
    by = answers(table.count(BY, where="pay >= 0", **HARDLY))
    assert [(each["key"]["town"], each["estimate"]) for each in by] == [("Bath", 400), ("York", 190), ("Wells", 10)]


def test_everybody_known_and_little_noise_is_the_true_share_of_all() -> None:
    table = open_table(PEOPLE, person="id")
    (share,) = answers(table.fraction(where="town = Bath", zero_knowledge="30", rows=N, people=N))
    assert Fraction(share["value"]) == Fraction(400, N)
    assert share["low"] <= 400 / N <= share["high"]


@pytest.mark.parametrize("kind", ["mean", "quantile"])
def test_every_front_end_says_what_values_are_cut_and_rounded_to(tmp_path: Path, kind: str) -> None:
    """Screen, JSON, report (which is what the studio shows) and explanation; the certificate has range and step."""
    rows = pa.table({"v": [0.4] * 500 + [14.0] * 100})
    pq.write_table(rows, tmp_path / "v.parquet")
    words = ["release", kind, str(tmp_path / "v.parquet"), "--rows-are-people", "--of", "v:0..10:1", "--epsilon", "1"]
    said = "of values cut to 0..10 and rounded to 1"

    def told(*more: str) -> str:
        done = CliRunner().invoke(commands, [*words, "--out", str(tmp_path / "out"), *more], catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
        return done.stdout

    screen = " ".join(told().split())
    assert "Values below 0 count as 0, and values above 10 as 10, each rounded to 1." in screen
    assert f"the true {kind}" not in screen
    assert "Values beyond 0..10 count as the nearer end" in " ".join(told("--replace", "--explain").split())
    assert json.loads(told("--replace", "--json"))["values"] == said.removeprefix("of ")
    certificate = str(tmp_path / "out" / "certificate.json")
    assert said in (tmp_path / "out" / "report.html").read_text()
    explained = CliRunner().invoke(commands, ["explain", certificate], catch_exceptions=False).stdout
    assert said in " ".join(explained.split())
    assert CliRunner().invoke(commands, ["verify", certificate]).exit_code == 0


def test_a_notebook_says_what_values_are_cut_and_rounded_to() -> None:
    made = open_table(pa.table({"v": [0.4] * 500 + [14.0] * 100})).mean("v:0..10:1", epsilon="1")
    for text in (str(made), made._repr_html_()):
        assert "An interval holds the mean of v, of values cut to 0..10 and rounded to 1" in text
    assert repr(made).startswith("<mean of v: 1 row; promised")


def test_questions_say_what_values_are_cut_and_rounded_to() -> None:
    spec = questions(
        [{"name": "pay", "kind": "mean", "of": "pay:0..50000:1000"}], zero_knowledge="1", rows=200, people=N
    )
    said = "values cut to 0..50000 and rounded to 1000"
    words = questions_text.describe(spec)
    assert said in words.intervals
    assert said in dict(words.public)["pay"]
    assert any(said in note for note in questions_text.notes(spec))


def test_half_a_step_is_added_and_nothing_beyond_the_range() -> None:
    measure = measured("v:0..10:1")
    assert measure.unrounded(Fraction(3), Fraction(7)) == (Fraction(5, 2), Fraction(15, 2))
    assert measure.unrounded(Fraction(0), Fraction(10)) == (0, 10)


@given(
    low=st.fractions(max_denominator=10**6),
    step=st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9),
    steps=st.integers(1, 10**6),
    shares=st.tuples(*(st.fractions(-1, 2, max_denominator=10**12),) * 2),
)
def test_means_in_integers_are_those_in_fractions(
    low: Fraction, step: Fraction, steps: int, shares: tuple[Fraction, Fraction]
) -> None:
    """What a share of the range stands for, half a step around it, and intervals that grow, each against its formula."""
    measure = Measure("x", low, step, steps)
    mean = statistic("mean", of="x:0..10:1", epsilon="1")
    assert isinstance(mean, Mean)
    spec = replace(mean, of=measure)
    least, most = (spec.value(*share.as_integer_ratio()) for share in shares)
    assert (least, most) == tuple(low + share * steps * step for share in shares)
    unrounded = max(least - step / 2, low), min(most + step / 2, low + steps * step)
    assert measure.unrounded(least, most) == unrounded
    parts = [(7 * share.numerator, 7 * share.denominator) for share in shares]  # not in lowest terms
    assert measure.unrounded_parts(*parts) == unrounded
    assert widened(shares, step) == (max(shares[0] - step, 0), min(shares[1] + step, 1))


@given(
    step=st.fractions(min_value=Fraction(1, 10**9), max_value=10**9, max_denominator=10**9),
    sums=st.lists(st.tuples(*(st.integers(-(10**15), 10**15) | st.integers(-50, 50),) * 2), max_size=20),
    epsilon=st.sampled_from(["0.01", "1", "8"]),
    crowd=st.booleans(),
)
def test_answers_of_means_in_integers_are_those_in_fractions(
    step: Fraction, sums: list[tuple[int, int]], epsilon: str, crowd: bool
) -> None:
    """Estimates and intervals against their formulas in fractions, whatever the noise made of the sums."""
    mean = statistic("mean", of="x:0..10:1", epsilon=epsilon, **({"crowd": "5"} if crowd else {}))
    assert isinstance(mean, Mean)
    spec, miss = replace(mean, of=Measure("x", -step / 3, step, 10)), 1 - mean.coverage
    off = noise_reach(spec, miss if crowd else miss / 2)
    rows = [(abs(a) + 5, b) for a, b in sums] if crowd else sums
    for row, answer in zip(rows, answers_of(spec, rows), strict=True):
        part, total = (row[1], 10 * row[0]) if crowd else row
        least, most = (-step / 3 + end * 10 * step for end in of_sums(part, total, off))
        about = None if total <= 0 else -step / 3 + Fraction(part, total) * 10 * step
        low, high = spec.of.unrounded(least, most)
        nothing = about is None or (low <= spec.of.low and high >= spec.of.high)
        right = (row, about, None if about is None or nothing else min(max(about, least), most))
        assert (answer.published, answer.value, answer.estimate) == right
        assert (answer.low, answer.high) == (low, high)


def test_the_file_the_json_and_the_page_tell_the_same(tmp_path: Path) -> None:
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    words = ["release", "fraction", str(tmp_path / "people.parquet"), "--person", "id"]
    known = ["--where", "age >= 65 and pay > 5", "--zero-knowledge", "0.5", "--rows", "200", "--people", str(N)]
    out = ["--out", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(commands, [*words, *known, *out], catch_exceptions=False)
    told = json.loads(done.stdout)
    (answer,) = told["answers"]
    beside = "sampled" if "drawn in secret" in told["route"] else "having"
    assert set(answer) == {"key", "status", "value", "estimate", "low", "high", beside}
    assert 0 <= answer["low"] <= answer["estimate"] <= answer["high"] <= 1
    assert told["counts"]["interval"] == "everybody"
    assert "drawn in secret" in told["route"] or "Everybody was counted" in told["route"]
    assert (told["rows"], told["people"], told["unit"]) == (200, N, "share of people, from 0 to 1")
    assert {each["notion"] for each in told["guarantees"]} == {"zero-knowledge", "differential"}
    header, row = Path(told["release"]).read_text().splitlines()
    assert header.replace('"', "") == f"{beside},estimate,low,high,status"
    assert float(row.split(",")[1]) == answer["estimate"]
    page = Path(told["report"]).read_text()
    assert "age &gt;= 65 and pay &gt; 5" in page
    assert "<svg" in page
    check = CliRunner().invoke(commands, ["verify", told["certificate"]])
    assert check.exit_code == 0, check.output
    shown = CliRunner().invoke(commands, [*words, *known, "--out", str(tmp_path / "again")], catch_exceptions=False)
    assert "k = 200 is how many people's data it is fair to know" in " ".join(shown.stdout.split())


def test_a_loss_that_promises_nothing_and_a_coverage_next_to_one_are_still_releases(tmp_path: Path) -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    assert answers(table.quantile("pay:0..49000:1000", epsilon=1000, accept_weak=True))[0]["value"] in (
        "24000",
        "25000",
    )
    known = {**KNOWN, "coverage": "0.99999999999999999999"}
    (share,) = answers(table.fraction(where="town = Bath", **known))
    assert 0 <= share["low"] < 2 / 3 < share["high"] <= 1
    assert len(answers(table.count(BY, **known))) == 3


# --- what is refused ----------------------------------------------------------------------------------------------

WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("mean", {"of": "pay", "epsilon": 1}, "the range of pay must be declared"),
    ("mean", {"of": None, "epsilon": 1}, "say what the mean is of"),
    ("mean", {"of": "pay:0..10:3", "epsilon": 1}, "whole number of steps"),
    ("mean", {"of": "town:0..10:1,null", "epsilon": 1}, "must be declared"),
    ("mean", {"of": "pay:0..10000000:1", "epsilon": "0.001"}, "wider than a million steps"),
    ("mean", {"of": "pay:0..10:1", "crowd": 5}, "say how much it may lose"),
    ("quantile", {"of": "pay:0..1000000:1", "epsilon": 1}, "at most 100,000 steps"),
    ("quantile", {"of": "pay:0..10:1", "epsilon": 1, "q": 1}, "between 0 and 1"),
    ("count", {**KNOWN}, "how many people there are is public"),
    ("fraction", {"epsilon": 1}, "a fraction is of those who meet a condition"),
    ("count", {"where": "age >= 65"}, "say how people are protected, in one way"),
    ("count", {"where": "age >= 65", **KNOWN, "epsilon": 1}, "zero-knowledge says everything"),
    ("count", {"where": "age >= 65", **KNOWN, "rows": 601}, "at most 600, not 601"),
    ("count", {"where": "age >= 65", **KNOWN, "rows": 0}, "at least 1, not 0"),
    ("count", {"where": "age >= 65", "zero_knowledge": 1, "rows": 5}, "say both"),
    ("count", {"where": "age >= 65", "rows": 5, "epsilon": 1}, "go with zero-knowledge"),
    ("count", {"where": "age >= 65", "epsilon": 0}, "must be above 0"),
    ("count", {"where": "age >= 65", "epsilon": 1, "sample": "0.1"}, "goes with a crowd"),
    ("count", {"where": "age >= 65", "crowd": 1}, "at least 2, not 1"),
    ("count", {"by": ["town"], "epsilon": 1}, "the bins of town must be declared"),
    ("count", {"by": "town=a", "epsilon": 1}, "by is a list"),
    ("count", {"by": ["town=a", "town=b"], "epsilon": 1}, "each column can be used once"),
    ("count", {"where": "height > 2", "epsilon": 1}, "there is no column 'height'"),
    ("mean", {"of": "height:0..2:1", "epsilon": 1}, "there is no column 'height'"),
    ("mean", {"of": "town:0..2:1,money", "epsilon": 1, "where": "pay = much"}, "of which 'much' is none"),
    ("count", {"where": "age >= 65", "epsilon": 1, "coverage": 1}, "coverage must lie between 0 and 1"),
]


@pytest.mark.parametrize(("name", "words", "rule"), WRONG)
def test_a_wrong_use_is_one_sentence_and_nothing_is_spent(name: str, words: dict[str, Any], rule: str) -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    with pytest.raises(WrongUse, match=rule) as refused:
        getattr(table, name)(**words)
    assert "\n" not in str(refused.value)
    assert not Ledger().accounts()


@pytest.mark.parametrize("people", [N - 1, N + 1, 2 * N])
def test_another_number_of_people_than_declared_is_refused_in_one_fixed_sentence(people: int) -> None:
    table = opened(PEOPLE, person="id", dataset="town")
    known: dict[str, Any] = {"zero_knowledge": 1, "rows": 100, "people": people}
    asked: Asked = [
        ("count", {"where": "age > 5"}),
        ("mean", {"of": "pay:0..9:1", "by": BY}),
    ]
    for name, words in asked:
        with pytest.raises(Refused) as refused:
            getattr(table, name)(**words, **known)
        assert str(refused.value) == OTHER_NUMBER
        assert str(N) not in str(refused.value)
    assert not [record for record in Ledger().account("town").records if record.is_spent]


@pytest.mark.parametrize("ways", [KNOWN, {"crowd": 20, "epsilon": 1}, {"epsilon": 1}], ids=["known", "crowd", "noise"])
def test_a_condition_that_nobody_meets_looks_like_any_other(ways: dict[str, Any]) -> None:
    """That nobody meets it is data: the same columns, the same keys, the same words."""
    table = open_table(PEOPLE, person="id")
    pay = {"of": "pay:0..49000:1000"}
    asked: Asked = [
        ("count", {"by": BY}),
        ("fraction", {}),
        ("mean", pay),
        ("quantile", pay),
    ]
    for name, words in asked:
        some, nobody = (getattr(table, name)(**words, **ways, where=text) for text in ("age >= 65", "age >= 165"))
        assert some.sheet.schema == nobody.sheet.schema
        assert [each["key"] for each in answers(some)] == [each["key"] for each in answers(nobody)]
        assert set(some.result.facts()) == set(nobody.result.facts())


def test_an_empty_table_looks_like_any_other() -> None:
    table = open_table(PEOPLE.slice(0, 0), person="id")
    assert len(answers(table.mean("pay:0..49000:1000", BY, epsilon=1))) == 3
    assert len(answers(table.quantile("pay:0..49000:1000", epsilon=1))) == 1
    with pytest.raises(Refused, match="not of as many people"):
        table.count(where="age > 5", zero_knowledge=1, rows=1, people=5)


def test_several_rows_of_one_person_are_refused() -> None:
    table = open_table(pa.table({"id": [1, 1, 2], "age": [1, 2, 3]}), person="id")
    with pytest.raises(
        Refused,
        match=r"for each person; make a table that has one, .* or keep one row of each, chosen secretly",
    ):
        table.mean("age:0..9:1", epsilon=1)


@pytest.mark.parametrize("where", ["age > 5", "age = secret"])
def test_no_message_has_a_cell_of_the_data(where: str) -> None:
    table = open_table(pa.table({"id": ["secret-1"], "age": ["secret-2"]}), person="id")
    with pytest.raises(HubbubError) as refused:
        table.count(where=where, zero_knowledge=1, rows=1, people=7)
    assert "secret-" not in str(refused.value)


# --- parts --------------------------------------------------------------------------------------------------------


def test_noise_reaches_as_far_as_its_exact_tail() -> None:
    for rate, miss in [
        (Fraction(each), Fraction(chance)) for each in ("1", "0.01", "30") for chance in ("0.05", "0.5")
    ]:
        found, a = reach(rate, miss), exp(-float(rate))
        assert 2 * a ** (found + 1) / (1 + a) <= float(miss) * (1 + 1e-12)
        assert found == 0 or 2 * a**found / (1 + a) > float(miss)


def test_sums_that_tell_nothing_have_the_whole_range() -> None:
    whole = Fraction(0), Fraction(1)
    assert of_sums(3, 0, 5) == whole
    assert of_sums(-40, 10, 5) == (Fraction(0), Fraction(1, 10))  # as if nothing and 50 had been drawn
    assert of_sums(5, 10, 1) == (Fraction(4, 10), Fraction(6, 10))
    assert of_sums(2, -1, 3) == (Fraction(0), Fraction(1))
    assert drawn(0, Fraction(1, 20)) == 1
    assert float(drawn(200, Fraction(1, 20))) == pytest.approx(0.09603, rel=1e-3)


def test_a_file_of_one_number_has_one_row(tmp_path: Path) -> None:
    spec = statistic("count", where="age >= 65", epsilon=1)
    head, row = "count,estimate,low,high,status", "5,5,2,8,shown"  # noise of rate 1 is beyond 3 less than 1 time in 20
    more = "its rows are not as many as its bins"
    for rows, found in (([row], None), ([], more), ([row, row], more)):
        (tmp_path / "release.csv").write_text("\n".join([head, *rows]) + "\n")
        assert wrong(spec, tmp_path, "csv") == found
        cells = [int(cell) if cell.isdigit() else cell for cell in row.split(",")]
        columns = dict(zip(schema(spec), ([cell] * len(rows) for cell in cells), strict=True))
        made = pa.table([pa.array(each, field.type) for field, each in columns.items()], schema(spec))
        pq.write_table(made, tmp_path / "release.parquet")
        assert wrong(spec, tmp_path, "parquet") == found


def test_a_specification_says_what_was_asked() -> None:
    spec = statistic("mean", of="pay:0..10:1", where="age>=65 AND sex=F", epsilon="0.5")
    assert spec.to_json()["where"] == "age >= 65 and sex = 'F'"
    assert dict(spec.describe().public)["the condition"].startswith("age >= 65 and sex = 'F'")


def test_the_page_says_which_tables_must_look_alike_and_of_whom_a_bar_is() -> None:
    page = report(open_table(PEOPLE, person="id").fraction(where="age >= 65", **KNOWN))
    assert "two tables of as many people" in page.lower()
    assert "of which one has one person" not in page
    assert "Estimated share of people with age ≥ 65." in page
    assert "Each number is the share of people with age ≥ 65 among the people in the table." in page
    assert "add up to" not in page  # a share of everybody is no part of a sum
    noisy = report(open_table(PEOPLE, person="id").fraction(where="age >= 65", epsilon=1))
    assert "of which one has one person" in noisy
