"""From bytes that are ready to files that are visible, so that no crash leaves one that is not paid for.

::

    folder/.hubbub-NONCE/    release.csv, then draft.json: the certificate without its signature. Now it is whole,
                             and whatever fails from here on loses nothing; then report.html, a draft that names it
                             too, and certificate.json. What the machines of a cluster write (release/, and the list
                             of it, release.json) is there before the draft is
    ledger                   commits the digests
    folder/                  the files get their names, the certificate last; the hidden folder goes, its draft first

A process that is working on a hidden folder holds a lock on it. One that is to write a release into a folder holds that
folder, from before anything is reserved until the files have their names, so that two releases never mix and none takes
the place of another. What one that died left behind is finished by :mod:`hubbub.publication.recovery`: the
same bytes, paid for once.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final

from hubbub.certificate.certificate import sign
from hubbub.errors import HubbubError, Refused, WrongUse
from hubbub.ledger import durable
from hubbub.ledger.durable import sha256
from hubbub.ledger.ledger import Ledger
from hubbub.protocol.release import release_digests
from hubbub.publication.signed_files import only_parts, published
from hubbub.serialization import manifest
from hubbub.serialization.canonical import Plain, canonical
from hubbub.serialization.published_files import CERTIFICATE, PACKAGE, REPORT, WORKBOOK

if TYPE_CHECKING:
    from hubbub.protocol.release import Reservation

PREFIX: Final = ".hubbub-"
DRAFT: Final = "draft.json"  # the certificate, not yet signed
RESERVATION_FILE: Final = "place.json"  # which ledger, for whoever finishes this


class Staged:
    """A release in its hidden folder."""

    def __init__(self, folder: Path, reservation: Reservation, held: int | None, replaces: str | None = None) -> None:
        self.folder, self.reservation, self._held, self.replaces = folder, reservation, held, replaces
        self.hidden = folder / f"{PREFIX}{reservation.nonce}"
        self.body: dict[str, Any] = {}  # the certificate, without its signature

    def path(self, name: str) -> Path:
        """Where a file is now: in the hidden folder, or already in its place."""
        hidden = self.hidden / name
        return hidden if hidden.exists() else self.folder / name

    @property
    def complete(self) -> bool:
        """Whether nothing more is needed to bring it out."""
        return (self.hidden / DRAFT).exists()

    def add(self, name: str, write: Callable[[IO[bytes]], object]) -> None:
        """A file, on the disk when this returns."""
        with _new_file(self.hidden / name) as out:
            write(out)
            out.flush()
            durable.settle(out.fileno())

    def draft(self, certificate: Mapping[str, Any]) -> None:
        """What the certificate says. From here on the release can be finished, whatever happens."""
        durable.write(self.hidden / DRAFT, canonical(dict(certificate)))
        durable.settle_folder(self.folder)
        self.body = dict(certificate)

    def sign(self, ledger: Ledger) -> None:
        """The certificate itself, as it was drafted last."""
        durable.write(self.hidden / CERTIFICATE, sign(self.body, ledger))

    def close(self) -> None:
        """Let go of the lock."""
        if self._held is not None:
            os.close(self._held)
            self._held = None

    def discard(self) -> None:
        """Leave nothing behind."""
        shutil.rmtree(self.hidden, ignore_errors=True)
        self.close()


def _new_file(path: Path) -> IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb")


def _in_the_way(folder: Path) -> list[str]:
    """What has the name of something that every release writes."""
    usual = ("release.csv", "release.parquet", WORKBOOK, manifest.NAME, REPORT, CERTIFICATE)
    return [name for name in usual if os.path.lexists(folder / name)]


def check_free(folder: Path) -> None:
    """Refuse to write over a release."""
    if _in_the_way(folder):
        raise WrongUse(
            f"there is a release in {str(folder)!r} already, and what was published stays; choose another folder, "
            "or add `replace=True`"
        )


def check_ours(folder: Path, ledger: Ledger) -> None:
    """Refuse to replace what this ledger did not publish, or what is not as it was published."""
    ours = published(folder, ledger)
    other = next((name for name in _in_the_way(folder) if name not in ours), None)
    if other is not None:
        raise WrongUse(_not_ours(folder, other, "or choose another folder"))


def _not_ours(folder: Path, name: str, then: str) -> str:
    return (
        f"only what this ledger published is replaced, and {name!r} in {str(folder)!r} is not by it, or was changed "
        f"since; move it, {then}"
    )


def check_free_for_parts(folder: Path, ledger: Ledger, *, replace: bool = False) -> None:
    """Refuse to put the folder of parts where something else lies: only parts of a release are replaced."""
    path = folder / manifest.FOLDER
    if not os.path.lexists(path):
        return
    if not replace or not only_parts(path, published(folder, ledger)):
        raise WrongUse(
            f"the parts of the release are to lie in {str(path)!r}, where something else is; move that, or choose "
            "another folder"
        )


def prepare(
    folder: Path, room_needed: int, *, replace: bool = False, parts: bool = False, ledger: Ledger | None = None
) -> None:
    """See that a release of about so many bytes can be written to a folder, before anything is spent on one. `ledger`
    is the one whose releases may be replaced, None for the user's own."""
    try:
        durable.make_folder(folder, 0o777)
        with tempfile.TemporaryFile(dir=folder):
            pass
        room = shutil.disk_usage(folder).free
    except OSError:
        raise _unwritable(folder) from None
    if room < room_needed:
        raise WrongUse(f"the disk of {str(folder)!r} has too little room for the release; make room, or choose another")
    dead = unfinished(folder)
    if dead:
        raise WrongUse(
            f"a release that was cut short lies in {str(folder)!r}; bring it out with hubbub ledger finish {folder}, "
            "or choose another folder"
        )
    if any(_hidden(folder)):
        raise WrongUse(f"another release is being written to {str(folder)!r}; wait for it, or choose another folder")
    books = Ledger() if ledger is None else ledger
    if replace:
        check_ours(folder, books)
    else:
        check_free(folder)
    if parts:
        check_free_for_parts(folder, books, replace=replace)


