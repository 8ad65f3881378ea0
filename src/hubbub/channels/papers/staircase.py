"""Staircase outlier privacy: example 7 of the outlier paper, nested so that it stays accurate.

Noise of rate epsilon_0 goes on every count. Then, level by level, a value of at most k_i + s_i gets the
noise of level i on top. As printed, a bin that passed a high threshold is tested again at the next ones, whose
offsets contain the noise of levels it never saw: with thresholds 1000, 100, 10 every bin below about 1,120 ends up
suppressed. Nested, a bin stops at the first test it does not meet; the promise is the same, because the same
coupling proves it. Which levels added noise is always published.

The offsets for a declared delta are the smallest whose exact delta is no larger.

What empty bins show through a nested staircase that hides its smallest values.

Level i is the first whose test fails: X_0 <= c_0, X_0 + X_1 <= c_1, ..., and then V + X_i > c_i with V the sum of the
noises before. Since P(X_i > c - v) is at most e^(-epsilon_i (c + 1 - v)) for every v, the level is tried with

    chance_i = e^(-epsilon_i (c_i + 1)) E[e^(epsilon_i X_0)] ... E[e^(epsilon_i X_(i-1))],

the earlier noises are drawn from laws tilted by e^(epsilon_i x) (finite, since epsilons fall), and what was tried is
kept with the ratio of the probability to its bound. Each tilted law is two geometric ones: all of it is drawn exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import ClassVar, Final, Protocol

import numpy as np
from flint import arb
from numpy.typing import ArrayLike, NDArray

from hubbub.channels.divergence import hockey_stick
from hubbub.channels.law import ONE, SUPPRESSED, Block, Dense, Law, Weight
from hubbub.channels.mechanisms.added_noise import Partial, above, add_noise, at_most, start
from hubbub.channels.protocol import (
    MOST_COMPARED,
    Card,
    Channel,
    Proof,
    Published,
    exact_count,
    exact_counts,
    noise_rate,
)
from hubbub.channels.published import EmptyBins
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import StaircaseOutlier
from hubbub.guarantees.derivation import HERE, LUI_PASS, Theorem
from hubbub.guarantees.verdict import Proved, Undecided, Verdict
from hubbub.noise.sampler import SMALLEST_EPSILON, bernoulli_certified, geometric, two_sided_geometric
from hubbub.noise.source import Source
from hubbub.noise.table import CertifiedTable
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import Exact, Infinite, Loss, ball, exp, integer, log, loss, positive, rounded, upper
from hubbub.runtime.frozen import dataclass

_LOWEST_RATE = Fraction(1, 1000)  # of a second noise
_MOST_LAWS = 1_000  # that are computed to certify one level of a staircase again
_MOST_WORK = 8_000  # to find the exact delta of given offsets: for each count, how far the noises of its law reach


def is_wide(rates: Sequence[Loss]) -> bool:
    """Whether the laws are tables too long to be compared in seconds: sums of noises of a low rate."""
    return any(0 < rate < _LOWEST_RATE for rate in rates)


@dataclass(frozen=True, slots=True)
class Staircase(Channel):
    """Thresholds k_1 > ... > k_l, rates epsilon_0 > ... > epsilon_l, an offset s_i for each level.

    The i-th test is value <= k_i + s_i. A last rate of 0 means that the value is hidden, a first rate of infinity
    that no noise is added at first. `delta` is what is claimed; it comes from one of :func:`from_alpha`,
    :func:`from_offsets`, :func:`calibrate_staircase`.

    Guarantee: (thresholds, epsilons, delta)-staircase outlier privacy with the bits released. Couple the counts c and
    c - 1 by the same first noises: if every test up to level i adds noise at c, it does at c - 1, and from there on
    the noise of level i pays epsilon_i; so delta is at most the probability that some test up to level i fails at
    c = k_i (the staircase lemma), and often much less (:func:`exact_bound`).
    """

    name: ClassVar[str] = "staircase"
    card: ClassVar[Card] = Card(
        statement=Theorem("channel.staircase", "Theorem 18 and the staircase lemma", f"{LUI_PASS}, Example 7; {HERE}"),
        summary="several levels of noise (example 7)",
        example="`thresholds=1000,100,10` `epsilons=1,0.1,0.01,0` `alpha=10`",
        needs=("thresholds", "epsilons"),
        may=("as_printed",),
        one_of=("alpha", "offsets", "delta"),
    )
    thresholds: tuple[int, ...]
    epsilons: tuple[Loss, ...]
    offsets: tuple[int, ...]
    delta: Fraction
    nested: bool = True

    def __post_init__(self) -> None:
        levels = len(self.thresholds)
        if levels == 0 or len(self.epsilons) != levels + 1 or len(self.offsets) != levels:
            raise WrongUse(
                "a staircase needs one more epsilon than thresholds and one offset per threshold, "
                "like `thresholds=100,10` `epsilons=1,0.1,0` `offsets=12,107`"
            )
        if any(a <= b for a, b in zip(self.thresholds, self.thresholds[1:], strict=False)) or self.thresholds[-1] < 1:
            raise WrongUse("the thresholds of a staircase must fall and stay above 0, like 1000,100,10")
        if any(a <= b for a, b in zip(self.epsilons, self.epsilons[1:], strict=False)):
            raise WrongUse("the epsilons of a staircase must fall, like 1,0.1,0.01,0")
        if any(a > b for a, b in zip((0, *self.offsets), self.offsets, strict=False)):
            raise WrongUse("the offsets of a staircase must be whole numbers that do not fall, like 12,107,852")
        for rate in self.epsilons:
            if not isinstance(rate, Infinite) and rate:
                noise_rate(rate)

    @property
    def claim(self) -> StaircaseOutlier:
        return StaircaseOutlier(thresholds=self.thresholds, epsilons=self.epsilons, delta=self.delta)

    @property
    def proofs(self) -> tuple[Proof, ...]:
        first = Proof(flat(self.epsilons[0]), "everything is computed from the value after the first noise")
        coupled = Proof(
            self.claim.as_outlier().curve, "the staircase lemma", coupling_bound(self.epsilons, self.offsets)
        )
        if self.delta >= coupled.delta:
            return first, coupled
        exact = exact_bound(self.thresholds, self.epsilons, self.offsets, self.nested)
        if exact is None or exact > self.delta:
            return first, coupled
        return first, coupled, Proof(coupled.curve, "the exact law of every count that the lemma leaves open", exact)

    @property
    def last_change(self) -> int:
        return max(self.cuts)

    def comparable(self, counts: Sequence[int]) -> Sequence[int]:
        if is_wide(self.epsilons[1:]):
            return ()
        room = Room(parts=2)
        narrowest = sorted(counts[:MOST_COMPARED], key=self.table_values)
        return sorted(count for count in narrowest if room.has(self, count, count - 1))

    @property
    def hides(self) -> bool:
        return any(tag.startswith(SUPPRESSED) for tag in self.tags)

    @property
    def steady_from(self) -> int:
        """From where the first noise lies above all thresholds but for a tail."""
        rate = self.epsilons[0]
        return self.last_change + 1 + (0 if isinstance(rate, Infinite) else math.ceil(21 / rate))

    def law_size(self, count: int) -> int:
        return self.table_values(count)

    def table_values(self, count: int) -> int:
        """How much work a law is."""
        return table_values(count, self.epsilons, self.cuts, nested=self.nested)

    def reconsider(self, verdict: Verdict) -> Verdict:
        """Where proofs and a few counts do not decide, check every count."""
        if isinstance(verdict, Undecided) and not is_wide(self.epsilons[1:]) and certify(self):
            return Proved("every count up to each threshold was checked exactly; above, the first noise")
        return verdict

    @property
    def is_unbiased(self) -> bool:
        return self.epsilons[-1] > 0

    @property
    def cuts(self) -> tuple[int, ...]:
        """The values up to which each level adds its noise."""
        return tuple(k + s for k, s in zip(self.thresholds, self.offsets, strict=True))

    @property
    def tags(self) -> tuple[str, ...]:
        """The bits of each way through the levels, from the most noise to the least."""
        levels = len(self.thresholds)
        ways = (2**levels - 2**n for n in range(levels + 1)) if self.nested else range(2**levels - 1, -1, -1)
        return tuple(self._tag(f"{way:0{levels}b}") for way in ways)

    def _tag(self, bits: str) -> str:
        if bits.endswith("1") and self.epsilons[-1] == 0:
            return SUPPRESSED if self.nested else f"{SUPPRESSED} {bits}"
        return bits

    def law(self, count: int) -> Law:
        return _law(self, exact_count(count))

    def release(self, counts: ArrayLike, source: Source) -> Published:
        truth = exact_counts(counts)
        values = truth + two_sided_geometric(self.epsilons[0], truth.size, source).reshape(truth.shape)
        bits = np.zeros(truth.shape, dtype=np.int64)
        running = np.ones(truth.shape, dtype=bool)
        for rate, cut in zip(self.epsilons[1:], self.cuts, strict=True):
            hit = (values <= cut) & running
            if self.nested:
                running = hit
            bits = 2 * bits + hit
            if rate == 0:
                values = np.where(hit, 0, values)
            else:  # drawn for every bin, so that how much is drawn tells nothing
                values = values + np.where(hit, two_sided_geometric(rate, truth.size, source).reshape(truth.shape), 0)
        names = self.tags
        found = (self._tag(f"{code:0{len(self.thresholds)}b}") for code in range(2 ** len(self.thresholds)))
        index = np.array([names.index(tag) if tag in names else 0 for tag in found], dtype=np.intp)
        return Published(values, index[bits], names)

    def empty_bins(self) -> EmptyBins | None:
        """As printed, a hidden bin tells which levels it went through, so that all of them have to be listed."""
        hides = self.nested and self.epsilons[-1] == 0
        return nested_empty_bins(self.epsilons[:-1], self.cuts, self.tags[::-1]) if hides else None


@lru_cache(maxsize=512)
def _law(channel: Staircase, count: int) -> Law:
    """The law of every way through the levels: (bits so far, part of the law)."""
    paths: list[tuple[str, Partial]] = [("", start(count, channel.epsilons[0]))]
    for rate, cut in zip(channel.epsilons[1:], channel.cuts, strict=True):
        following = []
        for bits, part in paths:
            if channel.nested and bits.endswith("0"):
                following.append((bits + "0", part))
                continue
            following.append((bits + "0", above(part, cut)))
            below = at_most(part, cut)
            assert isinstance(rate, Fraction)
            following.append((bits + "1", _hide(below) if rate == 0 else add_noise(below, rate)))
        paths = following
    blocks: list[Block] = []
    dense: list[Dense] = []
    for bits, part in paths:
        closed, tables = part.with_tag(channel._tag(bits))
        blocks += closed
        dense += tables
    missing = sum((part.missing for _, part in paths), Fraction(0))
    return Law(tuple(blocks), tuple(dense), channel.tags, missing)


def _hide(part: Partial) -> Partial:
    """Everything in `part` as one hidden outcome."""
    mass = part.total()
    if mass.is_zero():
        return Partial((), missing=part.missing)
    weight = ONE if mass == 1 else Weight(("hidden", object()), mass)
    return Partial((Block(0, 0, weight, Fraction(0)),), missing=part.missing)


def tail(epsilon: Loss, offset: int) -> arb:
    """P(X > offset) for a two-sided geometric: q^(offset+1) / (1 + q)."""
    if isinstance(epsilon, Infinite):
        return arb(0)
    return exp(-epsilon * (offset + 1)) / (1 + exp(-epsilon))


def parse_levels(
    thresholds: tuple[Exact, ...], epsilons: tuple[Exact | Infinite, ...]
) -> tuple[tuple[int, ...], tuple[Loss, ...]]:
    return (
        tuple(integer(k, "a threshold", least=1) for k in thresholds),
        tuple(loss(e, "an epsilon") for e in epsilons),
    )


def from_alpha(
    thresholds: tuple[Exact, ...], epsilons: tuple[Exact | Infinite, ...], alpha: Exact, *, nested: bool = True
) -> Staircase:
    """Offsets alpha (1/epsilon_0 + ... + 1/epsilon_(i-1)), rounded up; the paper's claim l e^-alpha (Theorem 18)."""
    ks, es = parse_levels(thresholds, epsilons)
    a = positive(alpha, "alpha")
    offsets = tuple(math.ceil(a * span) for span in _spans(es))
    return Staircase(ks, es, offsets, min(rounded(len(ks) * exp(-a), up=True), Fraction(1)), nested)


