"""Both noises for one promise, and from where on the Gaussian one is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

from hubbub.channels.noise_choice import NoiseChoice, compare, crossover
from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact
from hubbub.numeric.format import numbers, short
from hubbub.numeric.limits import a_delta, a_loss, a_size
from hubbub.protocol.option import option_help


@dataclass(frozen=True, slots=True, kw_only=True)
class Noises:
    """Geometric and Gaussian noise for people who are in at most so many published numbers."""

    choice: NoiseChoice
    crossover: int  # the least number of numbers from which Gaussian noise is better

    @property
    def better(self) -> str:
        """The one that a release takes if nobody says which."""
        return self.choice.better

    def as_json(self) -> dict[str, Any]:
        choice = self.choice
        return {
            **numbers(epsilon=choice.epsilon, delta=choice.delta),
            "numbers": choice.bins,
            "geometric": {**numbers(variance=choice.geometric), "deviation": _deviation(choice.geometric), "delta": 0},
            "gaussian": {**numbers(variance=choice.gaussian), "deviation": _deviation(choice.gaussian)},
            "better": self.better,
            "gaussian_from": self.crossover,
        }

    def table(self) -> list[tuple[str, str, str]]:
        """Each noise with the standard deviation of one number, and what it is promised with."""
        choice = self.choice
        pure = f"epsilon {short(choice.epsilon)}, no delta"
        return [
            ("geometric", f"{_deviation(choice.geometric):.4g}", pure),
            (
                "gaussian",
                f"{_deviation(choice.gaussian):.4g}",
                f"epsilon {short(choice.epsilon)}, delta {short(choice.delta)}",
            ),
        ]

    def sentences(self) -> tuple[str, ...]:
        one = "one published number" if self.choice.bins == 1 else f"up to {self.choice.bins:,} published numbers"
        name = "Gaussian" if self.better == "gaussian" else "Geometric"
        return (
            f"{name} noise has less error where a person is in {one}.",
            f"For this promise Gaussian noise is the better one from {self.crossover:,} numbers of one person on.",
        )


def _deviation(variance: Fraction) -> float:
    return math.sqrt(variance)


def noises(
    epsilon: Annotated[Exact, option_help("EPS", "What all numbers together may lose.")],
    delta: Annotated[Exact, option_help("D", "The delta of Gaussian noise.")],
    *,
    bins: Annotated[Exact, option_help("B", "In how many published numbers one person is, at most.")] = 1,
) -> Noises:
    """Geometric and Gaussian noise for the same epsilon, and from how many numbers of one person on the Gaussian wins.

    A release with `epsilon` and `delta` takes the better one by itself (`noise=auto`). No data is read.

    Guarantee: both reach the promise, the geometric one without its delta; the better one has the smaller variance.
    """
    loss, allowed = a_loss(epsilon, "`epsilon`"), a_delta(delta, "`delta`")
    if not loss or not 0 < allowed < 1:
        raise WrongUse("both noises need an epsilon above 0, and the Gaussian a delta between 0 and 1; give both")
    return Noises(choice=compare(loss, allowed, a_size(bins, "`bins`", least=1)), crossover=crossover(loss, allowed))
