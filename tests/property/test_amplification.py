"""For all small cases: Theorem A is never below the truth, and equal to it where it says so.

The truth comes from outside: a linear program over all mechanisms (an event Y of the release on each data set is a
variable), brute force over class sizes in floats, and samples whose rates differ from person to person.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import binom

from hubbub.numeric.exact import upper
from hubbub.sampling.amplification import crowd_blending, delta_at, epsilon_at, exact_or_suppressed, robust
from hubbub.sampling.sampled_crowd import Case, worst

Floats = NDArray[np.float64]

SOLVER = 1e-7  # how exactly the linear programs are solved
ROUNDING = 1e-9  # of the floats that brute force computes with

rates = st.integers(1, 9).map(lambda i: Fraction(i, 10))
losses = st.sampled_from([Fraction(text) for text in ("0", "0.1", "0.3", "0.5", "1", "2")])
epsilons = st.integers(0, 150).map(lambda i: Fraction(i, 100))
crowds = st.integers(2, 5)


def directions(own: float, epsilon: float) -> tuple[float, float, float]:
    """g, w and g' (infinite where w is 0)."""
    w = max(own - (1 - own) * math.expm1(epsilon), 0.0)
    return 1 + math.expm1(epsilon) / own, w, own * math.exp(epsilon) / w if w else math.inf


# --- all mechanisms, by linear programs -------------------------------------------------------------------------


class Mechanisms:
    """All mechanisms on data sets of one t or none and up to n + 1 of the others, as far as one event sees them.

    x[m] and y[m] are the probabilities of the event without and with t, beside m others. t and the others blend, with
    loss `blending`; below K people each of them can leave, with loss `removal`. The event's complement counts as well.
    """

    def __init__(self, n: int, crowd: int, removal: float, blending: float) -> None:
        self.n = n
        self.rows: list[Floats] = []
        self.limits: list[float] = []
        for m in range(n + 1):
            self.close(self.y(m), m + 1, blending)
            if m + 1 < crowd:
                self.close(self.y(m), m, removal)  # t leaves m + 1 people
            if 1 <= m < crowd:
                self.close(m, m - 1, removal)  # one of m others leaves
            if 1 <= m < crowd - 1:
                self.close(self.y(m), self.y(m - 1), removal)

    def y(self, m: int) -> int:
        return self.n + 2 + m

    def close(self, i: int, j: int, epsilon: float) -> None:
        factor = math.exp(epsilon)
        for a, b in ((i, j), (j, i)):
            row = np.zeros(2 * self.n + 3)
            row[a], row[b] = 1, -factor  # v_a <= e^epsilon v_b, and 1 - v_b <= e^epsilon (1 - v_a) turned round
            self.rows.append(row)
            self.limits.append(0.0)
            row = np.zeros(2 * self.n + 3)
            row[a], row[b] = -1, factor
            self.rows.append(row)
            self.limits.append(factor - 1)

    def largest(self, without: Floats, with_: Floats) -> float:
        """The largest sum of without[m] x[m] + with_[m] y[m]."""
        goal = np.zeros(2 * self.n + 3)
        goal[: self.n + 1], goal[self.n + 2 :] = -without, -with_
        found: Any = linprog(goal, A_ub=np.array(self.rows), b_ub=np.array(self.limits), bounds=(0, 1))
        return max(-float(found.fun), 0.0)

    def delta(self, p: float, own: float, epsilon: float) -> float:
        b = binom.pmf(np.arange(self.n + 1), self.n, p)
        g, w, g_low = directions(own, epsilon)
        joining = own * self.largest(-g * b, b)
        return max(joining, w * self.largest(b, -g_low * b) if w else 0.0)


