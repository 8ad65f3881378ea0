"""The ledger's file: entries that are only ever added, each sealed with the hash of the one before.

SQLite with a write-ahead log; a writer holds `BEGIN IMMEDIATE` from the first look to the last word, and an entry is
on the disk when `add` has left. Every use reads the whole chain and compares it with what was remembered elsewhere
(:mod:`hubbub.ledger.anchor`), so that an edited, shortened, copied or vanished ledger is noticed before anything is
published. A file on a network drive will not do: SQLite's locks do not hold there.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from hubbub.errors import CheckFailed, Refused
from hubbub.ledger import anchor, durable
from hubbub.wire.canonical import canonical

FORMAT: Final = "hubbub ledger 1"
CREATED: Final = "created"
ADOPTED: Final = "adopted"
_PATIENCE: Final = 60.0  # seconds for other writers to finish
_START: Final = "0" * 64  # what stands before the first entry

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
  number INTEGER PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL, time TEXT NOT NULL,
  body BLOB NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL UNIQUE
) STRICT;
CREATE TRIGGER IF NOT EXISTS never_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries stay'); END;
CREATE TRIGGER IF NOT EXISTS never_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries stay'); END;
"""


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    number: int  # 1, 2, 3, ...
    kind: str
    dataset: str  # "" where it is about the ledger itself
    time: str  # UTC, never before that of the entry before, whatever the clock says
    written: bytes  # what it says, as canonical JSON
    previous: str
    hash: str

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """What it says."""
        return json.loads(self.written)  # type: ignore[no-any-return]  # the seal says that it is what we wrote


def seal(number: int, kind: str, dataset: str, when: str, body: bytes, previous: str) -> str:
    """The hash of an entry: of all that is in it, and of the hash of the entry before."""
    head = json.dumps([number, kind, dataset, when, previous])
    return hashlib.sha256(head.encode("ascii") + b"\n" + body).hexdigest()


