"""For all small cases: a mechanism's own curve, sample and sanitize, and the searches of a plan."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from hubbub.channels.custom_curve import own_delta_at
from hubbub.channels.mechanisms.exact_above import NoisyBelow
from hubbub.channels.profile import exact_delta
from hubbub.channels.subsample import Subsampled
from hubbub.numeric.exact import lower, upper
from hubbub.plan.targets import Target, Want, largest_rate, reaches, smallest_crowd
from hubbub.sampling.amplification import crowd_blending, delta_at
from hubbub.sampling.sanitize import Blank, inside, outside

rates = st.integers(1, 9).map(lambda i: Fraction(i, 10))
losses = st.sampled_from([Fraction(text) for text in ("0.1", "0.5", "1", "2")])
epsilons = st.integers(1, 60).map(lambda i: Fraction(i, 50))

SOLVER = 1e-7


@settings(max_examples=30, deadline=None)
@given(rate=rates, k=st.integers(2, 6), loss=losses, epsilon=epsilons, tagged=st.booleans())
def test_a_mechanisms_own_curve_is_the_largest_over_all_classes(
    rate: Fraction, k: int, loss: Fraction, epsilon: Fraction, tagged: bool
) -> None:
    found = own_delta_at(k, loss, rate, epsilon, tagged=tagged)
    channel = Subsampled(rate, NoisyBelow(k, loss, tagged))
    sizes = {*range(1, 14), found.worst_class_size, found.worst_class_size + 1, found.worst_class_size + 2, 30, 60}
    truth = [exact_delta(channel, n, epsilon) for n in sorted(sizes) if n >= 1]
    assert all(lower(delta) <= found.delta for delta in truth)
    reached = max(upper(delta) for delta in truth)
    assert found.delta <= reached * (1 + Fraction(1, 10**6)) + Fraction(1, 10**25)
    # Theorem A is about every crowd-blending mechanism, so also about this one.
    assert found.delta <= delta_at(crowd_blending(k, loss, rate), epsilon).delta


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 60),
    share=st.integers(1, 60),
    z=st.integers(1, 300).map(lambda i: Fraction(i, 100)),
    blank=st.sampled_from(list(Blank)),
)
def test_what_is_spent_inside_is_never_more_than_is_promised_outside(
    n: int, share: int, z: Fraction, blank: Blank
) -> None:
    k = min(share, n)
    spent = inside(k, n, z, blank=blank)
    back = outside(k, n, spent.epsilon_dp, blank=blank)
    assert back.epsilon_zk <= z
    more = outside(k, n, spent.epsilon_dp * Fraction(1001, 1000), blank=blank)
    assert more.epsilon_zk > z
    assert back.epsilon_zk <= back.paper_epsilon or blank is not Blank.ANY


def best_simulated(n: int, k: int, epsilon: float) -> float:
    """The largest Pr[San(D) in Y] - e^E Pr[San(D with a blank) in Y] at A1's E, over all symmetric mechanisms.

    Rows are 0, 1 or blank; what a mechanism sees is how many of each are among its k rows. Its variables are the
    probabilities of one event, and rows that differ in one place are epsilon-close.
    """
    from itertools import combinations

    states = [(ones, blanks) for ones in range(k + 1) for blanks in range(min(1, k - ones) + 1)]
    place = {state: i for i, state in enumerate(states)}
    factor = math.exp(epsilon)
    rows, limits = [], []
    for a in states:
        for b in states:
            zeros = k - a[0] - a[1], k - b[0] - b[1]
            moved = abs(a[0] - b[0]) + abs(a[1] - b[1]) + abs(zeros[0] - zeros[1])
            if moved == 2:
                row = np.zeros(len(states))
                row[place[a]], row[place[b]] = 1, -factor
                rows.append(row)
                limits.append(0.0)
                turned = np.zeros(len(states))  # the complement of the event: 1 - b <= e^epsilon (1 - a)
                turned[place[a]], turned[place[b]] = factor, -1
                rows.append(turned)
                limits.append(factor - 1)
    e_zk = math.log1p(k / n * (factor - 1))
    worst = 0.0
    for ones in range(1, n + 1):
        data = [1] * ones + [0] * (n - ones)
        with_, without = np.zeros(len(states)), np.zeros(len(states))
        for chosen in combinations(range(n), k):
            weight = 1 / math.comb(n, k)
            with_[place[(sum(data[i] for i in chosen), 0)]] += weight
            known = sum(data[i] for i in chosen if i != 0)
            without[place[(known, int(0 in chosen))]] += weight
        for first, second in ((with_, without), (without, with_)):
            goal = first - math.exp(e_zk) * second
            solved = linprog(-goal, A_ub=np.array(rows), b_ub=np.array(limits), bounds=(0, 1))
            worst = max(worst, -float(solved.fun))
    return worst


@settings(max_examples=12, deadline=None)
@given(n=st.integers(2, 5), k=st.integers(1, 5), epsilon=st.sampled_from(["0.3", "1", "2"]))
def test_theorem_a1_holds_for_every_symmetric_mechanism(n: int, k: int, epsilon: str) -> None:
    # A linear program over all mechanisms on k of n rows: none is worse than A1 says.
    assert best_simulated(n, min(k, n), float(epsilon)) <= SOLVER


@settings(max_examples=25, deadline=None)
@given(
    rate=rates,
    epsilon=st.integers(10, 200).map(lambda i: Fraction(i, 100)),
    digits=st.integers(2, 12),
    want=st.sampled_from([Want.ZERO_KNOWLEDGE, Want.DISTRIBUTIONAL]),
)
def test_the_searches_of_a_plan_end_at_the_edge(rate: Fraction, epsilon: Fraction, digits: int, want: Want) -> None:
    goal = Target.parse(want, epsilon, Fraction(1, 10**digits))
    k = smallest_crowd(goal, rate)
    assert reaches(goal, k, rate)
    assert k == 2 or not reaches(goal, k - 1, rate)
    most = largest_rate(goal, k)
    assert most >= rate - Fraction(1, 10**5)
    assert reaches(goal, k, most)
