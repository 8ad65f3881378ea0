"""What an engine does: say which columns there are, and count people in public bins, exactly and once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hubbub.noise.source import Source
from hubbub.tables.bins import Countable
from hubbub.tables.identity import Identity
from hubbub.tables.schema import Schema
from hubbub.tables.sketch import Notice


class Repeats(Enum):
    """What to do with a person who has several rows."""

    REFUSE = "refuse"
    ONE_ROW = "keep one row, chosen secretly and uniformly"
    DISTINCT = "count once in each of at most so many bins, chosen secretly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Count the people in each bin of the partition that the axes make."""

    axes: tuple[Countable, ...]
    person: str | None = None
    repeats: Repeats = Repeats.REFUSE
    most_bins: int = 1  # per person, with DISTINCT


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Exact counts of the bins that are not empty. Private: never leaves the release that asked.

    `codes` numbers the declared part of each bin (mixed radix over the declared axes, the last axis fastest);
    `found[i]` holds the labels of the i-th discovered axis, one for each bin, None where the value is missing.
    """

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    found: tuple[list[str | None], ...] = ()


class Engine(Protocol):
    """A table of people, somewhere."""

    def columns(self) -> Schema:
        """The columns and what they hold. The schema is public."""
        ...

    def identity(self) -> Identity:
        """What the table is, whatever it is called. Private: it stays in the ledger."""
        ...

    def noticing(self, notice: Notice) -> Self:
        """The same table, which tells `notice` who is in it before it counts by a person column, and before `source` is
        used; what that refuses is not counted."""
        ...

    def count(self, question: Question, source: Source) -> Counted:
        """Exact counts; `source` gives the secret choices among a person's rows."""
        ...
