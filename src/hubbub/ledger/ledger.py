"""The ledger: who was promised what, and whether one more release may follow.

::

    reserve -> (count, sample, noise) -> commit     the file's digest is in the ledger before the file is visible
                                      -> abandon    nothing came out; free only if no noise was drawn

A reservation is durable before a table is read, and counts as spent until it is abandoned undrawn, by its own process or,
if that died, by the next (:mod:`hubbub.ledger.undrawn`). So after a crash
either the very bytes that were ready come out (:mod:`hubbub.publication.files`), or none, and both are paid for once.
"""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.ledger import key, overlap, paths, store
from hubbub.ledger.admission import Entered, Totals, admit, enter_charge, totals
from hubbub.ledger.log import CLOCK, CREATED, Entry, Page, moment
from hubbub.ledger.policy import Policy
from hubbub.ledger.records import (
    ABANDONED,
    COMMITTED,
    DERIVED,
    KEY,
    PART_OF,
    PEOPLE,
    PERIOD,
    POLICY,
    RESERVED,
    charge_of,
    fold,
    times_to_ask_about,
    with_unpublished,
)
from hubbub.ledger.records import Account as Account
from hubbub.ledger.records import Record as Record
from hubbub.ledger.running_total import Running, check_totals
from hubbub.ledger.store import Store
from hubbub.ledger.undrawn import is_abandoned, take
from hubbub.noise.source import SystemSource
from hubbub.protocol.release import Reservation, dataset_name, release_digests
from hubbub.serialization.canonical import read
from hubbub.serialization.exact_json import plain, restored

if TYPE_CHECKING:
    from hubbub.ledger.charge import Charge
    from hubbub.tables.identity import Chosen, Identity, IdObserver

CLOSED: Final = "closed"
"""In the place of a digest: a series that does not go on."""


