"""What a lie gains, from random elections: an interval that holds with a stated confidence, and never a 0.

Each draw makes all the others' ballots once and counts them with every report, so that luck common to the truth and
a lie cancels. A difference of chances lies in [-1, 1]; from t independent ones with mean M and variance V (1/t, not
1/(t - 1)),

    |M - true mean| <= sqrt(2 V ln(3/d)/t) + 6 ln(3/d)/t      with probability at least 1 - d

(the empirical Bernstein bound of Audibert, Munos and Szepesvari, range 2). With K combinations of a lie and a utility
d is one K-th of what is allowed, so that all K intervals hold at once, and the largest gain lies between the largest
lower and the largest upper end. Useful for gains above some 1e-4; an event that no draw has met is not impossible.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from hubbub.errors import WrongUse
from hubbub.noise.binomial import binomial
from hubbub.noise.source import Source
from hubbub.numeric.exact import ball, log, rounded
from hubbub.runtime.frozen import dataclass
from hubbub.voting.manipulation.beliefs import Belief, Ranking
from hubbub.voting.manipulation.gain_winners import Contest, Integers, Tally, denominator, lotteries
from hubbub.voting.manipulation.utilities import Utility

MOST_WORK: Final = 20_000_000_000
"""Voters times draws, at most: two random bits for each."""

_BATCH: Final = 1 << 14  # elections at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """The gain of one lie for one utility: its mean over the draws, and an interval for what it is."""

    mean: Fraction
    low: Fraction
    high: Fraction


def draw_others(belief: Belief, others: int, draws: int, source: Source) -> Integers:
    """`draws` profiles of the others' ballots, one row each, in the order of the belief's rankings.

    Guarantee: if the source's words are uniform and independent, the rows are independent and exactly multinomial: a
    group of rankings is cut into two of about the same share, and the first gets a binomial part of its ballots.
    """
    table = np.zeros((draws, len(belief.shares)), dtype=np.int64)
    shares = [share for _, share in belief.shares]
    falling = sorted(range(len(shares)), key=shares.__getitem__, reverse=True)
    waiting = [(falling, np.full(draws, others, dtype=np.int64))]
    while waiting:
        group, ballots = waiting.pop()
        if len(group) == 1:
            table[:, group[0]] = ballots
            continue
        total = sum((shares[i] for i in group), Fraction(0))
        cut, part = 1, shares[group[0]]
        while cut < len(group) - 1 and 2 * part < total:
            part, cut = part + shares[group[cut]], cut + 1
        taken = binomial(ballots, part / total, source)
        waiting += [(group[:cut], taken), (group[cut:], ballots - taken)]
    return table


def sampled(
    belief: Belief,
    voters: int,
    contest: Contest,
    truth: Ranking,
    lies: Sequence[Ranking],
    worths: Sequence[Utility],
    *,
    draws: int,
    confidence: Fraction,
    source: Source,
) -> dict[tuple[Ranking, Utility], Interval]:
    """An interval for the gain of each lie under each utility.

    Guarantee: with probability at least `confidence` over the draws, all intervals hold at once (empirical Bernstein
    bound and a union). None goes beyond the range of the utility, which no gain does, and none is a single number
    unless all candidates are worth the same.
    """
    if draws < 2 or not 0 < confidence < 1:
        raise WrongUse(f"a sample needs at least 2 draws and a confidence between 0 and 1, not {draws}, {confidence}")
    if draws * voters > MOST_WORK:
        raise WrongUse(f"{draws:,} elections of {voters:,} voters are too many; at most {MOST_WORK // voters:,} here")
    support = [ranking for ranking, _ in belief.shares]
    m = len(belief.candidates)
    sums = {lie: np.zeros(m, dtype=object) for lie in lies}
    squares = {lie: np.zeros((m, m), dtype=object) for lie in lies}
    for start in range(0, draws, _BATCH):
        tally = Tally(support, m, draw_others(belief, voters - 1, min(_BATCH, draws - start), source))
        honest = lotteries(contest, tally, truth)
        for lie in lies:
            change = lotteries(contest, tally, lie) - honest
            changed = change[change.any(axis=1)].astype(object if m > 6 else np.int64)
            sums[lie] += changed.sum(axis=0).astype(object)
            squares[lie] += (changed.T @ changed).astype(object)
    denominator_all = denominator(contest, m)
    unlikely = log(Fraction(3 * len(lies) * len(worths)) / (1 - confidence))  # ln(3/d)
    found = {}
    for lie in lies:
        for worth in worths:
            mean = sum((v * int(s) for v, s in zip(worth.values, sums[lie], strict=True)), Fraction(0))
            mean /= draws * denominator_all
            square = sum(
                (
                    a * b * int(squares[lie][i, j])
                    for i, a in enumerate(worth.values)
                    for j, b in enumerate(worth.values)
                ),
                Fraction(0),
            ) / (draws * denominator_all * denominator_all)
            width = (2 * ball(square - mean * mean) * unlikely / draws).sqrt() + 6 * unlikely / draws
            reach = rounded(width, up=True)
            low, high = max(mean - reach, -worth.range), min(mean + reach, worth.range)
            found[lie, worth] = Interval(mean=mean, low=low, high=high)
    return found
