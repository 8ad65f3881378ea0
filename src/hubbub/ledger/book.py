"""The ledger: who was promised what, and whether one more release may follow.

::

    reserve -> (count, sample, noise) -> commit     the file's digest is in the ledger before the file is visible
                                      -> abandon    nothing came out; free only if no noise was drawn

A reservation is durable before a table is read, and counts as spent until it is abandoned undrawn. So after a crash
either the very bytes that were ready come out (:mod:`hubbub.files`), or none, and both are paid for once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.kind import Reservation
from hubbub.ledger import anchor, key, sources
from hubbub.ledger.accounts import Entered, Totals, admit, totals
from hubbub.ledger.charge import Charge
from hubbub.ledger.policy import Policy
from hubbub.ledger.store import Entry, Page, Store
from hubbub.noise.source import SystemSource
from hubbub.tables.identity import Identity
from hubbub.wire.canonical import digest, read
from hubbub.wire.exact_json import plain, restored

RESERVED: Final = "reserved"
COMMITTED: Final = "committed"
ABANDONED: Final = "abandoned"
DERIVED: Final = "derived"
POLICY: Final = "policy"
KEY: Final = "key"


@dataclass(slots=True, kw_only=True)
class Record:
    """A release as the ledger remembers it."""

    release: Entered
    entry: Entry
    nonce: str
    state: str = RESERVED
    drawn: bool = True
    files: dict[str, str] = field(default_factory=dict)  # digest of a release file -> that of its certificate
    derived: list[dict[str, Any]] = field(default_factory=list)

    @property
    def spent(self) -> bool:
        return self.state != ABANDONED or self.drawn


@dataclass(slots=True, kw_only=True)
class Account:
    """All that the ledger knows about a dataset."""

    dataset: str
    policy: Policy = field(default_factory=Policy)
    records: list[Record] = field(default_factory=list)

    @property
    def spent(self) -> list[Entered]:
        return [record.release for record in self.records if record.spent]

    def record(self, nonce: str) -> Record:
        """The release with that nonce, or KeyError."""
        found = next((record for record in self.records if record.nonce == nonce), None)
        if found is None:
            raise KeyError(nonce)
        return found

    @property
    def totals(self) -> Totals | None:
        """What its releases promise together."""
        return totals(self.spent) if self.spent else None


def default_path() -> Path:
    """Where the ledger is unless somebody says otherwise: HUBBUB_LEDGER, or the user's folder for data."""
    named = os.environ.get("HUBBUB_LEDGER")
    if named:
        return Path(named)
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "hubbub" / "ledger.db"


