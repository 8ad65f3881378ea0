"""Published tables against each other: what they determine together about cells that each of them hides.

The tables are over the same people. Every hidden cell gets the range that all tables leave it; where that is a single
number, or as few as somebody asks about, the cell is determined, with the rows that do it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from hubbub.audit.finding import Depth, Determined, Finding, Game
from hubbub.audit.published.links import EVERYBODY, Links, Published, link, read
from hubbub.audit.published.ranges import Ranges, ranges
from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict

ASSUMED: Final = (
    "The tables are taken to count the same people exactly; a value that no file names is taken not to occur.",
)
_NAMED: Final = 3  # rows that an explanation names one by one


def of_files(
    paths: Sequence[str | Path],
    k: int,
    *,
    values: int = 1,
    count: str | None = None,
    hidden: str = "below",
    total: str | None = None,
    seconds: float = 60,
) -> Finding:
    """What files of published counts determine together."""
    tables = [table for path in paths for table in read(path, k, count=count, hidden=hidden, total=total)]
    names = [table.name for table in tables]
    if len(set(names)) < len(names):
        raise WrongUse("two of the files have the same name, by which their cells are known; rename one")
    return of_tables(tables, k, values=values, seconds=seconds)


def of_tables(tables: Sequence[Published], k: int, *, values: int = 1, seconds: float = 60) -> Finding:
    """What published tables determine together, `values` or fewer possible numbers for a hidden cell.

    Guarantee: each cell listed as determined has its range in every set of people that fits all tables, proved by the
    equations named with it, in integers, unless it says "whole numbers alone". `Proved` only if no hidden cell is
    determined, the search was finished, and what the tables say together was looked at whole.
    """
    links = link(tables)
    found = ranges(links, values, seconds)
    cells = links.hidden & (found.high - found.low + 1 <= values)
    determined = (
        tuple(_describe_cell(links, found, int(cell)) for cell in np.flatnonzero(cells)) if found.possible else ()
    )
    hidden = int(links.hidden.sum())
    noisy = sum(table.noisy for table in tables)
    notes = [*ASSUMED]
    if noisy:
        notes.append(f"{noisy:,} rows have noise, and what they say is not certain: they were left out.")
    if any(table.name == EVERYBODY for table in links.tables):
        notes.append("The tables go round in a ring, so a table over all columns was looked at too.")
    return Finding(
        game=Game.CROWD_BLENDING,
        depth=Depth.PUBLISHED,
        verdict=_verdict(found, determined, hidden, values, links.left_out),
        claimed=f"counts below {k} are hidden",
        subject=", ".join(table.name for table in tables),
        lower_bound=f"{len(determined)} cells" if determined else None,
        determined=determined,
        notes=tuple(notes),
        numbers={"cells": sum(len(table.cells) for table in tables), "hidden": hidden, "open": len(found.open)},
    )


def _verdict(found: Ranges, determined: tuple[Determined, ...], hidden: int, values: int, left_out: int) -> Verdict:
    if not found.possible:
        return Undecided("no people fit all of the tables: they are not exact counts of the same people")
    if determined:
        first = determined[0]
        witness = (
            ("table", first.table),
            ("key", ", ".join(f"{name}={value}" for name, value in first.key)),
            ("range", f"{first.low}" if first.low == first.high else f"{first.low} to {first.high}"),
            ("because", first.because),
        )
        return Refuted(f"{len(determined):,} of {hidden:,} hidden cells are determined by the tables together", witness)
    if found.open:
        return Undecided(f"none was found, and {len(found.open):,} cells were not decided in the time there was")
    if left_out:
        return Undecided(
            f"none was found, and the tables go round in a ring whose {left_out:,} cells over all columns are too many "
            "to look at"
        )
    few = "a single number" if values == 1 else f"a range of {values} numbers or fewer"
    return Proved(f"none of {hidden:,} hidden cells is confined to {few} by these tables")


# --- because --------------------------------------------------------------------------------------------------------


def _describe_cell(links: Links, found: Ranges, cell: int) -> Determined:
    table, key = links.table_and_key(cell)
    return Determined(
        table=links.tables[table].name,
        key=tuple(zip(links.tables[table].columns, key, strict=True)),
        low=int(found.low[cell]),
        high=int(found.high[cell]),
        because=_because(links, found, cell),
    )


def _because(links: Links, found: Ranges, cell: int) -> str:
    behind = found.by.get(cell, ())
    for row in behind:  # the smallest explanation is one equation, if one is enough
        if (reason := _by_one(links, found, cell, row)) is not None:
            return reason
    if not behind:
        return "its own row says so" if cell not in found.integral else "whole numbers alone: no other fit all tables"
    named = "; ".join(_equation(links, row) for row in behind[:_NAMED])
    more = f"; and {len(behind) - _NAMED} more" if len(behind) > _NAMED else ""
    by_integers = ", in whole numbers alone" if cell in found.integral else ""
    return f"these {len(behind)} margins leave nothing else{by_integers}: {named}{more}"


def _by_one(links: Links, found: Ranges, cell: int, row: int) -> str | None:
    """The words of an equation that confines the cell by itself, as the files stand; None if it does not."""
    cells, signs = links.entries(row)
    if cell not in cells:
        return None
    own = float(signs[cells == cell][0])
    others, sides = cells[cells != cell], signs[cells != cell] * own
    same, across = others[sides > 0], others[sides < 0]
    low, high = links.low, links.high
    least = max(float(low[across].sum() - high[same].sum()), float(low[cell]))
    most = min(float(high[across].sum() - low[same].sum()), float(high[cell]))
    if (least, most) != (found.low[cell], found.high[cell]):
        return None
    unknown = int((low[same] < high[same]).sum())
    here = links.table_and_key(cell)[0]
    other_table = next(table for table in links.groups[row][:2] if table != here)
    known = int(low[same][low[same] == high[same]].sum())
    least_total = int(low[across].sum())
    if (low[across] < high[across]).any():
        return f"{_equation(links, row)}, and what is hidden on either side leaves nothing else"
    first = _rows(links, other_table, across)
    if not unknown:
        return f"subtract {_rows(links, here, same)} from {first}: {least_total} - {known} = {least_total - known}"
    rest = least_total - known
    if least == most == 0 or rest == 0:
        return f"subtract {_rows(links, here, same)} from {first}: {rest} is left for {unknown + 1} hidden cells"
    most_elsewhere = high[same].sum()
    hold = (
        f"at most {int(most_elsewhere) - known}"
        if np.isfinite(most_elsewhere)
        else f"at least {int(low[same].sum()) - known}"
    )
    return (
        f"subtract {_rows(links, here, same)} from {first}: {rest} is left for {unknown + 1} hidden cells, of which "
        f"the others hold {hold}"
    )


def _rows(links: Links, table: int, cells: np.typing.NDArray[np.int64]) -> str:
    """Rows of a table in words: one by one if few, else how many and what they add up to."""
    name = links.tables[table].name
    exact_cells = [int(cell) for cell in cells if links.low[cell] == links.high[cell]]
    rows = []
    for cell in exact_cells[:_NAMED]:
        key = links.table_and_key(cell)[1]
        rows.append(f"{'/'.join(key) or 'the total'} ({int(links.low[cell])})")
    if not exact_cells:
        return f"nothing of {name}"
    more = f" and {len(exact_cells) - _NAMED} more rows" if len(exact_cells) > _NAMED else ""
    return f"{', '.join(rows)}{more} of {name}"


def _equation(links: Links, row: int) -> str:
    a, b, group = links.groups[row]
    where = ", ".join(f"{name}={value}" for name, value in group) or "everybody"
    return f"{links.tables[a].name} and {links.tables[b].name} agree on {where}"
