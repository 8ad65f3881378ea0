"""A voting rule with its parameters as JSON, and back: what a record of a count must hold to be counted again."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from hubbub.errors import CheckFailed, WrongUse
from hubbub.numeric.exact import rational, to_text
from hubbub.voting.protocol import Rule
from hubbub.voting.rules import rules
from hubbub.voting.rules.continuing import RunoffByContinuing
from hubbub.voting.rules.pair_rules import PairRule
from hubbub.voting.rules.points import Approval, Score, Star
from hubbub.voting.rules.stv import RULES, TransferableVote
from hubbub.voting.rules.threshold import ForGain, Margin, Power
from hubbub.voting.ties import RANDOM, FixedTies, Ties

Counted = Rule | TransferableVote


def rule_as_json(rule: Counted) -> dict[str, Any]:
    """The rule with all that it holds; numbers are exact texts."""
    if isinstance(rule, TransferableVote):
        return {"name": "stv", "seats": rule.seats, "rules": rule.rules.name}
    if isinstance(rule, rules.Mix):
        return {"name": "mix", "probability": str(rule.probability), "rule": rule_as_json(rule.rule)}
    if isinstance(rule, RunoffByContinuing):
        return {"name": "instant-runoff-by-continuing", "ties": _ties_json(rule.ties)}
    if isinstance(rule, rules.FirstInOrder):
        return {"name": rule.name, "order": list(rule.order)}
    if isinstance(rule, rules.Lot | rules.RandomDictator | rules.Punishing):
        return {"name": rule.name}
    if isinstance(rule, rules.ScoringElimination):
        return {
            "name": rule.name,
            "scoring": rule_as_json(rule.scoring),
            "margin": _margin_json(rule.margin),
            "then": rule_as_json(rule.then),
            "plurality_of_two": rule.plurality_of_two,
        }
    if isinstance(rule, rules.RepeatedPlurality | rules.ApproximateRunoff):
        return {"name": rule.name, "margin": _margin_json(rule.margin), "ties": _ties_json(rule.ties)}
    if isinstance(rule, rules.Positional):
        return {"name": rule.name, "points": list(rule.points), "ties": _ties_json(rule.ties)}
    if isinstance(rule, Score | Star):
        return {"name": rule.name, "top": rule.top, "ties": _ties_json(rule.ties)}
    if isinstance(rule, rules.InstantRunoff | rules.Plurality | rules.Borda | Approval | PairRule):
        return {"name": rule.name, "ties": _ties_json(rule.ties)}
    raise WrongUse(f"there is no form for {rule.name} in a record of a count")


def rule_from_json(value: Mapping[str, Any]) -> Counted:
    """The rule that a record names; what is none is refused."""
    try:
        return _rule(value)
    except (KeyError, TypeError, ValueError, WrongUse) as error:
        raise CheckFailed("the record names no rule that this version counts by; was it changed?") from error


def _rule(value: Mapping[str, Any]) -> Counted:
    name = value["name"]
    if name == "stv":
        return TransferableVote(seats=value["seats"], rules=RULES[value["rules"]])
    if name == "mix":
        return rules.Mix(rule=_single(value["rule"]), probability=Fraction(value["probability"]))
    if name == "instant-runoff-by-continuing":
        return RunoffByContinuing(ties=_ties(value["ties"]))
    if name == "first-in-order":
        return rules.FirstInOrder(order=tuple(value["order"]))
    if name == "lot":
        return rules.Lot()
    if name == "scoring-elimination":
        scoring = _single(value["scoring"])
        if not isinstance(scoring, rules.Plurality | rules.Positional | rules.Borda):
            raise ValueError
        return rules.ScoringElimination(
            scoring=scoring,
            margin=_margin(value["margin"]),
            then=_single(value["then"]),
            plurality_of_two=value["plurality_of_two"],
        )
    return rules.make(
        name,
        margin=_margin(value["margin"]) if "margin" in value else None,
        ties=_ties(value["ties"]) if "ties" in value else RANDOM,
        points=value.get("points"),
        top=value.get("top"),
    )


def _single(value: Mapping[str, Any]) -> Rule:
    made = _rule(value)
    if isinstance(made, TransferableVote):
        raise ValueError
    return made


def _ties_json(ties: Ties) -> Any:
    return list(ties.order) if isinstance(ties, FixedTies) else "drawn"


def _ties(value: Any) -> Ties:
    return RANDOM if value == "drawn" else FixedTies(tuple(value))


def _margin_json(margin: Margin) -> dict[str, str]:
    if isinstance(margin, ForGain):
        return {"for_gain": to_text(margin.eta)}
    return {"power": str(margin.d)} if isinstance(margin, Power) else {"number": str(Fraction(margin))}


def _margin(value: Mapping[str, str]) -> Margin:
    if "for_gain" in value:
        return ForGain(rational(value["for_gain"]))
    return Power(Fraction(value["power"])) if "power" in value else Fraction(value["number"])
