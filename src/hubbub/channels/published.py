"""What a channel publishes: a value and a tag for each bin.

Empty bins of a huge domain: which few of them show a number, drawn without listing the others.

Of a domain of 10^12 bins nearly all are empty and, through most channels that hide small numbers, hidden. Each empty
bin does the same thing, independently. So it is enough to know which of them are *tried* (each with a tiny chance) and
what a bin that is tried publishes: the same law as going through all of them, in time proportional to those tried.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from hubbub.channels.law import SUPPRESSED
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.noise.source import Source


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """What came out: one value and one tag per bin. A suppressed bin has the tag ``suppressed`` and the value 0."""

    values: NDArray[np.int64]  # bin -> published value
    tags: NDArray[np.intp]  # bin -> index into names
    names: tuple[str, ...]

    def outcome(self, i: int) -> tuple[int | None, str]:
        """(value, tag) of bin i; the value is None where nothing is shown."""
        tag = self.names[int(self.tags[i])]
        return (None if tag.startswith(SUPPRESSED) else int(self.values[i])), tag

    @property
    def visible(self) -> NDArray[np.bool_]:
        """Which bins show a number."""
        return ~np.array([name.startswith(SUPPRESSED) for name in self.names], dtype=bool)[self.tags]

    def at(self, which: NDArray[np.intp]) -> Published:
        """Some of the bins."""
        return Published(self.values[which], self.tags[which], self.names)


@dataclass(frozen=True, slots=True)
class EmptyBins:
    """An empty bin is tried with the probability `chance()`, a ball at the current precision; `draw` gives what so many
    bins that are tried publish. One that is not tried is hidden, and one that is may be.

    Guarantee: whoever makes one sees to it that chance() times the probability of an outcome of `draw` is its
    probability under law(0), for every outcome that shows a number; and that being hidden is one outcome.
    """

    chance: Callable[[], arb]
    draw: Callable[[int, Source], Published]


def never(names: tuple[str, ...]) -> EmptyBins:
    """Empty bins that are hidden for certain."""

    def draw(size: int, source: Source) -> Published:
        return Published(np.zeros(size, dtype=np.int64), np.full(size, names.index(SUPPRESSED)), names)

    return EmptyBins(lambda: arb(0), draw)


def published_at(release: Callable[[ArrayLike, Source], Published], count: int) -> Callable[[int, Source], Published]:
    """What bins of that count publish, given that they show a number: those that do not are drawn again."""

    def draw(size: int, source: Source) -> Published:
        parts: list[Published] = []
        left = size
        while left or not parts:
            out = release(np.full(2 * left + 8, count), source)
            parts.append(out.at(np.flatnonzero(out.visible)[:left]))
            left -= parts[-1].values.size
        values, tags = (np.concatenate([getattr(part, name) for part in parts]) for name in ("values", "tags"))
        return Published(values, tags, parts[0].names)

    return draw
