"""``hubbub ledger``: what was released, what that cost, what is left; and the ways back after something broke."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from hubbub.cli.main import commands
from hubbub.errors import Refused
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.paths import default_path


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, [str(word) for word in words])


def told(*words: object) -> Any:
    done = run(*words, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


@pytest.fixture
def town(tmp_path: Path) -> Path:
    place = tmp_path / "town.parquet"
    pq.write_table(pa.table({"a": ["x"] * 30 + ["y"] * 5, "b": ["x", "y", "z", "x", "x"] * 7}), place)
    return place


def publish(town: Path, out: Path, *words: object) -> Result:
    return run("release", "histogram", town, "--rows-are-people", "--out", out, *words)


@pytest.fixture
def out(town: Path, tmp_path: Path) -> Path:
    done = publish(town, tmp_path / "out", "--by", "a=x,y", "--epsilon", "0.5")
    assert done.exit_code == 0, done.output
    return tmp_path / "out"


def test_show_of_nothing_is_empty() -> None:
    assert told("ledger", "show") == {"ledger": str(default_path()), "datasets": []}
    assert "is empty: nothing has been released" in run("ledger", "show").stdout
    assert run("ledger", "show", "town").exit_code == 2


def test_show_tells_releases_spending_and_what_is_left(out: Path, town: Path, tmp_path: Path) -> None:
    assert run("ledger", "policy", "town", "--differential-epsilon", "2", "--delta", "1e-6").exit_code == 0
    assert publish(town, tmp_path / "two", "--by", "b=x,y,z", "--epsilon", "1/3").exit_code == 0
    shown = told("ledger", "show", "town")
    assert [release["what"] for release in shown["releases"]] == ["histogram by a", "histogram by b"]
    assert [release["state"] for release in shown["releases"]] == ["committed", "committed"]
    assert shown["spent"]["differential"]["epsilon_exact"] == "5/6"
    assert "why" in shown["spent"]["crowd_blending"]
    assert shown["policy"] == {"differential_epsilon": "2", "delta": "0.000001"}
    assert shown["left"] == {"differential_epsilon": "7/6", "delta": "0.000001"}
    assert told("ledger", "show")["datasets"] == [shown]
    words = run("ledger", "show", "town").stdout
    for text in (
        "Release 2: histogram by b",
        "- differential privacy, epsilon 0.834, for one person more or less",
        "left of differential epsilon: 7/6",
    ):
        assert text in words


def test_policy_shows_replaces_and_takes_away(out: Path) -> None:
    assert told("ledger", "policy", "town") == {"dataset": "town", "policy": {}}
    assert told("ledger", "policy", "town", "--crowd", "20")["policy"] == {"crowd": 20}
    assert told("ledger", "policy", "town", "--delta", "1e-3")["policy"] == {"delta": "0.001"}
    assert told("ledger", "policy", "town", "--none")["policy"] == {}
    assert "no cap" in run("ledger", "policy", "town").stdout


@pytest.mark.parametrize(
    ("caps", "said"),
    [
        (["--differential-epsilon", "1"], "town: at most differential epsilon 1.\n"),
        (["--differential-epsilon", "1", "--delta", "1e-6"], "town: at most differential epsilon 1, delta 0.000001.\n"),
    ],
    ids=["epsilon", "epsilon and delta"],
)
def test_a_policy_that_stood_before_all_releases_is_told_by_its_caps_alone(caps: list[str], said: str) -> None:
    assert run("ledger", "policy", "town", *caps).stdout == said
    assert set(told("ledger", "policy", "town", *caps)["policy"]) <= {"differential_epsilon", "delta"}
    assert run("ledger", "show", "town").stdout.count("before all") == 0
    assert told("ledger", "show", "town")["policy"] == told("ledger", "policy", "town", *caps)["policy"]


@pytest.mark.parametrize(
    "words",
    [
        ("policy", "town", "--delta", "2"),
        ("policy", "town", "--crowd", "1"),
        ("policy", "town", "--differential-epsilon", "x"),
        ("policy", "town", "--none", "--crowd", "5"),
        ("policy", "a b", "--crowd", "5"),
        ("policy", "nowhere"),
        ("show", "nowhere"),
        ("finish", "nowhere"),
        ("adopt",),
        ("record", "nowhere"),
        ("nonsense",),
    ],
)
def test_wrong_use_is_exit_2_in_one_sentence(words: tuple[str, ...]) -> None:
    done = run("ledger", *words)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert done.stderr.startswith("hubbub: ")
    assert done.stderr.count("\n") == 1


def test_beyond_the_cap_is_exit_3_and_publishes_nothing(town: Path, tmp_path: Path) -> None:
    run("ledger", "policy", "town", "--differential-epsilon", "0.4")
    done = publish(town, tmp_path / "out", "--by", "a=x,y", "--epsilon", "0.5", "--json")
    assert done.exit_code == 3
    assert (done.stdout, (tmp_path / "out").exists()) == ("", False)
    assert "above the cap of 0.4" in done.stderr
    assert told("ledger", "show", "town")["releases"] == []


def test_another_spelling_is_exit_3(out: Path, town: Path, tmp_path: Path) -> None:
    assert run("ledger", "policy", "Town", "--crowd", "5").exit_code == 3
    assert publish(town, tmp_path / "two", "--by", "a=x,y", "--epsilon", "1", "--dataset", "TOWN").exit_code == 3


def test_a_link_to_a_table_is_the_same_table(town: Path, tmp_path: Path) -> None:
    assert publish(town, tmp_path / "one", "--by", "a=x,y", "--crowd", "20").exit_code == 0
    alias, folder = tmp_path / "other.parquet", tmp_path / "elsewhere"
    os.symlink(town, alias)
    os.symlink(tmp_path, folder)
    for place, name in ((alias, "other"), (folder / "town.parquet", "second"), (tmp_path / "." / "town.parquet", "x")):
        done = publish(place, tmp_path / "two", "--by", "b=x,y,z", "--crowd", "20", "--dataset", name)
        assert done.exit_code == 3, place
        assert "--dataset town" in done.stderr


def test_a_table_of_a_database_has_one_spelling(tmp_path: Path) -> None:
    place = tmp_path / "city.duckdb"
    with duckdb.connect(str(place)) as base:
        base.execute("CREATE TABLE people AS SELECT 'x' AS a FROM range(30)")
    words = ("--by", "a=x,y", "--crowd", "20", "--table")
    assert publish(place, tmp_path / "one", *words, "people").exit_code == 0
    assert publish(place, tmp_path / "two", *words, "PEOPLE", "--dataset", "others").exit_code == 2
    assert publish(place, tmp_path / "two", *words, "people", "--dataset", "others").exit_code == 3


def test_key_prints_the_public_half_and_makes_another(out: Path) -> None:
    public = run("ledger", "key").stdout.strip()
    assert json.loads((out / "certificate.json").read_text())["signature"]["public_key"] == public
    assert told("ledger", "key") == {"public_key": public}
    new = told("ledger", "key", "--new")["public_key"]
    assert new != public
    assert run("ledger", "key").stdout.strip() == new
    assert run("verify", out / "certificate.json", "--key", public).exit_code == 0
    assert run("verify", out / "certificate.json", "--key", new).exit_code == 4


def test_check_knows_its_certificates_and_no_others(out: Path, tmp_path: Path) -> None:
    checked = told("ledger", "check", out / "certificate.json")
    assert checked["passed"] is True
    assert checked["certificates"] == 1
    assert "as they should be" in run("ledger", "check").stdout
    changed = tmp_path / "changed.json"
    changed.write_bytes((out / "certificate.json").read_bytes().replace(b'"0.5"', b'"0.4"', 1))
    assert run("ledger", "check", changed).exit_code == 4
    assert run("ledger", "check", tmp_path / "none.json").exit_code == 2
    assert run("ledger", "check", out / "certificate.json", "--ledger", tmp_path / "another.db").exit_code == 4


def test_record_what_was_computed_from_a_release_and_it_costs_nothing(out: Path, tmp_path: Path) -> None:
    sums = tmp_path / "sums.csv"
    sums.write_text("35\n")
    before = told("ledger", "show", "town")["spent"]
    done = told("ledger", "record", sums, "--from", out / "certificate.json", "--how", "the sum of all counts")
    assert (done["dataset"], done["release"]) == ("town", 1)
    shown = told("ledger", "show", "town")
    assert shown["spent"] == before
    assert shown["releases"][0]["computed_from_it"] == [{"sha256": done["sha256"], "how": "the sum of all counts"}]
    assert "computed from it, at no cost" in run("ledger", "show", "town").stdout
    assert run("ledger", "record", tmp_path / "none", "--from", out / "certificate.json").exit_code == 2
    other = tmp_path / "other.json"
    other.write_text("{}\n")
    assert run("ledger", "record", sums, "--from", other).exit_code == 4


def test_bytes_that_are_ready_when_the_ledger_fails_stay_paid_for_and_are_finished(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "out"

    def fails(*words: object) -> None:
        raise Refused("the ledger is held by another program; try again")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "commit", fails)
        assert publish(town, folder, "--by", "a=x,y", "--crowd", "20").exit_code == 3
    (hidden,) = folder.glob(".hubbub-*")
    ready = (hidden / "release.csv").read_bytes()  # whoever looks sees the numbers, which drew no noise
    (record,) = told("ledger", "show", "town")["releases"]
    assert (record["state"], record["counts_as_spent"]) == ("reserved", True)
    assert publish(town, folder, "--by", "a=x,y", "--crowd", "20").exit_code == 2  # finish that first
    done = told("ledger", "finish", folder)
    assert Path(done["finished"][0]["release"]).read_bytes() == ready
    assert run("verify", folder / "certificate.json").exit_code == 0
    assert [each["state"] for each in told("ledger", "show", "town")["releases"]] == ["committed"]
    assert run("ledger", "finish", folder).exit_code == 2


def test_what_was_cut_short_before_it_was_whole_is_exit_3_and_goes(out: Path) -> None:
    hidden = out / ".hubbub-0123"
    hidden.mkdir()
    (hidden / "release.csv").write_text("half")
    assert run("ledger", "finish", out).exit_code == 3
    assert not hidden.exists()


def test_what_is_ready_is_not_lost_while_its_ledger_is_away(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*words: object) -> None:
        raise Refused("the ledger is held by another program; try again")

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "commit", fails)
        publish(town, tmp_path / "out", "--by", "a=x,y", "--crowd", "20")
    away = default_path().with_name("away.db")
    default_path().rename(away)
    assert run("ledger", "finish", tmp_path / "out").exit_code == 4
    assert not default_path().exists()  # nor was one made
    away.rename(default_path())
    assert run("ledger", "finish", tmp_path / "out").exit_code == 0
    assert run("ledger", "check", tmp_path / "out" / "certificate.json").exit_code == 0


def test_a_ledger_that_moved_is_adopted(out: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved.db"
    Ledger().entries()
    for file in default_path().parent.iterdir():
        shutil.move(file, moved.with_name(file.name.replace("ledger.db", "moved.db")))
    assert run("ledger", "show", "--ledger", moved).exit_code == 4
    assert told("ledger", "adopt", "--ledger", moved) == {"ledger": str(moved), "missing_entries": []}
    assert told("ledger", "show", "town", "--ledger", moved)["releases"][0]["state"] == "committed"


def test_a_ledger_that_is_gone_is_begun_anew_only_when_asked(out: Path, town: Path, tmp_path: Path) -> None:
    assert run("ledger", "new").exit_code == 3  # it is there
    for file in default_path().parent.iterdir():
        file.unlink()
    assert run("ledger", "show").exit_code == 4
    assert publish(town, tmp_path / "two", "--by", "a=x,y", "--epsilon", "1").exit_code == 4
    assert told("ledger", "new") == {"ledger": str(default_path())}
    assert told("ledger", "show")["datasets"] == []
    assert run("ledger", "check", out / "certificate.json").exit_code == 4  # what is out tells


@pytest.mark.parametrize("command", ["show", "policy", "key", "check", "record", "finish", "adopt", "new"])
def test_help_has_an_example(command: str) -> None:
    done = run("ledger", command, "--help")
    assert done.exit_code == 0
    assert "Example" in done.stdout


def test_columns_of_one_name_in_two_files_are_two_partitions(town: Path, tmp_path: Path) -> None:
    words = ("--by", "a=x,y", "--outlier", "1:0,21:inf", "--dataset", "town")
    other = tmp_path / "jobs.parquet"
    pq.write_table(pa.table({"a": ["x", "y", "x", "y", "x"] * 7}), other)  # the same people, by something else
    assert publish(town, tmp_path / "one", *words).exit_code == 0
    done = publish(other, tmp_path / "two", *words)
    assert done.exit_code == 3  # else whoever is in a large crowd of both may be alone in both together
    assert publish(town, tmp_path / "three", *words).exit_code == 0  # the same bins of the same file tell nothing new
