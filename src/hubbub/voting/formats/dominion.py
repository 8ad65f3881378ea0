"""Dominion's CSV exports: four lines of heading, then a column for each candidate at each rank, 1 where it was marked.

::

    2024 General,5.19.16.2,...
    ,,...,"Mayor (RCV) (Number of positions=1, Number of ranks=3)",...
    ,,...,ANN(1),BOB(1),ANN(2),BOB(2),...
    CvrNumber,TabulatorNum,...
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.formats.csv_columns import Columns, chosen_contest

_LAST: Final = "cvrnumber"  # the first cell of the last line of the heading
_SIZES: Final = re.compile(r"\s*\(Number of positions=(\d{1,4}), Number of ranks=(\d{1,4})\)\s*$", re.IGNORECASE)
_RANKED: Final = re.compile(r"(.*)\((\d{1,4})\)\s*", re.DOTALL)


def heading(rows: Sequence[Sequence[str]]) -> int | None:
    """How many rows the heading has, if this is such a file."""
    for i, row in enumerate(rows[:6]):
        if i >= 2 and row and row[0].strip().casefold() == _LAST:
            return i + 1
    return None


def find_columns(rows: Sequence[Sequence[str]], contest: str | None) -> tuple[Columns, str, int]:
    """The columns of the one ranked contest, or of the one asked for; its name; its number of seats."""
    contests, names = rows[-3], rows[-2]
    marks: dict[str, list[tuple[int, str, int]]] = {}
    seats: dict[str, int] = {}
    for i, (about, name) in enumerate(zip(contests, names, strict=False)):
        sizes, ranked = _SIZES.search(about), _RANKED.fullmatch(name.strip())
        if not about.strip() or sizes is None or ranked is None:
            continue
        title = about[: sizes.start()].strip()
        marks.setdefault(title, []).append((i, ranked[1].strip(), int(ranked[2])))
        seats[title] = int(sizes[1])
    if not marks:
        raise WrongUse(
            f"line {len(rows)}: the heading is Dominion's, and no contest in it is ranked; ask for the ranked ones"
        )
    chosen = chosen_contest(list(marks), contest, rows[-1])
    return Columns(marks=tuple(marks[chosen])), chosen, seats[chosen]
