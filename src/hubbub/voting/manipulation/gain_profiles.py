"""What a lie gains, by counting profiles of the others: every one, as an exact rational, or random ones.

N ballots over s rankings make C(N + s - 1, s - 1) profiles. Each is counted once for each report, all in whole
numbers, and only those in which the report changes the chances of winning get a probability, so that two rankings
and ten thousand voters are still a matter of a second.

Where they are too many, each draw makes all the others' ballots once and counts them with every report, so that luck
common to the truth and a lie cancels. A difference of chances lies in [-1, 1]; from t independent ones with mean M and
variance V (1/t, not 1/(t - 1)),

    |M - true mean| <= sqrt(2 V ln(3/d)/t) + 6 ln(3/d)/t      with probability at least 1 - d

(the empirical Bernstein bound of Audibert, Munos and Szepesvari, range 2). With K combinations of a lie and a utility
d is one K-th of what is allowed, so that all K intervals hold at once, and the largest gain lies between the largest
lower and the largest upper end. Useful for gains above some 1e-4; an event that no draw has met is not impossible.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
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
from hubbub.voting.manipulation.question import MOST_LIES, Bounds, Gains, Question, Solver, Utility, mean_utility

MOST_COUNTED: Final = 3_000_000
"""Profiles times reports, at most."""
QUICK_COUNTS: Final = 300_000
"""The same, if nobody asked for it."""
MOST_WORK: Final = 20_000_000_000
"""Voters times draws, at most: two random bits for each."""

_BATCH: Final = 1 << 16  # profiles at once
_DRAWN_BATCH: Final = 1 << 14  # elections at once


def number_of_profiles(belief: Belief, others: int) -> int:
    """How many profiles the others may make.

    Guarantee: as many as `every_profile` gives.
    """
    return math.comb(others - 1 + len(belief.shares), len(belief.shares) - 1)


def every_profile(belief: Belief, others: int) -> Iterator[Integers]:
    """All profiles of the others, some at once: how many cast each ranking of the belief, a row each.

    Guarantee: each profile once.
    """
    everyone = compositions(others, len(belief.shares))
    for start in range(0, len(everyone), _BATCH):
        yield everyone[start : start + _BATCH]


class Weights:
    """How likely profiles are, in whole numbers: multiples of one over `total`."""

    def __init__(self, belief: Belief, others: int) -> None:
        common = math.lcm(*(share.denominator for _, share in belief.shares))
        self.total = common**others
        self._ways = [int(share * common) for _, share in belief.shares]

    def ways_to_make(self, counts: Sequence[int]) -> int:
        """The number of ways to make `counts`, each ballot of kind i in as many ways as its share says."""
        total, left = 1, sum(counts)
        for count, ways in zip(counts, self._ways, strict=True):
            total *= math.comb(left, count) * ways**count
            left -= count
        return total


def laws_of_reports(
    belief: Belief, voters: int, contest: Contest, reports: Sequence[Ranking]
) -> dict[Ranking, tuple[Fraction, ...]]:
    """For every report the chance of each candidate to win, without what all of the reports have in common.

    Guarantee: the difference of two reports is exact, the others' ballots being drawn independently from `belief` and
    ties broken as `contest` says.
    """
    found = number_of_profiles(belief, voters - 1)
    if found * len(reports) > MOST_COUNTED:
        raise WrongUse(
            f"{found:,} profiles for each of {len(reports):,} reports are too many to go through; at most "
            f"{MOST_COUNTED:,} in all are: ask for a bound, or for a sample"
        )
    m, weights = len(belief.candidates), Weights(belief, voters - 1)
    support = [ranking for ranking, _ in belief.shares]
    sums = np.zeros(len(reports) * m, dtype=object)
    for batch in every_profile(belief, voters - 1):
        tally = Tally(support, m, batch)
        chances = np.stack([lotteries(contest, tally, report) for report in reports], axis=1)
        moved = chances - chances[:, :1]
        touched = np.flatnonzero(moved.any(axis=(1, 2)))
        if touched.size:
            likely = np.array([weights.ways_to_make(row) for row in batch[touched].tolist()], dtype=object)
            sums += likely @ moved[touched].reshape(len(touched), -1).astype(object)
    scale = denominator(contest, m) * weights.total
    laws = [Fraction(int(part), scale) for part in sums]
    return {report: tuple(laws[m * at : m * at + m]) for at, report in enumerate(reports)}


def compositions(total: int, parts: int) -> Integers:
    """Every way to write `total` as an ordered sum of `parts` whole numbers of at least 0, one per row.

    Guarantee: each once.
    """
    rows = np.array([[total]], dtype=np.int64)  # the last column is what is left to share
    for _ in range(parts - 1):
        left = rows[:, -1]
        again = np.repeat(rows, left + 1, axis=0)
        ends = np.cumsum(left + 1)
        taken = np.arange(ends[-1]) - np.repeat(ends - left - 1, left + 1)
        rows = np.column_stack([again[:, :-1], taken, again[:, -1] - taken])
    return rows


def _gains(question: Question, truths: Sequence[Ranking]) -> Gains:
    reports = dict.fromkeys(truths)
    for truth in truths:
        reports |= dict.fromkeys(question.of_truth(truth).reports)
    laws = laws_of_reports(question.counted_belief, question.voters, question.contest, list(reports))

    def gains(truth: Ranking, lie: Ranking, worth: Utility) -> Bounds:
        gained = mean_utility(worth, laws[lie]) - mean_utility(worth, laws[truth])
        return gained, gained

    return gains


def _is_quick(question: Question) -> bool:
    counted = number_of_profiles(question.counted_belief, question.voters - 1) * (1 + question.number_of_lies)
    return counted <= QUICK_COUNTS and question.number_of_lies <= MOST_LIES


EVERY_PROFILE: Final = Solver(
    name="enumerate",
    way="counting every profile",
    limits="all questions",
    fits=lambda question: True,
    is_quick=_is_quick,
    gains=_gains,
)


# --- random profiles ----------------------------------------------------------------------------------------------


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


def sample_gains(
    question: Question, truths: Sequence[Ranking], *, draws: int, confidence: Fraction, source: Source
) -> dict[Ranking, dict[tuple[Ranking, Utility], Interval]]:
    """An interval for the gain of each lie under each utility, for several truths.

    Guarantee: for each truth, with probability at least `confidence` over the draws, all intervals hold at once
    (empirical Bernstein bound and a union). None goes beyond the range of the utility, which no gain does, and none is
    a single number unless all candidates are worth the same.
    """
    voters, contest, belief = question.voters, question.contest, question.counted_belief
    if draws < 2 or not 0 < confidence < 1:
        raise WrongUse(f"a sample needs at least 2 draws and a confidence between 0 and 1, not {draws}, {confidence}")
    if draws * voters > MOST_WORK:
        raise WrongUse(f"{draws:,} elections of {voters:,} voters are too many; at most {MOST_WORK // voters:,} here")
    m, support = len(belief.candidates), [ranking for ranking, _ in belief.shares]
    questions = {truth: question.of_truth(truth) for truth in truths}
    told_by: dict[Ranking, list[Ranking]] = {}  # lie -> by whom
    for truth in truths:
        for lie in questions[truth].reports:
            told_by.setdefault(lie, []).append(truth)
    sums = {(truth, lie): np.zeros(m, dtype=object) for lie, liars in told_by.items() for truth in liars}
    squares = {pair: np.zeros((m, m), dtype=object) for pair in sums}
    for start in range(0, draws, _DRAWN_BATCH):
        tally = Tally(support, m, draw_others(belief, voters - 1, min(_DRAWN_BATCH, draws - start), source))
        honest = {truth: lotteries(contest, tally, truth) for truth in truths}
        for lie, liars in told_by.items():
            chances = lotteries(contest, tally, lie)
            for truth in liars:
                change = chances - honest[truth]
                changed = change[change.any(axis=1)].astype(object if m > 6 else np.int64)
                sums[truth, lie] += changed.sum(axis=0).astype(object)
                squares[truth, lie] += (changed.T @ changed).astype(object)
    scale = denominator(contest, m)
    found: dict[Ranking, dict[tuple[Ranking, Utility], Interval]] = {truth: {} for truth in truths}
    for truth, asked in questions.items():
        unlikely = log(Fraction(3 * len(asked.reports) * len(asked.worths)) / (1 - confidence))  # ln(3/d)
        for lie in asked.reports:
            for worth in asked.worths:
                mean = mean_utility(worth, [Fraction(int(s)) for s in sums[truth, lie]]) / (draws * scale)
                rows = [mean_utility(worth, [Fraction(int(s)) for s in row]) for row in squares[truth, lie]]
                square = mean_utility(worth, rows) / (draws * scale * scale)
                width = (2 * ball(square - mean * mean) * unlikely / draws).sqrt() + 6 * unlikely / draws
                reach = rounded(width, up=True)
                low, high = max(mean - reach, -worth.range), min(mean + reach, worth.range)
                found[truth][lie, worth] = Interval(mean=mean, low=low, high=high)
    return found
