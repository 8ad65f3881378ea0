"""Theorem A: the privacy loss of a crowd-blending mechanism on a secret sample. Certified, and tight.

Somebody, t, stands in a class of people who blend with t. Each of the n others is sampled independently with
probability p, and t with probability p_t; b_m = Pr[Bin(n, p) = m]. P is the law of the release on the sample without t,
Q on the sample with t, and H_g(Q||P) the largest Q(Y) - g P(Y) over events Y. With t in the population or not,

    H_(e^E)(p_t Q + (1 - p_t) P || P) = p_t H_g(Q||P),     g  = (e^E - 1 + p_t)/p_t                       "joining"
    H_(e^E)(P || p_t Q + (1 - p_t) P) = w  H_g'(P||Q),     g' = p_t e^E/w,  w = (1 - (1 - p_t) e^E)_+     "leaving"

Two facts bound them, x_m and y_m being the probabilities of Y under P and Q given that m others were sampled:
y_m and x_(m+1) are beta-close (t blends), and y_m and x_m are eta-close for m <= K - 2 (a crowd below K: t can leave).
For e-close x and y, the largest u y - g v x is

    f_e(u, v) = kappa (u - g e^-e v)_+ + (1 - kappa) (u - g e^e v)_+,     kappa = e^e/(1 + e^e),

so that everything is made of two families, with F the distribution function of b:

    joining:   sum over m >= K - 1 of f_beta(b_m, b_(m+1))  +  h F(K - 2),     h = f_eta(1, 1) = 0 if g >= e^eta
    leaving:   f_max(eta, beta)(F(K - 1), F(K - 2))  +  sum over m >= K of f_beta(b_m, b_(m-1))

    U_n(R) = sum over m >= K - 1 of (b_m - R b_(m+1))_+
    L_n(R) = (F(K - 1) - R F(K - 2))_+ + sum over m >= K of (b_m - R b_(m-1))_+

**Joining below e^eta.** If g < e^eta and beta = eta, the head h F(K - 2) is too much: t pays for x_(K-1) too. The
chain x_0, y_0, x_1, ..., y_(K-2), x_(K-1) is eta-close from link to link, so y_m <= T(min(x_m, x_(m+1))), where T has
the slope e^eta up to x = 1 - kappa and e^-eta from there on. Level by level, {m : x_m > t} is a set S that gains T'(t)
for each of its pairs of neighbours m, m + 1, times b_m, and loses g b_m for each m: nothing is won above 1 - kappa;
below it the best S is all of 0 .. K - 1 or nothing, because S grows at no cost to the left, and to the right it wins
from where b_(m+1)/b_m < e^eta/g on, and that ratio falls. So x_m = 1 - kappa and y_m = kappa, or all are 0, and

    joining:   kappa D + (1 - kappa) U_n(g e^eta),     D = (F(K - 2) - R F(K - 1))_+ + U_n(R),     R = g e^-eta < 1.

D is the largest Y(Q) - R Y(P) for suppressed counts, hence 1 - R + R L_n(1/R): the other family again, with its peak.

**The worst n.** b for n + 1 is p times b shifted plus (1 - p) b. So U_n(R) + h F(K - 2) grows by
p ((1 - h) b_(K-2) - R b_(K-1)) while b_(K-2) > R b_(K-1), and no longer after that (convexity): one peak, at
K - 2 + ceil((1 - h)(K - 1)(1 - p)/(p R)). L_n(R) has one peak at K - 2 + ceil(R (K - 1)(1 - p)/p).
With beta = 0 (people of one bin of a table of counts are exactly interchangeable) joining is one such function, and the
supremum of leaving is max{sup L(g'), kappa_eta sup L(g' e^-eta)}. With beta > 0 both are sums of two functions of n
whose peaks lie apart, and the best n lies between the peaks, where one function rises and the other falls: an
interval is bounded by the better end for each, and halved until nothing in it can win.

eta = beta = 0 is suppression, and no (k, 0)-crowd-blending mechanism is worse. eta = beta = epsilon is any
(k, epsilon)-crowd-blending mechanism. eta = epsilon and beta = 0 is a table of counts with noise below k. p_t = 1 is
distributional privacy. Gehrke, Hay, Lui, Pass 2012, Theorems 13 and 16; Lui, Pass 2015, Theorem 22; the proofs stand
in docs/theorem-map.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache
from heapq import heappop, heappush
from itertools import pairwise
from typing import Final, TypeAlias

from flint import arb

from hubbub.errors import WrongUse
from hubbub.guarantees.parameters import chance, level, size
from hubbub.numeric.binomial import at_least, at_most, mass
from hubbub.numeric.exact import INFINITY, PRECISION, Loss, ball, exp, lower, precision, upper
from hubbub.runtime.frozen import dataclass

JOINING: Final = "joining"
"""The release with t in the population is too likely under an event that is rare without t."""
LEAVING: Final = "leaving"
"""The other way round."""

LARGEST_CROWD: Final = 10**9
_MOST_BITS: Final = 1 << 14
_SLACK: Final = 1 + Fraction(1, 1 << 40)  # how close the bound on a stretch of n comes to the best n
_HALVINGS: Final = 256
_LARGE: Final = 10_000  # crowds whose binomial tails are long to sum: they get fewer halvings
_FAR: Final = 10**9  # the variance of a sample beyond which a hill is not looked at on its far side
_EXACT_POWER: Final = 4096  # up to this crowd p^K is written out as a fraction

Delta: TypeAlias = arb | Fraction


class _TooWide(Exception):
    """A ball holds several integers: more bits are needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One kind of protected person: the others are sampled with `rate`, the person with `own`; K is `crowd`.

    `removal` is eta and `blending` is beta, as above. A crowd of at most 1 promises nothing. `crowd` counts `exempt` others
    as if they were surely in the sample; each is, independently, with a probability of at most `exempt_rate`.
    """

    rate: Fraction
    own: Fraction
    crowd: int
    removal: Fraction
    blending: Fraction
    exempt: int = 0
    exempt_rate: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", chance(self.rate, "the sampling rate"))
        object.__setattr__(self, "own", chance(self.own, "the person's own sampling rate"))
        if size(max(self.crowd, 1), "the crowd size") > LARGEST_CROWD:
            raise WrongUse(f"the crowd size must be at most {LARGEST_CROWD:,}, not {self.crowd}; lower k")
        for name in ("removal", "blending"):
            loss: Loss = level(getattr(self, name), f"the loss of {name}")
            if loss is INFINITY:
                raise WrongUse(f"the loss of {name} must be finite, because nothing follows from an infinite one")

    @property
    def floor(self) -> Delta:
        """p_t p^(K-1): no epsilon has a smaller delta, because all of K - 1 others may be sampled."""
        if self.exempt:
            with precision():
                return sum((w * _ball(each.floor) for w, each in self.by_exempt()), arb(0))
        if self.own == 0 or self.rate in (0, 1) or self.crowd <= 1:
            return self.own if self.crowd <= 1 or self.rate else Fraction(0)
        if self.crowd <= _EXACT_POWER:
            return self.own * self.rate ** (self.crowd - 1)
        with precision():
            return ball(self.own) * ball(self.rate) ** (self.crowd - 1)

    def by_exempt(self) -> Iterator[tuple[arb, Case]]:
        """How likely it is that so many of the exempt are sampled, and the case with these surely in it."""
        r = self.exempt_rate
        for there in range(self.exempt + 1):
            weight = math.comb(self.exempt, there) * r**there * (1 - r) ** (self.exempt - there)
            if weight:
                crowd = self.crowd + self.exempt - there
                yield ball(weight), replace(self, crowd=crowd, exempt=0, exempt_rate=Fraction(1))


def _ball(delta: Delta) -> arb:
    return ball(delta) if isinstance(delta, Fraction) else delta


@dataclass(frozen=True, slots=True)
class Worst:
    """The delta at an epsilon, with the number of others in the class and the direction in which it is reached."""

    delta: Delta
    others: int
    direction: str


def _average_over_exempt(case: Case, epsilon: Fraction) -> Worst:
    with precision():
        parts = [(weight, worst(each, epsilon)) for weight, each in case.by_exempt()]
        deltas = [weight * _ball(found.delta) for weight, found in parts]
        _, most = max(zip(deltas, parts, strict=True), key=lambda each: float(each[0].mid()))
        return Worst(sum(deltas, arb(0)), most[1].others, most[1].direction)


@lru_cache(maxsize=4096)
def worst(case: Case, epsilon: Fraction) -> Worst:
    """The delta of a case at `epsilon`, over all class sizes and both directions.

    Guarantee: the upper end of `delta` is at least sup over n of joining and leaving, hence at least the true delta of
    every mechanism with the two facts above. For eta = beta = 0 it is the supremum, in a ball. For eta = beta some
    mechanism reaches the supremum (Theorem A), and the upper end is above it by a factor of 1 + 2^-40; by about
    1 + 10^-8 for crowds of a million or losses of 50, and 1 + 10^-4 for rates around 10^-9, whose class sizes are too
    many to sift.

    Exempt people who are there with a probability r below 1: given which of them are sampled, which says nothing about
    the person, the laws with and without the person are those of a case with them surely there, and delta is jointly
    convex. It falls as the crowd grows, so that all of them at r are the worst: delta is at most the mean over Bin(exempt,
    r) of the deltas with so many there.
    """
    if epsilon < 0:
        raise WrongUse("a loss below 0 does not exist; ask for the delta at an epsilon of at least 0")
    if case.exempt:
        return _average_over_exempt(case, epsilon)
    if case.own == 0:
        return Worst(Fraction(0), 0, JOINING)
    if case.crowd <= 1 or case.rate == 1:
        return Worst(case.own, max(case.crowd - 1, 0), JOINING)
    if case.rate == 0:
        return _single_case(case, epsilon)
    bits = PRECISION
    while True:
        try:
            with precision(bits):
                joining = _joining(case, epsilon)
                return _larger(joining, _leaving(case, epsilon, joining))
        except _TooWide:
            if bits >= _MOST_BITS:
                raise ArithmeticError("a class size is not determined by 16384 bits") from None
            bits *= 2


def _larger(*found: Worst | None) -> Worst:
    """The one with the largest delta; balls that overlap are joined, so that the upper end stays true."""
    best, *others = [worst for worst in found if worst is not None]
    for other in others:
        a, b = _as_ball(best.delta), _as_ball(other.delta)
        if b <= a:
            continue
        best = other if b >= a else Worst(a.max(b), best.others, best.direction)
    return best


def _as_ball(delta: Delta) -> arb:
    return ball(delta) if isinstance(delta, Fraction) else delta


def _parts(epsilon: Fraction, base: arb) -> list[tuple[arb, arb]]:
    """(weight, R) of f_e(u, v) = sum of weight (u - R v)_+."""
    if epsilon == 0:
        return [(arb(1), base)]
    kappa = 1 / (1 + exp(-epsilon))
    return [(kappa, base * exp(-epsilon)), (1 - kappa, base * exp(epsilon))]


# --- both directions --------------------------------------------------------------------------------------------


def _joining(case: Case, epsilon: Fraction) -> Worst:
    g = 1 + ball(epsilon).expm1() / ball(case.own)
    if case.removal == case.blending and exp(case.removal) > g:
        others, value = _top(_below_hills(case, g), case)
        return Worst(ball(case.own) * value, others, JOINING)
    head = sum((weight * (1 - r).nonnegative_part() for weight, r in _parts(case.removal, g)), arb(0))
    hills = []
    for weight, r in _parts(case.blending, g):
        hills.append(_u_hill(case, weight, r, head / weight))
        head = arb(0)  # it is charged once
    if all(hill.peaks == (case.crowd - 1,) and hill.is_bare for hill in hills):
        return Worst(case.floor, case.crowd - 1, JOINING)
    others, value = _top(hills, case)
    return Worst(ball(case.own) * value, others, JOINING)


def _leaving(case: Case, epsilon: Fraction, joining: Worst) -> Worst | None:
    """The divergence when the person leaves; None where it is proved to be at most that of joining.

    With beta = 0 < eta and J(R) = F(K - 1) - R F(K - 2), the function of n is S + max{0, J(g'), kappa J(g' e^-eta)},
    where S, the sum over m >= K, is L(g') - J(g') from the peak of L(g') on and 0 before. If the second is the
    largest, it is L(g'). The third is the larger one only where J(g' e^eta) < 0, so before the peak of L(g' e^eta); S
    + kappa J(g' e^-eta) has its peak where J(g' e^-eta) has, before S begins, because beyond that it grows by at most
    p ((1 - kappa) b_(K-1) - kappa g' b_(K-2)) < 0. So the supremum is the larger of two closed forms.
    """
    growth = ball(epsilon).expm1()
    w = ball(case.own) - ball(1 - case.own) * growth
    if w <= 0 or w <= _as_ball(joining.delta):  # the largest difference of two probabilities is at most 1
        return None
    if not w > 0:
        return Worst(w.nonnegative_part(), case.crowd - 2, LEAVING)
    g = ball(case.own) * (1 + growth) / w
    epsilon = max(case.removal, case.blending)
    ways = [_parts(epsilon, g)]
    if case.blending == 0 and case.removal > 0:
        ways = [[(arb(1), g)], ways[0][:1]]
    tops = [_top([_l_hill(case, weight, r) for weight, r in parts], case) for parts in ways]
    return _larger(*(Worst(w * value, others, LEAVING) for others, value in tops))


def _single_case(case: Case, epsilon: Fraction) -> Worst:
    """Nobody else is ever sampled: n = 0, where only removal counts."""
    with precision():
        growth = ball(epsilon).expm1()
        sides = [(ball(case.own), 1 + growth / ball(case.own), JOINING)]
        w = ball(case.own) - ball(1 - case.own) * growth
        if w > 0:
            sides.append((w, ball(case.own) * (1 + growth) / w, LEAVING))
        found = []
        for factor, g, direction in sides:
            parts = _parts(case.removal, g)
            value = sum((weight * (1 - r).nonnegative_part() for weight, r in parts), arb(0))
            found.append(Worst(factor * value, 0, direction))
        return _larger(*found)


# --- functions of n with one peak -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Hill:
    """A function of n that rises up to its peak (one of `peaks`, where rounding leaves two) and then falls."""

    peaks: tuple[int, ...]
    at: Callable[[int], arb]
    is_bare: bool = True


def _u_hill(case: Case, weight: arb, r: arb, head: arb) -> _Hill:
    """U_n(R) + head F(K - 2)."""
    p, first = case.rate, case.crowd - 1
    odds = ball((1 - p) / p)

    @cache
    def at(n: int) -> arb:
        value = head * at_most(n, p, first - 1) if not head.is_zero() else arb(0)
        if n < first:
            return weight * value
        if n > peaks[-1] and _is_far(case, n):
            return at(peaks[-1]).union(arb(0))  # it only falls after its peak
        # The terms are positive from the first m on with b_m > R b_(m+1).
        starts = {max(first, m + 1) for m in _floors((r * n - odds) / (odds + r))}
        tails = [mass(n, p, m) - (r - 1) * at_least(n, p, m + 1) for m in starts]
        return weight * (value + _max(tails))

    peaks = tuple(first - 1 + max(n, 0) for n in sorted(_ceilings((1 - head) * first * odds / r)))
    return _Hill(peaks, at, head.is_zero())


def _l_hill(case: Case, weight: arb, r: arb) -> _Hill:
    """L_n(R)."""
    p, first = case.rate, case.crowd - 1
    odds = ball((1 - p) / p)

    @cache
    def at(n: int) -> arb:
        if n > peaks[-1] and _is_far(case, n):
            return at(peaks[-1]).union(arb(0))
        # Of the terms with m >= K, those up to the last m with b_m > R b_(m-1) are positive.
        ends = {max(first, m - 1) for m in _ceilings((n + 1) / (1 + r * odds))}
        heads = [mass(n, p, m) - (r - 1) * at_most(n, p, m - 1) for m in ends]
        return weight * _max(heads).nonnegative_part()

    peaks = tuple(first - 1 + n for n in sorted(_ceilings(r * first * odds)))
    return _Hill(peaks, at)


def _below_hills(case: Case, g: arb) -> list[_Hill]:
    """kappa (1 - R + R L_n(1/R)) and (1 - kappa) U_n(g e^eta), for R = g e^-eta < 1."""
    (kappa, r), (rest, far) = _parts(case.removal, g)
    lumped = _l_hill(case, kappa * r, 1 / r)
    return [_Hill(lumped.peaks, lambda n: kappa * (1 - r) + lumped.at(n)), _u_hill(case, rest, far, arb(0))]


def _is_far(case: Case, n: int) -> bool:
    """Whether the law of a sample of n is too wide for its tails to be summed."""
    return n * case.rate * (1 - case.rate) > max(_FAR, 100 * case.crowd)


def _max(values: list[arb]) -> arb:
    best = values[0]
    for value in values[1:]:
        best = best.max(value)
    return best


def _floors(x: arb) -> Iterable[int]:
    """The integers that floor(x) may be: one, or two if x is near an integer."""
    low, high = math.floor(lower(x)), math.floor(upper(x))
    if high - low > 1:
        raise _TooWide
    return range(low, high + 1)


def _ceilings(x: arb) -> Iterable[int]:
    return [-n for n in _floors(-x)]


def _top(hills: list[_Hill], case: Case) -> tuple[int, arb]:
    """(n, value): a ball from the sum of the hills at n up to a bound on its supremum, mostly the same number.

    Of the stretches between peaks the most promising is halved, until none can win by more than a trifle. Where
    stretches are very long (a rate of 10^-9, a crowd of a million, an epsilon of 50) this stops early, and the bound of
    the best one left is the answer.
    """
    points = sorted({n for hill in hills for n in hill.peaks})
    winner, best, slack = points[0], arb(0), ball(_SLACK)
    waiting: list[tuple[float, int, int, arb]] = []  # stretches with their bounds, the largest first
    fresh = list(pairwise(points))
    for left in reversed(range(_HALVINGS if case.crowd <= _LARGE else _HALVINGS // 16)):
        for n in points:
            value = sum((hill.at(n) for hill in hills), arb(0))
            winner, best = (n if value > best else winner), best.max(value)
        for a, b in fresh:
            if b - a > 1:
                # No peak lies inside, so each hill is highest at one of the ends.
                bound = sum((hill.at(a).max(hill.at(b)) for hill in hills), arb(0))
                heappush(waiting, (-float(bound.log().mid()), a, b, bound))
        if left == 0 or not waiting or waiting[0][3] <= best * slack:
            break
        if _is_far(case, (waiting[0][1] + waiting[0][2]) // 2):
            break
        _, a, b, _ = heappop(waiting)
        points = [(a + b) // 2]
        fresh = [(a, points[0]), (points[0], b)]
    return winner, best.union(_max([best, *(bound for *_, bound in waiting)]))
