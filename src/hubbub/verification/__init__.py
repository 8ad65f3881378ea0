"""Check a certificate without the data: its form, its signature, its files, and every promise, worked out again.

The promises are derived from the release's description with the theorems in this program, and what the certificate
says must be that, or follow from it; the mechanism is held against its exact laws. What no program can see from here,
such as how people came into the table, is listed and not checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from hubbub import registry
from hubbub.certificate.certificate import FORMAT, SIGNATURE, signed_bytes
from hubbub.certificate.explanation import reading_rules
from hubbub.errors import CheckFailed, HubbubError, WrongUse
from hubbub.guarantees.people import DECLARED_UNIQUE
from hubbub.ledger.durable import sha256
from hubbub.ledger.key import ALGORITHM, is_signature
from hubbub.numeric.exact import rational, to_text
from hubbub.protocol.bound import Bound
from hubbub.protocol.capabilities import HasCompanion, MaybeDistributed
from hubbub.protocol.release import (
    CLAMPED,
    JOIN,
    MISSING,
    UNLISTED,
    UNNAMED_PERSON,
    UNREADABLE,
    dataset_name,
    release_digests,
)
from hubbub.protocol.result import Sheet
from hubbub.publication.datapackage import difference as package_difference
from hubbub.publication.revocation import replaced_by, revocation_of
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.regular_file import open_regular
from hubbub.serialization import manifest
from hubbub.serialization.canonical import LARGEST, read
from hubbub.serialization.exact_json import agrees
from hubbub.serialization.published_files import (
    CERTIFICATE,
    PACKAGE,
    REPORT,
    WORKBOOK,
    FileMissing,
    Files,
    read_batches,
)
from hubbub.tables.cell_format import Missing
from hubbub.verification.comparison import difference
from hubbub.verification.promises import check_promises
from hubbub.verification.verdict import Failed, Notes, Verdict, printable

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation
    from hubbub.protocol.check import Check
    from hubbub.protocol.spec import Spec

_PARTS: Final = 10  # parts of a release whose numbers are looked at
_LONGEST: Final = 100  # characters of a certificate's own text in a sentence
_ENTRY: Final = {"id": str, "dataset": str, "hash": str, "nonce": str}
_BEYOND: Final = (ValueError, ArithmeticError, RecursionError, MemoryError)  # numbers that nobody can work with
_SHARES: Final = {
    UNREADABLE: "has a row that cannot be read",
    UNLISTED: "is in none of the bins",
    CLAMPED: "has no value inside of the range",
}
"""The shares of people for which a release is refused, and what of them."""
_FIELDS: Final = {"format", "software", "kind", "release", "reading", "files", "ledger", "guarantees"}
_DIGEST: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,40}\.(csv|parquet|xlsx|html|json)", re.ASCII)
_SOFTWARE: Final = re.compile(r"hubbub [0-9][0-9A-Za-z.+-]{0,40}", re.ASCII)

CANNOT_KNOW: Final = (
    "what else was published about these people, which adds up: ask the publisher for hubbub ledger show",
    "whether the file was made from these people by this mechanism: the signature says who vouches for it",
)
"""What a certificate cannot show, beside its assumptions."""


@dataclass(frozen=True, slots=True)
class Checked(Verdict):
    """A certificate with everything that was checked. `files` are those that were compared, `missing` those that the
    certificate names and that were not."""

    thing: ClassVar[str] = "certificate"
    certificate: Mapping[str, Any] | None = None
    bound: Bound | None = None
    files: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    not_recomputed: str = ""  # why no number was worked out again; empty if all that are there were

    @property
    def spec(self) -> Spec | None:
        """What the certificate is about, if that could be read."""
        return None if self.bound is None else self.bound.spec

    @property
    def promises(self) -> tuple[Derivation, ...]:
        """Its promises, derived again."""
        return () if self.bound is None else self.bound.promises

    @property
    def complete(self) -> bool:
        """Whether it passed, somebody known signed it, and every file was there."""
        return self.passed and self.signer is not None and not self.missing and not self.not_recomputed

    @property
    def verdict(self) -> str:
        """All of it in one sentence."""
        if not self.passed:
            return self.failure
        files = f"; not checked, because not there: {', '.join(map(printable, self.missing))}" if self.missing else ""
        return f"The certificate holds, {self.by}{files}."

    @property
    def free(self) -> tuple[str, ...]:
        """What the signer could write freely: no theorem and no other field determines it."""
        if self.certificate is None or self.spec is None:
            return ()
        entry, files = self.certificate["ledger"], self.certificate["files"]
        unseen = (
            ("the names of columns and bins, and where ranges begin and end: the release file would show them",)
            if any(name.startswith("release") for name in self.missing)
            else ()
        )
        return (
            f"the name of the dataset, {entry['dataset']}, and its marks in the ledger (id, hash, nonce): the "
            "publisher's own hubbub ledger check knows them",
            f"the version of the software, {self.certificate['software']}",
            *self.spec.unverified_fields(),
            *(
                (f"what {REPORT} says: it is the file that was signed, and was not made again",)
                if REPORT in files
                else ()
            ),
            *unseen,
        )

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What cannot be seen from here and is taken for granted."""
        return tuple(dict.fromkeys(text for step in self.promises for text in step.all_assumptions()))

    @property
    def declared(self) -> tuple[str, ...]:
        """What was declared in the place of a check that the publisher could have made."""
        found = (each for step in self.promises for one in step.steps() for each in one.assumptions)
        return tuple(dict.fromkeys(str(each) for each in found if each.id == DECLARED_UNIQUE))

    @property
    def not_checked(self) -> tuple[str, ...]:
        """What was not, and what cannot be, checked."""
        numbers: tuple[str, ...] = (self.not_recomputed,) if self.not_recomputed else ()
        reading = (self.certificate or {})["reading"] if self.passed else {}
        numbers += tuple(
            f"whether this is so: at most a share {reading[name]} of the people, or one person, {what}; that the release was "
            "not refused for it is taken to tell nothing about anybody"
            for name, what in _SHARES.items()
            if name in reading
        )
        numbers += tuple(f"whether this is so: {rule}" for rule in reading_rules(reading))
        return (*CANNOT_KNOW, *numbers, *(f"whether this is so: {text}" for text in self.assumptions))

    def published(self, folder: Path) -> Files:
        """The sheets of the release that were compared, as they lie in a folder: those that the certificate names.

        Guarantee: a file that nobody signed, and that lies beside them, is none of these.
        """
        form = next((name.rpartition(".")[2] for name in self.files if name.startswith("release.")), "csv")
        named = [name for name in self.files if name.endswith(f".{form}")]
        return Files(form, {name.rpartition(".")[0]: folder / name for name in named})

    @property
    def lacking(self) -> tuple[str, ...]:
        """What it would take for somebody known to have signed it and for every file to be there; with marks."""
        if not self.missing:
            return self.trust
        return (*self.trust, f"put {', '.join(self.missing)} beside the certificate, or give `release`")

    def as_json(self) -> dict[str, Any]:
        return self.with_facts(
            self.verdict,
            complete=self.complete,
            files=self.files,
            missing=self.missing,
            not_checked=self.not_checked,
            free=self.free,
        )


