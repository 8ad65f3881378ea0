"""What the published numbers are: whom they count, what their intervals mean, the labels of their bins, the table."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from hubbub.certificate import counted_people
from hubbub.channels.law import SUPPRESSED
from hubbub.exact import to_text
from hubbub.release import Release
from hubbub.report.text import escaped, isolated, label, listed, name
from hubbub.tables.bins import Axis, Dates, Declared, Discovered, Steps, Values, all_labels, declared_size, size

LISTED: Final = 200  # bins in the table


def labels(release: Release, wanted: np.ndarray[Any, Any]) -> list[tuple[str, ...]]:
    """The labels of some bins, one for each axis."""
    codes = wanted if release.codes is None else release.codes[wanted]
    found = list(release.found)
    columns: list[list[str]] = []
    for axis in reversed(release.axes):
        if isinstance(axis, Discovered):
            texts = found.pop()
            columns.append([label(texts[i]) for i in wanted.tolist()])
        else:
            columns.append([label(text) for text in _at(axis, (codes % size(axis)).tolist())])
            codes = codes // size(axis)
    return list(zip(*reversed(columns), strict=True))


def _at(axis: Declared, places: list[int]) -> list[str | None]:
    """The labels at some places of an axis. Steps may be millions, so theirs are made one by one."""
    if not isinstance(axis, Steps):
        known = all_labels(axis)
        return [known[i] for i in places]
    extra = all_labels(replace(axis, steps=0))
    steps = (replace(axis, low=axis.low + i * axis.width, steps=1) for i in places)
    return [extra[i - axis.steps] if i >= axis.steps else step.labels[0] for i, step in zip(places, steps, strict=True)]


def is_ranges(axis: Axis) -> bool:
    """Whether the bins are ranges of numbers, written [a,b)."""
    return not isinstance(axis, Values | Dates | Discovered)


def by_columns(release: Release) -> str:
    """The columns of the release, in words."""
    return listed([name(axis.column) for axis in release.axes])


def estimate(release: Release, i: int) -> int | None:
    """The published number, or what it says about everybody where the release is scaled up from its sample."""
    value, _ = release.published.outcome(i)
    rate = release.spec.sample if release.spec.scale_up else None
    return value if value is None or rate is None else round(value / rate)


def ends(release: Release, i: int) -> tuple[int, int | None]:
    """The interval of a bin; None where it has no upper end."""
    high = int(release.high[i])
    return int(release.low[i]), None if high < 0 else high


def exact(release: Release) -> bool:
    """Whether no published number leaves a doubt."""
    shown = release.shown
    values = release.published.values[shown]
    alike = (release.low[shown] == values) & (release.high[shown] == values)
    return bool(alike.all()) and not release.spec.scale_up


def interval_words(release: Release) -> str:
    """What an interval means."""
    percent = to_text(100 * release.spec.coverage)
    return f"The interval of a bin holds the true number with a chance of at least {percent}\u00a0%"


def hidden_words(release: Release) -> str:
    """What was hidden, as far as it may be told."""
    if declared_size(release.axes) is None:
        return (
            "The bins were found in the data. A bin that had to be hidden is absent, just like one with nobody in it, "
            "and how many are absent is not told."
        )
    hidden = release.bins - int(release.shown.sum())
    if not hidden:
        return f"Nothing: all {release.bins:,} bins show a number, empty ones too."
    return (
        f"{hidden:,} of {release.bins:,} bins are hidden; {release.bins - hidden:,} show a number. A hidden bin may "
        "well be empty: its interval says how many people there can be."
    )


def table(release: Release) -> str:
    """The first bins with their numbers and intervals, as HTML."""
    first = min(release.bins, LISTED)
    scaled = release.spec.scale_up
    tagged = any(text and not text.startswith(SUPPRESSED) for text in release.published.names)
    rows = []
    for i, texts in enumerate(labels(release, np.arange(first))):
        value, tag = release.published.outcome(i)
        about = estimate(release, i)
        cells = ["hidden" if value is None else f"{value:,}"]
        cells += ["" if about is None else f"{about:,}"] if scaled else []
        cells += [_span(*ends(release, i))]
        cells += [tag] if tagged else []
        keys = "".join(f'<th scope="row">{isolated(text)}</th>' for text in texts)
        numbers = "".join(f"<td>{escaped(cell)}</td>" for cell in cells)
        start = '<tr class="hidden">' if value is None else "<tr>"
        rows.append(f"{start}{keys}{numbers}</tr>")
    heads = [f'<th scope="col">{name(axis.column)}</th>' for axis in release.axes]
    titles = ["in the sample" if release.spec.sample is not None else "people"]
    titles += [*(["estimate for everybody"] if scaled else []), "interval", *(["note"] if tagged else [])]
    heads += [f'<th scope="col" class="number">{title}</th>' for title in titles]
    return (
        f'<p>{_notes(release, first)}</p>\n<div class="scroll" role="region" aria-label="The numbers" tabindex="0">\n'
        f"<table>\n<thead><tr>{''.join(heads)}</tr></thead>\n<tbody>\n{chr(10).join(rows)}\n</tbody>\n</table>\n</div>"
    )


def _notes(release: Release, first: int) -> str:
    whole = f"These are the first {first:,} of {release.bins:,} bins; the file of the release has them all."
    notes = [whole if first < release.bins else "These are all bins of the release."]
    if exact(release):
        notes.append(f"Where a number is shown, it is exact for {counted_people(release.spec)}.")
    else:
        notes.append(f"{interval_words(release)}; it counts {counted_people(release.spec)}.")
    if release.published.values.min(initial=0) < 0:
        notes.append("Noise can push a number below 0.")
    if any(map(is_ranges, release.axes)):
        notes.append("<code>[a,b)</code> is from a up to, and not including, b.")
    return " ".join(notes)


def _span(low: int, high: int | None) -> str:
    return f"{low:,} or more" if high is None else f"{low:,}" if low == high else f"{low:,} to {high:,}"
