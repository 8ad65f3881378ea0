"""Columns of a statistic by bins: what a mechanism drew, as Arrow columns, and what a file has.

A row has the integers of one bin. Where crowds are hidden, the last integer of a hidden bin is None, and a column says
so. Bins that are found in the data come with the code of their declared part and their labels. In files ends are rounded
outwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from hubbub.channels.protocol import LARGEST_COUNT
from hubbub.errors import CheckFailed
from hubbub.kinds.histogram.load import bins_in
from hubbub.kinds.histogram.mechanism import CODE, found_name
from hubbub.kinds.sums.sums import Row as Row
from hubbub.numeric.exact import to_float, to_text
from hubbub.numeric.exact_sums import fits
from hubbub.protocol.measurement import LABELS, Drawn
from hubbub.protocol.result import NOT_USABLE, Sheet
from hubbub.serialization.arrow import WIDE, floats, integer_array, integer_column, labelled, texts
from hubbub.tables.bins import Axis, Discovered, all_labels, size
from hubbub.tables.key_columns import STATUS, key_columns
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.sums.spec import Statistic

SHOWN: Final = "shown"
HIDDEN: Final = "suppressed"
UNTOLD: Final = NOT_USABLE
STATUSES: Final = (SHOWN, HIDDEN, UNTOLD)

Key: TypeAlias = tuple[str | None, ...]
"""The labels of a bin."""

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


def status_array(statuses: Sequence[str]) -> pa.Array:
    """A column of statuses."""
    return labelled(np.array([STATUSES.index(status) for status in statuses], dtype=np.int64), STATUSES)


def _found_names(spec: Statistic) -> list[str]:
    return [found_name(i) for i in range(sum(isinstance(axis, Discovered) for axis in spec.axes))]


def _label_column(labels: Sequence[str | None]) -> pa.Array:
    known = {label: i for i, label in enumerate(dict.fromkeys(labels))}
    return labelled(np.array([known[label] for label in labels], dtype=np.int64), list(known))


# --- what a file has ------------------------------------------------------------------------------------------------


def key_of(axes: Sequence[Axis], code: int, found: Sequence[str | None] = ()) -> Key:
    """The labels of a bin: of declared axes by its code, the last one fastest, and what was found of the others."""
    labels, remaining, rest = [], list(found), code
    for axis in reversed(axes):
        if isinstance(axis, Discovered):
            labels.append(remaining.pop())
        else:
            rest, at = divmod(rest, size(axis))
            labels.append(all_labels(axis)[at])
    return tuple(reversed(labels))


def integer_type(spec: Statistic) -> pa.DataType:
    """That of the integers that are drawn: of 64 bits, unless what one row adds is so much that they need not fit."""
    return pa.int64() if fits(spec.most_added) else WIDE


def file_schema(
    spec: Statistic, integers: Sequence[str], ends: Sequence[str], number: pa.DataType | None = None
) -> pa.Schema:
    """The columns of a file: the labels of the bin, integers, what follows from them, and the status."""
    keys = [(name, pa.string()) for name in key_columns(spec.axes, [*integers, *ends, STATUS])]
    numbers = [(name, integer_type(spec)) for name in integers] + [(name, number or pa.float64()) for name in ends]
    return pa.schema([*keys, *numbers, (STATUS, LABELS)])


Interval: TypeAlias = tuple[Fraction | None, Fraction, Fraction | None]
"""An estimate, None where nothing is known, and both ends; None: no upper end."""


def down(value: Fraction) -> float:
    """As a float that is not above it."""
    return to_float(value, round_up=False)


def up(value: Fraction | None) -> float | None:
    """As a float that is not below it."""
    return None if value is None else to_float(value, round_up=True)


def integers(numbers: Sequence[int | None]) -> pa.Array:
    """Whole numbers, null where None."""
    known = np.array([number is not None for number in numbers], dtype=bool)
    return integer_array(np.array([number or 0 for number in numbers], dtype=np.int64), None if known.all() else known)


def interval_arrays(numbers: Sequence[Interval]) -> list[pa.Array]:
    """Estimates, and their ends rounded outwards."""
    return [
        floats([None if estimate is None else float(estimate) for estimate, _, _ in numbers]),
        floats([down(low) for _, low, _ in numbers]),
        floats([up(high) for _, _, high in numbers]),
    ]


def interval_facts(value: Fraction | None, number: Interval) -> dict[str, Any]:
    """What was published exactly, the estimate and its ends, for JSON."""
    estimate, low, high = number
    return {
        "value": None if value is None else to_text(value),
        "estimate": None if estimate is None else float(estimate),
        "low": down(low),
        "high": up(high),
    }


def label_arrays(axes: int, keys: Sequence[tuple[str | None, ...]]) -> list[pa.Array]:
    """The labels of bins, a column for each axis."""
    return [texts([key[i] for key in keys]) for i in range(axes)]


def one_batch(name: str, batch: pa.RecordBatch) -> Sheet:
    """A sheet of one batch."""
    return Sheet(name, batch.schema, lambda: iter((batch,)), batch.num_rows)
