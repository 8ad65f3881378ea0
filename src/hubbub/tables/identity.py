"""What a table is, whatever it is called: the files that it is read from, by themselves and by their bytes.

Private, like the table: it stays in the ledger, and no certificate names it.

A few people of a table, chosen by their ids alone: the same ones in every table that they are in.

An engine ranks ids by a hash that somebody's secret number turns, and lists those with the lowest ranks. So two tables
of the same people list the same ids, however they are sorted, converted or named, and of a part of them the part. What
is listed are ids: it stays between the engine and the ledger, which keeps a keyed hash of each.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Final

from hubbub.runtime.frozen import dataclass
from hubbub.serialization.exact_json import UNSAID


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A file, and which tables of it are read if it is a database; none named: all that is in it."""

    path: str  # where it is, links followed
    device: int
    inode: int
    digest: str  # of its bytes, or of many blocks of them if it is large
    changed: int  # when it was last written to, in nanoseconds
    tables: tuple[str, ...] = ()

    def names(self) -> tuple[str, ...]:
        """Three ways to know it again: its place, the file itself (a hard link has another place), its bytes."""
        return f"path:{self.path}", f"file:{self.device}:{self.inode}", f"bytes:{self.digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What was opened; without parts it has no identity but the name that somebody gives it, as a frame. `missing` is
    how missing cells are spelled, as declared: the same table, with other people in its bins. Of a join of a frame and
    a file `is_partial`: nothing tells whether the frame changed. `links` is how a network is read from its files."""

    parts: tuple[Part, ...] = ()
    missing: tuple[str, ...] = field(default=(), metadata=UNSAID)
    is_partial: bool = field(default=False, metadata=UNSAID)
    links: tuple[str, ...] = field(default=(), metadata=UNSAID)

    @property
    def is_known(self) -> bool:
        """Whether a change of the table can be detected."""
        return bool(self.parts) and not self.is_partial

    def join(self, other: Identity) -> Identity:
        """The identity of both tables, so that releases of either are found."""
        return Identity(
            parts=tuple(dict.fromkeys((*self.parts, *other.parts))),
            missing=tuple(dict.fromkeys((*self.missing, *other.missing))),
            is_partial=not (self.is_known and other.is_known),
            links=(*self.links, *other.links),
        )

    def marks(self) -> tuple[str, ...]:
        """The search keys under which the ledger finds this table."""
        return tuple(dict.fromkeys(word for part in self.parts for word in _marks(part)))

    def overlap_marks(self) -> tuple[str, ...]:
        """The marks of every table that shares something with it."""
        return tuple(dict.fromkeys(word for part in self.parts for word in _overlap_marks(part)))

    def content(self) -> list[str]:
        """The same for two tables only if they are the same bytes, not touched in between and read in the same way."""
        ways = [*(f"missing {each}" for each in self.missing), *(f"links {each}" for each in self.links)]
        read = ways if self.parts else []
        return sorted(f"{part.digest} {part.changed} {' '.join(part.tables)}" for part in self.parts) + read


def _marks(part: Part) -> list[str]:
    if not part.tables:
        return list(part.names())
    return [f"{name}#{table}" for name in part.names() for table in (*part.tables, "")]


def _overlap_marks(part: Part) -> list[str]:
    """All of a file meets each of its tables (marked by a bare #), and each table meets all of the file."""
    if not part.tables:
        return [each for name in part.names() for each in (name, f"{name}#")]
    return [each for name in part.names() for each in (name, *(f"{name}#{table}" for table in part.tables))]


EVERYBODY: Final = 1 << 64
"""Above every rank."""


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Everybody whose rank is below `limit`. Private: no message and no file has any of it."""

    way: str  # by which hash they were ranked: ranks of two ways say nothing of each other
    ids: tuple[str, ...] = field(repr=False)
    ranks: tuple[int, ...] = field(repr=False)  # 0..2^64-1
    limit: int = EVERYBODY


@dataclass(frozen=True, slots=True, eq=False)
class IdObserver:
    """Whom an engine tells, before it counts, who is in a table; `on_chosen` may refuse."""

    turn: int  # the secret number, 0..2^64-1
    most: int  # how many are wanted
    on_chosen: Callable[[Chosen], None]
