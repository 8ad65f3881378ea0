"""What a publication would do: which releases are out, which are to come, and what all of them promise together.

Which releases of a publication come together, as far as they are out or planned now.

A series in the file of a publication: started once, and every period published once, in a folder of its own.

::

    [[release]]
    name = "visits"                          # of the series in the ledger, too
    kind = "count"                           # histogram, count, cube or sum
    by = ["ward"]
    epsilon = 1                              # of all periods together
    series = { periods = 12, first = "2026-01", recur = 2 }
    period = "2026-03"                       # up to which it is published; write the next one when its table is there

A release of a publication with its spec, and where it is: published, written, or still to come.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from itertools import count
from pathlib import Path
from typing import Any, Final

from hubbub import registry
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.promise_order import in_brief
from hubbub.kinds.queries.spec import Queries
from hubbub.kinds.series.request import series as asked_series
from hubbub.kinds.series.spec import Period, Series
from hubbub.kinds.table import Table
from hubbub.ledger.admission import Entered, Totals, totals
from hubbub.ledger.charge import charge
from hubbub.ledger.dry_run import dry_runs
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.records import Record
from hubbub.numeric.exact import Infinite, to_text
from hubbub.numeric.format import short
from hubbub.opening import open as open_table
from hubbub.private_sql.execution import prepare
from hubbub.project.joint import Joint, Member, groups, joint, member, of_spec, same_request
from hubbub.project.plan_file import Dataset, PlanEntry, Publication
from hubbub.protocol.bound import Bound
from hubbub.protocol.release import dataset_name
from hubbub.protocol.spec import Spec
from hubbub.protocol.weakness import weaknesses
from hubbub.publication.signed_files import published
from hubbub.publication.staging import DRAFT, unfinished
from hubbub.query_classes.classes import NamedTables
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.published_files import CERTIFICATE
from hubbub.series import series_of_record

ANOTHER: Final = (
    "{} is published already, and what this file asks for now is another release; give that another name, and it is planned as "
    "a new one"
)


class State(Enum):
    """Where a release is."""

    OUT = "published"
    READY = "written, and to be brought out"
    OPEN = "to be published"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A release with its spec, bound to the columns of its table, and where it is. Of a joint one, `entry` is what names
    its folder, and the tables that were asked for are its members."""

    entry: PlanEntry
    table: Table
    bound: Bound
    state: State
    weak: tuple[str, ...]
    joint: Joint | None = None
    series: SeriesRun | None = None
    charged: bool = True  # whether it is entered in the ledger: a period of a series that is started is not

    @property
    def spec(self) -> Spec:
        """What is asked for."""
        return self.bound.spec

    @property
    def names(self) -> tuple[str, ...]:
        """Of the releases that the file wants, those that come out with this one."""
        return (self.entry.name,) if self.joint is None else tuple(each.entry.name for each in self.joint.members)


def is_ready(folder: Path) -> bool:
    """Whether a release of this folder is whole, and to be brought out."""
    return any((hidden / DRAFT).exists() for hidden in unfinished(folder))


def is_begun(folder: Path) -> bool:
    """Whether a release of this folder is out, or whole and to be brought out."""
    return (folder / CERTIFICATE).exists() or is_ready(folder)


def _state_in(folder: Path, ledger: Ledger, entry: PlanEntry, is_same: Callable[[dict[str, Any]], bool]) -> State:
    """How far a release of this folder is; one sentence if another than is asked for came out there."""
    if not (folder / CERTIFICATE).exists():
        return State.READY if is_ready(folder) else State.OPEN
    if not is_same(certificate_in(folder, ledger, entry.dataset)):
        raise Refused(ANOTHER.format(entry.name))
    return State.OUT


def certificate_in(folder: Path, ledger: Ledger, dataset: str) -> dict[str, Any]:
    """The certificate of the release in a folder, if this ledger published it of this dataset."""
    if CERTIFICATE not in published(folder, ledger):
        raise Refused(f"{folder} holds a release that this ledger did not publish; move it, or choose another folder")
    found: dict[str, Any] = json.loads((folder / CERTIFICATE).read_bytes())
    if found["ledger"]["dataset"] != dataset:
        raise Refused(f"{folder.name} is published of other people; give this release another name")
    return found


