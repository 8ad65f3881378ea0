"""The ledger's file: entries that are only ever added, each sealed with the hash of the one before.

SQLite with a write-ahead log; a writer holds `BEGIN IMMEDIATE` from the first look to the last word, and an entry is
on the disk when `adding` has left. Every use compares the ledger with what was remembered elsewhere
(:mod:`hubbub.ledger.store`), so that an edited, shortened, copied, replaced or vanished ledger is noticed before
anything is published. While the file looks as we left it, its last entry is compared; if it does not, and whenever the
ledger is shown or checked, every entry is read and its seal checked from the beginning. A file on a network drive will
not do: SQLite's locks do not hold there.

A memory outside the ledger of how far it had come, so that an old copy put in its place is noticed.

For each path by which a ledger has been used on this machine a small file, in another folder than the ledger, holds
that path, who the ledger is, the number and hash of its last entry, and how its file looked then. A ledger that is
gone, that stands elsewhere, that a link has replaced, or that no longer holds that entry is not used. Whoever rolls
back both folders together is not noticed here; the certificates that are already out, which name entry and hash, tell
(`hubbub ledger check CERTIFICATE`).
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from hubbub.errors import CheckFailed, Refused, WrongUse
from hubbub.ledger import durable, paths
from hubbub.ledger.log import CREATED, FORMAT, SCHEMA, START, Entry, Marks, Page, chain, check_format, check_schema
from hubbub.runtime.frozen import dataclass
from hubbub.runtime.progress import say
from hubbub.serialization.canonical import canonical, read

ADOPTED: Final = "adopted"
_PATIENCE: Final = 60.0  # seconds for other writers to finish


class Store:
    """The file of a ledger, which the first entry makes. `ways` are the paths that lead to it, itself first."""

    def __init__(self, ways: tuple[Path, ...], marks: Marks) -> None:
        self.path, self._ways, self._marks = ways[0], ways, marks

    def entries(self) -> list[Entry]:
        """Every entry, checked; none if there is no ledger yet."""
        with locked_anchor(self._ways, writing=False):
            if self._is_missing():
                return []
            with self._connect() as base:
                found = chain(base)
                self._check(found)
                return found

    @contextmanager
    def adding(
        self, founding: Callable[[], Mapping[str, Any]], *, adopt: Callable[[list[Entry]], object] | None = None
    ) -> Iterator[Page]:
        """The ledger, held alone; entries put on the page are durable when this ends, and none is if it raises.

        `founding` says what goes into the first entry, if there is none yet; `adopt` what to note in a ledger that
        came from elsewhere.
        """
        with locked_anchor(self._ways, writing=True):
            self._is_missing()
            seen = check_anchor(self.path)
            with self._connect(create=True) as base:
                try:
                    base.execute("BEGIN IMMEDIATE")
                    page = self._open_page(base, founding, seen, adopt)
                    yield page
                    identity = _identity(page)
                    base.execute("COMMIT")
                except BaseException:
                    if base.in_transaction:
                        base.execute("ROLLBACK")
                    raise
            assert page.last is not None
            self._remember(page.last.number, page.last.hash, identity, check_anchor(self.path))

    def copy(self, target: Path) -> None:
        """Write all that is committed to another file, durably and for the owner's eyes only."""
        durable.make_folder(target.parent)
        os.close(os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(sqlite3.connect(self.path, timeout=_PATIENCE)) as base, closing(sqlite3.connect(target)) as copy:
            base.backup(copy)
        with open(target, "rb") as written:
            durable.settle(written.fileno())
        durable.settle_folder(target.parent)

    @staticmethod
    def of_copy(file: Path) -> list[Entry]:
        """The entries of a file that no ledger uses."""
        try:
            with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as base:
                found = chain(base)
        except sqlite3.DatabaseError:
            found = []
        if not found:
            raise CheckFailed(f"{str(file)!r} is no ledger, or damaged; use another backup")
        return found

    def _open_page(
        self,
        base: sqlite3.Connection,
        founding: Callable[[], Mapping[str, Any]],
        seen: str,
        adopt: Callable[[list[Entry]], object] | None,
    ) -> Page:
        page = Page(base, self._marks)
        if adopt is None and self._is_as_left(page, seen):
            return page
        found = page.entries
        if adopt is None:
            self._check(found)
        page.rebuild()
        if not found:
            first = founding()
            if others := other_ledgers(self.path):
                more = f" and {len(others) - 1} more" if len(others) > 1 else ""
                say(
                    f"{self.path} is a new ledger: it knows nothing of what was spent in {others[0]}{more}. Releases about the "
                    "same people belong in one ledger; name it with --ledger or HUBBUB_LEDGER."
                )
            self._remember(0, START, first["ledger"], "")  # before the ledger itself: now it cannot vanish
            page.add(CREATED, "", {"format": FORMAT, **first})
        elif adopt is not None:
            page.add(ADOPTED, "", {"place": str(self.path), "missing": adopt(found)})
        return page

    def _is_as_left(self, page: Page, seen: str) -> bool:
        """Whether nobody has written to the file since we did, who had checked all of it."""
        if page.last is None:
            return False
        for way in self._ways:
            known = find_anchor(way)
            if known is None or (known.seen, known.number, known.hash) != (seen, page.last.number, page.last.hash):
                return False
            if known.ledger != _identity(page):
                return False
        check_format(page.first)
        return True

    def _remember(self, number: int, last: str, identity: str, seen: str) -> None:
        try:
            for way in self._ways:
                keep_anchor(Anchor(str(way), identity, number, last, seen))
        except OSError:
            raise Refused(
                "how far the ledger has come could not be remembered, so nothing is published; check the folder "
                f"{str(anchor_folder())!r}"
            ) from None

    def _is_missing(self) -> bool:
        """Whether there is no ledger yet; one that was here and is gone is no fresh budget."""
        if self.path.exists():
            return False
        for way in self._ways:
            known = find_anchor(way)
            if known is not None and known.number > 0:
                raise CheckFailed(
                    f"the ledger {str(way)!r} is gone{_where(way, self.path)}, and with it what was spent; restore it "
                    "from a backup, or give up what it knew with hubbub ledger new"
                )
        return True

    def _check(self, found: Sequence[Entry]) -> None:
        """Compare with what is remembered outside, about each path that leads here."""
        for way in self._ways:
            known = find_anchor(way)
            if not found:
                if known is not None and known.number > 0:
                    raise CheckFailed(f"the ledger {str(way)!r} is empty and should not be; restore it from a backup")
                continue  # nothing was ever entered here, even if somebody began to
            if known is None:
                if way != self.path:
                    continue  # a new link to a ledger that is known
                raise CheckFailed(
                    f"the ledger {str(self.path)!r} has not been used from this place before: it was copied or moved; "
                    "see that no other copy is in use, then run hubbub ledger adopt"
                )
            if known.ledger != found[0].body.get("ledger"):
                raise CheckFailed(
                    f"the ledger {str(way)!r} is another than the one that was here{_where(way, self.path)}; restore "
                    "the right one"
                )
            if known.number > len(found) or (known.number and found[known.number - 1].hash != known.hash):
                raise CheckFailed(
                    f"the ledger {str(way)!r} is older than it was: entry {known.number} is missing or another; "
                    "restore the latest copy"
                )

    @contextmanager
    def _connect(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        try:
            if create:
                durable.make_folder(self.path.parent)
                os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
            base = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None)
            with closing(base):
                base.execute("PRAGMA synchronous = FULL")  # an entry is on the disk when COMMIT returns
                base.execute("PRAGMA fullfsync = ON")  # on macOS too
                names = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
                if names and "entries" not in names and find_anchor(self.path) is None:
                    raise WrongUse(_NO_LEDGER.format(str(self.path)))
                check_schema(base)
                if create:
                    base.execute("PRAGMA journal_mode = WAL")
                    if not base.execute("SELECT count(*) FROM sqlite_master WHERE name = 'totals'").fetchone()[0]:
                        base.executescript(SCHEMA)
                        durable.settle_folder(self.path.parent)
                yield base
        except sqlite3.DatabaseError as error:
            raise _trouble(error, self.path) from None
        except OSError:
            raise Refused(
                f"the ledger {str(self.path)!r} cannot be written, so nothing is published; check the folder, or "
                "choose another with `ledger`"
            ) from None


_NO_LEDGER: Final = "the file {!r} is no ledger; name another with `ledger`, or one that is not there yet"


def _identity(page: Page) -> str:
    return "" if page.first is None else str(page.first.body["ledger"])


def _where(way: Path, path: Path) -> str:
    return "" if way == path else f" (a link leads to {str(path)!r} now)"


def _begins_as_one(path: Path) -> bool:
    """Whether a file begins as every ledger does, and every file of SQLite."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"
    return False


def _trouble(error: sqlite3.DatabaseError, path: Path) -> Refused | CheckFailed | WrongUse:
    if isinstance(error, sqlite3.OperationalError):
        return Refused(
            f"the ledger {str(path)!r} could not be read or written, so nothing is published; check that the disk has "
            "room, that the folder can be written, and that no other program holds the file"
        )
    if not _begins_as_one(path) and find_anchor(path) is None:
        return WrongUse(_NO_LEDGER.format(str(path)))
    return CheckFailed(f"the ledger {str(path)!r} is damaged; restore it from a backup")


ENDING: Final = ".anchor"


@dataclass(frozen=True, slots=True)
class Anchor:
    """The last known state of a ledger, stored outside of it."""

    path: str
    ledger: str  # its id
    number: int  # of the last entry known to have been written
    hash: str  # of that entry
    seen: str = ""  # how the file looked after that entry; while it looks so, nobody else has written to it


def anchor_folder() -> Path:
    """Where anchors are kept: the user's folder for state."""
    return paths.base("XDG_STATE_HOME", ".local", "state") / "hubbub" / "anchors"


def anchor_path(ledger: Path) -> Path:
    """The anchor of the ledger at that path."""
    name = hashlib.sha256(os.fsencode(ledger)).hexdigest()[:32]
    return anchor_folder() / f"{name}{ENDING}"


def find_anchor(ledger: Path) -> Anchor | None:
    """What is remembered about the ledger at that path."""
    return _load(anchor_path(ledger))


def furthest_anchor(identity: str) -> Anchor | None:
    """The anchor of this ledger with the highest entry number, whatever its path."""
    found = (_load(file) for file in anchor_folder().glob(f"*{ENDING}"))
    same = [known for known in found if known is not None and known.ledger == identity]
    return max(same, key=lambda known: known.number, default=None)


def other_ledgers(ledger: Path) -> list[Path]:
    """The ledgers that this user has elsewhere, the latest used first: by this home, and by that of the login."""
    folders, home = [anchor_folder()], paths.login_home()
    if home is not None:
        folders.append(home.joinpath(".local", "state", "hubbub", "anchors"))
    found = dict[Path, float]()
    for file in (file for each in folders for file in each.glob(f"*{ENDING}")):
        with suppress(OSError, CheckFailed):
            known = _load(file)
            path = ledger if known is None or known.number == 0 else Path(known.path)
            if path != ledger and path.exists():
                found[path] = file.stat().st_mtime
    return sorted(found, key=lambda path: -found[path])


def keep_anchor(anchor: Anchor) -> None:
    """Store the anchor durably; it never moves back to an earlier entry."""
    file = anchor_path(Path(anchor.path))
    known = _load(file)
    if known is not None and known.ledger == anchor.ledger and (known.number > anchor.number or known == anchor):
        return
    durable.write(file, canonical(asdict(anchor)))


def forget_anchor(ledger: Path) -> None:
    """Forget a ledger that is gone for good."""
    with suppress(FileNotFoundError):
        anchor_path(ledger).unlink()


def check_anchor(ledger: Path) -> str:
    """How a ledger's file looks from outside; whoever writes to it, and does not turn back the clock, changes that."""
    warnings = []
    for file in (ledger, ledger.with_name(f"{ledger.name}-wal")):
        try:
            now = file.stat()
        except OSError:
            warnings.append("none")
        else:
            warnings.append(f"{now.st_dev}:{now.st_ino}:{now.st_size}:{now.st_mtime_ns}:{now.st_ctime_ns}")
    return " ".join(warnings)


def _load(file: Path) -> Anchor | None:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return None
    value = read(data, f"the anchor {file.name}")
    try:
        return Anchor(**value)
    except TypeError:
        raise CheckFailed(f"the anchor {file.name} is not one; delete it only if you know why it changed") from None


@contextmanager
def locked_anchor(ways: tuple[Path, ...], *, writing: bool) -> Iterator[None]:
    """Hold the locks that keep a ledger and its anchors in step; the kernel lets go of them when a process dies."""
    handles: list[int] = []
    try:
        try:
            durable.make_folder(anchor_folder())
            for file in sorted(anchor_path(way).with_suffix(".lock") for way in ways):  # everybody in one order
                handles.append(os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            raise Refused(
                f"the folder {str(anchor_folder())!r}, where Hubbub remembers its ledgers, cannot be written, so nothing is "
                "published; make it writable, or set XDG_STATE_HOME to one that is"
            ) from None
        try:
            for handle in handles:
                durable.hold(handle, shared=not writing)
        except OSError:
            raise Refused(
                f"the folder {str(anchor_folder())!r}, where Hubbub remembers its ledgers, is on a drive without locks, so "
                "nothing is published; set XDG_STATE_HOME to one on a local disk"
            ) from None
        yield
    finally:
        for handle in handles:
            os.close(handle)
