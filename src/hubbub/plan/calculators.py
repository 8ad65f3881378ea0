"""One number of a plan: the smallest crowd for a rate, the largest rate for a crowd, the epsilon at a delta."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Final

from hubbub.account.tradeoff import why_impossible
from hubbub.errors import WrongUse
from hubbub.numeric.exact import Exact, Infinite, Loss, to_text
from hubbub.numeric.format import numbers, numbers_down, short
from hubbub.numeric.limits import a_crowd, a_delta, a_loss, a_rate
from hubbub.plan.targets import Target, Want, epsilon_of, largest_rate, smallest_crowd, why_not
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.sampling.amplification import floor

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
    notion = wanted(want)
    if what not in TARGETS:
        raise WrongUse(f"`ask` must be one of {', '.join(TARGETS)}, not {what[:40]!r}")
    given = {"epsilon": epsilon, "delta": delta, "k": k, "rate": rate}
    for name in _NEEDS[what]:
        if given[name] is None:
            raise WrongUse(f"`ask={what}` needs `{name}`; add it")
    loss = 0 if what == "epsilon" or epsilon is None else a_loss(epsilon, "`epsilon`")
    assert delta is not None
    goal = Target.of(notion, loss, a_delta(delta, "`delta`"), a_loss(noise_below, "`noise_below`"))
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


def wanted(want: str) -> Want:
    """The notion of that name, or what somebody says who has never heard the name."""
    normalized = " ".join(want.split()).rstrip(".!").casefold()
    for each in Want:
        if normalized in (each.value, each.plainly.casefold()):
            return each
    names = ", ".join(f"{each.value} ({each.plainly!r})" for each in Want)
    raise WrongUse(f"`want` must be one of {names}, not {want[:40]!r}; choose one, by its name or in those words")
