"""What a cap cut off: how many people are above it, by octaves, and between what the lost total lies.

With the cap A, the j-th octave has the people whose total is in (A 2^(j-1), A 2^j], the last one up to an outer maximum:
what a person can have at most in the rows that count, or less if that is said, and whoever has more counts as having
that. One person is in one of them at most, so that noise of rate loss'' costs loss'', however many there are. Somebody of
the j-th octave lost more than A (2^(j-1) - 1) and at most A (2^j - 1). Nobody can be seen in an octave that may be empty,
and one person there may have lost nearly the maximum: the bracket goes up to the highest octave that is surely not empty,
and what lies beyond is not bounded.

Of people with several rows the total is over all bins and of the rows that the release itself keeps: what is told as lost
was cut from the very sums beside it.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from hubbub.kinds.sums.intervals import reach_of_sum
from hubbub.noise.sampler import two_sided_geometric
from hubbub.noise.source import Source
from hubbub.numeric.clamped_interval import clamped_interval
from hubbub.protocol.measurement import Drawn
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.arrow import integer_array
from hubbub.tables.engine import ExactCounts

if TYPE_CHECKING:
    from hubbub.kinds.sum.spec import Sum


@dataclass(frozen=True, slots=True)
class Octave:
    """People above `over` and not above `up_to`, with noise, and between how many there are."""

    over: Fraction
    up_to: Fraction
    people: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Lost:
    """All octaves, the people in all of them, and what they lost up to `up_to`; None: nobody is surely above."""

    octaves: tuple[Octave, ...]
    people: int
    low: int
    high: int
    least: Fraction
    most: Fraction | None
    up_to: Fraction | None


def edges(spec: Sum) -> tuple[int, ...]:
    """A, 2 A, 4 A ... up to the outer maximum, in steps."""
    top, found = spec.outer_cap, [spec.most_in_all]
    while found[-1] < top:
        found.append(min(2 * found[-1], top))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class OctaveCounts:
    """The mechanism: geometric noise on the number of people of each octave, of which one person moves one by one.

    People are counted by their totals in steps.

    Guarantee: one person more or less costs the share of epsilon that is kept for it, if the words of the source are
    uniform and independent.
    """

    spec: Sum
    schema: ClassVar[pa.Schema] = pa.schema([("people", pa.int64())])

    def draw(self, exact: ExactCounts, source: Source) -> pa.RecordBatch:
        spec, ends = self.spec, edges(self.spec)
        x = np.minimum(exact.codes, ends[-1])
        exactly = [int(exact.counts[(x > over) & (x <= up_to)].sum()) for over, up_to in pairwise(ends)]
        noise = two_sided_geometric(spec.shares[2], len(exactly), source)
        return pa.record_batch([integer_array(np.array(exactly, dtype=np.int64) + noise)], schema=self.schema)


def above_cap(spec: Sum, drawn: Drawn) -> Lost:
    """What the drawn numbers say.

    Guarantee: every number of people lies between its ends, that of all octaves too, and what was lost up to `up_to`
    between `least` and `most`, all at once but for a chance of 1 - coverage. A ValueError if they are not so many.
    """
    ends, rate = edges(spec), spec.shares[2]
    people = drawn.integers("people").tolist()
    if len(people) != len(ends) - 1:
        raise ValueError("its octaves are not as many")
    miss = (1 - spec.coverage) / (2 * len(ends))  # each side of every octave, and of all together
    off, of_all = reach_of_sum((rate,), miss), reach_of_sum((rate,) * len(people), miss)
    octaves = tuple(
        Octave(spec.amount(over), spec.amount(up_to), n, *clamped_interval(n, off, 0))
        for over, up_to, n in zip(ends, ends[1:], people, strict=False)
    )
    sure = max((i + 1 for i, each in enumerate(octaves) if each.low > 0), default=0)
    cap = spec.amount(ends[0])
    least = sum((each.low * (each.over - cap) for each in octaves[:sure]), Fraction(0))
    most = sum((each.high * (each.up_to - cap) for each in octaves[:sure]), Fraction(0)) if sure else None
    total = sum(people)
    low, high = clamped_interval(total, of_all, 0)
    return Lost(
        octaves=octaves,
        people=max(total, 0),
        low=low,
        high=high,
        least=least,
        most=most,
        up_to=octaves[sure - 1].up_to if sure else None,
    )
