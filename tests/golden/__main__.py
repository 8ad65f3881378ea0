"""``python -m tests.golden`` makes the golden files again: one release of each kind, their ledger and its key.

Everything is invented, and so is the entropy: the same program makes the same bytes. Files of a version that was
released are never made again; a new format gets a folder of its own beside theirs.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from hubbub import registry, series
from hubbub.ledger.ledger import Ledger
from hubbub.opening import open_links
from hubbub.protocol.spec import TABLE
from hubbub.release import execute, save
from hubbub.tables.identity import Identity
from hubbub.voting.ballots import BallotBox, Ballots
from tests.fresh import Nameless, engine_of
from tests.golden.cases import CASES, EDGES, PEOPLE, PERIODS, RECORD, SERIES

FOLDER = Path(__file__).with_name("format")
LEDGER = "ledger.db"


def fixed_entropy() -> Callable[[int], bytes]:
    """What stands for the operating system's entropy: never twice the same, and always the same."""
    calls = count()
    return lambda size: hashlib.shake_256(f"golden {next(calls)}".encode()).digest(size)


def data_of(name: str) -> Any:
    """The invented data that a kind is about."""
    kind = registry.kind(name)
    if kind.data == TABLE:
        return Nameless(engine_of(pa.table(PEOPLE)))
    if name == "graph":
        return open_links(EDGES)
    return BallotBox(
        Ballots.from_counts("abc", {("a", "b"): 200, ("b",): 150, ("c", "a"): 90, ("c",): 2, (): 1}), Identity()
    )


def make(folder: Path) -> None:
    """Write everything to an empty folder."""
    ledger = Ledger(folder / LEDGER)
    for name, options in CASES.items():
        kind = registry.kind(name)
        person = {"person": "id"} if kind.data == TABLE else {}
        official = {"official": RECORD} if name == "ballots" else {}
        data = data_of(name)
        spec = kind.from_options(**person, **official, **options).with_schema(data.columns())
        save(execute(spec.bind(data.columns()), data, ledger, name, other_people=True), folder / name, report=False)
    series.start("clinic", dataset="clinic", ledger=ledger.path, accept_weak=True, **SERIES)
    for period, table in PERIODS.items():
        made = series.release(engine_of(pa.table(table)), "clinic", period, ledger=ledger.path, other_people=True)
        save(made, folder / "series" / period, report=False)
    (folder / "public_key").write_text(ledger.public_key(), encoding="ascii")


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        place = Path(home).resolve()
        os.environ |= {"XDG_DATA_HOME": f"{place}/data", "XDG_STATE_HOME": f"{place}/state"}
        with (
            patch("os.urandom", fixed_entropy()),
            patch("hubbub.ledger.log.moment", lambda last="": "2026-01-01T00:00:00Z"),
        ):
            (place / "format").mkdir()
            make(place / "format")
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.copytree(place / "format", FOLDER)


if __name__ == "__main__":
    main()
