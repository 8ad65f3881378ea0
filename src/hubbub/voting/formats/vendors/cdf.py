"""Cast-vote records in the common data format of NIST (1500-103), as XML or JSON, Unisyn's among them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
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
    names = _names(source.path)
    contest, seen = names.contest(source.contest), set[str]()
    for record in _parts(source.path, ("CVR",)):
        number, current = text(record, "UniqueId"), text(record, "CurrentSnapshotId")
        if number and number in seen:
            raise WrongUse(f"{source.path.name} holds a record that was there before; take out what is there twice")
        seen.add(number)
        snapshots = [each for each in record.findall("CVRSnapshot") if each.get("ObjectId", "") == current]
        if not snapshots:
            raise _formless(source.path)
        unit, batch = text(record, "BallotStyleUnitId"), text(record, "BatchId")
        for snapshot in snapshots:
            for each in snapshot.findall("CVRContest"):
                if text(each, "ContestId") == contest:
                    yield CastRecord(list(_marks(each, names, left)), names.units.get(unit, unit), batch)


def cdf_directory(path: Path) -> Directory:
    """Contests and candidates, by the definitions in the file; marks name candidates themselves."""
    names = _names(path)
    people: dict[str, dict[str, str]] = {number: {UNDECLARED: WRITE_IN} for number in names.contests}
    for number, selections in names.options.items():
        for selection in selections:
            write_in, ids = names.selections[selection]
            if not write_in and len(ids) == 1 and ids[0] in names.people:  # others are refused if they are marked
                people[number][names.people[ids[0]]] = names.people[ids[0]]
    return Directory(contests=dict(names.contests), people=people, seats=dict(names.seats))


def _parts(path: Path, tags: Collection[str]) -> Iterator[Element]:
    """The parts of a file with these names, one after the other; of JSON as XML has them."""
    try:
        with open_regular(path) as stream:
            if path.suffix.lower() == ".xml":
                yield from elements(stream, tags, f"the file {path.name}")
                return
            if path.stat().st_size > _MOST_BYTES:
                raise WrongUse(f"{path.name} has more than 1 GB; export the records in several files")
            report = json.loads(stream.read())
            places = [(report, ("GpUnit", "CVR")), *((each, ("Candidate", "Contest")) for each in report["Election"])]
            for place, inside in places:
                for tag in inside:
                    yield from (_element(tag, value) for value in place.get(tag) or () if tag in tags)
    except OSError as error:
        raise WrongUse(f"{path.name} cannot be read: {error.strerror or error}; check the path") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _formless(path) from error


def _formless(path: Path) -> WrongUse:
    return WrongUse(f"{path.name} has not the form of the common data format; is it whole?")


def _element(tag: str, value: Any) -> Element:
    """A part of JSON as the element that XML has in its place."""
    if not isinstance(value, dict):
        found = Element(tag)
        found.text = str(value).lower() if isinstance(value, bool) else str(value)
        return found
    found = Element(tag, {"ObjectId": str(value.get("@id", ""))})
    for name, part in value.items():
        for each in part if isinstance(part, list) else [part] if part is not None else []:
            found.append(_element(name, each))
    return found


def _names(path: Path) -> _Names:
    names = _Names()
    for part in _parts(path, ("Contest", "Candidate", "GpUnit")):
        number = part.get("ObjectId", "")
        if part.tag == "GpUnit":
            names.units[number] = text(part, "Name") or text(part, "Code/Value") or number
        elif part.tag == "Candidate":
            names.people[number] = text(part, "Name")
        else:
            names.contests[number] = text(part, "Name")
            names.seats[number] = _rank(text(part, "VotesAllowed") or text(part, "NumberElected"))
            for option in part.findall("ContestSelection"):
                people = [one for each in option.findall("CandidateIds") for one in (each.text or "").split()]
                names.options.setdefault(number, []).append(option.get("ObjectId", ""))
                names.selections[option.get("ObjectId", "")] = (text(option, "IsWriteIn") == "true", people)
    return names


def _marks(contest: Element, names: _Names, left: LeftOut) -> Iterator[tuple[int, str]]:
    for selection in contest.findall("CVRContestSelection"):
        chosen = text(selection, "ContestSelectionId")
        for position in selection.findall("SelectionPosition"):
            if text(position, "HasIndication") == "no":
                continue
            if not chosen:
                left[_UNALLOTTED] += 1
                continue
            name = UNDECLARED if position.find("CVRWriteIn") is not None else names.candidate(chosen)
            yield _rank(text(position, "Rank") or text(selection, "Rank")), name


def _rank(text: str) -> int:
    """A rank; a contest without ranks has the first."""
    if not text:
        return 1
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:6]) <= 1000):
        raise WrongUse("a rank in the records is no whole number from 1 to 1000; is the file whole?")
    return int(text)
