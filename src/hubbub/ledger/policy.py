"""What may be spent on a dataset: caps on what all its releases promise together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from datetime import date
from fractions import Fraction
from itertools import pairwise
from typing import Final, Self

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.aggregates import robust
from hubbub.guarantees.definitions import (
    BernoulliSample,
    CrowdBlending,
    DifferentialPrivacy,
    RobustSample,
    ZeroKnowledge,
)
from hubbub.guarantees.people import Whose
from hubbub.ledger.admission import ADAPTIVE_DELTA, Total, Totals
from hubbub.ledger.charge import Charge
from hubbub.numeric.exact import Infinite, Loss, to_text
from hubbub.numeric.format import short
from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import UNSAID

WINDOWS: Final = ("month", "quarter", "year")
PAUSES: Final = {"month": 35, "quarter": 45, "year": 45}
"""Days between two entries, after which a long pause and a wrong clock look alike, by what renews the caps. Whoever
publishes every month on the same weekday has at most 35 between two of them."""
FILTER_SHARE: Final = Fraction(1, 2)
"""What a privacy filter has of the delta of a policy."""


def _window(per: str, moment: str) -> tuple[int, int]:
    """The part of the calendar that a moment is in: its year, and which month or quarter of it."""
    year, month = int(moment[:4]), int(moment[5:7])
    return year, {"month": month, "quarter": (month - 1) // 3, "year": 0}[per]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Caps; None where there is none. A notion with a cap must hold: a release that would end it is refused.

    With `planned`, somebody declares that which releases there are and how much noise each has was fixed before any of
    them was seen: their losses are then added up by the exact law, at the delta of the policy. With `per`, the caps are on
    what is reserved in one month, quarter or year of the calendar (UTC, by this computer's clock), and count afresh in the
    next: a promise for each of them by itself. A series counts in every one from its start to the end of its last period. Over a lifetime they
    add up, and no cap bounds that.
    """

    differential_epsilon: Fraction | None = None
    zero_knowledge_epsilon: Fraction | None = None
    zero_knowledge_rate: Fraction | None = None  # how much of the data it may be fair to know, all samples together
    delta: Fraction | None = None  # of each notion that has one
    crowd: int | None = None  # the smallest k
    overlap: Fraction | None = None  # the largest share of its people who may be in a dataset of another name
    planned: bool = field(default=False, metadata=UNSAID)
    per: str | None = field(default=None, metadata=UNSAID)  # month, quarter or year: caps count afresh in each
    # set before the first release, whose delta leaves room for a filter; the ledger says so
    before_all: bool = field(default=False, compare=False, metadata=UNSAID)

    def __post_init__(self) -> None:
        for name in ("differential_epsilon", "zero_knowledge_epsilon", "zero_knowledge_rate", "delta", "overlap"):
            value = getattr(self, name)
            if value is not None and value < 0:
                raise WrongUse(f"a cap must not be negative, and {name.replace('_', '-')} is; choose one like 1")
        for name, like in (("zero_knowledge_rate", "0.1"), ("delta", "1e-6"), ("overlap", "0.05")):
            value = getattr(self, name)
            if value is not None and value > 1:
                raise WrongUse(f"{name.replace('_', '-')} is a share, so at most 1; choose one like {like}")

        if self.per is not None and self.per not in WINDOWS:
            raise WrongUse(f"caps are renewed per {', '.join(WINDOWS)}, not {self.per[:40]!r}; choose one of these")
        if self.planned and not self.delta:
            raise WrongUse("a plan is added up at a delta; cap that too, like 1e-6")

    def __bool__(self) -> bool:
        declared = [name for name in self.__slots__ if name not in ("planned", "before_all")]
        return self.planned or any(getattr(self, name) is not None for name in declared)

    def begun_with(self, first: Charge | None) -> Self:
        """The same after the first release: one whose delta leaves no room ends the filter, for good.

        What is asked for first depends on nothing that was published, so neither does this.
        """
        promise, room = (None if first is None else first.differential), self.filter_room
        fits = first is None or (room is not None and promise is not None and promise.delta <= room)
        return replace(self, before_all=self.before_all and fits)

    @property
    def filter_room(self) -> Fraction | None:
        """What the deltas of all releases may add up to where a privacy filter counts; None where none does.

        Guarantee: whichever releases are chosen on the way, those admitted by the sum or by fully adaptive composition
        with deltas up to this, and those admitted by the filter, are within the delta of the policy: the three add up
        to it. (Were more allowed to whoever does without the filter, somebody could take the filter where it gains
        and the deltas elsewhere, and have both.)
        """
        if not self.before_all or self.planned or self.delta is None or self.differential_epsilon is None:
            return None
        room = self.delta * (1 - FILTER_SHARE) - ADAPTIVE_DELTA
        return room if room >= 0 else None

    def counts_at(self, moment: str, first: str, last: str) -> bool:
        """Whether what goes on from one moment to another counts at this one; always, where caps are not renewed."""
        if self.per is None:
            return True
        return _window(self.per, first) <= _window(self.per, moment) <= _window(self.per, last)

    def check_clock(self, times: Sequence[str], now: str, dataset: str) -> None:
        """Refuse to go by a clock that may be wrong, where it renews the caps; `times` are those of the entries before.

        Guarantee: returns only if caps are not renewed, or if the clock is at most a day behind the last entry and, from
        each entry to the next and to now, at most its `PAUSES` days go by or all of them within one month, quarter or year.
        """
        if self.per is None:
            return
        for one, two in pairwise([*times, now]):
            days = (date.fromisoformat(two[:10]) - date.fromisoformat(one[:10])).days
            if days < -1 or (days > PAUSES[self.per] and _window(self.per, one) != _window(self.per, two)):
                raise Refused(
                    f"the caps of {dataset} are renewed each {self.per} by this computer's clock, which may be wrong: "
                    f"from one entry of the ledger to the next it goes from {one[:10]} to {two[:10]}; set it right, or, if "
                    "it is right, say so with hubbub ledger clock"
                )

    def check(self, totals: Totals, dataset: str) -> None:
        """Refuse what goes beyond a cap.

        Guarantee: returns only if under every capped notion a theorem covers all releases and its numbers are within
        the caps.
        """
        if self.differential_epsilon is not None:
            _capped_guarantee(totals.differential, "differential privacy", dataset)
            promise = self.differential(totals)
            assert promise is not None
            self._check_cap(promise.epsilon, self.differential_epsilon, "differential privacy", "epsilon", dataset)
        if self.zero_knowledge_epsilon is not None or self.zero_knowledge_rate is not None:
            knowledge = _capped_guarantee(totals.zero_knowledge, "zero-knowledge privacy", dataset)
            assert isinstance(knowledge, ZeroKnowledge)
            if self.zero_knowledge_epsilon is not None:
                cap = self.zero_knowledge_epsilon
                self._check_cap(knowledge.epsilon, cap, "zero-knowledge privacy", "epsilon", dataset)
            if self.zero_knowledge_rate is not None:
                rate = share(knowledge)
                if rate is None:
                    raise Refused(
                        f"the policy of {dataset} caps a sampling rate, and {knowledge.aggregate} has none; change it"
                    )
                cap, what = self.zero_knowledge_rate, "the rate of all samples"
                self._check_cap(rate, cap, "zero-knowledge privacy", what, dataset)
        if self.delta is not None:
            self._check_delta(totals, self.delta, dataset)
            self._check_filter_room(totals, dataset)
        if self.crowd is not None:
            crowds = _capped_guarantee(totals.crowd_blending, "crowd-blending privacy", dataset)
            assert isinstance(crowds, CrowdBlending)
            step = totals.crowd_blending.derivation
            if step is not None and step.people is not None and step.people.whose is Whose.KEPT_ROWS:
                raise Refused(
                    f"the policy of {dataset} asks for crowds of people, and this release has crowds of kept rows, one "
                    "of each person: somebody with rows in two bins has no equal; count people with one row each, or "
                    "use `epsilon`"
                )
            if crowds.k < self.crowd:
                raise Refused(
                    f"the policy of {dataset} asks for crowds of at least {self.crowd}, and this release has "
                    f"{crowds.k}; use `crowd={self.crowd}`"
                )

    def differential(self, totals: Totals) -> DifferentialPrivacy | None:
        """What the releases lose together: at a delta, if the policy says which one they may have.

        Guarantee: the least epsilon of the sum, of fully adaptive composition, of a privacy filter if the policy came
        before the first release and, of a plan, of the exact law, among those whose delta is within the cap; the sum
        where none is.
        """
        offered = self._admitted_losses(totals)
        within = [each for each, most in offered if most is None or each.delta <= most]
        return min(within, key=lambda each: each.epsilon, default=offered[0][0] if offered else None)

    def _admitted_losses(self, totals: Totals) -> list[tuple[DifferentialPrivacy, Fraction | None]]:
        """What the releases lose together, by each way to add up that the policy admits, and the most delta of each."""
        found = [(totals.differential.guarantee, self.delta), (totals.adaptive.guarantee, self.delta)]
        room = self.filter_room
        if self.delta is None:
            found = found[:1]
        elif self.planned:
            found.append((totals.planned.at(self.delta).guarantee, self.delta))
        elif room is not None and self.differential_epsilon is not None:
            filtered = totals.under_cap.at(self.differential_epsilon, self.delta * FILTER_SHARE)
            found = [(found[0][0], room), (found[1][0], room + ADAPTIVE_DELTA), (filtered.guarantee, self.delta)]
        return [(each, most) for each, most in found if isinstance(each, DifferentialPrivacy)]

    def _check_delta(self, totals: Totals, cap: Fraction, dataset: str) -> None:
        for notion, delta in self.deltas(totals):
            self._check_cap(delta, cap, notion, "delta", dataset)

    def _check_cap(self, spent: Loss, cap: Fraction, notion: str, what: str, dataset: str) -> None:
        if isinstance(spent, Infinite) or spent > cap:
            each = "" if self.per is None else f" for each {self.per} by this computer's clock (UTC)"
            raise Refused(
                f"with this release {what} of {notion} for {dataset} would be {_short(spent)}, above the cap of "
                f"{to_text(cap)}{each}; ask for less, see hubbub ledger show {dataset}, or change the policy"
            )

    def _check_filter_room(self, totals: Totals, dataset: str) -> None:
        room = self.filter_room
        if room is None or any(most is None or each.delta <= most for each, most in self._admitted_losses(totals)):
            return
        raise Refused(
            f"with this release the deltas of {dataset} would add up to more than {_short(room)}: its policy was set before "
            "the first release, and keeps half of its delta for many small ones; ask for a smaller delta"
        )

    def deltas(self, totals: Totals) -> Iterator[tuple[str, Fraction]]:
        """The delta of each notion that has one and still holds; of differential privacy as this policy adds it up."""
        only_crowd = totals.differential.guarantee is None  # else it follows from that, which has the delta already
        one_replaced = [("differential privacy, one person replaced", totals.replaced.guarantee)] if only_crowd else []
        for notion, promise in (
            ("differential privacy", self.differential(totals)),
            *one_replaced,
            ("zero-knowledge privacy", totals.zero_knowledge.guarantee),
            ("crowd-blending privacy", totals.crowd_blending.guarantee),
            ("outlier privacy", totals.outlier.guarantee),
        ):
            delta = getattr(promise, "delta", None)
            if delta is not None:
                yield notion, delta


