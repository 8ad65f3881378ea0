"""What Spark answers, as Arrow: every version hands it over in a way of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from hubbub.engines.repaired_copy import readable
from hubbub.engines.sql.dialect import ARROW, Form


def as_arrow(answer: Any, schema: pa.Schema) -> pa.Table:
    """All rows of a frame, classic or Connect; `schema` is for a frame without any."""
    if hasattr(answer, "toArrow"):
        return answer.toArrow()
    if hasattr(answer, "_collect_as_arrow"):  # Spark 3.5 has it under this name; without rows, it has no columns
        batches = answer._collect_as_arrow()
        return pa.Table.from_batches(batches, None if batches else schema)
    client = answer.sparkSession.client  # Connect, 3.5
    return client.to_table(answer._plan.to_proto(client))[0]


def convert_answer(table: pa.Table, forms: Mapping[str, Form]) -> pa.Table:
    """Cells as they came from Spark, each column in its form; text that is no UTF-8 is missing."""
    types = {name: ARROW[form] for name, form in forms.items()}
    columns = [
        pa.chunked_array([_convert_cells(chunk, kind) for chunk in column.chunks], kind)
        for column, kind in zip(table.columns, types.values(), strict=True)
    ]
    return pa.table(columns, names=list(types))


def _convert_cells(cells: pa.Array, kind: pa.DataType) -> pa.Array:
    return readable(cells.cast(kind)) if kind == pa.string() else cells.cast(kind)
