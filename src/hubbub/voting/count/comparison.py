"""All rules side by side on the same ballots, and who would win each pair: what honesty costs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

from hubbub.noise.source import Source
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.count.counted import Counted, count
from hubbub.voting.figures import approximately
from hubbub.voting.guarantees.strategyproofness import Promised
from hubbub.voting.rules import rules
from hubbub.voting.rules.margins import KINDS
from hubbub.voting.rules.pairwise import Pairwise, pairwise
from hubbub.voting.ties import RANDOM, Ties

COMPARED: Final = tuple(name for name in rules.SUMMARY if name != "positional")  # which has no points of its own


_GAINS_TO: Final = 101  # voters, as in rule_choice, which is not loaded for a sentence


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The same ballots counted by every rule, those with a margin with the one that `eta` needs.

    `gains` are what the best lie gains by rules without a promise, for an electorate of this size, as text.
    """

    counted: tuple[Counted, ...]
    pairs: Pairwise | None
    gains: Mapping[str, str]

    def computed_gain(self, each: Counted) -> str | None:
        """What the best lie gains where nothing is promised; None where it is not computed."""
        if isinstance(each.honesty, Promised):
            return None
        margin = each.honesty.margin
        name = each.result.rule.name
        if name in KINDS and margin is not None and margin >= each.result.voters:
            name = "plurality"  # nobody can be struck out
        return self.gains.get(name)

    def as_json(self) -> list[dict[str, Any]]:
        """One object for each rule."""
        beats = None if self.pairs is None else self.pairs.winner
        return [
            {
                "rule": each.result.rule.name,
                "winner": each.result.winner_name,
                "condorcet_winner_elected": None if beats is None else each.result.winner == beats,
                "plain": each.struck_nobody,
                "computed_gain": self.computed_gain(each),
                "lottery": each.chances(),
                "rounds": len(each.result.rounds),
                **each.claims(),
            }
            for each in self.counted
        ]

    def rows(self) -> list[tuple[str, str, str, str, str, str]]:
        """Rule, winner, her chance, what a lie gains, for whom, whether she beats everybody one to one."""
        beats = None if self.pairs is None else self.pairs.winner
        found = []
        for each in self.counted:
            promised, winner = each.honesty, each.result.winner
            chance = Fraction(0) if each.lottery is None else each.lottery[winner]
            sure = "certain" if chance == 1 else (f"{float(chance):.3f}" if chance else "")
            computed = self.computed_gain(each)
            gained, who = "no promise" if computed is None else f"no promise; {computed}", ""
            if isinstance(promised, Promised):
                gained = f"<= {approximately(promised.eta)}" if promised.eta else "nothing"
                least = promised.alpha_min
                who = f"{approximately(least, digits=3)}-coarse" if least else "any"
            best = "" if beats is None else ("yes" if winner == beats else "no")
            found.append((each.result.rule.name, each.result.winner_name, sure, gained, who, best))
        return found

    def sentences(self) -> list[str]:
        """Who beats everybody, what was drawn and is not promised, and which of the rules came to plain plurality."""
        sentences = [] if self.pairs is None else [self.pairs.sentence()]
        drawn = [
            each.result.rule.name for each in self.counted if each.lottery and each.lottery[each.result.winner] < 1
        ]
        if drawn:
            sentences.append(f"A lot chose the winner of {', '.join(drawn)}: another draw may choose another.")
        if not all(isinstance(each.honesty, Promised) for each in self.counted):
            sentences.append('"No promise" means that a lie may pay, and that no bound on what it gains is known here.')
        first = self.counted[0].result
        if not self.gains and not (3 <= len(first.candidates) <= 4 and first.voters <= _GAINS_TO):
            sentences.append(
                f"What a lie gains is computed beside it for 3 or 4 candidates and up to {_GAINS_TO} voters; for more "
                "voters ask hubbub vote choose or hubbub vote gain."
            )
        if any(self.computed_gain(each) is not None for each in self.counted):
            sentences.append(
                "The number beside it is the largest gain under the beliefs of hubbub vote choose, for so many voters "
                "and candidates."
            )
        for each in self.counted:
            if each.struck_nobody is not None:
                sentences.append(f"{each.result.rule.name}: {each.struck_nobody[0].lower()}{each.struck_nobody[1:]}")
        return sentences


def compare(
    ballots: Ballots,
    eta: Fraction,
    source: Callable[[], Source],
    ties: Ties = RANDOM,
    *,
    dice: str | None = None,
    gains: Mapping[str, str] = MappingProxyType({}),
) -> Comparison:
    """Count by every rule that needs no more than a margin; each draws from a `source` of its own.

    Guarantee: each row is that of `count`; the pairs are exact.
    """
    ballots.strictly("a comparison of all rules")
    found = []
    for name in COMPARED:
        margin = rules.ForGain(eta) if name in rules.MARGINED else None
        found.append(count(rules.make(name, margin=margin, ties=ties), ballots, eta, source(), dice=dice))
    return Comparison(counted=tuple(found), pairs=pairwise(ballots), gains=gains)
