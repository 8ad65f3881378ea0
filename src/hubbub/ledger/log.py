"""The entries of a ledger that is held alone, how to find one without reading the others, and a pen.

Beside the entries there are two tables that could be made again from them: `marks`, by which entries are found (a
nonce, a name, a file), and `totals`, the running total of each dataset, whose digest is sealed in its last entry. They
are believed only while nobody but us has written to the file; else they are made again.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from functools import cache, cached_property
from typing import Any, Final

from hubbub.errors import CheckFailed, Refused
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import canonical

_LISTED: Final = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"
START: Final = "0" * 64  # what stands before the first entry
FORMAT: Final = "hubbub ledger 1"
CREATED: Final = "created"
CLOCK: Final = "clock"  # somebody said that the clock is right

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS entries (
  number INTEGER PRIMARY KEY, kind TEXT NOT NULL, dataset TEXT NOT NULL, time TEXT NOT NULL,
  body BLOB NOT NULL, previous TEXT NOT NULL, hash TEXT NOT NULL UNIQUE
) STRICT;
CREATE TRIGGER IF NOT EXISTS never_change BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries stay'); END;
CREATE TRIGGER IF NOT EXISTS never_delete BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries stay'); END;
CREATE INDEX IF NOT EXISTS by_dataset ON entries (dataset, kind, number);
CREATE TABLE IF NOT EXISTS marks (
  mark TEXT NOT NULL, dataset TEXT NOT NULL, detail TEXT NOT NULL, PRIMARY KEY (mark, dataset, detail)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS totals (
  dataset TEXT NOT NULL, number INTEGER NOT NULL, body BLOB NOT NULL, PRIMARY KEY (dataset, number)
) STRICT, WITHOUT ROWID;
"""

_quoted: Final = json.encoder.encode_basestring_ascii
_ROW: Final = "SELECT number, kind, dataset, time, body, previous, hash FROM entries"


@dataclass(frozen=True)
class Entry:
    """One line of the ledger."""

    number: int  # 1, 2, 3, ...
    kind: str
    dataset: str  # "" where it is about the ledger itself
    time: (
        str  # UTC; never before that of the entry before, whatever the clock says, except where it is said to be right
    )
    raw_body: bytes  # what it says, as canonical JSON
    previous: str
    hash: str

    @cached_property
    def body(self) -> Mapping[str, Any]:
        """The content of the entry."""
        return json.loads(self.raw_body)  # type: ignore[no-any-return]  # the seal says that it is what we wrote


Marks = Callable[[Entry], Iterable[tuple[str, str]]]
"""The marks of an entry, each with a detail."""


def seal(number: int, kind: str, dataset: str, when: str, body: bytes, previous: str) -> str:
    """The hash of an entry: of all that is in it, and of the hash of the entry before."""
    head = f"[{number}, {_quoted(kind)}, {_quoted(dataset)}, {_quoted(when)}, {_quoted(previous)}]\n"  # as JSON
    return hashlib.sha256(head.encode("ascii") + body).hexdigest()


def moment(last: str = "") -> str:
    """Now in UTC by this computer's clock, or the last moment that is known if the clock went back."""
    now = time.gmtime()
    if now[0] > 9999:  # such a date would come before all others
        raise Refused(f"this computer's clock says that it is the year {now[0]}; set it right")
    return max(time.strftime("%Y-%m-%dT%H:%M:%SZ", now), last)


def _entry(row: tuple[Any, ...]) -> Entry:
    try:
        is_whole = seal(*row[:6]) == row[6]
    except TypeError:  # a number for a text, or nothing: in a table that somebody made anew
        is_whole = False
    if not is_whole:
        raise CheckFailed(f"entry {row[0]} of the ledger has been changed; restore it from a backup")
    return Entry(*row)


