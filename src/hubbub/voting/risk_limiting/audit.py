"""Risk-limiting audits of a winner by papers: compared with their records one by one, by papers alone, or by batches.

==========  ==========================================================================================================
comparison  papers are drawn evenly and compared with their records. Of a paper that tells e votes less for an assertion
            than its record (-2 to 2) the risk is multiplied by (1 - mu/(2 gamma)) / (1 - e/(2 gamma)), mu the diluted
            margin: Kaplan and Markov (Stark 2010), gamma = 1.1. SHANGRLA has it as the assorter of overstatements.
polling     papers are drawn evenly, and no record is looked at. With the reported share s of those that tell for or
            against an assertion, the risk is divided by 2s or by 2(1 - s): BRAVO (Lindeman, Stark and Yates 2012).
batches     batches are drawn in proportion to the most that each can hide, u, and counted by hand. One that hid e
            multiplies the risk by (1 - 1/U) / (1 - e/u), U the sum of all u: MACRO (Stark 2009). e is the largest over
            all assertions, as a share of their margins.
==========  ==========================================================================================================

All draws are independent, from public words, so a later round goes on where the earlier one ended. A paper that cannot be
found tells against every assertion as much as it can.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, islice
from math import ceil, lcm
from typing import Any, Final

from flint import arb

from hubbub.errors import WrongUse
from hubbub.noise.source import PublicDice
from hubbub.numeric.exact import ball, log, precision, rounded, to_text, upper
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots
from hubbub.voting.chance import below
from hubbub.voting.figures import approximately
from hubbub.voting.result import Result
from hubbub.voting.risk_limiting.assertions import Assertion, Margins, assertions_for, plurality_assertions

GAMMA: Final = Fraction(11, 10)  # the error inflation factor
METHODS: Final = ("comparison", "polling", "batches")
_MOST_DRAWN: Final = 1_000_000
_WORST: Final = 2  # votes by which a paper can tell against its record

Ranking = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Some papers that are counted together: what the records say of each assertion, and the most that they can hide."""

    name: str
    ballots: int
    margins: tuple[int, ...]  # of each assertion
    bound: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What must be confirmed, how many draws that takes, and what was drawn by the public words."""

    method: str
    candidates: tuple[str, ...]
    winner: str
    ballots: int
    risk: Fraction
    assertions: tuple[Assertion, ...]
    votes: tuple[tuple[int, int], ...]  # for and against each assertion, by the records
    papers: int
    dice: str
    sample: tuple[int, ...]  # numbers of ballots, or of batches, from 1, in the order of the draws
    batches: tuple[Batch, ...] = ()

    def draws(self) -> Iterator[int]:
        """All that the words draw, without an end."""
        return _draw(PublicDice(self.dice), self.ballots, self.batches)

    @property
    def drawn_from(self) -> int:
        return len(self.batches) or self.ballots

    def as_json(self) -> dict[str, Any]:
        return {
            "method": self.method,
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
                    "votes": list(votes),
                    "papers": self.papers_for(each, votes),
                    "words": each.sentence(self.candidates),
                }
                for each, votes in zip(self.assertions, self.votes, strict=True)
            ],
            "papers": self.papers,
            "dice": self.dice,
            "sample": list(self.sample),
            "batches": [
                {"name": each.name, "ballots": each.ballots, "bound": to_text(each.bound)} for each in self.batches
            ],
            "words": self.sentences(),
        }

    def papers_for(self, assertion: Assertion, votes: tuple[int, int]) -> int:
        """How many draws confirm one assertion, if all agrees."""
        if self.method == "batches":
            return self.papers
        if self.method == "polling":
            return polled_needed(votes, self.ballots, self.risk)
        return papers_needed(assertion.margin, self.ballots, self.risk)

    def sentences(self) -> list[str]:
        """What is to be done, and what it shows."""
        what = f"{self.papers:,} papers, drawn by public words from {self.ballots:,}"
        agrees = "paper agrees with its record"
        if self.method == "batches":
            what = f"all papers of the batches of {self.papers:,} draws, by public words from {len(self.batches):,}"
            agrees = "batch agrees with its records"
        risk = f"a wrong winner would have been confirmed with a chance of at most {to_text(self.risk)}."
        enough = f"If each {agrees}, {risk}"
        if self.method == "polling":
            enough = (
                "That is the mean of what it takes if the papers are as the records say: it may take more. However many "
                f"rounds it takes, a wrong winner is confirmed with a chance of at most {to_text(self.risk)}."
            )
        return [
            f"{self.winner} won if all {len(self.assertions)} assertions are true.",
            f"Look at {what} (some perhaps twice).",
            enough,
            "Write into papers.csv what is on the papers, and give it to the same command with --read: it says whether "
            "the winner is confirmed, and else which papers come next.",
            "The records must be written down, and the papers kept, before the public words are said.",
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the papers of the first `drawn` draws show: the risk of each assertion, and how many draws it takes in all."""

    audit: Audit
    drawn: int
    risks: tuple[Fraction, ...]
    differing: int  # draws that tell against a record
    needed: int | None  # draws in all, if all others agree; None where no sample can confirm

    @property
    def risk(self) -> Fraction:
        return max(self.risks)

    @property
    def confirmed(self) -> bool:
        return self.risk <= self.audit.risk

    def sample(self) -> tuple[int, ...]:
        """The draws of the next round."""
        return (
            () if self.confirmed or self.needed is None else tuple(islice(self.audit.draws(), self.drawn, self.needed))
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "confirmed": self.confirmed,
            "measured_risk": approximately(self.risk),
            "drawn": self.drawn,
            "differing": self.differing,
            "risks": [approximately(risk) for risk in self.risks],
            "needed": self.needed,
            "next_sample": list(self.sample()),
            "words": self.sentences(),
        }

    def sentences(self) -> list[str]:
        """Whether the winner is confirmed, and what comes next."""
        audit = self.audit
        what = "" if audit.method == "polling" else f", of which {self.differing:,} differ from the records"
        found = f"{self.drawn:,} draws were looked at{what}."
        if self.confirmed:
            return [
                found,
                f"Confirmed: a wrong winner would be confirmed with a chance of at most {approximately(self.risk)}, and "
                f"{to_text(audit.risk)} is allowed.",
            ]
        least = f"The risk is {approximately(self.risk)}, above {to_text(audit.risk)}: not confirmed yet."
        if self.needed is None:
            return [found, least, "No sample of a sensible size can confirm this winner: count all papers by hand."]
        return [found, least, f"Look at {self.needed - self.drawn:,} draws more, which the new papers.csv lists."]


