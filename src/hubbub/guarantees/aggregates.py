"""Aggregate information: what may be known about everybody else when a person's data is blanked.

Zero-knowledge privacy compares a release with a simulator that is handed T(D without the person), for one T of a
class of algorithms. The class is the promise: the smaller it is, the less a release may tell. Each value here is
such a class. The samples of people chosen independently are also, read as distributions of data sets, the
classes of distributional privacy.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TypeAlias

from hubbub.errors import WrongUse
from hubbub.guarantees.parameters import chance, settle, size
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomSample:
    """RS(k): T draws k of the n rows uniformly without replacement and computes anything from them alone.

    The person's own row is blanked and stays among the n. k = 0 is complete zero-knowledge, k = n is the
    knowledge behind differential privacy. n is public; None where no theorem has needed it yet.
    Gehrke, Lui, Pass 2011, section 2.
    """

    k: int
    n: int | None = None

    def __post_init__(self) -> None:
        settle(self, k=size(self.k, "the sample size k", least=0))
        if self.n is not None:
            settle(self, n=size(self.n, "the number of rows n"))
            if self.k > self.n:
                raise WrongUse(f"a sample of k rows needs k at most n, not k = {self.k} of n = {self.n}; lower k")

    def __str__(self) -> str:
        return f"RS({self.k})" if self.n is None else f"RS({self.k} of {self.n})"


@dataclass(frozen=True, slots=True, kw_only=True)
class BernoulliSample:
    """iRS(p): T chooses each person independently with probability p and computes anything from the chosen.

    As a class of distributions: Sam(P, p) for every population P. Gehrke, Hay, Lui, Pass 2012, section 5 (iidRS(p)).
    """

    p: Fraction

    def __post_init__(self) -> None:
        settle(self, p=chance(self.p, "the sampling rate p"))

    def __str__(self) -> str:
        return f"iRS({to_text(self.p)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class RobustSample:
    """iRS(low, high, exempt): everybody is chosen independently, with a probability that may depend on the person.

    It lies in {0} or [low, high] for all but at most `exempt` people, and is at most `highest` for those. Who they
    are may be known to the attacker. `low` may be 0. As a class of distributions: the convex hull of Sam(P, pi) over
    all populations P and all such pi. Gehrke, Hay, Lui, Pass 2012, section 5.1; Lui, Pass 2015, section 3.
    """

    low: Fraction
    high: Fraction
    highest: Fraction
    exempt: int

    def __post_init__(self) -> None:
        settle(
            self,
            low=chance(self.low, "low"),
            high=chance(self.high, "high"),
            highest=chance(self.highest, "highest"),
            exempt=size(self.exempt, "the number of exempt people", least=0),
        )
        if not self.low <= self.high <= self.highest:
            given = ", ".join(to_text(rate) for rate in (self.low, self.high, self.highest))
            raise WrongUse(f"sampling rates must satisfy low <= high <= highest, not {given}; put them in that order")
        if self.exempt == 0 and self.highest != self.high:
            raise WrongUse(
                "with nobody exempt the highest rate is high itself; set highest to high, or name the exempt"
            )

    def __str__(self) -> str:
        rates = f"{to_text(self.low)}, {to_text(self.high)}, {self.exempt}"
        return f"iRS({rates})" if self.exempt == 0 else f"iRS({rates}; at most {to_text(self.highest)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplorationSample:
    """RSE(k, s): T draws k vertices of a graph and explores around each until s vertices have been visited.

    The draw is uniform, with or without replacement; the sampled vertex is the first of the s; the data of every
    visited vertex is read. The person's own data and edges are removed. Gehrke, Lui, Pass 2011, section 5.
    """

    k: int
    s: int

    def __post_init__(self) -> None:
        settle(self, k=size(self.k, "the sample size k", least=0), s=size(self.s, "the number of vertices explored"))

    def __str__(self) -> str:
        return f"RSE({self.k}, {self.s})"


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourhoodSample:
    """RSN(k, radius): as RSE, but T explores around each drawn vertex up to the distance `radius`.

    Gehrke, Lui, Pass 2011, section 5.
    """

    k: int
    radius: int

    def __post_init__(self) -> None:
        settle(self, k=size(self.k, "the sample size k", least=0), radius=size(self.radius, "the radius", least=0))

    def __str__(self) -> str:
        return f"RSN({self.k}, {self.radius})"


IndependentSample: TypeAlias = BernoulliSample | RobustSample
"""People chosen independently of each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoSamples:
    """iRS(p) and RS(k): T draws both, independently of each other, and computes anything from the two.

    Of the people chosen one by one the person is removed; of the k rows out of n the person's own is blanked, n being
    public. What releases of both kinds tell together. Gehrke, Lui, Pass 2011, Proposition 2, for unlike classes.
    """

    each: IndependentSample
    some: RandomSample

    def __str__(self) -> str:
        return f"{self.each} and {self.some}"


Aggregate: TypeAlias = (
    RandomSample | BernoulliSample | RobustSample | ExplorationSample | NeighbourhoodSample | TwoSamples
)
"""Any class of aggregate information."""


def robust(sample: IndependentSample) -> RobustSample:
    """The same class, written as iRS(low, high, exempt)."""
    if isinstance(sample, RobustSample):
        return sample
    return RobustSample(low=sample.p, high=sample.p, highest=sample.p, exempt=0)


def includes(larger: Aggregate, smaller: Aggregate) -> bool:
    """Whether every algorithm of `smaller` is proved to be one of `larger`. False also where nothing is known.

    The algorithm that receives a large sample may thin it: k' rows to k of them, a person chosen at rate p' kept
    with probability p/p', exploration stopped early. So only upper limits count, and iRS(0, p', l) is iRS(p, p', l).
    """
    match larger, smaller:
        case RandomSample(), RandomSample():
            return smaller.k <= larger.k and larger.n in (None, smaller.n)
        case BernoulliSample() | RobustSample(), BernoulliSample() | RobustSample():
            outer, inner = robust(larger), robust(smaller)
            nobody_outlying = inner.highest <= outer.high
            rates = inner.high <= outer.high and inner.highest <= outer.highest
            return nobody_outlying or (rates and inner.exempt <= outer.exempt)
        case ExplorationSample(), ExplorationSample():
            return smaller.k <= larger.k and smaller.s <= larger.s
        case NeighbourhoodSample(), NeighbourhoodSample():
            return smaller.k <= larger.k and smaller.radius <= larger.radius
        case NeighbourhoodSample(), ExplorationSample():  # who sees one vertex of each sees those that were drawn
            return smaller.k <= larger.k and smaller.s == 1
        case TwoSamples(), TwoSamples():
            return includes(larger.each, smaller.each) and includes(larger.some, smaller.some)
        case TwoSamples(), _:
            return includes(larger.each, smaller) or includes(larger.some, smaller)
        case _:
            return False


def covers(larger: IndependentSample, smaller: IndependentSample) -> bool:
    """Whether every distribution of `smaller` is one of `larger`: here nobody thins, so the lower limit counts."""
    if larger == smaller or isinstance(larger, BernoulliSample):
        return larger == smaller
    inner = robust(smaller)
    rates = larger.low <= inner.low and inner.high <= larger.high and inner.highest <= larger.highest
    return rates and inner.exempt <= larger.exempt
