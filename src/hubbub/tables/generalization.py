"""Public functions that make a value coarser: a range around a number, the first signs of a text, a label that a
hierarchy has for it.

::

    age:10              [30,40) for 37: whole numbers, in ranges of that width around 0
    zip/3               902 for 90210: the first signs
    diagnosis@icd.csv/1 what the file has for it at level 1 (see :mod:`hubbub.tables.hierarchy`)

They are written down before any data is seen, and look at one value alone: that is what makes a crowd of equal values a
crowd. Whatever else can be said of a column (:mod:`hubbub.tables.bins`) can be said beside them.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Assumption
from hubbub.runtime.frozen import dataclass
from hubbub.tables.hierarchy import Hierarchy

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

    >>> split('age:10, zip/3 ,"last, first",pay:[0,10,inf)')
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
