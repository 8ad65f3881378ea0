"""The running total of a dataset in a ledger: believed only if its digest is sealed in the chain, and carried on."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import field, fields, replace
from typing import Any, Final

from hubbub.errors import CheckFailed
from hubbub.ledger.admission import Entered
from hubbub.ledger.charge import Charge
from hubbub.ledger.log import Entry, Page
from hubbub.ledger.records import ABANDONED, COMMITTED, DERIVED, RESERVED, fold, reservation
from hubbub.ledger.running_total import RunningTotal, read_total, running_total_of, total_bytes
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import digest

TOTAL: Final = "total"  # the digest of the total after an entry, in its body
_RECENT: Final = 64  # totals that are remembered while all are worked out; a release is given up soon, or seldom
_RULES: Final = 2  # raise it when releases are added up in another way


def _form() -> str:
    """How totals are added up and written. One in another form is not believed, and not held against this one: it is
    worked out again from the releases, which the chain seals."""
    names = [[field.name for field in fields(kind)] for kind in (RunningTotal, Entered, Charge)]
    return f"{_RULES}.{digest(names)[:8]}"


FORM: Final = _form()


def _seal(data: bytes) -> str:
    return f"{FORM}:{hashlib.sha256(data).hexdigest()}"


def _own_seal(body: Mapping[str, Any]) -> str | None:
    """The digest in an entry, if it is in the form of this version."""
    seal = str(body.get(TOTAL, ""))
    return seal if seal.startswith(f"{FORM}:") else None


class Running:
    """Where a dataset stands, and its next entry."""

    def __init__(self, page: Page, dataset: str) -> None:
        self._page, self._dataset = page, dataset
        self._latest = page.latest(dataset, RESERVED, ABANDONED)
        self.total = RunningTotal() if self._latest is None else self._sealed_total(self._latest)

    def _sealed_total(self, entry: Entry) -> RunningTotal:
        """The total after an entry; worked out from the first release if it was not kept."""
        kept, sealed = self._page.total(self._dataset, entry.number), _own_seal(entry.body)
        data = kept if kept is not None and sealed is not None else total_bytes(self._worked_out(up_to=entry.number))
        if sealed is not None and _seal(data) != sealed:
            raise _changed_total_error(self._dataset)
        return read_total(data)

    def _worked_out(self, *, up_to: int, but: str = "") -> RunningTotal:
        kinds = (RESERVED, ABANDONED, COMMITTED, DERIVED)
        entries = [entry for entry in self._page.entries_of_kind(self._dataset, *kinds) if entry.number <= up_to]
        account = fold(entries[::-1], self._dataset)[self._dataset]
        spent = [record.release for record in account.records if record.is_spent and record.nonce != but]
        return running_total_of(spent, reserved=len(account.records))

    def total_without(self, reserved: Entry) -> RunningTotal:
        """The total if a release that was reserved costs nothing after all."""
        assert self._latest is not None
        if self._latest.number == reserved.number:  # as a rule: then it is the total before
            before = [each for each in self._page.numbers_with_total(self._dataset) if each < reserved.number]
            if before:
                (entry,) = self._page.entries_numbered(before[-1:])
                return self.total.given_up(self._sealed_total(entry))
        return self._worked_out(up_to=self._latest.number, but=reserved.body["nonce"])

    def add(self, kind: str, body: Mapping[str, Any], after: RunningTotal) -> Entry:
        """One more entry, with the total after it sealed in it."""
        data = total_bytes(after)
        entry = self._page.add(kind, self._dataset, {**body, TOTAL: _seal(data)})
        before = 0 if self._latest is None else self._latest.number
        self._page.keep_total(self._dataset, entry.number, data, before=before)
        return entry


def _changed_total_error(dataset: str) -> CheckFailed:
    return CheckFailed(
        f"the running total of {dataset} is not what its releases add up to; the ledger has been changed: restore it "
        "from a backup"
    )


@dataclass(slots=True)
class _Sum:
    """The releases of a dataset that count so far, and the totals after the last of them."""

    reserved: int = 0
    spent: list[tuple[str, Entered]] = field(default_factory=list)  # by nonce
    after: deque[RunningTotal] = field(default_factory=lambda: deque([RunningTotal()], maxlen=_RECENT))

    def add(self, nonce: str, release: Entered) -> None:
        self.spent.append((nonce, release))
        self.after.append(self.after[-1].followed_by(release))

    def drop(self, nonce: str) -> None:
        at = next(i for i in reversed(range(len(self.spent))) if self.spent[i][0] == nonce)
        later = self.spent[at + 1 :]
        del self.spent[at:]
        for _ in range(min(len(later) + 1, len(self.after))):
            self.after.pop()
        if not self.after:  # it was reserved long ago
            self.after.append(running_total_of((release for _, release in self.spent), self.reserved))
        for known, release in later:
            self.add(known, release)

    def seal(self) -> str:
        last = self.after[-1]
        return _seal(total_bytes(last if last.reserved == self.reserved else replace(last, reserved=self.reserved)))


def check_totals(entries: Iterable[Entry]) -> None:
    """Work out every running total from the first release on, and compare it with what was sealed."""
    sums: dict[str, _Sum] = {}
    for entry in entries:
        if entry.kind not in (RESERVED, ABANDONED):
            continue
        known = sums.setdefault(entry.dataset, _Sum())
        body: Mapping[str, Any]
        if entry.kind == RESERVED:
            charge, body = reservation(entry)
            known.reserved += 1
            known.add(body["nonce"], Entered(number=known.reserved, charge=charge))
        else:
            body = entry.body
            if not body["drawn"]:
                known.drop(body["nonce"])
        if _own_seal(body) not in (None, known.seal()):
            raise _changed_total_error(entry.dataset)
