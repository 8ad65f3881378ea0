"""An election counted, with everything that is said about it: JSON and sentences from one value.

``hubbub vote tally`` prints it. A promise that only a belief in one single ranking could claim is told as none, and of
a count in which the margin struck nobody out it is told beside the winner what it was, and who wins by instant runoff.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from hubbub.errors import Refused
from hubbub.guarantees.verdict import Undecided, Verdict
from hubbub.noise.source import Source
from hubbub.numeric.exact import to_text
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import TiesByHand
from hubbub.voting.count.by_hand import check_by_hand
from hubbub.voting.figures import approximately, float_up, verdict_json
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.guarantees.choices import Choices
from hubbub.voting.guarantees.efficiency import (
    close_to_optimal,
    no_elimination_note,
    pareto,
    runoff_instead,
    runoff_sentence,
)
from hubbub.voting.guarantees.strategyproofness import (
    NotPromised,
    Promised,
    Strategyproofness,
    alternatives,
    strategyproofness,
)
from hubbub.voting.protocol import Lottery, Rule
from hubbub.voting.recognition import check_voted
from hubbub.voting.result import Draw, Result, Round
from hubbub.voting.rules.points import Approval, Score, Star
from hubbub.voting.rules.punishing import Mix


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A result, and what is promised and was found about it.

    `lottery` is the exact law of the winner, None where ties branch too much; `instead` what to choose where nothing
    is promised and something could be; `dice` the public words that draws came from, None where there are none;
    `runoff` the law of the winner by instant runoff, where nobody was struck out.
    """

    result: Result
    lottery: Lottery | None
    honesty: Strategyproofness
    instead: Choices | None
    pareto: Verdict
    close_to_optimal: Verdict
    dice: str | None = None
    runoff: Lottery | None = None

    @property
    def struck_nobody(self) -> str | None:
        """What was counted where the margin struck nobody out."""
        return no_elimination_note(self.result)

    @property
    def beside_winner(self) -> str | None:
        """What is told beside the winner: what was counted where nobody was struck out, and who wins by runoff."""
        if self.struck_nobody is None or self.runoff is None:
            return self.struck_nobody
        return f"{self.struck_nobody} {runoff_sentence(self.result, self.runoff)}"

    @property
    def punishing(self) -> Fraction | None:
        """The chance that the punishing rule had."""
        rule = self.result.rule
        return rule.probability if isinstance(rule, Mix) else None

    def chances(self) -> dict[str, str] | None:
        """The chance of everybody who has one."""
        return self._law_by_name(self.lottery)

    def _law_by_name(self, law: Lottery | None) -> dict[str, str] | None:
        if law is None:
            return None
        named = zip(self.result.candidates, law, strict=True)
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
        result = self.result
        drawn = draws_json(result.draws, secure=result.secure, dice=self.dice)
        return {
            "winner": result.winner_name,
            "rule": result.rule.name,
            "words": self.sentences(),
            "nobody_struck_out": None
            if self.struck_nobody is None
            else {"words": self.beside_winner, "instant_runoff": self._law_by_name(self.runoff)},
            "rounds": [_round(counted, result.candidates) for counted in result.rounds],
            "ties": drawn,
            "draws": drawn,
            "dice": self.dice,
            "lottery": self.chances(),
            **self.claims(),
            "punishing_probability": None if self.punishing is None else float_up(self.punishing),
            "ballots": ballots_json(read),
            "reading": {**read.reading.rules(), "changed": dict(read.changed)},
        }

    def sentences(self) -> list[str]:
        """What is to be said, the first first: who wins, that nobody was struck out, what is promised."""
        sentences = [f"{self.result.winner_name} wins."]
        if self.beside_winner is not None:
            sentences.append(self.beside_winner)
        sentences += self.honesty.sentences()
        if self.instead is not None:
            sentences += self.instead.sentences()
        if self.punishing is not None:
            often = " A smaller eta makes it rarer." if self.punishing > Fraction(1, 100) else ""
            sentences.append(f"The punishing rule had a chance of {approximately(self.punishing, digits=3)}.{often}")
        for what, verdict in (("Pareto efficient", self.pareto), ("Close to optimal", self.close_to_optimal)):
            facts = verdict_json(verdict)
            answer = "no claim" if isinstance(verdict, Undecided) else facts["answer"]  # the result itself is decided
            sentences.append(f"{what}: {answer}, {facts['reason']}.")
        return sentences

    def draw_sentences(self, most: int | None = None) -> list[str]:
        """Every draw, in a sentence each, with at most so many of those it was among."""
        sentences = []
        for draw in draws_json(self.result.draws, secure=self.result.secure, dice=self.dice):
            pairs = list(zip(draw["among"], draw["chances"], strict=True))
            among = ", ".join(name if draw["by_hand"] else f"{name} {chance}" for name, chance in pairs[:most])
            more = f" and {len(pairs) - most:,} others" if most is not None and len(pairs) > most else ""
            sentences.append(draw_sentence(draw, f"{among}{more}"))
        return sentences


