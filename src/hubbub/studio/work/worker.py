"""One release, in a process of its own: ``python -m hubbub.studio.work.worker`` reads what is asked, and tells how it
goes.

One JSON object comes in; one goes out on each line: the stages, then what was written or why nothing was. Nothing of
the table goes out, only what is published. A release is stopped as a command is, by an interrupt: whatever was reserved
is given up, which is free if no noise was drawn. Once noise was drawn, the release is paid for, and an interrupt no
longer stops it.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from hubbub.errors import HubbubError
from hubbub.protocol.bound import Bound
from hubbub.protocol.release import Publish, Release
from hubbub.protocol.spec import BALLOTS, GRAPH, Kind, Spec

STAGES: Final = {
    "opening": "Opening the file",
    "preparing": "Working out what is promised",
    "counting": "Entering it in the ledger, counting, drawing noise",
    "writing": "Writing the release, its report and its certificate",
}
STOPPED: Final = "stopped"

Report = Callable[[Mapping[str, Any]], None]


class Interrupt:
    """An interrupt from outside: the first stops the work, later ones find nobody; shielded, none does.

    It is raised where the work stands, but libraries turn it into errors of their own; so it is remembered.
    """

    def __init__(self) -> None:
        self.came = False

    def __call__(self, number: int, frame: object) -> None:
        self.shield()  # whoever cleans up is not interrupted
        self.came = True
        raise KeyboardInterrupt

    def listen(self) -> None:
        """From now on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self)

    def shield(self) -> None:
        """From now on nothing stops the work."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)


def work(request: Mapping[str, Any], report: Report, interrupt: Interrupt) -> None:
    """Do it. When noise was drawn, the interrupt is shielded: from then on nothing should stop this.

    Guarantee: that of :func:`hubbub.release.execute` and :func:`hubbub.release.save`. If it is stopped before noise is
    drawn, nothing is spent; afterwards either the files are there, or the ledger counts it as spent.
    """
    from hubbub.publication.files import check_format
    from hubbub.publication.staging import prepared
    from hubbub.release import save
    from hubbub.report.heading import heading

    out, form = Path(request["place"]), request["form"]
    check_format(form)
    report({"stage": "opening"})
    publish, size = (_period if "series" in request else _release)(request)
    before = _spent(request)
    report({"stage": "preparing"})
    try:
        with prepared(out, size):
            report({"stage": "counting"})
            done = publish()
            interrupt.shield()
            report({"stage": "writing"})
            written = save(
                done, out, form=form, heading=heading(date=request.get("date"), language=request.get("language"))
            )
    except BaseException as error:
        if not (interrupt.came or isinstance(error, KeyboardInterrupt)):
            raise
        report({STOPPED: True, "spent": _spent(request) > before})
        return
    report({"done": True, "written": written, "remarks": _remarks(done, request)})


def _remarks(done: Release, request: Mapping[str, Any]) -> list[str]:
    from hubbub.ledger.overlap import COMPARED

    return [*done.bound.description.remarks, *([COMPARED] if request["opening"].get("disjoint") else [])]


def _release(request: Mapping[str, Any]) -> tuple[Callable[[], Release], int]:
    """What makes the release, and about how many bytes it takes."""
    from hubbub import registry

    kind = registry.kind(request["kind"])
    publish, options = _opened(kind, request)
    spec = kind.ask(**options)
    return partial(publish, spec, accept_weak=request["accept_weak"]), spec.size_hint()


def _period(request: Mapping[str, Any]) -> tuple[Callable[[], Release], int]:
    """The same for a period of a series, which says by itself what is counted."""
    from hubbub import opening, series

    named = {name: request[name] for name in ("dataset", "ledger")}
    people = opening.open(request["path"], **request["opening"], **named)
    drawn = partial(
        series.release,
        people.engine,
        request["series"],
        request["period"],
        ledger=request["ledger"],
        **people.ids(),
        reading=people.reading,
        one_row_per_person=bool(request["words"].get("one_row_per_person")),
        accept_weak=request["accept_weak"],
        beside=Path(request["place"]).parent,
    )
    return drawn, 1 << 20


def _opened(kind: Kind, request: Mapping[str, Any]) -> tuple[Publish, dict[str, Any]]:
    """How a release is made of the file, and the words that ask for one."""
    from hubbub import opening as opening_module

    options, opening = dict(request["words"]), dict(request["opening"])
    named = {name: request[name] for name in ("dataset", "ledger")}
    file = request["path"]
    if kind.data == BALLOTS:
        from hubbub.studio.ballots import opened

        read, path = opened(file)
        if path is None:
            named["dataset"] = named["dataset"] or file

        def publish(spec: Spec | Bound, *, accept_weak: bool = False) -> Release:
            return opening_module.publish_ballots(spec, read, path, **named, accept_weak=accept_weak)

        return publish, options
    if kind.data == GRAPH:
        columns = opening.pop("columns", None)
        ends = None if columns is None else [part.strip() for part in columns.split(",")]
        return opening_module.open_graph(file, columns=ends, **opening, **named).publish, options
    people = opening_module.open(file, **opening, **named)
    return people.publish, {**options, "person": people.person}


def _spent(request: Mapping[str, Any]) -> int:
    """How many releases of these people, or periods of the series, the ledger counts as spent."""
    from hubbub.ledger.ledger import Ledger
    from hubbub.opening import named_after

    if "series" in request:
        return len(Ledger(request["ledger"]).series(request["series"])[1].periods)
    name = request["dataset"] or named_after(request["path"], request["opening"].get("table"))
    account = Ledger(request["ledger"]).accounts().get(name)
    return 0 if account is None else len(account.spent_releases)


def main() -> int:
    """What the process runs."""
    output = sys.stdout

    def report(what: Mapping[str, Any]) -> None:
        output.write(json.dumps(what) + "\n")
        output.flush()

    sys.stdout = sys.stderr  # whatever a library prints is no message
    interrupt = Interrupt()
    interrupt.listen()
    try:
        work(json.loads(sys.stdin.read()), report, interrupt)
    except BaseException as error:
        interrupt.shield()
        if interrupt.came:
            report({STOPPED: True, "spent": False})
        elif isinstance(error, HubbubError):
            report({"error": error.marked, "code": error.exit_code})
        else:  # a mistake of ours; its words may hold a cell, so its name is all that is told
            report({"error": f"this went wrong in a way that nobody expected ({type(error).__name__})", "code": 1})
    return 0


if __name__ == "__main__":
    sys.exit(main())