def papers_needed(margin: int, ballots: int, risk: Fraction) -> int:
    """How many papers confirm an assertion if none tells against its record.

    Guarantee: at least 2 gamma ln(1/risk)/mu for the diluted margin mu = margin/ballots, and so at least as many as the
    Kaplan-Markov bound takes: (1 - mu/(2 gamma))^n is then at most the risk.
    """
    if margin < 1 or not 0 < risk < 1:
        raise WrongUse("a margin is at least one ballot, and a risk lies between 0 and 1")
    with precision(128):
        return ceil(upper(2 * ball(GAMMA) * log(1 / risk) * ball(Fraction(ballots, margin))))


def polled_needed(votes: tuple[int, int], ballots: int, risk: Fraction) -> int:
    """About how many papers confirm an assertion on average, if they are as the records say.

    Guarantee: the mean sample number of BRAVO, (ln(1/risk) + ln(2s)/2) / (p ln(2s) + q ln(2(1 - s))), rounded up; it is
    a forecast, and no promise rests on it.
    """
    share = Fraction(votes[0], sum(votes))
    with precision(128):
        gain, loss = log(2 * share), log(2 * (1 - share)) if share < 1 else arb(0)
        drift = ball(Fraction(votes[0], ballots)) * gain + ball(Fraction(votes[1], ballots)) * loss
        return ceil(upper((log(1 / risk) + gain / 2) / drift))


