"""The file of a synopsis: held against its description, and read back so that anybody can ask it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
from numpy.typing import NDArray

from hubbub.errors import CheckFailed
from hubbub.spreadsheet import safe
from hubbub.synopses.boosting import Boosting
from hubbub.synopses.setting import Drawn
from hubbub.synopses.small_databases import SmallDatabase
from hubbub.synopses.weights import Weights
from hubbub.tables.synopsis import Synopsis

if TYPE_CHECKING:
    from hubbub.tables.queries import Queries

_COMPARED = 100_000  # labels of a column; their numbers are compared all
_NO_ROWS = "it is no table of published numbers"


def difference(file: Path, form: str, spec: Queries) -> str | None:
    """What in the file is not as described, in words; None if nothing is."""
    try:
        found = _table(file, form, spec)
        published = _from(found, spec)
        wanted = published.sheets()[0]
    except (pa.ArrowException, KeyError, OSError, ValueError, CheckFailed):
        return _NO_ROWS
    if found.num_rows != _rows(spec):
        return f"it has {found.num_rows:,} rows, and the description another number"
    if len(found.column_names) != len(wanted.schema.names):
        return "its columns are others"
    if not _are_databases(published):
        return "its numbers are no databases of as many rows as are described"
    at = 0
    for batch in wanted.batches():
        for name, shown in zip(wanted.schema.names, found.column_names, strict=True):
            if not _same(found.column(shown).slice(at, batch.num_rows), batch.column(name), form, _COMPARED - at):
                return f"its column {name[:40]} does not follow from its numbers and what is described"
        at += batch.num_rows
    return None


def synopsis_in(file: Path, form: str, spec: Queries) -> Synopsis:
    """The synopsis that a published file holds, ready to be asked.

    Guarantee: it answers as the release did, from the file and its description alone.
    """
    wrong = difference(file, form, spec)
    if wrong is not None:
        raise CheckFailed(f"the file is not the one that is described: {wrong}; get the original")
    return _from(_table(file, form, spec), spec)


def _are_databases(published: Synopsis) -> bool:
    """Whether invented rows are as many as the method invents; other methods publish other numbers."""
    method = published.spec.method
    if not isinstance(method, SmallDatabase | Boosting):
        return True
    each = published.drawn.numbers.reshape(method.rounds if isinstance(method, Boosting) else 1, -1)
    inside = bool(((each >= 0) & (each <= method.size)).all())  # so that no sum is beyond 64 bits
    return inside and bool((each.sum(axis=1) == method.size).all())


def _rows(spec: Queries) -> int:
    """How many rows the description asks for."""
    return spec.rows_published


def _table(file: Path, form: str, spec: Queries) -> pa.Table:
    if form == "parquet":
        import pyarrow.parquet as parquet

        return parquet.read_table(file)
    blank = Synopsis(spec, Drawn(np.zeros(0, dtype=_kind(spec))))
    schema = blank.sheets()[0].schema
    types = {
        written: pa.string() if pa.types.is_dictionary(field.type) else field.type
        for written, field in zip(safe(schema.names), schema, strict=True)
    }
    options = arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False)
    found = arrow_csv.read_csv(
        file, convert_options=options, parse_options=arrow_csv.ParseOptions(newlines_in_values=True)
    )
    if found.column_names != list(types):
        raise CheckFailed("its columns are others")
    return found


def _kind(spec: Queries) -> type:
    return np.float64 if isinstance(spec.method, Weights) else np.int64


def _from(found: pa.Table, spec: Queries) -> Synopsis:
    name = Synopsis(spec, Drawn(np.zeros(0, dtype=_kind(spec)))).number
    column = found.column(name).combine_chunks()
    if column.null_count:
        raise CheckFailed("a number is missing")
    column = column.cast(pa.float64() if _kind(spec) is np.float64 else pa.int64())
    numbers: NDArray[Any] = np.frombuffer(column.buffers()[1], dtype=_kind(spec))[
        column.offset : column.offset + len(column)
    ]
    return Synopsis(spec, Drawn(numbers))


def _same(found: pa.ChunkedArray, wanted: pa.Array, form: str, most: int) -> bool:
    if not pa.types.is_dictionary(wanted.type):
        return bool(found.combine_chunks().cast(wanted.type).equals(wanted))
    some = max(0, min(most, len(wanted)))
    theirs, ours = found.slice(0, some).to_pylist(), wanted.slice(0, some).to_pylist()
    return bool(theirs == ([label or "" for label in safe(ours)] if form == "csv" else ours))
