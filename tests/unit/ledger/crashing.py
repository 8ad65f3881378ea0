"""A release that is killed at a chosen line. Run as a script: ``crashing.py FOLDER PART PARTS`` prints one JSON object.

The script runs the release once to learn which lines of the protocol it visits, then once for each of them in a
child that sends itself SIGKILL on arriving there, and says what the ledger and the folder look like afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa

import hubbub.release
from hubbub.channels.estimate import intervals
from hubbub.errors import HubbubError, Refused
from hubbub.kinds.histogram import mechanism as histogram_mechanism
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.charge import charge
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.log import _own_triggers
from hubbub.noise.source import Source, SystemSource
from hubbub.protocol.bound import Bound
from hubbub.publication.recovery import finish
from hubbub.publication.staging import unfinished
from hubbub.release import execute, save
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.tables.engine import CountQuery, ExactCounts
from hubbub.tables.identity import Identity
from hubbub.tables.schema import ColumnType
from hubbub.verification import verify

PROTOCOL = ("release.py", "opening.py", "publication/", "certificate/", "ledger/")
SOURCE = str(Path(hubbub.release.__file__).parent) + os.sep
Line = tuple[str, int]


class Few:
    """An engine with three bins."""

    def identity(self) -> Identity:
        return Identity()

    def columns(self) -> dict[str, ColumnType]:
        return {"a": ColumnType.TEXT}

    def count(self, question: CountQuery, source: Source) -> ExactCounts:
        return ExactCounts(np.arange(3), np.array([5, 30, 400]))


_own_triggers()  # worked out once in a process: its lines would run in the first release alone


def release(home: Path) -> None:
    """Reserve, draw, save. The first word that is drawn for the channel leaves a mark."""
    publish, make = histogram_mechanism.through, SystemSource._make

    def made(source: SystemSource, n: int) -> Any:
        (home / "noise").touch()
        return make(source, n)

    def marked(*given: Any) -> Any:
        SystemSource._make = made  # type: ignore[method-assign, assignment]
        return publish(*given)

    histogram_mechanism.through = marked  # type: ignore[assignment]
    spec = histogram(["a=x,y,z"], epsilon=1)
    save(execute(spec.bind(Few().columns()), Few(), Ledger(home / "ledger" / "ledger.db"), "town"), home / "out")


def watched(code_file: str) -> bool:
    return code_file.startswith(SOURCE) and code_file[len(SOURCE) :].startswith(PROTOCOL)


def in_child(home: Path, kill_at: Line | None) -> tuple[int, list[Line]]:
    """The release in a child of its own; returns how it ended and the lines it visited, each once, in order."""
    listening, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(listening)
        seen: dict[Line, None] = {}

        def local(frame: FrameType, event: str, arg: object) -> Any:
            if event == "line":
                here = (frame.f_code.co_filename[len(SOURCE) :], frame.f_lineno)
                if here == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                seen[here] = None
            return local

        def tracer(frame: FrameType, event: str, arg: object) -> Any:
            return local if watched(frame.f_code.co_filename) else None

        sys.settrace(tracer)
        try:
            release(home)
        finally:
            sys.settrace(None)
            with os.fdopen(telling, "w") as out:
                json.dump(list(seen), out)
            os._exit(0)
    os.close(telling)
    with os.fdopen(listening) as heard:
        text = heard.read()
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), [tuple(line) for line in json.loads(text or "[]")]


def look(home: Path) -> dict[str, Any]:
    """What a stranger finds: visible files, and whether the ledger paid for them."""
    ledger = Ledger(home / "ledger" / "ledger.db")
    records = ledger.accounts()["town"].records if "town" in ledger.accounts() else []
    values, promise = home / "out" / "release.csv", home / "out" / CERTIFICATE
    found: dict[str, Any] = {
        "reserved": len(records),
        "committed": [digest for record in records for digest in record.files],
        "spent": sum(record.is_spent for record in records),
        "noise": (home / "noise").exists(),
        "visible": sha256(values) if values.exists() else None,
        "unfinished": len(unfinished(home / "out")),
    }
    if promise.exists():
        found["verified"] = verify(promise.read_bytes(), folder=home / "out").passed
    return found


def case(folder: Path, line: Line) -> dict[str, Any]:
    """Kill the release at a line, look, finish what can be finished, look again."""
    home = folder / "case"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    ended, _ = in_child(home, line)
    found: dict[str, Any] = {"line": line, "ended": ended, "after": look(home)}
    try:
        for hidden in unfinished(home / "out"):
            finish(hidden)
    except Refused:
        found["nothing to finish"] = True
    except HubbubError as error:
        found["error"] = str(error)
    return found | {"then": look(home)}


def warm() -> None:
    """What the children would each load and derive again, done once."""
    pa.array(np.arange(3), mask=np.zeros(3, dtype=bool))  # loads pandas, where that is installed
    spec = histogram(["a=x,y,z"], epsilon=1)
    charge(Bound(spec))
    spec.channel.release(np.array([1, 2, 3]), SystemSource())
    intervals(spec.channel, spec.channel.release(np.array([5, 30, 400]), SystemSource()), spec.coverage)


def main(folder: Path, part: int, parts: int) -> None:
    warm()
    home = folder / "whole"
    home.mkdir(parents=True)
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    ended, lines = in_child(home, None)
    cases = [case(folder, line) for line in lines[part::parts]]
    print(json.dumps({"ended": ended, "whole": look_in(home), "cases": cases}))


def look_in(home: Path) -> dict[str, Any]:
    os.environ["XDG_STATE_HOME"] = str(home / "state")
    return look(home)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
