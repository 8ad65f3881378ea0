"""Queries in the words of their columns, and the columns of files that say which query a row is about.

::

    {"sex": "F", "town": "Bath"}                 one bin of each named column
    {"age": ("[20,30)", "[60,70)")}              from one bin to another, both included
    {"age": 2, "income": -1, "at most": 40}      a half-space: bin numbers 0, 1, ... times these, added up

A missing value is the bin None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.numeric.exact import rational, to_text
from hubbub.query_classes.classes import Box, Boxes, Class, ColumnCells, Halfspace, Halfspaces, Listed, Query, Span
from hubbub.serialization.arrow import labelled
from hubbub.tables.bins import Declared, Steps, all_labels, size

ANY: Final = "(any)"
LIMIT: Final = "at most"
_MOST_CELLS: Final = 10_000  # that are added up for one answer
Words = Mapping[str, Any]


def queries_of(parts: Words, axes: Sequence[Declared], queries: Class) -> tuple[Query, ...]:
    """The queries of the class that add up to what is meant: it alone, or cells of a table by more columns.

    ``{"sex": "F"}`` is no query of marginals:2, and the sum over all bins of a second column; the second is the one with
    the fewest bins. One sentence if it is no such sum.
    """
    if not isinstance(parts, Mapping):
        raise WrongUse('a query is a mapping from columns to bins, like {"sex": "F"}; write it so')
    if isinstance(queries, Halfspaces):
        return (_halfspace(parts, axes),)
    names = [axis.column for axis in axes]
    for name in parts:
        if name not in names:
            raise WrongUse(f"there is no column {str(name)[:40]!r} in this synopsis; there are {', '.join(names)}")
    box = box_of(parts, axes)
    if queries.has(box):
        return (box,)
    if isinstance(queries, ColumnCells) and (found := _cells_of(box, [size(axis) for axis in axes], queries)):
        return found
    raise WrongUse(f"this is no query of {queries.name}, and the synopsis answers only those; ask one of them")


def box_of(parts: Words, axes: Sequence[Declared]) -> Box:
    """The runs of bins that are meant, all bins of a column that is not named."""
    return tuple(_span(axis, parts[axis.column]) if axis.column in parts else (0, size(axis)) for axis in axes)


def _cells_of(box: Box, sizes: Sequence[int], queries: ColumnCells) -> tuple[Box, ...]:
    """The cells of one table that make up a box; none if no table has its columns, or they are too many."""
    some = [i for i, (span, many) in enumerate(zip(box, sizes, strict=True)) if span != (0, many)]
    used = queries.around(some) if some else None
    if used is None or prod(box[i][1] - box[i][0] for i in used) > _MOST_CELLS:
        return ()
    runs = [[(j, j + 1) for j in range(*span)] if i in used else [span] for i, span in enumerate(box)]
    return tuple(product(*runs))


def parts_in(texts: Sequence[str], axes: Sequence[Declared], queries: Class) -> dict[str, Any]:
    """The words of a command: ``sex=F``, a run as ``age=[20,25)..[60,65)``, a missing value as ``sex=``."""
    found: dict[str, Any] = {}
    known = {axis.column: axis for axis in axes}
    for text in texts:
        name = max((each for each in (*known, LIMIT) if text.startswith(f"{each}=")), key=len, default=None)
        if name is None:
            raise WrongUse(
                f"a query is written column=bin for columns of this synopsis, not {text[:40]!r}; write it so"
            )
        if name in found:
            raise WrongUse(f"{name} is said twice in one query; say it once")
        value, axis = text[len(name) + 1 :], known.get(name)
        found[name] = value if axis is None or isinstance(queries, Halfspaces) else _bins_in(value, axis)
    return found


def _bins_in(text: str, axis: Declared) -> Any:
    labels = all_labels(axis)
    if text in labels:
        return text
    if not text and None in labels:
        return None
    first, dots, last = text.partition("..")
    return (first, last) if dots else text


def _span(axis: Declared, text: Any) -> Span:
    if isinstance(text, tuple | list):
        if len(text) != 2:
            raise WrongUse(f"a run of bins of {axis.column} is written (first, last); give these two")
        first, last = (_bin(axis, end) for end in text)
        if first > last:
            raise WrongUse(f"the first bin of {axis.column} comes after the last; swap them")
        return first, last + 1
    index = _bin(axis, text)
    return index, index + 1


def _bin(axis: Declared, label: Any) -> int:
    labels = all_labels(axis)
    if label not in labels:
        raise WrongUse(
            f"{str(label)[:40]!r} is no bin of {axis.column}; the first ones are "
            f"{', '.join(map(repr, labels[:3]))}, and bins are named as the release names them"
        )
    return labels.index(label)


def _halfspace(parts: Words, axes: Sequence[Declared]) -> Halfspace:
    names = [axis.column for axis in axes]
    wrong = [name for name in parts if name not in (*names, LIMIT)]
    if LIMIT not in parts or wrong:
        raise WrongUse(f'a half-space has a weight for each of {", ".join(names)} and "{LIMIT}": a number; write it so')
    return Halfspace(
        tuple(rational(parts.get(name, 0), f"the weight of {name}") for name in names), rational(parts[LIMIT], LIMIT)
    )


def parts_of_query(query: Query, axes: Sequence[Declared]) -> dict[str, Any]:
    """The words of a query, which :func:`query_of` reads."""
    if isinstance(query, Halfspace):
        weights = {axis.column: to_text(weight) for axis, weight in zip(axes, query.weights, strict=True)}
        return weights | {LIMIT: to_text(query.limit)}
    found: dict[str, Any] = {}
    for axis, (start, stop) in zip(axes, query, strict=True):
        if stop - start == 1:
            found[axis.column] = label_at(axis, start)
        elif stop - start < size(axis):
            found[axis.column] = (label_at(axis, start), label_at(axis, stop - 1))
    return found


def label_at(axis: Declared, index: int) -> str | None:
    """The label of one bin. Steps may be millions, so theirs are made one by one."""
    if isinstance(axis, Steps) and index < axis.steps:
        return replace(axis, low=axis.low + index * axis.width, steps=1, null=False, other=False).labels[0]
    return all_labels(axis)[index]


def key_names(axes: Sequence[Declared], queries: Class, taken: Sequence[str]) -> list[str]:
    """The columns that say which query a row is about: one for each column, or where a run begins and ends."""
    names: list[str] = []
    for axis in axes:
        for end in ("_from", "_to") if isinstance(queries, Boxes) else ("",):
            name = f"{axis.column}{end}"
            while name in taken or name in names:
                name = f"by_{name}"
            names.append(name)
    return names


def keys_of(indices: NDArray[np.int64], axes: Sequence[Declared], queries: Listed) -> list[pa.Array]:
    """For the queries at some places of the list, these columns."""
    found = []
    for axis, starts, stops in zip(axes, *queries.spans(indices), strict=True):
        if isinstance(queries, ColumnCells):
            every = (stops - starts > 1) if size(axis) > 1 else np.zeros(starts.size, dtype=bool)
            found.append(labelled(np.where(every, size(axis), starts), (*all_labels(axis), ANY)))
        else:
            found += [labelled(starts, all_labels(axis)), labelled(stops - 1, all_labels(axis))]
    return found
