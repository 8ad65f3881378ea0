"""The warped channel's draws against its exact law, with a size and a checked power.

For each curve, all its counts are drawn interleaved in one batch, and the draws of one count are held against
`law(count)` by chi-square on bins that the law makes about equally likely. The same draws must be rejected as draws of
the same curve with every loss 5 % larger or smaller. The scripts are fixed by labels.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from hubbub.channels.mechanisms import warped_walk
from hubbub.channels.mechanisms.warped import Warped
from hubbub.guarantees.curve import Curve, Piece, read
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import Infinite

SIZE = 1e-6  # of each test: the probability that the true law is rejected
POWER = 0.999  # at least this probability that a curve OFF away is rejected
OFF = Fraction(1, 20)
N = 200_000  # draws for each count
BINS = 20
HUGE = 2**62  # the largest count

STAIRS = ",".join(f"{m}:{m}/20" for m in range(1, 31))  # each value is a piece of its own

CASES = {
    "0.3": (0, 1, 40),
    "0.02": (0, 25, HUGE),
    "1:0.01,101:1": (0, 1, 50, 99, 100, 101, 102, 130, HUGE),
    "1:0,11:0.5": (0, 1, 5, 10, 11, 12, 30),
    "1:0.2,21:0.5,41:inf": (0, 10, 20, 21, 39, 40),
    "1:0.05,12:inf": (0, 6, 11),
    "slope:0.01<=1": (0, 1, 50, 99, 100, 101),
    "0.1+slope:0.0009<=1": (1, 500, 999, 1000, 1001),
    "slope:0.0001<=1": (0, 1, 300, 1000),
    "slope:0.00001<=0.5": (0, 700),
    "slope:0.3": (0, 1, 3),
    "1:0+slope:0.1": (0, 1, 5),
    "1:0,6:0.02+slope:0.02": (0, 3, 5, 6, 20),
    "1:0.05,31:0.1+slope:0.02,61:2": (0, 29, 30, 31, 45, 59, 60),
    "1:0.05+slope:0.05,8:inf": (0, 4, 7),
    STAIRS: (0, 1, 2, 15),
    f"1:0.1,{HUGE - 5}:0.5": (HUGE - 7, HUGE - 6, HUGE - 5, HUGE - 4, HUGE),
}


def scaled(curve: Curve, factor: Fraction) -> Curve:
    """Every loss times the factor."""
    return Curve(
        tuple(
            piece
            if isinstance(piece.value, Infinite)
            else Piece(piece.start, factor * piece.value, factor * piece.rate)
            for piece in curve.pieces
        )
    )


@lru_cache(maxsize=1)
def draws(text: str) -> NDArray[np.int64]:
    """count -> N draws."""
    counts = CASES[text]
    batch = np.tile(np.array(counts), N)
    values = Warped(read(text).curve).release(batch, ScriptedSource.from_label(f"walk {text}")).values
    return values.reshape(N, len(counts)).T


@lru_cache(maxsize=8)
def listed(curve: Curve, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The values of the law and their probabilities, up to 1e-12."""
    atoms = Warped(curve).law(count).atoms(Fraction(1, 10**12))
    values = np.array([value for _, value, _ in atoms], dtype=np.int64)
    masses = np.array([float(mass) for _, _, mass in atoms])
    assert abs(masses.sum() - 1) < 1e-9
    return values, masses


