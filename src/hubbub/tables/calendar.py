"""The public calendar of a series: so many days, weeks, months, quarters or years, from a first one on."""

from __future__ import annotations

import datetime
import re
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.tables.bins import period_begin, period_label, period_number

_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_FORMS: Final = {
    "day": (r"(\d{4})-(\d\d)-(\d\d)", "2026-01-31"),
    "week": (r"(\d{4})-W(\d\d)", "2026-W05"),
    "month": (r"(\d{4})-(\d\d)", "2026-01"),
    "quarter": (r"(\d{4})-Q([1-4])", "2026-Q1"),
    "year": (r"(\d{4})", "2026"),
}
UNITS: Final = tuple(_FORMS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calendar:
    """`periods` periods, one after the other, the first of which is called `first`."""

    every: str
    first: str
    periods: int

    def __post_init__(self) -> None:
        if self.every not in UNITS:
            raise WrongUse(f"a calendar goes by {', '.join(UNITS)}, not {self.every[:40]!r}; choose one of these")
        number = _number(self.every, self.first)
        if self.periods < 1 or period_label(self.every, number) != self.first:
            raise WrongUse(f"a calendar has at least one period; {self.first[:40]!r} begins none, choose another")
        try:
            period_begin(self.every, number + self.periods)
        except (ValueError, OverflowError):
            raise WrongUse("the calendar goes beyond the year 9999; choose fewer periods") from None

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each period, in order."""
        start = _number(self.every, self.first)
        return tuple(period_label(self.every, start + i) for i in range(self.periods))

    @property
    def last(self) -> str:
        return period_label(self.every, _number(self.every, self.first) + self.periods - 1)

    @property
    def days(self) -> tuple[int, ...]:
        """The first day of each period, and the first one after the last: days since 1970-01-01."""
        start = _number(self.every, self.first)
        return tuple(period_begin(self.every, start + i).toordinal() - _EPOCH for i in range(self.periods + 1))

    @property
    def last_day(self) -> str:
        """The last day of the last period, like 2026-12-31."""
        return datetime.date.fromordinal(self.days[-1] + _EPOCH - 1).isoformat()

    def index(self, label: str) -> int:
        """Which period that is, from 0; one sentence if it is none of these."""
        found = _number(self.every, label) - _number(self.every, self.first)
        if not 0 <= found < self.periods:
            raise WrongUse(
                f"the series goes from {self.first} to {self.last}, and {label[:40]} is not in it; name a period of it, or "
                "start another series"
            )
        return found


def _number(unit: str, label: str) -> int:
    """A period as a number that grows by one."""
    form, example = _FORMS[unit]
    found = re.fullmatch(form, label, re.ASCII)
    try:
        if found is None:
            raise ValueError
        year, *rest = map(int, found.groups())
        if unit == "week":
            return period_number(unit, datetime.date.fromisocalendar(year, rest[0], 1))
        month, day = (*rest, 1, 1)[:2]
        return period_number(unit, datetime.date(year, 3 * month - 2 if unit == "quarter" else month, day))
    except ValueError:
        raise WrongUse(f"a {unit} is written like {example}, not {label[:40]!r}; write it so") from None
