"""The commands of counts, fractions, means and quantiles: their help, its examples, and slips in one sentence."""

from __future__ import annotations

import shlex
from pathlib import Path

import pyarrow.parquet as parquet
import pytest
from click.testing import CliRunner

from hubbub import registry
from hubbub.cli.main import commands
from hubbub.demo import millbrook

NAMES = ("count", "fraction", "mean", "quantile")


def test_the_example_of_several_questions_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hubbub-demo").mkdir()
    parquet.write_table(millbrook.people(), tmp_path / "hubbub-demo" / "millbrook.parquet")
    (tmp_path / "hubbub-demo" / "questions.toml").write_text(millbrook.QUESTIONS)
    shown = CliRunner().invoke(commands, ["release", "questions", "--help"], catch_exceptions=False).stdout
    (example,) = registry.kind("questions").examples
    assert example in shown, "an example must stand on one line, to be copied"
    done = CliRunner().invoke(commands, shlex.split(example)[1:], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    told = " ".join(done.stdout.split())
    assert "could also be learnt from the raw data of 1000 people picked at random out of 40000" in told
    assert "it would be 3,000 random people, up to epsilon =" in told
    assert (tmp_path / "questions" / "question-median-age.csv").is_file()


@pytest.mark.parametrize("name", NAMES)
def test_the_help_has_an_example_that_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hubbub-demo").mkdir()
    parquet.write_table(millbrook.people(), tmp_path / "hubbub-demo" / "millbrook.parquet")
    shown = CliRunner().invoke(commands, ["release", name, "--help-all"], catch_exceptions=False).stdout
    for flag in ("--zero-knowledge EPS", "--rows K", "--people N", "--crowd K", "--epsilon E", "--where CONDITION"):
        assert flag in shown
    for example in registry.kind(name).examples:
        assert example in shown, "an example must stand on one line, to be copied"
        done = CliRunner().invoke(commands, shlex.split(example)[1:], catch_exceptions=False)
        assert done.exit_code == 0, done.stderr
        assert "Promise (" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        "mean --of salary --epsilon 1",
        "mean --epsilon 1",
        "count --where age>=65",
        "count --where age>=old --epsilon 1",
        "count --where age>=65 --zero-knowledge 1 --rows 0 --people 10",
        "count --where age>=65 --zero-knowledge 1 --rows 11 --people 10",
        "fraction --epsilon 1",
        "quantile --of salary:0..10:1 --q 2 --epsilon 1",
        "count --where height=1 --epsilon 1",
    ],
)
def test_a_slip_is_one_sentence(words: str, tmp_path: Path) -> None:
    parquet.write_table(millbrook.people().slice(0, 10), tmp_path / "ten.parquet")
    name, *rest = words.split()
    given = ["release", name, str(tmp_path / "ten.parquet"), "--rows-are-people", *rest, "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(commands, given, catch_exceptions=False)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert not list((tmp_path / "o").glob("*"))


def test_a_table_of_another_number_of_people_is_refused_with_exit_code_3(tmp_path: Path) -> None:
    parquet.write_table(millbrook.people().slice(0, 10), tmp_path / "ten.parquet")
    given = ["release", "count", str(tmp_path / "ten.parquet"), "--rows-are-people", "--where", "age >= 65"]
    known = ["--zero-knowledge", "1", "--rows", "5", "--people", "11", "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(commands, [*given, *known], catch_exceptions=False)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (3, "", 1), done.stderr
    assert "10" not in done.stderr
