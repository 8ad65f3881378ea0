"""Which crowd, rate or loss reaches a promise: the theorems of sampling, solved for each of their parameters.

Theorem A is monotone in all of them. A larger crowd k asks more of a mechanism, so what it gives away does not grow.
A sample of a smaller rate is a sample of the sample, so the person is in it less often. So each search is a bisection,
and what it returns was checked.

One number of a plan: the smallest crowd for a rate, the largest rate for a crowd, the epsilon at a delta.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction
from typing import Annotated, Any, Final

from hubbub.account.tradeoff import why_impossible
from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.indistinguishability import subsampled_loss
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import Exact, Infinite, Loss, ball, integer, loss, precision, rational, rounded, to_text
from hubbub.numeric.format import numbers, numbers_down, short
from hubbub.numeric.limits import a_crowd, a_delta, a_loss, a_rate
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.amplification import (
    Amplified,
    Setting,
    delta_at,
    distributional_crowd,
    epsilon_at,
    floor,
    noisy_below,
)

LARGEST: Final = 10**7
_DIGITS: Final = 6  # of a rate or a loss that is searched for


class Want(Enum):
    """The promise that is wanted."""

    ZERO_KNOWLEDGE = "zero-knowledge"
    DIFFERENTIAL = "differential"
    CROWD_BLENDING = "crowd-blending"
    OUTLIER = "outlier"
    DISTRIBUTIONAL = "distributional"

    @property
    def plainly(self) -> str:
        """What somebody says who has never heard the name."""
        return _PLAINLY[self]


_PLAINLY: Final = {
    Want.ZERO_KNOWLEDGE: "no more than a sample would tell",
    Want.DIFFERENTIAL: "nobody can tell whether I took part",
    Want.CROWD_BLENDING: "nobody stands alone",
    Want.OUTLIER: "the fewer are like me, the less is told",
    Want.DISTRIBUTIONAL: "nobody can tell who of the population came into the table",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """(epsilon, delta) for everybody after a secret sample, by counts that lose `inner` below k (0: hidden)."""

    want: Want
    epsilon: Fraction
    delta: Fraction
    inner: Fraction = Fraction(0)

    @classmethod
    def parse(cls, want: Want, epsilon: Exact, delta: Exact, inner: Exact = 0) -> Target:
        """With its numbers read and checked."""
        e, d, below = loss(epsilon, "`epsilon`"), rational(delta, "`delta`"), loss(inner, "the noise below k")
        if not isinstance(e, Fraction) or not isinstance(below, Fraction):
            raise WrongUse("an epsilon that is planned for must be finite; give a number")
        if not 0 <= d < 1:
            raise WrongUse(f"`delta` must be at least 0 and below 1, not {to_text(d)}; choose one like 1e-9")
        return cls(want=want, epsilon=e, delta=d, inner=below)

    def setting(self, k: int, rate: Fraction) -> Setting:
        """The theorem for this promise; people of one bin blend exactly."""
        if self.want is Want.DISTRIBUTIONAL:
            return distributional_crowd(k, self.inner, rate, bins=True)
        if self.want in (Want.ZERO_KNOWLEDGE, Want.DIFFERENTIAL):
            return noisy_below(k, self.inner, rate)
        raise WrongUse(f"{self.want.value} privacy is about the table itself and needs no sample; leave out the rate")


def reaches(goal: Target, k: int, rate: Fraction) -> bool:
    """Whether this crowd and rate reach the target.

    Guarantee: if so, the delta at the target's epsilon was worked out and is at most the target's (Theorem A).
    """
    return delta_at(goal.setting(k, rate), goal.epsilon).delta <= goal.delta


def smallest_crowd(goal: Target, rate: Exact) -> int:
    """The smallest k that reaches the target at this rate.

    Guarantee: :func:`meets` holds for k, and not for k - 1 (or k = 2).
    """
    p = _rate(rate)
    _possible(goal)
    high = 2
    while not reaches(goal, high, p):
        high *= 2
        if high > LARGEST:
            raise Refused(why_no_crowd(goal, p))
    low = max(high // 2, 1)
    return first(lambda k: reaches(goal, k, p), low, high)


def largest_rate(goal: Target, k: Exact) -> Fraction:
    """The largest rate, to six digits, that reaches the target with this crowd.

    Guarantee: :func:`meets` holds for the rate, and not for one that is larger in its last digit.
    """
    crowd = integer(k, "`k`", least=2)
    _possible(goal)
    # Between 10^-n and 10^(1-n), the largest rate has `_DIGITS` digits.
    size = next((n for n in range(1, 40) if reaches(goal, crowd, Fraction(1, 10**n))), None)
    if size is None:
        raise Refused(
            f"no rate reaches delta {short(goal.delta, 3)} with k = {crowd}: at every epsilon the delta is at least "
            "rate^k; raise k or delta"
        )
    unit = Fraction(1, 10 ** (size + _DIGITS - 1))
    steps = 10 ** (_DIGITS - 1)  # of the unit: 10^-size
    above = first(lambda n: n * unit >= 1 or not reaches(goal, crowd, n * unit), steps, 10 * steps)
    return (above - 1) * unit


def epsilon_of(goal: Target, k: Exact, rate: Exact) -> Amplified:
    """The smallest epsilon at the target's delta, infinite where there is none.

    Guarantee: that of :func:`hubbub.sampling.amplification.epsilon_at`.
    """
    return epsilon_at(goal.setting(integer(k, "`k`", least=2), _rate(rate)), goal.delta)


def largest_inner(epsilon: Fraction, rate: Fraction) -> Fraction:
    """The loss, rounded down to six digits, that a mechanism may have on a sample: ln(1 + (e^epsilon - 1)/rate).

    Guarantee: ln(1 + rate (e^loss - 1)) <= epsilon.
    """
    if epsilon == 0:
        return Fraction(0)
    with precision():
        found = rounded((ball(epsilon).expm1() / ball(rate)).log1p(), up=False, digits=_DIGITS)
    assert subsampled_loss(found, rate) <= epsilon
    return found


def why_not(goal: Target, k: int, rate: Fraction) -> str | None:
    """Why this crowd and rate do not reach the target, in a sentence; None if they do.

    Guarantee: what it says was worked out for these numbers.
    """
    if reaches(goal, k, rate):
        return None
    least = floor(goal.setting(k, rate))
    if least > goal.delta:
        power = "k" if goal.want is not Want.DISTRIBUTIONAL else "k - 1"
        return (
            f"with k = {k} and a rate of {to_text(rate)} the delta is at least {short(least, 3)} at every epsilon, "
            f"because a whole crowd may be sampled at once (the rate to the power of {power}); raise k, or lower "
            "the rate"
        )
    needed = epsilon_at(goal.setting(k, rate), goal.delta).epsilon
    reached = delta_at(goal.setting(k, rate), goal.epsilon).delta
    epsilon = short(needed, 3) if isinstance(needed, Fraction) else "more than any"
    return (
        f"with k = {k} and a rate of {to_text(rate)} the delta at epsilon {to_text(goal.epsilon)} is "
        f"{short(reached, 3)}, and delta {short(goal.delta, 3)} needs epsilon {epsilon}; raise k or lower the rate"
    )


def why_no_crowd(goal: Target, rate: Fraction) -> str:
    """Why no crowd of any size that is looked at will do.

    Guarantee: nothing up to `LARGEST` people reaches the target.
    """
    return (
        f"no crowd of up to {LARGEST:,} people reaches epsilon {to_text(goal.epsilon)} and delta "
        f"{short(goal.delta, 3)} at a rate of {to_text(rate)}; allow a larger epsilon, or lower the rate"
    )


def _possible(goal: Target) -> None:
    if goal.delta == 0:
        raise Refused(
            "crowds alone never reach delta = 0: at every epsilon the delta is at least rate^k, because a whole crowd "
            "may be sampled at once; allow a delta like 1e-9, or add noise to every count (`epsilon`)"
        )


def _rate(value: Exact) -> Fraction:
    rate = rational(value, "`rate`")
    if not 0 < rate < 1:
        raise WrongUse(f"`rate` must lie between 0 and 1, not {to_text(rate)}; choose one like 0.1")
    return rate


TARGETS: Final = ("k", "rate", "epsilon")
_NEEDS: Final = {
    "k": ("epsilon", "delta", "rate"),
    "rate": ("epsilon", "delta", "k"),
    "epsilon": ("delta", "k", "rate"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A crowd, a rate and a loss that reach a delta; `asked` says which of the three was looked for."""

    want: Want
    target: str
    k: int
    rate: Fraction
    epsilon: Loss
    delta: Fraction
    worst_class_size: int | None = None
    less: str | None = None  # why a smaller crowd fails
    impossible: str = ""  # why there is none

    def as_json(self) -> dict[str, Any]:
        rate = numbers_down(rate=self.rate) if self.target == "rate" else numbers(rate=self.rate)
        fields: dict[str, Any] = {"want": self.want.value, "ask": self.target, **numbers(delta=self.delta), "k": self.k}
        if self.target == "rate":
            fields |= numbers(epsilon=self.epsilon) | rate
        else:
            fields |= rate | numbers(epsilon=self.epsilon)
        if self.target == "epsilon":
            fields["worst_class_size"] = self.worst_class_size
        if self.impossible:
            fields["why"] = self.impossible
        return {**fields, "words": " ".join(self.sentences())}

    def sentences(self) -> tuple[str, ...]:
        if self.impossible:
            return (f"Impossible: {self.impossible}.",)
        if self.target == "k":
            found = f"The smallest crowd is k = {self.k:,} at a rate of {to_text(self.rate)}."
            return (found, f"A smaller one fails: {self.less}.") if self.less else (found,)
        if self.target == "rate":
            return (f"The largest rate, to six digits, is {to_text(self.rate)} with k = {self.k:,}.",)
        return (f"The smallest epsilon at delta {short(self.delta)} is {short(self.epsilon, 6)}.",)


