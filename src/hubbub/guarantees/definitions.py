"""The definitions of privacy, as values. The docstring of each class is the definition.

Z ~(e, d) Z' means: Pr[Z in Y] <= exp(e) Pr[Z' in Y] + d and Pr[Z' in Y] <= exp(e) Pr[Z in Y] + d for every set Y.
An infinite e promises nothing, and neither does d = 1. D is a finite multiset of people, M a mechanism. Every promise
has its `neighbours`, the relation between the data sets that it compares; where it is no parameter, the definition
fixes it.

`loss_at(count)` is what a definition says about a table of counts that publishes each bin of a public partition by
itself, through one channel: the (epsilon, delta) between a bin of `count` people and the same bin with one of them
removed. There, people of one bin are exactly interchangeable, and people of two bins are so only if nothing is told.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, TypeAlias

from hubbub.errors import WrongUse
from hubbub.guarantees.aggregates import Aggregate as Aggregate
from hubbub.guarantees.aggregates import BernoulliSample as BernoulliSample
from hubbub.guarantees.aggregates import ExplorationSample as ExplorationSample
from hubbub.guarantees.aggregates import IndependentSample as IndependentSample
from hubbub.guarantees.aggregates import NeighbourhoodSample as NeighbourhoodSample
from hubbub.guarantees.aggregates import RandomSample as RandomSample
from hubbub.guarantees.aggregates import RobustSample as RobustSample
from hubbub.guarantees.aggregates import TwoSamples as TwoSamples
from hubbub.guarantees.curve import Curve, Piece, flat
from hubbub.guarantees.neighbours import Neighbours as Neighbours
from hubbub.guarantees.parameters import chance, level, settle, size
from hubbub.numeric.exact import INFINITY, Infinite, Loss, to_text
from hubbub.runtime.frozen import dataclass

NEVER: Fraction = Fraction(0)
"""The delta of a pure promise."""


def _pair(epsilon: object, delta: Fraction) -> str:
    return f"({epsilon}, {to_text(delta)})" if delta else f"{epsilon}"


def _groups(group: int) -> str:
    return f", groups of {group}" if group > 1 else ""


def _positive_count(count: int) -> int:
    return size(count, "the count of a bin in which somebody stands")


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferentialPrivacy:
    """(epsilon, delta)-differential privacy for groups of `group` people.

    For all D, D' that at most `group` steps of `neighbours` lead from one to the other: M(D) ~(epsilon, delta) M(D').
    Dwork, McSherry, Nissim, Smith 2006; Gehrke, Lui, Pass 2011, Definition 6 (replace, groups).
    """

    notion: ClassVar[str] = "differential"
    epsilon: Loss
    delta: Fraction = NEVER
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    group: int = 1

    def __post_init__(self) -> None:
        settle(self, epsilon=level(self.epsilon), delta=chance(self.delta), group=size(self.group, "the group size"))
        if not isinstance(self.neighbours, Neighbours):
            raise WrongUse("neighbours must be Neighbours.ADD_REMOVE or Neighbours.REPLACE; choose one")

    def loss_at(self, count: int) -> tuple[Loss, Fraction]:
        """The same for every bin. Under replacement unbounded (INFINITY): no guarantee, as the number may be public."""
        _positive_count(count)
        return (INFINITY, NEVER) if self.neighbours is Neighbours.REPLACE else (self.epsilon, self.delta)

    def __str__(self) -> str:
        pair = _pair(to_text(self.epsilon), self.delta)
        return f"{pair}-DP [{self.neighbours.value}{_groups(self.group)}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcentratedPrivacy:
    """rho-zero-concentrated differential privacy (zCDP) for groups of `group` people.

    For all D, D' that at most `group` steps of `neighbours` lead from one to the other, and every order a > 1: the Renyi
    divergence of order a of M(D) from M(D') is at most a rho. It adds up, and has no delta. Bun, Steinke 2016.
    """

    notion: ClassVar[str] = "zero-concentrated differential"
    rho: Fraction
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    group: int = 1

    def __post_init__(self) -> None:
        rho = level(self.rho)
        if isinstance(rho, Infinite):
            raise WrongUse("an infinite rho promises nothing; leave the promise out")
        settle(self, rho=rho, group=size(self.group, "the group size"))
        if not isinstance(self.neighbours, Neighbours):
            raise WrongUse("neighbours must be Neighbours.ADD_REMOVE or Neighbours.REPLACE; choose one")

    def __str__(self) -> str:
        return f"{to_text(self.rho)}-zCDP [{self.neighbours.value}{_groups(self.group)}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroKnowledge:
    """(group, epsilon, delta)-zero-knowledge privacy with respect to the class `aggregate`.

    There is T in `aggregate` such that for every adversary A there is a simulator S such that for every D, every
    set I of at most `group` people of D and every auxiliary text z:
    Out(A(z) <-> M(D)) ~(epsilon, delta) S(z, T(D without I), I, |D|).
    For RS, RSE and RSN "without I" blanks the rows (and removes the edges) of I and keeps their number; for iRS it
    removes the people. Either way the simulator is told |D|, so that the number of people may be public: a mechanism
    that publishes it is 0-ZK, and nothing follows about somebody who comes or goes.
    Gehrke, Lui, Pass 2011, Definition 1 and remarks; Gehrke, Hay, Lui, Pass 2012, Definition 2.
    """

    notion: ClassVar[str] = "zero-knowledge"
    neighbours: ClassVar[Neighbours] = Neighbours.REPLACE  # whatever the class: the simulator is told |D|
    epsilon: Loss
    aggregate: Aggregate
    delta: Fraction = NEVER
    group: int = 1

    def __post_init__(self) -> None:
        settle(self, epsilon=level(self.epsilon), delta=chance(self.delta), group=size(self.group, "the group size"))
        if not isinstance(self.aggregate, Aggregate):
            raise WrongUse("zero-knowledge privacy is with respect to a class of samples; name one, like RandomSample")

    def __str__(self) -> str:
        return f"{_pair(to_text(self.epsilon), self.delta)}-ZK w.r.t. {self.aggregate}{_groups(self.group)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdBlending:
    """(k, epsilon, delta)-crowd-blending privacy.

    t and t' blend if M(D + t) ~(epsilon, delta) M(D + t') for every D. For every D and every t in D: at least k people
    of D, t among them, blend with t, or M(D) ~(epsilon, delta) M(D - t). With k = 1 it promises nothing, because t
    blends with t. It does not compose in general. Gehrke, Hay, Lui, Pass 2012, Definitions 3 and 4 (delta = 0).
    """

    notion: ClassVar[str] = "crowd-blending"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    k: int
    epsilon: Loss
    delta: Fraction = field(default=NEVER, metadata={"unsaid": True})  # there is none in the paper

    def __post_init__(self) -> None:
        settle(self, k=size(self.k, "the crowd size k"), epsilon=level(self.epsilon), delta=chance(self.delta))

    def loss_at(self, count: int) -> tuple[Loss, Fraction]:
        """epsilon below k; from k on unbounded (INFINITY): no guarantee against removal.

        Below k the first clause could only be met by people of other bins; blending with those bounds the change of
        this bin's own law by epsilon as well, so removal costs at most epsilon either way. Conversely these losses
        suffice, because k people of one bin are a crowd.
        """
        return (self.epsilon, self.delta) if _positive_count(count) < self.k else (INFINITY, NEVER)

    def __str__(self) -> str:
        delta = f", {to_text(self.delta)}" if self.delta else ""
        return f"({self.k}, {to_text(self.epsilon)}{delta})-crowd-blending"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlierPrivacy:
    """(epsilon(.), delta)-outlier privacy, for a curve that never decreases.

    t and t' are equivalent if M(D + t) and M(D + t') have the same law for every D; t is a k-outlier in D if at most k
    people of D, t among them, are equivalent to t. For every D, k >= 1 and k-outlier t in D:
    M(D) ~(epsilon(k), delta) M(D - t). Lui, Pass 2015, Definitions 3 to 5.
    """

    notion: ClassVar[str] = "outlier"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    curve: Curve
    delta: Fraction = NEVER

    def __post_init__(self) -> None:
        if not isinstance(self.curve, Curve):
            raise WrongUse("outlier privacy is given by a Curve; make one with curve.read, curve.steps or curve.slope")
        if not self.curve.is_monotone:
            raise WrongUse(
                f"the curve {self.curve} must never decrease, because a rare person is owed the loss of every "
                "larger crowd; use its envelope()"
            )
        settle(self, delta=chance(self.delta))

    def loss_at(self, count: int) -> tuple[Loss, Fraction]:
        """epsilon(count)."""
        return self.curve.at(_positive_count(count)), self.delta

    def __str__(self) -> str:
        return f"{_pair(f'[{self.curve}]', self.delta)}-outlier"


@dataclass(frozen=True, slots=True, kw_only=True)
class TailoredPrivacy:
    """(epsilon(.), delta)-tailored privacy by the cells of a public partition, for a curve that never decreases.

    For every D, c >= 1 and t in D of whose cells none has more than c people of D, t among them:
    M(D) ~(epsilon(c), delta) M(D - t). Lui, Pass 2015, Definition 2, with a loss that depends on t's cells and on how
    many are in them. It is not outlier privacy: people of one cell need not have the same law, so that somebody with a
    rare value is owed the loss of a full cell.
    """

    notion: ClassVar[str] = "tailored"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    curve: Curve
    delta: Fraction = NEVER

    def __post_init__(self) -> None:
        if not isinstance(self.curve, Curve) or not self.curve.is_monotone:
            raise WrongUse("tailored privacy is given by a Curve that never decreases; use its envelope()")
        settle(self, delta=chance(self.delta))

    def __str__(self) -> str:
        return f"{_pair(f'[{self.curve}]', self.delta)}-tailored"


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleOutlier:
    """(k, epsilon, delta)-simple outlier privacy; with `differential`, simple outlier differential privacy.

    For every D and every k-outlier t in D: M(D) ~(epsilon/k, delta) M(D - t). With `differential`, M is also
    (epsilon, delta)-differentially private under add/remove; without, people in larger crowds are promised nothing.
    epsilon = 0 is allowed. Lui, Pass 2015, Definitions 6, 13 and 14.
    """

    notion: ClassVar[str] = "simple-outlier"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    k: int
    epsilon: Loss
    delta: Fraction = NEVER
    differential: bool = False

    def __post_init__(self) -> None:
        settle(self, k=size(self.k, "the crowd size k"), epsilon=level(self.epsilon), delta=chance(self.delta))

    @property
    def share(self) -> Loss:
        """epsilon/k: what one outlier may lose."""
        return self.epsilon / self.k if isinstance(self.epsilon, Fraction) else INFINITY

    def as_outlier(self) -> OutlierPrivacy:
        """The same promise as a curve: epsilon/k up to a crowd of k, epsilon (or nothing) above."""
        above = self.epsilon if self.differential else INFINITY
        curve = flat(above) if self.share == above else Curve((Piece(1, self.share), Piece(self.k + 1, above)))
        return OutlierPrivacy(curve=curve, delta=self.delta)

    def loss_at(self, count: int) -> tuple[Loss, Fraction]:
        """epsilon/k up to k."""
        return self.as_outlier().loss_at(count)

    def __str__(self) -> str:
        delta = f", {to_text(self.delta)}" if self.delta else ""
        return f"({self.k}, {to_text(self.epsilon)}{delta})-simple-outlier{'-DP' if self.differential else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class StaircaseOutlier:
    """((k_1, ..., k_l), (e_0, ..., e_l), delta)-staircase outlier privacy, k_1 > ... > k_l > 0, e_0 > ... > e_l >= 0.

    M is (e_0, delta)-differentially private under add/remove (e_0 may be infinite), and for every D, every i >= 1 and
    every k_i-outlier t in D: M(D) ~(e_i, delta) M(D - t). Lui, Pass 2015, Definition 17.
    """

    notion: ClassVar[str] = "staircase"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    thresholds: tuple[int, ...]
    epsilons: tuple[Loss, ...]
    delta: Fraction = NEVER

    def __post_init__(self) -> None:
        ks = tuple(size(k, "a threshold") for k in self.thresholds)
        losses = tuple(level(epsilon) for epsilon in self.epsilons)
        settle(self, thresholds=ks, epsilons=losses, delta=chance(self.delta))
        if not ks or len(losses) != len(ks) + 1:
            raise WrongUse(
                f"a staircase of l thresholds, l at least 1, has l + 1 epsilons, not {len(ks)} and "
                f"{len(losses)}; the first epsilon is for everybody above the first threshold"
            )
        if not all(a > b for steps in (ks, losses) for a, b in pairwise(steps)):
            raise WrongUse("the thresholds and the epsilons of a staircase must both fall strictly; list the top first")

    def as_outlier(self) -> OutlierPrivacy:
        """The same promise as a curve."""
        starts = (*(k + 1 for k in self.thresholds), 1)
        pieces = tuple(Piece(start, epsilon) for start, epsilon in zip(starts, self.epsilons, strict=True))
        return OutlierPrivacy(curve=Curve(pieces[::-1]), delta=self.delta)

    def loss_at(self, count: int) -> tuple[Loss, Fraction]:
        """The epsilon of the step that the count stands on."""
        return self.as_outlier().loss_at(count)

    def __str__(self) -> str:
        ks, losses = ", ".join(map(str, self.thresholds)), ", ".join(map(to_text, self.epsilons))
        return f"{_pair(f'({ks}), ({losses})', self.delta)}-staircase-outlier"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutlierGroup:
    """Protection of a group of outliers together.

    For every D and every set A of at most `size` people of D, each of them a k-outlier in D:
    M(D) ~(epsilon, delta) M(D - A). Lui, Pass 2015, the conclusion of Proposition 7, with a delta.
    """

    notion: ClassVar[str] = "outlier-group"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    k: int
    size: int
    epsilon: Loss
    delta: Fraction = NEVER

    def __post_init__(self) -> None:
        people = size(self.size, "the group size")
        settle(self, k=size(self.k, "the crowd size k"), size=people)
        settle(self, epsilon=level(self.epsilon), delta=chance(self.delta))

    def __str__(self) -> str:
        return f"{_pair(to_text(self.epsilon), self.delta)}-removal of {self.size} {self.k}-outliers"


@dataclass(frozen=True, slots=True, kw_only=True)
class DistributionalPrivacy:
    """(epsilon, delta)-differential privacy with respect to the distributions of `sample`.

    For every distribution phi of the class and every person t that can occur: with D drawn from phi,
    M(D) given t in D ~(epsilon, delta) M(D - t) given t in D. Lui, Pass 2015, Definition 21.
    """

    notion: ClassVar[str] = "distributional"
    neighbours: ClassVar[Neighbours] = Neighbours.ADD_REMOVE
    epsilon: Loss
    sample: IndependentSample
    delta: Fraction = NEVER

    def __post_init__(self) -> None:
        settle(self, epsilon=level(self.epsilon), delta=chance(self.delta))
        if not isinstance(self.sample, IndependentSample):
            raise WrongUse(
                "distributional privacy is for people sampled independently; give a Bernoulli or RobustSample"
            )

    def __str__(self) -> str:
        return f"{_pair(to_text(self.epsilon), self.delta)}-DP w.r.t. the distributions {self.sample}"


OutlierKind: TypeAlias = OutlierPrivacy | SimpleOutlier | StaircaseOutlier
"""Whatever is a curve."""

Guarantee: TypeAlias = (
    DifferentialPrivacy
    | ConcentratedPrivacy
    | ZeroKnowledge
    | CrowdBlending
    | OutlierPrivacy
    | TailoredPrivacy
    | SimpleOutlier
    | StaircaseOutlier
    | OutlierGroup
    | DistributionalPrivacy
)
"""Any promise."""
