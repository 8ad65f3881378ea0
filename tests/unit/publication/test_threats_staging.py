"""THREATS 45, and two releases into one folder: what is paid for comes out, whole, whatever fails on the way."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from hubbub import opening, release
from hubbub.cli.main import commands
from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.ledger import key
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.paths import default_path
from hubbub.protocol.release import Release
from hubbub.publication import staging
from hubbub.publication.recovery import finish
from hubbub.publication.staging import DRAFT, unfinished
from hubbub.release import save, stage
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.verification import verify
from tests.fresh import opened as open_table

TOWN = pa.table({"dept": ["a"] * 40 + ["b"] * 25 + ["c"] * 3})


def run(*words: object) -> Result:
    return CliRunner().invoke(commands, [str(word) for word in words])


@pytest.fixture
def town(tmp_path: Path) -> Path:
    pq.write_table(TOWN, tmp_path / "town.parquet")
    return tmp_path / "town.parquet"


def publish(town: Path, out: Path, *words: object) -> Result:
    return run(
        "release", "histogram", town, "--rows-are-people", "--by", "dept=a,b,c", "--crowd", "20", "--out", out, *words
    )


def test_a_folder_that_was_made_for_a_release_that_is_refused_goes_again(town: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    for out in (tmp_path / "new" / "deep", kept):
        refused = run("release", "histogram", town, "--rows-are-people", "--by", "dept", "--epsilon", "1", "--out", out)
        assert refused.exit_code == 3
    assert not (tmp_path / "new").exists()
    assert kept.is_dir()  # it was there before


@pytest.mark.parametrize("name", ["x" * 300, f"new/{'x' * 300}", "/".join(["x" * 200] * 30)])
def test_a_folder_whose_name_is_too_long_gets_one_sentence_and_costs_nothing(
    town: Path, tmp_path: Path, name: str
) -> None:
    told = publish(town, tmp_path / name)
    assert told.exit_code == 2
    assert told.stderr.startswith("hubbub: a folder for releases can be written to, not so ")
    assert len(told.stderr) < 250
    assert states() == []
    release = open_table(town).histogram(["dept=a,b,c"], crowd=20)
    with pytest.raises(WrongUse, match="a folder for releases can be written to"):
        save(release, tmp_path / name)
    assert states() == [("reserved", True)]  # it can be saved elsewhere
    save(release, tmp_path / "elsewhere")
    assert states() == [("committed", True)]
    assert not (tmp_path / "new").exists()
    assert run("verify", tmp_path / name).exit_code in (2, 4)  # and no traceback


def test_a_folder_made_for_files_that_could_not_be_written_goes_again(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    made = open_table(town).histogram(["dept=a,b,c"], crowd=20)
    monkeypatch.setattr(staging.Staged, "add", full)
    with pytest.raises(WrongUse, match="could not be written"):
        save(made, tmp_path / "new" / "deep")
    assert not (tmp_path / "new").exists()


STOPPING = """
import os, signal, threading
from hubbub.start import main
from hubbub.engines.duckdb import duckdb_engine as duckdb
"""
WHILE_COUNTING = """
whole = duckdb.query_of_chosen
def slow(*given):  # a query that DuckDB works at for seconds, and a signal while it does
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    (sql, values), chooses = whole(*given)
    slow = "WITH slow AS (SELECT sum(hash(a.range)) AS h FROM range(1000000000) a) "
    return (slow + f"SELECT * FROM ({sql}) WHERE (SELECT h FROM slow) > 0", values), chooses
duckdb.query_of_chosen = slow
"""
WHILE_CHOOSING = """
drawn = duckdb.stream
def stopped(rows, name, source):  # when the words that choose a row of each person are being drawn
    class Stopping:
        def words(self, size):
            os.kill(os.getpid(), signal.SIGINT)
            return source.words(size)
    return drawn(rows, name, Stopping())
