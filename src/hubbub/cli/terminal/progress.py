"""How far a command has come with many items of one kind: a line on stderr, for whoever looks at it."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final, TextIO, TypeVar

from hubbub.cli.terminal.page import screen_width
from hubbub.runtime.progress import PATIENCE, can_overwrite, is_watched

Item = TypeVar("Item")
_PERIOD: Final = 0.1  # seconds between two looks of the line
_BAR: Final = 40


def watched(items: Sequence[Item], what: str) -> Iterator[Item]:
    """`items` one by one, with a bar on stderr once they have taken a while, if a person is looking."""
    stream = sys.stderr
    if not is_watched(stream) or not can_overwrite(stream):
        yield from items
        return
    begun = time.monotonic()
    due, widest = begun + PATIENCE, 0
    try:
        for done, item in enumerate(items):
            now = time.monotonic()
            if now > due:
                line = _line(what, done / len(items), now - begun)
                widest, due = max(widest, len(line)), now + _PERIOD
                _write(stream, f"\r{line.ljust(widest)}")
            yield item
    finally:
        if widest:
            _write(stream, f"\r{' ' * widest}\r")


def _line(what: str, share: float, seconds: float) -> str:
    """The name, a bar, how much is done, and how long the rest takes if it goes on like this.

    >>> print(_line("Cells", 0.25, 20.0))
    Cells ━━━━━━━━━━                                25% 0:01:00
    """
    left = "-:--:--"
    if share:
        minutes, rest = divmod(round(seconds / share - seconds), 60)
        left = f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
    end = f" {share:4.0%} {left}"
    bar = max(min(_BAR, screen_width() - len(what) - len(end) - 2), 0)
    return f"{what} {('━' * int(bar * share)).ljust(bar)}{end}"


def _write(stream: TextIO, text: str) -> None:
    with suppress(OSError, ValueError):  # of a stream that is gone
        stream.write(text)
        stream.flush()