_UNFORETOLD: Final = "nobody could foretell the public words of the dice while votes were cast"
_EQUAL: Final = Undecided("some ballots rank candidates equal, and the count settled them")
_OTHER: Final = Undecided("the ballots hold no rankings")


def count(rule: Rule, ballots: Ballots, eta: Fraction, source: Source, *, dice: str | None = None) -> Counted:
    """Count, and say what it promises at `eta`; with `dice`, draws came from these public words.

    Guarantee: the promise is that of `strategyproofness` for this electorate, the verdicts those of `efficiency` for this result;
    with public words it holds if nobody could foretell them, which it says.
    """
    by_hand = isinstance(source, TiesByHand)
    if by_hand:
        check_by_hand(rule)
    result = rule.run(check_voted(ballots), source)
    voters, candidates, truncated = ballots.voters, len(ballots.candidates), ballots.truncated_voters > 0
    secure = result.secure or dice is not None
    promised = strategyproofness(
        rule, voters=voters, candidates=candidates, truncated=truncated, eta=eta, secure=secure
    )
    if by_hand:
        promised = NotPromised(eta=eta, reason="ties are broken by hand, by somebody who may have seen the votes")
    if dice is not None and isinstance(promised, Promised):
        promised = replace(promised, assumptions=(*promised.assumptions, _UNFORETOLD))
    instead = None
    if isinstance(promised, NotPromised) and promised.margin is not None:
        instead = alternatives(rule, voters=voters, candidates=candidates, truncated=truncated, eta=eta)
    other = _OTHER if isinstance(rule, Approval | Score | Star) else _EQUAL if len(ballots.levels) else None
    return Counted(
        result=result,
        lottery=None if by_hand else _lottery(rule, ballots),
        honesty=promised,
        instead=instead,
        pareto=pareto(ballots, result.winner) if other is None else other,
        close_to_optimal=close_to_optimal(result, ballots) if other is None else other,
        dice=dice,
        runoff=runoff_instead(result, ballots),
    )


def draws_json(draws: Sequence[Draw], *, secure: bool, dice: str | None = None) -> list[dict[str, Any]]:
    """Every draw, and where it came from.

    Guarantee: draws are recorded, none is repeated here.
    """
    source = "the operating system" if secure else "a script"
    if dice is not None:
        source = "the public words of the dice"
    return [
        {
            "why": draw.why,
            "among": list(draw.among),
            "chances": _texts(draw.chances),
            "chosen": draw.chosen,
            "number": str(draw.number),
            "of": str(draw.of),
            "by_hand": draw.by_hand,
            "source": "somebody's answer" if draw.by_hand else source,
        }
        for draw in draws
    ]


def draw_sentence(draw: Mapping[str, Any], among: str) -> str:
    """A draw, or a tie that somebody broke, in a sentence.

    Guarantee: it says "by hand" exactly where somebody was asked.
    """
    how = "Broken by hand" if draw["by_hand"] else f"Drawn from {draw['source']}"
    return f"{how}, {draw['why']}: {draw['chosen']} (of {among})."


def _texts(chances: tuple[Fraction, ...]) -> list[str]:
    """The chances of a draw; of thousands alike, one is written and repeated."""
    if all(chance is chances[0] for chance in chances):
        return [to_text(chances[0])] * len(chances)
    return [to_text(chance) for chance in chances]


def ballots_json(read: BallotFile) -> dict[str, Any]:
    """What was counted.

    Guarantee: numbers of ballots, and no ballot.
    """
    ballots = read.ballots
    return {
        "format": read.format,
        "title": read.title,
        "candidates": list(ballots.candidates),
        "voters": ballots.voters,
        "complete": ballots.complete,
        "truncated": ballots.truncated_voters,
        "blank": ballots.blank,
        "different": len(ballots.rankings),
        "weights": "numbers of identical ballots, one voter each",
    }


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
