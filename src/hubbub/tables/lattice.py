"""Positions along a column of numbers, which points are put on before they move."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Lattice:
    """Positions 0..steps-1 along a column of numbers, which points are put on: the i-th is from low + i * step up to,
    not including, the next.

    Which one a value is on is worked out in floating point, so that one on a line may go to either side; that depends
    on nothing but the value. Whoever is beyond the ends, or has no number, is left out.
    """

    kind: ClassVar[str] = "lattice"
    null: ClassVar[bool] = False
    other: ClassVar[bool] = False
    column: str
    low: Fraction
    step: Fraction
    steps: int
    reads: str = ""

    @property
    def high(self) -> Fraction:
        return self.low + self.steps * self.step

    def __len__(self) -> int:
        return self.steps
