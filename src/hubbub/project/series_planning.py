"""A series in the file of a publication: started once, and every period published once, in a folder of its own.

::

    [[release]]
    name = "visits"                          # of the series in the ledger, too
    kind = "count"                           # histogram, count, cube or sum
    by = ["ward"]
    epsilon = 1                              # of all periods together
    series = { periods = 12, first = "2026-01", recur = 2 }
    period = "2026-03"                       # up to which it is published; write the next one when its table is there
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from hubbub import registry
from hubbub.errors import Refused, WrongUse
from hubbub.kinds.series.request import series as asked_series
from hubbub.kinds.series.spec import Period, Series
from hubbub.kinds.table import Table
from hubbub.ledger.ledger import Ledger, dataset_name
from hubbub.ledger.records import Record
from hubbub.project.plan_file import Dataset, PlanEntry, Publication
from hubbub.project.planned import ANOTHER, Planned, State, certificate_in, is_ready
from hubbub.protocol.weakness import weaknesses
from hubbub.publication.signed_files import CERTIFICATE
from hubbub.runtime.frozen import dataclass
from hubbub.series import series_of_record

_SKIPPED: Final = (
    "{name}: {first} was not published before {period}, and then counts nobody for good; set period to {first} first, or add "
    "skip = true"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesRun:
    """What starts a series, if it is not started yet, and which period is to be published."""

    name: str
    options: dict[str, Any]
    series: Series
    period: str
    started: bool
    keep_one_row: bool = False  # of people with several rows, where the series expects one


def series_releases(
    publication: Publication, ledger: Ledger, dataset: Dataset, entry: PlanEntry, people: Table
) -> Iterator[Planned]:
    """The periods of a series that are out or to be published, in their order.

    Guarantee: a series that is started is never started again, and is not gone on with if the file asks for another one. What
    the ledger has drawn is not drawn again. The first period of a series that is not started is charged with all of it, and
    nothing else is charged.
    """
    run = _requested_series(entry, people)
    record = _record(ledger, run.name)
    if record is not None:
        run = _as_started(run, series_of_record(record))
    for i, period in enumerate(_periods(run, record, skip=entry.skip)):
        each = replace(run, period=period, started=record is not None or i > 0)
        yield _plan_period(publication, ledger, dataset, entry, people, each, record)


def _requested_series(entry: PlanEntry, people: Table) -> SeriesRun:
    assert entry.series is not None and entry.period is not None and entry.kind is not None
    options = registry.kind(entry.kind).options
    named = people.dictionary.fill_options(options, entry.options, people.engine.columns())
    named |= entry.series | {"kind": entry.kind, "person": people.person}
    try:
        found = asked_series(dataset_name(entry.name), **named)
    except TypeError:
        raise WrongUse(
            f"the series {entry.name} has words that no series has; it is of by, where, of, margins, "
            "`one_row_per_person`, `rows_per_person`, `rows_per_bin`, distinct, epsilon, delta, sample, crowd and coverage"
        ) from None
    found.calendar.index(entry.period)  # refuses here
    return SeriesRun(name=entry.name, options=named, series=found, period=entry.period, started=False)


def _as_started(run: SeriesRun, started: Series) -> SeriesRun:
    """The series that was started, if the file asks for it; one row of each may be asked for since, where it expects one."""
    one_row = replace(started.unit, one_row_per_person=True) if started.may_keep_one_row else None
    if run.series.unit == one_row and replace(run.series, unit=started.unit) == started:
        return replace(run, series=started, keep_one_row=True)
    if run.series != started:
        raise Refused(ANOTHER.format(f"the series {run.name}"))
    return run


def _record(ledger: Ledger, name: str) -> Record | None:
    return next((each for each in ledger.all_series() if each.series == name), None)


def _periods(run: SeriesRun, record: Record | None, *, skip: bool) -> list[str]:
    """Those that are drawn, in case one of them is not written yet, and those that are to come."""
    labels, last = run.series.calendar.labels, run.series.calendar.index(run.period)
    drawn = [] if record is None else [int(each.body["period"]) for each in record.periods]
    following = drawn[-1] + 1 if drawn else 0
    if run.series.date is not None:
        return labels_of(labels, [*drawn, *range(following, last + 1)])
    if following < last and not skip:
        raise WrongUse(_SKIPPED.format(name=run.name, first=labels[following], period=run.period))
    return labels_of(labels, sorted({*drawn, last} if last >= following else {*drawn}))


def labels_of(labels: tuple[str, ...], which: list[int]) -> list[str]:
    """The names of some periods."""
    return [labels[i] for i in which]


def _plan_period(
    publication: Publication,
    ledger: Ledger,
    dataset: Dataset,
    entry: PlanEntry,
    people: Table,
    run: SeriesRun,
    record: Record | None,
) -> Planned:
    bound = Period(series=run.series, period=run.period).bind(people.engine.columns())
    one = replace(entry, name=f"{entry.name}/{run.period}")
    folder = publication.folder(one)
    state = State.READY if is_ready(folder) else State.OPEN
    if (folder / CERTIFICATE).exists():
        body = certificate_in(folder, ledger, dataset.name)
        if record is None or body["ledger"]["nonce"] != record.nonce or body["release"].get("period") != run.period:
            raise Refused(ANOTHER.format(one.name))
        state = State.OUT
    weak = weaknesses(bound, people.possible_person)
    return Planned(entry=one, table=people, bound=bound, state=state, weak=weak, series=run, charged=not run.started)
