"""Ctrl-C while a library works: it stays an interrupt, whatever the library makes of it.

DuckDB turns an interrupt into an error of its own, which then looks like one of the file. So an interrupt is remembered
while something is read, and whoever catches a library's error asks first whether one came.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class _Memory:
    """Of the main thread, which alone hears interrupts."""

    listening = False
    came = False


@contextmanager
def interruptible() -> Iterator[None]:
    """Whatever is done inside ends with a KeyboardInterrupt if one came, even if a library swallowed it."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before) or _Memory.listening:
        yield
        return

    def remember(number: int, frame: FrameType | None) -> None:
        _Memory.came = True
        before(number, frame)

    _Memory.listening, _Memory.came = True, False
    signal.signal(signal.SIGINT, remember)
    try:
        try:
            yield
        except Exception:
            stop_if_interrupted()
            raise
        stop_if_interrupted()
    finally:
        if signal.getsignal(signal.SIGINT) is remember:  # else whoever was told has set another
            signal.signal(signal.SIGINT, before)
        _Memory.listening = _Memory.came = False


def stop_if_interrupted() -> None:
    """Raise the interrupt that a library turned into an error."""
    if _Memory.came and threading.current_thread() is threading.main_thread():
        raise KeyboardInterrupt from None
