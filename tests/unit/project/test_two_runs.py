"""THREATS 67: two runs of one file at once take turns, and nothing is drawn twice."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hubbub.errors import Refused, WrongUse
from hubbub.ledger.charge import charge
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.undrawn import Undrawn
from hubbub.project.plan_file import read_plan
from hubbub.project.planning import plan
from hubbub.project.running import exclusive_plan, publish_all, run
from hubbub.protocol.bound import Bound

TOML = """
ledger = "ledger.db"
out = "published"
joint = false
[datasets.town]
file = "town.csv"
rows_are_people = true
policy = { differential_epsilon = 2 }
[[release]]
name = "a"
kind = "histogram"
by = ["dept=a,b"]
epsilon = 1
[[release]]
name = "b"
kind = "histogram"
by = ["dept=a,b,c"]
epsilon = 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "town.csv").write_text("dept\n" + "a\n" * 40 + "b\n" * 25)
    (tmp_path / "hubbub.toml").write_text(TOML)
    return tmp_path / "hubbub.toml"


def states(file: Path) -> list[tuple[str, bool]]:
    return [(each.state, each.is_spent) for each in Ledger(file.with_name("ledger.db")).account("town").records]


def test_67_a_second_run_waits_and_then_finds_everything_out(file: Path) -> None:
    waits, found = threading.Event(), list[dict[str, dict[str, str]]]()

    def second() -> None:
        with exclusive_plan(read_plan(file), waits.set) as planned:
            found.append(run(planned))

    other = threading.Thread(target=second)
    with exclusive_plan(read_plan(file)) as planned:
        other.start()
        assert waits.wait(60)
        run(planned)
    other.join()
    assert found == [{"a": {}, "b": {}}]
    assert states(file) == [("committed", True)] * 2


def test_67_a_plan_that_is_old_by_now_is_refused_before_it_spends(file: Path) -> None:
    old = plan(read_plan(file))
    publish_all(file)
    before = {path: path.read_bytes() for path in file.parent.rglob("published/**/*") if path.is_file()}
    with pytest.raises(WrongUse, match="what was published stays"):
        run(old)
    assert states(file) == [("committed", True)] * 2
    assert {path: path.read_bytes() for path in before} == before
    assert publish_all(file) == {"a": {}, "b": {}}


def test_67_a_run_that_is_refused_leaves_no_folder(file: Path) -> None:
    file.write_text(TOML.replace("differential_epsilon = 2", "differential_epsilon = 1"))
    with pytest.raises(Refused, match="cannot follow the others"):
        publish_all(file)
    assert not (file.parent / "published").exists()


def test_84_a_run_goes_on_after_one_that_died_before_it_drew_and_names_what_is_lost(file: Path) -> None:
    books = Ledger(file.with_name("ledger.db"))
    mark = Undrawn(books.path)
    books.reserve("town", charge(Bound(plan(read_plan(file)).releases[0].spec)), before_entry=mark.begin)
    mark.close()
    publish_all(file, dry_run=True)  # says what the run will do
    publish_all(file)
    assert states(file) == [("abandoned", False), ("committed", True), ("committed", True)]


def test_84_a_run_is_told_which_reservation_is_lost(file: Path) -> None:
    books = Ledger(file.with_name("ledger.db"))
    books.reserve("town", charge(Bound(plan(read_plan(file)).releases[0].spec)))
    for dry_run in (True, False):
        with pytest.raises(Refused, match=r"b cannot follow the others: .*; release 1 of .* and is lost"):
            publish_all(file, dry_run=dry_run)


@pytest.mark.slow
def test_67_of_two_processes_at_once_each_release_is_paid_once(file: Path) -> None:
    start = [sys.executable, "-c", "from hubbub.start import main; main()", "run", str(file)]
    every = [subprocess.Popen(start, env=os.environ, stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [each.wait(100) for each in every] == [0, 0, 0]
    assert states(file) == [("committed", True)] * 2
