"""The headings of vendors' CSV exports, in which a column stands for each candidate at each rank, 1 where it was marked.

::

    Dominion       2024 General,5.19.16.2,...
                   ,,...,"Mayor (RCV) (Number of positions=1, Number of ranks=3)",...
                   ,,...,ANN(1),BOB(1),ANN(2),BOB(2),...
                   CvrNumber,TabulatorNum,...
    Clear Ballot   RowNumber,...,Remade,Choice_1_1:Mayor:1:Vote For 1:Ann Lee:Independent,...

The parts of Clear Ballot's are the contest, the rank, how many are elected (``Vote For 1`` or ``Number of Winners 1``),
the candidate and the party.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from hubbub.errors import WrongUse
from hubbub.voting.formats.csv_columns import Columns, chosen_contest

_LAST: Final = "cvrnumber"  # the first cell of the last line of Dominion's heading
_SIZES: Final = re.compile(r"\s*\(Number of positions=(\d{1,4}), Number of ranks=(\d{1,4})\)\s*$", re.IGNORECASE)
_RANKED: Final = re.compile(r"(.*)\((\d{1,4})\)\s*", re.DOTALL)
_CHOICE: Final = re.compile(
    r"Choice_\d+_\d+:(.+):(\d{1,4}):(?:Vote For|Number of Winners) (\d{1,4}):([^:]+)(?::[^:]*)?",
    re.IGNORECASE | re.ASCII,
)


class _Mark(NamedTuple):
    """What a column stands for: a candidate at a rank of a contest for so many seats."""

    column: int
    contest: str
    seats: int
    candidate: str
    rank: int


def dominion_heading(rows: Sequence[Sequence[str]]) -> int | None:
    """How many rows the heading has, if this is a file of Dominion's."""
    for i, row in enumerate(rows[:6]):
        if i >= 2 and row and row[0].strip().casefold() == _LAST:
            return i + 1
    return None


def dominion_columns(rows: Sequence[Sequence[str]], contest: str | None) -> tuple[Columns, str, int]:
    """The columns of the one ranked contest, or of the one asked for; its name; its number of seats."""

    def marks() -> Iterator[_Mark]:
        for i, (about, name) in enumerate(zip(rows[-3], rows[-2], strict=False)):
            sizes, ranked = _SIZES.search(about), _RANKED.fullmatch(name.strip())
            if about.strip() and sizes is not None and ranked is not None:
                yield _Mark(i, about[: sizes.start()].strip(), int(sizes[1]), ranked[1].strip(), int(ranked[2]))

    listed = list(marks())
    if not listed:
        raise WrongUse(
            f"line {len(rows)}: the heading is Dominion's, and no contest in it is ranked; ask for the ranked ones"
        )
    return _one_contest(listed, contest, rows[-1])


def clear_ballot_cells(header: Sequence[str]) -> list[str]:
    """The cells of a heading, those put together again in which a comma stands in quotes: ``...:"Lee, Ann":Independent``.

    >>> clear_ballot_cells(['RowNumber', 'Choice_1_1:Mayor:1:Vote For 1:"Lee', ' Ann":Ind'])
    ['RowNumber', 'Choice_1_1:Mayor:1:Vote For 1:Lee, Ann:Ind']
    """
    cells: list[str] = []
    for cell in header:
        if cells and cells[-1].count('"') % 2:
            cells[-1] += f",{cell}"
        else:
            cells.append(cell)
    return [cell.replace('"', "") if cell.startswith("Choice_") and ':"' in cell else cell for cell in cells]


def is_clear_ballot(header: Sequence[str]) -> bool:
    """Whether this is the first line of a file of Clear Ballot's."""
    return any(_CHOICE.fullmatch(name) for name in header)


def clear_ballot_columns(header: Sequence[str], contest: str | None) -> tuple[Columns, str, int]:
    """The columns of the one ranked contest, or of the one asked for; its name; its number of seats."""
    matches = ((i, _CHOICE.fullmatch(name)) for i, name in enumerate(header))
    marks = [
        _Mark(i, found[1].strip(), int(found[3]), found[4].strip(), int(found[2])) for i, found in matches if found
    ]
    return _one_contest(marks, contest, header)


def _one_contest(marks: Sequence[_Mark], contest: str | None, header: Sequence[str]) -> tuple[Columns, str, int]:
    chosen = chosen_contest(list(dict.fromkeys(mark.contest for mark in marks)), contest, header)
    mine = [mark for mark in marks if mark.contest == chosen]
    return Columns(marks=tuple((mark.column, mark.candidate, mark.rank) for mark in mine)), chosen, mine[-1].seats
