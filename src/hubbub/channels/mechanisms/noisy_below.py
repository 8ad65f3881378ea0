"""Exact counts for crowds of at least k, noise below (crowd-blending paper)."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from hubbub.channels.mechanisms.exact_above import ExactAbove
from hubbub.channels.protocol import Card, Channel, Proof, noise_rate
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import steps
from hubbub.guarantees.definitions import CrowdBlending
from hubbub.guarantees.derivation import GHLP, Theorem
from hubbub.numeric.exact import INFINITY, integer
from hubbub.runtime.frozen import dataclass


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
    def proofs(self) -> tuple[Proof, ...]:
        return (Proof(steps((1, self.epsilon), (self.k, INFINITY)), "below k both counts get the same noise"),)

    @property
    def first(self) -> int:
        return self.k

    @property
    def rate(self) -> Fraction:
        return self.epsilon
