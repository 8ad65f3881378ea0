"""What is drawn of a synopsis: a table of the class by one or two columns, or an axis in pieces, with its intervals."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final

from hubbub.kinds.queries import text
from hubbub.kinds.queries.query_text import label_at
from hubbub.numeric.format import join_words
from hubbub.protocol.drawing import Bar, Bars, Cell, Heat, Mark
from hubbub.query_classes.classes import Box, ColumnCells, Halfspace, Halfspaces, Query
from hubbub.tables.bins import Dates, Values, size
from hubbub.tables.labels import label_in_words

if TYPE_CHECKING:
    from hubbub.kinds.queries.result import Synopsis

MOST: Final = 48  # bars
ACROSS: Final = 12  # columns of a table of tints


def drawing(found: Synopsis) -> Bars | Heat | None:
    """The picture, or None where no table of the class is small enough to be read."""
    queries = found.spec.queries
    if isinstance(queries, ColumnCells):
        return _table(found, queries)
    return _pieces(found)


def _table(found: Synopsis, queries: ColumnCells) -> Bars | Heat | None:
    """The first table by two columns that can be read, in tints; else the first by one."""
    for columns in sorted(queries.sets, key=lambda each: -len(each)):
        sizes = [queries.shape[i] for i in columns]
        if len(columns) <= 2 and max(sizes) <= MOST and (len(columns) == 1 or min(sizes) <= ACROSS):
            break
    else:
        return None
    names = [found.spec.request.axes[i].column for i in columns]
    many = len(queries.sets)
    note = f"Drawn is the table by {join_words(names)}, one of {many:,}." if many > 1 else ""
    bars = {
        bins: _bar(found, _label(found, columns[0], bins[0]), _cell_of(queries, dict(zip(columns, bins, strict=True))))
        for bins in product(*(range(queries.shape[i]) for i in columns))
    }
    if len(columns) == 1:
        return _bars(found, list(bars.values()), columns[0], note)
    across = min((1, 0), key=lambda i: queries.shape[columns[i]])
    rows, wide = range(queries.shape[columns[1 - across]]), range(queries.shape[columns[across]])
    cells = [[bars[(row, column) if across else (column, row)] for column in wide] for row in rows]
    return Heat(
        by=(names[1 - across], names[across]),
        rows=tuple(_label(found, columns[1 - across], row) for row in rows),
        columns=tuple(_label(found, columns[across], column) for column in wide),
        cells=tuple(tuple(Cell(each.value, each.low, each.high) for each in row) for row in cells),
        numbers=_numbers(found),
        cell=_what(found),
        line=text.interval_headline(found.spec),
        note=note,
    )


def _cell_of(queries: ColumnCells, at: Mapping[int, int]) -> Box:
    """The cell of a table: one bin of each of its columns, and all of the others."""
    return tuple((at[i], at[i] + 1) if i in at else (0, all_) for i, all_ in enumerate(queries.shape))


def _pieces(found: Synopsis) -> Bars:
    """The first axis in pieces of one length: intervals, slices of boxes, or half-spaces up to a bin."""
    shape, queries = found.spec.queries.shape, found.spec.queries
    step = -(-shape[0] // MOST)
    drawn = []
    for start in range(0, shape[0], step):
        stop = min(start + step, shape[0])
        query: Query
        if isinstance(queries, Halfspaces):
            query = Halfspace((Fraction(1), *(Fraction(0) for _ in shape[1:])), Fraction(stop - 1))
            label = f"up to {_label(found, 0, stop - 1)}"
        else:
            query = ((start, stop), *((0, each) for each in shape[1:]))
            label = _label(found, 0, start)
        drawn.append(_bar(found, label, query))
    note = f"Each bar is {step:,} steps together, beginning with the one that is named." if step > 1 else ""
    return _bars(found, drawn, 0, note)


def _bars(found: Synopsis, drawn: list[Bar], along: int, note: str) -> Bars:
    axis = found.spec.request.axes[along]
    return Bars(
        bars=tuple(drawn),
        by=axis.column,
        numbers=_numbers(found),
        upright=not isinstance(axis, Values),
        mark=Mark.LINE if isinstance(axis, Dates) else Mark.BAR,
        bar=_what(found),
        line=text.interval_headline(found.spec),
        note=note,
    )


def _numbers(found: Synopsis) -> str:
    return f"{found.spec.counted_noun}, estimated"


def _what(found: Synopsis) -> str:
    return f"Estimated number of {found.spec.counted_noun}, worked out from what was published"


def _label(found: Synopsis, column: int, index: int) -> str:
    axis = found.spec.request.axes[column]
    assert index < size(axis)
    return label_in_words(axis, label_at(axis, index))


def _bar(found: Synopsis, label: str, query: Box | Halfspace) -> Bar:
    answer = found.answer_to(query)
    return Bar(label, round(answer.estimate), answer.low, answer.high)
