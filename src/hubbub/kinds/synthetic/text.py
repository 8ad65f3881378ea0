"""Invented rows in plain words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hubbub.kinds.queries import text as queries_text
from hubbub.kinds.queries.text import listed
from hubbub.protocol.spec import Description

if TYPE_CHECKING:
    from hubbub.kinds.synthetic.result import InventedRows
    from hubbub.kinds.synthetic.spec import Synthetic


def describe(spec: Synthetic) -> Description:
    """Everything that has to be said about it."""
    tables = queries_text.describe(spec.tables)
    columns = listed([axis.column for axis in spec.tables.request.axes])
    number = "about as many invented rows as there are people" if spec.size is None else f"{spec.size:,} invented rows"
    return replace(
        tables,
        title=f"Invented rows of {columns}",
        published=f"{number[0].upper()}{number[1:]}, and the tables by up to {spec.queries.ways} columns that they are "
        f"made from: {queries_text.how(spec.tables)}",
        entry=tables.entry.replace("queries", "synthetic rows from", 1),
        remarks=(
            *tables.remarks,
            "no row is a person: rows are drawn from a model that was fitted to the noisy tables, with a public seed, and "
            "tell nothing more about anybody than the tables do",
            "the file fit says how far each measured table of the rows is off; nothing else is promised about how like the "
            "real people the rows are, and no interval is about them",
        ),
    )


def sentences(result: InventedRows) -> tuple[str, ...]:
    """What has to be said beside the rows."""
    found = result.apart(result.rows())
    worst = max(found, key=lambda each: each[1])
    return (
        f"{result.size:,} invented rows; no row is a person.",
        f"Of the {len(found):,} measured tables, the one that is furthest off needs {worst[1]:,} people moved to be the "
        f"measured one; its noise alone moves about {worst[2]:,}. The file fit has all of them, and nothing else is promised "
        "about how like the real people the rows are.",
        *queries_text.sentences(result.spec.tables),
    )
