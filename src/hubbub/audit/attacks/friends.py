"""Democrats and Republicans: an epsilon-differentially private release that gives friends away.

People live in cliques of 200 that lean one way: of each clique a share p of Democrats, p uniform on [0, 0.2] or on
[0.8, 1]. The share of each clique is published with Laplace noise, so that nobody's own vote matters, and somebody
guesses a person's vote from the majority of their clique. Beside it stands what K random people of a million would tell
about the clique: all that a zero-knowledge release may tell.

Both successes are polynomials in p, so Gauss-Legendre quadrature with enough nodes is exact but for rounding.
"""

from __future__ import annotations

import math
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.audit.attacks.story import Story, percent

Floats: TypeAlias = NDArray[np.float64]

CLIQUE: Final = 200
LEAN: Final = 0.2  # the largest share of the minority
PEOPLE: Final = 1_000_000
EPSILONS: Final = (0.1, 0.01)
SAMPLE_SIZES: Final = (1_000, 10_000, 50_000)

_NODES: Final = CLIQUE // 2 + 1  # exact for polynomials of degree CLIQUE + 1
_NEVER: Final = 1e-16


def bound(epsilon: float) -> float:
    """The paper's lower bound on the success of the attack."""
    return (1 - math.exp(-(0.5 - LEAN) * CLIQUE * epsilon) / 2) * (1 - LEAN)


def from_release(epsilon: float, *, counted: bool = True) -> float:
    """How often a person's vote is guessed from the noisy share of their clique, the person counted in it or not."""
    others = np.arange(CLIQUE)
    p, weights = _shares()
    law = _binomial(CLIQUE - 1, p)
    right = p * (law @ _above(others + counted, epsilon)) + (1 - p) * (law @ (1 - _above(others, epsilon)))
    return float(weights @ right)


def from_random_people(size: int) -> float:
    """The same from the people of the clique among so many random ones, not the person; a coin where they are even."""
    found = 0.0
    p, weights = _shares()
    for seen, chance in enumerate(_seen(size)):
        if chance < _NEVER:
            continue
        number = np.arange(seen + 1)
        yes = _binomial(seen, p) @ np.where(2 * number > seen, 1.0, np.where(2 * number == seen, 0.5, 0.0))
        found += chance * float(weights @ (p * yes + (1 - p) * (1 - yes)))
    return found


