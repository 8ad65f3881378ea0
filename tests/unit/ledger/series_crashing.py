"""A series of twelve periods whose releases are killed at random lines. Run as a script: ``series_crashing.py FOLDER KILLS
SEED`` prints one JSON object.

Each period is tried again and again, every time in a child that sends itself SIGKILL on arriving at some line of the
protocol, and is then published by one that is left alone. The clock of a child is that of another year, now and then, and
before every second period an older copy of the ledger lies in its place: then nothing may come out. After every kill the
parent looks at ledger, secret and folders; in the end every interval is held against what was counted. By the seed, every
second series is read from one table that grows, and every third counts a secret panel, whose truth nobody is told.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
import pyarrow.csv

import hubbub.release
from hubbub import series
from hubbub.errors import HubbubError, Refused
from hubbub.ledger import series_state as states
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open as open_table
from hubbub.publication.recovery import finish
from hubbub.publication.staging import unfinished
from hubbub.release import save
from hubbub.verification.series import verify_series

PROTOCOL = ("release.py", "series.py", "publication/", "certificate/", "ledger/", "kinds/series/")
SOURCE = str(Path(hubbub.release.__file__).parent) + os.sep
PERIODS = 12
RECUR = 2
COVERAGE = "0.999999999"  # so that one of 72 intervals is wrong with a chance below 1e-7


def table(t: int, grows: bool) -> pa.Table:
    rows = [(i, s) for s in range(0 if grows else t, t + 1) for i in range(10 * s, 10 * s + 40)]
    columns = {"id": [f"p{i}" for i, _ in rows], "ward": ["abc"[i % 3] for i, _ in rows]}
    return pa.table(columns | {"seen": [f"{label(s)}-15" for _, s in rows]})


def label(t: int) -> str:
    return f"2026-{t + 1:02d}"


def truth(t: int) -> dict[str, int]:
    """How many people of each ward count in a period: those who are there for the first or second time."""
    ids = [i for i in range(10 * t, 10 * t + 40) if sum(10 * s <= i < 10 * s + 40 for s in range(t)) < RECUR]
    return {ward: sum("abc"[i % 3] == ward for i in ids) for ward in "abc"}


def release(home: Path, t: int, out: Path) -> None:
    book = home / "ledger" / "ledger.db"
    grows = series.series_of_record(Ledger(book).series("clinic")[1]).date is not None
    engine = open_table(table(t, grows), person="id", dataset="clinic", ledger=book).engine
    done = series.release(engine, "clinic", label(t), ledger=book)
    save(done, out, report=False)


def in_child(
    home: Path, t: int, out: Path, kill_at: int | None, clock: float | None = None
) -> tuple[int, int, list[str]]:
    """A release in a child of its own; returns how it ended, how many lines it came past, and what it imported."""
    listening, telling = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(listening)
        seen = 0
        ours: dict[str, bool] = {}

        def line(frame: FrameType, event: str, _: Any) -> Any:
            nonlocal seen
            if event == "line":
                seen += 1
                if seen == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
            return line

        def call(frame: FrameType, event: str, _: Any) -> Any:
            file = frame.f_code.co_filename
            if file not in ours:
                ours[file] = file.startswith(SOURCE) and file[len(SOURCE) :].startswith(PROTOCOL)
            return line if ours[file] else None

        code = 0
        try:
            if clock is not None:
                now = time.gmtime(clock)
                time.gmtime = lambda *_: now
            sys.settrace(call)
            release(home, t, out)
        except HubbubError as error:
            code = 3
            print(error, file=sys.stderr)
        finally:
            sys.settrace(None)
            os.write(telling, json.dumps([seen, sorted(sys.modules)]).encode())
            os._exit(code)
    os.close(telling)
    with os.fdopen(listening, "rb") as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    lines, modules = json.loads(told) if told else (0, [])
    return os.waitstatus_to_exitcode(status), lines, modules


def warmed(home: Path) -> int:
    """How many lines a release has; what it imports is imported here, so that no child does it again."""
    begun(home)
    code, lines, modules = in_child(home, 0, home / "out", None)
    assert code == 0
    for name in modules:
        if name.partition(".")[0] in ("hubbub", "duckdb", "numpy", "pyarrow", "flint", "cryptography", "pandas"):
            import_module(name)
    return lines


def begun(home: Path, seed: int = 0) -> None:
    words: dict[str, Any] = {
        "kind": "histogram",
        "by": ["ward=a,b,c"],
        "person": "id",
        "recur": RECUR,
        "coverage": COVERAGE,
    }
    words |= {"date": "seen"} if seed % 2 else {}
    words |= {"sample": "0.5", "panel": True} if seed % 3 == 2 else {}
    book = home / "ledger" / "ledger.db"
    series.start("clinic", ledger=book, periods=PERIODS, first="2026-01", epsilon=1, **words)


def older_ledger(home: Path, t: int, older: Path) -> list[Any]:
    """An older copy of the ledger, its key and its secrets in their place: what a release does then, which is nothing."""
    ledger, now = home / "ledger", home / "now"
    ledger.rename(now)
    shutil.copytree(older, ledger)
    out = home / "older" / label(t)
    code, _, _ = in_child(home, t, out, None)
    shutil.rmtree(ledger)
    now.rename(ledger)
    return ["an older ledger published", t, code] if code != 3 or (out / "release.csv").exists() else []


def wrong_intervals(out: Path) -> list[Any]:
    """Numbers of the last period's file whose intervals do not hold what was counted."""
    found, before = list[Any](), dict.fromkeys("abc", 0)
    rows = pa.csv.read_csv(out / label(PERIODS - 1) / "release.csv").to_pylist()
    for t in range(PERIODS):
        for row in (each for each in rows if str(each["period"]).startswith(label(t))):
            new = truth(t)[row["ward"]]
            before[row["ward"]] += new
            for name, true in (("increment", new), ("total", before[row["ward"]])):
                if not row[f"{name}_low"] <= true <= row[f"{name}_high"]:
                    found.append([name, t, row["ward"]])
    return found if len(rows) == 3 * PERIODS else ["rows", len(rows)]


