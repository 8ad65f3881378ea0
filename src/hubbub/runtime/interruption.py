"""Ctrl-C while a library works: it stays an interrupt, whatever the library makes of it. So does SIGTERM, by which cron,
systemd and containers stop a command.

DuckDB turns an interrupt into an error of its own, which then looks like one of the file. So an interrupt is remembered
while something is read, and whoever catches a library's error asks first whether one came.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


class _Memory:
    """Of the main thread, which alone hears interrupts."""

    listening = False
    came = False


def _handlers() -> dict[int, Callable[[int, FrameType | None], object]]:
    """What is done now when somebody stops this process; nothing in other threads than the main one."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: handler for number in _STOPPING if callable(handler := signal.getsignal(number))}


@contextmanager
def interruptible() -> Iterator[None]:
    """Whatever is done inside ends with a KeyboardInterrupt if one came, even if a library swallowed it."""
    before = _handlers()
    if not before or _Memory.listening:
        yield
        return

    def remember(number: int, frame: FrameType | None) -> None:
        _Memory.came = True
        before[number](number, frame)

    _Memory.listening, _Memory.came = True, False
    for number in before:
        signal.signal(number, remember)
    try:
        try:
            yield
        except Exception:
            stop_if_interrupted()
            raise
        stop_if_interrupted()
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is remember:  # else whoever was told has set another
                signal.signal(number, handler)
        _Memory.listening = _Memory.came = False


def stop_if_interrupted() -> None:
    """Raise the interrupt that a library turned into an error."""
    if _Memory.came and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt from None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Whoever stops this process waits until what is done inside is over: a moment, in which something would be lost."""
    before, came = _handlers(), list[tuple[int, FrameType | None]]()
    for number in before:
        signal.signal(number, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number, frame in came[:1]:
        before[number](number, frame)
