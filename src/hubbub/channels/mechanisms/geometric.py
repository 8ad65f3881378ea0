"""Plain two-sided geometric noise on every count: the differentially private table of counts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from numpy.typing import ArrayLike

from hubbub.channels.law import Law, two_sided
from hubbub.channels.protocol import Card, Channel, Proof, Published, exact_count, exact_counts, noise_rate
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.derivation import DMNS, LUI_PASS, Theorem
from hubbub.numeric.exact import integer, positive
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.noise.source import Source

_SHIFT = "both counts get the same noise, one step apart"


class _PlainNoise:
    """Two-sided geometric noise of one rate on every count."""

    __slots__ = ()

    @property
    def rate(self) -> Fraction:
        """The rate of the noise: what one person costs."""
        raise NotImplementedError

    @property
    def claim(self) -> DifferentialPrivacy:
        return DifferentialPrivacy(epsilon=self.rate)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return (Proof(flat(self.rate), _SHIFT),)

    @property
    def last_change(self) -> int:
        return 0

    @property
    def is_unbiased(self) -> bool:
        return True

    @property
    def plain_noise(self) -> Fraction:
        return self.rate

    def noise_given(self, tag: str) -> Fraction:
        return self.rate

    def law(self, count: int) -> Law:
        return Law(two_sided(exact_count(count), self.rate))

    def release(self, counts: ArrayLike, source: Source) -> Published:
        from hubbub.noise.sampler import two_sided_geometric

        truth = exact_counts(counts)
        values = truth + two_sided_geometric(self.rate, truth.size, source).reshape(truth.shape)
        return Published(values, (values * 0).astype("intp"), ("",))


@dataclass(frozen=True, slots=True)
class Geometric(_PlainNoise, Channel):
    """Publish count + X, P(X = x) = tanh(epsilon/2) e^(-epsilon |x|).

    Guarantee: epsilon-differential privacy when one person is added or removed, at every count, and no smaller
    epsilon holds.
    """

    name: ClassVar[str] = "geometric"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.geometric", "two-sided geometric noise", DMNS),
        summary="plain noise on every count",
        example="`epsilon=1`",
        needs=("epsilon",),
    )
    epsilon: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", noise_rate(self.epsilon))

    @property
    def rate(self) -> Fraction:
        """The rate of the noise: what one person costs."""
        return self.epsilon


@dataclass(frozen=True, slots=True)
class Group(_PlainNoise, Channel):
    """Example 6: noise of rate epsilon/k on every count, so that k people leaving together cost epsilon.

    Guarantee: epsilon/k-differential privacy for one person, hence epsilon for any group of at most k.
    """

    name: ClassVar[str] = "group"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.group", "two-sided geometric noise for groups", f"{LUI_PASS}, Example 6"),
        summary="noise that hides k people at once",
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
        """The rate of the noise: what one person costs."""
        return self.epsilon / self.k
