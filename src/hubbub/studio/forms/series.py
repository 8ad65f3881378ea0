"""The question "every month": the same numbers in every period, declared whole and charged once before the first.

The form takes a series for a kind of release, with the options that are asked for here; no table is read when it is
started, and each period is then published from the page of the series.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Final

from hubbub.kinds.series import request as series_request
from hubbub.kinds.series.request import ROWS_OF_A_PERSON
from hubbub.kinds.series.spec import COUNT, HISTOGRAM, Period
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.option import HOW, Option
from hubbub.protocol.spec import TABLE, Kind
from hubbub.tables.calendar import UNITS

NAME: Final = "series"
_UNSAID: Final = {"every": "month", "periods": "12", "recur": "1"}

OPTIONS: Final = (
    Option("by", "SPEC", "A column and its declared bins.", many=True),
    Option("where", "CONDITION", "Of whom."),
    Option("every", "UNIT", "How long a period is.", choices=UNITS, default=_UNSAID["every"]),
    Option("first", "PERIOD", "Like 2026-01, 2026-W05 or 2026-Q1; if empty, the present one."),
    Option("periods", "T", "They are promised and charged together; a longer series is a new one.", _UNSAID["periods"]),
    Option("recur", "R", "The first ones count. The more, the more noise.", _UNSAID["recur"]),
    Option("date", "COLUMN", "Where one table grows and holds all periods: when each row is from."),
    *ROWS_OF_A_PERSON,
    Option("name", "NAME", "By which it is found again; if empty, that of the file."),
    Option("epsilon", "EPS", "The privacy loss of all periods together.", group=HOW),
    Option("crowd", "K", "Exact numbers of at least K people, the others hidden for good.", group=HOW),
    Option("delta", "D", "With epsilon: Gaussian noise, where it has less error.", group=HOW, advanced=True),
    Option("coverage", "C", "How often an interval is right.", default="0.95", advanced=True),
)


def kind_of_counts(by: Sequence[str]) -> str:
    """What a period is a release of: counts by bins, or one count."""
    return HISTOGRAM if by else COUNT


def _first_period(*, by: Sequence[str] = (), name: str | None = None, **words: Any) -> Period:
    said = {"first": present_period(words.get("every") or _UNSAID["every"]), **_UNSAID, **words}
    return series_request.from_options(name=name or NAME, kind=kind_of_counts(by), by=by, **said)


SERIES: Final = replace(series_request.KIND, options=OPTIONS, from_options=_first_period, data=TABLE)
"""As the form asks for it."""


def is_series(kind: Kind) -> bool:
    """Whether a form is about a series, which is started, and not released."""
    return kind is SERIES


def filled_in(words: Mapping[str, Any], name: str, ledger: Ledger) -> dict[str, Any]:
    """All words of a series: what was left empty is said, since it is fixed from its start on."""
    taken = {record.series for account in ledger.accounts().values() for record in account.records}
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    every = words.get("every") or _UNSAID["every"]
    return {"name": free, "first": present_period(every), **_UNSAID, **words}


def present_period(every: str) -> str:
    """The period in which we are, by the clock; of a unit that there is not, the month."""
    today = date.today()
    year, week, _ = today.isocalendar()
    return {
        "day": today.isoformat(),
        "week": f"{year:04}-W{week:02}",
        "quarter": f"{today.year:04}-Q{(today.month + 2) // 3}",
        "year": f"{today.year:04}",
    }.get(every, f"{today.year:04}-{today.month:02}")
