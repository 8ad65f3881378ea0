"""Whether the files of several questions are those described: all answers in one, and each question's beside it."""

from __future__ import annotations

import csv
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from hubbub.tables.questions_result import COLUMNS, file_name
from hubbub.tables.statistic_answers import columns
from hubbub.tables.written import from_csv, from_parquet
from hubbub.tables.written import misfit as of_bins

if TYPE_CHECKING:
    from hubbub.tables.questions import Questions


def misfit(spec: Questions, file: Path, form: str) -> str | None:
    """What in the file of all answers, or in one beside it, is not as described; None if nothing is."""
    found = of_bins(file, form, (), COLUMNS, one_row=False)
    if found is not None:
        return found
    expected = [asked.name for asked, each in zip(spec.asked, spec.statistics, strict=True) for _ in range(each.bins)]
    try:
        with closing(from_csv(file) if form == "csv" else from_parquet(file, 1)) as rows:
            next(rows)
            if [row[0] if row else None for row in rows] != expected:
                return "its questions are others"
    except (OSError, ValueError, csv.Error, pa.ArrowException):
        return f"it cannot be read as {form}"
    for asked, each in zip(spec.asked, spec.statistics, strict=True):
        beside = file.with_name(f"{file_name(asked.name)}.{form}")
        other = of_bins(beside, form, each.axes, columns(each)) if beside.is_file() else None
        if other is not None:
            return f"{beside.name}: {other}"
    return None
