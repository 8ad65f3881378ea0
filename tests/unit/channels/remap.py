"""The best answer to a published value, for somebody with a prior on the count and a loss.

The warped channel publishes J, the most likely count and seldom the best answer: who believes that small counts are
common, and pays for every person by which the answer is off, should answer less than a large J. For counts 0..n with
prior weights pi and a loss L(count, answer), the best answer to an outcome j is the y in 0..n with the smallest

    R(j, y) = sum over c of pi(c) f_c(j) L(c, y).

*Finitely many outcomes.* For every j >= n and every c <= n, f_c(j) = w_j e^-(E(j) - E(c)) = (w_j e^-E(j)) e^E(c), and
the first factor does not depend on c. So all the outcomes j >= n have the same ratios of likelihoods between the counts
and the same best answer, and are one outcome, "n or more", with P(J >= n | c) = b_n e^-(E(n) - E(c)). For j < n the
factor w_j is left out of R in the same way.

*Ties are proved.* What remains of R(j, y) - R(j, y') is a sum of rational multiples of e^x at rational x. By the
theorem of Lindemann and Weierstrass the numbers e^x, for different rational x, are linearly independent over the
rationals: the sum is 0 only if for each x the multiples of e^x add up to 0, which is checked in Fractions. If they do
not, balls of growing precision find its sign, and this ends. So the answers are the best ones, and of equals the
smallest: nothing is rounded.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from hubbub.channels.mechanisms.warped import Warped
from hubbub.errors import WrongUse
from hubbub.numeric.exact import PRECISION, Exact, ball, exp, precision, rational

Penalty: TypeAlias = Literal["absolute", "squared", "exact"] | Callable[[int, int], Exact]
"""What an answer costs: a name (``exact``: 1 unless the answer is the count), or a function of count and answer."""

Terms: TypeAlias = tuple[tuple[Fraction, int], ...]
"""A sum of m e^x as pairs (x, m)."""


@dataclass(frozen=True, slots=True)
class Remap:
    """answers[j] is the best answer to the published value j, and the last one to all larger values too.

    Values that are hidden are published as 0 and have one answer. `risk` encloses the expected loss of these answers,
    with the count drawn from the prior and the value from the channel.
    """

    answers: tuple[int, ...]
    risk: arb = field(compare=False)

    def apply(self, values: ArrayLike) -> NDArray[np.int64]:
        """The answers to published values (:attr:`hubbub.channels.protocol.Published.values`)."""
        return np.take(np.array(self.answers, dtype=np.int64), np.asarray(values), mode="clip")


def best_remap(channel: Warped, prior: Sequence[Exact], loss: Penalty = "absolute") -> Remap:
    """The best answers for counts 0..n with `prior` weights (exact; they need not sum to one), n = len(prior) - 1.

    Guarantee: an answer depends on nothing but the published value, the curve, the prior and the loss, so the answers
    keep every promise of the channel (post-processing) and cost nothing. No function of the published value with
    answers in 0..n has a smaller expected loss; by Theorem W2 no outlier private mechanism for the curve with
    delta = 0 has, if the loss never falls as the answer moves away from the count.
    """
    weights, price = prior_weights(prior), penalty(loss)
    n = len(weights) - 1
    risks = _risks(loss, price, n)
    first = 0 if channel.show_above is None else channel.show_above + 1
    answers, risk = [n] * (max(n, first) + 1), arb(0)
    believed = [ball(weight) for weight in weights]
    for outcome in _outcomes(channel, n):
        row = risks([weight * mass for weight, mass in zip(believed, outcome.likelihoods, strict=True)])
        best = _smallest(row, partial(_order, weights, outcome.terms, price))
        high = min(outcome.high, len(answers) - 1)
        answers[outcome.low : high + 1] = [best] * (high + 1 - outcome.low)
        risk += outcome.factor * row[best]
    return Remap(tuple(answers), risk / ball(sum(weights)))


def prior_weights(prior: Sequence[Exact]) -> list[Fraction]:
    """The weights of the counts 0, 1, 2, ..., checked."""
    weights = [rational(weight, "a prior weight") for weight in prior]
    if not any(weights) or min(weights) < 0:
        raise WrongUse(
            "the weights of a prior must be at least 0 and not all of them 0; list one for each count from 0 on"
        )
    return weights


def penalty(loss: Penalty) -> Callable[[int, int], Fraction]:
    """The loss of (count, answer) as a function."""
    if callable(loss):
        return lambda count, answer: rational(loss(count, answer), "a loss")
    named: dict[str, Callable[[int, int], Fraction]] = {
        "absolute": lambda count, answer: Fraction(abs(count - answer)),
        "squared": lambda count, answer: Fraction((count - answer) ** 2),
        "exact": lambda count, answer: Fraction(count != answer),
    }
    if loss not in named:
        raise WrongUse(f"a loss is one of {', '.join(named)}, or a function of count and answer, not {loss[:40]!r}")
    return named[loss]


# --- outcomes ---------------------------------------------------------------------------------------------------

_ENDLESS: Final = 2**63


class _Outcome(NamedTuple):
    """The published values low..high as one outcome: its probability at a count c is factor * likelihoods[c]."""

    low: int
    high: int
    factor: arb
    terms: Callable[[int], Terms]  # c -> likelihoods[c], exactly
    likelihoods: list[arb]


def _outcomes(channel: Warped, n: int) -> Iterator[_Outcome]:
    """All that can be published for the counts 0..n."""
    first = 0 if channel.show_above is None else channel.show_above + 1
    noisy = n if channel.cap is None else min(n, channel.cap)  # counts above it are published as they are
    if channel.curve.limit == 0:
        yield _outcome(0, _ENDLESS, arb(1), lambda c: _CERTAIN, n)
        return
    if first:
        yield _hidden(channel, first, n)
    losses = [channel.total_loss(c) for c in range(noisy + 1)]
    falls, rises = [exp(-loss) for loss in losses], [exp(loss) for loss in losses]

    def visible_outcome(j: int, high: int, factor: arb) -> _Outcome:
        here = channel.total_loss(j)
        fall, rise = exp(-here), exp(here)
        masses = [rises[c] * fall if c <= j else falls[c] * rise for c in range(noisy + 1)]
        return _Outcome(
            j,
            high,
            factor,
            lambda c: ((-abs(losses[c] - here), 1),) if c <= noisy else (),
            masses + [arb(0)] * (n - noisy),
        )

    or_more = n if noisy == n else noisy + 1
    for j in range(first, or_more):
        yield visible_outcome(j, j, channel.weight(j).value)
    if noisy == n and (channel.cap is None or max(n, first) <= channel.cap):
        yield visible_outcome(max(n, first), _ENDLESS, _b(channel, max(n, first)))
    for j in range(max(first, noisy + 1), n + 1):
        yield _outcome(j, j, arb(1), partial(_only, j), n)


def _hidden(channel: Warped, first: int, n: int) -> _Outcome:
    """J < first, that is J <= T = first - 1. With a = e^-epsilon(first) and b = 1/(1 + a), its probability is

    b e^-(E(c) - E(T)) for c >= T, and 1 - b e^-(E(first) - E(c)) = b (1 + a - e^-(E(first) - E(c))) for c < T.
    """
    if channel.cap is not None and first > channel.cap:
        return _outcome(0, first - 1, arb(1), lambda c: _CERTAIN if c < first else (), n)
    epsilon, edge = channel.curve.at(first), channel.total_loss(first)
    assert isinstance(epsilon, Fraction)

    def terms(c: int) -> Terms:
        if channel.cap is not None and c > channel.cap:
            return ()
        here = channel.total_loss(c)
        if c >= first - 1:
            return ((edge - epsilon - here, 1),)
        return (Fraction(0), 1), (-epsilon, 1), (here - edge, -1)

    return _outcome(0, first - 1, _b(channel, first), terms, n)


_CERTAIN: Final[Terms] = ((Fraction(0), 1),)


def _only(j: int, c: int) -> Terms:
    return _CERTAIN if c == j else ()


def _outcome(low: int, high: int, factor: arb, terms: Callable[[int], Terms], n: int) -> _Outcome:
    masses = [sum((m * exp(x) for x, m in terms(c)), arb(0)) for c in range(n + 1)]
    return _Outcome(low, high, factor, terms, masses)


def _b(channel: Warped, m: int) -> arb:
    """b_m, below the first infinite step."""
    epsilon = channel.curve.at(m)
    assert isinstance(epsilon, Fraction)
    return 1 / (1 + exp(-epsilon)) if m else arb(1)


# --- the smallest risk ------------------------------------------------------------------------------------------


def _risks(loss: Penalty, price: Callable[[int, int], Fraction], n: int) -> Callable[[Sequence[arb]], list[arb]]:
    """Turns weights of the counts into the risks of the answers 0..n; for the named losses in O(n) steps."""
    if loss == "absolute":
        return _absolute
    if loss == "squared":
        return _squared
    if loss == "exact":
        return _exact
    table = [[ball(price(c, y)) for c in range(n + 1)] for y in range(n + 1)]
    return lambda weights: [sum((a * b for a, b in zip(line, weights, strict=True)), arb(0)) for line in table]


def _absolute(weights: Sequence[arb]) -> list[arb]:
    """One more in the answer costs one for each count at or below it and saves one for each above."""
    total, passed = sum(weights, arb(0)), arb(0)
    risks = [sum((c * weight for c, weight in enumerate(weights)), arb(0))]
    for weight in weights[:-1]:
        passed += weight
        risks.append(risks[-1] + 2 * passed - total)
    return risks


def _squared(weights: Sequence[arb]) -> list[arb]:
    zeroth, first, second = (sum((c**i * weight for c, weight in enumerate(weights)), arb(0)) for i in range(3))
    return [second - 2 * y * first + y * y * zeroth for y in range(len(weights))]


def _exact(weights: Sequence[arb]) -> list[arb]:
    total = sum(weights, arb(0))
    return [total - weight for weight in weights]


def _smallest(risks: Sequence[arb], order: Callable[[int, int], int]) -> int:
    """The smallest of the answers with the least risk; `order` decides where the balls do not."""
    best = min(range(len(risks)), key=lambda y: risks[y].mid())  # nearly always the one, so that balls tell it apart
    for y in range(len(risks)):
        if y == best or risks[y] > risks[best]:
            continue
        sign = order(y, best)
        if sign < 0 or (sign == 0 and y < best):
            best = y
    return best


def _order(
    weights: Sequence[Fraction], terms: Callable[[int], Terms], price: Callable[[int, int], Fraction], y: int, z: int
) -> int:
    """The sign of the risk of y minus the risk of z."""
    sums: dict[Fraction, Fraction] = defaultdict(Fraction)
    for c, weight in enumerate(weights):
        difference = weight * (price(c, y) - price(c, z))
        for x, m in terms(c) if difference else ():
            sums[x] += m * difference
    if not any(sums.values()):
        return 0
    bits = PRECISION
    while True:
        with precision(bits):
            total = sum((ball(m) * exp(x) for x, m in sums.items()), arb(0))
            if total < 0 or total > 0:
                return -1 if total < 0 else 1
        bits *= 2
