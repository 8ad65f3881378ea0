"""Edge lists in files: CSV, TSV, text and Parquet, by their header and the columns that are named.

In a CSV or TSV file the first line names the columns; a text file (.txt, .edges) has none, and lines at its top that
begin with # or % are skipped. If every label of both columns is a whole number of 64 bits, labels are numbers, and 7
and 007 are one person; otherwise they are text, as it stands.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from hubbub.errors import Refused, WrongUse
from hubbub.runtime.frozen import dataclass

PAIRS: Final = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("node_1", "node_2"),
    ("id_1", "id_2"),
)
"""Names of the two columns that are understood where there are more than two."""

UNREADABLE: Final = "the file cannot be read as an edge list of its kind; check its lines against its ending"
_INTEGER = re.compile(r"\s*[+-]?\d+\s*", re.ASCII)
_LONGEST_LINE: Final = 1 << 20  # characters
_MOST_COMMENTS: Final = 10_000  # lines


def two_of(names: Sequence[str], wanted: Sequence[str] | None) -> tuple[str, str]:
    """The names of the columns that hold the two ends of a link."""
    if wanted is not None:
        if len(wanted) != 2 or wanted[0] == wanted[1]:
            raise WrongUse("the ends of a link are in two columns; name two, like source,target")
        missing = [name for name in wanted if name not in names]
        if missing:
            raise WrongUse(f"there is no column {missing[0][:40]!r} in the file; name two that it has")
        return wanted[0], wanted[1]
    if len({*names}) < len(names):
        raise WrongUse("two columns have one name; rename one of them")
    if len(names) == 2:
        return names[0], names[1]
    small = [name.strip().lower() for name in names]
    for one, two in PAIRS:
        if small.count(one) == 1 and small.count(two) == 1:
            return names[small.index(one)], names[small.index(two)]
    raise WrongUse(f"the file has {len(names)} columns, and a link has two ends; name their columns with `columns`")


def parquet_columns(path: Path, wanted: Sequence[str] | None, one_column: bool = False) -> tuple[Any, ...]:
    """The two columns of labels (or the first, of a list of vertices)."""
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            names = file.schema_arrow.names
            chosen = names[:1] if one_column else two_of(names, wanted)
            table = file.read(columns=list(chosen))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError):
        raise WrongUse(UNREADABLE) from None
    return tuple(table.column(name) for name in chosen)


@dataclass(frozen=True, slots=True)
class _Form:
    """How a text file is laid out: from its ending and its first lines."""

    mark: str
    skip: int  # lines before the first link
    names: tuple[str, ...]
    numbers: bool  # whether the first link is between whole numbers


def text_columns(
    path: Path,
    wanted: Sequence[str] | None,
    header: bool | None = None,
    *,
    as_text: bool = False,
    one_column: bool = False,
) -> tuple[Any, ...]:
    """The two columns of labels (or the first, of a list of vertices): whole numbers if all are, else text."""
    form = _form(path, header, one_column)
    if not form.names:
        none = pa.chunked_array([], type=pa.int64())
        return (none,) if one_column else (none, none)
    chosen = form.names[:1] if one_column else two_of(form.names, wanted)
    if form.numbers and not as_text:
        try:
            return _parsed(path, form, chosen, pa.int64())
        except pa.ArrowInvalid:
            pass  # some label is no whole number, or too long for one
    try:
        return _parsed(path, form, chosen, pa.large_string())
    except (pa.ArrowInvalid, OSError):
        raise Refused(
            "a line of the file has more or fewer cells than the first, or is not UTF-8; mend it, or name its kind"
        ) from None


def _parsed(path: Path, form: _Form, chosen: Sequence[str], kind: Any) -> tuple[Any, ...]:
    from pyarrow import csv as arrow_csv

    table = arrow_csv.read_csv(
        path,
        read_options=arrow_csv.ReadOptions(column_names=list(form.names), skip_rows=form.skip),
        parse_options=arrow_csv.ParseOptions(delimiter=form.mark),
        convert_options=arrow_csv.ConvertOptions(
            include_columns=list(chosen),
            column_types=dict.fromkeys(chosen, kind),
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    return tuple(table.column(name) for name in chosen)


def _form(path: Path, header: bool | None, one_column: bool) -> _Form:
    listed = path.suffix.lower() in (".csv", ".tsv", ".tab")
    skip, first, second = _first_lines(path, comments=not listed)
    mark = {".csv": ",", ".tsv": "\t", ".tab": "\t"}.get(path.suffix.lower())
    if mark is None:
        mark = next((sign for sign in "\t,; " if sign in first), ",")
    cells, following = _cells(first, mark), _cells(second, mark)
    if not cells:
        return _Form(mark, 0, (), numbers=False)
    ends = 1 if one_column else 2
    is_link, next_is_link = (all(map(_INTEGER.fullmatch, row[:ends])) for row in (cells, following))
    if header is None:
        header = listed
        if (header and is_link) or (not header and not is_link and following and next_is_link):
            raise WrongUse(
                "it is not clear whether the first line names the columns or is a link already; "
                "say so with `header=True` or `header=False`"
            )
    if header and len({*cells}) < len(cells):
        raise WrongUse("two columns of the file have one name; rename one of them, or say `header=False`")
    names = tuple(cells) if header else tuple(str(i) for i in range(1, len(cells) + 1))
    return _Form(mark, skip + header, names, bool(next_is_link if header else is_link))


def _first_lines(path: Path, *, comments: bool) -> tuple[int, str, str]:
    """How many lines to skip, and the two after them."""
    with open(path, encoding="utf-8-sig", errors="replace", newline=None) as file:
        skip = 0
        line = file.readline(_LONGEST_LINE)
        while comments and line[:1] in ("#", "%") and skip < _MOST_COMMENTS:
            skip, line = skip + 1, file.readline(_LONGEST_LINE)
        return skip, line, file.readline(_LONGEST_LINE)


def _cells(line: str, mark: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip("\r\n")], delimiter=mark), []) if line.strip() else []
    except csv.Error:
        return []
