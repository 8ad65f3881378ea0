"""A series in the file of a publication, and a release that corrects another: started once, published once, charged once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import hubbub
from hubbub import series
from hubbub.cli.main import commands
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.project import running
from hubbub.project.plan_file import read_plan
from hubbub.project.planning import State, plan

TOML = """
ledger = "ledger.db"

[datasets.clinic]
file = "clinic.csv"
person = "patient"
policy = { differential_epsilon = 2 }

[[release]]
name = "arrivals"
kind = "histogram"
by = ["ward=A,B"]
epsilon = 1
series = { periods = 3, first = "2026-01" }
period = "2026-01"
title = "Who arrived"
"""
DATED = TOML.replace('first = "2026-01" }', 'first = "2026-01", date = "day" }')


def put(folder: Path, text: str = TOML, month: int = 1) -> Path:
    """The patients of a month; with a day, those of all months so far."""
    rows = "".join(f"{month * 1000 + n},{'AB'[n % 2]},2026-0{1 + n % month}-1{n % 9}\n" for n in range(300))
    (folder / "clinic.csv").write_text(f"patient,ward,day\n{rows}")
    (folder / "hubbub.toml").write_text(text)
    return folder / "hubbub.toml"


def upto(period: str, text: str = TOML) -> str:
    return text.replace('period = "2026-01"', f'period = "{period}"')


def states(file: Path) -> dict[str, State]:
    return {each.entry.name: each.state for each in plan(read_plan(file)).releases}


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, ["run", *map(str, words)])


def spent(folder: Path) -> int:
    account = Ledger(folder / "ledger.db").accounts().get("clinic")
    return 0 if account is None else len(account.spent_releases)


def test_a_series_is_started_once_and_a_period_is_published_once(tmp_path: Path) -> None:
    file = put(tmp_path)
    assert states(file) == {"arrivals/2026-01": State.OPEN}
    assert "All releases of clinic together: differential privacy, epsilon 1" in run(file, "--check").stdout
    assert spent(tmp_path) == 0
    assert run(file).exit_code == 0
    first = (tmp_path / "published" / "arrivals" / "2026-01" / "certificate.json").read_bytes()
    assert run(file).exit_code == 0
    assert states(file) == {"arrivals/2026-01": State.OUT}
    file = put(tmp_path, upto("2026-02"), month=2)
    assert states(file) == {"arrivals/2026-01": State.OUT, "arrivals/2026-02": State.OPEN}
    assert run(file).exit_code == 0
    assert (tmp_path / "published" / "arrivals" / "2026-01" / "certificate.json").read_bytes() == first
    assert spent(tmp_path) == 1  # all periods together
    for period in ("2026-01", "2026-02"):
        assert hubbub.verify(tmp_path / "published" / "arrivals" / period / "certificate.json").passed
    assert (
        "period 2026-02 of 3. The promise is about all 3 periods from 2026-01 to 2026-03"
        in run(file, "--dry-run").stdout
    )


def test_of_a_table_with_dates_all_periods_so_far_are_published_in_order(tmp_path: Path) -> None:
    file = put(tmp_path, upto("2026-02", DATED), month=2)
    assert list(states(file)) == ["arrivals/2026-01", "arrivals/2026-02"]
    assert run(file).exit_code == 0
    assert set(states(file).values()) == {State.OUT}
    assert spent(tmp_path) == 1


def test_a_period_is_not_missed_by_mistake(tmp_path: Path) -> None:
    file = put(tmp_path, upto("2026-02"))
    with pytest.raises(WrongUse, match="set period to 2026-01 first, or add skip = true"):
        plan(read_plan(file))
    assert spent(tmp_path) == 0
    file.write_text(upto("2026-02").replace("title", "skip = true\ntitle"))
    assert run(file).exit_code == 0
    assert states(file) == {"arrivals/2026-02": State.OUT}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after"), [("epsilon = 1", "epsilon = 2"), ("ward=A,B", "ward=A"), ("periods = 3", "periods = 4")]
)
def test_another_series_of_the_same_name_is_refused(tmp_path: Path, before: str, after: str) -> None:
    assert run(put(tmp_path)).exit_code == 0
    file = put(tmp_path, upto("2026-02").replace(before, after), month=2)
    with pytest.raises(Refused, match="the series arrivals is published already"):
        plan(read_plan(file))
    assert spent(tmp_path) == 1
    retitled = put(tmp_path, upto("2026-02").replace("Who arrived", "Arrivals"), month=2)
    assert states(retitled)["arrivals/2026-02"] is State.OPEN


@pytest.mark.slow
@pytest.mark.parametrize("where", ["start", "release", "save"])
def test_a_series_that_was_cut_short_goes_on(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After it was charged, after its period was drawn, after its files were written: charged once, drawn once."""
    file = put(tmp_path)
    owner = running if where == "save" else series
    whole = getattr(owner, where)

    def dies(*words: object, **named: object) -> object:
        whole(*words, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(owner, where, dies)
    with pytest.raises(KeyboardInterrupt):
        hubbub.publish_all(file)
    monkeypatch.setattr(owner, where, whole)
    hubbub.publish_all(file)
    assert states(file) == {"arrivals/2026-01": State.OUT}
    assert spent(tmp_path) == 1
    assert hubbub.verify(tmp_path / "published" / "arrivals" / "2026-01" / "certificate.json").passed


@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        ('period = "2026-01"', "", "say up to which period the series arrivals is published"),
        ('period = "2026-01"', 'period = "2027-01"', "2027-01 is not in it"),
        ('series = { periods = 3, first = "2026-01" }', "", "period of arrivals is about a series"),
        ('series = { periods = 3, first = "2026-01" }', "series = 3", "is a table that says its calendar"),
        ("periods = 3,", "", "is a table that says its calendar"),
        ("periods = 3,", "periods = 3, evry = 'week',", "and not 'evry'"),
        ('kind = "histogram"', 'kind = "mean"', "is of a histogram, count, cube or sum"),
        ('by = ["ward=A,B"]', 'by = ["ward=A,B"]\nnoise = "gaussian"', "has words that no series has"),
        ("epsilon = 1", "epsilon = 9", "arrivals/2026-01 cannot follow the others"),
        ("epsilon = 1", "epsilon = 0", "epsilon"),
    ],
)
def test_a_series_without_a_meaning_is_refused(tmp_path: Path, before: str, after: str, sentence: str) -> None:
    assert before in TOML
    with pytest.raises(HubbubError) as told:
        hubbub.publish_all(put(tmp_path, TOML.replace(before, after)))
    assert sentence in str(told.value)
    assert spent(tmp_path) == 0


