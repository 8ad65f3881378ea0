"""The margin of an elimination rule: how wide it must be, and what it then promises (Theorem B1).

A candidate survives a round when her count is within the margin B of the best (repeated plurality, scoring), or falls
when hers is within B of the least (approximate runoff). Of two candidates whom a belief expects to be equal, the
difference Z of the others' counts must stay within B, the voter's own ballot included; of two whom it expects to be at
least alpha apart, Z must exceed B. With N = n - 1 others, points that range over R (1 when only tops count), and a
union over the pairs that matter,

    delta <= K_keep exp(-(floor B - R + 1)^2 / (2 R^2 N)) + K_drop exp(-(N alpha - B - R)^2 / (2 R^2 N))

and no lie gains more than 2 delta. The default margin B* spends half of delta = eta/2 on each part. Thesis, chapter 5,
hides these constants; pairs in place of single counts make its exponent four times larger. All numbers here are proved
by Arb balls and rounded against us.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from flint import arb

from hubbub.errors import WrongUse
from hubbub.numeric.exact import INFINITY, Loss, ball, lower, positive, rounded, upper

REPEATED_PLURALITY: Final = "repeated-plurality"
APPROXIMATE_RUNOFF: Final = "approximate-runoff"
SCORING: Final = "scoring"
KINDS: Final = (REPEATED_PLURALITY, APPROXIMATE_RUNOFF, SCORING)

Kind: TypeAlias = str
"""One of KINDS: the elimination rules that Theorem B1 covers."""


def keep_constant(kind: Kind, candidates: int) -> int:
    """K_keep: how many ordered pairs of candidates must stay within the margin of each other, at worst.

    Guarantee: for every belief, the number of pairs (x, y) that a round expects to be equal, summed over the rounds
    that the belief expects, is at most this (Theorem B1). A round of repeated plurality that keeps e candidates
    has e (e - 1) of them, and the last round keeps all it sees; runoff rounds and scoring look at disjoint sets.

    >>> [keep_constant("repeated-plurality", m) for m in range(2, 7)]
    [2, 6, 12, 24, 44]
    """
    m = _check_kind(kind, candidates)
    return _longest_path(m) if kind == REPEATED_PLURALITY else m * (m - 1)


def drop_constant(kind: Kind, candidates: int) -> int:
    """K_drop: how many pairs must end up further apart than the margin, at worst.

    Guarantee: for every belief, the number of candidates that a round expects to stand apart, summed over the rounds
    that the belief expects, is at most this (Theorem B1): one comparison for each candidate that falls (repeated
    plurality, scoring), one for each that stays (approximate runoff, which may drop one candidate a round).
    """
    m = _check_kind(kind, candidates)
    return m * (m - 1) // 2 if kind == APPROXIMATE_RUNOFF else m - 1


@lru_cache(maxsize=1024)
def _longest_path(m: int) -> int:
    """The largest sum of e (e - 1) over the rounds of repeated plurality that start with m candidates."""
    best = [0, 0]
    for size in range(2, m + 1):
        # Who keeps all of them stops; who keeps e < size goes on with e. The sum grows with e, so e = size - 1 or all.
        best.append(max(size * (size - 1), (size - 1) * (size - 2) + best[size - 1]))
    return best[m]


def default_margin(kind: Kind, voters: int, candidates: int, eta: Fraction, *, points_range: int = 1) -> int:
    """B*: the margin whose keep part is at most eta/4, so that half of the allowed delta = eta/2 is left for dropping.

    Guarantee: B* is at least R - 1 + R sqrt(2 N ln(4 K_keep/eta)), so K_keep exp(-(B* - R + 1)^2/(2 R^2 N)) <= eta/4,
    for every belief (Theorem B1); it is the least such whole number wherever the ball decides the rounding.

    >>> default_margin("repeated-plurality", 10_000, 3, Fraction(1, 10**12))
    785
    """
    spent = _budget(eta) / 2
    others = _others(voters)
    reach = _reach(others, keep_constant(kind, candidates), spent)
    scaled = upper(_range(kind, points_range) * reach)
    return points_range - 1 - (-scaled.numerator // scaled.denominator)


def alpha_min(
    kind: Kind, voters: int, candidates: int, eta: Fraction, margin: int | Fraction, *, points_range: int = 1
) -> Loss:
    """The coarseness from which no lie gains more than eta, rounded up; ``INFINITY`` where the margin is too narrow.

    Guarantee: a voter whose belief is alpha-coarse with alpha >= the answer, in an election that uses this margin and
    breaks ties at the end uniformly at random, gains at most eta by any lie, whatever her utility in [0, 1] (Theorem
    B1). An answer above 1 is met by no belief, one above 1/2 only by beliefs in a single ranking. What the keep part
    leaves of delta = eta/2, but at most one half of it, goes to the drop part, so that B* gives
    (B* + R + R sqrt(2 N ln(4 K_drop/eta)))/N.

    >>> round(float(alpha_min("repeated-plurality", 10_000, 3, Fraction(1, 10**12), 785)), 3)
    0.156
    """
    others, allowed, r = _others(voters), _budget(eta), _range(kind, points_range)
    edge = margin.numerator // margin.denominator - r + 1
    if edge <= 0:
        return INFINITY
    kept = keep_constant(kind, candidates) * (-(ball(edge) ** 2) / (2 * r * r * others)).exp()
    if edge > r * others:  # further apart than all the others together can bring them
        kept = arb(0)
    left = lower(ball(allowed) - kept)
    if left <= 0:
        return INFINITY
    reach = _reach(others, drop_constant(kind, candidates), min(left, allowed / 2))
    return rounded((ball(Fraction(margin) + r) + r * reach) / others, up=True)


def alpha_unrounded(kind: Kind, voters: int, candidates: int, eta: Fraction, *, points_range: int = 1) -> arb:
    """What `alpha_min` would be at the default margin B* if that were not rounded up to whole votes.

    Guarantee: alpha_min at B* lies between this and this plus 1/(voters - 1), but for its own rounding to 20 digits.
    It falls as the number of voters grows: it is (2 R - 1 + c sqrt(N))/N.
    """
    others, spent, r = _others(voters), _budget(eta) / 2, _range(kind, points_range)
    keep = _reach(others, keep_constant(kind, candidates), spent)
    drop = _reach(others, drop_constant(kind, candidates), spent)
    return (2 * r - 1 + r * (keep + drop)) / others


def _reach(others: int, pairs: int, allowed: Fraction) -> arb:
    """The z with pairs exp(-z^2/(2 N)) = allowed, or 0 where there is nothing to do."""
    if pairs <= allowed:
        return arb(0)
    return (2 * others * ball(Fraction(pairs) / allowed).log()).sqrt()


def _budget(eta: Fraction) -> Fraction:
    """delta, of which a gain is at most twice."""
    gain = positive(eta, "eta, the allowed gain,")
    if gain >= 1:
        raise WrongUse(f"eta, the allowed gain, must be below 1, not {gain}; utilities lie in [0, 1]")
    return gain / 2


def _others(voters: int) -> int:
    if voters < 2:
        raise WrongUse(f"an election with a guarantee needs at least 2 voters, not {voters}")
    return voters - 1


def _range(kind: Kind, points_range: int) -> int:
    if points_range < 1 or (kind != SCORING and points_range != 1):
        raise WrongUse(
            f"the range of points must be a whole number of at least 1, and 1 unless the rule is scoring; not "
            f"{points_range} for {kind}"
        )
    return points_range


def _check_kind(kind: Kind, candidates: int) -> int:
    if kind not in KINDS:
        raise WrongUse(f"a margin belongs to one of {', '.join(KINDS)}, not to {kind!r}")
    if candidates < 2:
        raise WrongUse(f"an election needs at least 2 candidates, not {candidates}")
    return candidates