def over_class_sizes(case: Case, epsilon: Fraction) -> float:
    """The largest delta of any mechanism, over class sizes around the worst and below."""
    n = worst(case, epsilon).others
    sizes = {0, 1, case.crowd - 1, case.crowd, n // 2, max(n - 1, 0), n, n + 1, n + 4}
    kinds = [Mechanisms(m, case.crowd, float(case.removal), float(case.blending)) for m in sorted(sizes) if m <= 60]
    return max(kind.delta(float(case.rate), float(case.own), float(epsilon)) for kind in kinds)


@settings(max_examples=40, deadline=None)
@given(rate=rates, crowd=crowds, loss=losses, epsilon=epsilons)
def test_no_mechanism_is_worse_than_theorem_a(rate: Fraction, crowd: int, loss: Fraction, epsilon: Fraction) -> None:
    found = delta_at(crowd_blending(crowd, loss, rate), epsilon)
    case = Case(rate=rate, own=rate, crowd=crowd, removal=loss, blending=loss)
    truth = over_class_sizes(case, epsilon)
    assert truth <= float(found.delta) + SOLVER
    if found.worst_class_size <= 60:  # and some mechanism is as bad, at every epsilon
        assert truth >= float(found.delta) - SOLVER


@settings(max_examples=25, deadline=None)
@given(
    rate=rates,
    own=st.sampled_from([Fraction(1, 2), Fraction(1)]),
    crowd=crowds,
    removal=losses,
    blending=losses,
    epsilon=epsilons,
)
def test_nor_with_any_two_losses_and_any_rate_of_ones_own(
    rate: Fraction, own: Fraction, crowd: int, removal: Fraction, blending: Fraction, epsilon: Fraction
) -> None:
    case = Case(rate=rate, own=own, crowd=crowd, removal=removal, blending=blending)
    assert over_class_sizes(case, epsilon) <= float(upper(worst(case, epsilon).delta)) + SOLVER


# --- all class sizes, by brute force ----------------------------------------------------------------------------


def closest(u: Floats, v: Floats, g: float, loss: float) -> Floats:
    """f_e(u, v) from its definition: the best of the extreme points of e-close pairs."""
    kappa = 1 / (1 + math.exp(-loss))
    found: Floats = np.maximum(np.maximum(u - g * v, kappa * (u - g * math.exp(-loss) * v)), 0.0)
    return found


def brute(n: int, case: Case, epsilon: float) -> float:
    """joining and leaving for n others, term by term as Theorem A prints them."""
    p, own, crowd, loss = float(case.rate), float(case.own), case.crowd, float(case.blending)
    b = np.append(binom.pmf(np.arange(n + 1), n, p), 0.0)
    g, w, g_low = directions(own, epsilon)
    first = min(crowd - 1, n + 1)
    stays = math.exp(-float(case.removal))
    head = max(float(b[:first].sum()) - g * stays * float(b[: first + 1].sum()), 0.0) / (1 + stays)
    joining = own * (head + float(closest(b[first:-1], b[first + 1 :], g, loss).sum()))
    if not w:
        return joining
    block = closest(np.array([b[:crowd].sum()]), np.array([b[: crowd - 1].sum()]), g_low, loss)
    rest = closest(b[crowd:], b[crowd - 1 : -1], g_low, loss) if n >= crowd else np.zeros(1)
    return max(joining, w * float(block.sum() + rest.sum()))


@settings(max_examples=60, deadline=None)
@given(
    rate=st.integers(2, 80).map(lambda i: Fraction(i, 100)),
    crowd=st.integers(2, 25),
    loss=losses,
    epsilon=st.integers(1, 200).map(lambda i: Fraction(i, 100)),
    own=st.sampled_from([None, Fraction(1)]),
)
def test_the_worst_class_is_found(
    rate: Fraction, crowd: int, loss: Fraction, epsilon: Fraction, own: Fraction | None
) -> None:
    case = Case(rate=rate, own=rate if own is None else own, crowd=crowd, removal=loss, blending=loss)
    found = worst(case, epsilon)
    sizes = sorted(
        {*range(0, min(2 * crowd, 60)), *np.linspace(0, 3 * found.others + 50, 60, dtype=int).tolist(), found.others}
    )
    truth = max(brute(n, case, float(epsilon)) for n in sizes)
    assert truth <= float(upper(found.delta)) * (1 + ROUNDING) + 1e-15
    assert brute(found.others, case, float(epsilon)) >= float(upper(found.delta)) * (1 - 1e-6) - 1e-15


@settings(max_examples=25, deadline=None)
@given(rate=rates, crowd=st.integers(2, 30), delta=st.integers(2, 12))
def test_an_epsilon_is_sufficient_at_every_class_size(rate: Fraction, crowd: int, delta: int) -> None:
    target = Fraction(1, 10**delta)
    setting = exact_or_suppressed(crowd, rate)
    found = epsilon_at(setting, target)
    if not isinstance(found.epsilon, Fraction):
        assert rate**crowd > target
        return
    case, top = setting.cases[0], 3 * found.worst_class_size + 40
    for n in {*range(0, top, max(top // 50, 1)), found.worst_class_size}:
        assert brute(n, case, float(found.epsilon)) <= float(target) * (1 + 1e-7)


# --- rates that differ ------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    shares=st.lists(st.integers(0, 100), min_size=0, max_size=40),
    crowd=st.integers(2, 8),
    exempt=st.integers(0, 3),
    epsilon=epsilons,
    high=st.sampled_from([Fraction(1, 10), Fraction(3, 10), Fraction(6, 10)]),
)
def test_uneven_rates_are_no_worse_than_the_highest(
    shares: list[int], crowd: int, exempt: int, epsilon: Fraction, high: Fraction
) -> None:
    # Suppression below k, with others of rates up to `high` and exempt people who are surely there: exact curves.
    k = crowd + exempt
    claimed = float(delta_at(robust(k, 0, high, 1 if exempt else None, exempt), epsilon).delta)
    law = np.ones(1)
    for share in shares:
        p = float(high) * share / 100
        law = np.convolve(law, [1 - p, p])
    for own, surely in ((float(high), exempt), (1.0, exempt - 1)):
        if surely < 0:
            continue
        counts = np.concatenate([np.zeros(surely), law])  # how many others are in the sample
        hidden = [counts[:k].sum(), counts[: k - 1].sum()]
        shown = np.append(counts[k:], 0.0) if len(counts) > k else np.zeros(1)
        with_t = counts[k - 1 :] if len(counts) >= k else np.zeros(1)
        without = np.array([hidden[0], *shown, *np.zeros(max(len(with_t) - len(shown), 0))])
        with_ = np.array([hidden[1], *with_t, *np.zeros(max(len(shown) - len(with_t), 0))])
        g, w, g_low = directions(own, float(epsilon))
        joining = own * np.maximum(with_ - g * without, 0).sum()
        leaving = w * np.maximum(without - g_low * with_, 0).sum() if w else 0.0
        assert max(joining, leaving) <= claimed * (1 + ROUNDING) + 1e-15


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 100), min_size=3, max_size=3), rates, rates, epsilons)
def test_every_rate_is_worst_at_a_corner(
    seed: int, shares: list[int], high: Fraction, own: Fraction, epsilon: Fraction
) -> None:
    """Any mechanism with two outcomes on every set of three others, with t and without: no coupling, no class."""
    chances = np.random.default_rng(seed).random((2, 2, 2, 2))  # with t?, is the first there?, the second?, the third?

    def delta(others: list[float]) -> float:
        law = chances
        for rate in reversed(others):
            law = law @ np.array([1 - rate, rate])
        without, with_t = np.array([law[0], 1 - law[0]]), np.array([law[1], 1 - law[1]])
        mixed, factor = float(own) * with_t + (1 - float(own)) * without, math.exp(epsilon)
        return float(max(np.maximum(mixed - factor * without, 0).sum(), np.maximum(without - factor * mixed, 0).sum()))

    inside = [float(high) * share / 100 for share in shares]
    corners = [[float(high) * (number >> i & 1) for i in range(3)] for number in range(8)]
    assert delta(inside) <= max(map(delta, corners)) + ROUNDING
