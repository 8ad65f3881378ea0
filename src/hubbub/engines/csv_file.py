"""How a CSV is read: by its header and the form it declares, never by what a machine guesses from its rows.

Every cell is text. A record with too few cells, longer than 2 MiB, or with a cell that is read and is not UTF-8, is
left out; cells beyond the header are ignored; an empty cell is missing and ``""`` is the empty text. Each of these
rules looks at one record alone, with the blank lines before it. What no rule can help is a quotation mark out of place
that has no partner, at the start of a cell, perhaps after a space, or after its end: it makes one cell of what follows.

One thread reads a file from its beginning. DuckDB's parallel reader begins in the middle and guesses whether it is
inside of quotation marks; where it guesses wrong, one person more moves the counts of others.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from hubbub.engines.cell_sql import literal
from hubbub.engines.csv_records import BUFFERED, LONGEST
from hubbub.errors import WrongUse

_LONGEST_HEADER = 1 << 20  # characters


def csv_header(files: Sequence[str], mark: str) -> tuple[str, ...]:
    """The names of the columns, the same in all files."""
    headers = {_header(file, mark) for file in files}
    if len(headers) > 1:
        raise WrongUse("the CSV files do not have the same header; give them one, or open them one by one")
    return headers.pop()


def csv_relation(patterns: str, header: Sequence[str], mark: str) -> str:
    """SQL that reads the files that DuckDB knows as `patterns`."""
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header)
    form = f"delim={literal(mark)}, quote='\"', escape='\"', header=true, compression='none'"
    lenient = "strict_mode=false, ignore_errors=true, allow_quoted_nulls=false"
    place = f"parallel=false, max_line_size={LONGEST}, buffer_size={LONGEST * BUFFERED}"
    return f"read_csv({patterns}, auto_detect=false, columns={{{columns}}}, {form}, {lenient}, {place})"


def _header(path: str, mark: str) -> tuple[str, ...]:
    """The names of the columns, from the first line. No other line can make this fail."""
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            text = file.read(_LONGEST_HEADER)
    except OSError as error:
        raise WrongUse(f"the file {path!r} cannot be read ({error.strerror}); check who may read it") from None
    try:
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=mark), [])
        "".join(names).encode()
    except (UnicodeEncodeError, csv.Error):
        names = []
    whole = len(text) < _LONGEST_HEADER or "\n" in text or "\r" in text
    if not names or not whole or any(sign in name for name in names for sign in "\r\n\0"):
        raise WrongUse("the first line of a CSV names its columns, in UTF-8; add such a line at the top of the file")
    filled = tuple(name or f"column{i}" for i, name in enumerate(names))
    if len({name.lower() for name in filled}) < len(filled):
        raise WrongUse("two columns of the CSV have one name, capitals and small letters alike; rename one of them")
    return filled