ONE = """
ledger = "ledger.db"
[datasets.clinic]
file = "clinic.csv"
person = "patient"
unlisted = "1"
[[release]]
name = "wards"
kind = "histogram"
by = ["ward=A"]
epsilon = 1
"""
TWO = """
[[release]]
name = "wards-2"
kind = "histogram"
by = ["ward=A,B"]
epsilon = 1
corrects = "wards"
reason = "ward B was forgotten"
"""


def test_a_release_of_the_file_corrects_another(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="holds a release that this ledger did not publish"):
        plan(read_plan(put(tmp_path, ONE + TWO)))
    assert run(put(tmp_path, ONE)).exit_code == 0
    file = put(tmp_path, ONE + TWO)
    assert "**Corrects**: wards" in run(file, "--dry-run").stdout
    assert run(file).exit_code == 0
    assert spent(tmp_path) == 2
    old, new = (hubbub.verify(tmp_path / "published" / name / "certificate.json") for name in ("wards", "wards-2"))
    assert (old.passed, new.passed) == (False, True)
    assert "ward B was forgotten" in old.verdict
    (tmp_path / "published" / "wards" / "replaced.json").unlink()  # as if a run had been cut short there
    assert run(file).exit_code == 0
    assert not hubbub.verify(tmp_path / "published" / "wards" / "certificate.json").passed
    assert json.loads(run(file, "--json").stdout)["written"] == {"wards": {}, "wards-2": {}}
    assert spent(tmp_path) == 2


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (TWO.replace('reason = "ward B was forgotten"', ""), "say both, corrects and reason"),
        (TWO.replace('corrects = "wards"', ""), "say both, corrects and reason"),
        (TWO.replace('corrects = "wards"', 'corrects = "wards-2"'), "corrects a release in another folder"),
        (TWO.replace('corrects = "wards"', 'corrects = "../x"'), "corrects a release in another folder"),
    ],
)
def test_a_correction_without_a_meaning_is_refused(tmp_path: Path, more: str, sentence: str) -> None:
    with pytest.raises(WrongUse, match=sentence):
        read_plan(put(tmp_path, ONE + more))


SEVERAL = "patient,ward\n" + "".join(f"p{n},A\np{n},B\n" for n in range(100))


def test_70_several_rows_are_refused_before_the_charge_and_a_series_says_what_counts(tmp_path: Path) -> None:
    file = put(tmp_path)
    (tmp_path / "clinic.csv").write_text(SEVERAL)
    refused = run(file)
    assert (refused.exit_code, "nothing was charged" in refused.output) == (3, True)
    assert spent(tmp_path) == 0
    file.write_text(TOML.replace("epsilon = 1\n", "epsilon = 1\nrows_per_person = 2\n"))
    assert run(file).exit_code == 0
    assert spent(tmp_path) == 1


def test_70_a_series_that_met_several_rows_later_is_completed_by_one_of_each(tmp_path: Path) -> None:
    file = put(tmp_path)
    assert run(file).exit_code == 0
    file.write_text(upto("2026-02"))
    (tmp_path / "clinic.csv").write_text(SEVERAL)
    assert run(file).exit_code == 3
    kept = upto("2026-02").replace("epsilon = 1\n", "epsilon = 1\none_row_per_person = true\n")
    file.write_text(kept)
    done = run(file)
    assert done.exit_code == 0, done.output
    body = json.loads((tmp_path / "published" / "arrivals" / "2026-02" / "certificate.json").read_bytes())
    assert body["release"]["one_row_kept"] == ["2026-02"]
    assert set(states(file).values()) == {State.OUT}
    file.write_text(kept.replace("one_row_per_person = true", "rows_per_person = 2"))
    assert run(file).exit_code == 3


def test_people_who_were_declared_to_be_others_are_so_in_a_series(tmp_path: Path) -> None:
    file = put(tmp_path)
    (tmp_path / "before.csv").write_text((tmp_path / "clinic.csv").read_text() + "9999,A,2026-01-11\n")
    known = {"dataset": "before", "ledger": tmp_path / "ledger.db"}
    hubbub.open(tmp_path / "before.csv", person="patient", **known).count(epsilon=1)
    assert run(file).exit_code == 3
    assert spent(tmp_path) == 0
    file.write_text(TOML.replace('person = "patient"', 'person = "patient"\nother_people = true'))
    done = run(file)
    assert done.exit_code == 0, done.output
