"""A sheet of an Excel file as a table of text, by a rule for each cell alone. Needs the extra "excel".

Excel keeps a type for each cell and none for a column, so a column is text, as in a CSV: a number is written as Excel
holds it, a date as 2013-03-14, a boolean as true or false, and a blank cell is missing.
"""

from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa

from hubbub.errors import WrongUse


def sheet(path: str, name: str | None) -> pa.Table:
    """The sheet of that name, or the only one."""
    try:
        import python_calamine as calamine
    except ImportError:
        raise WrongUse(
            'an Excel file needs one package more; run pip install "hubbub[excel]", or save it as CSV'
        ) from None
    wrong = WrongUse("the Excel file could not be read; check that it is one, has no password, and save it again")
    try:
        with calamine.CalamineWorkbook.from_path(path) as book:
            names = list(book.sheet_names)
            chosen = names[0] if name is None and len(names) == 1 else name
            rows = book.get_sheet_by_name(chosen).to_python(skip_empty_area=False) if chosen in names else None
    except Exception:  # of the library: its message may quote a cell
        raise wrong from None
    if rows is None:
        raise WrongUse(
            "the Excel file has several sheets; name one with `table=NAME`"
            if name is None
            else f"the Excel file has no sheet {name!r}; check its name, with `table=NAME`"
        )
    header, *people = [list(map(text, row)) for row in rows] or [[]]
    if not header or not any(header):
        raise WrongUse("the first line of a sheet names its columns; add such a line at its top")
    columns = [name or f"column{i}" for i, name in enumerate(header)]
    small = [name.lower() for name in columns]
    if len(set(small)) < len(small):
        places = [i + 1 for i, name in enumerate(small) if small.count(name) > 1]
        raise WrongUse(f"columns {places[0]} and {places[1]} of the sheet have one name; rename one of them")
    return pa.table({name: pa.array([row[i] for row in people], pa.string()) for i, name in enumerate(columns)})


def text(cell: Any) -> str | None:
    """A cell as text; None if it is blank."""
    match cell:
        case "" | None:
            return None
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer() and abs(cell) < 2**53:
            return str(int(cell))
        case datetime.datetime() if cell.time() == datetime.time():
            return cell.date().isoformat()
        case datetime.datetime() | datetime.date():
            return cell.isoformat(sep=" ") if isinstance(cell, datetime.datetime) else cell.isoformat()
        case _:
            return str(cell)
