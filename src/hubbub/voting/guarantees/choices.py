"""What to choose where a promise would be empty: a larger gain, another rule, or how many voters it takes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from hubbub.numeric.bisection import first
from hubbub.numeric.exact import to_text
from hubbub.numeric.format import listed
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately, as_given
from hubbub.voting.guarantees.voters_needed import Needed, voters_needed
from hubbub.voting.rules import margins

REAL: Final = Fraction(1, 2)
"""A promise that covers only coarser beliefs than this covers only beliefs in one single ranking."""

_PARTS: Final = (2, 3, 5)  # one over the coarsenesses for which a gain is offered
_POLL: Final = 10  # ballots of the poll for which voters are counted
LARGEST: Final = Fraction(1, 100)
"""Of the gains that are offered: utilities lie in [0, 1], and a promise of more is hardly one."""
_TINIEST: Final = 400  # powers of ten


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
                f"What can be promised to this electorate: a gain of at most {listed(offers)} (choose that eta)."
            )
        else:
            sentences.append(
                f"A weaker promise does not help: even a gain of at most {to_text(LARGEST)} cannot be promised here "
                "to a voter who is unsure how others vote."
            )
        if self.rules:
            sentences.append(f"Of the rules here {listed(list(self.rules))} would promise it as it is.")
        lines = [
            f"{needed.always:,} voters for those who go by the shares of {alpha.denominator} ballots"
            for alpha, needed in self.voters
        ]
        if lines:
            sentences.append(f"A gain of {approximately(self.eta)} takes {listed(lines)} (smaller numbers may do).")
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
