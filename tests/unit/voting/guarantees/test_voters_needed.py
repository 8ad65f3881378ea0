"""How many voters a promise needs: from where it always holds, and that smaller numbers may do."""

from __future__ import annotations

from fractions import Fraction

import pytest

from hubbub.errors import WrongUse
from hubbub.numeric.exact import lower, upper
from hubbub.voting.guarantees.choices import Needed, voters_needed
from hubbub.voting.guarantees.guarantee import observations, possible_ballots
from hubbub.voting.rules.margins import KINDS, alpha_min, alpha_unrounded, default_margin

REPEATED, TWELFTH = "repeated-plurality", Fraction(1, 10**12)


def holds(
    voters: int, alpha: Fraction, *, kind: str = REPEATED, m: int = 3, eta: Fraction = TWELFTH, r: int = 1
) -> bool:
    margin = default_margin(kind, voters, m, eta, points_range=r)
    return alpha_min(kind, voters, m, eta, margin, points_range=r) <= alpha


@pytest.mark.parametrize(
    ("m", "ballots", "voters"),
    [(3, 10, 62_031), (3, 50, 759_308), (4, 10, 284_994), (5, 10, 4_231_286), (5, 100, 12_117_529)],
)
def test_theorem_b1_voters_needed_for_a_dirichlet_belief(m: int, ballots: int, voters: int) -> None:
    alpha = Fraction(1, possible_ballots(m) + ballots)
    assert voters_needed(REPEATED, m, TWELFTH, alpha).always == voters
    for count, enough in ((voters, True), (voters - 1, False)):
        assert holds(count, alpha, m=m) is enough
    least = alpha_min(REPEATED, voters, m, TWELFTH, default_margin(REPEATED, voters, m, TWELFTH))
    assert observations(least, m) == (possible_ballots(m) + ballots, ballots)


def test_theorem_b1_a_smaller_number_may_do() -> None:
    """759,234 voters suffice by luck of a rounding, and it holds from 759,308 on: each number is looked at."""
    alpha = Fraction(1, 56)
    assert voters_needed(REPEATED, 3, TWELFTH, alpha) == Needed(least=759_234, always=759_308)
    good = [voters for voters in range(759_000, 759_700) if holds(voters, alpha)]
    assert good[0] == 759_234
    assert good[good.index(759_308) :] == list(range(759_308, 759_700))
    assert not holds(759_307, alpha)


@pytest.mark.parametrize("kind", KINDS)
def test_theorem_b1_every_number_looked_at(kind: str) -> None:
    """Against all numbers of voters up to a few thousand: the first that holds, and the last that does not."""
    for m, eta, alpha, r in ((3, Fraction(1, 1000), Fraction(1, 4), 1), (4, Fraction(1, 10), Fraction(2, 7), 2)):
        span = r if kind == "scoring" else 1
        found = voters_needed(kind, m, eta, alpha, points_range=span)
        checked = range(2, 2 * found.always)
        good = {voters for voters in checked if holds(voters, alpha, kind=kind, m=m, eta=eta, r=span)}
        assert min(good) == found.least
        assert max(set(checked) - good) == found.always - 1


def test_alpha_min_stays_near_what_it_is_before_rounding() -> None:
    for voters in range(2, 3000, 7):
        before = alpha_unrounded(REPEATED, voters, 3, TWELFTH)
        least = alpha_min(REPEATED, voters, 3, TWELFTH, default_margin(REPEATED, voters, 3, TWELFTH))
        assert isinstance(least, Fraction)
        slack = Fraction(1, 10**15)
        assert lower(before) * (1 - slack) <= least <= (upper(before) + Fraction(1, voters - 1)) * (1 + slack)
        assert alpha_unrounded(REPEATED, voters + 1, 3, TWELFTH) < before


def test_what_is_refused() -> None:
    with pytest.raises(WrongUse, match="coarseness"):
        voters_needed(REPEATED, 3, TWELFTH, Fraction(0))
    with pytest.raises(WrongUse, match="coarser"):
        voters_needed(REPEATED, 3, TWELFTH, Fraction(1, 10**9))
