"""Which noise has less error for people who move several counts: decided from what is public, before any data.

A person in at most d bins moves d counts by one each. Geometric noise for epsilon/d needs no delta and has a standard
deviation of about sqrt(2) d/epsilon; discrete Gaussian noise has one of about u sqrt(d), where u depends on epsilon and
delta. So the geometric is better for few bins and the Gaussian for many.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from hubbub.channels.mechanisms.gaussian import Gaussian
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import Channel
from hubbub.errors import WrongUse
from hubbub.guarantees.accountant.gaussian import least_variance
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import ball, exp, precision, upper

NOISES = ("auto", "geometric", "gaussian")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseChoice:
    """Both noises for one promise: the variance of geometric noise, and the parameter of Gaussian noise, which bounds
    its variance."""

    epsilon: Fraction
    delta: Fraction
    bins: int
    geometric: Fraction
    gaussian: Fraction

    @property
    def better(self) -> str:
        """The one with the smaller variance; of equals the geometric, which needs no delta."""
        return "gaussian" if self.gaussian < self.geometric else "geometric"


@lru_cache(maxsize=1024)
def compare(epsilon: Fraction, delta: Fraction, bins: int) -> NoiseChoice:
    """Both noises for a person in at most `bins` bins, from the promise alone."""
    return NoiseChoice(
        epsilon=epsilon,
        delta=delta,
        bins=bins,
        geometric=geometric_variance(epsilon / bins),
        gaussian=least_variance(epsilon, delta, bins),
    )


def geometric_variance(rate: Fraction) -> Fraction:
    """2 q/(1 - q)^2 with q = e^-rate, rounded up."""
    with precision():
        q = exp(-rate)
        return upper(2 * q / ball(-rate).expm1() ** 2)


def crossover(epsilon: Fraction, delta: Fraction) -> int:
    """The least number of bins of one person from which Gaussian noise is the better one."""
    return first_from(lambda bins: compare(epsilon, delta, bins).better == "gaussian", 1)


def chosen(noise: str, epsilon: Fraction, delta: Fraction | None, bins: int) -> Channel:
    """The channel for a person in at most `bins` bins, with epsilon and delta for all of them together.

    Guarantee: the promise of several bins follows from either; which one is taken depends on nothing but these numbers.
    """
    if noise not in NOISES:
        raise WrongUse(f"noise is one of {', '.join(NOISES)}, not {noise[:40]!r}; leave it out for auto")
    if noise == "gaussian" and delta is None:
        raise WrongUse("Gaussian noise needs a delta beside epsilon; add `delta=1e-9`, or use `noise=geometric`")
    if noise == "auto" and delta is not None:
        noise = compare(epsilon, delta, bins).better
    if noise == "gaussian" and delta is not None:
        return Gaussian.with_delta(epsilon, delta, bins)
    return Geometric(epsilon / bins)