def bins(curve: Curve, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The last value of every bin but the last, and the probabilities: at least 1/BINS each, but perhaps the last."""
    values, masses = listed(curve, count)
    edges, sizes, full = [], [], 0.0
    for value, mass in zip(values, masses, strict=True):
        full += mass
        if full >= 1 / BINS:
            edges.append(value)
            sizes.append(full)
            full = 0.0
    if full < 50 / N:  # too small to stand alone
        edges.pop()
        full += sizes.pop()
    return np.array(edges, dtype=np.int64), np.array([*sizes, full])


def rejection(sample: NDArray[np.int64], claimed: Curve, count: int) -> tuple[bool, str]:
    """Whether the draws are rejected as coming from the law of `claimed`, with the numbers."""
    edges, p = bins(claimed, count)
    observed = np.bincount(np.searchsorted(edges, sample, side="left"), minlength=len(p))
    expected = len(sample) * p
    statistic = float(((observed - expected) ** 2 / expected).sum())
    threshold = float(stats.chi2.isf(SIZE, len(p) - 1))
    return statistic > threshold, (
        f"count = {count}, n = {len(sample)}, {len(p)} bins, chi-square = {statistic:.1f}, threshold = {threshold:.1f}"
    )


def power(claimed: Curve, true: Curve, count: int, n: int = N) -> float:
    """The probability that n draws of `true` are rejected as draws of `claimed`."""
    edges, p = bins(claimed, count)
    values, masses = listed(true, count)
    p_true = np.bincount(np.searchsorted(edges, values, side="left"), weights=masses, minlength=len(p))
    distance = n * float(((p_true - p) ** 2 / p).sum())
    return float(stats.ncx2.sf(stats.chi2.isf(SIZE, len(p) - 1), len(p) - 1, distance))


@pytest.mark.parametrize("text", CASES, ids=lambda text: text[:40])
def test_draws_follow_the_law_and_no_other(text: str) -> None:
    curve = read(text).curve
    for count, sample in zip(CASES[text], draws(text), strict=True):
        rejected, numbers = rejection(sample, curve, count)
        assert not rejected, numbers
        for factor in (1 - OFF, 1 + OFF):
            claimed = scaled(curve, factor)
            chance = power(claimed, curve, count)
            assert chance > POWER, f"count = {count}, n = {N}: power {chance}, wanted {POWER}"
            rejected, numbers = rejection(sample, claimed, count)
            assert rejected, f"losses times {factor}: {numbers}"


def test_the_slow_path_follows_the_law(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a doubt of 1/8 more than half of the words prove nothing and go to the balls.
    text, count, n = "slope:0.02<=1", 20, 20_000
    settled = 0
    settle = warped_walk._settle

    def counted(*args: object) -> int:
        nonlocal settled
        settled += 1
        return settle(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(warped_walk, "_settle", counted)
    monkeypatch.setattr(warped_walk, "_DOUBT", 0.125)
    curve = read(text).curve
    sample = Warped(curve).release(np.full(n, count), ScriptedSource.from_label("slow path")).values
    assert settled > n // 2, settled
    rejected, numbers = rejection(sample, curve, count)
    assert not rejected, numbers
    claimed = scaled(curve, Fraction(6, 5))  # 20 %, for a tenth of the draws
    chance = power(claimed, curve, count, n)
    assert chance > POWER, f"n = {n}: power {chance}, wanted {POWER}"
    rejected, numbers = rejection(sample, claimed, count)
    assert rejected, numbers


def test_neighbouring_draws_are_independent() -> None:
    # sqrt(n) times the lag-one correlation is standard normal for independent draws; a word that serves
    # two walks makes it hundreds of times the threshold.
    n = 200_000
    threshold = float(stats.norm.isf(SIZE / 2))
    for text, count in (("slope:0.0001<=1", 300), ("1:0.05,31:0.1+slope:0.02,61:2", 30), ("0.01", 500)):
        values = Warped(read(text).curve).release(np.full(n, count), ScriptedSource.from_label(f"lag {text}")).values
        for name, part in (("side", np.sign(values - count)), ("distance", np.abs(values - count))):
            statistic = abs(float(np.corrcoef(part[1:], part[:-1])[0, 1])) * math.sqrt(n - 1)
            assert statistic < threshold, f"{text}, {name}: n = {n}, {statistic:.2f}, threshold = {threshold:.2f}"


def test_counts_that_are_told_or_hidden_altogether() -> None:
    source = ScriptedSource.from_label("told")
    told = np.array([41, 42, 1000, HUGE])
    for text, counts, expected in (
        ("1:0.2,21:0.5,41:inf", told, told),
        ("inf", np.array([0, 1, 7, HUGE]), np.array([0, 1, 7, HUGE])),
        ("0", np.array([0, 1, 7, HUGE]), np.zeros(4, dtype=np.int64)),
        ("slope:0.001", np.array([10**9, HUGE]), np.array([10**9, HUGE])),  # leaves with probability below exp(-10^6)
    ):
        assert Warped(read(text).curve).release(counts, source).values.tolist() == expected.tolist(), text
