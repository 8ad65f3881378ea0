"""The public calendar of a series: so many days, weeks, months, quarters or years, from a first one on."""

from __future__ import annotations

import datetime
import re
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

UNITS: Final = ("day", "week", "month", "quarter", "year")
_EPOCH: Final = datetime.date(1970, 1, 1).toordinal()
_FORMS: Final = {
    "day": (r"(\d{4})-(\d\d)-(\d\d)", "2026-01-31"),
    "week": (r"(\d{4})-W(\d\d)", "2026-W05"),
    "month": (r"(\d{4})-(\d\d)", "2026-01"),
    "quarter": (r"(\d{4})-Q([1-4])", "2026-Q1"),
    "year": (r"(\d{4})", "2026"),
}


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
        if self.periods < 1 or _label(self.every, number) != self.first:
            raise WrongUse(f"a calendar has at least one period; {self.first[:40]!r} begins none, choose another")
        try:
            _label(self.every, number + self.periods)
        except (ValueError, OverflowError):
            raise WrongUse("the calendar goes beyond the year 9999; choose fewer periods") from None

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each period, in order."""
        start = _number(self.every, self.first)
        return tuple(_label(self.every, start + i) for i in range(self.periods))

    @property
    def last(self) -> str:
        return _label(self.every, _number(self.every, self.first) + self.periods - 1)

    @property
    def days(self) -> tuple[int, ...]:
        """The first day of each period, and the first one after the last: days since 1970-01-01."""
        start = _number(self.every, self.first)
        return tuple(_first_day(self.every, start + i) - _EPOCH for i in range(self.periods + 1))

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
        parts = [int(part) for part in found.groups()]
        match unit:
            case "day":
                return datetime.date(*parts).toordinal()
            case "week":
                return datetime.date.fromisocalendar(parts[0], parts[1], 1).toordinal() // 7
            case "month":
                datetime.date(parts[0], parts[1], 1)
                return parts[0] * 12 + parts[1] - 1
            case "quarter":
                return parts[0] * 4 + parts[1] - 1
            case _:
                return datetime.date(parts[0], 1, 1).year
    except ValueError:
        raise WrongUse(f"a {unit} is written like {example}, not {label[:40]!r}; write it so") from None


def _label(unit: str, number: int) -> str:
    """The inverse."""
    match unit:
        case "day":
            return datetime.date.fromordinal(number).isoformat()
        case "week":
            year, week, _ = datetime.date.fromordinal(number * 7 + 1).isocalendar()
            return f"{year:04d}-W{week:02d}"
        case "month":
            return datetime.date(number // 12, number % 12 + 1, 1).isoformat()[:7]
        case "quarter":
            return f"{datetime.date(number // 4, 1, 1).year:04d}-Q{number % 4 + 1}"
        case _:
            return f"{datetime.date(number, 1, 1).year:04d}"


def _first_day(unit: str, number: int) -> int:
    """The first day of a period, as an ordinal."""
    match unit:
        case "day":
            return number
        case "week":
            return number * 7 + 1  # a Monday
        case "month":
            return datetime.date(number // 12, number % 12 + 1, 1).toordinal()
        case "quarter":
            return datetime.date(number // 4, number % 4 * 3 + 1, 1).toordinal()
        case _:
            return datetime.date(number, 1, 1).toordinal()
