"""``--dry-run``: what a release would publish, promise and cost. Nothing is counted, drawn or spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hubbub.cli import display, page, print_json

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hubbub.ledger.dry_run import DryRun
    from hubbub.ledger.ledger import Ledger
    from hubbub.plan.invented import HowExact
    from hubbub.protocol.bound import Bound
    from hubbub.tables.identity import Identity
    from hubbub.tables.schema import ColumnType


def answer(
    bound: Bound,
    ledger: Ledger,
    dataset: str,
    source: Identity,
    *,
    weak: tuple[str, ...],
    as_json: bool,
    disjoint: str | None = None,
    schema: Mapping[str, ColumnType] | None = None,
) -> None:
    """What would come out and what it would cost, for a spec that was bound to the columns of its table.

    Guarantee: nothing is counted or drawn, and nothing is entered in the ledger. What is printed depends on the request,
    the names and types of columns, and the ledger; as before a release, that knows a file by a digest of its bytes.
    """
    from hubbub.errors import Refused
    from hubbub.ledger.charge import charge
    from hubbub.ledger.dry_run import dry_run

    bound.promises  # noqa: B018  refuses here if nothing can be promised
    found = dry_run(ledger, dataset, charge(bound), source=source, disjoint=disjoint)
    if found.refusal is not None:
        raise Refused(f"{found.refusal}")
    if as_json:
        print_json(_facts(bound, found, weak, schema))
    else:
        _print(bound, found, weak, schema)


def _estimate_accuracy(bound: Bound, schema: Mapping[str, ColumnType] | None) -> HowExact | None:
    """How exact it is for invented people; of a network nobody is invented."""
    from hubbub.plan.invented import how_exact

    return None if schema is None else how_exact(bound.spec, schema)


def _facts(
    bound: Bound, found: DryRun, weak: tuple[str, ...], schema: Mapping[str, ColumnType] | None
) -> dict[str, Any]:
    from hubbub.certificate.certificate import about
    from hubbub.plan.error import expected_error

    described, tried = bound.description, _estimate_accuracy(bound, schema)
    return {
        "dry_run": True,
        "dataset": found.dataset,
        "published": described.published,
        "counts": described.counts,
        "hidden": described.hidden or None,
        "expected_error": expected_error(bound.spec),
        "how_exact": None
        if tried is None
        else {"people": tried.people, "reach": dict(tried.reach), "said": str(tried)},
        "earlier_releases": found.releases,
        "left": found.left_after,
        "weak": list(weak),
        "guarantees": [about(step.conclusion, step.people) for step in bound.promises],
    }


def _print(bound: Bound, found: DryRun, weak: tuple[str, ...], schema: Mapping[str, ColumnType] | None) -> None:
    from hubbub.certificate.explanation import meaning
    from hubbub.guarantees.promise_order import in_brief, requested_promises
    from hubbub.plan.error import EXAMPLE_PEOPLE, expected_error
    from hubbub.plan.invented import UNKNOWN

    console, described = page(), bound.description
    console.verdict(f"This can be published: {display(described.title)}. Nothing was counted, drawn or spent.\n")
    console.print(f"{display(described.published)}.")
    for column, rule in described.public:
        console.print(f"Public: {display(column)}: {display(rule)}.")
    if described.hidden:
        console.print(described.hidden)
    console.print(f"A person: {display(described.person)}.")
    if (error := expected_error(bound.spec)) is not None:
        console.print(f"A bin of {EXAMPLE_PEOPLE:,} people would be off by about {error:,.3g}.")
    elif schema is not None:
        console.print(f"How exact: {display(str(_estimate_accuracy(bound, schema) or UNKNOWN))}.")
    for weakness in weak:
        console.print(f"Weak: {weakness}.")
    console.print()
    for step in requested_promises(bound.promises):
        console.print(f"Promise ({in_brief(step.conclusion)}): {meaning(step.conclusion, step.people).promised}")
    console.print(f"\nLedger: this would be release {found.releases + 1} of {found.dataset}.", soft_wrap=True)
    for cap, left in found.left_after.items():
        console.print(f"Left of {cap}: {left}.", soft_wrap=True)
    console.print("Next: the same command without --dry-run.")