def joint_releases(
    publication: Publication,
    ledger: Ledger,
    dataset: Dataset,
    entries: list[PlanEntry],
    tables: dict[str, tuple[Table, Bound]],
) -> Iterator[Planned]:
    """The releases in which several tables come together: those that are out, and those that are planned now.

    Guarantee: a table that is out with others is never published again, whatever the file says of `joint`.
    """
    found = {each.name: member(each, *tables[each.name]) for each in entries}
    gone = set[str]()
    for folder in _published_folders(publication, dataset):
        names = _published_tables(ledger, dataset, folder)
        gone |= set(names)
        if some := [name for name in names if name in found]:
            yield _published_joint(ledger, dataset, folder, names, {name: found[name] for name in some})
    alone = {each.name for each in entries if is_begun(publication.folder(each))}
    free = [each for name, each in found.items() if each is not None and name not in gone | alone and each.entry.joint]
    folders = _free_folders(publication, dataset)
    for best in filter(None, map(joint, groups(free))):
        yield _as_planned(next(folders), best)


def _base(dataset: Dataset) -> str:
    name = re.sub(r"[^a-z0-9._-]+", "-", dataset.name.lower()).strip("-._")
    return f"{name}-tables" if name else "tables"


def _published_folders(publication: Publication, dataset: Dataset) -> Iterator[Path]:
    """Folders of joint releases that are out."""
    taken = {each.name for each in publication.entries}
    for path in sorted(publication.out.glob(f"{_base(dataset)}*/{CERTIFICATE}")):
        name = path.parent.name
        if name not in taken and re.fullmatch(r"(-[0-9]+)?", name.removeprefix(_base(dataset))):
            yield path.parent


def _free_folders(publication: Publication, dataset: Dataset) -> Iterator[Path]:
    """Folders for joint releases, none of which a release of the file has."""
    taken = {each.name for each in publication.entries}
    for number in count(1):
        name = _base(dataset) if number == 1 else f"{_base(dataset)}-{number}"
        if name not in taken and not (publication.out / name / CERTIFICATE).exists():
            yield publication.out / name


def _published_tables(ledger: Ledger, dataset: Dataset, folder: Path) -> tuple[str, ...]:
    """The names of the tables of a joint release that is out."""
    body = certificate_in(folder, ledger, dataset.name)
    spec = registry.read(body["kind"], body["release"])
    if not isinstance(spec, Queries) or not isinstance(spec.queries, NamedTables):
        raise Refused(f"{folder} holds a release of another kind; move it, or choose another folder with `out`")
    return tuple(each.name for each in spec.queries.tables)


def _published_joint(
    ledger: Ledger,
    dataset: Dataset,
    folder: Path,
    names: tuple[str, ...],
    found: dict[str, Member | None],
) -> Planned:
    missing = [name for name in names if name not in found]
    if missing:
        raise Refused(
            f"{next(iter(found))} is published together with {', '.join(missing)[:200]}, which this file has no more; put that "
            "back, or give the others new names, and they are planned as new ones"
        )
    members = tuple(each for name in names if (each := found[name]) is not None)
    body = certificate_in(folder, ledger, dataset.name)
    same = len(members) == len(names) and same_request(body["release"], members)
    if not same or body.get("reading") != dict(members[0].table.reading):
        changed = next((name for name in names if found[name] is None), f"the release of {', '.join(names)[:200]}")
        raise Refused(ANOTHER.format(changed))
    spec = registry.read(body["kind"], body["release"])
    assert isinstance(spec, Queries)
    return replace(_as_planned(folder, of_spec(members, spec)), state=State.OUT)


def _as_planned(folder: Path, best: Joint) -> Planned:
    first = best.members[0]
    entry = replace(
        first.entry,
        name=folder.name,
        kind=best.spec.kind.name,
        options={},
        report=_joint_report([each.entry for each in best.members]),
        accept_weak=all(each.entry.accept_weak for each in best.members),
    )
    bound = Bound(best.spec)
    weak = weaknesses(bound, first.table.possible_person)
    state = State.READY if is_ready(folder) else State.OPEN
    return Planned(entry=entry, table=first.table, bound=bound, state=state, weak=weak, joint=best)


