"""People in no bin, or outside of a range: refused by shares that are declared, which the certificate has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from hubbub.tables.bins import parse
from hubbub.tables.unlisted import CLAMPED, UNLISTED

TOWNS = ["bath"] * 30 + ["York"] * 70


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A hundred people, thirty of them in a town that nobody lists so, with a pay from 30,000 on."""
    lines = [f"p{i}-x,{town},{i % 9},{30000 + i}" for i, town in enumerate(TOWNS)]
    (tmp_path / "people.csv").write_text("id,town,age,pay\n" + "\n".join(lines) + "\n")
    return tmp_path / "people.csv"


def released(file: Path, kind: str, *words: str) -> Result:
    told = ["release", kind, str(file), "--person", "id", "--epsilon", "1", "--out", str(file.parent / "o"), "--json"]
    return CliRunner().invoke(commands, [*told, *words])


def declare(file: Path, *words: str) -> None:
    assert CliRunner().invoke(commands, ["describe", str(file), *words]).exit_code == 0


PAY = ("--of", "pay:0..50000:1000")
WAYS: dict[str, tuple[str, ...]] = {
    "histogram": ("--by", "town=Bath,York"),
    "cube": ("--by", "town=Bath,York", "--by", "age:0..10:5"),
    "count": ("--by", "town=Bath,York", "--where", "age < 100"),
    "fraction": ("--by", "town=Bath,York", "--where", "age > 100"),
    "mean": ("--by", "town=Bath,York", *PAY),
    "sum": ("--by", "town=Bath,York", *PAY),
    "variance": ("--by", "town=Bath,York", *PAY),
    "quantile": ("--by", "town=Bath,York", *PAY),
    "summary": ("--by", "town=Bath,York", "--number", "mean pay:0..50000:1000"),
    "queries": ("--columns", "town=Bath,York", "--class", "marginals:1"),
    "synthetic": ("--columns", "town=Bath,York", "--columns", "age:0..10:5"),
}


@pytest.mark.parametrize("kind", WAYS)
def test_misspelt_values_are_refused_at_no_cost_unless_a_larger_share_is_declared(people: Path, kind: str) -> None:
    refused = released(people, kind, *WAYS[kind])
    assert refused.exit_code == 3, refused.output
    assert "more people than --unlisted allows have a value of town" in refused.output
    assert "bath" not in refused.output
    assert not (people.parent / "o").exists()
    assert not Ledger().account("people").spent_releases
    assert "hubbub describe takes --unlisted, once for all" in refused.stderr
    declare(people, "--unlisted", "0.29")
    assert released(people, kind, *WAYS[kind]).exit_code == 3
    declare(people, "--unlisted", "0.3")
    made = released(people, kind, *WAYS[kind])
    assert made.exit_code == 0, made.output
    certificate = json.loads((people.parent / "o" / "certificate.json").read_text())
    assert certificate["reading"] == {"unreadable": "0.01", "unlisted": "0.3", "clamped": "0.5"}
    checked = CliRunner().invoke(commands, ["verify", str(people.parent / "o" / "certificate.json"), "--explain"])
    assert checked.exit_code == 0, checked.output
    assert "at most a share 0.3 of the people, or one person, is in none of the bins" in " ".join(
        checked.output.split()
    )


@pytest.mark.parametrize("kind", ["mean", "sum", "variance", "quantile"])
def test_a_range_that_most_values_lie_outside_of_is_refused_at_no_cost(people: Path, kind: str) -> None:
    words = ("--of", "pay:0..10:1")
    refused = released(people, kind, *words)
    assert refused.exit_code == 3, refused.output
    assert "more people than --clamped allows have a value of pay that lies outside of its range" in refused.output
    assert not Ledger().account("people").spent_releases
    declare(people, "--clamped", "1")
    made = released(people, kind, *words)
    assert made.exit_code == 0, made.output


