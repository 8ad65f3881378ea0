"""What Python people get: answers as values, tables that open, releases that show themselves in a notebook."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hubbub
from hubbub.cli.main import commands
from hubbub.errors import WrongUse, in_shell
from hubbub.protocol.release import Release

PEOPLE = pa.table({"name": [f"p{i}" for i in range(60)], "town": ["<b>ash</b>"] * 40 + ["elm"] * 20})


def a_release() -> Release:
    return hubbub.open(PEOPLE, rows_are_people=True, dataset="town").histogram(["town=<b>ash</b>,elm"], crowd=25)


# --- answers ----------------------------------------------------------------------------------------------------


def test_answers_of_the_calculator_are_frozen_and_tell_themselves() -> None:
    point = hubbub.account.crowd(k=20, rate="0.1").ask(delta="1e-6")
    composed = hubbub.account.compose("differential:epsilon=1", hubbub.account.read_promise("differential:epsilon=0.5"))
    answers = (
        point,
        composed,
        hubbub.account.robust(50, "0.12", epsilon="0.5").ask(at_epsilon="0.3"),
        hubbub.account.distributional(50, "0.1").ask(delta="1e-6"),
        hubbub.account.lecture(50, "0.1").ask(),
        hubbub.account.sanitize(1000, 10**6, epsilon_zk="0.1"),
        hubbub.account.mean(1000, 10**4, epsilon_zk="0.1"),
        hubbub.account.group("differential:epsilon=1", 3),
        hubbub.account.convert("differential:epsilon=0.5", "crowd-blending", k=20),
        hubbub.plan.ask("k", "zero-knowledge", epsilon="0.5", delta="1e-9", rate="0.1"),
        hubbub.plan.release("differential", people=500, bins=4, epsilon="0.5"),
        hubbub.vote.guarantee("repeated-plurality", candidates=3, voters=1000),
    )
    for answer in answers:
        json.dumps(answer.as_json(), allow_nan=False)
        said = " ".join(answer.sentences())
        assert said
        assert " --" not in said, said
        with pytest.raises(FrozenInstanceError):
            setattr(answer, fields(answer)[0].name, None)
    assert point.found.epsilon == Fraction("0.18298861")
    assert "1.5-DP" in f"{composed.conclusion}"


def test_a_voter_is_asked_about_in_words_or_as_a_question() -> None:
    worded = hubbub.vote.gain(belief="abc:1/2,bac:1/2", truth="cab", voters=101, rule="plurality")
    assert hubbub.vote.gain(worded.gain.question, Fraction(1, 10**12)).as_json() == worded.as_json()
    with pytest.raises(WrongUse, match=r"^give what the voter believes: one of belief, observed and ballots$"):
        hubbub.vote.gain(truth="cab", voters=101)
    with pytest.raises(WrongUse, match="add truth, her ranking, and voters, how many vote"):
        hubbub.vote.gain(belief="abc:1/2,bac:1/2")
    assert hubbub.vote.gain_map(rules="plurality", voters=11, steps=2, no_efficiency=True).voters == 11


def test_a_wrong_question_is_answered_in_the_words_of_python() -> None:
    with pytest.raises(WrongUse, match=r"^delta and at_epsilon are asked one at a time"):
        hubbub.account.crowd(20, "0.1").ask(delta="1e-6", at_epsilon=1)
    with pytest.raises(WrongUse, match=r"^ask=k needs epsilon; add it"):
        hubbub.plan.ask("k", "zero-knowledge", delta="1e-9", rate="0.1")
    with pytest.raises(WrongUse, match=r"it goes with mechanism=noisy-below"):
        hubbub.account.crowd(20, "0.1", tagged=True)


def test_a_plan_says_what_it_left_out_in_the_words_of_whoever_asks() -> None:
    found = hubbub.plan.release("crowd-blending", people=5000, bins=40, k=20, epsilon="0.5")
    told = json.dumps(found.as_json()["designs"][0]["warning"])
    assert "want=zero-knowledge" in told
    assert "--want" not in told
    assert "(--want zero-knowledge)" in json.dumps(found.as_json(in_shell)["designs"][0]["warning"])


def test_python_and_the_command_line_spell_one_message_each_in_its_way(tmp_path: Path) -> None:
    pq.write_table(PEOPLE, tmp_path / "town.parquet")
    with pytest.raises(WrongUse) as error:
        hubbub.open(tmp_path / "town.parquet", rows_are_people=True).histogram(["town"])
    asked = ["release", "histogram", str(tmp_path / "town.parquet"), "--by", "town", "--out", str(tmp_path / "out")]
    typed = CliRunner().invoke(commands, [*asked, "--rows-are-people"])
    assert typed.exit_code == 2
    assert "crowd=20, epsilon=1, outlier=1:0.01,101:1 or mechanism=NAME" in str(error.value)
    assert "--crowd 20, --epsilon 1, --outlier 1:0.01,101:1 or --mechanism NAME" in typed.stderr
    assert "`" not in typed.stderr + str(error.value)


# --- certificates -----------------------------------------------------------------------------------------------


def test_a_release_is_saved_verified_and_explained(tmp_path: Path) -> None:
    done = a_release()
    written = hubbub.save(done, tmp_path / "out")
    assert {"release", "certificate", "report"} <= set(written)
    checked = hubbub.verify(written["certificate"])
    assert checked.passed
    assert checked.complete  # our own key, and the files are there
    assert checked.as_json()["verdict"] == checked.verdict
    told = hubbub.explain(written["certificate"])
    assert told.text == hubbub.explain(done).text
    assert "Lost in the crowd" in f"{told}"
    assert told.as_json()["about"] == "a release of town"
    Path(written["release"]).write_text("town,count\nelm,3\n")
    assert not hubbub.verify(written["certificate"]).passed
    with pytest.raises(WrongUse):
        hubbub.explain(tmp_path / "nothing.json")


# --- notebooks --------------------------------------------------------------------------------------------------


def test_a_release_shows_itself_in_a_notebook() -> None:
    done = a_release()
    assert len(repr(done)) < 600
    assert "2 rows" in repr(done)
    shown = done._repr_html_()
    assert "<b>ash" not in shown
    assert "&lt;b&gt;ash" in shown
    assert shown.count("<tr>") == 3
    assert "crowd-blending privacy, crowds of at least 25" in shown


def test_a_release_prints_draws_and_saves_itself(tmp_path: Path) -> None:
    done = a_release()
    title, heads, *rows = str(done).splitlines()
    assert title == "People by town"
    assert heads.split() == ["town", "people", "interval"]
    assert [row.split()[-1] for row in rows[:2]] == [cells[-1].split()[-1] for _, cells, _ in done.table().rows]
    assert rows[2].startswith("Promise: crowd-blending privacy, crowds of at least 25, for the people")
    assert done.plot().title == "People by town"
    assert done.plot()._repr_svg_().startswith("<svg ")
    done.plot().save(tmp_path / "chart.html")
    written = done.save(tmp_path / "out", form="parquet")
    assert hubbub.verify(written["certificate"]).complete
    with pytest.raises(hubbub.Refused, match="in no ledger"):
        replace(done, publisher=None).save(tmp_path / "other")


def test_a_release_becomes_any_frame_and_rows() -> None:
    done = a_release()
    arrow = done.to_arrow()
    rows = [*done]
    assert rows == arrow.to_pylist()
    assert [row["count"] for row in rows] == [40, None]
    assert done.to_polars().height == len(done) == 2
    assert list(done.to_pandas()["town"]) == ["<b>ash</b>", "elm"]


# --- tables -----------------------------------------------------------------------------------------------------


def test_a_relation_of_duckdb_opens_like_a_frame() -> None:
    with duckdb.connect() as base:
        base.register("people", PEOPLE)
        relation = base.sql("select town, name from people where town = 'elm'")
        done = hubbub.open(relation, rows_are_people=True, dataset="elms").histogram(["town=elm,oak"], crowd=15)
        assert [row["count"] for row in done] == [20, None]
        lost = base.sql("select town from people")
    with pytest.raises(WrongUse, match="the relation cannot be run"):
        hubbub.open(lost, rows_are_people=True, dataset="elms")


def test_a_column_that_is_not_there_is_said_at_once() -> None:
    with pytest.raises(WrongUse, match="nmae"):
        hubbub.open(PEOPLE, person="nmae", dataset="town")
