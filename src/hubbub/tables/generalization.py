"""Public functions that make a value coarser: a range around a number, the first signs of a text, a label that a
hierarchy has for it.

::

    age:10              [30,40) for 37: whole numbers, in ranges of that width around 0
    zip/3               902 for 90210: the first signs
    diagnosis@icd.csv/1 what the file has for it at level 1 (see :mod:`hubbub.tables.generalization`)

They are written down before any data is seen, and look at one value alone: that is what makes a crowd of equal values a
crowd. Whatever else can be said of a column (:mod:`hubbub.tables.bins`) can be said beside them.

A hierarchy: for each value of a column, what stands for it, coarser level by level. A value with a text form.

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
import re
from typing import Final, Self, TypeAlias

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Assumption
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


WIDEST: Final = 10**30  # a number beyond this has no range
REST: Final = "*"  # what stands for a value that a hierarchy does not list


@dataclass(frozen=True, slots=True)
class Unchanged:
    """A value as it is, where its type would declare which there are."""

    def rule(self, column: str) -> Assumption:
        sentence = "{column}: every value of {column} that occurs is a bin, and so is a missing value"
        return Assumption("bins.found", sentence, (("column", column),))


@dataclass(frozen=True, slots=True)
class Ranges:
    """[a,b) around a number, a and b the multiples of the width next to it."""

    width: int

    def __post_init__(self) -> None:
        if not 0 < self.width <= WIDEST:
            raise WrongUse("the width of a range must be a whole number from 1 to 10^30; choose one like 10")

    def rule(self, column: str) -> Assumption:
        sentence = (
            "{column}: a number is told as the range of width {width} that it lies in, from a multiple of it; what is "
            "no number is missing, and so is a bin"
        )
        return Assumption("bins.ranges", sentence, (("column", column), ("width", str(self.width))))


@dataclass(frozen=True, slots=True)
class Prefix:
    """The first signs of a text; a shorter one stays as it is."""

    length: int

    def __post_init__(self) -> None:
        if not 0 < self.length <= 10_000:
            raise WrongUse("how many signs are kept must be a whole number from 1 to 10,000; choose one like 3")

    def rule(self, column: str) -> Assumption:
        sentence = "{column}: of each value the first {length} signs are told; a missing value is a bin"
        return Assumption("bins.prefix", sentence, (("column", column), ("length", str(self.length))))


@dataclass(frozen=True, slots=True)
class Grouped:
    """The label that a hierarchy of one level has for a value."""

    by: Hierarchy

    def __post_init__(self) -> None:
        if self.by.levels != 1:
            raise WrongUse("values are published at one level of a hierarchy; name it, like diagnosis@icd.csv/1")

    def rule(self, column: str) -> Assumption:
        sentence = (
            "{column}: a value is told by its label in a public hierarchy ({digest}), one that is not listed there as "
            f"{REST}; a missing value is a bin"
        )
        return Assumption("bins.hierarchy", sentence, (("column", column), ("digest", self.by.digest)))


Coarser: TypeAlias = Unchanged | Ranges | Prefix | Grouped


def split_list(text: str) -> list[str]:
    """The parts of ``age:10,zip/3,city=Bath``: at commas that stand in no double quotes and no brackets.

    >>> split_list('age:10, zip/3 ,"last, first",pay:[0,10,inf)')
    ['age:10', 'zip/3', '"last, first"', 'pay:[0,10,inf)']
    """
    parts = re.findall(r'(?:"(?:[^"]|"")*"|\[[^\])]*[\])]|[^,"\[]|["\[])+', text)
    return [part.strip() for part in parts]


def parse_generalization(spec: str) -> tuple[str, Coarser] | None:
    """(column, function) if a SPEC says one of these functions; None if it says something else."""
    match = re.fullmatch(r'("(?:[^"]|"")*"|[^=:@/"]+)(:|/|@)(.*)', spec.strip(), re.DOTALL)
    if match is None:
        return None
    column, sign, rest = match[1].strip(), match[2], match[3].strip()
    column = column[1:-1].replace('""', '"') if column.startswith('"') else column
    if sign == "@":
        path, slash, level = rest.rpartition("/")
        if not slash or not re.fullmatch(r"\d{1,3}", level, re.ASCII):
            raise WrongUse(f"a level of a hierarchy is named after its file, like {column}@icd.csv/1; add the level")
        return column, Grouped(Hierarchy.read(path, column).at(int(level), column))
    if not re.fullmatch(r"\d{1,31}", rest, re.ASCII):
        if sign == "/":
            raise WrongUse(f"how many first signs of {column} are kept is a whole number, like {column}/3; write it so")
        return None
    return column, Ranges(int(rest)) if sign == ":" else Prefix(int(rest))
