"""Numbers that were worked out once and are kept, because sliders come back to where they were.

A page waits a moment for a number and is then told that it is still being worked out; it asks again. Nothing here
depends on data: what is kept are promises and expectations, from public words alone.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from importlib import import_module
from threading import Lock
from typing import Any, Final, Generic, TypeVar

from hubbub.errors import HubbubError, Refused
from hubbub.runtime.frozen import dataclass
from hubbub.studio.background import BackgroundProcess, Died

T = TypeVar("T")

PATIENCE: Final = 0.04  # seconds that a page waits
_DEATHS: Final = 3  # of the process beside, until nobody asks it again
_MOST: Final = 2000  # answers that are kept


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A number, or why there is none, or neither while it is being worked out."""

    value: T | None = None
    error: HubbubError | None = None

    @property
    def waiting(self) -> bool:
        return self.value is None and self.error is None


class Answers:
    """Answers by what was asked."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Future[Any]] = OrderedDict()
        self._lock = Lock()
        self._hands = ThreadPoolExecutor(2, thread_name_prefix="answers")
        self._slow: BackgroundProcess | None = None  # a process: a search of designs would slow every page down
        self._died = 0
        self._waiting: list[Hashable] = []  # what is slow and may not have begun

    def answer(self, key: Hashable, work: Callable[[], T], until: float, *, slow: bool = False) -> Answer[T]:
        """What `work` returns, asked for at most once for each key; it is waited for until that moment. What is slow
        is done beside, in another process, and not waited for; of several such, the last one asked for counts. It must
        be a function that can be handed over.
        """
        with self._lock:
            pending = self._known.get(key)
            if pending is None:
                if slow:
                    self._drop()
                    self._waiting.append(key)
                pending = self._known[key] = (self._background() if slow else self._hands).submit(work)
            self._known.move_to_end(key)
            while len(self._known) > _MOST:
                self._known.popitem(last=False)[1].cancel()
        patience = 0.001 if slow else max(until - time.monotonic(), 0.001)
        try:
            return Answer(value=pending.result(timeout=patience))
        except HubbubError as error:
            return Answer(error=error)
        except (NotYet, CancelledError):
            return Answer()
        except Died:
            return self._broken(key)

    def _broken(self, key: Hashable) -> Answer[Any]:
        """The process beside has died: another one tries again, a few times."""
        with self._lock:
            self._known.pop(key, None)
            self._died += 1
        if self._died < _DEATHS:
            return Answer()
        return Answer(error=Refused("this could not be worked out here; ask hubbub plan in a terminal"))

    def _background(self) -> BackgroundProcess:
        if self._slow is None:
            self._slow = BackgroundProcess()
        return self._slow

    def warm(self) -> None:
        """Start what takes a moment to start."""
        with self._lock:
            self._background().submit(_ready)

    def _drop(self) -> None:
        """Forget what is slow and has not begun: the slider has moved on."""
        for key in self._waiting:
            if key in self._known and self._known[key].cancel():
                del self._known[key]
        self._waiting.clear()

    def close(self) -> None:
        """Begin nothing more."""
        self._hands.shutdown(wait=False, cancel_futures=True)
        if self._slow is not None:
            self._slow.shutdown()


def _ready() -> None:
    import_module("hubbub.plan")
    import_module("hubbub.studio.frontier")


def soon(patience: float = PATIENCE) -> float:
    """The moment until which a page waits."""
    return time.monotonic() + patience
