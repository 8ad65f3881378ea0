"""The generator of `java.util.Random`, by which RCTab breaks ties from a seed that its configuration publishes.

It is arithmetic on a public number and no source of randomness: whoever knows the seed knows every draw. It exists so
that an office's count can be repeated, and serves nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_FACTOR: Final = 0x5DEECE66D
_ADDED: Final = 0xB
_WORD: Final = (1 << 48) - 1


class JavaDice:
    """The numbers that a seed gives, one after the other."""

    def __init__(self, seed: int) -> None:
        self._state = (seed ^ _FACTOR) & _WORD

    def _bits(self, many: int) -> int:
        self._state = (self._state * _FACTOR + _ADDED) & _WORD
        return self._state >> (48 - many)

    def index(self, below: int) -> int:
        """A place in a list: a fraction of 53 bits (nextDouble) times its length, cut to a whole number."""
        fraction = (self._bits(26) << 27) + self._bits(27)
        return fraction * below >> 53

    def below(self, bound: int) -> int:
        """A number below `bound` (nextInt)."""
        if not bound & (bound - 1):
            return bound * self._bits(31) >> 31
        while True:
            bits = self._bits(31)
            if bits - bits % bound + bound - 1 < 1 << 31:
                return bits % bound

    def shuffled(self, names: Sequence[str]) -> list[str]:
        """The names in another order (Collections.shuffle)."""
        out = list(names)
        for i in range(len(out), 1, -1):
            j = self.below(i)
            out[i - 1], out[j] = out[j], out[i - 1]
        return out
