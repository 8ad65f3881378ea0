"""What the entries of a ledger say: each release with what became of it, dataset by dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, Final

from hubbub.errors import CheckFailed, Refused
from hubbub.ledger.admission import Entered, Totals, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.log import CLOCK, Entry, moment
from hubbub.ledger.policy import Policy
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import restored
from hubbub.tables.calendar import Calendar

RESERVED: Final = "reserved"
COMMITTED: Final = "committed"
ABANDONED: Final = "abandoned"
DERIVED: Final = "derived"
POLICY: Final = "policy"
KEY: Final = "key"
PEOPLE: Final = "people"  # who is in a dataset
PERIOD: Final = "period"  # a period of a series was drawn
PART_OF: Final = "part_of"  # of a reservation: the dataset of which it is a period, with people of its own
SECRET: Final = "secret"  # the key of the words by which people are known


@dataclass(slots=True, kw_only=True)
class Record:
    """A release as the ledger remembers it."""

    release: Entered
    entry: Entry
    nonce: str
    time: str = ""  # of its entry, or when the clock was said to be right if it had run ahead
    state: str = RESERVED
    drawn: bool = True
    files: dict[str, str] = field(default_factory=dict)  # digest of a release file -> that of its certificate
    derived: list[dict[str, Any]] = field(default_factory=list)
    periods: list[Entry] = field(default_factory=list)  # of a series: those that were drawn, in order

    @property
    def series(self) -> str | None:
        """The name of the series that it charges for as a whole, if it is one."""
        declared = self.entry.body.get("series")
        return None if declared is None else str(declared["name"])

    @property
    def last_moment(self) -> str:
        """When it is over: at once, or with the last period of a series."""
        if self.series is None:
            return self.time
        calendar: Calendar = restored(Calendar, self.entry.body["series"]["declared"]["calendar"])
        return max(self.time, calendar.last_day)

    def counts_at(self, moment: str, policy: Policy) -> bool:
        """Whether it counts towards the caps at a moment.

        Guarantee: what is dated ahead of a clock that somebody said is right counts in the window of that clock and in
        that of its own date: whichever of the two clocks was wrong, the window in which it was published does not
        forget it.
        """
        own = self.entry.time
        return policy.counts_at(moment, self.time, self.last_moment) or policy.counts_at(moment, own, own)

    @property
    def is_spent(self) -> bool:
        return self.state != ABANDONED or self.drawn


@dataclass(slots=True, kw_only=True)
class Account:
    """All that the ledger knows about a dataset."""

    dataset: str
    policy: Policy = field(default_factory=Policy)
    records: list[Record] = field(default_factory=list)
    apart: tuple[str, ...] = ()  # datasets declared to hold other people, though their ids are the same
    part_of: str | None = None  # the dataset of which it is a period, whose people are in no other

    @property
    def spent_releases(self) -> list[Entered]:
        return [record.release for record in self.records if record.is_spent]

    def counting(self, moment: str) -> list[Entered]:
        """The releases that count towards the caps at a moment: all that are spent, or those of the same window."""
        found = [record for record in self.records if record.is_spent]
        return [each.release for each in found if each.counts_at(moment, self.policy)]

    @property
    def moment(self) -> str:
        """When a release now would be: never before the last one."""
        return moment(max((record.time for record in self.records), default=""))

    @property
    def capped_totals(self) -> Totals | None:
        """What the releases that count towards the caps now promise together."""
        counting = self.counting(self.moment)
        return totals(counting) if counting else None

    def record(self, nonce: str) -> Record:
        """The release with that nonce, or KeyError."""
        found = next((record for record in self.records if record.nonce == nonce), None)
        if found is None:
            raise KeyError(nonce)
        return found

    @property
    def unpublished_records(self) -> list[Record]:
        """The releases that count as spent and of which nothing came out."""
        return [each for each in self.records if each.is_spent and each.state != COMMITTED and each.series is None]

    @property
    def totals(self) -> Totals | None:
        """What its releases promise together."""
        return totals(self.spent_releases) if self.spent_releases else None


def with_unpublished(refused: Refused, account: Account | None) -> Refused:
    """A refusal by a cap, which also names what counts towards the cap and never came out."""
    found = [] if account is None else account.unpublished_records
    if not found:
        return refused
    named = ", ".join(f"release {each.release.number} of {each.entry.time}" for each in found[-_MOST_NAMED:])
    return Refused(
        f"{refused.marked}; {named} counts as spent and is not published: unless it is being made now, or waits in its "
        "folder for hubbub ledger finish, it was cut short after noise was drawn, and is lost"
    )


_MOST_NAMED: Final = 5


def charge_of(entry: Entry) -> Charge:
    """What a reservation asked for; of those that asked for the same, the same object, which knows what follows."""
    return reservation(entry)[0]


def reservation(entry: Entry) -> tuple[Charge, Mapping[str, Any]]:
    """What a reservation asked for, and the rest of what it says.

    The charge comes first in its text, and is known by that text from an earlier reservation, as a rule. Read by itself it
    says what it says in the whole: an object that is complete is not the beginning of another.
    """
    before, mark, after = entry.raw_body.partition(_CHARGE_ENDS)
    if mark and before.startswith(_CHARGE_BEGINS):
        try:
            rest = json.loads(f'{{"{after.decode()}')
            if "charge" not in rest:
                return _charge(f"{before[len(_CHARGE_BEGINS) :].decode()}}}"), rest
        except ValueError:  # not as we write it: read as a whole
            pass
    return _charge(json.dumps(entry.body["charge"])), entry.body


_CHARGE_BEGINS: Final = b'{\n "charge": '
_CHARGE_ENDS: Final = b'\n },\n "'


@lru_cache(maxsize=4096)
def _charge(charge_json: str) -> Charge:
    try:
        return restored(Charge, json.loads(charge_json))  # type: ignore[no-any-return]
    except CheckFailed:
        raise CheckFailed(
            "the ledger has a reservation that this version cannot read, so it cannot say what is left; use the "
            "version of Hubbub that wrote it"
        ) from None


def fold(entries: Sequence[Entry], only: str | None = None) -> dict[str, Account]:
    """What the entries say, dataset by dataset; about `only` one of them, if it is named."""
    accounts: dict[str, Account] = {}
    known: dict[str, Record] = {}  # by nonce
    policies: dict[str, Policy] = {}
    for entry in entries:
        if entry.kind == POLICY:
            policies[entry.dataset] = replace(restored(Policy, entry.body["policy"]), before_all=False)
        if entry.kind == CLOCK:  # what stands before it was before it
            for earlier in known.values():
                earlier.time = min(earlier.time, entry.time)
        if not entry.dataset or (only is not None and entry.dataset != only):
            continue
        account = accounts.setdefault(entry.dataset, Account(dataset=entry.dataset))
        body = entry.body
        if entry.kind == POLICY:
            account.policy = replace(policies[entry.dataset], before_all=not account.records)
        elif entry.kind == PEOPLE:
            account.apart = tuple(sorted(body["apart"]))
        elif entry.kind == RESERVED:
            release = Entered(number=len(account.records) + 1, charge=charge_of(entry))
            known[body["nonce"]] = Record(release=release, entry=entry, nonce=body["nonce"], time=entry.time)
            if not account.records:
                account.policy = account.policy.begun_with(release.charge)
            account.records.append(known[body["nonce"]])
            account.part_of = body.get(PART_OF)
        else:
            record = known.get(body.get("nonce", ""))
            if record is None or entry.kind not in (COMMITTED, ABANDONED, DERIVED, PERIOD):
                raise CheckFailed(f"entry {entry.number} of the ledger is of a kind that is not known; update Hubbub")
            if entry.kind == COMMITTED:
                record.state = COMMITTED
                record.files[body["release"]] = body["certificate"]
            elif entry.kind == ABANDONED:
                record.state, record.drawn = ABANDONED, body["drawn"]
            elif entry.kind == PERIOD:
                record.periods.append(entry)
            else:
                record.derived.append(dict(body))
    for account in accounts.values():
        if account.part_of in policies and account.dataset not in policies:
            account.policy = policies[account.part_of]
    return accounts


def times_to_ask_about(entries: Sequence[Entry]) -> list[str]:
    """When each entry was, from the last time on that somebody said that the clock is right."""
    said = next((place for place in reversed(range(len(entries))) if entries[place].kind == CLOCK), 0)
    return [entry.time for entry in entries[said:]]