def paper_offsets(epsilons: tuple[Loss, ...], delta: Fraction) -> tuple[int, ...]:
    """The offsets of the paper for a delta: l e^-alpha = delta."""
    alpha = log(Fraction(len(epsilons) - 1) / delta)
    return tuple(math.ceil(upper(alpha * ball(span))) for span in _spans(epsilons))


def _spans(epsilons: tuple[Loss, ...]) -> list[Fraction]:
    """1/epsilon_0 + ... + 1/epsilon_(i-1) for each level i."""
    scales = [Fraction(0) if isinstance(e, Infinite) or e == 0 else 1 / e for e in epsilons[:-1]]
    return list(accumulate(scales))


def from_offsets(
    thresholds: tuple[Exact, ...],
    epsilons: tuple[Exact | Infinite, ...],
    offsets: tuple[Exact, ...],
    *,
    nested: bool = True,
) -> Staircase:
    """Given offsets, with their exact delta as the claim; that of the staircase lemma where the laws are too long."""
    ks, es = parse_levels(thresholds, epsilons)
    shifts = tuple(integer(s, "an offset") for s in offsets)
    proved = Staircase(ks, es, shifts, coupling_bound(es, shifts), nested)
    exact = exact_bound(ks, es, shifts, nested)
    return proved if exact is None else Staircase(ks, es, shifts, min(exact, proved.delta), nested)


