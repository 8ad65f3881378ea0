"""What the published numbers add up to, and the share of each: from the release alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hubbub.kind import Release

_COUNT: Final = "count"
_MOST: Final = 100_000  # rows that are added up


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of the numbers that are shown, and the first of them (None: hidden)."""

    total: int
    first: tuple[int | None, ...]

    def share(self, row: int) -> str:
        """Of the total, in percent; nothing for what is hidden."""
        value = self.first[row]
        return "" if value is None else f"{100 * value / self.total:.1f} %"


def total(release: Release, first: int) -> Total | None:
    """None where nothing is counted, there are very many rows, or what is shown does not add up to anybody."""
    sheet = release.sheet
    if _COUNT not in sheet.schema.names or sheet.rows > _MOST:
        return None
    counts = [value for batch in sheet.batches() for value in batch.column(_COUNT).to_pylist()]
    found = Total(sum(value for value in counts if value is not None), tuple(counts[:first]))
    return found if found.total > 0 else None
