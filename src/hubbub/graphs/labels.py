"""People's labels, of any type, as numbers from 0 on.

Whole numbers that lie close together are marked in a table, one entry for each, and need no sort and no hash: numbers
that are small enough stay as they are. All other labels are numbered in the order in which they come.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hubbub.errors import Refused, WrongUse
from hubbub.graphs.graph import Graph, Numbers, simple

_SPREAD: Final = 4  # a table of labels has at most so many places for each end of a link
_SMALL: Final = 1 << 16

STRANGER: Final = "a link names somebody who is not among the vertices; add them to the vertex file, or drop the link"
TOO_FEW: Final = (
    "the links name more people than the declared number of vertices; declare at least as many as there are"
)
EMPTY: Final = "an end of a link is empty; fill it or leave the link out, and list people without links as vertices"
TWICE: Final = "a vertex is listed twice; list each one once"


class TooFew(Refused):
    """There are more people than the declared number of vertices."""


def from_columns(one: Any, other: Any, known: Any = None, vertices: int | None = None) -> Graph:
    """The graph of two Arrow columns of labels. `known` has the label of every vertex, `vertices` says how many."""
    columns = _alike([column for column in (one, other, known) if column is not None])
    if any(column.null_count for column in columns):
        raise Refused(EMPTY)
    if pa.types.is_integer(columns[0].type):
        ends = [pc.min_max(column).as_py() for column in columns if len(column)]
        low, high = min((e["min"] for e in ends), default=0), max((e["max"] for e in ends), default=-1)
        span = high - low + 1
        if span <= _SPREAD * sum(map(len, columns)) + _SMALL:
            found = [_integers(column, low) for column in columns]
            del columns, one, other, known
            return _by_table(found, low, span, vertices)
    return _by_hash(columns, vertices)


def from_labels(
    links: Iterable[tuple[Hashable, Hashable]], known: Iterable[Hashable] = (), *, all_known: bool
) -> Graph:
    """The graph of links between any Python values; with `all_known` every one must be among `known`."""
    number: dict[Hashable, int] = {}
    for label in known:
        if label in number:
            raise Refused(TWICE)
        number[label] = len(number)
    one: list[int] = []
    other: list[int] = []
    for a, b in links:
        if a is None or b is None:
            raise Refused(EMPTY)
        if all_known and (a not in number or b not in number):
            raise Refused(STRANGER)
        one.append(number.setdefault(a, len(number)))
        other.append(number.setdefault(b, len(number)))
    return simple(np.array(one, dtype=np.int64), np.array(other, dtype=np.int64), len(number))


def with_vertices(graph: Graph, vertices: int | None) -> Graph:
    """The same graph with so many vertices in all; those that are new have no edges."""
    if vertices is None:
        return graph
    if vertices < graph.vertices:
        raise TooFew(TOO_FEW)
    return Graph(vertices, graph.starts, graph.ends)


def _alike(columns: list[Any]) -> list[Any]:
    """Columns of one type: whole numbers, or what they are, or text if they differ."""
    plain = [_decode(column) for column in columns]
    kinds = {column.type for column in plain}
    if len(kinds) == 1:
        (kind,) = kinds
        if pa.types.is_nested(kind) or (pa.types.is_null(kind) and any(map(len, plain))):
            raise WrongUse("labels must be numbers, text or dates, one in each cell; choose other columns")
        if pa.types.is_floating(kind) and any(pc.any(pc.is_nan(column)).as_py() for column in plain):
            raise Refused(EMPTY)
        return plain
    if all(pa.types.is_integer(kind) and kind != pa.uint64() for kind in kinds):
        return [column.cast(pa.int64()) for column in plain]
    try:
        return [column.cast(pa.large_string()) for column in plain]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise WrongUse("the columns of labels are of types that cannot be compared; make them one type") from None


def _decode(column: Any) -> Any:
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    kind = chunked.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
        chunked = chunked.cast(kind)
    if pa.types.is_string(kind) or pa.types.is_string_view(kind):
        return chunked.cast(pa.large_string())
    return chunked


def _integers(column: Any, low: int) -> Numbers:
    """The numbers less `low`, in the narrowest array that holds them, chunk by chunk."""
    top = pc.max(column).as_py()
    narrow = top is None or top - low < 2**31
    out: NDArray[Any] = np.empty(len(column), dtype=np.int32 if narrow else np.int64)
    at = 0
    for chunk in column.chunks:
        part = chunk.to_numpy(zero_copy_only=False)
        if low:
            part = part - np.uint64(low) if part.dtype == np.uint64 else part.astype(np.int64) - low
        out[at : at + part.size] = part
        at += part.size
    return out


def _by_table(found: list[Numbers], low: int, span: int, vertices: int | None) -> Graph:
    one, other, *known = found
    if not known and vertices is not None and low >= 0 and low + span <= vertices and low < span:
        shift = np.int32(low)
        return simple(one + shift if low else one, other + shift if low else other, vertices, low + span)
    present = np.zeros(span, dtype=np.bool_)
    for column in known or (one, other):
        present[column] = True
    count = int(present.sum())
    if known:
        if count < known[0].size:
            raise Refused(TWICE)
        if not (present[one].all() and present[other].all()):
            raise Refused(STRANGER)
    if count < span:
        number = np.cumsum(present, dtype=np.int32) - np.int32(1)
        one, other = number[one], number[other]
    return with_vertices(simple(one, other, count), vertices)


def _by_hash(columns: list[Any], vertices: int | None) -> Graph:
    one, other, *known = columns
    ordered = [*known, one, other]
    try:
        coded = pa.chunked_array([chunk for column in ordered for chunk in column.chunks], type=one.type)
        coded = coded.dictionary_encode().unify_dictionaries()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise WrongUse("labels must be numbers, text or dates; choose other columns") from None
    count = len(coded.chunk(0).dictionary) if coded.num_chunks else 0
    numbers: NDArray[np.int32] = np.concatenate(
        [np.empty(0, dtype=np.int32), *(chunk.indices.to_numpy().astype(np.int32) for chunk in coded.chunks)]
    )
    if known:
        listed = len(known[0])
        if listed and int(numbers[:listed].max()) + 1 < listed:
            raise Refused(TWICE)
        if count > listed:
            raise Refused(STRANGER)
        numbers = numbers[listed:]
    return with_vertices(simple(numbers[: len(one)], numbers[len(one) :], count), vertices)
