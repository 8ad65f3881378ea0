"""A publication, carried out: what is not out yet is published, in order, and nothing twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hubbub import series
from hubbub.errors import Refused, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.ledger.trust import key_of
from hubbub.project.plan_file import FILE, Publication, read_plan
from hubbub.project.planning import Plan, Planned, SeriesRun, State, plan
from hubbub.project.review import APPROVAL, check_approval, markdown, sheet
from hubbub.protocol.release import Release
from hubbub.protocol.weakness import check_confirmed
from hubbub.publication.files import check_format
from hubbub.publication.recovery import finish
from hubbub.publication.revocation import correct, is_corrected
from hubbub.publication.staging import claimed, prepared, unfinished
from hubbub.release import save
from hubbub.report.heading import Heading, heading


@contextmanager
def exclusive_plan(publication: Publication, on_wait: Callable[[], None] = lambda: None) -> Iterator[Plan]:
    """The plan of a publication, to be carried out; `on_wait` is called if another run into its folder is waited for.

    Guarantee: from before it is planned until this ends, no other run publishes into its folder. What processes that died
    had reserved, and drawn nothing for, is given back first.
    """
    with claimed(publication.out, on_wait):
        Ledger(publication.ledger).refund_undrawn()
        yield plan(publication)


def run(
    planned: Plan, *, accept_weak: bool = False, report: Callable[[str], None] = lambda name: None
) -> dict[str, Any]:
    """Publish what is not yet published; returns where the files of each release are.

    Guarantee: before anything is spent, all of it was planned together, every promise that is weak was confirmed, and
    the review sheet was signed by whoever has to approve it.
    What a crash left ready is brought out and not drawn again. What is out already, with the same spec, is left as it
    is; so a second run of the same file publishes nothing. Whoever plans within :func:`exclusive_plan` has no other run
    beside it; without that, what came out meanwhile is not replaced, and refused before anything is spent on it.
    """
    publication = planned.publication
    for each in planned.releases:
        _heading(each)
        check_format(each.entry.form)
        if each.state is State.OPEN and not (accept_weak or each.entry.accept_weak):
            check_confirmed(each.weak)
    if publication.approval is not None and planned.open:
        check_approval(
            markdown(sheet(planned)), publication.file.parent / APPROVAL, _approving_key(publication.approval)
        )
    _set_policies(publication)
    written = dict[str, dict[str, str]]()
    for each in planned.releases:
        report(", ".join(each.names))
        files = _one(publication, each)
        _write_correction(publication, each)
        written |= {name: files if each.joint is None else _of_table(files, name) for name in each.names}
    return written


def _of_table(files: dict[str, str], name: str) -> dict[str, str]:
    """The files of one table of a joint release: its own numbers, and what it shares with the others."""
    shared = {what: path for what, path in files.items() if what in ("certificate", "report", "dictionary")}
    return {"release": files[name], **shared} if name in files else {}


def _approving_key(who: str) -> str:
    try:
        return key_of(who)
    except WrongUse:
        raise WrongUse(
            f"the file says that {who[:100]!r} has to approve, whose key is not known; add it with hubbub trust add, or write the "
            "key there"
        ) from None


def _set_policies(publication: Publication) -> None:
    """Enter the caps of the file where the ledger has none; caps that are there stay."""
    ledger = Ledger(publication.ledger)
    for dataset in publication.datasets:
        account = ledger.accounts().get(dataset.name)
        if dataset.policy and (account is None or not account.policy):
            ledger.set_policy(dataset.name, dataset.policy)


def _one(publication: Publication, planned: Planned) -> dict[str, str]:
    folder, entry = publication.folder(planned.entry), planned.entry
    if planned.state is State.OUT:
        return {}
    found: dict[str, str] = {}
    for hidden in unfinished(folder):  # what is whole is brought out, and the rest is given up
        try:
            found |= finish(hidden)
        except Refused as error:  # said, and not passed over: what was cut short counts as spent
            raise Refused(f"{folder.name}: {error}; run it again, and it goes on from here") from None
    if planned.state is State.READY:
        return found
    with prepared(folder, planned.spec.size_hint(), ledger=Ledger(publication.ledger)):
        if planned.series is not None:
            done = _period(publication, planned, planned.series)
            return save(done, folder, form=entry.form, heading=_heading(planned))
        done = planned.table.publish(planned.bound, accept_weak=True)  # if it is weak, somebody confirmed it
        return save(done, folder, form=entry.form, heading=_heading(planned))


def _period(publication: Publication, planned: Planned, run: SeriesRun) -> Release:
    """A period of a series, which is started if it is not yet.

    Guarantee: the series is charged once, as a whole, on the disk before any period is drawn; a period is drawn once.
    """
    table, where = planned.table, publication.folder(planned.entry)
    compared = table.ids()
    if not run.started:
        series.start(
            run.name,
            table.engine,
            reading=table.reading,
            dataset=planned.entry.dataset,
            ledger=publication.ledger,
            accept_weak=True,
            **compared,
            **run.options,
        )
    return series.release(
        table.engine,
        run.name,
        run.period,
        ledger=publication.ledger,
        reading=table.reading,
        **compared,
        one_row_per_person=run.keep_one_row,
        accept_weak=True,  # if it is weak, somebody confirmed it
        beside=where.absolute().parent,
    )


def _write_correction(publication: Publication, planned: Planned) -> None:
    """Write the notice that a release stands in the place of another, if it is not written yet."""
    entry, ledger = planned.entry, Ledger(publication.ledger)
    if entry.corrects is not None:
        old, new = publication.out / entry.corrects, publication.folder(entry)
        if not is_corrected(old, new, ledger):
            correct(old, new, entry.reason, ledger=ledger)


def _heading(planned: Planned) -> Heading:
    """What the report says of itself."""
    return heading(**planned.entry.report)


def publish_all(
    file: str | os.PathLike[str] = FILE, *, dry_run: bool = False, accept_weak: bool = False
) -> dict[str, dict[str, str]]:
    """Publish what a file wants, as ``hubbub run`` does; returns where the files of each release are.

    What is out already is left as it is, and has no files here. With `dry_run` all of it is planned together, and
    refused if it would be, and nothing is published.

    Guarantee: that of each kind of release; all of it was planned together before anything is spent.
    """
    publication = read_plan(Path(file))
    if dry_run:
        plan(publication)
        return {}
    with exclusive_plan(publication) as planned:
        return run(planned, accept_weak=accept_weak)
