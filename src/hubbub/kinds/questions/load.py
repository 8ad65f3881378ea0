"""The files of several questions, read back: what was drawn for each question, from its own file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from hubbub.errors import CheckFailed
from hubbub.kinds.questions.mechanism import OneSample, in_one
from hubbub.kinds.questions.result import SCHEMA, file_name
from hubbub.kinds.sums.load import rows_in
from hubbub.kinds.sums.result import schema
from hubbub.kinds.sums.sums import ENDS
from hubbub.protocol.measurement import Measurement, loaded
from hubbub.serialization.published_files import Files

if TYPE_CHECKING:
    from hubbub.kinds.questions.spec import Questions


def load(spec: Questions, files: Files) -> Measurement:
    """What was drawn for every question.

    Guarantee: the file of all answers repeats those of the questions' own files, number by number: an end that machines
    may round differently is the same in both.
    """
    every, rows, at = files.table("release", SCHEMA, ENDS), [], 0
    for question, each in zip(spec.asked, spec.statistics, strict=True):
        name = file_name(question.name)
        table = files.table(name, schema(each), [*each.published, *ENDS])
        if table.num_rows != each.bins:
            raise CheckFailed(f"{name}: its rows are not as many as its bins")
        if _ends(table) != _ends(every.slice(at, each.bins)):
            raise CheckFailed(f"its answers to {question.name} are not those of {name}")
        at += each.bins
        rows.append(rows_in(each, table))
    return Measurement(answers=loaded(OneSample.schema, in_one(rows)))


def _ends(table: pa.Table) -> list[list[float | None]]:
    return [table.column(name).cast(pa.float64()).to_pylist() for name in ENDS]
