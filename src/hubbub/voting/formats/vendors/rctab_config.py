"""The configuration of RCTab, the tabulator that many offices run: which files, who stands, by which rules.

Only what is understood is read: a key, a rule or a value that is not known here is refused by its name, and so is what
RCTab itself refuses: settings that do not go together, or that a vendor's records have no use for.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass

UNDECLARED: Final = "Undeclared Write-ins"
PROVIDERS: Final = ("ess", "cdf", "clearBallot", "dominion", "genericCsv", "hart")
SEVERAL_CONTINUING: Final = "exhaustIfMultipleContinuing"
OVERVOTES: Final = ("exhaustImmediately", "alwaysSkipToNextRank", SEVERAL_CONTINUING)
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

_LABELS: Final = ("overvoteLabel", "skippedRankLabel", "undervoteLabel", "undeclaredWriteInLabel")
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "configuration": ("tabulatorVersion", "outputSettings", "cvrFileSources", "candidates", "rules"),
    "outputSettings": (
        *("contestName", "contestDate", "contestJurisdiction", "contestOffice", "outputDirectory"),
        *("tabulateByPrecinct", "tabulateByBatch", "generateCdfJson"),
    ),
    "cvrFileSources": (
        *("filePath", "provider", "contestId", "firstVoteColumnIndex", "firstVoteRowIndex", "idColumnIndex"),
        *("precinctColumnIndex", "batchColumnIndex", "overvoteDelimiter", *_LABELS, "treatBlankAsUndeclaredWriteIn"),
    ),
    "candidates": ("name", "aliases", "code", "excluded"),
    "rules": (
        *("tiebreakMode", "overvoteRule", "winnerElectionMode", "randomSeed", "numberOfWinners"),
        *("multiSeatBottomsUpPercentageThreshold", "decimalPlacesForVoteArithmetic", "minimumVoteThreshold"),
        *("maxSkippedRanksAllowed", "maxRankingsAllowed", "nonIntegerWinningThreshold", "hareQuota"),
        *("doesFirstRoundDetermineThreshold", "batchElimination", "cutoffElimination"),
        *("continueUntilTwoCandidatesRemain", "stopTabulationEarlyAfterRound", "exhaustOnDuplicateCandidate"),
        *("rulesDescription", *_LABELS, "treatBlankAsUndeclaredWriteIn"),
    ),
}
"""Every key that is understood, by the part that it stands in. The labels in `rules` are those of older versions."""

_NOT_COUNTED: Final[Mapping[str, tuple[str, ...]]] = {
    "candidates": ("contestId",),
    "rules": ("bulkElimination", "preventOneCandidateInFinalRound", "sequentialMultiSeat", "bottomsUpMultiSeat"),
}
"""Keys that some versions of RCTab write and that nothing here follows: refused unless they say nothing or false."""

_TABLE_KEYS: Final = (
    *("firstVoteColumnIndex", "firstVoteRowIndex", "idColumnIndex", "precinctColumnIndex", "batchColumnIndex"),
    *("overvoteDelimiter", "overvoteLabel", "skippedRankLabel", "undervoteLabel", "treatBlankAsUndeclaredWriteIn"),
)
"""What says something about rows and columns, and nothing about the records of other vendors."""

_TABLES: Final = ("ess", "genericCsv")
_MOST_BYTES: Final = 16 << 20
_FLAGS: Final = {
    "nonIntegerWinningThreshold": "fractional",
    "hareQuota": "hare",
    "batchElimination": "batch",
    "cutoffElimination": "cutoff",
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
    cutoff: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What a configuration file says; `by` is what each round must be reported by, and `not_written` what is asked for
    and not made here."""

    title: str
    date: str
    jurisdiction: str
    office: str
    sources: tuple[Source, ...]
    candidates: tuple[Candidate, ...]
    rules: TabulationRules
    by: tuple[str, ...] = ()
    not_written: tuple[str, ...] = ()