def looked(home: Path) -> dict[str, Any]:
    """What the ledger, the secret and the folders say."""
    book = Ledger(home / "ledger" / "ledger.db")
    book.check()
    _, record = book.series("clinic")
    account = book.account("clinic")
    drawn = [int(each.body["period"]) for each in record.periods]
    kept: list[Any] = []
    if drawn:
        state = states.load(book.path, record.nonce, record.periods[-1].body["state"])
        kept = [each.drawn for each in state.periods]
    visible = {}
    for folder in sorted((home / "out").iterdir()) if (home / "out").exists() else ():
        if (folder / "release.csv").exists():
            visible[folder.name] = sha256(folder / "release.csv")
    return {
        "drawn": drawn,
        "kept": kept,
        "charged": len(account.spent_releases),
        "committed": sorted(record.files),
        "visible": visible,
    }


def main() -> None:
    home, kills, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    rolls = random.Random(seed)
    lines, after_entry, clocks, refused = warmed(home / "warm"), 0, 0, 0
    begun(home, seed)
    problems: list[list[Any]] = []
    ended: list[int] = []
    published: dict[str, Any] = {}
    for t in range(PERIODS):
        if t % 2:  # the copy is of the moment before the period before this one
            problems += [wrong] if (wrong := older_ledger(home, t, home / "copy")) else []
            refused += not wrong
            shutil.rmtree(home / "copy")
        else:
            shutil.copytree(home / "ledger", home / "copy")
        before = looked(home)
        for _ in range(kills // PERIODS):
            out = home / "out" / label(t)
            if (out / "release.csv").exists() or (out / "certificate.json").exists():
                out = home / "again" / f"{label(t)}-{len(ended)}"
            clock = rolls.choice((None, 0.0, 4e9))
            clocks += clock is not None
            code, seen, _ = in_child(home, t, out, rolls.randrange(1, lines), clock)
            lines = max(lines, seen)
            ended.append(code)
            now = looked(home)
            if now["drawn"] not in (list(range(t)), list(range(t + 1))):
                problems.append(["periods", t, now["drawn"]])
            if now["kept"][: len(before["kept"])] != before["kept"]:
                problems.append(["a period has other numbers", t])
            if now["charged"] != 1:
                problems.append(["charged", now["charged"]])
            if not set(now["visible"].values()) <= set(now["committed"]):
                problems.append(["visible and not committed", t])
            if len(now["committed"]) > t + 1:
                problems.append(["two answers", t])
            after_entry += len(now["drawn"]) == t + 1
            before = now
            for folder in (home / "out" / label(t), out):
                for hidden in unfinished(folder) if folder.exists() else ():
                    with suppress(Refused):  # cut short before it was whole: it is asked for again
                        finish(hidden)
        out = home / "out" / label(t)
        if not (out / "certificate.json").exists():
            code, seen, _ = in_child(home, t, out, None)
            lines = max(lines, seen)
            if code:
                problems.append(["not published", t, code])
        published[label(t)] = looked(home)["visible"].get(label(t))
        code, _, _ = in_child(home, t, home / "again" / label(t), None)
        if code or sha256(home / "again" / label(t) / "release.csv") != published[label(t)]:
            problems.append(["a repeat has other bytes", t])
    whole = verify_series(home / "out")
    print(
        json.dumps(
            {
                "problems": problems + (wrong_intervals(home / "out") if seed % 3 < 2 else []),
                "killed": ended.count(-signal.SIGKILL),
                "after_entry": after_entry,
                "clocks": clocks,
                "older_ledgers_refused": refused,
                "published": len([each for each in published.values() if each]),
                "verified": whole.passed,
                "verdict": whole.verdict,
            }
        )
    )


if __name__ == "__main__":
    main()