Certificate = Checked
"""As the public surface calls it."""


def load(path: str | Path) -> bytes:
    """The bytes of a certificate file."""
    inside = Path(path) / CERTIFICATE
    if inside.is_file():
        raise WrongUse(f"{str(path)[:200]!r} is a folder; give the certificate in it, {str(inside)[:300]}")
    try:
        with open_regular(path) as file:
            return file.read(LARGEST + 1)
    except OSError:
        raise WrongUse(f"there is no certificate {str(path)[:200]!r} that can be read; check the name") from None


def verify(
    data: bytes,
    *,
    folder: str | Path | None = None,
    release: str | Path | None = None,
    official: str | Path | None = None,
    key: str | None = None,
    dataset: str | None = None,
    known: Callable[[str], str | None] = lambda key: None,
) -> Checked:
    """Check a certificate, the files that it names if they are in `folder`, and whether `key` signed it.

    `release` is the release itself, if it has another name; `official` a public record that the release must stand
    beside (ballots do); `known` says whose a public key is.

    Guarantee: if it passes, the bytes are the canonical form of a certificate signed by the key it names, every promise
    in it is, or follows from, what this program derives from the described release for the people it names, and the
    described mechanism has the privacy it claims, proved, with its exact laws compared where they change and are not
    too wide.
    """
    notes = Notes()
    seen: dict[str, Any] = {}
    with suppress(Failed):
        _check(notes, seen, data, folder, release, key, dataset, known)
        if official is not None:
            notes.add(_companion(seen["bound"].spec, Path(official)))
    return Checked(tuple(notes.done), **seen)


