"""How the cells of a text column are written, as declared: part of the bins, public, and the same for every cell.

::

    salary:0..250000:10000,money        $55,314.00   55,314 EUR   (1,200.50) is negative
    price:[0,10,100,inf),decimal=,      55.314,00    0,5
    hired:month:2013-01..2013-12,date=%m/%d/%Y       03/14/2013
    smoker:boolean                      TRUE true T yes y 1 and FALSE false F no n 0

What is not said is read as a number like 55314.00 or 1e3, and as a date like 2013-03-14.

How a missing cell is spelled is declared for the table, or for one column of it::

    missing=NA,?,k.A.                   cells that read so are missing, in every column
    missing=income=-99                  the same in one column
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, Self

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

MONEY: Final = "money"
COMMA: Final = "decimal=,"
DATE: Final = "date="
BOOLEAN: Final = "boolean"
NUMBERS: Final = (MONEY, COMMA, f"{MONEY},{COMMA}")
"""How numbers may be written, as it stands in certificates."""

TRUE: Final = ("true", "t", "yes", "y", "1")
FALSE: Final = ("false", "f", "no", "n", "0")

_LONGEST: Final = 60  # signs of a pattern
_PARTS: Final = "dmYybBHIpMSfjaA"
_MOST_SPELLINGS: Final = 100
_SPELLING: Final = r'"(?:[^"]|"")*"|[^",=]+'
_SPELLED: Final = re.compile(rf"(?:({_SPELLING})=)?((?:{_SPELLING})(?:,(?:{_SPELLING}))*)", re.DOTALL)


def numbers(words: list[str], column: str) -> str:
    """The way numbers are written that these words say."""
    known = {"money": MONEY, "decimal=,": COMMA, "decimal=comma": COMMA, "decimal=.": "", "decimal=point": ""}
    for word in words:
        if word not in known:
            raise WrongUse(f"numbers of {column} are read as money or with decimal=, and not as {word[:20]!r}")
    signs = {known[word] for word in words} - {""}
    return ",".join(each for each in (MONEY, COMMA) if each in signs)


def dates(pattern: str, column: str) -> str:
    """The way dates are written that this pattern says, checked."""
    wrong = problem(f"{DATE}{pattern}")
    if wrong:
        raise WrongUse(f"the pattern for dates of {column} {wrong}; write one like date=%m/%d/%Y")
    return f"{DATE}{pattern}"


def problem(reads: str) -> str | None:
    """What is wrong with a way of reading, in words; None if nothing is."""
    if reads in ("", BOOLEAN, *NUMBERS):
        return None
    pattern = reads.removeprefix(DATE)
    if pattern == reads:
        return "is none that is known"
    parts = re.findall(r"%(-?.|$)", pattern)
    if len(pattern) > _LONGEST or not pattern.isprintable():
        return f"must be at most {_LONGEST} signs that show"
    if any(part.lstrip("-") not in _PARTS or not part.lstrip("-") for part in parts):
        return f"may have {' '.join(f'%{part}' for part in _PARTS)} in it, and nothing else after a %"
    names = {part.lstrip("-") for part in parts}
    complete_date = names & {"Y", "y"} and ("j" in names or names & {"m", "b", "B"})
    if not complete_date or len(names) < len(parts):
        return "must say the year and the month, each once"
    return None


@dataclass(frozen=True, slots=True)
class Missing:
    """Cells that count as missing, by how they are spelled: (column, spellings), the column None for all columns.

    A text counts by its signs, without blanks at its ends; a number or a date of a typed column by its value. The rule
    looks at one cell alone.
    """

    declared: tuple[tuple[str | None, tuple[str, ...]], ...] = ()

    @classmethod
    def parse(cls, given: object) -> Self:
        """What is said in ``NA,?,k.A.``, or ``income=-99`` for one column, or in several of these."""
        listed = [given] if isinstance(given, str) else given
        if not isinstance(listed, Sequence) or not all(isinstance(each, str) for each in listed):
            raise WrongUse(f"{_MISSING}; write it so")
        found = dict.fromkeys(_parse_spellings(each) for each in listed)
        if sum(len(spellings) for _, spellings in found) > _MOST_SPELLINGS:
            raise WrongUse(f"at most {_MOST_SPELLINGS} spellings of a missing cell are declared; leave some out")
        return cls(tuple(found))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are named."""
        return tuple(dict.fromkeys(column for column, _ in self.declared if column is not None))

    def of_column(self, name: str) -> tuple[str, ...]:
        """How a missing cell of a column is spelled."""
        return tuple(
            dict.fromkeys(each for column, listed in self.declared if column in (None, name) for each in listed)
        )

    def to_json(self) -> list[str]:
        """As it is written down; :meth:`parse` reads it back."""
        return [
            f"{'' if column is None else f'{_quote(column)}='}{','.join(map(_quote, listed))}"
            for column, listed in self.declared
        ]

    def __str__(self) -> str:
        return "; ".join(
            f"{', '.join(map(_quote, listed))} {'in every column' if column is None else f'in {column}'}"
            for column, listed in self.declared
        )


_MISSING: Final = "spellings of a missing cell are listed like `missing=NA,?`, or for one column `missing=income=-99`"


def _parse_spellings(text: str) -> tuple[str | None, tuple[str, ...]]:
    match = _SPELLED.fullmatch(text.strip())
    if match is None or not text.isprintable():
        raise WrongUse(f'{_MISSING}, with "" around one that has a comma or = in it; write it so')
    column = None if match[1] is None else _unquote(match[1])
    listed = tuple(dict.fromkeys(_unquote(each) for each in re.findall(_SPELLING, match[2])))
    if column == "" or any(len(each) > _LONGEST for each in listed):
        raise WrongUse(f"{_MISSING}, each of at most {_LONGEST} signs; check it")
    return column, listed


def _unquote(text: str) -> str:
    text = text.strip()
    return (text[1:-1].replace('""', '"') if text[:1] == '"' else text).strip()


def _quote(text: str) -> str:
    plain = re.fullmatch('[^",=]+', text) and text.strip() == text
    return text if plain else '"' + text.replace('"', '""') + '"'