class Store:
    """The file of a ledger, which the first entry makes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def entries(self) -> list[Entry]:
        """Every entry, checked; none if there is no ledger yet."""
        with anchor.alone(self.path, writing=False):
            if self._is_missing():
                return []
            with self._connected() as base:
                found = _chain(base)
                self._check(found)
                return found

    @contextmanager
    def adding(self, founding: Callable[[], Mapping[str, Any]], *, adopt: bool = False) -> Iterator[Page]:
        """The ledger, held alone; entries put on the page are durable when this ends, and none is if it raises.

        `founding` says what goes into the first entry, if there is none yet.
        """
        with anchor.alone(self.path, writing=True):
            self._is_missing()
            with self._connected(create=True) as base:
                try:
                    base.execute("BEGIN IMMEDIATE")
                    found = _chain(base)
                    if not adopt:
                        self._check(found)
                    page = Page(base, found)
                    if not found:
                        first = founding()
                        self._remember(0, _START, first["ledger"])  # before the ledger itself: now it cannot vanish
                        page.add(CREATED, "", {"format": FORMAT, **first})
                    elif adopt:
                        page.add(ADOPTED, "", {"place": str(self.path)})
                    yield page
                    base.execute("COMMIT")
                except BaseException:
                    if base.in_transaction:
                        base.execute("ROLLBACK")
                    raise
                last = page.entries[-1]
                self._remember(last.number, last.hash, page.entries[0].body["ledger"])

    def _remember(self, number: int, last: str, identity: str) -> None:
        try:
            anchor.keep(anchor.Anchor(str(self.path), identity, number, last))
        except OSError:
            raise Refused(
                "how far the ledger has come could not be remembered, so nothing is published; check the folder "
                f"{str(anchor.folder())!r}"
            ) from None

    def _is_missing(self) -> bool:
        """Whether there is no ledger yet; one that was here and is gone is no fresh budget."""
        if self.path.exists():
            return False
        known = anchor.find(self.path)
        if known is not None and known.number > 0:
            raise CheckFailed(
                f"the ledger {str(self.path)!r} is gone, and with it what was spent; restore it from a backup, or give "
                "up what it knew with hubbub ledger new"
            )
        return True

    def _check(self, found: list[Entry]) -> None:
        """Compare with what is remembered outside."""
        known = anchor.find(self.path)
        if not found:
            if known is not None and known.number > 0:
                raise CheckFailed(f"the ledger {str(self.path)!r} is empty and should not be; restore it from a backup")
            return  # nothing was ever entered here, even if somebody began to
        identity = found[0].body.get("ledger")
        if known is None:
            raise CheckFailed(
                f"the ledger {str(self.path)!r} has not been used from this place before: it was copied or moved; see "
                "that no other copy is in use, then run hubbub ledger adopt"
            )
        if known.ledger != identity:
            raise CheckFailed(
                f"the ledger {str(self.path)!r} is another than the one that was here; restore the right one"
            )
        if known.number > len(found) or (known.number and found[known.number - 1].hash != known.hash):
            raise CheckFailed(
                f"the ledger {str(self.path)!r} is older than it was: entry {known.number} is missing or another; "
                "restore the latest copy"
            )

    @contextmanager
    def _connected(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            if create:
                durable.make_folder(self.path.parent)
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            base = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            with closing(base):
                base.execute("PRAGMA synchronous = FULL")  # an entry is on the disk when COMMIT returns
                base.execute("PRAGMA fullfsync = ON")  # on macOS too
                if create:
                    base.execute("PRAGMA journal_mode = WAL")
                    base.executescript(_SCHEMA)
                    durable.settle_folder(self.path.parent)
                yield base
        except sqlite3.DatabaseError as error:
            raise _trouble(error, self.path) from None
        except OSError:
            raise Refused(
                f"the ledger {str(self.path)!r} cannot be written, so nothing is published; check the folder, or "
                "choose another with --ledger"
            ) from None


def _trouble(error: sqlite3.DatabaseError, path: Path) -> Refused | CheckFailed:
    if isinstance(error, sqlite3.OperationalError):
        return Refused(
            f"the ledger {str(path)!r} could not be read or written, so nothing is published; check that the disk has "
            "room, that the folder can be written, and that no other program holds the file"
        )
    return CheckFailed(f"the ledger {str(path)!r} is damaged; restore it from a backup")


class Page:
    """The entries of a ledger that is held alone, and a pen."""

    def __init__(self, base: sqlite3.Connection, entries: list[Entry]) -> None:
        self._base, self.entries = base, entries

    def add(self, kind: str, dataset: str, body: Mapping[str, Any]) -> Entry:
        """One more entry."""
        last = self.entries[-1] if self.entries else None
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        when = now if last is None else max(now, last.time)
        number, previous, written = len(self.entries) + 1, last.hash if last else _START, canonical(body)
        row = (number, kind, dataset, when, written, previous, seal(number, kind, dataset, when, written, previous))
        self._base.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self.entries.append(Entry(*row))
        return self.entries[-1]


def _chain(base: sqlite3.Connection) -> list[Entry]:
    """Every entry, with its seal checked."""
    found: list[Entry] = []
    if not base.execute("SELECT count(*) FROM sqlite_master WHERE name = 'entries'").fetchone()[0]:
        return found
    rows = base.execute("SELECT number, kind, dataset, time, body, previous, hash FROM entries ORDER BY number")
    for row in rows:
        expected = found[-1].hash if found else _START
        if seal(*row[:6]) != row[6] or row[5] != expected or row[0] != len(found) + 1:
            raise CheckFailed(f"entry {len(found) + 1} of the ledger has been changed; restore it from a backup")
        found.append(Entry(*row))
    if found and (found[0].kind != CREATED or found[0].body.get("format") != FORMAT):
        raise CheckFailed("the ledger is of a kind that this version does not know; update Hubbub")
    return found
