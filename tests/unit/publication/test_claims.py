"""THREATS 67 to 69: a folder is claimed before anything is reserved, and what came out is never taken for one's own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner, Result

from hubbub import opening, release
from hubbub.cli.main import commands
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.release import Release
from hubbub.publication import staging
from hubbub.publication.recovery import finish
from hubbub.publication.staging import claimed, exclusive, publish
from hubbub.release import save, stage
from hubbub.runtime.interruption import interruptible, uninterrupted
from hubbub.serialization.published_files import CERTIFICATE
from tests.fresh import opened as open_table

TOWN = pa.table({"dept": ["a"] * 40 + ["b"] * 25 + ["c"] * 3})
WORDS = ["--rows-are-people", "--by", "dept=a,b,c", "--epsilon", "1"]


def made(dataset: str) -> Release:
    return open_table(TOWN, dataset=dataset).histogram(["dept=a,b,c"], epsilon=1, crowd=20)


def seen(folder: Path) -> dict[str, str]:
    return {path.name: sha256(path) for path in folder.iterdir() if path.is_file()}


def spent() -> list[tuple[str, bool]]:
    return [(each.state, each.is_spent) for account in Ledger().accounts().values() for each in account.records]


@pytest.mark.parametrize("more", [[], ["--replace"]])
def test_68_who_comes_while_a_release_is_drawn_is_refused_before_it_is_charged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str]
) -> None:
    (tmp_path / "town.csv").write_text("dept\n" + "a\n" * 40 + "b\n" * 25)
    words = ["release", "histogram", str(tmp_path / "town.csv"), *WORDS, "--out", str(tmp_path / "out"), *more]
    second: list[Result] = []
    whole = release.execute

    def drawing(*given: Any, **named: Any) -> Release:
        done = whole(*given, **named)
        if not second:
            second.append(done)  # type: ignore[arg-type]  # only that it began
            other = threading.Thread(target=lambda: second.append(CliRunner().invoke(commands, words)))
            other.start()
            other.join()
        return done

    monkeypatch.setattr(opening, "execute", drawing)
    first = CliRunner().invoke(commands, words)
    assert first.exit_code == 0, first.output
    assert second[1].exit_code == 2
    assert "another release is being written" in second[1].stderr
    assert spent() == [("committed", True)]


def test_68_a_release_of_the_same_ledger_that_came_out_meanwhile_stays(tmp_path: Path) -> None:
    out = tmp_path / "out"
    waiting = stage(made("first"), out)
    save(made("second"), out)
    before = seen(out)
    with pytest.raises(WrongUse, match="hubbub ledger finish"):
        publish(waiting)
    assert seen(out) == before
    away = tmp_path / "away"
    away.mkdir()
    for name in before:
        (out / name).rename(away / name)
    finish(waiting.hidden)
    assert (out / CERTIFICATE).exists()


def test_68_only_the_release_that_was_seen_is_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    save(made("first"), out)
    waiting = stage(made("second"), out, replaces=sha256(out / CERTIFICATE))
    waiting.close()
    save(made("third"), out, replace=True)
    before = seen(out)
    with pytest.raises(WrongUse, match="hubbub ledger finish"):
        finish(waiting.hidden)
    assert seen(out) == before
    again = stage(made("fourth"), out, replaces=sha256(out / CERTIFICATE))
    again.close()
    finish(again.hidden)  # killed in between: it still knows what it may replace
    assert seen(out) != before


def test_69_who_is_stopped_before_a_folder_is_held_leaves_none_and_takes_none_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object) -> int:
        raise KeyboardInterrupt

    whole = staging._hold
    calls = iter((stopped, whole))
    monkeypatch.setattr(staging, "_hold", lambda *given: next(calls, whole)(*given))
    with pytest.raises(KeyboardInterrupt), claimed(tmp_path / "new" / "deep"):
        pass
    assert not (tmp_path / "new").exists()
    with claimed(tmp_path / "held"):
        other = threading.Thread(target=staging._take_away_unless_held, args=([tmp_path / "held"],))
        other.start()
        other.join()
        assert (tmp_path / "held").is_dir()


def test_a_folder_that_was_taken_away_while_it_was_waited_for_is_held_anew(tmp_path: Path) -> None:
    out = tmp_path / "out"
    waits, holds, let_go = (threading.Event() for _ in range(3))

    def other() -> None:
        with suppress(Refused), claimed(out, waits.set):
            holds.set()
            let_go.wait(10)
            raise Refused("it is not made either")

    thread = threading.Thread(target=other)
    with pytest.raises(WrongUse, match="refused"), claimed(out):  # made here, for what fails: it goes
        _wait_for(thread, waits, out)
    assert holds.wait(10)
    asked: list[int] = []
    again = threading.Thread(target=lambda: _hold_for_a_moment(out, lambda: asked.append(1)))
    again.start()
    while not asked:  # the folder that has the name now is the one that is held
        assert again.is_alive()
    let_go.set()
    thread.join()
    again.join()
    assert not out.exists()


def _wait_for(thread: threading.Thread, waits: threading.Event, out: Path) -> None:
    thread.start()
    assert waits.wait(10)
    with exclusive(out):  # who holds it goes on
        raise WrongUse("refused")


def _hold_for_a_moment(out: Path, on_wait: Callable[[], None]) -> None:
    with suppress(OSError), exclusive(out, on_wait):
        pass


def _stop_then_go_on(number: signal.Signals, done: list[int]) -> None:
    with uninterrupted():
        signal.raise_signal(number)
        done.append(1)


def _swallow(number: signal.Signals) -> None:
    with interruptible():
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            raise ValueError("a library makes its own error of it") from None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_69_whoever_stops_a_process_waits_for_a_moment_and_is_remembered(number: signal.Signals) -> None:
    before = signal.signal(number, signal.default_int_handler)
    done: list[int] = []
    try:
        with pytest.raises(KeyboardInterrupt):
            _stop_then_go_on(number, done)
        with pytest.raises(KeyboardInterrupt):
            _swallow(number)
        assert signal.getsignal(number) is signal.default_int_handler
    finally:
        signal.signal(number, before)
    assert done == [1]


PAUSING = """
import os, signal
import hubbub.start, hubbub.release
STOP
hubbub.start.main()
"""
MOMENTS = {
    "entered": """
