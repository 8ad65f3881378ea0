"""Ballots of one contest from several files, folders and archives, read each by itself and put together.

A folder with a vendor's records is one source; another folder stands for the files in it, and an archive (.zip) for what
is packed in it. Every file must hold the same contest, or `contest` must pick it.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from hubbub.errors import WrongUse
from hubbub.voting.ballots import Ballots
from hubbub.voting.formats import formats, preflib
from hubbub.voting.formats.ballot_file import BallotFile
from hubbub.voting.formats.labels import near_equal
from hubbub.voting.formats.rated_cells import scale_remark
from hubbub.voting.formats.reading import Reading
from hubbub.voting.formats.vendors.safe_xml import first_tag

_OWN_LIST: Final = (*preflib.ENDINGS, preflib.CATEGORIES, "blt", "blt-csv")  # formats that list their candidates
_KNOWN: Final = frozenset({*(f".{ending}" for ending in formats.FORMATS), ".tsv", ".json", ".xml", ".zip", ".gz"})
_MOST_FILES: Final = 100_000
_MOST_BYTES: Final = 16 << 30  # unpacked, of one archive
_DEEPEST: Final = 4  # folders and archives within one another
_PIECE: Final = 1 << 20
_MOST_LISTED: Final = 4


def read_all(
    paths: str | Path | Sequence[str | Path],
    reading: Reading | None = None,
    *,
    format: str | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    candidates: Sequence[str] | None = None,
    contest: str | None = None,
    encoding: str | None = None,
    precinct: str | None = None,
    numbers: Collection[int] = (),
) -> BallotFile:
    """The ballots of one contest, tied ones as they stand, from a file or several, folders and archives.

    Guarantee: no file is counted twice, and all files are of one contest: they have one title and one kind of marks, and
    each names somebody whom another names too, or the same list of candidates.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    if not given:
        raise WrongUse("name the file with the ballots, or several of them")
    read = partial(
        formats.read,
        reading=reading,
        format=format,
        columns=columns,
        candidates=candidates,
        contest=contest,
        encoding=encoding,
        precinct=precinct,
        numbers=numbers,
    )
    with ExitStack() as held:
        left_out: list[str] = []
        sources = [source for path in given for source in _sources(Path(path), held, left_out, 0)]
        if not sources:
            raise WrongUse(f"{Path(given[0]).name} holds no file of ballots; name the files themselves")
        if numbers and len(sources) > 1:
            raise WrongUse("an audit finds records by their number in one file; put the files together first")
        return _combine_files(sources, read, candidates, left_out)


def _sources(path: Path, held: ExitStack, left_out: list[str], depth: int) -> Iterator[Path]:
    """What is read as one: a file, or a folder that a vendor wrote."""
    if depth > _DEEPEST:
        raise WrongUse(f"folders and archives lie more than {_DEEPEST} deep in one another; name the files themselves")
    if path.suffix.lower() == ".zip" and path.is_file():
        if _of_hart(path):
            yield path
            return
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="hubbub-ballots-")))
        _unpack(path, folder)
        path = folder
    if not path.is_dir():
        yield path
        return
    inside = sorted(each for each in path.iterdir() if not each.name.startswith((".", "__MACOSX")))
    if any(each.name.lower().startswith("cvrexport") and each.suffix.lower() == ".json" for each in inside):
        yield path
        return
    records = [each for each in inside if each.suffix.lower() == ".xml"]
    if records and first_tag(records[0]) != "CastVoteRecordReport":
        yield path
        return
    for each in inside:
        if each.is_dir() or each.suffix.lower() in _KNOWN:
            yield from _sources(each, held, left_out, depth + 1)
        else:
            left_out.append(each.name)


def _of_hart(path: Path) -> bool:
    """Whether an archive holds a ballot in each file, which is read without being unpacked."""
    try:
        with zipfile.ZipFile(path) as packed:
            names = [name for name in packed.namelist() if not name.endswith("/")]
            if not names or not all(name.lower().endswith(".xml") for name in names):
                return False
            with packed.open(names[0]) as stream:
                return first_tag(stream) != "CastVoteRecordReport"
    except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise WrongUse(f"the archive {path.name} cannot be opened; is it whole?") from error


