"""A risk-limiting audit of an instant runoff by comparing paper ballots with their records, one by one.

Each assertion of :mod:`hubbub.voting.risk_limiting.assertions` has a diluted margin: its margin over all ballots. Papers are
drawn with replacement and compared with their records. Where no paper tells against its record, the Kaplan-Markov bound
confirms an assertion of diluted margin mu at risk alpha with 2 gamma ln(1/alpha)/mu papers (Stark 2010; gamma = 1.1 as
usual). All assertions are checked with the same papers, so the least margin says how many.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.noise.source import PublicDice
from hubbub.numeric.exact import ball, log, precision, to_text, upper
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import below
from hubbub.voting.result import Result
from hubbub.voting.risk_limiting.assertions import Assertion, assertions_for

GAMMA: Final = Fraction(11, 10)  # the error inflation factor
_MOST_DRAWN: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What must be confirmed, how many papers that takes, and which were drawn by the public words."""

    candidates: tuple[str, ...]
    winner: str
    ballots: int
    risk: Fraction
    assertions: tuple[Assertion, ...]
    papers: int
    dice: str
    sample: tuple[int, ...]  # numbers of ballots, from 1, in the order of the draws

    def as_json(self) -> dict[str, Any]:
        return {
            "winner": self.winner,
            "ballots": self.ballots,
            "risk": to_text(self.risk),
            "gamma": to_text(GAMMA),
            "assertions": [
                {
                    "kind": "NEB" if each.left is None else "NEN",
                    "stays": self.candidates[each.stays],
                    "other": self.candidates[each.other],
                    "left": None if each.left is None else [self.candidates[i] for i in each.left],
                    "margin": each.margin,
                    "papers": papers_needed(each.margin, self.ballots, self.risk),
                    "words": each.sentence(self.candidates),
                }
                for each in self.assertions
            ],
            "papers": self.papers,
            "dice": self.dice,
            "sample": list(self.sample),
            "words": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """What is to be done, and what it shows."""
        return [
            f"{self.winner} won if all {len(self.assertions)} assertions are true.",
            f"Look at {self.papers:,} papers, drawn by public words from {self.ballots:,} (some perhaps twice).",
            f"If each paper agrees with its record, a wrong winner would have been confirmed with a chance of at most "
            f"{to_text(self.risk)}.",
            "If one does not agree, draw more papers, or count all of them by hand: this sheet does not say how many.",
            "The records must be written down, and the papers kept, before the public words are said.",
        ]


def papers_needed(margin: int, ballots: int, risk: Fraction) -> int:
    """How many papers confirm an assertion if none tells against its record.

    Guarantee: at least 2 gamma ln(1/risk)/mu for the diluted margin mu = margin/ballots, and so at least as many as the
    Kaplan-Markov bound takes: (1 - mu/(2 gamma))^n is then at most the risk.
    """
    if margin < 1 or not 0 < risk < 1:
        raise WrongUse("a margin is at least one ballot, and a risk lies between 0 and 1")
    with precision(128):
        return ceil(upper(2 * ball(GAMMA) * log(1 / risk) * ball(Fraction(ballots, margin))))


def audit_of(ballots: Ballots, counted: Result, risk: Fraction, dice: str) -> Audit:
    """The audit of an instant runoff that was counted from these ballots, its papers drawn from public words.

    Guarantee: the assertions imply the winner, whatever lots were drawn on the way: where a lot decided who wins, there
    is no such set, and that is refused. Numbers are drawn independently and evenly among all ballots, if the words
    were not known before the records were.
    """
    assertions = assertions_for(ballots, counted.winner)
    total = ballots.voters
    papers = papers_needed(min(each.margin for each in assertions), total, risk)
    if papers > min(total, _MOST_DRAWN):
        raise WrongUse(
            f"{papers:,} papers would have to be looked at, of {total:,}; the margin is too small for a sample, so count "
            "all papers by hand"
        )
    source = PublicDice(dice)
    return Audit(
        candidates=ballots.candidates,
        winner=counted.winner_name,
        ballots=total,
        risk=risk,
        assertions=assertions,
        papers=papers,
        dice=source.sentence,
        sample=tuple(below(total, source) + 1 for _ in range(papers)),
    )
