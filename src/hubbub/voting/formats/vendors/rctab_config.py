"""The configuration of RCTab, the tabulator that many offices run: which files, who stands, by which rules.

Only what is understood is read: a rule or a value that is not known here is refused by its name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

UNDECLARED: Final = "Undeclared Write-ins"
PROVIDERS: Final = ("ess", "cdf", "clearBallot", "dominion", "genericCsv", "hart")
OVERVOTES: Final = ("exhaustImmediately", "alwaysSkipToNextRank", "exhaustIfMultipleContinuing")
TIES: Final = (
    "random",
    "stopCountingAndAsk",
    "previousRoundCountsThenRandom",
    "previousRoundCountsThenAsk",
    "useCandidateOrder",
    "generatePermutation",
)
SINGLE: Final = "singleWinnerMajority"
PASSES: Final = "multiPassIrv"
BOTTOMS_UP: Final = "bottomsUp"
PERCENTAGE: Final = "bottomsUpUsingPercentageThreshold"
ONE_A_ROUND: Final = "multiWinnerAllowOnlyOneWinnerPerRound"
SEVERAL: Final = "multiWinnerAllowMultipleWinnersPerRound"
MODES: Final = (SINGLE, PASSES, BOTTOMS_UP, PERCENTAGE, ONE_A_ROUND, SEVERAL)

_MOST_BYTES: Final = 16 << 20
_FLAGS: Final = {
    "nonIntegerWinningThreshold": "fractional",
    "hareQuota": "hare",
    "batchElimination": "batch",
    "continueUntilTwoCandidatesRemain": "until_two",
    "exhaustOnDuplicateCandidate": "stop_at_repeats",
    "doesFirstRoundDetermineThreshold": "first_threshold",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file or folder of cast-vote records, and how it is read; columns and rows are counted from 1."""

    path: Path
    provider: str
    contest: str = ""
    first_column: int | None = None
    first_row: int | None = None
    id_column: int | None = None
    precinct_column: int | None = None
    batch_column: int | None = None
    overvote_label: str = ""
    overvote_delimiter: str = ""
    skipped_label: str = ""
    write_in_label: str = ""
    blank_is_write_in: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Somebody who stands, by all the names and codes that records have for them."""

    name: str
    aliases: tuple[str, ...] = ()
    excluded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TabulationRules:
    """How the ballots are counted. `most_ranks` and `most_skips` are None where there is no limit."""

    mode: str
    winners: int
    ties: str
    overvotes: str
    seed: int | None = None
    percentage: int | None = None
    decimals: int = 4
    least_votes: int = 0
    most_skips: int | None = None
    most_ranks: int | None = None
    stop_after: int | None = None
    fractional: bool = False
    hare: bool = False
    batch: bool = False
    until_two: bool = False
    stop_at_repeats: bool = False
    first_threshold: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What a configuration file says."""

    title: str
    date: str
    jurisdiction: str
    office: str
    sources: tuple[Source, ...]
    candidates: tuple[Candidate, ...]
    rules: TabulationRules


