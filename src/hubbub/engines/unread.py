"""Rows that cannot be read as declared, and records of a CSV that a reading left out: how many there may be."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import duckdb

from hubbub.engines.connection import TROUBLE
from hubbub.engines.csv_file import MOST_REJECTS
from hubbub.errors import Refused

TOO_MANY_UNREADABLE: Final = (
    "more rows than `unreadable` allows cannot be read as declared; see which and why with hubbub check, then say how "
    "they are written (`encoding`, `delimiter`, or money, decimal=, or date= in the bins), or allow a larger share"
)
"""Reads the same for every such table and every share. For the steward alone: it tells something about the data."""

_WHY: Final = (
    "SELECT CAST(error_type AS VARCHAR), count(DISTINCT (scan_id, file_id, line)) FROM reject_errors "
    "GROUP BY 1 ORDER BY 2 DESC"
)
_HOW_MANY: Final = "SELECT count(*), count(DISTINCT (scan_id, file_id, line)) FROM reject_errors"


@dataclass(frozen=True, slots=True)
class Unread:
    """What the readings by one connection left out."""

    connection: duckdb.DuckDBPyConnection
    allowed: Fraction  # the share of rows that may be unreadable
    taken_out: int | None  # records that were too long for DuckDB; None if this is no CSV

    def told(self, bad: str) -> bool:
        """Whether a reading has to tell how many rows are `bad`."""
        return self.allowed < 1 and (self.taken_out is not None or bad != "FALSE")

    def check(self, rows: int, unreadable: int) -> None:
        """Refuse if too many rows cannot be read. One alone never is: nobody stops a release by a row of their own."""
        lost = self._left_out()
        bad = unreadable + lost
        if self.allowed < 1 and bad > 1 and (bad > self.allowed * (rows + lost) or lost >= MOST_REJECTS):
            raise Refused(TOO_MANY_UNREADABLE)

    def forget(self) -> None:
        """Begin anew, before a reading."""
        if self.taken_out is not None:
            with suppress(*TROUBLE):
                self.connection.execute("DELETE FROM reject_errors")

    def why(self) -> list[tuple[str, int]]:
        """Why how many records are not there."""
        rejected: list[tuple[str, int]] = []
        with suppress(*TROUBLE):
            rejected = self.connection.execute(_WHY).fetchall()
        return [*rejected, ("LINE SIZE OVER MAXIMUM", self.taken_out)] if self.taken_out else rejected

    def _left_out(self) -> int:
        """Records of a CSV that the last reading left out."""
        if self.taken_out is None:
            return 0
        try:
            found = self.connection.execute(_HOW_MANY).fetchall()
        except TROUBLE:  # there is no such table before the first reading
            return self.taken_out
        listed, lines = found[0]
        return self.taken_out + (MOST_REJECTS if listed >= MOST_REJECTS else lines)