@contextmanager
def prepared(
    folder: Path, room_needed: int, *, replace: bool = False, parts: bool = False, ledger: Ledger | None = None
) -> Iterator[None]:
    """As :func:`prepare`, while a release is made; a folder that was made for one that is refused goes again.

    Guarantee: nobody else writes a release into the folder meanwhile: who asks for it is refused before anything is spent.
    """

    def refuse() -> None:
        raise WrongUse(f"another release is being written to {str(folder)!r}; wait for it, or choose another folder")

    with claimed(folder, refuse):
        prepare(folder, room_needed, replace=replace, parts=parts, ledger=ledger)
        yield


@contextmanager
def claimed(folder: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Make a folder, and hold it as :func:`exclusive` does; one that was made for what fails goes again."""
    new: list[Path] = []
    with ExitStack() as stack:
        try:
            while True:
                new = _missing_parents(folder)
                try:
                    durable.make_folder(folder, 0o777)
                    stack.enter_context(exclusive(folder, on_wait))
                    break
                except FileNotFoundError:  # taken away meanwhile, by somebody who had made it for what failed
                    continue
                except OSError:
                    raise _unwritable(folder) from None
            yield
        except BaseException:
            _take_away_unless_held(new)
            raise


def _take_away_unless_held(folders: list[Path]) -> None:
    """Remove folders that were made, as far as nothing lies in them and nobody else holds the lowest."""

    def stop() -> None:
        raise BlockingIOError

    if folders:
        lowest = next((folder for folder in folders if _is_folder(folder)), folders[0])
        with suppress(OSError), exclusive(lowest, stop) if _is_folder(lowest) else nullcontext():
            _take_away(folders)


def _is_folder(path: Path) -> bool:
    """Whether there is such a folder; no if its name is too long for one."""
    with suppress(OSError):
        return path.is_dir()
    return False


def _unwritable(folder: Path) -> WrongUse:
    return WrongUse(f"a folder for releases can be written to, not so {_short(folder)}; choose another")


def _short(folder: Path) -> str:
    """How a folder is called where its name may be the trouble."""
    name = str(folder)
    return repr(name) if len(name) <= 200 else f"{name[:60]!r}... ({len(name)} signs)"


def _missing_parents(folder: Path) -> list[Path]:
    """Of a folder and those above it the ones that would have to be made, the lowest first."""
    return [each for each in (folder, *folder.parents) if not os.path.lexists(each)]


def _take_away(folders: list[Path]) -> None:
    """Remove folders that were made, as far as nothing lies in them."""
    for each in folders:
        with suppress(OSError):
            each.rmdir()


_HELD: Final[ContextVar[frozenset[tuple[int, int]]]] = ContextVar(
    "held", default=frozenset()
)  # folders, by this thread


@contextmanager
def exclusive(folder: Path, on_wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a folder, so that nobody else writes a release into it; who holds it already goes on. `on_wait` is called if
    somebody else does, and may raise; then this waits for them."""
    if sys.platform == "win32":
        yield
        return
    handle = _hold(folder, on_wait)
    known = os.fstat(handle)
    before = _HELD.set(_HELD.get() | {(known.st_dev, known.st_ino)})
    try:
        yield
    finally:
        _HELD.reset(before)
        os.close(handle)


def _hold(folder: Path, on_wait: Callable[[], None]) -> int:
    """The folder, open and held; FileNotFoundError if another has its name by then, or none."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    try:
        known = os.fstat(handle)
        if (known.st_dev, known.st_ino) not in _HELD.get() and not durable.hold(handle, wait=False):
            on_wait()
            durable.hold(handle)
        if not os.path.samestat(known, os.stat(folder)):
            raise FileNotFoundError
    except durable.NoLocks:
        os.close(handle)
        raise WrongUse(
            f"{str(folder)!r} is on a drive without locks, where two releases may mix; choose another folder"
        ) from None
    except BaseException:
        os.close(handle)
        raise
    return handle


@contextmanager
def opened(folder: Path, reservation: Reservation, replaces: str | None = None) -> Iterator[Staged]:
    """A hidden folder to write a release into; if that fails before it is whole, it goes, and nothing was visible.
    `replaces` is the digest of the certificate of the one release whose place it may take."""
    new = _missing_parents(folder)
    try:
        durable.make_folder(folder, 0o777)
    except OSError:
        _take_away(new)
        raise WrongUse(f"there is no folder {_short(folder)} and none can be made; choose another") from None
    staged: Staged | None = None
    try:
        hidden = folder / f"{PREFIX}{reservation.nonce}"
        hidden.mkdir(mode=0o700, exist_ok=True)
        staged = Staged(folder, reservation, held(hidden, wait=True), replaces)
        place: dict[str, Plain] = {"ledger": str(reservation.ledger), "replaces": replaces}
        durable.write(hidden / RESERVATION_FILE, canonical(place))
        yield staged
        durable.settle_folder(folder)
    except BaseException as error:
        if staged is not None and staged.complete:
            staged.close()
            raise _with_recovery_note(error, folder) from None
        if staged is not None:
            staged.discard()
        _take_away(new)
        if isinstance(error, OSError):
            problem = f"the release could not be written to {str(folder)!r}; check that there is room"
            raise WrongUse(problem) from None
        raise


def _with_recovery_note(error: BaseException, folder: Path) -> BaseException:
    """The error with a note that the release is ready, and how to finish it."""
    more = f"the release is ready and paid for: when this is put right, run hubbub ledger finish {folder}"
    if isinstance(error, HubbubError):
        return type(error)(f"{error.marked}; {more}")
    if isinstance(error, OSError):
        return WrongUse(f"not all of the release could be written to {str(folder)!r}; {more}")
    if isinstance(error, Exception):
        return Refused(f"the report of the release could not be made; {more}")
    return error


def held(hidden: Path, *, wait: bool = False) -> int | None:
    """Hold a hidden folder of our own; None if somebody else holds it, if it is not ours, or if there are no locks."""
    if sys.platform == "win32":
        return None
    handle = durable.open_folder(hidden)
    if handle is None:
        return None
    try:
        if durable.hold(handle, wait=wait):
            return handle
    except durable.NoLocks:
        pass
    os.close(handle)
    return None


def publish(staged: Staged) -> dict[str, str]:
    """Commit, then give the files their names; returns where they are."""
    ledger = Ledger(staged.reservation.ledger)
    try:
        with exclusive(staged.folder):
            check_nothing_half_out(staged.folder, but=staged.hidden)
            _nothing_else(staged, ledger)
            first = next(iter(release_digests(staged.body)))
            release, certificate = (sha256(staged.path(name)) for name in (first, CERTIFICATE))
            ledger.commit(staged.reservation, release, certificate)
            return _move(staged)
    except OSError:
        raise WrongUse(
            f"the release could not be moved to {str(staged.folder)!r}; make room, then run "
            f"hubbub ledger finish {staged.folder}"
        ) from None
    finally:
        staged.close()


def check_nothing_half_out(folder: Path, *, but: Path | None = None) -> None:
    """Refuse to write over a release of which some files have their names and others do not."""
    if any(half_out(hidden) for hidden in unfinished(folder) if hidden != but):
        raise Refused(
            f"another release into {str(folder)!r} was cut short while its files got their names; bring it out "
            f"with hubbub ledger finish {folder}"
        )


def _nothing_else(staged: Staged, ledger: Ledger) -> None:
    """Refuse to write over anything but the one release of this ledger that this one is to replace. Once a file has its
    name, this was seen to."""
    names = (*outputs(staged.body), CERTIFICATE)
    if staged.path(names[0]) == staged.folder / names[0]:
        return
    ours = published(staged.folder, ledger)
    ours = ours if ours.get(CERTIFICATE) in (staged.replaces, sha256(staged.path(CERTIFICATE))) else {}
    for name in names:
        path = staged.folder / name
        exists = os.path.lexists(path) and staged.path(name) != path and not _is_same(path, staged.path(name))
        if exists and not (only_parts(path, ours) if name == manifest.FOLDER else name in ours):
            again = f"then run hubbub ledger finish {staged.folder}: the release is ready and paid for"
            raise WrongUse(_not_ours(staged.folder, name, again))


def _is_same(path: Path, staged: Path) -> bool:
    """Whether a file has its name already: after a power cut it may have the old one too."""
    return path.is_file() and not path.is_symlink() and staged.is_file() and sha256(path) == sha256(staged)


def _move(staged: Staged) -> dict[str, str]:
    written = {"release": "", "certificate": ""}  # in the order in which they are told
    for name in (*outputs(staged.body), CERTIFICATE):
        target = staged.folder / name
        if staged.path(name) != target:  # else it was moved before a crash
            _replace(staged.path(name), target)
        for path in (target, *target.iterdir()) if target.is_dir() else (target,):
            os.chmod(path, (0o777 if path.is_dir() else 0o666) & ~_umask())  # it is published now
        written[_role(name)] = str(target)
    durable.settle_folder(staged.folder)
    tidy(staged.hidden)
    return written


def tidy(hidden: Path) -> None:
    """Remove the hidden folder of a release that is out: the draft first, then no kill leaves a release that waits; and
    last which ledger it is of, by which :mod:`hubbub.publication.recovery` knows what it has found."""
    with suppress(OSError):
        (hidden / DRAFT).unlink(missing_ok=True)
        durable.settle_folder(hidden)
        for each in hidden.iterdir():
            if each.is_dir():
                shutil.rmtree(each)
            elif each.name != RESERVATION_FILE:
                each.unlink()
    shutil.rmtree(hidden, ignore_errors=True)


def outputs(body: Mapping[str, Any]) -> tuple[str, ...]:
    """What a certificate is about, as it lies in a folder: files, and after the list of parts the folder of them."""
    files = tuple(release_digests(body))
    return (files[0], manifest.FOLDER, *files[1:]) if files[0] == manifest.NAME else files


def _replace(source: Path, target: Path) -> None:
    """Give a file or a folder its name; of a folder that has that name the parts of a release go, and nothing else:
    that they are parts of ours was seen to before the first file got its name."""
    if source.is_dir() and target.is_dir() and not target.is_symlink():
        for name in filter(manifest.is_part_name, os.listdir(target)):
            (target / name).unlink()
        target.rmdir()
    os.replace(source, target)  # fails where somebody put something else


def _umask() -> int:
    """What the process keeps from new files. It can only be read by setting it: to what keeps most, for a moment."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def _role(name: str) -> str:
    known = {CERTIFICATE: "certificate", REPORT: "report", PACKAGE: "dictionary", manifest.FOLDER: "folder"}
    return known.get(name, name.partition(".")[0])


def _hidden(folder: Path) -> Iterator[Path]:
    """The hidden folders of our own. What else has such a name (a pipe, another user's) is none of our business."""
    for hidden in sorted(folder.glob(f"{PREFIX}*")) if folder.is_dir() else []:
        handle = durable.open_folder(hidden)
        if handle is not None:
            os.close(handle)
            yield hidden


def unfinished(folder: Path) -> list[Path]:
    """The hidden folders in it that nobody is working on; those first whose files are half out."""
    found = []
    for hidden in _hidden(folder):
        handle = held(hidden)
        if handle is not None:
            os.close(handle)
            found.append(hidden)
    return sorted(found, key=lambda hidden: not half_out(hidden))


def half_out(hidden: Path) -> bool:
    """Whether some files of a release have their names and others may not."""
    try:
        name = next(iter(release_digests(json.loads((hidden / DRAFT).read_bytes()))))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration):
        return False
    return not (hidden / str(name)).exists()
