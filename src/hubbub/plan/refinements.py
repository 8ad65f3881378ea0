"""Which refinements of a cube survive: for every choice of its columns, how many people stand in cells that are told.

From public information alone: the sizes of the columns, the number of people and a stated shape, or a public table such
as last year's. A cell is told if it has at least k people; with noise alone, if it has more than the noise of the table
reaches, since below that nobody can tell it from an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import prod
from typing import Annotated, Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.mechanisms.noise_reach import misses, reach_of_all
from hubbub.errors import WrongUse
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import Exact, integer, positive, rational, to_text
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Discovered, axis, size
from hubbub.tables.engine import CountQuery
from hubbub.tables.schema import bind_axes

MOST_COLUMNS: Final = 10
MOST_CELLS: Final = 10**7
_COVERAGE: Final = Fraction(19, 20)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """One choice of columns: its cells, those that are told, and the share of people who stand in them."""

    columns: tuple[str, ...]
    cells: int
    published: int
    share: float
    least: int  # people that a cell must have to be told
    survives: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinements:
    """All of them, the coarsest first."""

    rows: tuple[Refinement, ...]
    about: str  # where the numbers come from
    keep: Fraction

    @property
    def best(self) -> Refinement | None:
        """Of those that survive, one with most columns, then with most people in cells that are told."""
        found = [row for row in self.rows if row.survives]
        return max(found, key=lambda row: (len(row.columns), row.share), default=None)

    def as_json(self) -> dict[str, Any]:
        return {
            "about": self.about,
            "keep": to_text(self.keep),
            "best": None if self.best is None else list(self.best.columns),
            "refinements": [
                {
                    "columns": list(row.columns),
                    "cells": row.cells,
                    "cells_told": row.published,
                    "people_told": round(row.share, 6),
                    "least": row.least,
                    "survives": row.survives,
                }
                for row in self.rows
            ],
            "words": " ".join(self.sentences()),
        }

    def sentences(self) -> tuple[str, ...]:
        """What to make of it."""
        percent = f"{float(100 * self.keep):g} %"
        if self.best is None:
            return (f"None survives: no choice of columns has {percent} of people in cells that are told.", self.about)
        sentence = f"{100 * self.best.share:.1f} % of people are in cells that are told"
        return (
            f"The finest that survives is by {', '.join(self.best.columns)}: {sentence}, of {self.best.cells:,} cells "
            f"{self.best.published:,}. To survive, {percent} must be.",
            self.about,
        )


def refinements(
    by: Annotated[Sequence[str], option_help("SPEC", "A column and its bins, or its size: town~12. Repeat it.")] = (),
    *,
    people: Annotated[Exact | None, option_help("N", "How many people the table has, about.")] = None,
    crowd: Annotated[Exact | None, option_help("K", "Cells of at least K people are told.")] = None,
    epsilon: Annotated[Exact | None, option_help("EPS", "Noise alone: cells beyond its reach are told.")] = None,
    sample: Annotated[Exact | None, option_help("P", "A secret sample: each person with probability P.")] = None,
    shape: Annotated[
        str, option_help("SHAPE", "Of a column, independent of the others: even, zipf or zipf:1.5.")
    ] = "zipf",
    public: Annotated[object, option_help("FILE", "A public table to count instead, such as last year's.")] = None,
    keep: Annotated[Exact, option_help("SHARE", "The share of people to be told.")] = "0.9",
) -> Refinements:
    """Which refinements of a cube survive: for every choice of its columns, how many people are in cells that are told.

    From public information alone. Do not give `public` the table that is to be released: what is chosen by looking at
    people is promised to nobody.
    """
    if isinstance(by, str) or not 1 < len(by) <= MOST_COLUMNS:
        raise WrongUse(f"a cube that is planned has 2 to {MOST_COLUMNS} columns; name them with `by`")
    if (crowd is None) == (epsilon is None):
        raise WrongUse("say either `crowd=K`, or `epsilon=E` for noise alone")
    enough = rational(keep, "`keep`")
    if not 0 < enough <= 1:
        raise WrongUse(f"`keep` must lie between 0 and 1, not {enough}; choose one like 0.9")
    rate = Fraction(1) if sample is None else rational(sample, "`sample`")
    if not 0 < rate <= 1:
        raise WrongUse(f"`sample` must lie between 0 and 1, not {rate}; leave it out to use everybody")
    total = None if people is None else integer(people, "`people`", least=1)
    names, sizes, cells, about = (
        _count_public_table(by, public, total) if public is not None else _cells_of_shape(by, total, shape)
    )
    loss = None if epsilon is None else positive(epsilon, "epsilon")
    if loss is not None:
        about = f"{about} Each choice is taken as a table of its own, with all of epsilon."
    k = 0 if crowd is None else integer(crowd, "crowd", least=2)
    rows = []
    for many in range(1, len(names) + 1):
        for chosen in combinations(range(len(names)), many):
            counts = cells.over(chosen) * float(rate)
            bins = prod(sizes[i] or 0 for i in chosen) or counts.size
            least = k if loss is None else reach_of_all(loss, misses((bins,), _COVERAGE)[0]) + 1
            published = counts >= least
            share = float(counts[published].sum() / max(counts.sum(), 1e-300))
            rows.append(
                Refinement(
                    columns=tuple(names[i] for i in chosen),
                    cells=bins,
                    published=int(published.sum()),
                    share=share,
                    least=least,
                    survives=share >= enough,
                )
            )
    return Refinements(rows=tuple(rows), about=about, keep=enough)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """People in some cells: the number of each cell's bin in every column, and how many there are."""

    codes: tuple[NDArray[np.int64], ...]
    counts: Floats

    def over(self, chosen: tuple[int, ...]) -> Floats:
        number = np.zeros(self.counts.size, dtype=np.int64)
        for i in chosen:
            number = number * (int(self.codes[i].max(initial=0)) + 1) + self.codes[i]
        _, where = np.unique(number, return_inverse=True)
        found: Floats = np.bincount(where, weights=self.counts).astype(np.float64)
        return found


