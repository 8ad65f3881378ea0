"""A picture as a value: what is drawn, not how. Whoever draws it sees nothing but this."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Bar:
    """A published number (None: hidden) with its interval (no upper end: None), under a label, in a panel."""

    label: str
    value: int | None
    low: int
    high: int | None
    panel: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A bar for each published number. `by` and `numbers` are the titles of the axes.

    Upright bars are for labels with an order of their own, such as ranges and dates. The caption says in `bar` what a
    bar is, in `line` what an interval is, and in `note` what else has to be said.
    """

    bars: tuple[Bar, ...]
    by: str
    numbers: str
    upright: bool
    bar: str
    line: str
    note: str = ""


Drawing: TypeAlias = Bars
"""Whatever a report can draw."""
