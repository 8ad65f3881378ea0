"""Every voting rule, by the name it has on the command line. Each is a value that holds parameters and no ballots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.protocol import FromTops as FromTops
from hubbub.voting.protocol import Lottery as Lottery
from hubbub.voting.protocol import Rule as Rule
from hubbub.voting.rules.elimination import ApproximateRunoff as ApproximateRunoff
from hubbub.voting.rules.elimination import EliminateThenSelect as EliminateThenSelect
from hubbub.voting.rules.elimination import RepeatedPlurality as RepeatedPlurality
from hubbub.voting.rules.elimination import ScoringElimination as ScoringElimination
from hubbub.voting.rules.pair_rules import PAIR_RULES, PairRule
from hubbub.voting.rules.points import Approval, Score, Star
from hubbub.voting.rules.points import Borda as Borda
from hubbub.voting.rules.points import Plurality as Plurality
from hubbub.voting.rules.points import Positional as Positional
from hubbub.voting.rules.punishing import Mix as Mix
from hubbub.voting.rules.punishing import Punishing as Punishing
from hubbub.voting.rules.punishing import mix_probability as mix_probability
from hubbub.voting.rules.runoff import InstantRunoff as InstantRunoff
from hubbub.voting.rules.selection import FirstInOrder as FirstInOrder
from hubbub.voting.rules.selection import Lot as Lot
from hubbub.voting.rules.selection import RandomDictator as RandomDictator
from hubbub.voting.rules.threshold import ForGain as ForGain
from hubbub.voting.rules.threshold import Margin as Margin
from hubbub.voting.rules.threshold import Power as Power
from hubbub.voting.ties import RANDOM, Ties

SUMMARY: Final = {
    "repeated-plurality": "strike out all who are not within the margin of the most top choices, again and again; "
    "then plurality",
    "approximate-runoff": "strike out all who are within the margin of the fewest top choices, again and again; "
    "then plurality",
    "scoring-elimination": "strike out all who are not within the margin of the most points; then a lot, or plurality "
    "between two",
    "instant-runoff": "strike out the fewest top choices, one at a time",
    "plurality": "the most top choices",
    "borda": "the most points: m - 1 for the first place of m, ..., 0 for the last and for no place",
    "positional": "the most points, as given for each place",
    "random-dictator": "the top choice of a voter drawn at random",
    "punishing": "a place, the better the likelier, on the ballot of a voter drawn at random",
}
"""What each rule does, in one line."""

RATED: Final = (Approval.name, Score.name, Star.name)
"""The rules for ballots that hold no ranks."""

OTHER_NAMES: Final = (
    *(("irv", "instant-runoff"), ("rcv", "instant-runoff"), ("ranked-choice", "instant-runoff")),
    *(("fptp", "plurality"), ("first-past-the-post", "plurality")),
    *(("condorcet", "schulze"), ("condorcet", "ranked-pairs"), ("condorcet", "minimax")),
)
"""What others call a rule, and its name here."""

MARGINED: Final = ("repeated-plurality", "approximate-runoff", "scoring-elimination")
"""The rules with a margin, which are those with a promise."""


def make(
    name: str,
    *,
    margin: Margin | None = None,
    ties: Ties = RANDOM,
    points: Sequence[int] | None = None,
    then: Rule | None = None,
    top: int | None = None,
) -> Rule:
    """The rule of that name. `margin` is for those with one, `points` for positional and scoring-elimination, `top`, the
    highest score, for score and star."""
    if name not in (*SUMMARY, *PAIR_RULES, *RATED):
        raise WrongUse(f"there is no rule {name[:40]!r}; there are {', '.join((*SUMMARY, *PAIR_RULES, *RATED))}")
    if margin is not None and name not in MARGINED:
        raise WrongUse(f"{name} has no margin; these have one: {', '.join(MARGINED)}")
    if points is not None and name not in ("positional", "scoring-elimination"):
        raise WrongUse(f"{name} takes no points; positional and scoring-elimination do")
    if (top is not None) != (name in (Score.name, Star.name)):
        raise WrongUse(
            f"score and star need `top`, the highest score, and no other rule takes it; {name} was asked for"
        )
    if name in PAIR_RULES:
        return PairRule(name=name, ties=ties)
    if name == Approval.name:
        return Approval(ties=ties)
    if top is not None:
        return Score(top=top, ties=ties) if name == Score.name else Star(top=top, ties=ties)
    rule = ForGain() if margin is None else margin
    scoring = Borda(ties=ties) if points is None else Positional(points=tuple(points), ties=ties)
    if name == "positional" and points is None:
        raise WrongUse("positional needs points, one for each place, like 3,2,1,0")
    made: dict[str, Rule] = {
        "repeated-plurality": RepeatedPlurality(margin=rule, ties=ties),
        "approximate-runoff": ApproximateRunoff(margin=rule, ties=ties),
        "scoring-elimination": ScoringElimination(
            scoring=scoring, margin=rule, then=then or Lot(), plurality_of_two=then is None
        ),
        "instant-runoff": InstantRunoff(ties=ties),
        "plurality": Plurality(ties=ties),
        "borda": Borda(ties=ties),
        "positional": scoring,
        "random-dictator": RandomDictator(),
        "punishing": Punishing(),
    }
    return made[name]