def read_configuration(path: str | Path) -> Configuration:
    """The configuration in a file. Paths in it are relative to it; what is not there is looked for beside it."""
    file = Path(path)
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise WrongUse("a configuration of RCTab has less than 16 MB; is this another file?")
        value = json.loads(file.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise WrongUse(f"the configuration cannot be read: {error.strerror or error}; check its path") from error
    except (ValueError, RecursionError) as error:
        raise WrongUse("the configuration is not JSON; is it RCTab's?") from error
    try:
        return Configuration(
            title=str(value["outputSettings"]["contestName"]),
            date=str(value["outputSettings"].get("contestDate") or ""),
            jurisdiction=str(value["outputSettings"].get("contestJurisdiction") or ""),
            office=str(value["outputSettings"].get("contestOffice") or ""),
            sources=tuple(_source(source, file.parent) for source in value["cvrFileSources"]),
            candidates=tuple(_candidate(one) for one in value["candidates"]),
            rules=_rules(value["rules"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise WrongUse(
            "the configuration has not the parts of RCTab's (outputSettings, cvrFileSources, candidates, rules); save "
            "it with RCTab 1.3 or later"
        ) from error


def is_configuration(path: Path) -> bool:
    """Whether a file looks like RCTab's configuration."""
    try:
        if path.suffix.lower() != ".json" or path.stat().st_size > _MOST_BYTES:
            return False
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and {"cvrFileSources", "candidates", "rules"} <= set(value)


def _source(value: Mapping[str, Any], folder: Path) -> Source:
    provider = str(value["provider"])
    if provider not in PROVIDERS:
        raise WrongUse(f"the configuration names the provider {provider[:40]!r}; known are {', '.join(PROVIDERS)}")
    path = folder / str(value["filePath"])
    beside = folder / path.name
    return Source(
        path=beside if beside.exists() and not path.exists() else path,
        provider=provider,
        contest=str(value.get("contestId", "")),
        first_column=_number(value, "firstVoteColumnIndex"),
        first_row=_number(value, "firstVoteRowIndex"),
        id_column=_number(value, "idColumnIndex"),
        precinct_column=_number(value, "precinctColumnIndex"),
        batch_column=_number(value, "batchColumnIndex"),
        overvote_label=str(value.get("overvoteLabel", "")).strip(),
        overvote_delimiter=str(value.get("overvoteDelimiter", "")),
        skipped_label=str(value.get("skippedRankLabel", "")).strip(),
        write_in_label=str(value.get("undeclaredWriteInLabel", "")).strip(),
        blank_is_write_in=_flag(value, "treatBlankAsUndeclaredWriteIn"),
    )


def _candidate(value: Mapping[str, Any]) -> Candidate:
    name = str(value["name"])
    aliases = [*value.get("aliases", []), *([value["code"]] if value.get("code") else [])]
    return Candidate(name=name, aliases=tuple(map(str, aliases)), excluded=_flag(value, "excluded"))


def _rules(value: Mapping[str, Any]) -> TabulationRules:
    for name, known in (("tiebreakMode", TIES), ("overvoteRule", OVERVOTES), ("winnerElectionMode", MODES)):
        if value[name] not in known:
            raise WrongUse(f"the configuration sets {name} to {str(value[name])[:40]!r}; known are {', '.join(known)}")
    return TabulationRules(
        mode=value["winnerElectionMode"],
        winners=_number(value, "numberOfWinners") or 0,
        ties=value["tiebreakMode"],
        overvotes=value["overvoteRule"],
        seed=_number(value, "randomSeed", least=None),
        percentage=_number(value, "multiSeatBottomsUpPercentageThreshold"),
        decimals=_number(value, "decimalPlacesForVoteArithmetic", most=20) or 0,
        least_votes=_number(value, "minimumVoteThreshold") or 0,
        most_skips=_number(value, "maxSkippedRanksAllowed"),
        most_ranks=_number(value, "maxRankingsAllowed"),
        stop_after=_number(value, "stopTabulationEarlyAfterRound"),
        **{ours: _flag(value, theirs) for theirs, ours in _FLAGS.items()},
    )


def _number(value: Mapping[str, Any], name: str, *, least: int | None = 0, most: int = 10**15) -> int | None:
    """A whole number; None where nothing is said, or that there is no limit."""
    text = str(value.get(name, "")).strip()
    if text in ("", "max", "unlimited", "None"):
        return None
    try:
        number = int(text)
    except ValueError:
        number = most + 1
    if number > most or (least is not None and number < least):
        raise WrongUse(f"the configuration sets {name} to {text[:40]!r}, which is no whole number that it can be")
    return number


def _flag(value: Mapping[str, Any], name: str) -> bool:
    flag = value.get(name, False)
    if not isinstance(flag, bool):
        raise WrongUse(f"the configuration sets {name} to something that is neither true nor false")
    return flag
