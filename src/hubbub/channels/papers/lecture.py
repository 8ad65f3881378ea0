"""The lecture notes' outlier private mechanism Out_h: noise whose rate grows with the crowd.

epsilon(k) = t epsilon / (K - k) below K - t, and epsilon from there on. The notes promise (O(epsilon(k)), O(|B|
e^(-epsilon t))); with numbers it is (factor * epsilon(k), delta) with no dependence on the number of bins, worst at
the boundary k = K - t, and it is useful only when t epsilon is about 10 or more. One direction (the person leaves) is
pure, with loss at most (1 + 1/(t epsilon)) epsilon(k).

The largest delta over all k is exact, and few of them need to be looked at: from the boundary down, until one bound
for all that are left lies below what was found.

**One bound for the delta at a count and at every smaller one.** Write n = K - c for the count, s = t epsilon, a = s/n and a' = s/(n + 1) for the rates at c and c - 1, C for the factor;
the loss allowed is C a. Around the larger count the laws are f(v) = tanh(a/2) e^(-a|v|) and f'(v) = tanh(a'/2)
e^(-a'|v + 1|), and a - a' = s/(n (n + 1)).

*The person comes* (f' against f). On either side f'/f grows outwards, so the positive part is the largest difference
of two tails, for v >= 0

    R(j) = e^(-a'(j + 1)) / (1 + e^-a')  -  e^(C a) e^(-a j) / (1 + e^-a),

and at most the supremum over real j. It lies where e^((a - a') j) = (a/a') e^(C a + a') (1 + e^-a')/(1 + e^-a), and
since a'/(a - a') = n it is e^(-(C + 1) s) H(n) with

    H(n) = G(n)^n / G(n + 1)^(n + 1),     G(x) = x (1 + e^(-s/x)).

For v < 0 it is e^(-(C - 1) s) H(n) in the same way. H falls as n grows: -ln H(n) is a difference of x ln G(x) = x ln x
+ x ln(1 + e^(-s/x)), which is convex (the second term is the perspective of a convex function).

*The person leaves* (f against f'). tanh(a/2)/tanh(a'/2) <= (n + 1)/n, so for v >= 0 the logarithm of f/f' less C a is
at most q - b (v + 1) with q = (1 - (C - 1) s)/n and b = a - a', and 1 - e^-x <= x. With tanh(a/2) <= a/2, and a sum of
falling terms held against its integral, the positive part is at most

    (a/2) e^a sum over w >= 1 of e^(-a w) (q - b w)_+  <=  e^(s/n) / (2 (n + 1)) k(q a / b),    k(x) = x - 1 + e^-x,

where q a/b = (1 - (C - 1) s) (n + 1)/n; and 0 if q <= 0. For v < 0, of mass at most 1/2, the logarithm is at most
(1 - (C + 1) s)/n. Each of these falls as n grows.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar, Final

import numpy as np
from flint import arb
from numpy.typing import ArrayLike

from hubbub.channels.divergence import hockey_stick
from hubbub.channels.law import Law, two_sided
from hubbub.channels.protocol import Card, Channel, Proof, Published, exact_count, exact_counts, noise_rate
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve, Piece, steps
from hubbub.guarantees.definitions import OutlierPrivacy
from hubbub.guarantees.derivation import HERE, Theorem
from hubbub.guarantees.verdict import Proved, Undecided, Verdict
from hubbub.noise.sampler import two_sided_geometric_each
from hubbub.noise.source import Source
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import INFINITY, Exact, ball, exp, integer, positive, rounded, upper
from hubbub.runtime.frozen import dataclass

_NOTES: Final = "Bogdanov's lecture notes on crowd-blending and outlier privacy"
_FINEST: Final = 1000  # factors are multiples of 1/1000
_LARGEST_K: Final = 20_000


@dataclass(frozen=True)
class Lecture(Channel):
    """Publish k + X, X two-sided geometric of rate epsilon(k). Make it with `with_delta` or `with_factor`.

    Guarantee: (factor * epsilon(k), delta)-outlier privacy (Theorem 8 of the notes with constants): delta is the
    largest exact value over the finitely many k up to K - t, both directions; above, both neighbours get the same
    noise.
    """

    name: ClassVar[str] = "lecture"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.lecture", "Theorem 8 of the notes, with constants", f"{_NOTES}; {HERE}"),
        summary="noise that shrinks as the crowd grows (lecture notes)",
        example="`t=50` `K=200` `epsilon=0.2`",
        needs=("t", "K", "epsilon"),
        may=("factor", "delta"),
    )
    t: int
    K: int
    epsilon: Fraction
    factor: Fraction
    delta: Fraction

    @classmethod
    def with_factor(cls, t: Exact, K: Exact, epsilon: Exact, factor: Exact) -> Lecture:  # noqa: N803
        """The exact delta at a given factor of at least 1."""
        base = cls.check_parameters(t, K, epsilon, factor)
        worst = Fraction(0)
        for k in range(base.boundary, 0, -1):
            if upper(base.delta_up_to(k, base.factor)) <= worst:
                break
            worst = max(worst, upper(base.delta_at(k, base.factor)))
        return cls(base.t, base.K, base.epsilon, base.factor, rounded(worst, up=True))

    @classmethod
    def check_parameters(cls, t: Exact, K: Exact, epsilon: Exact, factor: Exact) -> Lecture:  # noqa: N803
        """The parameters in range, with no delta computed yet."""
        base = cls._without_factor(t, K, epsilon)
        c = positive(factor, "factor")
        if c < 1:
            raise WrongUse(f"factor must be at least 1, not {c}")
        return cls(base.t, base.K, base.epsilon, c, Fraction(0))

    @classmethod
    def with_delta(cls, t: Exact, K: Exact, epsilon: Exact, delta: Exact = "1e-6") -> Lecture:  # noqa: N803
        """The smallest factor, in thousandths, whose exact delta is at most the one asked for."""
        base = cls._without_factor(t, K, epsilon)
        target = positive(delta, "delta")
        if target >= 1:
            raise WrongUse(f"delta must lie between 0 and 1, not {target}")
        return cls(base.t, base.K, base.epsilon, _smallest_factor(base, target), target)

    @classmethod
    def _without_factor(cls, t: Exact, K: Exact, epsilon: Exact) -> Lecture:  # noqa: N803
        span, top, rate = integer(t, "t", least=1), integer(K, "K", least=2), noise_rate(epsilon)
        if span >= top:
            raise WrongUse(f"t must be below K, not {span} and {top}")
        if top > _LARGEST_K:
            raise WrongUse(f"K must be at most {_LARGEST_K:,}, because its delta is checked at every count; not {top}")
        noise_rate(span * rate / top, "t epsilon / K")
        return cls(span, top, rate, Fraction(1), Fraction(0))

    @property
    def boundary(self) -> int:
        """K - t: from here on the rate is epsilon."""
        return self.K - self.t

    def rate(self, count: int) -> Fraction:
        """epsilon(count)."""
        return self.epsilon if count >= self.boundary else self.t * self.epsilon / (self.K - count)

    def delta_at(self, count: int, factor: Fraction) -> arb:
        """The exact delta at factor * epsilon(count) between count and count - 1, the larger of both directions."""
        more, fewer, epsilon = self.law(count), self.law(count - 1), factor * self.rate(count)
        return hockey_stick(more, fewer, epsilon).max(hockey_stick(fewer, more, epsilon))

    def delta_up_to(self, count: int, factor: Fraction) -> arb:
        """A bound for `delta_at` at every count up to this one."""
        return largest_below(self.K - count, self.t * self.epsilon, factor)

    @property
    def holds(self) -> bool:
        """Whether delta is what `proofs` say it is: at least the exact one at every count up to K - t."""
        for k in range(self.boundary, 0, -1):
            if upper(self.delta_up_to(k, self.factor)) <= self.delta:
                return True
            if upper(self.delta_at(k, self.factor)) > self.delta:
                return False
        return True

    @cached_property
    def curve(self) -> Curve:
        """factor * epsilon(k) as steps."""
        top = self.factor * self.t * self.epsilon
        levels = (Fraction(top.numerator, top.denominator * (self.K - k)) for k in range(1, self.boundary + 1))
        return Curve(tuple(Piece(k, level) for k, level in enumerate(levels, 1)))

    @cached_property
    def claim(self) -> OutlierPrivacy:
        return OutlierPrivacy(curve=self.curve, delta=self.delta)

    @cached_property
    def proofs(self) -> tuple[Proof, ...]:
        above = steps((1, INFINITY), (self.boundary + 1, self.epsilon))
        return (
            Proof(above, "above K - t both counts get the same noise"),
            Proof(self.curve, "the exact delta was taken over every count up to K - t", self.delta),
        )

    @property
    def last_change(self) -> int:
        return self.K

    def reconsider(self, verdict: Verdict) -> Verdict:
        """Its proof takes its delta for the largest of the exact ones, which is computed again here."""
        if isinstance(verdict, Proved) and not self.holds:
            return Undecided("its delta is smaller than the largest of the exact ones up to K - t")
        return verdict

    @property
    def is_unbiased(self) -> bool:
        return True

    @property
    def segments(self) -> tuple[int, ...]:
        """Smaller counts have wider noise, so no two counts below the boundary are ordered."""
        return tuple(range(self.boundary + 1))

    def law(self, count: int) -> Law:
        return Law(two_sided(exact_count(count), self.rate(count)))

    def release(self, counts: ArrayLike, source: Source) -> Published:
        truth = exact_counts(counts)
        level = np.minimum(truth, self.boundary).astype(np.intp)  # which rate, one per count up to the boundary
        rates = [self.rate(k) for k in range(self.boundary + 1)]
        values = truth + two_sided_geometric_each(rates, level.ravel(), source).reshape(truth.shape)
        return Published(values, np.zeros(truth.shape, dtype=np.intp), ("",))


@lru_cache(maxsize=64)
def _smallest_factor(base: Lecture, target: Fraction) -> Fraction:
    """Searched at the boundary, where delta is about the largest, then certified at every other count."""

    def suffices(n: int, count: int) -> bool:
        return upper(base.delta_at(count, Fraction(n, _FINEST))) <= target

    high = _FINEST
    while not suffices(high, base.boundary):
        high *= 2
    least = high // 2 + 1 if high > _FINEST else _FINEST
    high = first(lambda n: suffices(n, base.boundary), least, high)
    for count in range(base.boundary - 1, 0, -1):
        if upper(base.delta_up_to(count, Fraction(high, _FINEST))) <= target:
            break
        while not suffices(high, count):
            high += 1
    return Fraction(high, _FINEST)


# --- the bound for every smaller count ----------------------------------------------------------------------------


def largest_below(n: int, s: Fraction, factor: Fraction) -> arb:
    """A bound for the exact delta at factor * s/n, in both directions, where K - count is n or more.

    Guarantee: the upper end is at least the delta of the two-sided geometrics of rates s/m and s/(m + 1), one person
    apart, for every whole m >= n (the argument is at the top of this file).
    """
    comes = (exp(-(factor + 1) * s) + exp(-(factor - 1) * s)) * (_log_g(n, s) - _log_g(n + 1, s)).exp()
    return comes.max(_leaves(n, s, factor))


def _log_g(x: int, s: Fraction) -> arb:
    """x ln G(x)."""
    return x * (x * (1 + exp(-s / x))).log()


def _leaves(n: int, s: Fraction, factor: Fraction) -> arb:
    near, far = 1 - (factor - 1) * s, 1 - (factor + 1) * s
    found = arb(0)
    if near > 0:
        x = near * (n + 1) / n
        found += exp(s / n) / (2 * (n + 1)) * (ball(x) - 1 + exp(-x))
    if far > 0:
        found += ball(far / (2 * n))
    return found