def remaining_budget(policy: Policy, totals: Totals | None) -> dict[str, str]:
    """What each cap leaves to spend, as exact text; "nothing" where a capped notion no longer holds.

    Of a rate that is what a further sample may have: samples of rates p and q together are one of p + q - pq.
    """
    remaining = {}
    differential = policy.differential(totals) if totals else None
    knowledge = totals.zero_knowledge.guarantee if totals else None
    rate = share(knowledge) if isinstance(knowledge, ZeroKnowledge) else None
    spent: dict[str, tuple[Fraction | None, Loss | None]] = {
        "differential_epsilon": (policy.differential_epsilon, getattr(differential, "epsilon", None)),
        "zero_knowledge_epsilon": (policy.zero_knowledge_epsilon, getattr(knowledge, "epsilon", None)),
        "zero_knowledge_rate": (policy.zero_knowledge_rate, rate),
        "delta": (policy.delta, max((delta for _, delta in policy.deltas(totals)), default=None) if totals else None),
    }
    for name, (cap, used) in spent.items():
        if cap is None:
            continue
        if totals is None or (name == "delta" and used is None):
            remaining[name] = to_text(cap)
        elif used is None or isinstance(used, Infinite) or used > cap:
            remaining[name] = "nothing"
        elif name == "zero_knowledge_rate":
            remaining[name] = to_text((cap - used) / (1 - used) if used < 1 else cap)
        else:
            remaining[name] = to_text(cap - used)
    return remaining


def share(promise: ZeroKnowledge) -> Fraction | None:
    """The rate of the sample that it is fair to know, where people are drawn one by one."""
    if isinstance(promise.aggregate, BernoulliSample | RobustSample):
        return robust(promise.aggregate).high
    return None


def _capped_guarantee(total: Total, notion: str, dataset: str) -> object:
    if total.guarantee is None:
        raise Refused(
            f"the policy of {dataset} caps {notion}, and with this release there would be none: {total.why}; change "
            f"the release, or the policy with hubbub ledger policy {dataset}"
        )
    return total.guarantee


def _short(value: Loss) -> str:
    text = to_text(value)
    if len(text) <= 24 or isinstance(value, Infinite):
        return text
    return f"about {short(value, 6)}"
