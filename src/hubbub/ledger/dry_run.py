"""What a release would cost, before it is made: the ledger read, and nothing entered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hubbub.errors import Refused
from hubbub.ledger import overlap
from hubbub.ledger.admission import Totals, admit, enter_charge, totals
from hubbub.ledger.ledger import Ledger, period_name
from hubbub.ledger.log import moment
from hubbub.ledger.policy import Policy, remaining_budget
from hubbub.ledger.records import Account, times_to_ask_about, with_unpublished
from hubbub.protocol.release import dataset_name
from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.ledger.charge import Charge
    from hubbub.tables.identity import Identity

_UNSEEN = "a table that nobody looked at"  # no table has this for its content


@dataclass(frozen=True, slots=True, kw_only=True)
class DryRun:
    """A dataset before and after a release; `refusal` says why it may not follow, and then there is no `after`."""

    dataset: str
    releases: int  # that count as spent
    policy: Policy
    before: Totals | None = None
    after: Totals | None = None
    refusal: Refused | None = None
    capped_before: Totals | None = None  # of the releases that count towards the caps: all, or those of one window
    capped_after: Totals | None = None

    @property
    def left_before(self) -> dict[str, str]:
        """What each cap leaves now."""
        return remaining_budget(self.policy, self.capped_before)

    @property
    def left_after(self) -> dict[str, str]:
        """What each cap would leave."""
        return {} if self.capped_after is None else remaining_budget(self.policy, self.capped_after)


def dry_run(
    ledger: Ledger, dataset: str, charge: Charge, *, source: Identity = overlap.NONE, disjoint: str | None = None
) -> DryRun:
    """What would hold for a dataset with this release too, or for a period of it with people of its own.

    Guarantee: nothing is entered. If it refuses, so would :meth:`hubbub.ledger.ledger.Ledger.reserve`, as long as
    `source` is the table and nothing is entered meanwhile; that may refuse more, because here nobody looks whether the
    same people are known under another name.
    """
    return dry_runs(ledger, dataset, [charge], source=source, disjoint=disjoint)[0]


def dry_runs(
    ledger: Ledger,
    dataset: str,
    charges: Sequence[Charge],
    *,
    source: Identity = overlap.NONE,
    disjoint: str | None = None,
    more: Policy | None = None,
) -> tuple[DryRun, ...]:
    """What would hold for a dataset with these releases too, one after the other, up to the first that is refused;
    `more` are caps to be kept beside those of the ledger.

    Guarantee: that of :func:`dry_run`, for each as if those before it had been entered.
    """
    name, entries = dataset_name(dataset), ledger.entries()
    accounts = ledger.accounts()
    policy = accounts[name].policy if name in accounts else Policy()
    name = name if disjoint is None else period_name(name, disjoint)
    account = accounts.get(name) or Account(dataset=name, policy=policy)
    spent, counting = account.spent_releases, account.counting(account.moment)
    before, capped, found = account.totals, account.capped_totals, list[DryRun]()
    for number, charge in enumerate(charges, len(account.records) + 1):
        new = enter_charge(spent, number, charge.of_content(source.content() if source.is_known else None, _UNSEEN))
        made = DryRun(dataset=name, releases=len(spent), policy=account.policy, before=before, capped_before=capped)
        try:
            after = admit(spent, new, name)
            account.policy.check_clock(times_to_ask_about(entries), moment(), name)
        except Refused as refusal:
            return (*found, replace(made, refusal=refusal))
        try:
            counted = after if account.policy.per is None else totals([*counting, new])
            account.policy.check(counted, name)
            if more is not None:
                more.check(after, name)
        except Refused as refusal:
            return (*found, replace(made, refusal=with_unpublished(refusal, account)))
        found.append(replace(made, after=after, capped_after=counted))
        spent, counting, before, capped = [*spent, new], [*counting, new], after, counted
    return tuple(found)
