"""Tables for tests of the numbers and not of the ledger: every release is about people of its own."""

from __future__ import annotations

from itertools import count
from typing import Any

from hubbub.certificate import certificate, release_of
from hubbub.noise.source import SystemSource
from hubbub.release import Release, Table, run
from hubbub.release import open as open_table
from hubbub.tables.histogram import Unit, histogram

_numbers = count(1)

DIGEST = "0" * 64
ENTRY = {"id": "1" * 32, "dataset": "town", "hash": "2" * 64, "nonce": "3" * 32}


class FreshTable(Table):
    """A table whose releases are entered nowhere, and so cannot be saved."""

    def histogram(
        self, by: list[str], *, one_row_per_person: bool = False, distinct: int | None = None, **words: Any
    ) -> Release:
        unit = Unit(person=self.person, one_row_per_person=one_row_per_person, distinct=distinct)
        return run(self.engine, histogram(by, unit=unit, **words), SystemSource())


class EnteredTable(Table):
    """A table that takes a new name in the ledger for each release."""

    def histogram(self, by: list[str], **words: Any) -> Release:
        self.dataset = f"people-{next(_numbers)}"
        return super().histogram(by, **words)


def open(source: object, **words: Any) -> FreshTable:
    """As :func:`hubbub.open`, for releases that are looked at."""
    table = open_table(source, **words)
    return FreshTable(table.engine, table.person)


def enter(source: object, **words: Any) -> EnteredTable:
    """As :func:`hubbub.open`, for releases that are saved."""
    table = open_table(source, **words)
    return EnteredTable(table.engine, table.person)


def certificate_of(release: Release) -> dict[str, Any]:
    """The certificate of a release as if it had been written to a file and entered in a ledger, unsigned."""
    return certificate(release.spec, release.axes, release.promises, release_of("release.csv", DIGEST), ENTRY)
