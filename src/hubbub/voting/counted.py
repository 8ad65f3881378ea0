"""An election counted, with everything that is said about it: JSON and sentences from one value.

``hubbub vote tally`` prints it. A promise that only a belief in one single ranking could claim is told as none, and of
a count in which the margin struck nobody out it is told first what it was.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from hubbub.errors import Refused
from hubbub.exact import to_text
from hubbub.guarantees.verdict import Verdict
from hubbub.noise.source import Source
from hubbub.voting.ballot_file import BallotFile
from hubbub.voting.ballots import Ballots
from hubbub.voting.choices import Choices
from hubbub.voting.efficiency import close_to_optimal, pareto
from hubbub.voting.figures import approximately, float_up, verdict_json
from hubbub.voting.honesty import Honesty, NotPromised, alternatives, honesty
from hubbub.voting.protocol import Lottery, Rule
from hubbub.voting.punishing import Mix
from hubbub.voting.result import Draw, Result, Round
from hubbub.voting.struck_out import nobody_struck_out


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A result, and what is promised and was found about it.

    `lottery` is the exact law of the winner, None where ties branch too much; `instead` what to choose where nothing
    is promised and something could be.
    """

    result: Result
    lottery: Lottery | None
    honesty: Honesty
    instead: Choices | None
    pareto: Verdict
    close_to_optimal: Verdict

    @property
    def struck_nobody(self) -> str | None:
        """One sentence where the margin struck nobody out."""
        return nobody_struck_out(self.result)

    @property
    def punishing(self) -> Fraction | None:
        """The chance that the punishing rule had."""
        rule = self.result.rule
        return rule.probability if isinstance(rule, Mix) else None

    def chances(self) -> dict[str, str] | None:
        """The chance of everybody who has one."""
        if self.lottery is None:
            return None
        named = zip(self.result.candidates, self.lottery, strict=True)
        return {name: to_text(chance) for name, chance in named if chance}

    def claims(self) -> dict[str, Any]:
        """What is promised about lies, and found about the winner."""
        return {
            "promise": self.honesty.promise(),
            "guarantee": self.honesty.as_json(),
            "choices": None if self.instead is None else self.instead.as_json(),
            "pareto": verdict_json(self.pareto),
            "close_to_optimal": verdict_json(self.close_to_optimal),
        }

    def as_json(self, read: BallotFile) -> dict[str, Any]:
        """The whole answer, with where the ballots came from."""
        result, ballots = self.result, read.ballots
        return {
            "winner": result.winner_name,
            "rule": result.rule.name,
            "words": self.sentences(),
            "rounds": [_round(counted, result.candidates) for counted in result.rounds],
            "ties": [_draw(draw, secure=result.secure) for draw in result.draws],
            "lottery": self.chances(),
            **self.claims(),
            "punishing_probability": None if self.punishing is None else float_up(self.punishing),
            "ballots": {
                "format": read.format,
                "title": read.title,
                "candidates": list(result.candidates),
                "voters": ballots.voters,
                "complete": ballots.complete,
                "truncated": ballots.truncated,
                "blank": ballots.blank,
                "different": len(ballots.rankings),
                "weights": "numbers of identical ballots, one voter each",
            },
            "reading": {**read.reading.rules(), "changed": dict(read.changed)},
        }

    def sentences(self) -> list[str]:
        """What is to be said, the first first: that nobody was struck out, who wins, what is promised."""
        said = [] if self.struck_nobody is None else [self.struck_nobody]
        said.append(f"{self.result.winner_name} wins.")
        said += self.honesty.sentences()
        if self.instead is not None:
            said += self.instead.sentences()
        if self.punishing is not None:
            often = " A smaller eta makes it rarer." if self.punishing > Fraction(1, 100) else ""
            said.append(f"The punishing rule had a chance of {approximately(self.punishing, digits=3)}.{often}")
        for what, verdict in (("Pareto efficient", self.pareto), ("Close to optimal", self.close_to_optimal)):
            told = verdict_json(verdict)
            said.append(f"{what}: {told['answer']}, {told['reason']}.")
        return said

    def drawn(self) -> list[str]:
        """Every draw, in a sentence each."""
        told = []
        for draw in self.result.draws:
            said = _draw(draw, secure=self.result.secure)
            among = ", ".join(f"{name} {chance}" for name, chance in zip(said["among"], said["chances"], strict=True))
            told.append(f"Drawn from {said['source']}, {draw.why}: {draw.chosen} (of {among}).")
        return told


def count(rule: Rule, ballots: Ballots, eta: Fraction, source: Source) -> Counted:
    """Count, and say what it promises at `eta`.

    Guarantee: the promise is that of `honesty` for this electorate, the verdicts those of `efficiency` for this result.
    """
    result = rule.run(ballots, source)
    size = (ballots.voters, len(ballots.candidates), ballots.truncated > 0)
    promised = honesty(rule, voters=size[0], candidates=size[1], truncated=size[2], eta=eta, secure=result.secure)
    instead = None
    if isinstance(promised, NotPromised) and promised.margin is not None:
        instead = alternatives(rule, voters=size[0], candidates=size[1], truncated=size[2], eta=eta)
    return Counted(
        result=result,
        lottery=_lottery(rule, ballots),
        honesty=promised,
        instead=instead,
        pareto=pareto(ballots, result.winner),
        close_to_optimal=close_to_optimal(result, ballots),
    )


def _lottery(rule: Rule, ballots: Ballots) -> Lottery | None:
    try:
        return rule.lottery(ballots)
    except Refused:
        return None


def _round(counted: Round, names: tuple[str, ...]) -> dict[str, Any]:
    by_count = sorted(counted.counts, key=lambda pair: (-pair[1], pair[0]))
    out = [names[i] for i in counted.eliminated]
    return {
        "counts": {names[i]: count for i, count in by_count},
        "struck_out": out,
        "eliminated": out,
        "margin": counted.margin,
        "exhausted": counted.exhausted,
        "counted": counted.what,
        "transfers": [
            {
                "from": names[moved.origin],
                "to": None if moved.target is None else names[moved.target],
                "ballots": moved.ballots,
            }
            for moved in counted.transfers
        ],
    }


def _draw(draw: Draw, *, secure: bool) -> dict[str, Any]:
    return {
        "why": draw.why,
        "among": list(draw.among),
        "chances": [to_text(chance) for chance in draw.chances],
        "chosen": draw.chosen,
        "source": "the operating system" if secure else "a script",
    }
