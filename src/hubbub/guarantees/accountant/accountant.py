"""The accountant: the total privacy loss of all releases about the same people, from the exact law of each loss.

Each release has a dominating pair of laws, with and without a person: randomized response with the probability
e^epsilon/(1 + e^epsilon), or discrete Gaussian noise. Independent losses add, so their laws are convolved; all Gaussian
releases are one normal pair
(Lemma C, :mod:`hubbub.guarantees.accountant.gaussian`). Twenty releases with epsilon 0.1 and twenty with Gaussian noise
of rho 0.005 lose 2.87 together at a delta of 1e-6, where their sum is 11.2.

The questions may depend on earlier results. The amount of noise may not: it is fixed beforehand, else the bound of
:mod:`hubbub.guarantees.accountant.odometer` applies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Final

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.accountant.advanced_composition import BEFOREHAND, FIXED, FRESH, KOV
from hubbub.guarantees.accountant.gaussian import (
    GaussianNoise,
    GaussianTotal,
    SampledGaussianPair,
    epsilon_with,
    gaussian_total,
)
from hubbub.guarantees.accountant.odometer import EXPONENTS, growths
from hubbub.guarantees.accountant.privacy_loss import RandomizedResponsePair, composed_epsilon
from hubbub.guarantees.composition import INDEPENDENT
from hubbub.guarantees.definitions import ConcentratedPrivacy, DifferentialPrivacy
from hubbub.guarantees.derivation import HERE, Derivation, Theorem, texts
from hubbub.guarantees.indistinguishability import chain_losses
from hubbub.guarantees.neighbours import Neighbours, one_relation
from hubbub.numeric.exact import INFINITY, Infinite, Loss, rounded
from hubbub.runtime.frozen import dataclass

DRS: Final = "Dong, Roth, Su, Gaussian differential privacy, JRSS B 2022"
WITH_GAUSSIAN: Final = Theorem(
    "together.gaussian", "Optimal composition with one Gaussian pair (Lemma C)", f"{KOV}; {DRS}; {HERE}"
)
MOST_KINDS: Final = 32
"""Of pairs that are kept apart; more are rounded up to fewer."""

Pair = RandomizedResponsePair | SampledGaussianPair


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A dominating pair, and how many releases have it."""

    pair: Pair
    times: int = 1

    def __post_init__(self) -> None:
        if self.times < 1:
            raise WrongUse("a release that was made less than once has no loss; leave it out")


@dataclass(frozen=True, kw_only=True)
class Accountant:
    """The pairs of all releases under one neighbouring relation: those of geometric noise, and one for all Gaussian."""

    pairs: tuple[Repeated, ...] = ()
    gaussian: GaussianTotal | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    def __add__(self, other: Accountant) -> Accountant:
        """Guarantee: dominates both together; promises under unlike neighbours are refused."""
        relation = one_relation((self, other), "an accountant")
        if self.gaussian is not None and other.gaussian is not None:
            gaussian: GaussianTotal | None = self.gaussian + other.gaussian
        else:
            gaussian = self.gaussian or other.gaussian
        pairs = _once_more(self.pairs, other.pairs) or _few(_count_pairs((*self.pairs, *other.pairs)))
        return Accountant(pairs=pairs, gaussian=gaussian, neighbours=relation)

    def group(self, people: int) -> Accountant:
        """The accountant for groups of so many people.

        Guarantee: Gaussian distances grow by that factor, exactly; the others are chains of so many links.
        """
        if any(isinstance(each.pair, SampledGaussianPair) or each.pair.rate < 1 for each in self.pairs):
            raise Refused("what a group loses on a secret sample is not known here; ask for one person")
        pairs = Counter({_chain(each.pair, people): each.times for each in self.pairs})
        gaussian = None if self.gaussian is None else self.gaussian.group(people)
        return Accountant(pairs=_few(pairs), gaussian=gaussian, neighbours=self.neighbours)

    def epsilon_at(self, delta: Fraction) -> Loss:
        """An epsilon with which all of it is (epsilon, delta)-close, rounded up; infinite if there is none.

        Guarantee: by the convolution of all losses, if the noise of every release was fixed beforehand.
        """
        listed = [each.pair for each in self.pairs for _ in range(each.times)]
        if self.gaussian is None:
            return composed_epsilon(listed, delta) if listed else Fraction(0)
        return epsilon_with(listed, self.gaussian, delta) if listed else self.gaussian.epsilon_at(delta)

    @property
    def infinite_mass(self) -> Fraction:
        """The sum of the probabilities of infinite losses, which fully adaptive composition adds to its own delta."""
        return sum((each.times * each.pair.infinite_mass for each in self.pairs), Fraction(0))

    @property
    def basic(self) -> Loss:
        """Basic composition: the sum of the largest losses; infinite with Gaussian noise, whose loss is unbounded."""
        if self.gaussian is not None:
            return INFINITY
        found: Loss = Fraction(0)
        for each in self.pairs:
            most = each.pair.most
            found = INFINITY if isinstance(most, Infinite) else found + each.times * most
        return found

    def growths(self) -> tuple[Fraction, ...]:
        """What fully adaptive composition adds up (:mod:`hubbub.guarantees.accountant.odometer`).

        Guarantee: of Gaussian noise ln E e^(a loss) <= a (a + 1) rho.
        """
        return self._growths

    @cached_property
    def _growths(self) -> tuple[Fraction, ...]:
        found = [Fraction(0) if self.gaussian is None else a * (a + 1) * self.gaussian.rho for a in EXPONENTS]
        for each in self.pairs:
            found = [before + each.times * more for before, more in zip(found, growths(each.pair), strict=True)]
        return tuple(found)


