"""What the published numbers add up to, and the share of each: from the release alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hubbub.protocol.release import Release

_MOST: Final = 100_000  # rows that are added up


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of the numbers that are shown, and the first of them (None: hidden)."""

    total: int
    first: tuple[int | None, ...]

    def share(self, row: int) -> str:
        """Of the total, in percent, at least 0; nothing for what is hidden."""
        value = self.first[row]
        return "" if value is None else f"{max(100 * value / self.total, 0):.1f} %"


def total(release: Release, first: int) -> Total | None:
    """None where the rows count no disjoint people, there are very many, or what is shown adds up to nobody."""
    sheet, column = release.sheet, release.result.disjoint_counts()
    if column is None or sheet.rows > _MOST:
        return None
    counts = [value for batch in sheet.batches() for value in batch.column(column).to_pylist()]
    found = Total(sum(value for value in counts if value is not None), tuple(counts[:first]))
    return found if found.total > 0 else None
