"""Periods whose people are declared to be in no other: a person loses what their own period loses, and not the sum."""

from __future__ import annotations

import json
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
from click.testing import CliRunner

from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.overlap import COMPARED
from hubbub.ledger.policy import Policy
from hubbub.opening import open as open_table


def release(ids: Iterable[int], period: str | None, name: str = "arrivals", **words: Any) -> Any:
    numbers = list(ids)
    table = pa.table({"id": numbers, "town": ["Bath", "York"] * (len(numbers) // 2)})
    person = words.pop("person", "id")
    opened = open_table(table, person=person, rows_are_people=person is None, dataset=name, disjoint=period, **words)
    return opened.histogram(["town=Bath,York"], epsilon=1, accept_weak=person is None)


def losses() -> dict[str, object]:
    found = {name: account.totals for name, account in Ledger().accounts().items()}
    return {name: total.smallest_loss for name, total in found.items() if total is not None}


def test_disjoint_people_cost_the_largest_and_not_the_sum() -> None:
    """Parallel composition: three periods under a cap of 1; a second release of one of them adds up with its first."""
    Ledger().set_policy("arrivals", Policy(differential_epsilon=Fraction(1)))
    for i, period in enumerate(("2026-01", "2026-02", "2026-03")):
        release(range(100 * i, 100 * i + 100), period)
    assert losses() == {"arrivals.2026-01": 1, "arrivals.2026-02": 1, "arrivals.2026-03": 1}
    with pytest.raises(Refused, match="1"):
        release(range(100), "2026-01")
    Ledger().set_policy("arrivals", Policy(differential_epsilon=Fraction(2)))
    release(range(100), "2026-01")
    assert losses()["arrivals.2026-01"] == 2
    assert Ledger().check()


@pytest.mark.parametrize("other_people", [False, True])
def test_somebody_who_is_in_two_periods_is_noticed_and_nothing_is_spent(other_people: bool) -> None:
    """One in common is enough, though ids that run are compared nowhere else; and nobody can declare it away."""
    release(range(100), "2026-01")
    with pytest.raises(Refused, match="may be in another period"):
        release(range(99, 199), "2026-02", other_people=other_people)
    assert "arrivals.2026-02" not in losses()
    release(range(100, 200), "2026-02")


def test_periods_and_the_whole_are_not_mixed() -> None:
    release(range(100), "2026-01")
    with pytest.raises(Refused, match="loses both"):
        release(range(1000, 1100), None)
    with pytest.raises(Refused, match="is a period of arrivals"):
        release(range(1000, 1100), None, "arrivals.2026-01")
    release(range(5000, 5100), None, "others", other_people=True)
    with pytest.raises(Refused, match="loses both"):
        release(range(7000, 7100), "2026-01", "others", other_people=True)
    release(range(8000, 8100), None, "town.2026-01", other_people=True)
    with pytest.raises(Refused, match="loses both"):
        release(range(9000, 9100), "2026-01", "town", other_people=True)


@pytest.mark.parametrize(("name", "period"), [("Arrivals", "2026-02"), ("Arrivals", None), ("ARRIVALS", "2026-01")])
def test_periods_of_one_dataset_are_known_however_it_is_spelled(name: str, period: str | None) -> None:
    """Else somebody in two months would be in two datasets that are compared by a share."""
    release(range(100), "2026-01")
    with pytest.raises(Refused, match="only in capitals"):
        release(range(99, 199), period, name)


def test_caps_of_the_whole_that_are_renewed_hold_for_each_period() -> None:
    Ledger().set_policy("arrivals", Policy(differential_epsilon=Fraction(1), per="year"))
    release(range(100), "2026-01")
    release(range(100, 200), "2026-02")
    with pytest.raises(Refused):
        release(range(100), "2026-01")
    assert Ledger().account("arrivals.2026-02").policy.per == "year"


def test_who_has_no_ids_cannot_be_checked() -> None:
    with pytest.raises(WrongUse, match="checked by their ids"):
        release(range(100), "2026-01", person=None)
    assert losses() == {}


def test_the_command_says_what_is_lost(tmp_path: Path) -> None:
    for i, period in enumerate(("2026-01", "2026-02")):
        table = pa.table({"id": range(100 * i, 100 * i + 100), "town": ["Bath", "York"] * 50})
        pa.csv.write_csv(table, tmp_path / f"{period}.csv")
        words = ["release", "histogram", str(tmp_path / f"{period}.csv"), "--person", "id", "--by", "town=Bath,York"]
        words += [
            "--epsilon",
            "1",
            "--dataset",
            "arrivals",
            "--out",
            str(tmp_path / f"out-{period}"),
        ]
        assert CliRunner().invoke(commands, ["describe", words[2], "--disjoint", period]).exit_code == 0
        tried = CliRunner().invoke(commands, [*words, "--dry-run", "--json"])
        assert json.loads(tried.stdout)["dataset"] == f"arrivals.{period}"
        done = CliRunner().invoke(commands, words)
        assert done.exit_code == 0, done.output
    told = CliRunner().invoke(commands, ["ledger", "show"]).output
    assert "not the sum" in " ".join(told.split())


def test_75_what_share_of_the_ids_was_compared_is_said_everywhere(tmp_path: Path) -> None:
    """The words depend on no data: how many people there are is told nobody."""
    share = "all of them if the larger period has no more, about 20 % if it has 20,000, 0.4 % if it has a million"
    told = []
    for i, (period, many) in enumerate((("2026-01", 10), ("2026-02", 50))):
        file = tmp_path / f"{period}.csv"
        file.write_text("id,town\n" + "".join(f"g{1000 * i + n},Bath\n" for n in range(many)))
        words = [
            "release",
            "count",
            str(file),
            "--person",
            "id",
            "--epsilon",
            "1",
            "--dataset",
            "guests",
        ]
        assert CliRunner().invoke(commands, ["describe", str(file), "--disjoint", period]).exit_code == 0
        done = CliRunner().invoke(commands, [*words, "--out", str(tmp_path / f"{i}")])
        assert done.exit_code == 0, done.output
        told.append(" ".join(done.stderr.split()))
    assert share in told[0]
    assert told[0] == told[1]
    for command in (["ledger", "show"], ["ledger", "show", "guests.2026-01"]):
        shown = " ".join(CliRunner().invoke(commands, command).output.split())
        assert share in shown
        assert "checked in part" in shown
        assert "ids were compared" not in shown
    known = json.loads(CliRunner().invoke(commands, ["ledger", "show", "--json"]).stdout)
    assert "4096" in json.dumps(known)


def test_75_the_share_that_is_said_is_the_share_that_is_compared() -> None:
    """Of 20,000 people a fifth is in the sketch: the share has a standard deviation of 1.6 % of itself, so 10 % is 6 of them."""
    from hubbub.ledger import sketch
    from hubbub.ledger.records import PEOPLE

    release(range(20_000), "2026-01")
    (entry,) = (each for each in Ledger().entries() if each.kind == PEOPLE)
    found = sketch.read(entry.body["people"])
    share = found.limit / (1 << 24)
    assert abs(share / (sketch.MOST / 20_000) - 1) < 0.1
    assert f"about {sketch.MOST / 200:.0f} % if it has 20,000" in COMPARED