def _companion(spec: Spec, file: Path) -> Check:
    if not isinstance(spec, HasCompanion):
        raise WrongUse("this kind of release stands beside no official record; leave out `official`")
    return spec.check_companion(file)


def _check(
    notes: Notes,
    seen: dict[str, Any],
    data: bytes,
    folder: str | Path | None,
    release: str | Path | None,
    key: str | None,
    dataset: str | None,
    known: Callable[[str], str | None],
) -> None:
    body = read_signed(notes, seen, data, ("the certificate", "it is no certificate", FORMAT), key, known)
    _entry(notes, body, dataset)
    _revocation(notes, folder, data, seen["public_key"])
    seen["files"], missing = _files(notes, _named(notes, body.get("files")), folder, release)
    seen["missing"] = tuple(name for name in missing if name != PACKAGE)  # which follows from the others
    try:
        spec = _spec(body)
        bound = Bound(spec)
        derived = bound.promises
    except (KeyError, TypeError, HubbubError, *_BEYOND) as error:
        why = f"{error}" if isinstance(error, HubbubError) else "a part of it is missing, or no number that can be"
        notes.note("what was released", False, why)
    seen |= {"certificate": body, "bound": bound}
    notes.note("what was released", True, bound.description.entry)
    main = next(iter(release_digests(body)))
    _only_sheets(notes, body["files"], main)
    _numbers(notes, seen, spec, main, folder, release)
    check_promises(notes, body.get("guarantees"), derived)
    try:
        checks = tuple(spec.checks())
    except (HubbubError, *_BEYOND) as error:
        notes.note("the mechanism", False, f"{error}" if isinstance(error, HubbubError) else "its numbers are none")
    for check in checks:
        notes.add(check)
    _check_other_fields(notes, body, spec)


def _numbers(
    notes: Notes,
    seen: dict[str, Any],
    spec: Spec,
    main: str,
    folder: str | Path | None,
    release: str | Path | None,
) -> None:
    """Load what was drawn from the files, present it again, and compare every number with what is there."""
    if main not in seen["files"]:
        seen["not_recomputed"] = f"no number was worked out again, because {main} is not there"
        return
    first = Path(release) if release is not None else Path(folder or "") / main
    if main == manifest.NAME:
        _parts(notes, seen, spec, first)
        return
    form = "csv" if main.endswith(".csv") else "parquet"
    beside = {name.rpartition(".")[0]: Path(folder or "") / name for name in seen["files"] if name.endswith(form)}
    files = Files(form, {**beside, "release": first})
    try:
        result = spec.present(spec.load(files))
    except FileMissing as error:
        _check_named(notes, seen["certificate"]["files"], [error.file])
        seen["not_recomputed"] = f"no number was worked out again, because {error}"
        return
    except (HubbubError, *_BEYOND) as error:
        _note_wrong(notes, main, str(error) if isinstance(error, HubbubError) else "its numbers are none")
        return
    sheets = {sheet.name: sheet for sheet in result.sheets()}
    _check_named(notes, seen["certificate"]["files"], [f"{name}.{form}" for name in sheets])
    for name, path in files.paths.items():
        wrong = difference(sheets[name], path, form, files.paths) if name in sheets else "this release has no such file"
        if wrong is not None:
            _note_wrong(notes, f"{name}.{form}", wrong)
        notes.note(f"the numbers of {name}.{form}", True, "follow from what was drawn")
    if PACKAGE in seen["files"]:
        _package(notes, Path(folder or "") / PACKAGE, seen, tuple(sheets.values()), form)
    if WORKBOOK in seen["files"]:
        beside_it = [
            Sheet(name, sheet.schema, partial(read_batches, files.paths[name], form, sheet.schema), sheet.rows)
            for name, sheet in sheets.items()
            if name in files.paths
        ]
        _workbook(notes, Path(folder or "") / WORKBOOK, beside_it)


