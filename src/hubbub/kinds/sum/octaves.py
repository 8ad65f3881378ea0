"""Octave sums: the fewer people have about as much, the less each of them shows (Theorem O).

Bands of what a person has in a bin, 1, 2..3, 4..7, ... steps up to the most there is, refine the bins; they are public,
and each is published, empty or not. Of a band from lo to hi

    J      is how many are in it, by the warped channel with the curve eps1
    S      is the sum of what they have above lo, with two-sided geometric noise of rate eps2(J - s)/(hi - lo); told only
           if J > s

Somebody in a band of c people loses (eps1(c) + eps2(c), tau), tau = P(J > c + s | c): outside of {J > c + s}, whose
chance is no larger with one person fewer, J costs eps1(c) and the sum, which they move by hi - lo at most, eps2(c).
Both curves are half of what is promised. tau falls in c, so that its largest is that of somebody alone: with m = c + s + 1,

    tau_(c+1)/tau_c = (b_(m+1)/b_m) e^-(eps1(m+1) - eps1(c+1)) <= e^(-(eps1(m+1) - eps1(m))/2) <= 1,

as ln b has a slope of at most a half in epsilon, and eps1 never falls. Somebody in B bins is in B bands: the losses and
the taus add, and each band has a B-th part of the curve and of delta.

What is not told is bounded: a band without a sum has between lo and hi for each of as many people as J allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hubbub.channels.estimate import interval
from hubbub.channels.mechanisms.warped import Warped
from hubbub.errors import WrongUse
from hubbub.guarantees.curve import Curve
from hubbub.kinds.sums.intervals import reach_of_many
from hubbub.numeric.bisection import first_from
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.numeric.exact import Infinite, log, precision, rounded, to_text, upper
from hubbub.numeric.exact_sums import sums_by
from hubbub.runtime.frozen import dataclass

SURE: Final = 4  # a band is told where an empty one has so many people with a chance of e^-4, over all bands
_DIGITS: Final = 6


@dataclass(frozen=True, slots=True)
class Tailored:
    """What may be lost, by how many are in a person's band, and the chance beside it."""

    curve: Curve
    delta: Fraction

    def __post_init__(self) -> None:
        lowest, highest = self.curve.at(1), self.curve.limit
        if isinstance(highest, Infinite) or not lowest > 0:
            raise WrongUse("the curve of tailored privacy begins above 0 and ends, as in 1:0.2,101:1; choose one")
        if not 0 < self.delta < 1:
            raise WrongUse(f"delta must lie between 0 and 1, not {to_text(self.delta)}; choose one like 1e-9")

    @property
    def limit(self) -> Fraction:
        """The most that anybody loses."""
        limit = self.curve.limit
        assert isinstance(limit, Fraction)
        return limit