def least_zero_knowledge(epsilon: float, sample_size: int, people: int, group: int = 1) -> float:
    """Proposition 9: an epsilon below which the noisy shares of all cliques are not zero-knowledge private.

    Noise of scale L = group/(200 epsilon) on every share, which is (group, epsilon)-differentially private; 200 in a
    group is the paper's remark. For m cliques let W be the event that none of their m noisy shares is above 0: it has
    probability P1 = 2^-m if nobody of them is a Democrat, and P2 = P1 e^(-m/L) if all are. A sample that misses all of
    their 200 m people looks the same in both tables; it meets one with probability q. So if x = e^(epsilon') is enough,
    P1 <= x (x P2 + q), and x is at least the positive root; the best m is taken.

    Guarantee: the release is epsilon'-zero-knowledge private with respect to RS(sample_size of people) for no epsilon'
    below the number (up to floating-point rounding). It grows without end with `people` if the sample does not.
    """
    scale, best = group / (CLIQUE * epsilon), 0.0
    for cliques in range(1, people // CLIQUE + 1):
        first, lost = -cliques * math.log(2), cliques / scale
        meets = -math.expm1(_log_chance_of_missing(CLIQUE * cliques, sample_size, people))
        ratio = meets * math.exp(min(-first, 700.0)) / 2  # q/(2 P1): e^x = (sqrt(q^2 + 4 P1 P2) - q)/(2 P2)
        spread = math.exp(-lost)
        found = math.log(1 / (math.sqrt(ratio * ratio + spread) + ratio))
        if found < best - 1:
            break
        best = max(best, found)
    return best


def _log_chance_of_missing(some: int, sample_size: int, people: int) -> float:
    """ln of the chance that a sample holds none of them: C(n - some, k)/C(n, k)."""
    if sample_size > people - some:
        return -math.inf

    def ways(n: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(n - sample_size + 1)

    return ways(people - some) - ways(people)


def one_clique_is_allowed(sample_size: int) -> bool:
    """Whether a release of one random clique's noisy share passes for zero-knowledge with respect to AS(sample_size).

    AS(k) are the summaries that read each row with a probability of at most k/n, whichever rows belong together. The
    release reads each row with probability 200/n, so its own simulator may read what it reads as soon as k is at least
    200: it is epsilon-zero-knowledge private with respect to AS(k), and still :func:`from_release` guesses the votes of
    the clique that came up. So AS is too generous a class, and random samples RS(k) are what is allowed here.
    """
    return sample_size >= CLIQUE


def _shares() -> tuple[Floats, Floats]:
    """Nodes and weights for p on both intervals."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    low = LEAN * (nodes + 1) / 2
    return np.concatenate([low, 1 - low]), np.concatenate([weights, weights]) / 4


def _above(count: NDArray[np.int64], epsilon: float) -> Floats:
    """The chance that a count with Laplace noise of scale 1/epsilon is at least half of the clique."""
    away = count - CLIQUE / 2
    found: Floats = np.where(away >= 0, 1 - np.exp(-epsilon * np.abs(away)) / 2, np.exp(-epsilon * np.abs(away)) / 2)
    return found


def _binomial(n: int, p: Floats) -> Floats:
    """p x number -> probability."""
    m = np.arange(n + 1)
    ways = np.array([math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) for i in range(n + 1)])
    return np.asarray(np.exp(ways + m * np.log(p)[:, None] + (n - m) * np.log1p(-p)[:, None]))


def _seen(size: int) -> list[float]:
    """How many friends are among the people asked: a hypergeometric law."""

    def ways(n: int, m: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)

    friends, rest = CLIQUE - 1, PEOPLE - (CLIQUE - 1)
    total = ways(PEOPLE, size)
    return [math.exp(ways(friends, s) + ways(rest, size - s) - total) for s in range(min(friends, size) + 1)]


def democrats() -> Story:
    """The release that gives friends away, and what random people would give instead."""
    released = {epsilon: from_release(epsilon) for epsilon in EPSILONS}
    sampled = {size: from_random_people(size) for size in SAMPLE_SIZES}
    numbers: dict[str, float | int] = {}
    for epsilon in EPSILONS:
        numbers[f"bound_{epsilon}"] = bound(epsilon)
        numbers[f"exact_{epsilon}"] = released[epsilon]
        numbers[f"not_counted_{epsilon}"] = from_release(epsilon, counted=False)
    for size in SAMPLE_SIZES:
        numbers[f"random_{size}"] = sampled[size]
    bars = (
        ("a coin", 50.0, "50.0 %"),
        *((f"{size:,} random people of a million", 100 * share, percent(share)) for size, share in sampled.items()),
        *((f"private shares, epsilon {eps}", 100 * released[eps], percent(released[eps])) for eps in EPSILONS[::-1]),
    )
    return Story(
        name="democrats",
        title="Your friends give your vote away, even through differential privacy",
        sentences=(
            f"Cliques of {CLIQUE} friends vote alike, 80 % one way or more. The share of each clique is published with "
            f"epsilon = {EPSILONS[0]}, so that nobody's own vote matters, and still a vote is guessed "
            f"{percent(released[EPSILONS[0]])} of the time (the paper's bound: {percent(bound(EPSILONS[0]))}); with "
            f"epsilon = {EPSILONS[1]}, {percent(released[EPSILONS[1]])} ({percent(bound(EPSILONS[1]))}). Leaving the "
            f"person out changes nothing: {percent(float(numbers[f'not_counted_{EPSILONS[0]}']))}. It is the friends "
            "who tell.",
            f"From {SAMPLE_SIZES[0]:,} random people of a million it would be {percent(sampled[SAMPLE_SIZES[0]])}, from {SAMPLE_SIZES[1]:,} "
            f"{percent(sampled[SAMPLE_SIZES[1]])}.",
        ),
        numbers=numbers,
        bars=bars,
        axis="votes guessed rightly, in percent",
        protects=(
            "Zero-knowledge privacy protects: a release may tell no more than K random people would. K counts as much "
            "as epsilon."
        ),
    )