from hubbub.ledger.ledger import Ledger
whole = Ledger.reserve
def reserve(*given, **named):
    whole(*given, **named)
    os.kill(os.getpid(), signal.SIGTERM)
Ledger.reserve = reserve
""",
    "writing": """
from hubbub.publication.staging import Staged
whole = Staged.add
def add(*given):
    os.kill(os.getpid(), signal.SIGTERM)
    whole(*given)
Staged.add = add
""",
    "out": """
whole = hubbub.release.publish
def publish(*given):
    os.kill(os.getpid(), signal.SIGTERM)
    os.kill(os.getpid(), signal.SIGTERM)
    return whole(*given)
hubbub.release.publish = publish
""",
}


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_69_sigterm_leaves_nothing_spent_or_what_can_be_finished(tmp_path: Path, moment: str) -> None:
    (tmp_path / "town.csv").write_text("dept\n" + "a\n" * 40 + "b\n" * 25)
    out = tmp_path / "out"
    words = ["release", "histogram", str(tmp_path / "town.csv"), *WORDS, "--out", str(out)]
    start = [sys.executable, "-c", PAUSING.replace("STOP", MOMENTS[moment]), *words]
    done = subprocess.run(start, capture_output=True, text=True, timeout=100, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    if moment == "entered":
        assert done.stderr == "hubbub: stopped, nothing published, and nothing is spent\n"
        assert spent() == [("abandoned", False)]
        assert not out.exists()
    else:
        assert "hubbub ledger finish" in done.stderr
        assert CliRunner().invoke(commands, ["ledger", "finish", str(out)]).exit_code == 0
        assert spent() == [("committed", True)]
        assert (out / CERTIFICATE).exists()


@pytest.mark.slow
def test_68_of_several_processes_at_once_one_publishes_and_one_pays(tmp_path: Path) -> None:
    for i in range(3):
        (tmp_path / f"town-{i}.csv").write_text("dept\n" + "a\n" * (40 + i) + "b\n" * 25)
        words = ["release", "histogram", f"town-{i}.csv", *WORDS, "--out", f"out-{i}"]
        start = [sys.executable, "-c", "from hubbub.start import main; main()", *words]
        every = [subprocess.Popen(start, cwd=tmp_path, env=os.environ, stderr=subprocess.DEVNULL) for _ in range(3)]
        assert sorted(each.wait(100) for each in every) == [0, 2, 2]
        assert [each.state for each in Ledger().account(f"town-{i}").records] == ["committed"]
