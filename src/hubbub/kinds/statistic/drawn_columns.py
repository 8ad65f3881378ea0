"""The Arrow columns of a measurement by bins: one form for counts, means, sums, ratios and variances.

A row has the integers of one bin. Where crowds are hidden, the last integer of a hidden bin is None, and a column says
so. Bins that are found in the data come with the code of their declared part and their labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np
import pyarrow as pa

from hubbub.channels.protocol import LARGEST_COUNT
from hubbub.errors import CheckFailed
from hubbub.kinds.histogram.load import bins_in
from hubbub.kinds.histogram.mechanism import CODE, found_name
from hubbub.kinds.statistic.result import HIDDEN, SHOWN, Key, integer_type, key_of
from hubbub.protocol.measurement import LABELS, Drawn
from hubbub.serialization.arrow import WIDE, integer_array, integer_column, labelled
from hubbub.tables.bins import Discovered
from hubbub.tables.key_columns import STATUS
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.statistic.spec import Statistic

Row: TypeAlias = tuple[int | None, ...]
"""The integers of a bin; None where they are hidden."""

Place: TypeAlias = tuple[int, tuple[str | None, ...]]
"""A bin that was found: the code of its declared part, and its found labels."""

NO_NUMBERS: Final = "its numbers are none that such a release publishes"


def drawn_schema(spec: Statistic, names: Sequence[str]) -> pa.Schema:
    """Every declared bin in order; found bins with the code of their declared part and their labels. Where some are
    hidden it says which, and their numbers are 0."""
    found = [(CODE, pa.int64())] if spec.discovered else []
    found += [(name, LABELS) for name in _found_names(spec)]
    hidden = [(STATUS, LABELS)] if may_hide(spec) else []
    return pa.schema([*found, *((name, integer_type(spec)) for name in names), *hidden])


def drawn_range(spec: Statistic) -> tuple[int, int]:
    """The least and the largest integer that is drawn."""
    return (1 - 10**38, 10**38 - 1) if integer_type(spec) == WIDE else (-LARGEST_COUNT, 2 * LARGEST_COUNT - 1)


def in_columns(
    spec: Statistic, names: Sequence[str], rows: Sequence[Row], found: Sequence[Place] | None = None
) -> pa.RecordBatch:
    """The rows under :func:`drawn_schema`. What is beyond its range, which but for a noise that nobody will see is so of
    no table, is cut to that: a function of what was drawn."""
    arrays: list[pa.Array] = []
    (least, most), kind = drawn_range(spec), integer_type(spec)
    if found is not None:
        arrays.append(integer_array(np.array([code for code, _ in found], dtype=np.int64)))
        arrays += [_label_column([labels[i] for _, labels in found]) for i in range(len(_found_names(spec)))]
    for i in range(len(names)):
        arrays.append(integer_column([min(max(int(row[i] or 0), least), most) for row in rows], kind))
    if may_hide(spec):
        arrays.append(labelled(np.array([row[-1] is None for row in rows], dtype=np.int64), (SHOWN, HIDDEN)))
    return pa.record_batch(arrays, schema=drawn_schema(spec, names))


def visible_columns(
    spec: Statistic, names: Sequence[str], rows: Sequence[Row], found: Sequence[Place] | None
) -> pa.RecordBatch:
    """The same, without hidden bins where bins are found: an absent bin looks like a hidden one."""
    if found is None:
        return in_columns(spec, names, rows)
    visible = [i for i, row in enumerate(rows) if row[-1] is not None]
    return in_columns(spec, names, [rows[i] for i in visible], [found[i] for i in visible])


def rows_of(spec: Statistic, names: Sequence[str], drawn: Drawn) -> list[Row]:
    """The integers of every bin; None where it is hidden.

    Guarantee: there are as many rows as declared bins, of found bins none is hidden, and every integer is one that is
    drawn; else a CheckFailed.
    """
    columns, (least, most) = [drawn.integers(name).tolist() for name in names], drawn_range(spec)
    if any(not least <= number <= most for column in columns for number in column):
        raise CheckFailed(NO_NUMBERS)
    rows: list[Row] = list(zip(*columns, strict=True))
    if may_hide(spec):
        hidden = (None,) * len(names)
        rows = [hidden if status == HIDDEN else row for row, status in zip(rows, drawn.texts(STATUS), strict=True)]
    if not spec.discovered and len(rows) != spec.bins:
        raise CheckFailed("its rows are not as many as its bins")
    if spec.discovered and any(row[-1] is None for row in rows):
        raise CheckFailed("a bin is listed that is hidden")
    return rows


def found_keys(spec: Statistic, drawn: Drawn) -> list[Key] | None:
    """The labels of the bins that were found in the data; None where bins are declared."""
    if not spec.discovered:
        return None
    places = zip(drawn.integers(CODE).tolist(), *(drawn.texts(name) for name in _found_names(spec)), strict=True)
    return [key_of(spec.axes, code, labels) for code, *labels in places]


def bins_of_file(spec: Statistic, table: pa.Table, keys: Sequence[str]) -> list[Place] | None:
    """The bin of each row of a published file, where bins were found in the data; None where they are declared.

    Guarantee: every found bin is there once, in its order.
    """
    if not spec.discovered:
        return None
    codes, labels = bins_in(spec.axes, table, keys)
    return list(zip(codes.tolist(), zip(*labels, strict=True), strict=True))


def may_hide(spec: Statistic) -> bool:
    """Whether small crowds are hidden."""
    return isinstance(spec.protection, Crowd)


def _found_names(spec: Statistic) -> list[str]:
    return [found_name(i) for i in range(sum(isinstance(axis, Discovered) for axis in spec.axes))]


def _label_column(labels: Sequence[str | None]) -> pa.Array:
    known = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return labelled(np.array([known[label] for label in labels], dtype=np.int64), list(known))
