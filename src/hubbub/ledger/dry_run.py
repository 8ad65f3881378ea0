"""What a release would cost, before it is made: the ledger read, and nothing entered."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hubbub.errors import Refused
from hubbub.ledger import sources
from hubbub.ledger.admission import Entered, Totals, admit
from hubbub.ledger.charge import Charge
from hubbub.ledger.ledger import Ledger, dataset_name
from hubbub.ledger.policy import Policy, left
from hubbub.ledger.records import Account
from hubbub.serialization.canonical import digest
from hubbub.tables.identity import Identity

_UNSEEN = "a table that nobody looked at"  # no table has this for its content


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A dataset before and after a release; `refusal` says why it may not follow, and then there is no `after`."""

    dataset: str
    releases: int  # that count as spent
    policy: Policy
    before: Totals | None = None
    after: Totals | None = None
    refusal: Refused | None = None

    @property
    def left_before(self) -> dict[str, str]:
        """What each cap leaves now."""
        return left(self.policy, self.before)

    @property
    def left_after(self) -> dict[str, str]:
        """What each cap would leave."""
        return {} if self.after is None else left(self.policy, self.after)


def trial(ledger: Ledger, dataset: str, charge: Charge, *, source: Identity = sources.NONE) -> Trial:
    """What would hold for a dataset with this release too.

    Guarantee: nothing is entered. If it refuses, so would :meth:`hubbub.ledger.ledger.Ledger.reserve`, as long as
    `source` is the table and nothing is entered meanwhile; that may refuse more, because here nobody looks whether the
    same people are known under another name.
    """
    name = dataset_name(dataset)
    account = ledger.accounts().get(name) or Account(dataset=name)
    if charge.partition is not None:
        charge = replace(charge, partition=digest([charge.partition, source.content() if source.is_known else _UNSEEN]))
    spent = account.spent
    new = Entered(number=len(account.records) + 1, charge=charge)
    known = {"dataset": name, "releases": len(spent), "policy": account.policy, "before": account.totals}
    try:
        after = admit(spent, new, name)
        account.policy.check(after, name)
    except Refused as refusal:
        return Trial(**known, refusal=refusal)  # type: ignore[arg-type]
    return Trial(**known, after=after)  # type: ignore[arg-type]
