"""How a CSV is read: by its header and the form it declares, never by what a machine guesses from its rows.

Every cell is text. A record with too few cells, longer than 2 MiB, or with a cell that is read and is not UTF-8, is
left out; cells beyond the header are ignored; an empty cell is missing and ``""`` is the empty text. A blank line is no
record, in a file of one column either. Each of these rules looks at one record alone, with the blank lines before it.
What no such rule can help is a quotation mark out of place that has no partner, at the start of a cell, perhaps after a
space, or after its end: it makes one cell of what follows. A file with one that never closes, or only after many lines,
is refused (:mod:`hubbub.engines.files.csv_records`).

One thread reads a file from its beginning. DuckDB's parallel reader begins in the middle and guesses whether it is
inside of quotation marks; where it guesses wrong, one person more moves the counts of others. It reads only what it
cannot err in: files of which each line is proved to be a record (:mod:`hubbub.engines.files.csv_lines`).
"""

from __future__ import annotations

import csv
import io
import re
import zlib
from collections.abc import Sequence
from typing import Final

from hubbub.engines.column_names import distinct
from hubbub.engines.duckdb.cell_sql import identifier, literal
from hubbub.engines.duckdb.unreadable import MOST_REJECTS
from hubbub.engines.files.csv_form import MARKS, Form
from hubbub.engines.files.csv_records import BUFFERED, LONGEST
from hubbub.engines.files.plain_copy import first_text
from hubbub.errors import WrongUse

_LONGEST_HEADER: Final = 1 << 20  # characters
_PLAIN_LINE: Final = re.compile(r'[^"\r\n]*+[\r\n]')
PLAIN: Final = Form()


def csv_header(files: Sequence[str], mark: str, form: Form = PLAIN) -> tuple[str, ...]:
    """The names of the columns, the same in all files; of several with one name each has its number."""
    if form.names is not None:
        return form.names
    headers = {_header(file, mark, form) for file in files}
    if len(headers) > 1:
        raise WrongUse("the CSV files do not have the same header; give them one, or open them one by one")
    return distinct(headers.pop())


def csv_relation(
    patterns: str, header: Sequence[str], mark: str, *, named: bool = True, by_lines: bool = False, longest: int = 0
) -> str:
    """SQL that reads the files that DuckDB knows as `patterns`; what it leaves out it lists among its rejects.

    With `by_lines` several threads read, each a piece: a quarter of a buffer, which is what DuckDB makes of a buffer that
    is a multiple of 16 bytes. One of another size ends in a shorter piece, and loses a record that is longer than it.
    """
    longest = longest or LONGEST
    columns = ", ".join(f"{literal(name)}: 'VARCHAR'" for name in header)
    first = "true" if named else "false"
    quote, parallel = ("''", "true") if by_lines else ("'\"'", "false")
    form = f"delim={literal(mark)}, quote={quote}, escape={quote}, header={first}, compression='none'"
    lenient = "strict_mode=false, ignore_errors=true, allow_quoted_nulls=false"
    options = f"parallel={parallel}, max_line_size={longest}, buffer_size={longest * BUFFERED}"
    rejects = f"store_rejects=true, rejects_limit={MOST_REJECTS}"
    read = f"read_csv({patterns}, auto_detect=false, columns={{{columns}}}, {form}, {lenient}, {options}, {rejects})"
    if len(header) > 1:
        return read
    return f"(SELECT * FROM {read} WHERE {identifier(header[0])} IS NOT NULL)"  # a blank line is nobody here either


def first_names(path: str, mark: str, form: Form = PLAIN) -> list[str]:
    """The cells of the first line; none if it cannot be one that names columns."""
    try:
        text = first_text(path, form, _LONGEST_HEADER)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None)
        reason = f"({why}); check who may read it" if why else "as what its name says; check its ending"
        raise WrongUse(f"the file {path!r} cannot be read {reason}") from None
    try:
        line = _PLAIN_LINE.match(text)  # all that it takes, and seldom more than a little of the text
        names = next(csv.reader(io.StringIO(line[0] if line else text, newline=""), delimiter=mark), [])
        "".join(names).encode()
    except (UnicodeEncodeError, csv.Error):
        names = []
    complete = len(text) < _LONGEST_HEADER or "\n" in text or "\r" in text
    return [] if not complete or any(sign in name for name in names for sign in "\r\n\0") else names


def _header(path: str, mark: str, form: Form) -> tuple[str, ...]:
    """The names of the columns, from the first line. No other line can make this fail."""
    names = first_names(path, mark, form)
    if not names:
        encoding = "UTF-8" if form.encoding in (None, "utf-8") else form.encoding
        raise WrongUse(
            f"the first line of a CSV names its columns, in {encoding}; add such a line at the top of the file, or say "
            "`encoding=latin-1` or `no_header=id,town,age`"
        )
    if len(names) == 1 and form.delimiter is None:
        for word, other in MARKS.items():
            if other in names[0]:
                raise WrongUse(
                    f"the first line has no {_word(mark)} in it but a {word}, which seems to separate the cells; "
                    f"add `delimiter={word}`, or `delimiter={_word(mark)}` if there is one column"
                )
    return tuple(name.strip() or f"column{i}" for i, name in enumerate(names))


def _word(mark: str) -> str:
    return next(word for word, known in MARKS.items() if known == mark)
