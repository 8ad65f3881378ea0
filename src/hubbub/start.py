"""What the installed script runs: the command line, from its first import to the end of the process.

Most of the time of a small command goes into loading and unloading. This imports nothing heavy until it can say
"stopped", and leaves out what only a process that goes on would need.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from types import FrameType

_STOPPED = 130  # as in hubbub.cli, which is not imported yet
_MADE = 200_000  # objects between two searches for garbage; Python's 700 are made by every module that is loaded


def main() -> None:
    """Run the command line. Ctrl-C while it is being loaded is one word too; SIGTERM, by which cron, systemd and containers
    stop a command, does what Ctrl-C does."""
    came = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        if number == signal.SIGTERM:
            signal.signal(number, signal.SIG_IGN)  # a second one does not stop whoever cleans up
        signal.default_int_handler(number, frame)

    gc.set_threshold(_MADE)
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # the threads of NumPy's library wait asleep, not in a loop
    try:
        for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL)):
            if signal.getsignal(number) is usual:
                signal.signal(number, remember)
        code: list[int] = []
        atexit.register(_leave, code)  # the first to register is the last to run
        from hubbub.cli.main import main as run

        run()
    except (KeyboardInterrupt, ImportError) as error:
        if not came and isinstance(error, ImportError):  # else a library made one of the interrupt
            raise
        print("hubbub: stopped", file=sys.stderr)
        sys.exit(_STOPPED)
    except SystemExit as end:
        if isinstance(end.code, int):
            code.append(end.code)
        raise


def _leave(code: list[int]) -> None:
    """End the process at once, where a command has ended with a code: Python would take apart, object by object, all
    that was loaded, for a fifth of the time of a small release.

    Guarantee: this runs after threads have ended and after every clearing up that was registered while the command ran,
    private copies of tables among it; what was printed is written, or Python is left to say that it was not.
    """
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except (OSError, ValueError, AttributeError):
        return
    if code:
        os._exit(code[0])
