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
    assert "could also be learnt from the raw data of 1,000 people picked at random out of 40,000" in told
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
    given = ["release", "count", str(tmp_path / "ten.parquet"), "--person", "resident", "--where", "age >= 65"]
    known = ["--zero-knowledge", "1", "--rows", "5", "--people", "11", "--out", str(tmp_path / "o")]
    done = CliRunner().invoke(commands, [*given, *known], catch_exceptions=False)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (3, "", 1), done.stderr
    assert "10" not in done.stderr


def plain(*words: str) -> str:
    """What a command says, in one line."""
    done = CliRunner().invoke(commands, list(words))
    return " ".join(done.output.split())


def test_a_first_day_reads_plainly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Amounts with signs are refused with the word that helps, and what was given up costs nothing and says so."""
    monkeypatch.chdir(tmp_path)
    people = "".join(f'{n},{"AB"[n % 2]},"$1,{n % 900:03}"\n' for n in range(2000))
    Path("payroll.csv").write_text(f"id,dept,pay\n{people}")
    mean = ["release", "mean", "payroll.csv", "--person", "id", "--epsilon", "1", "--out", "mean"]
    assert ",money after the range of amounts like $1,234" in plain(*mean, "--of", "pay:0..2000:1")
    said = plain(*mean, "--of", "pay:0..2000:1,money")
    assert "Ledger: release 2 of payroll (release 1 was given up and costs nothing)." in said
    told = plain("explain", "mean/certificate.json")
    assert "Each number is the mean of pay of the people in the table with a value of pay." in told
    assert "The numbers count" not in told
    promised = told.partition("What is promised")[2]
    assert promised.index("from this release alone") < promised.index("right at most 74 times in 100")
    assert promised.index("74 times in 100") < promised.index("Add or remove one person")
    report = Path("mean/report.html").read_text()
    assert "hubbub ledger show payroll" in report
    assert "The column whole of the file: what part would be if every value were 2000" in report
    counts = [
        "release",
        "histogram",
        "payroll.csv",
        "--person",
        "id",
        "--by",
        "dept",
        "--epsilon",
        "1",
        "--delta",
        "1e-9",
    ]
    said = plain(*counts, "--out", "counts")
    assert "is less than the 1 in 1 billion that you allowed" in said
    assert "Promise (outlier)" not in said
    told = plain("explain", "counts/certificate.json")
    assert "The numbers count the people in the table." in told
    assert "In numbers: differential privacy, epsilon 1, delta 1 in" in told
    assert "fixed before any of it was seen" not in plain("ledger", "show", "payroll")
