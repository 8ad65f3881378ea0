"""The warped channel with its best remap against the best pure mechanism that a linear program finds, and Theorem W2.

Each comparison has a control: a kernel that is slightly another one does not meet the optimum.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray

from hubbub.channels.law import SUPPRESSED
from hubbub.channels.mechanisms.warped import Warped
from hubbub.errors import FloatRefused, WrongUse
from hubbub.guarantees.curve import Curve, Piece, read
from hubbub.numeric.exact import Infinite, ball, exp
from tests.unit.channels.optimum import cheapest, optimum
from tests.unit.channels.remap import Penalty, best_remap, penalty

Matrix = NDArray[np.float64]

N = 12  # counts and answers are 0..N
CLOSE = 1e-9  # how near the optimum must be
APART = 1e-6  # how far a wrong kernel must be


def random_curve(seed: int, n: int = N) -> Curve:
    """A loss of its own for each crowd up to n, growing."""
    draw = random.Random(f"curve {seed}")
    losses = sorted(Fraction(draw.randint(1, 1500), 1000) for _ in range(n))
    return Curve(tuple(Piece(c, loss) for c, loss in enumerate(losses, 1)))


CURVES = {
    "flat": read("0.5").curve,
    "two steps": read("1:0.1,6:1").curve,
    "slope": read("slope:0.07").curve,
    "capped slope": read("slope:0.1<=0.6").curve,
    "flat, then slope": read("1:0.05,5:0.3+slope:0.2").curve,
    "steep": read("slope:0.6").curve,
    "with 0": read("1:0,4:0.5").curve,
    "with infinity": read("1:0.3,8:inf").curve,
    "with both": read("1:0,3:0.2,6:0.9,10:inf").curve,
    "random 1": random_curve(1),
    "random 2": random_curve(2),
}
PRIORS = {
    "uniform": [Fraction(1)] * (N + 1),
    "many small": [Fraction(1, k + 1) for k in range(N + 1)],
    "two peaks": [Fraction(1, 1 + (k - 3) ** 4) + Fraction(1, 2 + (k - N + 2) ** 2) for k in range(N + 1)],
    "only some": [Fraction(k % 3) for k in range(N + 1)],
}


def too_little_is_worse(count: int, answer: int) -> int:
    return 3 * (count - answer) if answer < count else (answer - count) ** 2


LOSSES: dict[str, Penalty] = {
    "absolute": "absolute",
    "squared": "squared",
    "exact": "exact",
    "lopsided": too_little_is_worse,
}


# --- kernels ----------------------------------------------------------------------------------------------------


def kernel(curve: Curve, n: int = N) -> Matrix:
    """count, min(J, n) -> probability, from the channel's own laws."""
    laws = [Warped(curve).law(count) for count in range(n + 1)]
    return np.array([[float(law.mass(j)) for j in range(n)] + [float(law.at_least(n))] for law in laws])


def rows_normalised(curve: Curve, n: int = N) -> Matrix:
    """e^-|E(c) - E(j)|, each row divided by its sum: what one might take for the warped law."""
    position = np.cumsum([0.0, *(float(curve.at(c)) for c in range(1, n + 1))])  # type: ignore[arg-type]
    raw = np.exp(-np.abs(np.subtract.outer(position, position)))
    normalised: Matrix = raw / raw.sum(axis=1, keepdims=True)
    return normalised


def five_per_cent_less(curve: Curve, n: int = N) -> Matrix:
    """The right law of a curve that is 5 % lower: private, and not the best."""
    factor = Fraction(19, 20)
    return kernel(Curve(tuple(Piece(p.start, p.value * factor, p.rate * factor) for p in curve.pieces)), n)  # type: ignore[operator]


def risk_of(channel: Matrix, prior: list[Fraction], loss: Penalty) -> float:
    """The expected loss of the best answer to each column, by trying all."""
    price, n = penalty(loss), len(prior) - 1
    cost = np.array([[float(prior[c] * price(c, y) / sum(prior)) for y in range(n + 1)] for c in range(n + 1)])
    return float((channel.T @ cost).min(axis=1).sum())


