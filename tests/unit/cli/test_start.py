"""The end of the installed script: quick, and after everything that has to be done before it."""

from __future__ import annotations

import subprocess
import sys

_COMMAND = """
import sys, threading, time, weakref
import hubbub.cli.main
class Table: ...
kept = Table()
def late():
    time.sleep(0.2)
    print("a thread ended")
def run():
    weakref.finalize(kept, print, "a private copy was cleared away")
    threading.Thread(target=late).start()
    print("x" * 100_000)
    {end}
hubbub.cli.main.main = run
from hubbub.start import main
{main}
"""


def ended(end: str, main: str = "main()") -> tuple[int, list[str], str]:
    script = _COMMAND.format(end=end, main=main)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


def test_the_process_ends_with_the_code_of_the_command_after_threads_and_clearing_up() -> None:
    for code in (0, 3, 4):
        assert ended(f"sys.exit({code})") == (
            code,
            ["x" * 100_000, "a thread ended", "a private copy was cleared away"],
            "",
        )


def test_an_error_that_nobody_expected_ends_as_python_ends() -> None:
    code, printed, told = ended("raise LookupError('unexpected')")
    assert code == 1
    assert printed[1:] == ["a thread ended", "a private copy was cleared away"]
    assert "LookupError: unexpected" in told


def test_what_cannot_be_written_is_left_to_python_to_say() -> None:
    code, _, told = ended("sys.stdout = open('/dev/full', 'w'); sys.stdout.write('lost'); sys.exit(0)")
    assert code == 120  # Python's own code for output that is lost
    assert "No space left" in told