@lru_cache(maxsize=64)
def exact_bound(
    thresholds: tuple[int, ...], epsilons: tuple[Loss, ...], offsets: tuple[int, ...], nested: bool
) -> Fraction | None:
    """The exact delta of a staircase, rounded up; None where that takes too many laws, or too long ones.

    Guarantee: at least the delta at epsilon_i of every count in k_(i+1) < c <= k_i, and reached by one of them. At
    each level counts are looked at from the threshold down, until the probability that some test fails, which bounds
    the delta (the staircase lemma) and only falls with the count, is no more than the largest delta found.
    """
    largest, left, room = Fraction(0), _MOST_WORK, Room()
    for level in range(1, len(thresholds) + 1):
        ended = Staircase(thresholds[:level], epsilons[: level + 1], offsets[:level], Fraction(1), nested)
        least = 0 if level == len(thresholds) else thresholds[level]
        work = sum(math.ceil(1 / rate) for rate in epsilons[: level + 1] if not isinstance(rate, Infinite) and rate)
        if not room.has(ended, thresholds[level - 1]):
            return None
        for count in range(thresholds[level - 1], least, -1):
            left -= work
            if left < 0 or not room.has(ended, count - 1):  # that of the count itself is kept from before
                return None
            if _fails(ended, level, count) <= largest:
                break
            largest = max(largest, upper(level_delta(ended, level, count)))
    return min(rounded(largest, up=True), Fraction(1))