def test_half_of_the_values_may_lie_outside_and_one_more_may_not(people: Path) -> None:
    """Half a step beyond an end is at the end: of 30,000 to 30,099, 50 are at most 30,049."""
    table = open_table(people, person="id")
    table.mean("pay:0..30049:1", epsilon=1)
    with pytest.raises(Refused) as no:
        table.mean("pay:0..30048:1", epsilon=1)
    assert str(no.value) == str(Refused(CLAMPED.format(column="pay")))


def test_people_who_do_not_meet_the_condition_are_not_unlisted(people: Path) -> None:
    table = open_table(people, person="id")
    for where in ("town = York", "age > 100"):
        table.count(by=["town=Bath,York"], where=where, epsilon=1)
    table.mean("pay:0..50000:1000", by=["town=Bath,York"], where="town = York", epsilon=1)
    table.histogram(["town=Bath,other"], epsilon=1)
    table.histogram(["town"], crowd=5)
    with pytest.raises(Refused):
        table.count(by=["town=Bath,York"], where="age < 5", epsilon=1)


def test_a_table_of_nobody_is_a_table(tmp_path: Path) -> None:
    """That nobody is there is data: what it would refuse by would tell it."""
    (tmp_path / "people.csv").write_text("id,town,pay\n")
    table = open_table(tmp_path / "people.csv", person="id", unlisted=0, clamped=0)
    assert len(table.histogram(["town=Bath"], epsilon=1)) == 1
    table.mean("pay:0..10:1", by=["town=Bath"], epsilon=1)


def test_one_person_alone_never_refuses(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("id,town\n" + "a,York\n" * 60 + "b,Bath\n")
    table = open_table(tmp_path / "people.csv", person="id", unlisted=0)
    table.histogram(["town=Bath"], epsilon=1, one_row_per_person=True)
    table.histogram(["town=Bath"], epsilon=1, rows_per_person=2)


def test_python_refuses_with_the_same_words(people: Path) -> None:
    table = open_table(people, person="id", unlisted="0.1")
    bins: dict[str, Any] = {"by": ["town=Bath,York"], "epsilon": 1}
    asks: tuple[Callable[[], object], ...] = (
        lambda: table.histogram(**bins),
        lambda: table.cube(**(bins | {"by": ["town=Bath,York", "age:0..10:5"]})),
        lambda: table.cube(**(bins | {"by": ["age:0..10:5", "town=Bath,York"]})),
        lambda: table.count(**bins),
        lambda: table.fraction(where="age > 3", **bins),
        lambda: table.mean("pay:0..50000:1000", **bins),
        lambda: table.quantile("pay:0..50000:1000", **bins),
        lambda: table.sum("pay:0..50000:1000", rows_per_person=2, **bins),
    )
    for ask in asks:
        with pytest.raises(Refused) as no:
            ask()
        columns = ("town", "town or age", "age or town")  # all that may leave somebody out: which did is not told
        assert str(no.value) in [str(Refused(UNLISTED.format(column=column))) for column in columns]
    assert not Ledger().account("people").spent_releases


@pytest.mark.parametrize("name", ["unreadable", "unlisted", "clamped"])
@pytest.mark.parametrize("share", ["-0.1", "2"])
def test_a_share_that_is_none_is_wrong(people: Path, name: str, share: str) -> None:
    with pytest.raises(WrongUse, match=f"{name} must lie between 0 and 1"):
        open_table(people, person="id", **{name: share})  # type: ignore[arg-type]


def test_ranges_and_commas_among_listed_values_are_refused_by_the_words_alone() -> None:
    for spec, written in {
        "age=0..90:10": "write age:0..90:10",
        "age=[0,20,inf)": "write age:[0,20,inf)",
        "day=month:2024-01..2024-12": "write day:month:2024-01..2024-12",
        "age=(0,19],(19,40]": 'like "(0,19]"',
        "job=clerk (temporary, paid),cook": 'like "(temporary, paid)"',
    }.items():
        with pytest.raises(WrongUse) as no:
            parse(spec)
        assert written in str(no.value)
    for fine in ('age="(0,19]","(19,40]"', 'code="0..9",b', "job=clerk (paid),cook (paid)", "code=a..b"):
        parse(fine)
