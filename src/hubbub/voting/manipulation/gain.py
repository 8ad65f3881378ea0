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
(:mod:`hubbub.voting.manipulation.question`), or that of one utility. It is never below 0: a voter may always tell the
truth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from flint import arb

from hubbub.errors import Refused, WrongUse
from hubbub.guarantees.verdict import Proved, Refuted, Undecided, Verdict
from hubbub.noise.source import Source, SystemSource
from hubbub.numeric.exact import rounded
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately
from hubbub.voting.guarantees.tails import lead_at_least
from hubbub.voting.manipulation.beliefs import Belief, Ranking, ranking_text
from hubbub.voting.manipulation.gain_borda import POINTS_OF_THREE
from hubbub.voting.manipulation.gain_four import RUNOFF_OF_FOUR
from hubbub.voting.manipulation.gain_pivots import PIVOTS
from hubbub.voting.manipulation.gain_profiles import EVERY_PROFILE, MOST_WORK, sample_gains
from hubbub.voting.manipulation.gain_three import STATES_OF_THREE
from hubbub.voting.manipulation.gain_winners import Contest as Contest
from hubbub.voting.manipulation.question import MOST_LIES, Bounds, Utility, best_gain
from hubbub.voting.manipulation.question import Gain as Gain
from hubbub.voting.manipulation.question import Question as Question
from hubbub.voting.rules.margins import REPEATED_PLURALITY

# What a lie gains at most, under one belief, for any number of voters and candidates: proved, however small.
#
# A belief expects an elimination rule to go one way: in each round it knows who is expected to be best (or least), and
# who stands apart. The rule leaves that way only if two whom it expects to be equal end up further apart than the
# margin, or two whom it expects apart end up within it. The voter's own ballot moves a difference by at most 1, so one
# event, bad luck in one of the pairs, covers all her reports at once; outside it the candidates that are left are those
# the belief expects, all with the same chance to be anybody's top, and plurality with random ties among them rewards no
# lie. With delta the sum of the pairs' chances, no lie gains more than 2 delta.


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A round as a belief expects it: `left` in the race, `level` with the best (or least) expected count."""

    left: tuple[int, ...]
    level: tuple[int, ...]


def expected_path(belief: Belief, contest: Contest) -> tuple[Expected, ...]:
    """The rounds that the others' expected counts lead to, the last one with all candidates level.

    Guarantee: the way of an elimination rule on which all differences of counts are what the belief expects them to
    be, in sign and in being 0, with those that differ counted as outside the margin (Theorems 78 and 79).
    """
    left = tuple(range(len(belief.candidates)))
    rounds = []
    while True:
        tops = belief.tops(left)
        mark = max(tops.values()) if contest.kind == REPEATED_PLURALITY else min(tops.values())
        level = tuple(c for c in left if tops[c] == mark)
        rounds.append(Expected(left=left, level=level))
        if level == left:
            return tuple(rounds)
        left = level if contest.kind == REPEATED_PLURALITY else tuple(c for c in left if c not in level)


def off_path(belief: Belief, voters: int, contest: Contest) -> arb:
    """A ball whose upper end bounds delta: the chance that some report of the voter leads elsewhere.

    Guarantee: with probability at least 1 - delta over the others' ballots, the rule keeps the candidates that
    `expected_path` keeps, whatever the voter reports; complete, truncated or no ballot at all (Theorem B1 with the
    belief's own pairs in place of the worst ones).
    """
    _refuse_without_theorem(contest)
    others, margin = voters - 1, contest.elimination_margin
    total = arb(0)
    for expected in expected_path(belief, contest):
        tops = belief.tops(expected.left)
        level, apart = expected.level, [c for c in expected.left if c not in expected.level]
        share = tops[level[0]]
        total += len(level) * (len(level) - 1) * lead_at_least(others, share, share, margin)
        for c in apart:  # all who are level have the same share, so any of them will do
            behind, ahead = (tops[c], share) if contest.kind == REPEATED_PLURALITY else (share, tops[c])
            total += lead_at_least(others, behind, ahead, -(margin + 1))
    return total.min(arb(1))


def gain_at_most(belief: Belief, voters: int, contest: Contest) -> arb:
    """A ball whose upper end bounds the gain of every lie, for every truth and every utility in [0, 1].

    Guarantee: 2 delta, delta from `off_path` (Theorem 77: outside that event the lie is one to plurality among
    candidates who are equally likely tops, with ties broken uniformly at random, and pays nothing); 1 at most.
    """
    return (2 * off_path(belief, voters, contest)).min(arb(1))


def _refuse_without_theorem(contest: Contest) -> None:
    if not contest.eliminates:
        raise Refused(
            f"no theorem bounds what a lie gains under {contest.kind} by anything small: it is of the order of one "
            "over the root of the number of voters; compute it exactly, or sample it"
        )
    if contest.order is not None:
        raise Refused(
            "ties broken by a fixed order void the bound: plurality among equally likely tops then rewards a lie with "
            "three or more candidates, by about 0.4/n (three); break ties at random after the ballots are in"
        )


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
    """The method that says most in a few seconds; `gain` goes on to a sample where a bound says too little.

    Guarantee: one of `METHODS`, and a bound only where a theorem gives one.
    """
    for solver in SOLVERS:
        if solver.fits(question) and solver.is_quick(question):
            return solver.name
    return BOUND if question.contest.eliminates and question.contest.order is None else SAMPLE


def _gain_by_bound(question: Question) -> Gain:
    most = rounded(gain_at_most(question.belief, question.voters, question.contest), up=True)
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
