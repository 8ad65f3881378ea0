"""What one election promises its voters: how little a lie can gain, for which beliefs, and why not where nothing is.

A promise that only a belief in one single ranking could claim is none: an alpha_min above 1/2 is `NotPromised`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from hubbub.numeric.exact import Infinite, to_text
from hubbub.numeric.format import short
from hubbub.runtime.frozen import dataclass
from hubbub.voting.figures import approximately, as_given, float_up
from hubbub.voting.guarantees.choices import REAL, Choices, choices, coarse_sentence, covers
from hubbub.voting.protocol import Rule
from hubbub.voting.rules import margins
from hubbub.voting.rules.elimination import ApproximateRunoff, RepeatedPlurality, ScoringElimination
from hubbub.voting.rules.points import Borda, Plurality, Positional, points_range
from hubbub.voting.rules.punishing import Mix, Punishing
from hubbub.voting.rules.runoff import InstantRunoff
from hubbub.voting.rules.selection import FirstInOrder, Lot, RandomDictator
from hubbub.voting.rules.threshold import ForGain, threshold
from hubbub.voting.ties import FixedTies

_UTILITY = "a voter's utility lies in [0, 1], and she maximises its expectation"
_ONE_EACH = "each ballot is one voter's, and each voter counts for one"
_BELIEF = (
    "a voter believes that the others' ballots are drawn independently from one distribution, whose probabilities are "
    "whole multiples of some beta of at least alpha_min"
)
_DRAWN = "ties at the end are drawn uniformly from the operating system's entropy after the ballots are in"
_COMPLETE = "every ballot ranks all candidates, and a voter thinks of no other ballots"
_TRUNCATED = (
    "ballots may be truncated, and the distribution is over rankings of every length; a ballot that ranks nobody who "
    "is left counts for nobody"
)


_KIN = {"plurality": "repeated-plurality", "instant-runoff": "approximate-runoff"}  # the rest: scoring-elimination


@dataclass(frozen=True, slots=True, kw_only=True)
class Promised:
    """No lie gains more than `eta` in expected utility, for beliefs that are at least `alpha_min`-coarse.

    With `utility_apart`, for voters to whom two candidates are worth the same, or differ by at least that.
    """

    eta: Fraction
    alpha_min: Fraction
    theorem: str
    assumptions: tuple[str, ...]
    margin: int | None = None
    remarks: tuple[str, ...] = ()
    utility_apart: Fraction | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "holds": True,
            "eta": as_given(self.eta),
            "eta_text": to_text(self.eta),
            "alpha_min": float_up(self.alpha_min),
            "utility_apart": None if self.utility_apart is None else float_up(self.utility_apart),
            "utility_apart_text": None if self.utility_apart is None else to_text(self.utility_apart),
            "margin": self.margin,
            "theorem": self.theorem,
            "assumptions": list(self.assumptions),
            "remarks": list(self.remarks),
        }

    def promise(self) -> dict[str, Any]:
        """The short of it: whether it is empty, and why."""
        why = covers(self.alpha_min)
        return {"empty": False, "why": why, "alpha_min": float_up(self.alpha_min), "margin": self.margin}

    def sentences(self) -> list[str]:
        gained = f"more than {approximately(self.eta)} in expected utility" if self.eta else "anything"
        who = "whatever a voter believes"
        if self.alpha_min:
            who = f"if a voter's belief is at least {approximately(self.alpha_min, digits=3)}-coarse"
        if self.utility_apart is not None:
            apart = approximately(self.utility_apart, digits=3)
            who += f" and her utilities are equal or at least {apart} apart"
        sentences = [f"No lie gains {gained}, {who} ({self.theorem})."]
        if self.alpha_min:
            sentences.append(coarse_sentence(self.alpha_min))
        return [*sentences, *(f"Note: {remark}." for remark in self.remarks)]


@dataclass(frozen=True, slots=True, kw_only=True)
class NotPromised:
    """Nothing is promised at `eta`, and why; `alpha_min` is the coarseness that only one single ranking would have."""

    eta: Fraction
    reason: str
    margin: int | None = None
    alpha_min: Fraction | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "holds": False,
            "eta": as_given(self.eta),
            "eta_text": to_text(self.eta),
            "alpha_min": None,
            "margin": self.margin,
            "reason": self.reason,
        }

    def promise(self) -> dict[str, Any]:
        """The short of it: that it is empty, and why."""
        least = None if self.alpha_min is None else float_up(self.alpha_min)
        return {"empty": True, "why": self.reason, "alpha_min": least, "margin": self.margin}

    def sentences(self) -> list[str]:
        return [f"Nothing is promised about lies: {self.reason}."]


Strategyproofness: TypeAlias = Promised | NotPromised


def strategyproofness(
    rule: Rule, *, voters: int, candidates: int, truncated: bool, eta: Fraction, secure: bool = True
) -> Strategyproofness:
    """What `rule` promises in an election of this size; `truncated` says whether ballots may leave candidates out.

    Guarantee: `Promised` follows from Theorem B1 with its explicit constants (elimination rules), from no dependence
    on other ballots (random dictator, punishing), or from there being two candidates only; under the assumptions it
    lists. Everything else is `NotPromised`: what only a belief in one single ranking could claim, a fixed order of ties
    with three candidates or more (B2), a last stage that is not strategy-proof, a margin too narrow for eta, draws
    from elsewhere than the operating system.
    """
    if not secure:
        return NotPromised(eta=eta, reason="draws did not come from the operating system")
    if isinstance(rule, Mix):
        return _promise_of_mix(rule, voters, candidates, truncated, eta)
    kinds = _TRUNCATED if truncated else _COMPLETE
    if isinstance(rule, RandomDictator | Punishing):
        single = (_ONE_EACH, _UTILITY, _DRAWN.replace("ties at the end are", "the ballot that decides is"))
        return Promised(eta=Fraction(0), alpha_min=Fraction(0), theorem="one ballot decides alone", assumptions=single)
    majority = Plurality | Borda | InstantRunoff | RepeatedPlurality | ApproximateRunoff
    if candidates == 2 and isinstance(rule, majority):  # each elects whom more voters prefer, however ties are broken
        two = (_ONE_EACH, _UTILITY)
        return Promised(eta=Fraction(0), alpha_min=Fraction(0), theorem="two candidates only", assumptions=two)
    if isinstance(rule, Plurality | Borda | Positional | InstantRunoff):
        kin = _KIN.get(rule.name, "scoring-elimination")
        return NotPromised(
            eta=eta,
            reason=f"{rule.name} can reward a lie even of voters who know little of the others; {kin} is the rule like it that promises",
        )
    if not isinstance(rule, RepeatedPlurality | ApproximateRunoff | ScoringElimination):
        return NotPromised(eta=eta, reason=f"no theorem here is about {rule.name} (Theorem 77 says what one needs)")
    span = 1
    if isinstance(rule, ScoringElimination):
        span = points_range(rule.stage.points(candidates), truncated=truncated)
        if not isinstance(rule.then, Lot | FirstInOrder | RandomDictator):
            return NotPromised(eta=eta, reason=f"the last stage must be strategy-proof, and {rule.then.name} is not")
    elif isinstance(rule.ties, FixedTies):
        return NotPromised(
            eta=eta,
            reason="ties are broken by a fixed order, and with three candidates or more plurality then rewards a lie "
            "by about 0.4/n even when all are equally likely to win (B2); let them be drawn",
        )
    if voters < 2:
        return NotPromised(eta=eta, reason="with one voter there are no others to hold beliefs about")
    margin = threshold(rule.margin, rule.kind, voters, candidates, span)
    alpha = margins.alpha_min(rule.kind, voters, candidates, eta, margin, points_range=span)
    if isinstance(alpha, Infinite) or alpha > 1:
        if isinstance(alpha, Infinite):
            why = f"the margin {margin:,} is too narrow for {voters:,} voters"
        elif margin > margins.default_margin(rule.kind, voters, candidates, eta, points_range=span):
            why = f"the margin {margin:,} is too wide for {voters:,} voters: it may keep whom nobody expects to be near"
        else:
            why = f"{voters:,} voters are too few for the proof behind this rule to cover anybody"
        return NotPromised(eta=eta, reason=why, margin=margin, alpha_min=alpha if isinstance(alpha, Fraction) else None)
    if alpha > REAL:
        alpha_text = approximately(alpha, digits=3)
        why = f"it would cover only {alpha_text}-coarse beliefs, and only who is sure of one single ranking has one"
        return NotPromised(eta=eta, reason=why, margin=margin, alpha_min=alpha)
    assumptions = (_BELIEF, _UTILITY, _ONE_EACH, kinds, _DRAWN)
    return Promised(eta=eta, alpha_min=alpha, theorem="Theorem B1", assumptions=assumptions, margin=margin)


def alternatives(rule: Rule, *, voters: int, candidates: int, truncated: bool, eta: Fraction) -> Choices | None:
    """What to choose where a rule with a margin promises nothing at `eta`; None for a rule without one.

    Guarantee: the rules named are `Promised` at eta for this electorate, and what is offered is that of `choices`.
    """
    inner = rule.rule if isinstance(rule, Mix) else rule
    if not isinstance(inner, RepeatedPlurality | ApproximateRunoff | ScoringElimination) or candidates < 3:
        return None
    span = 1
    if isinstance(inner, ScoringElimination):
        span = points_range(inner.stage.points(candidates), truncated=truncated)
    others = (RepeatedPlurality(margin=ForGain(eta)), ApproximateRunoff(margin=ForGain(eta)), RandomDictator())
    real = [
        other.name
        for other in others
        if isinstance(
            strategyproofness(other, voters=voters, candidates=candidates, truncated=truncated, eta=eta), Promised
        )
    ]
    return choices(inner.kind, voters, candidates, eta, tuple(real), points_range=span)


def _promise_of_mix(rule: Mix, voters: int, candidates: int, truncated: bool, eta: Fraction) -> Strategyproofness:
    """What is left of a gain when the punishing rule takes its share: nothing, for utilities coarse enough."""
    inner = strategyproofness(rule.rule, voters=voters, candidates=candidates, truncated=truncated, eta=eta)
    q, pairs = rule.probability, candidates * (candidates - 1)
    if isinstance(inner, NotPromised) or not inner.eta or not q:
        return inner
    if truncated and isinstance(rule.rule, ScoringElimination) and rule.rule.stage.points(candidates)[-1]:
        # To leave out the last candidate alone takes points from them, and costs nothing under the punishing rule.
        reason = "the mix punishes no ballot that leaves out the last candidate alone, who would score on a full one"
        return replace(inner, remarks=(*inner.remarks, reason))
    # q >= r/(1 + r) with r = eta n m (m - 1)/(2 alpha_u) says alpha_u >= eta n m (m - 1) (1 - q)/(2 q).
    needed = inner.eta * voters * pairs * (1 - q) / (q if truncated else 2 * q)
    if needed > 1:
        return inner
    apart = short(needed, 3)
    coarse = (
        f"her utilities for two candidates are equal or at least {apart} apart, and to order otherwise those that "
        "are worth the same to her is no lie"
    )
    return replace(
        inner,
        eta=Fraction(0),
        theorem=f"{inner.theorem} and Lemma 81, corrected",
        assumptions=(*inner.assumptions, coarse),
        utility_apart=needed,
    )
