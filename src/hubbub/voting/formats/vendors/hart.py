"""Hart's cast-vote records: a folder or zip archive of XML files, one for each ballot."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final
from xml.etree.ElementTree import Element

from hubbub.errors import WrongUse
from hubbub.voting.formats.labels import WRITE_IN
from hubbub.voting.formats.vendors.cast_record import CastRecord, Directory, LeftOut
from hubbub.voting.formats.vendors.rctab_config import Source
from hubbub.voting.formats.vendors.safe_xml import elements, text

_MOST_BYTES: Final = 16 << 20  # of one ballot


def read_hart(source: Source, left: LeftOut) -> Iterator[CastRecord]:
    """The marks of the contest on each ballot that has it. A value like 0100 is a mark at the second rank."""
    seen = set[str]()
    for name, stream in _files(source):
        here, precinct, batch = list[Element](), "", ""
        for part in elements(stream, ("Contest", "PrecinctSplit", "BatchNumber", "CvrGuid"), f"the record {name}"):
            if part.tag == "CvrGuid" and (guid := (part.text or "").strip()):
                if guid in seen:
                    raise WrongUse(f"the record {name} was there before; take out what is there twice")
                seen.add(guid)
            if part.tag == "Contest" and text(part, "Id") == source.contest:
                here.append(part)
            elif part.tag == "PrecinctSplit":
                precinct = text(part, "Name")
            elif part.tag == "BatchNumber":
                batch = (part.text or "").strip()
        for contest in here:
            marks = []
            for option in contest.iterfind("Options/Option"):
                for rank, sign in enumerate(text(option, "Value"), 1):
                    if sign not in "01":
                        raise WrongUse(f"the record {name} has a mark that is neither 0 nor 1; is it Hart's?")
                    if sign == "1":
                        marks.append((rank, text(option, "Id")))
            yield CastRecord(marks, precinct, batch)


def hart_directory(path: Path) -> Directory:
    """Contests and candidates, by all the records: each names those whom it marks."""
    contests: dict[str, str] = {}
    people: dict[str, dict[str, str]] = {}
    for name, stream in _files(Source(path=path, provider="hart")):
        for contest in elements(stream, ("Contest",), f"the record {name}"):
            number = text(contest, "Id")
            contests[number] = text(contest, "Name")
            here = people.setdefault(number, {})
            for option in contest.iterfind("Options/Option"):
                here[text(option, "Id")] = text(option, "Name") or WRITE_IN
    return Directory(contests=contests, people=people)


def _files(source: Source) -> Iterator[tuple[str, BinaryIO]]:
    try:
        if source.path.is_dir():
            for path in sorted(source.path.glob("*.xml")):
                with path.open("rb") as stream:
                    yield path.name, stream
            return
        with zipfile.ZipFile(source.path) as packed:
            for info in packed.infolist():
                if info.filename.lower().endswith(".xml"):
                    if info.file_size > _MOST_BYTES:
                        raise WrongUse(f"the record {info.filename} has more than 16 MB, which no ballot has")
                    yield info.filename, io.BytesIO(packed.read(info))
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        raise WrongUse(f"the records in {source.path.name} cannot be read; is the archive whole?") from error
