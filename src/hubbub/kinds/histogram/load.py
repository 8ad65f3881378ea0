"""A published table of counts, read back: what the channel drew for each bin, from the file alone.

The value and the status of a bin are what was drawn; its interval, its estimate and the labels of declared bins follow
from them, and whoever verifies presents them again. What the count was before its noise, nobody can see from here. A
count that the mechanism never shows (one of a crowd that is too small, for one), a hidden bin where only shown ones are
listed, and a bin that is there twice are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hubbub.channels.law import SUPPRESSED, Law
from hubbub.channels.published import Published
from hubbub.errors import CheckFailed, HubbubError, WrongUse
from hubbub.kinds.histogram.mechanism import Bins, in_columns, in_order
from hubbub.kinds.histogram.result import counted_column, keys_of, schema
from hubbub.kinds.histogram.sparse import is_sparse
from hubbub.kinds.histogram.text import status
from hubbub.numeric.exact import rational
from hubbub.numeric.exact_sums import distinct, distinct_and_inverse
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.arrow import coded, numbers
from hubbub.serialization.published_files import Files
from hubbub.tables.bins import OTHER, Axis, Declared, Discovered, Steps, all_labels, declared_size, size
from hubbub.tables.key_columns import STATUS
from hubbub.tables.labels import labels_at

if TYPE_CHECKING:
    from hubbub.channels.protocol import Channel
    from hubbub.kinds.histogram.spec import Histogram

_LONG: Final = 100_000  # bins of a range whose labels are not all made
_NARROW, _WIDEST = 20_000, 600_000  # values in the tables of a law: beyond these fewer numbers are looked at, and none
_WORKED: Final = 200  # different numbers whose laws are worked out, the smallest first
_BEYOND: Final = (HubbubError, ValueError, ArithmeticError, RecursionError, MemoryError)


Columns = Sequence[tuple[str, pa.DataType]]


def load(spec: Histogram, files: Files, more: Columns = ()) -> Measurement:
    """What was drawn for the bins of a published file. `more` are columns that a kind adds after those of a histogram.

    Guarantee: every bin is a declared one, or one that was found, and is there once; hidden bins show no number, and
    are not listed where only shown ones are; and the two hundred smallest different counts (fewer where
    the laws of a staircase are wide) have a chance above 0 of
    being published for some number of people. Otherwise the file is refused.
    """
    described = pa.schema([*schema(spec), *(pa.field(*each) for each in more)])
    keys = keys_of(spec) if spec.has_found_bins or is_sparse(spec) else []
    table = files.table("release", described, [*keys, counted_column(spec), STATUS])
    total = declared_size(spec.axes)
    if not keys and table.num_rows != total:
        raise CheckFailed("its bins are others")
    published = _outcomes(spec, table)
    codes, found = bins_in(spec.axes, table, keys) if keys else (None, ())
    if codes is not None and is_sparse(spec) and (np.diff(codes) <= 0).any():
        raise CheckFailed("its bins are not in their order")
    mechanism = Bins(spec)
    return Measurement(cells=loaded(mechanism.schema, in_columns(mechanism.schema, published, codes, found)))


def load_parts(spec: Histogram, files: Sequence[Path], rows: Sequence[int]) -> Iterator[tuple[Path, Measurement]]:
    """The same of a release in several Parquet files, each with so many rows: each bin is in its own part.

    Guarantee: where all bins are listed, each part has those that the cut gives it, in order; of a sparse release, each
    bin is in the part that its code says; and of bins that were found none is in two parts.
    """
    from hubbub.kinds.histogram.parts import Block, cut_bins
    from hubbub.tables.parts import Found, Listed, Sparse

    if not files or len(files) > (declared_size(spec.axes) or len(files)):
        raise CheckFailed("it has more parts than bins, or none")
    how = cut_bins(replace(spec, parts=len(files)))  # in how many the release was cut, its description does not say
    if len(files) != how.parts:
        raise CheckFailed("its bins are in other parts, or in two of them")
    seen: set[tuple[str | None, ...]] = set()
    mechanism = Block(spec) if isinstance(how, Listed) else Bins(spec)
    for part, (file, many) in enumerate(zip(files, rows, strict=True)):
        keys = [] if isinstance(how, Listed) else keys_of(spec)
        table = Files("parquet", {"release": file}).table(
            "release", schema(spec), [*keys, counted_column(spec), STATUS]
        )
        if table.num_rows != many:
            raise CheckFailed("its rows are not as many")
        published = _outcomes(spec, table)
        codes, found = bins_in(spec.axes, table, keys) if keys else (np.zeros(0, dtype=np.int64), ())
        match how:
            case Listed(total=total, width=width):
                codes = np.arange(part * width, min((part + 1) * width, total))
                wrong = codes.size != table.num_rows
            case Sparse(parts=parts):
                wrong = bool((codes % parts != part).any() or (np.diff(codes) <= 0).any())
            case Found():
                mine = set(zip(*(table.column(name).to_pylist() for name in keys), strict=True))
                wrong = bool(seen & mine)
                seen |= mine
        if wrong:
            raise CheckFailed("its bins are in other parts, or in two of them")
        yield file, Measurement(cells=loaded(mechanism.schema, in_columns(mechanism.schema, published, codes, found)))


# --- what was drawn ---------------------------------------------------------------------------------------------------


def _outcomes(spec: Histogram, table: pa.Table) -> Published:
    """The value and the tag of every bin, if this mechanism can show them."""
    if _width(spec.channel) > _WIDEST:
        raise CheckFailed("its numbers are of laws too wide to be worked out again in a while")
    counts, status_column = table.column(counted_column(spec)), table.column(STATUS)
    if status_column.null_count:
        raise CheckFailed("a status is missing")
    which, statuses = coded(status_column.to_pylist())
    names = _tags(spec.channel, [str(each) for each in statuses])
    hidden = np.array([tag.startswith(SUPPRESSED) for tag in names], dtype=bool)[which]
    values, missing = numbers(counts)
    if not np.array_equal(hidden, missing):
        raise CheckFailed("a bin is shown where it says that it is hidden, or the other way round")
    if hidden.any() and (spec.has_found_bins or is_sparse(spec)):
        raise CheckFailed("a bin is listed that is hidden")
    _check_possible(spec.channel, values, which, names)
    return Published(values, which.astype(np.intp), tuple(names))


def _width(channel: Channel) -> int:
    """How many values the tables of its laws have, where that says how long they take."""
    return channel.law_size(0)


def _tags(channel: Channel, statuses: Sequence[str]) -> list[str]:
    """The channel's own tags, of the words that a file has for them."""
    from hubbub.protocol.channel_checks import critical

    some = [channel.law(count) for count in critical(channel)]
    known = {status(tag): tag for law in (channel.law(0), *some) for tag in law.tags}
    open_ended = any(law.order is not None for law in some)  # a channel with more tags than these laws have
    for label in statuses:
        if label not in known and not open_ended:
            raise CheckFailed("a status is none of this mechanism")
    return [known.get(label, label) for label in statuses]


