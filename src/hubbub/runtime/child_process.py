"""How a process of ours starts: with a safe path, in a neutral folder. What lies beside a table never runs.

Python looks for modules in the current folder first, or in that of the script, and a table is often opened from the
folder that it lies in: a file called ``pickle.py`` there would run in every process that is started from it. A child
looks where its parent looks, but in neither of these two.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from contextlib import suppress
from pathlib import Path
from typing import Final

NEUTRAL: Final = os.path.abspath(os.sep)
"""The folder that children work in: nobody keeps tables there."""

_START: Final = (
    "import sys; name, sys.path[:] = sys.argv[1], sys.argv[2:]; del sys.argv[1:]; import runpy; "
    "runpy.run_module(name, run_name='__main__', alter_sys=True)"
)


def command(module: str) -> list[str]:
    """What starts a module of ours as a process; to be started in the folder `NEUTRAL`.

    Guarantee: until the module runs, modules come from Python's own folders alone (`-P`, and what PYTHONPATH says of
    the current folder is said of the neutral one); from then on from :func:`safe_path`.
    """
    return [sys.executable, "-P", "-c", _START, module, *safe_path()]


def safe_path() -> list[str]:
    """Where this process looks for modules, as absolute paths: without the current folder and that of the script,
    unless Hubbub itself, or Python, is installed there."""
    installed = {*sysconfig.get_paths().values(), str(Path(__file__).parents[2])}
    shunned = {*map(os.path.realpath, _folders_of_the_caller())} - {*map(os.path.realpath, installed)}
    try:
        known = [os.path.abspath(each) for each in sys.path]
    except OSError:  # the current folder was removed
        known = [each for each in sys.path if os.path.isabs(each)]
    return [each for each in known if os.path.realpath(each) not in shunned]


def _folders_of_the_caller() -> list[str]:
    """The folders in which Python looks only because somebody is there."""
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    found = [] if script is None else [os.path.dirname(script)]
    with suppress(OSError):
        found = [*map(os.path.abspath, found), os.getcwd()]
    return [each for each in found if os.path.isabs(each)]