def _package(notes: Notes, path: Path, seen: dict[str, Any], sheets: tuple[Sheet, ...], form: str) -> None:
    """Make the data dictionary of the release again, with the titles that it has, and compare."""
    try:
        with open_regular(path) as file:
            data = file.read(LARGEST + 1)
        wrong = package_difference(data, seen["bound"], sheets, seen["certificate"]["files"], form)
    except OSError:
        wrong = "it cannot be read"
    notes.note(f"what {PACKAGE} says", wrong is None, "follows from the release", wrong=f"{wrong}; get the original")


def _workbook(notes: Notes, path: Path, sheets: list[Sheet]) -> None:
    """Compare the sheets of a workbook with the files of record; its words are those that were signed."""
    from hubbub.publication.workbook import difference as workbook_difference

    try:
        with open_regular(path) as file:
            wrong = workbook_difference(file, sheets)
    except OSError:
        wrong = "it cannot be read"
    what = f"the sheets of {WORKBOOK}"
    notes.note(what, wrong is None, "say what the files of record say", wrong=f"{wrong}; get the originals of both")


def _only_sheets(notes: Notes, named: Mapping[str, str], main: str) -> None:
    """Refuse files that stand beside the release and are none of it: nothing would say what is in them."""
    form = main.rpartition(".")[2]
    other = next(
        (name for name in named if name not in (main, REPORT, WORKBOOK, PACKAGE) and not _is_sheet(name, form)), None
    )
    if other is not None:
        _note_wrong(notes, other, "this release has no such file")


def _check_named(notes: Notes, named: Mapping[str, str], files: Iterable[str]) -> None:
    """Refuse a certificate that leaves a file of its release out."""
    unnamed = next((file for file in files if file not in named), None)
    if unnamed is not None:
        _note_wrong(notes, unnamed, "this release has such a file, and the certificate does not name it")


def _is_sheet(name: str, form: str) -> bool:
    return form != "json" and name.endswith(f".{form}")


def _note_wrong(notes: Notes, file: str, wrong: str) -> None:
    notes.note(f"the numbers of {file}", False, f"{wrong}; get the originals of both")


