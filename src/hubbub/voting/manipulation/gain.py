"""What a voter gains by lying: the best lie, how much it pays, and how surely that is known.

::

    enumerate   every profile, exact rationals            any number of candidates, small cases
    three       every top count, or the law of points     three candidates, some thousand voters
    pivots      the chances that a ballot decides         plurality, any number of candidates, 10,000 voters
    four        every count in turn                       instant-runoff of four candidates, 200 voters
    bound       the union over pairs, proved              rules with a margin, any size, however small
    sample      random elections, an interval             anything in between

Three, pivots and four are certified: the gain lies between two numbers some 1e-12 apart, roundings included.
The gain is the supremum over all utilities in [0, 1] that are consistent with the truth, reached at a corner
(:mod:`hubbub.voting.manipulation.utilities`), or that of one utility. It is never below 0: a voter may always tell the
truth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise, permutations, product
from math import perm
from typing import Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.noise.source import Source, SystemSource
from hubbub.numeric.exact import rounded
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately
from hubbub.voting.manipulation import (
    gain_borda,
    gain_bound,
    gain_exact,
    gain_four,
    gain_pivots,
    gain_sample,
    gain_three,
)
from hubbub.voting.manipulation.beliefs import Belief, Ranking, Scores, check_ranking, ranking_text
from hubbub.voting.manipulation.gain_winners import APPROVAL, BORDA, INSTANT_RUNOFF, MINIMAX, PLURALITY, SCORE
from hubbub.voting.manipulation.gain_winners import Contest as Contest
from hubbub.voting.manipulation.utilities import Utility, check_consistent, corners

ENUMERATE: Final = "enumerate"
THREE: Final = "three"
PIVOTS: Final = "pivots"
FOUR: Final = "four"
BOUND: Final = "bound"
SAMPLE: Final = "sample"
METHODS: Final = (ENUMERATE, THREE, PIVOTS, FOUR, BOUND, SAMPLE)

QUICK_COUNTS: Final = 200_000  # profiles times reports that are gone through unasked
QUICK_STATES: Final = 2_500_000  # top counts of three candidates, the same: 2,235 voters
QUICK_DRAWS: Final = 10_000_000  # times lies
SMALL_BOUND: Final = Fraction(1, 1000)  # below this a sample would say no more than the bound
DRAWS: Final = 100_000
CONFIDENCE: Final = Fraction(99, 100)
MOST_LIES: Final = 2_000


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


def gain(
    question: Question,
    method: str | None = None,
    *,
    draws: int | None = None,
    confidence: Fraction = CONFIDENCE,
    source: Source | None = None,
) -> Gain:
    """What the best lie gains, by `method`, or by the one that says most in a few seconds.

    Guarantee: low <= gain <= high; for a sample with probability at least `confidence` over the draws.
    """
    if method is None:
        method = method_for(question)
        if method == BOUND:
            bounded = _bounded(question)
            if bounded.high < SMALL_BOUND or question.number_of_lies > MOST_LIES:
                return bounded
            method = SAMPLE
    if method in _CERTAIN:
        return _CERTAIN[method](question)
    if method != SAMPLE:
        raise WrongUse(f"a gain is found by one of {', '.join(METHODS)}, not by {method!r}")
    if draws is None:
        draws = min(DRAWS, gain_sample.MOST_WORK // (8 * question.voters), QUICK_DRAWS // question.number_of_lies)
    return _sampled(question, max(draws, 2), confidence, source or SystemSource())


def gains_of_truths(belief: Belief, voters: int, contest: Contest, truths: Sequence[Ranking]) -> dict[Ranking, Gain]:
    """What the best lie gains for each of several true rankings, for certain.

    Guarantee: for each truth what `gain` gives, to the last bit; states are gone through once for all of them.
    """
    questions = [Question(belief=belief, truth=truth, voters=voters, contest=contest) for truth in truths]
    if all(method_for(question) == THREE for question in questions):
        moved = _moves_of_three(questions[0], truths)
        return {question.truth: _three(question, moved[question.truth]) for question in questions}
    return {question.truth: gain(question) for question in questions}


def method_for(question: Question) -> str:
    """The method that says most in a few seconds; `gain` goes on to a sample where a bound says too little."""
    belief, lies, kind = question.belief, question.number_of_lies, question.contest.kind
    counted = gain_exact.profiles(_as_counted(question), question.voters) * (1 + lies)
    if counted <= QUICK_COUNTS and lies <= MOST_LIES:
        return ENUMERATE
    if _is_three(question) and _quick_three(question):
        return THREE
    if question.contest.top is not None:
        return SAMPLE
    if kind == PLURALITY and gain_pivots.quick(belief, question.voters):
        return PIVOTS
    if _is_four(question) and gain_four.quick(belief, question.voters):
        return FOUR
    return BOUND if question.contest.eliminates and question.contest.order is None else SAMPLE


def _quick_three(question: Question) -> bool:
    if question.contest.kind == BORDA:
        return question.voters <= gain_borda.QUICK_VOTERS
    few = gain_three.states(question.belief, question.voters) <= QUICK_STATES
    return few and gain_three.fits(question.belief, question.voters - 1)


def _as_counted(question: Question) -> Belief:
    """The belief with rankings together that the rule cannot tell apart.

    Plurality looks at the first place, approval at who is named; the others never at the last of all places, which the
    rest of a ballot implies.
    """
    if question.contest.top is not None:
        return question.belief
    ranked = 1 if question.contest.kind == PLURALITY else len(question.belief.candidates) - 1
    shares: dict[Ranking, Fraction] = {}
    for ranking, share in question.belief.shares:
        seen = tuple(sorted(ranking)) if question.contest.kind == APPROVAL else ranking[:ranked]
        shares[seen] = shares.get(seen, Fraction(0)) + share
    return Belief(candidates=question.belief.candidates, shares=tuple(shares.items()), truncated=True)


def _is_three(question: Question) -> bool:
    if question.contest.kind in (MINIMAX, APPROVAL, SCORE):
        return False
    return len(question.belief.candidates) == 3 and not question.belief.truncated


def _is_four(question: Question) -> bool:
    complete = len(question.belief.candidates) == 4 and not question.belief.truncated
    return complete and question.contest.kind == INSTANT_RUNOFF


def _enumerated(question: Question) -> Gain:
    belief = _as_counted(question)
    moved = gain_exact.changes(belief, question.voters, question.contest, question.truth, question.reports)
    found = [
        (sum((v * by for v, by in zip(worth.values, change, strict=True)), Fraction(0)), lie, worth)
        for lie, change in moved.items()
        for worth in question.worths
    ]
    best, lie, worth = max(found, key=lambda entry: entry[0])
    if best <= 0:
        return Gain(question=question, method=ENUMERATE, low=Fraction(0), high=Fraction(0))
    return Gain(question=question, method=ENUMERATE, low=best, high=best, lie=lie, worth=worth)


Moves: TypeAlias = dict[Ranking, tuple[gain_three.Bounds, ...]]
"""For each lie, what it adds to the chance of the truth's first, and of its first two."""


