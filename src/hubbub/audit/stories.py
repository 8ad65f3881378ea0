"""Attacks as stories: each is a function with the numbers it must show, bars to draw, and what protects.

The demo, the documentation and ``hubbub audit story`` tell them from here. Every number is computed, from exact laws
where they are to be had; nothing in a story is about anybody who lives.

Find the bin: 100 managers earn much more than everybody else, all of them in one of 40 bins, and which?

The attack is the best there is: look at how much more likely each candidate's published value is with 100 people
than with none, and name the candidate where that is largest. Its success is computed from the exact laws, in floats.

The managers of the outlier paper's introduction: a group that differential privacy lets stand out.

The small transfers of official election rounds: totals that every office prints point at few people.

Attacks on noise: the same seed twice, and floating-point noise that is refuted by its last bits.

Attacks on tables: two crowd-blending ones, two margins, the first row of synthetic data, one row of several.

Democrats and Republicans: an epsilon-differentially private release that gives friends away.

People live in cliques of 200 that lean one way: of each clique a share p of Democrats, p uniform on [0, 0.2] or on
[0.8, 1]. The share of each clique is published with Laplace noise, so that nobody's own vote matters, and somebody
guesses a person's vote from the majority of their clique. Beside it stands what K random people of a million would tell
about the clique: all that a zero-knowledge release may tell.

Both successes are polynomials in p, so Gauss-Legendre quadrature with enough nodes is exact but for rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import product
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hubbub.audit.blending import ANY, Data, lone, table_of_laws
from hubbub.audit.blending import Law as Outcomes
from hubbub.audit.faults import PEOPLE, K, naive_laplace
from hubbub.audit.faults import margins as two_margins
from hubbub.channels.catalogue import channel
from hubbub.channels.law import Block, Law
from hubbub.channels.mechanisms.geometric import Geometric
from hubbub.channels.protocol import Channel
from hubbub.charts.page import page
from hubbub.charts.svg import Bar, ChartLabels, Panel, responsive
from hubbub.errors import WrongUse
from hubbub.kinds.ballots.giveaways import FEW, official_moves
from hubbub.noise.source import ScriptedSource
from hubbub.numeric.exact import ball, rational, to_float
from hubbub.runtime.frozen import dataclass
from hubbub.voting.count.official import Official, OfficialRound


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """An attack: what is published, what somebody finds, in numbers, and what would have protected."""

    name: str
    title: str
    sentences: tuple[str, ...]
    numbers: Mapping[str, float | int]
    bars: tuple[tuple[str, float, str], ...]  # label, height, words
    axis: str
    protects: str

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "told": list(self.sentences),
            "numbers": dict(self.numbers),
            "protects": self.protects,
        }

    def chart(self) -> str:
        """The bars as SVG."""
        bars = tuple(Bar(label, value, value, value, text) for label, value, text in self.bars)
        labels = ChartLabels(title=self.title, description=" ".join(self.sentences), by="", numbers=self.axis)
        return responsive([Panel("", bars)], labels, upright=False)

    def page(self) -> str:
        """The story as one page that opens without a network and runs no code."""
        return page(self.title, self.chart(), above=self.sentences, below=[self.protects])


def percent(share: float) -> str:
    """A share as it is read."""
    return f"{100 * share:.1f} %"


Floats: TypeAlias = NDArray[np.float64]

MANAGERS: Final = 100
CANDIDATES: Final = 40

REACH: Final = 8000
"""Values this far from 0 have a chance below e^-35 in all laws here."""


def spread(law: Law) -> dict[str, Floats]:
    """The chance of each value from -REACH to REACH, by tag."""
    found: dict[str, Floats] = {}
    for part in law.parts:
        if isinstance(part, Block) and part.shape is not None and part.lo != part.hi:
            continue  # a lump of values with less than e^-150 in all
        lo = -REACH if part.lo is None else max(part.lo, -REACH)
        hi = REACH if part.hi is None else min(part.hi, REACH)
        if lo > hi:
            continue
        if isinstance(part, Block):
            weight = to_float(part.weight.value.log() + ball(part.intercept + part.slope * lo), round_up=False)
            masses = np.exp(weight + to_float(part.slope, round_up=False) * np.arange(hi - lo + 1))
        else:
            masses = np.array([to_float(mass, round_up=False) for mass in part.masses[lo - part.lo : hi - part.lo + 1]])
        row = found.setdefault(part.tag, np.zeros(2 * REACH + 1))
        row[lo + REACH : hi + REACH + 1] += masses
    return found


def attack(made: Channel) -> float:
    """How often the attacker who names the candidate with the largest likelihood ratio f_100/f_0 is right.

    With p the chance of a ratio at an empty candidate and below the chance of a smaller one, a candidate with that
    ratio beats 39 empty ones, ties split evenly, with probability ((below + p)^40 - below^40) / (40 p).
    """
    full, empty = spread(made.law(MANAGERS)), spread(made.law(0))
    nothing = np.zeros(2 * REACH + 1)
    tags = sorted({*full, *empty})
    f = np.concatenate([full.get(tag, nothing) for tag in tags])
    g = np.concatenate([empty.get(tag, nothing) for tag in tags])
    f, g = f[(f > 0) | (g > 0)], g[(f > 0) | (g > 0)]
    with np.errstate(divide="ignore"):
        ratios = np.round(np.log(f) - np.log(g), 9)
    _, level = np.unique(ratios, return_inverse=True)
    f, p = np.bincount(level, weights=f), np.bincount(level, weights=g)
    upto = np.cumsum(p)
    below = upto - p
    powers = sum(upto ** (CANDIDATES - 1 - j) * below**j for j in range(CANDIDATES))
    return float(np.sum(f * powers) / CANDIDATES)


_MECHANISMS: Final = (
    ("plain noise, epsilon 1", "geometric", {"epsilon": "1"}),
    ("warped: 0.01 up to a crowd of 100, 1 above", "warped", {"curve": "1:0.01,101:1"}),
    ("exact from 101 on, else hidden", "exact-or-suppressed", {"k": "101"}),
)


def managers() -> Story:
    """How often the best attack names the managers' bin, for three mechanisms."""
    found = [(title, attack(channel(name, **options))) for title, name, options in _MECHANISMS]
    blind = 1 / CANDIDATES
    bars = tuple((title, 100 * share, percent(share)) for title, share in (("blind guess", blind), *found))
    return Story(
        name="managers",
        title="Plain noise gives the managers' salary away",
        sentences=(
            f"{MANAGERS} managers are all in one of {CANDIDATES} salary bins, and somebody who knows everything else "
            f"asks which. Differential privacy hides one person: with epsilon 1 the bin is found "
            f"{percent(found[0][1])} of the time, where a blind guess finds it {percent(blind)} of the time.",
        ),
        numbers={"blind": blind, "plain": found[0][1], "warped": found[1][1], "suppressed": found[2][1]},
        bars=bars,
        axis="the bin is found, in percent",
        protects="Outlier privacy protects: the smaller the crowd, the less may be told, and large crowds stay exact.",
    )


