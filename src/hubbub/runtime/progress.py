"""What is going on, for whoever waits: a moving sign on stderr, with the name of the stage, after a second.

It is shown on a terminal and in a notebook, and nowhere else unless `HUBBUB_PROGRESS=1` asks for it; then a line is
written for each stage that takes long. `HUBBUB_PROGRESS=0` asks for silence. Stages have fixed names: no number of
people, rows or bins is in them.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import cycle
from typing import Final, TextIO

PATIENCE: Final = 1.0  # seconds without a word
VARIABLE: Final = "HUBBUB_PROGRESS"
_PERIOD: Final = 0.25
_SIGNS: Final = "-\\|/"


@contextmanager
def working(name: str) -> Iterator[None]:
    """Whatever is done inside is called so for whoever waits; a stage inside of a stage is named while it lasts."""
    stream = sys.stderr
    if threading.current_thread() is not threading.main_thread() or not is_watched(stream):
        yield
        return
    _SIGN.enter(name, stream)
    try:
        yield
    finally:
        _SIGN.leave()


def say(sentence: str) -> None:
    """Tell a person who looks at stderr something that does not wait for the end."""
    if is_watched(stream := sys.stderr):
        with suppress(OSError, ValueError):  # of a stream that is gone
            print(sentence, file=stream, flush=True)


def is_watched(stream: TextIO | None) -> bool:
    """Whether a person looks at a stream, or asked for progress."""
    setting = os.environ.get(VARIABLE, "")
    if stream is None or setting == "0":
        return False
    return setting == "1" or can_overwrite(stream)


def can_overwrite(stream: TextIO) -> bool:
    """Whether a line of it can be written over."""
    with suppress(ValueError):  # of a stream that is closed
        return stream.isatty() or type(stream).__module__.startswith("ipykernel")
    return False


class _Sign:
    """One sign for all stages, moved by a thread of its own from the first stage that begins to the last that ends."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def enter(self, name: str, stream: TextIO) -> None:
        self._names.append(name)
        if self._thread is None:
            self._over.clear()
            self._thread = threading.Thread(target=self._move, args=(stream,), daemon=True, name="hubbub progress")
            self._thread.start()

    def leave(self) -> None:
        self._names.pop()
        if not self._names and self._thread is not None:
            self._over.set()
            self._thread.join()
            self._thread = None

    def _move(self, stream: TextIO) -> None:
        moves, width, latest = can_overwrite(stream), 0, ""
        if self._over.wait(PATIENCE):
            return
        with suppress(OSError, ValueError):  # of a stream that is gone
            for sign in cycle(_SIGNS):
                name = next(iter(self._names[-1:]), latest)
                if moves:
                    line = f"{sign} {name}"
                    stream.write(f"\r{line.ljust(width)}")
                    width = max(width, len(line))
                elif name != latest:
                    stream.write(f"{name}\n")
                stream.flush()
                latest = name
                if self._over.wait(_PERIOD):
                    break
            if moves:
                stream.write(f"\r{' ' * width}\r")
                stream.flush()


_SIGN: Final = _Sign()