class Ledger:
    """A ledger at a path."""

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = Path(path if path is not None else default_path()).resolve()
        self._store = Store(self.path)

    # --- releases -------------------------------------------------------------------------------------------------

    def reserve(self, dataset: str, charge: Charge, *, source: Identity = sources.NONE) -> Reservation:
        """A place for a release, or a refusal; nothing has been read yet.

        Guarantee: the reservation is on the disk when this returns; under the ledger's lock the promises of all
        releases of the dataset that count as spent, this one included, are covered by a theorem and within the
        policy. `source` is what the table is: the same under two names is refused. It depends on the table and stays
        in the ledger; since the certificate has the hash of the entry, a secret word stands beside it, without which
        nobody can try guesses of the table against the hash.
        """
        name, (nonce, secret) = dataset_name(dataset), (SystemSource().words(2).tobytes().hex() for _ in range(2))
        if source.parts and charge.partition is not None:  # a column of one name in two files may hold two things
            charge = replace(charge, partition=digest([charge.partition, source.content()]))
        with self._store.adding(self._founding) as page:
            _one_spelling(page.entries, name)
            sources.one_name(name, source, partial(_released_from, page.entries))
            account = fold(page.entries, name).get(name) or Account(dataset=name)
            new = Entered(number=len(account.records) + 1, charge=charge)
            account.policy.check(admit(account.spent, new, name), name)
            self._known_key(page.entries)  # what cannot be signed is not drawn
            body = {"nonce": nonce, "charge": plain(charge), "source": sources.written(source), "secret": secret}
            entry = page.add(RESERVED, name, body)
            identity = _identity(page)
        return Reservation(
            ledger=self.path,
            identity=identity,
            dataset=name,
            number=entry.number,
            release=new.number,
            nonce=nonce,
            hash=entry.hash,
        )

    def commit(self, place: Reservation, release_sha256: str, certificate_sha256: str) -> None:
        """Enter the digest of what is about to be visible. The same bytes again, or another form of the same numbers,
        cost nothing."""
        body = {"nonce": place.nonce, "release": release_sha256, "certificate": certificate_sha256}
        with self._store.adding(self._founding) as page:
            record = _record(page.entries, place)
            if record.state == ABANDONED:
                raise Refused("this release was given up and cannot be published; make another")
            if record.files.get(release_sha256) != certificate_sha256:
                page.add(COMMITTED, place.dataset, body)

    def abandon(self, place: Reservation, *, drawn: bool) -> None:
        """Nothing of this release came out; it is free only if no noise was drawn for it."""
        with self._store.adding(self._founding) as page:
            if _record(page.entries, place).state == RESERVED:
                page.add(ABANDONED, place.dataset, {"nonce": place.nonce, "drawn": drawn})

    def committed(self, nonce: str) -> dict[str, str]:
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
        """Every dataset, checked."""
        return fold(self._store.entries())

    def entries(self) -> list[Entry]:
        """Every entry, checked."""
        return self._store.entries()

    def set_policy(self, dataset: str, policy: Policy) -> None:
        """Cap what may be spent from now on."""
        name = dataset_name(dataset)
        with self._store.adding(self._founding) as page:
            _one_spelling(page.entries, name)
            page.add(POLICY, name, {"policy": plain(policy)})

    def public_key(self) -> str:
        """The public half of the key that signs certificates; the ledger is made if there is none."""
        with self._store.adding(self._founding) as page:
            return self._known_key(page.entries)

    def public_keys(self) -> tuple[str, ...]:
        """Every key that has signed for this ledger, the newest last."""
        return tuple(e.body["public_key"] for e in self._store.entries() if not e.dataset and "public_key" in e.body)

    def sign(self, data: bytes) -> tuple[str, str]:
        """The public key and the signature of some bytes."""
        public = self._known_key(self._store.entries())
        return public, key.sign(self.path, data)

    def new_key(self) -> str:
        """Sign with another key from now on."""
        with self._store.adding(self._founding) as page:
            public = key.replace(self.path)
            page.add(KEY, "", {"public_key": public})
        return public

    def adopt(self) -> None:
        """Use a ledger that was moved or restored here. Whoever adopts a copy spends the same budget twice."""
        if not self.path.exists():
            raise WrongUse(f"there is no ledger {str(self.path)!r}; name the one that was moved with --ledger")
        anchor.forget(self.path)
        with self._store.adding(self._founding, adopt=True):
            pass

    def new(self) -> None:
        """Begin a new ledger where one is gone, giving up what that knew."""
        if self.path.exists():
            raise Refused(f"there is a ledger at {str(self.path)!r}; it is not replaced")
        anchor.forget(self.path)
        with self._store.adding(self._founding):
            pass

    def _founding(self) -> dict[str, str]:
        """What the first entry says; asked for under the lock."""
        return {"ledger": SystemSource().words(2).tobytes().hex(), "public_key": key.make(self.path)}

    def _known_key(self, entries: Sequence[Entry]) -> str:
        """The public key, which the chain names too."""
        named = [entry.body["public_key"] for entry in entries if "public_key" in entry.body]
        public = key.public(self.path)
        if not named or named[-1] != public:
            raise CheckFailed(
                "the key beside the ledger is not the one that the ledger names; restore it, or make another with "
                "hubbub ledger key --new"
            )
        return public


def known(ledger: Ledger, data: bytes, what: str) -> dict[str, Any]:
    """The certificate in these bytes, if the ledger has committed it: same dataset, reservation, hash and file."""
    body: dict[str, Any] = read(data, f"the certificate {what[:200]!r}")
    try:
        entry = body["ledger"]
        record = ledger.account(entry["dataset"]).record(entry["nonce"])
        certified = record.files.get(next(iter(released(body).values())))
        right = record.entry.hash == entry["hash"] and certified == hashlib.sha256(data).hexdigest()
    except (KeyError, TypeError, AttributeError, StopIteration, WrongUse):
        right = False
    if not right:
        raise CheckFailed(
            f"the ledger {str(ledger.path)!r} does not know the certificate {what[:200]!r}: it is of another ledger, "
            "was changed, or the ledger was put back to an older state"
        )
    return body


