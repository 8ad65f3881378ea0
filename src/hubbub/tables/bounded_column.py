"""A column whose values are added up, averaged or ranked: a declared range in declared steps.

::

    salary:0..300000            in the finest decimal step of at most 100,000 steps: 10
    salary:0..300000:100        0, 100, 200, ... 300000
    bmi:10..60:0.1              10, 10.1, ... 60
    fee:0..500:1,money          as cells are written, like bins (:mod:`hubbub.tables.cell_format`)

Each person counts with a whole number of steps x, from 0 to W = (high - low)/step: the value is put into the range
(what lies below it counts as `low`, what lies above as `high`, infinite numbers too) and then taken to the nearest
step, halves upwards. Floating-point numbers are rounded as their arithmetic does. Whoever has no value, or
not-a-number, is left out. The rule looks at one person alone, so nobody moves anybody else's x, and no sum moves by
more than W.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Assumption
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import Steps, parse
from hubbub.tables.cell_format import NUMBERS
from hubbub.tables.schema import ColumnType, Schema, column

MOST_STEPS: Final = 10_000_000
_STEPS: Final = 100_000  # where no step is said: enough that rounding is not seen, and any law is quick to work out
_FINEST: Final = 2**50  # decimals are counted in their last place, which must fit a floating-point number


@dataclass(frozen=True, slots=True)
class Measure:
    """x = 0..steps stands for low + x * step."""

    column: str
    low: Fraction
    step: Fraction
    steps: int
    reads: str = ""

    def __post_init__(self) -> None:
        if not self.step > 0 or not 0 < self.steps <= MOST_STEPS or self.reads not in ("", *NUMBERS):
            raise WrongUse("a range has from 1 to 10,000,000 steps that are above 0; declare such a one")

    @property
    def high(self) -> Fraction:
        return self.low + self.steps * self.step

    def value(self, x: Fraction | int) -> Fraction:
        """What so many steps stand for."""
        return self.low + x * self.step

    @property
    def cut(self) -> str:
        """What is done to values before anything is told of them, in words: cut to 0..10 and rounded to 1."""
        return f"cut to {to_text(self.low)}..{to_text(self.high)} and rounded to {to_text(self.step)}"

    def unrounded(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Where a mean or a quantile of values that are cut lies, if that of values cut and rounded is in low..high.

        Guarantee: half a step is added on either side, and what lies beyond the range is left out. A value inside of
        the range goes to its nearest step, at most half a step away (of floating-point numbers up to the last places
        of their arithmetic), and so the mean moves by at most that, and a quantile too: rounding keeps the order, so
        that the r-th of the rounded values is the r-th value, rounded. How far a value lies beyond the range is not
        known, and nothing is said about it.
        """
        (a, b), (s, t) = self.low.as_integer_ratio(), self.step.as_integer_ratio()  # thousands of bins: as integers
        over, under = low.as_integer_ratio()
        over, under = 2 * t * over - s * under, 2 * t * under  # low - step/2
        least = self.low if over * b <= a * under else Fraction(over, under)
        over, under = high.as_integer_ratio()
        over, under = 2 * t * over + s * under, 2 * t * under  # high + step/2
        top, bottom = a * t + self.steps * s * b, b * t  # of the range
        return least, Fraction(top, bottom) if over * bottom >= top * under else Fraction(over, under)

    def unrounded_parts(self, low: tuple[int, int], high: tuple[int, int]) -> tuple[Fraction, Fraction]:
        """:meth:`unrounded` of two parts of the range 0..1, each over/under with under > 0.

        Guarantee: the same fractions. The value of p/q of W steps is low + (p W/q) step, and half a step less of it
        lies beyond the range where 2 W p <= q; half a step more where 2 W p + q >= 2 W q. There may be thousands of bins:
        each end is one fraction, of integers.
        """
        (a, b), (s, t), double = self.low.as_integer_ratio(), self.step.as_integer_ratio(), 2 * self.steps
        (p, q), (u, v) = low, high
        halves, others = double * p - q, double * u + v
        least = self.low if halves <= 0 else Fraction(2 * q * a * t + b * s * halves, 2 * q * b * t)
        return least, self.high if others >= double * v else Fraction(2 * v * a * t + b * s * others, 2 * v * b * t)

    def bind(self, schema: Schema) -> Measure:
        """Itself, or one sentence if the column holds no numbers."""
        holds = column(schema, self.column)
        if holds not in (ColumnType.INTEGER, ColumnType.DECIMAL, ColumnType.FLOAT, ColumnType.TEXT):
            raise WrongUse(f"the column {self.column} holds {holds.value} and no numbers; choose another column")
        if self.reads and holds is not ColumnType.TEXT:
            raise WrongUse(f"the column {self.column} holds {holds.value}, read as they are; drop {self.reads}")
        if any("/" in to_text(number) for number in (self.low, self.step)):
            raise WrongUse(f"range and step of {self.column} must be decimal numbers that end; choose others")
        if max(abs(self.low), abs(self.high)) / min(self.step, Fraction(1)) >= _FINEST:
            raise WrongUse(f"the range of {self.column} is too wide for its step; declare a narrower or a coarser one")
        return self

    @property
    def rule(self) -> Assumption:
        """What happens to values outside and to missing ones, as something that is taken for granted."""
        sentence = (
            "{column}: values count in steps of {step} from {low} to {high}, the nearest one, halves upwards; what "
            "lies outside counts as the nearer end; people without a value are left out"
        )
        given = [("column", self.column), ("step", to_text(self.step))]
        given += [("low", to_text(self.low)), ("high", to_text(self.high))]
        if self.reads:
            return Assumption(
                "measure.read", f"{sentence}; cells are read as {{reads}}", (*given, ("reads", self.reads))
            )
        return Assumption("measure", sentence, tuple(given))


def measured(spec: object) -> Measure:
    """The range that a SPEC says."""
    if not isinstance(spec, str) or not spec.strip():
        raise WrongUse("say what is measured, with its range and its step, like `of=salary:0..300000:100`")
    axis = parse(_with_step(spec))
    if not isinstance(axis, Steps) or axis.null or axis.other:
        raise WrongUse(
            f"the range of {axis.column} must be declared, because nothing about it may be found in the data; write "
            f"{axis.column}:LOW..HIGH, like salary:0..300000"
        )
    return Measure(axis.column, axis.low, axis.width, axis.steps, axis.reads)


def _with_step(spec: str) -> str:
    """The SPEC, with a step if it has a range and none."""
    number = r"\s*([-+]?\d{1,40}(?:\.\d{1,40})?)\s*"
    match = re.fullmatch(rf'((?:"(?:[^"]|"")*"|[^=:"]+):{number}\.\.{number})(,.*)?', spec.strip(), re.DOTALL)
    if match is None:
        return spec
    low, high = Fraction(match[2]), Fraction(match[3])
    return f"{match[1]}:{to_text(finest_step(low, high))}{match[4] or ''}" if low < high else spec


def finest_step(low: Fraction, high: Fraction) -> Fraction:
    """The finest power of ten that has at most 100,000 steps from `low` to `high`, or a finer one of which both are
    multiples. A finer step costs nothing, and rounding to a coarse one makes every interval wider.

    >>> finest_step(Fraction(0), Fraction(14)), finest_step(Fraction(3), Fraction(1_000_003))
    (Fraction(1, 1000), Fraction(1, 1))
    """
    step = Fraction(1)
    while (high - low) / step > _STEPS:
        step *= 10
    while (high - low) / (step / 10) <= _STEPS or any((end / step).denominator > 1 for end in (low, high)):
        step /= 10
    return step
