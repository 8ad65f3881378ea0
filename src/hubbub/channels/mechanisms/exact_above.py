"""What four channels share: the exact count from a crowd of `first` on; below, noise or nothing.

Exact counts for crowds of at least k, nothing below (crowd-blending paper; Hist_h of the lecture notes).

Exact counts for crowds of at least k, noise below (crowd-blending paper).

Simple outlier privacy: examples 2 and 3 of the outlier paper (a k-outlier stands in a crowd of at most k).
"""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike

from hubbub.channels.law import SUPPRESSED, Law, point, two_sided
from hubbub.channels.protocol import Card, Channel, Proof, Published, exact_count, exact_counts, noise_rate
from hubbub.channels.published import EmptyBins, never
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import steps
from hubbub.guarantees.definitions import CrowdBlending, SimpleOutlier
from hubbub.guarantees.derivation import GHLP, LUI_PASS, Theorem
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.exact import INFINITY, integer, positive
from hubbub.runtime.frozen import dataclass

NOISY, EXACT = "noisy", "exact"
SILENT: Final = Fraction(0)


class ExactAbove:
    """The count itself from `first` on; below, the count plus two-sided geometric noise of `rate`, or nothing where the
    rate is 0. With `tagged`, it is said which of the two was done.

    Guarantee: f_c and f_(c-1) are (rate, 0)-close for every c below `first`; from there on no loss is bounded.
    """

    __slots__ = ()
    _above: ClassVar[int] = 0  # 1 where the count k itself is not published as it is
    k: int
    tagged: bool = False

    @property
    def first(self) -> int:
        """The smallest count that is published as it is."""
        return self.k + self._above

    @property
    def proofs(self) -> tuple[Proof, ...]:
        what = "both counts get the same noise" if self.rate else "both counts are hidden"
        reason = f"{'up to' if self._above else 'below'} k {what}"
        return (Proof(steps((1, self.rate), (self.first, INFINITY)), reason),)

    @property
    def rate(self) -> Fraction:
        """The rate of the noise below; 0 where counts below are hidden."""
        return SILENT

    @property
    def last_change(self) -> int:
        return self.first

    @property
    def exact_from(self) -> int | None:
        return None if self.rate else self.first

    @property
    def noisy_below(self) -> tuple[int, Fraction] | None:
        return (self.first, self.rate) if self.rate else None

    @property
    def certain(self) -> bool:
        return not self.rate

    @property
    def is_unmarked(self) -> bool:
        return bool(self.rate) and not self.tagged

    @property
    def is_unbiased(self) -> bool:
        return bool(self.rate)

    @property
    def segments(self) -> tuple[int, ...]:
        """Untagged, a noisy value may exceed an exact one: counts below `first` and from it on are two stretches."""
        return (0, self.first) if self.is_unmarked else (0,)

    @property
    def _tags(self) -> tuple[str, ...]:
        """The tags from the least to the most informative."""
        if not self.rate:
            return (SUPPRESSED, "")
        return (NOISY, EXACT) if self.tagged else ("",)

    def law(self, count: int) -> Law:
        count, tags = exact_count(count), self._tags
        if count >= self.first:
            return point(count, tags[-1], tags)
        if not self.rate:
            return point(0, SUPPRESSED, tags)
        return Law(two_sided(count, self.rate, tags[0]), tags=tags)

    def release(self, counts: ArrayLike, source: Source) -> Published:
        """Drawn from `law`. Noise is drawn for every bin, so that how much is drawn tells nothing."""
        truth, tags = exact_counts(counts), self._tags
        above = truth >= self.first
        if self.rate:
            values = truth + np.where(above, 0, two_sided_geometric(self.rate, truth.size, source).reshape(truth.shape))
        else:
            values = np.where(above, truth, 0)
        tag_index = above.astype(np.intp) if len(tags) == 2 else np.zeros(truth.shape, dtype=np.intp)
        return Published(values, tag_index, tags)

    def empty_bins(self) -> EmptyBins | None:
        return None if self.rate else never((SUPPRESSED, ""))


