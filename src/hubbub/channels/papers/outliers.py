"""Simple outlier differential privacy: examples 4 (suppressed) and 5 (noisy) of the outlier paper.

Both add noise of rate epsilon to every count; a value of at most k + s is then hidden (example 4) or gets noise of
rate epsilon/k on top (example 5, which says that it did). They are staircases of one level, and run as such.

The offset of a threshold above k in examples 4 and 5, as an exact integer.

A real offset alpha/epsilon behaves, on integers, like its floor, and the tail beyond the floor can exceed the
e^-alpha/2 that was promised (by up to 2/(1+q)). So offsets are integers, rounded up, or found from the exact tail
d(s) = P(X > s) = q^(s+1)/(1+q), q = e^-epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import ClassVar, Self

from flint import arb
from numpy.typing import ArrayLike

from hubbub.channels.law import Law
from hubbub.channels.papers.staircase import Staircase, is_wide, tail
from hubbub.channels.protocol import MOST_COMPARED, Card, Channel, Proof, Published, noise_rate
from hubbub.channels.published import EmptyBins
from hubbub.errors import WrongUse
from hubbub.guarantees.definitions import SimpleOutlier
from hubbub.guarantees.derivation import HERE, LUI_PASS, Theorem
from hubbub.noise.source import Source
from hubbub.numeric.exact import Exact, ball, exp, integer, log, lower, positive, rounded, upper
from hubbub.runtime.frozen import dataclass


def suppressed_delta(k: int, epsilon: Fraction, offset: int) -> arb:
    """Example 4, exactly: d(s) (1 - e^-(epsilon - epsilon/k)), the delta at epsilon/k between the counts k and k - 1.

    With t the mass above the threshold at count c, the other direction is smaller by (e^(epsilon/k) - 1)(1 - t (1 +
    q)) >= 0, and both grow with c <= k; so this is the largest over all outliers and both directions.
    """
    return tail(epsilon, offset) * -ball(epsilon / k - epsilon).expm1()


def noisy_delta(k: int, epsilon: Fraction, offset: int) -> arb:
    """Example 5 with its bit released, exactly: the delta of example 4 between the counts k and k - 1.

    Write a = epsilon/k, q = e^-epsilon, T = k + s, A_c(x) for the mass of the first noise around c, N for the second
    noise and R_c for what it makes of A_c up to T. From c to c - 1, values that got no second noise lose what they
    lose in example 4; the others lose nothing: R_c(v) <= e^a R_c(v + 1) <= e^a R_(c-1)(v). From c - 1 to c,

        R_(c-1)(v) - e^a R_c(v) = A_c(T+1) N(v - T) - (e^a - e^-a) sum over x <= min(v, T) of A_c(x) N(v - x),

    and values without the second noise lose nothing. Divided by A_c(T+1), what is taken off only grows as c falls, so
    the sum G of positive parts is largest where T = c, and with C = (e^a - e^-a)/(1 - q e^-a) its terms are
    tanh(a/2) (e^-aj - C q^(j-1)) at v = T - j < T and the sign of 1 - C/q from T on. If C <= q all are positive and
    G = (1 + q - e^a - q^2)/(q (1 - q)), which is below (1 - q e^a)/(1 - q) by (e^a - 1)(1 - q^2)/(q (1 - q)). If
    not, those from T on give nothing and G <= Pr[N < 0] < 1/2 < 1/(1 + q^(1/2)) <= (1 - q e^a)/(1 - q), since
    k >= 2. And A_c(T+1)(1 - q e^a)/(1 - q) is the delta of example 4, which is largest at c = k.
    """
    return suppressed_delta(k, epsilon, offset)


def smallest(bound: Callable[[int], arb], epsilon: Fraction, delta: Fraction) -> int:
    """The smallest offset whose bound, falling like e^(-epsilon s), is certainly at most delta."""
    if not 0 < delta < 1:
        raise WrongUse(f"delta must lie between 0 and 1, not {delta}")
    guess = math.floor(lower((bound(0) / ball(delta)).log() / ball(epsilon)))
    offset = max(guess - 1, 0)
    while upper(bound(offset)) > delta:
        offset += 1
    return offset


def rounded_up(alpha: Fraction, epsilon: Fraction) -> int:
    """alpha/epsilon as an integer that is not smaller."""
    return math.ceil(alpha / epsilon)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The offset that meets a delta, three ways."""

    paper: int
    tail_bound: int
    exact: int

    def as_json(self) -> dict[str, int]:
        return {"paper_offset": self.paper, "tail_bound_offset": self.tail_bound, "exact_offset": self.exact}


def calibrate(k: int, epsilon: Fraction, delta: Fraction, *, noisy: bool) -> Calibration:
    """The paper's offset (e^-alpha/2 or, with noise, e^-alpha), the one from the tail d(s), and the exact one."""
    exact: Callable[[int], arb] = (
        (lambda s: noisy_delta(k, epsilon, s)) if noisy else (lambda s: suppressed_delta(k, epsilon, s))
    )
    alpha = -log(delta if noisy else 2 * delta)
    return Calibration(
        paper=max(math.ceil(upper(alpha / ball(epsilon))), 0),
        tail_bound=smallest(lambda s: tail(epsilon, s), epsilon, delta),
        exact=smallest(exact, epsilon, delta),
    )


def paper_claim(alpha: Fraction, *, noisy: bool) -> arb:
    """Theorem 15 (e^-alpha/2) or 16 (e^-alpha)."""
    return exp(-alpha) if noisy else exp(-alpha) / 2


def _check_parameters(k: Exact, epsilon: Exact) -> tuple[int, Fraction]:
    crowd, rate = integer(k, "k", least=2), noise_rate(epsilon)
    return crowd, rate


