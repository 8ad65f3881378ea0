"""The record of a count by an office's configuration: the configuration itself, which ballots, every round, every tie.

::

    {"wire": "configured/1", "ballots": {"digest", "candidates", "voters"}, "configuration": {...},
     "passes": [[{...}, ...], ...], "ties": [...], "winners": [...]}

Nothing in it depends on the machine: files are named without their folders. Ties that a configuration draws follow from
its seed, so whoever has the configuration and the records of votes counts it again to the last byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import hubbub
from hubbub.errors import CheckFailed, WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.voting.chance import Ask
from hubbub.voting.count.by_hand import RecordedAnswers
from hubbub.voting.count.record import FORMAT, read_again
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.vendors.office_records import OfficeBallots, Ranks, office_ballots
from hubbub.voting.formats.vendors.rctab_config import Configuration, read_configuration
from hubbub.voting.rctab.count import count_configured
from hubbub.voting.rctab.result import ConfiguredCount
from hubbub.voting.rctab.tie_breaks import ManualTies

WIRE: Final = "configured/1"


@dataclass(frozen=True, slots=True)
class OfficeFile:
    """A configuration with the ballots of its files."""

    configuration: Configuration
    ballots: OfficeBallots


def read_office(path: str | Path) -> OfficeFile:
    """What a configuration says, and the ballots of the files that it names.

    Guarantee: where it asks for counts by precinct or batch, some ballot says its own.
    """
    configuration = read_configuration(path)
    ballots = office_ballots(configuration)
    for what in configuration.by:
        if not any(getattr(unit, what) for unit, _, _ in ballots.by_unit):
            raise WrongUse(
                f"the configuration sets tabulateBy{what.title()}, and the records say no {what} of any ballot"
            )
    return OfficeFile(configuration, ballots)


def ballots_again(record: Mapping[str, Any], paths: Sequence[str | Path]) -> BallotFile | OfficeFile:
    """The ballots of a record, read as it says: those of files, or those that a configuration names."""
    if record.get("wire") != WIRE:
        return read_again(record, paths)
    if len(paths) != 1:
        raise WrongUse("a count by a configuration is made again from the configuration alone, which names its files")
    return read_office(paths[0])


def office_digest(ballots: OfficeBallots) -> str:
    """SHA-256 of the ballots of an office's files, in whatever order they came, in hexadecimal.

    Of the bytes: ``hubbub office ballots 1``, a newline, the candidates as a JSON array of ASCII text, a newline; then
    the different ballots as lines in rising order, each with how often it was cast, a space, and a JSON array of ASCII
    text without spaces: for each rank with a mark, in their order, the rank and the sorted names marked there.
    """
    digest = hashlib.sha256(b"hubbub office ballots 1\n" + json.dumps(list(ballots.candidates)).encode("ascii") + b"\n")
    for line in sorted(f"{weight} {_text(ranks)}\n" for ranks, weight in ballots.ballots):
        digest.update(line.encode("ascii"))
    return digest.hexdigest()


def _text(ranks: Ranks) -> str:
    return json.dumps([[rank, sorted(who)] for rank, who in ranks], separators=(",", ":"))


def configuration_as_json(configuration: Configuration) -> dict[str, Any]:
    """All that a count depends on; files without their folders."""
    return {
        **{what: getattr(configuration, what) for what in ("title", "date", "jurisdiction", "office")},
        "sources": [asdict(source) | {"path": source.path.name} for source in configuration.sources],
        "candidates": [
            {"name": each.name, "aliases": list(each.aliases), "excluded": each.excluded}
            for each in configuration.candidates
        ],
        "rules": asdict(configuration.rules),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfiguredRecord:
    """A count with all that is needed to repeat it but the ballots, of which it holds the digest."""

    counted: ConfiguredCount
    configuration: Configuration
    ballots: str  # their digest

    def as_json(self) -> dict[str, Any]:
        """The wire form. It holds no float."""
        counted = self.counted
        answers = {"answers": list(counted.answers)} if counted.answers else {}
        return answers | {
            "wire": WIRE,
            "ballots": {"digest": self.ballots, "candidates": list(counted.candidates), "voters": counted.cast},
            "configuration": configuration_as_json(self.configuration),
            "passes": [[each.as_json() for each in rounds] for rounds in counted.passes],
            "ties": list(counted.ties),
            "winners": list(counted.winners),
        }

    def to_sign(self) -> dict[str, Any]:
        """A result, but for its signature."""
        return {"format": FORMAT, "software": f"hubbub {hubbub.__version__}", "count": self.as_json()}


def manual_ties(configuration: Configuration, ask: Ask) -> ManualTies | None:
    """Ties as somebody says, where the configuration leaves them to somebody who is asked; None elsewhere."""
    how = configuration.rules.ties
    if not how.endswith("Ask"):
        return None
    return ManualTies(ask, looks_back=how.startswith("previousRoundCounts"))


def configured_record(counted: ConfiguredCount, file: OfficeFile) -> ConfiguredRecord:
    """The record of a count that was just made."""
    return ConfiguredRecord(counted=counted, configuration=file.configuration, ballots=office_digest(file.ballots))


def count_configured_again(record: Mapping[str, Any], file: OfficeFile) -> ConfiguredRecord:
    """The same count, made anew from the configuration and its files.

    Guarantee: returns only if the configuration, the ballots, every round, every tie and all winners are those of the
    record; else `CheckFailed` says what differs. Nothing is taken from the record but who was chosen in ties that the
    configuration leaves to somebody who is asked: what is drawn follows from its seed.
    """
    stated = record.get("ballots") or {}
    if configuration_as_json(file.configuration) != record.get("configuration"):
        raise CheckFailed("the configuration is not that of the record; give the one that was counted by")
    if office_digest(file.ballots) != stated.get("digest"):
        raise CheckFailed("the ballots are not those of the record: their digests differ; give the same files")
    answers = record.get("answers")
    recorded = None if answers is None else RecordedAnswers([str(answer) for answer in answers])
    ties = None if recorded is None else manual_ties(file.configuration, recorded)
    again = configured_record(count_configured(file.configuration, file.ballots, ties), file)
    new = again.as_json()
    for part in ("winners", "ties", "passes", "ballots", *(("answers",) if recorded is not None else ())):
        if new[part] != record.get(part):
            raise CheckFailed(f"the count was made again and its {part} differ from those of the record")
    if set(new) != set(record):
        raise CheckFailed("the record of the count has fields that a count does not have; was it changed?")
    return again
