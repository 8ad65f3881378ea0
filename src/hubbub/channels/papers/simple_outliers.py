"""Simple outlier privacy: examples 2 and 3 of the outlier paper (a k-outlier stands in a crowd of at most k)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from hubbub.channels.mechanisms.exact_above import SILENT, ExactAbove
from hubbub.channels.protocol import Card, Channel, Proof, noise_rate
from hubbub.guarantees.curve import steps
from hubbub.guarantees.definitions import SimpleOutlier
from hubbub.guarantees.derivation import LUI_PASS, Theorem
from hubbub.numeric.exact import INFINITY, integer, positive
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True)
class SimpleSuppressed(ExactAbove, Channel):
    """Example 2: counts of at most k are hidden, the others are exact.

    Guarantee: (k, 0)-simple outlier privacy (Theorem 8): a bin with at most k people is hidden before and
    after one of them leaves. Nothing is promised to people in larger crowds.
    """

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

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return (Proof(steps((1, 0), (self.k + 1, INFINITY)), "up to k both counts are hidden"),)

    @property
    def first(self) -> int:
        return self.k + 1


@dataclass(frozen=True, slots=True)
class SimpleNoisy(ExactAbove, Channel):
    """Example 3: counts of at most k get noise of rate epsilon/k, the others are exact.

    Guarantee: (k, epsilon)-simple outlier privacy (Theorem 9): a bin with at most k people gets the same noise before
    and after one of them leaves, which costs epsilon/k, and epsilon for the whole bin. Nothing is promised to
    people in larger crowds.
    """

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

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return (Proof(steps((1, self.rate), (self.k + 1, INFINITY)), "up to k both counts get the same noise"),)

    @property
    def first(self) -> int:
        return self.k + 1
