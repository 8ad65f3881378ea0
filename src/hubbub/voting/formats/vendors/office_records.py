"""Cast-vote records as election systems export them: for each ballot, who was marked at which rank.

A reader yields marks as they stand in the files, by the code or name that the vendor writes. :func:`office_ballots`
turns them into candidates by the configuration, and refuses whoever is not one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from hubbub.errors import WrongUse
from hubbub.voting.formats.vendors.cdf import read_cdf
from hubbub.voting.formats.vendors.dominion_json import read_dominion
from hubbub.voting.formats.vendors.hart import read_hart
from hubbub.voting.formats.vendors.office_tables import read_clear_ballot, read_ess, read_generic
from hubbub.voting.formats.vendors.rctab_config import UNDECLARED, Configuration, Source

Mark: TypeAlias = tuple[int, str]
Ranks: TypeAlias = tuple[tuple[int, frozenset[str]], ...]
"""The ranks that hold a mark, in their order, each with the candidates marked there."""

OVERVOTE: Final = "overvote"
"""Who stands at a rank that the file calls overvoted without saying by whom."""

_READERS: Final[Mapping[str, Callable[[Source], Iterator[list[Mark]]]]] = {
    "cdf": read_cdf,
    "clearBallot": read_clear_ballot,
    "dominion": read_dominion,
    "genericCsv": read_generic,
    "hart": read_hart,
}


@dataclass(frozen=True, slots=True)
class OfficeBallots:
    """Different ballots with how often each was cast; `candidates` in the order of the configuration."""

    candidates: tuple[str, ...]
    ballots: tuple[tuple[Ranks, int], ...]

    @property
    def cast(self) -> int:
        return sum(weight for _, weight in self.ballots)


def office_ballots(configuration: Configuration) -> OfficeBallots:
    """The ballots of every file that a configuration names.

    Guarantee: each mark is one of a candidate of the configuration, of an undeclared write-in or an overvote that the
    configuration names, or the file is refused.
    """
    counts: dict[Ranks, int] = {}
    for source in configuration.sources:
        named = _names(configuration, source)
        read = read_ess(source, configuration.rules.most_ranks) if source.provider == "ess" else None
        for marks in read if read is not None else _READERS[source.provider](source):
            ranks = _ranks(marks, named, configuration.rules.most_ranks, source)
            counts[ranks] = counts.get(ranks, 0) + 1
    if not counts:
        raise WrongUse("the files of the configuration hold no ballot with this contest; check the contest's name")
    met = {name for ranks in counts for _, who in ranks for name in who}
    candidates = [candidate.name for candidate in configuration.candidates]
    if UNDECLARED in met or any(source.write_in_label or source.blank_is_write_in for source in configuration.sources):
        candidates.append(UNDECLARED)
    if met <= {OVERVOTE}:
        raise WrongUse("nobody voted: no ballot of the configuration's files marks a candidate, so there is no result")
    return OfficeBallots(tuple(candidates), tuple(counts.items()))


def _names(configuration: Configuration, source: Source) -> dict[str, str]:
    """From what a file writes to whom it means."""
    named: dict[str, str] = {}
    for candidate in configuration.candidates:
        for name in (candidate.name, *candidate.aliases):
            if named.setdefault(name.strip(), candidate.name) != candidate.name:
                raise WrongUse(f"the configuration has two candidates who are called {name!r}; give each their own")
    if source.write_in_label:
        named[source.write_in_label] = UNDECLARED
    named.setdefault(UNDECLARED, UNDECLARED)
    if source.overvote_label:
        named[source.overvote_label] = OVERVOTE
    return named


def _ranks(marks: Iterable[Mark], named: Mapping[str, str], most: int | None, source: Source) -> Ranks:
    at: dict[int, set[str]] = {}
    for rank, code in marks:
        if code not in named:
            raise WrongUse(
                f"the records in {source.path.name} mark {code[:60]!r}, who is no candidate of the configuration; add "
                "them, or the code as an alias"
            )
        if most is not None and rank > most:
            raise WrongUse(
                f"the records in {source.path.name} have a mark at rank {rank}, and the configuration allows {most} "
                "ranks; set maxRankingsAllowed to what the ballot has"
            )
        at.setdefault(rank, set()).add(named[code])
    return tuple((rank, frozenset(at[rank])) for rank in sorted(at))
