"""A channel that is nothing but its laws: for mechanisms that exist only to be refuted.

No proof stands in for a count that was not looked at, so whatever the checker says about it comes from the laws.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from hubbub.channels.law import Law
from hubbub.channels.protocol import Card, Channel, Proof, Published
from hubbub.guarantees.definitions import Guarantee
from hubbub.guarantees.derivation import Theorem


@dataclass(frozen=True)
class Family(Channel):
    """`laws(count)` for every count, and what somebody claims about them."""

    name: ClassVar[str] = "family"
    card: ClassVar[Card] = Card(statement=Theorem("family", "nothing", "nobody"), summary="laws alone", example="")
    proofs: ClassVar[tuple[Proof, ...]] = ()
    unbiased: ClassVar[bool] = False
    laws: Callable[[int], Law]
    claimed: Guarantee

    @property
    def claim(self) -> Guarantee:
        return self.claimed

    def law(self, count: int) -> Law:
        return self.laws(count)

    def release(self, counts: Any, source: Any) -> Published:
        raise NotImplementedError("a mechanism that was refuted is not run")
