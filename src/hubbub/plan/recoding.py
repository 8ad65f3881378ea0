"""A search for public functions that make wide records coarse enough, on a public table.

Every column has a ladder, from what was given up to leaving it out: wider ranges, fewer first signs, longer periods,
higher levels of a hierarchy. The search begins with everything left out and climbs down where that tells most for the
rows that it costs, as long as enough rows are kept. A finer record is never shared by more people, so the search ends
where no single column can be finer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import log2
from typing import Final

from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import UNITS, Axis, Discovered, axis
from hubbub.tables.generalization import Grouped, Prefix, Ranges
from hubbub.tables.schema import ColumnType

_MOST_RANGES: Final = 100  # of a column of numbers, on the first step of its ladder
_SERIES: Final = (2, 5, 10)
_CODE: Final = re.compile(r"[0-9A-Za-z.-]{3,12}", re.ASCII)
_FEW: Final = 20  # values of a code: so many are left as they are

Labels = Callable[[str], dict[str | None, int]]
"""The values of a column of the public table, made coarser by a function, with how many rows have each."""


@dataclass(frozen=True, slots=True)
class Ladder:
    """The functions of one column, the finest first; None, the last, leaves the column out. `bits` is what each tells."""

    steps: tuple[str | None, ...]
    bits: tuple[float, ...]


def ladder(spec: str, column_type: ColumnType, reads: str | None, labels: Labels) -> Ladder:
    """The ladder of a column as it was given."""
    given = axis(spec)
    steps = [spec, *_coarser(spec, given, column_type, reads, labels)]
    return Ladder((*steps, None), (*(_entropy(labels(step)) for step in steps), 0.0))


def _coarser(spec: str, given: Axis, column_type: ColumnType, reads: str | None, labels: Labels) -> list[str]:
    name = _named(given.column)
    match given:
        case Discovered(coarser=Ranges(width)):
            return [f"{name}:{width * times}" for times in (2, 5, 10)]
        case Discovered(coarser=Prefix(length)):
            return [f"{name}/{shorter}" for shorter in range(length - 1, 0, -1)]
        case Discovered(coarser=Grouped()):
            path, _, level = spec.rpartition("/")
            return _levels(path, int(level))
        case Discovered(unit=str(unit)):
            return [f"{name}:{longer}" for longer in UNITS[UNITS.index(unit) + 1 :]]
    if column_type is ColumnType.DATE or reads == "dates":
        return [f"{name}:{unit}" for unit in UNITS[1:]]
    values = [value for value in labels(spec) if value is not None]
    if column_type in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT) or reads == "numbers":
        return [f"{name}:{width}" for width in _widths(values)]
    lengths = {len(value) for value in values}
    if len(values) > _FEW and len(lengths) == 1 and all(map(_CODE.fullmatch, values)):
        return [f"{name}/{shorter}" for shorter in range(lengths.pop() - 1, 0, -1)]
    return []


def _levels(path: str, level: int) -> list[str]:
    from hubbub.tables.hierarchy import Hierarchy

    column, _, file = path.partition("@")
    return [f"{path}/{higher}" for higher in range(level + 1, Hierarchy.read(file, column).levels + 1)]


def _widths(values: Sequence[str]) -> list[int]:
    """2, 5, 10, 20, 50, ...: from the first that makes few ranges up to one that holds all of them."""
    numbers = []
    for value in values:
        try:
            numbers.append(float(value))
        except ValueError:
            continue
    span = max(numbers, default=0.0) - min(numbers, default=0.0)
    found: list[int] = []
    scale = 1
    while span >= 2 and (not found or found[-1] <= span):
        found += [scale * each for each in _SERIES if span / (scale * each) <= _MOST_RANGES]
        scale *= 10
    return [width for width in found if width <= span]


def _named(column: str) -> str:
    return '"' + column.replace('"', '""') + '"' if set(column) & set('=:@/,"') else column


def _entropy(labels: dict[str | None, int]) -> float:
    rows = sum(labels.values())
    return -sum(n / rows * log2(n / rows) for n in labels.values()) if rows else 0.0


def search(
    ladders: Sequence[Ladder], share: Callable[[tuple[str, ...]], float], enough: float
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The finest list of functions that the search found to keep enough rows, and those one step finer, which do not.

    `share` says how many of the rows a list keeps; nothing at all keeps every one.
    """
    at = [len(each.steps) - 1 for each in ladders]
    kept, done = 1.0, False
    while not done:
        best: tuple[float, int, float] | None = None
        for i, each in enumerate(ladders):
            if at[i] == 0:
                continue
            finer = share(_at(ladders, [*at[:i], at[i] - 1, *at[i + 1 :]]))
            worth = (each.bits[at[i] - 1] - each.bits[at[i]] + 1e-9) / (max(kept - finer, 0.0) + 1e-3)
            if finer >= enough and (best is None or worth > best[0]):
                best = worth, i, finer
        done = best is None
        if best is not None:
            _, which, kept = best
            at[which] -= 1
    beyond = [_at(ladders, [*at[:i], at[i] - 1, *at[i + 1 :]]) for i in range(len(at)) if at[i]]
    return _at(ladders, at), beyond


def _at(ladders: Sequence[Ladder], at: Sequence[int]) -> tuple[str, ...]:
    return tuple(step for each, i in zip(ladders, at, strict=True) if (step := each.steps[i]) is not None)
