"""Exact increments of crowds: bins by periods of a public calendar, as one partition.

A person is in the bin of the first period in which they have a row, and nowhere else. An increment of at least k people is
shown as it is; a smaller one is hidden, and never comes back: not with the next period, and not in a total.

Two tempting rules are refused. *Totals from k on*: with k = 3 and 0, 1, 2 arrivals the total of the third period is 3 and is
shown; without the person of the second it is hidden, and that person blends with nobody, since the others came in another
period. *Increments held back until k have gathered*: the same example; two people of one bin and of different periods do not
stand for each other, as the earlier one decides when a batch closes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

HIDDEN: Final = -1
Numbers = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowds:
    """Increments of at least k people, exactly; the others hidden for good.

    Guarantee: (k, 0)-crowd-blending of all periods together, if each person is counted in one period: it is the table of
    exact counts of at least k of one public partition, the bins by the periods of the calendar.
    """

    periods: int
    k: int

    def __post_init__(self) -> None:
        if self.periods < 1 or self.k < 2:
            raise WrongUse("a crowd has at least 2 people; choose a larger one")

    @property
    def recur(self) -> int:
        return 1

    def publish(self, counts: Numbers) -> Numbers:
        """What is drawn of the increments of one period."""
        return np.where(counts >= self.k, counts, HIDDEN)

    def ends(self, drawn: Sequence[Numbers]) -> tuple[Numbers, Numbers]:
        """Between which numbers each running total lies.

        Guarantee: the total is at least what was shown, and at most k - 1 more for each hidden period.
        """
        every = np.stack([numbers[0] for numbers in drawn])
        low = np.cumsum(np.where(every == HIDDEN, 0, every), axis=0)
        return low, low + (self.k - 1) * np.cumsum(every == HIDDEN, axis=0)
