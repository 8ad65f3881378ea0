"""A question about a voter's gain, the answer, and what every way to find it out has in common.

A :class:`Solver` says which questions it is for, which of them it answers in a few seconds, and between which two
numbers the gain of a lie lies; :func:`best_gain` finds the best of all lies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import perm
from typing import Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.numeric.exact import rational, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.manipulation.beliefs import Belief, Ranking, Scores, check_ranking, ranking_text, scores_of
from hubbub.voting.manipulation.gain_winners import APPROVAL, PLURALITY, Contest


@dataclass(frozen=True, slots=True, kw_only=True)
class Utility:
    """`values` says what the victory of each of `candidates` is worth to the voter: a rational in [0, 1]."""

    candidates: tuple[str, ...]
    values: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if len(self.values) != len(self.candidates):
            raise WrongUse(f"a utility needs one value for each of {', '.join(self.candidates)}")
        for name, value in zip(self.candidates, self.values, strict=True):
            if not 0 <= value <= 1:
                raise WrongUse(f"a utility lies between 0 and 1, and that of {name!r} is {to_text(value)}")

    @property
    def coarseness(self) -> Fraction:
        """The largest alpha for which the utility is alpha-coarse: the least difference between unequal values.

        1 where all are equal, since then every alpha fits.
        """
        rising = sorted(set(self.values))
        return min((b - a for a, b in pairwise(rising)), default=Fraction(1))

    @property
    def range(self) -> Fraction:
        """What the best victory is worth more than the worst: no lie gains more, and none loses more."""
        return max(self.values) - min(self.values)

    def consistent_with(self, ranking: Ranking) -> bool:
        """Whether the utility falls strictly along `ranking`; those that a truncated one leaves out are tied below. By scores
        it falls as they do, and equal scores are worth the same."""
        if isinstance(ranking, Scores):
            pairs = combinations(zip(self.values, ranking, strict=True), 2)
            return all((a > b) == (s > t) and (a < b) == (s < t) for (a, s), (b, t) in pairs)
        ranked = [self.values[c] for c in ranking]
        rest = {self.values[c] for c in range(len(self.values)) if c not in ranking}
        falling = all(a > b for a, b in pairwise(ranked))
        return falling and len(rest) <= 1 and all(ranked[-1] > value for value in rest)

    def text(self) -> str:
        """What `utility` reads back."""
        return ",".join(f"{n}={to_text(v)}" for n, v in zip(self.candidates, self.values, strict=True))


def utility(text: str, candidates: Sequence[str]) -> Utility:
    """The utility that ``c=1,a=0.4,b=0`` says.

    >>> utility("c=1,a=0.4,b=0", ("a", "b", "c")).coarseness
    Fraction(2, 5)
    """
    values: dict[str, Fraction] = {}
    for part in text.split(","):
        name, equals, number = (piece.strip() for piece in part.rpartition("="))
        if not equals or name not in candidates or name in values:
            raise WrongUse(
                f"a utility gives each of {', '.join(candidates)} one number, like "
                f"{','.join(f'{c}={v}' for c, v in zip(candidates, ('1', '0.4', '0'), strict=False))}; "
                f"not {part.strip()[:60]!r}"
            )
        values[name] = rational(number, f"the utility of {name!r}")
    missing = [name for name in candidates if name not in values]
    if missing:
        raise WrongUse(f"a utility needs a value for every candidate, and {missing[0]!r} has none")
    return Utility(candidates=tuple(candidates), values=tuple(values[name] for name in candidates))


def check_consistent(worth: Utility, truth: Ranking) -> None:
    """Refuse a utility that does not fall along the true ranking: then the "truth" would be no truth."""
    if not worth.consistent_with(truth):
        raise WrongUse(
            f"the utility {worth.text()} is not consistent with the true ranking "
            f"{ranking_text(truth, worth.candidates)}: it must fall strictly from each candidate to the next"
        )


def corners(truth: Ranking, candidates: Sequence[str]) -> tuple[Utility, ...]:
    """The utilities at which a lie can gain most: the first j of `truth` are worth 1 and the others 0.

    Guarantee: for every lie, the supremum of its gain over all utilities in [0, 1] consistent with `truth` is the
    largest of its gains at these and 0. Where the truth is truncated, those it leaves out count as tied for last; where it
    is scores, those of equal scores are worth the same.
    """
    if isinstance(truth, Scores):
        first = [[c for c, score in enumerate(truth) if score > least] for least in sorted(set(truth))[-2::-1]]
    else:
        first = [list(truth[:j]) for j in range(1, min(len(truth), len(candidates) - 1) + 1)]
    return tuple(
        Utility(
            candidates=tuple(candidates),
            values=tuple(Fraction(int(c in best)) for c in range(len(candidates))),
        )
        for best in first
    )


MOST_LIES: Final = 2_000

Bounds: TypeAlias = tuple[Fraction, Fraction]
Gains: TypeAlias = Callable[[Ranking, Ranking, Utility], Bounds]
"""What a lie gains in place of a truth, for a utility: a lower and an upper bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A voter whose true ranking is `truth` believes that each of the `voters` - 1 others votes as `belief` says.

    What can she gain under `contest` by reporting something else? `worth` is her utility, or None for the supremum
    over all that are consistent with her truth; `lies` are the reports she considers, or empty for all of them. Where
    the belief allows truncated ballots, so may she, and not voting is a report too.
    """

    belief: Belief
    truth: Ranking
    voters: int
    contest: Contest
    worth: Utility | None = None
    lies: tuple[Ranking, ...] = ()

    def __post_init__(self) -> None:
        names = self.belief.candidates
        if self.voters < 2:
            raise WrongUse(f"a voter's gain needs at least 2 voters, not {self.voters}")
        if not self.truth:
            raise WrongUse("the true ranking must name somebody")
        self._check_scores()
        check_ranking(self.truth, names, truncated=self.belief.truncated)
        for lie in self.lies:
            check_ranking(lie, names, truncated=self.belief.truncated)
        if self.truth in self.lies:
            raise WrongUse("a lie must differ from the true ranking")
        if self.contest.order is not None and sorted(self.contest.order) != list(range(len(names))):
            raise WrongUse(f"an order for ties must name each of {', '.join(names)} once")
        if self.worth is not None:
            check_consistent(self.worth, self.truth)
        if self.contest.kind == APPROVAL and not self.belief.truncated:
            raise WrongUse(
                "a ballot of approval names whom it approves of; allow `truncated` ballots, like ab:1/2,c:1/2"
            )

    def _check_scores(self) -> None:
        """Refuse scores for a rule that counts rankings, and rankings for one that counts scores."""
        ballots = [*(ranking for ranking, _ in self.belief.shares), self.truth, *self.lies]
        top = self.contest.top
        if any(isinstance(each, Scores) != (top is not None) for each in ballots):
            raise WrongUse(
                "score counts ballots of scores, like 5-2-0:1/2,0-5-3:1/2, and the other rules count rankings, like abc; write "
                "belief, truth and lies for the rule"
            )
        if top is not None and max(max(each) for each in ballots) > top:
            raise WrongUse(f"a ballot gives more than the highest score, which is {top}; raise `top`, or correct it")
        if top is not None and len(set(self.truth)) == 1:
            raise WrongUse("the true scores must differ, or she would not mind who wins")

    @property
    def number_of_lies(self) -> int:
        m = len(self.belief.candidates)
        if self.contest.top is not None:  # a score more for everybody changes nothing, so somebody has 0
            return len(self.lies) or (self.contest.top + 1) ** m - self.contest.top**m - 1
        if self.contest.kind == APPROVAL:
            return len(self.lies) or (1 << m) - 1
        if self.contest.kind == PLURALITY:
            return len(self.lies) or m - 1 + self.belief.truncated
        return len(self.lies) or sum(perm(m, length) for length in self._lengths) - 1

    @property
    def _lengths(self) -> Sequence[int]:
        m = len(self.belief.candidates)
        return range(m + 1) if self.belief.truncated else (m,)

    @property
    def reports(self) -> tuple[Ranking, ...]:
        """Every lie considered; of those that plurality, or approval, cannot tell apart, one."""
        if self.lies:
            return self.lies
        if self.contest.top is not None and self.number_of_lies <= MOST_LIES:
            truthful = tuple(score - min(self.truth) for score in self.truth)
            every = product(range(self.contest.top + 1), repeat=len(self.belief.candidates))
            return tuple(Scores(each) for each in every if min(each) == 0 and each != truthful)
        if self.contest.kind == APPROVAL and self.number_of_lies <= MOST_LIES:
            everyone = range(len(self.belief.candidates))
            named = (tuple(chosen) for length in self._lengths for chosen in combinations(everyone, length))
            return tuple(chosen for chosen in named if set(chosen) != set(self.truth))
        if self.contest.kind == PLURALITY:
            tops = [c for c in range(len(self.belief.candidates)) if c != self.truth[0]]
            moved = tuple((top, *(c for c in self.truth if c != top)) for top in tops)
            return (*moved, ()) if self.belief.truncated else moved
        if self.number_of_lies > MOST_LIES:
            raise WrongUse(
                f"{self.number_of_lies:,} lies are too many to try; name the ones to try, or ask for a bound"
            )
        m = len(self.belief.candidates)
        return tuple(lie for length in self._lengths for lie in permutations(range(m), length) if lie != self.truth)

    @property
    def worths(self) -> tuple[Utility, ...]:
        """The utilities among which the largest gain is."""
        return corners(self.truth, self.belief.candidates) if self.worth is None else (self.worth,)

    def of_truth(self, truth: Ranking) -> Question:
        """The same question asked by a voter of another true ranking."""
        return self if truth == self.truth else replace(self, truth=truth)

    @property
    def counted_belief(self) -> Belief:
        """The belief with rankings together that the rule cannot tell apart.

        Plurality looks at the first place, approval at who is named; the others never at the last of all places, which the
        rest of a ballot implies.
        """
        if self.contest.top is not None:
            return self.belief
        ranked = 1 if self.contest.kind == PLURALITY else len(self.belief.candidates) - 1
        shares: dict[Ranking, Fraction] = {}
        for ranking, share in self.belief.shares:
            seen = tuple(sorted(ranking)) if self.contest.kind == APPROVAL else ranking[:ranked]
            shares[seen] = shares.get(seen, Fraction(0)) + share
        return Belief(candidates=self.belief.candidates, shares=tuple(shares.items()), truncated=True)

    def ranks_all(self, candidates: int) -> bool:
        """Whether there are so many candidates and every ballot ranks them all."""
        return len(self.belief.candidates) == candidates and self.contest.top is None and not self.belief.truncated


@dataclass(frozen=True, slots=True, kw_only=True)
class Gain:
    """The gain lies in [low, high]: for certain, or with probability `confidence` where that is not None.

    `lie` is the best one found (None: none is known to gain), for the utility `worth`. `estimate` is the mean of a
    sample. low == high says that the gain is known exactly.
    """

    question: Question
    method: str
    low: Fraction
    high: Fraction
    lie: Ranking | None = None
    worth: Utility | None = None
    confidence: Fraction | None = None
    estimate: Fraction | None = None
    draws: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """One way to go through all that the others may do: `name` is the method's, `way` how it comes to its numbers.

    `fits` says which questions it is for, and `limits` the same in one sentence; `is_quick` which of them take some
    seconds at most; `gains` what every lie gains for each of several truths, the states gone through once for all.
    """

    name: str
    way: str
    limits: str
    fits: Callable[[Question], bool]
    is_quick: Callable[[Question], bool]
    gains: Callable[[Question, Sequence[Ranking]], Gains]

    def solve(self, questions: Sequence[Question]) -> list[Gain]:
        """The answers to questions that differ in the truth alone.

        Guarantee: each gain lies between its two ends, for certain.
        """
        if not all(self.fits(question) for question in questions):
            raise WrongUse(f"the method {self.name} is for {self.limits}; ask for another, or for a sample")
        gains = self.gains(questions[0], [question.truth for question in questions])
        return [best_gain(question, self.name, gains) for question in questions]


def best_gain(question: Question, method: str, gains: Gains) -> Gain:
    """The largest of the gains of all lies, each between two numbers; not below 0, since a voter may tell the truth, and
    not above what the best victory is worth more than the worst.

    Guarantee: if every lie and utility of the question gains between the two numbers that `gains` gives, the best one
    gains between `low` and `high`.
    """
    every = [(*gains(question.truth, lie, worth), lie, worth) for lie in question.reports for worth in question.worths]
    low, high = max(entry[0] for entry in every), max(min(entry[1], entry[3].range) for entry in every)
    _, _, lie, worth = max(every, key=lambda entry: entry[0])
    if low <= 0:
        return Gain(question=question, method=method, low=Fraction(0), high=max(high, Fraction(0)))
    return Gain(question=question, method=method, low=low, high=high, lie=lie, worth=worth)


def mean_utility(worth: Utility, chances: Sequence[Fraction]) -> Fraction:
    """What the chances of all candidates, or by how much they move, are worth."""
    return sum((value * chance for value, chance in zip(worth.values, chances, strict=True)), Fraction(0))


def honest_ballot(ranking: Ranking, contest: Contest, candidates: int) -> Ranking:
    """What somebody reports who ranks all so and tells the truth: by approval her first half, by score even steps."""
    if contest.kind == APPROVAL:
        return ranking[: (candidates + 1) // 2]
    return ranking if contest.top is None else scores_of(ranking, candidates, contest.top)


def belief_in_ballots(belief: Belief, contest: Contest) -> Belief:
    """A belief in rankings, as one in the honest ballots of a rule; rankings that make the same ballot are together."""
    shares: dict[Ranking, Fraction] = {}
    for ranking, share in belief.shares:
        ballot = honest_ballot(ranking, contest, len(belief.candidates))
        shares[ballot] = shares.get(ballot, Fraction(0)) + share
    return replace(belief, shares=tuple(shares.items()), truncated=contest.kind == APPROVAL)