def released(body: Mapping[str, Any]) -> dict[str, str]:
    """The files that a certificate is about, by name, with their digests; the release itself comes first."""
    if "files" not in body:  # format 2 is about one
        return {str(body["release_file"]): str(body["release_sha256"])}
    named = {str(name): str(digest) for name, digest in body["files"].items()}
    first = next(name for name in named if name.startswith("release."))
    return {first: named.pop(first), **named}


def dataset_name(text: str) -> str:
    """A name for a dataset: letters, digits and a few signs, so that it reads the same everywhere."""
    if not re.fullmatch(r"[^\W_][\w.*-]{0,99}", text):
        raise WrongUse(
            f"a dataset is named with letters, digits, '.', '-' and '_', at most 100 of them, not {text[:40]!r}; "
            "choose one with --dataset"
        )
    return text


def _identity(page: Page) -> str:
    return str(page.entries[0].body["ledger"])


def _one_spelling(entries: Sequence[Entry], name: str) -> None:
    """Refuse a name that differs from one in use only in how it is written: who reads both takes them for one."""
    folded = _folded(name)
    other = next((e.dataset for e in entries if e.dataset != name and _folded(e.dataset) == folded), None)
    if other is not None:
        raise Refused(
            f"the ledger has a dataset {other!r}, whose name differs from {name!r} only in capitals or the form of its "
            f"letters; use --dataset {other} for the same people, and another name for others"
        )


@lru_cache(maxsize=1024)
def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def _released_from(entries: Sequence[Entry], mark: str) -> Iterator[tuple[str, Any]]:
    for entry in entries:
        if entry.kind == RESERVED and mark in sources.marks(entry.body.get("source", "")):
            yield entry.dataset, entry.body["source"]


def _record(entries: Sequence[Entry], place: Reservation) -> Record:
    account = fold(entries, place.dataset).get(place.dataset)
    record = next((r for r in account.records if r.nonce == place.nonce), None) if account else None
    if record is None:
        raise CheckFailed("the ledger does not know this release; it was made with another ledger, or this one is old")
    return record


@lru_cache(maxsize=4096)
def _charge(written: bytes) -> Charge:
    """What a reservation asked for."""
    try:
        return restored(Charge, json.loads(written)["charge"])  # type: ignore[no-any-return]
    except CheckFailed:
        raise CheckFailed(
            "the ledger has a reservation that this version cannot read, so it cannot say what is left; use the "
            "version of Hubbub that wrote it"
        ) from None


def fold(entries: Sequence[Entry], only: str | None = None) -> dict[str, Account]:
    """What the entries say, dataset by dataset; about `only` one of them, if it is named."""
    accounts: dict[str, Account] = {}
    known: dict[str, Record] = {}  # by nonce
    for entry in entries:
        if not entry.dataset or (only is not None and entry.dataset != only):
            continue
        account = accounts.setdefault(entry.dataset, Account(dataset=entry.dataset))
        body = entry.body
        if entry.kind == POLICY:
            account.policy = restored(Policy, body["policy"])
        elif entry.kind == RESERVED:
            release = Entered(number=len(account.records) + 1, charge=_charge(entry.written))
            known[body["nonce"]] = Record(release=release, entry=entry, nonce=body["nonce"])
            account.records.append(known[body["nonce"]])
        else:
            record = known.get(body.get("nonce", ""))
            if record is None or entry.kind not in (COMMITTED, ABANDONED, DERIVED):
                raise CheckFailed(f"entry {entry.number} of the ledger is of a kind that is not known; update Hubbub")
            if entry.kind == COMMITTED:
                record.state = COMMITTED
                record.files[body["release"]] = body["certificate"]
            elif entry.kind == ABANDONED:
                record.state, record.drawn = ABANDONED, body["drawn"]
            else:
                record.derived.append(dict(body))
    return accounts
