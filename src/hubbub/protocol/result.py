"""What comes out of a release: sheets of rows, public facts, a drawing. No count and no row of the data."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Final, Protocol, TypeAlias

import pyarrow as pa

from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.protocol.drawing import Drawing

Read: TypeAlias = Callable[[str, pa.Schema], pa.Table]
"""The published rows of a sheet by its name, read under its schema."""
Judge: TypeAlias = Callable[[Read], str | None]
NOT_USABLE: Final = "not usable"
"""The status of a number of which nothing is known though it is not hidden: anything that was declared possible is in its
interval, or there may be nobody that it is about. The same word in files, tables and charts."""
BELOW_ZERO: Final = "Noise can push a number below 0"
"""How the note begins that says how such a number is read."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Rows that are published together, in a file of that name: keys first, then numbers. Batches come afresh."""

    name: str
    schema: pa.Schema
    batches: Callable[[], Iterator[pa.RecordBatch]]
    rows: int
    tolerance: Mapping[str, Fraction] = field(default_factory=dict)
    """By column: how far a number may be from the one that is worked out elsewhere, where machines round sums of floats
    differently. All others are compared exactly."""
    judge: Judge | None = None
    """Of rows that a solver found, and that another solver would find a little otherwise: what is wrong with the published
    ones, labels and all, in words; None if nothing is. They are then not compared with these rows."""


@dataclass(frozen=True, slots=True)
class DisplayTable:
    """Rows for somebody to read: keys (None: missing) and numbers as texts, pale where nothing is shown."""

    keys: tuple[str, ...]  # headings
    numbers: tuple[str, ...]  # headings
    rows: tuple[tuple[tuple[str | None, ...], tuple[str, ...], bool], ...]  # keys, numbers, pale
    notes: tuple[str, ...] = ()
    ranges: tuple[bool, ...] = ()  # which keys are ranges of numbers, written [a,b)
    total: int | None = None  # how many rows there are, if not as many as the release has
    folded: bool = False  # whether nobody reads rows one by one, so that none is in sight
    for_files: tuple[str, ...] = ()  # headings of numbers for experts, which a page for everybody leaves to the file

    @property
    def cautions(self) -> tuple[str, ...]:
        """The notes that keep a reader from taking some rows of a person for all of them."""
        return tuple(note for note in self.notes if note.startswith("Whoever has "))

    def without_repetition(self) -> DisplayTable:
        """Without a column of estimates that says in every row what the column before it says."""
        at = next((i for i, name in enumerate(self.numbers) if i and name == "estimate"), None)
        if at is None or any(numbers[at] != numbers[at - 1] for _, numbers, _ in self.rows):
            return self
        rows = tuple((keys, (*numbers[:at], *numbers[at + 1 :]), pale) for keys, numbers, pale in self.rows)
        return replace(self, numbers=(*self.numbers[:at], *self.numbers[at + 1 :]), rows=rows)

    def __str__(self) -> str:
        lines = [(*self.keys, *self.numbers), *((*_labels(keys), *numbers) for keys, numbers, _ in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        flush = [str.ljust] * len(self.keys) + [str.rjust] * len(self.numbers)
        return "\n".join(
            "  ".join(put(cell, wide) for put, cell, wide in zip(flush, line, widths, strict=True)).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in (*self.keys, *self.numbers))
        body = "".join(
            f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in (*_labels(keys), *numbers))}</tr>"
            for keys, numbers, _ in self.rows
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def _labels(keys: Sequence[str | None]) -> list[str]:
    return ["(missing)" if key is None else key if key.isprintable() else repr(key)[1:-1] for key in keys]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A release beside what else was to be had, from public numbers alone: to read, and for JSON."""

    grid: DisplayTable
    rows: tuple[Mapping[str, Any], ...]


Write: TypeAlias = Callable[[Sheet, IO[bytes]], None]
"""How a sheet becomes the bytes of a file."""


class Result(Protocol):
    """What readers see of a release: a function of its measurement, and so of nothing else of the data."""

    def sheets(self) -> tuple[Sheet, ...]:
        """What the files hold; the first is the release itself."""
        ...

    def facts(self) -> Mapping[str, Any]:
        """Public facts about it, for JSON."""
        return {}

    def sentences(self) -> tuple[str, ...]:
        """What has to be said beside the rows, such as how many are hidden."""
        return ()

    def display(self, first: int) -> DisplayTable:
        """The first rows to read: texts are keys, all else is numbers."""
        sheet = self.sheets()[0]
        texts = [name for name in sheet.schema.names if _is_text(sheet.schema.field(name).type)]
        rest = [name for name in sheet.schema.names if name not in texts]
        rows = islice((row for batch in sheet.batches() for row in batch.slice(0, first).to_pylist()), first)
        lines = tuple(
            (
                tuple(row[name] for name in texts),
                tuple("" if row[name] is None else f"{row[name]}" for name in rest),
                False,
            )
            for row in rows
        )
        return DisplayTable(tuple(texts), tuple(rest), lines)

    def disjoint_counts(self) -> str | None:
        """The column of the first sheet that counts each person (or kept row) in one row at most, so that its numbers
        add up; None where there is none. Numbers of other things, or of people met twice, are never added up."""
        return None

    def exactness(self) -> tuple[str, ...]:
        """How exact it is, in sentences; none where its intervals say so."""
        return ()

    def unlike_rows(self) -> bool:
        """Whether its rows are numbers of different things, which nobody compares with one another."""
        return False

    def drawing(self) -> Drawing | None:
        """A picture of it, as a value; None if there is nothing to see."""
        return None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))
