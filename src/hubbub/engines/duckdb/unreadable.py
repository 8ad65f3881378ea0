"""Rows that cannot be read as declared, and records of a CSV that a reading left out: of how many people they may be.

Where a column says who is who, people are counted and not rows, so that one person counts once however many rows of
theirs cannot be read. A record of a CSV that was left out is looked up in the file for its person. One that names
nobody is a person of its own where each has one row, as was declared, and else nobody's, like a row without a person.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from fractions import Fraction
from typing import Final

import duckdb

from hubbub.engines.column import Column
from hubbub.engines.duckdb.connection import TROUBLE
from hubbub.engines.duckdb.people_sql import Ask, people_among
from hubbub.runtime.frozen import dataclass
from hubbub.tables.unlisted import TooManyUnreadable

MOST_REJECTS: Final = 1_000_000  # that are listed; whoever has more has too many


_WHY: Final = (
    "SELECT CAST(error_type AS VARCHAR), count(DISTINCT (scan_id, file_id, line)) FROM reject_errors "
    "GROUP BY 1 ORDER BY 2 DESC"
)
_HOW_MANY: Final = "SELECT count(*), count(DISTINCT (scan_id, file_id, line)) FROM reject_errors"
_WHERE: Final = (
    "SELECT DISTINCT file_path, line_byte_position FROM reject_errors JOIN reject_scans USING (scan_id, file_id) "
    "ORDER BY ALL"
)
_FIRST: Final = 1 << 16  # bytes of a record in which its person is looked for


def check_share(allowed: Fraction, people: int, bad: int) -> None:
    """Refuse if more than this share of people are bad, and more than one: nobody stops a release alone."""
    if allowed < 1 and bad > 1 and bad > allowed * people:
        raise TooManyUnreadable


@dataclass(frozen=True, slots=True)
class Lost:
    """Records of a CSV that a reading left out: how many, and of whom those are that say it."""

    records: int = 0
    ids: frozenset[str] = frozenset()
    nobodys: int = 0
    too_many: bool = False  # more than are listed


@dataclass(frozen=True, slots=True)
class UnreadableRows:
    """What the readings by one connection left out."""

    connection: duckdb.DuckDBPyConnection
    allowed: Fraction  # the share of people who may have a row that is unreadable
    taken_out: int | None  # records that were too long for DuckDB; None if this is no CSV
    mark: str = ","  # what separates the cells of a CSV
    columns: tuple[str, ...] = ()

    def is_counted(self, bad: str) -> bool:
        """Whether a reading has to tell how many rows are `bad`."""
        return self.allowed < 1 and (self.taken_out is not None or bad != "FALSE")

    def check(self, rows: int, unreadable: int, person: str | None) -> None:
        """Refuse if too many of these rows are unreadable, beside the records that were left out: each row is another
        person, and `person` the column that says who."""
        lost = self._find_lost(person)
        gone = len(lost.ids) + lost.nobodys
        self._check(rows + gone, unreadable + gone, lost)

    def check_people(self, query: Ask, unreadable: int, bad: str, who: Column, people: str) -> None:
        """The same where a person may have several rows, of which so many are `bad`. Most tables have none, and are not
        read again."""
        lost = self._find_lost(who.name)
        if self.allowed < 1 and (unreadable + lost.records > 1 or lost.too_many):
            sql, values = people_among(who, bad, people, sorted(lost.ids))
            everybody, wrong = query(sql, *values)[0]
            self._check(int(everybody), int(wrong), lost)

    def _check(self, people: int, bad: int, lost: Lost) -> None:
        if self.allowed < 1 and lost.too_many:
            raise TooManyUnreadable
        check_share(self.allowed, people, bad)

    def forget(self) -> None:
        """Reset the records before a reading."""
        if self.taken_out is not None:
            with suppress(*TROUBLE):
                self.connection.execute("DELETE FROM reject_errors")

    def why(self) -> list[tuple[str, int]]:
        """How many records were left out, by reason."""
        rejected: list[tuple[str, int]] = []
        with suppress(*TROUBLE):
            rejected = self.connection.execute(_WHY).fetchall()
        return [*rejected, ("LINE SIZE OVER MAXIMUM", self.taken_out)] if self.taken_out else rejected

    def _find_lost(self, person: str | None) -> Lost:
        """The records that the last reading left out, with their persons."""
        if self.taken_out is None:
            return Lost()
        listed = lines = 0
        with suppress(*TROUBLE):  # there is no such table before the first reading
            listed, lines = self.connection.execute(_HOW_MANY).fetchall()[0]
        records, too_many = self.taken_out + lines, listed >= MOST_REJECTS
        if person is None or records <= 1 or too_many:
            return Lost(records, frozenset(), records, too_many)
        cell = self.columns.index(person)
        named = [_cell(path, line, cell, self.mark) for path, line in self.connection.execute(_WHERE).fetchall()]
        return Lost(
            records, frozenset(each for each in named if each), self.taken_out + sum(not each for each in named)
        )


def _cell(path: str, line: int, number: int, mark: str) -> str | None:
    """A cell of the record that begins there (1 is the first byte); None if it has none, or none that can be seen."""
    try:
        with open(path, "rb") as file:
            file.seek(line - 1)
            text = file.read(_FIRST).decode("utf-8", "surrogateescape").lstrip("\r\n")
        cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), [])
    except (OSError, csv.Error):
        return None
    return cells[number].encode("utf-8", "backslashreplace").decode() if number < len(cells) else None
