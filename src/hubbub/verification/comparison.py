"""Whether a published file is the sheet that follows from its own integers, cell by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.errors import CheckFailed
from hubbub.serialization.published_files import Files, read_batches

if TYPE_CHECKING:
    from hubbub.protocol.result import Sheet

_MANY: Final = 1 << 13  # labels; to compare fewer, Arrow's functions are not worth loading


def difference(sheet: Sheet, file: Path, form: str, beside: Mapping[str, Path] | None = None) -> str | None:
    """What in the file is not as the sheet has it, in words; None if nothing is. The other files of the release are
    `beside`, in the folder of this one if nothing else is said.

    Guarantee: if None, the file has the columns and the rows of the sheet, every label and whole number is the
    same, and every other number is within its tolerance; or, of a sheet that judges its own file, it has no objection.
    """
    try:
        if sheet.judge is not None:
            others = {path.stem: path for path in file.parent.glob(f"*.{form}")} if beside is None else dict(beside)
            files = Files(form, others | {sheet.name: file})
            return sheet.judge(lambda name, schema: files.table(name, schema))
        theirs = _Rows(read_batches(file, form, sheet.schema))
        for batch in (each for each in sheet.batches() if each.num_rows):
            found = theirs.next(batch.num_rows)
            if found is None:
                return "it has fewer rows than follow from its numbers"
            for name in sheet.schema.names:
                slack = sheet.tolerance.get(name, Fraction(0))
                if not _same(found.column(name), batch.column(name), slack):
                    return f"its column {name[:40]} does not follow from what was drawn"
        return "it has more rows than follow from its numbers" if theirs.more() else None
    except CheckFailed as error:
        return str(error)


class _Rows:
    """Batches of any size, as so many rows at a time as are wanted."""

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self._batches = batches
        self._rest: list[pa.RecordBatch] = []

    def next(self, rows: int) -> pa.Table | None:
        """The next rows, at least one; None if there are not so many left."""
        while sum(batch.num_rows for batch in self._rest) < rows:
            batch = next(self._batches, None)
            if batch is None:
                return None
            self._rest.append(batch)
        table = pa.Table.from_batches(self._rest)
        self._rest = table.slice(rows).to_batches()
        return table.slice(0, rows)

    def more(self) -> bool:
        """Whether some are left."""
        return any(batch.num_rows for batch in (*self._rest, *self._batches))


def _same(theirs: pa.ChunkedArray, ours: pa.Array, slack: Fraction) -> bool:
    if not len(ours):
        return True
    kind = ours.type
    if pa.types.is_dictionary(kind) or pa.types.is_string(kind):
        if len(ours) > _MANY and theirs.combine_chunks().equals(_decoded(ours)):
            return True
        return bool(theirs.to_pylist() == ours.to_pylist())
    found = theirs.combine_chunks()
    near = zip(found.to_pylist(), ours.to_pylist(), strict=True) if slack else ()
    return bool(found.equals(ours)) or (bool(slack) and all(_near(mine, right, slack) for mine, right in near))


def _decoded(labels: pa.Array) -> pa.Array:
    return labels.dictionary.take(labels.indices) if pa.types.is_dictionary(labels.type) else labels


def _near(found: Any, right: Any, slack: Fraction) -> bool:
    if found is None or right is None:
        return found is right
    if not (isfinite(found) and isfinite(right)):
        return bool(found == right)
    return abs(Fraction(found) - Fraction(right)) <= slack
