"""The variance or standard deviation of a column, and its mean, as one release: everything about it that is public.

Of x in 0..W three sums are published, of (W - x)^2, of 2 x (W - x) and of x^2. They are never negative and add up to W^2
for each person, so that one person moves them by W^2 together and noise of rate epsilon/W^2 on each costs epsilon:
nothing is split between the number of people, the mean and the squares. Crowds, whose number is exact, publish the sum
of x and that of (2 x - W)^2, with noise of rates 0.64 epsilon/W and 0.64 epsilon/W^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.guarantees.derivation import Derivation
from hubbub.kinds.statistic.spec import Statistic
from hubbub.noise.sampler import WIDEST
from hubbub.protocol.spec import Check, Description, Files, Measurement, Result, Source
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bounded_column import Measure
from hubbub.tables.protection import Crowd, Knowledge, Route

CROWD_SHARE: Final = Fraction(16, 25)
"""Somebody who stands in for another moves x/W by d and (2 x/W - 1)^2 by d' with d + d' <= 25/16: the largest there is,
from x/W = 3/8 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments(Statistic):
    """The spread of a column, over the people of each bin, or over all, who have a value there."""

    of: Measure

    def __post_init__(self) -> None:
        Statistic.__post_init__(self)
        if isinstance(self.protection, Crowd) and self.protection.epsilon is None:
            raise WrongUse("what a crowd has together is shown with noise; say how much it may lose, with `epsilon=E`")
        if isinstance(self.protection, Knowledge) and self.protection.route is Route.EXACT:
            raise WrongUse("noise on the exact number is for one share of all people; draw a sample instead")
        if self.unit.expected_rows or self.any_row:
            raise WrongUse("a spread is of the rows that were kept; leave out `expected_rows` and `any_row`")
        if min(self.rates) < WIDEST:
            raise WrongUse("noise wider than 10^12 squared steps is not drawn; declare a coarser step")

    @property
    def squared(self) -> bool:
        """Whether the variance is asked for, and not its root."""
        return False

    @property
    def measured(self) -> Measure:
        return self.of

    @property
    def steps(self) -> int:
        """W^2: how far one person moves the three sums together."""
        return self.of.steps**2

    @property
    def sum_rate(self) -> Fraction | None:
        return None

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """Those of the noise of the sums that are drawn."""
        loss, width = self.unit_loss, self.of.steps
        assert loss is not None
        if isinstance(self.protection, Crowd):
            return CROWD_SHARE * loss / width, CROWD_SHARE * loss / width**2
        return (loss / width**2,) * 3

    def promises(self) -> tuple[Derivation, ...]:
        from hubbub.kinds.moments import promises

        return promises.promises(self)

    def checks(self) -> Iterator[Check]:
        from hubbub.kinds.moments import promises

        return promises.checks(self)

    def describe(self) -> Description:
        from hubbub.kinds.moments import text

        return text.describe(self)

    def measure(self, data: Any, source: Source) -> Measurement:
        from hubbub.kinds.moments import mechanism

        return mechanism.measure(self, data, source)

    def present(self, measurement: Measurement) -> Result:
        from hubbub.kinds.moments import mechanism

        return mechanism.present(self, measurement)

    def load(self, files: Files) -> Measurement:
        from hubbub.kinds.moments.load import load

        return load(self, files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance(Moments):
    """The mean squared distance from the mean."""

    @property
    def squared(self) -> bool:
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation(Moments):
    """The standard deviation, the root of the variance."""
