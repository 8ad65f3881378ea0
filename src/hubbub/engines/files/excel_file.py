"""A sheet of an Excel file as a table of text, by a rule for each cell alone. Needs the extra "excel".

Excel keeps a type for each cell and none for a column, so a column is text, as in a CSV: a number is written as Excel
holds it, a date as 2013-03-14, a boolean as true or false, and a blank cell is missing. The first line of the sheet
names the columns; what stands to the right of them is not part of the table, and a line that is blank in all of them is
no row.

What reads such files is not ours, and one cell far away makes it ask for more memory than there is. So it runs in
another process (:mod:`hubbub.engines.files.excel_reader`), with limits, and whatever happens there is one sentence
here.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from threading import Timer
from typing import IO, Any, Final

import pyarrow as pa

from hubbub.errors import WrongUse, install
from hubbub.runtime import child_process

MEMORY: Final = 2 << 30  # bytes of addresses, at most; as much for what comes back
_LEAST: Final = 1 << 30  # of them, however small the file is: libraries are in there too
_GROWS: Final = 100  # bytes for each byte of the file, which is packed
SECONDS: Final = 300.0
WRONG, REPORTED, TOO_MUCH = 1, 2, 3
"""How the process ends: no Excel file; it says itself what is wrong; too much for it. Or it is killed."""
_PIECE: Final = 1 << 20  # bytes
_READER: Final = "hubbub.engines.files.excel_reader"


def sheet(path: str, name: str | None, *, memory: int | None = None, seconds: float = SECONDS) -> pa.Table:
    """The sheet of that name, or the only one.

    Guarantee: this takes at most `seconds`, and the process that reads at most `memory` (as the size of the file has
    it, and never more than `MEMORY`) where the system can limit that; no more than that is taken from it anywhere. If
    it crashes, takes too long or too much, the sentence is the same as for a file that is none.
    """
    if find_spec("python_calamine") is None:
        raise WrongUse(f"an Excel file needs one package more; {install('excel')}, or save it as CSV")
    memory = _memory(path) if memory is None else memory
    end = time.monotonic() + seconds
    for close in (False, True):  # as it is; if that is too much, with its rows moved close to each other
        request = {"path": os.path.abspath(path), "name": name, "memory": memory, "seconds": seconds, "close": close}
        code, output = _run_reader(request, max(end - time.monotonic(), 0))
        if code == REPORTED:
            raise WrongUse(json.loads(output)["error"])
        if code == 0:
            return pa.ipc.open_stream(pa.BufferReader(output)).read_all()
        if code in (None, WRONG):
            break
    raise WrongUse(
        "the Excel file could not be read; check that it is one, has no password and is not too large to be read "
        "within minutes, and save it again, or as CSV"
    )


def _memory(path: str) -> int:
    """How much a file of this size may need."""
    try:
        return min(MEMORY, _LEAST + _GROWS * os.path.getsize(path))
    except OSError:
        return _LEAST


def _run_reader(request: Mapping[str, Any], seconds: float) -> tuple[int | None, bytearray]:
    """How the process ended, None if it took too long or said too much, and what it said."""
    with subprocess.Popen(
        child_process.command(_READER),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what a library says may quote a cell
        cwd=child_process.NEUTRAL,
    ) as process:
        assert process.stdin is not None and process.stdout is not None
        late = Timer(seconds, process.kill)
        late.start()
        try:
            with suppress(BrokenPipeError):  # it has ended already
                process.stdin.write(json.dumps(dict(request)).encode())
                process.stdin.close()
            output = _output(process.stdout, request["memory"])
            code = None if output is None else process.wait()
            return (code, output) if output is not None and late.is_alive() else (None, bytearray())
        finally:
            late.cancel()
            process.kill()


def _output(source: IO[bytes], most: int) -> bytearray | None:
    """What is said, to its end; None if that is more than so many bytes."""
    output = bytearray()
    while piece := source.read(_PIECE):
        output += piece
        if len(output) > most:
            return None
    return output
