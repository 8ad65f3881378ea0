"""The protocol of a count channel.

A channel is a family of laws f_0, f_1, f_2, ...: it sees one exact count and publishes one value drawn from the
law of that count. A release runs one channel, independently, in every bin of a public partition. Its privacy
is a property of the family alone, and :mod:`hubbub.channels.profile` computes it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from hubbub.channels.law import SUPPRESSED, Law, given_visible
from hubbub.channels.published import EmptyBins
from hubbub.channels.published import Published as Published
from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, Loss, ball, brief, rational
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.guarantees.accountant.gaussian import GaussianNoise
    from hubbub.guarantees.curve import Curve
    from hubbub.guarantees.definitions import DifferentialPrivacy, Guarantee
    from hubbub.guarantees.derivation import Theorem
    from hubbub.guarantees.verdict import Verdict
    from hubbub.noise.source import Source

LARGEST_COUNT = 2**62
"""Counts above this, which no table has, are as this one to a channel: a published value must fit 64 bits with its noise."""

SMALLEST_RATE, LARGEST_RATE = Fraction(1, 10**6), Fraction(50)
"""Noise is drawn exactly for every rational epsilon between these."""


@dataclass(frozen=True, slots=True)
class Proof:
    """f_c and f_(c-1) are (curve(c), delta)-close for every c, and this is why. Infinite where nothing is proved."""

    curve: Curve
    reason: str
    delta: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """What a channel says about itself: the statement behind its claim, what it does, and how it is asked for.

    `summary` is one line. `needs`, `may` and `one_of` are the options it must have, can have, and must have exactly one
    of.
    """

    statement: Theorem
    summary: str
    example: str
    needs: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()


MOST_COMPARED = 12
"""Counts at which a channel's laws are compared when a certificate is checked; beyond them stands its proof."""