RECORD: Final = Official(
    rounds=(
        OfficialRound(totals=(("Ash", 412), ("Birch", 388), ("Elm", 61), ("Oak", 9))),
        OfficialRound(totals=(("Ash", 414), ("Birch", 389), ("Elm", 66))),
        OfficialRound(totals=(("Ash", 437), ("Birch", 424))),
    ),
    winner="Ash",
)
"""Invented."""


def transfers() -> Story:
    """Which ballots moved from one round to the next, from the official totals alone."""
    moves = official_moves(RECORD)
    return Story(
        name="transfers",
        title="Official round totals show where single ballots went",
        sentences=(
            f"Nine voters put Oak first. The totals of the next round tell that two of them had Ash next, one Birch, "
            f"five Elm, and one nobody. Of {moves.all} moves between the rounds, {moves.few} are of fewer than {FEW} "
            f"ballots and {moves.single} of a single one.",
        ),
        numbers={"moves": moves.all, "few": moves.few, "single": moves.single},
        bars=(
            ("moves of ballots", float(moves.all), str(moves.all)),
            (f"of fewer than {FEW}", float(moves.few), str(moves.few)),
            ("of a single ballot", float(moves.single), str(moves.single)),
        ),
        axis="moves from one round to the next",
        protects=(
            "No table published beside the record can undo that; hubbub vote publish says so, and promises about the "
            "table alone. An office can print the rounds of small candidates together."
        ),
    )


