"""What a ledger and a certificate cost: reserving after many releases, knowing a table again, checking a certificate.

There is no peer with the same job; the raw cost beside ours is that of one durable SQLite transaction.
"""

from __future__ import annotations

import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Final

import pyarrow as pa

from hubbub.engines.identity import of_files
from hubbub.kinds.histogram.request import histogram
from hubbub.ledger.admission import Entered, admit
from hubbub.ledger.charge import Charge, charge
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.policy import Policy
from hubbub.ledger.records import ABANDONED, RESERVED
from hubbub.ledger.running_total import TOTAL, Running, RunningTotal, total_bytes
from hubbub.ledger.running_total import _seal as sealed
from hubbub.opening import open as open_table
from hubbub.protocol.bound import Bound
from hubbub.release import save
from hubbub.serialization.exact_json import plain

BINS: Final = 100_000
FEW: Final = 10
RELEASES: Final = 300
MANY: Final = 10_000
LIMIT: Final = 0.020
EACH: Final = 0.0002  # of one entry that is checked with all others
BEYOND: Final = 0.5  # of verifying, without the start
REPEATS: Final = 5
TURNS: Final = 20  # of what takes milliseconds
FILES: Final = (1 << 20, 16 << 20, 1 << 30)  # bytes


def best(work: Callable[[], object], repeats: int = 0) -> float:
    """The shortest of several runs, in seconds by the clock: a disk's sync is no CPU time."""
    times = []
    for _ in range(repeats or REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def tell(task: str, seconds: float, limit: float | None = None) -> None:
    """One line for people, one for programs."""
    verdict = "" if limit is None else f"   (at most {limit:g} s) {'met' if seconds <= limit else 'MISSED'}"
    print(f"{task:68s} {seconds * 1000:9.1f} ms{verdict}", file=sys.stderr)
    print(json.dumps({"task": task, "seconds": seconds, "limit": limit}))


def tell_both(task: str, work: Callable[[], object]) -> None:
    """By the clock, which other work on the machine moves, and in CPU time."""
    tell(task, best(work, TURNS), LIMIT)
    start = time.process_time()
    for _ in range(TURNS):
        work()
    tell(f"{task}, CPU", (time.process_time() - start) / TURNS, LIMIT)


def raw_transaction(folder: Path) -> float:
    with sqlite3.connect(folder / "raw.db", isolation_level=None) as base:
        base.execute("PRAGMA journal_mode = WAL")
        base.execute("PRAGMA synchronous = FULL")
        base.execute("CREATE TABLE t (x TEXT)")
        return best(lambda: base.execute("INSERT INTO t VALUES ('x')"), TURNS)


def reserving(folder: Path) -> None:
    """The first release, and the ten-thousandth, of one dataset and of as many datasets."""
    tell("one durable SQLite transaction", raw_transaction(folder))
    for names in ("one dataset", "datasets of their own"):
        for words in ({"epsilon": "0.001"}, {"crowd": "20", "sample": "0.1"}):
            book = Ledger(folder / f"{'-'.join(names.split())}-{len(words)}.db")
            spec = histogram(["a=x,y"], **words)  # type: ignore[arg-type]
            asked = charge(Bound(spec))
            told = ", ".join(f"{name} {value}" for name, value in words.items())
            book.set_policy("town", Policy(delta=Fraction(1, 2)))
            reserve = partial(book.reserve, "town", asked)
            tell_both(f"reserve one of the first releases ({told}; {names})", reserve)
            fill(book, asked, MANY, names == "one dataset")
            tell_both(f"reserve release {MANY:,} ({told}; {names})", reserve)
            if names == "one dataset":
                start = time.process_time()
                book.check()
                spent = time.process_time() - start
                tell(f"hubbub ledger check of {MANY:,} releases, from the beginning ({told}), CPU", spent, MANY * EACH)


def fill(book: Ledger, asked: Charge, many: int, one: bool) -> None:
    """As many reservations, byte for byte as they would be written one by one: in one transaction, so that the disk does
    not have to turn for each, with the total carried along, not read back, and only the first and the last admitted."""
    with book._store.adding(book._founding) as page:
        total, words = Running(page, "town").total if one else RunningTotal(), plain(asked)
        before = page.latest("town", RESERVED, ABANDONED)
        earlier, place = 0 if before is None or not one else before.number, 0
        for i in range(many):
            name = "town" if one else f"town-{i}"
            new = Entered(number=total.reserved + 1, charge=asked)
            if i in (0, many - 1):
                admit(total.stand_ins, new, name, count=total.spent)
            after = total.followed_by(new)
            data = total_bytes(after)
            body = {"nonce": f"{i:032x}", "charge": words, "source": "", "secret": f"{i:032x}", TOTAL: sealed(data)}
            place = page.add(RESERVED, name, body).number
            if not one or i >= many - 2:  # of one dataset the last two are kept
                page.keep_total(name, place, data, before=earlier)
            if one:
                total, earlier = after, place


def knowing(folder: Path) -> None:
    """The identity of a file: all of its bytes, or many blocks of them."""
    for size in FILES:
        place = folder / "large"
        with place.open("wb") as file:
            for i in range(size >> 20):
                file.write(i.to_bytes(4, "big") * (1 << 18))
        start = time.process_time()
        of_files([str(place)])
        tell(f"know a file of {size >> 20:,} MiB again, CPU", time.process_time() - start)
        place.unlink()


def one_dataset(folder: Path) -> None:
    """Every release is added up with all earlier ones of its dataset."""
    book = Ledger(folder / "long.db")
    asked = charge(Bound(histogram(["a=x,y"], crowd=20, sample="0.1")))

    def work() -> None:
        for i in range(RELEASES):
            book.commit(book.reserve("town", asked), f"{i:064x}", f"{i:064x}")

    start = time.process_time()
    tell(f"{RELEASES} releases of one dataset, reserved and committed, all of them", best(work, 1))
    tell(f"{RELEASES} releases of one dataset, the same, CPU", time.process_time() - start)


def verifying(folder: Path) -> None:
    """`hubbub verify` of many bins, and how much of it is not the start: what it takes less what few bins take."""
    people = pa.table({"a": [i % 1000 for i in range(BINS)], "c": [f"label {i % 5000}" for i in range(BINS)]})
    for name in ("steps", "listed values"):
        many, few = (published(people, name, bins, folder) for bins in (BINS, FEW))
        runs = [(spent(many), spent(few)) for _ in range(REPEATS)]  # by turns
        clock = min(seconds for (seconds, _), _ in runs)
        beyond = min(cpu for (_, cpu), _ in runs) - min(cpu for _, (_, cpu) in runs)
        tell(f"hubbub verify, start of the interpreter included, {BINS:,} bins, {name}", clock, 2)
        tell(f"hubbub verify, {BINS:,} bins less {FEW} bins, {name}, CPU", beyond, BEYOND)


def published(people: pa.Table, name: str, bins: int, folder: Path) -> list[str]:
    """Publish a histogram of so many bins; returns the command that checks its certificate."""
    listed = ",".join(f"label {i}" for i in range(bins))
    by, words = (
        ([f"a:0..{bins}:1"], {"epsilon": 1}) if name == "steps" else ([f"c={listed}"], {"crowd": 20, "sample": "0.1"})
    )
    dataset = f"{name.replace(' ', '-')}-{bins}"
    table = open_table(people, rows_are_people=True, unlisted="1", dataset=dataset, ledger=folder / f"{dataset}.db")
    save(table.histogram(by, **words), folder / dataset)
    start = [sys.executable, "-c", "from hubbub.cli.main import main; main()"]
    return [*start, "verify", str(folder / dataset / "certificate.json"), "--certificate-only"]  # of an unknown ledger


def spent(command: list[str]) -> tuple[float, float]:
    """Seconds of a command by the clock, and of CPU in all of its threads."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return clock, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = f"{folder}/state"
        reserving(Path(folder))
        knowing(Path(folder))
        one_dataset(Path(folder))
        verifying(Path(folder))


if __name__ == "__main__":
    main()
