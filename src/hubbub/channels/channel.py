"""The protocol of a count channel.

A channel is a family of laws f_0, f_1, f_2, ...: it sees one exact count and publishes one value drawn from the
law of that count. A release runs one channel, independently, in every bin of a public partition. Its privacy
is a property of the family alone, and :mod:`hubbub.channels.profile` computes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hubbub.channels.law import SUPPRESSED, Law
from hubbub.errors import WrongUse
from hubbub.exact import Exact, rational
from hubbub.guarantees.curve import Curve
from hubbub.guarantees.definitions import Guarantee
from hubbub.noise.source import Source

LARGEST_COUNT = 2**62
"""Counts above this are refused: a published value must fit 64 bits with its noise."""

SMALLEST_RATE, LARGEST_RATE = Fraction(1, 10**6), Fraction(50)
"""Noise is drawn exactly for every rational epsilon between these."""


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


@dataclass(frozen=True, slots=True)
class Proof:
    """f_c and f_(c-1) are (curve(c), delta)-close for every c, and this is why. Infinite where nothing is proved."""

    curve: Curve
    reason: str
    delta: Fraction = Fraction(0)


@runtime_checkable
class Channel(Protocol):
    """A family of laws, one per count, with a claim about them.

    `law` is exact. `release` draws from it, exactly. `claim` is what the paper or its correction
    promises; the checker holds it against the laws. `proofs` bound the loss of removing one person from a bin at
    *every* count, by short arguments: they stand for the infinitely many counts that nobody can enumerate.
    """

    name: ClassVar[str]

    def __hash__(self) -> int: ...

    def law(self, count: int) -> Law:
        """The exact law of what is published for this count."""
        ...

    def release(self, counts: ArrayLike, source: Source) -> Published:
        """One published value per count, drawn exactly from `law`."""
        ...

    @property
    def claim(self) -> Guarantee:
        """What is promised."""
        ...

    @property
    def proofs(self) -> tuple[Proof, ...]:
        """Bounds on the loss that hold at every count, with their reasons."""
        ...

    @property
    def unbiased(self) -> bool:
        """Whether the published value, as it stands, has the true count as its mean."""
        ...


def neighbours(channel: Channel, count: int) -> tuple[Law, Law]:
    """The laws of a bin with this count and of the same bin with one person fewer, cut alike."""
    aligned = getattr(channel, "neighbours", None)
    if aligned is not None:
        pair: tuple[Law, Law] = aligned(count)
        return pair
    return channel.law(count), channel.law(count - 1)


def exact_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """`counts` as int64, or one sentence that names no count."""
    array = np.asarray(counts)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise WrongUse(f"counts must be whole numbers in an integer array, not {array.dtype}")
    if int(array.min()) < 0 or int(array.max()) > LARGEST_COUNT:
        raise WrongUse("counts must lie between 0 and 2^62; check what was counted")
    return array.astype(np.int64)


def exact_count(count: int) -> int:
    """A single count, checked like an array of them."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count <= LARGEST_COUNT:
        raise WrongUse("a count must be a whole number between 0 and 2^62")
    return int(count)


def noise_rate(value: Exact, what: str = "epsilon") -> Fraction:
    """An epsilon that exact noise can be drawn for."""
    rate = rational(value, what)
    if not SMALLEST_RATE <= rate <= LARGEST_RATE:
        raise WrongUse(f"{what} must lie between 0.000001 and 50 for exact noise, not {rate}; choose one in that range")
    return rate
