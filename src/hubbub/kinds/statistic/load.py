"""The file of a statistic, read back: the integers that were drawn for each bin, from the file alone."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.errors import CheckFailed
from hubbub.kinds.statistic.drawn_columns import NO_NUMBERS, Row, bins_of_file, in_columns
from hubbub.kinds.statistic.result import ENDS, columns, drawn_columns, published_columns, schema
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files
from hubbub.tables.bounded_column import Measure
from hubbub.tables.key_columns import key_columns
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.statistic.spec import Statistic

_HALF: Final = Fraction(1, 2)  # a step
_MOST_SAMPLED: Final = 10**10  # people, in a file that somebody made: their intervals would take for ever


def load(spec: Statistic, files: Files) -> Measurement:
    """The measurement, read from a published file.

    Guarantee: every found bin is there once; a number is missing only where all that was drawn for the bin is, and
    only where crowds are hidden. A file of more than 10^10 sampled people is refused.
    """
    keys = key_columns(spec.axes, columns(spec)) if spec.discovered else []
    table = files.table("release", schema(spec), [*keys, *published_columns(spec), *ENDS])
    rows = rows_in(spec, table)
    sampled = isinstance(spec.protection, Crowd) and spec.protection.sample is not None
    if sampled and sum(row[0] or 0 for row in rows) > _MOST_SAMPLED:
        raise CheckFailed(NO_NUMBERS)
    batch = in_columns(spec, drawn_columns(spec), rows, bins_of_file(spec, table, keys))
    return Measurement(answers=loaded(batch.schema, batch))


def rows_in(spec: Statistic, table: pa.Table) -> list[Row]:
    """The integers of every row; of a quantile those of its ends too, read from the ends."""
    rows = zip(*(table.column(name).to_pylist() for name in published_columns(spec)), strict=True)
    if spec.ranked is None:
        return [_checked(spec, row) for row in rows]
    measure, _ = spec.ranked
    ends = zip(*(table.column(name).to_pylist() for name in ENDS[1:]), strict=True)
    return [_ranked(spec, measure, row, points) for row, points in zip(rows, ends, strict=True)]


def _ranked(spec: Statistic, measure: Measure, row: Row, ends: tuple[Any, ...]) -> Row:
    hidden = None in row
    points = zip(ends, (_HALF, -_HALF), strict=True)
    return _checked(spec, (*row, *(None if hidden else _point(measure, end, back) for end, back in points)))


def _point(measure: Measure, end: float | None, back: Fraction) -> int | None:
    """The step that was drawn: the file has an end half a step further out, where that is in the range."""
    if end is None:
        return None
    if not isfinite(end):
        raise CheckFailed(NO_NUMBERS)
    at = (Fraction(end) - measure.low) / measure.step
    on_a_step = abs(at - round(at)) < _HALF / 2  # else it is half way between two steps
    step = round(at if on_a_step else at + back)
    if not 0 <= step <= measure.steps:
        raise CheckFailed(NO_NUMBERS)
    return step


def _checked(spec: Statistic, row: Row) -> Row:
    if None in row and not (isinstance(spec.protection, Crowd) and set(row) == {None}):
        raise CheckFailed(NO_NUMBERS)
    return row
