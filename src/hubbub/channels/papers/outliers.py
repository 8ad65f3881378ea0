"""Simple outlier differential privacy: examples 4 (suppressed) and 5 (noisy) of the outlier paper.

Both add noise of rate epsilon to every count; a value of at most k + s is then hidden (example 4) or gets noise of
rate epsilon/k on top (example 5, which says that it did). They are staircases of one level, and run as such.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from numpy.typing import ArrayLike

from hubbub.channels.empty_bins import EmptyBins
from hubbub.channels.law import Law
from hubbub.channels.papers.offsets import noisy_delta, paper_claim, rounded_up, smallest, suppressed_delta
from hubbub.channels.papers.staircase import Staircase, is_wide
from hubbub.channels.protocol import MOST_COMPARED, Card, Channel, Proof, Published, noise_rate
from hubbub.guarantees.definitions import SimpleOutlier
from hubbub.guarantees.derivation import HERE, LUI_PASS, Theorem
from hubbub.noise.source import Source
from hubbub.numeric.exact import Exact, integer, positive, rounded


def _checked(k: Exact, epsilon: Exact) -> tuple[int, Fraction]:
    crowd, rate = integer(k, "k", least=2), noise_rate(epsilon)
    return crowd, rate


@dataclass(frozen=True, slots=True)
class OutlierSuppressed(Channel):
    """Example 4. `delta` is what is claimed; make it with :meth:`with_alpha`, :meth:`with_offset` or
    :meth:`with_delta`.

    Guarantee: (k, epsilon, delta)-simple outlier differential privacy (Theorem 15): epsilon for everybody, and
    (epsilon/k, delta) for people in crowds of at most k, where the exact delta is P(X > offset) (1 - e^-(epsilon -
    epsilon/k)).
    """

    name: ClassVar[str] = "outlier-suppressed"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.outlier-suppressed", "Theorem 15, exact", f"{LUI_PASS}, Example 4; {HERE}"),
        summary="noise for all, small values hidden (example 4)",
        example="`k=100` `epsilon=1` `alpha=10`",
        needs=("k", "epsilon"),
        one_of=("alpha", "offset", "delta"),
    )
    k: int
    epsilon: Fraction
    offset: int
    delta: Fraction

    @classmethod
    def with_alpha(cls, k: Exact, epsilon: Exact, alpha: Exact) -> OutlierSuppressed:
        """The paper's alpha/epsilon, rounded up, with the paper's claim e^-alpha/2."""
        crowd, rate = _checked(k, epsilon)
        a = positive(alpha, "alpha")
        return cls(crowd, rate, rounded_up(a, rate), rounded(paper_claim(a, noisy=False), up=True))

    @classmethod
    def with_offset(cls, k: Exact, epsilon: Exact, offset: Exact) -> OutlierSuppressed:
        """A given offset, with the exact delta as the claim."""
        crowd, rate = _checked(k, epsilon)
        shift = integer(offset, "offset")
        return cls(crowd, rate, shift, rounded(suppressed_delta(crowd, rate, shift), up=True))

    @classmethod
    def with_delta(cls, k: Exact, epsilon: Exact, delta: Exact) -> OutlierSuppressed:
        """The smallest offset whose exact delta, which is claimed, is at most the one asked for."""
        crowd, rate = _checked(k, epsilon)
        shift = smallest(lambda s: suppressed_delta(crowd, rate, s), rate, positive(delta, "delta"))
        return cls(crowd, rate, shift, rounded(suppressed_delta(crowd, rate, shift), up=True))

    @property
    def _stairs(self) -> Staircase:
        return Staircase((self.k,), (self.epsilon, Fraction(0)), (self.offset,), self.delta)

    @property
    def claim(self) -> SimpleOutlier:
        return SimpleOutlier(k=self.k, epsilon=self.epsilon, delta=self.delta, differential=True)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        delta = rounded(suppressed_delta(self.k, self.epsilon, self.offset), up=True)
        coupled = Proof(self.claim.as_outlier().curve, "the exact tail of the first noise", delta)
        return self._stairs.proofs[0], coupled

    @property
    def last_change(self) -> int:
        return self.k + self.offset

    @property
    def unbiased(self) -> bool:
        return False

    def law(self, count: int) -> Law:
        return self._stairs.law(count)

    def release(self, counts: ArrayLike, source: Source) -> Published:
        return self._stairs.release(counts, source)

    @property
    def steady_from(self) -> int:
        return self.last_change + 1 + math.ceil(21 / self.epsilon)

    def empty_bins(self) -> EmptyBins | None:
        return self._stairs.empty_bins()


@dataclass(frozen=True, slots=True)
class OutlierNoisy(Channel):
    """Example 5, saying which bins got the second noise. Made like :class:`OutlierSuppressed`.

    Guarantee: (k, epsilon, delta)-simple outlier differential privacy (Theorem 16, with less than half its delta):
    epsilon for everybody, and (epsilon/k, delta) for people in crowds of at most k, where the exact delta is that of
    example 4, P(X > offset) (1 - e^-(epsilon - epsilon/k)).
    """

    name: ClassVar[str] = "outlier-noisy"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.outlier-noisy", "Theorem 16, sharp", f"{LUI_PASS}, Example 5; {HERE}"),
        summary="noise for all, more noise on small values (example 5)",
        example="`k=100` `epsilon=1` `alpha=10`",
        needs=("k", "epsilon"),
        one_of=("alpha", "offset", "delta"),
    )
    k: int
    epsilon: Fraction
    offset: int
    delta: Fraction

    def __post_init__(self) -> None:
        noise_rate(self.epsilon / self.k, "epsilon/k")

    @classmethod
    def with_alpha(cls, k: Exact, epsilon: Exact, alpha: Exact) -> OutlierNoisy:
        """The paper's alpha/epsilon, rounded up, with the paper's claim e^-alpha."""
        crowd, rate = _checked(k, epsilon)
        a = positive(alpha, "alpha")
        return cls(crowd, rate, rounded_up(a, rate), rounded(paper_claim(a, noisy=True), up=True))

    @classmethod
    def with_offset(cls, k: Exact, epsilon: Exact, offset: Exact) -> OutlierNoisy:
        """A given offset, with the exact delta as the claim."""
        crowd, rate = _checked(k, epsilon)
        shift = integer(offset, "offset")
        return cls(crowd, rate, shift, rounded(noisy_delta(crowd, rate, shift), up=True))

    @classmethod
    def with_delta(cls, k: Exact, epsilon: Exact, delta: Exact) -> OutlierNoisy:
        """The smallest offset whose exact delta, which is claimed, is at most the one asked for."""
        crowd, rate = _checked(k, epsilon)
        shift = smallest(lambda s: noisy_delta(crowd, rate, s), rate, positive(delta, "delta"))
        return cls(crowd, rate, shift, rounded(noisy_delta(crowd, rate, shift), up=True))

    @property
    def _stairs(self) -> Staircase:
        return Staircase((self.k,), (self.epsilon, self.epsilon / self.k), (self.offset,), self.delta)

    @property
    def claim(self) -> SimpleOutlier:
        return SimpleOutlier(k=self.k, epsilon=self.epsilon, delta=self.delta, differential=True)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        delta = rounded(noisy_delta(self.k, self.epsilon, self.offset), up=True)
        coupled = Proof(self.claim.as_outlier().curve, "the exact tail of the first noise, in both directions", delta)
        return self._stairs.proofs[0], coupled

    @property
    def last_change(self) -> int:
        return self.k + self.offset

    def comparable(self, counts: Sequence[int]) -> Sequence[int]:
        return () if is_wide((self.epsilon / self.k,)) else counts[:MOST_COMPARED]

    @property
    def unbiased(self) -> bool:
        return True

    def law(self, count: int) -> Law:
        return self._stairs.law(count)

    def release(self, counts: ArrayLike, source: Source) -> Published:
        return self._stairs.release(counts, source)
