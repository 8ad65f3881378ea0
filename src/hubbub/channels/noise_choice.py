"""The choice between geometric and Gaussian noise, where a person moves several counts: from public numbers alone.

A person moves all published numbers together by L1 in absolute value, and by L2 in length. Geometric noise for
epsilon/L1 needs no delta and has a standard deviation of about sqrt(2) L1/epsilon; discrete Gaussian noise has one of
about u L2, where u depends on epsilon and delta. So the Gaussian is better where L1/L2 is above epsilon u/sqrt(2), about
3 to 4. Whoever is in d bins moves d counts by one each: L1/L2 is sqrt(d), and the geometric is better for few bins.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import Channel
from hubbub.errors import WrongUse
from hubbub.numeric.bisection import first_from
from hubbub.numeric.exact import ball, exp, precision, upper
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.guarantees.accountant.gaussian import Sensitivity

AUTO = "auto"
NOISES = (AUTO, "geometric", "gaussian")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseChoice:
    """Both noises for one promise: the variance of geometric noise, and the parameter of Gaussian noise, which bounds
    its variance."""

    epsilon: Fraction
    delta: Fraction
    sensitivity: Sensitivity
    geometric: Fraction
    gaussian: Fraction

    @property
    def better(self) -> str:
        """The one with the smaller variance; of equals the geometric, which needs no delta."""
        return "gaussian" if self.gaussian < self.geometric else "geometric"


@lru_cache(maxsize=1024)
def compare(epsilon: Fraction, delta: Fraction, sensitivity: Sensitivity) -> NoiseChoice:
    """Both noises for people who move the numbers so at most, from the promise alone."""
    from hubbub.guarantees.accountant.gaussian import least_variance

    return NoiseChoice(
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity,
        geometric=geometric_variance(epsilon / sensitivity.l1),
        gaussian=least_variance(epsilon, delta, sensitivity),
    )


def geometric_variance(rate: Fraction) -> Fraction:
    """2 q/(1 - q)^2 with q = e^-rate, rounded up."""
    with precision():
        q = exp(-rate)
        return upper(2 * q / ball(-rate).expm1() ** 2)


def crossover(epsilon: Fraction, delta: Fraction) -> int:
    """The least number of bins of one person from which Gaussian noise is the better one."""
    from hubbub.guarantees.accountant.gaussian import in_bins

    return first_from(lambda bins: compare(epsilon, delta, in_bins(bins)).better == "gaussian", 1)


def choose_channel(noise: str, epsilon: Fraction, delta: Fraction | None, bins: int) -> Channel:
    """The channel for a person in at most `bins` bins, with epsilon and delta for all of them together.

    Guarantee: the promise of several bins follows from either; which one is taken depends on nothing but these numbers.
    """
    from hubbub.guarantees.accountant.gaussian import in_bins

    s2 = chosen_variance(noise, epsilon, delta, in_bins(bins))
    if s2 is None:
        return Geometric(epsilon / bins)
    from hubbub.channels.mechanisms.gaussian import Gaussian

    return Gaussian(epsilon, s2)


def check_words(noise: str, delta: Fraction | None) -> None:
    """Refuse an unknown name of noise, and a delta that is not above 0."""
    if noise not in NOISES:
        raise WrongUse(f"noise is one of {', '.join(NOISES)}, not {noise[:40]!r}; leave it out for auto")
    if delta is not None and not 0 < delta < 1:
        raise WrongUse(f"delta must lie between 0 and 1, not {delta}; choose one like 1e-9")
    if noise == "gaussian" and delta is None:
        raise WrongUse("Gaussian noise needs a delta beside epsilon; add `delta=1e-9`, or use `mechanism=geometric`")


def chosen_variance(noise: str, epsilon: Fraction, delta: Fraction | None, sensitivity: Sensitivity) -> Fraction | None:
    """The s2 of Gaussian noise for people who move the numbers so at most; None: geometric noise for epsilon/L1.

    Guarantee: either is (epsilon, delta)-close, the geometric without the delta; which one is taken depends on nothing
    but these numbers, and with auto it is the one with less variance.
    """
    from hubbub.guarantees.accountant.gaussian import least_variance

    check_words(noise, delta)
    if delta is None or noise == "geometric":
        return None
    if noise == "auto" and compare(epsilon, delta, sensitivity).better == "geometric":
        return None
    return least_variance(epsilon, delta, sensitivity)
