"""How the bins of a histogram are written: the names of its key columns, its labels, and whether a file has these."""

from __future__ import annotations

import csv
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import chain, islice, product
from pathlib import Path
from typing import Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import rational
from hubbub.serialization.csv_safety import cautious, safe
from hubbub.tables.bins import OTHER, Axis, Countable, Declared, Discovered, Steps, all_labels, declared_size, size
from hubbub.tables.labels import labels_at

_NUMBERS: Final = ("count", "low", "high")
_BESIDE: Final = ("count", "estimate", "low", "high")
STATUS: Final = "status"

Quoted = Callable[[Sequence[str | None]], list[str | None]]

_LONG: Final = 100_000  # bins of a range
_COMPARED: Final = 100_000  # bins of a file
_IN_MEMORY: Final = 1_000_000  # bins of all files together
_NOT_ONE: Final = "its rows are not one"
_LONGEST: Final = 1 << 30  # signs of a label in a CSV


def number_columns(estimated: bool) -> tuple[str, ...]:
    """The names of the columns of numbers, with an estimate or without."""
    return _BESIDE if estimated else _NUMBERS


def key_columns(axes: Sequence[Countable], ours: Sequence[str] = (*_BESIDE, STATUS)) -> list[str]:
    """The names of the key columns; one that would collide with a column of ours gets `by_` in front."""
    taken, names = set(ours), []
    for axis in axes:
        name = axis.column
        while name in taken:
            name = f"by_{name}"
        taken.add(name)
        names.append(name)
    return names


def difference(
    file: str | Path, form: str, axes: Sequence[Axis], more: Sequence[str] = (), *, sparse: bool = False
) -> str | None:
    """Where the columns and bins of a published file are not those of the axes, in words; None if they are.

    `more` are columns that stand after those that every histogram has.

    The first hundred thousand bins are compared. Which bins there are of a discovered axis is not known, nor which of a
    `sparse` release, but those come in order. A file of an earlier version may have an apostrophe before numbers with a
    sign.
    """

    def compared(quoted: Quoted) -> str | None:
        headers = [[*known, *more] for known in _headers(axes, form, quoted)]
        return _difference(file, form, axes, headers, quoted, sparse)

    today = compared(safe)
    return None if today is None or compared(cautious) is None else today


def parts_difference(
    files: Sequence[Path], rows: Sequence[int], axes: Sequence[Axis], *, sparse: bool = False
) -> str | None:
    """The same of a release in several Parquet files, each with so many rows.

    Where all bins are listed, they go on from file to file in order, and the first hundred thousand are compared; else
    those at the beginning of each file: those of a `sparse` release are in the files in turn
    (:mod:`hubbub.kinds.histogram.parts`), and of those that were found none is in two.
    """
    import pyarrow as pa
    import pyarrow.parquet as parquet

    total, headers = declared_size(axes), _headers(axes, "parquet", safe)
    listed = total is not None and not sparse
    try:
        for file, many in zip(files, rows, strict=True):
            with parquet.ParquetFile(file) as table:
                if list(table.schema_arrow.names) not in headers:
                    return "its columns are others"
                if table.metadata.num_rows != many:
                    return "its rows are not as many"
        if not listed:
            found = (difference(file, "parquet", axes, sparse=sparse) for file in files)
            wrong = next((each for each in found if each is not None), None)
            apart = _are_in_turn(files, _declared(axes)) if sparse else _are_apart(files, len(axes))
            return wrong or (None if apart else "its bins are in other parts, or in two of them")
        assert total is not None
        every = chain.from_iterable(islice(from_parquet(file, len(axes)), 1, None) for file in files)
        labels = [_texts(axis, "parquet", safe) for axis in _declared(axes)]
        right = sum(rows) == total and _are_all(every, labels, total)
    except (OSError, ValueError, pa.ArrowException):
        return "it cannot be read as parquet"
    return None if right else "its bins are others"


def _declared(axes: Sequence[Axis]) -> list[Declared]:
    return [axis for axis in axes if not isinstance(axis, Discovered)]


def _difference(
    file: str | Path,
    form: str,
    axes: Sequence[Axis],
    headers: Sequence[Sequence[str | None]],
    quoted: Quoted,
    sparse: bool,
) -> str | None:
    import pyarrow as pa

    try:
        with closing(from_csv(file) if form == "csv" else from_parquet(file, len(axes))) as found:
            head = next(found, [])
            if head not in headers:
                return "its columns are others"
            if not axes:
                return None if len(list(islice(found, 2))) == 1 else _NOT_ONE
            rows = _keys(found, len(head) if form == "csv" else len(axes), len(axes))
            if sparse:
                right = _are_in_order(rows, [_places(axis, form, quoted) for axis in _declared(axes)])
            else:
                lists = [None if isinstance(axis, Discovered) else _texts(axis, form, quoted) for axis in axes]
                right = _are_some(rows, lists) if None in lists else _are_all(rows, lists, declared_size(axes) or 0)
    except (OSError, ValueError, csv.Error, pa.ArrowException):
        return f"it cannot be read as {form}"
    return None if right else "its bins are others"


