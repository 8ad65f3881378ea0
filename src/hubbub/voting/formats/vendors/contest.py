"""One contest out of a vendor's records: Dominion's JSON, Hart's XML, or the common data format, named by itself.

Candidates are named by the vendor's own manifests, and a code that no manifest names is refused.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots, checked_candidates
from hubbub.voting.formats.ballot_file import BallotFile, Levels, gather
from hubbub.voting.formats.csv_columns import chosen_contest
from hubbub.voting.formats.labels import NOBODY, WRITE_IN, Meanings, NotListed, meanings
from hubbub.voting.formats.reading import Changes, Rank, Reading, ranking_of
from hubbub.voting.formats.vendors.cast_record import CastRecord, Directory, LeftOut, left_out_sentences
from hubbub.voting.formats.vendors.cdf import cdf_directory, read_cdf
from hubbub.voting.formats.vendors.dominion_json import dominion_directory, read_dominion
from hubbub.voting.formats.vendors.hart import hart_directory, read_hart
from hubbub.voting.formats.vendors.rctab_config import Source
from hubbub.voting.recognition import check_names

KINDS: Final = ("dominion", "hart", "cdf")

_Marks = tuple[tuple[int, str], ...]
_DIRECTORIES: Final[Mapping[str, Callable[[Path], Directory]]] = {
    "dominion": dominion_directory,
    "hart": hart_directory,
    "cdf": cdf_directory,
}
_READERS: Final[Mapping[str, Callable[[Source, LeftOut], Iterator[CastRecord]]]] = {
    "dominion": read_dominion,
    "hart": read_hart,
    "cdf": read_cdf,
}


def vendor_of(path: Path) -> str | None:
    """Whose records a folder, archive, JSON or XML file holds; None for another kind of file."""
    ending = path.suffix.lower()
    if path.is_dir():
        names = [each.name.lower() for each in path.iterdir()]
    elif ending == ".zip":
        try:
            with zipfile.ZipFile(path) as packed:
                names = [name.rpartition("/")[2].lower() for name in packed.namelist()]
        except (OSError, zipfile.BadZipFile) as error:
            raise WrongUse(f"the archive {path.name} cannot be opened; is it whole?") from error
        if any(name.startswith("cvrexport") for name in names):
            raise WrongUse(f"{path.name} is an archive of Dominion's; unpack it and name the folder")
    elif ending == ".json":
        return "dominion" if path.name.lower().startswith("cvrexport") else "cdf"
    else:
        return "cdf" if ending == ".xml" else None
    if any(name.startswith("cvrexport") and name.endswith(".json") for name in names):
        return "dominion"
    if any(name.endswith(".xml") for name in names):
        return "hart"
    raise WrongUse(f"{path.name} holds neither Dominion's records (CvrExport*.json) nor Hart's (.xml)")


def read_vendor(
    path: Path,
    kind: str,
    reading: Reading,
    *,
    contest: str | None,
    candidates: Sequence[str] | None,
    unit: str | None = None,
    numbers: Collection[int] = (),
) -> BallotFile:
    """The ballots of one contest, and those of each `unit`, which is "precinct" or "batch" as the records say it, or
    each of those with these `numbers`.

    Guarantee: every mark is one of a candidate whom the vendor's manifest names in this contest.
    """
    directory = _DIRECTORIES[kind](path)
    number = _choose_contest(directory, contest)
    people, seats = directory.people.get(number, {}), directory.seats.get(number)
    if unit not in (None, "precinct", "batch"):
        raise WrongUse(f"the records of a vendor are counted by precinct or by batch, not by {unit[:40]!r}")
    counts: dict[_Marks, int] = {}
    parts: dict[str, dict[_Marks, int]] = {}
    left = LeftOut()
    for at, read in enumerate(_READERS[kind](Source(path=path, provider=kind, contest=number), left), 1):
        marks = tuple(sorted(set(read.marks)))
        counts[marks] = counts.get(marks, 0) + 1
        if unit is not None:
            part = parts.setdefault(getattr(read, unit), {})
            part[marks] = part.get(marks, 0) + 1
        if at in numbers:
            parts[str(at)] = {marks: 1}
    if not counts:
        raise WrongUse("no ballot of the records has this contest; at least one is needed")
    _check_ranked(counts, seats)
    reading = reading.for_marks(counted=False)
    read_as = _meanings(people, counts, reading, candidates)
    everyone = checked_candidates(tuple(candidates) if candidates else tuple(sorted(read_as.met)))
    changes = Changes()

    def ballots(part: Mapping[_Marks, int], changes: Changes) -> Ballots:
        levels = dict[Levels, int]()
        for marks, weight in part.items():
            ranked = ranking_of(_ranks(marks, people, read_as), reading, changes, weight, "the records")
            levels[ranked] = levels.get(ranked, 0) + weight
        return gather(everyone, levels)

    return BallotFile(
        ballots=ballots(counts, changes),
        format=kind,
        title=directory.contests[number],
        reading=reading,
        changed=dict(changes.ballots),
        seats=max(1, seats or 1),
        remarks=(*left_out_sentences(left), *read_as.remarks(reading)),
        units={name: ballots(part, Changes()) for name, part in sorted(parts.items())},
    )


def _choose_contest(directory: Directory, wanted: str | None) -> str:
    if not directory.contests:
        raise WrongUse("the records name no contest; are their definitions or manifests there?")
    if wanted is not None and wanted in directory.contests:
        return wanted
    chosen = chosen_contest(list(directory.contests.values()), wanted, ())
    return next(number for number, name in directory.contests.items() if name == chosen)


def _check_ranked(counts: Iterable[_Marks], seats: int | None) -> None:
    """Refuse a contest in which voters marked several candidates without ranking them."""
    listed = list(counts)
    if seats == 1 or any(rank > 1 for marks in listed for rank, _ in marks):
        return
    if (seats or 0) > 1 or any(len(marks) > 1 for marks in listed):
        raise WrongUse(
            "the contest has no second rank, and voters may have marked several candidates without ranking them; "
            "ranked contests and contests for one seat can be counted"
        )


def _meanings(
    people: Mapping[str, str], counts: Collection[_Marks], reading: Reading, candidates: Sequence[str] | None
) -> Meanings:
    unknown = sorted({code for marks in counts for _, code in marks if code not in people})
    if unknown:
        raise WrongUse(
            f"the records mark {unknown[0][:60]!r}, whom no manifest names; are the manifests of this contest?"
        )
    try:
        marked = {people[code] for marks in counts for _, code in marks}
        listed = {name for name in people.values() if name != WRITE_IN or name in marked}
        read_as = meanings(sorted(listed), reading, candidates)
    except NotListed as error:
        raise WrongUse(error.marked) from error
    if candidates is None:
        check_names(read_as.met, {new for _, new in reading.aliases})
    return read_as


def _ranks(marks: _Marks, people: Mapping[str, str], read_as: Meanings) -> list[Rank]:
    """The ranks of a ballot from the first on, at most two skipped ones in a row: no rule tells two from more."""
    at: dict[int, list[Rank]] = {}
    for rank, code in marks:
        at.setdefault(rank, []).append(read_as.ranks[people[code]])
    out, before = list[Rank](), 0
    for rank in sorted(at):
        out += [NOBODY] * min(rank - before - 1, 2)
        known = [who for who in at[rank] if who is not None]
        out.append(None if len(known) < len(at[rank]) else NOBODY.union(*known))
        before = rank
    return out
