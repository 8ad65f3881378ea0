"""Whether a file is a table of ballots as described, from the official record and the table alone."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

from hubbub.spreadsheet import safe
from hubbub.voting.noisy_prefixes import STOP
from hubbub.voting.official import ARROW, BLANK
from hubbub.voting.path_intervals import path_interval
from hubbub.voting.public_tree import public_tree
from hubbub.voting.published import COLUMNS, STOPS, ends
from hubbub.voting.round_bounds import round_totals
from hubbub.voting.tally_paths import Path, in_order, is_path

if TYPE_CHECKING:
    from hubbub.voting.publish import PublishedBallots


def difference(file: File, form: str, spec: PublishedBallots) -> str | None:
    """What is wrong with it, in words; None if everything that can be seen fits.

    Guarantee: None only if every row is a way that some ballot can go under the official record, listed once and in
    order, with a count of at least k and the interval that follows from it; and, for exact counts, if no official total
    is below what the table shows.
    """
    import pyarrow as pa

    try:
        rows = list(_from_csv(file) if form == "csv" else _from_parquet(file))
    except (OSError, ValueError, TypeError, StopIteration, csv.Error, pa.ArrowException):
        return f"it cannot be read as {form}, or its columns are others"
    names = {written: name for name in spec.official.candidates for written in (name, *safe([name]))}
    shown: dict[Path, int] = {}
    for text, end, count, low, high in rows:
        path = _path(text, end, names)
        if path is None or path in shown or not _can_be(path, spec):
            return "its ways are not those of the official record"
        if end != ends(path, spec) or count <= spec.shown_above:
            return "a way ends otherwise, or has fewer ballots than are shown"
        if spec.method != "noisy" and (low, high) != path_interval(count, spec.k, spec.sample, spec.coverage):
            return "an interval does not follow from its count"
        shown[path] = count
    if spec.method != "noisy" and list(shown) != in_order(shown, spec.official):
        return "its rows are in another order"
    if spec.method == "paths" and spec.sample is None and not _fits(shown, spec):
        return "it shows more ballots than the official totals have"
    return None


def _path(text: str, end: str, names: dict[Any, str]) -> Path | None:
    if text == BLANK:
        return ()
    parts = text.split(ARROW)
    if not all(part in names for part in parts):
        return None
    path = tuple(names[part] for part in parts)
    return (*path, STOP) if end == STOPS else path


def _can_be(path: Path, spec: PublishedBallots) -> bool:
    if spec.method == "paths":
        return is_path(path, spec.official)
    if spec.method == "prefix":
        return path in public_tree(spec.official, spec.k)
    return 2 <= len(path) <= spec.depth and len(set(path)) == len(path)


def _fits(shown: dict[Path, int], spec: PublishedBallots) -> bool:
    totals = round_totals(shown, spec.official, sample=None, coverage=spec.coverage)
    return all(each.official is None or each.shown <= each.official for each in totals) and all(
        each.official is None or each.low <= each.official <= each.high for each in totals
    )


def _from_csv(file: File) -> Iterator[tuple[str, str, int, int, int | None]]:
    with open(file, encoding="utf-8", newline="") as lines:
        found = csv.reader(lines, strict=True)
        if tuple(next(found)) != COLUMNS:
            raise ValueError
        for path, end, count, low, high in found:
            yield path, end, int(count), int(low), int(high) if high else None


def _from_parquet(file: File) -> Iterator[tuple[str, str, int, int, int | None]]:
    import pyarrow.parquet as parquet

    table = parquet.read_table(file)
    if tuple(table.schema.names) != COLUMNS:
        raise ValueError
    for row in table.to_pylist():
        yield tuple(row[name] for name in COLUMNS)