duckdb.stream = stopped
"""


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (WHILE_COUNTING, ["--person", "id", "--rows-per-person", "2", "--epsilon", "1"]),
        (WHILE_CHOOSING, ["--person", "id", "--distinct", "2", "--epsilon", "1"]),
        (WHILE_CHOOSING, ["--person", "id", "--one-row-per-person", "--crowd", "20"]),
        (WHILE_COUNTING.replace("SIGINT", "SIGTERM"), ["--person", "id", "--rows-per-person", "2", "--epsilon", "1"]),
        (WHILE_CHOOSING.replace("SIGINT", "SIGTERM"), ["--person", "id", "--distinct", "2", "--epsilon", "1"]),
    ],
    ids=["counting", "distinct", "one row", "counting, SIGTERM", "distinct, SIGTERM"],
)
def test_ctrl_c_while_counting_blames_nobody_and_costs_nothing(tmp_path: Path, how: str, words: list[str]) -> None:
    """DuckDB makes an error of an interrupt: it was told as one of the file, and a choice of rows as noise."""
    people = pa.table({"id": [i // 2 for i in range(200)], "dept": ["a", "b"] * 100})
    pq.write_table(people, tmp_path / "town.parquet")
    given = ["release", "histogram", tmp_path / "town.parquet", "--by", "dept=a,b", "--out", tmp_path / "out", *words]
    start = [sys.executable, "-c", f"{STOPPING}{how}main()", *map(str, given)]
    done = subprocess.run(start, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "hubbub: stopped, nothing published, and nothing is spent\n"
    assert states() == [("abandoned", False)]
    assert not (tmp_path / "out").exists()


def test_a_choice_of_rows_that_was_made_counts_once_numbers_are_there(tmp_path: Path) -> None:
    """An exact count of rows that were chosen in secret draws no noise, and is another one when it is made again."""
    people = pa.table({"id": [i // 2 for i in range(200)], "dept": ["a", "b"] * 100})
    pq.write_table(people, tmp_path / "town.parquet")
    made = open_table(tmp_path / "town.parquet", person="id").histogram(["dept=a,b"], crowd=20, one_row_per_person=True)
    assert made.drawn


class Killed(BaseException):
    """A process that goes on no further."""


def deletions_until(patch: pytest.MonkeyPatch, out: Path, last: int) -> list[str]:
    """Once the certificate is out, only so many deletions are done; the next one is a kill. Returns those that were."""
    done: list[str] = []

    def counted(delete: Callable[..., None]) -> Callable[..., None]:
        def delete_or_die(path: Any, **more: Any) -> None:
            if (out / CERTIFICATE).exists():
                if len(done) == last:
                    raise Killed
                done.append(Path(path).name)
            delete(path, **more)

        return delete_or_die

    for name in ("unlink", "rmdir"):
        patch.setattr(os, name, counted(getattr(os, name)))
    return done


def test_a_kill_between_two_deletions_of_the_clean_up_leaves_what_finish_clears(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = open_table(town).histogram(["dept=a,b,c"], crowd=20)
    for last in range(20):
        out = tmp_path / f"out-{last}"
        with monkeypatch.context() as patch:
            done = deletions_until(patch, out, last)
            try:
                save(made, out)
            except Killed:
                pass
            else:
                break
        assert len(done) == last
        (hidden,) = unfinished(out)
        assert {*finish(hidden)} >= {"release", "certificate"}
        assert is_out(out)
    assert last > 2
    assert done[0] == DRAFT  # then nothing waits to be finished


def test_what_was_left_of_a_clean_up_without_the_name_of_its_ledger_goes(town: Path, tmp_path: Path) -> None:
    """As earlier versions could leave it: the draft is there, and nothing says of which ledger it is."""
    made = open_table(town).histogram(["dept=a,b,c"], crowd=20)
    out = tmp_path / "out"
    save(made, out)
    assert made.reservation is not None
    hidden = out / f".hubbub-{made.reservation.nonce}"
    hidden.mkdir(mode=0o700)
    (hidden / DRAFT).write_text("{}")
    assert finish(hidden)["certificate"] == str(out / CERTIFICATE)
    assert is_out(out)
    hidden.mkdir(mode=0o700)
    (hidden / DRAFT).write_text("{}")
    (out / "release.csv").write_text("other")
    with pytest.raises(CheckFailed, match="which ledger"):
        finish(hidden)  # not all of it is out
    assert hidden.exists()


def test_a_folder_in_the_place_of_a_certificate_is_told_which_file_to_give(town: Path, tmp_path: Path) -> None:
    assert publish(town, tmp_path / "out").exit_code == 0
    told = run("verify", tmp_path / "out")
    assert told.exit_code == 2
    assert f"give the certificate in it, {tmp_path / 'out' / CERTIFICATE}" in told.stderr


def states() -> list[tuple[str, bool]]:
    accounts = Ledger().accounts()
    return [(record.state, record.is_spent) for record in accounts["town"].records] if "town" in accounts else []


def is_out(folder: Path) -> bool:
    assert verify((folder / CERTIFICATE).read_bytes(), release=folder / "release.csv").passed
    return unfinished(folder) == [] == list(folder.glob(".hubbub-*"))


# --- 45: known to fail, so not begun --------------------------------------------------------------------------------


def _a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


SPOILED: dict[str, Callable[[Path], object]] = {
    "missing": Path.unlink,
    "empty": lambda file: file.write_bytes(b""),
    "damaged": lambda file: file.write_bytes(b"00" * 31 + b"zz"),
    "of another ledger": lambda file: file.write_bytes(b"00" * 32),
    "open to others": lambda file: file.chmod(0o644),
    "a folder": _a_folder,
}


@pytest.mark.parametrize("how", SPOILED)
def test_45_a_key_that_cannot_sign_stops_a_release_before_it_is_paid_for(how: str, town: Path, tmp_path: Path) -> None:
    Ledger().public_key()
    SPOILED[how](key.key_path(default_path()))
    for _ in range(2):
        done = publish(town, tmp_path / "out")
        assert done.exit_code == 4, done.output
        assert "key" in done.stderr
    assert states() == []


def test_45_a_key_that_others_own_stops_a_release_before_it_is_paid_for(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ledger().public_key()
    whole = Path.read_text

    def closed(path: Path, *more: Any, **named: Any) -> str:
        if path.suffix == ".key":
            raise PermissionError(errno.EACCES, "Permission denied")
        return whole(path, *more, **named)

    monkeypatch.setattr(Path, "read_text", closed)
    assert publish(town, tmp_path / "out").exit_code == 4
    assert states() == []


# --- 45: failed after drawing, so kept ------------------------------------------------------------------------------


def test_45_a_key_that_goes_while_the_release_is_drawn_loses_nothing(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, file, away = release.execute, key.key_path(default_path()), tmp_path / "away"

    def drawing(*given: Any, **words: Any) -> Release:
        done = whole(*given, **words)
        file.rename(away)
        return done

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(opening, "execute", drawing)
        done = publish(town, out)
    assert done.exit_code == 4
    assert f"hubbub ledger finish {out}" in done.stderr
    assert states() == [("reserved", True)]
    assert run("ledger", "finish", out).exit_code == 4  # still no key, and still nothing is lost
    away.rename(file)
    assert run("ledger", "finish", out).exit_code == 0
    assert is_out(out)
    assert states() == [("committed", True)]


def test_45_a_chart_that_cannot_be_drawn_is_left_out(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> str:
        raise RuntimeError("the converter gave up")

    monkeypatch.setattr(sys.modules["hubbub.report.picture"], "_chart", fails)
    done = publish(town, tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "it could not be drawn when this page was made" in (tmp_path / "out" / "report.html").read_text()
    assert is_out(tmp_path / "out")


CRASHING = """
import os, sys
import hubbub.report
sys.modules["hubbub.report.picture"]._chart = lambda *_, **__: os._exit(9)
from hubbub.cli.main import main
main()
"""


def test_45_a_chart_that_takes_the_process_down_leaves_the_release_to_be_finished(town: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [
        "release",
        "histogram",
        str(town),
        "--rows-are-people",
        "--by",
        "dept=a,b,c",
        "--crowd",
        "20",
        "--out",
        str(out),
    ]
    assert subprocess.run([sys.executable, "-c", CRASHING, *words], check=False).returncode == 9
    assert states() == [("reserved", True)]
    assert run("ledger", "finish", out).exit_code == 0
    assert is_out(out)
    assert not (out / "report.html").exists()


def test_45_a_draft_that_others_could_have_written_is_not_signed(tmp_path: Path) -> None:
    hidden = ready(tmp_path / "out", signed=False)
    (hidden / DRAFT).chmod(0o666)
    with pytest.raises(CheckFailed, match="others could have written it"):
        finish(hidden)
    (hidden / DRAFT).chmod(0o600)
    finish(hidden)
    assert is_out(tmp_path / "out")


# --- nothing committed is ever deleted ------------------------------------------------------------------------------


def ready(folder: Path, *, signed: bool = True) -> Path:
    """A release that was committed, and cut short before its files had names."""
    made = open_table(TOWN, dataset="town").histogram(["dept=a,b,c"], crowd=20)
    staged = stage(made, folder)
    if signed:
        digests = (sha256(staged.path(name)) for name in ("release.csv", CERTIFICATE))
        Ledger().commit(staged.reservation, *digests)
    else:
        (staged.hidden / CERTIFICATE).unlink()
    staged.close()
    return staged.hidden


def test_one_error_of_the_disk_while_finishing_deletes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    hidden = ready(folder)
    before = {path.name: path.read_bytes() for path in hidden.iterdir()}
    failures = 0
    for nth in range(1, 40):
        calls = iter(range(1, 10_000))

        def gives_up(whole: Any, calls: Any = calls, nth: int = nth) -> Any:
            def wrapped(*given: Any, **named: Any) -> Any:
                if any(str(folder) in str(each) for each in given[:1]) and next(calls) == nth:
                    raise OSError(errno.EIO, "the disk gave up")
                return whole(*given, **named)

            return wrapped

        with monkeypatch.context() as patch:
            for name in ("read_bytes", "lstat", "exists"):
                patch.setattr(Path, name, gives_up(getattr(Path, name)))
            patch.setattr("hubbub.publication.recovery.sha256", gives_up(sha256))
            try:
                finish(hidden)
            except (WrongUse, OSError):
                failures += 1
                left = [*hidden.iterdir(), *(path for path in folder.iterdir() if path.is_file())]
                assert {path.name: path.read_bytes() for path in left} == before, nth
                continue
        break
    assert failures > 3
    assert is_out(folder)


@pytest.mark.parametrize("damage", [b"", b"{}\n", b"not json"])
def test_a_damaged_certificate_of_a_committed_release_is_kept_for_somebody_to_look_at(
    damage: bytes, tmp_path: Path
) -> None:
    hidden = ready(tmp_path / "out")
    whole = (hidden / CERTIFICATE).read_bytes()
    (hidden / CERTIFICATE).write_bytes(damage)
    with pytest.raises(CheckFailed):
        finish(hidden)
    (hidden / CERTIFICATE).write_bytes(whole)
    finish(hidden)
    assert is_out(tmp_path / "out")


def test_a_certificate_that_is_gone_is_made_again_from_its_draft(tmp_path: Path) -> None:
    hidden = ready(tmp_path / "out", signed=False)
    finish(hidden)
    assert is_out(tmp_path / "out")


def test_one_release_that_cannot_be_finished_does_not_keep_the_others_back(tmp_path: Path) -> None:
    out = tmp_path / "out"
    ready(out)
    (out / ".hubbub-0123").mkdir(mode=0o700)  # sorted before it, and cut short before it was whole
    done = run("ledger", "finish", out, "--json")
    assert done.exit_code == 3
    assert json.loads(done.stdout)["finished"][0]["release"] == str(out / "release.csv")
    assert is_out(out)


def test_numbers_that_were_changed_do_not_come_out_and_stay(tmp_path: Path) -> None:
    hidden = ready(tmp_path / "out")
    (hidden / "release.csv").write_text("changed")
    with pytest.raises(CheckFailed, match="not those that its certificate is about"):
        finish(hidden)
    assert (hidden / "release.csv").read_text() == "changed"


# --- what else lies in the folder -----------------------------------------------------------------------------------


def test_what_only_has_such_a_name_does_not_stop_a_release(town: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    os.mkfifo(out / ".hubbub-x")
    (out / ".hubbub-file").write_text("")
    (out / ".hubbub-link").symlink_to(tmp_path)
    assert publish(town, out).exit_code == 0
    assert run("ledger", "finish", out).exit_code == 2  # there is nothing to finish


def test_a_hidden_folder_of_somebody_else_does_not_stop_a_release(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "out" / ".hubbub-0123"
    other.mkdir(parents=True)
    whole = os.open

    def closed(path: Any, *more: Any, **named: Any) -> int:
        if str(path) == str(other):
            raise PermissionError(errno.EACCES, "Permission denied")
        return whole(path, *more, **named)

    monkeypatch.setattr(os, "open", closed)
    assert publish(town, tmp_path / "out").exit_code == 0


def test_a_drive_without_locks_is_refused_in_one_sentence_before_anything_is_paid_for(
    town: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = fcntl.flock

    def none(where: Path) -> Callable[..., None]:
        def flock(handle: int, how: int) -> None:
            if os.readlink(f"/proc/self/fd/{handle}").startswith(str(where)):
                raise OSError(errno.ENOLCK, "No locks available")
            whole(handle, how)

        return flock

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", none(tmp_path / "out"))
        done = publish(town, tmp_path / "out")
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
        assert "drive without locks" in done.stderr
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", none(Path(os.environ["XDG_STATE_HOME"])))
        done = publish(town, tmp_path / "out")
        assert (done.exit_code, done.stderr.count("\n")) == (3, 1)
        assert "drive without locks" in done.stderr
    assert states() == []


# --- two at once ----------------------------------------------------------------------------------------------------


def test_two_releases_into_one_folder_never_mix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With slow renames, one release's file would stand beside the other's certificate unless they take turns."""
    whole = os.replace

    def slowly(old: Any, new: Any) -> None:
        whole(old, new)
        if Path(new).parent == tmp_path / "out":
            time.sleep(0.02)

    monkeypatch.setattr(os, "replace", slowly)
    for i in range(4):
        releases = [
            open_table(TOWN, dataset=f"town-{i}-{n}").histogram(["dept=a,b,c"], epsilon=1, crowd=20) for n in (1, 2)
        ]
        pair = [
            threading.Thread(target=save, args=(release, tmp_path / "out"), kwargs={"replace": True})
            for release in releases
        ]
        for each in pair:
            each.start()
        for each in pair:
            each.join()
        body = json.loads((tmp_path / "out" / CERTIFICATE).read_text())
        assert body["files"]["release.csv"] == sha256(tmp_path / "out" / "release.csv")
        assert is_out(tmp_path / "out")


def test_a_second_release_does_not_write_over_one_that_is_half_out(tmp_path: Path) -> None:
    first = ready(tmp_path / "out")
    os.replace(first / "release.csv", tmp_path / "out" / "release.csv")  # and then it was killed
    second = open_table(TOWN, dataset="village").histogram(["dept=a,b,c"], crowd=20)
    with pytest.raises(Refused, match=r"cut short while its files got their names; .* hubbub ledger finish"):
        save(second, tmp_path / "out", replace=True)
    assert unfinished(tmp_path / "out")[0] == first  # half out, so it goes first
    for hidden in unfinished(tmp_path / "out"):
        finish(hidden)
    assert is_out(tmp_path / "out")


def test_a_folder_in_which_a_release_is_being_written_is_refused(town: Path, tmp_path: Path) -> None:
    made = open_table(TOWN, dataset="village").histogram(["dept=a,b,c"], crowd=20)
    staged = stage(made, tmp_path / "out")
    done = publish(town, tmp_path / "out")
    assert done.exit_code == 2
    assert "another release is being written" in done.stderr
    assert states() == []
    staging.publish(staged)
    assert is_out(tmp_path / "out")