def _fails(channel: Staircase, level: int, count: int) -> Fraction:
    """The probability that some of the tests does not add noise, rounded up."""
    law = channel.law(count)
    passed = channel._tag("1" * level)
    fails = sum((part.total() for part in law.blocks if part.tag != passed), arb(0))
    fails += sum((sum(part.masses, arb(0)) for part in law.dense if part.tag != passed), arb(0))
    return upper(fails) + law.missing


def coupling_bound(epsilons: tuple[Loss, ...], offsets: tuple[int, ...]) -> Fraction:
    """The staircase lemma: the sum over levels of P(the noise of the level before exceeds its share of the offset).

    Up to level i only the first i terms are needed; the sum of all is a bound for every level.
    """
    shares = [b - a for a, b in zip((0, *offsets), offsets, strict=False)]
    terms = (tail(rate, share) for rate, share in zip(epsilons, shares, strict=False))
    return min(rounded(sum(terms, arb(0)), up=True), Fraction(1))


def level_delta(channel: Staircase, level: int, count: int) -> arb:
    """The exact delta at epsilon_level between count and count - 1 if the staircase ended with this level.

    What comes after the noise of a level is post-processing, so this bounds the whole staircase.
    """
    ended = Staircase(
        channel.thresholds[:level],
        channel.epsilons[: level + 1],
        channel.offsets[:level],
        channel.delta,
        channel.nested,
    )
    more, fewer, epsilon = ended.law(count), ended.law(count - 1), channel.epsilons[level]
    return hockey_stick(more, fewer, epsilon).max(hockey_stick(fewer, more, epsilon))


def certify(channel: Staircase) -> bool:
    """Whether the claimed delta holds at every level and count, where the coupling bound alone does not show it.

    Guarantee: if true, the claim holds: above the first threshold by the first noise, and up to each threshold by the
    exact law or the coupling, at every count. Refused where that would take too many laws.
    """
    ks, es, offsets = channel.thresholds, channel.epsilons, channel.offsets
    room = Room()
    for level in range(1, len(ks) + 1):
        ended = Staircase(ks[:level], es[: level + 1], offsets[:level], channel.delta, channel.nested)
        if not level_certified(ended, level, room):
            return False
    return True


