"""The totals of a dataset after each of many releases in a row that ask for the same, without adding up all of it anew.

A check of a ledger works out one total for each release, and writes it. Where the same is asked for again and again, a
few numbers of the total move, each by the same amount, and the text between them stays.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from hubbub.guarantees.accountant.accountant import MOST_KINDS
from hubbub.guarantees.composition import both
from hubbub.guarantees.definitions import BernoulliSample, CrowdBlending, DifferentialPrivacy, ZeroKnowledge
from hubbub.ledger.admission import Entered
from hubbub.ledger.charge import Charge
from hubbub.ledger.running_total import LONGEST, RunningTotal
from hubbub.numeric.exact import Infinite, ratio_to_text
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import line, plain

_MARK: Final = "\0moves {}\0"
_MARKED: Final = re.compile(r'"\\u0000moves (\d+)\\u0000"')


class _Over(Exception):
    """A delta has come to 1."""


@dataclass(slots=True)
class _Count:
    """A whole number that grows by one."""

    now: int

    def more(self) -> str:
        self.now += 1
        return f"{self.now}"


@dataclass(slots=True)
class _Number:
    """A fraction that grows by another, over a denominator of both; one with an end stays below it."""

    now: int
    step: int
    below: int
    end: int | None

    def more(self) -> str:
        self.now += self.step
        if self.end is not None and self.now >= self.end:
            raise _Over
        shared = math.gcd(self.now, self.below)
        return f'"{ratio_to_text(self.now // shared, self.below // shared)}"'


@dataclass(slots=True)
class _Sample:
    """The people that all samples so far chose, and how each further one is drawn."""

    now: Any
    step: BernoulliSample

    def more(self) -> str:
        self.now = both(self.now, self.step)
        return line(self.now)


Moving = _Count | _Number | _Sample


class Repetition:
    """The bytes of the total after each further release with a charge; `reserved` releases are in the last one."""

    def __init__(self, charge: Charge, reserved: int, between: list[str], moving: list[Moving]) -> None:
        self.charge, self.reserved, self._between, self._moving = charge, reserved, between, moving

    def more(self, release: Entered) -> bytes | None:
        """The bytes of the total after one more release; None where it has to be added up, and then this is over.

        Guarantee: those of :func:`hubbub.ledger.running_total.total_bytes` after :meth:`RunningTotal.followed_by`.
        """
        if release.charge is not self.charge or release.number != self.reserved + 1:
            return None
        self.reserved += 1
        found = [self._between[0]]
        try:
            for each, text in zip(self._moving, self._between[1:], strict=True):
                found += each.more(), text
        except _Over:
            return None
        return "".join(found).encode("ascii")


def repetition(before: RunningTotal, last: RunningTotal, charge: Charge) -> Repetition | None:
    """How it goes on from `last`, which is `before` and one release with this charge; None if that is not known.

    Guarantee: adding up depends on the numbers of a total in two ways only: one with too long a denominator is rounded,
    and a delta stops at 1. All else is decided by which promises, pairs and bins there are. A step that leaves all of that
    as it was, the text between the numbers, is therefore followed by one that does the same: to each number is added what
    the charge has of it, and the samples are joined. No denominator grows beyond the common one of a number and what is
    added, which must be short, and a delta ends the repetition before it comes to 1. Curves, Gaussian noise, samples that
    several releases share, and what else adds up otherwise, are left to :meth:`RunningTotal.followed_by`.
    """
    if last.reserved != before.reserved + 1 or last.spent != before.spent + 1:
        return None
    earlier, now = _cut(before, charge), _cut(last, charge)
    if earlier is None or now is None or earlier[0] != now[0]:
        return None
    for was, each in zip(earlier[1], now[1], strict=True):
        try:
            was.more()
        except _Over:
            return None
        if was != each or (isinstance(each, _Number) and each.below.bit_length() > LONGEST):
            return None
    return Repetition(charge, last.reserved, *now)


def _cut(total: RunningTotal, charge: Charge) -> tuple[list[str], list[Moving]] | None:
    """The text of a total without what one more release with this charge moves, and that; None if it is not known."""
    tree: Any = plain(total)
    moving = _moving_fields(total, charge, tree)
    if moving is None:
        return None
    for i, (item, name, _) in enumerate(moving):
        item[name] = _MARK.format(i)
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    parts = _MARKED.split(text)
    order = [int(each) for each in parts[1::2]]
    if sorted(order) != [*range(len(moving))]:  # somebody's words look like a mark
        return None
    return parts[::2], [moving[i][2] for i in order]


MovingField = tuple[dict[str, Any], str, Moving]  # where it stands in the JSON of the total


def _moving_fields(total: RunningTotal, charge: Charge, tree: Any) -> list[MovingField] | None:
    if len(total.stand_ins) != 1 or charge.partition is None:
        return None
    one, own, node = total.stand_ins[0], Entered(number=1, charge=charge), tree["stand_ins"][0]
    if one.charge.partition != charge.partition or one.charge.sampled or charge.sampled or one.joint or one.grown:
        return None
    promises, pairs = [*_promises(one, charge, node)], [*_pairs(one, own, node)]
    found: list[MovingField | None] = [(tree, "reserved", _Count(total.reserved)), (tree, "spent", _Count(total.spent))]
    found += [*promises, *pairs, *_lost(node["swap"], one.swap, charge.swapped)]
    if one.rhos is not None:
        found.append(None if own.rho is None else (node, "rhos", _number(one.rhos, own.rho)))
    known = [each for each in found if each is not None]
    return known if len(known) == len(found) else None


def _promises(one: Entered, charge: Charge, node: Any) -> Iterator[MovingField | None]:
    """What moves in the promises; None for one of which it is not known."""
    kinds = [type(each) for each in one.charge.promises]
    if len({*kinds}) < len(kinds):
        yield None
    for promise, item in zip(one.charge.promises, node["charge"]["promises"], strict=True):
        match promise:
            case DifferentialPrivacy():
                yield from _lost(item, promise, charge.differential)
            case CrowdBlending() if one.charge.exact_crowds:
                yield from _lost(item, promise, charge.crowd_blending)
            case ZeroKnowledge(aggregate=BernoulliSample() as sample):
                yield from _lost(item, promise, charge.zero_knowledge)
                more = None if charge.zero_knowledge is None else charge.zero_knowledge.aggregate
                yield (item, "aggregate", _Sample(sample, more)) if isinstance(more, BernoulliSample) else None
            case _:
                yield None


def _lost(item: Any, sum_: _Lossy | None, own: _Lossy | None) -> Iterator[MovingField | None]:
    """The epsilon and the delta of a sum, and what the charge adds to it."""
    if sum_ is None:
        return
    if own is None or isinstance(sum_.epsilon, Infinite) or isinstance(own.epsilon, Infinite):
        yield None
        return
    if own.epsilon:
        yield item, "epsilon", _number(sum_.epsilon, own.epsilon)
    if own.delta:
        yield item, "delta", _number(sum_.delta, own.delta, end=1)


_Lossy = DifferentialPrivacy | CrowdBlending | ZeroKnowledge


def _pairs(one: Entered, own: Entered, node: Any) -> Iterator[MovingField | None]:
    """How often there is each pair of laws; None where it is not the one pair of the charge that is there once more."""
    for name, sums, new, may_lose in (
        ("pairs", one.pairs, own.accountant, one.charge.differential is not None),
        ("replaced_pairs", one.replaced_pairs, own.replaced_accountant, one.charge.loses_if_replaced),
    ):
        if sums is None or new is None:
            if sums is not new or may_lose:
                yield None
            continue
        if sums.gaussian is not None or new.gaussian is not None or len(sums.pairs) >= MOST_KINDS:
            yield None
            continue
        same = [i for i, each in enumerate(sums.pairs) if [each.pair] == [other.pair for other in new.pairs]]
        if len(same) != 1:
            yield None
            continue
        yield node[name]["pairs"][same[0]], "times", _Count(sums.pairs[same[0]].times)


def _number(now: Fraction, step: Fraction, end: int | None = None) -> _Number:
    below = math.lcm(now.denominator, step.denominator)
    return _Number(int(now * below), int(step * below), below, None if end is None else end * below)