def ask(
    what: Annotated[str, option_help("WHAT", f"One of designs, {', '.join(TARGETS)}.")],
    want: str,
    *,
    epsilon: Exact | None = None,
    delta: Exact | None = None,
    k: Exact | None = None,
    rate: Exact | None = None,
    noise_below: Annotated[Exact, option_help("EPS", "With `ask`: counts below k get noise; 0 hides them.")] = 0,
) -> Number:
    """The smallest `k`, the largest `rate` or the smallest `epsilon` that reaches a promise with the other numbers.

    `want` is the notion of the promise. Counts below k are hidden, or get noise of rate `noise_below`.

    Guarantee: what is returned was checked to reach the promise by Theorem A, and one step beyond it does not.
    """
    notion = parse_want(want)
    if what not in TARGETS:
        raise WrongUse(f"`ask` must be one of {', '.join(TARGETS)}, not {what[:40]!r}")
    given = {"epsilon": epsilon, "delta": delta, "k": k, "rate": rate}
    for name in _NEEDS[what]:
        if given[name] is None:
            raise WrongUse(f"`ask={what}` needs `{name}`; add it")
    loss = 0 if what == "epsilon" or epsilon is None else a_loss(epsilon, "`epsilon`")
    assert delta is not None
    goal = Target.parse(notion, loss, a_delta(delta, "`delta`"), a_loss(noise_below, "`noise_below`"))
    crowd = a_crowd(k, "`k`", least=2) if what != "k" and k is not None else 0
    sampled = a_rate(rate, "`rate`") if what != "rate" and rate is not None else Fraction(0)
    if what == "k":
        crowd = smallest_crowd(goal, sampled)
        less = why_not(goal, crowd - 1, sampled) if crowd > 2 else None
        return Number(
            want=notion, target=what, k=crowd, rate=sampled, epsilon=goal.epsilon, delta=goal.delta, less=less
        )
    if what == "rate":
        largest = largest_rate(goal, crowd)
        return Number(want=notion, target=what, k=crowd, rate=largest, epsilon=goal.epsilon, delta=goal.delta)
    found = epsilon_of(goal, crowd, sampled)
    return Number(
        want=notion,
        target=what,
        k=crowd,
        rate=sampled,
        epsilon=found.epsilon,
        delta=goal.delta,
        worst_class_size=found.worst_class_size,
        impossible=why_impossible(floor(goal.setting(crowd, sampled))) if isinstance(found.epsilon, Infinite) else "",
    )


def parse_want(want: str) -> Want:
    """The notion of that name, or what somebody says who has never heard the name."""
    normalized = " ".join(want.split()).rstrip(".!").casefold()
    for each in Want:
        if normalized in (each.value, each.plainly.casefold()):
            return each
    names = ", ".join(f"{each.value} ({each.plainly!r})" for each in Want)
    raise WrongUse(f"`want` must be one of {names}, not {want[:40]!r}; choose one, by its name or in those words")