def level_certified(channel: Staircase, level: int, room: Room | None = None) -> bool:
    """Whether the exact delta of the last level is at most what is claimed at each of its counts.

    The coupling bound, the probability that some test fails, only falls as the count falls: once it is small
    enough, every smaller count is done.
    """
    room, highest = room or Room(), channel.thresholds[level - 1]
    for count in range(highest, 0, -1):
        new = (count, count - 1) if count == highest else (count - 1,)
        if highest - count >= _MOST_LAWS or not room.has(channel, *new):
            raise WrongUse(
                "certifying this staircase takes too many laws, or too wide ones: from a low count up to a threshold "
                "far above it; use alpha or offsets for it, or thresholds that lie closer"
            )
        if _fails(channel, level, count) <= channel.delta:
            return True
        if upper(level_delta(channel, level, count)) > channel.delta:
            return False
    return True


# How much work the laws of a staircase are, known before any is made: whoever signs a certificate chooses how wide.


MOST_VALUES: Final = 600_000  # in all tables of laws that are computed to one end: some seconds
_REACH: Final = 74  # a table reaches 74 / epsilon from where its noise begins: beyond that lies less than 10^-32


class Tabulated(Protocol):
    """A channel whose laws are tables."""

    def table_values(self, count: int) -> int:
        """How many values those of a count have."""
        ...  # pragma: no cover


def table_values(count: int, epsilons: Sequence[Loss], cuts: Sequence[int], *, nested: bool) -> int:
    """About how many values the tables of a count's law have (hardly ever more): each reaches from where the
    noises so far may have led up to the cut of its level, however far above the count that lies."""
    first, total, ways = count - _reach(epsilons[0]), 0, 1
    for rate, cut in zip(epsilons[1:], cuts, strict=True):
        if not rate or cut < first:
            break
        total += ways * (cut - first + 1 + _reach(rate))
        first -= _reach(rate)
        ways *= 1 if nested else 2
    return total


def _reach(rate: Loss) -> int:
    return 0 if isinstance(rate, Infinite) or not rate else math.ceil(_REACH / rate)


class Room:
    """The budget of table values that may still be computed: a share of :data:`MOST_VALUES`."""

    def __init__(self, parts: int = 1) -> None:
        self._left = MOST_VALUES // parts

    def has(self, channel: Tabulated, *counts: int) -> bool:
        """Whether there is room for the laws of these counts; then it is taken."""
        self._left -= sum(map(channel.table_values, counts))
        return self._left >= 0


# --- offsets for a delta ------------------------------------------------------------------------------------------


def calibrate_staircase(
    thresholds: tuple[Exact, ...], epsilons: tuple[Exact | Infinite, ...], delta: Exact, *, nested: bool = True
) -> Staircase:
    """The smallest offsets, level by level, whose exact delta is at most `delta` at every count; it is claimed.

    The exact delta is found at c = k_i, where it is largest in every case computed; then every other count of the
    level is certified, by the coupling bound where that is small enough and by the exact law where it is not.
    """
    ks, es = parse_levels(thresholds, epsilons)
    target = positive(delta, "delta")
    if target >= 1:
        raise WrongUse(f"delta must lie between 0 and 1, not {target}")
    offsets: tuple[int, ...] = ()
    for level in range(1, len(ks) + 1):
        before = offsets[-1] if offsets else 0

        def suffices(offset: int, level: int = level, offsets: tuple[int, ...] = offsets) -> bool:
            trial = Staircase(ks[:level], es[: level + 1], (*offsets, offset), target, nested)
            return upper(level_delta(trial, level, ks[level - 1])) <= target

        offset = _smallest(before, suffices, es[level - 1])
        while not level_certified(Staircase(ks[:level], es[: level + 1], (*offsets, offset), target, nested), level):
            offset += 1
        offsets = (*offsets, offset)
    exact = exact_bound(ks, es, offsets, nested)
    if exact is None:
        certify(Staircase(ks, es, offsets, target, nested))  # refuses what nobody could check again in a while
    return Staircase(ks, es, offsets, target if exact is None else min(exact, target), nested)


def _smallest(least: int, suffices: Callable[[int], bool], rate: Loss) -> int:
    if suffices(least):
        return least
    step = 1 if isinstance(rate, Infinite) else max(math.ceil(1 / rate), 1)
    high = least + step
    while not suffices(high):
        high += step * 4
    return first(suffices, max(high - step * 4, least) + 1, high)


