"""Rule sets by the name of the place that counts so: how marks are read, and which rule counts them.

What is here is what the statutes and ordinances named say about marks and transfers. Places change their rules; the
name stands for the set that is written down here, and it goes into the result with all its parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from hubbub.errors import WrongUse
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
)
RULE_SETS: Final = {rules.name: rules for rules in _SETS}


def rule_set(name: str) -> RuleSet:
    """The rule set of that name."""
    if name not in RULE_SETS:
        raise WrongUse(f"there is no rule set {name[:40]!r}; there are {', '.join(RULE_SETS)}")
    return RULE_SETS[name]
