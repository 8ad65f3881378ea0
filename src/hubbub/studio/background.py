"""A process beside the studio, ``python -m hubbub.studio.background``, that works out what is slow, one thing at a time.

What comes in are functions of public words, and what goes out is what they return or raise.
"""

from __future__ import annotations

import io
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any, Final, TypeVar

from hubbub.runtime import child_process

T = TypeVar("T")

_NAME: Final = "hubbub.studio.background"


class Died(Exception):
    """The process ended before it answered."""


class BackgroundProcess:
    """The process, started when it is first needed; a new one if it has died."""

    def __init__(self) -> None:
        self._hand = ThreadPoolExecutor(1, thread_name_prefix="background")
        self._process: subprocess.Popen[bytes] | None = None
        self._lock, self._closed = Lock(), False

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """What `work` returns; it must be a function that can be handed over."""
        return self._hand.submit(self._done, work)

    def _done(self, work: Callable[[], T]) -> T:
        message = pickle.dumps(work)
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        answer: Any = None
        with suppress(OSError, EOFError, pickle.UnpicklingError):
            process.stdin.write(message)
            process.stdin.flush()
            answer = pickle.load(process.stdout)
        if answer is None:
            self._end(process)
            raise Died
        value, error = answer
        if error is not None:
            raise error
        return value  # type: ignore[no-any-return]

    def _started(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise Died
            if self._process is None:
                self._process = subprocess.Popen(
                    child_process.command(_NAME),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    cwd=child_process.NEUTRAL,
                )
            return self._process

    def _end(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._process = None
        process.kill()
        process.wait()
        for end in (process.stdin, process.stdout):
            with suppress(OSError):
                end.close()  # type: ignore[union-attr]

    def shutdown(self) -> None:
        """Begin nothing more, and give up what is under way."""
        with self._lock:
            self._closed, process = True, self._process
        if process is not None:
            process.kill()  # whoever waits for its answer sees the end of it
        self._hand.shutdown(wait=True, cancel_futures=True)
        if process is not None:
            self._end(process)


def main() -> int:
    """What the process runs."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the studio, which then closes this process
    requests, replies = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever a library prints is no answer
    while True:
        try:
            work = pickle.load(requests)
        except EOFError:
            return 0
        replies.write(_answer(work))
        replies.flush()


def _answer(work: Callable[[], object]) -> bytes:
    answer = io.BytesIO()
    try:
        pickle.dump((work(), None), answer)
    except Exception as error:
        return pickle.dumps((None, error))
    return answer.getvalue()


if __name__ == "__main__":
    sys.exit(main())
