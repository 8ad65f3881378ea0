"""Cast-vote records in the common data format of NIST (1500-103), as XML or JSON, Unisyn's among them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any, Final
from xml.etree.ElementTree import Element

from hubbub.errors import WrongUse
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular
from hubbub.voting.formats.labels import WRITE_IN
from hubbub.voting.formats.vendors.cast_record import CastRecord, Directory, LeftOut
from hubbub.voting.formats.vendors.rctab_config import UNDECLARED, Source
from hubbub.voting.formats.vendors.safe_xml import elements, text

_MOST_BYTES: Final = 1 << 30
_UNALLOTTED: Final = "marks of write-ins that nobody has allotted"


@dataclass(slots=True)
class _Names:
    """Contests by number, and the candidates of each selection; it grows while the definitions are read."""

    contests: dict[str, str] = field(default_factory=dict)  # id -> name
    people: dict[str, str] = field(default_factory=dict)  # id -> name
    selections: dict[str, tuple[bool, list[str]]] = field(default_factory=dict)  # id -> write-in, candidates
    options: dict[str, list[str]] = field(default_factory=dict)  # contest -> its selections
    seats: dict[str, int] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)  # id -> name of a place

    def contest(self, wanted: str) -> str:
        found = [number for number, name in self.contests.items() if wanted in (name, number)]
        if len(found) == 1 or (not wanted and len(self.contests) == 1):
            return found[0] if found else next(iter(self.contests))
        names = ", ".join(f'"{name}"' for name in list(self.contests.values())[:12])
        raise WrongUse(f"the records hold the contests {names}; say which with contestId")

    def candidate(self, selection: str) -> str:
        write_in, people = self.selections.get(selection, (False, []))
        if write_in:
            return UNDECLARED
        if len(people) != 1 or people[0] not in self.people:
            raise WrongUse("a selection in the records names no single candidate; are the definitions in the file?")
        return self.people[people[0]]


def read_cdf(source: Source, left: LeftOut) -> Iterator[CastRecord]:
    """The marks of the contest on each ballot that has it, from the current snapshot, as names of candidates."""
    try:
        if source.path.suffix.lower() == ".xml":
            yield from _from_xml(source.path, source.contest, left)
        else:
            yield from _from_json(source.path, source.contest, left)
    except OSError as error:
        raise WrongUse(f"{source.path.name} cannot be read: {error.strerror or error}; check the path") from error


def cdf_directory(path: Path) -> Directory:
    """Contests and candidates, by the definitions in the file; marks name candidates themselves."""
    try:
        names = _names_of_xml(path) if path.suffix.lower() == ".xml" else _names_of_json(_report(path))
    except OSError as error:
        raise WrongUse(f"{path.name} cannot be read: {error.strerror or error}; check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WrongUse(f"{path.name} has not the form of the common data format; is it whole?") from error
    people: dict[str, dict[str, str]] = {number: {UNDECLARED: WRITE_IN} for number in names.contests}
    for number, selections in names.options.items():
        for selection in selections:
            write_in, ids = names.selections[selection]
            if not write_in and len(ids) == 1 and ids[0] in names.people:  # others are refused if they are marked
                people[number][names.people[ids[0]]] = names.people[ids[0]]
    return Directory(contests=dict(names.contests), people=people, seats=dict(names.seats))


def _report(path: Path) -> Any:
    if path.stat().st_size > _MOST_BYTES:
        raise WrongUse(f"{path.name} has more than 1 GB; export the records in several files")
    with open_regular(path) as stream:
        return json.loads(stream.read())


def _from_xml(path: Path, wanted: str, left: LeftOut) -> Iterator[CastRecord]:
    names, what = _names_of_xml(path), f"the file {path.name}"
    contest, seen = names.contest(wanted), set[str]()
    with open_regular(path) as stream:
        for record in elements(stream, ("CVR",), what):
            _check_once(text(record, "UniqueId"), seen, path)
            current = text(record, "CurrentSnapshotId")
            for snapshot in record.findall("CVRSnapshot"):
                if snapshot.get("ObjectId", "") == current:
                    unit, batch = text(record, "BallotStyleUnitId"), text(record, "BatchId")
                    for marks in _marks_of_xml(snapshot, contest, names, left):
                        yield CastRecord(marks, names.units.get(unit, unit), batch)


def _check_once(record: str, seen: set[str], path: Path) -> None:
    """Refuse a record that says by its own identifier that it was there before."""
    if record and record in seen:
        raise WrongUse(f"{path.name} holds a record that was there before; take out what is there twice")
    seen.add(record)


def _names_of_xml(path: Path) -> _Names:
    names, what = _Names(), f"the file {path.name}"
    with open_regular(path) as stream:
        for part in elements(stream, ("Contest", "Candidate", "GpUnit"), what):
            number = part.get("ObjectId", "")
            if part.tag == "GpUnit":
                names.units[number] = text(part, "Name") or text(part, "Code/Value") or number
                continue
            if part.tag == "Candidate":
                names.people[number] = text(part, "Name")
                continue
            names.contests[number] = text(part, "Name")
            names.seats[number] = _rank(text(part, "VotesAllowed") or text(part, "NumberElected"))
            for option in part.findall("ContestSelection"):
                people = [one for each in option.findall("CandidateIds") for one in (each.text or "").split()]
                names.options.setdefault(number, []).append(option.get("ObjectId", ""))
                names.selections[option.get("ObjectId", "")] = (text(option, "IsWriteIn") == "true", people)
    return names


def _marks_of_xml(snapshot: Element, contest: str, names: _Names, left: LeftOut) -> Iterator[list[tuple[int, str]]]:
    for each in snapshot.findall("CVRContest"):
        if text(each, "ContestId") != contest:
            continue
        marks = []
        for selection in each.findall("CVRContestSelection"):
            for position in selection.findall("SelectionPosition"):
                if text(position, "HasIndication") == "no":
                    continue
                chosen = text(selection, "ContestSelectionId")
                if not chosen:
                    left[_UNALLOTTED] += 1
                    continue
                written = position.find("CVRWriteIn") is not None
                name = UNDECLARED if written else names.candidate(chosen)
                marks.append((_rank(text(position, "Rank") or text(selection, "Rank")), name))
        yield marks


def _from_json(path: Path, wanted: str, left: LeftOut) -> Iterator[CastRecord]:
    try:
        report = _report(path)
        names = _names_of_json(report)
        contest, seen = names.contest(wanted), set[str]()
        for record in report["CVR"]:
            _check_once(str(record.get("UniqueId") or ""), seen, path)
            current = record["CurrentSnapshotId"]
            for snapshot in record["CVRSnapshot"]:
                if snapshot["@id"] == current:
                    unit, batch = str(record.get("BallotStyleUnitId") or ""), str(record.get("BatchId") or "")
                    for marks in _marks_of_json(snapshot.get("CVRContest", []), contest, names, left):
                        yield CastRecord(marks, names.units.get(unit, unit), batch)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise WrongUse(f"{path.name} has not the form of the common data format; is it whole?") from error


def _names_of_json(report: Mapping[str, Any]) -> _Names:
    names = _Names()
    for unit in report.get("GpUnit") or []:
        names.units[unit["@id"]] = str(unit.get("Name") or unit["@id"])
    for election in report["Election"]:
        for person in election.get("Candidate", []):
            names.people[person["@id"]] = str(person.get("Name", ""))
        for one in election["Contest"]:
            names.contests[one["@id"]] = str(one.get("Name", ""))
            names.seats[one["@id"]] = int(one.get("VotesAllowed") or one.get("NumberElected") or 1)
            for option in one.get("ContestSelection", []):
                names.options.setdefault(one["@id"], []).append(option["@id"])
                names.selections[option["@id"]] = (bool(option.get("IsWriteIn")), option.get("CandidateIds") or [])
    return names


def _marks_of_json(
    contests: Sequence[Mapping[str, Any]], contest: str, names: _Names, left: LeftOut
) -> Iterator[list[tuple[int, str]]]:
    for each in contests:
        if each["ContestId"] != contest:
            continue
        marks = []
        for selection in each.get("CVRContestSelection", []):
            for position in selection["SelectionPosition"]:
                if position.get("HasIndication") == "no":
                    continue
                chosen = str(selection.get("ContestSelectionId", ""))
                if not chosen:
                    left[_UNALLOTTED] += 1
                    continue
                written = position.get("CVRWriteIn") is not None
                name = UNDECLARED if written else names.candidate(chosen)
                marks.append((_rank(str(position.get("Rank", selection.get("Rank", "")))), name))
        yield marks


def _rank(text: str) -> int:
    """A rank; a contest without ranks has the first."""
    if not text:
        return 1
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 1000):
        raise WrongUse("a rank in the records is no whole number from 1 to 1000; is the file whole?")
    return int(text)
