"""Whether the numbers of a published table of counts can be those of the mechanism that is described.

Which bins a file has is looked at in :mod:`hubbub.tables.written`; here its numbers. A count that the mechanism never
shows (one of a crowd that is too small, for one), a hidden bin where only shown ones are listed, a bin that is there
twice, an estimate that does not follow from its number, and an interval that is narrower than the one that does, are
found. What the count was before its noise, nobody can see from here.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from hubbub.channels.channel import Channel
from hubbub.channels.checks import critical
from hubbub.channels.law import SUPPRESSED, Law
from hubbub.channels.published import Published
from hubbub.channels.staircase import Staircase
from hubbub.channels.staircase_work import MOST_VALUES
from hubbub.errors import HubbubError
from hubbub.tables.estimands import estimates, has_estimates
from hubbub.tables.intervals import of_published
from hubbub.tables.sparse import is_sparse
from hubbub.tables.wording import status
from hubbub.tables.written import STATUS, from_csv, repeated

if TYPE_CHECKING:
    from hubbub.tables.histogram import Histogram

_ROWS: Final = 100_000  # that are looked at
_WORKED: Final = 200  # different numbers whose laws and intervals are worked out, the smallest first
_NARROW, _WIDEST = (
    20_000,
    600_000,
)  # values in the tables of a law: beyond the first fewer numbers, beyond the second none
_NUMBER: Final = re.compile(r"'?(-?\d{1,18})", re.ASCII)  # an earlier version wrote an apostrophe before a sign
_NUMBERS: Final = ("count", "estimate", "low", "high")
_BEYOND: Final = (HubbubError, ValueError, ArithmeticError, RecursionError, MemoryError)


class Row(NamedTuple):
    """One bin of a file."""

    key: tuple[str | None, ...]
    status: str
    value: int | None
    estimate: int | None
    low: int | None
    high: int | None


def impossible(spec: Histogram, file: str | Path, form: str) -> str | None:
    """What among the first hundred thousand rows cannot have been published, in words; None if all can.

    Guarantee: if None, every count there is a whole number, and the two hundred smallest different ones (fewer where
    the laws of a staircase are wide) have a chance above 0 of being published for some number of people; hidden bins
    show none, and are not listed where only shown ones are; no bin is there twice; and every interval of these counts
    holds the one that is worked out today.
    """
    import pyarrow as pa

    try:
        with closing(_from_csv(file, len(spec.axes)) if form == "csv" else _from_parquet(file, len(spec.axes))) as read:
            rows = list(islice(read, _ROWS))
    except (OSError, ValueError, KeyError, IndexError, TypeError, csv.Error, pa.ArrowException):
        return "a number in it is none"
    return _rows(spec, rows) or _outcomes(spec, rows)


def _rows(spec: Histogram, rows: list[Row]) -> str | None:
    shown_only = spec.discovered or is_sparse(spec)
    for row in rows:
        hidden = row.status.startswith(SUPPRESSED)
        if hidden != (row.value is None) or (hidden and row.estimate is not None):
            return "a bin is shown where it says that it is hidden, or the other way round"
        if hidden and shown_only:
            return "a bin is listed that is hidden"
        if row.low is None or row.low < 0 or (row.high is not None and row.high < row.low):
            return "an interval is none"
    return "a bin is there twice" if shown_only and repeated(row.key for row in rows) else None


def _outcomes(spec: Histogram, rows: list[Row]) -> str | None:
    """Different numbers, the smallest first: whether they can be shown, and what their intervals are."""
    channel = spec.channel
    wide = channel.table_values(0) if isinstance(channel, Staircase) else 0
    if wide > MOST_VALUES:
        return "its numbers are of laws too wide to be worked out again in a while"
    some = [channel.law(count) for count in critical(channel)]
    tags = {status(tag): tag for law in (channel.law(0), *some) for tag in law.tags}
    open_ended = any(law.order is not None for law in some)  # a channel with more tags than these laws have
    different: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        if row.status not in tags and not open_ended:
            return "a status is none of this mechanism"
        different.setdefault((row.value or 0, row.status), []).append(row)
    worked = [(value, tags[said]) for value, said in sorted(different) if said in tags][
        : min(_WORKED, _WORKED * _NARROW // max(wide, 1))
    ]
    if not worked:
        return None
    names = tuple(dict.fromkeys(tag for _, tag in worked))
    values = np.array([value for value, _ in worked], dtype=np.int64)
    try:
        for value, tag in worked:
            if not any(_has(law, value, tag) for law in chain(some, _laws(channel, value))):
                return "a count is shown that this mechanism never shows"
        which = np.array([names.index(tag) for _, tag in worked], dtype=np.intp)
        low, high = of_published(spec, Published(values, which, names))
        about = estimates(spec, values)
    except _BEYOND:
        return "a count is none that this mechanism can show"
    beside = has_estimates(spec)
    for (value, tag), least, most, middle in zip(worked, low.tolist(), high.tolist(), about.tolist(), strict=True):
        for row in different[value, status(tag)]:
            assert row.low is not None
            if beside and row.estimate != (None if tag.startswith(SUPPRESSED) else middle):
                return "an estimate does not follow from its count"
            if row.low > least or (row.high is not None and (most < 0 or row.high < most)):
                return "an interval is narrower than the one that follows from its count"
    return None


def _laws(channel: Channel, value: int) -> Iterator[Law]:
    """One after the other: some take long to make."""
    for count in (0, 1, max(value, 0)):
        yield channel.law(count)


def _has(law: Law, value: int, tag: str) -> bool:
    """Whether an outcome has a chance; where some of a law was left out, it may."""
    if law.missing:
        return True
    return any(
        part.tag == tag and (part.lo is None or part.lo <= value) and (part.hi is None or value <= part.hi)
        for part in law.parts
    )


# --- reading --------------------------------------------------------------------------------------------------------


def _from_csv(file: str | Path, keys: int) -> Generator[Row, None, None]:
    rows = from_csv(file)
    head = next(rows, [])
    at = {str(name): i for i, name in enumerate(head) if i >= keys}
    for row in rows:
        numbers = [_whole(row[at[name]] or "") if name in at else None for name in _NUMBERS]
        yield Row(tuple(row[:keys]), row[at[STATUS]] or "", *numbers)


def _whole(text: str) -> int | None:
    if not text:
        return None
    if (found := _NUMBER.fullmatch(text)) is None:
        raise ValueError("no whole number")
    return int(found[1])


def _from_parquet(file: str | Path, keys: int) -> Generator[Row, None, None]:
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(file) as table:
        names = table.schema_arrow.names
        at = {name: i for i, name in enumerate(names) if i >= keys}
        for batch in table.iter_batches(10_000):
            columns = [column.to_pylist() for column in batch.columns]
            for row in zip(*columns, strict=True):
                numbers = [row[at[name]] if name in at else None for name in _NUMBERS]
                if not all(number is None or type(number) is int for number in numbers):
                    raise ValueError("no whole number")
                yield Row(tuple(row[:keys]), row[at[STATUS]], *numbers)
