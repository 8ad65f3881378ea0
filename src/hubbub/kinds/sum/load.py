"""The files of a sum, read back: the integers that were drawn for each bin and each octave, from the files alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from hubbub.errors import CheckFailed
from hubbub.kinds.histogram.load import bins_in
from hubbub.kinds.statistic.mechanism import NO_NUMBERS
from hubbub.kinds.sum.estimates import Row
from hubbub.kinds.sum.lost import OctaveCounts
from hubbub.kinds.sum.mechanism import Sums, in_columns
from hubbub.kinds.sum.result import LOST, columns, crowd_column, integer_columns, layers_schema, schema
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files
from hubbub.tables.key_columns import key_columns
from hubbub.tables.protection import Crowd

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum


def load(spec: Sum, files: Files) -> Measurement:
    """What was drawn for the bins of the published files.

    Guarantee: every found bin is there once; a number is missing only where all that was drawn for the bin is, and only
    where crowds are hidden.
    """
    keys = key_columns(spec.axes, columns(spec)) if spec.discovered else []
    table = files.table("release", schema(spec), [*keys, *integer_columns(spec), "low"])
    rows, found = _rows(spec, table, _sums(spec, table, files)), None
    if spec.discovered:
        codes, labels = bins_in(spec.axes, table, keys)
        found = list(zip(codes.tolist(), zip(*labels, strict=True), strict=True))
    answers = loaded(Sums(spec).schema, in_columns(spec, rows, found))
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
    if not spec.layered:
        return [(each,) for each in table.column("sum").to_pylist()]
    each, n = files.table("layers", layers_schema(spec), ["sum"]).column("sum").to_pylist(), len(spec.layers)
    if len(each) != n * table.num_rows:
        raise CheckFailed("its layers are not as many as its bins have")
    return [tuple(each[i : i + n]) for i in range(0, len(each), n)]


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