# --- the optimum is met -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("curve", CURVES)
def test_the_best_remap_meets_the_optimum(curve: str, prior: str, loss: str) -> None:
    remapped = float(best_remap(Warped(CURVES[curve]), PRIORS[prior], LOSSES[loss]).risk)
    best = optimum(CURVES[curve], PRIORS[prior], LOSSES[loss]).risk
    assert abs(remapped - best) < CLOSE
    assert abs(remapped - risk_of(kernel(CURVES[curve]), PRIORS[prior], LOSSES[loss])) < 1e-12


@pytest.mark.parametrize("wrong", [rows_normalised, five_per_cent_less])
@pytest.mark.parametrize("prior", ["uniform", "many small", "two peaks"])
@pytest.mark.parametrize("curve", ["flat", "two steps", "slope", "capped slope", "random 1"])
def test_a_wrong_kernel_does_not(curve: str, prior: str, wrong: Callable[[Curve], Matrix]) -> None:
    best = optimum(CURVES[curve], PRIORS[prior]).risk
    assert abs(risk_of(wrong(CURVES[curve]), PRIORS[prior], "absolute") - best) > APART


@pytest.mark.parametrize("curve", CURVES)
def test_the_optimum_is_a_private_mechanism(curve: str) -> None:
    x = optimum(CURVES[curve], PRIORS["many small"]).mechanism
    assert np.abs(x.sum(axis=1) - 1).max() < CLOSE
    assert x.min() >= 0
    for c in range(1, N + 1):
        loss = CURVES[curve].at(c)
        if not isinstance(loss, Infinite):
            a = math.exp(-loss)
            assert max((a * x[c] - x[c - 1]).max(), (a * x[c - 1] - x[c]).max()) < CLOSE


def test_best_remap_keeps_every_promise_of_the_channel() -> None:
    # Its Guarantee: the answers are a function of what was published, so their laws are as close as before.
    curve = CURVES["two steps"]
    answers = best_remap(Warped(curve), PRIORS["many small"]).answers
    laws = [Warped(curve).law(count) for count in range(N + 1)]
    merged = [[arb(0)] * (N + 1) for _ in laws]
    for row, law in zip(merged, laws, strict=True):
        for j, answer in enumerate(answers):
            row[answer] += law.at_least(j) if j == N else law.mass(j)
    slack = ball(1 + Fraction(1, 10**60))
    for c in range(1, N + 1):
        loss = curve.at(c)
        assert isinstance(loss, Fraction)
        for more, less in ((merged[c], merged[c - 1]), (merged[c - 1], merged[c])):
            assert all(x <= exp(loss) * y * slack for x, y in zip(more, less, strict=True) if not x.is_zero())


def test_what_the_prior_is_worth() -> None:
    # Theory, outlier privacy, section 4: for counts 0..600 with weights 1/(k + 1), the value itself is off by 26.0 on
    # average and the best answer by 13.07.
    curve, n = read("1:0.01,101:1").curve, 600
    prior = [Fraction(1, k + 1) for k in range(n + 1)]
    position = np.cumsum([0.0, *(float(curve.at(c)) for c in range(1, n + 200))])  # type: ignore[arg-type]
    b = 1 / (1 + np.exp(-np.diff(position)))  # b[m - 1] is b_m
    off = []
    for k in range(n + 1):  # E|J - k| is the sum of both tails
        above = b[k:] * np.exp(position[k] - position[k + 1 :])
        below = b[:k] * np.exp(position[:k] - position[k])
        off.append(above.sum() + below.sum())
    raw = float(np.average(off, weights=[float(weight) for weight in prior]))
    assert f"{raw:.1f}" == "26.0"
    assert f"{float(best_remap(Warped(curve), prior).risk):.2f}" == "13.07"


# --- the remap itself -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threshold", [0, 2, 7, 9, 12, 20])
@pytest.mark.parametrize("curve", CURVES)
def test_hidden_values_are_one_outcome(curve: str, threshold: int) -> None:
    channel = Warped(CURVES[curve], show_above=threshold)
    remap = best_remap(channel, PRIORS["two peaks"])
    top = max(N, threshold + 1)
    columns = []
    for law in map(channel.law, range(N + 1)):
        shown = [float(law.mass(j)) for j in range(threshold + 1, top)]
        columns.append([float(law.mass(0, SUPPRESSED)), *shown, float(law.at_least(top))])
    matrix = np.array(columns)
    assert abs(float(remap.risk) - risk_of(matrix, PRIORS["two peaks"], "absolute")) < 1e-12
    assert len(remap.answers) == top + 1
    assert len(set(remap.answers[: threshold + 1])) == 1


