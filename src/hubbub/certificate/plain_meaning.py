"""What a promise means to somebody who never heard of epsilon: how often a guess about them is right."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Final

from hubbub.guarantees.aggregates import BernoulliSample
from hubbub.guarantees.definitions import CrowdBlending, DifferentialPrivacy, Neighbours, ZeroKnowledge
from hubbub.guarantees.indistinguishability import cap_probability, odds_below
from hubbub.guarantees.people import Whose
from hubbub.numeric.exact import Infinite, Loss, ball, precision, to_text
from hubbub.numeric.format import chance, short

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation

OTHERS: Final = (
    "Other releases about the same people add to this: the publisher sees all of them together with hubbub ledger show "
    "{dataset}"
)
_WIDEST: Final = 99  # times in 100 that a guess may be right, for it to say something
_GUESS: Final = "and knows everything about everybody else, is right at most {times} times in 100"
_TOSS: Final = "where the toss of a coin is right 50 times"
_REPLACED: Final = f"Whoever guesses from this release alone which of two things your data says, {_GUESS}, {_TOSS}"
_PRESENT: Final = f"Whoever guesses from this release alone whether you are in the table, {_GUESS}, {_TOSS}"
_ROW: Final = f"Whoever guesses from this release alone whether your row is in the table, {_GUESS}, {_TOSS}"
_BLENDS: Final = "You blend with a crowd of at least {k} people, or it is as if you were left out"
_OR_ANOTHER: Final = "whether your data was in the table, or that of another in your crowd"
_CROWD: Final = f"{_BLENDS}. Whoever guesses from this release alone {_OR_ANOTHER}, {_GUESS}, {_TOSS}"
_EXACT_CROWD: Final = f"{_BLENDS}: nothing here tells {_OR_ANOTHER}"
_SAMPLE: Final = (
    "What this teaches about you could also be learnt without your data, from people picked at random, each with a chance of {share}: "
    "nothing becomes more than {factor} times likelier or less likely{rarely}"
)
_RARELY: Final = ", but for a chance of {chance}"
_SPELT_OUT: Final = 10  # the largest epsilon whose factor is written


def guess(step: Derivation, translate: Callable[..., str] = str.format) -> str:
    """What the promise means for a guess about one person; empty where that says nothing. `translate` may translate it.

    Guarantee: of an (epsilon, delta)-differentially private release, whoever had even odds before and sees it is right
    with a chance of at most (e^epsilon + delta)/(1 + e^epsilon), which is rounded up. The same holds of two tables that
    crowd-blending privacy compares: somebody replaced by another of the crowd or, where there is none, left out.
    """
    promise, people = step.conclusion, step.people
    if people is None or people.whose is not Whose.TABLE:
        return ""
    if isinstance(promise, DifferentialPrivacy) and promise.group == 1:
        times = right_at_most(promise.epsilon, promise.delta)
        if times <= _WIDEST:
            if promise.neighbours is Neighbours.REPLACE:
                return translate(_REPLACED, times=times)
            return translate(_PRESENT if people.person is not None else _ROW, times=times)
    if isinstance(promise, CrowdBlending) and promise.k > 1:
        times = right_at_most(promise.epsilon, promise.delta)
        if promise.epsilon == 0 and not promise.delta:
            return translate(_EXACT_CROWD, k=f"{promise.k:,}")
        if times <= _WIDEST:
            return translate(_CROWD, k=f"{promise.k:,}", times=times)
    if (
        isinstance(promise, ZeroKnowledge)
        and promise.group == 1
        and isinstance(promise.aggregate, BernoulliSample)
        and not isinstance(promise.epsilon, Infinite)
        and promise.epsilon <= _SPELT_OUT
    ):
        rarely = translate(_RARELY, chance=chance(promise.delta)) if promise.delta else ""
        share = f"{short(100 * promise.aggregate.p, 3)} %"
        return translate(_SAMPLE, share=share, factor=to_text(odds_below(promise.epsilon, 4)), rarely=rarely)
    return ""


def right_at_most(epsilon: Loss, delta: Fraction) -> int:
    """How often in 100 times a guess between two equally likely tables is right, at most.

    >>> right_at_most(Fraction(0), Fraction(0)), right_at_most(Fraction(1), Fraction(0))
    (50, 74)
    """
    if isinstance(epsilon, Infinite):
        return 100
    with precision():
        odds = ball(epsilon).exp()
        return ceil(100 * cap_probability((odds + ball(delta)) / (1 + odds)))
