"""The published rows as a table: the first of them, with what has to be said beside."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from hubbub.protocol.release import Release
from hubbub.report.text import escaped, isolated, label, name, sentence
from hubbub.report.totals import total as sum_of

LISTED: Final = 1000  # rows in the table
_NUMBER: Final = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)


def _natural(keys: list[tuple[str | None, ...]]) -> list[int]:
    """The places of rows in their order: labels that were found in the data come as text, and numbers among them go by
    size. Whatever else is in an order of its own stays there."""
    texts = [key[0] or "" for key in keys if len(key) == 1 and key[0] is not None]
    positions = list(range(len(keys)))
    if len(keys[0] if keys else ()) != 1 or texts != sorted(texts) or not all(map(_NUMBER.fullmatch, texts)):
        return positions
    return sorted(positions, key=lambda i: (keys[i][0] is None, Fraction(keys[i][0] or 0)))


def table(release: Release) -> str:
    """The first rows with their numbers, as HTML."""
    grid, total = release.result.display(LISTED), len(release)
    summed = sum_of(release, LISTED)
    first = len(grid.rows)
    order = _natural([keys for keys, *_ in grid.rows]) if first == total else list(range(first))
    rows = []
    for i in order:
        keys, numbers, pale = grid.rows[i]
        names = "".join(f'<th scope="row">{isolated(label(key))}</th>' for key in keys)
        columns = numbers if summed is None else (*numbers[:1], summed.share(i), *numbers[1:])
        cells = "".join(f"<td>{escaped(number)}</td>" for number in columns)
        start = '<tr class="hidden">' if pale else "<tr>"
        rows.append(f"{start}{names}{cells}</tr>")
    titles = grid.numbers if summed is None else (*grid.numbers[:1], "share", *grid.numbers[1:])
    heads = [f'<th scope="col">{name(key)}</th>' for key in grid.keys]
    heads += [f'<th scope="col" class="number">{escaped(title)}</th>' for title in titles]
    note = f"These are the first {first:,} of {total:,} rows; the file of the release has them all."
    sums = [] if summed is None else [f"The numbers that are shown add up to {summed.total:,}; shares are of that."]
    notes = [note if first < total else "These are all rows of the release.", *sums, *map(sentence, grid.notes)]
    return (
        f'<p>{" ".join(notes)}</p>\n<div class="scroll" role="region" aria-label="The numbers" tabindex="0">\n'
        f"<table>\n<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>\n</div>"
    )
