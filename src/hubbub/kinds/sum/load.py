"""The files of a sum, read back: the integers that were drawn for each bin and each octave, from the files alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from hubbub.errors import CheckFailed
from hubbub.kinds.sum.estimates import Row
from hubbub.kinds.sum.lost import OctaveCounts
from hubbub.kinds.sum.mechanism import Sums, in_columns
from hubbub.kinds.sum.result import (
    LOST,
    bands_schema,
    columns,
    crowd_column,
    integer_columns,
    layers_schema,
    schema,
)
from hubbub.kinds.sums.columns import NO_NUMBERS, bins_of_file
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files
from hubbub.tables.key_columns import key_columns
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum


def load(spec: Sum, files: Files) -> Measurement:
    """The measurement, read from the published files.

    Guarantee: every found bin is there once; a number is missing only where all that was drawn for the bin is, and only
    where crowds are hidden.
    """
    keys = key_columns(spec.axes, columns(spec)) if spec.discovered else []
    table = files.table("release", schema(spec), [*keys, *integer_columns(spec), "low"])
    rows = _rows(spec, table, _sums(spec, table, files))
    answers = loaded(Sums(spec).schema, in_columns(spec, rows, bins_of_file(spec, table, keys)))
    if spec.lost is None:
        return Measurement(answers=answers)
    people = files.table("lost", LOST, ["people"]).combine_chunks().column("people")
    if people.null_count:
        raise CheckFailed(NO_NUMBERS)
    numbers = pa.array(people.to_pylist(), pa.int64())
    lost = loaded(OctaveCounts.schema, pa.record_batch([numbers], schema=OctaveCounts.schema))
    return Measurement(answers=answers, lost=lost)


def _sums(spec: Sum, table: pa.Table, files: Files) -> list[tuple[int | None, ...]]:
    """The sums of the layers of every bin."""
    if spec.tailored is not None:
        return _bands(spec, table.num_rows, files)
    if not spec.layered:
        return [(each,) for each in table.column("sum").to_pylist()]
    each, n = files.table("layers", layers_schema(spec), ["sum"]).column("sum").to_pylist(), len(spec.layers)
    if len(each) != n * table.num_rows:
        raise CheckFailed("its layers are not as many as its bins have")
    return [tuple(each[i : i + n]) for i in range(0, len(each), n)]


def _bands(spec: Sum, size: int, files: Files) -> list[tuple[int | None, ...]]:
    """The number of people and the sum of every band of every bin; a sum that is not told is 0."""
    table, octaves = files.table("bands", bands_schema(spec), ["people", "sum"]), spec.octaves
    people, sums = (table.column(name).to_pylist() for name in ("people", "sum"))
    n = len(octaves.bands)
    if len(people) != n * size or None in people:
        raise CheckFailed("its bands are not as many as its bins have")
    if any((sums[i] is not None) != octaves.has_sum(i % n, each) for i, each in enumerate(people)):
        raise CheckFailed(NO_NUMBERS)
    known_sums = [each or 0 for each in sums]
    return [(*people[i : i + n], *known_sums[i : i + n]) for i in range(0, len(people), n)]


def _rows(spec: Sum, table: pa.Table, sums: list[tuple[int | None, ...]]) -> list[Row]:
    size = table.num_rows
    crowds = isinstance(spec.protection, Crowd)
    people = table.column(crowd_column(spec)).to_pylist() if crowds else [None] * size
    caps = table.column("cap_steps").to_pylist() if spec.drawn_cap else [None] * size
    rows = []
    for i in range(size):
        numbers = tuple(each for each in sums[i] if each is not None)
        hidden = crowds and not numbers and people[i] is None
        if (spec.drawn_cap and caps[i] is None) or (
            not hidden and (len(numbers) < len(sums[i]) or (crowds and people[i] is None))
        ):
            raise CheckFailed(NO_NUMBERS)
        rows.append(Row(None if hidden else numbers, people[i], caps[i]))
    return rows
