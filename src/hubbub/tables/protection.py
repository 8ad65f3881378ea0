"""How the people behind a statistic are protected: in crowds, by noise, or as well as K random people protect them."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from hubbub.errors import WrongUse
from hubbub.noise.gaussian import LARGEST, SMALLEST
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import UNSAID


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """Bins of at least k people show how many they are, and their sum with noise; the others are hidden.

    With `sample`, all of that is of a fresh secret sample that takes each person with this probability.
    """

    k: int
    epsilon: Fraction | None = None
    sample: Fraction | None = None
    at_delta: Fraction = Fraction(1, 10**9)

    def __post_init__(self) -> None:
        if self.k < 2 or (self.epsilon is not None and self.epsilon <= 0):
            raise WrongUse("a crowd has at least 2 people, and its epsilon is above 0; choose others")
        if (self.sample is not None and not 0 < self.sample < 1) or not 0 < self.at_delta < 1:
            raise WrongUse("the rate of a sample, and `at_delta`, lie between 0 and 1; choose others")


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Differential privacy: noise on everything, for one person more or less.

    With `variance` the noise is discrete Gaussian of this parameter, and a delta follows from it; else two-sided
    geometric, without one. It is written down, so that a sharper theorem leaves the noise of an old release what it was.
    """

    epsilon: Fraction
    variance: Fraction | None = field(default=None, metadata=UNSAID)

    def __post_init__(self) -> None:
        _check_above_zero(self.epsilon)
        _check_variance(self.variance)


def _check_above_zero(loss: Fraction) -> None:
    if loss <= 0:
        raise WrongUse("epsilon must be above 0; choose another")


def _check_variance(variance: Fraction | None) -> None:
    if variance is not None and not SMALLEST <= variance <= LARGEST:
        raise WrongUse("such Gaussian noise is not drawn; declare a coarser step, or raise epsilon")


class Route(Enum):
    """How a number comes to tell no more than K random people do."""

    SAMPLE = "sample"
    """K people are drawn in secret, and what they tell gets noise."""
    EXACT = "exact"
    """Everybody is counted, and the noise hides what K random people would not tell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """Zero-knowledge privacy with respect to `rows` random people of `people`, whose number is public.

    `rate` is that of the noise: the epsilon that is spent on the sample, or one over the scale of the noise on the
    exact count. It is written down, so that a sharper theorem leaves the noise of an old release what it was. With
    `variance` the noise on the sample is discrete Gaussian of this parameter, as one of several questions.
    """

    epsilon: Fraction
    rows: int
    people: int
    route: Route
    rate: Fraction
    variance: Fraction | None = field(default=None, metadata=UNSAID)

    def __post_init__(self) -> None:
        _check_above_zero(min(self.epsilon, self.rate))
        _check_variance(self.variance)
        if not 1 <= self.rows <= self.people:
            raise WrongUse(
                f"`rows` is how many random people may be known, from 1 to all {self.people}, not {self.rows}; "
                "choose another number"
            )

    @property
    def share(self) -> Fraction:
        return Fraction(self.rows, self.people)


Protection: TypeAlias = Crowd | Noise | Knowledge
