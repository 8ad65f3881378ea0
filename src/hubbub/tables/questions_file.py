"""Whether the files of several questions are those described: all answers in one, and each question's beside it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hubbub.spreadsheet import safe
from hubbub.tables.questions_result import COLUMNS, bin_name, file_name
from hubbub.tables.statistic_answers import Answers, columns
from hubbub.tables.statistic_file import ENDS, NO_NUMBERS, UNREADABLE, number, rows_in
from hubbub.tables.statistic_file import misfit as of_statistic
from hubbub.tables.written import STATUS
from hubbub.tables.written import misfit as of_bins

if TYPE_CHECKING:
    from hubbub.tables.questions import Questions


def misfit(spec: Questions, file: Path, form: str) -> str | None:
    """What in the file of all answers, or in one beside it, is not as described; None if nothing is.

    Guarantee: if None, every question's file that lies beside it has the answers that follow from its integers
    (:func:`hubbub.tables.statistic_file.misfit`), and the file of all answers has the same.
    """
    found = of_bins(file, form, (), COLUMNS, one_row=False)
    if found is not None:
        return found
    try:
        rows = list(rows_in(file, form, COLUMNS))
    except UNREADABLE:
        return f"it cannot be read as {form}"
    if [(row["question"], row["bin"]) for row in rows] != list(_bins(spec, form)):
        return "its questions or bins are others"
    at = 0
    for asked, each in zip(spec.asked, spec.statistics, strict=True):
        mine, at = rows[at : at + each.bins], at + each.bins
        beside = file.with_name(f"{file_name(asked.name)}.{form}")
        if not beside.is_file():
            continue
        other = of_statistic(each, beside, form)
        if other is not None:
            return f"{beside.name}: {other}"
        try:
            own = [_told(row) for row in rows_in(beside, form, columns(each))]
            if [_told(row) for row in mine] != own:
                return f"its answers to {asked.name} are not those of {beside.name}"
        except UNREADABLE:
            return NO_NUMBERS
    return None


def _bins(spec: Questions, form: str) -> Iterator[tuple[str, str | None]]:
    """The question and the bin of every row."""
    for asked, each in zip(spec.asked, spec.statistics, strict=True):
        names: list[str | None] = list(map(bin_name, Answers(each, []).keys()))
        yield from ((asked.name, name) for name in (safe(names) if form == "csv" else names))


def _told(row: dict[str, Any]) -> tuple[Any, ...]:
    ends = [None if row[name] is None else number(row[name]) for name in ENDS]
    return (*(None if end is None else float(end) for end in ends), row[STATUS])
