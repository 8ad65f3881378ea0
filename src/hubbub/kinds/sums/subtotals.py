"""What bins come to together: of all of them, and by fewer columns; worked out from what was published of the bins.

The bins are a partition of what counts, so that what was drawn for them adds up to what is told of them together, by
every set of columns alike. No noise is drawn for it and nothing more is lost; the noise of n bins adds up, so that an
interval is about sqrt(n) times as wide as that of one bin.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from math import prod
from typing import Final

import pyarrow as pa

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import texts
from hubbub.tables.bins import Axis, Discovered, all_labels, size
from hubbub.tables.key_columns import key_columns

MOST_COLUMNS: Final = 4
BY: Final = "by"
ENDS: Final = ("estimate", "low", "high")
SHEET: Final = "totals"
MORE: Final = "What bins come to together, by fewer columns too, is in the file `totals`, and costs nothing."


@dataclass(frozen=True, slots=True)
class Group:
    """Bins that are added up: by which columns, under which labels (None: added up, or missing), and which they are."""

    columns: tuple[str, ...]
    key: tuple[str | None, ...]
    codes: tuple[int, ...]


def groups(axes: Sequence[Axis]) -> list[Group]:
    """Everything together, then by one column, by two, and so forth; not by all of them."""
    declared = [axis for axis in axes if not isinstance(axis, Discovered)]
    strides = [prod(size(other) for other in declared[i + 1 :]) for i in range(len(declared))]
    found = []
    for many in range(len(declared)):
        for kept in combinations(range(len(declared)), many):
            rest = [i for i in range(len(declared)) if i not in kept]
            inner = [
                sum(strides[i] * at for i, at in zip(rest, ats, strict=True))
                for ats in product(*(range(size(declared[i])) for i in rest))
            ]
            for ats in product(*(range(size(declared[i])) for i in kept)):
                first = sum(strides[i] * at for i, at in zip(kept, ats, strict=True))
                key: list[str | None] = [None] * len(declared)
                for i, at in zip(kept, ats, strict=True):
                    key[i] = all_labels(declared[i])[at]
                columns = tuple(declared[i].column for i in kept)
                found.append(Group(columns, tuple(key), tuple(first + each for each in inner)))
    return found


def check(axes: Sequence[Axis], *, covered: bool) -> None:
    """Refuse totals where nothing is added up, or where it is not known how far they are from the truth."""
    if not axes:
        raise WrongUse("totals are of several bins; say which with `by`, or leave out `totals`")
    if not covered:
        raise WrongUse(
            "totals beside bins are worked out from plain noise on a partition of what counts; use `epsilon=E` alone, "
            "with declared bins and without `any_row` and `expected_rows`, or leave out `totals`"
        )
    if len(axes) > MOST_COLUMNS:
        raise WrongUse(f"totals are worked out for at most {MOST_COLUMNS} columns; leave out `totals`, or some columns")


def names(axes: Sequence[Axis]) -> list[str]:
    """The columns of keys of the file of totals: by which columns, and their labels."""
    return [BY, *key_columns(axes, (BY, *ENDS))]


def key_arrays(found: Sequence[Group], columns: int) -> list[pa.Array]:
    """What they say."""
    by = texts([", ".join(group.columns) for group in found])
    return [by, *(texts([group.key[i] for group in found]) for i in range(columns))]


def as_json(batch: pa.RecordBatch, axes: Sequence[Axis]) -> list[dict[str, object]]:
    """The same for JSON: the columns that it is by, their labels, and the numbers."""
    keys = names(axes)[1:]
    found = []
    for group, row in zip(groups(axes), batch.to_pylist(), strict=True):
        key = {axis.column: row[name] for axis, name in zip(axes, keys, strict=True) if axis.column in group.columns}
        found.append({"key": key, **{name: row[name] for name in ENDS}})
    return found
