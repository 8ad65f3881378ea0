"""A hierarchy: for each value of a column, what stands for it, coarser level by level. A value with a text form.

::

    C50;breast;cancer
    C61;prostate;cancer
    J45;asthma;lung

A line for each value: the value itself (level 0), then its labels, separated by semicolons; a cell with a semicolon, a
quote or a line break in it stands in double quotes. The hierarchies of ARX are written so and are read as they are.
"""

from __future__ import annotations

import csv
import hashlib
import io
from typing import Final, Self

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular

_MOST_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Rows of a value and its labels, all with as many levels; no value has two rows."""

    rows: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        if not self.rows or len({len(row) for row in self.rows}) != 1 or self.levels < 1:
            raise WrongUse(
                "a hierarchy has a line for each value, the value and its labels separated by semicolons, as many on "
                "each line; write it so"
            )
        if len({row[0] for row in self.rows}) != len(self.rows):
            raise WrongUse("a hierarchy says of each value once what stands for it, and one value is there twice")

    @property
    def levels(self) -> int:
        """How many labels each value has."""
        return len(self.rows[0]) - 1

    @property
    def digest(self) -> str:
        """Its fingerprint: of its text form."""
        return f"SHA-256 {hashlib.sha256(str(self).encode()).hexdigest()}"

    def at(self, level: int, column: str) -> Self:
        """The values with their labels at one level alone."""
        if not 1 <= level <= self.levels:
            raise WrongUse(f"the hierarchy of {column} has levels 1 to {self.levels}, not {level}; name one of them")
        return type(self)(tuple((row[0], row[level]) for row in self.rows))

    def __str__(self) -> str:
        """The text form, which :meth:`from_text` reads."""
        return "".join(f"{';'.join(map(_quote, row))}\n" for row in self.rows)

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The hierarchy that a text says; blank lines say nothing.

        >>> Hierarchy.from_text("C50;breast;cancer").at(2, "diagnosis").rows
        (('C50', 'cancer'),)
        """
        try:
            rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True) if row]
        except csv.Error:
            rows = []
        return cls(tuple(map(tuple, rows)))

    @classmethod
    def read(cls, path: str, column: str) -> Self:
        """The hierarchy in a file, in UTF-8."""
        try:
            with open_regular(path) as file:
                raw = file.read(_MOST_BYTES + 1)
            text = raw.decode("utf-8-sig")
        except (OSError, ValueError):
            raise WrongUse(f"the hierarchy of {column} cannot be read from {path[:200]!r} as UTF-8; check it") from None
        if len(raw) > _MOST_BYTES or "\0" in text:
            raise WrongUse(f"a hierarchy of {column} is a text of up to 16 MiB; write it so")
        return cls.from_text(text)


def _quote(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(sign in cell for sign in ';"\r\n') else cell