def _check_possible(channel: Channel, values: NDArray[np.int64], which: NDArray[Any], names: Sequence[str]) -> None:
    """Refuse a number that has no chance of being published, the smallest different ones first."""
    from hubbub.protocol.channel_checks import critical

    some = [channel.law(count) for count in critical(channel)]
    checked = min(_WORKED, _WORKED * _NARROW // max(_width(channel), 1))
    numbers, places = distinct_and_inverse(values)  # numbers by size, and of each number its tags
    different = [
        (int(numbers[pair // len(names)]), pair % len(names))
        for pair in distinct(places.astype(np.int64) * len(names) + which)[:checked].tolist()
    ]
    try:
        for value, tag in different:
            if not any(_has(law, value, names[tag]) for law in chain(some, _laws(channel, value))):
                raise CheckFailed("a count is shown that this mechanism never shows")
    except CheckFailed:
        raise
    except _BEYOND:
        raise CheckFailed("a count is none that this mechanism can show") from None


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


# --- which bins they are ----------------------------------------------------------------------------------------------


def bins_in(
    axes: Sequence[Axis], table: pa.Table, keys: Sequence[str]
) -> tuple[NDArray[np.int64], tuple[list[str | None], ...]]:
    """The codes of the declared part of each bin, and the labels of found axes.

    Guarantee: each bin is there once, and those that were found stand in the order of what they show.
    """
    codes, found = np.zeros(table.num_rows, dtype=np.int64), []
    for axis, name in zip(axes, keys, strict=True):
        labels = table.column(name).to_pylist()
        if isinstance(axis, Discovered):
            found.append(labels)
        else:
            codes = codes * size(axis) + np.array(list(map(_bin_index(axis), labels)), dtype=np.int64)
    if len(set(zip(codes.tolist(), *found, strict=True))) < table.num_rows:
        raise CheckFailed("a bin is there twice")
    if found and not np.array_equal(in_order(codes, found), np.arange(table.num_rows)):
        raise CheckFailed("its bins are not in their order")
    return codes, tuple(found)


def _bin_index(axis: Declared) -> Callable[[str | None], int]:
    """From a label to its number. Of a long range the labels are not all made."""
    if isinstance(axis, Steps) and len(axis) > _LONG:
        return lambda text: _step(axis, text)
    known: dict[str | None, int] = {label: i for i, label in enumerate(all_labels(axis))}

    def index_of(text: str | None) -> int:
        if text not in known:
            raise CheckFailed("its bins are others")
        return known[text]

    return index_of


def _step(axis: Steps, text: str | None) -> int:
    if axis.null and text is None:
        return len(axis)
    if axis.other and text == OTHER:
        return len(axis) + axis.null
    try:
        index = (rational((text or "")[1:].partition(",")[0], "a bound") - axis.low) / axis.width
    except WrongUse:
        raise CheckFailed("its bins are others") from None
    inside = index.denominator == 1 and 0 <= index < len(axis)
    if not inside or labels_at(axis, [int(index)]) != [text]:
        raise CheckFailed("its bins are others")
    return int(index)