def read_configuration(path: str | Path) -> Configuration:
    """The configuration in a file. Paths in it are relative to it; what is not there is looked for beside it.

    Guarantee: every key of the file is one of `KEYS`, is there once, and was read; any other is refused by its name.
    """
    file = Path(path)
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise WrongUse("a configuration of RCTab has less than 16 MB; is this another file?")
        value = json.loads(file.read_text(encoding="utf-8-sig"), object_pairs_hook=_once)
    except OSError as error:
        raise WrongUse(f"the configuration cannot be read: {error.strerror or error}; check its path") from error
    except (ValueError, RecursionError) as error:
        raise WrongUse("the configuration is not JSON; is it RCTab's?") from error
    try:
        check_keys("configuration", value)
        output, rules = value["outputSettings"], value["rules"]
        check_keys("outputSettings", output)
        check_keys("rules", rules)
        sources = tuple(_source(source, rules, file.parent) for source in value["cvrFileSources"])
        candidates = tuple(_candidate(one) for one in value["candidates"])
        configuration = Configuration(
            title=str(output["contestName"]),
            date=str(output.get("contestDate") or ""),
            jurisdiction=str(output.get("contestJurisdiction") or ""),
            office=str(output.get("contestOffice") or ""),
            sources=sources,
            candidates=candidates,
            rules=_rules(rules),
            by=tuple(what for what in ("precinct", "batch") if _flag(output, f"tabulateBy{what.title()}")),
            not_written=("generateCdfJson",) if _flag(output, "generateCdfJson") else (),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise WrongUse(
            "the configuration has not the parts of RCTab's (outputSettings, cvrFileSources, candidates, rules); save "
            "it with RCTab 1.3 or later"
        ) from error
    _check_sources(configuration)
    _check_candidates(candidates)
    _check_rules(configuration.rules)
    return configuration


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise WrongUse(f"the configuration says {twice[:60]!r} twice in one part; leave one of them")
    return dict(pairs)


def check_keys(part: str, value: Mapping[str, Any]) -> None:
    """Refuse a key of this part that is not understood, with the one that is most like it."""
    for name in value:
        if name in KEYS[part]:
            continue
        if name in _NOT_COUNTED.get(part, ()):
            if value[name] in (None, "", False):
                continue
            raise WrongUse(
                f"the configuration sets {name}, a rule of some versions of RCTab that is not counted here; leave it out"
            )
        where = "has" if part == "configuration" else f"has in {part}"
        elsewhere = next((other for other, names in KEYS.items() if name in names), None)
        near = difflib.get_close_matches(name, KEYS[part], n=1, cutoff=0) or KEYS[part][:1]
        hint = f"it belongs in {elsewhere}" if elsewhere else f"the nearest that is known is {near[0]!r}"
        raise WrongUse(
            f"the configuration {where} the key {name[:60]!r}, which is not understood, so nothing is counted; {hint}"
        )


def _check_sources(configuration: Configuration) -> None:
    paths = [source.path.resolve() for source in configuration.sources]
    if not paths:
        raise WrongUse("the configuration names no file of records; add one to cvrFileSources")
    if twice := next((path for path in paths if paths.count(path) > 1), None):
        raise WrongUse(f"the configuration names the file {twice.name!r} twice, and its ballots would count twice")
    several = configuration.rules.overvotes == SEVERAL_CONTINUING
    for source in configuration.sources:
        if several and source.overvote_label:
            raise WrongUse(f"overvoteRule {SEVERAL_CONTINUING} needs to know who was marked; leave out overvoteLabel")
        if several and source.provider == "ess" and not source.overvote_delimiter:
            raise WrongUse(f"overvoteRule {SEVERAL_CONTINUING} needs overvoteDelimiter for records of ES&S")
        if source.overvote_label and source.overvote_delimiter:
            raise WrongUse("overvoteLabel and overvoteDelimiter do not go together; leave one of them out")
        for what in configuration.by:
            tables = source.precinct_column if what == "precinct" else source.batch_column
            if source.provider in _TABLES and tables is None:
                raise WrongUse(f"tabulateBy{what.title()} needs {what}ColumnIndex for {source.path.name!r}")


def _check_candidates(candidates: Sequence[Candidate]) -> None:
    names = [candidate.name.strip() for candidate in candidates]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise WrongUse(
            f"the configuration lists {twice[:60]!r} twice among the candidates; give each a name of their own"
        )
    if all(candidate.excluded for candidate in candidates) or not all(names):
        raise WrongUse("the configuration needs a candidate who is not excluded, and a name for each")


def _check_rules(rules: TabulationRules) -> None:
    """Refuse rules that RCTab refuses together, and those whose meaning together nobody wrote down."""
    mode, several = rules.mode, rules.winners > 1
    wrong = {
        "numberOfWinners is 0, or left out, with bottomsUpUsingPercentageThreshold alone": (mode == PERCENTAGE)
        != (rules.winners == 0),
        "one seat is filled by singleWinnerMajority alone, and that fills no more": (rules.winners == 1)
        != (mode == SINGLE)
        and mode != PERCENTAGE,
        "bottomsUpUsingPercentageThreshold needs multiSeatBottomsUpPercentageThreshold from 1 to 100": mode
        == PERCENTAGE
        and not 1 <= (rules.percentage or 0) <= 100,
        "batchElimination is for one seat and for multiPassIrv": rules.batch and mode not in (SINGLE, PASSES),
        "continueUntilTwoCandidatesRemain is for one seat and for multiPassIrv": rules.until_two
        and mode not in (SINGLE, PASSES),
        "cutoffElimination is for bottomsUpUsingPercentageThreshold": rules.cutoff and mode != PERCENTAGE,
        "nonIntegerWinningThreshold and hareQuota are for several seats with surpluses": (
            rules.fractional or rules.hare
        )
        and mode not in (ONE_A_ROUND, SEVERAL),
        "nonIntegerWinningThreshold and hareQuota do not go together": rules.fractional and rules.hare,
        "doesFirstRoundDetermineThreshold is for one seat and for percentages: several seats have no other threshold": (
            rules.first_threshold and several and mode != PASSES
        ),
        "stopTabulationEarlyAfterRound is 1 or more": rules.stop_after == 0,
        "maxRankingsAllowed is 1 or more, or max": rules.most_ranks == 0,
    }
    for sentence, holds in wrong.items():
        if holds:
            raise WrongUse(f"the configuration is not counted: {sentence}")


def is_configuration(path: Path) -> bool:
    """Whether a file looks like RCTab's configuration."""
    try:
        if path.suffix.lower() != ".json" or path.stat().st_size > _MOST_BYTES:
            return False
        value = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(value, dict) and {"cvrFileSources", "candidates", "rules"} <= set(value)


def _source(value: Mapping[str, Any], rules: Mapping[str, Any], folder: Path) -> Source:
    check_keys("cvrFileSources", value)
    provider = str(value["provider"])
    if provider not in PROVIDERS:
        raise WrongUse(f"the configuration names the provider {provider[:40]!r}; known are {', '.join(PROVIDERS)}")
    useless = ("contestId",) if provider in _TABLES else _TABLE_KEYS
    if idle := next((name for name in useless if value.get(name) not in (None, "", False)), None):
        raise WrongUse(f"the configuration sets {idle}, and records of the provider {provider} have no use for it")
    if provider not in _TABLES and not value.get("contestId"):
        raise WrongUse(f"records of the provider {provider} hold several contests; say which with contestId")
    path = folder / str(value["filePath"])
    beside = folder / path.name
    table = provider in _TABLES
    return Source(
        path=beside if beside.exists() and not path.exists() else path,
        provider=provider,
        contest=str(value.get("contestId") or ""),
        first_column=_number(value, "firstVoteColumnIndex", least=1, needed=table),
        first_row=_number(value, "firstVoteRowIndex", least=1, needed=table),
        id_column=_number(value, "idColumnIndex", least=1),
        precinct_column=_number(value, "precinctColumnIndex", least=1),
        batch_column=_number(value, "batchColumnIndex", least=1),
        overvote_label=_label(value, rules, "overvoteLabel") if table else "",
        overvote_delimiter=str(value.get("overvoteDelimiter") or ""),
        skipped_label=_label(value, rules, "skippedRankLabel", "undervoteLabel") if table else "",
        write_in_label=_label(value, rules, "undeclaredWriteInLabel"),
        blank_is_write_in=table
        and (_flag(value, "treatBlankAsUndeclaredWriteIn") or _flag(rules, "treatBlankAsUndeclaredWriteIn")),
    )


def _label(value: Mapping[str, Any], rules: Mapping[str, Any], *names: str) -> str:
    """What a file writes for something, by the source or, in older versions, by the rules."""
    said = {str(part.get(name) or "").strip() for part in (value, rules) for name in names} - {""}
    if len(said) > 1:
        raise WrongUse(f"the configuration says two things by {' or '.join(names)}; leave the one of the source alone")
    return said.pop() if said else ""


def _candidate(value: Mapping[str, Any]) -> Candidate:
    check_keys("candidates", value)
    name = str(value["name"])
    aliases = [*(value.get("aliases") or []), *([value["code"]] if value.get("code") else [])]
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
        decimals=_number(value, "decimalPlacesForVoteArithmetic", least=1, most=20, needed=True) or 0,
        least_votes=_number(value, "minimumVoteThreshold") or 0,
        most_skips=_limit(value, "maxSkippedRanksAllowed", "unlimited"),
        most_ranks=_limit(value, "maxRankingsAllowed", "max"),
        stop_after=_number(value, "stopTabulationEarlyAfterRound"),
        **{ours: _flag(value, theirs) for theirs, ours in _FLAGS.items()},
    )


def _limit(value: Mapping[str, Any], name: str, word: str) -> int | None:
    """A whole number; None for the word that says that there is no limit."""
    return None if str(value.get(name)).strip().casefold() == word else _number(value, name, needed=True)


def _number(
    value: Mapping[str, Any], name: str, *, least: int | None = 0, most: int = 10**15, needed: bool = False
) -> int | None:
    """A whole number; None where nothing is said."""
    text = str("" if value.get(name) is None else value[name]).strip()
    if not text and not needed:
        return None
    try:
        number = int(text) if text.isascii() and "_" not in text else most + 1
    except ValueError:
        number = most + 1
    if number > most or (least is not None and number < least):
        said = f"sets {name} to {text[:40]!r}" if text else f"does not set {name}"
        raise WrongUse(f"the configuration {said}, which is no whole number that it can be")
    return number


def _flag(value: Mapping[str, Any], name: str) -> bool:
    flag = value.get(name) or False
    if not isinstance(flag, bool):
        raise WrongUse(f"the configuration sets {name} to something that is neither true nor false")
    return flag
