"""The line that says how far a command has come: on a terminal, after a while, and gone when it is over."""

from __future__ import annotations

import io
import itertools
import sys
import time

import pytest

from hubbub.cli.terminal import progress
from hubbub.cli.terminal.progress import watched
from hubbub.runtime.progress import VARIABLE


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def look(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in the place of stderr, before which each look at the clock is a second later."""
    made, clock = Terminal(), itertools.count(100)
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv(VARIABLE, raising=False)
    return made


@pytest.mark.parametrize(("patience", "shown"), [(-1.0, True), (1e9, False)])
def test_progress_shows_only_after_a_while(monkeypatch: pytest.MonkeyPatch, patience: float, shown: bool) -> None:
    screen = look(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    assert list(watched([1, 2, 3], "checking counts")) == [1, 2, 3]
    assert ("checking counts" in screen.getvalue()) is shown


def test_progress_stays_out_of_a_pipe(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    for setting in ("", "1"):
        monkeypatch.setenv(VARIABLE, setting)
        assert list(watched([1, 2], "checking counts")) == [1, 2]
    assert capsys.readouterr() == ("", "")


def test_progress_says_how_much_is_done_and_how_long_the_rest_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = look(monkeypatch)
    assert len(list(watched(range(4), "Cells"))) == 4
    looks = screen.getvalue().split("\r")
    assert looks[0] == ""
    assert looks[1] == "Cells " + "━" * 10 + " " * 30 + "  25% 0:00:06"
    assert looks[2] == "Cells " + "━" * 20 + " " * 20 + "  50% 0:00:03"
    assert looks[-2:] == [" " * len(looks[1]), ""], "the line is gone"


def test_progress_is_gone_after_an_error_too(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = look(monkeypatch)

    def act() -> None:
        for item in watched(range(9), "Cells"):
            if item == 5:
                raise KeyError(item)

    with pytest.raises(KeyError):
        act()
    assert screen.getvalue().endswith(" \r")


@pytest.mark.parametrize("width", [5, 20, 40])
def test_progress_fits_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    screen = look(monkeypatch)
    monkeypatch.setenv("COLUMNS", str(width))
    list(watched(range(4), "Cells"))
    assert all(len(look) < max(width, 20) for look in screen.getvalue().split("\r"))


def test_a_stream_that_is_gone_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = look(monkeypatch)

    def gone(_: str) -> int:
        raise BrokenPipeError

    monkeypatch.setattr(screen, "write", gone)
    assert list(watched([1, 2, 3], "Cells")) == [1, 2, 3]
