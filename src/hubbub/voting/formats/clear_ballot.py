"""Clear Ballot's CSV exports: a column for each candidate at each rank of each contest, 1 where it was marked.

::

    RowNumber,...,Remade,Choice_1_1:Mayor:1:Vote For 1:Ann Lee:Independent,...

The parts of such a heading are the contest, the rank, how many are elected (``Vote For 1`` or ``Number of Winners 1``),
the candidate and the party.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from hubbub.voting.formats.csv_columns import Columns, chosen_contest

_CHOICE: Final = re.compile(
    r"Choice_\d+_\d+:(.+):(\d{1,4}):(?:Vote For|Number of Winners) (\d{1,4}):([^:]+)(?::[^:]*)?",
    re.IGNORECASE | re.ASCII,
)


def heading_cells(header: Sequence[str]) -> list[str]:
    """The cells of a heading, those put together again in which a comma stands in quotes: ``...:"Lee, Ann":Independent``.

    >>> heading_cells(['RowNumber', 'Choice_1_1:Mayor:1:Vote For 1:"Lee', ' Ann":Ind'])
    ['RowNumber', 'Choice_1_1:Mayor:1:Vote For 1:Lee, Ann:Ind']
    """
    cells: list[str] = []
    for cell in header:
        if cells and cells[-1].count('"') % 2:
            cells[-1] += f",{cell}"
        else:
            cells.append(cell)
    return [cell.replace('"', "") if cell.startswith("Choice_") and ':"' in cell else cell for cell in cells]


def is_heading(header: Sequence[str]) -> bool:
    """Whether this is the first line of such a file."""
    return any(_CHOICE.fullmatch(name) for name in header)


def find_columns(header: Sequence[str], contest: str | None) -> tuple[Columns, str, int]:
    """The columns of the one ranked contest, or of the one asked for; its name; its number of seats."""
    marks: dict[str, list[tuple[int, str, int]]] = {}
    seats: dict[str, int] = {}
    for i, name in enumerate(header):
        if found := _CHOICE.fullmatch(name):
            marks.setdefault(found[1].strip(), []).append((i, found[4].strip(), int(found[2])))
            seats[found[1].strip()] = int(found[3])
    chosen = chosen_contest(list(marks), contest, header)
    return Columns(marks=tuple(marks[chosen])), chosen, seats[chosen]
