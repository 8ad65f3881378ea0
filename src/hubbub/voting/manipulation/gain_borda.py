"""Borda's count with three candidates: what every lie gains, from the law of the others' points by a Fourier transform.

Each of N others gives two, one and no points. The points of the first two candidates are a walk in the plane, whose
characteristic function is phi^N for that of one ballot; on a grid of M x M frequencies one inverse transform gives the
probability of every point modulo M. A lie changes the winner only where the best two are within two points of each
other. What is wrong with the sum over those K points is at most the sum of

    K N 2^-48 mean(r^(N-1))     phi is right to 2^-49, a product of complex numbers to 2^-51 (r = |phi| + 2^-48)
    sqrt(K) t |p|               the transform, t = 2^-47 log2(M^2) relative to the root |p| of the sum of squares
    2 exp(-h^2/(2N)) twice      points further than h = M/2 - 3 from the mean come back elsewhere (Hoeffding)

It rests on numpy's transform being right to t, some eight times what theory gives for it (a test looks).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.errors import WrongUse
from hubbub.numeric.exact import ball, precision
from hubbub.runtime.frozen import dataclass
from hubbub.voting.manipulation.beliefs import Belief, Ranking
from hubbub.voting.manipulation.gain_masses import Floats
from hubbub.voting.manipulation.gain_three import REPORTS, STATES_OF_THREE, Moves, gains_by
from hubbub.voting.manipulation.gain_winners import BORDA, Contest, Integers, points
from hubbub.voting.manipulation.question import Bounds, Solver

Complex: TypeAlias = NDArray[np.complex128]

MOST_VOTERS: Final = 20_001
"""A grid of some 2,800 x 2,800 frequencies: a few seconds, and 500 MB."""
QUICK_VOTERS: Final = 5_001

_REACH: Final = 10  # half of the grid in units of sqrt(N): what lies beyond has a chance of 4 exp(-50)
_NEAR: Final = 2  # points between the best two that a ballot can turn


@dataclass(frozen=True, slots=True)
class Points:
    """Where the others' points may be so close that a ballot matters: one row of three for each, and how likely."""

    scores: Integers
    mass: Floats
    error: Fraction  # of any sum of these masses, each taken at most once, up or down
    all: bool  # whether no point is left out for being far from the mean


def moves_of_borda(belief: Belief, voters: int, contest: Contest, truths: Sequence[Ranking]) -> Moves:
    """For every truth and lie, what it adds to the chance that `truth`'s first wins, and one of its first two.

    Guarantee: each pair is a lower and an upper bound of that difference, for complete ballots of three candidates,
    the others drawn independently from `belief`.
    """
    near = close_points(belief, voters - 1)
    shares = {report: _shares(near.scores + np.array(points(report, 3)), contest.order) for report in REPORTS}
    found: Moves = {}
    for truth in truths:
        found[truth] = {}
        for lie in REPORTS:
            if lie != truth:
                change = shares[lie] - shares[truth]
                corners = [change[:, list(truth[:first])].sum(axis=1) for first in (1, 2)]
                found[truth][lie] = tuple(_bounds(near, by) for by in corners)
    return found


POINTS_OF_THREE: Final = Solver(
    name=STATES_OF_THREE.name,
    way=STATES_OF_THREE.way,
    limits=STATES_OF_THREE.limits,
    fits=lambda question: question.ranks_all(3) and question.contest.kind == BORDA,
    is_quick=lambda question: question.voters <= QUICK_VOTERS,
    gains=lambda about, truths: gains_by(moves_of_borda(about.belief, about.voters, about.contest, truths)),
)


def _bounds(near: Points, change: Floats) -> Bounds:
    if near.all and not change.any():
        return Fraction(0), Fraction(0)
    total = Fraction(math.fsum((near.mass * change).tolist()))
    error = near.error + Fraction(1, 1 << 45) * Fraction(float(np.abs(near.mass * change).sum()))
    return total - error, total + error