BINS: Final = 1_000
DRAWS: Final = 4_000
BITS: Final = 53


def seeds() -> Story:
    """Two releases with one seed: their difference is that of the tables, in every bin."""
    noise = Geometric(rational(1))
    before = np.full(BINS, 40, dtype=np.int64)
    after = before + (np.arange(BINS) % 3 == 0)
    first, second = (
        noise.release(counts, ScriptedSource.from_label("the same seed")).values for counts in (before, after)
    )
    found = float(np.mean(second - first == after - before))
    fresh = _fresh(1.0)
    return Story(
        name="seeds",
        title="The same seed twice takes the noise off",
        sentences=(
            f"Two releases of {BINS:,} counts before and after some people moved in, epsilon 1 each, drawn with the "
            f"same seed: their difference is exact in {percent(found)} of the bins. With fresh noise the best guess "
            f"whether somebody moved into a bin is right {percent(fresh)} of the time.",
        ),
        numbers={"same_seed": found, "fresh": fresh},
        bars=(
            ("a coin", 50.0, "50.0 %"),
            ("fresh noise", 100 * fresh, percent(fresh)),
            ("the same seed", 100 * found, percent(found)),
        ),
        axis="bins in which the change is known, in percent",
        protects="A release takes no seed: every word comes from the operating system and is given once.",
    )


def _fresh(epsilon: float, reach: int = 80) -> float:
    """How often the best guess between a change of 0 and of 1 is right, from the difference of two noisy counts."""
    q = math.exp(-epsilon)
    law = (1 - q) / (1 + q) * q ** np.abs(np.arange(-reach, reach + 1))
    both = np.convolve(law, law)
    return float(np.maximum(np.append(both, 0.0), np.insert(both, 0, 0.0)).sum() / 2)


def floats() -> Story:
    """A naive Laplace mechanism: some floats can come from a count of 0 alone."""
    shares = []
    for count in (0, 1):
        source = ScriptedSource.from_label(f"floats {count}")
        drawn = np.array([naive_laplace(count, source) for _ in range(DRAWS)])
        scaled = np.ldexp(drawn, BITS)
        shares.append(float(np.mean(scaled != np.floor(scaled))))
    return Story(
        name="floats",
        title="The last bits of floating-point noise tell the count",
        sentences=(
            "Laplace noise by the logarithm of a float, as textbooks have it, epsilon 1. Noise that is added to 1 is "
            f"rounded to a multiple of 2^-{BITS}; noise that is added to 0 is not. Of {DRAWS:,} draws around 0, "
            f"{percent(shares[0])} are no such multiple; around 1, {percent(shares[1])}. Who sees one that is not "
            "knows that the count is 0.",
        ),
        numbers={"zero": shares[0], "one": shares[1]},
        bars=(
            ("a count of 0", 100 * shares[0], percent(shares[0])),
            ("a count of 1", 100 * shares[1], percent(shares[1])),
        ),
        axis=f"no multiple of 2^-{BITS}, in percent",
        protects="Integers and exact laws protect: no noise here is a float.",
    )


CROWD: Final = 2
FIRST: Final = ((0, 1), (2,))
SECOND: Final = ((0,), (1, 2))