def _parts(notes: Notes, seen: dict[str, Any], spec: Spec, listed: Path) -> None:
    """Compare the parts of a release with their list, which is what the certificate names, and present the first of
    them again."""
    try:
        with open_regular(listed) as file:
            parts = manifest.parts_of(file.read(LARGEST + 1))
    except (OSError, CheckFailed) as error:
        notes.note("the list of parts", False, str(error) if isinstance(error, CheckFailed) else "it cannot be read")
    folder = listed.parent / manifest.FOLDER
    if not folder.is_dir():
        seen["missing"] = (*seen["missing"], f"{manifest.FOLDER}/")
        seen["not_recomputed"] = f"no number was worked out again, because {manifest.FOLDER}/ is not there"
        return
    try:
        wrong = manifest.problem(folder, parts)
    except OSError:
        wrong = "a part cannot be read"
    found = f"{len(parts):,} files, as they are listed"
    notes.note(f"the parts in {manifest.FOLDER}/", wrong is None, found, wrong=f"{wrong}; get the originals")
    seen["files"] = (*seen["files"], f"{manifest.FOLDER}/")
    if not isinstance(spec, MaybeDistributed):
        _note_wrong(notes, manifest.NAME, "this kind of release is one file")
    assert isinstance(spec, MaybeDistributed)
    what, files = f"{manifest.FOLDER}/", tuple(folder / part.name for part in parts)
    try:
        for number, (path, measurement) in enumerate(spec.load_parts(files, [part.rows for part in parts])):
            if number < _PARTS:
                wrong = difference(spec.present_part(measurement).sheets()[0], path, "parquet")
                if wrong is not None:
                    _note_wrong(notes, f"{what}{path.name}", wrong)
    except (HubbubError, *_BEYOND) as error:
        _note_wrong(notes, what, str(error) if isinstance(error, HubbubError) else "its numbers are none")
    some = f", of its first {_PARTS} parts" if len(files) > _PARTS else ""
    notes.note(f"the numbers of {what}{some}", True, "follow from what was drawn")


def read_signed(
    notes: Notes,
    seen: dict[str, Any],
    data: bytes,
    what: tuple[str, str, str],
    key: str | None,
    known: Callable[[str], str | None],
) -> Any:
    """The body of a signed file without its signature, if the form, the format and the signature are right.

    `what` is what the file is called, the sentence if it is none, and its format.
    """
    name, none, wanted = what
    try:
        body = read(data, name)
    except CheckFailed as error:
        notes.note("canonical form", False, str(error))
    notes.note("canonical form", isinstance(body, dict), wrong=f"{none}; check the name of the file")
    other = f"this program reads {wanted!r}; update it, or get the original"
    notes.note("format", body.get("format") == wanted, wanted, wrong=other)
    whose = check_signature(notes, body, body.pop(SIGNATURE, None), key)
    seen |= {"public_key": whose, "signer": "the key that was given" if key is not None else known(whose)}
    return body


def check_signature(notes: Notes, body: Mapping[str, Any], signature: Any, key: str | None) -> str:
    """Whether it fits what is signed; returns the public key."""
    parts: dict[str, Any] = signature if isinstance(signature, dict) else {}
    right = set(parts) == {"algorithm", "public_key", "value"} and all(isinstance(part, str) for part in parts.values())
    wrong = f"it must be signed with {ALGORITHM}; get the original"
    notes.note("signed", right and parts["algorithm"] == ALGORITHM, f"with {ALGORITHM}", wrong=wrong)
    whose: str = parts["public_key"]
    wrong = "it does not fit what is signed: something was changed; get the original"
    right = is_signature(whose, parts["value"], signed_bytes(body))
    notes.note("the signature", right, f"is by the key {whose}", wrong=wrong)
    if key is not None:
        wrong = "is another than the one that was given"
        notes.note("the key", whose == key, "is the one that was given", wrong=wrong)
    return whose


def _revocation(notes: Notes, folder: str | Path | None, data: bytes, public_key: str) -> None:
    """What its publisher says beside it: that it stands no more, or that it stands in the place of another."""
    if folder is None:
        return
    if (said := revocation_of(Path(folder), data, public_key)) is not None:
        notes.note("that it still stands", False, said.sentence())
    if (instead := replaced_by(Path(folder), data, public_key)) is not None:
        notes.note("what it replaces", True, instead.replacing())


def _entry(notes: Notes, body: Mapping[str, Any], dataset: str | None) -> None:
    found = body.get("ledger")
    entry: dict[str, Any] = found if isinstance(found, dict) else {}
    right = {name: type(value) for name, value in entry.items()} == _ENTRY and _is_ledger_entry(entry)
    entry_text = f"dataset {entry.get('dataset')}, entry {entry.get('hash')}"
    notes.note("place in the ledger", right, entry_text, wrong="it names none")
    if dataset is not None:
        wrong = f"it is {entry['dataset'][:_LONGEST]!r}"
        notes.note("the dataset", entry["dataset"] == dataset, dataset, wrong=wrong)