def _shares(scores: Integers, order: Ranking | None) -> Floats:
    """Everybody's chance to win, for each row of points."""
    best = scores == scores.max(axis=1, keepdims=True)
    if order is None:
        return np.where(best, 1.0 / best.sum(axis=1, keepdims=True), 0.0)
    positions = np.where(best, np.array([order.index(c) for c in range(3)]), 3)
    return np.where(positions == positions.min(axis=1, keepdims=True), 1.0, 0.0)


def close_points(belief: Belief, others: int) -> Points:
    """The points at which a ballot may matter.

    Guarantee: each mass is the probability of its point, with an error that adds up to at most `error` over all.
    """
    if others + 1 > MOST_VOTERS:
        raise WrongUse(
            f"the points of {others + 1:,} voters are too many to go through (at most {MOST_VOTERS:,} voters); ask for "
            "a sample"
        )
    # Whole if it is small, else as wide as points are likely to go; in 5-smooth sizes transforms are quick.
    size = smooth(min(2 * others + 1, 2 * math.ceil(_REACH * math.sqrt(others)) + 8))
    law, noise = _plane(belief, others, size)
    mean = [round(others * sum(share * points(r, 3)[c] for r, share in belief.shares)) for c in range(2)]
    covers_all = size > 2 * others
    start = [0 if covers_all else centre - size // 2 for centre in mean]
    first = np.arange(start[0], start[0] + size)
    second = np.arange(start[1], start[1] + size)
    scores = np.stack(np.broadcast_arrays(first[:, None], second, 3 * others - first[:, None] - second), axis=-1)
    inside = ((scores >= 0) & (scores <= 2 * others)).all(axis=-1)
    ranked = np.sort(scores, axis=-1)
    close = inside & (ranked[..., 2] - ranked[..., 1] <= _NEAR)
    at_first, at_second = np.nonzero(close)
    mass = law[first[at_first] % size, second[at_second] % size]
    error = Fraction(len(mass)) * noise[0] + Fraction(math.isqrt(len(mass)) + 1) * noise[1]
    if not covers_all:
        error += 4 * _hoeffding(others, size // 2 - 3)
    return Points(scores=scores[close], mass=np.maximum(mass, 0.0), error=error, all=covers_all)


def _hoeffding(others: int, far: int) -> Fraction:
    """exp(-far^2/(2 others)), rounded up."""
    with precision(64):
        return Fraction(float((-ball(Fraction(far * far, 2 * others))).exp().upper()) * (1 + 2**-40))


def _plane(belief: Belief, others: int, size: int) -> tuple[Floats, tuple[Fraction, Fraction]]:
    """The law of the first two candidates' points modulo `size`; (most that an entry may lack, root of squares)."""
    turn = roots(size)
    at = np.arange(size)
    phi = np.zeros((size, size), dtype=np.complex128)
    for ranking, share in belief.shares:
        one, two = points(ranking, 3)[:2]
        phi += float(share) * turn[(one * at) % size][:, None] * turn[(two * at) % size]
    spread = float(np.exp((others - 1) * np.log(np.abs(phi) + 2.0**-48)).mean()) if others > 1 else 1.0
    law = np.fft.ifft2(power(phi, others)).real
    square = math.sqrt(float((law * law).sum()))
    each = Fraction(others, 1 << 48) * Fraction(1.01 * spread)
    return law, (each, Fraction(1.01 * square) * Fraction(2 * size.bit_length(), 1 << 47))


def power(base: Complex, exponent: int) -> Complex:
    """base^exponent by squaring, wrong by at most 2^-51 exponent, relative."""
    found, square = np.ones_like(base), base
    while exponent:
        if exponent & 1:
            found = found * square
        exponent >>= 1
        if exponent:
            square = square * square
    return found


def roots(size: int) -> Complex:
    """exp(-2 pi i j/size) for j = 0..size - 1, each part the double nearest to it, or its neighbour."""
    found = np.empty(size, dtype=np.complex128)
    with precision(96):
        for j in range(size):
            angle = ball(Fraction(-2 * j, size))
            found[j] = complex(float(angle.cos_pi().mid()), float(angle.sin_pi().mid()))
    return found


def smooth(least: int) -> int:
    """The least number of at least `least` whose prime factors are 2, 3 and 5."""
    size = max(least, 1)
    while True:
        rest = size
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return size
        size += 1
