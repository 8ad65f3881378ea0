"""The published rows as a table: the first of them, with what has to be said beside."""

from __future__ import annotations

from typing import Final

from hubbub.kind import Release
from hubbub.report.text import escaped, isolated, label, name, sentence

LISTED: Final = 200  # rows in the table


def table(release: Release) -> str:
    """The first rows with their numbers, as HTML."""
    grid, total = release.result.grid(LISTED), len(release)
    rows = []
    for keys, numbers, pale in grid.rows:
        names = "".join(f'<th scope="row">{isolated(label(key))}</th>' for key in keys)
        cells = "".join(f"<td>{escaped(number)}</td>" for number in numbers)
        start = '<tr class="hidden">' if pale else "<tr>"
        rows.append(f"{start}{names}{cells}</tr>")
    heads = [f'<th scope="col">{name(key)}</th>' for key in grid.keys]
    heads += [f'<th scope="col" class="number">{escaped(title)}</th>' for title in grid.numbers]
    first = len(grid.rows)
    whole = f"These are the first {first:,} of {total:,} rows; the file of the release has them all."
    notes = [whole if first < total else "These are all rows of the release.", *map(sentence, grid.notes)]
    return (
        f'<p>{" ".join(notes)}</p>\n<div class="scroll" role="region" aria-label="The numbers" tabindex="0">\n'
        f"<table>\n<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>\n</div>"
    )