def _is_ledger_entry(entry: Mapping[str, Any]) -> bool:
    """Whether a ledger may have written this."""
    with suppress(WrongUse):
        name = dataset_name(entry["dataset"]) == entry["dataset"]
        marks = [
            re.fullmatch(f"[0-9a-f]{{{length}}}", entry[part])
            for part, length in (("id", 32), ("hash", 64), ("nonce", 32))
        ]
        return name and all(marks)
    return False


def _named(notes: Notes, found: Any) -> Mapping[str, str]:
    """The files it is about: the release, and what was made of it."""
    right = isinstance(found, dict) and all(
        _NAME.fullmatch(name) and isinstance(digest, str) and _DIGEST.fullmatch(digest)
        for name, digest in found.items()
    )
    right = right and sum(name.startswith("release.") for name in found) == 1
    notes.note("the files it names", right, ", ".join(found or ()), wrong="they are none of Hubbub's; get the original")
    assert isinstance(found, dict)
    return found


def _spec(body: Mapping[str, Any]) -> Spec:
    """What was released."""
    if not isinstance(body["kind"], str):
        raise CheckFailed("it does not say what kind of release it is about; get the original")
    return registry.read(body["kind"], body["release"])


def _check_other_fields(notes: Notes, body: Mapping[str, Any], spec: Spec) -> None:
    """Check the remaining fields: how the table was read, no unknown field, and the software."""
    right = _is_reading(body.get("reading"), spec.people.person)
    notes.note("how the table was read", right, wrong="is missing, or says what nobody can")
    unknown = sorted(set(body) - _FIELDS)
    notes.note("nothing more is said", not unknown, wrong=f"there is no {unknown[0][:40]!r} in it" if unknown else "")
    right = isinstance(body.get("software"), str) and _SOFTWARE.fullmatch(body["software"]) is not None
    notes.note("the software", right, str(body.get("software")), wrong="is missing, or none of Hubbub's")


def _is_reading(given: object, person: str | None) -> bool:
    """Whether it says nothing, or which shares of people may not be read, or fit no bin or range, how missing cells are
    spelled, that tables were joined by the column of people, and which column was not taken for it."""
    if not isinstance(given, dict) or not set(given) <= {*_SHARES, MISSING, JOIN, UNNAMED_PERSON}:
        return False
    if UNNAMED_PERSON in given and not (person is None and isinstance(given[UNNAMED_PERSON], str)):
        return False
    if JOIN in given and given[JOIN] != person:
        return False
    shares, spelled = [given[name] for name in _SHARES if name in given], given.get(MISSING, ["NA"])
    try:
        are = all(
            isinstance(each, str) and to_text(rational(each)) == each and 0 <= rational(each) <= 1 for each in shares
        )
        return are and spelled != [] and agrees(spelled, [*Missing.parse(spelled).to_json()])
    except WrongUse:
        return False


def _files(
    notes: Notes, named: Mapping[str, str], folder: str | Path | None, release: str | Path | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Compare the files that are there; which were, and which were not there."""
    compared, missing = [], []
    for name, digest in named.items():
        given = release if release is not None and name.startswith("release.") else None
        path = Path(given) if given is not None else None if folder is None else Path(folder) / name
        if path is None or (given is None and not path.is_file()):
            missing.append(name)
            continue
        what = f"the file {name}"
        try:
            found = sha256(path)
        except OSError:
            notes.note(what, False, f"{str(path)[:200]!r} cannot be read; check the name")
        wrong = "it is another file than the certificate is about"
        notes.note(what, found == digest, f"SHA-256 {found}", wrong=wrong)
        compared.append(name)
    return tuple(compared), tuple(missing)
