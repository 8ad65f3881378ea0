"""How many voters a promise needs: the number from which it always holds, and the least for which it holds at all.

With the default margin B*, alpha_min is (B* + R + z)/N where B* is R - 1 + y rounded up to whole votes, and y and z
grow like sqrt(N). So alpha_min lies between f = (2 R - 1 + y + z)/N and f + 1/N, both of which fall. In between it goes
up by 1/N wherever B* does, so a larger electorate may lack what a smaller one had: where the promise has once held
need not be where it holds from then on. While B* stays the same, alpha_min falls.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.numeric.bisection import first
from hubbub.numeric.exact import ball, lower, upper
from hubbub.runtime.frozen import dataclass
from hubbub.voting.rules import margins

MOST_VOTERS: Final = 10**15
_ROUNDING: Final = Fraction(1, 10**15)  # more than alpha_min is rounded up by


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
