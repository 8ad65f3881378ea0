"""What a voter gains by lying: the best lie, how much it pays, and how surely that is known.

::

    enumerate   every profile, exact rationals            any number of candidates, small cases
    three       every top count, or the law of points     three candidates, some thousand voters
    pivots      the chances that a ballot decides         plurality, any number of candidates, 10,000 voters
    four        every count in turn                       instant-runoff of four candidates, 200 voters
    bound       the union over pairs, proved              rules with a margin, any size, however small
    sample      random elections, an interval             anything in between

Three, pivots and four are certified: the gain lies between two numbers some 1e-12 apart, roundings included. Each of
the first four is a :class:`~hubbub.voting.manipulation.question.Solver`, in a module of its own.
The gain is the supremum over all utilities in [0, 1] that are consistent with the truth, reached at a corner
(:mod:`hubbub.voting.manipulation.utilities`), or that of one utility. It is never below 0: a voter may always tell the
truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from hubbub.errors import WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.noise.source import Source, SystemSource
from hubbub.numeric.exact import rounded
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately
from hubbub.voting.manipulation import gain_bound
from hubbub.voting.manipulation.beliefs import Belief, Ranking, ranking_text
from hubbub.voting.manipulation.gain_borda import POINTS_OF_THREE
from hubbub.voting.manipulation.gain_four import RUNOFF_OF_FOUR
from hubbub.voting.manipulation.gain_pivots import PIVOTS
from hubbub.voting.manipulation.gain_profiles import EVERY_PROFILE, MOST_WORK, sample_gains
from hubbub.voting.manipulation.gain_three import STATES_OF_THREE
from hubbub.voting.manipulation.gain_winners import Contest as Contest
from hubbub.voting.manipulation.question import MOST_LIES, Bounds, best_gain
from hubbub.voting.manipulation.question import Gain as Gain
from hubbub.voting.manipulation.question import Question as Question
from hubbub.voting.manipulation.utilities import Utility

SOLVERS: Final = (EVERY_PROFILE, STATES_OF_THREE, POINTS_OF_THREE, PIVOTS, RUNOFF_OF_FOUR)
"""What goes through every state, the one that says most first."""
ENUMERATE: Final = EVERY_PROFILE.name
BOUND: Final = "bound"
SAMPLE: Final = "sample"
WAYS: Final = {solver.name: solver.way for solver in SOLVERS} | {
    BOUND: "the union over pairs along the expected path (Theorem B1)",
    SAMPLE: "random elections",
}
METHODS: Final = tuple(WAYS)

QUICK_DRAWS: Final = 10_000_000  # times lies
SMALL_BOUND: Final = Fraction(1, 1000)  # below this a sample would say no more than the bound
DRAWS: Final = 100_000
CONFIDENCE: Final = Fraction(99, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """How elections are drawn: how many (None: as many as take some seconds), how sure, and from where."""

    draws: int | None = None
    confidence: Fraction = CONFIDENCE
    source: Source | None = None


USUAL: Final = Sampling()


def gain(question: Question, method: str | None = None, sampling: Sampling = USUAL) -> Gain:
    """What the best lie gains, by `method`, or by the one that says most in a few seconds.

    Guarantee: low <= gain <= high; for a sample with probability at least its confidence over the draws.
    """
    return _solve([question], method, sampling)[0]


def gains_of_truths(
    belief: Belief, voters: int, contest: Contest, truths: Sequence[Ranking], sampling: Sampling = USUAL
) -> dict[Ranking, Gain]:
    """What the best lie gains for each of several true rankings.

    Guarantee: for each truth what `gain` gives; states, or draws, are gone through once for all of them.
    """
    questions = [Question(belief=belief, truth=truth, voters=voters, contest=contest) for truth in truths]
    return {found.question.truth: found for found in _solve(questions, None, sampling)}


def _solve(questions: Sequence[Question], method: str | None, sampling: Sampling) -> list[Gain]:
    """The answers to questions that differ in the truth alone."""
    if method is None:
        methods = {method_for(question) for question in questions}
        if len(methods) > 1:
            return [_solve([question], None, sampling)[0] for question in questions]
        (method,) = methods
        if method == BOUND:
            bounded = [_gain_by_bound(question) for question in questions]
            if bounded[0].high < SMALL_BOUND or questions[0].number_of_lies > MOST_LIES:
                return bounded
            both = zip(_gains_by_sample(questions, sampling), (bound.high for bound in bounded), strict=True)
            # What is proved holds too: an interval that goes beyond it is cut there.
            return [replace(each, low=min(each.low, most), high=min(each.high, most)) for each, most in both]
    if method == BOUND:
        return [_gain_by_bound(question) for question in questions]
    if method == SAMPLE:
        return _gains_by_sample(questions, sampling)
    solvers = [solver for solver in SOLVERS if solver.name == method]
    if not solvers:
        raise WrongUse(f"a gain is found by one of {', '.join(METHODS)}, not by {method!r}")
    return next((each for each in solvers if each.fits(questions[0])), solvers[0]).solve(questions)


def method_for(question: Question) -> str:
    """The method that says most in a few seconds; `gain` goes on to a sample where a bound says too little."""
    for solver in SOLVERS:
        if solver.fits(question) and solver.is_quick(question):
            return solver.name
    return BOUND if question.contest.eliminates and question.contest.order is None else SAMPLE


def _gain_by_bound(question: Question) -> Gain:
    most = rounded(gain_bound.gain_at_most(question.belief, question.voters, question.contest), up=True)
    most = min(most, Fraction(1))  # chances that move by delta, at most 1, move a utility by delta times its range
    if question.worth is not None:
        most *= question.worth.range
    return Gain(question=question, method=BOUND, low=Fraction(0), high=most)


def _gains_by_sample(questions: Sequence[Question], sampling: Sampling) -> list[Gain]:
    asked, draws = questions[0], sampling.draws
    if draws is None:
        draws = max(min(DRAWS, MOST_WORK // (8 * asked.voters), QUICK_DRAWS // asked.number_of_lies), 2)
    confidence, source = sampling.confidence, sampling.source or SystemSource()
    truths = [question.truth for question in questions]
    intervals = sample_gains(asked, truths, draws=draws, confidence=confidence, source=source)

    def gains(truth: Ranking, lie: Ranking, worth: Utility) -> Bounds:
        return intervals[truth][lie, worth].low, intervals[truth][lie, worth].high

    found = []
    for question in questions:
        best = best_gain(question, SAMPLE, gains)
        (lie, worth), likeliest = max(intervals[question.truth].items(), key=lambda entry: entry[1].mean)
        met = likeliest.mean > 0
        found.append(
            Gain(
                question=question,
                method=SAMPLE,
                low=best.low,
                high=best.high,
                lie=lie if met else None,
                worth=worth if met else None,
                confidence=confidence,
                estimate=likeliest.mean,
                draws=draws,
            )
        )
    return found


def at_most(answer: Gain, eta: Fraction) -> Verdict:
    """Whether the gain is at most eta.

    Guarantee: Proved and Refuted rest on certain bounds alone; a sample leaves the question undecided, and says on
    which side its interval lies. The witness of a refutation is a lie with its utility, and a number its gain exceeds.
    """
    question = answer.question
    if answer.confidence is None and answer.high <= eta:
        return Proved(f"no lie gains more than {approximately(answer.high)}, by {WAYS[answer.method]}")
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
    return Undecided(f"the gain lies in {ends}, and {WAYS[answer.method]} says no more")
