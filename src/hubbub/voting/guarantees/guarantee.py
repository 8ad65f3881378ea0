"""What an election with a margin promises every voter with a coarse belief, with explicit constants (Theorem B1).

For margin B, N others and a belief of coarseness alpha, no lie gains more than 2 delta in expected utility, where

    delta <= K_keep exp(-N KL(1/2 + floor(B)/(2N) || 1/2)) + K_drop exp(-N KL(1/2 + (floor(B)+1)/(2N) || (1+alpha)/2))

This is sharper than the squares in :mod:`hubbub.voting.rules.margins`, from which B* and its alpha_min come. Mixed with
the punishing rule (:mod:`hubbub.voting.rules.punishing`), the small gain becomes a loss. All numbers are proved by
balls and rounded against us: margins and gains up, coarseness up, observations down.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, perm
from typing import Final

from flint import arb

from hubbub.numeric.bisection import first
from hubbub.numeric.exact import INFINITY, Infinite, Loss, ball, rounded, upper
from hubbub.runtime.frozen import dataclass
from hubbub.voting.guarantees import tails
from hubbub.voting.rules import margins
from hubbub.voting.rules.threshold import Power, threshold

SMALL_ELECTION: Final = 1000
SMALL_GAIN: Final = Fraction(1, 10**12)
"""Up to this many voters no margin covers a belief finer than 1/2 with so small a gain."""

_STEPS: Final = 60  # of a bisection of (0, 1]


def off_path(kind: str, voters: int, candidates: int, margin: int, alpha: Fraction, *, points_range: int = 1) -> arb:
    """A ball whose upper end bounds delta, for every alpha-coarse belief.

    Guarantee: with probability at least 1 - delta over the others' ballots the rule keeps the candidates that the
    belief expects it to keep, for every report of the voter at once (Theorem B1, Kullback-Leibler form; for scoring
    rules with points in a range R, and steps scaled by R).
    """
    n, r = voters - 1, points_range
    kept = margins.keep_constant(kind, candidates) * tails.stays(n, margin - r + 1, r)
    dropped = margins.drop_constant(kind, candidates) * tails.parts(n, margin + r, alpha, r)
    return kept + dropped


def gain_bound(
    kind: str, voters: int, candidates: int, margin: int, alpha: Fraction, *, points_range: int = 1
) -> Fraction:
    """No lie of a voter with an alpha-coarse belief gains more than this, rounded up; 1 where nothing is promised.

    Guarantee: 2 delta with delta from `off_path`, for utilities in [0, 1] and ties broken uniformly at random at the
    end (Theorems 77 and B1).
    """
    delta = off_path(kind, voters, candidates, margin, alpha, points_range=points_range)
    return min(rounded(2 * delta, up=True), Fraction(1))


def alpha_needed(kind: str, voters: int, candidates: int, eta: Fraction, margin: int, *, points_range: int = 1) -> Loss:
    """The coarseness from which `gain_bound` is at most eta, within 2^-60 and rounded up; INFINITY where none is.

    Guarantee: at this alpha and above, no lie gains more than eta. It is sharper than `margins.alpha_min`.
    """
    if gain_bound(kind, voters, candidates, margin, Fraction(1), points_range=points_range) > eta:
        return INFINITY

    def enough(parts: int) -> bool:
        alpha = Fraction(parts, 1 << _STEPS)
        return gain_bound(kind, voters, candidates, margin, alpha, points_range=points_range) <= eta

    return rounded(Fraction(first(enough, 1, 1 << _STEPS), 1 << _STEPS), up=True)


def best_margin(kind: str, voters: int, candidates: int, alpha: Fraction, *, points_range: int = 1) -> int:
    """The margin with the smallest gain bound for beliefs of coarseness alpha, about half of N alpha.

    Guarantee: a margin whose bound `gain_bound` states; the smallest bound, since the keep part falls and the drop
    part grows with the margin, up to one vote where a ball cannot tell two neighbours apart.
    """
    n, r = voters - 1, points_range

    def keeps_more(margin: int) -> bool:
        kept = margins.keep_constant(kind, candidates) * tails.stays(n, margin - r + 1, r)
        dropped = margins.drop_constant(kind, candidates) * tails.parts(n, margin + r, alpha, r)
        return bool(kept > dropped)

    def gain_at(margin: int) -> Fraction:
        return upper(off_path(kind, voters, candidates, margin, alpha, points_range=points_range))

    turn = first(lambda margin: not keeps_more(margin), 1, max(1, int(n * alpha)))
    near = range(max(0, turn - 9), turn + 9)
    return min(near, key=gain_at)


def possible_ballots(candidates: int, *, truncated: bool = False) -> int:
    """How many different ballots there are: m! rankings, or all that rank some of the candidates, or nobody.

    Guarantee: a Dirichlet belief from l ballots is 1/(this + l)-coarse (thesis, appendix B.2, over this set).
    """
    return sum(perm(candidates, ranked) for ranked in (range(candidates + 1) if truncated else (candidates,)))


def observations(alpha: Loss, candidates: int, *, truncated: bool = False) -> tuple[int, int | None]:
    """How many ballots a belief may rest on and still be alpha-coarse: (empirical, Dirichlet or None).

    Guarantee: relative frequencies of at most the first number of ballots are alpha-coarse, and so is a Dirichlet
    belief from at most the second (thesis, appendix B.2); None where even the uniform belief is too fine.
    """
    if isinstance(alpha, Infinite) or alpha > 1:
        return 0, None
    most = alpha.denominator // alpha.numerator
    left = most - possible_ballots(candidates, truncated=truncated)
    return most, left if left >= 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ThesisRate:
    """What the thesis's own margin n^(1/2 + d) gives, its hidden constants filled in, and Theorem B1 beside it.

    `delta` is 2 m^2 exp(-B^2/(8 (n - 1))), `alpha` the coarseness that its rate (3/alpha + 1)^ceil(1/(1/2 - d)) allows
    for n voters, `keep_part` the keep part of Theorem B1 at the same margin. Above 1 each of them says nothing.
    """

    d: Fraction
    margin: int
    delta: arb
    keep_part: arb
    alpha: Fraction


def thesis_voters(alpha: Fraction, d: Fraction) -> int:
    """(3/alpha + 1)^ceil(1/(1/2 - d)): how many voters the rate of the thesis asks for, whatever gain is allowed.

    Guarantee: from here on (n - 1) alpha >= 3 n^(1/2 + d), as the proofs of Theorems 78 and 79 need.
    """
    half = Fraction(1, 2) - d
    return ceil((3 / alpha + 1) ** ceil(1 / half))


def thesis_rate(kind: str, voters: int, candidates: int, d: Fraction) -> ThesisRate:
    """The thesis's numbers for n voters and margin n^(1/2 + d).

    Guarantee: upper bounds, with B = n^(1/2 + d) itself in `delta` (its proof lets each count move by B/4) and the
    largest whole number below it in the rule (Theorems 78 and 79, constants filled in).
    """
    margin = threshold(Power(d), kind, voters, candidates)
    exponent = ball(voters) ** ball(2 * d + 1) / (8 * (voters - 1))
    root = ball(voters).root(ceil(1 / (Fraction(1, 2) - d)))
    return ThesisRate(
        d=d,
        margin=margin,
        delta=2 * candidates**2 * (-exponent).exp(),
        keep_part=margins.keep_constant(kind, candidates) * tails.stays(voters - 1, margin),
        alpha=rounded(3 / (root - 1), up=True),
    )