def _moves_of_three(question: Question, truths: Sequence[Ranking]) -> dict[Ranking, Moves]:
    belief, voters, contest = question.belief, question.voters, question.contest
    if not _is_three(question):
        raise WrongUse("the method three is for complete ballots of three candidates; ask for enumerate or sample")
    if contest.kind == BORDA:
        return gain_borda.gains_of_borda(belief, voters, contest, truths)
    if gain_three.states(belief, voters) > gain_three.MOST_STATES:
        raise WrongUse(
            f"with {voters:,} voters the top counts are too many to go through (at most "
            f"{gain_three.MOST_STATES:,}); ask for a bound, or for a sample"
        )
    return gain_three.gains_of_truths(belief, voters, contest, truths)


def _three(question: Question, moved: Moves | None = None) -> Gain:
    if moved is None:
        moved = _moves_of_three(question, (question.truth,))[question.truth]
    found = []
    for lie in question.reports:
        for worth in question.worths:
            # A falling utility is a mixture of corners; the weights are its steps.
            steps = [worth.values[a] - worth.values[b] for a, b in pairwise(question.truth)]
            low = sum((step * part[0] for step, part in zip(steps, moved[lie], strict=True)), Fraction(0))
            high = sum((step * part[1] for step, part in zip(steps, moved[lie], strict=True)), Fraction(0))
            found.append((low, high, lie, worth))
    return _best(question, THREE, found)


def _by_pivots(question: Question) -> Gain:
    if question.contest.kind != PLURALITY:
        raise WrongUse(f"the method pivots is for plurality, not for {question.contest.kind}")
    flows = gain_pivots.pivots(question.belief, question.voters, question.contest.order)
    found = [
        (*gain_pivots.gain_of(flows, question.truth[0], lie[0] if lie else None, worth.values), lie, worth)
        for lie in question.reports
        for worth in question.worths
    ]
    return _best(question, PIVOTS, found)


