"""What the installed script runs: the command line, from its first import on.

Most of the time before a command begins goes into imports. This imports nothing until it can say "stopped".
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

_STOPPED = 130  # as in hubbub.cli, which is not imported yet


def main() -> None:
    """Run the command line; Ctrl-C while it is being loaded is one word too."""
    came = False

    def remember(number: int, frame: FrameType | None) -> None:
        nonlocal came
        came = True
        signal.default_int_handler(number, frame)

    try:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, remember)
        from hubbub.cli.main import main as run

        run()
    except (KeyboardInterrupt, ImportError) as error:
        if not came and isinstance(error, ImportError):  # else a library made one of the interrupt
            raise
        print("hubbub: stopped", file=sys.stderr)
        sys.exit(_STOPPED)
