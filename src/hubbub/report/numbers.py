"""The published rows as a table: the first of them, with what has to be said beside."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from hubbub.charts.language import kept_english, localized, translate, word
from hubbub.protocol.result import BELOW_ZERO, DisplayTable
from hubbub.report.text import escaped, in_signs, isolated, label, name, sentence
from hubbub.runtime.frozen import dataclass
from hubbub.tables.labels import range_in_words

if TYPE_CHECKING:
    from hubbub.protocol.release import Release

LISTED: Final = 1000  # rows in the table
FOLDED: Final = 12  # rows in sight; the others are folded
FEW_MORE: Final = 8  # rows that are not worth a fold
PRINTED: Final = 40  # rows that paper has too, though the page folds them
COLUMNS: Final = 7  # beside one another; of more, each row is a card
WIDE: Final = ' class="cards"'
RANGES: Final = "{range} is from {low} up to, and not including, {high}."
NO_LABELS: Final[Mapping[str, str]] = {}
_DECIMALS: Final = 2  # to which numbers of a column are filled up with zeros
_IN_TEXT: Final = re.compile(r"\d(?:[\d,]*\d)?(\.\d+)?(?![\d.])", re.ASCII)
_NUMBER: Final = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)


def _natural(keys: list[tuple[str | None, ...]]) -> list[int]:
    """The places of rows in their order: labels that were found in the data come as text, and numbers among them go by
    size. Whatever else is in an order of its own stays there."""
    texts = [key[0] or "" for key in keys if len(key) == 1 and key[0] is not None]
    positions = list(range(len(keys)))
    if len(keys[0] if keys else ()) != 1 or texts != sorted(texts) or not all(map(_NUMBER.fullmatch, texts)):
        return positions
    return sorted(positions, key=lambda i: (keys[i][0] is None, Fraction(keys[i][0] or 0)))


def padded(texts: Sequence[str]) -> list[str]:
    """Numbers of a column with as many decimals each, where the longest have one or two.

    >>> padded(["1,734.62", "2,480.2 to 3,000", "hidden"]), padded(["1.125", "2"]), padded(["7", "12"])
    (['1,734.62', '2,480.20 to 3,000.00', 'hidden'], ['1.125', '2'], ['7', '12'])
    """
    decimals = [len(found[1] or ".") - 1 for text in texts for found in _IN_TEXT.finditer(text)]
    most = max(decimals, default=0)
    if not 0 < most <= _DECIMALS:
        return list(texts)

    def filled(found: re.Match[str]) -> str:
        point = "" if found[1] else "."
        return f"{found[0]}{point}{'0' * (most - len(found[1] or '.') + 1)}"

    return [_IN_TEXT.sub(filled, text) if "e" not in text else text for text in texts]


def table(release: Release, labels: Mapping[str, str] = NO_LABELS) -> str:
    """The first rows with their numbers, as HTML: a few in sight, the others folded. `labels` are given to columns."""
    grid = release.result.display(LISTED)
    total = len(release) if grid.total is None else grid.total
    summed = sum_of(release, LISTED)
    first = len(grid.rows)
    complete = first == total
    order = _natural([keys for keys, *_ in grid.rows]) if complete else list(range(first))
    names = [labels.get(key, key) for key in grid.keys]
    left_out = _repeated(grid)
    left_out |= {i for i, title in enumerate(grid.numbers) if title in grid.for_files}
    titles = [word(in_signs(title)) for i, title in enumerate(grid.numbers) if i not in left_out]
    titles = titles if summed is None else [*titles[:1], translate("share of total"), *titles[1:]]
    columns = [
        padded([numbers[j] for _, numbers, _ in grid.rows]) for j in range(len(grid.numbers)) if j not in left_out
    ]
    rows = []
    for i in order:
        keys, _, pale = grid.rows[i]
        cells = [_cell(column[i]) for column in columns]
        cells = cells if summed is None else [*cells[:1], localized(summed.share(i)), *cells[1:]]
        rows.append(_row(grid, names, titles, keys, cells, pale))
    heads = [f'<th scope="col">{name(key)}</th>' for key in names]
    heads += [f'<th scope="col" class="number">{escaped(title)}</th>' for title in titles]
    start = f"<table{WIDE if len(heads) > COLUMNS else ''}>\n<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n"
    in_sight = 0 if grid.folded else FOLDED
    parts = [f"{start}{chr(10).join(rows[:FOLDED])}\n</tbody>\n</table>"] if in_sight else []
    if len(rows) > in_sight + FEW_MORE or (grid.folded and rows):
        listed = (
            translate("Show all {total} rows", total=f"{total:,}")
            if complete
            else translate("Show the first {first} of {total} rows", first=f"{first:,}", total=f"{total:,}")
        )
        shown = "On paper these are the first {shown} of {total} rows; the file of the release has all."
        body = f"{start}{chr(10).join(rows[in_sight:])}\n</tbody>\n</table>"
        look = "rows short" if len(rows) <= PRINTED and in_sight else "rows"
        parts.append(f'<details class="{look}"><summary>{listed}</summary>\n{body}\n</details>')
        parts = [f'<div class="listed">{chr(10).join(parts)}</div>']
        if in_sight:
            parts.append(f'<p class="{look} printed">{translate(shown, shown=in_sight, total=f"{total:,}")}</p>')
    else:
        parts = [f"{start}{chr(10).join(rows)}\n</tbody>\n</table>"]
    if not complete and grid.rows:
        on_paper = "" if grid.folded else ' class="on-screen"'
        parts.append(f"<p{on_paper}>{translate('The file of the release has all rows.')}</p>")
    raised = any(note.startswith(BELOW_ZERO) for note in grid.notes) and any(
        numbers[0] == "0" for _, numbers, _ in grid.rows
    )
    added = "The numbers that are shown add up to {total}; shares are of that."
    drawn = "The numbers as they were drawn add up to {total}; shares are of that."
    in_all = "" if summed is None else f"{summed.total:,}"
    sums = [] if summed is None else [translate(drawn, total=in_all) if raised else translate(added, total=in_all)]
    sums += [translate("Numbers that noise pushed below 0 are shown as 0.")] if raised else []
    common = ("[a,b) is from a up to", BELOW_ZERO)
    short = [*sums, *_how_ranges_are_read(grid)]
    parts += [f'<p class="notes">{" ".join(short)}</p>'] if short else []
    rest = [sentence(note) for note in grid.notes if not note.startswith(common)]
    if rest:
        parts.append(
            f'<details><summary>{translate("About these numbers")}</summary>\n<p class="notes">{kept_english(" ".join(rest))}</p>\n</details>'
        )
    return "\n".join(parts)


def _cell(text: str) -> str:
    """A number, an interval, "hidden" or "not usable", in the language of the page."""
    low, between, high = text.partition(" to ")
    if between and high:
        return translate("{low} to {high}", low=low, high=high)
    if text.endswith(" or more"):
        return translate("{low} or more", low=text.removesuffix(" or more"))
    return localized(word(text))


def _row(
    grid: DisplayTable,
    names: Sequence[str],
    titles: Sequence[str],
    keys: Sequence[str | None],
    numbers: Sequence[str],
    pale: bool,
) -> str:
    """Cells say what they are, for pages so narrow that a row is a card."""
    ranges = grid.ranges or (False,) * len(keys)
    shown = [
        word(label(range_in_words(key) if is_range and key else key))
        if not key
        else label(range_in_words(key) if is_range else key)
        for key, is_range in zip(keys, ranges, strict=True)
    ]
    heads = "".join(
        f'<th scope="row" data-label="{escaped(title)}">{isolated(text)}</th>'
        for title, text in zip(names, shown, strict=True)
    )
    cells = "".join(
        f'<td data-label="{escaped(title)}">{escaped(number)}</td>'
        for title, number in zip(titles, numbers, strict=True)
    )
    start = '<tr class="hidden">' if pale else "<tr>"
    return f"{start}{heads}{cells}</tr>"


def _repeated(grid: DisplayTable) -> set[int]:
    """Columns that say in every row what the one before says, such as estimates of numbers that noise left possible."""
    return {
        i
        for i in range(1, len(grid.numbers))
        if grid.rows and all(numbers[i] in ("", numbers[i - 1]) for _, numbers, _ in grid.rows)
    }


def _how_ranges_are_read(grid: DisplayTable) -> list[str]:
    """How the first range of whole numbers of a table is meant, where it has any."""
    for keys, _, _ in grid.rows:
        for key, is_range in zip(keys, grid.ranges or (), strict=False):
            words = range_in_words(key) if is_range and key else ""
            if key and "–" in words:
                low, high = (f"{int(end):,}" for end in key[1:-1].split(","))
                return [translate(RANGES, range=words, low=low, high=high)]
    return []


# What the published numbers add up to, and the share of each: from the release alone.


_MOST: Final = 100_000  # rows that are added up


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of the numbers that are shown, and the first of them (None: hidden)."""

    total: int
    first: tuple[int | None, ...]

    def share(self, row: int) -> str:
        """Of the total, in percent, at least 0; nothing for what is hidden."""
        value = self.first[row]
        return "" if value is None else f"{max(100 * value / self.total, 0):.1f} %"


def sum_of(release: Release, first: int) -> Total | None:
    """None where the rows count no disjoint people, there are very many, or what is shown adds up to nobody."""
    sheet, column = release.sheet, release.result.disjoint_counts()
    if column is None or sheet.rows > _MOST:
        return None
    counts = [value for batch in sheet.batches() for value in batch.column(column).to_pylist()]
    found = Total(sum(value for value in counts if value is not None), tuple(counts[:first]))
    return found if found.total > 0 else None