@cache
def _own_triggers() -> frozenset[tuple[str, ...]]:
    """The triggers of a ledger, as SQLite lists them."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(SCHEMA)
        return frozenset(base.execute(_LISTED).fetchall())


def check_schema(base: sqlite3.Connection) -> None:
    """Refuse a file in which somebody else made a trigger or a view: a trigger swallows entries, or never ends."""
    if other := set(base.execute(_LISTED)) - _own_triggers():
        kind, name, _ = min(other)
        raise CheckFailed(
            f"the ledger has a {kind[:20]} {name[:40]!r} in its file that Hubbub did not make; restore it from a backup"
        )


def chain(base: sqlite3.Connection) -> list[Entry]:
    """Every entry, with its seal checked."""
    found: list[Entry] = []
    last = START
    check_schema(base)
    if not base.execute("SELECT count(*) FROM sqlite_master WHERE name = 'entries'").fetchone()[0]:
        return found
    for row in base.execute(f"{_ROW} ORDER BY number"):
        if row[5] != last or row[0] != len(found) + 1:
            raise CheckFailed(f"entry {len(found) + 1} of the ledger has been changed; restore it from a backup")
        found.append(_entry(row))
        last = row[6]
    check_format(found[0] if found else None)
    return found


def check_format(first: Entry | None) -> None:
    """See that the ledger begins as this version knows it."""
    if first is not None and (first.kind != CREATED or first.body.get("format") != FORMAT):
        raise CheckFailed("the ledger is of a kind that this version does not know; update Hubbub")


class Page:
    """The entries, each checked when it is read."""

    def __init__(self, base: sqlite3.Connection, marks: Marks) -> None:
        self._base, self._marks = base, marks
        self.last = self._one("ORDER BY number DESC LIMIT 1")

    @property
    def entries(self) -> list[Entry]:
        """All entries, the first one first."""
        return chain(self._base)

    @property
    def first(self) -> Entry | None:
        return self._one("WHERE number = 1")

    def _one(self, where: str, *values: object) -> Entry | None:
        row = self._base.execute(f"{_ROW} {where}", values).fetchone()
        return None if row is None else _entry(row)

    def entries_of_kind(self, dataset: str, *kinds: str) -> Iterator[Entry]:
        """The entries of a dataset of these kinds, the last one first."""
        listed = ", ".join("?" * len(kinds))
        where = f"WHERE dataset = ? AND kind IN ({listed}) ORDER BY number DESC"
        for row in self._base.execute(f"{_ROW} {where}", (dataset, *kinds)):
            yield _entry(row)

    def latest(self, dataset: str, *kinds: str) -> Entry | None:
        """The last entry of a dataset of one of these kinds."""
        found = [self._one("WHERE dataset = ? AND kind = ? ORDER BY number DESC LIMIT 1", dataset, k) for k in kinds]
        return max((entry for entry in found if entry is not None), key=lambda entry: entry.number, default=None)

    def earliest(self, dataset: str, kind: str) -> Entry | None:
        """The first entry of a dataset of this kind."""
        return self._one("WHERE dataset = ? AND kind = ? ORDER BY number LIMIT 1", dataset, kind)

    def datasets_with_mark(self, mark: str) -> list[tuple[str, str]]:
        """The datasets that have a mark, and with which detail."""
        return self._base.execute("SELECT dataset, detail FROM marks WHERE mark = ?", (mark,)).fetchall()

    def entries_numbered(self, numbers: Iterable[int]) -> list[Entry]:
        """The entries with these numbers, in order."""
        found = (self._one("WHERE number = ?", number) for number in sorted(numbers))
        return [entry for entry in found if entry is not None]

    @property
    def moment(self) -> str:
        """When the next entry is: now, and never before the last one, whatever the clock says."""
        return moment("" if self.last is None else self.last.time)

    def add(self, kind: str, dataset: str, body: Mapping[str, Any]) -> Entry:
        """One more entry."""
        last, when = self.last, moment() if kind == CLOCK else self.moment
        number, previous, raw_body = (last.number if last else 0) + 1, last.hash if last else START, canonical(body)
        row = (number, kind, dataset, when, raw_body, previous, seal(number, kind, dataset, when, raw_body, previous))
        self._base.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self.last = Entry(*row)
        self._mark(self.last)
        return self.last

    def _mark(self, entry: Entry) -> None:
        rows = [(mark, entry.dataset, detail) for mark, detail in self._marks(entry)]
        self._base.executemany("INSERT OR IGNORE INTO marks VALUES (?, ?, ?)", rows)

    def rebuild(self) -> None:
        """Make `marks` again from the entries, and leave `totals` to be worked out again."""
        self._base.execute("DELETE FROM marks")
        self._base.execute("DELETE FROM totals")
        for entry in self.entries:
            self._mark(entry)

    def total(self, dataset: str, number: int) -> bytes | None:
        """The running total that was kept with an entry, if it still is."""
        row = self._base.execute("SELECT body FROM totals WHERE dataset = ? AND number = ?", (dataset, number))
        found = row.fetchone()
        return None if found is None else bytes(found[0])

    def numbers_with_total(self, dataset: str) -> list[int]:
        """The entries with which a running total is kept."""
        found = self._base.execute("SELECT number FROM totals WHERE dataset = ? ORDER BY number", (dataset,))
        return [number for (number,) in found]

    def keep_total(self, dataset: str, number: int, total: bytes, *, before: int) -> None:
        """Keep a running total with an entry, and of the older ones that of entry `before`."""
        self._base.execute("DELETE FROM totals WHERE dataset = ? AND number < ?", (dataset, before))
        self._base.execute("INSERT OR REPLACE INTO totals VALUES (?, ?, ?)", (dataset, number, total))
