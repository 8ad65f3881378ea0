"""Margins of a cube: which sums of its cells are asked for, and how cells add up to them.

``A,B; B,C; A`` names three; a number alone, like ``2``, every margin of so many columns; ``total`` is everybody in a
cell, and no column at all. A margin is a sum of cells, so
it can have no other columns than they have.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import HubbubError, WrongUse
from hubbub.tables.bins import Axis, Discovered, declared_size, size
from hubbub.tables.generalization import split_list

Margin = tuple[str, ...]

TOTAL = "total"
"""How the margin without columns is asked for."""

_NAME = re.compile(r"[a-z0-9-]{1,34}", re.ASCII)


def parse_margins(margins: str | Sequence[str | Sequence[str]] | None, columns: Sequence[str]) -> tuple[Margin, ...]:
    """The margins that somebody asks for, each with its columns in the order of the cube; each column's, if unsaid."""
    if margins is None:
        return tuple((column,) for column in columns)
    parts = _parts(margins) if isinstance(margins, str) else margins
    found: list[Margin] = []
    for part in parts:
        names = tuple(map(_bare, split_list(part))) if isinstance(part, str) else tuple(part)
        if names == (TOTAL,) and TOTAL not in columns:
            found.append(())
        elif not names:
            raise WrongUse(
                f"a margin is a sum of released cells, which are by {', '.join(columns)}; name one of these columns at least, "
                f"or {TOTAL} for everybody"
            )
        elif len(names) == 1 and names[0] not in columns and re.fullmatch(r"\d{1,2}", names[0], re.ASCII):
            found += _all_of(int(names[0]), columns)
        else:
            found.append(names)
    check_margins(tuple(found), columns, WrongUse)
    ordered = (tuple(column for column in columns if column in names) for names in found)
    return tuple(dict.fromkeys(ordered))


def check_margins(margins: tuple[Margin, ...], columns: Sequence[str], wrong: type[HubbubError]) -> None:
    """Refuse what is no sum of the cells, or the cells themselves."""
    if not margins:
        raise wrong("a cube has margins, like `margins=A,B; B,C; A`; name some, or leave it out for each column's")
    for margin in margins:
        unknown = next((name for name in margin if name not in columns), None)
        if unknown is not None:
            raise wrong(
                f"a margin is a sum of released cells, which are by {', '.join(columns)}; {str(unknown)[:40]!r} is "
                "none of these columns, so add it with `by`, or leave it out"
            )
        if len(set(margin)) != len(margin):
            raise wrong(f"a margin names each of its columns once, not so {', '.join(margin)[:80]!r}; name each once")
        if len(margin) == len(columns):
            raise wrong("the cells themselves are published in any case; leave out the margin by all columns")


def _parts(text: str) -> list[str]:
    parts = [part.strip() for part in re.findall(r'(?:"(?:[^"]|"")*"|[^;"]|")+', text)]
    return [part for part in parts if part]


def _bare(name: str) -> str:
    return name[1:-1].replace('""', '"') if len(name) > 1 and name[0] == name[-1] == '"' else name


def _all_of(many: int, columns: Sequence[str]) -> list[Margin]:
    if not 1 <= many < len(columns):
        raise WrongUse(
            f"margins of 1 to {len(columns) - 1} columns can be asked for here, not of {many}; choose one of these"
        )
    return list(combinations(columns, many))


def file_names(margins: Sequence[Margin]) -> list[str]:
    """A name for the file of each margin, from its columns where they make one, else from its number."""
    slugs = ["-".join(margin or (TOTAL,)).lower().replace("_", "-").replace(" ", "-") for margin in margins]
    return [
        f"margin-{slug}" if _NAME.fullmatch(slug) and slugs.count(slug) == 1 and not slug.isdigit() else f"margin-{i}"
        for i, slug in enumerate(slugs, 1)
    ]


def cells_inside(axes: Sequence[Axis], margin: Margin) -> int | None:
    """How many cells add up to one of the margin; None if nobody knows, since they are found in the data."""
    others = [axis for axis in axes if axis.column not in margin]
    return declared_size(others)


def sum_cells(table: NDArray[np.int64], axes: Sequence[Axis], margin: Margin) -> NDArray[np.int64]:
    """The sums of a table with a number for every declared cell, last axis fastest."""
    cube = table.reshape([size(axis) for axis in axes if not isinstance(axis, Discovered)])
    away = tuple(i for i, axis in enumerate(axes) if axis.column not in margin)
    found: NDArray[np.int64] = np.asarray(cube.sum(axis=away), dtype=cube.dtype).reshape(-1)
    return found