def audit_of(
    ballots: Ballots,
    counted: Result,
    risk: Fraction,
    dice: str,
    *,
    method: str = "comparison",
    units: Mapping[str, Ballots] | None = None,
) -> Audit:
    """The audit of an instant runoff, or of plurality, that was counted from these ballots, its papers drawn from public
    words.

    Guarantee: the assertions imply the winner, whatever lots were drawn on the way: where a lot decided who wins, there
    is no such set, and that is refused. Numbers are drawn independently, evenly among all ballots or in proportion to
    what a batch can hide, if the words were not known before the records were.
    """
    if method not in METHODS:
        raise WrongUse(f"an audit is by {', '.join(METHODS)}, not by {method[:40]!r}")
    if (method == "batches") != bool(units):
        raise WrongUse(
            "an audit by batches, and no other, needs to know where each ballot lies; name it with `precinct`"
        )
    margins = Margins(ballots)
    find = plurality_assertions if counted.rule.name == "plurality" else assertions_for
    assertions = find(ballots, counted.winner)
    votes = tuple(margins.votes(each) for each in assertions)
    total = ballots.voters
    batches = _batches(assertions, units or {})
    if batches:
        papers = _draws_needed(1 / sum((each.bound for each in batches), Fraction(0)), arb(1), risk)
    elif method == "polling":
        papers = max(polled_needed(each, total, risk) for each in votes)
    else:
        papers = papers_needed(min(each.margin for each in assertions), total, risk)
    if papers > min(total, _MOST_DRAWN):
        raise WrongUse(
            f"{papers:,} papers would have to be looked at, of {total:,}; the margin is too small for a sample, so count "
            "all papers by hand"
        )
    source = PublicDice(dice)
    return Audit(
        method=method,
        candidates=ballots.candidates,
        winner=counted.winner_name,
        ballots=total,
        risk=risk,
        assertions=assertions,
        votes=votes,
        papers=papers,
        dice=source.sentence,
        sample=tuple(islice(_draw(source, total, batches), papers)),
        batches=batches,
    )


def _batches(assertions: Sequence[Assertion], units: Mapping[str, Ballots]) -> tuple[Batch, ...]:
    """What each batch can hide of the margins: all its papers may tell against an assertion."""
    found = []
    for name, part in units.items():
        margins = Margins(part)
        here = tuple(int.__sub__(*margins.votes(each)) for each in assertions)
        bounds = (Fraction(one + part.voters, each.margin) for one, each in zip(here, assertions, strict=True))
        found.append(Batch(name=name, ballots=part.voters, margins=here, bound=max(bounds)))
    return tuple(found)


def _draw(source: PublicDice, ballots: int, batches: Sequence[Batch]) -> Iterator[int]:
    if not batches:
        while True:
            yield below(ballots, source) + 1
    scale = lcm(*(each.bound.denominator for each in batches))
    ends = list(accumulate(int(each.bound * scale) for each in batches))
    while True:
        at = below(ends[-1], source)
        yield next(i for i, end in enumerate(ends, 1) if at < end)


def compare_papers(audit: Audit, pairs: Sequence[tuple[Ranking, Ranking | None]]) -> Finding:
    """What papers show beside their records, (record, paper) for each draw; None is a paper that was not found.

    Guarantee: for an assertion that is false, the chance that its risk ever falls to r is at most r: the mean of
    (1 - e/(2 gamma)) over all papers is then at most 1 - mu/(2 gamma), and Markov's inequality holds for the product.
    """
    errors = [
        [_WORST if paper is None else each.vote(record) - each.vote(paper) for record, paper in pairs]
        for each in audit.assertions
    ]
    factors = [
        (Fraction(each.margin, audit.ballots) / (2 * GAMMA), _product(1 / (1 - e / (2 * GAMMA)) for e in mine))
        for each, mine in zip(audit.assertions, errors, strict=True)
    ]
    return _finding(audit, len(pairs), factors, sum(any(each) for each in zip(*errors, strict=True)))