def _cells_of_shape(
    by: Sequence[str], people: int | None, shape: str
) -> tuple[list[str], list[int | None], _Cells, str]:
    if people is None:
        raise WrongUse("say how many people there are, about, with `people`, or name a public table with `public`")
    known = [_column_size(spec) for spec in by]
    names, sizes = [name for name, _ in known], [many for _, many in known]
    _distinct(names)
    if prod(sizes) > MOST_CELLS:
        raise WrongUse(f"the columns multiply to {prod(sizes):,} cells, and at most {MOST_CELLS:,} are planned")
    counts = np.array([float(people)])
    for many in sizes:
        counts = np.multiply.outer(counts, _shares(many, shape)).reshape(-1)
    codes = np.unravel_index(np.arange(counts.size), sizes)
    about = f"For {people:,} people, each column {shape}, the columns independent: real ones are not."
    return names, list(sizes), _Cells(tuple(np.asarray(each) for each in codes), counts), about


def _column_size(spec: str) -> tuple[str, int]:
    if match := re.fullmatch(r"(.+)~(\d{1,8})", spec.strip(), re.ASCII | re.DOTALL):
        return match[1].strip(), integer(match[2], f"the size of {match[1][:40]}", least=1)
    found = axis(spec)
    if isinstance(found, Discovered):
        raise WrongUse(f"how many bins {found.column} has is not known; write {found.column}~12, or declare them")
    return found.column, size(found)


def _shares(many: int, shape: str) -> Floats:
    if shape == "even":
        return np.full(many, 1 / many)
    if not re.fullmatch(r"zipf(:.*)?", shape):
        raise WrongUse(f"the shape of a column is even, zipf or zipf:1.5, not {shape[:40]!r}; choose one of them")
    power = float(positive(shape.partition(":")[2] or 1, "the power of zipf"))
    weights = np.arange(1, many + 1, dtype=float) ** -power
    found: Floats = weights / weights.sum()
    return found


def _count_public_table(
    by: Sequence[str], public: object, people: int | None
) -> tuple[list[str], list[int | None], _Cells, str]:
    from hubbub.engines.opening import open_source

    engine = open_source(public)
    axes = bind_axes(tuple(map(axis, by)), engine.columns())
    names = [each.column for each in axes]
    _distinct(names)
    counted = engine.count(CountQuery(axes=axes), SystemSource())
    counts = counted.counts.astype(float)
    if people is not None and counts.sum():
        counts *= people / counts.sum()
    found = iter(counted.found)
    axis_codes: list[NDArray[np.int64]] = []
    codes = counted.codes
    for each in reversed(axes):
        if not isinstance(each, Discovered):
            axis_codes.append(codes % size(each))
            codes = codes // size(each)
        else:
            axis_codes.append(np.zeros(0, dtype=np.int64))
    axis_codes.reverse()
    for i, each in enumerate(axes):
        if isinstance(each, Discovered):
            texts = next(found)
            known = {text: at for at, text in enumerate(dict.fromkeys(texts))}
            axis_codes[i] = np.array([known[text] for text in texts], dtype=np.int64)
    sizes = [None if isinstance(each, Discovered) else size(each) for each in axes]
    about = "Counted in the public table" + (f", scaled to {people:,} people." if people is not None else ".")
    return names, sizes, _Cells(tuple(axis_codes), counts), f"{about} Your people may be spread in another way."


def _distinct(names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        raise WrongUse("each column can be used once; name it once")
