"""How marks become rankings: named rules for overvotes, skipped ranks, repeats, short ballots and write-ins.

What a voter marked is a list of ranks, each with no candidate (skipped), one, or several (an overvote). The rules, the
first named being the default:

=============  ==================================================================================================
overvotes      ``stop``: the ballot ends there; ``skip``: that rank is ignored; ``several``: the ballot ends there while
               several of them are still in, counts for the last of them who is, and goes on when none is
               (instant-runoff alone); ``refuse``: the file is refused
skips          ``skip``: ranks below move up; ``stop``: the ballot ends there; ``stop-at-two``: it ends at two in a row
repeats        ``first``: the best rank counts, later ones are ignored and are no skipped ranks; ``stop``: the ballot
               ends at the repeat; ``refuse``: the file is refused. Cast-vote records hold what voters marked, and
               there ``first`` is the default; files with counts hold rankings, and there it is ``refuse``, unless
               labels such as undervote show that they hold marks. PrefLib and BLT files know no repeats, so they
               are always refused
truncation     ``keep``: a short ballot counts while somebody it ranks is in; ``refuse``: every ballot must rank all
write_ins      ``together``: all write-ins are one candidate; ``apart``: each stands under the words that were
               written; ``drop``: a write-in is a skipped rank
=============  ==================================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Annotated, Any, Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.protocol.option import option_help
from hubbub.runtime.frozen import dataclass
from hubbub.voting.ballots import Ballots

CHOICES: Final[Mapping[str, tuple[str, ...]]] = {
    "overvotes": ("stop", "skip", "several", "refuse"),
    "skips": ("skip", "stop", "stop-at-two"),
    "repeats": ("first", "stop", "refuse"),
    "truncation": ("keep", "refuse"),
    "write_ins": ("together", "apart", "drop"),
}

WORDS: Final[Mapping[tuple[str, str], str]] = {
    ("overvotes", "stop"): "a ballot ends at a rank with several candidates",
    ("overvotes", "skip"): "a rank with several candidates is passed over",
    ("overvotes", "several"): "a rank with several candidates ends the ballot while more than one of them is in",
    ("overvotes", "refuse"): "no rank may have several candidates",
    ("skips", "skip"): "an empty rank is passed over",
    ("skips", "stop"): "a ballot ends at an empty rank",
    ("skips", "stop-at-two"): "a ballot ends at two empty ranks in a row",
    ("repeats", "first"): "a candidate who is ranked twice counts at the better rank",
    ("repeats", "stop"): "a ballot ends where a candidate comes again",
    ("repeats", "refuse"): "no ballot may rank a candidate twice",
    ("truncation", "keep"): "a ballot may leave candidates out",
    ("truncation", "refuse"): "every ballot must rank all candidates",
    ("write_ins", "together"): "all write-ins are one candidate",
    ("write_ins", "apart"): "each write-in is a candidate of their own",
    ("write_ins", "drop"): "a write-in is an empty rank",
}
"""What each rule does, for people who voted."""

MET: Final[Mapping[str, str]] = {
    "overvotes": "with several candidates at a rank",
    "skips": "with an empty rank",
    "repeats": "with a candidate twice",
}
"""What is on a ballot that a rule changed."""

Rank: TypeAlias = frozenset[str] | None
"""What one rank holds: candidates, nobody if it was skipped, None for an overvote of unknown candidates."""


EMPTY: Final = (
    "undervote",
    "blank",
    "n/a",
    "#n/a",
    "no vote",
    "no choice",
    "no selection",
    "exhausted",
    "none",
    "null",
)
"""Words that say that nobody is at a rank. Case, spaces, hyphens and dots do not matter; "-" alone is one too."""

WRITE_INS: Final = ("uwi", "write-in", "write-ins")
"""Words for write-ins; unless others are named, every cell is one that has the word "write-in" in it."""


_LABELS: Final = ("undervote_labels", "skip_labels", "overvote_labels", "write_in_labels")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The rules by which ballots are read, and the labels that are no candidates.

    `aliases` are spellings and whom they mean: ``(("ANN LEE", "Ann Lee"),)``.
    """

    overvotes: Annotated[
        str,
        option_help(
            "RULE",
            "A rank of several ends the ballot, is ignored, ends it while several of them are in, or is refused.",
            choices=CHOICES["overvotes"],
        ),
    ] = "stop"
    skips: Annotated[
        str,
        option_help(
            "RULE", "An empty rank is closed up, ends the ballot, or two in a row do.", choices=CHOICES["skips"]
        ),
    ] = "skip"
    repeats: Annotated[
        str | None,
        option_help(
            "RULE",
            "A candidate again: ignored, the end, or refused (default by format).",
            choices=CHOICES["repeats"],
        ),
    ] = None  # by the format, as above
    truncation: Annotated[
        str,
        option_help(
            "RULE",
            "Short ballots count while they rank somebody who is in, or are refused.",
            choices=CHOICES["truncation"],
        ),
    ] = "keep"
    write_ins: Annotated[
        str,
        option_help(
            "RULE",
            "Write-ins are one candidate, stand as written, or are empty ranks.",
            choices=CHOICES["write_ins"],
        ),
    ] = "together"
    undervote_labels: tuple[str, ...] = EMPTY  # and empty cells
    skip_labels: tuple[str, ...] = ("skip", "skipped")  # the same thing under another name
    overvote_labels: tuple[str, ...] = ("overvote",)
    write_in_labels: tuple[str, ...] = WRITE_INS
    aliases: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for what, allowed in CHOICES.items():
            if getattr(self, what) not in allowed and not (what == "repeats" and self.repeats is None):
                raise WrongUse(f"the rule for {what.replace('_', '-')} must be one of {', '.join(allowed)}")

    def for_marks(self, *, counted: bool) -> Reading:
        """With the default for repeats that a file has, with counts or without."""
        return self if self.repeats else replace(self, repeats="refuse" if counted else "first")

    def as_json(self) -> dict[str, Any]:
        """All of it, as it goes into a record."""
        labels = {name: list(getattr(self, name)) for name in _LABELS}
        return {**self.rules(), **labels, "aliases": [list(pair) for pair in self.aliases]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Reading:
        """What :meth:`as_json` gave."""
        try:
            rules: dict[str, Any] = {what: str(value[what]) for what in CHOICES}
            labels: dict[str, Any] = {name: tuple(str(label) for label in value[name]) for name in _LABELS}
            aliases = tuple((str(old), str(new)) for old, new in value["aliases"])
            return cls(**rules, **labels, aliases=aliases)
        except (KeyError, TypeError, ValueError) as error:
            raise WrongUse("these are no rules by which ballots are read; were they changed?") from error

    def rules(self) -> dict[str, str]:
        """The rules by name, as they go into a result."""
        return {what: getattr(self, what) or "refuse" for what in CHOICES}

    def describe(self) -> str:
        """The rules in words."""
        return "; ".join(WORDS[rule] for rule in self.rules().items())


@dataclass(slots=True)
class Changes:
    """How many ballots each rule changed. It grows while a file is read."""

    ballots: Counter[str] = field(default_factory=Counter)

    def note(self, what: str, ballots: int) -> None:
        self.ballots[what] += ballots


def ranking_of(
    ranks: Sequence[Rank], reading: Reading, changes: Changes, ballots: int, where: str
) -> tuple[frozenset[str], ...]:
    """The levels of a ballot, by the rules; a level of several is an overvote that :func:`settle_ties` will see to.

    `ballots` is how many ballots are marked like this, `where` names the line for an error.
    """
    levels: list[frozenset[str]] = []
    seen: set[str] = set()
    noted: set[str] = set()
    skipped = 0
    filled = max((i for i, rank in enumerate(ranks) if rank is None or rank), default=-1) + 1
    for rank in ranks[:filled]:  # empty ranks at the end are no skipped ones
        if rank is None:
            if reading.overvotes == "refuse":
                raise WrongUse(f"{where}: an overvote, which the rule overvotes=refuse forbids; choose stop or skip")
            noted.add("overvotes")
            if reading.overvotes != "skip":  # of an overvote without names several may be in
                break
            continue
        if not rank:
            noted.add("skips")
            skipped += 1
            if reading.skips == "stop" or (reading.skips == "stop-at-two" and skipped == 2):
                break
            continue
        skipped = 0
        fresh = rank - seen
        if len(fresh) < len(rank):
            if reading.repeats in (None, "refuse"):
                raise WrongUse(
                    f"{where}: a candidate is there twice, which the rule repeats=refuse forbids; `repeats=first` "
                    "takes the best rank"
                )
            noted.add("repeats")
            if reading.repeats == "stop":
                break
        if fresh:
            levels.append(fresh)
            seen |= fresh
    for what in noted:
        changes.note(what, ballots)
    return tuple(levels)


def settle_ties(ballots: Ballots, overvotes: str = "stop") -> Ballots:
    """Strict ballots: a rank that several candidates share ends the ballot (``stop``), is ignored (``skip``), or is
    refused (``refuse``). Who is equal at the end of a complete ballot is simply not ranked, whatever the rule. With
    ``several`` they stay as they are, because only the count knows who is still in."""
    if overvotes not in CHOICES["overvotes"]:
        raise WrongUse(f"the rule for overvotes must be one of {', '.join(CHOICES['overvotes'])}")
    if not len(ballots.levels) or overvotes == "several":
        return ballots
    if overvotes == "refuse" and (shared := count_overvoted(ballots)):
        raise WrongUse(
            f"{shared} ballots rank candidates equal, which the rule overvotes=refuse forbids; choose stop or skip"
        )
    counts = ballots.counts()
    for levels, weight in ballots.tied_counts().items():
        ranking: list[str] = []
        for level in levels:
            if len(level) == 1:
                ranking.extend(level)
            elif overvotes == "stop":
                break
        key = tuple(ranking)
        counts[key] = counts.get(key, 0) + weight
    return Ballots.from_counts(ballots.candidates, counts)


def count_overvoted(ballots: Ballots) -> int:
    """How many ballots rank candidates equal, other than by putting the rest of them last, below somebody."""
    everyone = len(ballots.candidates)
    return sum(
        weight
        for levels, weight in ballots.tied_counts().items()
        if any(len(level) > 1 for level in levels[:-1]) or len(levels) == 1 or sum(map(len, levels)) < everyone
    )