def compare_batches(audit: Audit, counted: Mapping[int, Sequence[Ranking]], drawn: Sequence[int]) -> Finding:
    """What the papers of each batch show beside its records; papers that are missing tell against every assertion.

    Guarantee: if some assertion is false, the chance that the risk ever falls to r is at most r: all batches together
    then hide at least a whole margin, so the mean taint of a draw is at least 1/U.
    """
    taints: dict[int, Fraction] = {}
    for number, papers in counted.items():
        batch = audit.batches[number - 1]
        missing = batch.ballots - len(papers)
        if missing < 0:
            raise WrongUse(f"the batch {batch.name[:60]!r} has more papers than records; count all papers by hand")
        errors = (
            Fraction(reported - sum(map(each.vote, papers)) + missing, each.margin)
            for each, reported in zip(audit.assertions, batch.margins, strict=True)
        )
        taints[number] = max(errors) / batch.bound if batch.bound else Fraction(0)
    lost = 1 / sum((each.bound for each in audit.batches), Fraction(0))
    if any(taints[number] == 1 for number in drawn):
        return Finding(
            audit=audit, drawn=len(drawn), risks=(Fraction(1),), differing=sum(map(bool, taints.values())), needed=None
        )
    factors = [(lost, _product(1 / (1 - taints[number]) for number in drawn))]
    return _finding(audit, len(drawn), factors, sum(bool(taints[number]) for number in drawn))


def poll_papers(audit: Audit, papers: Sequence[Ranking | None]) -> Finding:
    """What papers show by themselves; None is one that was not found, and tells against every assertion.

    Guarantee: for an assertion that is false, the chance that its risk ever falls to r is at most r (Wald's sequential
    test: a paper that tells anything then tells against it with a chance of at least one half).
    """
    risks, needed = list[Fraction](), 0
    for each, votes in zip(audit.assertions, audit.votes, strict=True):
        told = [-1 if paper is None else each.vote(paper) for paper in papers]
        share = Fraction(votes[0], sum(votes))
        ahead, behind = told.count(1), told.count(-1)
        with precision(128):
            risk = arb(1)
            if ahead or behind:
                likely = ball(2 * share) ** ahead * ball(2 * (1 - share)) ** behind
                risk = 1 / likely if share < 1 or not behind else arb(1)
            risks.append(min(Fraction(1), rounded(risk, up=True)))
        more = polled_needed(votes, audit.ballots, min(audit.risk / risks[-1], Fraction(99, 100)))
        needed = max(needed, more if risks[-1] > audit.risk else 0)
    total = len(papers) + needed
    return Finding(
        audit=audit,
        drawn=len(papers),
        risks=tuple(risks),
        differing=0,
        needed=None if total > min(audit.ballots, _MOST_DRAWN) else total,
    )


def _product(factors: Iterator[Fraction]) -> arb:
    with precision(128):
        total = arb(1)
        for factor in factors:
            total *= ball(factor)
        return total


def _finding(audit: Audit, drawn: int, factors: Sequence[tuple[Fraction, arb]], differing: int) -> Finding:
    """From what a draw that agrees takes off the risk, and what those that differ have added."""
    risks, needed = list[Fraction](), 0
    for lost, added in factors:
        with precision(128):
            risks.append(min(Fraction(1), rounded(ball(1 - lost) ** drawn * added, up=True)))
        needed = max(needed, _draws_needed(lost, added, audit.risk))
    most = min(audit.ballots, _MOST_DRAWN)
    return Finding(
        audit=audit,
        drawn=drawn,
        risks=tuple(risks),
        differing=differing,
        needed=None if needed > most else max(needed, drawn),
    )


def _draws_needed(lost: Fraction, added: arb, risk: Fraction) -> int:
    """After how many draws in all the risk is low enough, if no further one differs."""
    if lost >= 1:
        return 1
    with precision(128):
        return max(1, ceil(upper((added.log() - log(risk)) / -log(1 - lost))))