@dataclass(frozen=True, slots=True)
class Octaves:
    """The bands of a bin, in steps; the curve of the count of a band and of its sum; and the s that J must exceed."""

    bands: tuple[tuple[int, int], ...]
    half: Curve
    threshold: int
    cells: int  # B: in how many bands somebody may be

    @property
    def channel(self) -> Warped:
        """Of the number of people in a band."""
        return Warped(self.half)

    @property
    def delta(self) -> Fraction:
        """B tau, of somebody who is alone in B bands; rounded up."""
        return self.cells * tau(self.half, self.threshold)

    def has_sum(self, band: int, people: int) -> bool:
        """Whether the sum of a band is told, J being `people`."""
        low, high = self.bands[band]
        return people > self.threshold and high > low

    def rate(self, band: int, people: int) -> Fraction:
        """Of the noise of the sum of a band."""
        low, high = self.bands[band]
        loss = self.half.at(people - self.threshold)
        assert isinstance(loss, Fraction)
        return loss / (high - low)

    def counted(
        self, bins: int, bin_numbers: NDArray[np.int64], x: NDArray[Any], counts: NDArray[np.int64], most: int
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """How many people are in every band of every bin, and what they have there above its low end; one row adds at most
        `most`."""
        lows = np.array([low for low, _ in self.bands], dtype=np.int64)
        inside = x > 0  # whoever has nothing is in no band
        band = np.searchsorted(lows, x[inside], side="right") - 1
        cell = bin_numbers[inside] * len(lows) + band
        people = sums_by(cell, counts[inside], bins * len(lows), 1)
        return people, sums_by(cell, x[inside] - lows[band], bins * len(lows), most, counts[inside])


def bands_up_to(most: int) -> tuple[tuple[int, int], ...]:
    """1, 2..3, 4..7, ... up to the most.

    >>> bands_up_to(5)
    ((1, 1), (2, 3), (4, 5))
    """
    return tuple((1 << j, min((2 << j) - 1, most)) for j in range(most.bit_length()))


@lru_cache(maxsize=256)
def octaves_of(tailored: Tailored, most: int, cells: int) -> Octaves:
    """The least s whose tau is within the delta, for somebody in at most so many bands."""
    half = tailored.curve.times(Fraction(1, 2 * cells))
    threshold = first_from(lambda s: cells * tau(half, s) <= tailored.delta, 0)
    return Octaves(bands_up_to(most), half, threshold, cells)


@lru_cache(maxsize=4096)
def tau(half: Curve, threshold: int, people: int = 1) -> Fraction:
    """P(J > c + s | c), rounded up.

    Guarantee: never below what it is by Theorem W1; it does not rise with the number of people c.
    """
    with precision():
        return rounded(Warped(half).mass_at_least(people, people + threshold + 1), up=True, digits=_DIGITS)


# --- what the drawn numbers say -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Band:
    """A band of a bin: its ends in steps, J with its interval, and the sum above its low end; None: not told."""

    low: int
    high: int
    people: int
    fewest: int
    most: int
    total: int | None


def bands_of(octaves: Octaves, drawn: Sequence[int], coverage: Fraction) -> Iterator[Band]:
    """The bands of a bin from what was drawn for it, every J and then every sum.

    Guarantee: each interval of a number of people is right with the coverage. A ValueError if such a release cannot have
    drawn these numbers.
    """
    n = len(octaves.bands)
    if len(drawn) != 2 * n:
        raise ValueError("its bands are not as many")
    for j, ((low, high), people, total) in enumerate(zip(octaves.bands, drawn[:n], drawn[n:], strict=True)):
        published = octaves.has_sum(j, people)
        if people < 0 or (total and not published):
            raise ValueError("such a band has no sum")
        found = interval(octaves.channel, people, "", coverage)
        assert found.high is not None, "the curve is above 0 everywhere"
        yield Band(low, high, people, found.low, found.high, total if published else None)


@dataclass(frozen=True, slots=True)
class Estimated:
    """In steps; no estimate where no band is told."""

    estimate: Fraction | None
    low: Fraction
    high: Fraction


def estimated(octaves: Octaves, bins: Sequence[Sequence[int]], miss: Fraction) -> Estimated:
    """What several bins come to together.

    A band counts with its sum, or, where that is not told, with the middle of the band for each of its people: if an empty
    one would hardly have so many, and all bands between it and the fullest one count. A high band that only seems to have
    people, apart from all others, would make up for a thousand that are not there.

    Guarantee: the total of the values cut to the most there is lies between the ends but for a chance of `miss`: half of
    it is for the numbers of people of all bands, half for the noise of all sums together, whose law is known once the
    numbers of people are.
    """
    cells = len(bins) * len(octaves.bands)
    low = high = estimate = Fraction(0)
    sums, widest, rates, told = 0, 0, [], False
    with precision():
        least = SURE + upper(log(cells))
    for drawn in bins:
        found = list(bands_of(octaves, drawn, 1 - miss / (2 * cells)))
        fullest = max(range(len(found)), key=lambda j: found[j].people)
        sure = [octaves.channel.total_loss(band.people) >= least for band in found]
        for j, band in enumerate(found):
            high += band.low * band.most
            counts = band.people > octaves.threshold or all(sure[min(j, fullest) : max(j, fullest) + 1])
            told, low = told or counts, low + (band.low * band.fewest if counts else 0)
            if band.total is None:
                high += (band.high - band.low) * band.most
                estimate += Fraction(band.low + band.high, 2) * band.people if counts else 0
            else:
                sums, widest = sums + band.total, widest + (band.high - band.low) * band.most
                rates.append(octaves.rate(j, band.people))
                estimate += band.low * band.people + band.total if counts else 0
    if rates:
        off = reach_of_many(tuple(sorted(rates)), 1, miss / 4)
        fewest, most = clamped_interval(sums, off, 0, widest)
        low, high = low + fewest, high + most
    if not told:
        return Estimated(None, low, max(low, high))
    return Estimated(min(max(estimate, low), max(low, high)), low, max(low, high))
