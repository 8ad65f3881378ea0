"""A release, from the words that ask for it to the files that are published. Read this first.

::

    spec -> promises derived (pure, before any data is opened) -> ledger reserves (refuses: nothing was read)
    people -> spec.run (exact counts, secret sample, noise) -> Release -> files, report and certificate, staged
                                                               -> ledger commits the digests -> the files are visible

Nothing but the release depends on the data: reports, charts and certificates are made from it alone. This file owns all
of that way, for every kind of release, for Python and the command line alike: whatever is reserved here is committed,
or given up, here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from hubbub.certificate import draft
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.files import check_format, write
from hubbub.kind import Release, Reservation, Spec
from hubbub.ledger.book import Ledger
from hubbub.ledger.charge import charge
from hubbub.ledger.durable import sha256
from hubbub.noise.source import Source, SystemSource, is_secure
from hubbub.report import report as page_of
from hubbub.staging import CERTIFICATE, PREFIX, REPORT, Staged, opened, publish
from hubbub.tables.schema import column
from hubbub.tables.table import Table


def open(
    source: object,
    *,
    person: str | None = None,
    rows_are_people: bool = False,
    table: str | None = None,
    dataset: str | None = None,
    ledger: str | os.PathLike[str] | None = None,
) -> Table:
    """A table of people: a path (CSV, Parquet, a glob of Parquet files, a DuckDB file), a frame, or a connection.

    `person` is the column that says who a row is about; where each row is another person, `rows_are_people` says so.
    One of the two has to be said, since all that is promised is promised to people. `dataset` is the table's name in
    the ledger, by which releases about the same people are known; a file is named after itself unless told otherwise.
    `ledger` is the ledger's file, if not the user's own.
    """
    from hubbub.engines import opening  # late: an import of hubbub loads no engine

    _say_who(person, rows_are_people)
    engine = opening.open_source(source, table=table)
    if person is not None:
        column(engine.columns(), person)
    if dataset is None and isinstance(source, str | os.PathLike):
        dataset = named_after(source, table)
    books = Ledger(ledger)
    return Table(engine, person, lambda spec: perform(spec, engine, books, dataset))


def _say_who(person: str | None, rows_are_people: bool) -> None:
    """Who is a person cannot be guessed from a table: twenty rows may be twenty people, or one."""
    if person is None and not rows_are_people:
        raise WrongUse(
            "say who a person is: --person COLUMN, the column that says who a row is about, or --rows-are-people if "
            "each row is another person"
        )
    if person is not None and rows_are_people:
        raise WrongUse("--person and --rows-are-people exclude each other; keep the one that is so")


def named_after(source: str | os.PathLike[str], table: str | None = None) -> str:
    """The dataset's name that a file gives: its own, without folder and ending.

    >>> named_after("data/town 2024.parquet"), named_after("city.duckdb", "people")
    ('town-2024', 'city.people')
    """
    stem = Path(os.fspath(source)).stem
    text = re.sub(r"[^\w.*-]+", "-", stem if table is None else f"{stem}.{table}").strip("-_.*")
    return text[:100] or "table"


def perform(spec: Spec, data: Any, ledger: Ledger, dataset: str | None) -> Release:
    """Reserve a place in the ledger, then carry a release out.

    Guarantee: the promises are derived before the data is read, and are on the disk, covered by a theorem together with
    all earlier releases of the dataset, before any noise is drawn. If nothing came out, the place is given up; that is
    free only if no noise was drawn.
    """
    if dataset is None:
        raise WrongUse("this table has no name in the ledger; give it one, like open(people, dataset='town')")
    spec = spec.resolved(data.columns())
    promised = spec.promises()  # refuses here: nothing was read
    place = ledger.reserve(dataset, charge(spec), source=data.identity())
    noise = SystemSource()
    with _given_up(ledger, place, lambda: noise.used):
        result = spec.run(data, noise)
    return Release(spec, promised, result, place, noise.used)


def run(spec: Spec, data: Any, source: Source) -> Release:
    """A release that is entered in no ledger and so cannot be saved: for looking at the parts."""
    if not is_secure(source):
        raise Refused("a release draws its noise from the operating system; another source is for tests of its parts")
    spec = spec.resolved(data.columns())
    return Release(spec, spec.promises(), spec.run(data, source))


def save(release: Release, folder: str | os.PathLike[str], *, form: str = "csv", report: bool = True) -> dict[str, str]:
    """Write the release as CSV or Parquet, its report and its certificate into a folder; returns where they are.

    Guarantee: the digests of the files are in the ledger, on the disk, before a file has its name. If this is cut short
    at any moment, the folder holds either nothing new or bytes that are paid for, and :func:`hubbub.finishing.finish`
    brings out the rest of them. If it fails and leaves nothing behind, the place in the ledger is given up.
    """
    return publish(stage(release, folder, form=form, report=report))


def stage(release: Release, folder: str | os.PathLike[str], *, form: str = "csv", report: bool = True) -> Staged:
    """Write everything into a hidden folder beside its place, durably; nothing is visible yet."""
    check_format(form)
    place = release.place
    if place is None:
        raise Refused("this release is in no ledger, so it is not published; make it with hubbub.open(...)")
    ledger, out = Ledger(place.ledger), Path(folder)
    hidden = out / f"{PREFIX}{place.nonce}"
    with _given_up(ledger, place, lambda: release.drawn, unless=hidden.exists), opened(out, place) as staged:
        digests = {}
        for sheet in release.result.sheets():
            name = f"{sheet.name}.{form}"
            staged.add(name, partial(write, sheet, form))
            digests[name] = sha256(staged.path(name))
        staged.draft(draft(release, digests, place))  # whatever fails from here on loses nothing
        if report:
            with suppress(Exception):  # numbers without a page are better than none
                digests[REPORT] = _page(release, staged, digests)
                staged.draft(draft(release, digests, place))
        staged.sign(ledger)
    return staged


def _page(release: Release, staged: Staged, digests: Mapping[str, str]) -> str:
    """The report, written; returns its digest."""
    main = next(iter(digests))
    text = page_of(release, files={"release": main, "certificate": CERTIFICATE}, digest=digests[main])
    staged.add(REPORT, lambda out: out.write(text.encode()))
    return sha256(staged.path(REPORT))


@contextmanager
def _given_up(
    ledger: Ledger, place: Reservation, drawn: Callable[[], bool], *, unless: Callable[[], bool] = lambda: False
) -> Iterator[None]:
    """If what is done inside fails, and leaves nothing behind, the place in the ledger is given up."""
    try:
        yield
    except BaseException:
        if not unless():
            with suppress(HubbubError):  # then it stays reserved, and counts as spent
                ledger.abandon(place, drawn=drawn())
        raise
