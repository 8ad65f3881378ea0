"""What a table of paths says about the official round totals, as bounds.

Official first choices are known, and a ballot stays with its first choice while that one is in. So of the total of
a candidate in a round only the ballots that came over are in question. Let M of the G ballots whose first choice is
out sit with the candidate, and let the table show z sampled ballots there and z' elsewhere. Hidden paths only make z
smaller than what was sampled of M, which is Binomial(M, p); so M is at least the least number that makes z or
more no rarer than beta, and G - M is at least the same for z'. Nothing need be known about what is hidden.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from hubbub.kinds.ballots.tally_paths import Path, pile
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import ball, rounded
from hubbub.runtime.frozen import dataclass
from hubbub.voting.count.official import Official


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundTotal:
    """A candidate (None: exhausted ballots) in a round: the official total, what the shown paths come to, the bounds.

    `shown` is scaled up from the sample, and may well exceed the official total.
    """

    round: int
    candidate: str | None
    official: int | None
    published: int
    low: int
    high: int


def round_totals(
    visible: Mapping[Path, int], official: Official, *, sample: Fraction | None, coverage: Fraction
) -> tuple[RoundTotal, ...]:
    """Every total of every round.

    Guarantee: with probability at least `coverage` over the secret sample (always, without one) every true total lies
    within its bounds, all of them together. Each end fails with probability at most (1 - coverage)/(2 T) by
    Hoeffding's inequality, T being the number of totals.
    """
    last, first = official.last_round(), official.first_choices
    blank = official.rounds[0].exhausted
    totals = sum(len(each.totals) + 1 for each in official.rounds)
    doubt = _log_above((1 - coverage) / (2 * totals)) if sample is not None else Fraction(0)
    rate = Fraction(1) if sample is None else sample
    found = []
    for number, each in enumerate(official.rounds, 1):
        at: dict[str | None, int] = dict.fromkeys([*(name for name, _ in each.totals), None], 0)  # all that is shown
        came = dict(at)  # from a first choice who is out
        for path, ballots in visible.items():
            where = pile(path, number, last)
            at[where] += ballots
            if path and where != path[0]:
                came[where] += ballots
        loose = sum(first[name] for name in first if last[name] < number)
        moved = sum(came.values())
        for name in at:
            fixed = (blank or 0) if name is None else first[name]
            low = fixed + fewest(came[name], rate, doubt)
            high = fixed + loose - fewest(moved - came[name], rate, doubt)
            count = each.exhausted if name is None else dict(each.totals)[name]
            if name is not None or blank is not None:
                scaled = round(at[name] / rate)
                found.append(
                    RoundTotal(
                        round=number, candidate=name, official=count, published=scaled, low=low, high=max(low, high)
                    )
                )
    return tuple(found)


@lru_cache(maxsize=65536)
def fewest(seen: int, rate: Fraction, doubt: Fraction) -> int:
    """The least M for which `seen` or more of Binomial(M, rate) is not surely rarer than exp(-doubt).

    Guarantee: if Z is at most a Binomial(M, rate) variable, fewest(Z) > M with probability at most exp(-doubt): then M
    ballots would have Z - rate M >= s with 2 s^2 >= doubt M, which is that rare (Hoeffding).
    """
    if rate == 1:
        return seen
    last = -(-seen * rate.denominator // rate.numerator)
    return first(lambda m: 2 * (seen - rate * m) ** 2 < doubt * m, seen, last)


def _log_above(chance: Fraction) -> Fraction:
    """ln(1/chance), rounded up."""
    return rounded(-ball(chance).log(), up=True, digits=12)