def _joint_report(entries: list[PlanEntry]) -> dict[str, Any]:
    """What the report of a joint release says of itself: words that all tables share, and what each table is called."""
    reports = [each.report for each in entries]
    shared = ("subtitle", "date", "link", "language")
    named = {
        name: reports[0][name]
        for name in shared
        if all(each.get(name) == reports[0].get(name) for each in reports) and name in reports[0]
    }
    labels = dict[str, str]()
    for each in reports:
        labels |= each["labels"] if isinstance(each.get("labels"), dict) else {}
    titles = [f"{each.name}: {each.report['title']}" for each in entries if each.report.get("title")]
    own = [note for each in reports for note in each.get("notes", ())]
    return named | {"labels": labels, "notes": [*own, *_lines_of("; ".join(titles))][:10]}


def _lines_of(text: str) -> list[str]:
    return textwrap.wrap(text, 1000) if text else []


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


def series_releases(publication: Publication, ledger: Ledger, entry: PlanEntry, people: Table) -> Iterator[Planned]:
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
        yield _plan_period(publication, ledger, entry, people, each, record)


def _requested_series(entry: PlanEntry, people: Table) -> SeriesRun:
    assert entry.series is not None and entry.period is not None and entry.kind is not None
    options = registry.kind(entry.kind).words
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
    entry: PlanEntry,
    people: Table,
    run: SeriesRun,
    record: Record | None,
) -> Planned:
    bound = Period(series=run.series, period=run.period).bind(people.engine.columns())
    one = replace(entry, name=f"{entry.name}/{run.period}")
    state = _state_in(
        publication.folder(one),
        ledger,
        one,
        lambda body: (
            record is not None
            and (body["ledger"]["nonce"], body["release"].get("period")) == (record.nonce, run.period)
        ),
    )
    weak = weaknesses(bound, people.possible_person)
    return Planned(entry=one, table=people, bound=bound, state=state, weak=weak, series=run, charged=not run.started)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """All releases in their order; `after` is what holds of each dataset when all are out."""

    publication: Publication
    releases: tuple[Planned, ...]
    after: dict[str, Totals | None]

    @property
    def open(self) -> tuple[Planned, ...]:
        """Those that are still to be published."""
        return tuple(each for each in self.releases if each.state is State.OPEN)


def plan(publication: Publication) -> Plan:
    """The plan of a publication. Tables are opened and not counted.

    Guarantee: nothing is entered, counted or drawn. A publication of which any release would be refused, by the ledger,
    by its caps or because another release of that name is out, is refused as a whole.
    """
    ledger = Ledger(publication.ledger)
    releases, after = [], {}
    order = {each.name: i for i, each in enumerate(publication.entries)}
    for dataset in publication.datasets:
        every = [each for each in publication.entries if each.dataset == dataset.name]
        mine = [each for each in every if each.series is None]
        tables = {each.name: _open_entry(publication, dataset, each) for each in mine}
        together = list(joint_releases(publication, ledger, dataset, mine, tables))
        named = {name for each in together for name in each.names}
        found = [
            *together,
            *(_plan_entry(publication, ledger, each, *tables[each.name]) for each in mine if each.name not in named),
        ]
        for each in every:
            if each.series is not None:
                people = _open(publication, dataset, dataset.opening)
                found += series_releases(publication, ledger, each, people)
        found.sort(key=_order_in_file(order))
        _check_budget(dataset, found)
        after[dataset.name] = _totals_after(ledger, dataset, found)
        releases += found
    return Plan(
        publication=publication,
        releases=tuple(sorted(releases, key=_order_in_file(order))),
        after=after,
    )


def _order_in_file(order: dict[str, int]) -> Callable[[Planned], int]:
    """Where a release stands in the file: a period where its series does."""
    return lambda each: order[each.names[0].partition("/")[0]]


def _open_entry(publication: Publication, dataset: Dataset, entry: PlanEntry) -> tuple[Table, Bound]:
    opening, kind, options = dict(dataset.opening), entry.kind, entry.options
    if entry.sql is not None:
        asked, sources = prepare(
            entry.sql, dataset.file, opening.get("dictionary"), dataset=dataset.name, table=opening.get("table")
        )
        opening |= {name: value for name, value in asked.opening.items() if value}
        opening |= {} if sources.table is None else {"table": sources.table}
        kind, options = asked.kind, asked.options
    people = _open(publication, dataset, opening)
    assert kind is not None
    try:
        return people, people.ask(registry.kind(kind), **options).bind(people.engine.columns())
    except (Refused, WrongUse) as error:
        raise type(error)(f"{entry.name}: {error.marked}") from None


