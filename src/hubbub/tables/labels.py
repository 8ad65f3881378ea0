"""The labels of bins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from hubbub.tables.bins import Axis, Dates, Declared, Discovered, Steps, Values, all_labels
from hubbub.tables.generalization import Ranges

MISSING: Final = "(missing)"
EMPTY: Final = "(empty text)"
_RANGE: Final = re.compile(r"\[(-inf|-?\d+(?:\.\d+)?),(inf|-?\d+(?:\.\d+)?)\)", re.ASCII)


def labels_at(axis: Declared, positions: Sequence[int]) -> list[str | None]:
    """The labels at some places of an axis. Steps may be millions, so only those that are asked for are made."""
    if not isinstance(axis, Steps):
        known = all_labels(axis)
        return [known[i] for i in positions]
    extra, steps = all_labels(replace(axis, steps=0)), axis.steps
    if not extra:
        return list(axis.labels_at(positions))
    inside = axis.labels_at(i for i in positions if i < steps)
    return [next(inside) if i < steps else extra[i - steps] for i in positions]


def label_in_words(axis: Axis, label: str | None) -> str:
    """A label to read: (missing), and what a range holds.

    >>> from hubbub.tables.bins import parse
    >>> label_in_words(parse("age:0..90:10"), "[70,80)"), label_in_words(parse("town=Bath,York"), None)
    ('70–79', '(missing)')
    """
    if label is None:
        return MISSING
    return range_in_words(label) if is_ranges(axis) else label or EMPTY


def range_in_words(label: str) -> str:
    """What a range [a,b) holds; whole numbers end before the next range begins.

    >>> [range_in_words(each) for each in ("[70,80)", "[7,8)", "[50000,inf)", "[-inf,0)", "[0.5,1)", "other")]
    ['70–79', '7', '50,000 or more', 'below 0', '0.5 to under 1', 'other']
    """
    found = _RANGE.fullmatch(label)
    if found is None:
        return label or EMPTY
    low, high = found[1], found[2]
    if low == "-inf":
        return f"below {_number(high)}"
    if high == "inf":
        return f"{_number(low)} or more"
    if "." in low + high:
        return f"{_number(low)} to under {_number(high)}"
    last = int(high) - 1
    between = " to " if low.startswith("-") else "–"
    return _number(low) if last == int(low) else f"{_number(low)}{between}{last:,}"


def _number(text: str) -> str:
    integer, point, places = text.partition(".")
    return f"{int(integer):,}{point}{places}" if integer.lstrip("-").isdigit() and integer != "-0" else text


def is_ranges(axis: Axis) -> bool:
    """Whether the bins are ranges of numbers, written [a,b)."""
    if isinstance(axis, Discovered):
        return isinstance(axis.coarser, Ranges)
    return not isinstance(axis, Values | Dates)