def of_pair(pair: Pair, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Accountant:
    """The accountant of one release with this dominating pair."""
    return Accountant(pairs=(Repeated(pair=pair),), neighbours=neighbours)


def of_noises(noises: Iterable[GaussianNoise], neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Accountant:
    """The accountant of one release with Gaussian noise."""
    return Accountant(gaussian=gaussian_total(noises), neighbours=neighbours)


def _chain(pair: Pair, links: int) -> Pair:
    assert isinstance(pair, RandomizedResponsePair)
    epsilon, delta = chain_losses(pair.epsilon, pair.delta, links)
    assert isinstance(epsilon, Fraction)
    return RandomizedResponsePair(epsilon=epsilon, delta=delta)


def _once_more(pairs: tuple[Repeated, ...], more: tuple[Repeated, ...]) -> tuple[Repeated, ...]:
    """The same as :func:`_few` of both if `more` is the pair of one of them, as of a release like an earlier one; else
    nothing. Nothing is hashed, put in order or rounded for it."""
    if len(more) != 1 or len(pairs) > MOST_KINDS:
        return ()
    for i, each in enumerate(pairs):
        if each.pair is more[0].pair or each.pair == more[0].pair:
            return (*pairs[:i], Repeated(pair=each.pair, times=each.times + more[0].times), *pairs[i + 1 :])
    return ()


def _count_pairs(pairs: Iterable[Repeated]) -> Counter[Pair]:
    found: Counter[Pair] = Counter()
    for each in pairs:
        found[each.pair] += each.times
    return found


def _few(pairs: Counter[Pair]) -> tuple[Repeated, ...]:
    """At most so many different pairs: where there are more, losses are rounded up until few enough are left."""
    for digits in (None, 2, 1):
        found: Counter[Pair] = Counter()
        for pair, times in pairs.items():
            found[pair if digits is None else _coarser(pair, digits)] += times
        if len(found) <= MOST_KINDS:
            return tuple(Repeated(pair=pair, times=times) for pair, times in sorted(found.items(), key=_order))
    plain = [pair for pair in pairs if isinstance(pair, RandomizedResponsePair)]
    if len(plain) < len(pairs):
        raise Refused(f"more than {MOST_KINDS} kinds of noise are too many to add up exactly; use fewer")
    worst = RandomizedResponsePair(epsilon=max(pair.epsilon for pair in plain), delta=max(pair.delta for pair in plain))
    return (Repeated(pair=worst, times=sum(pairs.values())),)


def _coarser(pair: Pair, digits: int) -> Pair:
    if isinstance(pair, SampledGaussianPair):
        return pair
    epsilon, delta, rate = (rounded(each, up=True, digits=digits) for each in (pair.epsilon, pair.delta, pair.rate))
    return RandomizedResponsePair(epsilon=epsilon, delta=min(delta, Fraction(1)), rate=min(rate, Fraction(1)))


def _order(item: tuple[Pair, int]) -> tuple[str, ...]:
    return type(item[0]).__name__, *(f"{getattr(item[0], name)}" for name in item[0].__slots__)


# --- as a step of a derivation -----------------------------------------------------------------------------------


def differential_exactly(accountant: Accountant, *premises: Derivation, at_delta: Fraction) -> Derivation:
    """All releases together at a delta, if the noise of each was fixed beforehand.

    Guarantee: if the pairs of `accountant` dominate the releases, whose promises are the premises, then publishing all
    of them is (epsilon, `at_delta`)-DP under its neighbours, with the epsilon of the convolution of all losses.
    """
    if not premises:
        raise WrongUse("exact composition is about at least one release, and none was given; give them all")
    theorem = BEFOREHAND if accountant.gaussian is None else WITH_GAUSSIAN
    given = [premise.conclusion for premise in premises]
    private = [each for each in given if isinstance(each, DifferentialPrivacy | ConcentratedPrivacy)]
    if len(private) < len(given) or any(each.neighbours is not accountant.neighbours for each in private):
        raise Refused(
            f"{theorem} takes differential privacy under {accountant.neighbours.value} alone; convert it first"
        )
    epsilon = accountant.epsilon_at(at_delta)
    if isinstance(epsilon, Infinite):
        raise Refused(f"{theorem}: no epsilon will do at that delta; raise it")
    numbers: dict[str, Fraction | int] = (
        {} if accountant.gaussian is None else {"rho": accountant.gaussian.rho, "moved": accountant.gaussian.moved}
    )
    return Derivation(
        conclusion=DifferentialPrivacy(
            epsilon=epsilon,
            delta=at_delta,
            neighbours=accountant.neighbours,
            group=min(each.group for each in private),
        ),
        theorem=theorem,
        premises=premises,
        numbers=texts(releases=len(premises), **numbers, epsilon_out=epsilon, delta_out=at_delta),
        assumptions=(INDEPENDENT, FIXED, *((FRESH,) if any(each.pair.rate < 1 for each in accountant.pairs) else ())),
    )
