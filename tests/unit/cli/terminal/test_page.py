"""What is written to stdout: as wide as the terminal, in colours where it has and wants them, and nothing else."""

from __future__ import annotations

import io
import os
import sys

import pytest

from hubbub.cli.terminal.page import Page, screen_width
from hubbub.cli.terminal.table import Table

BOLD, END = "\x1b[1m", "\x1b[0m"


class Terminal(io.StringIO):
    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


def look(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal in the place of stdout."""
    made = Terminal()
    monkeypatch.setattr(sys, "stdout", made)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return made


def written() -> None:
    page = Page()
    page.print("the hubbub of a large crowd", style="bold")
    page.print("the hubbub of a large crowd", soft_wrap=True)
    page.verdict("The certificate of this holds.", passed=True)
    table = Table("town", title="Towns")
    table.add("[red]Bath[/red]", style="bold")
    page.print(table)
    page.print()


PLAIN = """the hubbub of a
large crowd
the hubbub of a large crowd
✓ The certificate of
this holds.
Towns
town
[red]Bath[/red]

"""


def test_a_terminal_gets_styles(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = look(monkeypatch)
    written()
    assert terminal.getvalue() == (
        f"{BOLD}the hubbub of a{END}\n{BOLD}large crowd{END}\n"
        "the hubbub of a large crowd\n"
        f"\x1b[32m{BOLD}✓ {END}{BOLD}The certificate of{END}\n{BOLD}this holds.{END}\n"
        f"\x1b[3mTowns{END}\n{BOLD}town{END}\n{BOLD}[red]Bath[/red]{END}\n\n"
    )


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "unknown")])
def test_who_wants_no_styles_gets_none(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    terminal = look(monkeypatch)
    monkeypatch.setenv(name, value)
    written()
    assert terminal.getvalue() == PLAIN


def test_a_pipe_gets_none(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    written()
    assert capsys.readouterr().out == PLAIN


def test_nothing_in_a_text_acts_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, page = look(monkeypatch), Page()
    for say in (page.print, page.verdict):
        for soft in (False, True):
            say("Bath\x1b[2J\x1b]0;title\x07\x9b31m\u202e\r", soft_wrap=soft)
    left = terminal.getvalue().replace("\x1b[32m", "").replace(BOLD, "").replace(END, "")
    assert [sign for sign in left if not sign.isprintable() and sign != "\n"] == []
    assert "\\u001b[2J" in left


@pytest.mark.parametrize(
    ("columns", "sizes", "width"),
    [
        ("100", [70, 70, 70], 100),
        ("", [None, 70, 90], 70),
        ("wide", [None, None, 90], 90),
        ("0", [None, None, None], 80),
        (None, [None, None, None], 80),
        (None, [0, 0, 0], 80),
    ],
)
def test_the_width_is_that_of_a_terminal_or_eighty(
    monkeypatch: pytest.MonkeyPatch, columns: str | None, sizes: list[int | None], width: int
) -> None:
    def size(stream: int) -> os.terminal_size:
        found = sizes[stream]
        if found is None:
            raise OSError("a pipe")
        return os.terminal_size((found, 24))

    monkeypatch.setattr(os, "get_terminal_size", size)
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    assert screen_width() == width