def _suppress(count: int, k: int = CROWD) -> int | None:
    return count if count >= k else None


def _by(*partitions: tuple[tuple[int, ...], ...]) -> dict[Data, Outcomes]:
    """Tables by some partitions of three kinds of people, each hiding counts below the crowd, as laws."""

    def mechanism(data: Data) -> Outcomes:
        released = tuple(tuple(_suppress(sum(data[i] for i in part)) for part in partition) for partition in partitions)
        return {released: Fraction(1)}

    return table_of_laws(mechanism, 3, 2 * CROWD + 1)


def twice() -> Story:
    """Proposition 7: each table blends everybody with a crowd, and both together leave somebody alone."""
    singles = [lone(_by(partition), CROWD, Fraction(0)) for partition in (FIRST, SECOND)]
    found = lone(_by(FIRST, SECOND), CROWD, ANY)
    assert found is not None, "Proposition 7"
    crowds = [CROWD if each is None else each.crowd for each in singles]
    people = sum(found.data)
    return Story(
        name="twice",
        title="Two tables in which everybody has a crowd leave somebody alone",
        sentences=(
            f"Each of two tables hides counts below {CROWD}, by bins that overlap. In either everybody stands in a "
            f"crowd or can be left out. Of {people} people, both tables together single one out: that person has a "
            f"crowd of {found.crowd} and is missed when left out, with certainty (Proposition 7 of the crowd-blending "
            "paper).",
        ),
        numbers={"first": crowds[0], "second": crowds[1], "both": found.crowd, "people": people},
        bars=(
            ("the first table alone", float(crowds[0]), f"a crowd of {crowds[0]}"),
            ("the second table alone", float(crowds[1]), f"a crowd of {crowds[1]}"),
            ("both together", float(found.crowd), f"a crowd of {found.crowd}"),
        ),
        axis="the smallest crowd of somebody who is missed",
        protects="The ledger refuses the second table, unless noise hides it or it is of a fresh secret sample.",
    )


def margins() -> Story:
    """Differencing: a row of one table minus rows of another is a cell that both hide."""
    found = two_margins(jointly=True)
    one = found.determined[0]
    true = PEOPLE[tuple(value for _, value in one.key)]  # type: ignore[index]
    return Story(
        name="margins",
        title="Subtract one table from another, and a hidden cell appears",
        sentences=(
            f"A table by town and sex and one by town both hide counts below {K}. To find "
            f"{' and '.join(value for _, value in one.key)}: {one.because}. On the Adult census table two such margins "
            "give away 104 cells (docs/audit.md).",
        ),
        numbers={"hidden": K - 1, "found": one.low, "true": true, "cells": len(found.determined)},
        bars=(
            ("the hidden cell may hold up to", float(K - 1), f"{K - 1}"),
            ("both tables together say", float(one.low), f"{one.low}"),
        ),
        axis="people",
        protects="Publish both as one cube, or the second from the first; hubbub audit releases finds such cells.",
    )


def first_row() -> Story:
    """Proposition 12 of the crowd-blending paper: synthetic rows that are right about the first give it away."""
    allowed = {epsilon: 1 / (1 + math.exp(-epsilon)) for epsilon in (0.1, 1.0, 3.0)}
    return Story(
        name="first-row",
        title="Synthetic data whose first row is right cannot be differentially private",
        sentences=(
            "Two tables differ in their first row alone, far from each other. Synthetic rows of which the first is "
            "near the true one more often than e^epsilon/(1 + e^epsilon) of the time tell the two apart better than "
            f"epsilon allows: {percent(allowed[0.1])} for epsilon 0.1, {percent(allowed[1.0])} for 1. A mechanism that "
            "releases the first row as it is, right always, has no epsilon at all (Proposition 12 of the "
            "crowd-blending paper).",
        ),
        numbers={f"allowed_{epsilon:g}": share for epsilon, share in allowed.items()} | {"released": 1.0},
        bars=(
            *((f"allowed, epsilon {epsilon:g}", 100 * share, percent(share)) for epsilon, share in allowed.items()),
            ("the first row as it is", 100.0, "100.0 %"),
        ),
        axis="the first row is right, in percent",
        protects=(
            "A crowd protects what noise cannot: where the row's bin holds k people, moving it within the bin is "
            "crowd-blending, and it stays near the truth."
        ),
    )