def _open(publication: Publication, dataset: Dataset, opening: dict[str, Any]) -> Table:
    if (
        not any(sign in dataset.file for sign in "*?[")
        and "://" not in dataset.file
        and not Path(dataset.file).exists()
    ):
        raise WrongUse(
            f"the dataset {dataset.name} is in {dataset.file[:200]!r}, and nothing is there; correct its file"
        )
    try:
        return open_table(dataset.file, dataset=dataset.name, ledger=publication.ledger, **opening)
    except TypeError:
        raise WrongUse(f"the dataset {dataset.name} has words that hubbub.open does not know; check them") from None


def _plan_entry(publication: Publication, ledger: Ledger, entry: PlanEntry, people: Table, bound: Bound) -> Planned:
    weak = weaknesses(bound, people.possible_person)
    folder = publication.folder(entry)
    if entry.corrects is not None:
        certificate_in(publication.out / entry.corrects, ledger, entry.dataset)  # refuses here
    asked = {"release": bound.json, "reading": dict(people.reading)}
    state = _state_in(folder, ledger, entry, lambda body: all(body.get(name) == asked[name] for name in asked))
    return Planned(entry=entry, table=people, bound=bound, state=state, weak=weak)


def _check_budget(dataset: Dataset, found: list[Planned]) -> None:
    """Refuse releases of a file that lose more together than it says for their dataset.

    Guarantee: returns only if all releases of the file of this dataset, those that are out and each series as a whole, have
    differential privacy with at most the epsilon, and at most the delta, that the file says for it.
    """
    cap, most = (dataset.budget.get(name) for name in ("epsilon", "delta"))
    if cap is None and most is None:
        return
    once = {each.entry.name if each.series is None else f"{each.series.name}/": each.bound for each in found}
    charges = list(map(charge, once.values()))
    together = totals([Entered(number=i, charge=each) for i, each in enumerate(charges, 1)]).differential.guarantee
    if not isinstance(together, DifferentialPrivacy) or isinstance(together.epsilon, Infinite):
        raise Refused(
            f"the file says what the releases of {dataset.name} may lose together, and not all of them promise differential "
            "privacy; leave it out there, and say it for each release"
        )
    for name, lost, allowed in (("epsilon", together.epsilon, cap), ("delta", together.delta, most)):
        if allowed is not None and lost > allowed:
            raise Refused(
                f"the releases of {dataset.name} lose {name} {short(lost, 6)} together, and the file allows them "
                f"{to_text(allowed)}; lower what they ask for, or raise {name} of the dataset"
            )


def _totals_after(ledger: Ledger, dataset: Dataset, found: list[Planned]) -> Totals | None:
    """What holds of a dataset when all of its releases are out, or a sentence if they may not follow one another."""
    new = [each for each in found if each.state is State.OPEN and each.charged]
    if not new:
        account = ledger.accounts().get(dataset.name)
        return None if account is None else account.totals
    for each in new:
        each.bound.promises  # noqa: B018  refuses here if nothing can be promised
    source = new[0].table.engine.identity()
    tried = dry_runs(
        ledger,
        dataset.name,
        [charge(each.bound) for each in new],
        source=source,
        disjoint=dataset.opening.get("disjoint"),
        more=dataset.policy if dataset.policy else None,
    )
    last = tried[-1]
    if last.refusal is not None:
        names = ", ".join(new[len(tried) - 1].names)
        raise Refused(f"{names} cannot follow the others: {last.refusal.marked}")
    return last.after


def losses(totals: Totals | None) -> Iterator[str]:
    """What holds of a dataset together, a line for each notion."""
    for total in (
        ()
        if totals is None
        else (
            totals.differential,
            totals.zero_knowledge,
            totals.crowd_blending,
            totals.outlier,
        )
    ):
        if total.guarantee is not None:
            yield in_brief(total.guarantee)
