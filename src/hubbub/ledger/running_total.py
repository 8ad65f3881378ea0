"""The running total of a dataset: releases that are alike in how they add up, added up.

However many releases there were, a handful of stand-ins is left, and :func:`hubbub.ledger.admission.admit` says of them
and one more release what it would say of all releases and that one. So the ten-thousandth release costs what the second
did. The total is sealed in each entry, and `hubbub ledger check` works it out again from the first.

The running total of a dataset in a ledger: believed only if its digest is sealed in the chain, and carried on.
"""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, fields, replace
from fractions import Fraction
from functools import partial
from operator import add
from typing import Any, Final, TypeVar

from hubbub.errors import CheckFailed, Refused
from hubbub.guarantees import composition
from hubbub.guarantees.accountant.accountant import MOST_KINDS
from hubbub.guarantees.accountant.sampled_counts import SampledCounts
from hubbub.guarantees.curve import flat
from hubbub.guarantees.definitions import (
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    OutlierKind,
    OutlierPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.indistinguishability import ONE, total, total_delta
from hubbub.guarantees.neighbours import one_relation
from hubbub.ledger.admission import Entered, curve_of, on_one_partition, one_sample
from hubbub.ledger.charge import Charge
from hubbub.ledger.log import Entry, Page
from hubbub.ledger.records import ABANDONED, COMMITTED, DERIVED, RESERVED, fold, reservation
from hubbub.numeric.exact import Infinite, Loss, rounded
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import digest
from hubbub.serialization.exact_json import restored

Summed = TypeVar("Summed", ZeroKnowledge, CrowdBlending)
_Part = TypeVar("_Part")
_Whole = TypeVar("_Whole")
LONGEST: Final = 1 << 11
"""Bits of a denominator; longer ones are rounded against us."""
_DIGITS: Final = 60
_SAMPLES: Final = 4  # samples of networks that may serve a further release
_ENDLESS: Final = 2  # partitions that promise nothing to large crowds: with two of them nothing is left


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningTotal:
    """The composed charges of all releases of a dataset: what its next release is admitted by."""

    reserved: int = 0  # how many releases were ever reserved, those given up included
    spent: int = 0  # how many of them count
    stand_ins: tuple[Entered, ...] = ()  # stand-ins for those, each with the number of its first

    def followed_by(self, new: Entered) -> RunningTotal:
        """The total with one more release.

        Guarantee: for every further release, what :func:`hubbub.ledger.admission.totals` promises of these stand-ins
        and it is what it promises of all releases and it, or less: where a long number was rounded, and in the delta
        for one person replaced, which is worked out from sums of epsilons.
        """
        return RunningTotal(
            reserved=max(self.reserved, new.number), spent=self.spent + 1, stand_ins=_merge([*self.stand_ins, new])
        )

    def given_up(self, before: RunningTotal) -> RunningTotal:
        """The total without the last reservation, whose number is not used again."""
        return replace(before, reserved=self.reserved)


def running_total_of(releases: Iterable[Entered], reserved: int) -> RunningTotal:
    """The total of all releases that count, added up from the first."""
    found = RunningTotal()
    for each in releases:
        found = found.followed_by(each)
    return replace(found, reserved=reserved)


def total_bytes(value: RunningTotal) -> bytes:
    """The bytes of a total, which are stored and hashed into the chain: one value, one text, on one line.

    Nobody reads them but this program, and a check of the ledger writes one for each release. Guarantee: those of
    :func:`hubbub.serialization.exact_json.line`, with each stand-in written once.
    """
    written = ",".join([each.line for each in value.stand_ins])
    head = f'{{"is":"RunningTotal","reserved":{value.reserved},"spent":{value.spent}'
    return f'{head},"stand_ins":[{written}]}}'.encode("ascii")


def read_total(data: bytes) -> RunningTotal:
    """The total that these bytes stand for, whose digest the chain has sealed."""
    return restored(RunningTotal, json.loads(data))  # type: ignore[no-any-return]


# --- which are alike ------------------------------------------------------------------------------------------------


def _merge(releases: list[Entered]) -> tuple[Entered, ...]:
    releases = _samples(_partitions(releases))
    while True:  # adding up may make two stand-ins alike
        keys: list[object] = []  # a handful, and sooner compared than hashed
        alike: list[Entered] = []
        for each in releases:
            key = _key(each)
            if key in keys:
                at = keys.index(key)
                alike[at] = _sum(alike[at], each)
            else:
                keys.append(key)
                alike.append(each)
        if len(alike) in (1, len(releases)):
            return tuple(alike)
        releases = alike


def _samples(releases: list[Entered]) -> list[Entered]:
    """A sample may serve a further release only if it is the last of its network, and one of the last few; of every other
    what its releases lose together is all that counts."""
    last: dict[object, int] = {}
    for each in releases:
        if each.sample is not None:
            last[each.sample.drawn_from] = max(each.sample.sample, last.get(each.sample.drawn_from, 0))
    known = sorted(last.values())[-_SAMPLES:]
    return [each if each.sample is None or each.sample.sample in known else _settle_sample(each) for each in releases]


def _settle_sample(release: Entered) -> Entered:
    """A stand-in for releases whose sample serves no other."""
    joint = one_sample(release).conclusion
    promises = tuple(joint if isinstance(each, ZeroKnowledge) else each for each in release.charge.promises)
    charge = replace(release.charge, promises=tuple(dict.fromkeys(promises)), sampled=None)
    return replace(release, charge=charge, joint=None)


def _partitions(releases: list[Entered]) -> list[Entered]:
    """Once there are several partitions, which one a release is on matters only where it promises nothing to large
    crowds, or nothing but crowds, and there only whether there are two of them."""
    partitions = {each.charge.partition for each in releases}
    if len(partitions) == 1 and None not in partitions:
        return releases
    endless: list[str] = []
    leading: list[str] = []
    found = []
    for each in releases:
        charge = each.charge
        known = endless if _is_endless(charge) else leading if _leads(charge) else None
        if known is None:
            found.append(each if charge.partition is None else replace(each, charge=charge.on_no_partition))
            continue
        name = charge.partition or f"release {each.number}"
        if name not in known and len(known) == _ENDLESS:  # no longer known to be a partition of its own
            name, charge = known[-1], replace(charge, exact_crowds=False)
        if name not in known:
            known.append(name)
        if name != charge.partition:
            charge = replace(charge, partition=name)
        found.append(each if charge is each.charge else replace(each, charge=charge))
    return found


def _leads(charge: Charge) -> bool:
    """Whether it is crowd-blending with exact crowds, and may not stand beside other crowds."""
    return charge.exact_crowds and charge.crowd_blending is not None and charge.beside_crowds is None


def _is_endless(charge: Charge) -> bool:
    return charge.curve is not None and isinstance(curve_of(charge.curve).limit, Infinite)


def _key(release: Entered) -> object:
    """What two releases must share so that one stand-in can take their place."""
    charge = release.charge
    return (
        charge.people,
        charge.partition,
        charge.kept_rows,
        charge.collected,
        charge.differential is None,
        charge.pure is None,
        charge.zcdp is None,
        release.rho is None,
        release.accountant is None,
        release.replaced_accountant is None,
        charge.loses_if_replaced,
        charge.promises_replacement,
        charge.zero_knowledge is None,
        charge.crowd_blending is None,
        charge.curve is None,
        None if release.sample is None else (release.sample.drawn_from, release.sample.sample),
    )


# --- adding up ------------------------------------------------------------------------------------------------------


def _sum(first: Entered, second: Entered) -> Entered:
    one, two = first.charge, second.charge
    rho, relation = _both(lambda a, b: _shorten(a + b), first.rho, second.rho), one.people.neighbours
    differential, is_pure = _both(_losses, one.differential, two.differential), one.differential is one.pure
    same = one.partition is not None
    one_partition = _crowds_add_up(first, second)
    return Entered(
        number=first.number,
        charge=one.with_sums(
            differential=differential,
            pure=differential if is_pure and two.differential is two.pure else _both(_losses, one.pure, two.pure),
            concentrated=None if rho is None or one.zcdp is None else ConcentratedPrivacy(rho=rho, neighbours=relation),
            replaced=_both(_losses, one.replacement_loss, two.replacement_loss)
            if one.promises_replacement
            else None,  # the same of both
            knowledge=_both(_knowledge, one.zero_knowledge, two.zero_knowledge),
            crowds=_crowds(first, second, one_partition),
            curve=_both(partial(_curves, same=same), one.curve, two.curve),
            at_delta=min(one.at_delta, two.at_delta),
            noises=(),  # they are in the pairs
            exact_crowds=one_partition,  # else what an exchange loses is in the one number as well
            sampled=_both(_common_sample, first.sample, second.sample),
        ),
        grown=_grown(first, second),
        pairs=_both(add, first.accountant, second.accountant),
        replaced_pairs=_both(add, first.replaced_accountant, second.replaced_accountant),
        swap=_both(_losses, first.swap_loss, second.swap_loss),
        rhos=rho,
        joint=_both(add, first.joint_loss, second.joint_loss),
    )


def _grown(first: Entered, second: Entered) -> tuple[Fraction, ...]:
    """The sums of growths, where they are not those of the pairs: once these are so many that some are rounded up."""
    one, two = first.accountant, second.accountant
    if one is None or two is None or first.charge.differential is None:
        return ()
    if not first.grown and not second.grown and len(one.pairs) + len(two.pairs) <= MOST_KINDS:
        return ()
    return tuple(_shorten(each + other) for each, other in zip(first.growths(), second.growths(), strict=True))


def _both(add: Callable[[_Part, _Part], _Whole], one: _Part | None, two: _Part | None) -> _Whole | None:
    """What two come to together; nothing where one of them is not there."""
    return None if one is None or two is None else add(one, two)


def _common_sample(one: SampledCounts, two: SampledCounts) -> SampledCounts:
    """The one sample of both, with the longer walk; the losses of their counts are in the sums."""
    return replace(one, explores=max(one.explores, two.explores), counts=())


def _losses(one: DifferentialPrivacy, two: DifferentialPrivacy) -> DifferentialPrivacy:
    return DifferentialPrivacy(
        epsilon=_short(one.epsilon + two.epsilon),
        delta=_short_chance(total_delta((one.delta, two.delta))),
        neighbours=one_relation((one, two), "a running total"),
        group=min(one.group, two.group),
    )


def _knowledge(one: ZeroKnowledge, two: ZeroKnowledge) -> ZeroKnowledge | None:
    try:
        return _with_short_numbers(composition.zero_knowledge_sum((one, two)))  # about the same people: one key
    except Refused:
        return None


def _crowds(first: Entered, second: Entered, one_partition: bool) -> CrowdBlending | None:
    """The first leads, and what is beside it is differentially private, or on the same partition; of other two nothing
    is left."""
    one, two, swap = first.charge.crowd_blending, second.charge.crowd_blending, second.swap_loss
    if one is not None and two is not None and one_partition:
        both = composition.crowd_blending_sum((one, two))
        return _with_short_numbers(both)
    if one is None or first.charge.kept_rows or swap is None:  # of kept rows nothing is promised beside others
        return None
    own = second.charge.beside_crowds
    assert own is not None
    epsilon, delta = max(swap.epsilon, own.epsilon), max(swap.delta, own.delta)
    return CrowdBlending(
        k=one.k, epsilon=_short(one.epsilon + epsilon), delta=_shorten(total_delta((one.delta, delta)))
    )


def _crowds_add_up(first: Entered, second: Entered) -> bool:
    """Whether two crowd-blending releases, neither of them differentially private, are on one partition."""
    one, two = first.charge, second.charge
    if one.kept_rows or two.kept_rows or one.beside_crowds is not None or two.beside_crowds is not None:
        return False
    return on_one_partition(first, second)


def _curves(one: OutlierKind, two: OutlierKind, same: bool) -> OutlierPrivacy:
    first, second = curve_of(one), curve_of(two)
    curve = first + second if same else flat(_short(total((first.limit, second.limit))))
    delta = total_delta(getattr(each, "delta", Fraction(0)) for each in (one, two))
    return OutlierPrivacy(curve=curve, delta=_short_chance(delta))


def _with_short_numbers(promise: Summed) -> Summed:
    epsilon, delta = _short(promise.epsilon), _short_chance(promise.delta)
    same = epsilon is promise.epsilon and delta is promise.delta
    return promise if same else replace(promise, epsilon=epsilon, delta=delta)


def _short(loss: Loss) -> Loss:
    return loss if isinstance(loss, Infinite) else _shorten(loss)


def _short_chance(delta: Fraction) -> Fraction:
    short = _shorten(delta)
    return delta if short is delta else min(short, ONE)


def _shorten(number: Fraction) -> Fraction:
    """The number, or a little more if it is too long to be carried along."""
    return number if number.denominator.bit_length() <= LONGEST else rounded(number, up=True, digits=_DIGITS)


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