@dataclass(frozen=True, slots=True)
class ExactOrSuppressed(ExactAbove, Channel):
    """Publish the count if it is at least k, else publish that it is hidden.

    Guarantee: (k, 0)-crowd-blending for a table of counts on a public partition. Below k, removing a person changes
    nothing; at or above k, the people of the bin are exactly interchangeable. There is no differential privacy:
    the count k and the count k - 1 look different with certainty.
    """

    name: ClassVar[str] = "exact-or-suppressed"
    card: ClassVar[Card] = Card(
        statement=Theorem(
            "channel.exact-or-suppressed", "counts below k hidden, the others exact", f"{GHLP}, section 3"
        ),
        summary="exact counts of at least k, the others hidden",
        example="`k=20`",
        needs=("k",),
    )
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer(self.k, "k", least=2))

    @property
    def claim(self) -> CrowdBlending:
        return CrowdBlending(k=self.k, epsilon=SILENT)


@dataclass(frozen=True, slots=True)
class NoisyBelow(ExactAbove, Channel):
    """Publish the count if it is at least k, else the count plus two-sided geometric noise of rate epsilon.

    With `tagged`, it is said which of the two was done; without, an exact count is one integer among others, which is
    more private after sampling (an attacker does not know that a count is exact).

    Guarantee: (k, epsilon)-crowd-blending for a table of counts on a public partition. Below k, both neighbours get
    noise of rate epsilon, so removal costs at most epsilon; at or above k, people of the bin are exactly
    interchangeable.
    """

    name: ClassVar[str] = "noisy-below"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.noisy-below", "noise on counts below k, the others exact", f"{GHLP}, section 3"),
        summary="exact counts of at least k, noise below",
        example="`k=20` `epsilon=0.5`",
        needs=("k", "epsilon"),
        may=("tagged",),
    )
    k: int
    epsilon: Fraction
    tagged: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer(self.k, "k", least=2))
        object.__setattr__(self, "epsilon", noise_rate(self.epsilon))
        if not isinstance(self.tagged, bool):
            raise WrongUse(f"tagged must be true or false, not {type(self.tagged).__name__}; leave it out for false")

    @property
    def claim(self) -> CrowdBlending:
        return CrowdBlending(k=self.k, epsilon=self.epsilon)

    @property
    def rate(self) -> Fraction:
        return self.epsilon


@dataclass(frozen=True, slots=True)
class SimpleSuppressed(ExactAbove, Channel):
    """Example 2: counts of at most k are hidden, the others are exact.

    Guarantee: (k, 0)-simple outlier privacy (Theorem 8): a bin with at most k people is hidden before and
    after one of them leaves. Nothing is promised to people in larger crowds.
    """

    _above: ClassVar[int] = 1
    name: ClassVar[str] = "simple-suppressed"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.simple-suppressed", "Theorem 8", f"{LUI_PASS}, Example 2"),
        summary="counts up to k hidden (example 2)",
        example="`k=100`",
        needs=("k",),
    )
    k: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer(self.k, "k", least=1))

    @property
    def claim(self) -> SimpleOutlier:
        return SimpleOutlier(k=self.k, epsilon=SILENT)


@dataclass(frozen=True, slots=True)
class SimpleNoisy(ExactAbove, Channel):
    """Example 3: counts of at most k get noise of rate epsilon/k, the others are exact.

    Guarantee: (k, epsilon)-simple outlier privacy (Theorem 9): a bin with at most k people gets the same noise before
    and after one of them leaves, which costs epsilon/k, and epsilon for the whole bin. Nothing is promised to
    people in larger crowds.
    """

    _above: ClassVar[int] = 1
    name: ClassVar[str] = "simple-noisy"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.simple-noisy", "Theorem 9", f"{LUI_PASS}, Example 3"),
        summary="noise on counts up to k (example 3)",
        example="`k=100` `epsilon=1`",
        needs=("k", "epsilon"),
    )
    k: int
    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer(self.k, "k", least=1))
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        noise_rate(self.rate, "epsilon/k")

    @property
    def rate(self) -> Fraction:
        return self.epsilon / self.k

    @property
    def claim(self) -> SimpleOutlier:
        return SimpleOutlier(k=self.k, epsilon=self.epsilon)
