"""Tables whose every release is about people of its own, for tests of the numbers and not of the ledger."""

from __future__ import annotations

from itertools import count
from typing import Any

from hubbub.ledger.book import Ledger, default_path
from hubbub.release import Release, Table
from hubbub.release import open as open_table

_numbers = count(1)


class FreshTable(Table):
    """A table that takes a new name in the ledger for each release."""

    def histogram(self, by: list[str], **words: Any) -> Release:
        number = next(_numbers)
        self.dataset, self.origin = f"people-{number}", ""
        self.ledger = Ledger(default_path().with_name(f"ledger-{number // 100}.db"))  # short ones are quick to check
        return super().histogram(by, **words)


def open(source: object, **words: Any) -> FreshTable:
    """As :func:`hubbub.open`."""
    table = open_table(source, **words)
    return FreshTable(table.engine, table.person)