@runtime_checkable
class Channel(Protocol):
    """A family of laws, one per count, with a claim about them.

    Inherit from it: everything below `unbiased` has a default that holds for every channel, and a channel that knows
    better says so itself.

    `law` is exact. `release` draws from it, exactly. `claim` is what the paper or its correction
    promises; the checker holds it against the laws. `proofs` bound the loss of removing one person from a bin at
    *every* count, by short arguments: they stand for the infinitely many counts that nobody can enumerate.
    """

    __slots__ = ()
    name: ClassVar[str]
    card: ClassVar[Card]

    def __hash__(self) -> int:
        return object.__hash__(self)

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
    def is_unbiased(self) -> bool:
        """Whether the published value, as it stands, has the true count as its mean."""
        ...

    @property
    def how(self) -> str:
        """What is done to a count, in a few words, where the parameters are known."""
        return re.sub(r" \([^)]*\)$", "", self.card.summary)

    def neighbours(self, count: int) -> tuple[Law, Law]:
        """The laws of a bin with this count and of the same bin with one person fewer, cut alike."""
        return self.law(count), self.law(count - 1)

    @property
    def last_change(self) -> int | None:
        """The count from which the laws are shifts of one another; None if there is none, or it is unknown."""
        return None

    @property
    def segments(self) -> tuple[int, ...]:
        """The first counts of the stretches on which the laws are stochastically ordered: a larger count publishes more."""
        return (0,)

    @property
    def certain(self) -> bool:
        """Whether an interval for the count never misses it.

        What is published either follows from the count, or is the same toss for all counts of a stretch, which the
        interval then holds as a whole.
        """
        return False

    @property
    def is_unmarked(self) -> bool:
        """Whether counts below a crowd get noise, and nothing says which counts did."""
        return False

    @property
    def hides(self) -> bool:
        """Whether some outcomes show no number."""
        return any(tag.startswith(SUPPRESSED) for tag in self.law(0).tags)

    @property
    def exact_from(self) -> int | None:
        """The count from which everything is shown as it is, below which everything is hidden; None if it is not so."""
        return None

    @property
    def noisy_below(self) -> tuple[int, Fraction] | None:
        """(k, rate): two-sided geometric noise of that rate below k, the count itself from k on; None if not so."""
        return None

    @property
    def plain_noise(self) -> Fraction | None:
        """The rate of the two-sided geometric noise that is all that every count gets; None if it is not so."""
        return None

    @property
    def noise_cut_at_zero(self) -> Fraction | None:
        """The rate of two-sided geometric noise on every count, where what lies below 0 becomes 0; None if not so."""
        return None

    @property
    def warped_along(self) -> Curve | None:
        """The curve along which the noise of Theorem W1 is warped, cut or not; None if it is other noise."""
        return None

    @property
    def steady_from(self) -> int | None:
        """A count from which the chance of being hidden hardly changes; None if it has to be searched for."""
        return None

    def chance_visible(self, count: int) -> arb:
        """A ball around the probability that a bin of so many shows a number."""
        return given_visible(self.law(count)).total()

    def tail(self, count: int, value: int, tag: str, *, up: bool) -> tuple[arb, arb]:
        """(the chance of an outcome at least this high, or with `up` unset at most; the chance it is a part of).

        For an outcome that shows a number both are of what is shown; for a hidden one, of everything.
        """
        hidden = tag.startswith(SUPPRESSED)
        law = self.law(count) if hidden else given_visible(self.law(count))
        mass = law.at_least(value, tag) if up else law.at_most(value, tag)
        return mass + ball(law.missing), arb(1) if hidden else law.total()

    def law_size(self, count: int) -> int:
        """How many values the table of a law has, where that says how long it takes; 0 for a closed form."""
        return 0

    def several_bins(self, bins: int) -> DifferentialPrivacy | None:
        """What a person in at most so many bins is promised, where that is less than the sum; None if it is the sum."""
        return None

    def gaussian_noise(self, bins: int) -> GaussianNoise | None:
        """The discrete Gaussian noise that it is, on counts of which a person moves so many; None for other noise."""
        return None

    def why_this_noise(self, bins: int) -> str | None:
        """Why this noise and no other, for people in at most so many bins, in a clause; None if there is no choice."""
        return None

    def noise_given(self, tag: str) -> Loss | None:
        """The rate of the noise around the count, where the tag tells it for every count; else None."""
        return None

    def counts_within(self, value: int | None, tail: arb) -> tuple[int, int | None] | None:
        """The counts for which a value is not in a tail of that probability, if there is a short way to them."""
        return None

    def likelihood(self, count: int, value: int, tag: str) -> arb:
        """The probability of an outcome at a count."""
        return self.law(count).mass(value, tag)

    def most_likely(self, value: int) -> int | None:
        """The count under which a value is most probable, if there is a short way to it."""
        return None

    def unbiased_estimate(self, value: int) -> Fraction | arb | None:
        """An estimate whose mean is the count, from a value that is shown; None where there is none."""
        return Fraction(value) if self.is_unbiased else None

    def comparable(self, counts: Sequence[int]) -> Sequence[int]:
        """The first few of these critical counts whose laws are small enough to be compared."""
        return counts[:MOST_COMPARED]

    def empty_bins(self) -> EmptyBins | None:
        """How empty bins come to show a number, where they need not all be listed; None where they do."""
        return None

    def reconsider(self, verdict: Verdict) -> Verdict:
        """The verdict after a closer check that only this channel has; without one, the verdict as it is."""
        return verdict


def exact_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """`counts` as int64, or one sentence that names no count.

    Guarantee: what is above 2^62 becomes that, which moves no two counts apart: a channel keeps its loss, and refuses
    nobody for what was counted.
    """
    array = np.asarray(counts)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise WrongUse(f"counts must be whole numbers in an integer array, not {array.dtype}")
    if int(array.min()) < 0:
        raise WrongUse("counts are never below 0; check what was counted")
    return np.minimum(array.astype(np.uint64, copy=False), LARGEST_COUNT).astype(np.int64, copy=False)


def exact_count(count: int) -> int:
    """A single count, checked like an array of them."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or not 0 <= count <= LARGEST_COUNT:
        raise WrongUse("a count must be a whole number between 0 and 2^62")
    return int(count)


def noise_rate(value: Exact, what: str = "epsilon") -> Fraction:
    """An epsilon that exact noise can be drawn for."""
    rate = rational(value, what)
    if not SMALLEST_RATE <= rate <= LARGEST_RATE:
        raise WrongUse(
            f"{what} must lie between 0.000001 and 50 for exact noise, not {brief(rate)}; choose one in that range"
        )
    return rate
