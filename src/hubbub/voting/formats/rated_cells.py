"""Scores and approvals in CSV files, a column for each candidate; no rule for marks changes them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots, checked_candidates
from hubbub.voting.formats.ballot_file import BallotFile, check_any
from hubbub.voting.formats.coded_rows import Coded
from hubbub.voting.formats.csv_columns import Columns
from hubbub.voting.formats.reading import Reading
from hubbub.voting.recognition import check_names

_SCORE: Final = re.compile(r"(\d{1,4})(?:\.0+)?", re.ASCII)
_YES: Final = ("1", "x", "yes", "y", "true", "approve", "approved", "\u2713", "\u2714")
_NO: Final = ("", "0", "no", "n", "false", "-", "n/a", "blank", "undervote")
_MOST_POINTS: Final = 1000


def rated_ballots(
    table: Coded,
    weights: NDArray[np.int64],
    columns: Columns,
    reading: Reading,
    candidates: Sequence[str] | None,
    top: int | None = None,
) -> BallotFile:
    """Ballots of scores or approvals, by a grid of columns; without `top` the highest score is that of these rows."""
    names = checked_candidates([name for _, name in columns.grid])
    if candidates is not None and set(candidates) != set(names):
        raise WrongUse("the columns name other candidates than the list of candidates; they must agree")
    if candidates is None:
        check_names(names, ())
    first, sums = table.different(None, weights)
    rows, lines = table.rows[first], table.lines[first]
    scores = np.full(len(table.cells), -1, dtype=np.int16)
    unknown = np.zeros(len(table.cells), dtype=np.bool_)
    for code, cell in enumerate(table.cells):
        worth = _points(cell, columns.cells)
        unknown[code] = worth is None
        scores[code] = -1 if worth is None else worth
    wrong = unknown[rows].any(axis=1)
    if wrong.any():
        rule = "a whole number from 0 to 1000" if columns.cells == "scores" else "1, x or yes, or 0, no or nothing"
        raise WrongUse(f"line {lines[int(np.argmax(wrong))]}: in a column of {columns.cells} each cell is {rule}")
    given = scores[rows]
    if top is None:
        top = int(given.max(initial=0)) if columns.cells == "scores" else 1
    if columns.cells == "approvals":
        levels = np.where(given > 0, 0, -1).astype(np.int16)
    else:
        levels = np.where(given < 0, -1, top - given).astype(np.int16)
    check_any(int(sums.sum()))
    return BallotFile(
        ballots=Ballots.from_levels(names, levels[sums > 0], sums[sums > 0]),
        format=f"csv-{columns.cells}",
        title="",
        reading=reading.for_marks(counted=columns.count is not None),
        marks=columns.cells,
        top=top,
        remarks=(scale_remark(top),) if columns.cells == "scores" else (),
    )


def scale_remark(top: int) -> str:
    """What is told about a file of scores."""
    return f"scores are from 0 to {top}, and the more the better"


def _points(cell: str, kind: str) -> int | None:
    """What a cell of scores or approvals is worth: -1 for no score, None where it is neither."""
    plain = cell.strip().casefold()
    if kind == "approvals":
        return 1 if plain in _YES else -1 if plain in _NO else None
    if plain in _NO and plain not in ("0", "no", "n", "false"):
        return -1
    found = _SCORE.fullmatch(plain)
    return int(found[1]) if found and int(found[1]) <= _MOST_POINTS else None
