"""How the cells of a text column are written, as declared: part of the bins, public, and the same for every cell.

::

    salary:0..250000:10000,money        $55,314.00   55,314 EUR   (1,200.50) is negative
    price:[0,10,100,inf),decimal=,      55.314,00    0,5
    hired:month:2013-01..2013-12,date=%m/%d/%Y       03/14/2013
    smoker:boolean                      TRUE true T yes y 1 and FALSE false F no n 0

What is not said is read as a number like 55314.00 or 1e3, and as a date like 2013-03-14.
"""

from __future__ import annotations

import re
from typing import Final

from hubbub.errors import WrongUse

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