def _unpack(path: Path, folder: Path) -> None:
    """The files of an archive, in a folder for this user alone; no more bytes than an election has."""
    try:
        with zipfile.ZipFile(path) as packed:
            listed = [info for info in packed.infolist() if not info.is_dir()]
            if len(listed) > _MOST_FILES or sum(info.file_size for info in listed) > _MOST_BYTES:
                raise WrongUse(f"the archive {path.name} holds more than an election has; name the files themselves")
            for info in listed:
                target = folder.joinpath(*_plain_parts(info.filename))
                target.parent.mkdir(parents=True, exist_ok=True)
                with packed.open(info) as stream, target.open("xb") as out:
                    shutil.copyfileobj(stream, out, _PIECE)
    except (OSError, zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise WrongUse(f"the archive {path.name} cannot be unpacked; is it whole, and without a password?") from error


def _plain_parts(name: str) -> list[str]:
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    if not parts:
        raise WrongUse("the archive holds a file without a name; unpack it and name the files themselves")
    return parts


def _combine_files(
    sources: Sequence[Path],
    read: Callable[[Path], BallotFile],
    candidates: Sequence[str] | None,
    left_out: Sequence[str],
) -> BallotFile:
    seen: dict[str, str] = {}
    files: list[BallotFile] = []
    for source in sources:
        if len(sources) > 1:
            digest = _digest(source)
            if digest in seen:
                raise WrongUse(f"{source.name} holds the same as {seen[digest]}; count each file once")
            seen[digest] = source.name
        files.append(read(source))
    remarks = [f"left out, being no ballots: {', '.join(sorted(left_out)[:_MOST_LISTED])}"] if left_out else []
    if len(files) == 1:
        return replace(files[0], remarks=(*files[0].remarks, *remarks))
    _check_one_contest(files, sources, listed=candidates is not None)
    top = max(file.top for file in files)
    files = [_on_scale(file, top) if file.marks == "scores" else file for file in files]
    first = files[0]
    names = _candidates(files)
    ballots = first.ballots.with_candidates(names)
    for file in files[1:]:
        ballots = ballots.join(file.ballots.with_candidates(names))
    units: dict[str, Ballots] = {}
    for file in files:
        for name, part in file.units.items():
            here = part.with_candidates(names)
            units[name] = units[name].join(here) if name in units else here
    changed: dict[str, int] = {}
    for file in files:
        for what, many in file.changed.items():
            changed[what] = changed.get(what, 0) + many
    met = dict.fromkeys(remark for file in files for remark in file.remarks)
    return replace(
        first,
        ballots=ballots,
        changed=changed,
        top=top,
        units=dict(sorted(units.items())),
        remarks=(*met, *remarks, *(remark for remark in near_equal(names) if remark not in met)),
    )


def _on_scale(file: BallotFile, top: int) -> BallotFile:
    """Scores on the scale of all files: level 0 is the highest score of any."""
    units = {name: part.lower_levels(top - file.top) for name, part in file.units.items()}
    others = tuple(remark for remark in file.remarks if remark != scale_remark(file.top))
    remarks = (*others, scale_remark(top))
    return replace(file, ballots=file.ballots.lower_levels(top - file.top), units=units, top=top, remarks=remarks)


def _digest(source: Path) -> str:
    """What a file holds, or all the files of a vendor's folder."""
    digest = hashlib.sha256()
    for path in sorted(source.iterdir()) if source.is_dir() else [source]:
        if path.is_file():
            with path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _check_one_contest(files: Sequence[BallotFile], sources: Sequence[Path], *, listed: bool) -> None:
    first = files[0]
    for file, source in zip(files[1:], sources[1:], strict=True):
        for what, here, there in (
            ("contest", first.title, file.title),
            ("kind of marks", first.marks, file.marks),
            ("number of seats", str(first.seats), str(file.seats)),
            ("withdrawn candidates", ", ".join(first.withdrawn), ", ".join(file.withdrawn)),
        ):
            if here != there and not (what == "contest" and not (here and there)):
                raise WrongUse(
                    f"{sources[0].name} has the {what} {here[:60]!r} and {source.name} {there[:60]!r}; count files of one "
                    "contest, or pick it with `contest`"
                )
        if file.reading != first.reading:
            raise WrongUse(f"{sources[0].name} and {source.name} are read by different rules; name the rules")
    if listed:
        return
    for i, file in enumerate(files):
        others = {name for each in (*files[:i], *files[i + 1 :]) for name in each.ballots.candidates}
        own = set(file.ballots.candidates)
        if (file.format in _OWN_LIST and own != set(first.ballots.candidates)) or not own & others:
            raise WrongUse(
                f"{sources[i].name} has other candidates than the other files, so it is another contest; leave it out"
            )


def _candidates(files: Sequence[BallotFile]) -> tuple[str, ...]:
    """Everybody, in the order of the first file where all have the same candidates, else in that of the alphabet."""
    first = files[0].ballots.candidates
    everybody = {name for file in files for name in file.ballots.candidates}
    return first if everybody == set(first) else tuple(sorted(everybody))
