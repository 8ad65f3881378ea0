"""People in no bin: refused only where a share is declared, which the certificate then names as an assumption."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.kinds.cube.request import cube
from hubbub.kinds.histogram.request import KIND, histogram
from hubbub.kinds.statistic.request import MEAN, statistic
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from hubbub.tables.unlisted import TOO_MANY_UNLISTED

TOWNS = ["bath"] * 30 + ["York"] * 70


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A hundred people, thirty of them in a town that nobody lists so."""
    lines = [f"p{i}-x,{town},{i % 9},{i % 7}" for i, town in enumerate(TOWNS)]
    (tmp_path / "people.csv").write_text("id,town,age,pay\n" + "\n".join(lines) + "\n")
    return tmp_path / "people.csv"


def released(file: Path, kind: str, *words: str) -> Result:
    told = ["release", kind, str(file), "--person", "id", "--epsilon", "1", "--out", str(file.parent / "o"), "--json"]
    return CliRunner().invoke(commands, [*told, *words])


WAYS = {
    "histogram": ("--by", "town=Bath,York"),
    "cube": ("--by", "town=Bath,York", "--by", "age:0..10:5"),
    "count": ("--by", "town=Bath,York", "--where", "age > 100"),
    "fraction": ("--by", "town=Bath,York", "--where", "age > 100"),
    "mean": ("--by", "town=Bath,York", "--of", "pay:100..200:1"),
    "quantile": ("--by", "town=Bath,York", "--of", "pay:100..200:1"),
}


@pytest.mark.parametrize("kind", WAYS)
def test_a_larger_share_is_refused_at_no_cost_and_a_smaller_one_is_assumed(people: Path, kind: str) -> None:
    """Conditions that nobody meets and ranges that miss all values refuse nothing, with a share or without."""
    refused = released(people, kind, *WAYS[kind], "--unlisted", "0.29")
    assert refused.exit_code == 3
    assert "more people than --unlisted allows are in none of the bins" in refused.output
    assert not Ledger().account("people").spent
    made = released(people, kind, *WAYS[kind], "--unlisted", "0.3")
    assert made.exit_code == 0, made.output
    certificate = json.loads((people.parent / "o" / "certificate.json").read_text())
    assert "bins.unlisted" in json.dumps(certificate["guarantees"])
    assert "t most a share 0.3 of the people" in (people.parent / "o" / "report.html").read_text()
    described = certificate["release"]["cells"] if kind == "cube" else certificate["release"]
    assert described["unlisted"] == "0.3"
    checked = CliRunner().invoke(commands, ["verify", str(people.parent / "o" / "certificate.json")])
    assert checked.exit_code == 0, checked.output


@pytest.mark.parametrize("kind", WAYS)
def test_nothing_is_looked_at_unless_it_is_declared(people: Path, kind: str) -> None:
    made = released(people, kind, *WAYS[kind])
    assert made.exit_code == 0, made.output
    assert "unlisted" not in (people.parent / "o" / "certificate.json").read_text()


def test_one_person_alone_never_refuses(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,town\n" + "a,York\n" * 60 + "b,Bath\n")
    table = open_table(tmp_path / "people.csv", person="id")
    made = table.histogram(["town=Bath"], epsilon=1, one_row_per_person=True, unlisted=0)
    assert made.spec.to_json()["unlisted"] == "0"


def test_python_refuses_with_the_same_words(people: Path) -> None:
    table = open_table(people, person="id")
    bins: dict[str, Any] = {"by": ["town=Bath,York"], "epsilon": 1, "unlisted": "0.1"}
    asks: tuple[Callable[[], object], ...] = (
        lambda: table.histogram(**bins),
        lambda: table.cube(**(bins | {"by": ["town=Bath,York", "age:0..10:5"]})),
        lambda: table.count(**bins),
        lambda: table.fraction(where="age > 3", **bins),
        lambda: table.mean("pay:0..10:1", **bins),
        lambda: table.quantile("pay:0..10:1", **bins),
    )
    for ask in asks:
        with pytest.raises(Refused) as no:
            ask()
        assert str(no.value) == str(Refused(TOO_MANY_UNLISTED))
    assert not Ledger().account("people").spent


@pytest.mark.parametrize("share", ["1", "-0.1", "2"])
def test_a_share_that_is_none_is_wrong(share: str) -> None:
    with pytest.raises(WrongUse, match="at least 0 and below 1"):
        histogram(["town=Bath"], epsilon=1, unlisted=share)
    with pytest.raises(WrongUse, match="at least 0 and below 1"):
        statistic("count", by=["town=Bath"], epsilon=1, unlisted=share)


def test_bins_that_nobody_can_be_outside_of_need_no_share() -> None:
    for spec in (
        lambda: histogram(["town"], crowd=5, unlisted="0.1"),
        lambda: cube(["town", "age"], crowd=5, unlisted="0.1"),
        lambda: statistic("mean", of="pay:0..9:1", epsilon=1, unlisted="0.1"),
    ):
        with pytest.raises(WrongUse, match="declare those of a column"):
            spec()


def test_a_description_with_another_share_is_checked() -> None:
    told = histogram(["town=Bath"], epsilon=1, unlisted="0.1").to_json()
    assert KIND.from_json(told).to_json() == told
    mean = statistic("mean", of="pay:0..9:1", by=["town=Bath"], epsilon=1, unlisted="0.1").to_json()
    assert MEAN.from_json(mean).to_json() == mean
    for read, given in ((KIND.from_json, told), (MEAN.from_json, mean)):
        for wrong in ("1.5", "-1", None, 0.1):
            with pytest.raises(CheckFailed):
                read(given | {"unlisted": wrong})