class Ledger:
    """A ledger at a path."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self._ways = paths.ways(path if path is not None else paths.default_path())
        self.path = self._ways[0]  # links followed
        self._store = Store(self._ways, _marks)

    # --- releases -------------------------------------------------------------------------------------------------

    def reserve(
        self,
        dataset: str,
        charge: Charge,
        *,
        source: Identity = overlap.NONE,
        series: Mapping[str, Any] | None = None,
        disjoint: str | None = None,
        before_entry: Callable[[str], None] = lambda nonce: None,
    ) -> Reservation:
        """Charge a release before any data is read, or refuse it.

        Guarantee: the reservation is on the disk when this returns; under the ledger's lock the promises of all
        releases of the dataset that count as spent, this one included, are covered by a theorem and within the
        policy. `source` is what the table is: the same under two names is refused. It depends on the table and stays
        in the ledger; since the certificate has the hash of the entry, a secret word stands beside it, without which
        nobody can try guesses of the table against the hash. `series` is the declaration of a series that is charged as a
        whole; a second one of its name is refused. `disjoint` is a period of the dataset whose people are declared to be in
        no other: it is a dataset of its own, under the caps of the whole, so that a person loses what their own period
        loses. That they are others is checked by :meth:`observer`; the dataset has no other releases then. `before_entry`
        is told the nonce before the entry is made, and only if the release is not refused.
        """
        self.refund_undrawn()
        name, (nonce, secret) = dataset_name(dataset), (SystemSource().words(2).tobytes().hex() for _ in range(2))
        parent, name = (None, name) if disjoint is None else (name, period_name(name, disjoint))
        charge = charge.of_content(source.content() if source.is_known else None, nonce)
        with self._store.adding(self._founding) as page:
            for each in (name, parent):
                _one_spelling(page, each or name)
            _check_parts(page, name, parent)
            if series is not None and _has_series(page, str(series["name"])):
                raise Refused(
                    f"the ledger has a series {series['name']!r} already, and what was promised for it stays; choose another "
                    "name"
                )
            overlap.one_name(name, source, page.datasets_with_mark, lambda other: Running(page, other).total.spent > 0)
            before = Running(page, name)
            new = enter_charge(before.total.stand_ins, before.total.reserved + 1, charge)
            totals_after = admit(before.total.stand_ins, new, name, count=before.total.spent)
            policy = _policy(page, name, parent, new.charge)
            try:
                policy.check(totals_after if policy.per is None else _in_window(page, name, new, policy), name)
            except Refused as refused:
                raise with_unpublished(refused, fold(page.entries, name).get(name)) from None
            self._known_key(page)  # what cannot be signed is not drawn
            body = {
                "nonce": nonce,
                "charge": plain(new.charge),
                "source": overlap.source_json(source),
                "secret": secret,
            }
            declared: dict[str, Any] = {} if series is None else {"series": dict(series)}
            declared |= {} if parent is None else {PART_OF: parent}
            before_entry(nonce)
            entry = before.add(RESERVED, {**body, **declared}, before.total.followed_by(new))
            identity = _identity(page)
        return Reservation(
            ledger=self.path,
            identity=identity,
            dataset=name,
            number=entry.number,
            release=new.number,
            nonce=nonce,
            hash=entry.hash,
            composed_loss=totals_after.smallest_loss if before.total.spent else None,
        )

    def series(self, name: str) -> tuple[Reservation, Record]:
        """The place of a series, and what the ledger knows of it; one sentence if there is none of that name."""
        for account in self.accounts().values():
            for record in account.records:
                if record.series == name and record.is_spent:
                    entry = record.entry
                    reservation = Reservation(
                        ledger=self.path,
                        identity=self.entries()[0].body["ledger"],
                        dataset=account.dataset,
                        number=entry.number,
                        release=record.release.number,
                        nonce=record.nonce,
                        hash=entry.hash,
                    )
                    return reservation, record
        raise WrongUse(f"the ledger has no series {name[:100]!r}; start it with hubbub series start, or name another")

    def is_series(self, nonce: str) -> bool:
        """Whether a place in the ledger is that of a series, which is charged as a whole."""
        return any(record.nonce == nonce for record in self.all_series())

    def all_series(self) -> list[Record]:
        """Every series that was not cancelled."""
        records = (record for account in self.accounts().values() for record in account.records)
        return [record for record in records if record.series is not None and record.is_spent]

    def cancel_series(self, reservation: Reservation) -> None:
        """Give up a series of which nothing was drawn.

        Guarantee: under the ledger's lock, no period was drawn, and none is from here on; so nothing was told, and what was
        charged is given back.
        """
        with self._store.adding(self._founding) as page:
            record = _record(page, reservation.dataset, reservation.nonce)
            if record.series is None or record.periods or record.state != RESERVED:
                raise Refused(
                    "a period of the series was drawn, so that what was charged stays; publish the other periods"
                )
            before = Running(page, reservation.dataset)
            before.add(ABANDONED, {"nonce": reservation.nonce, "drawn": False}, before.total_without(record.entry))

    def check_source(self, dataset: str, source: Identity) -> None:
        """Refuse a table that was released under another name; nothing is entered."""
        with self._store.adding(self._founding) as page:
            overlap.one_name(
                dataset, source, page.datasets_with_mark, lambda other: Running(page, other).total.spent > 0
            )

    def draw_period(
        self,
        reservation: Reservation,
        period: int,
        *,
        before: str,
        keep: Callable[[], str],
        source: Identity = overlap.NONE,
    ) -> None:
        """Enter that a period of a series was drawn, with the digest of what the series then keeps in secret.

        Guarantee: under the ledger's lock, a period is entered once, and after every earlier one; `before` is the digest
        that the last period left, so that two who draw at once never both enter. `keep` puts what the series then keeps
        on the disk and returns its digest; it is asked under the lock, and only by the one who enters. The entry is on
        the disk when this returns, before any file of the period has its name. `source` is what the table is: the same
        under two names is refused.
        """
        with self._store.adding(self._founding) as page:
            record = _record(page, reservation.dataset, reservation.nonce)
            if record.state == ABANDONED:
                raise Refused("this series was cancelled; start another")
            last: Mapping[str, Any] = record.periods[-1].body if record.periods else {"period": -1, "state": ""}
            if period <= last["period"] or before != last["state"]:
                raise Refused(
                    "this period of the series, or a later one, was drawn meanwhile, and a period is drawn once; ask for it "
                    "again to get what was drawn"
                )
            name = reservation.dataset
            overlap.one_name(name, source, page.datasets_with_mark, lambda other: Running(page, other).total.spent > 0)
            secret = SystemSource().words(2).tobytes().hex()
            body = {"nonce": reservation.nonce, "period": period, "state": keep()}
            page.add(PERIOD, name, {**body, "source": overlap.source_json(source), "secret": secret})

    def observer(
        self,
        reservation: Reservation,
        *,
        columns: Sequence[str] = (),
        other_people: bool = False,
        ids_of: str | None = None,
    ) -> IdObserver:
        """What an engine tells before it counts by a person column: who is in the table, which has these columns.

        Guarantee: `on_chosen` refuses if these people are known under another name (:func:`hubbub.ledger.overlap.check_overlap`),
        and else notes them; nothing of what it is told leaves the ledger. It is to be told before noise is drawn: then
        the place can be given up at no cost. `ids_of` names the register that the ids are of, where somebody says it.
        """
        from hubbub.ledger import sketch
        from hubbub.tables.identity import IdObserver

        if ids_of is not None:
            dataset_name(ids_of, "ids_of")
        with self._store.adding(self._founding) as page:
            secret = overlap.secret(page)

        def on_chosen(chosen: Chosen) -> None:
            known = sketch.sketch(chosen, secret, columns, ids_of)
            with self._store.adding(self._founding) as page:
                parts = dict(page.datasets_with_mark(PART_OF))
                parent = parts.get(reservation.dataset)
                share = _policy(page, reservation.dataset, parent).overlap
                others = {name for name, whole in parts.items() if whole == parent} - {reservation.dataset}
                overlap.check_overlap(
                    page,
                    reservation.dataset,
                    reservation.nonce,
                    known,
                    share=sketch.SHARE if share is None else share,
                    other_people=other_people,
                    disjoint_from=frozenset() if parent is None else frozenset(others),
                )

        turn = int.from_bytes(hashlib.blake2b(b"rank", key=secret, digest_size=8).digest(), "big")
        return IdObserver(turn=turn, most=sketch.MOST, on_chosen=on_chosen)

    def commit(self, reservation: Reservation, release_sha256: str, certificate_sha256: str) -> None:
        """Enter the digest of what is about to be visible. The same bytes again, or another form of the same numbers,
        cost nothing."""
        body = {"nonce": reservation.nonce, "release": release_sha256, "certificate": certificate_sha256}
        with self._store.adding(self._founding) as page:
            record = _record(page, reservation.dataset, reservation.nonce)
            if record.state == ABANDONED:
                raise Refused("this release was given up and cannot be published; make another")
            if record.files.get(release_sha256) != certificate_sha256:
                page.add(COMMITTED, reservation.dataset, body)

    def abandon(self, reservation: Reservation, *, drawn: bool) -> None:
        """Nothing of this release came out; it is free only if no noise was drawn for it."""
        with self._store.adding(self._founding) as page:
            self._abandon(page, reservation.dataset, reservation.nonce, drawn=drawn)

    def _abandon(self, page: Page, dataset: str, nonce: str, *, drawn: bool) -> None:
        record = _record(page, dataset, nonce)
        if record.state == RESERVED and record.series is None:  # a series is charged whole, and stays
            before = Running(page, dataset)
            after = before.total if drawn else before.total_without(record.entry)
            before.add(ABANDONED, {"nonce": nonce, "drawn": drawn}, after)

    def refund_undrawn(self) -> None:
        """Give up the reservations of processes that died before they drew anything.

        Guarantee: refunded is only what the disk says nothing was drawn for, whose process is gone
        (:mod:`hubbub.ledger.undrawn`).
        """
        if not self._abandoned_undrawn():
            return
        with self._store.adding(self._founding) as page:  # asked again: nobody reserves meanwhile
            for nonce in self._abandoned_undrawn():
                for dataset in {dataset for dataset, _ in page.datasets_with_mark(f"nonce:{nonce}")}:
                    if take(paths.undrawn_file(self.path, nonce)):  # a crash after this costs the refund
                        self._abandon(page, dataset, nonce, drawn=False)

    def _abandoned_undrawn(self) -> list[str]:
        """The nonces of those."""
        return [
            nonce for nonce in paths.undrawn_nonces(self.path) if is_abandoned(paths.undrawn_file(self.path, nonce))
        ]

    def committed_files(self, nonce: str) -> dict[str, str]:
        """What was committed for a reservation: the digest of each release file, and that of its certificate."""
        records = (record for account in self.accounts().values() for record in account.records)
        return next((dict(record.files) for record in records if record.nonce == nonce), {})

    def derive(self, dataset: str, release_sha256: str, derived_sha256: str, how: str) -> int:
        """Record that a file was computed from a committed release and nothing else, which costs nothing.

        Guarantee: post-processing keeps every promise of the release; that it was only that, somebody declares.
        """
        name = dataset_name(dataset)
        with self._store.adding(self._founding) as page:
            account = fold(page.entries, name).get(name)
            record = next((r for r in account.records if release_sha256 in r.files), None) if account else None
            if record is None:
                raise Refused(f"{name} has no committed release with that digest; give the certificate of one that has")
            body = {"nonce": record.nonce, "release": release_sha256, "derived": derived_sha256, "how": how}
            page.add(DERIVED, name, body)
            return record.release.number

    # --- the ledger itself ----------------------------------------------------------------------------------------

    def account(self, dataset: str) -> Account:
        """What is known about a dataset."""
        name = dataset_name(dataset)
        known = self.accounts()
        if name not in known:
            listed = f"it has {', '.join(sorted(known))}" if known else "it is empty"
            raise WrongUse(f"the ledger has no dataset {name!r}; {listed}")
        return known[name]

    def accounts(self) -> dict[str, Account]:
        """Every dataset, checked. What :meth:`refund_undrawn` would give back costs nothing here already."""
        found = fold(self._store.entries())
        undrawn = self._abandoned_undrawn()
        for record in (record for account in found.values() for record in account.records if record.nonce in undrawn):
            if record.state == RESERVED:
                record.state, record.drawn = ABANDONED, False
        return found

    def check(self) -> int:
        """Check all of it from the beginning, running totals included; returns the number of entries."""
        entries = self._store.entries()
        check_totals(entries)
        return len(entries)

    def entries(self) -> list[Entry]:
        """Every entry, checked."""
        return self._store.entries()

    def set_policy(self, dataset: str, policy: Policy) -> None:
        """Cap what may be spent from now on."""
        name = dataset_name(dataset)
        with self._store.adding(self._founding) as page:
            _one_spelling(page, name)
            page.add(POLICY, name, {"policy": plain(replace(policy, before_all=False))})

    def confirm_clock(self) -> str:
        """Enter that this computer's clock is right; returns what it says.

        Guarantee: a release that was entered with a later time counts as of now too, and in the window of its own date.
        So nothing is freed if it is this clock that is wrong, and nothing between the two is locked if it was the other.
        """
        with self._store.adding(self._founding) as page:
            return page.add(CLOCK, "", {}).time

    def public_key(self) -> str:
        """The public half of the key that signs certificates; the ledger is made if there is none."""
        with self._store.adding(self._founding) as page:
            return self._known_key(page)

    def public_keys(self) -> tuple[str, ...]:
        """Every key that has signed for this ledger, the newest last."""
        return tuple(e.body["public_key"] for e in self._store.entries() if not e.dataset and "public_key" in e.body)

    def sign(self, data: bytes) -> tuple[str, str]:
        """The public key and the signature of some bytes."""
        return self.public_key(), key.sign(self.path, data)

    def new_key(self) -> str:
        """Sign with another key from now on."""
        with self._store.adding(self._founding) as page:
            public = key.replace(self.path)
            page.add(KEY, "", {"public_key": public})
        return public

    def adopt(self) -> tuple[int, int] | None:
        """Use a ledger that was moved or restored here. Whoever adopts a copy spends the same budget twice.

        Returns the first and last entry that this machine remembers and the ledger does not have, if there are any:
        what they say was spent is forgotten. Then nobody knows which periods of a series were drawn since, and none of its
        series goes on.
        """
        if not self.path.exists():
            raise WrongUse(f"there is no ledger {str(self.path)!r}; name the one that was moved with `ledger`")
        missing: list[int] = []

        def note(entries: Sequence[Entry]) -> list[int]:
            missing.extend(entries_missing(entries))
            for way in self._ways:
                store.forget_anchor(way)
            for nonce in paths.undrawn_nonces(self.path):  # what they say was so elsewhere, or before
                take(paths.undrawn_file(self.path, nonce))
            return missing

        with self._store.adding(self._founding, adopt=note) as page:
            for name, account in fold(page.entries).items() if missing else ():
                for record in account.records:
                    if record.series is not None:
                        last = int(record.periods[-1].body["period"]) if record.periods else -1
                        body = {"nonce": record.nonce, "period": last, "state": CLOSED, "source": "", "secret": ""}
                        page.add(PERIOD, name, body)
        return (missing[0], missing[1]) if missing else None

    def copied_to(self, target: Path) -> dict[str, bytes]:
        """Copy the ledger's own file, whole; returns what lies beside it, by the end of its name.

        Guarantee: all of it is read while nobody else may add an entry.
        """
        with self._store.adding(self._founding):
            self._store.copy(target)
            beside = [each for each in paths.files_of(self.path) if each.exists() and not each.samefile(self.path)]
            kept = (each for each in beside if not each.name.endswith(("-wal", "-shm", "-journal")))
            return {each.name.removeprefix(self.path.name): each.read_bytes() for each in kept}

    @staticmethod
    def entries_of(file: Path) -> list[Entry]:
        """The entries of a copy that is not in use, each with its seal checked."""
        return Store.of_copy(file)

    def new(self) -> None:
        """Begin a new ledger where one is gone, giving up what that knew."""
        if self.path.exists():
            raise Refused(f"there is a ledger at {str(self.path)!r}; it is not replaced")
        for way in self._ways:
            store.forget_anchor(way)
        with self._store.adding(self._founding):
            pass

    def _founding(self) -> dict[str, str]:
        """What the first entry says; asked for under the lock."""
        return {"ledger": SystemSource().words(2).tobytes().hex(), "public_key": key.make(self.path)}

    def _known_key(self, page: Page) -> str:
        """The public key, which the chain names too."""
        named = page.latest("", CREATED, KEY)
        public = key.public(self.path)
        if named is None or named.body["public_key"] != public:
            raise CheckFailed(
                "the key beside the ledger is not the one that the ledger names; restore it, or make another with "
                "hubbub ledger key --new"
            )
        return public


def committed_certificate(ledger: Ledger, data: bytes, what: str) -> dict[str, Any]:
    """The certificate in these bytes, if the ledger has committed it: same dataset, reservation, hash and file."""
    body: dict[str, Any] = read(data, f"the certificate {what[:200]!r}")
    try:
        entry = body["ledger"]
        record = ledger.account(entry["dataset"]).record(entry["nonce"])
        certified = record.files.get(next(iter(release_digests(body).values())))
        right = record.entry.hash == entry["hash"] and certified == hashlib.sha256(data).hexdigest()
    except (KeyError, TypeError, AttributeError, StopIteration, WrongUse):
        right = False
    if not right:
        raise CheckFailed(
            f"the ledger {str(ledger.path)!r} does not know the certificate {what[:200]!r}: it is of another ledger, "
            "was changed, or the ledger was put back to an older state"
        )
    return body


def _identity(page: Page) -> str:
    assert page.first is not None
    return str(page.first.body["ledger"])


def entries_missing(entries: Sequence[Entry]) -> list[int]:
    """The first and last entry that some anchor remembers and these are not, if there are any."""
    known = store.furthest_anchor(entries[0].body["ledger"])
    if known is None or known.number == 0:
        return []
    if known.number > len(entries):
        return [len(entries) + 1, known.number]
    return [] if entries[known.number - 1].hash == known.hash else [known.number, known.number]


def period_name(dataset: str, period: str) -> str:
    """What a period of a dataset is called, whose people are declared to be in no other."""
    return dataset_name(f"{dataset_name(dataset)}.{period}", "disjoint")


def _check_parts(page: Page, name: str, parent: str | None) -> None:
    """Refuse to mix releases about a whole dataset with those about its periods: whoever is in both loses both."""
    parts, whole = dict(page.datasets_with_mark(PART_OF)), parent or name
    other = next((each for each in parts.values() if each != whole and _fold_name(each) == _fold_name(whole)), None)
    if other is not None:
        raise Refused(_two_spellings(other, whole))
    if name in parts and parts[name] != parent:
        raise Refused(
            f"{name} is a period of {parts[name]}, whose people are declared to be in no other; use `dataset={parts[name]}` "
            "and `disjoint`, or another name"
        )
    has_parts = any(whole == name and Running(page, part).total.spent for part, whole in parts.items())
    has_own = parent is not None and (
        Running(page, parent).total.spent or (name not in parts and Running(page, name).total.spent)
    )
    if has_parts or has_own:
        raise Refused(
            f"{whole} has releases about all of its people and this is about a period of it, or the other way round: whoever "
            "is in both loses both; use another name with `dataset`"
        )


def _policy(page: Page, name: str, parent: str | None = None, new: Charge | None = None) -> Policy:
    """The policy of a dataset, or of what it is a period of; `new` is the first release if there was none before."""
    own = page.latest(name, POLICY)
    entry = own or (None if parent is None else page.latest(parent, POLICY))
    if entry is None:
        return Policy()
    policy: Policy = replace(restored(Policy, entry.body["policy"]), before_all=False)
    first = page.earliest(name, RESERVED)
    if own is None or (first is not None and first.number < own.number):
        return policy
    return replace(policy, before_all=True).begun_with(new if first is None else charge_of(first))


def _in_window(page: Page, name: str, new: Entered, policy: Policy) -> Totals:
    """What the releases of this month, quarter or year promise together, with a new one."""
    entries = page.entries
    policy.check_clock(times_to_ask_about(entries), moment(), name)
    account = fold(entries, name).get(name) or Account(dataset=name)
    return totals([*replace(account, policy=policy).counting(page.moment), new])


def _one_spelling(page: Page, name: str) -> None:
    """Refuse a name that differs from one in use only in how it is written: who reads both takes them for one."""
    other = next(
        (dataset for dataset, _ in page.datasets_with_mark(f"name:{_fold_name(name)}") if dataset != name), None
    )
    if other is not None:
        raise Refused(_two_spellings(other, name))


def _two_spellings(known: str, given: str) -> str:
    return (
        f"the ledger has a dataset {known!r}, whose name differs from {given!r} only in capitals or the form of its letters; use "
        f"`dataset={known}` for the same people, and another name for others"
    )


@lru_cache(maxsize=1024)
def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _marks(entry: Entry) -> Iterator[tuple[str, str]]:
    """The search keys of an entry."""
    if entry.dataset:
        yield f"name:{_fold_name(entry.dataset)}", ""
    if "nonce" in entry.body:
        yield f"nonce:{entry.body['nonce']}", str(entry.number)
    if entry.kind == PEOPLE:
        yield overlap.MARK, ""
    if entry.kind in (RESERVED, PERIOD):
        yield from overlap.marks(entry.body["source"])
    if PART_OF in entry.body:
        yield PART_OF, str(entry.body[PART_OF])
    if "series" in entry.body:
        yield f"series:{entry.body['series']['name']}", ""


def _has_series(page: Page, name: str) -> bool:
    """Whether a series has that name, and was not cancelled."""
    named = {dataset for dataset, _ in page.datasets_with_mark(f"series:{name}")}
    accounts = [fold(page.entries, dataset)[dataset] for dataset in named]
    return any(record.series == name and record.is_spent for account in accounts for record in account.records)


def _record(page: Page, dataset: str, nonce: str) -> Record:
    numbers = [int(number) for name, number in page.datasets_with_mark(f"nonce:{nonce}") if name == dataset]
    account = fold(page.entries_numbered(numbers), dataset).get(dataset)
    if account is None:
        raise CheckFailed("the ledger does not know this release; it was made with another ledger, or this one is old")
    return account.record(nonce)
