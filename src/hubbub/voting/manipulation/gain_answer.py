"""The answer to "what does a lie gain?": a value with its JSON and its sentences, which ``hubbub vote gain`` prints."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from hubbub.guarantees.verdict import Undecided, Verdict
from hubbub.numeric.exact import to_float, to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately, as_given, float_up, verdict_json
from hubbub.voting.guarantees.guarantee import gain_bound
from hubbub.voting.manipulation import gain as gains
from hubbub.voting.manipulation.beliefs import Belief, ranking_text
from hubbub.voting.manipulation.gain import BOUND, CONFIDENCE, ENUMERATE, SAMPLE, USUAL, WAYS, Gain, Question, Sampling

MOST_LISTED: Final = 40  # rankings of a belief
LONGEST_EXACT: Final = 200  # characters of an exact rational in the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class GainAnswer:
    """A gain, what the belief proves about it (`bound`, where a theorem does), and whether it is at most `eta`."""

    gain: Gain
    bound: Gain | None
    eta: Fraction
    verdict: Verdict

    @property
    def general(self) -> Fraction | None:
        """What is proved for every belief of the same coarseness."""
        question = self.gain.question
        if self.bound is None or question.contest.margin is None:
            return None
        names, contest = question.belief.candidates, question.contest
        return gain_bound(
            contest.kind, question.voters, len(names), contest.elimination_margin, question.belief.coarseness
        )

    def as_json(self) -> dict[str, Any]:
        found, question = self.gain, self.gain.question
        names, contest = question.belief.candidates, question.contest
        exact = to_text(found.high) if found.low == found.high else ""
        known = found.high if found.confidence is None else found.estimate or Fraction(0)
        only_bounded = found.method == BOUND or (found.confidence is not None and known <= 0)
        text = exact if 0 < len(exact) <= LONGEST_EXACT else approximately(known, digits=6)
        fields: dict[str, Any] = {
            "rule": contest.kind,
            "voters": question.voters,
            "belief": belief_text(question.belief),
            "coarseness": to_text(question.belief.coarseness),
            "truth": ranking_text(question.truth, names),
            "margin": contest.margin,
            "ties": "random" if contest.order is None else ranking_text(contest.order, names),
            "method": found.method,
            "gain": None if only_bounded else float_up(known),
            "gain_text": f"at most {approximately(found.high, digits=6)}" if only_bounded else text,
            "exact": found.low == found.high,
            "gain_low": to_float(found.low, round_up=False),
            "gain_high": float_up(found.high),
            "gain_high_text": approximately(found.high),
            "lie": None if found.lie is None else ranking_text(found.lie, names),
            "utility": None if found.worth is None else found.worth.text(),
            "over": "all utilities consistent with the truth, a supremum"
            if question.worth is None
            else "the given utility",
        }
        if found.confidence is not None:
            fields |= {"confidence": to_text(found.confidence), "draws": found.draws}
        if self.bound is not None and self.general is not None:
            fields |= {
                "bound": float_up(self.bound.high),
                "bound_text": approximately(self.bound.high),
                "bound_for_coarseness": float_up(self.general),
                "bound_for_coarseness_text": approximately(self.general),
            }
        verdict = verdict_json(self.verdict)
        if "witness" in verdict:
            verdict["witness"]["belief"] = belief_text(question.belief)
        return {**fields, "eta": as_given(self.eta), "eta_text": to_text(self.eta), "verdict": verdict}

    def title(self) -> str:
        question = self.gain.question
        margin = "" if question.contest.margin is None else f", margin {question.contest.margin:,}"
        truth = ranking_text(question.truth, question.belief.candidates)
        return f"{question.contest.kind}{margin}, {question.voters:,} voters, truth {truth}"

    def sentences(self) -> list[str]:
        """What the best lie pays, what it is, and what is proved."""
        found, question = self.gain, self.gain.question
        sentences = [self._gain_sentence()]
        if found.method == SAMPLE and found.lie is None:
            sentences.append("No draw met a gain. That does not make it 0.")
        if found.lie is not None and found.worth is not None:
            lie_text = ranking_text(found.lie, question.belief.candidates)
            which = "In the draws it did best to" if found.method == SAMPLE else "It is to"
            worth = "it pays most for" if question.worth is None else "that is for"
            voted = f"report {lie_text}" if lie_text else "stay at home"
            sentences.append(f"{which} {voted}; {worth} the utility {found.worth.text()}.")
        if self.bound is not None and self.general is not None:
            if found.method != BOUND and self.bound.high < 1:
                sentences.append(f"Proved for this belief: no lie gains more than {approximately(self.bound.high)}.")
            if self.general < 1:
                general, coarse = approximately(self.general), question.belief.coarseness
                sentences.append(f"Proved for every belief of coarseness {coarse}: {general} at most.")
            elif self.bound.high == 1:
                sentences.append(
                    "The margin proves nothing for this belief: see hubbub vote guarantee for one that does."
                )
        return sentences

    def _gain_sentence(self) -> str:
        found, high = self.gain, approximately(self.gain.high)
        if found.method == SAMPLE:
            low, sure = approximately(found.low, up=False), to_text(found.confidence or CONFIDENCE)
            return (
                f"The best lie gains between {low} and {high}, with confidence {sure} "
                f"({found.draws or 0:,} random elections)."
            )
        held = {ENUMERATE: f"exactly, by {WAYS[ENUMERATE]}", BOUND: "an upper bound, proved"}.get(
            found.method, f"by {WAYS[found.method]}, errors of rounding included"
        )
        if found.high == 0:
            return f"No lie gains anything ({held})."
        if found.method == BOUND:
            return f"No lie gains more than {high} ({held})."
        if found.lie is None and self.bound is not None and self.bound.high < found.high:
            return f"No lie is known to gain anything; at most {high} ({held})."
        if found.lie is None:
            return f"The best lie gains {high} at most, and maybe nothing ({held})."
        return f"The best lie gains {high} ({held})."

    def verdict_sentence(self) -> str:
        """Whether the gain is at most eta, in one sentence."""
        fields = verdict_json(self.verdict)
        return f"A gain of at most {approximately(self.eta)}: {fields['answer']}; {fields['reason']}."


def answer(question: Question, eta: Fraction, method: str | None = None, sampling: Sampling = USUAL) -> GainAnswer:
    """The gain by `method`, or by the one that says most in a few seconds, and whether it is at most `eta`.

    Guarantee: that of `gain` and of `at_most`; a bound decides where a sample cannot.
    """
    found = gains.gain(question, method, sampling)
    bound = None
    if found.method == BOUND:
        bound = found
    elif question.contest.eliminates and question.contest.order is None:
        bound = gains.gain(question, BOUND)
    verdict = gains.at_most(found, eta)
    if bound is not None and isinstance(verdict, Undecided) and bound.high <= eta:
        verdict = gains.at_most(bound, eta)
    return GainAnswer(gain=found, bound=bound, eta=eta, verdict=verdict)


def belief_text(belief: Belief) -> str:
    """The belief as text, unless it came from a file and would fill the page."""
    many = len(belief.shares) > MOST_LISTED
    return f"{len(belief.shares):,} rankings" if many else belief.text()
