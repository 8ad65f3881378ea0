"""``--dry-run``: what a release would publish, promise and cost. Nothing is counted, drawn or spent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from hubbub.cli import display, page, print_json, verdict

if TYPE_CHECKING:
    from hubbub.ledger.dry_run import Trial
    from hubbub.ledger.ledger import Ledger
    from hubbub.protocol.spec import Spec
    from hubbub.tables.identity import Identity

_EXAMPLE: Final = 1000  # people of the bin whose error is stated


def answer(spec: Spec, ledger: Ledger, dataset: str, source: Identity, *, as_json: bool) -> None:
    """What would come out and what it would cost, for a spec that was bound to the columns of its table.

    Guarantee: nothing is counted or drawn, and nothing is entered in the ledger. What is printed depends on the request,
    the names and types of columns, and the ledger; as before a release, that knows a file by a digest of its bytes.
    """
    from hubbub.errors import Refused
    from hubbub.ledger.charge import charge
    from hubbub.ledger.dry_run import trial

    spec.promises()  # refuses here if nothing can be promised
    found = trial(ledger, dataset, charge(spec), source=source)
    if found.refusal is not None:
        raise Refused(f"{found.refusal}")
    if as_json:
        print_json(_facts(spec, found))
    else:
        _print(spec, found)


def _facts(spec: Spec, found: Trial) -> dict[str, Any]:
    from hubbub.certificate.certificate import about
    from hubbub.protocol.weakness import weaknesses

    described = spec.describe()
    return {
        "dry_run": True,
        "dataset": found.dataset,
        "published": described.published,
        "counts": described.counts,
        "expected_error": _error(spec),
        "earlier_releases": found.releases,
        "left": found.left_after,
        "weak": list(weaknesses(spec)),
        "guarantees": [about(step.conclusion, step.people) for step in spec.promises()],
    }


def _print(spec: Spec, found: Trial) -> None:
    from hubbub.certificate.explanation import meaning
    from hubbub.guarantees.brief import in_brief
    from hubbub.guarantees.promise_order import requested_first
    from hubbub.protocol.weakness import weaknesses

    console, described = page(), spec.describe()
    console.print(verdict(f"This can be published: {display(described.title)}. Nothing was counted, drawn or spent.\n"))
    console.print(f"{display(described.published)}.")
    for column, rule in described.public:
        console.print(f"Public: {display(column)}: {display(rule)}.")
    console.print(f"A person: {display(described.person)}.")
    if (error := _error(spec)) is not None:
        console.print(f"A bin of {_EXAMPLE:,} people would be off by about {error:,.3g}.")
    for weakness in weaknesses(spec):
        console.print(f"Weak: {weakness}.")
    console.print()
    for step in requested_first(spec.promises()):
        console.print(f"Promise ({in_brief(step.conclusion)}): {meaning(step.conclusion, step.people).promised}")
    console.print(f"\nLedger: this would be release {found.releases + 1} of {found.dataset}.", soft_wrap=True)
    for cap, left in found.left_after.items():
        console.print(f"Left of {cap}: {left}.", soft_wrap=True)
    console.print("Next: the same command without --dry-run.")


def _error(spec: Spec) -> float | None:
    """The mean absolute error of one number, where counts go through a channel."""
    from hubbub.numeric.exact import to_float
    from hubbub.plan.error import one_bin

    channel, rate = getattr(spec, "channel", None), getattr(spec, "sample", None)
    if channel is None or not getattr(spec, "axes", None) or getattr(spec, "weighted_by", None) is not None:
        return None
    return one_bin(channel, None if rate is None else to_float(rate, round_up=False), _EXAMPLE)[0]
