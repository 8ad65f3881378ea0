"""Numbers by bins are one mechanism, and a statistic is a declaration of it.

Somebody with the values x, in whole steps of declared ranges, adds a vector of integers v(x) to the columns of one bin.
Every column gets noise of a rate of its own. Whoever comes or goes then loses at most

::

    the largest, over x, of   rates . |v(x)|             noise: nobody knows how many people there are
    the largest, over x, y of rates . |v(x) - v(y)|      a crowd: how many they are is exact, one stands in for another

times what the contribution bounds let one person have: the rows of a person, or the bins. That is the whole proof of
every statistic here. So a statistic says nothing but

::

    Sums    columns       ("of_steps", "per_steps")     what the integers are called in the file
            measures      cost:0..900:1, days:0..30:1   where x is read
            contribution  lambda one, x, y: (x, y)      v; `one` is how many people it is for
            peaks         ((900, 30),)                  the x among which the maximum is found
            rates         loss/1800, loss/60            such that the maximum is the loss
            numbers       what is told of a bin, and how it is called
            estimate      integers of the bins -> an estimate and an interval for each number
            phrases       its nouns, from which every sentence is made

and all else is done once, for all of them:

::

    spec       what is public of any of them, and the options that they share      (:mod:`hubbub.kinds.sums.spec`)
    mechanism  count, draw the secret sample, add up v, add noise                  (:mod:`hubbub.kinds.sums.mechanism`)
    promises   the theorem above, for noise, crowds and samples; worked out again  (:mod:`hubbub.kinds.sums.promises`)
    result     sheets, facts, the table to read, the drawing                       (:mod:`hubbub.kinds.sums.result`)
    text       titles, sentences and notes, from the phrases                       (:mod:`hubbub.kinds.sums.text`)

The steps to a new statistic are in CONTRIBUTING. What is no sum (a quantile) stands in a room of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from hubbub.guarantees.derivation import DMNS, Theorem
from hubbub.protocol.drawing import Mark
from hubbub.runtime.frozen import dataclass
from hubbub.tables.key_columns import STATUS

if TYPE_CHECKING:
    from hubbub.tables.bounded_column import Measure

ENDS: Final = ("estimate", "low", "high")
SUMS: Final = Theorem("sums.noise", "noise on sums, for as much as one row moves all of them together", DMNS)
SHIFT: Final = Theorem("statistic.geometric", "two-sided geometric noise, one row replaced", DMNS)


@dataclass(frozen=True, slots=True)
class Estimate:
    """What is told of one number of a bin: `value` is what the integers say exactly, `estimate` what is left of that
    within all that can be, None where nothing is known. Without `high` there is no upper end."""

    value: Fraction | None
    estimate: Fraction | None
    low: Fraction
    high: Fraction | None

    @property
    def interval(self) -> tuple[Fraction | None, Fraction, Fraction | None]:
        """The estimate and both ends."""
        return self.estimate, self.low, self.high


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is told of each bin: what it is, and how its columns are called if it is not the first."""

    heading: str
    name: str = ""
    whole: bool = False  # of people or rows: never a fraction of one
    percent: bool = False
    mark: Mark = Mark.POINT

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the estimate and of both ends."""
        return (self.name, f"{self.name}_low", f"{self.name}_high") if self.name else ENDS

    @property
    def status(self) -> str:
        """The column that says whether it is shown."""
        return f"{self.name}_{STATUS}" if self.name else STATUS


@dataclass(frozen=True, slots=True, kw_only=True)
class Phrases:
    """The nouns of a statistic. Titles, sentences and notes are made of them in :mod:`hubbub.kinds.sums.text`."""

    heading: str  # what each number is: standard deviation of salary
    each: str  # the same of whom, where it counts nobody: the standard deviation of salary of the people in the table
    unit: str  # what a number is measured in: salary, squared
    method: str  # what was done to the numbers: with whole-number noise
    route: str  # the same as a sentence without its stop
    split: str  # how epsilon is split between the columns
    interval: str  # An interval holds ...
    interval_headline: str  # the same in everyday words
    values: str = ""  # what is done to values before they count: values cut to 0..9000 and rounded to 1
    caution: str = ""  # how it is easily misread
    title: str = ""  # the heading, with a further number perhaps: Standard deviation and mean of salary
    headline: str = ", with noise"  # the method in everyday words
    entry: str = ""  # how the ledger calls it, if not by the name of the kind and of the column
    columns: tuple[tuple[str, str], ...] = ()  # (column of the file, what its numbers are)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """A statistic: what somebody adds to a bin, with which noise, and what the noisy integers say.

    Guarantee: noise of `rates` on what `contribution` adds up to costs the person who comes or goes :meth:`loss`, and
    one who stands in for another of a bin whose number of people is known :meth:`loss_of_replacing`, if no x of the
    declared ranges has more than the largest of the `peaks`.
    """

    columns: tuple[str, ...]
    measures: tuple[Measure, ...]
    contribution: Callable[..., tuple[Any, ...]]
    peaks: tuple[tuple[int, ...], ...]
    rates: tuple[Fraction, ...]
    numbers: tuple[Number, ...]
    estimate: Callable[[Sequence[Row]], list[tuple[Estimate, ...]]]
    phrases: Callable[[], Phrases]
    theorem: Theorem = SUMS
    stated: tuple[tuple[str, str], ...] = ()  # the numbers of the certificate
    linear: bool = False  # whether v of a whole bin is v of its number of people and its sum of x
    at_once: bool = False  # whether the noise of all columns is drawn in one go
    publish: Callable[..., tuple[int, ...]] | None = None  # from noisy columns to what is published, if not the same
    total: Callable[[Sequence[Row]], Estimate] | None = None  # what several bins say together

    @property
    def largest(self) -> int:
        """The most that somebody adds to any column, in absolute value."""
        return max(1, *(abs(int(each)) for x in self.peaks for each in self.contribution(1, *x)))

    def loss(self, peaks: Iterator[tuple[int, ...]] | None = None) -> Fraction:
        """What one person more or less costs: the largest rates . |v(x)|."""
        return max(self._cost(self.contribution(1, *x)) for x in peaks or self.peaks)

    def loss_of_replacing(self, peaks: Iterator[tuple[int, ...]] | None = None) -> Fraction:
        """What one person in the place of another costs: the largest rates . |v(x) - v(y)|."""
        vectors = [self.contribution(1, *x) for x in peaks or self.peaks]
        return max(
            self._cost(tuple(a - b for a, b in zip(one, other, strict=True)))
            for one, other in product(vectors, repeat=2)
        )

    def _cost(self, moved: tuple[Any, ...]) -> Fraction:
        return sum((rate * abs(int(by)) for rate, by in zip(self.rates, moved, strict=True)), Fraction(0))


Row: TypeAlias = tuple[int | None, ...]
"""The published integers of a bin, in the order of the columns; before them, in a crowd, how many people it has. None
where they are hidden."""


def each_bin(
    estimate: Callable[..., tuple[Estimate, ...]], hidden: tuple[Estimate, ...] = ()
) -> Callable[[Sequence[Row]], list[tuple[Estimate, ...]]]:
    """An estimate of each bin by itself; of those that are hidden what is known without their integers."""
    return lambda rows: [hidden if hidden and row[-1] is None else estimate(*map(known, row)) for row in rows]


def known(value: int | None) -> int:
    """A number that has to be there."""
    if value is None:
        raise ValueError("a number is missing")
    return value


def every_step(sums: Sums, at_most: int = 64) -> Iterator[tuple[int, ...]]:
    """Every x of short ranges; of long ones the first steps, the middle and the last two. With the peaks."""
    yield from sums.peaks
    if not sums.measures:
        return
    ranges = [range(each.steps + 1) for each in sums.measures]
    some = [sorted({*of[: at_most + 1], len(of) // 2, *of[-2:]}) for of in ranges]
    yield from product(*some)
