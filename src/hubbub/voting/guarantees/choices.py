"""What to choose where a promise would be empty: a larger gain, another rule, or how many voters it takes.

How many voters a promise needs is the number from which it always holds, and the least for which it holds at all.

With the default margin B*, alpha_min is (B* + R + z)/N where B* is R - 1 + y rounded up to whole votes, and y and z
grow like sqrt(N). So alpha_min lies between f = (2 R - 1 + y + z)/N and f + 1/N, both of which fall. In between it goes
up by 1/N wherever B* does, so a larger electorate may lack what a smaller one had: where the promise has once held
need not be where it holds from then on. While B* stays the same, alpha_min falls.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import ball, lower, to_text, upper
from hubbub.numeric.format import join_words
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately, as_given
from hubbub.voting.rules import margins

MOST_VOTERS: Final = 10**15
_ROUNDING: Final = Fraction(1, 10**15)  # more than alpha_min is rounded up by

REAL: Final = Fraction(1, 2)
"""A promise that covers only coarser beliefs than this covers only beliefs in one single ranking."""

_PARTS: Final = (2, 3, 5)  # one over the coarsenesses for which a gain is offered
_POLL: Final = 10  # ballots of the poll for which voters are counted
LARGEST: Final = Fraction(1, 100)
"""Of the gains that are offered: utilities lie in [0, 1], and a promise of more is hardly one."""
_TINIEST: Final = 400  # powers of ten


@dataclass(frozen=True, slots=True, kw_only=True)
class Needed:
    """From `always` voters on the promise holds; below `least` it never does; in between it depends on rounding."""

    least: int
    always: int


def voters_needed(kind: str, candidates: int, eta: Fraction, alpha: Fraction, *, points_range: int = 1) -> Needed:
    """How many voters bring alpha_min, at the default margin B*, down to alpha.

    Guarantee: with `always` or more voters and margin B*, no lie of a voter with an alpha-coarse belief gains more than
    eta (Theorem B1); with always - 1 voters that is not proved, and with fewer than `least` for no number of them.
    """
    if not 0 < alpha <= 1:
        raise WrongUse(f"the coarseness of a belief lies above 0 and at most at 1, not at {alpha}")

    def margin(voters: int) -> int:
        return margins.default_margin(kind, voters, candidates, eta, points_range=points_range)

    def enough(voters: int) -> bool:
        least = margins.alpha_min(kind, voters, candidates, eta, margin(voters), points_range=points_range)
        return least <= alpha

    def falling(voters: int) -> arb:
        return margins.alpha_unrounded(kind, voters, candidates, eta, points_range=points_range)

    surely = _first(lambda n: upper(falling(n) + 1 / ball(n - 1)) <= alpha * (1 - _ROUNDING), 2)
    hardly = _first(lambda n: lower(falling(n)) <= alpha * (1 + _ROUNDING), 2)
    always = surely
    while always > hardly:
        start = _first(partial(_reaches, margin, margin(always - 1)), hardly, always - 1)
        if not enough(start):
            always = _first(enough, start, always)
            break
        always = start
    least = hardly
    while least < always and not enough(least):
        end = min(_first(partial(_reaches, margin, margin(least) + 1), least) - 1, always)
        least = _first(enough, least, end) if enough(end) else end + 1
    return Needed(least=min(least, always), always=always)


def _reaches(margin: Callable[[int], int], wide: int, voters: int) -> bool:
    return margin(voters) >= wide


def _first(holds: Callable[[int], bool], low: int, high: int | None = None) -> int:
    """The least number from `low` on for which a claim holds that stays true; `high` is one for which it does."""
    if holds(low):
        return low
    if high is None:
        high = 2 * low
        while not holds(high):
            high *= 2
            if high > MOST_VOTERS:
                raise WrongUse(f"no number of voters up to {MOST_VOTERS:,} suffices; ask for coarser beliefs")
    return first(holds, low + 1, high)


@dataclass(frozen=True, slots=True)
class Offer:
    """With this eta the margin covers beliefs of this coarseness here; no smaller one of two digits does."""

    coarseness: Fraction
    eta: Fraction
    margin: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """`gains` are what can be promised to this electorate, `rules` those that promise `eta` to it as it is.

    `voters` says for each coarseness how many it takes to promise `eta`.
    """

    eta: Fraction
    gains: tuple[Offer, ...]
    rules: tuple[str, ...]
    voters: tuple[tuple[Fraction, Needed], ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "eta": [
                {
                    "coarseness": to_text(offer.coarseness),
                    "eta": as_given(offer.eta),
                    "eta_text": to_text(offer.eta),
                    "margin": offer.margin,
                }
                for offer in self.gains
            ],
            "rules": list(self.rules),
            "voters": [
                {"coarseness": to_text(alpha), "always": needed.always, "least": needed.least}
                for alpha, needed in self.voters
            ],
        }

    def sentences(self) -> list[str]:
        sentences = []
        offers = [
            f"{approximately(offer.eta)} to voters who go by the shares of {offer.coarseness.denominator} ballots"
            for offer in self.gains
        ]
        if offers:
            sentences.append(
                f"What can be promised to this electorate: a gain of at most {join_words(offers)} (choose that eta)."
            )
        else:
            sentences.append(
                f"A weaker promise does not help: even a gain of at most {to_text(LARGEST)} cannot be promised here "
                "to a voter who is unsure how others vote."
            )
        if self.rules:
            sentences.append(f"Of the rules here {join_words(list(self.rules))} would promise it as it is.")
        lines = [
            f"{needed.always:,} voters for those who go by the shares of {alpha.denominator} ballots"
            for alpha, needed in self.voters
        ]
        if lines:
            sentences.append(f"A gain of {approximately(self.eta)} takes {join_words(lines)} (smaller numbers may do).")
        return sentences


def choices(
    kind: str, voters: int, candidates: int, eta: Fraction, rules: tuple[str, ...] = (), *, points_range: int = 1
) -> Choices:
    """What there is to choose, for a rule with a margin and an electorate.

    Guarantee: every offer is a promise of Theorem B1: with that eta and its default margin, alpha_min is at most the
    coarseness that it is offered for; and so are the numbers of voters, from `always` on.
    """
    gains = []
    for parts in _PARTS:
        alpha = Fraction(1, parts)
        found = least_gain(kind, voters, candidates, alpha, points_range=points_range)
        if found is not None and found <= LARGEST:
            margin = margins.default_margin(kind, voters, candidates, found, points_range=points_range)
            gains.append(Offer(alpha, found, margin))
    needed = tuple(
        (alpha, voters_needed(kind, candidates, eta, alpha, points_range=points_range))
        for alpha in (REAL, Fraction(1, _POLL))
    )
    return Choices(eta=eta, gains=tuple(gains), rules=rules, voters=needed)


def least_gain(kind: str, voters: int, candidates: int, alpha: Fraction, *, points_range: int = 1) -> Fraction | None:
    """The least eta of two digits whose default margin covers alpha-coarse beliefs here; None where none below 1 does.

    Guarantee: alpha_min at that eta and its B* is at most alpha, and at the next smaller eta of two digits it is not
    (alpha_min falls as eta grows: both B* and what the drop part needs do).
    """
    if voters < 2:
        return None

    def enough(eta: Fraction) -> bool:
        margin = margins.default_margin(kind, voters, candidates, eta, points_range=points_range)
        return margins.alpha_min(kind, voters, candidates, eta, margin, points_range=points_range) <= alpha

    if enough(Fraction(1, 10**_TINIEST)):
        return Fraction(1, 10**_TINIEST)
    zeros = first(lambda n: not enough(Fraction(1, 10**n)), 1, _TINIEST) + 1
    found = Fraction(first(lambda n: enough(Fraction(n, 10**zeros)), 11, 100), 10**zeros)  # 10 fails
    return found if found < 1 else None


# --- what a coarse belief is, in words ----------------------------------------------------------------------------


def coarse_sentence(alpha: Fraction) -> str:
    """What a coarse belief is, with the poll that a voter must have seen to believe finer; for a coarseness from 0 to 1.

    Guarantee: shares of as many ballots as it says are alpha-coarse (thesis, appendix B.2).

    >>> print(coarse_sentence(Fraction(156, 1000))[:99])
    A belief is 0.156-coarse when its probabilities are whole multiples of one number of at least 0.156
    """
    alpha_text, most = approximately(alpha, digits=3), alpha.denominator // alpha.numerator
    ballots = "one ballot" if most == 1 else f"{most:,} ballots"
    return (
        f"A belief is {alpha_text}-coarse when its probabilities are whole multiples of one number of at least {alpha_text}, as "
        f"the shares of {ballots} are; a voter who goes by the shares of a poll of {most + 1:,} ballots or more may "
        "believe finer, and nothing is promised to her."
    )


def covers(alpha: Fraction) -> str:
    """Whom a promise for alpha-coarse beliefs is for, in words.

    Guarantee: shares of as many ballots as it says are alpha-coarse (thesis, appendix B.2).
    """
    if alpha <= 0:
        return "it covers every belief"
    most = alpha.denominator // alpha.numerator
    alpha_text = approximately(alpha, digits=3)
    return f"it covers every belief that is at least {alpha_text}-coarse, like the shares of a poll of {most:,} ballots"