def test_a_curve_that_tells_nothing_or_everything() -> None:
    prior = PRIORS["many small"]
    nothing = best_remap(Warped(read("0").curve), prior)
    risks = [sum((p * abs(k - y) for k, p in enumerate(prior)), Fraction(0)) for y in range(N + 1)]
    assert set(nothing.answers) == {risks.index(min(risks))}
    assert nothing.risk.overlaps(ball(min(risks) / sum(prior, Fraction(0))))
    everything = best_remap(Warped(read("inf").curve), prior)
    assert everything.answers == tuple(range(N + 1))
    assert abs(everything.risk) < ball(Fraction(1, 10**60))


def test_ties_are_ties_and_nothing_else_is() -> None:
    # Seen 1, the counts 0 and 2 are equally likely, and all three answers have the same risk: the smallest wins. With
    # one part in 10^100 more for either of them, that one wins.
    channel, many = Warped(read("1/3").curve), 10**100
    assert best_remap(channel, [1, 0, 1]).answers[1] == 0
    assert best_remap(channel, [many + 1, 0, many]).answers[1] == 0
    assert best_remap(channel, [many, 0, many + 1]).answers[1] == 2
    assert best_remap(channel, ["0.5", "0", "1/2"], "squared").answers[1] == 1
    assert best_remap(channel, [1], "exact").answers == (0,)


def test_answers_to_published_values() -> None:
    remap = best_remap(Warped(read("1:0.1,6:1").curve), PRIORS["many small"])
    values = np.array([0, 3, N, N + 1, 2**62])
    assert remap.apply(values).tolist() == [remap.answers[min(int(j), N)] for j in values]


def test_wrong_use_gets_one_sentence() -> None:
    channel = Warped(read("1").curve)
    with pytest.raises(WrongUse, match="at least 0 and not all of them 0"):
        best_remap(channel, [1, -1, 2])
    with pytest.raises(WrongUse, match="at least 0 and not all of them 0"):
        best_remap(channel, [])
    with pytest.raises(FloatRefused, match="a prior weight must be exact"):
        best_remap(channel, [0.1, 0.9])  # type: ignore[list-item]
    with pytest.raises(FloatRefused, match="a loss must be exact"):
        best_remap(channel, [1, 1], lambda count, answer: 0.1 * abs(count - answer))  # type: ignore[arg-type, return-value]
    with pytest.raises(WrongUse, match="a loss is one of absolute, squared, exact"):
        best_remap(channel, [1, 1], "cubic")  # type: ignore[arg-type]
    with pytest.raises(WrongUse, match="square matrix"):
        cheapest(read("1").curve, np.zeros((2, 3)))


# --- Theorem W2 -------------------------------------------------------------------------------------------------

COUNTS = 8
W2_CURVES = {
    "flat": read("0.5").curve,
    "two steps": read("1:0.1,4:1").curve,
    "slope": read("slope:0.1").curve,
    "with 0": read("1:0,4:0.5").curve,
    "random": random_curve(3, COUNTS),
}
VERTICES = 40


def losses_of(curve: Curve) -> list[float]:
    """epsilon(1), ..., epsilon(COUNTS)."""
    return [float(curve.at(c)) for c in range(1, COUNTS + 1)]  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def vertices(name: str) -> list[Matrix]:
    """Private mechanisms that no others lie around: those which are cheapest for random costs."""
    draw = np.random.default_rng(len(name))
    size = COUNTS + 1
    return [cheapest(W2_CURVES[name], draw.normal(size=(size, size))) for _ in range(VERTICES)]


