"""A cube in plain words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hubbub.kinds.cube.margins import Margin, cells_inside
from hubbub.kinds.histogram import text as histogram_text
from hubbub.kinds.histogram.text import ONE_ROW_TITLE
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import join_words
from hubbub.protocol.spec import Description
from hubbub.tables.bins import Discovered, declared_size

if TYPE_CHECKING:
    from hubbub.kinds.cube.spec import Cube

_NAMED = 6  # margins that are named in a sentence


def describe(spec: Cube) -> Description:
    """The texts of the release: title, what is published, whom it is about, what intervals mean."""
    cells = histogram_text.describe(spec.cells)
    columns = join_words([axis.column for axis in spec.axes])
    sums = _sums(spec)
    how = _method(spec)
    whose = "people in a secret sample of the table" if spec.cells.sample is not None else cells.counts
    return replace(
        cells,
        title=f"{_title_noun(spec)} by {columns}, with totals",
        published=f"Counts of {whose}, by {columns}, and {sums}: {how}",
        entry=cells.entry.replace("histogram by", "cube by", 1),
        intervals=intervals(spec),
        headline=f"Counts of {whose} by {columns}, with {_totals(spec)}: {_in_short(spec)}",
        interval_headline=interval_headline(spec),
        remarks=(*cells.remarks, *_remarks(spec)),
    )


def _title_noun(spec: Cube) -> str:
    if spec.cells.unit.one_row_per_person:
        return ONE_ROW_TITLE
    rows = spec.cells.unit.rows
    return f"{rows[0].upper()}{rows[1:]}" if spec.cells.unit.counts_rows else "People"


def _sums(spec: Cube) -> str:
    if len(spec.margins) > _NAMED:
        return f"{len(spec.margins)} margins of that table"
    named = "; ".join(f"by {by(margin)}" for margin in spec.margins)
    return f"margins {named}" if len(spec.margins) > 1 else f"the margin {named}"


def _totals(spec: Cube) -> str:
    """The margins, in everyday words."""
    if len(spec.margins) > _NAMED:
        return f"{len(spec.margins)} tables of totals"
    return f"totals {join_words([f'by {by(margin)}' if margin else 'in all' for margin in spec.margins])}"


def _in_short(spec: Cube) -> str:
    """What was done to the counts, in everyday words."""
    if spec.gaussian or spec.cells.channel.plain_noise is not None:
        return "every number has noise"
    return histogram_text.method(spec.cells)


def by(margin: Margin) -> str:
    """The columns of a margin."""
    return join_words(list(margin)) if margin else "no column: the grand total"


def _method(spec: Cube) -> str:
    channel = spec.cells.channel
    if spec.gaussian:
        return (
            f"Gaussian noise on what each of {len(spec.variances)} tables says beyond the tables below it, epsilon "
            f"{to_text(spec.person_epsilon)} and delta {to_text(spec.delta)} in all; every number follows from these"
        )
    if channel.plain_noise is not None:
        moved = spec.cells.unit.moved(declared_size(spec.axes))
        return f"noise on every number of every table, epsilon {to_text(moved * channel.plain_noise)} in all"
    return f"{histogram_text.method(spec.cells)}; margins are sums of what is published of the cells"


def intervals(spec: Cube) -> str:
    """What an interval means: of each number by itself, or of all at once."""
    percent = to_text(100 * spec.cells.coverage)
    whom = histogram_text.counted_noun(spec.cells).removeprefix("the ")
    if spec.has_noisy_margins:
        return (
            f"All intervals of all tables together hold the true numbers of {whom}, with a chance of at least "
            f"{percent} %: no number{'' if spec.gaussian else ' as it was drawn'} is off by more than "
            f"{max(spec.reaches):,}; in the files, own_low and own_high are narrower, and hold one number that is looked at alone as often"
            if spec.shares or spec.gaussian
            else ""
        )
    first = spec.cells.channel.exact_from
    if first is not None:
        more = f"{first - 1:,}"
        found = any(cells_inside(spec.axes, margin) is None for margin in spec.margins)
        unknown = "; where cells are found in the data nobody is told how many are hidden" if found else ""
        return (
            "The interval of a margin is certain: it begins with the number that is shown, and each hidden cell has at "
            f"most {more} more{unknown}"
        )
    return (
        f"Each interval by itself holds the true number of {whom}, with a chance of at least {percent} %; that of a "
        "margin counts the noise of all its small cells together"
    )


def interval_headline(spec: Cube) -> str:
    """The same in one line, without the names of columns of the files."""
    return intervals(spec).partition("; in the files,")[0].replace("interval of a margin", "interval of a total")


def epsilon_sentence(spec: Cube) -> str:
    """Where epsilon goes, where several rows of a person count."""
    unit, rate = spec.cells.unit, spec.cells.channel.plain_noise
    assert rate is not None
    moved = unit.moved(declared_size(spec.axes))
    if spec.gaussian:
        return (
            f"Epsilon {to_text(moved * rate)} and delta {to_text(spec.delta)} are for all {unit.rows} of a person together, "
            f"at most {moved:,}, in all tables."
        )
    return (
        f"Epsilon {to_text(moved * rate)} is for all {unit.rows} of a person together, at most {moved:,}, in all tables: "
        f"the noise of the tables has rates that add up to {to_text(rate)}."
    )


def left_out_sentence(spec: Cube) -> str:
    """Whom margins leave out; empty if everybody is in a cell."""
    left = [axis.column for axis in spec.axes if not isinstance(axis, Discovered) and not axis.other]
    if not left:
        return ""
    people = spec.cells.unit.rows if spec.cells.unit.counts_rows else "people"
    return (
        f"margins are sums of cells: {people} without a bin by {join_words(left)} are in no cell, and so in no margin"
    )


def _remarks(spec: Cube) -> tuple[str, ...]:
    found = [people] if (people := left_out_sentence(spec)) else []
    if spec.gaussian:
        found.append(
            f"the noise is Gaussian: planned so that the largest variance of all numbers is least; no number is off by more "
            f"than {max(spec.reaches):,}, all at once. The file residuals has what was drawn; every table "
            "follows from it, and all of them add up"
        )
    elif spec.has_noisy_margins:
        found.append(
            "the column fitted is made from all tables by least squares and adds up from table to table; it is "
            "worked out from what was published, so it tells nothing more about anybody"
        )
    if spec.consistent:
        crowds = spec.cells.channel.exact_from is not None
        caution = "counts hidden cells as 0" if crowds else "is too large on average where cells are small"
        found.append(
            "the file consistent has whole cells of at least 0, whose sums are near every table; it is worked out from "
            f"what was published, has no intervals, and {caution}"
        )
    return tuple(found)
