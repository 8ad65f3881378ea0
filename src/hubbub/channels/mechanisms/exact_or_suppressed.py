"""Exact counts for crowds of at least k, nothing below (crowd-blending paper; Hist_h of the lecture notes)."""

from __future__ import annotations

from typing import ClassVar

from hubbub.channels.mechanisms.exact_above import SILENT, ExactAbove
from hubbub.channels.protocol import Card, Channel, Proof
from hubbub.guarantees.curve import steps
from hubbub.guarantees.definitions import CrowdBlending
from hubbub.guarantees.derivation import GHLP, Theorem
from hubbub.numeric.exact import INFINITY, integer
from hubbub.runtime.frozen import dataclass


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

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return (Proof(steps((1, 0), (self.k, INFINITY)), "below k both counts are hidden"),)

    @property
    def first(self) -> int:
        return self.k
