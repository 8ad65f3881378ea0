"""What a publication would do: which releases are out, which are to come, and what all of them promise together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hubbub import registry
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy
from hubbub.guarantees.promise_order import in_brief
from hubbub.kinds.table import Table
from hubbub.ledger.admission import Entered, Totals, totals
from hubbub.ledger.charge import charge
from hubbub.ledger.dry_run import dry_runs
from hubbub.ledger.ledger import Ledger
from hubbub.numeric.exact import Infinite, to_text
from hubbub.numeric.format import short
from hubbub.opening import open as open_table
from hubbub.private_sql.execution import prepare
from hubbub.project.joint_planning import joint_releases
from hubbub.project.plan_file import Dataset, PlanEntry, Publication
from hubbub.project.planned import ANOTHER, Planned, State, certificate_in, is_ready
from hubbub.project.series_planning import series_releases
from hubbub.protocol.bound import Bound
from hubbub.protocol.weakness import weaknesses
from hubbub.publication.signed_files import CERTIFICATE
from hubbub.runtime.frozen import dataclass


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
                found += series_releases(publication, ledger, dataset, each, people)
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
    state = State.READY if is_ready(folder) else State.OPEN
    if (folder / CERTIFICATE).exists():
        body = certificate_in(folder, ledger, entry.dataset)
        if body.get("release") != bound.json or body.get("reading") != dict(people.reading):
            raise Refused(ANOTHER.format(entry.name))
        state = State.OUT
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
