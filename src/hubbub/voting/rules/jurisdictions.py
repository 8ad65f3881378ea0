"""Rule sets by the name of the place that counts so: how marks are read, and which rule counts them.

What is here is what the statutes and ordinances named say about marks and transfers. Places change their rules; the
name stands for the set that is written down here, and it goes into the result with all its parts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.formats.reading import Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleSet:
    """How one place reads marks and counts. `transfers` names the rules for several seats."""

    name: str
    rule: str
    overvotes: str
    skips: str
    repeats: str
    transfers: str | None = None
    law: str
    note: str = ""

    def reading(self, chosen: Reading, given: frozenset[str] = frozenset()) -> Reading:
        """`asked` with the rules of this place, but for those that somebody gave."""
        parts = {what: getattr(self, what) for what in ("overvotes", "skips", "repeats") if what not in given}
        return replace(chosen, **parts)


_SETS: Final = (
    RuleSet(
        name="minneapolis",
        rule="instant-runoff",
        overvotes="skip",
        skips="skip",
        repeats="first",
        law="Minneapolis Code of Ordinances, 167.60(c)(2): a ballot counts towards its highest continuing ranking that "
        "is no skipped ranking, overvote or repeat",
        note="undeclared write-ins are one candidate here, and go like any other; by 167.60 they go first",
    ),
    RuleSet(
        name="maine",
        rule="instant-runoff",
        overvotes="stop",
        skips="stop-at-two",
        repeats="first",
        law="Maine Revised Statutes 21-A, 723-A: an overvote at the highest continuing ranking, or two skipped "
        "rankings in a row before it, exhausts a ballot",
        note="an overvote ends a ballot even where all who share it have gone, since files do not say who they were",
    ),
    RuleSet(
        name="oakland",
        rule="instant-runoff",
        overvotes="stop",
        skips="skip",
        repeats="first",
        law="as Alameda County counts: equal ranks exhaust a ballot when they are reached, a skipped rank does not",
    ),
    RuleSet(
        name="scotland",
        rule="stv",
        overvotes="stop",
        skips="stop",
        repeats="stop",
        transfers="scotland",
        law="Scottish Local Government Elections Order, Schedule 1, rules 45 to 52",
    ),
    RuleSet(
        name="albany",
        rule="stv",
        overvotes="stop",
        skips="skip",
        repeats="first",
        transfers="albany",
        law="fractional transfers to four decimal places, as in ranked-choice ordinances for several seats",
        note="the ordinance itself was not at hand; what is done is written in hubbub.voting.rules.stv",
    ),
    RuleSet(
        name="portland",
        rule="stv",
        overvotes="skip",
        skips="skip",
        repeats="first",
        transfers="albany",
        law="Portland (Oregon) City Code, chapter 2.08, as its count of 2024 was published",
        note="uncertified write-ins are one candidate here, and go like any other; Portland strikes them out first, which "
        "--elect seats does",
    ),
    RuleSet(
        name="ers97",
        rule="stv",
        overvotes="stop",
        skips="stop",
        repeats="stop",
        transfers="ers97",
        law="How to conduct an election by the Single Transferable Vote, Electoral Reform Society, third edition 1997",
        note="a society's rules and no place's",
    ),
    RuleSet(
        name="ireland",
        rule="stv",
        overvotes="stop",
        skips="stop",
        repeats="stop",
        transfers="ireland",
        law="Electoral Act 1992, sections 118 to 126: preferences count up to the first that is missing or there twice",
    ),
    RuleSet(
        name="malta",
        rule="stv",
        overvotes="stop",
        skips="stop",
        repeats="stop",
        transfers="malta",
        law="General Elections Act, thirteenth schedule, taken to be as in Ireland",
        note="the schedule itself was not at hand",
    ),
    RuleSet(
        name="northern-ireland",
        rule="stv",
        overvotes="stop",
        skips="stop",
        repeats="stop",
        transfers="northern-ireland",
        law="Local Elections Rules (Northern Ireland), rules 44 to 54",
    ),
    RuleSet(
        name="australia-senate",
        rule="stv",
        overvotes="stop",
        skips="stop",
        repeats="stop",
        transfers="australia-senate",
        law="Commonwealth Electoral Act 1918, sections 268A to 273, of numbers below the line",
        note="several do not go together, and votes above the line are not read",
    ),
    RuleSet(
        name="act",
        rule="stv",
        overvotes="stop",
        skips="stop",
        repeats="stop",
        transfers="act",
        law="Electoral Act 1992 of the Australian Capital Territory, schedule 4",
        note="votes to six decimal places, as from 2020",
    ),
    RuleSet(
        name="tasmania",
        rule="stv",
        overvotes="stop",
        skips="stop",
        repeats="stop",
        transfers="tasmania",
        law="Electoral Act 2004 of Tasmania, schedule 4",
    ),
    RuleSet(
        name="cambridge",
        rule="stv",
        overvotes="skip",
        skips="skip",
        repeats="first",
        transfers="cambridge",
        law="Massachusetts General Laws, chapter 54A, section 9, with the Cincinnati method for surpluses",
        note="the order of papers is drawn, in the place of the order of precincts",
    ),
)
RULE_SETS: Final = {rules.name: rules for rules in _SETS}


def rule_set(name: str) -> RuleSet:
    """The rule set of that name."""
    if name not in RULE_SETS:
        raise WrongUse(f"there is no rule set {name[:40]!r}; there are {', '.join(RULE_SETS)}")
    return RULE_SETS[name]