def dominating(x: Matrix, losses: list[float]) -> Matrix:
    """The post-processing X' of the proof: for each r, the orbit of T through P(X <= r | r)."""
    below = np.cumsum(x, axis=1)  # count k, r -> P(X <= r | k)
    orbits = np.ones_like(below)
    for r in range(len(x) - 1):
        orbits[r, r] = below[r, r]
        for k in range(r + 1, len(x)):
            a, before = math.exp(-losses[k - 1]), orbits[k - 1, r]
            orbits[k, r] = max(a * before, 1 - (1 - before) / a)
        for k in range(r, 0, -1):
            a, after = math.exp(-losses[k - 1]), orbits[k, r]
            orbits[k - 1, r] = min(after / a, 1 - (1 - after) * a)
    return np.diff(orbits, axis=1, prepend=0)


def sinh_rows(x: Matrix, losses: list[float]) -> tuple[float, float, float]:
    """How far the columns break the criterion for a post-processing of J: inside, in the first row, in the last."""
    e, s = np.array(losses)[:, None], np.sinh
    inside = s(e[1:]) * x[:-2] + s(e[:-1]) * x[2:] - s(e[:-1] + e[1:]) * x[1:-1]
    first, last = x[1] - np.exp(e[0]) * x[0], x[-2] - np.exp(e[-1]) * x[-1]
    return float(inside.max()), float(first.max()), float(last.max())


@pytest.mark.parametrize("name", W2_CURVES)
def test_every_pure_mechanism_is_dominated_at_every_count(name: str) -> None:
    losses = losses_of(W2_CURVES[name])
    strictly = 0
    for x in vertices(name):
        better = dominating(x, losses)
        assert better.min() > -CLOSE, "the orbits must not cross"
        theirs, ours = np.cumsum(x, axis=1), np.cumsum(better, axis=1)
        for k in range(COUNTS + 1):
            assert (ours[k, k:] > theirs[k, k:] - CLOSE).all(), "P(X' > r | k), r >= k"
            assert (ours[k, :k] < theirs[k, :k] + CLOSE).all(), "P(X' <= r | k), r < k"
        assert max(sinh_rows(better, losses)) < CLOSE, "a post-processing of J"
        strictly += float(np.abs(ours - theirs).max()) > 0.01
    assert strictly > VERTICES // 2, "random mechanisms are worse, or nothing was tested"


@pytest.mark.parametrize("name", ["flat", "two steps", "slope", "random"])
def test_the_dominating_mechanism_is_a_post_processing_of_j_and_not_of_a_wrong_kernel(name: str) -> None:
    curve = W2_CURVES[name]
    right, wrong = kernel(curve, COUNTS), five_per_cent_less(curve, COUNTS)
    refused = 0
    for x in vertices(name):
        better = dominating(x, losses_of(curve))
        how = np.linalg.solve(right, better)  # published value, answer -> probability
        assert how.min() > -CLOSE
        assert np.abs(how.sum(axis=1) - 1).max() < CLOSE
        refused += bool(np.linalg.solve(wrong, better).min() < -APART)
    assert refused > VERTICES // 2


@pytest.mark.parametrize("name", W2_CURVES)
def test_the_sinh_criterion_tells_post_processings_from_other_mechanisms(name: str) -> None:
    losses, draw = losses_of(W2_CURVES[name]), np.random.default_rng(7)
    j = kernel(W2_CURVES[name], COUNTS)
    for _ in range(VERTICES):
        answers = draw.dirichlet(np.full(COUNTS + 1, 0.3), size=COUNTS + 1)  # published value, answer -> probability
        assert max(sinh_rows(j @ answers, losses)) < CLOSE
    others = sum(max(sinh_rows(x, losses)) > APART for x in vertices(name))
    assert others > VERTICES // 4, "a private mechanism need not be a post-processing of J"


def test_the_sinh_criterion_needs_its_boundary_rows() -> None:
    # e^E and e^-E satisfy the inner rows with equality, so this column breaks one boundary row and nothing else.
    losses = losses_of(W2_CURVES["two steps"])
    up = np.exp(np.cumsum([0.0, *losses]))[:, None]
    inside, first, last = sinh_rows(up - 0.5 / up, losses)
    assert (inside < CLOSE, first > 0.01, last < 0) == (True, True, True)
    down = up[-1] / up
    inside, first, last = sinh_rows(down - 0.5 / down, losses)
    assert (inside < CLOSE, first < 0, last > 0.01) == (True, True, True)
