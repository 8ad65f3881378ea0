"""A sign for whoever waits: after a while, on stderr, with the stage and no number; and silence where nobody looks."""

from __future__ import annotations

import io
import re
import sys
import threading
import time
from pathlib import Path

import pytest

import hubbub
from hubbub.ledger.ledger import Ledger
from hubbub.runtime import progress
from hubbub.runtime.progress import VARIABLE, is_watched, working

TEN_THOUSAND = "id,town\n" + "".join(f"{i},{('Bath', 'York')[i % 2]}\n" for i in range(10_000))


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Notebook(io.StringIO):
    """As a kernel has it: no terminal, and shown to somebody."""

    __module__ = "ipykernel.iostream"


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("stream", [Terminal, Notebook])
def test_stages_are_named_and_the_line_is_clean_afterwards(
    stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PERIOD", 0.001)
    screen = stream()
    monkeypatch.setattr(sys, "stderr", screen)
    with working("Counting"):
        time.sleep(0.05)
        with working("Drawing noise"):
            time.sleep(0.05)
        time.sleep(0.05)
    written = screen.getvalue()
    named = list(re.findall("Counting|Drawing noise", written))
    assert [a for a, b in zip(named, [*named[1:], ""], strict=True) if a != b] == [
        "Counting",
        "Drawing noise",
        "Counting",
    ]
    assert "\x1b" not in written
    assert re.search(r"\r +\r$", written)
    assert not [thread for thread in threading.enumerate() if thread.name == "hubbub progress"]


def test_nothing_is_said_of_what_is_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with working("Counting"):
        pass
    assert screen.getvalue() == ""


@pytest.mark.usefixtures("hasty")
def test_files_get_nothing_unless_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    log = io.StringIO()
    assert not is_watched(log)
    assert is_watched(Terminal())
    assert not is_watched(None)
    monkeypatch.setenv(VARIABLE, "0")
    assert not is_watched(Terminal())
    monkeypatch.setenv(VARIABLE, "1")
    monkeypatch.setattr(sys, "stderr", log)
    with working("Counting"):
        time.sleep(0.05)
    assert log.getvalue() == "Counting\n"  # a line, and nothing that moves


@pytest.mark.usefixtures("hasty")
def test_a_thread_of_a_server_is_silent_and_an_interrupt_leaves_a_clean_line(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)

    def served() -> None:
        with working("Counting"):
            time.sleep(0.05)

    thread = threading.Thread(target=served)
    thread.start()
    thread.join()
    assert screen.getvalue() == ""

    def interrupted() -> None:
        with working("Counting"):
            time.sleep(0.05)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert re.search(r"\r +\r$", screen.getvalue())


@pytest.mark.usefixtures("hasty")
def test_no_number_of_the_data_is_in_what_a_release_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "people.csv").write_text(TEN_THOUSAND)
    screen, names = Terminal(), []
    Ledger(tmp_path / "ledger").public_key()  # a new one would be told, by its path
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress, "_PERIOD", 0.001)
    entered = progress._SIGN.enter

    def noted(name: str, stream: io.StringIO) -> None:
        names.append(name)
        entered(name, stream)

    monkeypatch.setattr(progress._SIGN, "enter", noted)
    town = hubbub.open(tmp_path / "people.csv", person="id", ledger=tmp_path / "ledger")
    certificate = town.histogram(["town=Bath,York"], epsilon=1).save(tmp_path / "out")["certificate"]
    hubbub.verify(certificate)
    assert names == [
        "Reading the table",
        "Counting",
        "Drawing noise",
        "Working out the numbers",
        "Writing the parts",
        "Writing the numbers",
        "Drawing the report",
        "Checking",
    ]
    assert not re.search("[0-9]", screen.getvalue())
