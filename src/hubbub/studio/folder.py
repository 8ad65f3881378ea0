"""The folder that the studio was opened on, and the only one whose files can be named in it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Container, Iterator
from pathlib import Path
from typing import Final

from hubbub.errors import WrongUse
from hubbub.ledger.paths import files_of
from hubbub.runtime.frozen import dataclass

TABLES: Final = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".duckdb")
BALLOTS: Final = (".soc", ".soi", ".toc", ".toi", ".cat", ".blt", ".abif", ".csv", ".xlsx", ".xml", ".zip")
RECORD: Final = "result.json"  # of a count
RESULTS: Final = "results.html"
_MOST: Final = 200  # files in a list
_DEEP: Final = 2  # folders below the first that are looked into
_PACKED: Final = (".gz", ".zip", ".bz2", ".xz", ".zst")


@dataclass(frozen=True, slots=True)
class Folder:
    """`root` is a real path, without links in it; `shut` are the places in it that are not for pages: the ledger's."""

    root: Path
    shut: tuple[Path, ...] = ()

    @classmethod
    def at(cls, path: str | os.PathLike[str], ledger: Path | None = None) -> Folder:
        """The folder of that name, if it is one. A ledger's own folder in it is shut; where the tables lie in that
        too, the files of the ledger are."""
        try:
            root = Path(path).resolve(strict=True)
        except (OSError, RuntimeError):
            raise WrongUse(f"there is no folder {str(path)[:200]!r}; make it, or name another") from None
        if not root.is_dir():
            raise WrongUse(f"{str(path)[:200]!r} is no folder; name the folder that it is in")
        if ledger is None:
            return cls(root)
        books = ledger.resolve()
        below = root in books.parent.parents
        return cls(root, (books.parent,) if below else files_of(books))

    def inside(self, name: str) -> Path:
        """The place that a name leads to, links followed; refused if that is outside, hidden, or not for pages."""
        if not name.strip() or "\0" in name or len(name) > 1000:
            raise WrongUse("a file is named by its path in the folder, like people.csv; name one")
        try:
            path = (self.root / name).resolve()
        except (OSError, RuntimeError, ValueError):
            raise WrongUse("this name leads nowhere; name a file in the folder") from None
        if not path.is_relative_to(self.root):
            raise WrongUse(
                "this file is outside the folder that the studio was opened on, and is not touched; move it there, or "
                "open the studio on its folder"
            )
        below = path.relative_to(self.root).parts
        if any(part.startswith(".") for part in below) or any(path.is_relative_to(each) for each in self.shut):
            raise WrongUse("hidden files and the ledger's own are not for pages; name another file")
        return path

    def file(self, name: str) -> Path:
        """A file that is there; no folder, pipe or device."""
        path = self.inside(name)
        try:
            usual = stat.S_ISREG(path.stat().st_mode)
        except OSError:
            usual = False
        if not usual:
            raise WrongUse("there is no such file in the folder; look at the list, or check the name")
        return path

    def new(self, name: str) -> Path:
        """A place for a release: a folder in the folder, which may be there already."""
        path = self.inside(name)
        if path == self.root:
            raise WrongUse("a release gets a folder of its own, like out; name one")
        return path

    def named(self, path: Path) -> str:
        """How a place inside is called."""
        return path.relative_to(self.root).as_posix()

    def files(self, endings: tuple[str, ...], published: Callable[[Path], Container[str]]) -> list[str]:
        """Files with one of these endings, packed or not, that are not among those `published` in their folder."""
        found = []
        out: dict[Path, Container[str]] = {}
        for path in self._walk():
            if path.parent not in out:
                out[path.parent] = published(path.parent)
            name = full_name = path.name.lower()
            for packed in _PACKED:
                name = name.removesuffix(packed)
            if (name.endswith(endings) or full_name.endswith(endings)) and path.name not in out[path.parent]:
                found.append(self.named(path))
        return sorted(found, key=lambda name: (name.count("/"), name.lower()))[:_MOST]

    def having(self, file: str) -> list[str]:
        """Folders that have a file of that name, such as a certificate."""
        found = [path.parent for path in self._walk() if path.name == file]
        return sorted((self.named(each) for each in found), key=str.lower)[:_MOST]

    def _walk(self) -> Iterator[Path]:
        for at, folders, names in os.walk(self.root):
            here = Path(at)
            deep = len(here.relative_to(self.root).parts)
            folders[:] = sorted(
                each for each in folders if deep < _DEEP and not each.startswith(".") and here / each not in self.shut
            )
            for name in sorted(names):
                path = here / name
                if name.startswith(".") or path in self.shut:
                    continue
                if not path.is_symlink() or self._stays(path):
                    yield path

    def _stays(self, link: Path) -> bool:
        try:
            return link.resolve(strict=True).is_relative_to(self.root)
        except (OSError, RuntimeError):
            return False


def free_name(folder: Folder, like: str) -> str:
    """A name for a new folder that nothing has yet.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     free_name(Folder.at(place), "Town Hall")
    'Town-Hall'
    """
    stem = re.sub(r"[^\w-]+", "-", like).strip("-_")[:60] or "release"
    number, name = 1, stem
    while os.path.lexists(folder.root / name):
        number += 1
        name = f"{stem}-{number}"
    return name
