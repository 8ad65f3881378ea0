"""Dominion's cast-vote records: a folder with CvrExport.json, or CvrExport_1.json and so on, beside its manifests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from hubbub.errors import WrongUse
from hubbub.voting.formats.labels import WRITE_IN
from hubbub.voting.formats.vendors.cast_record import CastRecord, Directory, LeftOut
from hubbub.voting.formats.vendors.rctab_config import Source

_MOST_BYTES: Final = 1 << 30  # of one file
_MOST_RANKS: Final = 1000


def read_dominion(source: Source, left: LeftOut) -> Iterator[CastRecord]:
    """The marks of the contest on each ballot that has it, by the candidate's number: the version that was adjudicated
    where there is one; ambiguous marks and contests that do not count are left out."""
    files = _files(source.path)
    if not files:
        raise WrongUse(f"{source.path.name} holds no file called CvrExport*.json; is it a folder of Dominion's?")
    invalid, portions, seen = _invalid(source.path), _portions(source.path), set[tuple[object, ...]]()
    for path in files:
        try:
            for session in json.loads(_bytes(path))["Sessions"]:
                name = (session["TabulatorId"], session["BatchId"], session["RecordId"])
                if name in seen and isinstance(name[2], int):  # offices that hide the numbers write a letter
                    raise WrongUse(f"{path.name} holds a record that was there before; take out what is there twice")
                seen.add(name)
                yield from _session(session, source.contest, invalid, portions, left)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise WrongUse(f"{path.name} has not the form of Dominion's records; is it whole?") from error


def _files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    return sorted(path for path in folder.glob("*.json") if path.name.lower().startswith("cvrexport"))


def _bytes(path: Path) -> bytes:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise WrongUse(f"{path.name} has more than 1 GB; export the records in several files")
        return path.read_bytes()
    except OSError as error:
        raise WrongUse(f"{path.name} cannot be read: {error.strerror or error}; check the path") from error


def dominion_directory(path: Path) -> Directory:
    """Contests and candidates, by the manifests beside the records."""
    folder = path if path.is_dir() else path.parent
    try:
        contests = json.loads(_bytes(folder / "ContestManifest.json"))["List"]
        people = json.loads(_bytes(folder / "CandidateManifest.json"))["List"]
        candidates: dict[str, dict[str, str]] = {str(one["Id"]): {} for one in contests}
        for one in people:
            name = WRITE_IN if one.get("Type") == "WriteIn" else str(one["Description"])
            candidates.setdefault(str(one["ContestId"]), {})[str(one["Id"])] = name
        return Directory(
            contests={str(one["Id"]): str(one["Description"]) for one in contests},
            people=candidates,
            seats={str(one["Id"]): int(one.get("VoteFor", 1)) for one in contests},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WrongUse("the manifests beside the records have not the form of Dominion's; are they whole?") from error


def _invalid(folder: Path) -> int | None:
    """The condition that says that a contest on a ballot does not count, by the manifest beside the records."""
    manifest = (folder if folder.is_dir() else folder.parent) / "OutstackConditionManifest.json"
    if not manifest.is_file():
        return None
    try:
        listed = json.loads(_bytes(manifest))["List"]
        return next((int(one["Id"]) for one in listed if one["Description"] == "InvalidContest"), None)
    except (ValueError, KeyError, TypeError) as error:
        raise WrongUse(f"{manifest.name} has not the form of Dominion's manifests; is it whole?") from error


def _portions(folder: Path) -> dict[str, str]:
    """Precinct portions by number, by the manifest beside the records."""
    manifest = (folder if folder.is_dir() else folder.parent) / "PrecinctPortionManifest.json"
    if not manifest.is_file():
        return {}
    try:
        return {str(one["Id"]): str(one["Description"]) for one in json.loads(_bytes(manifest))["List"]}
    except (ValueError, KeyError, TypeError) as error:
        raise WrongUse(f"{manifest.name} has not the form of Dominion's manifests; is it whole?") from error


def _rank(given: object) -> int:
    if not isinstance(given, int) or not 1 <= given <= _MOST_RANKS:
        raise WrongUse(f"a rank in the records is no whole number from 1 to {_MOST_RANKS}; is the file whole?")
    return given


def _session(
    session: dict[str, Any], contest: str, invalid: int | None, portions: Mapping[str, str], left: LeftOut
) -> Iterator[CastRecord]:
    current = session["Original"]
    if session.get("Modified") and session["Modified"].get("IsCurrent"):
        current = session["Modified"]
    cards = current.get("Cards", [current])
    portion = str(current.get("PrecinctPortionId", ""))
    precinct, batch = portions.get(portion, portion), f"{session['TabulatorId']}-{session['BatchId']}"
    for card in cards:
        for each in card["Contests"]:
            if str(each["Id"]) != contest:
                continue
            if invalid in each.get("OutstackConditionIds", ()):
                left["ballots whose contest is invalid by OutstackConditionIds"] += 1
            else:
                left["ambiguous marks"] += sum(bool(mark["IsAmbiguous"]) for mark in each["Marks"])
                marks = [
                    (_rank(mark["Rank"]), str(mark["CandidateId"])) for mark in each["Marks"] if not mark["IsAmbiguous"]
                ]
                yield CastRecord(marks, precinct, batch)
