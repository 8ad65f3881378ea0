"""A picture as a value: what is drawn, not how. Whoever draws it sees nothing but this."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from hubbub.runtime.frozen import dataclass


class Mark(StrEnum):
    """What stands for a number: a bar from 0, a line through all of them, a point, or the range where it lies."""

    BAR = "bar"
    LINE = "line"
    POINT = "point"
    RANGE = "range"


@dataclass(frozen=True, slots=True)
class Bar:
    """A published number (None: hidden) with its interval (no upper end: None), under a label, in a panel.

    `apart` is for what has no place in the order of the others: what is missing, and all the rest. One that is not
    published and `unknown` is not hidden: there are too few people, or nobody, for the noise to say it.
    """

    label: str
    value: float | None
    low: float
    high: float | None
    panel: str = ""
    apart: bool = False
    unknown: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """A mark for each published number. `by` and `numbers` are the titles of the axes.

    Upright bars are for labels with an order of their own, such as ranges; a line is for dates. The caption says in
    `bar` what a mark is, in `line` what an interval is, and in `note` what else has to be said. `span` is from where to
    where a number can lie, if that is public; shares are told in percent. Panels with an `own_scale` each count
    something else.
    """

    bars: tuple[Bar, ...]
    by: str
    numbers: str
    upright: bool
    bar: str
    line: str
    note: str = ""
    mark: Mark = Mark.BAR
    percent: bool = False
    span: tuple[float, float] | None = None
    own_scale: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """A published number (None: hidden) with its interval (no upper end: None), in a table by two columns."""

    value: float | None
    low: float
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """A table by two columns, the darker the larger. A cell that is None is not listed by the release.

    `by` names what the rows and the columns are; `cell`, `line` and `note` are for the caption.
    """

    by: tuple[str, str]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell | None, ...], ...]
    numbers: str
    cell: str
    line: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class FlowColumn:
    """Piles of ballots at one moment: a heading, what happens after it, and (name, ballots) from the top."""

    heading: str
    note: str
    piles: tuple[tuple[str, float], ...]  # votes of several seats have decimals


@dataclass(frozen=True, slots=True)
class FlowLink:
    """Ballots that were in `origin` at a column (the first being 0) and are in `target` at the next."""

    column: int
    origin: str
    target: str
    ballots: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """How ballots moved. `order` names all piles from the top; those in `plain` are no single candidates.

    `description` is for readers who cannot see it, `note` what has to be said beside it.
    """

    columns: tuple[FlowColumn, ...]
    links: tuple[FlowLink, ...]
    order: tuple[str, ...]
    winner: str
    plain: tuple[str, ...] = ()
    description: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """Points in a box, and how many there are in each square of it.

    `box` is (left, right, bottom, top) in the units of the two columns, cut into `across` by `up` squares; `squares`
    are (column from the left, row from the bottom, points), where there are any. `dots` are some of the points,
    `outlines` the rings of public regions. `tall` is how long a unit of the second column is drawn, if a unit of the
    first is 1.
    """

    columns: tuple[str, str]
    box: tuple[float, float, float, float]
    across: int
    up: int
    squares: tuple[tuple[int, int, int], ...]
    dots: tuple[tuple[float, float], ...]
    outlines: tuple[tuple[tuple[float, float], ...], ...] = ()
    tall: float = 1.0
    description: str = ""
    note: str = ""


Drawing: TypeAlias = Bars | Heat | Flow | Map
"""Whatever a report can draw."""