class _TwoLevels:
    """What examples 4 and 5 share: a staircase of one threshold whose offset is chosen by alpha, by itself or by delta.

    `_noisy` says whether small values get a second noise; `_delta` is the exact delta at an offset.
    """

    __slots__ = ()
    _noisy: ClassVar[bool]
    _reason: ClassVar[str]
    k: int
    epsilon: Fraction
    offset: int
    delta: Fraction

    def __init__(self, k: int, epsilon: Fraction, offset: int, delta: Fraction) -> None:
        raise NotImplementedError  # every channel below is a dataclass of these four

    @staticmethod
    def _delta(k: int, epsilon: Fraction, offset: int) -> arb:
        raise NotImplementedError

    @classmethod
    def with_alpha(cls, k: Exact, epsilon: Exact, alpha: Exact) -> Self:
        """The paper's alpha/epsilon, rounded up, with the paper's claim: e^-alpha, and half of that where small values
        are hidden."""
        crowd, rate = _check_parameters(k, epsilon)
        a = positive(alpha, "alpha")
        return cls(crowd, rate, rounded_up(a, rate), rounded(paper_claim(a, noisy=cls._noisy), up=True))

    @classmethod
    def with_offset(cls, k: Exact, epsilon: Exact, offset: Exact) -> Self:
        """A given offset, with the exact delta as the claim."""
        crowd, rate = _check_parameters(k, epsilon)
        shift = integer(offset, "offset")
        return cls(crowd, rate, shift, rounded(cls._delta(crowd, rate, shift), up=True))

    @classmethod
    def with_delta(cls, k: Exact, epsilon: Exact, delta: Exact) -> Self:
        """The smallest offset whose exact delta, which is claimed, is at most the given one."""
        crowd, rate = _check_parameters(k, epsilon)
        shift = smallest(lambda s: cls._delta(crowd, rate, s), rate, positive(delta, "delta"))
        return cls(crowd, rate, shift, rounded(cls._delta(crowd, rate, shift), up=True))

    @property
    def _stairs(self) -> Staircase:
        second = self.epsilon / self.k if self._noisy else Fraction(0)
        return Staircase((self.k,), (self.epsilon, second), (self.offset,), self.delta)

    @property
    def claim(self) -> SimpleOutlier:
        return SimpleOutlier(k=self.k, epsilon=self.epsilon, delta=self.delta, differential=True)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        delta = rounded(self._delta(self.k, self.epsilon, self.offset), up=True)
        return self._stairs.proofs[0], Proof(self.claim.as_outlier().curve, self._reason, delta)

    @property
    def last_change(self) -> int:
        return self.k + self.offset

    @property
    def is_unbiased(self) -> bool:
        return self._noisy

    def law(self, count: int) -> Law:
        return self._stairs.law(count)

    def release(self, counts: ArrayLike, source: Source) -> Published:
        return self._stairs.release(counts, source)


@dataclass(frozen=True, slots=True)
class OutlierSuppressed(_TwoLevels, Channel):
    """Example 4. `delta` is what is claimed; make it with :meth:`with_alpha`, :meth:`with_offset` or
    :meth:`with_delta`.

    Guarantee: (k, epsilon, delta)-simple outlier differential privacy (Theorem 15): epsilon for everybody, and
    (epsilon/k, delta) for people in crowds of at most k, where the exact delta is P(X > offset) (1 - e^-(epsilon -
    epsilon/k)).
    """

    _noisy: ClassVar = False
    _delta = staticmethod(suppressed_delta)
    _reason: ClassVar = "the exact tail of the first noise"
    name: ClassVar[str] = "outlier-suppressed"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.outlier-suppressed", "Theorem 15, exact", f"{LUI_PASS}, Example 4; {HERE}"),
        summary="noise for all, small values hidden (example 4)",
        example="`k=100` `epsilon=1` `alpha=10`",
        needs=("k", "epsilon"),
        one_of=("alpha", "offset", "delta"),
    )
    k: int
    epsilon: Fraction
    offset: int
    delta: Fraction

    @property
    def steady_from(self) -> int:
        return self.last_change + 1 + math.ceil(21 / self.epsilon)

    def empty_bins(self) -> EmptyBins | None:
        return self._stairs.empty_bins()


@dataclass(frozen=True, slots=True)
class OutlierNoisy(_TwoLevels, Channel):
    """Example 5, saying which bins got the second noise. Made like :class:`OutlierSuppressed`.

    Guarantee: (k, epsilon, delta)-simple outlier differential privacy (Theorem 16, with less than half its delta):
    epsilon for everybody, and (epsilon/k, delta) for people in crowds of at most k, where the exact delta is that of
    example 4, P(X > offset) (1 - e^-(epsilon - epsilon/k)).
    """

    _noisy: ClassVar = True
    _delta = staticmethod(noisy_delta)
    _reason: ClassVar = "the exact tail of the first noise, in both directions"
    name: ClassVar[str] = "outlier-noisy"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.outlier-noisy", "Theorem 16, sharp", f"{LUI_PASS}, Example 5; {HERE}"),
        summary="noise for all, more noise on small values (example 5)",
        example="`k=100` `epsilon=1` `alpha=10`",
        needs=("k", "epsilon"),
        one_of=("alpha", "offset", "delta"),
    )
    k: int
    epsilon: Fraction
    offset: int
    delta: Fraction

    def __post_init__(self) -> None:
        noise_rate(self.epsilon / self.k, "epsilon/k")

    def comparable(self, counts: Sequence[int]) -> Sequence[int]:
        return () if is_wide((self.epsilon / self.k,)) else counts[:MOST_COMPARED]

    def law_size(self, count: int) -> int:
        return self._stairs.law_size(count)