def _keys(rows: Iterator[list[str | None]], cells: int, keys: int) -> Iterator[list[str | None]]:
    for row in rows:
        if len(row) != cells:
            raise ValueError("a row has another number of cells")
        yield row[:keys]


def _headers(axes: Sequence[Axis], form: str, quoted: Quoted) -> list[list[str | None]]:
    """The columns of a file: of today, with an estimate or without, or of before there was one."""
    keys = key_columns(axes), key_columns(axes, (*_NUMBERS, STATUS))
    written = [quoted(each) if form == "csv" else each for each in keys]
    return [[*each, *numbers, STATUS] for each in written for numbers in (_NUMBERS, _BESIDE)]


def _texts(axis: Declared, form: str, quoted: Quoted) -> list[str | None]:
    """The labels as they are read back: in a CSV, a missing one is empty."""
    labels = all_labels(axis)
    return [label or "" for label in quoted(labels)] if form == "csv" else list(labels)


def _are_all(rows: Iterator[list[str | None]], lists: Sequence[Sequence[str | None] | None], size: int) -> bool:
    expected = product(*(labels for labels in lists if labels is not None))
    if size > _COMPARED:
        return all(list(key) == row for key, row in zip(islice(expected, _COMPARED), rows, strict=False))
    end = [object()]
    return all(list(key) == row for key, row in zip(chain(expected, [end]), chain(rows, [end]), strict=False))


def _are_some(rows: Iterator[list[str | None]], lists: Sequence[Sequence[str | None] | None]) -> bool:
    known = [None if labels is None else frozenset(labels) for labels in lists]
    return all(
        labels is None or label in labels
        for row in islice(rows, _COMPARED)
        for label, labels in zip(row, known, strict=True)
    )


def _places(axis: Declared, form: str, quoted: Quoted) -> Callable[[str | None], int]:
    """From a label to its number, -1 if it is none. Of a long range the labels are not all made."""
    if isinstance(axis, Steps) and len(axis) > _LONG:
        return partial(_step, axis)
    known = {text: place for place, text in enumerate(_texts(axis, form, quoted))}
    return lambda text: known.get(text, -1)


def _step(axis: Steps, text: str | None) -> int:
    if axis.null and not text:
        return len(axis)
    if axis.other and text == OTHER:
        return len(axis) + axis.null
    try:
        place = (rational((text or "")[1:].partition(",")[0], "a bound") - axis.low) / axis.width
    except WrongUse:
        return -1
    inside = place.denominator == 1 and 0 <= place < len(axis)
    return int(place) if inside and labels_at(axis, [int(place)]) == [text] else -1


def _are_in_order(rows: Iterator[list[str | None]], known: Sequence[Callable[[str | None], int]]) -> bool:
    before: list[int] = []
    for row in islice(rows, _COMPARED):
        places = [here(text) for text, here in zip(row, known, strict=True)]
        if -1 in places or places <= before:
            return False
        before = places
    return True


def _are_in_turn(files: Sequence[Path], axes: Sequence[Declared]) -> bool:
    known, sizes = [_places(axis, "parquet", safe) for axis in axes], [size(axis) for axis in axes]
    for part, file in enumerate(files):
        with closing(from_parquet(file, len(axes))) as rows:
            for row in islice(rows, 1, 1 + _COMPARED):
                code = 0
                for text, here, many in zip(row, known, sizes, strict=True):
                    code = code * many + here(text)
                if code % len(files) != part:
                    return False
    return True


def _are_apart(files: Sequence[Path], keys: int) -> bool:
    seen: set[tuple[str | None, ...]] = set()
    for file in files:
        with closing(from_parquet(file, keys)) as rows:
            for row in islice(rows, 1, 1 + max(_IN_MEMORY // len(files), 1)):
                if tuple(row) in seen:
                    return False
                seen.add(tuple(row))
    return True


def from_csv(file: str | Path) -> Generator[list[str | None], None, None]:
    before = csv.field_size_limit(_LONGEST)
    try:
        with open(file, encoding="utf-8", newline="") as lines:
            yield from csv.reader(lines, strict=True)
    finally:
        csv.field_size_limit(before)


def from_parquet(file: str | Path, keys: int) -> Generator[list[str | None], None, None]:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(file) as table:
        names = table.schema_arrow.names
        yield list(names)
        if not keys:
            yield from ([] for _ in range(table.metadata.num_rows))
            return
        for batch in table.iter_batches(10_000, columns=names[:keys]):
            yield from map(list, zip(*(column.to_pylist() for column in batch.columns), strict=True))
