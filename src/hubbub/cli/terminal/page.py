"""Where a command writes its answer: stdout, by lines that fit."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

import click

from hubbub.cli import by_lines
from hubbub.cli.terminal.text import styled, wrap

if TYPE_CHECKING:
    from hubbub.cli.terminal.table import Table

DEFAULT_WIDTH: Final = 80
_MARKS: Final = {True: ("✓ ", "green"), False: ("✗ ", "red"), None: ("? ", "yellow")}


def screen_width() -> int:
    """The cells of a line: as `COLUMNS` says, or the terminal that is read from or written to, or 80."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and len(told) < 6 and int(told):
        return int(told)
    for stream in range(3):
        try:
            return os.get_terminal_size(stream).columns or DEFAULT_WIDTH
        except (OSError, ValueError):  # this one is a file or a pipe, or closed
            continue
    return DEFAULT_WIDTH


class Page:
    """A page as wide as the terminal. Nothing in a text acts on it: what looks like a command to it is spelt out."""

    def __init__(self) -> None:
        self.width = screen_width()

    def print(self, what: str | Table = "", *, style: str | None = None, soft_wrap: bool = False) -> None:
        """A paragraph, or a table. What is wrapped softly is left to the terminal: it can be copied as one line."""
        if isinstance(what, str):
            text = by_lines(what)
            lines = [styled(line, style) for line in (text.split("\n") if soft_wrap else wrap(text, self.width))]
        else:
            lines = list(what.lines(self.width))
        self._write(lines)

    def verdict(self, sentence: str, *, passed: bool | None = True, soft_wrap: bool = False) -> None:
        """The first line of an answer: a tick, a cross, or a question mark where nothing is wrong and something is
        missing; coloured where the terminal has colours."""
        mark, colour = _MARKS[passed]
        text = mark + by_lines(sentence)
        first, *others = text.split("\n") if soft_wrap else wrap(text, self.width)
        begun = styled(mark, f"bold {colour}") + styled(first[len(mark) :], "bold")
        self._write([begun, *(styled(line, "bold") for line in others)])

    def _write(self, lines: list[str]) -> None:
        click.echo("\n".join(lines), file=sys.stdout, color=False if _plain() else None)


def _plain() -> bool:
    """Whether nobody wants styles, terminal or not."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM", "").lower() in ("dumb", "unknown")
