"""Invented rows in plain words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from hubbub.kinds.queries import text as queries_text
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import listed
from hubbub.protocol.spec import Description

if TYPE_CHECKING:
    from hubbub.kinds.synthetic.result import InventedRows
    from hubbub.kinds.synthetic.spec import Synthetic

_NAMED: Final = 3  # tables that a sentence names


def describe(spec: Synthetic) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    tables = queries_text.describe(spec.tables)
    columns = listed([axis.column for axis in spec.tables.request.axes])
    number = (
        f"about as many invented rows as there are {_those(spec)}"
        if spec.size is None
        else f"{spec.size:,} invented rows"
    )
    return replace(
        tables,
        title=f"Invented rows of {columns}",
        published=f"{number[0].upper()}{number[1:]}, and the tables by up to {spec.queries.ways} columns that they are "
        f"made from: {queries_text.how(spec.tables)}",
        headline=f"{number[0].upper()}{number[1:]}, which give about the same tables of {columns} as the real people. No row is a person",
        interval_headline="The rows have no intervals. The intervals of the tables in the file answers hold the true numbers, all at "
        f"once, with a chance of at least {to_text(100 * spec.tables.request.coverage)} %",
        entry=tables.entry.replace("queries", "synthetic rows from", 1),
        remarks=(
            *tables.remarks,
            "no row is a person: rows are drawn from a model that was fitted to the noisy tables, with a public seed, and "
            "tell nothing more about anybody than the tables do",
            "the file fit says how far each measured table of the rows is off; nothing else is promised about how like the "
            "real people the rows are, and no interval is about them",
        ),
    )


def _those(spec: Synthetic) -> str:
    return "kept rows" if spec.tables.unit.counts_rows else "people"


def sentences(result: InventedRows) -> tuple[str, ...]:
    """What has to be said beside the rows: which measured tables they follow, and how far off the worst of the others is."""
    spec, cliques = result.spec, result.model().cliques
    names = [axis.column for axis in spec.tables.request.axes]
    found = result.apart(result.rows())
    followed = [each for each in found if any(set(each[0]) <= set(clique) for clique in cliques)]
    others = [each for each in found if each not in followed]
    worst = max(others or found, key=lambda each: each[1])
    table, those = listed([names[i] for i in worst[0]]), _those(spec)
    if others:
        ways = spec.queries.ways
        every = sum(len(each) == ways for each, _, _ in found)
        named = [f"by {listed([names[i] for i in clique])}" for clique in cliques]
        which = f", those {listed(named)}" if len(named) <= _NAMED else ""
        total, unit = result.estimate(())
        share = f"{100 * worst[1] * unit / max(int(total), unit):.0f} %"  # numbers are scaled to the estimated people
        fit = (
            f"The rows follow {len(cliques):,} of the {every:,} tables by {ways} columns{which}. Beyond these they take columns to "
            f"be unrelated: the table by {table} is furthest off, by {worst[1]:,} {those} ({share}), where noise alone moves about "
            f"{worst[2]:,}. For such tables cite the file answers; rows that are made from tables by {ways + 1} columns follow more."
        )
    else:
        fit = (
            f"The rows follow all {len(found):,} measured tables: the one by {table} is furthest off, by {worst[1]:,} {those}, "
            f"where noise alone moves about {worst[2]:,}."
        )
    return (
        f"{result.size:,} invented rows; no row is a person.",
        fit,
        "The file fit has every table, and nothing else is promised about how like the real people the rows are.",
        *queries_text.sentences(spec.tables)[:1],
    )
