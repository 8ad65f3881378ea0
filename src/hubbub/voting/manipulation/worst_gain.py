"""The largest gain of a lie over all beliefs of a coarseness, for three candidates: a finite program, not a union bound.

A belief is alpha-coarse when its probabilities are multiples of some beta of at least alpha. They add up to 1, so beta
is 1/k for a whole number k of at most 1/alpha, and the beliefs are finitely many: all ways to give k parts to the six
rankings. Rules treat candidates alike where ties are drawn, so of beliefs that differ in names alone one is counted.
Each is gone through as :mod:`hubbub.voting.manipulation.gain_three` does, for every true ranking and every lie.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import permutations
from math import comb
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.numeric.exact import to_float, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately, float_up
from hubbub.voting.guarantees.guarantee import gain_bound
from hubbub.voting.manipulation.beliefs import Belief, Ranking, ranking_text
from hubbub.voting.manipulation.gain import BOUND, SAMPLE, Gain, Question, gains_of_truths, method_for
from hubbub.voting.manipulation.gain_profiles import compositions
from hubbub.voting.manipulation.gain_winners import Contest

NAMES: Final = ("a", "b", "c")
ORDERS: Final = tuple(permutations(range(3)))
MOST_BELIEFS: Final = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstGain:
    """No lie gains more than `most.high` under any belief of the coarseness, and `most.lie` gains at least `most.low`.

    `beliefs` were looked at, names aside; `bound` is what the union over pairs proves (Theorem B1), where it is about
    the rule.
    """

    contest: Contest
    voters: int
    coarseness: Fraction
    beliefs: int
    most: Gain
    bound: Fraction | None

    def as_json(self) -> dict[str, Any]:
        question = self.most.question
        return {
            "rule": self.contest.kind,
            "margin": self.contest.margin,
            "voters": self.voters,
            "coarseness": to_text(self.coarseness),
            "beliefs": self.beliefs,
            "gain_low": to_float(self.most.low, round_up=False),
            "gain_high": float_up(self.most.high),
            "gain_high_text": approximately(self.most.high),
            "belief": question.belief.text(),
            "truth": ranking_text(question.truth, NAMES),
            "lie": None if self.most.lie is None else ranking_text(self.most.lie, NAMES),
            "bound": None if self.bound is None else float_up(self.bound),
            "words": self.sentences(),
        }

    def sentences(self) -> list[str]:
        alpha = to_text(self.coarseness)
        found = [
            f"No lie gains more than {approximately(self.most.high)} under any of the {self.beliefs:,} beliefs, names "
            f"aside, that are at least {alpha}-coarse."
        ]
        if self.most.lie is not None:
            truth, lie = (ranking_text(each, NAMES) for each in (self.most.question.truth, self.most.lie))
            found.append(
                f"The worst found is {self.most.question.belief.text()}: a voter who ranks {truth} gains at least "
                f"{approximately(self.most.low, up=False)} by reporting {lie}."
            )
        if self.bound is not None:
            found.append(f"The bound by a union over pairs says {approximately(self.bound)} (Theorem B1).")
        return found


def coarse_beliefs(coarseness: Fraction) -> Iterator[Belief]:
    """Every belief about three candidates that is at least so coarse, one of those that differ in names alone.

    Guarantee: each alpha-coarse belief, its candidates renamed, is among them.
    """
    if not 0 < coarseness <= 1:
        raise WrongUse(f"`coarseness` lies above 0 and at most at 1, not at {to_text(coarseness)[:40]}")
    most = int(1 / coarseness)
    if comb(most + 6, 6) > MOST_BELIEFS * 6:
        raise WrongUse(f"beliefs as fine as {to_text(coarseness)} are too many to go through; ask for 1/14 or coarser")
    seen: set[tuple[Fraction, ...]] = set()
    for parts in range(1, most + 1):
        for counts in compositions(parts, len(ORDERS)).tolist():
            shares = tuple(Fraction(count, parts) for count in counts)
            first = min(_rename_shares(shares, names) for names in ORDERS)
            if first not in seen:
                seen.add(first)
                kept = tuple((r, share) for r, share in zip(ORDERS, first, strict=True) if share)
                yield Belief(candidates=NAMES, shares=kept)


def _rename_shares(shares: Sequence[Fraction], names: Ranking) -> tuple[Fraction, ...]:
    """The shares when candidate c is called names[c]."""
    found = dict(zip(ORDERS, shares, strict=True))
    back = [names.index(c) for c in range(3)]
    return tuple(found[tuple(back[c] for c in ranking)] for ranking in ORDERS)


def worst_gain(
    contest: Contest,
    voters: int,
    coarseness: Fraction,
    *,
    watch: Callable[[Sequence[Belief]], Iterable[Belief]] = iter,
) -> WorstGain:
    """The largest gain of a lie over all beliefs of a coarseness, complete ballots of three candidates.

    Guarantee: no alpha-coarse belief, truth, lie and utility in [0, 1] gives more than `most.high`; those of `most` give
    at least `most.low`. Every gain is certified, as its method says, and none is sampled.
    """
    if contest.order is not None:
        raise WrongUse("beliefs are looked at up to the names of candidates, so ties must be drawn; leave out `ties`")
    found = list(coarse_beliefs(coarseness))
    questions = (Question(belief=belief, truth=ORDERS[0], voters=voters, contest=contest) for belief in found)
    if any(method_for(question) in (BOUND, SAMPLE) for question in questions):
        raise WrongUse(
            f"{contest.kind} with {voters:,} voters has too many states to go through for each belief; ask for fewer"
        )
    most: Gain | None = None
    for belief in watch(found):
        for gain in gains_of_truths(belief, voters, contest, ORDERS).values():
            if most is None or (gain.high, gain.low) > (most.high, most.low):
                most = gain
    if most is None:
        raise WrongUse("there is no belief of this coarseness")
    bound = None
    if contest.eliminates:
        bound = gain_bound(contest.kind, voters, 3, contest.elimination_margin, coarseness)
    return WorstGain(contest=contest, voters=voters, coarseness=coarseness, beliefs=len(found), most=most, bound=bound)
