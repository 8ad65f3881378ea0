"""Charts of a graph release, which show the published numbers and never the graph; and the degrees of a graph before
anything is protected, for the steward alone.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, Final

from hubbub.graphs.statistics import Statistic
from hubbub.kinds.graph import text
from hubbub.protocol.drawing import Bar, Bars, Mark

if TYPE_CHECKING:
    from hubbub.kinds.graph.result import Answer, Answers


MOST: Final = 200  # bars


def bars(found: Answers) -> Bars:
    """The degree distribution if there is one, else a point for each number, on an axis of its own."""
    degrees = [each for each in found.answers if each.of is Statistic.DEGREE_COUNTS]
    line = text.interval_sentence(found.spec)
    if degrees:
        return _degrees(degrees, line)
    return Bars(
        bars=tuple(
            Bar("", float(each.value), float(each.low), float(each.high), _heading(each.of)) for each in found.answers
        ),
        by="",
        numbers="published number",
        upright=False,
        bar="Published number; one that noise made impossible is put at the end of its interval",
        line=line,
        mark=Mark.POINT,
        own_scale=True,
        note="Each has an axis of its own." if len(found.answers) > 1 else "",
    )


def _heading(statistic: Statistic) -> str:
    """What the number counts, as a heading."""
    words = text.DESCRIPTIONS[statistic]
    return f"{words[0].upper()}{words[1:]}"


def _degrees(rows: list[Answer], line: str) -> Bars:
    """How many have at least 1, 2, ... friends, as far as the fitted number is not 0, and of many degrees every so many-th."""
    last = max((position for position, each in enumerate(rows, 1) if round(each.fitted or 0) > 0), default=1)
    every = ceil(last / MOST)
    drawn = rows[:last:every]
    note = (
        f"Drawn up to {last:,} friends; beyond, the fitted number is 0, which noise may hide people behind."
        if last < len(rows)
        else ""
    )
    return Bars(
        bars=tuple(_bar(f"{each.degree:,}", each, round(each.fitted or 0)) for each in drawn),
        by="friends, at least",
        numbers="people",
        upright=True,
        bar="Published number of people with at least so many friends, fitted so that it never rises",
        line=line,
        note=note,
    )


def _bar(label: str, each: Answer, value: int) -> Bar:
    low, high = (Fraction(end) / each.unit for end in (each.low, each.high))
    return Bar(label, value, floor(low), ceil(high))