_OFTEN: Final = Fraction(1, 2)


def nested_empty_bins(rates: Sequence[Loss], cuts: Sequence[int], names: tuple[str, ...]) -> EmptyBins | None:
    """The noises before each test, the cuts, and the tags of levels 0, 1, ... followed by the hidden one.

    None if empty bins are tried more often than not, or two rates are too close for the tilted noise to be drawn.

    Guarantee: that of :class:`EmptyBins`, by the argument at the top of this file: levels exclude one another, and at
    each the kept tries have exactly the law of the channel.
    """
    finite = [rate for rate in rates if not isinstance(rate, Infinite)]
    if any(first - rate < SMALLEST_EPSILON for first, rate in pairwise(finite)):
        return None

    def chances() -> list[arb]:
        return [_chance(rates, i, cut) for i, cut in enumerate(cuts)]

    def draw(size: int, source: Source) -> Published:
        values, tags = np.zeros(size, dtype=np.int64), np.full(size, len(cuts), dtype=np.intp)
        level = _levels(len(cuts), chances, size, source)
        for i in range(len(cuts)):
            here = np.flatnonzero(level == i)
            found, kept = _try_bins(rates, cuts, i, here.size, source)
            values[here[kept]], tags[here[kept]] = found[kept], i
        return Published(values, tags, names)

    found = EmptyBins(lambda: sum(chances(), arb(0)), draw)
    return found if found.chance() < ball(_OFTEN) else None


def _chance(rates: Sequence[Loss], level: int, cut: int) -> arb:
    rate = rates[level]
    if isinstance(rate, Infinite):
        return arb(0)  # an empty bin stays at 0, and cuts are above it
    chance = exp(-rate * (cut + 1))
    for rate_before in rates[:level]:
        if not isinstance(rate_before, Infinite):
            right, left = _sides(rate_before, rate)
            chance *= (ball(rate_before) / 2).tanh() * (right + left)
    return chance


def _sides(rate_before: Fraction, tilt: Fraction) -> tuple[arb, arb]:
    """The sums of e^(-rate_before |x| + tilt x) over x >= 0 and over x < 0."""
    return -1 / ball(tilt - rate_before).expm1(), 1 / ball(rate_before + tilt).expm1()


def _levels(many: int, chances: Callable[[], list[arb]], size: int, source: Source) -> NDArray[np.int32]:
    def boundaries() -> list[arb]:
        found = chances()
        total, below = sum(found, arb(0)), arb(0)
        shares = []
        for each in found[:-1]:
            below += each
            shares.append(below / total)
        return shares

    return np.zeros(size, dtype=np.int32) if many == 1 else CertifiedTable(boundaries).sample(size, source)


def _try_bins(
    rates: Sequence[Loss], cuts: Sequence[int], level: int, size: int, source: Source
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """What bins publish that are tried at a level, and which of them are kept."""
    rate, cut = rates[level], cuts[level]
    before, kept = np.zeros(size, dtype=np.int64), np.ones(size, dtype=bool)
    if isinstance(rate, Infinite) or not size:
        return before, ~kept
    for rate_before, test in zip(rates[:level], cuts, strict=False):
        before += _tilted_noise(rate_before, rate, size, source)
        kept &= before <= test
    noise, limit = two_sided_geometric(rate, size, source), geometric(rate, size, source)
    # At most c: the value is c + 1 + X with X >= 0, kept with the chance of that, P(X > c - v) e^(epsilon (c + 1 - v)).
    # Above c: kept with e^(-epsilon (v - c - 1)), and if v + X stays above c.
    low = before <= cut
    values = np.where(low, cut + 1 + noise, before + noise)
    kept &= (values > cut) & (low | (limit >= before - cut - 1))
    return values, kept


def _tilted_noise(rate_before: Loss, tilt: Fraction, size: int, source: Source) -> NDArray[np.int64]:
    """Two-sided geometric noise whose law is tilted by e^(tilt x)."""
    if isinstance(rate_before, Infinite):
        return np.zeros(size, dtype=np.int64)

    def share() -> arb:
        right, left = _sides(rate_before, tilt)
        return right / (right + left)

    upwards = bernoulli_certified(share, size, source)
    return np.where(
        upwards, geometric(rate_before - tilt, size, source), -1 - geometric(rate_before + tilt, size, source)
    )
