"""The file of a statistic, held against its description: columns, bins, and every number that follows from others."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from contextlib import closing
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa

from hubbub.tables.measure import Measure
from hubbub.tables.protection import Crowd, Knowledge, Route
from hubbub.tables.statistic_answers import HIDDEN, SHOWN, Answer, Answers, Key, columns, published_columns
from hubbub.tables.statistic_told import Row, told
from hubbub.tables.written import STATUS, from_csv, from_parquet, repeated
from hubbub.tables.written import misfit as of_bins

if TYPE_CHECKING:
    from hubbub.tables.statistic import Statistic

ENDS: Final = ("estimate", "low", "high")
NO_NUMBERS: Final = "its numbers are none that such a release publishes"
_LAST_PLACE: Final = 10**6
_MOST_PEOPLE: Final = 10**10
_LONGEST: Final = 4_000  # signs of a number
UNREADABLE: Final = (OSError, ValueError, ArithmeticError, csv.Error, pa.ArrowException)


def misfit(spec: Statistic, file: Path, form: str) -> str | None:
    """What in the file is not as described, in words; None if nothing is.

    Guarantee: if None, the estimate, the interval and the status of every bin are those that follow from its published
    integers and the description, worked out again; and of bins that were found none is hidden, and none is there twice
    (in a CSV, as far as labels that are neither empty nor quoted can tell). Of a quantile, whose value and ends are
    drawn: they are points of the declared range in their order, or the bin is hidden. The exact law of a sample is
    summed up in floating point, and an end may be one person in a million off.
    """
    found = of_bins(file, form, spec.axes, columns(spec))
    if found is not None:
        return found
    try:
        rows = list(rows_in(file, form, columns(spec)))
        answers = _of_points(spec, rows) if spec.ranked is not None else told(spec, _published(spec, rows))
    except UNREADABLE:
        return NO_NUMBERS
    if spec.discovered and (wrong := _of_found(spec, file, form, answers)) is not None:
        return wrong
    labels: list[Key] | None = [(None,) * len(spec.axes)] * len(rows) if spec.discovered else None  # looked at above
    (batch,) = Answers(spec, answers, labels).sheets()[0].batches()
    slack = _slack(spec)
    for name in (*ENDS, STATUS):
        wanted = batch.column(name).to_pylist()
        for row, right in zip(rows, wanted, strict=True):
            if not _same(row[name], right, slack if name != STATUS else 0):
                return f"its column {name} does not follow from its published integers"
    return None


def _of_found(spec: Statistic, file: Path, form: str, answers: Sequence[Answer]) -> str | None:
    """What is wrong with the bins of a file whose bins were found in the data: a hidden one is to be absent."""
    if any(answer.status == HIDDEN for answer in answers):
        return "a bin is listed that is hidden"
    keys = len(spec.axes)
    with closing(from_csv(file) if form == "csv" else from_parquet(file, keys)) as lines:
        next(lines)
        return "a bin is there twice" if repeated(line[:keys] for line in lines) else None


def rows_in(file: Path, form: str, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The last columns of a file, which are to have these names, row by row: texts or numbers, None where empty."""
    if form == "csv":
        with closing(from_csv(file)) as lines:
            next(lines)
            for line in lines:
                yield {name: cell or None for name, cell in zip(names, line[-len(names) :], strict=True)}
        return
    import pyarrow.parquet as parquet

    table = parquet.read_table(file)
    cells = [table.column(i).to_pylist() for i in range(table.num_columns - len(names), table.num_columns)]
    for row in zip(*cells, strict=True):
        yield dict(zip(names, row, strict=True))


def _published(spec: Statistic, rows: Sequence[dict[str, Any]]) -> list[Row]:
    """The integers of every bin; a ValueError if a sample has more people than there are: that would take for ever."""
    found = [_integers(spec, row) for row in rows]
    sampled = isinstance(spec.protection, Crowd) and spec.protection.sample is not None
    if sampled and sum(row[0] or 0 for row in found) > _MOST_PEOPLE:
        raise ValueError("so many people were not sampled")
    return found


def _integers(spec: Statistic, row: dict[str, Any]) -> Row:
    return tuple(_whole(row[name]) for name in published_columns(spec))


def _whole(cell: Any) -> int | None:
    if isinstance(cell, str):
        if len(cell) > _LONGEST:
            raise ValueError("a number is too long")
        return int(cell)
    if cell is not None and type(cell) is not int:
        raise ValueError("a published integer is none")
    return cell


def number(cell: Any) -> float | int | None:
    """What a cell says, of a text the number it is."""
    if not isinstance(cell, str):
        return cell if isinstance(cell, int | float) else None
    return int(cell) if cell.lstrip("-").isdigit() and len(cell) < _LONGEST else float(cell)


def _same(cell: Any, right: Any, slack: Fraction | int) -> bool:
    if cell is None or right is None or isinstance(right, str):
        return bool(cell == right)
    try:
        found = number(cell)
        return found is not None and (found == right or abs(Fraction(found) - Fraction(right)) <= slack)
    except (ValueError, ArithmeticError):
        return False


def _slack(spec: Statistic) -> Fraction:
    """How far an end may be from ours: the laws of samples are sums of floats, which machines round differently."""
    knowledge = spec.protection
    exact = spec.measured is None or spec.alone_known
    if not exact or not isinstance(knowledge, Knowledge) or knowledge.route is Route.EXACT:
        return Fraction(0)
    people = Fraction(knowledge.people // _LAST_PLACE)
    return people if spec.measured is None else people / knowledge.people


# --- quantiles ----------------------------------------------------------------------------------------------------


def _of_points(spec: Statistic, rows: Sequence[dict[str, Any]]) -> list[Answer]:
    """The answers of a quantile, read as points of its range; a ValueError if they are none."""
    assert spec.ranked is not None
    measure, _ = spec.ranked
    found = []
    for row in rows:
        published = _integers(spec, row)
        if isinstance(spec.protection, Crowd):
            if published == (None,):
                found.append(Answer((None,), None, None, measure.low, measure.high, HIDDEN))
                continue
            if (published[0] or 0) < spec.protection.k:
                raise ValueError("so small a crowd is hidden")
        value, low, high = _points(measure, row)
        if not measure.low <= low <= value <= high <= measure.high:
            raise ValueError("the points are not in their order")
        found.append(Answer(published, value, value, *measure.unrounded(low, high), SHOWN))
    return found


def _points(measure: Measure, row: dict[str, Any]) -> tuple[Fraction, Fraction, Fraction]:
    """The three steps that were drawn: the ends are told half a step further out, where that is in the range."""
    cells = [number(row[name]) for name in ENDS]
    if None in cells:
        raise ValueError("a point is missing")
    value, low, high = ((Fraction(cell or 0) - measure.low) / measure.step for cell in cells)
    half = Fraction(1, 2)
    first, last = low + half if low > 0 else low, high - half if high < measure.steps else high
    return measure.value(round(value)), measure.value(round(first)), measure.value(round(last))
