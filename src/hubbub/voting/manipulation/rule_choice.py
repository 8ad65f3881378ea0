"""Which rule a group should use: what the best lie gains under each, what is promised, and what is easy to explain.

Theorems promise something from some thousand voters on. For a club of forty they promise nothing, and gains are computed
in their place, under beliefs that are stated: every order is equally likely, two favourites, a circle, a line, and those
that were asked for. A gain is the largest over all beliefs, true rankings, lies and utilities from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any, Final

import numpy as np

from hubbub.errors import WrongUse
from hubbub.noise.source import SystemSource
from hubbub.numeric.exact import ball, log, rounded, to_float, to_text
from hubbub.numeric.format import join_words
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately, as_given, float_up
from hubbub.voting.guarantees.choices import voters_needed
from hubbub.voting.guarantees.guarantee import best_margin
from hubbub.voting.guarantees.strategyproofness import Promised, Strategyproofness, strategyproofness
from hubbub.voting.manipulation.beliefs import Belief, Ranking, dirichlet, ranking_text
from hubbub.voting.manipulation.gain import USUAL, Sampling, gains_of_truths
from hubbub.voting.manipulation.gain_profiles import Weights, draw_others, every_profile, number_of_profiles
from hubbub.voting.manipulation.gain_winners import APPROVAL, SCORE, Contest, Tally, denominator, lotteries
from hubbub.voting.manipulation.question import Bounds, Question, belief_in_ballots, honest_ballot
from hubbub.voting.rules import rules
from hubbub.voting.rules.margins import KINDS, default_margin

NAMES: Final = "abcde"
MOST_VOTERS: Final = 5_000
QUICK_VOTERS: Final = 101
"""Of a comparison that nobody asked to take longer."""
DRAWS: Final = 20_000
FEWER_DRAWS: Final = 4_000
"""With five candidates, and 119 lies for each of many truths."""
CONFIDENCE: Final = Fraction(99, 100)
POLL: Final = Fraction(1, 10)
"""A promise is worth a recommendation if it covers voters who go by a poll of ten ballots."""

EASE: Final = ("easy", "some words", "harder")
EXPLAINED: Final = {
    "plurality": (0, "Everybody names one candidate, and the most votes win"),
    "approval": (0, "Everybody ticks all whom they could live with, and the most ticks win"),
    "borda": (0, "A place on a ballot is worth points, and the most points win"),
    "score": (0, "Everybody gives points to everybody, and the most points win"),
    "instant-runoff": (1, "The last is struck out and their ballots move on, until one is left"),
    "minimax": (1, "All pairs are compared, and whoever loses no pair, or loses least, wins"),
    "repeated-plurality": (2, "All who are far behind the first are struck out, again and again; then plurality"),
    "approximate-runoff": (2, "All who are close to the last are struck out, again and again; then plurality"),
    "random-dictator": (0, "One ballot is drawn, and its first choice wins"),
}
"""How easy a rule is to explain, from 0 to 2, and the explanation."""

_EXACT_TIES: Final = 50_000  # profiles
_ABOUT_ALIKE: Final = Fraction(11, 10)  # of the least gain: then the easier rule is recommended
_POINTLESS: Final = Fraction(1, 200)  # differences of gains below this decide nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedBelief:
    """What a voter may believe about each of the others, and in words."""

    name: str
    words: str
    belief: Belief

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "words": self.words}


def stated_beliefs(candidates: int) -> tuple[StatedBelief, ...]:
    """The beliefs under which rules are held against each other."""
    m, names = candidates, tuple(NAMES[:candidates])
    order = tuple(range(m))
    circle = [order[i:] + order[:i] for i in range(m)]
    line = [tuple(sorted(order, key=lambda c: (abs(c - i), abs(2 * c - m + 1), c))) for i in order]
    favourites = [order, (1, 0, *order[2:])]

    def text(rankings: Sequence[Ranking]) -> str:
        return join_words([ranking_text(ranking, names) for ranking in rankings])

    def even(rankings: Sequence[Ranking]) -> Belief:
        return Belief(candidates=names, shares=tuple((ranking, Fraction(1, len(rankings))) for ranking in rankings))

    return (
        StatedBelief(name="unknown", words="every order is equally likely", belief=dirichlet({}, names)),
        StatedBelief(
            name="favourites", words=f"two favourites: {text(favourites)}, one half each", belief=even(favourites)
        ),
        StatedBelief(name="circle", words=f"a circle: {text(circle)}, equally likely", belief=even(circle)),
        StatedBelief(name="line", words=f"a line: {text(line)}, equally likely", belief=even(line)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFacts:
    """What is known of one rule at this size: its largest gain, under `worst`; how often a lot decides, at worst."""

    rule: str
    margin: int | None
    gains: tuple[tuple[str, Bounds], ...]
    confidence: Fraction | None
    ties: Bounds
    promise: Strategyproofness
    needed: int | None

    @property
    def gain(self) -> Bounds:
        """The largest gain over all beliefs lies between these."""
        every = [bounds for _, bounds in self.gains]
        return max(low for low, _ in every), max(high for _, high in every)

    @property
    def worst(self) -> str:
        """The belief under which a lie may gain most."""
        return max(self.gains, key=lambda entry: entry[1][1])[0]

    @property
    def ease(self) -> int:
        return EXPLAINED[self.rule][0]

    @property
    def title(self) -> str:
        return self.rule if self.margin is None else f"{self.rule}, margin {self.margin:,}"

    @property
    def promise_text(self) -> str:
        """What a theorem promises, and from how many voters on."""
        if isinstance(self.promise, Promised):
            gained = f"at most {approximately(self.promise.eta)}" if self.promise.eta else "no lie pays"
            least = self.promise.alpha_min
            return f"{gained}, to {approximately(least, digits=3)}-coarse beliefs" if least else gained
        return "nothing" if self.needed is None else f"from {self.needed:,} voters"

    def gain_text(self) -> str:
        low, high = self.gain
        if high - low <= high / 100:
            return approximately(high, digits=3)
        if low < high / 10:
            return f"at most {approximately(high, digits=2)}"
        return f"{approximately(low, up=False, digits=2)} to {approximately(high, digits=2)}"

    def as_json(self) -> dict[str, Any]:
        return {
            "rule": self.rule,
            "margin": self.margin,
            "gain_low": to_float(self.gain[0], round_up=False),
            "gain_high": float_up(self.gain[1]),
            "gain_text": self.gain_text(),
            "worst_belief": self.worst,
            "gains": {name: [to_float(low, round_up=False), float_up(high)] for name, (low, high) in self.gains},
            "confidence": None if self.confidence is None else to_text(self.confidence),
            "promise": self.promise.promise(),
            "promise_text": self.promise_text,
            "voters_needed": self.needed,
            "decided_by_lot": [to_float(self.ties[0], round_up=False), float_up(self.ties[1])],
            "ease": EASE[self.ease],
            "explained": EXPLAINED[self.rule][1],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleChoice:
    """The rules that fit an electorate, the easiest to lie to last, and the one that is recommended."""

    voters: int
    candidates: int
    eta: Fraction
    beliefs: tuple[StatedBelief, ...]
    rules: tuple[RuleFacts, ...]

    @property
    def recommendation(self) -> RuleFacts:
        """The rule with a promise, if one is worth it; else the easiest of those under which lies gain least."""
        safe = [e for e in self._counting if isinstance(e.promise, Promised) and e.promise.alpha_min <= POLL]
        fit = safe or self._counting
        least = min(each.gain[1] for each in fit)
        near = [each for each in fit if each.gain[1] <= max(least * _ABOUT_ALIKE, least + _POINTLESS)]
        return min(near, key=lambda each: (each.ease, list(EXPLAINED).index(each.rule)))

    def as_json(self) -> dict[str, Any]:
        return {
            "voters": self.voters,
            "candidates": self.candidates,
            "eta": as_given(self.eta),
            "recommended": self.recommendation.rule,
            "margin": self.recommendation.margin,
            "reason": self.reason(),
            "rules": [each.as_json() for each in self.rules],
            "beliefs": [each.as_json() for each in self.beliefs],
            "words": self.sentences(),
        }

    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """Rule, largest gain, under which belief, what a theorem promises, how often a lot decides, how easy it is."""
        return [
            (e.title, e.gain_text(), e.worst if e.gain[1] else "", e.promise_text, _percent(e.ties), EASE[e.ease])
            for e in self.rules
        ]

    def reason(self) -> str:
        """Why the recommended rule is recommended, in two sentences."""
        best = self.recommendation
        gained, how = f"the best lie gains {best.gain_text()}", EXPLAINED[best.rule][1]
        if not best.gain[1]:
            gained = "no lie gains anything"
        if isinstance(best.promise, Promised) and best.promise.alpha_min:
            most = best.promise.alpha_min.denominator // best.promise.alpha_min.numerator
            first = (
                f"Choose {best.title}: to voters who go by a poll of {most:,} ballots or fewer it promises that no lie "
                f"gains more than {approximately(best.promise.eta)}, and under the beliefs below {gained}."
            )
            return f"{first} {how}."
        easier = "the least" if best.gain[1] == min(e.gain[1] for e in self._counting) else "about the least"
        first = f"Choose {best.title}: under the beliefs below {gained}, {easier} of the rules that count every ballot."
        return f"{first} {how}; a lot decides {_percent(best.ties)} of the time at worst."

    @property
    def _counting(self) -> list[RuleFacts]:
        return [each for each in self.rules if each.rule != "random-dictator"]

    def sentences(self) -> list[str]:
        """The recommendation, what the theorems say at this size, and what was assumed."""
        sentences = [self.reason()]
        if not any(isinstance(each.promise, Promised) for each in self._counting):
            gains = join_words([f"{each.rule} {each.gain_text()}" for each in self._counting])
            sentences.append(
                f"With {self.voters:,} voters the theorems promise nothing about any rule that counts every ballot, so "
                f"these are computed gains: {gains}."
            )
        for each in self._counting:
            if each.needed is not None and each.needed > self.voters:
                sentences.append(
                    f"From {each.needed:,} voters on, {each.rule} with a margin made for it promises voters who go by a "
                    f"poll of {POLL.denominator} ballots that no lie gains more than {approximately(self.eta)}."
                )
                break
        sentences.append(
            "A gain is the most that any lie adds to expected utility, from 0 to 1, over all true rankings, if the "
            f"others vote independently by one of these beliefs: {'; '.join(each.words for each in self.beliefs)}."
        )
        if any(each.confidence is not None for each in self.rules):
            sentences.append(
                "Where a gain is given as a range, or as at most a number, elections were drawn at random; it holds with "
                f"confidence {to_text(CONFIDENCE)} for each rule."
            )
        half = (self.candidates + 1) // 2
        sentences.append(
            f"Honest means for approval to tick one's first {half}, and for score to give points in even steps; to "
            "exaggerate is a lie."
        )
        sentences.append(
            "Only to draw one ballot by lot (random-dictator) promises that no lie pays, at any size; then chance elects."
        )
        return sentences


def choose_rule(
    voters: int,
    candidates: int,
    eta: Fraction,
    beliefs: Sequence[StatedBelief] = (),
    sampling: Sampling = USUAL,
) -> RuleChoice:
    """The rules that fit an electorate, each with its largest gain under the stated beliefs and those `beliefs`.

    Guarantee: the largest gain of each rule over all these beliefs, all true rankings, lies and utilities in [0, 1] lies
    between its two ends: for certain where its confidence is None, else with that probability over the draws. Promises
    are those of `strategyproofness`. How often a lot decides is bounded in the same way.
    """
    if not 3 <= candidates <= len(NAMES):
        raise WrongUse(
            f"rules are compared for 3 to {len(NAMES)} candidates, not for {candidates}; between two, the majority "
            "decides, and no lie pays"
        )
    if not 2 <= voters <= MOST_VOTERS:
        raise WrongUse(
            f"gains are computed for 2 to {MOST_VOTERS:,} voters, not for {voters:,}; ask hubbub vote guarantee what is "
            "promised to more"
        )
    every = (*stated_beliefs(candidates), *beliefs)
    contests = [_contest(rule, voters, candidates, eta) for rule in EXPLAINED if rule != "random-dictator"]
    if candidates > 4:
        contests = [each for each in contests if each.kind != SCORE]  # thousands of lies
    facts = [
        _facts(
            contest,
            voters,
            candidates,
            eta,
            every,
            replace(sampling, draws=sampling.draws or (DRAWS if candidates < 5 else FEWER_DRAWS)),
        )
        for contest in contests
    ]
    alone = rules.make("random-dictator")
    facts.append(
        RuleFacts(
            rule=alone.name,
            margin=None,
            gains=tuple((each.name, (Fraction(0), Fraction(0))) for each in every),
            confidence=None,
            ties=(Fraction(1), Fraction(1)),
            promise=strategyproofness(alone, voters=voters, candidates=candidates, truncated=False, eta=eta),
            needed=2,
        )
    )
    facts.sort(key=lambda each: (each.rule == alone.name, each.gain[1]))
    return RuleChoice(voters=voters, candidates=candidates, eta=eta, beliefs=every, rules=tuple(facts))


def computed_gains(voters: int, candidates: int) -> dict[str, str]:
    """The largest gain under the stated beliefs by each rule without a margin, as text; none where that takes long.

    Guarantee: that of `choose_rule`.
    """
    if not 3 <= candidates <= 4 or not 2 <= voters <= QUICK_VOTERS:
        return {}
    beliefs, sampling = stated_beliefs(candidates), Sampling(draws=DRAWS)
    plain = [Contest(kind=rule) for rule in ("plurality", "instant-runoff", "borda")]
    return {
        each.kind: _facts(each, voters, candidates, Fraction(1, 2), beliefs, sampling).gain_text() for each in plain
    }


def _contest(rule: str, voters: int, candidates: int, eta: Fraction) -> Contest:
    """A rule with its margin: B* where somebody can be that far behind, else the best for beliefs of quarters."""
    if rule not in KINDS:
        return Contest(kind=rule, top=candidates - 1 if rule == SCORE else None)
    margin = default_margin(rule, voters, candidates, eta)
    if margin >= voters:
        margin = best_margin(rule, voters, candidates, Fraction(1, 4))
    return Contest(kind=rule, margin=margin)


def _facts(
    contest: Contest,
    voters: int,
    candidates: int,
    eta: Fraction,
    beliefs: Sequence[StatedBelief],
    sampling: Sampling,
) -> RuleFacts:
    cases = [(stated, _truths(stated.belief)) for stated in beliefs]
    # One interval for each truth, and one for ties: all of them hold at once.
    parts = sum(len(truths) for _, truths in cases) + len(cases)
    careful = replace(sampling, confidence=1 - (1 - CONFIDENCE) / parts)
    gains: list[tuple[str, Bounds]] = []
    ties: list[Bounds] = []
    sampled = False
    for stated, truths in cases:
        belief = belief_in_ballots(stated.belief, contest)
        reports = list(dict.fromkeys(honest_ballot(truth, contest, candidates) for truth in truths))
        found = list(gains_of_truths(belief, voters, contest, reports, careful).values())
        gains.append((stated.name, (max(each.low for each in found), max(each.high for each in found))))
        ties.append(chance_of_a_lot(found[0].question, careful))
        sampled = sampled or ties[-1][0] < ties[-1][1] or any(each.confidence is not None for each in found)
    margin = None if contest.margin is None else Fraction(contest.margin)
    rule = rules.make(contest.kind, margin=margin, top=contest.top)
    needed = None
    if contest.kind in KINDS:
        needed = voters_needed(contest.kind, candidates, eta, POLL).always
    return RuleFacts(
        rule=contest.kind,
        margin=contest.margin,
        gains=tuple(gains),
        confidence=CONFIDENCE if sampled else None,
        ties=(max(low for low, _ in ties), max(high for _, high in ties)),
        promise=strategyproofness(
            rule, voters=voters, candidates=candidates, truncated=contest.kind == APPROVAL, eta=eta
        ),
        needed=needed,
    )


def _truths(belief: Belief) -> list[Ranking]:
    """One true ranking of those that differ only by names under which the belief is the same."""
    shares = dict(belief.shares)
    every = list(permutations(range(len(belief.candidates))))
    same = [
        names for names in every if all(shares.get(tuple(names[c] for c in r)) == share for r, share in belief.shares)
    ]
    seen: set[Ranking] = set()
    found = []
    for truth in every:
        if truth not in seen:
            found.append(truth)
            seen |= {tuple(names[c] for c in truth) for names in same}
    return found


def chance_of_a_lot(question: Question, sampling: Sampling) -> Bounds:
    """How likely a lot decides who wins, if all voters draw their ballots from the belief.

    Guarantee: the chance lies between the two; for certain where they are equal, else with probability at least the
    confidence over the draws (Hoeffding).
    """
    belief, contest, voters = question.counted_belief, question.contest, question.voters
    m, support = len(belief.candidates), [ranking for ranking, _ in belief.shares]

    def is_tied(batch: Any) -> Any:
        return (lotteries(contest, Tally(support, m, batch)) < denominator(contest, m)).all(axis=1)

    if number_of_profiles(belief, voters) <= _EXACT_TIES:
        weights = Weights(belief, voters)
        total = sum(
            weights.ways_to_make(row)
            for batch in every_profile(belief, voters)
            for row in batch[is_tied(batch)].tolist()
        )
        return Fraction(total, weights.total), Fraction(total, weights.total)
    draws = sampling.draws or DRAWS
    drawn = draw_others(belief, voters, draws, sampling.source or SystemSource())
    mean = Fraction(int(np.count_nonzero(is_tied(drawn))), draws)
    reach = rounded((log(2 / (1 - sampling.confidence)) / (2 * ball(draws))).sqrt(), up=True)
    return max(mean - reach, Fraction(0)), min(mean + reach, Fraction(1))


def _percent(bounds: Bounds) -> str:
    """A chance in hundredths, as a whole number or a range."""
    low, high = (100 * to_float(bounds[0], round_up=False), 100 * to_float(bounds[1], round_up=True))
    if round(low) == round(high):
        return f"{round(high)} %" if high >= 1 or not high else "less than 1 %"
    return f"{round(low)} to {round(high)} %"
