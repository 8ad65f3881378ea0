"""Which releases of a publication come together, as far as they are out or planned now."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from hubbub import registry
from hubbub.errors import Refused
from hubbub.kinds.queries.spec import Queries
from hubbub.kinds.table import Table
from hubbub.ledger.ledger import Ledger
from hubbub.project.joint import Joint, Member, groups, joint, member, of_spec, same_request
from hubbub.project.plan_file import Dataset, PlanEntry, Publication
from hubbub.project.planned import ANOTHER, Planned, State, certificate_in, is_begun, is_ready
from hubbub.protocol.bound import Bound
from hubbub.protocol.weakness import weaknesses
from hubbub.publication.signed_files import CERTIFICATE
from hubbub.query_classes.classes import NamedTables


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
