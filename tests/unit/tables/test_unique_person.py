"""A declaration that each person has one row: nothing is checked, and everything that is published says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import hubbub
from hubbub import registry
from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.people import DECLARED_UNIQUE
from hubbub.ledger.ledger import Ledger
from hubbub.tables.privacy_unit import Unit, of_numbers

TWICE = pa.table({"id": [*range(200), 7, 7], "town": ["Bath"] * 202, "v": [1] * 202, "w": [2] * 202})
TOWNS = ["town=Bath,York"]
SENTENCE = (
    "id identifies people, and each has one row: this was declared and not checked, and the promise holds only if no "
    "person has two rows"
)
ASKED: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "histogram": ((TOWNS,), {"epsilon": 1}),
    "cube": (([*TOWNS, "v:0..2:1"],), {"epsilon": 1}),
    "records": ((["town"],), {"crowd": 5}),
    "points": ((["v", "w"],), {"box": "0..4,0..4", "grid": "1,1", "crowd": 5, "epsilon": 1}),
    "queries": ((TOWNS, "marginals:1"), {"epsilon": 1}),
    "synthetic": (([*TOWNS, "v:0..2:1"],), {"epsilon": 1, "size": 10}),
    "count": ((), {"where": "v = 1", "epsilon": 1}),
    "fraction": ((), {"where": "v = 1", "epsilon": 1}),
    "mean": (("v:0..2:1",), {"epsilon": 1}),
    "quantile": (("v:0..2:1",), {"epsilon": 1}),
    "sum": (("v:0..2:1",), {"epsilon": 1}),
    "ratio": (("v:0..2:1", "w:0..2:1"), {"epsilon": 1}),
    "summary": ((["people", "sum v:0..2:1"], TOWNS), {"epsilon": 1}),
    "variance": (("v:0..2:1",), {"epsilon": 1}),
    "std": (("v:0..2:1",), {"epsilon": 1}),
}


def opened(tmp_path: Path, table: pa.Table = TWICE, dataset: str = "town") -> hubbub.Table:
    return hubbub.open(table, person="id", dataset=dataset, ledger=tmp_path / "ledger.db")


def test_every_kind_of_a_table_takes_it() -> None:
    taking = {
        name for name in registry.names() if "unique_person" in {each.name for each in registry.kind(name).options}
    }
    assert taking == {*ASKED, "questions"}


@pytest.mark.parametrize("kind", ASKED)
def test_a_release_counts_the_rows_of_a_table_that_would_be_refused_and_carries_the_assumption(
    kind: str, tmp_path: Path
) -> None:
    first, words = ASKED[kind]
    with pytest.raises(Refused, match="exactly one row for each person"):
        getattr(opened(tmp_path), kind)(*first, **words)
    done = getattr(opened(tmp_path), kind)(*first, **words, unique_person=True)
    assert all(SENTENCE in step.all_assumptions() for step in done.promises)
    assert all(DECLARED_UNIQUE in step.assumption_ids() for step in done.promises)


def test_the_certificate_carries_it_and_verify_explain_and_the_report_say_it(tmp_path: Path) -> None:
    out = tmp_path / "out"
    files = opened(tmp_path).histogram(TOWNS, epsilon=1, unique_person=True).save(out)
    written = json.loads(Path(files["certificate"]).read_bytes())
    assert written["release"]["unit"]["unique_person"] is True
    assert {"id": DECLARED_UNIQUE, "person": "id"} in written["guarantees"][0]["assumptions"]
    key = Ledger(tmp_path / "ledger.db").public_key()
    told = CliRunner().invoke(commands, ["verify", files["certificate"], "--key", key])
    assert told.exit_code == 0
    assert f"Note: {SENTENCE}." in " ".join(told.stdout.split())
    checked = json.loads(CliRunner().invoke(commands, ["verify", files["certificate"], "--key", key, "--json"]).stdout)
    assert f"whether this is so: {SENTENCE}" in checked["not_checked"]
    explained = CliRunner().invoke(commands, ["explain", files["certificate"]])
    assert SENTENCE in " ".join(explained.stdout.split())
    assert SENTENCE in Path(files["report"]).read_text()
    del written["release"]["unit"]["unique_person"]
    Path(files["certificate"]).write_text(json.dumps(written))
    assert CliRunner().invoke(commands, ["verify", files["certificate"], "--key", key]).exit_code == 4


def test_a_checked_release_says_nothing_of_it(tmp_path: Path) -> None:
    done = opened(tmp_path, TWICE.slice(0, 200)).histogram(TOWNS, epsilon=1)
    assert "unique_person" not in json.dumps(done.spec.to_json())
    assert all(DECLARED_UNIQUE not in step.assumption_ids() for step in done.promises)
    assert not next(iter(Ledger(tmp_path / "ledger.db").accounts().values())).records[0].release.charge.declared_unique


def test_the_ledger_keeps_it_and_the_people_are_the_same_with_it_and_without(tmp_path: Path) -> None:
    once = TWICE.slice(0, 200)
    opened(tmp_path, once).histogram(TOWNS, epsilon=1).save(tmp_path / "a")
    opened(tmp_path, once).histogram(TOWNS, epsilon=1, unique_person=True).save(tmp_path / "b")
    account = Ledger(tmp_path / "ledger.db").accounts()["town"]
    assert [each.release.charge.declared_unique for each in account.records] == [False, True]
    assert len({each.release.charge.people for each in account.records}) == 1
    shown = CliRunner().invoke(commands, ["ledger", "show", "town", "--ledger", str(tmp_path / "ledger.db")]).stdout
    assert shown.count("\n  if no person has two rows, as was declared and not checked") == 1
    assert "\nAll of this holds only if no person has two rows, as was declared and not checked." in shown
    assert "- differential privacy, epsilon 2" in shown
    with pytest.raises(Refused, match="town"):  # known by their ids under another name, though none was checked
        opened(tmp_path, once, "elsewhere").histogram(TOWNS, epsilon=1, unique_person=True)


@pytest.mark.parametrize(
    "other", [{"one_row_per_person": True}, {"rows_per_person": 2}, {"rows_per_bin": 1}, {"distinct": 2}], ids=str
)
def test_people_of_several_rows_contradict_it(other: dict[str, Any]) -> None:
    with pytest.raises(WrongUse, match=rf"{next(iter(other))} is for people who have; drop one of the two"):
        Unit(person="id", unique_person=True, **other)
    with pytest.raises(WrongUse, match="drop one of the two"):
        of_numbers("id", unique_person=True, any_row=True)


def test_without_a_column_of_people_there_is_nothing_to_declare(tmp_path: Path) -> None:
    with pytest.raises(WrongUse, match="say which column has the ids"):
        Unit(unique_person=True)
    table = hubbub.open(TWICE, rows_are_people=True, dataset="town", ledger=tmp_path / "ledger.db")
    with pytest.raises(WrongUse, match="say which column has the ids"):
        table.count(epsilon=1, unique_person=True)


def test_one_sample_takes_it(tmp_path: Path) -> None:
    with opened(tmp_path).sample(rows=50, people=202, zero_knowledge="0.5", unique_person=True) as people:
        people.count("one", where="v = 1")
    assert SENTENCE in people.release.promises[0].all_assumptions()


@pytest.mark.parametrize(("ids", "is_so"), [([1, 2, 3], True), ([1, 2, 2], False), ([1, None, 2], False)], ids=str)
def test_a_look_tells_the_steward_whether_it_is_so(ids: list[int | None], is_so: bool, tmp_path: Path) -> None:
    lines = [f"{'' if each is None else each},Bath" for each in ids]
    (tmp_path / "people.csv").write_text("\n".join(["id,town", *lines, ""]))
    words = ["check", str(tmp_path / "people.csv"), "--person", "id", "--unique-person", "--by", "town=Bath"]
    told = CliRunner().invoke(commands, words)
    assert f"(--unique-person) is {'true' if is_so else 'false'} of this table" in told.stdout
    assert ("--unique-person --by" in told.stdout) is is_so, "in the command that is proposed"
    assert json.loads(CliRunner().invoke(commands, [*words, "--json"]).stdout)["unique_person"] is is_so
    alone = CliRunner().invoke(commands, [*words[:2], "--rows-are-people", *words[4:]])
    assert alone.exit_code == 2
    assert "say which column has the ids" in alone.stderr
