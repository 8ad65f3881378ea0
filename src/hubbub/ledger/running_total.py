"""The running total of a dataset: releases that are alike in how they add up, added up.

However many releases there were, a handful of stand-ins is left, and :func:`hubbub.ledger.admission.admit` says of them
and one more release what it would say of all releases and that one. So the ten-thousandth release costs what the second
did. The total is sealed in each entry, and `hubbub ledger check` works it out again from the first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Final

from hubbub.errors import Refused
from hubbub.guarantees import composition
from hubbub.guarantees.accountant.accountant import Accountant
from hubbub.guarantees.curve import Curve, flat
from hubbub.guarantees.definitions import (
    ConcentratedPrivacy,
    CrowdBlending,
    DifferentialPrivacy,
    Guarantee,
    OutlierKind,
    OutlierPrivacy,
    ZeroKnowledge,
)
from hubbub.guarantees.indistinguishability import total, total_delta
from hubbub.guarantees.neighbours import one_relation
from hubbub.ledger.admission import Entered, on_one_partition
from hubbub.ledger.charge import Charge
from hubbub.numeric.exact import Infinite, Loss, rounded
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.canonical import canonical, read
from hubbub.serialization.exact_json import plain, restored

_LONG: Final = 1 << 11  # bits of a denominator; longer ones are rounded against us
_DIGITS: Final = 60
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
            reserved=max(self.reserved, new.number), spent=self.spent + 1, stand_ins=_merged([*self.stand_ins, new])
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
    """The canonical bytes of a total, which are stored and hashed into the chain."""
    return canonical(plain(value))


def recalled(data: bytes) -> RunningTotal:
    """The total that these bytes stand for."""
    return restored(RunningTotal, read(data, "the running total"))  # type: ignore[no-any-return]


# --- which are alike ------------------------------------------------------------------------------------------------


def _merged(releases: list[Entered]) -> tuple[Entered, ...]:
    releases = _partitions(releases)
    while True:  # adding up may make two stand-ins alike
        alike: dict[object, Entered] = {}
        for each in releases:
            key = _key(each)
            alike[key] = _sum(alike[key], each) if key in alike else each
        if len(alike) == len(releases):
            return tuple(alike.values())
        releases = list(alike.values())


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
            found.append(replace(each, charge=replace(charge, partition=None)))
            continue
        name = charge.partition or f"release {each.number}"
        if name not in known and len(known) == _ENDLESS:  # no longer known to be a partition of its own
            name, charge = known[-1], replace(charge, exact_crowds=False)
        if name not in known:
            known.append(name)
        found.append(replace(each, charge=replace(charge, partition=name)))
    return found


def _leads(charge: Charge) -> bool:
    """Whether it is crowd-blending with exact crowds, and may not stand beside other crowds."""
    return charge.exact_crowds and charge.crowd_blending is not None and charge.beside_crowds is None


def _is_endless(charge: Charge) -> bool:
    return charge.curve is not None and isinstance(_curve(charge.curve).limit, Infinite)


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
        charge.concentrated is None,
        release.concentrated is None,
        release.accountant is None,
        release.replaced_accountant is None,
        charge.replaced is None,
        charge.promises_replacement,
        charge.zero_knowledge is None,
        charge.crowd_blending is None,
        charge.curve is None,
    )


# --- adding up ------------------------------------------------------------------------------------------------------


def _sum(first: Entered, second: Entered) -> Entered:
    one, two = first.charge, second.charge
    rho, relation = _rho(first, second), one.people.neighbours
    promises = (
        _losses(one.differential, two.differential),
        _losses(one.pure, two.pure),
        None if rho is None or one.concentrated is None else ConcentratedPrivacy(rho=rho, neighbours=relation),
        _losses(one.replaced, two.replaced) if one.promises_replacement else None,  # the same of both
        _knowledge(first, second),
        _crowds(first, second),
        _curves(one, two),
    )
    return Entered(
        number=first.number,
        charge=replace(
            one,
            promises=tuple(dict.fromkeys(promise for promise in promises if promise is not None)),
            at_delta=min(one.at_delta, two.at_delta),
            noises=(),  # they are in the pairs
            exact_crowds=_crowds_add_up(first, second),  # else what an exchange loses is in the one number as well
        ),
        grown=tuple(_shortened(each + other) for each, other in zip(first.growths(), second.growths(), strict=True))
        if one.differential is not None
        else (),
        pairs=_pairs(first.accountant, second.accountant),
        replaced_pairs=_pairs(first.replaced_accountant, second.replaced_accountant),
        swap=_losses(first.swapped, second.swapped),
        rhos=rho,
    )


def _pairs(one: Accountant | None, two: Accountant | None) -> Accountant | None:
    return None if one is None or two is None else one + two


def _losses(one: DifferentialPrivacy | None, two: DifferentialPrivacy | None) -> DifferentialPrivacy | None:
    if one is None or two is None:
        return None
    return DifferentialPrivacy(
        epsilon=_short(one.epsilon + two.epsilon),
        delta=min(_shortened(total_delta((one.delta, two.delta))), Fraction(1)),
        neighbours=one_relation((one, two), "a running total"),
        group=min(one.group, two.group),
    )


def _knowledge(first: Entered, second: Entered) -> Guarantee | None:
    one, two = first.charge.zero_knowledge, second.charge.zero_knowledge
    if one is None or two is None:
        return None
    try:
        both = composition.zero_knowledge(first.step(one), second.step(two)).conclusion
    except Refused:
        return None
    assert isinstance(both, ZeroKnowledge)
    return replace(both, epsilon=_short(both.epsilon), delta=min(_shortened(both.delta), Fraction(1)))


def _rho(first: Entered, second: Entered) -> Fraction | None:
    one, two = first.concentrated, second.concentrated
    return None if one is None or two is None else _shortened(one.rho + two.rho)


def _crowds(first: Entered, second: Entered) -> Guarantee | None:
    """The first leads, and what is beside it is differentially private, or on the same partition; of other two nothing
    is left."""
    one, two, swap = first.charge.crowd_blending, second.charge.crowd_blending, second.swapped
    if one is not None and two is not None and _crowds_add_up(first, second):
        both = composition.crowd_blending_same_partition(first.step(one), second.step(two)).conclusion
        assert isinstance(both, CrowdBlending)
        return replace(both, epsilon=_short(both.epsilon), delta=min(_shortened(both.delta), Fraction(1)))
    if one is None or first.charge.kept_rows or swap is None:  # of kept rows nothing is promised beside others
        return None
    own = second.charge.beside_crowds
    assert own is not None
    epsilon, delta = max(swap.epsilon, own.epsilon), max(swap.delta, own.delta)
    return CrowdBlending(
        k=one.k, epsilon=_short(one.epsilon + epsilon), delta=_shortened(total_delta((one.delta, delta)))
    )


def _crowds_add_up(first: Entered, second: Entered) -> bool:
    """Whether two crowd-blending releases, neither of them differentially private, are on one partition."""
    neither = all(each.charge.beside_crowds is None and not each.charge.kept_rows for each in (first, second))
    return neither and on_one_partition(first, second)


def _curves(one: Charge, two: Charge) -> Guarantee | None:
    if one.curve is None or two.curve is None:
        return None
    first, second = _curve(one.curve), _curve(two.curve)
    same = one.partition is not None
    curve = first + second if same else flat(_short(total((first.limit, second.limit))))
    delta = total_delta((_delta(one.curve), _delta(two.curve)))
    return OutlierPrivacy(curve=curve, delta=min(_shortened(delta), Fraction(1)))


def _curve(promise: OutlierKind) -> Curve:
    return promise.curve if isinstance(promise, OutlierPrivacy) else promise.as_outlier().curve


def _delta(promise: OutlierKind) -> Fraction:
    return getattr(promise, "delta", Fraction(0))


def _short(loss: Loss) -> Loss:
    return loss if isinstance(loss, Infinite) else _shortened(loss)


def _shortened(number: Fraction) -> Fraction:
    """The number, or a little more if it is too long to be carried along."""
    return number if number.denominator.bit_length() <= _LONG else rounded(number, up=True, digits=_DIGITS)
