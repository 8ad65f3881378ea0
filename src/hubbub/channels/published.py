"""What a channel publishes: a value and a tag for each bin."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.law import SUPPRESSED
from hubbub.runtime.frozen import dataclass


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
