"""What is drawn of a synopsis: a table of the class by one or two columns, or an axis in pieces, with its intervals."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Final

from hubbub.kinds.queries import text
from hubbub.kinds.queries.query_text import label_at
from hubbub.protocol.drawing import Bar, Bars, Mark
from hubbub.query_classes.classes import Box, ColumnCells, Halfspace, Halfspaces, Query
from hubbub.tables.bins import Dates, Values, size
from hubbub.tables.labels import label_in_words

if TYPE_CHECKING:
    from hubbub.kinds.queries.result import Synopsis

MOST: Final = 48  # bars
PANELS: Final = 12


def bars(found: Synopsis) -> Bars | None:
    """The picture, or None where no table of the class is small enough to be read."""
    queries = found.spec.queries
    if isinstance(queries, ColumnCells):
        return _table(found, queries)
    return _pieces(found)


def _table(found: Synopsis, queries: ColumnCells) -> Bars | None:
    """The first table by two columns that can be read, else the first by one."""
    for columns in sorted(queries.sets, key=lambda each: -len(each)):
        sizes = [queries.shape[i] for i in columns]
        if len(columns) <= 2 and max(sizes) <= MOST and (len(columns) == 1 or min(sizes) <= PANELS):
            break
    else:
        return None
    along = max(columns, key=lambda i: queries.shape[i])
    panels = next((i for i in columns if i != along), None)
    drawn = []
    for bins in product(*(range(queries.shape[i]) for i in columns)):
        at = dict(zip(columns, bins, strict=True))
        box = tuple((at[i], at[i] + 1) if i in at else (0, all_) for i, all_ in enumerate(queries.shape))
        panel = "" if panels is None else _label(found, panels, at[panels])
        drawn.append(_bar(found, _label(found, along, at[along]), box, panel))
    others = len(queries.sets) - 1
    names = [found.spec.request.axes[i].column for i in columns]
    note = f"Drawn is the table by {text.listed(names)}, one of {others + 1}." if others else ""
    return _bars(found, drawn, along, note)


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
            label = _label(found, 0, start) if step == 1 else f"from {_label(found, 0, start)}"
        drawn.append(_bar(found, label, query, ""))
    note = f"Each bar is {step:,} bins together, from the one that is named." if step > 1 else ""
    return _bars(found, drawn, 0, note)


def _bars(found: Synopsis, drawn: list[Bar], along: int, note: str) -> Bars:
    axis = found.spec.request.axes[along]
    return Bars(
        bars=tuple(drawn),
        by=axis.column,
        numbers="people, estimated",
        upright=not isinstance(axis, Values),
        mark=Mark.LINE if isinstance(axis, Dates) else Mark.BAR,
        bar="Estimated number of people, worked out from the published synopsis",
        line=text.interval_sentence(found.spec),
        note=note,
    )


def _label(found: Synopsis, column: int, index: int) -> str:
    axis = found.spec.request.axes[column]
    assert index < size(axis)
    return label_in_words(axis, label_at(axis, index))


def _bar(found: Synopsis, label: str, query: Box | Halfspace, panel: str) -> Bar:
    answer = found.answer_to(query)
    return Bar(label, max(round(answer.estimate), 0), answer.low, answer.high, panel)