def one_row() -> Story:
    """One row of each person, chosen secretly: no crowd for who has several."""

    def chance_visible(*people: tuple[str, ...]) -> Fraction:
        choices = list(product(*people))
        return Fraction(sum(_suppress(rows.count("A")) is not None for rows in choices), len(choices))

    t, u = ("A", "B"), ("A",)
    both, without, twins = chance_visible(t, u), chance_visible(u), chance_visible(u, u)
    return Story(
        name="one-row",
        title="One row of several is no crowd",
        sentences=(
            "Somebody has a row in bin A and one in bin B; somebody else has a row in A. One row of each is kept, "
            f"secretly, and counts below {CROWD} are hidden. With both people, A is shown {percent(float(both))} of "
            f"the time; without the first, never; with two people like the second, always. Nobody is like the first "
            "person, and they are missed.",
        ),
        numbers={"with": float(both), "without": float(without), "two_alike": float(twins)},
        bars=(
            ("with the person", 100 * float(both), percent(float(both))),
            ("without them", 100 * float(without), percent(float(without))),
            ("another in their place", 100 * float(twins), percent(float(twins))),
        ),
        axis="bin A is shown, in percent",
        protects="Crowds are promised to the kept rows alone and said so; for people, take noise, or a secret sample.",
    )


CLIQUE: Final = 200
LEAN: Final = 0.2  # the largest share of the minority
POPULATION: Final = 1_000_000
EPSILONS: Final = (0.1, 0.01)
SAMPLE_SIZES: Final = (1_000, 10_000, 50_000)

_NODES: Final = CLIQUE // 2 + 1  # exact for polynomials of degree CLIQUE + 1
_NEVER: Final = 1e-16


def least_success(epsilon: float) -> float:
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
    for seen, chance in enumerate(_friends_seen(size)):
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


def _friends_seen(size: int) -> list[float]:
    """How many friends are among the people asked: a hypergeometric law."""

    def ways(n: int, m: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(m + 1) - math.lgamma(n - m + 1)

    friends, rest = CLIQUE - 1, POPULATION - (CLIQUE - 1)
    total = ways(POPULATION, size)
    return [math.exp(ways(friends, s) + ways(rest, size - s) - total) for s in range(min(friends, size) + 1)]


def democrats() -> Story:
    """The release that gives friends away, and what random people would give instead."""
    released = {epsilon: from_release(epsilon) for epsilon in EPSILONS}
    sampled = {size: from_random_people(size) for size in SAMPLE_SIZES}
    numbers: dict[str, float | int] = {}
    for epsilon in EPSILONS:
        numbers[f"bound_{epsilon}"] = least_success(epsilon)
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
            f"{percent(released[EPSILONS[0]])} of the time (the paper's bound: {percent(least_success(EPSILONS[0]))}); with "
            f"epsilon = {EPSILONS[1]}, {percent(released[EPSILONS[1]])} ({percent(least_success(EPSILONS[1]))}). Leaving the "
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


STORIES: Final[Mapping[str, Callable[[], Story]]] = {
    "managers": managers,
    "democrats": democrats,
    "twice": twice,
    "margins": margins,
    "first-row": first_row,
    "one-row": one_row,
    "seeds": seeds,
    "floats": floats,
    "transfers": transfers,
}
"""Every story by name."""


def story(name: str) -> Story:
    """The story of that name, with its numbers worked out."""
    if name not in STORIES:
        raise WrongUse(f"there is no story {name[:40]!r}; there are {', '.join(STORIES)}")
    return STORIES[name]()
