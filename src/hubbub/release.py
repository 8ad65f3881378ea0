"""A release, from the words that ask for it to the files that are published. Read this first.

::

    spec -> promises derived (pure, before any data is opened) -> ledger reserves (refuses: nothing was read)
    people -> measure (exact counts, secret sample, mechanism) -> Measurement: integers that were drawn
              present (pure: estimates, intervals, sheets, words) -> Release -> files, report and certificate, staged
                                                                  -> ledger commits the digests -> files are visible

Nothing but the release depends on the data: reports, charts and certificates are made from it alone. This file owns all
of that way, for every kind of release, for Python and the command line alike: whatever is reserved here is committed,
or given up, here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Unpack, cast

from hubbub.certificate.certificate import draft
from hubbub.charts.chart import Chart
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.ledger import durable
from hubbub.ledger.charge import charge
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.undrawn import Undrawn
from hubbub.noise.source import Source, SystemSource, is_secure
from hubbub.protocol.bound import Bound
from hubbub.protocol.capabilities import Deferred, MaybeDistributed, RunsCustom, is_deferred
from hubbub.protocol.release import Release, Reservation, Saving
from hubbub.protocol.result import Result
from hubbub.protocol.spec import Spec
from hubbub.publication.datapackage import package_bytes as package
from hubbub.publication.files import check_format, write, write_parquet
from hubbub.publication.signed_files import published, remove
from hubbub.publication.staging import (
    PREFIX,
    Staged,
    check_free,
    check_free_for_parts,
    check_nothing_half_out,
    check_ours,
    claimed,
    opened,
    publish,
)
from hubbub.report import report as page_of
from hubbub.report.heading import NO_HEADING, Heading
from hubbub.report.picture import chart_of
from hubbub.runtime.interruption import interruptible, uninterrupted
from hubbub.runtime.progress import working
from hubbub.serialization import manifest
from hubbub.serialization.canonical import Plain
from hubbub.serialization.published_files import CERTIFICATE, PACKAGE, REPORT, WORKBOOK
from hubbub.tables.unlisted import TooManyUnreadable

_STOPPED_FREE: Final = "nothing published, and nothing is spent"
_STOPPED_SPENT: Final = "nothing published, but noise was drawn already, so it counts as spent"
_STOPPED_WAITING: Final = "not published yet, but written and paid for; hubbub ledger finish FOLDER publishes it"
_STOPPED_LATE: Final = "but the release is published"


def execute(
    bound: Bound,
    data: Any,
    ledger: Ledger,
    dataset: str | None,
    *,
    other_people: bool = False,
    ids_of: str | None = None,
    disjoint: str | None = None,
    reading: Mapping[str, Plain] = MappingProxyType({}),
    labels: tuple[tuple[str, str], ...] = (),
) -> Release:
    """Reserve a place in the ledger, then carry a release out.

    Guarantee: the promises are derived before the data is read, and are on the disk, covered by a theorem together with
    all earlier releases of the dataset, before any noise is drawn. Where a column says who is who, people who are known
    under another name are refused before any noise is drawn, unless `other_people` is declared (`ids_of` names the
    register that their ids are of). With `disjoint`, people who are known in another period of the dataset are too. If
    nothing came out, the place is given up; if the process dies before anything was drawn, the next release does it.
    Refunded only if no noise was drawn, and no rows were chosen in secret or the failure was an interrupt during the
    count. That is safe: a failure before any choice or noise tells of no secret randomness, and the moment of an interrupt
    does not depend on the choice, so it tells nothing of that either.

    `reading` is how the table is read, as declared; the certificate says it. `labels` are what its columns are called.
    """
    if dataset is None:
        raise WrongUse("this has no name in the ledger; give it one, like open(people, dataset='town')")
    spec = bound.spec
    bound.promises  # noqa: B018  refuses here: nothing was read
    if disjoint is not None and spec.people.person is None:
        raise WrongUse("whether people are in no other period is checked by their ids; name the column with `person`")
    source = data.identity()
    with _refunding(ledger) as undrawn:
        reservation = ledger.reserve(
            dataset, charge(bound), source=source, disjoint=disjoint, before_entry=undrawn.begin
        )
        noise = SystemSource()
        noise.before_first(undrawn.end)

        def drawn(why: BaseException) -> bool:
            return noise.used or (noise.chosen and not isinstance(why, KeyboardInterrupt))

        with abandon_on_failure(ledger, reservation, drawn), interruptible():
            if spec.people.person is not None:
                observer = ledger.observer(
                    reservation, columns=tuple(data.columns()), other_people=other_people, ids_of=ids_of
                )
                data = data.observing_ids(observer)
            result = _result(spec, data, noise)
    drew = noise.used or noise.chosen
    return Release(bound, result, reservation, drew, _Publisher(), dict(reading), labels)


@contextmanager
def _refunding(ledger: Ledger) -> Iterator[Undrawn]:
    """Whatever is reserved inside costs nothing if this ends, or the process dies, before anything is drawn.

    Guarantee: the disk says so no longer before the first word of randomness, and before numbers are given to anybody.
    """
    undrawn = Undrawn(ledger.path)
    try:
        yield undrawn
        undrawn.end()
    except BaseException as error:
        undrawn.close()
        if undrawn.is_known:
            with suppress(HubbubError, OSError):  # else the next release does it
                ledger.refund_undrawn()
        if isinstance(error, KeyboardInterrupt) and not error.args:
            raise KeyboardInterrupt(_STOPPED_FREE if undrawn.is_known else _STOPPED_SPENT) from None
        raise


def _result(spec: Spec, data: Any, source: Source) -> Result:
    """Measure, then present; or, where the machines of a cluster do both, get ready for them.

    Guarantee: for kinds with `measure` and `present`, what readers see is a function of what mechanisms drew: `present`
    is given the measurement alone. Where a cluster does both (`prepare`), the same holds of each part that it writes.
    A mechanism of the user's own (`run_custom`) has no such guarantee and no certificate: its value comes back as the
    mechanism returned it.
    """
    with working("Counting"):
        if isinstance(spec, MaybeDistributed) and spec.is_distributed:
            _begin(source)
            return cast(Result, spec.prepare(data, source))
        if isinstance(spec, RunsCustom):
            _begin(source)
            return spec.run_custom(data, source)
        try:
            measured = spec.measure(data, source)
        except TooManyUnreadable:
            raise TooManyUnreadable(_columns_read(spec.to_json())) from None
    with working("Working out the numbers"):
        return spec.present(measured)


def _begin(source: Source) -> None:
    """Take something for drawn that may be drawn where this process does not see it."""
    if isinstance(source, SystemSource):
        source.begin()


def _columns_read(spec_json: Any) -> list[str]:
    """The columns whose cells are read as numbers, dates or truth, in the order in which a release names them."""
    if not isinstance(spec_json, dict | list):
        return []
    inside = spec_json.values() if isinstance(spec_json, dict) else spec_json
    own = spec_json.get("column") if isinstance(spec_json, dict) and spec_json.get("is") not in _TEXT else None
    found = [own] if isinstance(own, str) else []
    return list(dict.fromkeys([*found, *(name for each in inside for name in _columns_read(each))]))


_TEXT: Final = ("Values", "Discovered")
"""Bins of text, which every cell is."""


def of_result(spec: Spec, result: Result, reservation: Reservation, reading: Mapping[str, Plain]) -> Release:
    """A release whose result is known and whose place in the ledger is paid for: a period of a series."""
    return Release(Bound(spec), result, reservation, True, _Publisher(), dict(reading))


def run(spec: Spec | Bound, data: Any, source: Source) -> Release:
    """A release that is entered in no ledger and so cannot be saved: for looking at the parts."""
    if not is_secure(source):
        raise Refused("a release draws its noise from the operating system; another source is for tests of its parts")
    bound = spec.bind(data.columns())
    bound.promises  # noqa: B018  refuses here: nothing was read
    return Release(bound, _result(bound.spec, data, source))


class _Publisher:
    """Writes a release, and draws the picture of its report."""

    def save(self, release: Release, folder: str | os.PathLike[str], **how: Unpack[Saving]) -> dict[str, str]:
        return save(release, folder, **how)

    def plot(self, release: Release) -> Chart:
        with working("Drawing"):
            return chart_of(release)


def save(
    release: Release,
    folder: str | os.PathLike[str],
    *,
    form: str = "csv",
    report: bool = True,
    replace: bool = False,
    heading: Heading = NO_HEADING,
) -> dict[str, str]:
    """Write the release as CSV, as Parquet, or as CSV with an Excel workbook beside it (xlsx), its report and its
    certificate into a folder; returns where they are. One that others write (`parts`) is made now, in Parquet.

    A release that is in the folder already stays, unless it is to be replaced; then its files go, if this ledger
    published them and they are still the same, and anything else in their place is refused. `heading` is what the
    report says of its publisher and date.

    Guarantee: the digests of the files are in the ledger, on the disk, before a file has its name. If this is cut short
    at any moment, the folder holds either nothing new or bytes that are paid for, and
    :func:`hubbub.publication.recovery.finish` brings out the rest of them. Nobody else writes to the folder meanwhile, and
    of what is visible there only the release that was seen when this began is replaced. If it fails
    while it writes, and leaves nothing behind, the place in the ledger is given up; a folder that is refused costs
    nothing, and the release can be saved to another.
    """
    out = Path(folder)
    ledger = Ledger(None if release.reservation is None else release.reservation.ledger)
    with claimed(out):
        check_nothing_half_out(out)
        if replace:
            check_ours(out, ledger)
        else:
            check_free(out)
        if is_deferred(release.result):
            check_free_for_parts(out, ledger, replace=replace)
        before = published(out, ledger) if replace else {}
        replaces = before.get(CERTIFICATE)
        staged = stage(release, out, form=form, report=report, heading=heading, replaces=replaces)
        try:
            written = publish(staged)
        except KeyboardInterrupt:
            raise KeyboardInterrupt(_STOPPED_WAITING if os.path.lexists(staged.hidden) else _STOPPED_LATE) from None
        new = {Path(path).name for path in written.values()}
        remove(out, {name: digest for name, digest in before.items() if name.partition("/")[0] not in new})
        return written


def stage(
    release: Release,
    folder: str | os.PathLike[str],
    *,
    form: str = "csv",
    report: bool = True,
    heading: Heading = NO_HEADING,
    replaces: str | None = None,
) -> Staged:
    """Write everything into a hidden folder beside its place, durably; nothing is visible yet. `replaces` is the digest of
    the certificate of the one release in the folder whose place it may take."""
    check_format(form)
    heading = heading.with_labels(release.labels)
    reservation = release.reservation
    if reservation is None:
        raise Refused("this release is in no ledger, so it is not published; make it with hubbub.open(...)")
    ledger, out = Ledger(reservation.ledger), Path(folder)
    hidden = out / f"{PREFIX}{reservation.nonce}"
    with (
        abandon_on_failure(ledger, reservation, lambda why: release.drawn, unless=lambda: os.path.lexists(hidden)),
        opened(out, reservation, replaces) as staged,
    ):
        record = "csv" if form == "xlsx" else form  # the file of record
        with working("Writing the parts"):
            digests = _parts(release, staged)
        with working("Writing the numbers"), uninterrupted():
            for sheet in () if digests else release.sheets:
                name = f"{sheet.name}.{record}"
                staged.add(name, partial(write, sheet, record))
                digests[name] = sha256(staged.path(name))
            staged.draft(draft(release, digests, reservation))  # whatever fails from here on loses nothing
        if form == "xlsx" and manifest.NAME not in digests:
            with working("Writing the workbook"):
                digests |= _workbook(release, staged, digests, heading)
                staged.draft(draft(release, digests, reservation))
        if manifest.NAME not in digests and _free_for_package(out, ledger):
            with suppress(Exception):
                digests[PACKAGE] = _package(release, staged, digests, record, heading)
            if not report:
                staged.draft(draft(release, digests, reservation))
        if report:
            with working("Drawing the report"), suppress(Exception):  # numbers without a page are better than none
                digests[REPORT] = _page(release, staged, digests, heading)
                staged.draft(draft(release, digests, reservation))
        staged.sign(ledger)
    return staged


def _free_for_package(out: Path, ledger: Ledger) -> bool:
    """Whether the name of the dictionary is free, or taken by one that this ledger published: that of somebody's own
    table stays, and the release then has none."""
    return not os.path.lexists(out / PACKAGE) or PACKAGE in published(out, ledger)


def _package(release: Release, staged: Staged, digests: Mapping[str, str], form: str, heading: Heading) -> str:
    """The data dictionary of the release, written; returns its digest."""
    labels = dict(heading.labels)
    data = package(release.bound, release.sheets, digests, form, title=heading.title, titles=labels)
    staged.add(PACKAGE, lambda file: file.write(data))
    return sha256(staged.path(PACKAGE))


def _parts(release: Release, staged: Staged) -> dict[str, str]:
    """What others wrote, listed: the digest of the list, none if nothing is written by others."""
    result = release.result
    parts = result.write_remote(staged.hidden, write_parquet) if isinstance(result, Deferred) else ()
    if parts:
        durable.settle_folder(staged.hidden / manifest.FOLDER)
        staged.add(manifest.NAME, lambda out: out.write(manifest.manifest_bytes(parts)))
    return {manifest.NAME: sha256(staged.path(manifest.NAME))} if parts else {}


def _workbook(release: Release, staged: Staged, digests: Mapping[str, str], heading: Heading) -> dict[str, str]:
    """The sheets once more, for spreadsheets, with what is promised beside them; its digest, none if it is too large."""
    from hubbub.publication.workbook import fits, write_workbook
    from hubbub.report.about import about

    if not fits(release.sheets):
        return {}
    sheet = about(release, {"release": next(iter(digests)), "certificate": CERTIFICATE}, heading)
    staged.add(WORKBOOK, partial(write_workbook, release.sheets, sheet))
    return {WORKBOOK: sha256(staged.path(WORKBOOK))}


def _page(release: Release, staged: Staged, digests: Mapping[str, str], heading: Heading) -> str:
    """The report, written; returns its digest."""
    main = next(iter(digests))
    files = {"release": main, **{name: name for name in digests if name != main}, "certificate": CERTIFICATE}
    text = page_of(release, files=files, digest=digests[main], heading=heading)
    staged.add(REPORT, lambda out: out.write(text.encode()))
    return sha256(staged.path(REPORT))


@contextmanager
def abandon_on_failure(
    ledger: Ledger,
    reservation: Reservation,
    drawn: Callable[[BaseException], bool],
    *,
    unless: Callable[[], bool] = lambda: False,
) -> Iterator[None]:
    """If what is done inside fails, and leaves nothing behind, the place in the ledger is given up; not by a child of the
    process that has it, which does not know what its parent draws."""
    process = os.getpid()
    try:
        yield
    except BaseException as error:
        if os.getpid() != process:
            raise
        spent = True
        if not unless():
            with suppress(HubbubError):  # then it stays reserved, and counts as spent
                ledger.abandon(reservation, drawn=drawn(error))
                spent = drawn(error)
            if isinstance(error, KeyboardInterrupt):
                raise KeyboardInterrupt(_STOPPED_SPENT if spent else _STOPPED_FREE) from None
        elif isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(_STOPPED_WAITING) from None
        raise
