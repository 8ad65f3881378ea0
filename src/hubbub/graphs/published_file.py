"""The file of a graph release against its description: from the counts in it all its other numbers follow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hubbub.graphs.answers import Answers, answers_of
from hubbub.graphs.statistics import Statistic

if TYPE_CHECKING:
    from hubbub.graphs.spec import GraphSpec

_NO_ROWS = "it is no table of answers"


def difference(file: Path, form: str, spec: GraphSpec) -> str | None:
    """What in the file is not as described, in words; None if nothing is."""
    try:
        found = _read(file, form)
        counts = found.column("count").cast(pa.int64()).to_pylist()
    except (pa.ArrowException, KeyError, OSError):
        return _NO_ROWS
    wanted = _wanted(counts, spec)
    if wanted is None:
        return f"it has {len(counts):,} rows, and the description another number"
    if found.column_names != wanted.schema.names:
        return f"its columns are not {', '.join(wanted.schema.names)}"
    for name in wanted.schema.names:
        try:
            same = found.column(name).cast(wanted.schema.field(name).type).combine_chunks().equals(wanted.column(name))
        except pa.ArrowException:
            same = False
        if not same:
            return f"its column {name} does not follow from its counts and what is described"
    return None


def _read(file: Path, form: str) -> pa.Table:
    if form == "parquet":
        import pyarrow.parquet as parquet

        return parquet.read_table(file)
    import pyarrow.csv as arrow_csv

    return arrow_csv.read_csv(file)


def _wanted(counts: list[int | None], spec: GraphSpec) -> pa.RecordBatch | None:
    """The rows that these counts would be published in."""
    drawn: dict[Statistic, list[Any]] = {}
    rest = list(counts)
    for of in spec.of:
        rows = spec.size.max_degree if of is Statistic.DEGREE_COUNTS else 1
        some, rest = rest[:rows], rest[rows:]
        if len(some) < rows or None in some or drawn.setdefault(of.count, some) != some:
            return None
    return None if rest else Answers(spec, answers_of(spec, drawn)).batch()
