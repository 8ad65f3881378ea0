"""Whether the files of a cube are those described: the cells, and beside them margins that are sums of them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hubbub.tables.cube_result import CONSISTENT
from hubbub.tables.margins import file_names
from hubbub.tables.sparse import is_sparse
from hubbub.tables.written import difference as of_cells
from hubbub.tables.written import from_csv

if TYPE_CHECKING:
    from hubbub.tables.cube import Cube

_COUNT: Final = "count"
_MOST: Final = 100_000  # cells that are added up

Row = tuple[tuple[str | None, ...], int | None]


def difference(spec: Cube, file: Path, form: str) -> str | None:
    """What in the file of the cells, or in a margin beside it, is not as described; None if nothing is.

    Guarantee: if None, a margin that lies beside the cells has its columns and bins; and if there are no more than
    100,000 cells without noise of their own for each table, the count of every bin of it is the sum of their counts.
    """
    more = (CONSISTENT,) if spec.consistent else ()
    found = of_cells(file, form, spec.axes, more, sparse=is_sparse(spec.cells))
    if found is not None:
        return found
    import pyarrow as pa

    sums = not spec.levelled and spec.sizes[0] <= _MOST
    try:
        cells = list(_rows(file, form, len(spec.axes))) if sums else []
        for name, margin in zip(file_names(spec.margins), spec.margins, strict=True):
            beside = file.with_name(f"{name}.{form}")
            if not beside.is_file():
                continue
            if of_cells(beside, form, spec.within(margin).axes, more) is not None:
                return f"{beside.name} has other columns or bins"
            places = [i for i, axis in enumerate(spec.axes) if axis.column in margin]
            if sums and not _adds_up(cells, list(_rows(beside, form, len(places))), places):
                return f"{beside.name} is no sum of its cells"
    except (OSError, ValueError, IndexError, csv.Error, pa.ArrowException):
        return f"a margin beside it cannot be read as {form}"
    return None


def _adds_up(cells: list[Row], margin: list[Row], places: list[int]) -> bool:
    """By label: in a CSV a missing one and an empty one are written alike, and added up."""
    return _summed(cells, places) == _summed(margin, range(len(places)))


def _summed(rows: list[Row], places: Sequence[int]) -> Counter[tuple[str | None, ...]]:
    sums: Counter[tuple[str | None, ...]] = Counter()
    for keys, count in rows:
        if count:
            sums[tuple(keys[i] for i in places)] += count
    return sums


def _rows(file: Path, form: str, keys: int) -> Iterator[Row]:
    if form == "csv":
        rows = from_csv(file)
        at = next(rows).index(_COUNT, keys)
        for row in rows:
            yield tuple(row[:keys]), int(row[at] or "0") if row[at] else None
        return
    import pyarrow.parquet as parquet

    table = parquet.read_table(file)
    columns = [table.column(i).to_pylist() for i in (*range(keys), table.schema.names.index(_COUNT, keys))]
    for *labels, count in zip(*columns, strict=True):
        yield tuple(labels), count
