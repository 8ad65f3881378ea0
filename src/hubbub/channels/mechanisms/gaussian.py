"""Discrete Gaussian noise on every count: less error than geometric noise where a person is in many bins."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, Final

from flint import arb
from numpy.typing import ArrayLike

from hubbub.channels.law import Dense, Law
from hubbub.channels.protocol import (
    MOST_COMPARED,
    Card,
    Channel,
    Proof,
    Published,
    exact_count,
    exact_counts,
    noise_rate,
)
from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import GaussianNoise, by_ones, delta_of, in_bins, least_variance
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.derivation import HERE, Theorem
from hubbub.noise.gaussian import LARGEST, SMALLEST, discrete_gaussian
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.numeric.exact import Exact, ball, exp, positive, precision, rounded, upper
from hubbub.numeric.gaussian_sums import mass, masses, reach_of_equals, tail
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.noise.source import Source

_WIDEST: Final = Fraction(10**6)  # a variance whose law is still tabulated: some 27,000 values
_REACH: Final = 90  # nats that a table leaves out at each end
_LEAST: Final = Fraction(1, 10**30)  # no smaller delta is claimed: what a table leaves out is far below it
_SHIFT: Final = "both counts get the same noise, one step apart: the exact profile, at every count"
CKS: Final = "Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy, NeurIPS 2020"


@dataclass(frozen=True, slots=True)
class Gaussian(Channel):
    """Publish count + X, P(X = x) ~ e^(-x^2/(2 variance)) on the integers.

    Guarantee: (epsilon, delta)-differential privacy when one person is added or removed, at every count, with the delta
    of the exact profile at that epsilon, rounded up; and rho = 1/(2 variance).
    """

    name: ClassVar[str] = "gaussian"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.gaussian", "discrete Gaussian noise, exact profile", f"{CKS}; {HERE}"),
        summary="Gaussian noise on every count, for people in many bins",
        example="`epsilon=1` `delta=1e-9`",
        needs=("epsilon",),
        one_of=("delta", "variance"),
    )
    epsilon: Fraction
    variance: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", noise_rate(self.epsilon))
        object.__setattr__(self, "variance", positive(self.variance, "variance"))
        if not SMALLEST <= self.variance <= LARGEST:
            raise WrongUse(f"variance must lie between 0.0001 and 2^80, not {self.variance}; choose one in that range")

    @classmethod
    def with_delta(cls, epsilon: Exact, delta: Exact, bins: int = 1) -> Gaussian:
        """The least noise that is (epsilon, delta)-close for a person in at most so many bins."""
        allowed = positive(delta, "delta")
        if allowed >= 1:
            raise WrongUse(f"delta must be below 1, not {allowed}; choose one like 1e-9")
        rate = noise_rate(epsilon)
        return cls(rate, least_variance(rate, allowed, in_bins(bins)))

    @property
    def how(self) -> str:
        return f"Gaussian noise with a standard deviation of about {float(self.variance) ** 0.5:.3g}"

    def why_this_noise(self, bins: int) -> str:
        with precision():
            q = exp(-self.epsilon / bins)
            other = float((2 * q).sqrt() / (1 - q))
        ours, many = float(self.variance) ** 0.5, "one bin" if bins == 1 else f"up to {bins:,} bins"
        less = "less than" if ours < other else "although that is not less than"
        return (
            f"the noise is Gaussian because a person is in {many}: a standard deviation of {ours:.3g}, {less} the "
            f"{other:.3g} of geometric noise for the same epsilon, which would need no delta"
        )

    def gaussian_noise(self, bins: int) -> GaussianNoise:
        return by_ones(self.variance, bins)

    @property
    def claim(self) -> DifferentialPrivacy:
        return self.several_bins(1)

    def several_bins(self, bins: int) -> DifferentialPrivacy:
        """Guarantee: by the profile of the pair in which `bins` numbers move by one each, which is no better than any
        that a person in at most so many bins causes."""
        noise = by_ones(self.variance, bins)
        delta = max(rounded(delta_of(noise, self.epsilon), up=True, digits=9), _LEAST)
        return DifferentialPrivacy(epsilon=self.epsilon, delta=delta)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return (Proof(flat(self.epsilon), _SHIFT, self.claim.delta),)

    @property
    def last_change(self) -> int:
        return 0

    @property
    def hides(self) -> bool:
        return False

    @property
    def is_unbiased(self) -> bool:
        return True

    def comparable(self, counts: Sequence[int]) -> Sequence[int]:
        return () if self.variance > _WIDEST else counts[:MOST_COMPARED]

    def law(self, count: int) -> Law:
        if self.variance > _WIDEST:
            raise WrongUse(
                "Gaussian noise of so large a variance is not tabulated; its claim stands on its theorem, and a "
                "variance of at most 1,000,000 can be checked exactly"
            )
        row, missing = _table(self.variance)
        return Law((), (Dense(exact_count(count) - len(row) // 2, row),), missing=missing)

    def likelihood(self, count: int, value: int, tag: str) -> arb:
        return mass(value - count, self.variance)

    def most_likely(self, value: int) -> int:
        return max(value, 0)

    def counts_within(self, value: int | None, tail: arb) -> tuple[int, int | None] | None:
        if value is None:
            return None
        reach = _reach(self.variance, rounded(tail, up=False))
        return clamped_interval(value, reach, 0)

    def release(self, counts: ArrayLike, source: Source) -> Published:
        truth = exact_counts(counts)
        values = truth + discrete_gaussian(self.variance, truth.size, source).reshape(truth.shape)
        return Published(values, (values * 0).astype("intp"), ("",))


@lru_cache(maxsize=32)
def _table(s2: Fraction) -> tuple[tuple[arb, ...], Fraction]:
    """The masses around the count, and a bound on what lies outside of them."""
    reach = math.isqrt(math.ceil(2 * _REACH * s2)) + 1
    with precision():
        half = masses(reach, s2)
        return (*reversed(half[1:]), *half), rounded(upper(2 * tail(reach, s2)), up=True)


@lru_cache(maxsize=1024)
def _reach(s2: Fraction, share: Fraction) -> int:
    """A number that the noise exceeds, upwards, with a chance of at most `share`; the smallest where it is tabulated.

    Guarantee: the upper end of the tail is compared; of a wide law that of the normal law, which is no smaller
    (:func:`hubbub.numeric.gaussian_sums.reach_of_equals`).
    """
    if s2 > _WIDEST:
        return reach_of_equals(s2, 1, share)
    row, missing = _table(s2)
    half = len(row) // 2
    beyond, limit = ball(missing), ball(share)
    for reach in range(half, 0, -1):  # P(X >= reach), from the end
        beyond = beyond + row[half + reach]
        if not beyond <= limit:
            return reach
    return 0
