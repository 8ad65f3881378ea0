"""Classes of queries, end to end: what is asked, published, answered from files alone, and refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hubbub
from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, HubbubError, Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy, Neighbours, RandomSample, ZeroKnowledge
from hubbub.kinds.queries import text as queries_text
from hubbub.kinds.queries.request import queries, split_columns
from hubbub.kinds.queries.result import Synopsis
from hubbub.kinds.queries.spec import Queries, all_offers
from hubbub.ledger.ledger import Ledger
from hubbub.noise.source import ScriptedSource
from hubbub.protocol.release import Release
from hubbub.publication.files import write
from hubbub.query_classes.boosting import Boosting
from hubbub.query_classes.choice import MAKERS
from hubbub.query_classes.classes import ColumnCells
from hubbub.query_classes.flat import PerQuery
from tests.fresh import enter, open, opened, played, wrong_in

PEOPLE = pa.table(
    {
        "id": list(range(300)),
        "town": ["Bath"] * 150 + ["York"] * 90 + ["Wells"] * 50 + ["Hull"] * 10,
        "age": [7 * i % 90 for i in range(300)],
        "sex": ["F", "M", "M", None] * 75,
    }
)
TOWN, AGE, SEX = "town=Bath,York,Wells", "age:0..90:10", "sex=F,M,null"
EVERY = {"per-query": "marginals:1", "histogram": "halfspaces", "tree": "intervals", "mwem": "boxes"}


def asked(release: Release) -> Queries:
    assert isinstance(release.spec, Queries)
    return release.spec


def synopsis(release: Release) -> Synopsis:
    assert isinstance(release.result, Synopsis)
    return release.result


# --- answers ------------------------------------------------------------------------------------------------------


def test_with_hardly_any_noise_every_answer_is_right_whatever_the_method() -> None:
    rows = list(zip(PEOPLE["town"].to_pylist(), PEOPLE["sex"].to_pylist(), strict=True))
    truth = {key: rows.count(key) for key in (("Bath", "F"), ("York", None))}
    for method in ("per-query", "histogram"):
        found = synopsis(open(PEOPLE).queries([TOWN, SEX], "marginals:2", epsilon=2000, method=method))
        for (town, sex), count in truth.items():
            told = found.answer({"town": town, "sex": sex})
            assert (told.estimate, told.low, told.high) == (count, count, count)
    for method in ("tree", "histogram", "per-query"):
        found = synopsis(open(PEOPLE).queries([AGE], "intervals", epsilon=2000, people=300, method=method))
        wanted = sum(10 <= 7 * i % 90 < 40 for i in range(300))
        assert found.answer({"age": ("[10,20)", "[30,40)")}).estimate == wanted
    both = synopsis(open(PEOPLE).queries([AGE, "id:0..300:100"], "halfspaces", epsilon=2000))
    low = sum(7 * i % 90 // 10 + 2 * (i // 100) <= 4 for i in range(300))
    assert both.answer({"age": 1, "id": 2, "at most": 4}).estimate == low


def test_a_database_of_twelve_rows_is_as_near_as_it_says() -> None:
    found = open(PEOPLE).queries(["age:0..90:30"], "intervals", epsilon=2000, people=300, method="small-database")
    told = synopsis(found).answer({"age": ("[0,30)", "[30,60)")})
    assert abs(told.estimate - sum(7 * i % 90 < 60 for i in range(300))) <= told.bound
    assert synopsis(found).drawn.numbers.sum() == asked(found).method.size  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("columns", "of", "words", "query"),
    [
        ([TOWN, SEX], "marginals:2", {"epsilon": 1}, {"town": "York", "sex": None}),
        ([TOWN, SEX], "conjunctions:2", {"epsilon": 1, "method": "histogram"}, {"sex": "F"}),
        ([AGE], "intervals", {"epsilon": 1, "method": "tree"}, {"age": ("[10,20)", "[80,90)")}),
        ([AGE, "id:0..300:100"], "boxes", {"epsilon": 1, "people": 300, "method": "mwem"}, {"age": "[0,10)"}),
        (["age:0..90:30"], "intervals", {"epsilon": 1, "people": 300, "method": "small-database"}, {"age": "[0,30)"}),
        ([SEX], "marginals:1", {"epsilon": 2000, "people": 300, "method": "boosting"}, {"sex": None}),
        ([AGE], "halfspaces", {"epsilon": 1}, {"age": 1, "at most": "7/2"}),
        ([TOWN], "marginals:1", {"zero_knowledge": 1, "rows": 60, "people": 300}, {"town": "Bath"}),
    ],
)
def test_anybody_with_the_files_gets_the_same_answers(
    columns: list[str], of: str, words: dict[str, object], query: dict[str, object], form: str, tmp_path: Path
) -> None:
    release = enter(PEOPLE, person="id").queries(columns, of, **words)
    written = hubbub.save(release, tmp_path, form=form)
    again = hubbub.reopen(written["certificate"])
    assert again.answer(query) == synopsis(release).answer(query)
    assert again.facts() == release.result.facts()
    moved = tmp_path / "elsewhere"
    Path(written["release"]).rename(moved)
    with pytest.raises(CheckFailed, match="is not beside the certificate"):
        hubbub.reopen(written["certificate"])
    assert hubbub.reopen(written["certificate"], release=moved).answer(query).estimate is not None


def test_a_file_that_is_not_the_described_one_is_noticed(tmp_path: Path) -> None:
    release = enter(PEOPLE, person="id").queries([TOWN, SEX], "marginals:2", epsilon=1)
    file = Path(hubbub.save(release, tmp_path)["release"])
    spec, lines = release.spec, file.read_text().splitlines()
    assert wrong_in(spec, file, "csv") is None
    shorter, other = "\n".join(lines[:-1]), "\n".join([lines[0], lines[2], lines[1], *lines[3:]])
    wider = "\n".join([lines[0], *(line[: line.rindex(",")] + ",999" for line in lines[1:])])
    for text in (shorter, other, wider, "a,b\n1,2", ""):
        file.write_text(text + "\n")
        assert wrong_in(spec, file, "csv"), text


def test_the_answers_of_a_class_are_written_beside_the_synopsis(tmp_path: Path) -> None:
    release = enter(PEOPLE, person="id").queries([AGE, SEX], "marginals:1", epsilon=1, people=300, method="mwem")
    written = hubbub.save(release, tmp_path, form="parquet")
    rows = pq.read_table(written["answers"]).to_pylist()
    assert len(rows) == 9 + 3
    for row in rows:
        query = {name: row[name] for name in ("age", "sex") if row[name] != "(any)"}
        told = synopsis(release).answer(query)
        assert (row["estimate"], row["low"], row["high"]) == (float(told.estimate), told.low, told.high)
    rounds = pq.read_table(written["rounds"]).to_pylist()
    assert [row["round"] for row in rounds] == list(range(1, 1 + asked(release).method.rounds))  # type: ignore[attr-defined]


def test_a_synthetic_table_has_the_published_answers() -> None:
    found = synopsis(open(PEOPLE).queries([TOWN, SEX], "marginals:2", epsilon=2000, method="histogram"))
    people = found.synthetic()
    assert people.num_rows == 290  # those of Hull are in no cell
    assert people.filter(pa.compute.equal(people["town"], "York")).num_rows == 90
    assert people["sex"].null_count == 70 + 2  # of 75 without Hull's
    assert found.synthetic(1000).num_rows == 1000
    published = synopsis(open(PEOPLE).queries([TOWN, SEX], "marginals:2", epsilon=1, method="per-query"))
    with pytest.raises(WrongUse, match="published answers and no cells"):
        published.synthetic()


def test_boosting_is_taken_where_it_is_asked_for_and_says_what_would_be_better(tmp_path: Path) -> None:
    table = pa.table({"id": list(range(20_000)), "sex": (["F", "M", "M", None] * 5_000)})
    words: dict[str, object] = {"epsilon": 10, "people": 20_000}
    release = enter(table, person="id").queries([SEX], "marginals:1", method="boosting", **words)
    spec, told = asked(release), synopsis(release).facts()
    assert isinstance(spec.method, Boosting)
    assert told["other_methods"][0]["bound"] < told["bound"] < 20_000
    assert "It was asked for by name" in " ".join(synopsis(release).sentences())
    found = synopsis(release).answer({"sex": "M"})
    assert abs(found.estimate - 10_000) <= found.bound
    done = hubbub.verify(hubbub.save(release, tmp_path)["certificate"])
    assert done.passed
    for smaller in ({"ramp": 1}, {"within": 0}, {"draws": 1}):
        forged = replace(spec, method=replace(spec.method, **smaller))
        with pytest.raises(Refused, match="says nothing about 20,000 people"):
            forged.promises()
    shorter = replace(spec, bound=spec.bound - 1)
    assert [check.what for check in shorter.checks() if not check.passed] == ["the bound on every answer"]
    with pytest.raises(WrongUse, match="what is proved about it says nothing about 300 people"):
        queries([TOWN], "marginals:1", epsilon=1, people=300, method="boosting")
    with pytest.raises(WrongUse, match="it needs the number of people to be public"):
        queries([TOWN], "marginals:1", epsilon=1, method="boosting")


@pytest.mark.parametrize("form", ["csv", "parquet"])
@pytest.mark.parametrize(("method", "epsilon"), [("small-database", 1), ("boosting", 2000)])
def test_invented_rows_are_as_many_as_are_described(method: str, epsilon: int, form: str, tmp_path: Path) -> None:
    """Whoever publishes other numbers than the method can, and signs them, is found out."""
    found = synopsis(open(PEOPLE).queries([SEX], "marginals:1", epsilon=epsilon, people=300, method=method))
    numbers = found.drawn.numbers
    more, less = np.eye(1, numbers.size, 0, dtype=np.int64)[0], np.eye(1, numbers.size, 1, dtype=np.int64)[0]
    far = numbers.max() + 1
    for change, right in ((0 * more, True), (more, False), (-less, False), (far * (more - less), False)):
        for sheet in replace(found, drawn=replace(found.drawn, numbers=numbers + change)).sheets():
            with (tmp_path / f"{sheet.name}.{form}").open("wb") as out:
                write(sheet, form, out)
        wrong = wrong_in(found.spec, tmp_path / f"release.{form}", form)
        assert (wrong is None) == right, (change, wrong)


# --- promises -----------------------------------------------------------------------------------------------------


def test_everybody_is_promised_epsilon_and_a_sample_is_promised_with_its_k() -> None:
    (own,) = queries([TOWN], "marginals:1", epsilon="0.3").promises()
    assert own.conclusion == DifferentialPrivacy(epsilon=Fraction(3, 10))
    for method in ("histogram", "mwem"):
        spec = queries([TOWN], "marginals:1", zero_knowledge="0.3", rows=1000, people=10**6, method=method)
        knowledge, replaced = spec.promises()
        assert knowledge.conclusion == ZeroKnowledge(epsilon=Fraction(3, 10), aggregate=RandomSample(k=1000, n=10**6))
        assert isinstance(replaced.conclusion, DifferentialPrivacy)
        assert replaced.conclusion.neighbours is Neighbours.REPLACE
        assert Fraction(29, 100) < replaced.conclusion.epsilon < Fraction(6, 10)
        assert "K = 1,000" in " ".join(queries_text.sentences(spec))


def test_what_may_be_spent_in_the_sample_is_spent_and_not_more() -> None:
    """k = 1000 of n = 10^6 at epsilon .1 leaves 4.67 (theory A1), and nobody half way between two people more."""
    any_row = queries([TOWN], "marginals:1", zero_knowledge="0.1", rows=1000, people=10**6, method="mwem")
    assert float(any_row.loss) == pytest.approx(4.67, abs=5e-3)
    half = queries([TOWN], "marginals:1", zero_knowledge="0.1", rows=1000, people=10**6, method="histogram")
    assert 2 * half.loss > any_row.loss
    for spec in (any_row, half):
        assert spec.method.spends(spec.setting) <= spec.loss


def test_a_description_that_promises_too_much_is_refused() -> None:
    spec = queries([TOWN], "marginals:1", zero_knowledge="0.1", rows=1000, people=10**6)
    for wrong in (replace(spec, loss=2 * spec.loss), replace(spec, request=replace(spec.request, rows=2000))):
        with pytest.raises(Refused, match="loses more than epsilon"):
            wrong.promises()
    plain = queries([TOWN], "marginals:1", epsilon=1)
    with pytest.raises(Refused, match="more than epsilon"):
        replace(plain, loss=Fraction(2)).promises()
    with pytest.raises(Refused, match="cannot answer halfspaces: it lists every query"):
        replace(queries([AGE], "halfspaces", epsilon=1), method=PerQuery()).promises()
    smaller = replace(plain, bound=Fraction(1))
    assert [check.what for check in smaller.checks() if not check.passed] == ["the bound on every answer"]


def test_noise_that_hardly_ever_is_any_can_be_checked_like_other_noise() -> None:
    for words in ({"epsilon": 2000}, {"zero_knowledge": 300, "rows": 9, "people": 10}):
        assert all(check.passed for check in queries([AGE], "intervals", **words).checks())


def test_a_table_of_another_number_of_people_is_refused_and_nothing_is_spent(tmp_path: Path) -> None:
    table = opened(PEOPLE, person="id", dataset="town", ledger=tmp_path / "ledger.db")
    with pytest.raises(Refused, match="not of as many people as were declared") as refused:
        table.queries([TOWN], "marginals:1", zero_knowledge=1, rows=10, people=299)
    assert "300" not in str(refused.value)
    (record,) = Ledger(tmp_path / "ledger.db").account("town").records
    assert not record.is_spent


def test_two_samples_add_up_in_the_ledger(tmp_path: Path) -> None:
    table = opened(PEOPLE, person="id", dataset="town", ledger=tmp_path / "ledger.db")
    for _ in range(2):
        table.queries([TOWN], "marginals:1", zero_knowledge="0.5", rows=30, people=300)
    total = Ledger(tmp_path / "ledger.db").account("town").totals
    assert total is not None
    assert str(total.zero_knowledge.guarantee) == "1-ZK w.r.t. RS(60 of 300)"


def test_a_sample_and_noise_on_everybody_add_up_for_one_person_replaced(tmp_path: Path) -> None:
    table = opened(PEOPLE, person="id", dataset="town", ledger=tmp_path / "ledger.db")
    table.queries([TOWN], "marginals:1", epsilon="0.5")
    sampled = table.queries([TOWN], "marginals:1", zero_knowledge="0.5", rows=30, people=300)
    (record, _) = Ledger(tmp_path / "ledger.db").account("town").records
    assert record.is_spent
    total = Ledger(tmp_path / "ledger.db").account("town").totals
    assert total is not None
    assert total.holds
    assert sampled.reservation is not None
    assert sampled.reservation.release == 2


# --- choosing -----------------------------------------------------------------------------------------------------


def test_the_method_is_chosen_from_public_numbers_and_the_bounds_of_the_others_are_told() -> None:
    release = open(PEOPLE).queries([TOWN, AGE, SEX], "marginals:2", epsilon=1, people=300)
    told = release.result.facts()
    assert told["method"] == asked(release).method.name
    assert {told["method"], *(each["name"] for each in told["other_methods"])} == set(MAKERS)
    for each in told["other_methods"]:
        assert (each["bound"] is None) == (each["why_not"] is not None)
        assert each["bound"] is None or each["bound"] >= told["bound"]
    assert all_offers(asked(release).request)[0].name == told["method"]
    alone = open(PEOPLE).queries([TOWN, AGE, SEX], "marginals:2", epsilon=1).result.facts()
    assert {each["name"]: each["why_not"] for each in alone["other_methods"]}["mwem"] == (
        "it needs the number of people to be public"
    )


def test_a_long_run_says_so_beforehand() -> None:
    bits = [f"b{i}=0,1" for i in range(20)]
    told = queries(bits, "marginals:3", epsilon=1, people=10**6, method="mwem").duration_note()
    assert told.startswith("mwem on 1,048,576 cells takes about ")
    assert "seconds" in told
    assert queries([TOWN], "marginals:1", epsilon=1).duration_note() == ""


def test_marginals_of_a_domain_that_nobody_can_list() -> None:
    columns = [TOWN, "id:0..100000:1", "age:0..10000:1"]
    release = open(PEOPLE).queries(columns, "marginals:1", epsilon=2000)
    assert asked(release).method.name == "per-query"
    assert synopsis(release).answer({"town": "York"}).estimate == 90
    assert len(release) == 3 + 100_000 + 10_000


# --- wrong uses ---------------------------------------------------------------------------------------------------

HUGE = ["a:0..100000:1", "b:0..10000:1"]
WRONG = {
    "no domain": (["town"], "marginals:1", {"epsilon": 1}, "the domain must be declared, and town has no bins"),
    "no columns": ([], "marginals:1", {"epsilon": 1}, "say the columns and their bins"),
    "a text": (TOWN, "marginals:1", {"epsilon": 1}, "say the columns and their bins"),
    "twice": ([TOWN, TOWN], "marginals:1", {"epsilon": 1}, "each column can be used once"),
    "no loss": ([TOWN], "marginals:1", {}, "say how people are protected"),
    "two losses": ([TOWN], "marginals:1", {"epsilon": 1, "zero_knowledge": 1}, "say how people are protected"),
    "no k": ([TOWN], "marginals:1", {"zero_knowledge": 1, "people": 10}, "with respect to K of N people"),
    "no n": ([TOWN], "marginals:1", {"zero_knowledge": 1, "rows": 10}, "with respect to K of N people"),
    "k of 0": ([TOWN], "marginals:1", {"zero_knowledge": 1, "rows": 0, "people": 9}, "rows must be a whole number"),
    "k above n": (
        [TOWN],
        "marginals:1",
        {"zero_knowledge": 1, "rows": 10, "people": 9},
        "at most all 9 people, not 10",
    ),
    "k alone": ([TOWN], "marginals:1", {"epsilon": 1, "rows": 10}, "goes with zero_knowledge=E"),
    "epsilon 0": ([TOWN], "marginals:1", {"epsilon": 0}, "epsilon must be above 0"),
    "float": ([TOWN], "marginals:1", {"epsilon": 0.1}, "epsilon must be exact"),
    "coverage": ([TOWN], "marginals:1", {"epsilon": 1, "coverage": 1}, "coverage must lie between 0 and 1"),
    "class": ([TOWN], "triangles", {"epsilon": 1}, "a class of queries is one of"),
    "no class": ([TOWN], 7, {"epsilon": 1}, "a class of queries is text"),
    "order": ([SEX], "intervals", {"epsilon": 1}, "null and other have no place"),
    "any": (["town=(any),Bath"], "marginals:1", {"epsilon": 1}, "stands for any value"),
    "method": ([TOWN], "marginals:1", {"epsilon": 1, "method": "magic"}, "there is no method 'magic'"),
    "not so": ([TOWN], "marginals:1", {"epsilon": 1, "method": "tree"}, "it is for intervals of one column"),
    "10^9 cells": (
        HUGE,
        "marginals:1",
        {"epsilon": 1, "method": "histogram"},
        "1,000,000,000 are more than 10,000,000",
    ),
    "nothing": (HUGE, "halfspaces", {"epsilon": 1}, "no method can answer halfspaces of this domain"),
    "2^62": ([f"c{i}:0..100000:1" for i in range(5)], "marginals:1", {"epsilon": 1}, "more than 2\\^62"),
    "tables": ([f"c{i}=0,1" for i in range(60)], "marginals:30", {"epsilon": 1}, "more than 100,000 tables"),
    "columns": ([f"c{i}=0" for i in range(65)], "marginals:1", {"epsilon": 1}, "from 1 to 64 columns, not 65"),
    "too wide": ([TOWN], "marginals:1", {"epsilon": "1e-9"}, "wider than a million people"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_use_is_one_sentence(name: str) -> None:
    columns, of, words, says = WRONG[name]
    with pytest.raises(HubbubError, match=says) as wrong:
        queries(columns, of, **words)
    assert "\n" not in str(wrong.value)


def test_a_query_of_another_class_is_refused() -> None:
    pairs = synopsis(open(PEOPLE).queries([TOWN, SEX], "marginals:2", epsilon=1))
    for query, says in (
        ({}, "no query of marginals:2"),
        ({"town": "Paris", "sex": "F"}, "'Paris' is no bin of town"),
        ({"city": "York"}, "there is no column 'city'"),
        ({"town": ("York", "Bath"), "sex": "F"}, "comes after the last"),
        ({"town": ("York",), "sex": "F"}, "give these two"),
        ("York", "a query is a mapping"),
    ):
        with pytest.raises(WrongUse, match=says):
            pairs.answer(query)
    grid = synopsis(open(PEOPLE).queries([AGE], "halfspaces", epsilon=1))
    for words in ({"age": 1}, {"town": 1, "at most": 2}):
        with pytest.raises(WrongUse, match="a half-space has a weight for each of age"):
            grid.answer(words)


def test_one_column_is_answered_from_tables_by_two_within_the_sum_of_their_bounds() -> None:
    """The truth of the marginal lies in the interval, which is the sum of those of its cells; the noise is 0 here."""
    found = synopsis(open(PEOPLE).queries([TOWN, SEX, AGE], "marginals:2", epsilon=20000, method="histogram"))
    seen = zip(*(PEOPLE[name].to_pylist() for name in ("town", "age", "sex")), strict=True)
    york = sum(town == "York" and age is not None and 0 <= age < 90 for town, age, _ in seen)
    answer = found.answer({"town": "York"})
    cells = [found.answer({"town": "York", "sex": sex}) for sex in ("F", "M", None)]
    assert answer.bound == sum(cell.bound for cell in cells)
    assert answer.estimate == sum(cell.estimate for cell in cells)
    assert answer.low <= york <= answer.high
    assert (answer.query, round(answer.estimate)) == ({"town": "York"}, york)
    with pytest.raises(WrongUse, match="no query of marginals:2"):
        found.answer({"town": "York", "sex": "F", "age": "[0,10)"})


# --- the command --------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    return tmp_path / "people.parquet"


def test_several_columns_are_said_in_one_word_or_in_several() -> None:
    assert split_columns("town=Bath,York,age:0..90:10,null,sex=F,M") == [
        "town=Bath,York",
        "age:0..90:10,null",
        "sex=F,M",
    ]
    assert split_columns('"a,b"=x,"y=1",c:boolean') == ['"a,b"=x,"y=1"', "c:boolean"]
    assert split_columns("a,b,c=1,2") == ["a", "b", "c=1,2"]
    assert split_columns("pay:[0,100,inf),money,born:year:1900..2000,date=%d/%m/%Y,null") == [
        "pay:[0,100,inf),money",
        "born:year:1900..2000,date=%d/%m/%Y,null",
    ]


def test_the_command_tells_method_bound_and_the_bounds_of_the_others(file: Path, tmp_path: Path) -> None:
    sample = ["--zero-knowledge", "0.5", "--rows", "100", "--people", "300"]
    assert CliRunner().invoke(commands, ["describe", str(file), "--unlisted", "1"]).exit_code == 0
    words = ["release", "queries", str(file), "--person", "id", "--columns", f"{TOWN},{SEX}", "--class", "marginals:2"]
    done = CliRunner().invoke(commands, [*words, *sample, "--out", str(tmp_path / "o"), "--json"])
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["method"] in MAKERS
    assert told["bound"] > told["sampling_error"] > 0
    assert told["guarantees"][0]["aggregate"] == "RS(100 of 300)"
    assert {"vc_dimension_at_most", "log_growth_at_most", "other_methods", "bound_exact"} <= set(told)
    answer = CliRunner().invoke(commands, ["ask", told["certificate"], "town=York", "sex=", "--json"])
    assert answer.exit_code == 0, answer.stderr
    assert json.loads(answer.stdout)["query"] == {"town": "York", "sex": None}
    plain = CliRunner().invoke(commands, ["ask", told["certificate"], "town=York", "sex=M"])
    assert plain.stdout.startswith("About ")
    for wrong in (["York"], ["town=York", "town=Bath"], ["age=3"]):
        done = CliRunner().invoke(commands, ["ask", told["certificate"], *wrong])
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.output
    assert CliRunner().invoke(commands, ["verify", told["certificate"]]).exit_code == 0
    page = Path(told["report"]).read_text()
    assert "<svg" in page or "Answers to marginals:2" in page


def test_a_wrong_command_is_one_line_and_spends_nothing(file: Path, tmp_path: Path) -> None:
    words = ["release", "queries", str(file), "--person", "id", "--out", str(tmp_path / "o"), "--epsilon", "1"]
    for more in (
        ["--columns", TOWN],
        ["--columns", "nobody=1,2", "--class", "marginals:1"],
        ["--columns", "a:0..100000:1,b:0..10000:1", "--class", "boxes", "--method", "histogram"],
        ["--class", "marginals:1"],
    ):
        done = CliRunner().invoke(commands, [*words, *more])
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.output
    assert not Ledger().accounts()


# --- a census table -----------------------------------------------------------------------------------------------

ADULT = Path(__file__).resolve().parents[5] / "shared" / "data" / "tables" / "adult_train.parquet"
FIVE = ("workclass", "education", "marital_status", "occupation", "race")


@pytest.mark.skipif(not ADULT.exists(), reason="the census table is not here")
def test_all_two_way_marginals_of_five_columns_are_inside_the_bound() -> None:
    table = pq.read_table(ADULT, columns=list(FIVE))
    columns = [f"{name}={','.join(sorted(set(table[name].to_pylist())))}" for name in FIVE]
    spec = queries(columns, "marginals:2", epsilon=1, method="per-query")
    found = synopsis(played(spec, open(ADULT).engine, ScriptedSource.from_label("census")))
    assert isinstance(spec.queries, ColumnCells)
    codes = [np.searchsorted(sorted(set(table[name].to_pylist())), table[name].to_pylist()) for name in FIVE]
    worst = 0
    for one, two in spec.queries.sets:
        counts = np.zeros((spec.queries.shape[one], spec.queries.shape[two]), dtype=np.int64)
        np.add.at(counts, (codes[one], codes[two]), 1)
        start = spec.queries.starts[spec.queries.sets.index((one, two))]
        said = found.drawn.numbers[start : start + counts.size]
        worst = max(worst, int(np.abs(said - counts.ravel()).max()))
    assert 10 < worst <= spec.bound
    assert spec.bound < 110


def test_no_description_of_a_sample_has_a_delta_that_its_promises_would_leave_out() -> None:
    """Promises of a secret sample are pure here: a description that says otherwise is refused, whoever wrote it."""
    spec = queries([TOWN], "marginals:1", zero_knowledge="0.3", rows=1000, people=10**6)
    with pytest.raises(WrongUse, match="leave out the sample"):
        replace(spec, request=replace(spec.request, delta=Fraction(1, 10)))
    described = json.loads(json.dumps(spec.to_json()))
    assert Queries.kind.from_json(described) == spec
    described["delta"] = "0.1"
    with pytest.raises((CheckFailed, WrongUse)):
        Queries.kind.from_json(described)


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("marginals:1", {"method": "per-query"}),
        ("marginals:1", {"method": "histogram"}),
        ("marginals:2", {"method": "split-tables"}),
        ("marginals:2", {"method": "residual", "delta": "1e-6"}),
        ("intervals", {"method": "tree"}),
        ("intervals", {"method": "square-root", "delta": "1e-6"}),
    ],
    ids=str,
)
def test_every_number_with_noise_has_an_interval_of_its_own_beside_that_of_all(of: str, words: dict[str, Any]) -> None:
    columns = ["a:0..5:1"] if of == "intervals" else ["a:0..5:1", "b:0..3:1"]
    table = pa.table({"a": [i % 5 for i in range(90)], "b": [i % 3 for i in range(90)]})
    found = enter(table).queries(columns, of, epsilon=1, **words).result
    assert isinstance(found, Synopsis)
    sheets = {sheet.name: sheet for sheet in found.sheets()}
    rows = [row for batch in sheets.get("answers", sheets["release"]).batches() for row in batch.to_pylist()]
    assert rows
    for row in rows:
        assert row["low"] <= row["own_low"] <= row["own_high"] <= row["high"]
    assert sum(row["own_high"] - row["own_low"] for row in rows) < sum(row["high"] - row["low"] for row in rows)
    one = found.answer({"a": "[1,2)"} if of != "marginals:2" else {"a": "[1,2)", "b": "[0,1)"})
    assert one.own_bound < one.bound