def _four(question: Question) -> Gain:
    if not _is_four(question):
        raise WrongUse("the method four is for instant-runoff with complete ballots of four candidates")
    voters, laws = question.voters, gain_four.laws_of_four(question.belief, question.voters, question.contest.order)
    found = [
        (*gain_four.gain_of(laws, voters, question.truth, lie, worth.values), lie, worth)
        for lie in question.reports
        for worth in question.worths
    ]
    return _best(question, FOUR, found)


def _bounded(question: Question) -> Gain:
    most = rounded(gain_bound.gain_at_most(question.belief, question.voters, question.contest), up=True)
    most = min(most, Fraction(1))  # chances that move by delta, at most 1, move a utility by delta times its range
    if question.worth is not None:
        most *= question.worth.range
    return Gain(question=question, method=BOUND, low=Fraction(0), high=most)


def _sampled(question: Question, draws: int, confidence: Fraction, source: Source) -> Gain:
    intervals = gain_sample.sampled(
        _as_counted(question),
        question.voters,
        question.contest,
        question.truth,
        question.reports,
        question.worths,
        draws=draws,
        confidence=confidence,
        source=source,
    )
    found = [(each.low, each.high, lie, worth) for (lie, worth), each in intervals.items()]
    best = _best(question, SAMPLE, found)
    (lie, worth), likeliest = max(intervals.items(), key=lambda entry: entry[1].mean)
    return Gain(
        question=question,
        method=SAMPLE,
        low=best.low,
        high=best.high,
        lie=lie if likeliest.mean > 0 else None,
        worth=worth if likeliest.mean > 0 else None,
        confidence=confidence,
        estimate=likeliest.mean,
        draws=draws,
    )


def _best(question: Question, method: str, found: Sequence[tuple[Fraction, Fraction, Ranking, Utility]]) -> Gain:
    """The largest of several gains, each between two numbers; not below 0, since a voter may tell the truth, and not
    above what the best victory is worth more than the worst."""
    low, high = max(entry[0] for entry in found), max(min(entry[1], entry[3].range) for entry in found)
    _, _, lie, worth = max(found, key=lambda entry: entry[0])
    if low <= 0:
        return Gain(question=question, method=method, low=Fraction(0), high=max(high, Fraction(0)))
    return Gain(question=question, method=method, low=low, high=high, lie=lie, worth=worth)


def at_most(answer: Gain, eta: Fraction) -> Verdict:
    """Whether the gain is at most eta.

    Guarantee: Proved and Refuted rest on certain bounds alone; a sample leaves the question undecided, and says on
    which side its interval lies. The witness of a refutation is a lie with its utility, and a number its gain exceeds.
    """
    question = answer.question
    if answer.confidence is None and answer.high <= eta:
        return Proved(f"no lie gains more than {approximately(answer.high)}, by {_METHODS[answer.method]}")
    if answer.confidence is None and answer.low > eta and answer.lie is not None and answer.worth is not None:
        names = question.belief.candidates
        witness = (
            ("belief", question.belief.text()),
            ("voters", str(question.voters)),
            ("truth", ranking_text(question.truth, names)),
            ("lie", ranking_text(answer.lie, names) or "(no vote)"),
            ("utility", answer.worth.text()),
            ("gain at least", approximately(answer.low, up=False)),
        )
        return Refuted(f"a lie gains at least {approximately(answer.low, up=False)}", witness)
    where = "around it"
    if answer.high <= eta or answer.low > eta:
        where = "below it" if answer.high <= eta else "above it"
    ends = f"[{approximately(answer.low, up=False)}, {approximately(answer.high)}]"
    if answer.confidence is not None:
        return Undecided(f"a sample proves nothing; its {float(answer.confidence):.4g} interval {ends} lies {where}")
    return Undecided(f"the gain lies in {ends}, and {_METHODS[answer.method]} says no more")


_METHODS: Final = {
    ENUMERATE: "counting every profile",
    THREE: "counting every state of three candidates",
    PIVOTS: "the chances that one ballot decides",
    FOUR: "counting every state of four candidates",
    BOUND: "the union over pairs along the expected path (Theorem B1)",
    SAMPLE: "random elections",
}

_CERTAIN: Final[Mapping[str, Callable[[Question], Gain]]] = {
    ENUMERATE: _enumerated,
    THREE: _three,
    PIVOTS: _by_pivots,
    FOUR: _four,
    BOUND: _bounded,
}
